//! `context.pack`: packing what the caller offers, instead of what the engine finds.

use crate::answer::answer;
use crate::workspace::Wait;
use indexd_api::JsonSchema;
use indexd_api::params;
pub use indexd_api::sources::{ContextBudget, OfferedSource, SourceType};
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
        /// The task in words: chunks that hold its words come first. A source's own relevance counts half.
        /// At most 256 KiB.
        query: Option<String>,
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

answer! {
    /// The result of `context.offer`.
    OfferResult("OfferResult") {
        /// Whether a packing waits for it now.
        awaited: bool,
    }

    /// The result of `context.pack`.
    SourcesResult("PackedContext", envelope) {
        /// The result: `content`, `tokenCount`, `chunks`, `excluded` (without texts), `partial` and `warnings`; in
        /// mode `stats` the figures.
        packed: Map<String, Value>,
    }
}
