//! Facts of past commits, by path. A path of the history need not be a file of the tree, and a file that is
//! removed and restored has its history without reading commits again.
//!
//! A new history replaces the old one as a whole, since one more commit shifts the position of all others.
//! Handles are ranks by path.

use crate::codec::bytes::{Reader, put};
use crate::error::{Result, StoreError};
use crate::input::History;
use crate::rows::{Rows, path_key, term_prefix};
use crate::tables::Tables;
use heed::RwTxn;
use indexd_model::Lines;
use indexd_model::view::{FileHistory, Touched};
use std::collections::BTreeMap;

/// Replaces the history.
pub(crate) fn replace(tables: &Tables, txn: &mut RwTxn, history: &History) -> Result<()> {
    for table in [&tables.history_files, &tables.history_docs, &tables.history_terms] {
        table.clear(txn)?;
    }
    let mut files: Vec<_> = history.files.iter().collect();
    files.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    if let Some(w) = files.windows(2).find(|w| w[0].path == w[1].path) {
        return Err(StoreError::Inconsistent(format!("history of {} twice", w[0].path)));
    }
    let mut terms: BTreeMap<&str, Vec<(u32, u32)>> = BTreeMap::new();
    let mut counts = BTreeMap::new();
    for (doc, file) in (0u32..).zip(&files) {
        let mut row = Vec::new();
        put(&mut row, u64::from(file.history.n_commits));
        put(&mut row, u64::from(file.history.newest));
        let mut last = 0;
        for t in &file.touched {
            let Some(gap) = t.lines.start.checked_sub(last) else {
                return Err(StoreError::Inconsistent(format!("touched lines of {} out of order", file.path)));
            };
            put(&mut row, u64::from(gap));
            put(&mut row, u64::from(t.lines.count()));
            put(&mut row, u64::from(t.newest));
            last = t.lines.start;
        }
        counts.insert(path_key(&file.path), row);
        tables.history_docs.append(txn, &doc.to_be_bytes(), file.path.as_bytes())?;
        for (term, n) in &file.terms {
            terms.entry(term).or_default().push((doc, *n));
        }
    }
    for (key, row) in counts {
        tables.history_files.append(txn, &key, &row)?;
    }
    for (term, list) in terms {
        tables.history_terms.append(txn, &term_prefix(term)?, &encode_postings(&list))?;
    }
    Ok(())
}

fn encode_postings(list: &[(u32, u32)]) -> Vec<u8> {
    let mut out = Vec::with_capacity(list.len() * 3);
    let mut last = 0;
    for (doc, n) in list {
        put(&mut out, u64::from(doc - last));
        put(&mut out, u64::from(*n));
        last = *doc;
    }
    out
}

/// Postings of one term: history handles with counts.
pub(crate) fn decode_postings(bytes: &[u8]) -> Option<Vec<(u32, u32)>> {
    let mut r = Reader::new(bytes);
    let mut out = Vec::new();
    let mut doc = 0u32;
    while !r.is_empty() {
        doc = doc.checked_add(r.u32()?)?;
        out.push((doc, r.u32()?));
    }
    Some(out)
}

/// The path of a history handle.
pub(crate) fn path_of<'t>(rows: Rows<'t>, doc: u32) -> Result<&'t str> {
    let table = &rows.tables.history_docs;
    let key = doc.to_be_bytes();
    std::str::from_utf8(table.need(rows.txn, &key)?).map_err(|_| table.corrupt(&key))
}

/// The history of a path and its lines that the newest commits changed; zero and none when no commit touched it.
pub(crate) fn of(rows: Rows, path: &str) -> Result<(FileHistory, Vec<Touched>)> {
    let table = &rows.tables.history_files;
    let key = path_key(path);
    let Some(stored) = table.get(rows.txn, &key)? else {
        return Ok(Default::default());
    };
    decode(stored).ok_or_else(|| table.corrupt(&key))
}

fn decode(row: &[u8]) -> Option<(FileHistory, Vec<Touched>)> {
    let mut r = Reader::new(row);
    let history = FileHistory { n_commits: r.u32()?, newest: r.u32()? };
    let (mut start, mut touched) = (0u32, Vec::new());
    while !r.is_empty() {
        start = start.checked_add(r.u32()?)?;
        let last = r.u32()?.checked_sub(1)?;
        touched.push(Touched { lines: Lines { start, end: start.checked_add(last)? }, newest: r.u32()? });
    }
    Some((history, touched))
}
