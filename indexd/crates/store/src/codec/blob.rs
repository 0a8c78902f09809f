//! Blobs: texts and facts (see [`super::facts`]) as zstd frames, long lists as they are, cut into
//! pieces that fill LMDB's pages.
//!
//! A value above about 2 KB goes to overflow pages of its own, rounded up to whole pages; with three blobs a
//! file that would waste a sixth of the index. The positions of the cuts have no meaning.

use super::bytes::{Reader, put};
use super::page::{NODE_BYTES_MAX, value_bytes};
use crate::table::SUM_BYTES;
use std::cell::RefCell;
use std::io;
use xxhash_rust::xxh3::xxh3_64;
use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::CParameter;

/// Bytes of the largest piece: with its key of 6 and its checksum, two fill a page.
pub(crate) const PIECE_BYTES: usize = value_bytes(NODE_BYTES_MAX, 6) - SUM_BYTES;

/// Level of zstd. Level 4 makes texts 6 % and facts 3 % smaller, an index 2 %, and takes a
/// twenty-fifth of the time of a first build; the index is as large as its source with this one.
const LEVEL: i32 = 1;

/// Longest blob in bytes that is stored uncompressed: setting up a frame takes longer than it saves.
const PLAIN_BYTES_MAX: usize = 128;

/// Bytes that no blob exceeds uncompressed; a damaged length must not allocate the machine's memory.
const RAW_BYTES_MAX: u32 = 1 << 28;

/// Lowest bit of the stored length of an uncompressed blob.
const PLAIN: u64 = 1;

fn checksum(raw: &[u8]) -> [u8; 4] {
    (xxh3_64(raw) as u32).to_le_bytes()
}

thread_local! {
    // A context is a megabyte and costs more to set up than a small file takes to compress.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
    // Fresh memory costs a page fault for every 4 KB.
    static RAW: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Frees the contexts and the memory that this thread keeps for the next blob.
pub fn forget_scratch() {
    COMPRESSOR.take();
    DECOMPRESSOR.take();
    RAW.take();
}

/// Bytes of memory that a thread keeps for the next blob.
pub(crate) const KEPT_BYTES_MAX: usize = 1 << 20;

/// Compresses `raw`; the frame carries a checksum. Short input is stored with a checksum only, and none as an
/// empty blob.
pub(crate) fn compress(raw: &[u8]) -> io::Result<Vec<u8>> {
    if raw.len() <= PLAIN_BYTES_MAX {
        return Ok(plain(raw));
    }
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
        put(&mut out, (raw.len() as u64) << 1);
        let frame = compressor.compress(raw)?;
        out.extend_from_slice(&frame);
        Ok(out)
    })
}

/// Packs bytes that do not get smaller: `raw` with a checksum. Without any there is no blob.
pub(crate) fn plain(raw: &[u8]) -> Vec<u8> {
    if raw.is_empty() {
        return Vec::new();
    }
    let mut out = Vec::with_capacity(raw.len() + 9);
    put(&mut out, (raw.len() as u64) << 1 | PLAIN);
    out.extend_from_slice(&checksum(raw));
    out.extend_from_slice(raw);
    out
}

/// Reverses [`compress`] and [`plain`]; `None` for invalid bytes.
pub(crate) fn decompress(blob: &[u8]) -> Option<Vec<u8>> {
    read_in(blob, |raw| Some(raw.to_vec()))
}

/// Decompresses a blob into a buffer that the thread keeps and passes it to `read`. `None` also for invalid
/// bytes.
pub(crate) fn read_in<T>(blob: &[u8], read: impl FnOnce(&[u8]) -> Option<T>) -> Option<T> {
    let mut memory = RAW.take();
    let out = unpack(blob, &mut memory).and_then(read);
    if memory.capacity() <= KEPT_BYTES_MAX {
        RAW.set(memory);
    }
    out
}

/// The content of a blob: a part of it, or decompressed to `memory`, whose content is lost.
fn unpack<'r>(blob: &'r [u8], memory: &'r mut Vec<u8>) -> Option<&'r [u8]> {
    if blob.is_empty() {
        return Some(blob);
    }
    let mut r = Reader::new(blob);
    let head = r.u64()?;
    let n = u32::try_from(head >> 1).ok().filter(|n| *n <= RAW_BYTES_MAX)? as usize;
    if head & PLAIN != 0 {
        let (sum, raw) = r.rest().split_at_checked(4)?;
        return (raw.len() == n && checksum(raw) == sum).then_some(raw);
    }
    if memory.capacity() < n {
        *memory = Vec::with_capacity(n);
    }
    memory.clear();
    DECOMPRESSOR.with_borrow_mut(|slot| {
        let decompressor = match slot {
            Some(d) => d,
            None => slot.insert(Decompressor::new().ok()?),
        };
        decompressor.decompress_to_buffer(r.rest(), memory).ok()
    })?;
    (memory.len() == n).then_some(memory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn blobs_round_trip(raw: Vec<u8>) {
            prop_assert_eq!(decompress(&compress(&raw).unwrap()), Some(raw.clone()));
            prop_assert_eq!(decompress(&plain(&raw)), Some(raw.clone()));
            for blob in [compress(&raw).unwrap(), plain(&raw)] {
                // One inside the other.
                let both = read_in(&blob, |outer| {
                    let inner = read_in(&blob, |inner| Some(inner.to_vec()))?;
                    Some((outer.to_vec(), inner))
                });
                prop_assert_eq!(both, Some((raw.clone(), raw.clone())));
            }
        }

        #[test]
        fn damage_is_noticed(raw in prop::collection::vec(any::<u8>(), 1..400), at: prop::sample::Index, bit in 0..8u8) {
            let mut blob = compress(&raw).unwrap();
            let i = at.index(blob.len());
            blob[i] ^= 1 << bit;
            // Some bits of a frame have no meaning; reading must return the written bytes, or nothing.
            let read = read_in(&blob, |raw| Some(raw.to_vec()));
            prop_assert_eq!(&decompress(&blob), &read);
            if let Some(back) = read {
                prop_assert_eq!(back, raw);
            }
        }
    }
}
