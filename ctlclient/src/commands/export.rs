//! `ctl export`: long texts and files, written as their pieces come.

use super::{Target, note};
use crate::cli::Common;
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::replacement::Replacement;
use crate::session::{self, Chunk, Session};
use base64::Engine as _;
use indexd_proto::Method;
use indexd_proto::error::ErrorCode;
use indexd_proto::export::{ExportParams, ExportResult};
use indexd_proto::workspace::{Wait, WaitMode};
use std::io::IsTerminal;

/// Options of `export`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  ctl export edges > edges.jsonl")]
pub struct ExportArgs {
    #[command(subcommand)]
    command: ExportCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ExportCommand {
    /// The canonical dump of the index
    #[command(after_help = "Example:\n  ctl export dump > index.txt")]
    Dump,
    /// Every resolved edge, one JSON object a line
    #[command(after_help = "Example:\n  ctl export edges | jq -r 'select(.kind == \"call\") | .dst_symbol'")]
    Edges {
        /// The only format there is
        #[arg(long)]
        jsonl: bool,
    },
    /// The index and the packs that were written, as JSON lines in files of a folder
    #[command(
        after_help = "Example:\n  ctl export artifacts /tmp/index && jq .name /tmp/index/symbols.jsonl"
    )]
    Artifacts {
        /// The folder: a new or an empty one, or that of an earlier export
        dir: std::path::PathBuf,
        /// Bytes of a file at most; longer ones are cut between lines
        #[arg(long, value_name = "N", default_value_t = 16 << 20)]
        max_shard_bytes: u64,
    },
    /// Definitions and uses as a SCIP index, for other tools
    #[command(after_help = "Examples:
  ctl export scip --out index.scip
  ctl export scip > index.scip")]
    Scip {
        /// Write to FILE instead of standard output
        #[arg(long, value_name = "FILE")]
        out: Option<std::path::PathBuf>,
    },
}

/// Prints the dump or the edges of a state that holds every save made before, or writes its SCIP
/// index.
pub fn export(common: &Common, args: &ExportArgs) -> Result<(), Failure> {
    match &args.command {
        ExportCommand::Dump => {
            super::text_only(common, "a dump")?;
            text(common, Method::ExportDump)
        }
        // Lines of JSON are the only format, with the flag and without.
        ExportCommand::Edges { .. } => text(common, Method::ExportEdges),
        ExportCommand::Artifacts { dir, max_shard_bytes } => {
            super::artifacts::artifacts(common, dir, *max_shard_bytes)
        }
        ExportCommand::Scip { out: Some(path) } => {
            let failed = |e: std::io::Error| {
                Failure::new(ErrorCode::CannotCreate, format!("{} cannot be written: {e}", path.display()))
            };
            let mut file = Replacement::new(path).map_err(failed)?;
            bytes(common, &mut |bytes| file.write(bytes).map_err(failed))?;
            file.finish().map_err(failed)
        }
        ExportCommand::Scip { out: None } if std::io::stdout().is_terminal() => Err(Failure::hinted(
            ErrorCode::InvalidRequest,
            "a SCIP index is no text for a terminal",
            "write it with `--out FILE`, or redirect standard output",
        )),
        ExportCommand::Scip { out: None } => {
            let mut out = Output::stdout();
            bytes(common, &mut |bytes| out.bytes(bytes))?;
            out.finish()
        }
    }
}

fn text(common: &Common, method: Method) -> Result<(), Failure> {
    let mut out = Output::stdout();
    pieces(common, method, &mut |text| out.text(text))?;
    out.finish()
}

fn bytes(common: &Common, write: &mut dyn FnMut(&[u8]) -> Result<(), Failure>) -> Result<(), Failure> {
    pieces(common, Method::ExportScip, &mut |text| {
        let decoded = base64::engine::general_purpose::STANDARD.decode(text);
        write(&decoded.map_err(|e| Failure::new(ErrorCode::Parse, format!("a piece of the index: {e}")))?)
    })
    .map(drop)
}

/// Asks for an export and hands on its pieces as they come.
pub(super) fn pieces(common: &Common, method: Method, piece: &mut Chunk) -> Result<ExportResult, Failure> {
    let target = Target::of(common)?;
    let params = ExportParams {
        repo: target.repo,
        cwd: target.cwd,
        wait: Some(Wait { mode: WaitMode::Strict, timeout_ms: Some(60_000), build_timeout_ms: None }),
        progress: Progress::new(common.quiet).is_wanted(),
    };
    let line = Session::open(common)?.call_with(method, &params, piece)?;
    let answer: ExportResult = session::result(&line)?;
    note(common, &answer.envelope, &[]);
    Ok(answer)
}
