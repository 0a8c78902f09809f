//! What a workspace says about itself, and how it fails.

use std::path::PathBuf;

/// How far a phase of work has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// `scan`, `parse`, `seal`, `link`, `write` or `update`.
    pub phase: &'static str,
    /// Units done.
    pub done: u64,
    /// Units in all; 0 when not known yet.
    pub total: u64,
}

/// How well the index follows the tree at the moment of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freshness {
    /// Every change saved before the request is in the index.
    pub fresh: bool,
    /// The number of the committed state that is read.
    pub generation: u64,
    /// Paths known to be dirty and not processed.
    pub pending: u64,
    /// How that is known: `cookie`, `scan`, `build`, or `none` when it is not.
    pub how: &'static str,
}

/// Where a workspace is in its life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorkspaceState {
    /// Registered, its index not open; the next request opens it.
    Closed,
    /// The first build is under way; nothing can be answered yet.
    Building,
    /// Answers and follows the tree.
    Ready,
    /// Answers from the old index while a large change set is built into a new one.
    Rebuilding,
    /// Cannot go on; other workspaces are not affected.
    Failed {
        /// A stable word: `disk-full`, `root-gone`, `permission`, `corrupt`, `config`, `internal`.
        code: &'static str,
        /// What to do next.
        hint: String,
    },
}

impl WorkspaceState {
    /// The name on the wire.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Building => "building",
            Self::Ready => "ready",
            Self::Rebuilding => "rebuilding",
            Self::Failed { .. } => "failed",
        }
    }
}

/// An index of another tool that lies over the links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportStatus {
    /// Name and version of the tool; empty when the index does not say.
    pub tool: String,
    /// Files that it speaks about.
    pub n_files: u64,
    /// Files among them that are gone or have another content by now: there our own links count.
    pub n_stale: u64,
}

/// A snapshot of a workspace's condition for `ctl status`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceStatus {
    /// Canonical root. Absolute, so it is shown to its owner only.
    pub root: PathBuf,
    /// The module or project name.
    pub repo_id: String,
    /// Where it is in its life.
    pub state: WorkspaceState,
    /// The number of the committed state; 0 before the first.
    pub generation: u64,
    /// Files in the index.
    pub n_files: u64,
    /// Paths known to be dirty and not processed.
    pub n_pending: u64,
    /// How changes are noticed: `events`, `scan` (no events here) or `degraded` (some folders are
    /// not watched, so each request scans).
    pub watch: &'static str,
    /// Folders that are watched.
    pub n_watched: u64,
    /// How often events were lost and the tree was compared in full.
    pub n_rescans: u64,
    /// Files extracted since the workspace was opened.
    pub n_extracted: u64,
    /// Files linked since the workspace was opened: those that were put, and those that looked at a
    /// name whose meaning changed.
    pub n_linked: u64,
    /// The index of another tool that lies over the links.
    pub import: Option<ImportStatus>,
    /// Names that are not UTF-8 and therefore not indexed, with the bytes replaced; at most 20.
    pub skipped_names: Vec<String>,
    /// How many such names there are.
    pub n_skipped_names: u64,
    /// Things worth knowing, one sentence each.
    pub problems: Vec<String>,
    /// The work under way.
    pub progress: Option<Progress>,
    /// Bytes of the index on disk.
    pub index_bytes: u64,
}

/// Why a workspace cannot do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The path does not exist or is no folder.
    #[error("no such folder: {0}")]
    NotFound(PathBuf),
    /// `/` or the home folder: never a workspace unless named exactly, and `/` not even then.
    #[error("{0} is too broad to be a workspace")]
    TooBroad(PathBuf),
    /// A folder that holds no repository, whatever is in it.
    #[error("{path} cannot be a workspace: {why}")]
    Odd {
        /// The folder.
        path: PathBuf,
        /// Why not.
        why: &'static str,
    },
    /// No workspace is registered for this root.
    #[error("no workspace at {0}")]
    Unknown(PathBuf),
    /// The folder or its index may not be read or written.
    #[error("no permission for {path}")]
    Permission {
        /// What was opened.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The first build is not complete and the caller does not wait.
    #[error("the first index is still being built")]
    Building,
    /// The caller gave up.
    #[error("cancelled")]
    Cancelled,
    /// The workspace is in the failed state.
    #[error("the workspace cannot be indexed ({code}): {hint}")]
    Failed {
        /// See [`WorkspaceState::Failed`].
        code: &'static str,
        /// What to do next.
        hint: String,
    },
    /// The workspace was removed or the daemon stops.
    #[error("the workspace is closed")]
    Closed,
    /// A setting is wrong.
    #[error(transparent)]
    Config(#[from] crate::config::ConfigError),
    /// The system refused.
    #[error("{what}: {path}")]
    Io {
        /// What was being done.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The store refused.
    #[error("index")]
    Store(#[from] indexd_store::StoreError),
}
