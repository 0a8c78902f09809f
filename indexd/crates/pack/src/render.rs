//! Writes shown lines as one text, which is the text that the budget limits and that is printed.
//!
//! ~~~text
//! # places
//! retry/delay.go:12 Policy.Delay  func (p Policy) Delay(n int) time.Duration {
//! # code
//! retry/delay.go:10-31 Policy.Delay
//! ```go
//! // Delay waits ...
//! // :20
//! ...
//! ```
//! # callers
//! client/client.go
//! :40 func (c *Client) Get(url string) error {
//! :52 time.Sleep(c.policy.Delay(n))
//! ~~~
//!
//! A *piece* is code in a fence under its place. A comment `:20` in a fence says that the next line is line 20
//! of the file; it follows each gap, and stands at every twentieth line of a long run. The best pieces stand alone,
//! best first; the pieces after them share one fence for each file. A *head* is a line that begins with its
//! number; heads are grouped by file. Other text inside a fence is exact, and the fence is longer than any run
//! of backticks in the file.

use crate::identity::Source;
use indexd_model::markdown::{fence, push_path};
use indexd_model::{Language, Lines};
use indexd_text::one_line;

/// The parts of the text, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Zone {
    /// Diffs of a change.
    Changes,
    /// Code that does the work.
    Code,
    /// Heads of code that calls what is shown.
    Callers,
    /// Heads of code to which what is shown refers, and of other related code.
    Related,
    /// Tests.
    Tests,
    /// Configuration and build files.
    Config,
    /// Documents.
    Docs,
    /// Items that the reader has or that share a name, shown only as their place.
    Listed,
}

impl Zone {
    /// The heading of the zone.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Changes => "# changes\n\n",
            Self::Code => "# code\n",
            Self::Callers => "# callers\n",
            Self::Related => "# related\n",
            Self::Tests => "# tests\n",
            Self::Config => "# config\n",
            Self::Docs => "# docs\n",
            Self::Listed => "# listed\n",
        }
    }
}

/// The heading of the best places.
pub const PLACES: &str = "# places\n";

/// Shown lines of one definition, or of text between definitions.
pub struct Piece<'a> {
    /// Path.
    pub path: &'a str,
    /// The first and the last line of the whole definition.
    pub lines: Lines,
    /// Its qualified name; empty if it has none.
    pub name: &'a str,
    /// Language, for the fence and the comments.
    pub language: Language,
    /// The text of the file.
    pub source: &'a Source,
    /// Runs of lines, ascending, not adjacent.
    pub runs: &'a [Lines],
}

/// Runs of more lines than this have line numbers inside.
const PLAIN_LINES_MAX: u32 = 25;
/// A number stands before each line whose number is a multiple of this.
const NUMBERED: u32 = 20;
/// Lines at both ends of a run before which no number stands.
const ENDS: u32 = 5;

/// Appends one piece.
pub fn piece(p: &Piece, out: &mut String) {
    let Some(first) = p.runs.first() else { return };
    push_path(p.path, out);
    out.push_str(&format!(":{}-{}", p.lines.start, p.lines.end));
    if !p.name.is_empty() {
        out.push(' ');
        push_path(p.name, out);
    }
    out.push('\n');
    open_fence(p.language, p.path, p.source, out);
    if first.start != p.lines.start {
        number(p.language, first.start, "", out);
    }
    runs(p, out);
    close_fence(p.source, out);
}

/// Appends the runs of a piece.
fn runs(p: &Piece, out: &mut String) {
    let mut after = p.runs.first().map_or(0, |r| r.start);
    for run in p.runs {
        let missing = run.start.saturating_sub(after);
        if missing > 0 && missing <= blank_before(p.source, run.start) {
            // Only blank lines are missing.
            (0..missing).for_each(|_| out.push('\n'));
        } else if missing > 0 {
            number(p.language, run.start, "", out);
        }
        numbered(p.language, *run, &p.source.shown(*run), out);
        if !out.ends_with('\n') {
            out.push('\n');
        }
        after = run.end + 1;
    }
}

/// Appends a piece that shares its fence with others of its file: a comment with its number and the type
/// around it, and its lines.
pub fn part(p: &Piece, owner: &str, out: &mut String) {
    let Some(first) = p.runs.first() else { return };
    number(p.language, first.start, owner, out);
    runs(p, out);
}

/// Appends the path and the opening fence of pieces of one file.
pub fn open_parts(path: &str, language: Language, source: &Source, out: &mut String) {
    heads_of(path, out);
    open_fence(language, path, source, out);
}

fn open_fence(language: Language, path: &str, source: &Source, out: &mut String) {
    out.push_str(&"`".repeat(source.fence()));
    out.push_str(hint(language, path));
    out.push('\n');
}

/// Appends the closing fence.
pub fn close_fence(source: &Source, out: &mut String) {
    out.push_str(&"`".repeat(source.fence()));
    out.push('\n');
}

/// Appends a run of lines; a long one with numbers.
fn numbered(language: Language, run: Lines, text: &str, out: &mut String) {
    if run.count() <= PLAIN_LINES_MAX {
        out.push_str(text);
        return;
    }
    for (line, text) in (run.start..).zip(text.split_inclusive('\n')) {
        let is_inside = line >= run.start + ENDS && line + ENDS <= run.end;
        if line % NUMBERED == 0 && is_inside {
            number(language, line, "", out);
        }
        out.push_str(text);
    }
}

/// Appends a comment with the number of the next line and the name of the type around it, if any. The blank at
/// its start keeps a tokenizer from joining it with the line before.
fn number(language: Language, line: u32, owner: &str, out: &mut String) {
    out.push_str(&format!(" {}:{line}", language.line_comment()));
    if !owner.is_empty() {
        out.push_str(" in ");
        push_path(owner, out);
    }
    out.push('\n');
}

/// Maximum characters of a head.
pub const LINE_CHARS_MAX: usize = 160;
/// Maximum characters of the text after a place.
const PLACE_CHARS_MAX: usize = 100;

/// Appends one line of a head: its number, the type of a member whose line does not name it, and its text on
/// one line.
pub fn head(line: u32, owner: &str, text: &str, out: &mut String) {
    out.push_str(&format!(":{line} "));
    if !owner.is_empty() && !text.contains(owner) {
        out.push('[');
        push_path(owner, out);
        out.push_str("] ");
    }
    push_line(text.trim_start(), LINE_CHARS_MAX, out);
}

/// Appends the header of heads of one file.
pub fn heads_of(path: &str, out: &mut String) {
    push_path(path, out);
    out.push('\n');
}

/// Appends a place: its path and line, its qualified name, and the line that matters, with its number if it
/// is another one. A signature follows the name from its parameters on.
pub fn place(path: &str, line: u32, name: &str, matter: (u32, &str), out: &mut String) {
    push_path(path, out);
    out.push_str(&format!(":{line}"));
    if !name.is_empty() {
        out.push(' ');
        push_path(name, out);
    }
    let (at, text) = matter;
    let bare = name.rsplit('.').next().filter(|n| !n.is_empty());
    let rest = bare.filter(|_| at == line).and_then(|bare| text.split_once(bare)).map(|(_, rest)| rest);
    let rest = rest.map(|rest| rest.trim_end_matches(['{', ':', ' ']));
    match rest {
        Some(rest) => push_line(rest, PLACE_CHARS_MAX, out),
        None if text.is_empty() => out.push('\n'),
        None => {
            out.push_str("  ");
            if at != line {
                out.push_str(&format!("{at}: "));
            }
            push_line(text, PLACE_CHARS_MAX, out);
        }
    }
}

/// Appends a text, which may begin with a blank, on one line, cut to a number of characters.
fn push_line(text: &str, chars_max: usize, out: &mut String) {
    if text.starts_with(' ') {
        out.push(' ');
    }
    let line = one_line(text);
    let mut chars = line.chars();
    out.extend(chars.by_ref().take(chars_max));
    if chars.next().is_some() {
        out.push('\u{2026}');
    }
    out.push('\n');
}

/// A text on one line, without control characters.
pub fn inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_path(text, &mut out);
    out
}

/// Appends the change of one file: `head` and the parts of the diff.
pub fn change(path: &str, head: &str, parts: &[&str], out: &mut String) {
    out.push_str("## Change: ");
    push_path(path, out);
    head.chars().for_each(|c| out.push(if c.is_control() && c != '\n' { ' ' } else { c }));
    out.push('\n');
    if parts.iter().any(|p| !p.is_empty()) {
        let fence = fence(parts.iter().copied());
        out.push_str(&fence);
        out.push_str("diff\n");
        parts.iter().for_each(|p| out.push_str(p));
        out.push_str(&fence);
        out.push('\n');
    }
    out.push('\n');
}

/// Returns the union of runs of lines, ascending; overlapping and adjacent runs are joined.
pub fn union(runs: impl IntoIterator<Item = Lines>) -> Vec<Lines> {
    let mut runs: Vec<Lines> = runs.into_iter().collect();
    runs.sort_unstable();
    let mut out: Vec<Lines> = Vec::with_capacity(runs.len());
    for run in runs {
        match out.last_mut() {
            Some(last) if run.start <= last.end + 1 => last.end = last.end.max(run.end),
            _ => out.push(run),
        }
    }
    out
}

/// The number of blank lines directly before `line`.
fn blank_before(source: &Source, line: u32) -> u32 {
    let is_blank = |line: &u32| source.slice(source.lines().span(*line)).trim().is_empty();
    (1..line).rev().take_while(is_blank).count() as u32
}

/// The language of a fence: the id of the language, or the extension of a file with an unknown language.
fn hint(language: Language, path: &str) -> &str {
    if language != Language::Text {
        return language.id();
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').filter(|(stem, _)| !stem.is_empty()).map_or("", |(_, e)| e);
    let is_plain = extension.len() <= 12 && extension.bytes().all(|b| b.is_ascii_alphanumeric());
    if is_plain { extension } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexd_model::LineIndex;
    use std::sync::Arc;

    fn lines(runs: &[(u32, u32)]) -> Vec<Lines> {
        runs.iter().map(|&(start, end)| Lines { start, end }).collect()
    }

    fn check(text: &str, of: (u32, u32), runs: &[(u32, u32)], expect: &str) {
        let source = Source::new(Arc::from(text), Arc::new(LineIndex::new(text)));
        let mut out = String::new();
        let lines_of = Lines { start: of.0, end: of.1 };
        let runs = lines(runs);
        let language = Language::Go;
        piece(
            &Piece { path: "a.go", lines: lines_of, name: "A", language, source: &source, runs: &runs },
            &mut out,
        );
        assert_eq!(out, expect);
    }

    #[test]
    fn the_number_of_every_line_can_be_read() {
        let text = "one\ntwo\n\n\nfive\nsix\nseven";
        check(text, (1, 7), &[], "");
        check(text, (1, 2), &[(1, 2)], "a.go:1-2 A\n```go\none\ntwo\n```\n");
        check(text, (2, 5), &[(2, 2), (5, 5)], "a.go:2-5 A\n```go\ntwo\n\n\nfive\n```\n");
        check(
            text,
            (1, 7),
            &[(2, 2), (5, 5), (7, 7)],
            "a.go:1-7 A\n```go\n // :2\ntwo\n\n\nfive\n // :7\nseven\n```\n",
        );
        let long: String = (1..=44).map(|n| format!("l{n}\n")).collect();
        let shown: String =
            (4..=44).map(|n| if n == 20 { format!(" // :{n}\nl{n}\n") } else { format!("l{n}\n") }).collect();
        check(&long, (4, 44), &[(4, 44)], &format!("a.go:4-44 A\n```go\n{shown}```\n"));
    }

    #[test]
    fn a_fence_names_the_language_or_the_extension() {
        for (language, path, expect) in [
            (Language::Go, "a.go", "go"),
            (Language::Python, "bin/tool", "python"),
            (Language::Text, "api/v1/retry.proto", "proto"),
            (Language::Text, "a.b/LICENSE", ""),
            (Language::Text, "web/.env", ""),
            (Language::Text, "a.x`y", ""),
            (Language::Text, "a.tar.gz", "gz"),
            (Language::Text, "a.c d", ""),
        ] {
            assert_eq!(hint(language, path), expect, "{path}");
        }
    }

    #[test]
    fn content_cannot_close_its_fence() {
        check("```\nend\n````\n", (1, 3), &[(1, 3)], "a.go:1-3 A\n`````go\n```\nend\n````\n`````\n");
    }

    #[test]
    fn runs_are_joined_where_they_meet() {
        for (runs, expect) in [
            (&[][..], &[][..]),
            (&[(4, 5), (1, 2)], &[(1, 2), (4, 5)]),
            (&[(1, 2), (3, 5)], &[(1, 5)]),
            (&[(1, 9), (3, 5)], &[(1, 9)]),
            (&[(1, 4), (3, 5), (7, 7)], &[(1, 5), (7, 7)]),
        ] {
            assert_eq!(union(lines(runs)), lines(expect), "{runs:?}");
        }
    }

    #[test]
    fn places_and_heads_stay_on_their_lines() {
        let mut out = String::new();
        place("a\n# code", 3, "B", (3, "func B()"), &mut out);
        place("a.go", 3, "B.c", (9, "\tx :=\n 1"), &mut out);
        place("a.go", 3, "", (3, ""), &mut out);
        head(7, "Door", "def open(\n    self)", &mut out);
        head(7, "Door", "func (d *Door) Open()", &mut out);
        head(7, "", &"x".repeat(200), &mut out);
        let cut = "x".repeat(LINE_CHARS_MAX);
        let expect = format!(
            "a\\n# code:3 B()\na.go:3 B.c  9: x := 1\na.go:3\n:7 [Door] def open(self)\n\
             :7 func (d *Door) Open()\n:7 {cut}\u{2026}\n"
        );
        assert_eq!(out, expect);
    }
}
