//! The format of the tables of tokens, shared by their writer (`build.rs`) and their reader.

/// Bytes of a token that is its own key.
pub const SHORT_MAX: usize = 7;
/// A rank that no token has.
pub const NONE: u32 = u32::MAX;

/// Packs up to [`SHORT_MAX`] bytes and their number.
pub fn pack(bytes: &[u8]) -> u64 {
    bytes.iter().fold(bytes.len() as u64, |packed, b| packed << 8 | u64::from(*b))
}

/// The bucket of a short token among `n`.
pub fn hash_short(key: u64, n: usize) -> usize {
    place(key.wrapping_mul(MIX), n)
}

/// The bucket of a long token among `n`.
pub fn hash_long(bytes: &[u8], n: usize) -> usize {
    let (words, rest) = bytes.as_chunks();
    let words = words.iter().map(|w| u64::from_le_bytes(*w)).chain([pack(rest)]);
    let hash = words.fold(0u64, |hash, word| (hash.rotate_left(5) ^ word).wrapping_mul(MIX));
    place(hash, n)
}

/// Maps a product of 64 bits to `0..n` in proportion to its size. Its upper bits decide, which depend on all
/// bits of the factors.
fn place(product: u64, n: usize) -> usize {
    ((u128::from(product) * n as u128) >> 64) as usize
}

/// An odd number with well distributed bits: the fraction of the golden ratio.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
