//! A read transaction that keeps the runs it has decoded.
//!
//! A pack reads thousands of chunks and definitions, most of them neighbours. Finding the run of each in the
//! tree, verifying its checksum and walking to the entry takes a microsecond; a decoded run takes a search
//! among a few hundred in memory and one among its entries. The decoded runs of one snapshot are reused by
//! the next one of the same state.

use crate::codec::records::ArchivedFileRow;
use crate::codec::run::Entries;
use crate::error::Result;
use crate::table::Table;
use crate::untouched::Writing;
use heed::{Env, RoTxn, RwTxn, WithoutTls};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Runs kept of one table, about 1 KB each; all are dropped when there are more.
const RUNS_MAX: usize = 4_096;
/// Other rows kept of one table.
const ROWS_MAX: usize = 16_384;

/// A read transaction with the rows and paths it has decoded.
pub(crate) struct ReadTxn {
    /// Runs of chunks.
    pub chunks: RefCell<Runs>,
    /// Runs of definitions.
    pub defs: RefCell<Runs>,
    files: RefCell<FxHashMap<u32, &'static ArchivedFileRow>>,
    paths: RefCell<FxHashMap<Box<[u8]>, Option<u32>>>,
    /// Counted postings of a term, and whether that is all of them.
    frequencies: RefCell<FxHashMap<Box<str>, (u32, bool)>>,
    /// Number of snapshots that used it before.
    uses: u32,
    txn: Held,
}

/// The transaction that is read.
enum Held {
    Read(RoTxn<'static, WithoutTls>),
    /// A write transaction that is never committed, and the guard that notes its end.
    Write(RwTxn<'static>, #[expect(dead_code, reason = "dropped behind it")] Writing),
}

/// The number of snapshots that one transaction serves, one after the other. Then it is opened again and its
/// rows are checked again: a disk may fail while its pages are not in memory.
const USES_MAX: u32 = 512;

/// A read transaction between two snapshots.
#[derive(Default)]
pub(crate) struct Idle(Mutex<Option<ReadTxn>>);

impl Idle {
    /// Takes the idle transaction, if nothing was committed since it began; otherwise ends it.
    pub fn take(&self, env: &Env<WithoutTls>) -> Option<ReadTxn> {
        let last = env.info().last_txn_id;
        self.slot().take().filter(|txn| txn.txn().id() == last)
    }

    /// Keeps the transaction of a dropped snapshot for the next one.
    pub fn put(&self, mut txn: ReadTxn) {
        txn.uses += 1;
        if txn.uses < USES_MAX && !txn.is_writer() {
            *self.slot() = Some(txn);
        }
    }

    /// Ends the idle transaction. LMDB does not overwrite pages that a reader may see: a transaction that
    /// began before the last commit would make the file grow.
    pub fn clear(&self) {
        let old = self.slot().take();
        drop(old);
    }

    fn slot(&self) -> MutexGuard<'_, Option<ReadTxn>> {
        // No panic can leave the value in an invalid state.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes room for one more entry.
fn bounded<K, V>(map: &mut FxHashMap<K, V>) -> &mut FxHashMap<K, V> {
    if map.len() >= ROWS_MAX {
        map.clear();
    }
    map
}

/// Runs of a table whose keys are handles.
#[derive(Default)]
pub(crate) struct Runs {
    /// First and last handle of each run and its place in `runs`, ascending.
    order: Vec<(u32, u32, u32)>,
    runs: Vec<Run>,
    /// The place of the run found last: the next handle is often its neighbour.
    last: usize,
}

/// A decoded run: verified, with the position of each value.
struct Run {
    bytes: &'static [u8],
    /// Handle, start and end of its value.
    entries: Box<[(u32, u16, u16)]>,
}

impl ReadTxn {
    /// Wraps a transaction.
    pub fn new(txn: RoTxn<'static, WithoutTls>) -> Self {
        Self::of(Held::Read(txn))
    }

    /// Wraps a write transaction that has written and is never committed.
    pub fn of_writer(txn: RwTxn<'static>, writing: Writing) -> Self {
        Self::of(Held::Write(txn, writing))
    }

    fn of(txn: Held) -> Self {
        Self {
            chunks: RefCell::default(),
            defs: RefCell::default(),
            files: RefCell::default(),
            paths: RefCell::default(),
            frequencies: RefCell::default(),
            uses: 0,
            txn,
        }
    }

    /// The transaction.
    pub fn txn(&self) -> &RoTxn<'static, WithoutTls> {
        match &self.txn {
            Held::Read(txn) => txn,
            Held::Write(txn, _) => txn,
        }
    }

    /// Returns true if it shows uncommitted changes.
    pub fn is_writer(&self) -> bool {
        matches!(self.txn, Held::Write(..))
    }

    /// The record of a file. `read` finds it in the transaction when it was not read before.
    pub fn file(
        &self,
        handle: u32,
        read: impl for<'t> FnOnce(&'t RoTxn) -> Result<&'t ArchivedFileRow>,
    ) -> Result<&ArchivedFileRow> {
        if let Some(row) = self.files.borrow().get(&handle) {
            return Ok(row);
        }
        let row = self.kept(read)?;
        bounded(&mut self.files.borrow_mut()).insert(handle, row);
        Ok(row)
    }

    /// Finds something in the pages of the transaction and extends its lifetime, so that it can be stored in
    /// this struct. Callers must hand the result out only as a borrow of `self`.
    fn kept<T: ?Sized + 'static>(
        &self,
        find: impl for<'t> FnOnce(&'t RoTxn) -> Result<&'t T>,
    ) -> Result<&'static T> {
        let found: *const T = find(self.txn())?;
        #[expect(unsafe_code, reason = "Rust has no borrow of a field that lies beside it")]
        // SAFETY: `find` is for every lifetime, so its result is in the pages of this transaction or static.
        // The pages stay in place and unchanged until the transaction ends, which is when `self` is dropped
        // (a transaction that wrote has no way to write again); nothing that is kept is read while `self` is
        // dropped.
        Ok(unsafe { &*found })
    }

    /// The handle of the file with this path key. `read` finds it when it is not known yet.
    /// Manifests are looked up in every folder above a file.
    pub fn path(&self, key: &[u8], read: impl FnOnce() -> Result<Option<u32>>) -> Result<Option<u32>> {
        if let Some(known) = self.paths.borrow().get(key) {
            return Ok(*known);
        }
        let found = read()?;
        bounded(&mut self.paths.borrow_mut()).insert(key.into(), found);
        Ok(found)
    }

    /// The number of postings of a term, if it is at most `most`. `count` counts them when the number is not
    /// known, and stops above the limit. Common words, which have most blocks, occur in every request.
    pub fn frequency(
        &self,
        term: &str,
        most: u32,
        count: impl FnOnce() -> Result<u32>,
    ) -> Result<Option<u32>> {
        let known = self.frequencies.borrow().get(term).copied();
        let n = match known {
            Some((n, is_all)) if is_all || n > most => n,
            _ => {
                let n = count()?;
                bounded(&mut self.frequencies.borrow_mut()).insert(term.into(), (n, n <= most));
                n
            }
        };
        Ok(Some(n).filter(|n| *n <= most))
    }

    /// The row under a handle in a table of which `runs` are decoded.
    pub fn row(&self, runs: &RefCell<Runs>, table: &Table, handle: u32) -> Result<&[u8]> {
        let mut runs = runs.borrow_mut();
        let at = match runs.find(handle) {
            Some(at) => at,
            None => {
                let key = handle.to_be_bytes();
                let run = self.kept(|txn| table.run(txn, &key)?.ok_or_else(|| table.corrupt(&key)))?;
                runs.add(Run::open(run).ok_or_else(|| table.corrupt(&key))?)
            }
        };
        let run = &runs.runs[at];
        let (start, end) = run.place(handle).ok_or_else(|| table.corrupt(&handle.to_be_bytes()))?;
        Ok(&run.bytes[usize::from(start)..usize::from(end)])
    }
}

impl Runs {
    /// The place of the decoded run that spans a handle.
    fn find(&mut self, handle: u32) -> Option<usize> {
        if self.runs.get(self.last).is_some_and(|run| run.spans(handle)) {
            return Some(self.last);
        }
        let after = self.order.partition_point(|r| r.0 <= handle);
        let (_, last, at) = *self.order.get(after.checked_sub(1)?)?;
        self.last = at as usize;
        (handle <= last).then_some(at as usize)
    }

    /// Keeps a decoded run and returns its place.
    fn add(&mut self, run: Run) -> usize {
        if self.runs.len() >= RUNS_MAX {
            *self = Self::default();
        }
        let at = self.runs.len();
        if let (Some(first), Some(last)) = (run.entries.first(), run.entries.last()) {
            let place = self.order.partition_point(|r| r.0 < first.0);
            // A handle between two runs belongs to the one before it, which may be decoded already.
            if self.order.get(place).is_some_and(|r| r.0 == first.0) {
                return self.order[place].2 as usize;
            }
            self.order.insert(place, (first.0, last.0, at as u32));
        }
        self.runs.push(run);
        at
    }
}

impl Run {
    fn spans(&self, handle: u32) -> bool {
        let (first, last) = (self.entries.first(), self.entries.last());
        first.is_some_and(|e| e.0 <= handle) && last.is_some_and(|e| handle <= e.0)
    }

    /// The position of the value of a handle.
    fn place(&self, handle: u32) -> Option<(u16, u16)> {
        // Most handles of a run follow one another, so one look is enough.
        let n_before = handle.checked_sub(self.entries.first()?.0)? as usize;
        let at = match self.entries.get(n_before) {
            Some(entry) if entry.0 == handle => n_before,
            _ => self.entries.binary_search_by_key(&handle, |e| e.0).ok()?,
        };
        let (_, start, end) = self.entries[at];
        Some((start, end))
    }

    /// Finds the values; `None` for bytes that are not a run of handles.
    fn open(bytes: &'static [u8]) -> Option<Self> {
        let mut found = Vec::with_capacity(64);
        let mut entries = Entries::new(bytes);
        while !entries.is_done() {
            let value = entries.read()?;
            let end = u16::try_from(bytes.len() - entries.rest().len()).ok()?;
            let handle = u32::from_be_bytes(entries.key.as_slice().try_into().ok()?);
            found.push((handle, end - value.len() as u16, end));
        }
        if !found.is_sorted_by(|a, b| a.0 < b.0) {
            return None;
        }
        Some(Self { bytes, entries: found.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_by_its_handle_with_gaps_and_without() {
        for handles in [&[7_u32, 8, 9, 10][..], &[7, 9, 10, 20], &[7], &[3, 4, 8, 9, 12]] {
            let entries = handles.iter().zip(0_u16..).map(|(handle, at)| (*handle, at, at + 1)).collect();
            let run = Run { bytes: &[], entries };
            for handle in 0..30 {
                let want = (0_u16..).zip(handles).find(|(_, h)| **h == handle).map(|(at, _)| (at, at + 1));
                assert_eq!(run.place(handle), want, "{handle} among {handles:?}");
            }
        }
        assert_eq!(Run { bytes: &[], entries: Box::default() }.place(1), None);
    }
}
