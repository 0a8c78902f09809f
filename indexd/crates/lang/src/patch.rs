//! Source written in another way for a parser whose grammar is older than the language: each byte keeps its place, so
//! that nodes are slices of the source itself.

use std::ops::Range;

/// A text, and the other one that a parser reads.
pub(crate) struct Patch<'t> {
    text: &'t [u8],
    out: Option<Vec<u8>>,
}

impl<'t> Patch<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text: text.as_bytes(), out: None }
    }

    fn out(&mut self) -> &mut Vec<u8> {
        self.out.get_or_insert_with(|| self.text.to_vec())
    }

    /// Writes over what is at a place; whole characters are replaced.
    pub(crate) fn write(&mut self, at: usize, bytes: &[u8]) {
        self.out()[at..at + bytes.len()].copy_from_slice(bytes);
    }

    /// Writes blanks over all but the ends of lines.
    pub(crate) fn blank(&mut self, range: Range<usize>) {
        let bytes = self.out()[range].iter_mut();
        bytes.filter(|b| !matches!(b, b'\n' | b'\r')).for_each(|b| *b = b' ');
    }

    /// The text for the parser; `None` where nothing was written.
    pub(crate) fn done(self) -> Option<String> {
        self.out.and_then(|out| String::from_utf8(out).ok())
    }
}

/// The place of the next `mark`, or the end of the text.
pub(crate) fn find(text: &[u8], from: usize, mark: &[u8]) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    memchr::memmem::find(rest, mark).map_or(text.len(), |at| from + at)
}

/// The end of a string that begins at `start`, behind its closing quote; that of the line or the text if it has none.
pub(crate) fn end_of_string(text: &[u8], start: usize, quote: u8) -> usize {
    let mut at = start + 1;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'\\' => at += 1,
            b'\n' => return at,
            b if b == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    text.len()
}
