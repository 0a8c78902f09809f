//! The commands of `ctl-more` and `ctl-share`, and how `ctl` becomes one of them.

use super::share::ShareArgs;
use super::{agent, doctor, mcp, pack, pick, read};
use crate::cli::{Cli, Common};
use crate::failure::Failure;
use crate::launch;
use indexd_proto::error::ErrorCode;

/// The program with large libraries.
pub const MORE: &str = "ctl-more";
/// The program with libraries of networks.
pub const SHARE: &str = "ctl-share";

/// The program that runs a command, unless it is `ctl`.
pub fn program(cli: &Cli) -> Option<&'static str> {
    let (entry, matches) = cli.command.as_ref()?;
    let is_more = match entry.name {
        "share" => return Some(SHARE),
        "pack" => matches.get_flag("interactive"),
        "agent" => matches.subcommand_name() == Some("install"),
        name => matches!(name, "mcp" | "doctor"),
    };
    is_more.then_some(MORE)
}

/// Runs a command line of `ctl-more`.
///
/// # Errors
/// What the command ends with; `POC_E_INVALID_REQUEST` for a command of another program.
pub fn run_more(cli: &Cli) -> Result<(), Failure> {
    match &cli.command {
        Some((entry, matches)) if program(cli) == Some(MORE) => match entry.name {
            "pack" => pick::pick(&cli.common, &read::<pack::PackArgs>(matches)),
            "doctor" => doctor::doctor(&cli.common, &read::<doctor::DoctorArgs>(matches)),
            "agent" => agent::install(&cli.common, &read::<agent::AgentArgs>(matches)),
            _ => mcp::mcp(&cli.common, &read::<mcp::McpArgs>(matches)),
        },
        _ => Err(no_such_command(MORE)),
    }
}

/// Runs a command line of `ctl-share`, whose command is `share`.
///
/// # Errors
/// As [`run_more`].
pub fn run_share(cli: &Cli, share: fn(&Common, &ShareArgs) -> Result<(), Failure>) -> Result<(), Failure> {
    match &cli.command {
        Some((_, matches)) if program(cli) == Some(SHARE) => share(&cli.common, &read::<ShareArgs>(matches)),
        _ => Err(no_such_command(SHARE)),
    }
}

fn no_such_command(program: &str) -> Failure {
    let hint = format!("write ctl in the place of {program}");
    Failure::hinted(ErrorCode::InvalidRequest, format!("{program} has no such command"), hint)
}

/// Goes on as `ctl-more` with the same command line.
///
/// # Errors
/// `POC_E_DAEMON_UNAVAILABLE` when it is not installed.
pub fn to_more<A>(_: &Common, _: &A) -> Result<(), Failure> {
    hand_over(MORE)
}

/// Goes on as `ctl-share` with the same command line.
///
/// # Errors
/// As [`to_more`].
pub fn to_share<A>(_: &Common, _: &A) -> Result<(), Failure> {
    hand_over(SHARE)
}

fn hand_over(program: &str) -> Result<(), Failure> {
    let mut command = std::process::Command::new(launch::installed(program)?);
    command.args(std::env::args_os().skip(1));
    Err(launch::cannot_start(program)(std::os::unix::process::CommandExt::exec(&mut command)))
}
