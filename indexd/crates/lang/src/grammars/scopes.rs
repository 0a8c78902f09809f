//! Uses of names, as far as the scopes of one file tell what they are not: a name that a function or
//! block around it binds is local, any other is a name of the file or comes from outside.
//!
//! Two passes over the nodes. The first notes what each scope binds, wherever in it, which is how
//! hoisting works and errs on the side of "local" elsewhere; the second walks in the same order and
//! adds an expression for each use.

mod words;

use super::flat::Flat;
use super::kinds::{Bind, FIRST_FIELD, Kind, Kinds};
use super::missed;
use super::pass::Pass;
use super::table::{Rebinds, Scopes};
use crate::builder::Builder;
use indexd_model::limits::PARSE_DEPTH_MAX;
use indexd_model::{BindingId, BindingKind, DefFlags, DefIdx, ExprId, Node as Shape, Role, Source, StrId};
use rustc_hash::{FxHashMap, FxHashSet};

pub use words::Words;

/// Adds the uses of names in the tree of `text`, whose definitions are in `b`.
pub(super) fn uses<'s>(
    b: &mut Builder<'s>,
    text: &'s str,
    table: &'static Scopes,
    kinds: &Kinds,
    tree: &Flat,
) {
    let mut it = Uses::collected(b, text, table, kinds, tree);
    it.next = 1;
    it.walk(0, Place { scopes: &[0], role: Role::Read, this: DefIdx::NONE, is_rebound: false, depth: 0 });
    it.end(&|kind| table.is_name(kind));
}

/// What a name is where it is bound.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Bound {
    Local,
    /// A definition that is not at file level.
    Def(DefIdx),
    /// A definition at file level.
    File,
}

pub(super) struct Scope<'s> {
    pub(super) names: FxHashMap<&'s str, Bound>,
    is_function: bool,
}

impl Scope<'_> {
    fn new(is_function: bool) -> Self {
        Self { names: FxHashMap::default(), is_function }
    }
}

/// Reads uses of names.
pub(super) type Uses<'b, 's> = Pass<'b, 's, Names<'b, 's>>;

/// The names that a file binds.
pub(super) struct Names<'b, 's> {
    table: &'static Scopes,
    kinds: &'b Kinds,
    /// Names of functions and methods.
    callables: FxHashSet<StrId>,
    pub(super) scopes: Vec<Scope<'s>>,
    /// The scopes by the nodes that open them.
    pub(super) opened: FxHashMap<usize, usize>,
    /// Where names are bound.
    pub(super) bound: FxHashSet<u32>,
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
    /// Whether a name without a value may be a member of a value that is not known.
    is_rebound: bool,
    depth: usize,
}

impl<'b, 's> Uses<'b, 's> {
    /// The first pass over a tree.
    pub(super) fn collected(
        b: &'b mut Builder<'s>,
        text: &'s str,
        table: &'static Scopes,
        kinds: &'b Kinds,
        tree: &'b Flat<'b>,
    ) -> Self {
        let callables = b.defs.iter().filter(|d| d.kind.is_callable()).map(|d| d.name).collect();
        let (opened, bound) = (FxHashMap::default(), FxHashSet::default());
        let scopes = vec![Scope::new(true)];
        let own = Names { table, kinds, callables, scopes, opened, bound, next: 0 };
        let mut it = Pass::new(b, text, tree, own);
        it.collect(0, &mut vec![0], 0);
        it
    }

    fn kind(&self, at: usize) -> &'b Kind {
        self.kinds.of(self.tree.kind_id(at))
    }

    // ---- first pass

    fn collect(&mut self, node: usize, open: &mut Vec<usize>, depth: usize) {
        if depth >= PARSE_DEPTH_MAX {
            return;
        }
        let kind = self.kind(node);
        // A declaration binds its name around itself, an expression inside.
        let is_outer = kind.opens.is_some() && kind.is_declaration;
        if is_outer {
            self.bind(node, kind, open);
        }
        if let Some(is_function) = kind.opens {
            self.scopes.push(Scope::new(is_function));
            let opened = self.scopes.len() - 1;
            open.push(opened);
            self.opened.insert(node, opened);
        }
        if !is_outer {
            self.bind(node, kind, open);
        }
        let tree = self.tree;
        for child in tree.children(node) {
            self.collect(child, open, depth + 1);
        }
        if kind.opens.is_some() {
            open.pop();
        }
    }

    fn bind(&mut self, node: usize, kind: &Kind, open: &[usize]) {
        if kind.binds[0].is_none() {
            return;
        }
        let is_pattern = self.table.has_constant_patterns && !kind.is_parameter;
        let tree = self.tree;
        let of = |bind: Bind| -> Vec<usize> {
            match bind {
                Bind::Whole => vec![node],
                Bind::First => tree.children(node).take(1).collect(),
                Bind::Field(field, name) => match tree.in_field(node, field) {
                    Some(_) => tree.tokens(node).filter(|c| tree.field(*c) == field).collect(),
                    None => tree.children(node).filter(|c| tree.node(*c).kind() == name).collect(),
                },
            }
        };
        let patterns: Vec<usize> = kind.binds.into_iter().flatten().flat_map(of).collect();
        let is_hoisted = tree.parent(node).is_some_and(|p| self.kind(p).is_hoisted);
        let scope = match is_hoisted {
            true => open.iter().rev().find(|s| self.scopes[**s].is_function),
            false => open.last(),
        };
        let scope = scope.copied().unwrap_or(0);
        patterns.into_iter().for_each(|p| self.bind_pattern(p, scope, is_pattern, 0));
    }

    fn bind_pattern(&mut self, pattern: usize, scope: usize, is_pattern: bool, depth: usize) {
        let kind = self.kind(pattern);
        if kind.member.is_some() || kind.method.is_some() || kind.is_chain {
            return;
        }
        if kind.is_name || kind.is_type {
            let (name, at) = (self.slice(pattern), self.start(pattern));
            // A constant, or what takes a value apart.
            let end = self.tree.node(pattern).end_byte();
            if is_pattern && (name.starts_with(char::is_uppercase) || missed::is_called(self.text, end)) {
                return;
            }
            let what = match self.by_name.get(&at) {
                Some(def) if self.is_plain_local(*def) => Bound::Local,
                Some(def) if self.b.defs[def.index()].parent == DefIdx::NONE => Bound::File,
                Some(def) => Bound::Def(*def),
                None => Bound::Local,
            };
            self.bound.insert(at);
            // A constructor bears the name of its type, a destructor the same behind a sign: neither is
            // what the name means.
            let is_in_type = |d: DefIdx| self.b.defs[d.index()].kind.is_type();
            let is_member = |d: DefIdx| {
                let def = &self.b.defs[d.index()];
                def.kind.is_callable()
                    && (def.receiver.is_some() || def.parent.some().is_some_and(is_in_type))
            };
            if matches!(what, Bound::Def(def) if is_member(def)) || self.is_destructor(pattern) {
                return;
            }
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
        let tree = self.tree;
        for child in tree.children(pattern) {
            // Defaults, keys and types are uses.
            let field = tree.field(child);
            let is_used = field != 0 && self.kinds.used.contains(&field);
            if !is_used || kind.is_pair_pattern && field == self.kinds.value {
                self.bind_pattern(child, scope, is_pattern, depth + 1);
            }
        }
    }

    fn is_destructor(&self, name: usize) -> bool {
        self.tree.parent(name).is_some_and(|p| self.tree.node(p).kind() == "destructor_name")
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
    fn walk(&mut self, node: usize, place: Place) -> ExprId {
        let kind = self.kind(node);
        if kind.is_passed {
            self.tell_all(node);
        }
        if let Some(words) = kind.words {
            self.words(node, words, place);
        }
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
        let opened: Vec<usize>;
        let mut inner = self.inside(node, kind, place);
        if kind.opens.is_some() {
            opened = place.scopes.iter().copied().chain([self.next]).collect();
            self.next += 1;
            inner.scopes = &opened;
        }
        let (mut passed_on, mut of_first) = (kind.is_through.then_some(place.role), self.opaque);
        let is_first_called = kind.call == Some(FIRST_FIELD);
        let mut is_first = true;
        let tree = self.tree;
        let label = self.label_in(node, kind);
        label.into_iter().for_each(|l| self.tell(l));
        for child in tree.children(node).filter(|c| Some(*c) != label) {
            let field = tree.field(child);
            let is_called = field != 0 && kind.call == Some(field)
                || is_first_called && std::mem::replace(&mut is_first, false);
            let is_argument = field != 0 && self.kinds.arguments.contains(&field);
            let role = match inner.role {
                _ if passed_on.is_some() => passed_on.unwrap_or(inner.role),
                _ if is_called => Role::Call,
                Role::Base if is_argument || self.kind(child).is_type_arguments => Role::Read,
                role => role,
            };
            let walked = self.walk(child, Place { role, ..inner });
            if passed_on.take().is_some() {
                of_first = walked;
            }
        }
        of_first
    }

    /// The place of what is inside a node, in the scopes around it.
    fn inside<'p>(&self, node: usize, kind: &Kind, place: Place<'p>) -> Place<'p> {
        let mut inner = Place { depth: place.depth + 1, role: Role::Read, ..place };
        if kind.gives_this {
            let named = self.tree.parent(node).and_then(|p| self.tree.in_field(p, self.kinds.name));
            inner.this =
                named.and_then(|n| self.by_name.get(&self.start(n)).copied()).unwrap_or(DefIdx::NONE);
        } else if kind.drops_this {
            inner.this = DefIdx::NONE;
        }
        if kind.rebinds {
            inner.is_rebound |= self.is_rebound(node);
        } else if kind.opens == Some(true) && self.by_name.contains_key(&self.name_of(node)) {
            inner.is_rebound = false;
        }
        if kind.is_base || place.role == Role::Base && kind.call.is_none() {
            inner.role = Role::Base;
        }
        inner
    }

    fn name(&mut self, node: usize, kind: &Kind, place: Place) -> ExprId {
        let at = self.start(node);
        if self.bound.contains(&at) || self.by_name.contains_key(&at) || self.is_destructor(node) {
            self.tell(node);
            return self.opaque;
        }
        let text = self.slice(node);
        if text != "$this" && text.starts_with(['$', '"', '\'', '-', '/'])
            || text.contains(char::is_whitespace)
        {
            return self.without_name(node, text, place);
        }
        if place.role != Role::Call {
            self.tell(node);
        }
        let role = if kind.is_type && place.role == Role::Read { Role::Type } else { place.role };
        // Elements of JSX that start with a small letter are of the page.
        let is_element = role == Role::Call && text.starts_with(|c: char| c.is_lowercase());
        if is_element && self.tree.parent(node).is_some_and(|p| self.kind(p).is_of_page) {
            return self.opaque;
        }
        self.named(text, at, role, place)
    }

    /// What a name at a place refers to.
    fn named(&mut self, text: &'s str, at: u32, role: Role, place: Place) -> ExprId {
        let name = self.b.str(text);
        let found = place.scopes.iter().rev().find_map(|s| self.scopes[*s].names.get(text).copied());
        match found {
            Some(Bound::Local) => self.opaque,
            Some(Bound::Def(def)) => {
                let binding = self.b.bind(name, at, DefIdx::NONE, BindingKind::Def);
                self.b.source(binding, Source::Def(def));
                self.b.expr(Shape::Name { name, binding }, at, role)
            }
            _ if self.is_open(text, role, place) => {
                self.b.expr(Shape::Attr { base: self.opaque, name }, at, role)
            }
            Some(Bound::File) | None => self.b.expr(Shape::Name { name, binding: BindingId::NONE }, at, role),
        }
    }

    /// Notes what an expression in the place of a name refers to: a variable, or what a command prints.
    fn without_name(&mut self, node: usize, text: &str, place: Place) -> ExprId {
        if text.starts_with('$') {
            self.tell_all(node);
        }
        // The name of a command may be what another one prints.
        if text.contains('(') {
            self.uses_in(node, place);
        }
        self.opaque
    }

    /// The uses in what is in a node.
    fn uses_in(&mut self, node: usize, place: Place) {
        let tree = self.tree;
        let inner = Place { role: Role::Read, depth: place.depth + 1, ..place };
        tree.children(node).for_each(|child| {
            self.walk(child, inner);
        });
    }

    fn this(&mut self, node: usize, place: Place) -> ExprId {
        if place.this == DefIdx::NONE {
            return self.opaque;
        }
        let at = self.start(node);
        let name = self.b.str("this");
        let binding = self.b.bind(name, at, DefIdx::NONE, BindingKind::Receiver);
        self.b.source(binding, Source::Def(place.this));
        self.b.node(Shape::Name { name, binding }, at)
    }

    fn member(&mut self, node: usize, object: u16, name: u16, place: Place) -> ExprId {
        let (object, name) = (self.tree.in_field(node, object), self.tree.in_field(node, name));
        let Some(name) = name else { return self.opaque };
        let inner = Place { role: Role::Read, depth: place.depth + 1, ..place };
        // `::a::f` of C++ starts outside of everything.
        if object.is_none() && !self.tree.is_leaf(name) {
            return self.walk(name, Place { role: place.role, ..inner });
        }
        let base = object.map_or(self.opaque, |o| self.walk(o, inner));
        // `C::$name` of PHP.
        let is_static = self.tree.node(node).kind() == "scoped_property_access_expression";
        let name = self.tree.children(name).next().filter(|_| is_static).unwrap_or(name);
        if !self.tree.is_leaf(name) {
            self.walk(name, inner);
            return self.opaque;
        }
        let role = if place.role == Role::Read && self.kind(name).is_type { Role::Type } else { place.role };
        let (at, name) = (self.start(name), self.slice(name));
        if self.by_name.contains_key(&at) {
            return self.opaque;
        }
        let name = self.b.str(name);
        self.b.expr(Shape::Attr { base, name }, at, role)
    }
}

/// Keys, and blocks that run with another value.
impl Uses<'_, '_> {
    /// The key among the children of a node.
    fn label_in(&self, node: usize, kind: &Kind) -> Option<usize> {
        let (field, around) = kind.label?;
        let parent = self.tree.parent(node).map_or("", |p| self.tree.node(p).kind());
        if around.is_some_and(|a| a != parent) || self.tree.children(node).nth(1).is_none() {
            return None;
        }
        match field {
            FIRST_FIELD => self.tree.children(node).next(),
            field => self.tree.in_field(node, field),
        }
    }

    /// Where the name of a node stands.
    fn name_of(&self, node: usize) -> u32 {
        self.tree.in_field(node, self.kinds.name).map_or(u32::MAX, |n| self.start(n))
    }

    /// Whether the call that a block stands behind may run it with another value than the one around.
    fn is_rebound(&self, block: usize) -> bool {
        let mut call = self.tree.parent(block);
        while call.is_some_and(|c| self.start(c) == self.start(block)) {
            call = call.and_then(|c| self.tree.parent(c));
        }
        let from = call.map_or(0, |c| self.start(c)) as usize;
        let head = self.text.get(from..self.start(block) as usize).unwrap_or("").trim();
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '?' | '!');
        match self.table.rebinds {
            Rebinds::None => false,
            Rebinds::Of(_, calls) => {
                let name = called(head);
                calls.contains(&name) || name.starts_with("build")
            }
            Rebinds::Bare(_, kept) => {
                let end = head.find(|c: char| !is_part(c)).unwrap_or(head.len());
                let has_value = head[end..].starts_with(['.', ':', '&', '[']) || end == 0;
                !has_value && !kept.contains(&&head[..end])
            }
        }
    }

    /// Whether a name without a value may be a member of one that is not known.
    fn is_open(&self, name: &str, role: Role, place: Place) -> bool {
        let is_value = matches!(role, Role::Call | Role::Read | Role::Write);
        place.is_rebound && is_value && !name.starts_with(char::is_uppercase)
    }
}

/// The name of what is called with a block: behind the last dot, before its arguments.
fn called(mut head: &str) -> &str {
    if head.ends_with(')') {
        let mut depth = 0;
        let open = head.rfind(|c| {
            depth += i32::from(c == ')') - i32::from(c == '(');
            c == '(' && depth == 0
        });
        head = &head[..open.unwrap_or(0)];
    }
    let start = head.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |i| i + 1);
    &head[start..]
}

/// Calls with a place for the value, and chains of names.
impl Uses<'_, '_> {
    fn method(&mut self, node: usize, object: u16, name: u16, place: Place) -> ExprId {
        let inner = Place { role: Role::Read, depth: place.depth + 1, ..place };
        let object = self.tree.in_field(node, object);
        let name = self.tree.in_field(node, name);
        let base = object.map(|o| self.walk(o, inner));
        if let Some(name) = name.filter(|n| self.tree.is_leaf(*n)) {
            let (at, text) = (self.start(name), self.slice(name));
            if !self.by_name.contains_key(&at) && !text.starts_with('$') {
                let name = self.b.str(text);
                let shape = match base {
                    Some(base) => Shape::Attr { base, name },
                    None if self.is_open(text, Role::Call, place) => Shape::Attr { base: self.opaque, name },
                    None => Shape::Name { name, binding: BindingId::NONE },
                };
                self.b.expr(shape, at, Role::Call);
            }
        }
        let tree = self.tree;
        for child in tree.children(node) {
            if Some(child) != object && Some(child) != name {
                self.walk(child, inner);
            }
        }
        self.opaque
    }

    /// `a.b.C<D>`: the first child is a value, each name behind it a member.
    fn chain(&mut self, node: usize, place: Place) -> ExprId {
        let inner = Place { role: Role::Read, depth: place.depth + 1, ..place };
        let parts: Vec<usize> = self.tree.children(node).collect();
        let is_link = |it: &Self, n: usize| it.tree.is_leaf(n) && (it.kind(n).is_name || it.kind(n).is_type);
        let last = parts.iter().rposition(|n| is_link(self, *n)).unwrap_or(0);
        let is_type = self.tree.node(node).kind().contains("type");
        let mut base = None;
        for (i, part) in parts.into_iter().enumerate() {
            let role = match place.role {
                _ if i != last => Role::Read,
                Role::Read if is_type => Role::Type,
                role => role,
            };
            match base {
                None => base = Some(self.walk(part, Place { role, ..inner })),
                Some(of) if is_link(self, part) => {
                    let (at, name) = (self.start(part), self.id(part));
                    base = Some(self.b.expr(Shape::Attr { base: of, name }, at, role));
                }
                Some(_) => {
                    self.walk(part, inner);
                }
            }
        }
        base.unwrap_or(self.opaque)
    }
}
