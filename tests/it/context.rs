//! What packs are asked for, held and cost: settings of the packer, switches, summaries, shadow runs, the
//! audit trail, correlation ids.

use crate::answers::{World, ask, check_shape, world};
use crate::client::{Client, run};
use crate::user::{User, check_failure, ok, text};
use indexd_proto::shown::ContextSummary;
use serde_json::{Value, json};
use std::path::Path;

fn write(world: &World, path: &str, text: &str) {
    let path = Path::new(&world.root).join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

fn code_of(answer: &Value) -> &str {
    answer["error"]["data"]["code"].as_str().unwrap_or("none")
}

/// Output of a tool, an open file, a hit and a reference.
fn sources() -> Value {
    json!([
        {"sourceType": "toolResult", "content": "FAIL TestDelay\n", "relevanceScore": 0.5},
        {"sourceType": "openFile", "filePath": "draft.go", "content": "package retry\n", "relevanceScore": 0.5},
        {"sourceType": "searchResult", "filePath": "retry.go", "lineRange": {"start": 3, "end": 6}, "relevanceScore": 0.5},
        {"sourceType": "reference", "filePath": "README.md", "relevanceScore": 0.5},
    ])
}

#[test]
fn the_last_pack_is_summed_up() {
    run(async {
        let world = world();
        let c = &mut Client::of(&world.server);
        let (_, none) = ask(&world, c, "context.show", json!({})).await;
        assert_eq!(code_of(&none), "POC_E_PACK_NOT_FOUND");
        let overlay =
            json!([{"path": "client.go", "text": "package retry\n\nfunc Get() int { return Delay(9) }\n"}]);
        let asked = json!({"query": "Get Delay", "overlays": overlay, "budgets": {"maxTotalTokens": 700}});
        let (_, pack) = ask(&world, c, "pack", asked).await;
        let pack = &pack["result"]["pack"];
        let (_, shown) = ask(&world, c, "context.show", json!({})).await;
        let s: ContextSummary = check_shape("context.show", &shown);
        assert_eq!(json!(s.pack_id), pack["packId"]);
        assert_eq!(
            (s.budget.total_tokens, json!(s.budget.used_tokens)),
            (700, pack["stats"]["tokenCount"].clone())
        );
        let items = pack["sections"].as_array().unwrap().iter().flat_map(|s| s["items"].as_array().unwrap());
        let items: Vec<(Value, Value)> =
            items.map(|i| (i["fileRelPath"].clone(), i["tokens"].clone())).collect();
        let chunks: Vec<(Value, Value)> =
            s.chunks.iter().map(|c| (json!(c.file_path), json!(c.tokens))).collect();
        assert_eq!(chunks, items);
        let origins: Vec<Value> = s.sources.iter().map(|s| json!([s.kind, s.n > 0])).collect();
        assert!(
            origins.contains(&json!(["openFile", true])) && origins.contains(&json!(["searchResult", true])),
            "{origins:?}"
        );
        assert_eq!(s.settings["scoring.seed"], json!(0.7));
        // An equal pack out of the cache is the last one again; a packing of sources follows it.
        let (_, packed) = ask(&world, c, "context.pack", json!({"sources": sources()})).await;
        let (_, shown) = ask(&world, c, "context.show", json!({})).await;
        let s: ContextSummary = check_shape("context.show", &shown);
        assert_eq!(json!(s.budget.used_tokens), packed["result"]["packed"]["tokenCount"]);
        assert_eq!((s.budget.total_tokens, s.budget.available_tokens), (100_000, 90_000));
        assert_eq!(s.sources.iter().map(|s| s.n).collect::<Vec<_>>(), [1, 1, 1, 1]);
        // By id, too, and no other id.
        let (_, shown) = ask(&world, c, "context.show", json!({"packId": pack["packId"]})).await;
        assert_eq!(shown["result"]["packId"], pack["packId"]);
        let (_, none) =
            ask(&world, c, "context.show", json!({"packId": format!("pack:sha256:{}", "0".repeat(64))}))
                .await;
        assert_eq!(code_of(&none), "POC_E_PACK_NOT_FOUND");
        world.server.shutdown_backend();
    });
}

/// TEST-110: all parts are printed, of the last pack and of one that was written.
#[test]
fn should_show_context_debug_command() {
    let user = User::new();
    let id = ok(&user.ctl(&["pack", "delay", "--budget", "2000", "--write"]));
    let summary = ok(&user.ctl(&["context", "show"]));
    let lines: Vec<&str> = summary.lines().collect();
    assert_eq!(lines[..3], ["Context Summary", &"─".repeat(20), "Total budget: 2,000 tokens"], "{summary}");
    assert!(lines[3].starts_with("Used: ") && lines[3].ends_with("%)"), "{summary}");
    for part in [
        "Sources:",
        "Search results: ",
        "Chunks:",
        "  1. retry.go:",
        "[search]",
        "Settings:",
        "scoring.seed = 0.7",
    ] {
        assert!(summary.contains(part), "{part}: {summary}");
    }
    let json: Value = serde_json::from_str(&ok(&user.ctl(&["context", "show", "--json"]))).unwrap();
    assert_eq!((&json["schema"], &json["packId"]), (&json!("ContextSummary"), &json!(id.trim())));
    // Another daemon remembers nothing and reads the record.
    ok(&user.ctl(&["daemon", "stop"]));
    check_failure(&user.ctl(&["context", "show"]), 69, "POC_E_DAEMON_UNAVAILABLE");
    let record: Value =
        serde_json::from_str(&ok(&user.ctl(&["context", "show", "--pack-id", id.trim(), "--json"]))).unwrap();
    assert_eq!((&record["budget"], &record["chunks"]), (&json["budget"], &json["chunks"]));
}

/// TEST-111: a changed budget, weights, priorities and chunk sizes show in the pack and in what is said
/// of it.
#[test]
fn should_respect_config_settings() {
    run(async {
        let world = world();
        let c = &mut Client::of(&world.server);
        let order = |packed: &Value| -> Vec<String> {
            let chunks = packed["result"]["packed"]["chunks"].as_array().unwrap();
            chunks.iter().map(|c| c["sourceType"].as_str().unwrap().to_owned()).collect()
        };
        let (_, first) = ask(&world, c, "context.pack", json!({"sources": sources()})).await;
        assert_eq!(order(&first), ["toolResult", "openFile", "searchResult", "reference"]);
        // The file of another tool turns the priorities around and shortens chunks.
        write(
            &world,
            "rauf.yaml",
            "context_builder:\n  budget: {total: 50000}\n  ranking: {source_weight: 0.9}\n",
        );
        write(
            &world,
            ".agent/config.yml",
            "agent: x\ncontext:\n  budget:\n    total: 20000\n    response_reserve: 500\n  source_priority:\n    tool_results: 1\n    references: 500\n  chunking:\n    max_chunk_tokens: 12\n    min_chunk_tokens: 1\n  rankin: {}\n  surprise: 1\n",
        );
        let (_, second) = ask(&world, c, "context.pack", json!({"sources": sources()})).await;
        let found = order(&second);
        assert_eq!(
            (found.first().unwrap().as_str(), found.last().unwrap().as_str()),
            ("reference", "toolResult")
        );
        assert!(found.len() > 4, "chunks of at most 12 tokens: {found:?}");
        let warnings = second["result"]["envelope"]["warnings"].to_string();
        for part in [
            "`context.budget.total` is 20000 by .agent/config.yml, and 50000 by rauf.yaml",
            "unknown key `context.surprise`",
        ] {
            assert!(warnings.contains(part), "{part}: {warnings}");
        }
        let (_, shown) = ask(&world, c, "context.show", json!({})).await;
        let s: ContextSummary = check_shape("context.show", &shown);
        assert_eq!((s.budget.total_tokens, s.budget.available_tokens), (20_000, 17_500));
        assert_eq!((&s.settings["maxChunkTokens"], &s.settings["sourceWeight"]), (&json!(12), &json!(0.9)));
        assert_eq!(s.settings["priorities"]["reference"], json!(500));
        // The request is the strongest.
        let asked =
            json!({"sources": sources(), "budget": {"totalTokens": 9000}, "settings": {"sourceWeight": 0.1}});
        ask(&world, c, "context.pack", asked).await;
        let (_, shown) = ask(&world, c, "context.show", json!({})).await;
        assert_eq!(shown["result"]["budget"]["totalTokens"], json!(9_000));
        assert_eq!(shown["result"]["settings"]["sourceWeight"], json!(0.1));
        // What cannot be used is named and changes nothing.
        write(
            &world,
            ".agent/config.yml",
            "context:\n  budget:\n    total: 900000\n  ranking: {recency_weight: heavy}\n",
        );
        let (_, third) = ask(&world, c, "context.pack", json!({"sources": sources()})).await;
        let warnings = third["result"]["envelope"]["warnings"].to_string();
        assert!(
            warnings.contains("may not set `context.budget.total`")
                && warnings.contains("wrong value for `context.ranking.recency_weight`"),
            "{warnings}"
        );
        world.server.shutdown_backend();
    });
}

/// A secret in what is offered is replaced, whatever kind of source it comes from; a file that is a secret by its
/// name gives nothing, with its text or without.
#[test]
fn offered_sources_keep_their_secrets() {
    run(async {
        let world = world();
        let c = &mut Client::of(&world.server);
        let token = crate::edits::token(&mut crate::edits::Numbers(5));
        write(&world, ".env", "PLAIN=salamander\n");
        let text = |n: u32| format!("line {n}\nauth = \"{token}\"\n");
        let kinds = ["toolResult", "openFile", "searchResult", "reference"];
        let mut offered: Vec<Value> = (kinds.iter().zip(1..))
            .map(|(k, n)| json!({"sourceType": k, "filePath": format!("f{n}.txt"), "content": text(n)}))
            .collect();
        offered.push(json!({"sourceType": "reference", "filePath": ".env"}));
        offered.push(json!({"sourceType": "openFile", "filePath": ".env", "content": "PLAIN=salamander\n"}));
        let (_, answer) = ask(&world, c, "context.pack", json!({"sources": offered})).await;
        let said = answer.to_string();
        assert!(!said.contains(&token) && !said.contains("salamander"), "{said}");
        let packed = &answer["result"]["packed"];
        assert_eq!(
            packed["content"].as_str().unwrap().matches("[REDACTED:github-token]").count(),
            4,
            "{said}"
        );
        let warnings = packed["warnings"].to_string();
        for n in [5, 6] {
            assert!(warnings.contains(&format!("source {n} (")), "{warnings}");
        }
        assert_eq!(
            (&packed["partial"], warnings.matches("says that it holds secrets").count()),
            (&json!(true), 2)
        );
        world.server.shutdown_backend();
    });
}

/// Off, packs are refused, and what tells about them is still there.
#[test]
fn packs_can_be_switched_off() {
    run(async {
        let world = world();
        let c = &mut Client::of(&world.server);
        ask(&world, c, "pack", json!({"query": "delay"})).await;
        write(&world, ".indexd.toml", "context_pack.enabled = false\n");
        for (method, params) in [
            ("pack", json!({"query": "delay"})),
            ("pack.markdown", json!({"query": "delay"})),
            ("context.pack", json!({"sources": sources()})),
        ] {
            let (_, answer) = ask(&world, c, method, params).await;
            assert_eq!(code_of(&answer), "POC_E_NOT_SUPPORTED", "{method}");
            assert!(
                answer["error"]["data"]["hint"].as_str().unwrap().contains("context_pack.enabled"),
                "{answer}"
            );
        }
        for (method, params) in [
            ("preview", json!({"query": "delay"})),
            ("search", json!({"query": "delay"})),
            ("context.show", json!({})),
            ("context.pack", json!({"sources": sources(), "mode": "stats"})),
            ("context.pack", json!({"sources": sources(), "mode": "preview"})),
            ("status", json!({})),
        ] {
            let (_, answer) = ask(&world, c, method, params).await;
            assert!(answer.get("result").is_some(), "{method}: {answer}");
        }
        write(&world, ".indexd.toml", "");
        let (_, answer) = ask(&world, c, "pack", json!({"query": "delay"})).await;
        assert!(answer.get("result").is_some(), "{answer}");
        world.server.shutdown_backend();
    });
}

/// TEST-022: with the switch on, the answer of a search is what it was, and the comparison is recorded.
#[test]
fn a_shadow_run_changes_no_answer_and_is_counted() {
    run(async {
        let world = world();
        let c = &mut Client::of(&world.server);
        let shadow = async |c: &mut Client| {
            let (_, status) = ask(&world, c, "status", json!({})).await;
            status["result"]["packs"]["shadow"].clone()
        };
        // The file is in the index, too, so both states have it.
        write(&world, ".indexd.toml", "context_pack.shadow = false\ncontext_pack.enabled = false\n");
        let (_, plain) = ask(&world, c, "search", json!({"query": "delay"})).await;
        assert_eq!(shadow(c).await["runs"], json!(0));
        write(&world, ".indexd.toml", "context_pack.shadow = true\ncontext_pack.enabled = false\n");
        let (_, beside) = ask(&world, c, "search", json!({"query": "delay"})).await;
        assert_eq!(beside["result"]["hits"], plain["result"]["hits"]);
        let counts = shadow(c).await;
        let n = |key: &str| counts[key].as_u64().unwrap();
        assert_eq!((n("runs"), n("failed")), (1, 0), "{counts}");
        let hits = plain["result"]["hits"].as_array().unwrap().len() as u64;
        assert_eq!(n("inBoth") + n("searchOnly"), hits, "{counts}");
        assert!(n("inBoth") > 0, "{counts}");
        // A pack that cannot be built costs the search nothing.
        let (_, empty) = ask(&world, c, "search", json!({"query": ""})).await;
        assert!(empty.get("result").is_some() || code_of(&empty) == "POC_E_INVALID_REQUEST", "{empty}");
        world.server.shutdown_backend();
    });
}

#[test]
fn every_method_takes_a_correlation_id() {
    run(async {
        let world = world();
        let c = &mut Client::of(&world.server);
        ask(&world, c, "index.wait", json!({})).await;
        for method in indexd_proto::Method::ALL {
            let name = method.name();
            if matches!(name, "shutdown" | "workspace.remove") {
                continue;
            }
            let mut params = json!({"correlationId": "mine"});
            match name {
                "pack" | "preview" | "search" | "pack.markdown" => params["query"] = json!("delay"),
                "symbol" => params["name"] = json!("Delay"),
                "card" => params["symbol"] = json!("Delay"),
                "why" => params["path"] = json!("retry.go"),
                "context.pack" => params["sources"] = json!([]),
                "context.offer" => params = json!({"correlationId": "mine", "handle": "h", "content": "x"}),
                "pack.get" => params["packId"] = json!("x"),
                "import.scip" => params["clear"] = json!(true),
                "workspace.gc" => params = json!({"correlationId": "mine", "dryRun": true, "cwd": null}),
                _ if name.starts_with("graph.") => params["symbol"] = json!("Delay"),
                _ => {}
            }
            // Methods without a target take no folder.
            let takes_target =
                !matches!(name, "status" | "workspace.list" | "hello" | "workspace.gc" | "context.offer");
            let params = match takes_target {
                true => params,
                false => params
                    .as_object()
                    .unwrap()
                    .iter()
                    .filter(|(k, _)| *k != "cwd")
                    .map(|(k, v)| (k.clone(), v.clone()))
                    .collect(),
            };
            let line = json!({"jsonrpc": "2.0", "id": 1, "method": name, "params": if takes_target {
                let mut p = params.clone();
                p["repo"] = json!(world.root);
                p
            } else { params }});
            c.send(&line.to_string()).await;
            let answer = loop {
                let message = c.answer().await;
                if message.get("id").is_some() {
                    break message;
                }
            };
            let refused = answer["error"]["message"].as_str().unwrap_or_default();
            assert!(!refused.contains("correlationId"), "{name}: {answer}");
            if let Some(envelope) = answer["result"].get("envelope") {
                assert_eq!(envelope["correlationId"], "mine", "{name}");
            }
        }
        world.server.shutdown_backend();
    });
}

/// At the default level each pack leaves one line, under the user's own name of it, without content, query
/// or path.
#[test]
fn the_audit_trail_names_what_was_selected_and_shows_nothing_of_it() {
    let user = User::new();
    user.write("repo/canary.go", "package demo\n\nfunc Canary() string { return \"xyzzy-content\" }\n");
    ok(&user.ctl(&["pack", "xyzzy-query Canary", "--json", "--correlation-id", "turn:7"]));
    check_failure(&user.ctl(&["pack", "x", "--correlation-id", "a b"]), 2, "POC_E_INVALID_REQUEST");
    ok(&user.ctl(&["daemon", "stop"]));
    let log = std::fs::read_to_string(user.path("state/indexd/indexd.log")).unwrap();
    let line = log.lines().find(|l| l.contains("\"message\":\"packed\"")).unwrap_or_else(|| panic!("{log}"));
    let line: Value = serde_json::from_str(line).unwrap();
    assert_eq!(
        (&line["level"], &line["span"]["correlation_id"]),
        (&json!("INFO"), &json!("turn:7")),
        "{line}"
    );
    assert!(line["selected"].as_str().unwrap().contains("/seeds/"), "{line}");
    assert!(
        line["used_tokens"].as_u64().unwrap() > 0
            && line["pack"].as_str().unwrap().starts_with("pack:sha256:")
    );
    assert!(!log.contains("xyzzy") && !log.contains("canary.go"), "{log}");
}

#[test]
fn hit_rates_are_told_to_people_and_to_prometheus() {
    let user = User::new();
    for _ in 0..3 {
        ok(&user.ctl(&["pack", "delay"]));
    }
    let status = ok(&user.ctl(&["status"]));
    assert!(
        status.contains("caches") && status.contains("packs served 2 of 3, kept token counts "),
        "{status}"
    );
    let metrics = ok(&user.ctl(&["metrics"]));
    let value = |name: &str| -> f64 {
        let line = metrics.lines().find(|l| l.starts_with(&format!("{name} ")));
        line.unwrap_or_else(|| panic!("{name}: {metrics}")).rsplit(' ').next().unwrap().parse().unwrap()
    };
    assert_eq!((value("indexd_pack_cache_hits_total"), value("indexd_pack_cache_misses_total")), (2.0, 1.0));
    assert!(value("indexd_token_cache_misses_total") > 0.0);
    let refused = user.ctl(&["metrics", "--json"]);
    assert!(!refused.status.success() && text(&refused.stderr).contains("POC_E_NOT_SUPPORTED"));
    ok(&user.ctl(&["daemon", "stop"]));
    let gone = user.ctl(&["metrics"]);
    assert!(text(&gone.stderr).contains("POC_E_DAEMON_UNAVAILABLE"), "{}", text(&gone.stderr));
}

/// The key of a cached pack is the digest that its id ends with.
#[test]
fn the_key_of_the_cache_is_the_digest_of_signature_and_request() {
    run(async {
        let world = world();
        let c = &mut Client::of(&world.server);
        let (_, answer) = ask(&world, c, "pack", json!({"query": "delay"})).await;
        let key = answer["result"]["envelope"]["cache"]["key"].as_str().unwrap();
        assert!(key.starts_with("sha256:") && key.len() == 7 + 64, "{key}");
        assert_eq!(answer["result"]["pack"]["packId"], json!(format!("pack:{key}")));
        world.server.shutdown_backend();
    });
}
