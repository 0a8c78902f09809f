//! Every term of a state, for code that writes an index elsewhere.

use crate::error::Result;
use crate::rows::text_prefix_len;
use crate::snapshot::Snapshot;
use crate::table::Table;

impl Snapshot {
    /// The terms of texts, of paths, and of subjects of commits, each list in byte order.
    ///
    /// # Errors
    /// The error of a row that cannot be read.
    pub fn vocabulary(&self) -> Result<[Vec<String>; 3]> {
        let tables = self.rows().tables;
        let read = |table| self.noting(self.terms_of(table));
        Ok([read(&tables.terms)?, read(&tables.path_terms)?, read(&tables.history_terms)?])
    }

    /// The terms that the keys of a table begin with, up to a NUL.
    fn terms_of(&self, table: &Table) -> Result<Vec<String>> {
        let mut out: Vec<String> = Vec::new();
        for row in table.iter(self.rows().txn)? {
            let (key, _) = row?;
            let term = &key[..text_prefix_len(&key).saturating_sub(1)];
            let term = std::str::from_utf8(term).map_err(|_| table.corrupt(&key))?;
            if out.last().is_none_or(|last| last != term) {
                out.push(term.to_owned());
            }
        }
        out.sort_unstable();
        out.dedup();
        Ok(out)
    }
}
