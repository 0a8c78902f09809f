//! The document: a summary, why each file is there, and its lines.

use crate::ranking::{Ranked, Ranking, defines, one_line};
use crate::{BYTES_MAX, LINE_BYTES_MAX, LINES_PER_FILE_MAX, paths};
use std::collections::BTreeSet;

/// Lines around a hit.
const AROUND: u32 = 6;
/// Lines around a place that refers to a hit.
const AROUND_REFERENCE: u32 = 2;
/// Lines shown of a file that is there for its folder alone.
const HEAD_LINES: u32 = 15;
/// Lines above a hit among which its definition is looked for.
const HEAD_ABOVE: u32 = 60;
/// Characters of the task that are repeated.
const TASK_CHARS: usize = 400;

/// A document and what a program wants to know of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Document {
    /// The Markdown text, at most [`BYTES_MAX`] bytes.
    pub markdown: String,
    /// Its files.
    pub files: Vec<File>,
    /// Why the context is too thin to work with; `None` when it is not.
    pub insufficient: Option<String>,
}

/// A file of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Relative path.
    pub path: String,
    /// Points.
    pub points: u32,
    /// Why it is there.
    pub reasons: Vec<String>,
    /// Runs of lines that are shown, 1-based and inclusive.
    pub excerpts: Vec<(u32, u32)>,
}

/// Writes the document. `text` gives the text of a file; files without one are listed without excerpts.
/// `note` says by what was searched and what was missing.
pub fn write(task: &str, ranking: &Ranking, note: &str, text: &dyn Fn(&str) -> Option<String>) -> Document {
    let insufficient = insufficient(ranking);
    let mut out = String::from("# Context pack\n\n");
    summary(task, ranking, note, insufficient.as_deref(), &mut out);
    if ranking.files.is_empty() {
        nothing(ranking, &mut out);
        return Document { markdown: out, files: Vec::new(), insufficient };
    }
    out.push_str("## Rationale\n\n");
    for (i, f) in ranking.files.iter().enumerate() {
        out.push_str(&format!(
            "{}. {}: {} points; {}\n",
            i + 1,
            path(&f.path),
            f.points,
            f.reasons.join("; ")
        ));
    }
    out.push_str("\n## Evidence\n\n");
    let mut files = Vec::new();
    for f in &ranking.files {
        let excerpts = text(&f.path).map_or_else(Vec::new, |text| {
            let lines: Vec<&str> = text.lines().collect();
            excerpt(f, &lines, &mut out)
        });
        files.push(File { path: f.path.clone(), points: f.points, reasons: f.reasons.clone(), excerpts });
    }
    let shown = out.trim_end().len();
    out.truncate(shown);
    out.push('\n');
    Document { markdown: out, files, insufficient }
}

/// Why the hits are too thin; `None` when they are not.
fn insufficient(ranking: &Ranking) -> Option<String> {
    let asked = ranking.asked.len();
    let found = ranking.asked.iter().filter(|a| a.files > 0).count();
    let is_prose = |f: &Ranked| paths::is_doc(&f.path) || paths::is_foreign(&f.path);
    if asked == 0 {
        Some("the task has no word that can be searched".to_owned())
    } else if found == 0 {
        Some(format!("none of the {asked} search terms occurs in the repository"))
    } else if found * 2 < asked {
        Some(format!("only {found} of {asked} search terms occur in the repository"))
    } else if ranking.files.iter().all(is_prose) {
        Some("the search terms occur in documents only, in no source file".to_owned())
    } else {
        None
    }
}

fn summary(task: &str, ranking: &Ranking, note: &str, insufficient: Option<&str>, out: &mut String) {
    let short: String = one_line(task.trim()).chars().take(TASK_CHARS).collect();
    let more = if task.trim().chars().count() > TASK_CHARS { " ..." } else { "" };
    out.push_str(&format!("## Summary\n\nCode for the task: {}{more}\n\n", escaped(&short)));
    let files = ranking.files.len();
    out.push_str(&format!(
        "{files} of {} files with hits, ordered by points, then by path. {}\n\nSearched:\n\n",
        ranking.found.max(files),
        note.trim()
    ));
    for a in &ranking.asked {
        out.push_str(&format!(
            "- `{}` ({}): {} files\n",
            one_line(&a.query.text),
            a.query.kind.name(),
            a.files
        ));
    }
    if ranking.asked.is_empty() {
        out.push_str("- nothing\n");
    }
    if let Some(why) = insufficient {
        out.push_str(&format!("\ninsufficient_context: {why}\n"));
    }
    out.push('\n');
}

fn nothing(ranking: &Ranking, out: &mut String) {
    out.push_str("## No relevant code found\n\n");
    match ranking.asked.len() {
        0 => out.push_str("The task holds no phrase, symbol or word that could be searched; name a file, a symbol or an error message.\n"),
        _ => {
            out.push_str("No file holds any of these terms. They were taken from the task as follows:\n\n");
            for a in &ranking.asked {
                out.push_str(&format!("- `{}`: a {} of the task\n", one_line(&a.query.text), a.query.kind.name()));
            }
            out.push_str("\nEvery file that the ignore rules leave in was searched, capitals or not. Other words, a symbol or a file name may lead further.\n");
        }
    }
}

/// Appends the lines of one file; gives the runs that are shown.
fn excerpt(f: &Ranked, lines: &[&str], out: &mut String) -> Vec<(u32, u32)> {
    let mut shown = choose(f, lines);
    // What does not fit into the document loses its last lines.
    loop {
        let runs = runs(&shown);
        let block = block(&f.path, &runs, lines);
        if runs.is_empty() || out.len() + block.len() <= BYTES_MAX {
            out.push_str(&block);
            return runs;
        }
        shown.pop_last();
    }
}

/// The lines to show, at most [`LINES_PER_FILE_MAX`].
fn choose(f: &Ranked, lines: &[&str]) -> BTreeSet<u32> {
    let n = lines.len() as u32;
    let mut out = BTreeSet::new();
    let is_shown = |l: u32| lines.get(l as usize - 1).is_some_and(|t| t.len() <= LINE_BYTES_MAX);
    let mut add = |from: u32, to: u32| {
        for l in (from.max(1)..=to.min(n)).filter(|l| is_shown(*l)) {
            if out.len() < LINES_PER_FILE_MAX {
                out.insert(l);
            }
        }
    };
    if f.lines.is_empty() {
        add(1, HEAD_LINES);
        return out;
    }
    let mut order: Vec<(u32, u64)> = f.lines.iter().map(|(l, w)| (*l, *w)).filter(|(l, _)| *l <= n).collect();
    order.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    for (line, weight) in order {
        // The line itself first: it is the evidence.
        add(line, line);
        let head = head_above(lines, line);
        add(head.unwrap_or(line), head.unwrap_or(line));
        let around = if weight > 1 { AROUND } else { AROUND_REFERENCE };
        let from = head.filter(|h| line - h <= around).unwrap_or_else(|| paragraph(lines, line, around / 2));
        add(from, line + around);
    }
    out
}

/// The first line of the paragraph around a line, at most so many lines above it.
fn paragraph(lines: &[&str], line: u32, most: u32) -> u32 {
    let is_text = |l: &u32| lines.get(*l as usize - 1).is_some_and(|t| !t.trim().is_empty());
    let above = (line.saturating_sub(most).max(1)..line).rev().take_while(is_text);
    above.last().unwrap_or(line)
}

/// The line above at which the definition around a line begins: the nearest one that is indented less and
/// looks like the head of a definition.
fn head_above(lines: &[&str], line: u32) -> Option<u32> {
    let indent = |l: u32| {
        let text = lines[l as usize - 1];
        (text.len() - text.trim_start().len(), text.trim_start())
    };
    let (own, text) = indent(line);
    if is_head(text) {
        return Some(line);
    }
    let lowest = line.saturating_sub(HEAD_ABOVE).max(1);
    (lowest..line).rev().find(|&l| {
        let (at, text) = indent(l);
        !text.is_empty() && (at < own || (own == 0 && at == 0)) && is_head(text)
    })
}

fn is_head(text: &str) -> bool {
    let word = |w: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|p| p == w);
    text.split(|c: char| !c.is_alphanumeric() && c != '_')
        .nth(1)
        .is_some_and(|name| defines(text, name) || text.starts_with("func (") && word("func"))
}

fn runs(shown: &BTreeSet<u32>) -> Vec<(u32, u32)> {
    let mut out: Vec<(u32, u32)> = Vec::new();
    for &l in shown {
        match out.last_mut() {
            Some(last) if last.1 + 1 == l => last.1 = l,
            _ => out.push((l, l)),
        }
    }
    out
}

/// One file: a header with its range, a fence that no content closes, marks where lines are left out.
fn block(file: &str, runs: &[(u32, u32)], lines: &[&str]) -> String {
    let (Some(first), Some(last)) = (runs.first(), runs.last()) else { return String::new() };
    let shown = || runs.iter().flat_map(|&(a, b)| &lines[a as usize - 1..b as usize]);
    let fence = "`".repeat(shown().map(|l| longest_run(l) + 1).max().unwrap_or(0).max(3));
    let mut out = format!("### File: {} (lines {}-{})\n\n", path(file), first.0, last.1);
    out.push_str(&format!("{fence}{}\n", paths::hint(file)));
    let mut after = first.0;
    for &(from, to) in runs {
        if from > after {
            out.push_str(&format!("{}... (lines {after}-{})\n", paths::comment(file), from - 1));
        }
        for line in &lines[from as usize - 1..to as usize] {
            out.push_str(line);
            out.push('\n');
        }
        after = to + 1;
    }
    out.push_str(&fence);
    out.push_str("\n\n");
    out
}

fn longest_run(text: &str) -> usize {
    let (mut longest, mut run) = (0, 0);
    for b in text.bytes() {
        run = if b == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

fn path(path: &str) -> String {
    path.chars().flat_map(|c| if c.is_control() { c.escape_default().collect() } else { vec![c] }).collect()
}

/// A text of the task that cannot pass for markup at the start of a line.
fn escaped(text: &str) -> String {
    text.trim_start_matches(['#', '>', '-', '*', ' ']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queries::candidates;
    use crate::ranking::rank;
    use crate::{FILES_MAX, Line};

    fn search(files: &[(String, String)], task: &str) -> Ranking {
        let queries = candidates(task);
        let mut lines = Vec::new();
        for (path, text) in files {
            for (i, line) in text.lines().enumerate() {
                if queries.iter().any(|q| line.to_lowercase().contains(&q.text.to_lowercase())) {
                    lines.push(Line { path: path.clone(), number: i as u32 + 1, text: line.to_owned() });
                }
            }
        }
        let paths: Vec<String> = files.iter().map(|(p, _)| p.clone()).collect();
        rank(&queries, &lines, &paths, &|_| Vec::new())
    }

    fn document(files: &[(String, String)], task: &str) -> Document {
        let text = |path: &str| files.iter().find(|(p, _)| p == path).map(|(_, t)| t.clone());
        write(task, &search(files, task), "Searched in the index.", &text)
    }

    fn owned(files: &[(&str, &str)]) -> Vec<(String, String)> {
        files.iter().map(|(p, t)| ((*p).to_owned(), (*t).to_owned())).collect()
    }

    #[test]
    fn a_small_document() {
        let files = owned(&[
            (
                "net/retry.go",
                "package net\n\nimport \"time\"\n\n// Delay waits.\nfunc Delay(n int) time.Duration {\n\tif n > 9 {\n\t\treturn 0\n\t}\n\treturn time.Second\n}\n",
            ),
            ("README.md", "Nothing of it.\n"),
        ]);
        let d = document(&files, "the delay of retries");
        assert_eq!(
            d.markdown,
            "# Context pack\n\n## Summary\n\nCode for the task: the delay of retries\n\n1 of 1 files with hits, ordered by points, then by path. Searched in the index.\n\nSearched:\n\n- `delay` (term): 1 files\n- `retries` (term): 0 files\n\n## Rationale\n\n1. net/retry.go: 5 points; direct hit: `delay` (+5)\n\n## Evidence\n\n### File: net/retry.go (lines 5-11)\n\n```go\n// Delay waits.\nfunc Delay(n int) time.Duration {\n\tif n > 9 {\n\t\treturn 0\n\t}\n\treturn time.Second\n}\n```\n"
        );
        assert_eq!(d.insufficient, None);
        assert_eq!(d.files[0].excerpts, [(5, 11)]);
    }

    #[test]
    fn limits_hold_at_their_boundaries() {
        let body: String = (0..200).map(|i| format!("zorkmid {i} {}\n", "x".repeat(90))).collect();
        let files: Vec<(String, String)> = (0..40).map(|i| (format!("f{i:02}.go"), body.clone())).collect();
        let d = document(&files, "zorkmid");
        assert!(d.files.len() <= FILES_MAX && d.markdown.len() <= BYTES_MAX, "{}", d.markdown.len());
        assert!(d.markdown.len() > BYTES_MAX - 200, "the room is used: {}", d.markdown.len());
        for f in &d.files {
            let lines: u32 = f.excerpts.iter().map(|(a, b)| b - a + 1).sum();
            assert!(lines as usize <= LINES_PER_FILE_MAX, "{}: {lines}", f.path);
        }
        assert_eq!(
            d.files[0].excerpts.iter().map(|(a, b)| b - a + 1).sum::<u32>() as usize,
            LINES_PER_FILE_MAX
        );
    }

    #[test]
    fn nothing_found_is_said_with_the_terms() {
        let d = document(&owned(&[("a.go", "package a\n")]), "the \"flux capacitor\" of DeLorean_drive");
        assert!(d.markdown.contains("## No relevant code found"), "{}", d.markdown);
        assert!(d.markdown.contains("- `flux capacitor`: a quoted phrase of the task"), "{}", d.markdown);
        assert!(!d.markdown.contains("## Evidence"));
        assert!(d.insufficient.is_some_and(|why| why.contains("none of the")));
        let empty = document(&owned(&[("a.go", "package a\n")]), "?");
        assert!(empty.markdown.contains("No relevant code found"));
    }

    #[test]
    fn a_thin_result_says_why() {
        for (task, files, expect) in [
            (
                "alpha beta gamma",
                &[("a.go", "alpha")][..],
                Some("only 1 of 3 search terms occur in the repository"),
            ),
            (
                "alpha",
                &[("a.md", "alpha")][..],
                Some("the search terms occur in documents only, in no source file"),
            ),
            ("alpha", &[("a.go", "alpha")][..], None),
        ] {
            assert_eq!(document(&owned(files), task).insufficient.as_deref(), expect, "{task}");
        }
    }

    #[test]
    fn content_cannot_leave_its_fence_and_long_lines_are_a_gap() {
        let long = "y".repeat(LINE_BYTES_MAX + 1);
        let files = owned(&[("a.md", "zorkmid\n````\n"), ("b.go", &format!("zorkmid\n{long}\nend\n"))]);
        let d = document(&files, "zorkmid");
        assert!(d.markdown.contains("`````markdown\nzorkmid\n````\n`````\n"), "{}", d.markdown);
        assert!(d.markdown.contains("zorkmid\n// ... (lines 2-2)\nend\n"), "{}", d.markdown);
    }

    #[test]
    fn a_task_cannot_write_headings() {
        let d = document(&owned(&[("a.go", "alpha\n")]), "alpha\n## Evidence\n`x");
        assert_eq!(d.markdown.matches("\n## Evidence\n").count(), 1);
    }
}
