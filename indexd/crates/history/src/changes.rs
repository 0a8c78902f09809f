//! The differences between two states of a repository: commits and the index.
//!
//! Only git's own data is read here. The caller compares the work tree, with the help of
//! [`Repository::staged`], which tells the files that git has seen unchanged.

use crate::repository::{Repository, raw};
use crate::trees::{self, Sides, kind_of};
use crate::{CommitId, Unavailable, hex};
use gix::bstr::{BStr, ByteSlice};
use gix::hash::ObjectId;
use gix::index::entry::{Flags, Mode, Stage};
use std::collections::BTreeMap;

/// Files that one comparison lists at most.
pub const FILES_MAX: usize = 200_000;
/// Bytes of the longest name of a commit.
const NAME_BYTES_MAX: usize = 256;

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
        self.differing_trees([self.root_of(from)?, self.root_of(to)?])
    }

    /// All paths of a commit below the workspace's root.
    ///
    /// # Errors
    /// As [`Repository::differing`].
    pub fn paths_of(&self, commit: &str) -> Result<BTreeMap<String, Kept>, CompareError> {
        let all = self.differing_trees([None, self.root_of(commit)?])?;
        Ok(all.into_iter().filter_map(|(path, s)| Some((path, s.after?))).collect())
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
            let Some(kind) = entry.mode.to_tree_entry_mode().and_then(kind_of) else { continue };
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
        for (below, sides) in self.differing_trees([None, Some(tree)])? {
            let full = format!("{full}/{below}");
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

    fn differing_trees(&self, trees: [Option<ObjectId>; 2]) -> Result<BTreeMap<String, Sides>, CompareError> {
        let found = trees::differing(&self.repo, trees, |_| true, FILES_MAX)?;
        Ok(found.ok_or(CompareError::TooMany)?.into_iter().collect())
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
}

fn object_id(commit: &str) -> Result<ObjectId, CompareError> {
    ObjectId::from_hex(commit.as_bytes()).map_err(|_| CompareError::Unknown(commit.to_owned()))
}
