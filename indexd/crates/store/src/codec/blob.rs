//! Compressed blobs: texts and facts (see [`super::facts`]) as zstd frames, cut into pieces that fill LMDB's pages.
//!
//! A value above about 2 KB goes to overflow pages of its own, rounded up to whole pages; with three
//! blobs a file that would waste a sixth of the index. Eight pieces fill a page exactly.

use super::bytes::{Reader, put};
use std::cell::RefCell;
use std::io;
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::CParameter;

/// Bytes of a piece: (4,096 page - 16 header) / 8 nodes - 2 pointer - 8 node header - 6 key.
pub(crate) const PIECE_BYTES: usize = (4096 - 16) / 8 - 2 - 8 - 6;

/// Level of zstd. Level 6 makes texts a tenth smaller, an index 3 % smaller, and took a twentieth of
/// the time of a first build; the index is as large as its source with this one.
const LEVEL: i32 = 1;

/// Bytes that no blob exceeds uncompressed; a damaged length must not allocate the machine's memory.
const RAW_BYTES_MAX: u32 = 1 << 28;

thread_local! {
    // A context is a megabyte and costs more to set up than a small file takes to compress.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Compresses `raw`; the frame carries a checksum.
pub(crate) fn compress(raw: &[u8]) -> io::Result<Vec<u8>> {
    COMPRESSOR.with_borrow_mut(|slot| {
        let compressor = match slot {
            Some(c) => c,
            None => {
                let mut c = Compressor::new(LEVEL)?;
                c.set_parameter(CParameter::ChecksumFlag(true))?;
                c.set_parameter(CParameter::ContentSizeFlag(false))?;
                slot.insert(c)
            }
        };
        let mut out = Vec::with_capacity(raw.len() / 3 + 16);
        put(&mut out, raw.len() as u64);
        let frame = compressor.compress(raw)?;
        out.extend_from_slice(&frame);
        Ok(out)
    })
}

/// Undoes [`compress`]; `None` for bytes that it did not make.
pub(crate) fn decompress(blob: &[u8]) -> Option<Vec<u8>> {
    let mut r = Reader::new(blob);
    let n = r.u32().filter(|n| *n <= RAW_BYTES_MAX)? as usize;
    DECOMPRESSOR.with_borrow_mut(|slot| {
        let decompressor = match slot {
            Some(d) => d,
            None => slot.insert(Decompressor::new().ok()?),
        };
        decompressor.decompress(r.rest(), n).ok().filter(|raw| raw.len() == n)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn blobs_round_trip(raw: Vec<u8>) {
            prop_assert_eq!(decompress(&compress(&raw).unwrap()), Some(raw));
        }

        #[test]
        fn damage_is_noticed(raw in prop::collection::vec(any::<u8>(), 1..400), at: prop::sample::Index, bit in 0..8u8) {
            let mut blob = compress(&raw).unwrap();
            let i = at.index(blob.len());
            blob[i] ^= 1 << bit;
            // Some bits of a frame mean nothing; what is read must be what was written, or nothing.
            if let Some(back) = decompress(&blob) {
                prop_assert_eq!(back, raw);
            }
        }
    }
}
