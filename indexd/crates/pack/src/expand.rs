//! Walks over edges from the best seeds, within bounds.
//!
//! The walk is breadth first, so the first path found is a shortest one; of equally short paths the one with
//! the best evidence wins. If evidence is strictly required, edges without it are not walked: their targets
//! are reached by another path or reported as unproven. All bounds are counts from the configuration:
//! seeds, nodes, edges of a node, edges and records of a request, hops.

use crate::candidate::Step;
use crate::config::ExpansionBounds;
use crate::error::PackError;
use crate::graph;
use crate::graph::walk::{End, Visitor};
use crate::pack::ExpansionReport;
use crate::request::{Direction, EdgeType, EvidenceFilter, Expansion};
use crate::unit::{Unit, UnitKey, Units};
use indexd_model::links::evidence_kind;
use indexd_model::view::{Edge, Occurrence};
use indexd_model::{DefDoc, DefIdx, EdgeKind, EvidenceKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// A unit that the walk reached.
#[derive(Clone, Debug)]
pub struct Reached {
    /// The unit.
    pub unit: Rc<Unit>,
    /// The definition in it at which the path ends.
    pub def: DefDoc,
    /// Edges from a seed.
    pub path: Vec<Step>,
    /// Product of the confidences along the path, 0..1.
    pub evidence: f64,
    /// True if an edge of the path lacks evidence of the kinds asked for.
    pub has_gap: bool,
}

/// Maps the kinds of edges asked for to the kinds that are stored.
pub fn stored_kinds(asked: &[EdgeType]) -> Vec<EdgeKind> {
    let is_asked = |kind: &EdgeKind| *kind != EdgeKind::DataflowIn && asked.contains(&shown_kind(*kind));
    EdgeKind::ALL.into_iter().filter(is_asked).collect()
}

/// Maps a stored kind to the kind in a pack.
pub fn shown_kind(kind: EdgeKind) -> EdgeType {
    match kind {
        EdgeKind::Call => EdgeType::Call,
        EdgeKind::Usage | EdgeKind::Inherit | EdgeKind::Implement => EdgeType::Usage,
        EdgeKind::Import => EdgeType::Import,
        EdgeKind::Export => EdgeType::Export,
        EdgeKind::Dataflow | EdgeKind::DataflowIn => EdgeType::Dataflow,
    }
}

impl Step {
    /// Returns the step along an edge, with the best occurrence that counts as evidence.
    pub fn along(edge: &Edge, is_out: bool, filter: &[EvidenceFilter]) -> Self {
        Self {
            kind: edge.kind,
            from: edge.source,
            to: edge.target,
            site: edge.site(),
            is_out,
            evidence: best_evidence(edge, filter),
        }
    }

    /// The confidence of its evidence, 0..1; 0 without evidence.
    pub fn confidence(&self) -> f64 {
        self.evidence.map_or(0.0, |o| f64::from(o.confidence) / 100.0)
    }
}

/// Returns the best occurrence of an edge that counts as evidence: highest confidence, then first place.
fn best_evidence(edge: &Edge, filter: &[EvidenceFilter]) -> Option<Occurrence> {
    let is_asked = |kind: EvidenceKind| filter.iter().any(|asked| asked.name() == kind.name());
    edge.occurrences
        .iter()
        .filter(|o| is_asked(evidence_kind(edge.kind, o.role, o.rule)))
        .max_by(|a, b| a.confidence.cmp(&b.confidence).then(b.at.cmp(&a.at)))
        .copied()
}

/// One node of the walk.
#[derive(Clone, Copy, PartialEq)]
enum Node {
    /// A definition of a seed.
    Seed(DefDoc),
    /// An index into the reached units. Until its turn comes, a better path may replace its path.
    Reached(usize),
}

/// The result of a walk.
#[derive(Debug)]
pub struct Expanded {
    /// Reached units in the order of the walk, without the seeds.
    pub reached: Vec<Reached>,
    /// Units reached only by edges without the required evidence; empty unless it is strictly required.
    pub unproven: Vec<Reached>,
    /// The extent of the walk.
    pub report: ExpansionReport,
}

/// Walks from `seeds`, best first. With `is_strict`, edges without the required evidence are not walked.
///
/// # Errors
/// [`PackError::Cancelled`]; cancellation is checked between nodes.
pub fn expand(
    units: &mut Units,
    seeds: &[Rc<Unit>],
    expansion: &Expansion,
    is_strict: bool,
    bounds: &ExpansionBounds,
    cancel: &dyn Fn() -> bool,
) -> Result<Expanded, PackError> {
    let mut walk = Walk {
        units,
        kinds: stored_kinds(&expansion.edge_types),
        expansion,
        is_strict: is_strict && expansion.require_evidence,
        bounds,
        report: ExpansionReport::default(),
        reached: Vec::new(),
        unproven: Vec::new(),
        at: seeds.iter().map(|s| (s.key, None)).collect(),
    };
    let mut start: Vec<Node> = Vec::new();
    for seed in seeds.iter().take(bounds.seeds as usize) {
        for def in starts(walk.units, seed, &walk.kinds) {
            if !start.contains(&Node::Seed(def)) {
                start.push(Node::Seed(def));
            }
        }
    }
    let extent = graph::walk::Bounds { hops: expansion.max_hops, nodes: bounds.nodes };
    match graph::walk::walk(&mut walk, start, extent, cancel) {
        End::Done => {}
        End::Cut => walk.report.bounded = true,
        End::Cancelled => return Err(PackError::Cancelled),
    }
    walk.report.seeds = seeds.len().min(bounds.seeds as usize) as u32;
    walk.report.records = walk.reached.len() as u32;
    walk.report.hops = walk.reached.iter().map(|r| r.path.len() as u32).max().unwrap_or(0);
    let mut unproven = walk.unproven;
    unproven.retain(|r| !walk.at.contains_key(&r.unit.key));
    let mut seen = FxHashSet::default();
    unproven.retain(|r| seen.insert(r.unit.key));
    Ok(Expanded { reached: walk.reached, unproven, report: walk.report })
}

/// Returns the definitions whose edges belong to a seed: its own, and its file for imports and exports, which
/// belong to the module. For text between definitions only the file.
fn starts(units: &Units, seed: &Unit, kinds: &[EdgeKind]) -> Vec<DefDoc> {
    let file = units.view.def_doc(seed.file, DefIdx::NONE);
    let modules = kinds.iter().any(|k| matches!(k, EdgeKind::Import | EdgeKind::Export));
    match seed.def.some() {
        Some(def) if modules => vec![def, file],
        Some(def) => vec![def],
        None => vec![file],
    }
}

struct Walk<'a, 'v> {
    units: &'a mut Units<'v>,
    kinds: Vec<EdgeKind>,
    expansion: &'a Expansion,
    /// True if edges without evidence are not walked.
    is_strict: bool,
    bounds: &'a ExpansionBounds,
    report: ExpansionReport,
    reached: Vec<Reached>,
    unproven: Vec<Reached>,
    /// Visited units; `None` for seeds.
    at: FxHashMap<UnitKey, Option<usize>>,
}

impl Visitor for Walk<'_, '_> {
    type Node = Node;

    fn visit(&mut self, _: u32, node: &Node, next: &mut Vec<Node>) {
        let def = match *node {
            Node::Seed(def) => def,
            Node::Reached(i) => self.reached[i].def,
        };
        let per_node = self.bounds.edges_per_node as usize;
        if self.expansion.direction != Direction::In {
            let mut edges = self.units.view.edges_from(def, &self.kinds);
            if self.kinds.contains(&EdgeKind::Dataflow) {
                edges.extend(self.units.view.flows_from(def, per_node + 1));
            }
            self.follow_all(*node, &edges, true, next);
        }
        if self.expansion.direction != Direction::Out {
            let edges = self.units.view.edges_to(def, &self.kinds, per_node + 1);
            self.follow_all(*node, &edges, false, next);
        }
    }

    /// Nodes with the best evidence come first.
    fn arrange(&mut self, next: &mut Vec<Node>) {
        let evidence = |node: &Node| match node {
            Node::Seed(_) => 1.0,
            Node::Reached(i) => self.reached[*i].evidence,
        };
        next.sort_by(|a, b| evidence(b).total_cmp(&evidence(a)));
    }

    fn is_full(&self) -> bool {
        self.report.edges >= self.bounds.edges || self.reached.len() >= self.bounds.records as usize
    }
}

impl Walk<'_, '_> {
    fn follow_all(&mut self, node: Node, edges: &[Edge], is_out: bool, next: &mut Vec<Node>) {
        let per_node = self.bounds.edges_per_node as usize;
        self.report.bounded |= edges.len() > per_node;
        for edge in edges.iter().take(per_node) {
            self.follow(node, edge, is_out, next);
        }
    }

    fn follow(&mut self, node: Node, edge: &Edge, is_out: bool, next: &mut Vec<Node>) {
        if self.is_full() {
            self.report.bounded = true;
            return;
        }
        self.report.edges += 1;
        let def = if is_out { edge.target } else { edge.source };
        let Some(unit) = self.units.of_def(def) else { return };
        let step = Step::along(edge, is_out, &self.expansion.evidence_kinds);
        let (mut path, so_far, had_gap) = match node {
            Node::Seed(_) => (Vec::new(), 1.0, false),
            Node::Reached(i) => {
                let r = &self.reached[i];
                (r.path.clone(), r.evidence, r.has_gap)
            }
        };
        path.push(step);
        let reached = Reached {
            unit: Rc::clone(&unit),
            def,
            path,
            evidence: so_far * step.confidence(),
            has_gap: had_gap || step.evidence.is_none(),
        };
        if self.is_strict && reached.has_gap {
            self.unproven.push(reached);
            return;
        }
        match self.at.get(&unit.key) {
            Some(None) => return,
            Some(&Some(i)) => {
                let old = &mut self.reached[i];
                let is_better = reached.path.len() == old.path.len()
                    && (old.has_gap, reached.evidence) > (reached.has_gap, old.evidence);
                if is_better {
                    *old = reached;
                }
                return;
            }
            None => {}
        }
        self.at.insert(unit.key, Some(self.reached.len()));
        next.push(Node::Reached(self.reached.len()));
        self.reached.push(reached);
    }
}
