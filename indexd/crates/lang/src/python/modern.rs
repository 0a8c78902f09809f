//! Python as it is written today, for a grammar that is older. What it does not know is replaced by
//! something of the same length that means nearly the same, so that every byte keeps its place:
//!
//! - `lazy import a` (3.15) becomes `pass;import a`;
//! - the default of a type parameter (3.13) becomes its bound, or joins it: `[T = int]`, `[T: B = C]`
//!   become `[T : int]`, `[T: B | C]`, and stars before such names are blanked out;
//! - `{**d for d in ds}` (3.15) becomes a set of the same elements;
//! - the plus of a number in a pattern (3.15) is blanked out: `case +1:`.

use crate::patch::Patch;
use crate::tokens::{Token, tokens};
use indexd_model::Language;

/// `text` with what the grammar does not know replaced; `None` when nothing is.
pub(super) fn rewrite(text: &str) -> Option<String> {
    let all = tokens(text, Language::Python);
    let mut it = Rewriter { text, all: &all, out: Patch::new(text) };
    for i in 0..all.len() {
        match it.word(i) {
            "lazy" => it.lazy_import(i),
            "case" if it.is_first(i) => it.plus_in_pattern(i + 1),
            "class" | "def" | "type" if it.word(i + 2) == "[" => it.type_parameters(i + 3),
            "{" if it.word(i + 1) == "*" && it.word(i + 2) == "*" => it.unpacking(i),
            _ => {}
        }
    }
    it.out.done()
}

struct Rewriter<'s> {
    text: &'s str,
    all: &'s [Token],
    out: Patch<'s>,
}

impl Rewriter<'_> {
    /// The token at a position; empty behind the end.
    fn word(&self, i: usize) -> &str {
        self.all.get(i).map_or("", |t| t.text(self.text))
    }

    fn start(&self, i: usize) -> usize {
        self.all[i].span.start as usize
    }

    fn blank(&mut self, i: usize) {
        let at = self.start(i);
        self.out.blank(at..at + 1);
    }

    /// Returns true if a token is the first of a statement.
    fn is_first(&self, i: usize) -> bool {
        let at = self.start(i);
        let line = self.text[..at].rfind(['\n', ';']).map_or(0, |n| n + 1);
        self.text[line..at].bytes().all(|b| b.is_ascii_whitespace())
    }

    /// Signs in the pattern that starts at `i` and ends at a colon outside of brackets.
    fn plus_in_pattern(&mut self, i: usize) {
        let mut n_open = 0;
        for at in i..self.all.len() {
            match self.word(at) {
                ":" | "if" if n_open == 0 => return,
                "(" | "[" | "{" => n_open += 1,
                ")" | "]" | "}" => n_open -= 1,
                "+" => {
                    let is_number = self.word(at + 1).starts_with(|c: char| c.is_ascii_digit() || c == '.');
                    let is_sign = matches!(self.word(at - 1), "case" | "|" | "(" | "[" | "," | "=" | ":");
                    if is_number && is_sign {
                        self.blank(at);
                    }
                }
                _ => {}
            }
        }
    }

    /// `lazy` as the first word of a statement, before an import.
    fn lazy_import(&mut self, i: usize) {
        let at = self.start(i);
        let has_blank = self.text[at + 4..].starts_with([' ', '\t']);
        if self.is_first(i) && has_blank && matches!(self.word(i + 1), "import" | "from") {
            self.out.write(at, b"pass;");
        }
    }

    /// The parameters from the one at `i` to the bracket that closes.
    fn type_parameters(&mut self, mut i: usize) {
        let mut stars: Vec<usize> = Vec::new();
        let (mut has_bound, mut n_open) = (false, 0);
        while i < self.all.len() {
            match self.word(i) {
                "]" if n_open == 0 => return,
                "(" | "[" | "{" => n_open += 1,
                ")" | "]" | "}" => n_open -= 1,
                _ if n_open > 0 => {}
                "," => {
                    stars.clear();
                    has_bound = false;
                }
                "*" => stars.push(i),
                ":" => has_bound = true,
                "=" => {
                    let at = self.start(i);
                    self.out.write(at, if has_bound { b"|" } else { b":" });
                    stars.drain(..).for_each(|star| self.blank(star));
                    if self.word(i + 1) == "*" {
                        self.blank(i + 1);
                        i += 1;
                    }
                }
                _ => {}
            }
            i += 1;
        }
    }

    /// A comprehension in the braces at `i` that starts with two stars.
    fn unpacking(&mut self, i: usize) {
        let mut n_open = 0;
        for at in i..self.all.len() {
            match self.word(at) {
                "(" | "[" | "{" => n_open += 1,
                ")" | "]" | "}" if n_open == 1 => return,
                ")" | "]" | "}" => n_open -= 1,
                "," if n_open == 1 => return,
                "for" if n_open == 1 => {
                    self.blank(i + 1);
                    self.blank(i + 2);
                    return;
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: Option<&str>) {
        assert_eq!(rewrite(text).as_deref(), expect, "{text}");
    }

    #[test]
    fn what_the_grammar_does_not_know_is_replaced() {
        check("lazy import json\n", Some("pass;import json\n"));
        check("if x:\n    lazy from a import b\n", Some("if x:\n    pass;from a import b\n"));
        check("lazy = 1\nlazy\nx.lazy import\nlazy(import_)\n", None);
        check(
            "class A[T = int, *Ts = *tuple[int], **P = [int]]: ...",
            Some("class A[T : int,  Ts :  tuple[int],   P : [int]]: ..."),
        );
        check("def f[T: B = C](x=1): ...", Some("def f[T: B | C](x=1): ..."));
        check("def f[T: (A, B)](x=1): ...\nclass B[*Ts, **P](m=1): ...\nx[i] = 1", None);
        check("{**d for d in ds}", Some("{  d for d in ds}"));
        check("case +1 | (+.5, 1+2j) if +1: +1", Some("case  1 | ( .5, 1+2j) if +1: +1"));
        check("{**d, 'k': [x for x in y]}, {**d}", None);
    }

    proptest::proptest! {
        #[test]
        fn every_byte_keeps_its_place(text in "(lazy import |class A\\[|[a-zü\\[\\]{}()*=:,\n ]|\\{\\*\\*| for ){0,60}") {
            if let Some(out) = rewrite(&text) {
                proptest::prop_assert_eq!(out.len(), text.len());
                let changed = out.bytes().zip(text.bytes()).filter(|(a, b)| a != b);
                proptest::prop_assert!(changed.clone().all(|(_, b)| b.is_ascii()));
                proptest::prop_assert!(changed.count() > 0);
            }
        }
    }
}
