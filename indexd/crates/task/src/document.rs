//! The document: a summary, why each file is there, and its lines.

use crate::paths;
use indexd_api::task::{TaskDocument, TaskFile, TaskQuery};
use indexd_model::markdown::{fence, push_path};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Files of a document.
pub const FILES_MAX: usize = 12;
/// Lines shown of one file.
pub const LINES_PER_FILE_MAX: usize = 50;
/// Bytes of a document.
pub const BYTES_MAX: usize = 50_000;
/// Bytes of a line that is shown; longer ones are left out as a gap.
pub const LINE_BYTES_MAX: usize = 2_000;
/// Characters of the task that are repeated.
const TASK_CHARS: usize = 400;

/// A kind of reason for a file, with its points; a file gets each kind once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// It holds what the task asks for.
    Hit,
    /// It calls something in a hit.
    Call,
    /// It is a test that refers to a hit.
    Test,
    /// It concerns configuration or the command line.
    Config,
    /// It is in the folder of one of the best.
    Beside,
}

impl Reason {
    /// The points of the reason.
    pub fn points(self) -> u32 {
        match self {
            Self::Hit => 5,
            Self::Call => 3,
            Self::Test | Self::Config => 2,
            Self::Beside => 1,
        }
    }
}

/// A file that may be in a document.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Relative path.
    pub path: String,
    /// Why it is there, a sentence for each kind.
    pub reasons: BTreeMap<Reason, String>,
    /// Lines worth showing with their numbers, from 1, the most important first; repeated ones are skipped.
    pub lines: Vec<(u32, String)>,
}

impl Found {
    /// The sum of the points of its reasons.
    pub fn points(&self) -> u32 {
        self.reasons.keys().map(|reason| reason.points()).sum()
    }
}

/// Best files whose folders count.
const BESIDE_OF: usize = 3;

/// Gives the reasons that paths alone give: configuration, and the folder of one of the best files.
pub fn add_reasons_of_paths(files: &mut [Found]) {
    for f in files.iter_mut().filter(|f| paths::is_config(&f.path) && paths::is_source(&f.path)) {
        f.reasons.insert(Reason::Config, "concerns configuration or the command line".to_owned());
    }
    let mut best: Vec<(Reverse<u32>, String)> =
        files.iter().map(|f| (Reverse(f.points()), f.path.clone())).collect();
    best.sort();
    best.truncate(BESIDE_OF);
    for f in files.iter_mut().filter(|f| best.first().is_some_and(|(_, first)| *first != f.path)) {
        let folder = paths::folder(&f.path);
        if best.iter().any(|(_, path)| *path != f.path && paths::folder(path) == folder) {
            let folder = if folder.is_empty() { "the root" } else { folder };
            f.reasons.insert(Reason::Beside, format!("in {folder} beside one of the best"));
        }
    }
}

/// Writes the document of the first [`FILES_MAX`] files, ordered by points, then by path. `n_found` is the
/// number of files with hits; `note` says by what was searched and what was missing.
pub fn write(
    task: &str,
    queries: Vec<TaskQuery>,
    mut files: Vec<Found>,
    n_found: usize,
    note: &str,
) -> TaskDocument {
    files.truncate(FILES_MAX);
    files.sort_by(|a, b| b.points().cmp(&a.points()).then_with(|| a.path.cmp(&b.path)));
    let insufficient = insufficient(&queries, &files);
    let mut out = String::from("# Context pack\n\n");
    summary(task, &queries, (files.len(), n_found), note, insufficient.as_deref(), &mut out);
    if files.is_empty() {
        nothing(&queries, &mut out);
        return TaskDocument { markdown: out, files: Vec::new(), queries, insufficient };
    }
    let of = |f: &Found| TaskFile {
        path: f.path.clone(),
        points: f.points(),
        reasons: f.reasons.iter().map(|(kind, said)| format!("{said} (+{})", kind.points())).collect(),
        excerpts: Vec::new(),
    };
    let mut shown: Vec<TaskFile> = files.iter().map(of).collect();
    out.push_str("## Rationale\n\n");
    for (i, f) in shown.iter().enumerate() {
        out.push_str(&format!("{}. ", i + 1));
        push_path(&f.path, &mut out);
        out.push_str(&format!(": {} points; {}\n", f.points, f.reasons.join("; ")));
    }
    out.push_str("\n## Evidence\n\n");
    for (f, shown) in files.iter().zip(&mut shown) {
        shown.excerpts = excerpt(f, &mut out);
    }
    let end = out.trim_end().len();
    out.truncate(end);
    out.push('\n');
    TaskDocument { markdown: out, files: shown, queries, insufficient }
}

/// Why the hits are too thin; `None` when they are not.
fn insufficient(queries: &[TaskQuery], files: &[Found]) -> Option<String> {
    let asked = queries.len();
    let found = queries.iter().filter(|q| q.files > 0).count();
    if asked == 0 {
        Some("the task has no word that can be searched".to_owned())
    } else if found == 0 {
        Some(format!("none of the {asked} search terms occurs in the repository"))
    } else if found * 2 < asked {
        Some(format!("only {found} of {asked} search terms occur in the repository"))
    } else if files.iter().all(|f| paths::is_doc(&f.path) || paths::is_foreign(&f.path)) {
        Some("the search terms occur in documents only, in no source file".to_owned())
    } else {
        None
    }
}

fn summary(
    task: &str,
    queries: &[TaskQuery],
    (shown, found): (usize, usize),
    note: &str,
    insufficient: Option<&str>,
    out: &mut String,
) {
    let short: String = one_line(task.trim()).chars().take(TASK_CHARS).collect();
    let more = if task.trim().chars().count() > TASK_CHARS { " ..." } else { "" };
    // A text of the task cannot pass for markup at the start of a line.
    let short = short.trim_start_matches(['#', '>', '-', '*', ' ']);
    out.push_str(&format!("## Summary\n\nCode for the task: {short}{more}\n\n"));
    out.push_str(&format!(
        "{shown} of {} files with hits, ordered by points, then by path. {note}\n\nSearched:\n\n",
        found.max(shown)
    ));
    for q in queries {
        out.push_str(&format!("- `{}` ({}): {} files\n", one_line(&q.text), q.kind, q.files));
    }
    if queries.is_empty() {
        out.push_str("- nothing\n");
    }
    if let Some(why) = insufficient {
        out.push_str(&format!("\ninsufficient_context: {why}\n"));
    }
    out.push('\n');
}

fn nothing(queries: &[TaskQuery], out: &mut String) {
    out.push_str("## No relevant code found\n\n");
    if queries.is_empty() {
        out.push_str("The task holds no phrase, symbol or word that could be searched; name a file, a symbol or an error message.\n");
        return;
    }
    out.push_str("No file holds any of these terms. They were taken from the task as follows:\n\n");
    for q in queries {
        out.push_str(&format!("- `{}`: a {} of the task\n", one_line(&q.text), q.kind));
    }
    out.push_str("\nEvery file that the ignore rules leave in was searched, capitals or not. Other words, a symbol or a file name may lead further.\n");
}

/// Appends the lines of one file, at most [`LINES_PER_FILE_MAX`]; gives the runs that are shown.
fn excerpt(f: &Found, out: &mut String) -> Vec<[u32; 2]> {
    let mut shown: BTreeMap<u32, &str> = BTreeMap::new();
    for (number, line) in f.lines.iter().filter(|(_, line)| line.len() <= LINE_BYTES_MAX) {
        if shown.len() < LINES_PER_FILE_MAX {
            shown.insert(*number, line);
        }
    }
    // What does not fit into the document loses its last lines.
    loop {
        let runs = runs(&shown);
        let (Some(first), Some(last)) = (runs.first(), runs.last()) else { return Vec::new() };
        let mut block = "### File: ".to_owned();
        push_path(&f.path, &mut block);
        block.push_str(&format!(" (lines {}-{})\n\n", first.start, last.end));
        fenced(Some(&f.path), &runs, &mut block);
        block.push('\n');
        if out.len() + block.len() <= BYTES_MAX {
            out.push_str(&block);
            return runs.iter().map(|run| [run.start, run.end]).collect();
        }
        shown.pop_last();
    }
}

fn runs(shown: &BTreeMap<u32, &str>) -> Vec<Run> {
    let mut out: Vec<Run> = Vec::new();
    for (&number, line) in shown {
        match out.last_mut().filter(|last| last.end + 1 == number) {
            Some(last) => last.end = number,
            None => out.push(Run { start: number, end: number, text: String::new() }),
        }
        if let Some(last) = out.last_mut() {
            last.text.push_str(line);
            last.text.push('\n');
        }
    }
    out
}

/// A run of whole lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first line, from 1.
    pub start: u32,
    /// The last line.
    pub end: u32,
    /// Their text.
    pub text: String,
}

/// Appends runs of lines, ascending, in a fence that no content closes, with marks where lines are left out.
pub fn fenced(path: Option<&str>, runs: &[Run], out: &mut String) {
    let fence = fence(runs.iter().map(|run| run.text.as_str()));
    out.push_str(&format!("{fence}{}\n", path.map_or("", paths::hint)));
    let mut after = runs.first().map_or(0, |run| run.start);
    for run in runs {
        if run.start > after {
            let mark = path.map_or("", paths::comment);
            out.push_str(&format!("{mark}... (lines {after}-{})\n", run.start - 1));
        }
        out.push_str(&run.text);
        if !run.text.ends_with('\n') {
            out.push('\n');
        }
        after = run.end + 1;
    }
    out.push_str(&fence);
    out.push('\n');
}

/// A text that cannot break the line or the mark of code around it.
pub fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || c == '`' { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hits::{self, Line};
    use crate::queries::candidates;

    fn document(files: &[(String, String)], task: &str) -> TaskDocument {
        let candidates = candidates(task);
        let mut lines = Vec::new();
        for (path, text) in files {
            for (i, line) in text.lines().enumerate() {
                if candidates.iter().any(|q| line.to_lowercase().contains(&q.text.to_lowercase())) {
                    lines.push(Line { path: path.clone(), number: i as u32 + 1, text: line.to_owned() });
                }
            }
        }
        let text = |path: &str| files.iter().find(|(p, _)| p == path).map(|(_, t)| t.clone());
        let (queries, found, n) = hits::files(&candidates, &lines, files.len(), &text);
        write(task, queries, found, n, "Searched in the index.")
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
        assert_eq!(d.files[0].excerpts, [[5, 11]]);
    }

    #[test]
    fn limits_hold_at_their_boundaries() {
        let body: String = (0..200).map(|i| format!("zorkmid {i} {}\n", "x".repeat(90))).collect();
        let files: Vec<(String, String)> = (0..40).map(|i| (format!("f{i:02}.go"), body.clone())).collect();
        let d = document(&files, "zorkmid");
        assert!(d.files.len() <= FILES_MAX && d.markdown.len() <= BYTES_MAX, "{}", d.markdown.len());
        assert!(d.markdown.len() > BYTES_MAX - 200, "the room is used: {}", d.markdown.len());
        for f in &d.files {
            let lines: u32 = f.excerpts.iter().map(|[a, b]| b - a + 1).sum();
            assert!(lines as usize <= LINES_PER_FILE_MAX, "{}: {lines}", f.path);
        }
        assert_eq!(
            d.files[0].excerpts.iter().map(|[a, b]| b - a + 1).sum::<u32>() as usize,
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
