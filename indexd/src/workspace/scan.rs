//! The scan: every file of the set with its stat, found by one parallel walk.
//!
//! Symbolic links are not followed and do not count as files; other file systems, nested
//! repositories and submodules are left out. The result is ordered by path, so it does not depend
//! on how the walk was scheduled.

use super::rules::Layer;
use indexd_model::RepoPath;
use indexd_model::path::{file_name_of, join};
use indexd_os::{EntryKind, FileMeta, Folder};
use indexd_store::FileStat;
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

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

/// The same of a file that was opened or listed.
pub fn stat_of_file(meta: FileMeta) -> FileStat {
    let FileMeta { mtime_ns, ctime_ns, size, inode, dev } = meta;
    FileStat { mtime_ns, ctime_ns, size, inode, dev }
}

/// The stat to remember of a file that was read at `read_ns`. When a later change could leave the
/// stat as it is (git's `racy-git` rule: the file was touched within one tick of the file system's
/// clock before it was read), it is one that equals no other, so that the file is read again.
pub fn remembered(stat: FileStat, read_ns: i64) -> FileStat {
    let touched_ns = stat.mtime_ns.max(stat.ctime_ns);
    if touched_ns.saturating_add(RACY_NS) >= read_ns { FileStat::default() } else { stat }
}

/// Nanoseconds. The kernel's coarse clock ticks every 4 to 10 ms; doubled, since the stamp and the
/// time of reading come from two clocks.
const RACY_NS: i64 = 20_000_000;

/// Folders of the set with the rules inside them, by relative path; the root is the empty path.
pub type Folders = BTreeMap<Box<str>, Arc<Layer>>;

/// Called with each folder before it is listed. Whoever watches it from here on misses nothing that
/// the listing does not show.
pub type Enter<'e> = &'e (dyn Fn(&str) + Sync);

/// What a walk found.
#[derive(Default)]
pub struct Scan {
    /// Files of the set, ordered by path.
    pub files: Vec<(RepoPath, FileStat)>,
    /// Folders of the set, the start of the walk included.
    pub folders: Folders,
    /// Folders that are repositories of their own, ordered by path.
    pub nested: Vec<String>,
    /// Names that are not UTF-8, with the bytes replaced, ordered.
    pub skipped_names: Vec<String>,
    /// Folders that may not be read, ordered.
    pub unreadable: Vec<String>,
    /// Why the walk is not complete: the system is short of something.
    pub error: Option<std::io::Error>,
}

/// Walks the folder `rel` (empty for the root) of the workspace at `root`; `up` are the rules of
/// the folder above it, or those at the top. The folder itself is taken as belonging to the set,
/// unless it turns out to be a repository of its own, to lie on another file system or to have
/// vanished. `enter` is called with each folder, by relative path, before it is listed.
///
/// The walk runs on the current rayon pool. A folder that vanishes meanwhile counts as empty.
pub fn scan(root: &Path, rel: &str, up: &Arc<Layer>, enter: Enter) -> Scan {
    let device = Folder::open(root).and_then(|f| f.device()).ok();
    let walk = Walk { root, device, enter, found: Mutex::new(Scan::default()) };
    rayon::scope(|s| walk.folder(s, None, rel.to_owned(), Arc::clone(up)));
    let mut scan = walk.found.into_inner().unwrap_or_else(PoisonError::into_inner);
    scan.files.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    scan.nested.sort_unstable();
    scan.skipped_names.sort_unstable();
    scan.unreadable.sort_unstable();
    scan
}

/// Folders below each other that are kept open while those inside them are opened: fewer than there
/// are files that a process may have open, and more than trees are deep.
const DEPTH_OPEN_MAX: usize = 32;

struct Walk<'e> {
    root: &'e Path,
    device: Option<u64>,
    enter: Enter<'e>,
    found: Mutex<Scan>,
}

impl Walk<'_> {
    fn folder<'s>(&'s self, s: &rayon::Scope<'s>, parent: Option<Arc<Folder>>, rel: String, up: Arc<Layer>) {
        let opened = match parent {
            Some(parent) => parent.open_in(file_name_of(&rel)),
            None => Folder::open(&self.path(&rel)),
        };
        let mut names = String::new();
        let mut listed = Vec::new();
        let mut skipped = Vec::new();
        let looked = opened.and_then(|folder| {
            if Some(folder.device()?) == self.device {
                (self.enter)(&rel);
                folder.list(|name, kind| match std::str::from_utf8(name) {
                    Ok(name) => {
                        let start = names.len();
                        names.push_str(name);
                        listed.push((start..names.len(), kind));
                    }
                    Err(_) => skipped.push(join(&rel, &String::from_utf8_lossy(name))),
                })?;
                Ok(Some(folder))
            } else {
                Ok(None)
            }
        });
        let folder = match looked {
            Ok(Some(folder)) => folder,
            Ok(None) => return,
            Err(e) => {
                match e.kind() {
                    ErrorKind::NotFound | ErrorKind::NotADirectory => {}
                    ErrorKind::PermissionDenied => self.found().unreadable.push(rel),
                    _ => self.found().error = Some(e),
                }
                return;
            }
        };
        let has = |wanted: &str| listed.iter().any(|(name, _)| names[name.clone()] == *wanted);
        if !rel.is_empty() && has(".git") {
            self.found().nested.push(rel);
            return;
        }
        let has_rules = listed.iter().any(|(name, _)| super::rules::is_rule_file(&names[name.clone()]));
        let layer = if has_rules { Layer::enter(&up, &self.path(&rel), &rel, has) } else { up };
        let is_deep = rel.bytes().filter(|b| *b == b'/').count() >= DEPTH_OPEN_MAX;
        let folder = Arc::new(folder);
        let mut files = Vec::new();
        for (name, kind) in listed {
            let name = &names[name];
            let child = join(&rel, name);
            if kind == EntryKind::Other || !layer.admits(&child, kind == EntryKind::Folder) {
                continue;
            }
            if kind == EntryKind::Folder {
                let (parent, layer) = ((!is_deep).then(|| Arc::clone(&folder)), Arc::clone(&layer));
                s.spawn(move |s| self.folder(s, parent, child, layer));
            } else if let Some(meta) = folder.file(name)
                && let Ok(path) = RepoPath::new(&child)
            {
                files.push((path, stat_of_file(meta)));
            }
        }
        let mut found = self.found();
        found.files.append(&mut files);
        found.skipped_names.append(&mut skipped);
        found.folders.insert(rel.into(), layer);
    }

    fn path(&self, rel: &str) -> PathBuf {
        if rel.is_empty() { self.root.to_owned() } else { self.root.join(rel) }
    }

    fn found(&self) -> std::sync::MutexGuard<'_, Scan> {
        self.found.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
