//! The watcher: notices from the file system, behind a small trait.
//!
//! A notice says "this path is dirty, stat it" and nothing more. Kinds of events are not trusted,
//! because three of them lie by omission: a folder made and filled in one go, or moved in from
//! elsewhere, is announced alone; an overflowing queue drops events of any kind; and reading a file
//! is announced as well. So folders are watched one by one, never recursively, a dirty folder is
//! walked by whoever handles the notice, and lost events lead to a comparison of the whole tree.
//!
//! The [`Inbox`] between watcher and event loop coalesces by path and never blocks the watcher: a
//! watcher that waits is a watcher whose queue overflows.

use notify::event::{AccessKind, AccessMode, EventKind, ModifyKind};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Paths. An inbox that grows past this forgets them and asks for a comparison of the tree, which
/// costs less than so many single looks.
const PATHS_MAX: usize = 100_000;

/// Why a folder is not watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchError {
    /// The system's limit on watches is reached.
    Limit,
    /// There is no such folder any more.
    Gone,
    /// Anything else, such as a missing permission.
    Refused,
}

/// A source of notices about folders.
pub trait Watcher: Send {
    /// Starts watching the entries of one folder; watching twice is the same as once.
    ///
    /// # Errors
    /// Those of [`WatchError`]; the other folders stay watched.
    fn watch(&mut self, dir: &Path) -> Result<(), WatchError>;

    /// Stops watching a folder, present or gone, watched or not.
    fn unwatch(&mut self, dir: &Path);
}

/// How a watcher is made: it fills the inbox until it is dropped. `None` where there are no events.
pub type Watch = fn(&Arc<Inbox>) -> Option<Box<dyn Watcher>>;

/// Paths noticed and not taken yet.
pub struct Inbox {
    state: Mutex<Noticed>,
    wake: Box<dyn Fn() + Send + Sync>,
}

/// What an inbox holds.
#[derive(Default)]
pub struct Noticed {
    /// Each dirty path, and whether whoever wrote it was done: it was closed or renamed.
    pub paths: FxHashMap<PathBuf, bool>,
    /// Events were lost: any path may be dirty.
    pub lost: bool,
    /// When the first of these came in.
    pub first: Option<Instant>,
    /// When the last of these came in.
    pub last: Option<Instant>,
}

impl Noticed {
    /// Whether nothing was noticed.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty() && !self.lost
    }
}

impl Inbox {
    /// Makes an inbox that calls `wake` once when something comes in after it was taken.
    pub fn new(wake: impl Fn() + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), wake: Box::new(wake) })
    }

    /// Puts a dirty path in. `done` says that its writer closed or renamed it.
    pub fn dirty(&self, path: PathBuf, done: bool) {
        let mut state = self.lock();
        if state.paths.len() >= PATHS_MAX && !state.paths.contains_key(&path) {
            state.paths.clear();
            state.lost = true;
        }
        state.paths.insert(path, done);
        self.noticed(state);
    }

    /// Says that events were lost.
    pub fn lost(&self) {
        let mut state = self.lock();
        state.lost = true;
        self.noticed(state);
    }

    /// Takes everything out.
    pub fn take(&self) -> Noticed {
        std::mem::take(&mut *self.lock())
    }

    /// Looks at what is inside.
    pub fn peek<T>(&self, f: impl FnOnce(&Noticed) -> T) -> T {
        f(&self.lock())
    }

    fn noticed(&self, mut state: MutexGuard<'_, Noticed>) {
        let now = Instant::now();
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

/// The system's watcher: inotify through notify. Elsewhere there is none yet, and requests compare
/// the tree.
pub fn system(inbox: &Arc<Inbox>) -> Option<Box<dyn Watcher>> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let inbox = Arc::clone(inbox);
    let config = notify::Config::default().with_follow_symlinks(false);
    let handler = move |event| deliver(&inbox, event);
    let watcher = <notify::RecommendedWatcher as notify::Watcher>::new(handler, config);
    watcher.ok().map(|w| Box::new(System(w)) as Box<dyn Watcher>)
}

/// No watcher at all, for settings and tests.
pub fn none(_: &Arc<Inbox>) -> Option<Box<dyn Watcher>> {
    None
}

struct System(notify::RecommendedWatcher);

impl Watcher for System {
    fn watch(&mut self, dir: &Path) -> Result<(), WatchError> {
        notify::Watcher::watch(&mut self.0, dir, notify::RecursiveMode::NonRecursive).map_err(|e| {
            match e.kind {
                notify::ErrorKind::MaxFilesWatch => WatchError::Limit,
                notify::ErrorKind::PathNotFound => WatchError::Gone,
                notify::ErrorKind::Io(e) if e.kind() == std::io::ErrorKind::NotFound => WatchError::Gone,
                _ => WatchError::Refused,
            }
        })
    }

    fn unwatch(&mut self, dir: &Path) {
        // A folder that is gone took its watch along.
        let _ = notify::Watcher::unwatch(&mut self.0, dir);
    }
}

fn deliver(inbox: &Inbox, event: notify::Result<notify::Event>) {
    let Ok(event) = event else { return inbox.lost() };
    if event.need_rescan() {
        return inbox.lost();
    }
    let done = match event.kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => true,
        EventKind::Access(_) => return,
        EventKind::Modify(ModifyKind::Name(_)) | EventKind::Remove(_) => true,
        _ => false,
    };
    for path in event.paths {
        inbox.dirty(path, done);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use notify::event::{CreateKind, DataChange, Flag, RenameMode};
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn check(kind: EventKind, want: Option<bool>) {
        let inbox = Inbox::new(|| {});
        deliver(&inbox, Ok(notify::Event::new(kind).add_path("/a".into())));
        assert_eq!(inbox.take().paths.get(Path::new("/a")).copied(), want, "{kind:?}");
    }

    #[test]
    fn reading_is_no_change_and_closing_ends_one() {
        check(EventKind::Access(AccessKind::Open(AccessMode::Any)), None);
        check(EventKind::Access(AccessKind::Close(AccessMode::Read)), None);
        check(EventKind::Access(AccessKind::Close(AccessMode::Write)), Some(true));
        check(EventKind::Modify(ModifyKind::Name(RenameMode::To)), Some(true));
        check(EventKind::Modify(ModifyKind::Data(DataChange::Any)), Some(false));
        check(EventKind::Create(CreateKind::Folder), Some(false));
    }

    #[test]
    fn an_overflow_an_error_and_a_flood_ask_for_a_comparison() {
        let n_woken = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&n_woken);
        let inbox = Inbox::new(move || {
            counter.fetch_add(1, Ordering::Relaxed);
        });
        deliver(&inbox, Ok(notify::Event::new(EventKind::Other).set_flag(Flag::Rescan)));
        assert!(inbox.take().lost && n_woken.load(Ordering::Relaxed) == 1);
        deliver(&inbox, Err(notify::Error::generic("x")));
        assert!(inbox.take().lost);
        for i in 0..PATHS_MAX + 1 {
            inbox.dirty(PathBuf::from(format!("/{i}")), true);
        }
        let noticed = inbox.take();
        assert!(noticed.lost && noticed.paths.len() == 1);
        assert_eq!(n_woken.load(Ordering::Relaxed), 3, "once after each time it was taken");
    }

    #[test]
    fn the_last_word_about_a_path_counts() {
        let inbox = Inbox::new(|| {});
        inbox.dirty("/a".into(), true);
        inbox.dirty("/a".into(), false);
        assert!(!inbox.peek(|n| n.paths[Path::new("/a")]));
    }
}
