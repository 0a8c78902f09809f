//! JSON, also with comments and trailing commas: the keys of the top-level object.

use super::{Start, close};
use crate::outline::{Outline, Section};
use indexd_model::{LineIndex, Span};

pub(super) fn outline(text: &str, lines: &LineIndex, manifest: &str) -> Outline {
    let bytes = text.as_bytes();
    let mut starts = Vec::new();
    let mut package = None;
    let mut depth = 0usize;
    let mut in_object = false;
    // The last string at depth 1, a key if a colon follows.
    let mut last: Option<Span> = None;
    let mut key: Option<Span> = None;
    let mut i = 0;
    while i < bytes.len() {
        match bytes[i] {
            b'"' => {
                let end = string_end(bytes, i);
                let span = Span::new(i as u32 + 1, end as u32);
                if depth == 1 {
                    if let Some(k) = key.take()
                        && &text[k.range()] == "name"
                        && names_project(manifest)
                        && !span.is_empty()
                    {
                        package.get_or_insert_with(|| text[span.range()].to_owned());
                    }
                    last = Some(span);
                }
                i = end;
            }
            b'/' if bytes.get(i + 1) == Some(&b'/') => {
                i = memchr::memchr2(b'\n', b'\r', &bytes[i..]).map_or(bytes.len(), |n| i + n);
            }
            b'/' if bytes.get(i + 1) == Some(&b'*') => {
                i = memchr::memmem::find(&bytes[i..], b"*/").map_or(bytes.len(), |n| i + n + 1);
            }
            b @ (b'{' | b'[') => {
                in_object |= depth == 0 && b == b'{';
                depth += 1;
                key = None;
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            b':' if depth == 1 && in_object => {
                key = last.take();
                // A key is written on one line; what goes over several is a quote that is missing.
                let is_on_one = |key: &Span| lines.line(key.start) == lines.line(key.end);
                if let Some(name_span) = key.filter(is_on_one) {
                    let line = lines.line(name_span.start);
                    starts.push(Start { first_line: line, line, name_span, name: None });
                }
            }
            b',' if depth == 1 => (last, key) = (None, None),
            _ => {}
        }
        i += 1;
    }
    let mut sections = close(starts, lines, text);
    leave_brace(&mut sections, text);
    Outline { sections, package, ..Outline::default() }
}

/// The brace that closes the object is not part of its last member.
fn leave_brace(sections: &mut [Section], text: &str) {
    if let Some(last) = sections.last_mut()
        && let Some(brace) = text[last.span.range()].rfind('}')
        && text[last.span.range()][..brace].contains('\n')
    {
        last.span.end = last.span.start + text[last.span.range()][..brace].trim_end().len() as u32;
    }
}

fn names_project(manifest: &str) -> bool {
    matches!(manifest, "package.json" | "composer.json")
}

/// The place of the quote that closes the string opened at `at`; the last byte if none does.
pub(super) fn string_end(bytes: &[u8], at: usize) -> usize {
    let mut i = at + 1;
    while let Some(n) = bytes.get(i..).and_then(|rest| memchr::memchr2(b'"', b'\\', rest)) {
        i += n;
        if bytes[i] == b'"' {
            return i;
        }
        i += 2;
    }
    bytes.len().max(at + 1)
}
