//! Exports and imports, streamed piece by piece.

use super::{LONG_WAIT, Reading, Service, TOOL_VERSION, reporter, target};
use crate::server::backend::{Answer, Context};
use crate::server::dispatch::json;
use crate::server::spool::Making;
use crate::server::{convert, edges, import};
use crate::workspace::folder_name;
use base64::Engine as _;
use indexd_artifact::{Artifact, Vocabulary};
use indexd_model::view::CONFIDENCE_CERTAIN;
use indexd_proto::error::{ErrorCode, ErrorObject};
use indexd_proto::export::{ExportParams, ExportResult};
use indexd_proto::import::{ImportParams, ImportResult};
use indexd_proto::limits::CHUNK_BYTES_MAX;
use indexd_proto::rpc::{self, ChunkParams};
use indexd_store::{Overlays, StoreError};
use std::io::Read;

impl Service {
    pub(super) fn export(&self, p: ExportParams, ctx: &Context, form: Form) -> Answer {
        let wait = p.wait.or(Some(LONG_WAIT));
        let reading = self.read(target(&p.repo, &p.cwd), wait, p.progress, ctx)?;
        let mut making = self.exports.begin(ctx)?;
        let written = match form {
            Form::Dump => reading.snapshot.dump(&mut making),
            Form::Edges => {
                edges::export(&reading.snapshot, &mut |text| making.push(text.as_bytes()))?;
                Ok(())
            }
            Form::Artifacts => {
                self.artifacts(&reading, &mut making)?;
                Ok(())
            }
            Form::Scip => {
                let options = indexd_scip::ExportOptions {
                    project_root: import::uri_of(reading.workspace.root()),
                    tool_version: TOOL_VERSION.to_owned(),
                    // A SCIP index has no place for doubt.
                    confidence_min: CONFIDENCE_CERTAIN,
                };
                indexd_scip::export(&reading.snapshot, &options, &mut making)
            }
        };
        if let Err(e) = written {
            return Err(making.failure().unwrap_or_else(|| unreadable(e)));
        }
        let envelope = reading.envelope(ctx);
        // A state that is read keeps the file of the index from being written to in place.
        drop(reading);
        let made = making.finish()?;
        let mut chunks = Chunks { ctx, is_binary: form == Form::Scip, seq: 0, bytes: 0 };
        ctx.aside(|| chunks.send_all(made))?;
        json(&ExportResult { n_chunks: chunks.seq, bytes: chunks.bytes, envelope })
    }

    /// Writes the index as artifacts, then the packs of the workspace that were written. Before the lines
    /// of each artifact stands one with its name.
    fn artifacts(&self, reading: &Reading, making: &mut Making) -> Result<(), ErrorObject> {
        let view = &reading.snapshot;
        let [texts, paths, commits] = view.vocabulary().map_err(|e| convert::unreadable(&e))?;
        let heading = |name: &str| format!("{{\"artifact\":\"{name}\"}}\n");
        // One without lines is written all the same, so the artifacts of every index are the same.
        let mut rest = Artifact::ALL.into_iter().peekable();
        let mut begun = None;
        indexd_artifact::write(view, &Vocabulary { texts, paths, commits }, &mut |artifact, line: &str| {
            while begun != Some(artifact)
                && let Some(next) = rest.next()
            {
                making.push(heading(next.name()).as_bytes())?;
                begun = Some(next);
            }
            making.push(line.as_bytes())?;
            making.push(b"\n")
        })?;
        for artifact in rest {
            making.push(heading(artifact.name()).as_bytes())?;
        }
        making.push(heading(PACKS).as_bytes())?;
        self.records.each(&folder_name(reading.workspace.root()), &mut |record| {
            making.push(record.trim_end().as_bytes())?;
            making.push(b"\n")
        })
    }

    pub(super) fn import(&self, p: ImportParams, ctx: &Context) -> Answer {
        let asked = import::asked(&p)?;
        let wait = p.wait.unwrap_or(LONG_WAIT);
        let mut reading = self.read(target(&p.repo, &p.cwd), Some(wait), p.progress, ctx)?;
        let (overlays, mut result) = match asked {
            None => (Overlays::default(), ImportResult::default()),
            Some(path) => import::overlays_of(path, &reading.snapshot, reading.workspace.root())?,
        };
        ctx.check()?;
        drop(reading.snapshot);
        reading.workspace.import(overlays, &|| ctx.cancel.is_cancelled(), &mut reporter(p.progress, ctx))?;
        reading.snapshot = reading.workspace.snapshot()?;
        result.envelope = reading.envelope(ctx);
        json(&result)
    }
}

/// Why a dump is not there: the store's error lies inside that of the system.
fn unreadable(e: std::io::Error) -> ErrorObject {
    match e.get_ref().and_then(|e| e.downcast_ref::<StoreError>()) {
        Some(e) => convert::unreadable(e),
        None => ErrorObject::new(ErrorCode::Internal, format!("the index cannot be exported: {e}")),
    }
}

/// The name of the artifact of packs.
const PACKS: &str = "context_packs";

/// What an export prints.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Dump,
    Edges,
    Artifacts,
    Scip,
}

/// Cuts a long text into notifications of whole lines, and other bytes into notifications in Base64.
struct Chunks<'a> {
    ctx: &'a Context,
    is_binary: bool,
    seq: u64,
    bytes: u64,
}

impl Chunks<'_> {
    fn send_all(&mut self, mut made: impl Read) -> Result<(), ErrorObject> {
        // Base64 makes four characters of three bytes.
        let max = if self.is_binary { CHUNK_BYTES_MAX / 4 * 3 } else { CHUNK_BYTES_MAX };
        let mut buffer = Vec::with_capacity(max);
        loop {
            let missing = max - buffer.len();
            made.by_ref().take(missing as u64).read_to_end(&mut buffer).map_err(|e| {
                ErrorObject::new(ErrorCode::Storage, format!("the export cannot be read: {e}"))
            })?;
            if buffer.len() < max {
                break;
            }
            // A line longer than a chunk is cut at a character.
            let cut = match buffer.iter().rposition(|&b| b == b'\n') {
                _ if self.is_binary => max,
                Some(i) => i + 1,
                None => (1..max).rev().find(|&i| buffer[i] & 0xc0 != 0x80).unwrap_or(max),
            };
            let rest = buffer.split_off(cut);
            self.send(std::mem::replace(&mut buffer, rest))?;
        }
        if buffer.is_empty() { Ok(()) } else { self.send(buffer) }
    }

    fn send(&mut self, piece: Vec<u8>) -> Result<(), ErrorObject> {
        self.bytes += piece.len() as u64;
        let text = if self.is_binary {
            base64::engine::general_purpose::STANDARD.encode(piece)
        } else {
            String::from_utf8(piece).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
        };
        let id = self.ctx.id.clone();
        self.ctx.send(rpc::request(None, "$/chunk", ChunkParams { id, seq: self.seq, text }))?;
        self.seq += 1;
        Ok(())
    }
}
