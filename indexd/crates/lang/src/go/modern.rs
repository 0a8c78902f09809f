//! Go as it is written today, for a grammar that is older: `new(f())` of Go 1.26.
//!
//! The grammar reads the argument of `new` as a type. Where it can be none, the word is replaced by
//! another of its length, so that the parser sees an ordinary call and every byte keeps its place.

use crate::patch::Patch;
use crate::tokens::{Token, tokens};
use indexd_model::Language;

/// Replacement for `new`: any name that the grammar does not know.
const CALL: &str = "neW";

/// Brackets inside each other that are looked through for the end of a type.
const NESTED_MAX: u32 = 64;

/// `text` with each `new` of an expression replaced; `None` when there is none.
pub(super) fn rewrite(text: &str) -> Option<String> {
    memchr::memmem::find(text.as_bytes(), b"new")?;
    let read = Reader { text, all: &tokens(text, Language::Go) };
    let mut out = Patch::new(text);
    for i in 0..read.all.len() {
        let is_name = i.checked_sub(1).is_none_or(|before| !matches!(read.word(before), "." | "func"));
        if read.word(i) == "new" && is_name && read.word(i + 1) == "(" && !read.is_type_argument(i + 2) {
            out.write(read.all[i].span.start as usize, CALL.as_bytes());
        }
    }
    out.done()
}

/// Finds out where types end (Go specification, "Types").
struct Reader<'s> {
    text: &'s str,
    all: &'s [Token],
}

impl Reader<'_> {
    /// The token at a position; empty behind the end.
    fn word(&self, i: usize) -> &str {
        self.all.get(i).map_or("", |t| t.text(self.text))
    }

    /// Returns true if there is a type and nothing else before the closing parenthesis. An empty list is left
    /// to the parser, too.
    fn is_type_argument(&self, i: usize) -> bool {
        let Some(end) = self.ty(i, NESTED_MAX) else { return self.word(i) == ")" && self.is_blank_before(i) };
        let end = if self.word(end) == "," { end + 1 } else { end };
        matches!(self.word(end), ")" | "")
    }

    /// Returns true if there is no string or comment between a token and the one before.
    fn is_blank_before(&self, i: usize) -> bool {
        let (from, to) = (self.all[i - 1].span.end as usize, self.all[i].span.start as usize);
        self.text[from..to].trim().is_empty()
    }

    /// The position behind the type at `i`.
    fn ty(&self, i: usize, depth: u32) -> Option<usize> {
        let depth = depth.checked_sub(1)?;
        match self.word(i) {
            "*" => self.ty(i + 1, depth),
            "(" => self.ty(i + 1, depth).filter(|end| self.word(*end) == ")").map(|end| end + 1),
            "[" => self.ty(self.closed(i)?, depth),
            "map" => self.ty(self.closed(i + 1)?, depth),
            "chan" if self.word(i + 1) == "<" => self.ty(i + 3, depth),
            "chan" => self.ty(i + 1, depth),
            "<" if self.word(i + 2) == "chan" => self.ty(i + 3, depth),
            "struct" | "interface" => self.closed(i + 1),
            "func" => {
                let end = self.closed(i + 1)?;
                match self.word(end) {
                    "(" => self.closed(end),
                    ")" | "," => Some(end),
                    _ => self.ty(end, depth),
                }
            }
            _ => self.name(i, depth),
        }
    }

    /// The position behind `T`, `p.T` or `T[A, B]`.
    fn name(&self, i: usize, depth: u32) -> Option<usize> {
        let is_word = |i: usize| self.all.get(i).is_some_and(|t| t.is_word);
        let mut end = is_word(i).then_some(i + 1)?;
        if self.word(end) == "." {
            end = is_word(end + 1).then_some(end + 2)?;
        }
        if self.word(end) != "[" {
            return Some(end);
        }
        loop {
            end = self.ty(end + 1, depth)?;
            match self.word(end) {
                "," => {}
                "]" => return Some(end + 1),
                _ => return None,
            }
        }
    }

    /// The position behind the bracket that closes the one at `i`.
    fn closed(&self, i: usize) -> Option<usize> {
        let mut n_open = 0;
        for at in i..self.all.len() {
            match self.word(at) {
                "(" | "[" | "{" => n_open += 1,
                ")" | "]" | "}" => n_open -= 1,
                _ => {}
            }
            if n_open == 0 {
                return (at > i).then_some(at + 1);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(argument: &str, is_expression: bool) {
        let text = format!("x := new({argument})\n");
        let want = is_expression.then(|| text.replacen("new", CALL, 1));
        assert_eq!(rewrite(&text), want, "{argument}");
    }

    #[test]
    fn types_stay_and_expressions_become_calls() {
        for ty in [
            "T",
            "p.T",
            "*T",
            "(T)",
            "[]T",
            "[4]int",
            "[n + 1]int",
            "map[string]struct{}",
            "chan<- int",
            "<-chan T",
            "func()",
            "func(a int) (b, error)",
            "func(int) string",
            "struct{ a int }",
            "interface{}",
            "T[int]",
            "T[p.A, []B]",
            "T,",
            "",
        ] {
            check(ty, false);
        }
        for value in [
            "f()",
            "1",
            "\"s\"",
            "a + b",
            "T{1}",
            "&T{}",
            "[]int{1}",
            "s[0]",
            "s[i+1]",
            "-x",
            "<-c",
            "x.(T)",
            "func() int { return 1 }()",
            "func() {}",
            "int64(300)",
            "a.b.c",
        ] {
            check(value, true);
        }
        assert_eq!(rewrite("x.new(f()); func new(a int) {}; renew(f()); \"new(1)\""), None);
    }

    proptest::proptest! {
        #[test]
        fn every_byte_keeps_its_place(text in "(new\\(|[a-z(){}\\[\\],.*<\"` ]|func|chan ){0,60}") {
            if let Some(out) = rewrite(&text) {
                proptest::prop_assert_eq!(out.replace(CALL, "new"), text);
            }
        }
    }
}
