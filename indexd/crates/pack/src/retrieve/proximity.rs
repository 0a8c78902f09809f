//! Words that stand together: a few neighbouring lines that hold much of the text say more than the
//! same words scattered over a definition. Bounded: only the best units are read.

use super::lexical::Weighted;
use super::{Role, Signal, Table};
use crate::unit::Units;
use indexd_text::LineMatcher;
use rustc_hash::FxHashMap;

/// Units that are read, the best.
const UNITS_MAX: usize = 60;
/// Bytes read.
const BYTES_MAX: u32 = 192 << 10;
/// Lines that count as together.
const LINES: u32 = 3;

/// Marks each of the best units with the share of the query's weight that its best lines hold.
/// Expects a sorted table; says whether there was anything to mark.
pub fn mark(units: &Units, weighted: &Weighted, table: &mut Table) -> bool {
    let total: f32 = weighted.terms.iter().map(|t| t.1).sum();
    if total <= 0.0 {
        return false;
    }
    let mut matcher = LineMatcher::new(weighted.terms.iter().map(|t| t.0.as_str()));
    let mut texts = FxHashMap::default();
    let mut found = Vec::new();
    let mut read = 0;
    for h in table.hits.iter_mut().filter(|h| h.role == Role::Code).take(UNITS_MAX) {
        let text = texts.entry(h.unit.file).or_insert_with(|| units.view.text(h.unit.file));
        let mut best = 0.0f32;
        for (span, _) in &h.unit.spans {
            read += span.len();
            found.clear();
            matcher.find(text.get(span.range()).unwrap_or(""), &mut found);
            best = best.max(best_lines(&found, weighted));
        }
        h.signals.raise(Signal::Proximity, f64::from(best / total));
        if read > BYTES_MAX {
            break;
        }
    }
    true
}

/// The largest weight of distinct terms within [`LINES`] lines; `found` is sorted by line.
fn best_lines(found: &[(u32, u32)], weighted: &Weighted) -> f32 {
    let mut best = 0.0f32;
    let mut seen: Vec<u32> = Vec::new();
    for (i, &(line, _)) in found.iter().enumerate() {
        if i > 0 && found[i - 1].0 == line {
            continue;
        }
        seen.clear();
        let mut sum = 0.0;
        for &(at, term) in &found[i..] {
            if at >= line + LINES {
                break;
            }
            if !seen.contains(&term) {
                seen.push(term);
                sum += weighted.terms[term as usize].1;
            }
        }
        best = best.max(sum);
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_on_neighbouring_lines_add_up_once_each() {
        let weighted = Weighted { terms: vec![("a".into(), 1.0), ("b".into(), 2.0), ("c".into(), 4.0)] };
        for (found, expect) in [
            (vec![], 0.0),
            (vec![(0, 0), (0, 0), (1, 1)], 3.0),
            (vec![(0, 0), (2, 1), (3, 2)], 6.0),
            (vec![(0, 2), (9, 0), (9, 1)], 4.0),
        ] {
            assert_eq!(best_lines(&found, &weighted), expect, "{found:?}");
        }
    }
}
