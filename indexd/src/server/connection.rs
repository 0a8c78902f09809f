//! One client: lines in, lines out, requests between them.
//!
//! Any pair of byte streams will do; tests use a pipe in memory. Answers are written in the order
//! in which they are ready. A client that leaves, stops reading, or stops within a line costs its
//! own requests only.

use crate::config::Mount;
use crate::server::backend::{Cancel, Context, Place};
use crate::server::dispatch::{Closing, Connected, busy};
use crate::server::limits::{
    FIRST_TIMEOUT, HEARTBEAT, IN_FLIGHT_PER_CLIENT_MAX, OUTBOX_MAX, PARTIAL_LINE_TIMEOUT, QUIET_TIMEOUT,
    UNCOUNTED_BYTES, WRITE_TIMEOUT,
};
use indexd_proto::correlation::CorrelationId;
use indexd_proto::error::{ErrorCode, ErrorObject};
use indexd_proto::frame::{Decoder, Frame};
use indexd_proto::hello::{self, HelloParams};
use indexd_proto::limits::FRAME_BYTES_MAX;
use indexd_proto::rpc::{self, CancelParams, Incoming};
use indexd_proto::{Call, Id};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// Time limits of a connection, apart for tests.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// Until the first request.
    pub first: Duration,
    /// Within a line.
    pub partial_line: Duration,
    /// Without any request, after the first.
    pub quiet: Duration,
    /// For the client to take a byte.
    pub write: Duration,
}

impl Timeouts {
    /// For standard input and output, whose other end is a parent that may take its time.
    pub fn endless() -> Self {
        let long = Duration::from_secs(365 * 86_400);
        Self { first: long, partial_line: long, quiet: long, write: long }
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            first: FIRST_TIMEOUT,
            partial_line: PARTIAL_LINE_TIMEOUT,
            quiet: QUIET_TIMEOUT,
            write: WRITE_TIMEOUT,
        }
    }
}

static CONNECTIONS: AtomicU64 = AtomicU64::new(0);

/// The requests of a connection that have no answer yet.
#[derive(Clone, Default)]
struct InFlight(Arc<Mutex<BTreeMap<Id, Cancel>>>);

impl InFlight {
    fn with<T>(&self, f: impl FnOnce(&mut BTreeMap<Id, Cancel>) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Ends every request when the connection ends, however that happens.
struct CancelAll(InFlight);

impl Drop for CancelAll {
    fn drop(&mut self) {
        self.0.with(|map| map.values().for_each(Cancel::cancel));
    }
}

/// A message on its way out; the request it answers counts as in flight until its turn comes.
struct Outgoing {
    line: Vec<u8>,
    answers: Option<Id>,
    /// Its share of what is held for all clients, given back when it is written.
    _held: Option<OwnedSemaphorePermit>,
}

/// A share of what may be held for all clients, for so many bytes.
fn kib(bytes: usize) -> u32 {
    bytes.div_ceil(1 << 10) as u32
}

/// Whether the other side has closed both halves; asked only after its last byte.
pub type HungUp = Box<dyn Fn() -> bool + Send + Sync>;

/// Serves a client until it leaves or the server closes.
pub async fn serve<R, W>(client: Connected, reader: R, writer: W, timeouts: Timeouts, hung_up: HungUp)
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let in_flight = InFlight::default();
    let (outbox, messages) = mpsc::channel(OUTBOX_MAX);
    let client = Arc::new(client);
    let writing =
        tokio::spawn(write(writer, messages, in_flight.clone(), Arc::clone(&client), timeouts.write));
    let connection = Connection {
        number: CONNECTIONS.fetch_add(1, Ordering::Relaxed),
        client: Arc::clone(&client),
        in_flight: in_flight.clone(),
        hello: Mutex::default(),
        outbox,
        timeouts,
        hung_up,
    };
    let cancel_all = CancelAll(in_flight);
    let mut closing = client.server.closing();
    tokio::select! {
        () = connection.read(reader) => {}
        () = client.seat.gives_way() => {}
        _ = closing.wait_for(|c| *c == Closing::Closed) => {}
    }
    drop(cancel_all);
    drop(connection);
    // What was answered is still written; requests that end later find the outbox closed.
    let _ = writing.await;
}

struct Connection {
    number: u64,
    client: Arc<Connected>,
    in_flight: InFlight,
    /// The last `hello`; a client that has sent one knows of heartbeats.
    hello: Mutex<Option<HelloParams>>,
    outbox: mpsc::Sender<Outgoing>,
    timeouts: Timeouts,
    hung_up: HungUp,
}

impl Connection {
    async fn read(&self, mut reader: impl AsyncRead + Unpin) {
        let mut decoder = Decoder::default();
        let mut buffer = vec![0; 64 << 10];
        let mut quiet_since = Instant::now();
        let mut quiet = self.timeouts.first;
        // Its share of what is held for all clients, while its line is long and not complete.
        let mut held: Option<OwnedSemaphorePermit> = None;
        loop {
            if !self.hold(&mut held, decoder.n_buffered()) {
                let error = busy("too many long lines of all clients are under way".to_owned());
                let _ = self.send(rpc::error(None, &error), None).await;
                return;
            }
            let limit = if decoder.is_mid_line() { self.timeouts.partial_line } else { quiet };
            let n = tokio::select! {
                n = tokio::time::timeout(limit, reader.read(&mut buffer)) => n,
                // The writer ends early only when the client does not read.
                () = self.outbox.closed() => return,
            };
            match n {
                Ok(Ok(n)) if n > 0 => decoder.feed(&buffer[..n]),
                // The client has left or shut its half: what it asked for is still answered when
                // only that half is shut, as `socat` does at the end of its input.
                Ok(Ok(_)) => {
                    // The end of the input ends its last line too.
                    decoder.feed(b"\n");
                    if self.frames(&mut decoder).await {
                        self.finish().await;
                    }
                    return;
                }
                Ok(Err(_)) => return,
                Err(_) if decoder.is_mid_line() => {
                    let error = ErrorObject::new(ErrorCode::Parse, "the line did not end in time");
                    let _ = self.send(rpc::error(None, &error), None).await;
                    return;
                }
                Err(_) if self.in_flight.with(|m| m.is_empty()) && quiet_since.elapsed() >= quiet => {
                    return;
                }
                Err(_) => continue,
            }
            quiet_since = Instant::now();
            if !self.frames(&mut decoder).await {
                return;
            }
            if !decoder.is_mid_line() {
                quiet = self.timeouts.quiet;
            }
        }
    }

    /// Sees to it that the share held for an unfinished line is that of its bytes. False when there is
    /// no room for it.
    fn hold(&self, held: &mut Option<OwnedSemaphorePermit>, bytes: usize) -> bool {
        if bytes <= UNCOUNTED_BYTES {
            *held = None;
            return true;
        }
        let missing = (kib(bytes) as usize).saturating_sub(held.as_ref().map_or(0, |h| h.num_permits()));
        match Arc::clone(&self.client.server.room).try_acquire_many_owned(missing as u32) {
            Ok(more) => {
                match held {
                    Some(held) => held.merge(more),
                    None => *held = Some(more),
                }
                true
            }
            Err(_) => false,
        }
    }

    /// Takes the lines that are complete. False when the client takes no answers any more.
    async fn frames(&self, decoder: &mut Decoder) -> bool {
        while let Some(frame) = decoder.next_frame() {
            let sent = match frame {
                Frame::Line(line) => self.line(&line).await,
                Frame::TooLong => {
                    let message = format!("a line is longer than {FRAME_BYTES_MAX} bytes");
                    self.send(rpc::error(None, &ErrorObject::new(ErrorCode::FrameTooLong, message)), None)
                        .await
                }
            };
            if !sent {
                return false;
            }
        }
        true
    }

    /// Waits for the answers to what was asked, as long as there is somebody to take them.
    async fn finish(&self) {
        while !self.in_flight.with(|m| m.is_empty()) && !(self.hung_up)() {
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(5)) => {}
                () = self.outbox.closed() => return,
            }
        }
    }

    async fn send(&self, line: Vec<u8>, answers: Option<Id>) -> bool {
        self.outbox.send(Outgoing { line, answers, _held: None }).await.is_ok()
    }

    async fn line(&self, line: &[u8]) -> bool {
        let message = match Incoming::parse(line) {
            Ok(message) => message,
            Err((id, error)) => return self.send(rpc::error(id.as_ref(), &error), None).await,
        };
        let Some(id) = message.id else {
            self.notification(&message.method, message.params);
            return true;
        };
        // The frame is JSON, so its parameters are.
        let mut params: Value = serde_json::from_str(message.params).unwrap_or_default();
        let mount = self.client.server.backend.path_map().and_then(|map| map.inward(&mut params));
        let parsed =
            CorrelationId::take(&mut params).and_then(|own| Ok((own, Call::parse(&message.method, params)?)));
        match parsed {
            Ok((own, call)) => self.begin(id, call, own, mount).await,
            Err(error) => self.send(rpc::error(Some(&id), &error), None).await,
        }
    }

    /// Notifications have no answer, not even when they are wrong.
    fn notification(&self, method: &str, params: &str) {
        if method == "$/cancelRequest"
            && let Ok(params) = serde_json::from_str::<CancelParams>(params)
        {
            self.in_flight.with(|map| map.get(&params.id).map(Cancel::cancel));
        }
    }

    async fn begin(&self, id: Id, call: Call, own_name: Option<CorrelationId>, mount: Option<Mount>) -> bool {
        let server = Arc::clone(&self.client.server);
        let hello = {
            let mut hello = self.hello.lock().unwrap_or_else(PoisonError::into_inner);
            if let Call::Hello(params) = &call {
                *hello = Some(params.clone());
            }
            hello.clone()
        };
        let correlation_id =
            own_name.map_or_else(|| server.correlation_id(self.number), |id| id.as_str().to_owned());
        let cancel = Cancel::default();
        let refused = self.in_flight.with(|map| {
            if map.contains_key(&id) {
                Some(ErrorObject::invalid(format!("a request with id {id} is in flight")).with_number(-32600))
            } else if map.len() >= IN_FLIGHT_PER_CLIENT_MAX && !matches!(call, Call::ContextOffer(_)) {
                // An offer is what those in flight may wait for.
                Some(busy(format!("{IN_FLIGHT_PER_CLIENT_MAX} requests of this connection are in flight")))
            } else if self.client.note(true) {
                map.insert(id.clone(), cancel.clone());
                None
            } else {
                Some(busy("the connection had to make room for another one".to_owned()))
            }
        });
        if let Some(error) = refused {
            return self.send(rpc::error(Some(&id), &error), None).await;
        }
        let client = hello.as_ref().and_then(|h| h.client.as_ref());
        let context = Context {
            id: id.clone(),
            received: Instant::now(),
            correlation_id,
            cancel,
            is_for_agents: client.is_some_and(|c| c.name == hello::FOR_AGENTS),
            mount,
            client_pulls: hello.as_ref().is_some_and(|h| h.pulls),
            place: Place::default(),
            notify: notifier(self.outbox.clone(), Arc::clone(&server.room)),
        };
        let outbox = self.outbox.clone();
        let beats = hello.is_some();
        tokio::spawn(async move {
            let serving = server.serve(call, context);
            let mut line = if beats { with_heartbeats(serving, &outbox).await } else { serving.await };
            if line.len() > FRAME_BYTES_MAX {
                let message = format!("the answer has {} bytes, a line holds {FRAME_BYTES_MAX}", line.len());
                let error = ErrorObject::new(ErrorCode::BudgetExceeded, message)
                    .with_hint("ask for less: lower maxTotalChars or limit");
                line = rpc::error(Some(&id), &error);
            }
            // Waits while slow clients hold too much; they are gone when they take no byte for long.
            let held = Arc::clone(&server.room).acquire_many_owned(kib(line.len())).await.ok();
            let _ = outbox.send(Outgoing { line, answers: Some(id), _held: held }).await;
        });
        true
    }
}

/// Waits for an answer and says meanwhile, now and then, that work on it goes on.
async fn with_heartbeats(serving: impl Future<Output = Vec<u8>>, outbox: &mpsc::Sender<Outgoing>) -> Vec<u8> {
    tokio::pin!(serving);
    loop {
        tokio::select! {
            line = &mut serving => return line,
            () = tokio::time::sleep(HEARTBEAT) => {
                let line = rpc::request(None, hello::HEARTBEAT, serde_json::Map::new());
                // Who has messages waiting knows already.
                let _ = outbox.try_send(Outgoing { line, answers: None, _held: None });
            }
        }
    }
}

/// Sends from the blocking thread of a request. A slow client holds its own thread here until it
/// reads or the write times out.
fn notifier(
    outbox: mpsc::Sender<Outgoing>,
    room: Arc<Semaphore>,
) -> Box<dyn Fn(Vec<u8>) -> bool + Send + Sync> {
    let runtime = tokio::runtime::Handle::current();
    Box::new(move |line| {
        let held = runtime.block_on(Arc::clone(&room).acquire_many_owned(kib(line.len()))).ok();
        outbox.blocking_send(Outgoing { line, answers: None, _held: held }).is_ok()
    })
}

/// Writes messages until there are no more senders or the client stops reading.
async fn write<W: AsyncWrite + Unpin>(
    mut writer: W,
    mut messages: mpsc::Receiver<Outgoing>,
    in_flight: InFlight,
    client: Arc<Connected>,
    limit: Duration,
) {
    while let Some(mut message) = messages.recv().await {
        message.line.push(b'\n');
        // Before the write: a client may use the id again as soon as it has read the answer.
        if let Some(id) = message.answers {
            in_flight.with(|map| map.remove(&id));
        }
        if !write_all(&mut writer, &message.line, limit).await {
            in_flight.with(|map| map.values().for_each(Cancel::cancel));
            return;
        }
        if messages.is_empty() {
            in_flight.with(|map| {
                if map.is_empty() {
                    // Whether it has to give way is heard elsewhere.
                    let _ = client.note(false);
                }
            });
        }
    }
    let _ = writer.shutdown().await;
}

/// Writes a whole line; the limit counts from the last byte that was taken.
async fn write_all<W: AsyncWrite + Unpin>(writer: &mut W, mut line: &[u8], limit: Duration) -> bool {
    while !line.is_empty() {
        match tokio::time::timeout(limit, writer.write(line)).await {
            Ok(Ok(n)) if n > 0 => line = &line[n..],
            _ => return false,
        }
    }
    matches!(tokio::time::timeout(limit, writer.flush()).await, Ok(Ok(())))
}
