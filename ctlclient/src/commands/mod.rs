//! One module for each family of commands.

pub mod admin;
mod agent;
mod artifacts;
mod context;
mod doctor;
mod documents;
mod edit;
mod export;
mod grep;
mod here;
mod hook;
mod import;
mod lookup;
mod man;
mod mcp;
mod metrics;
pub mod more;
mod pack;
mod pack_text;
mod pick;
mod service;
mod text_search;

use crate::args::{AgentCommand, Cli, Command, Common, Fresh, WaitArgs};
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::replacement::Replacement;
use crate::session::{self, Session};
use crate::style::{Style, count, safe_line};
use clap::CommandFactory;
use indexd_proto::Method;
use indexd_proto::error::ErrorCode;
use indexd_proto::limits::OVERLAY_BYTES_MAX;
use indexd_proto::overlay::Overlay;
use indexd_proto::workspace::{Envelope, Wait, WaitMode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{IsTerminal as _, Read};
use std::path::{Path, PathBuf};

/// Runs a command line.
///
/// # Errors
/// What the command ends with.
pub fn run(mut cli: Cli) -> Result<(), Failure> {
    if let Some(Command::Grep(args)) = &mut cli.command {
        grep::context_of(&mut cli.common, args);
    }
    let common = &cli.common;
    if !cli.command.as_ref().is_some_and(more::is_meant) {
        change_folder(common)?;
    }
    let Some(command) = &cli.command else {
        if cli.version {
            return admin::version(common);
        }
        return here::here(common);
    };
    match command {
        Command::Pack(args) if args.interactive => more::become_it(),
        Command::Pack(args) => pack::pack(common, args),
        Command::Map(args) => documents::map(common, args),
        Command::Preview(args) => pack::preview(common, args),
        Command::Search(args) => lookup::search(common, args),
        Command::Show(args) => lookup::show(common, args),
        Command::Grep(args) => grep::grep(common, args),
        Command::Symbol(args) => lookup::symbol(common, args),
        Command::Card(args) => lookup::card(common, args),
        Command::Why(args) => lookup::why(common, args),
        Command::Callers(args) => lookup::graph(common, &args.graph, Method::Callers),
        Command::Callees(args) => lookup::graph(common, args, Method::Callees),
        Command::Refs(args) => lookup::graph(common, args, Method::Refs),
        Command::Implementations(args) => lookup::graph(common, args, Method::Implementations),
        Command::Impact(args) => lookup::graph(common, args, Method::Impact),
        Command::Graph(args) => lookup::picture(common, args),
        Command::Index(args) => admin::index(common, args),
        Command::Compact { dir } => admin::compact(common, dir.as_deref()),
        Command::Status => admin::status(common),
        Command::Metrics => metrics::metrics(common),
        Command::Context(what) => context::context(common, what),
        Command::Export(what) => export::export(common, what),
        Command::Import(what) => import::import(common, what),
        Command::Workspace(what) => admin::workspace(common, what),
        Command::Daemon(what) => admin::daemon(common, *what),
        Command::Service(what) => service::service(common, *what),
        Command::Config(what) => admin::config(common, what),
        Command::Agent(AgentCommand::Hook) => hook::hook(common),
        Command::Mcp(_) | Command::Agent(AgentCommand::Install { .. }) => more::become_it(),
        Command::Doctor => doctor::doctor(common),
        Command::Completions { shell } => {
            text_only(common, "a completion script")?;
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut Cli::command(), "ctl", &mut script);
            let mut out = Output::new();
            out.text(&String::from_utf8_lossy(&script))?;
            out.finish()
        }
        Command::Man { out } => man::man(common, out.as_deref()),
        Command::Version => admin::version(common),
    }
}

/// Writes a text to a file, whole or not at all.
fn write_file(path: &Path, text: &str) -> Result<(), Failure> {
    let failed = |e: std::io::Error| {
        Failure::hinted(
            ErrorCode::CannotCreate,
            format!("cannot write {}: {e}", path.display()),
            "name a file in a folder that exists",
        )
    };
    let put = |mut file: Replacement| file.write(text.as_bytes()).and_then(|()| file.finish());
    Replacement::new(path).and_then(put).map_err(failed)
}

/// Refuses to print a page to a terminal.
fn check_page(to: Option<&Path>, example: &str) -> Result<(), Failure> {
    if to != Some(Path::new("-")) || !std::io::stdout().is_terminal() {
        return Ok(());
    }
    let message = "a page is nothing to read on a terminal";
    Err(Failure::hinted(ErrorCode::InvalidRequest, message, format!("name a file: --html {example}")))
}

/// Writes a page, and says where it is.
fn write_page(out: &mut Output, page: &str, to: &Path) -> Result<(), Failure> {
    if to == Path::new("-") {
        return out.text(page);
    }
    write_file(to, page)?;
    out.line(&to.display().to_string())
}

/// Asks the daemon and prints the answer: as JSON where that is wanted, else as `text` writes it.
fn print<P: Serialize, A: DeserializeOwned>(
    common: &Common,
    session: &mut Session,
    method: Method,
    params: &P,
    progress: &mut Progress,
    text: impl FnOnce(&A, Style) -> String,
) -> Result<A, Failure> {
    let line = session.call(method, params, progress)?;
    let answer: A = session::result(&line)?;
    let mut out = Output::new();
    if common.json {
        out.json_line(session::raw(&line)?)?;
    } else {
        out.styled(&text(&answer, Style::of_stdout(common.color)))?;
    }
    out.finish()?;
    Ok(answer)
}

/// Goes where `-C` says.
fn change_folder(common: &Common) -> Result<(), Failure> {
    let Some(dir) = &common.directory else { return Ok(()) };
    std::env::set_current_dir(dir).map_err(|e| {
        Failure::new(ErrorCode::WorkspaceInvalid, format!("cannot change to {}: {e}", dir.display()))
    })
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

/// How other programs start this one: by its name where PATH leads to it, else by its place.
fn own_command() -> String {
    let own = std::env::current_exe().and_then(|p| p.canonicalize()).ok();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let first = std::env::split_paths(&path).map(|d| d.join("ctl")).find(|p| p.is_file());
    let first = first.and_then(|p| p.canonicalize().ok());
    // This may be the program that `ctl` became.
    match own.map(|p| p.with_file_name(format!("ctl{}", std::env::consts::EXE_SUFFIX))) {
        Some(own) if first.as_ref() != Some(&own) => own.display().to_string(),
        _ => "ctl".to_owned(),
    }
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
            None => Ok(Self { repo: None, cwd: Some(text(&current_dir()?)?) }),
        }
    }
}

fn current_dir() -> Result<PathBuf, Failure> {
    std::env::current_dir().map_err(|e| {
        Failure::new(ErrorCode::WorkspaceInvalid, format!("the current folder cannot be used: {e}"))
    })
}

/// Standard input, up to one byte more than there may be: the daemon says what is too much.
fn standard_input(bytes_max: usize) -> impl Read {
    std::io::stdin().lock().take(bytes_max as u64 + 1)
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

/// The texts that `--overlay PATH=FILE` names. The first `=` ends the path; at most one comes from
/// standard input.
fn overlays(args: &WaitArgs) -> Result<Vec<Overlay>, Failure> {
    let mut has_read_stdin = false;
    let read = |given: &String| {
        let bad = |code, what: String| {
            let message = format!("--overlay {}: {what}", safe_line(given));
            Failure::hinted(code, message, "write --overlay net/retry.go=draft.go")
        };
        let (path, file) = given
            .split_once('=')
            .ok_or_else(|| bad(ErrorCode::InvalidRequest, "there is no =".to_owned()))?;
        if file == "-" && std::mem::replace(&mut has_read_stdin, true) {
            return Err(bad(ErrorCode::InvalidRequest, "standard input was read already".to_owned()));
        }
        let read = match file {
            "-" => std::io::read_to_string(standard_input(OVERLAY_BYTES_MAX)),
            file => std::fs::File::open(file)
                .and_then(|file| std::io::read_to_string(file.take(OVERLAY_BYTES_MAX as u64 + 1))),
        };
        match read {
            Ok(text) => Ok(Overlay { path: path.to_owned(), text }),
            Err(e) if e.kind() == std::io::ErrorKind::InvalidData => {
                Err(bad(ErrorCode::InvalidRequest, "the text is not UTF-8".to_owned()))
            }
            Err(e) => Err(bad(ErrorCode::WorkspaceInvalid, e.to_string())),
        }
    };
    args.overlays.iter().map(read).collect()
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
            count(n, "changed path is", "changed paths are")
        ),
    }
    for left_out in envelope.overlays.iter().flat_map(|o| &o.left_out) {
        eprintln!("ctl: warning: the overlay does not count: {}", safe_line(&left_out.reason));
    }
    for warning in envelope.warnings.iter().chain(warnings) {
        let plain = match warning.as_str() {
            code if code == ErrorCode::NoContent.name() => format!("the pack is empty [{code}]"),
            other => safe_line(other),
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
