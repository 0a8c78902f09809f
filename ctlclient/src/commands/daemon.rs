//! `ctl daemon`, `ctl status` and `ctl version`: the daemon itself.

use super::workspace::workspaces_text;
use super::{print_of, print_own, say};
use crate::cli::Common;
use crate::failure::Failure;
use crate::launch;
use crate::session::{self, Session, Start};
use crate::style::{Style, bytes, count, number, safe_line};
use indexd_proto::error::ErrorCode;
use indexd_proto::hello::{HelloParams, HelloResult, ProtocolRange};
use indexd_proto::printed::{DaemonVersion, OwnVersion, Version};
use indexd_proto::workspace::{PackCounts, StatusParams, StatusResult};
use indexd_proto::{Method, PROTOCOL_VERSION, PROTOCOL_VERSION_MIN};

/// Options of `status`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  ctl status\n  ctl status --json | jq .workspaces")]
pub struct StatusArgs {}

/// Options of `version`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  ctl version --json")]
pub struct VersionArgs {}

/// Options of `daemon`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  ctl daemon stop")]
pub struct DaemonArgs {
    #[command(subcommand)]
    command: DaemonCommand,
}

#[derive(Debug, clap::Subcommand)]
enum DaemonCommand {
    /// Start it in the background
    #[command(after_help = "Example:\n  ctl daemon start")]
    Start,
    /// Finish what is in flight and end it
    #[command(after_help = "Example:\n  ctl daemon stop && ctl daemon start")]
    Stop,
    /// Run it in the foreground
    #[command(after_help = "Example:\n  ctl daemon run")]
    Run,
}

/// Shows the daemon and its workspaces, or that there is none.
pub fn status(common: &Common, _: &StatusArgs) -> Result<(), Failure> {
    let mut session = match Session::connect(common, Start::Never) {
        Ok(session) => session,
        Err(failure) if failure.code() == Some(ErrorCode::DaemonUnavailable) => {
            return say(common, "no daemon is running; the next question starts one");
        }
        Err(failure) => return Err(failure),
    };
    print_of(common, &mut session, Method::Status, &StatusParams {}, status_text)?;
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

/// Requests by how they ended; only those counts that are not zero.
fn requests(status: &StatusResult) -> String {
    let (d, r) = (&status.daemon, &status.daemon.requests);
    let counts = [
        (r.failed, "failed"),
        (r.cancelled, "cancelled"),
        (r.busy, "refused as busy"),
        (r.panicked, "ended by a fault"),
        (d.in_flight.into(), "running"),
        (d.queued.into(), "waiting"),
    ];
    let others = counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", number(*n)));
    [format!("{} answered", number(r.ok))].into_iter().chain(others).collect::<Vec<_>>().join(", ")
}

fn packs(p: &PackCounts) -> String {
    if p.answered == 0 {
        return "none yet".to_owned();
    }
    let ms = |micros: u64| format!("{}.{}", micros / 1_000, micros % 1_000 / 100);
    format!(
        "{} answered, median {} ms, 99 of 100 within {} ms; {} % of their budgets used",
        number(p.answered),
        ms(p.latency_micros_p50),
        ms(p.latency_micros_p99),
        p.budget_used_percent
    )
}

fn caches(p: &PackCounts) -> String {
    let rate = |hits: u64, misses: u64| match hits + misses {
        0 => "none yet".to_owned(),
        n => format!("{} of {}", number(hits), number(n)),
    };
    let mut out = format!(
        "kept packs served {}, kept token counts {}",
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

fn duration(ms: u64) -> String {
    let s = ms / 1000;
    match s {
        0..60 => format!("{s} s"),
        60..3_600 => format!("{} min {} s", s / 60, s % 60),
        _ => format!("{} h {} min", s / 3600, s / 60 % 60),
    }
}

/// Starts, stops or runs the daemon.
pub fn daemon(common: &Common, args: &DaemonArgs) -> Result<(), Failure> {
    match args.command {
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
            Err(failure) if failure.code() == Some(ErrorCode::DaemonUnavailable) => {
                // The one before may have closed its door and not be gone.
                say(common, if session::outlast()? { "stopped" } else { "no daemon was running" })
            }
            Err(e) => Err(e),
        },
        DaemonCommand::Run => {
            let status = launch::command()?.status().map_err(launch::cannot_start("indexd"))?;
            match status.code() {
                Some(0) => Ok(()),
                code => Err(Failure::Status(code.and_then(|c| u8::try_from(c).ok()).unwrap_or(70))),
            }
        }
    }
}

fn greet(session: &mut Session) -> Result<HelloResult, Failure> {
    let params = HelloParams {
        client: Some(session::build()),
        protocol: Some(ProtocolRange::OURS),
        ..HelloParams::default()
    };
    session.ask(Method::Hello, &params)
}

/// Prints the versions of both sides.
pub fn version(common: &Common, _: &VersionArgs) -> Result<(), Failure> {
    let daemon = Session::connect(common, Start::Never).and_then(|mut s| greet(&mut s)).ok();
    let version = Version {
        ctl: OwnVersion { version: env!("CARGO_PKG_VERSION").to_owned(), protocol: ProtocolRange::OURS },
        daemon: daemon.as_ref().map(|d| DaemonVersion {
            version: d.server.version.clone(),
            protocol: d.supported,
            pid: d.pid,
        }),
    };
    print_own(common, "Version", &version, |v, _| {
        let theirs = daemon.map_or("indexd is not running".to_owned(), |d| {
            format!("indexd {} (protocol {}, process {})", safe_line(&d.server.version), d.protocol, d.pid)
        });
        format!("ctl {} (protocol {PROTOCOL_VERSION_MIN} to {PROTOCOL_VERSION})\n{theirs}\n", v.ctl.version)
    })
}
