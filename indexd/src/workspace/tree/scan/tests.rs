use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fs;

fn write(root: &Path, path: &str, text: &str) {
    let at = root.join(path);
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    fs::write(at, text).unwrap();
}

/// Returns the result of a walk without known files.
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
    let (set, nested): (Vec<_>, Vec<_>) = all.folders.iter().partition(|(_, rules)| rules.is_some());
    let paths = |of: Vec<&(Box<str>, _)>| of.iter().map(|(k, _)| k.to_string()).collect::<BTreeSet<_>>();
    assert_eq!(paths(nested), ["mod", "sub"].map(str::to_owned).into());
    assert_eq!(paths(set), ["", ".github", "d"].map(str::to_owned).into());
}

/// Metadata of a version control system are not content, by any name of their folder.
#[test]
fn metadata_is_not_entered() {
    let tmp = tempfile::tempdir().unwrap();
    let bare = |dir: &str| {
        ["HEAD", "objects/pack/x.go", "refs/heads/x.go", "hooks/x.py"].map(|f| format!("{dir}/{f}"))
    };
    let others = [
        ".svn/pristine/a.go",
        "sub/.svn/a.go",
        ".hg/store/a.go",
        ".jj/repo/a.go",
        ".bzr/a.go",
        "_darcs/pristine/a.go",
    ];
    let cvs = ["CVS/Entries", "CVS/Repository", "CVS/Root", "CVS/Base/a.go"];
    let kept = ["a.go", "sub/b.go", "CVS.go", "refs/heads/c.go", "HEAD/d.go"];
    let all_of = [".bare", "mirror.git", "sub/bare"].iter().flat_map(|dir| bare(dir));
    for path in all_of.chain([others.as_slice(), &cvs, &kept].concat().into_iter().map(str::to_owned)) {
        write(tmp.path(), &path, "x");
    }
    assert_eq!(names(&all(tmp.path())), ["CVS.go", "HEAD/d.go", "a.go", "refs/heads/c.go", "sub/b.go"]);
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

/// A repository of git that knows no settings but its own.
fn init(root: &Path) {
    assert!(git(root, &["init", "-q"]).is_some());
}

/// Returns the output of a git command.
fn git(root: &Path, args: &[&str]) -> Option<String> {
    let out = std::process::Command::new("git").arg("-C").arg(root).args(args).output().unwrap();
    out.status.success().then(|| String::from_utf8(out.stdout).unwrap())
}

/// The untracked files as git lists them, ordered.
fn by_git(root: &Path) -> Vec<String> {
    let listed = git(root, &["ls-files", "-co", "--exclude-standard", "-z"]).unwrap();
    let mut names: Vec<String> = listed.split_terminator('\0').map(str::to_owned).collect();
    names.sort();
    names
}

fn cases(few: u32) -> ProptestConfig {
    let asked = std::env::var("INDEXD_TEST_SCRIPTS").ok().and_then(|n| n.parse().ok());
    ProptestConfig::with_cases(asked.unwrap_or(few))
}

const FILES: [&str; 24] = [
    "a",
    "ab",
    "b.py",
    "a.js",
    "a.{js,ts}",
    "b.py{}",
    "foo.bar",
    "foo/bar",
    "foo/a/bar",
    "foo/a/b/bar",
    "fooxbar",
    "src/gen/x",
    "src/out/x",
    "src/{gen,out}/x",
    "[",
    "x[y",
    "a b",
    "a b ",
    "#a",
    "!a",
    "a\\b",
    "é/ü.c",
    "d/#b#",
    "d/$x",
];

/// Each set of lines leaves out what git leaves out by it.
#[test]
fn patterns_mean_what_they_mean_to_git() {
    let tmp = tempfile::tempdir().unwrap();
    let root = tmp.path();
    init(root);
    FILES.iter().for_each(|path| write(root, path, "x"));
    for rules in [
        "*.py{}",
        "*.{js,ts}",
        "src/{gen,out}/",
        "foo[^.]bar",
        "[",
        "x[",
        "[[]",
        "[]]",
        "[z-a]",
        "[!a]*",
        "**/bar",
        "foo/**",
        "foo/**/bar",
        "foo**bar",
        "**",
        "/*",
        "/*\n!/foo",
        "*\n!*/\n!*.py",
        "a\\ b",
        "a b\\ ",
        "a b ",
        "\\#a",
        "\\!a",
        "!a",
        "*\n!a",
        "a\\\\b",
        "a\\",
        "é",
        "?",
        "[[:alpha:]]",
        "[[:alpha:]]?",
        "foo/",
        "foo/a/",
        "/foo/*/bar",
        "foo/*",
        "*/bar",
        "d/$x",
        "\\$x",
        "$x",
        "\u{feff}ab",
        "a\r\nab\r",
        "  a",
        "a*b",
        "[a-b]*",
        "#*#",
        "\\#b#",
    ] {
        fs::write(root.join(".gitignore"), rules).unwrap();
        assert_eq!(names(&all(root)), by_git(root), "{rules:?}");
    }
}

fn a_dir() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(vec!["a", "b", "build", "x.d"]), 0..3)
        .prop_map(|v| v.join("/"))
}

fn a_pattern() -> impl Strategy<Value = String> {
    let piece = proptest::sample::select(vec![
        "*",
        "**",
        "**/",
        "/",
        "?",
        "!",
        "#",
        "\\",
        " ",
        "[",
        "]",
        "[ab]",
        "[!a]",
        "[^.]",
        "[a-",
        "[[:alpha:]]",
        "{",
        "}",
        ",",
        "$",
        "a",
        "b",
        "ab",
        "build",
        "f.go",
        "g.py",
        ".go",
        ".py",
        ".",
        "x.d",
    ]);
    prop_oneof![
        "!?/?(a|b|build|\\*|x\\.d|\\*\\*)(/(a|b|f\\.go|\\*\\.py|\\*\\*))?/?",
        "!?(\\*\\.go|f\\.\\*|a|b/|build/|\\[fg\\]\\.py|\\?\\.go)",
        proptest::collection::vec(piece, 1..6).prop_map(|pieces| pieces.concat()),
    ]
}

proptest! {
    #![proptest_config(cases(64))]

    /// Generated ignore files leave out what git leaves out, and one file alone is judged as the walk of
    /// the whole tree judges it. `INDEXD_TEST_SCRIPTS` is how many.
    #[test]
    fn one_path_is_judged_as_the_whole_tree_and_as_by_git(
        files in proptest::collection::vec((a_dir(), "[fg]\\.(go|py)|[ab]{1,2}\\{?,?\\[?"), 1..12),
        rules in proptest::collection::vec((a_dir(), proptest::collection::vec(a_pattern(), 1..4)), 1..4),
    ) {
        let tmp = tempfile::tempdir().unwrap();
        let root = tmp.path();
        init(root);
        for (dir, name) in &files {
            let path = indexd_model::path::join(dir, name);
            // A folder may be there by now.
            if !root.join(&path).exists() && fs::create_dir_all(root.join(dir)).is_ok() {
                fs::write(root.join(&path), "x").unwrap();
            }
        }
        for (dir, lines) in &rules {
            if fs::create_dir_all(root.join(dir)).is_ok() {
                fs::write(root.join(dir).join(".gitignore"), lines.join("\n")).unwrap();
            }
        }
        let all = all(root);
        let found = names(&all);
        prop_assert_eq!(&found, &by_git(root));
        for (dir, name) in &files {
            let path = indexd_model::path::join(dir, name);
            if root.join(&path).is_file() {
                let folder = all.folders.iter().find(|(k, _)| **k == **dir);
                let layer = folder.and_then(|(_, layer)| layer.as_ref());
                let admitted = layer.is_some_and(|layer| layer.admits(&path, false));
                prop_assert_eq!(admitted, found.contains(&path), "{}", path);
            }
        }
    }
}

/// Settings that name the excludes for all repositories, each in a repository's own file.
#[test]
fn excludes_are_found_through_settings_as_git_finds_them() {
    for (settings, files) in [
        ("[core]\n\texcludesFile = TOP/x/rules\n", ""),
        ("[core]\nexcludesfile=\"TOP/x/rules\" # mine\n", ""),
        ("[core]\nEXCLUDESFILE = TOP/none\nexcludesfile = TOP/x/rules ; mine\n", ""),
        ("[core]\nexcludesfile = TOP/x/rules\nexcludesfile =\n", ""),
        ("[core]\nexcludesfile = TOP/x/link\n", ""),
        ("[core] excludesfile = rel\n", ""),
        ("[core]\nexcludesfile = TOP/\\\nx/rules\n", ""),
        ("[user]\nexcludesfile = TOP/x/rules\n", ""),
        ("[include]\n\tpath = TOP/x/more\n", "[core]\nexcludesfile = TOP/x/rules\n"),
        ("[include]\n\tpath = ../../x/more\n", "[core]\nexcludesfile = TOP/x/rules\n"),
        ("[includeIf \"gitdir:TOP/\"]\n\tpath = TOP/x/more\n", "[core]\nexcludesfile = TOP/x/rules\n"),
        ("[includeIf \"gitdir:/else/\"]\n\tpath = TOP/x/more\n", "[core]\nexcludesfile = TOP/x/rules\n"),
        ("[includeIf \"onbranch:to/*\"]\n\tpath = TOP/x/more\n", "[core]\nexcludesfile = TOP/x/rules\n"),
        ("[includeIf \"onbranch:main\"]\n\tpath = TOP/x/more\n", "[core]\nexcludesfile = TOP/x/rules\n"),
        ("[core]\nignoreCase = true\nexcludesfile = TOP/x/rules\n", ""),
    ] {
        let tmp = tempfile::tempdir().unwrap();
        let top = tmp.path().canonicalize().unwrap();
        let root = top.join("r");
        write(&top, "x/rules", "*.log\n");
        write(&top, "x/more", &files.replace("TOP", top.to_str().unwrap()));
        write(&top, "r/rel", "b*\n");
        #[cfg(unix)]
        std::os::unix::fs::symlink("rules", top.join("x/link")).unwrap();
        init(&root);
        git(&root, &["symbolic-ref", "HEAD", "refs/heads/to/pic"]).unwrap();
        ["a.log", "b", "A.LOG", "c/d.log"].iter().for_each(|path| write(&root, path, "x"));
        let config = root.join(".git/config");
        let own = fs::read_to_string(&config).unwrap() + &settings.replace("TOP", top.to_str().unwrap());
        fs::write(&config, own).unwrap();
        assert_eq!(names(&all(&root)), by_git(&root), "{settings}");
    }
}

/// A file named by a repository's settings may be large, or not a file at all.
#[cfg(unix)]
#[test]
fn settings_of_a_repository_cannot_make_the_scan_hang() {
    let tmp = tempfile::tempdir().unwrap();
    let root = tmp.path();
    init(root);
    write(root, "a.log", "x");
    fs::File::create(root.join("sparse")).unwrap().set_len(1 << 40).unwrap();
    for named in ["/dev/zero", "../sparse", "config"] {
        let settings = format!("[include]\npath = {named}\n[core]\nexcludesFile = {named}\n");
        fs::write(root.join(".git/config"), settings).unwrap();
        assert_eq!(names(&all(root)), ["a.log", "sparse"], "{named}");
    }
}
