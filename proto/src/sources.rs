//! `context.pack`: packing what the caller offers, instead of what the engine finds.

use crate::workspace::{Envelope, Wait};
use indexd_api::params;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

params! {
    /// Parameters of `context.pack`.
    SourcesParams {
        repo, cwd, wait, progress,
        /// What is wanted of it: `pack` (default), `preview` (no text) or `stats`.
        mode: Option<PackingMode>,
        /// What is offered. A search result or reference without content is read from the index.
        sources: Vec<OfferedSource>,
        /// The gross budget. Default 100,000 tokens less 8,000 and 2,000.
        budget: Option<crate::request::ContextBudgetRequest>,
        /// Weights, priorities and limits; absent members mean the default.
        settings: Option<Map<String, Value>>,
        /// A template for the text, in Jinja's language; it sees `chunks`, and the default text as `text`.
        template: Option<String>,
        /// `o200k_base`, `cl100k_base`, `generic` or `claude`.
        tokenizer: Option<String>,
    }
}

/// What is wanted of a packing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PackingMode {
    /// The text.
    #[default]
    Pack,
    /// What would be in it.
    Preview,
    /// Figures alone.
    Stats,
}

/// A kind of source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum OfferedKind {
    /// Output of a tool.
    ToolResult,
    /// A file as the editor has it, saved or not.
    OpenFile,
    /// A hit of a search.
    #[default]
    SearchResult,
    /// A definition or document that something refers to.
    Reference,
}

/// Content that is offered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OfferedSource {
    /// Its kind.
    pub source_type: OfferedKind,
    /// The text; of search results and references it may be left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// Relative path, where it is a part of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
    /// The 1-based lines that the text has in its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_range: Option<OfferedLines>,
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

params! {
    /// Parameters of `context.offer`: `content` or `failure`.
    OfferParams {
        /// The name that the source has, or will have, in `context.pack`.
        handle: String,
        /// The text.
        content: Option<String>,
        /// Why there is none.
        failure: Option<String>,
    }
}

/// The result of `context.offer`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OfferResult {
    /// Always `OfferResult`.
    pub schema: String,
    /// Version of this shape.
    pub schema_version: String,
    /// Whether a packing waits for it now.
    pub awaited: bool,
}

/// 1-based lines, inclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OfferedLines {
    /// First.
    pub start: u32,
    /// Last.
    pub end: u32,
}

/// The result of `context.pack`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourcesResult {
    /// Always `PackedContext`.
    pub schema: String,
    /// Version of this shape.
    pub schema_version: String,
    /// The result: `content`, `tokenCount`, `chunks`, `excluded`, `partial` and `warnings`; in mode
    /// `stats` the figures.
    pub packed: Map<String, Value>,
    /// How the answer came about.
    pub envelope: Envelope,
}
