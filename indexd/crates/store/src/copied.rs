//! Copies of a whole data file, for an index that begins as another one is.
//!
//! The system copies within itself, and where the file system can, both files share their blocks until
//! one of them is changed.

use crate::error::{Result, StoreError};
use crate::recovery::{self, DATA, Found, Mark};
use crate::store::Store;
use indexd_os::faults;
use std::fs;
use std::path::Path;

impl Store {
    /// Copies the last committed state into the folder `to`, which holds no index; to be opened with
    /// [`Store::open_verified`]. The writer waits meanwhile, readers do not.
    ///
    /// # Errors
    /// [`StoreError::Full`] or [`StoreError::Io`] from the system, [`StoreError::Busy`] before the first
    /// build.
    pub fn copy_file(&self, to: &Path) -> Result<()> {
        recovery::make_dir(to)?;
        // Pages are written by commits alone, so the file stands still.
        let txn = self.inner.env.write_txn()?;
        if self.generation() == 0 {
            return Err(StoreError::Busy("not built yet"));
        }
        faults::before("copy", &to.to_string_lossy())?;
        fs::copy(self.dir().join(DATA), to.join(DATA))?;
        drop(txn);
        Ok(recovery::mark(to, &self.inner.config, Mark::Dirty)?)
    }
}

/// As [`Store::copy_file`] for an index in the folder `from` that nobody has open. False, and there is
/// nothing to open, when it was not closed cleanly, is not an index of this `config`, or is not as it was
/// closed.
///
/// # Errors
/// [`StoreError::Full`] or [`StoreError::Io`] from the system.
pub fn copy_closed(from: &Path, to: &Path, config: &[u8]) -> Result<bool> {
    let config = *blake3::hash(config).as_bytes();
    recovery::make_dir(to)?;
    // The mark is read before the file: whoever changes the file takes the mark back first.
    let Some(mark) = recovery::clean_mark(from, &config) else { return Ok(false) };
    faults::before("copy", &to.to_string_lossy())?;
    fs::copy(from.join(DATA), to.join(DATA))?;
    recovery::put_mark(to, &mark)?;
    if recovery::inspect(to, &config)? != Found::Clean {
        recovery::discard(to)?;
        return Ok(false);
    }
    recovery::mark(to, &config, Mark::Dirty)?;
    Ok(true)
}
