//! Whole packs as snapshots, readable as a specification. The files stand in `fixtures/packs`.

use crate::support::{go, outline, pack, python};
use indexd_oracle::Oracle;
use serde_json::{Value, json};

/// The outline of the pack, then the text that a reader gets.
fn check(name: &str, view: &Oracle, request: Value) {
    let pack = pack(view, request);
    let mut text = outline(&pack).join("\n");
    text.push_str(&format!("\n{} of {} tokens\n\n", pack.stats.token_count, pack.stats.token_budget));
    text.push_str(&pack.rendered);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../fixtures/packs/snapshots");
    insta::with_settings!({ snapshot_path => path, prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(name, text);
    });
}

#[test]
fn go_graph() {
    let query = "The retry delay should never exceed MaxDelay";
    check("go_graph", &go(), json!({"query": query, "budgets": {"maxTotalTokens": 1500}}));
}

#[test]
fn go_agent() {
    let query = "The retry delay should never exceed MaxDelay";
    check("go_agent", &go(), json!({"query": query, "layout": "agent", "budgets": {"maxTotalTokens": 1500}}));
}

#[test]
fn go_error_message() {
    let query = "cmd fails with \"server is busy, gave up\"";
    check("go_error_message", &go(), json!({"query": query, "budgets": {"maxTotalTokens": 600}}));
}

#[test]
fn python_graph() {
    let query = "apply_discount ignores the second discount";
    check("python_graph", &python(), json!({"query": query, "budgets": {"maxTotalTokens": 1500}}));
}

#[test]
fn python_trace() {
    let query = "Wrong rate is accepted\n\nTraceback (most recent call last):\n  File \"/srv/shop/pricing.py\", line 13, in __init__\n\
                 ValueError: a discount rate lies between 0 and 1";
    check(
        "python_trace",
        &python(),
        json!({"query": query, "layout": "agent", "budgets": {"maxTotalTokens": 800}}),
    );
}

#[test]
fn canonical_json() {
    let request = json!({"query": "retry delay", "budgets": {"maxTotalTokens": 400, "maxItems": 3}, "expansion": {"maxHops": 1}});
    let value: Value = serde_json::from_str(&pack(&go(), request).canonical()).expect("valid JSON");
    let text = serde_json::to_string_pretty(&value).expect("printable JSON");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../fixtures/packs/snapshots");
    insta::with_settings!({ snapshot_path => path, prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!("canonical_json", text);
    });
}
