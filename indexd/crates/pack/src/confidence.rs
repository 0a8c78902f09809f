//! Estimates whether a pack holds an answer.
//!
//! ```text
//! confidence = 2/3 * margin + 1/3 * coverage
//! margin     = 1 - total of the tenth hit / total of the best
//! coverage   = mean over the ten best hits of their share of the words of the text
//! ```
//!
//! If one hit is the answer, totals fall fast after it. If none is, dozens of hits share a word or two with
//! the text. A definition or phrase that the text names exactly has confidence 1. `docs/ranking.md` has the
//! measurements (area under the curve, against answers found by reading).

use crate::naming::Named;
use crate::pack::Confidence;
use crate::query::{Kind, Query};
use crate::retrieve::Hit;
use crate::score::Feature;

/// Number of best hits in the formula.
const HITS: usize = 10;
/// Weight of the margin; the rest is the weight of coverage.
const MARGIN: f64 = 2.0 / 3.0;
/// Questions with a confidence below this are more often unanswered than answered.
const DOUBT: f64 = 0.43;

/// The confidence of ranked hits. `known` is the share of the words of the text that occur in the tree, 0..1.
pub fn of(query: &Query, named: &Named, hits: &[Hit], known: f64) -> Confidence {
    let Some(first) = hits.first() else { return Confidence::default() };
    let is_exact = !named.meant.is_empty() || first.scored.features.get(Feature::Literal) > 0.0;
    let tenth = hits.get(HITS - 1).map_or(0.0, |h| h.total);
    let margin = if first.total > 0.0 { 1.0 - (tenth / first.total).min(1.0) } else { 0.0 };
    let best = &hits[..hits.len().min(HITS)];
    let coverage = known * best.iter().map(|h| h.coverage).sum::<f64>() / best.len() as f64;
    let score = MARGIN * margin + (1.0 - MARGIN) * coverage;
    let is_exact = is_exact || query.kind == Kind::Trace && !query.paths.is_empty();
    Confidence { score: if is_exact { 1.0 } else { score }, margin, coverage }
}

/// True if the reader should ask again instead of guessing.
pub fn is_doubt(confidence: Confidence, kind: Kind) -> bool {
    kind == Kind::Question && confidence.score < DOUBT
}

/// Rounds to hundredths, as in the output.
pub fn rounded(confidence: Confidence) -> Confidence {
    let Confidence { score, margin, coverage } = confidence;
    let round = |x: f64| (x * 100.0).round() / 100.0;
    Confidence { score: round(score), margin: round(margin), coverage: round(coverage) }
}
