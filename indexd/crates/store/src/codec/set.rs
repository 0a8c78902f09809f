//! Sets of handles, cut by their high 16 bits into one row each, so that adding one member to a set
//! of a million rewrites 8 KB. A row of up to 32 members is a list of differences; above, a mark, the
//! cardinality and a roaring bitmap.

use super::bytes::{Reader, put};
use roaring::RoaringBitmap;

const LIST_MAX: usize = 32;
/// The start of a bitmap: a zero in two bytes, which no list has.
const BITMAP: [u8; 2] = [0x80, 0];

/// The number of the row of a handle: its high half.
pub(crate) fn high(id: u32) -> u16 {
    (id >> 16) as u16
}

/// Encodes the low halves of the handles of one row, sorted, without repeats, at least one.
pub(crate) fn encode(ids: &[u32]) -> Vec<u8> {
    let mut out = Vec::new();
    let low = ids.iter().map(|id| u32::from(*id as u16));
    if ids.len() <= LIST_MAX {
        let mut last = 0;
        for x in low {
            put(&mut out, u64::from(x - last));
            last = x;
        }
        return out;
    }
    out.extend_from_slice(&BITMAP);
    put(&mut out, ids.len() as u64);
    let bitmap: RoaringBitmap = low.collect();
    // Writing to a vector does not fail.
    let _ = bitmap.serialize_into(&mut out);
    out
}

/// Appends the members of a row with their high half.
pub(crate) fn decode(high: u16, bytes: &[u8], out: &mut Vec<u32>) -> Option<()> {
    let high = u32::from(high) << 16;
    if let Some(rest) = bytes.strip_prefix(&BITMAP) {
        let mut r = Reader::new(rest);
        let n = r.u32()?;
        let bitmap = RoaringBitmap::deserialize_from(r.rest()).ok()?;
        if bitmap.len() != u64::from(n) || bitmap.max()? > u32::from(u16::MAX) {
            return None;
        }
        out.extend(bitmap.into_iter().map(|x| high | x));
        return Some(());
    }
    let mut r = Reader::new(bytes);
    let mut last = 0u32;
    loop {
        last = last.checked_add(r.u32()?).filter(|x| *x <= u32::from(u16::MAX))?;
        out.push(high | last);
        if r.is_empty() {
            return Some(());
        }
    }
}

/// The number of members in a row.
pub(crate) fn count(bytes: &[u8]) -> Option<u32> {
    match bytes.strip_prefix(&BITMAP) {
        Some(rest) => Reader::new(rest).u32(),
        None => u32::try_from(bytes.iter().filter(|b| **b < 0x80).count()).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_round_trip(low in prop::collection::btree_set(any::<u16>(), 1..200), high: u16) {
            let expect: Vec<u32> = low.iter().map(|x| u32::from(high) << 16 | u32::from(*x)).collect();
            let bytes = encode(&expect);
            let mut back = Vec::new();
            prop_assert_eq!(decode(high, &bytes, &mut back), Some(()));
            prop_assert_eq!(count(&bytes), Some(low.len() as u32));
            prop_assert_eq!(back, expect);
        }

        #[test]
        fn garbage_is_refused_without_panic(bytes: Vec<u8>) {
            let _ = decode(1, &bytes, &mut Vec::new());
        }
    }

    #[test]
    fn one_member_takes_one_to_three_bytes() {
        for (x, len) in [(5, 1), (5000, 2), (50_000, 3)] {
            assert_eq!(encode(&[x]).len(), len);
        }
    }
}
