//! The answer of a search as text: definitions first, then calls, then the rest, tests apart; by file and
//! definition; within a number of tokens, with what was cut as counts.

use super::pattern::Pattern;
use super::{order, shown};
use crate::server::named::many;
use grep_matcher::Matcher as _;
use indexd_model::FactsView as _;
use indexd_proto::grep::{GrepFile, GrepLine, GrepParams, GrepRole, GrepTarget};
use indexd_store::Snapshot;
use indexd_text::TokenCounter;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Files named among those that were cut.
const CUT_FILES_MAX: usize = 8;
/// Bytes of a line that are shown.
const LINE_BYTES_MAX: usize = 160;

/// What the text is written from.
pub struct Page<'a> {
    lines: &'a [GrepLine],
    files: &'a [GrepFile],
    n_lines: u64,
    head: usize,
    pattern: &'a Pattern,
    /// Files that come behind others: docs, generated and vendored ones.
    behind: FxHashSet<&'a str>,
    /// The target of all resolved uses, if they are many.
    only: Option<&'a GrepTarget>,
}

/// What the text of an answer is written from.
pub fn of<'a>(
    snapshot: &Snapshot,
    lines: &'a [GrepLine],
    files: &'a [GrepFile],
    params: &GrepParams,
    pattern: &'a Pattern,
) -> Page<'a> {
    let mut paths: Vec<&str> = lines.iter().map(|l| l.file_rel_path.as_str()).collect();
    paths.dedup();
    let is_behind =
        |path: &&str| snapshot.file_by_path(path).is_some_and(|file| order::is_behind(snapshot, file));
    let behind = paths.into_iter().filter(is_behind).collect();
    let head = params.limit.map_or(usize::MAX, |n| n as usize);
    let n_lines = files.iter().map(|f| f.n_lines).sum();
    Page { lines, files, n_lines, head, pattern, behind, only: only_target(lines) }
}

fn only_target(lines: &[GrepLine]) -> Option<&GrepTarget> {
    let mut targets = lines.iter().filter_map(|l| l.target.as_ref());
    let first = targets.next()?;
    let others: Vec<&GrepTarget> = targets.collect();
    (!others.is_empty() && others.iter().all(|t| *t == first)).then_some(first)
}

/// The sections, best first.
const SECTIONS: [&str; 4] = ["definitions", "calls", "other", "tests"];

fn section(line: &GrepLine) -> usize {
    match line.role {
        _ if line.test => 3,
        Some(GrepRole::Def) => 0,
        Some(GrepRole::Call) => 1,
        _ => 2,
    }
}

fn is_def(line: &GrepLine) -> bool {
    line.role == Some(GrepRole::Def)
}

/// True for a line that defines a name which the pattern matches as a whole.
fn defines_whole(pattern: &Pattern, line: &GrepLine) -> bool {
    let within = line.within.as_ref().filter(|_| is_def(line));
    within.is_some_and(|w| {
        let name = w.name.rsplit(['.', ':', '#']).next().unwrap_or_default();
        let found = pattern.matcher.find(name.as_bytes());
        matches!(found, Ok(Some(m)) if m.start() == 0 && m.end() == name.len())
    })
}

/// Writes the text, at most `max` tokens.
pub fn text(page: &Page, max: u32, counter: &dyn TokenCounter) -> String {
    if page.n_lines == 0 {
        return "no line matches\n".to_owned();
    }
    let mut order: Vec<&GrepLine> = page.lines.iter().collect();
    let is_behind = |l: &GrepLine| page.behind.contains(l.file_rel_path.as_str());
    order.sort_by_cached_key(|l| (section(l), !defines_whole(page.pattern, l), is_behind(l), !is_def(l)));
    // Each piece is counted by itself, which is never less than what it adds.
    let mut n_shown = order.len().min(page.head);
    let mut used = 60 * u32::from(page.n_lines > n_shown as u64);
    let mut last = None;
    for (i, line) in order.iter().enumerate().take(n_shown) {
        let mut piece = line_text(page, line);
        if head_of(last) != head_of(Some(line)) {
            piece = format!("{}\n{}\n{piece}", SECTIONS[section(line)], place(line));
        }
        used += counter.count_tokens(&piece) + 1;
        if used > max.saturating_sub(40) && i > 0 {
            n_shown = i;
            break;
        }
        last = Some(line);
    }
    loop {
        let text = render(page, &order, n_shown);
        if n_shown <= 1 || counter.count_tokens(&text) <= max {
            return text;
        }
        n_shown -= n_shown.div_ceil(12);
    }
}

/// What lines below one heading have in common.
fn head_of(line: Option<&GrepLine>) -> Option<(usize, &str, Option<&str>, u32)> {
    line.map(|l| {
        let within = l.within.as_ref();
        (section(l), &*l.file_rel_path, within.map(|w| &*w.name), within.map_or(0, |w| w.lines.start))
    })
}

fn place(line: &GrepLine) -> String {
    match &line.within {
        Some(w) => format!("{}  {} ({}-{})", line.file_rel_path, w.name, w.lines.start, w.lines.end),
        None => line.file_rel_path.clone(),
    }
}

fn line_text(page: &Page, line: &GrepLine) -> String {
    let mut out = String::new();
    let first = line.line - line.before.len() as u32;
    for (n, text) in (first..).zip(&line.before) {
        out += &format!("  {n}- {}\n", shown_in(text, 0));
    }
    let role = match line.role {
        Some(role) if section(line) >= 2 => format!(" {}", role.mark()),
        None => " ?".to_owned(),
        _ => String::new(),
    };
    out += &format!("  {}{role}: {}", line.line, shown_in(&line.text, line.column as usize));
    if let Some(t) = line.target.as_ref().filter(|_| page.only.is_none()) {
        out += &format!("  [{}]", said(t));
    }
    out.push('\n');
    for (n, text) in (line.line + 1..).zip(&line.after) {
        out += &format!("  {n}- {}\n", shown_in(text, 0));
    }
    out
}

fn said(t: &GrepTarget) -> String {
    format!("{} {}:{}", t.name, t.file_rel_path, t.line)
}

/// A line as it is shown: its indent says nothing under a heading.
fn shown_in(text: &str, column: usize) -> String {
    let bare = text.trim();
    if bare.len() <= LINE_BYTES_MAX {
        return bare.to_owned();
    }
    let at = column.saturating_sub(text.len() - text.trim_start().len());
    let mut short = shown(bare, at);
    if short.len() > LINE_BYTES_MAX * 2 {
        let end = (0..=LINE_BYTES_MAX * 2).rev().find(|i| short.is_char_boundary(*i)).unwrap_or(0);
        short.truncate(end);
        short.push('…');
    }
    short
}

fn render(page: &Page, order: &[&GrepLine], n_shown: usize) -> String {
    let lines = |n: u64| many(n, "line", "lines");
    let mut out = format!("{} in {}", lines(page.n_lines), many(page.files.len() as u64, "file", "files"));
    if let Some(t) = page.only {
        let looked = if page.n_lines > order.len() as u64 { " shown" } else { "" };
        out += &format!("; resolved uses{looked} are of {}", said(t));
    }
    out.push('\n');
    let (mut last, mut last_section) = (None, None);
    for line in &order[..n_shown] {
        if last_section.replace(section(line)) != Some(section(line)) {
            out += &format!("\n{}\n", SECTIONS[section(line)]);
        }
        if head_of(last) != head_of(Some(line)) {
            out += &format!("{}\n", place(line));
        }
        out += &line_text(page, line);
        last = Some(line);
    }
    let n_cut = page.n_lines - n_shown as u64;
    if n_cut > 0 {
        out += &format!("\nnot shown: {}\n{}", lines(n_cut), cut(page, &order[..n_shown], &order[n_shown..]));
    }
    out
}

/// What was cut, by role and by file, most first.
fn cut(page: &Page, shown: &[&GrepLine], left: &[&GrepLine]) -> String {
    let mut roles: BTreeMap<(bool, GrepRole), u64> = BTreeMap::new();
    for line in left {
        *roles.entry((line.test, line.role.unwrap_or(GrepRole::Unknown))).or_default() += 1;
    }
    let role = |((test, role), n): (&(bool, GrepRole), &u64)| {
        format!("{n} {}{}", role.mark(), if *test { " in tests" } else { "" })
    };
    let mut out = String::new();
    if !roles.is_empty() {
        let n_looked = shown.len() + left.len();
        let of = if n_looked as u64 == page.n_lines {
            String::new()
        } else {
            format!(", of the first {n_looked}")
        };
        out += &format!("  by role{of}: {}\n", roles.iter().map(role).collect::<Vec<_>>().join(", "));
    }
    let mut n_shown: FxHashMap<&str, u64> = FxHashMap::default();
    for line in shown {
        *n_shown.entry(&line.file_rel_path).or_default() += 1;
    }
    let left_of = |f: &GrepFile| f.n_lines - n_shown.get(&*f.file_rel_path).copied().unwrap_or(0);
    let mut files: Vec<(u64, &str)> = page.files.iter().map(|f| (left_of(f), &*f.file_rel_path)).collect();
    files.retain(|f| f.0 > 0);
    files.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
    let named: Vec<String> =
        files.iter().take(CUT_FILES_MAX).map(|(n, path)| format!("{path} {n}")).collect();
    out += &format!("  by file: {}", named.join(", "));
    if files.len() > CUT_FILES_MAX {
        out += &format!(", and {} more files", files.len() - CUT_FILES_MAX);
    }
    out + "\n  more: --budget N or --all; fewer: --def, --call, --no-test, -g GLOB\n"
}
