//! Places in a file: half-open byte ranges inside, 1-based lines and UTF-16 offsets at the boundary.

/// Half-open byte range `[start, end)` of a file.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, bitcode::Encode, bitcode::Decode,
)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Makes a span; `start <= end`.
    pub fn new(start: u32, end: u32) -> Self {
        debug_assert!(start <= end);
        Self { start, end }
    }

    /// Length in bytes.
    pub fn len(self) -> u32 {
        self.end - self.start
    }

    /// Returns true if the span holds no byte.
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// Returns true if `offset` is inside.
    pub fn holds(self, offset: u32) -> bool {
        self.start <= offset && offset < self.end
    }

    /// Returns true if `other` is inside or equal.
    pub fn contains(self, other: Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The span as a range for slicing.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Inclusive range of 1-based lines.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, bitcode::Encode, bitcode::Decode,
)]
pub struct Lines {
    /// First line, from 1.
    pub start: u32,
    /// Last line, inclusive.
    pub end: u32,
}

impl Lines {
    /// Number of lines.
    pub fn count(self) -> u32 {
        self.end + 1 - self.start
    }

    /// Returns true if `other` is inside or equal.
    pub fn contains(self, other: Lines) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// Returns the lines that are in both, if any.
    pub fn common(self, other: Lines) -> Option<Lines> {
        let common = Lines { start: self.start.max(other.start), end: self.end.min(other.end) };
        (common.start <= common.end).then_some(common)
    }
}

/// The start of each line of a text. Lines end with LF, CRLF or a lone CR; the last line counts without one,
/// and text that ends in a line end has no empty line after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineIndex {
    starts: Vec<u32>,
    len: u32,
}

impl LineIndex {
    /// Scans `text` for line ends.
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = Vec::with_capacity(bytes.len() / 32 + 1);
        starts.push(0);
        for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
            if bytes[at] == b'\n' || bytes.get(at + 1) != Some(&b'\n') {
                starts.push(at as u32 + 1);
            }
        }
        if starts.len() > 1 && starts.last() == Some(&(bytes.len() as u32)) {
            starts.pop();
        }
        Self { starts, len: bytes.len() as u32 }
    }

    /// Number of lines of the text; an empty text has one.
    pub fn count(&self) -> u32 {
        self.starts.len() as u32
    }

    /// Number of lines of the text: [`Self::count`], but 0 for an empty text.
    pub fn n_lines(&self) -> u32 {
        if self.len == 0 { 0 } else { self.count() }
    }

    /// The 1-based line that holds `offset`; offsets at the end belong to the last line.
    pub fn line(&self, offset: u32) -> u32 {
        self.starts.partition_point(|&s| s <= offset).max(1) as u32
    }

    /// First byte of 1-based `line`; the end of the text for lines past the last.
    pub fn start(&self, line: u32) -> u32 {
        self.starts.get((line as usize).saturating_sub(1)).copied().unwrap_or(self.len)
    }

    /// The bytes of 1-based `line`, its line end included.
    pub fn span(&self, line: u32) -> Span {
        Span { start: self.start(line), end: self.start(line + 1) }
    }

    /// The bytes of `lines`, line ends included.
    pub fn lines_span(&self, lines: Lines) -> Span {
        Span { start: self.start(lines.start), end: self.start(lines.end + 1) }
    }

    /// The lines that hold the bytes of `span`; an empty span has the line of its start.
    pub fn lines(&self, span: Span) -> Lines {
        let start = self.line(span.start);
        let end = if span.is_empty() { start } else { self.line(span.end - 1) };
        Lines { start, end }
    }
}

/// Length of `text` in UTF-16 code units.
pub fn utf16_len(text: &str) -> u32 {
    // One unit for each character, counted at its first byte, and one more for those that take four bytes;
    // nothing is decoded.
    let units = |b: &u8| u8::from(b & 0xc0 != 0x80) + u8::from(*b >= 0xf0);
    // The sum of 127 bytes fits into a byte: it is added up in wide registers.
    text.as_bytes().chunks(127).map(|part| u32::from(part.iter().map(units).sum::<u8>())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_lines_of_every_line_end() {
        for (text, count, starts) in [
            ("", 1, vec![0]),
            ("a", 1, vec![0]),
            ("a\n", 1, vec![0]),
            ("a\nb", 2, vec![0, 2]),
            ("a\r\nb\r\n", 2, vec![0, 3]),
            ("a\rb\r", 2, vec![0, 2]),
            ("\n\n", 2, vec![0, 1]),
            ("\n", 1, vec![0]),
            ("a\n\rb", 3, vec![0, 2, 3]),
        ] {
            let index = LineIndex::new(text);
            assert_eq!((index.count(), index.starts.clone()), (count, starts), "{text:?}");
            assert_eq!(index.n_lines(), if text.is_empty() { 0 } else { count }, "{text:?}");
        }
    }

    #[test]
    fn maps_offsets_and_lines_both_ways() {
        let index = LineIndex::new("one\ntwo\nthree");
        assert_eq!(index.line(3), 1);
        assert_eq!(index.line(4), 2);
        assert_eq!(index.line(99), 3);
        assert_eq!(index.span(2), Span { start: 4, end: 8 });
        assert_eq!(index.lines(Span { start: 0, end: 8 }), Lines { start: 1, end: 2 });
        assert_eq!(index.lines_span(Lines { start: 2, end: 3 }), Span { start: 4, end: 13 });
    }
}
