//! Facts of contents that left an index, kept for their return: on a branch that is checked out again, or in
//! another worktree or clone.
//!
//! Facts of a file depend on its path and bytes and on the program alone, so they are kept under a hash of
//! all three, for all workspaces of a user. The rows are stored one after the other in a few files that only
//! grow; the oldest file is removed first. Each row has a checksum over its key and its bytes: a row damaged
//! by a crash, a full disk or decay counts as missing, and costs parsing one file.

use indexd_model::{ContentHash, FileFacts, RepoPath};
use indexd_os::open_own;
use rustc_hash::FxHashMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// Number of files that the rows are spread over when the cache is full.
const SEGMENTS: u64 = 4;
/// Maximum of bytes of a row, larger than any facts; a damaged length must not allocate the machine's memory.
const ROW_BYTES_MAX: u32 = 64 << 20;
const KEY_BYTES: usize = 16;
const SUM_BYTES: usize = 8;
/// Key, checksum, length.
const HEAD_BYTES: usize = KEY_BYTES + SUM_BYTES + 4;

type Key = [u8; KEY_BYTES];

/// The cache of one user.
pub struct ContentCache {
    dir: PathBuf,
    bytes_max: u64,
    /// Recipe of the facts: everything except path and bytes that they depend on.
    recipe: String,
    /// Rows are removed when they have not been written or read for this time; `None` keeps them.
    keep: Option<Duration>,
    rows: Mutex<Option<Rows>>,
}

#[derive(Default)]
struct Rows {
    /// Oldest first.
    segments: Vec<Segment>,
    places: FxHashMap<Key, Place>,
}

struct Segment {
    number: u64,
    file: File,
    bytes: u64,
}

#[derive(Clone, Copy)]
struct Place {
    segment: u64,
    at: u64,
    len: u32,
}

impl ContentCache {
    /// Returns a cache of at most `bytes_max` bytes in a folder, which is made when it is needed.
    pub fn new(dir: PathBuf, bytes_max: u64, keep: Option<Duration>) -> Self {
        Self { dir, bytes_max, recipe: super::recipe::of_facts(), keep, rows: Mutex::default() }
    }

    /// Returns the facts of a file of this path and content.
    pub fn get(&self, path: &RepoPath, hash: &ContentHash, redacts: bool) -> Option<FileFacts> {
        let key = self.key(path, hash, redacts);
        let mut rows = self.rows();
        let rows = rows.get_or_insert_with(|| self.load());
        let place = *rows.places.get(&key)?;
        let read = rows.read(&key, place);
        let Some(packed) = read else {
            rows.places.remove(&key);
            return None;
        };
        let is_about_to_go = rows.segments.len() as u64 >= SEGMENTS
            && rows.segments.first().is_some_and(|oldest| oldest.number == place.segment);
        if is_about_to_go {
            self.write(rows, key, &packed);
        }
        indexd_store::unpack_facts(&packed)
    }

    /// Stores the facts of a content, packed as the store packs them.
    pub fn put(&self, path: &RepoPath, hash: &ContentHash, redacts: bool, packed: &[u8]) {
        let key = self.key(path, hash, redacts);
        let mut rows = self.rows();
        let rows = rows.get_or_insert_with(|| self.load());
        if !rows.places.contains_key(&key) {
            self.write(rows, key, packed);
        }
    }

    /// Removes segments that have not been used for the time `keep`.
    pub fn collect(&self) {
        *self.rows() = None;
        let Some(keep) = self.keep else { return };
        for (_, path) in segments_in(&self.dir) {
            let used = fs::metadata(&path).and_then(|meta| meta.modified());
            // A clock that was set back makes nothing old.
            let age = used.map(|at| SystemTime::now().duration_since(at).unwrap_or_default());
            if age.is_ok_and(|age| age >= keep) {
                let _ = fs::remove_file(path);
            }
        }
    }

    fn key(&self, path: &RepoPath, hash: &ContentHash, redacts: bool) -> Key {
        let mut hasher = blake3::Hasher::new_derive_key("indexd 2026 facts of a content");
        hasher.update(&[u8::from(redacts)]);
        hasher.update(&hash.0);
        hasher.update(&(path.len() as u64).to_le_bytes());
        hasher.update(path.as_bytes());
        hasher.update(self.recipe.as_bytes());
        let mut key = [0; KEY_BYTES];
        key.copy_from_slice(&hasher.finalize().as_bytes()[..KEY_BYTES]);
        key
    }

    /// Adds a row; without room for it, it is dropped.
    fn write(&self, rows: &mut Rows, key: Key, packed: &[u8]) {
        let n_bytes = (HEAD_BYTES + packed.len()) as u64;
        if n_bytes > self.bytes_max / SEGMENTS || packed.len() as u64 > u64::from(ROW_BYTES_MAX) {
            return;
        }
        let written = self.segment_for(rows, n_bytes).and_then(|segment| {
            let at = segment.bytes;
            let mut row = Vec::with_capacity(HEAD_BYTES + packed.len());
            row.extend_from_slice(&key);
            row.extend_from_slice(&checksum(&key, packed));
            row.extend_from_slice(&(packed.len() as u32).to_le_bytes());
            row.extend_from_slice(packed);
            segment.file.seek(SeekFrom::Start(at))?;
            segment.file.write_all(&row)?;
            segment.bytes += n_bytes;
            Ok(Place { segment: segment.number, at, len: packed.len() as u32 })
        });
        match written {
            Ok(place) => _ = rows.places.insert(key, place),
            Err(e) => tracing::debug!(error = %e, "facts are not kept"),
        }
    }

    /// Returns the newest segment, or a new one when it is full; the oldest are then removed.
    fn segment_for<'r>(&self, rows: &'r mut Rows, n_bytes: u64) -> io::Result<&'r mut Segment> {
        let is_full = rows.segments.last().is_none_or(|s| s.bytes + n_bytes > self.bytes_max / SEGMENTS);
        if is_full {
            let number = rows.segments.last().map_or(1, |s| s.number + 1);
            indexd_proto::paths::private_dir(&self.dir, indexd_os::own_uid())?;
            let file = open_own(&self.dir.join(segment_name(number)))?;
            rows.segments.push(Segment { number, file, bytes: 0 });
            self.shrink(rows);
        }
        rows.segments.last_mut().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Removes the oldest segments until all of them fit.
    fn shrink(&self, rows: &mut Rows) {
        let room = self.bytes_max - self.bytes_max / SEGMENTS;
        let full = |segments: &[Segment]| segments.iter().map(|s| s.bytes).sum::<u64>() > room;
        while rows.segments.len() > 1 && full(&rows.segments) {
            let oldest = rows.segments.remove(0);
            let _ = fs::remove_file(self.dir.join(segment_name(oldest.number)));
            rows.places.retain(|_, place| place.segment != oldest.number);
        }
    }

    /// Finds the rows that earlier daemons wrote. Rows behind a torn one are lost.
    fn load(&self) -> Rows {
        let mut rows = Rows::default();
        for (number, path) in segments_in(&self.dir) {
            let Ok(file) = open_own(&path) else { continue };
            let mut segment = Segment { number, file, bytes: 0 };
            let found = segment.find_rows(&mut rows.places);
            if found.and_then(|()| segment.file.set_len(segment.bytes)).is_ok() {
                rows.segments.push(segment);
            }
        }
        self.shrink(&mut rows);
        rows
    }

    fn rows(&self) -> MutexGuard<'_, Option<Rows>> {
        // A panic under the lock can leave only a row half written, which its checksum reveals.
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Rows {
    fn read(&mut self, key: &Key, place: Place) -> Option<Vec<u8>> {
        let segment = self.segments.iter_mut().find(|s| s.number == place.segment)?;
        let mut row = vec![0; HEAD_BYTES + place.len as usize];
        segment.file.seek(SeekFrom::Start(place.at)).ok()?;
        segment.file.read_exact(&mut row).ok()?;
        let (head, packed) = row.split_at(HEAD_BYTES);
        let is_whole = head.starts_with(key) && head[KEY_BYTES..].starts_with(&checksum(key, packed));
        is_whole.then(|| packed.to_vec())
    }
}

impl Segment {
    fn find_rows(&mut self, places: &mut FxHashMap<Key, Place>) -> io::Result<()> {
        let end = self.file.metadata()?.len();
        let mut reader = BufReader::with_capacity(1 << 16, &self.file);
        let mut head = [0; HEAD_BYTES];
        while self.bytes + HEAD_BYTES as u64 <= end {
            reader.read_exact(&mut head)?;
            let (mut key, mut len) = ([0; KEY_BYTES], [0; 4]);
            key.copy_from_slice(&head[..KEY_BYTES]);
            len.copy_from_slice(&head[KEY_BYTES + SUM_BYTES..]);
            let len = u32::from_le_bytes(len);
            let next = self.bytes + HEAD_BYTES as u64 + u64::from(len);
            if len > ROW_BYTES_MAX || next > end {
                break;
            }
            places.insert(key, Place { segment: self.number, at: self.bytes, len });
            reader.seek_relative(i64::from(len))?;
            self.bytes = next;
        }
        Ok(())
    }
}

fn checksum(key: &Key, packed: &[u8]) -> [u8; SUM_BYTES] {
    let mut hasher = blake3::Hasher::new();
    hasher.update(key).update(packed);
    let mut sum = [0; SUM_BYTES];
    sum.copy_from_slice(&hasher.finalize().as_bytes()[..SUM_BYTES]);
    sum
}

fn segment_name(number: u64) -> String {
    format!("facts-{number}")
}

/// Numbers and paths of the segments in a folder, oldest first.
fn segments_in(dir: &Path) -> Vec<(u64, PathBuf)> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let number = |name: &str| name.strip_prefix("facts-")?.parse().ok();
    let mut found: Vec<(u64, PathBuf)> =
        entries.filter_map(|e| Some((number(e.file_name().to_str()?)?, e.path()))).collect();
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests;
