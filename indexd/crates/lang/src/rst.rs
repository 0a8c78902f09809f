//! Sections of reStructuredText documents: titles by their underlines.
//!
//! The level of a title is that of its adornment (the character, and whether there is an overline too), in
//! order of first appearance, as the specification has it. Titles begin at the left margin and their
//! underline is at least as long as they are.

use crate::outline::{Outline, Section, nest};
use indexd_model::{LineIndex, Lines, Span};

/// The titles of `text` as nested sections.
pub fn outline(text: &str, lines: &LineIndex) -> Outline {
    let content = |line: u32| match line {
        0 => "",
        line => text[lines.span(line).range()].trim_end(),
    };
    let mut adornments: Vec<(u8, bool)> = Vec::new();
    let (mut sections, mut levels) = (Vec::new(), Vec::new());
    for line in 2..=lines.count() {
        let title = content(line - 1);
        let Some(mark) = adornment(content(line)) else { continue };
        let has_title = !title.is_empty() && adornment(title).is_none();
        if !has_title || content(line).len() < title.trim_start().chars().count() {
            continue;
        }
        let has_overline = line > 2 && adornment(content(line - 2)) == Some(mark);
        // Without an overline the title starts a paragraph of its own at the left margin.
        if !has_overline && (title.starts_with([' ', '\t']) || !content(line.saturating_sub(2)).is_empty()) {
            continue;
        }
        let level = match adornments.iter().position(|a| *a == (mark, has_overline)) {
            Some(i) => i,
            None => {
                adornments.push((mark, has_overline));
                adornments.len() - 1
            }
        };
        let first = if has_overline { line - 2 } else { line - 1 };
        let head = lines.lines_span(Lines { start: first, end: line });
        let name_start = lines.start(line - 1) + (title.len() - title.trim_start().len()) as u32;
        sections.push(Section {
            name_span: Span::new(name_start, lines.start(line - 1) + title.len() as u32),
            name: None,
            span: Span::new(head.start, text.len() as u32),
            head,
            doc: Span::new(head.start, head.start),
            parent: None,
            is_chunk: true,
        });
        levels.push(level as u32 + 1);
    }
    nest(&mut sections, &levels, text.len() as u32);
    Outline { sections, ..Outline::default() }
}

/// The character of a line of at least three equal punctuation characters.
fn adornment(line: &str) -> Option<u8> {
    let mark = *line.as_bytes().first().filter(|b| b.is_ascii_punctuation())?;
    (line.len() >= 3 && line.bytes().all(|b| b == mark)).then_some(mark)
}

#[cfg(test)]
mod tests {
    use crate::outline;
    use indexd_model::{ChunkKind, LineIndex, RepoPath};

    fn check(text: &str, expect: &[&str]) {
        let path = RepoPath::new("a.rst").unwrap();
        let lines = LineIndex::new(text);
        let input = crate::Input::plain(&path, text, &lines);
        let facts = outline::facts(input, ChunkKind::Section, super::outline(text, &lines));
        assert_eq!(outline::testing::show(&path, text, &facts), expect, "{text}");
    }

    #[test]
    fn levels_follow_first_appearance() {
        check(
            "=====\nTitle\n=====\n\nPart\n====\n\nSub\n---\nx\n\nPart 2\n======\n",
            &[
                "1-13 Title",
                "  5-11 Part",
                "    8-11 Sub",
                "  12-13 Part 2",
                "[1-3:Title]",
                "[5-6:Part]",
                "[8-10:Sub]",
                "[12-13:Part 2]",
            ],
        );
    }

    #[test]
    fn tables_and_transitions_are_no_titles() {
        check("a\n\n-----\n\nlong title\n---\n\n=== ===\na   b\n=== ===\n", &["[1-10:-]"]);
    }
}
