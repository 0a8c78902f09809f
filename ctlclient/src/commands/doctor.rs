//! `ctl doctor`: what could keep this from working, each check with a reason and one remedy.
//!
//! Nothing is started or changed: the checks look at the system as it is.

use crate::cli::Common;
use crate::failure::Failure;
use crate::launch;
use crate::output::Output;
use crate::progress::Progress;
use crate::session::{self, Session, Start, own_uid};
use crate::style::{Style, bytes, safe_line};
use indexd_proto::Method;
use indexd_proto::error::ErrorCode;
use indexd_proto::paths::Dirs;
#[cfg(target_os = "linux")]
use indexd_proto::paths::NETWORK;
use indexd_proto::printed::{Check, Doctor, Failed, ShareStatus, Verdict};
use indexd_proto::workspace::{
    ConfigParams, ConfigResult, DaemonStatus, Problem, StatusParams, StatusResult, Watch, WorkspaceStatus,
};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Bytes that should be free where indexes are kept.
const FREE_BYTES_WANTED: u64 = 1 << 30;
/// Descriptors that a daemon with many workspaces needs.
const FILES_WANTED: u64 = 1_024;
/// Watched folders that a large repository needs.
const WATCHES_WANTED: u64 = 65_536;

pub(super) fn ok(name: &'static str, reason: impl Into<String>) -> Check {
    Check { name: name.to_owned(), verdict: Verdict::Ok, reason: reason.into(), fix: String::new() }
}

pub(super) fn warn(name: &'static str, reason: impl Into<String>, fix: impl Into<String>) -> Check {
    Check { name: name.to_owned(), verdict: Verdict::Warn, reason: reason.into(), fix: fix.into() }
}

pub(super) fn fail(name: &'static str, reason: impl Into<String>, fix: impl Into<String>) -> Check {
    Check { name: name.to_owned(), verdict: Verdict::Fail, reason: reason.into(), fix: fix.into() }
}

/// Options of `doctor`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  ctl doctor --json")]
pub struct DoctorArgs {}

/// Runs every check; exit status 69 when one fails.
pub fn doctor(common: &Common, _: &DoctorArgs) -> Result<(), Failure> {
    let dirs = session::dirs()?;
    let mut checks = vec![
        program(),
        runtime_dir(&dirs),
        folder("config-dir", &dirs.config),
        folder("state-dir", &dirs.state),
        cache_dir(&dirs),
        clock(&dirs),
    ];
    checks.extend([open_files(), watches(), watchers(), last_fault(&dirs)]);
    checks.extend(super::doctor_clients::checks(common));
    checks.extend(daemon(common, &dirs));
    let failed = checks.iter().any(|c| c.verdict == Verdict::Fail);
    let mut out = Output::stdout();
    if common.json {
        out.object("Doctor", Doctor { ok: !failed, checks })?;
    } else {
        let style = Style::of_stdout(common);
        for c in &checks {
            let mark = match c.verdict {
                Verdict::Ok => style.good("ok  "),
                Verdict::Warn => style.warn("warn"),
                Verdict::Fail => style.bad("fail"),
            };
            out.styled_line(&format!("{mark} {:<12} {}", c.name, safe_line(&c.reason)))?;
            if !c.fix.is_empty() {
                out.styled_line(&format!("     {:<12} {}", "", style.dim(&safe_line(&c.fix))))?;
            }
        }
    }
    out.finish()?;
    if failed { Err(Failure::Status(69)) } else { Ok(()) }
}

fn program() -> Check {
    match launch::program() {
        Ok(path) => ok("program", path.display().to_string()),
        Err(_) => fail(
            "program",
            "indexd is neither beside ctl nor in PATH",
            "install both programs into one folder",
        ),
    }
}

fn runtime_dir(dirs: &Dirs) -> Check {
    let name = "runtime-dir";
    let shown = dirs.runtime.display();
    if let Some(problem) = privacy_problem(&dirs.runtime) {
        return fail(name, format!("{shown} {problem}"), format!("rm -rf {shown}"));
    }
    match &dirs.runtime_note {
        Some(note) => {
            warn(name, format!("{note}; using {shown}"), "export XDG_RUNTIME_DIR=/run/user/$(id -u)")
        }
        None => ok(name, shown.to_string()),
    }
}

/// What keeps a folder from being private to this user; an absent one is created when needed.
#[cfg(unix)]
fn privacy_problem(dir: &Path) -> Option<&'static str> {
    use std::os::unix::fs::MetadataExt;
    let meta = std::fs::symlink_metadata(dir).ok()?;
    if !meta.is_dir() {
        Some("is not a folder")
    } else if meta.uid() != own_uid() {
        Some("belongs to another user")
    } else if meta.mode() & 0o077 != 0 {
        Some("is open to other users")
    } else {
        None
    }
}

#[cfg(not(unix))]
fn privacy_problem(dir: &Path) -> Option<&'static str> {
    (dir.exists() && !dir.is_dir()).then_some("is not a folder")
}

/// Whether a folder, or the nearest one above it that exists, can be written.
fn folder(name: &'static str, dir: &Path) -> Check {
    let existing = dir.ancestors().find(|d| d.exists()).unwrap_or(dir);
    let shown = dir.display();
    if !existing.is_dir() {
        return fail(
            name,
            format!("{} is not a folder", existing.display()),
            format!("move {} away", existing.display()),
        );
    }
    #[cfg(unix)]
    if rustix::fs::access(existing, rustix::fs::Access::WRITE_OK).is_err() {
        use std::os::unix::fs::MetadataExt;
        let is_own = existing.metadata().is_ok_and(|m| m.uid() == own_uid());
        let fix = if is_own { "chmod u+rwx" } else { "chown $(id -u)" };
        return fail(
            name,
            format!("{} cannot be written", existing.display()),
            format!("{fix} {}", existing.display()),
        );
    }
    ok(name, shown.to_string())
}

fn cache_dir(dirs: &Dirs) -> Check {
    let name = "cache-dir";
    let check = folder(name, &dirs.cache);
    if check.verdict != Verdict::Ok {
        return check;
    }
    #[cfg(unix)]
    if let Some(existing) = dirs.cache.ancestors().find(|d| d.exists())
        && let Ok(stat) = rustix::fs::statvfs(existing)
    {
        let free = stat.f_bavail * stat.f_frsize;
        let reason = format!("{}, {} free", dirs.cache.display(), bytes(free));
        if free < FREE_BYTES_WANTED {
            return warn(name, reason, "free some space, or set INDEXD_CACHE_DIR to a larger disk");
        }
        if is_network(existing) {
            return warn(name, format!("{reason}, on a network"), "set INDEXD_CACHE_DIR to a local disk");
        }
        return ok(name, reason);
    }
    check
}

/// Returns true if a folder is on a network file system. Memory maps and locks are not reliable there.
#[cfg(target_os = "linux")]
fn is_network(dir: &Path) -> bool {
    rustix::fs::statfs(dir).is_ok_and(|s| NETWORK.contains(&(s.f_type as u64 & 0xffff_ffff)))
}

#[cfg(all(unix, not(target_os = "linux")))]
fn is_network(_dir: &Path) -> bool {
    false
}

/// Whether file times and the clock agree; restarts compare them.
fn clock(dirs: &Dirs) -> Check {
    let newest = [dirs.log(), dirs.lock()].iter().filter_map(|p| p.metadata().ok()?.modified().ok()).max();
    match newest.and_then(|t| t.duration_since(SystemTime::now()).ok()) {
        Some(ahead) if ahead > Duration::from_secs(2) => warn(
            "clock",
            format!("files are {} s in the future", ahead.as_secs()),
            "set the clock (timedatectl set-ntp true)",
        ),
        _ => ok("clock", "agrees with the file system"),
    }
}

fn open_files() -> Check {
    #[cfg(unix)]
    {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
        if let Some(n) = limit.filter(|n| *n < FILES_WANTED) {
            return warn(
                "open-files",
                format!("at most {n} open files"),
                format!("ulimit -n {FILES_WANTED}"),
            );
        }
    }
    ok("open-files", "enough")
}

/// A limit of the system on watching.
fn watch_limit(name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(Path::new("/proc/sys/fs/inotify").join(name)).ok()?;
    text.trim().parse().ok()
}

/// Whether the user may have one more watcher. The daemon takes one, editors and other tools several each.
fn watchers() -> Check {
    const NAME: &str = "watchers";
    let Some(n) = watch_limit("max_user_instances") else { return ok(NAME, "no limit known") };
    #[cfg(target_os = "linux")]
    if let Err(rustix::io::Errno::MFILE) =
        rustix::fs::inotify::init(rustix::fs::inotify::CreateFlags::CLOEXEC)
    {
        return fail(
            NAME,
            format!("all {n} watchers of this user are taken; who comes later is not told of changes"),
            format!("sudo sysctl fs.inotify.max_user_instances={}", (4 * n).max(512)),
        );
    }
    ok(NAME, format!("up to {n}, of which indexd takes one"))
}

fn watches() -> Check {
    match watch_limit("max_user_watches") {
        Some(n) if n < WATCHES_WANTED => warn(
            "watches",
            format!("at most {n} watched folders; larger repositories are compared on every request"),
            format!("sudo sysctl fs.inotify.max_user_watches={}", 8 * WATCHES_WANTED),
        ),
        Some(n) => ok("watches", format!("up to {n} folders")),
        None => ok("watches", "no limit known"),
    }
}

fn last_fault(dirs: &Dirs) -> Check {
    let log = std::fs::read_to_string(dirs.log()).unwrap_or_default();
    match log.lines().rev().find(|l| l.contains("\"message\":\"fault\"")) {
        Some(line) => {
            let field = |name: &str| {
                serde_json::from_str::<serde_json::Value>(line).ok()?.get(name)?.as_str().map(str::to_owned)
            };
            let (time, place) = (field("timestamp").unwrap_or_default(), field("place").unwrap_or_default());
            warn(
                "faults",
                format!("last one {time} at {place}"),
                format!("please report it with {}", dirs.log().display()),
            )
        }
        None => ok("faults", "none in the log"),
    }
}

/// The settings as a daemon would read them.
fn config_alone() -> Check {
    let checked = launch::command().ok().and_then(|mut c| c.arg("--check-config").output().ok());
    match checked {
        Some(output) if output.status.success() => ok("config", "can be read"),
        Some(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            let message = said.split("\nhint: ").next().unwrap_or_default().trim_start_matches("indexd: ");
            let message: Vec<&str> = message.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
            fail("config", message.join(" "), ErrorCode::Config.hint())
        }
        None => fail("config", "cannot be checked without indexd", "install both programs into one folder"),
    }
}

/// The checks that need a running daemon.
fn daemon(common: &Common, dirs: &Dirs) -> Vec<Check> {
    let mut session = match Session::connect(common, Start::Never) {
        Ok(session) => session,
        Err(Failure::Error(e)) if dirs.socket().exists() => {
            return vec![warn(
                "socket",
                format!("{}: {}", dirs.socket().display(), e.message),
                "ctl daemon start",
            )];
        }
        Err(_) => {
            let socket = match dirs.lock_holder() {
                Some(id) => warn(
                    "socket",
                    format!("process {id}, a daemon that takes no more requests, is still ending"),
                    format!("wait for it, or kill {id}"),
                ),
                None => ok("socket", "no daemon is running; one starts when needed"),
            };
            return vec![socket, config_alone()];
        }
    };
    let quiet = &mut Progress::new(true);
    let status: StatusResult = match session.ask(Method::Status, &StatusParams {}, quiet) {
        Ok(status) => status,
        Err(Failure::Error(e)) => {
            return vec![fail(
                "socket",
                format!("the daemon does not answer: {}", e.message),
                "ctl daemon stop",
            )];
        }
        Err(_) => return Vec::new(),
    };
    let mut checks = vec![ok("socket", format!("{} answers", status.daemon.socket))];
    checks.extend(running(&status.daemon));
    match session.ask(Method::ConfigShow, &ConfigParams::default(), quiet) {
        Ok(ConfigResult { entries, .. }) => {
            let n = entries.iter().filter(|e| e.value != e.default).count();
            checks.push(ok("config", format!("{n} settings differ from the defaults")));
            let url = entries.iter().find(|e| e.key == "share.url").and_then(|e| e.value.as_str());
            checks.extend(url.filter(|url| !url.is_empty()).map(|_| share()));
        }
        Err(Failure::Error(e)) => checks.push(fail("config", e.message.clone(), e.data.hint.clone())),
        Err(_) => checks.push(fail("config", "cannot be read", "ctl config show")),
    }
    checks.extend(status.workspaces.iter().map(workspace));
    checks
}

/// Asks the store of published indexes, with the program that uses it.
fn share() -> Check {
    let name = "share";
    let asked = launch::installed("ctl-share").ok().and_then(|program| {
        let mut command = std::process::Command::new(program);
        command.args(["share", "status", "--json"]).stdin(std::process::Stdio::null()).output().ok()
    });
    let Some(asked) = asked else {
        return fail(name, "share.url is set and ctl-share is not installed", "install ctl-share beside ctl");
    };
    let said: Result<ShareStatus, _> = serde_json::from_slice(&asked.stdout);
    let failed: Result<Failed, _> = serde_json::from_slice(&asked.stderr);
    match (said, failed) {
        (Ok(s), _) => ok(name, format!("{} has {} states of this repository", s.url, s.n_states)),
        (_, Ok(failed)) => warn(name, failed.error.message, failed.error.data.hint.clone()),
        _ => warn(name, "the store cannot be asked", "ctl share status"),
    }
}

/// Whether the running daemon is the program that is installed.
fn running(daemon: &DaemonStatus) -> [Check; 2] {
    let version = match daemon.version.as_str() {
        v if v == env!("CARGO_PKG_VERSION") => ok("version", format!("{v} on both sides")),
        v => warn(
            "version",
            format!("the daemon is {v}, ctl is {}", env!("CARGO_PKG_VERSION")),
            "ctl daemon stop",
        ),
    };
    let executable = if daemon.executable.ends_with(" (deleted)") {
        warn("executable", "the running daemon's program was replaced", "ctl daemon stop")
    } else {
        ok("executable", daemon.executable.clone())
    };
    [version, executable]
}

/// How a workspace does. One whose folders the system does not watch answers truly and slowly, and
/// will do so until somebody does something: that fails.
fn workspace(w: &WorkspaceStatus) -> Check {
    let name = "workspace";
    let problems = if w.problems.is_empty() { w.watch.to_string() } else { w.problems.join("; ") };
    let command = w.problem_kinds.iter().find_map(|kind| kind.command());
    let all_ignored = w.problem_kinds.iter().position(|kind| *kind == Problem::AllIgnored);
    if let Some(f) = &w.failure {
        fail(name, format!("{}: {}", w.root, f.code), f.hint.clone())
    } else if w.watch == Watch::Degraded || command.is_some() {
        let fix = command.unwrap_or("ctl status");
        fail(name, format!("{}: {}", w.root, problems.replace(&format!(": {fix}"), "")), fix)
    } else if let Some((_, rule)) = all_ignored.and_then(|at| w.problems.get(at)?.split_once(": ")) {
        let fix = "take the pattern out of that file, or bring files back with ! in .indexdignore";
        fail(name, format!("{}: everything is ignored: {rule}", w.root), fix)
    } else if !w.problems.is_empty() {
        warn(name, format!("{}: {problems}", w.root), "ctl status")
    } else {
        ok(name, format!("{}: {}", w.root, w.state))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexd_proto::workspace::State;

    #[cfg(unix)]
    #[test]
    fn a_folder_is_private_when_nobody_else_has_any_right() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let open = Some("is open to other users");
        for (mode, problem) in [(0o700, None), (0o740, open), (0o710, open), (0o704, open), (0o701, open)] {
            std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(mode)).unwrap();
            assert_eq!(privacy_problem(dir.path()), problem, "{mode:o}");
        }
        let file = dir.path().join("file");
        std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o700)).unwrap();
        std::fs::write(&file, "").unwrap();
        assert_eq!(privacy_problem(&file), Some("is not a folder"));
        assert_eq!(privacy_problem(&dir.path().join("none")), None);
    }

    #[test]
    fn folders_that_cannot_be_watched_fail() {
        let status = |watch, problem: Option<(Problem, &str)>| WorkspaceStatus {
            root: "/r".into(),
            repo_id: "r".into(),
            state: State::Ready,
            failure: None,
            generation: 1,
            n_files: 1,
            n_pending: 0,
            watch,
            n_watched: 0,
            n_rescans: 0,
            n_extracted: 0,
            n_linked: 0,
            import: None,
            skipped_names: Vec::new(),
            n_skipped_names: 0,
            problems: problem.iter().map(|(_, sentence)| (*sentence).to_owned()).collect(),
            problem_kinds: problem.iter().map(|(kind, _)| *kind).collect(),
            progress: None,
            index_bytes: 0,
        };
        let check = |watch, problem, verdict, fix: &str| {
            let check = workspace(&status(watch, problem));
            assert_eq!((check.verdict, check.fix.as_str()), (verdict, fix), "{}", check.reason);
        };
        let unreadable = (Problem::Unreadable, "1 file may not be read and is not indexed");
        let remote = (Problem::RemoteFileSystem, "the file system is remote");
        check(Watch::Events, None, Verdict::Ok, "");
        check(Watch::Events, Some(unreadable), Verdict::Warn, "ctl status");
        check(Watch::Scan, Some(remote), Verdict::Warn, "ctl status");
        let limit = "the limit is reached: sudo sysctl fs.inotify.max_user_watches=524288";
        let fix = "sudo sysctl fs.inotify.max_user_watches=524288";
        check(Watch::Degraded, Some((Problem::WatchLimit, limit)), Verdict::Fail, fix);
        let limit = "others have taken all: sudo sysctl fs.inotify.max_user_instances=512";
        let fix = "sudo sysctl fs.inotify.max_user_instances=512";
        check(Watch::Scan, Some((Problem::NoWatcher, limit)), Verdict::Fail, fix);
        let empty = "no file is indexed: `*` in .gitignore:1 leaves out what is at the root";
        let fix = "take the pattern out of that file, or bring files back with ! in .indexdignore";
        check(Watch::Events, Some((Problem::AllIgnored, empty)), Verdict::Fail, fix);
        let refused = (Problem::Unwatchable, "some folders cannot be watched");
        check(Watch::Degraded, Some(refused), Verdict::Fail, "ctl status");
    }
}
