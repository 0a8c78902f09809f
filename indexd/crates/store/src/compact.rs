//! A compact copy of an index.
//!
//! LMDB never makes its file smaller, keeps the memory of its largest transaction as long as the environment
//! is open, and leaves pages and runs half full where rows were added and removed. A copy that is appended
//! in order, like a first build, has none of these costs. It is made from one read transaction while the
//! original stays in use.

use crate::bulk::Sink;
use crate::error::{Result, StoreError};
use crate::meta::Meta;
use crate::recovery;
use crate::store::Store;
use crate::stream::Blobs;
use crate::table::Table;
use heed::RoTxn;
use std::path::Path;

/// Rows copied between two calls of `is_stopping`.
const ROWS_PER_LOOK: u32 = 4_096;

impl Store {
    /// Writes every row of the last committed state into a new index in the folder `to`, which must not be
    /// open, and syncs it. Returns the number of the copied transaction, as counted by
    /// [`Store::last_transaction`]. Open the copy with [`Store::open_verified`].
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when a row is damaged, [`StoreError::Full`] or [`StoreError::Io`] from the
    /// system, [`StoreError::Busy`] before the first build and when `is_stopping` returns true.
    pub fn copy_compact(&self, to: &Path, is_stopping: &dyn Fn() -> bool) -> Result<u64> {
        let txn = self.inner.env.read_txn()?;
        Meta::read(&self.inner.tables, &txn)?.ok_or(StoreError::Busy("not built yet"))?;
        recovery::make_dir(to)?;
        let copy = self.create_beside(to)?;
        let mut sink = Sink::new(&copy);
        for (from, into) in self.inner.tables.all().into_iter().zip(copy.inner.tables.all()) {
            copy_table(from, into, &txn, &mut sink, is_stopping)?;
        }
        sink.close_runs()?;
        sink.commit()?;
        copy.sync()?;
        copy.mark_built()?;
        Ok(txn.id() as u64)
    }

    /// Number of the last transaction. It grows with each one, including those that write only caches.
    pub fn last_transaction(&self) -> u64 {
        self.inner.env.info().last_txn_id as u64
    }
}

/// Copies the token counts of an index, unless there are more than it should have.
pub(crate) fn copy_counts(from: &Store, sink: &mut Sink) -> Result<()> {
    let txn = from.inner.env.read_txn()?;
    let (tokens, into) = (&from.inner.tables.tokens, &sink.tables().tokens);
    let n_chunks = Meta::read(&from.inner.tables, &txn)?.map_or(0, |meta| meta.stats.n_chunks);
    if tokens.len(&txn)? > counts_max(n_chunks) {
        return Ok(());
    }
    copy_table(tokens, into, &txn, sink, &|| false)
}

/// The most token counts that an index with `n_chunks` chunks keeps.
pub(crate) fn counts_max(n_chunks: u64) -> u64 {
    4 * n_chunks + 100_000
}

fn copy_table(
    from: &Table,
    into: &Table,
    txn: &RoTxn,
    sink: &mut Sink,
    is_stopping: &dyn Fn() -> bool,
) -> Result<()> {
    let mut rows = Blobs::of(from, txn)?;
    let mut n_rows = 0_u32;
    while rows.advance()? {
        if n_rows.is_multiple_of(ROWS_PER_LOOK) && is_stopping() {
            return Err(StoreError::Busy("stopping"));
        }
        n_rows = n_rows.wrapping_add(1);
        sink.append_copy(into, rows.key(), rows.value())?;
    }
    Ok(())
}
