//! Values and types, as far as they are not made of the same parts in other languages.

use super::patterns::pattern;
use crate::grammars::typed::Visitor;
use indexd_model::facts::SequenceKind;
use indexd_model::{BindingKind, DefIdx, ExprId, Node as Shape, Role, Source};

/// `self`, `crate` and `super`: a value, or the beginning of a path.
pub(super) fn word(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    it.tell(node);
    it.named(it.slice(node), it.start(node), Role::None)
}

/// The first name of a path: never that of a variable.
fn path_start(it: &mut Visitor, node: usize) -> ExprId {
    let (text, at) = (it.slice(node), it.start(node));
    match it.tree.node(node).kind() {
        "identifier" | "type_identifier" if !it.is_type_param(text) => {
            it.tell(node);
            it.free(text, at, if text.starts_with(char::is_uppercase) { Role::Type } else { Role::None })
        }
        "self" => it.free(text, at, Role::None),
        _ => it.expr(node, Role::Type),
    }
}

/// `a::b`.
pub(super) fn path(it: &mut Visitor, node: usize, role: Role) -> ExprId {
    let base = it.part(node, 0);
    let Some(name) = it.part(node, 1) else { return it.opaque };
    let Some(base) = base else { return it.free(it.slice(name), it.start(name), role) };
    let is_in_path = it.tree.parent(node).is_some_and(|p| {
        it.tree.node(p).kind().starts_with("scoped_") && it.tree.tokens(p).next() == Some(node)
    });
    let base = path_start(it, base);
    let text = it.slice(name);
    let role = match role {
        // What stands before `::` is a type or a module.
        _ if text == "super" => Role::None,
        _ if is_in_path && !text.starts_with(char::is_uppercase) => Role::None,
        Role::Read if it.tree.node(name).kind() == "type_identifier" => Role::Type,
        role => role,
    };
    it.attr(base, name, role)
}

/// `a::<B>`, `A<B>`: lifetimes are not arguments.
pub(super) fn generic(it: &mut Visitor, node: usize, role: Role) -> ExprId {
    let base = it.expr_part(node, 0, role);
    let Some(list) = it.part(node, 1) else { return base };
    let mut args = Vec::new();
    for child in it.children(list) {
        let ty = it.ty(child);
        if it.tree.node(child).kind() != "lifetime" {
            args.push(ty);
        }
    }
    let args = it.b.list(&args);
    it.node(Shape::Apply { base, args }, it.start(list))
}

/// `Item = T` among the arguments of a trait.
pub(super) fn type_binding(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let value = it.expr_part(node, 1, Role::Type);
    let Some(name) = it.part(node, 0) else { return value };
    it.tell(name);
    let (name, at) = (it.id(name), it.start(name));
    it.node(Shape::Keyword { name, value }, at)
}

/// `A + B`.
pub(super) fn bounds(it: &mut Visitor, node: usize, role: Role) -> ExprId {
    let at = it.start(node);
    let of = |it: &mut Visitor, child: usize| {
        let ty = it.expr(child, role);
        (it.tree.node(child).kind() != "lifetime").then_some(ty)
    };
    let all: Vec<ExprId> = it.children(node).filter_map(|c| of(it, c)).collect();
    let all = all.into_iter();
    all.reduce(|left, right| it.node(Shape::Binary { left, right }, at)).unwrap_or(it.opaque)
}

/// `dyn A`, `impl A`.
pub(super) fn of_traits(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let at = it.start(node);
    let of = it.children(node).map(|c| it.expr(c, Role::Type)).last().unwrap_or(it.opaque);
    let word = if it.slice(node).starts_with("impl") { "impl" } else { "dyn" };
    it.word(word, of, at)
}

/// `fn(A) -> B`, `Fn(A) -> B`.
pub(super) fn function_type(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let at = it.start(node);
    let list = it.part(node, 0);
    let mut params = Vec::new();
    for child in it.children_of(list) {
        // A parameter may have a name.
        let ty =
            if it.tree.node(child).kind() == "parameter" { it.children(child).last() } else { Some(child) };
        params.push(ty.map_or(it.opaque, |t| it.ty(t)));
    }
    let result = it.part(node, 1).map(|r| it.ty(r));
    let (params, results) = (it.b.list(&params), it.b.list(result.as_slice()));
    it.node(Shape::FuncType { params, results, variadic: false }, at)
}

/// What the first part of a node is; everything in it is visited.
pub(super) fn last(it: &mut Visitor, node: usize, role: Role) -> ExprId {
    let part = it.part(node, 0);
    let mut out = it.opaque;
    for child in it.children(node) {
        let value = it.expr(child, role);
        if Some(child) == part {
            out = value;
        }
    }
    out
}

/// `&T`, `*const T`, `&x`.
pub(super) fn reference(it: &mut Visitor, node: usize, role: Role) -> ExprId {
    let value = last(it, node, role);
    it.node(Shape::Address { value }, it.start(node))
}

/// `[T]`, `[T; N]`.
pub(super) fn array_type(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let elem = it.part(node, 0);
    let mut out = it.opaque;
    for child in it.children(node) {
        let value = it.expr(child, if Some(child) == elem { Role::Type } else { Role::Read });
        if Some(child) == elem {
            out = value;
        }
    }
    it.node(Shape::SliceType { elem: out }, it.start(node))
}

pub(super) fn tuple(it: &mut Visitor, node: usize, role: Role) -> ExprId {
    let role = if role == Role::Type { role } else { Role::Read };
    let elems: Vec<ExprId> = it.children(node).map(|c| it.expr(c, role)).collect();
    let elems = it.b.list(&elems);
    it.node(Shape::Sequence { kind: SequenceKind::Tuple, elems }, it.start(node))
}

pub(super) fn field(it: &mut Visitor, node: usize, role: Role) -> ExprId {
    let base = it.expr_part(node, 0, Role::Read);
    let Some(name) = it.part(node, 1) else { return base };
    let text = it.slice(name);
    match text.parse::<u16>() {
        Ok(index) => it.node(Shape::Item { base, index }, it.start(name)),
        // `x.0.1` may be read as a number.
        Err(_) if text.starts_with(|c: char| c.is_ascii_digit()) => text.split('.').fold(base, |base, n| {
            let index = n.parse().unwrap_or(u16::MAX);
            it.node(Shape::Item { base, index }, it.start(name))
        }),
        Err(_) => it.attr(base, name, role),
    }
}

pub(super) fn index(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let at = it.start(node);
    let base = it.expr_part(node, 0, Role::Read);
    let Some(place) = it.part(node, 1) else { return base };
    let index = it.expr(place, Role::Read);
    if it.tree.node(place).kind() == "range_expression" {
        return it.node(Shape::Slice { base }, at);
    }
    let args = it.b.list(&[index]);
    it.node(Shape::Index { base, args }, at)
}

pub(super) fn tried(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let value = it.expr_part(node, 0, Role::Read);
    it.word("?", value, it.start(node))
}

pub(super) fn awaited(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let value = it.expr_part(node, 0, Role::Read);
    it.node(Shape::Await { value }, it.start(node))
}

pub(super) fn unary(it: &mut Visitor, node: usize, role: Role) -> ExprId {
    let value = it.expr_part(node, 0, role);
    let is_star = it.slice(node).starts_with('*');
    let shape = if is_star { Shape::Star { value } } else { Shape::Unary { value } };
    it.node(shape, it.start(node))
}

/// `(x)`: what is called in brackets is a field.
pub(super) fn brackets(it: &mut Visitor, node: usize, role: Role) -> ExprId {
    let is_field = it.children(node).next().is_some_and(|c| it.tree.node(c).kind() == "field_expression");
    it.first_of(node, if is_field && role == Role::Call { Role::Read } else { role })
}

/// `a = b`; among the arguments of a macro a name before the sign is a label.
pub(super) fn assign(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let (left, right) = (it.part(node, 0), it.part(node, 1));
    let is_label = |l: &usize| it.is_aside() && it.tree.node(*l).kind() == "identifier";
    match left.filter(|l| !is_label(l) || it.local(it.slice(*l)).is_some()) {
        Some(left) => _ = it.expr(left, Role::Write),
        None => left.into_iter().for_each(|l| it.tell(l)),
    }
    right.into_iter().for_each(|r| _ = it.expr(r, Role::Read));
    it.opaque
}

pub(super) fn closure(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let mut params = Vec::new();
    let list = it.part(node, 0);
    for child in it.children_of(list) {
        params.push(super::items::param(it, child));
    }
    let ty = it.part(node, 2).map(|t| it.ty(t));
    let mut result = it.expr_part(node, 1, Role::Read);
    if let Some(ty) = ty {
        result = it.node(Shape::Assert { value: result, ty }, it.start(node));
    }
    let params = it.values_of(&params);
    let params = it.b.list(&params);
    it.node(Shape::Lambda { params, result }, it.start(node))
}

/// `S { a: 1, b, ..c }`: each key is a member of what is built.
pub(super) fn literal(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let ty = it.expr_part(node, 0, Role::Type);
    let body = it.part(node, 1);
    let mut elems = Vec::new();
    for child in it.children_of(body) {
        let kind = it.tree.node(child).kind();
        let mut parts = it.children(child).filter(|c| it.tree.node(*c).kind() != "attribute_item");
        let Some(first) = parts.next() else { continue };
        let value = match kind {
            "field_initializer" => parts.last().map_or(it.opaque, |v| it.expr(v, Role::Read)),
            _ => it.expr(first, Role::Read),
        };
        if kind == "base_field_initializer" {
            elems.push(it.node(Shape::Spread { value }, it.start(child)));
        } else if matches!(kind, "field_initializer" | "shorthand_field_initializer") {
            let key = it.attr(ty, first, Role::Key);
            elems.push(it.node(Shape::KeyValue { key, value }, it.start(child)));
        }
    }
    let elems = it.b.list(&elems);
    it.node(Shape::Composite { ty, elems }, it.start(node))
}

// ---- blocks and branches

/// The value of the last expression; what ends with a semicolon gives none.
pub(super) fn block(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let mut out = it.opaque;
    for child in it.children(node) {
        let value = match it.tree.node(child).kind() {
            "expression_statement" => {
                let inner = it.children(child).map(|c| it.expr(c, Role::Read)).last().unwrap_or(it.opaque);
                if it.slice(child).ends_with(';') { it.opaque } else { inner }
            }
            _ => it.expr(child, Role::Read),
        };
        out = value;
    }
    out
}

/// A statement or an expression that gives nothing.
pub(super) fn statement(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    it.inside(node);
    it.opaque
}

pub(super) fn async_block(it: &mut Visitor, node: usize, role: Role) -> ExprId {
    let value = last(it, node, role);
    it.word("async", value, it.start(node))
}

/// Any of several values, without those that give nothing.
fn any(it: &mut Visitor, mut values: Vec<ExprId>, at: u32) -> ExprId {
    values.retain(|v| *v != it.opaque);
    it.any(values, at).unwrap_or(it.opaque)
}

pub(super) fn condition(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    it.expr_part(node, 0, Role::Read);
    let then = it.expr_part(node, 1, Role::Read);
    let otherwise = it.expr_part(node, 2, Role::Read);
    any(it, vec![then, otherwise], it.start(node))
}

pub(super) fn matched(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let value = it.expr_part(node, 0, Role::Read);
    let outer = std::mem::replace(&mut it.subject, value);
    let arms = it.part(node, 1);
    let mut values = Vec::new();
    for arm in it.children_of(arms) {
        values.push(it.expr(arm, Role::Read));
    }
    it.subject = outer;
    any(it, values, it.start(node))
}

pub(super) fn arm(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let subject = it.subject;
    let patterns = it.part(node, 0);
    for (i, child) in it.children_of(patterns).enumerate() {
        match i {
            0 => pattern(it, child, subject),
            _ => _ = it.expr(child, Role::Read),
        }
    }
    it.expr_part(node, 1, Role::Read)
}

/// Goes through the elements of a value.
pub(super) fn for_each(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let of = it.expr_part(node, 1, Role::Read);
    if let Some(place) = it.part(node, 0) {
        let element = it.unnamed(it.start(place), DefIdx::NONE, BindingKind::Local);
        it.b.source(element, Source::Element { of, index: 0 });
        let value = it.value_of(element);
        pattern(it, place, value);
    }
    it.expr_part(node, 2, Role::Read);
    it.opaque
}

/// `let p: T = v else { }`, and `let p = v` as a condition: the value does not see the names.
pub(super) fn declared(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let ty = it.part(node, 2).map(|t| it.ty(t));
    let mut value = it.expr_part(node, 1, Role::Read);
    it.expr_part(node, 3, Role::Read);
    if let Some(ty) = ty {
        value = it.node(Shape::Assert { value, ty }, it.start(node));
    }
    if let Some(place) = it.part(node, 0) {
        pattern(it, place, value);
    }
    it.opaque
}
