//! All rows of an index in blocks, for another machine, and an index made of them.
//!
//! Rows of caches are left out, since they are of the machine, and so is the history: the reader has the
//! commits, and each commit changes most rows of it. A state is a list of *layers*: the lowest has all rows of
//! some state, each further one the rows that differ from what the layers below it make.

use crate::bulk::Sink;
use crate::error::{Result, StoreError};
use crate::meta::{self, Meta};
use crate::recovery;
use crate::rows::Rows;
use crate::snapshot::Snapshot;
use crate::store::{Opened, Store};
use crate::stream::{Blocks, Indexed, Merged, Stream, Writer, damaged, difference};
use crate::tables::META;
use indexd_os::faults;
use std::path::Path;

/// Bytes of rows after which a block ends: at most one row more.
const BLOCK_BYTES: usize = 4 << 20;

impl Snapshot {
    /// Hands blocks with the rows that differ from those that the layers `below` make to `put`, which returns
    /// whether to go on; with all rows when there are no layers. False when it did not.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] for a damaged row, those of `below` and of `put`.
    pub fn write_rows(
        &self,
        below: Vec<Blocks>,
        put: &mut dyn FnMut(Vec<u8>) -> Result<bool>,
    ) -> Result<bool> {
        let Rows { tables, txn, .. } = self.rows();
        let meta = Meta::read(tables, txn)?.ok_or(StoreError::Busy("not built yet"))?;
        let meta = Meta { history: None, ..meta }.encode();
        let mut rows = Indexed::new(tables.streamed(), txn).with(META, meta::STATE, meta);
        let mut writer = Writer::default();
        let goes_on = difference(&mut Merged::new(below)?, &mut rows, &mut |row| {
            writer.push(row);
            if writer.len() >= BLOCK_BYTES { put(writer.cut()) } else { Ok(true) }
        })?;
        if goes_on && writer.len() > 0 { put(writer.cut()) } else { Ok(goes_on) }
    }
}

impl Store {
    /// Makes an index of the rows of layers, lowest first, in the folder `to`, which must not be open; to be
    /// opened with [`Store::open_verified`].
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] for bytes that [`Snapshot::write_rows`] does not write and for rows of another
    /// recipe than `config`, those of the layers, [`StoreError::Full`] or [`StoreError::Io`] from the system.
    /// The folder then holds no index.
    pub fn read_rows(layers: Vec<Blocks>, to: &Path, config: &[u8]) -> Result<()> {
        recovery::make_dir(to)?;
        faults::before("copy", &to.to_string_lossy())?;
        let Opened::Fresh(store) = Self::open(to, config)? else {
            return Err(StoreError::Busy("a new environment is not empty"));
        };
        let mut sink = Sink::new(&store);
        let mut tables = store.inner.tables.streamed();
        let mut current = None;
        let mut rows = Merged::new(layers)?;
        while rows.advance()? {
            let row = rows.row();
            if current.is_none_or(|(number, _)| number != row.table) {
                current = tables.find(|(number, _)| *number == row.table);
            }
            let (_, table) = current.ok_or_else(damaged)?;
            sink.append_copy(table, row.key, row.value.unwrap_or_default())?;
        }
        sink.close_runs()?;
        sink.commit()?;
        let txn = store.inner.env.read_txn()?;
        let meta = Meta::read(&store.inner.tables, &txn)?;
        drop(txn);
        if meta.is_none_or(|meta| meta.config != store.inner.config) {
            return Err(damaged());
        }
        store.mark_built()
    }
}
