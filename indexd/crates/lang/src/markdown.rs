//! Sections of Markdown documents by heading, after CommonMark 0.31 (sections 4.2, 4.3 and 4.5).
//!
//! Headings inside fenced code, HTML comments and front matter do not count.

use crate::outline::{Outline, Section, nest};
use indexd_model::{LineIndex, Lines, Span};

/// The headings of `text` as nested sections.
pub fn outline(text: &str, lines: &LineIndex) -> Outline {
    let mut scan = Scan { text, lines, sections: Vec::new(), levels: Vec::new(), paragraph: None };
    let mut line = front_matter(text, lines);
    while line <= lines.count() {
        line = scan.line(line);
    }
    let Scan { mut sections, levels, .. } = scan;
    nest(&mut sections, &levels, text.len() as u32);
    Outline { sections, ..Outline::default() }
}

/// The first line after front matter (`---` or `+++` at the very start, closed by the same).
fn front_matter(text: &str, lines: &LineIndex) -> u32 {
    let content = |line: u32| text[lines.span(line).range()].trim_start_matches('\u{feff}').trim_end();
    let mark = content(1);
    if mark == "---" || mark == "+++" {
        for line in 2..=lines.count() {
            if content(line) == mark || (mark == "---" && content(line) == "...") {
                return line + 1;
            }
        }
    }
    1
}

struct Scan<'a> {
    text: &'a str,
    lines: &'a LineIndex,
    sections: Vec<Section>,
    levels: Vec<u32>,
    /// The first line of the paragraph that the line before belongs to: a setext underline makes
    /// it a heading.
    paragraph: Option<u32>,
}

impl Scan<'_> {
    /// Reads one line and returns the next to read.
    fn line(&mut self, line: u32) -> u32 {
        let raw = &self.text[self.lines.span(line).range()];
        let content = raw.trim_end();
        let body = content.trim_start_matches(' ');
        let indent = content.len() - body.len();
        if body.is_empty() {
            self.paragraph = None;
            return line + 1;
        }
        if indent > 3 || body.starts_with('\t') {
            // Indented code, or the continuation of a paragraph, which it does not end.
            return line + 1;
        }
        if let Some(fence) = fence(body) {
            self.paragraph = None;
            return self.skip(line, |body| closes(body, fence));
        }
        if body.starts_with("<!--") && !body.contains("-->") {
            self.paragraph = None;
            return self.skip(line, |body| body.contains("-->"));
        }
        if let Some((level, title)) = atx(body) {
            self.paragraph = None;
            let start = self.lines.start(line) + indent as u32 + (title.start as u32);
            let name_span = Span::new(start, start + title.len() as u32);
            self.section(level, name_span, None, Lines { start: line, end: line });
        } else if let (Some(first), Some(level)) = (self.paragraph, setext(body)) {
            self.paragraph = None;
            let span = self.lines.lines_span(Lines { start: first, end: line - 1 });
            let title = &self.text[span.range()];
            let name = title.split_whitespace().collect::<Vec<_>>().join(" ");
            let start = span.start + (title.len() - title.trim_start().len()) as u32;
            let name_span = Span::new(start, start + title.trim().len() as u32);
            let name = (first + 1 < line).then_some(name);
            self.section(level, name_span, name, Lines { start: first, end: line });
        } else if is_rule(body) {
            self.paragraph = None;
        } else if self.paragraph.is_none() && is_plain(body) {
            self.paragraph = Some(line);
        }
        line + 1
    }

    /// Skips to after the line that ends a block, or to the end of the text.
    fn skip(&self, line: u32, ends: impl Fn(&str) -> bool) -> u32 {
        let content = |l: u32| self.text[self.lines.span(l).range()].trim();
        (line + 1..=self.lines.count()).find(|l| ends(content(*l))).unwrap_or(self.lines.count()) + 1
    }

    fn section(&mut self, level: u32, name_span: Span, name: Option<String>, lines: Lines) {
        let head = self.lines.lines_span(lines);
        self.sections.push(Section {
            name_span,
            name,
            span: Span::new(head.start, self.text.len() as u32),
            head,
            doc: Span::new(head.start, head.start),
            parent: None,
            is_chunk: true,
        });
        self.levels.push(level);
    }
}

/// The mark and the length of an opening code fence.
fn fence(body: &str) -> Option<(u8, usize)> {
    let mark = *body.as_bytes().first().filter(|b| matches!(b, b'`' | b'~'))?;
    let n = body.bytes().take_while(|b| *b == mark).count();
    // The text after a backtick fence holds no backtick, else it is inline code.
    (n >= 3 && !(mark == b'`' && body[n..].contains('`'))).then_some((mark, n))
}

fn closes(body: &str, (mark, n): (u8, usize)) -> bool {
    body.len() >= n && body.bytes().all(|b| b == mark)
}

/// Level and place of the title of an ATX heading (`## title ##`).
fn atx(body: &str) -> Option<(u32, std::ops::Range<usize>)> {
    let level = body.bytes().take_while(|b| *b == b'#').count();
    let rest = &body[level..];
    if !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let title = rest.trim();
    let open = title.trim_end_matches('#');
    // Closing marks count only after a blank.
    let title = if open.is_empty() || open.ends_with([' ', '\t']) { open.trim_end() } else { title };
    let start = level + (rest.len() - rest.trim_start().len());
    Some((level as u32, start..start + title.len()))
}

/// The level of a setext underline.
fn setext(body: &str) -> Option<u32> {
    let mark = *body.as_bytes().first()?;
    let level = match mark {
        b'=' => 1,
        b'-' => 2,
        _ => return None,
    };
    body.bytes().all(|b| b == mark).then_some(level)
}

/// A thematic break, also what `---` is after anything but a paragraph.
fn is_rule(body: &str) -> bool {
    let mark = body.as_bytes()[0];
    matches!(mark, b'-' | b'*' | b'_')
        && body.bytes().all(|b| b == mark || b == b' ' || b == b'\t')
        && body.bytes().filter(|b| *b == mark).count() >= 3
}

/// Returns true if a line may start a paragraph that a setext underline turns into a heading: not a list
/// item, a quotation or a table row.
fn is_plain(body: &str) -> bool {
    let digits = body.bytes().take_while(u8::is_ascii_digit).count();
    let is_item = ["- ", "* ", "+ "].iter().any(|m| body.starts_with(m))
        || (digits > 0 && (body[digits..].starts_with(". ") || body[digits..].starts_with(") ")));
    !is_item && !body.starts_with('>') && !body.starts_with('|')
}

#[cfg(test)]
mod tests {
    use crate::outline;
    use indexd_model::{ChunkKind, LineIndex, RepoPath};

    fn check(text: &str, expect: &[&str]) {
        let path = RepoPath::new("a.md").unwrap();
        let lines = LineIndex::new(text);
        let input = crate::Input::plain(&path, text, &lines);
        let facts = outline::facts(input, ChunkKind::Section, super::outline(text, &lines));
        assert_eq!(outline::testing::show(&path, text, &facts), expect, "{text}");
    }

    #[test]
    fn headings_nest_by_level() {
        check(
            "intro\n# A\ntext\n## B ##\nb\n### C#\nc\n## D\nd\n# E\n",
            &[
                "2-9 A",
                "  4-7 B",
                "    6-7 C#",
                "  8-9 D",
                "10-10 E",
                "[1-1:-]",
                "[2-3:A]",
                "[4-5:B]",
                "[6-7:C#]",
                "[8-9:D]",
                "[10-10:E]",
            ],
        );
    }

    #[test]
    fn setext_headings_take_their_paragraph() {
        check(
            "One\ntwo\n===\n\ntext\n\nSub\n---\nx\n",
            &["1-9 One two", "  7-9 Sub", "[1-5:One two]", "[7-9:Sub]"],
        );
        // A rule, a table, a list item and front matter are no headings.
        check(
            "---\ntitle: x\n---\n\n---\n- item\n---\n| a |\n---\n# H\n",
            &["10-10 H", "[1-9:-]", "[10-10:H]"],
        );
    }

    #[test]
    fn code_and_comments_hold_no_headings() {
        check(
            "# A\n```sh\n# no\n~~~\n````\n# B\n~~~\n# no\n~~~~\n<!--\n# no\n-->\n    # no\n#no\n#\n",
            &["1-5 A", "6-14 B", "15-15 ", "[1-5:A]", "[6-14:B]", "[15-15:]"],
        );
        check("```\n# never closed\n", &["[1-2:-]"]);
    }

    #[test]
    fn empty_documents_have_no_sections() {
        check("", &[]);
        check("\n\n", &[]);
    }
}
