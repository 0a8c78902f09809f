//! Callers, users, implementations and dependents of definitions, and their callees.

use super::names::{defs_of, members};
use super::walk::{Bounds, End, Visitor, walk};
pub use indexd_api::graph::Relation;
use indexd_model::view::Edge;
use indexd_model::{DefDoc, DefIdx, DefKind, EdgeKind, FileDoc, IndexView, Role, Rule};
use rustc_hash::FxHashSet;

/// Edges into one definition that are counted.
const EDGES_COUNTED_MAX: usize = 20_000;
/// Calls of a method in the place of another that are counted.
const CALLS_COUNTED_MAX: usize = 2_000;

fn kinds(relation: Relation) -> &'static [EdgeKind] {
    use EdgeKind::{Call, Export, Implement, Import, Inherit, Usage};
    match relation {
        // A function that is passed on as a value is called by whoever gets it.
        Relation::Callers => &[Call, Usage],
        Relation::Callees => &[Call],
        Relation::Implementations => &[Inherit, Implement],
        Relation::Refs | Relation::Impact => &[Call, Usage, Import, Export, Inherit, Implement],
        Relation::Around => &[Call, Usage, Inherit, Implement],
    }
}

/// The edges of `def` that a relation follows; with `limit` for both directions of [`Relation::Around`].
fn edges(relation: Relation, view: &dyn IndexView, def: DefDoc, limit: usize) -> Vec<Edge> {
    let from = || view.edges_from(def, kinds(relation));
    // More than can be shown, so that a cut is counted.
    let into = |limit| view.edges_to(def, kinds(relation), limit);
    match relation {
        Relation::Callees => from(),
        Relation::Around => in_turn(into(limit + 1), from()),
        Relation::Implementations => into(EDGES_COUNTED_MAX).into_iter().chain(from()).collect(),
        Relation::Callers => {
            let (mut edges, kind) = (into(EDGES_COUNTED_MAX), view.def(def).kind);
            edges.retain_mut(|e| e.kind == EdgeKind::Call || kind.is_callable() && is_by_value(e));
            edges
        }
        Relation::Refs => into(EDGES_COUNTED_MAX),
        Relation::Impact => into(EDGES_COUNTED_MAX).into_iter().chain(written_by(view, def)).collect(),
    }
}

/// The fields and variables that a definition writes: who reads them depends on it. Readers and
/// users of results have edges of their own, and nobody depends on a caller for its arguments.
fn written_by(view: &dyn IndexView, def: DefDoc) -> Vec<Edge> {
    let mut edges = view.edges_from(def, &[EdgeKind::Dataflow]);
    edges.retain(|e| !view.def(e.target).kind.is_callable());
    edges
}

/// Keeps of an edge the places where a function is a value and not called; false if there are none.
pub fn is_by_value(edge: &mut Edge) -> bool {
    edge.occurrences.retain(|o| matches!(o.role, Role::Read | Role::Field | Role::Decorator));
    !edge.occurrences.is_empty()
}

/// One of each in turn, so that a limit cuts both alike.
fn in_turn(into: Vec<Edge>, from: Vec<Edge>) -> Vec<Edge> {
    let mut out = Vec::with_capacity(into.len() + from.len());
    let (mut into, mut from) = (into.into_iter(), from.into_iter());
    loop {
        let before = out.len();
        out.extend(into.next().into_iter().chain(from.next()));
        if out.len() == before {
            return out;
        }
    }
}

/// A question and its bounds.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// A question.
    pub relation: Relation,
    /// Maximum edges from a root, from 1.
    pub depth: u32,
    /// Maximum edges in the answer.
    pub limit: usize,
    /// Percent; edges below are counted and not walked.
    pub min_confidence: u8,
    /// True if calls of methods that a root implements or overrides are edges of the answer.
    pub dispatch: bool,
}

/// An edge of an answer.
#[derive(Clone, Debug)]
pub struct Met {
    /// Edges from a root, from 1.
    pub depth: u32,
    /// The edge, with the places that count.
    pub edge: Edge,
    /// Percent: the best of its places.
    pub confidence: u8,
    /// The root that may be called in the place of the edge's target; `None` for an edge to the target itself.
    pub in_place_of: Option<DefDoc>,
}

/// A method that is called in the place of a root.
#[derive(Clone, Debug)]
pub struct Dispatched {
    /// The root that implements or overrides it.
    pub root: DefDoc,
    /// The method; it has a parent.
    pub method: DefDoc,
    /// The edges of its calls, at least one.
    pub calls: Vec<Edge>,
}

/// The answer to a question.
#[derive(Clone, Debug, Default)]
pub struct Walked {
    /// By depth, then in the order of the walk; of [`Relation::Around`] then by place.
    pub edges: Vec<Met>,
    /// Edges that were met; more than in `edges` where the limit cut them.
    pub n_edges: u64,
    /// Edges below the confidence asked for.
    pub below: u64,
    /// True if the limit stopped the walk.
    pub is_bounded: bool,
    /// For [`Relation::Callers`] and [`Relation::Impact`]: methods that are called in the place of a root.
    pub dispatched: Vec<Dispatched>,
}

/// Walks from `roots` as `question` says. `None` if it was cancelled.
pub fn ask(
    view: &dyn IndexView,
    roots: &[DefDoc],
    question: &Question,
    cancel: &dyn Fn() -> bool,
) -> Option<Walked> {
    let relation = question.relation;
    let of_name = roots.iter().copied().filter(|d| view.def(*d).idx != DefIdx::NONE);
    let mut asker = Asker {
        view,
        question,
        roots: of_name.collect(),
        seen: FxHashSet::default(),
        files: FxHashSet::default(),
        walked: FxHashSet::default(),
        places: FxHashSet::default(),
        out: Walked::default(),
    };
    let start = asker.start(roots);
    let bounds = Bounds { hops: question.depth, nodes: u32::MAX };
    if walk(&mut asker, start, bounds, cancel) == End::Cancelled {
        return None;
    }
    if relation == Relation::Around {
        asker.out.edges.sort_by_cached_key(|met| {
            let [source, target] = [met.edge.source, met.edge.target].map(|d| view.def(d));
            let line = met.edge.occurrences.first().map_or(0, |o| o.line);
            (met.depth, view.path(source.file), line, target.name, met.edge.kind.name())
        });
    }
    match relation {
        Relation::Callers => asker.dispatch(roots, question.dispatch),
        // Callers of a base's method are only named: they may never run this one.
        Relation::Impact | Relation::Refs => asker.dispatch(roots, false),
        _ => {}
    }
    Some(asker.out)
}

/// The walk of one question.
struct Asker<'a> {
    view: &'a dyn IndexView,
    question: &'a Question,
    /// The definitions asked for, without whole files.
    roots: FxHashSet<DefDoc>,
    seen: FxHashSet<DefDoc>,
    /// Files asked about as wholes, with all that they define: edges inside them say nothing.
    files: FxHashSet<FileDoc>,
    /// Edges that were met, for walks that come to them from both ends.
    walked: FxHashSet<(DefDoc, DefDoc, EdgeKind)>,
    /// Places whose candidates are all asked for, which are shown once.
    places: FxHashSet<(DefDoc, u32)>,
    out: Walked,
}

impl Visitor for Asker<'_> {
    type Node = DefDoc;

    fn visit(&mut self, hop: u32, def: &DefDoc, next: &mut Vec<DefDoc>) {
        for edge in edges(self.question.relation, self.view, *def, self.question.limit) {
            self.meet(hop, *def, edge, next);
        }
    }

    fn arrange(&mut self, next: &mut Vec<DefDoc>) {
        if self.out.is_bounded {
            next.clear();
        }
    }
}

impl Asker<'_> {
    /// The definitions that the walk starts from: the roots, and what belongs to them.
    fn start(&mut self, roots: &[DefDoc]) -> Vec<DefDoc> {
        let mut start = roots.to_vec();
        for &root in roots {
            let record = self.view.def(root);
            if record.idx == DefIdx::NONE {
                self.files.insert(record.file);
                start.extend(defs_of(self.view, record.file));
            } else if self.question.relation == Relation::Impact {
                start.extend(members(self.view, root));
            }
        }
        self.seen.extend(&start);
        start
    }

    /// Takes an edge of `def` into the answer, or counts it; adds the definition at its other end to `next`.
    fn meet(&mut self, depth: u32, def: DefDoc, mut edge: Edge, next: &mut Vec<DefDoc>) {
        let ends = [edge.source, edge.target].map(|d| self.view.def(d).file);
        if ends[0] == ends[1] && self.files.contains(&ends[0]) {
            return;
        }
        let mut best = edge.occurrences.iter().map(|o| o.confidence).max().unwrap_or(0);
        if best < self.question.min_confidence && self.are_all_asked_for(&edge) {
            let places = &mut self.places;
            edge.occurrences.retain(|o| places.insert((edge.source, o.at)));
            if edge.occurrences.is_empty() {
                return;
            }
            best = Rule::Inferred.confidence();
            edge.occurrences.iter_mut().for_each(|o| o.confidence = best);
        }
        if best < self.question.min_confidence {
            self.out.below += 1;
            return;
        }
        if !self.walked.insert((edge.source, edge.target, edge.kind)) || !self.has_room() {
            return;
        }
        let other = if edge.source == def { edge.target } else { edge.source };
        // Who imports a file does not depend on everything that its code uses.
        if self.seen.insert(other) && self.view.def(other).idx != DefIdx::NONE {
            next.push(other);
        }
        self.out.edges.push(Met { depth, edge, confidence: best, in_place_of: None });
    }

    /// Counts an edge; false if the answer has no room for it.
    fn has_room(&mut self) -> bool {
        self.out.n_edges += 1;
        let has_room = self.out.edges.len() < self.question.limit;
        self.out.is_bounded |= !has_room;
        has_room
    }

    /// Whether each definition that a place may name is asked for: which of them it is does not matter then.
    fn are_all_asked_for(&self, edge: &Edge) -> bool {
        let is_shared = edge.occurrences.iter().any(|o| o.rule == Rule::Ambiguous);
        if !is_shared || self.roots.len() < 2 || !self.roots.contains(&edge.target) {
            return false;
        }
        let all = self.view.edges_from(edge.source, &[edge.kind]);
        let is_same = |e: &Edge| e.occurrences.iter().any(|o| edge.occurrences.iter().any(|p| p.at == o.at));
        all.iter().filter(|e| is_same(e)).all(|e| self.roots.contains(&e.target))
    }

    /// Finds what the roots implement or override, and who calls that; with `shows` these calls are edges, too.
    fn dispatch(&mut self, roots: &[DefDoc], shows: bool) {
        for &root in roots {
            for of in dispatched(self.view, root, self.question.min_confidence) {
                // Its callers are in the answer by themselves.
                if self.roots.contains(&of.method) {
                    continue;
                }
                for call in of.calls.iter().filter(|_| shows) {
                    if self.has_room() {
                        let confidence = Rule::Dispatch.confidence();
                        let edge = call.clone();
                        self.out.edges.push(Met { depth: 1, edge, confidence, in_place_of: Some(root) });
                    }
                }
                self.out.dispatched.push(of);
            }
        }
    }
}

/// The methods that a definition implements or overrides, with their calls of at least `min_confidence`
/// percent; without methods that nothing calls.
pub fn dispatched(view: &dyn IndexView, root: DefDoc, min_confidence: u8) -> Vec<Dispatched> {
    let mut seen = FxHashSet::default();
    let mut declared = view.edges_from(root, &[EdgeKind::Implement]);
    declared.retain(|e| view.def(e.target).kind == DefKind::Method && seen.insert(e.target));
    let all = declared.into_iter().map(|e| {
        let mut calls = view.edges_to(e.target, &[EdgeKind::Call], CALLS_COUNTED_MAX);
        calls.retain(|e| e.occurrences.iter().any(|o| o.confidence >= min_confidence));
        Dispatched { root, method: e.target, calls }
    });
    all.filter(|d| !d.calls.is_empty() && view.def(d.method).parent != DefDoc::NONE).collect()
}
