//! YAML: top-level keys, which begin at the left margin.

use super::{Start, close};
use crate::outline::Outline;
use indexd_model::{LineIndex, Span};

pub(super) fn outline(text: &str, lines: &LineIndex) -> Outline {
    let mut starts = Vec::new();
    let mut comment = None;
    for line in 1..=lines.count() {
        let span = lines.span(line);
        let it = text[span.range()].trim_end();
        if it.starts_with('#') {
            comment.get_or_insert(line);
            continue;
        }
        let above = comment.take();
        let Some(key) = key(it) else { continue };
        let name_span = Span::new(span.start + key.0, span.start + key.1);
        starts.push(Start { first_line: above.unwrap_or(line), line, name_span, name: None });
    }
    Outline { sections: close(starts, lines, text), ..Outline::default() }
}

/// Returns the range of the key of a line at the left margin, without quotes.
fn key(line: &str) -> Option<(u32, u32)> {
    let first = *line.as_bytes().first()?;
    if matches!(first, b' ' | b'\t' | b'-' | b'{' | b'[' | b']' | b'}' | b'%' | b'?' | b'|' | b'>' | b'.') {
        return None;
    }
    if first == b'"' || first == b'\'' {
        let end = 1 + line[1..].find(first as char)?;
        return line[end + 1..].trim_start().starts_with(':').then_some((1, end as u32));
    }
    let end = line.match_indices(':').map(|(i, _)| i).find(|i| {
        let after = line.as_bytes().get(i + 1);
        after.is_none_or(|b| matches!(b, b' ' | b'\t'))
    })?;
    Some((0, line[..end].trim_end().len() as u32)).filter(|k| k.1 > 0)
}
