//! Lines: one JSON object each, UTF-8, ended by `\n`, at most [`FRAME_BYTES_MAX`] bytes.
//!
//! The decoder does no IO: bytes are fed in as they come, lines are taken out. A line over the
//! limit is reported once and skipped to its end without being kept, so that the connection can go
//! on after the error answer.

use crate::limits::FRAME_BYTES_MAX;

/// What the decoder found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A line without its end. Empty lines are left out.
    Line(Vec<u8>),
    /// A line over the limit; its bytes are gone.
    TooLong,
}

/// Cuts a stream of bytes into lines.
#[derive(Debug)]
pub struct Decoder {
    buffer: Vec<u8>,
    /// Start of the first byte not yet given out.
    start: usize,
    /// Up to here there is no line end.
    scanned: usize,
    skipping: bool,
    line_bytes_max: usize,
}

impl Default for Decoder {
    fn default() -> Self {
        Self::new(FRAME_BYTES_MAX)
    }
}

impl Decoder {
    /// A decoder with a limit of its own, in bytes without the line end.
    pub fn new(line_bytes_max: usize) -> Self {
        Self { buffer: Vec::new(), start: 0, scanned: 0, skipping: false, line_bytes_max }
    }

    /// Makes room for lines of so many bytes, so that long ones are not moved as they grow.
    #[must_use]
    pub fn with_room(mut self, bytes: usize) -> Self {
        self.buffer.reserve(bytes);
        self
    }

    /// Appends bytes as they were read.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.start == self.buffer.len() {
            self.buffer.clear();
            (self.start, self.scanned) = (0, 0);
        } else if self.start > self.buffer.len() / 2 {
            self.buffer.drain(..self.start);
            self.scanned -= self.start;
            self.start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// Bytes that were fed and not given out.
    pub fn n_buffered(&self) -> usize {
        self.buffer.len() - self.start
    }

    /// The next line, if one is complete. Call until it gives `None` after each
    /// [`Decoder::feed`], or the buffer may hold more than one line's limit.
    pub fn next_frame(&mut self) -> Option<Frame> {
        loop {
            match memchr::memchr(b'\n', &self.buffer[self.scanned..]) {
                Some(at) => {
                    let end = self.scanned + at;
                    let line = &self.buffer[self.start..end];
                    let line = line.strip_suffix(b"\r").unwrap_or(line);
                    let frame = if std::mem::take(&mut self.skipping) {
                        None
                    } else if line.len() > self.line_bytes_max {
                        Some(Frame::TooLong)
                    } else if line.iter().all(u8::is_ascii_whitespace) {
                        None
                    } else if end + 1 == self.buffer.len() && line.len() > self.start {
                        // Most of it and the last: handed out as it lies here, since answers are long.
                        let len = line.len();
                        let mut line = std::mem::take(&mut self.buffer);
                        line.drain(..std::mem::take(&mut self.start));
                        line.truncate(len);
                        self.scanned = 0;
                        return Some(Frame::Line(line));
                    } else {
                        Some(Frame::Line(line.to_vec()))
                    };
                    self.start = end + 1;
                    self.scanned = self.start;
                    if frame.is_some() {
                        return frame;
                    }
                }
                None => {
                    self.scanned = self.buffer.len();
                    let long = self.buffer.len() - self.start > self.line_bytes_max + 1;
                    if self.skipping || long {
                        self.start = self.buffer.len();
                        return (!std::mem::replace(&mut self.skipping, true)).then_some(Frame::TooLong);
                    }
                    return None;
                }
            }
        }
    }

    /// Whether part of a line has come and not its end.
    pub fn is_mid_line(&self) -> bool {
        self.skipping || self.start < self.buffer.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(max: usize, pieces: &[&[u8]]) -> Vec<Frame> {
        let mut decoder = Decoder::new(max);
        let mut out = Vec::new();
        for piece in pieces {
            decoder.feed(piece);
            while let Some(frame) = decoder.next_frame() {
                out.push(frame);
            }
        }
        out
    }

    fn line(text: &str) -> Frame {
        Frame::Line(text.as_bytes().to_vec())
    }

    #[test]
    fn cuts_lines_wherever_the_pieces_end() {
        let cases: [(&[&[u8]], Vec<Frame>); 7] = [
            (&[b"{}\n{\"a\":1}\r\n"], vec![line("{}"), line("{\"a\":1}")]),
            (&[b"{}\n{\"ab\":", b"1}\r\n", b"[]\n"], ["{}", "{\"ab\":1}", "[]"].map(line).into()),
            (&[b"{\"a\"", b":1", b"}\n"], vec![line("{\"a\":1}")]),
            (&[b"\n\r\n  \n"], vec![]),
            (&[b"123456789\n{}\n"], vec![Frame::TooLong, line("{}")]),
            (&[b"12345", b"67890", b"1234", b"5\n{}", b"\n"], vec![Frame::TooLong, line("{}")]),
            (
                &[b"{}\r\n", b"{\"a\"", b":1}\n{}\n", b"[]\n"],
                ["{}", "{\"a\":1}", "{}", "[]"].map(line).into(),
            ),
        ];
        for (pieces, expect) in cases {
            assert_eq!(decode(8, pieces), expect, "{pieces:?}");
        }
    }

    #[test]
    fn a_line_of_exactly_the_limit_passes() {
        assert_eq!(decode(4, &[b"1234\n"]), [line("1234")]);
        assert_eq!(decode(4, &[b"1234", b"\n"]), [line("1234")]);
        assert_eq!(decode(4, &[b"1234\r", b"\n"]), [line("1234")]);
        assert_eq!(decode(4, &[b"12345\n"]), [Frame::TooLong]);
    }

    #[test]
    fn an_overlong_line_is_not_kept() {
        let mut decoder = Decoder::new(16);
        for _ in 0..1000 {
            decoder.feed(&[b'x'; 100]);
            while decoder.next_frame().is_some() {}
        }
        assert!(decoder.buffer.capacity() < 4096);
        assert!(decoder.is_mid_line());
    }

    proptest! {
        /// Whatever comes, in whatever pieces: frames below the limit, and nothing else is kept.
        #[test]
        fn any_bytes_are_frames_or_an_error(pieces: Vec<Vec<u8>>, max in 1usize..64) {
            let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
            for frame in decode(max, &pieces) {
                if let Frame::Line(line) = frame {
                    prop_assert!(line.len() <= max && !line.contains(&b'\n'));
                }
            }
        }

        #[test]
        fn pieces_do_not_matter(bytes in prop::collection::vec(prop::sample::select(b"ab\n\r ".to_vec()), 0..200), cuts in prop::collection::vec(1usize..9, 0..60)) {
            let whole = decode(6, &[&bytes]);
            let mut pieces: Vec<&[u8]> = Vec::new();
            let mut rest = &bytes[..];
            for cut in cuts {
                let (a, b) = rest.split_at(cut.min(rest.len()));
                pieces.push(a);
                rest = b;
            }
            pieces.push(rest);
            prop_assert_eq!(decode(6, &pieces), whole);
        }
    }
}
