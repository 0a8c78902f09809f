//! `ctl mcp`: the same packs for agents, over both eras of the Model Context Protocol.

use crate::support::number;
use crate::user::{User, is_alive, kill, ok, programs, text, until};
use rmcp::model::{CallToolRequestParams, CallToolResult, ProtocolVersion};
use rmcp::service::ClientLifecycleMode;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// The last version with `initialize`, and the first without.
pub const ERAS: [&str; 2] = ["2025-11-25", "2026-07-28"];
pub const QUERY: &str = "how long to wait before a retry";

/// A line that is not JSON has an answer, and the next request has its own.
#[test]
fn a_line_that_is_not_json_is_answered() {
    let user = User::new();
    let mut raw = Raw::start(user.command("ctl"), ERAS[0]);
    writeln!(raw.stdin.as_ref().unwrap(), "not json").unwrap();
    let answer = raw.lines.recv_timeout(Duration::from_secs(20)).unwrap();
    assert_eq!(
        answer,
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "Parse error"}})
    );
    let answer = raw.ask("tools/list", json!({}));
    assert!(answer["result"]["tools"].is_array(), "{answer}");
}

/// What the command line only warns of is not a reason to refuse an agent.
#[test]
fn settings_that_do_not_count_are_a_note() {
    let user = User::new();
    user.write("repo/.indexd.toml", "no_such_key = 1\n");
    let mut raw = Raw::start(user.command("ctl"), ERAS[0]);
    let arguments = json!({"query": "Delay", "limit": 5.0});
    let answer = raw.ask("tools/call", json!({"name": "locate_symbol", "arguments": arguments}));
    assert_ne!(answer["result"]["isError"], json!(true), "{answer}");
    let said = answer["result"]["content"].to_string();
    assert!(said.contains("retry.go") && said.contains("no_such_key"), "{said}");
}

/// A server, spoken to line by line.
pub struct Raw {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Value>,
    era: &'static str,
    id: u64,
}

impl Raw {
    /// Starts `ctl mcp` and, in the era that has it, shakes hands.
    pub fn start(mut command: Command, era: &'static str) -> Self {
        let mut raw = Self::spawn(command.arg("mcp"), era);
        if era == ERAS[0] {
            let answer = raw.ask("initialize", initialize(json!({})));
            assert_eq!(answer["result"]["protocolVersion"], era, "{answer}");
            raw.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        }
        raw
    }

    pub fn spawn(command: &mut Command, era: &'static str) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).expect("standard output holds messages alone");
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
        Self { stdin: child.stdin.take(), child, lines, era, id: 0 }
    }

    pub fn send(&mut self, message: &Value) {
        writeln!(self.stdin.as_ref().unwrap(), "{message}").unwrap();
    }

    /// Sends a request and gives its id.
    pub fn request(&mut self, method: &str, mut params: Value) -> u64 {
        self.id += 1;
        if self.era == ERAS[1] {
            params["_meta"]["io.modelcontextprotocol/protocolVersion"] = json!(self.era);
            params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
        }
        self.send(&json!({"jsonrpc": "2.0", "id": self.id, "method": method, "params": params}));
        self.id
    }

    pub fn next(&mut self) -> Value {
        self.lines.recv_timeout(Duration::from_secs(60)).expect("a message in time")
    }

    pub fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        loop {
            let message = self.next();
            if message["id"] == id {
                return message;
            }
        }
    }

    /// The result of a tool.
    pub fn tool(&mut self, name: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", json!({"name": name, "arguments": arguments}));
        assert!(answer["error"].is_null(), "{name}: {answer}");
        answer["result"].clone()
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}

fn initialize(capabilities: Value) -> Value {
    json!({"protocolVersion": ERAS[0], "capabilities": capabilities,
        "clientInfo": {"name": "test", "version": "1.0.0"}})
}

pub fn said(result: &Value) -> String {
    let blocks = result["content"].as_array().unwrap().iter();
    blocks.map(|b| b["text"].as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

pub fn tokens(text: &str) -> u64 {
    static COUNTER: OnceLock<std::sync::Arc<indexd_text::CachedCounter>> = OnceLock::new();
    let counter = COUNTER.get_or_init(|| indexd_text::counter("o200k_base", &Default::default()).unwrap());
    u64::from(indexd_text::TokenCounter::count_tokens(&**counter, text))
}

/// A user whose repository fills a pack of 8,000 tokens.
pub fn user_with_much_code() -> User {
    let user = User::new();
    for file in 0..30 {
        let mut code = String::from("package demo\n");
        for f in 0..12 {
            code += &format!(
                "\n// Retry{file}x{f} waits for the retry of request {f} before it asks again.\n\
                 func Retry{file}x{f}(n int) int {{\n\tdelay := Delay(n) * {f}\n\tif delay > {file} {{\n\t\t\
                 return Get() + delay\n\t}}\n\tfor attempt := 0; attempt < {f}; attempt++ {{\n\t\t\
                 delay += Delay(attempt) * {file} // every further attempt waits longer\n\t}}\n\t\
                 if n > {f} && delay > Delay(n-1) {{\n\t\tdelay -= Delay(n - 1)\n\t}}\n\t\
                 return delay // wait {file}\n}}\n"
            );
        }
        user.write(&format!("repo/retry{file}.go"), &code);
    }
    user
}

#[test]
fn both_eras_serve_every_tool() {
    let user = User::new();
    let calls = [
        ("build_context_pack", json!({"query": QUERY}), "func Delay(n int) int"),
        ("context_pack_create", json!({"query": "Get"}), "packId: pack:sha256:"),
        ("context_pack.create", json!({"query": "Get"}), "packId: pack:sha256:"),
        ("search_code", json!({"query": "Delay"}), "retry.go:4 Delay"),
        (
            "pack_sources",
            json!({"sources": [{"sourceType": "searchResult", "filePath": "client.go"}]}),
            "func Get() int",
        ),
        ("locate_symbol", json!({"name": "Delay"}), "retry.go:3-4"),
        ("callers", json!({"symbol": "Delay"}), "function Get"),
        ("card", json!({"symbol": "Delay"}), "function Delay  retry.go:3-4"),
        ("refs", json!({"symbol": "Delay"}), "function Get"),
        ("callees", json!({"symbol": "Get"}), "function Delay"),
        ("impact", json!({"symbol": "Delay", "depth": "2"}), "function Get"),
        ("repo_map", json!({"max_tokens": "800"}), "## Modules"),
    ];
    let mut lists = Vec::new();
    for era in ERAS {
        let mut server = Raw::start(user.command("ctl"), era);
        if era == ERAS[1] {
            let found = server.ask("server/discover", json!({}))["result"].clone();
            assert!(found["supportedVersions"].as_array().unwrap().contains(&json!(era)), "{found}");
        }
        let list = server.ask("tools/list", json!({}))["result"].clone();
        assert_eq!(list["resultType"].is_null(), era == ERAS[0], "{list}");
        lists.push(list["tools"].clone());
        for (name, arguments, expect) in &calls {
            let result = server.tool(name, arguments.clone());
            assert_ne!(result["isError"], true, "{result}");
            assert!(said(&result).contains(expect), "{era} {name}: {}", said(&result));
            assert!(result["structuredContent"].is_null(), "{result}");
            let mut asked = arguments.clone();
            asked["structured"] = json!(true);
            let structured = server.tool(name, asked)["structuredContent"].clone();
            assert!(structured.is_object() && !structured.to_string().contains("1 << n"), "{structured}");
        }
        let made = said(&server.tool("context_pack_create", json!({"query": QUERY})));
        let id = made.split("packId: ").nth(1).unwrap().trim();
        let read = said(&server.tool("context_pack_get", json!({"packId": id})));
        assert!(made.starts_with(&read) && read.contains("func Delay"), "{read}");
    }
    assert_eq!(lists[0], lists[1]);
}

/// The map is counted as packs are: 1,000 tokens cost at most that.
#[test]
fn a_map_is_as_short_as_a_model_wants() {
    let user = user_with_much_code();
    for i in 0..200 {
        user.write(&format!("repo/cmd/tool{i}/main.go"), "package main\n\nfunc main() {}\n");
    }
    let mut server = Raw::start(user.command("ctl"), ERAS[0]);
    for most in [500, 1_000, 3_000] {
        let text = said(&server.tool("repo_map", json!({"max_tokens": most})));
        assert!((most / 2..=most).contains(&tokens(&text)), "{most}: {} tokens", tokens(&text));
        assert!(text.contains("## Entrypoints") && text.contains("## Tree"), "{text}");
        assert_eq!(text, ok(&user.ctl(&["map", "--max-tokens", &most.to_string()])));
    }
}

/// The list is what every conversation pays for, and what clients keep: it changes on purpose alone.
#[test]
fn the_list_of_tools_is_stable_and_small() {
    let (user, other) = (User::new(), User::new());
    other.write("repo/extra.py", "def f():\n    pass\n");
    let list = |user: &User, args: &[&str]| {
        let mut command = user.command("ctl");
        command.arg("mcp").args(args);
        let mut server = Raw::spawn(&mut command, ERAS[1]);
        server.ask("tools/list", json!({}))["result"]["tools"].clone()
    };
    let tools = list(&user, &[]);
    assert_eq!(tools, list(&other, &[]));
    let listed = tools.to_string();
    assert!(
        tokens(&listed) <= 3_000 && listed.len() < 12_000,
        "{} tokens, {} bytes",
        tokens(&listed),
        listed.len()
    );
    for tool in tools.as_array().unwrap() {
        let hints = json!({"readOnlyHint": true, "openWorldHint": false});
        assert_eq!(tool["annotations"], hints);
    }
    insta::assert_snapshot!("mcp_tools", serde_json::to_string_pretty(&tools).unwrap());
    let dotted = list(&user, &["--names", "dotted"]);
    assert_eq!(dotted[1]["name"], "context_pack.create");
}

#[test]
fn a_model_reads_the_budgeted_text_and_the_same_pack_as_everywhere() {
    let user = user_with_much_code();
    let asked = ["pack", QUERY, "--fill", "--layout", "agent"];
    let printed = ok(&user.ctl(&asked));
    let pack: Value = serde_json::from_str(&ok(&user.ctl(&[&asked[..], &["--json"]].concat()))).unwrap();
    let used = pack["stats"]["tokenCount"].as_u64().unwrap();
    assert!(used > 3_700, "the pack is full: {used}");
    for era in ERAS {
        let mut server = Raw::start(user.command("ctl"), era);
        let result = server.tool("build_context_pack", json!({"query": QUERY, "fill": true}));
        assert_eq!(said(&result).trim_end(), printed.trim_end());
        let of_model = tokens(&said(&result));
        assert!(of_model <= 4_000, "{of_model}");
        let mut around = result.clone();
        around["content"][0]["text"] = json!("");
        let whole = of_model + tokens(&around.to_string());
        assert!(whole <= 4_200, "{whole}");
        let asked = json!({"query": QUERY, "fill": true, "structured": true});
        let structured = server.tool("build_context_pack", asked)["structuredContent"].clone();
        assert_eq!(structured["packId"], pack["packId"]);
        assert_eq!(structured["stats"]["tokenCount"], used);
        let mut whole = pack.clone();
        let sections = whole["sections"].as_array_mut().unwrap().iter_mut();
        for item in sections.flat_map(|s| s["items"].as_array_mut().unwrap()) {
            item["excerpt"]["text"] = json!("");
        }
        assert_eq!(structured["sections"], whole["sections"], "the pack, without its code");
        assert!(!structured.to_string().contains("delay :="), "code stands in the text alone");
    }
}

#[test]
fn what_a_model_can_mend_is_a_result_with_a_hint() {
    let user = User::new();
    let mut server = Raw::start(user.command("ctl"), ERAS[0]);
    for (name, arguments, code, hint) in [
        ("build_context_pack", json!({}), "POC_E_INVALID_REQUEST", "query"),
        ("build_context_pack", json!({"query": "x", "budget": 3}), "POC_E_INVALID_REQUEST", "max_tokens"),
        ("build_context_pack", json!({"query": "x", "max_tokens": 3}), "POC_E_INVALID_REQUEST", "4000"),
        ("build_context_pack", json!({"query": "x", "intent": "win"}), "POC_E_", "hint: "),
        ("context_pack_get", json!({"packId": "pack:sha256:00"}), "POC_E_PACK_NOT_FOUND", "hint: "),
        ("callers", json!({"symbol": "Dealy"}), "POC_E_SYMBOL_NOT_FOUND", "did you mean Delay?"),
        ("callers", json!({"symbol": "nothing_alike"}), "POC_E_SYMBOL_NOT_FOUND", "locate_symbol"),
        ("repo_map", json!({"max_tokens": 3}), "POC_E_INVALID_REQUEST", "500 to 90000"),
        ("search_code", json!({"query": "x", "limit": 0}), "POC_E_INVALID_REQUEST", "hint: "),
        ("impact", json!({"symbol": "Get", "repo": "/etc"}), "POC_E_WORKSPACE_INVALID", "repo"),
    ] {
        let result = server.tool(name, arguments.clone());
        let text = said(&result);
        assert_eq!(result["isError"], true, "{name} {arguments}: {text}");
        assert!(text.contains(code) && text.contains(hint), "{name} {arguments}: {text}");
    }
    let unknown = server.ask("tools/call", json!({"name": "build_contextpack", "arguments": {}}));
    assert_eq!(unknown["error"]["code"], -32602);
    assert!(unknown["error"]["message"].as_str().unwrap().contains("build_context_pack"), "{unknown}");
    assert_eq!(server.ask("no/such", json!({}))["error"]["code"], -32601);
    assert!(server.ask("ping", json!({}))["error"].is_null(), "the server goes on");
}

/// Bound to one repository it gives nothing of another, whatever the arguments say.
#[test]
fn nothing_outside_the_workspaces_is_read() {
    let user = User::new();
    user.write("other/go.mod", "module example.com/other\n");
    user.write("other/vault.go", "package other\n\nfunc OpenVault() string { return \"KRONJUWEL\" }\n");
    user.write("other/.git/HEAD", "ref: refs/heads/main\n");
    std::os::unix::fs::symlink(user.path("other"), user.path("repo/link")).unwrap();
    let other = user.path("other").display().to_string();
    // It is known to the daemon, and one of its packs is on record.
    let made = user.command("ctl").args(["pack", "vault", "--write"]).current_dir(&other).output().unwrap();
    let record = ok(&made).trim().to_owned();
    let mut server = Raw::start(user.command("ctl"), ERAS[1]);
    let places = [
        other.clone(),
        format!("{other}/"),
        format!("{other}/vault.go"),
        "../other".to_owned(),
        "link".to_owned(),
        "link/vault.go".to_owned(),
        format!("{}/../other", user.path("repo").display()),
        "example.com/other".to_owned(),
        "other".to_owned(),
        "/".to_owned(),
    ];
    let mut n = 0;
    for place in &places {
        for (name, arguments) in [
            ("build_context_pack", json!({"query": "OpenVault", "repo": place})),
            ("build_context_pack", json!({"query": "OpenVault", "focus_file": place})),
            ("search_code", json!({"query": "KRONJUWEL", "repo": place})),
            ("locate_symbol", json!({"name": format!("{place}:3")})),
            ("context_pack_get", json!({"packId": record, "repo": place})),
            ("callees", json!({"symbol": place})),
        ] {
            let mut answer = server.ask("tools/call", json!({"name": name, "arguments": arguments}));
            // The message of a failure is in its text, too.
            if answer["result"]["isError"] == true {
                answer["result"]["structuredContent"] = Value::Null;
            }
            let answer = answer.to_string();
            assert!(!answer.contains("KRONJUWEL") && !answer.contains("vault.go\""), "{arguments}: {answer}");
            n += 1;
        }
    }
    assert!(n >= 50);
    let result = server.tool("context_pack_get", json!({"packId": record}));
    assert_eq!(result["isError"], true, "{result}");
}

#[test]
fn workspaces_come_from_the_command_line_or_the_clients_roots() {
    let user = User::new();
    user.write("b/go.mod", "module example.com/b\n");
    user.write("b/b.go", "package b\n\nfunc OnlyInB() {}\n");
    let (a, b) = (user.path("repo").display().to_string(), user.path("b").display().to_string());
    let mut command = user.command("ctl");
    command.args(["mcp", "--workspace", &a, "--workspace", &b]);
    let mut server = Raw::spawn(&mut command, ERAS[1]);
    let which = server.tool("locate_symbol", json!({"name": "OnlyInB"}));
    assert!(which["isError"] == true && said(&which).contains("repo, b"), "{}", said(&which));
    assert!(said(&server.tool("locate_symbol", json!({"name": "OnlyInB", "repo": "b"}))).contains("b.go:3"));
    let elsewhere = server.tool("locate_symbol", json!({"name": "OnlyInB", "repo": a}));
    assert_eq!(elsewhere["isError"], true, "{elsewhere}");

    // The client says where it is; the folder in which it started the server does not count.
    let mut command = user.command("ctl");
    let mut server = Raw::spawn(command.arg("mcp").current_dir(user.path("run")), ERAS[0]);
    server.ask("initialize", initialize(json!({"roots": {"listChanged": true}})));
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    for (root, name) in [(&b, "OnlyInB"), (&a, "Delay")] {
        let id = server.request("tools/call", json!({"name": "locate_symbol", "arguments": {"name": name}}));
        let asked = server.next();
        assert_eq!(asked["method"], "roots/list", "{asked}");
        let roots = json!({"roots": [{"uri": format!("file://{root}")}]});
        server.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": roots}));
        let answer = server.next();
        assert!(answer["id"] == id && answer["result"]["isError"] != true, "{answer}");
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}));
    }
}

#[test]
fn the_setting_switches_it_off() {
    let user = User::new();
    user.write("repo/.indexd.toml", "[mcp]\nenabled = false\n");
    let mut server = Raw::start(user.command("ctl"), ERAS[0]);
    let result = server.tool("build_context_pack", json!({"query": "x"}));
    assert!(result["isError"] == true && said(&result).contains("POC_E_NOT_SUPPORTED"), "{result}");
    assert!(ok(&user.ctl(&["pack", "Delay", "--as", "text"])).contains("func"), "the rest goes on");
    user.write("repo/.indexd.toml", "");
    assert_ne!(server.tool("build_context_pack", json!({"query": "x"}))["isError"], true);
}

/// A daemon that shakes hands, and does with other requests as told.
fn daemon(user: &User, serve: impl Fn(&Value, &mut dyn Write) + Send + Sync + 'static) -> Receiver<Value> {
    std::fs::create_dir_all(user.path("run/indexd")).unwrap();
    std::fs::set_permissions(user.path("run/indexd"), PermissionsExt::from_mode(0o700)).unwrap();
    let listener = UnixListener::bind(user.socket()).unwrap();
    let (sender, heard) = channel();
    let serve = std::sync::Arc::new(serve);
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let (sender, serve) = (sender.clone(), std::sync::Arc::clone(&serve));
            std::thread::spawn(move || {
                let mut writer = stream.try_clone().unwrap();
                for line in BufReader::new(stream).lines().map_while(Result::ok) {
                    let request: Value = serde_json::from_str(&line).unwrap();
                    let result = match request["method"].as_str().unwrap() {
                        "hello" => {
                            json!({"protocol": 1, "supported": {"min": 1, "max": 1}, "pid": 1, "methods": [],
                            "server": {"name": "indexd", "version": env!("CARGO_PKG_VERSION")}, "capabilities": []})
                        }
                        _ => {
                            serve(&request, &mut writer);
                            let _ = sender.send(request);
                            continue;
                        }
                    };
                    let _ = writeln!(
                        writer,
                        "{}",
                        json!({"jsonrpc": "2.0", "id": request["id"], "result": result})
                    );
                }
            });
        }
    });
    heard
}

#[test]
fn a_client_sees_a_first_index_grow_and_can_give_up() {
    let user = User::new();
    let heard = daemon(&user, |request, out| {
        if request["method"] != "pack" {
            return;
        }
        assert_eq!(request["params"]["progress"], true);
        for (phase, done) in [("parse", 1), ("parse", 5), ("parse", 4), ("link", 2)] {
            let params = json!({"id": request["id"], "phase": phase, "done": done, "total": 10});
            writeln!(out, "{}", json!({"jsonrpc": "2.0", "method": "$/progress", "params": params})).unwrap();
        }
    });
    let mut server = Raw::start(user.command("ctl"), ERAS[0]);
    let asked =
        json!({"name": "build_context_pack", "arguments": {"query": "x"}, "_meta": {"progressToken": "p1"}});
    let id = server.request("tools/call", asked);
    let mut told = Vec::new();
    while told.len() < 3 {
        let message = server.next();
        assert_eq!(message["method"], "notifications/progress", "{message}");
        assert_eq!(message["params"]["progressToken"], "p1");
        told.push(message["params"].clone());
    }
    let amounts: Vec<f64> = told.iter().map(|p| p["progress"].as_f64().unwrap()).collect();
    assert!(amounts.is_sorted_by(|a, b| a < b), "{amounts:?}");
    assert_eq!(told[2]["message"], "indexing: link 2 of 10");
    assert_eq!(heard.recv().unwrap()["method"], "pack");
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}));
    let cancel = heard.recv_timeout(Duration::from_secs(10)).expect("the daemon is told");
    assert_eq!(cancel["method"], "$/cancelRequest");
    // No answer comes to what was cancelled, and the server goes on.
    let next = server.ask("ping", json!({}));
    assert!(next["error"].is_null(), "{next}");
}

/// The daemon is reached with the first call, so nothing of it can hold up a handshake.
#[test]
fn the_handshake_waits_for_nobody() {
    let user = User::new();
    let _heard = daemon(&user, |_, _| {});
    let mut times = Vec::new();
    for _ in 0..5 {
        let started = Instant::now();
        let mut server = Raw::start(user.command("ctl"), ERAS[0]);
        times.push(started.elapsed());
        server.request("tools/call", json!({"name": "callers", "arguments": {"symbol": "x"}}));
        assert!(server.ask("tools/list", json!({}))["result"]["tools"].is_array(), "a call is under way");
        kill(server.child.id(), "-KILL");
    }
    let best = times.into_iter().min().unwrap();
    assert!(best < Duration::from_millis(50), "{best:?}");
}

/// Clients die without a word; `INDEXD_TEST_KILLED_CLIENTS=1000` is the full run.
#[test]
fn no_process_outlives_its_client() {
    let user = User::new();
    // Calls are under way that the daemon never answers.
    let _heard = daemon(&user, |_, _| {});
    let ctl = programs().join("ctl");
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "callers",
        "arguments": {"symbol": "x"}, "_meta": {"io.modelcontextprotocol/protocolVersion": ERAS[1],
        "io.modelcontextprotocol/clientCapabilities": {}}}});
    let script =
        format!("coproc {} mcp; echo $COPROC_PID; echo '{call}' >&${{COPROC[1]}}; read", ctl.display());
    let mut servers = Vec::new();
    for _ in 0..number("INDEXD_TEST_KILLED_CLIENTS", 20) {
        let mut client = user.run(Path::new("/bin/bash"));
        client.args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut client = client.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(client.stdout.take().unwrap()).read_line(&mut line).unwrap();
        servers.push(line.trim().parse::<u32>().unwrap());
        client.kill().unwrap();
        client.wait().unwrap();
    }
    let is_ours = |pid: &u32| {
        let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        name.starts_with("ctl") && is_alive(*pid)
    };
    until("every server ended", || !servers.iter().any(is_ours));
}

#[test]
fn the_client_of_rmcp_is_served_in_both_eras() {
    let user = User::new();
    let printed = ok(&user.ctl(&["pack", QUERY, "--as", "text", "--layout", "agent"]));
    let modes = [
        ClientLifecycleMode::Initialize,
        ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] },
    ];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for mode in modes {
        let result: CallToolResult = runtime.block_on(async {
            let mut command = user.command("ctl");
            command.arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = tokio::process::Command::from(command).kill_on_drop(true).spawn().unwrap();
            let pipes = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
            let client = rmcp::service::serve_client_with_lifecycle((), pipes, mode).await.unwrap();
            assert_eq!(client.list_all_tools().await.unwrap().len(), 13);
            let mut call = CallToolRequestParams::new("build_context_pack");
            call.arguments = json!({"query": QUERY}).as_object().cloned();
            let result = client.call_tool(call).await.unwrap();
            client.cancel().await.unwrap();
            result
        });
        let result = serde_json::to_value(result).unwrap();
        assert_eq!(said(&result).trim_end(), printed.trim_end());
    }
}

/// A folder with the packages of a client, installed once; none where the registry is out of reach.
fn installed(name: &str, install: impl Fn(&Path) -> Vec<Command>) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.join("done").exists() {
        return Some(folder);
    }
    std::fs::create_dir_all(&folder).unwrap();
    for mut command in install(&folder) {
        let run = command.current_dir(&folder).stdin(Stdio::null()).output();
        let failed = match run {
            Ok(output) if output.status.success() => continue,
            Ok(output) => text(&output.stderr),
            Err(e) => e.to_string(),
        };
        println!("skipped: {name} cannot be installed: {}", failed.lines().next().unwrap_or(""));
        return None;
    }
    std::fs::write(folder.join("done"), "").unwrap();
    Some(folder)
}

fn check_sdk(user: &User, output: &Output, version: Option<&str>) {
    let got: Value = serde_json::from_str(&ok(output)).unwrap();
    let printed = ok(&user.ctl(&["pack", QUERY, "--as", "text", "--layout", "agent"]));
    assert_eq!(got["text"].as_str().unwrap().trim_end(), printed.trim_end());
    assert_eq!(got["tools"].as_array().unwrap().len(), 13);
    assert!(got["wrong"].as_str().unwrap().contains("POC_E_SYMBOL_NOT_FOUND"), "{got}");
    if let Some(version) = version {
        assert_eq!(got["version"], version);
    }
}

#[test]
fn the_typescript_clients_are_served() {
    let packages = ["@modelcontextprotocol/sdk@1", "@modelcontextprotocol/client@2"];
    let install = |_: &Path| {
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", "."]).args(packages);
        vec![npm]
    };
    let Some(folder) = installed("mcp-node", install) else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("mcp/client.mjs");
    std::fs::copy(script, folder.join("client.mjs")).unwrap();
    let user = User::new();
    for (era, version) in [("v1", None), ("legacy", Some(ERAS[0])), ("auto", Some(ERAS[1]))] {
        let mut node = user.run(Path::new("node"));
        node.arg(folder.join("client.mjs")).arg(era).arg(programs().join("ctl")).arg(QUERY);
        check_sdk(&user, &node.output().unwrap(), version);
    }
}

#[test]
fn the_python_client_is_served() {
    let install = |folder: &Path| {
        let mut venv = Command::new("python3");
        venv.args(["-m", "venv", "."]);
        let mut pip = Command::new(folder.join("bin/pip"));
        pip.args(["install", "--quiet", "--disable-pip-version-check", "mcp>=2,<3"]);
        vec![venv, pip]
    };
    let Some(folder) = installed("mcp-python", install) else { return };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("mcp/client.py");
    let user = User::new();
    for (era, version) in [("legacy", ERAS[0]), ("auto", ERAS[1])] {
        let mut python = user.run(&folder.join("bin/python"));
        python.arg("-P").arg(&script).arg(era).arg(programs().join("ctl")).arg(QUERY);
        check_sdk(&user, &python.output().unwrap(), Some(version));
    }
}

#[test]
fn installing_shows_the_change_first_and_loses_nothing() {
    let user = User::new();
    user.write("repo/.git/HEAD", "ref: refs/heads/main\n");
    user.write("repo/.vscode/mcp.json", "{\n  // mine\n  \"servers\": {\"x\": {\"command\": \"y\"}}\n}\n");
    user.write("home/.codex/config.toml", "model = \"m\" # mine\n");
    for (client, file, mine) in [
        ("claude", "repo/.mcp.json", ""),
        ("cursor", "repo/.cursor/mcp.json", ""),
        ("vscode", "repo/.vscode/mcp.json", "// mine"),
        ("codex", "home/.codex/config.toml", "# mine"),
        ("zed", "config/zed/settings.json", ""),
        ("gemini", "repo/.gemini/settings.json", ""),
        ("opencode", "repo/opencode.json", ""),
        ("copilot", "home/.copilot/mcp-config.json", ""),
        ("windsurf", "home/.codeium/windsurf/mcp_config.json", ""),
        ("claude-desktop", "config/Claude/claude_desktop_config.json", ""),
    ] {
        let read = || std::fs::read_to_string(user.path(file)).unwrap_or_default();
        let before = read();
        let shown = ok(&user.ctl(&["mcp", "install", client]));
        assert!(shown.contains("+++ ") && shown.contains("--write") && shown.contains("\"mcp\""), "{shown}");
        assert_eq!(read(), before, "{client}: nothing is written yet");
        assert!(ok(&user.ctl(&["mcp", "install", client, "--write"])).contains("written"));
        let after = read();
        assert!(after.contains("indexd") && after.contains(mine), "{after}");
        assert!(ok(&user.ctl(&["mcp", "install", client, "--write"])).contains("nothing to change"));
        assert_eq!(read(), after);
        ok(&user.ctl(&["mcp", "install", client, "--remove", "--write"]));
        assert!(!read().contains("\"mcp\"") && read().contains(mine), "{}", read());
        assert_eq!(user.path(file).exists(), !mine.is_empty(), "{client}: a file of ours alone goes again");
    }
    let generic = ok(&user.ctl(&["mcp", "install", "generic", "--write"]));
    assert!(generic.contains("\"mcpServers\"") && generic.contains("--workspace"), "{generic}");
    user.write("repo/.mcp.json", "{ broken");
    let refused = user.ctl(&["mcp", "install", "claude", "--write"]);
    crate::user::check_failure(&refused, 78, "POC_E_CONFIG");
    assert_eq!(std::fs::read_to_string(user.path("repo/.mcp.json")).unwrap(), "{ broken");
}

#[test]
fn an_agent_is_told_in_six_lines_and_gets_a_card_for_the_name_it_searches() {
    let user = User::new();
    user.write("repo/.git/HEAD", "ref: refs/heads/main\n");
    user.write("repo/CLAUDE.md", "# Mine\n");
    user.write("repo/.claude/settings.json", "{\"hooks\": {\"PostToolUse\": [{\"matcher\": \"Edit\", \"hooks\": [{\"type\": \"command\", \"command\": \"lint\"}]}]}}\n");
    for (client, file) in [
        ("claude", "CLAUDE.md"),
        ("codex", "AGENTS.md"),
        ("copilot", ".github/copilot-instructions.md"),
        ("gemini", "GEMINI.md"),
    ] {
        let path = user.path("repo").join(file);
        let read = || std::fs::read_to_string(&path).unwrap_or_default();
        let before = read();
        assert!(ok(&user.ctl(&["agent", "install", client])).contains("+<!-- indexd -->"));
        assert_eq!(read(), before);
        ok(&user.ctl(&["agent", "install", client, "--write"]));
        let after = read();
        assert!(
            after.starts_with(&before) && after.contains("ctl pack") && after.contains("ctl card"),
            "{after}"
        );
        assert!(after.lines().count() <= before.lines().count() + 7, "{after}");
        ok(&user.ctl(&["agent", "install", client, "--write"]));
        assert_eq!(read(), after);
        if client != "claude" {
            ok(&user.ctl(&["agent", "install", client, "--remove", "--write"]));
            assert_eq!((read(), path.exists()), (before.clone(), !before.is_empty()));
        }
    }
    let settings = std::fs::read_to_string(user.path("repo/.claude/settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&settings).unwrap();
    let hooks = settings["hooks"]["PostToolUse"].as_array().unwrap();
    assert!(hooks.len() == 2 && hooks[0]["hooks"][0]["command"] == "lint", "{settings}");
    let command = hooks[1]["hooks"][0]["command"].as_str().unwrap();
    let (program, args) = command.split_once(' ').unwrap();

    ok(&user.ctl(&["index", "--wait"]));
    let answer = |input: Value| {
        let mut hook = user.run(Path::new(program));
        let mut hook =
            hook.args(args.split(' ')).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        write!(hook.stdin.take().unwrap(), "{input}").unwrap();
        ok(&hook.wait_with_output().unwrap())
    };
    let searched = |pattern: &str| {
        json!({"hook_event_name": "PostToolUse", "cwd": user.path("repo"), "tool_name": "Grep",
            "tool_input": {"pattern": pattern}})
    };
    // Where much else runs, a hook may find no time; it is silent then.
    let eventually = |input: Value| {
        (0..100).map(|_| answer(input.clone())).find(|a| !a.is_empty()).expect("a card in one of many tries")
    };
    let card = eventually(searched("func Delay"));
    let card: Value = serde_json::from_str(&card).unwrap_or_else(|e| panic!("{e}: {card}"));
    let told = card["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(told.contains("retry.go:3-4") && told.contains("Get  client.go:3"), "{told}");
    for silent in [searched("Delay|Get"), searched("nothing_of_this_name"), json!({}), json!("x")] {
        assert_eq!(answer(silent), "");
    }
    let shell =
        json!({"cwd": user.path("repo"), "tool_name": "Bash", "tool_input": {"command": "grep -rn Delay ."}});
    assert!(eventually(shell).contains("retry.go"));
    // One of two definitions is no certain answer.
    user.write("repo/second/second.go", "package second\n\nfunc Delay() {}\n");
    assert_eq!(answer(searched("Delay")), "");
    ok(&user.ctl(&["daemon", "stop"]));
    assert_eq!(
        user.command("ctl").env("INDEXD_NO_AUTOSTART", "1").args(["agent", "hook"]).output().unwrap().stdout,
        b""
    );
    ok(&user.ctl(&["agent", "install", "claude", "--remove", "--write"]));
    assert_eq!(std::fs::read_to_string(user.path("repo/CLAUDE.md")).unwrap(), "# Mine\n");
    assert!(
        !std::fs::read_to_string(user.path("repo/.claude/settings.json")).unwrap().contains("agent hook")
    );
}
