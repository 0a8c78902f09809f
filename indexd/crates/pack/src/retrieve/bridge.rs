//! Tests as a bridge: a test says in words what it exercises in code. What a well-fitting test
//! calls, by resolved edges, gains from it.

use super::{Role, Signal, Table};
use crate::unit::Units;
use indexd_model::EdgeKind;

/// Tests that are looked at, the best.
const TESTS_MAX: usize = 8;
/// Edges read of one test.
const EDGES_MAX: usize = 40;

/// Marks what the best tests call, and says whether there was anything to mark. Expects a sorted
/// table.
pub fn mark(units: &mut Units, table: &mut Table) -> bool {
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
        let edges = units.view.edges_from(def);
        let calls = edges.iter().filter(|e| e.kind == EdgeKind::Call).take(EDGES_MAX);
        for e in calls {
            let Some(unit) = units.of_def(e.target) else { continue };
            // What everything calls says nothing about this test.
            let callers = f64::from(units.view.in_degree(e.target, EdgeKind::Call).max(1));
            let confidence = e.occurrences.iter().map(|o| o.confidence).max().unwrap_or(0);
            let hit = table.hit(units, unit);
            if hit.role == Role::Code {
                hit.signals.raise(Signal::TestBridge, strength * f64::from(confidence) / 100.0 / callers.sqrt());
                any = true;
            }
        }
    }
    any
}
