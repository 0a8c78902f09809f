//! `ctl doctor`: what could keep this from working, each check with a reason and one remedy.
//!
//! Nothing is started or changed: the checks look at the system as it is.

use super::{doctor_clients, print_own};
use crate::cli::Common;
use crate::failure::Failure;
use crate::launch;
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

/// The result of a check: how it ended, the reason, and the remedy.
pub(super) type Finding = (Verdict, String, String);

pub(super) fn ok(reason: impl Into<String>) -> Finding {
    (Verdict::Ok, reason.into(), String::new())
}

pub(super) fn warn(reason: impl Into<String>, fix: impl Into<String>) -> Finding {
    (Verdict::Warn, reason.into(), fix.into())
}

pub(super) fn fail(reason: impl Into<String>, fix: impl Into<String>) -> Finding {
    (Verdict::Fail, reason.into(), fix.into())
}

/// Options of `doctor`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  ctl doctor --json")]
pub struct DoctorArgs {}

/// Runs every check; exit status 69 when one fails.
pub fn doctor(common: &Common, _: &DoctorArgs) -> Result<(), Failure> {
    let dirs = session::dirs()?;
    let mut findings = vec![
        ("program", program()),
        ("runtime-dir", runtime_dir(&dirs)),
        ("config-dir", folder(&dirs.config)),
        ("state-dir", folder(&dirs.state)),
        ("cache-dir", cache_dir(&dirs)),
        ("clock", clock(&dirs)),
        ("open-files", open_files()),
        ("watches", watches()),
        ("watchers", watchers()),
        ("faults", last_fault(&dirs)),
        ("agents", doctor_clients::agents(common)),
        ("clients", doctor_clients::stale()),
    ];
    findings.extend(daemon(common, &dirs));
    let check = |(name, (verdict, reason, fix)): (&str, Finding)| Check {
        name: name.to_owned(),
        verdict,
        reason,
        fix,
    };
    let checks: Vec<Check> = findings.into_iter().map(check).collect();
    let failed = checks.iter().any(|c| c.verdict == Verdict::Fail);
    print_own(common, "Doctor", &Doctor { ok: !failed, checks }, |doctor, style| {
        doctor.checks.iter().map(|check| check_text(check, style)).collect()
    })?;
    if failed { Err(Failure::Status(69)) } else { Ok(()) }
}

fn check_text(check: &Check, style: Style) -> String {
    let mark = match check.verdict {
        Verdict::Ok => style.good("ok  "),
        Verdict::Warn => style.warn("warn"),
        Verdict::Fail => style.bad("fail"),
    };
    let mut out = format!("{mark} {:<12} {}\n", check.name, safe_line(&check.reason));
    if !check.fix.is_empty() {
        out += &format!("     {:<12} {}\n", "", style.dim(&safe_line(&check.fix)));
    }
    out
}

fn program() -> Finding {
    match launch::installed("indexd") {
        Ok(path) => ok(path.display().to_string()),
        Err(_) => fail("indexd is neither beside ctl nor in PATH", "install both programs into one folder"),
    }
}

fn runtime_dir(dirs: &Dirs) -> Finding {
    let shown = dirs.runtime.display();
    if let Some(problem) = privacy_problem(&dirs.runtime) {
        return fail(format!("{shown} {problem}"), format!("rm -rf {shown}"));
    }
    match &dirs.runtime_note {
        Some(note) => warn(format!("{note}; using {shown}"), "export XDG_RUNTIME_DIR=/run/user/$(id -u)"),
        None => ok(shown.to_string()),
    }
}

/// What keeps a folder from being private to this user; an absent one is created when needed.
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

/// Whether a folder, or the nearest one above it that exists, can be written.
fn folder(dir: &Path) -> Finding {
    let existing = dir.ancestors().find(|d| d.exists()).unwrap_or(dir);
    let shown = dir.display();
    if !existing.is_dir() {
        return fail(
            format!("{} is not a folder", existing.display()),
            format!("move {} away", existing.display()),
        );
    }
    if rustix::fs::access(existing, rustix::fs::Access::WRITE_OK).is_err() {
        use std::os::unix::fs::MetadataExt;
        let is_own = existing.metadata().is_ok_and(|m| m.uid() == own_uid());
        let fix = if is_own { "chmod u+rwx" } else { "chown $(id -u)" };
        return fail(
            format!("{} cannot be written", existing.display()),
            format!("{fix} {}", existing.display()),
        );
    }
    ok(shown.to_string())
}

fn cache_dir(dirs: &Dirs) -> Finding {
    let found = folder(&dirs.cache);
    if found.0 != Verdict::Ok {
        return found;
    }
    if let Some(existing) = dirs.cache.ancestors().find(|d| d.exists())
        && let Ok(stat) = rustix::fs::statvfs(existing)
    {
        let free = stat.f_bavail * stat.f_frsize;
        let reason = format!("{}, {} free", dirs.cache.display(), bytes(free));
        if free < FREE_BYTES_WANTED {
            return warn(reason, "free some space, or set INDEXD_CACHE_DIR to a larger disk");
        }
        if is_network(existing) {
            return warn(format!("{reason}, on a network"), "set INDEXD_CACHE_DIR to a local disk");
        }
        return ok(reason);
    }
    found
}

/// Returns true if a folder is on a network file system. Memory maps and locks are not reliable there.
#[cfg(target_os = "linux")]
fn is_network(dir: &Path) -> bool {
    rustix::fs::statfs(dir).is_ok_and(|s| NETWORK.contains(&(s.f_type as u64 & 0xffff_ffff)))
}

#[cfg(not(target_os = "linux"))]
fn is_network(_dir: &Path) -> bool {
    false
}

/// Whether file times and the clock agree; restarts compare them.
fn clock(dirs: &Dirs) -> Finding {
    let newest = [dirs.log(), dirs.lock()].iter().filter_map(|p| p.metadata().ok()?.modified().ok()).max();
    match newest.and_then(|t| t.duration_since(SystemTime::now()).ok()) {
        Some(ahead) if ahead > Duration::from_secs(2) => warn(
            format!("files are {} s in the future", ahead.as_secs()),
            "set the clock (timedatectl set-ntp true)",
        ),
        _ => ok("agrees with the file system"),
    }
}

fn open_files() -> Finding {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    match limit.filter(|n| *n < FILES_WANTED) {
        Some(n) => warn(format!("at most {n} open files"), format!("ulimit -n {FILES_WANTED}")),
        None => ok("enough"),
    }
}

/// A limit of the system on watching.
fn watch_limit(name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(Path::new("/proc/sys/fs/inotify").join(name)).ok()?;
    text.trim().parse().ok()
}

/// Whether the user may have one more watcher. The daemon takes one, editors and other tools several each.
fn watchers() -> Finding {
    let Some(n) = watch_limit("max_user_instances") else { return ok("no limit known") };
    #[cfg(target_os = "linux")]
    if let Err(rustix::io::Errno::MFILE) =
        rustix::fs::inotify::init(rustix::fs::inotify::CreateFlags::CLOEXEC)
    {
        return fail(
            format!("all {n} watchers of this user are taken; who comes later is not told of changes"),
            format!("sudo sysctl fs.inotify.max_user_instances={}", (4 * n).max(512)),
        );
    }
    ok(format!("up to {n}, of which indexd takes one"))
}

fn watches() -> Finding {
    match watch_limit("max_user_watches") {
        Some(n) if n < WATCHES_WANTED => warn(
            format!("at most {n} watched folders; larger repositories are compared on every request"),
            format!("sudo sysctl fs.inotify.max_user_watches={}", 8 * WATCHES_WANTED),
        ),
        Some(n) => ok(format!("up to {n} folders")),
        None => ok("no limit known"),
    }
}

fn last_fault(dirs: &Dirs) -> Finding {
    let log = std::fs::read_to_string(dirs.log()).unwrap_or_default();
    match log.lines().rev().find(|l| l.contains("\"message\":\"fault\"")) {
        Some(line) => {
            let field = |name: &str| {
                serde_json::from_str::<serde_json::Value>(line).ok()?.get(name)?.as_str().map(str::to_owned)
            };
            let (time, place) = (field("timestamp").unwrap_or_default(), field("place").unwrap_or_default());
            warn(
                format!("last one {time} at {place}"),
                format!("please report it with {}", dirs.log().display()),
            )
        }
        None => ok("none in the log"),
    }
}

/// The settings as a daemon would read them.
fn config_alone() -> Finding {
    let checked = launch::command().ok().and_then(|mut c| c.arg("--check-config").output().ok());
    match checked {
        Some(output) if output.status.success() => ok("can be read"),
        Some(output) => {
            let said = String::from_utf8_lossy(&output.stderr);
            let message = said.split("\nhint: ").next().unwrap_or_default().trim_start_matches("indexd: ");
            let message: Vec<&str> = message.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
            fail(message.join(" "), ErrorCode::Config.hint())
        }
        None => fail("cannot be checked without indexd", "install both programs into one folder"),
    }
}

/// The checks that need a running daemon.
fn daemon(common: &Common, dirs: &Dirs) -> Vec<(&'static str, Finding)> {
    let mut session = match Session::connect(common, Start::Never) {
        Ok(session) => session,
        Err(Failure::Error(e)) if dirs.socket().exists() => {
            let said = format!("{}: {}", dirs.socket().display(), e.message);
            return vec![("socket", warn(said, "ctl daemon start"))];
        }
        Err(_) => {
            let socket = match dirs.lock_holder() {
                Some(id) => warn(
                    format!("process {id}, a daemon that takes no more requests, is still ending"),
                    format!("wait for it, or kill {id}"),
                ),
                None => ok("no daemon is running; one starts when needed"),
            };
            return vec![("socket", socket), ("config", config_alone())];
        }
    };
    let status: StatusResult = match session.ask(Method::Status, &StatusParams {}) {
        Ok(status) => status,
        Err(Failure::Error(e)) => {
            let said = format!("the daemon does not answer: {}", e.message);
            return vec![("socket", fail(said, "ctl daemon stop"))];
        }
        Err(_) => return Vec::new(),
    };
    let mut findings = vec![
        ("socket", ok(format!("{} answers", status.daemon.socket))),
        ("version", version(&status.daemon)),
        ("executable", executable(&status.daemon)),
    ];
    match session.ask(Method::ConfigShow, &ConfigParams::default()) {
        Ok(ConfigResult { entries, .. }) => {
            let n = entries.iter().filter(|e| e.value != e.default).count();
            findings.push(("config", ok(format!("{n} settings differ from the defaults"))));
            let url = entries.iter().find(|e| e.key == "share.url").and_then(|e| e.value.as_str());
            findings.extend(url.filter(|url| !url.is_empty()).map(|_| ("share", share())));
        }
        Err(Failure::Error(e)) => findings.push(("config", fail(e.message.clone(), e.data.hint.clone()))),
        Err(_) => findings.push(("config", fail("cannot be read", "ctl config show"))),
    }
    findings.extend(status.workspaces.iter().map(|w| ("workspace", workspace(w))));
    findings
}

/// Asks the store of published indexes, with the program that uses it.
fn share() -> Finding {
    let asked = launch::installed("ctl-share").ok().and_then(|program| {
        let mut command = std::process::Command::new(program);
        command.args(["share", "status", "--json"]).stdin(std::process::Stdio::null()).output().ok()
    });
    let Some(asked) = asked else {
        return fail("share.url is set and ctl-share is not installed", "install ctl-share beside ctl");
    };
    let said: Result<ShareStatus, _> = serde_json::from_slice(&asked.stdout);
    let failed: Result<Failed, _> = serde_json::from_slice(&asked.stderr);
    match (said, failed) {
        (Ok(s), _) => ok(format!("{} has {} states of this repository", s.url, s.n_states)),
        (_, Ok(failed)) => warn(failed.error.message, failed.error.data.hint.clone()),
        _ => warn("the store cannot be asked", "ctl share status"),
    }
}

/// Compares the release of the running daemon with this one.
fn version(daemon: &DaemonStatus) -> Finding {
    match daemon.version.as_str() {
        v if v == env!("CARGO_PKG_VERSION") => ok(format!("{v} on both sides")),
        v => warn(format!("the daemon is {v}, ctl is {}", env!("CARGO_PKG_VERSION")), "ctl daemon stop"),
    }
}

/// Compares the program of the running daemon with the one that is installed.
fn executable(daemon: &DaemonStatus) -> Finding {
    match daemon.executable.ends_with(" (deleted)") {
        true => warn("the running daemon's program was replaced", "ctl daemon stop"),
        false => ok(daemon.executable.clone()),
    }
}

/// How a workspace does. One whose folders the system does not watch answers truly and slowly, and
/// will do so until somebody does something: that fails.
fn workspace(w: &WorkspaceStatus) -> Finding {
    let problems = if w.problems.is_empty() { w.watch.to_string() } else { w.problems.join("; ") };
    let command = w.problem_kinds.iter().find_map(|kind| kind.command());
    let all_ignored = w.problem_kinds.iter().position(|kind| *kind == Problem::AllIgnored);
    if let Some(f) = &w.failure {
        fail(format!("{}: {}", w.root, f.code), f.hint.clone())
    } else if w.watch == Watch::Degraded || command.is_some() {
        let fix = command.unwrap_or("ctl status");
        fail(format!("{}: {}", w.root, problems.replace(&format!(": {fix}"), "")), fix)
    } else if let Some((_, rule)) = all_ignored.and_then(|at| w.problems.get(at)?.split_once(": ")) {
        let fix = "take the pattern out of that file, or bring files back with ! in .indexdignore";
        fail(format!("{}: everything is ignored: {rule}", w.root), fix)
    } else if !w.problems.is_empty() {
        warn(format!("{}: {problems}", w.root), "ctl status")
    } else {
        ok(format!("{}: {}", w.root, w.state))
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
            let (found, reason, remedy) = workspace(&status(watch, problem));
            assert_eq!((found, remedy.as_str()), (verdict, fix), "{reason}");
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
