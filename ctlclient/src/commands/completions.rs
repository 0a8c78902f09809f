//! `ctl completions`: a script by which a shell completes command lines.

use crate::cli::{self, Common};
use crate::failure::Failure;

/// Options of `completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  ctl completions bash > ~/.local/share/bash-completion/completions/ctl")]
pub struct CompletionsArgs {
    /// The shell
    shell: clap_complete::Shell,
}

/// Prints the script.
pub fn completions(common: &Common, args: &CompletionsArgs) -> Result<(), Failure> {
    super::text_only(common, "a completion script")?;
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut cli::command(), "ctl", &mut script);
    super::put(None, &String::from_utf8_lossy(&script))
}
