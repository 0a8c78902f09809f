//! The programs as people and scripts use them: real processes, private folders.
//!
//! Few and slow by nature; what needs no process is tested in `protocol`.

use crate::user::{User, check_failure, impostor, ok, programs, text};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn the_first_pack_needs_nothing_set_up() {
    let user = User::new();
    let pack = ok(&user.ctl(&["pack", "how long is the delay", "--budget", "2000"]));
    assert!(pack.contains("retry.go:3-4") && pack.contains("func Delay(n int) int"), "{pack}");
    assert!(!pack.contains('\x1b'), "a pipe gets no colours");
    // One object, the pack alone, under the budget; a save is seen by the next pack.
    user.write("repo/jitter.go", "package demo\n\nfunc Jitter() int { return 42 }\n");
    let output =
        user.ctl(&["pack", "--repo", ".", "Jitter", "--budget", "1000", "--layout", "agent", "--json"]);
    let json = ok(&output);
    let pack: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((json.lines().count(), &pack["schema"]), (1, &Value::from("ContextPack")));
    assert!(json.contains("return 42") && pack["stats"]["tokenCount"].as_u64().unwrap() <= 1000, "{json}");
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
    // The query from standard input gives the same pack.
    let asked = |args: &[&str], query: &[u8]| {
        let mut command = user.command("ctl");
        let mut child = command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(query).unwrap();
        child.wait_with_output().unwrap()
    };
    let from_stdin = asked(&["pack", "-", "-b", "1k", "--layout", "agent", "--json"], b"Jitter");
    let from_stdin: Value = serde_json::from_slice(&from_stdin.stdout).unwrap();
    assert_eq!(from_stdin["packId"], pack["packId"]);
    // Bytes that are not text match nothing, and do not hinder the rest.
    assert!(ok(&asked(&["search", "-"], b"Jitter \xff")).contains("jitter.go:3"));
}

#[test]
fn a_record_is_kept_of_the_pack_that_was_named_and_of_no_other() {
    let user = User::new();
    let id = ok(&user.ctl(&["pack", "delay", "--write"]));
    let id = id.trim();
    let read = || ok(&user.ctl(&["pack", "--read", id, "--json"]));
    let record = read();
    let write = format!("--write={id}");
    assert_eq!(ok(&user.ctl(&["pack", "delay", &write])).trim(), id);
    user.write("repo/client.go", "package demo\n\nfunc Get() int { return Delay(4) }\n");
    check_failure(&user.ctl(&["pack", "delay", &write]), 66, "POC_E_PACK_NOT_FOUND");
    assert_eq!(std::fs::read_dir(user.path("state/indexd/packs")).unwrap().count(), 1);
    assert_eq!(read(), record);
}

#[test]
fn standard_input_and_output_speak_the_same_protocol() {
    let user = User::new();
    for beside_a_daemon in [false, true] {
        if beside_a_daemon {
            ok(&user.ctl(&["daemon", "start"]));
        }
        let mut child = user
            .command("indexd")
            .arg("--stdio")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let repo = user.path("repo").display().to_string();
        let request = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "pack", "params": {"repo": repo, "query": "delay"}});
        writeln!(child.stdin.take().unwrap(), "{request}").unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let answer: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer["result"]["pack"]["schema"], "ContextPack", "{answer}");
        assert!(lines.next().is_none());
        assert!(child.wait().unwrap().success());
    }
}

/// One request over standard input and output, under a limit on the size of every file written.
fn asked_under_a_limit(user: &User, blocks: &str, request: &Value) -> Value {
    let mut child = user
        .run(Path::new("/bin/sh"))
        .args(["-c", r#"trap "" XFSZ; ulimit -f "$0"; exec "$1" --stdio"#, blocks])
        .arg(programs().join("indexd"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    writeln!(child.stdin.take().unwrap(), "{request}").unwrap();
    let answer = child.wait_with_output().unwrap();
    serde_json::from_slice(&answer.stdout).unwrap_or_else(|e| panic!("{e}: {}", text(&answer.stdout)))
}

#[test]
fn an_index_that_cannot_be_written_is_a_failure_of_storage_and_loses_nothing() {
    let user = User::new();
    for n in 0..200 {
        user.write(
            &format!("repo/f{n}.go"),
            &format!("package demo\n\nfunc F{n}() int {{ return Delay({n}) }}\n"),
        );
    }
    let repo = user.path("repo").display().to_string();
    let request = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "pack", "params": {"repo": repo, "query": "delay"}});
    let error = &asked_under_a_limit(&user, "100", &request)["error"]["data"];
    assert_eq!((&error["code"], &error["exit"]), (&"POC_E_STORAGE".into(), &74.into()), "{error}");
    assert!(error["hint"].as_str().unwrap().contains("make room"), "{error}");
    let pack = &asked_under_a_limit(&user, "unlimited", &request)["result"]["pack"];
    assert!(pack.to_string().contains("func Delay"), "{pack}");
    // An index that is there still answers, says what it lacks and why, and fails who insists.
    user.write("repo/jitter.go", "package demo\n\nfunc Jitter() int { return Delay(42) }\n");
    let result = &asked_under_a_limit(&user, "100", &request)["result"];
    let envelope = &result["envelope"];
    assert_eq!(envelope["fresh"], false, "{envelope}");
    assert!(envelope["warnings"][0].as_str().unwrap().contains("(disk-full): make room"), "{envelope}");
    assert!(result["pack"].to_string().contains("func Delay"), "{result}");
    let wait = serde_json::json!({"id": 1, "method": "index.wait", "params": {"repo": repo}});
    let error = &asked_under_a_limit(&user, "100", &wait)["error"]["data"];
    assert_eq!(error["code"], "POC_E_STORAGE", "{error}");
    assert!(error["hint"].as_str().unwrap().contains("make room"), "{error}");
    let result = &asked_under_a_limit(&user, "unlimited", &request)["result"];
    assert_eq!(result["envelope"]["fresh"], true, "{result}");
    assert!(result["pack"].to_string().contains("func Jitter"), "{result}");
}

#[test]
fn bad_command_lines_end_with_their_code() {
    let user = User::new();
    user.write("plain.txt", "x");
    let plain = user.path("plain.txt").display().to_string();
    // Without a daemon, and without a setting to blame for it.
    let status = user.ctl(&["status"]);
    assert!(ok(&status).contains("no daemon is running"), "{}", text(&status.stdout));
    assert!(!text(&status.stderr).contains("INDEXD_NO_AUTOSTART"), "{}", text(&status.stderr));
    let cases: [(&[&str], i32, &str); 21] = [
        (&["pack", "--repo", "/no/such/repo", "x"], 66, "POC_E_WORKSPACE_INVALID"),
        (&["pack", "--repo", &plain, "x"], 66, "POC_E_WORKSPACE_INVALID"),
        (&["pack", ""], 2, "POC_E_INVALID_REQUEST"),
        (&["pack"], 2, "there is no task"),
        (&["pack", "x", "--as", "md"], 2, "write text, places"),
        (&["callees", "Get", "--dispatch"], 2, "ctl callees has no option --dispatch"),
        (&["pack", "x", "--colour", "blue"], 2, ""),
        (&["pack", "x", "--layout", "round"], 2, "expected one of graph, agent"),
        (&["pack", "x", "--param", "layout=round"], 2, "POC_E_NOT_SUPPORTED"),
        (&["pack", "x", "--param", "colour=1"], 2, "POC_E_NOT_SUPPORTED"),
        (&["pack", "x", "--param", "tokenizer=\"nope\""], 2, "ACODE-CTX-002"),
        (&["pack", "x", "--param", "colour"], 2, "POC_E_INVALID_REQUEST"),
        (
            &["pack", "x", "--param", "strictness=strict", "--param", "budgets.maxItems=251"],
            65,
            "POC_E_BUDGET_EXCEEDED",
        ),
        (&["pack", "x", "--param", "schemaVersion=\"9.0.0\""], 65, "POC_E_CONTRACT_VERSION"),
        (&["pack", "x", "--param", "indexSignature=b3:00"], 66, "POC_E_INDEX_MISSING"),
        (&["pack", "--read", "pack:sha256:00"], 66, "POC_E_PACK_NOT_FOUND"),
        (&["pack", "delay", "--write=pack:sha256:00"], 66, "POC_E_PACK_NOT_FOUND"),
        (&["pack", "--read", "pack:sha256:00", "--write"], 2, "--write"),
        (&["callers", "Nobody"], 66, "POC_E_SYMBOL_NOT_FOUND"),
        (&["workspace", "remove", "/no/such/repo"], 66, "POC_E_INDEX_MISSING"),
        (&["frobnicate"], 2, ""),
    ];
    for (args, exit, code) in cases {
        check_failure(&user.ctl(args), exit, code);
    }
    assert!(!user.path("state/indexd/packs").exists(), "a pack with another id is not kept");
    // Nothing found is an answer for a search, with status 1 and a line that says so.
    let nothing = user.ctl(&["search", "zzzqqq"]);
    assert_eq!((nothing.status.code(), text(&nothing.stderr)), (Some(1), "ctl: nothing found\n".to_owned()));
    let near = user.ctl(&["search", "Dellay"]);
    assert_eq!(text(&near.stderr), "ctl: nothing found\nhint: did you mean Delay?\n");
    // An empty pack is an answer too, with a warning.
    let empty = user.ctl(&["pack", "zzzqqq", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&ok(&empty)).unwrap()["insufficient_context"], true);
    assert!(text(&empty.stderr).contains("ACODE-CTX-004"), "{}", text(&empty.stderr));
    // With --json the error is one object on standard error.
    let failed = user.ctl(&["pack", "x", "--param", "layout=round", "--json"]);
    let error: Value = serde_json::from_slice(&failed.stderr).unwrap();
    assert_eq!(error["error"]["data"]["code"], "POC_E_NOT_SUPPORTED");
}

#[test]
fn folders_that_cannot_be_used_are_named() {
    let user = User::new();
    user.write("config/indexd/config.toml", "[daemon]\nidle_exit = 1\n");
    let refused = user.ctl(&["pack", "x"]);
    check_failure(&refused, 78, "POC_E_CONFIG");
    assert!(
        text(&refused.stderr).contains("idle_exit_s"),
        "the nearest key is named: {}",
        text(&refused.stderr)
    );
    std::fs::remove_file(user.path("config/indexd/config.toml")).unwrap();
    // A runtime folder that is no folder.
    std::fs::remove_dir_all(user.path("run/indexd")).unwrap();
    user.write("run/indexd", "");
    check_failure(&user.ctl(&["pack", "x"]), 77, "POC_E_PERMISSION_DENIED");
    assert_eq!(user.ctl(&["doctor"]).status.code(), Some(69));
    std::fs::remove_file(user.path("run/indexd")).unwrap();
    // A state folder that cannot be created.
    std::fs::remove_dir_all(user.path("state")).unwrap();
    user.write("state", "");
    check_failure(&user.ctl(&["pack", "x"]), 73, "POC_E_CANNOT_CREATE");
    std::fs::remove_file(user.path("state")).unwrap();
    ok(&user.ctl(&["doctor"]));
}

#[test]
fn a_first_build_is_not_waited_for_when_told_so() {
    let user = User::new();
    for n in 0..1500 {
        let body = format!("package big\n\nfunc F{n}(a int) int {{\n\treturn a + {n}\n}}\n").repeat(1);
        user.write(&format!("repo/big/f{n}.go"), &body);
    }
    check_failure(&user.ctl(&["pack", "delay", "--wait=0"]), 75, "POC_E_INDEXING");
    assert!(ok(&user.ctl(&["pack", "delay", "--wait"])).contains("func Delay"));
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let user = User::new();
    let mut child = user
        .command("ctl")
        .args(["export", "dump"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let status = child.wait().unwrap();
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((status.code(), said.as_str()), (Some(141), ""));
}

#[test]
fn colours_are_there_when_forced_and_names_are_harmless() {
    let user = User::new();
    user.write("repo/evil\x1b]0;x\x07.md", "# Delay\n\nThe delay \x1b[31mred\x1b[0m doubles.\n");
    let forced =
        ok(&user.command("ctl").env("CLICOLOR_FORCE", "1").args(["pack", "delay"]).output().unwrap());
    assert!(forced.contains("\x1b[36m") && !forced.contains("\x1b]0;") && !forced.contains("\x1b[31mred"));
    let plain = ok(&user
        .command("ctl")
        .env("NO_COLOR", "1")
        .env("CLICOLOR_FORCE", "1")
        .args(["pack", "delay"])
        .output()
        .unwrap());
    assert!(!plain.contains('\x1b'));
}

#[test]
fn logs_hold_neither_code_nor_queries() {
    let user = User::new();
    user.write("repo/canary.go", "package demo\n\nfunc Canary() string { return \"xyzzy-content\" }\n");
    let mut command = user.command("ctl");
    ok(&command.env("INDEXD_LOG", "debug").args(["pack", "xyzzy-query Canary", "--json"]).output().unwrap());
    ok(&user.ctl(&["daemon", "stop"]));
    let log = std::fs::read_to_string(user.path("state/indexd/indexd.log")).unwrap();
    assert!(log.contains("\"correlation_id\"") && log.contains("\"message\":\"packed\""), "{log}");
    assert!(log.contains("\"outcome\":\"included\"") && log.contains("\"hybrid_score\":"), "{log}");
    assert!(!log.contains("xyzzy"), "{log}");
}

#[test]
fn the_doctor_reads_the_settings_without_a_daemon() {
    let user = User::new();
    ok(&user.ctl(&["doctor"]));
    user.write("config/indexd/config.toml", "[pack.budgets]\nmax_itmes = 1\n");
    let output = user.ctl(&["doctor"]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(69), "{said}");
    assert!(
        said.contains("fail config") && said.contains("did you mean `pack.budgets.max_items`?"),
        "{said}"
    );
}

#[test]
fn the_small_forms_are_there() {
    let user = User::new();
    ok(&user.ctl(&["index", "--wait"]));
    for args in [&["--version"][..], &["-V"], &["version"]] {
        let said = ok(&user.ctl(args));
        assert!(said.starts_with("ctl ") && said.contains("\nindexd "), "{said}");
    }
    let json: Value = serde_json::from_str(&ok(&user.ctl(&["--version", "--json"]))).unwrap();
    assert_eq!(json["schema"], "Version");
    let here: Value = serde_json::from_str(&ok(&user.ctl(&["--json"]))).unwrap();
    assert_eq!(here["schema"], "Here");
    for args in [&["export", "dump", "--json"][..], &["completions", "bash", "--json"], &["man", "--json"]] {
        let output = user.ctl(args);
        let error: Value = serde_json::from_slice(&output.stderr).unwrap();
        let code = &error["error"]["data"]["code"];
        assert_eq!((output.status.code(), code), (Some(2), &Value::from("POC_E_NOT_SUPPORTED")), "{args:?}");
    }
    let output = user.ctl(&["pack", "delay", "--budget", "1"]);
    assert!(ok(&output).contains("Nothing of what was found fits into 1 token"), "{}", text(&output.stdout));
    let stale = text(&user.ctl(&["search", "delay", "--fresh", "stale"]).stderr);
    assert_eq!(stale, "ctl: not compared with the tree: the last saves may be missing\n");
    let unknown = text(&user.ctl(&["symbol", "zzz"]).stderr);
    assert!(unknown.contains("`ctl search`"), "{unknown}");
    // A path from a folder of the repository, as a shell completes it there.
    user.write("repo/net/dial.go", "package net\n\nfunc Dial() int { return 1 }\n");
    let net = user.path("repo/net").display().to_string();
    for args in [&["-C", &net, "symbol", "./dial.go:3"], &["-C", &net, "symbol", "../net/dial.go:3"]] {
        assert!(ok(&user.ctl(args)).contains("net/dial.go:3"), "{args:?}");
    }
}

/// A part of a repository is asked about, and stays a part: by its path, in repositories of other version
/// controls, and by the hook of an agent, which indexes nothing elsewhere.
#[test]
fn asking_about_a_part_does_not_split_a_repository() {
    let user = User::new();
    user.write("repo/sub/use.go", "package sub\n\nfunc Use() int { return demo.Delay(3) }\n");
    for mark in [".git", ".hg", ".jj", ".svn"] {
        std::fs::create_dir(user.path("repo").join(mark)).unwrap();
        user.write(&format!("repo/{mark}/old.go"), "package old\n\nfunc Old() int { return Delay(3) }\n");
        let sub = user.path("repo/sub").display().to_string();
        let out = user.ctl(&["--repo", &sub, "callers", "Delay", "--json"]);
        let said = ok(&out);
        assert!(said.contains("client.go") && !said.contains("old.go"), "{mark}: {said}");
        assert!(text(&out.stderr).contains("is a part of the repository"), "{out:?}");
        assert!(ok(&user.ctl(&["-C", &sub, "callers", "Delay"])).contains("client.go"), "{mark}");
        let list: Value = serde_json::from_str(&ok(&user.ctl(&["workspace", "list", "--json"]))).unwrap();
        assert_eq!(list["workspaces"].as_array().unwrap().len(), 1, "{mark}: {list}");
        std::fs::remove_dir_all(user.path("repo").join(mark)).unwrap();
    }
    // Whoever wants it has a part as a repository of its own.
    std::fs::create_dir(user.path("repo/.git")).unwrap();
    let sub = user.path("repo/sub").display().to_string();
    ok(&user.ctl(&["workspace", "add", &sub]));
    let said = ok(&user.ctl(&["--repo", &sub, "search", "Delay", "--json"]));
    assert!(said.contains("use.go") && !said.contains("client.go"), "{said}");
    user.write("plain/x.py", "def zorkmid():\n    return 1\n");
    let event = serde_json::json!({"tool_input": {"pattern": "zorkmid"}, "cwd": user.path("plain")});
    let mut hook = user.command("ctl").args(["agent", "hook"]).stdin(Stdio::piped()).spawn().unwrap();
    hook.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
    hook.wait().unwrap();
    assert!(!ok(&user.ctl(&["workspace", "list"])).contains("plain"));
}

/// Git's settings of the user lead to the excludes for all repositories: through what they include, and
/// through links, as folders of settings are often kept elsewhere.
#[test]
fn excludes_of_the_user_are_found_through_settings() {
    let user = User::new();
    user.git(&["init", "-q"]);
    user.write("home/.gitconfig", "[include]\n\tpath = more\n[user]\n\tname = a # b\n");
    user.write("home/more", "[core]\n\texcludesFile = ~/rules # mine\n");
    user.write("dotfiles/rules", "*.log\n");
    std::os::unix::fs::symlink("../dotfiles/rules", user.path("home/rules")).unwrap();
    user.write("repo/a.log", "delay delay\n");
    user.write("repo/b.txt", "delay delay\n");
    let found = || ok(&user.ctl(&["search", "delay", "--json"]));
    assert!(!found().contains("a.log") && found().contains("b.txt"));
    user.write("dotfiles/rules", "*.txt\n");
    assert!(
        found().contains("a.log") && !found().contains("b.txt"),
        "the file that the link leads to is watched"
    );
}

#[test]
fn an_index_of_nothing_says_what_empties_it() {
    let user = User::new();
    std::fs::create_dir(user.path("repo/.git")).unwrap();
    user.write("repo/.gitignore", "/*\n");
    let out = user.ctl(&["search", "delay"]);
    let why = "`/*` in .gitignore:1";
    assert!(text(&out.stderr).contains(why), "{out:?}");
    assert!(ok(&user.ctl(&["status"])).contains(why));
}

#[test]
fn it_says_why_a_file_is_or_is_not_in_the_index() {
    let user = User::new();
    user.write("repo/.gitignore", "# made\n/gen/\n*.log\n");
    user.write("repo/.indexd.toml", "index.exclude = ['private*']\n");
    for path in ["gen/a.go", "sub/run.log", "private.txt", ".env", "other/.git/HEAD", "other/x.py"] {
        user.write(&format!("repo/{path}"), "x = 1\n");
    }
    user.write("repo/binary.py", "x\0y");
    user.write("repo/broken.py", "def f(:\n  pass\n\ndef g(): pass\n");
    user.write("repo/wide.py", &format!("x = '{}'\n", "w".repeat(30_000)));
    std::fs::File::create(user.path("repo/large.json")).unwrap().set_len((32 << 20) + 1).unwrap();
    user.write("repo/long.py", &"x = 1\n".repeat(750_000));
    std::os::unix::fs::symlink("retry.go", user.path("repo/link.go")).unwrap();
    let _socket = UnixListener::bind(user.path("repo/socket.go")).unwrap();
    let repo = user.path("repo").display().to_string();
    let sub = user.path("repo/sub").display().to_string();
    for (dir, path, exit, want) in [
        (&repo, "retry.go", 0, "retry.go: in the index as go"),
        (&sub, "../retry.go", 0, "retry.go: in the index as go"),
        (&repo, ".", 0, ".: a folder whose files are indexed"),
        (&repo, "broken.py", 0, "broken.py: in the index; definitions around its syntax errors"),
        (&repo, "wide.py", 0, "wide.py: found by its words, without definitions: a line is longer"),
        (&repo, "long.py", 0, "long.py: found by its words, without definitions: it is larger than 4 MiB"),
        (&repo, "large.json", 1, "large.json: known by its path alone: it is larger than 32 MiB"),
        (&repo, "binary.py", 1, "binary.py: known by its path alone: it is not text"),
        (&repo, ".env", 1, ".env: known by its path alone, and never read: its name"),
        (&repo, "gen/a.go", 1, "gen/a.go: gen: left out by `/gen/` in .gitignore:2"),
        (&sub, "run.log", 1, "sub/run.log: left out by `*.log` in .gitignore:3"),
        (&repo, "private.txt", 1, "private.txt: left out by `private*` in the setting index.exclude"),
        (&repo, "other/x.py", 1, "other/x.py: other: left out: a repository of its own"),
        (&repo, ".git/HEAD", 1, ".git/HEAD: .git: left out: what a version control keeps for itself"),
        (&repo, "link.go", 1, "link.go: left out: a symbolic link"),
        (&repo, "socket.go", 1, "socket.go: left out: neither a file nor a folder"),
        (&repo, "none.go", 1, "none.go: there is nothing of this name"),
        (&repo, "../task.txt", 1, "../task.txt: outside "),
        (&repo, "/etc/passwd", 1, "/etc/passwd: outside "),
    ] {
        let output = user.ctl(&["-C", dir, "why", path]);
        let said = text(&output.stdout);
        assert!(said.starts_with(want), "{path}: {said}{}", text(&output.stderr));
        assert_eq!(output.status.code(), Some(exit), "{path}");
    }
    let json = text(&user.ctl(&["why", "gen/a.go", "--json"]).stdout);
    let answer: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&answer["standing"], &answer["decidedBy"]), (&"ignored".into(), &"gen".into()), "{json}");
    assert_eq!(answer["rule"]["line"], 2, "{json}");
}

#[test]
fn many_lines_on_one_socket_from_any_language() {
    let user = User::new();
    ok(&user.ctl(&["index", "--wait"]));
    let mut stream = UnixStream::connect(user.socket()).unwrap();
    let cwd = user.path("repo").display().to_string();
    for id in 0..3 {
        writeln!(
            stream,
            "{}",
            serde_json::json!({"id": id, "method": "search", "params": {"cwd": cwd, "query": "delay"}})
        )
        .unwrap();
    }
    let mut ids: Vec<u64> = BufReader::new(stream)
        .lines()
        .take(3)
        .map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap())
        .map(|answer| {
            assert_eq!(answer["result"]["hits"][0]["fileRelPath"], "retry.go", "{answer}");
            answer["id"].as_u64().unwrap()
        })
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, [0, 1, 2]);
}

#[test]
fn every_json_answer_is_one_object_with_a_schema() {
    let user = User::new();
    ok(&user.ctl(&["index", "--wait"]));
    let cases: [&[&str]; 19] = [
        &["status"],
        &["version"],
        &["doctor"],
        &["config", "show"],
        &["search", "delay"],
        &["symbol", "Delay"],
        &["callers", "Delay"],
        &["impact", "retry.go:4"],
        &["graph", "Delay"],
        &["card", "Delay"],
        &["map"],
        &["pack", "delay"],
        &["daemon", "start"],
        &["workspace", "list"],
        &["index", "--wait"],
        &["pack", "delay", "--write"],
        &["index"],
        &["workspace", "add", "."],
        &["workspace", "remove", "."],
    ];
    for args in cases {
        let json = ok(&user.ctl(&[args, &["--json"]].concat()));
        assert_eq!(json.lines().count(), 1, "{args:?}");
        let value: Value = serde_json::from_str(&json).unwrap();
        assert!(value["schema"].is_string() && value["schemaVersion"].is_string(), "{args:?}: {json}");
    }
    let edges = ok(&user.ctl(&["export", "edges", "--jsonl"]));
    assert!(
        edges.lines().any(|l| l.contains("\"name\":\"Delay\"") && l.contains("\"src_symbol\":\"Get\"")),
        "{edges}"
    );
    let callers = ok(&user.ctl(&["callers", "Delay"]));
    assert!(callers.contains("[function Get, call]") && callers.contains("1 caller; "), "{callers}");
}

#[test]
fn an_imported_index_shows_what_only_its_tool_can_know() {
    use crate::imports::{CALLER, LIBRARY, index_of};
    let user = User::new();
    user.write("repo/lib.py", LIBRARY);
    user.write("repo/app.py", CALLER);
    let callers = |user: &User| ok(&user.ctl(&["callers", "work"]));
    assert!(callers(&user).contains("no callers"));
    std::fs::write(user.path("index.scip"), index_of("")).unwrap();
    let said = ok(&user.ctl(&["import", "scip", "../index.scip"]));
    assert!(
        said.starts_with("1 files by an unnamed tool: 1 uses of the tree, 0 of dependencies, 0 left out"),
        "{said}"
    );
    let by_tool = |user: &User| ok(&user.ctl(&["callers", "work", "--json"])).contains("tooling");
    assert!(callers(&user).contains("function run") && by_tool(&user), "{}", callers(&user));
    let pack: Value = serde_json::from_str(&ok(&user.ctl(&["pack", "lib.py", "--fill", "--json"]))).unwrap();
    let sections = pack["sections"].as_array().unwrap().iter();
    let mut items = sections.flat_map(|s| s["items"].as_array().unwrap());
    let run = items.find(|i| i["title"].as_str().is_some_and(|t| t.starts_with("def run"))).unwrap();
    assert_eq!(
        (&run["why"]["rule"], &run["why"]["evidence"][0]["kind"]),
        (&"call-neighbor".into(), &"tooling".into())
    );
    let status = |user: &User| ok(&user.ctl(&["status"]));
    assert!(status(&user).contains("  index of another tool over 1 files\n"), "{}", status(&user));
    user.write("repo/app.py", &format!("{CALLER}\n"));
    assert!(callers(&user).contains("no callers"), "an edited file has our links");
    let stale = "  index of another tool over 1 files, 1 of them changed since and linked without it\n";
    assert!(status(&user).contains(stale), "{}", status(&user));
    user.write("repo/app.py", CALLER);
    assert!(by_tool(&user), "the edit is undone");
    ok(&user.ctl(&["daemon", "stop"]));
    assert!(by_tool(&user), "after a restart");
    // Made in the folder above, so that its paths are below another root.
    let other = format!("file://{}", user.path("elsewhere").display());
    std::fs::write(user.path("index.scip"), index_of(&other)).unwrap();
    let json = ok(&user.ctl(&["import", "scip", "../index.scip", "--json"]));
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&json["schema"], json["nFiles"].as_u64()), (&Value::from("ImportResult"), Some(1)));
    ok(&user.ctl(&["import", "scip", "--clear"]));
    assert!(callers(&user).contains("no callers"), "taken back");
    assert!(!status(&user).contains("index of"), "{}", status(&user));
}

#[test]
fn an_import_that_means_nothing_is_refused() {
    use crate::imports::{CALLER, LIBRARY, index_of};
    let user = User::new();
    let refused = |args: &[&str], exit, code: &str, words: &str| {
        let output = user.ctl(&[&["import", "scip"], args].concat());
        check_failure(&output, exit, code);
        assert!(text(&output.stderr).contains(words), "{}", text(&output.stderr));
    };
    let index = user.path("index.scip");
    let index = index.to_str().unwrap();
    refused(&[], 2, "", "--help");
    refused(&["--clear", index], 2, "", "--help");
    refused(&["missing.scip"], 65, "POC_E_IMPORT_INVALID", "cannot be read");
    refused(&["."], 65, "POC_E_IMPORT_INVALID", "no regular file");
    refused(&["go.mod"], 65, "POC_E_IMPORT_INVALID", "not a SCIP index");
    std::fs::write(index, "").unwrap();
    refused(&[index], 65, "POC_E_IMPORT_INVALID", "no documents");
    let whole = index_of("file:///elsewhere/demo");
    std::fs::write(index, &whole[..whole.len() - 9]).unwrap();
    refused(&[index], 65, "POC_E_IMPORT_INVALID", "not a SCIP index");
    std::fs::write(index, &whole).unwrap();
    refused(&[index], 65, "POC_E_IMPORT_INVALID", "it was made for file:///elsewhere/demo");
    user.write("repo/lib.py", &format!("import os\n\n\n{LIBRARY}"));
    user.write("repo/app.py", &CALLER.replace("import importlib", "x = 1\nimport importlib"));
    refused(&[index], 65, "POC_E_IMPORT_INVALID", "other contents");
}

#[test]
fn an_exported_index_can_be_imported() {
    let user = User::new();
    let out = user.path("out.scip");
    assert_eq!(ok(&user.ctl(&["export", "scip", "--out", out.to_str().unwrap()])), "");
    let piped = user.ctl(&["export", "scip"]);
    assert!(piped.status.success());
    let bytes = std::fs::read(&out).unwrap();
    assert_eq!(piped.stdout, bytes, "a file and a pipe get the same");
    let index = indexd_scip::read(&bytes).unwrap();
    assert_eq!(
        index.documents.iter().map(|d| &*d.path).collect::<Vec<_>>(),
        ["client.go", "go.mod", "retry.go"]
    );
    assert!(index.project_root.ends_with("/repo"));
    assert!(ok(&user.ctl(&["import", "scip", out.to_str().unwrap()])).contains(" by indexd "));
    assert!(ok(&user.ctl(&["callers", "Delay", "--json"])).contains("tooling"));
    check_failure(&user.ctl(&["export", "scip", "--out", "/nowhere/x"]), 73, "POC_E_CANNOT_CREATE");
}

#[test]
fn completions_are_scripts_and_manuals_are_pages() {
    let user = User::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(ok(&user.ctl(&["completions", shell])).contains("ctl"), "{shell}");
    }
    assert!(ok(&user.ctl(&["man"])).contains(".TH ctl 1"));
    ok(&user.ctl(&["man", "--out", "../man"]));
    let page = std::fs::read_to_string(user.path("man/ctl-pack.1")).unwrap();
    assert!(page.contains("POC_E_WORKSPACE_INVALID"), "{page}");
    check_failure(&user.ctl(&["man", "--out", "/dev/null/x"]), 73, "POC_E_CANNOT_CREATE");
    let version = ok(&user.command("indexd").args(["--version", "--json"]).output().unwrap());
    assert_eq!(serde_json::from_str::<Value>(&version).unwrap()["name"], "indexd");
}

/// The client of PROTOCOL.md as printed there. Machines without Python have nothing to run it with.
#[test]
fn the_documented_python_client_works() {
    let text = include_str!("../../proto/PROTOCOL.md");
    let code = text.split("```python\n").nth(1).and_then(|t| t.split("```").next()).unwrap();
    assert!(code.lines().count() <= 25);
    if Command::new("python3").arg("--version").output().is_err() {
        return;
    }
    let user = User::new();
    ok(&user.ctl(&["index", "--wait"]));
    user.write("client.py", code);
    let mut python = Command::new("python3");
    python
        .arg(user.path("client.py"))
        .arg("delay")
        .env("XDG_RUNTIME_DIR", user.path("run"))
        .current_dir(user.path("repo"));
    assert!(ok(&python.output().unwrap()).starts_with("retry.go:3"), "the hit comes first");
}

/// Every code the daemon can answer with becomes its exit status, whatever made it.
#[test]
fn exit_statuses_are_those_of_the_codes() {
    use indexd_proto::error::{ErrorCode, ErrorObject};
    let user = User::new();
    let mut seen = std::collections::BTreeSet::new();
    // A daemon that is ending or gone is waited for instead.
    let codes = ErrorCode::ALL
        .iter()
        .filter(|c| !matches!(c, ErrorCode::ShuttingDown | ErrorCode::DaemonUnavailable));
    for code in codes {
        let hello = serde_json::json!({"result": {"protocol": 1, "supported": {"min": 1, "max": 1},
            "server": {"name": "indexd", "version": env!("CARGO_PKG_VERSION")}, "methods": [], "capabilities": [], "pid": 1}});
        let daemon =
            impostor(&user, hello, serde_json::to_value(ErrorObject::new(*code, "as told")).unwrap());
        check_failure(&user.ctl(&["status"]), i32::from(code.exit()), code.name());
        daemon.join().unwrap();
        std::fs::remove_file(user.socket()).unwrap();
        seen.insert(code.exit());
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [1, 2, 65, 66, 69, 70, 73, 74, 75, 77, 78, 130]);
}

/// What a person or an agent wants to know of a name, in a few hundred tokens.
#[test]
fn a_card_says_what_a_definition_is_and_who_knows_it() {
    let user = User::new();
    user.write(
        "repo/retry_test.go",
        "package demo\n\nimport \"testing\"\n\nfunc TestDelay(t *testing.T) { Delay(1) }\n",
    );
    let many: String =
        (0..80).map(|i| format!("func CallerNumber{i}() int {{ return Delay({i}) }}\n")).collect();
    user.write("repo/many.go", &format!("package demo\n\n{many}"));
    let card = ok(&user.ctl(&["card", "Delay"]));
    for part in [
        "function Delay  retry.go:3-4\nfunc Delay(n int) int\nDelay decides how long to wait.\n",
        "callers 81:\n  Get  client.go:3\n",
        "calls 0\n",
        "tests 1:\n  TestDelay  retry_test.go:5\n",
    ] {
        assert!(card.contains(part), "{part:?} is not in {card}");
    }
    let file = ok(&user.ctl(&["card", "retry.go"]));
    for part in
        ["used by 81:\n", "definitions 1:\n  Delay  retry.go:4\n", "tests 1:\n  TestDelay  retry_test.go:5\n"]
    {
        assert!(file.contains(part), "{part:?} is not in {file}");
    }
    let counter = indexd_text::counter("o200k_base", &Default::default()).unwrap();
    for max in [100, 400, 2000] {
        let json = ok(&user.ctl(&["card", "Delay", "--max-tokens", &max.to_string(), "--json"]));
        let card: Value = serde_json::from_str(&json).unwrap();
        let counted = indexd_text::TokenCounter::count_tokens(&*counter, card["text"].as_str().unwrap());
        assert!(counted <= max && card["tokens"] == counted, "{max}: {card}");
        assert_eq!(card["callers"]["n"], 81);
    }
    let hits = ok(&user.ctl(&["search", "how long to wait", "--neighbors"]));
    assert!(
        hits.contains("called by Get client.go:3, ") && hits.contains("(+78) · tests TestDelay"),
        "{hits}"
    );
}

#[test]
fn typos_meet_the_nearest_name_path_and_command() {
    let user = User::new();
    for (line, near) in [
        (["symbol", "Dealy"], "did you mean Delay?"),
        (["card", "delya"], "did you mean Delay?"),
        (["callers", "Client.Get"], "did you mean Get?"),
        (["callers", "retyr.go:3"], "did you mean retry.go:3?"),
        (["impact", "clinet.go"], "did you mean client.go?"),
    ] {
        let output = user.ctl(&line);
        check_failure(&output, 66, "POC_E_SYMBOL_NOT_FOUND");
        assert!(text(&output.stderr).contains(near), "{line:?}: {}", text(&output.stderr));
    }
    assert!(text(&user.ctl(&["calers", "x"]).stderr).contains("callers"));
}

#[test]
fn a_pack_of_a_name_shows_what_it_calls_without_types_and_the_tests_that_call_it() {
    let user = User::new();
    let methods: String = (0..80).map(|i| format!("  side{i}() {{\n    return {i};\n  }}\n")).collect();
    user.write("repo/box.js", &format!("export class Box {{\n{methods}}}\n"));
    user.write(
        "repo/angles.js",
        "import { Box } from './box';\nexport function angles() {\n  const box = new Box();\n  \
         return box.side7() + box.side40();\n}\n",
    );
    let test = "import { angles } from './angles';\nfunction sharp() {\n  check(angles(), 90);\n}\n\
                function blunt() {\n  check(angles(), 120);\n}\n";
    user.write("repo/angles.test.js", test);
    let pack = ok(&user.ctl(&["pack", "angles"]));
    for part in ["side7() {", "side40() {", "check(angles(), 90)", "check(angles(), 120)"] {
        assert!(pack.contains(part), "{part:?} is not in {pack}");
    }
}

#[test]
fn callers_through_an_interface_are_told_of() {
    let user = User::new();
    user.write(
        "repo/lease.go",
        "package demo\n\ntype Lessor interface {\n\tGrant(n int) int\n}\n\ntype lessor struct{}\n\n\
         func (l *lessor) Grant(n int) int { return n }\n\nfunc Use(l Lessor) int { return l.Grant(1) }\n\n\
         func Again(l Lessor) int { return l.Grant(2) }\n",
    );
    let told = ok(&user.ctl(&["callers", "lessor.Grant"]));
    assert!(told.contains("may be called through interface Lessor  lease.go:4 (2 callers there)"), "{told}");
    let marked = "[function Use, call through what it implements or overrides";
    assert!(told.lines().any(|l| l.starts_with("lease.go:11: func Use") && l.contains(marked)), "{told}");
    assert!(!ok(&user.ctl(&["callers", "Delay"])).contains("through interface"));
    let told = ok(&user.ctl(&["impact", "lessor.Grant"]));
    assert!(told.contains("may be called through interface Lessor  lease.go:4 (2 callers there)"), "{told}");
    let told = ok(&user.ctl(&["refs", "lessor.Grant"]));
    assert!(told.contains("may be called through interface Lessor  lease.go:4 (2 callers there)"), "{told}");
    // Of a file they are told apart by what they call.
    let of_file = ok(&user.ctl(&["callers", "retry.go"]));
    assert!(of_file.contains("  [function Get, call, of Delay"), "{of_file}");
    assert!(ok(&user.ctl(&["callers", "Delay"])).contains("  [function Get, call]\n"));
    user.write("repo/m.c", "int helper(int x) { return x; }\n#define CALL(x) helper(x)\n");
    let of_macro = ok(&user.ctl(&["callers", "helper"]));
    assert!(of_macro.contains("[macro CALL, in the text of a macro]"), "{of_macro}");
    // A declaration in a header includes the function that it announces, in the nearest folder.
    user.write("repo/m.h", "int helper(int x);\n");
    user.write("repo/other/m.c", "int helper(int x) { return 0; }\nint one(void) { return helper(1); }\n");
    let announced = ok(&user.ctl(&["callers", "m.h:1"]));
    assert!(announced.contains("[macro CALL, in the text of a macro"), "{announced}");
    assert!(!announced.contains("other/m.c"), "{announced}");
    // Where both are asked about, a call is shown once.
    let both = ok(&user.ctl(&["callers", "Grant"]));
    assert_eq!(both.lines().filter(|l| l.starts_with("lease.go:11:")).count(), 1, "{both}");
    assert!(both.contains("\n2 callers"), "{both}");
}

/// A few of many definitions are listed above their uses, code before sections of data.
#[test]
fn the_most_used_definitions_of_a_name_are_heads() {
    let user = User::new();
    let classes: String =
        (0..7).map(|i| format!("class C{i}:\n    def tag(self): return self.tag()\n\n\n")).collect();
    user.write("repo/tags.py", &classes);
    user.write("repo/a.json", "{\"tag\": 1}\n");
    let told = ok(&user.ctl(&["refs", "tag"]));
    let heads: Vec<&str> = told.lines().take_while(|l| l.starts_with("refs of ")).collect();
    assert_eq!(heads.len(), 5, "{told}");
    assert!(heads.iter().all(|l| l.contains("tags.py:")), "{told}");
    assert!(told.contains("and of 3 more definitions of the name: ask as Class.name or path:line"), "{told}");
}

#[test]
fn alone_it_says_what_is_indexed_and_what_to_ask_next() {
    let user = User::new();
    let outside = user.ctl(&[]);
    assert_eq!(outside.status.code(), Some(2), "no repository: the help");
    assert!(text(&outside.stderr).contains("Usage: ctl") && outside.stdout.is_empty());
    user.write("repo/.git/HEAD", "ref: refs/heads/main\n");
    let fresh = ok(&user.ctl(&[]));
    assert!(fresh.contains("repo  not asked about yet") && fresh.contains("ctl pack where"), "{fresh}");
    ok(&user.ctl(&["index", "--wait"]));
    let known = ok(&user.ctl(&[]));
    assert!(known.contains("ready, 3 files, index "), "{known}");
    let json: Value = serde_json::from_str(&ok(&user.ctl(&["--json"]))).unwrap();
    assert_eq!((&json["schema"], &json["workspace"]["state"]), (&"Here".into(), &"ready".into()));
}
