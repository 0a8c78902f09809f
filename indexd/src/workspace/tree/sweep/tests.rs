use super::*;
use std::io::Write;

/// A tree on disk whose changes count as read as soon as they are seen.
struct Fixture {
    tmp: tempfile::TempDir,
    tree: Tree,
}

impl Fixture {
    fn new(files: &[(&str, &str)]) -> Self {
        let tmp = tempfile::tempdir().unwrap();
        for (path, text) in files {
            put(tmp.path(), path, text);
        }
        let tree = Tree::new(tmp.path(), &[], KnownFiles::default());
        let mut fixture = Self { tmp, tree };
        let all = fixture.tree.sweep(None).unwrap();
        fixture.accept(&all);
        fixture
    }

    fn accept(&mut self, changes: &ChangeSet) {
        for path in changes.changed.keys() {
            let meta = fs::symlink_metadata(self.tmp.path().join(&**path)).unwrap();
            self.tree.remember(path, Some(stat_of(&meta)));
        }
        for path in &changes.removed {
            self.tree.remember(path, None);
        }
    }

    /// Checks the changes found at `dirty`, as `+path` and `-path`, and that nothing is left over for a
    /// sweep.
    fn check(&mut self, dirty: &[&str], want: &[&str]) {
        let changes = self.tree.examine(dirty.iter().copied()).unwrap();
        self.accept(&changes);
        let mut seen: Vec<String> = changes.changed.keys().map(|p| format!("+{p}")).collect();
        seen.extend(changes.removed.iter().map(|p| format!("-{p}")));
        assert_eq!(seen, want, "{dirty:?}");
        assert_eq!(self.tree.sweep(None).unwrap(), ChangeSet::default(), "left over after {dirty:?}");
    }

    fn dir(&self) -> PathBuf {
        self.tmp.path().to_owned()
    }
}

fn put(root: &Path, path: &str, text: &str) {
    let at = root.join(path);
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    fs::write(at, text).unwrap();
}

#[test]
fn a_dirty_file_is_one_change() {
    let mut f = Fixture::new(&[("a.go", "1"), ("b/c.go", "2")]);
    put(&f.dir(), "b/c.go", "three");
    f.check(&["b/c.go"], &["+b/c.go"]);
    f.check(&["b/c.go"], &[]);
    fs::remove_file(f.dir().join("a.go")).unwrap();
    f.check(&["a.go"], &["-a.go"]);
}

#[test]
fn a_new_or_moved_folder_is_walked() {
    let mut f = Fixture::new(&[("a/x.go", "1"), ("a/b/y.go", "2")]);
    put(&f.dir(), "n1/n2/n3/z.go", "3");
    f.check(&["n1"], &["+n1/n2/n3/z.go"]);
    fs::rename(f.dir().join("a"), f.dir().join("moved")).unwrap();
    f.check(&["a", "moved"], &["+moved/b/y.go", "+moved/x.go", "-a/b/y.go", "-a/x.go"]);
    put(&f.dir(), "p/q/deep.go", "4");
    f.check(&["p/q/deep.go"], &["+p/q/deep.go"]);
}

#[test]
fn a_file_may_become_a_folder_and_back() {
    let mut f = Fixture::new(&[("a", "1")]);
    fs::remove_file(f.dir().join("a")).unwrap();
    put(&f.dir(), "a/b", "2");
    f.check(&["a"], &["+a/b", "-a"]);
    fs::remove_dir_all(f.dir().join("a")).unwrap();
    put(&f.dir(), "a", "3");
    f.check(&["a"], &["+a", "-a/b"]);
}

#[test]
fn an_ignore_file_is_an_input() {
    let mut f = Fixture::new(&[("s/a.log", "1"), ("s/b.go", "2"), ("t/c.log", "3")]);
    put(&f.dir(), "s/.gitignore", "*.log\n");
    f.check(&["s/.gitignore"], &["+s/.gitignore", "-s/a.log"]);
    put(&f.dir(), ".ignore", "t/\n");
    f.check(&[".ignore"], &["+.ignore", "-t/c.log"]);
    fs::remove_file(f.dir().join("s/.gitignore")).unwrap();
    f.check(&["s/.gitignore"], &["+s/a.log", "-s/.gitignore"]);
}

#[test]
fn a_file_written_and_ignored_at_once_is_removed() {
    let mut f = Fixture::new(&[("s/a.log", "1")]);
    put(&f.dir(), "s/a.log", "more");
    put(&f.dir(), "s/b.log", "new");
    put(&f.dir(), "s/.gitignore", "*.log\n");
    f.check(&["s/.gitignore", "s/a.log", "s/b.log"], &["+s/.gitignore", "-s/a.log"]);
}

#[test]
fn a_repository_inside_leaves_and_joins_with_its_git_folder() {
    let mut f = Fixture::new(&[("sub/a.go", "1"), ("sub/in/b.go", "2")]);
    put(&f.dir(), "sub/.git/HEAD", "x");
    f.check(&["sub/.git"], &["-sub/a.go", "-sub/in/b.go"]);
    assert!(f.tree.watched().any(|d| d == "sub"), "to see it join again");
    f.check(&["sub/a.go"], &[]);
    fs::remove_dir_all(f.dir().join("sub/.git")).unwrap();
    f.check(&["sub/.git"], &["+sub/a.go", "+sub/in/b.go"]);
}

#[test]
fn a_vanished_root_is_an_error_and_no_change() {
    let mut f = Fixture::new(&[("a.go", "1")]);
    fs::remove_dir_all(f.dir()).unwrap();
    assert_eq!(f.tree.sweep(None).unwrap_err().source.kind(), io::ErrorKind::NotFound);
    assert_eq!(f.tree.n_files(), 1);
}

#[test]
fn folders_come_and_go_with_the_set() {
    let mut f = Fixture::new(&[("a/b/c.go", "1")]);
    put(&f.dir(), "d/e/f.go", "2");
    let changes = f.tree.examine(["d"]).unwrap();
    assert_eq!(changes.folders_new.iter().map(String::as_str).collect::<Vec<_>>(), ["d", "d/e"]);
    fs::remove_dir_all(f.dir().join("a")).unwrap();
    let changes = f.tree.examine(["a"]).unwrap();
    assert_eq!(changes.folders_gone.iter().map(String::as_str).collect::<Vec<_>>(), ["a", "a/b"]);
}

#[test]
fn the_later_word_counts_when_sets_merge() {
    let set = |changed: &[&str], removed: &[&str]| ChangeSet {
        changed: changed.iter().map(|p| (RepoPath::new(p).unwrap(), 0)).collect(),
        removed: removed.iter().map(|p| RepoPath::new(p).unwrap()).collect(),
        ..ChangeSet::default()
    };
    let mut all = set(&["a", "b"], &["c"]);
    all.merge(set(&["c"], &["a"]));
    assert_eq!(all, set(&["b", "c"], &["a"]));
}

#[test]
fn a_setting_and_a_longer_ignore_file_are_inputs() {
    let mut f = Fixture::new(&[("a/b/y.go", "2"), ("d/n.log", "4"), ("top.go", "9")]);
    f.tree.set_excludes(&["*.log".to_owned()]);
    let changes = f.tree.sweep(None).unwrap();
    assert_eq!(changes.removed.iter().map(|p| p.to_string()).collect::<Vec<_>>(), ["d/n.log"]);
    f.accept(&changes);
    put(&f.dir(), "a/.gitignore", "y.go");
    f.check(&["a/.gitignore"], &["+a/.gitignore", "-a/b/y.go"]);
    let kept = f.dir().join("a/.gitignore");
    fs::OpenOptions::new().append(true).open(kept).unwrap().write_all(b".old").unwrap();
    f.check(&["a/.gitignore"], &["+a/.gitignore", "+a/b/y.go"]);
}
