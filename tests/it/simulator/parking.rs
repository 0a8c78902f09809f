//! Indexes of two worktrees that are closed and opened, in which each call to the system fails once, many
//! fail from it on, or the process is killed before it.

use super::plan::copy;
use super::{run_apart, rustix_errno};
use crate::support::{dump_of, dump_of_fresh_build, first_difference, sharing};
use indexd::config::Config;
use indexd::workspace::indexing::engine::{Engine, EngineError, Setup};
use indexd::workspace::indexing::recovery::Verify;
use indexd::workspace::indexing::siblings::Sharing;
use indexd::workspace::indexing::stages::{Parts, Stage};
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Calls that fail in a row, in the second way.
const LONG: u64 = 6;
const WAYS: [&str; 3] = ["once", "for long", "killed"];
/// More than an index is too small to be parked with.
const FILES: usize = 70;

#[test]
fn any_call_that_fails_while_an_index_is_parked_loses_nothing() {
    run_apart(&WAYS.map(|way| format!("parking {way}")));
}

struct Disk {
    top: PathBuf,
    roots: [PathBuf; 2],
}

impl Disk {
    /// The indexes of two trees that are alike, closed and not parked.
    fn new(top: &Path) -> Self {
        let roots = ["one", "two"].map(|name| top.join("roots").join(name));
        for (n, root) in roots.iter().enumerate() {
            for i in 0..FILES {
                let text =
                    format!("package p{i}\n\nfunc F{i}() int {{ return {} }}\n", n * usize::from(i == 3));
                let at = root.join(format!("p{i}/f.go"));
                fs::create_dir_all(at.parent().unwrap()).unwrap();
                fs::write(at, text).unwrap();
            }
        }
        // Stats younger than a tick of the file system's clock are not kept.
        std::thread::sleep(std::time::Duration::from_millis(50));
        let disk = Self { top: top.join("first"), roots };
        let shared = disk.shared();
        shared.bases.limit(0);
        for n in 0..2 {
            let mut engine = disk.open(n, &shared).unwrap();
            engine.build(None, &|_| {}, &|| false).unwrap();
            engine.close().unwrap();
        }
        disk
    }

    fn shared(&self) -> Arc<Sharing> {
        sharing(&self.top)
    }

    fn open(&self, n: usize, shared: &Arc<Sharing>) -> Result<Engine, EngineError> {
        let mut config = Config::default();
        config.index_background_tokens = false;
        Engine::open(Setup {
            root: self.roots[n].clone(),
            home: self.top.join("cache").join(n.to_string()),
            config: Arc::new(config),
            parts: Parts::default(),
            verify: Verify::InProcess,
            sharing: Some(Arc::clone(shared)),
        })
    }

    /// Both sleep and wake up, as far as that can be done.
    fn session(&self) {
        let shared = self.shared();
        for n in [0, 1, 1, 0] {
            let _ = self.open(n, &shared).and_then(Engine::close);
        }
    }

    /// Whoever opens both finds the indexes of their trees; `is_whole` if nothing had to be built.
    fn check(&self, is_whole: bool, fresh: &[String; 2]) {
        let shared = self.shared();
        for (n, fresh) in fresh.iter().enumerate() {
            let mut engine = self.open(n, &shared).unwrap();
            engine.log.start();
            let changes = engine.tree.sweep(None).unwrap();
            match engine.needs_build(&changes) {
                true => engine.build(Some(changes), &|_| {}, &|| false).unwrap(),
                false => engine.apply(&changes, true, &|| false).unwrap(),
            }
            let n_extracted = engine.log.take().iter().filter(|(stage, _)| *stage == Stage::Extract).count();
            assert!(!is_whole || (n_extracted == 0 && !engine.was_damaged), "{n_extracted} files anew");
            let found = dump_of(&engine.store().unwrap().snapshot().unwrap());
            assert!(found == *fresh, "{}", first_difference(&found, fresh));
            engine.close().unwrap();
        }
    }
}

/// Which calls fail, from the first one of a session on.
#[derive(Clone, Default)]
struct Failing {
    calls: Range<u64>,
    error: i32,
    /// The disk is copied before the first of them, and nothing fails.
    left: Option<(PathBuf, PathBuf)>,
}

/// Runs `session` while these calls fail; gives the number of calls.
fn with(failing: Failing, session: impl FnOnce()) -> u64 {
    let n_calls = Arc::new(AtomicU64::new(0));
    let (counted, copying) = (Arc::clone(&n_calls), Mutex::new(()));
    let is_copied = AtomicBool::new(false);
    indexd_os::faults::set(Some(Box::new(move |call, at| {
        let _one = copying.lock().unwrap();
        let number = counted.fetch_add(1, Ordering::Relaxed);
        if failing.calls.contains(&number) {
            eprintln!("{call} {at}");
        }
        match &failing.left {
            _ if !failing.calls.contains(&number) => Ok(()),
            None => Err(io::Error::from_raw_os_error(failing.error)),
            Some((from, to)) => {
                if !is_copied.swap(true, Ordering::Relaxed) {
                    copy(from, to);
                }
                Ok(())
            }
        }
    })));
    session();
    indexd_os::faults::set(None);
    n_calls.load(Ordering::Relaxed)
}

/// Runs the session with each call in turn as the one at which it happens.
pub fn run(way: &str) {
    let tmp = tempfile::tempdir().unwrap();
    let top = fs::canonicalize(tmp.path()).unwrap();
    let first = Disk::new(&top);
    let fresh = [0, 1].map(|n| dump_of_fresh_build(&first.roots[n]));
    let again = |name: &str| {
        let to = top.join(name);
        let _ = fs::remove_dir_all(&to);
        copy(&first.top, &to);
        Disk { top: to, roots: first.roots.clone() }
    };
    let disk = again("undisturbed");
    let n_calls = with(Failing::default(), || disk.session());
    assert!(!indexd_os::faults::ARE_POSSIBLE || n_calls > 40, "{n_calls} calls");
    let parked = [0, 1].map(|n| disk.top.join("cache").join(n.to_string()).join("parked"));
    assert!(parked.iter().all(|path| path.exists()), "both sleep");
    disk.check(true, &fresh);
    for k in 0..n_calls {
        let error = [rustix_errno::IO, rustix_errno::NOSPC][k as usize % 2];
        let calls = k..k + if way == "for long" { LONG } else { 1 };
        let disk = again("disk");
        let left = (way == "killed").then(|| (disk.top.clone(), top.join("left")));
        eprintln!("call {k} of {n_calls}: {way}, error {error}");
        with(Failing { calls, error, left: left.clone() }, || disk.session());
        let disk = match left {
            Some((_, left)) => {
                let _ = fs::remove_dir_all(&disk.top);
                fs::rename(left, &disk.top).unwrap();
                disk
            }
            None => disk,
        };
        // A disk that does not read back what it has is damage.
        disk.check(way == "killed" || error == rustix_errno::NOSPC, &fresh);
    }
}
