//! Directories that nobody else can enter.

use rustix::fs::{FileType, Mode};
use std::path::{Path, PathBuf};

/// Why a directory cannot be trusted.
#[derive(Debug, thiserror::Error)]
pub enum PrivateDirError {
    /// It is a symbolic link or no directory.
    #[error("{0} is not a directory of its own")]
    NotDirectory(PathBuf),
    /// Somebody else owns it.
    #[error("{0} belongs to another user")]
    Foreign(PathBuf),
    /// The group or others may enter it.
    #[error("{0} is open to other users (mode {1:o})")]
    Open(PathBuf, u32),
    /// It could not be created or looked at.
    #[error("{0} cannot be used")]
    Io(PathBuf, #[source] std::io::Error),
}

/// Makes sure that `path` is a directory of the current user with mode 0700. Missing parents are
/// created with mode 0700 too. An existing directory of the user with wider permissions is
/// tightened; one of somebody else, or a link, is refused.
///
/// # Errors
/// [`PrivateDirError`], naming the path.
pub fn ensure_private_dir(path: &Path) -> Result<(), PrivateDirError> {
    let io = |e: std::io::Error| PrivateDirError::Io(path.to_owned(), e);
    if let Err(e) = std::fs::symlink_metadata(path) {
        if e.kind() != std::io::ErrorKind::NotFound {
            return Err(io(e));
        }
        use std::os::unix::fs::DirBuilderExt;
        let mut builder = std::fs::DirBuilder::new();
        match builder.recursive(true).mode(0o700).create(path) {
            Ok(()) => {}
            Err(e) => return Err(io(e)),
        }
    }
    check_private_dir(path).or_else(|e| match e {
        PrivateDirError::Open(..) => {
            rustix::fs::chmod(path, Mode::RWXU).map_err(|e| io(e.into()))?;
            check_private_dir(path)
        }
        e => Err(e),
    })
}

/// Checks that `path` is a directory, no link, owned by the current user and closed to others.
///
/// # Errors
/// [`PrivateDirError`], naming the path.
pub fn check_private_dir(path: &Path) -> Result<(), PrivateDirError> {
    let stat = rustix::fs::lstat(path).map_err(|e| PrivateDirError::Io(path.to_owned(), e.into()))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return Err(PrivateDirError::NotDirectory(path.to_owned()));
    }
    if stat.st_uid != rustix::process::geteuid().as_raw() {
        return Err(PrivateDirError::Foreign(path.to_owned()));
    }
    #[allow(clippy::unnecessary_cast, reason = "the field type differs between systems")]
    let mode = stat.st_mode as u32 & 0o777;
    if mode & 0o077 != 0 {
        return Err(PrivateDirError::Open(path.to_owned(), mode));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn creates_tightens_and_refuses() {
        let dir = tempfile::tempdir().unwrap();
        let fresh = dir.path().join("a/b");
        ensure_private_dir(&fresh).unwrap();
        assert_eq!(fresh.metadata().unwrap().permissions().mode() & 0o777, 0o700);

        std::fs::set_permissions(&fresh, PermissionsExt::from_mode(0o755)).unwrap();
        assert!(matches!(check_private_dir(&fresh), Err(PrivateDirError::Open(_, 0o755))));
        ensure_private_dir(&fresh).unwrap();
        check_private_dir(&fresh).unwrap();

        let link = dir.path().join("link");
        symlink(&fresh, &link).unwrap();
        assert!(matches!(ensure_private_dir(&link), Err(PrivateDirError::NotDirectory(_))));
        let file = dir.path().join("file");
        std::fs::write(&file, "").unwrap();
        assert!(matches!(ensure_private_dir(&file), Err(PrivateDirError::NotDirectory(_))));
        assert!(matches!(ensure_private_dir(&file.join("x")), Err(PrivateDirError::Io(..))));
    }
}
