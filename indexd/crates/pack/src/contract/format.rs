//! Formats chunks as Markdown: one header for each file with the range of all its chunks, fences that no
//! content closes, and marks where lines are left out.

use super::{ContextChunk, Formatter, SourceType};
use crate::error::PackError;
use crate::render::longest_run;
use crate::template::Template;
use indexd_task::paths;
use serde_json::json;
use std::sync::{Mutex, PoisonError};

/// The text between two groups.
const SEPARATOR: &str = "\n---\n\n";

/// The default format.
pub struct MarkdownFormatter;

impl Formatter for MarkdownFormatter {
    fn format(&self, chunks: &[ContextChunk]) -> String {
        let mut out = String::with_capacity(chunks.iter().map(|c| c.content.len() + 80).sum());
        for (i, group) in groups(chunks).iter().enumerate() {
            if i > 0 {
                out.push_str(SEPARATOR);
            }
            write_group(group, &mut out);
        }
        out
    }
}

/// A custom format. The template sees `chunks` and, as `text`, the default format.
pub struct TemplateFormatter {
    template: Template,
    failure: Mutex<Option<PackError>>,
}

impl TemplateFormatter {
    /// Parses a template.
    ///
    /// # Errors
    /// As [`Template::new`].
    pub fn new(text: &str) -> Result<Self, PackError> {
        Ok(Self { template: Template::new(text)?, failure: Mutex::default() })
    }

    /// The error of the template if it wrote nothing; available after packing.
    pub fn failure(&self) -> Option<PackError> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Formatter for &TemplateFormatter {
    fn format(&self, chunks: &[ContextChunk]) -> String {
        let data = json!({"chunks": chunks, "text": MarkdownFormatter.format(chunks)});
        self.template.render(&data).unwrap_or_else(|e| {
            *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(e);
            String::new()
        })
    }
}

/// Groups chunks by file, by line, at the rank of the best of them. A chunk without a file is a group of its
/// own.
fn groups(chunks: &[ContextChunk]) -> Vec<Vec<&ContextChunk>> {
    let mut out: Vec<Vec<&ContextChunk>> = Vec::new();
    for c in chunks {
        let known = out.iter_mut().find(|g| c.file_path.is_some() && g[0].file_path == c.file_path);
        match known {
            Some(group) => group.push(c),
            None => out.push(vec![c]),
        }
    }
    out.iter_mut().for_each(|g| g.sort_by_key(|c| (c.start_line, c.end_line)));
    out
}

fn write_group(group: &[&ContextChunk], out: &mut String) {
    let (first, last) = (group[0], group[group.len() - 1]);
    let path = first.file_path.as_deref();
    match path {
        Some(path) => {
            let shown: String = path.chars().flat_map(escaped).collect();
            out.push_str(&format!("## File: {shown} (lines {}-{})\n", first.start_line, last.end_line));
        }
        None => out.push_str(&format!("## {} {}\n", title(first.source_type), first.source + 1)),
    }
    let fence = "`".repeat(group.iter().map(|c| longest_run(&c.content) + 1).max().unwrap_or(0).max(3));
    out.push_str(&format!("{fence}{}\n", path.map_or("", paths::hint)));
    let mut after = first.start_line;
    for c in group {
        if c.start_line > after {
            let mark = path.map_or("", paths::comment);
            out.push_str(&format!("{mark}... (lines {after}-{})\n", c.start_line - 1));
        }
        out.push_str(&c.content);
        if !c.content.ends_with('\n') {
            out.push('\n');
        }
        after = c.end_line + 1;
    }
    out.push_str(&fence);
    out.push('\n');
}

fn title(kind: SourceType) -> &'static str {
    match kind {
        SourceType::ToolResult => "Tool result",
        SourceType::OpenFile => "Open file",
        SourceType::SearchResult => "Search result",
        SourceType::Reference => "Reference",
    }
}

/// Escapes a character of a path, so that it neither ends the line nor counts as markup.
fn escaped(c: char) -> Vec<char> {
    if c.is_control() { c.escape_default().collect() } else { vec![c] }
}

#[cfg(test)]
mod tests {
    use super::super::SourceType::{OpenFile, ToolResult};
    use super::super::packer::tests::piece;
    use super::*;

    fn text(chunks: &[ContextChunk]) -> String {
        MarkdownFormatter.format(chunks)
    }

    fn tool(output: &str) -> ContextChunk {
        ContextChunk { file_path: None, ..piece("", ToolResult, 1, output) }
    }

    #[test]
    fn should_add_file_path_header() {
        assert!(
            text(&[piece("src/a.go", OpenFile, 1, "x\n")]).starts_with("## File: src/a.go (lines 1-1)\n")
        );
    }

    #[test]
    fn should_add_line_number_range() {
        assert!(text(&[piece("a.go", OpenFile, 7, "x\ny\n")]).contains("(lines 7-8)"));
    }

    #[test]
    fn should_add_language_hint() {
        assert!(text(&[piece("a.go", OpenFile, 1, "x\n")]).contains("\n```go\n"));
        assert!(text(&[piece("a.py", OpenFile, 1, "x\n")]).contains("\n```python\n"));
        assert!(text(&[tool("x\n")]).contains("\n```\nx\n```\n"));
    }

    #[test]
    fn should_add_separator_between_chunks() {
        let out = text(&[piece("a.go", OpenFile, 1, "x\n"), piece("b.go", OpenFile, 1, "y\n")]);
        assert_eq!(out.matches(SEPARATOR).count(), 1);
        assert!(!out.ends_with(SEPARATOR));
    }

    #[test]
    fn should_format_code_blocks() {
        let out = text(&[piece("a.go", OpenFile, 1, "func A() {\n\t<b>&amp;\n}\n")]);
        assert_eq!(out, "## File: a.go (lines 1-3)\n```go\nfunc A() {\n\t<b>&amp;\n}\n```\n");
    }

    #[test]
    fn should_handle_multiple_chunks_same_file() {
        let out = text(&[piece("a.go", OpenFile, 51, "z\n"), piece("a.go", OpenFile, 1, "x\n")]);
        assert_eq!(out, "## File: a.go (lines 1-51)\n```go\nx\n// ... (lines 2-50)\nz\n```\n");
    }

    #[test]
    fn should_handle_multiple_files() {
        let out = text(&[
            piece("b.go", OpenFile, 1, "x\n"),
            piece("a.go", OpenFile, 1, "y\n"),
            piece("b.go", OpenFile, 9, "z\n"),
        ]);
        let headers: Vec<&str> = out.lines().filter(|l| l.starts_with("## ")).collect();
        assert_eq!(headers, ["## File: b.go (lines 1-9)", "## File: a.go (lines 1-1)"]);
    }

    #[test]
    fn should_escape_special_characters() {
        let out =
            text(&[piece("a.md", OpenFile, 1, "```\n````\n"), piece("b\n## File: c", OpenFile, 1, "x\n")]);
        assert!(out.contains("`````markdown\n```\n````\n`````\n"), "{out}");
        assert_eq!(out.lines().filter(|l| l.starts_with("## ")).count(), 2);
    }

    #[test]
    fn should_support_custom_templates() {
        let write = |template: &str| {
            let formatter = TemplateFormatter::new(template)?;
            let text = (&formatter).format(&[piece("a.go", OpenFile, 7, "x\n"), tool("done\n")]);
            formatter.failure().map_or(Ok(text), Err)
        };
        let each = "{% for c in chunks %}{{ c.filePath or c.sourceType }}:{{ c.startLine }} {{ c.content }}{% endfor %}";
        assert_eq!(write(each), Ok("a.go:7 x\ntoolResult:1 done\n".to_owned()));
        assert_eq!(write("{{ text }}"), Ok(text(&[piece("a.go", OpenFile, 7, "x\n"), tool("done\n")])));
        for (template, says) in
            [("{% for %}", "template line 1: syntax"), ("\n{{ chunk }}", "template line 2: undef")]
        {
            let error = write(template).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn should_produce_consistent_format() {
        let chunks = [piece("a.go", OpenFile, 1, "x\n"), tool("done")];
        assert_eq!(text(&chunks), text(&chunks));
        assert_eq!(text(&[]), "");
    }
}
