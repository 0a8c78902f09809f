//! How sure a pack is that it holds an answer.
//!
//! ```text
//! confidence = 2/3 * margin + 1/3 * coverage
//! margin     = 1 - total of the tenth hit / total of the best
//! coverage   = mean over the ten best hits of what they hold of the words of the text
//! ```
//!
//! Where an answer stands out, the totals fall fast behind it; where none does, dozens of hits share a
//! word or two with the text. What the text names or quotes exactly is certain. `docs/ranking.md` has the
//! trial: the area under the curve against answers that were found by reading.

use crate::naming::Named;
use crate::query::{Kind, Query};
use crate::retrieve::Hit;
use crate::score::Feature;
use serde::Serialize;

/// Hits that are looked at, the best.
const HITS: usize = 10;
/// What the margin counts; the rest is coverage.
const MARGIN: f64 = 2.0 / 3.0;
/// A question below this is more often unanswered than answered.
const DOUBT: f64 = 0.43;

/// How sure a pack is that it holds an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Confidence {
    /// All together, 0..1.
    pub score: f64,
    /// How far the tenth hit falls behind the best, 0..1.
    pub margin: f64,
    /// What the ten best hits hold of the words of the text, those that the tree lacks included, 0..1.
    pub coverage: f64,
}

impl Confidence {
    /// That of ranked hits; `known` is the part of the words of the text that the tree holds, 0..1.
    pub fn of(query: &Query, named: &Named, hits: &[Hit], known: f64) -> Self {
        let Some(first) = hits.first() else { return Self::default() };
        let is_exact = !named.meant.is_empty() || first.scored.features.get(Feature::Literal) > 0.0;
        let tenth = hits.get(HITS - 1).map_or(0.0, |h| h.total);
        let margin = if first.total > 0.0 { 1.0 - (tenth / first.total).min(1.0) } else { 0.0 };
        let best = &hits[..hits.len().min(HITS)];
        let coverage = known * best.iter().map(|h| h.coverage).sum::<f64>() / best.len() as f64;
        let score = MARGIN * margin + (1.0 - MARGIN) * coverage;
        let is_exact = is_exact || query.kind == Kind::Trace && !query.paths.is_empty();
        Self { score: if is_exact { 1.0 } else { score }, margin, coverage }
    }

    /// Whether a reader should ask again instead of guessing.
    pub fn is_doubt(&self, kind: Kind) -> bool {
        kind == Kind::Question && self.score < DOUBT
    }

    /// In hundredths, as it is written.
    pub fn rounded(self) -> Self {
        let round = |x: f64| (x * 100.0).round() / 100.0;
        Self { score: round(self.score), margin: round(self.margin), coverage: round(self.coverage) }
    }
}
