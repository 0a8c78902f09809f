//! The daemon, its workspaces and its settings.

use super::{Target, absolute, print};
use crate::args::{Common, ConfigCommand, DaemonCommand, IndexArgs, WorkspaceCommand};
use crate::failure::Failure;
use crate::launch;
use crate::output::Output;
use crate::progress::Progress;
use crate::session::{self, Session, Start};
use crate::style::{Style, bytes, count, number, safe_line};
use indexd_proto::error::{ErrorCode, UNMARKED};
use indexd_proto::hello::{HelloParams, HelloResult, ProtocolRange};
use indexd_proto::printed::{DaemonVersion, Message, OwnVersion, Version};
use indexd_proto::workspace::{
    AddParams, CompactParams, CompactResult, ConfigEntry, ConfigParams, ConfigResult, GcParams, GcResult,
    ListParams, ListResult, PackCounts, RemoveParams, RemoveResult, StatusParams, StatusResult, Wait,
    WaitMode, WaitParams, WaitResult, WorkspaceStatus,
};
use indexd_proto::{Method, PROTOCOL_VERSION, PROTOCOL_VERSION_MIN};
use std::io::IsTerminal as _;
use std::path::Path;
use std::time::Duration;

/// Registers the repository and, with `--wait`, returns when its index is current.
pub fn index(common: &Common, args: &IndexArgs) -> Result<(), Failure> {
    let target = Target::of(common)?;
    let mut session = Session::open(common)?;
    let Some(seconds) = args.wait else { return add(common, &mut session, target) };
    // Whoever asks for an index by name gets one, also where nothing looks like a project.
    let params = AddParams { repo: target.repo.clone(), cwd: target.cwd.clone() };
    session.ask::<_, WorkspaceStatus>(Method::WorkspaceAdd, &params, &mut Progress::new(true))?;
    let ms = Duration::from_secs_f64(seconds.clamp(0.0, 3_600.0)).as_millis() as u64;
    let mut progress = Progress::new(common.quiet);
    let params = WaitParams {
        repo: target.repo,
        cwd: target.cwd,
        wait: Some(Wait { mode: WaitMode::Strict, timeout_ms: Some(ms), build_timeout_ms: Some(ms) }),
        progress: progress.is_wanted(),
    };
    let text = |answer: &WaitResult, style| workspace_text(&answer.workspace, style);
    print(common, &mut session, Method::IndexWait, &params, &mut progress, text)?;
    Ok(())
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
        Session::open(common)?.ask::<_, WorkspaceStatus>(
            Method::WorkspaceAdd,
            &params,
            &mut Progress::new(true),
        )
    };
    is_yes && add().is_ok()
}

/// Registers a repository and prints its condition.
fn add(common: &Common, session: &mut Session, target: Target) -> Result<(), Failure> {
    let params = AddParams { repo: target.repo, cwd: target.cwd };
    let status: WorkspaceStatus = session.ask(Method::WorkspaceAdd, &params, &mut Progress::new(true))?;
    let mut out = Output::new();
    match common.json {
        true => out.object("Workspace", &status)?,
        false => out.styled(&workspace_text(&status, Style::of_stdout(common.color)))?,
    }
    out.finish()
}

/// The repository at a folder, else that of the current one.
fn target(common: &Common, dir: Option<&Path>) -> Result<Target, Failure> {
    match dir {
        Some(dir) => Ok(Target { repo: Some(absolute(dir)?), cwd: None }),
        None => Target::of(common),
    }
}

/// Shows the daemon and its workspaces; exit status 69 when there is no daemon.
pub fn status(common: &Common) -> Result<(), Failure> {
    let mut session = Session::connect(common, Start::Never)?;
    print(common, &mut session, Method::Status, &StatusParams {}, &mut Progress::new(true), status_text)?;
    Ok(())
}

fn status_text(status: &StatusResult, style: Style) -> String {
    let d = &status.daemon;
    let up = duration(d.uptime_ms);
    let mut out = format!("indexd {} running as process {} for {up}\n", d.version, d.pid);
    let facts = [
        ("socket", d.socket.clone()),
        ("log", d.log.clone()),
        ("memory", format!("{} private", bytes(d.private_bytes))),
        ("requests", requests(status)),
        ("packs", packs(&status.packs)),
        ("caches", caches(&status.packs)),
    ];
    for (name, value) in facts {
        out += &format!("  {} {}\n", style.dim(&format!("{name:<9}")), safe_line(&value));
    }
    out + &workspaces_text(&status.workspaces, style)
}

fn workspaces_text(all: &[WorkspaceStatus], style: Style) -> String {
    all.iter().map(|w| workspace_text(w, style)).collect()
}

fn requests(status: &StatusResult) -> String {
    let (d, r) = (&status.daemon, &status.daemon.requests);
    format!(
        "{} ok, {} failed, {} cancelled, {} busy, {} faults; {} running, {} waiting, {} connections",
        number(r.ok),
        number(r.failed),
        number(r.cancelled),
        number(r.busy),
        number(r.panicked),
        d.in_flight,
        d.queued,
        d.connections
    )
}

fn packs(p: &PackCounts) -> String {
    if p.answered == 0 {
        return "none yet".to_owned();
    }
    let ms = |micros: u64| format!("{}.{}", micros / 1_000, micros % 1_000 / 100);
    format!(
        "{} answered, {} assembled with {} tokens ({} % of their budgets); median {} ms, 99 of 100 within {} ms",
        number(p.answered),
        number(p.assembled),
        number(p.tokens),
        p.budget_used_percent,
        ms(p.latency_micros_p50),
        ms(p.latency_micros_p99)
    )
}

fn caches(p: &PackCounts) -> String {
    let rate = |hits: u64, misses: u64| match hits + misses {
        0 => "not asked yet".to_owned(),
        n => format!("{} % of {}", hits * 100 / n, number(n)),
    };
    let mut out = format!(
        "packs {}, counts of tokens {}",
        rate(p.cache_hits, p.cache_misses),
        rate(p.token_cache_hits, p.token_cache_misses)
    );
    let s = &p.shadow;
    if s.runs + s.failed > 0 {
        out += &format!(
            "; {} beside searches: {} chunks in both, {} in the search alone, {} in the pack alone",
            count(s.runs, "pack", "packs"),
            number(s.in_both),
            number(s.search_only),
            number(s.pack_only)
        );
    }
    out
}

fn workspace_text(w: &WorkspaceStatus, style: Style) -> String {
    let state = match w.state.as_str() {
        "ready" => style.good(&w.state),
        "failed" => style.bad(&w.state),
        other => style.warn(other),
    };
    let mut out =
        format!("{}  {}  {state}\n", style.bold(&safe_line(&w.repo_id)), style.path(&safe_line(&w.root)));
    if w.state == "closed" {
        // Nothing is known of it until it is opened, but what it takes on the disk.
        out += &format!("  {}\n", style.dim(&format!("{}, opens when it is asked", bytes(w.index_bytes))));
        return out;
    }
    let mut facts = vec![
        format!("{} files", number(w.n_files)),
        bytes(w.index_bytes),
        format!("generation {}", w.generation),
    ];
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

fn duration(ms: u64) -> String {
    let s = ms / 1000;
    match s {
        0..60 => format!("{s} s"),
        60..3_600 => format!("{} min {} s", s / 60, s % 60),
        _ => format!("{} h {} min", s / 3600, s / 60 % 60),
    }
}

/// Registers, lists or forgets repositories.
pub fn workspace(common: &Common, what: &WorkspaceCommand) -> Result<(), Failure> {
    let mut session = Session::open(common)?;
    let quiet = &mut Progress::new(true);
    match what {
        WorkspaceCommand::Add { dir } => add(common, &mut session, target(common, dir.as_deref())?)?,
        WorkspaceCommand::List => {
            let text = |list: &ListResult, style| workspaces_text(&list.workspaces, style);
            print(common, &mut session, Method::WorkspaceList, &ListParams {}, quiet, text)?;
        }
        WorkspaceCommand::Remove { dir } => {
            let target = target(common, dir.as_deref())?;
            let root = target.repo.or(target.cwd).unwrap_or_default();
            let params = RemoveParams { repo: root.clone() };
            let removed: RemoveResult = session.ask(Method::WorkspaceRemove, &params, quiet)?;
            let mut out = Output::new();
            match common.json {
                true => out.object("WorkspaceRemoved", &removed)?,
                false => out.line(&format!("forgot {}", safe_line(&root)))?,
            }
            out.finish()?;
        }
        WorkspaceCommand::Gc { dry_run } => {
            let (params, text) = (GcParams { dry_run: *dry_run }, |gc: &GcResult, _| collected_text(gc));
            print(common, &mut session, Method::WorkspaceGc, &params, quiet, text)?;
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
pub fn compact(common: &Common, dir: Option<&Path>) -> Result<(), Failure> {
    let target = target(common, dir)?;
    let mut session = Session::open(common)?;
    let params = CompactParams { repo: target.repo, cwd: target.cwd, progress: false };
    let text = |c: &CompactResult, _| {
        format!("{}  {} before, {} now\n", safe_line(&c.root), bytes(c.bytes_before), bytes(c.bytes))
    };
    print(common, &mut session, Method::IndexCompact, &params, &mut Progress::new(true), text)?;
    Ok(())
}

/// Starts, stops or runs the daemon.
pub fn daemon(common: &Common, what: DaemonCommand) -> Result<(), Failure> {
    match what {
        DaemonCommand::Start => {
            let mut session = Session::connect(common, Start::Auto)?;
            let hello = greet(&mut session)?;
            say(common, &format!("indexd {} runs as process {}", hello.server.version, hello.pid))
        }
        DaemonCommand::Stop => match Session::connect(common, Start::Never) {
            Ok(session) => {
                session.stop()?;
                say(common, "stopped")
            }
            Err(Failure::Error(e)) if e.data.code == ErrorCode::DaemonUnavailable => {
                // The one before may have closed its door and not be gone.
                say(common, if session::outlast()? { "stopped" } else { "no daemon was running" })
            }
            Err(e) => Err(e),
        },
        DaemonCommand::Status => status(common),
        DaemonCommand::Run => {
            let status = launch::command()?.status();
            let status = status.map_err(|e| {
                Failure::new(ErrorCode::DaemonUnavailable, format!("cannot start indexd: {e}"))
            })?;
            match status.code() {
                Some(0) => Ok(()),
                code => Err(Failure::Status(code.and_then(|c| u8::try_from(c).ok()).unwrap_or(70))),
            }
        }
    }
}

fn say(common: &Common, text: &str) -> Result<(), Failure> {
    let mut out = Output::new();
    if common.json {
        out.object("Message", Message { message: text.to_owned() })?;
    } else if !common.quiet {
        out.line(text)?;
    }
    out.finish()
}

fn greet(session: &mut Session) -> Result<HelloResult, Failure> {
    let params = HelloParams { client: Some(session::build()), protocol: Some(ProtocolRange::OURS) };
    session.ask(Method::Hello, &params, &mut Progress::new(true))
}

/// Prints every setting.
pub fn config(common: &Common, what: &ConfigCommand) -> Result<(), Failure> {
    let ConfigCommand::Show { origin } = what;
    let target = Target::of(common)?;
    let params = ConfigParams { repo: target.repo, cwd: target.cwd };
    let text = |answer: &ConfigResult, style: Style| {
        let line = |e: &ConfigEntry| {
            let value = e.value.to_string();
            let value = if e.value == e.default { value } else { style.bold(&value) };
            let from =
                if *origin { style.dim(&format!("  # {}", safe_line(&e.origin))) } else { String::new() };
            format!("{} = {value}{from}\n", e.key)
        };
        answer.entries.iter().map(line).collect()
    };
    let mut session = Session::open(common)?;
    print(common, &mut session, Method::ConfigShow, &params, &mut Progress::new(true), text)?;
    Ok(())
}

/// Prints the versions of both sides.
pub fn version(common: &Common) -> Result<(), Failure> {
    let daemon = Session::connect(common, Start::Never).and_then(|mut s| greet(&mut s)).ok();
    let mut out = Output::new();
    if common.json {
        let ours =
            OwnVersion { version: env!("CARGO_PKG_VERSION").to_owned(), protocol: ProtocolRange::OURS };
        let theirs =
            daemon.map(|d| DaemonVersion { version: d.server.version, protocol: d.supported, pid: d.pid });
        out.object("Version", Version { ctl: ours, daemon: theirs })?;
    } else {
        out.line(&format!(
            "ctl {} (protocol {PROTOCOL_VERSION_MIN} to {PROTOCOL_VERSION})",
            env!("CARGO_PKG_VERSION")
        ))?;
        match daemon {
            Some(d) => out
                .line(&format!("indexd {} (protocol {}, process {})", d.server.version, d.protocol, d.pid))?,
            None => out.line("indexd is not running")?,
        }
    }
    out.finish()
}
