#[path = "../../golden.rs"]
mod golden;

use super::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// A repository made by git itself, with no configuration but its own and a clock that advances by a minute
/// for each commit.
struct Fixture {
    dir: TempDir,
    minutes: u32,
}

/// Opens a repository as the shell does.
fn open(root: &Path) -> Result<Repository, Unavailable> {
    Repository::open(root)
}

fn git_in(dir: &Path, minutes: u32, args: &[&str]) {
    let date = format!("2024-01-01T{:02}:{:02}:00Z", minutes / 60, minutes % 60);
    let out = Command::new("git")
        .args(["-c", "protocol.file.allow=always"])
        .args(args)
        .current_dir(dir)
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .envs([
            ("GIT_AUTHOR_NAME", "A"),
            ("GIT_AUTHOR_EMAIL", "a@b"),
            ("GIT_COMMITTER_NAME", "A"),
            ("GIT_COMMITTER_EMAIL", "a@b"),
        ])
        .env("GIT_AUTHOR_DATE", &date)
        .env("GIT_COMMITTER_DATE", &date)
        .output()
        .expect("git is installed");
    assert!(out.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&out.stderr));
}

impl Fixture {
    fn new() -> Self {
        let it = Self { dir: TempDir::new().unwrap(), minutes: 0 };
        it.git(&["init", "-q", "-b", "main"]);
        it
    }

    fn path(&self) -> PathBuf {
        self.dir.path().to_owned()
    }

    fn git(&self, args: &[&str]) {
        git_in(self.dir.path(), self.minutes, args);
    }

    /// Writes files and commits everything.
    fn commit(&mut self, subject: &str, files: &[(&str, &str)]) {
        self.minutes += 1;
        for (path, text) in files {
            let path = self.dir.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", subject]);
    }

    fn read(&self) -> Past {
        read(&self.path())
    }
}

fn read(root: &Path) -> Past {
    open(root).unwrap().past(&Limits::default(), None).unwrap()
}

/// Formats each commit as `subject: path path`.
fn show(past: &Past) -> Vec<String> {
    let paths =
        |c: &Commit| c.paths.iter().map(|p| format!(" {}", past.paths[*p as usize])).collect::<String>();
    past.commits.iter().map(|c| format!("{}:{}", c.subject, paths(c))).collect()
}

fn small() -> Fixture {
    let mut f = Fixture::new();
    f.commit("Start", &[("a.go", "1"), ("dir/b.go", "1")]);
    f.commit("Parse requests (#12)\n\nlong text", &[("a.go", "2")]);
    f.commit("Parsing of b", &[("a.go", "3"), ("dir/b.go", "2")]);
    f
}

#[test]
fn commits_come_newest_first_with_what_they_changed() {
    let mut f = small();
    fs::remove_file(f.path().join("a.go")).unwrap();
    f.commit("Remove a", &[("dir/new/c.go", "")]);
    let past = f.read();
    assert_eq!(
        show(&past),
        [
            "Remove a: a.go dir/new/c.go",
            "Parsing of b: a.go dir/b.go",
            "Parse requests (#12): a.go",
            "Start: a.go dir/b.go"
        ]
    );
    assert_eq!(Ok(hex(&past.head)), open(&f.path()).unwrap().head());
    assert_eq!(past.boundary, [0; 32]);
}

#[test]
fn merges_are_passed_through() {
    let mut f = small();
    f.git(&["checkout", "-q", "-b", "side", "HEAD~1"]);
    f.commit("Side", &[("s.go", "")]);
    f.git(&["checkout", "-q", "main"]);
    f.commit("Main", &[("m.go", "")]);
    f.minutes += 1;
    f.git(&["merge", "-q", "--no-ff", "-m", "Merge side", "side"]);
    let subjects: Vec<String> = f.read().commits.into_iter().map(|c| c.subject).collect();
    assert_eq!(subjects, ["Main", "Side", "Parsing of b", "Parse requests (#12)", "Start"]);
}

#[test]
fn commits_of_one_moment_have_one_order() {
    let mut f = small();
    for branch in ["x", "y", "z"] {
        f.git(&["checkout", "-q", "-b", branch, "main"]);
        f.minutes = 9;
        f.commit(branch, &[(branch, "")]);
    }
    f.git(&["merge", "-q", "-m", "m", "x", "y"]);
    let ids: Vec<CommitId> = f.read().commits.iter().take(3).map(|c| c.id).collect();
    let mut sorted = ids.clone();
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    assert_eq!(ids, sorted);
}

#[test]
fn commits_sum_up_by_path() {
    let past = small().read();
    let files = past.files();
    let seen: Vec<_> = files.iter().map(|(path, f)| (path.as_str(), f.n_commits, f.newest)).collect();
    assert_eq!(seen, [("a.go", 3, 0), ("dir/b.go", 2, 0)]);
    let terms: Vec<_> = files[0].1.terms.iter().map(|(t, n)| (t.as_str(), *n)).collect();
    assert_eq!(terms, [("of", 1), ("pars", 2), ("request", 1), ("start", 1)]);
}

#[test]
fn sweeping_commits_tell_only_when() {
    let mut f = small();
    f.commit("Sweep", &[("a.go", "9"), ("b", ""), ("c", ""), ("d", "")]);
    let with = |files_per_commit_max, files_looked_at_max| {
        let limits = Limits { files_per_commit_max, files_looked_at_max, ..Limits::default() };
        let files = open(&f.path()).unwrap().past(&limits, None).unwrap().files();
        let a = &files.iter().find(|(path, _)| path == "a.go").unwrap().1;
        (a.n_commits, a.newest, a.terms.iter().any(|t| t.0 == "sweep"), files.len())
    };
    assert_eq!(with(4, 4), (4, 0, true, 5));
    assert_eq!(with(3, 4), (3, 0, false, 5));
    assert_eq!(with(3, 3), (3, 1, false, 2));
}

#[test]
fn a_root_below_the_work_tree_sees_its_own_part() {
    let f = small();
    let repo = open(&f.path().join("dir")).unwrap();
    let past = repo.past(&Limits::default(), None).unwrap();
    assert_eq!(show(&past), ["Parsing of b: b.go", "Parse requests (#12):", "Start: b.go"]);
    let holds = |path, bytes: &[u8]| repo.holds(&repo.head().unwrap(), path, bytes);
    assert!(holds("b.go", b"2") && !holds("b.go", b"1") && !holds("../a.go", b"3"));
    // The past of another root cannot be reused.
    assert_eq!(repo.past(&Limits::default(), Some(&f.read())).unwrap(), past);
}

#[test]
fn reading_on_equals_reading_afresh() {
    let mut f = small();
    let limits = Limits { commits_max: 4, ..Limits::default() };
    let mut past = open(&f.path()).unwrap().past(&limits, None).unwrap();
    for i in 0..4 {
        f.commit(&format!("More {i}"), &[("a.go", &i.to_string()), (&format!("n{i}"), "")]);
        let repo = open(&f.path()).unwrap();
        let fresh = repo.past(&limits, None).unwrap();
        let on = repo.past(&limits, Some(&past)).unwrap();
        assert_eq!((&on, on.digest()), (&fresh, fresh.digest()));
        assert_ne!(on.digest(), past.digest());
        assert_eq!(repo.past(&limits, Some(&on)).unwrap(), on);
        past = on;
    }
    assert_eq!(past.commits.len(), 4);
    // Moving HEAD back, and packing, change nothing either.
    f.git(&["reset", "-q", "--hard", "HEAD~2"]);
    f.git(&["gc", "-q"]);
    let repo = open(&f.path()).unwrap();
    assert_eq!(repo.past(&limits, Some(&past)).unwrap(), repo.past(&limits, None).unwrap());
    let stored: Past = bitcode::decode(&bitcode::encode(&past)).unwrap();
    assert_eq!(stored, past);
}

#[test]
fn a_shallow_clone_ends_at_its_boundary() {
    let f = small();
    let other = TempDir::new().unwrap();
    git_in(other.path(), 0, &["clone", "-q", "--depth", "2", &format!("file://{}", f.path().display()), "c"]);
    let clone = other.path().join("c");
    let past = read(&clone);
    assert_ne!(past.boundary, [0; 32]);
    assert_eq!(show(&past), ["Parsing of b: a.go dir/b.go", "Parse requests (#12):"]);
    // A deeper clone has the same HEAD and more to read.
    git_in(&clone, 0, &["fetch", "-q", "--unshallow"]);
    let deeper = open(&clone).unwrap().past(&Limits::default(), Some(&past)).unwrap();
    assert_eq!(deeper, f.read());
}

#[test]
fn linked_worktrees_and_alternates_of_the_user_are_followed() {
    let f = small();
    let other = TempDir::new().unwrap();
    let worktree = other.path().join("w");
    f.git(&["worktree", "add", "-q", "-b", "w", worktree.to_str().unwrap()]);
    assert_eq!(read(&worktree), f.read());
    git_in(other.path(), 0, &["clone", "-q", "--shared", f.path().to_str().unwrap(), "s"]);
    assert_eq!(read(&other.path().join("s")), f.read());
}

#[test]
fn a_commit_names_blobs() {
    let f = small();
    let repo = open(&f.path()).unwrap();
    let head = repo.head().unwrap();
    assert_eq!(repo.blob(&head, "dir/b.go"), blob_id(b"2"));
    for path in ["dir", "none", "dir/none"] {
        assert_eq!(repo.blob(&head, path), None, "{path}");
    }
    for no_commit in ["none", &"0".repeat(40)] {
        assert_eq!(repo.blob(no_commit, "dir/b.go"), None, "{no_commit}");
    }
    let cases: [(&str, &[u8], bool); 3] = [("a.go", b"3", true), ("a.go", b"4", false), ("z", b"", false)];
    for (path, bytes, expect) in cases {
        assert_eq!(repo.holds(&head, path, bytes), expect, "{path}");
    }
}

#[test]
fn what_cannot_be_read_is_a_state() {
    let empty = TempDir::new().unwrap();
    assert_eq!(open(empty.path()).err(), Some(Unavailable::NoRepository));
    // A bare repository in the root is content of the workspace, not its past.
    git_in(empty.path(), 0, &["init", "-q", "--bare", "."]);
    assert_eq!(open(empty.path()).err(), Some(Unavailable::NoRepository));
    assert_eq!(open(&empty.path().join("none")).err(), Some(Unavailable::NoRepository));
    let unborn = Fixture::new();
    let repo = open(&unborn.path()).unwrap();
    assert_eq!(repo.past(&Limits::default(), None), Err(Unavailable::NoCommits));
    assert_eq!(repo.head(), Err(Unavailable::NoCommits));
    for text in ["", "garbage", "gitdir: /nonexistent\n", "gitdir: .git\n"] {
        let odd = TempDir::new().unwrap();
        fs::write(odd.path().join(".git"), text).unwrap();
        assert!(matches!(open(odd.path()).err(), Some(Unavailable::Unreadable { .. })), "{text:?}");
    }
}

#[test]
fn damage_ends_the_walk_or_is_a_state() {
    let f = small();
    let first = f.read().commits[2].id;
    let hex = hex(&first);
    let object = f.path().join(".git/objects").join(&hex[..2]).join(&hex[2..]);
    fs::remove_file(&object).unwrap();
    assert_eq!(show(&f.read()), ["Parsing of b: a.go dir/b.go", "Parse requests (#12):"]);
    fs::write(f.path().join(".git/HEAD"), "ref: refs/heads/../../x\n").unwrap();
    let state = open(&f.path()).and_then(|r| r.past(&Limits::default(), None));
    assert!(matches!(state, Err(Unavailable::Unreadable { .. } | Unavailable::NoCommits)), "{state:?}");
}

#[cfg(unix)]
#[test]
fn stores_of_other_users_are_refused() {
    let f = small();
    let alternates = f.path().join(".git/objects/info/alternates");
    let foreign = if rustix::process::geteuid().is_root() {
        let dir = f.path().join(".git/foreign");
        fs::create_dir(&dir).unwrap();
        std::os::unix::fs::chown(&dir, Some(65534), None).unwrap();
        dir
    } else {
        PathBuf::from("/usr")
    };
    fs::write(&alternates, format!("# other\n{}\n", foreign.display())).unwrap();
    assert_eq!(open(&f.path()).err(), Some(Unavailable::Foreign { part: "alternate object store" }));
    // Alternates in a circle end as well.
    fs::write(&alternates, "../objects\n").unwrap();
    assert!(matches!(open(&f.path()).err(), Some(Unavailable::Unreadable { .. })));
}

#[test]
fn nothing_in_a_repository_is_run() {
    let mut f = small();
    let marker = f.path().join("marker");
    let command = format!("touch {}", marker.display());
    for key in [
        "core.fsmonitor",
        "core.sshCommand",
        "core.pager",
        "core.editor",
        "core.gitProxy",
        "diff.external",
        "credential.helper",
        "gpg.program",
        "filter.x.clean",
        "filter.x.smudge",
        "filter.x.process",
        "diff.x.textconv",
        "alias.log",
    ] {
        f.git(&["config", key, &command]);
    }
    f.git(&["config", "core.hooksPath", "."]);
    fs::write(f.path().join("post-index-change"), format!("#!/bin/sh\n{command}\n")).unwrap();
    fs::write(f.path().join(".gitattributes"), "* filter=x diff=x\n").unwrap();
    let _ = fs::remove_file(&marker);
    let repo = open(&f.path()).unwrap();
    assert_eq!(repo.past(&Limits::default(), None).unwrap().commits.len(), 3);
    assert!(repo.holds(&repo.head().unwrap(), "a.go", b"3"));
    assert!(!marker.exists());
    f.minutes += 1;
}

#[test]
fn lines_of_the_newest_commits_are_known() {
    let mut f = Fixture::new();
    f.commit("Start", &[("a.go", "a\nb\nc\n"), ("b.go", "x\n")]);
    f.commit("Second", &[("a.go", "a\nB\nc\n")]);
    f.commit("Third", &[("a.go", "new\na\nB\nc\n")]);
    let touched = |lines_commits_max, files_per_commit_max, known: Option<&Past>| {
        let limits = Limits { lines_commits_max, files_per_commit_max, ..Limits::default() };
        let past = open(&f.path()).unwrap().past(&limits, known).unwrap();
        let file = &past.files()[0].1;
        let show = |t: &indexd_model::view::Touched| (t.lines.start, t.lines.end, t.newest);
        (file.touched.iter().map(show).collect::<Vec<_>>(), past)
    };
    let all = vec![(1, 1, 0), (2, 2, 2), (3, 3, 1), (4, 4, 2)];
    assert_eq!(touched(9, 9, None).0, all);
    // A commit beyond the limits ends the trail.
    assert_eq!(touched(2, 9, None).0, all.iter().filter(|t| t.2 < 2).copied().collect::<Vec<_>>());
    assert_eq!(touched(9, 1, None).0, all.iter().filter(|t| t.2 < 2).copied().collect::<Vec<_>>());
    assert_eq!(touched(0, 9, None).0, []);
    // A past read before is reused as far as it goes.
    for before in [0, 1, 9] {
        let known = touched(before, 9, None).1;
        for now in [0, 1, 2, 9] {
            assert_eq!(touched(now, 9, Some(&known)), touched(now, 9, None), "{before} {now}");
        }
    }
    let repo = open(&f.path()).unwrap();
    let (limits, head) = (Limits::default(), repo.head().unwrap());
    assert_eq!(repo.past_of(&head, &limits, None), repo.past(&limits, None));
    assert!(repo.past_of("no id", &limits, None).is_err());
}

/// A change in the same tick in which git wrote its index leaves the time of the file as git recorded it.
#[test]
fn a_file_of_the_tick_of_the_index_may_have_changed() {
    let fixture = small();
    let written = fs::metadata(fixture.path().join("a.go")).unwrap().modified().unwrap();
    for (later_ns, is_known) in [(0, false), (1, true)] {
        let index = fs::File::options().write(true).open(fixture.path().join(".git/index")).unwrap();
        index.set_modified(written + std::time::Duration::from_nanos(later_ns)).unwrap();
        let staged = open(&fixture.path()).unwrap().staged().unwrap();
        assert_eq!(staged.files["a.go"].mtime.is_some(), is_known, "an index written {later_ns} ns later");
    }
}

#[test]
fn what_commits_say_changes_with_the_version() {
    let sample = |name: &str, f: &Fixture| {
        let past = f.read();
        golden::Sample {
            name: name.to_owned(),
            input: past.commits.iter().map(|c| hex(&c.id)).collect(),
            output: format!("{:?} {:?}", past.files(), past.digest()),
        }
    };
    let mut long = small();
    let lines = |n: u32| (0..n).map(|i| format!("line {i}\n")).collect::<String>();
    long.commit("fix(parser): handle `HTTPHeader` values, closes #34", &[("a.go", &lines(20))]);
    long.commit("Revert \"Parsing of b\"", &[("a.go", &lines(12)), ("dir/c.py", "x = 1\n")]);
    let samples = [sample("small", &small()), sample("long", &long)];
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/version.golden");
    golden::check(&file, "HISTORY_VERSION", HISTORY_VERSION, &samples);
}
