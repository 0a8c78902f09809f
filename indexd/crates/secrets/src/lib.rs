//! Secrets in text: found by rules on the content and replaced in place.
//!
//! [`find`] names the places, [`redact`] replaces them without moving anything: a redacted text has
//! the same number of bytes and the same lines, so every span and line number taken of the original
//! stays true. Files that are secrets by their *name* are not this crate's business; they are never
//! read at all.
//!
//! A scan looks for the rules' keywords in one pass and runs a rule's expression only on lines that
//! hold one of them. All expressions are linear. The rules stand in [`rules`]; nothing here does IO
//! or remembers a value it saw.

pub mod rules;
mod scan;

use indexd_model::{REDACTION_MARK, Span};
use std::borrow::Cow;

/// Changes when the same text can be redacted differently.
pub const RULES_VERSION: u32 = 5;

/// A line with this mark holds no secret, by its author's word.
pub const ALLOW_MARK: &str = "indexd:allow";

/// A place that is not shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redaction {
    /// Name of the rule that fired; see [`rules::RULES`].
    pub rule: &'static str,
    /// The bytes replaced.
    pub span: Span,
}

/// The places of secrets in `text`, in order, not overlapping.
pub fn find(text: &str) -> Vec<Redaction> {
    scan::find(text)
}

/// Replaces the secrets in `text`, line by line, as [`REDACTION_MARK`] says. Line ends stay.
///
/// The text is borrowed when it holds none.
pub fn redact(text: &str) -> (Cow<'_, str>, Vec<Redaction>) {
    let found = find(text);
    if found.is_empty() {
        return (Cow::Borrowed(text), found);
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for r in &found {
        let range = r.span.range();
        out.push_str(&text[at..range.start]);
        replace(&text[range.clone()], r.rule, &mut out);
        at = range.end;
    }
    out.push_str(&text[at..]);
    (Cow::Owned(out), found)
}

fn replace(secret: &str, rule: &str, out: &mut String) {
    let marks = [format!("{REDACTION_MARK}:{rule}]"), format!("{REDACTION_MARK}]")];
    for line in secret.split_inclusive(['\n', '\r']) {
        let content = line.trim_end_matches(['\n', '\r']);
        let mark = marks.iter().find(|m| m.len() <= content.len()).map_or("", String::as_str);
        out.push_str(mark);
        out.extend(std::iter::repeat_n('*', content.len() - mark.len()));
        out.push_str(&line[content.len()..]);
    }
}

/// Returns the rule by which the name of a file or folder holds a token that its issuer marks. Names like
/// `password` are left alone: they are about secrets and do not hold one.
pub fn in_name(name: &str) -> Option<&'static str> {
    // Nearly all names are shorter than a token, or hold no digit.
    if name.len() < NAME_BYTES_MIN || !name.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    find(name).into_iter().map(|found| found.rule).find(|rule| !rule.starts_with("generic"))
}

/// Bytes of the shortest token that an issuer marks.
const NAME_BYTES_MIN: usize = 15;

/// Lets go of what searches on this thread have learnt, some megabytes; the next one learns it again.
pub fn forget_scratch() {
    scan::forget_scratch();
}

/// Whether a file's text is left alone: lock files and pictures are full of hashes, and no secrets.
pub fn is_exempt(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    const NAMES: [&str; 4] = ["go.sum", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml"];
    name.ends_with(".lock") || name.ends_with(".svg") || NAMES.contains(&name)
}

#[cfg(test)]
mod tests;
