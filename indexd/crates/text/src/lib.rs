//! Words, scores and token counts: all arithmetic on text that needs no index.
//!
//! Start with [`terms()`] (splitting text into searchable terms, identically for index and query), then
//! `fields` (the terms of a file's chunks, by field), [`bm25`] (their scores) and [`tokens`] (the cost of
//! a text in a model's tokens). No IO, no clock, no randomness.

pub mod bm25;
pub mod edits;
mod fields;
mod line_terms;
pub mod one_line;
mod stem;
pub mod terms;
pub mod tokens;

pub use bm25::Bm25;
pub use edits::edits;
pub use fields::{file_terms, path_terms};
pub use line_terms::LineMatcher;
pub use one_line::one_line;
pub use stem::stem;
pub use terms::{terms, word_terms, words};
pub use tokens::{
    CACHE_TEXTS, CLAUDE_HEADROOM_PERCENT, CachedCounter, CounterOptions, GENERIC_HEADROOM_PERCENT,
    TokenCounter, UnknownTokenizer, counter,
};

/// Version of the terms: changes when a text gets other terms or another token count. Part of the recipe of
/// an index.
pub const TERMS_VERSION: u32 = 1;
