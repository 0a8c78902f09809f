//! `ctl map` and `ctl pack --as document` as a loop uses them: real processes, with and without git, with
//! and without an index.

use crate::user::{User, check_failure, ok, text};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Output;

/// The folder of a program of this machine.
fn folder_of(program: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).find(|d| d.join(program).is_file())
}

fn with_commit(user: &User) {
    user.git(&["init", "-q"]);
    user.git(&["add", "."]);
    user.git(&["commit", "-qm", "first"]);
}

fn more(user: &User) {
    user.write(
        "repo/cmd/shopd/main.go",
        "package main\n\nimport (\n\t\"os\"\n\n\t\"example.com/demo\"\n)\n\nfunc main() {\n\t_ = os.Getenv(\"DEMO_HOME\")\n\t_ = demo.Delay(2)\n}\n",
    );
    user.write(
        "repo/retry_test.go",
        "package demo\n\nimport \"testing\"\n\nfunc TestDelay(t *testing.T) { Delay(1) }\n",
    );
    user.write("repo/.env", "DELAY_TOKEN=x\n");
}

fn markdown(user: &User, args: &[&str]) -> String {
    ok(&user.ctl(&[&["pack", "--as", "document", "-q"], args].concat()))
}

fn cache(output: &Output) -> (bool, String) {
    let json: Value = serde_json::from_str(&ok(output)).unwrap();
    (json["cache"]["hit"].as_bool().unwrap(), json["cache"]["key"].as_str().unwrap().to_owned())
}

/// One commit and one task give the same bytes, whichever process writes them; and the map has all
/// five parts.
#[test]
fn two_runs_give_the_same_bytes() {
    let [one, other] = [User::new(), User::new()];
    for user in [&one, &other] {
        more(user);
        with_commit(user);
    }
    let map = ok(&one.ctl(&["map"]));
    for part in ["## Entrypoints", "## Modules", "## Config", "## Side effect boundaries", "## Tree"] {
        assert!(map.contains(part), "{map}");
    }
    assert!(map.contains("- `shopd`: cmd/shopd/main.go:9 (go run ./cmd/shopd)"), "{map}");
    assert!(map.contains("- `DEMO_HOME`: cmd/shopd/main.go:10"), "{map}");
    assert_eq!(ok(&other.ctl(&["map", "--no-cache"])), map);
    let pack = markdown(&one, &["how long is the delay"]);
    assert_eq!(markdown(&other, &["how long is the delay", "--param", "noCache=true"]), pack);
    // Options that shape a pack do not shape a document, and are refused.
    for option in [&["--budget", "900"][..], &["--expect", "Delay"], &["--param", "budgets.maxItems=1"]] {
        let asked = [&["pack", "--as", "document", "how long is the delay"], option].concat();
        check_failure(&other.ctl(&asked), 2, "POC_E_NOT_SUPPORTED");
    }
    for part in [
        "## Summary",
        "## Rationale",
        "## Evidence",
        "### File: retry.go (lines ",
        "call site of `Delay`",
        "test that refers to `Delay`",
    ] {
        assert!(pack.contains(part), "{part} is not in {pack}");
    }
    assert!(!pack.contains(".env"), "{pack}");
    assert!(!pack.contains(one.path("").to_str().unwrap()));
}

/// The cache is used while HEAD, dependencies, settings and the tree are as they were.
#[test]
fn a_document_is_cached_until_something_it_depends_on_changes() {
    let user = User::new();
    with_commit(&user);
    let map = || cache(&user.ctl(&["map", "--json", "-q"]));
    let pack = |task: &str| cache(&user.ctl(&["pack", task, "--as", "document", "--json", "-q"]));
    let (hit, first) = map();
    assert!(!hit && first.starts_with("sha256:") && first.len() == 71, "{first}");
    assert_eq!(map(), (true, first.clone()));
    assert_eq!((pack("delay").0, pack("delay").0, pack("wait").0), (false, true, false));
    // A manifest, without a commit: the same key, another state.
    user.write("repo/go.mod", "module example.com/demo\n\ngo 1.22\n");
    assert_eq!(map(), (false, first.clone()));
    assert_eq!(map(), (true, first.clone()));
    // The settings of the context builder.
    user.write("repo/rauf.yaml", "context:\n  budget:\n    total: 5000\n");
    let (hit, second) = map();
    assert!(!hit && second != first);
    // HEAD.
    user.git(&["add", "."]);
    user.git(&["commit", "-qm", "second"]);
    let (hit, third) = map();
    assert!(!hit && third != second && third != first);
    assert!(!pack("delay").0);
}

#[test]
fn outside_of_git_the_map_is_made_uncached_with_a_warning() {
    let user = User::new();
    for _ in 0..2 {
        let output = user.ctl(&["map", "--json"]);
        assert_eq!(cache(&output), (false, String::new()));
        assert!(text(&output.stderr).contains("the map is not cached"), "{}", text(&output.stderr));
    }
    let output = user.ctl(&["map"]);
    assert!(ok(&output).starts_with("# Repo map: "), "the warning is not in the document");
}

#[test]
fn zero_hits_are_explained_and_no_file_is_empty() {
    let user = User::new();
    let file = user.path("context_pack.md");
    let output = user.ctl(&["pack", "zyzzyva quux", "--as", "document", "--out", file.to_str().unwrap()]);
    assert_eq!(ok(&output), "");
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(
        written.contains("## No relevant code found") && written.contains("- `zyzzyva`: a term of the task"),
        "{written}"
    );
    assert!(
        text(&output.stderr).contains("insufficient context: none of the 2 search terms occurs"),
        "{}",
        text(&output.stderr)
    );
    let json: Value = serde_json::from_str(&markdown(&user, &["zyzzyva", "--json"])).unwrap();
    assert_eq!(
        (&json["insufficient_context"], json["files"].as_array().unwrap().len()),
        (&Value::Bool(true), 0)
    );
    // What cannot be written leaves nothing behind.
    let lost = user.path("no/such/folder/pack.md");
    check_failure(
        &user.ctl(&["pack", "delay", "--as", "document", "--out", lost.to_str().unwrap()]),
        73,
        "POC_E_CANNOT_CREATE",
    );
}

/// The same queries are asked of the index, of `rg` and of `git grep`, and the two programs find the same
/// lines; without any of them the command fails and says what is missing.
#[test]
fn the_chain_of_searches() {
    let user = User::new();
    more(&user);
    user.write("repo/.gitignore", "ignored/\n");
    user.write("repo/ignored/delay.go", "package ignored\n\nfunc Delay() {}\n");
    user.write("repo/.hidden/delay.txt", "a DELAY\n");
    with_commit(&user);
    let queries = |path: &Path, with: &str| -> Value {
        let output = user
            .command("ctl")
            .env("PATH", path)
            .args(["pack", "the delay of attempts", "--as", &format!("document={with}"), "--json", "-q"])
            .output()
            .unwrap();
        let json: Value = serde_json::from_str(&ok(&output)).unwrap();
        json["queries"].clone()
    };
    let index = queries(Path::new("/usr/bin"), "index");
    assert_eq!(index[0]["files"], 5, "{index}");
    let by_git = queries(&folder_of("git").unwrap(), "git");
    let texts = |queries: &Value| -> Vec<Value> {
        queries.as_array().unwrap().iter().map(|q| q["text"].clone()).collect()
    };
    assert_eq!((texts(&by_git), &by_git[0]["files"]), (texts(&index), &index[0]["files"]), "{by_git}");
    match folder_of("rg") {
        Some(folder) => assert_eq!(queries(&folder, "rg"), by_git),
        None => eprintln!("skipped: rg is not installed, so its hits are not compared"),
    }
    // Without `rg`, `git grep` is asked; text hits come out although no symbols are known.
    let only_git = user.path("only-git");
    std::fs::create_dir(&only_git).unwrap();
    std::os::unix::fs::symlink(folder_of("git").unwrap().join("git"), only_git.join("git")).unwrap();
    let search = |path: &Path, with: &str| {
        let mut command = user.command("ctl");
        command.env("PATH", path).args(["pack", "delay", "--as", &format!("document={with}")]);
        command.output().unwrap()
    };
    let output = search(&only_git, "git");
    let pack = ok(&output);
    assert!(pack.contains("Searched with git grep") && pack.contains("func Delay(n int) int"), "{pack}");
    assert!(text(&output.stderr).contains("secrets in the text of files are not replaced"));
    // Neither: a loud failure, and nothing on standard output.
    let nothing = user.path("nothing");
    std::fs::create_dir(&nothing).unwrap();
    check_failure(&search(&nothing, "rg"), 69, "POC_E_SEARCH_UNAVAILABLE");
    check_failure(&search(&nothing, "git"), 69, "POC_E_SEARCH_UNAVAILABLE");
}

/// The two commands that a loop runs before it renders its prompts, as docs/documents.md has them.
#[test]
fn the_documented_loop_works() {
    let user = User::new();
    with_commit(&user);
    let text = include_str!("../../docs/documents.md");
    let script = text.split("```sh\n").nth(1).and_then(|t| t.split("```").next()).expect("a script");
    user.write("task.txt", "how long is the delay\n");
    let programs = crate::user::programs().display().to_string();
    let done = user
        .run(Path::new("/bin/sh"))
        .env("PATH", format!("{programs}:/usr/bin:/bin"))
        .env("TASK", user.path("task.txt"))
        .env("OUT", user.path("out"))
        .args(["-eu", "-c", script])
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", crate::user::text(&done.stderr));
    for (file, holds) in
        [("repo_map.md", "## Entrypoints"), ("context_pack.md", "func Delay"), ("prompt.md", "RAUF_QUESTION")]
    {
        let written = std::fs::read_to_string(user.path("out").join(file)).unwrap();
        assert!(written.contains(holds), "{file}: {written}");
    }
}
