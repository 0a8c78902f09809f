//! Options of `grep`.

use super::WaitArgs;
use clap::Args;
use indexd_proto::grep::GrepRole;
use std::path::PathBuf;

/// What stands below the options.
pub const EXAMPLES: &str = "Examples:
  ctl grep 'retry_delay\\(' src
  ctl grep -w -i timeout --call --no-test
  ctl grep -e TODO -e FIXME --comment -t rust
  ctl grep -F 'a.b(' --vimgrep --all
  ctl grep -l -g '*.proto' 'message .*Request'

A line has its roles from the syntax and the edges: definitions, calls, other
uses, imports, strings, comments; `?` where neither knows. Status 1: no line.
-C takes a number here, lines around each; a folder is named with --repo.";

/// Options of `grep`.
#[derive(Debug, Args)]
pub struct GrepArgs {
    /// A regular expression of the crate regex
    #[arg(required_unless_present = "regexp", allow_hyphen_values = true)]
    pub pattern: Option<String>,
    /// Files and folders to search [default: all]
    #[arg(value_hint = clap::ValueHint::AnyPath)]
    pub paths: Vec<PathBuf>,
    /// A pattern; may be given several times
    #[arg(short = 'e', long, value_name = "PATTERN", allow_hyphen_values = true)]
    pub regexp: Vec<String>,
    /// Patterns are texts and no expressions
    #[arg(short = 'F', long)]
    pub fixed_strings: bool,
    /// Capitals and small letters are the same
    #[arg(short, long)]
    pub ignore_case: bool,
    /// Matches are words of their own
    #[arg(short, long)]
    pub word_regexp: bool,
    /// Print only the paths of files
    #[arg(short = 'l', long, conflicts_with_all = ["count", "vimgrep"])]
    pub files_with_matches: bool,
    /// Print only how many lines match, by file
    #[arg(short, long, conflicts_with = "vimgrep")]
    pub count: bool,
    /// Lines behind each
    #[arg(short = 'A', long, value_name = "N")]
    pub after_context: Option<u32>,
    /// Lines before each
    #[arg(short = 'B', long, value_name = "N")]
    pub before_context: Option<u32>,
    /// Lines around each, as -C
    #[arg(long, value_name = "N")]
    pub context: Option<u32>,
    /// Only paths that match, as in .gitignore; with ! those that do not
    #[arg(short, long, value_name = "GLOB")]
    pub glob: Vec<String>,
    /// Only files of this kind, as ripgrep names them
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    pub kind: Vec<String>,
    /// Lines at most
    #[arg(long, value_name = "N")]
    pub head: Option<u32>,
    /// Tokens of the text (o200k_base), 200 to 90000
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub budget: u32,
    /// One line for each: path:line:column:text
    #[arg(long)]
    pub vimgrep: bool,
    /// All lines, whatever their number
    #[arg(long, conflicts_with = "head")]
    pub all: bool,
    /// Only definitions
    #[arg(long, help_heading = "Roles")]
    pub def: bool,
    /// Only calls
    #[arg(long, help_heading = "Roles")]
    pub call: bool,
    /// Only other uses
    #[arg(long = "ref", help_heading = "Roles")]
    pub refs: bool,
    /// Only imports
    #[arg(long, help_heading = "Roles")]
    pub import: bool,
    /// Only strings
    #[arg(long, help_heading = "Roles")]
    pub string: bool,
    /// Only comments
    #[arg(long, help_heading = "Roles")]
    pub comment: bool,
    /// Only tests
    #[arg(long, conflicts_with = "no_test", help_heading = "Roles")]
    pub test: bool,
    /// No tests
    #[arg(long, help_heading = "Roles")]
    pub no_test: bool,
    /// Numbers are printed always
    #[arg(short = 'n', long, hide = true)]
    pub line_number: bool,
    /// What the index must hold.
    #[command(flatten)]
    pub wait: WaitArgs,
}

impl GrepArgs {
    /// Patterns, and paths: with `-e` the first word is a path.
    pub fn split(&self) -> (Vec<String>, Vec<PathBuf>) {
        if self.regexp.is_empty() {
            return (self.pattern.iter().cloned().collect(), self.paths.clone());
        }
        let first = self.pattern.iter().map(PathBuf::from);
        (self.regexp.clone(), first.chain(self.paths.iter().cloned()).collect())
    }

    /// The roles that are asked for; none for all.
    pub fn roles(&self) -> Vec<GrepRole> {
        let asked = [
            (self.def, GrepRole::Def),
            (self.call, GrepRole::Call),
            (self.refs, GrepRole::Ref),
            (self.import, GrepRole::Import),
            (self.string, GrepRole::String),
            (self.comment, GrepRole::Comment),
        ];
        asked.into_iter().filter(|(is_asked, _)| *is_asked).map(|(_, role)| role).collect()
    }
}
