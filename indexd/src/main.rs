//! `indexd`: the daemon's program. Without options it serves in the foreground.

use clap::Parser;
use indexd::config::Config;
use indexd::server::connection::{self, Timeouts};
use indexd::server::daemon::{self, Lock, Socket, StartError};
use indexd::server::dispatch::Identity;
use indexd::server::limits::{CI_IDLE_EXIT, LOCK_TIMEOUT, THREAD_KEPT, THREADS_MAX};
use indexd::server::service::Service;
use indexd::server::{Server, convert, log};
use indexd::workspace::WorkspaceError;
use indexd::workspace::indexing::recovery::FAULTS;
use indexd_proto::error::{ErrorCode, ErrorObject};
use indexd_proto::paths::Dirs;
use indexd_proto::{PROTOCOL_VERSION, PROTOCOL_VERSION_MIN};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The allocator, which gives pages back to the system after a build; that of the C library keeps them. The
/// parsers, LMDB and zstd are C and use it as well, which makes parsing a tenth faster. With its version 2
/// the peak of a build is a tenth to a fifth lower than with version 3, in no more time, and no option has to
/// be set.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Keeps the code index of each of your repositories and answers context packs from it.
#[derive(Debug, Parser)]
#[command(
    name = "indexd",
    disable_version_flag = true,
    after_help = "Most people never run this: `ctl` starts it when it is needed."
)]
struct Args {
    /// Start in the background and return when the daemon answers
    #[arg(long, conflicts_with_all = ["stdio", "verify"])]
    detach: bool,
    /// The process that `--detach` leaves behind
    #[arg(long, hide = true)]
    detached: bool,
    /// Serve the protocol on standard input and output until the input ends
    #[arg(long, conflicts_with = "verify")]
    stdio: bool,
    /// Check an index folder and say whether it is sound
    #[arg(long, value_name = "DIR")]
    verify: Option<PathBuf>,
    /// With `--verify`: only whether each row is the one that was written.
    #[arg(long, hide = true, requires = "verify")]
    rows: bool,
    /// Check the configuration file and variables and say whether they are right
    #[arg(long, conflicts_with_all = ["stdio", "verify", "detach"])]
    check_config: bool,
    /// Print the version
    #[arg(short = 'V', long)]
    version: bool,
    /// With --version: print one JSON object
    #[arg(long, requires = "version")]
    json: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    #[cfg(unix)]
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
    // The allocator asks for huge pages. A background process pays more for them in memory and in clearing it
    // than they save here. A kernel without them is as good.
    #[cfg(target_os = "linux")]
    rustix::thread::disable_transparent_huge_pages(true).ok();
    let result = match &args {
        Args { version: true, json, .. } => {
            print_version(*json);
            Ok(())
        }
        Args { verify: Some(dir), rows: true, .. } => {
            indexd_store::verify_rows(dir).map_err(|e| convert::store_error(&e))
        }
        Args { verify: Some(dir), .. } => indexd_store::verify(dir).map_err(|e| convert::store_error(&e)),
        Args { check_config: true, .. } => dirs().and_then(|dirs| config(&dirs)).map(|config| {
            for ignored in config.ignored() {
                eprintln!("indexd: {ignored}");
            }
        }),
        Args { detach: true, .. } => detach(),
        _ => serve(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("indexd: {}\nhint: {}", error.message, error.data.hint);
            ExitCode::from(error.data.exit)
        }
    }
}

fn print_version(json: bool) {
    let version = env!("CARGO_PKG_VERSION");
    if json {
        let protocol = serde_json::json!({"min": PROTOCOL_VERSION_MIN, "max": PROTOCOL_VERSION});
        println!("{}", serde_json::json!({"name": "indexd", "version": version, "protocol": protocol}));
    } else {
        println!("indexd {version}");
    }
}

fn dirs() -> Result<Dirs, ErrorObject> {
    Dirs::detect(indexd_os::own_uid()).map_err(|e| {
        ErrorObject::new(ErrorCode::Config, e.to_string()).with_hint("set HOME to your home folder")
    })
}

/// The user's settings.
fn config(dirs: &Dirs) -> Result<Config, ErrorObject> {
    Config::load(&dirs.config, std::env::vars_os().filter_map(text))
        .map_err(|e| WorkspaceError::from(e).into())
}

/// Starts a process without a terminal, and waits until it answers. It is started by a child that ends, so
/// that it does not remain a child of the caller.
fn detach() -> Result<(), ErrorObject> {
    let dirs = dirs()?;
    let unavailable = |what: String| ErrorObject::new(ErrorCode::DaemonUnavailable, what);
    let program =
        std::env::current_exe().map_err(|e| unavailable(format!("cannot find the program: {e}")))?;
    let mut command = Command::new(program);
    command.arg("--detached").current_dir("/");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    indexd_os::inherit_nothing(&mut command);
    let mut child = command.spawn().map_err(|e| unavailable(format!("cannot start: {e}")))?;
    let until = Instant::now() + LOCK_TIMEOUT;
    while Instant::now() < until {
        if daemon::answers(&dirs.clone().of_the_daemon().socket()) {
            return Ok(());
        }
        if let Ok(Some(status)) = child.try_wait() {
            let mut said = String::new();
            if let Some(stderr) = &mut child.stderr {
                let _ = std::io::Read::read_to_string(stderr, &mut said);
            }
            let line = |prefix: &str| said.lines().find_map(|l| l.strip_prefix(prefix)).map(str::to_owned);
            let code = ErrorCode::ALL.iter().copied().find(|c| Some(i32::from(c.exit())) == status.code());
            let message = line("indexd: ").unwrap_or_else(|| format!("the daemon ended at once ({status})"));
            let error = ErrorObject::new(code.unwrap_or(ErrorCode::DaemonUnavailable), message);
            return Err(match line("hint: ") {
                Some(hint) => error.with_hint(hint),
                None => error,
            });
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    Err(match dirs.lock_holder() {
        Some(id) if id != child.id() => {
            unavailable(format!("process {id}, the daemon before, is still ending"))
                .with_hint(format!("wait for it, or end it with `kill {id}`; the index is a cache"))
        }
        _ => unavailable("the daemon does not answer".to_owned()),
    })
}

/// Bytes of address space for the stacks of the threads that parse and for the map of an index.
const ADDRESS_SPACE_MIN: u64 = 768 << 20;

fn serve(args: &Args) -> Result<(), ErrorObject> {
    let dirs = dirs()?;
    if let Some(bytes) = indexd_os::address_space().filter(|bytes| *bytes < ADDRESS_SPACE_MIN) {
        let said = format!(
            "the address space is limited to {} MiB, {} are needed",
            bytes >> 20,
            ADDRESS_SPACE_MIN >> 20
        );
        let error = ErrorObject::new(ErrorCode::DaemonUnavailable, said);
        return Err(error.with_hint("run it under `ulimit -v unlimited`; what is reserved takes no memory"));
    }
    // Before anything of a repository is in memory.
    let undumped = indexd_os::forbid_core_dumps();
    let open_files = indexd_os::raise_open_files();
    #[cfg(unix)]
    if args.detached {
        // Fails only for the leader of a group, which has no terminal to leave.
        let _ = rustix::process::setsid();
    }
    let lock = match Lock::take(&dirs) {
        Ok(lock) => lock,
        // A daemon runs already, which is the aim.
        Err(StartError::Running) if args.detached => return Ok(()),
        Err(StartError::Running) if args.stdio => return bridge(&dirs.of_the_daemon()),
        Err(e) => return Err(start_error(&e)),
    };
    log::init(&dirs).map_err(|e| start_error(&StartError::Io { path: dirs.state.clone(), source: e }))?;
    if let Err(error) = undumped {
        tracing::warn!(%error, "a crash may leave a core file");
    }
    if let Err(error) = indexd_os::ends::note_faults(&dirs.cache.join(FAULTS)) {
        tracing::warn!(%error, "whatever ends this daemon, no index is blamed for it");
    }
    if let Err(error) = open_files {
        tracing::warn!(%error, "many workspaces may be more than the files that can be open");
    }
    answer_requests(args, &dirs, &lock)?;
    drop(lock);
    Ok(())
}

/// Serves until it is told to end, or has had no request for long.
fn answer_requests(args: &Args, dirs: &Dirs, lock: &Lock) -> Result<(), ErrorObject> {
    let config = Arc::new(config(dirs)?);
    for ignored in config.ignored() {
        tracing::warn!("{ignored}");
    }
    let idle_exit = idle_exit(&config);
    let service = Service::open(dirs, config)?;
    let identity = Identity {
        socket: dirs.socket().display().to_string(),
        log: dirs.log().display().to_string(),
        idle_exit,
    };
    let server = Server::new(Arc::new(service), identity);
    // One thread serves all sockets: it only passes lines on, and each change of threads on the way of a
    // request costs more than the work there.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .max_blocking_threads(THREADS_MAX)
        .thread_keep_alive(THREAD_KEPT)
        .enable_all()
        .build()
        .map_err(|e| ErrorObject::new(ErrorCode::Internal, format!("cannot start threads: {e}")))?;
    runtime.block_on(async {
        let socket = listen(dirs, lock).map_err(|e| start_error(&e))?;
        tracing::info!(pid = std::process::id(), version = env!("CARGO_PKG_VERSION"), "serves");
        let stdio = stdio(Arc::clone(&server), args.stdio);
        let ended = daemon::run(Arc::clone(&server), socket, stdio).await;
        ended.map_err(|e| ErrorObject::new(ErrorCode::Internal, format!("cannot wait for signals: {e}")))
    })?;
    // A thread that hangs in the file system must not keep the process.
    runtime.shutdown_timeout(Duration::from_secs(1));
    tracing::info!("ended");
    Ok(())
}

/// The socket that a service manager has passed, else one of our own.
fn listen(dirs: &Dirs, lock: &Lock) -> Result<Socket, StartError> {
    #[cfg(unix)]
    if let Some(passed) = Socket::passed(dirs, lock)? {
        return Ok(passed);
    }
    Socket::bind(dirs, lock)
}

/// Serves standard input and output when asked to; ends with the input. Otherwise never ends.
async fn stdio(server: Arc<Server>, wanted: bool) {
    if wanted && let Some(client) = server.connect() {
        connection::serve(
            client,
            tokio::io::stdin(),
            tokio::io::stdout(),
            Timeouts::endless(),
            Box::new(|| false),
        )
        .await;
    } else {
        std::future::pending().await
    }
}

/// Hands standard input and output through to the daemon that runs already.
fn bridge(dirs: &Dirs) -> Result<(), ErrorObject> {
    use interprocess::local_socket::tokio::Stream;
    use interprocess::local_socket::traits::tokio::Stream as _;
    use interprocess::local_socket::{GenericFilePath, ToFsName};
    let broken = |e: std::io::Error| {
        ErrorObject::new(ErrorCode::DaemonUnavailable, format!("the connection to the daemon broke: {e}"))
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(broken)?;
    let result = runtime.block_on(async {
        let name = dirs.socket();
        let stream = Stream::connect(name.to_fs_name::<GenericFilePath>()?).await?;
        let end_input = end_input(&stream)?;
        let mut here = tokio::io::join(tokio::io::stdin(), tokio::io::stdout());
        let (mut from, mut to) = tokio::io::split(stream);
        let (mut input, mut output) = tokio::io::split(&mut here);
        let up = async {
            tokio::io::copy(&mut input, &mut to).await?;
            end_input()
        };
        let down = tokio::io::copy(&mut from, &mut output);
        tokio::try_join!(up, down).map(drop)
    });
    runtime.shutdown_background();
    result.map_err(broken)
}

/// Returns a function that tells the daemon that no more requests come; its answers still do. The stream's
/// own `shutdown` does nothing.
#[cfg(unix)]
fn end_input(
    stream: &interprocess::local_socket::tokio::Stream,
) -> std::io::Result<impl Fn() -> std::io::Result<()> + use<>> {
    use std::os::fd::AsFd;
    let interprocess::local_socket::tokio::Stream::UdSocket(stream) = stream;
    let fd = stream.as_fd().try_clone_to_owned()?;
    Ok(move || Ok(rustix::net::shutdown(&fd, rustix::net::Shutdown::Write)?))
}

#[cfg(not(unix))]
fn end_input(
    _stream: &interprocess::local_socket::tokio::Stream,
) -> std::io::Result<impl Fn() -> std::io::Result<()> + use<>> {
    Ok(|| Ok(()))
}

/// Returns the time without a request after which the daemon ends: as configured, or a short time if nothing
/// is configured and the environment variable `CI` is set.
fn idle_exit(config: &Config) -> Option<Duration> {
    let is_ci = std::env::var_os("CI").is_some_and(|v| !v.is_empty() && v != "false" && v != "0");
    let is_default = config.origin("daemon.idle_exit_s") == indexd::config::Origin::Default;
    match config.daemon_idle_exit_s {
        _ if is_ci && is_default => Some(CI_IDLE_EXIT),
        0 => None,
        s => Some(Duration::from_secs(s)),
    }
}

fn text((name, value): (std::ffi::OsString, std::ffi::OsString)) -> Option<(String, String)> {
    Some((name.into_string().ok()?, value.into_string().ok()?))
}

fn start_error(e: &StartError) -> ErrorObject {
    let cause = std::error::Error::source(e).map(|s| format!(": {s}")).unwrap_or_default();
    let code = match e {
        StartError::Running | StartError::Stuck { .. } => ErrorCode::Busy,
        StartError::Io { source, .. } if source.kind() == std::io::ErrorKind::PermissionDenied => {
            ErrorCode::PermissionDenied
        }
        StartError::Io { .. } => ErrorCode::CannotCreate,
    };
    ErrorObject::new(code, format!("{e}{cause}")).with_hint("run `ctl doctor`")
}
