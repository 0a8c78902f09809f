//! Appends rows in transactions of bounded size. LMDB keeps the pages of a transaction in memory; a
//! first build in one transaction would hold the whole index twice.

use crate::error::Result;
use crate::store::Store;
use crate::tables::{Table, Tables};
use heed::RwTxn;

/// Bytes of rows in one transaction.
const TXN_BYTES: usize = 12 << 20;

/// Where the rows of a first build go, in key order within each table.
pub(super) struct Sink<'s> {
    store: &'s Store,
    txn: Option<RwTxn<'s>>,
    bytes: usize,
}

impl<'s> Sink<'s> {
    pub fn new(store: &'s Store) -> Self {
        Self {
            store,
            txn: None,
            bytes: 0,
        }
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
        table.append(self.txn()?, key, value)?;
        self.bytes += key.len() + value.len();
        if self.bytes > TXN_BYTES {
            self.commit()
        } else {
            Ok(())
        }
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
