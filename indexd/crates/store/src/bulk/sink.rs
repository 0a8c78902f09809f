//! Appends rows in transactions of bounded size. LMDB keeps the pages of a transaction in memory; a first
//! build in one transaction would hold the whole index twice. It also keeps these pages for the next
//! transaction as long as the environment is open, so the memory of a large one is never released.

use crate::codec::page::{Fill, NODE_BYTES_MAX};
use crate::codec::run::{self, RUN_NODE_BYTES};
use crate::error::Result;
use crate::rows::piece_key;
use crate::store::Store;
use crate::table::{Form, SUM_BYTES, Table};
use crate::tables::Tables;
use crate::untouched::Writing;
use heed::RwTxn;
use rustc_hash::FxHashMap;

/// Bytes of rows in one transaction.
const TXN_BYTES: usize = 4 << 20;

/// The writer of the rows of a first build, in key order within each table.
pub(crate) struct Sink<'s> {
    store: &'s Store,
    txn: Option<RwTxn<'s>>,
    _writing: Writing,
    bytes: usize,
    /// The end of each table, where rows are added.
    ends: FxHashMap<&'static str, End>,
}

/// The end of a table.
#[derive(Default)]
struct End {
    /// Bytes free in the last page.
    fill: Fill,
    /// The run that may grow.
    run: Option<OpenRun>,
}

/// A run that may grow.
struct OpenRun {
    table: Table,
    first: Vec<u8>,
    last: Vec<u8>,
    bytes: Vec<u8>,
    /// Bytes that it may take with its key and its checksum.
    room: usize,
}

impl<'s> Sink<'s> {
    pub fn new(store: &'s Store) -> Self {
        Self { store, txn: None, _writing: store.writing(), bytes: 0, ends: FxHashMap::default() }
    }

    /// The tables.
    pub fn tables(&self) -> &'s Tables {
        &self.store.inner.tables
    }

    /// The current transaction.
    pub fn txn(&mut self) -> Result<&mut RwTxn<'s>> {
        let txn = match self.txn.take() {
            Some(txn) => txn,
            None => self.store.inner.env.write_txn()?,
        };
        Ok(self.txn.insert(txn))
    }

    /// Adds a row after all others of its table.
    pub fn append(&mut self, table: &Table, key: &[u8], value: &[u8]) -> Result<()> {
        if table.form != Form::Runs {
            return self.append_node(table, key, value);
        }
        if let Some(run) = &mut self.end(table).run {
            let before = run.bytes.len();
            run::push(&mut run.bytes, &run.last, key, value);
            if run.first.len() + run.bytes.len() + SUM_BYTES <= run.room {
                run.last.clear();
                run.last.extend_from_slice(key);
                return Ok(());
            }
            run.bytes.truncate(before);
        }
        if let Some(full) = self.end(table).run.take() {
            self.close(full)?;
        }
        let end = self.end(table);
        let room = end.fill.room(RUN_NODE_BYTES);
        let mut bytes = Vec::with_capacity(RUN_NODE_BYTES);
        run::push(&mut bytes, &[], key, value);
        end.run = Some(OpenRun { table: *table, first: key.to_vec(), last: key.to_vec(), bytes, room });
        Ok(())
    }

    /// Adds the blob of a file after all others of its table.
    pub fn append_blob(&mut self, table: &Table, file: u32, blob: &[u8]) -> Result<()> {
        let mut rest = blob;
        for piece in 0u16.. {
            if rest.is_empty() {
                break;
            }
            let key = piece_key(file, piece);
            let room = self.end(table).fill.room(NODE_BYTES_MAX) - key.len() - SUM_BYTES;
            let (bytes, after) = rest.split_at(room.min(rest.len()));
            self.append_node(table, &key, bytes)?;
            rest = after;
        }
        Ok(())
    }

    /// Adds a row of another index after all others of its table; a blob has its file for a key.
    pub fn append_copy(&mut self, table: &Table, key: &[u8], value: &[u8]) -> Result<()> {
        match table.form {
            Form::Pieces => self.append_blob(table, table.handle(key)?, value),
            Form::Rows | Form::Runs => self.append(table, key, value),
        }
    }

    fn end(&mut self, table: &Table) -> &mut End {
        self.ends.entry(table.name).or_default()
    }

    fn close(&mut self, run: OpenRun) -> Result<()> {
        self.append_node(&run.table, &run.first, &run.bytes)
    }

    fn append_node(&mut self, table: &Table, key: &[u8], value: &[u8]) -> Result<()> {
        table.append(self.txn()?, key, value)?;
        let stored = value.len() + SUM_BYTES;
        self.end(table).fill.take(key.len(), stored);
        self.bytes += key.len() + stored;
        if self.bytes > TXN_BYTES { self.commit() } else { Ok(()) }
    }

    /// Writes the runs that are still open. Nothing can be added to their tables afterwards.
    pub fn close_runs(&mut self) -> Result<()> {
        let mut open: Vec<OpenRun> = self.ends.values_mut().filter_map(|end| end.run.take()).collect();
        open.sort_unstable_by_key(|run| run.table.name);
        open.into_iter().try_for_each(|run| self.close(run))
    }

    /// Commits the rows so far. Readers see no index before its state is written, which comes last.
    pub fn commit(&mut self) -> Result<()> {
        self.bytes = 0;
        match self.txn.take() {
            Some(txn) => {
                indexd_os::faults::before("commit", "")?;
                Ok(txn.commit()?)
            }
            None => Ok(()),
        }
    }
}
