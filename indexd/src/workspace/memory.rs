//! One ceiling for the memory of the daemon, in place of many small ones.
//!
//! Whoever may have taken memory calls [`Pressure::check`]. Above the ceiling a thread that sleeps
//! otherwise first lets go of what is only kept for later requests, then closes workspaces, those
//! first that were asked least lately; each opens again with its next request.

use super::handle::Workspace;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Registered workspaces by root.
pub type Workspaces = Mutex<BTreeMap<PathBuf, Arc<Workspace>>>;

/// A workspace that was asked so lately is not closed.
const ASKED_LATELY: Duration = Duration::from_secs(5);
/// Time between two looks of [`Pressure::check_at_times`].
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Time without work anywhere after which what is kept for later requests may go.
const SETTLED: Duration = Duration::from_secs(4);
/// The part of the ceiling below which a quiet daemon keeps everything. Decoded texts are few, but each
/// may be all that is left in a page of half a megabyte.
const QUIET_PART: u64 = 8;
/// Signals that wait; more say nothing new.
const SIGNALS_MAX: usize = 4;

/// A way to say that memory may have been taken. Cheap to clone.
#[derive(Clone)]
pub struct Pressure(Option<Arc<Inner>>);

struct Inner {
    bytes_max: u64,
    signals: Sender<Signal>,
    looked_at: Mutex<Instant>,
}

enum Signal {
    /// The process is above its ceiling.
    Above,
    /// Work is over somewhere.
    Settled,
}

impl Pressure {
    /// No ceiling, for a workspace that stands alone.
    pub fn none() -> Self {
        Self(None)
    }

    /// A ceiling of so many bytes for all of `workspaces`, kept by a thread that ends with the last
    /// clone.
    pub fn keep_below(bytes_max: u64, workspaces: Weak<Workspaces>) -> Self {
        let (signals, received) = crossbeam_channel::bounded(SIGNALS_MAX);
        let keep = move || keep_below(bytes_max, &workspaces, &received);
        // Without the thread there is no ceiling, as on a system that tells of no memory.
        let thread = std::thread::Builder::new().name("memory".into()).spawn(keep);
        let looked_at = Mutex::new(Instant::now());
        Self(thread.ok().map(|_| Arc::new(Inner { bytes_max, signals, looked_at })))
    }

    /// Looks at the memory of the process and has it lowered when it is above the ceiling.
    pub fn check(&self) {
        if let Some(inner) = &self.0
            && indexd_os::private_bytes() > inner.bytes_max
        {
            // Full means that the thread is about to look anyway.
            let _ = inner.signals.try_send(Signal::Above);
        }
    }

    /// As [`Pressure::check`], at most once a second: for what happens often.
    pub fn check_at_times(&self) {
        let Some(inner) = &self.0 else { return };
        let mut looked_at = inner.looked_at.lock().unwrap_or_else(PoisonError::into_inner);
        if looked_at.elapsed() >= LOOK_EVERY {
            *looked_at = Instant::now();
            drop(looked_at);
            self.check();
        }
    }

    /// Says that a workspace is quiet again after work.
    pub fn settled(&self) {
        if let Some(inner) = &self.0 {
            let _ = inner.signals.try_send(Signal::Settled);
        }
    }
}

/// The thread that keeps the ceiling.
fn keep_below(bytes_max: u64, workspaces: &Weak<Workspaces>, signals: &Receiver<Signal>) {
    let mut is_settling = false;
    loop {
        let signal = match is_settling {
            true => signals.recv_timeout(SETTLED),
            false => signals.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match signal {
            Ok(Signal::Settled) => is_settling = true,
            Ok(Signal::Above) => {
                let Some(workspaces) = workspaces.upgrade() else { return };
                relieve(bytes_max, &workspaces, &indexd_os::private_bytes);
            }
            Err(RecvTimeoutError::Timeout) => {
                is_settling = false;
                if indexd_os::private_bytes() > bytes_max / QUIET_PART {
                    indexd_store::forget_decoded();
                    super::give_back_memory();
                }
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Lowers the memory that `used` tells of to `bytes_max`, as far as that can be done.
fn relieve(bytes_max: u64, workspaces: &Workspaces, used: &dyn Fn() -> u64) {
    indexd_store::forget_decoded();
    super::give_back_memory();
    let all: Vec<Arc<Workspace>> =
        workspaces.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
    let mut idle: Vec<(Instant, Arc<Workspace>)> = all
        .into_iter()
        .filter_map(|w| Some((w.asked_at()?, w)))
        .filter(|(at, w)| at.elapsed() >= ASKED_LATELY && !w.is_building())
        .collect();
    idle.sort_by_key(|(at, _)| *at);
    for (_, workspace) in idle {
        if used() <= bytes_max {
            return;
        }
        tracing::info!(root = %workspace.root().display(), "closed to make room in memory");
        workspace.close(false);
        super::give_back_memory();
    }
}
