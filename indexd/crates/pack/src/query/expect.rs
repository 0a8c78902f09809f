//! What a caller expects in the code that answers: names, words, and other wordings of the question.
//!
//! An entry of more than three words with a function word (`the`, `of`, `whether`) and without a name is a
//! wording. All other entries are lists of names and words. A name is written like an identifier: with an underscore, with a dot,
//! a digit or a capital inside, in capitals, as a call (`close()`) or as a member (`.close`, `::new`). The terms of all entries join those of the question. A term
//! that several entries hold counts once, with the highest weight, since guesses are alternatives.

use super::stopwords::{is_stopword, says_nothing};
use super::{Query, QueryTerm};
use crate::tuning::Weights;
use indexd_text::{word_terms, words};

/// Words up to which an entry is a list in any case.
const LIST_WORDS_MAX: usize = 3;

/// A name or a word that the caller expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// As written.
    pub text: String,
    /// True for a name, false for a word.
    pub is_name: bool,
}

impl Query {
    /// Adds the entries of `expect`.
    pub fn expect(&mut self, entries: &[String], w: &Weights) {
        self.has_expectations = !entries.is_empty();
        for entry in entries {
            if is_wording(entry) {
                self.add_wording(entry, w);
            } else {
                for word in entry.split([' ', '\t', '\n', ',', ';']).filter(|w| !bare(w).is_empty()) {
                    self.add_expected(word, w);
                }
            }
        }
    }

    fn add_wording(&mut self, text: &str, w: &Weights) {
        words(text, |_, word| {
            if !says_nothing(&word.to_lowercase(), self.kind) {
                word_terms(word, |term| self.raise(term, w.expected_word, word));
            }
        });
    }

    fn add_expected(&mut self, written: &str, w: &Weights) {
        let (word, is_name) = (bare(written), is_name(written));
        if !is_name && is_stopword(&word.to_lowercase()) {
            return;
        }
        let mut has_parts = false;
        words(word, |_, of| {
            word_terms(of, |term| {
                let is_whole = term.starts_with('=');
                let weight = match (is_whole, is_name) {
                    (true, _) => w.expected_name,
                    (false, true) => w.expected_part,
                    (false, false) => w.expected_word,
                };
                self.raise(term, weight, of);
                has_parts |= !is_whole;
            });
        });
        if has_parts && !self.expected.iter().any(|e| e.text == word) {
            self.expected.push(Expected { text: word.to_owned(), is_name });
        }
    }

    /// Gives a term at least a weight.
    fn raise(&mut self, term: &str, weight: f64, word: &str) {
        match self.terms.iter_mut().find(|t| t.term == term) {
            Some(known) => known.weight = known.weight.max(weight),
            None => self.terms.push(QueryTerm {
                term: term.to_owned(),
                weight,
                word: Some(word.to_owned()),
                ..QueryTerm::default()
            }),
        }
    }
}

/// The word without marks around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_')
}

/// True if an entry is a sentence and not a list.
fn is_wording(entry: &str) -> bool {
    let all: Vec<&str> = entry.split_whitespace().map(bare).collect();
    let has_function_word = all.iter().any(|w| is_stopword(&w.to_lowercase()));
    all.len() > LIST_WORDS_MAX && has_function_word && !all.iter().any(|w| is_name(w))
}

/// True if a word is written like an identifier, a call or a member.
fn is_name(written: &str) -> bool {
    let word = bare(written);
    let (before, after) = written.split_once(word).unwrap_or_default();
    let is_used = after.starts_with('(') || before.ends_with(['.', ':']);
    let mut inner = word.chars().skip(1);
    word.chars().any(char::is_alphabetic)
        && (is_used
            || word.starts_with('_')
            || inner.any(|c| c.is_uppercase() || c.is_ascii_digit() || "_.:#".contains(c)))
}
