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
mod modern;
mod narrow;
mod scope;
mod visit;

use crate::Input;
use crate::builder::Header;
use crate::chunks::{Idle, IdleKind, Piece, of_code};
use crate::digest;
use crate::parse::Parses;
use crate::unread;
use indexd_model::limits::PARSE_CALLBACKS_MAX;
use indexd_model::path::{dir_of, file_name_of, stem_of, tail_of};
use indexd_model::{
    ChunkKind, Def, DefFlags, DefIdx, DefKind, Entry, Facts, FileFacts, Interface, Key, Language, LineIndex,
    Outcome, Span,
};
use kinds::{Kind, kind};
use rustc_hash::FxHashMap;
use tree_sitter::Node;
use visit::{Exports, Visitor};

/// Lines from which a module-level value is a chunk of its own.
const VALUE_LINES_MIN: u32 = 6;

/// Conditions and blocks inside each other that are looked into for imports; each level takes two.
const IDLE_DEPTH_MAX: u32 = 8;

/// Reads a Python file or stub. Syntax that is newer than the grammar is rewritten ([`modern`]); the
/// names inside a syntax error are kept ([`unread`]). A file whose parse passes the limits is chunked by lines.
pub fn facts(input: Input) -> FileFacts {
    let parses = &Parses::new(&tree_sitter_python::LANGUAGE.into());
    let parse = |text: &str| parses.parse(text, PARSE_CALLBACKS_MAX);
    let Some(mut tree) = parse(input.text) else {
        let mut out = crate::lines::facts(input, Outcome::TextOnly);
        out.interface.entries = existence(input.path);
        out.interface.entries.sort_unstable_by_key(|e| (e.key, e.def));
        return out;
    };
    if tree.root_node().has_error()
        && let Some(again) = modern::rewrite(input.text).as_deref().and_then(parse)
    {
        tree = again;
    }
    facts_of(input, tree.root_node(), parses)
}

fn facts_of(input: Input, root: Node<'_>, parses: &Parses) -> FileFacts {
    let Input { path, text, lines, .. } = input;
    let outcome = if root.has_error() { Outcome::Recovered } else { Outcome::Parsed };
    let mut v = Visitor::new(text, parses);
    v.block(root);
    v.pop_scope();
    if outcome == Outcome::Recovered || v.is_cut {
        unread::add(&mut v.b, text, Language::Python);
    }
    let exports = match std::mem::take(&mut v.exports) {
        Exports::Names(names) => Some(names),
        Exports::Absent | Exports::Dynamic => None,
    };
    mark_exported(&mut v, exports.as_deref());
    let says = Header { exports, ..Header::new(input, outcome) };
    let (mut interface, body) = v.b.finish(says, |facts| keys(path, facts));
    add_import_entries(path, &mut interface);
    let chunks = of_code(text, lines, pieces(&interface, text, lines), &idle(root, text));
    FileFacts { interface, body, chunks }
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
fn existence(path: &str) -> Vec<Entry> {
    let module = match stem_of(path) {
        "__init__" => dir_of(path),
        _ => path.rsplit_once('.').map_or(path, |(module, _)| module),
    };
    let mut keys = vec![Key::file(path), Key::dir("py", dir_of(path)), Key::stem("py", file_name_of(module))];
    if module.contains('/') {
        keys.push(Key::stem("py", tail_of(module)));
    }
    keys.into_iter().map(|key| Entry { key, def: DefIdx::NONE, digest: 1 }).collect()
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
    let facts = Facts::outside(interface);
    let outer = interface.imports.iter().filter(|i| i.scope == DefIdx::NONE);
    let mut digests = digest::of_imports(&facts, &module, outer, |i| i.conditional.to_string());
    if let Some(names) = &interface.exports {
        let text: Vec<&str> = names.iter().map(|n| facts.str(*n)).collect();
        digests.insert(Key::member(&module, "__all__"), Key::member("__all__", &text.join(",")).0);
    }
    let bound = digests.into_iter().map(|(key, digest)| Entry { key, def: DefIdx::NONE, digest });
    interface.entries.extend(existence(path).into_iter().chain(bound));
    interface.entries.sort_unstable_by_key(|e| (e.key, e.def));
}

/// Returns the chunks of their own: functions and classes outside functions, and long values.
fn pieces(interface: &Interface, text: &str, lines: &LineIndex) -> Vec<Piece> {
    let facts = Facts::outside(interface);
    let mut out = Vec::new();
    for (i, d) in interface.defs.iter().enumerate() {
        let local = d.flags.has(DefFlags::LOCAL);
        let kind = match d.kind {
            DefKind::Class if !local => ChunkKind::Type,
            DefKind::Function | DefKind::Method | DefKind::Property if !local => {
                if is_stub(d, text) {
                    ChunkKind::Stub
                } else {
                    ChunkKind::Definition
                }
            }
            DefKind::Variable | DefKind::Constant | DefKind::Type if is_long_value(&facts, d, lines) => {
                ChunkKind::Definition
            }
            _ => continue,
        };
        out.push(Piece { span: d.span, def: DefIdx(i as u32), kind });
    }
    out
}

/// Returns true if a body does nothing: `...`, `pass`, `raise NotImplementedError` or the docstring alone.
fn is_stub(d: &Def, text: &str) -> bool {
    let part = |from: u32, to: u32| text.get(from as usize..to as usize).unwrap_or("");
    let (before, after) = if d.head.end <= d.doc.start && !d.doc.is_empty() {
        (part(d.head.end, d.doc.start), part(d.doc.end, d.span.end))
    } else {
        ("", part(d.head.end, d.span.end))
    };
    let mut lines = before
        .lines()
        .chain(after.lines())
        .map(|l| l.trim_start_matches(':').split('#').next().unwrap_or("").trim())
        .filter(|l| !l.is_empty());
    let Some(first) = lines.next() else { return !d.doc.is_empty() };
    if let Some(error) = first.strip_prefix("raise NotImplementedError") {
        // The message may go on over several lines, up to the bracket.
        let end = lines.next_back().unwrap_or(error);
        return error.is_empty() || (error.starts_with('(') && end.ends_with(')'));
    }
    matches!(first, "..." | "pass") && lines.next().is_none()
}

/// Returns the statements at module level that do nothing.
fn idle(root: Node, text: &str) -> Vec<Idle> {
    let mut cursor = root.walk();
    let of = |node: Node| {
        let is = idle_kind(node, text, IDLE_DEPTH_MAX)?;
        Some(Idle { span: Span { start: node.start_byte() as u32, end: node.end_byte() as u32 }, is })
    };
    root.named_children(&mut cursor).filter_map(of).collect()
}

/// Returns the kind of a statement that does nothing, with everything in it; `None` when it does something.
fn idle_kind(node: Node, text: &str, depth: u32) -> Option<IdleKind> {
    let mut cursor = node.walk();
    match kind(node) {
        Kind::Import | Kind::ImportFrom | Kind::FutureImport => Some(IdleKind::Import),
        Kind::Comment => Some(IdleKind::Comment),
        Kind::Pass => Some(IdleKind::Doc),
        Kind::ExpressionStatement => {
            let inner = node.named_child(0).filter(|_| node.named_child_count() == 1)?;
            match kind(inner) {
                Kind::String => Some(IdleKind::Doc),
                Kind::Assignment | Kind::AugmentedAssignment => {
                    text.get(inner.byte_range())?.starts_with("__all__").then_some(IdleKind::Import)
                }
                _ => None,
            }
        }
        // `if TYPE_CHECKING:`, `try: import a` and `except ImportError:`.
        Kind::If | Kind::Elif | Kind::Else | Kind::Try | Kind::Except | Kind::Finally | Kind::Block => {
            let mut most = IdleKind::Doc;
            for inner in node.named_children(&mut cursor) {
                let is_part = matches!(
                    kind(inner),
                    Kind::Elif | Kind::Else | Kind::Except | Kind::Finally | Kind::Block | Kind::Comment
                );
                if is_part || kind(node) == Kind::Block {
                    most = most.max(idle_kind(inner, text, depth.checked_sub(1)?)?);
                }
            }
            Some(most)
        }
        _ => None,
    }
}

fn is_long_value(facts: &Facts, d: &Def, lines: &LineIndex) -> bool {
    let inside = |o: &Def| o.kind.is_callable() && o.span.contains(d.span);
    d.parent == DefIdx::NONE
        && lines.lines(d.span).count() >= VALUE_LINES_MIN
        && !facts.interface.defs.iter().any(inside)
}

#[cfg(test)]
mod tests;
