//! The single writer: every change after the first build.
//!
//! A definition keeps its handle while its file has a definition with the same descriptor and ordinal, so
//! edges from other files stay valid when it moves. A handle freed by a transaction is not reused before
//! the commit.

mod links;
mod overlays;
mod stored;
mod terms;

pub use stored::Stored;
pub(crate) use terms::path_counts;

use crate::codec::blob::PIECE_BYTES;
use crate::codec::bytes::put;
use crate::codec::chunks;
use crate::codec::facts::Packer;
use crate::codec::records::{FileRow, encode_stat};
use crate::compact::counts_max;
use crate::directory::Directory;
use crate::error::{Result, StoreError, Unreadable};
use crate::history;
use crate::input::{FileInput, History};
use crate::linked::differences;
use crate::meta::{Free, Meta, room_for};
use crate::opened::ReadTxn;
use crate::prepared::{self, FileRows, Identity};
use crate::rows::{Rows, encode_runs, path_key, piece_key, text_prefix};
use crate::sets;
use crate::signature::{self, Leaves};
use crate::snapshot::{self, Snapshot};
use crate::store::Store;
use crate::table::Table;
use crate::tables::Tables;
use crate::untouched::Writing;
use heed::RwTxn;
use indexd_model::terms::{FileTerms, Vocabulary};
use indexd_model::{ContentHash, FactsView, FileDoc, FileFacts, Interface, Key, Links};
use indexd_os::{FileStat, faults};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, PoisonError};

/// The result of putting a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PutOutcome {
    /// Its handle.
    pub doc: FileDoc,
    /// Keys whose entries were added, removed or changed, sorted. Files that looked them up must be linked
    /// again.
    pub changed: Vec<Key>,
}

/// The write transaction. Dropping it discards its changes; after an error it must be dropped.
///
/// As a [`FactsView`] it shows the state being written, so linking runs inside the transaction. The order is:
/// remove and put files, and collect the changed keys; link the put files and the [`WriteTxn::dependants`] of
/// the keys; call [`WriteTxn::put_links`] for each linked file; commit.
pub struct WriteTxn<'s> {
    store: &'s Store,
    txn: RwTxn<'s>,
    /// Declared after the transaction, so that it is dropped later.
    writing: Writing,
    meta: Meta,
    free: Free,
    freed_files: Vec<u32>,
    freed_defs: Vec<u32>,
    leaves: Leaves,
    /// Files that were put and are not linked yet.
    unlinked: BTreeSet<u32>,
    /// True if files or definitions were added or removed, which invalidates cached orders.
    moved: bool,
    /// True if more than caches was written; the commit then makes a new generation.
    changed: bool,
    failed: bool,
}

impl<'s> WriteTxn<'s> {
    pub(crate) fn begin(store: &'s Store) -> Result<Self> {
        store.check_untouched()?;
        let writing = store.writing();
        let txn = store.inner.env.write_txn()?;
        let meta = Meta::read(&store.inner.tables, &txn)?.ok_or(StoreError::Busy("not built yet"))?;
        let free = Free::read(&store.inner.tables, &txn)?;
        Ok(Self {
            store,
            txn,
            writing,
            meta,
            free,
            freed_files: Vec::new(),
            freed_defs: Vec::new(),
            leaves: Leaves::default(),
            unlinked: BTreeSet::new(),
            moved: false,
            changed: false,
            failed: false,
        })
    }

    fn tables(&self) -> &'s Tables {
        &self.store.inner.tables
    }

    pub(crate) fn rows(&self) -> Rows<'_> {
        Rows { tables: &self.store.inner.tables, txn: &self.txn, opened: None }
    }

    /// Records a failure of `write`, so that an incomplete change cannot be committed.
    fn guard<T>(&mut self, write: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let result = write(self);
        self.failed |= result.is_err();
        result
    }

    /// Makes a change that needs a new generation.
    fn change<T>(&mut self, write: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.changed = true;
        self.guard(write)
    }

    /// Hash of a stored file; `None` for unknown paths.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when it cannot be read.
    pub fn hash_of(&self, path: &str) -> Result<Option<ContentHash>> {
        let Some(doc) = self.rows().file_doc(path)? else {
            return Ok(None);
        };
        Ok(Some(ContentHash(self.rows().file(doc)?.hash)))
    }

    /// Adds or replaces a file and removes its links, which [`WriteTxn::put_links`] writes again.
    /// `stored` is the stored version of the path, if there is one, with its terms numbered by the same
    /// vocabulary.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`] when `stored` or the input contradict the stored rows;
    /// [`StoreError::Full`] when there is no room.
    pub fn put_file(
        &mut self,
        input: &FileInput,
        vocabulary: &Vocabulary,
        stored: Option<(&Stored, &FileTerms)>,
    ) -> Result<PutOutcome> {
        self.change(|txn| txn.put_checked(input, vocabulary, stored))
    }

    fn put_checked(
        &mut self,
        input: &FileInput,
        vocabulary: &Vocabulary,
        stored: Option<(&Stored, &FileTerms)>,
    ) -> Result<PutOutcome> {
        prepared::check(input)?;
        let old = stored.map(|(old, _)| old);
        self.check_present(&input.path, old)?;
        let interface = &input.facts.interface;
        let identities = prepared::identities(interface);
        let (file, docs) = self.assign(old, &identities)?;
        let changed = self.put_entries(file, old, interface, &identities)?;
        let n = input.facts.chunks.len() as u32;
        let room = self.place_chunks(old, n)?;
        self.put_terms(file, stored, (&input.terms, room.0), vocabulary)?;
        let lines = prepared::def_lines(interface, &input.lines);
        let rows = FileRows {
            file,
            docs: &docs,
            interface,
            chunks: &input.facts.chunks,
            lines: &lines,
            n_lines: input.lines.n_lines(),
            text_len: input.text.len() as u32,
        };
        self.put_rows(input, old, &rows, room)?;
        let blobs = prepared::blobs(&input.facts, &input.text, &mut Packer::default())?;
        let tables = self.tables();
        for (table, blob) in tables.blobs().into_iter().zip(&blobs) {
            put_blob(table, &mut self.txn, file, blob)?;
        }
        let leaf = signature::leaf(&input.path, &input.hash, interface.language, interface.outcome);
        self.leaves.set(tables, &mut self.txn, &signature::leaf_key(&input.path), Some(leaf))?;
        self.unlinked.insert(file);
        Ok(PutOutcome { doc: FileDoc(file), changed })
    }

    /// Assigns handles: definitions that stay keep theirs, new definitions get free ones.
    fn assign(&mut self, old: Option<&Stored>, identities: &[Identity]) -> Result<(u32, Vec<u32>)> {
        let mut docs = Vec::with_capacity(identities.len() + 1);
        let Some(old) = old else {
            let file = self.free.file()?;
            self.moved = true;
            for _ in 0..=identities.len() {
                docs.push(self.free.def()?);
            }
            return Ok((file, docs));
        };
        let mut before: FxHashMap<Identity, u32> =
            old.identities.iter().copied().zip(old.docs[1..].iter().copied()).collect();
        docs.push(old.docs[0]);
        for identity in identities {
            docs.push(match before.remove(identity) {
                Some(doc) => doc,
                None => {
                    self.moved = true;
                    self.free.def()?
                }
            });
        }
        self.drop_defs(old, &before.into_values().collect())?;
        Ok((old.doc, docs))
    }

    /// Removes definitions with their names and outgoing edges. Incoming edges stay until their sources are
    /// linked again.
    fn drop_defs(&mut self, old: &Stored, gone: &BTreeSet<u32>) -> Result<()> {
        if gone.is_empty() {
            return Ok(());
        }
        self.moved = true;
        self.drop_sources(gone)?;
        let tables = self.tables();
        for doc in gone {
            tables.defs.delete(&mut self.txn, &doc.to_be_bytes())?;
        }
        let names = prepared::names(&old.facts.interface, &old.docs);
        for (name, doc) in names.filter(|(_, doc)| gone.contains(doc)) {
            sets::update(&tables.names, &mut self.txn, &text_prefix(name), &[(doc, false)])?;
        }
        self.freed_defs.extend(gone);
        Ok(())
    }

    /// Stores the keys that the file provides and returns the keys whose entries changed.
    fn put_entries(
        &mut self,
        file: u32,
        old: Option<&Stored>,
        interface: &Interface,
        identities: &[Identity],
    ) -> Result<Vec<Key>> {
        let before = old.map_or_else(Vec::new, |o| entries(&o.facts.interface, &o.identities));
        let after = entries(interface, identities);
        let mut changed: Vec<Key> = differences(&before, &after).into_iter().map(|d| d.0.0).collect();
        changed.dedup();
        let keys = |all: &[Entry]| {
            let mut keys: Vec<Key> = all.iter().map(|e| e.0).collect();
            keys.dedup();
            keys
        };
        let changes = differences(&keys(&before), &keys(&after));
        let changes = changes.into_iter().map(|(key, add)| (key.0.to_be_bytes(), file, add)).collect();
        sets::update_all(&self.tables().providers, &mut self.txn, changes)?;
        Ok(changed)
    }

    /// Finds a run of free handles for `n` chunks; the previous run if it fits. Returns its start and length.
    fn place_chunks(&mut self, old: Option<&Stored>, n: u32) -> Result<(u32, u32)> {
        if let Some(old) = old {
            let FileRow { chunk_start, chunk_room, .. } = old.row;
            if n <= chunk_room {
                return Ok((chunk_start, chunk_room));
            }
            self.free.release_chunks(chunk_start, chunk_room);
        }
        let room = room_for(n);
        Ok((self.free.chunk_run(room)?, room))
    }

    fn put_rows(
        &mut self,
        input: &FileInput,
        old: Option<&Stored>,
        rows: &FileRows,
        room: (u32, u32),
    ) -> Result<()> {
        let tables = self.tables();
        let key = rows.file.to_be_bytes();
        let txn = &mut self.txn;
        rows.defs(|doc, row| tables.defs.put_new(txn, &doc.to_be_bytes(), &row))?;
        let known: BTreeSet<u32> = old.map_or_else(BTreeSet::new, |o| o.docs.iter().copied().collect());
        let names = prepared::names(rows.interface, rows.docs);
        for (name, doc) in names.filter(|(_, doc)| !known.contains(doc)) {
            sets::update(&tables.names, txn, &text_prefix(name), &[(doc, true)])?;
        }
        tables.file_defs.put_new(txn, &key, &encode_runs(rows.docs))?;
        let n = rows.chunks.len() as u32;
        if let Some(old) = old {
            self.take_off(old, room.0..room.0 + n)?;
        } else {
            tables.paths.put(txn, &path_key(&input.path), &key)?;
        }
        let (txn, stats) = (&mut self.txn, &mut self.meta.stats);
        for (i, digest) in (0..n).zip(prepared::digests(rows.chunks, &input.text)) {
            let lens = input.terms.chunks[i as usize].lens;
            for (sum, len) in stats.field_lens.iter_mut().zip(&lens) {
                *sum += u64::from(*len);
            }
            let row = chunks::encode(room.0 + i, &rows.chunk(i as usize, &lens, digest));
            tables.chunks.put_new(txn, &(room.0 + i).to_be_bytes(), &row)?;
        }
        stats.n_chunks += u64::from(n);
        stats.n_files += 1;
        stats.path_len += u64::from(input.terms.path_len);
        self.meta.n_defs += rows.interface.defs.len() as u64;
        self.meta.source_bytes += input.size;
        let row = rows.file(&input.path, &input.hash, input.size, input.terms.path_len, room);
        tables.files.put_new(txn, &key, &row.encode())?;
        tables.stats.put_new(txn, &key, &encode_stat(&input.stat))
    }

    /// Subtracts a stored file from the sums, and removes its chunks except those whose rows are written
    /// again.
    fn take_off(&mut self, old: &Stored, kept: Range<u32>) -> Result<()> {
        let tables = self.tables();
        let FileRow { chunk_start, n_chunks, path_len, size, .. } = old.row;
        for chunk in chunk_start..chunk_start + n_chunks {
            let row = self.rows().chunk(chunk)?;
            for (sum, len) in self.meta.stats.field_lens.iter_mut().zip(&row.lens) {
                *sum -= u64::from(*len);
            }
            if !kept.contains(&chunk) {
                tables.chunks.delete(&mut self.txn, &chunk.to_be_bytes())?;
            }
        }
        self.meta.stats.n_chunks -= u64::from(n_chunks);
        self.meta.stats.n_files -= 1;
        self.meta.stats.path_len -= u64::from(path_len);
        self.meta.n_defs -= old.facts.interface.defs.len() as u64;
        self.meta.source_bytes -= size;
        Ok(())
    }

    /// Removes a stored file and returns the keys it provided, sorted. `terms` are those of the stored version.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`] when `stored` or `terms` do not match the stored rows.
    pub fn remove_file(
        &mut self,
        stored: &Stored,
        vocabulary: &Vocabulary,
        terms: &FileTerms,
    ) -> Result<Vec<Key>> {
        self.change(|txn| txn.remove_checked(stored, vocabulary, terms))
    }

    fn remove_checked(
        &mut self,
        old: &Stored,
        vocabulary: &Vocabulary,
        terms: &FileTerms,
    ) -> Result<Vec<Key>> {
        let FileRow { path, chunk_start, chunk_room, .. } = &old.row;
        self.check_present(path, Some(old))?;
        let doc = old.doc;
        let tables = self.tables();
        let nothing = FileTerms::default();
        self.put_terms(doc, Some((old, terms)), (&nothing, *chunk_start), vocabulary)?;
        let interface = &old.facts.interface;
        let empty = Interface::empty(interface.language, interface.outcome, interface.roles);
        let changed = self.put_entries(doc, Some(old), &empty, &[])?;
        self.drop_defs(old, &old.docs.iter().copied().collect())?;
        self.put_lookups(doc, &[])?;
        self.take_off(old, 0..0)?;
        for table in tables.blobs().into_iter().chain([&tables.unresolved]) {
            put_blob(table, &mut self.txn, doc, &[])?;
        }
        let key = doc.to_be_bytes();
        for table in [&tables.files, &tables.file_defs, &tables.stats] {
            table.delete(&mut self.txn, &key)?;
        }
        tables.paths.delete(&mut self.txn, &path_key(path))?;
        self.leaves.set(tables, &mut self.txn, &signature::leaf_key(path), None)?;
        self.free.release_chunks(*chunk_start, *chunk_room);
        self.freed_files.push(doc);
        self.unlinked.remove(&doc);
        self.moved = true;
        Ok(changed)
    }

    /// Records a new stat for a file with unchanged content. An unknown path changes nothing.
    ///
    /// # Errors
    /// [`StoreError::Full`] when there is no room.
    pub fn touch(&mut self, path: &str, stat: &FileStat) -> Result<()> {
        let Some(doc) = self.rows().file_doc(path)? else {
            return Ok(());
        };
        let stats = &self.tables().stats;
        self.guard(|it| stats.put_new(&mut it.txn, &doc.to_be_bytes(), &encode_stat(stat)))
    }

    /// Reads interface and body of a file, for linking.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when they cannot be read.
    pub fn facts(&self, file: FileDoc) -> Result<FileFacts> {
        self.rows().facts(file.0)
    }

    /// Sets HEAD's commit id; `None` without git.
    pub fn set_head(&mut self, head: Option<&str>) {
        self.changed |= self.meta.head.as_deref() != head;
        self.meta.head = head.map(str::to_owned);
    }

    /// Replaces the history. Takes time proportional to its size, and none when its digest is stored
    /// already.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`] when a path comes twice.
    pub fn put_history(&mut self, new: &History) -> Result<()> {
        if self.meta.history == new.known_digest() {
            return Ok(());
        }
        self.meta.history = new.known_digest();
        let tables = self.tables();
        self.change(|it| history::replace(tables, &mut it.txn, new))
    }

    /// Caches exact token counts by tokenizer and BLAKE3 prefix of the text. A cache with far more counts
    /// than chunks is cleared first.
    ///
    /// # Errors
    /// [`StoreError::Full`] when there is no room.
    pub fn put_token_counts(&mut self, counts: &[(&str, [u8; 16], u32)]) -> Result<()> {
        let tables = self.tables();
        if tables.tokens.len(&self.txn)? > counts_max(self.meta.stats.n_chunks) {
            tables.tokens.clear(&mut self.txn)?;
        }
        for (tokenizer, hash, n) in counts {
            let mut value = Vec::new();
            put(&mut value, u64::from(*n));
            let key = snapshot::token_key(tokenizer, *hash);
            self.guard(|it| tables.tokens.put_new(&mut it.txn, &key, &value))?;
        }
        Ok(())
    }

    /// Writes the values that depend on all files being put and linked: the root of the signature and the
    /// free handles.
    fn finish(&mut self) -> Result<()> {
        if self.failed {
            return Err(StoreError::Inconsistent("ended after an error".into()));
        }
        for file in std::mem::take(&mut self.unlinked) {
            self.put_links(FileDoc(file), &Links::default())?;
        }
        self.check_vanished()?;
        let tables = self.tables();
        if let Some(root) = std::mem::take(&mut self.leaves).finish(tables, &mut self.txn)? {
            self.meta.root = root;
        }
        Ok(())
    }

    /// Turns the transaction into a view of its uncommitted state, on this thread. Dropping the view
    /// discards the changes. The generation of the view is the committed one.
    ///
    /// # Errors
    /// As [`WriteTxn::commit`].
    pub fn into_unsaved(mut self) -> Result<Snapshot> {
        self.finish()?;
        let kept = self.store.inner.directory.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |k: &&(u64, Arc<Directory>)| !self.moved && k.0 == self.meta.generation;
        let directory = kept.as_ref().filter(is_same).map(|k| Arc::clone(&k.1));
        drop(kept);
        #[expect(unsafe_code, reason = "Rust has no borrow of a field that lies beside it")]
        // SAFETY: the transaction borrows the environment, which is in the `Arc` of the store. The snapshot
        // keeps a clone of the store, and drops it after the transaction.
        let txn = unsafe { std::mem::transmute::<RwTxn<'s>, RwTxn<'static>>(self.txn) };
        Ok(Snapshot::of_writer(ReadTxn::of_writer(txn, self.writing), self.meta, directory, self.store))
    }

    /// Commits and returns the generation, which is a new one unless only caches were written (file stats,
    /// token counts).
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`] after an earlier error, or if an edge points to a removed definition
    /// because a dependant was not linked again; [`StoreError::Full`] when there is no room. The stored
    /// state is then unchanged.
    pub fn commit(mut self) -> Result<u64> {
        self.finish()?;
        let tables = self.tables();
        self.free.files.append(&mut self.freed_files);
        self.free.defs.append(&mut self.freed_defs);
        self.free.write(tables, &mut self.txn)?;
        let before = self.meta.generation;
        self.meta.generation += u64::from(self.changed);
        self.meta.write(tables, &mut self.txn)?;
        faults::before("commit", &self.store.dir().to_string_lossy())?;
        self.txn.commit()?;
        self.store.set_generation(self.meta.generation);
        if !self.moved {
            let mut kept = self.store.inner.directory.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some((generation, _)) = kept.as_mut().filter(|k| k.0 == before) {
                *generation = self.meta.generation;
            }
        }
        Ok(self.meta.generation)
    }
}

/// An entry as other files observe it: key, identity of the definition, digest, and position among equal
/// entries.
type Entry = (Key, Identity, u64, u32);

/// All entries of a file, sorted: equal lists mean equal entries.
fn entries(interface: &Interface, identities: &[Identity]) -> Vec<Entry> {
    let identity =
        |def: indexd_model::DefIdx| def.some().map_or(Identity::default(), |d| identities[d.index()]);
    let mut all: Vec<_> = interface.entries.iter().map(|e| (e.key, identity(e.def), e.digest, 0)).collect();
    all.sort_unstable();
    for i in 1..all.len() {
        let (a, b) = (all[i - 1], all[i]);
        if (a.0, a.1, a.2) == (b.0, b.1, b.2) {
            all[i].3 = a.3 + 1;
        }
    }
    all
}

/// Writes a blob in pieces and removes the surplus pieces of a longer previous one.
pub(crate) fn put_blob(table: &Table, txn: &mut RwTxn, file: u32, blob: &[u8]) -> Result<()> {
    let mut piece = 0u16;
    for bytes in blob.chunks(PIECE_BYTES) {
        table.put_new(txn, &piece_key(file, piece), bytes)?;
        piece = piece.checked_add(1).ok_or_else(|| StoreError::Inconsistent("a blob above 32 MB".into()))?;
    }
    while table.delete(txn, &piece_key(file, piece))? && piece < u16::MAX {
        piece += 1;
    }
    Ok(())
}

impl FactsView for WriteTxn<'_> {
    fn providers(&self, key: Key) -> Vec<FileDoc> {
        let found = sets::members(&self.tables().providers, &self.txn, &key.0.to_be_bytes());
        self.must(found.and_then(|files| self.by_path(files)))
    }

    fn interface(&self, file: FileDoc) -> Arc<Interface> {
        self.must(snapshot::interface(self.store, self.rows(), file.0))
    }

    fn path(&self, file: FileDoc) -> Arc<str> {
        Arc::from(self.must(self.rows().file(file.0)).path.as_str())
    }

    fn file_by_path(&self, path: &str) -> Option<FileDoc> {
        self.must(self.rows().file_doc(path)).map(FileDoc)
    }
}

impl WriteTxn<'_> {
    /// Returns the value; an error fails the transaction, and damage is noted.
    fn must<T>(&self, result: Result<T>) -> T {
        self.store.noting(result).unwrap_or_else(|e| std::panic::panic_any(Unreadable(e)))
    }

    /// Sorts files by path.
    fn by_path(&self, files: Vec<u32>) -> Result<Vec<FileDoc>> {
        if files.len() < 2 {
            return Ok(files.into_iter().map(FileDoc).collect());
        }
        let mut keyed = Vec::with_capacity(files.len());
        for file in files {
            keyed.push((self.rows().file(file)?.path.as_str(), file));
        }
        keyed.sort_unstable();
        Ok(keyed.into_iter().map(|k| FileDoc(k.1)).collect())
    }
}
