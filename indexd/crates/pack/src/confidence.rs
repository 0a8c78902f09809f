//! Says what an answer rests on, and how often answers like it are right at their first place.
//!
//! Scores alone cannot tell a good answer to a plain question from a bad one. What the caller gave can: names
//! that the tree holds, or expectations. With expectations two numbers tell more:
//!
//! ```text
//! coverage = share of the words of the tree * the largest coverage of the ten best hits
//! fit      = coverage of the first hit * its feature `words`
//! ```
//!
//! The coverage of a hit is its share of the weight of all words of the text and of the expectations. If no
//! hit covers much, the tree holds nothing of the kind. If the first hit covers much and no other has more of
//! the words, it is the answer. If code holds half of the expectations or fewer, these can meet by chance: the
//! share is then that of the lowest band. The shares come from questions with known answers: `relevance reading --bands`
//! prints them, and `docs/internals/ranking.md` has the table.

use crate::naming::Named;
use crate::pack::{Basis, Confidence};
use crate::query::{Kind, Query};
use crate::retrieve::Retrieved;
use crate::score::Feature;

/// Number of best hits whose coverage counts.
const HITS: usize = 10;
/// With less coverage no code holds what the caller expects.
const HELD: f64 = 0.38;
/// The share of right first places from which an answer is mostly right there.
pub const GOOD: f64 = 0.8;

/// The share of right first places by basis and by the least fit of the band, best fit first.
const SHARES: [(Basis, f64, f64); 8] = [
    (Basis::Names, 0.0, 0.9),
    (Basis::Expected, 0.6, 0.9),
    (Basis::Expected, 0.4, GOOD),
    (Basis::Expected, 0.28, 0.5),
    (Basis::Expected, 0.0, 0.3),
    (Basis::Task, 0.0, 0.4),
    (Basis::Question, 0.0, 0.2),
    (Basis::Nothing, 0.0, 0.0),
];

/// The confidence of ranked hits; `n_missing` expectations are held by no code.
pub fn of(query: &Query, named: &Named, found: &Retrieved, n_missing: usize) -> Confidence {
    let Some(first) = found.hits.first() else { return Confidence::default() };
    let best = found.hits.iter().take(HITS).map(|h| h.coverage).fold(0.0, f64::max);
    let coverage = hundredths(found.weighted.known * best);
    let fit = hundredths(first.coverage * first.scored.features.get(Feature::Words));
    let is_exact = named.is_written
        || query.kind == Kind::Name && !named.meant.is_empty()
        || first.scored.features.get(Feature::Literal) > 0.0
        || query.kind == Kind::Trace && !query.paths.is_empty();
    let basis = match (is_exact, query.has_expectations) {
        (true, _) => Basis::Names,
        (_, true) if coverage >= HELD => Basis::Expected,
        (_, true) => Basis::Nothing,
        _ if query.is_short => Basis::Question,
        _ => Basis::Task,
    };
    let mut bands = SHARES.iter().filter(|s| s.0 == basis);
    let is_guessed = basis == Basis::Expected && 2 * n_missing >= query.expected.len();
    let score = bands.find(|s| fit >= s.1 && !is_guessed || s.1 == 0.0).map_or(0.0, |s| s.2);
    Confidence { score, basis, fit, coverage }
}

fn hundredths(x: f64) -> f64 {
    (x * 100.0).round() / 100.0
}
