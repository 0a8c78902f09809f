//! A read transaction that remembers the runs it has opened.
//!
//! A pack reads thousands of chunks and definitions, most of them neighbours. Finding the run of
//! each in the tree, checking its sum and walking to the entry costs a microsecond; a run that is
//! open costs a search among a few hundred in memory and one among its entries.

use crate::codec::records::ArchivedFileRow;
use crate::codec::run::Entries;
use crate::error::Result;
use crate::table::Table;
use heed::{RoTxn, WithoutTls};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// Runs kept of one table, about 1 KB each; all are let go when there are more.
const RUNS_MAX: usize = 4_096;
/// Other rows kept of one table.
const ROWS_MAX: usize = 16_384;

/// A read transaction with what it has opened.
pub(crate) struct ReadTxn {
    chunks: RefCell<Runs>,
    defs: RefCell<Runs>,
    files: RefCell<FxHashMap<u32, &'static ArchivedFileRow>>,
    paths: RefCell<FxHashMap<Box<[u8]>, Option<u32>>>,
    txn: RoTxn<'static, WithoutTls>,
}

/// Room for one more.
fn bounded<K, V>(map: &mut FxHashMap<K, V>) -> &mut FxHashMap<K, V> {
    if map.len() >= ROWS_MAX {
        map.clear();
    }
    map
}

/// Runs of a table whose keys are handles.
#[derive(Default)]
struct Runs {
    /// First and last handle of each run and its place in `runs`, ascending.
    order: Vec<(u32, u32, u32)>,
    runs: Vec<Run>,
}

/// An open run: checked, with the place of each value.
struct Run {
    bytes: &'static [u8],
    /// Handle, start and end of its value.
    entries: Box<[(u32, u16, u16)]>,
}

impl ReadTxn {
    /// Takes the transaction over.
    pub fn new(txn: RoTxn<'static, WithoutTls>) -> Self {
        Self {
            chunks: RefCell::default(),
            defs: RefCell::default(),
            files: RefCell::default(),
            paths: RefCell::default(),
            txn,
        }
    }

    /// The transaction.
    pub fn txn(&self) -> &RoTxn<'static, WithoutTls> {
        &self.txn
    }

    /// The row of a chunk.
    pub fn chunk(&self, table: &Table, handle: u32) -> Result<&[u8]> {
        self.row(&self.chunks, table, handle)
    }

    /// The row of a definition.
    pub fn def(&self, table: &Table, handle: u32) -> Result<&[u8]> {
        self.row(&self.defs, table, handle)
    }

    /// The record of a file, which `read` finds when it was not read before.
    pub fn file<'t>(
        &'t self,
        handle: u32,
        read: impl FnOnce() -> Result<&'t ArchivedFileRow>,
    ) -> Result<&'t ArchivedFileRow> {
        if let Some(row) = self.files.borrow().get(&handle) {
            return Ok(row);
        }
        let row = read()?;
        #[allow(unsafe_code, reason = "a borrow of a transaction cannot be kept beside it")]
        // SAFETY: as for runs: the row lies in the pages of this transaction.
        let kept = unsafe { std::mem::transmute::<&ArchivedFileRow, &'static ArchivedFileRow>(row) };
        bounded(&mut self.files.borrow_mut()).insert(handle, kept);
        Ok(row)
    }

    /// The handle of the file with a key of its path, which `read` finds when it was not asked for
    /// before. Manifests are looked for in every folder above a file.
    pub fn path(&self, key: &[u8], read: impl FnOnce() -> Result<Option<u32>>) -> Result<Option<u32>> {
        if let Some(known) = self.paths.borrow().get(key) {
            return Ok(*known);
        }
        let found = read()?;
        bounded(&mut self.paths.borrow_mut()).insert(key.into(), found);
        Ok(found)
    }

    fn row(&self, runs: &RefCell<Runs>, table: &Table, handle: u32) -> Result<&[u8]> {
        let mut runs = runs.borrow_mut();
        let at = match runs.find(handle) {
            Some(at) => at,
            None => runs.open(table, &self.txn, handle)?,
        };
        let run = &runs.runs[at];
        let found = run.entries.binary_search_by_key(&handle, |e| e.0);
        let (_, start, end) = run.entries[found.map_err(|_| table.corrupt(&handle.to_be_bytes()))?];
        Ok(&run.bytes[usize::from(start)..usize::from(end)])
    }
}

impl Runs {
    /// The place of the open run that spans a handle.
    fn find(&self, handle: u32) -> Option<usize> {
        let after = self.order.partition_point(|r| r.0 <= handle);
        let (_, last, at) = *self.order.get(after.checked_sub(1)?)?;
        (handle <= last).then_some(at as usize)
    }

    fn open(&mut self, table: &Table, txn: &RoTxn, handle: u32) -> Result<usize> {
        let key = handle.to_be_bytes();
        let bytes = table.run(txn, &key)?.ok_or_else(|| table.corrupt(&key))?;
        let run = Run::open(bytes).ok_or_else(|| table.corrupt(&key))?;
        if self.runs.len() >= RUNS_MAX {
            *self = Self::default();
        }
        let at = self.runs.len();
        if let (Some(first), Some(last)) = (run.entries.first(), run.entries.last()) {
            let place = self.order.partition_point(|r| r.0 < first.0);
            // A handle between two runs leads to the one before it, which may be open already.
            if self.order.get(place).is_some_and(|r| r.0 == first.0) {
                return Ok(self.order[place].2 as usize);
            }
            self.order.insert(place, (first.0, last.0, at as u32));
        }
        self.runs.push(run);
        Ok(at)
    }
}

impl Run {
    /// Finds the values; `None` for bytes that are no run of handles.
    fn open(bytes: &[u8]) -> Option<Self> {
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
        #[allow(unsafe_code, reason = "a borrow of a transaction cannot be kept beside it")]
        // SAFETY: the bytes lie in pages that the transaction keeps as they are until it ends. Only
        // `ReadTxn` makes runs, from its own transaction, and lends them no longer than itself.
        let bytes = unsafe { std::mem::transmute::<&[u8], &'static [u8]>(bytes) };
        Some(Self { bytes, entries: found.into() })
    }
}
