//! What past commits say: words of their subjects, and how lately a file was touched. Counted in
//! commits, never in time.

use super::{Signal, Table};
use crate::query::Query;
use crate::unit::Units;
use indexd_model::FileDoc;
use indexd_model::view::{FileHistory, Touched};
use indexd_text::bm25::idf;
use rustc_hash::FxHashMap;

/// Commits after which a change counts half as recent.
const RECENCY_HALF: f64 = 30.0;
/// The same for a change of the unit itself, of which less is read.
const TOUCHED_HALF: f64 = 15.0;
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// Marks the files of the table: BM25 with a file's commits as its text, and its recency.
pub fn mark(units: &Units, query: &Query, table: &mut Table) {
    let view = units.view;
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
                let norm = K1 * (1.0 - B + B * f64::from(h.n_commits) / average);
                *scores.entry(file).or_insert(0.0) += weight * f64::from(n) / (f64::from(n) + norm);
            }
        }
    }
    mark_touched(units, &histories, table);
    let top = scores.values().fold(0.0f64, |a, b| a.max(*b));
    for h in &mut table.hits {
        let history = histories[&h.unit.file];
        if let Some(score) = scores.get(&h.unit.file) {
            h.signals.raise(Signal::History, score / top);
        }
        if history.n_commits > 0 {
            h.signals.raise(Signal::Recency, 1.0 / (1.0 + f64::from(history.newest) / RECENCY_HALF));
        }
    }
}

/// Marks the units whose own lines a recent commit changed: work goes on where it was.
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
            h.signals.raise(Signal::Touched, 1.0 / (1.0 + f64::from(newest) / TOUCHED_HALF));
        }
    }
}
