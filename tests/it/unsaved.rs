//! Unsaved texts: an answer with them is the answer after saving them, and nothing of them stays.

use crate::answers::{World, ask, world};
use crate::client::{Client, code, run};
use crate::edits::{Edit, Repository, script};
use crate::support::{Bench, dump_of, first_difference, number, on_large_stack, packs_of};
use crate::user::{User, check_failure, ok};
use indexd::workspace::indexing::stages::{Parts, StageLog};
use indexd::workspace::indexing::update::{UnsavedText, Update};
use indexd::workspace::why::{Place, place};
use indexd_model::RepoPath;
use indexd_os::Root;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;

/// The dump and the packs of a view with unsaved texts.
fn over(bench: &Bench, texts: &[UnsavedText]) -> (String, Vec<String>) {
    let root = Root::open(bench.root()).unwrap();
    let (store, log) = (bench.store(), StageLog::default());
    let update = Update {
        root: &root,
        store: &store,
        parts: Parts::default(),
        contents: None,
        log: &log,
        cancelled: &|| false,
        hashed: None,
        has_stack: false,
    };
    let view = update.unsaved(texts).unwrap();
    (dump_of(&view), packs_of(&view))
}

/// Whether the index would hold a file.
fn counts(root: &Path, path: &str) -> bool {
    match place(root, &[], path) {
        (Place::File, _) => true,
        (Place::Missing, at) => at == path,
        _ => false,
    }
}

/// Up to three steps that write files at a time, laid over and then saved; other steps between them.
fn over_and_saved(edits: &[(Edit, bool)]) -> Result<(), TestCaseError> {
    let mut bench = Bench::new();
    let mut repository = Repository::new(bench.root());
    bench.build();
    for steps in edits.chunks(3) {
        let mut texts: BTreeMap<RepoPath, String> = BTreeMap::new();
        let mut writes = Vec::new();
        for (edit, _) in steps {
            // Two texts of one file do not go together.
            match repository.text_of(edit).filter(|(path, _)| counts(bench.root(), path)) {
                Some((path, text)) => {
                    if let Entry::Vacant(entry) = texts.entry(RepoPath::new(path).unwrap()) {
                        entry.insert(text);
                        writes.push(edit);
                    }
                }
                None if writes.is_empty() => bench.update(&repository.apply(edit, bench.root())),
                None => {}
            }
        }
        let texts: Vec<UnsavedText> = texts.into_iter().collect();
        let before = bench.dump();
        let (over, packs) = over(&bench, &texts);
        let after = bench.dump();
        prop_assert!(before == after, "stored: {}", first_difference(&before, &after));
        let dirty: Vec<String> =
            writes.into_iter().flat_map(|edit| repository.apply(edit, bench.root())).collect();
        bench.update(&dirty);
        let saved = bench.dump();
        prop_assert!(over == saved, "{}", first_difference(&over, &saved));
        prop_assert_eq!(packs, packs_of(&bench.snapshot()));
    }
    Ok(())
}

/// Few scripts by default; `INDEXD_TEST_SCRIPTS=1000` for the full run.
#[test]
fn a_view_with_unsaved_texts_is_the_index_after_saving_them() {
    on_large_stack(|| {
        let cases = number("INDEXD_TEST_SCRIPTS", 120) as u32 / 3;
        let config = Config { cases, max_shrink_iters: 100, failure_persistence: None, ..Config::default() };
        TestRunner::new(config)
            .run(&script(18), |edits| over_and_saved(&edits))
            .unwrap_or_else(|e| panic!("{e}"));
    });
}

const RETRY: &str = "package retry\n\n// Delay is constant now.\nfunc Delay(attempt int) int {\n\treturn 7\n}\n\nfunc again() int { return Get() }\n";

/// Every method that takes overlays, with what is asked.
fn questions() -> Vec<(&'static str, Value)> {
    vec![
        (
            "pack",
            json!({"query": "who waits for Delay again", "budgets": {"maxTotalTokens": 2000}, "rendered": true}),
        ),
        ("preview", json!({"query": "who waits for Delay again"})),
        ("search", json!({"query": "delay constant pause"})),
        ("symbol", json!({"name": "again"})),
        ("symbol", json!({"name": "pause.go:4"})),
        ("why", json!({"path": "pause.go"})),
        ("graph.callers", json!({"symbol": "Get"})),
        ("graph.callees", json!({"symbol": "again"})),
        ("graph.refs", json!({"symbol": "Pause"})),
        ("graph.impact", json!({"symbol": "Delay"})),
    ]
}

async fn answers(world: &World, client: &mut Client, overlays: &Value) -> Vec<(Value, Value)> {
    let mut all = Vec::new();
    for (method, mut params) in questions() {
        if *overlays != json!([]) {
            params["overlays"] = overlays.clone();
        }
        let (_, answer) = ask(world, client, method, params).await;
        let mut result = answer.get("result").unwrap_or_else(|| panic!("{method}: {answer}")).clone();
        let envelope = result.as_object_mut().unwrap().remove("envelope").unwrap();
        for pack in ["pack", "preview"] {
            if let Some(pack) = result.get_mut(pack).and_then(Value::as_object_mut) {
                pack.remove("createdAt");
                if let Some(stats) = pack.get_mut("stats").and_then(Value::as_object_mut) {
                    stats.remove("timings");
                }
            }
        }
        all.push((result, envelope));
    }
    all
}

async fn dump(world: &World, client: &mut Client) -> String {
    let (notes, _) = ask(world, client, "export.dump", json!({})).await;
    notes.iter().filter_map(|n| n["params"]["text"].as_str()).collect()
}

#[test]
fn every_method_answers_as_if_they_were_saved() {
    run(async {
        let world = world();
        let mut client = Client::of(&world.server);
        let pause = "package retry\n\n// Pause waits.\nfunc Pause() int { return Delay(1) + again() }\n";
        let overlays = json!([
            {"path": "retry.go", "text": RETRY},
            {"path": format!("{}/pause.go", world.root), "text": pause},
        ]);
        let before = dump(&world, &mut client).await;
        let over = answers(&world, &mut client, &overlays).await;
        assert_eq!(over, answers_but_times(&over, answers(&world, &mut client, &overlays).await));
        assert_eq!(dump(&world, &mut client).await, before);
        for (_, envelope) in &over {
            assert_eq!(envelope["overlays"], json!({"applied": ["pause.go", "retry.go"]}));
        }
        fs::write(format!("{}/retry.go", world.root), RETRY).unwrap();
        fs::write(format!("{}/pause.go", world.root), pause).unwrap();
        let saved = answers(&world, &mut client, &json!([])).await;
        assert_ne!(dump(&world, &mut client).await, before);
        for (((method, _), (over, _)), (saved, envelope)) in questions().iter().zip(&over).zip(&saved) {
            assert_eq!(over, saved, "{method}");
            assert_eq!(envelope.get("overlays"), None, "{method}");
        }
        assert_eq!(over[0].1["indexSignature"], saved[0].1["indexSignature"]);
    });
}

/// The second answers, with the times of the first.
fn answers_but_times(first: &[(Value, Value)], second: Vec<(Value, Value)>) -> Vec<(Value, Value)> {
    first.iter().zip(second).map(|((_, envelope), (result, _))| (result, envelope.clone())).collect()
}

#[test]
fn texts_that_cannot_count_are_refused_or_named() {
    run(async {
        let world = world();
        let mut client = Client::of(&world.server);
        fs::write(format!("{}/.gitignore", world.root), "build/\n").unwrap();
        let over = |path: &str, text: &str| json!({"path": path, "text": text});
        for (overlays, expect) in [
            (json!([over("../evil.go", "x")]), "POC_E_INVALID_REQUEST"),
            (json!([over("/etc/passwd", "x")]), "POC_E_INVALID_REQUEST"),
            (json!([over("", "x")]), "POC_E_INVALID_REQUEST"),
            (json!([over("a.go", "x"), over("./a.go", "y")]), "POC_E_INVALID_REQUEST"),
            (json!([{"path": "a.go"}]), "POC_E_INVALID_REQUEST"),
            (
                json!((0..33).map(|i| over(&format!("f{i}.go"), "")).collect::<Vec<_>>()),
                "POC_E_BUDGET_EXCEEDED",
            ),
            (json!([over("a.go", &"x".repeat((4 << 20) + 1))]), "POC_E_BUDGET_EXCEEDED"),
        ] {
            let (_, answer) =
                ask(&world, &mut client, "search", json!({"query": "x", "overlays": overlays})).await;
            assert_eq!(code(&answer), expect, "{}", answer["error"]["message"]);
        }
        let kept = json!({"query": "x", "write": true, "overlays": [over("a.go", "package a")]});
        assert_eq!(code(&ask(&world, &mut client, "pack", kept).await.1), "POC_E_INVALID_REQUEST");

        let overlays = json!([
            over("build/x.go", "package quetzal"),
            over("retry.go/x.go", "quetzal"),
            over("b.go", "package retry")
        ]);
        let (_, answer) =
            ask(&world, &mut client, "search", json!({"query": "quetzal", "overlays": overlays})).await;
        let facts = &answer["result"]["envelope"]["overlays"];
        assert_eq!(facts["applied"], json!(["b.go"]));
        assert_eq!(
            facts["leftOut"][0],
            json!({"path": "build/x.go", "reason": "build: left out by `build/` in .gitignore:1"})
        );
        assert_eq!(facts["leftOut"][1]["path"], "retry.go/x.go");
        assert_eq!(answer["result"]["hits"], json!([]));
    });
}

#[test]
fn secrets_in_unsaved_texts_are_replaced() {
    run(async {
        let world = world();
        let mut client = Client::of(&world.server);
        let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
        let text = format!(
            "package retry\n\n// Login uses a token.\nfunc Login() string {{\n\treturn \"{secret}\"\n}}\n"
        );
        let params = json!({"query": "Login uses a token", "rendered": true, "overlays": [{"path": "login.go", "text": text}]});
        let (_, answer) = ask(&world, &mut client, "pack", params).await;
        let said = answer.to_string();
        assert!(said.contains("func Login") && !said.contains(&secret), "{said}");
    });
}

/// By hand, as `ctl` has it: the draft in a file and on standard input.
#[test]
fn a_draft_is_tried_on_the_command_line() {
    let user = User::new();
    let draft = "package demo\n\nfunc Jitter() int { return Delay(7) }\n";
    user.write("draft.go", draft);
    let named = format!("jitter.go={}", user.path("draft.go").display());
    let question = ["pack", "who waits with Jitter", "--json"];
    let from_file = ok(&user.ctl(&[&question[..], &["--overlay", &named]].concat()));
    let mut child = user
        .command("ctl")
        .args(question)
        .args(["--overlay", "./jitter.go=-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(draft.as_bytes()).unwrap();
    let from_stdin = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let callers = ok(&user.ctl(&["callers", "Delay", "--overlay", &named]));
    assert!(callers.contains("jitter.go:3: func Jitter"), "{callers}");
    check_failure(&user.ctl(&["symbol", "Jitter"]), 66, "POC_E_SYMBOL_NOT_FOUND");
    user.write("repo/jitter.go", draft);
    let saved = ok(&user.ctl(&question));
    let id = |pack: &str| serde_json::from_str::<Value>(pack).unwrap()["packId"].clone();
    assert_eq!([id(&from_file), id(&from_stdin)], [id(&saved), id(&saved)]);
    for (overlays, exit, code) in [
        (&["jitter.go"][..], 2, "POC_E_INVALID_REQUEST"),
        (&["a.go=-", "b.go=-"], 2, "POC_E_INVALID_REQUEST"),
        (&["a.go=/none/such"], 66, "POC_E_WORKSPACE_INVALID"),
        (&["../a.go=/dev/null"], 2, "POC_E_INVALID_REQUEST"),
    ] {
        let options = overlays.iter().flat_map(|o| ["--overlay", o]);
        let args: Vec<&str> = ["search", "x"].into_iter().chain(options).collect();
        check_failure(&user.ctl(&args), exit, code);
    }
}
