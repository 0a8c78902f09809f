//! Chunks of offered text, cut where definitions and sections begin, within limits in tokens.
//!
//! Offered text may be in any language and incomplete. So its structure is inferred from its lines: keywords
//! and headings that begin a definition or a section, and indentation. Indexed files have chunks of their
//! own.

use super::{Chunker, LineRange, Settings};
use indexd_text::TokenCounter;

/// Cuts by structure or by tokens, according to the settings.
pub struct LineChunker<'a>(pub &'a Settings);

/// Cuts windows of this number of lines.
pub struct WindowChunker(pub u32);

impl Chunker for WindowChunker {
    fn chunk(&self, content: &str, _: Option<&str>, _: &dyn TokenCounter) -> Vec<LineRange> {
        let (n, step) = (content.lines().count() as u32, self.0.max(1));
        (1..=n)
            .step_by(step as usize)
            .map(|start| LineRange { start, end: (start + step - 1).min(n) })
            .collect()
    }
}

impl Chunker for LineChunker<'_> {
    fn chunk(&self, content: &str, path: Option<&str>, counter: &dyn TokenCounter) -> Vec<LineRange> {
        let lines: Vec<&str> = content.lines().collect();
        if lines.is_empty() {
            return Vec::new();
        }
        let max = self.0.max_chunk_tokens.max(1);
        let text = Text { lines: &lines, counter, is_markdown: path.is_some_and(|p| p.ends_with(".md")) };
        let whole = LineRange { start: 1, end: lines.len() as u32 };
        let mut pieces = Vec::new();
        if self.0.prefer_structural {
            text.cut(whole, 0, max, &mut pieces);
        } else {
            text.fill(whole, max, &mut pieces);
        }
        text.join(pieces, self.0.min_chunk_tokens.min(max), max)
    }
}

struct Text<'a> {
    lines: &'a [&'a str],
    counter: &'a dyn TokenCounter,
    is_markdown: bool,
}

impl Text<'_> {
    fn tokens(&self, range: LineRange) -> u32 {
        let text: String =
            self.lines[range.start as usize - 1..range.end as usize].iter().flat_map(|l| [l, "\n"]).collect();
        self.counter.count_tokens(&text)
    }

    /// Cuts a range at structures with at least this indentation. Pieces that are too large are cut at the
    /// next deeper structures, then between lines.
    fn cut(&self, range: LineRange, indent: usize, max: u32, out: &mut Vec<LineRange>) {
        let starts = self.starts(range, indent);
        if starts.len() < 2 && self.tokens(range) <= max {
            out.push(range);
            return;
        }
        let mut bounds = starts;
        if bounds.first() != Some(&range.start) {
            bounds.insert(0, range.start);
        }
        for (i, &start) in bounds.iter().enumerate() {
            let end = bounds.get(i + 1).map_or(range.end, |next| next - 1);
            let piece = LineRange { start, end };
            if self.tokens(piece) <= max {
                out.push(piece);
                continue;
            }
            match self.next_indent(piece, indent) {
                Some(deeper) => self.cut(piece, deeper, max, out),
                None => self.fill(piece, max, out),
            }
        }
    }

    /// The lines of a range at which a structure with exactly this indentation begins, comments and
    /// decorators above it included.
    fn starts(&self, range: LineRange, indent: usize) -> Vec<u32> {
        let mut out: Vec<u32> = Vec::new();
        for line in range.start..=range.end {
            let text = self.lines[line as usize - 1];
            if indent_of(text) != indent || !self.begins(text.trim_start()) {
                continue;
            }
            let lowest = out.last().map_or(range.start, |last| last + 1);
            let above =
                (lowest..line).rev().take_while(|l| belongs_below(self.lines[*l as usize - 1], indent));
            out.push(above.last().unwrap_or(line));
        }
        out
    }

    fn next_indent(&self, range: LineRange, indent: usize) -> Option<usize> {
        let inside = range.start + 1..=range.end;
        let deeper = inside.map(|l| self.lines[l as usize - 1]).filter(|t| self.begins(t.trim_start()));
        deeper.map(indent_of).filter(|i| *i > indent).min()
    }

    fn begins(&self, text: &str) -> bool {
        const WORDS: &str = "func def async class type fn pub struct interface impl trait enum function export \
            public private protected static";
        if self.is_markdown {
            return text.starts_with('#');
        }
        text.split_once(' ').is_some_and(|(first, _)| indexd_model::lists::holds(WORDS, first))
    }

    /// Cuts a range into the longest runs of lines that fit. A single line above the limit forms a run of its
    /// own.
    fn fill(&self, range: LineRange, max: u32, out: &mut Vec<LineRange>) {
        let mut start = range.start;
        let mut used = 0;
        for line in range.start..=range.end {
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
        for piece in pieces {
            if let Some(last) = out.last_mut() {
                let both = LineRange { start: last.start, end: piece.end };
                let is_small = self.tokens(*last) < min
                    || (self.tokens(piece) < min && piece.end as usize == self.lines.len());
                if is_small && self.tokens(both) <= max {
                    *last = both;
                    continue;
                }
            }
            out.push(piece);
        }
        out
    }
}

fn indent_of(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

/// True if a line above a definition belongs to it: a comment or decorator with the same indentation.
fn belongs_below(text: &str, indent: usize) -> bool {
    let inner = text.trim_start();
    indent_of(text) == indent && ["//", "#", "@", "/*", "*", "\"\"\""].iter().any(|m| inner.starts_with(m))
}

#[cfg(test)]
mod tests {
    use super::super::packer::tests::Words;
    use super::*;

    fn settings(max: u32, min: u32) -> Settings {
        Settings { max_chunk_tokens: max, min_chunk_tokens: min, ..Settings::default() }
    }

    fn cut(settings: &Settings, path: &str, text: &str) -> Vec<(u32, u32)> {
        let found = LineChunker(settings).chunk(text, Some(path), &Words);
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
        let found = WindowChunker(4).chunk(GO, None, &Words);
        assert_eq!(found.iter().map(|r| (r.start, r.end)).collect::<Vec<_>>(), [(1, 4), (5, 8), (9, 11)]);
    }

    #[test]
    fn should_chunk_by_token_count() {
        let by_tokens = Settings { prefer_structural: false, ..settings(4, 0) };
        assert_eq!(cut(&by_tokens, "a.txt", "a b\nc d\ne f g\nh\n"), [(1, 2), (3, 4)]);
    }

    #[test]
    fn should_respect_max_chunk_size() {
        let limits = settings(6, 0);
        for r in LineChunker(&limits).chunk(GO, Some("a.go"), &Words) {
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
        assert_eq!(cut(&settings(50, 0), "a.md", text), [(1, 4), (5, 7)]);
    }
}
