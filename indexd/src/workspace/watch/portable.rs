//! The watcher of every system that notify knows. On Linux [`super::inotify`] takes its place: there
//! notify asks to be told of each file that is opened, and a search through the tree by any program
//! would wake the daemon for each file and overflow the queue; and it hands every folder to its
//! thread and waits for the answer, which costs five times the system call.

use super::{Inbox, WatchError, Watcher};
use notify::event::{AccessKind, AccessMode, EventKind, ModifyKind};
use notify::{ErrorKind, RecommendedWatcher, RecursiveMode};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Starts to watch; `None` where the system refuses.
pub fn start(inbox: &Arc<Inbox>) -> Option<Box<dyn Watcher>> {
    let inbox = Arc::clone(inbox);
    let config = notify::Config::default().with_follow_symlinks(false);
    let handler = move |event| deliver(&inbox, event);
    let watcher = <RecommendedWatcher as notify::Watcher>::new(handler, config);
    watcher.ok().map(|w| Box::new(Portable(Mutex::new(w))) as Box<dyn Watcher>)
}

struct Portable(Mutex<RecommendedWatcher>);

impl Portable {
    fn lock(&self) -> MutexGuard<'_, RecommendedWatcher> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watcher for Portable {
    fn watch(&self, dir: &Path) -> Result<(), WatchError> {
        notify::Watcher::watch(&mut *self.lock(), dir, RecursiveMode::NonRecursive).map_err(|e| {
            match e.kind {
                ErrorKind::MaxFilesWatch => WatchError::Limit,
                ErrorKind::PathNotFound => WatchError::Gone,
                ErrorKind::Io(e) if e.kind() == std::io::ErrorKind::NotFound => WatchError::Gone,
                _ => WatchError::Refused,
            }
        })
    }

    fn unwatch(&self, dir: &Path) {
        // A folder that is gone took its watch along.
        let _ = notify::Watcher::unwatch(&mut *self.lock(), dir);
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
