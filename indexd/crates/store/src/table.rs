//! One table: the one way to read and write its rows.
//!
//! Every stored value ends in a checksum over its table, key and value, checked on each read: LMDB returns
//! flipped bits, and the rows of a page that was swapped with another one or copied over it, without an
//! error. Tables of small rows keep them in runs (see [`crate::codec::run`]); callers see rows either way.

use crate::codec::run::{self, Entries, RUN_BYTES_MAX};
use crate::error::{Result, StoreError};
use heed::types::Bytes;
use heed::{Database, PutFlags, RoRange, RoTxn, RwTxn};
use std::ops::Bound;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Distinguishes tables that are part of the dump and of the signature from caches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A function of the inputs: dumped.
    Derived,
    /// May vanish at any time, or describes the machine and not the tree: never dumped.
    Cache,
}

/// The layout of rows in LMDB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// One node for each row.
    Rows,
    /// Rows in runs. The key of a run is at most that of its first row and above those of the run
    /// before.
    Runs,
    /// One node for each piece of a blob.
    Pieces,
}

/// One table.
#[derive(Clone, Copy)]
pub(crate) struct Table {
    /// The LMDB database.
    pub db: Database<'static, Bytes, Bytes>,
    /// Name inside the environment.
    pub name: &'static str,
    /// Kind.
    pub kind: Kind,
    /// Form.
    pub form: Form,
    /// Hash of the name, the seed of the checksums of its rows.
    seed: u64,
}

/// A key and its value.
pub(crate) type Row<'t> = (Vec<u8>, &'t [u8]);

/// Bytes of the longest key; LMDB's limit.
pub(crate) const KEY_BYTES_MAX: usize = 511;

/// Returns true if there can be a row under `key`. LMDB reports an error for any other key, and a request
/// may hold any string.
fn is_key(key: &[u8]) -> bool {
    (1..=KEY_BYTES_MAX).contains(&key.len())
}

/// Bytes of the checksum after a value.
pub(crate) const SUM_BYTES: usize = 4;

impl Table {
    /// A table of the environment.
    pub fn new(db: Database<'static, Bytes, Bytes>, name: &'static str, kind: Kind, form: Form) -> Self {
        Self { db, name, kind, form, seed: xxh3_64(name.as_bytes()) }
    }

    fn checksum(&self, key: &[u8], value: &[u8]) -> [u8; SUM_BYTES] {
        (xxh3_64_with_seed(value, xxh3_64_with_seed(key, self.seed)) as u32).to_le_bytes()
    }

    /// The error for a row that cannot be read.
    pub fn corrupt(&self, key: &[u8]) -> StoreError {
        StoreError::Corrupt(format!("table {}, key {}", self.name, key.escape_ascii()))
    }

    /// The handle that is the key of a row.
    pub fn handle(&self, key: &[u8]) -> Result<u32> {
        key.try_into().map(u32::from_be_bytes).map_err(|_| self.corrupt(key))
    }

    fn open<'t>(&self, key: &[u8], stored: &'t [u8]) -> Result<&'t [u8]> {
        let Some((value, sum)) = stored.split_last_chunk() else { return Err(self.corrupt(key)) };
        if *sum == self.checksum(key, value) { Ok(value) } else { Err(self.corrupt(key)) }
    }

    fn store(&self, txn: &mut RwTxn, key: &[u8], value: &[u8]) -> Result<()> {
        let sum = self.checksum(key, value);
        self.db.put_reserved(txn, key, value.len() + sum.len(), |space| {
            use std::io::Write;
            space.write_all(value)?;
            space.write_all(&sum)
        })?;
        Ok(())
    }

    /// The run that holds `key` if any does, with the key of the run.
    fn run_of<'t>(&self, txn: &'t RoTxn, key: &[u8]) -> Result<Option<(&'t [u8], &'t [u8])>> {
        if !is_key(key) {
            return Ok(None);
        }
        match self.db.get_lower_than_or_equal_to(txn, key)? {
            Some((run_key, stored)) => Ok(Some((run_key, self.open(run_key, stored)?))),
            None => Ok(None),
        }
    }

    /// The run that holds `key` if any does.
    pub fn run<'t>(&self, txn: &'t RoTxn, key: &[u8]) -> Result<Option<&'t [u8]>> {
        Ok(self.run_of(txn, key)?.map(|r| r.1))
    }

    /// The value under `key`; `None` for an invalid key.
    pub fn get<'t>(&self, txn: &'t RoTxn, key: &[u8]) -> Result<Option<&'t [u8]>> {
        if !is_key(key) {
            return Ok(None);
        }
        if self.form == Form::Runs {
            return Ok(self.run_of(txn, key)?.and_then(|(_, bytes)| run::find(bytes, key)));
        }
        match self.db.get(txn, key)? {
            Some(stored) => self.open(key, stored).map(Some),
            None => Ok(None),
        }
    }

    /// The value under a key that must exist.
    pub fn need<'t>(&self, txn: &'t RoTxn, key: &[u8]) -> Result<&'t [u8]> {
        self.get(txn, key)?.ok_or_else(|| self.corrupt(key))
    }

    /// Writes `value`.
    pub fn put(&self, txn: &mut RwTxn, key: &[u8], value: &[u8]) -> Result<()> {
        match self.form {
            Form::Runs => self.splice(txn, key, Some(value)),
            Form::Rows | Form::Pieces => self.store(txn, key, value),
        }
    }

    /// Writes `value` unless it is stored already; an unchanged row dirties no page.
    pub fn put_new(&self, txn: &mut RwTxn, key: &[u8], value: &[u8]) -> Result<()> {
        if self.get(txn, key)? == Some(value) { Ok(()) } else { self.put(txn, key, value) }
    }

    /// Removes a row; returns true if it existed.
    pub fn delete(&self, txn: &mut RwTxn, key: &[u8]) -> Result<bool> {
        if self.form != Form::Runs {
            return Ok(is_key(key) && self.db.delete(txn, key)?);
        }
        let is_there = self.get(txn, key)?.is_some();
        if is_there {
            self.splice(txn, key, None)?;
        }
        Ok(is_there)
    }

    fn splice(&self, txn: &mut RwTxn, key: &[u8], value: Option<&[u8]>) -> Result<()> {
        let mut old_key = None;
        let (mut run_key, run) = match self.run_of(txn, key)? {
            Some((run_key, run)) => (run_key.to_vec(), run),
            None => match self.db.first(txn)? {
                // Below every run: the first one starts at this key from now on.
                Some((first, stored)) => {
                    old_key = Some(first.to_vec());
                    (key.to_vec(), self.open(first, stored)?)
                }
                None => (key.to_vec(), &[][..]),
            },
        };
        let mut run = run::splice(run, key, value).ok_or_else(|| self.corrupt(&run_key))?;
        if let Some(old_key) = old_key {
            self.db.delete(txn, &old_key)?;
        }
        if run.is_empty() {
            self.db.delete(txn, &run_key)?;
            return Ok(());
        }
        // Almost always one run, sometimes two; an entry larger than a run has one of its own.
        let mut after = Vec::new();
        loop {
            if run_key.len() + run.len() + SUM_BYTES > RUN_BYTES_MAX
                && let Some((first, second_key, second)) = run::halve(&run)
            {
                let first = first.to_vec();
                after.push((second_key, second));
                run = first;
                continue;
            }
            self.store(txn, &run_key, &run)?;
            match after.pop() {
                Some((key, bytes)) => (run_key, run) = (key, bytes),
                None => return Ok(()),
            }
        }
    }

    /// Writes a row, or a whole run, under a key above all others.
    pub fn append(&self, txn: &mut RwTxn, key: &[u8], value: &[u8]) -> Result<()> {
        let stored = [value, &self.checksum(key, value)].concat();
        Ok(self.db.put_with_flags(txn, PutFlags::APPEND, key, &stored)?)
    }

    /// Removes all rows.
    pub fn clear(&self, txn: &mut RwTxn) -> Result<()> {
        Ok(self.db.clear(txn)?)
    }

    /// The number of rows. Runs are counted by walking them.
    pub fn len(&self, txn: &RoTxn) -> Result<u64> {
        match self.form {
            Form::Runs => self.iter(txn)?.try_fold(0, |n, row| row.map(|_| n + 1)),
            Form::Rows | Form::Pieces => Ok(self.db.len(txn)?),
        }
    }

    /// The number of LMDB nodes: rows, or runs of them.
    pub fn n_nodes(&self, txn: &RoTxn) -> Result<u64> {
        Ok(self.db.len(txn)?)
    }

    /// All rows in key order.
    pub fn iter<'t>(&self, txn: &'t RoTxn<'t>) -> Result<Rows<'t>> {
        self.prefix(txn, &[])
    }

    /// Rows whose key starts with `prefix`, in key order.
    pub fn prefix<'t>(&self, txn: &'t RoTxn<'t>, prefix: &[u8]) -> Result<Rows<'t>> {
        let mut rows = Rows {
            table: *self,
            txn,
            prefix: prefix.to_vec(),
            node: None,
            n_nodes: 0,
            is_given: false,
            entries: None,
            after: None,
        };
        let node = match self.form {
            _ if prefix.len() > KEY_BYTES_MAX => None,
            Form::Runs if prefix.is_empty() => self.db.first(txn)?,
            Form::Runs => match self.db.get_lower_than_or_equal_to(txn, prefix)? {
                None => self.db.get_greater_than(txn, prefix)?,
                found => found,
            },
            _ if prefix.is_empty() => self.db.first(txn)?,
            _ => self.db.get_greater_than_or_equal_to(txn, prefix)?,
        };
        rows.enter(node)?;
        Ok(rows)
    }
}

/// Rows of a table in key order.
pub(crate) struct Rows<'t> {
    table: Table,
    txn: &'t RoTxn<'t>,
    prefix: Vec<u8>,
    /// Key and value of the current node.
    node: Option<(&'t [u8], &'t [u8])>,
    /// Number of nodes read.
    n_nodes: u64,
    /// True if the current node was returned as a row.
    is_given: bool,
    /// The rest of the current run.
    entries: Option<Entries<'t>>,
    /// The nodes after the first. Most reads need only the first, so the cursor is created on demand; from
    /// then on a step needs no search from the root.
    after: Option<RoRange<'t, Bytes, Bytes>>,
}

impl<'t> Rows<'t> {
    fn enter(&mut self, node: Option<(&'t [u8], &'t [u8])>) -> Result<()> {
        // The key of a run is at most that of its first row.
        let is_past =
            |key: &[u8]| !self.prefix.is_empty() && *key > *self.prefix && !key.starts_with(&self.prefix);
        self.node = match node.filter(|n| !is_past(n.0)) {
            Some((key, stored)) => Some((key, self.table.open(key, stored)?)),
            None => None,
        };
        self.n_nodes += u64::from(self.node.is_some());
        self.is_given = false;
        self.entries = match self.node {
            Some((_, run)) if self.table.form == Form::Runs => Some(Entries::new(run)),
            _ => None,
        };
        Ok(())
    }

    fn next_node(&mut self, last: &[u8]) -> Result<Option<(&'t [u8], &'t [u8])>> {
        let after = match &mut self.after {
            Some(after) => after,
            None => {
                let bounds = (Bound::Excluded(last), Bound::Unbounded);
                self.after.insert(self.table.db.range(self.txn, &bounds)?)
            }
        };
        Ok(after.next().transpose()?)
    }

    /// Advances to the next row and returns its value; its key is then in [`Rows::key`].
    pub fn advance(&mut self) -> Result<Option<&'t [u8]>> {
        while let Some((key, value)) = self.node {
            match &mut self.entries {
                Some(entries) => {
                    while !entries.is_done() {
                        let value = entries.read().ok_or_else(|| self.table.corrupt(key))?;
                        // Comparing with an empty vector, which has no memory, can take a hundred times as
                        // long as checking that it is empty.
                        if self.prefix.is_empty() || entries.key.starts_with(&self.prefix) {
                            return Ok(Some(value));
                        }
                        if *entries.key > *self.prefix {
                            self.node = None;
                            return Ok(None);
                        }
                    }
                }
                None if !self.is_given => {
                    self.is_given = true;
                    return Ok(Some(value));
                }
                None => {}
            }
            let next = self.next_node(key)?;
            self.enter(next)?;
        }
        Ok(None)
    }

    /// The number of nodes read so far.
    pub fn n_nodes(&self) -> u64 {
        self.n_nodes
    }

    /// The key of the row that [`Rows::advance`] returned last.
    pub fn key(&self) -> &[u8] {
        match (&self.entries, self.node) {
            (Some(entries), _) => &entries.key,
            (None, node) => node.map_or(&[], |n| n.0),
        }
    }
}

impl<'t> Iterator for Rows<'t> {
    type Item = Result<Row<'t>>;

    fn next(&mut self) -> Option<Self::Item> {
        let value = self.advance();
        if !matches!(value, Ok(Some(_))) {
            self.node = None;
        }
        value.transpose().map(|v| v.map(|v| (self.key().to_vec(), v)))
    }
}
