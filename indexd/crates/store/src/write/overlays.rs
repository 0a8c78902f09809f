//! Stores the overlays of an imported index. Only the shell reads their content.

use super::WriteTxn;
use crate::error::Result;
use crate::input::Overlays;
use crate::rows::path_key;
use indexd_model::FileDoc;
use std::collections::BTreeMap;

impl WriteTxn<'_> {
    /// Reads the stored overlay of a path.
    ///
    /// # Errors
    /// [`crate::StoreError::Corrupt`] when it cannot be read.
    pub fn overlay(&self, path: &str) -> Result<Option<&[u8]>> {
        self.tables().overlays.get(&self.txn, &path_key(path))
    }

    /// Replaces the overlays and returns the indexed files whose overlay was added, removed or changed, in
    /// path order. These must be linked again.
    ///
    /// # Errors
    /// [`crate::StoreError::Full`] when there is no room.
    pub fn put_overlays(&mut self, new: &Overlays) -> Result<Vec<FileDoc>> {
        self.change(|txn| txn.put_overlays_checked(new))
    }

    fn put_overlays_checked(&mut self, new: &Overlays) -> Result<Vec<FileDoc>> {
        let tables = self.tables();
        let mut after: BTreeMap<Vec<u8>, &[u8]> =
            new.files.iter().map(|(path, overlay)| (path_key(path).into_owned(), &overlay[..])).collect();
        let mut gone = Vec::new();
        for row in tables.overlays.iter(&self.txn)? {
            let (key, value) = row?;
            match after.get(&key) {
                Some(same) if *same == value => {
                    after.remove(&key);
                }
                Some(_) => {}
                None => gone.push(key),
            }
        }
        let mut files = Vec::new();
        for key in gone.iter().chain(after.keys()) {
            files.extend(self.rows().file_doc_of(key)?);
        }
        for key in &gone {
            tables.overlays.delete(&mut self.txn, key)?;
        }
        for (key, overlay) in after {
            tables.overlays.put(&mut self.txn, &key, overlay)?;
        }
        self.meta.overlays = new.known_digest();
        self.by_path(files)
    }
}
