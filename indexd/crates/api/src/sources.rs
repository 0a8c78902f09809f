//! Content that a caller offers to be packed, and the budget of a context window.

use crate::JsonSchema;
use crate::kinds;
use crate::pack::{LineRange, Word};
use crate::request::ContextBudgetRequest;
use serde::{Deserialize, Serialize};

kinds! {
    /// The kind of a source; the first has the highest priority.
    SourceType {
        /// Output of a tool.
        ToolResult = "toolResult",
        /// A file as in the editor, saved or not.
        OpenFile = "openFile",
        /// A hit of a search.
        #[default]
        SearchResult = "searchResult",
        /// A definition or document that other content refers to.
        Reference = "reference",
    }
}

/// Content that is offered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OfferedSource {
    /// Its kind.
    pub source_type: SourceType,
    /// The text; of search results and references it may be left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Relative path, where it is a part of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
    /// The 1-based lines that the text has in its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_range: Option<LineRange>,
    /// How well it fits the task, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relevance_score: Option<f64>,
    /// When it was made, in any unit that grows with time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<i64>,
    /// Why there is no content: the source failed or took too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The content comes by `context.offer` under this name, before the packing asks or while it waits; at
    /// most 64 bytes. All sources are waited for at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handle: Option<String>,
    /// Milliseconds to wait for it, at most 60,000. Default 1,000. A source that comes later is left out,
    /// and the result is `partial`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

impl OfferedSource {
    /// The offered relevance, 0 to 1; none if it is not a number.
    pub fn relevance(&self) -> Option<f64> {
        self.relevance_score.filter(|r| !r.is_nan()).map(|r| r.clamp(0.0, 1.0))
    }
}

/// A gross budget in tokens. The available tokens are the total minus the reserves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ContextBudget {
    /// Tokens of the whole window.
    pub total_tokens: u64,
    /// Tokens kept free for the response; a negative value counts as 0.
    pub response_reserve: i64,
    /// Tokens kept free for the system prompt; a negative value counts as 0.
    pub system_reserve: i64,
}

impl Default for ContextBudget {
    fn default() -> Self {
        Self { total_tokens: 100_000, response_reserve: 8_000, system_reserve: 2_000 }
    }
}

impl ContextBudget {
    /// The budget with the members that a request names.
    pub fn with(self, asked: ContextBudgetRequest) -> Self {
        Self {
            total_tokens: asked.total_tokens.unwrap_or(self.total_tokens),
            response_reserve: asked.response_reserve.unwrap_or(self.response_reserve),
            system_reserve: asked.system_reserve.unwrap_or(self.system_reserve),
        }
    }

    /// The names of negative reserves.
    pub fn negative(self) -> Vec<Word> {
        let reserves = [("responseReserve", self.response_reserve), ("systemReserve", self.system_reserve)];
        reserves.into_iter().filter(|(_, tokens)| *tokens < 0).map(|(name, _)| name.into()).collect()
    }

    /// The total minus the reserves, at least 0.
    pub fn available(self) -> u64 {
        self.total_tokens
            .saturating_sub(self.response_reserve.max(0) as u64)
            .saturating_sub(self.system_reserve.max(0) as u64)
    }
}
