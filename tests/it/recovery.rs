//! After any stop the index is what a build of the tree gives, or there is none and it is built.

use crate::edits::{Edit, Repository};
use crate::support::{Bench, dump_of_fresh_build, number, on_large_stack};
use indexd::workspace::stages::Parts;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Set for the process that is to be killed; names its folder.
const CHILD: &str = "INDEXD_TEST_CHILD";

/// Not a test by itself: what the killed process does. It builds, then edits and follows for ever.
#[test]
fn child() {
    let Ok(top) = std::env::var(CHILD) else { return };
    on_large_stack(move || {
        let mut bench = Bench::at(Path::new(&top), Parts::default());
        bench.sweep();
        let mut repository = Repository::default();
        for step in 0.. {
            let edit = match step % 5 {
                0 => Edit::RenameFolder(step % 7, (step / 5) % 7),
                1 => Edit::Body(step % 18, step as u8),
                _ => Edit::Write((step * 7) % 18, step as u16),
            };
            let dirty = repository.apply(&edit, bench.root());
            bench.update(&dirty);
            if step % 40 == 39 {
                bench.build();
            }
        }
    });
}

/// Few kills by default; `INDEXD_TEST_KILLS=100` for the full run.
#[test]
fn killed_at_any_moment_the_next_start_catches_up() {
    on_large_stack(|| {
        let tmp = tempfile::tempdir().unwrap();
        let mut delay = 1u64;
        for kill in 0..number("INDEXD_TEST_KILLS", 15) {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["--exact", "recovery::child"]).env(CHILD, tmp.path());
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            // Moments from the first instruction to the middle of updates and rebuilds.
            delay = (delay * 37 + 11) % 401;
            std::thread::sleep(Duration::from_millis(delay));
            let still_ran = child.try_wait().unwrap().is_none();
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(still_ran, "the process must run until it is killed");

            let mut bench = Bench::at(tmp.path(), Parts::default());
            bench.sweep();
            assert_eq!(bench.dump(), dump_of_fresh_build(bench.root()), "kill {kill} after {delay} ms");
            if kill % 2 == 0 {
                bench.close();
            }
        }
    });
}

fn built() -> (Bench, String) {
    let mut bench = Bench::new();
    Repository::new(bench.root());
    bench.build();
    let dump = bench.dump();
    (bench, dump)
}

/// Every file of the current environment.
fn environment(bench: &Bench) -> Vec<std::path::PathBuf> {
    let current = fs::read_to_string(bench.home().join("current")).unwrap();
    let entries = fs::read_dir(bench.home().join(current.trim())).unwrap();
    entries.map(|e| e.unwrap().path()).collect()
}

#[test]
fn a_missing_or_cut_index_is_built_again() {
    for damage in ["remove data", "cut data", "remove all", "no current", "foreign current"] {
        let (mut bench, dump) = built();
        bench.close();
        let data = environment(&bench).into_iter().find(|p| p.ends_with("data.mdb")).unwrap();
        match damage {
            "remove data" => fs::remove_file(&data).unwrap(),
            "cut data" => fs::File::options().write(true).open(&data).unwrap().set_len(8192).unwrap(),
            "remove all" => fs::remove_dir_all(bench.home()).unwrap(),
            "no current" => fs::remove_file(bench.home().join("current")).unwrap(),
            _ => fs::write(bench.home().join("current"), "../../etc\n").unwrap(),
        }
        bench.reopen();
        bench.sweep();
        assert_eq!(bench.dump(), dump, "{damage}");
    }
}

#[test]
fn a_build_that_was_cut_off_leaves_the_old_index() {
    let (mut bench, dump) = built();
    bench.close();
    fs::create_dir(bench.home().join("i2")).unwrap();
    fs::write(bench.home().join("i2/data.mdb"), "half").unwrap();
    bench.reopen();
    assert_eq!(bench.dump(), dump, "without a sweep: the old one is there");
    assert!(!bench.home().join("i2").exists(), "what a crash left is removed");
    bench.build();
    assert_eq!(bench.dump(), dump);
}
