//! Around every request: places, cancellation, faults, counts.
//!
//! Async code only moves bytes and waits; a request itself runs on a blocking thread. At most
//! [`RUNNING_MAX`] run, at most [`QUEUE_MAX`] wait for a place, and more are refused at once, so
//! that a flood costs its sender and not the daemon.

use crate::server::backend::{Answer, Backend, Cancel, Context, Place, cancelled};
use crate::server::convert;
use crate::server::limits::{BUSY_RETRY, HELD_KIB_MAX, QUEUE_MAX, RUNNING_MAX};
use crate::server::seats::{Seat, Seats};
use indexd_proto::error::{ErrorCode, ErrorObject};
use indexd_proto::hello::{
    Build, CAPABILITY_HEARTBEAT, HelloParams, HelloResult, ProtocolRange, ShutdownResult,
};
use indexd_proto::workspace::{DaemonStatus, RequestCounts, StatusResult};
use indexd_proto::{Call, Method, PROTOCOL_VERSION, rpc};
use indexd_store::Unreadable;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::{Semaphore, watch};

/// What the daemon says of itself that does not change.
#[derive(Clone, Debug, Default)]
pub struct Identity {
    /// The socket, for `status`.
    pub socket: String,
    /// The log, for `status`.
    pub log: String,
    /// Time without a request after which the daemon ends; `None` for never.
    pub idle_exit: Option<Duration>,
}

/// The state shared by all connections.
pub struct Server {
    pub(super) backend: Arc<dyn Backend>,
    pub(super) identity: Identity,
    started: Instant,
    places: Arc<Semaphore>,
    queued: AtomicU32,
    running: AtomicU32,
    clients: Seats,
    /// KiB that may still be held for clients, all together.
    pub(super) room: Arc<Semaphore>,
    requests: AtomicU64,
    /// Milliseconds after `started` of the last sign of life.
    last_active_ms: AtomicU64,
    counts: Mutex<RequestCounts>,
    closing: watch::Sender<Closing>,
}

/// A client's place among the connections; given back when dropped.
pub struct Connected {
    pub(super) server: Arc<Server>,
    pub(super) seat: Seat,
}

impl Connected {
    /// Notes whether the client waits for something. False when it had to make room before.
    pub fn note(&self, is_busy: bool) -> bool {
        self.server.clients.note(&self.seat, is_busy)
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        self.server.clients.give_back(&self.seat);
    }
}

/// How far the end of the daemon has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Closing {
    /// Not at all.
    Open,
    /// No new requests; those in flight are finished.
    Draining,
    /// Connections close now.
    Closed,
}

/// This build of the daemon.
pub fn build() -> Build {
    Build { name: "indexd".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() }
}

impl Server {
    /// A server over a backend.
    pub fn new(backend: Arc<dyn Backend>, identity: Identity) -> Arc<Self> {
        Arc::new(Self {
            backend,
            identity,
            started: Instant::now(),
            places: Arc::new(Semaphore::new(RUNNING_MAX)),
            queued: AtomicU32::new(0),
            running: AtomicU32::new(0),
            clients: Seats::default(),
            room: Arc::new(Semaphore::new(HELD_KIB_MAX)),
            requests: AtomicU64::new(0),
            last_active_ms: AtomicU64::new(0),
            counts: Mutex::default(),
            closing: watch::channel(Closing::Open).0,
        })
    }

    /// A place for one more client, which another one may have to give up; see [`Seats::take`].
    pub fn connect(self: &Arc<Self>) -> Option<Connected> {
        let seat = self.clients.take()?;
        Some(Connected { server: Arc::clone(self), seat })
    }

    /// Stops taking requests; those in flight go on.
    pub fn drain(&self) {
        self.closing.send_if_modified(|c| {
            let first = *c == Closing::Open;
            *c = (*c).max(Closing::Draining);
            first
        });
    }

    /// Closes every connection.
    pub fn close(&self) {
        self.closing.send_replace(Closing::Closed);
    }

    /// How far the end has come, to be waited on.
    pub fn closing(&self) -> watch::Receiver<Closing> {
        self.closing.subscribe()
    }

    /// Requests running or waiting for a place.
    pub fn in_flight(&self) -> u32 {
        self.running.load(Ordering::Relaxed) + self.queued.load(Ordering::Relaxed)
    }

    /// Time since the last request began or ended; zero while one is in flight.
    pub fn idle(&self) -> Duration {
        if self.in_flight() > 0 {
            return Duration::ZERO;
        }
        self.started
            .elapsed()
            .saturating_sub(Duration::from_millis(self.last_active_ms.load(Ordering::Relaxed)))
    }

    /// Lets the backend write what must not be lost.
    pub fn shutdown_backend(&self) {
        self.backend.shutdown();
    }

    /// A new name for a request in the log.
    pub(super) fn correlation_id(&self, connection: u64) -> String {
        format!("c{connection}-{}", self.requests.fetch_add(1, Ordering::Relaxed))
    }

    fn counts(&self) -> MutexGuard<'_, RequestCounts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn touch(&self) {
        self.last_active_ms.store(self.started.elapsed().as_millis() as u64, Ordering::Relaxed);
    }

    /// Serves one request from its place in the queue to its answer, a line without its end.
    pub(super) async fn serve(self: &Arc<Self>, call: Call, context: Context) -> Vec<u8> {
        self.touch();
        let id = context.id.clone();
        let result = self.admit(call, context).await;
        let mut counts = self.counts();
        *match result.as_ref().map_err(|e| e.data.code) {
            Ok(_) => &mut counts.ok,
            Err(ErrorCode::Cancelled) => &mut counts.cancelled,
            Err(ErrorCode::Busy) => &mut counts.busy,
            Err(_) => &mut counts.failed,
        } += 1;
        drop(counts);
        self.touch();
        match result {
            Ok(result) => rpc::result(&id, &result),
            Err(error) => rpc::error(Some(&id), &error),
        }
    }

    async fn admit(self: &Arc<Self>, call: Call, context: Context) -> Answer {
        if let Call::Hello(params) = &call {
            return hello(params);
        }
        if let Call::Shutdown(params) = &call {
            tracing::info!(reason = params.reason.as_deref().unwrap_or("stop"), "asked to end");
            self.drain();
            return json(&ShutdownResult { pid: std::process::id(), draining: self.in_flight() });
        }
        if *self.closing.borrow() != Closing::Open {
            return Err(
                ErrorObject::new(ErrorCode::ShuttingDown, "the daemon is ending").with_retry_after_ms(200)
            );
        }
        if matches!(call, Call::Status(_)) {
            // Must answer when everything else is stuck, so it takes no place.
            let server = Arc::clone(self);
            return blocking(move || json(&server.status())).await;
        }
        if matches!(call, Call::ContextOffer(_)) {
            // Those that wait for it may hold all threads. It takes no time.
            return self.guarded(call, &context);
        }
        let place = self.place(&context.cancel).await?;
        let context = Context { place: Place::of(place, &self.places), ..context };
        self.running.fetch_add(1, Ordering::Relaxed);
        let server = Arc::clone(self);
        let result = blocking(move || {
            let result = server.guarded(call, &context);
            server.running.fetch_sub(1, Ordering::Relaxed);
            result
        });
        result.await
    }

    /// Waits for a place to run in.
    async fn place(&self, cancel: &Cancel) -> Result<tokio::sync::OwnedSemaphorePermit, ErrorObject> {
        if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            return Ok(place);
        }
        if self.queued.fetch_add(1, Ordering::Relaxed) as usize >= QUEUE_MAX {
            self.queued.fetch_sub(1, Ordering::Relaxed);
            return Err(busy(format!("{QUEUE_MAX} requests are waiting already")));
        }
        let place = tokio::select! {
            place = Arc::clone(&self.places).acquire_owned() => place.map_err(|_| cancelled()),
            () = cancel.cancelled() => Err(cancelled()),
        };
        self.queued.fetch_sub(1, Ordering::Relaxed);
        place
    }

    /// Runs a request on this thread; a fault in it costs this request alone.
    fn guarded(&self, call: Call, context: &Context) -> Answer {
        context.check()?;
        let method = call.method();
        let span =
            tracing::info_span!("request", correlation_id = %context.correlation_id, method = method.name());
        let _entered = span.enter();
        let started = Instant::now();
        tracing::debug!(queued_us = context.age().as_micros() as u64, "begins");
        let result = std::panic::catch_unwind(AssertUnwindSafe(|| self.backend.call(call, context)));
        let result = result.unwrap_or_else(|payload| match payload.downcast::<Unreadable>() {
            Ok(unreadable) => Err(convert::unreadable(&unreadable.0)),
            Err(_) => {
                self.counts().panicked += 1;
                let packs = matches!(method, Method::Pack | Method::Preview);
                let code = if packs { ErrorCode::PackingFailed } else { ErrorCode::Internal };
                let id = &context.correlation_id;
                Err(ErrorObject::new(code, format!("a fault in the daemon, logged under {id}")))
            }
        });
        let took_us = started.elapsed().as_micros() as u64;
        match &result {
            Ok(json) => tracing::debug!(took_us, bytes = json.get().len(), "answered"),
            Err(e) if matches!(e.data.exit, 69 | 70 | 74) => {
                tracing::error!(took_us, code = e.data.code.name(), error = %e.message, "failed");
            }
            Err(e) => tracing::debug!(took_us, code = e.data.code.name(), "refused"),
        }
        result
    }

    fn status(&self) -> StatusResult {
        StatusResult {
            daemon: DaemonStatus {
                pid: std::process::id(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                protocol: PROTOCOL_VERSION,
                uptime_ms: self.started.elapsed().as_millis() as u64,
                socket: self.identity.socket.clone(),
                log: self.identity.log.clone(),
                executable: std::env::current_exe().unwrap_or_default().display().to_string(),
                private_bytes: indexd_os::private_bytes(),
                connections: self.clients.n_taken() as u32,
                in_flight: self.running.load(Ordering::Relaxed),
                queued: self.queued.load(Ordering::Relaxed),
                requests: self.counts().clone(),
                idle_exit_ms: self.identity.idle_exit.map_or(0, |d| d.as_millis() as u64),
            },
            ..self.backend.status()
        }
    }
}

/// Runs `work` on a thread that may block. Threads end with the runtime only, so a lost one is a
/// fault.
async fn blocking(work: impl FnOnce() -> Answer + Send + 'static) -> Answer {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|_| Err(ErrorObject::new(ErrorCode::Internal, "a fault in the daemon")))
}

fn hello(params: &HelloParams) -> Answer {
    let asked = params.protocol.unwrap_or(ProtocolRange::OURS);
    let protocol =
        asked.common(ProtocolRange::OURS).ok_or_else(|| rpc::unknown_version(asked.min, asked.max))?;
    let mut methods: Vec<String> = Method::ALL.iter().map(|m| m.name().to_owned()).collect();
    methods.sort();
    json(&HelloResult {
        protocol,
        supported: ProtocolRange::OURS,
        server: build(),
        methods,
        capabilities: ["cancel", "chunks", CAPABILITY_HEARTBEAT, "progress"].map(str::to_owned).to_vec(),
        pid: std::process::id(),
    })
}

/// The error for a client that has to come back later.
pub(super) fn busy(message: String) -> ErrorObject {
    ErrorObject::new(ErrorCode::Busy, message).with_retry_after_ms(BUSY_RETRY.as_millis() as u64)
}

/// Writes a result.
///
/// # Errors
/// `POC_E_INTERNAL` for a type that is no JSON.
pub fn json<T: serde::Serialize>(value: &T) -> Answer {
    serde_json::value::to_raw_value(value)
        .map_err(|e| ErrorObject::new(ErrorCode::Internal, format!("the answer is no JSON: {e}")))
}
