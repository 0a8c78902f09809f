//! Demotes hits that add little to better ones: later units of a file, so that one file does not fill a pack,
//! and units that repeat two better ones.

use super::Hit;
use crate::unit::{Unit, Units};
use indexd_model::path::dir_of;
use indexd_model::view::{DefRecord, digest_of};
use indexd_model::{DefFlags, FileDoc, Language};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Number of best hits that are compared; about as many as may be shown.
const HITS_MAX: usize = 60;
/// Minimum lines that are not blank. Shorter units may agree by chance, and they take few tokens.
const LINES_MIN: usize = 6;
/// Minimum equal lines, in tenths of the lines of the longer unit.
const SAME_TENTHS: usize = 7;

/// Sorts hits by total, best first, equal ones by path and place.
pub fn sort(hits: &mut [Hit]) {
    hits.sort_by(|a, b| {
        b.total
            .total_cmp(&a.total)
            .then_with(|| a.file.path.cmp(&b.file.path))
            .then_with(|| a.unit.spans[0].0.start.cmp(&b.unit.spans[0].0.start))
    });
}

/// Multiplies the `n`-th unit of a file, from 0, by `1 / (1 + by * n)`. Expects sorted hits and leaves them
/// sorted.
pub fn crowding(hits: &mut [Hit], by: f64) {
    let mut seen: FxHashMap<FileDoc, u32> = FxHashMap::default();
    for h in hits.iter_mut() {
        let n = seen.entry(h.unit.file).or_insert(0);
        h.scored.crowding = 1.0 / (1.0 + by * f64::from(*n));
        h.total *= h.scored.crowding;
        *n += 1;
    }
    sort(hits);
}

/// Demotes repetitions among the best hits. A hit is multiplied by `keep` for every better hit with its name
/// and scope (one file for each platform, overloads, branches of a condition), and for every better
/// near-duplicate except the first. Expects sorted hits and leaves them sorted.
pub fn likeness(units: &mut Units, hits: &mut [Hit], keep: f64) {
    if keep >= 1.0 {
        return;
    }
    let n = hits.len().min(HITS_MAX);
    let defs: Vec<Option<Rc<DefRecord>>> =
        hits[..n].iter().map(|h| h.unit.def.some().map(|d| units.def(d))).collect();
    let n_alike = count_alike(units, &hits[..n], &defs);
    let mut scopes: FxHashSet<(&str, &str)> = FxHashSet::default();
    for ((h, def), n_alike) in hits[..n].iter_mut().zip(&defs).zip(n_alike) {
        let mut n_repeated = (n_alike - 1).max(0);
        if let Some(def) = def {
            // All files of a Go package share a scope, and `init` may occur many times in it.
            let is_go = h.file.language == Language::Go;
            let scope = if is_go { dir_of(&h.file.path) } else { &h.file.path };
            let may_repeat = def.flags.has(DefFlags::SETTER) || (is_go && &*def.name == "init");
            let is_new = scopes.insert((scope, &def.qualified));
            n_repeated += i32::from(!may_repeat && !is_new);
        }
        h.scored.likeness = keep.powi(n_repeated);
        h.total *= h.scored.likeness;
    }
    drop(scopes);
    sort(hits);
}

/// For each hit, the number of better near-duplicates.
fn count_alike(units: &Units, hits: &[Hit], defs: &[Option<Rc<DefRecord>>]) -> Vec<i32> {
    // Near-duplicates are in one file or share a name, and have about the same length. Only texts of such
    // pairs are read.
    let n_lines: Vec<u32> = hits.iter().map(|h| h.unit.lines().count()).collect();
    let are_near = |i: usize, j: usize| match (&defs[i], &defs[j]) {
        (Some(a), Some(b)) if i != j && (hits[i].unit.file == hits[j].unit.file || a.name == b.name) => {
            let (less, more) = (n_lines[i].min(n_lines[j]), n_lines[i].max(n_lines[j]));
            less as usize >= LINES_MIN && 2 * less >= more
        }
        _ => false,
    };
    let all = || 0..hits.len();
    let shapes: Vec<Vec<u64>> = all()
        .map(|i| if all().any(|j| are_near(i, j)) { shape(units, &hits[i].unit) } else { Vec::new() })
        .collect();
    let is_like = |i: usize, j: usize| {
        are_near(i, j) && shapes[i].len() >= LINES_MIN && are_alike(&shapes[i], &shapes[j])
    };
    all().map(|i| (0..i).filter(|j| is_like(i, *j)).count() as i32).collect()
}

/// Digests of the lines that are not blank, without surrounding blanks, ascending.
fn shape(units: &Units, unit: &Unit) -> Vec<u64> {
    let text = units.view.text(unit.file);
    let parts = unit.spans.iter().filter_map(|(span, _)| text.get(span.range()));
    let lines = parts.flat_map(|part| part.split('\n')).map(str::trim).filter(|line| !line.is_empty());
    let mut shape: Vec<u64> = lines.map(digest_of).collect();
    shape.sort_unstable();
    shape
}

fn are_alike(a: &[u64], b: &[u64]) -> bool {
    let needed = (a.len().max(b.len()) * SAME_TENTHS).div_ceil(10);
    a.len().min(b.len()) >= needed && n_common(a, b) >= needed
}

/// The number of common values of two ascending lists; repeated values count as often as both contain them.
fn n_common(a: &[u64], b: &[u64]) -> usize {
    let (mut i, mut j, mut n) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, n) = (i + 1, j + 1, n + 1),
        }
    }
    n
}

#[cfg(test)]
mod tests {
    use super::are_alike;

    #[test]
    fn most_lines_of_the_longer_one_are_the_same() {
        let ten: Vec<u64> = (0..10).collect();
        for (other, alike) in [
            (vec![0, 1, 2, 3, 4, 5, 6], true),
            (vec![0, 1, 2, 3, 4, 5], false),
            (vec![0, 1, 2, 3, 4, 5, 6, 70, 80, 90], true),
            (vec![0, 1, 2, 3, 4, 5, 60, 70, 80, 90], false),
            (vec![0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13], true),
            (vec![0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14], false),
            (vec![3; 10], false),
        ] {
            assert_eq!(are_alike(&ten, &other), alike, "{other:?}");
            assert_eq!(are_alike(&other, &ten), alike, "{other:?}");
        }
    }
}
