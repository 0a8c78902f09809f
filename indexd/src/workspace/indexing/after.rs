//! The state after an update, for linking: the committed state, overlaid with the files that were put and
//! removed.
//!
//! Threads link with it while the write transaction is open, which itself belongs to one thread. Each thread
//! has an [`After`] of its own, since files that depend on the same names look up much the same keys.

use indexd_model::{FactsView, FileDoc, FileFacts, Interface, Key};
use indexd_store::Snapshot;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Maximum of interfaces and keys that an [`After`] remembers before it starts over.
const INTERFACES_MAX: usize = 512;
const KEYS_MAX: usize = 1 << 16;

/// The files that an update puts and removes.
pub struct Changed<'a> {
    /// Files put, with their facts.
    pub put: &'a BTreeMap<FileDoc, FileFacts>,
    paths: FxHashMap<FileDoc, Arc<str>>,
    docs: FxHashMap<Arc<str>, FileDoc>,
    interfaces: FxHashMap<FileDoc, Arc<Interface>>,
    providers: FxHashMap<Key, Vec<FileDoc>>,
    gone: FxHashSet<FileDoc>,
}

impl<'a> Changed<'a> {
    /// Files put and their paths, and the handles of files removed.
    pub fn new(
        put: &'a BTreeMap<FileDoc, FileFacts>,
        paths: FxHashMap<FileDoc, Arc<str>>,
        gone: FxHashSet<FileDoc>,
    ) -> Self {
        let mut providers: FxHashMap<Key, Vec<FileDoc>> = FxHashMap::default();
        for (doc, facts) in put {
            for run in facts.interface.entries.chunk_by(|a, b| a.key == b.key) {
                providers.entry(run[0].key).or_default().push(*doc);
            }
        }
        let interfaces = put.iter().map(|(doc, facts)| (*doc, Arc::new(facts.interface.clone()))).collect();
        let docs = paths.iter().map(|(doc, path)| (Arc::clone(path), *doc)).collect();
        Self { put, paths, docs, interfaces, providers, gone }
    }
}

/// A view of the state after an update, for one thread.
pub struct After<'a> {
    before: Snapshot,
    changed: &'a Changed<'a>,
    providers: RefCell<FxHashMap<Key, Vec<FileDoc>>>,
    interfaces: RefCell<FxHashMap<FileDoc, Arc<Interface>>>,
    paths: RefCell<FxHashMap<FileDoc, Arc<str>>>,
}

impl<'a> After<'a> {
    /// `before` is the state that the update started from.
    pub fn new(before: Snapshot, changed: &'a Changed<'a>) -> Self {
        Self {
            before,
            changed,
            providers: RefCell::default(),
            interfaces: RefCell::default(),
            paths: RefCell::default(),
        }
    }

    /// The state that the update started from.
    pub fn before(&self) -> &Snapshot {
        &self.before
    }

    fn find(&self, key: Key) -> Vec<FileDoc> {
        let changed = self.changed;
        let is_same = |doc: &FileDoc| !changed.gone.contains(doc) && !changed.put.contains_key(doc);
        let mut out: Vec<FileDoc> = self.before.providers_unsorted(key).into_iter().filter(is_same).collect();
        out.extend(changed.providers.get(&key).into_iter().flatten());
        if out.len() > 1 {
            out.sort_by_cached_key(|doc| self.path(*doc));
        }
        out
    }
}

/// Returns the entry of `memo` for a key and makes it if it is missing. A full memo is cleared first.
fn remembered<K: std::hash::Hash + Eq + Copy, V: Clone>(
    memo: &RefCell<FxHashMap<K, V>>,
    max: usize,
    key: K,
    make: impl FnOnce() -> V,
) -> V {
    if let Some(known) = memo.borrow().get(&key) {
        return known.clone();
    }
    let new = make();
    let mut memo = memo.borrow_mut();
    if memo.len() >= max {
        memo.clear();
    }
    memo.insert(key, new.clone());
    new
}

impl FactsView for After<'_> {
    fn providers(&self, key: Key) -> Vec<FileDoc> {
        remembered(&self.providers, KEYS_MAX, key, || self.find(key))
    }

    fn interface(&self, file: FileDoc) -> Arc<Interface> {
        match self.changed.interfaces.get(&file) {
            Some(put) => Arc::clone(put),
            None => remembered(&self.interfaces, INTERFACES_MAX, file, || self.before.interface(file)),
        }
    }

    fn path(&self, file: FileDoc) -> Arc<str> {
        match self.changed.paths.get(&file) {
            Some(put) => Arc::clone(put),
            None => remembered(&self.paths, KEYS_MAX, file, || self.before.path(file)),
        }
    }

    fn file_by_path(&self, path: &str) -> Option<FileDoc> {
        let before = || self.before.file_by_path(path).filter(|doc| !self.changed.gone.contains(doc));
        self.changed.docs.get(path).copied().or_else(before)
    }
}
