//! The view as a linker sees it: every lookup is written down.

use indexd_model::{FactsView, FileDoc, Interface, Key};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::sync::Arc;

/// Wraps a view, records every key that is looked up and answers repeats from memory.
pub struct Recorder<'v> {
    view: &'v dyn FactsView,
    seen: RefCell<FxHashMap<Key, Arc<[FileDoc]>>>,
    noted: RefCell<FxHashSet<Key>>,
}

impl<'v> Recorder<'v> {
    /// Starts with nothing recorded.
    pub fn new(view: &'v dyn FactsView) -> Self {
        Self { view, seen: RefCell::default(), noted: RefCell::default() }
    }

    /// Files that provide `key`, ordered by path. The lookup is recorded, found or not.
    pub fn find(&self, key: Key) -> Arc<[FileDoc]> {
        Arc::clone(self.seen.borrow_mut().entry(key).or_insert_with(|| self.view.providers(key).into()))
    }

    /// Records a look-up whose answer is known otherwise.
    pub fn note(&self, key: Key) {
        self.noted.borrow_mut().insert(key);
    }

    /// The file at exactly this path; recorded as a lookup of [`Key::file`].
    pub fn file(&self, path: &str) -> Option<FileDoc> {
        self.find(Key::file(path)).first().copied()
    }

    /// The keys that were looked up, sorted.
    pub fn into_lookups(self) -> Vec<Key> {
        let mut keys: Vec<Key> = self.seen.into_inner().into_keys().collect();
        keys.extend(self.noted.into_inner());
        keys.sort_unstable();
        keys.dedup();
        keys
    }
}

impl FactsView for Recorder<'_> {
    fn providers(&self, key: Key) -> Vec<FileDoc> {
        self.find(key).to_vec()
    }

    fn interface(&self, file: FileDoc) -> Arc<Interface> {
        self.view.interface(file)
    }

    fn path(&self, file: FileDoc) -> Arc<str> {
        self.view.path(file)
    }

    fn file_by_path(&self, path: &str) -> Option<FileDoc> {
        self.file(path)
    }
}
