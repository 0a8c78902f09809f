//! Reads rows, for snapshots, the write transaction, the dump and `verify`.

use crate::codec::bytes::{Reader, put, put_delta};
use crate::codec::defs::DefRow;
use crate::codec::edges::{self, Base, Use};
use crate::codec::records::{ArchivedFileRow, FileRow, decode_stat};
use crate::codec::{blob, chunks, facts, postings, set};
use crate::error::{Result, StoreError};
use crate::opened::{ReadTxn, Runs};
use crate::sets;
use crate::snapshot::read_packed_text;
use crate::stream::Blobs;
use crate::table::Table;
use crate::tables::Tables;
use heed::RoTxn;
use indexd_model::limits::TERM_BYTES_MAX;
use indexd_model::view::ChunkRecord;
use indexd_model::{DefIdx, EdgeKind, FileFacts, Interface, RepoPath};
use indexd_os::FileStat;
use std::borrow::Cow;
use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    /// Buffer in which the pieces of a blob are joined; see [`blob::read_in`].
    static BLOB: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Bytes of the longest path that is its own key; LMDB's limit is 511.
const PATH_KEY_BYTES_MAX: usize = 480;

/// The key of a path. Longer paths are cut, with a NUL, which no path holds, and a hash that distinguishes
/// them.
pub(crate) fn path_key(path: &str) -> Cow<'_, [u8]> {
    if path.len() <= PATH_KEY_BYTES_MAX {
        return Cow::Borrowed(path.as_bytes());
    }
    let mut key = path.as_bytes()[..PATH_KEY_BYTES_MAX - 17].to_vec();
    key.push(0);
    key.extend_from_slice(&blake3::hash(path.as_bytes()).as_bytes()[..16]);
    Cow::Owned(key)
}

/// Returns true if a path key was cut, so that keys are not in the order of paths.
pub(crate) fn is_cut(key: &[u8]) -> bool {
    key.len() == PATH_KEY_BYTES_MAX && key[PATH_KEY_BYTES_MAX - 17] == 0
}

/// The prefix of a name or a term before the number of a row: the text and a NUL. Names that are longer or
/// hold a NUL are cut; a reader by this key must compare the name itself.
pub(crate) fn text_prefix(text: &str) -> Vec<u8> {
    let bytes = &text.as_bytes()[..text.len().min(PATH_KEY_BYTES_MAX)];
    let mut key = Vec::with_capacity(bytes.len() + 8);
    key.extend(bytes.iter().take_while(|b| **b != 0));
    key.push(0);
    key
}

/// The length of the prefix of a key that begins with [`text_prefix`].
pub(crate) fn text_prefix_len(key: &[u8]) -> usize {
    key.iter().position(|b| *b == 0).map_or(key.len(), |nul| nul + 1)
}

/// Splits a row of a table of sets into the name of the set and the members in this row.
pub(crate) fn set_row<'k>(
    table: &Table,
    key: &'k [u8],
    value: &[u8],
    prefix_len: impl Fn(&[u8]) -> usize,
) -> Result<(&'k [u8], Vec<u32>)> {
    let len = prefix_len(key);
    let mut ids = Vec::new();
    let read = sets::high_of(key, len).and_then(|high| set::decode(high, value, &mut ids));
    read.map(|()| (&key[..len], ids)).ok_or_else(|| table.corrupt(key))
}

/// The prefix of a term before the number of a block: [`text_prefix`] of it.
pub(crate) fn term_prefix(term: &str) -> Result<Vec<u8>> {
    let mut key = Vec::with_capacity(term.len() + 8);
    push_term_prefix(&mut key, term)?;
    Ok(key)
}

/// Appends the prefix of a term.
pub(crate) fn push_term_prefix(key: &mut Vec<u8>, term: &str) -> Result<()> {
    // The caller cuts terms; a longer one or one with a NUL could share its key with another.
    if term.len() > TERM_BYTES_MAX || term.contains('\0') {
        return Err(StoreError::Inconsistent(format!("no term: {term:?}")));
    }
    key.extend_from_slice(term.as_bytes());
    key.push(0);
    Ok(())
}

/// Splits the key of a posting block into the term and the number of the block.
pub(crate) fn posting_key(key: &[u8]) -> Option<(&[u8], u32)> {
    let nul = key.iter().position(|b| *b == 0)?;
    Some((&key[..nul], postings::block_of_end(&key[nul + 1..])?))
}

/// The key of one piece of a file's blob.
pub(crate) fn piece_key(file: u32, piece: u16) -> [u8; 6] {
    let mut key = [0; 6];
    key[..4].copy_from_slice(&file.to_be_bytes());
    key[4..].copy_from_slice(&piece.to_be_bytes());
    key
}

/// Offset of the kind in a key that begins with [`in_prefix`].
pub(crate) const IN_KIND: usize = 4;

/// The prefix of the set of sources of one target by one kind.
pub(crate) fn in_prefix(target: u32, kind: u8) -> [u8; 5] {
    let mut key = [0; 5];
    key[..4].copy_from_slice(&target.to_be_bytes());
    key[IN_KIND] = kind;
    key
}

/// Encodes handles as runs of consecutive ones.
pub(crate) fn encode_runs(ids: &[u32]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut expected = 0;
    for run in ids.chunk_by(|a, b| a.wrapping_add(1) == *b) {
        put_delta(&mut out, run[0], expected);
        put(&mut out, run.len() as u64);
        expected = run[0].wrapping_add(run.len() as u32);
    }
    out
}

/// Reverses [`encode_runs`].
pub(crate) fn decode_runs(bytes: &[u8]) -> Option<Vec<u32>> {
    let mut r = Reader::new(bytes);
    let mut out = Vec::new();
    let mut expected = 0;
    while !r.is_empty() {
        let start = r.delta(expected)?;
        let n = r.u32()?;
        expected = start.checked_add(n)?;
        // These are the definitions of one file; damage must not fill the memory.
        if out.len() + n as usize > indexd_model::limits::DEFS_PER_FILE_MAX + 1 {
            return None;
        }
        out.extend(start..expected);
    }
    Some(out)
}

fn doc(bytes: &[u8]) -> Option<u32> {
    bytes.try_into().ok().map(u32::from_be_bytes)
}

/// Rows of one state.
#[derive(Clone, Copy)]
pub(crate) struct Rows<'t> {
    /// Tables.
    pub tables: &'t Tables,
    /// The state.
    pub txn: &'t RoTxn<'t>,
    /// Decoded rows of the same state, where many rows are read.
    pub opened: Option<&'t ReadTxn>,
}

impl<'t> Rows<'t> {
    /// The handle of the file at `path`.
    pub fn file_doc(&self, path: &str) -> Result<Option<u32>> {
        self.file_doc_of(&path_key(path))
    }

    /// The handle of the file with this key of its path.
    pub fn file_doc_of(&self, key: &[u8]) -> Result<Option<u32>> {
        let read = || {
            let Some(bytes) = self.tables.paths.get(self.txn, key)? else {
                return Ok(None);
            };
            doc(bytes).map(Some).ok_or_else(|| self.tables.paths.corrupt(key))
        };
        self.opened.map_or_else(read, |opened| opened.path(key, read))
    }

    /// A file's record.
    pub fn file(&self, file: u32) -> Result<&'t ArchivedFileRow> {
        let t = &self.tables.files;
        let key = file.to_be_bytes();
        match self.opened {
            Some(opened) => {
                opened.file(file, |txn| FileRow::access(t.need(txn, &key)?).ok_or_else(|| t.corrupt(&key)))
            }
            None => FileRow::access(t.need(self.txn, &key)?).ok_or_else(|| t.corrupt(&key)),
        }
    }

    /// Calls `each` with every path, which is valid, and its stat, in no particular order. A stat is zero when
    /// the cache row is missing, which matches no file.
    pub fn all_stats(&self, mut each: impl FnMut(&str, FileStat)) -> Result<()> {
        let mut stats: Vec<FileStat> = Vec::new();
        let t = &self.tables.stats;
        let mut rows = t.iter(self.txn)?;
        while let Some(value) = rows.advance()? {
            let file = t.handle(rows.key())?;
            if stats.len() <= file as usize {
                stats.resize(file as usize + 1, FileStat::default());
            }
            stats[file as usize] = decode_stat(value).ok_or_else(|| t.corrupt(rows.key()))?;
        }
        let t = &self.tables.paths;
        let mut rows = t.iter(self.txn)?;
        while let Some(value) = rows.advance()? {
            let key = rows.key();
            let file = doc(value).ok_or_else(|| t.corrupt(key))?;
            let path = match is_cut(key) {
                true => Some(self.file(file)?.path.as_str()),
                false => std::str::from_utf8(key).ok(),
            };
            let path = path.filter(|path| RepoPath::is_valid(path)).ok_or_else(|| t.corrupt(key))?;
            each(path, stats.get(file as usize).copied().unwrap_or_default());
        }
        Ok(())
    }

    /// Calls `each` with the file and the handle of every definition, files in order of their handles.
    pub fn all_file_defs(&self, mut each: impl FnMut(u32, u32)) -> Result<()> {
        let t = &self.tables.file_defs;
        for row in t.iter(self.txn)? {
            let (key, value) = row?;
            let file = t.handle(&key)?;
            let defs = decode_runs(value).ok_or_else(|| t.corrupt(&key))?;
            defs.into_iter().for_each(|def| each(file, def));
        }
        Ok(())
    }

    /// The handles of a file: its own, then those of its definitions by index.
    pub fn file_defs(&self, file: u32) -> Result<Vec<u32>> {
        let t = &self.tables.file_defs;
        let key = file.to_be_bytes();
        decode_runs(t.need(self.txn, &key)?).filter(|v| !v.is_empty()).ok_or_else(|| t.corrupt(&key))
    }

    /// A chunk's record.
    pub fn chunk(&self, chunk: u32) -> Result<ChunkRecord> {
        let t = &self.tables.chunks;
        let row = self.of_handle(t, |opened| &opened.chunks, chunk)?;
        chunks::decode(chunk, row).ok_or_else(|| t.corrupt(&chunk.to_be_bytes()))
    }

    /// The row under a handle; `runs` are the decoded runs of its table.
    fn of_handle(
        &self,
        table: &Table,
        runs: fn(&ReadTxn) -> &RefCell<Runs>,
        handle: u32,
    ) -> Result<&'t [u8]> {
        match self.opened {
            Some(opened) => opened.row(runs(opened), table, handle),
            None => table.need(self.txn, &handle.to_be_bytes()),
        }
    }

    /// A definition's record. Its qualified name may be cut: see [`Rows::qualified`].
    pub fn def(&self, def: u32) -> Result<DefRow<'t>> {
        let t = &self.tables.defs;
        let row = self.of_handle(t, |opened| &opened.defs, def)?;
        DefRow::decode(def, row).ok_or_else(|| t.corrupt(&def.to_be_bytes()))
    }

    /// The qualified name of a definition.
    pub fn qualified(&self, row: &DefRow<'t>) -> Result<String> {
        if !row.is_nested {
            return Ok(row.qualified.to_owned());
        }
        let mut parts = vec![row.qualified];
        let mut at = *row;
        while at.is_nested {
            // Parents come before their children, so that damage cannot make a circle.
            let parent = at.parent.map(|p| self.def(p)).transpose()?;
            let parent = parent.filter(|p| p.idx.0 < at.idx.0);
            at = parent.ok_or_else(|| self.tables.defs.corrupt(at.qualified.as_bytes()))?;
            parts.push(at.qualified);
        }
        parts.reverse();
        Ok(parts.join("."))
    }

    /// Passes a blob, its pieces joined, to `read`; empty bytes when there is none.
    fn with_blob<T>(&self, table: &Table, file: u32, read: impl FnOnce(&[u8]) -> Option<T>) -> Result<T> {
        let mut blob = BLOB.take();
        blob.clear();
        let mut pieces = table.prefix(self.txn, &file.to_be_bytes())?;
        while let Some(piece) = pieces.advance()? {
            blob.extend_from_slice(piece);
        }
        let out = read(&blob);
        if blob.capacity() <= blob::KEPT_BYTES_MAX {
            BLOB.set(blob);
        }
        out.ok_or_else(|| table.corrupt(&file.to_be_bytes()))
    }

    /// A blob as it is stored; empty when there is none.
    pub fn blob(&self, table: &Table, file: u32) -> Result<Vec<u8>> {
        self.with_blob(table, file, |blob| Some(blob.to_vec()))
    }

    /// A file's interface, and the bytes it was decoded from.
    pub fn interface(&self, file: u32) -> Result<(Interface, usize)> {
        self.with_blob(&self.tables.interfaces, file, facts::unpack_interface)
    }

    /// A file's facts.
    pub fn facts(&self, file: u32) -> Result<FileFacts> {
        self.facts_with(file, self.interface(file)?.0)
    }

    /// A file's facts, with an interface that is already decoded.
    pub fn facts_with(&self, file: u32, interface: Interface) -> Result<FileFacts> {
        let (body, chunks) = self.with_blob(&self.tables.bodies, file, facts::unpack_body)?;
        Ok(FileFacts { interface, body, chunks })
    }

    /// A file's text.
    pub fn text(&self, file: u32) -> Result<Arc<str>> {
        self.with_blob(&self.tables.texts, file, |blob| read_packed_text(blob, |text| text.into()))
    }

    /// The decompressed blob; empty when there is none.
    pub fn unpacked(&self, table: &Table, file: u32) -> Result<Vec<u8>> {
        self.with_blob(table, file, blob::decompress)
    }

    /// Calls `each` with every file that has a blob and with the stored bytes, by ascending handle.
    pub fn all_pieces(&self, table: &Table, mut each: impl FnMut(u32, &[u8]) -> Result<()>) -> Result<()> {
        let mut rows = Blobs::of(table, self.txn)?;
        while rows.advance()? {
            each(table.handle(rows.key())?, rows.value())?;
        }
        Ok(())
    }

    /// Calls `each` with every file that has a blob and with the decompressed blob, by ascending handle.
    pub fn all_blobs(&self, table: &Table, mut each: impl FnMut(u32, Vec<u8>) -> Result<()>) -> Result<()> {
        self.all_pieces(table, |file, blob| {
            each(file, blob::decompress(blob).ok_or_else(|| table.corrupt(&file.to_be_bytes()))?)
        })
    }

    /// The base that positions of a definition's edges are relative to.
    pub fn base(&self, source: u32) -> Result<Base> {
        let row = self.def(source)?;
        Ok(base_of(source, &row))
    }

    /// Passes the uses of a source to `each`, only those of the edges to keep, by kind and target.
    pub fn uses(
        &self,
        base: Base,
        keep: impl Fn(EdgeKind, u32) -> bool,
        each: impl FnMut(Use),
    ) -> Result<()> {
        let t = &self.tables.edges_out;
        let key = base.source.to_be_bytes();
        let Some(bytes) = t.get(self.txn, &key)? else {
            return Ok(());
        };
        edges::decode(base, bytes, keep, each).ok_or_else(|| t.corrupt(&key))
    }
}

/// The base that positions of a definition's edges are relative to.
pub(crate) fn base_of(source: u32, row: &DefRow) -> Base {
    match row.idx {
        DefIdx::NONE => Base { source, at: 0, line: 1 },
        _ => Base { source, at: row.span.start, line: row.lines.start },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn runs_round_trip(ids in prop::collection::vec(0..200u32, 0..60)) {
            prop_assert_eq!(decode_runs(&encode_runs(&ids)), Some(ids));
        }
    }

    #[test]
    fn runs_are_together_no_more_than_a_file_may_have() {
        let ids: Vec<u32> = (0..=indexd_model::limits::DEFS_PER_FILE_MAX as u32).collect();
        let most = encode_runs(&ids);
        assert_eq!(decode_runs(&most), Some(ids));
        assert_eq!(decode_runs(&[&most[..], &most].concat()), None);
        assert_eq!(decode_runs(&[&most[..], &encode_runs(&[1])].concat()), None);
    }

    #[test]
    fn long_paths_have_keys_of_their_own() {
        let (a, b) = ("x/".repeat(400) + "a", "x/".repeat(400) + "b");
        assert_eq!(&*path_key("a/b"), b"a/b");
        assert!(!is_cut(&path_key(&a[..480])) && is_cut(&path_key(&a)));
        assert_ne!(path_key(&a), path_key(&b));
        assert_eq!(path_key(&a).len(), PATH_KEY_BYTES_MAX);
    }
}
