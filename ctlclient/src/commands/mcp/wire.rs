//! Standard input and output of the protocol, one message a line, with what the library of the protocol
//! leaves out: a line that is not JSON, is too long or holds what no text of Rust can hold is answered with
//! JSON-RPC's own error, so that its sender does not wait for ever.

use std::sync::Arc;
use tokio::io::{
    AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream,
};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

/// Bytes on their way between the streams and the library.
const PIPE_BYTES: usize = 256 << 10;
/// Bytes of the longest line that is read.
const LINE_BYTES_MAX: u64 = 16 << 20;
/// The readable part of a line whose strings or numbers have no value: half of a surrogate pair, `1e999`.
#[derive(serde::Deserialize)]
struct Named {
    id: Option<serde_json::Value>,
}

/// The answer to a line that cannot be read (JSON-RPC 2.0, section 5.1), with its id where that can be known.
fn refused(line: &[u8]) -> String {
    let id = serde_json::from_slice::<Named>(line).ok().and_then(|named| named.id).unwrap_or_default();
    let error = serde_json::json!({"code": -32700, "message": "Parse error"});
    format!("{}\n", serde_json::json!({"jsonrpc": "2.0", "id": id, "error": error}))
}

/// Joins two streams with the end for the library; the task ends when all that the library wrote is out.
pub fn checked<R, W>(input: R, output: W) -> (DuplexStream, JoinHandle<()>)
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let (library, ours) = tokio::io::duplex(PIPE_BYTES);
    let (from_library, to_library) = tokio::io::split(ours);
    let output = Arc::new(Mutex::new(output));
    tokio::spawn(take_in(BufReader::new(input), to_library, Arc::clone(&output)));
    (library, tokio::spawn(give_out(BufReader::new(from_library), output)))
}

/// Hands on lines, and answers those that are not JSON.
async fn take_in<R: AsyncRead + Unpin, W: AsyncWrite + Unpin>(
    mut input: BufReader<R>,
    mut to_library: tokio::io::WriteHalf<DuplexStream>,
    output: Arc<Mutex<W>>,
) {
    let mut is_part = false;
    loop {
        let mut line = Vec::new();
        let read = (&mut input).take(LINE_BYTES_MAX).read_until(b'\n', &mut line).await;
        if read.is_err() || line.is_empty() {
            let _ = to_library.shutdown().await;
            return;
        }
        let is_rest = std::mem::replace(&mut is_part, !line.ends_with(b"\n"));
        let is_cut = is_part && line.len() as u64 == LINE_BYTES_MAX;
        let is_json = || serde_json::from_slice::<serde_json::Value>(&line).is_ok();
        let is_read = || !is_cut && (line.trim_ascii().is_empty() || is_json());
        let done = match is_rest {
            // The beginning of a line that is too long was answered.
            true => Ok(()),
            false if is_read() => to_library.write_all(&line).await,
            false => write(&output, refused(&line).as_bytes()).await,
        };
        if done.is_err() {
            return;
        }
    }
}

/// Writes whole lines.
async fn give_out<W: AsyncWrite + Unpin>(
    mut from_library: BufReader<tokio::io::ReadHalf<DuplexStream>>,
    output: Arc<Mutex<W>>,
) {
    let mut line = Vec::new();
    while from_library.read_until(b'\n', &mut line).await.is_ok_and(|n| n > 0) {
        if write(&output, &line).await.is_err() {
            return;
        }
        line.clear();
    }
}

async fn write<W: AsyncWrite + Unpin>(output: &Mutex<W>, line: &[u8]) -> std::io::Result<()> {
    let mut output = output.lock().await;
    output.write_all(line).await?;
    output.flush().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_json_is_answered_and_the_rest_passes() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (mut client, streams) = tokio::io::duplex(1 << 16);
            let (input, output) = tokio::io::split(streams);
            let (mut library, out) = checked(input, output);
            client.write_all(b"{\"a\":1}\nnot json\n\n{\"b\":\n[2]\n").await.unwrap();
            client
                .write_all(b"{\"id\":7,\"c\":\"\\ud800\"}\n{\"c\":1e999,\"id\":\"x\"}\nlast")
                .await
                .unwrap();
            client.shutdown().await.unwrap();
            let mut passed = String::new();
            library.read_to_string(&mut passed).await.unwrap();
            assert_eq!(passed, "{\"a\":1}\n\n[2]\n");
            library.write_all(b"{\"answer\":1}\n").await.unwrap();
            drop(library);
            out.await.unwrap();
            let mut said = String::new();
            client.read_to_string(&mut said).await.unwrap();
            assert_eq!(said.matches("-32700").count(), 5, "{said}");
            assert!(said.contains("\"id\":7") && said.contains("\"id\":\"x\""), "{said}");
            assert!(said.ends_with("{\"answer\":1}\n"), "{said}");
        });
    }

    #[test]
    fn a_line_that_is_too_long_is_answered_once() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (mut client, streams) = tokio::io::duplex(1 << 16);
            let (input, output) = tokio::io::split(streams);
            let (mut library, out) = checked(input, output);
            client.write_all(&vec![b' '; 2 * LINE_BYTES_MAX as usize + 5]).await.unwrap();
            client.write_all(b"\n[2]\n").await.unwrap();
            client.shutdown().await.unwrap();
            let mut passed = String::new();
            library.read_to_string(&mut passed).await.unwrap();
            assert_eq!(passed, "[2]\n");
            drop(library);
            out.await.unwrap();
            let mut said = String::new();
            client.read_to_string(&mut said).await.unwrap();
            assert_eq!(said.matches("-32700").count(), 1, "{said}");
        });
    }
}
