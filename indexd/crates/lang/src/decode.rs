//! Bytes of a file to the text that is stored, or the insight that they are no text.

use std::borrow::Cow;

/// Bytes searched for a NUL; git uses the same figure to tell text from binary.
const NUL_BYTES: usize = 8_000;

/// The text of a file, or `None` for binary files.
///
/// UTF-16 is read when a byte order mark says so; anything else is UTF-8, with each invalid
/// sequence replaced by U+FFFD. A byte order mark and line ends stay. Binary is what holds a NUL in
/// its first 8,000 bytes and does not start with a UTF-16 mark.
pub fn decode(bytes: &[u8]) -> Option<Cow<'_, str>> {
    match bytes {
        // The start of UTF-32, little endian, looks like that of UTF-16.
        [0xff, 0xfe, 0, 0, ..] => None,
        [0xff, 0xfe, ..] => Some(Cow::Owned(utf16(bytes, u16::from_le_bytes))),
        [0xfe, 0xff, ..] => Some(Cow::Owned(utf16(bytes, u16::from_be_bytes))),
        _ if memchr::memchr(0, &bytes[..bytes.len().min(NUL_BYTES)]).is_some() => None,
        _ => Some(match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(bytes),
        }),
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

    fn check(bytes: &[u8], expect: Option<&str>) {
        assert_eq!(decode(bytes).as_deref(), expect, "{bytes:?}");
    }

    #[test]
    fn reads_marks_and_replaces_what_is_invalid() {
        check(b"", Some(""));
        check("ä\r\n".as_bytes(), Some("ä\r\n"));
        check(b"\xef\xbb\xbfx", Some("\u{feff}x"));
        check(b"a\xffb\xc3", Some("a\u{fffd}b\u{fffd}"));
        check(b"\xff\xfea\0\n\0", Some("\u{feff}a\n"));
        check(b"\xfe\xff\0a\xd8\x3d\xde\0x", Some("\u{feff}a\u{1f600}\u{fffd}"));
        check(b"\xfe\xff\xd8\x3d\0a", Some("\u{feff}\u{fffd}a"));
    }

    #[test]
    fn nul_means_binary() {
        check(b"a\0b", None);
        check(b"\xff\xfe\0\0a\0\0\0", None);
        let mut late = vec![b'x'; NUL_BYTES];
        late.push(0);
        assert!(decode(&late).is_some());
    }
}
