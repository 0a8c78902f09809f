//! Hashes of lines as the bytes of their file, where the index holds another text of them: decoded, or without
//! its secrets.

use indexd_model::limits::FILE_BYTES_LISTED_MAX;
use indexd_model::{ContentHash, FactsView as _, IndexView as _, Lines};
use indexd_store::Snapshot;
use std::ops::Range;
use std::path::Path;

/// The hash of the bytes of some lines of a file; none if the file on disk is not the one that was indexed, or
/// has other lines than the indexed text. The answer depends on the snapshot alone.
pub fn hash_of_lines(root: &Path, snapshot: &Snapshot, path: &str, lines: Lines) -> Option<String> {
    let file = snapshot.file_by_path(path)?;
    let (bytes, _) = indexd_os::Root::open(root).ok()?.read(path, FILE_BYTES_LISTED_MAX).ok()?;
    if ContentHash::of(&bytes) != snapshot.file(file).hash {
        return None;
    }
    let found = lines_of(&bytes);
    if found.len() as u32 != snapshot.lines(file).count() {
        return None;
    }
    let (first, last) = (found.get(lines.start as usize - 1)?, found.get(lines.end as usize - 1)?);
    Some(ContentHash::of(&bytes[first.start..last.end]).to_string())
}

/// The lines of a file, line ends included: of UTF-16 with a mark at its start, else of single bytes.
fn lines_of(bytes: &[u8]) -> Vec<Range<usize>> {
    let of_pair: Option<fn([u8; 2]) -> u16> = match bytes {
        [0xff, 0xfe, ..] => Some(u16::from_le_bytes),
        [0xfe, 0xff, ..] => Some(u16::from_be_bytes),
        _ => None,
    };
    let width = if of_pair.is_some() { 2 } else { 1 };
    let unit = |at: usize| match (of_pair, bytes.get(at..at + width)) {
        (Some(read), Some(&[a, b])) => Some(read([a, b])),
        (None, Some(&[b])) => Some(u16::from(b)),
        _ => None,
    };
    let (mut out, mut start) = (Vec::new(), 0);
    for at in (0..bytes.len()).step_by(width) {
        let is_end = match unit(at) {
            Some(0x0a) => true,
            Some(0x0d) => unit(at + width) != Some(0x0a),
            _ => false,
        };
        if is_end {
            out.push(start..at + width);
            start = at + width;
        }
    }
    if start < bytes.len() || out.is_empty() {
        out.push(start..bytes.len());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_the_bytes() {
        for (bytes, expect) in [
            (&b"a\nb\r\nc\rd"[..], &[(0, 2), (2, 5), (5, 7), (7, 8)][..]),
            (b"\xe9\n\n", &[(0, 2), (2, 3)]),
            (b"\xff\xfea\0\n\0\x0a\x0a", &[(0, 6), (6, 8)]),
            (b"\xfe\xff\0a\0\r\0\n\0b", &[(0, 8), (8, 10)]),
            (b"", &[(0, 0)]),
        ] {
            let found: Vec<(usize, usize)> = lines_of(bytes).into_iter().map(|r| (r.start, r.end)).collect();
            assert_eq!(found, expect, "{bytes:?}");
        }
    }
}
