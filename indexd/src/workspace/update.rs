//! A change set becomes one write transaction: read, extract, put, then link what was put and
//! exactly those who looked at a name whose meaning changed.

use super::pool;
use super::stages::{self, Loaded, Parts, Stage, StageLog};
use super::tree::ChangeSet;
use indexd_model::terms::Vocabulary;
use indexd_model::{ContentHash, FactsView, FileDoc, FileFacts, RepoPath};
use indexd_os::Root;
use indexd_store::{FileInput, FileStat, History, Overlays, Store, StoreError, WriteTxn};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Files read and extracted together before they are put; bounds the texts in memory.
const BATCH_FILES: usize = 128;

/// What an update works with.
pub struct Update<'a> {
    /// The workspace.
    pub root: &'a Root,
    /// The index.
    pub store: &'a Store,
    /// The pure stages.
    pub parts: Parts,
    /// What ran.
    pub log: &'a StageLog,
}

/// What the repository's history says now, where that changed.
#[derive(Default)]
pub struct NewHistory {
    /// HEAD's commit id; the inner `None` means that there is none.
    pub head: Option<Option<String>>,
    /// What the commits say.
    pub history: Option<History>,
}

impl NewHistory {
    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.head.is_none() && self.history.is_none()
    }
}

/// What an update did.
#[derive(Default)]
pub struct Updated {
    /// The stat to remember of each file; `None` for those no longer in the index.
    pub stats: Vec<(RepoPath, Option<FileStat>)>,
    /// Files that are there and cannot be read, ordered. They are not in the index.
    pub unreadable: Vec<RepoPath>,
    /// The generation after it; `None` when there was nothing to write.
    pub generation: Option<u64>,
}

impl Update<'_> {
    /// Brings the index up to date with `changes` in one transaction.
    ///
    /// # Errors
    /// Those of the store; the index is as it was before.
    pub fn run(&self, changes: &ChangeSet, new: &NewHistory) -> Result<Updated, StoreError> {
        if changes.is_empty() && new.is_empty() {
            return Ok(Updated::default());
        }
        let txn = self.store.begin()?;
        let mut work = Work::new(txn);
        let paths: Vec<&RepoPath> = changes.changed.keys().collect();
        for batch in paths.chunks(BATCH_FILES) {
            let hashed: Result<Vec<_>, StoreError> =
                batch.iter().map(|p| Ok((*p, work.txn.hash_of(p)?))).collect();
            let hashed = hashed?;
            let read: Vec<Read> = match &hashed[..] {
                [(path, hash)] => vec![self.read(path, *hash)],
                _ => {
                    pool().install(|| hashed.par_iter().map(|(path, hash)| self.read(path, *hash)).collect())
                }
            };
            for (path, read) in batch.iter().zip(read) {
                work.take(self, path, read)?;
            }
        }
        for path in &changes.removed {
            work.remove(self, path)?;
        }
        work.link(self)?;
        if let Some(head) = &new.head {
            work.txn.set_head(head.as_deref());
        }
        if let Some(history) = &new.history {
            work.txn.put_history(history)?;
        }
        let Work { txn, mut done, .. } = work;
        done.generation = Some(txn.commit()?);
        Ok(done)
    }

    /// Lays `overlays` over the index in place of those before, in one transaction. Gives the
    /// generation after it.
    ///
    /// # Errors
    /// Those of the store; the index is as it was before.
    pub fn overlay(&self, overlays: &Overlays) -> Result<u64, StoreError> {
        let mut work = Work::new(self.store.begin()?);
        work.overlaid = work.txn.put_overlays(overlays)?;
        work.link(self)?;
        work.txn.commit()
    }

    fn read(&self, path: &RepoPath, stored: Option<ContentHash>) -> Read {
        self.log.ran(Stage::Read, path);
        let loaded = match stages::load(self.root, path) {
            Ok(Some(loaded)) => loaded,
            Ok(None) => return Read::Gone,
            Err(_) => return Read::Unreadable,
        };
        if stored == Some(loaded.hash) {
            return Read::Same(loaded);
        }
        self.log.ran(Stage::Extract, path);
        let extracted = stages::extract(&self.parts, &loaded);
        let mut vocabulary = Vocabulary::default();
        let input = stages::input(loaded, extracted, &mut vocabulary);
        Read::New(Box::new(input), vocabulary)
    }
}

/// How reading a file went.
enum Read {
    Same(Loaded),
    New(Box<FileInput>, Vocabulary),
    Gone,
    Unreadable,
}

/// An update under way.
struct Work<'u> {
    txn: WriteTxn<'u>,
    put: BTreeMap<FileDoc, FileFacts>,
    keys: BTreeSet<indexd_model::Key>,
    /// Files whose overlay came, went or changed.
    overlaid: Vec<FileDoc>,
    done: Updated,
}

impl<'u> Work<'u> {
    fn new(txn: WriteTxn<'u>) -> Self {
        let (put, keys) = (BTreeMap::new(), BTreeSet::new());
        Self { txn, put, keys, overlaid: Vec::new(), done: Updated::default() }
    }

    fn take(&mut self, update: &Update, path: &RepoPath, read: Read) -> Result<(), StoreError> {
        match read {
            Read::Same(loaded) => {
                update.log.ran(Stage::Touch, path);
                self.txn.touch(path, &loaded.stat)?;
                self.done.stats.push((path.clone(), Some(loaded.stat)));
            }
            Read::New(input, mut vocabulary) => {
                update.log.ran(Stage::Put, path);
                let old = self
                    .txn
                    .stored(path)?
                    .map(|(facts, text)| stages::terms(&facts, path, &text, &mut vocabulary));
                let outcome = self.txn.put_file(&input, &vocabulary, old.as_ref())?;
                self.keys.extend(outcome.changed);
                self.done.stats.push((path.clone(), Some(input.stat)));
                self.put.insert(outcome.doc, input.facts);
            }
            Read::Gone => self.remove(update, path)?,
            Read::Unreadable => {
                self.remove(update, path)?;
                self.done.unreadable.push(path.clone());
            }
        }
        Ok(())
    }

    fn remove(&mut self, update: &Update, path: &RepoPath) -> Result<(), StoreError> {
        self.done.stats.push((path.clone(), None));
        let Some((facts, text)) = self.txn.stored(path)? else { return Ok(()) };
        update.log.ran(Stage::Remove, path);
        let mut vocabulary = Vocabulary::default();
        let terms = stages::terms(&facts, path, &text, &mut vocabulary);
        self.keys.extend(self.txn.remove_file(path, &vocabulary, &terms)?);
        Ok(())
    }

    /// Links read facts only, never links, so one pass over the files concerned is enough.
    fn link(&mut self, update: &Update) -> Result<(), StoreError> {
        let keys: Vec<_> = std::mem::take(&mut self.keys).into_iter().collect();
        let mut dependants = self.txn.dependants(&keys)?;
        dependants.append(&mut self.overlaid);
        dependants.sort_unstable();
        dependants.dedup();
        let put = std::mem::take(&mut self.put);
        let others = dependants.into_iter().filter(|doc| !put.contains_key(doc)).map(|doc| (doc, None));
        let mut due: Vec<(Arc<str>, FileDoc, Option<&FileFacts>)> = put
            .iter()
            .map(|(doc, facts)| (*doc, Some(facts)))
            .chain(others)
            .map(|(doc, facts)| (self.txn.path(doc), doc, facts))
            .collect();
        due.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        for (path, doc, facts) in due {
            update.log.ran(Stage::Link, &path);
            let imported = (self.txn.overlay(&path)?, self.txn.hash_of(&path)?);
            let links = match facts {
                Some(facts) => stages::link(&update.parts, doc, facts, imported, &self.txn),
                None => stages::link(&update.parts, doc, &self.txn.facts(doc)?, imported, &self.txn),
            };
            self.txn.put_links(doc, &links)?;
        }
        Ok(())
    }
}
