//! Posting blocks: the postings of one term in a run of 2,048 chunks (or files, for path terms).
//!
//! A term with few postings (nine in ten) keeps them in one block without a number, whose distances count
//! from zero.
//!
//! A block is its number of postings, then for each the distance to the one before. Most postings are one
//! occurrence in the body. The lowest bit of the distance says that more follows: a byte with the set of
//! fields and, when all their counts are equal and small, that count.

use super::bytes::{Reader, put};
use indexd_model::view::{Field, FieldCounts, N_FIELDS};

/// Handles in one block: 2,048. The most common terms of Go's standard library then take 2 KB a
/// block, and a save rewrites one block for each of its terms.
pub(crate) const BLOCK_BITS: u32 = 11;

/// Fields and counts of the common posting.
const PLAIN: FieldCounts = {
    let mut counts = [0; N_FIELDS];
    counts[Field::Body as usize] = 1;
    counts
};

const EXPLICIT: u8 = 7;
const _: () = assert!(N_FIELDS == 5, "five bits of the byte are fields, three the count");

/// Postings that a term may have in one block without a number. Spread over numbered blocks, a few
/// dozen postings would have a row each.
pub(crate) const WHOLE_MAX: usize = 96;

/// The block of a key with this end, after the term and its NUL; 0 for the block without a number.
pub(crate) fn block_of_end(end: &[u8]) -> Option<u32> {
    if end.is_empty() { Some(0) } else { end.try_into().ok().map(u32::from_be_bytes) }
}

/// The block that holds a handle.
pub(crate) fn block_of(doc: u32) -> u32 {
    doc >> BLOCK_BITS
}

/// Appends a posting to a block under construction. `gap` is the distance to the handle before, or
/// to the start of the block.
pub(crate) fn put_posting(out: &mut Vec<u8>, gap: u32, counts: &FieldCounts) {
    if *counts == PLAIN {
        put(out, u64::from(gap) << 1);
        return;
    }
    put(out, u64::from(gap) << 1 | 1);
    let mut mask = 0;
    let mut common = None;
    let mut equal = true;
    for (i, &n) in counts.iter().enumerate().filter(|(_, n)| **n > 0) {
        mask |= 1 << i;
        equal &= *common.get_or_insert(n) == n;
    }
    match common {
        Some(n) if equal && n <= EXPLICIT => out.push(mask | (n - 1) << 5),
        _ => {
            out.push(mask | EXPLICIT << 5);
            out.extend(counts.iter().filter(|n| **n > 0));
        }
    }
}

/// Reads one posting: the distance and the counts.
#[inline]
pub(crate) fn read_posting(r: &mut Reader) -> Option<(u32, FieldCounts)> {
    let head = r.u32()?;
    if head & 1 == 0 {
        return Some((head >> 1, PLAIN));
    }
    let byte = r.byte()?;
    let mut counts = [0; N_FIELDS];
    for (i, n) in counts.iter_mut().enumerate() {
        if byte & 1 << i != 0 {
            *n = if byte >> 5 == EXPLICIT { r.byte()? } else { (byte >> 5) + 1 };
        }
    }
    Some((head >> 1, counts))
}

/// Encodes a block of postings sorted by handle.
pub(crate) fn encode(block: u32, postings: &[(u32, FieldCounts)]) -> Vec<u8> {
    let mut out = Vec::with_capacity(postings.len() * 2 + 4);
    encode_to(&mut out, block, postings);
    out
}

/// Appends an encoded block to `out`.
pub(crate) fn encode_to(out: &mut Vec<u8>, block: u32, postings: &[(u32, FieldCounts)]) {
    put(out, postings.len() as u64);
    let mut last = block << BLOCK_BITS;
    for (doc, counts) in postings {
        put_posting(out, doc - last, counts);
        last = *doc;
    }
}

/// Passes the postings of a block to `each`; `None` for invalid bytes.
pub(crate) fn decode(block: u32, bytes: &[u8], mut each: impl FnMut(u32, FieldCounts)) -> Option<()> {
    let mut r = Reader::new(bytes);
    let n = r.u32()?;
    let mut doc = block << BLOCK_BITS;
    for _ in 0..n {
        let (gap, counts) = read_posting(&mut r)?;
        doc = doc.checked_add(gap)?;
        each(doc, counts);
    }
    r.is_empty().then_some(())
}

/// The number of postings of a block.
pub(crate) fn count(bytes: &[u8]) -> Option<u32> {
    Reader::new(bytes).u32()
}

/// Adds or replaces (`Some`) and removes (`None`) postings. `changes` is sorted by handle, each handle once.
/// `None` when a posting to remove does not exist.
pub(crate) fn merge(
    old: &[(u32, FieldCounts)],
    changes: &[(u32, Option<FieldCounts>)],
) -> Option<Vec<(u32, FieldCounts)>> {
    let mut out = Vec::with_capacity(old.len() + changes.len());
    let mut old = old.iter().peekable();
    for (doc, change) in changes {
        while let Some(o) = old.next_if(|o| o.0 < *doc) {
            out.push(*o);
        }
        let there = old.next_if(|o| o.0 == *doc);
        match change {
            Some(counts) => out.push((*doc, *counts)),
            None => {
                there?;
            }
        }
    }
    out.extend(old.copied());
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn counts() -> impl Strategy<Value = FieldCounts> {
        prop_oneof![Just(PLAIN), prop::array::uniform5(0u8..4), any::<FieldCounts>()]
            .prop_filter("a posting has an occurrence", |c| c.iter().any(|n| *n > 0))
    }

    fn block() -> impl Strategy<Value = BTreeMap<u32, FieldCounts>> {
        prop::collection::btree_map(5u32 << BLOCK_BITS..6 << BLOCK_BITS, counts(), 0..60)
    }

    proptest! {
        #[test]
        fn blocks_round_trip(postings in block()) {
            let list: Vec<_> = postings.into_iter().collect();
            let bytes = encode(5, &list);
            let mut back = Vec::new();
            prop_assert_eq!(decode(5, &bytes, |d, c| back.push((d, c))), Some(()));
            prop_assert_eq!(count(&bytes), Some(list.len() as u32));
            prop_assert_eq!(back, list);
        }

        #[test]
        fn merging_is_a_map_update(old in block(), new in block(), gone in prop::collection::vec(any::<prop::sample::Index>(), 0..5)) {
            let mut model = old.clone();
            let mut changes: BTreeMap<u32, Option<FieldCounts>> = new.iter().map(|(d, c)| (*d, Some(*c))).collect();
            for i in gone {
                if !old.is_empty() {
                    changes.insert(*old.keys().nth(i.index(old.len())).unwrap(), None);
                }
            }
            for (d, c) in &changes {
                match c {
                    Some(c) => model.insert(*d, *c),
                    None => model.remove(d),
                };
            }
            let old: Vec<_> = old.into_iter().collect();
            let changes: Vec<_> = changes.into_iter().collect();
            prop_assert_eq!(merge(&old, &changes), Some(model.into_iter().collect::<Vec<_>>()));
            prop_assert_eq!(merge(&[], &[(5 << BLOCK_BITS, None)]), None);
        }

        #[test]
        fn garbage_is_refused_without_panic(bytes: Vec<u8>) {
            let _ = decode(0, &bytes, |_, _| ());
        }
    }

    #[test]
    fn the_common_posting_takes_one_byte() {
        for (counts, len) in [(PLAIN, 1), ([0, 0, 0, 0, 2], 2), ([1, 0, 0, 0, 1], 2), ([1, 0, 0, 0, 3], 4)] {
            let mut out = Vec::new();
            put_posting(&mut out, 3, &counts);
            assert_eq!(out.len(), len, "{counts:?}");
        }
    }
}
