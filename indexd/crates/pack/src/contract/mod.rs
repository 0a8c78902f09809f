//! The contract of the source-driven packer: sources in, one budgeted text out.
//!
//! Where the engine finds code by itself ([`crate::build`](fn@crate::build)), this packer takes what a
//! caller offers: search results, open files, tool output, references. Each stage is a trait with one
//! method, so that any of them can be swapped; [`packer::Packer`] ties the default ones together:
//! sources, chunking, ranking, deduplication, budgeting, selection, formatting. Everything is a pure
//! function of its arguments: no clock, no IO, no state between calls.

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
    /// Where offered content comes from, the weightiest kind first.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "camelCase")]
    pub enum SourceType {
        /// Output of a tool.
        ToolResult = "toolResult",
        /// A file as the editor has it, saved or not.
        OpenFile = "openFile",
        /// A hit of a search.
        SearchResult = "searchResult",
        /// A definition or document that something refers to.
        Reference = "reference",
    }

    /// The name on the wire, also the name of its category in a budget.
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
    /// Relative path, where it is a part of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
    /// The 1-based lines that the text has in its file; from 1 where none are given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_range: Option<LineRange>,
    /// How well it fits the task, 0 to 1; what lies outside is clamped.
    #[serde(default)]
    pub relevance_score: f64,
    /// When it was made, in any unit that grows with time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<i64>,
    /// Why there is no content: the source failed or took too long. Costs this source alone.
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
    /// A gross budget in tokens, fixed before packing starts.
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
    /// What content may take: the whole less both reserves. A negative reserve counts as 0 and cannot
    /// enlarge it.
    pub fn available(&self) -> u64 {
        let reserved = self.response_reserve.max(0).saturating_add(self.system_reserve.max(0));
        self.total_tokens.saturating_sub(reserved).max(0) as u64
    }
}

settings! {
    /// How the packer is set.
    Settings {
        /// Weight of relevance.
        relevance_weight: f64 = 0.5,
        /// Weight of recency.
        recency_weight: f64 = 0.3,
        /// Weight of the kind of source.
        source_weight: f64 = 0.2,
        /// What each kind counts; a larger number matters more.
        priorities: BTreeMap<SourceType, u32> = BTreeMap::from([
            (SourceType::ToolResult, 100),
            (SourceType::OpenFile, 80),
            (SourceType::SearchResult, 60),
            (SourceType::Reference, 40),
        ]),
        /// Tokens of a chunk at most.
        max_chunk_tokens: u32 = 2_000,
        /// Tokens of a chunk at least, where more text is at hand.
        min_chunk_tokens: u32 = 100,
        /// Whether chunks end where definitions and sections end.
        prefer_structural: bool = true,
        /// Chunks that are given whenever there is content and a budget.
        min_chunks: u32 = 1,
        /// Percent of the budget that one kind of source may take before the others had their turn; 100
        /// leaves it to rank alone.
        balance_percent: u32 = 100,
        /// Tokens that each kind may take at most; absent kinds have no limit of their own.
        category_tokens: BTreeMap<SourceType, u64> = BTreeMap::new(),
    }
}

/// A piece of a source.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextChunk {
    /// The text, whole lines.
    pub content: String,
    /// Relative path, where it is a part of a file.
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
    /// Its position among the sources, from 0.
    pub source: usize,
    /// Relevance, 0 to 1.
    pub relevance: f64,
    /// When its source was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<i64>,
    /// The combined score, 0 to 1, once ranked.
    pub score: f64,
    /// The lines of the parts it was merged from; empty when it was not.
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

/// A chunk that is not in the result, and why.
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
    /// What is in it, best first.
    pub chunks: Vec<ContextChunk>,
    /// What is not.
    pub excluded: Vec<Excluded>,
    /// Whether a source failed, so that something may be missing.
    pub partial: bool,
    /// What the caller should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// What packing came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PackingStats {
    /// Tokens that were available.
    pub available: u64,
    /// Tokens in use.
    pub used: u64,
    /// Chunks found.
    pub found: usize,
    /// Chunks included.
    pub included: usize,
    /// Chunks left out, by reason.
    pub excluded: BTreeMap<&'static str, usize>,
    /// Tokens included, by kind of source.
    pub tokens_by_source: BTreeMap<&'static str, u64>,
    /// Chunks included, by kind of source.
    pub chunks_by_source: BTreeMap<&'static str, usize>,
}

/// An answer that may have to be waited for.
pub type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, PackError>> + Send + 'a>>;

/// Cuts text into chunks.
pub trait Chunker {
    /// Pieces of whole lines that cover `content` in order, without gaps: ranges of 1-based lines.
    /// Nothing for an empty text.
    fn chunk(&self, content: &str, path: Option<&str>, counter: &dyn TokenCounter) -> Vec<LineRange>;
}

/// Scores and orders chunks.
pub trait Ranker {
    /// Gives each chunk its score and puts the best first; equal ones in an order of their own.
    fn rank(&self, chunks: Vec<ContextChunk>) -> Vec<ContextChunk>;
}

/// Takes away what is there twice.
pub trait Deduplicator {
    /// Keeps the order of what stays; says what went and why.
    fn deduplicate(
        &self,
        chunks: Vec<ContextChunk>,
        counter: &dyn TokenCounter,
    ) -> (Vec<ContextChunk>, Vec<Excluded>);
}

/// Room that was given; it can be taken back.
#[derive(Debug, PartialEq, Eq)]
pub struct Allocation {
    category: SourceType,
    tokens: u64,
}

/// Keeps account of a budget.
pub trait BudgetManager {
    /// Tokens still free, over all categories.
    fn remaining(&self) -> u64;

    /// Tokens in use.
    fn allocated(&self) -> u64;

    /// Takes room.
    ///
    /// # Errors
    /// [`budget::Full`] when the rest of the budget, or of the category, is smaller.
    fn allocate(&mut self, category: SourceType, tokens: u64) -> Result<Allocation, budget::Full>;

    /// Gives room back.
    fn roll_back(&mut self, allocation: Allocation);
}

/// Chooses what fits.
pub trait Selector {
    /// Takes ranked chunks while there is room for them, `cost` tokens each.
    fn select(
        &self,
        chunks: Vec<ContextChunk>,
        budget: &mut dyn BudgetManager,
        cost: &dyn Fn(&ContextChunk) -> u64,
    ) -> selection::Selection;
}

/// Writes chunks as one text.
pub trait Formatter {
    /// The text of these chunks, best first. Nothing for none.
    fn format(&self, chunks: &[ContextChunk]) -> String;
}

/// The source-driven packer.
pub trait ContextPacker {
    /// Packs what is offered into the budget. `cancel` is asked between sources, chunks and renderings.
    fn pack<'a>(
        &'a self,
        sources: &'a [ContextSource],
        budget: &'a ContextBudget,
        cancel: &'a (dyn Fn() -> bool + Sync),
    ) -> Answer<'a, PackedContext>;

    /// What would be included, without a text: the formatter does not run.
    fn preview<'a>(
        &'a self,
        sources: &'a [ContextSource],
        budget: &'a ContextBudget,
        cancel: &'a (dyn Fn() -> bool + Sync),
    ) -> Answer<'a, PackedContext>;

    /// What packing would come to.
    fn stats<'a>(
        &'a self,
        sources: &'a [ContextSource],
        budget: &'a ContextBudget,
        cancel: &'a (dyn Fn() -> bool + Sync),
    ) -> Answer<'a, PackingStats>;
}
