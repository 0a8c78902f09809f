//! Raises units that edges connect with good hits. A test describes in words what it calls, so callees of
//! matching tests are raised. For questions, units that call or are called by matching ones are raised.

use super::{Hit, Table};
use crate::role::Role;
use crate::score::Feature;
use crate::unit::{UnitKey, Units};
use indexd_model::EdgeKind;
use indexd_model::view::Edge;
use rustc_hash::FxHashMap;

/// Number of best tests.
const TESTS_MAX: usize = 8;
/// Maximum edges read of one definition.
const EDGES_MAX: usize = 40;
/// Number of best hits whose neighbours are raised.
const HITS_MAX: usize = 30;

fn confidence(edge: &Edge) -> f64 {
    f64::from(edge.occurrences.iter().map(|o| o.confidence).max().unwrap_or(0)) / 100.0
}

/// Sets the feature `tests` on the callees of the best tests. Expects a sorted table.
pub fn mark_tests(units: &mut Units, table: &mut Table) {
    let words = |h: &Hit| h.scored.features.get(Feature::Words);
    let top = table.hits.iter().filter(|h| h.role == Role::Test).map(words).fold(0.0, f64::max);
    let tests: Vec<_> = table
        .hits
        .iter()
        .filter(|h| h.role == Role::Test && h.unit.def.some().is_some() && words(h) >= 0.5 * top)
        .take(TESTS_MAX)
        .map(|h| (h.unit.def, words(h)))
        .collect();
    for (def, strength) in tests {
        for e in units.edges(def).iter().filter(|e| e.kind == EdgeKind::Call).take(EDGES_MAX) {
            let Some(unit) = units.of_def(e.target) else { continue };
            let hit = table.hit(units, unit);
            if hit.role == Role::Code {
                // A function that everything calls is not specific to this test.
                let callers = f64::from(units.view.in_degree(e.target, EdgeKind::Call).max(1));
                hit.scored.features.raise(Feature::Tests, strength * confidence(e) / callers.sqrt());
            }
        }
    }
}

/// Sets the feature `neighbours` on callers and callees of the best hits: one step of a random walk with
/// restart. Each hit passes its total to its neighbours, divided by the square root of their number. Expects
/// a sorted table.
pub fn mark_neighbours(units: &mut Units, table: &mut Table) {
    let top = table.hits.first().map_or(0.0, |h| h.total).max(f64::MIN_POSITIVE);
    let is_source = |h: &&Hit| h.role == Role::Code && h.unit.def.some().is_some();
    let best: Vec<_> = table
        .hits
        .iter()
        .filter(is_source)
        .take(HITS_MAX)
        .map(|h| (h.unit.def, h.unit.key, h.total / top))
        .collect();
    let mut sums: FxHashMap<UnitKey, f64> = FxHashMap::default();
    let mut order = Vec::new();
    for (def, key, strength) in best {
        let out = units.edges(def);
        let into = units.view.edges_to(def, &[EdgeKind::Call], EDGES_MAX);
        let n_callers = into.len().max(1) as f64;
        let mut add = |units: &mut Units, def, part: f64| {
            let Some(unit) = units.of_def(def).filter(|u| u.key != key) else { return };
            let at = sums.entry(unit.key).or_insert_with(|| {
                order.push(unit);
                0.0
            });
            *at += part;
        };
        for e in out.iter().filter(|e| e.kind == EdgeKind::Call).take(EDGES_MAX) {
            let callers = f64::from(units.view.in_degree(e.target, EdgeKind::Call).max(1));
            add(units, e.target, strength * confidence(e) / callers.sqrt());
        }
        for e in into {
            add(units, e.source, strength * confidence(&e) / n_callers.sqrt());
        }
    }
    let most = sums.values().fold(f64::MIN_POSITIVE, |a, b| a.max(*b));
    for unit in order {
        let strength = sums[&unit.key] / most;
        let hit = table.hit(units, unit);
        if hit.role == Role::Code {
            hit.scored.features.raise(Feature::Neighbours, strength);
        }
    }
}
