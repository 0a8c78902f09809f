//! `ctl`: the thin client. It turns a command line into one request and an answer into text.
//!
//! Read `cli` and the table in `commands` (what can be asked), `session` (reaching a daemon and talking to it), then
//! `commands`. What the daemon answers to `--json` passes through as it came. Nothing here knows
//! the index.
//!
//! There are three programs: `ctl` starts for every request and holds what needs little; for the few
//! commands that need large libraries, as the protocol of agents does, it becomes `ctl-more`, and for those
//! that use a network `ctl-share`. In one program their tables alone made each start a twelfth longer.
//! Public items are for `ctl-share`, whose command is in `indexd-share`.

pub mod cli;
mod code;
pub mod commands;
pub mod failure;
mod launch;
mod meant;
pub mod output;
mod pager;
pub mod progress;
mod replacement;
pub mod session;
pub mod style;
mod theme;
mod transport;

use cli::{Cli, Common};
use commands::share::ShareArgs;
use failure::Failure;
use indexd_proto::printed::{Failed, Printed};
use std::process::ExitCode;

/// The program `ctl`.
pub fn ctl() -> ExitCode {
    run(commands::run, |cli| commands::handed_over::program(cli).is_some())
}

/// The program `ctl-more`: the same command line, for the commands that `ctl` leaves to it.
pub fn ctl_more() -> ExitCode {
    run(commands::handed_over::run_more, |_| false)
}

/// The program `ctl-share`: the same command line, for `ctl share`, which is done by `share`.
pub fn ctl_share(share: fn(&Common, &ShareArgs) -> Result<(), Failure>) -> ExitCode {
    run(|cli| commands::handed_over::run_share(cli, share), |_| false)
}

fn run(command: impl Fn(&Cli) -> Result<(), Failure>, is_handed_over: fn(&Cli) -> bool) -> ExitCode {
    let cli = cli::parse();
    // The other program goes there itself.
    let entered = if is_handed_over(&cli) { Ok(()) } else { commands::change_folder(&cli) };
    let done = match entered.and_then(|()| command(&cli)) {
        Err(failure) if commands::workspace::adds_unmarked(&cli.common, &failure) => command(&cli),
        done => done,
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            report(&failure, cli.common.json);
            ExitCode::from(failure.exit())
        }
    }
}

fn report(failure: &Failure, json: bool) {
    use std::io::{IsTerminal as _, Write};
    let Failure::Error(error) = failure else { return };
    let text = if json {
        let failed = Printed::new("Error", Failed { error: (**error).clone() });
        format!("{}\n", serde_json::to_string(&failed).unwrap_or_default())
    } else {
        let data = &error.data;
        // A person has no use for the code; a program may look for it.
        let is_seen = std::io::stderr().is_terminal();
        let code_name = if is_seen { String::new() } else { format!(" [{}]", data.code.name()) };
        let mut text = format!("ctl: {}{code_name}\n", style::safe_line(&error.message));
        if !data.hint.is_empty() {
            text += &format!("hint: {}\n", style::safe_line(&data.hint));
        }
        code::fitted_stderr(&text)
    };
    // Nowhere left to say that standard error is gone.
    let _ = std::io::stderr().write_all(text.as_bytes());
}
