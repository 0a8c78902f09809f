//! The commands of `ctl-more`, and how `ctl` becomes it.

use super::{agent, doctor, mcp, pack, pick, read, share};
use crate::cli::{Cli, Common};
use crate::failure::Failure;
use crate::launch;
use indexd_proto::error::ErrorCode;

/// True if a command is one of `ctl-more`.
pub fn is_meant(cli: &Cli) -> bool {
    cli.command.as_ref().is_some_and(|(entry, matches)| match entry.name {
        "pack" => matches.get_flag("interactive"),
        "agent" => matches.subcommand_name() == Some("install"),
        name => matches!(name, "mcp" | "doctor" | "share"),
    })
}

/// Runs a command line.
///
/// # Errors
/// What the command ends with; `POC_E_INVALID_REQUEST` for a command of `ctl`.
pub fn run(cli: &Cli) -> Result<(), Failure> {
    match &cli.command {
        Some((entry, matches)) if is_meant(cli) => match entry.name {
            "pack" => pick::pick(&cli.common, &read::<pack::PackArgs>(matches)),
            "doctor" => doctor::doctor(&cli.common, &read::<doctor::DoctorArgs>(matches)),
            "agent" => agent::install(&cli.common, &read::<agent::AgentArgs>(matches)),
            "share" => share::share(&cli.common, &read::<share::ShareArgs>(matches)),
            _ => mcp::mcp(&cli.common, &read::<mcp::McpArgs>(matches)),
        },
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
pub fn hand_over<A>(_: &Common, _: &A) -> Result<(), Failure> {
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
