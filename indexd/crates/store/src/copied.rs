//! Copies of a whole data file, for an index that starts from another one, and operations on an index that
//! is not open.
//!
//! The system copies within itself. Where the file system can, both files share their blocks until one of
//! them is changed.

use crate::error::{Result, StoreError};
use crate::recovery::{self, DATA, Found, Mark};
use crate::store::{Opened, Store};
use indexd_os::faults;
use std::fs;
use std::path::Path;

impl Store {
    /// Copies the last committed state into the folder `to`, which must hold no index; open the copy with
    /// [`Store::open_verified`]. The writer waits for the copy, readers do not.
    ///
    /// # Errors
    /// [`StoreError::Full`] or [`StoreError::Io`] from the system, [`StoreError::Busy`] before the first
    /// build, [`StoreError::Corrupt`] when something else changed the file.
    pub fn copy_file(&self, to: &Path) -> Result<()> {
        self.check_untouched()?;
        recovery::make_dir(to)?;
        // Only commits write pages, so the file does not change during the copy.
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

/// Copies an index in the folder `from` that is not open, as [`Store::copy_file`] does. Returns false,
/// leaving nothing to open, when the index is gone, was not closed cleanly, is not of this `config`, or was
/// changed after it was closed.
///
/// # Errors
/// [`StoreError::Full`] or [`StoreError::Io`] from the system.
pub fn copy_closed(from: &Path, to: &Path, config: &[u8]) -> Result<bool> {
    let config = *blake3::hash(config).as_bytes();
    recovery::make_dir(to)?;
    // The mark is read before the file, because a writer removes the mark before it changes the file.
    let Some(mark) = recovery::clean_mark(from, &config) else { return Ok(false) };
    faults::before("copy", &to.to_string_lossy())?;
    if !from.join(DATA).is_file() {
        return Ok(false);
    }
    fs::copy(from.join(DATA), to.join(DATA))?;
    recovery::put_mark(to, &mark)?;
    if recovery::inspect(to, &config)? != Found::Clean {
        recovery::discard(to)?;
        return Ok(false);
    }
    recovery::mark(to, &config, Mark::Dirty)?;
    Ok(true)
}

/// A name for the content of an index of this `config` that was closed cleanly; `None` for any other index.
pub fn name_of_closed(dir: &Path, config: &[u8]) -> Option<String> {
    let mark = recovery::clean_mark(dir, blake3::hash(config).as_bytes())?;
    Some(blake3::hash(mark.as_bytes()).to_hex()[..NAME_LEN].to_owned())
}

/// Opens an index of this `config` that was closed cleanly, for reading. Returns `None`, without any change,
/// for any other index and for one that was changed after it was closed.
///
/// # Errors
/// As [`Store::open`], damage excepted.
pub fn open_closed(dir: &Path, config: &[u8]) -> Result<Option<Store>> {
    if name_of_closed(dir, config).is_none() {
        return Ok(None);
    }
    match Store::open(dir, config) {
        Ok(Opened::Ready(store)) => Ok(Some(store)),
        Ok(Opened::Fresh(_) | Opened::Unverified) => Ok(None),
        Err(e) if e.needs_rebuild() => Ok(None),
        Err(e) => Err(e),
    }
}

/// Puts an index that was closed cleanly into the folder `to` as well, as a hard link where the file system
/// supports it, otherwise as a copy. The linked data file must not be written to from then on. Returns false
/// if `from` is not a closed index of this `config`.
///
/// # Errors
/// [`StoreError::Full`] or [`StoreError::Io`] from the system.
pub fn share_closed(from: &Path, to: &Path, config: &[u8]) -> Result<bool> {
    let config = *blake3::hash(config).as_bytes();
    let Some(mark) = recovery::clean_mark(from, &config) else { return Ok(false) };
    if !from.join(DATA).is_file() {
        return Ok(false);
    }
    recovery::make_dir(to)?;
    faults::before("link", &to.to_string_lossy())?;
    let (data, shared) = (from.join(DATA), to.join(DATA));
    if fs::hard_link(&data, &shared).is_err() {
        fs::copy(&data, &shared)?;
        fs::File::open(&shared)?.sync_all()?;
    }
    recovery::put_mark(to, &mark)?;
    Ok(true)
}

/// Characters of the name of an index's content.
const NAME_LEN: usize = 32;
