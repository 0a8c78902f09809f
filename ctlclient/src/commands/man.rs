//! Manual pages, made from the definitions of the command line and the list of codes.

use crate::cli::{self, Common};
use crate::failure::Failure;
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use indexd_proto::error::ErrorCode;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The day of this release: pages that are made again are the same.
const DATE: &str = "2026-11-24";

/// Options of `man`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  ctl man | man -l -
  ctl man --out ~/.local/share/man/man1")]
pub struct ManArgs {
    /// Write the pages of ctl and of each command to a folder instead
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Prints the page of `ctl`, or writes that and one for each command to a folder.
///
/// # Errors
/// `POC_E_NOT_SUPPORTED` with `--json`; `POC_E_CANNOT_CREATE` for the folder and the files.
pub fn man(common: &Common, args: &ManArgs) -> Result<(), Failure> {
    super::text_only(common, "a manual page")?;
    let pages = pages();
    let Some(dir) = &args.out else {
        return super::put(None, &pages["ctl"]);
    };
    let refused = |path: &Path, e: io::Error| {
        Failure::new(ErrorCode::CannotCreate, format!("cannot write {}: {e}", path.display()))
    };
    std::fs::create_dir_all(dir).map_err(|e| refused(dir, e))?;
    for (name, text) in &pages {
        let path = dir.join(format!("{name}.1"));
        std::fs::write(&path, text).map_err(|e| refused(&path, e))?;
    }
    Ok(())
}

/// Every page by its name: `ctl`, `ctl-pack`, `ctl-export-dump` and so on.
fn pages() -> BTreeMap<String, String> {
    let mut root = cli::command().disable_help_subcommand(true);
    root.build();
    let mut pages = BTreeMap::new();
    add(&root, "ctl", &mut pages);
    pages
}

fn add(command: &Command, name: &str, pages: &mut BTreeMap<String, String>) {
    for sub in command.get_subcommands() {
        add(sub, &format!("{name}-{}", sub.get_name()), pages);
    }
    let mut text = Vec::new();
    let title = name.to_owned();
    // Writing to memory does not fail; the title of the page is its own name, the synopsis that of the line.
    let command = command.clone().mut_args(|arg| arg.hide_short_help(false));
    let page = Man::new(command).title(title).section("1").date(DATE).source(version());
    let is_written = page.render(&mut text).and_then(|()| exit_status(&mut text));
    debug_assert!(is_written.is_ok());
    // An empty line between two breaks is a space between paragraphs, and readers of pages warn of breaks
    // beside one.
    let text = String::from_utf8_lossy(&text).replace(".br\n\n.br\n", ".sp\n");
    pages.insert(name.to_owned(), text);
}

fn version() -> String {
    format!("ctl {}", env!("CARGO_PKG_VERSION"))
}

/// The section on exit statuses: each with the codes that end in it.
fn exit_status(out: &mut Vec<u8>) -> io::Result<()> {
    let mut meanings: BTreeMap<u8, Vec<String>> = BTreeMap::new();
    meanings.entry(0).or_default().push("There is an answer.".to_owned());
    meanings.entry(1).or_default().push("Nothing was found (search, why).".to_owned());
    meanings.entry(141).or_default().push("The reader of the answer has left.".to_owned());
    for code in ErrorCode::ALL {
        let line = format!("{}: {}", code.name(), code.meaning());
        meanings.entry(code.exit()).or_default().push(line);
    }
    let mut roff = Roff::new();
    roff.control("SH", ["EXIT STATUS"]);
    for (exit, lines) in &meanings {
        roff.control("TP", []);
        roff.text([bold(exit.to_string())]);
        for (i, line) in lines.iter().enumerate() {
            if i > 0 {
                roff.control("br", []);
            }
            roff.text([roman(line)]);
        }
    }
    roff.to_writer(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_a_page_and_every_status_a_line() {
        let pages = pages();
        for name in ["ctl", "ctl-pack", "ctl-export-dump", "ctl-daemon-start", "ctl-man"] {
            let page = &pages[name];
            assert!(page.contains(&format!(".TH {name} 1")), "{page}");
            assert!(page.contains(".SH SYNOPSIS") && page.contains(".SH \"EXIT STATUS\""), "{page}");
        }
        assert!(pages["ctl-pack"].contains("layout") && pages["ctl-pack"].contains("ctl pack"));
        assert!(pages["ctl-status"].contains("No progress and no warnings"), "{}", pages["ctl-status"]);
        for code in ErrorCode::ALL {
            assert!(pages["ctl"].contains(&code.name().replace('-', "\\-")), "{}", code.name());
        }
    }
}
