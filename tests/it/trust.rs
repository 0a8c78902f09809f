//! What a wrong request, a damaged file, a hostile object or a crowd may not do: make the daemon take a sound
//! index for damaged, keep a damaged one, fail for good, or take more than it was given.

use crate::support::{Bench, dump_of_fresh_build, fresh_build, git, sharing};
use crate::user::User;
use indexd::workspace::indexing::stages::Stage;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

fn status(user: &User) -> Value {
    serde_json::from_slice(&user.ctl(&["status", "--json"]).stdout).unwrap()
}

fn problems(user: &User) -> String {
    status(user)["workspaces"][0]["problems"].to_string()
}

/// The data files of the environments in use.
fn data_files(user: &User) -> Vec<PathBuf> {
    let homes = fs::read_dir(user.path("cache/indexd/v1")).unwrap().flatten();
    let envs = homes.flat_map(|home| fs::read_dir(home.path()).unwrap().flatten());
    envs.map(|env| env.path().join("data.mdb")).filter(|data| data.exists()).collect()
}

/// What names nothing, in every command that takes a name, is refused, and nothing is rebuilt.
#[test]
fn names_that_name_nothing_leave_the_index_alone() {
    let user = User::new();
    assert!(user.ctl(&["index", "--wait"]).status.success());
    let before = status(&user)["workspaces"][0]["generation"].clone();
    user.write("odd.patch", "--- a/\n+++ b/\n@@ -1 +1 @@\n-x\n+y\n");
    let root = user.path("repo").display().to_string();
    let line = format!("{root}:1");
    let long = "x".repeat(600);
    for name in [".", "", "./", ":", "/", "..", " ", ":0", ".:1", &root, &line, &long, "\u{1}"] {
        for command in ["symbol", "callers", "refs", "impact", "card", "graph"] {
            let out = user.ctl(&[command, name]);
            let code = out.status.code().unwrap();
            let said = String::from_utf8_lossy(&out.stderr).into_owned();
            assert!(matches!(code, 0 | 2 | 66), "{command} {name:?}: {code} {said}");
        }
        let code = user.ctl(&["pack", "--focus-file", name]).status.code().unwrap();
        assert!(matches!(code, 0 | 2 | 66), "pack --focus-file {name:?}: {code}");
    }
    let code = user.ctl(&["pack", "--patch", "../odd.patch"]).status.code().unwrap();
    assert!(matches!(code, 0 | 2 | 65 | 66), "a patch without paths: {code}");
    assert!(!problems(&user).contains("anew"), "{}", problems(&user));
    assert_eq!(status(&user)["workspaces"][0]["generation"], before);
    assert!(user.ctl(&["symbol", "Delay"]).status.success());
}

/// What is damaged while the index is open, and was not read since, is not signed when it is closed.
#[test]
fn damage_while_an_index_is_open_is_found_by_an_export_or_when_it_is_closed() {
    for is_exported in [true, false] {
        let user = User::new();
        for i in 0..40 {
            let text = format!("package demo\n\nfunc F{i}() int {{ return F{}() + Delay({i}) }}\n", i / 2);
            user.write(&format!("repo/f{i}.go"), &text);
        }
        assert!(user.ctl(&["index", "--wait"]).status.success());
        user.write("repo/f1.go", "package demo\n\nfunc F1() int { return 1 }\n");
        assert!(user.ctl(&["symbol", "F1"]).status.success());
        let [data] = &data_files(&user)[..] else { panic!("one index") };
        let file = fs::OpenOptions::new().write(true).open(data).unwrap();
        let modified = file.metadata().unwrap().modified().unwrap();
        let bytes = fs::read(data).unwrap();
        // Texts and facts, which are stored compressed.
        let frames = bytes.windows(4).enumerate().filter(|(_, w)| *w == [0x28, 0xb5, 0x2f, 0xfd]);
        let places: Vec<usize> = frames.map(|(at, _)| at).collect();
        assert!(places.len() > 20);
        places.iter().for_each(|at| file.write_all_at(&[0; 8], *at as u64 + 6).unwrap());
        // As a disk would do it: nobody wrote to the file.
        file.set_modified(modified).unwrap();
        if is_exported {
            assert!(!user.ctl(&["export", "dump"]).status.success());
            let until = Instant::now() + Duration::from_secs(20);
            while !user.ctl(&["export", "dump"]).status.success() {
                assert!(Instant::now() < until, "the damage stays");
            }
            assert!(problems(&user).contains("anew"), "{}", problems(&user));
        }
        assert!(user.ctl(&["daemon", "stop"]).status.success());
        let dump = user.ctl(&["export", "dump"]);
        assert!(dump.status.success(), "{}", String::from_utf8_lossy(&dump.stderr));
        assert!(
            String::from_utf8(dump.stdout).unwrap() == dump_of_fresh_build(&user.path("repo")),
            "{is_exported}"
        );
    }
}

/// A list of workspaces that is not a list any more keeps no daemon from starting.
#[test]
fn a_damaged_list_of_workspaces_costs_what_is_damaged() {
    let user = User::new();
    assert!(user.ctl(&["index", "--wait"]).status.success());
    let list = user.path("state/indexd/workspaces");
    let whole = fs::read(&list).unwrap();
    // A path that was cut is a folder above the repository.
    let at = whole.iter().position(|b| *b == b'\n').unwrap();
    let parent = whole[..at].iter().rposition(|b| *b == b'/').unwrap();
    let damages: [&dyn Fn(); 5] = [
        &|| fs::write(&list, &whole[..parent]).unwrap(),
        &|| fs::write(&list, [&b"/a\xff\n"[..], &whole].concat()).unwrap(),
        &|| fs::write(&list, [0xff, 0, 0x80, b'\n', 0]).unwrap(),
        &|| fs::write(&list, "").unwrap(),
        &|| {
            fs::remove_file(&list).unwrap();
            fs::create_dir(&list).unwrap();
        },
    ];
    for (i, damage) in damages.iter().enumerate() {
        assert!(user.ctl(&["daemon", "stop"]).status.success());
        damage();
        let out = user.ctl(&["symbol", "Delay"]);
        assert!(out.status.success(), "damage {i}: {}", String::from_utf8_lossy(&out.stderr));
        let roots: Vec<Value> = status(&user)["workspaces"].as_array().unwrap().clone();
        let root = fs::canonicalize(user.path("repo")).unwrap().display().to_string();
        assert!(roots.iter().all(|w| w["root"] == root) && roots.len() == 1, "damage {i}: {roots:?}");
        assert!(fs::read(&list).unwrap().starts_with(b"/"), "damage {i}: the list is written again");
    }
}

/// Whatever lies in the place of a file of an index, or does not, the next request is answered.
#[test]
fn what_is_moved_or_replaced_in_an_index_folder_is_made_anew() {
    let user = User::new();
    for name in ["i1/data.mdb", "i1/state", "i1/lock.mdb", "i1", "current", "sketch", "openings", ""] {
        for (is_folder, is_open) in [(true, false), (false, false), (true, true), (false, true)] {
            assert!(user.ctl(&["symbol", "Delay"]).status.success(), "before {name}");
            // Opening an index mends its small files.
            assert!(user.ctl(&["daemon", "stop"]).status.success());
            assert!(user.ctl(&["symbol", "Delay"]).status.success(), "before {name}, opened");
            if !is_open {
                assert!(user.ctl(&["daemon", "stop"]).status.success());
            }
            let home = fs::read_dir(user.path("cache/indexd/v1")).unwrap().next().unwrap().unwrap().path();
            let env = fs::read_to_string(home.join("current")).unwrap();
            let path = match name {
                "" => home,
                name => home.join(name.replace("i1", env.lines().next().unwrap())),
            };
            let _ = fs::remove_dir_all(&path).or_else(|_| fs::remove_file(&path));
            if is_folder {
                fs::create_dir_all(path.join("x")).unwrap();
            } else if !name.ends_with("mdb") {
                fs::write(&path, "x").unwrap();
            }
            let until = Instant::now() + Duration::from_secs(20);
            while !user.ctl(&["symbol", "Delay"]).status.success() {
                assert!(Instant::now() < until, "{name:?}, a folder: {is_folder}, open: {is_open}");
            }
        }
    }
}

fn tree(root: &Path, n: usize) {
    for i in 0..n {
        let at = root.join(format!("p{i}/f.go"));
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        fs::write(at, format!("package p{i}\n\nfunc F{i}() int {{ return {i} }}\n")).unwrap();
    }
    fs::write(root.join("go.mod"), "module m\n").unwrap();
}

fn extracted(bench: &Bench) -> usize {
    bench.log().take().iter().filter(|(stage, _)| *stage == Stage::Extract).count()
}

/// A parked index is built from the tree when what it was told from is gone or is something else.
#[test]
fn a_parked_index_without_its_base_is_built_from_the_tree() {
    for is_folder in [true, false] {
        let tmp = tempfile::tempdir().unwrap();
        let (cache, shared) = (tmp.path().join("cache"), sharing(tmp.path()));
        let roots = ["one", "two"].map(|name| tmp.path().join(name));
        for root in &roots {
            tree(root, 100);
            // What was written a moment ago may be written again unseen, and counts as changed.
            std::thread::sleep(Duration::from_millis(50));
            let mut bench = Bench::beside(&cache, root, &shared);
            bench.build();
            bench.close();
        }
        // The first one is parked when it closes with another one beside it.
        Bench::beside(&cache, &roots[0], &shared).close();
        let bases = fs::read_dir(tmp.path().join("bases")).unwrap().flatten();
        let data: Vec<PathBuf> = bases.map(|base| base.path().join("data.mdb")).collect();
        assert_eq!(data.len(), 1);
        fs::remove_file(&data[0]).unwrap();
        if is_folder {
            fs::create_dir(&data[0]).unwrap();
        }
        for root in &roots {
            let mut bench = Bench::beside(&cache, root, &shared);
            bench.build();
            assert_eq!(bench.dump(), dump_of_fresh_build(root));
        }
    }
}

/// What failed as a copy is not copied again.
#[test]
fn an_index_that_was_damaged_is_built_from_the_tree() {
    let tmp = tempfile::tempdir().unwrap();
    let (cache, shared) = (tmp.path().join("cache"), sharing(tmp.path()));
    let [one, two] = ["one", "two"].map(|name| tmp.path().join(name));
    tree(&one, 100);
    tree(&two, 100);
    std::thread::sleep(Duration::from_millis(50));
    let mut first = Bench::beside(&cache, &one, &shared);
    first.build();
    let mut second = Bench::beside(&cache, &two, &shared);
    second.log().start();
    second.build();
    assert_eq!(extracted(&second), 0, "a copy");
    second.discard();
    second.log().start();
    second.build();
    assert_eq!(extracted(&second), 101, "the tree");
    assert_eq!(second.dump(), dump_of_fresh_build(&two));
}

/// Equal trees and heads may have other commits behind them.
#[test]
fn the_history_of_a_copied_index_is_that_of_its_own_repository() {
    let tmp = tempfile::tempdir().unwrap();
    let (cache, shared) = (tmp.path().join("cache"), sharing(tmp.path()));
    let [whole, shallow] = ["whole", "shallow"].map(|name| tmp.path().join(name));
    tree(&whole, 100);
    git(&whole, &["init", "-q"]);
    for i in 0..3 {
        fs::write(whole.join("p1/f.go"), format!("package p1\n\nfunc F1() int {{ return {i} }}\n")).unwrap();
        git(&whole, &["add", "."]);
        git(&whole, &["commit", "-q", "-m", &format!("retry number {i}")]);
    }
    let url = format!("file://{}", whole.display());
    git(tmp.path(), &["clone", "-q", "--depth", "1", &url, "shallow"]);
    let mut first = Bench::beside(&cache, &whole, &shared);
    first.build();
    let mut second = Bench::beside(&cache, &shallow, &shared);
    second.build();
    assert_eq!(second.dump(), dump_of_fresh_build(&shallow), "a shallow clone");
    assert_ne!(second.snapshot().history_digest(), first.snapshot().history_digest());
    // The same HEAD with more commits behind it, found while the index is open and when it is opened.
    git(&shallow, &["fetch", "-q", "--depth", "2"]);
    second.update(&[]);
    assert_eq!(second.dump(), dump_of_fresh_build(&shallow), "deepened");
    second.close();
    git(&shallow, &["fetch", "-q", "--unshallow"]);
    let mut second = Bench::beside(&cache, &shallow, &shared);
    second.update(&[]);
    assert_eq!(second.dump(), dump_of_fresh_build(&shallow), "whole");
    // And a copy whose own repository has no commits at all.
    let none = tmp.path().join("none");
    tree(&none, 100);
    let mut third = Bench::beside(&cache, &none, &shared);
    third.build();
    assert_eq!(third.dump(), dump_of_fresh_build(&none));
}

/// Names of which two descriptors differ in one letter, each there several times.
#[test]
fn names_that_are_there_several_times_keep_their_places() {
    let lua = "a[i] = 1\na[i] = 2\na[i] = {}\na[k] = 3\n";
    let python = "def fooA(): pass\ndef fooA(): pass\ndef fooA(): pass\ndef fooC(): pass\n";
    for (path, text, comment) in [("f.lua", lua, "-- x\n"), ("f.py", python, "# x\n")] {
        let mut bench = Bench::new();
        bench.write(path, text);
        bench.build();
        for edit in
            [format!("{text}{comment}"), text.lines().rev().collect::<Vec<_>>().join("\n"), text.to_owned()]
        {
            bench.write(path, &edit);
            bench.update(&[path.to_owned()]);
            assert_eq!(bench.dump(), fresh_build(bench.root()).dump(), "{edit}");
        }
    }
}

/// An object of git in a stored block of zlib, which says that it has so many bytes.
fn object(kind: &str, claimed: u64, content: &[u8]) -> Vec<u8> {
    let raw = [format!("{kind} {claimed}\0").as_bytes(), content].concat();
    let len = u16::try_from(raw.len()).unwrap();
    let (mut a, mut b) = (1_u32, 0_u32);
    for byte in &raw {
        a = (a + u32::from(*byte)) % 65_521;
        b = (b + a) % 65_521;
    }
    let mut out = vec![0x78, 0x01, 0x01];
    out.extend_from_slice(&len.to_le_bytes());
    out.extend_from_slice(&(!len).to_le_bytes());
    out.extend_from_slice(&raw);
    out.extend_from_slice(&(b << 16 | a).to_be_bytes());
    out
}

/// An object that says it is large takes no memory, whether it is a file, a folder or a commit.
#[cfg(target_os = "linux")]
#[test]
fn sizes_that_objects_of_git_claim_are_not_believed() {
    for kind in ["blob", "tree", "commit"] {
        let user = User::new();
        user.git(&["init", "-q"]);
        for i in 0..3 {
            user.write("repo/retry.go", &format!("package demo\n\nfunc Delay(n int) int {{ return {i} }}\n"));
            user.git(&["add", "."]);
            user.git(&["commit", "-q", "-m", "x"]);
        }
        let name = ["HEAD~1:retry.go", "HEAD~1^{tree}", "HEAD~1"]
            [["blob", "tree", "commit"].iter().position(|k| *k == kind).unwrap()];
        let id =
            Command::new("git").args(["rev-parse", name]).current_dir(user.path("repo")).output().unwrap();
        let id = String::from_utf8(id.stdout).unwrap();
        let (folder, file) = id.trim().split_at(2);
        let path = user.path("repo/.git/objects").join(folder).join(file);
        fs::remove_file(&path).unwrap();
        fs::write(&path, object(kind, 1_500_000_000, b"x")).unwrap();
        assert!(user.ctl(&["pack", "where is the delay"]).status.success());
        let pid = user.pid().unwrap();
        let said = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let peak = said.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let peak_kb: u64 = peak.trim().trim_end_matches(" kB").trim().parse().unwrap();
        assert!(peak_kb < 400 << 10, "{kind}: {peak_kb} kB");
    }
}

/// More clients than there are connections, and more exports than are made at once: all are answered.
#[test]
fn a_crowd_is_answered_one_after_the_other() {
    let user = User::new();
    assert!(user.ctl(&["index", "--wait"]).status.success());
    for args in [&["search", "delay"][..], &["export", "dump"]] {
        let clients: Vec<_> = (0..150)
            .map(|_| user.command("ctl").args(args).stdout(std::process::Stdio::null()).spawn().unwrap())
            .collect();
        let codes: Vec<_> = clients.into_iter().map(|mut client| client.wait().unwrap().code()).collect();
        assert!(codes.iter().all(|code| *code == Some(0)), "{args:?}: {codes:?}");
    }
    assert_eq!(status(&user)["daemon"]["requests"]["cancelled"], 0);
}

/// One connection to the daemon.
struct Wire(BufReader<UnixStream>);

impl Wire {
    fn new(user: &User) -> Self {
        let stream = UnixStream::connect(user.socket()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Self(BufReader::new(stream))
    }

    fn send(&mut self, id: u32, method: &str, params: &Value) {
        let line = serde_json::json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.0.get_mut().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// The next answer.
    fn receive(&mut self) -> Value {
        loop {
            let mut line = String::new();
            self.0.read_line(&mut line).expect("an answer in time");
            let message: Value = serde_json::from_str(&line).unwrap();
            if message["id"].is_number() {
                return message;
            }
        }
    }
}

/// Exports wait for slow readers in files that are gone from their folder already.
#[cfg(target_os = "linux")]
#[test]
fn exports_that_nobody_reads_wait_on_the_disk() {
    let user = User::new();
    for n in 0..12 {
        let texts: String =
            (0..1000).map(|i| format!("func F{n}x{i}(a int) int {{ return a + {i} }}\n")).collect();
        user.write(&format!("repo/big{n}.go"), &format!("package demo\n\n{texts}"));
    }
    assert!(user.ctl(&["index", "--wait"]).status.success());
    let one = user.ctl(&["export", "dump"]).stdout.len() as u64;
    let params = serde_json::json!({"repo": user.path("repo")});
    let mut readers = Vec::new();
    while readers.len() < 10 {
        let mut wire = Wire::new(&user);
        wire.send(1, "export.dump", &params);
        let mut line = String::new();
        wire.0.read_line(&mut line).unwrap();
        // One is made at a time; the others come back.
        match line.contains("$/chunk") {
            true => readers.push(wire),
            false => std::thread::sleep(Duration::from_millis(100)),
        }
    }
    let asked = Instant::now();
    assert!(user.ctl(&["search", "delay"]).status.success());
    assert!(asked.elapsed() < Duration::from_secs(20), "a search waited for {:?}", asked.elapsed());
    let fds = fs::read_dir(format!("/proc/{}/fd", user.pid().unwrap())).unwrap();
    let waiting = fds.filter(|fd| {
        let fd = fd.as_ref().unwrap().path();
        let name = fs::read_link(&fd).unwrap_or_default().to_string_lossy().into_owned();
        name.ends_with("(deleted)") && fs::metadata(&fd).unwrap().len() == one
    });
    assert_eq!(waiting.count(), readers.len(), "exports of {one} bytes");
}

/// Packings that wait for their sources hold no place that others need, least of all those that bring them.
#[test]
fn packings_that_wait_for_sources_keep_nobody_waiting() {
    let user = User::new();
    assert!(user.ctl(&["index", "--wait"]).status.success());
    let repo = user.path("repo").display().to_string();
    let mut waiting: Vec<Wire> = (0..6).map(|_| Wire::new(&user)).collect();
    for (c, wire) in (0_u32..).zip(&mut waiting) {
        for i in 0..8 {
            let source = serde_json::json!({"sourceType": "toolResult", "handle": format!("h{c}-{i}"), "timeoutMs": 15_000});
            wire.send(i, "context.pack", &serde_json::json!({"repo": repo, "sources": [source]}));
        }
    }
    std::thread::sleep(Duration::from_millis(500));
    let asked = Instant::now();
    assert!(user.ctl(&["search", "delay"]).status.success());
    assert!(asked.elapsed() < Duration::from_secs(5), "a search waited for {:?}", asked.elapsed());
    // Over the very connections that wait.
    for (c, wire) in (0_u32..).zip(&mut waiting) {
        for i in 0..8 {
            let offer =
                serde_json::json!({"handle": format!("h{c}-{i}"), "content": "it waits for the delay"});
            wire.send(100 + i, "context.offer", &offer);
        }
        let answers: Vec<Value> = (0..16).map(|_| wire.receive()).collect();
        let wrong: Vec<&Value> = answers.iter().filter(|a| a["error"].is_object()).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
    assert!(asked.elapsed() < Duration::from_secs(14), "nothing waited for its time limit");
}

/// A folder that does not look like a project is indexed when it is named, and not before.
#[test]
fn a_folder_that_is_no_project_is_not_indexed_unasked() {
    let user = User::new();
    user.write("plain/notes.txt", "the delay of a retry\n");
    let plain = user.path("plain").display().to_string();
    for command in [&["pack", "delay"][..], &["search", "delay"], &["map"], &["callers", "Delay"]] {
        let out = user.ctl(&[&["-C", &plain], command].concat());
        let said = String::from_utf8(out.stderr).unwrap();
        assert_eq!(out.status.code(), Some(66), "{command:?}: {said}");
        assert!(
            said.contains("ctl workspace add") && said.contains("does not look like a project"),
            "{said}"
        );
    }
    assert_eq!(status(&user)["workspaces"].as_array().unwrap().len(), 0);
    assert!(user.ctl(&["-C", &plain, "index", "--wait"]).status.success());
    assert!(user.ctl(&["-C", &plain, "search", "delay"]).status.success());
    user.write("other/notes.txt", "the delay of a retry\n");
    let other = user.path("other").display().to_string();
    assert!(user.ctl(&["workspace", "add", &other]).status.success());
    assert!(user.ctl(&["-C", &other, "search", "delay"]).status.success());
}

/// A manifest with very many entries costs no more than a bounded number of searches through its text.
#[test]
fn a_manifest_of_very_many_scripts_is_mapped_in_time() {
    let user = User::new();
    let scripts: String = (0..100_000).map(|i| format!("s{i} = \"m:f{i}\"\n")).collect();
    user.write("repo/pyproject.toml", &format!("[project]\nname = \"x\"\n[project.scripts]\n{scripts}"));
    assert!(user.ctl(&["index", "--wait"]).status.success());
    let asked = Instant::now();
    let out = user.ctl(&["map"]);
    assert!(String::from_utf8_lossy(&out.stdout).contains("console script `s0` = m:f0"));
    assert!(asked.elapsed() < Duration::from_secs(20), "{:?}", asked.elapsed());
}
