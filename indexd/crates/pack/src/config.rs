//! Weights and limits of packs that are settings, with defaults and reasons. Hard limits are in `model`.
//!
//! The numbers that ranking was tuned by are not settings; they are in [`crate::tuning`].

use crate::kind::Kind;
use crate::pack::{Limit, LimitSource};
use crate::patterns::RolePatterns;
use indexd_api::sources::ContextBudget;
use indexd_model::limits;
use std::collections::BTreeMap;

/// Declares a struct of numbers and switches with defaults. In JSON, members may be left out, and unknown
/// ones are refused.
#[macro_export]
macro_rules! settings {
    ($($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $ty:ty = $default:expr,)* })*) => {$(
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "camelCase", deny_unknown_fields, default)]
        $(#[$meta])*
        pub struct $name {
            $($(#[$field_meta])* pub $field: $ty,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }
    )*};
}

settings! {
    /// Configuration of the packing engine.
    Config {
        /// Token counter used when a request names none.
        tokenizer: String = "o200k_base".to_owned(),
        /// Limits used when a request names none.
        budgets: BudgetDefaults = BudgetDefaults::default(),
        /// Weights of the hybrid score.
        scoring: ScoringWeights = ScoringWeights::default(),
        /// Weights of the order by source. Packs repeat them, and nothing else here depends on them.
        sources: SourceScoring = SourceScoring::default(),
        /// Patterns that set the roles of files regardless of the default rules.
        roles: RolePatterns = RolePatterns::default(),
        /// Bounds of expansion.
        expansion: ExpansionBounds = ExpansionBounds::default(),
        /// Shares of the budget.
        shares: Shares = Shares::default(),
        /// Percent that inexact token counters add.
        headroom: Headroom = Headroom::default(),
        /// Items guaranteed if there is content and a positive budget.
        min_items: u32 = 1,
        /// The context window, for the parts that a request does not set.
        window: ContextBudget = ContextBudget::default(),
        /// The origin of each limit of [`Config::budgets`] that a setting changes, by its name in JSON;
        /// `window` stands for any part of the window. Packs report it with their limits, and nothing else
        /// depends on it.
        #[serde(skip)]
        origins: BTreeMap<String, LimitSource> = BTreeMap::new(),
    }
}

impl Config {
    /// The limit `name` of [`Config::budgets`] with its origin.
    pub(crate) fn limit(&self, name: &str, value: u64) -> Limit {
        let source = self.origins.get(name).copied().unwrap_or(LimitSource::Default);
        Limit { value, source }
    }

    /// The default tokens of a request: those of its client, else `maxTotalTokens`, and at most the tokens
    /// that the window leaves.
    pub(crate) fn tokens(&self, client: Option<u64>) -> Limit {
        let configured = || self.limit("maxTotalTokens", self.budgets.max_total_tokens);
        let most = client.map_or_else(configured, |value| Limit { value, source: LimitSource::Client });
        let left = self.window.available();
        if most.value <= left { most } else { self.limit("window", left) }
    }
}

settings! {
    /// Limits used when a request names none.
    #[derive(Copy)]
    BudgetDefaults {
        /// Characters of the rendering.
        max_total_chars: u64 = 200_000,
        /// Tokens of the rendering, if the window leaves as many.
        max_total_tokens: u64 = 90_000,
        /// Items.
        max_items: u64 = 80,
        /// Items of one section.
        max_items_per_section: u64 = 25,
        /// Bytes of one excerpt.
        max_bytes_per_item: u64 = 4_096,
        /// Hops.
        max_hops: u64 = 2,
    }
}

settings! {
    /// Weights of `hybridScore`.
    #[derive(Copy)]
    ScoringWeights {
        /// Retrieval score.
        seed: f64 = 0.70,
        /// `1 / (1 + hops)`.
        distance: f64 = 0.20,
        /// Confidence along the best path.
        evidence: f64 = 0.10,
        /// A seed at or above this score is strong: no candidate known by the graph alone is ranked above it.
        strong_seed: f64 = 0.5,
    }
}

settings! {
    /// Weights of the order by source, and the priority of each kind of source.
    #[derive(Copy)]
    SourceScoring {
        /// The engine's score.
        relevance: f64 = 0.5,
        /// How recently the file was changed.
        recency: f64 = 0.3,
        /// The kind of source.
        source: f64 = 0.2,
        /// Priority of stack frames; only the ratio to the highest priority matters.
        tool_results: u64 = 100,
        /// Priority of definitions that the request names or focuses on.
        open_files: u64 = 80,
        /// Priority of search hits.
        search_results: u64 = 60,
        /// Priority of candidates found by edges.
        references: u64 = 40,
    }
}

settings! {
    /// Bounds of expansion. They are counts, never times.
    #[derive(Copy)]
    ExpansionBounds {
        /// Seeds that are expanded.
        seeds: u32 = 12,
        /// Definitions whose edges are read.
        nodes: u32 = 40,
        /// Edges read from or into one definition.
        edges_per_node: u32 = 40,
        /// Edges read in one request.
        edges: u32 = 1_500,
        /// Definitions reached in one request.
        records: u32 = 200,
    }
}

impl ExpansionBounds {
    /// Multiplies the bounds by `n` for a large pack, up to the hard limits.
    pub fn times(self, n: u32) -> Self {
        let wider = |of: u32, most: u32| of.saturating_mul(n).min(most.max(of));
        Self {
            seeds: wider(self.seeds, limits::EXPANSION_SEEDS_MAX),
            nodes: wider(self.nodes, limits::EXPANSION_NODES_MAX),
            edges_per_node: self.edges_per_node,
            edges: wider(self.edges, limits::EXPANSION_EDGES_MAX),
            records: wider(self.records, limits::EXPANSION_RECORDS_MAX),
        }
    }
}

settings! {
    /// Percent of the budget that each lane may take, in lane order, before the best remaining candidates get
    /// the rest (SECT-12, SEL-04).
    #[derive(Copy)]
    Shares {
        /// Definitions that the text names, with their callers, callees, types and a test.
        named: u32 = 60,
        /// The best hits.
        code: u32 = 70,
        /// Heads of definitions that the shown code refers to.
        references: u32 = 18,
        /// Calls of the shown definitions.
        callers: u32 = 1,
        /// Tests of the shown definitions.
        tests: u32 = 3,
        /// Documents and configuration that match the text.
        prose: u32 = 1,
    }
}

impl Shares {
    /// The shares for a kind of text. A question asks to read code and not yet to change it, so two thirds of
    /// the shares for heads and tests go to code.
    pub fn of_kind(self, kind: Kind) -> Self {
        if kind != Kind::Question {
            return self;
        }
        let (references, tests) = (self.references / 3, self.tests / 3);
        let freed = self.references - references + self.tests - tests;
        Self { code: self.code + freed, references, tests, ..self }
    }
}

settings! {
    /// Percent added to the counts of counters that do not know the tokenizer of the model (BUDG-07).
    #[derive(Copy)]
    Headroom {
        /// Percent that `generic` adds.
        generic: u32 = indexd_text::GENERIC_HEADROOM_PERCENT,
        /// Percent that `claude` adds.
        claude: u32 = indexd_text::CLAUDE_HEADROOM_PERCENT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_gives_room_of_heads_to_code() {
        let shares = Shares::default();
        assert_eq!(shares.of_kind(Kind::Change), shares);
        let of_question = shares.of_kind(Kind::Question);
        assert_eq!((of_question.code, of_question.references, of_question.tests), (84, 6, 1));
    }
}
