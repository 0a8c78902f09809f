//! The watcher of every system that notify supports. Linux uses `inotify` instead: there notify asks for an
//! event for each file that is opened, so a search through the tree by any program would wake the daemon for
//! each file and overflow the queue. It also hands every folder to its thread and waits for the answer, which
//! costs five times the system call.

use super::{Inbox, WatchError, Watcher};
use notify::event::{AccessKind, AccessMode, EventKind, ModifyKind};
use notify::{ErrorKind, RecommendedWatcher, RecursiveMode};
use rustc_hash::FxHashSet;
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Starts to watch; `None` where the system refuses.
pub fn start(inbox: &Arc<Inbox>) -> Option<Arc<dyn Watcher>> {
    let inbox = Arc::clone(inbox);
    let config = notify::Config::default().with_follow_symlinks(false);
    let handler = move |event| deliver(&inbox, event);
    let watcher = <RecommendedWatcher as notify::Watcher>::new(handler, config);
    let watching = |watcher| Watching { watcher, dirs: FxHashSet::default() };
    watcher.ok().map(|w| Arc::new(Portable(Mutex::new(watching(w)))) as Arc<dyn Watcher>)
}

struct Portable(Mutex<Watching>);

struct Watching {
    watcher: RecommendedWatcher,
    /// Paths as they are spelled: to compare them by their components is slow.
    dirs: FxHashSet<OsString>,
}

impl Portable {
    fn lock(&self) -> MutexGuard<'_, Watching> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watching {
    fn forget(&mut self, dir: &OsStr) {
        if self.dirs.remove(dir) {
            // A folder that is gone took its watch along.
            let _ = notify::Watcher::unwatch(&mut self.watcher, Path::new(dir));
        }
    }
}

impl Watcher for Portable {
    fn watch(&self, dir: &Path) -> Result<bool, WatchError> {
        let mut watching = self.lock();
        if watching.dirs.contains(dir.as_os_str()) {
            return Ok(false);
        }
        notify::Watcher::watch(&mut watching.watcher, dir, RecursiveMode::NonRecursive).map_err(
            |e| match e.kind {
                ErrorKind::MaxFilesWatch => WatchError::Limit,
                ErrorKind::PathNotFound => WatchError::Gone,
                ErrorKind::Io(e) if e.kind() == std::io::ErrorKind::NotFound => WatchError::Gone,
                _ => WatchError::Refused,
            },
        )?;
        Ok(watching.dirs.insert(dir.into()))
    }

    fn unwatch(&self, dir: &Path) {
        self.lock().forget(dir.as_os_str());
    }

    fn unwatch_others(&self, keep: &dyn Fn(&Path) -> bool) {
        let mut watching = self.lock();
        let others: Vec<OsString> =
            watching.dirs.iter().filter(|dir| !keep(Path::new(dir))).cloned().collect();
        others.iter().for_each(|dir| watching.forget(dir));
    }

    fn n_watched(&self) -> usize {
        self.lock().dirs.len()
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
    fn an_overflow_and_an_error_ask_for_a_comparison() {
        let inbox = Inbox::new(|| {});
        deliver(&inbox, Ok(notify::Event::new(EventKind::Other).set_flag(Flag::Rescan)));
        assert!(inbox.take().lost);
        deliver(&inbox, Err(notify::Error::generic("x")));
        assert!(inbox.take().lost);
    }
}
