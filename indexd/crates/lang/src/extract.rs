//! Bytes of one file to everything that the file says by itself.

use crate::{config, decode, go, lines, make, markdown, outline, python, roles, rst};
use indexd_model::facts::Arena;
use indexd_model::limits::{FILE_BYTES_LISTED_MAX, FILE_BYTES_PARSED_MAX, LINE_BYTES_MAX};
use indexd_model::{ChunkKind, FileFacts, FileRoles, Interface, Language, LineIndex, Outcome, RepoPath};
use std::sync::Arc;

/// What is kept of one file. A pure function of its path and bytes.
#[derive(Clone, Debug)]
pub struct Extracted {
    /// The facts.
    pub facts: FileFacts,
    /// The text as it is stored; empty for files without chunks.
    pub text: Arc<str>,
    /// Lines of the text; 0 for an empty one.
    pub n_lines: u32,
}

/// Reads one file.
///
/// Never fails: what cannot be parsed is chunked by lines, what is no text or too large or a secret
/// is listed without chunks, and [`Interface::outcome`] says which. Every file is found under
/// [`indexd_model::Key::file`].
pub fn extract(path: &RepoPath, bytes: &[u8]) -> Extracted {
    if roles::is_sensitive(path, bytes) {
        return listed(path, Outcome::Sensitive);
    }
    if bytes.len() as u64 > FILE_BYTES_LISTED_MAX {
        return listed(path, Outcome::TooLarge);
    }
    let Some(text) = decode::decode(bytes) else { return listed(path, Outcome::Binary) };
    let language = roles::language_of(path, &text);
    // The content has been looked at: a certificate is no secret any more.
    let roles = FileRoles(roles::roles_of(path, language, &text).0 & !FileRoles::SENSITIVE.0);
    let is_parsed = bytes.len() as u64 <= FILE_BYTES_PARSED_MAX && !has_packed_line(&text);
    let facts = if is_parsed {
        facts(path, &text, language, roles)
    } else {
        lines::facts(path, &text, language, Outcome::TextOnly, roles)
    };
    let n_lines = if text.is_empty() { 0 } else { LineIndex::count_in(&text) };
    Extracted { facts, text, n_lines }
}

/// What is kept of a file that need not be read: too large by its size, or a secret by its name
/// ([`roles::is_sensitive_name`]; a `.pem` is worth reading, since certificates are public).
pub fn listed(path: &RepoPath, outcome: Outcome) -> Extracted {
    let language = roles::language(path);
    let sensitive = if outcome == Outcome::Sensitive { FileRoles::SENSITIVE } else { FileRoles::default() };
    let roles = roles::path_roles(path, language).with(sensitive);
    let mut interface = Interface::empty(language, outcome, roles);
    interface.entries = vec![outline::file_entry(path)];
    let facts = FileFacts { interface, body: Arena::default(), chunks: Vec::new() };
    Extracted { facts, text: "".into(), n_lines: 0 }
}

fn facts(path: &RepoPath, text: &str, language: Language, roles: FileRoles) -> FileFacts {
    let sections = |kind, outline| outline::facts(path, text, language, roles, kind, outline);
    match language {
        Language::Go => go::facts(path, text, roles),
        Language::GoMod | Language::GoWork => go::module::facts(path, text, roles),
        Language::Python => python::facts(path, text, roles),
        Language::Markdown => sections(ChunkKind::Section, markdown::outline(text)),
        Language::Toml | Language::Yaml | Language::Json | Language::Ini => {
            sections(ChunkKind::Entry, config::outline(path, language, text))
        }
        Language::Make => sections(ChunkKind::Entry, make::outline(text)),
        Language::Text if is_restructured(path, roles) => sections(ChunkKind::Section, rst::outline(text)),
        Language::Text => lines::facts(path, text, language, Outcome::Parsed, roles),
    }
}

/// reStructuredText by its extension, or a document in plain text: titles are underlined in both.
fn is_restructured(path: &str, roles: FileRoles) -> bool {
    path.ends_with(".rst") || (path.ends_with(".txt") && roles.has(FileRoles::DOC))
}

/// Whether a line is longer than [`LINE_BYTES_MAX`] bytes: minified or packed data.
fn has_packed_line(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut start = 0;
    for end in memchr::memchr2_iter(b'\n', b'\r', bytes).chain([bytes.len()]) {
        if end - start > LINE_BYTES_MAX {
            return true;
        }
        start = end + 1;
    }
    false
}

#[cfg(test)]
mod tests;
