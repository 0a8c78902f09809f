//! The definitions around one: its users, those that it uses, and tests that reach it.

use super::names::{defs_of, is_test, members};
use super::relation::is_by_value;
use indexd_model::view::Edge;
use indexd_model::{DefDoc, DefFlags, DefIdx, EdgeKind, IndexView};
use rustc_hash::FxHashSet;

/// Edges read into one definition.
const EDGES_IN_MAX: usize = 512;
/// Callers whose own tests count as tests of the definition.
const CALLERS_FOLLOWED: usize = 20;
/// The kinds of edges that use a definition, calls and values first.
const USES: [EdgeKind; 5] =
    [EdgeKind::Call, EdgeKind::Usage, EdgeKind::Inherit, EdgeKind::Implement, EdgeKind::Import];

/// The definitions around one, each once.
pub struct Neighbors {
    /// Edges from callers, or from users if it is not a function, in the order of the index. Tests are left out.
    pub callers: Vec<Edge>,
    /// Callees of a function, members of a type, definitions of a file that are inside no other.
    pub callees: Vec<DefDoc>,
    /// Edges from tests, to the definition or to one of its first callers; tests before what helps them.
    pub tests: Vec<Edge>,
    /// True if there are more edges into it than are read.
    pub is_cut: bool,
}

/// Finds the neighbours of a definition or a file by edges of at least 50 percent.
pub fn neighbors(view: &dyn IndexView, def: DefDoc) -> Neighbors {
    let record = view.def(def);
    let is_file = record.idx == DefIdx::NONE;
    let is_callable = !is_file && record.kind.is_callable();
    // What is passed on as a value is called by whoever gets it.
    let mut into = view.edges_to(def, if is_callable { &USES[..2] } else { &USES }, EDGES_IN_MAX);
    if is_file {
        let own = defs_of(view, record.file).flat_map(|d| view.edges_to(d, &USES, EDGES_IN_MAX));
        into.extend(own.take(EDGES_IN_MAX));
        // Uses within the file say nothing about who needs it.
        into.retain(|e| view.def(e.source).file != record.file);
    }
    let is_cut = into.len() >= EDGES_IN_MAX;
    into.retain_mut(|e| !is_callable || e.kind == EdgeKind::Call || is_by_value(e));
    into = certain(into);
    if into.is_empty() && is_callable {
        into = certain(view.edges_to(def, &USES, EDGES_IN_MAX));
    }
    let mut seen = FxHashSet::default();
    into.retain(|e| seen.insert(e.source));
    let is_of_test = |e: &Edge| is_test(view, &view.def(e.source));
    let (mut tests, callers): (Vec<Edge>, Vec<Edge>) = into.into_iter().partition(is_of_test);
    for caller in callers.iter().take(CALLERS_FOLLOWED) {
        let reached = certain(view.edges_to(caller.source, &[EdgeKind::Call], EDGES_IN_MAX));
        tests.extend(reached.into_iter().filter(|e| is_of_test(e) && seen.insert(e.source)));
    }
    tests.sort_by_key(|e| !view.def(e.source).flags.has(DefFlags::TEST));
    let callees = if is_file {
        defs_of(view, record.file).filter(|&d| !view.def(d).qualified.contains('.')).collect()
    } else if is_callable {
        let mut seen = FxHashSet::default();
        let edges = certain(view.edges_from(def, &[EdgeKind::Call]));
        edges.into_iter().map(|e| e.target).filter(|d| seen.insert(*d)).collect()
    } else {
        members(view, def)
    };
    Neighbors { callers, callees, tests, is_cut }
}

fn certain(mut edges: Vec<Edge>) -> Vec<Edge> {
    edges.retain(|e| e.certain_use().is_some());
    edges
}
