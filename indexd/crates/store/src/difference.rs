//! The rows in which two indexes of one recipe differ, encoded so that applying them to a copy of one yields
//! the other. The size of a difference grows with the number of files that differ, and with the stats of
//! all files.

use crate::error::{Result, StoreError};
use crate::meta::Meta;
use crate::store::Store;
use crate::stream::{Indexed, Sections, Stream, Writer, difference};
use crate::table::{Form, Table};
use crate::write::put_blob;
use heed::RwTxn;
use indexd_os::faults;

/// The byte after the last section.
const END: u8 = 0;

impl Store {
    /// Encodes the rows that differ from those of `base` as a block (see [`crate::stream`]) and a byte that is 0.
    /// `None` when the result is larger than `bytes_max`.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when a row of either is damaged.
    pub fn difference(&self, base: &Self, bytes_max: usize) -> Result<Option<Vec<u8>>> {
        let (txn, base_txn) = (self.inner.env.read_txn()?, base.inner.env.read_txn()?);
        let mut writer = Writer::default();
        let is_whole = difference(
            &mut Indexed::new((1..).zip(base.inner.tables.all()), &base_txn),
            &mut Indexed::new((1..).zip(self.inner.tables.all()), &txn),
            &mut |row| {
                writer.push(row);
                Ok(writer.len() <= bytes_max)
            },
        )?;
        Ok(is_whole.then(|| [writer.cut(), vec![END]].concat()))
    }

    /// The difference of two indexes that have the same rows.
    pub fn no_difference() -> Vec<u8> {
        vec![END]
    }

    /// Turns an index that equals the `base` of [`Store::difference`] into the other one. Open it again
    /// afterwards.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] for bytes that are not a difference, [`StoreError::Full`] or
    /// [`StoreError::Io`] from the system. The index is unchanged then.
    pub fn add_difference(&self, difference: &[u8]) -> Result<()> {
        let _writing = self.writing();
        let mut txn = self.inner.env.write_txn()?;
        self.mark_dirty()?;
        let mut block = Some(difference.strip_suffix(&[END]).ok_or_else(no_difference)?.to_vec());
        let mut rows = Sections::new(Box::new(move || Ok(block.take())));
        while rows.advance()? {
            let row = rows.row();
            let mut tables = (1..).zip(self.inner.tables.all());
            let (_, table) = tables.find(|(number, _)| *number == row.table).ok_or_else(no_difference)?;
            lay(table, &mut txn, row.key, row.value)?;
        }
        let meta = Meta::read(&self.inner.tables, &txn)?.ok_or_else(no_difference)?;
        if meta.config != self.inner.config {
            return Err(no_difference());
        }
        faults::before("commit", &self.dir().to_string_lossy())?;
        txn.commit()?;
        self.set_generation(meta.generation);
        Ok(())
    }
}

fn no_difference() -> StoreError {
    StoreError::Corrupt("a difference does not read as one".into())
}

/// Writes or removes a row.
fn lay(table: &Table, txn: &mut RwTxn, key: &[u8], value: Option<&[u8]>) -> Result<()> {
    if table.form == Form::Pieces {
        let file = key.try_into().map_err(|_| no_difference())?;
        return put_blob(table, txn, u32::from_be_bytes(file), value.unwrap_or_default());
    }
    match value {
        Some(value) => table.put(txn, key, value),
        None => table.delete(txn, key).map(drop),
    }
}
