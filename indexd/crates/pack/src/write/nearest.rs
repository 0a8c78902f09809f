//! Words of the index that are spelled like words of the text that it lacks.

use crate::assemble::Selected;
use indexd_model::{ChunkDoc, IndexView};
use indexd_text::{edits, word_terms, words};

/// Terms that are compared with one word; those with its first two letters are seldom as many.
const TERMS_MAX: usize = 4_000;

/// A word of the text that the index lacks, and the word of the index that may have been meant.
pub(super) struct Near {
    /// As it was written.
    pub written: String,
    /// The word of the index.
    pub word: String,
}

/// For each of these terms with the word that gave it: the nearest word of the index, of equally near ones
/// the most common. Nothing for a word that no other is near to.
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
    // Few who mistype a word do so in its first letter; two in the wrong order are looked for.
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

/// The word of a chunk that has the term, in lower case.
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
