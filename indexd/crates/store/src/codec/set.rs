//! Sets of handles, cut by their high 16 bits into one row each, so that adding one member to a set
//! of a million rewrites 8 KB. A row of up to 32 members is a list of differences; above, a roaring
//! bitmap with its cardinality in front.

use super::bytes::{Reader, put};
use roaring::RoaringBitmap;

const LIST_MAX: usize = 32;
const BITMAP: u8 = 0xff;
const _: () = assert!(LIST_MAX < BITMAP as usize);

/// The row of a handle and its value inside.
pub(crate) fn split(id: u32) -> (u16, u16) {
    ((id >> 16) as u16, id as u16)
}

/// Encodes the low halves of one row, sorted, without repeats, at least one.
pub(crate) fn encode(low: &[u16], out: &mut Vec<u8>) {
    if low.len() <= LIST_MAX {
        out.push(low.len() as u8);
        let mut last = 0;
        for &x in low {
            put(out, u64::from(x - last));
            last = x;
        }
        return;
    }
    out.push(BITMAP);
    put(out, low.len() as u64);
    let bitmap: RoaringBitmap = low.iter().map(|x| u32::from(*x)).collect();
    // Writing to a vector does not fail.
    let _ = bitmap.serialize_into(out);
}

/// Appends the members of a row with their high half.
pub(crate) fn decode(high: u16, bytes: &[u8], out: &mut Vec<u32>) -> Option<()> {
    let mut r = Reader::new(bytes);
    let high = u32::from(high) << 16;
    match r.byte()? {
        BITMAP => {
            let n = r.u32()?;
            let bitmap = RoaringBitmap::deserialize_from(r.rest()).ok()?;
            if bitmap.len() != u64::from(n) || bitmap.max()? > u32::from(u16::MAX) {
                return None;
            }
            out.extend(bitmap.into_iter().map(|x| high | x));
        }
        n if usize::from(n) <= LIST_MAX => {
            let mut last = 0u32;
            for _ in 0..n {
                last = last.checked_add(r.u32()?).filter(|x| *x <= u32::from(u16::MAX))?;
                out.push(high | last);
            }
            if !r.is_empty() {
                return None;
            }
        }
        _ => return None,
    }
    Some(())
}

/// How many members a row has.
pub(crate) fn count(bytes: &[u8]) -> Option<u32> {
    let mut r = Reader::new(bytes);
    match r.byte()? {
        BITMAP => r.u32(),
        n => Some(u32::from(n)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_round_trip(low in prop::collection::btree_set(any::<u16>(), 1..200), high: u16) {
            let low: Vec<u16> = low.into_iter().collect();
            let mut bytes = Vec::new();
            encode(&low, &mut bytes);
            let mut back = Vec::new();
            prop_assert_eq!(decode(high, &bytes, &mut back), Some(()));
            prop_assert_eq!(count(&bytes), Some(low.len() as u32));
            let expect: Vec<u32> = low.iter().map(|x| u32::from(high) << 16 | u32::from(*x)).collect();
            prop_assert_eq!(back, expect);
        }

        #[test]
        fn garbage_is_refused_without_panic(bytes: Vec<u8>) {
            let _ = decode(1, &bytes, &mut Vec::new());
        }
    }

    #[test]
    fn one_member_takes_two_or_three_bytes() {
        for (x, len) in [(5, 2), (5000, 3), (50_000, 4)] {
            let mut out = Vec::new();
            encode(&[x], &mut out);
            assert_eq!(out.len(), len);
        }
    }
}
