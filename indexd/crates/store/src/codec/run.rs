//! Runs: many small rows as one value. A row of LMDB costs ten bytes and its whole key; an entry of a run
//! costs two or three and the bytes of its key that differ from the key before. Definitions, sets and
//! postings of rare terms are a million and a half rows of twenty bytes.

use super::bytes::{Reader, put};
use super::page::{NODE_BYTES_MAX, value_bytes};

/// Bytes of the node of a run: four fill a page. A longer entry is a run of its own.
pub(crate) const RUN_NODE_BYTES: usize = NODE_BYTES_MAX / 2;
/// Bytes of a run with its row's key and checksum.
pub(crate) const RUN_BYTES_MAX: usize = value_bytes(RUN_NODE_BYTES, 0);

const LONG: u8 = 15;

/// Appends an entry whose key is above `last`.
pub(crate) fn push(out: &mut Vec<u8>, last: &[u8], key: &[u8], value: &[u8]) {
    let shared = last.iter().zip(key).take_while(|(a, b)| a == b).count();
    let rest = &key[shared..];
    let (a, b) = (shared.min(usize::from(LONG)) as u8, rest.len().min(usize::from(LONG)) as u8);
    out.push(a << 4 | b);
    if a == LONG {
        put(out, (shared - usize::from(LONG)) as u64);
    }
    if b == LONG {
        put(out, (rest.len() - usize::from(LONG)) as u64);
    }
    put(out, value.len() as u64);
    out.extend_from_slice(rest);
    out.extend_from_slice(value);
}

/// Walks the entries of a run.
#[derive(Clone)]
pub(crate) struct Entries<'a> {
    r: Reader<'a>,
    /// Key of the last entry read.
    pub key: Vec<u8>,
}

impl<'a> Entries<'a> {
    /// Creates a reader before the first entry.
    pub fn new(run: &'a [u8]) -> Self {
        Self { r: Reader::new(run), key: Vec::with_capacity(32) }
    }

    /// Returns true if all entries are read.
    pub fn is_done(&self) -> bool {
        self.r.is_empty()
    }

    /// Bytes not read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.r.rest()
    }

    /// Reads the next entry: its key into `key`, its value as the result. `None` at the end and for invalid
    /// bytes.
    pub fn read(&mut self) -> Option<&'a [u8]> {
        let (shared, rest, len) = head(&mut self.r)?;
        if shared > self.key.len() {
            return None;
        }
        self.key.truncate(shared);
        self.key.extend_from_slice(self.r.take(rest)?);
        self.r.take(len)
    }
}

/// The value under `key`; `None` when the run does not have it and for invalid bytes.
///
/// Keys are not rebuilt: in most cases, the number of bytes that an entry shares with the one before shows
/// that it is a different key.
pub(crate) fn find<'a>(run: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let mut r = Reader::new(run);
    // Number of leading bytes of `key` that the entry before shares. Its next byte is below that of `key`.
    let mut same = 0;
    let mut last_len = 0;
    while !r.is_empty() {
        let (shared, rest, len) = head(&mut r)?;
        if shared > last_len {
            return None;
        }
        last_len = shared + rest;
        let rest = r.take(rest)?;
        let value = r.take(len)?;
        if shared < same {
            // It differs from the one before, and so from `key`, at a byte where those two were equal.
            return None;
        }
        if shared == same {
            let wanted = &key[same..];
            let equal = rest.iter().zip(wanted).take_while(|(a, b)| a == b).count();
            if equal == wanted.len() {
                return (equal == rest.len()).then_some(value);
            }
            if equal < rest.len() && rest[equal] > wanted[equal] {
                return None;
            }
            same += equal;
        }
    }
    None
}

/// Reads the head of an entry: the number of bytes of its key shared with the one before, the bytes of the
/// rest of its key, and those of its value.
fn head(r: &mut Reader) -> Option<(usize, usize, usize)> {
    let head = r.byte()?;
    let mut long = |n: u8| {
        if n == LONG { Some(usize::from(n) + r.u32()? as usize) } else { Some(usize::from(n)) }
    };
    let (shared, rest) = (long(head >> 4)?, long(head & 15)?);
    Some((shared, rest, r.u32()? as usize))
}

/// Adds, replaces (`Some`) or removes an entry. `None` for invalid bytes.
pub(crate) fn splice(run: &[u8], key: &[u8], value: Option<&[u8]>) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(run.len() + key.len() + value.map_or(0, <[u8]>::len) + 8);
    let mut entries = Entries::new(run);
    let mut last = Vec::new();
    loop {
        let at = run.len() - entries.rest().len();
        let next = if entries.is_done() { None } else { Some(entries.read()?) };
        if next.is_some() && *entries.key < *key {
            last.clone_from(&entries.key);
            continue;
        }
        // Everything before is copied; the entry after it is encoded against another key.
        out.extend_from_slice(&run[..at]);
        if let Some(value) = value {
            push(&mut out, &last, key, value);
            last = key.to_vec();
        }
        let after = match next {
            Some(_) if entries.key == key && entries.is_done() => None,
            Some(_) if entries.key == key => Some(entries.read()?),
            next => next,
        };
        if let Some(after) = after {
            push(&mut out, &last, &entries.key, after);
        }
        out.extend_from_slice(entries.rest());
        return Some(out);
    }
}

/// Cuts a run near its middle: the first part, and the key and bytes of the second. `None` when it has one
/// entry only, and for invalid bytes.
pub(crate) fn halve(run: &[u8]) -> Option<(&[u8], Vec<u8>, Vec<u8>)> {
    let mut entries = Entries::new(run);
    entries.read()?;
    loop {
        let at = run.len() - entries.rest().len();
        let value = entries.read()?;
        if at >= run.len() / 2 || entries.is_done() {
            let mut second = Vec::with_capacity(run.len() - at + entries.key.len());
            push(&mut second, &[], &entries.key, value);
            second.extend_from_slice(entries.rest());
            return Some((&run[..at], entries.key, second));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type Map = BTreeMap<Vec<u8>, Vec<u8>>;

    fn map() -> impl Strategy<Value = Map> {
        let key = prop::collection::vec(0..4u8, 1..40);
        prop::collection::btree_map(key, prop::collection::vec(any::<u8>(), 0..30), 0..20)
    }

    fn encode(map: &Map) -> Vec<u8> {
        let (mut out, mut last): (_, &[u8]) = (Vec::new(), &[]);
        for (key, value) in map {
            push(&mut out, last, key, value);
            last = key;
        }
        out
    }

    fn decode(run: &[u8]) -> Map {
        let mut entries = Entries::new(run);
        let mut out = Map::new();
        while !entries.is_done() {
            let value = entries.read().expect("an entry");
            out.insert(entries.key.clone(), value.to_vec());
        }
        out
    }

    proptest! {
        #[test]
        fn runs_round_trip(map in map()) {
            let run = encode(&map);
            for (key, value) in &map {
                prop_assert_eq!(find(&run, key), Some(&value[..]));
            }
            prop_assert_eq!(decode(&run), map);
        }

        #[test]
        fn splicing_is_a_map_update(mut map in map(), key in prop::collection::vec(0..4u8, 1..40), i: prop::sample::Index, value in prop::option::of(prop::collection::vec(any::<u8>(), 0..9))) {
            let known = (!map.is_empty()).then(|| map.keys().nth(i.index(map.len())).unwrap().clone());
            for key in known.into_iter().chain([key]) {
                let run = splice(&encode(&map), &key, value.as_deref()).expect("a run");
                match &value {
                    Some(v) => map.insert(key, v.clone()),
                    None => map.remove(&key),
                };
                prop_assert_eq!(&run, &encode(&map));
            }
        }

        #[test]
        fn halves_make_the_whole(map in map()) {
            let run = encode(&map);
            match halve(&run) {
                Some((first, key, second)) => {
                    let (mut a, b) = (decode(first), decode(&second));
                    prop_assert!(!a.is_empty() && a.keys().all(|k| *k < key) && b.keys().next() == Some(&key));
                    a.extend(b);
                    prop_assert_eq!(a, map);
                }
                None => prop_assert!(map.len() < 2),
            }
        }

        #[test]
        fn garbage_is_refused_without_panic(bytes: Vec<u8>, key: Vec<u8>) {
            let _ = (find(&bytes, &key), splice(&bytes, &key, Some(b"x")), halve(&bytes));
        }
    }
}
