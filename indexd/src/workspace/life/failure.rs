//! Maps each error of the engine to one remedy. No error ends the daemon.

use crate::workspace::indexing::engine::EngineError;
use crate::workspace::tree::TreeError;
use indexd_proto::workspace::FailureCode;
use indexd_store::StoreError;
use std::io::{self, ErrorKind};

/// The consequence of an error.
#[derive(Debug, PartialEq, Eq)]
pub enum Remedy {
    /// No remedy: the work was cancelled on request.
    None,
    /// Discard the index and build it from the tree.
    Rebuild(Blame),
    /// Close the index, verify it, and open it again.
    StartOver,
    /// Enter the failed state and try again later.
    Retry {
        /// The code in the report.
        code: FailureCode,
        /// Advice to the user.
        hint: String,
        /// Seconds until the next try.
        after_s: u64,
    },
}

/// Why an index is discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The stored content differs from the content that was written.
    Damage,
    /// This program, though the stored data reads well.
    Program,
    /// A file of the index is missing, or something else is in its place.
    Place,
}

impl Blame {
    /// The consequence in a sentence for the user.
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Damage => {
                "the index was found damaged and was built anew; if it happens again, check the disk"
            }
            Self::Program => {
                "the index could not follow a change, which is a fault of indexd, and was built anew; please report it"
            }
            Self::Place => "files of the index were moved or replaced, and it was built anew",
        }
    }

    /// Returns advice for the case that this did not help.
    pub fn hint(self) -> &'static str {
        match self {
            Self::Damage => "the index was damaged again and again; check the disk",
            Self::Program => "the index was built anew again and again without success; please report it",
            Self::Place => "the files of the index are moved or replaced again and again",
        }
    }
}

/// The remedy of an error.
pub fn remedy(e: &EngineError) -> Remedy {
    match e {
        EngineError::Cancelled => Remedy::None,
        EngineError::Store(StoreError::Full(_)) => full(),
        EngineError::Store(StoreError::Io(e)) => of_index(e, "the index folder"),
        EngineError::Store(StoreError::Corrupt(_)) => Remedy::Rebuild(Blame::Damage),
        EngineError::Store(StoreError::Inconsistent(_)) => Remedy::Rebuild(Blame::Program),
        EngineError::Store(StoreError::Lmdb(_)) => Remedy::StartOver,
        EngineError::Store(StoreError::Busy(_)) => retry(FailureCode::Internal, "the index is in use", 1),
        EngineError::Index { source, path, .. } => of_index(source, &path.display().to_string()),
        EngineError::Tree(TreeError { source, path, .. }) => of_system(source, &path.display().to_string()),
    }
}

/// Classifies an error about a file of the index. A file that is missing or of the wrong kind is made again,
/// since it cannot be restored.
fn of_index(e: &io::Error, what: &str) -> Remedy {
    match e.kind() {
        ErrorKind::NotFound
        | ErrorKind::NotADirectory
        | ErrorKind::IsADirectory
        | ErrorKind::AlreadyExists
        | ErrorKind::DirectoryNotEmpty
        | ErrorKind::InvalidData
        | ErrorKind::UnexpectedEof => Remedy::Rebuild(Blame::Place),
        _ => of_system(e, what),
    }
}

fn of_system(e: &io::Error, what: &str) -> Remedy {
    match e.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => full(),
        ErrorKind::NotFound | ErrorKind::NotADirectory => retry(
            FailureCode::RootGone,
            &format!("{what} is gone; restore it, or forget the workspace with `ctl workspace remove`"),
            5,
        ),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            retry(FailureCode::Permission, &format!("give yourself access to {what}"), 10)
        }
        _ => retry(FailureCode::Internal, &format!("{what}: {e}"), 5),
    }
}

fn full() -> Remedy {
    retry(FailureCode::DiskFull, "make room on the disk that holds the index; it goes on by itself", 5)
}

fn retry(code: FailureCode, hint: &str, after_s: u64) -> Remedy {
    Remedy::Retry { code, hint: hint.to_owned(), after_s }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(e: EngineError, want: &str) {
        let code = match remedy(&e) {
            Remedy::None => "none",
            Remedy::Rebuild(Blame::Damage) => "damage",
            Remedy::Rebuild(Blame::Program) => "program",
            Remedy::Rebuild(Blame::Place) => "place",
            Remedy::StartOver => "over",
            Remedy::Retry { code, .. } => code.name(),
        };
        assert_eq!(code, want, "{e:?}");
    }

    #[test]
    fn every_error_has_one_remedy() {
        let io = |kind: ErrorKind| io::Error::from(kind);
        let walk = |kind| TreeError { what: "walk", path: "/r".into(), source: io(kind) }.into();
        check(EngineError::Cancelled, "none");
        check(StoreError::Corrupt("x".into()).into(), "damage");
        check(StoreError::Inconsistent("x".into()).into(), "program");
        // An error of the caller does not blame the stored data.
        check(StoreError::Lmdb(std::io::Error::other("MDB_BAD_TXN").into()).into(), "over");
        check(StoreError::Busy("x").into(), "internal");
        check(StoreError::Io(io(ErrorKind::StorageFull)).into(), "disk-full");
        check(StoreError::Io(io(ErrorKind::NotFound)).into(), "place");
        let index = |kind| EngineError::Index { what: "make", path: "/i".into(), source: io(kind) };
        check(index(ErrorKind::NotADirectory), "place");
        check(index(ErrorKind::IsADirectory), "place");
        check(index(ErrorKind::PermissionDenied), "permission");
        check(walk(ErrorKind::NotFound), "root-gone");
        check(walk(ErrorKind::PermissionDenied), "permission");
        check(walk(ErrorKind::OutOfMemory), "internal");
    }
}
