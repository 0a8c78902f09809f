//! A change set becomes one write transaction: read, extract, put, then link the files that were put and
//! exactly the files that looked up a name whose meaning changed.

use super::after::{After, Changed};
use super::contents::ContentCache;
use super::error::EngineError;
use super::history::NewHistory;
use super::stages::{self, Parts, Reuse, Stage, StageLog};
use crate::workspace::threads::pool;
use crate::workspace::tree::ChangeSet;
use indexd_model::terms::Vocabulary;
use indexd_model::{ContentHash, Facts, FactsView, FileDoc, FileFacts, Links, RepoPath};
use indexd_os::Root;
use indexd_store::{FileInput, FileStat, Overlays, Snapshot, Store, StoreError, Stored, WriteTxn};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Files read and extracted together before they are put; bounds the texts in memory.
const BATCH_FILES: usize = 128;
/// Files linked together before their links are written; bounds the links in memory.
const LINK_FILES: usize = 256;
/// Runs of files that a thread gets, so that none waits long for the slowest.
const RUNS_PER_THREAD: usize = 4;

/// The inputs of an update.
pub struct Update<'a> {
    /// The workspace.
    pub root: &'a Root,
    /// The index.
    pub store: &'a Store,
    /// The pure stages.
    pub parts: Parts,
    /// Contents that left an index; those that leave this one go there.
    pub contents: Option<&'a ContentCache>,
    /// Log of the stages that ran.
    pub log: &'a StageLog,
    /// Asked before each file.
    pub cancelled: Cancelled<'a>,
    /// Files that were read a moment ago.
    pub hashed: Option<&'a Hashed>,
    /// True if the thread that runs it has the stack that parsing and linking need.
    pub has_stack: bool,
}

/// An unsaved text: the path of its file, and the content that the file would have.
pub type UnsavedText = (RepoPath, String);

/// Returns true if the work is to stop.
pub type Cancelled<'a> = &'a (dyn Fn() -> bool + Sync);

/// The hashes of files, and their stats when they were read.
#[derive(Default)]
pub struct Hashed(FxHashMap<RepoPath, (ContentHash, FileStat)>);

impl Hashed {
    /// Reads files of a tree, until the work is cancelled.
    pub fn of(root: &Root, files: &BTreeMap<RepoPath, u64>, log: &StageLog, cancelled: Cancelled) -> Self {
        let hash = |path: &RepoPath| {
            let loaded = if cancelled() { None } else { stages::load(root, path).ok()? };
            log.ran(Stage::Read, path);
            loaded.map(|loaded| (loaded.path, (loaded.hash, loaded.stat)))
        };
        Self(pool().install(|| files.par_iter().filter_map(|(path, _)| hash(path)).collect()))
    }
}

/// The result of an update.
#[derive(Default)]
pub struct Updated {
    /// The stat to remember of each file; `None` for those no longer in the index.
    pub stats: Vec<(RepoPath, Option<FileStat>)>,
    /// Files that are there and cannot be read, ordered. They are not in the index.
    pub unreadable: Vec<RepoPath>,
}

impl Update<'_> {
    /// Brings the index up to date with `changes`, and with the commits where these changed, in one transaction.
    ///
    /// # Errors
    /// `Store` and `Cancelled`; the index is unchanged then.
    pub fn run(&self, changes: &ChangeSet, new: Option<&NewHistory>) -> Result<Updated, EngineError> {
        if changes.is_empty() && new.is_none() {
            return Ok(Updated::default());
        }
        let txn = self.store.begin()?;
        let mut work = Work::new(txn);
        let paths: Vec<&RepoPath> = changes.changed.keys().collect();
        for batch in paths.chunks(BATCH_FILES) {
            self.go_on()?;
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
        if let Some(new) = new {
            work.txn.set_head(new.commits.head.as_deref());
            work.txn.put_history(&new.history)?;
        }
        work.txn.commit()?;
        Ok(work.done)
    }

    /// Replaces the overlays of the index by `overlays` in one transaction. Returns the generation after it.
    ///
    /// # Errors
    /// `Store` and `Cancelled`; the index is unchanged then.
    pub fn overlay(&self, overlays: &Overlays) -> Result<u64, EngineError> {
        let mut work = Work::new(self.store.begin()?);
        work.overlaid = work.txn.put_overlays(overlays)?;
        work.link(self)?;
        Ok(work.txn.commit()?)
    }

    /// Returns a view of the index as it would be if `texts` were saved: the same stages over the same
    /// transaction as a save, without a commit. The index is not written while the view lives, so it must be
    /// dropped soon, and on this thread.
    ///
    /// # Errors
    /// `Store` and `Cancelled`; the index is unchanged then.
    pub fn unsaved(&self, texts: &[UnsavedText]) -> Result<Snapshot, EngineError> {
        let extract = |(path, text): &UnsavedText| {
            self.log.ran(Stage::Extract, path);
            let loaded = stages::unsaved(path, text);
            let hash = loaded.hash;
            let extracted = stages::extract(&self.parts, &loaded);
            let mut vocabulary = Vocabulary::default();
            (hash, Read::New(Box::new(stages::input(loaded, extracted, &mut vocabulary)), vocabulary))
        };
        // Parsing comes before the transaction, so that other writers do not wait for it.
        let read: Vec<(ContentHash, Read)> = pool().install(|| texts.par_iter().map(extract).collect());
        self.go_on()?;
        let mut work = Work::new(self.store.begin_unsaved()?);
        for ((path, _), (hash, read)) in texts.iter().zip(read) {
            self.go_on()?;
            if work.txn.hash_of(path)? != Some(hash) {
                work.take(self, path, read)?;
            }
        }
        work.link(self)?;
        Ok(work.txn.into_unsaved()?)
    }

    /// Fails when the work is cancelled. Dropping the transaction drops the work done so far: a daemon that
    /// ends must not wait for the rest, and a sweep finds the changes again.
    fn go_on(&self) -> Result<(), EngineError> {
        if (self.cancelled)() { Err(EngineError::Cancelled) } else { Ok(()) }
    }

    fn read(&self, path: &RepoPath, stored: Option<ContentHash>) -> Read {
        let hashed = self.hashed.and_then(|hashed| hashed.0.get(path));
        if let Some((_, stat)) = hashed.filter(|(hash, _)| stored == Some(*hash)) {
            return Read::Same(*stat);
        }
        self.log.ran(Stage::Read, path);
        let loaded = match stages::load(self.root, path) {
            Ok(Some(loaded)) => loaded,
            Ok(None) => return Read::Gone,
            Err(_) => return Read::Unreadable,
        };
        if stored == Some(loaded.hash) {
            return Read::Same(loaded.stat);
        }
        let reuse = Reuse { contents: self.contents, before: None };
        let extracted = stages::find_or_extract(&self.parts, &loaded, &reuse, self.log);
        let mut vocabulary = Vocabulary::default();
        let input = stages::input(loaded, extracted, &mut vocabulary);
        Read::New(Box::new(input), vocabulary)
    }
}

/// The result of reading a file.
enum Read {
    Same(FileStat),
    New(Box<FileInput>, Vocabulary),
    Gone,
    Unreadable,
}

/// An update in progress.
struct Work<'u> {
    txn: WriteTxn<'u>,
    put: BTreeMap<FileDoc, FileFacts>,
    gone: FxHashSet<FileDoc>,
    keys: BTreeSet<indexd_model::Key>,
    /// Files whose overlay was added, removed or changed.
    overlaid: Vec<FileDoc>,
    done: Updated,
}

impl<'u> Work<'u> {
    fn new(txn: WriteTxn<'u>) -> Self {
        let (put, keys) = (BTreeMap::new(), BTreeSet::new());
        Self { txn, put, gone: FxHashSet::default(), keys, overlaid: Vec::new(), done: Updated::default() }
    }

    fn take(&mut self, update: &Update, path: &RepoPath, read: Read) -> Result<(), StoreError> {
        match read {
            Read::Same(stat) => {
                update.log.ran(Stage::Touch, path);
                self.txn.touch(path, &stat)?;
                self.done.stats.push((path.clone(), Some(stat)));
            }
            Read::New(input, mut vocabulary) => {
                update.log.ran(Stage::Put, path);
                let stored = self.txn.stored(path)?;
                if let Some(stored) = &stored {
                    self.keep_leaving(update, path, stored)?;
                }
                let terms = |old: &Stored| stages::terms(&old.facts, path, &old.text, &mut vocabulary);
                let terms = stored.as_ref().map(terms);
                let outcome = self.txn.put_file(&input, &vocabulary, stored.as_ref().zip(terms.as_ref()))?;
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

    /// Caches the facts of a content that is about to leave the index.
    fn keep_leaving(&self, update: &Update, path: &RepoPath, stored: &Stored) -> Result<(), StoreError> {
        if let Some(contents) = update.contents.filter(|_| stages::is_reusable(&stored.facts)) {
            let packed = self.txn.packed_facts(stored)?;
            contents.put(path, &stored.hash, update.parts.redacts, &packed);
        }
        Ok(())
    }

    fn remove(&mut self, update: &Update, path: &RepoPath) -> Result<(), StoreError> {
        self.done.stats.push((path.clone(), None));
        let Some(stored) = self.txn.stored(path)? else { return Ok(()) };
        self.keep_leaving(update, path, &stored)?;
        update.log.ran(Stage::Remove, path);
        self.gone.extend(self.txn.file_by_path(path));
        let mut vocabulary = Vocabulary::default();
        let terms = stages::terms(&stored.facts, path, &stored.text, &mut vocabulary);
        self.keys.extend(self.txn.remove_file(&stored, &vocabulary, &terms)?);
        Ok(())
    }

    /// Links read facts only, never links, so one pass over the files concerned is enough, and every
    /// thread may take its part. Writing follows in path order.
    fn link(&mut self, update: &Update) -> Result<(), EngineError> {
        let keys: Vec<_> = std::mem::take(&mut self.keys).into_iter().collect();
        let mut docs = self.txn.dependants(&keys)?;
        docs.append(&mut self.overlaid);
        docs.extend(self.put.keys());
        docs.sort_unstable();
        docs.dedup();
        let put = std::mem::take(&mut self.put);
        let mut due = Vec::with_capacity(docs.len());
        for doc in docs {
            let path = self.txn.path(doc);
            let overlay = self.txn.overlay(&path)?.map(<[u8]>::to_vec);
            let hash = overlay.as_ref().and_then(|_| self.txn.hash_of(&path).transpose()).transpose()?;
            due.push(Due { path, doc, overlay, hash });
        }
        due.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        due.iter().for_each(|d| update.log.ran(Stage::Link, &d.path));
        let paths = due.iter().filter(|d| put.contains_key(&d.doc)).map(|d| (d.doc, Arc::clone(&d.path)));
        let changed = Changed::new(&put, paths.collect(), std::mem::take(&mut self.gone));
        for batch in due.chunks(LINK_FILES) {
            for (due, links) in batch.iter().zip(update.links_of(batch, &changed)?) {
                self.txn.put_links(due.doc, &links)?;
            }
        }
        Ok(())
    }
}

/// A file to be linked.
struct Due {
    path: Arc<str>,
    doc: FileDoc,
    /// The imported overlay of the file, and the hash of the present content.
    overlay: Option<Vec<u8>>,
    hash: Option<ContentHash>,
}

impl Update<'_> {
    /// Links files against the state after the update; in the order given.
    fn links_of(&self, batch: &[Due], changed: &Changed) -> Result<Vec<Links>, EngineError> {
        let link = |after: &After, due: &Due| {
            self.go_on()?;
            let stored;
            let facts = match changed.put.get(&due.doc) {
                Some(facts) => facts,
                None => {
                    stored = after.before().facts(due.doc)?;
                    &stored
                }
            };
            let imported = (due.overlay.as_deref(), due.hash);
            Ok(stages::link(&self.parts, due.doc, Facts::inside(facts), imported, after))
        };
        if let [due] = batch {
            let link = || link(&After::new(self.store.snapshot()?, changed), due);
            return Ok(vec![if self.has_stack { link() } else { pool().install(link) }?]);
        }
        // Neighbours look up the same names: few long runs remember better than many short ones.
        let n = batch.len().div_ceil(pool().current_num_threads() * RUNS_PER_THREAD).max(1);
        let run = |run: &[Due]| {
            let after = After::new(self.store.snapshot()?, changed);
            run.iter().map(|due| link(&after, due)).collect::<Result<Vec<Links>, EngineError>>()
        };
        let runs: Result<Vec<Vec<Links>>, EngineError> =
            pool().install(|| batch.par_chunks(n).map(run).collect());
        Ok(runs?.into_iter().flatten().collect())
    }
}
