//! One content, one item: units by identity first, then by content, then by overlapping lines.
//!
//! Candidates come in rank order and the first of equals stays, so the best ranked survives and
//! the order of survivors is that of the input. Contents are told apart by their digests in the index,
//! where they have one, so that next to no text is read. That digests of 64 bits agree is no proof, as
//! whoever writes the texts can make two of them collide: [`are_equal`] looks at the texts.

use crate::candidate::Candidate;
use crate::identity::Sources;
use crate::unit::{Unit, Units};
use indexd_model::{FileDoc, Lines};
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

/// Decides for every candidate, in rank order; `same` says whether two units of one size have the same
/// text.
pub fn dedup(candidates: &[Candidate], mut same: impl FnMut(&Unit, &Unit) -> bool) -> Vec<Fate> {
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
            if fates[j] == Fate::Kept && same(&candidates[j].unit, &c.unit) {
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

/// Whether two units of one size seem to have the same text: those of one chunk by its digest and
/// their names, others by their texts.
pub fn seem_equal(units: &mut Units, sources: &mut Sources, a: &Unit, b: &Unit) -> bool {
    let same_digest = match (&a.chunks[..], &b.chunks[..]) {
        ([a], [b]) => Some(units.chunk(*a).digest == units.chunk(*b).digest),
        _ => None,
    };
    // A definition's text holds its name.
    let same_name = match (a.def.some(), b.def.some()) {
        (Some(a), Some(b)) if same_digest != Some(false) => units.def(a).name == units.def(b).name,
        _ => true,
    };
    same_name && same_digest.unwrap_or_else(|| are_equal(units, sources, a, b))
}

/// Whether two units have the same text.
pub fn are_equal(units: &Units, sources: &mut Sources, a: &Unit, b: &Unit) -> bool {
    let mut text = |u: &Unit| -> String {
        let source = sources.of(units.view, u.file);
        u.spans.iter().map(|(span, _)| source.slice(*span)).collect()
    };
    text(a) == text(b)
}

/// Marks what shares a line with a better candidate of the same file. Chunks of one extractor never
/// do, so this speaks up only for a view whose chunks come from elsewhere.
fn mark_overlaps(candidates: &[Candidate], fates: &mut [Fate]) {
    let mut taken = Taken::default();
    for (i, c) in candidates.iter().enumerate() {
        if fates[i] != Fate::Kept {
            continue;
        }
        let lines: Vec<Lines> = c.unit.spans.iter().map(|(_, lines)| *lines).collect();
        if let Some(better) = taken.claim(c.unit.file, &lines, i) {
            fates[i] = Fate::Overlaps(better);
        }
    }
}

/// Lines that are taken, by file and first line: the last line and whose they are. None overlap.
#[derive(Default)]
struct Taken(BTreeMap<(FileDoc, u32), (u32, usize)>);

impl Taken {
    /// Takes lines, or names whose they are already; adjacent lines are no overlap.
    fn claim(&mut self, file: FileDoc, lines: &[Lines], whose: usize) -> Option<usize> {
        let overlapped = lines.iter().find_map(|l| {
            let (at, (end, whose)) = self.0.range(..=(file, l.end)).next_back()?;
            (at.0 == file && *end >= l.start).then_some(*whose)
        });
        if overlapped.is_none() {
            self.0.extend(lines.iter().map(|l| ((file, l.start), (l.end, whose))));
        }
        overlapped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_once() {
        let mut taken = Taken::default();
        for (whose, (file, lines, expect)) in [
            (1, vec![(10, 20)], None),
            (1, vec![(21, 30)], None),
            (1, vec![(5, 9)], None),
            (2, vec![(10, 20)], None),
            (1, vec![(20, 20)], Some(0)),
            (1, vec![(9, 40)], Some(1)),
            (1, vec![(1, 5)], Some(2)),
            (1, vec![(50, 60), (70, 80)], None),
            (1, vec![(61, 69)], None),
            (1, vec![(65, 72)], Some(7)),
            (1, vec![(75, 75)], Some(7)),
            (2, vec![(1, 9), (15, 16)], Some(3)),
        ]
        .into_iter()
        .enumerate()
        {
            let lines: Vec<Lines> = lines.into_iter().map(|(start, end)| Lines { start, end }).collect();
            assert_eq!(taken.claim(FileDoc(file), &lines, whose), expect, "{file} {lines:?}");
        }
    }
}
