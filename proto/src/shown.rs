//! `context.show`: what a pack held and what it cost, without its content.

use crate::answer::answer;
use indexd_api::JsonSchema;
use indexd_api::params;
use indexd_api::sources::SourceType;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

params! {
    /// Parameters of `context.show`.
    ShowParams {
        repo, cwd,
        /// The pack: one of the latest, or one that was written. Without it the last one of the workspace.
        pack_id: Option<String>,
    }
}

answer! {
    /// The result of `context.show`.
    ContextSummary("ContextSummary") {
        /// The pack; absent for one of offered sources, which has no id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pack_id: Option<String>,
        /// The method that made it.
        method: String,
        /// What it could take and what it took.
        budget: ShownBudget,
        /// What it took by kind of source, the weightiest kind first; kinds that took nothing are left out.
        sources: Vec<ShownSource>,
        /// Its chunks, in its own order.
        chunks: Vec<ShownChunk>,
        /// Weights, priorities and sizes that were in force, by key.
        settings: BTreeMap<String, Value>,
    }
}

/// What a pack could take and what it took, in tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShownBudget {
    /// The whole: with reserves, where the request names them.
    pub total_tokens: u64,
    /// What was left for content.
    pub available_tokens: u64,
    /// The tokens of the text, counted as a whole.
    pub used_tokens: u64,
    /// The same as a share of the whole, in percent, rounded.
    pub used_percent: u64,
}

/// One kind of source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShownSource {
    /// `toolResult`, `openFile`, `searchResult` or `reference`.
    pub kind: SourceType,
    /// Tokens of its chunks, headers not counted.
    pub tokens: u64,
    /// How many: items of tools, files that are open, chunks of searches and references.
    pub n: u64,
}

/// One chunk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ShownChunk {
    /// Relative path; absent where the text is not part of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
    /// First line, from 1.
    pub start_line: u32,
    /// Last line.
    pub end_line: u32,
    /// Tokens of its text.
    pub tokens: u64,
    /// Where it comes from.
    pub origin: SourceType,
}

impl ContextSummary {
    /// The sums over chunks, by origin.
    pub fn sources_of(chunks: &[ShownChunk]) -> Vec<ShownSource> {
        let of = |kind: SourceType| {
            let own: Vec<&ShownChunk> = chunks.iter().filter(|c| c.origin == kind).collect();
            let mut files: Vec<_> = own.iter().map(|c| &c.file_path).collect();
            files.sort();
            files.dedup();
            let n = if kind == SourceType::OpenFile { files.len() } else { own.len() };
            ShownSource { kind, tokens: own.iter().map(|c| c.tokens).sum(), n: n as u64 }
        };
        SourceType::ALL.iter().copied().map(of).filter(|s| s.n > 0).collect()
    }
}

impl ShownBudget {
    /// The share of `total` that `used` is.
    pub fn new(total_tokens: u64, available_tokens: u64, used_tokens: u64) -> Self {
        let used_percent =
            (used_tokens * 100 + total_tokens / 2).checked_div(total_tokens).unwrap_or_default();
        Self { total_tokens, available_tokens, used_tokens, used_percent }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_summed_in_their_own_units() {
        let chunk = |path: &str, tokens, origin| ShownChunk {
            file_path: Some(path.to_owned()),
            tokens,
            origin,
            ..ShownChunk::default()
        };
        let chunks = [
            chunk("a", 1, SourceType::Reference),
            chunk("b", 2, SourceType::OpenFile),
            chunk("b", 3, SourceType::OpenFile),
            chunk("c", 4, SourceType::ToolResult),
            chunk("c", 5, SourceType::ToolResult),
        ];
        let sums: Vec<_> =
            ContextSummary::sources_of(&chunks).into_iter().map(|s| (s.kind, s.tokens, s.n)).collect();
        assert_eq!(
            sums,
            [(SourceType::ToolResult, 9, 2), (SourceType::OpenFile, 5, 1), (SourceType::Reference, 1, 1)]
        );
        assert_eq!(ShownBudget::new(100_000, 90_000, 45_234).used_percent, 45);
        assert_eq!(ShownBudget::new(0, 0, 0).used_percent, 0);
    }
}
