//! Updates the postings of a changed file. Only postings that differ are rewritten.

use super::{Stored, WriteTxn};
use crate::codec::postings::{WHOLE_MAX, block_of, decode, encode, merge};
use crate::error::{Result, StoreError};
use crate::linked::differences;
use crate::rows::term_prefix;
use crate::table::Table;
use heed::{RoTxn, RwTxn};
use indexd_model::terms::{FileTerms, Vocabulary};
use indexd_model::view::{FieldCounts, N_FIELDS};

/// Number of a term, handle, and the new posting (`None`: removed).
type Change = (u32, u32, Option<FieldCounts>);

impl WriteTxn<'_> {
    /// Replaces the postings of a file; each side is its terms with its first chunk handle.
    pub(super) fn put_terms(
        &mut self,
        file: u32,
        old: Option<(&Stored, &FileTerms)>,
        (new_terms, new_start): (&FileTerms, u32),
        vocabulary: &Vocabulary,
    ) -> Result<()> {
        let nothing = FileTerms::default();
        if old.is_some_and(|(old, terms)| old.row.n_chunks as usize != terms.chunks.len()) {
            return Err(stale());
        }
        let (old_start, old_terms) = old.map_or((0, &nothing), |(old, terms)| (old.row.chunk_start, terms));
        let changes = changes(&of_chunks(old_terms, old_start), &of_chunks(new_terms, new_start));
        let tables = self.tables();
        apply(&tables.terms, &mut self.txn, changes, vocabulary)?;
        let path_changes = changes_of_path(file, old_terms, new_terms);
        apply(&tables.path_terms, &mut self.txn, path_changes, vocabulary)
    }
}

fn stale() -> StoreError {
    StoreError::Inconsistent("the old terms are not those of the stored file".into())
}

/// Counts of a term in a path, as a posting.
pub(crate) fn path_counts(n: u8) -> FieldCounts {
    let mut counts = [0; N_FIELDS];
    counts[0] = n;
    counts
}

fn of_chunks(terms: &FileTerms, start: u32) -> Vec<(u32, u32, FieldCounts)> {
    let chunks = (start..).zip(&terms.chunks);
    let all =
        chunks.flat_map(|(doc, chunk)| chunk.terms.iter().map(move |(term, counts)| (*term, doc, *counts)));
    let mut all: Vec<_> = all.filter(|p| p.2 != [0; N_FIELDS]).collect();
    all.sort_unstable();
    all
}

fn changes_of_path(file: u32, old: &FileTerms, new: &FileTerms) -> Vec<Change> {
    let of = |terms: &FileTerms| {
        let mut all: Vec<_> = terms.path.iter().map(|(term, n)| (*term, file, path_counts(*n))).collect();
        all.retain(|p| p.2 != [0; N_FIELDS]);
        all.sort_unstable();
        all
    };
    changes(&of(old), &of(new))
}

/// The changes from one sorted list of postings to another.
fn changes(old: &[(u32, u32, FieldCounts)], new: &[(u32, u32, FieldCounts)]) -> Vec<Change> {
    let mut out: Vec<Change> = Vec::new();
    for ((term, doc, counts), is_new) in differences(old, new) {
        let change = is_new.then_some(counts);
        match out.last_mut() {
            Some(last) if (last.0, last.1) == (term, doc) => last.2 = last.2.or(change),
            _ => out.push((term, doc, change)),
        }
    }
    out
}

type Postings = Vec<(u32, FieldCounts)>;

/// Applies changes, sorted by term and handle, block by block.
fn apply(table: &Table, txn: &mut RwTxn, changes: Vec<Change>, vocabulary: &Vocabulary) -> Result<()> {
    // Neighbouring keys share pages: in key order each page is copied once, while it is in the cache.
    let mut by_term: Vec<&[Change]> = changes.chunk_by(|a, b| a.0 == b.0).collect();
    by_term.sort_unstable_by_key(|run| vocabulary.term(run[0].0));
    for run in by_term {
        let prefix = term_prefix(vocabulary.term(run[0].0))?;
        let changes: Vec<_> = run.iter().map(|c| (c.1, c.2)).collect();
        match read_block(table, txn, &prefix, 0)? {
            None if table.prefix(txn, &prefix)?.next().is_some() => {
                apply_blocks(table, txn, &prefix, &changes)?;
            }
            whole => apply_whole(table, txn, &prefix, &whole.unwrap_or_default(), &changes)?,
        }
    }
    Ok(())
}

fn read_block(table: &Table, txn: &RoTxn, key: &[u8], block: u32) -> Result<Option<Postings>> {
    let Some(bytes) = table.get(txn, key)? else { return Ok(None) };
    let mut postings = Vec::new();
    decode(block, bytes, |doc, counts| postings.push((doc, counts))).ok_or_else(|| table.corrupt(key))?;
    Ok(Some(postings))
}

/// Updates a term with few postings, which are one row until there are too many. A term that once had
/// many keeps its blocks.
fn apply_whole(
    table: &Table,
    txn: &mut RwTxn,
    prefix: &[u8],
    old: &[(u32, FieldCounts)],
    changes: &[(u32, Option<FieldCounts>)],
) -> Result<()> {
    let merged = merge(old, changes).ok_or_else(stale)?;
    if merged.is_empty() {
        table.delete(txn, prefix)?;
        return Ok(());
    }
    if merged.len() <= WHOLE_MAX {
        return table.put(txn, prefix, &encode(0, &merged));
    }
    table.delete(txn, prefix)?;
    let all: Vec<_> = merged.into_iter().map(|(doc, counts)| (doc, Some(counts))).collect();
    apply_blocks(table, txn, prefix, &all)
}

fn apply_blocks(
    table: &Table,
    txn: &mut RwTxn,
    prefix: &[u8],
    changes: &[(u32, Option<FieldCounts>)],
) -> Result<()> {
    let mut key = prefix.to_vec();
    for changes in changes.chunk_by(|a, b| block_of(a.0) == block_of(b.0)) {
        let block = block_of(changes[0].0);
        key.truncate(prefix.len());
        key.extend_from_slice(&block.to_be_bytes());
        let old = read_block(table, txn, &key, block)?.unwrap_or_default();
        let merged = merge(&old, changes).ok_or_else(stale)?;
        if merged.is_empty() {
            table.delete(txn, &key)?;
        } else {
            table.put(txn, &key, &encode(block, &merged))?;
        }
    }
    Ok(())
}
