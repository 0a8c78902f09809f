//! The tree as the index knows it, and the changes since.
//!
//! A [`Tree`] remembers the stat of every file in the index, and the rules of every folder in the set.
//! [`Tree::sweep`] compares everything, [`Tree::examine`] only given dirty paths; both return a [`ChangeSet`]
//! and neither reads a file. An edited ignore file, a new or vanished `.git` and an edited `.indexd.toml` are
//! dirty folders: the part of the tree that they govern is walked again.

use super::known::KnownFiles;
use super::rules::{Layer, is_rule_file};
use super::scan::{Enter, Folders, Scan, scan, stat_of};
use indexd_model::RepoPath;
use indexd_model::path::{dir_of, file_name_of, join};
use indexd_os::{ReadError, Root};
use indexd_store::FileStat;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The paths to read again and those to forget, after ignore rules.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ChangeSet {
    /// Files whose stat is new or cannot be trusted, with their size in bytes.
    pub changed: BTreeMap<RepoPath, u64>,
    /// Files in the index and no longer in the set.
    pub removed: BTreeSet<RepoPath>,
    /// Folders that joined the set (or are repositories of their own inside it): to be watched.
    pub folders_new: BTreeSet<String>,
    /// Folders that left it.
    pub folders_gone: BTreeSet<String>,
}

impl ChangeSet {
    fn change(&mut self, path: RepoPath, size: u64) {
        self.removed.remove(&path);
        self.changed.insert(path, size);
    }

    fn remove(&mut self, path: RepoPath) {
        self.changed.remove(&path);
        self.removed.insert(path);
    }

    /// Files concerned.
    pub fn len(&self) -> usize {
        self.changed.len() + self.removed.len()
    }

    /// Returns true if no file is concerned.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Merges a later set, which takes precedence.
    pub fn merge(&mut self, later: ChangeSet) {
        for (path, size) in later.changed {
            self.change(path, size);
        }
        for path in later.removed {
            self.remove(path);
        }
        for dir in later.folders_new {
            self.folders_gone.remove(&dir);
            self.folders_new.insert(dir);
        }
        for dir in later.folders_gone {
            self.folders_new.remove(&dir);
            self.folders_gone.insert(dir);
        }
    }
}

/// The reason why a tree cannot be compared.
#[derive(Debug, thiserror::Error)]
#[error("{what} {path}")]
pub struct TreeError {
    /// The operation that failed.
    pub what: &'static str,
    /// The root.
    pub path: PathBuf,
    /// The error of the system.
    pub source: io::Error,
}

/// The known files and folders of a workspace.
pub struct Tree {
    root: PathBuf,
    excludes: Vec<String>,
    top: Arc<Layer>,
    folders: Folders,
    known: KnownFiles,
    /// Names that are not UTF-8 or hold a secret, as of the last sweep.
    pub skipped_names: Vec<String>,
    /// Folders that could not be read, as of the last sweep.
    pub unreadable: Vec<String>,
}

impl Tree {
    /// Starts with the files that the index holds; a sweep has to follow.
    pub fn new(root: &Path, excludes: &[String], known: KnownFiles) -> Self {
        Self {
            root: root.to_owned(),
            excludes: excludes.to_vec(),
            top: Arc::default(),
            folders: Folders::default(),
            known,
            skipped_names: Vec::new(),
            unreadable: Vec::new(),
        }
    }

    /// Returns this tree without known files; a sweep has to follow.
    pub fn afresh(&self) -> Self {
        Self::new(&self.root, &self.excludes, KnownFiles::default())
    }

    /// Returns true if a folder is one of those to watch.
    pub fn watches(&self, dir: &str) -> bool {
        self.folders.contains_key(dir)
    }

    /// Folders to watch, by relative path and in no order: those of the set, and nested repositories,
    /// since one that loses its `.git` joins the set.
    pub fn watched(&self) -> impl Iterator<Item = &str> {
        self.folders.keys().map(|k| &**k)
    }

    /// Files in the index.
    pub fn n_files(&self) -> usize {
        self.known.len()
    }

    /// Returns true if the index holds this file.
    pub fn holds(&self, path: &str) -> bool {
        self.known.get(path).is_some()
    }

    /// Sets the configured excludes; a sweep has to follow.
    pub fn set_excludes(&mut self, excludes: &[String]) {
        self.excludes = excludes.to_vec();
    }

    /// Records that the index holds this file, read with this stat, or with `None` that it does not.
    pub fn remember(&mut self, path: &RepoPath, stat: Option<FileStat>) {
        match stat {
            Some(stat) => self.known.set(path, stat),
            None => self.known.remove(path),
        }
    }

    /// Opens the root.
    ///
    /// # Errors
    /// The root is gone or may not be read.
    pub fn open(&self) -> Result<Root, TreeError> {
        let source = |e: ReadError| match e {
            ReadError::Denied => io::ErrorKind::PermissionDenied.into(),
            ReadError::Io(e) => e,
            _ => io::ErrorKind::NotFound.into(),
        };
        Root::open(&self.root).map_err(|e| self.error("open", source(e)))
    }

    fn error(&self, what: &'static str, source: io::Error) -> TreeError {
        TreeError { what, path: self.root.clone(), source }
    }

    /// Compares the whole tree, and calls `enter` with each folder before it is read. With it
    /// [`ChangeSet::folders_new`] stays empty, since `enter` has seen these folders.
    ///
    /// # Errors
    /// The root is gone or a folder cannot be listed for want of resources; nothing has changed then.
    pub fn sweep(&mut self, enter: Option<Enter>) -> Result<ChangeSet, TreeError> {
        self.top = Layer::top(&self.root, &self.excludes);
        let mut changes = ChangeSet::default();
        self.walk("", enter, &mut changes)?;
        Ok(changes)
    }

    /// Compares the files and folders at `dirty`, paths relative to the root in any order; the empty path is
    /// the whole tree.
    ///
    /// # Errors
    /// As [`Tree::sweep`].
    pub fn examine<'a>(&mut self, dirty: impl IntoIterator<Item = &'a str>) -> Result<ChangeSet, TreeError> {
        let mut changes = ChangeSet::default();
        let mut walks = BTreeSet::new();
        for path in dirty {
            let name = file_name_of(path);
            if path.is_empty() || (is_rule_file(name) && dir_of(path).is_empty()) {
                return self.sweep(None);
            }
            if is_rule_file(name) {
                self.look(dir_of(path), &mut changes, &mut walks)?;
            }
            self.look(path, &mut changes, &mut walks)?;
        }
        let mut last: Option<String> = None;
        for dir in walks {
            if !last.as_ref().is_some_and(|l| is_below(&dir, l)) {
                self.walk(&dir, None, &mut changes)?;
                last = Some(dir);
            }
        }
        Ok(changes)
    }

    /// Looks at one path, whose parents may be unknown: then the topmost unknown one counts.
    fn look(
        &mut self,
        path: &str,
        changes: &mut ChangeSet,
        walks: &mut BTreeSet<String>,
    ) -> Result<(), TreeError> {
        let mut at = path;
        let layer = loop {
            match self.rules_in(dir_of(at)) {
                Some(layer) => break layer,
                None if at.contains('/') => at = dir_of(at),
                None => return Ok(()),
            }
        };
        let meta = look_at(&self.root.join(at)).map_err(|e| self.error("walk", e))?;
        let kind = meta.as_ref().map(|m| m.file_type());
        if kind.is_some_and(|k| k.is_dir()) && layer.admits(at, true) {
            if let Ok(path) = RepoPath::new(at)
                && self.known.get(&path).is_some()
            {
                changes.remove(path);
            }
            walks.insert(at.to_owned());
            return Ok(());
        }
        self.drop_below(at, changes);
        let Ok(path) = RepoPath::new(at) else { return Ok(()) };
        let seen = meta.filter(|meta| meta.is_file() && layer.admits(at, false));
        match (seen, self.known.get(&path)) {
            (Some(meta), known) if known != Some(stat_of(&meta)) => changes.change(path, meta.len()),
            (None, Some(_)) => changes.remove(path),
            _ => {}
        }
        Ok(())
    }

    /// Returns the rules inside a folder of the set.
    fn rules_in(&self, dir: &str) -> Option<Arc<Layer>> {
        self.folders.get(dir)?.clone()
    }

    /// Removes everything below a path that is not (or no longer) a folder of the set.
    fn drop_below(&mut self, dir: &str, changes: &mut ChangeSet) {
        if self.watches(dir) {
            self.replace(dir, Scan::default(), true, changes);
        }
    }

    /// Walks a folder whose parent is in the set and that is itself admitted.
    fn walk(&mut self, dir: &str, enter: Option<Enter>, changes: &mut ChangeSet) -> Result<(), TreeError> {
        let up = if dir.is_empty() { Some(Arc::clone(&self.top)) } else { self.rules_in(dir_of(dir)) };
        let Some(up) = up else { return Ok(()) };
        let enter_each = enter.unwrap_or(&|_| {});
        let mut found =
            crate::workspace::threads::pool().install(|| scan(&self.root, dir, &up, enter_each, &self.known));
        if let Some(e) = found.error.take() {
            return Err(self.error("walk", e));
        }
        if found.n_files == 0 && !self.root.is_dir() {
            return Err(self.error("walk", io::ErrorKind::NotFound.into()));
        }
        if dir.is_empty() {
            self.skipped_names = std::mem::take(&mut found.skipped_names);
            self.unreadable = std::mem::take(&mut found.unreadable);
        }
        self.replace(dir, found, enter.is_none(), changes);
        Ok(())
    }

    /// Replaces the content of `dir`, the folder itself included, by `found`. If `tells_new` is set, new
    /// folders are reported.
    fn replace(&mut self, dir: &str, found: Scan, tells_new: bool, changes: &mut ChangeSet) {
        let is_in = |path: &str| is_below(path, dir);
        // Changes noted for single paths a moment ago, by the rules before, no longer count: a new file may
        // be ignored by now. A file of the folder's own name is another matter.
        changes.changed.retain(|path, _| !is_in(path));
        changes.removed.retain(|path| **path == *dir || !is_in(path));
        let mut changed: BTreeMap<RepoPath, u64> = found.changed.into_iter().collect();
        changes.changed.append(&mut changed);
        changes.removed.extend(found.removed);

        let mut gone: Folders = self.folders.extract_if(|k, _| is_in(k)).collect();
        self.folders.reserve(found.folders.len());
        for (folder, layer) in found.folders {
            if gone.remove(&folder).is_none() && tells_new {
                changes.folders_new.insert(folder.to_string());
            }
            self.folders.insert(folder, layer);
        }
        changes.folders_gone.extend(gone.into_keys().map(String::from));
        // Usually the walk came to every folder with known files.
        if !dir.is_empty() || found.n_folders_known != self.known.folders().len() {
            let left = self.known.folders().filter(|k| is_in(k) && self.rules_in(k).is_none());
            for folder in left {
                let names = self.known.folder(folder).into_iter().flat_map(|files| files.keys());
                changes.removed.extend(names.filter_map(|name| RepoPath::try_from(join(folder, name)).ok()));
            }
        }
    }
}

/// Returns the `lstat` of a path; `None` if it is gone or may not be seen. A path that cannot be looked at
/// because the disk or the system fails is not gone.
fn look_at(path: &Path) -> io::Result<Option<fs::Metadata>> {
    use io::ErrorKind::{InvalidFilename, NotADirectory, NotFound, PermissionDenied};
    indexd_os::faults::before("stat", &path.to_string_lossy())?;
    match fs::symlink_metadata(path) {
        Ok(meta) => Ok(Some(meta)),
        Err(e) if matches!(e.kind(), NotFound | NotADirectory | PermissionDenied | InvalidFilename) => {
            Ok(None)
        }
        Err(e) => Err(e),
    }
}

/// Returns true if `path` is `dir` or below it.
pub fn is_below(path: &str, dir: &str) -> bool {
    dir.is_empty() || path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests;
