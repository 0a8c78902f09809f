//! Types as they are written.

use super::kinds::K;
use super::visit::Visitor;
use indexd_model::facts::{LiteralKind, SequenceKind};
use indexd_model::{BindingId, BindingKind, ExprId, Node as Shape, Role, Source};

impl<'s> Visitor<'_, 's> {
    /// The type that a node is.
    pub(super) fn ty(&mut self, node: usize) -> ExprId {
        self.deeper(node, self.opaque, Self::read_type)
    }

    fn read_type(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        match self.k(node) {
            K::Name | K::TypeName => self.name(node, Role::Type),
            K::TypeMember => self.type_member(node),
            K::Wrapped => self.wrapped(node),
            K::GenericType => {
                let base = self.field(node, self.f.name).map_or(self.opaque, |n| self.ty(n));
                self.applied(node, base)
            }
            K::UnionType => self.joined(node, |left, right| Shape::Union { left, right }),
            K::IntersectionType => self.joined(node, |left, right| Shape::Binary { left, right }),
            K::ArrayType => {
                let elem = self.wrapped(node);
                self.node(Shape::SliceType { elem }, at)
            }
            K::TupleType => self.tuple_type(node),
            K::ObjectType => self.object_type(node),
            K::FunctionType | K::ConstructorType => self.function_type(node),
            K::TypeQuery => {
                let value = self.children(node).next().map_or(self.opaque, |c| self.expr(c, Role::Read));
                self.word("typeof", value, at)
            }
            K::KeyOf => {
                let of = self.wrapped(node);
                self.word("keyof", of, at)
            }
            K::LookupType => self.lookup_type(node),
            K::ConditionalType => self.conditional_type(node),
            K::LiteralType => self.literal_type(node),
            K::Predefined => {
                let name = self.id(node);
                self.node(Shape::Name { name, binding: BindingId::NONE }, at)
            }
            K::Predicate => self.predicate(node),
            K::Asserts => {
                let of = self.children(node).next().filter(|c| self.k(*c) == K::Predicate);
                let of = of.map_or(self.opaque, |p| self.predicate(p));
                self.word("asserts", of, at)
            }
            K::Infer => self.inferred(node),
            K::ThisType => {
                let out = self.receiver("this", at, Role::None);
                self.word("this", out, at)
            }
            K::TemplateType => {
                self.children(node).for_each(|child| _ = self.wrapped(child));
                self.literal(LiteralKind::String, at)
            }
            K::Member | K::Call | K::Subscript | K::Instantiation => self.expr(node, Role::Type),
            _ => {
                for child in self.children(node) {
                    self.ty(child);
                }
                self.opaque
            }
        }
    }

    /// The type in a node around it.
    pub(super) fn wrapped(&mut self, node: usize) -> ExprId {
        self.children(node).map(|c| self.ty(c)).last().unwrap_or(self.opaque)
    }

    /// The type in a field.
    pub(super) fn type_in(&mut self, node: usize, field: u16) -> Option<ExprId> {
        self.field(node, field).map(|t| self.ty(t))
    }

    fn type_member(&mut self, node: usize) -> ExprId {
        let base = self.expr_in(node, self.f.module, Role::Read);
        let Some(name) = self.field(node, self.f.name) else { return self.opaque };
        let at = self.start(name);
        let name = self.id(name);
        self.b.expr(Shape::Attr { base, name }, at, Role::Type)
    }

    fn joined(&mut self, node: usize, shape: fn(ExprId, ExprId) -> Shape) -> ExprId {
        let at = self.start(node);
        let parts: Vec<ExprId> = self.children(node).map(|c| self.ty(c)).collect();
        parts.into_iter().reduce(|left, right| self.node(shape(left, right), at)).unwrap_or(self.opaque)
    }

    fn tuple_type(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        let elems: Vec<ExprId> = self.children(node).map(|c| self.tuple_member(c)).collect();
        let elems = self.b.list(&elems);
        self.node(Shape::Sequence { kind: SequenceKind::Tuple, elems }, at)
    }

    /// `T[K]`.
    fn lookup_type(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        let parts: Vec<usize> = self.children(node).collect();
        let [base, index] = parts[..] else { return self.opaque };
        let (base, index) = (self.ty(base), self.ty(index));
        let args = self.b.list(&[index]);
        self.node(Shape::Index { base, args }, at)
    }

    fn tuple_member(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        match self.k(node) {
            K::TupleMember => {
                self.tell_all(node);
                self.type_in(node, self.f.kind).unwrap_or(self.opaque)
            }
            K::Rest => {
                let value = self.wrapped(node);
                self.node(Shape::Spread { value }, at)
            }
            _ => self.ty(node),
        }
    }

    fn literal_type(&mut self, node: usize) -> ExprId {
        let Some(value) = self.children(node).next() else { return self.opaque };
        self.expr(value, Role::Read)
    }

    fn conditional_type(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        let left = self.type_in(node, self.f.left).unwrap_or(self.opaque);
        let right = self.type_in(node, self.f.right).unwrap_or(self.opaque);
        let then = self.type_in(node, self.f.consequence).unwrap_or(self.opaque);
        let otherwise = self.type_in(node, self.f.alternative).unwrap_or(self.opaque);
        let base = self.node(Shape::Compare { left, right }, at);
        let args = self.b.list(&[then, otherwise]);
        self.node(Shape::Apply { base, args }, at)
    }

    /// `x is T`: the parameter by its name, and its type.
    fn predicate(&mut self, node: usize) -> ExprId {
        let name = self.field(node, self.f.name);
        name.into_iter().for_each(|n| self.tell(n));
        let ty = self.type_in(node, self.f.kind).unwrap_or(self.opaque);
        let Some(name) = name else { return self.opaque };
        let (text, at) = (self.slice(name), self.start(name));
        let name = self.b.str(text);
        self.node(Shape::Keyword { name, value: ty }, at)
    }

    fn inferred(&mut self, node: usize) -> ExprId {
        let mut parts = self.children(node);
        let Some(name) = parts.next() else { return self.opaque };
        let (at, text) = (self.start(name), self.id(name));
        let binding = self.bound(name, BindingKind::TypeParam).unwrap_or(BindingId::NONE);
        for constraint in parts {
            let ty = self.ty(constraint);
            self.b.source(binding, Source::Declared(ty));
        }
        let value = self.node(Shape::Name { name: text, binding }, at);
        self.word("infer", value, at)
    }

    /// `<A extends B = C>`: the bindings in order.
    pub(super) fn type_params(&mut self, node: usize) -> Vec<BindingId> {
        let Some(list) = self.field(node, self.f.type_parameters) else { return Vec::new() };
        let mut out = Vec::new();
        for param in self.children(list) {
            let Some(name) = self.field(param, self.f.name) else { continue };
            let Some(binding) = self.bound(name, BindingKind::TypeParam) else { continue };
            if let Some(constraint) = self.type_in(param, self.f.constraint) {
                self.b.source(binding, Source::Declared(constraint));
            }
            if let Some(default) = self.type_in(param, self.f.value) {
                self.b.source(binding, Source::Assigned(default));
            }
            out.push(binding);
        }
        out
    }

    fn function_type(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        let is_new = self.k(node) == K::ConstructorType;
        let signature = self.signature(node);
        let ty = self.node(signature.shape(), at);
        if is_new { self.word("new", ty, at) } else { ty }
    }

    // ---- members

    /// A type literal.
    fn object_type(&mut self, node: usize) -> ExprId {
        let at = self.start(node);
        let elems: Vec<ExprId> =
            self.children(node).filter_map(|c| self.deeper(c, None, Self::signature_member)).collect();
        let elems = self.b.list(&elems);
        self.node(Shape::Composite { ty: ExprId::NONE, elems }, at)
    }

    /// Reads a signature in a type; named members of an interface are definitions instead.
    pub(super) fn signature_member(&mut self, node: usize) -> Option<ExprId> {
        let at = self.start(node);
        match self.k(node) {
            K::PropertySignature => {
                let name = self.field(node, self.f.name)?;
                let def = self.def_of(name);
                let ty = self.type_in(node, self.f.kind).unwrap_or(self.opaque);
                if let Some(def) = def {
                    self.b.defs[def.index()].ty = ty;
                }
                let (text, at) = self.key(name)?;
                let name = self.b.str(text);
                Some(self.node(Shape::Keyword { name, value: ty }, at))
            }
            K::MethodSignature => {
                let name = self.field(node, self.f.name)?;
                let def = self.def_of(name);
                let signature = self.signature(node);
                let ty = self.node(signature.shape(), at);
                let value = self.declare_signature(node, def, &signature).unwrap_or(ty);
                let (text, at) = self.key(name)?;
                let name = self.b.str(text);
                Some(self.node(Shape::Keyword { name, value }, at))
            }
            K::CallSignature => {
                let signature = self.signature(node);
                Some(self.node(signature.shape(), at))
            }
            K::ConstructSignature => {
                let signature = self.signature(node);
                let ty = self.node(signature.shape(), at);
                Some(self.word("new", ty, at))
            }
            K::IndexSignature => self.index_signature(node),
            _ => {
                self.expr(node, Role::Read);
                None
            }
        }
    }

    /// `[key: K]: V` and `[P in K]: V`.
    fn index_signature(&mut self, node: usize) -> Option<ExprId> {
        let at = self.start(node);
        let clause = self.children(node).find(|c| self.tree.node(*c).kind() == "mapped_type_clause");
        let Some(clause) = clause else {
            let key = self.type_in(node, self.f.index_type).unwrap_or(self.opaque);
            let value = self.type_in(node, self.f.kind).unwrap_or(self.opaque);
            return Some(self.node(Shape::KeyValue { key, value }, at));
        };
        self.scoped(clause, |it| {
            let name = it.field(clause, it.f.name)?;
            let binding = it.bound(name, BindingKind::TypeParam).unwrap_or(BindingId::NONE);
            if let Some(keys) = it.type_in(clause, it.f.kind) {
                it.b.source(binding, Source::Declared(keys));
            }
            it.type_in(clause, it.f.alias);
            let text = it.id(name);
            let key = it.node(Shape::Name { name: text, binding }, at);
            let value = it.type_in(node, it.f.kind).unwrap_or(it.opaque);
            let elem = it.node(Shape::KeyValue { key, value }, at);
            Some(it.node(Shape::Comprehension { kind: SequenceKind::Dict, elem }, at))
        })
    }
}
