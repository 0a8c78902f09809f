//! Talking to the daemon: one connection, one request at a time, its notifications on the way.
//!
//! The handshake and the request leave in one write, so that an answer costs one round trip. When
//! the daemon turns out to be older than this client, it is asked to finish and a new one is
//! started; the request is sent again.

use crate::cli::{Common, millis};
use crate::failure::Failure;
use crate::launch;
use crate::progress::{Listener, Progress};
use crate::transport::{Transport, dial, wait_for_child};
use indexd_proto::correlation::{Correlated, CorrelationId};
use indexd_proto::error::{ErrorCode, ErrorObject};
use indexd_proto::frame::{Decoder, Frame};
use indexd_proto::hello::{
    Build, CAPABILITY_HEARTBEAT, FOR_AGENTS, HelloParams, HelloResult, ProtocolRange, ShutdownParams,
};
use indexd_proto::paths::Dirs;
use indexd_proto::rpc::{self, CancelParams, ChunkParams, ProgressParams};
use indexd_proto::share::{PULL, PullParams};
use indexd_proto::{Id, Method, Outgoing};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{File, TryLockError};
use std::io;
use std::process::Stdio;
use std::time::{Duration, Instant};

const HELLO: Id = Id::Number(0);
const REQUEST: Id = Id::Number(1);
const SHUTDOWN: Id = Id::Number(2);

/// How our daemon begins the answer to [`REQUEST`]; others may write it in another way.
pub const ANSWER: &[u8] = br#"{"jsonrpc":"2.0","id":1,"result":"#;

/// How long an ending daemon may take to let go of its lock.
const END_TIMEOUT: Duration = Duration::from_secs(15);

/// How often a request is sent again because the daemon was just ending.
const RECONNECTS_MAX: u32 = 10;

/// Time without a byte of a daemon that says every 2 s that it works, after which it is taken for dead.
pub const SILENCE_MAX: Duration = Duration::from_secs(10);

/// How long a request is sent again to a daemon that says that it is busy, when no time limit is given.
const BUSY_PATIENCE: Duration = Duration::from_secs(60);

/// The longest pause before that.
const BUSY_PAUSE_MAX: Duration = Duration::from_secs(1);

/// The effective user id.
pub fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// This build of the client.
pub fn build() -> Build {
    Build { name: "ctl".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
}

/// The folders of this user, with the runtime folder of the daemon that runs, whatever environment it was
/// started in.
///
/// # Errors
/// `POC_E_CONFIG` without a home.
pub fn dirs() -> Result<Dirs, Failure> {
    own_dirs().map(Dirs::of_the_daemon)
}

/// The folders of this user as a daemon would have them that is started here.
///
/// # Errors
/// As [`dirs`].
pub fn own_dirs() -> Result<Dirs, Failure> {
    Dirs::detect(own_uid())
        .map_err(|e| Failure::hinted(ErrorCode::Config, e.to_string(), "set HOME to your home folder"))
}

/// Whether the environment says that no daemon may be started.
pub fn is_autostart_forbidden() -> bool {
    std::env::var_os("INDEXD_NO_AUTOSTART").is_some_and(|v| !v.is_empty() && v != "0")
}

/// How the caller wants to be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// By a daemon, started when there is none.
    Auto,
    /// By a running daemon only.
    Never,
    /// By a child when there is no daemon.
    Child,
}

/// A connection to a daemon.
pub struct Session {
    transport: Transport,
    decoder: Decoder,
    dirs: Dirs,
    start: Start,
    deadline: Option<Instant>,
    common: Common,
    /// The name of this client.
    name: &'static str,
    greeted: Option<HelloResult>,
    upgraded: bool,
    /// When the daemon was heard last, or spoken to.
    heard: Instant,
    /// Whether whoever asked no longer wants the answer.
    stop: Option<Stop>,
    /// True if the daemon may ask this client to fetch a published index.
    pulls: bool,
    progress: Progress,
}

/// Says whether whoever asked no longer wants the answer.
pub type Stop = Box<dyn Fn() -> bool>;

/// Takes the pieces of an answer as they come.
pub type Chunk<'c> = dyn FnMut(&str) -> Result<(), Failure> + 'c;

/// How often that is asked while a request is under way.
const STOP_INTERVAL: Duration = Duration::from_millis(50);

/// A decoder with room for most answers. It is taken from the system page by page as bytes come.
fn decoder() -> Decoder {
    Decoder::default().with_room(512 << 10)
}

impl Session {
    /// Connects as the common options say.
    ///
    /// # Errors
    /// `POC_E_DAEMON_UNAVAILABLE` and its kin.
    pub fn open(common: &Common) -> Result<Self, Failure> {
        let start = match (common.no_daemon, is_autostart_forbidden()) {
            (true, _) => Start::Child,
            (_, true) => Start::Never,
            _ => Start::Auto,
        };
        Self::connect(common, start)
    }

    /// Connects in a given way.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub fn connect(common: &Common, start: Start) -> Result<Self, Failure> {
        let (transport, dirs) = reach(start)?;
        let deadline = common.timeout.map(|s| Instant::now() + Duration::from_millis(millis(s, 1e6)));
        Ok(Self {
            transport,
            decoder: decoder(),
            dirs,
            start,
            deadline,
            common: common.clone(),
            name: "ctl",
            greeted: None,
            upgraded: false,
            heard: Instant::now(),
            stop: None,
            pulls: true,
            progress: Progress::new(common.quiet),
        })
    }

    /// Says in its greeting that it asks for coding agents, which a setting switches off.
    pub fn asks_for_agents(&mut self) {
        self.name = FOR_AGENTS;
    }

    /// Fetches nothing when a first index could begin with a published one.
    #[must_use]
    pub fn without_pulls(mut self) -> Self {
        self.pulls = false;
        self
    }

    /// Cancels requests under way when `stop` says so, within 50 ms.
    pub fn stop_when(&mut self, stop: Stop) {
        self.stop = Some(stop);
    }

    /// Passes progress on to `listener` instead of drawing a bar; without one nothing shows it.
    pub fn tells_progress(&mut self, listener: Option<Listener>) {
        self.progress = Progress::told(listener);
    }

    /// True if requests should ask for progress.
    pub fn wants_progress(&self) -> bool {
        self.progress.is_wanted()
    }

    /// Sends a request and gives the line of its answer; see [`result`].
    ///
    /// # Errors
    /// The daemon's, or `POC_E_DAEMON_UNAVAILABLE` when it goes away.
    pub fn call<P: Serialize>(&mut self, method: Method, params: &P) -> Result<Vec<u8>, Failure> {
        self.call_with(method, params, &mut |_| Ok(()))
    }

    /// The same, read as the type that it should have.
    ///
    /// # Errors
    /// As [`Session::call`] and [`result`].
    pub fn ask<P: Serialize, A: DeserializeOwned>(
        &mut self,
        method: Method,
        params: &P,
    ) -> Result<A, Failure> {
        result(&self.call(method, params)?)
    }

    /// The line of a request, under the name that the user gave it.
    fn request<P: Serialize>(&self, method: Method, params: &P) -> Result<Vec<u8>, Failure> {
        let id = self.common.correlation_id.clone().map(CorrelationId::try_from).transpose();
        let correlation_id = id.map_err(|refused| Failure::Error(Box::new(refused)))?;
        Ok(rpc::request(Some(REQUEST), method.name(), Correlated { correlation_id, params }))
    }

    /// The same for answers that come in pieces, each given to `chunk`.
    ///
    /// # Errors
    /// As [`Session::call`], and those of `chunk`.
    pub fn call_with<P: Serialize>(
        &mut self,
        method: Method,
        params: &P,
        chunk: &mut Chunk,
    ) -> Result<Vec<u8>, Failure> {
        let request = self.request(method, params)?;
        self.progress.begin();
        self.send_until_answered(&request, chunk)
    }

    fn send_until_answered(&mut self, request: &[u8], chunk: &mut Chunk) -> Result<Vec<u8>, Failure> {
        let mut tries = RECONNECTS_MAX;
        // What was passed on cannot be taken back, so the rest must come from the same answer.
        let has_chunks = std::cell::Cell::new(false);
        let mut passed = |text: &str| {
            has_chunks.set(true);
            chunk(text)
        };
        let mut was_lost = false;
        let patient_until = self.deadline.unwrap_or_else(|| Instant::now() + BUSY_PATIENCE);
        loop {
            match self.greet_and_send(request).and_then(|()| self.exchange(&mut passed)) {
                Ok(Some(answer)) => return Ok(answer),
                Ok(None) => self.upgrade()?,
                Err(failure) if tries > 0 && self.is_ending(&failure) => {
                    tries -= 1;
                    // Long enough for it to take its socket away.
                    std::thread::sleep(Duration::from_millis(20));
                    self.reconnect()?;
                }
                Err(failure) if !has_chunks.get() && self.pause(&failure, patient_until) => {
                    self.reconnect()?;
                }
                // Once: a request that ends every daemon must not start one after the other.
                Err(failure) if !was_lost && !has_chunks.get() && self.is_lost(&failure) => {
                    was_lost = true;
                    // Long enough for it to take its socket away.
                    std::thread::sleep(Duration::from_millis(20));
                    self.reconnect()?;
                }
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Whether a failure only says that the daemon was just ending: it refused because of that, or
    /// went away without a word. Every request can be sent again to the next one.
    fn is_ending(&self, failure: &Failure) -> bool {
        let is_refused = failure.code() == Some(ErrorCode::ShuttingDown);
        (is_refused && self.may_restart()) || (self.greeted.is_none() && self.is_lost(failure))
    }

    /// Waits as long as a busy daemon asks to. False when it did not, or when that would be too long.
    fn pause(&self, failure: &Failure, until: Instant) -> bool {
        let Failure::Error(e) = failure else { return false };
        let Some(ms) = e.data.retry_after_ms.filter(|_| e.data.code == ErrorCode::Busy) else { return false };
        let pause = Duration::from_millis(ms).min(BUSY_PAUSE_MAX);
        let is_in_time = matches!(self.transport, Transport::Socket(_)) && Instant::now() + pause < until;
        if is_in_time {
            std::thread::sleep(pause);
        }
        is_in_time
    }

    /// Whether the daemon went away, so that another one can be asked the same.
    fn is_lost(&self, failure: &Failure) -> bool {
        failure.code() == Some(ErrorCode::DaemonUnavailable) && self.may_restart()
    }

    fn may_restart(&self) -> bool {
        self.start == Start::Auto && matches!(self.transport, Transport::Socket(_))
    }

    fn greet_and_send(&mut self, request: &[u8]) -> Result<(), Failure> {
        let mut bytes = Vec::with_capacity(request.len() + 160);
        if self.greeted.is_none() {
            let client = Build { name: self.name.to_owned(), ..build() };
            // Another process fetches, which finds the daemon by its socket.
            let pulls = self.pulls && matches!(self.transport, Transport::Socket(_));
            let hello = HelloParams { client: Some(client), protocol: Some(ProtocolRange::OURS), pulls };
            bytes.extend(rpc::request(Some(HELLO), Method::Hello.name(), hello));
            bytes.push(b'\n');
        }
        if request.len() > indexd_proto::limits::FRAME_BYTES_MAX {
            return Err(Failure::new(ErrorCode::FrameTooLong, "the request is longer than a line may be"));
        }
        bytes.extend_from_slice(request);
        bytes.push(b'\n');
        self.send(&bytes)
    }

    /// Writes. A daemon that closes the connection before it has read anything says why.
    fn send(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.heard = Instant::now();
        let Err(e) = self.transport.send(bytes) else { return Ok(()) };
        if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) {
            return Err(self.is_silent());
        }
        let said = self.line().ok().and_then(|line| Outgoing::parse(&line).ok()?.error);
        Err(said.map_or_else(|| self.lost(&e), Failure::from))
    }

    /// Reads until the request is answered; `None` when the daemon is older and should be replaced.
    fn exchange(&mut self, chunk: &mut Chunk) -> Result<Option<Vec<u8>>, Failure> {
        loop {
            let line = self.line()?;
            // Read once, by whoever knows its type: a pack has a few hundred kilobytes.
            if line.starts_with(ANSWER) {
                self.progress.clear();
                return Ok(Some(line));
            }
            let message = Outgoing::parse(&line)?;
            if let (Some(method), Some(params)) = (&message.method, message.params) {
                self.hear(method, params.get(), chunk)?;
                continue;
            }
            let is_greeting = message.id == Some(HELLO);
            match (message.id, message.error) {
                (Some(HELLO), None) => {
                    let hello = message.result.map_or("null", |r| r.get());
                    let hello: HelloResult = serde_json::from_str(hello).map_err(shape)?;
                    let is_older = build().is_newer_than(&hello.server);
                    self.greeted = Some(hello);
                    if is_older && self.may_upgrade() {
                        return Ok(None);
                    }
                }
                (Some(_), None) => {
                    self.progress.clear();
                    return Ok(Some(line));
                }
                (_, Some(error)) if is_greeting && speaks_older(&error) && self.may_upgrade() => {
                    return Ok(None);
                }
                (_, Some(error)) => return Err(error.into()),
                (None, None) => {}
            }
        }
    }

    /// Takes a notification; one that is not known says nothing.
    fn hear(&mut self, method: &str, params: &str, chunk: &mut Chunk) -> Result<(), Failure> {
        match method {
            "$/progress" => {
                if let Ok(p) = serde_json::from_str::<ProgressParams>(params) {
                    self.progress.show(&p);
                }
            }
            PULL => {
                if let Ok(p) = serde_json::from_str::<PullParams>(params) {
                    launch::pull(&p.root, self.common.quiet);
                }
            }
            "$/chunk" => {
                let piece: ChunkParams = serde_json::from_str(params).map_err(shape)?;
                self.progress.clear();
                chunk(&piece.text)?;
            }
            _ => {}
        }
        Ok(())
    }

    fn line(&mut self) -> Result<Vec<u8>, Failure> {
        let mut buffer = [0; 64 << 10];
        loop {
            match self.decoder.next_frame() {
                Some(Frame::Line(line)) => return Ok(line),
                Some(Frame::TooLong) => {
                    return Err(Failure::new(
                        ErrorCode::FrameTooLong,
                        "the answer is longer than a line may be",
                    ));
                }
                None => {}
            }
            self.arm()?;
            match self.transport.receive(&mut buffer) {
                Ok(0) => return Err(self.lost(&io::ErrorKind::UnexpectedEof.into())),
                Ok(n) => {
                    self.heard = Instant::now();
                    self.decoder.feed(&buffer[..n]);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
                Err(e) => return Err(self.lost(&e)),
            }
        }
    }

    /// Sets the time left on the socket: until the deadline, past which the request is cancelled, and
    /// until a daemon that gives no sign of life is taken for dead.
    fn arm(&mut self) -> Result<(), Failure> {
        let now = Instant::now();
        let silent_at = self.expects_signs().then(|| self.heard + SILENCE_MAX);
        if silent_at.is_some_and(|at| at <= now) {
            return Err(self.is_silent());
        }
        if self.stop.as_ref().is_some_and(|stop| stop()) {
            self.cancel();
            return Err(Failure::new(ErrorCode::Cancelled, "the request was cancelled"));
        }
        let looks_again = self.stop.is_some().then(|| now + STOP_INTERVAL);
        let Some(until) = [self.deadline, silent_at, looks_again].into_iter().flatten().min() else {
            return Ok(());
        };
        let left = until.saturating_duration_since(now);
        if left.is_zero() {
            self.cancel();
            let message = format!("no answer within {} s", self.common.timeout.unwrap_or(0.0));
            return Err(Failure::hinted(ErrorCode::Busy, message, "give it more time with --timeout SEC"));
        }
        self.transport.wait_readable(left);
        Ok(())
    }

    /// Tells the daemon that nobody waits for the answer.
    fn cancel(&mut self) {
        let mut cancel = rpc::request(None, "$/cancelRequest", CancelParams { id: REQUEST });
        cancel.push(b'\n');
        let _ = self.transport.send(&cancel);
    }

    /// Whether the daemon would say that it works: its greeting comes at once, and tells of that.
    fn expects_signs(&self) -> bool {
        let tells = |hello: &HelloResult| hello.capabilities.iter().any(|c| c == CAPABILITY_HEARTBEAT);
        matches!(self.transport, Transport::Socket(_)) && self.greeted.as_ref().is_none_or(tells)
    }

    /// The failure of a daemon that is there and says nothing.
    fn is_silent(&self) -> Failure {
        let hint = match self.dirs.lock_holder() {
            Some(id) => {
                format!("it is stopped or hangs: `kill -9 {id}` ends it, the next request starts another")
            }
            None => "see `ctl doctor`".to_owned(),
        };
        let message = format!("{} gave no sign of life for {} s", daemon(&self.dirs), SILENCE_MAX.as_secs());
        Failure::hinted(ErrorCode::Busy, message, hint)
    }

    fn may_upgrade(&self) -> bool {
        !self.upgraded && self.may_restart()
    }

    /// Asks the daemon to finish, waits for its end, starts the one that belongs to this client.
    fn upgrade(&mut self) -> Result<(), Failure> {
        self.upgraded = true;
        self.ask_to_end("upgrade")?;
        self.wait_for_end()?;
        self.reconnect()
    }

    fn reconnect(&mut self) -> Result<(), Failure> {
        (self.transport, self.dirs) = reach(self.start)?;
        self.decoder = decoder();
        self.greeted = None;
        self.heard = Instant::now();
        Ok(())
    }

    /// Asks the daemon to end and waits until it says that it does, or goes away at once.
    ///
    /// # Errors
    /// What it refuses that with, as one does that has no place for another connection.
    fn ask_to_end(&mut self, reason: &str) -> Result<(), Failure> {
        let mut line = rpc::request(
            Some(SHUTDOWN),
            Method::Shutdown.name(),
            ShutdownParams { reason: Some(reason.to_owned()) },
        );
        line.push(b'\n');
        self.send(&line)?;
        loop {
            let line = match self.line() {
                Ok(line) => line,
                Err(failure) if failure.code() == Some(ErrorCode::DaemonUnavailable) => return Ok(()),
                Err(failure) => return Err(failure),
            };
            let message = Outgoing::parse(&line)?;
            match (message.id, message.error) {
                (Some(SHUTDOWN), None) => return Ok(()),
                (Some(SHUTDOWN) | None, Some(error)) => return Err(error.into()),
                // The answer to a request that was sent before.
                _ => {}
            }
        }
    }

    /// Ends the daemon; returns when it is gone.
    ///
    /// # Errors
    /// `POC_E_BUSY` when it does not end in time.
    pub fn stop(mut self) -> Result<(), Failure> {
        self.ask_to_end("stop")?;
        self.wait_for_end()
    }

    /// Waits until the daemon behind this connection is gone: the connection ends, and the lock is
    /// free or another daemon answers already.
    fn wait_for_end(&mut self) -> Result<(), Failure> {
        let until = Instant::now() + END_TIMEOUT;
        let mut buffer = [0; 4096];
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            self.transport.wait_readable(left);
            match self.transport.receive(&mut buffer) {
                Ok(n) if n > 0 => {}
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                _ => break,
            }
        }
        wait_for_lock(&self.dirs, until)
    }

    fn lost(&mut self, e: &io::Error) -> Failure {
        if let Transport::Child(child) = &mut self.transport
            && let Ok(Some(status)) = wait_for_child(child)
            && !status.success()
        {
            // It has said why on standard error, which is ours.
            let code = launch::code_of(status);
            return Failure::hinted(code, "indexd ended, as it says above", code.hint());
        }
        let message = match e.kind() {
            io::ErrorKind::UnexpectedEof => "the daemon closed the connection".to_owned(),
            _ => format!("the connection to the daemon broke: {e}"),
        };
        Failure::hinted(
            ErrorCode::DaemonUnavailable,
            message,
            format!("run it again; see the log {}", self.dirs.log().display()),
        )
    }
}

/// The result of an answer as the type it should be, read in one pass.
///
/// # Errors
/// The daemon's error, or `POC_E_CONTRACT_VERSION` for an answer of another shape.
pub fn result<'a, T: serde::Deserialize<'a>>(line: &'a [u8]) -> Result<T, Failure> {
    #[derive(serde::Deserialize)]
    #[serde(bound(deserialize = "T: serde::Deserialize<'de>"))]
    struct Answer<T> {
        result: Option<T>,
        error: Option<ErrorObject>,
    }
    let answer: Answer<T> = serde_json::from_slice(line).map_err(shape)?;
    match (answer.result, answer.error) {
        (Some(result), None) => Ok(result),
        (_, Some(error)) => Err(error.into()),
        (None, None) => Err(Failure::new(ErrorCode::ContractVersion, "the daemon's answer has no result")),
    }
}

/// The JSON of an answer's result as it came.
///
/// # Errors
/// As [`result`].
pub fn raw(line: &[u8]) -> Result<&str, Failure> {
    result::<&serde_json::value::RawValue>(line).map(|r| r.get())
}

/// The failure of an answer that has not the type it should have.
pub fn shape(e: serde_json::Error) -> Failure {
    Failure::new(ErrorCode::ContractVersion, format!("the daemon's answer has another shape: {e}"))
}

/// The daemon, with its process where that is known.
fn daemon(dirs: &Dirs) -> String {
    dirs.lock_holder().map_or("the daemon".to_owned(), |id| format!("the daemon, process {id},"))
}

/// Waits until a daemon that no longer answers has ended: the lock is free, or another daemon answers
/// already.
///
/// # Errors
/// `POC_E_BUSY` when it has not by then.
fn wait_for_lock(dirs: &Dirs, until: Instant) -> Result<(), Failure> {
    while Instant::now() < until {
        let Ok(file) = File::options().write(true).open(dirs.lock()) else { return Ok(()) };
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if dial(&dirs.socket()).is_err() => {
                std::thread::sleep(Duration::from_millis(5))
            }
            _ => return Ok(()),
        }
    }
    let message = format!("{} is still finishing its requests", daemon(dirs));
    Err(Failure::hinted(ErrorCode::Busy, message, "try again in a moment"))
}

/// Waits for the end of a daemon that no longer answers; false when there is none.
///
/// # Errors
/// `POC_E_BUSY` when it does not end in time.
pub fn outlast() -> Result<bool, Failure> {
    let dirs = dirs()?;
    if dirs.lock_holder().is_none() {
        return Ok(false);
    }
    wait_for_lock(&dirs, Instant::now() + END_TIMEOUT).map(|()| true)
}

fn reach(start: Start) -> Result<(Transport, Dirs), Failure> {
    let dirs = dirs()?;
    match dial(&dirs.socket()) {
        Ok(stream) => return Ok((Transport::Socket(stream), dirs)),
        Err(e) if is_absent(&e) => {}
        Err(e) if matches!(e.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock) => {
            let message = format!("{} does not accept connections", daemon(&dirs));
            return Err(Failure::hinted(ErrorCode::Busy, message, "try again, or see `ctl doctor`"));
        }
        Err(e) => return Err(launch::runtime_failure(&dirs.socket(), &e)),
    }
    match start {
        Start::Never => Err(Failure::hinted(
            ErrorCode::DaemonUnavailable,
            "no daemon is running",
            if is_autostart_forbidden() {
                "start one with `ctl daemon start`, or unset INDEXD_NO_AUTOSTART"
            } else {
                "start one with `ctl daemon start`"
            },
        )),
        Start::Auto => {
            let dial = || {
                let dirs = self::dirs().ok()?;
                Some((Transport::Socket(dial(&dirs.socket()).ok()?), dirs))
            };
            launch::start(&own_dirs()?, own_uid(), dial)
        }
        Start::Child => {
            let child =
                launch::command()?.arg("--stdio").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
            Ok((Transport::Child(child.map_err(launch::cannot_start("indexd"))?), dirs))
        }
    }
}

/// True if a greeting is refused since the daemon speaks older versions alone.
fn speaks_older(refused: &ErrorObject) -> bool {
    let newest = refused.data.details.as_ref().and_then(|d| d.pointer("/supported/max")?.as_u64());
    refused.data.code == ErrorCode::ContractVersion
        && newest.is_some_and(|n| n < u64::from(ProtocolRange::OURS.min))
}

fn is_absent(e: &io::Error) -> bool {
    matches!(
        e.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused | io::ErrorKind::NotADirectory
    )
}
