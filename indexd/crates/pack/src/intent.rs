//! The intents of a pack, one row each. A row has the lanes in order, with the percent of the budget that
//! each may take first; the lanes that get the rest; the form of hits; the edges that count if the request
//! names none; and the factors of past commits and of quoted messages.
//!
//! `answer` and `review` use the shares of the configuration. `--explain` prints the row as a part of the
//! weights.

use crate::config::Shares;
use crate::kind::Kind;
use crate::tuning::Weights;
use indexd_api::request::{Direction, EdgeType, Intent};
use serde::Serialize;

/// A source of items with its own share of the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Lane {
    /// Definitions that the text names, with their neighbourhood.
    Named,
    /// Units that contain a phrase of the text.
    Quoted,
    /// The best hits.
    Hits,
    /// Places of definitions with an ambiguous name.
    Listed,
    /// Heads of definitions that the shown code refers to.
    References,
    /// Calls of the best of the shown code.
    Callers,
    /// Tests of the shown code.
    Tests,
    /// Documents and configuration that match the text.
    Prose,
    /// Every use of the subject, shown as the lines of the uses.
    Uses,
    /// Units that depend on the subject, over all allowed hops.
    Dependents,
    /// Outlines of the entry points of programs.
    Entries,
    /// Outlines of the exports of the modules of the best hits.
    Exports,
}

/// A lane and the percent of the budget that it may take in its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Share {
    /// The lane.
    pub lane: Lane,
    /// Percent of the budget.
    pub percent: u32,
}

/// The form in which hits are shown first. Free tokens widen it later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Shown {
    /// Whole, or the windows with matches.
    Code,
    /// Doc comment and signature.
    Outline,
}

/// One row: everything that an intent changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// Lanes in the order in which they are filled.
    pub lanes: Vec<Share>,
    /// Lanes that may take the rest, in order. All other candidates follow.
    pub rest: Vec<Lane>,
    /// How hits are shown.
    pub hits: Shown,
    /// True if fewer hops and stronger evidence precede scores.
    pub graph_first: bool,
    /// Factor of the weight of quoted messages.
    pub literal: f64,
    /// Factor of recent changes and subjects of commits. If it is above 1, they count for questions too.
    pub past: f64,
}

/// Percent of the budget for units that contain a phrase of the text.
pub const QUOTED_PERCENT: u32 = 25;

/// Percent of the budget for the places of definitions with an ambiguous name.
const LISTED_PERCENT: u32 = 4;

impl Row {
    /// Returns the row of an intent. `shares` are those of the configuration for the kind of text.
    pub fn of(intent: Intent, shares: Shares) -> Self {
        use Lane::*;
        let listed = (Listed, LISTED_PERCENT);
        // First the named definitions, then units that contain a phrase of the text.
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

    /// Returns the weights in force.
    pub fn weights(&self, w: &Weights) -> Weights {
        Weights {
            literal: w.literal * self.literal,
            touched: w.touched * self.past,
            commits: w.commits * self.past,
            ..*w
        }
    }

    /// The kind that a text counts as. If past commits count, a question is treated as the text of a change.
    pub fn kind(&self, kind: Kind) -> Kind {
        if self.past > 1.0 && kind == Kind::Question { Kind::Change } else { kind }
    }
}

/// The default direction of edges.
pub fn direction(intent: Intent) -> Direction {
    if intent == Intent::Impact { Direction::In } else { Direction::Both }
}

/// The default kinds of edges.
pub fn edge_types(intent: Intent) -> Vec<EdgeType> {
    let mut kinds = vec![EdgeType::Call, EdgeType::Usage, EdgeType::Import];
    if matches!(intent, Intent::Summarize | Intent::Contract) {
        kinds.push(EdgeType::Export);
    }
    kinds
}

/// The default number of hops; `usual` is that of the configuration.
pub fn hops(intent: Intent, usual: u64) -> u64 {
    if intent == Intent::Impact { usual.max(IMPACT_HOPS) } else { usual }
}

/// Minimum hops over which dependents are found, unless the request sets the number.
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
