//! `ctl grep`: lines that match, for readers of tokens, for people and for programs.

use super::{asked, note, put, terminal};
use crate::cli::{Common, WaitArgs};
use crate::failure::Failure;
use crate::output::{Output, print_json, print_styled};
use crate::session::{self, Session};
use crate::style::{Style, safe, safe_line};
use indexd_proto::Method;
use indexd_proto::grep::{GrepFile, GrepLine, GrepParams, GrepResult, GrepRole};
use indexd_proto::limits::GREP_LINES_MAX;
use indexd_proto::workspace::Envelope;
use std::path::PathBuf;

/// Lines that people get unless they ask for more.
const LINES_SEEN: u32 = 1_000;

/// Maximum number of files of one request.
const GROUP_FILES_MAX: usize = 1_000;

const EXAMPLES: &str = "Examples:
  ctl grep 'retry_delay\\(' src
  ctl grep -w -i timeout --call --no-test
  ctl grep -e deprecated -e obsolete --comment -t rust
  ctl grep -F 'a.b(' --vimgrep --all
  ctl grep -l -g '*.proto' 'message .*Request'

A line has its roles from the syntax and the edges: definitions, calls, other
uses, imports, strings, comments; `?` where neither knows. Status 1: no line.
-C takes a number here, lines around each; a folder is named with --repo.";

/// Options of `grep`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
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
    /// Tokens of the text, 200 to 90000
    #[arg(long, value_name = "TOKENS", default_value_t = 2000, value_parser = clap::value_parser!(u32).range(200..=90_000))]
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
    /// Requirements of the index.
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

/// The number behind `-C`, which every other command reads as a folder.
pub fn lines_around(common: &Common) -> Option<u32> {
    common.directory.as_ref()?.to_str()?.parse().ok()
}

/// Prints lines that match; none is exit status 1.
pub fn grep(common: &Common, args: &GrepArgs) -> Result<(), Failure> {
    let params = params(common, args)?;
    let mut session = Session::open(common)?;
    let style = Style::of_code(common);
    if style.is_view && params.max_tokens.is_some() {
        return look(common, args, &mut session, style, params);
    }
    if args.all && !common.json && !params.count {
        let mut out = Output::stdout();
        let envelope =
            every_line(&mut session, params, &mut |l| out.styled(&line_text(l, args.vimgrep, style)))?;
        out.finish()?;
        note(common, &envelope.ok_or(Failure::NoResult)?, &[]);
        return Ok(());
    }
    let line = session.call(Method::Grep, &params)?;
    let answer: GrepResult = session::result(&line)?;
    match &answer.text {
        _ if common.json => print_json(session::raw(&line)?)?,
        _ if params.count => print_styled(&files_text(&answer, args.count, style))?,
        Some(text) => put(None, &safe(text))?,
        None => {
            print_styled(&answer.lines.iter().map(|l| line_text(l, args.vimgrep, style)).collect::<String>())?
        }
    }
    let shown = answer.lines.len() as u64;
    if params.max_tokens.is_none() && !params.count && !common.json && shown < answer.n_lines && !common.quiet
    {
        eprintln!("ctl: {} more lines; --all prints them", answer.n_lines - shown);
    }
    note(common, &answer.envelope, &[]);
    if answer.n_lines == 0 { Err(Failure::NoResult) } else { Ok(()) }
}

/// Prints every line. Returns the envelope of the first answer, or `None` if no line matches. Counts the lines of
/// each file first, then asks for the files in groups.
fn every_line(
    session: &mut Session,
    params: GrepParams,
    print: &mut dyn FnMut(&GrepLine) -> Result<(), Failure>,
) -> Result<Option<Envelope>, Failure> {
    let counting = GrepParams { count: true, ..params.clone() };
    let counted: GrepResult = session.ask(Method::Grep, &counting)?;
    let root = counted.envelope.root.clone();
    let mut files = &counted.files[..];
    while !files.is_empty() {
        let (group, rest) = files.split_at(n_together(files));
        let paths = group.iter().map(|f| f.file_rel_path.clone()).collect();
        let mut params = GrepParams { repo: Some(root.clone()), cwd: None, paths, ..params.clone() };
        loop {
            let answer: GrepResult = session.ask(Method::Grep, &params)?;
            answer.lines.iter().try_for_each(&mut *print)?;
            params.skip += answer.lines.len() as u32;
            if answer.lines.is_empty() || u64::from(params.skip) >= answer.n_lines {
                break;
            }
        }
        files = rest;
    }
    Ok((counted.n_lines > 0).then_some(counted.envelope))
}

/// The number of first files that fit into one answer; at least one.
fn n_together(files: &[GrepFile]) -> usize {
    let lines = files.iter().scan(0, |sum, f| {
        *sum += f.n_lines;
        Some(*sum)
    });
    lines.take(GROUP_FILES_MAX).take_while(|sum| *sum <= u64::from(GREP_LINES_MAX)).count().max(1)
}

/// Prints lines for people.
fn look(
    common: &Common,
    args: &GrepArgs,
    session: &mut Session,
    style: Style,
    params: GrepParams,
) -> Result<(), Failure> {
    let limit = params.limit.or(Some(LINES_SEEN));
    let params = GrepParams { max_tokens: None, limit, ..params };
    let answer: GrepResult = session.ask(Method::Grep, &params)?;
    let texts = terminal::Texts::of(&params.patterns, args.fixed_strings, args.ignore_case);
    let (lines, n) = (&answer.lines, answer.n_lines);
    terminal::print(common, session, style, terminal::grep_places(lines), |code| {
        terminal::lines(lines, n, &texts, style, code)
    })?;
    note(common, &answer.envelope, &[]);
    if n == 0 { Err(Failure::NoResult) } else { Ok(()) }
}

fn params(common: &Common, args: &GrepArgs) -> Result<GrepParams, Failure> {
    let (patterns, paths) = args.split();
    let count = args.files_with_matches || args.count;
    let is_text = !(args.vimgrep || args.all || count || common.json);
    let around = args.context.or(lines_around(common)).unwrap_or(0);
    let roles = args.roles();
    let tests = (args.test || args.no_test).then_some(args.test);
    Ok(asked!(GrepParams, common, &args.wait, {
        patterns,
        fixed: args.fixed_strings,
        ignore_case: args.ignore_case,
        word: args.word_regexp,
        paths: paths.iter().map(|p| p.to_string_lossy().into_owned()).collect(),
        globs: args.glob.clone(),
        types: args.kind.clone(),
        plain: !is_text && !common.json && roles.is_empty() && tests.is_none(),
        roles,
        tests,
        before: args.before_context.unwrap_or(around),
        after: args.after_context.unwrap_or(around),
        limit: args.head.map(|n| n.clamp(1, GREP_LINES_MAX)),
        skip: 0,
        count,
        max_tokens: is_text.then_some(args.budget),
    }))
}

fn files_text(answer: &GrepResult, counts: bool, style: Style) -> String {
    let of = |f: &GrepFile| {
        let n = if counts { format!(":{}", f.n_lines) } else { String::new() };
        format!("{}{n}\n", style.path(&safe_line(&f.file_rel_path)))
    };
    answer.files.iter().map(of).collect()
}

/// `path:line: text`, or with the column as editors read it.
fn line_text(line: &GrepLine, column: bool, style: Style) -> String {
    let column = if column { format!("{}:", line.column) } else { " ".to_owned() };
    let place = style.path(&format!("{}:{}", safe_line(&line.file_rel_path), line.line));
    let mut out = String::new();
    let around = |n: u32, text: &String| {
        style.dim(&format!("{}-{n}- {}", safe_line(&line.file_rel_path), safe_line(text)))
    };
    let first = line.line - line.before.len() as u32;
    for (n, text) in (first..).zip(&line.before) {
        out += &format!("{}\n", around(n, text));
    }
    out += &format!("{place}:{column}{}\n", safe_line(&line.text));
    for (n, text) in (line.line + 1..).zip(&line.after) {
        out += &format!("{}\n", around(n, text));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_asked_for_as_one_answer_holds_their_lines() {
        let files = |counts: &[u64]| -> Vec<GrepFile> {
            counts.iter().map(|n| GrepFile { file_rel_path: "a".to_owned(), n_lines: *n }).collect()
        };
        assert_eq!(n_together(&files(&[1, 2, 3])), 3);
        assert_eq!(n_together(&files(&[19_999, 1, 1])), 2);
        assert_eq!(n_together(&files(&[45_000, 1])), 1);
        assert_eq!(n_together(&files(&[1; 3_000])), GROUP_FILES_MAX);
    }
}
