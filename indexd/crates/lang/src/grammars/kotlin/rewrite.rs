//! Source as the grammar of Kotlin reads it: what it does not know is written otherwise for the parser, each byte at
//! its place. Names stay names, so that their uses are found; slices are of the source itself.
//!
//! - `is A if a > b ->` (a guard of `when`) becomes a second condition, `else if` before `->` a condition;
//! - `where` as a name, and `get` between two values, get another last letter;
//! - a member before the brace of its class, or of an entry of an enumeration, on the same line ends with `;`;
//! - a property of neither type nor value with an annotation before its accessor gets a type;
//! - `$$"$a ${b} $${c}"` loses the signs that mean nothing there.

use crate::patch::{Patch, end_of_string, find};
use crate::tokens::is_part;

/// The text for the parser; `None` where it is the source.
pub(super) fn rewritten(text: &str) -> Option<String> {
    let (out, braces) = (Patch::new(text), Vec::new());
    let mut writer = Writer { text: text.as_bytes(), out, at: 0, line: 0, braces, named: Body::Other };
    writer.run();
    writer.out.done()
}

struct Writer<'t> {
    text: &'t [u8],
    out: Patch<'t>,
    at: usize,
    /// Where the line begins.
    line: usize,
    /// Open braces: where each stands, and what begins there.
    braces: Vec<(usize, Body)>,
    /// What the line has named whose body has not begun.
    named: Body,
}

/// What a brace opens.
#[derive(Clone, Copy, Default, PartialEq)]
enum Body {
    #[default]
    Other,
    /// Members.
    Type,
    /// Entries of an enumeration, with members behind a semicolon.
    Enum,
}

impl Writer<'_> {
    fn run(&mut self) {
        while let Some(byte) = self.text.get(self.at).copied() {
            match byte {
                b'\n' => {
                    self.at += 1;
                    (self.line, self.named) = (self.at, Body::Other);
                }
                b'/' if self.rest(1) == Some(b'/') => self.at = find(self.text, self.at, b"\n"),
                b'/' if self.rest(1) == Some(b'*') => self.at = find(self.text, self.at + 2, b"*/") + 2,
                b'"' => self.string(),
                b'\'' => self.character(),
                b'@' => self.annotation(),
                b'{' => {
                    let named = std::mem::take(&mut self.named);
                    let is_entry = self.braces.last().is_some_and(|b| b.1 == Body::Enum);
                    self.braces.push((self.at, if is_entry { Body::Type } else { named }));
                    self.at += 1;
                }
                b'}' => self.closing(),
                b';' => {
                    self.named = Body::Other;
                    if let Some((_, body @ Body::Enum)) = self.braces.last_mut() {
                        *body = Body::Type;
                    }
                    self.at += 1;
                }
                _ if is_part(byte) => self.word(),
                _ => self.at += 1,
            }
        }
    }

    fn rest(&self, by: usize) -> Option<u8> {
        self.text.get(self.at + by).copied()
    }

    /// What stands on the line before a place, without blanks around it.
    fn before(&self, at: usize) -> &str {
        std::str::from_utf8(&self.text[self.line..at]).unwrap_or("").trim()
    }

    /// The rest of the line from a place on.
    fn behind(&self, at: usize) -> &str {
        std::str::from_utf8(&self.text[at..find(self.text, at, b"\n")]).unwrap_or("")
    }

    fn string(&mut self) {
        let start = self.at;
        let n_signs = self.text[..start].iter().rev().take_while(|b| **b == b'$').count();
        let is_raw = self.text[start..].starts_with(b"\"\"\"");
        self.at = match is_raw {
            true => (find(self.text, start + 3, b"\"\"\"") + 3).min(self.text.len()),
            false => end_of_string(self.text, start, b'"'),
        };
        if n_signs > 1 {
            self.out.blank(start - n_signs..start);
            self.signs(start, n_signs);
        }
    }

    /// Of each run of `$` in a string, the last one stays where there are as many as begin a value.
    fn signs(&mut self, start: usize, n_signs: usize) {
        let mut at = start;
        while at < self.at {
            let run = self.text[at..self.at].iter().take_while(|b| **b == b'$').count();
            if run > 0 {
                let n_gone = if run < n_signs { run } else { run - 1 };
                self.out.blank(at..at + n_gone);
            }
            at += run.max(1);
        }
    }

    /// `'x'` and `'\n'`; a quote that closes nothing near by is passed over.
    fn character(&mut self) {
        let inner = self.at + if self.rest(1) == Some(b'\\') { 3 } else { 2 };
        let near = self.text.get(inner..self.text.len().min(inner + 5)).unwrap_or_default();
        let closing = near.iter().position(|b| *b == b'\'' || *b == b'\n').filter(|at| near[*at] == b'\'');
        self.at = closing.map_or(self.at + 1, |at| inner + at + 1);
    }

    /// Gives the property on the line before a type, if an annotation stands before its accessor.
    fn annotation(&mut self) {
        let blanks = self.at - self.line;
        if blanks >= 3 && self.line > 0 && self.before(self.at).is_empty() {
            let above = std::str::from_utf8(&self.text[..self.line - 1]).unwrap_or("");
            let above = above.rsplit('\n').next().unwrap_or("").trim_end();
            let mut words = above.split_whitespace().rev();
            let is_name = words.next().is_some_and(|w| w.bytes().all(is_part));
            if is_name && words.next().is_some_and(|w| matches!(w, "val" | "var")) {
                self.out.write(self.at - 3, b":T");
            }
        }
        self.at += 1;
    }

    fn closing(&mut self) {
        if let Some((open, Body::Type)) = self.braces.pop()
            && open >= self.line
            && self.text[self.at - 1] == b' '
            && !matches!(self.text[open..self.at].trim_ascii_end().last(), Some(b'{' | b';' | b','))
        {
            self.out.write(self.at - 1, b";");
        }
        self.at += 1;
    }

    fn word(&mut self) {
        let start = self.at;
        let len = self.text[start..].iter().take_while(|b| is_part(**b)).count();
        self.at = start + len;
        let text = self.text;
        match &text[start..self.at] {
            b"class" | b"interface" | b"object" => {
                let is_value = self.text[..start].ends_with(b"::");
                let is_enum = self.before(start).ends_with("enum");
                if !is_value {
                    self.named = if is_enum { Body::Enum } else { Body::Type };
                }
            }
            b"where" if !self.is_constraint() => self.out.write(start, b"wherE"),
            b"get" if self.is_infix(start) => self.out.write(start, b"geT"),
            b"if" if self.is_guard(start) => self.out.write(start, b", "),
            b"if" if self.before(start) == "else" && is_condition(self.behind(self.at)) => {
                let other = start - self.text[..start].iter().rev().take_while(|b| **b == b' ').count() - 4;
                self.out.write(other, b"    ");
                self.out.write(start, b"  ");
            }
            _ => {}
        }
    }

    /// Whether `where T : A` follows.
    fn is_constraint(&self) -> bool {
        let rest = self.text[self.at..].trim_ascii_start();
        let name = rest.iter().take_while(|b| is_part(**b) || **b == b'@').count();
        let rest = rest[name..].trim_ascii_start();
        name > 0 && rest.starts_with(b":") && !rest.starts_with(b"::")
    }

    /// Whether a value stands on both sides of a word.
    fn is_infix(&self, start: usize) -> bool {
        let rest = self.behind(self.at);
        let next = rest.trim_start();
        let before = self.before(start);
        if next.len() == rest.len() || before.is_empty() {
            return false;
        }
        let is_value = before.ends_with(['}', ')', ']', '"']) || before.bytes().last().is_some_and(is_part);
        next.starts_with(|c: char| c.is_alphabetic() || c == '`') && is_value && !before.ends_with("val")
            || next.starts_with('(') && before.ends_with('}')
    }

    /// Whether a condition of `when` stands before, and the one that guards it behind.
    fn is_guard(&self, start: usize) -> bool {
        let before = self.before(start);
        let is_test = ["is ", "!is ", "in ", "!in "].iter().any(|w| before.starts_with(w));
        if is_test {
            return !before.contains("->") && !before.contains('{');
        }
        let is_path = !before.is_empty() && before.bytes().all(|b| is_part(b) || b == b'.');
        let is_keyword = matches!(before, "else" | "return" | "in" | "is" | "as" | "throw" | "do");
        is_path && !is_keyword && is_condition(self.behind(self.at))
    }
}

/// Whether a condition and an arrow follow.
fn is_condition(rest: &str) -> bool {
    rest.split_once("->").is_some_and(|(condition, _)| !condition.contains('{'))
}

#[cfg(test)]
mod tests {
    use super::rewritten;

    #[test]
    fn what_the_grammar_does_not_know_is_written_otherwise() {
        for (text, want) in [
            ("    is A if a -> 1", "    is A ,  a -> 1"),
            ("    B.C if (a) -> 1", "    B.C ,  (a) -> 1"),
            ("    else if a -> 1", "            a -> 1"),
            ("g()\nwhere?.let { it }", "g()\nwherE?.let { it }"),
            ("val x = f { a } get B.id", "val x = f { a } geT B.id"),
            ("f { a } get (B.id)", "f { a } geT (B.id)"),
            ("class A { companion object { val x = 1 } }", "class A { companion object { val x = 1;};}"),
            (
                "enum class E { A { fun f() = 1 }, B; fun g() = 2 }",
                "enum class E { A { fun f() = 1;}, B; fun g() = 2;}",
            ),
            (
                "class A { val x = \"é\"\n    val b\n    @C\n    get() = 1 }",
                "class A { val x = \"é\"\n    val b\n :T @C\n    get() = 1 }",
            ),
            ("f($$\"$a ${b} $${c}\")", "f(  \" a  {b}  ${c}\")"),
        ] {
            assert_eq!(rewritten(text).as_deref(), Some(want), "{text}");
        }
    }

    #[test]
    fn all_else_stays() {
        for text in [
            "val x: Int get() = 1",
            "private val y\n    get() = 1",
            "fun <T> f() where T : A, T : B { }",
            "fun <T> f()\n    where T: A { }",
            "val x = if (a) b else if (c) d else e",
            "return if (a) { b -> c } else d",
            "x in if (a) b else c",
            "// where get if\n/* where */ \"where ${get}\" '\"' where T : A",
            "enum class A { B, C }\nclass D { }\nval x = A::class",
            "'\"' + \"\\\"where\"",
            "",
        ] {
            assert_eq!(rewritten(text), None, "{text}");
        }
    }
}
