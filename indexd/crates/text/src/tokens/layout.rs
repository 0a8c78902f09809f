//! What the writer of the tables of tokens (`build.rs`) and their reader agree on.

/// Bytes of a token that is its own key.
pub const SHORT_MAX: usize = 7;
/// No token has this rank.
pub const NONE: u32 = u32::MAX;
/// The key of a short token, or the place of a long one, where there is none.
pub const FREE: u32 = 0;

/// Up to [`SHORT_MAX`] bytes and how many they are; never [`FREE`] but for no bytes.
pub fn pack(bytes: &[u8]) -> u64 {
    bytes.iter().fold(bytes.len() as u64, |packed, b| packed << 8 | u64::from(*b))
}

/// Where to look first for a short token in a table of `n` places.
pub fn hash_short(key: u64, n: usize) -> usize {
    place(key.wrapping_mul(MIX), n)
}

/// Where to look first for a long token in a table of `n` places, and what tells it from most others
/// that are found there.
pub fn hash_long(bytes: &[u8], n: usize) -> (usize, u32) {
    let (words, rest) = bytes.as_chunks();
    let words = words.iter().map(|w| u64::from_le_bytes(*w)).chain([pack(rest)]);
    let hash = words.fold(0u64, |hash, word| (hash.rotate_left(5) ^ word).wrapping_mul(MIX));
    (place(hash, n), (hash >> 12) as u32)
}

/// A share of `n` places as large as the product is of all numbers: its upper bits count, which all bits of
/// its factors have a part in.
fn place(product: u64, n: usize) -> usize {
    ((u128::from(product) * n as u128) >> 64) as usize
}

/// The place after one.
pub fn next(at: usize, n: usize) -> usize {
    if at + 1 == n { 0 } else { at + 1 }
}

/// Odd, with bits all over: the fraction of the golden ratio.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
