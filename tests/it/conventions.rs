//! The conventions of the command line that docs/internals/conventions.md lists.

use crate::reliability::check_table;
use crate::terminal::{Terminal, ended};
use crate::user::{User, copy_program, impostor, is_alive, ok, programs, text, until};
use indexd::workspace::why::{Place, place};
use indexd_proto::limits::{CTL_BUDGET_TOKENS, CTL_BYTES_PER_ITEM, CTL_ITEMS, CTL_ITEMS_PER_SECTION};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn every_convention_has_a_line_and_every_test_named_there_exists() {
    check_table("docs/internals/conventions.md", (1..=12).map(|i| format!("E{i:02}")).collect());
}

/// A program of this machine; a line says where there is none.
fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = std::env::split_paths(&path).any(|dir| dir.join(program).is_file());
    if !is_there {
        eprintln!("skipped: there is no {program}");
    }
    is_there
}

/// The best of some runs: what the machine does beside is not what is promised.
fn best(n: usize, run: impl FnMut() -> Duration) -> Duration {
    std::iter::repeat_with(run).take(n).min().unwrap()
}

#[test]
fn a_status_is_quick_and_so_is_a_first_start() {
    let user = User::new();
    let timed = |args: &[&str]| {
        let started = Instant::now();
        ok(&user.ctl(args));
        started.elapsed()
    };
    let first = best(5, || {
        ok(&user.ctl(&["daemon", "stop"]));
        timed(&["config", "show"])
    });
    assert!(first < Duration::from_millis(300), "{first:?}");
    let warm = best(20, || timed(&["status"]));
    assert!(warm < Duration::from_millis(20), "{warm:?}");
}

#[test]
fn manuals_and_completions_are_right_for_their_programs() {
    let user = User::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = ok(&user.ctl(&["completions", shell]));
        if has(shell) {
            let file = format!("completion.{shell}");
            user.write(&file, &script);
            let checked = Command::new(shell).arg("-n").arg(user.path(&file)).output().unwrap();
            assert!(checked.status.success(), "{shell}: {}", text(&checked.stderr));
        }
    }
    ok(&user.ctl(&["man", "--out", "../man"]));
    let pages: Vec<_> = std::fs::read_dir(user.path("man")).unwrap().map(|e| e.unwrap().path()).collect();
    assert!(pages.len() > 20, "{pages:?}");
    if has("mandoc") {
        let lint = Command::new("mandoc").args(["-Tlint", "-Wwarning"]).args(&pages).output().unwrap();
        assert_eq!((text(&lint.stdout), lint.status.success()), (String::new(), true));
    }
}

/// What each command prints with `--json`, and the published schema that it keeps to.
const PRINTED: [(&[&str], &str); 31] = [
    (&["status"], "status.result"),
    (&[], "ctl.here"),
    (&["version"], "ctl.version"),
    (&["--version"], "ctl.version"),
    (&["doctor"], "ctl.doctor"),
    (&["config", "show"], "config.show.result"),
    (&["search", "delay"], "search.result"),
    (&["symbol", "Delay"], "symbol.result"),
    (&["card", "Delay"], "card.result"),
    (&["why", "retry.go"], "why.result"),
    (&["why", "gone.go"], "why.result"),
    (&["callers", "Delay"], "graph.result"),
    (&["callees", "Get"], "graph.result"),
    (&["refs", "Delay"], "graph.result"),
    (&["impact", "retry.go:4"], "graph.result"),
    (&["graph", "Delay"], "graph.result"),
    (&["map"], "map.result"),
    (&["pack", "delay"], "context-pack"),
    (&["pack", "delay", "--explain", "--layout", "agent"], "context-pack"),
    (&["pack", "delay", "--write"], "ctl.pack-record"),
    (&["pack", "--as", "document", "delay"], "pack.markdown.result"),
    (&["index"], "ctl.workspace"),
    (&["index", "--wait"], "index.wait.result"),
    (&["compact"], "index.compact.result"),
    (&["daemon", "start"], "ctl.message"),
    (&["service", "uninstall"], "ctl.message"),
    (&["workspace", "list"], "workspace.list.result"),
    (&["workspace", "add", "."], "ctl.workspace"),
    (&["workspace", "gc", "--dry-run"], "workspace.gc.result"),
    (&["mcp", "install", "claude"], "ctl.file-changes"),
    (&["agent", "install", "codex"], "ctl.file-changes"),
];

#[test]
fn what_is_printed_as_json_keeps_to_its_published_schema() {
    let user = User::new();
    user.write("repo/.git/HEAD", "ref: refs/heads/main\n");
    ok(&user.ctl(&["index", "--wait"]));
    let schemas: BTreeMap<String, Value> = indexd_proto::schema::all().into_iter().collect();
    let check = |args: &[&str], schema: &str, printed: &[u8]| {
        let printed = text(printed);
        let lines: Vec<&str> = printed.lines().collect();
        let [line] = lines[..] else { panic!("{args:?}: one line is wanted: {printed}") };
        let value: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{args:?}: {e}: {line}"));
        let faults = faults(&schemas[schema], &value);
        assert!(faults.is_empty(), "{args:?} against {schema}: {faults:#?}");
    };
    for (args, schema) in PRINTED {
        let run = user.ctl(&[args, &["--json"]].concat());
        // 1 is an answer, too: nothing is there.
        assert!(matches!(run.status.code(), Some(0 | 1)), "{args:?}: {}", text(&run.stderr));
        check(args, schema, &run.stdout);
    }
    let kept = ok(&user.ctl(&["pack", "delay", "--write"]));
    let read = user.ctl(&["pack", "--read", kept.trim(), "--json"]);
    check(&["pack", "--read"], "context-pack", &read.stdout);
    let index = user.path("demo.scip").display().to_string();
    ok(&user.ctl(&["export", "scip", "--out", &index]));
    let imported = user.ctl(&["import", "scip", &index, "--json"]);
    check(&["import", "scip"], "import.scip.result", &imported.stdout);
    let status = user.ctl(&["service", "status", "--json"]);
    check(&["service", "status"], "ctl.service-status", &status.stdout);
    for args in [
        &["pack", "x", "--param", "layout=round"][..],
        &["callers", "Nobody"],
        &["search", "", "--limit", "0"],
    ] {
        let failed = user.ctl(&[args, &["--json"]].concat());
        if !failed.status.success() {
            check(args, "ctl.error", &failed.stderr);
        }
    }
    let removed = user.ctl(&["workspace", "remove", ".", "--json"]);
    check(&["workspace", "remove"], "ctl.workspace-removed", &removed.stdout);
    let stopped = user.ctl(&["daemon", "stop", "--json"]);
    check(&["daemon", "stop"], "ctl.message", &stopped.stdout);
}

/// A check that finds nothing must be able to find something.
#[test]
fn the_check_of_schemas_finds_faults() {
    let schemas: BTreeMap<String, Value> = indexd_proto::schema::all().into_iter().collect();
    let right = json!({"schema": "Doctor", "schemaVersion": "1.0.0", "ok": true, "checks": [{"name": "x", "verdict": "warn", "reason": "y"}]});
    assert_eq!(faults(&schemas["ctl.doctor"], &right), [""; 0]);
    for (pointer, value) in [
        ("/ok", json!(1)),
        ("/checks", json!({})),
        ("/checks/0/verdict", json!("fine")),
        ("/checks/0", json!({})),
    ] {
        let mut wrong = right.clone();
        *wrong.pointer_mut(pointer).unwrap() = value;
        assert!(!faults(&schemas["ctl.doctor"], &wrong).is_empty(), "{wrong}");
    }
}

/// What is wrong with a value by a schema, of the keywords that ours use; any other keyword is a fault.
pub fn faults(schema: &Value, value: &Value) -> Vec<String> {
    let mut out = Vec::new();
    look(schema, schema, value, "", &mut out);
    out
}

fn look(top: &Value, schema: &Value, value: &Value, at: &str, out: &mut Vec<String>) {
    let Some(keywords) = schema.as_object() else {
        out.extend((*schema == json!(false)).then(|| format!("{at}: nothing may be here")));
        return;
    };
    let passes = |schema: &Value| {
        let mut faults = Vec::new();
        look(top, schema, value, at, &mut faults);
        faults.is_empty()
    };
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let number = value.as_f64();
    for (keyword, wanted) in keywords {
        let is_right = match keyword.as_str() {
            "$schema" | "$id" | "$defs" | "title" | "description" | "default" | "format" => true,
            "$ref" => {
                let target = top.pointer(wanted.as_str().unwrap().trim_start_matches('#'));
                look(top, target.unwrap_or_else(|| panic!("{wanted}")), value, at, out);
                true
            }
            "type" => match wanted {
                Value::String(kind) => is_of(value, kind),
                kinds => list(kinds).iter().any(|kind| is_of(value, kind.as_str().unwrap())),
            },
            "const" => value == wanted,
            "enum" => list(wanted).contains(value),
            "minimum" => number.is_none_or(|n| n >= wanted.as_f64().unwrap()),
            "maximum" => number.is_none_or(|n| n <= wanted.as_f64().unwrap()),
            "minItems" => value.as_array().is_none_or(|v| v.len() as u64 >= wanted.as_u64().unwrap()),
            "maxItems" => value.as_array().is_none_or(|v| v.len() as u64 <= wanted.as_u64().unwrap()),
            "anyOf" => list(wanted).iter().any(passes),
            "oneOf" => list(wanted).iter().filter(|s| passes(s)).count() == 1,
            "allOf" => list(wanted).iter().all(passes),
            "required" => list(wanted)
                .iter()
                .all(|name| value.as_object().is_none_or(|v| v.contains_key(name.as_str().unwrap()))),
            "properties" => {
                for (name, schema) in wanted.as_object().unwrap() {
                    if let Some(member) = value.get(name) {
                        look(top, schema, member, &format!("{at}/{name}"), out);
                    }
                }
                true
            }
            "additionalProperties" => {
                let known = keywords.get("properties").and_then(Value::as_object);
                for (name, member) in value.as_object().into_iter().flatten() {
                    if !known.is_some_and(|known| known.contains_key(name)) {
                        look(top, wanted, member, &format!("{at}/{name}"), out);
                    }
                }
                true
            }
            "items" => {
                for (i, member) in value.as_array().into_iter().flatten().enumerate() {
                    look(top, wanted, member, &format!("{at}/{i}"), out);
                }
                true
            }
            "prefixItems" => {
                for (i, schema) in list(wanted).iter().enumerate() {
                    if let Some(member) = value.get(i) {
                        look(top, schema, member, &format!("{at}/{i}"), out);
                    }
                }
                true
            }
            other => panic!("this check does not know {other}"),
        };
        if !is_right {
            out.push(format!("{at}: {keyword} {wanted} is not kept by {value}"));
        }
    }
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("{other}"),
    }
}

#[test]
fn nothing_that_goes_into_a_pipe_or_has_no_colour_holds_an_escape() {
    let user = User::new();
    user.write("repo/.git/HEAD", "ref: refs/heads/main\n");
    let lines = PRINTED.iter().map(|(args, _)| *args);
    let others: [&[&str]; 9] = [
        &["--help"],
        &["pack", "--help"],
        &["pack", "delay", "--as", "text"],
        &["pack", "delay", "--as", "html"],
        &["graph", "Delay", "--as", "svg"],
        &["man"],
        &["completions", "zsh"],
        &["frobnicate"],
        &["callers", "Nobody"],
    ];
    for args in lines.chain(others) {
        let run = user.command("ctl").env("TERM", "xterm-256color").args(args).output().unwrap();
        for bytes in [&run.stdout, &run.stderr] {
            assert!(!bytes.contains(&0x1b), "{args:?}: {}", text(bytes));
        }
    }
    for args in [&["pack", "delay"][..], &["status"], &["doctor"], &["callers", "Nobody"], &["--help"]] {
        let terminal = Terminal::new();
        let mut sh = user.run(Path::new("/bin/sh"));
        // Standard output is the terminal, too.
        sh.arg("-c")
            .arg("ctl=$1; shift; \"$ctl\" \"$@\" >&2")
            .arg("sh")
            .arg(programs().join("ctl"))
            .args(args);
        ended(terminal.spawn(sh.env("NO_COLOR", "1")));
        terminal.until("something is said", |screen| !screen.trim().is_empty());
        let bytes = terminal.bytes();
        assert!(!bytes.contains(&0x1b), "{args:?}: {}", text(&bytes));
    }
}

/// What a program answers to one line, in JSON.
fn answer(mut reader: impl std::io::Read, mut writer: impl Write, request: &Value) -> Value {
    writeln!(writer, "{request}").unwrap();
    let mut line = String::new();
    std::io::BufReader::new(&mut reader).read_line(&mut line).unwrap();
    serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"))
}

/// Plugins and the clients of `proto/clients` are compared by `cargo xtask editors`.
#[test]
fn every_door_gives_the_same_pack() {
    const QUERY: &str = "where is the delay decided";
    let user = User::new();
    let printed = |args: &[&str]| -> Value {
        let all = [&["pack", QUERY, "--json"], args].concat();
        serde_json::from_str(&ok(&user.ctl(&all))).unwrap()
    };
    let pack = printed(&[]);
    let id = pack["packId"].as_str().unwrap();
    assert!(pack["stats"]["included"].as_u64().unwrap() > 0, "{pack}");
    assert_eq!(printed(&["--no-daemon"])["packId"], id);
    let budgets = json!({"maxTotalTokens": CTL_BUDGET_TOKENS, "maxBytesPerItem": CTL_BYTES_PER_ITEM,
        "maxItems": CTL_ITEMS, "maxItemsPerSection": CTL_ITEMS_PER_SECTION});
    let params =
        json!({"cwd": user.path("repo"), "query": QUERY, "includeExplain": false, "defaultBudgets": budgets});
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "pack", "params": params});
    let socket = std::os::unix::net::UnixStream::connect(user.socket()).unwrap();
    assert_eq!(answer(&socket, &socket, &request)["result"]["pack"]["packId"], id);
    let start = |program: &str, args: &[&str]| {
        let mut command = user.command(program);
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
    };
    let mut indexd = start("indexd", &["--stdio"]);
    let said = answer(indexd.stdout.take().unwrap(), indexd.stdin.take().unwrap(), &request);
    assert_eq!(said["result"]["pack"]["packId"], id);
    indexd.wait().unwrap();
    let mut mcp = start("ctl", &["mcp"]);
    let meta = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}});
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"_meta": meta,
        "name": "context_pack_create", "arguments": {"query": QUERY, "structured": true}}});
    let said = answer(mcp.stdout.take().unwrap(), mcp.stdin.take().unwrap(), &call);
    assert_eq!(said["result"]["structuredContent"]["packId"], id, "{said}");
    mcp.wait().unwrap();
}

/// One random tree: rules of git at three levels, and files.
type Tree = (BTreeMap<&'static str, Vec<String>>, Vec<String>);

fn tree() -> impl Strategy<Value = Tree> {
    let name = prop_oneof![
        Just("a"),
        Just("b"),
        Just("ab"),
        Just("x.o"),
        Just("y.o"),
        Just("doc"),
        Just("a b"),
        Just("{a,b}")
    ];
    let path = prop::collection::vec(name, 1..4).prop_map(|names| names.join("/"));
    let part = prop_oneof![
        Just("a"),
        Just("b"),
        Just("ab"),
        Just("*.o"),
        Just("a*"),
        Just("?b"),
        Just("[ax]*"),
        Just("[!a]"),
        Just("**"),
        Just("doc"),
        Just("a\\ b"),
        Just("x.o"),
        Just("*.o{}"),
        Just("{a,b}"),
        Just("a[^.]b"),
        Just("["),
    ];
    let rule = (any::<bool>(), any::<bool>(), prop::collection::vec(part, 1..4), any::<bool>()).prop_map(
        |(again, anchored, parts, folder)| {
            let marks = (
                if again { "!" } else { "" },
                if anchored { "/" } else { "" },
                if folder { "/" } else { "" },
            );
            format!("{}{}{}{}", marks.0, marks.1, parts.join("/"), marks.2)
        },
    );
    let rules = prop::collection::vec(rule, 0..5);
    let files = [".gitignore", "a/.gitignore", "doc/.gitignore", ".git/info/exclude"];
    let rules = prop::collection::vec(rules, files.len())
        .prop_map(move |rules| files.into_iter().zip(rules).collect::<BTreeMap<_, _>>());
    (rules, prop::collection::vec(path, 10..20))
}

/// Which of the files git leaves out.
fn left_out_by_git(root: &Path, files: &[String]) -> Vec<String> {
    let mut git = Command::new("git");
    git.args(["check-ignore", "--no-index", "--stdin", "-z"]).current_dir(root);
    git.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_CONFIG_GLOBAL", "/dev/null");
    let mut git = git.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    git.stdin.take().unwrap().write_all(files.join("\0").as_bytes()).unwrap();
    let said = git.wait_with_output().unwrap();
    text(&said.stdout).split('\0').filter(|p| !p.is_empty()).map(str::to_owned).collect()
}

/// `INDEXD_TEST_IGNORE_TREES` trees of 10 to 19 paths each.
#[test]
fn what_git_leaves_out_is_left_out_and_nothing_else() {
    let cases = crate::support::number("INDEXD_TEST_IGNORE_TREES", 200);
    let mut runner =
        TestRunner::new(Config { cases: cases as u32, failure_persistence: None, ..Config::default() });
    let result = runner.run(&tree(), |(rules, paths)| {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        assert!(Command::new("git").args(["init", "-q"]).current_dir(&root).status().unwrap().success());
        let mut files = Vec::new();
        for path in paths {
            let at = root.join(&path);
            // A file may stand where another path wants a folder.
            if std::fs::create_dir_all(at.parent().unwrap()).is_ok()
                && !at.is_dir()
                && std::fs::write(&at, "").is_ok()
            {
                files.push(path);
            }
        }
        files.sort();
        files.dedup();
        for (path, rules) in &rules {
            let at = root.join(path);
            if std::fs::create_dir_all(at.parent().unwrap()).is_ok() {
                std::fs::write(at, rules.join("\n")).unwrap();
            }
        }
        let ours = |path: &&String| matches!(place(&root, &[], path).0, Place::Ignored(_));
        let left_out: Vec<String> = files.iter().filter(ours).cloned().collect();
        prop_assert_eq!(left_out, left_out_by_git(&root, &files), "{:?}", rules);
        Ok(())
    });
    result.unwrap_or_else(|e| panic!("{e}"));
}

/// The checks of the doctor that are no `ok`, with how bad they are.
fn found(command: &mut Command) -> Vec<(String, String)> {
    let run = command.args(["doctor", "--json"]).output().unwrap();
    let said: Value =
        serde_json::from_slice(&run.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(&run.stderr)));
    let checks = said["checks"].as_array().unwrap().iter();
    let bad = checks.filter(|c| c["verdict"] != "ok");
    let member = |c: &Value, name: &str| c[name].as_str().unwrap_or("").to_owned();
    bad.inspect(|c| assert!(!member(c, "fix").is_empty(), "a remedy is named: {c}"))
        .map(|c| (member(c, "name"), member(c, "verdict")))
        .collect()
}

/// Stages a fault; gives how the doctor is to be asked, where that is another way.
type Stage = fn(&User) -> Option<Command>;

#[test]
fn the_doctor_finds_each_fault() {
    let faults: [(&str, &str, &str, Stage); 14] = [
        ("no runtime folder is named", "runtime-dir", "warn", |user| {
            let mut ctl = user.command("ctl");
            ctl.env_remove("XDG_RUNTIME_DIR").env("TMPDIR", user.dir.path());
            Some(ctl)
        }),
        ("a runtime folder that others may read", "runtime-dir", "fail", |user| {
            std::fs::create_dir_all(user.path("run/indexd")).unwrap();
            std::fs::set_permissions(user.path("run/indexd"), PermissionsExt::from_mode(0o755)).unwrap();
            None
        }),
        ("a file in the place of the runtime folder", "runtime-dir", "fail", |user| {
            user.write("run/indexd", "");
            None
        }),
        ("a file in the place of the config folder", "config-dir", "fail", |user| {
            user.write("config", "");
            None
        }),
        ("a file in the place of the state folder", "state-dir", "fail", |user| {
            user.write("state", "");
            None
        }),
        ("a file in the place of the cache", "cache-dir", "fail", |user| {
            user.write("cache", "");
            None
        }),
        ("a setting that is none", "config", "fail", |user| {
            user.write("config/indexd/config.toml", "[daemon]\nidle_exit = 1\n");
            None
        }),
        ("files of the future", "clock", "warn", |user| {
            user.write("state/indexd/indexd.log", "");
            let log =
                std::fs::File::options().write(true).open(user.path("state/indexd/indexd.log")).unwrap();
            log.set_modified(std::time::SystemTime::now() + Duration::from_secs(3_600)).unwrap();
            None
        }),
        ("a fault in the log", "faults", "warn", |user| {
            user.write(
                "state/indexd/indexd.log",
                "{\"timestamp\":\"2026-01-01\",\"message\":\"fault\",\"place\":\"x.rs:1\"}\n",
            );
            None
        }),
        ("few files may be open", "open-files", "warn", |user| {
            let mut sh = user.run(Path::new("/bin/sh"));
            sh.arg("-c").arg("ulimit -n 200; exec \"$0\" \"$@\"").arg(programs().join("ctl"));
            Some(sh)
        }),
        ("a socket that nobody serves", "socket", "warn", |user| {
            std::fs::create_dir_all(user.path("run/indexd")).unwrap();
            std::fs::set_permissions(user.path("run/indexd"), PermissionsExt::from_mode(0o700)).unwrap();
            drop(std::os::unix::net::UnixListener::bind(user.socket()).unwrap());
            None
        }),
        ("no daemon beside ctl", "program", "fail", |user| {
            std::fs::create_dir(user.path("bin")).unwrap();
            for program in ["ctl", "ctl-more"] {
                copy_program(program, &user.path(&format!("bin/{program}")));
            }
            let mut ctl = user.run(&user.path("bin/ctl"));
            ctl.env("PATH", user.path("bin"));
            Some(ctl)
        }),
        ("an agent of the repository starts what is not there", "agents", "fail", |user| {
            let entry = "{\n  // ours\n  \"servers\": {\"indexd\": {\"command\": \"/nowhere/ctl\"}}\n}\n";
            user.write("repo/.vscode/mcp.json", entry);
            None
        }),
        ("an agent of the user finds no daemon", "agents", "warn", |user| {
            user.write("codex/config.toml", "[mcp_servers]\nindexd = { command = \"sh\" }\n");
            let mut ctl = user.command("ctl");
            ctl.env("CODEX_HOME", user.path("codex"));
            Some(ctl)
        }),
    ];
    let ours = User::new();
    let sound = found(&mut ours.command("ctl"));
    for (what, name, verdict, stage) in faults {
        let user = User::new();
        let mut ctl = stage(&user).unwrap_or_else(|| user.command("ctl"));
        let found = found(&mut ctl);
        let wanted = (name.to_owned(), verdict.to_owned());
        assert!(found.contains(&wanted) && !sound.contains(&wanted), "{what}: {found:?}");
    }
}

#[test]
fn the_doctor_finds_a_daemon_of_another_release_and_one_whose_program_was_replaced() {
    let user = User::new();
    let hello = json!({"result": {"protocol": 1, "supported": {"min": 1, "max": 1},
        "server": {"name": "indexd", "version": env!("CARGO_PKG_VERSION")}, "methods": [], "capabilities": [], "pid": 1}});
    let error = json!({"code": -32000, "message": "as told", "data": {"code": "POC_E_INTERNAL", "exit": 70, "hint": "x"}});
    let daemon = impostor(&user, hello, error);
    assert!(found(&mut user.command("ctl")).contains(&("socket".to_owned(), "fail".to_owned())));
    daemon.join().unwrap();
    std::fs::remove_file(user.socket()).unwrap();
    std::fs::create_dir(user.path("bin")).unwrap();
    for program in ["ctl", "indexd"] {
        copy_program(program, &user.path("bin").join(program));
    }
    ok(&user.run(&user.path("bin/ctl")).args(["daemon", "start"]).output().unwrap());
    std::fs::remove_file(user.path("bin/indexd")).unwrap();
    assert!(found(&mut user.command("ctl")).contains(&("executable".to_owned(), "warn".to_owned())));
    let pid = user.pid().unwrap();
    ok(&user.ctl(&["daemon", "stop"]));
    until("it ends", || !is_alive(pid));
}
