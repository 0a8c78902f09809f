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
            format!("{} = {value}{}{from}\n", e.key, of_packs(e, style))
        };
        answer.entries.iter().map(line).collect()
    };
    print(common, Method::ConfigShow, &params, text)?;
    Ok(())
}

/// The limit that `ctl pack` asks for where a setting has its default, which holds for other clients.
fn of_packs(entry: &ConfigEntry, style: Style) -> String {
    let ours = super::pack::default_budgets();
    let own = match entry.key.as_str() {
        "pack.budgets.max_total_tokens" => ours.max_total_tokens,
        "pack.budgets.max_bytes_per_item" => ours.max_bytes_per_item,
        "pack.budgets.max_items" => ours.max_items,
        "pack.budgets.max_items_per_section" => ours.max_items_per_section,
        _ => None,
    };
    let own = own.filter(|_| entry.value == entry.default);
    own.map(|n| style.dim(&format!("  # ctl pack and MCP: {n}, unless set"))).unwrap_or_default()
}
