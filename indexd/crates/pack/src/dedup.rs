//! One content, one item: units by identity first, then by content, then by overlapping lines.
//!
//! Candidates come in rank order and the first of equals stays, so the best ranked survives and
//! the order of survivors is that of the input. Content is read only where sizes agree, which keeps
//! the stage at `O(n log n)` without touching most texts.

use crate::candidate::Candidate;
use crate::identity::{Source, Sources};
use crate::unit::Unit;
use indexd_model::{FileDoc, IndexView};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Where each candidate ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It stays.
    Kept,
    /// Its content is that of the candidate at this position.
    SameAs(usize),
    /// It overlaps the lines of the candidate at this position.
    Overlaps(usize),
}

/// Decides for every candidate, in rank order.
pub fn dedup(view: &dyn IndexView, candidates: &[Candidate], sources: &mut Sources) -> Vec<Fate> {
    let mut fates = vec![Fate::Kept; candidates.len()];
    let mut by_size: FxHashMap<(u32, u32), Vec<usize>> = FxHashMap::default();
    for (i, c) in candidates.iter().enumerate() {
        by_size.entry(size(&c.unit)).or_default().push(i);
    }
    for (i, c) in candidates.iter().enumerate() {
        let equals = &by_size[&size(&c.unit)];
        if equals.len() < 2 {
            continue;
        }
        for &j in equals.iter().take_while(|j| **j < i) {
            if fates[j] == Fate::Kept && same_text(view, &candidates[j].unit, &c.unit, sources) {
                fates[i] = Fate::SameAs(j);
                break;
            }
        }
    }
    mark_overlaps(candidates, &mut fates);
    fates
}

/// Bytes and lines: equal texts agree in both.
fn size(unit: &Unit) -> (u32, u32) {
    (unit.spans.iter().map(|(s, _)| s.len()).sum(), unit.spans.iter().map(|(_, l)| l.count()).sum())
}

fn same_text(view: &dyn IndexView, a: &Unit, b: &Unit, sources: &mut Sources) -> bool {
    // A definition's text holds its name.
    let name = |u: &Unit| u.def.some().map(|d| view.def(d).name);
    if let (Some(a), Some(b)) = (name(a), name(b))
        && a != b
    {
        return false;
    }
    let (left, right) = (sources.of(view, a.file), sources.of(view, b.file));
    if let ([a], [b]) = (&a.spans[..], &b.spans[..]) {
        return left.slice(a.0) == right.slice(b.0);
    }
    let text = |s: &Source, u: &Unit| -> String { u.spans.iter().map(|(span, _)| s.slice(*span)).collect() };
    text(&left, a) == text(&right, b)
}

/// Marks what shares a line with a better candidate of the same file; adjacent lines are no overlap.
fn mark_overlaps(candidates: &[Candidate], fates: &mut [Fate]) {
    // Lines taken by better candidates, which do not overlap each other: start -> (end, whose).
    let mut taken: BTreeMap<(FileDoc, u32), (u32, usize)> = BTreeMap::new();
    for (i, c) in candidates.iter().enumerate() {
        if fates[i] != Fate::Kept {
            continue;
        }
        let file = c.unit.file;
        let overlapped = c.unit.spans.iter().find_map(|(_, l)| {
            let (at, (end, whose)) = taken.range(..=(file, l.end)).next_back()?;
            (at.0 == file && *end >= l.start).then_some(*whose)
        });
        match overlapped {
            Some(j) => fates[i] = Fate::Overlaps(j),
            None => taken.extend(c.unit.spans.iter().map(|(_, l)| ((file, l.start), (l.end, i)))),
        }
    }
}
