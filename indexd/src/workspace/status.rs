//! The state that a workspace reports, and its failures.

use std::path::PathBuf;

/// The progress of a phase of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// `scan`, `parse`, `seal`, `link`, `write` or `update`.
    pub phase: &'static str,
    /// Units done.
    pub done: u64,
    /// Units in all; 0 when not known yet.
    pub total: u64,
}

/// The freshness of the index at the moment of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freshness {
    /// Every change saved before the request is in the index.
    pub fresh: bool,
    /// The number of the committed state that is read.
    pub generation: u64,
    /// Paths known to be dirty and not processed.
    pub pending: u64,
    /// The source of that knowledge: `queue`, `cookie`, `scan`, or `none` when it is not known.
    pub how: &'static str,
}

/// The state of a workspace.
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
        /// Advice to the user.
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

/// The reason why a workspace cannot serve a request.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// The path does not exist or is not a folder.
    #[error("no such folder: {0}")]
    NotFound(PathBuf),
    /// `/` or the home folder: never a workspace unless named exactly, and `/` not even then.
    #[error("{0} is too broad to be a workspace")]
    TooBroad(PathBuf),
    /// A folder without a sign of a project, which the user has not asked to index.
    #[error("{0} does not look like a project")]
    Unmarked(PathBuf),
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
        /// The path that was opened.
        path: PathBuf,
        /// The error of the system.
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
        /// Advice to the user.
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
        /// The operation that failed.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: std::io::Error,
    },
    /// The store refused.
    #[error("index")]
    Store(#[from] indexd_store::StoreError),
}
