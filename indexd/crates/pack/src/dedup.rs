//! Removes duplicates: units with the same identity, with the same content, or with overlapping lines.
//!
//! Candidates come in rank order. The first of equal ones stays, so the best survives and the order does not
//! change. Contents are compared by the digests in the index, so no text is read, and equal ones are found by
//! hashing, so the work is linear in the number of candidates. Digests of 64 bits can collide, by intent too,
//! so the texts of shown candidates are compared.

use crate::identity::Sources;
use crate::unit::{Unit, Units};
use indexd_model::{FileDoc, Lines};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::rc::Rc;
use std::sync::Arc;

/// The outcome of deduplication for one candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It stays.
    Kept,
    /// Its content equals that of the candidate at this position.
    SameAs(usize),
    /// Its lines overlap those of a better candidate.
    Overlaps,
}

/// Decides the fate of every unit, in rank order. `content` returns a value that is equal for units with
/// equal texts. It is called once for each unit that shares its size with another one.
pub fn dedup<K: Eq + Hash>(units: &[Rc<Unit>], mut content: impl FnMut(&Unit) -> K) -> Vec<Fate> {
    let mut n_of_size: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    for unit in units {
        *n_of_size.entry(unit.size()).or_default() += 1;
    }
    let mut first: FxHashMap<((u32, u32), K), usize> = FxHashMap::default();
    let mut fates = vec![Fate::Kept; units.len()];
    for (i, unit) in units.iter().enumerate().filter(|(_, u)| n_of_size[&u.size()] > 1) {
        match first.entry((unit.size(), content(unit))) {
            Entry::Occupied(known) => fates[i] = Fate::SameAs(*known.get()),
            Entry::Vacant(new) => {
                new.insert(i);
            }
        }
    }
    mark_overlaps(units, &mut fates);
    fates
}

/// Compares contents without a text: the digests of the chunks, and the name of the definition, which its
/// text contains.
pub fn digests(units: &mut Units, unit: &Unit) -> (SmallVec<[u64; 2]>, Option<Arc<str>>) {
    let digests = unit.chunks.iter().map(|c| units.chunk(*c).digest).collect();
    (digests, unit.def.some().map(|d| Arc::clone(&units.def(d).name)))
}

/// The text of a unit.
pub fn text(units: &Units, sources: &mut Sources, unit: &Unit) -> String {
    let source = sources.of(units.view, unit.file);
    unit.spans.iter().map(|(span, _)| source.slice(*span)).collect()
}

/// Marks units that share a line with a better candidate of the same file. Chunks of our own extractors never
/// overlap; those of other views may.
fn mark_overlaps(units: &[Rc<Unit>], fates: &mut [Fate]) {
    let mut taken = Taken::default();
    for (unit, fate) in units.iter().zip(fates).filter(|(_, fate)| **fate == Fate::Kept) {
        let lines: Vec<Lines> = unit.spans.iter().map(|(_, lines)| *lines).collect();
        if !taken.claim(unit.file, &lines) {
            *fate = Fate::Overlaps;
        }
    }
}

/// Lines that are taken, by file and first line: the last line. They do not overlap.
#[derive(Default)]
struct Taken(BTreeMap<(FileDoc, u32), u32>);

impl Taken {
    /// Takes lines; false if some of them were taken before. Adjacent lines do not overlap.
    fn claim(&mut self, file: FileDoc, lines: &[Lines]) -> bool {
        let is_taken = |l: &Lines| {
            let before = self.0.range(..=(file, l.end)).next_back();
            before.is_some_and(|(at, end)| at.0 == file && *end >= l.start)
        };
        let is_free = !lines.iter().any(is_taken);
        if is_free {
            self.0.extend(lines.iter().map(|l| ((file, l.start), l.end)));
        }
        is_free
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::UnitKey;
    use indexd_model::{ChunkDoc, ChunkKind, DefDoc, Span};

    /// A function of one line and 20 bytes, the `n`th of its file.
    fn unit(n: u32) -> Rc<Unit> {
        let span = Span { start: 20 * n, end: 20 * n + 20 };
        Rc::new(Unit {
            key: UnitKey(ChunkDoc(n)),
            file: FileDoc(0),
            def: DefDoc::NONE,
            kind: ChunkKind::Lines,
            chunks: SmallVec::from_slice(&[ChunkDoc(n)]),
            spans: SmallVec::from_slice(&[(span, Lines { start: n + 1, end: n + 1 })]),
        })
    }

    #[test]
    fn every_content_is_looked_at_once_however_many_have_its_size() {
        const N: u32 = 20_000;
        let units: Vec<Rc<Unit>> = (0..N).map(unit).collect();
        for n_contents in [1, 7, N] {
            let mut asked = 0;
            let fates = dedup(&units, |u| {
                asked += 1;
                u.key.0.0 % n_contents
            });
            assert_eq!(asked, N);
            let is_right = |(i, fate): (usize, &Fate)| match fate {
                Fate::Kept => (i as u32) < n_contents,
                Fate::SameAs(first) => *first == i % n_contents as usize && *first < i,
                Fate::Overlaps => false,
            };
            assert!(fates.iter().enumerate().all(is_right), "{n_contents}");
        }
    }

    #[test]
    fn lines_are_taken_once() {
        let mut taken = Taken::default();
        for (file, lines, is_free) in [
            (1, vec![(10, 20)], true),
            (1, vec![(21, 30)], true),
            (1, vec![(5, 9)], true),
            (2, vec![(10, 20)], true),
            (1, vec![(20, 20)], false),
            (1, vec![(9, 40)], false),
            (1, vec![(1, 5)], false),
            (1, vec![(50, 60), (70, 80)], true),
            (1, vec![(61, 69)], true),
            (1, vec![(65, 72)], false),
            (1, vec![(75, 75)], false),
            (2, vec![(1, 9), (15, 16)], false),
        ] {
            let lines: Vec<Lines> = lines.into_iter().map(|(start, end)| Lines { start, end }).collect();
            assert_eq!(taken.claim(FileDoc(file), &lines), is_free, "{file} {lines:?}");
        }
    }
}
