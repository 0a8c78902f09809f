//! The second pass over a file of TypeScript or JavaScript: names get their bindings, and each use, type and
//! value an expression, so that types can be found later.
//!
//! Definitions come from the table of the language; this pass fills in their types, values, parameters and
//! results. Shapes that are the same for every language are documented at [`Shape`]; the others: an object
//! literal is a [`Shape::Composite`] of [`Shape::Keyword`]s whose places are those of the keys, so is a type
//! literal; a property without a definition has no other place. A promise is [`Shape::Address`] of its
//! result, a call with `new` calls a [`Shape::Word`], a type with arguments is a [`Shape::Apply`], a
//! conditional type one of a [`Shape::Compare`], a string that matters by its text a [`Shape::Quoted`] name,
//! and an element of JSX a call with the literal of its attributes.

use super::super::flat::Flat;
use super::super::kinds::Kinds as ScopeKinds;
use super::super::pass::Pass;
use super::super::scopes::{Bound, Names, Uses};
use super::super::table::Scopes;
use super::kinds::{Fields, K, Kinds};
use super::narrow::Narrowed;
use crate::builder::Builder;
use indexd_model::facts::LiteralKind;
use indexd_model::limits::PARSE_DEPTH_MAX;
use indexd_model::{BindingId, BindingKind, DefFlags, DefIdx, ExprId, Node as Shape, Role, Source};
use rustc_hash::{FxHashMap, FxHashSet};

/// Bytes of a string whose text may tell types apart.
const TEXT_BYTES_MAX: usize = 40;

/// Adds the uses of names in the tree of `text`, whose definitions are in `b`, and all that tells types.
pub(in super::super) fn uses<'s>(
    b: &mut Builder<'s>,
    text: &'s str,
    table: &'static Scopes,
    kinds: (&ScopeKinds, &Kinds),
    tree: &Flat,
) {
    let imports = b.imports.iter().map(|i| i.at).collect();
    let mut it = Uses::collected(b, text, table, kinds.0, tree).with(|names| State {
        names,
        kinds: kinds.1,
        is_typed: !table.types.is_empty(),
        f: kinds.1.fields,
        scopes: vec![0],
        locals: FxHashMap::default(),
        imports,
        enumeration: DefIdx::NONE,
        functions: Vec::new(),
        this: This::None,
        narrowed: Vec::new(),
        depth: 0,
    });
    it.inside(0);
    it.end(&|kind| table.is_name(kind));
}

/// The value of `this`.
#[derive(Clone, Copy)]
pub(super) enum This {
    None,
    /// A value of the class, or the class itself where `member` is static.
    Class {
        class: DefIdx,
        member: DefIdx,
    },
    /// The object that an expression makes.
    Value(ExprId),
    /// A value of the type that a `this` parameter declares.
    Declared(ExprId),
    /// A value of the class that an expression names.
    InstanceOf(ExprId),
}

/// A function that is being read.
pub(super) struct Function {
    pub(super) returns: Vec<ExprId>,
    pub(super) is_generator: bool,
}

/// Reads a tree.
pub(super) type Visitor<'b, 's> = Pass<'b, 's, State<'b, 's>>;

/// The state of the pass.
pub(in super::super) struct State<'b, 's> {
    names: Names<'b, 's>,
    pub(super) kinds: &'b Kinds,
    /// True if the language has types.
    pub(super) is_typed: bool,
    pub(super) f: Fields,
    scopes: Vec<usize>,
    locals: FxHashMap<(usize, &'s str), BindingId>,
    /// Places of names in imports.
    imports: FxHashSet<u32>,
    /// The enumeration around: its members are seen by their names.
    pub(super) enumeration: DefIdx,
    pub(super) functions: Vec<Function>,
    pub(super) this: This,
    pub(super) narrowed: Vec<Narrowed<'s>>,
    depth: usize,
}

impl<'b, 's> Visitor<'b, 's> {
    // ---- the tree

    pub(super) fn k(&self, node: usize) -> K {
        self.kinds.of(self.tree.kind_id(node))
    }

    pub(super) fn field(&self, node: usize, field: u16) -> Option<usize> {
        self.tree.in_field(node, field)
    }

    pub(super) fn children(&self, node: usize) -> impl Iterator<Item = usize> + use<'b, 's> {
        let tree: &'b Flat<'b> = self.tree;
        tree.children(node)
    }

    /// Returns true if one of the tokens directly in a node has this text.
    pub(super) fn has_token(&self, node: usize, word: &str) -> bool {
        self.tree.tokens(node).any(|t| self.tree.is_leaf(t) && self.tree.node(t).kind() == word)
    }

    /// The definition whose name is this node.
    pub(super) fn def_of(&self, name: usize) -> Option<DefIdx> {
        let at = self.start(name);
        let quoted = || self.by_name.get(&(at + 1)).filter(|_| self.k(name) == K::String);
        self.by_name.get(&at).or_else(quoted).copied()
    }

    /// A text as a literal.
    pub(super) fn quoted(&mut self, text: &'s str, at: u32) -> ExprId {
        if text.len() > TEXT_BYTES_MAX || text.is_empty() || text.contains(char::is_whitespace) {
            return self.node(Shape::Literal { kind: LiteralKind::String }, at);
        }
        let name = self.b.str(text);
        let value = self.node(Shape::Name { name, binding: BindingId::NONE }, at);
        self.node(Shape::Quoted { value }, at)
    }

    /// Runs `f` in the scope that a node opens, if it opens one.
    pub(super) fn scoped<T>(&mut self, node: usize, f: impl FnOnce(&mut Self) -> T) -> T {
        let opened = self.names.opened.get(&node).copied();
        self.scopes.extend(opened);
        let out = f(self);
        if opened.is_some() {
            self.scopes.pop();
        }
        out
    }

    /// Visits all that is in a node.
    pub(super) fn inside(&mut self, node: usize) {
        for child in self.children(node) {
            self.expr(child, Role::Read);
        }
    }

    /// The expression of a node, in its scope; opaque for statements.
    pub(super) fn expr(&mut self, node: usize, role: Role) -> ExprId {
        if self.depth >= PARSE_DEPTH_MAX {
            return self.opaque;
        }
        self.depth += 1;
        let out = self.scoped(node, |it| it.visit(node, role));
        self.depth -= 1;
        out
    }

    /// Reads a child that may be missing as an expression.
    pub(super) fn expr_in(&mut self, node: usize, field: u16, role: Role) -> ExprId {
        self.field(node, field).map_or(self.opaque, |child| self.expr(child, role))
    }

    fn visit(&mut self, node: usize, role: Role) -> ExprId {
        match self.k(node) {
            K::Name | K::TypeName => self.name(node, role),
            K::This => self.this_value(node),
            K::Super => self.super_value(node, role),
            K::Passed => {
                self.tell_all(node);
                self.opaque
            }
            K::Block => self.block(node),
            K::If => self.if_statement(node),
            K::Return => self.return_statement(node),
            K::Switch => self.switch(node),
            K::Loop => self.while_statement(node),
            K::ForIn => self.for_in(node),
            K::Catch => self.catch(node),
            K::Declarator => self.declarator(node),
            K::Function => self.function(node, None),
            K::Class => self.class(node),
            K::Enum => self.enumeration(node),
            K::EnumMember => self.enum_member(node),
            K::Interface => self.interface(node),
            K::Alias => self.alias(node),
            K::Export => self.export(node),
            K::Decorator => self.decorator(node),
            K::ObjectPattern | K::ArrayPattern => {
                let opaque = self.opaque;
                self.take_apart(node, opaque);
                opaque
            }
            kind if kind.is_type() => self.ty(node),
            kind => self.value(node, kind, role),
        }
    }

    /// Goes one level deeper; false where nesting is too deep.
    pub(super) fn enter(&mut self) -> bool {
        let is_in = self.depth < PARSE_DEPTH_MAX;
        self.depth += usize::from(is_in);
        is_in
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    // ---- names

    /// A name where a property is defined under it.
    pub(super) fn shorthand_value(&mut self, node: usize) -> ExprId {
        let (text, at) = (self.slice(node), self.start(node));
        self.tell(node);
        self.named(text, at, Role::Read)
    }

    pub(super) fn name(&mut self, node: usize, role: Role) -> ExprId {
        let at = self.start(node);
        if self.names.bound.contains(&at) || self.by_name.contains_key(&at) {
            self.tell(node);
            return self.opaque;
        }
        if role != Role::Call {
            self.tell(node);
        }
        let text = self.slice(node);
        let role = if self.k(node) == K::TypeName && role == Role::Read { Role::Type } else { role };
        let out = self.named(text, at, role);
        self.narrow(node, out)
    }

    /// A use of a name at a place.
    pub(super) fn named(&mut self, text: &'s str, at: u32, role: Role) -> ExprId {
        let name = self.b.str(text);
        let (binding, role) = match self.find(text) {
            Some((scope, Bound::Local)) => (self.local(scope, text, at), Role::None),
            Some((_, Bound::Def(def))) => (self.binding_of_def(def, text, at), role),
            Some((_, Bound::File)) | None => match self.enumerator(text) {
                Some(def) => (self.binding_of_def(def, text, at), role),
                None => (BindingId::NONE, role),
            },
        };
        self.b.expr(Shape::Name { name, binding }, at, role)
    }

    /// The member of the enumeration around under a name.
    fn enumerator(&self, name: &str) -> Option<DefIdx> {
        let around = self.enumeration.some()?;
        let is_it = |d: &indexd_model::Def| d.parent == around && self.b.text(d.name) == name;
        self.b.defs.iter().position(is_it).map(|i| DefIdx(i as u32))
    }

    /// Adds a member of a value; its name is not a use if an import records it.
    pub(super) fn attr(&mut self, base: ExprId, name: &'s str, at: u32, role: Role) -> ExprId {
        let name = self.b.str(name);
        let role = if self.imports.contains(&at) && role == Role::Read { Role::None } else { role };
        self.b.expr(Shape::Attr { base, name }, at, role)
    }

    fn find(&self, name: &str) -> Option<(usize, Bound)> {
        self.scopes.iter().rev().find_map(|s| Some((*s, *self.names.scopes[*s].names.get(name)?)))
    }

    fn local(&mut self, scope: usize, text: &'s str, at: u32) -> BindingId {
        if let Some(known) = self.locals.get(&(scope, text)) {
            return *known;
        }
        let name = self.b.str(text);
        let binding = self.b.bind(name, at, DefIdx::NONE, BindingKind::Local);
        self.locals.insert((scope, text), binding);
        binding
    }

    /// The binding that a name in a pattern makes, where it is local.
    pub(super) fn bound(&mut self, node: usize, kind: BindingKind) -> Option<BindingId> {
        let (text, at) = (self.slice(node), self.start(node));
        self.tell(node);
        let (scope, Bound::Local) = self.find(text)? else { return None };
        let binding = self.local(scope, text, at);
        if self.names.bound.contains(&at) {
            self.b.place(binding, at, DefIdx::NONE, kind);
        }
        Some(binding)
    }

    /// A binding for a name that is a definition as well.
    pub(super) fn own_binding(
        &mut self,
        node: usize,
        name: indexd_model::StrId,
        at: u32,
        kind: BindingKind,
    ) -> BindingId {
        let text = self.slice(node);
        let binding = self.b.bind(name, at, DefIdx::NONE, kind);
        if let Some(scope) = self.scopes.last().copied() {
            self.locals.insert((scope, text), binding);
            self.names.scopes[scope].names.insert(text, Bound::Local);
        }
        binding
    }

    // ---- this

    pub(super) fn set_this(&mut self, this: This) {
        (self.this, self.receivers) = (this, [BindingId::NONE; 2]);
    }

    fn this_value(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        let out = self.receiver("this", at, Role::None);
        self.narrow(node, out)
    }

    fn super_value(&mut self, node: usize, role: Role) -> ExprId {
        let at = self.start(node);
        let role = if role == Role::Call { role } else { Role::None };
        self.receiver("super", at, role)
    }

    pub(super) fn receiver(&mut self, word: &'s str, at: u32, role: Role) -> ExprId {
        let (scope, source) = match self.this {
            This::None => return self.opaque,
            This::Class { class, member } => (member, Source::Def(class)),
            This::Value(e) => (DefIdx::NONE, Source::Assigned(e)),
            This::Declared(e) => (DefIdx::NONE, Source::Declared(e)),
            This::InstanceOf(e) => (DefIdx::NONE, Source::Narrowed(e)),
        };
        self.receiver_of(word, at, role, scope, source)
    }

    /// Runs `f` with another value of `this`.
    pub(super) fn with_this<T>(&mut self, this: This, f: impl FnOnce(&mut Self) -> T) -> T {
        let outer = (self.this, self.receivers);
        (self.this, self.receivers) = (this, [BindingId::NONE; 2]);
        let out = f(self);
        (self.this, self.receivers) = outer;
        out
    }

    pub(super) fn set_flag(&mut self, def: DefIdx, flag: DefFlags) {
        self.b.defs[def.index()].flags.set(flag);
    }
}

impl K {
    /// Returns true if a node of the kind is a type.
    pub(super) fn is_type(self) -> bool {
        (Self::TypeMember..=Self::ThisType).contains(&self)
    }
}
