//! Types of expressions, bindings and definitions.

use super::Linker;
use super::names::Entity;
use super::types::{Args, Basic, DefAt, Ty, Type};
use super::universe::{Builtin, Predeclared};
use crate::remembered::remembered_from;
use crate::typed::slots::Memos;
use indexd_model::facts::LiteralKind;
use indexd_model::{BindingId, BindingKind, DefFlags, DefKind, ExprId, List, Node, Source};
use smallvec::SmallVec;
use std::rc::Rc;

impl<'a> Linker<'a> {
    /// The type of a value.
    pub(super) fn ty(&mut self, file: u32, e: ExprId) -> Ty {
        if e == ExprId::NONE {
            return Ty::UNKNOWN;
        }
        self.once(|l| &mut l.expr_types, file, e.0, |l| l.find_ty(file, e))
    }

    /// Returns the type of an expression or a binding, found once. In the making it is unknown.
    fn once(
        &mut self,
        memos: fn(&mut Self) -> &mut Memos<Ty>,
        file: u32,
        id: u32,
        find: impl FnOnce(&mut Self) -> Ty,
    ) -> Ty {
        if let Some(known) = memos(self).get(file, id) {
            return known;
        }
        memos(self).set(file, id, Ty::UNKNOWN);
        let ty = self.guarded(Ty::UNKNOWN, find);
        memos(self).set(file, id, ty);
        ty
    }

    /// Sets the type of a composite literal without one before it is evaluated.
    pub(super) fn set_ty(&mut self, e: ExprId, ty: Ty) {
        self.expr_types.set(0, e.0, ty);
    }

    fn find_ty(&mut self, file: u32, e: ExprId) -> Ty {
        match self.facts(file).expr(e).node {
            Node::Name { .. } | Node::Attr { .. } => {
                let entity = self.entity(file, e);
                self.value_type(file, entity)
            }
            Node::Call { callee, args } => self.call(file, callee, args),
            Node::Index { base, args } => self.index(file, base, args),
            Node::Slice { base } => {
                let ty = self.ty(file, base);
                let array = self.underlying_through_pointer(ty);
                match *self.types.get(array) {
                    Type::Array(elem) => self.types.make(Type::Slice(elem)),
                    _ => ty,
                }
            }
            Node::Star { value } => {
                if let Some(ty) = self.type_if_type(file, value) {
                    return self.types.make(Type::Pointer(ty));
                }
                let ty = self.ty(file, value);
                self.pointee(ty)
            }
            Node::Address { value } => match self.ty(file, value) {
                Ty::UNKNOWN => Ty::UNKNOWN,
                ty => self.types.make(Type::Pointer(ty)),
            },
            Node::Receive { value } => {
                let ty = self.ty(file, value);
                self.element(ty, 0, true)
            }
            Node::Unary { value } | Node::Spread { value } | Node::Quoted { value } => self.ty(file, value),
            Node::Binary { left, right } => {
                let left = self.ty(file, left);
                if self.types.is_untyped(left) || left == Ty::UNKNOWN {
                    let right = self.ty(file, right);
                    return if right == Ty::UNKNOWN { left } else { right };
                }
                left
            }
            Node::Compare { .. } => self.types.basic(Basic::UntypedBool),
            Node::Assert { ty, .. } => self.type_expr(file, ty),
            Node::Composite { ty, .. } => self.type_expr(file, ty),
            Node::Literal { kind } => self.literal(kind),
            Node::FuncLiteral { ty } => self.type_expr(file, ty),
            Node::SliceType { .. }
            | Node::ArrayType { .. }
            | Node::MapType { .. }
            | Node::ChanType { .. }
            | Node::FuncType { .. }
            | Node::StructType { .. }
            | Node::InterfaceType { .. } => self.type_expr(file, e),
            _ => Ty::UNKNOWN,
        }
    }

    fn literal(&mut self, kind: LiteralKind) -> Ty {
        let basic = match kind {
            LiteralKind::String => Basic::UntypedString,
            LiteralKind::Int => Basic::UntypedInt,
            LiteralKind::Float => Basic::UntypedFloat,
            LiteralKind::Complex => Basic::UntypedComplex,
            LiteralKind::Rune => Basic::UntypedRune,
            LiteralKind::Bool => Basic::UntypedBool,
            LiteralKind::None => Basic::UntypedNil,
            LiteralKind::Bytes | LiteralKind::Ellipsis => return Ty::UNKNOWN,
        };
        self.types.basic(basic)
    }

    /// Returns the type of the entity of a name, as a value (of a type, the type itself).
    pub(super) fn value_type(&mut self, file: u32, entity: Entity) -> Ty {
        match entity {
            Entity::Local(binding) => self.binding_type(file, binding),
            Entity::Scope(def) | Entity::Imported { def, .. } => self.def_type(def),
            Entity::Member(member) => member.ty,
            Entity::External(_) | Entity::ExternalPackage(_) => Ty::EXTERNAL,
            Entity::Builtin(Predeclared::Type(ty) | Predeclared::Value(ty)) => ty,
            Entity::Builtin(Predeclared::Func(_))
            | Entity::Package { .. }
            | Entity::NotFound
            | Entity::UnknownReceiver => Ty::UNKNOWN,
        }
    }

    /// The type of a local name.
    pub(super) fn binding_type(&mut self, file: u32, binding: BindingId) -> Ty {
        self.once(|l| &mut l.binding_types, file, binding.0, |l| l.find_binding_type(file, binding))
    }

    fn find_binding_type(&mut self, file: u32, binding: BindingId) -> Ty {
        let facts = self.facts(file);
        let Some(b) = facts.binding(binding) else { return Ty::UNKNOWN };
        let Some(source) = facts.sources(b).first() else { return Ty::UNKNOWN };
        match *source {
            Source::Declared(e) => {
                let ty = self.type_expr(file, e);
                if b.kind == BindingKind::VarArgs { self.types.make(Type::Slice(ty)) } else { ty }
            }
            Source::Assigned(e) => {
                let ty = self.ty(file, e);
                self.types.default(ty)
            }
            Source::Unpacked { value, index } => self.result(file, value, index),
            Source::Element { of, index } => {
                let ty = self.ty(file, of);
                self.element(ty, index, false)
            }
            Source::Narrowed(e) => self.type_expr(file, e),
            Source::Def(def) => self.def_type(DefAt { file, def }),
            _ => Ty::UNKNOWN,
        }
    }

    /// The `index`-th of several results, or of the two of `v, ok := m[k]`.
    fn result(&mut self, file: u32, value: ExprId, index: u16) -> Ty {
        let ty = self.ty(file, value);
        match self.types.get(ty) {
            Type::Tuple(list) => list.get(usize::from(index)).copied().unwrap_or(Ty::UNKNOWN),
            Type::External(_) if matches!(self.facts(file).expr(value).node, Node::Call { .. }) => ty,
            _ if index == 0 => ty,
            _ => self.types.basic(Basic::Bool),
        }
    }

    /// Returns the type of iterating over a value: 0 the key, 1 the value. With `is_receive`, returns the
    /// type of receiving from it.
    fn element(&mut self, ty: Ty, index: u16, is_receive: bool) -> Ty {
        let under = self.underlying_through_pointer(ty);
        match (self.types.get(under).clone(), index) {
            (Type::Chan(elem), 0) => elem,
            (Type::External(_), _) => Ty::EXTERNAL,
            _ if is_receive => Ty::UNKNOWN,
            (Type::Slice(_) | Type::Array(_) | Type::Basic(Basic::String | Basic::UntypedString), 0) => {
                self.types.basic(Basic::Int)
            }
            (Type::Slice(elem) | Type::Array(elem), 1) => elem,
            (Type::Basic(Basic::String | Basic::UntypedString), 1) => self.types.basic(Basic::Int32),
            (Type::Map(key, _), 0) => key,
            (Type::Map(_, value), 1) => value,
            // Ranging over an integer gives integers of its type.
            (Type::Basic(_), 0) => self.types.default(ty),
            // Ranging over a function gives the arguments of its `yield` parameter.
            (Type::Func { params, .. }, _) => {
                let Some(yielder) = params.first() else { return Ty::UNKNOWN };
                let yielder = self.underlying(*yielder);
                match self.types.get(yielder) {
                    Type::Func { params, .. } => {
                        params.get(usize::from(index)).copied().unwrap_or(Ty::UNKNOWN)
                    }
                    _ => Ty::UNKNOWN,
                }
            }
            _ => Ty::UNKNOWN,
        }
    }

    /// Returns the target type of a pointer.
    fn pointee(&mut self, ty: Ty) -> Ty {
        let under = self.underlying(ty);
        match *self.types.get(under) {
            Type::Pointer(to) => to,
            Type::External(_) => Ty::EXTERNAL,
            _ => Ty::UNKNOWN,
        }
    }

    /// The underlying type (Go specification, "Underlying types"); of a type parameter, its core
    /// type where it has one.
    pub(super) fn underlying(&mut self, ty: Ty) -> Ty {
        match self.types.get(ty) {
            Type::Named(..) | Type::Param(..) | Type::Union(_) => {}
            _ => return ty,
        }
        let find = |l: &mut Self| match l.types.get(ty).clone() {
            Type::Named(def, args) => match l.definition_of(def) {
                Some(right) => {
                    let right = l.instantiate(def, &args, right);
                    l.underlying(right)
                }
                None => Ty::UNKNOWN,
            },
            Type::Param(file, binding) => match l.constraint(file, binding) {
                Some(constraint) => l.core(constraint),
                None => Ty::UNKNOWN,
            },
            _ => l.core(ty),
        };
        remembered_from(self, |l| &mut l.underlying, ty, Ty::UNKNOWN, |l| l.guarded(Ty::UNKNOWN, find))
    }

    /// The type that all terms of a constraint share, taken from the first; an interface without
    /// terms is its own.
    pub(super) fn core(&mut self, constraint: Ty) -> Ty {
        match *self.types.get(constraint) {
            Type::Union(ref terms) => match terms.first().copied() {
                Some(first) => self.core(first),
                None => constraint,
            },
            Type::Named(..) => {
                let under = self.underlying(constraint);
                if under == constraint { constraint } else { self.core(under) }
            }
            Type::Interface(holder) if holder != DefAt::EMPTY => {
                let terms: SmallVec<[ExprId; 2]> = self.def(holder).bases.iter().copied().collect();
                for term in terms {
                    let ty = self.type_expr(holder.file, term);
                    let core = self.guarded(constraint, |l| l.core(ty));
                    if !matches!(
                        self.types.get(core),
                        Type::Interface(_) | Type::Unknown | Type::External(_) | Type::Error
                    ) {
                        return core;
                    }
                }
                constraint
            }
            _ => constraint,
        }
    }

    pub(super) fn underlying_through_pointer(&mut self, ty: Ty) -> Ty {
        let under = self.underlying(ty);
        match *self.types.get(under) {
            Type::Pointer(to) => self.underlying(to),
            _ => under,
        }
    }

    /// The type of a call: none, one, or a tuple of results; of a conversion, its type.
    fn call(&mut self, file: u32, callee: ExprId, args: List) -> Ty {
        if let Some(ty) = self.type_if_type(file, callee) {
            return ty;
        }
        let list = self.facts(file).list(args);
        if let Some(builtin) = self.builtin(file, callee) {
            return self.builtin_call(file, builtin, list);
        }
        let ty = self.ty(file, callee);
        let ty = self.inferred(file, callee, ty, list);
        let under = self.underlying(ty);
        match self.types.get(under) {
            Type::Func { results, .. } => match results[..] {
                [one] => one,
                _ => self.types.make(Type::Tuple(Rc::clone(results))),
            },
            Type::External(_) => self.external_type_or_value(file, callee),
            _ => Ty::UNKNOWN,
        }
    }

    /// A call of something outside the tree may be a conversion to a type there.
    fn external_type_or_value(&mut self, file: u32, callee: ExprId) -> Ty {
        match self.facts(file).expr(callee).node {
            Node::Attr { .. } | Node::Name { .. } => match self.entity(file, callee) {
                Entity::External(ty) => ty,
                _ => Ty::EXTERNAL,
            },
            _ => Ty::EXTERNAL,
        }
    }

    fn builtin_call(&mut self, file: u32, builtin: Builtin, args: &[ExprId]) -> Ty {
        let first = args.first().copied().unwrap_or(ExprId::NONE);
        match builtin {
            Builtin::First => {
                let ty = self.ty(file, first);
                if self.types.is_untyped(ty) && args.len() > 1 { self.ty(file, args[1]) } else { ty }
            }
            Builtin::Make => self.type_expr(file, first),
            Builtin::New => {
                let ty = match self.type_if_type(file, first) {
                    Some(ty) => ty,
                    None => self.new_of_value(file, first),
                };
                self.types.make(Type::Pointer(ty))
            }
            Builtin::Int => self.types.basic(Basic::Int),
            Builtin::Any => self.types.make(Type::Interface(DefAt::EMPTY)),
            Builtin::Number => self.types.make(Type::Tuple(Rc::from([]))),
        }
    }

    /// Returns the target type of `new` of a value, since Go 1.26: the type of the value. A name from outside
    /// the tree may be a type or a value.
    fn new_of_value(&mut self, file: u32, value: ExprId) -> Ty {
        let ty = self.ty(file, value);
        match self.types.get(ty) {
            Type::Unknown | Type::External(_) => self.type_expr(file, value),
            _ => self.types.default(ty),
        }
    }

    /// `base[arg]`: an element, or an instantiation.
    fn index(&mut self, file: u32, base: ExprId, args: List) -> Ty {
        if let Node::Name { .. } | Node::Attr { .. } = self.facts(file).expr(base).node {
            match self.entity(file, base) {
                Entity::Scope(def) | Entity::Imported { def, .. } => {
                    let it = self.def(def);
                    if it.kind == DefKind::Function {
                        let ty = self.def_type(def);
                        let args = self.type_exprs(file, args);
                        return self.instantiate(def, &args, ty);
                    }
                    if it.kind.is_type() {
                        let args = self.type_exprs(file, args);
                        return self.type_of_type(def, args);
                    }
                }
                Entity::External(_) => return Ty::EXTERNAL,
                _ => {}
            }
        }
        let ty = self.ty(file, base);
        let under = self.underlying_through_pointer(ty);
        match *self.types.get(under) {
            Type::Slice(elem) | Type::Array(elem) => elem,
            Type::Map(_, value) => value,
            Type::Basic(Basic::String | Basic::UntypedString) => self.types.basic(Basic::Uint8),
            Type::External(_) => Ty::EXTERNAL,
            _ => Ty::UNKNOWN,
        }
    }

    /// The types that expressions name.
    fn type_exprs(&mut self, file: u32, all: List) -> Args {
        self.facts(file).list(all).iter().map(|e| self.type_expr(file, *e)).collect()
    }

    /// Returns the type that a type definition names, with arguments; for an alias, its target.
    pub(super) fn type_of_type(&mut self, def: DefAt, args: Args) -> Ty {
        let it = self.def(def);
        if it.kind != DefKind::Alias {
            return self.types.make(Type::Named(def, args));
        }
        let ty = self.once_of_def(def, |l| l.type_expr(def.file, it.ty));
        self.instantiate(def, &args, ty)
    }

    /// Returns the result of `find` for a definition, called once.
    fn once_of_def(&mut self, def: DefAt, find: impl FnOnce(&mut Self) -> Ty) -> Ty {
        remembered_from(self, |l| &mut l.def_types, def, Ty::UNKNOWN, |l| l.guarded(Ty::UNKNOWN, find))
    }

    /// The type of a definition as a value; of a type, the type itself.
    pub(super) fn def_type(&mut self, def: DefAt) -> Ty {
        let it = self.def(def);
        if it.kind.is_type() {
            return self.type_of_type(def, Rc::from([]));
        }
        self.once_of_def(def, |l| match it.kind {
            DefKind::Function | DefKind::Method => l.signature(def),
            _ if it.ty != ExprId::NONE => l.type_expr(def.file, it.ty),
            _ => {
                let ty = l.result(def.file, it.value, it.value_index);
                if it.kind == DefKind::Constant { ty } else { l.types.default(ty) }
            }
        })
    }

    /// The type of a function or method, its receiver left out.
    fn signature(&mut self, def: DefAt) -> Ty {
        let (it, facts) = (self.def(def), self.facts(def.file));
        let mut params: SmallVec<[Ty; 4]> = SmallVec::new();
        for p in &it.params {
            let Some(b) = facts.binding(*p) else { continue };
            if b.kind != BindingKind::Receiver
                && let [Source::Declared(e), ..] = facts.sources(b)
            {
                params.push(self.type_expr(def.file, *e));
            }
        }
        let results = it.results.iter().map(|e| self.type_expr(def.file, *e)).collect();
        let variadic = it.flags.has(DefFlags::VARIADIC);
        self.types.make(Type::Func { params: params.into_iter().collect(), results, variadic })
    }

    /// The type that an expression names.
    pub(super) fn type_expr(&mut self, file: u32, e: ExprId) -> Ty {
        if e == ExprId::NONE {
            return Ty::UNKNOWN;
        }
        self.guarded(Ty::UNKNOWN, |l| l.find_type(file, e))
    }

    fn find_type(&mut self, file: u32, e: ExprId) -> Ty {
        let facts = self.facts(file);
        match facts.expr(e).node {
            Node::Name { .. } | Node::Attr { .. } => match self.entity(file, e) {
                Entity::External(ty) => ty,
                Entity::Scope(def) | Entity::Imported { def, .. } if !self.is_type(def) => Ty::UNKNOWN,
                _ => self.type_if_type(file, e).unwrap_or(Ty::UNKNOWN),
            },
            Node::Star { value } => {
                let to = self.type_expr(file, value);
                self.types.make(Type::Pointer(to))
            }
            Node::Unary { value } | Node::Quoted { value } => self.type_expr(file, value),
            Node::Index { base, args } => match self.entity(file, base) {
                Entity::Scope(def) | Entity::Imported { def, .. } if self.is_type(def) => {
                    let args = self.type_exprs(file, args);
                    self.type_of_type(def, args)
                }
                Entity::External(ty) => ty,
                _ => Ty::UNKNOWN,
            },
            Node::SliceType { elem } => {
                let elem = self.type_expr(file, elem);
                self.types.make(Type::Slice(elem))
            }
            Node::ArrayType { elem } => {
                let elem = self.type_expr(file, elem);
                self.types.make(Type::Array(elem))
            }
            Node::MapType { key, value } => {
                let (key, value) = (self.type_expr(file, key), self.type_expr(file, value));
                self.types.make(Type::Map(key, value))
            }
            Node::ChanType { elem } => {
                let elem = self.type_expr(file, elem);
                self.types.make(Type::Chan(elem))
            }
            Node::FuncType { params, results, variadic } => {
                let (params, results) = (self.type_exprs(file, params), self.type_exprs(file, results));
                self.types.make(Type::Func { params, results, variadic })
            }
            Node::StructType { holder } => {
                self.types.make(Type::Struct(holder.some().map_or(DefAt::EMPTY, |def| DefAt { file, def })))
            }
            Node::InterfaceType { holder } => self
                .types
                .make(Type::Interface(holder.some().map_or(DefAt::EMPTY, |def| DefAt { file, def }))),
            Node::Union { .. } => {
                let terms = self.terms(file, e);
                self.types.make(Type::Union(terms))
            }
            _ => Ty::UNKNOWN,
        }
    }

    fn terms(&mut self, file: u32, mut e: ExprId) -> Args {
        let mut rest: SmallVec<[ExprId; 4]> = SmallVec::new();
        while let Node::Union { left, right } = self.facts(file).expr(e).node {
            rest.push(right);
            e = left;
        }
        rest.push(e);
        rest.into_iter().rev().map(|e| self.type_expr(file, e)).collect()
    }
}
