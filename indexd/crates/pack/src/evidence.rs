//! Collects evidence for a task from an index: the lines that contain its words, and the places that call,
//! use or test the definitions on these lines. [`indexd_task`] ranks the evidence and writes the document.

use crate::error::PackError;
use aho_corasick::{AhoCorasick, MatchKind};
use indexd_model::{DefDoc, DefIdx, EdgeKind, FileDoc, FileRoles, IndexView, Outcome};
use indexd_task::queries::{self, Query};
use indexd_task::ranking::{Ranking, rank};
use indexd_task::{Line, Reference};
use std::collections::BTreeSet;

/// Maximum edges read into one definition.
const EDGES_MAX: usize = 200;
/// Maximum definitions of one file whose edges are read.
const DEFS_PER_FILE: usize = 6;
/// Maximum references in total.
const REFERENCES_MAX: usize = 400;

/// Ranks the files of a snapshot for a task.
///
/// # Errors
/// [`PackError::Cancelled`]; cancellation is checked once for each file.
pub fn ranking(view: &dyn IndexView, task: &str, cancel: &dyn Fn() -> bool) -> Result<Ranking, PackError> {
    let candidates = queries::candidates(task);
    let lines = lines(view, &candidates, cancel)?;
    let is_listed = |f: &FileDoc| !view.file(*f).roles.has(FileRoles::SENSITIVE);
    let paths: Vec<String> =
        view.files().into_iter().filter(is_listed).map(|f| view.path(f).to_string()).collect();
    Ok(rank(&candidates, &lines, &paths, &|hits| references(view, hits)))
}

/// Returns the lines of all texts that contain one of the queries, ignoring case, by path, then by number.
///
/// # Errors
/// [`PackError::Cancelled`].
pub fn lines(
    view: &dyn IndexView,
    queries: &[Query],
    cancel: &dyn Fn() -> bool,
) -> Result<Vec<Line>, PackError> {
    let patterns: Vec<&str> = queries.iter().map(|q| q.text.as_str()).collect();
    let mut builder = AhoCorasick::builder();
    let builder = builder.ascii_case_insensitive(true).match_kind(MatchKind::LeftmostFirst);
    let Ok(matcher) = builder.build(&patterns) else { return Ok(Vec::new()) };
    let mut out = Vec::new();
    for file in view.files().into_iter().filter(|_| !patterns.is_empty()) {
        if cancel() {
            return Err(PackError::Cancelled);
        }
        let record = view.file(file);
        if matches!(record.outcome, Outcome::Binary | Outcome::Sensitive | Outcome::TooLarge) {
            continue;
        }
        let text = view.text(file);
        let index = view.lines(file);
        let mut last = 0;
        for found in matcher.find_iter(text.as_bytes()) {
            let number = index.line(found.start() as u32);
            if number == last {
                continue;
            }
            last = number;
            let line = &text[index.span(number).range()];
            let text = line.trim_end_matches(['\n', '\r']).to_owned();
            out.push(Line { path: record.path.to_string(), number, text });
        }
    }
    Ok(out)
}

/// Returns the calls and uses of definitions on these lines, by resolved edges, best hits first.
fn references(view: &dyn IndexView, hits: &[(String, Vec<u32>)]) -> Vec<Reference> {
    let mut out = BTreeSet::new();
    for (path, lines) in hits {
        let Some(file) = view.file_by_path(path) else { continue };
        for (def, name) in defined_on(view, file, lines) {
            for edge in view.edges_to(def, &[EdgeKind::Call, EdgeKind::Usage], EDGES_MAX) {
                let site = view.def(edge.site()).file;
                if site == file {
                    continue;
                }
                let record = view.file(site);
                let is_test = record.roles.has(FileRoles::TEST);
                for o in edge.occurrences.iter().filter(|o| o.confidence >= 50).take(2) {
                    let path = record.path.to_string();
                    out.insert(Reference { path, line: o.line, symbol: name.clone(), is_test });
                }
            }
            if out.len() >= REFERENCES_MAX {
                return out.into_iter().collect();
            }
        }
    }
    out.into_iter().collect()
}

/// Returns the definitions whose names are on one of these lines, in source order.
fn defined_on(view: &dyn IndexView, file: FileDoc, lines: &[u32]) -> Vec<(DefDoc, String)> {
    let interface = view.interface(file);
    let index = view.lines(file);
    let mut out = Vec::new();
    let is_named = |d: &indexd_model::Def| !d.flags.has(indexd_model::DefFlags::ANONYMOUS);
    for (i, def) in interface.defs.iter().enumerate().filter(|(_, d)| is_named(d)) {
        if lines.binary_search(&index.line(def.name_span.start)).is_ok() && out.len() < DEFS_PER_FILE {
            let handle = view.def_doc(file, DefIdx(i as u32));
            out.push((handle, view.def(handle).name.to_string()));
        }
    }
    out
}
