//! The protocol: what a client may rely on, whatever the answers are.
//!
//! A scripted backend stands for the work, so that waiting, faults and floods can be had on demand.

use crate::client::{Client, code, run, until};
use indexd::server::Server;
use indexd::server::backend::{Answer, Backend, Context, cancelled};
use indexd::server::connection::Timeouts;
use indexd::server::dispatch::{self, Closing, Identity};
use indexd::server::limits::{
    CONNECTIONS_MAX, HEARTBEAT, HELD_KIB_MAX, IN_FLIGHT_PER_CLIENT_MAX, QUEUE_MAX, RUNNING_MAX, SILENT_MIN,
};
use indexd_proto::Call;
use indexd_proto::limits::FRAME_BYTES_MAX;
use indexd_proto::rpc::{self, ChunkParams};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;

/// Does what the query of a `search` says; everything else is answered with its method.
#[derive(Default)]
struct Scripted {
    hanging: AtomicU32,
    cancelled: AtomicU32,
    shut_down: AtomicBool,
}

impl Backend for Scripted {
    fn call(&self, call: Call, ctx: &Context) -> Answer {
        let Call::Search(params) = &call else {
            assert!(!matches!(&call, Call::Pack(p) if p.request.query == "panic"), "as asked");
            return dispatch::json(&json!({"method": call.method().name()}));
        };
        let (verb, argument) = params.query.split_once(':').unwrap_or((&params.query, ""));
        match verb {
            "sleep" => std::thread::sleep(Duration::from_millis(argument.parse().unwrap())),
            "hang" => {
                self.hanging.fetch_add(1, Ordering::SeqCst);
                while !ctx.cancel.is_cancelled() {
                    std::thread::sleep(Duration::from_millis(2));
                }
                self.cancelled.fetch_add(1, Ordering::SeqCst);
                return Err(cancelled());
            }
            "panic" => panic!("as asked"),
            "big" => return dispatch::json(&"x".repeat(FRAME_BYTES_MAX)),
            "flood" => {
                for seq in 0.. {
                    let chunk = ChunkParams { id: ctx.id.clone(), seq, text: "x".repeat(100_000) };
                    if let Err(e) = ctx.send(rpc::request(None, "$/chunk", chunk)) {
                        self.cancelled.fetch_add(1, Ordering::SeqCst);
                        return Err(e);
                    }
                }
            }
            _ => {}
        }
        dispatch::json(&json!({"echo": params.query}))
    }

    fn shutdown(&self) {
        self.shut_down.store(true, Ordering::SeqCst);
    }
}

fn scripted() -> (Arc<Scripted>, Arc<Server>) {
    let backend = Arc::new(Scripted::default());
    let server = Server::new(Arc::clone(&backend) as Arc<dyn Backend>, Identity::default());
    (backend, server)
}

/// Lines that begin with `>` are sent, those that begin with `<` are the answers in order; `*`
/// stands for any string or number, and members of an answer that are not named may be anything.
fn check_transcript(name: &str, text: &str) {
    run(async {
        let (_, server) = scripted();
        let mut client = Client::of(&server);
        for (n, line) in text.lines().enumerate() {
            if let Some(sent) = line.strip_prefix("> ") {
                client.send(sent).await;
            } else if let Some(expected) = line.strip_prefix("< ") {
                let expected: Value = serde_json::from_str(expected).unwrap();
                let got = client.answer().await;
                assert!(covers(&expected, &got), "{name}:{}\nexpected {expected}\n     got {got}", n + 1);
            }
        }
    });
}

fn covers(expected: &Value, got: &Value) -> bool {
    match (expected, got) {
        (Value::String(star), got) if star == "*" => got.is_string() || got.is_number(),
        (Value::Object(e), Value::Object(g)) => e.iter().all(|(k, v)| g.get(k).is_some_and(|g| covers(v, g))),
        (Value::Array(e), Value::Array(g)) => {
            e.len() == g.len() && e.iter().zip(g).all(|(e, g)| covers(e, g))
        }
        (e, g) => e == g,
    }
}

#[test]
fn transcripts_hold() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("protocol");
    let mut names: Vec<_> = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()).collect();
    names.sort();
    assert!(!names.is_empty());
    for path in names {
        check_transcript(&path.display().to_string(), &std::fs::read_to_string(&path).unwrap());
    }
}

#[test]
fn answers_come_when_they_are_ready() {
    run(async {
        let (_, server) = scripted();
        let mut client = Client::of(&server);
        client.search(1, "sleep:300").await;
        client.search(2, "quick").await;
        assert_eq!(client.answer().await, json!({"jsonrpc": "2.0", "id": 2, "result": {"echo": "quick"}}));
        assert_eq!(client.answer().await["id"], 1);
    });
}

#[test]
fn a_cancelled_request_is_answered_at_once() {
    run(async {
        let (backend, server) = scripted();
        let mut client = Client::of(&server);
        client.search(1, "hang").await;
        until("it runs", || backend.hanging.load(Ordering::SeqCst) == 1).await;
        let asked = Instant::now();
        client.send(r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}"#).await;
        let answer = client.answer().await;
        assert_eq!(
            (code(&answer), &answer["id"], &answer["error"]["data"]["exit"]),
            ("POC_E_CANCELLED", &json!(1), &json!(130))
        );
        assert!(asked.elapsed() < Duration::from_millis(500), "{:?}", asked.elapsed());
        assert_eq!(backend.cancelled.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn a_client_that_leaves_cancels_its_requests() {
    run(async {
        let (backend, server) = scripted();
        let left = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&left);
        let mut client =
            Client::new(&server, Timeouts::default(), Box::new(move || seen.load(Ordering::SeqCst)));
        client.search(1, "hang").await;
        until("it runs", || backend.hanging.load(Ordering::SeqCst) == 1).await;
        left.store(true, Ordering::SeqCst);
        drop((client.lines, client.writer));
        until("it was cancelled", || backend.cancelled.load(Ordering::SeqCst) == 1).await;
        until("nothing is left", || server.in_flight() == 0).await;
    });
}

#[test]
fn a_client_that_ended_its_input_still_gets_its_answers() {
    run(async {
        let (_, server) = scripted();
        let mut client = Client::of(&server);
        client.search(1, "sleep:100").await;
        client.writer.shutdown().await.unwrap();
        assert_eq!(client.answer().await["result"]["echo"], "sleep:100");
        assert_eq!(client.receive().await, None);
        // The end of the input ends its last line.
        let mut client = Client::of(&server);
        client.writer.write_all(br#"{"id":2,"method":"search","params":{"query":"last"}}"#).await.unwrap();
        client.writer.shutdown().await.unwrap();
        assert_eq!(client.answer().await["result"]["echo"], "last");
        assert_eq!(client.receive().await, None);
    });
}

#[test]
fn one_client_has_few_requests_in_flight() {
    run(async {
        let (_, server) = scripted();
        let mut client = Client::of(&server);
        for id in 0..=IN_FLIGHT_PER_CLIENT_MAX as u32 {
            client.search(id, "hang").await;
        }
        let answer = client.answer().await;
        assert_eq!((code(&answer), &answer["id"]), ("POC_E_BUSY", &json!(IN_FLIGHT_PER_CLIENT_MAX)));
        assert!(answer["error"]["data"]["retryAfterMs"].as_u64().unwrap() > 0);
        // An id in flight cannot be used twice; a hang is ended by its client alone.
        client.search(0, "quick").await;
        assert_eq!(client.answer().await["error"]["code"], -32600);
        client.send(r#"{"method":"$/cancelRequest","params":{"id":0}}"#).await;
        assert_eq!(client.answer().await["id"], 0);
        client.search(0, "quick").await;
        assert_eq!(client.answer().await["result"]["echo"], "quick");
    });
}

#[test]
fn there_are_so_many_connections_and_no_more() {
    run(async {
        let (_, server) = scripted();
        let mut places: Vec<_> = (0..CONNECTIONS_MAX).map(|_| server.connect().expect("a place")).collect();
        places.iter().for_each(|place| _ = place.note(true));
        assert!(server.connect().is_none(), "all wait for an answer");
        // One refused has taken nothing, one that left gave its place back.
        places.pop();
        let mut client = Client::of(&server);
        client.send(r#"{"id":1,"method":"status"}"#).await;
        assert_eq!(client.answer().await["result"]["daemon"]["connections"], CONNECTIONS_MAX);
        client.writer.shutdown().await.unwrap();
        client.served.await.unwrap();
        assert!(server.connect().is_some());
        // Who waits for nothing makes room, but not at once.
        let last = server.connect().expect("the place that is free");
        last.note(true);
        places[0].note(false);
        assert!(server.connect().is_none(), "it was answered just now");
        tokio::time::sleep(SILENT_MIN).await;
        assert!(server.connect().is_some(), "it was silent for a while");
    });
}

#[test]
fn a_flood_is_refused_and_status_still_answers() {
    run(async {
        let (_, server) = scripted();
        let mut clients: Vec<Client> = Vec::new();
        let room = RUNNING_MAX + QUEUE_MAX;
        for n in 0..room {
            if n % IN_FLIGHT_PER_CLIENT_MAX == 0 {
                clients.push(Client::new(&server, Timeouts::default(), Box::new(|| true)));
            }
            clients.last_mut().unwrap().search(n as u32, "hang").await;
        }
        until("all places are taken", || server.in_flight() as usize == room).await;
        let mut late = Client::of(&server);
        late.search(1, "quick").await;
        assert_eq!(code(&late.answer().await), "POC_E_BUSY");
        late.send(r#"{"id":2,"method":"status"}"#).await;
        let status = late.answer().await;
        assert_eq!(status["result"]["daemon"]["queued"], QUEUE_MAX);
        drop(clients);
        until("the places are free again", || server.in_flight() == 0).await;
        late.search(3, "quick").await;
        assert_eq!(late.answer().await["result"]["echo"], "quick");
    });
}

#[test]
fn a_line_over_the_limit_costs_itself_alone() {
    run(async {
        let (_, server) = scripted();
        let mut client = Client::of(&server);
        let long = "x".repeat(FRAME_BYTES_MAX + 1);
        client.send(&long).await;
        let answer = client.answer().await;
        assert_eq!((code(&answer), &answer["id"]), ("POC_E_FRAME_TOO_LONG", &Value::Null));
        client.search(1, "quick").await;
        assert_eq!(client.answer().await["result"]["echo"], "quick");
        client.search(2, "big").await;
        assert_eq!(code(&client.answer().await), "POC_E_BUDGET_EXCEEDED");
    });
}

#[test]
fn a_fault_costs_one_request() {
    run(async {
        let (_, server) = scripted();
        let mut client = Client::of(&server);
        client.search(1, "panic").await;
        let answer = client.answer().await;
        assert_eq!((code(&answer), &answer["error"]["data"]["exit"]), ("POC_E_INTERNAL", &json!(70)));
        assert!(!answer.to_string().contains("as asked"), "the message of a fault may hold data: {answer}");
        client.send(r#"{"id":2,"method":"pack","params":{"query":"panic"}}"#).await;
        let answer = client.answer().await;
        assert_eq!((code(&answer), &answer["error"]["data"]["exit"]), ("ACODE-CTX-001", &json!(70)));
        client.send(r#"{"id":3,"method":"status"}"#).await;
        assert_eq!(client.answer().await["result"]["daemon"]["requests"]["panicked"], 2);
    });
}

#[test]
fn a_client_that_does_not_read_is_dropped() {
    run(async {
        let (backend, server) = scripted();
        let timeouts = Timeouts { write: Duration::from_millis(100), ..Timeouts::default() };
        let mut client = Client::new(&server, timeouts, Box::new(|| false));
        client.search(1, "flood").await;
        until("it was cancelled", || backend.cancelled.load(Ordering::SeqCst) == 1).await;
        client.served.await.unwrap();
    });
}

#[test]
fn a_client_that_stops_within_a_line_is_dropped() {
    run(async {
        let (_, server) = scripted();
        let timeouts = Timeouts { partial_line: Duration::from_millis(50), ..Timeouts::default() };
        let mut client = Client::new(&server, timeouts, Box::new(|| false));
        client.writer.write_all(b"{\"id\":1,").await.unwrap();
        assert_eq!(code(&client.answer().await), "POC_E_PARSE");
        assert_eq!(client.receive().await, None);
    });
}

#[test]
fn a_client_that_asks_nothing_gives_its_place_back() {
    run(async {
        let (_, server) = scripted();
        let timeouts = Timeouts { first: Duration::from_millis(50), ..Timeouts::default() };
        let mut client = Client::new(&server, timeouts, Box::new(|| false));
        assert_eq!(client.receive().await, None);
        // One that has asked may be quiet for longer.
        let mut client = Client::new(&server, timeouts, Box::new(|| false));
        client.search(1, "quick").await;
        assert_eq!(client.answer().await["id"], 1);
        tokio::time::sleep(Duration::from_millis(150)).await;
        client.search(2, "quick").await;
        assert_eq!(client.answer().await["id"], 2);
    });
}

#[test]
fn a_quiet_connection_is_closed_only_without_requests() {
    run(async {
        let (_, server) = scripted();
        let timeouts = Timeouts { quiet: Duration::from_millis(50), ..Timeouts::default() };
        let mut client = Client::new(&server, timeouts, Box::new(|| false));
        client.search(1, "sleep:300").await;
        assert_eq!(client.answer().await["id"], 1);
        assert_eq!(client.receive().await, None);
    });
}

#[test]
fn a_daemon_that_ends_finishes_what_is_in_flight() {
    run(async {
        let (_, server) = scripted();
        let mut client = Client::of(&server);
        client.search(1, "sleep:200").await;
        until("it runs", || server.in_flight() == 1).await;
        client.send(r#"{"id":2,"method":"shutdown","params":{"reason":"stop"}}"#).await;
        assert_eq!(client.answer().await["result"]["draining"], 1);
        client.search(3, "quick").await;
        assert_eq!(code(&client.answer().await), "POC_E_SHUTTING_DOWN");
        assert_eq!(client.answer().await["id"], 1);
        assert_eq!(*server.closing().borrow(), Closing::Draining);
        server.close();
        assert_eq!(client.receive().await, None);
    });
}

/// Who has said `hello` hears that work goes on; who has not would not know what it is told.
#[test]
fn work_that_takes_long_gives_signs_of_life_to_who_knows_them() {
    run(async {
        let (_, server) = scripted();
        let mut told = Client::of(&server);
        told.send(r#"{"id":"h","method":"hello","params":{"protocol":{"min":1,"max":1}}}"#).await;
        let hello = told.answer().await;
        assert!(hello["result"]["capabilities"].as_array().unwrap().contains(&json!("heartbeat")), "{hello}");
        let mut plain = Client::of(&server);
        let time = (HEARTBEAT * 5 / 2).as_millis();
        told.search(1, &format!("sleep:{time}")).await;
        plain.search(1, &format!("sleep:{time}")).await;
        let (first, second) = (told.answer().await, told.answer().await);
        assert_eq!((&first["method"], &second["method"]), (&json!("$/heartbeat"), &json!("$/heartbeat")));
        assert_eq!(told.answer().await["id"], 1);
        assert_eq!(plain.answer().await["id"], 1, "an answer and nothing before it");
    });
}

/// A client that has sent a long line, and stays, holds nothing of it.
#[test]
fn the_end_of_a_line_gives_its_share_back() {
    run(async {
        let (_, server) = scripted();
        let part = "x".repeat(FRAME_BYTES_MAX - (1 << 20));
        let mut clients = Vec::new();
        for n in 0..=HELD_KIB_MAX / (part.len() >> 10) {
            let mut client = Client::of(&server);
            client.send(&part).await;
            assert_eq!(code(&client.answer().await), "POC_E_PARSE", "client {n}");
            clients.push(client);
        }
    });
}

/// Unfinished lines of all clients have one bound; who goes beyond it is told to come back.
#[test]
fn what_is_held_for_all_clients_together_is_bounded() {
    run(async {
        let (_, server) = scripted();
        let part = "x".repeat(FRAME_BYTES_MAX - (1 << 20));
        let mut clients = Vec::new();
        for _ in 0..HELD_KIB_MAX / (part.len() >> 10) {
            let mut client = Client::of(&server);
            client.writer.write_all(part.as_bytes()).await.unwrap();
            clients.push(client);
        }
        let mut late = Client::of(&server);
        // It is refused within its line, when the pipe is closed.
        let _ = late.writer.write_all(part.as_bytes()).await;
        assert_eq!(code(&late.answer().await), "POC_E_BUSY");
        assert_eq!(late.receive().await, None);
        let mut short = Client::of(&server);
        short.search(1, "quick").await;
        assert_eq!(short.answer().await["id"], 1, "short lines need no share");
        let left = clients.pop().unwrap();
        drop((left.lines, left.writer));
        left.served.await.unwrap();
        let mut next = Client::of(&server);
        next.writer.write_all(part.as_bytes()).await.unwrap();
        next.send("").await;
        assert_eq!(code(&next.answer().await), "POC_E_PARSE", "it was read to its end");
    });
}
