//! Uses of names, as far as the scopes of one file tell what they are not: a name that a function or
//! block around it binds is local, any other is a name of the file or comes from outside.
//!
//! Two passes over the tree. The first notes what each scope binds, wherever in it, which is how
//! hoisting works and errs on the side of "local" elsewhere; the second walks in the same order and
//! adds an expression for each use.

use super::table::Scopes;
use crate::builder::Builder;
use indexd_model::limits::PARSE_DEPTH_MAX;
use indexd_model::{BindingId, BindingKind, DefFlags, DefIdx, ExprId, Node as Shape, Role, Source};
use rustc_hash::{FxHashMap, FxHashSet};
use tree_sitter::{Language, Node};

/// Adds the uses of names in the tree of `text`, whose definitions are in `b`.
pub(super) fn uses<'s>(
    b: &mut Builder<'s>,
    text: &'s str,
    parser: &Language,
    table: &'static Scopes,
    root: Node,
) {
    let kinds = Kinds::new(parser, table);
    let by_name = b.defs.iter().enumerate().map(|(i, d)| (d.name_span.start, DefIdx(i as u32))).collect();
    let opaque = b.node(Shape::Opaque, 0);
    let (scopes, bound) = (Vec::new(), FxHashSet::default());
    let mut it = Uses { b, text, table, kinds, by_name, scopes, bound, opaque, next: 0 };
    it.scopes.push(Scope { names: FxHashMap::default(), is_function: true });
    it.collect(root, &mut vec![0], 0);
    it.next = 1;
    it.walk(root, Place { scopes: &[0], role: Role::Read, this: DefIdx::NONE, depth: 0 });
}

/// Stands for the first child where a table names a field.
pub(super) const FIRST: &str = "0";

/// What a kind of node is to scopes.
#[derive(Clone, Copy, Default)]
struct Kind {
    opens: Option<bool>,
    is_name: bool,
    is_type: bool,
    is_base: bool,
    is_hoisted: bool,
    is_this: bool,
    gives_this: bool,
    drops_this: bool,
    is_passed: bool,
    bind: Option<&'static str>,
    member: Option<(&'static str, &'static str)>,
    method: Option<(&'static str, &'static str)>,
    call: Option<&'static str>,
    is_chain: bool,
    is_through: bool,
    is_tokens: bool,
}

struct Kinds(Vec<Kind>);

impl Kinds {
    fn new(parser: &Language, table: &'static Scopes) -> Self {
        let mut all = vec![Kind::default(); parser.node_kind_count()];
        for (id, kind) in all.iter_mut().enumerate() {
            let Some(name) = parser.node_kind_for_id(id as u16) else { continue };
            if !parser.node_kind_is_named(id as u16) {
                continue;
            }
            let has = |list: &[&str]| list.contains(&name);
            kind.opens = if has(table.functions) { Some(true) } else { has(table.blocks).then_some(false) };
            kind.is_name = has(table.names);
            kind.is_type = has(table.types);
            kind.is_base = has(table.bases);
            kind.is_hoisted = has(table.hoisted);
            kind.is_this = name == table.this;
            kind.gives_this = name == table.this_from;
            kind.drops_this = has(table.no_this);
            kind.is_passed = has(table.passed);
            kind.bind = table.binds.iter().find(|b| b.0 == name).map(|b| b.1);
            kind.member = table.members.iter().find(|m| m.0 == name).map(|m| (m.1, m.2));
            kind.method = table.methods.iter().find(|m| m.0 == name).map(|m| (m.1, m.2));
            kind.call = table.calls.iter().find(|c| c.0 == name).map(|c| c.1);
            kind.is_chain = has(table.chains);
            kind.is_through = has(table.through);
            kind.is_tokens = has(table.tokens);
        }
        Self(all)
    }

    fn of(&self, node: Node) -> Kind {
        self.0.get(usize::from(node.kind_id())).copied().unwrap_or_default()
    }
}

/// What a name is where it is bound.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bound {
    Local,
    /// A definition that is not at file level.
    Def(DefIdx),
    /// A definition at file level.
    File,
}

struct Scope<'s> {
    names: FxHashMap<&'s str, Bound>,
    is_function: bool,
}

struct Uses<'b, 's> {
    b: &'b mut Builder<'s>,
    text: &'s str,
    table: &'static Scopes,
    kinds: Kinds,
    by_name: FxHashMap<u32, DefIdx>,
    scopes: Vec<Scope<'s>>,
    /// Where names are bound.
    bound: FxHashSet<u32>,
    opaque: ExprId,
    /// The scope that opens next in the second pass.
    next: usize,
}

/// Where the second pass is.
#[derive(Clone, Copy)]
struct Place<'p> {
    scopes: &'p [usize],
    role: Role,
    /// The type whose value `this` is.
    this: DefIdx,
    depth: usize,
}

impl<'s> Uses<'_, 's> {
    fn slice(&self, node: Node) -> &'s str {
        self.text.get(node.byte_range()).unwrap_or("")
    }

    // ---- first pass

    fn collect(&mut self, node: Node, open: &mut Vec<usize>, depth: usize) {
        if depth >= PARSE_DEPTH_MAX {
            return;
        }
        let kind = self.kinds.of(node);
        // A declaration binds its name around itself, an expression inside.
        let is_outer = kind.opens.is_some() && is_declaration(node.kind());
        if is_outer {
            self.bind(node, kind, open);
        }
        if let Some(is_function) = kind.opens {
            self.scopes.push(Scope { names: FxHashMap::default(), is_function });
            open.push(self.scopes.len() - 1);
        }
        if !is_outer {
            self.bind(node, kind, open);
        }
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            self.collect(child, open, depth + 1);
        }
        if kind.opens.is_some() {
            open.pop();
        }
    }

    fn bind(&mut self, node: Node, kind: Kind, open: &[usize]) {
        let Some(field) = kind.bind else { return };
        let is_pattern = self.table.has_constant_patterns && !node.kind().contains("parameter");
        let mut cursor = node.walk();
        let patterns: Vec<Node> = match field {
            "" => vec![node],
            FIRST => node.named_children(&mut cursor).take(1).collect(),
            field => match node.child_by_field_name(field) {
                Some(_) => node.children_by_field_name(field, &mut cursor).collect(),
                None => node.named_children(&mut cursor).filter(|c| c.kind() == field).collect(),
            },
        };
        let is_hoisted = node.parent().is_some_and(|p| self.kinds.of(p).is_hoisted);
        let scope = match is_hoisted {
            true => open.iter().rev().find(|s| self.scopes[**s].is_function),
            false => open.last(),
        };
        let scope = scope.copied().unwrap_or(0);
        patterns.into_iter().for_each(|p| self.bind_pattern(p, scope, is_pattern, 0));
    }

    fn bind_pattern(&mut self, pattern: Node, scope: usize, is_pattern: bool, depth: usize) {
        let kind = self.kinds.of(pattern);
        if kind.member.is_some() || kind.method.is_some() || kind.is_chain {
            return;
        }
        if kind.is_name || kind.is_type {
            let (name, at) = (self.slice(pattern), pattern.start_byte() as u32);
            if is_pattern && name.starts_with(char::is_uppercase) {
                return;
            }
            let what = match self.by_name.get(&at) {
                Some(def) if self.is_plain_local(*def) => Bound::Local,
                Some(def) if self.b.defs[def.index()].parent == DefIdx::NONE => Bound::File,
                Some(def) => Bound::Def(*def),
                None => Bound::Local,
            };
            self.bound.insert(at);
            let is_import = scope == 0 && what == Bound::Local && self.is_import(name);
            let what = if is_import { Bound::File } else { what };
            let known = self.scopes[scope].names.entry(name).or_insert(what);
            if what == Bound::Local {
                *known = what;
            }
            return;
        }
        if depth > 16 {
            return;
        }
        let mut cursor = pattern.walk();
        if !cursor.goto_first_child() {
            return;
        }
        loop {
            // Defaults, keys and types are uses.
            let binds = !matches!(
                cursor.field_name(),
                Some("right" | "key" | "type" | "value" | "size" | "default_value" | "condition")
            ) || pattern.kind() == "pair_pattern" && cursor.field_name() == Some("value");
            if binds && cursor.node().is_named() {
                self.bind_pattern(cursor.node(), scope, is_pattern, depth + 1);
            }
            if !cursor.goto_next_sibling() {
                return;
            }
        }
    }

    fn is_plain_local(&self, def: DefIdx) -> bool {
        let def = &self.b.defs[def.index()];
        let is_value = !def.kind.is_callable() && !def.kind.is_type();
        self.table.has_plain_locals && def.flags.has(DefFlags::LOCAL) && is_value
    }

    fn is_import(&self, name: &str) -> bool {
        self.b.imports.iter().any(|i| i.alias.is_some_and(|a| self.b.text(a) == name))
    }

    // ---- second pass

    /// Adds the uses in a node; gives the expression of a name or member, else the opaque one.
    fn walk(&mut self, node: Node, place: Place) -> ExprId {
        let kind = self.kinds.of(node);
        if place.depth >= PARSE_DEPTH_MAX || kind.is_passed {
            return self.opaque;
        }
        if kind.is_name || kind.is_type {
            return self.name(node, kind, place);
        }
        if kind.is_this {
            return self.this(node, place);
        }
        if let Some((object, name)) = kind.member {
            return self.member(node, object, name, place);
        }
        if let Some((object, name)) = kind.method {
            return self.method(node, object, name, place);
        }
        if kind.is_chain {
            return self.chain(node, place);
        }
        if kind.is_tokens {
            return self.tokens(node, place);
        }
        let opened: Vec<usize>;
        let mut inner = Place { depth: place.depth + 1, role: Role::Read, ..place };
        if kind.opens.is_some() {
            opened = place.scopes.iter().copied().chain([self.next]).collect();
            self.next += 1;
            inner.scopes = &opened;
        }
        if kind.gives_this {
            let named = node.parent().and_then(|p| p.child_by_field_name("name"));
            inner.this = named
                .and_then(|n| self.by_name.get(&(n.start_byte() as u32)).copied())
                .unwrap_or(DefIdx::NONE);
        } else if kind.drops_this {
            inner.this = DefIdx::NONE;
        }
        if kind.is_base || place.role == Role::Base && kind.call.is_none() {
            inner.role = Role::Base;
        }
        let mut cursor = node.walk();
        if !cursor.goto_first_child() {
            return self.opaque;
        }
        let mut passed_on = kind.is_through.then_some(place.role);
        let mut of_first = self.opaque;
        let is_first_called = kind.call == Some(FIRST);
        let mut is_first = true;
        loop {
            if cursor.node().is_named() {
                let is_called = kind.call.is_some() && cursor.field_name() == kind.call
                    || is_first_called && std::mem::replace(&mut is_first, false);
                let is_argument = matches!(cursor.field_name(), Some("arguments" | "type_arguments"));
                let role = match inner.role {
                    _ if passed_on.is_some() => passed_on.unwrap_or(inner.role),
                    _ if is_called => Role::Call,
                    Role::Base if is_argument || cursor.node().kind() == "type_arguments" => Role::Read,
                    role => role,
                };
                let walked = self.walk(cursor.node(), Place { role, ..inner });
                if passed_on.take().is_some() {
                    of_first = walked;
                }
            }
            if !cursor.goto_next_sibling() {
                break;
            }
        }
        of_first
    }

    fn name(&mut self, node: Node, kind: Kind, place: Place) -> ExprId {
        let at = node.start_byte() as u32;
        if self.bound.contains(&at) || self.by_name.contains_key(&at) {
            return self.opaque;
        }
        let text = self.slice(node);
        if text != "$this" && text.starts_with(['$', '"', '\'', '-', '/'])
            || text.contains(char::is_whitespace)
        {
            return self.opaque;
        }
        let role = if kind.is_type && place.role == Role::Read { Role::Type } else { place.role };
        // Elements of JSX that start with a small letter are of the page.
        let is_element = role == Role::Call && text.starts_with(|c: char| c.is_lowercase());
        if is_element && node.parent().is_some_and(|p| p.kind().starts_with("jsx_")) {
            return self.opaque;
        }
        let name = self.b.str(text);
        let found = place.scopes.iter().rev().find_map(|s| self.scopes[*s].names.get(text).copied());
        match found {
            Some(Bound::Local) => self.opaque,
            Some(Bound::Def(def)) => {
                let binding = self.b.bind(name, at, DefIdx::NONE, BindingKind::Def);
                self.b.source(binding, Source::Def(def));
                self.b.expr(Shape::Name { name, binding }, at, role)
            }
            Some(Bound::File) | None => self.b.expr(Shape::Name { name, binding: BindingId::NONE }, at, role),
        }
    }

    fn this(&mut self, node: Node, place: Place) -> ExprId {
        if place.this == DefIdx::NONE {
            return self.opaque;
        }
        let at = node.start_byte() as u32;
        let name = self.b.str("this");
        let binding = self.b.bind(name, at, DefIdx::NONE, BindingKind::Receiver);
        self.b.source(binding, Source::Def(place.this));
        self.b.node(Shape::Name { name, binding }, at)
    }

    fn member(&mut self, node: Node, object: &str, name: &str, place: Place) -> ExprId {
        let (Some(object), Some(name)) = (node.child_by_field_name(object), node.child_by_field_name(name))
        else {
            return self.opaque;
        };
        let inner = Place { role: Role::Read, depth: place.depth + 1, ..place };
        let base = self.walk(object, inner);
        if name.child_count() > 0 {
            self.walk(name, inner);
            return self.opaque;
        }
        let role =
            if place.role == Role::Read && self.kinds.of(name).is_type { Role::Type } else { place.role };
        let (at, name) = (name.start_byte() as u32, self.slice(name));
        if self.by_name.contains_key(&at) {
            return self.opaque;
        }
        let name = self.b.str(name);
        self.b.expr(Shape::Attr { base, name }, at, role)
    }
}

/// Calls with a place for the value, chains of names, and tokens.
impl Uses<'_, '_> {
    fn method(&mut self, node: Node, object: &str, name: &str, place: Place) -> ExprId {
        let inner = Place { role: Role::Read, depth: place.depth + 1, ..place };
        let object = node.child_by_field_name(object);
        let name = node.child_by_field_name(name);
        let base = object.map(|o| self.walk(o, inner));
        if let Some(name) = name.filter(|n| n.child_count() == 0) {
            let (at, text) = (name.start_byte() as u32, self.slice(name));
            if !self.by_name.contains_key(&at) && !text.starts_with('$') {
                let name = self.b.str(text);
                let shape = match base {
                    Some(base) => Shape::Attr { base, name },
                    None => Shape::Name { name, binding: BindingId::NONE },
                };
                self.b.expr(shape, at, Role::Call);
            }
        }
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            if Some(child) != object && Some(child) != name {
                self.walk(child, inner);
            }
        }
        self.opaque
    }

    /// `a.b.C<D>`: the first child is a value, each name behind it a member.
    fn chain(&mut self, node: Node, place: Place) -> ExprId {
        let inner = Place { role: Role::Read, depth: place.depth + 1, ..place };
        let mut cursor = node.walk();
        let parts: Vec<Node> = node.named_children(&mut cursor).collect();
        let is_link =
            |n: &Node| n.child_count() == 0 && (self.kinds.of(*n).is_name || self.kinds.of(*n).is_type);
        let last = parts.iter().rposition(is_link).unwrap_or(0);
        let is_type = node.kind().contains("type");
        let mut base = None;
        for (i, part) in parts.into_iter().enumerate() {
            let role = match place.role {
                _ if i != last => Role::Read,
                Role::Read if is_type => Role::Type,
                role => role,
            };
            let link =
                part.child_count() == 0 && (self.kinds.of(part).is_name || self.kinds.of(part).is_type);
            match base {
                None => base = Some(self.walk(part, Place { role, ..inner })),
                Some(of) if link => {
                    let (at, name) = (part.start_byte() as u32, self.b.str(self.slice(part)));
                    base = Some(self.b.expr(Shape::Attr { base: of, name }, at, role));
                }
                Some(_) => {
                    self.walk(part, inner);
                }
            }
        }
        base.unwrap_or(self.opaque)
    }

    /// The arguments of a macro: names behind `::` are members, those behind a dot members of a
    /// value, and a name before brackets is called.
    fn tokens(&mut self, node: Node, place: Place) -> ExprId {
        let inner = Place { role: Role::Read, depth: place.depth + 1, ..place };
        let mut cursor = node.walk();
        let all: Vec<Node> = node.children(&mut cursor).collect();
        let mut base: Option<ExprId> = None;
        for (i, part) in all.iter().enumerate() {
            let kind = self.kinds.of(*part);
            if !(kind.is_name || kind.is_type) {
                if !matches!(part.kind(), "." | "::") {
                    base = None;
                    self.walk(*part, inner);
                }
                continue;
            }
            let next = all.get(i + 1).map_or("", |n| self.slice(*n));
            let role = if next.starts_with('(') { Role::Call } else { Role::Read };
            let before = i.checked_sub(1).map_or("", |b| all[b].kind());
            base = Some(match before {
                "." | "::" => {
                    let (at, name) = (part.start_byte() as u32, self.b.str(self.slice(*part)));
                    let of = base.unwrap_or(self.opaque);
                    self.b.expr(Shape::Attr { base: of, name }, at, role)
                }
                _ => self.walk(*part, Place { role, ..inner }),
            });
        }
        self.opaque
    }
}

fn is_declaration(kind: &str) -> bool {
    kind.ends_with("declaration") || kind.ends_with("signature") || kind.ends_with("module")
}
