//! Source as the grammar of C# reads it: what is newer than the grammar is written otherwise for the parser, each
//! byte at its place. Names stay names; slices are of the source itself.
//!
//! - a list pattern (`[1, .. var rest]`) becomes `_`;
//! - `a?.b` and `a?[b]` become `a .b` and `a [b]`, since such a place may be assigned to;
//! - `extension` before the members that a type is given becomes `class ext`.

use crate::patch::{Patch, end_of_string, find};
use crate::tokens::is_part;

/// Bytes of a list pattern or of the head of an extension block; longer ones stay as they are.
const LEN_MAX: usize = 2_000;

/// The text for the parser; `None` where it is the source.
pub(super) fn rewritten(text: &str) -> Option<String> {
    let has = |what: &str| memchr::memmem::find(text.as_bytes(), what.as_bytes()).is_some();
    if !has("?.") && !has("?[") && !has("extension") && !has("[") {
        return None;
    }
    let (out, last) = (Patch::new(text), Last::Sign(b';'));
    let mut writer = Writer { text: text.as_bytes(), out, at: 0, last, braces: Vec::new() };
    writer.run();
    writer.out.done()
}

/// The last token that is not a comment.
#[derive(Clone, Copy, PartialEq)]
enum Last {
    /// A word, from where to where.
    Word(usize, usize),
    Sign(u8),
    Value,
}

struct Writer<'t> {
    text: &'t [u8],
    out: Patch<'t>,
    at: usize,
    last: Last,
    /// Open braces, and whether arms of a `switch` stand in each.
    braces: Vec<bool>,
}

impl Writer<'_> {
    fn run(&mut self) {
        while let Some(byte) = self.text.get(self.at).copied() {
            let next = self.text.get(self.at + 1).copied().unwrap_or(0);
            match byte {
                b'/' if next == b'/' => self.at = find(self.text, self.at, b"\n"),
                b'/' if next == b'*' => self.at = find(self.text, self.at + 2, b"*/") + 2,
                b'#' if self.last_is(b'\n') => self.at = find(self.text, self.at, b"\n"),
                b'"' | b'\'' => self.quoted(byte),
                b'?' if next == b'[' && self.is_value() => self.sign(),
                b'?' if next == b'.' && self.is_name_behind(self.at + 2) => self.sign(),
                b'[' if self.is_pattern() => self.pattern(),
                _ if is_part(byte) => self.word(),
                _ => {
                    match byte {
                        b'{' => self.braces.push(self.is_word(&[b"switch"])),
                        b'}' => {
                            self.braces.pop();
                        }
                        _ => {}
                    }
                    if !byte.is_ascii_whitespace() {
                        self.last = if matches!(byte, b')' | b']') { Last::Value } else { Last::Sign(byte) };
                    }
                    self.at += 1;
                }
            }
        }
    }

    /// Blanks a sign out.
    fn sign(&mut self) {
        self.out.blank(self.at..self.at + 1);
        self.at += 1;
    }

    /// Whether only blanks stand before on the line.
    fn last_is(&self, end: u8) -> bool {
        let before = self.text[..self.at].trim_ascii_end();
        before.is_empty() || self.text[before.len()..self.at].contains(&end)
    }

    fn is_value(&self) -> bool {
        self.last == Last::Value || matches!(self.last, Last::Word(_, end) if end == self.at)
    }

    fn is_name_behind(&self, at: usize) -> bool {
        self.text
            .get(at)
            .is_some_and(|b| b.is_ascii_alphabetic() || matches!(b, b'_' | b'@') || !b.is_ascii())
    }

    fn is_word(&self, words: &[&[u8]]) -> bool {
        matches!(self.last, Last::Word(start, end) if words.contains(&&self.text[start..end]))
    }

    /// Whether a bracket opens a pattern: behind a word that a pattern follows, in an arm of a `switch`, or
    /// behind the name of a property in a pattern.
    fn is_pattern(&self) -> bool {
        match self.last {
            Last::Word(_, end) => end < self.at && self.is_word(&[b"is", b"not", b"and", b"or", b"case"]),
            Last::Sign(b'{' | b',') => self.braces.last() == Some(&true),
            _ => false,
        }
    }

    /// Blanks a list pattern out.
    fn pattern(&mut self) {
        let (start, mut depth, mut end) = (self.at, 0, self.at);
        for (i, byte) in self.text[start..].iter().take(LEN_MAX).enumerate() {
            depth += i32::from(*byte == b'[') - i32::from(*byte == b']');
            // What is not closed, or holds strings with brackets, stays as it is.
            if depth == 0 {
                end = start + i + 1;
                break;
            }
            if matches!(byte, b'{' | b'}' | b';') {
                break;
            }
        }
        if end == start {
            self.last = Last::Sign(b'[');
            self.at += 1;
            return;
        }
        self.out.blank(start..end);
        self.out.write(start, b"_");
        (self.at, self.last) = (end, Last::Value);
    }

    /// A string or a character, to its end.
    fn quoted(&mut self, quote: u8) {
        let start = self.at;
        let n_quotes = self.text[start..].iter().take_while(|b| **b == quote).count();
        let before = &self.text[..start];
        let is_verbatim = quote == b'"' && (before.ends_with(b"@") || before.ends_with(b"@$"));
        self.last = Last::Value;
        if quote == b'"' && n_quotes >= 3 && !is_verbatim {
            let marks = vec![b'"'; n_quotes];
            self.at = (find(self.text, start + n_quotes, &marks) + n_quotes).min(self.text.len());
            return;
        }
        if !is_verbatim {
            self.at = end_of_string(self.text, start, quote);
            return;
        }
        // Two quotes are one in the text.
        let mut end = find(self.text, start + 1, b"\"");
        while self.text.get(end + 1) == Some(&b'"') {
            end = find(self.text, end + 2, b"\"");
        }
        self.at = (end + 1).min(self.text.len());
    }

    fn word(&mut self) {
        let start = self.at;
        self.at += self.text[start..].iter().take_while(|b| is_part(**b)).count();
        let is_first = matches!(self.last, Last::Sign(b'{' | b'}' | b';') | Last::Value);
        if &self.text[start..self.at] == b"extension" && is_first && self.is_block() {
            self.out.write(start, b"class ext");
        }
        self.last = Last::Word(start, self.at);
    }

    /// Whether what stands in brackets and then a brace follow.
    fn is_block(&self) -> bool {
        let rest = &self.text[self.at..self.text.len().min(self.at + LEN_MAX)];
        let end = rest.iter().position(|b| matches!(b, b'{' | b';' | b'}' | b'='));
        let head = rest[..end.unwrap_or(rest.len())].trim_ascii();
        let is_open = end.is_some_and(|e| rest[e] == b'{');
        is_open && matches!(head.first(), Some(b'<' | b'(')) && head.contains(&b'(')
    }
}

#[cfg(test)]
mod tests {
    use super::rewritten;

    #[test]
    fn what_is_newer_than_the_grammar_is_written_otherwise() {
        for (text, want) in [
            (
                "x switch { [1, .. var r] => 1, [_, [2]] when a => 2 }",
                "x switch { _             => 1, _        when a => 2 }",
            ),
            ("if (x is [var a, ..] b) {}", "if (x is _           b) {}"),
            ("case [1]: x is not [2] or [3]", "case _  : x is not _   or _  "),
            ("o?.Name = 1; p?.q?.r = 2; a?[0] = 1;", "o .Name = 1; p .q .r = 2; a [0] = 1;"),
            ("static class E {\n  extension<T>(T s) {\n", "static class E {\n  class ext<T>(T s) {\n"),
            ("{ }\nextension(string s) { }", "{ }\nclass ext(string s) { }"),
            ("f()?.g", "f() .g"),
        ] {
            assert_eq!(rewritten(text).as_deref(), Some(want), "{text}");
        }
    }

    #[test]
    fn all_else_stays() {
        for text in [
            "x ? .5 : 1",
            "\"a?.b [\" + @\"\\\" + '\"' + $\"{x} extension(\"",
            "// a?.b\n/* x is [1] */ \"\"\"x?.y\"\"\"",
            "[Fact] void f(int[] a) { g([1, 2]); }",
            "class A { [Fact] int x; }\nenum B { [C] D, [E] F }",
            "var extension = 1; extension(x); a.extension(y);",
            "switch (x) { case 1: y[0] = 2; }",
            "x is [1",
            "",
        ] {
            assert_eq!(rewritten(text), None, "{text}");
        }
    }
}
