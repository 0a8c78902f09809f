//! Sections of configuration files: tables of TOML, sections of INI, top-level keys of YAML and
//! JSON. Read line by line or token by token, tolerant of errors: a broken file has fewer sections.

mod ini;
mod json;
mod modules;
pub mod needs;
mod toml;
mod yaml;

use crate::outline::{Outline, Section};
use indexd_model::path::file_name_of;
use indexd_model::{Language, LineIndex, Span};

/// The sections of a configuration file of this language, and the name of the project if the file
/// is a manifest. No sections for languages that are no configuration.
pub fn outline(path: &str, language: Language, text: &str, lines: &LineIndex) -> Outline {
    let manifest = file_name_of(path);
    match language {
        Language::Toml => {
            let modules = needs::of_toml(manifest, text);
            Outline { modules, ..toml::outline(text, lines, manifest) }
        }
        Language::Yaml => yaml::outline(text, lines),
        Language::Json => {
            let modules = modules::of(manifest, text);
            Outline { modules, ..json::outline(text, lines, manifest) }
        }
        Language::Ini => {
            let modules = if manifest == "setup.cfg" { needs::of_setup(text) } else { Vec::new() };
            Outline { modules, ..ini::outline(text, lines, manifest) }
        }
        _ => Outline::default(),
    }
}

/// A section under construction: where it starts, with the comment above it, and its name.
struct Start {
    /// The first line of the comment above, else the line of the heading.
    first_line: u32,
    line: u32,
    name_span: Span,
    name: Option<String>,
}

/// Ends each section where the next starts, but not before its heading ends. Sections of a single line are
/// not chunks of their own, since they would be fragments.
fn close(starts: Vec<Start>, lines: &LineIndex, text: &str) -> Vec<Section> {
    let ends: Vec<u32> =
        starts.iter().skip(1).map(|s| lines.start(s.first_line)).chain([text.len() as u32]).collect();
    starts
        .into_iter()
        .zip(ends)
        .map(|(s, end)| {
            let start = lines.start(s.first_line);
            let head = lines.span(s.line);
            // The next one may start on the same line.
            let trimmed = text[start as usize..end.max(head.end) as usize].trim_end();
            Section {
                name_span: s.name_span,
                name: s.name,
                span: Span::new(start, start + trimmed.len() as u32),
                head,
                doc: Span::new(start, head.start),
                parent: None,
                is_chunk: trimmed.contains('\n'),
            }
        })
        .collect()
}

/// The string inside simple quotes or none; escapes stay as written.
fn unquoted(value: &str) -> &str {
    let value = value.trim();
    for quote in ['"', '\''] {
        if let Some(inner) = value.strip_prefix(quote).and_then(|v| v.split(quote).next()) {
            return inner;
        }
    }
    value.split(['#', ' ', '\t']).next().unwrap_or(value)
}

#[cfg(test)]
mod tests;
