//! The state that a workspace reports, and its failures.

use crate::config::Config;
use indexd_proto::limits::{FRESH_WAIT_MS_DEFAULT, WAIT_MS_MAX};
use indexd_proto::workspace::{self as wire, Failure, How, WaitMode};
use std::path::PathBuf;
use std::time::Duration;

pub use indexd_proto::workspace::WorkProgress as Progress;

/// Requirements of an answer on the index, and how long it may take.
#[derive(Clone, Copy, Debug)]
pub struct Wait {
    /// Time for saves to be seen, once there is an index.
    pub fresh_for: Duration,
    /// Time for a first build; zero does not wait.
    pub built_for: Duration,
    /// Requirement on freshness.
    pub mode: WaitMode,
}

impl Default for Wait {
    fn default() -> Self {
        Self {
            fresh_for: Duration::from_millis(FRESH_WAIT_MS_DEFAULT),
            built_for: Duration::from_millis(WAIT_MS_MAX),
            mode: WaitMode::Best,
        }
    }
}

impl Wait {
    /// The wait of a request, with defaults of `config` and the limits.
    pub fn of(asked: wire::Wait, config: &Config) -> Self {
        let ms = |ms: Option<u64>, default| Duration::from_millis(ms.unwrap_or(default).min(WAIT_MS_MAX));
        Self {
            fresh_for: ms(asked.timeout_ms, config.freshness_wait_ms),
            built_for: ms(asked.build_timeout_ms, WAIT_MS_MAX),
            mode: asked.mode,
        }
    }
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
    /// How that is known.
    pub how: How,
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
    /// The index is not known to be fresh in time, and the caller insists.
    #[error("{0} changed files are not in the index yet")]
    Behind(u64),
    /// The caller gave up.
    #[error("cancelled")]
    Cancelled,
    /// The workspace is in the failed state.
    #[error("the workspace cannot be indexed ({}): {}", .0.code, .0.hint)]
    Failed(Failure),
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
