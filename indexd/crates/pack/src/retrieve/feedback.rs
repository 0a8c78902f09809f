//! Adds words that are typical of the best hits, with a low weight (pseudo-relevance feedback; Lavrenko and
//! Croft 2001, as interpolated in RM3).
//!
//! Only units that were found already are scored again, and only the postings of a few new words are read. A
//! second retrieval would cost as much as the first.

use super::Table;
use crate::query::{Query, QueryTerm};
use crate::role::Role;
use crate::unit::Units;
use indexd_model::{FileDoc, IndexView};
use indexd_text::bm25::idf;
use indexd_text::terms;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Number of best hits whose words are counted.
const HITS_MAX: usize = 5;
/// Bytes of each hit that are read, from its start.
const BYTES_MAX: usize = 8_000;
/// Maximum feedback words.
pub const WORDS_MAX: usize = 8;
/// A word in more than one of this number of chunks is not typical of anything.
const CHUNKS_PER_WORD: u64 = 20;
/// Minimum chunks that contain a word: a word in one chunk finds nothing else.
const DF_MIN: u64 = 2;

/// Returns the words that are typical of the best hits and not in the text, heaviest first. The first has
/// weight `weight`, the others are in proportion. Expects a sorted table.
///
/// The weight of a word is its idf times a sum over the hits: for a hit with `n` occurrences, `n / (n + 1)`
/// of its score.
pub fn words_of_best(units: &Units, query: &Query, table: &Table, weight: f64) -> Vec<QueryTerm> {
    let view = units.view;
    let best: Vec<_> = table.hits.iter().filter(|h| h.role == Role::Code).take(HITS_MAX).collect();
    let known: FxHashSet<&str> = query.terms.iter().map(|t| t.term.as_str()).collect();
    let mut texts: FxHashMap<FileDoc, Arc<str>> = FxHashMap::default();
    let mut sums: FxHashMap<String, f64> = FxHashMap::default();
    for h in &best {
        let text = texts.entry(h.unit.file).or_insert_with(|| view.text(h.unit.file));
        let mut counts: FxHashMap<String, u32> = FxHashMap::default();
        let mut left = BYTES_MAX;
        for (span, _) in &h.unit.spans {
            let part = text.get(span.range()).unwrap_or("");
            let end = (0..=left.min(part.len())).rev().find(|i| part.is_char_boundary(*i)).unwrap_or(0);
            let part = &part[..end];
            left -= part.len();
            terms(part, |t| {
                if let Some(n) = counts.get_mut(t) {
                    *n += 1;
                } else if t.len() > 2 && !known.contains(t) {
                    counts.insert(t.to_owned(), 1);
                }
            });
        }
        for (term, n) in counts {
            *sums.entry(term).or_insert(0.0) += h.total * f64::from(n) / (f64::from(n) + 1.0);
        }
    }
    let words = heaviest(view, sums.into_iter().map(|(term, sum)| (sum, term)).collect());
    let top = words.first().map_or(1.0, |w| w.0);
    words
        .into_iter()
        .map(|(w, term)| QueryTerm { term, weight: weight * w / top, ..QueryTerm::default() })
        .collect()
}

/// The heaviest words by `sum * idf`, heaviest first, equal ones by their text. The frequency of a word is
/// read only while the word could still be among them.
fn heaviest(view: &dyn IndexView, mut sums: Vec<(f64, String)>) -> Vec<(f64, String)> {
    let n_chunks = view.stats().n_chunks;
    let most = u32::try_from(n_chunks / CHUNKS_PER_WORD).unwrap_or(u32::MAX);
    let before = |a: &(f64, String), b: &(f64, String)| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1));
    sums.sort_unstable_by(before);
    let idf_max = idf(n_chunks, DF_MIN);
    let mut words: Vec<(f64, String)> = Vec::with_capacity(WORDS_MAX + 1);
    for (sum, term) in sums {
        if words.len() == WORDS_MAX && sum * idf_max < words[WORDS_MAX - 1].0 {
            break;
        }
        let Some(df) = view.doc_frequency_within(&term, most).map(u64::from) else { continue };
        if df >= DF_MIN {
            let word = (sum * idf(n_chunks, df), term);
            let at = words.partition_point(|w| before(w, &word).is_lt());
            words.insert(at, word);
            words.truncate(WORDS_MAX);
        }
    }
    words
}
