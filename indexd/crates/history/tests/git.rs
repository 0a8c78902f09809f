//! History of repositories made by git itself.

use indexd_history::{Limits, Repository, Unavailable};
use std::path::Path;
use std::process::Command;

fn git(dir: &Path, args: &[&str]) {
    let out = Command::new("git")
        .current_dir(dir)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", dir)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .args([
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@example.org",
            "-c",
            "init.defaultBranch=main",
        ])
        .args(args)
        .output()
        .unwrap();
    assert!(
        out.status.success(),
        "git {args:?}: {}",
        String::from_utf8_lossy(&out.stderr)
    );
}

fn commit(dir: &Path, files: &[(&str, &str)], subject: &str) {
    for (path, text) in files {
        let path = dir.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    git(dir, &["add", "-A"]);
    git(dir, &["commit", "-q", "-m", subject]);
}

fn sample() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    git(dir.path(), &["init", "-q"]);
    commit(
        dir.path(),
        &[("a.go", "1"), ("sub/b.go", "1")],
        "Add retries",
    );
    commit(dir.path(), &[("a.go", "2")], "fix retry delay");
    commit(
        dir.path(),
        &[("sub/b.go", "2"), ("sub/c.go", "1")],
        "split parser",
    );
    dir
}

#[test]
fn commits_become_sums_by_path() {
    let dir = sample();
    let past = Repository::open(dir.path())
        .unwrap()
        .past(&Limits::default(), None)
        .unwrap();
    let subjects: Vec<&str> = past.commits.iter().map(|c| c.subject.as_str()).collect();
    assert_eq!(subjects, ["split parser", "fix retry delay", "Add retries"]);
    let files = past.files();
    let a = &files["a.go"];
    assert_eq!((a.n_commits, a.newest), (2, 1));
    assert_eq!(a.terms["delay"], 1);
    assert_eq!(
        files.keys().collect::<Vec<_>>(),
        ["a.go", "sub/b.go", "sub/c.go"]
    );
    assert_eq!(
        past.changed_with("sub/b.go", 9),
        [("a.go".to_owned(), 1), ("sub/c.go".to_owned(), 1)]
    );
}

#[test]
fn a_root_below_the_work_tree_sees_its_own_part() {
    let dir = sample();
    let repo = Repository::open(&dir.path().join("sub")).unwrap();
    let past = repo.past(&Limits::default(), None).unwrap();
    assert_eq!(past.files().keys().collect::<Vec<_>>(), ["b.go", "c.go"]);
    assert!(repo.is_at_head("b.go", b"2"));
    assert!(!repo.is_at_head("b.go", b"1"));
    assert!(!repo.is_at_head("../a.go", b"2"));
}

#[test]
fn known_commits_are_reused_and_change_nothing() {
    let dir = sample();
    let first = Repository::open(dir.path())
        .unwrap()
        .past(&Limits::default(), None)
        .unwrap();
    commit(dir.path(), &[("a.go", "3")], "tune delay");
    let repo = Repository::open(dir.path()).unwrap();
    let fresh = repo.past(&Limits::default(), None).unwrap();
    assert_eq!(repo.past(&Limits::default(), Some(&first)).unwrap(), fresh);
    assert_ne!(fresh.digest(), first.digest());
    assert_eq!(fresh.commits.len(), 4);
}

#[test]
fn merges_and_mass_changes_say_nothing() {
    let dir = sample();
    git(dir.path(), &["checkout", "-q", "-b", "side", "HEAD~1"]);
    commit(dir.path(), &[("d.go", "1")], "side work");
    git(dir.path(), &["checkout", "-q", "main"]);
    git(
        dir.path(),
        &["merge", "-q", "--no-ff", "-m", "merge side", "side"],
    );
    let many: Vec<(String, &str)> = (0..6).map(|i| (format!("m/{i}.go"), "x")).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(p, t)| (p.as_str(), *t)).collect();
    commit(dir.path(), &many, "reformat everything");
    let limits = Limits {
        files_per_commit_max: 5,
        ..Limits::default()
    };
    let past = Repository::open(dir.path())
        .unwrap()
        .past(&limits, None)
        .unwrap();
    let files = past.files();
    assert!(files.contains_key("d.go") && !files.contains_key("m/0.go"));
    assert_eq!(past.commits.len(), 6);
    let short = Limits {
        commits_max: 2,
        ..limits
    };
    assert_eq!(
        Repository::open(dir.path())
            .unwrap()
            .past(&short, None)
            .unwrap()
            .commits
            .len(),
        2
    );
}

#[test]
fn what_cannot_be_read_is_a_clear_state() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(
        Repository::open(dir.path()),
        Err(Unavailable::NoRepository)
    ));
    git(dir.path(), &["init", "-q"]);
    let repo = Repository::open(dir.path()).unwrap();
    assert!(matches!(repo.head(), Err(Unavailable::NoCommits)));
    assert!(matches!(
        repo.past(&Limits::default(), None),
        Err(Unavailable::NoCommits)
    ));
    std::fs::write(dir.path().join(".git/config"), "[core\nbroken").unwrap();
    assert!(matches!(
        Repository::open(dir.path()),
        Err(Unavailable::Unreadable(_))
    ));
}

#[test]
fn shallow_clones_and_linked_worktrees_work() {
    let dir = sample();
    let other = tempfile::tempdir().unwrap();
    let url = format!("file://{}", dir.path().display());
    git(
        other.path(),
        &["clone", "-q", "--depth", "1", &url, "shallow"],
    );
    let past = Repository::open(&other.path().join("shallow"))
        .unwrap()
        .past(&Limits::default(), None)
        .unwrap();
    assert_eq!(past.commits.len(), 1);
    assert!(past.files().is_empty());

    let linked = other.path().join("linked");
    git(
        dir.path(),
        &["worktree", "add", "-q", linked.to_str().unwrap(), "HEAD~1"],
    );
    let past = Repository::open(&linked)
        .unwrap()
        .past(&Limits::default(), None)
        .unwrap();
    assert_eq!(past.commits.len(), 2);
}
