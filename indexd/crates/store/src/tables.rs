//! The tables of an environment.

use crate::error::{Result, StoreError};
use crate::table::{Form, Kind, Table};
use heed::types::Bytes;
use heed::{CommitOrAbort, Database, Env, WithoutTls};

macro_rules! tables {
    ($($(#[$doc:meta])* $name:ident: $kind:ident, $form:ident;)*) => {
        /// All tables of an environment.
        pub(crate) struct Tables {
            $($(#[$doc])* pub $name: Table,)*
        }

        /// The names of all tables.
        const NAMES: [&str; [$(stringify!($name)),*].len()] = [$(stringify!($name)),*];

        impl Tables {
            fn of([$($name),*]: [Database<'static, Bytes, Bytes>; NAMES.len()]) -> Self {
                Self { $($name: Table::new($name, stringify!($name), Kind::$kind, Form::$form),)* }
            }

            /// Every table, in order of declaration.
            pub fn all(&self) -> [&Table; NAMES.len()] {
                [$(&self.$name),*]
            }
        }
    };
}

tables! {
    /// Format, config, generation, statistics, head, free handles; see [`crate::meta`].
    meta: Derived, Rows;
    /// Path to file handle.
    paths: Derived, Runs;
    /// File handle to [`crate::codec::records::FileRow`].
    files: Derived, Rows;
    /// File handle to the handles of its definitions, in order.
    file_defs: Derived, Runs;
    /// File handle to stat.
    stats: Cache, Runs;
    /// Chunk handle to a chunk.
    chunks: Derived, Runs;
    /// Definition handle to [`crate::codec::defs::DefRow`].
    defs: Derived, Runs;
    /// Name to definitions.
    names: Derived, Runs;
    /// File handle and piece to the compressed interface.
    interfaces: Derived, Pieces;
    /// File handle and piece to the compressed body and chunks.
    bodies: Derived, Pieces;
    /// File handle and piece to the compressed text.
    texts: Derived, Pieces;
    /// File handle and piece to the signature of the text, see [`indexd_model::grams`].
    grams: Derived, Pieces;
    /// Term and block of chunks to postings.
    terms: Derived, Runs;
    /// Path term and block of files to postings.
    path_terms: Derived, Runs;
    /// Key to the files that provide entries under it.
    providers: Derived, Runs;
    /// Key to the files that looked it up.
    dependants: Derived, Runs;
    /// File handle and piece to the keys it looked up.
    lookups: Derived, Pieces;
    /// Source definition to its edges with occurrences.
    edges_out: Derived, Runs;
    /// Target definition and kind to sources.
    edges_in: Derived, Runs;
    /// File handle and piece to its unresolved uses, compressed.
    unresolved: Derived, Pieces;
    /// Path to history handle and counts.
    history_files: Derived, Rows;
    /// History handle to path.
    history_docs: Derived, Rows;
    /// Term to history handles with counts.
    history_terms: Derived, Rows;
    /// Path to the overlay of an imported index, as passed by the shell.
    overlays: Derived, Rows;
    /// Hash of a path to the leaf of its file in the signature.
    leaves: Derived, Rows;
    /// Inner nodes of the signature.
    nodes: Derived, Rows;
    /// Tokenizer and hash of a text to its exact token count.
    tokens: Cache, Rows;
}

impl Tables {
    /// The tables of the blobs of [`crate::prepared::blobs`], in their order.
    pub fn blobs(&self) -> [&Table; 4] {
        [&self.interfaces, &self.bodies, &self.texts, &self.grams]
    }

    /// The tables that leave the machine, with their numbers, ascending: neither caches nor the history. The
    /// table `meta` is last, so that rows that are cut make no index.
    pub fn streamed(&self) -> impl Iterator<Item = (u64, &Table)> {
        let left_out = [&self.history_files, &self.history_docs, &self.history_terms, &self.meta];
        let left_out = left_out.map(|table| table.name);
        let is_streamed = move |table: &Table| table.kind == Kind::Derived && !left_out.contains(&table.name);
        let others = (1..).zip(self.all()).filter(move |(_, table)| is_streamed(table));
        others.chain([(META, &self.meta)])
    }
}

/// The number of `meta` among the tables that leave the machine.
pub(crate) const META: u64 = N_TABLES as u64 + 1;

/// The number of tables.
pub(crate) const N_TABLES: u32 = NAMES.len() as u32;

impl Tables {
    /// Opens every table of an existing index; `None` when one is missing.
    pub fn open(env: &Env<WithoutTls>) -> Result<Option<Self>> {
        let txn = env.read_txn()?;
        let opened = env.open_databases_and_commit(txn, |opener, txn| {
            each(|name| opener.open_database::<Bytes, Bytes>(txn, Some(name)))
        })?;
        Ok(opened.commit().map(Self::of))
    }

    /// Creates every missing table.
    pub fn create(env: &Env<WithoutTls>) -> Result<Self> {
        let txn = env.write_txn()?;
        let created = env.create_databases_and_commit(txn, |opener, txn| {
            each(|name| opener.create_database::<Bytes, Bytes>(txn, Some(name)).map(Some))
        })?;
        created.commit().map(Self::of).ok_or(StoreError::Busy("tables were not created"))
    }
}

/// Finds the database of each table by its name.
fn each<D>(
    mut find: impl FnMut(&'static str) -> heed::Result<Option<D>>,
) -> heed::Result<CommitOrAbort<[D; NAMES.len()], ()>> {
    let all: Option<heed::Result<Vec<D>>> = NAMES.iter().map(|name| find(name).transpose()).collect();
    let all = all.transpose()?.and_then(|all| all.try_into().ok());
    Ok(all.map_or(CommitOrAbort::Abort(()), CommitOrAbort::Commit))
}
