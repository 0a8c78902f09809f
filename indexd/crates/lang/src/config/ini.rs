//! INI: sections by header, keys before the first header one by one.

use super::{Start, close, unquoted};
use crate::outline::Outline;
use indexd_model::{LineIndex, Span};

pub(super) fn outline(text: &str, lines: &LineIndex, manifest: &str) -> Outline {
    let mut starts = Vec::new();
    let mut package = None;
    let mut section = "";
    let mut comment = None;
    for line in 1..=lines.count() {
        let span = lines.span(line);
        let it = text[span.range()].trim_end();
        if it.starts_with(['#', ';', '!']) {
            comment.get_or_insert(line);
            continue;
        }
        let above = comment.take();
        // Indented lines continue a value.
        let is_top = !it.is_empty() && !it.starts_with([' ', '\t']);
        if let Some(rest) = it.strip_prefix('[') {
            let Some(len) = rest.find(']') else { continue };
            section = rest[..len].trim();
            let name_span = Span::new(span.start + 1, span.start + 1 + len as u32);
            starts.push(Start { first_line: above.unwrap_or(line), line, name_span, name: None });
        } else if is_top && let Some(at) = it.find(['=', ':']) {
            let key = it[..at].trim_end();
            if section.is_empty() && !key.is_empty() {
                let name_span = Span::new(span.start, span.start + key.len() as u32);
                starts.push(Start { first_line: above.unwrap_or(line), line, name_span, name: None });
            }
            let value = unquoted(&it[at + 1..]);
            if manifest == "setup.cfg" && section == "metadata" && key == "name" && !value.is_empty() {
                package.get_or_insert_with(|| value.to_owned());
            }
        }
    }
    Outline { sections: close(starts, lines, text), package, ..Outline::default() }
}
