//! Contract of the store.
use crate::error::{Result, StoreError};
use crate::input::*;
use indexd_model::memory::MemoryFacts;
use indexd_model::terms::{FileTerms, Vocabulary};
use indexd_model::view::*;
use indexd_model::*;
use std::io;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

/// One environment. Cheap to clone.
#[derive(Clone)]
pub struct Store;

/// What opening found.
pub enum Opened {
    /// A complete index.
    Ready(Store),
    /// An empty environment: the index must be built with [`Store::bulk`].
    Fresh(Store),
    /// The last writer of this boot did not close the index. Run [`verify`] in a child process, then
    /// [`Store::open_verified`] or [`Store::quarantine`] and open again.
    Unverified,
}

fn absent<T>() -> Result<T> {
    Err(StoreError::Busy("not open"))
}

impl Store {
    /// Opens or creates.
    pub fn open(_dir: &Path, _config: &[u8]) -> Result<Opened> { absent() }
    /// Opens after [`verify`] succeeded in a child process.
    pub fn open_verified(_dir: &Path, _config: &[u8]) -> Result<Opened> { absent() }
    /// Moves a damaged index aside (one is kept).
    pub fn quarantine(_dir: &Path) -> Result<()> { absent() }
    /// A read view of the last committed state.
    pub fn snapshot(&self) -> Result<Snapshot> { absent() }
    /// Starts the single write transaction; waits for the one before.
    pub fn begin(&self) -> Result<WriteTxn<'_>> { absent() }
    /// Starts the first build. The environment must be empty.
    pub fn bulk(&self) -> Result<Bulk> { absent() }
    /// Flushes commits to disk.
    pub fn sync(&self) -> Result<()> { absent() }
    /// Flushes and marks the index clean. No commit is possible afterwards.
    pub fn close_clean(self) -> Result<()> { absent() }
    /// Bytes of the data file.
    pub fn size_bytes(&self) -> u64 { 0 }
    /// Number of the last committed state; 0 before the first build.
    pub fn generation(&self) -> u64 { 0 }
    /// Whether a read met damage: the index must be rebuilt.
    pub fn is_damaged(&self) -> bool { false }
    /// Bytes of address space reserved: the size at which the store is full.
    pub fn map_bytes(&self) -> u64 { 0 }
}

/// What putting a file changed for others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PutOutcome {
    /// Its handle.
    pub doc: FileDoc,
    /// Keys whose entries appeared, disappeared or changed, sorted.
    pub changed: Vec<Key>,
}

/// The single write transaction; dropping it changes nothing. Implements [`FactsView`].
pub struct WriteTxn<'s>(PhantomData<&'s Store>);

impl WriteTxn<'_> {
    /// Facts and text of a stored file, for recomputing its terms before it is put or removed.
    pub fn stored(&self, _path: &str) -> Result<Option<(FileFacts, Arc<str>)>> { absent() }
    /// Adds or replaces. `old_terms` are the terms of the stored version, in the same vocabulary;
    /// needed exactly when the path is stored.
    pub fn put_file(&mut self, _input: &FileInput, _vocabulary: &Vocabulary, _old_terms: Option<&FileTerms>) -> Result<PutOutcome> { absent() }
    /// Removes; gives the keys it provided. An unknown path changes nothing.
    pub fn remove_file(&mut self, _path: &str, _vocabulary: &Vocabulary, _old_terms: &FileTerms) -> Result<Vec<Key>> { absent() }
    /// Same content, new stat.
    pub fn touch(&mut self, _path: &str, _stat: &FileStat) -> Result<()> { absent() }
    /// Files that looked up one of `keys`, and files with an edge to a definition that vanished in
    /// this transaction; sorted by path.
    pub fn dependants(&self, _keys: &[Key]) -> Result<Vec<FileDoc>> { absent() }
    /// Interface and body, to link it again.
    pub fn facts(&self, _file: FileDoc) -> Result<FileFacts> { absent() }
    /// Replaces the links of a file. A file that was put and not linked has none.
    pub fn put_links(&mut self, _file: FileDoc, _links: &Links) -> Result<()> { absent() }
    /// Sets HEAD's commit id.
    pub fn set_head(&mut self, _head: Option<&str>) -> Result<()> { absent() }
    /// Replaces the history.
    pub fn put_history(&mut self, _history: &History) -> Result<()> { absent() }
    /// Caches exact token counts: `(tokenizer, BLAKE3 prefix of the text, count)`.
    pub fn put_token_counts(&mut self, _counts: &[(&str, [u8; 16], u32)]) -> Result<()> { absent() }
    /// Makes everything visible and gives the new generation.
    pub fn commit(self) -> Result<u64> { absent() }
}

impl FactsView for WriteTxn<'_> {
    fn providers(&self, _key: Key) -> Vec<FileDoc> { Vec::new() }
    fn interface(&self, _file: FileDoc) -> Arc<Interface> { unreachable!() }
    fn path(&self, _file: FileDoc) -> Arc<str> { Arc::from("") }
    fn file_by_path(&self, _path: &str) -> Option<FileDoc> { None }
}

/// The first build. Worker threads call [`Bulk::add`], then one calls [`Bulk::seal`], then workers
/// call [`Bulk::facts`] and [`Bulk::put_links`], then one calls [`Bulk::finish`].
pub struct Bulk;

impl Bulk {
    /// Takes one file.
    pub fn add(&self, _input: FileInput, _vocabulary: &Vocabulary) -> Result<()> { absent() }
    /// Ends adding; handles are ranks by path.
    pub fn seal(&self) -> Result<Arc<MemoryFacts>> { absent() }
    /// Interface and body.
    pub fn facts(&self, _file: FileDoc) -> Result<FileFacts> { absent() }
    /// Takes the links of one file.
    pub fn put_links(&self, _file: FileDoc, _links: Links) -> Result<()> { absent() }
    /// Writes everything.
    pub fn finish(self, _head: Option<&str>, _history: Option<History>) -> Result<u64> { absent() }
}

/// One committed state. `Send`; open one for each request and drop it soon.
pub struct Snapshot;

impl Snapshot {
    /// Number of this state.
    pub fn generation(&self) -> u64 { 0 }
    /// Writes every derived table as sorted lines free of handles.
    pub fn dump(&self, _out: &mut dyn io::Write) -> io::Result<()> { Ok(()) }
    /// What the file system said about a file when it was read.
    pub fn stat(&self, _path: &str) -> Option<FileStat> { None }
    /// Interface and body.
    pub fn facts(&self, _file: FileDoc) -> Result<FileFacts> { absent() }
    /// Every file with its stat and hash, ordered by path.
    pub fn all_stats(&self) -> Vec<(Arc<str>, FileStat, ContentHash)> { Vec::new() }
    /// Digest of the commits read; `None` without history.
    pub fn history_digest(&self) -> Option<[u8; 32]> { None }
    /// Counts for status.
    pub fn counts(&self) -> Counts { Counts::default() }
}

/// Sizes of a state, for status.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Files.
    pub n_files: u64,
    /// Chunks.
    pub n_chunks: u64,
    /// Definitions.
    pub n_defs: u64,
    /// Bytes of source on disk, summed.
    pub source_bytes: u64,
}

/// Walks the whole index and checks everything that can be checked. Run it in a child process: on a
/// damaged file LMDB may kill the process instead of returning an error.
pub fn verify(_dir: &Path) -> Result<()> { absent() }
