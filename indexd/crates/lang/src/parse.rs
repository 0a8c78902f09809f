//! Parsing one file: a parser that is used again for every tree the file needs.

use std::cell::RefCell;
use std::ops::ControlFlow;
use tree_sitter::{Language, ParseOptions, ParseState, Parser, Tree};

/// Parses the texts of one file in one language.
pub struct Parses(RefCell<Parser>);

impl Parses {
    /// Makes a parser for `language`.
    pub fn new(language: &Language) -> Self {
        let mut parser = Parser::new();
        // A parser without a language makes no tree.
        let _ = parser.set_language(language);
        Self(RefCell::new(parser))
    }

    /// Returns the tree of `text`, or `None` when the parser called back more than `calls_max` times or
    /// does not know the language. The same text always gives the same answer.
    pub fn parse(&self, text: &str, calls_max: u64) -> Option<Tree> {
        let mut n_calls = 0;
        let mut progress = |_: &ParseState| {
            n_calls += 1;
            if n_calls > calls_max { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let mut parser = self.0.borrow_mut();
        let mut read = |at: usize, _| text.as_bytes().get(at..).unwrap_or_default();
        let tree = parser.parse_with_options(&mut read, None, Some(options));
        if tree.is_none() {
            parser.reset();
        }
        tree
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
}
