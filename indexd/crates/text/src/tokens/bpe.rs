//! Exact counts by byte pair encoding, through tiktoken-rs.
//!
//! The library splits a text with a backtracking regular expression that gives up (by a panic) on
//! very long runs without a break. Such runs are cut first: counts of ordinary text are
//! exact, those of a run beyond [`RUN_BYTES_MAX`] bytes an upper bound that is off by a token or
//! two for each cut.

use tiktoken_rs::{CoreBPE, cl100k_base_singleton, o200k_base_singleton};

/// Bytes without a change between blank and not blank that the library is trusted with.
const RUN_BYTES_MAX: usize = 64 << 10;

/// A published vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// GPT-4o and later.
    O200k,
    /// GPT-4 and GPT-3.5.
    Cl100k,
}

fn table(encoding: Encoding) -> &'static CoreBPE {
    match encoding {
        Encoding::O200k => o200k_base_singleton(),
        Encoding::Cl100k => cl100k_base_singleton(),
    }
}

/// The number of tokens of `text`, saturating; special tokens are ordinary text.
pub fn count(encoding: Encoding, text: &str) -> u32 {
    let mut total = 0u32;
    if text.is_empty() {
        return total;
    }
    let table = table(encoding);
    for part in parts(text) {
        total = total.saturating_add(u32::try_from(table.count_ordinary(part)).unwrap_or(u32::MAX));
    }
    total
}

/// Cuts `text` inside overlong runs; nearly always the whole text in one part.
fn parts(text: &str) -> Vec<&str> {
    if text.len() <= RUN_BYTES_MAX {
        return vec![text];
    }
    let mut parts = Vec::new();
    let (mut start, mut run_start, mut was_blank) = (0, 0, false);
    for (i, c) in text.char_indices() {
        let is_blank = c.is_whitespace();
        if is_blank != was_blank {
            (run_start, was_blank) = (i, is_blank);
        } else if i - run_start >= RUN_BYTES_MAX {
            parts.push(&text[start..i]);
            (start, run_start) = (i, i);
        }
    }
    parts.push(&text[start..]);
    parts
}
