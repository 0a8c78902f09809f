//! The cost of a text in tokens. One trait, several named counters, one name per request.
//!
//! `o200k_base` and `cl100k_base` are exact. `generic` and `claude` approximate tokenizers that are unknown
//! or unpublished: an exact count plus a declared headroom, marked as inexact. Text that looks like a
//! special token (`<|endoftext|>`) is ordinary text here: it comes from files.

mod bpe;
mod layout;
mod split;

use bpe::Encoding;
use indexd_model::ContentHash;
use lru::LruCache;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Percent added to `o200k_base` by `generic`: the tokenizers of different models differ by a few percent.
pub const GENERIC_HEADROOM_PERCENT: u32 = 10;
/// Percent added to `o200k_base` by `claude`. No tokenizer of current Claude models is published;
/// the one for models before Claude 3 (npm `@anthropic-ai/tokenizer` 0.0.4) counted 12% more than
/// `o200k_base` on 539 pieces of 40 lines of Django, sympy, Scrapy and Go's standard library, and
/// never more than 44% on one of them.
pub const CLAUDE_HEADROOM_PERCENT: u32 = 45;
/// Percent of a token that `claude` adds for each character outside ASCII, since that tokenizer encodes
/// other scripts less compactly than `o200k_base`.
const CLAUDE_OTHER_SCRIPTS_PERCENT: u32 = 50;
/// The largest error of `claude` below the counts recorded of that tokenizer, in tokens. It occurs on short
/// texts of rare signs such as paths and runs of line ends.
pub const CLAUDE_TOKENS_BELOW: u32 = 2;
/// The largest error above, in percent of the recorded count and in additional tokens: the headroom, and
/// texts on which that tokenizer counts less than `o200k_base`.
pub const CLAUDE_ABOVE: (u32, u32) = (75, 4);
/// Default number of texts whose counts are cached; an entry takes about 100 bytes.
pub const CACHE_TEXTS: usize = 100_000;

/// Counts the tokens of texts.
pub trait TokenCounter: Send + Sync {
    /// The name that selects the counter, echoed in packs as `tokenizer`.
    fn name(&self) -> &str;

    /// Returns true if counts equal those of the tokenizer named `name`. Inexact counters never count less
    /// than the encoding they are built on.
    fn is_exact(&self) -> bool;

    /// The tokens of `text` as a whole. An empty text has none. Counts of parts cut at line ends
    /// add up to at least the count of the whole.
    fn count_tokens(&self, text: &str) -> u32;

    /// Returns true if the counts of `text` before and after the byte `at` are known to add up to that of
    /// the whole. Never true for counters that round.
    fn adds_up_at(&self, text: &str, at: usize) -> bool {
        let _ = (text, at);
        false
    }
}

/// Settings of the counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterOptions {
    /// Percent added by `generic`.
    pub generic_headroom_percent: u32,
    /// Percent added by `claude`.
    pub claude_headroom_percent: u32,
    /// Number of texts whose counts are cached; 0 disables the cache.
    pub cache_texts: usize,
}

impl Default for CounterOptions {
    fn default() -> Self {
        Self {
            generic_headroom_percent: GENERIC_HEADROOM_PERCENT,
            claude_headroom_percent: CLAUDE_HEADROOM_PERCENT,
            cache_texts: CACHE_TEXTS,
        }
    }
}

/// The error for an unknown counter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown tokenizer {name:?}; known are {}", NAMES.join(", "))]
pub struct UnknownTokenizer {
    /// The name asked for.
    pub name: String,
}

/// The names [`counter`] knows, in the order in which they are listed to users.
pub const NAMES: [&str; 4] = ["o200k_base", "cl100k_base", "generic", "claude"];

/// The counter called `name`, with its cache. Cheap: the tables are part of the program's file.
///
/// # Errors
/// [`UnknownTokenizer`] for any other name than [`NAMES`].
pub fn counter(name: &str, options: &CounterOptions) -> Result<Arc<CachedCounter>, UnknownTokenizer> {
    let (encoding, headroom) = match name {
        "o200k_base" => (Encoding::O200k, None),
        "cl100k_base" => (Encoding::Cl100k, None),
        "generic" => (Encoding::O200k, Some((options.generic_headroom_percent, 0))),
        "claude" => (Encoding::O200k, Some((options.claude_headroom_percent, CLAUDE_OTHER_SCRIPTS_PERCENT))),
        _ => return Err(UnknownTokenizer { name: name.to_owned() }),
    };
    let plain = Plain { name: name.to_owned(), encoding, headroom };
    Ok(Arc::new(CachedCounter::new(Box::new(plain), options.cache_texts)))
}

/// A counter by a published vocabulary.
struct Plain {
    name: String,
    encoding: Encoding,
    /// Percent added to the count, and percent of a token added for each character outside ASCII; `None` for exact
    /// counts.
    headroom: Option<(u32, u32)>,
}

impl TokenCounter for Plain {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_exact(&self) -> bool {
        self.headroom.is_none()
    }

    fn count_tokens(&self, text: &str) -> u32 {
        let count = bpe::count(self.encoding, text);
        let Some((percent, other_scripts_percent)) = self.headroom else { return count };
        let others = if text.is_ascii() { 0 } else { text.chars().filter(|c| !c.is_ascii()).count() as u64 };
        let hundredths =
            u64::from(count) * (100 + u64::from(percent)) + others * u64::from(other_scripts_percent);
        u32::try_from(hundredths.div_ceil(100)).unwrap_or(u32::MAX)
    }

    fn adds_up_at(&self, text: &str, at: usize) -> bool {
        self.is_exact() && split::is_boundary(text, at)
    }
}

/// A counter that caches the counts of the texts seen last, by content hash.
pub struct CachedCounter {
    plain: Box<dyn TokenCounter>,
    known: Option<Mutex<LruCache<[u8; 16], u32>>>,
    hits: AtomicU64,
    misses: AtomicU64,
}

impl CachedCounter {
    /// Wraps `plain`; a cache of 0 texts is disabled.
    pub fn new(plain: Box<dyn TokenCounter>, cache_texts: usize) -> Self {
        let known = NonZeroUsize::new(cache_texts).map(|n| Mutex::new(LruCache::sparse(n)));
        Self { plain, known, hits: AtomicU64::new(0), misses: AtomicU64::new(0) }
    }

    /// The key of a text in this cache and in stored counts: the first half of its BLAKE3 hash.
    pub fn key(text: &str) -> [u8; 16] {
        let mut key = [0; 16];
        key.copy_from_slice(&ContentHash::of(text.as_bytes()).0[..16]);
        key
    }

    /// The cached count of the text with this [`CachedCounter::key`], if any.
    pub fn known(&self, key: [u8; 16]) -> Option<u32> {
        let found = self.lock()?.get(&key).copied();
        if found.is_some() { &self.hits } else { &self.misses }.fetch_add(1, Ordering::Relaxed);
        found
    }

    /// Number of lookups of a count that were answered from the cache, and of those that were not.
    pub fn lookups(&self) -> (u64, u64) {
        (self.hits.load(Ordering::Relaxed), self.misses.load(Ordering::Relaxed))
    }

    /// Caches a count that was stored elsewhere.
    pub fn remember(&self, key: [u8; 16], count: u32) {
        if let Some(mut known) = self.lock() {
            known.put(key, count);
        }
    }

    /// Counts a text whose key is known; see [`TokenCounter::count_tokens`].
    pub fn count_keyed(&self, key: [u8; 16], text: &str) -> u32 {
        if let Some(count) = self.known(key) {
            return count;
        }
        // Counted outside the lock: two threads may count one text, and neither waits for the other.
        let count = self.plain.count_tokens(text);
        self.remember(key, count);
        count
    }

    fn lock(&self) -> Option<std::sync::MutexGuard<'_, LruCache<[u8; 16], u32>>> {
        // A panic while the lock was held leaves at worst a missing entry.
        self.known.as_ref().map(|m| m.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl TokenCounter for CachedCounter {
    fn name(&self) -> &str {
        self.plain.name()
    }

    fn is_exact(&self) -> bool {
        self.plain.is_exact()
    }

    fn count_tokens(&self, text: &str) -> u32 {
        if self.known.is_none() {
            self.plain.count_tokens(text)
        } else {
            self.count_keyed(Self::key(text), text)
        }
    }

    fn adds_up_at(&self, text: &str, at: usize) -> bool {
        self.plain.adds_up_at(text, at)
    }
}

#[cfg(test)]
mod tests;
