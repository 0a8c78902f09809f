//! The parts of a program: packages and other folders of code.

use crate::reach::Reach;
use crate::sources::Source;
use indexd_api::map::Module;
use indexd_model::path::{dir_of, file_name_of, stem_of};
use indexd_model::{DefFlags, DefIdx, DefKind, EdgeKind, Facts, IndexView, Language};
use std::collections::BTreeMap;

/// Names shown for a module.
const NAMES_MAX: usize = 5;
/// Characters of a summary.
const SUMMARY_CHARS: usize = 160;
/// Definitions of one module whose uses are counted.
const COUNTED_MAX: usize = 400;

/// Finds the modules, by path.
pub fn find(view: &dyn IndexView, files: &[Source], reach: &Reach) -> Vec<Module> {
    let mut by: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
    let is_code = |s: &&Source| s.is_product_code() && s.language != Language::Html;
    for source in files.iter().filter(is_code) {
        by.entry(dir_of(&source.path)).or_default().push(source);
    }
    by.into_iter().map(|(dir, sources)| module(view, dir, &sources, reach)).collect()
}

fn module(view: &dyn IndexView, dir: &str, sources: &[&Source], reach: &Reach) -> Module {
    let mut languages: BTreeMap<&str, Vec<&Source>> = BTreeMap::new();
    for &s in sources {
        languages.entry(s.language.id()).or_default().push(s);
    }
    // Ties go to the first name.
    let own = languages.into_iter().max_by_key(|(id, of)| (of.len(), std::cmp::Reverse(*id)));
    let own = own.map(|(_, of)| of).unwrap_or_default();
    let language = own.first().map_or(Language::Text, |s| s.language);
    let fallback = if dir.is_empty() { "." } else { file_name_of(dir) };
    let name = match language {
        Language::Go => package_of(view, &own).unwrap_or_else(|| fallback.to_owned()),
        _ => fallback.to_owned(),
    };
    let is_program = language == Language::Go && name == "main";
    Module {
        path: dir.to_owned(),
        language: language.id().to_owned(),
        files: sources.len() as u32,
        lines: sources.iter().map(|s| s.n_lines).sum(),
        dependants: reach.users(dir),
        summary: summary(view, language, &own),
        names: if is_program { Vec::new() } else { names(view, &own) },
        name,
    }
}

fn package_of(view: &dyn IndexView, sources: &[&Source]) -> Option<String> {
    let names: Vec<String> = sources.iter().filter_map(|s| s.package(view)).collect();
    // A script next to a package declares the package `main`.
    names.iter().find(|n| *n != "main").or(names.first()).cloned()
}

/// The first sentence of the documentation of the module.
fn summary(view: &dyn IndexView, language: Language, sources: &[&Source]) -> String {
    let rank = |s: &&&Source| match stem_of(&s.path) {
        "doc" | "__init__" | "lib" | "mod" | "index" => 0,
        stem if stem == file_name_of(dir_of(&s.path)) || stem == "main" => 1,
        _ => 2,
    };
    let mut ordered: Vec<&&Source> = sources.iter().collect();
    ordered.sort_by_key(|s| rank(s));
    let is_whole = |s: &&&&Source| match language {
        Language::Go => true,
        _ => rank(s) < 2 || sources.len() == 1,
    };
    ordered.iter().filter(is_whole).find_map(|s| doc_of(language, &view.text(s.doc))).unwrap_or_default()
}

/// The first sentence of what a file says of its package or module.
pub fn doc_of(language: Language, text: &str) -> Option<String> {
    let doc = match language {
        Language::Go => go_doc(text),
        Language::Python => docstring(text),
        Language::Rust => rust_doc(text),
        _ => None,
    };
    doc.map(|d| first_sentence(&d)).filter(|d| !d.is_empty())
}

/// The comment right above the package clause.
fn go_doc(text: &str) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let clause = lines.iter().position(|l| l.starts_with("package "))?;
    if lines.get(clause.checked_sub(1)?)?.trim_end().ends_with("*/") {
        let open = (0..clause).rev().find(|&i| lines[i].trim_start().starts_with("/*"))?;
        let body = lines[open..clause].join("\n");
        return Some(body.trim().trim_start_matches("/*").trim_end_matches("*/").to_owned());
    }
    let first = (0..clause).rev().take_while(|&i| lines[i].starts_with("//")).last()?;
    let words =
        lines[first..clause].iter().filter(|l| !l.starts_with("//go:") && !l.starts_with("// +build"));
    let doc: Vec<&str> = words.map(|l| l.trim_start_matches('/').trim()).collect();
    Some(doc.join("\n"))
}

/// The string at the start of a module.
fn docstring(text: &str) -> Option<String> {
    let mut rest = text.trim_start_matches('\u{feff}');
    loop {
        rest = rest.trim_start();
        match rest.strip_prefix('#') {
            Some(comment) => rest = comment.split_once('\n')?.1,
            None => break,
        }
    }
    let body = rest.trim_start_matches(['r', 'R', 'u', 'U']);
    for quote in ["\"\"\"", "'''", "\"", "'"] {
        if let Some(inside) = body.strip_prefix(quote) {
            return inside.split_once(quote).map(|(doc, _)| doc.to_owned());
        }
    }
    None
}

fn rust_doc(text: &str) -> Option<String> {
    let doc: Vec<&str> = text.lines().map_while(|l| l.strip_prefix("//!")).map(str::trim).collect();
    (!doc.is_empty()).then(|| doc.join("\n"))
}

/// The first sentence of the first paragraph, on one line; empty for a licence.
pub fn first_sentence(doc: &str) -> String {
    let is_rule = |l: &str| !l.is_empty() && l.chars().all(|c| matches!(c, '=' | '-' | '~' | '*' | '#'));
    let lines = doc.trim().lines().map(str::trim).filter(|l| !is_rule(l));
    let words: Vec<&str> = lines.take_while(|l| !l.is_empty()).flat_map(str::split_whitespace).collect();
    let text = words.join(" ");
    let folded = text.to_lowercase();
    if folded.contains("copyright") || folded.contains("licensed under") || folded.starts_with("spdx") {
        return String::new();
    }
    let end = text.match_indices(". ").map(|(i, _)| i).find(|&i| !is_abbreviation(&text[..i]));
    let sentence = end.map_or(text.trim_end_matches([':', '.']), |i| &text[..i]);
    match sentence.char_indices().nth(SUMMARY_CHARS) {
        Some((cut, _)) => {
            format!("{} ...", sentence[..cut].rsplit_once(' ').map_or(&sentence[..cut], |(s, _)| s))
        }
        None => sentence.to_owned(),
    }
}

fn is_abbreviation(text: &str) -> bool {
    ["e.g", "i.e", "etc", "vs", "cf"].iter().any(|a| text.ends_with(a))
}

/// The most used names that a module exports: types by uses, functions by calls.
fn names(view: &dyn IndexView, sources: &[&Source]) -> Vec<String> {
    let mut counted: Vec<(u32, String)> = Vec::new();
    for source in sources {
        let interface = view.interface(source.doc);
        let facts = Facts::outside(&interface);
        let offered = interface.defs.iter().enumerate().filter(|(_, d)| {
            let is_kind = d.kind.is_type() || matches!(d.kind, DefKind::Function);
            let is_own = d.parent.some().is_none() && d.receiver.is_none();
            is_kind && is_own && d.flags.has(DefFlags::EXPORTED) && !d.flags.has(DefFlags::LOCAL)
        });
        for (i, def) in offered.take(COUNTED_MAX) {
            let handle = view.def_doc(source.doc, DefIdx(i as u32));
            let n = view.in_degree(handle, EdgeKind::Call) + view.in_degree(handle, EdgeKind::Usage);
            counted.push((n, facts.str(def.name).to_owned()));
        }
    }
    counted.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    counted.dedup_by(|a, b| a.1 == b.1);
    counted.into_iter().filter(|(n, _)| *n > 0).take(NAMES_MAX).map(|(_, name)| name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_are_first_sentences() {
        for (doc, expect) in [
            (
                "Package gin implements a HTTP web framework called gin.\n\nSee more.",
                "Package gin implements a HTTP web framework called gin",
            ),
            ("Tools, e.g. hammers. More.", "Tools, e.g. hammers"),
            ("Copyright 2020 The Authors. All rights reserved.", ""),
            ("", ""),
            ("Title\n=====\n\ntext", "Title"),
        ] {
            assert_eq!(first_sentence(doc), expect);
        }
    }

    #[test]
    fn docs_stand_where_each_language_has_them() {
        let go = "// Copyright X\n\n// Package a does.\n//go:build linux\npackage a\n";
        assert_eq!(go_doc(go).as_deref(), Some("Package a does."));
        assert_eq!(go_doc("/*\nPackage b\n*/\npackage b\n").as_deref(), Some("\nPackage b\n"));
        assert_eq!(go_doc("package c\n"), None);
        assert_eq!(
            docstring("#!/usr/bin/env python\n# -*- x -*-\n\n\"\"\"Says\nso.\"\"\"\n").as_deref(),
            Some("Says\nso.")
        );
        assert_eq!(docstring("import a\n"), None);
        assert_eq!(rust_doc("//! A.\n//! B.\n\nuse x;").as_deref(), Some("A.\nB."));
    }
}
