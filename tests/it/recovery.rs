//! After any stop the index is what a build of the tree gives, or there is none and it is built.

use crate::edits::{Edit, Repository};
use crate::support::{Bench, dump_of_fresh_build, number, on_large_stack};
use indexd::workspace::indexing::stages::Parts;
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
    let entries = fs::read_dir(bench.home().join(current.lines().next().unwrap())).unwrap();
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

/// How a data file is damaged.
const DAMAGES: [&str; 6] = ["flip bits", "flip one bit", "zero a page", "swap pages", "copy a page", "cut"];

/// Damages a data file below the file system: as a disk does it that returns other bytes, sizes and
/// times unchanged but for a file that is cut.
fn damage(data: &std::path::Path, how: &str, seed: u64) {
    const PAGE: usize = 4096;
    let meta = fs::metadata(data).unwrap();
    let mut bytes = fs::read(data).unwrap();
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut random = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % n as u64) as usize
    };
    let n_pages = bytes.len() / PAGE;
    // Two pages that differ, behind the meta pages.
    let (a, b) = (0..1_000)
        .map(|_| (2 + random(n_pages - 2), 2 + random(n_pages - 2)))
        .find(|(a, b)| bytes[a * PAGE..][..PAGE] != bytes[b * PAGE..][..PAGE])
        .unwrap();
    match how {
        "flip bits" => (0..64).for_each(|_| bytes[random(n_pages * PAGE)] ^= 1 << random(8)),
        "flip one bit" => bytes[random(n_pages * PAGE)] ^= 1 << random(8),
        "zero a page" => {
            let used = (2..n_pages).find(|p| bytes[p * PAGE..][..PAGE].iter().any(|b| *b != 0)).unwrap();
            bytes[used * PAGE..][..PAGE].fill(0);
        }
        "swap pages" => (0..PAGE).for_each(|i| bytes.swap(a * PAGE + i, b * PAGE + i)),
        "copy a page" => bytes.copy_within(a * PAGE..(a + 1) * PAGE, b * PAGE),
        _ => bytes.truncate((1 + random(n_pages - 1)) * PAGE),
    }
    fs::write(data, bytes).unwrap();
    let times = fs::FileTimes::new().set_modified(meta.modified().unwrap());
    fs::File::options().write(true).open(data).unwrap().set_times(times).unwrap();
}

#[test]
fn whatever_a_disk_changes_in_a_closed_index_is_noticed() {
    let n_trials = std::env::var("INDEXD_TEST_DAMAGES").map_or(24, |n| n.parse().unwrap());
    let (mut bench, dump) = built();
    for seed in 0..n_trials {
        let how = DAMAGES[seed as usize % DAMAGES.len()];
        bench.close();
        let data = environment(&bench).into_iter().find(|p| p.ends_with("data.mdb")).unwrap();
        damage(&data, how, seed + 1);
        bench.reopen();
        assert!(bench.was_damaged(), "{how}, seed {seed}");
        bench.sweep();
        assert_eq!(bench.dump(), dump, "{how}, seed {seed}");
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

/// The program that verifies an index inherits neither the data files of those that are open nor
/// anything else.
#[cfg(target_os = "linux")]
#[test]
fn who_verifies_an_index_inherits_no_other() {
    use indexd::workspace::indexing::recovery::{Trust, Verify, open_checked};
    use std::os::unix::fs::PermissionsExt;
    let (open, _) = built();
    let tmp = tempfile::tempdir().unwrap();
    let program = tmp.path().join("verify");
    let seen = tmp.path().join("seen");
    fs::write(&program, "#!/bin/sh\n/bin/ls -l /proc/$$/fd > \"$2/../seen\"\n").unwrap();
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let own = fs::read_dir("/proc/self/fd").unwrap().flatten().filter_map(|e| fs::read_link(e.path()).ok());
    let data = environment(&open).into_iter().find(|p| p.ends_with("data.mdb")).unwrap();
    assert!(own.into_iter().any(|path| path == data), "the data file is open here");
    let dir = tmp.path().join("i1");
    fs::create_dir(&dir).unwrap();
    drop(open_checked(&dir, b"", &Verify::Child(program), Trust::Verified).unwrap());
    let seen = fs::read_to_string(seen).unwrap();
    assert!(seen.contains("/dev/null"), "{seen}");
    assert!(!seen.contains("data.mdb") && !seen.contains("lock.mdb"), "{seen}");
}
