//! Patterns: the names in them get their parts of a value.

use crate::grammars::typed::Visitor;
use indexd_model::{BindingKind, ExprId, Node as Shape, Role, Source};

/// Patterns inside each other that are read.
const DEPTH_MAX: u32 = 64;

/// Binds the names in a pattern to their parts of `value`.
pub(super) fn pattern(it: &mut Visitor, node: usize, value: ExprId) {
    let from = it.n_bound();
    take_apart(it, node, value, from, DEPTH_MAX);
}

fn take_apart(it: &mut Visitor, node: usize, value: ExprId, from: usize, depth: u32) {
    let Some(depth) = depth.checked_sub(1) else { return };
    let kind = it.tree.node(node).kind();
    match kind {
        "identifier" => bind(it, node, value, from),
        "ref_pattern" | "mut_pattern" | "reference_pattern" | "or_pattern" => {
            it.children(node).for_each(|c| take_apart(it, c, value, from, depth));
        }
        "captured_pattern" => {
            for (i, child) in it.children(node).enumerate() {
                match i {
                    0 => bind_name(it, child, value, from),
                    _ => take_apart(it, child, value, from, depth),
                }
            }
        }
        "tuple_pattern" => elements(it, node, None, value, from, depth),
        "slice_pattern" => {
            let (at, args) = (it.start(node), it.b.list(&[]));
            let element = it.node(Shape::Index { base: value, args }, at);
            it.children(node).for_each(|c| take_apart(it, c, element, from, depth));
        }
        "tuple_struct_pattern" => {
            let Some(path) = it.children(node).next() else { return };
            let base = asserted(it, path, value, Role::Read);
            elements(it, node, Some(path), base, from, depth);
        }
        "struct_pattern" => {
            let mut parts = it.children(node);
            let Some(path) = parts.next() else { return };
            let base = asserted(it, path, value, Role::Type);
            parts.for_each(|c| field(it, c, base, from, depth));
        }
        "mutable_specifier" | "remaining_field_pattern" => {}
        _ => _ = it.expr(node, Role::Read),
    }
}

/// A value as what the path of a pattern names.
fn asserted(it: &mut Visitor, path: usize, value: ExprId, role: Role) -> ExprId {
    let ty = it.expr(path, role);
    it.node(Shape::Assert { value, ty }, it.start(path))
}

/// The parts of a pattern, counted by the commas before them: `_` is not a node with a name.
fn elements(it: &mut Visitor, node: usize, path: Option<usize>, base: ExprId, from: usize, depth: u32) {
    let (mut index, mut is_behind) = (0u16, false);
    let named: Vec<usize> = it.children(node).filter(|c| Some(*c) != path).collect();
    for part in it.tree.tokens(node).collect::<Vec<_>>() {
        if it.tree.node(part).kind() == "," {
            index = index.saturating_add(1);
        }
        if !named.contains(&part) {
            continue;
        }
        is_behind |= it.tree.node(part).kind() == "remaining_field_pattern";
        // Behind `..` places are counted from the end.
        let value = match is_behind {
            true => it.opaque,
            false => it.node(Shape::Item { base, index }, it.start(part)),
        };
        take_apart(it, part, value, from, depth);
    }
}

/// `a`, `a: p` in the pattern of a struct.
fn field(it: &mut Visitor, node: usize, base: ExprId, from: usize, depth: u32) {
    let is_part = |c: &usize| !matches!(it.tree.node(*c).kind(), "mutable_specifier" | "attribute_item");
    let parts: Vec<usize> = it.children(node).filter(is_part).collect();
    match parts[..] {
        [name, inner] => {
            let value = it.attr(base, name, Role::Read);
            take_apart(it, inner, value, from, depth);
        }
        [name] if it.tree.node(node).kind() == "field_pattern" => {
            let value = it.attr(base, name, Role::Read);
            bind_name(it, name, value, from);
        }
        _ => it.inside(node),
    }
}

/// A constant, or a new name.
fn bind(it: &mut Visitor, node: usize, value: ExprId, from: usize) {
    if it.slice(node).starts_with(char::is_uppercase) {
        it.expr(node, Role::Read);
        return;
    }
    bind_name(it, node, value, from);
}

/// Binds a name; one that the same pattern has bound already has several values.
fn bind_name(it: &mut Visitor, node: usize, value: ExprId, from: usize) {
    let text = it.slice(node);
    let known = it.bound_since(from, text);
    let binding = known.unwrap_or_else(|| it.bind(node, BindingKind::Local));
    it.tell(node);
    if value != it.opaque {
        it.b.source(binding, Source::Assigned(value));
    }
}
