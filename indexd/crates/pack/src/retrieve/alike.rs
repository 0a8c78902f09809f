//! Definitions that look alike: wrappers that differ in a name, the same method of a synchronous and
//! an asynchronous class, cases of a test. Whoever has read one of them has read the others.

use super::Hit;
use crate::unit::{Unit, Units};
use indexd_model::view::digest_of;
use std::sync::Arc;

/// Hits that are compared, the best: about as many as have a chance to be shown.
const HITS_MAX: usize = 60;
/// Lines that are not blank. Of fewer, some are the same by chance, and they take little room.
const LINES_MIN: usize = 6;
/// Lines that have to be the same, in tenths of those of the longer one.
const SAME_TENTHS: usize = 7;

/// For each of the best hits, how many better ones it looks like. Expects a sorted table.
pub fn count(units: &mut Units, hits: &[Hit]) -> Vec<i32> {
    let best: Vec<&Unit> = hits.iter().take(HITS_MAX).map(|h| &*h.unit).collect();
    let names: Vec<Option<Arc<str>>> = best
        .iter()
        .map(|unit| unit.def.some().filter(|_| unit.lines().count() as usize >= LINES_MIN))
        .map(|def| def.map(|def| Arc::clone(&units.def(def).name)))
        .collect();
    // What looks alike stands in one file or bears one name and is of about one length, so the texts of
    // few are read.
    let n_lines: Vec<u32> = best.iter().map(|unit| unit.lines().count()).collect();
    let are_near = |i: usize, j: usize| match (&names[i], &names[j]) {
        (Some(a), Some(b)) if i != j && (best[i].file == best[j].file || a == b) => {
            2 * n_lines[i].min(n_lines[j]) >= n_lines[i].max(n_lines[j])
        }
        _ => false,
    };
    let all = || 0..best.len();
    let shapes: Vec<Vec<u64>> = all()
        .map(|i| if all().any(|j| are_near(i, j)) { shape(units, best[i]) } else { Vec::new() })
        .collect();
    let is_like = |i: usize, j: usize| {
        are_near(i, j) && shapes[i].len() >= LINES_MIN && are_alike(&shapes[i], &shapes[j])
    };
    all().map(|i| (0..i).filter(|j| is_like(i, *j)).count() as i32).collect()
}

/// Digests of the lines that are not blank, without what surrounds them, ascending.
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

/// How many values two ascending runs share, repeated ones as often as both have them.
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
