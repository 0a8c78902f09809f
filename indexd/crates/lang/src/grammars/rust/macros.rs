//! Calls of macros: what stands in their brackets is read as expressions where it can be, else token by token.

use crate::grammars::flat::Flat;
use crate::grammars::typed::Visitor;
use crate::parse::Parses;
use indexd_model::{BindingId, DefIdx, ExprId, Node as Shape, Role};
use tree_sitter::Tree;

/// Traits of the standard library that are derived.
const DERIVED: [&str; 9] =
    ["Clone", "Copy", "Debug", "Default", "Eq", "Hash", "Ord", "PartialEq", "PartialOrd"];

/// The arguments of the macros that a tree calls, parsed as statements at their places in the file: all else is blank.
pub(in crate::grammars) fn arguments(
    text: &str,
    tree: &Flat,
    parses: &Parses,
    calls_max: u64,
) -> Option<Tree> {
    let mut out = vec![b' '; text.len()];
    let mut parts: Vec<std::ops::Range<usize>> = Vec::new();
    for node in 0..tree.len() {
        if tree.node(node).kind() != "token_tree" {
            continue;
        }
        let is_argument = tree.parent(node).is_some_and(|p| tree.node(p).kind() == "macro_invocation");
        let range = tree.node(node).byte_range();
        if !is_argument || range.start == 0 || text.get(range.clone()).is_none() {
            continue;
        }
        // With a blank around it, for what ends the statement before.
        let part = range.start - 1..(range.end + 1).min(text.len());
        match parts.last_mut() {
            Some(last) if last.end >= part.start => last.end = part.end.max(last.end),
            _ => parts.push(part),
        }
        out[range.start - 1] = b';';
        if let Some(behind) = out.get_mut(range.end).filter(|b| **b == b' ') {
            *behind = b';';
        }
        out[range.clone()].copy_from_slice(&text.as_bytes()[range.clone()]);
        as_expressions(&mut out[range]);
    }
    let text = String::from_utf8(out).ok().filter(|_| !parts.is_empty())?;
    parses.parse_within(&text, &parts, calls_max)
}

/// Makes patterns look like values: `_` is a name, and `..` at the end of braces nothing.
fn as_expressions(text: &mut [u8]) {
    let is_part = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    for i in 0..text.len() {
        let before = i.checked_sub(1).and_then(|i| text.get(i));
        if text[i] == b'_' && !is_part(before) && !is_part(text.get(i + 1)) {
            text[i] = b'a';
        } else if text[i..].starts_with(b"..") {
            let behind = text[i + 2..].iter().find(|b| !b.is_ascii_whitespace());
            if behind == Some(&b'}') {
                text[i..i + 2].copy_from_slice(b"  ");
            }
        }
    }
}

pub(super) fn invocation(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let at = it.start(node);
    let callee = match it.part(node, 0) {
        Some(name) if it.tree.is_leaf(name) => called(it, name),
        Some(path) => it.expr(path, Role::Call),
        None => it.opaque,
    };
    let callee = it.word("!", callee, at);
    let Some(list) = it.part(node, 1) else { return callee };
    let is_made = |it: &Visitor, n| it.def_at(n).is_some() || it.made.paths.contains_key(&it.start(n));
    let has_made = it.children(list).any(|n| is_made(it, n));
    let args = match it.aside(list).filter(|_| !has_made) {
        Some(inner) => it.in_aside(inner, |it, node| match it.tree.node(node).kind() {
            "block" => vec![it.expr(node, Role::Read)],
            _ => it.children(node).map(|c| it.expr(c, Role::Read)).collect(),
        }),
        None => {
            tokens(it, list, Role::Read);
            Vec::new()
        }
    };
    let args = it.b.list(&args);
    it.node(Shape::Call { callee, args }, at)
}

/// The name of a macro where it is called: macros have names of their own.
fn called(it: &mut Visitor, name: usize) -> ExprId {
    let (text, at) = (it.slice(name), it.start(name));
    let (name, binding) = (it.b.str(text), it.mark());
    it.b.expr(Shape::Name { name, binding }, at, Role::Call)
}

/// Names behind `::` are members, those behind a dot members of a value; a name before brackets is called.
pub(super) fn tokens(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let all: Vec<usize> = it.tree.tokens(node).collect();
    let texts: Vec<&str> = all.iter().map(|n| it.slice(*n)).collect();
    let text = |i: Option<usize>| i.and_then(|i| texts.get(i)).copied().unwrap_or("");
    let mut base: Option<ExprId> = None;
    for (i, part) in all.iter().enumerate() {
        let (before, own) = (text(i.checked_sub(1)), texts[i]);
        match it.tree.node(*part).kind() {
            "identifier" | "self" | "primitive_type" | "crate" | "super" => {}
            "token_tree" => {
                let at = it.start(*part);
                it.expr(*part, Role::Read);
                let args = it.b.list(&[]);
                base = base
                    .filter(|_| own.starts_with('('))
                    .map(|callee| it.node(Shape::Call { callee, args }, at));
                continue;
            }
            "." | "::" | "await" => continue,
            "?" => {
                let at = it.start(*part);
                base = base.map(|value| it.word("?", value, at));
                continue;
            }
            _ => {
                base = None;
                continue;
            }
        }
        let next = text(Some(i + 1));
        let at = it.start(*part);
        let role = if next.starts_with('(') { Role::Call } else { Role::Read };
        it.tell(*part);
        if let Some(def) = it.def_at(*part) {
            base = None;
            made_item(it, def, at);
            continue;
        }
        let made = it.made;
        if let Some(path) = made.paths.get(&at) {
            let of = path_of(it, path);
            base = Some(it.attr(of, *part, role));
            continue;
        }
        base = match before {
            "." | "::" => {
                let of = base.unwrap_or(it.opaque);
                Some(it.attr(of, *part, role))
            }
            "'" => None,
            _ if matches!(next, ":" | "=") && it.local(own).is_none() => None,
            _ if next == "!" => Some(called(it, *part)),
            _ if next == "::" && !it.is_type_param(own) => {
                let is_type = own.starts_with(char::is_uppercase);
                Some(it.free(own, at, if is_type { Role::Type } else { Role::None }))
            }
            _ if matches!(own, "self" | "crate" | "super") => Some(it.named(own, at, Role::None)),
            _ => Some(it.named(own, at, role)),
        };
    }
    it.opaque
}

/// Adds to an item that a macro makes the type of which it is a member, and its result.
fn made_item(it: &mut Visitor, def: DefIdx, at: u32) {
    super::items::member(it, def, Vec::new());
    let made = it.made;
    let result = made.results.get(&at).filter(|r| !r.is_empty());
    let result = result.map(|path| path_of(it, path));
    it.b.defs[def.index()].results = result.into_iter().collect();
}

/// A path that is written in a macro, without uses of its names.
fn path_of<'s>(it: &mut Visitor<'_, 's>, path: &[(&'s str, u32)]) -> ExprId {
    let Some(((first, at), rest)) = path.split_first() else { return it.opaque };
    let mut base = it.named(first, *at, Role::None);
    for (name, at) in rest {
        let name = it.b.str(name);
        base = it.b.expr(Shape::Attr { base, name }, *at, Role::None);
    }
    base
}

/// What is derived.
pub(super) fn derives(it: &mut Visitor, list: usize) {
    let mut base = None;
    for part in it.tree.tokens(list) {
        match it.tree.node(part).kind() {
            "identifier" | "crate" | "self" | "super" => {
                let (text, at) = (it.slice(part), it.start(part));
                base = match base {
                    Some(base) => Some(it.attr(base, part, Role::Decorator)),
                    None if DERIVED.contains(&text) => None,
                    None => {
                        let name = it.b.str(text);
                        let shape = Shape::Name { name, binding: BindingId::NONE };
                        let is_path = matches!(text, "crate" | "self" | "super")
                            || it
                                .text
                                .get(it.tree.node(part).end_byte()..)
                                .is_some_and(|r| r.starts_with("::"));
                        Some(it.b.expr(shape, at, if is_path { Role::None } else { Role::Decorator }))
                    }
                };
            }
            "::" => {}
            _ => base = None,
        }
    }
}
