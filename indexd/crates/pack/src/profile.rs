//! Scoring profiles besides `graph`. `sources` combines relevance, recency and the kind of source. `task`
//! gives points like the document of a task.
//!
//! ```text
//! sources = (0.5 * relevance + 0.3 * recency + 0.2 * source) / the sum of the weights
//! task    = (5 * direct hit + 3 * call site + 2 * test + 2 * configuration + 1 * beside) / 13
//! ```
//!
//! Relevance is the score of profile `graph`. Recency is the position of the last change between the oldest
//! (0) and the newest (1) among the candidates' files, in commits; 0.5 if it is unknown. No clock is read.
//! Both profiles order by score, then by path.

use crate::candidate::{Candidate, Origin, Part, RELEVANCE};
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

/// Parts of `task` with their points, in the order of explanations.
const POINTS: [(&str, f64); 5] =
    [("direct hit", 5.0), ("call site", 3.0), ("test", 2.0), ("configuration", 2.0), ("beside", 1.0)];

/// Number of best hits whose folders count.
const BESIDE_HITS: usize = 3;

/// A profile with the data about all candidates that it needs.
pub enum Profile {
    /// Relevance, recency and the kind of source.
    Sources {
        /// The weights.
        weights: SourceScoring,
        /// The last change of the oldest and of the newest file.
        span: Option<(i64, i64)>,
        /// True if the text is the output of a tool, so that the files it names are stack frames.
        is_trace: bool,
    },
    /// Points of a task.
    Task {
        /// The definitions of direct hits.
        hits: FxHashSet<DefDoc>,
        /// The files of direct hits.
        files: FxHashSet<FileDoc>,
        /// The folders of the best direct hits.
        folders: FxHashSet<String>,
    },
}

impl Profile {
    /// The profile of a request; `None` for `graph`. `candidates` come best first.
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

    /// Scores a candidate that has its score of profile `graph` already.
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

/// The weights of retrieval in force. For `task` past commits count nothing, so that the result depends on
/// text and tree alone.
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

/// The last change of the file of a candidate, as a number that is larger for newer commits.
fn changed(units: &Units, c: &Candidate) -> Option<i64> {
    let history = units.view.history(c.unit.file);
    (history.n_commits > 0).then(|| -i64::from(history.newest))
}

/// The priority of the source of a candidate: tool output for stack frames, open files for named or focused
/// definitions, search results for hits, references for candidates found by edges.
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

/// True if an edge of these kinds leads from a candidate to another direct hit.
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
