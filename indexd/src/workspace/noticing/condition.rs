//! State shared by the threads of one workspace: its condition, its index, the channel to its event loop.

use super::watch::{Inbox, Noticed, Watcher};
use crate::workspace::status::Freshness;
use indexd_proto::workspace::{How, Problem, State, WorkspaceStatus};
use indexd_store::Store;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, RwLockWriteGuard};
use std::time::{Duration, Instant};

/// The state of a workspace as its event loop reports it.
#[derive(Clone, Debug, Default)]
pub struct Condition {
    /// The part of a status report that changes with time; the other members are empty.
    pub status: WorkspaceStatus,
    /// The present problems, with one sentence for the user on each.
    pub problems: BTreeMap<Problem, String>,
}

impl Condition {
    /// Enters a state other than [`State::Failed`].
    pub fn enter(&mut self, state: State) {
        self.status.state = state;
        self.status.failure = None;
    }
}

/// Lets a request see that nothing has happened, while the event loop sleeps with nothing left to do.
struct Rest {
    watcher: Arc<dyn Watcher>,
    inbox: Arc<Inbox>,
    /// Time of the last freshness check.
    asked: Option<Instant>,
}

/// Shared by the event loop, a build in progress and the requests.
#[derive(Default)]
pub struct Shared {
    rest: Mutex<Option<Rest>>,
    condition: Mutex<Condition>,
    changed: Condvar,
    store: RwLock<Option<Store>>,
    is_stopping: AtomicBool,
}

impl Shared {
    /// Returns the present condition.
    pub fn condition(&self) -> Condition {
        self.lock().clone()
    }

    /// Changes the condition and wakes the threads that wait for a change.
    pub fn update(&self, f: impl FnOnce(&mut Condition)) {
        f(&mut self.lock());
        self.changed.notify_all();
    }

    /// Records a problem with a sentence for the user, replacing the last one of its kind.
    pub fn problem(&self, kind: Problem, sentence: String) {
        self.update(|c| _ = c.problems.insert(kind, sentence));
    }

    /// Removes the solved problems.
    pub fn solved(&self, is_solved: impl Fn(Problem) -> bool) {
        self.update(|c| c.problems.retain(|kind, _| !is_solved(*kind)));
    }

    /// Waits until the workspace is not closed any more, or `time` is over.
    pub fn wait_until_opened(&self, time: Duration) {
        let is_closed = |c: &mut Condition| c.status.state == State::Closed;
        drop(self.changed.wait_timeout_while(self.lock(), time, is_closed));
    }

    /// Returns the index, when one is open.
    pub fn store(&self) -> Option<Store> {
        self.store.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets or removes the index.
    pub fn set_store(&self, store: Option<Store>) {
        *self.lock_store() = store;
    }

    /// Locks the place of the index. Requests wait until the guard is dropped.
    pub fn lock_store(&self) -> RwLockWriteGuard<'_, Option<Store>> {
        self.store.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks work in progress to stop.
    pub fn stop(&self) {
        self.is_stopping.store(true, Ordering::Relaxed);
    }

    /// Allows work to start again.
    pub fn restart(&self) {
        self.is_stopping.store(false, Ordering::Relaxed);
    }

    /// Returns true if work is to stop.
    pub fn is_stopping(&self) -> bool {
        self.is_stopping.load(Ordering::Relaxed)
    }

    /// Records that the event loop sleeps with everything done: all events that the watcher put into `inbox`
    /// before are in the index. Holds until [`Shared::rouse`].
    pub fn rest(&self, watcher: &Arc<dyn Watcher>, inbox: &Arc<Inbox>) {
        let (watcher, inbox) = (Arc::clone(watcher), Arc::clone(inbox));
        *self.resting() = Some(Rest { watcher, inbox, asked: None });
    }

    /// Records that the event loop is awake, before it takes anything out of its inbox. Returns the time at
    /// which a request was last answered without it.
    pub fn rouse(&self) -> Option<Instant> {
        self.resting().take()?.asked
    }

    /// Returns the freshness when the event loop is at rest and nothing was changed since, without waking it.
    /// Every change made before this call counts.
    pub fn fresh_at_rest(&self) -> Option<Freshness> {
        // Held to the end, so that the loop takes nothing out of the inbox during the check.
        let mut rest = self.resting();
        let rest = rest.as_mut()?;
        let store = self.store().filter(|store| !store.is_damaged())?;
        if !rest.watcher.catch_up() || !rest.inbox.peek(Noticed::is_empty) {
            return None;
        }
        rest.asked = Some(rest.inbox.now());
        Some(Freshness { fresh: true, generation: store.generation(), pending: 0, how: How::Queue })
    }

    /// Freshness when nothing proves it.
    pub fn not_fresh(&self) -> Freshness {
        let status = &self.lock().status;
        Freshness { fresh: false, generation: status.generation, pending: status.n_pending, how: How::None }
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

    /// Noticed, but in the inbox only after a request.
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
        let is_fresh = || shared.fresh_at_rest().is_some_and(|f| f.fresh && f.how == How::Queue);

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
