//! Terms of the first build: kept as packed lists by chunk, in the numbers of the thread that counted them,
//! and turned into posting blocks by term at the end. The numbers of the threads are merged only then: each
//! thread knows nearly all terms by itself, and every one of them would be looked up in a shared table.

use super::sink::Sink;
use crate::codec::bytes::{Reader, put};
use crate::codec::postings::{WHOLE_MAX, block_of, encode_to, put_posting, read_posting};
use crate::error::{Result, StoreError};
use crate::rows::push_term_prefix;
use crate::table::Table;
use indexd_model::terms::{FileTerms, Terms, Vocabulary};
use indexd_model::view::{FieldCounts, N_FIELDS};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Estimated bytes of a posting in a packed list, a little more than most take.
const POSTING_BYTES: usize = 3;
/// Postings held at one time while lists are inverted: 12 bytes each.
const POSTINGS_AT_ONCE: usize = 3 << 20;

/// The vocabularies in use, one for each worker thread, in order of their first use.
#[derive(Default)]
pub(super) struct Vocabularies {
    known: Mutex<Vec<Known>>,
}

/// The owner of a packed list.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    /// A chunk of text.
    Chunk,
    /// The path of a file.
    Path,
}

/// The state of one vocabulary.
struct Known {
    /// Keeps the allocation alive, so that its address stays unique.
    identity: Arc<()>,
    /// Terms by number, of the files added so far.
    terms: Terms,
    /// Number of lists of either kind that hold each term.
    n_lists: [Vec<u32>; 2],
}

impl Vocabularies {
    /// Packs the lists of all chunks of a file, and that of its path; also returns the index of their
    /// vocabulary.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`] for a term that the vocabulary does not have.
    pub fn pack(&self, vocabulary: &Vocabulary, terms: &FileTerms) -> Result<(u32, Vec<u8>, Vec<u8>)> {
        let numbers = terms.chunks.iter().flat_map(|chunk| &chunk.terms).map(|t| t.0);
        let mut numbers = numbers.chain(terms.path.iter().map(|t| t.0));
        if numbers.any(|number| number as usize >= vocabulary.len()) {
            return Err(StoreError::Inconsistent("a term of another vocabulary".into()));
        }
        let index = self.take_in(vocabulary, terms);
        let n_terms: usize = terms.chunks.iter().map(|chunk| chunk.terms.len()).sum();
        let mut chunks = Vec::with_capacity(POSTING_BYTES * n_terms);
        for chunk in &terms.chunks {
            push(&mut chunks, chunk.terms.iter().copied());
        }
        chunks.shrink_to_fit();
        let mut path = Vec::new();
        push(&mut path, terms.path.iter().map(|(term, n)| (*term, crate::write::path_counts(*n))));
        path.shrink_to_fit();
        Ok((index, chunks, path))
    }

    /// Adds the new terms of a vocabulary, counts the lists of a file, and returns the index of the
    /// vocabulary.
    fn take_in(&self, vocabulary: &Vocabulary, file: &FileTerms) -> u32 {
        let mut all = self.lock();
        let index = all.iter().position(|k| Arc::ptr_eq(&k.identity, vocabulary.identity()));
        let index = index.unwrap_or_else(|| {
            let identity = Arc::clone(vocabulary.identity());
            all.push(Known { identity, terms: Terms::default(), n_lists: Default::default() });
            all.len() - 1
        });
        let Known { terms, n_lists, .. } = &mut all[index];
        (terms.len()..vocabulary.len()).for_each(|i| terms.push(vocabulary.term(i as u32)));
        n_lists.iter_mut().for_each(|n| n.resize(terms.len(), 0));
        let [n_chunks, n_paths] = n_lists;
        let of_chunks = file.chunks.iter().flat_map(|chunk| &chunk.terms);
        of_chunks.filter(|t| t.1 != [0; N_FIELDS]).for_each(|t| n_chunks[t.0 as usize] += 1);
        file.path.iter().filter(|t| t.1 != 0).for_each(|t| n_paths[t.0 as usize] += 1);
        index as u32
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Appends one list: its length, then numbers and counts, sorted.
fn push(out: &mut Vec<u8>, terms: impl Iterator<Item = (u32, FieldCounts)> + Clone) {
    let terms = terms.filter(|t| t.1 != [0; N_FIELDS]);
    // Most counters already return their terms sorted.
    if terms.clone().is_sorted_by_key(|t| t.0) {
        return push_sorted(out, terms);
    }
    let mut list: Vec<(u32, FieldCounts)> = terms.collect();
    list.sort_unstable_by_key(|t| t.0);
    push_sorted(out, list.into_iter());
}

fn push_sorted(out: &mut Vec<u8>, terms: impl Iterator<Item = (u32, FieldCounts)> + Clone) {
    put(out, terms.clone().count() as u64);
    let mut last = 0;
    for (number, counts) in terms {
        put_posting(out, number - last, &counts);
        last = number;
    }
}

/// The first eight bytes of a text as a number with the same order. Sorting by it first avoids reading most
/// texts.
fn head(text: &str) -> u64 {
    let mut bytes = [0; 8];
    let n = text.len().min(8);
    bytes[..n].copy_from_slice(&text.as_bytes()[..n]);
    u64::from_be_bytes(bytes)
}

/// Packed lists of one file, one for each handle from the first.
#[derive(Clone, Copy)]
pub(super) struct Packed<'a> {
    /// The first handle.
    pub start: u32,
    /// Number of lists.
    pub n: usize,
    /// Index of the vocabulary that numbered them.
    pub vocabulary: u32,
    /// The lists.
    pub bytes: &'a [u8],
}

/// The terms of all vocabularies, one after the other, and the order of the terms themselves.
pub(super) struct Dictionary {
    terms: Terms,
    /// For each term, the number of the first term equal to it.
    firsts: Vec<u32>,
    /// The number of the first term of each vocabulary.
    starts: Vec<usize>,
    /// The numbers of the distinct terms, sorted by term.
    order: Vec<u32>,
    /// For each of these, the number of lists of either kind that hold it.
    n_lists: [Vec<u32>; 2],
}

impl Dictionary {
    pub fn new(vocabularies: &Vocabularies) -> Self {
        let mut terms = Terms::default();
        let mut starts = Vec::new();
        let mut known_lists: [Vec<u32>; 2] = Default::default();
        for known in vocabularies.lock().iter() {
            starts.push(terms.len());
            terms.append(&known.terms);
            for (all, own) in known_lists.iter_mut().zip(&known.n_lists) {
                all.extend_from_slice(own);
            }
        }
        // Keys end in a NUL, and prefixes sort before longer texts: the order of keys.
        let mut order: Vec<(u64, u32)> = (0..terms.len() as u32).map(|n| (head(terms.get(n)), n)).collect();
        order.sort_unstable_by(|a, b| {
            let by_text = || terms.get(a.1).cmp(terms.get(b.1));
            a.0.cmp(&b.0).then_with(by_text).then(a.1.cmp(&b.1))
        });
        let mut firsts = vec![0; terms.len()];
        let mut firsts_in_order: Vec<u32> = Vec::with_capacity(order.len());
        for (_, n) in order {
            match firsts_in_order.last() {
                Some(first) if terms.get(*first) == terms.get(n) => firsts[n as usize] = *first,
                _ => {
                    firsts[n as usize] = n;
                    firsts_in_order.push(n);
                }
            }
        }
        let n_lists = known_lists.map(|known| {
            let mut n_lists = vec![0; terms.len()];
            firsts.iter().zip(known).for_each(|(first, n)| n_lists[*first as usize] += n);
            n_lists
        });
        Self { terms, firsts, starts, order: firsts_in_order, n_lists }
    }

    /// Passes every posting of packed lists, as `(term number, handle, counts)`, to `each`.
    fn unpack(&self, packed: Packed, mut each: impl FnMut(u32, u32, FieldCounts)) -> Option<()> {
        let firsts = self.firsts.get(*self.starts.get(packed.vocabulary as usize)?..)?;
        let mut r = Reader::new(packed.bytes);
        for doc in (packed.start..).take(packed.n) {
            let mut number = 0usize;
            for _ in 0..r.u32()? {
                let (gap, counts) = read_posting(&mut r)?;
                number += gap as usize;
                each(*firsts.get(number)?, doc, counts);
            }
        }
        Some(())
    }

    /// Writes the posting blocks of all lists of a kind, by ascending handle, to `table`.
    ///
    /// The lists are read once for each run of terms whose postings fit in memory together.
    pub fn write<'a>(
        &self,
        table: &Table,
        sink: &mut Sink,
        kind: Kind,
        lists: impl Iterator<Item = Packed<'a>> + Clone,
    ) -> Result<()> {
        let damaged = || StoreError::Inconsistent("packed terms do not read back".into());
        let counts = &self.n_lists[kind as usize];
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
                self.unpack(list, |number, doc, counts| {
                    let at = &mut starts[number as usize];
                    if *at != u32::MAX {
                        postings[*at as usize] = (doc, counts);
                        *at += 1;
                    }
                })
                .ok_or_else(damaged)?;
            }
            let mut at = 0;
            let mut row = Row::default();
            for number in &self.order[from..to] {
                let n = counts[*number as usize] as usize;
                if starts[*number as usize] as usize != at + n {
                    return Err(damaged());
                }
                row.write(table, sink, self.terms.get(*number), &postings[at..at + n])?;
                at += n;
                starts[*number as usize] = u32::MAX;
            }
            from = to;
        }
        Ok(())
    }
}

/// Buffers reused for one row after the other: most terms are in few chunks, and allocating for each row
/// would cost as much as the rest of the work.
#[derive(Default)]
struct Row {
    key: Vec<u8>,
    value: Vec<u8>,
}

impl Row {
    /// Appends the posting blocks of a term, whose postings are sorted by handle.
    fn write(
        &mut self,
        table: &Table,
        sink: &mut Sink,
        term: &str,
        postings: &[(u32, FieldCounts)],
    ) -> Result<()> {
        let Self { key, value } = self;
        key.clear();
        push_term_prefix(key, term)?;
        if postings.len() <= WHOLE_MAX {
            if postings.is_empty() {
                return Ok(());
            }
            value.clear();
            encode_to(value, 0, postings);
            return sink.append(table, key, value);
        }
        let prefix_len = key.len();
        for run in postings.chunk_by(|a, b| block_of(a.0) == block_of(b.0)) {
            let block = block_of(run[0].0);
            key.truncate(prefix_len);
            key.extend_from_slice(&block.to_be_bytes());
            value.clear();
            encode_to(value, block, run);
            sink.append(table, key, value)?;
        }
        Ok(())
    }
}
