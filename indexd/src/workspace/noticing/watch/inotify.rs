//! The watcher of Linux: inotify without a library in between, asked only for events that are changes.
//!
//! One *instance* of inotify serves all watchers of the process: a user has few of them (128 by default), and
//! editors and other tools want theirs. Each watcher has its own inbox and its own folders; a folder that
//! several of them watch is one watch, and its events go to all of them. Lost events are lost for all.

use super::{Inbox, WatchError, Watcher};
use rustc_hash::FxHashMap;
use rustix::event::{EventfdFlags, PollFd, PollFlags};
use rustix::fd::OwnedFd;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak};
use std::thread::JoinHandle;

/// Bytes read at once: some hundred events.
const BUFFER_BYTES: usize = 16 << 10;

/// Bytes of an event without a name (inotify(7)).
const EVENT_BYTES_MIN: u64 = 16;

/// The instance, as long as there is a watcher.
static INSTANCE: Mutex<Option<Instance>> = Mutex::new(None);

/// The one instance of the process and the thread that reads it.
struct Instance {
    shared: Arc<Shared>,
    thread: JoinHandle<()>,
    n_watchers: usize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic under these locks leaves nothing half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts to watch; `None` where the system refuses.
pub fn start(inbox: &Arc<Inbox>) -> Option<Arc<dyn Watcher>> {
    let mut instance = lock(&INSTANCE);
    if instance.is_none() {
        *instance = Some(Instance::start()?);
    }
    let instance = instance.as_mut()?;
    instance.n_watchers += 1;
    Some(Arc::new(Inotify { shared: Arc::clone(&instance.shared), number: instance.shared.enter(inbox) }))
}

impl Instance {
    fn start() -> Option<Self> {
        let queue = inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC).ok()?;
        let stop = rustix::event::eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC).ok()?;
        let shared = Arc::new(Shared {
            queue,
            stop,
            reading: Mutex::default(),
            adding: RwLock::default(),
            watches: Mutex::default(),
        });
        let of_thread = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("watch".into()).spawn(move || of_thread.run()).ok()?;
        Some(Self { shared, thread, n_watchers: 0 })
    }
}

/// One watcher of several.
struct Inotify {
    shared: Arc<Shared>,
    number: u64,
}

struct Shared {
    queue: OwnedFd,
    stop: OwnedFd,
    /// Held from an event's way out of the queue until it is in the inboxes.
    reading: Mutex<()>,
    /// Held for reading while a watch is added, until its folder is known; for writing while watches end.
    adding: RwLock<()>,
    watches: Mutex<Watches>,
}

/// The folders of the watches, and their watchers. One inode has one watch, by any path. Paths are compared
/// as they are spelled: comparing by components is slow, and a folder is not spelled in two ways.
#[derive(Default)]
struct Watches {
    /// By watch: the number of each watcher that has it, with its name for the folder.
    dirs: FxHashMap<i32, Vec<(u64, Arc<OsStr>)>>,
    watchers: FxHashMap<u64, Own>,
    last_number: u64,
}

/// The watches of one watcher.
struct Own {
    /// Dropped with its reader.
    inbox: Weak<Inbox>,
    numbers: FxHashMap<Arc<OsStr>, i32>,
}

impl Watches {
    /// Returns true if this is new to the watcher, and the watch that the folder's name had before.
    fn insert(&mut self, watcher: u64, number: i32, dir: Arc<OsStr>) -> (bool, Option<i32>) {
        let all = self.dirs.entry(number).or_default();
        let own = all.iter_mut().find(|(other, _)| *other == watcher);
        if own.as_ref().is_some_and(|(_, before)| *before == dir) {
            return (false, None);
        }
        let before = match own {
            Some((_, name)) => Some(std::mem::replace(name, Arc::clone(&dir))),
            None => {
                all.push((watcher, Arc::clone(&dir)));
                None
            }
        };
        let Some(own) = self.watchers.get_mut(&watcher) else { return (true, None) };
        before.into_iter().for_each(|before| _ = own.numbers.remove(&before));
        (true, own.numbers.insert(dir, number))
    }

    /// Removes a watch from a watcher. Returns true if it has no watcher left.
    fn remove(&mut self, watcher: u64, number: i32) -> bool {
        let Some(all) = self.dirs.get_mut(&number) else { return false };
        let Some(at) = all.iter().position(|(other, _)| *other == watcher) else { return false };
        let (_, dir) = all.swap_remove(at);
        let is_last = all.is_empty();
        if is_last {
            self.dirs.remove(&number);
        }
        if let Some(own) = self.watchers.get_mut(&watcher)
            && own.numbers.get(&dir) == Some(&number)
        {
            own.numbers.remove(&dir);
        }
        is_last
    }

    /// Forgets a watch that has ended.
    fn ended(&mut self, number: i32) {
        let watchers: Vec<u64> = self.dirs.get(&number).into_iter().flatten().map(|(own, _)| *own).collect();
        watchers.into_iter().for_each(|watcher| _ = self.remove(watcher, number));
    }

    /// Returns the inboxes of the watchers that have a watch, each with its name for the folder.
    fn told(&self, number: i32) -> Vec<(Arc<Inbox>, Arc<OsStr>)> {
        let all = self.dirs.get(&number).into_iter().flatten();
        let told = |(watcher, dir): &(u64, Arc<OsStr>)| {
            Some((self.watchers.get(watcher)?.inbox.upgrade()?, Arc::clone(dir)))
        };
        all.filter_map(told).collect()
    }

    fn inboxes(&self) -> Vec<Arc<Inbox>> {
        self.watchers.values().filter_map(|own| own.inbox.upgrade()).collect()
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
        let adding = self.shared.adding.read().unwrap_or_else(PoisonError::into_inner);
        let number = inotify::add_watch(&self.shared.queue, dir, flags).map_err(|e| match e {
            Errno::NOSPC => WatchError::Limit,
            Errno::NOENT | Errno::NOTDIR => WatchError::Gone,
            _ => WatchError::Refused,
        })?;
        // Before the lock, for which the threads of a walk wait.
        let name: Arc<OsStr> = dir.as_os_str().into();
        let (is_new, replaced) = self.shared.watches().insert(self.number, number, name);
        drop(adding);
        // Another folder has this name by now; the one before has moved away or is going.
        self.shared.forget(self.number, replaced);
        Ok(is_new)
    }

    fn unwatch(&self, dir: &Path) {
        let watches = self.shared.watches();
        let own = watches.watchers.get(&self.number);
        let number = own.and_then(|own| own.numbers.get(dir.as_os_str())).copied();
        drop(watches);
        self.shared.forget(self.number, number);
    }

    fn unwatch_others(&self, keep: &dyn Fn(&Path) -> bool) {
        let watches = self.shared.watches();
        let own = watches.watchers.get(&self.number).into_iter().flat_map(|own| &own.numbers);
        let own: Vec<(PathBuf, i32)> = own.map(|(dir, number)| (dir.into(), *number)).collect();
        drop(watches);
        let others = own.into_iter().filter(|(dir, _)| !keep(dir));
        self.shared.forget(self.number, others.map(|(_, number)| number));
    }

    fn n_watched(&self) -> usize {
        self.shared.watches().watchers.get(&self.number).map_or(0, |own| own.numbers.len())
    }

    fn catch_up(&self) -> bool {
        // An event is in the queue before the call that caused it returns.
        self.shared.empty();
        true
    }
}

impl Drop for Inotify {
    fn drop(&mut self) {
        self.unwatch_others(&|_| false);
        self.shared.watches().watchers.remove(&self.number);
        let mut instance = lock(&INSTANCE);
        let Some(open) = instance.as_mut() else { return };
        open.n_watchers -= 1;
        if open.n_watchers > 0 {
            return;
        }
        // The counter is never full: this is the only write.
        let _ = rustix::io::write(&self.shared.stop, &1_u64.to_ne_bytes());
        if let Some(Instance { thread, .. }) = instance.take() {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn watches(&self) -> MutexGuard<'_, Watches> {
        lock(&self.watches)
    }

    /// Adds a watcher and returns its number.
    fn enter(&self, inbox: &Arc<Inbox>) -> u64 {
        let mut watches = self.watches();
        watches.last_number += 1;
        let number = watches.last_number;
        let own = Own { inbox: Arc::downgrade(inbox), numbers: FxHashMap::default() };
        watches.watchers.insert(number, own);
        number
    }

    /// Removes watches from a watcher, and ends those without another watcher.
    fn forget(&self, watcher: u64, numbers: impl IntoIterator<Item = i32>) {
        let mut numbers = numbers.into_iter().peekable();
        if numbers.peek().is_none() {
            return;
        }
        // No watcher can be given a watch that ends here.
        let _alone = self.adding.write().unwrap_or_else(PoisonError::into_inner);
        let mut watches = self.watches();
        for number in numbers {
            if watches.remove(watcher, number) {
                // A folder that is gone took its watch along.
                let _ = inotify::remove_watch(&self.queue, number);
            }
        }
    }

    /// Reports to all inboxes that events were lost.
    fn lost(&self) {
        let inboxes = self.watches().inboxes();
        inboxes.iter().for_each(|inbox| inbox.lost());
    }

    fn run(&self) {
        loop {
            let mut ends = [PollFd::new(&self.queue, PollFlags::IN), PollFd::new(&self.stop, PollFlags::IN)];
            match rustix::event::poll(&mut ends, None) {
                Ok(_) if !ends[1].revents().is_empty() => return,
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return self.lost(),
            }
            if !self.empty() {
                return;
            }
        }
    }

    /// Moves all events now in the queue to the inboxes. Events that arrive later are left. Returns false
    /// when the queue cannot be read, which counts as lost events, each time it is tried.
    fn empty(&self) -> bool {
        let _reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        let mut buffer = [const { MaybeUninit::uninit() }; BUFFER_BYTES];
        let mut reader = inotify::Reader::new(&self.queue, &mut buffer);
        let Ok(n_bytes) = rustix::io::ioctl_fionread(&self.queue) else {
            self.lost();
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
                    self.lost();
                    return false;
                }
            }
        }
        true
    }

    fn deliver(&self, number: i32, flags: ReadFlags, name: Option<&OsStr>) {
        if flags.contains(ReadFlags::QUEUE_OVERFLOW) {
            self.lost();
            return;
        }
        let mut watches = self.watches();
        if !watches.dirs.contains_key(&number) {
            // The event may arrive before the watch is recorded.
            drop(watches);
            drop(self.adding.write().unwrap_or_else(PoisonError::into_inner));
            watches = self.watches();
        }
        let told = watches.told(number);
        if flags.contains(ReadFlags::IGNORED) {
            watches.ended(number);
            return;
        }
        drop(watches);
        let done = ReadFlags::CLOSE_WRITE
            | ReadFlags::DELETE
            | ReadFlags::MOVED_FROM
            | ReadFlags::MOVED_TO
            | ReadFlags::DELETE_SELF
            | ReadFlags::MOVE_SELF;
        for (inbox, dir) in told {
            if flags.contains(ReadFlags::UNMOUNT) {
                inbox.lost();
            }
            let path = name.map_or_else(|| (&*dir).into(), |n| Path::new(&*dir).join(n));
            inbox.dirty(path, flags.intersects(done));
        }
    }
}
