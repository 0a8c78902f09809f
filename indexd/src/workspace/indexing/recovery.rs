//! Recovery after a stop: finds the current environment, checks that it can be opened, and handles one that
//! cannot.
//!
//! A damaged LMDB file may kill the process that reads it, so an environment that was not closed by its last
//! writer is checked in a child process before this one maps it.

use super::overlays;
use indexd_os::{ends, faults};
use indexd_proto::paths::private_dir;
use indexd_store::{Opened, Store, StoreError};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The way in which a possibly damaged environment is checked.
#[derive(Clone, Debug)]
pub enum Verify {
    /// By running this program with `--verify DIR`.
    Child(PathBuf),
    /// In this process, for programs that have no such option.
    InProcess,
}

/// The extent of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Every row is as it was written, and in its place.
    Rows,
    /// The rows also agree with each other.
    Facts,
}

/// The exit status of the child for damage.
const DAMAGED_STATUS: i32 = 70;

impl Verify {
    /// Returns true if the environment in a folder is sound.
    ///
    /// # Errors
    /// The check could not run; the environment may be sound or not.
    pub fn run(&self, dir: &Path, depth: Depth) -> io::Result<bool> {
        match self {
            Self::Child(program) => {
                let mut command = Command::new(program);
                command.arg("--verify").arg(dir).env_clear();
                command.args((depth == Depth::Rows).then_some("--rows"));
                command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
                indexd_os::inherit_nothing(&mut command);
                let status = command.status()?;
                match status.code() {
                    Some(0) => Ok(true),
                    Some(DAMAGED_STATUS) => Ok(false),
                    // LMDB ends the process that reads a damaged file, by one signal or another.
                    None if !was_killed(status) => Ok(false),
                    _ => Err(io::Error::other(format!("an index could not be verified: {status}"))),
                }
            }
            Self::InProcess => match depth {
                Depth::Rows => Ok(true),
                Depth::Facts => Ok(indexd_store::verify(dir).is_ok()),
            },
        }
    }
}

/// Returns true if a process was ended by a signal from outside, as the system does when memory runs out.
#[cfg(unix)]
fn was_killed(status: std::process::ExitStatus) -> bool {
    use std::os::unix::process::ExitStatusExt;
    const SIGKILL: i32 = 9;
    const SIGTERM: i32 = 15;
    matches!(status.signal(), Some(SIGKILL | SIGTERM))
}

#[cfg(not(unix))]
fn was_killed(_status: std::process::ExitStatus) -> bool {
    false
}

/// Makes the folder of an index, and removes a file in its place.
///
/// # Errors
/// Those of the system, and of [`private_dir`].
pub fn make_home(home: &Path) -> io::Result<()> {
    for at in home.parent().into_iter().chain([home]) {
        if fs::symlink_metadata(at).is_ok_and(|meta| meta.is_file()) {
            fs::remove_file(at)?;
        }
    }
    private_dir(home, indexd_os::own_uid())
}

/// Removes everything in the folder of an index except an import, which cannot be made again from the tree:
/// other entries than its files may be in their places. A folder that is missing, or a file in its place,
/// leads to an empty folder.
pub fn start_anew(home: &Path) {
    if let Err(e) = make_home(home) {
        tracing::warn!(error = %e, "the index folder could not be made");
    }
    for entry in fs::read_dir(home).into_iter().flatten().flatten() {
        let is_kept = entry.file_name() == overlays::OVERLAYS && entry.path().is_file();
        if !is_kept {
            remove_env(&entry.path());
        }
    }
}

/// The trust in an index, given how the daemons that had it open have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// As far as the mark next to it states.
    Mark,
    /// After a child process has read all of it.
    Verified,
    /// Not at all: the index is rebuilt.
    None,
}

/// Number of daemons that a fault of theirs may end with an index open before it is verified regardless of its mark.
const ENDS_VERIFIED: u32 = 2;
/// Number of such ends after which it is thrown away, once: verification did not find the cause.
const ENDS_REBUILT: u32 = 4;

/// Records that the index is about to be opened; [`note_closed`] reverts it. A daemon that another process killed does
/// not count: that says nothing about the index.
pub fn note_opening(home: &Path) -> Trust {
    let path = home.join(OPENINGS);
    let text = fs::read_to_string(&path).unwrap_or_default();
    let mut words = text.split_ascii_whitespace();
    let n_openings: u32 = words.next().and_then(|n| n.parse().ok()).unwrap_or(0);
    let is_blameless = words.next().is_some_and(|daemon| !ends::was_fault(&faults_beside(home), daemon));
    let n_ends = n_openings - u32::from(is_blameless && n_openings > 0);
    // Without the note the mark decides, as before the first end.
    let _ = fs::write(&path, format!("{} {}\n", n_ends.saturating_add(1), ends::own_name()));
    match n_ends {
        0..ENDS_VERIFIED => Trust::Mark,
        ENDS_REBUILT => Trust::None,
        _ => Trust::Verified,
    }
}

/// The file in which daemons note that a fault ends them, beside the folder of all indexes.
pub fn faults_beside(home: &Path) -> PathBuf {
    home.ancestors().nth(2).unwrap_or(home).join(FAULTS)
}

/// Notes that the daemon lives on, or has closed the index.
pub fn note_closed(home: &Path) {
    let _ = fs::remove_file(home.join(OPENINGS));
}

/// Notes that the index is asked for now.
pub fn note_asked(home: &Path) {
    // Without it the index is taken for older than it is, and rebuilt when it is needed.
    let _ = fs::write(home.join(ASKED), "");
}

/// Returns the time that [`note_asked`] recorded last, or that of the folder.
pub fn asked_at(home: &Path) -> Option<std::time::SystemTime> {
    fs::metadata(home.join(ASKED)).or_else(|_| fs::metadata(home)).and_then(|meta| meta.modified()).ok()
}

/// Removes entries of an index folder that belong to, or can be written by, another user: a crafted index is
/// memory that is trusted. Only time is lost.
#[cfg(unix)]
pub fn remove_foreign(dir: &Path, uid: u32) {
    use std::os::unix::fs::MetadataExt;
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(meta) = fs::symlink_metadata(&path) else { continue };
        let is_own = meta.uid() == uid && meta.mode() & 0o022 == 0 && !meta.is_symlink();
        if is_own && meta.is_dir() {
            remove_foreign(&path, uid);
        } else if !is_own {
            tracing::warn!(path = %path.display(), "removed from an index: it is not this user's alone");
            let removed = if meta.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            if let Err(e) = removed {
                tracing::warn!(error = %e, "it cannot be removed");
            }
        }
    }
}

/// On this system the user's profile is private already.
#[cfg(not(unix))]
pub fn remove_foreign(_dir: &Path, _uid: u32) {}

/// Has the index verified when it is opened next.
pub fn suspect(home: &Path) {
    let _ = fs::write(home.join(OPENINGS), format!("{ENDS_VERIFIED}\n"));
}

/// The result of checking an environment.
pub enum Checked {
    /// It can be used.
    Ready(Store),
    /// There is no complete one of this recipe.
    Nothing,
    /// It was damaged; an environment is set aside.
    Damaged,
}

/// Opens an environment that should hold an index.
///
/// # Errors
/// The disk is full, or the environment is in use.
pub fn open_checked(dir: &Path, config: &[u8], verify: &Verify, trust: Trust) -> Result<Checked, StoreError> {
    match open_trusted(dir, config, verify, trust) {
        Ok(Opened::Ready(store)) => Ok(Checked::Ready(store)),
        Ok(Opened::Fresh(_) | Opened::Unverified) => Ok(Checked::Nothing),
        Err(e) if e.needs_rebuild() => {
            tracing::warn!(error = %e, "the index cannot be opened");
            set_aside(dir);
            Ok(Checked::Damaged)
        }
        Err(e) => Err(e),
    }
}

fn open_trusted(dir: &Path, config: &[u8], verify: &Verify, trust: Trust) -> Result<Opened, StoreError> {
    let is_refused = match trust {
        Trust::Mark => false,
        Trust::Verified => dir.exists() && !verify.run(dir, Depth::Facts)?,
        Trust::None => true,
    };
    if is_refused {
        return Err(StoreError::Corrupt("daemons ended with the index open again and again".into()));
    }
    match Store::open(dir, config)? {
        Opened::Unverified if trust == Trust::Verified || verify.run(dir, Depth::Facts)? => {
            Store::open_verified(dir, config)
        }
        Opened::Unverified => Err(StoreError::Corrupt("an index that was not closed".into())),
        opened => Ok(opened),
    }
}

/// Explains an input/output error of LMDB when no room is left in `dir`: LMDB reports a partly written page
/// as such an error, not as a full disk.
pub fn explained(e: StoreError, dir: &Path) -> StoreError {
    explain(e, indexd_os::bytes_free(dir))
}

fn explain(e: StoreError, bytes_free: Option<u64>) -> StoreError {
    match e {
        StoreError::Io(e)
            if e.raw_os_error() == Some(EIO) && bytes_free.is_some_and(|n| n < NO_ROOM_BYTES) =>
        {
            StoreError::Full(e)
        }
        e => e,
    }
}

/// The number of the current environment.
pub fn current(home: &Path) -> Option<u64> {
    fs::read_to_string(home.join(CURRENT)).ok()?.lines().next()?.strip_prefix('i')?.parse().ok()
}

/// Bytes of the data file of the current environment when it was compact.
pub fn compact_bytes(home: &Path) -> Option<u64> {
    fs::read_to_string(home.join(CURRENT)).ok()?.lines().nth(1)?.parse().ok()
}

/// Makes a compact environment of `compact_bytes` bytes the current one, durably and in one step.
///
/// # Errors
/// The folder cannot be written.
pub fn set_current(home: &Path, env: u64, compact_bytes: u64) -> io::Result<()> {
    write_whole(&home.join(CURRENT), format!("{}\n{compact_bytes}\n", env_name(env)).as_bytes())
}

/// The folder name of an environment.
pub fn env_name(env: u64) -> String {
    format!("i{env}")
}

/// Removes leftovers of crashes: environments that are not the current one.
pub fn remove_others(home: &Path, current: Option<u64>) {
    let keep = current.map(env_name);
    for entry in fs::read_dir(home).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_env = name.strip_prefix('i').is_some_and(|n| n.parse::<u64>().is_ok());
        if is_env && Some(&name) != keep.as_ref() {
            remove_env(&entry.path());
        }
    }
}

/// Removes an environment, or a file in its place. Readers that still map it keep their view.
pub fn remove_env(dir: &Path) {
    let removed = match fs::remove_dir_all(dir) {
        Err(e) if e.kind() == io::ErrorKind::NotADirectory => fs::remove_file(dir),
        removed => removed,
    };
    if let Err(e) = removed
        && e.kind() != io::ErrorKind::NotFound
    {
        tracing::warn!(error = %e, "an old index could not be removed");
    }
}

/// Moves a damaged environment aside for inspection; only the last one is kept.
pub fn set_aside(dir: &Path) {
    if Store::quarantine(dir).is_err() {
        remove_env(dir);
    }
}

/// Moves the current environment of an index folder aside.
pub fn set_aside_current(home: &Path) {
    if let Some(env) = current(home) {
        set_aside(&home.join(env_name(env)));
    }
}

/// Replaces a file in one step: after a crash it holds all of the old bytes or all of the new.
///
/// # Errors
/// Those of the system.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let new = path.with_extension("new");
    let shown = path.to_string_lossy();
    faults::before("write", &shown)?;
    fs::write(&new, bytes)?;
    faults::before("sync", &shown)?;
    fs::File::open(&new)?.sync_all()?;
    faults::before("rename", &shown)?;
    fs::rename(&new, path)
}

const CURRENT: &str = "current";
/// Name of the file that is changed when a user begins to ask for the index.
const ASKED: &str = "asked";
/// Name of the file that counts the openings of the index since a daemon last closed it.
const OPENINGS: &str = "openings";
/// Name of the file with the daemons that a fault ended, in the cache folder.
pub const FAULTS: &str = "faults";
/// After a partial write less space is left than LMDB writes at once.
const NO_ROOM_BYTES: u64 = 4 << 20;
/// The number of the error, the same on every Unix.
const EIO: i32 = 5;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partial_write_is_a_full_disk() {
        let check = |number: i32, bytes_free, want: bool| {
            let e = StoreError::Io(io::Error::from_raw_os_error(number));
            assert_eq!(
                matches!(explain(e, bytes_free), StoreError::Full(_)),
                want,
                "{number} {bytes_free:?}"
            );
        };
        check(EIO, Some(0), true);
        check(EIO, Some(1 << 30), false);
        check(EIO, None, false);
        check(EIO + 8, Some(0), false);
    }

    #[test]
    fn an_index_is_trusted_less_with_each_daemon_that_ends_on_it() {
        let cache = tempfile::tempdir().unwrap();
        let home = cache.path().join("v1/index");
        fs::create_dir_all(&home).unwrap();
        let opening = || note_opening(&home);
        assert_eq!([(); 9].map(|()| opening()), [Trust::Mark; 9], "others killed the daemons");
        fs::write(cache.path().join(FAULTS), format!("1-1\n{}\n", ends::own_name())).unwrap();
        assert_eq!(opening(), Trust::Mark);
        assert_eq!([opening(), opening()], [Trust::Verified; 2]);
        assert_eq!(opening(), Trust::None);
        assert_eq!([opening(), opening()], [Trust::Verified; 2], "it was built anew, once");
        note_closed(&home);
        assert_eq!(opening(), Trust::Mark);
        suspect(&home);
        assert_eq!(opening(), Trust::Verified);
    }

    #[cfg(unix)]
    #[test]
    fn what_others_may_have_written_is_removed() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
        let home = tempfile::tempdir().unwrap();
        let uid = fs::metadata(home.path()).unwrap().uid();
        fs::create_dir(home.path().join("i1")).unwrap();
        for (name, mode) in [("i1/data.mdb", 0o666), ("i1/state", 0o600), ("current", 0o644)] {
            fs::write(home.path().join(name), "x").unwrap();
            fs::set_permissions(home.path().join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        symlink("/etc/hostname", home.path().join("overlays")).unwrap();
        remove_foreign(home.path(), uid);
        let left = |name: &str| fs::symlink_metadata(home.path().join(name)).is_ok();
        assert_eq!(["i1/data.mdb", "i1/state", "current", "overlays"].map(left), [false, true, true, false]);
        remove_foreign(home.path(), uid + 1);
        assert!(!left("i1") && !left("current"));
    }

    #[test]
    fn only_the_current_environment_survives() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(current(home.path()), None);
        for name in ["i1", "i2", "i30", "inbox"] {
            fs::create_dir(home.path().join(name)).unwrap();
        }
        set_current(home.path(), 2, 4096).unwrap();
        assert_eq!((current(home.path()), compact_bytes(home.path())), (Some(2), Some(4096)));
        remove_others(home.path(), current(home.path()));
        let mut left: Vec<_> = fs::read_dir(home.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["current", "i2", "inbox"]);
    }
}
