//! The scan: every file of the set with its stat, found by one parallel walk.
//!
//! Symbolic links are not followed and do not count as files; other file systems, nested repositories and
//! submodules are left out. The walk compares the files with the known ones ([`KnownFiles`]) and keeps the
//! differences, so an unchanged tree costs little more than the stats.

use super::known::{Comparing, KnownFiles};
use super::rules::{Layer, holds_secret, is_nested};
use indexd_model::RepoPath;
use indexd_model::path::join;
use indexd_os::{EntryKind, FileStat, Folder};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Reads the stat of a file out of `meta`. Two are compared for equality only, never for order, so
/// that clocks may jump.
#[cfg(unix)]
pub fn stat_of(meta: &Metadata) -> FileStat {
    use std::os::unix::fs::MetadataExt;
    let ns = |s: i64, ns: i64| s.wrapping_mul(1_000_000_000).wrapping_add(ns);
    FileStat {
        mtime_ns: ns(meta.mtime(), meta.mtime_nsec()),
        ctime_ns: ns(meta.ctime(), meta.ctime_nsec()),
        size: meta.len(),
        inode: meta.ino(),
        dev: meta.dev(),
    }
}

/// Reads the stat of a file out of `meta`; inode, device and change time do not exist here.
#[cfg(not(unix))]
pub fn stat_of(meta: &Metadata) -> FileStat {
    let since = meta.modified().ok().and_then(|t| t.duration_since(std::time::UNIX_EPOCH).ok());
    let mtime_ns = since.map_or(0, |d| d.as_nanos() as i64);
    FileStat { mtime_ns, ctime_ns: 0, size: meta.len(), inode: 0, dev: 0 }
}

/// Returns the stat to store for a file that was read, or a folder that was listed, at `read_ns`. If a later
/// change could leave the stat as it is (git's `racy-git` rule: the last change was within one tick of the
/// file system's clock before), the result is a stat that equals no other, so that the file is read again.
pub fn remembered(stat: FileStat, read_ns: i64) -> FileStat {
    if is_settled(stat.mtime_ns.max(stat.ctime_ns), read_ns) { stat } else { FileStat::default() }
}

/// Returns true if a change after `now_ns` cannot get the time `touched_ns` again by the clock of its file
/// system. The epoch itself is not a time: file systems use it where no time is kept, as for the top folder
/// of FAT after each mount.
fn is_settled(touched_ns: i64, now_ns: i64) -> bool {
    let tick_ns = if touched_ns % 1_000_000_000 == 0 { COARSE_NS } else { RACY_NS };
    touched_ns != 0 && touched_ns.saturating_add(tick_ns) < now_ns
}

/// Nanoseconds. The kernel's coarse clock ticks every 4 to 10 ms; doubled, since the stamp and the
/// time of reading come from two clocks.
const RACY_NS: i64 = 20_000_000;
/// Nanoseconds. File systems that keep whole seconds keep every second one at worst (FAT).
const COARSE_NS: i64 = 3_000_000_000;

/// Nanoseconds since the epoch.
pub fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.ok().and_then(|d| i64::try_from(d.as_nanos()).ok()).unwrap_or(0)
}

/// Folders of the set with the rules inside them, by relative path; the root is the empty path. Folders that
/// are repositories of their own have none.
pub type Folders = FxHashMap<Box<str>, Option<Arc<Layer>>>;

/// Called with each folder before it is listed. A watch that starts then misses only changes that the listing
/// shows.
pub type Enter<'e> = &'e (dyn Fn(&str) + Sync);

/// The path of the folder or file `rel`, which is empty for the root itself.
pub fn absolute(root: &Path, rel: &str) -> PathBuf {
    if rel.is_empty() { root.to_owned() } else { root.join(rel) }
}

/// The result of a walk.
#[derive(Default)]
pub struct Scan {
    /// Files of the set, known or not.
    pub n_files: usize,
    /// Those that are not known, or by another stat, with their size in bytes; in no order.
    pub changed: Vec<(RepoPath, u64)>,
    /// Known files that are not files of the set any more, though their folder belongs to it; in no order.
    pub removed: Vec<RepoPath>,
    /// Folders as in [`Folders`], the start of the walk included, in no order.
    pub folders: Vec<(Box<str>, Option<Arc<Layer>>)>,
    /// The number of those folders that hold known files.
    pub n_folders_known: usize,
    /// Names that are not UTF-8, with the bytes replaced, and those that hold a secret, without it;
    /// ordered.
    pub skipped_names: Vec<String>,
    /// Folders that may not be read, ordered.
    pub unreadable: Vec<String>,
    /// Why the walk is not complete: the system is short of something.
    pub error: Option<std::io::Error>,
}

impl Scan {
    /// Takes in a folder whose `n_files` files were compared.
    fn take(&mut self, dir: Box<str>, layer: Arc<Layer>, n_files: usize, mut compared: Comparing) {
        compared.end();
        self.n_files += n_files;
        self.n_folders_known += usize::from(compared.is_known());
        self.changed.append(&mut compared.changed);
        self.removed.append(&mut compared.removed);
        self.folders.push((dir, Some(layer)));
    }

    fn missed(&mut self, rel: &str, e: std::io::Error) {
        match e.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => {}
            // Too long a way for the system is as good as a closed one.
            ErrorKind::PermissionDenied | ErrorKind::InvalidFilename => self.unreadable.push(rel.to_owned()),
            _ => self.error = Some(e),
        }
    }
}

/// Walks the folder `rel` (empty for the root) of the workspace at `root`; `up` are the rules of the folder
/// above it, or those at the top. The folder itself is taken as belonging to the set, unless it turns out to
/// be a repository of its own, to be on another file system or to have vanished. `enter` is called with each
/// folder, by relative path, before it is read.
///
/// The walk runs on the current rayon pool. A folder that vanishes during the walk counts as empty.
pub fn scan(root: &Path, rel: &str, up: &Arc<Layer>, enter: Enter, known: &KnownFiles) -> Scan {
    let opened = Folder::open(root).and_then(|top| Ok((top.meta()?.dev, top)));
    let (device, top) = match opened {
        Ok(opened) => opened,
        Err(e) => {
            let mut scan = Scan::default();
            scan.missed(rel, e);
            return scan;
        }
    };
    let walk = Walk { root, top, device, enter, known, found: Mutex::new(Scan::default()) };
    rayon::scope(|s| walk.folder(s, rel, up));
    let mut scan = walk.found.into_inner().unwrap_or_else(PoisonError::into_inner);
    scan.skipped_names.sort_unstable();
    scan.unreadable.sort_unstable();
    scan
}

struct Walk<'e> {
    root: &'e Path,
    /// The root, opened: folders below are opened relative to it.
    top: Folder,
    device: u64,
    enter: Enter<'e>,
    known: &'e KnownFiles,
    found: Mutex<Scan>,
}

impl Walk<'_> {
    fn folder<'s>(&'s self, s: &rayon::Scope<'s>, rel: &str, up: &Arc<Layer>) {
        if let Err(e) = self.list(s, rel, up) {
            self.found().missed(rel, e);
        }
    }

    fn list<'s>(&'s self, s: &rayon::Scope<'s>, rel: &str, up: &Arc<Layer>) -> std::io::Result<()> {
        let folder = match rel {
            "" => Folder::open(self.root)?,
            _ => self.top.open_in(rel)?,
        };
        if folder.meta()?.dev != self.device {
            return Ok(());
        }
        (self.enter)(rel);
        let mut listed: BTreeMap<String, EntryKind> = BTreeMap::new();
        let mut skipped = Vec::new();
        folder.list(|name, kind| match std::str::from_utf8(name) {
            Ok(name) if holds_secret(name) => skipped.push(join(rel, &indexd_secrets::redact(name).0)),
            Ok(name) => drop(listed.insert(name.to_owned(), kind)),
            Err(_) => skipped.push(join(rel, &String::from_utf8_lossy(name))),
        })?;
        if !rel.is_empty() && is_nested(|name| listed.contains_key(name)) {
            self.found().folders.push((rel.into(), None));
            return Ok(());
        }
        let layer = Layer::enter(up, &absolute(self.root, rel), rel, |name| listed.contains_key(name));
        let mut n_files = 0;
        let mut comparing = Comparing::new(rel, self.known);
        for (name, kind) in &listed {
            let child = join(rel, name);
            let is_folder = *kind == EntryKind::Folder;
            if *kind == EntryKind::Other || !layer.admits(&child, is_folder) {
                continue;
            }
            if is_folder {
                let layer = Arc::clone(&layer);
                s.spawn(move |s| self.folder(s, &child, &layer));
            } else if let Some(stat) = self.file(&folder, name)
                && comparing.see(name, stat).is_ok()
            {
                n_files += 1;
            }
        }
        let mut found = self.found();
        found.take(rel.into(), layer, n_files, comparing);
        found.skipped_names.append(&mut skipped);
        Ok(())
    }

    /// Returns the stat of a file. A file that cannot be looked at is not gone: the walk is then incomplete.
    fn file(&self, folder: &Folder, path: &str) -> Option<FileStat> {
        folder.file(path).unwrap_or_else(|e| {
            self.found().error = Some(e);
            None
        })
    }

    fn found(&self) -> std::sync::MutexGuard<'_, Scan> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
