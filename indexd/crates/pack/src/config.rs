//! Every weight and limit that shapes a pack and is no hard cap, with its default and reason.
//!
//! Ranking weights were chosen on the development tasks on plateaus: halving or doubling one moves
//! function recall by less than the noise of the set. A weight of 0 switches its signal off.

use indexd_model::limits;
use serde::{Deserialize, Serialize};

/// Configuration of the packing engine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Config {
    /// Token counter used when a request names none.
    pub tokenizer: String,
    /// Limits used when a request names none.
    pub budgets: BudgetDefaults,
    /// Weights of retrieval.
    pub ranking: Ranking,
    /// Weights of the hybrid score.
    pub scoring: ScoringWeights,
    /// Bounds of expansion.
    pub expansion: ExpansionBounds,
    /// Shares of the ten sections, in percent of the budget.
    pub graph_shares: GraphShares,
    /// Shares of the six sections, in percent of the budget.
    pub agent_shares: AgentShares,
    /// How excerpts are cut.
    pub excerpts: Excerpts,
    /// What inexact token counters add.
    pub headroom: Headroom,
    /// Items guaranteed whenever there is content and a positive budget.
    pub min_items: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            tokenizer: "o200k_base".to_owned(),
            budgets: BudgetDefaults::default(),
            ranking: Ranking::default(),
            scoring: ScoringWeights::default(),
            expansion: ExpansionBounds::default(),
            graph_shares: GraphShares::default(),
            agent_shares: AgentShares::default(),
            excerpts: Excerpts::default(),
            headroom: Headroom::default(),
            min_items: 1,
        }
    }
}

/// Settings whose value may not be above a number: hard limits, and shares of one.
const HIGHEST: [(&str, f64); 19] = [
    ("/budgets/maxTotalChars", limits::TOTAL_CHARS_MAX as f64),
    ("/budgets/maxItems", limits::ITEMS_MAX as f64),
    ("/budgets/maxItemsPerSection", limits::ITEMS_PER_SECTION_MAX as f64),
    ("/budgets/maxBytesPerItem", limits::BYTES_PER_ITEM_MAX as f64),
    ("/budgets/maxHops", limits::HOPS_MAX as f64),
    ("/minItems", limits::ITEMS_MAX as f64),
    ("/expansion/seeds", limits::EXPANSION_SEEDS_MAX as f64),
    ("/expansion/nodes", limits::EXPANSION_NODES_MAX as f64),
    ("/expansion/edgesPerNode", limits::EXPANSION_EDGES_PER_NODE_MAX as f64),
    ("/expansion/edges", limits::EXPANSION_EDGES_MAX as f64),
    ("/expansion/records", limits::EXPANSION_RECORDS_MAX as f64),
    ("/ranking/seedsMax", limits::SEEDS_MAX as f64),
    ("/ranking/candidatesMax", limits::CANDIDATES_MAX as f64),
    ("/ranking/filesWhole", limits::FILES_WHOLE_MAX as f64),
    ("/ranking/b", 1.0),
    ("/ranking/bulk", 1.0),
    ("/ranking/coverage", 1.0),
    ("/ranking/gate", 1.0),
    ("/ranking/namedRarity", 1.0),
];

impl Config {
    /// Whether packs can be made with these settings: no number is negative or above its hard
    /// limit, and some part of the hybrid score has weight.
    ///
    /// # Errors
    /// What is wrong, as a sentence about the value.
    pub fn check(&self) -> Result<(), String> {
        let tree = serde_json::to_value(self).unwrap_or_default();
        if has_negative(&tree) {
            return Err("it may not be negative".to_owned());
        }
        for (pointer, highest) in HIGHEST {
            if tree.pointer(pointer).and_then(serde_json::Value::as_f64).is_some_and(|v| v > highest) {
                return Err(format!("it may be at most {highest}"));
            }
        }
        let s = &self.scoring;
        if s.seed + s.distance + s.evidence == 0.0 {
            return Err("one weight of pack.scoring must be above 0".to_owned());
        }
        Ok(())
    }
}

fn has_negative(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::Object(map) => map.values().any(has_negative),
        value => value.as_f64().is_some_and(|v| v < 0.0),
    }
}

macro_rules! settings {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $ty:ty = $default:expr,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase", deny_unknown_fields, default)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $ty,)*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)* }
            }
        }
    };
}

settings! {
    /// Limits used when a request names none (REQ-16 to REQ-20, C-18).
    BudgetDefaults {
        /// Characters of the rendering.
        max_total_chars: u64 = 200_000,
        /// Tokens of the rendering: a window of 100,000 less 8,000 for the response and 2,000 for
        /// the system prompt.
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
    /// Weights of retrieval.
    Ranking {
        /// BM25 saturation.
        k1: f32 = 1.2,
        /// BM25 length normalisation.
        b: f32 = 0.75,
        /// What a unit of very few lines loses: a change touches long code more often.
        bulk: f32 = 0.25,
        /// A term in the name of the definition, in occurrences.
        name: f32 = 3.0,
        /// A term in the names around it.
        qualifier: f32 = 2.0,
        /// A term in the signature.
        signature: f32 = 1.0,
        /// A term in the doc comment.
        doc: f32 = 0.25,
        /// A term in the rest.
        body: f32 = 1.0,
        /// A term in the path of the file.
        path: f32 = 3.0,
        /// What a file's other good chunks add to each, in parts of their summed scores.
        file_evidence: f32 = 0.3,
        /// What the other good members of a type add to each.
        type_evidence: f32 = 0.1,
        /// A file, folder or module named in the text, in parts of the top score.
        named_file: f32 = 0.25,
        /// What a plain word that is the name of a file says against a path in the text.
        named_word: f32 = 0.4,
        /// How much less a common word says that is also a file's name: 0 nothing, 1 by its idf.
        named_rarity: f32 = 0.5,
        /// A folder named in the text.
        named_folder: f32 = 0.3,
        /// A definition named in the text.
        named_symbol: f32 = 0.3,
        /// A stack frame points at it.
        frame: f32 = 0.5,
        /// A phrase or error string found in the text of a definition.
        literal: f32 = 0.4,
        /// Words of past commit subjects that touched the file.
        history: f32 = 0.4,
        /// How recently the file was touched, by count of commits.
        recency: f32 = 0.1,
        /// How recently the lines of the unit itself were touched.
        touched: f32 = 0.15,
        /// Best files all of whose units are looked at.
        files_whole: u32 = 6,
        /// What a test that fits the text adds to what it calls.
        test_bridge: f32 = 0.3,
        /// What a good hit adds to definitions of the same name, its siblings elsewhere.
        sibling: f32 = 0.15,
        /// Weight of the words that mark the best hits against those of the text.
        feedback: f32 = 0.3,
        /// Weight of a term of the title against one further down.
        title: f32 = 2.0,
        /// Weight of a part of a name (`cache` of `pytest_cache`) against the name.
        part: f32 = 0.7,
        /// Weight of two neighbouring words of the title written as one name, against each alone.
        joined: f32 = 0.4,
        /// Weight of words derived from a word (`parser`, `parse`) against the word itself.
        derived: f32 = 0.6,
        /// Weight of abbreviations and synonyms (`cfg`, `configuration`) against the word itself.
        synonyms: f32 = 0.2,
        /// How much a unit loses that holds only some of the words: 0 nothing, 1 their share.
        coverage: f32 = 0.3,
        /// What a file's signals are worth to a unit that has nothing of the text itself.
        gate: f32 = 0.65,
        /// How much the second, third, ... unit of a file gives way.
        spread: f32 = 0.02,
        /// What tests keep of their score as seeds.
        test_factor: f32 = 0.35,
        /// What documents and configuration keep of their score as seeds.
        prose_factor: f32 = 0.5,
        /// What text of unknown language keeps of its score.
        text_factor: f32 = 0.5,
        /// What text between definitions keeps of its score.
        between_factor: f32 = 1.0,
        /// What comments between definitions keep of theirs: licences, docs of modules.
        comment_factor: f32 = 0.5,
        /// What imports and lists of exported names keep when no definition of their file stands
        /// before them.
        alone_factor: f32 = 0.85,
        /// What a definition without a body keeps when one of its name with a body is found.
        stub_factor: f32 = 0.7,
        /// What the second, third, ... definition of one name in one scope keeps: a build has one.
        twin_factor: f32 = 0.7,
        /// What a definition keeps for each better one that it looks like, from the second on: most of
        /// its lines are the same.
        alike_factor: f32 = 0.7,
        /// What changelogs keep of their score as documents: they have the words of every issue.
        news_factor: f32 = 0.5,
        /// What types keep of theirs: functions hold most of what changes.
        type_factor: f32 = 0.85,
        /// What generated and vendored files keep of their score.
        generated_factor: f32 = 0.4,
        /// What examples keep of their score.
        example_factor: f32 = 0.6,
        /// Seeds at most.
        seeds_max: u32 = 60,
        /// Definitions that are scored exactly.
        candidates_max: u32 = 1_200,
    }
}

settings! {
    /// Weights of `hybridScore` (RANK-02).
    ScoringWeights {
        /// Retrieval score.
        seed: f64 = 0.70,
        /// `1 / (1 + hops)`.
        distance: f64 = 0.20,
        /// Confidence along the best path.
        evidence: f64 = 0.10,
        /// A seed at or above this is strong: nothing known by the graph alone passes it (C-40).
        strong_seed: f64 = 0.5,
        /// What is no seed and scores less has no part in its section's share: it waits for the room
        /// that is left.
        share_seed: f64 = 0.2,
    }
}

settings! {
    /// Bounds of expansion: every walk stops at a count, never at a time.
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

settings! {
    /// Shares of the ten sections in percent; the first pass of selection honours them (C-25).
    GraphShares {
        /// Direct hits.
        seeds: u32 = 89,
        /// Who calls them.
        callers: u32 = 2,
        /// What they call.
        callees: u32 = 2,
        /// What they import.
        imports: u32 = 1,
        /// What exports them.
        exports: u32 = 1,
        /// Where they are used.
        usages: u32 = 1,
        /// Where values flow.
        dataflow: u32 = 1,
        /// What tests them.
        tests: u32 = 3,
        /// What describes them.
        docs: u32 = 1,
        /// Neighbours, when the graph is sparse.
        related: u32 = 1,
    }
}

settings! {
    /// Shares of the six sections in percent (C-25).
    AgentShares {
        /// Definitions of primary symbols.
        definitions: u32 = 35,
        /// Uses of and by primary symbols.
        key_usages: u32 = 25,
        /// Imports and declared dependencies.
        dependencies: u32 = 10,
        /// Tests.
        tests: u32 = 15,
        /// Configuration and build files.
        config: u32 = 5,
        /// Documents.
        docs: u32 = 10,
    }
}

settings! {
    /// What counters that do not know the model's tokenizer add to their counts (BUDG-07).
    Headroom {
        /// Percent that `generic` adds.
        generic: u32 = indexd_text::GENERIC_HEADROOM_PERCENT,
        /// Percent that `claude` adds.
        claude: u32 = indexd_text::CLAUDE_HEADROOM_PERCENT,
    }
}

settings! {
    /// How excerpts are cut to size.
    Excerpts {
        /// The seed at rank `r`, from 0, is shown whole up to `first / (1 + fade * r)` percent of the
        /// budget.
        first_percent: u32 = 80,
        /// How fast that falls.
        fade: f32 = 0.7,
        /// What any seed is shown whole up to at most: the best may be wrong, and in a small pack
        /// nothing else would have room beside it.
        most_percent: u32 = 70,
        /// A type that is not the best is shown whole up to this share: code is read, types looked up.
        type_percent: u32 = 10,
        /// What every seed may have.
        least_percent: u32 = 5,
        /// A candidate that is no seed is shown whole up to this share.
        neighbour_percent: u32 = 2,
        /// A test that is no seed is shown whole up to this share: about 20 lines of 8,000 tokens.
        test_percent: u32 = 3,
        /// Lines of a candidate that is no seed when it is longer.
        neighbour_lines: u32 = 12,
        /// Up to this many lines everything is shown whole.
        whole_lines: u32 = 12,
        /// Lines of the head of a long definition that are always shown.
        head_lines: u32 = 12,
        /// Lines of the head of a long candidate that is no seed; the rest is where the edge or the
        /// text points at.
        neighbour_head_lines: u32 = 4,
        /// Up to so many lines left out inside or at the end are shown: their mark takes as much.
        gap_lines: u32 = 3,
        /// Lines around the best matches of a long definition.
        window_lines: u32 = 40,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(change: fn(&mut Config), expect: Result<(), &str>) {
        let mut config = Config::default();
        change(&mut config);
        assert_eq!(config.check(), expect.map_err(str::to_owned));
    }

    #[test]
    fn no_setting_passes_a_hard_limit() {
        check(|_| {}, Ok(()));
        check(|c| c.budgets.max_items = 250, Ok(()));
        check(|c| c.budgets.max_items = 251, Err("it may be at most 250"));
        check(|c| c.min_items = u32::MAX, Err("it may be at most 250"));
        check(|c| c.expansion.edges = u32::MAX, Err("it may be at most 100000"));
        check(|c| c.ranking.b = 1.5, Err("it may be at most 1"));
        check(|c| c.ranking.body = -1.0, Err("it may not be negative"));
        check(|c| c.scoring.seed = -0.1, Err("it may not be negative"));
        let none = ScoringWeights { seed: 0.0, distance: 0.0, evidence: 0.0, ..Default::default() };
        assert!(Config { scoring: none, ..Config::default() }.check().is_err());
    }

    #[test]
    fn every_limit_names_a_setting() {
        let tree = serde_json::to_value(Config::default()).unwrap();
        for (pointer, _) in HIGHEST {
            assert!(tree.pointer(pointer).is_some_and(serde_json::Value::is_number), "{pointer}");
        }
    }
}
