//! Type expressions.

use super::declarations::{Docs, Param};
use super::syntax::{Field, Kind};
use super::visitor::Visitor;
use indexd_model::{DefIdx, DefKind, ExprId, Node, Role, StrId};

impl Visitor<'_, '_> {
    /// A type; its name gets `role`. Type arguments and element types are plain types.
    pub(super) fn type_expr(&mut self, role: Role) -> ExprId {
        self.deeper(|v| v.type_here(role))
    }

    fn type_here(&mut self, role: Role) -> ExprId {
        let at = self.start();
        match self.kind() {
            Kind::TypeIdentifier | Kind::Identifier => self.name(role),
            Kind::QualifiedType => self.qualified_type(role),
            Kind::GenericType | Kind::TypeInstantiationExpression => self.generic_type(role),
            Kind::PointerType => {
                let value = self.only_type(role);
                self.b.node(Node::Star { value }, at)
            }
            Kind::ParenthesizedType => self.only_type(role),
            Kind::NegatedType => {
                let value = self.only_type(Role::Type);
                self.b.node(Node::Unary { value }, at)
            }
            Kind::TypeElem | Kind::TypeConstraint => self.union(role),
            Kind::ArrayType | Kind::ImplicitLengthArrayType | Kind::SliceType => self.array_type(),
            Kind::MapType => {
                let (mut key, mut value) = (ExprId::NONE, ExprId::NONE);
                self.each(|v, field, _| match field {
                    Field::Key => key = v.type_expr(Role::Type),
                    Field::Value => value = v.type_expr(Role::Type),
                    _ => {}
                });
                self.b.node(Node::MapType { key, value }, at)
            }
            Kind::ChannelType => {
                let mut elem = ExprId::NONE;
                self.each(|v, field, _| {
                    if field == Field::Value {
                        elem = v.type_expr(Role::Type);
                    }
                });
                self.b.node(Node::ChanType { elem }, at)
            }
            Kind::FunctionType => self.function_type(),
            Kind::StructType => {
                let fields = self.cursor.node().named_child(0);
                let is_empty = fields.is_none_or(|f| f.named_child_count() == 0);
                let holder = if is_empty { DefIdx::NONE } else { self.holder(DefKind::Struct) };
                self.struct_type(holder)
            }
            Kind::InterfaceType => {
                let is_empty = self.cursor.node().named_child_count() == 0;
                let holder = if is_empty { DefIdx::NONE } else { self.holder(DefKind::Interface) };
                self.interface_type(holder)
            }
            kind => {
                self.anything(kind);
                self.opaque()
            }
        }
    }

    fn function_type(&mut self) -> ExprId {
        let (at, mut params, mut results) = (self.start(), Vec::new(), Vec::new());
        self.each(|v, field, kind| match field {
            Field::Parameters => params = v.params(),
            Field::Result => results = v.results(kind),
            _ => {}
        });
        self.func_type(at, &params, &results)
    }

    pub(super) fn func_type(&mut self, at: u32, params: &[Param], results: &[Param]) -> ExprId {
        let variadic = params.last().is_some_and(|p| p.is_variadic);
        let of = |ps: &[Param]| ps.iter().map(|p| p.ty).collect::<Vec<_>>();
        let (params, results) = (self.b.list(&of(params)), self.b.list(&of(results)));
        self.b.node(Node::FuncType { params, results, variadic }, at)
    }

    /// `Name[A, B]`.
    fn generic_type(&mut self, role: Role) -> ExprId {
        let (at, mut base, mut args) = (self.start(), ExprId::NONE, Vec::new());
        self.each(|v, field, kind| match (field, kind) {
            (Field::Type, _) if base == ExprId::NONE => base = v.type_expr(role),
            (_, Kind::TypeArguments) => args = v.type_args(),
            (_, kind) if is_type(kind) => args.push(v.type_expr(Role::Type)),
            _ => {}
        });
        let args = self.b.list(&args);
        self.b.node(Node::Index { base, args }, at)
    }

    /// An array or a slice.
    fn array_type(&mut self) -> ExprId {
        let (at, is_slice, mut elem) = (self.start(), self.kind() == Kind::SliceType, ExprId::NONE);
        self.each(|v, field, _| match field {
            Field::Element => elem = v.type_expr(Role::Type),
            Field::Length => {
                v.expr(Role::Read);
            }
            _ => {}
        });
        self.b.node(if is_slice { Node::SliceType { elem } } else { Node::ArrayType { elem } }, at)
    }

    /// `pkg.Name`.
    fn qualified_type(&mut self, role: Role) -> ExprId {
        let (mut base, mut name, mut at) = (ExprId::NONE, StrId::NONE, self.start());
        self.each(|v, field, _| match field {
            Field::Package => base = v.name(Role::None),
            Field::Name => (name, at) = (v.string(), v.start()),
            _ => {}
        });
        self.b.expr(Node::Attr { base, name }, at, role)
    }

    /// The one type among the children.
    fn only_type(&mut self, role: Role) -> ExprId {
        self.read_each(is_type, |v| v.type_expr(role)).pop().unwrap_or(ExprId::NONE)
    }

    /// The arguments of an instantiation.
    pub(super) fn type_args(&mut self) -> Vec<ExprId> {
        self.read_each(|kind| is_type(kind) || kind == Kind::TypeElem, |v| v.type_expr(Role::Type))
    }

    /// Terms joined by `|`; one term is itself.
    fn union(&mut self, role: Role) -> ExprId {
        let at = self.start();
        let terms = self.read_each(is_type, |v| v.type_expr(role)).into_iter();
        let joined = terms.reduce(|left, right| self.b.node(Node::Union { left, right }, at));
        joined.unwrap_or(ExprId::NONE)
    }

    /// A struct type whose fields belong to `holder`; `NONE` when it has no fields.
    pub(super) fn struct_type(&mut self, holder: DefIdx) -> ExprId {
        let at = self.start();
        self.each(|v, _, kind| {
            if kind == Kind::FieldDeclarationList {
                let mut docs = Docs::default();
                v.each(|v, _, kind| match kind {
                    Kind::Comment => docs.comment(v),
                    Kind::FieldDeclaration if holder != DefIdx::NONE => {
                        let doc = docs.take(v);
                        v.field(holder, doc);
                    }
                    _ => {}
                });
            }
        });
        self.b.node(Node::StructType { holder }, at)
    }

    /// An interface type whose methods belong to `holder`; `NONE` when it has none.
    pub(super) fn interface_type(&mut self, holder: DefIdx) -> ExprId {
        let at = self.start();
        let mut docs = Docs::default();
        self.each(|v, _, kind| match kind {
            Kind::Comment => docs.comment(v),
            Kind::MethodElem if holder != DefIdx::NONE => {
                let doc = docs.take(v);
                v.method_elem(holder, doc);
            }
            Kind::TypeElem if holder != DefIdx::NONE => {
                docs.take(v);
                let role = if v.cursor.node().named_child_count() == 1 { Role::Base } else { Role::Type };
                let base = v.type_expr(role);
                v.b.defs[holder.index()].bases.push(base);
            }
            _ => {}
        });
        self.b.node(Node::InterfaceType { holder }, at)
    }

    /// Returns the name that an embedded type gives to its field, and its place.
    pub(super) fn named(&self, ty: ExprId) -> Option<(StrId, u32)> {
        let expr = self.b.get(ty)?;
        match expr.node {
            Node::Name { name, .. } | Node::Attr { name, .. } => Some((name, expr.at)),
            Node::Index { base, .. } | Node::Star { value: base } => self.named(base),
            _ => None,
        }
    }
}

/// Returns true if nodes of this kind are types.
pub(super) fn is_type(kind: Kind) -> bool {
    (Kind::TypeIdentifier..=Kind::InterfaceType).contains(&kind)
}
