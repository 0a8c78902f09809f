//! The stored version of a file: read once, for all that replacing or removing it needs.

use super::WriteTxn;
use crate::codec::records::FileRow;
use crate::error::{Result, StoreError};
use crate::packed;
use crate::prepared::{self, Identity};
use crate::snapshot;
use indexd_model::{ContentHash, FileFacts};
use std::sync::Arc;

/// The stored version of a file. The caller computes its terms from the facts and the text.
pub struct Stored {
    /// Facts.
    pub facts: FileFacts,
    /// Text, secrets in it left out.
    pub text: Arc<str>,
    /// Hash of the bytes.
    pub hash: ContentHash,
    pub(super) row: FileRow,
    pub(super) doc: u32,
    pub(super) identities: Vec<Identity>,
    /// Handles of the file as a definition and of its definitions.
    pub(super) docs: Vec<u32>,
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
            row: FileRow::copy_of(row).ok_or_else(|| rows.tables.files.corrupt(&doc.to_be_bytes()))?,
            doc,
            identities: prepared::identities(&facts.interface),
            facts,
            docs,
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
        if present == stored.map(|stored| (stored.doc, stored.row.hash)) {
            return Ok(());
        }
        Err(StoreError::Inconsistent(format!("{path}: not the version that is stored")))
    }
}
