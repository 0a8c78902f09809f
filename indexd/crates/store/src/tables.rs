//! The tables, and the one way to read and write their rows.
//!
//! Every value ends in a checksum over key and value, checked on each read: LMDB returns flipped
//! bits as if nothing were wrong. Records carry four bytes; tables of very many tiny rows carry one,
//! which a damaged page of a hundred rows cannot pass in `verify`. Compressed blobs bring their own.

use crate::error::{Result, StoreError};
use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, PutFlags, RoTxn, RwTxn, WithoutTls};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Whether a table is part of the dump and of the signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A function of the inputs: dumped.
    Derived,
    /// May vanish at any time, or describes the machine and not the tree: never dumped.
    Cache,
}

/// One table.
#[derive(Clone, Copy)]
pub(crate) struct Table {
    db: Database<'static, Bytes, Bytes>,
    /// Name inside the environment.
    pub name: &'static str,
    /// Kind.
    pub kind: Kind,
    sum_bytes: usize,
}

struct Spec {
    name: &'static str,
    kind: Kind,
    sum_bytes: usize,
}

macro_rules! tables {
    ($($(#[$doc:meta])* $name:ident: $kind:ident, $sum:literal;)*) => {
        /// All tables of an environment.
        pub(crate) struct Tables {
            $($(#[$doc])* pub $name: Table,)*
        }

        const SPECS: [Spec; [$(stringify!($name)),*].len()] =
            [$(Spec { name: stringify!($name), kind: Kind::$kind, sum_bytes: $sum }),*];

        impl Tables {
            fn from_all(all: [Table; SPECS.len()]) -> Self {
                let [$($name),*] = all;
                Self { $($name),* }
            }

            /// Every table, in order of declaration.
            pub fn all(&self) -> [&Table; SPECS.len()] {
                [$(&self.$name),*]
            }
        }
    };
}

tables! {
    /// Format, config, generation, statistics, head, free handles; see [`crate::meta`].
    meta: Derived, 4;
    /// Path to file handle.
    paths: Derived, 1;
    /// File handle to [`crate::codec::records::FileRow`].
    files: Derived, 4;
    /// File handle to the handles of its definitions, in order.
    file_defs: Derived, 4;
    /// File handle to stat.
    stats: Cache, 4;
    /// Chunk handle to [`crate::codec::records::ChunkRow`].
    chunks: Derived, 1;
    /// Definition handle to [`crate::codec::defs::DefRow`].
    defs: Derived, 1;
    /// Name to definitions.
    names: Derived, 1;
    /// File handle and piece to the compressed interface.
    interfaces: Derived, 0;
    /// File handle and piece to the compressed body and chunks.
    bodies: Derived, 0;
    /// File handle and piece to the compressed text.
    texts: Derived, 0;
    /// Term and block of chunks to postings.
    terms: Derived, 1;
    /// Path term and block of files to postings.
    path_terms: Derived, 1;
    /// Key to the files that provide entries under it.
    providers: Derived, 1;
    /// Key to the files that looked it up.
    dependants: Derived, 1;
    /// File handle to the keys it looked up.
    lookups: Derived, 1;
    /// Source definition to its edges with occurrences.
    edges_out: Derived, 1;
    /// Target definition and kind to sources.
    edges_in: Derived, 1;
    /// File handle to its unresolved uses.
    unresolved: Derived, 1;
    /// Path to history handle and counts.
    history_files: Derived, 4;
    /// History handle to path.
    history_docs: Derived, 4;
    /// Term to history handles with counts.
    history_terms: Derived, 4;
    /// Hash of a path to the leaf of its file in the signature.
    leaves: Derived, 1;
    /// Inner nodes of the signature.
    nodes: Derived, 1;
    /// Tokenizer and hash of a text to its exact token count.
    tokens: Cache, 1;
}

/// How many tables there are.
pub(crate) const N_TABLES: u32 = SPECS.len() as u32;

impl Tables {
    /// Opens every table of an existing index; `None` when one is missing.
    pub fn open(env: &Env<WithoutTls>) -> Result<Option<Self>> {
        let txn = env.read_txn()?;
        let opened = env.open_databases_and_commit(txn, |opener, txn| {
            let mut all = Vec::with_capacity(SPECS.len());
            for spec in &SPECS {
                match opener.open_database::<Bytes, Bytes>(txn, Some(spec.name))? {
                    Some(db) => all.push(db),
                    None => return Ok(CommitOrAbort::Abort(())),
                }
            }
            match <[_; SPECS.len()]>::try_from(all) {
                Ok(all) => Ok::<_, heed::Error>(CommitOrAbort::Commit(all)),
                Err(_) => Ok(CommitOrAbort::Abort(())),
            }
        })?;
        Ok(opened.commit().map(Self::of))
    }

    /// Creates every table that is not there.
    pub fn create(env: &Env<WithoutTls>) -> Result<Self> {
        let txn = env.write_txn()?;
        let created = env.create_databases_and_commit(txn, |opener, txn| {
            let mut all = Vec::with_capacity(SPECS.len());
            for spec in &SPECS {
                all.push(opener.create_database::<Bytes, Bytes>(txn, Some(spec.name))?);
            }
            match <[_; SPECS.len()]>::try_from(all) {
                Ok(all) => Ok::<_, heed::Error>(CommitOrAbort::Commit(all)),
                Err(_) => Ok(CommitOrAbort::Abort(())),
            }
        })?;
        created
            .commit()
            .map(Self::of)
            .ok_or(StoreError::Busy("tables were not created"))
    }

    fn of(dbs: [Database<'static, Bytes, Bytes>; SPECS.len()]) -> Self {
        let mut specs = SPECS.iter();
        Self::from_all(dbs.map(|db| {
            let spec = specs.next().unwrap_or(&SPECS[0]);
            Table {
                db,
                name: spec.name,
                kind: spec.kind,
                sum_bytes: spec.sum_bytes,
            }
        }))
    }
}

fn checksum(key: &[u8], value: &[u8]) -> [u8; 8] {
    xxh3_64_with_seed(value, xxh3_64(key)).to_le_bytes()
}

impl Table {
    /// The error of a row that does not read as it should.
    pub fn corrupt(&self, key: &[u8]) -> StoreError {
        StoreError::Corrupt(format!("table {}, key {}", self.name, key.escape_ascii()))
    }

    fn open<'t>(&self, key: &[u8], stored: &'t [u8]) -> Result<&'t [u8]> {
        let Some(at) = stored.len().checked_sub(self.sum_bytes) else {
            return Err(self.corrupt(key));
        };
        let (value, sum) = stored.split_at(at);
        if sum == &checksum(key, value)[..self.sum_bytes] {
            Ok(value)
        } else {
            Err(self.corrupt(key))
        }
    }

    /// The value under `key`.
    pub fn get<'t>(&self, txn: &'t RoTxn, key: &[u8]) -> Result<Option<&'t [u8]>> {
        match self.db.get(txn, key)? {
            Some(stored) => self.open(key, stored).map(Some),
            None => Ok(None),
        }
    }

    /// The value under a key that must be there.
    pub fn need<'t>(&self, txn: &'t RoTxn, key: &[u8]) -> Result<&'t [u8]> {
        self.get(txn, key)?.ok_or_else(|| self.corrupt(key))
    }

    /// Writes `value`.
    pub fn put(&self, txn: &mut RwTxn, key: &[u8], value: &[u8]) -> Result<()> {
        let sum = checksum(key, value);
        self.db
            .put_reserved(txn, key, value.len() + self.sum_bytes, |space| {
                use std::io::Write;
                space.write_all(value)?;
                space.write_all(&sum[..self.sum_bytes])
            })?;
        Ok(())
    }

    /// Writes `value` unless it is there already; an unchanged row dirties no page.
    pub fn put_new(&self, txn: &mut RwTxn, key: &[u8], value: &[u8]) -> Result<()> {
        if self.get(txn, key)? == Some(value) {
            Ok(())
        } else {
            self.put(txn, key, value)
        }
    }

    /// Writes `value` under a key above all others. `value` is scratch: the checksum is added to it.
    pub fn append(&self, txn: &mut RwTxn, key: &[u8], value: &mut Vec<u8>) -> Result<()> {
        let sum = checksum(key, value);
        value.extend_from_slice(&sum[..self.sum_bytes]);
        self.db.put_with_flags(txn, PutFlags::APPEND, key, value)?;
        Ok(())
    }

    /// Removes a row; whether there was one.
    pub fn delete(&self, txn: &mut RwTxn, key: &[u8]) -> Result<bool> {
        Ok(self.db.delete(txn, key)?)
    }

    /// Removes all rows.
    pub fn clear(&self, txn: &mut RwTxn) -> Result<()> {
        Ok(self.db.clear(txn)?)
    }

    /// How many rows there are.
    pub fn len(&self, txn: &RoTxn) -> Result<u64> {
        Ok(self.db.len(txn)?)
    }

    /// All rows in key order.
    pub fn iter<'t>(
        &self,
        txn: &'t RoTxn,
    ) -> Result<impl Iterator<Item = Result<(&'t [u8], &'t [u8])>> + use<'t>> {
        let this = *self;
        Ok(self.db.iter(txn)?.map(move |row| {
            let (key, stored) = row?;
            Ok((key, this.open(key, stored)?))
        }))
    }

    /// Rows whose key starts with `prefix`, in key order.
    pub fn prefix<'t>(
        &self,
        txn: &'t RoTxn,
        prefix: &[u8],
    ) -> Result<impl Iterator<Item = Result<(&'t [u8], &'t [u8])>> + use<'t>> {
        let this = *self;
        Ok(self.db.prefix_iter(txn, prefix)?.map(move |row| {
            let (key, stored) = row?;
            Ok((key, this.open(key, stored)?))
        }))
    }

    /// Pages and bytes of the table, for measuring.
    pub fn bytes(&self, txn: &RoTxn) -> Result<u64> {
        let s = self.db.stat(txn)?;
        Ok((s.branch_pages + s.leaf_pages + s.overflow_pages) as u64 * u64::from(s.page_size))
    }
}
