//! From good hits to what belongs to them: a test says in words what it exercises in code, so what
//! a well-fitting test calls gains from it, by resolved edges; definitions of one name in several
//! places change together.

use super::{Role, Signal, Table};
use crate::unit::Units;
use indexd_model::EdgeKind;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Tests that are looked at, the best.
const TESTS_MAX: usize = 8;
/// Edges read of one test.
const EDGES_MAX: usize = 40;
/// Hits whose siblings gain, the best.
const HITS_MAX: usize = 8;
/// Hits of one name; more say nothing.
const SIBLINGS_MAX: usize = 12;
/// Hits among which siblings are looked for, the best: each costs a look at its definition.
const NAMED_MAX: usize = 150;

/// Marks what the best tests call, and says whether there was anything to mark. Expects a sorted
/// table.
pub fn mark_tests(units: &mut Units, table: &mut Table) -> bool {
    let lexical = |h: &super::Hit| h.signals.get(Signal::Lexical);
    let top = table.hits.iter().filter(|h| h.role == Role::Test).map(lexical).fold(0.0, f64::max);
    let tests: Vec<_> = table
        .hits
        .iter()
        .filter(|h| h.role == Role::Test && h.unit.def.some().is_some() && lexical(h) >= 0.5 * top)
        .take(TESTS_MAX)
        .map(|h| (h.unit.def, lexical(h)))
        .collect();
    let mut any = false;
    for (def, strength) in tests {
        let calls = units.view.edges_from(def, &[EdgeKind::Call]);
        for e in calls.iter().take(EDGES_MAX) {
            let Some(unit) = units.of_def(e.target) else { continue };
            let hit = table.hit(units, unit);
            if hit.role == Role::Code {
                // What everything calls says nothing about this test.
                let callers = f64::from(units.view.in_degree(e.target, EdgeKind::Call).max(1));
                let confidence = e.occurrences.iter().map(|o| o.confidence).max().unwrap_or(0);
                hit.signals
                    .raise(Signal::TestBridge, strength * f64::from(confidence) / 100.0 / callers.sqrt());
                any = true;
            }
        }
    }
    any
}

/// Marks the hits that share the name of one of the best, and says whether there were any.
pub fn mark_siblings(units: &mut Units, table: &mut Table) -> bool {
    let names: Vec<Option<Arc<str>>> = table
        .hits
        .iter()
        .take(NAMED_MAX)
        .map(|h| {
            let def = (h.role == Role::Code).then(|| h.unit.def.some()).flatten()?;
            let record = units.def(def);
            record.kind.is_callable().then(|| Arc::clone(&record.name))
        })
        .collect();
    let mut by_name: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (i, name) in names.iter().enumerate() {
        if let Some(name) = name {
            by_name.entry(name).or_default().push(i);
        }
    }
    let top = table.hits.first().map_or(0.0, |h| h.total);
    let mut any = false;
    for (i, name) in names.iter().enumerate().take(HITS_MAX) {
        let Some(same) = name.as_deref().and_then(|n| by_name.get(n)) else { continue };
        if same.len() < 2 || same.len() > SIBLINGS_MAX {
            continue;
        }
        let strength = table.hits[i].total / top.max(f64::MIN_POSITIVE) / ((same.len() - 1) as f64).sqrt();
        for &j in same.iter().filter(|j| **j != i) {
            table.hits[j].signals.raise(Signal::Sibling, strength);
            any = true;
        }
    }
    any
}
