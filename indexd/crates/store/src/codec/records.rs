//! Records of fixed shape: rkyv archives, read in place and validated on each read (40-140 ns).
//!
//! LMDB aligns values to two bytes at best, so archives must need no alignment at all; the
//! assertions below fail to compile when rkyv is built without `unaligned`.

use crate::input::{ArchivedFileStat, FileStat};
use rkyv::rancor::Failure;
use rkyv::{Archive, Serialize};

/// A file.
#[derive(Archive, Serialize, Debug, PartialEq)]
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
const _: () = assert!(align_of::<ArchivedFileStat>() == 1);

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
}

impl FileStat {
    /// The stored form.
    pub(crate) fn encode(&self) -> Vec<u8> {
        rkyv::to_bytes::<Failure>(self).map(|v| v.to_vec()).unwrap_or_default()
    }

    /// Reads the stored form; `None` when it is not such a record.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        rkyv::from_bytes::<Self, Failure>(bytes).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_in_place_at_any_address() {
        let row = FileStat { mtime_ns: -1, ctime_ns: 2, size: 3, inode: 4, dev: 5 };
        let bytes = row.encode();
        for offset in 0..8 {
            let mut shifted = vec![0; offset];
            shifted.extend_from_slice(&bytes);
            assert_eq!(FileStat::decode(&shifted[offset..]), Some(row));
        }
        assert!(FileStat::decode(&bytes[1..]).is_none());
        assert!(FileStat::decode(&[]).is_none());
    }

    #[test]
    fn refuses_a_string_that_points_outside() {
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
        assert_eq!(FileRow::access(&bytes).map(|r| r.path.to_string()), Some(row.path));
        assert!(FileRow::access(&bytes[8..]).is_none());
    }
}
