//! What serves a request, and what it may know of its caller.

use crate::config::{Mount, PathMap};
use indexd_proto::error::{ErrorCode, ErrorObject};
use indexd_proto::workspace::StatusResult;
use indexd_proto::{Call, Id};
use serde_json::value::RawValue;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The JSON of a result, or the error to answer with.
pub type Answer = Result<Box<RawValue>, ErrorObject>;

/// Serves requests, each on a thread of its own that may block.
pub trait Backend: Send + Sync + 'static {
    /// Serves one request.
    fn call(&self, call: Call, context: &Context) -> Answer;

    /// The condition of every workspace, sorted by root, and counts; the server adds the daemon itself.
    fn status(&self) -> StatusResult {
        StatusResult::default()
    }

    /// The folders that clients may know by another path.
    fn path_map(&self) -> Option<&PathMap> {
        None
    }

    /// Removes indexes that nobody needs any more. Called at the start and once a day.
    fn collect(&self) {}

    /// Writes what must not be lost. Called once, after the last request.
    fn shutdown(&self);
}

/// Whether the answer is still wanted.
#[derive(Clone, Debug, Default)]
pub struct Cancel {
    flag: Arc<AtomicBool>,
    waker: Arc<tokio::sync::Notify>,
}

impl Cancel {
    /// Says that it is not.
    pub fn cancel(&self) {
        self.flag.store(true, Ordering::Relaxed);
        self.waker.notify_waiters();
        self.waker.notify_one();
    }

    /// Whether it is not.
    pub fn is_cancelled(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// An error once it is not.
    ///
    /// # Errors
    /// `POC_E_CANCELLED`.
    pub fn check(&self) -> Result<(), ErrorObject> {
        if self.is_cancelled() { Err(cancelled()) } else { Ok(()) }
    }

    /// Ends when it is not.
    pub async fn cancelled(&self) {
        while !self.is_cancelled() {
            self.waker.notified().await;
        }
    }
}

/// The place that a request runs in; none for one that needs none.
#[derive(Default)]
pub struct Place {
    held: Mutex<Option<OwnedSemaphorePermit>>,
    all: Option<Arc<Semaphore>>,
}

impl Place {
    /// One of `all` places.
    pub fn of(held: OwnedSemaphorePermit, all: &Arc<Semaphore>) -> Self {
        Self { held: Mutex::new(Some(held)), all: Some(Arc::clone(all)) }
    }

    fn slot(&self) -> MutexGuard<'_, Option<OwnedSemaphorePermit>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a request in service knows of its caller.
pub struct Context {
    /// The request's id.
    pub id: Id,
    /// When its last byte arrived: only saves before this moment are promised to be seen.
    pub received: Instant,
    /// Its name in the log: the client's own, else one of ours.
    pub correlation_id: String,
    /// Whether the answer is still wanted.
    pub cancel: Cancel,
    /// True if the client asks for coding agents.
    pub is_for_agents: bool,
    /// Where the workspace lies for a client that knows it by another path.
    pub mount: Option<Mount>,
    /// True if the client fetches published indexes when it is told to.
    pub client_pulls: bool,
    /// Where it runs.
    pub place: Place,
    /// Takes notifications for the client; false when the client is gone.
    pub notify: Box<dyn Fn(Vec<u8>) -> bool + Send + Sync>,
}

impl Context {
    /// An error once the answer is no longer wanted.
    ///
    /// # Errors
    /// `POC_E_CANCELLED`.
    pub fn check(&self) -> Result<(), ErrorObject> {
        self.cancel.check()
    }

    /// Waits for something that others do: meanwhile the place is theirs, and afterwards another one is
    /// waited for. To be called on a thread that may block.
    pub fn aside<T>(&self, wait: impl FnOnce() -> T) -> T {
        let Some(all) = &self.place.all else { return wait() };
        drop(self.place.slot().take());
        let waited = wait();
        let again = async {
            tokio::select! {
                place = Arc::clone(all).acquire_owned() => place.ok(),
                () = self.cancel.cancelled() => None,
            }
        };
        *self.place.slot() = tokio::runtime::Handle::current().block_on(again);
        waited
    }

    /// A root as the client knows it.
    pub fn root(&self, root: &std::path::Path) -> String {
        let root = root.display().to_string();
        self.mount.as_ref().map_or_else(|| root.clone(), |m| m.container_of(&root))
    }

    /// Sends a notification, waiting while the client is slow.
    ///
    /// # Errors
    /// `POC_E_CANCELLED` when the client is gone or the answer is no longer wanted.
    pub fn send(&self, message: Vec<u8>) -> Result<(), ErrorObject> {
        self.check()?;
        if (self.notify)(message) { Ok(()) } else { Err(cancelled()) }
    }

    /// Time since the request arrived.
    pub fn age(&self) -> Duration {
        self.received.elapsed()
    }
}

/// The error of a request that is no longer wanted.
pub fn cancelled() -> ErrorObject {
    ErrorObject::new(ErrorCode::Cancelled, "the request was cancelled")
}
