//! What the threads of one workspace share: its condition, its index, the way to its event loop.

use super::watch::{Inbox, Noticed, Watcher};
use crate::workspace::status::{Freshness, Progress, WorkspaceState};
use indexd_store::Store;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard};
use std::time::{Duration, Instant};

/// A kind of thing that is wrong and does not keep the workspace from answering.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Problem {
    /// The repository's settings are refused.
    Settings,
    /// Some files or folders may not be read.
    Unreadable,
    /// The file system does not tell of changes.
    RemoteFileSystem,
    /// The system gives no watcher.
    NoWatcher,
    /// The limit on watched folders is reached.
    WatchLimit,
    /// Some folders cannot be watched for another reason.
    Unwatchable,
    /// The index was damaged and built anew.
    Rebuilt,
}

impl Problem {
    /// Whether it keeps changes from being noticed, so that requests compare the tree.
    pub fn is_of_watching(self) -> bool {
        match self {
            Self::RemoteFileSystem | Self::NoWatcher | Self::WatchLimit | Self::Unwatchable => true,
            Self::Settings | Self::Unreadable | Self::Rebuilt => false,
        }
    }
}

/// Everything that status shows and changes with time.
#[derive(Clone, Debug)]
pub struct Condition {
    /// Where the workspace is in its life.
    pub state: WorkspaceState,
    /// Committed state.
    pub generation: u64,
    /// Files in the index.
    pub n_files: u64,
    /// Dirty paths.
    pub n_pending: u64,
    /// `events`, `scan` or `degraded`.
    pub watch: &'static str,
    /// Folders watched.
    pub n_watched: u64,
    /// Full comparisons after lost events.
    pub n_rescans: u64,
    /// Files extracted since the workspace was opened.
    pub n_extracted: u64,
    /// Files linked since the workspace was opened.
    pub n_linked: u64,
    /// The tool whose index is imported.
    pub import_tool: String,
    /// Names that are not UTF-8 or hold a secret.
    pub skipped_names: Vec<String>,
    /// What is wrong, one sentence for the user on each.
    pub problems: BTreeMap<Problem, String>,
    /// Work under way.
    pub progress: Option<Progress>,
}

impl Default for Condition {
    fn default() -> Self {
        Self {
            state: WorkspaceState::Closed,
            generation: 0,
            n_files: 0,
            n_pending: 0,
            watch: "scan",
            n_watched: 0,
            n_rescans: 0,
            n_extracted: 0,
            n_linked: 0,
            import_tool: String::new(),
            skipped_names: Vec::new(),
            problems: BTreeMap::new(),
            progress: None,
        }
    }
}

/// How a request sees that nothing has happened, while the event loop sleeps with nothing left to do.
struct Rest {
    watcher: Arc<dyn Watcher>,
    inbox: Arc<Inbox>,
    /// When one looked last.
    asked: Option<Instant>,
}

/// Shared by the event loop, a build under way and the requests.
#[derive(Default)]
pub struct Shared {
    rest: Mutex<Option<Rest>>,
    condition: Mutex<Condition>,
    changed: Condvar,
    store: RwLock<Option<Store>>,
    is_stopping: AtomicBool,
}

impl Shared {
    /// The condition now.
    pub fn condition(&self) -> Condition {
        self.lock().clone()
    }

    /// Changes the condition and wakes those who wait for a change.
    pub fn update(&self, f: impl FnOnce(&mut Condition)) {
        f(&mut self.lock());
        self.changed.notify_all();
    }

    /// Notes a problem with a sentence for the user, in place of the last one of its kind.
    pub fn problem(&self, kind: Problem, sentence: String) {
        self.update(|c| _ = c.problems.insert(kind, sentence));
    }

    /// Notes that there is no such problem any more.
    pub fn solved(&self, is_solved: impl Fn(Problem) -> bool) {
        self.update(|c| c.problems.retain(|kind, _| !is_solved(*kind)));
    }

    /// Waits until `wanted` holds or the time is over; gives the condition then.
    pub fn wait(&self, time: Duration, wanted: impl Fn(&Condition) -> bool) -> Condition {
        let guard = self.lock();
        let waited = self.changed.wait_timeout_while(guard, time, |c| !wanted(c));
        waited.unwrap_or_else(PoisonError::into_inner).0.clone()
    }

    /// The index, when one is open.
    pub fn store(&self) -> Option<Store> {
        self.store.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Puts an index in place, or takes it away.
    pub fn set_store(&self, store: Option<Store>) {
        *self.lock_store() = store;
    }

    /// The place of the index, which requests wait for meanwhile.
    pub fn lock_store(&self) -> RwLockWriteGuard<'_, Option<Store>> {
        self.store.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks work under way to stop.
    pub fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
    }

    /// Lets work start again.
    pub fn restart(&self) {
        self.is_stopping.store(false, Ordering::Relaxed);
    }

    /// Whether work is to stop.
    pub fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }

    /// The event loop goes to sleep with everything done: what the watcher put into `inbox` before is in
    /// the index. Holds until [`Shared::rouse`].
    pub fn rest(&self, watcher: &Arc<dyn Watcher>, inbox: &Arc<Inbox>) {
        let (watcher, inbox) = (Arc::clone(watcher), Arc::clone(inbox));
        *self.resting() = Some(Rest { watcher, inbox, asked: None });
    }

    /// The event loop is awake, before it takes anything out of its inbox. Gives when a request was
    /// last answered without it.
    pub fn rouse(&self) -> Option<Instant> {
        self.resting().take()?.asked
    }

    /// Freshness, when the event loop is at rest and nothing was changed since: there is no need to
    /// wake it. Every change made before this call counts.
    pub fn fresh_at_rest(&self) -> Option<Freshness> {
        // Held to the end, so that the loop takes nothing out of the inbox meanwhile.
        let mut rest = self.resting();
        let rest = rest.as_mut()?;
        let store = self.store().filter(|store| !store.is_damaged())?;
        if !rest.watcher.catch_up() || !rest.inbox.peek(Noticed::is_empty) {
            return None;
        }
        rest.asked = Some(rest.inbox.now());
        Some(Freshness { fresh: true, generation: store.generation(), pending: 0, how: "queue" })
    }

    /// Freshness when nothing proves it.
    pub fn not_fresh(&self) -> Freshness {
        let condition = self.lock();
        Freshness {
            fresh: false,
            generation: condition.generation,
            pending: condition.n_pending,
            how: "none",
        }
    }

    fn resting(&self) -> MutexGuard<'_, Option<Rest>> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Condition> {
        self.condition.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the text of [`Problem::Settings`], on one line.
pub fn settings_ignored(e: &crate::config::ConfigError) -> String {
    let text = e.to_string();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    format!("the repository's settings are ignored: {}", lines.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::noticing::watch::WatchError;
    use indexd_store::Opened;
    use std::path::{Path, PathBuf};

    /// Noticed, but not in the inbox before somebody asks.
    struct Behind {
        inbox: Arc<Inbox>,
        queue: Mutex<Vec<PathBuf>>,
    }

    impl Watcher for Behind {
        fn watch(&self, _: &Path) -> Result<bool, WatchError> {
            Ok(true)
        }
        fn unwatch(&self, _: &Path) {}
        fn unwatch_others(&self, _: &dyn Fn(&Path) -> bool) {}
        fn n_watched(&self) -> usize {
            1
        }
        fn catch_up(&self) -> bool {
            self.queue.lock().unwrap().drain(..).for_each(|path| self.inbox.dirty(path, true));
            true
        }
    }

    #[test]
    fn a_request_sees_for_itself_that_nothing_has_happened() {
        let tmp = tempfile::tempdir().unwrap();
        let Opened::Fresh(store) = indexd_store::Store::open(tmp.path(), b"").unwrap() else { panic!() };
        let inbox = Inbox::new(|| {});
        let behind = Arc::new(Behind { inbox: Arc::clone(&inbox), queue: Mutex::default() });
        let watcher: Arc<dyn Watcher> = Arc::clone(&behind) as _;
        let shared = Shared::default();
        let is_fresh = || shared.fresh_at_rest().is_some_and(|f| f.fresh && f.how == "queue");

        shared.set_store(Some(store));
        assert!(!is_fresh(), "the loop is awake");
        shared.rest(&watcher, &inbox);
        assert!(is_fresh() && is_fresh());
        assert!(shared.rouse().is_some(), "the loop hears that it was asked for");
        assert!(!is_fresh());
        shared.rest(&watcher, &inbox);
        assert_eq!(shared.rouse(), None);

        shared.rest(&watcher, &inbox);
        behind.queue.lock().unwrap().push("/a".into());
        assert!(!is_fresh(), "what the system has queued is seen");
        assert!(!is_fresh(), "and stays so until the loop has taken it in");
        shared.rouse();
        inbox.take();
        shared.rest(&watcher, &inbox);
        assert!(is_fresh());

        shared.set_store(None);
        assert!(!is_fresh(), "without an index");
    }
}
