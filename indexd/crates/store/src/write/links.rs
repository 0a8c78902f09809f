//! Writes the edges, lookups and unresolved uses of a linked file.

use super::{WriteTxn, put_blob};
use crate::codec::enums::Coded;
use crate::codec::{blob, edges};
use crate::error::{Result, StoreError};
use crate::linked::{by_source, decode_sorted, differences, encode_sorted, short_keys};
use crate::rows::{IN_KIND, Rows, in_prefix};
use crate::{sets, snapshot};
use indexd_model::links::EdgeKind;
use indexd_model::{DefRef, FileDoc, Key, Links};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

impl WriteTxn<'_> {
    /// Returns the files to link again after `keys` changed: files that looked up one of the keys, and files
    /// with an edge to a definition that this transaction removed. Sorted by path. Files that were put and
    /// are not linked yet are left out.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] when the index cannot be read.
    pub fn dependants(&self, keys: &[Key]) -> Result<Vec<FileDoc>> {
        let mut files = BTreeSet::new();
        for half in short_keys(keys) {
            files.extend(sets::members(&self.tables().dependants, &self.txn, &half.to_be_bytes())?);
        }
        for def in &self.freed_defs {
            for source in self.sources_of(*def)? {
                files.insert(self.rows().def(source)?.file);
            }
        }
        self.by_path(files.difference(&self.unlinked).copied().collect())
    }

    fn sources_of(&self, target: u32) -> Result<Vec<u32>> {
        let table = &self.tables().edges_in;
        sets::members_of(table, &self.txn, &target.to_be_bytes(), |key| sets::high_of(key, IN_KIND + 1))
    }

    /// Replaces the links of a file: outgoing edges, unresolved uses and looked-up keys.
    ///
    /// # Errors
    /// [`StoreError::Inconsistent`] when a link names a definition that does not exist.
    pub fn put_links(&mut self, file: FileDoc, links: &Links) -> Result<()> {
        self.change(|txn| txn.put_links_checked(file.0, links))
    }

    fn put_links_checked(&mut self, file: u32, links: &Links) -> Result<()> {
        let tables = self.tables();
        let docs = self.rows().file_defs(file)?;
        let by_source = self.resolve(file, &docs, links)?;
        let mut uses = by_source.into_iter().peekable();
        let mut changes = Vec::new();
        for (slot, &doc) in docs.iter().enumerate() {
            let uses = uses.next_if(|u| u.0 == slot).map_or_else(Vec::new, |u| u.1);
            let key = doc.to_be_bytes();
            let old_bytes = tables.edges_out.get(&self.txn, &key)?;
            if old_bytes.is_none() && uses.is_empty() {
                continue;
            }
            let base = self.rows().base(doc)?;
            let new_bytes = edges::encode(base, &uses);
            if old_bytes == Some(&new_bytes) {
                continue;
            }
            let before = self.targets(doc)?;
            let mut after: Vec<(EdgeKind, u32)> = uses.iter().map(|u| (u.kind, u.target)).collect();
            after.dedup();
            let differing = differences(&before, &after);
            changes.extend(
                differing.into_iter().map(|((kind, target), add)| (in_prefix(target, kind.code()), doc, add)),
            );
            if new_bytes.is_empty() {
                tables.edges_out.delete(&mut self.txn, &key)?;
            } else {
                tables.edges_out.put(&mut self.txn, &key, &new_bytes)?;
            }
        }
        sets::update_all(&tables.edges_in, &mut self.txn, changes)?;
        let unresolved = blob::compress(&edges::encode_unresolved(&links.unresolved))?;
        put_blob(&tables.unresolved, &mut self.txn, file, &unresolved)?;
        self.put_lookups(file, &short_keys(&links.lookups))?;
        self.unlinked.remove(&file);
        Ok(())
    }

    fn resolve(&self, file: u32, docs: &[u32], links: &Links) -> Result<Vec<(usize, Vec<edges::Use>)>> {
        if links.links.is_empty() {
            return Ok(Vec::new());
        }
        let text = snapshot::text(self.store, self.rows(), file)?;
        let mut docs_of: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        let rows = self.rows();
        by_source(links, docs.len(), text.lines(), |DefRef { file, def }| {
            let docs = match docs_of.entry(file.0) {
                std::collections::hash_map::Entry::Occupied(e) => e.into_mut(),
                std::collections::hash_map::Entry::Vacant(e) => e.insert(rows.file_defs(file.0)?),
            };
            let slot = def.some().map_or(0, |d| d.index() + 1);
            let missing =
                || StoreError::Inconsistent(format!("a link to {def:?} of {file:?}, which is not there"));
            docs.get(slot).copied().ok_or_else(missing)
        })
    }

    /// Kinds and targets of the stored outgoing edges of a source, sorted.
    fn targets(&self, source: u32) -> Result<Vec<(EdgeKind, u32)>> {
        let mut out = Vec::new();
        // Places do not matter here. The row of a removed source is gone.
        let base = edges::Base { source, at: 0, line: 0 };
        let t = &self.tables().edges_out;
        let key = source.to_be_bytes();
        if let Some(bytes) = t.get(&self.txn, &key)? {
            edges::decode_targets(base, bytes, |kind, target| out.push((kind, target)))
                .ok_or_else(|| t.corrupt(&key))?;
        }
        Ok(out)
    }

    /// Removes all outgoing edges of some definitions.
    pub(super) fn drop_sources(&mut self, sources: &BTreeSet<u32>) -> Result<()> {
        let mut changes = Vec::new();
        for &source in sources {
            let targets = self.targets(source)?;
            changes.extend(
                targets.into_iter().map(|(kind, target)| (in_prefix(target, kind.code()), source, false)),
            );
        }
        let tables = self.tables();
        sets::update_all(&tables.edges_in, &mut self.txn, changes)?;
        for source in sources {
            tables.edges_out.delete(&mut self.txn, &source.to_be_bytes())?;
        }
        Ok(())
    }

    /// Replaces the keys that a file looked up.
    pub(super) fn put_lookups(&mut self, file: u32, new: &[u32]) -> Result<()> {
        let tables = self.tables();
        let old = decode_sorted(&self.rows().unpacked(&tables.lookups, file)?)
            .ok_or_else(|| tables.lookups.corrupt(&file.to_be_bytes()))?;
        let changes =
            differences(&old, new).into_iter().map(|(k, add)| (k.to_be_bytes(), file, add)).collect();
        sets::update_all(&tables.dependants, &mut self.txn, changes)?;
        put_blob(&tables.lookups, &mut self.txn, file, &blob::plain(&encode_sorted(new)))
    }

    /// Checks that no edge points to a definition removed by this transaction.
    pub(super) fn check_vanished(&self) -> Result<()> {
        for def in &self.freed_defs {
            if let Some(source) = self.sources_of(*def)?.first() {
                let row = self.rows().def(*source)?;
                let rows: Rows = self.rows();
                return Err(StoreError::Inconsistent(format!(
                    "{} has an edge to a definition that is gone",
                    rows.file(row.file)?.path.as_str()
                )));
            }
        }
        Ok(())
    }
}
