//! Source as the grammar of SQL reads it, which knows one dialect at a time and no procedures: what it does not know
//! is written otherwise for the parser, each byte at its place.
//!
//! - `CREATE PROCEDURE a(...) AS ...` becomes `CREATE VIEW a AS SELECT ... 1`, as do functions, triggers and domains of
//!   every dialect; the table of the language tells them apart by the word in the source;
//! - names in brackets get quotes;
//! - lines for a client (`\echo`, `GO`, `DELIMITER $$`) are blanked out or become `;`.

use crate::patch::{Patch, find};
use crate::tokens::is_part;
use std::ops::Range;

/// The text for the parser; `None` where it is the source.
pub(super) fn rewritten(text: &str) -> Option<String> {
    let mut writer = Writer { text: text.as_bytes(), out: Patch::new(text), at: 0, delimiter: b"" };
    writer.run();
    writer.out.done()
}

/// What stands in place of a body, before its last byte.
const BODY: &[u8] = b"AS SELECT ";

struct Writer<'t> {
    text: &'t [u8],
    out: Patch<'t>,
    at: usize,
    /// What ends a statement beside `;`, as MySQL's client is told.
    delimiter: &'t [u8],
}

impl<'t> Writer<'t> {
    fn run(&mut self) {
        while self.at < self.text.len() {
            if self.is_line_start() && self.client_line() {
                continue;
            }
            let start = self.at;
            let token = self.token();
            match token {
                Token::Word if self.is_word(start, b"create") => self.create(start),
                Token::Delimiter => {
                    self.out.blank(start..self.at);
                    self.out.write(start, b";");
                }
                Token::Bracketed => self.quote(start),
                _ => {}
            }
        }
    }

    /// Writes quotes over the brackets around a name that ends here.
    fn quote(&mut self, start: usize) {
        self.out.write(start, b"\"");
        self.out.write(self.at - 1, b"\"");
    }

    fn is_line_start(&self) -> bool {
        self.at == 0 || self.text[self.at - 1] == b'\n'
    }

    fn line(&self) -> &'t [u8] {
        let rest = &self.text[self.at..];
        &rest[..memchr::memchr(b'\n', rest).unwrap_or(rest.len())]
    }

    /// Passes over a line that is no SQL.
    fn client_line(&mut self) -> bool {
        let (line, start) = (self.line(), self.at);
        let words = line.trim_ascii();
        let is_go = words.eq_ignore_ascii_case(b"go");
        let delimiter = words.get(..10).filter(|w| w.eq_ignore_ascii_case(b"delimiter "));
        if !is_go && delimiter.is_none() && !line.starts_with(b"\\") && words != b"/" {
            return false;
        }
        if delimiter.is_some() {
            let named = words[10..].trim_ascii();
            self.delimiter = if named == b";" { b"" } else { named };
        }
        self.at += line.len();
        self.out.blank(start..self.at);
        if is_go {
            self.out.write(start, b";");
        }
        true
    }

    /// Passes over a token.
    fn token(&mut self) -> Token {
        let rest = &self.text[self.at..];
        let until = |mark: &[u8], from: usize| (find(rest, from, mark) + mark.len()).min(rest.len());
        let (token, len) = match rest[0] {
            _ if !self.delimiter.is_empty() && rest.starts_with(self.delimiter) => {
                (Token::Delimiter, self.delimiter.len())
            }
            b'-' if rest.starts_with(b"--") => (Token::Other, until(b"\n", 0).max(1) - 1),
            b'/' if rest.starts_with(b"/*") => (Token::Other, until(b"*/", 2)),
            quote @ (b'\'' | b'"' | b'`') => (Token::Other, until(&[quote], 1)),
            b'$' => match dollar_tag(rest) {
                Some(tag) => (Token::Other, until(tag, tag.len())),
                None => (Token::Other, 1),
            },
            b'[' => match self.bracketed() {
                Some(len) => (Token::Bracketed, len),
                None => (Token::Other, 1),
            },
            b';' => (Token::End, 1),
            byte if is_part(byte) => (Token::Word, rest.iter().take_while(|b| is_part(**b)).count()),
            _ => (Token::Other, 1),
        };
        self.at += len.max(1);
        token
    }

    /// The length of a name in brackets: they index what stands right before, and hold numbers then.
    fn bracketed(&self) -> Option<usize> {
        let is_index =
            self.at > 0 && (is_part(self.text[self.at - 1]) || b")]\"".contains(&self.text[self.at - 1]));
        let line = self.line();
        let len = line.iter().position(|b| *b == b']')? + 1;
        let is_name = line[1].is_ascii_alphabetic() || line[1] == b'_';
        (!is_index && is_name && !line[..len].contains(&b'"')).then_some(len)
    }

    fn is_word(&self, start: usize, word: &[u8]) -> bool {
        self.text[start..self.at].eq_ignore_ascii_case(word)
    }

    /// Passes over blanks and comments, and over the next word.
    fn next_word(&mut self) -> Option<Range<usize>> {
        while self.at < self.text.len() {
            let start = self.at;
            match self.token() {
                Token::Word => return Some(start..self.at),
                Token::Other
                    if self.text[start].is_ascii_whitespace() || b"-/".contains(&self.text[start]) => {}
                _ => {
                    self.at = start;
                    return None;
                }
            }
        }
        None
    }

    /// A statement that the grammar may not know, written as a view.
    fn create(&mut self, start: usize) {
        let begun = self.at;
        let is_first = self.text[..start].trim_ascii_end().last().is_none_or(|b| *b == b';');
        let line = memchr::memrchr(b'\n', &self.text[..start]).map_or(0, |at| at + 1);
        if !is_first && !self.text[line..start].trim_ascii().is_empty() {
            return;
        }
        let mut n_words = 0;
        let kind = loop {
            let Some(word) = self.next_word() else { break None };
            let is = |w: &[u8]| self.text[word.clone()].eq_ignore_ascii_case(w);
            if [&b"procedure"[..], b"proc", b"function", b"trigger", b"domain"].into_iter().any(is) {
                break Some(word);
            }
            n_words += 1;
            if n_words > 4 || ![&b"or"[..], b"replace", b"alter", b"constraint"].into_iter().any(is) {
                break None;
            }
        };
        let name = kind.clone().and_then(|_| self.name());
        let (Some(kind), Some(name)) = (kind, name) else {
            self.at = begun;
            return;
        };
        let (body, end) = self.statement();
        let is_ended = self.text[..end].last() == Some(&b';');
        let last = self.text[..end - usize::from(is_ended)].trim_ascii_end().len().saturating_sub(1);
        let latest = last.saturating_sub(BODY.len());
        // What the parser finds there is cut from the source, which other characters would not allow.
        let has_room = |at: &usize| *at <= latest && self.text[*at..*at + BODY.len()].is_ascii();
        let Some(body) = body.filter(has_room).or(Some(latest).filter(has_room)) else { return };
        if body <= name.end {
            return;
        }
        self.out.blank(begun..kind.end);
        self.out.write(kind.start, b"VIEW");
        self.out.blank(name.end..end);
        self.out.write(body, BODY);
        self.out.write(last, b"1");
        if is_ended {
            self.out.write(end - 1, b";");
        }
    }

    /// Passes over a name with its schema; brackets get quotes.
    fn name(&mut self) -> Option<Range<usize>> {
        while self.at < self.text.len() && self.text[self.at].is_ascii_whitespace() {
            self.at += 1;
        }
        let start = self.at;
        while self.at < self.text.len() {
            let part = self.at;
            match self.token() {
                Token::Word => {}
                Token::Bracketed => self.quote(part),
                Token::Other if b"\"`.".contains(&self.text[part]) => {}
                _ => {
                    self.at = part;
                    break;
                }
            }
        }
        (self.at > start).then_some(start..self.at)
    }

    /// Where a statement ends of which nothing more stands on this line or after it; passes over the end of a
    /// block.
    fn ends_here(&mut self, is_block: bool) -> Option<usize> {
        let (start, line) = (self.at, self.line().trim_ascii());
        let is = |word: &[u8]| line.get(..word.len()).is_some_and(|w| w.eq_ignore_ascii_case(word));
        if line.eq_ignore_ascii_case(b"go") || line == b"/" || is(b"delimiter ") || is(b"create ") {
            return Some(start);
        }
        // The end of a block that is not indented.
        if !is_block || !is(b"end") || !is_part(self.text[start]) {
            return None;
        }
        let delimiter =
            memchr::memmem::find(self.line(), self.delimiter).filter(|_| !self.delimiter.is_empty());
        self.at += delimiter.unwrap_or(self.line().len());
        Some(self.at)
    }

    /// Passes over the rest of a statement: where its body begins, if a word says so, and where it ends.
    fn statement(&mut self) -> (Option<usize>, usize) {
        let (mut body, mut depth, mut is_block) = (None, 0usize, false);
        while self.at < self.text.len() {
            let start = self.at;
            if self.is_line_start()
                && start > 0
                && let Some(end) = self.ends_here(is_block)
            {
                return (body, end);
            }
            match self.token() {
                Token::Delimiter => {
                    self.at = start;
                    return (body, start);
                }
                Token::End if !is_block && self.delimiter.is_empty() => return (body, self.at),
                Token::Word => {
                    let is = |word| self.is_word(start, word);
                    is_block |= is(b"begin");
                    let is_body = depth == 0 && (is(b"as") || is(b"is") || is(b"begin") || is(b"execute"));
                    body = body.or(is_body.then_some(start));
                }
                _ if self.text[start] == b'(' => depth += 1,
                _ if self.text[start] == b')' => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        (body, self.at)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    Word,
    Bracketed,
    Delimiter,
    /// `;`
    End,
    Other,
}

/// `$$` or `$tag$` at the start.
fn dollar_tag(text: &[u8]) -> Option<&[u8]> {
    let len = text[1..].iter().position(|b| *b == b'$')? + 2;
    let tag = &text[..len];
    (tag[1..len - 1].iter().all(|b| is_part(*b)) && !tag[1].is_ascii_digit()).then_some(tag)
}

#[cfg(test)]
mod tests {
    use super::rewritten;

    #[track_caller]
    fn check(text: &str, want: &str) {
        let got = rewritten(text);
        assert_eq!(got.as_deref().unwrap_or(text), want);
        assert_eq!(want.len(), text.len());
    }

    #[test]
    fn procedures_and_functions_are_views() {
        check(
            "CREATE OR REPLACE FUNCTION a.f(int) RETURNS int AS $$ x; $$ LANGUAGE sql;\nSELECT 1;",
            "CREATE            VIEW     a.f                  AS SELECT              1;\nSELECT 1;",
        );
        check(
            "create proc [dbo].[p] @a int AS\nBEGIN\n  SELECT 1;\nEND\nGO\nselect 2",
            "create VIEW \"dbo\".\"p\"        AS SELECT           \n  1\n; \nselect 2",
        );
        check(
            "DELIMITER $$\nCREATE PROCEDURE p() BEGIN SELECT 1; END$$\nDELIMITER ;\nSELECT 1;",
            "            \nCREATE VIEW      p   AS SELECT         1; \n           \nSELECT 1;",
        );
        check("CREATE DOMAIN d AS TEXT CHECK (TRUE);", "CREATE VIEW   d AS SELECT          1;");
    }

    #[test]
    fn what_is_no_sql_is_blanked_out() {
        check("\\echo é\nSELECT a[1] FROM [b c];", "        \nSELECT a[1] FROM \"b c\";");
    }

    #[test]
    fn all_else_stays() {
        for text in [
            "CREATE TABLE a (b int[], c text);",
            "-- CREATE PROCEDURE x\nSELECT 'CREATE PROCEDURE x', $1, ARRAY[a];",
            "CREATE PROCEDURE x",
            "CREATE TABLE(\nCREATE PROC \u{bf}<\u{ff}\u{fe}\u{ff}\u{ff}\u{ff}O",
            "",
        ] {
            check(text, text);
        }
    }
}
