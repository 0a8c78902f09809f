//! Exact counts by byte pair encoding: a text is split into pieces ([`super::split`]), and the bytes of a
//! piece are merged pair by pair, in the order of the ranks of their tokens.
//!
//! The vocabularies come from tiktoken-rs when the program is built, and the tests compare with it. It
//! splits with a backtracking regular expression, allocates each pair it looks up in a table of vectors, and
//! keeps 128 copies of the expression: counting here takes a fifth of the time, and no memory but that of
//! the program's file.

use super::layout::{NONE, SHORT_MAX, hash_long, hash_short, pack};
use super::split::{self, Pieces};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Bytes without a change between blank and not blank that are counted as one run. Longer runs are cut,
/// which bounds the work on a piece: counts of ordinary text are exact, those of such a run an upper bound
/// that is off by a token or two for each cut.
const RUN_BYTES_MAX: usize = 64 << 10;

/// A published vocabulary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// GPT-4o and later.
    O200k,
    /// GPT-4 and GPT-3.5.
    Cl100k,
}

/// The number of tokens of `text`, saturating; special tokens are ordinary text.
pub fn count(encoding: Encoding, text: &str) -> u32 {
    if text.is_empty() {
        return 0;
    }
    let vocabulary = vocabulary(encoding);
    let pieces: Pieces = match encoding {
        Encoding::O200k => split::o200k,
        Encoding::Cl100k => split::cl100k,
    };
    let mut merge = Merge::default();
    let mut total = 0u32;
    for part in parts(text) {
        pieces(part, &mut |piece| {
            let n = if vocabulary.rank(piece).is_some() { 1 } else { merge.count(vocabulary, piece) };
            total = total.saturating_add(n);
        });
    }
    total
}

fn vocabulary(encoding: Encoding) -> &'static Vocabulary {
    static O200K: Vocabulary = Vocabulary::over(include_bytes!(concat!(env!("OUT_DIR"), "/o200k_base")));
    static CL100K: Vocabulary = Vocabulary::over(include_bytes!(concat!(env!("OUT_DIR"), "/cl100k_base")));
    match encoding {
        Encoding::O200k => &O200K,
        Encoding::Cl100k => &CL100K,
    }
}

/// Cuts `text` inside overlong runs; nearly always returns the whole text in one part.
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

/// Tokens by their bytes, in a table written and described by `build.rs`. The pair with the lowest rank is
/// merged first.
struct Vocabulary {
    /// Tokens of two bytes, with which every merge begins.
    pairs: &'static [[u8; 4]],
    /// The start and end of each bucket of `short`.
    short_starts: &'static [[u8; 4]],
    /// Tokens of up to [`SHORT_MAX`] bytes, packed with their length: two in three.
    short: &'static [[u8; 12]],
    /// The start and end of each bucket of `long`.
    long_starts: &'static [[u8; 4]],
    /// Rank, length and bytes of each longer token.
    long: &'static [u8],
}

impl Vocabulary {
    const fn over(table: &'static [u8]) -> Self {
        let (lengths, table) = table.split_at(12);
        let (lengths, _) = lengths.as_chunks();
        let n_short = u32::from_le_bytes(lengths[0]) as usize;
        let n_short_buckets = u32::from_le_bytes(lengths[1]) as usize;
        let n_long_buckets = u32::from_le_bytes(lengths[2]) as usize;
        let (pairs, table) = table.split_at(4 << 16);
        let (short_starts, table) = table.split_at(4 * (n_short_buckets + 1));
        let (short, table) = table.split_at(12 * n_short);
        let (long_starts, long) = table.split_at(4 * (n_long_buckets + 1));
        Self {
            pairs: pairs.as_chunks().0,
            short_starts: short_starts.as_chunks().0,
            short: short.as_chunks().0,
            long_starts: long_starts.as_chunks().0,
            long,
        }
    }

    fn rank(&self, bytes: &[u8]) -> Option<u32> {
        match *bytes {
            [a, b] => Some(self.pair(a, b)).filter(|r| *r != NONE),
            _ if bytes.len() <= SHORT_MAX => self.short(pack(bytes)),
            _ => self.long(bytes),
        }
    }

    fn pair(&self, a: u8, b: u8) -> u32 {
        u32::from_le_bytes(self.pairs[usize::from(a) << 8 | usize::from(b)])
    }

    fn short(&self, key: u64) -> Option<u32> {
        let bucket = hash_short(key, self.short_starts.len() - 1);
        let keys = &self.short[between(self.short_starts, bucket)];
        let found = keys.iter().find(|k| k.first_chunk() == Some(&key.to_le_bytes()))?;
        found.last_chunk().map(|rank| u32::from_le_bytes(*rank))
    }

    fn long(&self, bytes: &[u8]) -> Option<u32> {
        let bucket = hash_long(bytes, self.long_starts.len() - 1);
        let mut rest = &self.long[between(self.long_starts, bucket)];
        while let Some((rank, behind)) = rest.split_first_chunk()
            && let Some((len, behind)) = behind.split_first()
            && let Some((token, behind)) = behind.split_at_checked(usize::from(*len))
        {
            if token == bytes {
                return Some(u32::from_le_bytes(*rank));
            }
            rest = behind;
        }
        None
    }
}

fn between(starts: &[[u8; 4]], bucket: usize) -> std::ops::Range<usize> {
    let at = |i: usize| u32::from_le_bytes(starts[i]) as usize;
    at(bucket)..at(bucket + 1)
}

/// Buffers of merging, kept from piece to piece.
#[derive(Default)]
struct Merge {
    /// Start of each part and the rank of its pair with the part after it.
    parts: Vec<(u32, u32)>,
    /// For long pieces: the start of the part before, and the end of this one.
    links: Vec<(u32, u32)>,
    queue: BinaryHeap<Reverse<(u32, u32)>>,
}

/// Bytes of a piece up to which scanning all parts finds the next pair fastest.
const SCAN_MAX: usize = 100;

impl Merge {
    /// The number of tokens of a piece.
    fn count(&mut self, v: &Vocabulary, piece: &[u8]) -> u32 {
        self.parts.clear();
        let pairs = piece.windows(2).enumerate();
        self.parts.extend(pairs.map(|(i, pair)| (i as u32, v.pair(pair[0], pair[1]))));
        self.parts.push((piece.len() as u32 - 1, NONE));
        if piece.len() <= SCAN_MAX { self.scan(v, piece) } else { self.queue(v, piece) }
    }

    fn scan(&mut self, v: &Vocabulary, piece: &[u8]) -> u32 {
        let parts = &mut self.parts;
        // The first of equal ranks: a token that occurs twice is merged from the left.
        while let Some((i, (_, rank))) = parts.iter().enumerate().min_by_key(|(_, p)| p.1)
            && *rank != NONE
        {
            parts.remove(i + 1);
            for at in [Some(i), i.checked_sub(1)].into_iter().flatten() {
                let end = |n: usize| parts.get(n).map_or(piece.len(), |p| p.0 as usize);
                parts[at].1 = if at + 1 < parts.len() {
                    v.rank(&piece[parts[at].0 as usize..end(at + 2)]).unwrap_or(NONE)
                } else {
                    NONE
                };
            }
        }
        parts.len() as u32
    }

    /// Counts by a queue of pairs, for pieces of any length.
    fn queue(&mut self, v: &Vocabulary, piece: &[u8]) -> u32 {
        let Self { parts, links, queue } = self;
        let n = piece.len() as u32;
        links.clear();
        links.extend((0..n).map(|i| (i.wrapping_sub(1), i + 1)));
        queue.clear();
        queue.extend(parts.iter().filter(|p| p.1 != NONE).map(|p| Reverse((p.1, p.0))));
        let mut left = n;
        while let Some(Reverse((rank, at))) = queue.pop() {
            // Parts that were merged into others, and pairs that have changed, have another rank.
            if parts[at as usize].1 != rank {
                continue;
            }
            let gone = links[at as usize].1;
            let end = links[gone as usize].1;
            links[at as usize].1 = end;
            parts[gone as usize].1 = NONE;
            if end < n {
                links[end as usize].0 = at;
            }
            left -= 1;
            for start in [Some(at), Some(links[at as usize].0).filter(|_| at > 0)].into_iter().flatten() {
                let next = links[start as usize].1;
                let rank = match links.get(next as usize) {
                    Some((_, end)) => v.rank(&piece[start as usize..*end as usize]).unwrap_or(NONE),
                    None => NONE,
                };
                parts[start as usize].1 = rank;
                if rank != NONE {
                    queue.push(Reverse((rank, start)));
                }
            }
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Text of the kinds that the patterns distinguish, in runs.
    fn text() -> impl Strategy<Value = String> {
        let run = prop_oneof![
            4 => "[a-z]{1,12}",
            2 => "[A-Z][a-zA-Z]{0,6}",
            2 => "[ \t]{1,4}",
            2 => "[\r\n]{1,3}",
            1 => "[0-9]{1,7}",
            2 => "[-+*/=.,:;(){}\"'<>|`#_]{1,5}",
            1 => "'(s|S|t|re|VE|m|lL|d|x|\u{17f})",
            1 => "(//|/\\*| /)[\r\n]?",
            2 => "[ǅʰª中é\u{301}Éß\u{2028}\u{85}\u{a0}\u{3000}٣Ⅷ½€😀\u{200d}\u{ad}]{1,4}",
            1 => any::<char>().prop_map(String::from),
        ];
        prop::collection::vec(run, 0..14).prop_map(|runs| runs.concat())
    }

    #[test]
    fn every_token_has_its_rank_and_nothing_else_has_one() {
        let published = [
            (Encoding::O200k, tiktoken_rs::o200k_base_singleton(), 199_998),
            (Encoding::Cl100k, tiktoken_rs::cl100k_base_singleton(), 100_256),
        ];
        for (encoding, published, n) in published {
            let vocabulary = vocabulary(encoding);
            let mut tokens = std::collections::HashSet::new();
            for rank in 0..n {
                let token = published.decode_bytes(&[rank]).unwrap();
                assert_eq!(vocabulary.rank(&token), Some(rank));
                tokens.insert(token);
            }
            for token in &tokens {
                for other in [&token[1..], &token[..token.len() - 1], &[token, &b"\xff"[..]].concat()] {
                    if !other.is_empty() {
                        assert_eq!(vocabulary.rank(other).is_some(), tokens.contains(other), "{other:?}");
                    }
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 3_000, ..ProptestConfig::default() })]

        #[test]
        fn counts_are_those_of_tiktoken(text in text()) {
            let theirs = tiktoken_rs::o200k_base_singleton().encode_ordinary(&text).len();
            prop_assert_eq!(count(Encoding::O200k, &text) as usize, theirs);
            let theirs = tiktoken_rs::cl100k_base_singleton().encode_ordinary(&text).len();
            prop_assert_eq!(count(Encoding::Cl100k, &text) as usize, theirs);
        }

        #[test]
        fn counts_add_up_at_boundaries(before in text(), after in text()) {
            for text in [format!("{before}\n{after}"), format!("{before}{after}")] {
                for at in (0..=text.len()).filter(|at| split::is_boundary(&text, *at)) {
                    for encoding in [Encoding::O200k, Encoding::Cl100k] {
                        let (a, b) = (count(encoding, &text[..at]), count(encoding, &text[at..]));
                        prop_assert_eq!(a + b, count(encoding, &text), "{:?} at {}", text, at);
                    }
                }
            }
        }

        #[test]
        fn long_pieces_are_merged_as_short_ones(piece in "[a-f]{2,99}|[ -~]{2,99}") {
            let vocabulary = vocabulary(Encoding::Cl100k);
            let mut merge = Merge::default();
            let short = merge.count(vocabulary, piece.as_bytes());
            let pairs = piece.as_bytes().windows(2).enumerate();
            merge.parts.clear();
            merge.parts.extend(pairs.map(|(i, p)| (i as u32, vocabulary.pair(p[0], p[1]))));
            merge.parts.push((piece.len() as u32 - 1, NONE));
            prop_assert_eq!(merge.queue(vocabulary, piece.as_bytes()), short);
        }
    }
}
