//! Published indexes: what another machine begins with is the index of its own tree, and nothing that is
//! wrong with a store costs more than a first build.

use crate::support::{dump_of_fresh_build, first_difference, git, number};
use crate::user::{User, copy_program, ok, text, until};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Files of the tree.
const FILES: usize = 150;

/// A repository of enough files to be worth fetching, with commits.
fn tree(user: &User) {
    for i in 0..FILES {
        user.write(&format!("repo/p{i}/f.go"), &file(i, ""));
    }
    user.git(&["init", "-q", "-b", "main"]);
    user.git(&["remote", "add", "origin", "https://example.org/team/demo.git"]);
    commit(user, "one");
}

fn file(i: usize, more: &str) -> String {
    let to = i / 2;
    let words: Vec<String> = (0..60).map(|n| format!("// word{} of file {i}{more}", n * i % 97)).collect();
    let head = format!("package p{i}\n\nimport \"example.com/demo/p{to}\"\n\n");
    format!("{head}{}\nfunc F{i}() int {{ return p{to}.F{to}() + {i} }}\n", words.join("\n"))
}

fn commit(user: &User, message: &str) {
    user.git(&["add", "-A"]);
    user.git(&["commit", "-q", "-m", message]);
}

/// Another user whose repository is a clone with its own changes.
fn colleague(of: &User) -> User {
    let user = User::new();
    fs::remove_dir_all(user.path("repo")).unwrap();
    git(user.dir.path(), &["clone", "-q", &of.path("repo").display().to_string(), "repo"]);
    user.git(&["remote", "set-url", "origin", "git@example.org:team/demo"]);
    user
}

fn url(folder: &Path) -> String {
    format!("file://{}", folder.display())
}

fn configure(user: &User, settings: &str) {
    user.write("config/indexd/config.toml", settings);
}

fn json(output: &Output) -> Value {
    serde_json::from_str(&ok(output)).unwrap()
}

fn share(user: &User, args: &[&str]) -> Output {
    let all: Vec<&str> = ["share"].iter().chain(args).chain(&["--json"]).copied().collect();
    user.ctl(&all)
}

/// The dump of a user's index, which must be that of a first build of the tree.
fn check_index(user: &User) {
    let dump = ok(&user.ctl(&["export", "dump"]));
    let fresh = dump_of_fresh_build(&user.path("repo").canonicalize().unwrap());
    assert!(dump == fresh, "{}", first_difference(&dump, &fresh));
}

fn objects(folder: &Path, kind: &str) -> BTreeMap<PathBuf, u64> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let (path, meta) = (entry.path(), entry.metadata().unwrap());
            if meta.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().contains(&format!("/{kind}/")) {
                found.insert(path, meta.len());
            }
        }
    }
    found
}

#[test]
fn an_index_that_begins_with_a_published_one_is_that_of_its_tree() {
    let (one, store) = (User::new(), tempfile::tempdir().unwrap());
    tree(&one);
    let pushed = json(&share(&one, &["push", &url(store.path())]));
    assert_eq!(pushed["hasBase"], false);
    let two = colleague(&one);
    // Three files changed, one new, one gone, and commits that are not published.
    for i in [3, 70, 140] {
        two.write(&format!("repo/p{i}/f.go"), &file(i, " here"));
    }
    two.write("repo/new/f.go", "package new\n\nfunc New() int { return 1 }\n");
    fs::remove_file(two.path("repo/p149/f.go")).unwrap();
    commit(&two, "mine");
    two.write("repo/p9/f.go", &file(9, " not committed"));
    let pulled = json(&share(&two, &["pull", &url(store.path())]));
    assert_eq!((&pulled["begun"], &pulled["by"]), (&true.into(), &"commit".into()), "{pulled}");
    assert_eq!(pulled["nExtracted"], 5, "what differs: {pulled}");
    check_index(&two);
    // Everything that an answer needs is there, and saves are followed.
    let callers = ok(&two.ctl(&["callers", "F35"]));
    assert!(callers.contains("F70") && callers.contains("F71"), "{callers}");
    two.write("repo/p8/f.go", &file(8, " later"));
    check_index(&two);
    let again = json(&share(&two, &["pull", &url(store.path())]));
    assert_eq!(again["reason"], "there is an index already");
    let left = fs::read_dir(two.path("cache/indexd/share")).unwrap().count();
    assert_eq!(left, 0, "files on their way are gone");
}

#[test]
fn the_push_of_the_next_commit_sends_what_it_changed() {
    let (one, store) = (User::new(), tempfile::tempdir().unwrap());
    tree(&one);
    let first = json(&share(&one, &["push", &url(store.path())]));
    let mut before = objects(store.path(), "pieces");
    for i in 0..6 {
        one.write(&format!("repo/p{}/f.go", 7 * i), &file(7 * i, " next"));
        commit(&one, "next");
        let next = json(&share(&one, &["push", &url(store.path())]));
        assert_eq!((&next["hasBase"], &next["nLayers"]), (&true.into(), &(i + 2).into()), "{next}");
        let [put, all] = [&next, &first].map(|p| p["bytesPut"].as_u64().unwrap());
        assert!(put * 10 < all, "{put} of {all}");
        let now = objects(store.path(), "pieces");
        assert!(before.keys().all(|key| now.contains_key(key)), "nothing goes");
        before = now;
    }
    let same = json(&share(&one, &["push", &url(store.path())]));
    assert_eq!(same["nLayers"], 7, "nothing has changed: {same}");
    // All layers together are the last state.
    let two = colleague(&one);
    let pulled = json(&share(&two, &["pull", &url(store.path())]));
    assert_eq!(pulled["nExtracted"], 0, "{pulled}");
    check_index(&two);
    // A tree that is mostly another one is a new beginning.
    for i in 0..FILES {
        one.write(&format!("repo/p{i}/f.go"), &file(i, " all of it is another text"));
    }
    commit(&one, "all");
    let all = json(&share(&one, &["push", &url(store.path())]));
    assert_eq!(all["nLayers"], 1, "{all}");
}

#[test]
fn the_nearest_is_of_a_commit_before_else_of_the_default_branch_else_of_a_tree_like_it() {
    let (one, store) = (User::new(), tempfile::tempdir().unwrap());
    tree(&one);
    let nearest = |user: &User| {
        let status = json(&share(user, &["status", &url(store.path())]));
        (status["by"].as_str().unwrap().to_owned(), status["commit"].as_str().map(str::to_owned))
    };
    assert_eq!(nearest(&one).0, "");
    let head = |user: &User| git(&user.path("repo"), &["rev-parse", "HEAD"]).trim().to_owned();
    let first = head(&one);
    ok(&share(&one, &["push", &url(store.path())]));
    one.write("repo/p1/f.go", &file(1, " second"));
    commit(&one, "second");
    let second = head(&one);
    let two = colleague(&one);
    assert_eq!(nearest(&two), ("commit".to_owned(), Some(first.clone())), "the parent");
    ok(&share(&one, &["push", &url(store.path())]));
    assert_eq!(nearest(&two), ("commit".to_owned(), Some(second.clone())));
    // A side branch is published; others do not begin with it.
    one.git(&["checkout", "-q", "-b", "side"]);
    one.write("repo/p2/f.go", &file(2, " side"));
    commit(&one, "side");
    ok(&share(&one, &["push", &url(store.path())]));
    two.git(&["checkout", "-q", "--orphan", "other"]);
    commit(&two, "a history of its own");
    assert_eq!(nearest(&two), ("newest".to_owned(), Some(second)));
    // Without git, by the sample of paths and sizes. The name of the folder is that of the repository.
    let plain = |user: &User| {
        for name in [".git", "p140", "p141"] {
            fs::remove_dir_all(user.path("repo").join(name)).unwrap();
        }
    };
    plain(&one);
    ok(&share(&one, &["push", &url(store.path())]));
    plain(&two);
    assert_eq!(nearest(&two), ("sample".to_owned(), None));
    ok(&share(&two, &["pull", &url(store.path())]));
    check_index(&two);
    // A few files are built at once, and another tree has nothing of it.
    let other = User::new();
    assert_eq!(nearest(&other).0, "");
}

#[test]
fn a_first_index_begins_with_a_published_one_by_itself() {
    let (one, store) = (User::new(), tempfile::tempdir().unwrap());
    tree(&one);
    // As in CI: each index is published.
    configure(&one, &format!("[share]\nurl = \"{}\"\npush = true\n", url(store.path())));
    ok(&one.ctl(&["index", "--wait"]));
    assert_eq!(objects(store.path(), "commits").len(), 1);
    let metrics = ok(&one.ctl(&["metrics"]));
    assert!(metrics.contains("indexd_share_exports_total 1\n"), "{metrics}");
    assert!(
        metrics.contains("indexd_share_pulls_total{outcome=\"missed\"} 1\n"),
        "nothing was there: {metrics}"
    );
    let two = colleague(&one);
    two.write("repo/p70/f.go", &file(70, " here"));
    configure(&two, &format!("[share]\nurl = \"{}\"\n", url(store.path())));
    let found = ok(&two.ctl(&["callers", "F35"]));
    assert!(found.contains("F70") && found.contains("F71"), "{found}");
    let metrics = ok(&two.ctl(&["metrics"]));
    assert!(metrics.contains("indexd_share_pulls_total{outcome=\"begun\"} 1\n"), "{metrics}");
    let status: Value = serde_json::from_str(&ok(&two.ctl(&["status", "--json"]))).unwrap();
    assert_eq!(status["workspaces"][0]["nExtracted"], 1, "{status}");
    check_index(&two);
    let doctor = text(&two.ctl(&["doctor"]).stdout);
    assert!(doctor.contains("has 1 states of this repository"), "{doctor}");
    // The index is forgotten: the next one begins in the same way.
    ok(&two.ctl(&["workspace", "remove"]));
    ok(&two.ctl(&["pack", "word7"]));
    let metrics = ok(&two.ctl(&["metrics"]));
    assert!(metrics.contains("indexd_share_pulls_total{outcome=\"begun\"} 2\n"), "{metrics}");
    check_index(&two);
}

#[test]
fn a_repository_names_no_store() {
    let (one, store) = (User::new(), tempfile::tempdir().unwrap());
    tree(&one);
    for settings in ["[share]\nurl = \"URL\"\n", "[share]\npush = true\n"] {
        one.write("repo/.indexd.toml", &settings.replace("URL", &url(store.path())));
        let said = ok(&one.ctl(&["index", "--wait"]));
        let key = if settings.contains("url") { "share.url" } else { "share.push" };
        let status = ok(&one.ctl(&["status"]));
        assert!(status.contains(key) && status.contains("setting of the user"), "{said}{status}");
        let output = share(&one, &["status"]);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains("no store is named"), "{}", text(&output.stderr));
        ok(&one.ctl(&["workspace", "remove"]));
    }
    assert_eq!(fs::read_dir(store.path()).unwrap().count(), 0, "nobody asked it");
}

#[test]
fn secrets_and_imports_are_not_published() {
    let (one, store) = (User::new(), tempfile::tempdir().unwrap());
    tree(&one);
    let secret = "ghp_aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789";
    one.write("repo/keys.go", &format!("package demo\n\nconst Token = \"{secret}\"\n"));
    ok(&share(&one, &["push", &url(store.path())]));
    for object in objects(store.path(), "pieces").into_keys() {
        let rows = zstd(&fs::read(object).unwrap());
        assert!(!rows.windows(secret.len()).any(|w| w == secret.as_bytes()));
    }
    ok(&one.ctl(&["daemon", "stop"]));
    configure(&one, "[index]\nredact_secrets = false\n");
    let other = tempfile::tempdir().unwrap();
    let refused = share(&one, &["push", &url(other.path())]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("secrets"), "{}", text(&refused.stderr));
    assert_eq!(fs::read_dir(other.path()).unwrap().count(), 0);
    // Indexes with and without secrets never meet.
    let two = colleague(&one);
    configure(&two, "[index]\nredact_secrets = false\n");
    let pulled = share(&two, &["pull", &url(store.path())]);
    assert_eq!(pulled.status.code(), Some(1), "{}", text(&pulled.stdout));
}

/// The content of a frame.
fn zstd(object: &[u8]) -> Vec<u8> {
    indexd_share::format::decompress(object, 1 << 30).expect("a frame")
}

/// For each fault of a store, a first index is built, equals one of the tree, and the user is told; the
/// explicit command ends with a clear error.
#[test]
fn whatever_is_wrong_with_a_store_a_first_index_is_built() {
    let (one, store) = (User::new(), tempfile::tempdir().unwrap());
    tree(&one);
    ok(&share(&one, &["push", &url(store.path())]));
    type Harm = fn(&Path, &[u8]);
    /// A pipe without a writer.
    const PIPE: Harm = |path, _| {
        fs::remove_file(path).unwrap();
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    let harms: [(&str, &str, Harm); 8] = [
        ("pieces", "is missing", |path, _| fs::remove_file(path).unwrap()),
        ("pieces", "is missing", PIPE),
        ("repositories", "nothing that is near", PIPE),
        ("pieces", "something else", |path, bytes| {
            let mut other = bytes.to_vec();
            other[bytes.len() / 2] ^= 1;
            fs::write(path, other).unwrap();
        }),
        ("pieces", "something else", |path, bytes| fs::write(path, &bytes[..bytes.len() / 2]).unwrap()),
        ("pieces", "larger than it may be", |path, bytes| {
            fs::write(path, [bytes, b"more"].concat()).unwrap();
        }),
        // A damaged state counts as not published.
        ("repositories", "nothing that is near", |path, bytes| fs::write(path, &bytes[..20]).unwrap()),
        ("repositories", "nothing that is near", |path, _| {
            fs::write(path, indexd_share::format::compress(&vec![0; 70 << 20]).unwrap()).unwrap();
        }),
    ];
    for (i, (kind, said, harm)) in harms.into_iter().enumerate() {
        let harmed = tempfile::tempdir().unwrap();
        let copied = Command::new("cp").arg("-r").arg(store.path().join(".")).arg(harmed.path()).status();
        assert!(copied.unwrap().success());
        for object in objects(harmed.path(), kind).into_keys() {
            harm(&object, &fs::read(&object).unwrap());
        }
        let two = colleague(&one);
        let pulled = share(&two, &["pull", &url(harmed.path())]);
        let out = text(&pulled.stderr) + &text(&pulled.stdout);
        assert!(out.contains(said), "harm {i}: {out}");
        let code = if kind == "pieces" { 65 } else { 1 };
        assert_eq!(pulled.status.code(), Some(code), "harm {i}: {out}");
        configure(&two, &format!("[share]\nurl = \"{}\"\n", url(harmed.path())));
        ok(&two.ctl(&["daemon", "stop"]));
        let indexed = two.ctl(&["index", "--wait"]);
        ok(&indexed);
        let is_told = text(&indexed.stderr).contains("built without a published one");
        assert_eq!(is_told, kind == "pieces", "harm {i}: {}", text(&indexed.stderr));
        if i % 2 == 0 {
            check_index(&two);
        }
    }
}

/// A server that takes connections and says nothing, or the same to everybody.
fn server(says: Option<&'static str>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        for stream in listener.incoming().flatten() {
            let mut stream: TcpStream = stream;
            match says {
                Some(says) => {
                    let _ = stream.read(&mut [0; 4096]);
                    let _ = std::io::Write::write_all(&mut stream, says.as_bytes());
                }
                None => kept.push(stream),
            }
        }
    });
    format!("http://{address}")
}

#[test]
fn a_store_that_does_not_answer_costs_less_than_five_seconds() {
    let nobody = {
        let free = TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", free.local_addr().unwrap())
    };
    let slow =
        "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\nLast-Modified: Mon, 01 Jan 2024 00:00:00 GMT\r\n\r\nx";
    for (what, url) in [("nobody", nobody), ("silence", server(None)), ("one byte", server(Some(slow)))] {
        let one = User::new();
        tree(&one);
        let began = Instant::now();
        ok(&one.ctl(&["index", "--wait"]));
        let without = began.elapsed();
        ok(&one.ctl(&["workspace", "remove"]));
        ok(&one.ctl(&["daemon", "stop"]));
        configure(&one, &format!("[share]\nurl = \"{url}/x\"\n"));
        let began = Instant::now();
        // The process that fetches may live a moment longer, with standard error open.
        let mut index = one.command("ctl");
        let status = index.args(["index", "--wait"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
        assert!(status.unwrap().success());
        let lost = began.elapsed().saturating_sub(without);
        assert!(lost < Duration::from_secs(5), "{what}: {lost:?} lost");
        check_index(&one);
    }
}

#[test]
fn credentials_that_are_refused_and_urls_that_are_none_are_clear_errors() {
    let one = User::new();
    tree(&one);
    let expired = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 63\r\n\r\n<Error><Code>ExpiredToken</Code><Message>expired</Message></Err";
    let endpoint = server(Some(expired));
    let with = |args: &[&str]| {
        let mut command = one.command("ctl");
        command.args(["share"]).args(args).env("AWS_ENDPOINT_URL", &endpoint).env("AWS_REGION", "us-east-1");
        command.env("AWS_ACCESS_KEY_ID", "AKIAEXAMPLE").env("AWS_SECRET_ACCESS_KEY", "verysecret");
        command.output().unwrap()
    };
    for args in [&["pull", "s3://bucket/x"][..], &["push", "s3://bucket/x"], &["status", "s3://bucket/x"]] {
        let output = with(args);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(77), "{args:?}: {said}");
        assert!(said.contains("refuses the credentials") && said.contains("AWS_ACCESS_KEY_ID"), "{said}");
        assert!(!said.contains("verysecret") && !said.contains("AKIAEXAMPLE"), "{said}");
    }
    let unused = "https://me:secret@example.org/x";
    for (args, code, why) in [
        (&["pull", "ftp://example.org/x"][..], 2, "not a store that is known"),
        (&["pull", unused], 2, "credentials"),
        (&["push", "https://example.org/x"], 2, "read-only"),
        (&["gc", "https://example.org/x"], 2, "read-only"),
        (&["status"], 2, "no store is named"),
    ] {
        let output = with(args);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert!(said.contains(why) && !said.contains("secret@"), "{args:?}: {said}");
    }
}

#[test]
fn what_is_published_is_pulled_over_https_as_well() {
    let (one, store) = (User::new(), tempfile::tempdir().unwrap());
    tree(&one);
    ok(&share(&one, &["push", &url(store.path())]));
    let Some(server) = Python::serve(store.path()) else { return };
    let two = colleague(&one);
    let pulled = json(&share(&two, &["pull", &server.url]));
    assert_eq!(pulled["begun"], true, "{pulled}");
    check_index(&two);
}

/// A server written in Python, which ends with the test.
struct Python {
    child: Child,
    url: String,
}

impl Python {
    fn free_port() -> u16 {
        TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
    }

    /// A plain server of files; none without Python.
    fn serve(folder: &Path) -> Option<Self> {
        let port = Self::free_port();
        let args = ["-m", "http.server", "--bind", "127.0.0.1", &port.to_string()];
        let child = Command::new("python3")
            .args(args)
            .current_dir(folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        Self::wait(child, port)
    }

    fn wait(child: Child, port: u16) -> Option<Self> {
        let server = Self { child, url: format!("http://127.0.0.1:{port}") };
        until("the server answers", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        Some(server)
    }

    /// moto, which speaks S3, in a virtual environment below the target folder; none, with a word, where that
    /// cannot be made.
    fn moto() -> Option<Self> {
        let test = std::env::current_exe().unwrap();
        let venv = test.ancestors().find(|dir| dir.ends_with("target"))?.join("tools/moto");
        let program = venv.join("bin/moto_server");
        if !program.exists() {
            let run = |command: &mut Command| {
                command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|s| s.success())
            };
            let is_made = run(Command::new("python3").args(["-m", "venv"]).arg(&venv))
                && run(Command::new(venv.join("bin/pip")).args(["install", "-q", "moto[server]>=5,<6"]));
            if !is_made {
                let _ = fs::remove_dir_all(&venv);
                eprintln!("skipped: python3 with venv and pip is needed for a server of S3");
                return None;
            }
        }
        let port = Self::free_port();
        let child = Command::new(program)
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        Self::wait(child, port)
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_server_of_s3_takes_and_gives_indexes() {
    let Some(server) = Python::moto() else { return };
    let bucket = Command::new("python3")
        .args(["-c", "import sys, urllib.request as u; u.urlopen(u.Request(sys.argv[1], method='PUT'))"])
        .arg(format!("{}/team", server.url))
        .status();
    assert!(bucket.unwrap().success(), "the bucket");
    let s3 = |user: &User, args: &[&str]| {
        let mut command = user.command("ctl");
        command.arg("share").args(args).arg("s3://team/indexes").arg("--json");
        command.env("AWS_ENDPOINT_URL", &server.url).env("AWS_REGION", "us-east-1");
        command.env("AWS_ACCESS_KEY_ID", "any").env("AWS_SECRET_ACCESS_KEY", "thing");
        command.output().unwrap()
    };
    let one = User::new();
    tree(&one);
    let first = json(&s3(&one, &["push"]));
    one.write("repo/p7/f.go", &file(7, " next"));
    commit(&one, "next");
    let next = json(&s3(&one, &["push"]));
    assert!(next["bytesPut"].as_u64().unwrap() * 10 < first["bytesPut"].as_u64().unwrap(), "{next} {first}");
    let two = colleague(&one);
    let pulled = json(&s3(&two, &["pull"]));
    assert_eq!((&pulled["begun"], &pulled["by"]), (&true.into(), &"commit".into()), "{pulled}");
    check_index(&two);
    let status = json(&s3(&two, &["status"]));
    assert_eq!((&status["nStates"], &status["nApart"]), (&2.into(), &0.into()), "{status}");
    let collected = json(&s3(&one, &["gc", "--keep-count", "1"]));
    assert_eq!((&collected["nExpired"], &collected["nRemoved"]), (&1.into(), &0.into()), "{collected}");
    assert_eq!(json(&s3(&two, &["status"]))["nStates"], 1);
}

#[test]
fn old_states_go_and_what_others_use_stays() {
    let (one, store) = (User::new(), tempfile::tempdir().unwrap());
    tree(&one);
    ok(&share(&one, &["push", &url(store.path())]));
    for i in 0..3 {
        one.write("repo/p7/f.go", &file(7, &format!(" {i}")));
        commit(&one, "next");
        ok(&share(&one, &["push", &url(store.path())]));
    }
    let gc = |args: &[&str]| json(&share(&one, &[&["gc", &url(store.path())][..], args].concat()));
    let n = |value: &Value, name: &str| value[name].as_u64().unwrap();
    let dry = gc(&["--keep-count", "1", "--dry-run"]);
    assert_eq!((n(&dry, "nExpired"), objects(store.path(), "commits").len()), (3, 4), "{dry}");
    let done = gc(&["--keep-count", "1"]);
    assert_eq!((n(&done, "nExpired"), n(&done, "nRemoved")), (3, 0), "{done}");
    assert_eq!((objects(store.path(), "commits").len(), objects(store.path(), "expired").len()), (1, 3));
    // The state that is left is complete: its lowest layer was put with an expired state.
    let two = colleague(&one);
    assert_eq!(json(&share(&two, &["pull", &url(store.path())]))["begun"], true);
    check_index(&two);
    // A day later, expired states are removed; the pieces of the state that is left stay.
    let age = |path: &Path| {
        assert!(Command::new("touch").args(["-d", "2 days ago"]).arg(path).status().unwrap().success());
    };
    let orphan = objects(store.path(), "pieces").into_keys().next().unwrap().with_file_name("0".repeat(64));
    fs::write(&orphan, "of a push that was ended").unwrap();
    objects(store.path(), "expired")
        .keys()
        .chain(objects(store.path(), "pieces").keys())
        .for_each(|p| age(p));
    let young = orphan.with_file_name("1".repeat(64));
    fs::write(&young, "of a push that is under way").unwrap();
    let before = objects(store.path(), "pieces").len();
    let done = gc(&["--keep-count", "1"]);
    assert_eq!((n(&done, "nExpired"), n(&done, "nRemoved")), (0, 4), "{done}");
    assert_eq!(objects(store.path(), "expired").len(), 0);
    assert!(!orphan.exists() && young.exists());
    assert_eq!(objects(store.path(), "pieces").len(), before - 1, "{done}");
    ok(&two.ctl(&["workspace", "remove"]));
    assert_eq!(json(&share(&two, &["pull", &url(store.path())]))["begun"], true);
    check_index(&two);
    // The newest of the default branch stays however old it is.
    objects(store.path(), "commits").keys().for_each(|p| age(p));
    let done = gc(&["--keep-days", "1"]);
    assert_eq!(n(&done, "nExpired"), 0, "{done}");
}

/// A build of the programs that everybody needs has none for networks: what wants it says how to get it, and
/// a first index does not wait in silence.
#[test]
fn without_its_program_sharing_says_how_to_get_it() {
    let (user, store) = (User::new(), tempfile::tempdir().unwrap());
    tree(&user);
    configure(&user, &format!("[share]\nurl = \"{}\"\n", url(store.path())));
    fs::create_dir(user.path("bin")).unwrap();
    for program in ["ctl", "ctl-more", "indexd"] {
        copy_program(program, &user.path(&format!("bin/{program}")));
    }
    let ctl = |args: &[&str]| user.run(&user.path("bin/ctl")).args(args).output().unwrap();
    let first = ctl(&["symbol", "F3"]);
    assert!(ok(&first).contains("p3/f.go"));
    let said = text(&first.stderr);
    assert!(said.contains("built without a published one: the program ctl-share is not installed"), "{said}");
    let asked = ctl(&["share", "status"]);
    assert_eq!(asked.status.code(), Some(69));
    assert!(text(&asked.stderr).contains("cargo install --path share"), "{}", text(&asked.stderr));
    assert!(text(&ctl(&["doctor"]).stdout).contains("ctl-share is not installed"));
}

#[test]
fn a_disk_that_is_full_is_a_clear_error_and_leaves_the_tree_to_be_built() {
    let (one, store) = (User::new(), tempfile::tempdir().unwrap());
    tree(&one);
    ok(&share(&one, &["push", &url(store.path())]));
    let two = colleague(&one);
    ok(&two.ctl(&["daemon", "start"]));
    // A limit on the size of files: the system says the same of each write that is too long.
    let limited = |args: &[&str]| {
        let ctl = crate::user::programs().join("ctl-share").display().to_string();
        let line = format!("trap '' XFSZ; ulimit -f 40; exec {ctl} {}", args.join(" "));
        two.run(Path::new("/bin/sh")).args(["-c", &line]).output().unwrap()
    };
    let pulled = limited(&["share", "pull", &url(store.path())]);
    let said = text(&pulled.stderr);
    assert_eq!(pulled.status.code(), Some(74), "{said}");
    assert!(said.contains("cannot use"), "{said}");
    let left = fs::read_dir(two.path("cache/indexd/share")).unwrap().count();
    assert_eq!(left, 0, "what was written is gone, so that there is room");
    ok(&two.ctl(&["index", "--wait"]));
    check_index(&two);
}

/// Pushes and pulls that are killed at any point, and run at the same time: `INDEXD_TEST_KILLS` of them.
#[test]
fn kills_and_pushes_at_the_same_time_leave_a_store_that_can_be_used() {
    let (one, store) = (User::new(), tempfile::tempdir().unwrap());
    tree(&one);
    ok(&share(&one, &["push", &url(store.path())]));
    let two = colleague(&one);
    let started = |user: &User, what: &str| {
        let mut command = user.command("ctl");
        command.args(["share", what, &url(store.path())]).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().unwrap()
    };
    for i in 0..number("INDEXD_TEST_KILLS", 6) {
        for (user, at) in [(&one, 2 * i), (&two, 2 * i + 1)] {
            user.write(&format!("repo/p{}/f.go", at % FILES), &file(at % FILES, &format!(" round {i}")));
            commit(user, "round");
        }
        let mut pushes = [started(&one, "push"), started(&two, "push")];
        std::thread::sleep(Duration::from_millis((i as u64 * 37) % 260));
        let _ = pushes[i % 2].kill();
        for push in &mut pushes {
            push.wait().unwrap();
        }
        let three = colleague(if i % 2 == 0 { &one } else { &two });
        let mut pull = started(&three, "pull");
        std::thread::sleep(Duration::from_millis((i as u64 * 53) % 400));
        let _ = pull.kill();
        pull.wait().unwrap();
        // Whatever was left behind, the next try does well: with a published index, or with that of the
        // daemon, which may have begun before the kill.
        let pulled = json(&share(&three, &["pull", &url(store.path())]));
        assert!(
            pulled["begun"] == true || pulled["reason"] != "nothing that is near is published",
            "{pulled}"
        );
        check_index(&three);
    }
    // All that is named is there.
    for user in [&one, &two] {
        ok(&share(user, &["push", &url(store.path())]));
        ok(&user.ctl(&["workspace", "remove"]));
        assert_eq!(json(&share(user, &["pull", &url(store.path())]))["nExtracted"], 0);
        check_index(user);
    }
}
