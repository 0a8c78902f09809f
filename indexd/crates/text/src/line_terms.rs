//! Which lines of a text hold which terms of a query: what windows of long definitions are scored by.

use crate::terms::{word_terms, words};
use rustc_hash::FxHashMap;

/// Finds a fixed set of terms line by line. Words met before are not taken apart again, so one
/// matcher serves all texts of a query.
pub struct LineMatcher {
    wanted: FxHashMap<Box<str>, u32>,
    /// What a word holds of the wanted terms, as a run of `hits`; most words hold none.
    words: FxHashMap<Box<str>, (u32, u32)>,
    hits: Vec<u32>,
}

impl LineMatcher {
    /// Prepares for `terms`, as [`crate::terms`] makes them; each is known by its position.
    /// A repeated term is known by its first position.
    pub fn new<'t>(terms: impl IntoIterator<Item = &'t str>) -> Self {
        let mut wanted = FxHashMap::default();
        for (i, term) in terms.into_iter().enumerate() {
            wanted.entry(term.into()).or_insert(i as u32);
        }
        Self { wanted, words: FxHashMap::default(), hits: Vec::new() }
    }

    /// Appends `(line, term)` for each occurrence in `text`, in order of appearance. Lines count
    /// from 0 at the start of `text` and end with LF, CRLF or a lone CR.
    pub fn find(&mut self, text: &str, out: &mut Vec<(u32, u32)>) {
        if self.wanted.is_empty() {
            return;
        }
        let bytes = text.as_bytes();
        let (mut line, mut seen) = (0, 0);
        words(text, |at, word| {
            let (start, end) = self.word(word);
            if start == end {
                return;
            }
            // Line ends are counted up to the hit only when there is one.
            line += line_ends(bytes, seen, at);
            seen = at;
            out.extend(self.hits[start as usize..end as usize].iter().map(|term| (line, *term)));
        });
    }

    fn word(&mut self, word: &str) -> (u32, u32) {
        if let Some(&run) = self.words.get(word) {
            return run;
        }
        let start = self.hits.len() as u32;
        let Self { wanted, hits, .. } = self;
        word_terms(word, |term| hits.extend(wanted.get(term)));
        let run = (start, self.hits.len() as u32);
        self.words.insert(word.into(), run);
        run
    }
}

/// How many lines end in `bytes[from..to]`; a CRLF counts at its LF.
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
