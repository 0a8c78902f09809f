//! TOML: tables and arrays of tables by header, keys before the first header one by one.

use super::{Start, close, unquoted};
use crate::outline::Outline;
use indexd_model::{LineIndex, Span};

pub(super) fn outline(text: &str, lines: &LineIndex, manifest: &str) -> Outline {
    let mut starts = Vec::new();
    let mut package = None;
    let mut table = "";
    let mut value = Value::default();
    let mut comment = None;
    for line in 1..=lines.count() {
        let span = lines.span(line);
        let raw = &text[span.range()];
        let it = raw.trim();
        if value.is_open() {
            value.read(it);
            continue;
        }
        if it.starts_with('#') {
            comment.get_or_insert(line);
            continue;
        }
        let above = comment.take();
        let at = span.start + (raw.len() - raw.trim_start().len()) as u32;
        if it.starts_with('[') {
            let open = if it.starts_with("[[") { 2 } else { 1 };
            let Some(len) = it[open..].find(']') else { continue };
            table = it[open..open + len].trim();
            let name_span = Span::new(at + open as u32, at + (open + len) as u32);
            starts.push(Start { first_line: above.unwrap_or(line), line, name_span, name: None });
        } else if let Some((key, rest)) = it.split_once('=') {
            value.read(rest);
            let key = key.trim_end();
            if table.is_empty() {
                let name_span = Span::new(at, at + key.len() as u32);
                starts.push(Start { first_line: above.unwrap_or(line), line, name_span, name: None });
            }
            if key == "name" && names_project(manifest, table) && !unquoted(rest).is_empty() {
                package.get_or_insert_with(|| unquoted(rest).to_owned());
            }
        }
    }
    Outline { sections: close(starts, lines, text), package, ..Outline::default() }
}

fn names_project(manifest: &str, table: &str) -> bool {
    match manifest {
        "pyproject.toml" => matches!(table, "project" | "tool.poetry"),
        "Cargo.toml" => table == "package",
        _ => false,
    }
}

/// Tells if a value goes on in the next line: brackets that are not closed, a multi-line string.
#[derive(Default)]
struct Value {
    depth: usize,
    quotes: Option<&'static str>,
}

impl Value {
    fn is_open(&self) -> bool {
        self.depth > 0 || self.quotes.is_some()
    }

    fn read(&mut self, mut rest: &str) {
        loop {
            if let Some(quotes) = self.quotes {
                let Some(end) = rest.find(quotes) else {
                    // Only the triple quotes reach over lines.
                    self.quotes = self.quotes.filter(|q| q.len() == 3);
                    return;
                };
                rest = &rest[end + quotes.len()..];
                self.quotes = None;
            }
            let Some(at) = rest.find(['"', '\'', '[', ']', '{', '}', '#']) else { return };
            let found = &rest[at..];
            let mut len = 1;
            match found.as_bytes()[0] {
                b'[' | b'{' => self.depth += 1,
                b']' | b'}' => self.depth = self.depth.saturating_sub(1),
                b'#' => return,
                _ => {
                    let quotes = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|q| found.starts_with(q));
                    len = quotes.map_or(1, str::len);
                    self.quotes = quotes;
                    if quotes == Some("\"") {
                        // Escaped quotes occur in these only.
                        match string_end(&found[1..]) {
                            Some(end) => (self.quotes, len) = (None, end + 2),
                            None => return self.quotes = None,
                        }
                    }
                }
            }
            rest = &found[len..];
        }
    }
}

/// The place of the closing quote of a basic string.
fn string_end(text: &str) -> Option<usize> {
    let mut escaped = false;
    text.bytes().position(|b| {
        let ends = b == b'"' && !escaped;
        escaped = b == b'\\' && !escaped;
        ends
    })
}
