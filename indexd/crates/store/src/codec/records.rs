//! Records of files, and their stats. A file is an rkyv archive, read in place and validated on each read
//! (40-140 ns).
//!
//! LMDB aligns values to two bytes at best, so archives must need no alignment at all; the
//! assertion below fails to compile when rkyv is built without `unaligned`.

use indexd_os::FileStat;
use rkyv::rancor::Failure;
use rkyv::{Archive, Deserialize, Serialize};

/// A file.
#[derive(Archive, Serialize, Deserialize, Debug, PartialEq)]
pub(crate) struct FileRow {
    /// Content hash.
    pub hash: [u8; 32],
    /// Bytes on disk.
    pub size: u64,
    /// Lines.
    pub n_lines: u32,
    /// Bytes of the stored text.
    pub text_len: u32,
    /// First chunk handle of its range.
    pub chunk_start: u32,
    /// Chunks.
    pub n_chunks: u32,
    /// Handles reserved for it from `chunk_start`.
    pub chunk_room: u32,
    /// Definition handle of the file itself.
    pub own: u32,
    /// Roles.
    pub roles: u16,
    /// Terms of the path.
    pub path_len: u16,
    /// Language, coded.
    pub language: u8,
    /// Outcome, coded.
    pub outcome: u8,
    /// Path.
    pub path: String,
}

const _: () = assert!(align_of::<ArchivedFileRow>() == 1);

impl FileRow {
    /// The stored form.
    pub fn encode(&self) -> Vec<u8> {
        // Serialising into a growing vector fails only when memory is exhausted.
        rkyv::to_bytes::<Failure>(self).map(|v| v.to_vec()).unwrap_or_default()
    }

    /// Reads the stored form in place; `None` when it is not such a record.
    pub fn access(bytes: &[u8]) -> Option<&ArchivedFileRow> {
        rkyv::access::<ArchivedFileRow, Failure>(bytes).ok()
    }

    /// Copies a record that was read in place.
    pub fn copy_of(row: &ArchivedFileRow) -> Option<Self> {
        rkyv::deserialize::<Self, Failure>(row).ok()
    }
}

/// The stored form of a stat: its numbers, little endian.
pub(crate) fn encode_stat(stat: &FileStat) -> Vec<u8> {
    let FileStat { mtime_ns, ctime_ns, size, inode, dev } = *stat;
    [mtime_ns as u64, ctime_ns as u64, size, inode, dev].map(u64::to_le_bytes).concat()
}

/// Reverses [`encode_stat`]; `None` for invalid bytes.
pub(crate) fn decode_stat(bytes: &[u8]) -> Option<FileStat> {
    let (numbers, []) = bytes.as_chunks() else { return None };
    let [mtime, ctime, size, inode, dev] = <[_; 5]>::try_from(numbers).ok()?.map(u64::from_le_bytes);
    Some(FileStat { mtime_ns: mtime as i64, ctime_ns: ctime as i64, size, inode, dev })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stats_round_trip() {
        let stat = FileStat { mtime_ns: -1, ctime_ns: 2, size: 3, inode: 4, dev: 5 };
        let bytes = encode_stat(&stat);
        assert_eq!(decode_stat(&bytes), Some(stat));
        assert_eq!(decode_stat(&bytes[1..]), None);
        assert_eq!(decode_stat(&bytes[8..]), None);
        assert_eq!(decode_stat(&[]), None);
    }

    #[test]
    fn reads_in_place_at_any_address() {
        let (row, bytes) = row();
        for offset in 0..8 {
            let mut shifted = vec![0; offset];
            shifted.extend_from_slice(&bytes);
            assert_eq!(FileRow::access(&shifted[offset..]).and_then(FileRow::copy_of).as_ref(), Some(&row));
        }
    }

    fn row() -> (FileRow, Vec<u8>) {
        let row = FileRow {
            hash: [7; 32],
            size: 1,
            n_lines: 1,
            text_len: 1,
            chunk_start: 0,
            n_chunks: 0,
            chunk_room: 0,
            own: 0,
            roles: 0,
            path_len: 0,
            language: 0,
            outcome: 0,
            path: "a/longer/path/than/inline.go".into(),
        };
        let bytes = row.encode();
        (row, bytes)
    }

    #[test]
    fn refuses_a_string_that_points_outside() {
        let (_, bytes) = row();
        assert!(FileRow::access(&bytes).is_some() && FileRow::access(&bytes[8..]).is_none());
    }
}
