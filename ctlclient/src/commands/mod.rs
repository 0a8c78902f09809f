//! One module for each family of commands.

mod admin;
mod doctor;
mod documents;
mod export;
mod import;
mod lookup;
mod man;
mod pack;
mod pack_text;
mod service;
mod text_search;

use crate::args::{Cli, Command, Common, Fresh, WaitArgs};
use crate::failure::Failure;
use clap::CommandFactory;
use indexd_proto::error::ErrorCode;
use indexd_proto::workspace::{Envelope, Wait, WaitMode};
use std::path::Path;

/// Runs a command line.
///
/// # Errors
/// What the command ends with.
pub fn run(cli: Cli) -> Result<(), Failure> {
    let common = &cli.common;
    if let Some(dir) = &common.directory {
        std::env::set_current_dir(dir).map_err(|e| {
            Failure::new(ErrorCode::WorkspaceInvalid, format!("cannot change to {}: {e}", dir.display()))
        })?;
    }
    let Some(command) = &cli.command else {
        if cli.version {
            return admin::version(common);
        }
        let missing = clap::error::ErrorKind::MissingSubcommand;
        Cli::command().error(missing, "a command is missing").exit();
    };
    match command {
        Command::Pack(args) => pack::pack(common, args),
        Command::Map(args) => documents::map(common, args),
        Command::Preview(args) => pack::preview(common, args),
        Command::Search(args) => lookup::search(common, args),
        Command::Symbol(args) => lookup::symbol(common, args),
        Command::Why(args) => lookup::why(common, args),
        Command::Callers(args) => lookup::graph(common, args, indexd_proto::Method::Callers),
        Command::Callees(args) => lookup::graph(common, args, indexd_proto::Method::Callees),
        Command::Refs(args) => lookup::graph(common, args, indexd_proto::Method::Refs),
        Command::Impact(args) => lookup::graph(common, args, indexd_proto::Method::Impact),
        Command::Index(args) => admin::index(common, args),
        Command::Compact { dir } => admin::compact(common, dir.as_deref()),
        Command::Status => admin::status(common),
        Command::Export(what) => export::export(common, what),
        Command::Import(what) => import::import(common, what),
        Command::Workspace(what) => admin::workspace(common, what),
        Command::Daemon(what) => admin::daemon(common, *what),
        Command::Service(what) => service::service(common, *what),
        Command::Config(what) => admin::config(common, what),
        Command::Doctor => doctor::doctor(common),
        Command::Completions { shell } => {
            text_only(common, "a completion script")?;
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "ctl", &mut script);
            let mut out = crate::output::Output::new();
            out.text(&String::from_utf8_lossy(&script))?;
            out.finish()
        }
        Command::Man { out } => man::man(common, out.as_deref()),
        Command::Version => admin::version(common),
    }
}

/// Refuses `--json` where the answer is no JSON object.
fn text_only(common: &Common, what: &str) -> Result<(), Failure> {
    if !common.json {
        return Ok(());
    }
    Err(Failure::hinted(
        ErrorCode::NotSupported,
        format!("{what} is not one JSON object"),
        "leave out --json",
    ))
}

/// `--repo` and the current folder, absolute, as the wire has them.
struct Target {
    repo: Option<String>,
    cwd: Option<String>,
}

impl Target {
    fn of(common: &Common) -> Result<Self, Failure> {
        match &common.repo {
            Some(dir) => {
                // Paths are read from where the user stands, if that can be said.
                let cwd = std::env::current_dir().ok().and_then(|cwd| text(&cwd).ok());
                Ok(Self { repo: Some(absolute(dir)?), cwd })
            }
            None => {
                let cwd = std::env::current_dir().map_err(|e| {
                    Failure::new(
                        ErrorCode::WorkspaceInvalid,
                        format!("the current folder cannot be used: {e}"),
                    )
                })?;
                Ok(Self { repo: None, cwd: Some(text(&cwd)?) })
            }
        }
    }
}

fn absolute(dir: &Path) -> Result<String, Failure> {
    let path = std::path::absolute(dir).map_err(|e| {
        Failure::new(ErrorCode::WorkspaceInvalid, format!("{} cannot be used: {e}", dir.display()))
    })?;
    text(&path)
}

fn text(path: &Path) -> Result<String, Failure> {
    path.to_str()
        .map(str::to_owned)
        .ok_or_else(|| Failure::new(ErrorCode::WorkspaceInvalid, "the path is not UTF-8"))
}

/// What the wire wants to know of `--wait` and `--fresh`.
fn wait(args: &WaitArgs) -> Wait {
    let ms = |s: f64| (s.clamp(0.0, 3_600.0) * 1000.0) as u64;
    let mode = match args.fresh {
        Fresh::Strict => WaitMode::Strict,
        Fresh::Best => WaitMode::Best,
        Fresh::Stale => WaitMode::Stale,
    };
    Wait { mode, timeout_ms: None, build_timeout_ms: args.wait.map(ms) }
}

/// Says on standard error what a reader of the answer alone would miss.
fn note(common: &Common, envelope: &Envelope, warnings: &[String]) {
    if common.quiet {
        return;
    }
    match (envelope.fresh, envelope.pending) {
        (true, _) => {}
        (false, 0) => eprintln!("ctl: not compared with the tree: the last saves may be missing"),
        (false, n) => eprintln!(
            "ctl: not fresh: {} not in the index yet",
            crate::style::count(n, "changed path is", "changed paths are")
        ),
    }
    for warning in envelope.warnings.iter().chain(warnings) {
        let plain = match warning.as_str() {
            code if code == ErrorCode::NoContent.name() => format!("the pack is empty [{code}]"),
            other => crate::style::safe_line(other),
        };
        eprintln!("ctl: warning: {plain}");
    }
    if common.verbose {
        let cached = envelope.cache.as_ref().is_some_and(|c| c.hit);
        eprintln!(
            "ctl: waited {:.1} ms ({}), took {:.1} ms{}, generation {}, {}",
            envelope.waited_ms,
            envelope.how,
            envelope.took_ms,
            if cached { " from the cache" } else { "" },
            envelope.generation,
            envelope.correlation_id,
        );
    }
}
