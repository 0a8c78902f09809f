//! Changes in repositories of odd states, with git as the judge: the same files change in the same way, or
//! the answer says why it does not know.

use crate::answers::{World, ask, check_shape, world};
use crate::client::{Client, run};
use crate::support::{git, try_git};
use indexd_proto::pack::Pack;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn write(root: &Path, path: &str, text: impl AsRef<[u8]>) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A function of several lines.
fn function(name: &str) -> String {
    let lines: String = (0..9).map(|n| format!("    {name}_{n} = {n}\n")).collect();
    format!("def {name}():\n{lines}    return {name}_0\n")
}

/// A repository of one commit.
fn committed(root: &Path) {
    for (path, name) in [("a.py", "alpha"), ("b.py", "beta"), ("d/c.py", "gamma"), ("e/f/g.py", "delta")] {
        write(root, path, function(name));
    }
    write(root, "data.bin", b"\0\x01\x02");
    git(root, &["init", "-q", "-b", "main"]);
    git(root, &["add", "-A"]);
    git(root, &["commit", "-q", "-m", "one"]);
}

/// Makes the times of all files others, as a copy of a tree does.
fn touch(root: &Path, path: &str) {
    let file = fs::File::options().write(true).open(root.join(path)).unwrap();
    file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(5_000)).unwrap();
}

/// The letter that git has for a status.
fn letter(status: &str) -> char {
    match status {
        "added" => 'A',
        "removed" => 'D',
        "renamed" => 'R',
        _ => 'M',
    }
}

/// Each changed file as a letter and a path, as git has them, and what could not be read.
async fn ours(world: &World, root: &Path, change: Value) -> Result<(BTreeSet<String>, Vec<String>), String> {
    let c = &mut Client::of(&world.server);
    let params = json!({"change": change, "cwd": root.to_str().unwrap(), "noCache": true});
    let (_, answer) = ask(world, c, "pack", params).await;
    if let Some(message) = answer["error"]["message"].as_str() {
        return Err(message.to_owned());
    }
    let pack: Pack = check_shape("pack", &json!({"result": answer["result"]["pack"]}));
    let (mut files, mut unread) = (BTreeSet::new(), Vec::new());
    for file in &pack.change.expect("the pack is about a change").files {
        match &file.unreadable {
            Some(why) => unread.push(format!("{}: {why}", file.file_rel_path)),
            None => {
                files.insert(format!("{} {}", letter(file.status.name()), file.file_rel_path));
            }
        }
    }
    Ok((files, unread))
}

/// What git says of the same; files in conflict are left out.
fn theirs(root: &Path, args: &[&str]) -> BTreeSet<String> {
    let said = git(root, &[&["diff", "--name-status", "-M"], args].concat());
    let line = |line: &str| {
        let mut parts = line.split('\t');
        let (letter, path) = (parts.next()?.chars().next()?, parts.next_back()?);
        (letter != 'U').then(|| format!("{letter} {path}"))
    };
    said.lines().filter_map(line).collect()
}

/// Compares the three usual changes with git's. `unread` names paths that need not agree.
async fn check(world: &World, name: &str, set_up: impl Fn(&Path), unread: &[&str]) {
    let root = PathBuf::from(&world.root).parent().unwrap().join(name);
    fs::create_dir_all(&root).unwrap();
    set_up(&root);
    for (change, args) in [
        (json!({"diff": "HEAD"}), &["HEAD"][..]),
        (json!({"staged": true}), &["--cached"][..]),
        (json!({"worktree": true}), &[][..]),
    ] {
        let (files, left) =
            ours(world, &root, change.clone()).await.unwrap_or_else(|e| panic!("{name}: {e}"));
        let known = |line: &String| !unread.iter().any(|path| line.ends_with(path));
        let files: BTreeSet<String> = files.into_iter().filter(known).collect();
        let theirs: BTreeSet<String> = theirs(&root, args).into_iter().filter(known).collect();
        assert_eq!(files, theirs, "{name} {change}, not read: {left:?}");
        assert!(
            left.iter().all(|l| unread.iter().any(|path| l.starts_with(path))),
            "{name} {change}: {left:?}"
        );
    }
}

fn conflict(root: &Path) {
    committed(root);
    git(root, &["checkout", "-q", "-b", "side"]);
    write(root, "a.py", function("alpha").replace("= 3", "= 33"));
    fs::remove_file(root.join("b.py")).unwrap();
    git(root, &["commit", "-q", "-am", "side"]);
    git(root, &["checkout", "-q", "main"]);
    write(root, "a.py", function("alpha").replace("= 3", "= 44"));
    write(root, "b.py", function("beta").replace("= 3", "= 44"));
    git(root, &["commit", "-q", "-am", "main"]);
    assert!(try_git(root, &["merge", "-q", "side"]).is_err());
}

fn edited(root: &Path) {
    committed(root);
    write(root, "a.py", function("alpha").replace("= 3", "= 33"));
    git(root, &["add", "a.py"]);
    write(root, "b.py", function("beta").replace("= 4", "= 44"));
    git(root, &["mv", "d/c.py", "d/moved.py"]);
    git(root, &["rm", "-q", "e/f/g.py"]);
    write(root, "new.py", function("fresh"));
    git(root, &["add", "new.py"]);
    touch(root, "data.bin");
}

fn left_out(root: &Path) {
    committed(root);
    git(root, &["update-index", "--skip-worktree", "a.py"]);
    fs::remove_file(root.join("a.py")).unwrap();
    git(root, &["update-index", "--assume-unchanged", "b.py"]);
    write(root, "b.py", "changed = 1\n");
    git(root, &["update-index", "--skip-worktree", "d/c.py"]);
    write(root, "d/c.py", "changed = 1\n");
}

fn meant_to_be_added(root: &Path) {
    committed(root);
    // A file of the commit, a new one, and one that is not there any more, each with the flags that keep git from
    // looking at it.
    git(root, &["rm", "-q", "--cached", "a.py", "b.py"]);
    for path in ["new.py", "gone.py", "skipped.py", "assumed.py", "skipped-gone.py"] {
        write(root, path, function("fresh"));
    }
    git(root, &["add", "-N", "."]);
    git(root, &["update-index", "--skip-worktree", "skipped.py", "skipped-gone.py", "b.py"]);
    git(root, &["update-index", "--assume-unchanged", "assumed.py"]);
    fs::remove_file(root.join("gone.py")).unwrap();
    fs::remove_file(root.join("skipped-gone.py")).unwrap();
}

#[test]
fn changes_are_those_that_git_sees() {
    run(async {
        let world = world();
        check(&world, "edited", edited, &[]).await;
        check(&world, "left-out", left_out, &[]).await;
        check(&world, "meant-to-be-added", meant_to_be_added, &[]).await;
        check(&world, "conflict", conflict, &["a.py", "b.py"]).await;
        for (name, sparse) in
            [("sparse", &["--cone"][..]), ("sparse-index", &["--cone", "--sparse-index"][..])]
        {
            let checked_out = |root: &Path| {
                committed(root);
                git(root, &[&["sparse-checkout", "set"], sparse, &["d"]].concat());
                assert!(!root.join("e/f/g.py").exists());
                write(root, "d/c.py", function("gamma").replace("= 3", "= 33"));
            };
            check(&world, name, checked_out, &[]).await;
        }
    });
}

#[test]
fn line_ends_and_filters_are_those_of_git() {
    run(async {
        let world = world();
        let dos = |name: &str| function(name).replace('\n', "\r\n");
        let autocrlf = |root: &Path| {
            committed(root);
            git(root, &["config", "core.autocrlf", "true"]);
            for (path, name) in [("a.py", "alpha"), ("b.py", "beta"), ("d/c.py", "gamma")] {
                write(root, path, dos(name));
            }
            write(root, "b.py", dos("beta").replace("= 3", "= 33"));
            touch(root, "e/f/g.py");
        };
        check(&world, "autocrlf", autocrlf, &[]).await;
        let attributes = |root: &Path| {
            write(root, ".gitattributes", "*.py text eol=crlf\n*.txt ident\n");
            write(root, "x.txt", "$Id$\none\n");
            committed(root);
            ["a.py", "b.py", "x.txt"].iter().for_each(|path| fs::remove_file(root.join(path)).unwrap());
            git(root, &["checkout", "-q", "--", "."]);
            assert!(fs::read_to_string(root.join("a.py")).unwrap().contains("\r\n"));
            touch(root, "a.py");
            touch(root, "x.txt");
            let text = fs::read_to_string(root.join("b.py")).unwrap();
            write(root, "b.py", text.replace("= 3", "= 33"));
        };
        check(&world, "attributes", attributes, &[]).await;
        let top = PathBuf::from(&world.root).parent().unwrap().to_owned();
        // One line of a file with other ends is one line of a change.
        let c = &mut Client::of(&world.server);
        let root = top.join("autocrlf");
        let params = json!({"change": {"diff": "HEAD"}, "cwd": root.to_str().unwrap(), "rendered": true});
        let (_, answer) = ask(&world, c, "pack", params).await;
        let text = answer["result"]["rendered"].as_str().unwrap();
        assert!(text.contains("-    beta_3 = 3\n") && text.matches("\n+    ").count() == 1, "{text}");
        let filtered = |root: &Path| {
            write(root, ".gitattributes", "a.py filter=up\nb.py filter=up\nd/c.py filter=none\n");
            committed(root);
            git(root, &["config", "filter.up.clean", "tr a-z A-Z"]);
            touch(root, "a.py");
            write(root, "d/c.py", function("gamma").replace("= 3", "= 33"));
        };
        check(&world, "filtered", filtered, &["a.py", "b.py"]).await;
        let root = top.join("filtered");
        let (_, unread) = ours(&world, &root, json!({"diff": "HEAD"})).await.unwrap();
        assert!(
            unread.contains(&"a.py: git passes it through a program, which is not run".to_owned()),
            "{unread:?}"
        );
    });
}

#[test]
fn what_is_not_there_or_not_read_is_said() {
    run(async {
        let world = world();
        let top = PathBuf::from(&world.root).parent().unwrap().to_owned();
        let unborn = top.join("unborn");
        write(&unborn, "a.py", function("alpha"));
        git(&unborn, &["init", "-q"]);
        git(&unborn, &["add", "-A"]);
        let staged = ours(&world, &unborn, json!({"staged": true})).await.unwrap();
        assert_eq!(staged.0, ["A a.py".to_owned()].into());
        let message = ours(&world, &unborn, json!({"diff": "HEAD"})).await.unwrap_err();
        assert!(message.contains("has no commits"), "{message}");

        for (name, args, said) in [
            ("sha256", "--object-format=sha256", "SHA-256"),
            ("reftable", "--ref-format=reftable", "reftable"),
        ] {
            let root = top.join(name);
            write(&root, "a.py", function("alpha"));
            if try_git(&root, &["init", "-q", args]).is_err() {
                continue;
            }
            git(&root, &["add", "-A"]);
            git(&root, &["commit", "-q", "-m", "one"]);
            for change in [json!({"diff": "HEAD"}), json!({"staged": true}), json!({"worktree": true})] {
                let message = ours(&world, &root, change).await.unwrap_err();
                assert!(message.contains(said), "{message}");
            }
        }

        // Contents that a clone has not fetched, and commits that it does not have.
        let origin = top.join("origin");
        committed(&origin);
        write(&origin, "a.py", function("alpha").replace("= 3", "= 33"));
        git(&origin, &["commit", "-q", "-am", "two"]);
        git(&origin, &["config", "uploadpack.allowFilter", "true"]);
        let url = format!("file://{}", origin.display());
        let (partial, shallow) = (top.join("partial"), top.join("shallow"));
        git(&top, &["clone", "-q", "--filter=blob:none", &url, partial.to_str().unwrap()]);
        let (files, unread) = ours(&world, &partial, json!({"diff": "HEAD~1..HEAD"})).await.unwrap();
        assert!(files.is_empty() && unread.len() == 1 && unread[0].contains("not fetched"), "{unread:?}");
        git(&top, &["clone", "-q", "--depth", "1", &url, shallow.to_str().unwrap()]);
        write(&shallow, "b.py", function("beta").replace("= 3", "= 33"));
        assert_eq!(
            ours(&world, &shallow, json!({"diff": "HEAD"})).await.unwrap().0,
            theirs(&shallow, &["HEAD"])
        );
        let message = ours(&world, &shallow, json!({"diff": "HEAD~1"})).await.unwrap_err();
        assert!(message.contains("no commit is named"), "{message}");
        for garbage in ["garbage\n", "abc", "\0\n", &"a".repeat(64)] {
            write(&shallow, ".git/shallow", garbage);
            let message = ours(&world, &shallow, json!({"diff": "HEAD"})).await.unwrap_err();
            assert!(message.contains("shallow commits is broken"), "{garbage:?}: {message}");
        }
    });
}

/// Links, submodules, modes, encodings and files that rules leave out are named with a reason.
/// A file that is not staged and that rules leave out is gone to git, although it is there.
#[test]
fn what_was_removed_from_the_index_and_left_out_is_named() {
    run(async {
        let world = world();
        let root = PathBuf::from(&world.root).parent().unwrap().join("unstaged");
        committed(&root);
        git(&root, &["rm", "-q", "--cached", "d/c.py"]);
        write(&root, ".gitignore", "d/\n");
        assert!(theirs(&root, &["HEAD"]).contains("D d/c.py"));
        let (_, unread) = ours(&world, &root, json!({"diff": "HEAD"})).await.unwrap();
        assert_eq!(unread, ["d/c.py: the index leaves it out"]);
    });
}

#[test]
fn what_differs_but_is_not_shown_is_named() {
    run(async {
        let world = world();
        let top = PathBuf::from(&world.root).parent().unwrap().to_owned();
        let (root, inner) = (top.join("kinds"), top.join("inner"));
        committed(&inner);
        write(&root, "link.py", "");
        fs::remove_file(root.join("link.py")).unwrap();
        std::os::unix::fs::symlink("a.py", root.join("link.py")).unwrap();
        write(&root, ".gitattributes", "wide.py working-tree-encoding=UTF-16LE-BOM\n");
        let wide = |text: &str| {
            let units = text.encode_utf16().flat_map(u16::to_le_bytes);
            [0xff, 0xfe].into_iter().chain(units).collect::<Vec<u8>>()
        };
        write(&root, "wide.py", wide("wide = 1\n"));
        committed(&root);
        let from = inner.to_str().unwrap();
        git(&root, &["-c", "protocol.file.allow=always", "submodule", "add", "-q", from, "sub"]);
        git(&root, &["commit", "-q", "-m", "two"]);
        let program = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(root.join("a.py"), program).unwrap();
        fs::remove_file(root.join("link.py")).unwrap();
        std::os::unix::fs::symlink("b.py", root.join("link.py")).unwrap();
        fs::remove_file(root.join("b.py")).unwrap();
        std::os::unix::fs::symlink("a.py", root.join("b.py")).unwrap();
        // A folder in the place of a file.
        fs::remove_file(root.join("d/c.py")).unwrap();
        write(&root, "d/c.py/inner.py", function("other"));
        write(&root, ".gitignore", "e/\n");
        write(&root, "e/f/g.py", function("delta").replace("= 3", "= 33"));
        write(&root, "wide.py", wide("wide = 2\n"));
        git(&root.join("sub"), &["commit", "-q", "--allow-empty", "-m", "three"]);
        let want = [
            "a.py: only its mode differs",
            "b.py: it is a symbolic link",
            "e/f/g.py: the index leaves it out",
            "link.py: it is a symbolic link",
            "sub: it is a submodule",
            "wide.py: git keeps it in another encoding, which is not known here",
        ];
        let files: BTreeSet<String> =
            ["A .gitignore", "A d/c.py/inner.py", "D d/c.py"].map(str::to_owned).into();
        for change in [json!({"diff": "HEAD"}), json!({"worktree": true})] {
            assert_eq!(
                ours(&world, &root, change).await,
                Ok((files.clone(), want.map(str::to_owned).into()))
            );
        }
        // Nothing changes once it is staged and committed; the encoding is that of the work tree alone.
        git(&root, &["add", "-A"]);
        let staged = ours(&world, &root, json!({"staged": true})).await.unwrap();
        assert_eq!(staged.1, want[..5]);
        git(&root, &["commit", "-q", "-m", "four"]);
        assert_eq!(ours(&world, &root, json!({"diff": "HEAD~1..HEAD"})).await, Ok(staged));
        // Modes that git does not compare did not change.
        git(&root, &["config", "core.fileMode", "false"]);
        let plain = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        fs::set_permissions(root.join("a.py"), plain).unwrap();
        assert_eq!(ours(&world, &root, json!({"diff": "HEAD"})).await.unwrap().1, Vec::<String>::new());
    });
}

/// A patch is of the files as they are; the index has them without their secrets.
#[test]
fn a_patch_may_touch_what_the_index_does_not_show() {
    run(async {
        let world = world();
        let root = PathBuf::from(&world.root).parent().unwrap().join("secret");
        let token = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
        committed(&root);
        write(&root, "a.py", format!("{}TOKEN = \"{token}\"\n", function("alpha")));
        git(&root, &["commit", "-q", "-am", "two"]);
        write(&root, "a.py", format!("{}TOKEN = \"none\"\n", function("alpha").replace("= 8", "= 88")));
        let patch = git(&root, &["diff", "HEAD"]);
        let change = json!({"patch": patch});
        let (files, unread) = ours(&world, &root, change.clone()).await.unwrap();
        assert_eq!((files, unread), (["M a.py".to_owned()].into(), Vec::new()));
        git(&root, &["reset", "-q", "--hard"]);
        let c = &mut Client::of(&world.server);
        let params = json!({"change": change, "cwd": root.to_str().unwrap(), "rendered": true});
        let (_, answer) = ask(&world, c, "pack", params).await;
        let text = answer["result"]["rendered"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert!(text.contains("+TOKEN = \"none\"") && !text.contains(&token), "{text}");
    });
}

/// Numbers that are the same every time.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as usize
    }
}

const PATHS: [&str; 7] = ["a.py", "b.py", "d/c.py", "d/new.py", "e/f/g.py", "e/other.py", "x y.py"];

/// Does something to a repository as people do; what git refuses is not done.
fn step(root: &Path, random: &mut Random) {
    let path = PATHS[random.below(PATHS.len())];
    let at = root.join(path);
    let n = random.below(9);
    match random.below(19) {
        0..=3 => write(root, path, function("same").replace(&format!("= {n}\n"), "= 77\n")),
        4 => drop(fs::remove_file(&at)),
        5 | 6 => drop(try_git(root, &["add", "-A"])),
        7 => drop(try_git(root, &["add", "--", path])),
        8 => drop(try_git(root, &["commit", "-q", "--allow-empty", "-m", "more"])),
        9 => drop(try_git(root, &["mv", path, PATHS[random.below(PATHS.len())]])),
        10 => drop(try_git(root, &["update-index", "--skip-worktree", "--", path])),
        11 => drop(try_git(root, &["update-index", "--assume-unchanged", "--", path])),
        12 => {
            drop(try_git(root, &["update-index", "--no-skip-worktree", "--no-assume-unchanged", "--", path]))
        }
        13 => drop(try_git(root, &["config", "core.autocrlf", ["true", "input", "false"][random.below(3)]])),
        14 if at.is_file() => {
            let text = fs::read_to_string(&at).unwrap();
            write(root, path, if n < 5 { text.replace("\r\n", "\n").replace('\n', "\r\n") } else { text });
        }
        15 if at.is_file() => touch(root, path),
        16 => drop(try_git(root, &["rm", "-q", "--cached", "--", path])),
        17 => {
            let _ = try_git(root, &["checkout", "-q", "-B", "side", "HEAD~1"]);
            write(root, path, function("other").replace(&format!("= {n}\n"), "= 99\n"));
            let _ = try_git(root, &["commit", "-q", "-am", "side"]);
            let _ = try_git(root, &["merge", "-q", "main"]);
        }
        18 => drop(try_git(root, &["add", "-N", "--", path])),
        _ => write(
            root,
            ".gitattributes",
            ["*.py text=auto\n", "*.py -text\n", "d/*.py text eol=crlf\n"][n % 3],
        ),
    }
}

/// Without renames, new files counted as added; what only one side can say is left out.
fn plain(root: &Path, args: &[&str]) -> (BTreeSet<String>, BTreeSet<String>) {
    let said = git(root, &[&["diff", "--name-status", "--no-renames", "-z"], args].concat());
    let mut parts = said.split_terminator('\0');
    let (mut files, mut skipped) = (BTreeSet::new(), BTreeSet::new());
    while let (Some(letter), Some(path)) = (parts.next(), parts.next()) {
        match letter {
            "U" => drop(skipped.insert(path.to_owned())),
            letter => drop(files.insert(format!("{letter} {path}"))),
        }
    }
    if args != ["--cached"] {
        for path in git(root, &["ls-files", "-o", "--exclude-standard", "-z"]).split_terminator('\0') {
            // Git has it gone and new, which is a file that changed or did not.
            if files.contains(&format!("D {path}")) {
                skipped.insert(path.to_owned());
            }
            files.insert(format!("A {path}"));
        }
    }
    (files, skipped)
}

/// Repositories in states that a dozen random steps lead to. `INDEXD_TEST_SCRIPTS` is how many.
#[test]
fn changes_in_random_states_are_those_that_git_sees() {
    let asked = std::env::var("INDEXD_TEST_SCRIPTS").ok().and_then(|n| n.parse().ok());
    let top = tempfile::tempdir().unwrap();
    run(async {
        let world = world();
        for seed in 0..asked.unwrap_or(8_u64) {
            let mut random = Random(0x9e37_79b9 + seed * 7_919);
            let root = top.path().join(format!("r{seed}"));
            fs::create_dir_all(&root).unwrap();
            committed(&root);
            for _ in 0..8 + random.below(10) {
                step(&root, &mut random);
            }
            for (change, args) in [
                (json!({"diff": "HEAD"}), &["HEAD"][..]),
                (json!({"staged": true}), &["--cached"][..]),
                (json!({"worktree": true}), &[][..]),
            ] {
                let (theirs, skipped) = plain(&root, args);
                let c = &mut Client::of(&world.server);
                let params = json!({"change": change, "cwd": root.to_str().unwrap(), "noCache": true});
                let (_, answer) = ask(&world, c, "pack", params).await;
                let pack: Pack = check_shape("pack", &json!({"result": answer["result"]["pack"]}));
                let (mut ours, mut unread) = (BTreeSet::new(), Vec::new());
                for file in &pack.change.expect("the pack is about a change").files {
                    if let Some(why) = &file.unreadable {
                        unread.push((file.file_rel_path.clone(), why.clone()));
                    } else if let Some(previous) = &file.previous_path {
                        ours.insert(format!("D {previous}"));
                        ours.insert(format!("A {}", file.file_rel_path));
                    } else {
                        ours.insert(format!("{} {}", letter(file.status.name()), file.file_rel_path));
                    }
                }
                let counts = |line: &String| {
                    let is = |path: &str| line.ends_with(&format!(" {path}"));
                    !skipped.iter().any(|path| is(path)) && !unread.iter().any(|(path, _)| is(path))
                };
                let only = |files: &BTreeSet<String>| {
                    files.iter().filter(|l| counts(l)).cloned().collect::<Vec<_>>()
                };
                assert_eq!(only(&ours), only(&theirs), "seed {seed} {change}, not read: {unread:?}");
                assert!(
                    unread.iter().all(|(path, _)| skipped.contains(path)),
                    "seed {seed} {change}: {unread:?}"
                );
            }
        }
    });
}
