//! The lines of a file at HEAD that the newest commits changed.
//!
//! Commits are applied backwards: [`Trail`] knows the position of each line of HEAD before the commits seen
//! so far. Commits of parallel branches are applied by time, so between them a line can be off by the lines
//! that the other branch added above it; the final position is right.

use bitcode::{Decode, Encode};
use gix_imara_diff::{Algorithm, Diff, InternedInput};
use indexd_model::Lines;
use indexd_model::view::Touched;

/// Bytes of a file above which its lines are not compared; source files are rarely that large.
pub(crate) const FILE_BYTES_MAX: usize = 512 << 10;
/// Number of changed runs of one file above which a commit is ignored for its lines.
const HUNKS_MAX: usize = 500;

/// A run of lines that a commit replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Encode, Decode)]
pub struct Hunk {
    /// Lines before it in the new text.
    pub after: u32,
    /// Lines removed.
    pub removed: u32,
    /// Lines added.
    pub added: u32,
}

/// The differences between two texts, in order; `None` for binary data and for texts too large to compare.
pub fn compare(before: &[u8], after: &[u8]) -> Option<Vec<Hunk>> {
    let is_text = |t: &[u8]| t.len() <= FILE_BYTES_MAX && !t.contains(&0);
    if !is_text(before) || !is_text(after) {
        return None;
    }
    let input = InternedInput::new(before, after);
    let mut diff = Diff::compute(Algorithm::Histogram, &input);
    diff.postprocess_lines(&input);
    let hunks: Vec<Hunk> = diff
        .hunks()
        .take(HUNKS_MAX + 1)
        .map(|h| Hunk { after: h.after.start, removed: h.before.len() as u32, added: h.after.len() as u32 })
        .collect();
    (hunks.len() <= HUNKS_MAX).then_some(hunks)
}

/// A run of lines that HEAD still has: its position in the text reached so far and at HEAD.
#[derive(Clone, Copy)]
struct Kept {
    at: u32,
    head: u32,
    n: u32,
}

/// Traces the lines of a file back from HEAD.
pub(crate) struct Trail {
    kept: Vec<Kept>,
    touched: Vec<Touched>,
}

impl Trail {
    /// Starts at HEAD.
    pub(crate) fn new() -> Self {
        Self { kept: vec![Kept { at: 1, head: 1, n: u32::MAX / 2 }], touched: Vec::new() }
    }

    /// Applies the commit at `position` backwards.
    pub(crate) fn back(&mut self, hunks: &[Hunk], position: u32) {
        for run in std::mem::take(&mut self.kept) {
            let end = run.at + run.n;
            let at_head = |line: u32| run.head + (line - run.at);
            let (mut start, mut shift) = (run.at, 0i64);
            for h in hunks {
                let (from, to) = (h.after + 1, h.after + 1 + h.added);
                if from >= end {
                    break;
                }
                if to > start {
                    if from > start {
                        self.keep(start, from, at_head(start), shift);
                    }
                    // Removed lines leave a mark on the line before them.
                    let first = if h.added == 0 { h.after } else { from.max(start) };
                    let last = if h.added == 0 { h.after } else { to.min(end) - 1 };
                    let lines = Lines { start: at_head(first), end: at_head(last) };
                    self.touched.push(Touched { lines, newest: position });
                    start = to.min(end);
                }
                shift += i64::from(h.removed) - i64::from(h.added);
            }
            if start < end {
                self.keep(start, end, at_head(start), shift);
            }
        }
    }

    fn keep(&mut self, from: u32, to: u32, head: u32, shift: i64) {
        self.kept.push(Kept { at: (i64::from(from) + shift) as u32, head, n: to - from });
    }

    /// Returns all touched lines, by first line; adjacent runs of one commit are joined.
    pub(crate) fn touched(mut self) -> Vec<Touched> {
        self.touched.sort_unstable();
        let mut out: Vec<Touched> = Vec::with_capacity(self.touched.len());
        for t in self.touched {
            match out.last_mut() {
                Some(l) if l.newest == t.newest && l.lines.end + 1 == t.lines.start => {
                    l.lines.end = t.lines.end
                }
                _ => out.push(t),
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks texts from the oldest to HEAD, a letter a line; expects `first-last:position` of the touched
    /// lines.
    fn check(texts: &[&str], expect: &str) {
        let lines = |t: &str| t.chars().map(|c| format!("{c}\n")).collect::<String>();
        let mut trail = Trail::new();
        for (position, pair) in texts.windows(2).rev().enumerate() {
            let hunks = compare(lines(pair[0]).as_bytes(), lines(pair[1]).as_bytes()).expect("text");
            trail.back(&hunks, position as u32);
        }
        let show = |t: &Touched| format!("{}-{}:{}", t.lines.start, t.lines.end, t.newest);
        assert_eq!(trail.touched().iter().map(show).collect::<Vec<_>>().join(" "), expect, "{texts:?}");
    }

    #[test]
    fn each_line_knows_the_newest_commit_that_changed_it() {
        check(&["abc", "aXc"], "2-2:0");
        check(&["abc", "aXc", "aXY"], "2-2:1 3-3:0");
        check(&["abc", "aXc", "aYc"], "2-2:0");
        check(&["", "abc"], "1-3:0");
        check(&["abc", "abc"], "");
    }

    #[test]
    fn lines_are_those_of_head_however_much_moved_since() {
        check(&["abcdef", "abcdeX", "NNabcdeX", "NNbcdeX"], "1-2:1 2-2:0 7-7:2");
        check(&["abcdef", "abXdef", "Xdef", "12Xdef"], "1-2:0 3-3:2");
    }

    #[test]
    fn a_removal_marks_the_line_before_it() {
        check(&["abcdef", "abef"], "2-2:0");
        check(&["abcdef", "cdef"], "");
    }

    #[test]
    fn data_and_large_files_have_no_lines() {
        assert_eq!(compare(b"a\0b", b"a"), None);
        assert_eq!(compare(b"", &vec![b'\n'; FILE_BYTES_MAX + 1]), None);
        let many: String = (0..=2 * HUNKS_MAX).map(|i| format!("{i}\n")).collect();
        let changed: String = (0..=2 * HUNKS_MAX)
            .map(|i| if i % 2 == 0 { format!("x{i}\n") } else { format!("{i}\n") })
            .collect();
        assert_eq!(compare(many.as_bytes(), changed.as_bytes()), None);
    }
}
