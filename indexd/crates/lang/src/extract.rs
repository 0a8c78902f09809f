//! From the bytes of one file to everything that can be known from the file alone.

use crate::{config, decode, go, grammars, lines, make, markdown, outline, python, roles, rst};
use indexd_model::facts::Arena;
use indexd_model::limits::{FILE_BYTES_LISTED_MAX, FILE_BYTES_PARSED_MAX, LINE_BYTES_MAX};
use indexd_model::{
    ChunkKind, FileFacts, FileRoles, Interface, Language, LineIndex, Outcome, RepoPath, Span,
};
use std::sync::Arc;

/// A file to be read.
#[derive(Clone, Copy)]
pub struct Input<'s> {
    /// Its path.
    pub path: &'s RepoPath,
    /// Its text as it is stored.
    pub text: &'s str,
    /// Start of each line of the text.
    pub lines: &'s LineIndex,
    /// Its language.
    pub language: Language,
    /// Its part in the repository.
    pub roles: FileRoles,
}

#[cfg(test)]
impl<'s> Input<'s> {
    /// A file without roles, in the language of its path.
    pub(crate) fn plain(path: &'s RepoPath, text: &'s str, lines: &'s LineIndex) -> Self {
        Self { path, text, lines, language: roles::language(path), roles: FileRoles::default() }
    }
}

/// Everything kept of one file. A pure function of its path and bytes.
#[derive(Clone, Debug)]
pub struct Extracted {
    /// The facts.
    pub facts: FileFacts,
    /// The text as it is stored; empty for files without chunks.
    pub text: Arc<str>,
    /// Start of each line.
    pub lines: LineIndex,
}

/// Reads one file.
///
/// Never fails: a file that cannot be parsed is chunked by lines; one that is binary, too large or a secret
/// is listed without chunks. [`Interface::outcome`] records which. Every file is found under
/// [`indexd_model::Key::file`].
pub fn extract(path: &RepoPath, bytes: &[u8]) -> Extracted {
    if roles::is_sensitive(path, bytes) {
        return listed(path, Outcome::Sensitive);
    }
    if bytes.len() as u64 > FILE_BYTES_LISTED_MAX {
        return listed(path, Outcome::TooLarge);
    }
    let Some(decoded) = decode::read(bytes) else { return listed(path, Outcome::Binary) };
    let recoded = if decoded.is_recoded { FileRoles::RECODED } else { FileRoles::default() };
    let text: Arc<str> = decoded.text.into();
    let language = roles::language_of(path, &text);
    // The content has been read: a certificate is no longer a secret.
    let roles = FileRoles(roles::roles_of(path, language, &text).0 & !FileRoles::SENSITIVE.0).with(recoded);
    let lines = LineIndex::new(&text);
    let is_parsed = bytes.len() as u64 <= FILE_BYTES_PARSED_MAX && !has_packed_line(&text, &lines);
    let input = Input { path, text: &text, lines: &lines, language, roles };
    let facts = if is_parsed { facts(input) } else { lines::facts(input, Outcome::TextOnly) };
    Extracted { facts, text, lines }
}

/// Returns the entry of a file that need not be read: too large by its size, or a secret by its name
/// ([`roles::is_sensitive_name`]; a `.pem` is worth reading, since certificates are public).
pub fn listed(path: &RepoPath, outcome: Outcome) -> Extracted {
    let language = roles::language(path);
    let sensitive = if outcome == Outcome::Sensitive { FileRoles::SENSITIVE } else { FileRoles::default() };
    let roles = roles::path_roles(path, language).with(sensitive);
    let mut interface = Interface::empty(language, outcome, roles);
    interface.entries = vec![outline::file_entry(path)];
    let facts = FileFacts { interface, body: Arena::default(), chunks: Vec::new() };
    Extracted { facts, text: "".into(), lines: LineIndex::new("") }
}

fn facts(input: Input) -> FileFacts {
    let Input { path, text, lines, language, roles } = input;
    let sections = |kind, outline| outline::facts(input, kind, outline);
    match language {
        Language::Go => go::facts(input),
        Language::GoMod | Language::GoWork => go::module::facts(input),
        Language::Python => python::facts(input),
        Language::Markdown => sections(ChunkKind::Section, markdown::outline(text, lines)),
        Language::Toml | Language::Yaml | Language::Json | Language::Ini => {
            sections(ChunkKind::Entry, config::outline(path, language, text, lines))
        }
        Language::Make => sections(ChunkKind::Entry, make::outline(text, lines)),
        Language::Vue | Language::Svelte | Language::Html => grammars::embedded::facts(input),
        Language::Text if outline::is_requirements(path) => outline::requirements(input),
        Language::Text if is_restructured(path, roles) => {
            sections(ChunkKind::Section, rst::outline(text, lines))
        }
        Language::Text => lines::facts(input, Outcome::Parsed),
        _ => grammars::facts(input),
    }
}

/// reStructuredText by its extension, or a document in plain text: titles are underlined in both.
fn is_restructured(path: &str, roles: FileRoles) -> bool {
    path.ends_with(".rst") || (path.ends_with(".txt") && roles.has(FileRoles::DOC))
}

/// Returns true if a line is longer than [`LINE_BYTES_MAX`] bytes: minified or packed data.
fn has_packed_line(text: &str, lines: &LineIndex) -> bool {
    let len = |span: Span| text[span.range()].trim_end_matches(['\n', '\r']).len();
    let mut spans = (1..=lines.count()).map(|line| lines.span(line));
    spans.any(|span| span.len() as usize > LINE_BYTES_MAX && len(span) > LINE_BYTES_MAX)
}

#[cfg(test)]
mod tests;
