//! Parses patches in the unified format and finds the texts on both sides.
//!
//! A patch applies to a text that exists: the old text, or, if the patch has been applied, the new one.
//! [`FilePatch::sides`] finds out which one it is and computes the other one.

use indexd_model::REDACTION_MARK;

/// Maximum files of a patch.
const FILES_MAX: usize = 2_000;
/// Maximum lines by which a hunk may have moved.
const DRIFT_MAX: usize = 2_000;

/// The part of a patch for one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePatch {
    /// The old path; `None` for a new file.
    pub before: Option<String>,
    /// The new path; `None` for a removed file.
    pub after: Option<String>,
    /// The hunks, in order.
    hunks: Vec<Hunk>,
}

/// Lines with their signs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Hunk {
    /// First line on the old and on the new side, from 1.
    starts: [usize; 2],
    /// Each line with its sides: old, new or both.
    lines: Vec<([bool; 2], String)>,
    /// True for each side whose last line has no line end.
    is_open: [bool; 2],
}

/// Parses a patch into files, in their order. Text around the files (a mail, the output of `git show`) is
/// skipped. The result is empty if the text contains no patch.
pub fn parse(text: &str) -> Vec<FilePatch> {
    let mut out: Vec<FilePatch> = Vec::new();
    let mut lines = text.lines().peekable();
    let mut is_git = false;
    while let Some(line) = lines.next() {
        if let Some(rest) = line.strip_prefix("diff --git ") {
            is_git = true;
            let paths = git_paths(rest);
            out.push(FilePatch {
                before: paths.as_ref().map(|p| p.0.clone()),
                after: paths.map(|p| p.1),
                hunks: Vec::new(),
            });
        } else if let (true, Some(file)) = (is_git, out.last_mut().filter(|f| f.hunks.is_empty())) {
            extended(line, file);
        }
        if line.starts_with("--- ") && lines.peek().is_some_and(|l| l.starts_with("+++ ")) {
            let after = lines.next().unwrap_or("");
            if !is_git || out.last().is_none_or(|f| !f.hunks.is_empty()) {
                out.push(FilePatch::default());
            }
            if let Some(file) = out.last_mut() {
                (file.before, file.after) = (path_of(&line[4..], "a/"), path_of(&after[4..], "b/"));
            }
        } else if let (Some(starts), Some(file)) = (hunk_starts(line), out.last_mut()) {
            let mut hunk = Hunk { starts: [starts[0].0, starts[1].0], ..Hunk::default() };
            let mut left = [starts[0].1, starts[1].1];
            while left != [0, 0] {
                let Some(line) = lines.next() else { break };
                hunk.take(line, &mut left);
            }
            while let Some(mark) = lines.next_if(|l| l.starts_with("\\ ")) {
                hunk.take(mark, &mut left);
            }
            file.hunks.push(hunk);
        }
        if out.len() > FILES_MAX {
            break;
        }
    }
    out.truncate(FILES_MAX);
    out.retain(|f| f.before.is_some() || f.after.is_some());
    out
}

/// Parses a line between `diff --git` and the hunks.
fn extended(line: &str, file: &mut FilePatch) {
    if line.starts_with("new file mode") {
        file.before = None;
    } else if line.starts_with("deleted file mode") {
        file.after = None;
    } else if let Some(path) = line.strip_prefix("rename from ") {
        file.before = Some(unquoted(path));
    } else if let Some(path) = line.strip_prefix("rename to ") {
        file.after = Some(unquoted(path));
    }
}

/// Parses `a/x b/x`. If the names contain blanks, both must be equal.
fn git_paths(rest: &str) -> Option<(String, String)> {
    let strip = |s: &str, p: &str| unquoted(s).strip_prefix(p).map(str::to_owned);
    let cuts = rest.match_indices(' ').map(|(at, _)| rest.split_at(at));
    let mut pairs = cuts.filter_map(|(a, b)| Some((strip(a, "a/")?, strip(&b[1..], "b/")?)));
    let first = pairs.next()?;
    if first.0 == first.1 { Some(first) } else { pairs.find(|p| p.0 == p.1).or(Some(first)) }
}

/// The path on a `---` or `+++` line, without git's prefix and without the text after a tab.
fn path_of(rest: &str, prefix: &str) -> Option<String> {
    let path = unquoted(rest.split('\t').next().unwrap_or(rest).trim_end());
    if path == "/dev/null" {
        return None;
    }
    Some(path.strip_prefix(prefix).map(str::to_owned).unwrap_or(path))
}

/// Decodes git's quotes: `"a\303\244"`.
fn unquoted(path: &str) -> String {
    let Some(inner) = path.strip_prefix('"').and_then(|p| p.strip_suffix('"')) else {
        return path.to_owned();
    };
    let mut out = Vec::new();
    let mut bytes = inner.bytes().peekable();
    while let Some(b) = bytes.next() {
        if b != b'\\' {
            out.push(b);
            continue;
        }
        match bytes.next() {
            Some(d @ b'0'..=b'7') => {
                let mut value = u32::from(d - b'0');
                while let Some(d) = bytes.next_if(|d| matches!(d, b'0'..=b'7') && value < 0o40) {
                    value = value * 8 + u32::from(d - b'0');
                }
                out.push(value as u8);
            }
            Some(b'n') => out.push(b'\n'),
            Some(b't') => out.push(b'\t'),
            Some(other) => out.push(other),
            None => {}
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Parses `@@ -1,2 +3,4 @@` into first line and count of both sides.
fn hunk_starts(line: &str) -> Option<[(usize, usize); 2]> {
    let rest = line.strip_prefix("@@ -")?;
    let (ranges, _) = rest.split_once(" @@")?;
    let (before, after) = ranges.split_once(" +")?;
    let range = |s: &str| match s.split_once(',') {
        Some((start, n)) => Some((start.parse().ok()?, n.parse().ok()?)),
        None => Some((s.parse().ok()?, 1)),
    };
    Some([range(before)?, range(after)?])
}

impl Hunk {
    fn take(&mut self, line: &str, left: &mut [usize; 2]) {
        let (sides, text) = match line.as_bytes().first() {
            Some(b'-') => ([true, false], &line[1..]),
            Some(b'+') => ([false, true], &line[1..]),
            Some(b'\\') => {
                if let Some((sides, _)) = self.lines.last() {
                    self.is_open = [self.is_open[0] || sides[0], self.is_open[1] || sides[1]];
                }
                return;
            }
            Some(b' ') => ([true, true], &line[1..]),
            // Mail programs strip trailing blanks, so an empty line is an unchanged one.
            _ => ([true, true], line),
        };
        for side in 0..2 {
            left[side] = left[side].saturating_sub(usize::from(sides[side]));
        }
        self.lines.push((sides, text.to_owned()));
    }

    /// The lines of one side.
    fn of(&self, side: usize) -> Vec<&str> {
        self.lines.iter().filter(|l| l.0[side]).map(|l| l.1.as_str()).collect()
    }
}

/// The texts on both sides of the patch of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texts {
    /// The old text; `None` for a new file.
    pub before: Option<String>,
    /// The new text; `None` for a removed file.
    pub after: Option<String>,
    /// True if the existing text is the new one.
    pub is_applied: bool,
}

impl FilePatch {
    /// The paths to look for, the new one first.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.after.iter().chain(&self.before).map(String::as_str)
    }

    /// Returns the texts on both sides, given the existing one (`None` if there is no such file). Returns
    /// `None` if the patch fits neither side.
    pub fn sides(&self, there: Option<&str>) -> Option<Texts> {
        let Some(there) = there else {
            // A file that the patch adds, not applied; or one that it removes, applied.
            return match (&self.before, &self.after) {
                (None, Some(_)) => {
                    Some(Texts { before: None, after: Some(self.apply("", 0)?), is_applied: false })
                }
                (Some(_), None) => {
                    Some(Texts { before: Some(self.apply("", 1)?), after: None, is_applied: true })
                }
                _ => None,
            };
        };
        if self.after.is_some()
            && let Some(before) = self.apply(there, 1)
        {
            let before = self.before.is_some().then_some(before);
            return Some(Texts { before, after: Some(there.to_owned()), is_applied: true });
        }
        let after = self.apply(there, 0).filter(|_| self.before.is_some())?;
        let after = self.after.is_some().then_some(after);
        Some(Texts { before: Some(there.to_owned()), after, is_applied: false })
    }

    /// Replaces the lines of side `from` by those of the other side; `None` if a hunk does not fit.
    fn apply(&self, text: &str, from: usize) -> Option<String> {
        let to = 1 - from;
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let plain = |line: &str| line.trim_end_matches(['\n', '\r']).to_owned();
        let end = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let (mut out, mut at, mut drift) = (String::new(), 0usize, 0isize);
        for hunk in &self.hunks {
            let old = hunk.of(from);
            let fits = |start: usize| {
                start >= at
                    && start + old.len() <= lines.len()
                    && old
                        .iter()
                        .zip(&lines[start..])
                        .all(|(o, l)| is_shown_as(o.trim_end_matches('\r'), &plain(l)))
            };
            // A hunk without lines of this side follows the line that it names.
            let named = hunk.starts[from].saturating_sub(usize::from(!old.is_empty()));
            let named = named.min(lines.len());
            let wanted = named.saturating_add_signed(drift);
            let near = (0..=DRIFT_MAX).flat_map(|d| [wanted.checked_sub(d), Some(wanted + d)]);
            let start = near.flatten().find(|s| fits(*s))?;
            drift = start as isize - named as isize;
            lines[at..start].iter().for_each(|l| out.push_str(l));
            for line in hunk.of(to) {
                out.push_str(line.trim_end_matches('\r'));
                out.push_str(end);
            }
            at = start + old.len();
            if hunk.is_open[to] && at == lines.len() {
                out.truncate(out.trim_end_matches(['\n', '\r']).len());
            }
        }
        lines[at..].iter().for_each(|l| out.push_str(l));
        Some(out)
    }
}

/// Bytes of secrets that are too short for a mark and consist of asterisks alone.
const UNMARKED: std::ops::RangeInclusive<usize> = 6..=9;

/// True if `there`, a line of the index, is `line` or what is shown of it: secrets are replaced by marks of
/// the same length.
fn is_shown_as(line: &str, there: &str) -> bool {
    if line == there {
        return true;
    }
    if line.len() != there.len() || !there.contains('*') && !there.contains(REDACTION_MARK) {
        return false;
    }
    let (line, there) = (line.as_bytes(), there.as_bytes());
    let mut at = 0;
    while at < there.len() {
        let hidden = hidden_at(&there[at..]);
        if hidden == 0 && line[at] != there[at] {
            return false;
        }
        at += hidden.max(1);
    }
    true
}

/// Bytes of the redacted place with which a text begins.
fn hidden_at(text: &[u8]) -> usize {
    let stars = |text: &[u8]| text.iter().take_while(|b| **b == b'*').count();
    if text.starts_with(REDACTION_MARK.as_bytes()) {
        let end = text.iter().position(|b| *b == b']').map_or(0, |at| at + 1);
        return end + stars(&text[end..]);
    }
    Some(stars(text)).filter(|n| UNMARKED.contains(n)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "From 1234 Mon Sep 17\nSubject: x\n---\n a.py | 2 +-\n\ndiff --git a/a.py b/a.py\n\
        index 1..2 100644\n--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,4 @@ def f\n one\n-two\n+TWO\n+2.5\n three\n\
        diff --git a/gone.py b/gone.py\ndeleted file mode 100644\n--- a/gone.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\
        diff --git a/new name.py b/new name.py\nnew file mode 100644\n--- /dev/null\n+++ b/new name.py\n@@ -0,0 +1,2 @@\n+y\n+z\n\\ No newline at end of file\n\
        diff --git a/o.py b/n.py\nsimilarity index 100%\nrename from o.py\nrename to n.py\n-- \n2.39\n";

    fn paths(text: &str) -> Vec<(Option<String>, Option<String>)> {
        parse(text).into_iter().map(|f| (f.before, f.after)).collect()
    }

    #[test]
    fn files_are_named_on_both_sides() {
        let some = |s: &str| Some(s.to_owned());
        for (text, expect) in [
            (
                PATCH,
                vec![
                    (some("a.py"), some("a.py")),
                    (some("gone.py"), None),
                    (None, some("new name.py")),
                    (some("o.py"), some("n.py")),
                ],
            ),
            (
                "--- old/x.go\t2024-01-01\n+++ new/x.go\n@@ -1 +1 @@\n-a\n+b\n",
                vec![(some("old/x.go"), some("new/x.go"))],
            ),
            ("diff --git \"a/\\303\\244.py\" \"b/\\303\\244.py\"\n", vec![(some("ä.py"), some("ä.py"))]),
            ("no patch\n--- a line\nof prose\n", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(paths(text), expect, "{text:?}");
        }
    }

    /// Checks both sides and `is_applied`; `expect` is `-` if the patch does not fit.
    fn check(n: usize, there: Option<&str>, expect: &str) {
        let said = match parse(PATCH)[n].sides(there) {
            Some(t) => format!("{:?} -> {:?} {}", t.before, t.after, t.is_applied),
            None => "-".to_owned(),
        };
        assert_eq!(said, expect, "{there:?}");
    }

    #[test]
    fn the_text_that_is_there_says_which_side_it_is() {
        check(
            0,
            Some("one\ntwo\nthree\n"),
            r#"Some("one\ntwo\nthree\n") -> Some("one\nTWO\n2.5\nthree\n") false"#,
        );
        check(
            0,
            Some("one\nTWO\n2.5\nthree\n"),
            r#"Some("one\ntwo\nthree\n") -> Some("one\nTWO\n2.5\nthree\n") true"#,
        );
        check(
            0,
            Some("0\n0\none\ntwo\nthree"),
            r#"Some("0\n0\none\ntwo\nthree") -> Some("0\n0\none\nTWO\n2.5\nthree\n") false"#,
        );
        check(
            0,
            Some("one\r\ntwo\r\nthree\r\n"),
            r#"Some("one\r\ntwo\r\nthree\r\n") -> Some("one\r\nTWO\r\n2.5\r\nthree\r\n") false"#,
        );
        check(0, Some("something else\n"), "-");
        check(0, None, "-");
        check(1, None, r#"Some("x\n") -> None true"#);
        check(1, Some("x\n"), r#"Some("x\n") -> None false"#);
        check(2, None, r#"None -> Some("y\nz") false"#);
        check(2, Some("y\nz"), r#"None -> Some("y\nz") true"#);
        check(3, Some("any\n"), r#"Some("any\n") -> Some("any\n") true"#);
    }

    #[test]
    fn a_line_without_its_secrets_is_the_line() {
        for (line, there, expect) in [
            ("a", "a", true),
            ("k = \"0123456789abcdef\"", "k = \"[REDACTED:x]****\"", true),
            ("k = \"0123456789\"; x", "k = \"[REDACTED]\"; x", true),
            ("k = \"0123456789\"; y", "k = \"[REDACTED]\"; x", false),
            ("p = '0123456'", "p = '*******'", true),
            ("p = '01'", "p = '**'", false),
            ("longer 0123456789", "k [REDACTED]", false),
        ] {
            assert_eq!(is_shown_as(line, there), expect, "{line} {there}");
        }
    }

    #[test]
    fn broken_patches_end() {
        for text in
            ["@@ -1,9 +1,9 @@\n", "--- a\n+++ b\n@@ -1,5 +1,5 @@\n x\n", "diff --git a b\n", "@@ -x +y @@"]
        {
            for file in parse(text) {
                let _ = file.sides(Some("x\n"));
            }
        }
        let huge = "--- a\n+++ b\n@@ -99999999999,1 +1,1 @@\n-x\n+y\n";
        assert!(parse(huge).iter().all(|f| f.sides(Some("q\n")).is_none()));
    }
}
