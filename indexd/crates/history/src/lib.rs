//! Git history as integers: facts of past commits about the files of a workspace.
//!
//! [`Repository::open`] finds the repository of a workspace, or returns the reason for which there is none
//! to read ([`Unavailable`]); that is a state, never a failure of indexing. [`Repository::past`] walks the
//! commits reachable from HEAD into a [`Past`], a list that can be stored and passed to the next walk, which
//! then reads only new commits. [`Past::files`] sums it up by path.
//!
//! Nothing here runs a program, reads the environment or follows configuration outside of the repository,
//! except for the [`Conversions`] passed by the caller. Commit subjects become terms and are never shown.

mod changes;
mod conversion;
mod files;
mod lines;
mod repository;
mod trees;
mod walk;

pub use changes::{CompareError, ContentError, Index, Kept, Kind, Staged};
pub use conversion::{Cleaner, Conversions};
pub use files::FilePast;
pub use lines::{Hunk, compare};
pub use repository::{Repository, Unavailable, blob_id, commit_id};
pub use trees::Sides;

use bitcode::{Decode, Encode};
use indexd_model::ids::hex;

/// Version of the facts: changes when equal commits yield other facts about a file. Part of the recipe of an
/// index.
pub const HISTORY_VERSION: u32 = 1;

/// A commit id (SHA-1).
pub type CommitId = [u8; 20];

/// Limits on the reading of a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Limits {
    /// Commits that are read, merges not counted.
    pub commits_max: usize,
    /// Number of changed files above which only the time of a commit counts: a sweep over the tree does not
    /// tell what a file is about.
    pub files_per_commit_max: usize,
    /// Number of changed files above which a commit is not read any further.
    pub files_looked_at_max: usize,
    /// The newest commits whose changed lines are read, for those with at most `files_per_commit_max` files.
    /// This requires the contents of both sides.
    pub lines_commits_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            commits_max: 2_000,
            files_per_commit_max: 50,
            files_looked_at_max: 2_000,
            lines_commits_max: 200,
        }
    }
}

/// Bytes kept of a commit's subject.
pub const SUBJECT_BYTES_MAX: usize = 200;

/// The commits read, newest first. Equal commits, limits and place of the workspace in the repository give
/// an equal past, whether or not an earlier past was reused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Encode, Decode)]
pub struct Past {
    /// The commit that HEAD names.
    pub head: CommitId,
    /// The limits it was read with.
    pub limits: Limits,
    /// The folder of the workspace in the repository: empty, or a path and a slash.
    pub prefix: String,
    /// Digest of the boundary of a shallow clone; zero for a whole one.
    pub boundary: [u8; 32],
    /// The commits that are not merges, by descending commit time, then by descending id.
    pub commits: Vec<Commit>,
    /// Every path of the workspace that they changed, once, in order of first appearance.
    pub paths: Vec<String>,
}

/// The stored facts of one commit.
#[derive(Clone, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Commit {
    /// Its id.
    pub id: CommitId,
    /// The first line of its message, cut at [`SUBJECT_BYTES_MAX`].
    pub subject: String,
    /// Number of files of the whole repository it changed; 0 when that is not known: beyond
    /// [`Limits::files_looked_at_max`], and at the boundary of a shallow clone.
    pub n_files: u32,
    /// Paths of the workspace it changed against its parent, as positions in [`Past::paths`], in tree order;
    /// empty when `n_files` is 0.
    pub paths: Vec<u32>,
    /// The lines it changed in each of these files, `None` for a file without lines to compare. Empty for
    /// commits beyond [`Limits::lines_commits_max`].
    pub hunks: Vec<Option<Vec<Hunk>>>,
}

impl Past {
    /// Digest of the ordered commit ids, the limits and the place of the workspace: equal digests mean equal
    /// files. The contribution of history to the index signature.
    pub fn digest(&self) -> [u8; 32] {
        let mut h = blake3::Hasher::new();
        let Limits { commits_max, files_per_commit_max, files_looked_at_max, lines_commits_max } =
            self.limits;
        for n in
            [commits_max, files_per_commit_max, files_looked_at_max, lines_commits_max, self.prefix.len()]
        {
            h.update(&(n as u64).to_le_bytes());
        }
        h.update(self.prefix.as_bytes());
        h.update(&self.boundary);
        for commit in &self.commits {
            h.update(&commit.id);
        }
        *h.finalize().as_bytes()
    }
}

#[cfg(test)]
mod tests;
