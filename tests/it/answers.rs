//! Answers about real workspaces, over the protocol.

use crate::client::{Client, code, run};
use indexd::config::Config;
use indexd::server::Server;
use indexd::server::dispatch::Identity;
use indexd::server::service::Service;
use indexd_proto::error::{ErrorCode, ErrorObject};
use indexd_proto::pack::Pack;
use indexd_proto::paths::{Dirs, Platform};
use indexd_proto::workspace::State;
use serde_json::{Value, json};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

/// A repository of two languages and a server over it.
pub struct World {
    dir: tempfile::TempDir,
    /// The root.
    pub root: String,
    /// The server.
    pub server: Arc<Server>,
}

/// A repository with seven files.
pub fn world() -> World {
    world_with(Config::default())
}

fn world_with(config: Config) -> World {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("repo");
    let files = [
        ("go.mod", "module example.com/retry\n\ngo 1.21\n"),
        (
            "retry.go",
            "package retry\n\n// Delay says how long to wait before the next attempt.\nfunc Delay(attempt int) int {\n\treturn base(attempt) * 2\n}\n\nfunc base(attempt int) int { return 1 << attempt }\n",
        ),
        (
            "client.go",
            "package retry\n\n// Get fetches with retries.\nfunc Get() int {\n\treturn Delay(3) + Unknown()\n}\n",
        ),
        ("tools/run.py", "from tools import helper\n\n\ndef main():\n    helper.work()\n"),
        ("tools/helper.py", "def work():\n    \"\"\"Does the work.\"\"\"\n    return 1\n"),
        ("tools/__init__.py", ""),
        ("README.md", "# Retry\n\nThe delay doubles.\n"),
    ];
    for (path, text) in files {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let home = dir.path().display().to_string();
    let env = |name: &str| match name {
        "HOME" => Some(home.clone().into()),
        "XDG_RUNTIME_DIR" => Some(format!("{home}/run").into()),
        _ => None,
    };
    let dirs = Dirs::from_env(Platform::OURS, &env, &|_| true).unwrap();
    let service = Service::open(&dirs, Arc::new(config)).unwrap();
    let root = root.canonicalize().unwrap().display().to_string();
    World { dir, root, server: Server::new(Arc::new(service), Identity::default()) }
}

/// Asks a real server; gives the result of each request and the notifications before it.
pub async fn ask(world: &World, client: &mut Client, method: &str, mut params: Value) -> (Vec<Value>, Value) {
    let takes_target = !matches!(method, "status" | "workspace.list" | "hello" | "context.offer");
    if takes_target && params.get("cwd").is_none() {
        params["repo"] = json!(world.root);
    }
    client.send(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).to_string()).await;
    let mut notes = Vec::new();
    loop {
        let message = client.answer().await;
        if message.get("id").is_some() {
            return (notes, message);
        }
        notes.push(message);
    }
}

/// What the type keeps of an answer must be all of it.
pub fn check_shape<T: serde::Serialize + serde::de::DeserializeOwned>(method: &str, answer: &Value) -> T {
    let result = answer.get("result").unwrap_or_else(|| panic!("{method}: {answer}"));
    let typed: T =
        serde_json::from_value(result.clone()).unwrap_or_else(|e| panic!("{method}: {e}: {result}"));
    assert_eq!(
        &serde_json::to_value(&typed).unwrap(),
        result,
        "{method} says something that its type does not"
    );
    typed
}

/// Sources that come later are waited for at once, on any connection; a late one costs itself alone.
#[test]
fn sources_may_come_later() {
    run(async {
        let world = world();
        let (c, other) = (&mut Client::of(&world.server), &mut Client::of(&world.server));
        let offer = json!({"handle": "early", "content": "FAIL TestEarly"});
        let (_, answer) = ask(&world, c, "context.offer", offer).await;
        assert!(!check_shape::<indexd_proto::sources::OfferResult>("context.offer", &answer).awaited);
        let params = json!({"repo": world.root, "sources": [
            {"sourceType": "toolResult", "handle": "early", "timeoutMs": 60_000},
            {"sourceType": "toolResult", "handle": "later", "timeoutMs": 60_000},
            {"sourceType": "toolResult", "handle": "never", "timeoutMs": 1},
        ]});
        let request = json!({"jsonrpc": "2.0", "id": 7, "method": "context.pack", "params": params});
        c.send(&request.to_string()).await;
        // Before or after the packing waits for it: it is held until then.
        let offer = json!({"handle": "later", "content": "ok TestLater"});
        let (_, answer) = ask(&world, other, "context.offer", offer).await;
        check_shape::<indexd_proto::sources::OfferResult>("context.offer", &answer);
        let packed = c.answer().await["result"]["packed"].clone();
        let content = packed["content"].as_str().unwrap();
        assert!(content.contains("TestEarly") && content.contains("TestLater"), "{content}");
        assert_eq!(packed["partial"], true);
        assert_eq!(packed["warnings"], json!(["source 3 (toolResult) gave nothing: it took more than 1 ms"]));
        world.server.shutdown_backend();
    });
}

/// Above the limits of parsers words are found all the same, and other encodings are read.
#[test]
fn large_files_long_lines_and_other_encodings_are_found() {
    run(async {
        let world = world();
        let write = |name: &str, bytes: &[u8]| {
            std::fs::write(Path::new(&world.root).join(name), bytes).unwrap();
        };
        write(
            "large.txt",
            (0..700_000)
                .map(|i| format!("line {i}\n"))
                .collect::<String>()
                .replace("line 654321\n", "the okapihuge line\n")
                .as_bytes(),
        );
        write(
            "long.md",
            format!(
                "# T\n\nA quagga {}zanzibar {}zebrafish\n",
                "word ".repeat(6_000),
                "other ".repeat(6_000)
            )
            .as_bytes(),
        );
        write("latin.py", b"def gru\xdfform():\n    return 'caf\xe9'\n");
        let c = &mut Client::of(&world.server);
        for (word, path) in [("okapihuge", "large.txt"), ("zanzibar", "long.md"), ("grußform", "latin.py")] {
            let (_, answer) = ask(&world, c, "search", json!({"query": word})).await;
            assert_eq!(answer["result"]["hits"][0]["fileRelPath"], path, "{answer}");
        }
        for (word, shown) in [
            ("okapihuge", "the okapihuge line\n"),
            ("quagga", " quagga word "),
            ("zanzibar", "word zanzibar other "),
            ("zebrafish", "other zebrafish\n"),
        ] {
            let asked = json!({"query": word, "rendered": true, "budgets": {"maxTotalTokens": 600}});
            let (_, answer) = ask(&world, c, "pack", asked).await;
            assert!(answer["result"]["rendered"].as_str().unwrap().contains(shown), "{answer}");
        }
        let (_, answer) = ask(&world, c, "pack", json!({"query": "grußform", "rendered": true})).await;
        assert!(answer["result"]["rendered"].as_str().unwrap().contains("return 'café'"), "{answer}");
        let warnings = answer["result"]["pack"]["warnings"].to_string();
        assert!(warnings.contains("latin.py is not UTF-8"), "{warnings}");
        world.server.shutdown_backend();
    });
}

#[test]
fn real_answers_have_the_published_shapes() {
    use indexd_proto::{documents, export, graph, request, search, sources, workspace};
    run(async {
        let world = world();
        let c = &mut Client::of(&world.server);
        let (_, answer) = ask(&world, c, "index.wait", json!({})).await;
        let waited: workspace::WaitResult = check_shape("index.wait", &answer);
        assert!(
            waited.envelope.fresh && waited.workspace.state == State::Ready && waited.workspace.n_files == 7,
            "{waited:?}"
        );

        for layout in ["graph", "agent"] {
            let params = json!({"query": "how long is the delay", "layout": layout, "rendered": true, "budgets": {"maxTotalTokens": 900}});
            let (_, answer) = ask(&world, c, "pack", params).await;
            let pack: Pack = check_shape("pack", &json!({"result": answer["result"]["pack"]}));
            assert!(
                pack.sections.iter().any(|s| s.items.iter().any(|i| i.title.contains("Delay"))),
                "{layout}"
            );
            assert!(answer["result"]["rendered"].as_str().unwrap().contains("func Delay"));
            assert!(answer["result"]["envelope"]["fresh"].as_bool().unwrap());
            for member in ["pack", "rendered"] {
                let said = answer["result"][member].to_string();
                assert!(!said.contains(&world.root), "no absolute path leaves the daemon in a pack");
            }
            assert_eq!(answer["result"]["envelope"]["root"], world.root);
        }
        let (_, answer) = ask(&world, c, "preview", json!({"query": "delay"})).await;
        check_shape::<request::PreviewResult>("preview", &answer);
        assert!(!answer.to_string().contains("return base"), "a preview has no code");

        let (_, answer) = ask(&world, c, "map", json!({"correlationId": "mine"})).await;
        let found: documents::MapResult = check_shape("map", &answer);
        assert_eq!((found.map.modules.len(), found.envelope.correlation_id.as_str()), (2, "mine"));
        let offered = json!([
            {"sourceType": "toolResult", "content": "FAIL TestDelay", "relevanceScore": 0.9},
            {"sourceType": "openFile", "filePath": "client.go", "content": "package retry\n\n// Unsaved.\n"},
            {"sourceType": "searchResult", "filePath": "client.go", "relevanceScore": 1.0},
            {"sourceType": "searchResult", "filePath": "retry.go", "lineRange": {"start": 3, "end": 6}},
            {"sourceType": "reference", "filePath": "gone.go"},
        ]);
        let params = json!({"sources": offered, "budget": {"totalTokens": 12_000}});
        let (_, answer) = ask(&world, c, "context.pack", params).await;
        let found: sources::SourcesResult = check_shape("context.pack", &answer);
        let kinds: Vec<_> = found.packed["chunks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|c| c["sourceType"].as_str().unwrap())
            .collect();
        assert_eq!(kinds, ["toolResult", "openFile", "searchResult"]);
        let content = found.packed["content"].as_str().unwrap();
        assert!(content.contains("Unsaved") && !content.contains("func Get"), "unsaved text wins: {content}");
        assert!(content.contains("## File: retry.go (lines 3-6)"), "{content}");
        assert_eq!(found.packed["partial"], true, "one source is not in the index");
        let params =
            json!({"sources": offered, "mode": "stats", "settings": {"priorities": {"reference": 1}}});
        let (_, answer) = ask(&world, c, "context.pack", params).await;
        let stats: sources::SourcesResult = check_shape("context.pack", &answer);
        assert_eq!((&stats.packed["included"], &stats.packed["excluded"]["overlap"]), (&json!(3), &json!(1)));

        let template = "{% for c in chunks %}<{{ c.sourceType }}>{% endfor %}";
        let params = json!({"sources": offered, "template": template});
        let (_, answer) = ask(&world, c, "context.pack", params).await;
        assert_eq!(answer["result"]["packed"]["content"], "<toolResult><openFile><searchResult>");
        let params = json!({"sources": offered, "template": "{{ chunk }}"});
        let (_, answer) = ask(&world, c, "context.pack", params).await;
        assert_eq!(code(&answer), "POC_E_INVALID_REQUEST");

        let (_, answer) = ask(&world, c, "pack.markdown", json!({"query": "the delay"})).await;
        let found: documents::MarkdownResult = check_shape("pack.markdown", &answer);
        let paths: Vec<&str> = found.files.iter().map(|f| f.path.as_str()).collect();
        let mut first = paths[..3].to_vec();
        first.sort_unstable();
        assert_eq!(
            (first, found.insufficient_context),
            (vec!["README.md", "client.go", "retry.go"], false),
            "{paths:?}"
        );
        assert!(found.files.is_sorted_by_key(|f| std::cmp::Reverse(f.points)), "{paths:?}");
        let mut document = answer.clone();
        document["result"]["envelope"] = json!(null);
        assert!(
            !document.to_string().contains(&world.root),
            "no absolute path leaves the daemon in a document"
        );

        let (_, answer) = ask(&world, c, "search", json!({"query": "delay", "limit": 2})).await;
        assert_eq!(check_shape::<search::SearchResult>("search", &answer).hits.len(), 2);
        let (_, answer) = ask(&world, c, "symbol", json!({"name": "delay"})).await;
        assert_eq!(check_shape::<search::SymbolResult>("symbol", &answer).symbols[0].name, "Delay");

        let (_, answer) = ask(&world, c, "graph.callers", json!({"symbol": "base", "depth": 2})).await;
        let found: graph::GraphResult = check_shape("graph.callers", &answer);
        let chain: Vec<_> =
            found.edges.iter().map(|e| (e.depth, e.source.name.as_str(), e.evidence[0].line)).collect();
        assert_eq!(chain, [(1, "Delay", 5), (2, "Get", 5)]);
        assert_eq!((found.coverage.parsed, found.coverage.unresolved_same_name), (5, 0));
        let (_, answer) = ask(&world, c, "graph.impact", json!({"symbol": "work"})).await;
        assert!(
            check_shape::<graph::GraphResult>("graph.impact", &answer)
                .edges
                .iter()
                .any(|e| e.source.name == "main")
        );

        for (picture, begins) in [("svg", "<svg "), ("dot", "digraph "), ("mermaid", "flowchart LR")] {
            let (_, answer) =
                ask(&world, c, "graph.around", json!({"symbol": "base", "picture": picture})).await;
            let found: graph::GraphResult = check_shape("graph.around", &answer);
            let drawn = found.picture.unwrap();
            assert!(drawn.starts_with(begins) && drawn.contains("Delay"), "{drawn}");
            assert!(!drawn.contains(&world.root), "no absolute path leaves the daemon in a picture");
        }

        let (notes, answer) = ask(&world, c, "export.edges", json!({})).await;
        let exported: export::ExportResult = check_shape("export.edges", &answer);
        let text: String = notes.iter().map(|n| n["params"]["text"].as_str().unwrap()).collect();
        assert_eq!((text.len() as u64, notes.len() as u64), (exported.bytes, exported.n_chunks));
        let edges: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        let call = edges.iter().find(|e| e["name"] == "base").unwrap();
        assert_eq!(
            (&call["kind"], &call["src_symbol"], &call["src_line"], &call["src_col"], &call["dst_line"]),
            (&json!("call"), &json!("Delay"), &json!(5), &json!(9), &json!(8))
        );
        let (_, answer) = ask(&world, c, "export.dump", json!({})).await;
        check_shape::<export::ExportResult>("export.dump", &answer);

        let (_, answer) = ask(&world, c, "workspace.list", json!({})).await;
        assert_eq!(
            check_shape::<workspace::ListResult>("workspace.list", &answer).workspaces[0].repo_id,
            "example.com/retry"
        );
        let (_, answer) = ask(&world, c, "config.show", json!({})).await;
        assert!(!check_shape::<workspace::ConfigResult>("config.show", &answer).entries.is_empty());
        let (_, answer) = ask(&world, c, "status", json!({})).await;
        check_shape::<workspace::StatusResult>("status", &answer);
        let (_, answer) = ask(&world, c, "workspace.remove", json!({})).await;
        check_shape::<workspace::RemoveResult>("workspace.remove", &answer);
        world.server.shutdown_backend();
    });
}

#[test]
fn a_pack_sees_every_save_made_before_it() {
    run(async {
        let world = world();
        let c = &mut Client::of(&world.server);
        for n in 0..5 {
            let path = Path::new(&world.root).join("retry.go");
            std::fs::write(
                &path,
                format!(
                    "package retry\n\n// Jitter{n} spreads retries.\nfunc Jitter{n}() int {{ return {n} }}\n"
                ),
            )
            .unwrap();
            let (_, answer) = ask(&world, c, "pack", json!({"query": format!("Jitter{n}")})).await;
            assert_eq!(answer["result"]["envelope"]["fresh"], true, "{answer}");
            assert!(
                answer["result"]["pack"].to_string().contains(&format!("return {n}")),
                "save {n} is not in the pack"
            );
        }
        world.server.shutdown_backend();
    });
}

#[test]
fn a_damaged_index_is_said_to_be_and_built_again() {
    run(async {
        // Tokens are counted when nobody asks for a while, and would meet the damage before the request.
        let mut config = Config::default();
        config.index_background_tokens = false;
        let world = world_with(config);
        let c = &mut Client::of(&world.server);
        let (_, whole) = ask(&world, c, "index.wait", json!({})).await;
        // Bits of a path flip in every copy that the file holds; the checksum of its row tells who
        // reads it first.
        let data = index_file(world.dir.path());
        let bytes = std::fs::read(&data).unwrap();
        let places = bytes.windows(9).enumerate().filter(|(_, w)| w == b"client.go").map(|(at, _)| at);
        let file = std::fs::File::options().write(true).open(&data).unwrap();
        let flipped = places.map(|at| file.write_all_at(b"k", at as u64).unwrap()).count();
        assert!(flipped > 0);
        let params = json!({"query": "fetches with retries", "noCache": true});
        let (_, answer) = ask(&world, c, "pack", params.clone()).await;
        assert_eq!(
            (code(&answer), &answer["error"]["data"]["exit"]),
            ("POC_E_SEARCH_UNAVAILABLE", &json!(69))
        );
        assert!(answer["error"]["data"]["retryAfterMs"].as_u64().is_some(), "{answer}");
        let (_, answer) = ask(&world, c, "index.wait", json!({})).await;
        assert_eq!(answer["result"]["envelope"]["fresh"], true, "{answer}");
        let (_, answer) = ask(&world, c, "pack", params).await;
        assert!(answer["result"]["pack"].to_string().contains("client.go"), "{answer}");
        let (_, again) = ask(&world, c, "pack", json!({"query": "delay", "noCache": true})).await;
        assert_eq!(again["result"]["pack"]["indexSignature"], whole["result"]["envelope"]["indexSignature"]);
        world.server.shutdown_backend();
    });
}

/// The data file of the only index below a folder.
fn index_file(top: &Path) -> std::path::PathBuf {
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.file_name() {
                Some(name) if name == "data.mdb" => return path,
                _ if path.is_dir() => folders.push(path),
                _ => {}
            }
        }
    }
    panic!("there is no index");
}

#[test]
fn an_equal_request_comes_from_the_cache_with_equal_bytes() {
    run(async {
        let world = world();
        let c = &mut Client::of(&world.server);
        let request = json!({"query": "delay"});
        let (_, first) = ask(&world, c, "pack", request.clone()).await;
        let (_, second) = ask(&world, c, "pack", request.clone()).await;
        let (_, afresh) = ask(&world, c, "pack", json!({"query": "delay", "noCache": true})).await;
        let hit = |a: &Value| a["result"]["envelope"]["cache"]["hit"].as_bool().unwrap();
        assert_eq!((hit(&first), hit(&second), hit(&afresh)), (false, true, false));
        assert_eq!(
            first["result"]["pack"], second["result"]["pack"],
            "a cached pack is the same, createdAt included"
        );
        let canonical = |a: &Value| {
            let mut pack = a["result"]["pack"].clone();
            indexd_pack::canonical::strip_volatile(&mut pack);
            indexd_pack::canonical::to_string(&pack)
        };
        assert_eq!(canonical(&first), canonical(&afresh));
        let (_, status) = ask(&world, c, "status", json!({})).await;
        let packs = &status["result"]["packs"];
        let tokens = first["result"]["pack"]["stats"]["tokenCount"].as_u64().unwrap();
        assert_eq!(packs["answered"].as_u64().zip(packs["assembled"].as_u64()), Some((3, 2)), "{packs}");
        assert_eq!(packs["tokens"], 2 * tokens, "{packs}");
        assert!(packs["latencyMicrosP50"].as_u64() <= packs["latencyMicrosMax"].as_u64(), "{packs}");
        assert!(packs["latencyMicrosMax"].as_u64() > Some(0), "{packs}");
        // A record is read back with the same bytes.
        let (_, written) = ask(&world, c, "pack", json!({"query": "delay", "write": true})).await;
        let id = written["result"]["pack"]["packId"].clone();
        let (_, record) = ask(&world, c, "pack.get", json!({"packId": id})).await;
        assert_eq!(record["result"]["pack"], written["result"]["pack"]);
        // It is this workspace's, and leaves with it.
        let elsewhere = tempfile::tempdir().unwrap();
        let get = |dir: &str| json!({"packId": id, "cwd": dir});
        let (_, other) = ask(&world, c, "pack.get", get(elsewhere.path().to_str().unwrap())).await;
        assert_eq!(other["error"]["data"]["code"], "POC_E_PACK_NOT_FOUND");
        let (_, own) = ask(&world, c, "pack.get", get(&world.root)).await;
        assert_eq!(own["result"]["pack"], written["result"]["pack"]);
        ask(&world, c, "workspace.remove", json!({"repo": world.root})).await;
        let (_, gone) = ask(&world, c, "pack.get", get(&world.root)).await;
        assert_eq!(gone["error"]["data"]["code"], "POC_E_PACK_NOT_FOUND");
        world.server.shutdown_backend();
    });
}

#[test]
fn what_a_pack_says_of_its_request_is_said_of_that_request() {
    run(async {
        let world = world();
        let c = &mut Client::of(&world.server);
        for hops in [9, 5] {
            let (_, answer) =
                ask(&world, c, "pack", json!({"query": "delay", "expansion": {"maxHops": hops}})).await;
            let warning = format!("maxHops of {hops} was clamped to 4");
            assert_eq!(answer["result"]["pack"]["warnings"], json!([warning]), "{hops}");
        }
        world.server.shutdown_backend();
    });
}

#[test]
fn a_path_may_be_written_as_a_shell_completes_it() {
    run(async {
        let world = world();
        let c = &mut Client::of(&world.server);
        let tools = format!("{}/tools", world.root);
        let absolute = format!("{tools}/helper.py");
        for (cwd, path) in [
            (&tools, "helper.py"),
            (&tools, "./helper.py"),
            (&tools, "../tools/helper.py"),
            (&tools, "tools/helper.py"),
            (&tools, &*absolute),
            (&world.root, "./tools/../tools/helper.py"),
            (&world.root, &*absolute),
        ] {
            let (_, answer) =
                ask(&world, c, "symbol", json!({"cwd": cwd, "name": format!("{path}:2")})).await;
            assert_eq!(answer["result"]["symbols"][0]["name"], "work", "{cwd} {path}: {answer}");
            let (_, answer) = ask(&world, c, "graph.refs", json!({"cwd": cwd, "symbol": path})).await;
            assert_eq!(answer["result"]["roots"][0]["fileRelPath"], "tools/helper.py", "{cwd} {path}");
            let (_, answer) =
                ask(&world, c, "pack", json!({"cwd": cwd, "focus": {"fileRelPath": path}})).await;
            let focus = &answer["result"]["pack"]["request"]["focus"];
            assert_eq!(focus["fileRelPath"], "tools/helper.py", "{cwd} {path}: {answer}");
        }
        // The nearer of two files counts; a name that is no path stays one.
        std::fs::write(format!("{tools}/retry.go"), "package tools\n\nfunc Near() {}\n").unwrap();
        for (name, expect) in [("retry.go:3", "Near"), ("../retry.go:5", "Delay"), ("Delay", "Delay")] {
            let (_, answer) = ask(&world, c, "symbol", json!({"cwd": tools, "name": name})).await;
            assert_eq!(answer["result"]["symbols"][0]["name"], expect, "{name}");
        }
        world.server.shutdown_backend();
    });
}

#[test]
fn settings_that_are_ignored_are_named_in_every_answer() {
    run(async {
        let world = world();
        let c = &mut Client::of(&world.server);
        for (text, warning) in [
            ("[index]\nexclud = [\"x\"]\n", Some("unknown key `index.exclud`")),
            ("bad [", Some("is not valid TOML")),
            ("", None),
        ] {
            std::fs::write(Path::new(&world.root).join(".indexd.toml"), text).unwrap();
            for (method, params) in
                [("pack", json!({"query": "delay"})), ("search", json!({"query": "delay"}))]
            {
                let (_, answer) = ask(&world, c, method, params).await;
                let warnings: Vec<String> =
                    serde_json::from_value(answer["result"]["envelope"]["warnings"].clone())
                        .unwrap_or_default();
                assert_eq!(warnings.len(), usize::from(warning.is_some()), "{text}: {answer}");
                let expect = |w: &String| {
                    w.starts_with("the repository's settings are ignored: ")
                        && !w.contains('\n')
                        && warning.is_some_and(|part| w.contains(part))
                };
                assert!(warnings.iter().all(expect), "{warnings:?}");
            }
        }
        world.server.shutdown_backend();
    });
}

#[test]
fn a_client_s_defaults_give_way_to_the_configuration() {
    run(async {
        let world = world();
        let c = &mut Client::of(&world.server);
        let mut check = async |settings: &str, params: Value, expect: u64| {
            std::fs::write(Path::new(&world.root).join(".indexd.toml"), settings).unwrap();
            let mut params = params;
            params["query"] = json!("delay");
            params["defaultBudgets"] = json!({"maxTotalTokens": 700});
            let (_, answer) = ask(&world, c, "pack", params.clone()).await;
            let limit = &answer["result"]["pack"]["budgets"]["maxTotalTokens"]["value"];
            assert_eq!(limit, expect, "{settings} {params}: {answer}");
        };
        let lower = "[pack.budgets]\nmax_total_tokens = 300\n";
        check("", json!({}), 700).await;
        check(lower, json!({}), 300).await;
        check(lower, json!({"budgets": {"maxTotalTokens": 500}}), 500).await;
        check("[context.budget]\ntotal = 10400\n", json!({}), 400).await;
        let window =
            json!({"contextBudget": {"totalTokens": 1000, "responseReserve": 100, "systemReserve": 0}});
        check("", window, 900).await;
        world.server.shutdown_backend();
    });
}

#[test]
fn a_pack_names_the_repository_as_the_tree_does_now() {
    run(async {
        let world = world();
        let c = &mut Client::of(&world.server);
        let mut ids = std::collections::BTreeSet::new();
        for (file, text, expect) in [
            ("go.mod", "module example.com/retry\n", "example.com/retry"),
            ("go.mod", "module example.com/two\n", "example.com/two"),
            (".indexd.toml", "[index]\nname = \"three\"\n", "three"),
            (".indexd.toml", "[index]\nname = \"four\"\n", "four"),
        ] {
            std::fs::write(Path::new(&world.root).join(file), text).unwrap();
            let (_, answer) = ask(&world, c, "pack", json!({"query": "delay"})).await;
            let result = &answer["result"];
            assert_eq!(
                (&result["pack"]["request"]["repoId"], &result["envelope"]["repoId"]),
                (&json!(expect), &json!(expect))
            );
            assert!(ids.insert(result["pack"]["packId"].to_string()), "{expect}: two packs have one id");
            let (_, answer) = ask(&world, c, "workspace.list", json!({})).await;
            assert_eq!(answer["result"]["workspaces"][0]["repoId"], expect);
        }
        world.server.shutdown_backend();
    });
}

#[test]
fn a_repository_may_be_named_by_its_id() {
    run(async {
        let world = world();
        let c = &mut Client::of(&world.server);
        let (_, answer) = ask(&world, c, "pack", json!({"query": "delay"})).await;
        let mut of = async |name: &str| {
            let params = json!({"query": "delay", "repoId": name});
            let line = json!({"jsonrpc": "2.0", "id": 1, "method": "pack", "params": params});
            c.send(&line.to_string()).await;
            c.answer().await
        };
        let named = of("example.com/retry").await;
        assert_eq!(named["result"]["pack"]["packId"], answer["result"]["pack"]["packId"], "{named}");
        assert_eq!(code(&of("example.com/none").await), "POC_E_WORKSPACE_INVALID");
        world.server.shutdown_backend();
    });
}

#[test]
fn a_pinned_state_that_is_gone_is_answered_with_the_one_held() {
    run(async {
        let world = world();
        let c = &mut Client::of(&world.server);
        let (_, pack) = ask(&world, c, "pack", json!({"query": "delay"})).await;
        let (_, answer) = ask(&world, c, "pack", json!({"query": "delay", "indexSignature": "b3:0"})).await;
        let held = &pack["result"]["pack"]["indexSignature"];
        let details = &answer["error"]["data"]["details"];
        assert_eq!((&details["asked"], &details["indexSignature"]), (&json!("b3:0"), held), "{answer}");
        world.server.shutdown_backend();
    });
}

/// A follow-up names the pack that the reader has: what it showed comes back as places, and a pack that
/// the daemon does not know is told of.
#[test]
fn a_follow_up_repeats_nothing() {
    run(async {
        let world = world();
        let c = &mut Client::of(&world.server);
        let asked = |seen: Value| json!({"query": "how long is the delay", "seen": seen, "budgets": {"maxTotalTokens": 900}});
        let items = |pack: &Value| -> Vec<(String, String)> {
            let sections = pack["sections"].as_array().unwrap().iter();
            let text = |v: &Value| v.as_str().unwrap().to_owned();
            let items = sections.flat_map(|s| s["items"].as_array().unwrap());
            items.map(|i| (text(&i["chunkUid"]), text(&i["form"]))).collect()
        };
        let (_, answer) = ask(&world, c, "pack", asked(json!([]))).await;
        let first = answer["result"]["pack"].clone();
        let (_, answer) = ask(&world, c, "pack", asked(json!([first["packId"]]))).await;
        let again = answer["result"]["pack"].clone();
        assert!(!items(&first).is_empty());
        for (uid, form) in items(&first) {
            let now = items(&again).into_iter().find(|i| i.0 == uid).map(|i| i.1);
            match form.as_str() {
                "head" => assert_ne!(now.as_deref(), Some("head"), "{uid}"),
                _ => assert_eq!(now.as_deref(), Some("place"), "{uid}"),
            }
        }
        let (_, answer) = ask(&world, c, "pack", asked(json!(["pack:sha256:00"]))).await;
        let unknown = answer["result"]["pack"].clone();
        assert!(unknown["warnings"].to_string().contains("pack:sha256:00 is not known any more"));
    });
}

/// Bad requests: code, JSON-RPC number, exit status, and a hint always.
#[test]
fn bad_requests_are_told_what_is_wrong() {
    run(async {
        let world = world();
        let c = &mut Client::of(&world.server);
        for (method, params, expect) in [
            ("pack", json!({"query": "  "}), (ErrorCode::InvalidRequest, -32602)),
            ("pack", json!({"query": 1}), (ErrorCode::InvalidRequest, -32602)),
            ("pack", json!({"query": "x", "colour": 1}), (ErrorCode::NotSupported, -32003)),
            ("pack", json!({"query": "x", "layout": "round"}), (ErrorCode::NotSupported, -32003)),
            ("pack", json!({"query": "x", "seedProvider": "ann"}), (ErrorCode::NotSupported, -32003)),
            ("pack", json!({"query": "x", "tokenizer": "words"}), (ErrorCode::TokenCount, -32005)),
            ("context.pack", json!({"sources": [], "tokenizer": "words"}), (ErrorCode::TokenCount, -32005)),
            ("pack", json!({"query": "x", "renderer": "round"}), (ErrorCode::NotSupported, -32003)),
            ("pack", json!({"query": "x", "renderer": "template"}), (ErrorCode::InvalidRequest, -32602)),
            (
                "pack",
                json!({"query": "x", "renderer": "template", "template": "{% for %}"}),
                (ErrorCode::InvalidRequest, -32602),
            ),
            ("context.pack", json!({"sources": [], "template": "{{ a"}), (ErrorCode::InvalidRequest, -32602)),
            ("pack", json!({"query": "x", "schemaVersion": "9.0.0"}), (ErrorCode::ContractVersion, -32001)),
            (
                "pack",
                json!({"query": "x", "strictness": "strict", "budgets": {"maxItems": 251}}),
                (ErrorCode::BudgetExceeded, -32002),
            ),
            ("pack", json!({"query": "x", "indexSignature": "b3:0"}), (ErrorCode::IndexMissing, -32000)),
            ("pack", json!({"query": "x", "repoId": "other"}), (ErrorCode::WorkspaceInvalid, -32011)),
            ("pack", json!({"query": "x", "cwd": "relative"}), (ErrorCode::InvalidRequest, -32602)),
            ("pack", json!({"query": "x", "cwd": "/no/such/folder"}), (ErrorCode::WorkspaceInvalid, -32011)),
            ("pack", json!({"query": "x", "cwd": "/"}), (ErrorCode::WorkspaceInvalid, -32011)),
            ("pack", json!({"query": "x", "cwd": "/no\0folder"}), (ErrorCode::WorkspaceInvalid, -32011)),
            (
                "pack",
                json!({"query": "x", "cwd": format!("/{}", "x".repeat(300))}),
                (ErrorCode::WorkspaceInvalid, -32011),
            ),
            ("search", json!({"query": ""}), (ErrorCode::InvalidRequest, -32602)),
            ("search", json!({"query": "x", "limit": 501}), (ErrorCode::InvalidRequest, -32602)),
            ("symbol", json!({"name": "zzz"}), (ErrorCode::SymbolNotFound, -32010)),
            ("graph.refs", json!({"symbol": "zzz"}), (ErrorCode::SymbolNotFound, -32010)),
            ("graph.refs", json!({"symbol": "Delay", "depth": 9}), (ErrorCode::InvalidRequest, -32602)),
            (
                "graph.refs",
                json!({"symbol": "Delay", "minConfidence": 101}),
                (ErrorCode::InvalidRequest, -32602),
            ),
            ("pack", json!({"query": "x", "correlationId": "a b"}), (ErrorCode::InvalidRequest, -32602)),
            ("pack", json!({"query": "x", "correlationId": ""}), (ErrorCode::InvalidRequest, -32602)),
            ("pack.get", json!({"packId": "../../x"}), (ErrorCode::PackNotFound, -32009)),
        ] {
            let (_, answer) = ask(&world, c, method, params.clone()).await;
            let error: ErrorObject = serde_json::from_value(answer["error"].clone())
                .unwrap_or_else(|e| panic!("{method} {params}: {e}: {answer}"));
            assert_eq!((error.data.code, error.code), expect, "{method} {params}: {answer}");
            assert!(!error.data.hint.is_empty() && error.data.exit == error.data.code.exit(), "{answer}");
        }
        world.server.shutdown_backend();
    });
}

#[test]
fn a_symbol_id_that_was_given_is_found_again() {
    run(async {
        let world = world();
        let mut client = Client::of(&world.server);
        for name in ["Delay", "base", "main", "work"] {
            let (_, answer) = ask(&world, &mut client, "symbol", json!({"name": name})).await;
            let given = &answer["result"]["symbols"][0];
            for (method, params, at) in [
                ("symbol", json!({"name": given["symbolId"]}), "/result/symbols/0"),
                ("graph.callers", json!({"symbol": given["symbolId"]}), "/result/roots/0"),
            ] {
                let (_, answer) = ask(&world, &mut client, method, params).await;
                assert_eq!(answer.pointer(at), Some(given), "{method} {name}: {answer}");
            }
        }
    });
}
