//! `ctl pack --sources`: what a caller offers, packed into a budget.

use super::pack::{PackArgs, Shape, template};
use super::{Target, input, note, put, wait};
use crate::cli::Common;
use crate::failure::Failure;
use crate::output::print_json;
use crate::progress::Progress;
use crate::session::{self, Session};
use crate::style::safe_line;
use indexd_proto::Method;
use indexd_proto::error::ErrorCode;
use indexd_proto::limits::FRAME_BYTES_MAX;
use indexd_proto::request::{ContextBudgetRequest, Renderer};
use indexd_proto::sources::{OfferedSource, SourcesParams, SourcesResult};
use std::path::Path;

/// Packs the sources of a file and prints the text, or with `--json` the whole answer.
pub fn pack(common: &Common, args: &PackArgs, file: &Path, query: String) -> Result<(), Failure> {
    let template = match &args.shape {
        None | Some(Shape::Text(Renderer::Text | Renderer::Markdown)) => None,
        Some(Shape::Template(file)) => Some(template(file)?),
        Some(_) => {
            let message = "offered sources are packed as text, markdown or template=FILE, or with --json";
            return Err(Failure::new(ErrorCode::NotSupported, message));
        }
    };
    let target = Target::of(common)?;
    let params = SourcesParams {
        repo: target.repo,
        cwd: target.cwd,
        wait: Some(wait(&args.wait)),
        progress: Progress::new(common.quiet).is_wanted(),
        query: (!query.trim().is_empty()).then_some(query),
        sources: read(file)?,
        // The budget of an answer has no reserves.
        budget: args.budget.map(|tokens| ContextBudgetRequest {
            total_tokens: Some(tokens),
            response_reserve: Some(0),
            system_reserve: Some(0),
        }),
        template,
        ..SourcesParams::default()
    };
    let line = Session::open(common)?.call(Method::ContextPack, &params)?;
    let answer: SourcesResult = session::result(&line)?;
    if common.json {
        print_json(session::raw(&line)?)?;
    } else {
        put(args.out.as_deref(), answer.packed.get("content").and_then(|c| c.as_str()).unwrap_or_default())?;
    }
    let said = answer.packed.get("warnings").cloned().unwrap_or_default();
    note(common, &answer.envelope, &serde_json::from_value::<Vec<String>>(said).unwrap_or_default());
    Ok(())
}

/// The sources of a file, one a line; empty lines are skipped.
fn read(file: &Path) -> Result<Vec<OfferedSource>, Failure> {
    let name = safe_line(&file.display().to_string());
    let text = input(file, FRAME_BYTES_MAX).map_err(|e| {
        let message = format!("cannot read the sources from {name}: {e}");
        Failure::hinted(ErrorCode::WorkspaceInvalid, message, "name a file of JSON lines")
    })?;
    parse(&text).map_err(|(line, e)| {
        let message = format!("{name}:{line} is not a source: {e}");
        let hint =
            "write one a line: {\"sourceType\": \"openFile\", \"filePath\": \"a.go\", \"content\": \"...\"}";
        Failure::hinted(ErrorCode::InvalidRequest, message, hint)
    })
}

/// Reads sources; the error names the line.
fn parse(text: &str) -> Result<Vec<OfferedSource>, (usize, serde_json::Error)> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(i, line)| serde_json::from_str(line).map_err(|e| (i + 1, e))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexd_proto::pack::LineRange;
    use indexd_proto::sources::SourceType;

    #[test]
    fn a_line_is_a_source_and_a_wrong_one_is_named() {
        let text = "{\"sourceType\": \"toolResult\", \"content\": \"FAIL\"}\n\n{\"sourceType\": \"reference\", \"filePath\": \"a.go\", \"lineRange\": {\"start\": 1, \"end\": 2}}\n";
        let found = parse(text).unwrap();
        assert_eq!((found.len(), found[0].source_type), (2, SourceType::ToolResult));
        assert_eq!(found[1].line_range, Some(LineRange { start: 1, end: 2 }));
        assert_eq!(parse("{}\n").unwrap_err().0, 1);
        assert_eq!(parse("\n{\"sourceType\": \"openFile\", \"path\": \"a\"}").unwrap_err().0, 2);
    }
}
