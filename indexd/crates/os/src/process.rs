//! Settings of the daemon's own process: it holds the source of every workspace, so none of its memory may
//! go to disk, and it may hold many watches and sockets.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::File;
use std::path::Path;
use std::process::Command;

/// The effective user id; 0 on systems without one.
pub fn own_uid() -> u32 {
    #[cfg(unix)]
    return rustix::process::geteuid().as_raw();
    #[cfg(not(unix))]
    return 0;
}

/// Opens a file of the user's own for reading and writing, and creates it if necessary. A link is refused,
/// since its target would be written to.
///
/// # Errors
/// The error of the system.
pub fn open_own(path: &Path) -> std::io::Result<File> {
    let mut options = File::options();
    options.create(true).truncate(false).read(true).write(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32);
    }
    options.open(path)
}

/// Switches core dumps off for this process and its children, and on Linux keeps other processes of
/// the user from reading its memory.
///
/// # Errors
/// The error of the system; the daemon logs it and goes on.
pub fn forbid_core_dumps() -> std::io::Result<()> {
    let hard = getrlimit(Resource::Core).maximum;
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: hard })?;
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    Ok(())
}

/// Raises the limit on open files to the highest that is allowed without privileges, and returns it; `None`
/// without a limit.
///
/// # Errors
/// The error of the system; the limit then stays as it was.
pub fn raise_open_files() -> std::io::Result<Option<u64>> {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    if current != maximum {
        setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?;
    }
    Ok(maximum)
}

/// Makes a child inherit its standard input, output and error and no other descriptor. Libraries open files
/// that stay open in a program that is started (the data file of LMDB), and so may the parent of this
/// process.
pub fn inherit_nothing(command: &mut Command) {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        /// The first descriptor after standard input, output and error.
        const FIRST: i32 = 3;
        /// Descriptors that are marked one by one if the system cannot mark all at once.
        const DESCRIPTORS_MAX: i32 = 4_096;
        #[expect(unsafe_code, reason = "what runs between fork and exec may not allocate or lock")]
        // SAFETY: the closure only makes system calls. They take numbers and mark descriptors of the child
        // to be closed by exec; a number that is not a descriptor returns an error, which is ignored.
        unsafe {
            command.pre_exec(|| {
                #[cfg(target_os = "linux")]
                if libc::syscall(libc::SYS_close_range, FIRST, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC)
                    == 0
                {
                    return Ok(());
                }
                for number in FIRST..DESCRIPTORS_MAX {
                    libc::fcntl(number, libc::F_SETFD, libc::FD_CLOEXEC);
                }
                Ok(())
            })
        };
    }
    #[cfg(not(unix))]
    let _ = command;
}

/// Bytes of address space that this process may reserve; `None` without a limit.
pub fn address_space() -> Option<u64> {
    getrlimit(Resource::As).current
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_child_inherits_nothing_but_its_standard_streams() {
        let tmp = tempfile::tempdir().unwrap();
        let path = tmp.path().join("inherited");
        std::fs::write(&path, "").unwrap();
        // Opened like a library does it, without the flag.
        let _open = rustix::fs::open(&path, rustix::fs::OFlags::RDONLY, rustix::fs::Mode::empty()).unwrap();
        let descriptors_of = |prepare: fn(&mut Command)| {
            let mut command = Command::new("/bin/sh");
            prepare(command.args(["-c", "ls -l /proc/$$/fd"]));
            String::from_utf8(command.output().unwrap().stdout).unwrap()
        };
        assert!(descriptors_of(|_| {}).contains("inherited"), "without it, the file is inherited");
        let kept = descriptors_of(inherit_nothing);
        assert!(!kept.contains("inherited"), "{kept}");
    }

    #[test]
    fn core_dumps_stay_off() {
        forbid_core_dumps().unwrap();
        forbid_core_dumps().unwrap();
        assert_eq!(getrlimit(Resource::Core).current, Some(0));
        #[cfg(target_os = "linux")]
        assert_eq!(
            rustix::process::dumpable_behavior().unwrap(),
            rustix::process::DumpableBehavior::NotDumpable
        );
    }

    #[test]
    fn open_files_reach_their_maximum() {
        let most = raise_open_files().unwrap();
        assert_eq!(getrlimit(Resource::Nofile).current, most);
        assert_eq!(raise_open_files().unwrap(), most);
    }
}
