//! The stored version of a file: read once, for all that replacing or removing it needs.

use super::WriteTxn;
use crate::error::{Result, StoreError};
use crate::packed;
use crate::prepared::{self, Identity};
use crate::snapshot;
use indexd_model::{ContentHash, FileFacts, StrId};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The stored version of a file. The caller computes its terms from the facts and the text.
pub struct Stored {
    /// Facts.
    pub facts: FileFacts,
    /// Text, secrets in it left out.
    pub text: Arc<str>,
    /// Hash of the bytes.
    pub hash: ContentHash,
    pub(super) path: String,
    pub(super) doc: u32,
    pub(super) identities: Vec<Identity>,
    /// Handles of the file as a definition and of its definitions.
    pub(super) docs: Vec<u32>,
    pub(super) size: u64,
    pub(super) path_len: u16,
    pub(super) chunk_start: u32,
    pub(super) n_chunks: u32,
    pub(super) chunk_room: u32,
}

impl Stored {
    /// Names of the given definitions.
    pub(super) fn names(&self, docs: &[u32]) -> Vec<(u32, String)> {
        let wanted: BTreeSet<u32> = docs.iter().copied().collect();
        let interface = &self.facts.interface;
        let all = interface.defs.iter().zip(&self.docs[1..]);
        let name = |s: StrId| interface.arena.strings.get(s.index()).cloned().unwrap_or_default();
        let named = all.filter(|(_, doc)| wanted.contains(doc)).map(|(def, doc)| (*doc, name(def.name)));
        named.filter(|(_, name)| !name.is_empty()).collect()
    }
}

impl WriteTxn<'_> {
    /// Reads the stored version of a file; `None` for unknown paths.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when it cannot be read.
    pub fn stored(&self, path: &str) -> Result<Option<Stored>> {
        let rows = self.rows();
        let Some(doc) = rows.file_doc(path)? else {
            return Ok(None);
        };
        let (row, facts, docs) = (rows.file(doc)?, rows.facts(doc)?, rows.file_defs(doc)?);
        if docs.len() != facts.interface.defs.len() + 1 {
            return Err(rows.tables.file_defs.corrupt(&doc.to_be_bytes()));
        }
        Ok(Some(Stored {
            text: snapshot::last_text(self.store, rows, doc)?,
            hash: ContentHash(row.hash),
            path: path.to_owned(),
            doc,
            identities: prepared::identities(&facts.interface),
            facts,
            docs,
            size: row.size.to_native(),
            path_len: row.path_len.to_native(),
            chunk_start: row.chunk_start.to_native(),
            n_chunks: row.n_chunks.to_native(),
            chunk_room: row.chunk_room.to_native(),
        }))
    }

    /// Reads the compressed facts of a stored file.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when they cannot be read.
    pub fn packed_facts(&self, stored: &Stored) -> Result<Vec<u8>> {
        packed::pack(self.rows(), stored.doc)
    }

    /// Checks that `stored` is the present version of a path.
    pub(super) fn check_present(&self, path: &str, stored: Option<&Stored>) -> Result<()> {
        let present = match self.rows().file_doc(path)? {
            Some(doc) => Some((doc, self.rows().file(doc)?.hash)),
            None => None,
        };
        if present == stored.map(|stored| (stored.doc, stored.hash.0)) {
            return Ok(());
        }
        Err(StoreError::Inconsistent(format!("{path}: not the version that is stored")))
    }
}
