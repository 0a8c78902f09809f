//! Features from past commits: the words of their subjects, and how recently a file changed. Recency is
//! counted in commits, not in time.

use super::Table;
use crate::query::Query;
use crate::score::Feature;
use crate::unit::Units;
use indexd_model::FileDoc;
use indexd_model::view::{FileHistory, Touched};
use indexd_text::bm25::{Bm25, idf};
use rustc_hash::FxHashMap;

/// Number of commits after which a change counts half.
const TOUCHED_HALF: f64 = 15.0;

/// Sets the feature `commits`: BM25 with the subjects of a file's commits as its text. Also sets `touched`.
pub fn mark(units: &Units, query: &Query, table: &mut Table) {
    let (view, bm25) = (units.view, Bm25::USUAL);
    let n_files = view.stats().n_files;
    let mut histories: FxHashMap<FileDoc, FileHistory> = FxHashMap::default();
    for h in &table.hits {
        histories.entry(h.unit.file).or_insert_with(|| view.history(h.unit.file));
    }
    let touched = histories.values().filter(|h| h.n_commits > 0).count() as f64;
    if touched == 0.0 {
        return;
    }
    let average = histories.values().map(|h| f64::from(h.n_commits)).sum::<f64>() / touched;
    let mut scores: FxHashMap<FileDoc, f64> = FxHashMap::default();
    let mut files = Vec::new();
    for t in &query.terms {
        files.clear();
        view.history_postings(&t.term, &mut files);
        let weight = idf(n_files, files.len() as u64) * t.weight;
        for &(file, n) in &files {
            if let Some(h) = histories.get(&file) {
                let norm = bm25.norm(f64::from(h.n_commits), average);
                *scores.entry(file).or_insert(0.0) += weight * bm25.weight(f64::from(n), norm);
            }
        }
    }
    mark_touched(units, &histories, table);
    let top = scores.values().fold(0.0f64, |a, b| a.max(*b));
    for h in &mut table.hits {
        if let Some(score) = scores.get(&h.unit.file) {
            h.scored.features.raise(Feature::Commits, score / top);
        }
    }
}

/// Sets the feature `touched` on units with lines that a recent commit changed.
fn mark_touched(units: &Units, histories: &FxHashMap<FileDoc, FileHistory>, table: &mut Table) {
    let mut by_file: FxHashMap<FileDoc, Vec<Touched>> = FxHashMap::default();
    for h in &mut table.hits {
        let file = h.unit.file;
        if histories[&file].n_commits == 0 {
            continue;
        }
        let touched = by_file.entry(file).or_insert_with(|| {
            let mut out = Vec::new();
            units.view.touched(file, &mut out);
            out
        });
        let is_own =
            |t: &&Touched| h.unit.spans.iter().any(|(_, l)| l.start <= t.lines.end && t.lines.start <= l.end);
        if let Some(newest) = touched.iter().filter(is_own).map(|t| t.newest).min() {
            h.scored.features.raise(Feature::Touched, 1.0 / (1.0 + f64::from(newest) / TOUCHED_HALF));
        }
    }
}
