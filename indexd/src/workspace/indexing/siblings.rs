//! An index that begins as a copy of another one: of a worktree, a clone or a copy of the same repository.
//! The copy is then brought up to date with its own tree, as any index is. The result does not depend on
//! which index was copied.
//!
//! The choice uses a *sketch* of each index, a sample of paths and sizes that estimates how many files two
//! trees have in common. A wrong choice costs only time.

use super::contents::ContentCache;
use super::parked::{self, Bases};
use super::pulled::Pulls;
use super::recovery::{self, Checked};
use indexd_proto::share::{SAMPLES, Sketch};
use indexd_store::{Store, StoreError, WeakStore};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Number of indexes tried before one is built from nothing.
const TRIES: usize = 3;
/// Interval at which a build that waits for another one checks for cancellation.
const POLL: Duration = Duration::from_millis(50);
const SKETCH: &str = "sketch";
const MAGIC: &[u8] = b"indexd sketch 1\n";

/// State shared by the workspaces of one user.
pub struct Sharing {
    /// Facts of contents that left an index.
    pub contents: ContentCache,
    /// The bases of parked indexes.
    pub bases: Bases,
    /// Published indexes that first indexes begin with.
    pub pulls: Pulls,
    /// Open indexes by their folders.
    open: Mutex<BTreeMap<PathBuf, WeakStore>>,
    /// First builds in progress.
    building: Mutex<BTreeMap<PathBuf, Sketch>>,
    built: Condvar,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic under these locks leaves nothing half done.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sharing {
    /// Shares a cache, the bases and the set of open indexes.
    pub fn new(contents: ContentCache, bases: Bases) -> Self {
        Self {
            contents,
            bases,
            pulls: Pulls::default(),
            open: Mutex::default(),
            building: Mutex::default(),
            built: Condvar::new(),
        }
    }

    /// Records that the index in the folder `home` is open.
    pub fn opened(&self, home: &Path, store: &Store) {
        lock(&self.open).insert(home.to_owned(), store.downgrade());
    }

    fn store_of(&self, home: &Path) -> Option<Store> {
        lock(&self.open).get(home)?.upgrade()
    }

    /// Waits while a similar tree is being built for the first time. When many worktrees are asked for at
    /// once, one is built and the others begin with its index. Returns `None` when `is_stopping`; dropping
    /// the guard ends the own build.
    pub fn take_turn<'s>(
        &'s self,
        home: &Path,
        sketch: &Sketch,
        is_stopping: &dyn Fn() -> bool,
    ) -> Option<Turn<'s>> {
        let mut building = lock(&self.building);
        while building.iter().any(|(other, theirs)| other != home && is_like(sketch, theirs)) {
            if is_stopping() {
                return None;
            }
            let waited = self.built.wait_timeout(building, POLL);
            building = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        building.insert(home.to_owned(), sketch.clone());
        Some(Turn { sharing: self, home: home.to_owned() })
    }

    /// Copies the index most similar to a tree into the folder `to`. Returns the folder of the copied index,
    /// or `None` when no index is similar.
    ///
    /// # Errors
    /// [`StoreError::Full`] or [`StoreError::Io`] from the system.
    pub fn copy_like(
        &self,
        home: &Path,
        sketch: &Sketch,
        config: &[u8],
        to: &Path,
    ) -> Result<Option<PathBuf>, StoreError> {
        for sibling in likely(home.parent().unwrap_or(home), home, sketch).into_iter().take(TRIES) {
            let is_copied = match self.store_of(&sibling) {
                Some(store) if store.is_damaged() || !store.is_of(config) => false,
                Some(store) => match store.copy_file(to) {
                    Err(StoreError::Busy(_)) => false,
                    copied => copied.map(|()| true)?,
                },
                None if parked::is_parked(&sibling) => {
                    matches!(self.bases.unpark(&sibling, to, config)?, Checked::Ready(_))
                }
                None => match recovery::current(&sibling) {
                    Some(env) => {
                        indexd_store::copy_closed(&sibling.join(recovery::env_name(env)), to, config)?
                    }
                    None => false,
                },
            };
            if is_copied {
                return Ok(Some(sibling));
            }
            recovery::remove_env(to);
        }
        Ok(None)
    }
}

/// A build that others of the same repository wait for.
pub struct Turn<'s> {
    sharing: &'s Sharing,
    home: PathBuf,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        lock(&self.sharing.building).remove(&self.home);
        self.sharing.built.notify_all();
    }
}

/// Returns the folders in `all` of indexes similar to a tree, most similar first, without `home`.
pub(super) fn likely(all: &Path, home: &Path, sketch: &Sketch) -> Vec<PathBuf> {
    let like = |other: PathBuf| {
        let theirs = load(&other).filter(|theirs| other != home && is_like(sketch, theirs))?;
        Some((std::cmp::Reverse(sketch.n_common(&theirs)), other))
    };
    let homes = fs::read_dir(all).into_iter().flatten().flatten();
    let mut found: Vec<_> = homes.filter_map(|entry| like(entry.path())).collect();
    found.sort_unstable();
    found.into_iter().map(|(_, other)| other).collect()
}

/// The sketch of files with these paths and sizes in bytes, in any order.
pub fn sketch_of<'p>(files: impl Iterator<Item = (&'p str, u64)>) -> Sketch {
    let mut all: Vec<u64> = files.map(|(path, size)| hash(path, size)).collect();
    let n_files = all.len() as u64;
    all.sort_unstable();
    all.dedup();
    all.truncate(SAMPLES);
    Sketch { n_files, least: all }
}

/// True if a start with the index of the other tree takes less work than a build, and one transaction.
fn is_like(sketch: &Sketch, other: &Sketch) -> bool {
    sketch.is_like(other, super::engine::UPDATE_FILES_MAX as u64)
}

/// Saves a sketch in an index folder. A failure is only logged.
pub fn save(sketch: &Sketch, home: &Path) {
    let numbers = std::iter::once(&sketch.n_files).chain(&sketch.least).flat_map(|n| n.to_le_bytes());
    let bytes: Vec<u8> = MAGIC.iter().copied().chain(numbers).collect();
    if let Err(e) = fs::write(home.join(SKETCH), bytes) {
        tracing::debug!(error = %e, "no other index will begin with this one");
    }
}

/// Loads the sketch of an index folder, if there is a valid one.
pub fn load(home: &Path) -> Option<Sketch> {
    let bytes = fs::read(home.join(SKETCH)).ok()?;
    let (numbers, _) = bytes.strip_prefix(MAGIC)?.as_chunks::<8>();
    let mut numbers = numbers.iter().map(|n| u64::from_le_bytes(*n));
    let sketch = Sketch { n_files: numbers.next()?, least: numbers.take(SAMPLES).collect() };
    sketch.is_sound().then_some(sketch)
}

fn hash(path: &str, size: u64) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&size.to_le_bytes()).update(path.as_bytes());
    hasher.finalize().as_bytes().first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(from: u64, to: u64) -> Sketch {
        let paths: Vec<String> = (from..to).map(|i| format!("src/file{i}.py")).collect();
        sketch_of(paths.iter().map(|path| (path.as_str(), 100)))
    }

    #[test]
    fn a_sketch_tells_how_much_two_trees_have_in_common() {
        for (a, b, want) in [
            ((0, 5_000), (0, 5_000), 5_000),
            ((0, 5_000), (100, 5_100), 4_900),
            ((0, 5_000), (2_500, 7_500), 2_500),
            ((0, 5_000), (5_000, 10_000), 0),
            ((0, 100), (50, 150), 50),
            ((0, 0), (0, 0), 0),
        ] {
            let n = tree(a.0, a.1).n_common(&tree(b.0, b.1));
            assert!(n.abs_diff(want) <= (b.1 - a.0) / 15, "{a:?} {b:?}: {n}, {want}");
        }
    }

    #[test]
    fn an_index_begins_with_one_of_a_tree_that_is_mostly_the_same() {
        let all = tree(0, 5_000);
        for (other, want) in [
            (tree(0, 5_000), true),
            (tree(100, 5_100), true),
            (tree(4_000, 9_000), false),
            (tree(0, 9_000), false),
            (tree(0, 0), false),
        ] {
            assert_eq!(is_like(&all, &other), want, "{}", other.n_files);
        }
        assert!(!is_like(&tree(0, 10), &tree(0, 10)), "a few files are built at once");
    }

    #[test]
    fn a_sketch_is_kept_and_a_damaged_one_is_none() {
        let home = tempfile::tempdir().unwrap();
        let sketch = tree(0, 900);
        save(&sketch, home.path());
        assert_eq!(load(home.path()), Some(sketch));
        fs::write(home.path().join(SKETCH), "something else").unwrap();
        assert_eq!(load(home.path()), None);
    }
}
