//! Writes shown lines as one text, which is the text that the budget limits.
//!
//! ~~~text
//! # code
//!
//! ## File: retry/delay.go (lines 3-18)
//! ```go
//! // Delay waits ...
//! // ... (lines 7-12)
//! ...
//! ```
//! ~~~
//!
//! Each zone shows a file once, with all its shown lines in order, whichever items they belong to. So a
//! method follows the head of its class, and a signature is near the code that calls it. Text inside a fence
//! is exact. The fence is longer than any run of backticks in the text.

use crate::identity::Source;
use indexd_model::{Language, Lines};
use std::borrow::Cow;

/// The parts of the text, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Zone {
    /// Diffs of a change.
    Changes,
    /// Code that does the work.
    Code,
    /// Tests.
    Tests,
    /// Configuration and build files.
    Config,
    /// Documents.
    Docs,
    /// Items shown only as their place, one line each.
    Places,
}

impl Zone {
    /// The heading of the zone.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Changes => "# changes\n\n",
            Self::Code => "# code\n\n",
            Self::Tests => "# tests\n\n",
            Self::Config => "# config\n\n",
            Self::Docs => "# docs\n\n",
            Self::Places => "# places\n\n",
        }
    }
}

/// All lines of one file in one zone.
pub struct Group<'a> {
    /// Path.
    pub path: &'a str,
    /// Language, for the fence and the gap marks.
    pub language: Language,
    /// The text of the file.
    pub source: &'a Source,
    /// Runs of lines, ascending, not adjacent.
    pub runs: &'a [Lines],
    /// The length of the longest run of backticks in them.
    pub backticks: usize,
}

impl Group<'_> {
    /// The text of a run.
    pub fn text(&self, run: Lines) -> Cow<'_, str> {
        self.source.shown(run)
    }
}

/// Appends one group. `put` appends the text of each run; it gets the index of the run.
pub fn group(g: &Group, out: &mut String, mut put: impl FnMut(&mut String, usize, &str)) {
    let (Some(first), Some(last)) = (g.runs.first(), g.runs.last()) else { return };
    header(g.path, Lines { start: first.start, end: last.end }, out);
    let fence = "`".repeat((g.backticks + 1).max(3));
    out.push_str(&fence);
    out.push_str(hint(g.language, g.path));
    out.push('\n');
    let mut after = first.start;
    for (n, run) in g.runs.iter().enumerate() {
        let missing = run.start.saturating_sub(after);
        if missing > 0 && missing <= blank_before(g.source, run.start) {
            // Only blank lines are missing.
            (0..missing).for_each(|_| out.push('\n'));
        } else if missing > 0 {
            gap(g.language, Lines { start: after, end: run.start - 1 }, out);
        }
        let text = g.text(*run);
        put(out, n, &text);
        if !text.ends_with('\n') {
            out.push('\n');
        }
        after = run.end + 1;
    }
    out.push_str(&fence);
    out.push_str("\n\n");
}

/// Appends the line of an item that is shown only as its place.
pub fn place(path: &str, lines: Lines, title: &str, out: &mut String) {
    out.push_str("- ");
    push_path(path, out);
    out.push_str(&format!(":{}-{} {title}\n", lines.start, lines.end));
}

/// Appends the change of one file: `head` and the parts of the diff.
pub fn change(path: &str, head: &str, parts: &[&str], out: &mut String) {
    out.push_str("## Change: ");
    push_path(path, out);
    head.chars().for_each(|c| out.push(if c.is_control() && c != '\n' { ' ' } else { c }));
    out.push('\n');
    if parts.iter().any(|p| !p.is_empty()) {
        let fence = "`".repeat(parts.iter().map(|p| longest_run(p) + 1).max().unwrap_or(0).max(3));
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

/// Gaps of up to this number of bytes are shown: the mark of a gap takes as many.
const GAP_BYTES: usize = 28;

/// Returns the union of runs of lines of a file. Gaps that are not longer than their mark are included.
pub fn joined(source: &Source, runs: impl IntoIterator<Item = Lines>) -> Vec<Lines> {
    let mut out: Vec<Lines> = Vec::new();
    for run in union(runs) {
        if let Some(last) = out.last_mut() {
            let missing = Lines { start: last.end + 1, end: run.start - 1 };
            if source.slice(source.lines().lines_span(missing)).len() <= GAP_BYTES {
                last.end = run.end;
                continue;
            }
        }
        out.push(run);
    }
    out
}

/// The number of blank lines directly before `line`.
fn blank_before(source: &Source, line: u32) -> u32 {
    let is_blank = |line: &u32| source.slice(source.lines().span(*line)).trim().is_empty();
    (1..line).rev().take_while(is_blank).count() as u32
}

/// Appends `## File: <path> (lines a-b)`.
pub fn header(path: &str, lines: Lines, out: &mut String) {
    out.push_str("## File: ");
    push_path(path, out);
    out.push_str(&format!(" (lines {}-{})\n", lines.start, lines.end));
}

/// Appends a path. Characters that could end the line or count as markup are escaped.
fn push_path(path: &str, out: &mut String) {
    for c in path.chars() {
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
}

/// Appends the mark of missing lines, as a comment of the language.
pub fn gap(language: Language, lines: Lines, out: &mut String) {
    let mark = match language {
        Language::Go | Language::GoMod | Language::GoWork => "// ",
        Language::Python | Language::Toml | Language::Yaml | Language::Ini | Language::Make => "# ",
        Language::Markdown | Language::Json | Language::Text => "",
        other => other.line_comment(),
    };
    out.push_str(&format!("{mark}... (lines {}-{})\n", lines.start, lines.end));
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

/// The length of the longest run of backticks in a text.
pub(crate) fn longest_run(text: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for b in text.bytes() {
        run = if b == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use indexd_model::LineIndex;
    use std::sync::Arc;

    fn source(text: &str) -> Source {
        Source::new(Arc::from(text), Arc::new(LineIndex::new(text)))
    }

    fn lines(runs: &[(u32, u32)]) -> Vec<Lines> {
        runs.iter().map(|&(start, end)| Lines { start, end }).collect()
    }

    fn check(text: &str, runs: &[(u32, u32)], expect: &str) {
        let (source, runs) = (source(text), lines(runs));
        let (mut out, mut shown) = (String::new(), Vec::new());
        let backticks = longest_run(text);
        let of = Group { path: "a.go", language: Language::Go, source: &source, runs: &runs, backticks };
        group(&of, &mut out, |out, n, text| {
            assert_eq!(n, shown.len());
            out.push_str(text);
            shown.push(text.to_owned());
        });
        assert_eq!(out, expect);
        let wanted: Vec<&str> = runs.iter().map(|r| source.slice(source.lines().lines_span(*r))).collect();
        assert_eq!(shown, wanted);
    }

    #[test]
    fn gaps_are_marked_and_blank_lines_shown() {
        let text = "one\ntwo\n\n\nfive\nsix\nseven";
        check(text, &[], "");
        check(text, &[(1, 2)], "## File: a.go (lines 1-2)\n```go\none\ntwo\n```\n\n");
        check(text, &[(2, 2), (5, 5)], "## File: a.go (lines 2-5)\n```go\ntwo\n\n\nfive\n```\n\n");
        check(
            text,
            &[(1, 1), (5, 5), (7, 7)],
            "## File: a.go (lines 1-7)\n```go\none\n// ... (lines 2-4)\nfive\n// ... (lines 6-6)\nseven\n```\n\n",
        );
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
        check("```\nend\n````\n", &[(1, 3)], "## File: a.go (lines 1-3)\n`````go\n```\nend\n````\n`````\n\n");
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
    fn what_is_shorter_than_a_mark_is_shown() {
        let text = "a\n}\nb\nthis line is longer than the mark\nc\n";
        for (runs, expect) in [(&[(1, 1), (3, 3)][..], &[(1, 3)][..]), (&[(3, 3), (5, 5)], &[(3, 3), (5, 5)])]
        {
            assert_eq!(joined(&source(text), lines(runs)), lines(expect), "{runs:?}");
        }
    }

    #[test]
    fn a_path_stays_on_its_line() {
        let mut out = String::new();
        header("a\n## File: b", Lines { start: 1, end: 2 }, &mut out);
        place("a\nb", Lines { start: 3, end: 4 }, "func B()", &mut out);
        assert_eq!(out, "## File: a\\n## File: b (lines 1-2)\n- a\\nb:3-4 func B()\n");
    }
}
