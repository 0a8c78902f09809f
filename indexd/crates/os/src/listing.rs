//! Lists folders with as few system calls as possible: one open relative to the root, one stat of the
//! folder, its entries, and one stat of each file that the caller wants.

use crate::beneath::{FileStat, compared, file_meta};
use crate::faults;
use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::path::Path;

/// The kind of an entry of a folder; symbolic links are not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A link, pipe, socket or device.
    Other,
}

/// An open folder.
pub struct Folder {
    file: File,
}

impl Folder {
    /// Opens the folder at `path`; links are followed.
    ///
    /// # Errors
    /// The error of the system; [`io::ErrorKind::NotADirectory`] when it is not a folder.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::at(CWD, path, OFlags::empty())
    }

    /// Opens the folder at the relative path `path` below this one, which must not be a link. Links on the
    /// way to it are followed.
    ///
    /// # Errors
    /// As [`Folder::open`].
    pub fn open_in(&self, path: &str) -> io::Result<Self> {
        Self::at(self.file.as_fd(), Path::new(path), OFlags::NOFOLLOW)
    }

    fn at(base: BorrowedFd, path: &Path, flags: OFlags) -> io::Result<Self> {
        let flags = flags | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        faults::before("open", &path.to_string_lossy())?;
        match rustix::fs::openat(base, path, flags, Mode::empty()) {
            Ok(fd) => Ok(Self { file: File::from(fd) }),
            // The error of some systems for a link that is not to be followed.
            Err(Errno::LOOP) => Err(io::ErrorKind::NotADirectory.into()),
            Err(e) => Err(e.into()),
        }
    }

    /// Its `stat`.
    ///
    /// # Errors
    /// The error of the system.
    pub fn meta(&self) -> io::Result<FileStat> {
        Ok(compared(&rustix::fs::fstat(&self.file)?))
    }

    /// Calls `each` with the name of every entry, in no particular order, without `.` and `..`.
    ///
    /// # Errors
    /// The error of the system; some entries may have been passed to `each` before.
    pub fn list(&self, mut each: impl FnMut(&[u8], EntryKind)) -> io::Result<()> {
        faults::before("list", "")?;
        raw_entries(self.file.as_fd(), |name, kind| {
            if !matches!(name.to_bytes(), b"." | b"..") {
                each(name.to_bytes(), self.kind(name, kind));
            }
        })
    }

    fn kind(&self, name: &CStr, told: FileType) -> EntryKind {
        match told {
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Folder,
            // Some file systems do not return the kind.
            FileType::Unknown => match rustix::fs::statat(&self.file, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(s) if FileType::from_raw_mode(s.st_mode) != FileType::Unknown => {
                    self.kind(name, FileType::from_raw_mode(s.st_mode))
                }
                _ => EntryKind::Other,
            },
            _ => EntryKind::Other,
        }
    }

    /// The `lstat` of the relative path `path`; `None` unless it is a regular file.
    ///
    /// # Errors
    /// The disk or the system failed. A missing or inaccessible file is not an error.
    pub fn file(&self, path: &str) -> io::Result<Option<FileStat>> {
        faults::before("stat", path)?;
        match rustix::fs::statat(&self.file, path, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(file_meta(&stat).ok()),
            Err(
                Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::PERM | Errno::NAMETOOLONG | Errno::LOOP,
            ) => Ok(None),
            Err(e) => Err(e.into()),
        }
    }
}

#[cfg(target_os = "linux")]
fn raw_entries(fd: BorrowedFd, mut each: impl FnMut(&CStr, FileType)) -> io::Result<()> {
    // Room for some hundred names; a larger folder is read in several calls.
    let mut buffer = [const { std::mem::MaybeUninit::uninit() }; 16 << 10];
    let mut entries = rustix::fs::RawDir::new(fd, &mut buffer);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        each(entry.file_name(), entry.file_type());
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn raw_entries(fd: BorrowedFd, mut each: impl FnMut(&CStr, FileType)) -> io::Result<()> {
    for entry in rustix::fs::Dir::read_from(fd)? {
        let entry = entry?;
        each(entry.file_name(), entry.file_type());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn listed(folder: &Folder) -> BTreeMap<String, EntryKind> {
        let mut all = BTreeMap::new();
        folder
            .list(|name, kind| {
                assert!(all.insert(String::from_utf8(name.to_vec()).unwrap(), kind).is_none());
            })
            .unwrap();
        all
    }

    #[test]
    fn entries_are_named_by_kind() {
        let tmp = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(tmp.path().join("sub/deep")).unwrap();
        std::fs::write(tmp.path().join("sub/a"), "abc").unwrap();
        std::os::unix::fs::symlink("a", tmp.path().join("sub/link")).unwrap();
        let top = Folder::open(tmp.path()).unwrap();
        assert_eq!(listed(&top), [("sub".to_owned(), EntryKind::Folder)].into());
        let sub = top.open_in("sub").unwrap();
        let want = [("a", EntryKind::File), ("deep", EntryKind::Folder), ("link", EntryKind::Other)];
        assert_eq!(listed(&sub), want.map(|(n, k)| (n.to_owned(), k)).into());
        assert_eq!(sub.meta().unwrap().dev, top.meta().unwrap().dev);
        let file = |folder: &Folder, name: &str| folder.file(name).unwrap();
        assert_eq!(file(&sub, "a").unwrap().size, 3);
        assert_eq!(file(&top, "sub/a"), file(&sub, "a"));
        assert!(top.open_in("sub/deep").is_ok());
        assert!(["deep", "link", "none"].iter().all(|n| file(&sub, n).is_none()));
        assert!(["a", "link", "none"].iter().all(|n| sub.open_in(n).is_err()));
    }

    #[test]
    fn a_folder_larger_than_the_buffer_is_listed_whole() {
        let tmp = tempfile::tempdir().unwrap();
        for i in 0..2_000 {
            std::fs::write(tmp.path().join(format!("a file with quite a long name {i}")), "").unwrap();
        }
        assert_eq!(listed(&Folder::open(tmp.path()).unwrap()).len(), 2_000);
    }
}
