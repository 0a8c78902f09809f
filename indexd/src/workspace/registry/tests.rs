use super::*;

/// Which root each folder of a small world belongs to.
#[test]
fn a_folder_belongs_to_the_nearest_root() {
    let tmp = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(tmp.path()).unwrap();
    for dir in [
        "home/repo/.git",
        "home/repo/a/b",
        "home/repo/sub/.git",
        "home/repo/sub/c",
        "home/proj/src",
        "home/plain/x",
        "home/hg/.hg",
        "home/hg/a/b",
        "home/old/.svn",
        "home/old/a/.svn",
        "home/old/a/b/.svn",
    ] {
        fs::create_dir_all(top.join(dir)).unwrap();
    }
    fs::write(top.join("home/proj/go.mod"), "module m\n").unwrap();
    fs::write(top.join("home/pyproject.toml"), "").unwrap();
    fs::write(top.join("home/proj/src/package.json"), "{}").unwrap();
    let home = top.join("home");
    let check = |cwd: &str, registered: &[&str], want: Option<&str>| {
        let is_registered = |dir: &Path| registered.iter().any(|r| top.join(r) == dir);
        assert_eq!(root_of(&top.join(cwd), &home, is_registered), want.map(|w| top.join(w)), "{cwd}");
    };
    check("home/repo/a/b", &[], Some("home/repo"));
    check("home/repo/a/b", &["home/repo/a"], Some("home/repo/a"));
    check("home/repo/sub/c", &["home/repo"], Some("home/repo/sub"));
    check("home/repo/sub/c", &["home/repo", "home/repo/sub/c"], Some("home/repo/sub/c"));
    check("home/proj/src", &[], Some("home/proj"));
    check("home/hg/a/b", &[], Some("home/hg"));
    check("home/old/a/b", &[], Some("home/old"));
    check("home/proj/src", &["home"], Some("home"));
    check("home/plain/x", &[], Some("home/plain/x"));
    check("home", &[], None);
    assert_eq!(root_of(Path::new("/"), &home, |_| false), None);
}

#[test]
fn equal_names_and_odd_names_have_folders_of_their_own() {
    let name = |p: &str| folder_name(Path::new(p));
    assert_ne!(name("/a/repo"), name("/b/repo"));
    assert!(name("/a/repo").starts_with("repo-"));
    assert_eq!(name("/a/..x/\u{e9} /").len(), 17);
}
