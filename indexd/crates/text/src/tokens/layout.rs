//! What the writer of the tables of tokens (`build.rs`) and their reader agree on.

/// Bytes of a token that is its own key.
pub const SHORT_MAX: usize = 7;
/// No token has this rank.
pub const NONE: u32 = u32::MAX;

/// Up to [`SHORT_MAX`] bytes and how many they are.
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

/// A share of `n` places as large as the product is of all numbers: its upper bits count, which all bits of
/// its factors have a part in.
fn place(product: u64, n: usize) -> usize {
    ((u128::from(product) * n as u128) >> 64) as usize
}

/// Odd, with bits all over: the fraction of the golden ratio.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;
