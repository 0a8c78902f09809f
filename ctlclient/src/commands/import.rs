//! `ctl import`: an index made by another tool, laid over the links.

use super::{Target, absolute, note, print};
use crate::cli::Common;
use crate::failure::Failure;
use crate::progress::Progress;
use crate::style::safe_line;
use indexd_proto::Method;
use indexd_proto::import::{ImportParams, ImportResult};

/// Options of `import`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  ctl import scip index.scip")]
pub struct ImportArgs {
    #[command(subcommand)]
    command: ImportCommand,
}

#[derive(Debug, clap::Subcommand)]
enum ImportCommand {
    /// A SCIP index made by a compiler or a type checker
    #[command(after_help = "Examples:
  scip-python index --project-name demo && ctl import scip index.scip
  ctl import scip /tmp/index.scip --repo ~/demo --json
  ctl import scip --clear

It takes the place of the one imported before. Each file follows it as long as
its content is the one of now; an edited file has our own links again, and the
imported ones when the edit is undone.")]
    Scip {
        /// The index
        #[arg(value_name = "FILE", required_unless_present = "clear")]
        file: Option<std::path::PathBuf>,
        /// Take back what was imported
        #[arg(long, conflicts_with = "file")]
        clear: bool,
    },
}

/// Hands a file to the daemon and prints what came of it.
pub fn import(common: &Common, args: &ImportArgs) -> Result<(), Failure> {
    let ImportCommand::Scip { file, clear } = &args.command;
    let path = file.as_deref().map(absolute).transpose()?;
    let target = Target::of(common)?;
    let params = ImportParams {
        repo: target.repo,
        cwd: target.cwd,
        path,
        clear: *clear,
        wait: None,
        progress: Progress::new(common.quiet).is_wanted(),
    };
    let text = |answer: &ImportResult, _| match *clear {
        true => "the import is taken back\n".to_owned(),
        false => text(answer),
    };
    let answer = print(common, Method::ImportScip, &params, text)?;
    note(common, &answer.envelope, &[]);
    Ok(())
}

fn text(answer: &ImportResult) -> String {
    let by = if answer.tool.is_empty() { "an unnamed tool" } else { &answer.tool };
    let ImportResult { n_files, n_targets, n_external, n_dropped, .. } = answer;
    let mut out = format!(
        "{n_files} files by {}: {n_targets} uses of the tree, {n_external} of dependencies, {n_dropped} left out\n",
        safe_line(by)
    );
    for (n, paths, what) in [
        (answer.n_stale_files, &answer.stale_files, "have changed since and keep our links"),
        (answer.n_unknown_files, &answer.unknown_files, "are not files of this workspace"),
        (answer.n_unfit_files, &answer.unfit_files, "are vendored copies or no source code"),
    ] {
        if n > 0 {
            let named: Vec<String> = paths.iter().take(3).map(|p| safe_line(p)).collect();
            let more = if n > named.len() as u64 { ", …" } else { "" };
            out += &format!("{n} {what}: {}{more}\n", named.join(", "));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_counts_and_what_does_not() {
        let answer = ImportResult {
            tool: "scip-python 0.6.6".into(),
            n_files: 84,
            n_targets: 9_514,
            n_external: 5,
            n_dropped: 2,
            n_stale_files: 4,
            stale_files: ["a.py", "b.py", "c.py", "d.py"].map(str::to_owned).to_vec(),
            ..ImportResult::default()
        };
        assert_eq!(
            text(&answer),
            "84 files by scip-python 0.6.6: 9514 uses of the tree, 5 of dependencies, 2 left out\n\
             4 have changed since and keep our links: a.py, b.py, c.py, …\n"
        );
    }
}
