//! `ctl service`: the daemon under the user's service manager, which listens on its socket and starts
//! it with the first request.

use super::{print_own, say};
use crate::cli::Common;
use crate::failure::Failure;
use crate::launch;
use crate::session::{self, Session, Start, own_uid};
use indexd_proto::error::ErrorCode;
use indexd_proto::paths::Dirs;
use indexd_proto::printed::ServiceStatus;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One file of a service manager.
struct Unit {
    path: PathBuf,
    text: String,
}

/// Commands of a service manager, run in order; the last word of a failure is its own.
type Steps = Vec<Vec<String>>;

/// The files of a service manager, and what it is told.
struct Manager {
    units: Vec<Unit>,
    /// Ends the service that is loaded already, if there is one.
    replace: Steps,
    start: Steps,
    stop: Steps,
    /// Makes it forget files that are gone.
    reload: Steps,
    /// Fails when the service is not active.
    is_active: Steps,
}

/// Options of `service`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  ctl service install")]
pub struct ServiceArgs {
    #[command(subcommand)]
    command: ServiceCommand,
}

#[derive(Clone, Copy, Debug, clap::Subcommand)]
enum ServiceCommand {
    /// Write and start it: the manager listens on the socket and starts the daemon on demand
    #[command(after_help = "Example:\n  ctl service install")]
    Install,
    /// Stop and remove it
    #[command(after_help = "Example:\n  ctl service uninstall")]
    Uninstall,
    /// Say whether it is installed and active
    #[command(after_help = "Example:\n  ctl service status")]
    Status,
}

/// Installs, removes or describes the service.
pub fn service(common: &Common, args: &ServiceArgs) -> Result<(), Failure> {
    let dirs = session::own_dirs()?;
    let program = launch::installed("indexd")?;
    let manager = match cfg!(target_os = "macos") {
        true => launchd(&dirs, &program),
        false => systemd(&dirs, &program),
    };
    match args.command {
        ServiceCommand::Install => install(common, &manager),
        ServiceCommand::Uninstall => uninstall(common, &manager),
        ServiceCommand::Status => status(common, &manager),
    }
}

/// Stands in the files that we write; a file without it is the user's own.
const MARK: &str = "written by `ctl service install`";

impl Unit {
    /// Whether a file of somebody else stands in its place.
    fn is_taken(&self) -> bool {
        let is_own = |text: String| text.contains(MARK);
        match std::fs::symlink_metadata(&self.path) {
            Ok(meta) => !meta.is_file() || !std::fs::read_to_string(&self.path).is_ok_and(is_own),
            Err(_) => false,
        }
    }
}

/// Refuses to touch files of the user.
fn check_own(units: &[Unit]) -> Result<(), Failure> {
    let Some(unit) = units.iter().find(|unit| unit.is_taken()) else { return Ok(()) };
    let message = format!("{} is not written by `ctl service install`", unit.path.display());
    Err(Failure::hinted(
        ErrorCode::CannotCreate,
        message,
        "move it away, or keep it and do without this command",
    ))
}

fn install(common: &Common, manager: &Manager) -> Result<(), Failure> {
    check_own(&manager.units)?;
    for unit in &manager.units {
        let failed = |e: std::io::Error| {
            Failure::new(ErrorCode::CannotCreate, format!("cannot write {}: {e}", unit.path.display()))
        };
        if let Some(dir) = unit.path.parent() {
            std::fs::create_dir_all(dir).map_err(failed)?;
        }
        std::fs::write(&unit.path, &unit.text).map_err(failed)?;
    }
    // A daemon that was started by hand has the socket.
    if let Ok(session) = Session::connect(common, Start::Never) {
        session.stop()?;
    }
    let _ = run(&manager.replace);
    run(&manager.start).map_err(|said| {
        Failure::hinted(
            ErrorCode::NotSupported,
            format!("the service is written and cannot be started: {said}"),
            "start it where your session's service manager runs, with `ctl service install`",
        )
    })?;
    say(common, &format!("installed {}", names(&manager.units)))
}

fn uninstall(common: &Common, manager: &Manager) -> Result<(), Failure> {
    let units = &manager.units;
    if !units.iter().any(|unit| unit.path.exists()) {
        return say(common, "not installed");
    }
    check_own(units)?;
    let stopped = run(&manager.stop);
    for unit in units {
        match std::fs::remove_file(&unit.path) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => return Err(e.into()),
            _ => {}
        }
    }
    // The manager forgets what it read, where it runs at all.
    let _ = run(&manager.reload);
    match stopped {
        Ok(()) => say(common, &format!("removed {}", names(units))),
        Err(said) => say(common, &format!("removed {}; it was not running: {said}", names(units))),
    }
}

fn status(common: &Common, manager: &Manager) -> Result<(), Failure> {
    let units = &manager.units;
    let is_installed = units.iter().all(|unit| unit.path.exists());
    let is_current = units.iter().all(|u| std::fs::read_to_string(&u.path).is_ok_and(|text| text == u.text));
    let runs = is_installed && run(&manager.is_active).is_ok();
    let files = units.iter().map(|u| u.path.display().to_string()).collect();
    let status = ServiceStatus { installed: is_installed, current: is_current, active: runs, files };
    print_own(common, "ServiceStatus", &status, |_, _| {
        let state = match (is_installed, is_current, runs) {
            (false, ..) => "not installed",
            (true, false, _) => "installed for another program or other folders: run `ctl service install`",
            (true, true, false) => "installed, not active",
            (true, true, true) => "installed and active",
        };
        format!("{state}\n")
    })?;
    if is_installed { Ok(()) } else { Err(Failure::NoResult) }
}

fn names(units: &[Unit]) -> String {
    units.iter().map(|u| u.path.display().to_string()).collect::<Vec<_>>().join(" and ")
}

/// Runs commands until one fails; gives what it said.
fn run(steps: &Steps) -> Result<(), String> {
    for step in steps {
        let Some((program, args)) = step.split_first() else { continue };
        let output = Command::new(program).args(args).stdin(Stdio::null()).output();
        let output = output.map_err(|e| format!("{program}: {e}"))?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr);
            let line = said.lines().last().unwrap_or("no reason given").trim();
            return Err(format!("{program}: {line}"));
        }
    }
    Ok(())
}

fn step(words: &[&str]) -> Vec<String> {
    words.iter().map(|w| (*w).to_owned()).collect()
}

/// The variables that decide where the daemon's files are, as this process has them.
fn environment() -> Vec<(String, String)> {
    let is_kept = |name: &str| {
        matches!(name, "XDG_CONFIG_HOME" | "XDG_CACHE_HOME" | "XDG_STATE_HOME")
            || (name.starts_with("INDEXD_") && name.ends_with("_DIR"))
    };
    let mut kept: Vec<_> = std::env::vars().filter(|(name, _)| is_kept(name)).collect();
    kept.sort();
    kept
}

const SERVICE: &str = "indexd.service";
const SOCKET: &str = "indexd.socket";

fn systemd(dirs: &Dirs, program: &Path) -> Manager {
    // Where the manager looks, which is beside our own folder of settings unless that was moved.
    let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|p| p.is_absolute());
    let dir = config.unwrap_or_else(|| dirs.home.join(".config")).join("systemd/user");
    let systemctl = |words: &[&str]| step(&[&["systemctl", "--user"], words].concat());
    Manager {
        units: vec![
            Unit { path: dir.join(SOCKET), text: systemd_socket(&dirs.socket()) },
            Unit { path: dir.join(SERVICE), text: systemd_service(program, &environment()) },
        ],
        replace: Vec::new(),
        start: vec![
            systemctl(&["daemon-reload"]),
            systemctl(&["enable", SOCKET]),
            systemctl(&["restart", SOCKET]),
        ],
        stop: vec![systemctl(&["disable", "--now", SOCKET, SERVICE])],
        reload: vec![systemctl(&["daemon-reload"])],
        is_active: vec![systemctl(&["is-active", SOCKET])],
    }
}

fn launchd(dirs: &Dirs, program: &Path) -> Manager {
    let path = dirs.home.join("Library/LaunchAgents/indexd.plist");
    let domain = format!("gui/{}", own_uid());
    let name = format!("{domain}/indexd");
    let stop = vec![step(&["launchctl", "bootout", &name])];
    Manager {
        replace: stop.clone(),
        start: vec![step(&["launchctl", "bootstrap", &domain, &path.display().to_string()])],
        stop,
        reload: Vec::new(),
        is_active: vec![step(&["launchctl", "print", &name])],
        units: vec![Unit { path, text: launchd_plist(program, &environment()) }],
    }
}

/// A word of a unit: `%` begins a specifier there, and quotes hold spaces.
fn unit_word(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%"))
}

/// The unit of the socket: the manager listens, and starts the service with the first client.
fn systemd_socket(socket: &Path) -> String {
    let path = socket.display().to_string().replace('%', "%%");
    format!(
        "# {MARK}\n[Unit]\nDescription=Socket of the code index\n\n\
         [Socket]\nListenStream={path}\nSocketMode=0600\nDirectoryMode=0700\n\n\
         [Install]\nWantedBy=sockets.target\n"
    )
}

fn systemd_service(program: &Path, environment: &[(String, String)]) -> String {
    let mut text = format!(
        "# {MARK}\n[Unit]\nDescription=Code index and context packs\nRequires=indexd.socket\nAfter=indexd.socket\n\n\
         [Service]\nExecStart={}\n",
        unit_word(&program.display().to_string())
    );
    for (name, value) in environment {
        let _ = writeln!(text, "Environment={}", unit_word(&format!("{name}={value}")));
    }
    text.push_str(
        "Restart=on-failure\nRestartSec=1\nNice=5\nIOSchedulingClass=idle\nUMask=0077\n\
         NoNewPrivileges=yes\nRestrictAddressFamilies=AF_UNIX\n\n[Install]\nAlso=indexd.socket\n",
    );
    text
}

fn launchd_plist(program: &Path, environment: &[(String, String)]) -> String {
    let xml = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut variables = String::from("<key>INDEXD_DAEMON_IDLE_EXIT_S</key><string>0</string>");
    for (name, value) in environment {
        let _ = write!(variables, "<key>{}</key><string>{}</string>", xml(name), xml(value));
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \
         \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n\
         <!-- {MARK} -->\n<plist version=\"1.0\">\n<dict>\n\
         \x20 <key>Label</key><string>indexd</string>\n\
         \x20 <key>ProgramArguments</key><array><string>{}</string></array>\n\
         \x20 <key>EnvironmentVariables</key><dict>{variables}</dict>\n\
         \x20 <key>RunAtLoad</key><true/>\n\
         \x20 <key>KeepAlive</key><dict><key>SuccessfulExit</key><false/></dict>\n\
         \x20 <key>ThrottleInterval</key><integer>10</integer>\n\
         \x20 <key>ProcessType</key><string>Background</string>\n\
         </dict>\n</plist>\n",
        xml(&program.display().to_string())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_quote_what_managers_read_otherwise() {
        let service = systemd_service(
            Path::new("/opt/my programs/100%/indexd"),
            &[("XDG_CACHE_HOME".into(), "/c d".into())],
        );
        assert!(service.contains("ExecStart=\"/opt/my programs/100%%/indexd\"\n"), "{service}");
        assert!(service.contains("Environment=\"XDG_CACHE_HOME=/c d\"\n"), "{service}");
        let socket = systemd_socket(Path::new("/run/user/1/indexd/s"));
        assert!(socket.contains("ListenStream=/run/user/1/indexd/s\nSocketMode=0600\n"), "{socket}");
        let plist = launchd_plist(Path::new("/a&b/indexd"), &[]);
        assert!(plist.contains("<string>/a&amp;b/indexd</string>"), "{plist}");
    }

    #[test]
    fn a_unit_of_the_user_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(SERVICE);
        let unit = Unit { path: path.clone(), text: systemd_service(Path::new("/bin/x"), &[]) };
        assert!(!unit.is_taken());
        std::fs::write(&path, &unit.text).unwrap();
        assert!(!unit.is_taken());
        std::fs::write(&path, "[Service]\nExecStart=/home/me/indexd --mine\n").unwrap();
        assert!(check_own(&[unit]).is_err());
    }

    /// Where the tool of the manager is installed, it has to like the units.
    #[cfg(target_os = "linux")]
    #[test]
    fn the_manager_understands_the_units() {
        let dir = std::env::temp_dir().join(format!("indexd-units-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let paths = [dir.join(SOCKET), dir.join(SERVICE)];
        std::fs::write(&paths[0], systemd_socket(Path::new("/run/user/1/indexd/s"))).unwrap();
        std::fs::write(&paths[1], systemd_service(Path::new("/bin/true"), &environment())).unwrap();
        let verified = Command::new("systemd-analyze")
            .args(["--user", "--man=no", "verify"])
            .args(&paths)
            .env("XDG_RUNTIME_DIR", &dir)
            .output();
        std::fs::remove_dir_all(&dir).unwrap();
        match verified {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
            verified => {
                let output = verified.unwrap();
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                assert!(output.status.success() && !said.contains("indexd."), "{said}");
            }
        }
    }
}
