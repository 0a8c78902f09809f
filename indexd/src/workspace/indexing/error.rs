//! The errors of the work on an index.

use crate::workspace::status::WorkspaceError;
use crate::workspace::tree::TreeError;
use indexd_store::StoreError;
use std::io;
use std::path::PathBuf;

/// The reason why the engine cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The store refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The index folder cannot be used.
    #[error("{what} {path}")]
    Index {
        /// The operation that failed.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// The error of the system.
        #[source]
        source: io::Error,
    },
    /// The tree cannot be used.
    #[error(transparent)]
    Tree(#[from] TreeError),
    /// Asked to stop.
    #[error("cancelled")]
    Cancelled,
}

impl From<EngineError> for WorkspaceError {
    fn from(e: EngineError) -> Self {
        match e {
            EngineError::Store(e) => e.into(),
            EngineError::Index { what, path, source }
            | EngineError::Tree(TreeError { what, path, source }) => Self::Io { what, path, source },
            EngineError::Cancelled => Self::Cancelled,
        }
    }
}
