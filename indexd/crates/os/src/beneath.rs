//! Reading files of a workspace so that no link, mount trick or race leads outside its root.
//!
//! On Linux the kernel does the check (`openat2` with `RESOLVE_BENEATH`, `RESOLVE_NO_SYMLINKS` and
//! `RESOLVE_NO_MAGICLINKS`), so swapping a path component for a link between a check and the open has no
//! effect. Without `openat2` each component is opened with `O_NOFOLLOW` from its parent.

use crate::faults;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;
use std::io::Read;
use std::path::Path;

/// The fields of `stat` of a regular file or a folder that the index compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileStat {
    /// Modification time in nanoseconds since the epoch.
    pub mtime_ns: i64,
    /// Change time in nanoseconds since the epoch.
    pub ctime_ns: i64,
    /// Bytes.
    pub size: u64,
    /// Inode number.
    pub inode: u64,
    /// Device number.
    pub dev: u64,
}

/// Reasons for which a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file does not exist, or a component is not a directory.
    #[error("no such file")]
    Missing,
    /// The path leads through a symbolic link, or out of the root.
    #[error("the path leads through a link or outside the workspace")]
    Outside,
    /// A directory, socket, pipe or device.
    #[error("not a regular file")]
    NotRegular,
    /// No permission.
    #[error("permission denied")]
    Denied,
    /// The file has more bytes than the limit of the caller; its `stat` at that time.
    #[error("{} bytes are above the limit", .0.size)]
    TooLarge(FileStat),
    /// Any other error of the system.
    #[error("could not be read")]
    Io(#[source] std::io::Error),
}

impl From<Errno> for ReadError {
    fn from(e: Errno) -> Self {
        match e {
            Errno::NOENT | Errno::NOTDIR => Self::Missing,
            Errno::LOOP | Errno::XDEV => Self::Outside,
            Errno::ACCESS | Errno::PERM => Self::Denied,
            Errno::NXIO | Errno::NODEV => Self::NotRegular,
            e => Self::Io(e.into()),
        }
    }
}

/// An open workspace root. Paths passed to it are relative, `/`-separated, without `.` and `..`.
pub struct Root {
    fd: OwnedFd,
}

impl Root {
    /// Opens the root directory itself; links on the way to it are followed.
    ///
    /// # Errors
    /// [`ReadError`] when it is missing, not a directory or not accessible.
    pub fn open(path: &Path) -> Result<Self, ReadError> {
        faults::before("open", &path.to_string_lossy()).map_err(ReadError::Io)?;
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        Ok(Self { fd: rustix::fs::open(path, flags, Mode::empty())? })
    }

    /// The `lstat` of `path`; only regular files have one.
    ///
    /// # Errors
    /// As [`Root::read`], apart from the size.
    pub fn stat(&self, path: &str) -> Result<FileStat, ReadError> {
        let fd = self.open_beneath(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC)?;
        meta(&fd)
    }

    /// Reads a regular file of at most `bytes_max` bytes with the `stat` that belongs to the bytes: taken
    /// before and after reading, and read again when it changed in between.
    ///
    /// # Errors
    /// [`ReadError::TooLarge`] above the limit, without reading when the size is known to exceed it; the
    /// other kinds as documented there. Pipes and devices are never waited for.
    pub fn read(&self, path: &str, bytes_max: u64) -> Result<(Vec<u8>, FileStat), ReadError> {
        const TRIES: usize = 5;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let mut last = None;
        faults::before("read", path).map_err(ReadError::Io)?;
        for _ in 0..TRIES {
            let fd = self.open_beneath(path, flags)?;
            let before = meta(&fd)?;
            if before.size > bytes_max {
                return Err(ReadError::TooLarge(before));
            }
            let mut bytes = Vec::with_capacity(before.size as usize + 1);
            let mut file = std::fs::File::from(fd);
            let n = (&mut file).take(bytes_max + 1).read_to_end(&mut bytes).map_err(ReadError::Io)? as u64;
            let after = meta(file.as_fd())?;
            if n > bytes_max {
                // The file is growing; if it shrinks again, another event follows.
                return Err(ReadError::TooLarge(FileStat { size: after.size.max(n), ..after }));
            }
            if before == after && n == after.size {
                return Ok((bytes, after));
            }
            // The file is being written right now: its next event causes another read, so the last bytes
            // seen are good enough after a few tries.
            last = Some((bytes, before));
        }
        last.ok_or(ReadError::Missing)
    }

    #[cfg(target_os = "linux")]
    fn open_beneath(&self, path: &str, flags: OFlags) -> Result<OwnedFd, ReadError> {
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        // Renaming a directory elsewhere makes the kernel's check inconclusive for a moment.
        for _ in 0..16 {
            match rustix::fs::openat2(&self.fd, path, flags, Mode::empty(), resolve) {
                Err(Errno::AGAIN) => {}
                Err(Errno::NOSYS | Errno::INVAL) => return self.open_stepwise(path, flags),
                other => return Ok(other?),
            }
        }
        Err(ReadError::Outside)
    }

    #[cfg(not(target_os = "linux"))]
    fn open_beneath(&self, path: &str, flags: OFlags) -> Result<OwnedFd, ReadError> {
        self.open_stepwise(path, flags)
    }

    fn open_stepwise(&self, path: &str, flags: OFlags) -> Result<OwnedFd, ReadError> {
        let dir_flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::RDONLY;
        let (dirs, name) = path.rsplit_once('/').map_or((None, path), |(d, n)| (Some(d), n));
        let mut at: Option<OwnedFd> = None;
        for part in dirs.into_iter().flat_map(|d| d.split('/')).chain([name]) {
            if matches!(part, "" | "." | "..") {
                return Err(ReadError::Outside);
            }
            let base = at.as_ref().map_or(self.fd.as_fd(), AsFd::as_fd);
            let is_last = std::ptr::eq(part, name);
            at =
                Some(rustix::fs::openat(base, part, if is_last { flags } else { dir_flags }, Mode::empty())?);
        }
        at.ok_or(ReadError::Missing)
    }
}

fn meta(fd: impl AsFd) -> Result<FileStat, ReadError> {
    file_meta(&rustix::fs::fstat(fd)?)
}

/// The metadata of a regular file.
pub(crate) fn file_meta(s: &rustix::fs::Stat) -> Result<FileStat, ReadError> {
    match FileType::from_raw_mode(s.st_mode) {
        FileType::RegularFile => {}
        FileType::Symlink => return Err(ReadError::Outside),
        _ => return Err(ReadError::NotRegular),
    }
    Ok(compared(s))
}

/// The compared fields of a `stat` of any kind of file.
#[allow(clippy::unnecessary_cast, reason = "the field types differ between systems")]
pub(crate) fn compared(s: &rustix::fs::Stat) -> FileStat {
    FileStat {
        mtime_ns: s.st_mtime as i64 * 1_000_000_000 + s.st_mtime_nsec as i64,
        ctime_ns: s.st_ctime as i64 * 1_000_000_000 + s.st_ctime_nsec as i64,
        size: s.st_size as u64,
        inode: s.st_ino as u64,
        dev: s.st_dev as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn tree() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("root/sub")).unwrap();
        std::fs::write(dir.path().join("canary"), "secret").unwrap();
        std::fs::write(dir.path().join("root/sub/a.go"), "package a\n").unwrap();
        symlink(dir.path().join("canary"), dir.path().join("root/link")).unwrap();
        symlink(dir.path(), dir.path().join("root/up")).unwrap();
        symlink("a.go", dir.path().join("root/sub/inside")).unwrap();
        dir
    }

    #[test]
    fn reads_regular_files_beneath_the_root_and_nothing_else() {
        let dir = tree();
        let root = Root::open(&dir.path().join("root")).unwrap();
        let (bytes, meta) = root.read("sub/a.go", 100).unwrap();
        assert_eq!((&bytes[..], meta.size), (&b"package a\n"[..], 10));
        assert_eq!(root.stat("sub/a.go").unwrap(), meta);
        for (path, is_expected) in [
            ("link", (|e| matches!(e, ReadError::Outside)) as fn(&ReadError) -> bool),
            ("up/canary", |e| matches!(e, ReadError::Outside)),
            ("sub/inside", |e| matches!(e, ReadError::Outside)),
            ("../canary", |e| matches!(e, ReadError::Outside)),
            ("sub", |e| matches!(e, ReadError::NotRegular)),
            ("none", |e| matches!(e, ReadError::Missing)),
            ("sub/a.go/x", |e| matches!(e, ReadError::Missing)),
        ] {
            let error = root.read(path, 100).unwrap_err();
            assert!(is_expected(&error), "{path}: {error:?}");
        }
        assert!(matches!(root.read("sub/a.go", 9), Err(ReadError::TooLarge(m)) if m == meta));
        assert!(root.read("sub/a.go", 10).is_ok());
    }

    /// A file and its folder are swapped for links out of the root, again and again, while they are read:
    /// nothing outside the root is ever read.
    #[test]
    fn what_is_swapped_for_a_link_while_it_is_read_leads_nowhere() {
        use std::sync::atomic::{AtomicBool, Ordering};
        let n_reads: usize =
            std::env::var("INDEXD_TEST_READS").ok().and_then(|n| n.parse().ok()).unwrap_or(10_000);
        let dir = tree();
        let top = dir.path().join("root");
        std::fs::create_dir(dir.path().join("outside")).unwrap();
        std::fs::write(dir.path().join("outside/a.go"), "secret").unwrap();
        symlink(dir.path().join("canary"), top.join("link.new")).unwrap();
        let root = Root::open(&top).unwrap();
        let is_over = AtomicBool::new(false);
        let (mut n_ours, mut n_refused) = (0, 0);
        std::thread::scope(|s| {
            s.spawn(|| {
                let place = |name: &str| top.join(name);
                while !is_over.load(Ordering::Relaxed) {
                    // Swap the file, then its folder; each rename is one step.
                    symlink(dir.path().join("canary"), place("f.new")).unwrap();
                    std::fs::rename(place("f.new"), place("sub/a.go")).unwrap();
                    std::fs::write(place("f.new"), "package a\n").unwrap();
                    std::fs::rename(place("f.new"), place("sub/a.go")).unwrap();
                    std::fs::rename(place("sub"), place("away")).unwrap();
                    symlink(dir.path().join("outside"), place("sub")).unwrap();
                    std::fs::remove_file(place("sub")).unwrap();
                    std::fs::rename(place("away"), place("sub")).unwrap();
                }
            });
            // On a busy machine a whole time slice may pass between two swaps.
            while n_ours + n_refused < n_reads || n_ours == 0 {
                match root.read("sub/a.go", 100) {
                    Ok((bytes, _)) => {
                        assert_eq!(bytes, b"package a\n");
                        n_ours += 1;
                    }
                    Err(ReadError::Outside | ReadError::Missing) => n_refused += 1,
                    Err(e) => panic!("{e}"),
                }
            }
            is_over.store(true, Ordering::Relaxed);
        });
        assert!(n_ours > 0 && n_ours + n_refused >= n_reads, "some reads are between two swaps");
    }

    #[test]
    fn the_stepwise_way_agrees() {
        let dir = tree();
        let root = Root::open(&dir.path().join("root")).unwrap();
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        assert!(root.open_stepwise("sub/a.go", flags).is_ok());
        for bad in ["link", "up/canary", "../canary", "sub/../link", "sub/inside"] {
            assert!(root.open_stepwise(bad, flags).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_pipe_is_never_waited_for() {
        let dir = tree();
        let pipe = dir.path().join("root/pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
        let root = Root::open(&dir.path().join("root")).unwrap();
        assert!(matches!(root.read("pipe", 10), Err(ReadError::NotRegular)));
    }
}
