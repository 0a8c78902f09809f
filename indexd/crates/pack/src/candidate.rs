//! Candidates and their total order.

use crate::config::ScoringWeights;
use crate::identity::Sources;
use crate::pack::Explanation;
use crate::request::{Ordering, Primary, Resolved, TieBreaker};
use crate::role::{Role, role_of};
use crate::score::{Formula, Scored, explain_hybrid, hybrid};
use crate::unit::{Unit, Units};
use indexd_model::view::{FileRecord, Occurrence};
use indexd_model::{DefDoc, EdgeKind};
use std::cmp;
use std::rc::Rc;

/// One edge on the path to a candidate, in the direction of the walk.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Kind.
    pub kind: EdgeKind,
    /// Source of the edge.
    pub from: DefDoc,
    /// Target of the edge.
    pub to: DefDoc,
    /// The definition that contains the occurrences: `from` or `to`.
    pub site: DefDoc,
    /// True if the edge was walked from source to target.
    pub is_out: bool,
    /// The occurrence with the highest confidence among those that count as evidence.
    pub evidence: Option<Occurrence>,
}

/// How a candidate was found first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It is one of the best hits, or `focus` names it.
    Seed,
    /// By its text, in a file whose kind has a section of its own.
    Text,
    /// By an edge.
    Edge,
    /// In the file of a seed, near it.
    Neighbour,
    /// It is the type around a shown member.
    Around,
    /// The module of a seed exports it.
    Export,
}

/// Anything that may become an item.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// The unit.
    pub unit: Rc<Unit>,
    /// Its file.
    pub file: Rc<FileRecord>,
    /// Role of the file.
    pub role: Role,
    /// How it was found.
    pub origin: Origin,
    /// Retrieval score in 0..1.
    pub seed_score: f64,
    /// The input of its retrieval score. `None` if retrieval did not find it, or if it is named and so a seed
    /// of score 1.
    pub scored: Option<Scored>,
    /// Fewest hops from a seed.
    pub distance: u32,
    /// Edges from a seed.
    pub path: Vec<Step>,
    /// Product of the confidences along the path, 0..1; 1 for seeds.
    pub evidence: f64,
    /// True if an edge of the path lacks evidence of the kinds asked for.
    pub has_gap: bool,
    /// The first line of the seed near which it was found, for [`Origin::Neighbour`].
    pub beside: Option<u32>,
    /// The score in 0..1.
    pub hybrid: f64,
}

impl Candidate {
    /// A seed without evidence. `seed_score` is its retrieval score in 0..1, `scored` the input of that
    /// score.
    pub fn new(unit: Rc<Unit>, file: Rc<FileRecord>, (seed_score, scored): (f64, Option<Scored>)) -> Self {
        Self {
            unit,
            role: role_of(&file),
            file,
            origin: Origin::Seed,
            seed_score,
            scored,
            distance: 0,
            path: Vec::new(),
            evidence: 0.0,
            has_gap: false,
            beside: None,
            hybrid: 0.0,
        }
    }

    /// Computes the hybrid score from the retrieval score, the hops and the evidence.
    pub fn score(&mut self, w: &ScoringWeights) {
        self.hybrid = hybrid(self.seed_score, self.distance, self.evidence, w);
    }

    /// Explains the score. The value of the root equals [`Candidate::hybrid`] to the bit.
    pub fn explain(&self, formula: &Formula, scale: f64, w: &ScoringWeights) -> Explanation {
        let seed = match &self.scored {
            Some(scored) => formula.explain_seed(scored, scale),
            None => Explanation::leaf("seed", self.seed_score),
        };
        explain_hybrid(seed, self.distance, self.evidence, w)
    }

    /// The first byte, for ordering.
    pub fn start(&self) -> u32 {
        self.unit.spans[0].0.start
    }
}

/// Sorts candidates: strong seeds first, then the primary key, the
/// score, the distance and the four tie-breakers. With `graph_first`, hops and evidence precede all of these.
pub fn sort(
    candidates: &mut Vec<Candidate>,
    request: &Resolved,
    graph_first: bool,
    w: &ScoringWeights,
    units: &mut Units,
    sources: &mut Sources,
) {
    let all: Vec<&Candidate> = candidates.iter().collect();
    let order = order(&all, request, graph_first, w, units, sources);
    permute(candidates, order);
}

/// Returns the positions of candidates in the order of [`sort`].
pub fn order(
    candidates: &[&Candidate],
    request: &Resolved,
    graph_first: bool,
    w: &ScoringWeights,
    units: &mut Units,
    sources: &mut Sources,
) -> Vec<usize> {
    let mut keys: Vec<(usize, Option<String>, Option<String>)> =
        (0..candidates.len()).map(|i| (i, None, None)).collect();
    keys.sort_by(|a, b| by_score(candidates[a.0], candidates[b.0], &request.ordering, graph_first, w));
    // An identity requires a read of the text, so it is computed only for candidates that tie.
    let mut at = 0;
    while at < keys.len() {
        let tie = |a: usize, b: usize| {
            by_score(candidates[a], candidates[b], &request.ordering, graph_first, w) == cmp::Ordering::Equal
        };
        let mut end = at + 1;
        while end < keys.len() && tie(keys[at].0, keys[end].0) {
            end += 1;
        }
        if end - at > 1 {
            let needs_ids = !matches!(
                request.ordering.stable_tie_breakers[..2],
                [TieBreaker::FileRelPath, TieBreaker::StartLine]
            );
            if needs_ids {
                for key in &mut keys[at..end] {
                    let unit = Rc::clone(&candidates[key.0].unit);
                    key.1 = Some(sources.uid(units, &unit).to_string());
                    key.2 = sources.symbol(units.view, unit.def).map(|s| s.0);
                }
            }
            keys[at..end].sort_by(|a, b| by_keys(a, b, candidates, &request.ordering.stable_tie_breakers));
        }
        at = end;
    }
    keys.into_iter().map(|k| k.0).collect()
}

fn by_score(
    a: &Candidate,
    b: &Candidate,
    ordering: &Ordering,
    graph_first: bool,
    w: &ScoringWeights,
) -> cmp::Ordering {
    let is_weak = |c: &Candidate| c.seed_score < w.strong_seed;
    let by_graph = || a.distance.cmp(&b.distance).then_with(|| b.evidence.total_cmp(&a.evidence));
    let first = if graph_first { by_graph() } else { is_weak(a).cmp(&is_weak(b)) };
    first
        .then_with(|| match ordering.primary {
            Primary::HybridScore => b.hybrid.total_cmp(&a.hybrid),
            Primary::SeedScore => b.seed_score.total_cmp(&a.seed_score),
            Primary::GraphDistance => a.distance.cmp(&b.distance),
            Primary::GraphEvidence => b.evidence.total_cmp(&a.evidence),
        })
        .then_with(|| b.hybrid.total_cmp(&a.hybrid))
        .then_with(|| a.distance.cmp(&b.distance))
}

type Keyed = (usize, Option<String>, Option<String>);

fn by_keys(a: &Keyed, b: &Keyed, candidates: &[&Candidate], keys: &[TieBreaker]) -> cmp::Ordering {
    let (ca, cb) = (candidates[a.0], candidates[b.0]);
    let mut order = cmp::Ordering::Equal;
    for key in keys {
        order = order.then_with(|| match key {
            TieBreaker::FileRelPath => ca.file.path.cmp(&cb.file.path),
            TieBreaker::StartLine => ca.start().cmp(&cb.start()),
            TieBreaker::ChunkUid => a.1.cmp(&b.1),
            TieBreaker::SymbolId => a.2.cmp(&b.2),
        });
    }
    order
}

fn permute(candidates: &mut Vec<Candidate>, order: Vec<usize>) {
    let mut slots: Vec<Option<Candidate>> = candidates.drain(..).map(Some).collect();
    candidates.extend(order.into_iter().filter_map(|i| slots[i].take()));
}
