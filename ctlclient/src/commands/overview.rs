//! `ctl` alone: what is known of the repository one stands in, and what to ask next.

use super::{Target, print_own};
use crate::cli::{self, Common};
use crate::failure::Failure;
use crate::session::{Session, Start};
use crate::style::{Style, bytes, count, number, safe_line};
use indexd_proto::Method;
use indexd_proto::paths::repository_around;
use indexd_proto::printed::Here;
use indexd_proto::workspace::{StatusParams, StatusResult, WorkspaceStatus};
use std::io::Write;
use std::path::{Path, PathBuf};

const NEXT: [(&str, &str); 5] = [
    ("ctl pack where is X decided", "the code that answers a question"),
    ("ctl pack --diff", "what your changes do, and what they reach"),
    ("ctl show NAME", "a definition; also card, symbol, grep, search"),
    ("ctl callers NAME", "who calls it; also callees, refs, impact"),
    ("ctl --help", "everything else"),
];

/// Says what is indexed and what to ask next; outside of repositories it prints the help and ends as
/// for a missing command.
///
/// # Errors
/// Those of writing; status 2 outside of repositories.
pub fn overview(common: &Common) -> Result<(), Failure> {
    let target = Target::of(common)?;
    let folder = PathBuf::from(target.repo.or(target.cwd).unwrap_or_default());
    let known = workspaces(common);
    let holds = |w: &&WorkspaceStatus| folder.starts_with(&w.root);
    let indexed = known.iter().flatten().filter(holds).max_by_key(|w| w.root.len());
    let root =
        indexed.map(|w| PathBuf::from(&w.root)).or_else(|| repository_around(&folder).map(Path::to_owned));
    let Some(root) = root else {
        let help = cli::command().render_help();
        let _ = std::io::stderr().write_all(help.to_string().as_bytes());
        return Err(Failure::Status(2));
    };
    let here =
        Here { root: root.display().to_string(), daemon: known.is_some(), workspace: indexed.cloned() };
    print_own(common, "Here", &here, |here, style| {
        let next = NEXT.map(|(command, what)| format!("  {command:<32} {}\n", style.dim(what)));
        let known = said(here.workspace.as_ref(), style);
        format!("{}  {known}\n{}", style.bold(&safe_line(&here.root)), next.concat())
    })
}

/// The workspaces of a running daemon; none is started to say that there is nothing.
fn workspaces(common: &Common) -> Option<Vec<WorkspaceStatus>> {
    let mut session = Session::connect(common, Start::Never).ok()?;
    let status = session.ask(Method::Status, &StatusParams {});
    status.ok().map(|status: StatusResult| status.workspaces)
}

fn said(workspace: Option<&WorkspaceStatus>, style: Style) -> String {
    let Some(w) = workspace else {
        return "not asked about yet: the first question builds the index, in seconds".to_owned();
    };
    let mut facts = vec![match &w.progress {
        Some(p) if p.total > 0 => format!("indexing: {} {} of {}", p.phase, number(p.done), number(p.total)),
        _ => w.state.to_string(),
    }];
    facts.push(count(w.n_files, "file", "files"));
    if w.n_pending > 0 {
        facts.push(count(w.n_pending, "change not in yet", "changes not in yet"));
    }
    facts.push(format!("index {}", bytes(w.index_bytes)));
    let mut out = safe_line(&facts.join(", "));
    for problem in &w.problems {
        out += &format!("\n  {}", style.warn(&safe_line(problem)));
    }
    if let Some(failure) = &w.failure {
        out += &format!("\n  {}", style.bad(&safe_line(&format!("{}: {}", failure.code, failure.hint))));
    }
    out
}
