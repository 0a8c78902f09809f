//! Python: one pass over the tree gives definitions, imports and expressions with their scopes
//! resolved. Names of the module and of builtins stay free; `resolve` looks them up.
//!
//! Start with `visit` (statements and flow), then `expr`, `assign`, `define`, `annotate`.

mod annotate;
mod assign;
mod define;
mod expr;
mod imports;
mod kinds;
mod narrow;
mod scope;
mod visit;

use crate::builder::Header;
use crate::chunks::{Piece, assemble};
use indexd_model::facts::{Import, ImportKind};
use indexd_model::limits::PARSE_CALLBACKS_MAX;
use indexd_model::path::{dir_of, file_name_of, stem_of, tail_of};
use indexd_model::{
    ChunkKind, Def, DefFlags, DefIdx, DefKind, Facts, FileFacts, FileRoles, Interface, Key, Language,
    LineIndex, Outcome, RepoPath,
};
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;
use tree_sitter::{ParseOptions, Parser, Tree};
use visit::{Exports, Visitor};

/// Lines from which a module-level value is a chunk of its own.
const VALUE_LINES_MIN: u32 = 6;

/// Reads a Python file or stub. A file whose parse passes the limits is chunked by lines.
pub fn facts(path: &RepoPath, text: &str, roles: FileRoles) -> FileFacts {
    let lines = LineIndex::new(text);
    let mut parser = Parser::new();
    let Some(tree) = parse(&mut parser, text) else {
        let mut out = crate::lines::facts(path, text, Language::Python, Outcome::TextOnly, roles);
        out.interface.entries = existence(path);
        out.interface.entries.sort_unstable_by_key(|e| (e.key, e.def));
        return out;
    };
    let root = tree.root_node();
    let outcome = if root.has_error() { Outcome::Recovered } else { Outcome::Parsed };
    let mut v = Visitor::new(text, &mut parser);
    v.block(root);
    v.pop_scope();
    let exports = match std::mem::take(&mut v.exports) {
        Exports::Names(names) => Some(names),
        Exports::Absent | Exports::Dynamic => None,
    };
    mark_exported(&mut v, exports.as_deref());
    let header =
        Header { language: Language::Python, outcome, roles, package: None, constraint: None, exports };
    let (mut interface, body) = v.b.finish(header, |facts| keys(path, facts));
    add_import_entries(path, &mut interface);
    let chunks = assemble(text, &lines, &pieces(&interface, &lines), ChunkKind::Between);
    FileFacts { interface, body, chunks }
}

/// Parses within the limits; the same text always gives the same answer.
fn parse(parser: &mut Parser, text: &str) -> Option<Tree> {
    parser.set_language(&tree_sitter_python::LANGUAGE.into()).ok()?;
    let bytes = text.as_bytes();
    let mut n_calls = 0;
    let mut progress = |_: &tree_sitter::ParseState| {
        n_calls += 1;
        if n_calls > PARSE_CALLBACKS_MAX { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    parser.parse_with_options(&mut |i, _| bytes.get(i..).unwrap_or_default(), None, Some(options))
}

/// `__all__` decides what a module exports; without one, names that start with `_` stay inside.
fn mark_exported(v: &mut Visitor, exports: Option<&[indexd_model::StrId]>) {
    let Some(exports) = exports else { return };
    for d in &mut v.b.defs {
        if d.parent == DefIdx::NONE {
            d.flags.0 &= !DefFlags::EXPORTED.0;
            if exports.contains(&d.name) {
                d.flags.set(DefFlags::EXPORTED);
            }
        }
    }
}

/// The entries under which the file itself is found. They say only that it exists.
fn existence(path: &str) -> Vec<indexd_model::Entry> {
    let module = match stem_of(path) {
        "__init__" => dir_of(path),
        _ => path.rsplit_once('.').map_or(path, |(module, _)| module),
    };
    let mut keys = vec![Key::file(path), Key::dir("py", dir_of(path)), Key::stem("py", file_name_of(module))];
    if module.contains('/') {
        keys.push(Key::stem("py", tail_of(module)));
    }
    keys.into_iter().map(|key| indexd_model::Entry { key, def: DefIdx::NONE, digest: 1 }).collect()
}

/// The names others find definitions under: members of the module and of its classes.
fn keys(path: &str, facts: &Facts) -> Vec<(Key, DefIdx)> {
    let module = format!("py:{path}");
    let mut scopes: FxHashMap<DefIdx, String> = FxHashMap::default();
    let defs = &facts.interface.defs;
    let mut out = Vec::with_capacity(defs.len());
    for (i, d) in defs.iter().enumerate() {
        let idx = DefIdx(i as u32);
        let name = facts.str(d.name);
        match d.parent.some() {
            None => out.push((Key::member(&module, name), idx)),
            Some(p) if facts.def(p).kind == DefKind::Class => {
                let scope = scopes
                    .entry(p)
                    .or_insert_with(|| format!("{module}#{}", indexd_model::names::qualified_name(facts, p)));
                out.push((Key::member(scope, name), idx));
            }
            // A nested function or class is reached through what the outer one returns.
            Some(_) if d.kind.is_callable() || d.kind == DefKind::Class => {
                out.push((Key::member(&module, &indexd_model::names::qualified_name(facts, idx)), idx));
            }
            Some(_) => {}
        }
    }
    out
}

/// Adds entries for the file, for what its imports bind and for `__all__`. Each digest covers what
/// is found under that one name.
fn add_import_entries(path: &str, interface: &mut Interface) {
    let module = format!("py:{path}");
    let mut added = existence(path);
    let mut digests: FxHashMap<Key, u64> = FxHashMap::default();
    let facts = Facts::outside(interface);
    for i in interface.imports.iter().filter(|i| i.scope == DefIdx::NONE) {
        let name = match (i.kind, i.alias) {
            (ImportKind::All, _) => "*",
            (_, Some(alias)) => facts.str(alias),
            _ => continue,
        };
        let digest = digests.entry(Key::member(&module, name)).or_insert(7);
        *digest = digest.rotate_left(5) ^ import_digest(&facts, i);
    }
    if let Some(names) = &interface.exports {
        let text: Vec<&str> = names.iter().map(|n| facts.str(*n)).collect();
        digests.insert(Key::member(&module, "__all__"), Key::member("__all__", &text.join(",")).0);
    }
    let mut keys: Vec<(Key, u64)> = digests.into_iter().collect();
    keys.sort_unstable();
    added.extend(keys.into_iter().map(|(key, digest)| indexd_model::Entry {
        key,
        def: DefIdx::NONE,
        digest,
    }));
    interface.entries.extend(added);
    interface.entries.sort_unstable_by_key(|e| (e.key, e.def));
}

fn import_digest(facts: &Facts, i: &Import) -> u64 {
    let name = |s: Option<indexd_model::StrId>| s.map_or("-", |s| facts.str(s));
    let text = format!(
        "{}|{}|{}|{}|{}|{}",
        facts.str(i.module),
        i.level,
        name(i.name),
        name(i.alias),
        i.kind as u8,
        i.conditional
    );
    Key::member("import", &text).0
}

/// What is a chunk of its own: functions and classes outside functions, and long values.
fn pieces(interface: &Interface, lines: &LineIndex) -> Vec<Piece> {
    let facts = Facts::outside(interface);
    let mut out = Vec::new();
    for (i, d) in interface.defs.iter().enumerate() {
        let local = d.flags.has(DefFlags::LOCAL);
        let kind = match d.kind {
            DefKind::Class if !local => ChunkKind::Type,
            DefKind::Function | DefKind::Method | DefKind::Property if !local => ChunkKind::Definition,
            DefKind::Variable | DefKind::Constant | DefKind::Type if is_long_value(&facts, d, lines) => {
                ChunkKind::Definition
            }
            _ => continue,
        };
        out.push(Piece { span: d.span, def: DefIdx(i as u32), kind });
    }
    out
}

fn is_long_value(facts: &Facts, d: &Def, lines: &LineIndex) -> bool {
    let inside = |o: &Def| o.kind.is_callable() && o.span.contains(d.span);
    d.parent == DefIdx::NONE
        && lines.lines(d.span).count() >= VALUE_LINES_MIN
        && !facts.interface.defs.iter().any(inside)
}

#[cfg(test)]
mod tests;
