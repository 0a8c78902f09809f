//! Macros that stand before a declaration or the name of a type, `class API Name` and `API int f();`: the
//! grammar takes them for types. They are blanked out for the parser, each byte at its place.

use super::super::macros::is_macro;
use std::ops::Range;

/// Words that begin the declaration of a type.
const RECORDS: [&str; 4] = ["class", "struct", "union", "enum"];
/// Words that may stand before such a macro in a declaration.
const BEFORE: [&str; 8] =
    ["static", "extern", "inline", "virtual", "friend", "explicit", "constexpr", "typedef"];
/// Words that begin a type, or stand before one.
const TYPES: [&str; 26] = [
    "void",
    "bool",
    "char",
    "short",
    "int",
    "long",
    "float",
    "double",
    "signed",
    "unsigned",
    "const",
    "volatile",
    "struct",
    "class",
    "union",
    "enum",
    "static",
    "inline",
    "extern",
    "virtual",
    "explicit",
    "constexpr",
    "auto",
    "size_t",
    "typename",
    "typedef",
];
/// Types of the language.
const PLAIN: [&str; 11] =
    ["void", "bool", "char", "short", "int", "long", "float", "double", "size_t", "auto", "unsigned"];
/// Words that are not a part of a declaration.
const OTHERS: [&str; 8] = ["return", "case", "else", "goto", "throw", "new", "delete", "operator"];

/// Words before brackets that are not the parameters of a function.
const STATEMENTS: [&str; 7] = ["if", "while", "for", "switch", "catch", "return", "sizeof"];

/// The text for the parser; `None` where it is the source.
pub(in super::super) fn for_parser(text: &str) -> Option<String> {
    let mut blanked = blanked(text);
    blanked.extend(comments_in_macros(text));
    if blanked.is_empty() {
        return None;
    }
    let mut out = text.as_bytes().to_vec();
    for range in blanked {
        out[range].iter_mut().filter(|b| !b.is_ascii_whitespace()).for_each(|b| *b = b' ');
    }
    // Whole words are written over.
    String::from_utf8(out).ok()
}

/// A word, or a sign.
#[derive(Clone, Copy, PartialEq)]
enum Token<'t> {
    Word(&'t str),
    Sign(u8),
}

/// Where the macros stand that are blanked out.
pub(super) fn blanked(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut last = Token::Sign(b';');
    let mut before = Token::Sign(b';');
    // The words before the brackets that are open.
    let mut called: Vec<Token> = Vec::new();
    let mut closed = Token::Sign(b';');
    let mut at = 0;
    while let Some((token, range)) = next(text, at) {
        at = range.end;
        match token {
            Token::Sign(b'(') => called.push(last),
            Token::Sign(b')') => closed = called.pop().unwrap_or(Token::Sign(b';')),
            _ => {}
        }
        if let Token::Word(word) = token {
            if RECORDS.contains(&word) && last != Token::Word("enum") {
                at = before_name(text, at, &mut out);
            } else if is_macro(word) && begins(last) && is_before_type(text, at) {
                out.push(range);
                continue;
            } else if is_macro(word)
                && called.is_empty()
                && ends(before, last, closed)
                && let Some(end) = end_behind(text, at, last)
            {
                out.push(range.start..end);
                at = end;
                continue;
            }
        }
        (before, last) = (last, token);
    }
    out
}

/// Where a macro behind a declarator ends, with its arguments; without any it stands behind parameters alone.
fn end_behind(text: &str, at: usize, last: Token) -> Option<usize> {
    let end = arguments(text, at);
    let behind = next(text, end).map(|t| t.0);
    let is_end = match behind {
        Some(Token::Sign(b';' | b'=' | b'{' | b':')) => true,
        Some(Token::Word(other)) => is_macro(other) && end > at,
        _ => false,
    };
    let is_whole = end > at || last == Token::Sign(b')') && behind != Some(Token::Sign(b'='));
    (is_end && is_whole).then_some(end)
}

/// Whether a declaration may begin behind a token.
fn begins(last: Token) -> bool {
    match last {
        Token::Word(word) => BEFORE.contains(&word),
        Token::Sign(sign) => matches!(sign, b';' | b'}' | b'{' | b':' | b'\n' | b'>'),
    }
}

/// Whether a declarator may end with a token: a name behind a type, or the parameters of a function.
fn ends(before: Token, last: Token, closed: Token) -> bool {
    match (before, last, closed) {
        (_, Token::Sign(b')'), Token::Word(name)) => !STATEMENTS.contains(&name) && !is_macro(name),
        (Token::Word(ty), Token::Word(name), _) => {
            let is_qualifier = TYPES.contains(&ty) && !PLAIN.contains(&ty);
            !is_qualifier && !BEFORE.contains(&ty) && !TYPES.contains(&name) && !OTHERS.contains(&ty)
        }
        (Token::Sign(b'*' | b'&' | b'>'), Token::Word(name), _) => !TYPES.contains(&name),
        _ => false,
    }
}

/// Whether a type and a name stand behind a macro.
fn is_before_type(text: &str, at: usize) -> bool {
    let Some((Token::Word(first), range)) = next(text, at) else { return false };
    if TYPES.contains(&first) {
        return true;
    }
    let mut is_pointer = false;
    let mut at = range.end;
    loop {
        match next(text, at) {
            Some((Token::Sign(b'*' | b'&'), range)) => (is_pointer, at) = (true, range.end),
            Some((Token::Word(name), range)) => {
                let behind = next(text, range.end).map(|t| t.0);
                let is_called = behind == Some(Token::Sign(b'('));
                let is_word = !OTHERS.contains(&first) && !OTHERS.contains(&name);
                return is_word && (is_called || !is_pointer && behind == Some(Token::Sign(b';')));
            }
            _ => return false,
        }
    }
}

/// Notes the macros between the word for a type and its name, where a body or bases follow; where to go on.
fn before_name(text: &str, mut at: usize, out: &mut Vec<Range<usize>>) -> usize {
    let from = at;
    let mut macros = Vec::new();
    loop {
        match next(text, at) {
            Some((Token::Word("final"), _)) => break,
            Some((Token::Word("class" | "struct"), range)) => at = range.end,
            Some((Token::Word(word), range)) if is_macro(word) => {
                at = arguments(text, range.end);
                macros.push(range.start..at);
            }
            Some((Token::Word(_), range)) if !macros.is_empty() => {
                let behind = next(text, range.end).map(|t| t.0);
                if !matches!(behind, Some(Token::Sign(b'{' | b':' | b';') | Token::Word("final"))) {
                    macros.clear();
                }
                out.append(&mut macros);
                return at;
            }
            Some((Token::Sign(b'{' | b':'), _)) => break,
            _ => return from,
        }
    }
    // The last one is the name.
    macros.pop();
    out.append(&mut macros);
    at
}

/// Behind the brackets at `at`, if there are any.
fn arguments(text: &str, at: usize) -> usize {
    let Some((Token::Sign(b'('), range)) = next(text, at) else { return at };
    let mut depth = 1;
    for (n, byte) in text.as_bytes()[range.end..].iter().take(300).enumerate() {
        depth += i32::from(*byte == b'(') - i32::from(*byte == b')');
        if depth == 0 {
            return range.end + n + 1;
        }
    }
    at
}

/// The next token from `at` on: comments and strings are passed over, a directive counts as the end of a line.
fn next(text: &str, mut at: usize) -> Option<(Token<'_>, Range<usize>)> {
    let bytes = text.as_bytes();
    let find = |from: usize, what: &str| {
        let rest = bytes.get(from..).unwrap_or_default();
        memchr::memmem::find(rest, what.as_bytes()).map_or(bytes.len(), |n| from + n + what.len())
    };
    loop {
        let byte = *bytes.get(at)?;
        match byte {
            b'/' if bytes.get(at + 1) == Some(&b'/') => at = find(at, "\n"),
            b'/' if bytes.get(at + 1) == Some(&b'*') => at = find(at + 2, "*/"),
            b'"' | b'\'' => {
                let end = end_of_string(bytes, at, byte);
                return Some((Token::Sign(byte), at..end));
            }
            b'#' => {
                let end = end_of_directive(text, at, &mut |_| {});
                return Some((Token::Sign(b'\n'), at..end));
            }
            b if b.is_ascii_whitespace() => at += 1,
            b if b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80 => {
                let is_part = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_' || *b >= 0x80;
                let end = at + bytes[at..].iter().take_while(|b| is_part(b)).count();
                return Some((Token::Word(text.get(at..end)?), at..end));
            }
            b':' if bytes.get(at + 1) == Some(&b':') => return Some((Token::Sign(b'.'), at..at + 2)),
            sign => return Some((Token::Sign(sign), at..at + 1)),
        }
    }
}

/// Behind the line of a directive and those that go on with it; `comment` gets the comments in it.
fn end_of_directive(text: &str, start: usize, comment: &mut dyn FnMut(Range<usize>)) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    while let Some(&byte) = bytes.get(at) {
        match (byte, bytes.get(at + 1)) {
            (b'/', Some(b'*')) => {
                let rest = &bytes[at + 2..];
                let end = memchr::memmem::find(rest, b"*/").map_or(bytes.len(), |n| at + n + 4);
                comment(at..end);
                at = end;
            }
            (b'"' | b'\'', _) => at = end_of_string(bytes, at, byte),
            (b'\\', Some(b'\r')) => at += 3,
            (b'\\', Some(_)) => at += 2,
            (b'\n', _) => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Comments within the bodies of macros of several lines: the grammar takes the rest of such a body for code.
fn comments_in_macros(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    for at in memchr::memmem::find_iter(text.as_bytes(), b"define") {
        let before = text[..at].trim_end_matches([' ', '\t']);
        if !before.ends_with('#') {
            continue;
        }
        let mut comments = Vec::new();
        let end = end_of_directive(text, at, &mut |c| comments.push(c));
        let goes_on = |c: &Range<usize>| text[c.end..end].contains("\\\n") && !text[c.clone()].contains('\n');
        out.extend(comments.into_iter().filter(|c| goes_on(c)));
    }
    out
}

fn end_of_string(bytes: &[u8], start: usize, quote: u8) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'\n' => return at,
            b if b == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::{blanked, for_parser};

    fn check(text: &str, expect: &[&str]) {
        let got: Vec<&str> = blanked(text).into_iter().map(|r| &text[r]).collect();
        assert_eq!(got, expect, "{text}");
        assert_eq!(for_parser(text).map_or(text.len(), |t| t.len()), text.len());
    }

    #[test]
    fn macros_before_names_of_types_and_before_declarations_are_blanked_out() {
        check("class API Q : public B { };", &["API"]);
        check("class API_2 Q final { };", &["API_2"]);
        check("struct ALIGN(8) Q { };", &["ALIGN(8)"]);
        check("enum class API_2 E : int { A };", &["API_2"]);
        check("class API Q;", &["API"]);
        check("class ABC { };", &[]);
        check("class ABC final : D { };", &[]);
        check("struct ABC x = { 1 };", &[]);
        check("struct ABC *f(int a) { }", &[]);
        check("ABC int f(int a);", &["ABC"]);
        check("static ABC_INLINE T *f(void) { }", &["ABC_INLINE"]);
        check("extern ABC T t;", &["ABC"]);
        check("/* a */ ABC const T f();", &["ABC"]);
        check("#define A \\\n int x\nABC void f();", &["ABC"]);
        check("T* x GUARDED_BY(m);", &["GUARDED_BY(m)"]);
        check("int x ALIGNED(8) = 1;", &["ALIGNED(8)"]);
        check("const T ABC(x);", &[]);
        check("unsigned int ABC(x);", &[]);
        check("#define A(x) \\\n f(x); /* b */ \\\n g(x)\nABC int h();", &["ABC"]);
        check("#define A 1 /* ABC int\n ABC int */\nint h();", &[]);
        check("T x PTR(a) GUARDED_BY(m);", &["PTR(a)", "GUARDED_BY(m)"]);
        check("void f(int a) REQUIRES(m) { }", &["REQUIRES(m)"]);
        check("void f() ABC;", &["ABC"]);
        check("void g() { if (a) ABC(x); while (b) ABC; }", &[]);
        check("T ABC(x);", &[]);
        check("ABC f(int a);", &[]);
        check("ABC * f(int a);", &[]);
        check("ABC N::f(int a) { }", &[]);
        check("x = ABC * y;", &[]);
        check("f(\"; ABC int x\");", &[]);
        check("{ ABC(x) return y; }", &[]);
    }
}
