//! Terms of one file, on their way from tokenisation into postings.

use crate::view::{FieldCounts, N_FIELDS};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Interned terms. Numbers are local to one vocabulary and never stored.
#[derive(Default)]
pub struct Vocabulary {
    ids: FxHashMap<Box<str>, u32>,
    terms: Vec<Box<str>>,
    /// Words taken apart before: where their terms stand in `parts`.
    words: FxHashMap<Box<str>, WordRun>,
    parts: Vec<u32>,
    identity: Arc<()>,
}

impl Vocabulary {
    /// The number of `term`, new or known.
    pub fn intern(&mut self, term: &str) -> u32 {
        if let Some(&id) = self.ids.get(term) {
            return id;
        }
        let id = self.terms.len() as u32;
        self.terms.push(term.into());
        self.ids.insert(term.into(), id);
        id
    }

    /// The numbers of the terms of a word. `split` takes the word apart and is called only for
    /// words not met before, so it must be pure and always the same.
    pub fn word(&mut self, word: &str, split: impl FnOnce(&str, &mut dyn FnMut(&str))) -> &[u32] {
        let run = self.word_run(word, split);
        self.run(run)
    }

    /// The same as a run, to be remembered by callers that meet a word again and again.
    pub fn word_run(&mut self, word: &str, split: impl FnOnce(&str, &mut dyn FnMut(&str))) -> WordRun {
        if let Some(&run) = self.words.get(word) {
            return run;
        }
        let mut parts = std::mem::take(&mut self.parts);
        let start = parts.len() as u32;
        split(word, &mut |term| parts.push(self.intern(term)));
        let run = WordRun { start, end: parts.len() as u32 };
        self.parts = parts;
        self.words.insert(word.into(), run);
        run
    }

    /// The numbers behind a run of this vocabulary.
    pub fn run(&self, run: WordRun) -> &[u32] {
        &self.parts[run.start as usize..run.end as usize]
    }

    /// The term behind a number.
    pub fn term(&self, id: u32) -> &str {
        &self.terms[id as usize]
    }

    /// What tells this vocabulary from every other, for whoever keeps something for its numbers: as
    /// long as a clone is held, no other vocabulary has the same address here.
    pub fn identity(&self) -> &Arc<()> {
        &self.identity
    }

    /// How many terms there are; numbers run from 0 to below this.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }
}

/// Where the terms of a word stand in the vocabulary that gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordRun {
    start: u32,
    end: u32,
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
