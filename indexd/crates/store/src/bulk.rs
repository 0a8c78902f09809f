//! The first build: everything is collected, sorted and appended, which takes a twelfth of the time of
//! random writes and makes a quarter of the bytes.
//!
//! Worker threads [`Bulk::add`] files while they parse; [`Bulk::seal`] ranks them by path and returns the
//! in-memory view to link against; workers then read [`Bulk::body`] and [`Bulk::put_links`];
//! [`Bulk::finish`] writes the tables.

mod sink;
mod spill;
mod terms;

use crate::codec::enums::Coded;
use crate::codec::facts::Packer;
use crate::codec::records::encode_stat;
use crate::codec::{blob, chunks, edges};
use crate::error::{Result, StoreError};
use crate::input::{FileInput, History, Overlays};
use crate::linked::{by_source, decode_sorted, encode_sorted, short_keys};
use crate::meta::{Free, Meta, room_for};
use crate::prepared::{self, DefLines, FileRows};
use crate::rows::{encode_runs, in_prefix, path_key, text_prefix};
use crate::signature::{self, Leaves};
use crate::snapshot::read_packed_text;
use crate::store::Store;
use crate::table::Table;
use crate::{compact, history, sets};
use indexd_model::facts::Arena;
use indexd_model::memory::MemoryFacts;
use indexd_model::terms::Vocabulary;
use indexd_model::view::N_FIELDS;
use indexd_model::{Chunk, ContentHash, DefRef, FileDoc, Interface, LineIndex, Links, RepoPath};
use indexd_os::FileStat;
pub(crate) use sink::Sink;
use spill::{Place, Spill};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use terms::{Dictionary, Kind, Packed, Vocabularies};

/// A first build. Dropping it before [`Bulk::finish`] leaves an index that opens as fresh.
pub struct Bulk {
    store: Store,
    spill: Spill,
    vocabularies: Vocabularies,
    /// One for each thread that has added files.
    packers: Mutex<Vec<Packer>>,
    files: Mutex<Vec<Entry>>,
    sealed: OnceLock<Sealed>,
    /// An earlier index to copy cached token counts from.
    counted: Option<Store>,
}

/// One file that was added.
struct Entry {
    path: RepoPath,
    hash: ContentHash,
    size: u64,
    n_lines: u32,
    text_len: u32,
    stat: FileStat,
    interface: Arc<Interface>,
    /// See [`prepared::blobs`].
    blobs: [Place; 4],
    chunks: Vec<Chunk>,
    lens: Vec<[u16; N_FIELDS]>,
    digests: Vec<u64>,
    lines: Vec<DefLines>,
    /// Index of the vocabulary that numbered `terms` and `path_terms`.
    vocabulary: u32,
    terms: Vec<u8>,
    path_terms: Vec<u8>,
    path_len: u16,
}

/// All files in path order, with their handles.
struct Sealed {
    files: Vec<Entry>,
    /// The handle of each file itself; those of its definitions follow.
    owns: Vec<u32>,
    /// The first chunk handle of each file.
    chunk_starts: Vec<u32>,
    next_def: u32,
    next_chunk: u32,
    linked: Mutex<Vec<Linked>>,
}

/// The links of one file, packed.
#[derive(Clone, Default)]
struct Linked {
    /// Rows of sources, in order: handle and bytes of the row.
    sources: Vec<(u32, u32)>,
    rows: Vec<u8>,
    unresolved: Vec<u8>,
    lookups: Vec<u8>,
    /// Prefixes of the sets of `edges_in`, each with a source.
    targets: Vec<([u8; 5], u32)>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Bulk {
    pub(crate) fn new(store: &Store) -> Result<Self> {
        Ok(Self {
            store: store.clone(),
            spill: Spill::new(store.dir())?,
            vocabularies: Vocabularies::default(),
            packers: Mutex::default(),
            files: Mutex::default(),
            sealed: OnceLock::new(),
            counted: None,
        })
    }

    /// Copies the token counts of another index at [`Bulk::finish`]. They belong to texts, so any index may
    /// use them.
    pub fn keep_counts(&mut self, of: &Store) {
        self.counted = Some(of.clone());
    }

    /// Adds one file. Threads may add at the same time, in any order.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`] when chunks and terms do not match or the build is sealed,
    /// [`StoreError::Full`] or [`StoreError::Io`] when blobs cannot be written.
    pub fn add(&self, input: FileInput, vocabulary: &Vocabulary) -> Result<()> {
        prepared::check(&input)?;
        let mut packer = lock(&self.packers).pop().unwrap_or_default();
        let blobs = prepared::blobs(&input.facts, &input.text, &mut packer)?;
        lock(&self.packers).push(packer);
        let blobs = self.spill.push(blobs)?;
        let (vocabulary, terms, path_terms) = self.vocabularies.pack(vocabulary, &input.terms)?;
        let entry = Entry {
            hash: input.hash,
            size: input.size,
            n_lines: input.lines.n_lines(),
            text_len: input.text.len() as u32,
            stat: input.stat,
            blobs,
            lens: input.terms.chunks.iter().map(|c| c.lens).collect(),
            digests: prepared::digests(&input.facts.chunks, &input.text),
            lines: prepared::def_lines(&input.facts.interface, &input.lines),
            vocabulary,
            terms,
            path_terms,
            path_len: input.terms.path_len,
            chunks: input.facts.chunks,
            interface: Arc::new(input.facts.interface),
            path: input.path,
        };
        if self.sealed.get().is_some() {
            return Err(StoreError::Inconsistent("a file after sealing".into()));
        }
        lock(&self.files).push(entry);
        Ok(())
    }

    /// Ends adding. The handles of the view are final: ranks by path.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`] when a path was added twice, or when sealed already.
    pub fn seal(&self) -> Result<Arc<MemoryFacts>> {
        drop(std::mem::take(&mut *lock(&self.packers)));
        let mut files = std::mem::take(&mut *lock(&self.files));
        files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
        if let Some(w) = files.windows(2).find(|w| w[0].path == w[1].path) {
            return Err(StoreError::Inconsistent(format!("{} added twice", w[0].path)));
        }
        let (mut owns, mut chunk_starts) = (Vec::with_capacity(files.len()), Vec::with_capacity(files.len()));
        let (mut next_def, mut next_chunk) = (0u32, 0u32);
        for f in &files {
            owns.push(next_def);
            chunk_starts.push(next_chunk);
            next_def += 1 + f.interface.defs.len() as u32;
            next_chunk += room_for(f.chunks.len() as u32);
        }
        let view = files.iter().map(|f| (f.path.clone(), Arc::clone(&f.interface))).collect();
        let linked = Mutex::new(vec![Linked::default(); files.len()]);
        let sealed = Sealed { files, owns, chunk_starts, next_def, next_chunk, linked };
        self.sealed.set(sealed).map_err(|_| StoreError::Inconsistent("sealed twice".into()))?;
        Ok(Arc::new(MemoryFacts::new(view)))
    }

    fn sealed(&self) -> Result<&Sealed> {
        self.sealed.get().ok_or_else(|| StoreError::Inconsistent("not sealed yet".into()))
    }

    /// Returns the body of a file, for linking.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`] before sealing, [`StoreError::Io`] when it cannot be read back.
    pub fn body(&self, file: FileDoc) -> Result<Arena> {
        let entry = self.sealed()?.entry(file)?;
        let unpacked = crate::codec::facts::unpack_body(&self.spill.read(entry.blobs[1])?);
        let (body, _) = unpacked.ok_or_else(|| StoreError::Corrupt(format!("facts of {}", entry.path)))?;
        Ok(body)
    }

    /// Hash of a file's bytes.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`] before sealing.
    pub fn hash(&self, file: FileDoc) -> Result<ContentHash> {
        Ok(self.sealed()?.entry(file)?.hash)
    }

    /// Stores the links of one file. Threads may put at the same time; a file not put has no links.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`] when a link names a definition that does not exist.
    pub fn put_links(&self, file: FileDoc, links: Links) -> Result<()> {
        let sealed = self.sealed()?;
        let entry = sealed.entry(file)?;
        let mut out = Linked {
            unresolved: blob::compress(&edges::encode_unresolved(&links.unresolved))?,
            lookups: encode_sorted(&short_keys(&links.lookups)),
            ..Linked::default()
        };
        if !links.links.is_empty() {
            let lines = self.line_index(entry)?;
            let own = sealed.owns[file.index()];
            let target_of = |r: DefRef| sealed.def(r);
            for (slot, uses) in by_source(&links, entry.interface.defs.len() + 1, &lines, target_of)? {
                let source = own + slot as u32;
                let base = match slot {
                    0 => edges::Base { source, at: 0, line: 1 },
                    _ => edges::Base {
                        source,
                        at: entry.interface.defs[slot - 1].span.start,
                        line: entry.lines[slot - 1].first(),
                    },
                };
                let row = edges::encode(base, &uses);
                out.sources.push((source, row.len() as u32));
                out.rows.extend_from_slice(&row);
                for same in uses.chunk_by(|a, b| (a.kind, a.target) == (b.kind, b.target)) {
                    out.targets.push((in_prefix(same[0].target, same[0].kind.code()), source));
                }
            }
            out.rows.shrink_to_fit();
            out.targets.shrink_to_fit();
        }
        lock(&sealed.linked)[file.index()] = out;
        Ok(())
    }

    fn line_index(&self, entry: &Entry) -> Result<LineIndex> {
        let lines = read_packed_text(&self.spill.read(entry.blobs[2])?, LineIndex::new);
        lines.ok_or_else(|| StoreError::Corrupt(format!("text of {}", entry.path)))
    }

    /// Writes everything, commits it as the first state and returns its generation, 1.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`] before sealing, [`StoreError::Full`] when the disk is full. The index
    /// then opens as fresh.
    pub fn finish(self, head: Option<&str>, history: Option<&History>, overlays: &Overlays) -> Result<u64> {
        let Self { store, spill, vocabularies, sealed, counted, .. } = self;
        let sealed = sealed.into_inner().ok_or_else(|| StoreError::Inconsistent("not sealed yet".into()))?;
        let mut sink = Sink::new(&store);
        sealed.write_edges(&mut sink)?;
        sealed.write_blobs(&mut sink, &spill)?;
        drop(spill);
        let dictionary = Dictionary::new(&vocabularies);
        drop(vocabularies);
        sealed.write_terms(&mut sink, &dictionary)?;
        drop(dictionary);
        let mut meta = Meta::empty(store.inner.config);
        sealed.write_files(&mut sink, &mut meta)?;
        sealed.write_defs(&mut sink)?;
        sealed.write_providers(&mut sink)?;
        if let Some(counted) = counted {
            compact::copy_counts(&counted, &mut sink)?;
        }
        sink.close_runs()?;
        meta.root = sealed.write_leaves(&mut sink)?.unwrap_or(meta.root);
        let tables = sink.tables();
        if let Some(history) = history {
            history::replace(tables, sink.txn()?, history)?;
            meta.history = history.known_digest();
        }
        for (path, overlay) in &overlays.files {
            tables.overlays.put(sink.txn()?, &path_key(path), overlay)?;
        }
        meta.overlays = overlays.known_digest();
        meta.head = head.map(str::to_owned);
        meta.generation = 1;
        let free = Free {
            next_file: sealed.files.len() as u32,
            next_def: sealed.next_def,
            next_chunk: sealed.next_chunk,
            ..Free::default()
        };
        free.write(tables, sink.txn()?)?;
        meta.write(tables, sink.txn()?)?;
        sink.commit()?;
        store.sync()?;
        store.mark_built()?;
        store.set_generation(meta.generation);
        Ok(meta.generation)
    }
}

impl Sealed {
    fn entry(&self, file: FileDoc) -> Result<&Entry> {
        self.files.get(file.index()).ok_or_else(|| StoreError::Inconsistent(format!("no file {file:?}")))
    }

    /// The handle of a definition.
    fn def(&self, r: DefRef) -> Result<u32> {
        let slot = r.def.some().map_or(0, |d| d.0 + 1);
        if slot as usize > self.entry(r.file)?.interface.defs.len() {
            return Err(StoreError::Inconsistent(format!(
                "a link to {:?} of {:?}, which is not there",
                r.def, r.file
            )));
        }
        Ok(self.owns[r.file.index()] + slot)
    }

    fn each(&self) -> impl Iterator<Item = (u32, &Entry)> + Clone {
        (0u32..).zip(&self.files)
    }

    fn docs(&self, file: u32) -> Vec<u32> {
        let own = self.owns[file as usize];
        (own..=own + self.files[file as usize].interface.defs.len() as u32).collect()
    }

    fn rows<'a>(&self, file: u32, entry: &'a Entry, docs: &'a [u32]) -> FileRows<'a> {
        FileRows {
            file,
            docs,
            interface: &entry.interface,
            chunks: &entry.chunks,
            lines: &entry.lines,
            n_lines: entry.n_lines,
            text_len: entry.text_len,
        }
    }

    fn write_edges(&self, sink: &mut Sink) -> Result<()> {
        let tables = sink.tables();
        let linked = std::mem::take(&mut *lock(&self.linked));
        let mut lookups = Vec::new();
        let mut targets = Vec::new();
        for (file, l) in (0u32..).zip(&linked) {
            let mut rows = &l.rows[..];
            for &(source, len) in &l.sources {
                let (row, rest) = rows.split_at(len as usize);
                rows = rest;
                sink.append(&tables.edges_out, &source.to_be_bytes(), row)?;
            }
            let keys =
                decode_sorted(&l.lookups).ok_or_else(|| StoreError::Inconsistent("packed lookups".into()))?;
            lookups.extend(keys.into_iter().map(|k| (k.to_be_bytes(), file)));
            targets.extend_from_slice(&l.targets);
        }
        for (file, l) in (0u32..).zip(&linked) {
            sink.append_blob(&tables.unresolved, file, &l.unresolved)?;
            sink.append_blob(&tables.lookups, file, &blob::plain(&l.lookups))?;
        }
        drop(linked);
        write_sets(sink, &tables.dependants, lookups)?;
        write_sets(sink, &tables.edges_in, targets)
    }

    fn write_blobs(&self, sink: &mut Sink, spill: &Spill) -> Result<()> {
        let tables = sink.tables();
        for (i, table) in tables.blobs().into_iter().enumerate() {
            for (file, entry) in self.each() {
                sink.append_blob(table, file, &spill.read(entry.blobs[i])?)?;
            }
        }
        Ok(())
    }

    fn write_terms(&self, sink: &mut Sink, dictionary: &Dictionary) -> Result<()> {
        let tables = sink.tables();
        let chunks = self.each().map(|(i, e)| Packed {
            start: self.chunk_starts[i as usize],
            n: e.chunks.len(),
            vocabulary: e.vocabulary,
            bytes: &e.terms,
        });
        dictionary.write(&tables.terms, sink, Kind::Chunk, chunks)?;
        let paths = self.each().map(|(i, e)| Packed {
            start: i,
            n: 1,
            vocabulary: e.vocabulary,
            bytes: &e.path_terms,
        });
        dictionary.write(&tables.path_terms, sink, Kind::Path, paths)
    }

    fn write_files(&self, sink: &mut Sink, meta: &mut Meta) -> Result<()> {
        let tables = sink.tables();
        let mut keys: Vec<_> = self.each().map(|(file, e)| (path_key(&e.path), file)).collect();
        keys.sort_unstable();
        for (key, file) in keys {
            sink.append(&tables.paths, &key, &file.to_be_bytes())?;
        }
        for (file, e) in self.each() {
            let key = file.to_be_bytes();
            let docs = self.docs(file);
            let rows = self.rows(file, e, &docs);
            let start = self.chunk_starts[file as usize];
            let room = (start, room_for(e.chunks.len() as u32));
            let row = rows.file(&e.path, &e.hash, e.size, e.path_len, room);
            sink.append(&tables.files, &key, &row.encode())?;
            sink.append(&tables.file_defs, &key, &encode_runs(&docs))?;
            sink.append(&tables.stats, &key, &encode_stat(&e.stat))?;
            for (i, (lens, digest)) in e.lens.iter().zip(&e.digests).enumerate() {
                let doc = start + i as u32;
                let row = chunks::encode(doc, &rows.chunk(i, lens, *digest));
                sink.append(&tables.chunks, &doc.to_be_bytes(), &row)?;
                for (sum, len) in meta.stats.field_lens.iter_mut().zip(lens) {
                    *sum += u64::from(*len);
                }
            }
            meta.stats.n_chunks += e.chunks.len() as u64;
            meta.stats.n_files += 1;
            meta.stats.path_len += u64::from(e.path_len);
            meta.n_defs += e.interface.defs.len() as u64;
            meta.source_bytes += e.size;
        }
        Ok(())
    }

    fn write_defs(&self, sink: &mut Sink) -> Result<()> {
        let tables = sink.tables();
        let mut names = Vec::with_capacity(self.next_def as usize);
        for (file, e) in self.each() {
            let docs = self.docs(file);
            self.rows(file, e, &docs).defs(|doc, row| sink.append(&tables.defs, &doc.to_be_bytes(), &row))?;
            let named = prepared::names(&e.interface, &docs);
            names.extend(named.map(|(name, doc)| (text_prefix(name), doc)));
        }
        // Two long names may be cut to one key and share a row.
        write_sets(sink, &tables.names, names)
    }

    fn write_providers(&self, sink: &mut Sink) -> Result<()> {
        let tables = sink.tables();
        let mut pairs = Vec::new();
        for (file, e) in self.each() {
            let keys = e.interface.entries.chunk_by(|a, b| a.key == b.key);
            pairs.extend(keys.map(|run| (run[0].key.0.to_be_bytes(), file)));
        }
        write_sets(sink, &tables.providers, pairs)
    }

    fn write_leaves(&self, sink: &mut Sink) -> Result<Option<[u8; 32]>> {
        let tables = sink.tables();
        let mut all: Vec<_> = self
            .files
            .iter()
            .map(|f| {
                let leaf = signature::leaf(&f.path, &f.hash, f.interface.language, f.interface.outcome);
                (signature::leaf_key(&f.path), leaf)
            })
            .collect();
        all.sort_unstable();
        let mut leaves = Leaves::default();
        let txn = sink.txn()?;
        for (key, leaf) in all {
            leaves.set(tables, txn, &key, Some(leaf))?;
        }
        leaves.finish(tables, txn)
    }
}

/// Writes sets from pairs of prefix and member, in any order.
fn write_sets<P: AsRef<[u8]> + Ord>(sink: &mut Sink, table: &Table, mut pairs: Vec<(P, u32)>) -> Result<()> {
    pairs.sort_unstable();
    let mut members = Vec::new();
    for run in pairs.chunk_by(|a, b| a.0 == b.0) {
        members.clear();
        members.extend(run.iter().map(|pair| pair.1));
        members.dedup();
        for (key, value) in sets::rows(run[0].0.as_ref(), &members) {
            sink.append(table, &key, &value)?;
        }
    }
    Ok(())
}
