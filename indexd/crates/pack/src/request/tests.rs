use super::*;
use serde_json::json;

fn code(value: Value) -> Result<Resolved, &'static str> {
    Request::from_json(value)
        .and_then(|r| r.resolve(&Config::default()))
        .map(|(r, _)| r)
        .map_err(|e| e.code())
}

#[test]
fn refuses_what_does_not_exist_or_does_not_go_together() {
    for (request, expect) in [
        (json!({"query": "x", "layout": "round"}), "POC_E_NOT_SUPPORTED"),
        (json!({"query": "x", "colour": 1}), "POC_E_NOT_SUPPORTED"),
        (json!({"query": "x", "expansion": {"edgeTypes": ["friend"]}}), "POC_E_NOT_SUPPORTED"),
        (json!({"query": "x", "seedProvider": "ann"}), "POC_E_NOT_SUPPORTED"),
        (json!({"query": 3}), "POC_E_INVALID_REQUEST"),
        (json!({"query": "  "}), "POC_E_INVALID_REQUEST"),
        (json!({"query": "x", "focus": {"symbolId": "a", "chunkUid": "b"}}), "POC_E_INVALID_REQUEST"),
        (
            json!({"query": "x", "budgets": {"maxTotalTokens": 1}, "contextBudget": {}}),
            "POC_E_INVALID_REQUEST",
        ),
        (json!({"query": "x", "schemaVersion": "9.0.0"}), "POC_E_CONTRACT_VERSION"),
        (
            json!({"query": "x", "strictness": "strict", "budgets": {"maxItems": 251}}),
            "POC_E_BUDGET_EXCEEDED",
        ),
    ] {
        assert_eq!(code(request.clone()), Err(expect), "{request}");
    }
    assert!(code(json!({"query": "x", "strictness": "strict", "budgets": {"maxItems": 250}})).is_ok());
    assert!(code(json!({"query": "", "focus": {"fileRelPath": "a.go"}})).is_ok());
}

#[test]
fn caps_hold_exactly_at_their_boundary() {
    for (member, cap) in [
        ("maxTotalChars", 2_000_000u64),
        ("maxItems", 250),
        ("maxItemsPerSection", 80),
        ("maxBytesPerItem", 64_000),
    ] {
        for (asked, clamps) in [(cap, 0), (cap + 1, 1)] {
            let request = Request::from_json(json!({"query": "x", "budgets": {member: asked}})).unwrap();
            let (_, budgets) = request.resolve(&Config::default()).unwrap();
            assert_eq!(budgets.clamped.len(), clamps, "{member} {asked}");
        }
    }
    let hops = code(json!({"query": "x", "expansion": {"maxHops": 9}})).unwrap();
    assert_eq!(hops.expansion.max_hops, 4);
}

#[test]
fn equal_requests_become_equal_bytes() {
    let config = Config::default();
    let named = |v: Value, repo_id: &str, version: &str| {
        let (resolved, limits) = Request::from_json(v).unwrap().resolve(&config).unwrap();
        resolved.normalised(&limits, repo_id, &config, version)
    };
    let normal = |v: Value| named(v, "r", "1");
    let base = normal(json!({"query": "x"}));
    for same in [
        json!({"query": " x ", "layout": "graph", "strictness": "warn"}),
        json!({"query": "x", "expansion": {"edgeTypes": ["import", "usage", "call", "call"]}}),
        json!({"query": "x", "repoId": "r", "indexRoot": "/secret", "indexSignature": "b3:1"}),
        json!({"query": "x", "ordering": {"stableTieBreakers": ["fileRelPath"]}}),
        json!({"query": "x", "focus": {}}),
    ] {
        assert_eq!(normal(same.clone()), base, "{same}");
    }
    for other in [
        json!({"query": "y"}),
        json!({"query": "x", "layout": "agent"}),
        json!({"query": "x", "expansion": {"includeImports": false}}),
        json!({"query": "x", "ordering": {"stableTieBreakers": ["symbolId"]}}),
        // The pack says where each limit comes from.
        json!({"query": "x", "budgets": {"maxItems": 80}}),
    ] {
        assert_ne!(normal(other.clone()), base, "{other}");
    }
    // The pack warns of what was asked.
    let hops = |n: u32| normal(json!({"query": "x", "expansion": {"maxHops": n}}));
    assert_ne!(hops(5), hops(9));
    assert_ne!(named(json!({"query": "x"}), "r", "2"), base);
    assert_ne!(named(json!({"query": "x"}), "other", "1"), base);
}

#[test]
fn reserves_cannot_enlarge_a_budget() {
    for (total, response, system, available) in
        [(100_000, 8_000, 2_000, 90_000), (10, 8, 4, 0), (10, -5, 2, 8), (0, 0, 0, 0)]
    {
        let budget =
            ContextBudget { total_tokens: total, response_reserve: response, system_reserve: system };
        assert_eq!(budget.available(), available);
    }
    let request = json!({"query": "x", "contextBudget": {}});
    assert_eq!(code(request).unwrap().budgets.max_total_tokens, 90_000);
}
