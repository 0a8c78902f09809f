//! Whether the data file is as this process left it.
//!
//! LMDB writes to the file in write transactions only, and a system notes when a file was written to. So
//! between two of them a look at the file's stat tells whether somebody else wrote to it.

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
    /// Write transactions that have begun, or wait for another one to end.
    n_writers: u32,
    /// As it was when the last write transaction ended.
    stamp: Option<Stamp>,
}

/// What tells two states of a file apart.
#[derive(PartialEq, Eq)]
struct Stamp {
    modified: SystemTime,
    len: u64,
    #[cfg(unix)]
    identity: (u64, u64),
}

impl Stamp {
    /// `None` when the file is gone, or the system does not say when it was written to.
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
    /// Of the environment in a folder, as it is now.
    pub fn new(dir: &Path) -> Self {
        let path = dir.join(DATA);
        let state = Mutex::new(State { n_writers: 0, stamp: Stamp::of(&path) });
        Self { path, state }
    }

    /// Compares the file with the one that was left, unless it is being written to.
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
        // Nothing is left half done under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A write transaction that has begun or is about to.
pub(crate) struct Writing(Arc<Untouched>);

impl Writing {
    /// Notes the begin.
    pub fn begin(untouched: &Arc<Untouched>) -> Self {
        untouched.state().n_writers += 1;
        Self(Arc::clone(untouched))
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.n_writers -= 1;
        // Until the last of those that follow one another has ended, one may be writing.
        if state.n_writers == 0 {
            state.stamp = Stamp::of(&self.0.path);
        }
    }
}
