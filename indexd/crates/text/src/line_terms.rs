//! The lines of a text that hold terms of a query, for scoring windows of long definitions.

use crate::terms::{word_terms, words};
use indexd_model::terms::Vocabulary;
use rustc_hash::FxHashSet;

/// Finds a fixed set of terms line by line. Words met before are not split again, so one matcher serves all
/// texts of a query.
pub struct LineMatcher {
    wanted: FxHashSet<Box<str>>,
    /// The wanted terms of each word met; most words hold none.
    words: Vocabulary,
    /// The position of each term in [`LineMatcher::words`].
    positions: Vec<u32>,
}

impl LineMatcher {
    /// Prepares for `terms`, as made by [`crate::terms()`]; each is identified by its position. A repeated
    /// term is identified by its first position.
    pub fn new<'t>(terms: impl IntoIterator<Item = &'t str>) -> Self {
        let mut matcher =
            Self { wanted: FxHashSet::default(), words: Vocabulary::default(), positions: Vec::new() };
        for (i, term) in (0..).zip(terms) {
            if matcher.words.intern(term) as usize == matcher.positions.len() {
                matcher.positions.push(i);
                matcher.wanted.insert(term.into());
            }
        }
        matcher
    }

    /// Appends `(line, term)` for each occurrence in `text`, in order of appearance. Lines count
    /// from 0 at the start of `text` and end with LF, CRLF or a lone CR.
    pub fn find(&mut self, text: &str, out: &mut Vec<(u32, u32)>) {
        if self.wanted.is_empty() {
            return;
        }
        let Self { wanted, words: met, positions } = self;
        let bytes = text.as_bytes();
        let (mut line, mut seen) = (0, 0);
        words(text, |at, word| {
            let found = met.word(word, |word, each| {
                word_terms(word, |term| {
                    if wanted.contains(term) {
                        each(term)
                    }
                });
            });
            if found.is_empty() {
                return;
            }
            // Line ends up to a hit are counted only when there is one.
            line += line_ends(bytes, seen, at);
            seen = at;
            out.extend(found.iter().map(|term| (line, positions[*term as usize])));
        });
    }
}

/// Number of lines that end in `bytes[from..to]`; a CRLF counts at its LF.
fn line_ends(bytes: &[u8], from: usize, to: usize) -> u32 {
    let part = &bytes[from..to];
    let lf = memchr::memchr_iter(b'\n', part).count();
    let lone_cr =
        memchr::memchr_iter(b'\r', part).filter(|i| bytes.get(from + i + 1) != Some(&b'\n')).count();
    (lf + lone_cr) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_the_line_of_each_hit() {
        let mut matcher = LineMatcher::new(["pars", "=parserequest", "request", "none"]);
        let mut out = Vec::new();
        matcher.find("x\nparseRequest(a)\r\n\r\nrequests\rparsed", &mut out);
        assert_eq!(out, [(1, 0), (1, 2), (1, 1), (3, 2), (4, 0)]);
        out.clear();
        matcher.find("requests", &mut out);
        assert_eq!(out, [(0, 2)]);
    }

    #[test]
    fn nothing_wanted_finds_nothing() {
        let mut out = Vec::new();
        LineMatcher::new([]).find("a b c\n", &mut out);
        assert!(out.is_empty());
    }
}
