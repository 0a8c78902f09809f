//! Secrets in text: found by rules on the content and replaced in place.
//!
//! [`find`] returns the spans of secrets, [`redact`] replaces them without moving anything: a redacted text
//! has the same number of bytes and the same lines, so every span and line number of the original stays
//! valid. Files that are secret by their *name* are not handled here; they are never read at all.
//!
//! A scan looks for the rules' keywords in one pass and runs a rule's expression only on lines that hold one
//! of them. All expressions are linear. The table of rules is in `rules`; nothing here does IO or
//! remembers a value it saw.

mod rules;
mod scan;

pub use scan::{find, forget_scratch};

use indexd_model::{REDACTION_MARK, Span};
use std::borrow::Cow;

/// Version of the rules: changes when the same text can be redacted differently.
pub const RULES_VERSION: u32 = 5;

/// Mark of a line that its author declares free of secrets.
pub const ALLOW_MARK: &str = "indexd:allow";

/// A redacted place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Redaction {
    /// Name of the rule that fired; see [`rules::RULES`].
    pub rule: &'static str,
    /// The bytes replaced.
    pub span: Span,
}

/// Replaces the secrets in `text`, line by line, as described at [`REDACTION_MARK`]. Line ends stay.
///
/// Returns the text borrowed when it holds none.
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

/// Returns the rule by which the name of a file or folder holds a token with the issuer's mark. Names like
/// `password` are ignored: they are about secrets and do not hold one.
pub fn in_name(name: &str) -> Option<&'static str> {
    // Nearly all names are shorter than a token, or hold no digit.
    if name.len() < NAME_BYTES_MIN || !name.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    find(name).into_iter().map(|found| found.rule).find(|rule| !rule.starts_with("generic"))
}

/// Bytes of the shortest token with an issuer's mark.
const NAME_BYTES_MIN: usize = 15;

/// Returns true if a file's text is not redacted: lock files and pictures are full of hashes, and hold no
/// secrets.
pub fn is_exempt(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    const NAMES: [&str; 4] = ["go.sum", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml"];
    name.ends_with(".lock") || name.ends_with(".svg") || NAMES.contains(&name)
}

#[cfg(test)]
mod tests;
