//! The watcher of Linux: inotify without a library in between, asked only for what is a change.

use super::{Inbox, WatchError, Watcher};
use rustc_hash::FxHashMap;
use rustix::event::{EventfdFlags, PollFd, PollFlags};
use rustix::fd::OwnedFd;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::JoinHandle;

/// Bytes read at once: some hundred events.
const BUFFER_BYTES: usize = 16 << 10;

/// Bytes of an event without a name (inotify(7)).
const EVENT_BYTES_MIN: u64 = 16;

/// Starts to watch; `None` where the system refuses.
pub fn start(inbox: &Arc<Inbox>) -> Option<Arc<dyn Watcher>> {
    let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
    let stop = rustix::event::eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC).ok()?;
    let shared = Arc::new(Shared {
        queue,
        stop,
        inbox: Arc::clone(inbox),
        reading: Mutex::default(),
        adding: RwLock::default(),
        watches: Mutex::default(),
    });
    let of_thread = Arc::clone(&shared);
    let thread = std::thread::Builder::new().name("watch".into()).spawn(move || of_thread.run()).ok()?;
    Some(Arc::new(Inotify { shared, thread: Some(thread) }))
}

struct Inotify {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    queue: OwnedFd,
    stop: OwnedFd,
    inbox: Arc<Inbox>,
    /// Held from an event's way out of the queue until it is in the inbox.
    reading: Mutex<()>,
    /// Held for reading while a watch is added, until its folder is known.
    adding: RwLock<()>,
    watches: Mutex<Watches>,
}

/// Which watch is which folder. One inode has one watch, by whatever path. Paths are compared as
/// they are spelled: by components is slow, and nobody spells one folder in two ways.
#[derive(Default)]
struct Watches {
    dirs: FxHashMap<i32, Arc<OsStr>>,
    numbers: FxHashMap<Arc<OsStr>, i32>,
}

impl Watches {
    /// Whether this is news, and the watch that the folder's name had before.
    fn insert(&mut self, number: i32, dir: Arc<OsStr>) -> (bool, Option<i32>) {
        if self.dirs.get(&number).is_some_and(|before| *before == dir) {
            return (false, None);
        }
        if let Some(before) = self.dirs.insert(number, Arc::clone(&dir)) {
            self.numbers.remove(&before);
        }
        (true, self.numbers.insert(dir, number))
    }

    fn remove(&mut self, number: i32) {
        if let Some(dir) = self.dirs.remove(&number)
            && self.numbers.get(&dir) == Some(&number)
        {
            self.numbers.remove(&dir);
        }
    }
}

impl Watcher for Inotify {
    fn watch(&self, dir: &Path) -> Result<bool, WatchError> {
        let changes = WatchFlags::ATTRIB
            | WatchFlags::CREATE
            | WatchFlags::MODIFY
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::DELETE
            | WatchFlags::MOVE
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF;
        let flags = changes | WatchFlags::ONLYDIR | WatchFlags::EXCL_UNLINK;
        let _adding = self.shared.adding.read().unwrap_or_else(PoisonError::into_inner);
        let number = inotify::add_watch(&self.shared.queue, dir, flags).map_err(|e| match e {
            Errno::NOSPC => WatchError::Limit,
            Errno::NOENT | Errno::NOTDIR => WatchError::Gone,
            _ => WatchError::Refused,
        })?;
        // Before the lock, for which the threads of a walk wait.
        let dir: Arc<OsStr> = dir.as_os_str().into();
        let mut watches = self.shared.watches();
        let (is_new, replaced) = watches.insert(number, dir);
        if let Some(replaced) = replaced {
            // Another folder has this name by now; the one before has moved away or is going.
            watches.remove(replaced);
            let _ = inotify::remove_watch(&self.shared.queue, replaced);
        }
        Ok(is_new)
    }

    fn unwatch(&self, dir: &Path) {
        let number = self.shared.watches().numbers.get(dir.as_os_str()).copied();
        number.into_iter().for_each(|number| self.shared.forget(number));
    }

    fn unwatch_others(&self, keep: &dyn Fn(&Path) -> bool) {
        let watches = self.shared.watches();
        let others = watches.numbers.iter().filter(|(dir, _)| !keep(Path::new(dir)));
        let others: Vec<i32> = others.map(|(_, number)| *number).collect();
        drop(watches);
        others.into_iter().for_each(|number| self.shared.forget(number));
    }

    fn n_watched(&self) -> usize {
        self.shared.watches().numbers.len()
    }

    fn catch_up(&self) -> bool {
        // An event is in the queue before the call that caused it returns.
        self.shared.empty();
        true
    }
}

impl Drop for Inotify {
    fn drop(&mut self) {
        // The counter is never full: this is the only write.
        let _ = rustix::io::write(&self.shared.stop, &1_u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn watches(&self) -> MutexGuard<'_, Watches> {
        self.watches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn forget(&self, number: i32) {
        self.watches().remove(number);
        // A folder that is gone took its watch along.
        let _ = inotify::remove_watch(&self.queue, number);
    }

    fn run(&self) {
        loop {
            let mut ends = [PollFd::new(&self.queue, PollFlags::IN), PollFd::new(&self.stop, PollFlags::IN)];
            match rustix::event::poll(&mut ends, None) {
                Ok(_) if !ends[1].revents().is_empty() => return,
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return self.inbox.lost(),
            }
            if !self.empty() {
                return;
            }
        }
    }

    /// Moves everything that is in the queue by now to the inbox; who waits for this does not wait for
    /// what comes meanwhile. False when the queue cannot be read, which is the same as lost events, each
    /// time that it is tried.
    fn empty(&self) -> bool {
        let _reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let mut buffer = [const { MaybeUninit::uninit() }; BUFFER_BYTES];
        let mut reader = inotify::Reader::new(&self.queue, &mut buffer);
        let Ok(n_bytes) = rustix::io::ioctl_fionread(&self.queue) else {
            self.inbox.lost();
            return false;
        };
        let mut n_left = n_bytes / EVENT_BYTES_MIN;
        while n_left > 0 || !reader.is_buffer_empty() {
            match reader.next() {
                Ok(event) => {
                    n_left = n_left.saturating_sub(1);
                    let name = event.file_name().map(|n| OsStr::from_bytes(n.to_bytes()));
                    self.deliver(event.wd(), event.events(), name);
                }
                Err(Errno::AGAIN) => return true,
                Err(Errno::INTR) => {}
                Err(_) => {
                    self.inbox.lost();
                    return false;
                }
            }
        }
        true
    }

    fn deliver(&self, number: i32, flags: ReadFlags, name: Option<&OsStr>) {
        if flags.intersects(ReadFlags::QUEUE_OVERFLOW | ReadFlags::UNMOUNT) {
            self.inbox.lost();
        }
        let mut watches = self.watches();
        if !watches.dirs.contains_key(&number) {
            // The event may have overtaken the one who adds the watch.
            drop(watches);
            drop(self.adding.write().unwrap_or_else(PoisonError::into_inner));
            watches = self.watches();
        }
        if flags.contains(ReadFlags::IGNORED) {
            watches.remove(number);
            return;
        }
        let Some(dir) = watches.dirs.get(&number) else { return };
        let path = name.map_or_else(|| dir.into(), |n| Path::new(dir).join(n));
        drop(watches);
        let done = ReadFlags::CLOSE_WRITE
            | ReadFlags::DELETE
            | ReadFlags::MOVED_FROM
            | ReadFlags::MOVED_TO
            | ReadFlags::DELETE_SELF
            | ReadFlags::MOVE_SELF;
        self.inbox.dirty(path, flags.intersects(done));
    }
}
