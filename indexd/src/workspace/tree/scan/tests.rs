use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fs;

fn write(root: &Path, path: &str, text: &str) {
    let at = root.join(path);
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    fs::write(at, text).unwrap();
}

/// What a walk finds that knows nothing.
fn all(root: &Path) -> Scan {
    scan(root, "", &Layer::top(root, &[]), &|_| {}, &KnownFiles::default())
}

fn names(all: &Scan) -> Vec<String> {
    let mut names: Vec<String> = all.changed.iter().map(|f| f.0.to_string()).collect();
    names.sort();
    assert_eq!(names.len(), all.n_files);
    names
}

#[test]
fn hidden_files_count_and_git_links_nested_repositories_do_not() {
    let tmp = tempfile::tempdir().unwrap();
    let root = tmp.path();
    for path in [
        ".github/ci.yml",
        ".git/config",
        "a.go",
        "sub/.git/HEAD",
        "sub/b.go",
        "mod/.git",
        "mod/c.go",
        "d/e.py",
    ] {
        write(root, path, "x");
    }
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("a.go", root.join("link.go")).unwrap();
        std::os::unix::fs::symlink(root, root.join("loop")).unwrap();
    }
    let all = all(root);
    assert_eq!(names(&all), [".github/ci.yml", "a.go", "d/e.py"]);
    assert_eq!(all.nested, ["mod", "sub"]);
    assert_eq!(all.folders.iter().map(|(k, _)| &**k).collect::<BTreeSet<_>>(), ["", ".github", "d"].into());
}

/// A disk that fails says nothing of whether a file is there.
#[test]
fn a_file_that_cannot_be_looked_at_makes_the_walk_incomplete() {
    if !indexd_os::faults::ARE_POSSIBLE {
        return;
    }
    let tmp = tempfile::tempdir().unwrap();
    write(tmp.path(), "a.go", "x");
    write(tmp.path(), "on_a_bad_sector.go", "x");
    // Other tests of this process know no file of that name.
    indexd_os::faults::set(Some(Box::new(|call, at| match (call, at) {
        ("stat", "on_a_bad_sector.go") => Err(std::io::ErrorKind::Other.into()),
        _ => Ok(()),
    })));
    let found = all(tmp.path());
    indexd_os::faults::set(None);
    assert!(found.error.is_some());
    assert_eq!(names(&found), ["a.go"]);
}

#[cfg(unix)]
#[test]
fn names_that_are_not_utf8_are_listed_and_left_out() {
    use std::os::unix::ffi::OsStrExt;
    let tmp = tempfile::tempdir().unwrap();
    fs::write(tmp.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9.go")), "x").unwrap();
    write(tmp.path(), "line\nbreak.go", "x");
    let all = all(tmp.path());
    assert_eq!(all.skipped_names, ["caf\u{fffd}.go"]);
    assert_eq!(all.n_files, 1);
}

#[test]
fn a_file_touched_just_before_reading_is_read_again() {
    let stat = FileStat { mtime_ns: 1_000_000_000, ctime_ns: 5, ..FileStat::default() };
    assert_ne!(remembered(stat, 1_000_000_000), stat);
    assert_ne!(remembered(stat, 1_000_000_000 + COARSE_NS), stat);
    assert_eq!(remembered(stat, 1_000_000_001 + COARSE_NS), stat);
}

#[test]
fn a_stamp_is_settled_when_its_clock_has_ticked() {
    let whole = 7_000_000_000;
    for (touched_ns, now_ns, want) in [
        (whole + 1, whole + 1, false),
        (whole + 1, whole + 1 + RACY_NS, false),
        (whole + 1, whole + 2 + RACY_NS, true),
        (whole, whole + 1 + RACY_NS, false),
        (whole, whole + 1 + COARSE_NS, true),
        (whole + 1, whole - COARSE_NS, false),
        (i64::MAX, whole, false),
        (0, whole, false),
    ] {
        assert_eq!(is_settled(touched_ns, now_ns), want, "{touched_ns} at {now_ns}");
    }
}

/// The set as the `ignore` crate's own walker sees it, for rules that both know.
fn by_walker(root: &Path) -> Vec<String> {
    let mut builder = ignore::WalkBuilder::new(root);
    builder.hidden(false).require_git(false).parents(false).git_global(false).git_exclude(false);
    builder.add_custom_ignore_filename(".indexdignore");
    builder.filter_entry(|e| e.file_name() != ".git");
    let mut out: Vec<String> = builder
        .build()
        .flatten()
        .filter(|e| e.file_type().is_some_and(|t| t.is_file()))
        .map(|e| e.path().strip_prefix(root).unwrap().to_str().unwrap().to_owned())
        .collect();
    out.sort();
    out
}

fn a_dir() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(vec!["a", "b", "build", "x.d"]), 0..3)
        .prop_map(|v| v.join("/"))
}

fn a_pattern() -> impl Strategy<Value = String> {
    prop_oneof![
        "!?/?(a|b|build|\\*|x\\.d|\\*\\*)(/(a|b|f\\.go|\\*\\.py|\\*\\*))?/?",
        "!?(\\*\\.go|f\\.\\*|a|b/|build/|\\[fg\\]\\.py|\\?\\.go)",
        "#.*",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// One file alone is judged as the walk of the whole tree judges it, and both agree with the
    /// walker of the `ignore` crate.
    #[test]
    fn one_path_is_judged_as_the_whole_tree(
        files in proptest::collection::vec((a_dir(), "[fg]\\.(go|py)"), 1..12),
        rules in proptest::collection::vec(
            (a_dir(), prop_oneof![Just(".gitignore"), Just(".ignore"), Just(".indexdignore")],
             proptest::collection::vec(a_pattern(), 1..4)), 0..4),
    ) {
        let tmp = tempfile::tempdir().unwrap();
        let root = tmp.path();
        for (dir, name) in &files {
            write(root, &indexd_model::path::join(dir, name), "x");
        }
        for (dir, name, lines) in &rules {
            write(root, &indexd_model::path::join(dir, name), &lines.join("\n"));
        }
        let all = all(root);
        let found = names(&all);
        prop_assert_eq!(&found, &by_walker(root));
        for (dir, name) in &files {
            let path = indexd_model::path::join(dir, name);
            let folder = all.folders.iter().find(|(k, _)| **k == **dir);
            let admitted = folder.is_some_and(|(_, layer)| layer.admits(&path, false));
            prop_assert_eq!(admitted, found.contains(&path), "{}", path);
        }
    }
}
