//! The differences between two states of a repository: commits and the index.
//!
//! Only git's own data is read here. The caller compares the work tree, with the help of
//! [`Repository::staged`], which tells the files that git has seen unchanged.

use crate::repository::{Repository, raw};
use crate::{CommitId, Unavailable, hex};
use gix::bstr::{BStr, ByteSlice};
use gix::hash::ObjectId;
use gix::index::entry::{Flags, Mode, Stage};
use gix::objs::tree::EntryKind;
use std::collections::BTreeMap;

/// Files that one comparison lists at most.
pub const FILES_MAX: usize = 200_000;
/// Bytes of the longest name of a commit.
const NAME_BYTES_MAX: usize = 256;
/// Levels of nested folders that are entered.
const DEPTH_MAX: usize = 256;

/// Reasons for which two states cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    /// The repository cannot be read.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// No commit has this name.
    #[error("no commit is named {0:?}")]
    Unknown(String),
    /// Two commits without a common past.
    #[error("{0:?} and {1:?} have no commit in common")]
    Unrelated(String, String),
    /// More than `FILES_MAX` files.
    #[error("more than {FILES_MAX} files")]
    TooMany,
}

/// The kind of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file.
    File,
    /// A file that may be executed.
    Program,
    /// A symbolic link; its content is its target.
    Link,
    /// A submodule; its content is a commit of another repository.
    Module,
}

impl Kind {
    /// Returns true for files, whether or not they may be executed.
    pub fn is_file(self) -> bool {
        matches!(self, Self::File | Self::Program)
    }
}

/// The content that git keeps at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The id of its content.
    pub id: CommitId,
    /// Its kind.
    pub kind: Kind,
}

/// A staged path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Staged {
    /// Its content.
    pub kept: Kept,
    /// Modification time of the file when its content was last known to be this: seconds and
    /// nanoseconds, the lower 32 bits of each. `None` where the file may have changed in the same tick.
    pub mtime: Option<(u32, u32)>,
    /// Its size at that time, the lower 32 bits.
    pub size: u32,
    /// True if git takes the file of the work tree for this one without reading it: it is left out of a
    /// sparse checkout, or assumed to be unchanged.
    pub is_fixed: bool,
    /// True if it was marked with `git add --intent-to-add` and nothing of it is staged: its content is empty, and
    /// no difference to a commit counts as staged.
    pub is_intended: bool,
}

/// The staged paths below the workspace's root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// Those that are not in conflict.
    pub files: BTreeMap<String, Staged>,
    /// Those in conflict, with the content on our side of the merge; `None` where it was removed there.
    pub unmerged: BTreeMap<String, Option<Kept>>,
}

/// Reasons for which a content is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContentError {
    /// The object is not stored here, as in a clone that fetches objects on demand.
    #[error("the object is missing")]
    Missing,
    /// It is larger than the requested limit, with its size in bytes.
    #[error("the object has {0} bytes")]
    TooLarge(u64),
}

impl Repository {
    /// The id in hexadecimal of the commit that `name` refers to, in git's own grammar of names (`HEAD~2`, a
    /// branch, a tag, a short id).
    ///
    /// # Errors
    /// [`CompareError::Unknown`] for a name that does not refer to a single commit.
    pub fn commit_named(&self, name: &str) -> Result<String, CompareError> {
        let unknown = || CompareError::Unknown(name.chars().take(NAME_BYTES_MAX).collect());
        if name.is_empty() || name.len() > NAME_BYTES_MAX || name.starts_with('-') {
            return Err(unknown());
        }
        let id = self.repo.rev_parse_single(BStr::new(name)).map_err(|_| unknown())?;
        let object = id.object().map_err(|_| unknown())?;
        let commit = object.peel_to_commit().map_err(|_| unknown())?;
        Ok(hex(&raw(&commit.id)?))
    }

    /// The best common ancestor of two commits, given and returned in hexadecimal.
    ///
    /// # Errors
    /// [`CompareError::Unrelated`] without one.
    pub fn common(&self, a: &str, b: &str) -> Result<String, CompareError> {
        let unrelated = || CompareError::Unrelated(a.to_owned(), b.to_owned());
        let base = self.repo.merge_base(object_id(a)?, object_id(b)?).ok().flatten().ok_or_else(unrelated)?;
        Ok(hex(&raw(&base)?))
    }

    /// The paths below the workspace's root that differ between two commits, given in hexadecimal, with the
    /// contents of both sides.
    ///
    /// # Errors
    /// [`CompareError::Unavailable`] for missing objects; [`CompareError::TooMany`].
    pub fn differing(&self, from: &str, to: &str) -> Result<BTreeMap<String, Sides>, CompareError> {
        let (from, to) = (self.root_of(from)?, self.root_of(to)?);
        let mut out = BTreeMap::new();
        self.walk([from, to], "", 0, &mut out)?;
        Ok(out)
    }

    /// All paths of a commit below the workspace's root.
    ///
    /// # Errors
    /// As [`Repository::differing`].
    pub fn paths_of(&self, commit: &str) -> Result<BTreeMap<String, Kept>, CompareError> {
        let mut out = BTreeMap::new();
        self.walk([None, self.root_of(commit)?], "", 0, &mut out)?;
        Ok(out.into_iter().filter_map(|(path, s)| Some((path, s.after?))).collect())
    }

    /// The files among them, with the ids of their contents.
    ///
    /// # Errors
    /// As [`Repository::differing`].
    pub fn files_of(&self, commit: &str) -> Result<BTreeMap<String, CommitId>, CompareError> {
        let files = self.paths_of(commit)?.into_iter().filter(|(_, kept)| kept.kind.is_file());
        Ok(files.map(|(path, kept)| (path, kept.id)).collect())
    }

    /// The staged paths below the workspace's root.
    ///
    /// # Errors
    /// [`CompareError::Unavailable`] when the index of git is broken; [`CompareError::TooMany`].
    pub fn staged(&self) -> Result<Index, CompareError> {
        let broken = || Unavailable::Unreadable { reason: "its index is broken" };
        let index = self.repo.index_or_empty().map_err(|_| broken())?;
        let written = (index.timestamp().unix_seconds() as u32, index.timestamp().nanoseconds());
        // In a sparse checkout git looks at files that exist although they were left out.
        let is_on = |key: &str| self.repo.config_snapshot().boolean(key) == Some(true);
        let looks = is_on("core.sparseCheckout") && !is_on("sparse.expectFilesOutsideOfPatterns");
        let mut out = Index::default();
        for entry in index.entries() {
            if out.files.len() + out.unmerged.len() > FILES_MAX {
                return Err(CompareError::TooMany);
            }
            let Ok(full) = entry.path(&index).to_str() else { continue };
            if entry.mode == Mode::DIR {
                self.add_folder(full.trim_end_matches('/'), entry.id, &mut out)?;
                continue;
            }
            let Some(kind) = kind_of(entry.mode) else { continue };
            let Some(path) = full.strip_prefix(&*self.prefix) else { continue };
            let kept = Kept { id: raw(&entry.id)?, kind };
            if entry.stage() != Stage::Unconflicted {
                let ours = out.unmerged.entry(path.to_owned()).or_default();
                *ours = if entry.stage() == Stage::Ours { Some(kept) } else { *ours };
                continue;
            }
            let is_left_out = entry.flags.contains(Flags::SKIP_WORKTREE) && !(looks && self.is_there(full));
            let mtime = (entry.stat.mtime.secs, entry.stat.mtime.nsecs);
            let staged = Staged {
                kept,
                mtime: (mtime < written).then_some(mtime),
                size: entry.stat.size,
                is_fixed: is_left_out || entry.flags.contains(Flags::ASSUME_VALID),
                is_intended: entry.flags.contains(Flags::INTENT_TO_ADD),
            };
            out.files.insert(path.to_owned(), staged);
        }
        Ok(out)
    }

    /// Adds the files of a folder that a sparse index holds as one entry.
    fn add_folder(&self, full: &str, tree: ObjectId, out: &mut Index) -> Result<(), CompareError> {
        let mut files = BTreeMap::new();
        self.walk([None, Some(tree)], full, 0, &mut files)?;
        for (full, sides) in files {
            let (Some(path), Some(kept)) = (full.strip_prefix(&*self.prefix), sides.after) else { continue };
            let is_fixed = !self.is_there(&full);
            let staged = Staged { kept, mtime: None, size: 0, is_fixed, is_intended: false };
            out.files.insert(path.to_owned(), staged);
        }
        Ok(())
    }

    /// Returns true if something exists at a path of the work tree.
    fn is_there(&self, full: &str) -> bool {
        self.repo.workdir().is_some_and(|top| top.join(full).symlink_metadata().is_ok())
    }

    /// The bytes of a content.
    ///
    /// # Errors
    /// [`ContentError`] when it is larger than `bytes_max`, or missing.
    pub fn read(&self, id: &CommitId, bytes_max: u64) -> Result<Vec<u8>, ContentError> {
        let id = ObjectId::from(*id);
        let header = self.repo.find_header(id).map_err(|_| ContentError::Missing)?;
        if header.size() > bytes_max {
            return Err(ContentError::TooLarge(header.size()));
        }
        self.repo.find_blob(id).map(|mut b| b.take_data()).map_err(|_| ContentError::Missing)
    }

    /// The bytes of a content, unless it is larger than `bytes_max` or missing.
    pub fn content(&self, id: &CommitId, bytes_max: u64) -> Option<Vec<u8>> {
        self.read(id, bytes_max).ok()
    }

    /// The tree of the workspace's root in a commit; `None` where the commit has no such folder.
    fn root_of(&self, commit: &str) -> Result<Option<ObjectId>, CompareError> {
        let missing = || Unavailable::Unreadable { reason: "a commit or folder is missing" };
        let commit = self.repo.find_commit(object_id(commit)?).map_err(|_| missing())?;
        let tree = commit.tree().map_err(|_| missing())?;
        if self.prefix.is_empty() {
            return Ok(Some(tree.id));
        }
        let names = self.prefix.split_terminator('/').map(str::as_bytes);
        let entry = tree.lookup_entry(names).map_err(|_| missing())?;
        Ok(entry.filter(|e| e.mode().is_tree()).map(|e| ObjectId::from(e.id())))
    }

    fn walk(
        &self,
        trees: [Option<ObjectId>; 2],
        folder: &str,
        depth: usize,
        out: &mut BTreeMap<String, Sides>,
    ) -> Result<(), CompareError> {
        if trees[0] == trees[1] || depth > DEPTH_MAX {
            return Ok(());
        }
        // A folder has no kind.
        type Entry = (Option<Kind>, ObjectId);
        let mut names: BTreeMap<String, [Option<Entry>; 2]> = BTreeMap::new();
        for (side, tree) in trees.iter().enumerate() {
            let Some(tree) = tree else { continue };
            let missing = || Unavailable::Unreadable { reason: "a folder is missing" };
            let tree = self.repo.find_tree(*tree).map_err(|_| missing())?;
            for entry in tree.iter() {
                let entry = entry.map_err(|_| missing())?;
                let kind = match entry.mode().kind() {
                    EntryKind::Tree => None,
                    EntryKind::Blob => Some(Kind::File),
                    EntryKind::BlobExecutable => Some(Kind::Program),
                    EntryKind::Link => Some(Kind::Link),
                    EntryKind::Commit => Some(Kind::Module),
                };
                // A path that is not UTF-8 cannot belong to a workspace.
                let Ok(name) = entry.filename().to_str() else { continue };
                names.entry(name.to_owned()).or_default()[side] = Some((kind, ObjectId::from(entry.id())));
            }
        }
        for (name, sides) in names {
            if sides[0] == sides[1] {
                continue;
            }
            let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
            let folder = |side: usize| sides[side].filter(|s| s.0.is_none()).map(|s| s.1);
            self.walk([folder(0), folder(1)], &path, depth + 1, out)?;
            let kept = |side: usize| {
                let (kind, id) = sides[side].and_then(|(kind, id)| Some((kind?, id)))?;
                Some(raw(&id).map(|id| Kept { id, kind }))
            };
            let sides = Sides { before: kept(0).transpose()?, after: kept(1).transpose()? };
            if sides.before != sides.after {
                out.insert(path, sides);
            }
            if out.len() > FILES_MAX {
                return Err(CompareError::TooMany);
            }
        }
        Ok(())
    }
}

/// The bytes of a blob, unless its declared size is above `bytes_max`, or it is missing.
pub(crate) fn content(repo: &gix::Repository, id: ObjectId, bytes_max: u64) -> Option<Vec<u8>> {
    let header = repo.find_header(id).ok()?;
    if header.size() > bytes_max {
        return None;
    }
    repo.find_blob(id).ok().map(|mut b| b.take_data())
}

/// The contents of a path on two sides; `None` for none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sides {
    /// On the first.
    pub before: Option<Kept>,
    /// On the second.
    pub after: Option<Kept>,
}

fn kind_of(mode: Mode) -> Option<Kind> {
    match mode {
        Mode::FILE => Some(Kind::File),
        Mode::FILE_EXECUTABLE => Some(Kind::Program),
        Mode::SYMLINK => Some(Kind::Link),
        Mode::COMMIT => Some(Kind::Module),
        _ => None,
    }
}

fn object_id(commit: &str) -> Result<ObjectId, CompareError> {
    ObjectId::from_hex(commit.as_bytes()).map_err(|_| CompareError::Unknown(commit.to_owned()))
}
