//! Which files are as HEAD has them, so that an excerpt can name the commit it comes from.

use indexd_history::Repository;
use indexd_model::ContentHash;
use rustc_hash::FxHashMap;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

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

    /// Whether the file whose bytes hash to `hash` is what the commit `head` has at `path`. `text`
    /// are its bytes, as far as they are text; a file that is not UTF-8 counts as different.
    pub fn holds(&self, head: &str, path: &str, hash: ContentHash, text: &[u8]) -> bool {
        if head == "none" {
            return false;
        }
        let key = (Box::from(path), hash);
        {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            if known.head != head || known.files.len() >= KNOWN_MAX {
                known.files.clear();
                known.head = head.to_owned();
            }
            if let Some(&answer) = known.files.get(&key) {
                return answer;
            }
        }
        if ContentHash::of(text) != hash {
            return false;
        }
        let Ok(repository) = Repository::open(&self.root) else { return false };
        // HEAD may have moved since the snapshot was made; then nothing is said about the old one.
        if repository.head().ok().as_deref() != Some(head) {
            return false;
        }
        let answer = repository.is_at_head(path, text);
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.head == head {
            known.files.insert(key, answer);
        }
        answer
    }
}
