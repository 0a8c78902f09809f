//! `ctl`: the thin client. It turns a command line into one request and an answer into text.
//!
//! Read `args` (what can be asked), `session` (reaching a daemon and talking to it), then
//! `commands`. What the daemon answers to `--json` passes through as it came. Nothing here knows
//! the index.
//!
//! There are two programs: `ctl` starts for every request and holds what needs little; for the few
//! commands that need large libraries, as the protocol of agents does, it becomes `ctl-more`. In one
//! program their tables alone made each start a twelfth longer.

mod args;
mod commands;
mod failure;
mod launch;
mod output;
mod progress;
mod replacement;
mod session;
mod style;

use args::Cli;
use clap::Parser;
use failure::Failure;
use indexd_proto::printed::{Failed, Printed};
use std::process::ExitCode;

/// The program `ctl`.
pub fn ctl() -> ExitCode {
    run(|| args::quick(std::env::args_os()).unwrap_or_else(Cli::parse), commands::run)
}

/// The program `ctl-more`: the same command line, for the commands that `ctl` leaves to it.
pub fn ctl_more() -> ExitCode {
    run(Cli::parse, commands::more::run)
}

fn run(parse: fn() -> Cli, command: fn(Cli) -> Result<(), Failure>) -> ExitCode {
    let cli = parse();
    let common = cli.common.clone();
    let done = match command(cli) {
        Err(failure) if commands::admin::adds_unmarked(&common, &failure) => command(parse()),
        done => done,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            report(&failure, common.json);
            ExitCode::from(failure.exit())
        }
    }
}

fn report(failure: &Failure, json: bool) {
    use std::io::Write;
    let Failure::Error(error) = failure else { return };
    let text = if json {
        let failed = Printed::new("Error", Failed { error: (**error).clone() });
        format!("{}\n", serde_json::to_string(&failed).unwrap_or_default())
    } else {
        let data = &error.data;
        let mut text = format!("ctl: {} [{}]\n", style::safe_line(&error.message), data.code.name());
        if !data.hint.is_empty() {
            text += &format!("hint: {}\n", style::safe_line(&data.hint));
        }
        text
    };
    // Nowhere left to say that standard error is gone.
    let _ = std::io::stderr().write_all(text.as_bytes());
}
