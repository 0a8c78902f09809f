//! Assignment targets: the sources of the values of names, attributes and unpacked elements.
//!
//! Inside functions a target makes a new binding with a [`Source`]. At file and class level, and for
//! attributes of `self`, it makes a definition, whose value is an expression: where the source is more than
//! an expression (iteration, `with`, unpacking) the protocol call behind it is written out, so that `for x in
//! xs` gives `x` the value `xs.__iter__().__next__()`.

use super::kinds::{F, Kind, kind};
use super::narrow::is_path;
use super::scope::ScopeKind;
use super::visit::{Exports, Visitor};
use indexd_model::facts::{List, SequenceKind};
use indexd_model::limits::DEFS_PER_FILE_MAX;
use indexd_model::lists::holds;
use indexd_model::{
    BindingId, BindingKind, Def, DefFlags, DefIdx, DefKind, ExprId, Node as Shape, Role, Source, Span, StrId,
};
use smallvec::SmallVec;
use tree_sitter::Node;

/// Definitions kept of one name in one scope; a name assigned more often has no more types.
const DEFS_PER_NAME_MAX: u8 = 6;

/// Attribute paths whose type is known at one place; a longer list is generated code.
const PATHS_MAX: usize = 128;

impl<'s> Visitor<'s, '_> {
    /// Reads `left: type = right`, or `a = b = right`; returns the value.
    pub(super) fn assignment(&mut self, node: Node) -> ExprId {
        let at = self.start(node);
        let mut lefts: SmallVec<[Node; 2]> = SmallVec::new();
        let mut last = node;
        loop {
            lefts.extend(self.field(last, F.left));
            match self.field(last, F.right) {
                Some(r) if kind(r) == Kind::Assignment => last = r,
                _ => break,
            }
        }
        let ty = self.field(last, F.type_).map(|t| self.annotation(t));
        let right = self.field(last, F.right);
        let value = match right {
            Some(r) if kind(r) == Kind::AugmentedAssignment => Some(self.augmented(r)),
            Some(r) if self.is_alias_value(r) => Some(self.annotation(r)),
            Some(r) => Some(self.expr(r, Role::Read)),
            None => None,
        };
        let span = self.span(node);
        for left in lefts {
            if kind(left) == Kind::Identifier && self.scopes.len() == 1 && self.slice(left) == "__all__" {
                self.read_exports(right, false);
            }
            match (ty, value) {
                (Some(ty), _) => self.annotated(left, ty, value, span),
                (None, Some(v)) => self.assign(left, Source::Assigned(v), span),
                (None, None) => {
                    self.expr(left, Role::Read);
                }
            }
        }
        value.unwrap_or_else(|| self.opaque(at))
    }

    /// Returns true if a value is a type by its form (`Optional["Node"]`): strings in it are annotations.
    fn is_alias_value(&self, node: Node) -> bool {
        kind(node) == Kind::Subscript
            && self.scope_kind() != ScopeKind::Function
            && self.field(node, F.value).is_some_and(|v| {
                let name = self.slice(v).rsplit('.').next().unwrap_or("");
                holds("Optional Union Callable Type List Dict Tuple Iterable Annotated", name)
            })
    }

    pub(super) fn augmented(&mut self, node: Node) -> ExprId {
        let at = self.start(node);
        let value = self.field(node, F.right).map(|r| self.expr(r, Role::Read));
        if let Some(left) = self.field(node, F.left) {
            let name = self.slice(left);
            let fresh = kind(left) == Kind::Identifier
                && self.scope_kind() == ScopeKind::Function
                && self.scopes.last().is_some_and(|s| s.get(name).is_none() && s.outer_kind(name).is_none());
            if name == "__all__" && self.scopes.len() == 1 {
                self.read_exports(self.field(node, F.right), true);
            }
            match value {
                Some(v) if fresh => self.assign(left, Source::Assigned(v), self.span(node)),
                _ => {
                    self.expr(left, Role::Write);
                }
            }
        }
        value.unwrap_or_else(|| self.opaque(at))
    }

    /// Reads `name := value`; the value is that of the expression.
    pub(super) fn named_expression(&mut self, node: Node) -> ExprId {
        let at = self.start(node);
        let value = self.expr_of(self.field(node, F.value), at);
        if let Some(left) = self.field(node, F.name) {
            self.assign(left, Source::Assigned(value), self.span(node));
            let name = self.slice(left);
            if let Some(b) = self.scopes.last().and_then(|s| s.get(name)) {
                self.walrus.push((name, b));
            }
        }
        value
    }

    /// `type X = T`.
    pub(super) fn type_alias(&mut self, node: Node) {
        let (Some(left), Some(right)) = (self.field(node, F.left), self.field(node, F.right)) else { return };
        let mut name = left;
        while let Some(inner) = self.kids(name).first().copied().filter(|_| kind(name) != Kind::Identifier) {
            name = inner;
        }
        let mark = self.scope().mark();
        if let Some(params) = self
            .kids(left)
            .first()
            .and_then(|g| self.kids(*g).into_iter().find(|c| kind(*c) == Kind::TypeParameter))
        {
            self.type_params(params);
        }
        let ty = self.annotation(right);
        self.scope().rewind(mark);
        if self.scope_kind() == ScopeKind::Function {
            self.assign(name, Source::Assigned(ty), self.span(node));
        } else {
            let d = self.value_def(name, DefKind::Type, self.span(node));
            self.add_value(d, ty, ExprId::NONE);
        }
    }

    /// A target with an annotation.
    fn annotated(&mut self, left: Node, ty: ExprId, value: Option<ExprId>, span: Span) {
        match kind(left) {
            Kind::Identifier if self.scope_kind() == ScopeKind::Function => {
                let name = self.slice(left);
                if self.scope().outer_kind(name).is_none() {
                    self.scope().declared.insert(name, ty);
                    let b =
                        self.local(name, self.start(left), BindingKind::Local, Some(Source::Declared(ty)));
                    self.scope().assign(name, b);
                }
            }
            Kind::Identifier => self.define_value(left, ty, value.unwrap_or(ExprId::NONE), span),
            Kind::Attribute => {
                self.assign_attribute(left, ty, value.unwrap_or(ExprId::NONE), span);
            }
            _ => {
                self.expr(left, Role::Read);
            }
        }
    }

    /// The targets of `for left in of`.
    pub(super) fn iterate(&mut self, left: Node, of: ExprId) {
        self.assign(left, Source::Element { of, index: 0 }, self.span(left));
    }

    /// Assigns a source to a target, element by element for patterns.
    pub(super) fn assign(&mut self, target: Node, source: Source, span: Span) {
        match kind(target) {
            Kind::Identifier => self.assign_name(target, source, span),
            Kind::Attribute => {
                let value = self.value_of(source);
                self.assign_attribute(target, ExprId::NONE, value, span);
            }
            Kind::PatternList
            | Kind::TuplePattern
            | Kind::ListPattern
            | Kind::Tuple
            | Kind::List
            | Kind::ExpressionList => {
                let mut starred = false;
                for (i, c) in self.kids(target).into_iter().enumerate() {
                    let is_star = matches!(kind(c), Kind::ListSplatPattern | Kind::ListSplat);
                    if is_star || starred {
                        // The elements of a starred name, and those that follow it, depend on the length:
                        // each is an element of the whole.
                        let value = self.value_of(source);
                        let inner = if is_star { self.kids(c).first().copied() } else { Some(c) };
                        let source =
                            if is_star {
                                let elem = self.element_of(value);
                                Source::Assigned(self.b.node(
                                    Shape::Comprehension { kind: SequenceKind::List, elem },
                                    span.start,
                                ))
                            } else {
                                Source::Element { of: value, index: 0 }
                            };
                        if let Some(inner) = inner {
                            self.assign(inner, source, span);
                        }
                        starred = true;
                    } else {
                        let part = self.part_of(source, i.min(usize::from(u16::MAX)) as u16);
                        self.assign(c, part, span);
                    }
                }
            }
            Kind::Parenthesized => {
                if let Some(c) = self.kids(target).first() {
                    self.assign(*c, source, span);
                }
            }
            _ => {
                self.expr(target, Role::Write);
            }
        }
    }

    fn assign_name(&mut self, target: Node, source: Source, span: Span) {
        let name = self.slice(target);
        let at = self.start(target);
        self.forget_paths(name);
        if self.scope_kind() != ScopeKind::Function {
            let value = self.value_of(source);
            self.define_value(target, ExprId::NONE, value, span);
            return;
        }
        match self.scope().outer_kind(name) {
            Some(true) => {
                let id = self.b.str(name);
                self.b.expr(Shape::Name { name: id, binding: BindingId::NONE }, at, Role::Write);
                let value = self.value_of(source);
                self.define_global(target, value, span);
            }
            Some(false) => {
                let b = self.local(name, at, BindingKind::Local, Some(source));
                self.scope().set(name, b);
                let inner = self.scopes.len() - 1;
                if let Some(outer) =
                    self.scopes[..inner].iter_mut().rev().find(|s| s.kind == ScopeKind::Function)
                {
                    outer.remember(name, b);
                }
            }
            None => {
                let source = self
                    .scopes
                    .last()
                    .and_then(|s| s.declared.get(name))
                    .map_or(source, |ty| Source::Declared(*ty));
                let b = self.local(name, at, BindingKind::Local, Some(source));
                self.scope().assign(name, b);
            }
        }
    }

    /// The source of the `index`-th element of a source.
    pub(super) fn part_of(&mut self, source: Source, index: u16) -> Source {
        match source {
            Source::Assigned(e) => {
                if let Some(Shape::Sequence { kind: SequenceKind::Tuple | SequenceKind::List, elems }) =
                    self.b.get(e).map(|x| x.node)
                {
                    let items = self.b.items(elems);
                    let head = &items[..items.len().min(usize::from(index) + 1)];
                    let plain = head
                        .iter()
                        .all(|i| !matches!(self.b.get(*i).map(|x| x.node), Some(Shape::Spread { .. })));
                    if plain && let Some(item) = items.get(usize::from(index)) {
                        return Source::Assigned(*item);
                    }
                }
                Source::Unpacked { value: e, index }
            }
            Source::Element { of, .. } => Source::ElementUnpacked { of, index },
            other => Source::Unpacked { value: self.value_of(other), index },
        }
    }

    /// A source as an expression.
    fn value_of(&mut self, source: Source) -> ExprId {
        match source {
            Source::Assigned(e) => e,
            Source::Unpacked { value, index } => self.item(value, index),
            Source::Element { of, .. } => self.element_of(of),
            Source::ElementUnpacked { of, index } => {
                let elem = self.element_of(of);
                self.item(elem, index)
            }
            Source::Entered(e) => self.protocol_call(e, "__enter__"),
            Source::Caught(ty) | Source::Declared(ty) | Source::Narrowed(ty) => {
                let at = self.b.get(ty).map_or(0, |e| e.at);
                let value = self.opaque(at);
                self.b.node(Shape::Assert { value, ty }, at)
            }
            Source::Def(def) => self.b.node(Shape::Def { def }, 0),
            Source::Import(_) => self.opaque(0),
        }
    }

    fn item(&mut self, base: ExprId, index: u16) -> ExprId {
        let at = self.b.get(base).map_or(0, |e| e.at);
        self.b.node(Shape::Item { base, index }, at)
    }

    /// `base.method()` as no use of its own.
    fn protocol_call(&mut self, base: ExprId, method: &'static str) -> ExprId {
        let at = self.b.get(base).map_or(0, |e| e.at);
        let name = self.b.str(method);
        let callee = self.b.node(Shape::Attr { base, name }, at);
        self.b.node(Shape::Call { callee, args: List::default() }, at)
    }

    /// Returns the element of iterating over `of`.
    pub(super) fn element_of(&mut self, of: ExprId) -> ExprId {
        let iter = self.protocol_call(of, "__iter__");
        self.protocol_call(iter, "__next__")
    }

    /// An attribute target; one of `self` defines a field of the class.
    fn assign_attribute(&mut self, target: Node, ty: ExprId, value: ExprId, span: Span) {
        let (Some(object), Some(attribute)) = (self.field(target, F.object), self.field(target, F.attribute))
        else {
            return;
        };
        let base = self.expr(object, Role::Read);
        let name = self.b.str(self.slice(attribute));
        let name_span = self.span(attribute);
        self.b.expr(Shape::Attr { base, name }, name_span.start, Role::Write);
        let path = self.slice(target);
        self.assign_path(path, value);
        let Some(scope) = self.scopes.last_mut() else { return };
        let (class, receiver) = (scope.class, scope.receiver);
        let of_self = matches!(self.b.get(base).map(|e| e.node), Some(Shape::Name { binding, .. }) if binding == receiver);
        if class.some().is_none() || receiver.some().is_none() || !of_self {
            return;
        }
        let attribute = self.slice(attribute);
        if !self.may_define(attribute, |s| s.kind == ScopeKind::Class && s.def == class) {
            return;
        }
        let mut def = self.b.blank_def(name, DefKind::Field, class, name_span, span);
        def.flags.set(DefFlags::INSTANCE);
        self.add_value(Some(def), ty, value);
    }

    /// Sets the value of a path from here on. The first entry forgets the previous value; it outlives the
    /// branch, the second one does not.
    fn assign_path(&mut self, path: &'s str, value: ExprId) {
        if !is_path(path) || self.scope_kind() == ScopeKind::Class {
            return;
        }
        self.scope().forget_path(path);
        let says_more = matches!(
            self.b.get(value).map(|e| e.node),
            Some(
                Shape::Call { .. }
                    | Shape::Name { .. }
                    | Shape::Attr { .. }
                    | Shape::Sequence { .. }
                    | Shape::Await { .. }
            )
        );
        if says_more && self.scope().paths.len() < PATHS_MAX {
            let at = self.b.get(value).map_or(0, |e| e.at);
            let assigned = self.b.node(Shape::KeyValue { key: ExprId::NONE, value }, at);
            self.scope().paths.push((path, assigned));
        }
    }

    /// Forgets paths that start at a name that is assigned again.
    fn forget_paths(&mut self, name: &str) {
        let scope = self.scope();
        let starts = |p: &str| p.strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
        let mut stale: Vec<&'s str> = scope.paths.iter().map(|p| p.0).filter(|p| starts(p)).collect();
        stale.sort_unstable();
        stale.dedup();
        for path in stale {
            scope.forget_path(path);
        }
    }

    /// Counts one more definition of `name` in the scope that `pick` finds; false past the limit.
    fn may_define(&mut self, name: &'s str, pick: impl Fn(&super::scope::Scope) -> bool) -> bool {
        if self.b.defs.len() >= DEFS_PER_FILE_MAX {
            return false;
        }
        let Some(scope) = self.scopes.iter_mut().rev().find(|s| pick(s)) else { return false };
        let n = scope.n_defs.entry(name).or_default();
        *n = n.saturating_add(1);
        *n <= DEFS_PER_NAME_MAX
    }

    /// A variable of the module or a field of the class around.
    fn define_value(&mut self, target: Node, ty: ExprId, value: ExprId, span: Span) {
        let name = self.slice(target);
        let class = self.scope_kind() == ScopeKind::Class;
        let around = self.around();
        if !self.may_define(name, |s| s.def == around) {
            return;
        }
        let kind = if class { DefKind::Field } else { variable_kind(name) };
        let def = self.value_def(target, kind, span);
        let added = self.add_value(def, ty, value);
        if class && let Some(d) = added {
            self.scope().members.insert(name, d);
        }
    }

    /// A module variable assigned in a function that declares it `global`.
    fn define_global(&mut self, target: Node, value: ExprId, span: Span) {
        let name = self.slice(target);
        if !self.may_define(name, |s| s.kind == ScopeKind::Module) {
            return;
        }
        let def = self.value_def(target, variable_kind(name), span).map(|mut d| {
            d.parent = DefIdx::NONE;
            d
        });
        self.add_value(def, ExprId::NONE, value);
    }

    fn value_def(&mut self, target: Node, kind: DefKind, span: Span) -> Option<Def> {
        if self.b.defs.len() >= DEFS_PER_FILE_MAX {
            return None;
        }
        let text = self.slice(target);
        let name = self.b.str(text);
        let parent = self.around();
        let mut def = self.b.blank_def(name, kind, parent, self.span(target), span);
        // The first line of a long value shows its kind; the rest is its body.
        let first = self.text.get(span.range()).and_then(|t| t.lines().next()).map_or(0, str::len);
        def.head = Span::new(span.start, span.start + first as u32);
        if self.n_conditions > 0 {
            def.flags.set(DefFlags::CONDITIONAL);
        }
        Some(def)
    }

    fn add_value(&mut self, def: Option<Def>, ty: ExprId, value: ExprId) -> Option<DefIdx> {
        let mut def = def?;
        def.ty = ty;
        def.value = value;
        if !self.b.text(def.name).starts_with('_') {
            def.flags.set(DefFlags::EXPORTED);
        }
        Some(self.b.def(def))
    }

    // ---- __all__

    /// Reads a value of `__all__`; with `more` it is added to the earlier ones.
    pub(super) fn read_exports(&mut self, value: Option<Node>, more: bool) {
        let texts = value.and_then(|v| self.string_list(v));
        let old = std::mem::take(&mut self.exports);
        self.exports = match (old, texts, more) {
            (_, Some(texts), false) => Exports::Names(texts),
            (Exports::Names(mut old), Some(texts), true) => {
                old.extend(texts);
                Exports::Names(old)
            }
            _ => Exports::Dynamic,
        };
    }

    /// The strings of a display that holds nothing else.
    fn string_list(&mut self, node: Node) -> Option<Vec<StrId>> {
        if !matches!(kind(node), Kind::List | Kind::Tuple | Kind::ExpressionList | Kind::Set) {
            return None;
        }
        let mut out = Vec::new();
        for c in self.kids(node) {
            let (text, _) = self.plain_string(c)?;
            out.push(self.b.str(text));
        }
        Some(out)
    }
}

/// Upper-case names are constants by convention.
fn variable_kind(name: &str) -> DefKind {
    let upper = name.bytes().any(|b| b.is_ascii_uppercase());
    let shouted = upper && name.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    if shouted && name.len() > 1 { DefKind::Constant } else { DefKind::Variable }
}
