//! A client of a server in this process, over a pipe in memory.

use indexd::server::Server;
use indexd::server::connection::{self, HungUp, Timeouts};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf};

/// One client at the other end of a pipe.
pub struct Client {
    pub lines: BufReader<ReadHalf<DuplexStream>>,
    pub writer: WriteHalf<DuplexStream>,
    pub served: tokio::task::JoinHandle<()>,
}

impl Client {
    pub fn new(server: &Arc<Server>, timeouts: Timeouts, hung_up: HungUp) -> Self {
        let client = server.connect().expect("a place");
        let (ours, theirs) = tokio::io::duplex(64 << 10);
        let (reader, writer) = tokio::io::split(theirs);
        let served = tokio::spawn(connection::serve(client, reader, writer, timeouts, hung_up));
        let (reader, writer) = tokio::io::split(ours);
        Self { lines: BufReader::new(reader), writer, served }
    }

    pub fn of(server: &Arc<Server>) -> Self {
        Self::new(server, Timeouts::default(), Box::new(|| false))
    }

    pub async fn send(&mut self, line: &str) {
        self.writer.write_all(line.as_bytes()).await.unwrap();
        self.writer.write_all(b"\n").await.unwrap();
    }

    pub async fn search(&mut self, id: u32, query: &str) {
        self.send(
            &json!({"jsonrpc": "2.0", "id": id, "method": "search", "params": {"query": query}}).to_string(),
        )
        .await;
    }

    /// The next message; `None` at the end.
    pub async fn receive(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = tokio::time::timeout(Duration::from_secs(20), self.lines.read_line(&mut line));
        match read.await.expect("an answer in time") {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(serde_json::from_str(&line).unwrap()),
        }
    }

    pub async fn answer(&mut self) -> Value {
        self.receive().await.expect("an answer")
    }
}

pub fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(test);
    runtime.shutdown_timeout(Duration::from_secs(1));
}

pub async fn until(what: &str, condition: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(20);
    while !condition() {
        assert!(Instant::now() < end, "{what}");
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

pub fn code(answer: &Value) -> &str {
    answer["error"]["data"]["code"].as_str().unwrap_or("none")
}
