//! Items: what definitions are told, and the keys under which other files find members of types.

use super::patterns::pattern;
use crate::grammars::table::Keys;
use crate::grammars::typed::{Block, Visitor};
use indexd_model::facts::{Import, ImportKind};
use indexd_model::lists::holds;
use indexd_model::{
    BindingId, BindingKind, DefFlags, DefIdx, DefKind, ExprId, Facts, Key, Node as Shape, Role, Source,
};

/// Attributes of the language, and others that are not names of items.
const ATTRIBUTES: &str = "derive cfg cfg_attr test inline allow warn deny expect forbid doc must_use \
    non_exhaustive ignore should_panic macro_use macro_export path repr deprecated cold track_caller \
    default serde";

/// The parameters of a list, in order.
fn type_params(it: &mut Visitor, list: Option<usize>) -> Vec<BindingId> {
    let mut out = Vec::new();
    for child in it.children_of(list) {
        let parts: Vec<usize> = it.children(child).collect();
        let (Some(name), rest) = (parts.first(), parts.get(1..).unwrap_or(&[])) else { continue };
        match it.tree.node(child).kind() {
            "type_parameter" => {
                let binding = it.bind(*name, BindingKind::TypeParam);
                out.push(binding);
                for part in rest {
                    match it.tree.node(*part).kind() {
                        "trait_bounds" => bound(it, *part, binding),
                        _ => _ = it.ty(*part),
                    }
                }
            }
            "const_parameter" => {
                let ty = rest.first().map(|t| it.ty(*t));
                let binding = it.bind(*name, BindingKind::Param);
                ty.into_iter().for_each(|ty| it.b.source(binding, Source::Declared(ty)));
                out.push(binding);
            }
            _ => {}
        }
    }
    out
}

/// Says what a type parameter implements.
fn bound(it: &mut Visitor, bounds: usize, binding: BindingId) {
    for child in it.children(bounds) {
        let ty = it.ty(child);
        if it.tree.node(child).kind() != "lifetime" {
            it.b.source(binding, Source::Declared(ty));
        }
    }
}

/// `where T: A + B`.
pub(super) fn predicate(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let (left, bounds) = (it.part(node, 0), it.part(node, 1));
    let Some(left) = left else { return it.opaque };
    let named = it.local(it.slice(left)).filter(|_| it.tree.is_leaf(left));
    it.ty(left);
    match (named, bounds) {
        (Some(binding), Some(bounds)) if it.slice(left) != "Self" => bound(it, bounds, binding),
        (_, bounds) => bounds.into_iter().for_each(|b| _ = it.ty(b)),
    }
    it.opaque
}

/// Visits what stands in a node beside its parts: attributes, conditions on types.
fn others(it: &mut Visitor, node: usize, parts: &[Option<usize>]) {
    for child in it.children(node).filter(|c| !parts.contains(&Some(*c))) {
        it.expr(child, Role::Read);
    }
}

/// `Self` from here to the end of the scope.
fn bind_self(it: &mut Visitor, node: usize, source: Source) {
    let name = it.b.str("Self");
    let binding = it.b.bind(name, it.start(node), DefIdx::NONE, BindingKind::TypeParam);
    it.b.source(binding, source);
    it.bind_as("Self", binding);
}

/// A parameter of a function or a closure.
pub(super) fn param(it: &mut Visitor, node: usize) -> BindingId {
    let at = it.start(node);
    if it.tree.node(node).kind() != "parameter" {
        return match it.tree.node(node).kind() {
            "identifier" => it.bind(node, BindingKind::Param),
            _ => {
                let binding = it.unnamed(at, DefIdx::NONE, BindingKind::Param);
                let value = it.value_of(binding);
                pattern(it, node, value);
                binding
            }
        };
    }
    let is_part = |c: &usize| it.tree.node(*c).kind() != "mutable_specifier";
    let parts: Vec<usize> = it.children(node).filter(is_part).collect();
    let ty = parts.get(1).map(|t| it.ty(*t));
    let binding = match parts.first() {
        Some(name) if matches!(it.tree.node(*name).kind(), "identifier" | "self") => {
            let kind = if it.slice(*name) == "self" { BindingKind::Receiver } else { BindingKind::Param };
            it.bind(*name, kind)
        }
        _ => it.unnamed(at, DefIdx::NONE, BindingKind::Param),
    };
    ty.into_iter().for_each(|ty| it.b.source(binding, Source::Declared(ty)));
    if it.b.binding_head(binding).0 == it.b.str("")
        && let Some(place) = parts.first()
    {
        let value = it.value_of(binding);
        pattern(it, *place, value);
    }
    binding
}

fn params(it: &mut Visitor, list: Option<usize>) -> Vec<BindingId> {
    let mut out = Vec::new();
    for child in it.children_of(list) {
        match it.tree.node(child).kind() {
            "self_parameter" => {
                let Some(word) = it.child(child, "self") else { continue };
                let ty = it.named("Self", it.start(word), Role::None);
                let binding = it.bind(word, BindingKind::Receiver);
                it.b.source(binding, Source::Declared(ty));
                out.push(binding);
            }
            "parameter" => out.push(param(it, child)),
            "attribute_item" => _ = it.expr(child, Role::Read),
            "variadic_parameter" => {}
            // The type alone.
            _ => _ = it.ty(child),
        }
    }
    out
}

pub(super) fn function(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let parts = [0, 1, 2, 3, 4].map(|n| it.part(node, n));
    let def = parts[0].and_then(|n| it.def_at(n));
    let own = type_params(it, parts[1]);
    others(it, node, &parts);
    let params = params(it, parts[2]);
    let result = parts[3].map(|r| it.ty(r));
    let derives = procedural(it, node, def);
    if let Some(def) = def {
        member(it, def, own);
        it.b.defs[def.index()].decorators = derives;
        let d = &mut it.b.defs[def.index()];
        d.params = params;
        d.results = result.into_iter().collect();
    }
    // What is in a body is not a member of the block around.
    let outer = std::mem::take(&mut it.block);
    it.expr_part(node, 4, Role::Read);
    it.block = outer;
    it.opaque
}

/// Marks a function that is a procedural macro; the name of what it derives, if it derives something.
fn procedural(it: &mut Visitor, node: usize, def: Option<DefIdx>) -> Vec<ExprId> {
    let head = before(it, node);
    mark(it, def, head);
    let Some((_, rest)) = head.split_once("#[proc_macro") else { return Vec::new() };
    if let Some(def) = def {
        it.b.defs[def.index()].flags.set(DefFlags::WRAPPED);
    }
    let name = rest.strip_prefix("_derive").map(|r| r.trim_start().trim_start_matches('(').trim_start());
    let name = name.map(|n| &n[..n.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(n.len())]);
    let at = it.start(node);
    name.into_iter().map(|n| it.free(n, at, Role::None)).collect()
}

/// What the attributes of a definition say of where it is seen.
fn mark(it: &mut Visitor, def: Option<DefIdx>, head: &str) {
    let Some(def) = def else { return };
    let d = &mut it.b.defs[def.index()];
    if head.contains("macro_export") {
        d.flags.set(DefFlags::EXPORTED);
    }
    if head.contains("cfg(not(") {
        d.flags.set(DefFlags::CONDITIONAL);
    }
}

pub(super) fn macro_item(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let (def, head) = (it.part(node, 0).and_then(|n| it.def_at(n)), before(it, node));
    mark(it, def, head);
    it.tell_all(node);
    it.opaque
}

/// `use a::b;`
pub(super) fn import(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    if before(it, node).contains("cfg(not(") {
        let span = it.tree.node(node).byte_range();
        for import in it.b.imports.iter_mut().filter(|i| span.contains(&(i.at as usize))) {
            import.conditional = true;
        }
    }
    it.tell_all(node);
    it.opaque
}

/// Gives a definition what the block around says of its members.
pub(super) fn member(it: &mut Visitor, def: DefIdx, own: Vec<BindingId>) {
    if it.b.defs[def.index()].receiver.is_some() {
        let (bases, type_params) = (it.block.bases.clone(), it.block.type_params.clone());
        let d = &mut it.b.defs[def.index()];
        (d.bases, d.type_params) = (bases, type_params);
    }
    it.b.defs[def.index()].type_params.extend(own);
}

/// The types of a list of them, as one; nothing for fields with names, which are visited.
fn positional(it: &mut Visitor, body: Option<usize>) -> ExprId {
    let Some(body) = body else { return ExprId::NONE };
    if it.tree.node(body).kind() != "ordered_field_declaration_list" {
        it.expr(body, Role::Read);
        return ExprId::NONE;
    }
    let mut elems = Vec::new();
    for child in it.children(body) {
        let is_type = !matches!(it.tree.node(child).kind(), "visibility_modifier" | "attribute_item");
        let ty = it.expr(child, if is_type { Role::Type } else { Role::Read });
        if is_type {
            elems.push(ty);
        }
    }
    let elems = it.b.list(&elems);
    it.node(Shape::Sequence { kind: indexd_model::facts::SequenceKind::Tuple, elems }, it.start(body))
}

/// A struct, an enumeration or a trait.
pub(super) fn type_item(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let parts = [0, 1, 2, 3].map(|n| it.part(node, n));
    let Some(def) = parts[0].and_then(|n| it.def_at(n)) else { return it.opaque };
    bind_self(it, node, Source::Def(def));
    let own = type_params(it, parts[1]);
    let mut bases = Vec::new();
    for child in it.children_of(parts[3]) {
        let ty = it.expr(child, Role::Base);
        if it.tree.node(child).kind() != "lifetime" {
            bases.push(ty);
        }
    }
    others(it, node, &parts);
    let d = &mut it.b.defs[def.index()];
    (d.type_params, d.bases) = (own, bases);
    let outer = std::mem::take(&mut it.block);
    let ty = positional(it, parts[2]);
    it.block = outer;
    it.b.defs[def.index()].ty = ty;
    it.opaque
}

pub(super) fn variant(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let parts = [0, 1, 2].map(|n| it.part(node, n));
    others(it, node, &parts);
    let ty = positional(it, parts[1]);
    it.expr_part(node, 2, Role::Read);
    if let Some(def) = parts[0].and_then(|n| it.def_at(n)) {
        it.b.defs[def.index()].ty = ty;
    }
    it.opaque
}

/// A field, a constant or a static.
pub(super) fn value_item(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let parts = [0, 1, 2].map(|n| it.part(node, n));
    others(it, node, &parts);
    let ty = parts[1].map(|t| it.ty(t));
    it.expr_part(node, 2, Role::Read);
    if let Some(def) = parts[0].and_then(|n| it.def_at(n)) {
        it.b.defs[def.index()].ty = ty.unwrap_or(ExprId::NONE);
        member(it, def, Vec::new());
    }
    it.opaque
}

/// `type A<T> = B`, and a type that a trait asks for.
pub(super) fn alias(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let parts = [0, 1, 2].map(|n| it.part(node, n));
    let own = type_params(it, parts[1]);
    others(it, node, &parts);
    let ty = parts[2].map(|t| it.ty(t));
    if let Some(def) = parts[0].and_then(|n| it.def_at(n)) {
        member(it, def, own);
        it.b.defs[def.index()].ty = ty.unwrap_or(ExprId::NONE);
    }
    it.opaque
}

pub(super) fn impl_item(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let parts = [0, 1, 2, 3].map(|n| it.part(node, n));
    let type_params = type_params(it, parts[0]);
    let of_trait = parts[1].map(|t| it.expr(t, Role::Base));
    let ty = parts[2].map_or(it.opaque, |t| it.ty(t));
    bind_self(it, node, Source::Declared(ty));
    others(it, node, &parts);
    if let Some(def) = it.def_at(node).filter(|d| it.b.defs[d.index()].flags.has(DefFlags::ANONYMOUS)) {
        let d = &mut it.b.defs[def.index()];
        (d.ty, d.type_params) = (ty, type_params.clone());
        d.bases = of_trait.into_iter().collect();
    }
    let bases = [Some(ty), of_trait].into_iter().flatten().collect();
    let outer = std::mem::replace(&mut it.block, Block { bases, type_params });
    it.expr_part(node, 3, Role::Read);
    it.block = outer;
    it.opaque
}

/// `mod a;` may say where its file is and what comes out of it.
pub(super) fn module(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let Some(name) = it.part(node, 0) else { return it.opaque };
    it.tell(name);
    if it.part(node, 1).is_some() {
        let (def, head) = (it.def_at(name), before(it, node));
        mark(it, def, head);
        let outer = std::mem::take(&mut it.block);
        it.expr_part(node, 1, Role::Read);
        it.block = outer;
        return it.opaque;
    }
    let at = it.start(name);
    let head = before(it, node);
    let path = head.split("path").skip(1).find_map(|rest| {
        let rest = rest.trim_start().strip_prefix('=')?.trim_start().strip_prefix('"')?;
        rest.split('"').next()
    });
    let path = path.map(|p| it.b.str(p));
    for import in it.b.imports.iter_mut().filter(|i| i.at == at) {
        (import.name, import.conditional) = (path.or(import.name), head.contains("cfg(not("));
        if head.contains("macro_use") {
            import.kind = ImportKind::Name;
        }
    }
    it.opaque
}

/// The attributes right before a node.
fn before<'s>(it: &Visitor<'_, 's>, node: usize) -> &'s str {
    let mut start = it.tree.node(node).start_byte();
    let end = start;
    for sibling in std::iter::successors(it.tree.sibling_before(node), |n| it.tree.sibling_before(*n)) {
        if !matches!(it.tree.node(sibling).kind(), "attribute_item" | "line_comment" | "block_comment") {
            break;
        }
        start = it.tree.node(sibling).start_byte();
    }
    it.text.get(start..end).unwrap_or("")
}

/// `#[a::b]`, `#[derive(A, b::C)]`.
pub(super) fn attribute(it: &mut Visitor, node: usize, _: Role) -> ExprId {
    let Some(inner) = it.children(node).next() else { return it.opaque };
    let mut parts = it.children(inner);
    let Some(path) = parts.next() else { return it.opaque };
    if holds(ATTRIBUTES, it.slice(path)) {
        if it.slice(path) == "derive" {
            for list in parts {
                super::macros::derives(it, list);
            }
        }
        it.tell_all(node);
        return it.opaque;
    }
    it.expr(path, Role::Decorator);
    it.tell_all(node);
    it.opaque
}

/// Under which keys other files find members of a type, by the name of the type, and the traits that a type has.
pub(super) fn keys(facts: &Facts, idx: DefIdx, _: &str, out: &mut Keys) {
    let def = facts.def(idx);
    if let (Some(_), Some(of)) = (def.receiver, def.bases.first()) {
        let of = format!("rust-of:{}", name_of(facts, *of));
        out.push((Key::member(&of, facts.str(def.name)), idx));
    } else if def.flags.has(DefFlags::ANONYMOUS) {
        out.push((Key::any("rust-impl", name_of(facts, def.ty)), idx));
    } else if def.kind == DefKind::Macro && !def.flags.has(DefFlags::LOCAL) {
        out.push((Key::any("rust-macro", facts.str(def.name)), idx));
    } else if def.kind == DefKind::Alias && def.parent == DefIdx::NONE {
        out.push((Key::any("rust-alias", name_of(facts, def.ty)), idx));
    }
}

/// Under which keys a file is found that declares modules in files of their own.
pub(super) fn file_keys(facts: &Facts, _: &str, out: &mut Keys) {
    for import in facts.interface.imports.iter().filter(|i| i.level == 1) {
        let path = import.name.map(|p| facts.str(p)).and_then(|p| p.rsplit('/').next());
        for name in path.into_iter().chain([facts.str(import.module).trim_start_matches("r#")]) {
            out.push((Key::any("rust-mod", name), DefIdx::NONE));
        }
    }
}

/// The last name of a type behind references: `[]` for lists and tuples, `*` for any type.
fn name_of<'a>(facts: &Facts<'a>, mut e: ExprId) -> &'a str {
    loop {
        match facts.expr(e).node {
            Shape::Name { binding, .. } if binding != BindingId::NONE => return "*",
            Shape::Name { name, .. } => return imported_as(facts, facts.str(name)),
            Shape::Attr { name, .. } => return facts.str(name),
            Shape::Apply { base: of, .. } | Shape::Word { value: of, .. } | Shape::Address { value: of } => {
                e = of
            }
            _ => return "[]",
        }
    }
}

/// The name behind one that an import of the file gives, `use a::T as U`.
fn imported_as<'a>(facts: &Facts<'a>, name: &'a str) -> &'a str {
    let is_it = |i: &&Import| i.alias.is_some_and(|a| facts.str(a) == name);
    let import = facts.interface.imports.iter().find(is_it);
    import.and_then(|i| facts.str(i.module).rsplit("::").next()).unwrap_or(name)
}
