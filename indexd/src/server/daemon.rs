//! The process: who is the daemon, its socket, its signals, its end.
//!
//! The lock decides. Whoever holds it removes a stale socket and binds its own; nobody else touches
//! the file. A daemon whose socket file is no longer its own (a cleaner of temporary files, a
//! removed home) cannot be reached any more and ends.

use crate::server::connection::{self, HungUp, Timeouts};
use crate::server::dispatch::{Closing, Server};
use crate::server::limits::{
    CACHE_LOCK_TIMEOUT, CONNECT_RETRY, CONNECTIONS_MAX, DRAIN_TIMEOUT, HOUSE_INTERVAL, LOCK_TIMEOUT,
    SOCKET_CHECK, SOCKET_CHECK_UNWATCHED,
};
use crate::workspace::noticing::watch::{self, Inbox, Watcher};
use indexd_proto::error::{ErrorCode, ErrorObject};
use indexd_proto::paths::{self, Dirs};
use indexd_proto::rpc;
use interprocess::local_socket::tokio::{Listener, Stream};
use interprocess::local_socket::traits::StreamCommon as _;
use interprocess::local_socket::traits::tokio::Listener as _;
use interprocess::local_socket::{GenericFilePath, ListenerOptions, ToFsName};
use std::fs::{File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::sync::Notify;

/// Why this process is not the daemon.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Another process is, and answers.
    #[error("a daemon is running already")]
    Running,
    /// The lock is held and nobody answers.
    #[error("{} holds the lock {path} and does not answer", process(*.holder))]
    Stuck {
        /// The lock.
        path: PathBuf,
        /// Who holds it, if that can be said.
        holder: Option<u32>,
    },
    /// The system refuses.
    #[error("cannot use {path}")]
    Io {
        /// What was opened.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// The lock that makes a process the daemon; given back when dropped or when the process ends.
#[derive(Debug)]
pub struct Lock {
    _runtime: File,
    _cache: File,
}

impl Lock {
    /// Takes the lock, waiting a while for a daemon that is just ending.
    ///
    /// A second lock, in the cache folder, keeps daemons of other runtime folders from writing the
    /// same indexes.
    ///
    /// # Errors
    /// [`StartError`]; `Running` at once when the holder answers on the socket.
    pub fn take(dirs: &Dirs) -> Result<Self, StartError> {
        let until = Instant::now() + LOCK_TIMEOUT;
        let runtime = wait_for(&dirs.runtime, &dirs.lock(), until, || {
            if answers(&dirs.socket()) { Err(StartError::Running) } else { Ok(()) }
        })?;
        // Who held both has let go of both.
        let until = Instant::now() + CACHE_LOCK_TIMEOUT;
        let path = dirs.cache_lock();
        let cache = wait_for(&dirs.cache, &path, until, || {
            let elsewhere = paths::socket_of_holder(&path);
            if elsewhere.is_some_and(|socket| answers(&socket)) { Err(StartError::Running) } else { Ok(()) }
        })?;
        // For clients whose runtime folder is another one; see `Dirs::of_the_daemon`.
        let _ = writeln!(&cache, "{}", dirs.socket().display());
        Ok(Self { _runtime: runtime, _cache: cache })
    }
}

/// Takes the lock `path` in the private folder `dir`, unless it is not to be had until then or `look`
/// ends the waiting.
fn wait_for(
    dir: &Path,
    path: &Path,
    until: Instant,
    look: impl Fn() -> Result<(), StartError>,
) -> Result<File, StartError> {
    let fail = |source| StartError::Io { path: path.to_owned(), source };
    paths::private_dir(dir, indexd_os::own_uid())
        .map_err(|source| StartError::Io { path: dir.to_owned(), source })?;
    let file = indexd_os::open_own(path).map_err(fail)?;
    loop {
        match file.try_lock() {
            Ok(()) => {
                // For whoever wonders later why the lock is held; nothing depends on it.
                let _ = file.set_len(0).and_then(|()| writeln!(&file, "{}", std::process::id()));
                return Ok(file);
            }
            Err(TryLockError::Error(e)) => return Err(fail(e)),
            Err(TryLockError::WouldBlock) => look()?,
        }
        if Instant::now() >= until {
            return Err(StartError::Stuck { path: path.to_owned(), holder: paths::holder(path) });
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A process in a sentence.
fn process(id: Option<u32>) -> String {
    id.map_or_else(|| "a process".to_owned(), |id| format!("process {id}"))
}

/// Whether somebody accepts connections there.
pub fn answers(socket: &Path) -> bool {
    use interprocess::local_socket::traits::Stream as _;
    let name = socket.to_fs_name::<GenericFilePath>();
    name.and_then(interprocess::local_socket::Stream::connect).is_ok()
}

/// A bound socket. Dropping it removes the file if it is still the one that was bound.
pub struct Socket {
    listener: Listener,
    path: PathBuf,
    identity: Option<(u64, u64)>,
    /// Whether a service manager listens on it, too.
    is_passed: bool,
}

impl Socket {
    /// Removes a stale socket and binds. Must be called inside the runtime, under the lock.
    ///
    /// # Errors
    /// [`StartError::Io`].
    pub fn bind(dirs: &Dirs, _lock: &Lock) -> Result<Self, StartError> {
        let path = dirs.socket();
        let fail = |source| StartError::Io { path: path.clone(), source };
        match std::fs::remove_file(&path) {
            Err(e) if e.kind() != io::ErrorKind::NotFound && cfg!(unix) => return Err(fail(e)),
            _ => {}
        }
        let listener = options(&path).and_then(ListenerOptions::create_tokio).map_err(fail)?;
        let identity = identity(&path);
        Ok(Self { listener, path, identity, is_passed: false })
    }

    /// Takes the socket that a service manager listens on, if it has passed one. Its file stays when the
    /// daemon ends: the manager starts the next one. Must be called inside the runtime, under the lock.
    ///
    /// # Errors
    /// [`StartError::Io`] when what was passed is not the daemon's socket.
    #[cfg(unix)]
    pub fn passed(dirs: &Dirs, _lock: &Lock) -> Result<Option<Self>, StartError> {
        use interprocess::os::unix::uds_local_socket::tokio::Listener as UnixListener;
        let path = dirs.socket();
        let fail = |source| StartError::Io { path: path.clone(), source };
        let Some(fd) = indexd_os::passed_socket().map_err(fail)? else { return Ok(None) };
        let listener = UnixListener::try_from(fd).map_err(fail)?;
        let bound = listener.inner().local_addr().map_err(fail)?;
        if bound.as_pathname() != Some(&path) {
            let why = format!("the socket that was passed is {bound:?}");
            return Err(fail(io::Error::new(io::ErrorKind::InvalidInput, why)));
        }
        let identity = identity(&path);
        Ok(Some(Self { listener: Listener::UdSocket(listener), path, identity, is_passed: true }))
    }

    /// Whether clients that open the path still reach this socket.
    pub fn is_own(&self) -> bool {
        self.identity.is_none() || self.identity == identity(&self.path)
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if !self.is_passed && self.identity.is_some() && self.is_own() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn options(path: &Path) -> io::Result<ListenerOptions<'_>> {
    let options = ListenerOptions::new().name(path.to_fs_name::<GenericFilePath>()?).reclaim_name(false);
    // Elsewhere the private folder alone keeps others out.
    #[cfg(target_os = "linux")]
    let options = interprocess::os::unix::local_socket::ListenerOptionsExt::mode(options, 0o600);
    Ok(options)
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    std::fs::symlink_metadata(path).ok().map(|m| (m.dev(), m.ino()))
}

#[cfg(not(unix))]
fn identity(_path: &Path) -> Option<(u64, u64)> {
    None
}

/// Serves the socket until a signal, a `shutdown` request, idleness, the loss of the socket, or
/// the end of `also`. Requests in flight are finished within [`DRAIN_TIMEOUT`].
///
/// # Errors
/// When signals cannot be listened to.
pub async fn run(server: Arc<Server>, socket: Socket, also: impl Future<Output = ()>) -> io::Result<()> {
    let mut signals = Signals::new()?;
    let mut closing = server.closing();
    let folder = Folder::watched(&socket.path);
    let mut check_at = tokio::time::Instant::now();
    let mut house_at = tokio::time::Instant::now();
    tokio::pin!(also);
    loop {
        tokio::select! {
            accepted = socket.listener.accept() => match accepted {
                Ok(stream) => accept(&server, stream),
                Err(e) => {
                    // Out of descriptors, most likely: wait for some to be given back.
                    tracing::warn!(error = %e, "cannot accept a connection");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            },
            signal = signals.next() => {
                tracing::info!(signal, "ends");
                server.drain();
            }
            () = &mut also => {
                tracing::info!("ends with its client");
                server.drain();
            }
            _ = closing.wait_for(|c| *c != Closing::Open) => break,
            () = folder.changed() => check(&server, &socket),
            () = tokio::time::sleep_until(check_at) => {
                check(&server, &socket);
                if tokio::time::Instant::now() >= house_at {
                    house_at = tokio::time::Instant::now() + HOUSE_INTERVAL;
                    let server = Arc::clone(&server);
                    tokio::task::spawn_blocking(move || server.backend.collect());
                }
                let idle_in = server.identity.idle_exit.map(|limit| limit.saturating_sub(server.idle()));
                check_at = tokio::time::Instant::now() + folder.interval().min(idle_in.unwrap_or(Duration::MAX));
            }
        }
        if *server.closing().borrow() != Closing::Open {
            break;
        }
    }
    // New clients must not find a daemon that is ending.
    drop(socket);
    let until = Instant::now() + DRAIN_TIMEOUT;
    while server.in_flight() > 0 && Instant::now() < until {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // The last answers are in the outboxes; give their writers a moment.
    tokio::time::sleep(Duration::from_millis(20)).await;
    server.close();
    let backend = Arc::clone(&server);
    let _ = tokio::task::spawn_blocking(move || backend.shutdown_backend()).await;
    Ok(())
}

/// Ends the daemon that nobody can reach, or that nobody needs.
fn check(server: &Server, socket: &Socket) {
    if !socket.is_own() {
        tracing::warn!("ends: the socket is no longer its own");
        server.drain();
    } else if server.identity.idle_exit.is_some_and(|limit| server.idle() >= limit) {
        tracing::info!("ends: idle");
        server.drain();
    }
}

/// The folder of the socket. An event wakes whoever waits, so that an idle daemon sleeps.
struct Folder {
    inbox: Arc<Inbox>,
    wake: Arc<Notify>,
    watcher: Option<Arc<dyn Watcher>>,
}

impl Folder {
    fn watched(socket: &Path) -> Self {
        let wake = Arc::new(Notify::new());
        let noticed = Arc::clone(&wake);
        let inbox = Inbox::new(move || noticed.notify_one());
        let mut watcher = watch::system(&inbox);
        let is_watched =
            watcher.as_mut().zip(socket.parent()).is_some_and(|(w, folder)| w.watch(folder).is_ok());
        Self { inbox, wake, watcher: watcher.filter(|_| is_watched) }
    }

    /// Ends when something happened there.
    async fn changed(&self) {
        self.wake.notified().await;
        self.inbox.take();
    }

    /// How often to look all the same: a folder further up may go.
    fn interval(&self) -> Duration {
        if self.watcher.is_some() { SOCKET_CHECK } else { SOCKET_CHECK_UNWATCHED }
    }
}

fn accept(server: &Arc<Server>, stream: Stream) {
    let client = server.connect();
    let hung_up = hung_up(&stream);
    tokio::spawn(async move {
        if !is_own_user(&stream) {
            tracing::warn!("refused a connection of another user");
            return;
        }
        let (reader, mut writer) = tokio::io::split(stream);
        let Some(client) = client else {
            let error = ErrorObject::new(ErrorCode::Busy, format!("{CONNECTIONS_MAX} connections are open"))
                .with_retry_after_ms(CONNECT_RETRY.as_millis() as u64);
            let mut line = rpc::error(None, &error);
            line.push(b'\n');
            let _ = tokio::time::timeout(Duration::from_secs(1), writer.write_all(&line)).await;
            return;
        };
        connection::serve(client, reader, writer, Timeouts::default(), hung_up).await;
    });
}

fn is_own_user(stream: &Stream) -> bool {
    #[cfg(unix)]
    return match stream.peer_creds() {
        Ok(creds) => creds.euid() == Some(indexd_os::own_uid()),
        Err(_) => uid_of(stream).is_ok_and(|uid| uid == indexd_os::own_uid()),
    };
    // The pipe's name and its default protection keep other users out there.
    #[cfg(not(unix))]
    return stream.peer_creds().is_ok();
}

/// The user of a peer whose process has no number here: it is in a container, or outside of ours. The
/// library for sockets takes that for a peer that is gone.
#[cfg(unix)]
fn uid_of(stream: &Stream) -> io::Result<u32> {
    use std::os::fd::AsFd;
    let Stream::UdSocket(stream) = stream;
    let stream = std::os::unix::net::UnixStream::from(stream.as_fd().try_clone_to_owned()?);
    Ok(tokio::net::UnixStream::from_std(stream)?.peer_cred()?.uid())
}

/// Whether the peer has closed both halves, as the system knows it.
#[cfg(unix)]
fn hung_up(stream: &Stream) -> HungUp {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use std::os::fd::AsFd;
    let Stream::UdSocket(stream) = stream;
    let Ok(fd) = stream.as_fd().try_clone_to_owned() else { return Box::new(|| false) };
    Box::new(move || {
        let mut fds = [PollFd::new(&fd, PollFlags::empty())];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut fds, Some(&now)).is_ok() && fds[0].revents().intersects(PollFlags::HUP | PollFlags::ERR)
    })
}

#[cfg(not(unix))]
fn hung_up(_stream: &Stream) -> HungUp {
    Box::new(|| false)
}

#[cfg(unix)]
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    hangup: tokio::signal::unix::Signal,
}

#[cfg(unix)]
impl Signals {
    fn new() -> io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    /// The next signal that ends the daemon. Closing the terminal does not.
    async fn next(&mut self) -> &'static str {
        loop {
            tokio::select! {
                _ = self.terminate.recv() => return "SIGTERM",
                _ = self.interrupt.recv() => return "SIGINT",
                _ = self.hangup.recv() => {}
            }
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) -> &'static str {
        let _ = tokio::signal::ctrl_c().await;
        "CTRL-C"
    }
}
