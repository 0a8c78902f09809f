//! What the threads of one workspace share: its condition, its index, the way to its event loop.

use super::status::{Freshness, Progress, WorkspaceState};
use indexd_store::Store;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

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
    /// Names that are not UTF-8.
    pub skipped_names: Vec<String>,
    /// Sentences for the user.
    pub problems: Vec<String>,
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
            problems: Vec::new(),
            progress: None,
        }
    }
}

/// Shared by the event loop, a build under way and the requests.
#[derive(Default)]
pub struct Shared {
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
        *self.store.write().unwrap_or_else(PoisonError::into_inner) = store;
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

    fn lock(&self) -> MutexGuard<'_, Condition> {
        self.condition.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
