//! Small parsers of source text: the name before a dot, the arguments of a call, string literals.

/// Bytes of a call's arguments that are read.
const CALL_BYTES_MAX: usize = 2_000;
/// Arguments of a call that are read.
const ARGUMENTS_MAX: usize = 8;

/// Returns true if a byte may be part of an identifier.
pub fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b >= 0x80
}

/// The identifier that begins at `at`.
pub fn word(text: &str, at: usize) -> &str {
    let rest = text.get(at..).unwrap_or_default();
    let end = rest.bytes().position(|b| !is_word(b)).unwrap_or(rest.len());
    &rest[..end]
}

/// The qualifier of the identifier at `at`: the dotted names before it (`os.path` of `os.path.exists`, empty
/// without any), or `None` where it is a member of something else, as of a call.
pub fn qualifier(text: &str, at: usize) -> Option<&str> {
    let before = text.get(..at)?;
    let Some(chain) = before.strip_suffix('.') else { return Some("") };
    let start = chain.bytes().rposition(|b| !is_word(b) && b != b'.').map_or(0, |i| i + 1);
    let chain = &chain[start..];
    (!chain.is_empty() && !chain.starts_with('.')).then_some(chain)
}

/// The arguments of the call of the identifier at `at`, as written; `None` if it is not called.
pub fn arguments(text: &str, at: usize) -> Option<Vec<&str>> {
    let mut i = at + word(text, at).len();
    let bytes = text.as_bytes();
    if bytes.get(i) == Some(&b'[') {
        i += text.get(i..)?.find(']')? + 1;
    }
    if bytes.get(i) != Some(&b'(') {
        return None;
    }
    Some(parts(text, i + 1))
}

/// The parts separated by commas from `from` on, up to the closing bracket.
pub fn parts(text: &str, from: usize) -> Vec<&str> {
    let bytes = text.as_bytes();
    let end = bytes.len().min(from + CALL_BYTES_MAX);
    let (mut out, mut start, mut depth, mut i) = (Vec::new(), from, 0, from);
    while i < end && out.len() < ARGUMENTS_MAX {
        match bytes[i] {
            b'"' | b'\'' | b'`' => {
                i = string_end(text, i);
                continue;
            }
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' if depth == 0 => break,
            b')' | b']' | b'}' => depth -= 1,
            b',' if depth == 0 => {
                out.push(text.get(start..i).unwrap_or_default().trim());
                start = i + 1;
            }
            _ => {}
        }
        i += 1;
    }
    let last = text.get(start..i.min(end)).unwrap_or_default().trim();
    if !last.is_empty() {
        out.push(last);
    }
    out
}

/// The offset after the string literal that begins at `at`, or after its first line if it does not end on
/// it.
fn string_end(text: &str, at: usize) -> usize {
    let bytes = text.as_bytes();
    let quote = bytes[at];
    let triple = [quote; 3];
    if quote != b'`' && bytes[at..].starts_with(&triple) {
        let rest = &bytes[at + 3..];
        let length = rest.windows(3).position(|w| w == triple).map_or(rest.len(), |i| i + 3);
        return at + 3 + length;
    }
    let mut i = at + 1;
    while i < bytes.len() {
        match bytes[i] {
            b'\\' if quote != b'`' => i += 1,
            b'\n' if quote != b'`' => return i,
            b if b == quote => return i + 1,
            _ => {}
        }
        i += 1;
    }
    bytes.len()
}

/// The content of an expression that is one string literal without escapes.
pub fn literal(expression: &str) -> Option<&str> {
    let body = expression.trim_start_matches(['r', 'b', 'u', 'f', 'R', 'B', 'U', 'F']);
    let quote = body.bytes().next().filter(|b| matches!(b, b'"' | b'\'' | b'`'))?;
    let inner = body.strip_prefix(quote as char)?.strip_suffix(quote as char)?;
    let is_plain = !inner.is_empty() && !inner.bytes().any(|b| b == quote || b == b'\\' || b == b'\n');
    is_plain.then_some(inner)
}

/// The content of an expression that is one string literal, of several lines too.
pub fn literal_lines(expression: &str) -> Option<&str> {
    let quote = expression.chars().next().filter(|c| matches!(c, '"' | '\'' | '`'))?;
    let inner = expression.trim_start_matches(quote).trim_end_matches(quote);
    (!inner.is_empty() && !inner.contains(quote)).then_some(inner)
}

/// Returns true if a text can be the name of a setting: words with the marks that such names have.
pub fn is_key(name: &str) -> bool {
    name.len() <= 100
        && name.bytes().any(|b| b.is_ascii_alphanumeric())
        && name.bytes().all(|b| is_word(b) || matches!(b, b'-' | b'.' | b'/' | b':'))
}

/// Returns true if a name is written in capitals, as settings and variables of the environment are.
pub fn is_capitals(name: &str) -> bool {
    name.len() > 1
        && name.bytes().next().is_some_and(|b| b.is_ascii_uppercase())
        && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_')
}

/// Offsets at which a word occurs in a text as a whole word.
pub fn words<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let bytes = text.as_bytes();
    text.match_indices(word).map(|(at, _)| at).filter(move |&at| {
        let is_free = |i: Option<&u8>| i.is_none_or(|b| !is_word(*b));
        is_free(at.checked_sub(1).and_then(|i| bytes.get(i))) && is_free(bytes.get(at + word.len()))
    })
}

/// Returns true if the text at `at` follows the mark of a comment on its line. A mark inside a string
/// counts, too: this hides at most one line of a map.
pub fn in_comment(text: &str, at: usize, mark: &str) -> bool {
    let mark = mark.trim_end();
    let start = text[..at].rfind('\n').map_or(0, |i| i + 1);
    !mark.is_empty() && text[start..at].contains(mark) || text[start..at].trim_start().starts_with('*')
}

/// The 1-based line of an offset.
pub fn line_of(text: &str, at: usize) -> u32 {
    text.as_bytes()[..at].iter().filter(|&&b| b == b'\n').count() as u32 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_split_at_their_own_commas() {
        for (text, expect) in [
            ("f()", Some(vec![])),
            ("f(a, \"b, c\", g(1, 2))", Some(vec!["a", "\"b, c\"", "g(1, 2)"])),
            ("f[int](\"x\",)", Some(vec!["\"x\""])),
            ("f('''a,\nb''', 2)", Some(vec!["'''a,\nb'''", "2"])),
            ("f(`a)`, b", Some(vec!["`a)`", "b"])),
            ("f.x", None),
        ] {
            assert_eq!(arguments(text, 0), expect, "{text}");
        }
    }

    #[test]
    fn qualifiers_are_dotted_names() {
        for (text, name, expect) in [
            ("os.path.exists(x)", "exists", Some("os.path")),
            ("exists(x)", "exists", Some("")),
            ("f().exists(x)", "exists", None),
            ("a[0].exists(x)", "exists", None),
            ("(os.exists", "exists", Some("os")),
        ] {
            assert_eq!(qualifier(text, text.find(name).unwrap()), expect, "{text}");
        }
    }

    #[test]
    fn literals_are_plain_strings() {
        for (text, expect) in [
            ("\"a\"", Some("a")),
            ("r'a-b'", Some("a-b")),
            ("`x`", Some("x")),
            ("\"\"", None),
            ("\"a\" + \"b\"", None),
            ("name", None),
        ] {
            assert_eq!(literal(text), expect, "{text}");
        }
    }
}
