//! A compact copy of an index that has grown, made while it serves, and put in its place.

use super::{Engine, EngineError};
use crate::workspace::indexing::recovery;
use indexd_store::{Opened, Store, StoreError};
use std::path::PathBuf;

/// An index is copied compactly when its file has grown by a quarter, or by this many bytes if that is more.
const GROWTH_BYTES_MIN: u64 = 512 << 10;

/// The inputs of a thread that makes a compact copy of an index.
pub struct CopyJob {
    store: Store,
    dir: PathBuf,
    env: u64,
}

/// A compact copy that was made.
pub struct Copy {
    env: u64,
    /// The transaction that it is a copy of.
    of: u64,
}

impl CopyJob {
    /// Makes the copy. The index serves requests and takes changes during that time.
    ///
    /// # Errors
    /// Those of the store; the copy is then removed.
    pub fn run(self, is_stopping: &dyn Fn() -> bool) -> Result<Copy, StoreError> {
        recovery::remove_env(&self.dir);
        let copied = self.store.copy_compact(&self.dir, is_stopping);
        if copied.is_err() {
            recovery::remove_env(&self.dir);
        }
        Ok(Copy { env: self.env, of: copied? })
    }
}

impl Engine {
    /// Returns true if the file is enough larger than a compact one for a copy to pay.
    pub fn is_bloated(&self) -> bool {
        let bytes = self.store.as_ref().map_or(0, Store::size_bytes);
        bytes > self.compact_bytes + (self.compact_bytes / 4).max(GROWTH_BYTES_MIN)
    }

    /// The work of copying the index compactly, for a thread of its own; `None` without an index.
    pub fn copy_job(&self) -> Option<CopyJob> {
        let env = self.env + 1;
        self.store.clone().map(|store| CopyJob { store, dir: self.env_dir(env), env })
    }

    /// Puts a compact copy in place. False, and the copy is gone, when the index has changed since.
    ///
    /// # Errors
    /// Those of the store; the index stays as it was.
    pub fn adopt(&mut self, copy: &Copy) -> Result<bool, EngineError> {
        let dir = self.env_dir(copy.env);
        let is_current = self.store.as_ref().is_some_and(|store| store.last_transaction() == copy.of);
        if copy.env != self.env + 1 {
            return Ok(false);
        }
        if !is_current {
            recovery::remove_env(&dir);
            return Ok(false);
        }
        let Opened::Ready(store) = Store::open_verified(&dir, &self.signature_config())? else {
            return Err(StoreError::Busy("a copy is gone").into());
        };
        self.set_current(copy.env, store.size_bytes())?;
        self.replace(copy.env, store);
        Ok(true)
    }
}
