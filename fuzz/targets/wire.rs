//! What a client or a daemon may send: frames cut anywhere, messages, calls.

#![no_main]

use indexd_proto::correlation::CorrelationId;
use indexd_proto::frame::{Decoder, Frame};
use indexd_proto::{Call, Incoming, Outgoing};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use std::fs;
use std::path::Path;

fuzz_target!(
    init: indexd_fuzz::write_seeds(seeds),
    |data: &[u8]| {
        let Some((&size, bytes)) = data.split_first() else { return };
        let cut = frames(bytes, usize::from(size) + 1, 1 << 10);
        assert_eq!(cut, frames(bytes, bytes.len().max(1), 1 << 10), "pieces matter");
        for frame in cut {
            if let Frame::Line(line) = frame {
                assert!(line.len() <= 1 << 10 && !line.contains(&b'\n'));
                message(&line);
            }
        }
    }
);

fn frames(bytes: &[u8], size: usize, line_bytes_max: usize) -> Vec<Frame> {
    let mut decoder = Decoder::new(line_bytes_max);
    let mut out = Vec::new();
    for piece in bytes.chunks(size) {
        decoder.feed(piece);
        while let Some(frame) = decoder.next_frame() {
            out.push(frame);
        }
    }
    out
}

fn message(line: &[u8]) {
    let _ = Outgoing::parse(line);
    let Ok(message) = Incoming::parse(line) else { return };
    let mut params: Value = serde_json::from_str(message.params).expect("a part of a message that is JSON");
    if CorrelationId::take(&mut params).is_ok() {
        let _ = Call::parse(&message.method, params);
    }
}

/// The messages of the protocol's own examples.
fn seeds() -> Vec<Vec<u8>> {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../proto/PROTOCOL.md"))
        .expect("a file");
    let lines = text.lines().map(|line| line.trim_start_matches(['>', '<', '-', '→', '←', ' ']));
    lines.filter(|line| line.starts_with('{')).map(|line| format!("\x20{line}\n").into_bytes()).collect()
}
