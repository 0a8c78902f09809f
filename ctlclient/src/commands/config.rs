//! `ctl config`: the settings in force.

use super::{Target, print};
use crate::cli::Common;
use crate::failure::Failure;
use crate::style::{Style, safe_line};
use indexd_proto::Method;
use indexd_proto::workspace::{ConfigEntry, ConfigParams, ConfigResult};

/// Options of `config`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  ctl config show --origin")]
pub struct ConfigArgs {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ConfigCommand {
    /// Print every setting
    #[command(after_help = "Examples:\n  ctl config show\n  ctl config show --origin | grep -v default")]
    Show {
        /// Print where each value came from
        #[arg(long)]
        origin: bool,
    },
}

/// Prints every setting.
pub fn config(common: &Common, args: &ConfigArgs) -> Result<(), Failure> {
    let ConfigCommand::Show { origin } = &args.command;
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
    print(common, Method::ConfigShow, &params, text)?;
    Ok(())
}
