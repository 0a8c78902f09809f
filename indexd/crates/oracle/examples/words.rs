//! Prints, for each documented function and type below some folders, the words of the first paragraph of
//! its comment, of its name, and of its code: what `scripts/learn-words` learns from.
//!
//! ```text
//! cargo run --release -p indexd-oracle --example words -- FOLDER...
//! ```
//!
//! One line a definition: three lists of terms as the index has them, without repeats, separated by tabs.

use anyhow::Result;
use indexd_model::{FileRoles, RepoPath};
use indexd_oracle::OracleFile;
use indexd_text::{terms, words};
use std::collections::BTreeSet;
use std::path::Path;

fn main() -> Result<()> {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for root in std::env::args().skip(1) {
        walk(&root, Path::new(&root), "", &mut out)?;
    }
    Ok(())
}

fn walk(folder: &str, root: &Path, dir: &str, out: &mut impl std::io::Write) -> Result<()> {
    let mut entries: Vec<_> = std::fs::read_dir(root.join(dir))?.collect::<Result<_, _>>()?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let path = indexd_model::path::join(dir, name);
        let kind = entry.file_type()?;
        if kind.is_dir() {
            walk(folder, root, &path, out)?;
        } else if kind.is_file() && (name.ends_with(".go") || name.ends_with(".py")) {
            file(folder, &path, &std::fs::read(entry.path())?, out)?;
        }
    }
    Ok(())
}

fn file(root: &str, path: &str, bytes: &[u8], out: &mut impl std::io::Write) -> Result<()> {
    let Ok(path) = RepoPath::new(path) else { return Ok(()) };
    let file = OracleFile::read(path, bytes);
    let roles = file.facts.interface.roles;
    if roles.has(FileRoles::GENERATED) || roles.has(FileRoles::VENDORED) || roles.has(FileRoles::TEST) {
        return Ok(());
    }
    let text = &*file.text;
    for def in file.facts.interface.defs.iter().filter(|d| d.kind.is_callable() || d.kind.is_type()) {
        let doc = text.get(def.doc.range()).unwrap_or("");
        let doc = first_paragraph(doc);
        let n_words = doc.split_whitespace().count();
        if !(4..=80).contains(&n_words) {
            continue;
        }
        let span = text.get(def.span.range()).unwrap_or("");
        let (before, after) = match def.doc.range() {
            d if def.span.range().contains(&d.start) => {
                (&text[def.span.range().start..d.start], &text[d.end..def.span.range().end])
            }
            _ => (span, ""),
        };
        let name = text.get(def.name_span.range()).unwrap_or("");
        let lists = [set(&doc, false), set(name, true), set(&format!("{before} {after}"), true)];
        let lists: Vec<String> =
            lists.iter().map(|l| l.iter().cloned().collect::<Vec<_>>().join(" ")).collect();
        writeln!(out, "{root}\t{}", lists.join("\t"))?;
    }
    Ok(())
}

/// The first paragraph, without the marks of comments and without what lists parameters.
fn first_paragraph(doc: &str) -> String {
    let mut out = String::new();
    for line in doc.lines() {
        let line = line.trim().trim_start_matches(['/', '*', '#', '"', '\'']).trim();
        let ends = line.is_empty() || line.starts_with([':', '@', '>']) || line.ends_with("::");
        if ends && !out.trim().is_empty() {
            break;
        }
        out.push_str(line);
        out.push(' ');
    }
    out
}

/// The terms of a text; whole names of several parts are left out.
fn set(text: &str, is_code: bool) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    if is_code {
        terms(text, |t| {
            out.insert(t.to_owned());
        });
    } else {
        // Names in prose are no prose.
        words(text, |_, word| {
            if word.chars().skip(1).all(|c| c.is_lowercase()) {
                terms(word, |t| {
                    out.insert(t.to_owned());
                });
            }
        });
    }
    out.retain(|t| t.len() > 1 && t.bytes().all(|b| b.is_ascii_lowercase()));
    out
}
