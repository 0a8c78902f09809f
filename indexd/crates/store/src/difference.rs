//! The rows in which two indexes of one recipe differ, encoded so that applying them to a copy of one yields
//! the other.
//!
//! Rows are compared, not pages: a commit moves pages, and the boundaries of runs and blobs depend on the
//! order of changes. The size of a difference grows with the number of files that differ, and with the stats
//! of all files.

use crate::codec::bytes::{Reader, put};
use crate::error::{Result, StoreError};
use crate::meta::Meta;
use crate::store::Store;
use crate::table::{Form, Rows, Table};
use crate::tables::N_TABLES;
use crate::write::put_blob;
use heed::{RoTxn, RwTxn};
use indexd_os::faults;
use std::cmp::Ordering;

/// Bytes of a piece's key that name its file.
const FILE_BYTES: usize = 4;

impl Store {
    /// Encodes the rows that differ from those of `base`: for each table its number from 1, then for each
    /// row key and value with their lengths. The length of a value is stored plus one; 0 marks a row that
    /// only `base` has. A table ends with a key of length 0. `None` when the result is larger than
    /// `bytes_max`.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when a row of either is damaged.
    pub fn difference(&self, base: &Self, bytes_max: usize) -> Result<Option<Vec<u8>>> {
        let (txn, base_txn) = (self.inner.env.read_txn()?, base.inner.env.read_txn()?);
        let mut out = Vec::new();
        let pairs = self.inner.tables.all().into_iter().zip(base.inner.tables.all());
        for (number, (table, other)) in (1..).zip(pairs) {
            put(&mut out, number);
            let (rows, base_rows) = (Blobs::of(table, &txn)?, Blobs::of(other, &base_txn)?);
            if !compare(rows, base_rows, bytes_max, &mut out)? {
                return Ok(None);
            }
            put(&mut out, 0);
        }
        Ok(Some(out))
    }

    /// The difference of two indexes that have the same rows.
    pub fn no_difference() -> Vec<u8> {
        (1..=N_TABLES as u8).flat_map(|number| [number, 0]).collect()
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
        let mut bytes = Reader::new(difference);
        let all = self.inner.tables.all();
        for (number, table) in (1..).zip(all) {
            if bytes.u64() != Some(number) {
                return Err(no_difference());
            }
            while let Some((key, value)) = next_row(&mut bytes)? {
                lay(table, &mut txn, key, value)?;
            }
        }
        if !bytes.is_empty() {
            return Err(no_difference());
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

/// Appends the rows of a table that differ; returns false when there are too many bytes.
fn compare(mut rows: Blobs, mut base: Blobs, bytes_max: usize, out: &mut Vec<u8>) -> Result<bool> {
    let (mut is_there, mut is_in_base) = (rows.advance()?, base.advance()?);
    while is_there || is_in_base {
        let order = match (is_there, is_in_base) {
            (true, true) => rows.key().cmp(base.key()),
            (true, false) => Ordering::Less,
            (false, _) => Ordering::Greater,
        };
        match order {
            Ordering::Less => put_row(out, rows.key(), Some(rows.value())),
            Ordering::Greater => put_row(out, base.key(), None),
            Ordering::Equal if rows.value() != base.value() => {
                put_row(out, rows.key(), Some(rows.value()));
            }
            Ordering::Equal => {}
        }
        if out.len() > bytes_max {
            return Ok(false);
        }
        if order.is_le() {
            is_there = rows.advance()?;
        }
        if order.is_ge() {
            is_in_base = base.advance()?;
        }
    }
    Ok(true)
}

fn put_row(out: &mut Vec<u8>, key: &[u8], value: Option<&[u8]>) {
    put(out, key.len() as u64);
    out.extend_from_slice(key);
    put(out, value.map_or(0, |value| value.len() as u64 + 1));
    out.extend_from_slice(value.unwrap_or_default());
}

/// A key and its new value; `None` removes the row.
type Change<'a> = (&'a [u8], Option<&'a [u8]>);

/// The next row of a table; `None` at its end.
fn next_row<'a>(bytes: &mut Reader<'a>) -> Result<Option<Change<'a>>> {
    let read = |bytes: &mut Reader<'a>| {
        let key_len = bytes.u32()? as usize;
        if key_len == 0 {
            return Some(None);
        }
        let key = bytes.take(key_len)?;
        let value = match bytes.u32()? as usize {
            0 => None,
            len => Some(bytes.take(len - 1)?),
        };
        Some(Some((key, value)))
    };
    read(bytes).ok_or_else(no_difference)
}

/// Writes or removes a row.
fn lay(table: &Table, txn: &mut RwTxn, key: &[u8], value: Option<&[u8]>) -> Result<()> {
    if table.form == Form::Pieces {
        let file = *key.first_chunk::<FILE_BYTES>().ok_or_else(no_difference)?;
        return put_blob(table, txn, u32::from_be_bytes(file), value.unwrap_or_default());
    }
    match value {
        Some(value) => table.put(txn, key, value),
        None => table.delete(txn, key).map(drop),
    }
}

/// The rows of a table in order, with the pieces of a blob joined.
pub(crate) struct Blobs<'t> {
    table: Table,
    rows: Rows<'t>,
    value: &'t [u8],
    /// The blob of a file, and the piece after it, which belongs to another file.
    blob: Option<Blob<'t>>,
}

#[derive(Default)]
struct Blob<'t> {
    file: [u8; FILE_BYTES],
    bytes: Vec<u8>,
    next: Option<([u8; FILE_BYTES], &'t [u8])>,
}

impl<'t> Blobs<'t> {
    /// Creates an iterator before the first row.
    pub fn of(table: &Table, txn: &'t RoTxn) -> Result<Self> {
        let mut rows = table.iter(txn)?;
        let blob = match table.form {
            Form::Pieces => Some(Blob { next: piece(table, &mut rows)?, ..Blob::default() }),
            Form::Rows | Form::Runs => None,
        };
        Ok(Self { table: *table, rows, value: &[], blob })
    }

    /// Advances to the next row; returns false at the end.
    pub fn advance(&mut self) -> Result<bool> {
        let Some(blob) = &mut self.blob else {
            let value = self.rows.advance()?;
            self.value = value.unwrap_or_default();
            return Ok(value.is_some());
        };
        let Some((file, first)) = blob.next.take() else { return Ok(false) };
        blob.file = file;
        blob.bytes.clear();
        blob.bytes.extend_from_slice(first);
        loop {
            match piece(&self.table, &mut self.rows)? {
                Some((same, bytes)) if same == file => blob.bytes.extend_from_slice(bytes),
                next => {
                    blob.next = next;
                    return Ok(true);
                }
            }
        }
    }

    /// The key of the current row; for a blob, its file.
    pub fn key(&self) -> &[u8] {
        self.blob.as_ref().map_or_else(|| self.rows.key(), |blob| &blob.file)
    }

    /// The current row, or blob.
    pub fn value(&self) -> &[u8] {
        self.blob.as_ref().map_or(self.value, |blob| &blob.bytes)
    }
}

/// The next piece of a blob, with its file.
fn piece<'t>(table: &Table, rows: &mut Rows<'t>) -> Result<Option<([u8; FILE_BYTES], &'t [u8])>> {
    let Some(bytes) = rows.advance()? else { return Ok(None) };
    let file = rows.key().first_chunk().ok_or_else(|| table.corrupt(rows.key()))?;
    Ok(Some((*file, bytes)))
}
