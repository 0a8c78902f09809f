//! The contract of the source-driven packer: sources in, one budgeted text out.
//!
//! The engine ([`crate::build`](fn@crate::build)) finds code by itself. This packer takes content that a
//! caller offers: search results, open files, tool output, references. Each stage is a trait with one method,
//! so any stage can be replaced. [`packer::Packer`] connects the default stages: sources, chunking, ranking,
//! deduplication, budgeting, selection, formatting. Everything is a pure function of its arguments: no clock,
//! no IO, no state between calls.

pub mod budget;
pub mod chunking;
pub mod dedup;
pub mod format;
pub mod packer;
pub mod ranking;
pub mod selection;

use crate::config::settings;
use crate::error::PackError;
use indexd_model::Lines;
use indexd_text::TokenCounter;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;

indexd_model::words! {
    /// The kind of a source; the first has the highest priority.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub enum SourceType {
        /// Output of a tool.
        ToolResult = "toolResult",
        /// A file as in the editor, saved or not.
        OpenFile = "openFile",
        /// A hit of a search.
        SearchResult = "searchResult",
        /// A definition or document that other content refers to.
        Reference = "reference",
    }

    /// The name on the wire, and of its category in a budget.
    pub fn name;
}

/// Content that a caller offers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContextSource {
    /// Its kind.
    pub source_type: SourceType,
    /// The text.
    #[serde(default)]
    pub content: String,
    /// Relative path if it belongs to a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
    /// Its 1-based lines in the file; from 1 if not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_range: Option<LineRange>,
    /// Relevance to the task, 0..1; values outside are clamped.
    #[serde(default)]
    pub relevance_score: f64,
    /// Time of its creation, in any unit that grows with time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<i64>,
    /// Why there is no content: the source failed or took too long. Only this source is lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

/// 1-based lines, inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LineRange {
    /// First.
    pub start: u32,
    /// Last.
    pub end: u32,
}

settings! {
    /// A gross budget in tokens, fixed before packing.
    #[derive(Copy, Eq)]
    ContextBudget {
        /// The whole window.
        total_tokens: i64 = 100_000,
        /// Kept free for the response.
        response_reserve: i64 = 8_000,
        /// Kept free for the system prompt.
        system_reserve: i64 = 2_000,
    }
}

impl ContextBudget {
    /// Tokens for content: the total minus both reserves. Negative reserves count as 0.
    pub fn available(&self) -> u64 {
        let reserved = self.response_reserve.max(0).saturating_add(self.system_reserve.max(0));
        self.total_tokens.saturating_sub(reserved).max(0) as u64
    }
}

settings! {
    /// Settings of the packer.
    Settings {
        /// Weight of relevance.
        relevance_weight: f64 = 0.5,
        /// Weight of recency.
        recency_weight: f64 = 0.3,
        /// Weight of the kind of source.
        source_weight: f64 = 0.2,
        /// Priority of each kind of source; higher numbers come first.
        priorities: BTreeMap<SourceType, u32> = BTreeMap::from([
            (SourceType::ToolResult, 100),
            (SourceType::OpenFile, 80),
            (SourceType::SearchResult, 60),
            (SourceType::Reference, 40),
        ]),
        /// Maximum tokens of a chunk.
        max_chunk_tokens: u32 = 2_000,
        /// Minimum tokens of a chunk, if there is more text.
        min_chunk_tokens: u32 = 100,
        /// True if chunks end at the ends of definitions and sections.
        prefer_structural: bool = true,
        /// Minimum number of chunks if there is content and a budget.
        min_chunks: u32 = 1,
        /// Percent of the budget that one kind of source may take before the others had their turn. With 100,
        /// rank alone decides.
        balance_percent: u32 = 100,
        /// Maximum tokens of each kind; absent kinds have no limit of their own.
        category_tokens: BTreeMap<SourceType, u64> = BTreeMap::new(),
    }
}

/// A piece of a source.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextChunk {
    /// The text, in whole lines.
    pub content: String,
    /// Relative path if it belongs to a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
    /// First line, from 1.
    pub start_line: u32,
    /// Last line.
    pub end_line: u32,
    /// Tokens of the text alone.
    pub token_count: u32,
    /// The kind of its source.
    pub source_type: SourceType,
    /// The index of its source, from 0.
    pub source: usize,
    /// Relevance, 0..1.
    pub relevance: f64,
    /// Time of creation of its source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<i64>,
    /// The combined score, 0..1, after ranking.
    pub score: f64,
    /// The lines of the parts from which it was merged; empty if it was not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub merged_from: Vec<LineRange>,
    /// Other sources that offered the same text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also_from: Vec<SourceType>,
}

impl ContextChunk {
    /// Its lines.
    pub fn lines(&self) -> Lines {
        Lines { start: self.start_line, end: self.end_line }
    }
}

/// A chunk that was left out, with the reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Excluded {
    /// The chunk.
    pub chunk: ContextChunk,
    /// `budget`, `too-large`, `category`, `duplicate` or `overlap`.
    pub reason: &'static str,
}

/// The result of packing.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PackedContext {
    /// The formatted text.
    pub content: String,
    /// Its tokens, counted as a whole.
    pub token_count: u64,
    /// Included chunks, best first.
    pub chunks: Vec<ContextChunk>,
    /// Excluded chunks.
    pub excluded: Vec<Excluded>,
    /// True if a source failed, so that content may be missing.
    pub partial: bool,
    /// Messages for the caller.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Figures of a packing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PackingStats {
    /// Available tokens.
    pub available: u64,
    /// Used tokens.
    pub used: u64,
    /// Number of chunks.
    pub found: usize,
    /// Number of included chunks.
    pub included: usize,
    /// Number of excluded chunks, by reason.
    pub excluded: BTreeMap<&'static str, usize>,
    /// Tokens of included chunks, by kind of source.
    pub tokens_by_source: BTreeMap<&'static str, u64>,
    /// Number of included chunks, by kind of source.
    pub chunks_by_source: BTreeMap<&'static str, usize>,
}

/// A future answer.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, PackError>> + Send + 'a>>;

/// Cuts text into chunks.
pub trait Chunker {
    /// Returns ranges of 1-based lines that cover `content` in order and without gaps; empty for an empty
    /// text.
    fn chunk(&self, content: &str, path: Option<&str>, counter: &dyn TokenCounter) -> Vec<LineRange>;
}

/// Scores and orders chunks.
pub trait Ranker {
    /// Scores each chunk and sorts them, best first. Equal scores have a fixed order.
    fn rank(&self, chunks: Vec<ContextChunk>) -> Vec<ContextChunk>;
}

/// Removes duplicates.
pub trait Deduplicator {
    /// Returns the remaining chunks in their order, and the removed ones with reasons.
    fn deduplicate(
        &self,
        chunks: Vec<ContextChunk>,
        counter: &dyn TokenCounter,
    ) -> (Vec<ContextChunk>, Vec<Excluded>);
}

/// Allocated tokens, which can be returned.
#[derive(Debug, PartialEq, Eq)]
pub struct Allocation {
    category: SourceType,
    tokens: u64,
}

/// Keeps account of a budget.
pub trait BudgetManager {
    /// Free tokens of the whole budget.
    fn remaining(&self) -> u64;

    /// Allocated tokens.
    fn allocated(&self) -> u64;

    /// Allocates tokens.
    ///
    /// # Errors
    /// [`budget::Full`] if the budget or the category has fewer free tokens.
    fn allocate(&mut self, category: SourceType, tokens: u64) -> Result<Allocation, budget::Full>;

    /// Returns allocated tokens.
    fn roll_back(&mut self, allocation: Allocation);
}

/// Chooses what fits.
pub trait Selector {
    /// Takes chunks in rank order while they fit, `cost` tokens each.
    fn select(
        &self,
        chunks: Vec<ContextChunk>,
        budget: &mut dyn BudgetManager,
        cost: &dyn Fn(&ContextChunk) -> u64,
    ) -> selection::Selection;
}

/// Writes chunks as one text.
pub trait Formatter {
    /// Formats chunks, which come best first. Returns an empty text for no chunks.
    fn format(&self, chunks: &[ContextChunk]) -> String;
}

/// The source-driven packer.
pub trait ContextPacker {
    /// Packs sources into the budget. `cancel` is called between sources, chunks and renderings.
    fn pack<'a>(
        &'a self,
        sources: &'a [ContextSource],
        budget: &'a ContextBudget,
        cancel: &'a (dyn Fn() -> bool + Sync),
    ) -> Answer<'a, PackedContext>;

    /// Returns the chunks that would be included, without running the formatter.
    fn preview<'a>(
        &'a self,
        sources: &'a [ContextSource],
        budget: &'a ContextBudget,
        cancel: &'a (dyn Fn() -> bool + Sync),
    ) -> Answer<'a, PackedContext>;

    /// Returns the figures of a packing.
    fn stats<'a>(
        &'a self,
        sources: &'a [ContextSource],
        budget: &'a ContextBudget,
        cancel: &'a (dyn Fn() -> bool + Sync),
    ) -> Answer<'a, PackingStats>;
}
