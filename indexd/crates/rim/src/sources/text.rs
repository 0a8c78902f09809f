//! Formats chunks as Markdown: one header for each file with the range of all its chunks, fences that no
//! content closes, and marks where lines are left out. A custom template replaces it.

use super::ContextChunk;
use indexd_api::PackError;
use indexd_api::sources::SourceType;
use indexd_model::markdown::push_path;
use indexd_pack::template::Template;
use indexd_task::document::{Run, fenced};
use indexd_text::TokenCounter;
use serde_json::json;

/// The text between two groups.
const SEPARATOR: &str = "\n---\n\n";

/// Formats chunks, which come best first; no chunks give an empty text. A template sees `chunks`, and the
/// default format as `text`.
///
/// # Errors
/// Those of [`Template::render`].
pub fn format(chunks: &[&ContextChunk], template: Option<&Template>) -> Result<String, PackError> {
    let groups: Vec<String> = groups(chunks).iter().map(|group| group_text(group)).collect();
    let text = groups.join(SEPARATOR);
    template.map_or(Ok(text.clone()), |t| t.render(&json!({"chunks": chunks, "text": text})))
}

/// The tokens of the text of these chunks as a whole. Groups are counted one by one where their counts add up,
/// so that a counter that remembers counts does not count them again.
///
/// # Errors
/// Those of [`format()`].
pub fn tokens(
    chunks: &[&ContextChunk],
    template: Option<&Template>,
    counter: &dyn TokenCounter,
) -> Result<u64, PackError> {
    let count = |text: &str| u64::from(counter.count_tokens(text));
    if template.is_some() || !counter.is_exact() {
        return Ok(count(&format(chunks, template)?));
    }
    let groups: Vec<String> = groups(chunks).iter().map(|group| group_text(group)).collect();
    let Some((last, others)) = groups.split_last() else { return Ok(0) };
    Ok(others.iter().map(|group| count(&(group.clone() + SEPARATOR))).sum::<u64>() + count(last))
}

/// Returns a bound of the tokens that a chunk takes besides its text: header, fence, gap and separator.
pub fn frame_tokens(chunk: &ContextChunk, counter: &dyn TokenCounter) -> u64 {
    const SLACK: u64 = 2;
    let frame = ContextChunk { content: String::new(), ..chunk.clone() };
    SLACK + u64::from(counter.count_tokens(&(group_text(&[&frame]) + SEPARATOR)))
}

/// Groups chunks by file, by line, at the rank of the best of them. A chunk without a file is a group of its
/// own.
fn groups<'c>(chunks: &[&'c ContextChunk]) -> Vec<Vec<&'c ContextChunk>> {
    let mut out: Vec<Vec<&ContextChunk>> = Vec::new();
    for &c in chunks {
        let known = out.iter_mut().find(|g| c.file_path.is_some() && g[0].file_path == c.file_path);
        match known {
            Some(group) => group.push(c),
            None => out.push(vec![c]),
        }
    }
    out.iter_mut().for_each(|g| g.sort_by_key(|c| (c.start_line, c.end_line)));
    out
}

fn group_text(group: &[&ContextChunk]) -> String {
    let (first, last) = (group[0], group[group.len() - 1]);
    let mut out = "## ".to_owned();
    match &first.file_path {
        Some(path) => {
            out += "File: ";
            push_path(path, &mut out);
            out += &format!(" (lines {}-{})\n", first.start_line, last.end_line);
        }
        None => out += &format!("{} {}\n", title(first.source_type), first.source + 1),
    }
    let runs = group.iter().map(|c| Run { start: c.start_line, end: c.end_line, text: c.content.clone() });
    fenced(first.file_path.as_deref(), &runs.collect::<Vec<_>>(), &mut out);
    out
}

fn title(kind: SourceType) -> &'static str {
    match kind {
        SourceType::ToolResult => "Tool result",
        SourceType::OpenFile => "Open file",
        SourceType::SearchResult => "Search result",
        SourceType::Reference => "Reference",
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::piece;
    use super::SourceType::{OpenFile, ToolResult};
    use super::*;

    fn text(chunks: &[ContextChunk]) -> String {
        format(&chunks.iter().collect::<Vec<_>>(), None).unwrap()
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
            format(&[&piece("a.go", OpenFile, 7, "x\n"), &tool("done\n")], Some(&Template::new(template)?))
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

    /// Counting group by group equals counting the whole, also with a tokenizer that joins line ends.
    #[test]
    fn the_tokens_of_groups_add_up() {
        let all = [
            piece("a.go", OpenFile, 1, "\n\nfunc A() {\n\t}\n\n\n"),
            tool("\n   \n--- FAIL: x\n\n"),
            piece("b.md", OpenFile, 3, "```\n~~~\n   # t\n"),
            piece("a.go", OpenFile, 90, "   }\n"),
        ];
        for name in ["o200k_base", "cl100k_base", "generic", "claude"] {
            let counter = indexd_text::counter(name, &Default::default()).unwrap();
            for n in 0..=all.len() {
                let chunks: Vec<&ContextChunk> = all[..n].iter().collect();
                let whole = counter.count_tokens(&format(&chunks, None).unwrap());
                assert_eq!(tokens(&chunks, None, &*counter), Ok(u64::from(whole)), "{name} {n}");
            }
        }
    }
}
