//! Chunks of offered text, cut where the index's parsers find definitions and sections, within limits in
//! tokens.

use super::{Settings, whole_lines};
use indexd_api::pack::LineRange;
use indexd_model::{DefIdx, RepoPath};
use indexd_text::TokenCounter;

/// Cuts text into chunks: ranges of 1-based lines that cover `content` in order and without gaps. An empty
/// text gives none. A text without a path that names a language is cut by tokens alone. Stops early once
/// `cancel` returns true.
pub fn chunk(
    content: &str,
    path: Option<&str>,
    settings: &Settings,
    counter: &dyn TokenCounter,
    cancel: &dyn Fn() -> bool,
) -> Vec<LineRange> {
    let lines: Vec<&str> = content.lines().collect();
    if lines.is_empty() {
        return Vec::new();
    }
    let max = settings.max_chunk_tokens.max(1);
    let path = path.filter(|_| settings.prefer_structural).and_then(|path| RepoPath::new(path).ok());
    let starts = path.map(|path| starts(content, &path, cancel));
    let text = Text { lines: &lines, counter, cancel, starts: &starts.unwrap_or_default() };
    let mut pieces = Vec::new();
    text.cut(LineRange { start: 1, end: lines.len() as u32 }, 0, max, &mut pieces);
    text.join(pieces, settings.min_chunk_tokens.min(max), max)
}

/// Bytes of a text that are parsed at once: a withdrawn request does not wait for more.
const PARSED_BYTES: usize = 64 << 10;

/// A definition or section, comments and decorators above it included: its first line from 1, and the number
/// of definitions around it.
type Start = (u32, usize);

/// Finds the lines at which definitions and sections start. A long text is parsed in parts, each from the last
/// outermost definition of the one before; a definition longer than a part is cut at lines, and definitions in
/// its rest count as outermost.
fn starts(content: &str, path: &RepoPath, cancel: &dyn Fn() -> bool) -> Vec<Start> {
    let (mut out, mut at, mut line) = (Vec::new(), 0, 1);
    while at < content.len() && !cancel() {
        let rest = &content[at..];
        let end = match rest.as_bytes().get(PARSED_BYTES..) {
            Some(more) => PARSED_BYTES + more.iter().position(|b| *b == b'\n').map_or(more.len(), |i| i + 1),
            None => rest.len(),
        };
        let found = starts_of(&rest[..end], path);
        let is_last = end == rest.len();
        let last = found.iter().rev().find(|start| !is_last && start.1 == 0 && start.0 > 1);
        let n_lines = match last {
            Some(last) => last.0 - 1,
            None => rest[..end].lines().count() as u32,
        };
        out.extend(
            found.iter().filter(|start| start.0 <= n_lines).map(|start| (start.0 + line - 1, start.1)),
        );
        at += rest.split_inclusive('\n').take(n_lines as usize).map(str::len).sum::<usize>();
        line += n_lines;
    }
    out
}

/// The starts in a text that is parsed as a whole.
fn starts_of(content: &str, path: &RepoPath) -> Vec<Start> {
    let found = indexd_lang::extract(path, content.as_bytes());
    if found.text.len() != content.len() {
        return Vec::new();
    }
    let ends: Vec<usize> = content.match_indices('\n').map(|(at, _)| at).collect();
    let defs = &found.facts.interface.defs;
    let around = |i: DefIdx| defs.get(i.0 as usize).map(|def| def.parent);
    let mut out: Vec<Start> = defs
        .iter()
        .map(|def| {
            let depth = std::iter::successors(around(def.parent), |i| around(*i)).count();
            (ends.partition_point(|end| *end < def.span.start as usize) as u32 + 1, depth)
        })
        .collect();
    out.sort_unstable();
    // Of several definitions of a line the outermost one is its start.
    out.dedup_by_key(|start| start.0);
    out
}

/// Bytes of one token: more only in long runs of one character.
const TOKEN_BYTES_MAX: usize = 64;

struct Text<'a> {
    lines: &'a [&'a str],
    counter: &'a dyn TokenCounter,
    cancel: &'a dyn Fn() -> bool,
    starts: &'a [Start],
}

impl Text<'_> {
    fn tokens(&self, range: LineRange) -> u32 {
        self.counter.count_tokens(&whole_lines(&self.lines[range.start as usize - 1..range.end as usize]))
    }

    /// True if a range has at most `max` tokens. A text with more bytes than tokens can have is not counted.
    fn fits(&self, range: LineRange, max: u32) -> bool {
        let lines = &self.lines[range.start as usize - 1..range.end as usize];
        let bytes: usize = lines.iter().map(|line| line.len() + 1).sum();
        bytes <= (max as usize).saturating_mul(TOKEN_BYTES_MAX) && self.tokens(range) <= max
    }

    /// Cuts a range at definitions with this number of definitions around them. Pieces that are too large are
    /// cut at the definitions inside, then between lines.
    fn cut(&self, range: LineRange, depth: usize, max: u32, out: &mut Vec<LineRange>) {
        let from = self.starts.partition_point(|start| start.0 < range.start);
        let inside = self.starts[from..].iter().take_while(|start| start.0 <= range.end);
        let mut bounds: Vec<u32> = inside.filter(|start| start.1 == depth).map(|start| start.0).collect();
        if bounds.first() != Some(&range.start) {
            bounds.insert(0, range.start);
        }
        for (i, &start) in bounds.iter().enumerate().take_while(|_| !(self.cancel)()) {
            let end = bounds.get(i + 1).map_or(range.end, |next| next - 1);
            let piece = LineRange { start, end };
            let from = self.starts.partition_point(|at| at.0 <= start);
            let mut inside = self.starts[from..].iter().take_while(|at| at.0 <= end);
            if self.fits(piece, max) {
                out.push(piece);
            } else if inside.any(|at| at.1 > depth) {
                self.cut(piece, depth + 1, max, out);
            } else {
                self.fill(piece, max, out);
            }
        }
    }

    /// Cuts a range into the longest runs of lines that fit. A single line above the limit forms a run of its
    /// own.
    fn fill(&self, range: LineRange, max: u32, out: &mut Vec<LineRange>) {
        let mut start = range.start;
        let mut used = 0;
        for line in (range.start..=range.end).take_while(|_| !(self.cancel)()) {
            let tokens = self.tokens(LineRange { start: line, end: line });
            if line > start && used + tokens > max {
                out.push(LineRange { start, end: line - 1 });
                (start, used) = (line, 0);
            }
            used += tokens;
        }
        out.push(LineRange { start, end: range.end });
    }

    /// Joins pieces below the minimum with the next piece, or at the end with the previous one.
    fn join(&self, pieces: Vec<LineRange>, min: u32, max: u32) -> Vec<LineRange> {
        let mut out: Vec<LineRange> = Vec::new();
        for piece in pieces.into_iter().take_while(|_| !(self.cancel)()) {
            if let Some(last) = out.last_mut() {
                let both = LineRange { start: last.start, end: piece.end };
                let is_small = self.tokens(*last) < min
                    || (self.tokens(piece) < min && piece.end as usize == self.lines.len());
                if is_small && self.fits(both, max) {
                    *last = both;
                    continue;
                }
            }
            out.push(piece);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Words;
    use super::*;

    fn settings(max: u32, min: u32) -> Settings {
        Settings { max_chunk_tokens: max, min_chunk_tokens: min, ..Settings::default() }
    }

    fn cut(settings: &Settings, path: &str, text: &str) -> Vec<(u32, u32)> {
        let found = chunk(text, Some(path), settings, &Words, &|| false);
        found.iter().map(|r| (r.start, r.end)).collect()
    }

    const GO: &str =
        "package a\n\n// One is\n// first.\nfunc One() {\n\tdo it now\n}\n\nfunc Two() {\n\tdo it again\n}\n";

    #[test]
    fn should_chunk_by_function_boundaries() {
        assert_eq!(cut(&settings(100, 0), "a.go", GO), [(1, 2), (3, 8), (9, 11)]);
    }

    #[test]
    fn should_chunk_by_class_boundaries() {
        let text = "import a\n\n@final\nclass One:\n    x = 1\n\nclass Two:\n    y = 2\n";
        assert_eq!(cut(&settings(100, 0), "a.py", text), [(1, 2), (3, 6), (7, 8)]);
    }

    #[test]
    fn should_chunk_by_line_count() {
        // With one token in each line, a number of tokens is a number of lines.
        let text = "one\ntwo\nthree\nfour\nfive\n";
        assert_eq!(cut(&settings(2, 0), "a.txt", text), [(1, 2), (3, 4), (5, 5)]);
    }

    #[test]
    fn should_chunk_by_token_count() {
        let by_tokens = Settings { prefer_structural: false, ..settings(4, 0) };
        assert_eq!(cut(&by_tokens, "a.txt", "a b\nc d\ne f g\nh\n"), [(1, 2), (3, 4)]);
    }

    #[test]
    fn should_respect_max_chunk_size() {
        let limits = settings(6, 0);
        for r in chunk(GO, Some("a.go"), &limits, &Words, &|| false) {
            let text: String = GO
                .lines()
                .skip(r.start as usize - 1)
                .take((r.end - r.start + 1) as usize)
                .collect::<Vec<_>>()
                .join("\n");
            assert!(text.split_whitespace().count() <= 6, "{text}");
        }
    }

    #[test]
    fn should_respect_min_chunk_size() {
        assert_eq!(cut(&settings(100, 7), "a.go", GO), [(1, 8), (9, 11)]);
        assert_eq!(cut(&settings(100, 1_000), "a.go", GO), [(1, 11)]);
    }

    #[test]
    fn should_handle_empty_file() {
        assert_eq!(cut(&settings(100, 10), "a.go", ""), []);
    }

    #[test]
    fn should_handle_single_line_file() {
        assert_eq!(cut(&settings(100, 10), "a.go", "package a"), [(1, 1)]);
    }

    #[test]
    fn should_handle_oversized_function() {
        let text: String = std::iter::once("func Long() {\n".to_owned())
            .chain((0..30).map(|i| format!("\tcall {i}\n")))
            .collect();
        let found = cut(&settings(10, 0), "a.go", &text);
        assert!(found.len() > 3 && found[0].0 == 1 && found.last().unwrap().1 == 31, "{found:?}");
        assert!(found.windows(2).all(|w| w[0].1 + 1 == w[1].0), "{found:?}");
    }

    #[test]
    fn should_preserve_complete_functions() {
        let found = cut(&settings(13, 0), "a.go", GO);
        assert!(found.contains(&(3, 8)) && found.contains(&(9, 11)), "{found:?}");
    }

    #[test]
    fn should_preserve_complete_classes() {
        let text = "class One:\n    def a(self):\n        pass\n\n    def b(self):\n        pass\n\nclass Two:\n    z = 1\n";
        assert_eq!(cut(&settings(50, 0), "a.py", text), [(1, 7), (8, 9)]);
    }

    #[test]
    fn should_handle_nested_structures() {
        let text = "class One:\n    def a(self):\n        one two three\n\n    def b(self):\n        four five six\n";
        assert_eq!(cut(&settings(8, 0), "a.py", text), [(1, 1), (2, 4), (5, 6)]);
    }

    #[test]
    fn should_handle_anonymous_functions() {
        let text = "func One() {\n\tf := func(x int) int {\n\t\treturn x\n\t}\n\tf(1)\n}\n";
        assert_eq!(cut(&settings(50, 0), "a.go", text), [(1, 6)]);
    }

    #[test]
    fn should_handle_markdown_sections() {
        let text = "# Title\n\nIntro\n\n## Use\n\nRun it\n";
        assert_eq!(cut(&settings(4, 0), "a.md", text), [(1, 4), (5, 7)]);
        assert_eq!(cut(&settings(50, 0), "a.md", text), [(1, 7)], "a section with the ones below it");
    }

    /// The languages of the index are known, not a list of keywords.
    #[test]
    fn chunks_begin_where_definitions_do() {
        for (path, text, expect) in [
            (
                "a.c",
                "#include <a.h>\n\n/* Adds. */\nint\nadd(int a)\n{\n\treturn a;\n}\n\nstatic int two(void)\n{\n\treturn 2;\n}\n",
                [3, 10],
            ),
            (
                "A.java",
                "class A {\n    /** One. */\n    @Override\n    int one() {\n        return 1;\n    }\n\n    int two() {\n        return 2;\n    }\n}\n",
                [2, 8],
            ),
            (
                "a.kt",
                "package a\n\n/** One. */\nfun one(x: Int): Int {\n    return x\n}\n\ndata class Two(val y: Int) {\n    val z = 1\n}\n",
                [3, 8],
            ),
            (
                "a.js",
                "import x from 'x';\n\n// One.\nconst one = async (a) => {\n  return x(a);\n};\n\nmodule.exports.two = function (b) {\n  return b;\n};\n",
                [3, 8],
            ),
        ] {
            let found: Vec<u32> = cut(&settings(9, 0), path, text).iter().map(|r| r.0).collect();
            assert!(expect.iter().all(|line| found.contains(line)), "{path}: {found:?}");
        }
    }

    #[test]
    fn a_withdrawn_request_ends_between_lines() {
        let asked = std::cell::Cell::new(0);
        let cancel = || asked.replace(asked.get() + 1) >= 3;
        let text = "one\n".repeat(10_000);
        chunk(&text, Some("a.txt"), &settings(100, 0), &Words, &cancel);
        assert!(asked.get() < 10, "{}", asked.get());
    }

    /// A text of many parts is cut as a short one is: no chunk begins in the middle of a definition.
    #[test]
    fn a_long_text_is_cut_at_definitions_from_end_to_end() {
        let one = |i: usize| {
            format!("// F{i} counts.\nfunc F{i}(n int) int {{\n\ttotal := {i}\n\treturn total\n}}\n\n")
        };
        let text: String = std::iter::once("package a\n\n".to_owned()).chain((0..5_000).map(one)).collect();
        assert!(text.len() > 4 * PARSED_BYTES);
        let found = cut(&settings(25, 0), "a.go", &text);
        assert_eq!(found.len(), 5_001);
        assert!(
            (0..5_000).all(|i| found[i + 1] == (i as u32 * 6 + 3, i as u32 * 6 + 8)),
            "{:?}",
            &found[..3]
        );
    }
}
