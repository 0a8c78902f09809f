//! Parsing one file: a parser that is used again for every tree the file needs.

use crate::grammars;
use indexd_model::limits::{PARSE_READ_BYTES, PARSE_READS_MIN, PARSE_READS_PER_KIB};
use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;
use tree_sitter::{Language, ParseOptions, ParseState, Parser, Point, Range, Tree};

/// Parses the texts of one file in one language.
pub struct Parses {
    parser: RefCell<Parser>,
    /// Rewrites a text for the parser.
    rewrites: Option<fn(&str) -> Option<String>>,
}

impl Parses {
    /// Makes a parser for `language`.
    pub fn new(language: &Language) -> Self {
        let mut parser = Parser::new();
        // A parser without a language makes no tree.
        let _ = parser.set_language(language);
        Self { parser: RefCell::new(parser), rewrites: grammars::rewrites(language) }
    }

    /// Makes a parser for files of a language; `None` for one without a grammar in this build.
    pub fn of(language: indexd_model::Language) -> Option<Self> {
        let grammar = match language {
            indexd_model::Language::Go => tree_sitter_go::LANGUAGE.into(),
            indexd_model::Language::Python => tree_sitter_python::LANGUAGE.into(),
            other => grammars::parser(other)?,
        };
        Some(Self::new(&grammar))
    }

    /// Returns the tree of `text`, or `None` when the parser called back more than `calls_max` times,
    /// went over the text too often, or does not know the language. The same text always gives the same
    /// answer.
    pub fn parse(&self, text: &str, calls_max: u64) -> Option<Tree> {
        self.parse_within(text, &[], calls_max)
    }

    /// The same of parts of a text, in order and apart from each other; of the whole where there are none.
    pub(crate) fn parse_within(
        &self,
        text: &str,
        parts: &[std::ops::Range<usize>],
        calls_max: u64,
    ) -> Option<Tree> {
        let (start_point, end_point) = (Point::new(0, 0), Point::new(0, 0));
        let range = |r: &std::ops::Range<usize>| Range {
            start_byte: r.start,
            end_byte: r.end,
            start_point,
            end_point,
        };
        let parts: Vec<Range> = parts.iter().map(range).collect();
        self.parser.borrow_mut().set_included_ranges(&parts).ok()?;
        let rewritten = self.rewrites.and_then(|rewrites| rewrites(text));
        let mut reads = Reads::of(rewritten.as_deref().unwrap_or(text));
        let is_spent = Cell::new(false);
        let mut n_calls = 0;
        let mut progress = |_: &ParseState| {
            n_calls += 1;
            if n_calls > calls_max || is_spent.get() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let mut parser = self.parser.borrow_mut();
        let mut read = |at: usize, _| reads.read(at, &is_spent);
        let tree = parser.parse_with_options(&mut read, None, Some(options)).filter(|_| !is_spent.get());
        if tree.is_none() {
            parser.reset();
        }
        tree
    }
}

/// The text of a parse, given in pieces and not without end.
struct Reads<'t> {
    text: &'t [u8],
    n_left: u64,
    /// Behind the line feed that was given last in place of the text.
    behind: usize,
}

impl<'t> Reads<'t> {
    fn of(text: &'t str) -> Self {
        let n_left = PARSE_READS_MIN + text.len() as u64 / 1024 * PARSE_READS_PER_KIB;
        Self { text: text.as_bytes(), n_left, behind: usize::MAX }
    }

    /// Returns the text from `at`. After too many reads, returns a line feed and then the end of the text:
    /// some scanners run on to the one and some to the other.
    fn read(&mut self, at: usize, is_spent: &Cell<bool>) -> &'t [u8] {
        self.n_left = self.n_left.saturating_sub(1);
        if self.n_left > 0 {
            let rest = self.text.get(at..).unwrap_or_default();
            return &rest[..rest.len().min(PARSE_READ_BYTES)];
        }
        is_spent.set(true);
        if at == self.behind || at >= self.text.len() {
            return &[];
        }
        self.behind = at + 1;
        b"\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parse_that_is_given_up_leaves_nothing_behind() {
        let text = "def f(a, b=[1, 2]):\n    return {a: b, 'c': (a, b)}\n";
        let parses = Parses::new(&tree_sitter_python::LANGUAGE.into());
        let expect = parses.parse(text, 1_000).unwrap().root_node().to_sexp();
        assert!(parses.parse(&text.repeat(1_000), 1).is_none());
        assert_eq!(parses.parse(text, 1_000).unwrap().root_node().to_sexp(), expect);
    }

    #[test]
    fn a_text_is_read_in_pieces_and_not_without_end() {
        let text = "x".repeat(PARSE_READ_BYTES + 10);
        let (mut reads, is_spent) = (Reads::of(&text), Cell::new(false));
        assert_eq!([0, 4, 4_096, 5_000].map(|at| reads.read(at, &is_spent).len()), [4_096, 4_096, 10, 0]);
        while !is_spent.get() {
            reads.read(7, &is_spent);
        }
        assert_eq!([8, 9, 9, 10].map(|at| reads.read(at, &is_spent)), [&b""[..], b"\n", b"\n", b""]);
    }
}
