//! Rows on their way from one index to another: blocks of bytes, layers of blocks, and differences.
//!
//! Rows are compared and moved, not pages: a commit moves pages, and the boundaries of runs and blobs depend
//! on the order of changes. A *block* is a sequence of sections:
//!
//! | bytes of a section | |
//! |---|---|
//! | a number | of the table, from 1 |
//! | for each row: a number, key, a number, value | the length of the key, and that of the value plus one; 0 for a row that the layers below have and that is gone |
//! | 0 | the end of the section |
//!
//! Rows ascend by table and key, over all blocks of a layer.

use crate::codec::bytes::{Reader, put};
use crate::error::{Result, StoreError};
use crate::table::{Form, KEY_BYTES_MAX, Rows, Table};
use heed::RoTxn;
use std::cmp::{Ordering, Reverse};
use std::ops::Range;

/// The blocks of a layer in order; `None` at its end.
pub type Blocks<'b> = Box<dyn FnMut() -> Result<Option<Vec<u8>>> + 'b>;

/// A row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row<'r> {
    /// Number of its table.
    pub table: u64,
    /// Not empty.
    pub key: &'r [u8],
    /// `None` in a layer above one that has the row, if the row is gone.
    pub value: Option<&'r [u8]>,
}

impl<'r> Row<'r> {
    fn place(self) -> (u64, &'r [u8]) {
        (self.table, self.key)
    }
}

/// Rows in order.
pub(crate) trait Stream {
    /// Goes to the next row; returns false at the end.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] for bytes that are not rows; those of the source.
    fn advance(&mut self) -> Result<bool>;

    /// The row that [`Stream::advance`] went to.
    fn row(&self) -> Row<'_>;
}

pub(crate) fn damaged() -> StoreError {
    StoreError::Corrupt("rows from elsewhere do not read as rows".into())
}

/// The rows of some tables of an index, with the pieces of a blob joined.
pub(crate) struct Indexed<'t> {
    txn: &'t RoTxn<'t>,
    /// The tables that follow, with their numbers.
    tables: Box<dyn Iterator<Item = (u64, &'t Table)> + 't>,
    current: Option<(u64, Blobs<'t>)>,
    /// A table and a key whose value is another one than the stored.
    instead: Option<(u64, &'static [u8], Vec<u8>)>,
}

impl<'t> Indexed<'t> {
    /// Creates a stream before the first row.
    pub fn new(tables: impl Iterator<Item = (u64, &'t Table)> + 't, txn: &'t RoTxn<'t>) -> Self {
        Self { txn, tables: Box::new(tables), current: None, instead: None }
    }

    /// Replaces the value of the row under a key.
    pub fn with(mut self, table: u64, key: &'static [u8], value: Vec<u8>) -> Self {
        self.instead = Some((table, key, value));
        self
    }
}

impl Stream for Indexed<'_> {
    fn advance(&mut self) -> Result<bool> {
        loop {
            if let Some((_, rows)) = &mut self.current
                && rows.advance()?
            {
                return Ok(true);
            }
            let Some((number, table)) = self.tables.next() else { return Ok(false) };
            self.current = Some((number, Blobs::of(table, self.txn)?));
        }
    }

    fn row(&self) -> Row<'_> {
        let Some((table, rows)) = &self.current else { return Row { table: 0, key: &[], value: None } };
        let instead = self.instead.as_ref().filter(|(t, key, _)| t == table && *key == rows.key());
        let value = instead.map_or(rows.value(), |(_, _, value)| value);
        Row { table: *table, key: rows.key(), value: Some(value) }
    }
}

/// Bytes of a piece's key that name its file.
const FILE_BYTES: usize = 4;

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

/// The rows of the blocks of a layer.
pub(crate) struct Sections<'b> {
    next_block: Blocks<'b>,
    block: Vec<u8>,
    at: usize,
    /// The table that is being read; 0 between sections.
    table: u64,
    key: Range<usize>,
    value: Option<Range<usize>>,
    last: (u64, Vec<u8>),
}

impl<'b> Sections<'b> {
    /// Creates a stream before the first row.
    pub fn new(next_block: Blocks<'b>) -> Self {
        let (block, last) = (Vec::new(), (0, Vec::new()));
        Self { next_block, block, at: 0, table: 0, key: 0..0, value: None, last }
    }

    /// Reads the next row of the block, which is not at its end; true at the end of a section instead.
    fn read(&mut self) -> Option<bool> {
        let mut bytes = Reader::new(&self.block[self.at..]);
        let is_begun = self.table == 0;
        if is_begun {
            self.table = bytes.u64().filter(|table| *table != 0)?;
        }
        let end = |bytes: &Reader| self.block.len() - bytes.rest().len();
        let len = bytes.u32()? as usize;
        if len == 0 {
            // A section without rows has another length than that of no section.
            (self.at, self.table) = (end(&bytes), 0);
            return (!is_begun).then_some(true);
        }
        let key = bytes.take(len).filter(|key| key.len() <= KEY_BYTES_MAX)?;
        let key_end = end(&bytes);
        self.key = key_end - key.len()..key_end;
        self.value = match bytes.u32()? {
            0 => None,
            len => {
                let value = bytes.take(len as usize - 1)?;
                Some(end(&bytes) - value.len()..end(&bytes))
            }
        };
        self.at = end(&bytes);
        Some(false)
    }
}

impl Stream for Sections<'_> {
    fn advance(&mut self) -> Result<bool> {
        loop {
            if self.at == self.block.len() {
                if self.table != 0 {
                    return Err(damaged());
                }
                let Some(block) = (self.next_block)()? else { return Ok(false) };
                (self.block, self.at) = (block, 0);
            } else if !self.read().ok_or_else(damaged)? {
                break;
            }
        }
        let key = &self.block[self.key.clone()];
        if (self.last.0, &*self.last.1) >= (self.table, key) {
            return Err(damaged());
        }
        self.last.0 = self.table;
        self.last.1.clear();
        self.last.1.extend_from_slice(key);
        Ok(true)
    }

    fn row(&self) -> Row<'_> {
        let value = self.value.clone().map(|value| &self.block[value]);
        Row { table: self.table, key: &self.block[self.key.clone()], value }
    }
}

/// Writes rows, in order, as sections of a block.
#[derive(Default)]
pub(crate) struct Writer {
    out: Vec<u8>,
    table: u64,
}

impl Writer {
    /// Appends a row.
    pub fn push(&mut self, row: Row) {
        if self.table != row.table {
            self.end();
            put(&mut self.out, row.table);
            self.table = row.table;
        }
        put(&mut self.out, row.key.len() as u64);
        self.out.extend_from_slice(row.key);
        put(&mut self.out, row.value.map_or(0, |value| value.len() as u64 + 1));
        self.out.extend_from_slice(row.value.unwrap_or_default());
    }

    /// Bytes of the block so far.
    pub fn len(&self) -> usize {
        self.out.len()
    }

    /// Takes the block; the next row begins another one.
    pub fn cut(&mut self) -> Vec<u8> {
        self.end();
        std::mem::take(&mut self.out)
    }

    fn end(&mut self) {
        if std::mem::take(&mut self.table) != 0 {
            self.out.push(0);
        }
    }
}

/// The rows that layers make together: of rows in the same place that of the highest layer.
pub(crate) struct Merged<'b> {
    /// Lowest first.
    layers: Vec<Sections<'b>>,
    /// For each, true if it has a row.
    is_there: Vec<bool>,
    /// The layer whose row is the current one.
    current: Option<usize>,
    /// The layer above the lowest that has the first row, if any has one: most rows are of the lowest.
    first_above: Option<usize>,
}

impl<'b> Merged<'b> {
    /// Merges layers, lowest first.
    ///
    /// # Errors
    /// As [`Stream::advance`].
    pub fn new(layers: Vec<Blocks<'b>>) -> Result<Self> {
        let mut layers: Vec<Sections> = layers.into_iter().map(Sections::new).collect();
        let is_there: Result<Vec<bool>> = layers.iter_mut().map(Stream::advance).collect();
        let mut merged = Self { is_there: is_there?, layers, current: None, first_above: None };
        merged.find_first_above();
        Ok(merged)
    }

    fn head(&self, i: usize) -> Option<Row<'_>> {
        self.is_there.get(i)?.then(|| self.layers[i].row())
    }

    fn find_first_above(&mut self) {
        let heads = (1..self.layers.len()).filter_map(|i| Some((self.head(i)?.place(), Reverse(i))));
        self.first_above = heads.min().map(|(_, Reverse(i))| i);
    }

    /// Passes over the current row, in all layers that have it.
    fn pass(&mut self) -> Result<()> {
        let Some(current) = self.current.take() else { return Ok(()) };
        if current > 0 {
            for i in (0..self.layers.len()).filter(|i| *i != current) {
                let place = self.layers[current].row().place();
                if self.head(i).is_some_and(|head| head.place() == place) {
                    self.is_there[i] = self.layers[i].advance()?;
                }
            }
        }
        self.is_there[current] = self.layers[current].advance()?;
        if current > 0 {
            self.find_first_above();
        }
        Ok(())
    }
}

impl Stream for Merged<'_> {
    fn advance(&mut self) -> Result<bool> {
        loop {
            self.pass()?;
            let above = self.first_above.and_then(|i| Some((i, self.head(i)?)));
            let from = match (self.head(0), above) {
                (None, None) => return Ok(false),
                (Some(lowest), Some((i, above))) if lowest.place() >= above.place() => i,
                (None, Some((i, _))) => i,
                _ => 0,
            };
            self.current = Some(from);
            if self.row().value.is_some() {
                return Ok(true);
            }
        }
    }

    fn row(&self) -> Row<'_> {
        self.layers[self.current.unwrap_or(0)].row()
    }
}

/// Hands to `each` the rows of `new` that `old` has not, and without their values those of `old` that `new`
/// has not, in order. `each` returns whether to go on; false when it did not.
///
/// # Errors
/// Those of both and of `each`.
pub(crate) fn difference(
    old: &mut dyn Stream,
    new: &mut dyn Stream,
    each: &mut dyn FnMut(Row) -> Result<bool>,
) -> Result<bool> {
    let (mut is_old, mut is_new) = (old.advance()?, new.advance()?);
    while is_old || is_new {
        let order = match (is_old, is_new) {
            (true, true) => old.row().place().cmp(&new.row().place()),
            (true, false) => Ordering::Less,
            (false, _) => Ordering::Greater,
        };
        let goes_on = match order {
            Ordering::Less => each(Row { value: None, ..old.row() })?,
            Ordering::Equal if old.row().value == new.row().value => true,
            Ordering::Equal | Ordering::Greater => each(new.row())?,
        };
        if !goes_on {
            return Ok(false);
        }
        if order.is_le() {
            is_old = old.advance()?;
        }
        if order.is_ge() {
            is_new = new.advance()?;
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    type Map = BTreeMap<(u64, Vec<u8>), Vec<u8>>;
    type Owned = (u64, Vec<u8>, Option<Vec<u8>>);

    /// Blocks of a number of rows each.
    fn blocks(rows: &[Owned], n: usize) -> Blocks<'static> {
        let block = |rows: &[Owned]| {
            let mut writer = Writer::default();
            for (table, key, value) in rows {
                writer.push(Row { table: *table, key, value: value.as_deref() });
            }
            writer.cut()
        };
        let mut blocks = rows.chunks(n).map(block).collect::<Vec<_>>().into_iter();
        Box::new(move || Ok(blocks.next()))
    }

    fn listed(map: &Map) -> Vec<Owned> {
        map.iter().map(|((table, key), value)| (*table, key.clone(), Some(value.clone()))).collect()
    }

    fn owned(row: Row) -> Owned {
        (row.table, row.key.to_vec(), row.value.map(<[u8]>::to_vec))
    }

    fn all(rows: &mut dyn Stream) -> Result<Vec<Owned>> {
        let mut found = Vec::new();
        while rows.advance()? {
            found.push(owned(rows.row()));
        }
        Ok(found)
    }

    fn of(bytes: &[u8]) -> Result<Vec<Owned>> {
        let mut block = Some(bytes.to_vec());
        all(&mut Sections::new(Box::new(move || Ok(block.take()))))
    }

    fn maps() -> impl Strategy<Value = Vec<Map>> {
        let key = (1..4_u64, prop::collection::vec(0..3_u8, 1..4));
        let map = prop::collection::btree_map(key, prop::collection::vec(any::<u8>(), 0..4), 0..30);
        prop::collection::vec(map, 1..6)
    }

    proptest! {
        /// The layers of states one after the other make the last of them.
        #[test]
        fn layers_make_the_state_that_they_are_of(states in maps(), n in 1..9_usize) {
            let mut layers = vec![listed(&states[0])];
            for pair in states.windows(2) {
                let mut layer = Vec::new();
                let [mut old, mut new] = [0, 1].map(|i| Sections::new(blocks(&listed(&pair[i]), n)));
                difference(&mut old, &mut new, &mut |row| {
                    layer.push(owned(row));
                    Ok(true)
                }).unwrap();
                layers.push(layer);
            }
            let mut merged = Merged::new(layers.iter().map(|layer| blocks(layer, n)).collect()).unwrap();
            prop_assert_eq!(all(&mut merged).unwrap(), listed(&states[states.len() - 1]));
        }

        #[test]
        fn any_bytes_are_refused_without_a_panic(bytes: Vec<u8>) {
            let _ = of(&bytes);
        }
    }

    #[test]
    fn rows_that_are_not_in_order_or_too_long_are_refused() {
        let is_refused = |bytes: &[u8]| of(bytes).is_err();
        assert!(!is_refused(&[1, 1, b'a', 1, 1, b'b', 1, 0, 2, 1, b'a', 1, 0]));
        // Sections of one table, one after the other.
        assert!(!is_refused(&[1, 1, b'a', 1, 0, 1, 1, b'b', 1, 0]));
        assert!(is_refused(&[1, 1, b'b', 1, 1, b'a', 1, 0]), "keys that descend");
        assert!(is_refused(&[2, 1, b'a', 1, 0, 1, 1, b'a', 1, 0]), "tables that descend");
        assert!(is_refused(&[1, 1, b'a', 1, 1, b'a', 1, 0]), "a row twice");
        let long = [&[1, 0x80, 0x04][..], &[b'a'; 512], &[1, 0]].concat();
        assert!(is_refused(&long), "a key that is too long");
        assert!(is_refused(&[1, 1, b'a', 0xff, 0xff, 0xff, 0xff, 0x0f]), "a value that is too long");
        assert!(is_refused(&[1, 1, b'a', 9, 1]), "a value that is cut");
        assert!(is_refused(&[1, 1, b'a', 1]), "a section that is cut");
        assert!(is_refused(&[1, 0]), "a section without rows");
        assert!(is_refused(&[0]), "no table");
        assert!(is_refused(&[0x80; 12]), "a number without an end");
    }
}
