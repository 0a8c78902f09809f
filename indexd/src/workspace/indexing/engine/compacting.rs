//! A compact copy of an index that has grown, made while it serves, and put in its place.

use super::{Engine, EngineError};
use crate::workspace::indexing::recovery;
use indexd_store::{Store, StoreError};
use std::path::PathBuf;

/// An index is copied compactly when its file has grown by a quarter, or by this many bytes if that is more.
const GROWTH_BYTES_MIN: u64 = 512 << 10;

/// The inputs of a thread that makes a compact copy of an index.
pub struct CopyJob {
    store: Store,
    dir: PathBuf,
}

impl CopyJob {
    /// Makes the copy, and returns the transaction that it was made of. The index serves requests and takes
    /// changes during that time.
    ///
    /// # Errors
    /// Those of the store; the copy is then removed.
    pub fn run(self, is_stopping: &dyn Fn() -> bool) -> Result<u64, StoreError> {
        recovery::remove_env(&self.dir);
        let copied = self.store.copy_compact(&self.dir, is_stopping);
        if copied.is_err() {
            recovery::remove_env(&self.dir);
        }
        copied
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
        self.store.clone().map(|store| CopyJob { store, dir: self.env_dir(self.env + 1) })
    }

    /// Puts the last copy, which was made of a transaction, in place. False, and the copy is gone, when the
    /// index has changed since. No other index may have been built in between.
    ///
    /// # Errors
    /// Those of the store; the index stays as it was.
    pub fn adopt(&mut self, transaction: u64) -> Result<bool, EngineError> {
        let env = self.env + 1;
        if self.store.as_ref().is_none_or(|store| store.last_transaction() != transaction) {
            recovery::remove_env(&self.env_dir(env));
            return Ok(false);
        }
        self.put_in_place(env, None)?;
        Ok(true)
    }
}
