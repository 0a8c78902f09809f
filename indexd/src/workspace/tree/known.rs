//! The files that the index holds, each with the stat under which it was read, grouped by folder. A walk
//! compares the files of a folder, in the order of their names, with these. Unchanged files then need no path
//! of their own.

use indexd_model::RepoPath;
use indexd_model::path::{InvalidPath, dir_of, file_name_of, join};
use indexd_store::FileStat;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::iter::{Flatten, Peekable};
use std::option;

/// Stats by path.
#[derive(Clone, Default)]
pub struct KnownFiles {
    folders: FxHashMap<Box<str>, KnownFolder>,
    n_files: usize,
}

/// The files of one folder, by name.
pub type KnownFolder = BTreeMap<Box<str>, FileStat>;

impl KnownFiles {
    /// Files.
    pub fn len(&self) -> usize {
        self.n_files
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.n_files == 0
    }

    /// The stat of a file.
    pub fn get(&self, path: &str) -> Option<FileStat> {
        self.folders.get(dir_of(path))?.get(file_name_of(path)).copied()
    }

    /// Returns the known files directly in a folder; `None` if there are none.
    pub fn folder(&self, dir: &str) -> Option<&KnownFolder> {
        self.folders.get(dir)
    }

    /// Returns the folders with known files, in no order.
    pub fn folders(&self) -> impl ExactSizeIterator<Item = &str> {
        self.folders.keys().map(|dir| &**dir)
    }

    /// Remembers a file, whose path is valid.
    pub fn set(&mut self, path: &str, stat: FileStat) {
        let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
        let folder = match self.folders.get_mut(dir) {
            Some(folder) => folder,
            None => self.folders.entry(dir.into()).or_default(),
        };
        self.n_files += usize::from(folder.insert(name.into(), stat).is_none());
    }

    /// Forgets a file.
    pub fn remove(&mut self, path: &str) {
        let Some(folder) = self.folders.get_mut(dir_of(path)) else { return };
        self.n_files -= usize::from(folder.remove(file_name_of(path)).is_some());
        if folder.is_empty() {
            self.folders.remove(dir_of(path));
        }
    }
}

/// Compares the files of one folder, given one by one, with the known ones.
pub struct Comparing<'k> {
    dir: &'k str,
    is_known: bool,
    /// Those of the folder that come next.
    left: Peekable<Flatten<option::IntoIter<&'k KnownFolder>>>,
    /// Files that are new or have another stat, with their size in bytes, ordered.
    pub changed: Vec<(RepoPath, u64)>,
    /// Files that are known and were not seen, ordered.
    pub removed: Vec<RepoPath>,
}

impl<'k> Comparing<'k> {
    /// Starts before the first name in the folder `dir`.
    pub fn new(dir: &'k str, known: &'k KnownFiles) -> Self {
        let folder = known.folder(dir);
        let left = folder.into_iter().flatten().peekable();
        Self { dir, is_known: folder.is_some(), left, changed: Vec::new(), removed: Vec::new() }
    }

    /// Records that a file is there. Names come in order.
    ///
    /// # Errors
    /// The name is not valid in a path; the file counts as not seen.
    pub fn see(&mut self, name: &str, stat: FileStat) -> Result<(), InvalidPath> {
        while let Some((passed, _)) = self.left.next_if(|(known, _)| &***known < name) {
            self.pass(passed);
        }
        if self.left.next_if(|(known, _)| &***known == name).is_some_and(|(_, was)| *was == stat) {
            return Ok(());
        }
        self.changed.push((RepoPath::try_from(join(self.dir, name))?, stat.size));
        Ok(())
    }

    /// Ends the comparison: all files that are there were seen.
    pub fn end(&mut self) {
        while let Some((passed, _)) = self.left.next() {
            self.pass(passed);
        }
    }

    /// Returns true if files of the folder are known.
    pub fn is_known(&self) -> bool {
        self.is_known
    }

    fn pass(&mut self, name: &str) {
        // Known files have valid paths.
        self.removed.extend(RepoPath::try_from(join(self.dir, name)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stat(size: u64) -> FileStat {
        FileStat { size, ..FileStat::default() }
    }

    fn a_path() -> impl Strategy<Value = String> {
        "([ab]/){0,2}[abé]{1,3}"
    }

    proptest! {
        /// Every path has the stat it was given last, and a folder its files in order.
        #[test]
        fn it_is_a_map_by_path(edits in proptest::collection::vec((a_path(), 0..3_u64), 0..60)) {
            let (mut known, mut want) = (KnownFiles::default(), BTreeMap::new());
            for (path, size) in &edits {
                if *size == 0 {
                    known.remove(path);
                    want.remove(path);
                } else {
                    known.set(path, stat(*size));
                    want.insert(path.clone(), stat(*size));
                }
            }
            prop_assert_eq!(known.len(), want.len());
            for (path, _) in &edits {
                prop_assert_eq!(known.get(path), want.get(path).copied());
            }
            let mut all = Vec::new();
            for dir in known.folders() {
                let names: Vec<&str> = known.folder(dir).unwrap().keys().map(|name| &**name).collect();
                prop_assert!(!names.is_empty() && names.is_sorted());
                all.extend(names.into_iter().map(|name| join(dir, name)));
            }
            all.sort();
            prop_assert_eq!(all, want.into_keys().collect::<Vec<_>>());
        }

        /// The comparison agrees with the difference of two maps.
        #[test]
        fn a_folder_is_compared_by_name(
            before in proptest::collection::btree_map("[a-d]{1,2}", 1..3_u64, 0..9),
            after in proptest::collection::btree_map("[a-d]{1,2}", 1..3_u64, 0..9),
        ) {
            let mut known = KnownFiles::default();
            before.iter().for_each(|(name, size)| known.set(&join("d", name), stat(*size)));
            let mut comparing = Comparing::new("d", &known);
            for (name, size) in &after {
                comparing.see(name, stat(*size)).unwrap();
            }
            comparing.end();
            let changed = after.iter().filter(|(name, size)| before.get(*name) != Some(size));
            let changed: Vec<_> = changed.map(|(n, size)| (join("d", n), *size)).collect();
            let removed = before.keys().filter(|name| !after.contains_key(*name));
            let removed: Vec<_> = removed.map(|n| join("d", n)).collect();
            let got: Vec<_> = comparing.changed.iter().map(|(p, size)| (p.to_string(), *size)).collect();
            prop_assert_eq!(got, changed);
            prop_assert_eq!(comparing.removed.iter().map(|p| p.to_string()).collect::<Vec<_>>(), removed);
            prop_assert_eq!(comparing.is_known(), !before.is_empty());
        }
    }

    #[test]
    fn a_name_that_no_path_can_have_is_not_seen() {
        let known = KnownFiles::default();
        let mut comparing = Comparing::new("", &known);
        assert!(comparing.see("..", stat(1)).is_err() && comparing.changed.is_empty());
    }
}
