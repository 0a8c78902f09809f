//! Finds words of the index that are spelled like missing words of the text.

use crate::assemble::Selected;
use indexd_model::{ChunkDoc, IndexView};
use indexd_text::{edits, word_terms, words};

/// Maximum terms compared with one word. Few words have more with their first two letters.
const TERMS_MAX: usize = 4_000;

/// A missing word of the text, and the word of the index that may have been meant.
pub(super) struct Near {
    /// The word as written.
    pub written: String,
    /// The similar word of the index.
    pub word: String,
}

/// Returns the nearest word of the index for each missing term; of equally near words the most common. Words
/// without a near one are skipped.
pub(super) fn of(a: &mut Selected, missing: &[(String, String)]) -> Vec<Near> {
    let mut out = Vec::new();
    for (term, written) in missing {
        let Some(near) = nearest_term(a.units.view, term) else { continue };
        let mut postings = Vec::new();
        a.units.view.postings(&near, &mut postings);
        let word = postings.first().and_then(|p| word_of(a, p.chunk, &near));
        let word = word.unwrap_or(near);
        out.push(Near { written: written.clone(), word });
    }
    out
}

fn nearest_term(view: &dyn IndexView, term: &str) -> Option<String> {
    let most = (term.chars().count() / 4).clamp(1, 3);
    // The first letter is seldom mistyped; swapped first letters are covered.
    let first: Vec<char> = term.chars().take(2).collect();
    let [one, two] = first[..] else { return None };
    let mut best: Option<(usize, u32, String)> = None;
    for start in [format!("{one}{two}"), format!("{two}{one}")] {
        for near in view.terms_from(&start, TERMS_MAX) {
            if near.chars().count().abs_diff(term.chars().count()) > most {
                continue;
            }
            let n = edits(term, &near);
            if n > most {
                continue;
            }
            let key = (n, u32::MAX - view.doc_frequency(&near), near);
            if best.as_ref().is_none_or(|b| key < *b) {
                best = Some(key);
            }
        }
    }
    best.map(|b| b.2)
}

/// Returns the word of a chunk that has the term, in lower case.
fn word_of(a: &mut Selected, chunk: ChunkDoc, term: &str) -> Option<String> {
    let record = a.units.chunk(chunk);
    let source = a.sources.of(a.units.view, record.file);
    let mut found = None;
    words(source.slice(record.span), |_, word| {
        if found.is_none() {
            let (mut has, mut n) = (false, 0);
            word_terms(word, |t| {
                has |= t == term;
                n += 1;
            });
            found = (has && n == 1).then(|| word.to_lowercase());
        }
    });
    found
}
