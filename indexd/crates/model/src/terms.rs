//! Terms of one file, on their way from tokenisation into postings.

use crate::view::{FieldCounts, N_FIELDS};
use rustc_hash::FxHashMap;

/// Interned terms. Numbers are local to one vocabulary and never stored.
#[derive(Default)]
pub struct Vocabulary {
    ids: FxHashMap<Box<str>, u32>,
    terms: Vec<Box<str>>,
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

    /// The term behind a number.
    pub fn term(&self, id: u32) -> &str {
        &self.terms[id as usize]
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
