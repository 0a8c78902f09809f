//! The packer of offered sources: sources in, one budgeted text out.
//!
//! The engine finds code by itself. This packer takes content that a caller offers: search results, open
//! files, tool output, references. Its stages are functions over plain records, in this order: [`chunk`],
//! [`relate`] if there is a task, [`rank`], [`deduplicate`], [`select`], [`format`](text::format). [`pack`]
//! runs them.

pub mod budget;
pub mod chunking;
pub mod dedup;
pub mod ranking;
pub mod relevance;
pub mod selection;
pub mod text;

pub use budget::Ledger;
pub use chunking::chunk;
pub use dedup::deduplicate;
pub use ranking::rank;
pub use relevance::relate;
pub use selection::{Costs, select};

use indexd_api::pack::LineRange;
use indexd_api::sources::{ContextBudget, OfferedSource, SourceType};
use indexd_api::{ErrorCode, PackError};
use indexd_pack::settings;
use indexd_pack::template::Template;
use indexd_text::TokenCounter;
use serde::Serialize;
use std::collections::BTreeMap;

settings! {
    /// Settings of the packer.
    Settings {
        /// Weight of relevance; the share of each weight in the sum of the three counts.
        relevance_weight: f64 = 0.5,
        /// Weight of recency.
        recency_weight: f64 = 0.3,
        /// Weight of the kind of source.
        source_weight: f64 = 0.2,
        /// Priority of each kind of source.
        priorities: Priorities = Priorities::default(),
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

    /// Priority of each kind of source; only the ratio to the highest of the four matters.
    #[derive(Copy, Eq)]
    Priorities {
        /// Output of a tool.
        tool_result: u32 = 100,
        /// An open file.
        open_file: u32 = 80,
        /// A hit of a search.
        search_result: u32 = 60,
        /// A reference.
        reference: u32 = 40,
    }
}

/// A piece of a source.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextChunk {
    /// The text, in whole lines; empty for an excluded chunk.
    #[serde(skip_serializing_if = "String::is_empty")]
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
    /// The formatted text; empty in a preview.
    pub content: String,
    /// Its tokens, counted as a whole; in a preview a bound of them.
    pub token_count: u64,
    /// Included chunks, best first.
    pub chunks: Vec<ContextChunk>,
    /// Excluded chunks, without their texts.
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

/// How a packing runs.
pub struct Packer<'a> {
    /// The task in words; it ranks the chunks. Empty if it is not known.
    pub task: &'a str,
    /// Limits and weights.
    pub settings: &'a Settings,
    /// Counts tokens.
    pub counter: &'a dyn TokenCounter,
    /// Writes the text instead of the default format.
    pub template: Option<&'a Template>,
    /// True once nobody wants the result; called between sources, chunks and renderings.
    pub cancel: &'a dyn Fn() -> bool,
}

/// Packs sources into the budget.
///
/// # Errors
/// [`PackError::Cancelled`]; those of the template; [`PackError::ContextOverflow`] if the text exceeds the
/// budget, which would be a bug.
pub fn pack(
    sources: &[OfferedSource],
    budget: ContextBudget,
    packer: &Packer,
) -> Result<PackedContext, PackError> {
    let available = budget.available();
    let mut packed = selected(sources, budget, packer)?;
    packed.write(packer)?;
    // The costs of the parts are upper bounds. If the whole text still exceeds the budget, the last chunk is
    // removed.
    while packed.token_count > available
        && let Some(chunk) = packed.chunks.pop()
    {
        packed.excluded.push(Excluded { chunk, reason: "budget" });
        packed.write(packer)?;
    }
    shorten(&mut packed, available, packer)?;
    packed.excluded.iter_mut().for_each(|e| e.chunk.content.clear());
    if packed.token_count > available {
        return Err(PackError::ContextOverflow { tokens: packed.token_count, budget: available });
    }
    packed.warnings = warnings(sources, budget, packed.chunks.is_empty());
    Ok(packed)
}

/// Returns the chunks that would be included, without a text.
///
/// # Errors
/// [`PackError::Cancelled`]; those of the template.
pub fn preview(
    sources: &[OfferedSource],
    budget: ContextBudget,
    packer: &Packer,
) -> Result<PackedContext, PackError> {
    let mut packed = selected(sources, budget, packer)?;
    packed.excluded.iter_mut().for_each(|e| e.chunk.content.clear());
    Ok(packed)
}

/// Runs the stages before the text.
fn selected(
    sources: &[OfferedSource],
    budget: ContextBudget,
    packer: &Packer,
) -> Result<PackedContext, PackError> {
    let mut chunks = chunks_of(sources, packer)?;
    relate(&mut chunks, packer.task, &|c| sources[c.source].relevance(), packer.cancel)?;
    let ranked = rank(chunks, packer.settings);
    packer.check()?;
    let (unique, mut excluded) = deduplicate(ranked, packer.counter);
    packer.check()?;
    let mut ledger = Ledger::new(budget.available(), packer.settings.category_tokens.clone());
    let costs = Costs {
        bound: &|c| u64::from(c.token_count) + text::frame_tokens(c, packer.counter),
        exact: &|chunks| {
            packer.check()?;
            text::tokens(chunks, packer.template, packer.counter)
        },
    };
    let (chunks, left) = select(unique, packer.settings, &mut ledger, &costs)?;
    excluded.extend(left);
    Ok(PackedContext {
        content: String::new(),
        token_count: ledger.allocated(),
        partial: sources.iter().any(|s| s.failure.is_some()),
        warnings: warnings(sources, budget, chunks.is_empty()),
        chunks,
        excluded,
    })
}

/// Returns the figures of a packing with this budget.
pub fn stats(packed: &PackedContext, budget: ContextBudget) -> PackingStats {
    let mut out = PackingStats {
        available: budget.available(),
        used: packed.token_count,
        found: packed.chunks.len() + packed.excluded.len(),
        included: packed.chunks.len(),
        ..PackingStats::default()
    };
    for e in &packed.excluded {
        *out.excluded.entry(e.reason).or_default() += 1;
    }
    for c in &packed.chunks {
        *out.tokens_by_source.entry(c.source_type.name()).or_default() += u64::from(c.token_count);
        *out.chunks_by_source.entry(c.source_type.name()).or_default() += 1;
    }
    out
}

impl Packer<'_> {
    fn check(&self) -> Result<(), PackError> {
        if (self.cancel)() { Err(PackError::Cancelled) } else { Ok(()) }
    }
}

impl PackedContext {
    /// Writes the text of the chunks and counts it.
    fn write(&mut self, packer: &Packer) -> Result<(), PackError> {
        packer.check()?;
        self.content = text::format(&self.chunks.iter().collect::<Vec<_>>(), packer.template)?;
        self.token_count = u64::from(packer.counter.count_tokens(&self.content));
        Ok(())
    }
}

/// Returns the chunks of all sources. Empty and failed sources and sources without text give none.
fn chunks_of(sources: &[OfferedSource], packer: &Packer) -> Result<Vec<ContextChunk>, PackError> {
    let mut out = Vec::new();
    for (i, source) in sources.iter().enumerate() {
        packer.check()?;
        let content = source.content.as_deref().unwrap_or_default();
        if source.failure.is_some() || content.contains('\0') {
            continue;
        }
        let path = source.file_path.as_deref();
        let lines: Vec<&str> = content.lines().collect();
        let first = source.line_range.map_or(1, |r| r.start.max(1));
        let relevance = source.relevance().unwrap_or(0.0);
        for range in chunk(content, path, packer.settings, packer.counter, packer.cancel) {
            let content: String = whole_lines(&lines[range.start as usize - 1..range.end as usize]);
            if content.trim().is_empty() {
                continue;
            }
            packer.check()?;
            out.push(ContextChunk {
                token_count: packer.counter.count_tokens(&content),
                content,
                file_path: source.file_path.clone(),
                start_line: first + range.start - 1,
                end_line: first + range.end - 1,
                source_type: source.source_type,
                source: i,
                relevance,
                timestamp: source.timestamp,
                score: 0.0,
                merged_from: Vec::new(),
                also_from: Vec::new(),
            });
        }
    }
    packer.check()?;
    Ok(out)
}

/// Joins lines, each with its end.
fn whole_lines(lines: &[&str]) -> String {
    lines.iter().flat_map(|line| [line, "\n"]).collect()
}

/// If too few chunks fit, cuts the best of the others to the whole lines that fit.
fn shorten(packed: &mut PackedContext, available: u64, packer: &Packer) -> Result<(), PackError> {
    let mut at = 0;
    while packed.chunks.len() < packer.settings.min_chunks as usize && at < packed.excluded.len() {
        let left = &packed.excluded[at];
        let is_large = matches!(left.reason, "too-large" | "budget");
        match if is_large { largest(packed, &left.chunk, available, packer)? } else { None } {
            Some(part) => {
                packed.chunks.push(part);
                packed.excluded.remove(at);
                packed.write(packer)?;
            }
            None => at += 1,
        }
    }
    Ok(())
}

/// Returns the largest number of first lines of a chunk that fit beside those of a packing.
fn largest(
    beside: &PackedContext,
    chunk: &ContextChunk,
    available: u64,
    packer: &Packer,
) -> Result<Option<ContextChunk>, PackError> {
    let lines: Vec<&str> = chunk.content.lines().collect();
    let part = |n: usize| {
        let content = whole_lines(&lines[..n]);
        let token_count = packer.counter.count_tokens(&content);
        ContextChunk { content, end_line: chunk.start_line + n as u32 - 1, token_count, ..chunk.clone() }
    };
    let (mut low, mut high) = (0, lines.len());
    while low < high {
        let middle = (low + high).div_ceil(2);
        let chunks = beside.chunks.iter().cloned().chain([part(middle)]).collect();
        let mut with = PackedContext { chunks, ..PackedContext::default() };
        with.write(packer)?;
        if with.token_count <= available { low = middle } else { high = middle - 1 }
    }
    Ok((low > 0).then(|| part(low)))
}

fn warnings(sources: &[OfferedSource], budget: ContextBudget, is_empty: bool) -> Vec<String> {
    let of = |what: fn(&OfferedSource) -> Option<String>| {
        let named = sources.iter().enumerate().filter_map(move |(i, s)| Some((i, s, what(s)?)));
        named.map(|(i, s, what)| format!("source {} ({}) {what}", i + 1, s.source_type.name()))
    };
    let binary = of(|s| s.content.as_ref().filter(|c| c.contains('\0')).map(|_| "is not text".to_owned()));
    let failed = of(|s| s.failure.as_ref().map(|why| format!("gave nothing: {why}")));
    let is_used_up = budget.total_tokens > 0 && budget.available() == 0;
    let used_up = is_used_up.then(|| {
        format!(
            "responseReserve {} and systemReserve {} leave no tokens of the window of {}: lower them or raise \
             totalTokens (settings context.budget)",
            budget.response_reserve, budget.system_reserve, budget.total_tokens
        )
    });
    failed
        .chain(binary)
        .chain(used_up)
        .chain(is_empty.then(|| ErrorCode::NoContent.name().to_owned()))
        .collect()
}

#[cfg(test)]
mod tests;
