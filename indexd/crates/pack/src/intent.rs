//! What each intent asks of a pack, one row each: the lanes that are filled, in their order, with the
//! percent of the budget that each may take first; which of them get the rest; in what form hits are
//! shown; which edges count where the request names none; and what past commits and quoted messages count.
//!
//! `answer` and `review` take the shares of the configuration. The row in force is part of the weights
//! that `--explain` prints.

use crate::config::Shares;
use crate::query::Kind;
use crate::request::{Direction, EdgeType, Intent};
use crate::tuning::Weights;
use serde::Serialize;

/// A source of items that has room of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Lane {
    /// What the text names, with its neighbourhood.
    Named,
    /// What holds a phrase of the text.
    Quoted,
    /// The best hits.
    Hits,
    /// Places of definitions that share a named name.
    Listed,
    /// Heads of what the shown code refers to.
    References,
    /// Calls of the best of the shown code.
    Callers,
    /// Tests of the shown code.
    Tests,
    /// Documents and configuration that fit the text.
    Prose,
    /// Every use of what is asked about, as the lines of the uses.
    Uses,
    /// What depends on what is asked about, over as many hops as are allowed.
    Dependents,
    /// Outlines of the places where programs start.
    Entries,
    /// Outlines of what the modules of the best hits export.
    Exports,
}

/// A lane and the percent of the budget that it may take before others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Share {
    /// The lane.
    pub lane: Lane,
    /// Percent of the budget.
    pub percent: u32,
}

/// How hits are shown first; what room is left widens them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Shown {
    /// Whole, or the windows that matter.
    Code,
    /// Doc comment and signature.
    Outline,
}

/// One row: all that an intent changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// Lanes in the order in which they are filled.
    pub lanes: Vec<Share>,
    /// Lanes that may take the rest, in order; after them everything else may.
    pub rest: Vec<Lane>,
    /// How hits are shown.
    pub hits: Shown,
    /// Whether fewer hops and stronger evidence go before scores.
    pub graph_first: bool,
    /// What quoted messages, and recent changes and subjects of commits, are multiplied by.
    pub literal: f64,
    /// The same for recent changes and subjects of commits; they count for questions as well then.
    pub past: f64,
}

/// Percent of the budget for what holds a phrase of the text.
pub const QUOTED_PERCENT: u32 = 25;

/// Percent of the budget for the places of definitions that share a named name.
const LISTED_PERCENT: u32 = 4;

impl Row {
    /// The row of an intent; `shares` are those of the configuration for the kind of text.
    pub fn of(intent: Intent, shares: Shares) -> Self {
        use Lane::*;
        let listed = (Listed, LISTED_PERCENT);
        // What the text names comes first, then what holds a phrase of it.
        let (named, then, rest) = match intent {
            Intent::Answer | Intent::Review => (
                shares.named,
                vec![
                    (Hits, shares.code),
                    listed,
                    (References, shares.references),
                    (Callers, shares.callers),
                    (Tests, shares.tests),
                    (Prose, shares.prose),
                ],
                vec![Hits, References, Tests],
            ),
            Intent::Summarize => (
                30,
                vec![(Entries, 25), (Hits, 45), (Exports, 15), (Prose, 15)],
                vec![Hits, Exports, References],
            ),
            Intent::Refactor => {
                (30, vec![(Uses, 50), (Hits, 20), listed, (Tests, 5)], vec![Uses, Hits, References, Tests])
            }
            Intent::Debug => (
                40,
                vec![(Hits, 55), (Callers, 15), (References, 15), (Tests, 10)],
                vec![Hits, Callers, References, Tests],
            ),
            Intent::Impact => (
                25,
                vec![(Hits, 25), (Dependents, 50), (Tests, 15)],
                vec![Dependents, Tests, Hits, References],
            ),
            Intent::Contract => (
                20,
                vec![(Hits, 25), (Exports, 20), (Prose, 20), (Tests, 20)],
                vec![Exports, Prose, Tests, Hits],
            ),
        };
        let lanes = [(Named, named), (Quoted, QUOTED_PERCENT)].into_iter().chain(then);
        let is_outline = matches!(intent, Intent::Summarize | Intent::Contract);
        let past = if intent == Intent::Debug { 2.0 } else { 1.0 };
        Self {
            lanes: lanes.map(|(lane, percent)| Share { lane, percent }).collect(),
            rest,
            hits: if is_outline { Shown::Outline } else { Shown::Code },
            graph_first: intent == Intent::Impact,
            literal: past,
            past,
        }
    }

    /// The weights in force.
    pub fn weights(&self, w: &Weights) -> Weights {
        Weights {
            literal: w.literal * self.literal,
            touched: w.touched * self.past,
            commits: w.commits * self.past,
            ..*w
        }
    }

    /// What a text counts as: where past commits matter, a question is the text of a change.
    pub fn kind(&self, kind: Kind) -> Kind {
        if self.past > 1.0 && kind == Kind::Question { Kind::Change } else { kind }
    }
}

/// Which way edges are followed where the request does not say.
pub fn direction(intent: Intent) -> Direction {
    if intent == Intent::Impact { Direction::In } else { Direction::Both }
}

/// Kinds of edges where the request names none.
pub fn edge_types(intent: Intent) -> Vec<EdgeType> {
    let mut kinds = vec![EdgeType::Call, EdgeType::Usage, EdgeType::Import];
    if matches!(intent, Intent::Summarize | Intent::Contract) {
        kinds.push(EdgeType::Export);
    }
    kinds
}

/// Hops where the request does not say, of those that are usual.
pub fn hops(intent: Intent, usual: u64) -> u64 {
    if intent == Intent::Impact { usual.max(IMPACT_HOPS) } else { usual }
}

/// Hops over which dependents are looked for at least, unless the request says how many.
const IMPACT_HOPS: u64 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Intent; 7] = [
        Intent::Answer,
        Intent::Summarize,
        Intent::Refactor,
        Intent::Debug,
        Intent::Impact,
        Intent::Contract,
        Intent::Review,
    ];

    #[test]
    fn only_a_review_is_shown_like_an_answer() {
        let of = |intent| Row::of(intent, Shares::default());
        for (i, a) in ALL.iter().enumerate() {
            for b in &ALL[..i] {
                let is_one = (*a, *b) == (Intent::Review, Intent::Answer);
                assert_eq!(of(*a) == of(*b), is_one, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn an_answer_has_the_shares_and_weights_of_the_configuration() {
        let shares = Shares { code: 41, tests: 7, ..Shares::default() };
        let row = Row::of(Intent::Answer, shares);
        let of = |lane| row.lanes.iter().find(|s| s.lane == lane).map(|s| s.percent);
        assert_eq!((of(Lane::Hits), of(Lane::Tests)), (Some(41), Some(7)));
        assert_eq!(row.weights(&Weights::default()), Weights::default());
        assert_eq!(row.kind(Kind::Question), Kind::Question);
    }
}
