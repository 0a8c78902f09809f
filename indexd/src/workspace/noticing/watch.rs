//! The watcher: notices from the file system, behind a small trait.
//!
//! A notice means "this path is dirty, stat it" and nothing more. Kinds of events are not trusted, because
//! three of them are incomplete: for a folder that is made and filled in one go, or moved in from elsewhere,
//! only the folder is reported; an overflowing queue drops events of any kind; and reading a file is reported
//! as well. So folders are watched one by one, never recursively, the handler of a notice walks a dirty
//! folder, and lost events lead to a comparison of the whole tree.
//!
//! The [`Inbox`] between watcher and event loop coalesces by path and never blocks the watcher: a watcher
//! that waits is a watcher whose queue overflows.

#[cfg(target_os = "linux")]
mod inotify;
pub mod portable;

use super::clock::Clock;
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Maximum of paths. An inbox that grows past it forgets them and asks for a comparison of the tree, which
/// costs less than that many single looks.
const PATHS_MAX: usize = 100_000;

/// The reason why a folder is not watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchError {
    /// The system's limit on watches is reached.
    Limit,
    /// The folder does not exist any more.
    Gone,
    /// Anything else, such as a missing permission.
    Refused,
}

/// A source of notices about folders. Threads may watch different folders at the same time.
pub trait Watcher: Send + Sync {
    /// Starts watching the entries of one folder. Returns true if it was not watched before. Watching twice
    /// is the same as once, unless another folder has taken the name in between, where the system tells them
    /// apart.
    ///
    /// # Errors
    /// Those of [`WatchError`]; the other folders stay watched.
    fn watch(&self, dir: &Path) -> Result<bool, WatchError>;

    /// Stops watching a folder, present or gone, watched or not.
    fn unwatch(&self, dir: &Path);

    /// Stops watching every folder but those to `keep`.
    fn unwatch_others(&self, keep: &dyn Fn(&Path) -> bool);

    /// Returns the number of watched folders.
    fn n_watched(&self) -> usize;

    /// Puts everything that happened before this call into the inbox. Returns false and does nothing where
    /// the caller cannot read the system's queue: there a file that is made and noticed proves the same,
    /// since events come in order.
    fn catch_up(&self) -> bool {
        false
    }
}

/// Makes a watcher, which fills the inbox until it is dropped. `None` on systems without events.
pub type Watch = fn(&Arc<Inbox>) -> Option<Arc<dyn Watcher>>;

/// Paths noticed and not taken yet.
pub struct Inbox {
    state: Mutex<Noticed>,
    clock: Clock,
    wake: Box<dyn Fn() + Send + Sync>,
}

/// The content of an inbox.
#[derive(Default)]
pub struct Noticed {
    /// Each dirty path, with true if its writer was done: it was closed or renamed.
    pub paths: FxHashMap<PathBuf, bool>,
    /// Events were lost: any path may be dirty.
    pub lost: bool,
    /// Time at which the first of these came in.
    pub first: Option<Instant>,
    /// Time at which the last of these came in.
    pub last: Option<Instant>,
}

impl Noticed {
    /// Returns true if nothing was noticed.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty() && !self.lost
    }
}

impl Inbox {
    /// Makes an inbox that calls `wake` once when something comes in after it was taken.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Arc<Self> {
        Self::with_clock(Clock::System, wake)
    }

    /// Makes an inbox with a given clock, which dates the notices.
    pub fn with_clock(clock: Clock, wake: impl Fn() + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), clock, wake: Box::new(wake) })
    }

    /// The time by its clock.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Adds a dirty path. `done` is true if its writer closed or renamed it.
    pub fn dirty(&self, path: PathBuf, done: bool) {
        let mut state = self.lock();
        if state.paths.len() >= PATHS_MAX && !state.paths.contains_key(&path) {
            state.paths.clear();
            state.lost = true;
        }
        state.paths.insert(path, done);
        self.noticed(state);
    }

    /// Records that events were lost.
    pub fn lost(&self) {
        let mut state = self.lock();
        state.lost = true;
        self.noticed(state);
    }

    /// Takes everything out.
    pub fn take(&self) -> Noticed {
        std::mem::take(&mut *self.lock())
    }

    /// Reads the content without taking it.
    pub fn peek<T>(&self, f: impl FnOnce(&Noticed) -> T) -> T {
        f(&self.lock())
    }

    fn noticed(&self, mut state: MutexGuard<'_, Noticed>) {
        let now = self.now();
        let is_first = state.first.is_none();
        state.first.get_or_insert(now);
        state.last = Some(now);
        drop(state);
        if is_first {
            (self.wake)();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Noticed> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The system's watcher: inotify itself on Linux, notify elsewhere.
pub fn system(inbox: &Arc<Inbox>) -> Option<Arc<dyn Watcher>> {
    #[cfg(target_os = "linux")]
    return inotify::start(inbox);
    #[cfg(not(target_os = "linux"))]
    return portable::start(inbox);
}

/// No watcher at all, for settings and tests.
pub fn none(_: &Arc<Inbox>) -> Option<Arc<dyn Watcher>> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    #[test]
    fn a_flood_asks_for_a_comparison() {
        let n_woken = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&n_woken);
        let inbox = Inbox::new(move || {
            counter.fetch_add(1, Ordering::Relaxed);
        });
        for i in 0..PATHS_MAX + 1 {
            inbox.dirty(PathBuf::from(format!("/{i}")), true);
        }
        let noticed = inbox.take();
        assert!(noticed.lost && noticed.paths.len() == 1);
        inbox.lost();
        assert!(inbox.take().lost);
        assert_eq!(n_woken.load(Ordering::Relaxed), 2, "once after each time it was taken");
    }

    #[test]
    fn the_last_word_about_a_path_counts() {
        let inbox = Inbox::new(|| {});
        inbox.dirty("/a".into(), true);
        inbox.dirty("/a".into(), false);
        assert!(!inbox.peek(|n| n.paths[Path::new("/a")]));
    }

    /// Acts in a watched folder, then makes a last file. Returns the notices up to that one, by path relative
    /// to the folder.
    fn noticed(watch: Watch, act: impl Fn(&Path, &dyn Watcher)) -> Vec<(String, bool)> {
        let tmp = tempfile::tempdir().unwrap();
        let root = tmp.path().canonicalize().unwrap();
        for dir in ["in", "end", "out"] {
            fs::create_dir(root.join(dir)).unwrap();
        }
        fs::write(root.join("in/old"), "old").unwrap();
        fs::write(root.join("out/far"), "far").unwrap();
        let inbox = Inbox::new(|| {});
        let watcher = watch(&inbox).expect("a watcher");
        watcher.watch(&root.join("in")).unwrap();
        watcher.watch(&root.join("end")).unwrap();
        act(&root, &*watcher);
        let end = root.join("end/x");
        fs::write(&end, "").unwrap();
        while inbox.peek(|n| !n.paths.get(&end).copied().unwrap_or_default()) {
            std::thread::sleep(Duration::from_millis(1));
        }
        let all = inbox.take();
        assert!(!all.lost);
        let rel = |p: &Path| p.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        let mut all: Vec<_> = all.paths.iter().map(|(p, done)| (rel(p), *done)).collect();
        all.retain(|(p, _)| p != "end/x");
        all.sort();
        all
    }

    /// Both watchers keep the same contract.
    fn check(act: impl Fn(&Path, &dyn Watcher), want: &[(&str, bool)]) {
        let want: Vec<_> = want.iter().map(|(p, d)| ((*p).to_owned(), *d)).collect();
        for watch in [system as Watch, portable::start] {
            assert_eq!(noticed(watch, &act), want);
        }
    }

    #[test]
    fn changes_are_noticed_and_reading_is_not() {
        check(|root, _| fs::write(root.join("in/a"), "a").unwrap(), &[("in/a", true)]);
        check(|root, _| drop(fs::read(root.join("in/old")).unwrap()), &[]);
        check(|root, _| fs::remove_file(root.join("in/old")).unwrap(), &[("in/old", true)]);
        check(
            |root, _| fs::rename(root.join("in/old"), root.join("in/new")).unwrap(),
            &[("in/new", true), ("in/old", true)],
        );
        check(
            |root, _| fs::rename(root.join("out/far"), root.join("in/near")).unwrap(),
            &[("in/near", true)],
        );
        check(|root, _| fs::create_dir_all(root.join("in/d/e")).unwrap(), &[("in/d", false)]);
        check(|root, _| drop(fs::File::create(root.join("out/b")).unwrap()), &[]);
    }

    #[test]
    fn watching_ends_and_begins_anew() {
        check(
            |root, watcher| {
                watcher.unwatch(&root.join("in"));
                watcher.unwatch(&root.join("in"));
                fs::write(root.join("in/a"), "a").unwrap();
            },
            &[],
        );
        check(
            |root, watcher| {
                watcher.unwatch(&root.join("in"));
                assert_eq!(watcher.n_watched(), 1);
                assert_eq!(watcher.watch(&root.join("in")), Ok(true));
                assert_eq!(watcher.watch(&root.join("in")), Ok(false));
                assert_eq!(watcher.n_watched(), 2);
                fs::write(root.join("in/a"), "a").unwrap();
            },
            &[("in/a", true)],
        );
        check(
            |root, watcher| {
                watcher.unwatch_others(&|dir| dir.ends_with("end"));
                assert_eq!(watcher.n_watched(), 1);
                fs::write(root.join("in/a"), "a").unwrap();
            },
            &[],
        );
        check(|root, watcher| assert_eq!(watcher.watch(&root.join("none")), Err(WatchError::Gone)), &[]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_happened_before_is_in_the_inbox_afterwards() {
        let tmp = tempfile::tempdir().unwrap();
        let inbox = Inbox::new(|| {});
        let watcher = system(&inbox).expect("a watcher");
        watcher.watch(tmp.path()).unwrap();
        std::thread::scope(|s| {
            for thread in 0..4 {
                let (inbox, watcher, dir) = (&inbox, &watcher, tmp.path());
                s.spawn(move || {
                    for i in 0..200 {
                        let path = dir.join(format!("{thread}-{i}"));
                        fs::write(&path, "x").unwrap();
                        assert!(watcher.catch_up());
                        assert_eq!(inbox.peek(|n| n.paths.get(&path).copied()), Some(true));
                    }
                });
            }
        });
    }

    /// Watchers of one process share what the system has few of, and nothing else.
    #[cfg(target_os = "linux")]
    #[test]
    fn many_watchers_are_one_instance() {
        let n_instances = || {
            let open = fs::read_dir("/proc/self/fd").unwrap().flatten();
            let ends = open.filter_map(|fd| fs::read_link(fd.path()).ok());
            ends.filter(|end| end.as_os_str().to_string_lossy().contains("inotify")).count()
        };
        let tmp = tempfile::tempdir().unwrap();
        let root = tmp.path().canonicalize().unwrap();
        for dir in ["both", "one", "two"] {
            fs::create_dir(root.join(dir)).unwrap();
        }
        let inboxes: Vec<_> = (0..200).map(|_| Inbox::new(|| {})).collect();
        let mut watchers: Vec<_> = inboxes.iter().map(|inbox| system(inbox).expect("a watcher")).collect();
        assert_eq!(n_instances(), 1);
        for (watcher, dir) in watchers.iter().zip(["one", "two"]) {
            assert_eq!(watcher.watch(&root.join("both")), Ok(true), "news to each");
            assert_eq!(watcher.watch(&root.join(dir)), Ok(true));
            assert_eq!(watcher.watch(&root.join(dir)), Ok(false));
            assert_eq!(watcher.n_watched(), 2);
        }
        let heard = |path: &str| {
            fs::write(root.join(path), "x").unwrap();
            assert!(watchers[0].catch_up());
            let has = |inbox: &Arc<Inbox>| inbox.take().paths.contains_key(&root.join(path));
            inboxes.iter().map(has).enumerate().filter(|(_, has)| *has).map(|(i, _)| i).collect::<Vec<_>>()
        };
        assert_eq!(heard("both/a"), [0, 1]);
        assert_eq!(heard("one/a"), [0]);
        assert_eq!(heard("two/a"), [1]);
        watchers[1].unwatch(&root.join("both"));
        assert_eq!(heard("both/a"), [0], "the other one still has it");
        watchers[0].unwatch_others(&|dir| dir.ends_with("one"));
        assert_eq!(heard("both/a"), [0_usize; 0]);
        assert_eq!(heard("two/a"), [1]);
        drop(watchers.split_off(1));
        let first = &watchers[0];
        assert_eq!((first.n_watched(), n_instances()), (1, 1));
        fs::write(root.join("one/b"), "x").unwrap();
        assert!(first.catch_up() && inboxes[0].take().paths.contains_key(&root.join("one/b")));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_folder_is_known_by_its_last_name() {
        let act = |root: &Path, watcher: &dyn Watcher| {
            fs::rename(root.join("in"), root.join("moved")).unwrap();
            fs::create_dir(root.join("in")).unwrap();
            assert_eq!(watcher.watch(&root.join("in")), Ok(true), "another folder of this name");
            assert_eq!(watcher.watch(&root.join("moved")), Ok(true));
            fs::write(root.join("in/a"), "a").unwrap();
            fs::write(root.join("moved/b"), "b").unwrap();
        };
        let want = [("in", true), ("in/a", true), ("moved/b", true)];
        let got = noticed(system, act);
        let known: Vec<_> = got.iter().map(|(p, d)| (p.as_str(), *d)).filter(|p| want.contains(p)).collect();
        assert_eq!(known[known.len() - 2..], want[1..]);
    }
}
