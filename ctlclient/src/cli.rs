//! The command line as a whole: options of every command, and how the commands are listed. The options of a
//! command are beside its code in `commands`.

use crate::commands::{Entry, GROUPS};
use crate::meant::{self, Meant};
use crate::style::safe_line;
use crate::theme::Theme;
use clap::{Arg, ArgAction, ArgMatches, Args, FromArgMatches, ValueEnum};
use indexd_proto::workspace::WaitMode;
use serde::de::DeserializeOwned;
use std::io::IsTerminal as _;
use std::path::PathBuf;

/// A command line.
pub struct Cli {
    /// The command, with its options as they were read.
    pub command: Option<(&'static Entry, ArgMatches)>,
    /// Print the versions.
    pub version: bool,
    /// Options of every command.
    pub common: Common,
}

macro_rules! examples {
    () => {
        "Examples:
  ctl pack where is the retry delay decided --expect 'backoff retryDelay jitter'
  ctl show Client.get
  ctl callers Client.get --depth 2
  ctl status

A question may stand alone: ctl \"where is the retry delay decided\".
"
    };
}

const EXAMPLES: &str =
    concat!(examples!(), "The daemon starts by itself. ctl --help-all has all options and exit codes.");
const ALL: &str = concat!(
    examples!(),
    "
The daemon starts by itself. Exit codes: 0 ok, 1 nothing found (search, grep,
why), 2 usage, 65 bad data, 66 no such repository, symbol or pack, 69 daemon
not available, 70 internal, 73 cannot create, 74 storage, 75 try again,
77 permission, 78 configuration, 130 interrupted, 141 broken pipe."
);

/// Options before a command.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, after_long_help = ALL)]
struct Top {
    /// Print the versions of ctl and of the running daemon
    #[arg(short = 'V', long)]
    version: bool,
}

impl Common {
    /// These options, with those that stand before the name of the command where they are not given here.
    fn or(self, before: Self) -> Self {
        let color = if self.color == ColorWhen::Auto { before.color } else { self.color };
        Self {
            repo: self.repo.or(before.repo),
            directory: self.directory.or(before.directory),
            json: self.json || before.json,
            color,
            theme: if self.theme == Theme::Auto { before.theme } else { self.theme },
            quiet: self.quiet || before.quiet,
            verbose: self.verbose || before.verbose,
            timeout: self.timeout.or(before.timeout),
            correlation_id: self.correlation_id.or(before.correlation_id),
            no_daemon: self.no_daemon || before.no_daemon,
        }
    }
}

/// Options of every command.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Common options")]
pub struct Common {
    /// The repository's root itself [default: found from the current folder]
    #[arg(long, value_name = "DIR", global = true)]
    pub repo: Option<PathBuf>,
    /// Run as if started in DIR
    #[arg(short = 'C', value_name = "DIR", global = true, hide_short_help = true)]
    pub directory: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long, global = true)]
    pub json: bool,
    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true, hide_short_help = true)]
    pub color: ColorWhen,
    /// Colours of code on a terminal
    #[arg(long, value_name = "THEME", default_value = "auto", global = true, hide_short_help = true)]
    pub theme: Theme,
    /// No progress and no warnings
    #[arg(short, long, global = true, hide_short_help = true)]
    pub quiet: bool,
    /// Say on stderr what the answer took
    #[arg(short, long, global = true, hide_short_help = true)]
    pub verbose: bool,
    /// Give up after SEC seconds
    #[arg(long, value_name = "SEC", global = true, hide_short_help = true)]
    pub timeout: Option<f64>,
    /// Name the request in the daemon's log: 1 to 64 of A-Z a-z 0-9 - _ . :
    #[arg(long, value_name = "ID", global = true, hide_short_help = true)]
    pub correlation_id: Option<String>,
    /// Do not start a daemon: serve this one request from a child process
    #[arg(long, global = true, hide_short_help = true)]
    pub no_daemon: bool,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorWhen {
    /// On a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Requirements of an answer on the index.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Freshness")]
pub struct WaitArgs {
    /// Seconds to wait for a first build; 0 does not wait [default: as long as it takes]
    #[arg(long, value_name = "SEC", num_args = 0..=1, require_equals = true, default_missing_value = "3600", hide_short_help = true)]
    pub wait: Option<f64>,
    /// strict (an error when saves are not in), best, or stale (no waiting)
    #[arg(long, value_name = "MODE", default_value = "best", value_parser = word::<WaitMode>, hide_short_help = true)]
    pub fresh: WaitMode,
    /// Answer as if PATH held what FILE (`-`: standard input) does; nothing is
    /// stored
    #[arg(long = "overlay", value_name = "PATH=FILE", hide_short_help = true)]
    pub overlays: Vec<String>,
}

/// The definition of the command line. Options of a command are defined when it is the one that is meant.
pub fn command() -> clap::Command {
    let mut list = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (group, entries) in GROUPS {
        list += &format!("\n{group}:\n");
        entries.iter().for_each(|e| list += &format!("  {:<15} {}\n", e.name, e.about));
    }
    list += "\nOptions:\n{options}{after-help}";
    let top = clap::Command::new("ctl").disable_version_flag(true).disable_help_flag(true);
    let entries = GROUPS.iter().flat_map(|(_, entries)| *entries);
    // Not passed down: a copy for each command would take longer than all else that a warm request does.
    with_common(Top::augment_args(top))
        .mut_args(|arg| arg.global(false))
        .about("Context packs from a local code index")
        .max_term_width(80)
        .help_template(list)
        .subcommands(entries.map(Entry::command))
}

/// A command with the options of every command, which its own commands have, too.
pub fn with_common(command: clap::Command) -> clap::Command {
    let help = |long: &'static str| Arg::new(long).long(long).global(true).help_heading("Common options");
    Common::augment_args(command)
        .arg(help("help").short('h').action(ArgAction::HelpShort).help("Print help"))
        .arg(help("help-all").action(ArgAction::HelpLong).help("Print help with every option"))
}

/// Reads the command line of this process; help and mistakes end it. A question in the place of a command is one
/// for `pack`.
pub fn parse() -> Cli {
    let line: Vec<String> = std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect();
    let read = match command().try_get_matches() {
        Err(e) => match meant::of(&line, &e) {
            Meant::Line(line) => command().try_get_matches_from(line),
            Meant::Nothing(said) => {
                eprint!("{}", crate::code::fitted_stderr(&said));
                std::process::exit(2);
            }
            // Without bytes that a terminal obeys: names of files may be completed by a shell.
            Meant::AsWritten => Err(command()
                .try_get_matches_from(line.iter().map(|word| safe_line(word)))
                .err()
                .unwrap_or(e)),
        },
        read => read,
    };
    read.and_then(of_matches).unwrap_or_else(|e| refuse(&line, &e))
}

/// Ends the process with a message: help, or a mistake and the words to write in its place.
fn refuse(line: &[String], e: &clap::Error) -> ! {
    let is_help = !e.use_stderr();
    if is_help && std::io::stdout().is_terminal() && crate::pager::show(&e.render().ansi().to_string()) {
        std::process::exit(0);
    }
    match meant::mistake(line, e) {
        Some(said) => {
            eprint!("{}", crate::code::fitted_stderr(&said));
            std::process::exit(2);
        }
        None => e.exit(),
    }
}

/// The command line that was read.
pub fn of_matches(mut matches: ArgMatches) -> Result<Cli, clap::Error> {
    let command = matches.remove_subcommand().and_then(|(name, matches)| {
        let mut entries = GROUPS.iter().flat_map(|(_, entries)| *entries);
        Some((entries.find(|e| e.name == name)?, matches))
    });
    let version = Top::from_arg_matches(&matches)?.version;
    let before = Common::from_arg_matches(&matches)?;
    let common = match &command {
        Some((_, matches)) => Common::from_arg_matches(matches)?.or(before),
        None => before,
    };
    Ok(Cli { command, version, common })
}

/// A word of a closed set, as the wire writes it.
pub fn word<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let said = |e: serde_json::Error| e.to_string().replace('`', "");
    let expected = |said: String| {
        said.rsplit_once("expected ").map_or(said.clone(), |(_, words)| format!("expected {words}"))
    };
    serde_json::from_value(text.into()).map_err(|e| expected(said(e)))
}

/// Milliseconds of an option in seconds, which may be any number.
pub fn millis(seconds: f64, seconds_max: f64) -> u64 {
    (seconds.clamp(0.0, seconds_max) * 1000.0) as u64
}

/// A number of tokens, perhaps in thousands: `8000`, `8k`.
pub fn tokens(text: &str) -> Result<u64, String> {
    let (digits, factor) = match text.strip_suffix(['k', 'K']) {
        Some(digits) => (digits, 1000),
        None => (text, 1),
    };
    let n: u64 = digits
        .replace('_', "")
        .parse()
        .map_err(|_| "not a number of tokens, such as 8000 or 8k".to_owned())?;
    n.checked_mul(factor).ok_or_else(|| "too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        command().debug_assert();
    }

    #[test]
    fn options_of_every_command_stand_before_and_behind_its_name() {
        for line in ["ctl --json -C d pack x", "ctl -C d pack x --json", "ctl pack --json x -C d"] {
            let cli = of_matches(command().try_get_matches_from(line.split(' ')).unwrap()).unwrap();
            assert!(cli.common.json && cli.common.directory.is_some_and(|d| d.ends_with("d")), "{line}");
        }
        let line = "ctl --color never export scip --repo r";
        let cli = of_matches(command().try_get_matches_from(line.split(' ')).unwrap()).unwrap();
        assert!(cli.common.color == ColorWhen::Never && cli.common.repo.is_some());
    }

    #[test]
    fn tokens_may_come_in_thousands() {
        assert_eq!((tokens("8000"), tokens("8k"), tokens("8_000")), (Ok(8000), Ok(8000), Ok(8000)));
        assert!(tokens("many").is_err() && tokens("").is_err() && tokens("-1").is_err());
    }

    #[test]
    fn any_number_is_a_time() {
        let times = [1.5, f64::NAN, -1.0, f64::INFINITY].map(|s| millis(s, 9.0));
        assert_eq!(times, [1_500, 0, 0, 9_000]);
    }

    #[test]
    fn help_is_as_published() {
        let mut pages = String::new();
        let mut root = command().term_width(80);
        root.build();
        page(&mut root, "ctl", &mut pages);
        let options =
            |name| root.find_subcommand(name).unwrap().get_arguments().filter(|a| !a.is_positional()).count();
        assert!(options("pack") <= 32, "ctl pack has {} options", options("pack"));
        assert!(
            pages.lines().all(|l| l.chars().count() <= 80),
            "{:?}",
            pages.lines().find(|l| l.chars().count() > 80)
        );
        insta::assert_snapshot!("help", pages);
    }

    /// The command lines of `ctl` in a text of examples, as a shell splits them.
    fn lines_of(examples: &str) -> Vec<Vec<String>> {
        let mut out = Vec::new();
        for line in examples.lines().filter_map(|l| l.strip_prefix("  ")) {
            let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
            for c in line.chars().chain([' ']) {
                match (quote, c) {
                    (Some(q), c) if c == q => quote = None,
                    (None, '"' | '\'') => {
                        quote = Some(c);
                        word.get_or_insert_default();
                    }
                    (None, ' ') => words.extend(word.take()),
                    _ => word.get_or_insert_default().push(c),
                }
            }
            let is_end = |w: &String| ["|", "&&", "#", ">", "<"].contains(&w.as_str());
            out.extend(words.split(is_end).map(<[String]>::to_vec));
        }
        out.retain(|words| words.first().is_some_and(|w| w == "ctl"));
        out
    }

    #[test]
    fn every_command_has_an_example_that_is_understood() {
        fn check(command: &clap::Command, path: &str) {
            let shown = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let lines = lines_of(&shown);
            assert!(!lines.is_empty(), "{path} has no example");
            for line in lines {
                let read = super::command().try_get_matches_from(&line);
                assert!(read.is_ok(), "{path}: {line:?}: {}", read.unwrap_err());
            }
            for sub in command.get_subcommands().filter(|s| s.get_name() != "help") {
                check(sub, &format!("{path} {}", sub.get_name()));
            }
        }
        let mut root = command();
        root.build();
        check(&root, "ctl");
        let split = lines_of("Examples:\n  x | ctl pack - '\"in\" it' --b=\"\"  # why\n  ctl a && ctl b > f");
        assert_eq!(split, [&["ctl", "pack", "-", "\"in\" it", "--b="][..], &["ctl", "a"], &["ctl", "b"]]);
    }

    /// Appends the long help of a command and of all below it.
    fn page(command: &mut clap::Command, path: &str, out: &mut String) {
        let help = command.render_help();
        *out += &format!("$ {path} --help\n{help}\n");
        for sub in command.get_subcommands_mut() {
            if sub.get_name() != "help" {
                let path = format!("{path} {}", sub.get_name());
                page(sub, &path, out);
            }
        }
    }
}
