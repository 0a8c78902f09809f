//! Terms of one file, between tokenisation and postings.

use crate::view::{FieldCounts, N_FIELDS};
use rustc_hash::{FxBuildHasher, FxHashMap};
use std::collections::hash_map::Entry;
use std::hash::BuildHasher;
use std::sync::Arc;

/// Bits of a word's hash that select its slot in a cache of recent words, so that these are found without
/// touching the large tables. A file has a few thousand different words.
const RECENT_BITS: u32 = 12;

/// Terms by number, stored one after the other: most occur once or twice, so a separate allocation for each
/// would cost more than the rest of the work on it.
#[derive(Default)]
pub struct Terms {
    text: String,
    ends: Vec<usize>,
}

impl Terms {
    /// The term with a number.
    pub fn get(&self, number: u32) -> &str {
        let at = number as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.text[start..self.ends[at]]
    }

    /// Adds a term, which gets the next number.
    pub fn push(&mut self, term: &str) {
        self.text.push_str(term);
        self.ends.push(self.text.len());
    }

    /// Adds all terms of another list, in their order.
    pub fn append(&mut self, other: &Self) {
        let start = self.text.len();
        self.text.push_str(&other.text);
        self.ends.extend(other.ends.iter().map(|end| start + end));
    }

    /// Number of terms; numbers run from 0 to below this.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

/// Interned terms. Numbers are local to one vocabulary and never stored.
#[derive(Default)]
pub struct Vocabulary {
    /// Numbers of terms by hash, or by the first free number after it where other terms have the same.
    ids: FxHashMap<u64, u32>,
    terms: Terms,
    /// Runs in `parts` of the terms of words split before. Short words, which most are, are keyed by a
    /// number.
    short: FxHashMap<u128, WordRun>,
    long: FxHashMap<Box<str>, WordRun>,
    /// The last short word of each slot; empty until the first one.
    recent: Vec<(u128, WordRun)>,
    parts: Vec<u32>,
    identity: Arc<()>,
}

impl Vocabulary {
    /// The number of `term`, new or known.
    pub fn intern(&mut self, term: &str) -> u32 {
        let mut hash = FxBuildHasher.hash_one(term);
        loop {
            match self.ids.entry(hash) {
                Entry::Occupied(known) if self.terms.get(*known.get()) == term => return *known.get(),
                Entry::Occupied(_) => hash = hash.wrapping_add(1),
                Entry::Vacant(free) => {
                    self.terms.push(term);
                    return *free.insert(self.terms.len() as u32 - 1);
                }
            }
        }
    }

    /// The numbers of the terms of a word. `split` splits the word and is called only for words not met
    /// before, so it must be a pure function.
    #[inline]
    pub fn word(&mut self, word: &str, split: impl FnOnce(&str, &mut dyn FnMut(&str))) -> &[u32] {
        let run = match packed(word.as_bytes()) {
            None => self.long_word(word, split),
            Some(number) => {
                let slot = slot_of(number);
                match self.recent.get(slot) {
                    Some((known, run)) if *known == number => *run,
                    _ => self.short_word(number, slot, word, split),
                }
            }
        };
        &self.parts[run.start as usize..run.end as usize]
    }

    #[inline(never)]
    fn short_word(
        &mut self,
        number: u128,
        slot: usize,
        word: &str,
        split: impl FnOnce(&str, &mut dyn FnMut(&str)),
    ) -> WordRun {
        let run = match self.short.get(&number) {
            Some(run) => *run,
            None => {
                let run = self.take_apart(word, split);
                self.short.insert(number, run);
                run
            }
        };
        if self.recent.is_empty() {
            // No word is packed as 0, which is the empty word.
            self.recent = vec![(0, WordRun::default()); 1 << RECENT_BITS];
        }
        self.recent[slot] = (number, run);
        run
    }

    fn long_word(&mut self, word: &str, split: impl FnOnce(&str, &mut dyn FnMut(&str))) -> WordRun {
        if let Some(run) = self.long.get(word) {
            return *run;
        }
        let run = self.take_apart(word, split);
        self.long.insert(word.into(), run);
        run
    }

    fn take_apart(&mut self, word: &str, split: impl FnOnce(&str, &mut dyn FnMut(&str))) -> WordRun {
        let mut parts = std::mem::take(&mut self.parts);
        let start = parts.len() as u32;
        split(word, &mut |term| parts.push(self.intern(term)));
        let run = WordRun { start, end: parts.len() as u32 };
        self.parts = parts;
        run
    }

    /// The term with a number.
    pub fn term(&self, id: u32) -> &str {
        self.terms.get(id)
    }

    /// Identifies this vocabulary for caches of its numbers: as long as a clone is held, no other vocabulary
    /// has the same address here.
    pub fn identity(&self) -> &Arc<()> {
        &self.identity
    }

    /// Number of terms; numbers run from 0 to below this.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}

/// The run in `parts` of the terms of a word.
#[derive(Clone, Copy, Debug, Default)]
struct WordRun {
    start: u32,
    end: u32,
}

/// A word of 1 to 15 bytes as one number, different for different words: its bytes, and above them its
/// length. `None` for longer words and the empty one.
#[inline]
fn packed(word: &[u8]) -> Option<u128> {
    let n = word.len();
    // Two overlapping reads cover any length without a loop; bytes that were read twice are shifted out.
    let (low, high) = match n {
        8..=15 => (eight(&word[..8]), (eight(&word[n - 8..]) >> 1) >> (8 * (16 - n) - 1)),
        4..=7 => (four(&word[..4]) | (four(&word[n - 4..]) >> (8 * (8 - n))) << 32, 0),
        1..=3 => {
            let byte = |i: usize| u64::from(word[i]) << (8 * i);
            (byte(0) | byte(n / 2) | byte(n - 1), 0)
        }
        _ => return None,
    };
    Some(u128::from(low) | u128::from(high) << 64 | (n as u128) << 120)
}

fn eight(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u64::from_le_bytes)
}

fn four(bytes: &[u8]) -> u64 {
    bytes.try_into().map_or(0, u32::from_le_bytes).into()
}

fn slot_of(number: u128) -> usize {
    let mixed = (number as u64 ^ ((number >> 64) as u64).rotate_left(29)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> (64 - RECENT_BITS)) as usize
}

/// Terms of one chunk: numbers of a [`Vocabulary`] with counts by field, each once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChunkTerms {
    /// `(term, counts)`, in any order, no term twice.
    pub terms: Vec<(u32, FieldCounts)>,
    /// Length of each field in terms, saturating.
    pub lens: [u16; N_FIELDS],
}

/// Terms of a file: of each chunk, in chunk order, and of its path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileTerms {
    /// One for each chunk of the facts.
    pub chunks: Vec<ChunkTerms>,
    /// `(term, count)` of the path, no term twice.
    pub path: Vec<(u32, u8)>,
    /// Length of the path in terms.
    pub path_len: u16,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn equal_terms_have_one_number(terms in prop::collection::vec("[a-d]{0,4}", 0..600)) {
            let mut vocabulary = Vocabulary::default();
            let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
            for term in &terms {
                let next = numbers.len() as u32;
                let expect = *numbers.entry(term).or_insert(next);
                prop_assert_eq!(vocabulary.intern(term), expect);
            }
            prop_assert_eq!(vocabulary.len(), numbers.len());
            let mut twice = Terms::default();
            twice.append(&vocabulary.terms);
            twice.append(&vocabulary.terms);
            prop_assert_eq!(twice.len(), 2 * numbers.len());
            for (term, number) in &numbers {
                prop_assert_eq!(vocabulary.term(*number), *term);
                prop_assert_eq!(twice.get(number + numbers.len() as u32), *term);
            }
        }

        #[test]
        fn a_short_word_and_its_number_determine_each_other(word in prop::collection::vec(any::<u8>(), 0..20)) {
            let expect = (1..=15).contains(&word.len()).then(|| {
                let mut bytes = [0; 16];
                bytes[..word.len()].copy_from_slice(&word);
                bytes[15] = word.len() as u8;
                u128::from_le_bytes(bytes)
            });
            prop_assert_eq!(packed(&word), expect);
        }

        #[test]
        fn a_word_gives_the_same_terms_whenever_it_is_met(words in prop::collection::vec("[a-c]{1,4}|[ab_]{12,20}", 0..200)) {
            let mut vocabulary = Vocabulary::default();
            let mut split: BTreeMap<String, u32> = BTreeMap::new();
            for word in &words {
                let terms: Vec<u32> = vocabulary
                    .word(word, |word, f| {
                        *split.entry(word.to_owned()).or_default() += 1;
                        word.split('_').filter(|part| !part.is_empty()).for_each(f);
                    })
                    .to_vec();
                let terms: Vec<&str> = terms.iter().map(|t| vocabulary.term(*t)).collect();
                let parts: Vec<&str> = word.split('_').filter(|part| !part.is_empty()).collect();
                prop_assert_eq!(terms, parts);
            }
            prop_assert!(split.values().all(|n| *n == 1), "taken apart once");
        }
    }
}
