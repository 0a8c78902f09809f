//! The cache of packs: the texts of the latest ones, and of more of them what they held and cost.
//!
//! A pack is a function of its key, so one from the cache equals a fresh one. What a pack held outlives its
//! text: a follow-up request names it by its id (`seen`), and `context.show` sums it up.

use indexd_pack::Pack;
use indexd_proto::shown::ContextSummary;
use indexd_store::Cache;
use lru::LruCache;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Texts of packs; an ordinary one has about 60 KB.
const TEXTS_MAX: NonZeroUsize = NonZeroUsize::new(64).unwrap();
/// Bytes of all texts.
const BYTES_MAX: usize = 8 << 20;
/// Packs of which it is known what they held and cost, and workspaces of which the last pack is; each takes
/// about 10 KB.
const NOTES_MAX: NonZeroUsize = NonZeroUsize::new(256).unwrap();

/// A pack as it is sent.
#[derive(Debug)]
pub struct Kept {
    /// Its JSON.
    pub json: Box<serde_json::value::RawValue>,
    /// The text that was budgeted.
    pub rendered: String,
    /// Its id.
    pub pack_id: String,
    /// What it held and cost.
    pub summary: Arc<ContextSummary>,
    /// What it selected, for the audit trail.
    pub selected: String,
}

/// What a pack held and cost.
#[derive(Clone)]
pub struct Note {
    /// The summary.
    pub summary: Arc<ContextSummary>,
    /// Its items, as [`Pack::seen`] gives them.
    pub seen: Arc<[String]>,
}

/// The packs of one daemon.
pub struct PackCache {
    texts: Cache<String, Kept>,
    notes: Mutex<Notes>,
}

struct Notes {
    by_id: LruCache<String, Note>,
    last: LruCache<PathBuf, Arc<ContextSummary>>,
}

impl Default for PackCache {
    fn default() -> Self {
        let notes = Notes { by_id: LruCache::new(NOTES_MAX), last: LruCache::new(NOTES_MAX) };
        Self { texts: Cache::new(BYTES_MAX, TEXTS_MAX), notes: Mutex::new(notes) }
    }
}

impl PackCache {
    /// The text of a pack by its key.
    pub fn text(&self, key: &String) -> Option<Arc<Kept>> {
        self.texts.get(key)
    }

    /// Takes a pack that was just built.
    pub fn put(&self, key: String, pack: &Pack, kept: &Arc<Kept>) {
        let note = Note { summary: Arc::clone(&kept.summary), seen: pack.seen().into() };
        self.notes().by_id.put(kept.pack_id.clone(), note);
        let bytes = kept.json.get().len() + kept.rendered.len() + kept.selected.len();
        self.texts.put(key, Arc::clone(kept), bytes);
    }

    /// Notes the pack that a workspace was answered with last.
    pub fn answered(&self, root: &Path, summary: &Arc<ContextSummary>) {
        self.notes().last.put(root.to_owned(), Arc::clone(summary));
    }

    /// The last pack of a workspace.
    pub fn last(&self, root: &Path) -> Option<Arc<ContextSummary>> {
        self.notes().last.get(root).cloned()
    }

    /// What is known of a pack by its id.
    pub fn note(&self, id: &str) -> Option<Note> {
        self.notes().by_id.get(id).cloned()
    }

    fn notes(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(pack_cache: &PackCache, key: &str, bytes: usize) {
        let summary = ContextSummary { pack_id: Some(key.to_owned()), ..Default::default() };
        let kept = Kept {
            json: serde_json::value::to_raw_value(&"x".repeat(bytes - 2)).unwrap(),
            rendered: String::new(),
            pack_id: key.to_owned(),
            summary: Arc::new(summary),
            selected: String::new(),
        };
        pack_cache.put(key.to_owned(), &Pack::default(), &Arc::new(kept));
    }

    #[test]
    fn texts_are_bounded_in_bytes_and_in_number_and_notes_outlive_them() {
        let pack_cache = PackCache::default();
        let has = |key: &str| pack_cache.text(&key.to_owned()).is_some();
        (0..200).for_each(|i| put(&pack_cache, &format!("k{i}"), 10));
        let n_kept = (0..200).filter(|i| has(&format!("k{i}"))).count();
        assert!(n_kept == TEXTS_MAX.get() && has("k199") && pack_cache.note("k0").is_some());
        put(&pack_cache, "big", BYTES_MAX);
        assert!(!has("k199") && has("big"));
        put(&pack_cache, "too big", BYTES_MAX + 1);
        assert!(!has("too big") && pack_cache.note("too big").is_some());
        (0..300).for_each(|i| put(&pack_cache, &format!("n{i}"), 2));
        assert!(pack_cache.note("k0").is_none() && pack_cache.note("n299").is_some());
    }

    #[test]
    fn the_last_pack_of_each_workspace_is_remembered() {
        let pack_cache = PackCache::default();
        let answered = |root: &str, id: &str| {
            let summary = ContextSummary { pack_id: Some(id.to_owned()), ..Default::default() };
            pack_cache.answered(Path::new(root), &Arc::new(summary));
        };
        [("/a", "1"), ("/b", "2"), ("/a", "3")].iter().for_each(|(root, id)| answered(root, id));
        let id = |root: &str| pack_cache.last(Path::new(root)).and_then(|s| s.pack_id.clone());
        assert_eq!((id("/a").as_deref(), id("/b").as_deref(), id("/c")), (Some("3"), Some("2"), None));
    }
}
