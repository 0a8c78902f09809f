//! Detects writes to the data file by others.
//!
//! LMDB writes to the file in write transactions only, and the system records the time of a write. So a look
//! at the stat of the file between two transactions tells whether something else wrote to it.

use crate::error::{Result, StoreError};
use crate::recovery::DATA;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// The data file of an environment that is open.
pub(crate) struct Untouched {
    path: PathBuf,
    state: Mutex<State>,
}

struct State {
    /// Write transactions in progress or waiting for another one to end.
    n_writers: u32,
    /// Stat when the last write transaction ended.
    stamp: Option<Stamp>,
}

/// Stat of a file, which differs between two states of it.
#[derive(PartialEq, Eq)]
struct Stamp {
    modified: SystemTime,
    len: u64,
    #[cfg(unix)]
    identity: (u64, u64),
}

impl Stamp {
    /// `None` when the file is missing, or the system does not record the time of writes.
    fn of(path: &Path) -> Option<Self> {
        #[cfg(unix)]
        use std::os::unix::fs::MetadataExt;
        let meta = fs::metadata(path).ok()?;
        Some(Self {
            modified: meta.modified().ok()?,
            len: meta.len(),
            #[cfg(unix)]
            identity: (meta.dev(), meta.ino()),
        })
    }
}

impl Untouched {
    /// The state of the environment in a folder, as it is now.
    pub fn new(dir: &Path) -> Self {
        let path = dir.join(DATA);
        let state = Mutex::new(State { n_writers: 0, stamp: Stamp::of(&path) });
        Self { path, state }
    }

    /// Compares the file with its recorded state, unless it is being written to.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when they differ.
    pub fn check(&self) -> Result<()> {
        let state = self.state();
        if state.n_writers > 0 || state.stamp == Stamp::of(&self.path) {
            return Ok(());
        }
        Err(StoreError::Corrupt("another program wrote to the data file".into()))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // No panic can leave the value in an invalid state.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A guard for a write transaction that has begun or is about to.
pub(crate) struct Writing(Arc<Untouched>);

impl Writing {
    /// Notes the beginning.
    pub fn begin(untouched: &Arc<Untouched>) -> Self {
        untouched.state().n_writers += 1;
        Self(Arc::clone(untouched))
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.n_writers -= 1;
        // While any of several queued transactions has not ended, one may be writing.
        if state.n_writers == 0 {
            state.stamp = Stamp::of(&self.0.path);
        }
    }
}
