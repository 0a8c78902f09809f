//! Macros that stand before a declaration or the name of a type, `class API Name` and `API int f();`: the
//! grammar takes them for types. They are blanked out for the parser, each byte at its place.

use super::super::macros::{is_attribute, is_macro};
use crate::patch::{Patch, end_of_string, find};
use crate::tokens::is_part;
use indexd_model::lists::holds;
use std::ops::Range;

/// Words that begin the declaration of a type.
const RECORDS: [&str; 4] = ["class", "struct", "union", "enum"];
/// Words that may stand before such a macro in a declaration.
const BEFORE: [&str; 8] =
    ["static", "extern", "inline", "virtual", "friend", "explicit", "constexpr", "typedef"];
/// Words that begin a type, or stand before one.
const TYPES: &str = "void bool char short int long float double signed unsigned const volatile struct \
    class union enum static inline extern virtual explicit constexpr auto size_t typename typedef";
/// Types of the language.
const PLAIN: [&str; 11] =
    ["void", "bool", "char", "short", "int", "long", "float", "double", "size_t", "auto", "unsigned"];
/// Types that are words of the grammar.
const WORDS: &str = "void bool char short int long float double signed unsigned size_t ssize_t ptrdiff_t intptr_t \
    uintptr_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t char8_t char16_t char32_t nullptr_t";
/// Words that are not a part of a declaration.
const OTHERS: [&str; 8] = ["return", "case", "else", "goto", "throw", "new", "delete", "operator"];

/// Words that begin something else than a declaration of a type.
const OUTER: [&str; 4] = ["namespace", "template", "using", "friend"];
/// Words of C++ that are names in C.
const NAMES_OF_C: &str = "this new delete class private public protected template namespace virtual export";

/// Words between values.
const BETWEEN: [&str; 6] = ["and", "or", "not", "xor", "co_return", "co_yield"];

/// Words before brackets that are not the parameters of a function.
const STATEMENTS: [&str; 7] = ["if", "while", "for", "switch", "catch", "return", "sizeof"];

/// The text for the parser; `None` where it is the source.
pub(in super::super) fn for_parser(text: &str) -> Option<String> {
    let (mut blanked, types) = blanked(text);
    blanked.extend(comments_in_macros(text));
    let mut names = names_of_c(text);
    names.extend(types);
    let (signs, words) = loose_arguments(text);
    blanked.extend(words);
    let mut out = Patch::new(text);
    signs.into_iter().for_each(|range| out.write(range.start, &b"00"[..range.len()]));
    blanked.into_iter().for_each(|range| out.blank(range));
    names.into_iter().for_each(|range| out.write(range.end - 1, b"_"));
    out.done()
}

/// A word, or a sign.
#[derive(Clone, Copy, PartialEq)]
enum Token<'t> {
    Word(&'t str),
    Sign(u8),
}

/// The places of the macros that are blanked out, and of the types that are arguments of others: `EACH("a", T, int)`.
pub(super) fn blanked(text: &str) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let (mut out, mut types) = (Vec::new(), Vec::new());
    let mut so_far = SoFar::default();
    let mut at = 0;
    while let Some((token, range)) = next(text, at) {
        at = range.end;
        match token {
            Token::Word(word) if RECORDS.contains(&word) && so_far.last != Token::Word("enum") => {
                at = before_name(text, at, &mut out);
            }
            Token::Word(word) if so_far.is_argument(text, at) && holds(WORDS, word) => types.push(range),
            Token::Word(word) if is_macro(word) || is_attribute(word) => {
                if let Some(range) = so_far.macro_at(text, &range) {
                    at = range.end;
                    out.push(range);
                    continue;
                }
            }
            _ => {}
        }
        so_far.take(token);
    }
    (out, types)
}

/// The tokens before a place, as far as they count.
struct SoFar<'t> {
    last: Token<'t>,
    before: Token<'t>,
    /// The words before the brackets that are open.
    called: Vec<Token<'t>>,
    /// For each open bracket: true if it is that of a macro without a type in front.
    is_use: Vec<bool>,
    /// The word before the brackets that were closed last.
    closed: Token<'t>,
    /// The classes: a function with the name of one is a constructor.
    classes: Vec<&'t str>,
}

impl Default for SoFar<'_> {
    fn default() -> Self {
        let none = Token::Sign(b';');
        Self {
            last: none,
            before: none,
            called: Vec::new(),
            is_use: Vec::new(),
            closed: none,
            classes: Vec::new(),
        }
    }
}

impl<'t> SoFar<'t> {
    fn take(&mut self, token: Token<'t>) {
        match token {
            Token::Sign(b'(') => {
                let is_alone = !matches!(self.before, Token::Word(_) | Token::Sign(b'*' | b'&' | b'>'));
                self.is_use.push(is_alone && matches!(self.last, Token::Word(name) if is_macro(name)));
                self.called.push(self.last);
            }
            Token::Sign(b')') => {
                self.is_use.pop();
                self.closed = self.called.pop().unwrap_or(Token::Sign(b';'));
            }
            Token::Word(name) if matches!(self.last, Token::Word("class" | "struct")) => {
                self.classes.push(name);
            }
            _ => {}
        }
        (self.before, self.last) = (self.last, token);
    }

    /// Returns true if a word that ends at `end` is a whole argument of a macro.
    fn is_argument(&self, text: &str, end: usize) -> bool {
        self.is_use.last() == Some(&true)
            && matches!(self.last, Token::Sign(b'(' | b','))
            && matches!(next(text, end), Some((Token::Sign(b',' | b')'), _)))
    }

    /// The part of a macro that is blanked out; its name is at `range`.
    fn macro_at(&self, text: &str, range: &Range<usize>) -> Option<Range<usize>> {
        let at = range.end;
        let is_parameter = matches!(self.last, Token::Sign(b'(' | b','))
            && !self.called.is_empty()
            && is_before_parameter(text, at);
        if is_parameter || begins(self.last) && is_before_declaration(text, at, &self.classes) {
            return Some(range.clone());
        }
        if !self.called.is_empty() {
            return None;
        }
        // The macro is the type of the declared name.
        let end = arguments(text, at);
        if end > at && begins(self.last) && is_before_name(text, end) {
            return Some(at..end);
        }
        if self.is_around_block(next(text, at).map(|t| t.0)) {
            return Some(range.clone());
        }
        if is_between(text, self.last, at) {
            return Some(range.clone());
        }
        self.end_of_call(text, at).map(|end| range.start..end)
    }

    /// Returns true if a macro without brackets is before a block or behind one: `{ TRY { f(); } CATCH }`.
    fn is_around_block(&self, behind: Option<Token>) -> bool {
        let is_end = matches!(self.last, Token::Sign(b';' | b'}'));
        let is_start = self.last == Token::Sign(b'{') && self.before == Token::Sign(b')');
        match behind {
            Some(Token::Sign(b'{')) => is_end || is_start,
            Some(Token::Sign(b'}')) => is_end,
            _ => false,
        }
    }

    /// The end of a macro with its arguments, before a declaration or behind a declarator.
    fn end_of_call(&self, text: &str, at: usize) -> Option<usize> {
        let end = arguments(text, at);
        let begins_one = |w: &str| OUTER.contains(&w) || RECORDS.contains(&w) || BEFORE.contains(&w);
        let is_before = |text: &str| {
            behind_macros(text, end).is_some_and(begins_one)
                || is_before_declaration(text, end, &self.classes)
        };
        if end > at && begins(self.last) && is_before(text) {
            return Some(end);
        }
        let is_behind = ends(self.before, self.last, self.closed);
        is_behind.then(|| end_behind(text, at, self.last)).flatten()
    }
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
        Token::Word(word) => word == "template" || BEFORE.contains(&word),
        Token::Sign(sign) => matches!(sign, b';' | b'}' | b'{' | b':' | b'\n' | b'>'),
    }
}

/// Whether a declarator may end with a token: a name behind a type, or the parameters of a function.
fn ends(before: Token, last: Token, closed: Token) -> bool {
    match (before, last, closed) {
        (_, Token::Sign(b')'), Token::Word(name)) => !STATEMENTS.contains(&name) && !is_macro(name),
        (Token::Word(ty), Token::Word(name), _) => {
            let is_qualifier = holds(TYPES, ty) && !PLAIN.contains(&ty);
            !is_qualifier && !BEFORE.contains(&ty) && !holds(TYPES, name) && !OTHERS.contains(&ty)
        }
        (Token::Sign(b'*' | b'&' | b'>'), Token::Word(name), _) => !holds(TYPES, name),
        _ => false,
    }
}

/// Returns true if a macro precedes a declaration that is whole without it: a type and a name, or a constructor.
fn is_before_declaration(text: &str, at: usize, classes: &[&str]) -> bool {
    let Some((Token::Word(first), range)) = next(text, at) else { return false };
    let begins_one = |word: &str| holds(TYPES, word) || OUTER.contains(&word);
    if begins_one(first) || behind_macros(text, range.start).is_some_and(begins_one) {
        return true;
    }
    let Some(head) = path(text, range.start) else { return false };
    let mut at = head.end;
    if is_sign(text, at, b'(') {
        return head.outer.map_or_else(|| classes.contains(&head.name), |outer| outer == head.name);
    }
    let mut is_pointer = false;
    loop {
        match next(text, at) {
            Some((Token::Sign(b'*' | b'&'), range)) => (is_pointer, at) = (true, range.end),
            Some((Token::Word("const"), range)) => at = range.end,
            Some((Token::Word(_), range)) => {
                let Some(name) = path(text, range.start) else { return false };
                let is_named = is_pointer && is_sign(text, name.end, b';');
                let is_end = matches!(next(text, name.end).map(|t| t.0), Some(Token::Sign(b'(' | b';')));
                let is_word = !OTHERS.contains(&head.name) && !OTHERS.contains(&name.name);
                return name.name == "operator" || is_word && is_end && !is_named;
            }
            _ => return false,
        }
    }
}

/// True for a name without arguments at `at`, as in `TAILQ_ENTRY(item) next;`.
fn is_before_name(text: &str, at: usize) -> bool {
    let Some((Token::Word(name), range)) = next(text, at) else { return false };
    let is_word = matches!(name, "break" | "continue" | "else") || OTHERS.contains(&name);
    !is_word && !is_macro(name) && is_sign(text, range.end, b';')
}

/// Returns true if a macro before `at` is between the type that ends with `last` and the name of a function.
fn is_between(text: &str, last: Token, at: usize) -> bool {
    let is_type = match last {
        Token::Word(word) => !OTHERS.contains(&word) && !BEFORE.contains(&word) && !is_macro(word),
        Token::Sign(sign) => matches!(sign, b'*' | b'&' | b'>'),
    };
    is_type && path(text, at).is_some_and(|p| !OTHERS.contains(&p.name) && is_sign(text, p.end, b'('))
}

/// The word behind the macros at `at`, if there are any, and their arguments.
fn behind_macros(text: &str, mut at: usize) -> Option<&str> {
    loop {
        let (Token::Word(word), range) = next(text, at)? else { return None };
        if !is_macro(word) {
            return Some(word);
        }
        at = arguments(text, range.end);
    }
}

/// Returns true if a macro precedes a parameter that is whole without it: a type and a name.
fn is_before_parameter(text: &str, mut at: usize) -> bool {
    while let Some((Token::Word("const" | "volatile"), range)) = next(text, at) {
        at = range.end;
    }
    let Some((Token::Word(first), _)) = next(text, at) else { return false };
    let Some(head) = path(text, at).filter(|p| !OTHERS.contains(&p.name)) else { return false };
    at = head.end;
    loop {
        match next(text, at) {
            Some((Token::Sign(b'*' | b'&') | Token::Word("const"), range)) => at = range.end,
            Some((Token::Word(_), range)) => {
                let behind = next(text, range.end).map(|t| t.0);
                return holds(TYPES, first) || matches!(behind, Some(Token::Sign(b',' | b')' | b'=' | b'[')));
            }
            _ => return false,
        }
    }
}

/// `a::b<T>::c`: its last names and where it ends.
struct Path<'t> {
    outer: Option<&'t str>,
    name: &'t str,
    end: usize,
}

fn path(text: &str, at: usize) -> Option<Path<'_>> {
    let (Token::Word(name), range) = next(text, at)? else { return None };
    let mut out = Path { outer: None, name, end: range.end };
    loop {
        out.end = template_arguments(text, out.end);
        let Some((Token::Sign(b'.'), scope)) = next(text, out.end) else { return Some(out) };
        let tilde = next(text, scope.end).filter(|t| t.0 == Token::Sign(b'~'));
        let (Token::Word(name), range) = next(text, tilde.map_or(scope.end, |t| t.1.end))? else {
            return None;
        };
        out = Path { outer: Some(out.name), name, end: range.end };
    }
}

/// Behind the arguments of a template at `at`, if there are any.
fn template_arguments(text: &str, at: usize) -> usize {
    if !is_sign(text, at, b'<') {
        return at;
    }
    let mut depth = 0;
    for (n, byte) in text.as_bytes()[at..].iter().take(300).enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' => depth -= 1,
            b';' | b'{' | b'}' => return at,
            _ => continue,
        }
        if depth == 0 {
            return at + n + 1;
        }
    }
    at
}

fn is_sign(text: &str, at: usize, sign: u8) -> bool {
    next(text, at).is_some_and(|t| t.0 == Token::Sign(sign))
}

/// The places of words of C++ that the text declares as names, as C may: `int new;`, `void f(T *this)`.
fn names_of_c(text: &str) -> Vec<Range<usize>> {
    let mut found: Vec<(&str, Range<usize>)> = Vec::new();
    let mut declared: Vec<&str> = Vec::new();
    let (mut ty, mut last) = (None, Token::Sign(b';'));
    let mut at = 0;
    while let Some((token, range)) = next(text, at) {
        at = range.end;
        match token {
            Token::Word(word) if holds(NAMES_OF_C, word) => {
                let behind = next(text, at).map(|t| t.0);
                if ty.is_some() && matches!(behind, Some(Token::Sign(b',' | b')' | b';' | b'=' | b'['))) {
                    declared.push(word);
                }
                found.push((word, range));
                ty = None;
            }
            Token::Word(word) => ty = (!OTHERS.contains(&word) && !BETWEEN.contains(&word)).then_some(word),
            Token::Sign(b'*') if matches!(last, Token::Word(_) | Token::Sign(b'*')) => {}
            Token::Sign(_) => ty = None,
        }
        last = token;
    }
    found.retain(|(word, _)| declared.contains(word));
    found.into_iter().map(|(_, range)| range).collect()
}

/// Arguments that only macros take: the places of single signs, `check(a, ==, b)`, and those of the word
/// before the name of a type, `container_of(p, struct t, m)`.
fn loose_arguments(text: &str) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let (mut signs, mut words) = (Vec::new(), Vec::new());
    for (comma, _) in text.match_indices(',') {
        let rest = &text[comma + 1..];
        let start = text.len() - rest.trim_start_matches([' ', '\t']).len();
        let sign = text[start..].len() - text[start..].trim_start_matches(['=', '!', '<', '>']).len();
        let is_end = |at: usize, ends: &[char]| text[at..].trim_start_matches([' ', '\t']).starts_with(ends);
        if (1..=2).contains(&sign) && is_end(start + sign, &[',']) {
            signs.push(start..start + sign);
        }
        if let Some((Token::Word("struct" | "union"), word)) = next(text, start)
            && word.start == start
            && let Some((Token::Word(_), name)) = next(text, word.end)
            && is_end(name.end, &[',', ')'])
        {
            words.push(word);
        }
    }
    (signs, words)
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
    let behind = |from: usize, mark: &[u8]| find(bytes, from, mark) + mark.len();
    loop {
        let byte = *bytes.get(at)?;
        match byte {
            b'/' if bytes.get(at + 1) == Some(&b'/') => at = behind(at, b"\n"),
            b'/' if bytes.get(at + 1) == Some(&b'*') => at = behind(at + 2, b"*/"),
            b'"' | b'\'' => {
                let end = end_of_string(bytes, at, byte);
                return Some((Token::Sign(byte), at..end));
            }
            b'#' => {
                let end = end_of_directive(text, at, &mut |_| {});
                return Some((Token::Sign(b'\n'), at..end));
            }
            b if b.is_ascii_whitespace() => at += 1,
            b if is_part(b) => {
                let end = at + bytes[at..].iter().take_while(|b| is_part(**b)).count();
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
                let end = (find(bytes, at + 2, b"*/") + 2).min(bytes.len());
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
    let (mut out, mut end) = (Vec::new(), 0);
    for at in memchr::memmem::find_iter(text.as_bytes(), b"define") {
        let before = text[end.min(at)..at].trim_end_matches([' ', '\t']);
        // The text of a macro may name the directive, and is not another one.
        if at < end || !before.ends_with('#') {
            continue;
        }
        let mut comments = Vec::new();
        end = end_of_directive(text, at, &mut |c| comments.push(c));
        let goes_on = |c: &Range<usize>| text[c.end..end].contains("\\\n") && !text[c.clone()].contains('\n');
        out.extend(comments.into_iter().filter(|c| goes_on(c)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{blanked, for_parser};

    fn check(text: &str, expect: &[&str]) {
        let got: Vec<&str> = blanked(text).0.into_iter().map(|r| &text[r]).collect();
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
        check("void f() { ABC { g(); } ABC_END }", &["ABC", "ABC_END"]);
        check("int a[] = { ABC { 1 }, ABC }; enum { A = 1, ABC };", &[]);
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
        check("struct s { ABC_ENTRY(s) next; };", &["(s)"]);
        check("{ ABC(x) break; }", &[]);
        check("{ ABC(x) y = 1; }", &[]);
        check("void g() { if (a) ABC(x); while (b) ABC; }", &[]);
        check("T ABC(x);", &[]);
        check("ABC f(int a);", &[]);
        check("ABC * f(int a);", &[]);
        check("ABC N::f(int a) { }", &[]);
        check("x = ABC * y;", &[]);
        check("f(\"; ABC int x\");", &[]);
        check("{ ABC(x) return y; }", &[]);
    }

    #[test]
    fn a_macro_before_names_with_scopes_and_before_constructors_is_blanked_out() {
        check("ABC_IN a::b<c> f(int x) { }", &["ABC_IN"]);
        check("ABC_IN a::b<c, d> *e::f(int x) { }", &["ABC_IN"]);
        check("ABC_IN n::Q::Q(int x) : y(x) { }", &["ABC_IN"]);
        check("ABC_IN Q<T>::~Q() { }", &["ABC_IN"]);
        check("ABC_IN Q &Q::operator=(Q other) { }", &["ABC_IN"]);
        check("class Q { ABC_IN Q(int x) : y(x) { } };", &["ABC_IN"]);
        check("ABC_BEGIN namespace n { }", &["ABC_BEGIN"]);
        check("ABC(1) ABC_D(2) namespace n { }", &["ABC(1)", "ABC_D(2)"]);
        check("ABC\nABC_D(2)\nnamespace n { }", &["ABC", "ABC_D(2)"]);
        check("ABC(1)\nstatic int x;", &["ABC(1)"]);
        check("int ABC_CALL f(int a);", &["ABC_CALL"]);
        check("T *ABC_CALL n::f(int a) { if (a) return ABC; else ABC f(a); }", &["ABC_CALL"]);
        check("ABC(1) T f(int x);", &["ABC(1)"]);
        check("extern template ABC(1) T f(a<int>);", &["ABC(1)"]);
        check("ABC N::Q(int x) { }", &[]);
        check("ABC R<T>::f(int x) { }", &[]);
        check("ABC(1); a::b c(2);", &[]);
    }

    #[test]
    fn a_macro_before_a_parameter_is_blanked_out() {
        check("void f(ABC_U T *x, ABC_U const T *y);", &["ABC_U", "ABC_U"]);
        check("void f(ABC_U unsigned int x) { }", &["ABC_U"]);
        check("void f(ABC_U n::T<U> &x = d);", &["ABC_U"]);
        check("void f(__unused int fd, __unused T *t)", &["__unused", "__unused"]);
        check("static int __init f(void) { }", &["__init"]);
        check("__dead void f(void);", &["__dead"]);
        check("void f(__u32 x, __extension__ long y) { __builtin_trap(); }", &[]);
        check("void f(ABC x, ABC const y, ABC *z, ABC const *w);", &[]);
        check("int g() { return f(ABC, x * y) + h(ABC * x); }", &[]);
    }

    #[test]
    fn arguments_that_only_macros_take_are_values_for_the_parser() {
        let parsed = |text: &str| for_parser(text).unwrap_or_else(|| text.to_owned());
        assert_eq!(parsed("check(a, ==, f(b, >, 1));"), "check(a, 00, f(b, 0, 1));");
        assert_eq!(parsed("container_of(p, struct t, m)"), "container_of(p,        t, m)");
        assert_eq!(parsed("; EACH(T, int8_t, int) { }"), "; EACH(T, int8__, in_) { }");
        for text in ["int EACH(int, char);", "f(int, char);", "EACH(a, (int) b);", "a = f(EACH, int);"] {
            assert_eq!(for_parser(text), None, "{text}");
        }
        for text in ["f(a, *b, -c, !d, &e);", "int f(int a, struct t *b);", "f(a, (struct t){ 0 });"] {
            assert_eq!(for_parser(text), None, "{text}");
        }
    }

    #[test]
    fn words_of_cpp_that_c_takes_for_names_are_not_words_for_the_parser() {
        let parsed = |text: &str| for_parser(text).unwrap_or_else(|| text.to_owned());
        assert_eq!(parsed("int f(T *this) { return this->a; }"), "int f(T *thi_) { return thi_->a; }");
        assert_eq!(parsed("struct s { T **delete; int new; };"), "struct s { T **delet_; int ne_; };");
        for text in [
            "T *f() { delete this; return this; }",
            "void f() { g(*this, a == this); if (a and this) return; }",
            "struct s { s(s &) = delete; void *operator new(size_t); };",
            "struct s { bool operator==(s); s &operator=(s); int operator[](int) = 0; };",
            "class A; template <class T> class B { public: T *t; };",
        ] {
            assert_eq!(for_parser(text), None, "{text}");
        }
    }
}
