//! `ctl grep`: lines that match, for readers of tokens, for people and for programs.

use super::{Target, note, overlays, wait};
use crate::args::{Common, GrepArgs};
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::session::{self, Session};
use crate::style::{Style, safe, safe_line};
use indexd_proto::Method;
use indexd_proto::grep::{GrepLine, GrepParams, GrepResult};
use indexd_proto::limits::GREP_LINES_MAX;

/// The number behind `-C`, which every other command reads as a folder.
pub fn context_of(common: &mut Common, args: &mut GrepArgs) {
    let number = common.directory.as_ref().and_then(|d| d.to_str()?.parse::<u32>().ok());
    if let Some(n) = number {
        common.directory = None;
        args.context.get_or_insert(n);
    }
}

/// Prints lines that match; none is exit status 1.
pub fn grep(common: &Common, args: &GrepArgs) -> Result<(), Failure> {
    let mut progress = Progress::new(common.quiet);
    let mut params = params(common, args, &progress)?;
    let mut session = Session::open(common)?;
    let line = session.call(Method::Grep, &params, &mut progress)?;
    let mut answer: GrepResult = session::result(&line)?;
    let mut out = Output::new();
    let style = Style::of_stdout(common.color);
    match &answer.text {
        _ if common.json => out.line(session::raw(&line)?)?,
        _ if params.count => out.text(&files_text(&answer, args.count, style))?,
        Some(text) => out.text(&safe(text))?,
        None => loop {
            answer.lines.iter().try_for_each(|l| out.line(&line_text(l, args.vimgrep, style)))?;
            params.skip += answer.lines.len() as u32;
            if !args.all || answer.lines.is_empty() || u64::from(params.skip) >= answer.n_lines {
                break;
            }
            answer = session.ask(Method::Grep, &params, &mut progress)?;
        },
    }
    out.finish()?;
    let shown = u64::from(params.skip);
    if params.max_tokens.is_none() && !params.count && !common.json && shown < answer.n_lines && !common.quiet
    {
        eprintln!("ctl: {} more lines; --all prints them", answer.n_lines - shown);
    }
    note(common, &answer.envelope, &[]);
    if answer.n_lines == 0 { Err(Failure::NoResult) } else { Ok(()) }
}

fn params(common: &Common, args: &GrepArgs, progress: &Progress) -> Result<GrepParams, Failure> {
    let target = Target::of(common)?;
    let (patterns, paths) = args.split();
    let count = args.files_with_matches || args.count;
    let is_text = !(args.vimgrep || args.all || count || common.json);
    let around = args.context.unwrap_or(0);
    let roles = args.roles();
    let tests = (args.test || args.no_test).then_some(args.test);
    Ok(GrepParams {
        repo: target.repo,
        cwd: target.cwd,
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
        wait: Some(wait(&args.wait)),
        overlays: overlays(&args.wait)?,
        progress: progress.is_wanted(),
    })
}

fn files_text(answer: &GrepResult, counts: bool, style: Style) -> String {
    let of = |f: &indexd_proto::grep::GrepFile| {
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
    out += &format!("{place}:{column}{}", safe_line(&line.text));
    for (n, text) in (line.line + 1..).zip(&line.after) {
        out += &format!("\n{}", around(n, text));
    }
    out
}
