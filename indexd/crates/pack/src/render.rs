//! From selected items to the one text that is budgeted: what a model or a reader gets.
//!
//! ~~~text
//! # seeds
//!
//! ## File: retry/delay.go (lines 3-18)
//! ```go
//! // Delay waits ...
//! // ... (lines 7-12)
//! ...
//! ```
//! ~~~
//!
//! Items of one file stand together inside a section, where the best of them ranks, by line. Text
//! inside a fence is exact; the fence is longer than any run of backticks in it.

use indexd_model::{Language, Lines};
use std::ops::Range;

/// One item as it is rendered.
#[derive(Clone, Debug)]
pub struct Block<'a> {
    /// Position of its section.
    pub section: usize,
    /// Path.
    pub path: &'a str,
    /// Language, for the fence and the gap marks.
    pub language: Language,
    /// Runs of lines with their exact text.
    pub parts: Vec<Run<'a>>,
}

/// A run of lines of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Run<'a> {
    /// The lines.
    pub lines: Lines,
    /// How many blank lines stand right before it.
    pub blank_before: u32,
    /// The exact text.
    pub text: &'a str,
}

/// A rendering.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rendered {
    /// The text.
    pub text: String,
    /// Where the runs of lines stand in it, in order.
    pub runs: Vec<Range<usize>>,
}

/// Renders blocks, given in the order of their sections and ranks. No block gives an empty text.
pub fn render(section_names: &[&str], blocks: &[Block]) -> Rendered {
    let size: usize = blocks.iter().flat_map(|b| &b.parts).map(|p| p.text.len() + 64).sum();
    let mut out = String::with_capacity(size);
    let mut runs = Vec::new();
    let mut section = None;
    let mut done = vec![false; blocks.len()];
    for i in 0..blocks.len() {
        if done[i] {
            continue;
        }
        if section != Some(blocks[i].section) {
            section = Some(blocks[i].section);
            out.push_str("# ");
            out.push_str(section_names[blocks[i].section]);
            out.push_str("\n\n");
        }
        let mut parts: Vec<Run> = Vec::new();
        for (j, b) in blocks.iter().enumerate().skip(i) {
            if b.section == blocks[i].section && b.path == blocks[i].path {
                done[j] = true;
                parts.extend(&b.parts);
            }
        }
        parts.sort_by_key(|p| p.lines);
        group(blocks[i].path, blocks[i].language, &parts, &mut out, &mut runs);
    }
    // Separators stand between groups, not after the last.
    if out.ends_with("\n\n") {
        out.pop();
    }
    Rendered { text: out, runs }
}

/// One file of one section.
fn group(path: &str, language: Language, parts: &[Run], out: &mut String, runs: &mut Vec<Range<usize>>) {
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return };
    header(path, Lines { start: first.lines.start, end: last.lines.end }, out);
    let fence = "`".repeat(parts.iter().map(|p| longest_run(p.text) + 1).max().unwrap_or(0).max(3));
    out.push_str(&fence);
    out.push_str(hint(language));
    out.push('\n');
    let mut after = first.lines.start;
    for run in parts {
        let missing = run.lines.start.saturating_sub(after);
        if missing > 0 && missing <= run.blank_before {
            // Nothing is missing but blank lines.
            (0..missing).for_each(|_| out.push('\n'));
        } else if missing > 0 {
            gap(language, Lines { start: after, end: run.lines.start - 1 }, out);
        }
        runs.push(out.len()..out.len() + run.text.len());
        out.push_str(run.text);
        if !run.text.ends_with('\n') {
            out.push('\n');
        }
        after = run.lines.end + 1;
    }
    out.push_str(&fence);
    out.push_str("\n\n");
}

/// `## File: <path> (lines a-b)`.
pub fn header(path: &str, lines: Lines, out: &mut String) {
    out.push_str("## File: ");
    // A path that could end the line or pass for markup is shown escaped.
    for c in path.chars() {
        if c.is_control() { out.extend(c.escape_default()) } else { out.push(c) }
    }
    out.push_str(&format!(" (lines {}-{})\n", lines.start, lines.end));
}

/// The mark of missing lines, as a comment of the language.
pub fn gap(language: Language, lines: Lines, out: &mut String) {
    let mark = match language {
        Language::Go | Language::GoMod | Language::GoWork => "// ",
        Language::Python | Language::Toml | Language::Yaml | Language::Ini | Language::Make => "# ",
        Language::Markdown | Language::Json | Language::Text => "",
        other => other.line_comment(),
    };
    out.push_str(&format!("{mark}... (lines {}-{})\n", lines.start, lines.end));
}

fn hint(language: Language) -> &'static str {
    match language {
        Language::Text => "",
        other => other.id(),
    }
}

fn longest_run(text: &str) -> usize {
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

    fn block<'a>(section: usize, path: &'a str, parts: &[(u32, &'a str)]) -> Block<'a> {
        let parts = parts
            .iter()
            .map(|(start, text)| {
                let lines = Lines { start: *start, end: start + text.lines().count() as u32 - 1 };
                Run { lines, blank_before: u32::from(*start == 6), text }
            })
            .collect();
        Block { section, path, language: Language::Go, parts }
    }

    #[test]
    fn groups_by_file_where_the_best_item_ranks() {
        let blocks = [
            block(0, "b.go", &[(9, "nine\n")]),
            block(0, "a.go", &[(1, "one\n")]),
            block(0, "b.go", &[(2, "two\nthree\n")]),
        ];
        let expect = "# seeds\n\n## File: b.go (lines 2-9)\n```go\ntwo\nthree\n// ... (lines 4-8)\nnine\n```\n\n\
                      ## File: a.go (lines 1-1)\n```go\none\n```\n";
        let rendered = render(&["seeds"], &blocks);
        assert_eq!(rendered.text, expect);
        let runs: Vec<&str> = rendered.runs.iter().map(|r| &expect[r.clone()]).collect();
        assert_eq!(runs, ["two\nthree\n", "nine\n", "one\n"]);
    }

    #[test]
    fn content_cannot_close_its_fence() {
        let text = render(&["docs"], &[block(0, "x.go", &[(1, "```\nend\n````\n")])]).text;
        assert!(text.contains("`````go\n```\nend\n````\n`````\n"));
    }

    #[test]
    fn blank_lines_between_items_are_no_gap() {
        let text = render(
            &["seeds"],
            &[block(0, "a.go", &[(4, "four\n")]), block(0, "a.go", &[(6, "six\n"), (8, "eight\n")])],
        )
        .text;
        assert!(text.contains("four\n\nsix\n// ... (lines 7-7)\neight\n"));
    }

    #[test]
    fn adjacent_items_are_joined_and_sections_are_named_once() {
        let blocks = [
            block(0, "a.go", &[(1, "one\n")]),
            block(0, "a.go", &[(2, "two")]),
            block(1, "a.go", &[(5, "five\n")]),
        ];
        let text = render(&["seeds", "callers"], &blocks).text;
        assert!(text.contains("one\ntwo\n```"));
        assert_eq!((text.matches("# seeds").count(), text.matches("\n# callers").count()), (1, 1));
        assert!(!text.ends_with("\n\n"));
        assert_eq!(render(&["seeds"], &[]).text, "");
    }

    #[test]
    fn a_path_stays_on_its_line() {
        let mut out = String::new();
        header("a\n## File: b", Lines { start: 1, end: 2 }, &mut out);
        assert_eq!(out, "## File: a\\n## File: b (lines 1-2)\n");
    }
}
