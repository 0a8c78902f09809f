//! The first build: every file of the set into an empty environment.
//!
//! Files are taken longest first, so that no thread is left with a long one at the end. A text lives from
//! being read until the store has compressed it, in as many copies as there are threads. Linking runs against
//! the interfaces in memory.

use super::contents::ContentCache;
use super::error::EngineError;
use super::stages::{self, Parts, Reuse, Stage, StageLog};
use crate::workspace::status::Progress;
use crate::workspace::threads::STACK_BYTES;
use indexd_model::limits::FILE_BYTES_LISTED_MAX;
use indexd_model::terms::Vocabulary;
use indexd_model::{Facts, FactsView, FileDoc, RepoPath};
use indexd_os::Root;
use indexd_proto::workspace::Phase;
use indexd_store::{Bulk, FileStat, History, Overlays, Store};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The inputs of a build.
pub struct Build<'a> {
    /// The workspace.
    pub root: &'a Root,
    /// The pure stages.
    pub parts: Parts,
    /// Log of the stages that ran.
    pub log: &'a StageLog,
    /// Called for each phase now and then, from any thread.
    pub progress: &'a (dyn Fn(Progress) + Sync),
    /// Asked before each file.
    pub cancelled: &'a (dyn Fn() -> bool + Sync),
    /// The overlays of imported indexes.
    pub overlays: &'a Overlays,
    /// Contents that left an index.
    pub contents: Option<&'a ContentCache>,
    /// The index of the same tree before.
    pub before: Option<&'a Store>,
    /// Threads that parse and link.
    pub n_threads: usize,
}

/// The result of a build.
pub struct Built {
    /// The stat to remember of each file in the index, ordered by path.
    pub stats: Vec<(RepoPath, FileStat)>,
    /// Files that could not be read, ordered.
    pub unreadable: Vec<RepoPath>,
}

impl Build<'_> {
    /// Reads, extracts and links `files` (path and size) and writes the index.
    ///
    /// A file that vanishes during the build is left out. One that changes has a stat that differs from the
    /// one on disk, so the comparison that follows every build reads it again.
    ///
    /// # Errors
    /// `Store` and `Cancelled`; the environment must then be thrown away.
    pub fn run(
        &self,
        bulk: Bulk,
        files: impl IntoIterator<Item = (RepoPath, u64)>,
        head: Option<&str>,
        history: impl FnOnce() -> History,
    ) -> Result<Built, EngineError> {
        let mut files: Vec<(RepoPath, u64)> = files.into_iter().collect();
        files.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let built = self.parse(&bulk, &files)?;
        drop(files);
        (self.progress)(Progress { phase: Phase::Seal, done: 0, total: 1 });
        let facts = bulk.seal()?;
        self.link(&bulk, &facts)?;
        drop(facts);
        let history = history();
        (self.progress)(Progress { phase: Phase::Write, done: 0, total: 1 });
        bulk.finish(head, Some(&history), self.overlays)?;
        Ok(built)
    }

    fn parse(&self, bulk: &Bulk, files: &[(RepoPath, u64)]) -> Result<Built, EngineError> {
        // Files that are too large are not read.
        let work = |size: u64| if size > FILE_BYTES_LISTED_MAX { 0 } else { size };
        let bytes: u64 = files.iter().map(|f| work(f.1)).sum();
        let built = Mutex::new(Built { stats: Vec::with_capacity(files.len()), unreadable: Vec::new() });
        let done_bytes = AtomicU64::new(0);
        self.each(Phase::Parse, files.len(), || {
            let mut vocabulary = Vocabulary::default();
            // Without it files are extracted again.
            let before = self.before.and_then(|store| store.snapshot().ok());
            let reuse = Reuse { contents: self.contents, before };
            let (bulk, built, done_bytes) = (&bulk, &built, &done_bytes);
            move |i| {
                let (path, size) = &files[i];
                let loaded = stages::load(self.root, path);
                self.log.ran(Stage::Read, path);
                let mark = |stat: Option<FileStat>| {
                    let mut built = built.lock().unwrap_or_else(PoisonError::into_inner);
                    match stat {
                        Some(stat) => built.stats.push((path.clone(), stat)),
                        None => built.unreadable.push(path.clone()),
                    }
                };
                match loaded {
                    Ok(Some(loaded)) => {
                        let stat = loaded.stat;
                        let extracted = stages::find_or_extract(&self.parts, &loaded, &reuse, self.log);
                        let input = stages::input(loaded, extracted, &mut vocabulary);
                        self.log.ran(Stage::Put, path);
                        bulk.add(input, &vocabulary)?;
                        mark(Some(stat));
                    }
                    Ok(None) => {}
                    Err(_) => mark(None),
                }
                let done = done_bytes.fetch_add(work(*size), Ordering::Relaxed) + work(*size);
                (self.progress)(Progress { phase: Phase::Parse, done, total: bytes });
                Ok(())
            }
        })?;
        let mut built = built.into_inner().unwrap_or_else(PoisonError::into_inner);
        built.stats.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        built.unreadable.sort_unstable();
        Ok(built)
    }

    fn link(&self, bulk: &Bulk, facts: &indexd_model::memory::MemoryFacts) -> Result<(), EngineError> {
        let n_files = facts.n_files() as usize;
        let n_done = AtomicU64::new(0);
        self.each(Phase::Link, n_files, || {
            |i| {
                let file = FileDoc(i as u32);
                let body = bulk.body(file)?;
                let (path, interface) = (facts.path(file), facts.interface(file));
                let overlay = self.overlays.files.get(&*path).map(|o| &o[..]);
                let imported = (overlay, Some(bulk.hash(file)?));
                let links = stages::link(&self.parts, file, Facts::both(&interface, &body), imported, facts);
                self.log.ran(Stage::Link, &path);
                bulk.put_links(file, links)?;
                let done = n_done.fetch_add(1, Ordering::Relaxed) + 1;
                if done.is_multiple_of(64) {
                    (self.progress)(Progress { phase: Phase::Link, done, total: n_files as u64 });
                }
                Ok(())
            }
        })
    }

    /// Runs `0..n` through workers that `worker` makes, one on each thread, in order of their index
    /// as far as threads allow. The first error stops all.
    fn each<W>(&self, phase: Phase, n: usize, worker: impl Fn() -> W + Sync) -> Result<(), EngineError>
    where
        W: FnMut(usize) -> Result<(), EngineError>,
    {
        (self.progress)(Progress { phase, done: 0, total: 0 });
        let next = AtomicUsize::new(0);
        let failed = Mutex::new(None);
        let run = || {
            let mut work = worker();
            loop {
                let i = next.fetch_add(1, Ordering::Relaxed);
                if i >= n {
                    return;
                }
                let result = if (self.cancelled)() { Err(EngineError::Cancelled) } else { work(i) };
                if let Err(e) = result {
                    next.store(n, Ordering::Relaxed);
                    failed.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(e);
                    return;
                }
            }
        };
        // Threads of its own, which end with the phase: an allocator keeps what idle threads freed.
        std::thread::scope(|s| {
            for i in 1..self.n_threads.min(n) {
                let builder =
                    std::thread::Builder::new().name(format!("{phase}-{i}")).stack_size(STACK_BYTES);
                // With fewer threads it takes longer.
                let _ = builder.spawn_scoped(s, run);
            }
            run();
        });
        failed.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
    }
}
