//! What indexes share: one that began as a copy of another is the index of its own tree, and a content
//! that comes back is not extracted again.

use crate::edits::{Edit, Repository, script};
use crate::support::{Bench, dump_of_fresh_build, first_difference, number, on_large_stack, sharing};
use indexd::workspace::indexing::stages::Stage;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn write(root: &Path, path: &str, text: &str) {
    let at = root.join(path);
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    fs::write(at, text).unwrap();
}

/// A tree of enough files to be worth a copy.
fn tree(root: &Path) {
    write(root, "go.mod", "module m\n");
    for i in 0..100 {
        let calls =
            format!("import \"m/p{}\"\n\nfunc F{i}() int {{ return p{}.F{}() }}\n", i / 2, i / 2, i / 2);
        let text = if i == 0 { "func F0() int { return 1 }\n".to_owned() } else { calls };
        write(root, &format!("p{i}/f.go"), &format!("package p{i}\n\n{text}"));
    }
}

fn extracted(bench: &Bench) -> usize {
    bench.log().take().iter().filter(|(stage, _)| *stage == Stage::Extract).count()
}

#[test]
fn an_index_begins_as_a_copy_of_one_like_it_and_is_that_of_its_tree() {
    for is_open in [true, false] {
        let tmp = tempfile::tempdir().unwrap();
        let cache = tmp.path().join("cache");
        let shared = sharing(tmp.path());
        let [one, two] = ["one", "two"].map(|name| tmp.path().join(name));
        tree(&one);
        tree(&two);
        write(&two, "p3/f.go", "package p3\n\nfunc F3() string { return \"\" }\n");
        write(&two, "p200/f.go", "package p200\n\nimport \"m/p3\"\n\nfunc F() { p3.F3() }\n");
        fs::remove_file(two.join("p99/f.go")).unwrap();
        // Stats younger than a tick of the file system's clock are not kept.
        std::thread::sleep(std::time::Duration::from_millis(50));
        let mut first = Bench::beside(&cache, &one, &shared);
        first.log().start();
        first.build();
        assert_eq!(extracted(&first), 101);
        if !is_open {
            first.close();
        }
        let mut second = Bench::beside(&cache, &two, &shared);
        second.log().start();
        let found = second.found();
        second.build_after(found);
        assert_eq!(extracted(&second), 2, "what differs, open: {is_open}");
        let (copied, fresh) = (second.dump(), dump_of_fresh_build(&two));
        assert!(copied == fresh, "{}", first_difference(&copied, &fresh));
        assert!(second.found().is_empty(), "the files are known by their own stats");
        second.close();
        second.reopen();
        assert!(!second.was_damaged());
        assert_eq!(second.dump(), fresh);
        if is_open {
            assert_eq!(first.dump(), dump_of_fresh_build(&one), "the other one is as it was");
        }
    }
}

#[test]
fn a_damaged_index_is_no_beginning() {
    let tmp = tempfile::tempdir().unwrap();
    let (cache, shared) = (tmp.path().join("cache"), sharing(tmp.path()));
    let [one, two] = ["one", "two"].map(|name| tmp.path().join(name));
    tree(&one);
    tree(&two);
    let mut first = Bench::beside(&cache, &one, &shared);
    first.build();
    first.close();
    let data = first.home().join("i1/data.mdb");
    let mut bytes = fs::read(&data).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    fs::write(&data, bytes).unwrap();
    let mut second = Bench::beside(&cache, &two, &shared);
    second.log().start();
    second.build();
    assert_eq!(extracted(&second), 101);
    assert_eq!(second.dump(), dump_of_fresh_build(&two));
}

fn bytes_of(dir: &Path) -> u64 {
    indexd::workspace::indexing::engine::folder_bytes(dir)
}

fn n_in(dir: &Path) -> usize {
    fs::read_dir(dir).map_or(0, Iterator::count)
}

/// Worktrees of one repository, each with a file of its own, whose indexes are built and closed.
fn asleep(
    top: &Path,
    n: usize,
) -> (std::sync::Arc<indexd::workspace::indexing::siblings::Sharing>, Vec<Bench>) {
    let (cache, shared) = (top.join("cache"), sharing(top));
    let roots: Vec<_> = (0..n).map(|i| top.join(format!("w{i}"))).collect();
    for (i, root) in roots.iter().enumerate() {
        tree(root);
        write(
            root,
            "p7/f.go",
            &format!("package p7\n\nimport \"m/p3\"\n\nfunc F7() int {{ return p3.F3() + {i} }}\n"),
        );
    }
    std::thread::sleep(std::time::Duration::from_millis(50));
    let build = |root: &std::path::PathBuf| {
        let mut bench = Bench::beside(&cache, root, &shared);
        bench.build();
        bench
    };
    let mut all: Vec<Bench> = roots.iter().map(build).collect();
    all.iter_mut().for_each(Bench::close);
    (shared, all)
}

#[test]
fn worktrees_that_sleep_take_what_they_have_apart_and_wake_as_they_were() {
    let tmp = tempfile::tempdir().unwrap();
    let (shared, mut all) = asleep(tmp.path(), 6);
    let bases = tmp.path().join("bases");
    assert_eq!(n_in(&bases), 1);
    let (base, apart) = (bytes_of(&bases), all.iter().map(|bench| bytes_of(&bench.home())).max().unwrap());
    assert!(apart < base / 8, "{apart} of {base} bytes");
    // One is edited while it sleeps, one begins as a copy of those that sleep.
    write(all[2].root(), "p9/f.go", "package p9\n\nfunc F9() {}\n");
    let new = tmp.path().join("new");
    tree(&new);
    let mut begun = Bench::beside(&tmp.path().join("cache"), &new, &shared);
    begun.log().start();
    begun.build();
    assert_eq!(extracted(&begun), 1);
    assert_eq!(begun.dump(), dump_of_fresh_build(&new));
    for (i, bench) in all.iter_mut().enumerate() {
        bench.reopen();
        assert!(!bench.was_damaged());
        bench.log().start();
        bench.sweep();
        assert_eq!(extracted(bench), usize::from(i == 2));
        let (woken, fresh) = (bench.dump(), dump_of_fresh_build(bench.root()));
        assert!(woken == fresh, "{}", first_difference(&woken, &fresh));
    }
    assert_eq!(n_in(&bases), 0, "no index needs a base any more");
    all.iter_mut().for_each(Bench::close);
    assert_eq!(n_in(&bases), 1);
    all.iter().for_each(|bench| fs::remove_dir_all(bench.home()).unwrap());
    shared.bases.collect(&tmp.path().join("cache"));
    assert_eq!(n_in(&bases), 0, "nor when all are gone");
}

#[test]
fn an_index_that_has_no_like_or_lost_its_base_is_whole_or_built_anew() {
    let tmp = tempfile::tempdir().unwrap();
    let (_shared, mut alone) = asleep(&tmp.path().join("alone"), 1);
    assert!(alone[0].current_file("data.mdb").exists(), "nothing to tell it from");
    alone[0].reopen();
    assert!(!alone[0].was_damaged());
    for is_gone in [true, false] {
        let tmp = tempfile::tempdir().unwrap();
        let (_shared, mut all) = asleep(tmp.path(), 3);
        let base = fs::read_dir(tmp.path().join("bases")).unwrap().next().unwrap().unwrap().path();
        let data = base.join("data.mdb");
        let mut bytes = fs::read(&data).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 4;
        match is_gone {
            true => fs::remove_dir_all(&base).unwrap(),
            false => fs::write(&data, bytes).unwrap(),
        }
        all.iter_mut().for_each(Bench::reopen);
        for bench in &mut all {
            assert!(bench.was_damaged());
            bench.build();
            assert_eq!(bench.dump(), dump_of_fresh_build(bench.root()));
            bench.close();
        }
        for bench in &mut all {
            bench.reopen();
            assert!(!bench.was_damaged(), "they sleep by another base");
        }
    }
}

/// One switches between contents, with and without so many changes that the index is built anew.
#[test]
fn a_branch_that_is_switched_back_and_forth_is_parsed_once() {
    for by_build in [false, true] {
        let mut bench = Bench::new();
        bench.share();
        tree(bench.root());
        bench.build();
        let branches = [0, 1].map(|branch| {
            let text = |i| {
                format!("package p{i}\n\nfunc F{i}() int {{ return {branch} }}\n\nfunc B{branch}() {{}}\n")
            };
            (1..60).map(|i| (format!("p{i}/f.go"), text(i))).collect::<BTreeMap<_, _>>()
        });
        let mut n = Vec::new();
        for round in 0..6 {
            let files = &branches[round % 2];
            files.iter().for_each(|(path, text)| bench.write(path, text));
            bench.log().start();
            match by_build {
                true => bench.build(),
                false => bench.update(&files.keys().cloned().collect::<Vec<_>>()),
            }
            n.push(extracted(&bench));
            assert_eq!(bench.dump(), dump_of_fresh_build(bench.root()), "round {round}");
        }
        assert_eq!(n, [59, 59, 0, 0, 0, 0], "by build: {by_build}");
    }
}

/// Random edits with what is shared on: the index is that of a fresh build that shares nothing.
fn follow(edits: &[(Edit, bool)]) -> Result<(), TestCaseError> {
    let mut bench = Bench::new();
    bench.share();
    let mut repository = Repository::new(bench.root());
    bench.build();
    let mut dirty = Vec::new();
    for (i, (edit, at_once)) in edits.iter().enumerate() {
        dirty.extend(repository.apply(edit, bench.root()));
        if i % 7 == 6 {
            dirty.clear();
            bench.build();
        } else if *at_once {
            bench.update(&std::mem::take(&mut dirty));
        }
    }
    bench.update(&dirty);
    let (followed, fresh) = (bench.dump(), dump_of_fresh_build(bench.root()));
    prop_assert!(followed == fresh, "{}", first_difference(&followed, &fresh));
    Ok(())
}

#[test]
fn any_edits_lead_to_the_index_of_their_end_with_what_is_shared() {
    on_large_stack(|| {
        let cases = number("INDEXD_TEST_SCRIPTS", 40) as u32;
        let config = Config { cases, max_shrink_iters: 200, failure_persistence: None, ..Config::default() };
        let edits = script(number("INDEXD_TEST_STEPS", 40));
        TestRunner::new(config).run(&edits, |edits| follow(&edits)).unwrap_or_else(|e| panic!("{e}"));
    });
}
