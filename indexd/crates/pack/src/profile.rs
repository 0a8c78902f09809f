//! Scoring profiles beside `graph`: `sources` weighs relevance, recency and the kind of source; `task` gives
//! points as the document of a task does.
//!
//! ```text
//! sources = (0.5 * relevance + 0.3 * recency + 0.2 * source) / the sum of the weights
//! task    = (5 * direct hit + 3 * call site + 2 * test + 2 * configuration + 1 * beside) / 13
//! ```
//!
//! Relevance is the score of profile `graph`. Recency lies between the oldest (0) and the newest (1) last
//! change of the candidates' files, in commits, and is 0.5 where none is known; no clock is read. Both order
//! by the score, then by the path.

use crate::candidate::{Candidate, Origin};
use crate::config::SourceScoring;
use crate::contract::ranking::recency;
use crate::query::Kind;
use crate::request::{Resolved, Scoring};
use crate::role::Role;
use crate::score::Feature;
use crate::tuning::Weights;
use crate::unit::Units;
use indexd_model::path::{dir_of, stem_of};
use indexd_model::{DefDoc, EdgeKind, FileDoc};
use rustc_hash::FxHashSet;

/// One part of a score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// What it is.
    pub name: &'static str,
    /// Its weight; those of a candidate add up to 1.
    pub weight: f64,
    /// How much of it there is, 0..1.
    pub strength: f64,
}

/// The part of `sources` that is the score of profile `graph`.
pub const RELEVANCE: &str = "relevance";

/// Points of a task, in the order in which they are told.
const POINTS: [(&str, f64); 5] =
    [("direct hit", 5.0), ("call site", 3.0), ("test", 2.0), ("configuration", 2.0), ("beside", 1.0)];

/// The best hits whose folders count.
const BESIDE_HITS: usize = 3;

/// A profile with what it needs to know of all candidates.
pub enum Profile {
    /// Relevance, recency and the kind of source.
    Sources {
        /// The weights.
        weights: SourceScoring,
        /// The oldest and the newest last change.
        span: Option<(i64, i64)>,
        /// Whether files named in the text come from the output of a tool.
        is_trace: bool,
    },
    /// Points.
    Task {
        /// What was found directly.
        hits: FxHashSet<DefDoc>,
        /// The files of these.
        files: FxHashSet<FileDoc>,
        /// The folders of the best of them.
        folders: FxHashSet<String>,
    },
}

impl Profile {
    /// The profile of a request; none where it is `graph`. Candidates come best first.
    pub fn of(
        request: &Resolved,
        kind: Kind,
        weights: SourceScoring,
        candidates: &[Candidate],
        units: &Units,
    ) -> Option<Self> {
        match request.scoring {
            Scoring::Graph => None,
            Scoring::Sources => {
                let times = || candidates.iter().filter_map(|c| changed(units, c));
                let span = times().min().zip(times().max());
                Some(Self::Sources { weights, span, is_trace: kind == Kind::Trace })
            }
            Scoring::Task => {
                let hits = || candidates.iter().filter(|c| is_hit(c));
                let folder = |c: &Candidate| dir_of(&c.file.path).to_owned();
                Some(Self::Task {
                    hits: hits().filter_map(|c| c.unit.def.some()).collect(),
                    files: hits().map(|c| c.unit.file).collect(),
                    folders: hits().take(BESIDE_HITS).map(folder).collect(),
                })
            }
        }
    }

    /// Scores a candidate that has its score of profile `graph`.
    pub fn score(&self, units: &mut Units, c: &mut Candidate) {
        c.parts = match self {
            Self::Sources { weights, span, is_trace } => {
                let of_source = source(c, *is_trace, weights);
                let strengths = [
                    (RELEVANCE, weights.relevance, c.hybrid),
                    ("recency", weights.recency, recency(changed(units, c), *span)),
                    ("source", weights.source, of_source),
                ];
                parts(&strengths)
            }
            Self::Task { hits, files, folders } => {
                let is = [
                    is_hit(c),
                    refers(units, c, hits, &[EdgeKind::Call]),
                    c.role == Role::Test && refers(units, c, hits, &[EdgeKind::Call, EdgeKind::Usage]),
                    is_configuration(c),
                    folders.contains(dir_of(&c.file.path)) && !files.contains(&c.unit.file),
                ];
                let strengths: Vec<(&'static str, f64, f64)> =
                    POINTS.iter().zip(is).map(|(p, is)| (p.0, p.1, f64::from(u8::from(is)))).collect();
                parts(&strengths)
            }
        };
        c.hybrid = c.parts.iter().fold(0.0, |sum, p| sum + p.weight * p.strength).min(1.0);
    }
}

/// The weights of retrieval in force: what a task leads to depends on its words and the tree alone.
pub fn weights(scoring: Scoring, w: Weights) -> Weights {
    if scoring == Scoring::Task { Weights { commits: 0.0, touched: 0.0, ..w } } else { w }
}

fn parts(of: &[(&'static str, f64, f64)]) -> Vec<Part> {
    let sum: f64 = of.iter().map(|p| p.1).sum();
    let part = |&(name, weight, strength): &(&'static str, f64, f64)| Part {
        name,
        weight: if sum > 0.0 { weight / sum } else { 0.0 },
        strength,
    };
    of.iter().map(part).collect()
}

/// The last change of the file of a candidate, in commits from the newest, newer ones larger.
fn changed(units: &Units, c: &Candidate) -> Option<i64> {
    let history = units.view.history(c.unit.file);
    (history.n_commits > 0).then(|| -i64::from(history.newest))
}

/// What the kind of source counts: a frame of a trace comes from a tool, what the request names or focuses
/// on is as good as open, a hit was searched for, and an edge is a reference.
fn source(c: &Candidate, is_trace: bool, w: &SourceScoring) -> f64 {
    let is_named = c.scored.as_ref().is_none_or(|s| s.features.get(Feature::Name) > 0.0);
    let priority = match c.origin {
        Origin::Seed if is_named && is_trace => w.tool_results,
        Origin::Seed if is_named => w.open_files,
        Origin::Seed | Origin::Text => w.search_results,
        _ => w.references,
    };
    let most = w.tool_results.max(w.open_files).max(w.search_results).max(w.references).max(1);
    priority as f64 / most as f64
}

fn is_hit(c: &Candidate) -> bool {
    matches!(c.origin, Origin::Seed | Origin::Text)
}

/// Whether edges of these kinds lead from a candidate to another direct hit.
fn refers(units: &mut Units, c: &Candidate, hits: &FxHashSet<DefDoc>, kinds: &[EdgeKind]) -> bool {
    let Some(def) = c.unit.def.some() else { return false };
    let edges = units.edges(def);
    edges.iter().any(|e| kinds.contains(&e.kind) && e.target != def && hits.contains(&e.target))
}

fn is_configuration(c: &Candidate) -> bool {
    const NAMES: [&str; 8] =
        ["cmd", "cli", "config", "configuration", "settings", "flags", "options", "args"];
    let path = &c.file.path;
    c.role == Role::Config || dir_of(path).split('/').chain([stem_of(path)]).any(|name| NAMES.contains(&name))
}
