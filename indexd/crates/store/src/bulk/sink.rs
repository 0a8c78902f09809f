//! Appends rows in transactions of bounded size. LMDB keeps the pages of a transaction in memory; a
//! first build in one transaction would hold the whole index twice. It also keeps these pages for the
//! next transaction as long as the environment is open, so a large one is paid for ever after.

use crate::codec::run::{self, RUN_BYTES_MAX};
use crate::error::Result;
use crate::store::Store;
use crate::table::{Form, Table};
use crate::tables::Tables;
use heed::RwTxn;
use rustc_hash::FxHashMap;

/// Bytes of rows in one transaction.
const TXN_BYTES: usize = 4 << 20;

/// Where the rows of a first build go, in key order within each table.
pub(super) struct Sink<'s> {
    store: &'s Store,
    txn: Option<RwTxn<'s>>,
    bytes: usize,
    /// Runs that may grow, by table.
    open: FxHashMap<&'static str, OpenRun>,
}

/// A run that may grow.
struct OpenRun {
    table: Table,
    first: Vec<u8>,
    last: Vec<u8>,
    bytes: Vec<u8>,
}

impl<'s> Sink<'s> {
    pub fn new(store: &'s Store) -> Self {
        Self { store, txn: None, bytes: 0, open: FxHashMap::default() }
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

    /// Adds a row above all others of its table. `value` is scratch.
    pub fn append(&mut self, table: &Table, key: &[u8], value: &mut Vec<u8>) -> Result<()> {
        if table.form != Form::Runs {
            return self.append_node(table, key, value);
        }
        let new = || OpenRun { table: *table, first: key.to_vec(), last: Vec::new(), bytes: Vec::new() };
        let run = self.open.entry(table.name).or_insert_with(new);
        let before = run.bytes.len();
        run::push(&mut run.bytes, &run.last, key, value);
        if before == 0 || run.first.len() + run.bytes.len() + 4 <= RUN_BYTES_MAX {
            run.last.clear();
            run.last.extend_from_slice(key);
            return Ok(());
        }
        run.bytes.truncate(before);
        let full = std::mem::replace(run, new());
        run::push(&mut run.bytes, &[], key, value);
        run.last.extend_from_slice(key);
        self.close(full)
    }

    fn close(&mut self, mut run: OpenRun) -> Result<()> {
        self.append_node(&run.table, &run.first, &mut run.bytes)
    }

    fn append_node(&mut self, table: &Table, key: &[u8], value: &mut Vec<u8>) -> Result<()> {
        table.append(self.txn()?, key, value)?;
        self.bytes += key.len() + value.len();
        if self.bytes > TXN_BYTES { self.commit() } else { Ok(()) }
    }

    /// Writes the runs that are still open. Nothing can be added to their tables afterwards.
    pub fn close_runs(&mut self) -> Result<()> {
        let mut open: Vec<OpenRun> = std::mem::take(&mut self.open).into_values().collect();
        open.sort_unstable_by_key(|run| run.table.name);
        open.into_iter().try_for_each(|run| self.close(run))
    }

    /// Commits what is there. Readers see no index before its state is written, which comes last.
    pub fn commit(&mut self) -> Result<()> {
        self.bytes = 0;
        match self.txn.take() {
            Some(txn) => Ok(txn.commit()?),
            None => Ok(()),
        }
    }
}
