//! Words of the best hits, added to the query with little weight: what a text does not say, the
//! code that it finds may (pseudo-relevance feedback; Lavrenko and Croft 2001, simplified).

use super::lexical::ChunkHit;
use crate::config::Ranking;
use crate::query::{Query, QueryTerm};
use crate::unit::Units;
use indexd_text::bm25::idf;
use indexd_text::terms;
use rustc_hash::{FxHashMap, FxHashSet};

/// Chunks that are read.
const CHUNKS: usize = 5;
/// Words that are added.
const WORDS: usize = 12;
/// Chunks a word may stand in, in parts of all: more say nothing.
const COMMON: u64 = 20;

/// The query with the words that mark its best hits.
pub fn widen(units: &mut Units, query: &Query, hits: &[ChunkHit], r: &Ranking) -> Query {
    let mut best: Vec<(f32, std::sync::Arc<str>, u32, ChunkHit)> = Vec::new();
    let floor = hits.iter().map(|h| h.score).fold(0.0, f32::max) * 0.4;
    for h in hits.iter().filter(|h| h.score >= floor) {
        let record = units.chunk(h.chunk);
        let file = units.file(record.file);
        if super::role_of(&file) == super::Role::Code {
            best.push((h.score, file.path.clone(), record.span.start, *h));
        }
    }
    best.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| (&a.1, a.2).cmp(&(&b.1, b.2))));
    best.truncate(CHUNKS);
    let known: FxHashSet<&str> = query.terms.iter().map(|t| t.term.as_str()).collect();
    let mut sums: FxHashMap<String, f64> = FxHashMap::default();
    let n_chunks = units.view.stats().n_chunks;
    let top = best.first().map_or(1.0, |b| b.0);
    for (score, _, _, h) in &best {
        let record = units.chunk(h.chunk);
        let text = units.view.text(record.file);
        let mut counts: FxHashMap<String, u32> = FxHashMap::default();
        terms(text.get(record.span.range()).unwrap_or(""), |t| {
            if !known.contains(t) && t.len() > 2 {
                *counts.entry(t.to_owned()).or_insert(0) += 1;
            }
        });
        for (term, n) in counts {
            *sums.entry(term).or_insert(0.0) += f64::from(score / top) * f64::from(n) / (f64::from(n) + 1.0);
        }
    }
    let mut words: Vec<(f64, String)> = sums
        .into_iter()
        .filter_map(|(term, sum)| {
            let df = u64::from(units.view.doc_frequency(&term));
            // A word of one chunk alone finds nothing else.
            (df > 1 && df * COMMON <= n_chunks.max(COMMON)).then(|| (sum * idf(n_chunks, df), term))
        })
        .collect();
    words.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    words.truncate(WORDS);
    let strongest = words.first().map_or(1.0, |w| w.0);
    let mut wider = query.clone();
    wider.terms.extend(words.into_iter().map(|(w, term)| QueryTerm { term, weight: f64::from(r.feedback) * w / strongest }));
    wider
}
