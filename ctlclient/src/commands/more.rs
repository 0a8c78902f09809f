//! The commands of `ctl-more`, and how `ctl` becomes it.

use super::{agent, change_folder, mcp, pick};
use crate::args::{AgentCommand, Cli, Command};
use crate::failure::Failure;
use crate::launch;
use indexd_proto::error::ErrorCode;

/// Whether a command is one of `ctl-more`.
pub fn is_meant(command: &Command) -> bool {
    match command {
        Command::Pack(args) => args.interactive,
        command => matches!(command, Command::Mcp(_) | Command::Agent(AgentCommand::Install { .. })),
    }
}

/// Runs a command line.
///
/// # Errors
/// What the command ends with; `POC_E_INVALID_REQUEST` for a command of `ctl`.
pub fn run(cli: Cli) -> Result<(), Failure> {
    change_folder(&cli.common)?;
    match &cli.command {
        Some(Command::Mcp(args)) => mcp::mcp(&cli.common, args),
        Some(Command::Agent(AgentCommand::Install { client, write, remove })) => {
            agent::install(&cli.common, *client, *write, *remove)
        }
        Some(Command::Pack(args)) if args.interactive => pick::pick(&cli.common, args),
        _ => Err(Failure::hinted(
            ErrorCode::InvalidRequest,
            "ctl-more has no such command",
            "write ctl in the place of ctl-more",
        )),
    }
}

/// Goes on as `ctl-more` with the same command line.
///
/// # Errors
/// `POC_E_DAEMON_UNAVAILABLE` when it is not installed.
pub fn become_it() -> Result<(), Failure> {
    let mut command = std::process::Command::new(launch::installed("ctl-more")?);
    command.args(std::env::args_os().skip(1));
    let failed = |e| Failure::new(ErrorCode::DaemonUnavailable, format!("cannot start ctl-more: {e}"));
    #[cfg(unix)]
    return Err(failed(std::os::unix::process::CommandExt::exec(&mut command)));
    #[cfg(not(unix))]
    match command.status().map_err(failed)?.code() {
        Some(0) => Ok(()),
        code => Err(Failure::Status(u8::try_from(code.unwrap_or(70)).unwrap_or(70))),
    }
}
