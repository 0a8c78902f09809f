//! The commands: the table that lists them, and what several of them share. A file holds the options, the help
//! and the code of one command or of one family.

mod agent;
mod artifacts;
mod completions;
mod config;
mod config_edit;
mod context;
mod daemon;
mod doctor;
mod doctor_clients;
mod documents;
mod export;
mod graph;
mod grep;
pub mod handed_over;
mod hook;
mod import;
mod lookup;
mod man;
mod mcp;
mod metrics;
mod overview;
mod pack;
mod pack_sources;
mod pack_text;
mod pick;
mod service;
pub mod share;
mod terminal;
mod text_search;
pub mod workspace;

use crate::cli::{Cli, Common, WaitArgs, millis, with_common};
use crate::code::Code;
use crate::failure::Failure;
use crate::output::{Output, json_of, print_json, print_styled};
use crate::replacement::Replacement;
use crate::session::{self, Session};
use crate::style::{Style, count, safe_line};
use clap::{ArgMatches, Args, FromArgMatches};
use indexd_proto::Method;
use indexd_proto::error::ErrorCode;
use indexd_proto::limits::{OVERLAY_BYTES_MAX, QUERY_BYTES_MAX};
use indexd_proto::overlay::Overlay;
use indexd_proto::printed::{Message, Printed};
use indexd_proto::workspace::{Envelope, Wait};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::io::{IsTerminal as _, Read};
use std::path::{Path, PathBuf};

/// A command.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// One line for the list.
    pub about: &'static str,
    define: fn(clap::Command) -> clap::Command,
    run: fn(&Common, &ArgMatches) -> Result<(), Failure>,
}

impl Entry {
    /// Its definition. The options follow when it is asked for: they take longer to define than all else that
    /// a warm request does.
    pub fn command(&self) -> clap::Command {
        clap::Command::new(self.name).about(self.about).defer(self.define)
    }
}

/// The options of a command as they were read.
fn read<A: FromArgMatches>(matches: &ArgMatches) -> A {
    A::from_arg_matches(matches).unwrap_or_else(|e| e.exit())
}

macro_rules! commands {
    ($($group:literal { $($name:ident $about:literal $args:ty => $run:expr;)* })*) => {
        /// Every command, by group.
        pub const GROUPS: &[(&str, &[Entry])] = &[$(($group, &[$(Entry {
            name: stringify!($name),
            about: $about,
            define: |command| with_common(<$args>::augment_args(command)).about($about),
            run: |common, matches| $run(common, &read::<$args>(matches)),
        }),*])),*];
    };
}

commands! {
    "Find code" {
        pack "The code a task needs, within a token budget" pack::PackArgs => pack::pack;
        search "The best places for a question, a line each" lookup::SearchArgs => lookup::search;
        show "Definitions whole, by name or place" lookup::ShowArgs => lookup::show;
        grep "Lines that match, each with its role, by definition" grep::GrepArgs => grep::grep;
        symbol "Definitions by name" lookup::SymbolArgs => lookup::symbol;
        card "A definition at a glance, in 400 tokens" lookup::CardArgs => lookup::card;
    }
    "Follow edges" {
        callers "Who calls a function, method or class" graph::GraphArgs => graph::edges(Method::Callers);
        callees "What a function or method calls" graph::GraphArgs => graph::edges(Method::Callees);
        refs "Where a definition is used in any way" graph::GraphArgs => graph::edges(Method::Refs);
        implementations "What implements or overrides it, and is by it" graph::GraphArgs => graph::edges(Method::Implementations);
        impact "What depends on a definition, step by step" graph::GraphArgs => graph::edges(Method::Impact);
        graph "All that is around a definition, as lines or a picture" graph::AroundArgs => graph::around;
    }
    "Know a repository" {
        map "Entry points, modules, settings, side effects" documents::MapArgs => documents::map;
        why "Whether a file is in the index, and what decides it" lookup::WhyArgs => lookup::why;
        context "What a pack held and what it cost" context::ContextArgs => context::context;
    }
    "Keep the index" {
        index "Build the index of a repository" workspace::IndexArgs => workspace::index;
        compact "Copy an index so that it takes no more room than it needs" workspace::CompactArgs => workspace::compact;
        workspace "Register, list or forget repositories" workspace::WorkspaceArgs => workspace::workspace;
        export "Print the index, its edges, or both for other tools" export::ExportArgs => export::export;
        share "Publish an index in a store, or begin with a published one" share::ShareArgs => handed_over::to_share;
        import "Lay an index made by another tool over the links" import::ImportArgs => import::import;
    }
    "Run the daemon" {
        status "The daemon and its workspaces" daemon::StatusArgs => daemon::status;
        daemon "Start, stop or run the daemon" daemon::DaemonArgs => daemon::daemon;
        service "Keep the daemon under the user's service manager" service::ServiceArgs => service::service;
        config "The settings in force" config::ConfigArgs => config::config;
        metrics "The figures of the daemon for Prometheus" metrics::MetricsArgs => metrics::metrics;
        doctor "Check what could keep this from working" doctor::DoctorArgs => handed_over::to_more;
    }
    "Set up other programs" {
        mcp "Serve coding agents over MCP, or set a client up for it" mcp::McpArgs => handed_over::to_more;
        agent "Tell a coding agent of ctl" agent::AgentArgs => agent::agent;
        completions "A completion script for a shell" completions::CompletionsArgs => completions::completions;
        man "The manual page" man::ManArgs => man::man;
        version "The versions of ctl and of the running daemon" daemon::VersionArgs => daemon::version;
    }
}

/// Runs a command line.
///
/// # Errors
/// What the command ends with.
pub fn run(cli: &Cli) -> Result<(), Failure> {
    match &cli.command {
        Some((entry, matches)) => (entry.run)(&cli.common, matches),
        None if cli.version => daemon::version(&cli.common, &daemon::VersionArgs {}),
        None => overview::overview(&cli.common),
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

/// Refuses a page on a terminal, before it is made.
fn check_page(out: Option<&Path>) -> Result<(), Failure> {
    if out.is_some() || !std::io::stdout().is_terminal() {
        return Ok(());
    }
    let message = "a page is not for reading on a terminal";
    Err(Failure::hinted(ErrorCode::InvalidRequest, message, "write it with --out FILE"))
}

/// Writes a text to standard output, or whole or not at all to a file.
fn put(to: Option<&Path>, text: &str) -> Result<(), Failure> {
    if let Some(path) = to {
        return write_file(path, text);
    }
    let mut out = Output::stdout();
    out.text(text)?;
    out.finish()
}

/// The parameters of a request, those that many methods share among them.
macro_rules! asked {
    ($params:ident, $common:expr, $wait:expr, { $($members:tt)* }) => {{
        let target = $crate::commands::Target::of($common)?;
        $params {
            repo: target.repo,
            cwd: target.cwd,
            wait: Some($crate::commands::wait($wait)),
            overlays: $crate::commands::overlays($wait)?,
            progress: $crate::progress::Progress::new($common.quiet).is_wanted(),
            $($members)*
        }
    }};
}
use asked;

/// Asks the daemon and prints the answer: as JSON where that is wanted, else as `text` writes it.
fn print<A: DeserializeOwned>(
    common: &Common,
    method: Method,
    params: &impl Serialize,
    text: impl FnOnce(&A, Style) -> String,
) -> Result<A, Failure> {
    print_of(common, &mut Session::open(common)?, method, params, text)
}

/// The lines of code of an answer, and the answer for people.
type View<A> = (fn(&A) -> terminal::Places, fn(&A, Style, &Code) -> String);

/// [`print()`], with another text for people: `view` makes it with the syntax of the lines of `places`.
fn print_view<A: DeserializeOwned>(
    common: &Common,
    method: Method,
    params: &impl Serialize,
    text: impl FnOnce(&A, Style) -> String,
    (places, view): View<A>,
) -> Result<A, Failure> {
    let mut session = Session::open(common)?;
    let style = Style::of_code(common);
    if common.json || !style.is_view {
        return print_of(common, &mut session, method, params, text);
    }
    let answer: A = session.ask(method, params)?;
    terminal::print(common, &mut session, style, places(&answer), |code| view(&answer, style, code))?;
    Ok(answer)
}

/// [`print()`] over an open session.
fn print_of<A: DeserializeOwned>(
    common: &Common,
    session: &mut Session,
    method: Method,
    params: &impl Serialize,
    text: impl FnOnce(&A, Style) -> String,
) -> Result<A, Failure> {
    let line = session.call(method, params)?;
    let answer: A = session::result(&line)?;
    match common.json {
        true => print_json(session::raw(&line)?)?,
        false => print_styled(&text(&answer, Style::of_stdout(common)))?,
    }
    Ok(answer)
}

/// Prints an object of our own: as JSON where that is wanted, else as `text` writes it.
///
/// # Errors
/// As [`Failure::from`] an IO error.
pub fn print_own<T: Serialize>(
    common: &Common,
    schema: &str,
    members: &T,
    text: impl FnOnce(&T, Style) -> String,
) -> Result<(), Failure> {
    match common.json {
        true => print_json(&json_of(&Printed::new(schema, members))?),
        false => print_styled(&text(members, Style::of_stdout(common))),
    }
}

/// Prints a sentence of our own; nothing with `--quiet`.
fn say(common: &Common, sentence: &str) -> Result<(), Failure> {
    let message = Message { message: sentence.to_owned() };
    let text =
        |m: &Message, _| if common.quiet { String::new() } else { format!("{}\n", safe_line(&m.message)) };
    print_own(common, "Message", &message, text)
}

/// Goes where `-C` says.
///
/// # Errors
/// `POC_E_WORKSPACE_INVALID` for what is not a folder.
pub fn change_folder(cli: &Cli) -> Result<(), Failure> {
    let Some(dir) = &cli.common.directory else { return Ok(()) };
    let is_grep = cli.command.as_ref().is_some_and(|(entry, _)| entry.name == "grep");
    if is_grep && grep::lines_around(&cli.common).is_some() {
        return Ok(());
    }
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
    match own.map(|p| p.with_file_name("ctl")) {
        Some(own) if first.as_ref() != Some(&own) => own.display().to_string(),
        _ => "ctl".to_owned(),
    }
}

/// `--repo` and the current folder, absolute, as the wire has them.
pub struct Target {
    /// The root itself.
    pub repo: Option<String>,
    /// The current folder.
    pub cwd: Option<String>,
}

impl Target {
    /// Reads them.
    ///
    /// # Errors
    /// `POC_E_WORKSPACE_INVALID` for a folder that cannot be named.
    pub fn of(common: &Common) -> Result<Self, Failure> {
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

/// A question in words; `-` reads it from standard input.
fn query(words: &[String]) -> Result<String, Failure> {
    match words.join(" ") {
        words if words == "-" => standard_input("query", QUERY_BYTES_MAX),
        words => Ok(words),
    }
}

/// The text on standard input, up to one byte more than there may be: the daemon says what is too much.
/// Logs and pastes may hold anything; words that are not text match nothing.
fn standard_input(what: &str, bytes_max: usize) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(bytes_max as u64 + 1).read_to_end(&mut bytes).map_err(|e| {
        Failure::new(ErrorCode::Storage, format!("cannot read the {what} from standard input: {e}"))
    })?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The text of a file, or of standard input for `-`, with the same limit: a file may have no end.
fn input(file: &Path, bytes_max: usize) -> std::io::Result<String> {
    let file: Box<dyn Read> = match file.as_os_str() == "-" {
        true => Box::new(std::io::stdin().lock()),
        false => Box::new(std::fs::File::open(file)?),
    };
    std::io::read_to_string(file.take(bytes_max as u64 + 1))
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
    let build_timeout_ms = args.wait.map(|s| millis(s, 3_600.0));
    Wait { mode: args.fresh, timeout_ms: None, build_timeout_ms }
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
        match input(Path::new(file), OVERLAY_BYTES_MAX) {
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
