//! Targets of makefiles: a rule with its recipe and the comment above it.

use crate::outline::{Outline, Section};
use indexd_model::{LineIndex, Lines, Span};
use std::ops::Range;

/// The explicit targets of `text`, each named by the first of its rule.
pub fn outline(text: &str, lines: &LineIndex) -> Outline {
    let content = |line: u32| text[lines.span(line).range()].trim_end();
    let mut sections = Vec::new();
    let mut comment = None;
    let mut line = 1;
    while line <= lines.count() {
        let it = content(line);
        let first = line;
        // A trailing backslash continues the line.
        while content(line).ends_with('\\') && line < lines.count() {
            line += 1;
        }
        let head_end = line;
        line += 1;
        if it.starts_with('#') {
            comment.get_or_insert(first);
            continue;
        }
        let doc_start = comment.take();
        if it.starts_with("define ") {
            while line <= lines.count() && content(line) != "endef" {
                line += 1;
            }
            line += 1;
            continue;
        }
        let Some(name) = target(it) else { continue };
        while line <= lines.count() && is_recipe(content(line), content(line.min(lines.count() - 1) + 1)) {
            line += 1;
        }
        let start = lines.start(doc_start.unwrap_or(first));
        let head_start = lines.start(first);
        let [name_start, name_end] = [name.start, name.end].map(|at| head_start + at as u32);
        sections.push(Section {
            name_span: Span::new(name_start, name_end),
            name: None,
            span: Span::new(start, lines.start(line)),
            head: lines.lines_span(Lines { start: first, end: head_end }),
            doc: Span::new(start, head_start),
            parent: None,
            is_chunk: true,
        });
    }
    Outline { sections, ..Outline::default() }
}

/// Returns the place of the first target of a rule in its line; `None` for assignments, recipes, directives
/// and special targets.
fn target(line: &str) -> Option<Range<usize>> {
    if line.starts_with(['\t', ' ', '.']) {
        return None;
    }
    let colon = line.find(':')?;
    let (targets, rest) = line.split_at(colon);
    let is_assignment = targets.contains('=') || rest.trim_start_matches(':').starts_with('=');
    let name = targets.split_ascii_whitespace().next()?;
    let is_directive =
        matches!(name, "ifeq" | "ifneq" | "ifdef" | "ifndef" | "include" | "-include" | "export" | "define");
    // A line may begin with a form feed.
    let start = line.len() - line.trim_ascii_start().len();
    (!is_assignment && !is_directive).then_some(start..start + name.len())
}

/// A line of a recipe, or a blank or conditional line between two of them.
fn is_recipe(line: &str, next: &str) -> bool {
    let inside = ["ifeq", "ifneq", "ifdef", "ifndef", "else", "endif"].iter().any(|d| line.starts_with(d));
    line.starts_with('\t') || ((line.is_empty() || inside) && next.starts_with('\t'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outline;
    use indexd_model::{ChunkKind, LineIndex, RepoPath};

    #[test]
    fn rules_are_sections_with_their_comments() {
        let text = "CC := gcc\nX = a:b\n\n# Builds it.\n# Well.\nall: a.o \\\n  b.o\n\tcc a\n\n\tcc b\n\n.PHONY: all\nclean dist:\n\trm\ndefine f\nnot: this\nendef\n";
        let path = RepoPath::new("Makefile").unwrap();
        let lines = LineIndex::new(text);
        let input = crate::Input::plain(&path, text, &lines);
        let facts = outline::facts(input, ChunkKind::Entry, super::outline(text, &lines));
        assert_eq!(
            outline::testing::show(&path, text, &facts),
            ["4-10 all", "13-14 clean", "[1-2:-]", "[4-10:all]", "[12-12:-]", "[13-14:clean]", "[15-17:-]"]
        );
        let view = indexd_model::Facts::inside(&facts);
        let all = view.def(indexd_model::DefIdx(0));
        assert_eq!(&text[all.doc.range()], "# Builds it.\n# Well.\n");
        assert_eq!(&text[all.head.range()], "all: a.o \\\n  b.o\n");
    }

    #[test]
    fn odd_ends_are_read() {
        for text in ["", "a:", "a:\\", "a:\n\t", "#", "define x", "a:\n\n", "\u{c}ä:"] {
            for section in outline(text, &LineIndex::new(text)).sections {
                assert!(["a", "ä"].contains(&&text[section.name_span.range()]), "{text:?}");
            }
        }
    }
}
