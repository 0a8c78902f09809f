//! Each specification as its users meet it: over the socket, the command line and git, with one test for each
//! promise.

use crate::answers::{World, ask, world};
use crate::client::{Client, code, run};
use crate::user::{User, ok, text};
use indexd_model::ContentHash;
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

async fn packed(world: &World, c: &mut Client, params: Value) -> Value {
    let (_, answer) = ask(world, c, "context.pack", params).await;
    answer["result"]["packed"].clone()
}

fn kinds(packed: &Value) -> Vec<String> {
    let chunks = packed["chunks"].as_array().unwrap().iter();
    chunks.map(|c| c["sourceType"].as_str().unwrap().to_owned()).collect()
}

/// Hits of the live index are offered by their places, and their texts come from the index.
#[test]
fn should_pack_real_search_results() {
    run(async {
        let world = world();
        let c = &mut Client::of(&world.server);
        let (_, found) = ask(&world, c, "search", json!({"query": "how long is the delay"})).await;
        let hits = found["result"]["hits"].as_array().unwrap();
        assert!(!hits.is_empty(), "{found}");
        let sources: Vec<Value> = hits
            .iter()
            .map(|h| json!({"sourceType": "searchResult", "filePath": h["fileRelPath"], "lineRange": h["lines"], "relevanceScore": 0.5}))
            .collect();
        let packed = packed(&world, c, json!({"sources": sources})).await;
        let content = packed["content"].as_str().unwrap();
        assert!(
            content.contains("func Delay(attempt int) int {") && content.contains("## File: retry.go"),
            "{content}"
        );
        assert_eq!(packed["partial"], false, "{packed}");
        world.server.shutdown_backend();
    });
}

/// The text of an open file is what the editor has, and a secret by its name is not shown though it is open.
#[test]
fn should_pack_open_files() {
    run(async {
        let world = world();
        let c = &mut Client::of(&world.server);
        let unsaved = "package retry\n\n// Delay is being rewritten.\nfunc Delay() {}\n";
        let sources = json!([
            {"sourceType": "openFile", "filePath": "retry.go", "content": unsaved},
            {"sourceType": "openFile", "filePath": ".env", "content": "TOKEN=abcdefgh12345678\n"},
            {"sourceType": "openFile", "filePath": "deploy/.env.production", "content": "TOKEN=zyxwvuts87654321\n"},
        ]);
        let packed = packed(&world, c, json!({"sources": sources})).await;
        assert_eq!(packed["content"], format!("## File: retry.go (lines 1-4)\n```go\n{unsaved}```\n"));
        let said = packed["warnings"].to_string();
        assert!(
            said.contains("source 2")
                && said.contains("source 3")
                && !packed.to_string().contains("abcdefgh"),
            "{said}"
        );
        world.server.shutdown_backend();
    });
}

/// Tool output needs no path.
#[test]
fn should_pack_tool_results() {
    run(async {
        let world = world();
        let c = &mut Client::of(&world.server);
        let sources =
            json!([{"sourceType": "toolResult", "content": "--- FAIL: TestDelay\n    want 2, have 1\n"}]);
        let packed = packed(&world, c, json!({"sources": sources})).await;
        assert_eq!(
            packed["content"],
            "## Tool result 1\n```\n--- FAIL: TestDelay\n    want 2, have 1\n```\n"
        );
        assert!(packed["chunks"][0]["filePath"].is_null(), "{packed}");
        world.server.shutdown_backend();
    });
}

/// With all else equal the priorities 100, 80, 60 and 40 decide, and other priorities turn the order.
#[test]
fn should_pack_mixed_sources() {
    run(async {
        let world = world();
        let c = &mut Client::of(&world.server);
        let sources = json!([
            {"sourceType": "reference", "filePath": "tools/helper.py", "relevanceScore": 0.5},
            {"sourceType": "searchResult", "filePath": "retry.go", "relevanceScore": 0.5},
            {"sourceType": "openFile", "filePath": "client.go", "content": "package retry\n", "relevanceScore": 0.5},
            {"sourceType": "toolResult", "content": "FAIL\n", "relevanceScore": 0.5},
        ]);
        let plain = packed(&world, c, json!({"sources": sources})).await;
        assert_eq!(kinds(&plain), ["toolResult", "openFile", "searchResult", "reference"]);
        let turned = json!({"priorities": {"reference": 200, "toolResult": 1}});
        let turned = packed(&world, c, json!({"sources": sources, "settings": turned})).await;
        assert_eq!(kinds(&turned), ["reference", "openFile", "searchResult", "toolResult"]);
        world.server.shutdown_backend();
    });
}

/// A task in words takes its chunk from the middle of a large open file; excluded chunks come without
/// their texts, and none of them would fit.
#[test]
fn a_task_ranks_what_is_offered() {
    run(async {
        let world = world();
        let c = &mut Client::of(&world.server);
        let function = |i: usize| match i {
            200 => "func retryDelay(n int) int {\n\treturn n * backoff\n}\n\n".to_owned(),
            i => format!("func step{i}(n int) int {{\n\treturn n + {i}\n}}\n\n"),
        };
        let text: String = (0..400).map(function).collect();
        let params = |query: &str| {
            json!({"query": query, "sources": [{"sourceType": "openFile", "filePath": "big.go", "content": text}],
                "budget": {"totalTokens": 300, "responseReserve": 0, "systemReserve": 0},
                "settings": {"maxChunkTokens": 60, "minChunkTokens": 20}})
        };
        let plain = packed(&world, c, params("")).await;
        assert!(plain["content"].as_str().unwrap().contains("func step0("), "{plain}");
        let asked = packed(&world, c, params("how long is the delay of a retry")).await;
        assert!(asked["chunks"][0]["content"].as_str().unwrap().contains("func retryDelay("), "{asked}");
        let left: u64 = 300 - asked["tokenCount"].as_u64().unwrap();
        let excluded = asked["excluded"].as_array().unwrap();
        assert!(excluded.len() > 50 && excluded.iter().all(|e| e["chunk"]["content"].is_null()), "{left}");
        assert!(
            excluded.iter().all(|e| e["chunk"]["tokenCount"].as_u64().unwrap() > left),
            "{left} tokens are free"
        );
        world.server.shutdown_backend();
    });
}

/// A planner looks first and then asks, and gets the items that it was shown.
#[test]
fn should_provide_context_to_planner() {
    run(async {
        let world = world();
        let c = &mut Client::of(&world.server);
        let params = json!({"query": "plan a change of the delay", "intent": "summarize"});
        let (_, preview) = ask(&world, c, "preview", params.clone()).await;
        let (_, pack) = ask(&world, c, "pack", params).await;
        let places = |pack: &Value| -> Vec<Value> {
            let sections = pack["sections"].as_array().unwrap().iter();
            sections.flat_map(|s| s["items"].as_array().unwrap()).map(|i| i["chunkUid"].clone()).collect()
        };
        let (seen, got) = (places(&preview["result"]["preview"]), places(&pack["result"]["pack"]));
        assert!(!got.is_empty() && seen == got, "{seen:?} {got:?}");
        world.server.shutdown_backend();
    });
}

/// An executor edits, and its next pack has the edit and the failure that it offers.
#[test]
fn should_provide_context_to_executor() {
    run(async {
        let world = world();
        let c = &mut Client::of(&world.server);
        let edit = "package retry\n\nfunc Delay(attempt int) int { return 42 * attempt }\n";
        std::fs::write(Path::new(&world.root).join("retry.go"), edit).unwrap();
        let sources = json!([
            {"sourceType": "toolResult", "content": "FAIL: TestDelay wants 6\n"},
            {"sourceType": "searchResult", "filePath": "retry.go"},
        ]);
        let packed = packed(&world, c, json!({"query": "TestDelay fails", "sources": sources})).await;
        let content = packed["content"].as_str().unwrap();
        assert!(content.contains("42 * attempt") && content.contains("FAIL: TestDelay"), "{content}");
        world.server.shutdown_backend();
    });
}

/// An edit between two turns is in the second pack, and the former text is gone from it.
#[test]
fn should_update_context_between_turns() {
    run(async {
        let world = world();
        let c = &mut Client::of(&world.server);
        let params = json!({"query": "how long is the delay", "rendered": true});
        let (_, first) = ask(&world, c, "pack", params.clone()).await;
        let edit = "package retry\n\n// Delay grows with each attempt.\nfunc Delay(attempt int) int { return 77 + attempt }\n";
        std::fs::write(Path::new(&world.root).join("retry.go"), edit).unwrap();
        let (_, second) = ask(&world, c, "pack", params).await;
        let text = |answer: &Value| answer["result"]["rendered"].as_str().unwrap().to_owned();
        assert!(text(&first).contains("base(attempt) * 2") && !text(&first).contains("77 + attempt"));
        assert!(text(&second).contains("77 + attempt") && !text(&second).contains("base(attempt) * 2"));
        let id = |answer: &Value| answer["result"]["pack"]["packId"].clone();
        assert_ne!(id(&first), id(&second));
        assert_eq!(
            second["result"]["envelope"]["cache"]["hit"], false,
            "the pack of the other state is not given"
        );
        world.server.shutdown_backend();
    });
}

/// Files of hundreds of kilobytes are chunked, and the budget is kept, counted again.
#[test]
fn should_handle_few_large_files() {
    run(async {
        let world = world();
        let paths = ["large0.go", "large1.go", "large2.go"];
        for (n, path) in paths.iter().enumerate() {
            let one = |i: usize| {
                format!("// Large{n}x{i} counts.\nfunc Large{n}x{i}(n int) int {{\n\treturn n + {i}\n}}\n\n")
            };
            let text: String = (0..4_000).map(one).collect();
            assert!(text.len() > 200_000);
            std::fs::write(Path::new(&world.root).join(path), format!("package retry\n\n{text}")).unwrap();
        }
        let c = &mut Client::of(&world.server);
        let sources: Vec<Value> =
            paths.iter().map(|p| json!({"sourceType": "searchResult", "filePath": p})).collect();
        let budget = json!({"totalTokens": 3_000, "responseReserve": 0, "systemReserve": 0});
        let settings = json!({"maxChunkTokens": 500});
        let query = "what does Large1x3210 count";
        let packed = packed(
            &world,
            c,
            json!({"query": query, "sources": sources, "budget": budget, "settings": settings}),
        )
        .await;
        let content = packed["content"].as_str().unwrap();
        let counter = indexd_text::counter("o200k_base", &Default::default()).unwrap();
        let counted = u64::from(indexd_text::TokenCounter::count_tokens(&*counter, content));
        assert!(counted <= 3_000 && counted > 2_000 && packed["tokenCount"] == counted, "{counted}");
        assert!(
            content.contains("func Large1x3210("),
            "the chunk of the middle of a file that the task names"
        );
        let chunks = packed["chunks"].as_array().unwrap();
        assert!(
            chunks.len() >= 4 && chunks.iter().all(|c| c["tokenCount"].as_u64().unwrap() <= 500),
            "{}",
            chunks.len()
        );
        world.server.shutdown_backend();
    });
}

/// The window of the settings counts where the caller names none, its reserves are subtracted once, and a window
/// that they use up is named.
#[test]
fn a_window_is_one_with_its_reserves() {
    run(async {
        let world = world();
        let config = Path::new(&world.root).join(".agent/config.yml");
        std::fs::create_dir(config.parent().unwrap()).unwrap();
        let c = &mut Client::of(&world.server);
        let sources = json!([{"sourceType": "toolResult", "content": "x\n"}]);
        for (total, budget, available) in [
            (50_000, json!(null), 40_000),
            // A file of the repository may lower the window of its user and not raise it.
            (200_000, json!(null), 90_000),
            (200_000, json!({"totalTokens": 900, "responseReserve": 0, "systemReserve": 0}), 900),
            (6_000, json!(null), 0),
        ] {
            std::fs::write(&config, format!("context:\n  budget:\n    total: {total}\n")).unwrap();
            let params = json!({"sources": sources, "budget": budget, "mode": "stats"});
            assert_eq!(packed(&world, c, params).await["available"], available, "{total} {budget}");
        }
        let empty = packed(&world, c, json!({"sources": sources})).await;
        let said = empty["warnings"][0].as_str().unwrap();
        assert!(
            said.contains("responseReserve 8000 and systemReserve 2000") && empty["content"] == "",
            "{empty}"
        );
        world.server.shutdown_backend();
    });
}

/// Milliseconds after which a withdrawn packing has answered; programs built for tests are slower.
const WITHDRAWN_MS: u64 = if cfg!(debug_assertions) { 200 } else { 50 };

/// A request for megabytes of open text is withdrawn in a moment, whatever its stage. Other programs of the machine
/// are not part of the promise: the best try of each stage counts.
#[test]
fn a_packing_of_megabytes_is_withdrawn_at_once() {
    run(async {
        let world = world();
        let c = &mut Client::of(&world.server);
        let one = |i: usize| format!("def step{i}(n):\n    total = n + {i}\n    return total\n\n\n");
        let mut content: String = (0..90_000).map(one).collect();
        content.truncate(4_800_000);
        let sources = json!([{"sourceType": "openFile", "filePath": "big.py", "content": content}]);
        let params = json!({"repo": world.root, "query": "what is the total of step 71", "sources": sources});
        let request =
            json!({"jsonrpc": "2.0", "id": 5, "method": "context.pack", "params": params}).to_string();
        for wait_ms in [0, 60, 150, 300, 600, 1_000] {
            let mut best = Duration::MAX;
            for _ in 0..3 {
                c.send(&request).await;
                crate::client::until("it begins", || world.server.in_flight() == 1).await;
                tokio::time::sleep(Duration::from_millis(wait_ms)).await;
                let started = Instant::now();
                c.send(r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":5}}"#).await;
                let answer = c.answer().await;
                if code(&answer) == "POC_E_CANCELLED" {
                    best = best.min(started.elapsed());
                } else {
                    best = Duration::ZERO;
                }
                crate::client::until("its thread is free", || world.server.in_flight() == 0).await;
            }
            assert!(best < Duration::from_millis(WITHDRAWN_MS), "after {wait_ms} ms: {best:?}");
        }
        world.server.shutdown_backend();
    });
}

/// The hash of an item is that of the bytes of its lines, also where the index holds another text of them.
#[test]
fn a_content_hash_is_of_the_bytes_of_the_file() {
    run(async {
        let world = world();
        let key = format!("token = \"ghp_{}\"\n", "a1B2c3D4e5".repeat(4).get(..36).unwrap());
        let secret = format!("def connect_zebra():\n    {key}    return token\n");
        let latin = b"# zebra\ndef gru\xdf_zebra():\n    return 'caf\xe9'\n".to_vec();
        let mut wide = vec![0xff, 0xfe];
        wide.extend("# zebra\r\nzebra_wide = 1\r\n".encode_utf16().flat_map(u16::to_le_bytes));
        let files = [("secret.py", secret.into_bytes()), ("latin.py", latin), ("wide.py", wide)];
        for (name, bytes) in &files {
            std::fs::write(Path::new(&world.root).join(name), bytes).unwrap();
        }
        let c = &mut Client::of(&world.server);
        let (_, answer) = ask(&world, c, "pack", json!({"query": "zebra", "includeExplain": false})).await;
        let pack = &answer["result"]["pack"];
        let items: Vec<&Value> = pack["sections"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|s| s["items"].as_array().unwrap())
            .collect();
        assert!(!answer.to_string().contains("a1B2c3D4"), "the secret is not shown");
        for (name, bytes) in &files {
            let item =
                items.iter().find(|i| i["fileRelPath"] == *name).unwrap_or_else(|| panic!("{name}: {pack}"));
            let at = |key: &str| item["lines"][key].as_u64().unwrap() as usize;
            let width = if *name == "wide.py" { 2 } else { 1 };
            let ends: Vec<usize> = std::iter::once(0)
                .chain((0..bytes.len()).step_by(width).filter(|i| bytes[*i] == b'\n').map(|i| i + width))
                .collect();
            let hash = ContentHash::of(&bytes[ends[at("start") - 1]..ends[at("end")]]).to_string();
            assert_eq!(item["provenance"]["content_hash"], hash, "{name}: {item}");
        }
        world.server.shutdown_backend();
    });
}

/// Clones of a commit in folders of any name give equal maps, documents and packs; a shallow clone, which lacks
/// the history that ranks, gives equal maps and documents.
#[test]
fn clones_in_other_folders_give_equal_answers() {
    for (files, name) in [
        (&[("README.md", "# Parcel post (v2)\n\nSends parcels.\n")][..], "Parcel-post-v2"),
        (&[("notes.txt", "parcels\n")], "repository"),
    ] {
        let user = User::new();
        for (path, text) in files {
            user.write(&format!("repo/{path}"), text);
        }
        user.write(
            "repo/post.py",
            "def send(parcel):\n    return weigh(parcel)\n\n\ndef weigh(parcel):\n    return 1\n",
        );
        std::fs::remove_file(user.path("repo/go.mod")).unwrap();
        user.git(&["init", "-q"]);
        user.git(&["add", "."]);
        user.git(&["commit", "-qm", "first parcel"]);
        user.write(
            "repo/post.py",
            "def send(parcel):\n    return weigh(parcel)\n\n\ndef weigh(parcel):\n    return 2\n",
        );
        user.git(&["commit", "-qam", "weigh the parcel right"]);
        let origin = format!("file://{}", user.path("repo").display());
        for (folder, args) in [("one", &[][..]), ("other", &[]), ("shallow", &["--depth", "1"])] {
            let to = user.path(folder).display().to_string();
            user.git(&[&["clone", "-q"], args, &[&*origin, &*to]].concat());
        }
        let said = |folder: &str, args: &[&str]| {
            let mut ctl = user.command("ctl");
            ok(&ctl.current_dir(user.path(folder)).args(args).output().unwrap())
        };
        let map = said("one", &["map"]);
        assert!(map.starts_with(&format!("# Repo map: {name}\n")), "{map}");
        let document = ["pack", "--as", "document", "-q", "weigh the parcel"];
        for folder in ["other", "shallow"] {
            assert_eq!(said(folder, &["map"]), map, "{folder}");
            assert_eq!(said(folder, &document), said("one", &document), "{folder}");
        }
        let id = |folder: &str| -> Value {
            let pack: Value =
                serde_json::from_str(&said(folder, &["pack", "weigh the parcel", "--json"])).unwrap();
            pack["packId"].clone()
        };
        assert!(id("one").is_string() && id("one") == id("other"), "{name}");
    }
}

/// JSON lines from a file or a pipe, a task and a budget on the command line.
#[test]
fn the_command_line_packs_what_it_is_given() {
    let user = User::new();
    let lines = [
        json!({"sourceType": "toolResult", "content": "FAIL TestDelay\n", "relevanceScore": 0.9}),
        json!({"sourceType": "searchResult", "filePath": "retry.go", "lineRange": {"start": 3, "end": 4}}),
        json!({"sourceType": "openFile", "filePath": ".env", "content": "KEY=1234567890abcdef\n"}),
    ];
    let offered: String = lines.iter().map(|l| format!("{l}\n")).collect();
    user.write("offered.jsonl", &offered);
    let file = user.path("offered.jsonl").display().to_string();
    let run = user.ctl(&["pack", "why does it fail", "--sources", &file]);
    let printed = ok(&run);
    assert!(
        printed.contains("FAIL TestDelay") && printed.contains("## File: retry.go (lines 3-4)"),
        "{printed}"
    );
    assert!(!printed.contains("KEY=") && text(&run.stderr).contains("source 3"), "{}", text(&run.stderr));
    let mut piped = user.command("ctl");
    let mut piped = piped
        .args(["pack", "why does it fail", "--sources", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    piped.stdin.take().unwrap().write_all(offered.as_bytes()).unwrap();
    assert_eq!(ok(&piped.wait_with_output().unwrap()), printed);
    let answer: Value =
        serde_json::from_str(&ok(&user.ctl(&["pack", "--sources", &file, "--budget", "20", "--json"])))
            .unwrap();
    assert!(answer["packed"]["tokenCount"].as_u64().unwrap() <= 20, "{answer}");
    assert_eq!(answer["schema"], "PackedContext");
    user.write("offered.jsonl", "{\"sourceType\": \"toolResult\"}\nnot json\n");
    let wrong = user.ctl(&["pack", "--sources", &file]);
    assert!(text(&wrong.stderr).contains("offered.jsonl:2"), "{}", text(&wrong.stderr));
    // A file may have no end.
    for args in [["--sources", "/dev/zero"], ["--as", "template=/dev/zero"], ["--overlay", "a.go=/dev/zero"]]
    {
        assert!(!user.ctl(&["pack", "x", args[0], args[1]]).status.success(), "{args:?}");
    }
}

/// The whole map is longer than a page, and holds everything.
#[test]
fn the_whole_map_is_given_on_request() {
    let user = User::new();
    for i in 0..600 {
        user.write(&format!("repo/cmd/tool{i:03}/main.go"), "package main\n\nfunc main() {}\n");
    }
    let page = ok(&user.ctl(&["map"]));
    let whole = ok(&user.ctl(&["map", "--all"]));
    assert!(page.lines().count() <= 500 && page.contains(" more\n"), "{page}");
    assert!(
        (0..600).all(|i| whole.contains(&format!("cmd/tool{i:03}/main.go"))) && !whole.contains(" more\n")
    );
}
