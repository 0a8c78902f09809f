//! The tree as the index knows it, and what changed since.
//!
//! A [`Tree`] remembers the stat of every file in the index, and the rules and the listing of every
//! folder in the set. [`Tree::sweep`] compares everything, [`Tree::examine`] what lies at given dirty
//! paths; both give a [`ChangeSet`] and neither reads a file. An edited ignore file, a new or vanished
//! `.git` and an edited `.indexd.toml` are dirty folders: what they decide is walked again.

use super::listings::Listings;
use super::rules::{Layer, is_rule_file};
use super::scan::{Enter, Folders, Scan, scan, stat_of};
use indexd_model::RepoPath;
use indexd_model::path::{dir_of, file_name_of};
use indexd_store::FileStat;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::ops::Bound;
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

    /// Whether no file is concerned.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes in a later set: its word counts.
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

/// What is known of the files and folders of a workspace.
pub struct Tree {
    root: PathBuf,
    excludes: Vec<String>,
    top: Arc<Layer>,
    folders: Folders,
    listings: Listings,
    nested: BTreeSet<String>,
    known: BTreeMap<RepoPath, FileStat>,
    /// Names that are not UTF-8, as of the last sweep.
    pub skipped_names: Vec<String>,
    /// Folders that could not be read, as of the last sweep.
    pub unreadable: Vec<String>,
    /// Folders that the last walk had to list; the others were as they had been listed before.
    pub n_listed: usize,
}

impl Tree {
    /// Starts with the files that the index holds; a sweep has to follow.
    pub fn new(root: &Path, excludes: &[String], known: BTreeMap<RepoPath, FileStat>) -> Self {
        Self {
            root: root.to_owned(),
            excludes: excludes.to_vec(),
            top: Arc::default(),
            folders: Folders::new(),
            listings: Listings::default(),
            nested: BTreeSet::new(),
            known,
            skipped_names: Vec::new(),
            unreadable: Vec::new(),
            n_listed: 0,
        }
    }

    /// The same tree as if no file of it were known; a sweep has to follow. What is kept of folders
    /// that were listed goes along.
    pub fn afresh(&mut self) -> Self {
        let listings = std::mem::take(&mut self.listings);
        Self { listings, ..Self::new(&self.root, &self.excludes, BTreeMap::new()) }
    }

    /// Takes what an index folder keeps of folders that were listed before.
    pub fn load_listings(&mut self, home: &Path) {
        self.listings = Listings::load(home);
    }

    /// Whether a folder is one of those to watch.
    pub fn watches(&self, dir: &str) -> bool {
        self.folders.contains_key(dir) || self.nested.contains(dir)
    }

    /// Keeps what is known of folders in an index folder, for the next start.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn save_listings(&mut self, home: &Path) -> io::Result<()> {
        self.listings.save(home, |dir| self.folders.contains_key(dir))
    }

    /// Folders to watch, by relative path: those of the set, and nested repositories, since one that
    /// loses its `.git` joins the set.
    pub fn watched(&self) -> impl Iterator<Item = &str> {
        self.folders.keys().map(|k| &**k).chain(self.nested.iter().map(String::as_str))
    }

    /// Files in the index.
    pub fn n_files(&self) -> usize {
        self.known.len()
    }

    /// Whether the index holds this file.
    pub fn holds(&self, path: &str) -> bool {
        self.known.contains_key(path)
    }

    /// Sets the configured excludes; a sweep has to follow.
    pub fn set_excludes(&mut self, excludes: &[String]) {
        self.excludes = excludes.to_vec();
    }

    /// Remembers that the index holds this file, read with this stat; `None` that it does not.
    pub fn remember(&mut self, path: &RepoPath, stat: Option<FileStat>) {
        match stat {
            Some(stat) => {
                self.known.insert(path.clone(), stat);
            }
            None => {
                self.known.remove(path);
            }
        }
    }

    /// Forgets every file: the index is to be built anew.
    pub fn forget(&mut self) {
        self.known.clear();
    }

    /// Compares the whole tree; `enter` is called with each folder before it is looked at.
    ///
    /// # Errors
    /// The root is gone or a folder cannot be listed for want of resources; nothing has changed then.
    pub fn sweep(&mut self, enter: Enter) -> io::Result<ChangeSet> {
        self.top = Layer::top(&self.root, &self.excludes);
        let mut changes = ChangeSet::default();
        self.walk("", enter, &mut changes)?;
        Ok(changes)
    }

    /// Compares what lies at `dirty`, paths relative to the root in any order; the empty path is the
    /// whole tree.
    ///
    /// # Errors
    /// As [`Tree::sweep`].
    pub fn examine<'a>(&mut self, dirty: impl IntoIterator<Item = &'a str>) -> io::Result<ChangeSet> {
        let mut changes = ChangeSet::default();
        let mut walks = BTreeSet::new();
        for path in dirty {
            let name = file_name_of(path);
            if path.is_empty() || (is_rule_file(name) && dir_of(path).is_empty()) {
                return self.sweep(&|_| {});
            }
            if is_rule_file(name) {
                self.look(dir_of(path), &mut changes, &mut walks);
            }
            self.look(path, &mut changes, &mut walks);
        }
        let mut last: Option<String> = None;
        for dir in walks {
            if !last.as_ref().is_some_and(|l| is_below(&dir, l)) {
                self.walk(&dir, &|_| {}, &mut changes)?;
                last = Some(dir);
            }
        }
        Ok(changes)
    }

    /// Looks at one path, whose parents may be unknown: then the topmost unknown one counts.
    fn look(&mut self, path: &str, changes: &mut ChangeSet, walks: &mut BTreeSet<String>) {
        let mut at = path;
        let layer = loop {
            match self.folders.get(dir_of(at)) {
                Some(layer) => break Arc::clone(layer),
                None if at.contains('/') => at = dir_of(at),
                None => return,
            }
        };
        let meta = fs::symlink_metadata(self.root.join(at)).ok();
        let kind = meta.as_ref().map(|m| m.file_type());
        if kind.is_some_and(|k| k.is_dir()) && layer.admits(at, true) {
            if let Ok(path) = RepoPath::new(at)
                && self.known.contains_key(&path)
            {
                changes.remove(path);
            }
            walks.insert(at.to_owned());
            return;
        }
        self.drop_below(at, changes);
        let Ok(path) = RepoPath::new(at) else { return };
        let seen = meta.filter(|meta| meta.is_file() && layer.admits(at, false));
        match (seen, self.known.get(&path)) {
            (Some(meta), known) if known != Some(&stat_of(&meta)) => changes.change(path, meta.len()),
            (None, Some(_)) => changes.remove(path),
            _ => {}
        }
    }

    /// Everything below a path that is no folder of the set (any more).
    fn drop_below(&mut self, dir: &str, changes: &mut ChangeSet) {
        if self.folders.contains_key(dir) || self.nested.contains(dir) {
            self.replace(dir, Scan::default(), changes);
        }
    }

    /// Walks a folder whose parent is in the set and that is itself admitted.
    fn walk(&mut self, dir: &str, enter: Enter, changes: &mut ChangeSet) -> io::Result<()> {
        let up = match dir {
            "" => Arc::clone(&self.top),
            _ => match self.folders.get(dir_of(dir)) {
                Some(up) => Arc::clone(up),
                None => return Ok(()),
            },
        };
        let mut found = super::pool().install(|| scan(&self.root, dir, &up, enter, &self.listings));
        if let Some(e) = found.error.take() {
            return Err(e);
        }
        if found.files.is_empty() && !self.root.is_dir() {
            return Err(io::Error::from(io::ErrorKind::NotFound));
        }
        self.n_listed = found.listed.len();
        for (dir, listing) in std::mem::take(&mut found.listed) {
            self.listings.set(dir, listing);
        }
        if dir.is_empty() {
            self.skipped_names = std::mem::take(&mut found.skipped_names);
            self.unreadable = std::mem::take(&mut found.unreadable);
        }
        self.replace(dir, found, changes);
        Ok(())
    }

    /// Takes `found` for what lies in `dir`, the folder itself included.
    fn replace(&mut self, dir: &str, found: Scan, changes: &mut ChangeSet) {
        // What was seen of single paths a moment ago, by the rules before, counts no more: a new file
        // may be ignored by now.
        changes.changed.retain(|path, _| !is_below(path, dir));
        let mut old = below(&self.known, dir).map(|(path, stat)| (path, *stat)).peekable();
        for (path, stat) in found.files {
            let was = loop {
                match old.peek().map(|(known, _)| (*known).cmp(&path)) {
                    Some(Ordering::Less) => {
                        old.next().into_iter().for_each(|(k, _)| changes.remove(k.clone()))
                    }
                    Some(Ordering::Equal) => break old.next().map(|(_, stat)| stat),
                    _ => break None,
                }
            };
            if was == Some(stat) {
                changes.changed.remove(&path);
                changes.removed.remove(&path);
            } else {
                changes.change(path, stat.size);
            }
        }
        for (path, _) in old {
            changes.remove(path.clone());
        }

        let is_in = |k: &str| is_below(k, dir);
        let mut gone: BTreeSet<String> = self.watched().filter(|k| is_in(k)).map(str::to_owned).collect();
        self.folders.retain(|k, _| !is_in(k));
        self.nested.retain(|k| !is_in(k));
        let new = found.folders.iter().map(|(k, _)| &**k).chain(found.nested.iter().map(String::as_str));
        let mut new: BTreeSet<String> = new.filter(|k| !gone.remove(*k)).map(str::to_owned).collect();
        changes.folders_new.append(&mut new);
        for dir in &gone {
            self.listings.set(dir.as_str().into(), None);
        }
        changes.folders_gone.append(&mut gone);
        self.folders.append(&mut found.folders.into_iter().collect());
        self.nested.extend(found.nested);
    }
}

/// Whether `path` is `dir` or lies below it.
fn is_below(path: &str, dir: &str) -> bool {
    dir.is_empty() || path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The entries strictly below `dir`, ordered by path.
fn below<'m, K, V>(map: &'m BTreeMap<K, V>, dir: &str) -> impl Iterator<Item = (&'m K, &'m V)> + use<'m, K, V>
where
    K: Ord + std::borrow::Borrow<str>,
{
    let prefix = if dir.is_empty() { String::new() } else { format!("{dir}/") };
    let from = (Bound::Included(prefix.as_str()), Bound::Unbounded);
    let range = map.range::<str, _>(from);
    range.take_while(move |(k, _)| (*k).borrow().starts_with(&prefix))
}

#[cfg(test)]
mod tests;
