//! What past commits say about files: commit subjects as terms, counts, recency, co-change.
//!
//! Everything is integers per commit, sums per path, and a digest of the commit ids that were read,
//! so equal commits give equal output on every machine. Repositories are opened isolated: their own
//! configuration only, no environment, no system files, no program is ever run. A repository that
//! cannot be read is a typed [`Unavailable`], never a failure of indexing.
//!
//! [`Repository`] answers questions about HEAD, [`Past`] is the digest of its history.

mod past;
mod repository;

pub use past::{CommitRecord, FilePast, Past};
pub use repository::{Repository, Unavailable};

/// Bounds on the work of reading history. All are counts, so the result does not depend on speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Commits read, merges included, from the newest.
    pub commits_max: usize,
    /// A commit that touches more files than this says nothing about any of them: mass renames,
    /// formatting, initial imports.
    pub files_per_commit_max: usize,
}

impl Default for Limits {
    /// 2,000 commits; 50 files.
    fn default() -> Self {
        Self {
            commits_max: 2_000,
            files_per_commit_max: 50,
        }
    }
}
