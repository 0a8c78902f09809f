//! Which files are as HEAD has them, so that an excerpt can name the commit it comes from.

use indexd_history::Repository;
use indexd_model::limits::FILE_BYTES_LISTED_MAX;
use indexd_model::{ContentHash, FactsView as _, IndexView as _};
use indexd_store::Snapshot;
use rustc_hash::FxHashMap;
use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Bytes. The folders of HEAD that a repository keeps while it is open.
const TREES_BYTES: usize = 2 << 20;

/// Answers remembered for one HEAD.
const KNOWN_MAX: usize = 50_000;

/// Answers about one repository, remembered by HEAD, path and content.
pub struct HeadBlobs {
    root: PathBuf,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    head: String,
    files: FxHashMap<(Box<str>, ContentHash), bool>,
}

impl HeadBlobs {
    /// Looks into the repository at `root` or above it.
    pub fn new(root: PathBuf) -> Self {
        Self { root, known: Mutex::default() }
    }

    /// Answers about the files of one state of the index.
    pub fn of<'s>(&'s self, snapshot: &'s Snapshot) -> AtHead<'s> {
        AtHead { blobs: self, snapshot, head: snapshot.head(), repository: OnceCell::new() }
    }

    /// Returns the known answers for the files of a commit; there may be none yet.
    fn known(&self, head: &str) -> MutexGuard<'_, Known> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.head != head || known.files.len() >= KNOWN_MAX {
            known.files.clear();
            head.clone_into(&mut known.head);
        }
        known
    }
}

/// A repository that was opened when HEAD named the commit that is still asked about. The object of an id
/// never changes, so the repository may stay open.
struct Open {
    root: PathBuf,
    head: String,
    repository: Repository,
}

impl Open {
    fn at(root: &Path, head: &str) -> Option<Self> {
        let kept = LAST.take().filter(|open| open.root == root && open.head == head);
        kept.or_else(|| {
            let repository = Repository::open(root).ok()?.with_cache(TREES_BYTES);
            Some(Self { root: root.to_owned(), head: head.to_owned(), repository })
        })
    }
}

thread_local! {
    // Threads that serve requests end when there are none for a while.
    static LAST: RefCell<Option<Open>> = const { RefCell::new(None) };
}

/// The check of one request. The repository is opened for the first file without a known answer, which costs
/// more than to look up all files of a pack, and is kept for the next request on this thread.
pub struct AtHead<'s> {
    blobs: &'s HeadBlobs,
    snapshot: &'s Snapshot,
    head: String,
    repository: OnceCell<Option<Open>>,
}

impl Drop for AtHead<'_> {
    fn drop(&mut self) {
        if let Some(Some(open)) = self.repository.take() {
            LAST.set(Some(open));
        }
    }
}

impl AtHead<'_> {
    /// Returns true if the snapshot holds exactly the content that the commit recorded as HEAD has at `path`.
    /// The answer depends on these two alone, not on the present HEAD. The bytes of the file decide, even if
    /// the index holds another text of them (decoded, or without secrets). Every file counts as different
    /// when the repository cannot be read.
    pub fn holds(&self, path: &str) -> bool {
        if self.head == "none" {
            return false;
        }
        let Some(file) = self.snapshot.file_by_path(path) else { return false };
        let key = (Box::from(path), self.snapshot.file(file).hash);
        if let Some(&answer) = self.blobs.known(&self.head).files.get(&key) {
            return answer;
        }
        let open = || Open::at(&self.blobs.root, &self.head);
        let Some(open) = self.repository.get_or_init(open) else { return false };
        let text = self.snapshot.text(file);
        let answer = if ContentHash::of(text.as_bytes()) == key.1 {
            open.repository.holds(&self.head, path, text.as_bytes())
        } else {
            let blob = open.repository.blob(&self.head, path);
            let bytes = blob.and_then(|id| open.repository.content(&id, FILE_BYTES_LISTED_MAX));
            bytes.is_some_and(|bytes| ContentHash::of(&bytes) == key.1)
        };
        self.blobs.known(&self.head).files.insert(key, answer);
        answer
    }
}
