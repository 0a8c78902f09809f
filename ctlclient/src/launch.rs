//! Finding and starting the daemon.
//!
//! The program beside `ctl` comes first, so that both are of one release, then PATH. Of many
//! clients that find no daemon one starts it, the one that holds the start lock; the others wait
//! for the socket.

use crate::failure::Failure;
use indexd_proto::error::ErrorCode;
use indexd_proto::paths::{self, Dirs};
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long a daemon may take to answer on its socket.
const START_TIMEOUT: Duration = Duration::from_secs(20);

/// Variables that the daemon gets; the rest of the caller's environment is none of its business.
const KEPT: [&str; 14] = [
    "HOME",
    "USER",
    "LOGNAME",
    "PATH",
    "LANG",
    "TMPDIR",
    "TEMP",
    "TMP",
    "CI",
    "APPDATA",
    "LOCALAPPDATA",
    "USERPROFILE",
    "SYSTEMROOT",
    "RUST_BACKTRACE",
];

/// A program of ours: the one beside this, so that all are of one release, then that of PATH.
///
/// # Errors
/// `POC_E_DAEMON_UNAVAILABLE` when there is none.
pub fn installed(name: &str) -> Result<PathBuf, Failure> {
    let beside = std::env::current_exe().ok().and_then(|p| Some(p.canonicalize().ok()?.parent()?.join(name)));
    let in_path = std::env::var_os("PATH").unwrap_or_default();
    let candidates = beside
        .into_iter()
        .chain(std::env::split_paths(&in_path).filter(|d| d.is_absolute()).map(|d| d.join(name)));
    candidates.into_iter().find(|p| p.is_file()).ok_or_else(|| {
        Failure::hinted(
            ErrorCode::DaemonUnavailable,
            format!("the program {name} is not installed"),
            match name {
                "ctl-share" => {
                    "packages have it; from source it is built with `cargo install --path share`".to_owned()
                }
                _ => format!("install {name} beside ctl or into PATH"),
            },
        )
    })
}

/// A command for the daemon's program with the environment it needs and no more.
///
/// # Errors
/// As [`installed`].
pub fn command() -> Result<Command, Failure> {
    let mut command = Command::new(installed("indexd")?);
    command.env_clear();
    for (name, value) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if KEPT.contains(&&*text) || ["XDG_", "INDEXD_", "LC_"].iter().any(|p| text.starts_with(p)) {
            command.env(&name, value);
        }
    }
    Ok(command)
}

/// Starts the daemon, or waits for the one that another client is starting. Returns when `reached`
/// gives something.
///
/// # Errors
/// `POC_E_DAEMON_UNAVAILABLE`, `POC_E_PERMISSION_DENIED`, or what the daemon said while starting.
pub fn start<T>(dirs: &Dirs, uid: u32, mut reached: impl FnMut() -> Option<T>) -> Result<T, Failure> {
    paths::private_dir(&dirs.runtime, uid).map_err(|e| runtime_failure(&dirs.runtime, &e))?;
    let path = dirs.start_lock();
    let mut options = File::options();
    options.create(true).truncate(false).write(true);
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let lock = options.open(&path).map_err(|e| runtime_failure(&path, &e))?;
    let until = Instant::now() + START_TIMEOUT;
    loop {
        match lock.try_lock() {
            Ok(()) => {
                // Another client may have finished starting it just now.
                if let Some(found) = reached() {
                    return Ok(found);
                }
                // A daemon of another environment may have been started meanwhile.
                if let Err(failure) = spawn(dirs) {
                    return reached().ok_or(failure);
                }
            }
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(e)) => return Err(runtime_failure(&path, &e)),
        }
        if let Some(found) = reached() {
            return Ok(found);
        }
        if Instant::now() >= until {
            return Err(Failure::hinted(
                ErrorCode::DaemonUnavailable,
                "the daemon does not answer",
                format!("see the log {}, or run `ctl doctor`", dirs.log().display()),
            ));
        }
        std::thread::sleep(Duration::from_millis(3));
    }
}

/// Runs `indexd --detach`, which returns when the daemon answers or cannot start.
fn spawn(dirs: &Dirs) -> Result<(), Failure> {
    let output =
        command()?.arg("--detach").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).output();
    let output = output.map_err(cannot_start("indexd"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let message = said.lines().next().unwrap_or("").trim_start_matches("indexd: ");
    let hint = said.lines().find_map(|l| l.strip_prefix("hint: ")).map(str::to_owned);
    let code = code_of(output.status);
    let message = format!("the daemon cannot start: {message}");
    Err(Failure::hinted(
        code,
        message,
        hint.unwrap_or_else(|| format!("see the log {}", dirs.log().display())),
    ))
}

/// Has a published index fetched for the first index of a root. It says itself what came of it, to the
/// daemon and on standard error, and ends when the index is there.
pub fn pull(root: &str, is_quiet: bool) {
    let program = match installed("ctl-share") {
        Ok(program) => program,
        // The daemon builds after a few seconds.
        Err(failure) => {
            if let (Failure::Error(e), false) = (failure, is_quiet) {
                eprintln!("ctl: the index is built without a published one: {}", e.message);
            }
            return;
        }
    };
    let mut command = Command::new(program);
    command.args(["share", "pull", "--first", "--repo", root]).args(is_quiet.then_some("--quiet"));
    command.stdin(Stdio::null()).stdout(Stdio::null());
    if let Ok(mut child) = command.spawn() {
        std::thread::spawn(move || child.wait());
    }
}

/// Publishes the index of a root. A failed push is reported on standard error and is
/// not a failure of the command.
///
/// # Errors
/// As [`installed`].
pub fn push(root: &str, is_quiet: bool) -> Result<(), Failure> {
    let mut command = Command::new(installed("ctl-share")?);
    command.args(["share", "push", "--repo", root]).args(is_quiet.then_some("--quiet"));
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status();
    status.map(drop).map_err(cannot_start("ctl-share"))
}

/// The failure of a program of ours that the system does not start.
pub fn cannot_start(program: &str) -> impl FnOnce(std::io::Error) -> Failure {
    move |e| Failure::new(ErrorCode::DaemonUnavailable, format!("cannot start {program}: {e}"))
}

/// The error that a daemon's exit status stands for.
pub fn code_of(status: ExitStatus) -> ErrorCode {
    match status.code() {
        Some(73) => ErrorCode::CannotCreate,
        Some(74) => ErrorCode::Storage,
        Some(77) => ErrorCode::PermissionDenied,
        Some(78) => ErrorCode::Config,
        _ => ErrorCode::DaemonUnavailable,
    }
}

/// Why the runtime folder cannot be used.
pub fn runtime_failure(path: &Path, e: &std::io::Error) -> Failure {
    let code = match e.kind() {
        std::io::ErrorKind::PermissionDenied => ErrorCode::PermissionDenied,
        _ => ErrorCode::CannotCreate,
    };
    Failure::hinted(
        code,
        format!("cannot use {}: {e}", path.display()),
        "check its owner and mode, or set INDEXD_RUNTIME_DIR",
    )
}
