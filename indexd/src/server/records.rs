//! Packs kept: a small cache in memory, and records on disk that a client asked for.
//!
//! A pack is a function of its key, so a cached one equals a fresh one. A record is frozen when it
//! is first written: reading it gives the same bytes, its `createdAt` included.

use crate::server::daemon::own_uid;
use indexd_proto::error::{ErrorCode, ErrorObject};
use indexd_proto::paths;
use std::io::ErrorKind;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Packs kept in memory; an ordinary one has about 60 KB.
const CACHE_PACKS: NonZeroUsize = NonZeroUsize::new(64).unwrap();
/// Bytes of packs kept in memory.
const CACHE_BYTES_MAX: usize = 8 << 20;

/// A pack as it is sent.
#[derive(Debug, PartialEq, Eq)]
pub struct Kept {
    /// Its JSON.
    pub json: String,
    /// The text that was budgeted.
    pub rendered: String,
    /// Its id.
    pub pack_id: String,
}

impl Kept {
    fn bytes(&self) -> usize {
        self.json.len() + self.rendered.len()
    }
}

/// The packs assembled last, by key.
pub struct Cache {
    packs: Mutex<(lru::LruCache<String, Arc<Kept>>, usize)>,
}

impl Default for Cache {
    fn default() -> Self {
        Self { packs: Mutex::new((lru::LruCache::new(CACHE_PACKS), 0)) }
    }
}

impl Cache {
    /// The pack of a key.
    pub fn get(&self, key: &str) -> Option<Arc<Kept>> {
        self.packs.lock().unwrap_or_else(PoisonError::into_inner).0.get(key).cloned()
    }

    /// Keeps a pack; the ones used longest ago make room.
    pub fn put(&self, key: String, kept: Arc<Kept>) {
        let mut guard = self.packs.lock().unwrap_or_else(PoisonError::into_inner);
        let (packs, bytes) = &mut *guard;
        *bytes += kept.bytes();
        if let Some((_, old)) = packs.push(key, kept) {
            *bytes -= old.bytes();
        }
        while *bytes > CACHE_BYTES_MAX
            && let Some((_, old)) = packs.pop_lru()
        {
            *bytes -= old.bytes();
        }
    }
}

/// The records of one user, one file for each pack.
pub struct Records {
    dir: PathBuf,
}

impl Records {
    /// Records below the state folder.
    pub fn new(state: &Path) -> Self {
        Self { dir: state.join("packs") }
    }

    /// Writes a record unless it is there already.
    ///
    /// # Errors
    /// `POC_E_CANNOT_CREATE` or `POC_E_STORAGE`.
    pub fn write(&self, pack_id: &str, json: &str) -> Result<(), ErrorObject> {
        let failed = |e: std::io::Error| {
            let code =
                if e.kind() == ErrorKind::StorageFull { ErrorCode::Storage } else { ErrorCode::CannotCreate };
            ErrorObject::new(code, format!("cannot write the record of the pack: {e}"))
        };
        let path = self.path(pack_id).ok_or_else(|| not_found(pack_id))?;
        if path.exists() {
            return Ok(());
        }
        paths::private_dir(&self.dir, own_uid()).map_err(failed)?;
        // Readers see the whole record or none.
        let temporary = self.dir.join(format!(
            "{}.{}",
            std::process::id(),
            path.file_name().unwrap_or_default().display()
        ));
        std::fs::write(&temporary, json).and_then(|()| std::fs::rename(&temporary, &path)).map_err(failed)
    }

    /// Reads a record.
    ///
    /// # Errors
    /// `POC_E_PACK_NOT_FOUND` or `POC_E_STORAGE`.
    pub fn read(&self, pack_id: &str) -> Result<String, ErrorObject> {
        let path = self.path(pack_id).ok_or_else(|| not_found(pack_id))?;
        std::fs::read_to_string(path).map_err(|e| match e.kind() {
            ErrorKind::NotFound => not_found(pack_id),
            _ => ErrorObject::new(ErrorCode::Storage, format!("cannot read the record of the pack: {e}")),
        })
    }

    /// The file of a record. Ids come from clients, so only digests become names.
    fn path(&self, pack_id: &str) -> Option<PathBuf> {
        let digest = pack_id.rsplit(':').next()?;
        let plain = digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit());
        plain.then(|| self.dir.join(format!("{}.json", digest.to_ascii_lowercase())))
    }
}

fn not_found(pack_id: &str) -> ErrorObject {
    let shown: String = pack_id.chars().take(100).collect();
    ErrorObject::new(ErrorCode::PackNotFound, format!("no record of the pack {shown:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(bytes: usize) -> Arc<Kept> {
        Arc::new(Kept { json: "x".repeat(bytes), rendered: String::new(), pack_id: String::new() })
    }

    #[test]
    fn the_cache_is_bounded_in_bytes_and_in_packs() {
        let cache = Cache::default();
        for i in 0..200 {
            cache.put(format!("k{i}"), kept(10));
        }
        assert!(cache.get("k0").is_none() && cache.get("k199").is_some());
        cache.put("big".into(), kept(CACHE_BYTES_MAX));
        assert!(cache.get("k199").is_none() && cache.get("big").is_some());
        cache.put("too big".into(), kept(CACHE_BYTES_MAX + 1));
        assert!(cache.get("too big").is_none());
        cache.put("small".into(), kept(1));
        cache.put("small".into(), kept(2));
        assert_eq!(cache.packs.lock().unwrap().1, 2);
    }

    #[test]
    fn a_record_is_frozen_and_stays_inside_its_folder() {
        let dir = tempfile::tempdir().unwrap();
        let records = Records::new(dir.path());
        let id = format!("pack:sha256:{}", "a1".repeat(32));
        assert_eq!(records.read(&id).unwrap_err().data.code, ErrorCode::PackNotFound);
        records.write(&id, "{\"n\":1}").unwrap();
        records.write(&id, "{\"n\":2}").unwrap();
        assert_eq!(records.read(&id).unwrap(), "{\"n\":1}");
        for id in ["../../etc/passwd", "", "pack:sha256:..", &"/".repeat(64)] {
            assert_eq!(records.read(id).unwrap_err().data.code, ErrorCode::PackNotFound, "{id}");
        }
    }
}
