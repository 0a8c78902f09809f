//! One committed state, read through [`FactsView`] and [`IndexView`].
//!
//! The traits have no errors: a view that cannot be read has no answer. A read that meets damage marks the
//! store as damaged and panics; the request is lost, the daemon continues.

use crate::cache::Cache;
use crate::codec::edges::{Base, decode_unresolved};
use crate::codec::enums::Coded;
use crate::codec::{blob, bytes, postings};
use crate::directory::Directory;
use crate::error::{Result, StoreError, Unreadable};
use crate::meta::Meta;
use crate::opened::ReadTxn;
use crate::rows::{IN_KIND, Rows, base_of, in_prefix, term_prefix, text_prefix};
use crate::sets;
use crate::store::Store;
use crate::table::Table;
use indexd_model::grams::Need;
use indexd_model::links::EdgeKind;
use indexd_model::view::{
    ChunkRecord, CorpusStats, DefPlace, DefRecord, Edge, FactsView, FieldCounts, FileHistory, FileRecord,
    IndexView, PathPosting, Posting, Touched, UnresolvedRecord,
};
use indexd_model::{
    ChunkDoc, ContentHash, DefDoc, DefIdx, Facts, FileDoc, FileFacts, FileRoles, Interface, Key, Language,
    LineIndex, Outcome, Span,
};
use indexd_os::FileStat;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::{Arc, LazyLock, OnceLock, PoisonError};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// One committed state. `Send`, not `Sync`; open one for each request and drop it soon.
pub struct Snapshot {
    /// `Some` until the snapshot is dropped.
    txn: Option<ReadTxn>,
    meta: Meta,
    directory: OnceLock<Arc<Directory>>,
    store: Store,
}

impl Snapshot {
    pub(crate) fn open(store: &Store) -> Result<Self> {
        store.check_untouched()?;
        let txn = match store.inner.idle.take(&store.inner.env) {
            Some(txn) => txn,
            None => ReadTxn::new(store.inner.env.clone().static_read_txn()?),
        };
        let meta = Meta::read(&store.inner.tables, txn.txn())?.ok_or(StoreError::Busy("not built yet"))?;
        Ok(Self { txn: Some(txn), meta, directory: OnceLock::new(), store: store.clone() })
    }

    /// A view of the uncommitted state of a transaction. `directory` is that of the state before, if it is
    /// still valid.
    pub(crate) fn of_writer(
        txn: ReadTxn,
        meta: Meta,
        directory: Option<Arc<Directory>>,
        store: &Store,
    ) -> Self {
        let directory = directory.map_or_else(OnceLock::new, OnceLock::from);
        Self { txn: Some(txn), meta, directory, store: store.clone() }
    }

    /// Returns true if it shows unsaved texts.
    fn is_unsaved(&self) -> bool {
        self.opened().is_writer()
    }

    pub(crate) fn rows(&self) -> Rows<'_> {
        let opened = self.opened();
        Rows { tables: &self.store.inner.tables, txn: opened.txn(), opened: Some(opened) }
    }

    fn opened(&self) -> &ReadTxn {
        self.txn.as_ref().unwrap_or_else(|| unreachable!("taken when it is dropped"))
    }

    pub(crate) fn meta(&self) -> &Meta {
        &self.meta
    }

    /// Number of this state.
    pub fn generation(&self) -> u64 {
        self.meta.generation
    }

    /// Digest of the commits read; `None` without history.
    pub fn history_digest(&self) -> Option<[u8; 32]> {
        self.meta.history
    }

    /// Digest of the overlays of an imported index; `None` without an import.
    pub fn overlays_digest(&self) -> Option<[u8; 32]> {
        self.meta.overlays
    }

    /// The number of files with an overlay of an imported index.
    pub fn n_overlays(&self) -> u64 {
        self.must(self.store.inner.tables.overlays.len(self.opened().txn()))
    }

    /// Passes each overlay to `each`, with the current hash of its file; `None` when the file is not in the
    /// index.
    pub fn overlays(&self, mut each: impl FnMut(Option<ContentHash>, &[u8])) {
        let mut read = || -> Result<()> {
            for row in self.store.inner.tables.overlays.iter(self.opened().txn())? {
                let (key, overlay) = row?;
                let doc = self.rows().file_doc_of(&key)?;
                let row = doc.map(|doc| self.rows().file(doc)).transpose()?;
                each(row.map(|r| ContentHash(r.hash)), overlay);
            }
            Ok(())
        };
        self.must(read());
    }

    /// Returns the same files as [`FactsView::providers`], in no particular order. Does not need the order
    /// of all paths, which has to be read again after each generation in which a file was added or removed.
    pub fn providers_unsorted(&self, key: Key) -> Vec<FileDoc> {
        let table = &self.rows().tables.providers;
        self.must(sets::members(table, self.opened().txn(), &key.0.to_be_bytes()))
            .into_iter()
            .map(FileDoc)
            .collect()
    }

    /// The terms of texts, of paths, and of subjects of commits, each list in byte order.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when they cannot be read.
    pub fn vocabulary(&self) -> Result<[Vec<String>; 3]> {
        let tables = self.rows().tables;
        let read = |table| self.noting(self.read_terms_from(table, "", usize::MAX));
        Ok([read(&tables.terms)?, read(&tables.path_terms)?, read(&tables.history_terms)?])
    }

    /// Returns the text of a file like [`IndexView::text`], for a reader of every file: it does not evict
    /// cached texts that packs need.
    pub fn text_once(&self, file: FileDoc) -> Arc<str> {
        self.must(self.rows().text(file.0))
    }

    /// The text of a file as it is stored, to be read by [`read_packed_text`] on any thread.
    pub fn packed_text(&self, file: FileDoc) -> Vec<u8> {
        self.must(self.rows().blob(&self.rows().tables.texts, file.0))
    }

    /// Interface and body of a file.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when they cannot be read.
    pub fn facts(&self, file: FileDoc) -> Result<FileFacts> {
        self.noting(self.rows().facts(file.0))
    }

    /// Calls `each` with the path of every file, which is valid, and its stat, in no particular order. Walks
    /// two small tables.
    pub fn all_stats(&self, each: impl FnMut(&str, FileStat)) {
        self.must(self.rows().all_stats(each))
    }

    /// Returns the value, or marks the store as damaged and ends the request by a panic.
    fn must<T>(&self, result: Result<T>) -> T {
        self.noting(result).unwrap_or_else(|e| std::panic::panic_any(Unreadable(e)))
    }

    /// Returns the result. Damage is noted, so that the owner of the index discards it.
    pub(crate) fn noting<T>(&self, result: Result<T>) -> Result<T> {
        self.store.noting(result)
    }

    fn directory(&self) -> &Directory {
        self.directory.get_or_init(|| {
            if self.is_unsaved() {
                return Arc::new(self.must(Directory::build(self.rows())));
            }
            let mut kept = self.store.inner.directory.lock().unwrap_or_else(PoisonError::into_inner);
            match &*kept {
                Some((generation, directory)) if *generation == self.meta.generation => Arc::clone(directory),
                _ => {
                    let built = Arc::new(self.must(Directory::build(self.rows())));
                    *kept = Some((self.meta.generation, Arc::clone(&built)));
                    built
                }
            }
        })
    }

    /// Sorts definitions by path, then position.
    fn sort_defs(&self, mut defs: Vec<u32>) -> Result<Vec<DefDoc>> {
        if defs.len() > 1 {
            let mut keyed = defs.into_iter().map(|d| Ok((self.place(d)?, d))).collect::<Result<Vec<_>>>()?;
            keyed.sort_unstable();
            defs = keyed.into_iter().map(|k| k.1).collect();
        }
        Ok(defs.into_iter().map(DefDoc).collect())
    }

    /// Sort key of a definition: the rank of its file, and its position there.
    fn place(&self, def: u32) -> Result<(u32, (u32, u32))> {
        let row = self.rows().def(def)?;
        Ok((self.directory().rank_of_def(def), position(row.idx, row.span)))
    }

    fn def_record(&self, def: DefDoc) -> Result<DefRecord> {
        let row = self.rows().def(def.0)?;
        // Most definitions are at file level, where both names are equal.
        let qualified: Arc<str> = match row.is_nested {
            true => Arc::from(self.rows().qualified(&row)?),
            false => Arc::from(row.qualified),
        };
        let name = match row.idx {
            DefIdx::NONE => Arc::from(self.rows().file(row.file)?.path.as_str()),
            _ if row.name() == &*qualified => Arc::clone(&qualified),
            _ => Arc::from(row.name()),
        };
        Ok(DefRecord {
            file: FileDoc(row.file),
            idx: row.idx,
            name,
            qualified,
            kind: row.kind,
            flags: row.flags,
            parent: row.parent.map_or(DefDoc::NONE, DefDoc),
            span: row.span,
            lines: row.lines,
            name_span: row.name_span,
            name_line: row.name_line,
            head: row.head,
            doc: row.doc,
        })
    }

    /// Edges of one source to keep, by kind and target, grouped, in stored order.
    fn edges_of(&self, base: Base, keep: impl Fn(EdgeKind, u32) -> bool) -> Result<Vec<Edge>> {
        let mut edges: Vec<Edge> = Vec::new();
        self.rows().uses(base, keep, |u| match edges.last_mut() {
            Some(e) if e.kind == u.kind && e.target.0 == u.target => e.occurrences.push(u.occurrence),
            _ => edges.push(Edge {
                kind: u.kind,
                source: DefDoc(base.source),
                target: DefDoc(u.target),
                is_turned: false,
                occurrences: vec![u.occurrence],
            }),
        })?;
        Ok(edges)
    }

    fn edges_from_sorted(&self, source: DefDoc, kinds: &[EdgeKind]) -> Result<Vec<Edge>> {
        let is_asked = |kind, _| kind != EdgeKind::DataflowIn && kinds.contains(&kind);
        let edges = self.edges_of(self.rows().base(source.0)?, is_asked)?;
        let of_file = |e: Edge| ((e.kind, self.directory().rank_of_def(e.target.0)), (0, 0), e);
        let mut keyed: Vec<_> = edges.into_iter().map(of_file).collect();
        keyed.sort_by_key(|k| k.0);
        // Positions require reading each definition, so they are compared only for targets in one file.
        for same_file in keyed.chunk_by_mut(|a, b| a.0 == b.0).filter(|run| run.len() > 1) {
            for (_, at, e) in &mut *same_file {
                let row = self.rows().def(e.target.0)?;
                *at = position(row.idx, row.span);
            }
            same_file.sort_by_key(|k| k.1);
        }
        Ok(keyed.into_iter().map(|k| k.2).collect())
    }

    fn edges_to_sorted(&self, target: DefDoc, kinds: &[EdgeKind], limit: usize) -> Result<Vec<Edge>> {
        let kinds: Vec<EdgeKind> = kinds.iter().copied().filter(|k| *k != EdgeKind::DataflowIn).collect();
        let is_asked = |kind, to| to == target.0 && kinds.contains(&kind);
        let mut edges = self.in_edges(target, &kinds, limit, is_asked)?;
        if kinds.contains(&EdgeKind::Dataflow) {
            let own = self.edges_of(self.rows().base(target.0)?, |kind, _| kind == EdgeKind::DataflowIn)?;
            if !own.is_empty() {
                edges.extend(own.into_iter().map(turned));
                let mut keyed = Vec::with_capacity(edges.len());
                for e in edges {
                    keyed.push(((self.place(e.source.0)?, e.kind, e.is_turned), e));
                }
                keyed.sort_by_key(|a| a.0);
                edges = keyed.into_iter().map(|k| k.1).collect();
            }
        }
        edges.truncate(limit);
        Ok(edges)
    }

    /// Edges into a definition, found by the sets of its sources. Stops once there are at least `limit`
    /// edges.
    fn in_edges(
        &self,
        target: DefDoc,
        kinds: &[EdgeKind],
        limit: usize,
        keep: impl Fn(EdgeKind, u32) -> bool,
    ) -> Result<Vec<Edge>> {
        // The sets of all kinds are adjacent.
        let table = &self.rows().tables.edges_in;
        let sources = sets::members_of(table, self.opened().txn(), &target.0.to_be_bytes(), |key| {
            let kind = key.get(IN_KIND)?;
            let is_asked = kinds.iter().any(|k| k.code() == *kind);
            is_asked.then(|| sets::high_of(key, IN_KIND + 1)).flatten()
        })?;
        // Ranks are in memory: the sources of a hub are cut off by file before any record is read.
        let mut ranked: Vec<(u32, u32)> =
            sources.into_iter().map(|s| (self.directory().rank_of_def(s), s)).collect();
        ranked.sort_unstable();
        ranked.dedup();
        let mut edges = Vec::new();
        for same_file in ranked.chunk_by(|a, b| a.0 == b.0) {
            if edges.len() >= limit {
                break;
            }
            let mut here = Vec::with_capacity(same_file.len());
            for &(_, source) in same_file {
                let row = self.rows().def(source)?;
                here.push((position(row.idx, row.span), base_of(source, &row)));
            }
            here.sort_unstable_by_key(|h| h.0);
            for (_, base) in here {
                edges.extend(self.edges_of(base, &keep)?);
            }
        }
        Ok(edges)
    }

    fn flows_from_sorted(&self, source: DefDoc, limit: usize) -> Result<Vec<Edge>> {
        let keep = |kind, to| to == source.0 && kind == EdgeKind::DataflowIn;
        let mut edges = self.in_edges(source, &[EdgeKind::DataflowIn], limit, keep)?;
        edges.truncate(limit);
        Ok(edges.into_iter().map(turned).collect())
    }

    /// Passes the blocks of a term, ascending, to `each`, with the number of the block and the bytes, as
    /// long as it returns that it wants more.
    fn read_blocks(
        &self,
        table: &Table,
        term: &str,
        mut each: impl FnMut(u32, &[u8]) -> Option<bool>,
    ) -> Result<()> {
        // A word that cannot be a term of a file has no postings.
        let Ok(prefix) = term_prefix(term) else { return Ok(()) };
        let mut rows = table.prefix(self.opened().txn(), &prefix)?;
        while let Some(value) = rows.advance()? {
            let goes_on = postings::block_of_end(&rows.key()[prefix.len()..])
                .and_then(|block| each(block, value))
                .ok_or_else(|| table.corrupt(rows.key()))?;
            if !goes_on {
                break;
            }
        }
        Ok(())
    }

    fn read_postings(&self, table: &Table, term: &str, mut each: impl FnMut(u32, FieldCounts)) -> Result<()> {
        self.read_blocks(table, term, |block, value| postings::decode(block, value, &mut each).map(|()| true))
    }

    /// The terms that the keys of a table begin with. They have a row for each block of chunks or files; the first row
    /// of each names it.
    fn read_terms_from(&self, table: &Table, start: &str, most: usize) -> Result<Vec<String>> {
        let mut out: Vec<String> = Vec::new();
        let mut rows = table.prefix(self.opened().txn(), start.as_bytes())?;
        while out.len() < most && rows.advance()?.is_some() {
            let key = rows.key();
            let term = key.split(|b| *b == 0).next().and_then(|t| std::str::from_utf8(t).ok());
            let term = term.ok_or_else(|| table.corrupt(key))?;
            if out.last().is_none_or(|last| last != term) {
                out.push(term.to_owned());
            }
        }
        Ok(out)
    }

    fn read_doc_frequency(&self, term: &str, most: u32) -> Result<Option<u32>> {
        self.opened().frequency(term, most, || {
            let mut n = 0;
            self.read_blocks(&self.rows().tables.terms, term, |_, value| {
                n += postings::count(value)?;
                Some(n <= most)
            })?;
            Ok(n)
        })
    }

    fn read_unresolved(&self, file: FileDoc) -> Result<Vec<UnresolvedRecord>> {
        let table = &self.rows().tables.unresolved;
        let key = file.0.to_be_bytes();
        let stored = self.rows().unpacked(table, file.0)?;
        if stored.is_empty() {
            return Ok(Vec::new());
        }
        let all = decode_unresolved(&stored).ok_or_else(|| table.corrupt(&key))?;
        let docs = self.rows().file_defs(file.0)?;
        let facts = self.rows().facts(file.0)?;
        let facts = Facts::inside(&facts);
        let lines = LineIndex::new(&self.text(file));
        let record = |u: indexd_model::Unresolved| {
            let at = u.source.some().map_or(0, |d| d.index() + 1);
            Ok(UnresolvedRecord {
                source: DefDoc(*docs.get(at).ok_or_else(|| table.corrupt(&key))?),
                name: Arc::from(facts.str(u.name)),
                at: u.at,
                line: lines.line(u.at),
                role: u.role,
                reason: u.reason,
            })
        };
        all.into_iter().map(record).collect()
    }

    fn read_history_postings(&self, term: &str, out: &mut Vec<(FileDoc, u32)>) -> Result<()> {
        let tables = self.rows().tables;
        let key = text_prefix(term);
        let Some(stored) = tables.history_terms.get(self.opened().txn(), &key)? else {
            return Ok(());
        };
        let from = out.len();
        for (doc, n) in
            crate::history::decode_postings(stored).ok_or_else(|| tables.history_terms.corrupt(&key))?
        {
            let path = crate::history::path_of(self.rows(), doc)?;
            // A path that past commits touched need not exist any more.
            if let Some(file) = self.rows().file_doc(path)? {
                out.push((FileDoc(file), n));
            }
        }
        out[from..].sort_unstable();
        Ok(())
    }
}

impl Drop for Snapshot {
    fn drop(&mut self) {
        // After a panic no decoded row is trusted.
        if let Some(txn) = self.txn.take().filter(|_| !std::thread::panicking()) {
            self.store.inner.idle.put(txn);
        }
    }
}

/// Reverses an edge of dataflow that is recorded by its receiver.
fn turned(e: Edge) -> Edge {
    Edge { kind: EdgeKind::Dataflow, source: e.target, target: e.source, is_turned: true, ..e }
}

/// Sort key of the position of a definition in its file; the file itself comes first.
fn position(idx: DefIdx, span: Span) -> (u32, u32) {
    (span.start, idx.0.wrapping_add(1))
}

/// Bytes of decoded texts kept: those of some ten packs. With half of it a pack takes 5 to
/// 10 % longer.
const TEXT_CACHE_BYTES: usize = 16 << 20;
/// Bytes of decoded interfaces kept.
const INTERFACE_CACHE_BYTES: usize = 4 << 20;

/// Decoded blobs of all indexes that this process has open: the limit is the memory of the process, and two
/// indexes of one content share them.
static TEXTS: LazyLock<Cache<ContentKey, Text>> =
    LazyLock::new(|| Cache::new(TEXT_CACHE_BYTES, NonZeroUsize::MAX));
static INTERFACES: LazyLock<Cache<ContentKey, Interface>> =
    LazyLock::new(|| Cache::new(INTERFACE_CACHE_BYTES, NonZeroUsize::MAX));

/// Drops all decoded blobs that are kept for the next request.
pub fn forget_decoded() {
    TEXTS.clear();
    INTERFACES.clear();
}

/// Identifies a decoded blob independently of handle and index: a hash of the path and of all that shapes
/// the index apart from its files, and a hash of the bytes.
type ContentKey = (u64, [u8; 16]);

/// Identifies the facts of a file by the recipe of the index, its path, its bytes, and the outcome of
/// reading them.
fn content_key(store: &Store, rows: Rows, file: u32) -> Result<ContentKey> {
    let row = rows.file(file)?;
    let mut hash = [0; 16];
    hash.copy_from_slice(&row.hash[..16]);
    let recipe = xxh3_64_with_seed(&store.inner.config, u64::from(row.outcome));
    Ok((xxh3_64_with_seed(row.path.as_bytes(), recipe), hash))
}

/// A file's interface, from the cache or decoded.
pub(crate) fn interface(store: &Store, rows: Rows, file: u32) -> Result<Arc<Interface>> {
    let key = content_key(store, rows, file)?;
    if let Some(kept) = INTERFACES.get(&key) {
        return Ok(kept);
    }
    let (decoded, raw_bytes) = rows.interface(file)?;
    let decoded = Arc::new(decoded);
    // Decoded vectors and strings take about four times their packed bytes.
    INTERFACES.put(key, Arc::clone(&decoded), raw_bytes * 4 + 512);
    Ok(decoded)
}

/// Passes a text from [`Snapshot::packed_text`] to `read`; `None` for a damaged one.
pub fn read_packed_text<T>(packed: &[u8], read: impl FnOnce(&str) -> T) -> Option<T> {
    blob::read_in(packed, |raw| std::str::from_utf8(raw).ok().map(read))
}

/// A text with its lines, which are computed on first use.
pub(crate) struct Text {
    pub text: Arc<str>,
    lines: OnceLock<Arc<LineIndex>>,
}

impl Text {
    /// Its lines.
    pub fn lines(&self) -> &Arc<LineIndex> {
        self.lines.get_or_init(|| Arc::new(LineIndex::new(&self.text)))
    }
}

/// A file's text, from the cache or decompressed. It is not cached, since it is about to be replaced.
pub(crate) fn last_text(store: &Store, rows: Rows, file: u32) -> Result<Arc<str>> {
    match TEXTS.get(&content_key(store, rows, file)?) {
        Some(kept) => Ok(Arc::clone(&kept.text)),
        None => rows.text(file),
    }
}

/// A file's text, from the cache or decompressed.
pub(crate) fn text(store: &Store, rows: Rows, file: u32) -> Result<Arc<Text>> {
    let key = content_key(store, rows, file)?;
    if let Some(kept) = TEXTS.get(&key) {
        return Ok(kept);
    }
    let text = rows.text(file)?;
    // A line of code has about thirty bytes, and takes four more here.
    let bytes = text.len() + text.len() / 7 + 128;
    let text = Arc::new(Text { text, lines: OnceLock::new() });
    TEXTS.put(key, Arc::clone(&text), bytes);
    Ok(text)
}

impl FactsView for Snapshot {
    fn providers(&self, key: Key) -> Vec<FileDoc> {
        let mut files = self.providers_unsorted(key);
        if files.len() > 1 {
            files.sort_unstable_by_key(|f| self.directory().rank(*f));
        }
        files
    }

    fn interface(&self, file: FileDoc) -> Arc<Interface> {
        self.must(interface(&self.store, self.rows(), file.0))
    }

    fn path(&self, file: FileDoc) -> Arc<str> {
        Arc::from(self.must(self.rows().file(file.0)).path.as_str())
    }

    fn file_by_path(&self, path: &str) -> Option<FileDoc> {
        self.must(self.rows().file_doc(path)).map(FileDoc)
    }
}

impl IndexView for Snapshot {
    fn signature(&self) -> String {
        ContentHash(self.meta.signature()).to_string()
    }

    fn head(&self) -> String {
        self.meta.head.clone().unwrap_or_else(|| "none".into())
    }

    fn stats(&self) -> CorpusStats {
        self.meta.stats
    }

    fn files(&self) -> Vec<FileDoc> {
        self.directory().files.clone()
    }

    fn file(&self, file: FileDoc) -> FileRecord {
        let row = self.must(self.rows().file(file.0));
        let start = row.chunk_start.to_native();
        let corrupt = || self.rows().tables.files.corrupt(&file.0.to_be_bytes());
        FileRecord {
            path: Arc::from(row.path.as_str()),
            language: self.must(Language::from_code(row.language).ok_or_else(corrupt)),
            roles: FileRoles(row.roles.to_native()),
            outcome: self.must(Outcome::from_code(row.outcome).ok_or_else(corrupt)),
            hash: ContentHash(row.hash),
            size: row.size.to_native(),
            n_lines: row.n_lines.to_native(),
            chunks: start..start + row.n_chunks.to_native(),
            path_len: row.path_len.to_native(),
        }
    }

    fn chunks_in(&self, file: FileDoc) -> Range<u32> {
        let row = self.must(self.rows().file(file.0));
        let start = row.chunk_start.to_native();
        start..start + row.n_chunks.to_native()
    }

    fn text(&self, file: FileDoc) -> Arc<str> {
        Arc::clone(&self.must(text(&self.store, self.rows(), file.0)).text)
    }

    fn files_that_may_hold(&self, need: &Need) -> Vec<FileDoc> {
        if *need == Need::Nothing {
            return self.files();
        }
        let mut found = Vec::new();
        self.must(self.rows().all_pieces(&self.rows().tables.grams, |file, signature| {
            if need.is_met_by(signature) {
                found.push(FileDoc(file));
            }
            Ok(())
        }));
        found.sort_unstable_by_key(|f| self.directory().rank(*f));
        found
    }

    fn def_places(&self, file: FileDoc) -> Vec<DefPlace> {
        let rows = self.rows();
        let handles = self.must(rows.file_defs(file.0));
        let place = |def: &u32| {
            let row = self.must(rows.def(*def));
            DefPlace { span: row.span, name_span: row.name_span, flags: row.flags }
        };
        // The first handle is that of the file itself.
        handles[1..].iter().map(place).collect()
    }

    fn locals(&self, file: FileDoc) -> Vec<u32> {
        let facts = self.must(self.rows().facts(file.0));
        Facts::inside(&facts).locals()
    }

    fn lines(&self, file: FileDoc) -> Arc<LineIndex> {
        Arc::clone(self.must(text(&self.store, self.rows(), file.0)).lines())
    }

    fn chunk(&self, chunk: ChunkDoc) -> ChunkRecord {
        self.must(self.rows().chunk(chunk.0))
    }

    fn def_doc(&self, file: FileDoc, def: DefIdx) -> DefDoc {
        let at = def.some().map_or(0, |d| d.index() + 1);
        self.must(self.rows().file_defs(file.0)).get(at).map_or(DefDoc::NONE, |d| DefDoc(*d))
    }

    fn def(&self, def: DefDoc) -> DefRecord {
        self.must(self.def_record(def))
    }

    fn chunks_of(&self, def: DefDoc) -> Vec<ChunkDoc> {
        let row = self.must(self.rows().def(def.0));
        let Some(first) = row.first_chunk else {
            return Vec::new();
        };
        let file = self.must(self.rows().file(row.file));
        let start = file.chunk_start.to_native();
        let mut out = Vec::new();
        for doc in start + first..start + file.n_chunks.to_native() {
            let chunk = self.must(self.rows().chunk(doc));
            if chunk.def == def {
                out.push(ChunkDoc(doc));
                if out.len() >= usize::from(chunk.n_parts) {
                    break;
                }
            }
        }
        out
    }

    fn defs_named(&self, name: &str) -> Vec<DefDoc> {
        let found = sets::members(&self.rows().tables.names, self.opened().txn(), &text_prefix(name));
        let mut found = self.must(found);
        // A key holds a cut of very long names.
        found.retain(|d| self.must(self.rows().def(*d)).name() == name);
        self.must(self.sort_defs(found))
    }

    fn postings(&self, term: &str, out: &mut Vec<Posting>) {
        let each = |doc, counts| out.push(Posting { chunk: ChunkDoc(doc), counts });
        self.must(self.read_postings(&self.rows().tables.terms, term, each));
    }

    fn doc_frequency_within(&self, term: &str, most: u32) -> Option<u32> {
        self.must(self.read_doc_frequency(term, most))
    }

    fn terms_from(&self, start: &str, most: usize) -> Vec<String> {
        self.must(self.read_terms_from(&self.rows().tables.terms, start, most))
    }

    fn path_postings(&self, term: &str, out: &mut Vec<PathPosting>) {
        let each = |doc, counts: [u8; 5]| out.push(PathPosting { file: FileDoc(doc), count: counts[0] });
        self.must(self.read_postings(&self.rows().tables.path_terms, term, each));
    }

    fn edges_from(&self, source: DefDoc, kinds: &[EdgeKind]) -> Vec<Edge> {
        self.must(self.edges_from_sorted(source, kinds))
    }

    fn flows_from(&self, source: DefDoc, limit: usize) -> Vec<Edge> {
        self.must(self.flows_from_sorted(source, limit))
    }

    fn edges_to(&self, target: DefDoc, kinds: &[EdgeKind], limit: usize) -> Vec<Edge> {
        self.must(self.edges_to_sorted(target, kinds, limit))
    }

    fn in_degree(&self, target: DefDoc, kind: EdgeKind) -> u32 {
        if matches!(kind, EdgeKind::Dataflow | EdgeKind::DataflowIn) {
            return self.edges_to(target, &[kind], usize::MAX).len() as u32;
        }
        let table = &self.rows().tables.edges_in;
        self.must(sets::count(table, self.opened().txn(), &in_prefix(target.0, kind.code())))
    }

    fn unresolved(&self, file: FileDoc) -> Vec<UnresolvedRecord> {
        self.must(self.read_unresolved(file))
    }

    fn history_postings(&self, term: &str, out: &mut Vec<(FileDoc, u32)>) {
        self.must(self.read_history_postings(term, out));
    }

    fn history(&self, file: FileDoc) -> FileHistory {
        if self.meta.history.is_none() {
            return FileHistory::default();
        }
        let path = self.path(file);
        self.must(crate::history::of(self.rows(), &path)).0
    }

    fn touched(&self, file: FileDoc, out: &mut Vec<Touched>) {
        let path = self.path(file);
        out.append(&mut self.must(crate::history::of(self.rows(), &path)).1);
    }

    fn token_count(&self, tokenizer: &str, text_hash: [u8; 16]) -> Option<u32> {
        let stored =
            self.must(self.rows().tables.tokens.get(self.opened().txn(), &token_key(tokenizer, text_hash)));
        bytes::Reader::new(stored?).u32()
    }
}

/// The key of a token count.
pub(crate) fn token_key(tokenizer: &str, text_hash: [u8; 16]) -> Vec<u8> {
    let mut key = text_prefix(tokenizer);
    key.extend_from_slice(&text_hash);
    key
}

// A snapshot may be moved from thread to thread.
const _: fn() = || {
    fn is_send<T: Send>() {}
    is_send::<Snapshot>();
};
