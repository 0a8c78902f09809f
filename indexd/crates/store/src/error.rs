//! Errors of the store, one variant for each remedy.

use heed::MdbError;
use std::io;

/// An error of the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The disk or the address space reserved for the index is full. The transaction is lost, the
    /// index is as it was before.
    #[error("no room left for the index")]
    Full(#[source] io::Error),
    /// Stored bytes are damaged. The index has to be rebuilt.
    #[error("the index is damaged: {0}")]
    Corrupt(String),
    /// The environment cannot be used now: it is open already, closed, or has too many readers.
    #[error("the index is busy: {0}")]
    Busy(&'static str),
    /// The caller broke a rule of the write protocol; the transaction must be dropped.
    #[error("inconsistent write: {0}")]
    Inconsistent(String),
    /// The file system refused.
    #[error("cannot use the index: {0}")]
    Io(#[from] io::Error),
    /// Any other error of LMDB: an error of this program or of its use of LMDB, which does not mean that
    /// stored bytes are damaged.
    #[error("the index store failed")]
    Lmdb(#[source] heed::Error),
}

impl StoreError {
    /// Returns true if stored bytes are damaged.
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Corrupt(_))
    }

    /// Returns true if rebuilding the index from the tree is the remedy: for damage, and for a change that
    /// contradicts the stored state and would fail again and again.
    pub fn needs_rebuild(&self) -> bool {
        matches!(self, Self::Corrupt(_) | Self::Inconsistent(_))
    }
}

/// The payload with which a [`Snapshot`](crate::Snapshot) panics when it cannot be read, because the traits
/// of a view have no errors. The server tells it from a fault of the program.
#[derive(Debug)]
pub struct Unreadable(pub StoreError);

/// Returns true if an error of the system means that there is no space.
fn is_no_space(e: &io::Error) -> bool {
    matches!(e.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

impl From<heed::Error> for StoreError {
    fn from(e: heed::Error) -> Self {
        match e {
            heed::Error::Mdb(MdbError::MapFull) => Self::Full(io::Error::other(e)),
            heed::Error::Io(io) if is_no_space(&io) => Self::Full(io),
            heed::Error::Io(io) => Self::Io(io),
            heed::Error::Mdb(
                MdbError::PageNotFound
                | MdbError::Corrupted
                | MdbError::VersionMismatch
                | MdbError::Invalid
                | MdbError::Incompatible
                | MdbError::CursorFull
                | MdbError::PageFull
                | MdbError::KeyExist,
            ) => Self::Corrupt(e.to_string()),
            heed::Error::Mdb(MdbError::ReadersFull | MdbError::TlsFull) => Self::Busy("too many readers"),
            heed::Error::EnvAlreadyOpened => Self::Busy("already open in this process"),
            e => Self::Lmdb(e),
        }
    }
}

/// The short name of a result of this crate.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

#[cfg(test)]
mod tests {
    use super::*;

    fn check(e: heed::Error, expect: fn(&StoreError) -> bool, rebuild: bool) {
        let text = e.to_string();
        let e = StoreError::from(e);
        assert!(expect(&e), "{text}: {e:?}");
        assert_eq!(e.needs_rebuild(), rebuild, "{text}");
    }

    #[test]
    fn sorts_errors_by_remedy() {
        let os = |kind| heed::Error::Io(io::Error::from(kind));
        check(heed::Error::Mdb(MdbError::MapFull), |e| matches!(e, StoreError::Full(_)), false);
        check(os(io::ErrorKind::StorageFull), |e| matches!(e, StoreError::Full(_)), false);
        check(os(io::ErrorKind::PermissionDenied), |e| matches!(e, StoreError::Io(_)), false);
        check(heed::Error::Mdb(MdbError::Corrupted), |e| matches!(e, StoreError::Corrupt(_)), true);
        check(heed::Error::Mdb(MdbError::ReadersFull), |e| matches!(e, StoreError::Busy(_)), false);
        check(heed::Error::EnvAlreadyOpened, |e| matches!(e, StoreError::Busy(_)), false);
        // The environment has to be opened again, and a mistake of the caller is not damage.
        for e in [MdbError::BadTxn, MdbError::Panic, MdbError::BadValSize] {
            check(heed::Error::Mdb(e), |e| matches!(e, StoreError::Lmdb(_)), false);
        }
    }
}
