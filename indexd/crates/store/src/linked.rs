//! Links of one file in the form of rows, for both writers.

use crate::codec::bytes::{Reader, put};
use crate::codec::edges::Use;
use crate::error::{Result, StoreError};
use indexd_model::view::Occurrence;
use indexd_model::{DefRef, Key, LineIndex, Links};

/// Uses by source: position of the source among the file's handles (0 is the file itself), and its
/// uses in stored order. Sources come in ascending order.
pub(crate) fn by_source(
    links: &Links,
    n_docs: usize,
    lines: &LineIndex,
    mut target_of: impl FnMut(DefRef) -> Result<u32>,
) -> Result<Vec<(usize, Vec<Use>)>> {
    let mut all: Vec<(usize, Use)> = Vec::with_capacity(links.links.len());
    for l in &links.links {
        let slot = l.source.some().map_or(0, |d| d.index() + 1);
        if slot >= n_docs {
            return Err(StoreError::Inconsistent(format!(
                "a link from {:?}, which the file has not",
                l.source
            )));
        }
        let occurrence = Occurrence {
            at: l.at,
            line: lines.line(l.at),
            role: l.role,
            rule: l.rule,
            confidence: l.confidence,
        };
        all.push((slot, Use { kind: l.kind, target: target_of(l.target)?, occurrence }));
    }
    all.sort_unstable();
    Ok(all.chunk_by(|a, b| a.0 == b.0).map(|run| (run[0].0, run.iter().map(|r| r.1).collect())).collect())
}

/// The stored halves of keys that were looked up, sorted, without repeats. Two keys with one half can only cause
/// a needless relink, and there is one such pair in 6,000 changes of a repository of two million lines. Their blobs are not compressed, since halves of hashes do
/// not get smaller.
pub(crate) fn short_keys(keys: &[Key]) -> Vec<u32> {
    let mut keys: Vec<u32> = keys.iter().map(|k| (k.0 >> 32) as u32).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Encodes sorted numbers as differences.
pub(crate) fn encode_sorted(keys: &[u32]) -> Vec<u8> {
    let mut out = Vec::with_capacity(keys.len() * 4);
    let mut last = 0;
    for k in keys {
        put(&mut out, u64::from(k - last));
        last = *k;
    }
    out
}

/// Undoes [`encode_sorted`].
pub(crate) fn decode_sorted(bytes: &[u8]) -> Option<Vec<u32>> {
    let mut r = Reader::new(bytes);
    let mut out = Vec::new();
    let mut last = 0u32;
    while !r.is_empty() {
        last = last.checked_add(r.u32()?)?;
        out.push(last);
    }
    Some(out)
}

/// Compares sorted lists and returns the values only in `old` (`false`) and only in `new` (`true`), sorted.
pub(crate) fn differences<T: Ord + Copy>(old: &[T], new: &[T]) -> Vec<(T, bool)> {
    let mut out = Vec::new();
    let (mut old, mut new) = (old.iter().copied().peekable(), new.iter().copied().peekable());
    loop {
        match (old.peek(), new.peek()) {
            (Some(o), Some(n)) if o == n => {
                old.next();
                new.next();
            }
            (Some(o), Some(n)) if o > n => out.extend(new.next().map(|n| (n, true))),
            (Some(_), _) => out.extend(old.next().map(|o| (o, false))),
            (None, Some(_)) => out.extend(new.next().map(|n| (n, true))),
            (None, None) => return out,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn differences_are_set_differences(old: BTreeSet<u8>, new: BTreeSet<u8>) {
            let (o, n): (Vec<u8>, Vec<u8>) = (old.iter().copied().collect(), new.iter().copied().collect());
            let mut expect: Vec<(u8, bool)> = old.difference(&new).map(|x| (*x, false)).collect();
            expect.extend(new.difference(&old).map(|x| (*x, true)));
            expect.sort_unstable();
            prop_assert_eq!(differences(&o, &n), expect);
        }

        #[test]
        fn sorted_numbers_round_trip(keys: BTreeSet<u32>) {
            let keys: Vec<u32> = keys.into_iter().collect();
            prop_assert_eq!(decode_sorted(&encode_sorted(&keys)), Some(keys));
        }
    }
}
