//! `ctl export`: long texts, written as their pieces come.

use super::{Target, note};
use crate::args::{Common, ExportCommand};
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::session::{self, Session};
use indexd_proto::Method;
use indexd_proto::export::{ExportParams, ExportResult};
use indexd_proto::workspace::{Wait, WaitMode};

/// Prints the dump or the edges of a state that holds every save made before.
pub fn export(common: &Common, what: &ExportCommand) -> Result<(), Failure> {
    let method = match what {
        ExportCommand::Dump => Method::ExportDump,
        // Lines of JSON are the only format, with the flag and without.
        ExportCommand::Edges { .. } => Method::ExportEdges,
    };
    let target = Target::of(common)?;
    let mut progress = Progress::new(common.quiet);
    let params = ExportParams {
        repo: target.repo,
        cwd: target.cwd,
        wait: Some(Wait { mode: WaitMode::Strict, timeout_ms: Some(60_000), build_timeout_ms: None }),
        progress: progress.is_wanted(),
    };
    let mut out = Output::new();
    let line =
        Session::open(common)?.call_with(method, &params, &mut progress, &mut |text| out.text(text))?;
    let answer: ExportResult = session::result(&line)?;
    out.finish()?;
    note(common, &answer.envelope, &[]);
    Ok(())
}
