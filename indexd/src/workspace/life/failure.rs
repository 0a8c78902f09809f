//! Maps each error of the engine to one remedy. No error ends the daemon.

use crate::workspace::indexing::engine::EngineError;
use indexd_store::StoreError;
use std::io::{self, ErrorKind};
use std::time::Duration;

/// The consequence of an error.
#[derive(Debug, PartialEq, Eq)]
pub enum Remedy {
    /// Nothing: the work was cancelled on request.
    None,
    /// Discard the index and build it from the tree.
    Rebuild,
    /// Enter the failed state and try again later.
    Retry {
        /// The code in [`crate::workspace::WorkspaceState::Failed`].
        code: &'static str,
        /// What the user can do about it.
        hint: String,
        /// Time until the next try.
        after: Duration,
    },
}

/// The remedy of an error.
pub fn remedy(e: &EngineError) -> Remedy {
    match e {
        EngineError::Cancelled => Remedy::None,
        EngineError::Store(StoreError::Full(_)) => full(),
        EngineError::Store(StoreError::Io(e)) => of_system(e, "the index folder"),
        EngineError::Store(e) if e.needs_rebuild() => Remedy::Rebuild,
        EngineError::Store(_) => retry("internal", "the index is in use", 1),
        EngineError::Io { source, path, .. } => of_system(source, &path.display().to_string()),
    }
}

fn of_system(e: &io::Error, what: &str) -> Remedy {
    match e.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => full(),
        ErrorKind::NotFound | ErrorKind::NotADirectory => retry(
            "root-gone",
            &format!("{what} is gone; restore it, or forget the workspace with `ctl workspace remove`"),
            5,
        ),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            retry("permission", &format!("give yourself access to {what}"), 10)
        }
        _ => retry("internal", &format!("{what}: {e}"), 5),
    }
}

fn full() -> Remedy {
    retry("disk-full", "make room on the disk that holds the index; it goes on by itself", 5)
}

fn retry(code: &'static str, hint: &str, after_s: u64) -> Remedy {
    Remedy::Retry { code, hint: hint.to_owned(), after: Duration::from_secs(after_s) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(e: EngineError, want: &str) {
        let code = match remedy(&e) {
            Remedy::None => "none",
            Remedy::Rebuild => "rebuild",
            Remedy::Retry { code, .. } => code,
        };
        assert_eq!(code, want, "{e:?}");
    }

    #[test]
    fn every_error_has_one_remedy() {
        let io = |kind: ErrorKind| io::Error::from(kind);
        let walk = |kind| EngineError::Io { what: "walk", path: "/r".into(), source: io(kind) };
        check(EngineError::Cancelled, "none");
        check(StoreError::Corrupt("x".into()).into(), "rebuild");
        check(StoreError::Busy("x").into(), "internal");
        check(StoreError::Io(io(ErrorKind::StorageFull)).into(), "disk-full");
        check(walk(ErrorKind::NotFound), "root-gone");
        check(walk(ErrorKind::PermissionDenied), "permission");
        check(walk(ErrorKind::OutOfMemory), "internal");
    }
}
