//! Copies of a whole data file, for an index that begins as another one is, and what can be done with an
//! index that nobody has open.
//!
//! The system copies within itself, and where the file system can, both files share their blocks until
//! one of them is changed.

use crate::error::{Result, StoreError};
use crate::recovery::{self, DATA, Found, Mark};
use crate::store::{Opened, Store};
use indexd_os::faults;
use std::fs;
use std::path::Path;

impl Store {
    /// Copies the last committed state into the folder `to`, which holds no index; to be opened with
    /// [`Store::open_verified`]. The writer waits meanwhile, readers do not.
    ///
    /// # Errors
    /// [`StoreError::Full`] or [`StoreError::Io`] from the system, [`StoreError::Busy`] before the first
    /// build, [`StoreError::Corrupt`] when the file is not as this process left it.
    pub fn copy_file(&self, to: &Path) -> Result<()> {
        self.check_untouched()?;
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
/// nothing to open, when it was not closed cleanly, is not an index of this `config`, is not as it was
/// closed, or is gone.
///
/// # Errors
/// [`StoreError::Full`] or [`StoreError::Io`] from the system.
pub fn copy_closed(from: &Path, to: &Path, config: &[u8]) -> Result<bool> {
    let config = *blake3::hash(config).as_bytes();
    recovery::make_dir(to)?;
    // The mark is read before the file: whoever changes the file takes the mark back first.
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

/// A name for the content of an index that was closed cleanly and is one of this `config`; `None` for
/// others.
pub fn name_of_closed(dir: &Path, config: &[u8]) -> Option<String> {
    let mark = recovery::clean_mark(dir, blake3::hash(config).as_bytes())?;
    Some(blake3::hash(mark.as_bytes()).to_hex()[..NAME_LEN].to_owned())
}

/// Opens an index to be read that was closed cleanly and is one of this `config`; `None`, and nothing
/// has changed, for others and for one that is not as it was closed.
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

/// Puts an index that was closed cleanly into the folder `to` as well. Both have the same data file,
/// which nobody may write to from now on, where the file system can do that; else it is copied. False
/// for what is not a closed index of this `config`.
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

/// Characters of the name of a content.
const NAME_LEN: usize = 32;
