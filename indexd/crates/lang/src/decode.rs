//! Bytes of a file to the text that is stored, or the insight that they are no text.

use std::borrow::Cow;

/// Bytes searched for a NUL; git uses the same figure to tell text from binary.
const NUL_BYTES: usize = 8_000;
/// A file that is not UTF-8 is binary if it has one control character in this many bytes.
const CONTROL_EVERY: usize = 50;

/// The text of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded<'a> {
    /// The text.
    pub text: Cow<'a, str>,
    /// True if the bytes differ from those of the text: UTF-16, Windows-1252, or damaged.
    pub is_recoded: bool,
}

/// Returns the text of a file, or `None` for binary files.
///
/// UTF-16 is read when a byte order mark announces it. Bytes without any UTF-8 sequence beyond ASCII, and
/// with some that are not UTF-8, are Windows-1252, which includes Latin-1. Anything else is UTF-8, with each
/// invalid sequence replaced by U+FFFD. A byte order mark and line ends stay. A file is binary if its first
/// 8,000 bytes contain a NUL and it does not start with a UTF-16 mark, or if it is not UTF-8 and other
/// control characters make up one in 50 of those bytes.
pub fn read(bytes: &[u8]) -> Option<Decoded<'_>> {
    let recoded = |text: String| Some(Decoded { text: Cow::Owned(text), is_recoded: true });
    match bytes {
        // The start of UTF-32, little endian, looks like that of UTF-16.
        [0xff, 0xfe, 0, 0, ..] => None,
        [0xff, 0xfe, ..] => recoded(utf16(bytes, u16::from_le_bytes)),
        [0xfe, 0xff, ..] => recoded(utf16(bytes, u16::from_be_bytes)),
        _ if memchr::memchr(0, &bytes[..bytes.len().min(NUL_BYTES)]).is_some() => None,
        _ => match std::str::from_utf8(bytes) {
            Ok(text) => Some(Decoded { text: Cow::Borrowed(text), is_recoded: false }),
            Err(_) if has_controls(bytes) => None,
            Err(_) if has_sequences(bytes) => recoded(String::from_utf8_lossy(bytes).into_owned()),
            Err(_) => recoded(bytes.iter().map(|b| windows_1252(*b)).collect()),
        },
    }
}

/// The text of a file alone, as [`read`] has it.
pub fn decode(bytes: &[u8]) -> Option<Cow<'_, str>> {
    read(bytes).map(|d| d.text)
}

/// Returns true if control characters are as frequent as in packed data. Tabs, line and page ends, and the
/// escape of terminals are part of text.
fn has_controls(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(NUL_BYTES)];
    let n = head.iter().filter(|b| matches!(**b, 1..=6 | 14..=26 | 28..=31)).count();
    n * CONTROL_EVERY > head.len()
}

/// Returns true if any UTF-8 sequence beyond ASCII is whole.
fn has_sequences(bytes: &[u8]) -> bool {
    bytes.utf8_chunks().any(|chunk| !chunk.valid().is_ascii())
}

/// The characters of the bytes 0x80 to 0x9f in Windows-1252; five of them are controls, as on the web.
const UPPER: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}',
    '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

fn windows_1252(byte: u8) -> char {
    match byte {
        0x80..=0x9f => UPPER[usize::from(byte - 0x80)],
        _ => char::from(byte),
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units = pairs.iter().map(|pair| unit(*pair));
    let mut text: String =
        char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    if !rest.is_empty() {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bytes: &[u8], expect: Option<(&str, bool)>) {
        let got = read(bytes);
        assert_eq!(got.as_ref().map(|d| (&*d.text, d.is_recoded)), expect, "{bytes:?}");
    }

    #[test]
    fn reads_marks_and_replaces_what_is_invalid() {
        check(b"", Some(("", false)));
        check("ä\r\n".as_bytes(), Some(("ä\r\n", false)));
        check(b"\xef\xbb\xbfx", Some(("\u{feff}x", false)));
        check(
            "ä".as_bytes().iter().copied().chain(*b"a\xffb\xc3").collect::<Vec<u8>>().as_slice(),
            Some(("äa\u{fffd}b\u{fffd}", true)),
        );
        check(b"\xff\xfea\0\n\0", Some(("\u{feff}a\n", true)));
        check(b"\xfe\xff\0a\xd8\x3d\xde\0x", Some(("\u{feff}a\u{1f600}\u{fffd}", true)));
        check(b"\xfe\xff\xd8\x3d\0a", Some(("\u{feff}\u{fffd}a", true)));
    }

    #[test]
    fn what_holds_no_utf_8_is_windows_1252() {
        check(b"caf\xe9 \x80 5 \x96 \x81\n", Some(("café € 5 – \u{81}\n", true)));
        check(b"\xc4\xd6\xdc stra\xdfe", Some(("ÄÖÜ straße", true)));
    }

    #[test]
    fn nul_and_controls_mean_binary() {
        check(b"a\0b", None);
        check(b"\xff\xfe\0\0a\0\0\0", None);
        check(b"\x1f\x8b\x08\x04\x03\xe9\xff\x12", None);
        check(b"\x1b[1mcaf\xe9\x1b[0m", Some(("\u{1b}[1mcafé\u{1b}[0m", true)));
        let mut late = vec![b'x'; NUL_BYTES];
        late.push(0);
        assert!(decode(&late).is_some());
    }
}
