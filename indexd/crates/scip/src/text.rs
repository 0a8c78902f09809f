//! Places in a text: byte spans here, lines and columns in some encoding in SCIP.

use indexd_model::{LineIndex, Span};

/// The unit in which a document counts its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units.
    Utf16,
    /// Code points.
    Utf32,
}

impl Encoding {
    /// All units, the most likely of an undeclared one first.
    pub const ALL: [Self; 3] = [Self::Utf8, Self::Utf16, Self::Utf32];

    fn width(self, c: char) -> usize {
        match self {
            Self::Utf8 => c.len_utf8(),
            Self::Utf16 => c.len_utf16(),
            Self::Utf32 => 1,
        }
    }
}

/// Half-open range of 0-based lines and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Range {
    /// Line of the first character.
    pub start_line: u32,
    /// Column of the first character.
    pub start_column: u32,
    /// Line of the end.
    pub end_line: u32,
    /// Column after the last character.
    pub end_column: u32,
}

/// A text with its lines.
pub struct Text<'t> {
    /// The whole text.
    pub text: &'t str,
    lines: LineIndex,
}

impl<'t> Text<'t> {
    /// Finds the lines of `text`.
    pub fn new(text: &'t str) -> Self {
        Self { text, lines: LineIndex::new(text) }
    }

    /// The bytes of a range; `None` when it ends before it starts, leaves the text or its lines, or
    /// splits a character.
    pub fn span(&self, range: Range, encoding: Encoding) -> Option<Span> {
        let start = self.offset(range.start_line, range.start_column, encoding)?;
        let end = self.offset(range.end_line, range.end_column, encoding)?;
        (start <= end).then(|| Span::new(start, end))
    }

    fn offset(&self, line: u32, column: u32, encoding: Encoding) -> Option<u32> {
        if line >= self.lines.count() {
            return None;
        }
        let span = self.lines.span(line + 1);
        let text = &self.text[span.range()];
        let column = column as usize;
        if encoding == Encoding::Utf8 || text.is_ascii() {
            return text.is_char_boundary(column).then(|| span.start + column as u32);
        }
        let mut seen = 0;
        for (at, c) in text.char_indices() {
            if seen >= column {
                return (seen == column).then(|| span.start + at as u32);
            }
            seen += encoding.width(c);
        }
        (seen == column).then_some(span.end)
    }

    /// The range of some bytes, columns counted in bytes.
    pub fn range(&self, span: Span) -> Range {
        let (start, end) = (self.lines.line(span.start), self.lines.line(span.end));
        Range {
            start_line: start - 1,
            start_column: span.start - self.lines.start(start),
            end_line: end - 1,
            end_column: span.end - self.lines.start(end),
        }
    }

    /// The bytes of a span; empty when it leaves the text or splits a character.
    pub fn get(&self, span: Span) -> &'t str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// The identifier that starts at byte `at`; empty when there is none.
    pub fn identifier(&self, at: u32) -> Span {
        let rest = self.text.get(at as usize..).unwrap_or("");
        let len = match rest.chars().next() {
            Some(c) if is_identifier_start(c) => {
                rest.find(|c| !is_identifier_part(c)).unwrap_or(rest.len()) as u32
            }
            _ => 0,
        };
        Span::new(at, at + len)
    }
}

/// Returns true if a text is one identifier of Go or Python.
pub fn is_identifier(text: &str) -> bool {
    text.starts_with(is_identifier_start) && text.chars().all(is_identifier_part)
}

fn is_identifier_start(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

fn is_identifier_part(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(r: [u32; 4]) -> Range {
        Range { start_line: r[0], start_column: r[1], end_line: r[2], end_column: r[3] }
    }

    #[test]
    fn columns_count_in_the_units_of_the_encoding() {
        let text = Text::new("a = 1\n\u{1f600} = \u{e9}t\u{e9}\nlast");
        for (encoding, r, expect) in [
            (Encoding::Utf8, [1, 7, 1, 12], Some("\u{e9}t\u{e9}")),
            (Encoding::Utf16, [1, 5, 1, 8], Some("\u{e9}t\u{e9}")),
            (Encoding::Utf32, [1, 4, 1, 7], Some("\u{e9}t\u{e9}")),
            (Encoding::Utf32, [0, 0, 0, 1], Some("a")),
            (Encoding::Utf16, [0, 4, 1, 2], Some("1\n\u{1f600}")),
            (Encoding::Utf16, [1, 5, 1, 9], Some("\u{e9}t\u{e9}\n")),
            (Encoding::Utf16, [1, 1, 1, 8], None),
            (Encoding::Utf8, [1, 8, 1, 12], None),
            (Encoding::Utf8, [0, 5, 0, 4], None),
            (Encoding::Utf8, [0, 0, 0, 7], None),
            (Encoding::Utf32, [1, 0, 1, 9], None),
            (Encoding::Utf8, [3, 0, 3, 0], None),
            (Encoding::Utf8, [2, 0, 2, 4], Some("last")),
        ] {
            let got = text.span(range(r), encoding).map(|s| text.get(s));
            assert_eq!(got, expect, "{encoding:?} {r:?}");
        }
    }

    #[test]
    fn spans_come_back_as_ranges() {
        let text = Text::new("ab\n\u{e9} cd\n");
        for (span, r) in [((0, 2), [0, 0, 0, 2]), ((6, 8), [1, 3, 1, 5]), ((1, 5), [0, 1, 1, 2])] {
            assert_eq!(text.range(Span::new(span.0, span.1)), range(r), "{span:?}");
        }
        assert_eq!(text.span(text.range(Span::new(6, 8)), Encoding::Utf8), Some(Span::new(6, 8)));
    }

    #[test]
    fn identifiers_are_those_of_go_and_python() {
        let text = Text::new("x.\u{e9}t\u{e9}_1(2)");
        let name = |at| text.get(text.identifier(at));
        assert_eq!((name(0), name(2), name(8), name(9), name(99)), ("x", "\u{e9}t\u{e9}_1", "", "", ""));
        for (word, expect) in
            [("a1", true), ("_", true), ("1a", false), ("a b", false), ("", false), ("a.b", false)]
        {
            assert_eq!(is_identifier(word), expect, "{word:?}");
        }
    }
}
