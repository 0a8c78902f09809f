//! Finds phrases and error messages exactly, in any file.
//!
//! Few chunks contain every word of a phrase. These are read, rarest phrase first, until a limit on bytes is
//! reached.

use super::Table;
use crate::query::Query;
use crate::score::Feature;
use crate::unit::Units;
use indexd_model::view::Posting;
use indexd_model::{ChunkDoc, FileDoc, IndexView};
use indexd_text::terms;
use memchr::memmem::Finder;
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// Maximum bytes of stored text that are searched for one request.
const BYTES_MAX: usize = 2 << 20;
/// Up to this number of definitions with a literal get its full strength.
const HOLDERS_FULL: f64 = 4.0;
/// Maximum chunks with all words of a phrase; if there are more, none is read.
const CHUNKS_MAX: usize = 400;

/// Sets the feature `literal` on the units that contain a literal of the query. With more than
/// `HOLDERS_FULL` such units, the strength is divided by the square root of the excess factor: a message in
/// few places says more than a flag in twenty. Several literals add up to at most 1.
pub fn mark(units: &mut Units, query: &Query, table: &mut Table) {
    let mut texts: FxHashMap<FileDoc, Arc<str>> = FxHashMap::default();
    let mut read = 0;
    for literal in query.literals.iter().chain(&query.lines) {
        let finder = Finder::new(literal.as_bytes());
        let mut holders = Vec::new();
        // The limit on bytes may end the search. Short chunks with all the words are more likely to contain
        // the phrase.
        let mut chunks = chunks_with(units.view, literal);
        chunks.sort_by_cached_key(|c| (units.chunk(*c).span.len(), *c));
        for chunk in chunks {
            let unit = units.of_chunk(chunk);
            let text = texts.entry(unit.file).or_insert_with(|| {
                read += units.file(unit.file).size as usize;
                units.view.text(unit.file)
            });
            let mut parts = unit.spans.iter().filter_map(|(span, _)| text.get(span.range()));
            if parts.any(|part| finder.find(part.as_bytes()).is_some()) {
                holders.push(unit);
            }
            if read > BYTES_MAX {
                break;
            }
        }
        let mut seen = FxHashSet::default();
        holders.retain(|u| seen.insert(u.key));
        let share = (HOLDERS_FULL / holders.len().max(1) as f64).sqrt().min(1.0);
        for unit in holders {
            let features = &mut table.hit(units, unit).scored.features;
            let sum = features.get(Feature::Literal) + share;
            features.set(Feature::Literal, sum.min(1.0));
        }
    }
}

/// The chunks that contain every word of a phrase, ascending; none if there are more than [`CHUNKS_MAX`].
fn chunks_with(view: &dyn IndexView, phrase: &str) -> Vec<ChunkDoc> {
    let mut words: Vec<String> = Vec::new();
    terms(phrase, |t| {
        if !words.iter().any(|w| w == t) {
            words.push(t.to_owned());
        }
    });
    let mut counted: Vec<(u32, String)> = words.into_iter().map(|w| (view.doc_frequency(&w), w)).collect();
    counted.sort();
    let mut postings: Vec<Posting> = Vec::new();
    let mut found: Option<Vec<ChunkDoc>> = None;
    for (_, word) in &counted {
        postings.clear();
        view.postings(word, &mut postings);
        let is_in = |c: &ChunkDoc| postings.binary_search_by_key(c, |p| p.chunk).is_ok();
        match &mut found {
            None => found = Some(postings.iter().map(|p| p.chunk).collect()),
            Some(found) => found.retain(is_in),
        }
        if found.as_ref().is_some_and(|f| f.len() <= 8) {
            break;
        }
    }
    found.filter(|f| f.len() <= CHUNKS_MAX).unwrap_or_default()
}
