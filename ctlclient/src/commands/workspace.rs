//! `ctl workspace`, `ctl index` and `ctl compact`: repositories and their indexes.

use super::{Target, absolute, print, print_of, print_own};
use crate::cli::{Common, millis};
use crate::failure::Failure;
use crate::launch;
use crate::progress::Progress;
use crate::session::Session;
use crate::style::{Style, bytes, count, number, safe_line};
use indexd_proto::Method;
use indexd_proto::error::UNMARKED;
use indexd_proto::workspace::{
    AddParams, CompactParams, CompactResult, ConfigParams, ConfigResult, GcParams, GcResult, ListParams,
    ListResult, RemoveParams, RemoveResult, State, Wait, WaitMode, WaitParams, WaitResult, WorkspaceStatus,
};
use std::io::IsTerminal as _;
use std::path::Path;

/// Options of `index`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  ctl index --repo . --wait")]
pub struct IndexArgs {
    /// Return when the index is current; with =SEC, not later than that
    #[arg(long, value_name = "SEC", num_args = 0..=1, require_equals = true, default_missing_value = "3600")]
    wait: Option<f64>,
}

/// Options of `compact`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  ctl compact ~/src/retry")]
pub struct CompactArgs {
    /// Its root [default: found from the current folder]
    dir: Option<std::path::PathBuf>,
}

/// Options of `workspace`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  ctl workspace list")]
pub struct WorkspaceArgs {
    #[command(subcommand)]
    command: WorkspaceCommand,
}

#[derive(Debug, clap::Subcommand)]
enum WorkspaceCommand {
    /// Register a repository and start its index
    #[command(after_help = "Example:\n  ctl workspace add ~/src/retry")]
    Add {
        /// Its root [default: found from the current folder]
        dir: Option<std::path::PathBuf>,
    },
    /// List the repositories
    #[command(after_help = "Example:\n  ctl workspace list --json")]
    List,
    /// Forget a repository and delete its index; the repository is not touched
    #[command(after_help = "Example:\n  ctl workspace remove ~/src/retry")]
    Remove {
        /// Its root [default: found from the current folder]
        dir: Option<std::path::PathBuf>,
    },
    /// Delete indexes of repositories that are gone, or that nobody asked for in a long time
    #[command(after_help = "Example:\n  ctl workspace gc --dry-run")]
    Gc {
        /// Only say what would be deleted
        #[arg(long)]
        dry_run: bool,
    },
}

/// Registers the repository and, with `--wait`, returns when its index is current.
pub fn index(common: &Common, args: &IndexArgs) -> Result<(), Failure> {
    let target = Target::of(common)?;
    let mut session = Session::open(common)?;
    let Some(seconds) = args.wait else { return add(common, &mut session, target) };
    // Whoever asks for an index by name gets one, also where nothing looks like a project.
    let params = AddParams { repo: target.repo.clone(), cwd: target.cwd.clone() };
    session.ask::<_, WorkspaceStatus>(Method::WorkspaceAdd, &params)?;
    let ms = millis(seconds, 3_600.0);
    let params = WaitParams {
        repo: target.repo,
        cwd: target.cwd,
        wait: Some(Wait { mode: WaitMode::Strict, timeout_ms: Some(ms), build_timeout_ms: Some(ms) }),
        progress: Progress::new(common.quiet).is_wanted(),
    };
    let text = |answer: &WaitResult, style| workspace_text(&answer.workspace, style);
    let ready: WaitResult = print_of(common, &mut session, Method::IndexWait, &params, text)?;
    if is_to_be_published(&mut session)? {
        launch::push(&ready.workspace.root, common.quiet)?;
    }
    Ok(())
}

/// True if the user publishes each index when it is ready.
fn is_to_be_published(session: &mut Session) -> Result<bool, Failure> {
    let ConfigResult { entries, .. } = session.ask(Method::ConfigShow, &ConfigParams::default())?;
    Ok(entries.iter().any(|entry| entry.key == "share.push" && entry.value == true))
}

/// Whether a command failed because a folder does not look like a project, and the user says on the
/// terminal to index it all the same; it is registered then.
pub fn adds_unmarked(common: &Common, failure: &Failure) -> bool {
    let Failure::Error(error) = failure else { return false };
    let text = |name: &str| error.data.details.as_ref()?.get(name)?.as_str();
    let Some(root) = text("root").filter(|_| text("failure") == Some(UNMARKED)) else { return false };
    let is_terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    if common.json || common.quiet || !is_terminal {
        return false;
    }
    eprint!("ctl: {} does not look like a project. Index it all the same? [y/N] ", safe_line(root));
    let mut said = String::new();
    let is_yes = std::io::stdin().read_line(&mut said).is_ok()
        && matches!(said.trim().to_lowercase().as_str(), "y" | "yes");
    let add = || {
        let params = AddParams { repo: Some(root.to_owned()), cwd: None };
        Session::open(common)?.ask::<_, WorkspaceStatus>(Method::WorkspaceAdd, &params)
    };
    is_yes && add().is_ok()
}

/// Registers a repository and prints its condition.
fn add(common: &Common, session: &mut Session, target: Target) -> Result<(), Failure> {
    let params = AddParams { repo: target.repo, cwd: target.cwd };
    let status: WorkspaceStatus = session.ask(Method::WorkspaceAdd, &params)?;
    print_own(common, "Workspace", &status, workspace_text)
}

/// The repository at a folder, else that of the current one.
fn target(common: &Common, dir: Option<&Path>) -> Result<Target, Failure> {
    match dir {
        Some(dir) => Ok(Target { repo: Some(absolute(dir)?), cwd: None }),
        None => Target::of(common),
    }
}

pub(super) fn workspaces_text(all: &[WorkspaceStatus], style: Style) -> String {
    all.iter().map(|w| workspace_text(w, style)).collect()
}

fn workspace_text(w: &WorkspaceStatus, style: Style) -> String {
    let state = match w.state {
        State::Ready => style.good(w.state.name()),
        State::Failed => style.bad(w.state.name()),
        _ => style.warn(w.state.name()),
    };
    let mut out =
        format!("{}  {}  {state}\n", style.bold(&safe_line(&w.repo_id)), style.path(&safe_line(&w.root)));
    if w.state == State::Closed {
        // Nothing is known of it until it is opened, but what it takes on the disk.
        out += &format!("  {}\n", style.dim(&format!("{}, opens when it is asked", bytes(w.index_bytes))));
        return out;
    }
    let mut facts = vec![count(w.n_files, "file", "files"), bytes(w.index_bytes)];
    if w.n_pending > 0 {
        facts.push(format!("{} pending", number(w.n_pending)));
    }
    facts.push(format!("{} ({} folders watched)", w.watch, number(w.n_watched)));
    if w.n_rescans > 0 {
        facts.push(format!("{} rescans", w.n_rescans));
    }
    if let Some(p) = &w.progress {
        facts.push(format!("{} {}/{}", p.phase, number(p.done), number(p.total)));
    }
    out += &format!("  {}\n", style.dim(&facts.join(" · ")));
    if let Some(i) = &w.import {
        let tool = if i.tool.is_empty() { "another tool" } else { &i.tool };
        let stale = match i.n_stale {
            0 => String::new(),
            n => format!(", {} of them changed since and linked without it", number(n)),
        };
        out += &format!("  index of {} over {} files{stale}\n", safe_line(tool), number(i.n_files));
    }
    if let Some(f) = &w.failure {
        out += &format!("  {} {}\n", style.bad(&format!("{}:", f.code)), safe_line(&f.hint));
    }
    for problem in &w.problems {
        out += &format!("  {}\n", style.warn(&safe_line(problem)));
    }
    if w.n_skipped_names > 0 {
        out += &format!(
            "  {} not UTF-8 and left out: {}\n",
            count(w.n_skipped_names, "file name is", "file names are"),
            safe_line(&w.skipped_names.join(", "))
        );
    }
    out
}

/// Registers, lists or forgets repositories.
pub fn workspace(common: &Common, args: &WorkspaceArgs) -> Result<(), Failure> {
    let mut session = Session::open(common)?;
    match &args.command {
        WorkspaceCommand::Add { dir } => add(common, &mut session, target(common, dir.as_deref())?)?,
        WorkspaceCommand::List => {
            let text = |list: &ListResult, style| workspaces_text(&list.workspaces, style);
            print_of(common, &mut session, Method::WorkspaceList, &ListParams {}, text)?;
        }
        WorkspaceCommand::Remove { dir } => {
            let target = target(common, dir.as_deref())?;
            let root = target.repo.or(target.cwd).unwrap_or_default();
            let params = RemoveParams { repo: root.clone() };
            let removed: RemoveResult = session.ask(Method::WorkspaceRemove, &params)?;
            print_own(common, "WorkspaceRemoved", &removed, |_, _| format!("forgot {}\n", safe_line(&root)))?;
        }
        WorkspaceCommand::Gc { dry_run } => {
            let (params, text) = (GcParams { dry_run: *dry_run }, |gc: &GcResult, _| collected_text(gc));
            print_of(common, &mut session, Method::WorkspaceGc, &params, text)?;
        }
    }
    Ok(())
}

/// What was removed, a line each, and how much that is.
fn collected_text(collected: &GcResult) -> String {
    let mut text = String::new();
    for c in &collected.removed {
        let what = c.root.as_deref().unwrap_or(&c.index);
        text.push_str(&format!("{}  {}  {}\n", safe_line(what), c.reason, bytes(c.bytes)));
    }
    let total = collected.removed.iter().map(|c| c.bytes).sum();
    let verb = if collected.dry_run { "would be removed" } else { "removed" };
    let n = count(collected.removed.len() as u64, "index", "indexes");
    text.push_str(&format!("{n} {verb}, {}\n", bytes(total)));
    text
}

/// Copies an index compactly.
pub fn compact(common: &Common, args: &CompactArgs) -> Result<(), Failure> {
    let target = target(common, args.dir.as_deref())?;
    let params = CompactParams { repo: target.repo, cwd: target.cwd, progress: false };
    let text = |c: &CompactResult, _| {
        format!("{}  {} before, {} now\n", safe_line(&c.root), bytes(c.bytes_before), bytes(c.bytes))
    };
    print(common, Method::IndexCompact, &params, text)?;
    Ok(())
}
