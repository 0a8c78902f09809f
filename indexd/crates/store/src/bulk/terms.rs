//! Terms of the first build: numbered once for all threads, kept as packed lists by chunk, and
//! turned into posting blocks by term at the end.

use super::sink::Sink;
use crate::codec::bytes::{Reader, put};
use crate::codec::postings::{WHOLE_MAX, block_of, encode, put_posting, read_posting};
use crate::error::{Result, StoreError};
use crate::rows::term_prefix;
use crate::table::Table;
use indexd_model::terms::{FileTerms, Vocabulary};
use indexd_model::view::{FieldCounts, N_FIELDS};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

const SHARDS: usize = 32;

/// Postings held at one time while lists are turned: 12 bytes each.
const POSTINGS_AT_ONCE: usize = 3 << 20;

/// Numbers terms, the same for all threads.
pub(super) struct Interner {
    shards: [Mutex<FxHashMap<Box<str>, u32>>; SHARDS],
    next: AtomicU32,
}

impl Interner {
    pub fn new() -> Self {
        Self { shards: std::array::from_fn(|_| Mutex::default()), next: AtomicU32::new(0) }
    }

    fn number(&self, term: &str) -> u32 {
        let mut h = FxHasher::default();
        term.hash(&mut h);
        // The map inside uses the same hash's low bits, so shards go by others.
        let shard = (h.finish() >> 40) as usize % SHARDS;
        let mut map = self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(n) = map.get(term) {
            return *n;
        }
        let n = self.next.fetch_add(1, Ordering::Relaxed);
        map.insert(term.into(), n);
        n
    }

    /// Every term by number.
    fn into_terms(self) -> Vec<Box<str>> {
        let mut all: Vec<(u32, Box<str>)> = Vec::with_capacity(self.next.load(Ordering::Relaxed) as usize);
        for shard in self.shards {
            let map = shard.into_inner().unwrap_or_else(PoisonError::into_inner);
            all.extend(map.into_iter().map(|(term, n)| (n, term)));
        }
        all.sort_unstable();
        all.into_iter().map(|a| a.1).collect()
    }
}

/// Numbers of the terms of one vocabulary, so that each of its terms is looked up once. Keeps the
/// vocabulary's identity, so that the address stays its own.
type Known = (Arc<()>, Arc<Mutex<Vec<u32>>>);

/// Numbers of every vocabulary seen: one for each worker thread.
#[derive(Default)]
pub(super) struct Numbers {
    by_vocabulary: Mutex<FxHashMap<usize, Known>>,
}

impl Numbers {
    fn of(&self, vocabulary: &Vocabulary) -> Arc<Mutex<Vec<u32>>> {
        let identity = vocabulary.identity();
        let mut all = self.by_vocabulary.lock().unwrap_or_else(PoisonError::into_inner);
        let known = all
            .entry(Arc::as_ptr(identity) as usize)
            .or_insert_with(|| (Arc::clone(identity), Arc::default()));
        Arc::clone(&known.1)
    }

    /// Packs the lists of all chunks of a file, and that of its path.
    pub fn pack(
        &self,
        interner: &Interner,
        vocabulary: &Vocabulary,
        terms: &FileTerms,
    ) -> (Vec<u8>, Vec<u8>) {
        let known = self.of(vocabulary);
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        known.resize(vocabulary.len(), u32::MAX);
        let mut file = FileNumbers { interner, vocabulary, known: &mut known };
        let mut chunks = Vec::new();
        for chunk in &terms.chunks {
            file.push(&mut chunks, chunk.terms.iter().copied());
        }
        chunks.shrink_to_fit();
        let mut path = Vec::new();
        let counted = terms.path.iter().map(|(term, n)| (*term, crate::write::path_counts(*n)));
        file.push(&mut path, counted);
        path.shrink_to_fit();
        (chunks, path)
    }
}

struct FileNumbers<'a> {
    interner: &'a Interner,
    vocabulary: &'a Vocabulary,
    known: &'a mut [u32],
}

impl FileNumbers<'_> {
    fn number(&mut self, local: u32) -> u32 {
        let known = &mut self.known[local as usize];
        if *known == u32::MAX {
            *known = self.interner.number(self.vocabulary.term(local));
        }
        *known
    }

    /// Appends one list: its length, then numbers and counts, sorted.
    fn push(&mut self, out: &mut Vec<u8>, terms: impl Iterator<Item = (u32, FieldCounts)>) {
        let mut list: Vec<(u32, FieldCounts)> = terms
            .filter(|t| t.1 != [0; N_FIELDS])
            .map(|(local, counts)| (self.number(local), counts))
            .collect();
        list.sort_unstable_by_key(|t| t.0);
        put(out, list.len() as u64);
        let mut last = 0;
        for (number, counts) in &list {
            put_posting(out, number - last, counts);
            last = *number;
        }
    }
}

/// The first eight bytes of a text as a number that orders as they do; sorting by it first touches
/// few texts.
pub(super) fn head(text: &str) -> u64 {
    let mut bytes = [0; 8];
    let n = text.len().min(8);
    bytes[..n].copy_from_slice(&text.as_bytes()[..n]);
    u64::from_be_bytes(bytes)
}

/// Packed lists: the first handle, how many lists, and the lists, one for each handle from there.
pub(super) type Packed<'a> = (u32, usize, &'a [u8]);

/// Hands every posting of packed lists, as `(term number, handle, counts)`, to `each`.
fn unpack((start, n, bytes): Packed, mut each: impl FnMut(u32, u32, FieldCounts)) -> Option<()> {
    let mut r = Reader::new(bytes);
    for doc in (start..).take(n) {
        let mut number = 0;
        for _ in 0..r.u32()? {
            let (gap, counts) = read_posting(&mut r)?;
            number += gap;
            each(number, doc, counts);
        }
    }
    Some(())
}

/// The terms of a finished reading phase, by number, and the order of the terms themselves.
pub(super) struct Dictionary {
    terms: Vec<Box<str>>,
    order: Vec<u32>,
}

impl Dictionary {
    pub fn new(interner: Interner) -> Self {
        let terms = interner.into_terms();
        // Keys end in a NUL, and prefixes sort before what they begin: the order of keys.
        let mut order: Vec<(u64, u32)> = (0..).zip(&terms).map(|(n, term)| (head(term), n)).collect();
        order.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0).then_with(|| terms[a.1 as usize].cmp(&terms[b.1 as usize]))
        });
        let order = order.into_iter().map(|o| o.1).collect();
        Self { terms, order }
    }

    /// Writes the posting blocks of all lists, whose handles ascend, to `table`.
    ///
    /// The lists are read once to count, then once for each run of terms whose postings fit in
    /// memory together.
    pub fn write<'a>(
        &self,
        table: &Table,
        sink: &mut Sink,
        lists: impl Iterator<Item = Packed<'a>> + Clone,
    ) -> Result<()> {
        let damaged = || StoreError::Inconsistent("packed terms do not read back".into());
        let mut counts = vec![0u32; self.terms.len()];
        for list in lists.clone() {
            unpack(list, |number, _, _| counts[number as usize] += 1).ok_or_else(damaged)?;
        }
        let mut starts = vec![u32::MAX; self.terms.len()];
        let mut from = 0;
        while from < self.order.len() {
            let (mut to, mut total) = (from, 0usize);
            while to < self.order.len() {
                let n = counts[self.order[to] as usize] as usize;
                if total > 0 && total + n > POSTINGS_AT_ONCE {
                    break;
                }
                starts[self.order[to] as usize] = total as u32;
                total += n;
                to += 1;
            }
            let mut postings: Vec<(u32, FieldCounts)> = vec![(0, [0; N_FIELDS]); total];
            for list in lists.clone() {
                unpack(list, |number, doc, counts| {
                    let at = &mut starts[number as usize];
                    if *at != u32::MAX {
                        postings[*at as usize] = (doc, counts);
                        *at += 1;
                    }
                })
                .ok_or_else(damaged)?;
            }
            let mut at = 0;
            for number in &self.order[from..to] {
                let n = counts[*number as usize] as usize;
                self.write_term(table, sink, *number, &postings[at..at + n])?;
                at += n;
                starts[*number as usize] = u32::MAX;
            }
            from = to;
        }
        Ok(())
    }

    fn write_term(
        &self,
        table: &Table,
        sink: &mut Sink,
        number: u32,
        postings: &[(u32, FieldCounts)],
    ) -> Result<()> {
        let mut key = term_prefix(&self.terms[number as usize])?;
        if postings.len() <= WHOLE_MAX {
            return match postings {
                [] => Ok(()),
                _ => sink.append(table, &key, &mut encode(0, postings)),
            };
        }
        let prefix_len = key.len();
        for run in postings.chunk_by(|a, b| block_of(a.0) == block_of(b.0)) {
            let block = block_of(run[0].0);
            key.truncate(prefix_len);
            key.extend_from_slice(&block.to_be_bytes());
            sink.append(table, &key, &mut encode(block, run))?;
        }
        Ok(())
    }
}
