//! Candidates and their total order.

use crate::config::ScoringWeights;
use crate::identity::Sources;
use crate::pack::Explanation;
use crate::request::{Ordering, Primary, TieBreaker};
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

/// The order of candidates that a request asks for.
pub struct Order<'a> {
    /// The primary key and the four tie-breakers.
    pub keys: &'a Ordering,
    /// True if hops and evidence precede all other keys.
    pub graph_first: bool,
    /// A seed below this score is weak.
    pub strong_seed: f64,
}

impl Order<'_> {
    /// Compares two candidates: strong seeds first, then by the primary key, the score, the distance and the
    /// four tie-breakers. An identity requires a read of the text, so it is computed only if all keys before
    /// it are equal.
    pub fn compare(
        &self,
        a: &Candidate,
        b: &Candidate,
        units: &mut Units,
        sources: &mut Sources,
    ) -> cmp::Ordering {
        let by_key = |key: &TieBreaker| match key {
            TieBreaker::FileRelPath => a.file.path.cmp(&b.file.path),
            TieBreaker::StartLine => a.start().cmp(&b.start()),
            TieBreaker::ChunkUid => sources.uid(units, &a.unit).cmp(&sources.uid(units, &b.unit)),
            TieBreaker::SymbolId => {
                let mut symbol = |c: &Candidate| sources.symbol(units.view, c.unit.def).map(|s| s.0);
                symbol(a).cmp(&symbol(b))
            }
        };
        let ties = self.keys.stable_tie_breakers.iter();
        self.by_score(a, b).then_with(|| ties.map(by_key).find(|o| o.is_ne()).unwrap_or(cmp::Ordering::Equal))
    }

    fn by_score(&self, a: &Candidate, b: &Candidate) -> cmp::Ordering {
        let is_weak = |c: &Candidate| c.seed_score < self.strong_seed;
        let by_graph = || a.distance.cmp(&b.distance).then_with(|| b.evidence.total_cmp(&a.evidence));
        let first = if self.graph_first { by_graph() } else { is_weak(a).cmp(&is_weak(b)) };
        first
            .then_with(|| match self.keys.primary {
                Primary::HybridScore => b.hybrid.total_cmp(&a.hybrid),
                Primary::SeedScore => b.seed_score.total_cmp(&a.seed_score),
                Primary::GraphDistance => a.distance.cmp(&b.distance),
                Primary::GraphEvidence => b.evidence.total_cmp(&a.evidence),
            })
            .then_with(|| b.hybrid.total_cmp(&a.hybrid))
            .then_with(|| a.distance.cmp(&b.distance))
    }
}
