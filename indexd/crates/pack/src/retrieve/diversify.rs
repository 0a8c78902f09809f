//! Demotes later units of a file, so that one file does not fill a pack.

use super::Hit;
use indexd_model::FileDoc;
use rustc_hash::FxHashMap;

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
