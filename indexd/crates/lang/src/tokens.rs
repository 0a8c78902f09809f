//! Words and marks of source, for places where no syntax tree helps: strings and comments are left
//! out, and nothing is ever an error. Python is read by its own rules, other languages by how their
//! strings and comments begin and end.

use indexd_model::{Language, Span};

/// Strings inside strings that are looked into; deeper ones are strings all through.
const NESTED_MAX: u32 = 16;

/// A word, a number or a single mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its bytes.
    pub span: Span,
    /// True if it could be a name; keywords are words, too.
    pub is_word: bool,
}

impl Token {
    /// The token as written.
    pub fn text<'s>(&self, text: &'s str) -> &'s str {
        text.get(self.span.range()).unwrap_or("")
    }
}

/// Returns the tokens of source in order, without strings and comments. Code in the braces of an f-string or
/// t-string of Python counts as code, and so do strings of other languages that hold code. A string or
/// comment that does not end goes on to the end of its line, or of the file where it may have several lines.
/// Empty for languages that are not programming languages.
pub fn tokens(text: &str, language: Language) -> Vec<Token> {
    let mut lexer = Lexer { text, bytes: text.as_bytes(), at: 0, out: Vec::new(), n_nested: 0 };
    match language {
        Language::Python => lexer.python(None),
        _ => lexicon(language).into_iter().for_each(|l| lexer.other(&l)),
    }
    lexer.out
}

/// Returns true if a byte may be in a name.
pub(crate) fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

/// Returns true if a text may be a name of any language.
pub(crate) fn is_identifier(text: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.starts_with(|c: char| c.is_alphabetic() || c == '_') && text.chars().all(is_part)
}

/// The marks that begin and end comments and strings of a language.
struct Lexicon {
    /// Marks that begin a comment up to the end of the line.
    line: &'static [&'static str],
    /// Marks that begin and end a comment over several lines.
    block: (&'static str, &'static str),
    /// The quotes of strings.
    quotes: &'static [u8],
    /// The mark that begins code inside a string.
    code: &'static str,
}

fn lexicon(language: Language) -> Option<Lexicon> {
    use Language::*;
    let slashes = |quotes, code| Lexicon { line: &["//"], block: ("/*", "*/"), quotes, code };
    Some(match language {
        Go => slashes(b"\"'`", ""),
        Rust => slashes(b"\"", ""),
        C | Cpp | Java | CSharp | Proto => slashes(b"\"'", ""),
        TypeScript | Tsx | JavaScript => slashes(b"\"'`", "${"),
        Kotlin | Scala => slashes(b"\"'", "${"),
        Swift => slashes(b"\"", "\\("),
        Php => Lexicon { line: &["//", "#"], ..slashes(b"\"'", "{$") },
        Hcl => Lexicon { line: &["//", "#"], ..slashes(b"\"", "${") },
        Ruby => Lexicon { line: &["#"], block: ("\n=begin", "\n=end"), quotes: b"\"'", code: "#{" },
        Bash => Lexicon { line: &["#"], block: ("", ""), quotes: b"\"'", code: "$(" },
        Lua => Lexicon { line: &["--"], block: ("--[[", "]]"), quotes: b"\"'", code: "" },
        Sql => Lexicon { line: &["--"], block: ("/*", "*/"), quotes: b"'", code: "" },
        _ => return None,
    })
}

struct Lexer<'s> {
    text: &'s str,
    bytes: &'s [u8],
    at: usize,
    out: Vec<Token>,
    n_nested: u32,
}

/// The string of Python around a piece of code.
#[derive(Clone, Copy)]
struct Around {
    is_triple: bool,
}

impl Lexer<'_> {
    fn byte(&self, ahead: usize) -> u8 {
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn is_at_end(&self) -> bool {
        self.at >= self.bytes.len()
    }

    fn other(&mut self, of: &Lexicon) {
        while !self.is_at_end() {
            let rest = &self.bytes[self.at..];
            let is_block = !of.block.0.is_empty() && rest.starts_with(of.block.0.as_bytes());
            match self.byte(0) {
                _ if is_block => self.skip_to(of.block.1),
                _ if of.line.iter().any(|l| rest.starts_with(l.as_bytes())) && self.may_be_comment() => {
                    self.skip_line();
                }
                quote if of.quotes.contains(&quote) => self.string_with(quote, of.code),
                _ => self.token(),
            }
        }
    }

    /// Returns true if a mark begins a comment: `#` only behind a blank, and not before a brace.
    fn may_be_comment(&self) -> bool {
        let before = self.at.checked_sub(1).map_or(b'\n', |i| self.bytes[i]);
        self.byte(0) != b'#' || self.byte(1) != b'{' && (before.is_ascii_whitespace() || before == b';')
    }

    /// Skips a string, unless the mark `code` shows that it holds code.
    fn string_with(&mut self, quote: u8, code: &str) {
        let start = self.at;
        match quote {
            b'`' => self.skip_to("`"),
            _ => self.skip_quoted(quote),
        }
        let end = self.at.min(self.bytes.len());
        if code.is_empty() || memchr::memmem::find(&self.bytes[start..end], code.as_bytes()).is_none() {
            return;
        }
        self.at = start + 1;
        while self.at + 1 < end {
            match self.bytes[self.at..end].starts_with(code.as_bytes()) {
                true => self.code_in_string(end),
                false => self.at += 1,
            }
        }
        self.at = end;
    }

    /// Takes the tokens from here to where the first bracket closes.
    fn code_in_string(&mut self, end: usize) {
        let mut n_open = 0;
        while self.at < end {
            match self.byte(0) {
                b'(' | b'{' => n_open += 1,
                b')' | b'}' => n_open -= 1,
                _ => {}
            }
            let is_last = n_open == 0 && matches!(self.byte(0), b')' | b'}');
            self.token();
            if is_last {
                return;
            }
        }
    }

    /// Code of Python up to the end of the file, or of the braces inside the string `around` it.
    fn python(&mut self, around: Option<Around>) {
        let mut n_open = 0u32;
        while !self.is_at_end() {
            match self.byte(0) {
                b'#' => self.skip_line(),
                b'"' | b'\'' => self.python_string(""),
                b'}' if around.is_some() && n_open == 0 => return,
                b':' if around.is_some() && n_open == 0 => return self.format_spec(around),
                b'\n' if around.is_some_and(|a| !a.is_triple) => return,
                mark => {
                    match mark {
                        b'(' | b'[' | b'{' => n_open += 1,
                        b')' | b']' | b'}' => n_open = n_open.saturating_sub(1),
                        _ => {}
                    }
                    self.token();
                    self.string_after_prefix();
                }
            }
        }
    }

    /// Takes back a word that turns out to be the prefix of a string, and skips the string.
    fn string_after_prefix(&mut self) {
        let Some(word) = self.out.last().copied() else { return };
        let is_prefix = |w: &str| w.len() <= 2 && w.bytes().all(|b| b"rRbBuUfFtT".contains(&b));
        if matches!(self.byte(0), b'"' | b'\'')
            && word.is_word
            && word.span.end as usize == self.at
            && is_prefix(word.text(self.text))
        {
            self.out.pop();
            self.python_string(&self.text[word.span.range()]);
        }
    }

    /// Skips a string of Python; the tokens in its braces are kept if its prefix asks for it.
    fn python_string(&mut self, prefix: &str) {
        let quote = self.byte(0);
        let is_triple = self.byte(1) == quote && self.byte(2) == quote;
        self.at += if is_triple { 3 } else { 1 };
        let holds_code = prefix.bytes().any(|b| b"fFtT".contains(&b)) && self.n_nested < NESTED_MAX;
        while !self.is_at_end() {
            match self.byte(0) {
                b'\\' => self.at += 2,
                b'\n' if !is_triple => return,
                b if b == quote && !is_triple => {
                    self.at += 1;
                    return;
                }
                b if b == quote && self.byte(1) == quote && self.byte(2) == quote => {
                    self.at += 3;
                    return;
                }
                b'{' if holds_code && self.byte(1) == b'{' => self.at += 2,
                b'{' if holds_code => self.braces(Around { is_triple }),
                _ => self.at += 1,
            }
        }
        self.at = self.bytes.len();
    }

    /// The code between braces; afterwards the closing brace has been passed, if there is one.
    fn braces(&mut self, around: Around) {
        self.at += 1;
        self.n_nested += 1;
        self.python(Some(around));
        self.n_nested -= 1;
        if self.byte(0) == b'}' {
            self.at += 1;
        }
    }

    /// Reads the text behind the colon in braces, with code in further braces.
    fn format_spec(&mut self, around: Option<Around>) {
        let Some(around) = around else { return };
        while !self.is_at_end() {
            match self.byte(0) {
                b'}' => return,
                b'\n' if !around.is_triple => return,
                b'{' if self.n_nested < NESTED_MAX => self.braces(around),
                _ => self.at += 1,
            }
        }
    }

    /// Takes a word, a number or a mark; passes a blank.
    fn token(&mut self) {
        let start = self.at;
        let first = self.byte(0);
        self.at += 1;
        if first.is_ascii_whitespace() {
            return;
        }
        if is_part(first) {
            while is_part(self.byte(0)) {
                self.at += 1;
            }
        }
        let span = Span { start: start as u32, end: self.at as u32 };
        self.out.push(Token { span, is_word: is_part(first) && !first.is_ascii_digit() });
    }

    fn skip_line(&mut self) {
        self.at = memchr::memchr(b'\n', &self.bytes[self.at..]).map_or(self.bytes.len(), |n| self.at + n);
    }

    /// Passes a comment or a raw string, whose opening mark is at most as long as its closing one.
    fn skip_to(&mut self, close: &str) {
        let from = (self.at + close.len()).min(self.bytes.len());
        let end = memchr::memmem::find(&self.bytes[from..], close.as_bytes());
        self.at = end.map_or(self.bytes.len(), |n| from + n + close.len());
    }

    fn skip_quoted(&mut self, quote: u8) {
        self.at += 1;
        while !self.is_at_end() {
            match self.byte(0) {
                b'\\' if self.byte(1) != b'\n' => self.at += 2,
                b'\n' => return,
                b => {
                    self.at += 1;
                    if b == quote {
                        return;
                    }
                }
            }
        }
        self.at = self.bytes.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(language: Language, text: &str, expect: &str) {
        let got: Vec<&str> = tokens(text, language).iter().map(|t| t.text(text)).collect();
        assert_eq!(got.join(" "), expect, "{text:?}");
    }

    #[test]
    fn strings_and_comments_are_left_out() {
        check(Language::Go, "a(\"b\\\"c\", 'd') // e\n/* f\n */ g `h\ni` 0x1F", "a ( , ) g 0x1F");
        check(Language::Go, "\"open\nnext '\\", "next");
        check(Language::Go, "/* open", "");
        check(Language::Python, "a = 'b' # c\nd = r\"e\\\"\" + b'''f\n''' g", "a = d = + g");
        check(Language::Python, "x = 'open\ny = \"\"\"open\nz", "x = y =");
        check(Language::Python, "größe", "größe");
        check(Language::Text, "a b", "");
    }

    #[test]
    fn other_languages_are_read_by_their_marks() {
        check(Language::Rust, "a::b('c', \"d\") // e\n/* f */ 'g: g!()", "a : : b ( ' c ' , ) ' g : g ! ( )");
        check(Language::TypeScript, "a('b', `c${d()}`) /* e", "a ( , $ { d ( ) } )");
        check(Language::Ruby, "a \"b\", \"c#{d}\" # e\n=begin\nf\n=end\ng", "a , # { d } g");
        check(Language::Bash, "a 'b' \"$(c)\" # d", "a $ ( c )");
        check(Language::Lua, "a() -- b\n--[[ c\n]] d", "a ( ) d");
        check(Language::Markdown, "a", "");
    }

    #[test]
    fn braces_of_formatted_strings_hold_code() {
        check(Language::Python, "f'{a!r:>{b}}c{{d}}' e", "a ! r b e");
        check(Language::Python, "f\"{f\"{x[\"k\"]}\"}\" t'''{\ny}''' u'{z}'", "x [ ] y");
        check(Language::Python, "f'{a\nb", "a b");
    }

    proptest::proptest! {
        #[test]
        fn tokens_are_in_order_and_inside(text in "([a-z0-9\"'`{}:#/*\\\\ \nü]|f'|\"\"\"){0,60}") {
            for language in [Language::Go, Language::Python] {
                let all = tokens(&text, language);
                proptest::prop_assert!(all.iter().all(|t| !t.text(&text).is_empty()));
                proptest::prop_assert!(all.windows(2).all(|w| w[0].span.end <= w[1].span.start));
            }
        }
    }
}
