//! The full walk after an unclean stop: every row's checksum and form, and every fact that two tables hold
//! from both sides.

use crate::codec::enums::Coded;
use crate::codec::records::{ArchivedFileRow, FileRow};
use crate::codec::{edges, postings};
use crate::error::{Result, StoreError};
use crate::linked::decode_sorted;
use crate::meta::{Free, Meta};
use crate::recovery;
use crate::rows::{Rows, posting_key, set_row, text_prefix_len};
use crate::signature;
use crate::store::open_env;
use crate::table::Table;
use crate::tables::Tables;
use heed::RoTxn;
use indexd_model::view::CorpusStats;
use indexd_model::{ContentHash, Language, Outcome, grams};
use rustc_hash::FxHashSet;
use std::path::Path;

/// Bytes of address space for the walk; more than any index that can be walked in reasonable time.
const MAP_BYTES: u64 = 256 << 30;

/// Walks the index in `dir` and checks everything that can be checked. The index must not be open in this
/// process. Call it in a child process: on a damaged file LMDB may kill the process instead of returning an
/// error, which means the same.
///
/// # Errors
/// [`StoreError::Corrupt`] with the first fault.
pub fn verify(dir: &Path) -> Result<()> {
    recovery::lengthen(dir)?;
    walk(dir, check)
}

/// Checks only the checksums and the order of rows. The index may be open in another process, if that does
/// not write during the check. Nothing is written: that process would take it for damage.
///
/// # Errors
/// As [`verify`].
pub fn verify_rows(dir: &Path) -> Result<()> {
    walk(dir, |_, _| Ok(()))
}

/// Checks the rows one by one, then together by `check`.
fn walk(dir: &Path, check: impl Fn(Rows, &Meta) -> Result<()>) -> Result<()> {
    let (env, _) = open_env(dir, MAP_BYTES)?;
    let tables = Tables::open(&env)?.ok_or_else(|| wrong("a table is missing"))?;
    let txn = env.read_txn()?;
    let meta = Meta::read(&tables, &txn)?.ok_or_else(|| wrong("the first build is not complete"))?;
    tables.all().into_iter().try_for_each(|table| check_keys(table, &txn))?;
    check(Rows { tables: &tables, txn: &txn, opened: None }, &meta)
}

fn wrong(what: impl Into<String>) -> StoreError {
    StoreError::Corrupt(what.into())
}

fn need(holds: bool, what: &str) -> Result<()> {
    if holds { Ok(()) } else { Err(wrong(what)) }
}

/// Checks every checksum, and that keys ascend, which LMDB does not verify.
fn check_keys(table: &Table, txn: &RoTxn) -> Result<()> {
    let mut last = Vec::new();
    let mut rows = table.iter(txn)?;
    while rows.advance()?.is_some() {
        if *rows.key() <= *last {
            return Err(wrong(format!("table {}: keys out of order", table.name)));
        }
        last.clear();
        last.extend_from_slice(rows.key());
    }
    need(rows.n_nodes() == table.n_nodes(txn)?, &format!("table {}: rows are missing", table.name))
}

/// Values collected by the walk over files.
#[derive(Default)]
struct Seen {
    stats: CorpusStats,
    n_defs: u64,
    source_bytes: u64,
    files: FxHashSet<u32>,
    defs: FxHashSet<u32>,
    chunks: FxHashSet<u32>,
    providers: Vec<([u8; 8], u32)>,
    names: Vec<(Vec<u8>, u32)>,
}

fn check(rows: Rows, meta: &Meta) -> Result<()> {
    let t = rows.tables;
    let mut seen = Seen::default();
    for row in t.files.iter(rows.txn)? {
        let (key, value) = row?;
        let key = &key[..];
        let file = FileRow::access(value).ok_or_else(|| t.files.corrupt(key))?;
        check_file(rows, t.files.handle(key)?, file, &mut seen)?;
    }
    need(t.paths.len(rows.txn)? == seen.stats.n_files, "paths and files differ")?;
    need(t.defs.len(rows.txn)? == seen.defs.len() as u64, "definitions without a file")?;
    need(t.chunks.len(rows.txn)? == seen.stats.n_chunks, "chunks without a file")?;
    need(seen.stats == meta.stats, "statistics differ from their sums")?;
    need(
        (seen.n_defs, seen.source_bytes) == (meta.n_defs, meta.source_bytes),
        "counts differ from their sums",
    )?;
    need(t.leaves.len(rows.txn)? == seen.stats.n_files, "leaves and files differ")?;
    need((t.overlays.len(rows.txn)? > 0) == meta.overlays.is_some(), "overlays and their digest differ")?;
    need(signature::root(t, rows.txn)? == meta.root, "the root differs from its nodes")?;
    check_sets(rows, &t.providers, |_| 8, std::mem::take(&mut seen.providers))?;
    check_sets(rows, &t.names, text_prefix_len, std::mem::take(&mut seen.names))?;
    check_edges(rows, &seen.defs)?;
    check_lookups(rows, &seen.files)?;
    check_postings(rows, &t.terms, &seen.chunks)?;
    check_postings(rows, &t.path_terms, &seen.files)?;
    check_free(rows, &seen)
}

fn check_file(rows: Rows, file: u32, row: &ArchivedFileRow, seen: &mut Seen) -> Result<()> {
    let t = rows.tables;
    let path = row.path.as_str();
    let fault = |what: &str| wrong(format!("{path:?}: {what}"));
    if rows.file_doc(path)? != Some(file) {
        return Err(fault("the path leads elsewhere"));
    }
    let interface = rows.interface(file)?.0;
    let facts = rows.facts_with(file, interface.clone())?;
    let docs = rows.file_defs(file)?;
    if docs.len() != interface.defs.len() + 1 || docs[0] != row.own.to_native() {
        return Err(fault("handles and definitions differ"));
    }
    if !check_defs(rows, file, &docs, seen)? {
        return Err(fault("a definition belongs elsewhere"));
    }
    if facts.chunks.len() as u32 != row.n_chunks.to_native() || row.n_chunks > row.chunk_room {
        return Err(fault("chunks and their facts differ"));
    }
    if !check_chunks(rows, file, row, &docs, seen)? {
        return Err(fault("a chunk belongs elsewhere"));
    }
    if rows.text(file)?.len() as u32 != row.text_len.to_native() {
        return Err(fault("the text has another length"));
    }
    if rows.blob(&t.grams, file)? != grams::signature(&rows.text(file)?) {
        return Err(fault("the signature of the text differs"));
    }
    let codes = (Language::from_code(row.language), Outcome::from_code(row.outcome));
    let (Some(language), Some(outcome)) = codes else {
        return Err(fault("no such language or outcome"));
    };
    let leaf = signature::leaf(path, &ContentHash(row.hash), language, outcome);
    if t.leaves.get(rows.txn, &signature::leaf_key(path))? != Some(&leaf) {
        return Err(fault("the leaf differs"));
    }
    for run in interface.entries.chunk_by(|a, b| a.key == b.key) {
        seen.providers.push((run[0].key.0.to_be_bytes(), file));
    }
    seen.files.insert(file);
    seen.stats.n_files += 1;
    seen.stats.n_chunks += u64::from(row.n_chunks.to_native());
    seen.stats.path_len += u64::from(row.path_len.to_native());
    seen.n_defs += interface.defs.len() as u64;
    seen.source_bytes += row.size.to_native();
    Ok(())
}

/// Checks that the definitions under these handles are those of a file, in order.
fn check_defs(rows: Rows, file: u32, docs: &[u32], seen: &mut Seen) -> Result<bool> {
    for (i, doc) in (0u32..).zip(docs) {
        let def = rows.def(*doc)?;
        rows.qualified(&def)?;
        if def.file != file || def.idx.0 != i.wrapping_sub(1) || !seen.defs.insert(*doc) {
            return Ok(false);
        }
        if i > 0 && def.name_len > 0 {
            seen.names.push((crate::rows::text_prefix(def.name()), *doc));
        }
    }
    Ok(true)
}

/// Checks that the chunks of a file are its own and belong to its definitions.
fn check_chunks(rows: Rows, file: u32, row: &ArchivedFileRow, docs: &[u32], seen: &mut Seen) -> Result<bool> {
    for i in 0..row.n_chunks.to_native() {
        let doc = row.chunk_start.to_native() + i;
        let chunk = rows.chunk(doc)?;
        let is_foreign = chunk.file.0 != file || chunk.def.some().is_some_and(|d| !docs.contains(&d.0));
        if is_foreign || !seen.chunks.insert(doc) {
            return Ok(false);
        }
        for (sum, len) in seen.stats.field_lens.iter_mut().zip(&chunk.lens) {
            *sum += u64::from(*len);
        }
    }
    Ok(true)
}

/// Checks a table of sets against the pairs that it should hold.
fn check_sets<P: AsRef<[u8]> + Ord>(
    rows: Rows,
    table: &Table,
    prefix_len: impl Fn(&[u8]) -> usize,
    mut expected: Vec<(P, u32)>,
) -> Result<()> {
    expected.sort_unstable();
    expected.dedup();
    let mut found: Vec<(Vec<u8>, u32)> = Vec::with_capacity(expected.len());
    for row in table.iter(rows.txn)? {
        let (key, value) = row?;
        let (prefix, ids) = set_row(table, &key, value, &prefix_len)?;
        found.extend(ids.into_iter().map(|id| (prefix.to_vec(), id)));
    }
    found.sort_unstable();
    let same = found.len() == expected.len()
        && found.iter().zip(&expected).all(|(f, e)| f.0 == e.0.as_ref() && f.1 == e.1);
    if same { Ok(()) } else { Err(wrong(format!("table {} differs from what it indexes", table.name))) }
}

fn check_edges(rows: Rows, defs: &FxHashSet<u32>) -> Result<()> {
    let t = &rows.tables.edges_out;
    let mut expected = Vec::new();
    for row in t.iter(rows.txn)? {
        let (key, value) = row?;
        let key = &key[..];
        let source = t.handle(key)?;
        let mut dangling = !defs.contains(&source);
        let base = rows.base(source)?;
        rows.uses(base, |_, _| true, |_| ())?;
        edges::decode_targets(base, value, |kind, target| {
            dangling |= !defs.contains(&target);
            expected.push((crate::rows::in_prefix(target, kind.code()), source));
        })
        .ok_or_else(|| t.corrupt(key))?;
        need(!dangling, "an edge has an end that is gone")?;
    }
    check_sets(rows, &rows.tables.edges_in, |_| 5, expected)
}

fn check_lookups(rows: Rows, files: &FxHashSet<u32>) -> Result<()> {
    let t = &rows.tables.lookups;
    let mut expected = Vec::new();
    rows.all_blobs(t, |file, raw| {
        need(files.contains(&file), "lookups of a file that is gone")?;
        let keys = decode_sorted(&raw).ok_or_else(|| t.corrupt(&file.to_be_bytes()))?;
        expected.extend(keys.into_iter().map(|k| (k.to_be_bytes(), file)));
        Ok(())
    })?;
    check_sets(rows, &rows.tables.dependants, |_| 4, expected)
}

fn check_postings(rows: Rows, table: &Table, docs: &FxHashSet<u32>) -> Result<()> {
    for row in table.iter(rows.txn)? {
        let (key, value) = row?;
        let key = &key[..];
        let mut known = true;
        let (_, block) = posting_key(key).ok_or_else(|| table.corrupt(key))?;
        postings::decode(block, value, |doc, _| known &= docs.contains(&doc))
            .ok_or_else(|| table.corrupt(key))?;
        if !known {
            return Err(wrong(format!("table {}: a posting of something that is gone", table.name)));
        }
    }
    Ok(())
}

fn check_free(rows: Rows, seen: &Seen) -> Result<()> {
    let free = Free::read(rows.tables, rows.txn)?;
    let below = |ids: &FxHashSet<u32>, next: u32| ids.iter().all(|id| *id < next);
    need(
        below(&seen.files, free.next_file) && below(&seen.defs, free.next_def),
        "a handle above all handles",
    )?;
    need(below(&seen.chunks, free.next_chunk), "a chunk above all chunks")?;
    need(!free.files.iter().any(|f| seen.files.contains(f)), "a free file handle is in use")?;
    need(!free.defs.iter().any(|d| seen.defs.contains(d)), "a free definition handle is in use")?;
    let in_use = |(start, n): &(u32, u32)| (*start..start + n).any(|c| seen.chunks.contains(&c));
    need(!free.chunks.iter().any(in_use), "a free chunk handle is in use")
}
