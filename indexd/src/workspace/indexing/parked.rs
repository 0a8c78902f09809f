//! Indexes of worktrees that are not in use, kept as the difference of each from a common base.
//!
//! A *base* is the data file of one of them as it was when it closed, in a folder of its own; it is never
//! written again. An index that closes and has similar ones is *parked*: the file `PARKED` takes the place of
//! its environment. Opening it restores the environment. A base that is missing or damaged costs a rebuild
//! from the tree.
//!
//! | bytes of a parked index | |
//! |---|---|
//! | `indexd parked 2\n` | the format |
//! | 64 digits, `\n` | BLAKE3 of the recipe |
//! | 32 digits, `\n` | the name of the base, a hash of its content |
//! | a number, `\n` | bytes of the difference |
//! | a zstd frame | the difference, as `indexd_store::Store::difference` gives it |
//! | 32 bytes | BLAKE3 of all before |
//!
//! The parked file is complete before the environment is removed, and is removed only after the environment
//! is complete again. A crash leaves one of them or both, and both are the same index. No environment in the
//! folder is written while a parked file is there.

use super::recovery::{self, Checked, write_whole};
use super::siblings::{self, likely};
use indexd_os::faults;
use indexd_proto::paths::private_dir;
use indexd_proto::share::Sketch;
use indexd_store::{Opened, Store, StoreError};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

const PARKED: &str = "parked";
const MAGIC: &str = "indexd parked 2";
/// A base that is being made.
const NEW: &str = "new";
/// A difference larger than this part (1/8) of an index makes the index a base.
const DIFFERENCE_PART: u64 = 8;
/// Maximum of bytes of a difference: it is held in memory.
const DIFFERENCE_BYTES_MAX: u64 = 64 << 20;
/// Number of bases that an index is compared with.
const TRIES: usize = 2;
/// Level of zstd: of the texts and facts in a difference, most are frames already.
const LEVEL: i32 = 6;
const SUM_BYTES: usize = 32;
/// Length of the start of the file that contains the name of the base.
const HEAD_BYTES: u64 = 256;

/// The bases of all indexes of one user.
pub struct Bases {
    dir: PathBuf,
    /// Locked while one index is parked or restored.
    lock: Mutex<()>,
    /// Bytes of indexes that may be parked; beyond it the others are only closed.
    allowance: AtomicU64,
}

impl Bases {
    /// Bases in a folder, which is made when it is needed.
    pub fn new(dir: PathBuf) -> Self {
        Self { dir, lock: Mutex::default(), allowance: AtomicU64::new(u64::MAX) }
    }

    /// Sets the maximum of bytes of parked indexes from now on.
    pub fn limit(&self, bytes: u64) {
        self.allowance.store(bytes, Ordering::Relaxed);
    }

    /// Closes the index in the folder `home`, whose environment is in `env`, and parks it when there are
    /// similar ones. One that cannot be parked is only closed.
    ///
    /// # Errors
    /// As [`Store::close_clean`].
    pub fn close(&self, home: &Path, env: &Path, store: Store, config: &[u8]) -> Result<(), StoreError> {
        let sketch =
            siblings::load(home).filter(|_| may_park(home, &store) && self.may_park(store.size_bytes()));
        let all = home.parent().unwrap_or(home);
        let Some(sketch) = sketch.filter(|sketch| !likely(all, home, sketch).is_empty()) else {
            return store.close_clean();
        };
        let _one = self.lock();
        let against = self.against_a_base(&sketch, &store, config).unwrap_or_else(|e| {
            tracing::info!(error = %e, "an index was not compared with others like it");
            None
        });
        if let Some(parked) = against {
            match write_whole(&home.join(PARKED), &parked) {
                Ok(()) => {
                    drop(store);
                    recovery::remove_env(env);
                    return Ok(());
                }
                Err(e) => tracing::info!(error = %e, "an index was not parked"),
            }
            return store.close_clean();
        }
        store.close_clean()?;
        if let Err(e) = self.become_base(home, env, &sketch, config) {
            // It is an index that was closed, as before.
            recovery::remove_env(&self.dir.join(NEW));
            forget(home);
            tracing::info!(error = %e, "an index did not become a base of others");
        }
        Ok(())
    }

    fn may_park(&self, bytes: u64) -> bool {
        let take = |left: u64| left.checked_sub(bytes);
        self.allowance.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }

    /// Returns the bytes of the parked index by a similar base, if there is one.
    fn against_a_base(
        &self,
        sketch: &Sketch,
        store: &Store,
        config: &[u8],
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let bytes_max = (store.size_bytes() / DIFFERENCE_PART).min(DIFFERENCE_BYTES_MAX) as usize;
        for dir in likely(&self.dir, &self.dir.join(NEW), sketch).into_iter().take(TRIES) {
            let name = name_of(&dir);
            let Some(base) = indexd_store::open_closed(&dir, config)? else {
                // It is damaged or of another recipe. Indexes parked on it are rebuilt when they are asked
                // for.
                recovery::remove_env(&dir);
                continue;
            };
            if let Some(difference) = store.difference(&base, bytes_max)? {
                return Ok(Some(encode(config, &name, &difference)?));
            }
        }
        Ok(None)
    }

    /// Makes the data file of a closed index a base, and parks the index as equal to it.
    fn become_base(&self, home: &Path, env: &Path, sketch: &Sketch, config: &[u8]) -> Result<(), StoreError> {
        let Some(name) = indexd_store::name_of_closed(env, config) else { return Ok(()) };
        private_dir(&self.dir, indexd_os::own_uid())?;
        let (new, dir) = (self.dir.join(NEW), self.dir.join(&name));
        recovery::remove_env(&new);
        if !indexd_store::share_closed(env, &new, config)? {
            return Ok(());
        }
        siblings::save(sketch, &new);
        // From here on the environment must not be written: the base shares its file.
        write_whole(&home.join(PARKED), &encode(config, &name, &Store::no_difference())?)?;
        faults::before("rename", &dir.to_string_lossy())?;
        recovery::remove_env(&dir);
        fs::rename(&new, &dir)?;
        recovery::remove_env(env);
        Ok(())
    }

    /// Restores a parked index in the folder `env`. The parked file stays until [`Bases::forget`], also when it
    /// or its base is damaged.
    ///
    /// # Errors
    /// [`StoreError::Full`] or [`StoreError::Io`] from the system; the parked file stays as it is.
    pub fn unpark(&self, home: &Path, env: &Path, config: &[u8]) -> Result<Checked, StoreError> {
        faults::before("read", &home.join(PARKED).to_string_lossy())?;
        let bytes = fs::read(home.join(PARKED))?;
        let parked = match decode(&bytes, config) {
            Ok(parked) => parked,
            Err(unusable) => return Ok(unusable),
        };
        let _one = self.lock();
        let new = env.with_extension("new");
        let is_whole = self.put_together(&parked, &new, config);
        if !matches!(is_whole, Ok(true)) {
            recovery::remove_env(&new);
            return is_whole.map(|_| Checked::Damaged);
        }
        faults::before("rename", &env.to_string_lossy())?;
        recovery::remove_env(env);
        fs::rename(&new, env)?;
        match Store::open_verified(env, config)? {
            Opened::Ready(store) => Ok(Checked::Ready(store)),
            _ => Ok(Checked::Damaged),
        }
    }

    /// Restores the environment of a parked index in the folder `to` and closes it, since LMDB keeps the
    /// pages of a transaction until then. Returns false when its base or its difference is damaged.
    fn put_together(&self, parked: &Parked, to: &Path, config: &[u8]) -> Result<bool, StoreError> {
        recovery::remove_env(to);
        let base = self.dir.join(&parked.base);
        if indexd_store::name_of_closed(&base, config).as_ref() != Some(&parked.base)
            || !indexd_store::copy_closed(&base, to, config)?
        {
            return Ok(false);
        }
        let Opened::Ready(store) = Store::open_verified(to, config)? else { return Ok(false) };
        match store.add_difference(&parked.difference) {
            Err(e) if e.needs_rebuild() => Ok(false),
            added => added.map(|()| true),
        }
    }

    /// Removes the parked index in `home`, and the bases that are not needed any more.
    pub fn forget(&self, home: &Path) {
        forget(home);
        self.collect(home.parent().unwrap_or(home));
    }

    /// Removes the bases that no index in a folder of `homes` uses.
    pub fn collect(&self, homes: &Path) {
        let _one = self.lock();
        let entries = |dir: &Path| fs::read_dir(dir).into_iter().flatten().flatten();
        let needed: BTreeSet<String> = entries(homes).filter_map(|home| base_of(&home.path())).collect();
        for base in entries(&self.dir).filter(|base| !needed.contains(&name_of(&base.path()))) {
            recovery::remove_env(&base.path());
        }
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        // Work that was left half done is repeated.
        self.lock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns true if an index may be parked. It must be sound, and the disk must have twice the room that
/// restoring it needs, since other programs take some in between.
fn may_park(home: &Path, store: &Store) -> bool {
    let has_room = indexd_os::bytes_free(home).is_none_or(|free| free / 2 >= store.size_bytes());
    has_room && !store.is_damaged()
}

/// Returns true if the index in a folder is parked.
pub fn is_parked(home: &Path) -> bool {
    home.join(PARKED).exists()
}

/// Removes the parked index of a folder.
pub fn forget(home: &Path) {
    let path = home.join(PARKED);
    for path in [path.with_extension("new"), path] {
        if let Err(e) = fs::remove_file(path)
            && e.kind() != io::ErrorKind::NotFound
        {
            // The next opening restores it and brings it up to date.
            tracing::warn!(error = %e, "a parked index could not be removed");
        }
    }
}

fn name_of(dir: &Path) -> String {
    dir.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Returns the name of the base that the parked index in a folder uses.
fn base_of(home: &Path) -> Option<String> {
    let mut head = Vec::new();
    fs::File::open(home.join(PARKED)).ok()?.take(HEAD_BYTES).read_to_end(&mut head).ok()?;
    let name = head.split(|b| *b == b'\n').nth(2)?;
    std::str::from_utf8(name).ok().map(str::to_owned)
}

/// The content of the file of a parked index.
struct Parked {
    base: String,
    difference: Vec<u8>,
}

fn encode(config: &[u8], base: &str, difference: &[u8]) -> io::Result<Vec<u8>> {
    let (recipe, len) = (blake3::hash(config).to_hex(), difference.len());
    let mut out = format!("{MAGIC}\n{recipe}\n{base}\n{len}\n").into_bytes();
    out.extend(zstd::bulk::compress(difference, LEVEL)?);
    let sum = blake3::hash(&out);
    out.extend_from_slice(sum.as_bytes());
    Ok(out)
}

fn decode(bytes: &[u8], config: &[u8]) -> Result<Parked, Checked> {
    let parts = || {
        let (bytes, sum) = bytes.split_last_chunk::<SUM_BYTES>()?;
        let mut lines = bytes.splitn(5, |b| *b == b'\n');
        let mut line = || std::str::from_utf8(lines.next()?).ok();
        let (magic, recipe, base, len) = (line()?, line()?, line()?, line()?.parse::<u64>().ok()?);
        let is_whole = magic == MAGIC && blake3::hash(bytes) == *sum && len <= DIFFERENCE_BYTES_MAX;
        is_whole.then_some((recipe, base, len as usize, lines.next()?))
    };
    let (recipe, base, len, frame) = parts().ok_or(Checked::Damaged)?;
    if recipe != blake3::hash(config).to_hex().as_str() {
        return Err(Checked::Nothing);
    }
    let difference = zstd::bulk::decompress(frame, len).map_err(|_| Checked::Damaged)?;
    Ok(Parked { base: base.to_owned(), difference })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_parked_reads_back_and_damage_is_noticed() {
        let parked = encode(b"recipe", "base", &[7; 1_000]).unwrap();
        let read = |bytes: &[u8], config: &[u8]| match decode(bytes, config) {
            Ok(parked) => format!("{} {}", parked.base, parked.difference.len()),
            Err(Checked::Nothing) => "nothing".to_owned(),
            Err(_) => "damaged".to_owned(),
        };
        assert_eq!(read(&parked, b"recipe"), "base 1000");
        assert_eq!(read(&parked, b"another"), "nothing");
        for at in 0..parked.len() {
            let mut other = parked.clone();
            other[at] ^= 1;
            assert_eq!(read(&other, b"recipe"), "damaged", "byte {at}");
            assert_eq!(read(&parked[..at], b"recipe"), "damaged", "cut at {at}");
        }
    }

    #[test]
    fn so_many_bytes_of_indexes_are_parked_and_no_more() {
        let bases = Bases::new(PathBuf::new());
        assert!(bases.may_park(u64::MAX / 2), "without a limit");
        bases.limit(100);
        let parked = [60, 60, 40, 1].map(|bytes| bases.may_park(bytes));
        assert_eq!(parked, [true, false, true, false]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_no_parked_index(bytes: Vec<u8>) {
            prop_assert!(decode(&bytes, b"recipe").is_err());
            let begun = [MAGIC.as_bytes(), b"\n", &bytes].concat();
            prop_assert!(decode(&begun, b"recipe").is_err());
        }
    }
}
