//! Types of expressions, bindings and definitions.

use super::Linker;
use super::names::Entity;
use super::types::{Basic, DefAt, Ty, TyId, TyList, Types};
use super::universe::{Builtin, Predeclared};
use indexd_model::facts::LiteralKind;
use indexd_model::{BindingId, BindingKind, DefFlags, DefKind, ExprId, List, Node, Source};
use smallvec::SmallVec;

impl<'a> Linker<'a> {
    /// The type of a value.
    pub(super) fn ty(&mut self, file: u32, e: ExprId) -> TyId {
        if e == ExprId::NONE {
            return Types::UNKNOWN;
        }
        if let Some(known) = self.expr_types.begin(file, e.0) {
            return known;
        }
        let ty = self.guarded(Types::UNKNOWN, |l| l.find_ty(file, e));
        self.expr_types.set(file, e.0, ty);
        ty
    }

    /// Sets the type of a composite literal without one before it is evaluated.
    pub(super) fn set_ty(&mut self, e: ExprId, ty: TyId) {
        self.expr_types.set(0, e.0, ty);
    }

    fn find_ty(&mut self, file: u32, e: ExprId) -> TyId {
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
                match self.types.get(array) {
                    Ty::Array(elem) => self.types.id(Ty::Slice(elem)),
                    _ => ty,
                }
            }
            Node::Star { value } => {
                if let Some(ty) = self.type_if_type(file, value) {
                    return self.types.id(Ty::Pointer(ty));
                }
                let ty = self.ty(file, value);
                self.pointee(ty)
            }
            Node::Address { value } => match self.ty(file, value) {
                Types::UNKNOWN => Types::UNKNOWN,
                ty => self.types.id(Ty::Pointer(ty)),
            },
            Node::Receive { value } => {
                let ty = self.ty(file, value);
                self.element(ty, 0, true)
            }
            Node::Unary { value } | Node::Spread { value } | Node::Quoted { value } => self.ty(file, value),
            Node::Binary { left, right } => {
                let left = self.ty(file, left);
                if self.types.is_untyped(left) || self.types.is_unknown(left) {
                    let right = self.ty(file, right);
                    return if self.types.is_unknown(right) { left } else { right };
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
            _ => Types::UNKNOWN,
        }
    }

    fn literal(&mut self, kind: LiteralKind) -> TyId {
        let basic = match kind {
            LiteralKind::String => Basic::UntypedString,
            LiteralKind::Int => Basic::UntypedInt,
            LiteralKind::Float => Basic::UntypedFloat,
            LiteralKind::Complex => Basic::UntypedComplex,
            LiteralKind::Rune => Basic::UntypedRune,
            LiteralKind::Bool => Basic::UntypedBool,
            LiteralKind::None => Basic::UntypedNil,
            LiteralKind::Bytes | LiteralKind::Ellipsis => return Types::UNKNOWN,
        };
        self.types.basic(basic)
    }

    /// Returns the type of the entity of a name, as a value (of a type, the type itself).
    pub(super) fn value_type(&mut self, file: u32, entity: Entity) -> TyId {
        match entity {
            Entity::Local(binding) => self.binding_type(file, binding),
            Entity::Scope(def) | Entity::Imported { def, .. } => self.def_type(def),
            Entity::Member(member) => member.ty,
            Entity::External(_) | Entity::ExternalPackage(_) => Types::EXTERNAL,
            Entity::Builtin(Predeclared::Type(ty) | Predeclared::Value(ty)) => ty,
            Entity::Builtin(Predeclared::Func(_))
            | Entity::Package { .. }
            | Entity::NotFound
            | Entity::UnknownReceiver => Types::UNKNOWN,
        }
    }

    /// The type of a local name.
    pub(super) fn binding_type(&mut self, file: u32, binding: BindingId) -> TyId {
        if let Some(known) = self.binding_types.begin(file, binding.0) {
            return known;
        }
        let ty = self.guarded(Types::UNKNOWN, |l| l.find_binding_type(file, binding));
        self.binding_types.set(file, binding.0, ty);
        ty
    }

    fn find_binding_type(&mut self, file: u32, binding: BindingId) -> TyId {
        let facts = self.facts(file);
        let Some(b) = facts.binding(binding) else { return Types::UNKNOWN };
        let Some(source) = facts.sources(b).first() else { return Types::UNKNOWN };
        match *source {
            Source::Declared(e) => {
                let ty = self.type_expr(file, e);
                if b.kind == BindingKind::VarArgs { self.types.id(Ty::Slice(ty)) } else { ty }
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
            _ => Types::UNKNOWN,
        }
    }

    /// The `index`-th of several results, or of the two of `v, ok := m[k]`.
    fn result(&mut self, file: u32, value: ExprId, index: u16) -> TyId {
        let ty = self.ty(file, value);
        match self.types.get(ty) {
            Ty::Tuple(list) => self.types.item(list, usize::from(index)).unwrap_or(Types::UNKNOWN),
            Ty::External(_) if matches!(self.facts(file).expr(value).node, Node::Call { .. }) => ty,
            _ if index == 0 => ty,
            _ => self.types.basic(Basic::Bool),
        }
    }

    /// Returns the type of iterating over a value: 0 the key, 1 the value. With `is_receive`, returns the
    /// type of receiving from it.
    fn element(&mut self, ty: TyId, index: u16, is_receive: bool) -> TyId {
        let under = self.underlying_through_pointer(ty);
        match (self.types.get(under), index) {
            (Ty::Chan(elem), 0) => elem,
            (Ty::External(_), _) => Types::EXTERNAL,
            _ if is_receive => Types::UNKNOWN,
            (Ty::Slice(_) | Ty::Array(_) | Ty::Basic(Basic::String | Basic::UntypedString), 0) => {
                self.types.basic(Basic::Int)
            }
            (Ty::Slice(elem) | Ty::Array(elem), 1) => elem,
            (Ty::Basic(Basic::String | Basic::UntypedString), 1) => self.types.basic(Basic::Int32),
            (Ty::Map(key, _), 0) => key,
            (Ty::Map(_, value), 1) => value,
            // Ranging over an integer gives integers of its type.
            (Ty::Basic(_), 0) => self.types.default(ty),
            // Ranging over a function gives the arguments of its `yield` parameter.
            (Ty::Func { params, .. }, _) => {
                let Some(yielder) = self.types.item(params, 0) else { return Types::UNKNOWN };
                let yielder = self.underlying(yielder);
                match self.types.get(yielder) {
                    Ty::Func { params, .. } => {
                        self.types.item(params, usize::from(index)).unwrap_or(Types::UNKNOWN)
                    }
                    _ => Types::UNKNOWN,
                }
            }
            _ => Types::UNKNOWN,
        }
    }

    /// Returns the target type of a pointer.
    fn pointee(&mut self, ty: TyId) -> TyId {
        let under = self.underlying(ty);
        match self.types.get(under) {
            Ty::Pointer(to) => to,
            Ty::External(_) => Types::EXTERNAL,
            _ => Types::UNKNOWN,
        }
    }

    /// The underlying type (Go specification, "Underlying types"); of a type parameter, its core
    /// type where it has one.
    pub(super) fn underlying(&mut self, ty: TyId) -> TyId {
        match self.types.get(ty) {
            Ty::Named(..) | Ty::Param(..) | Ty::Union(_) => {}
            _ => return ty,
        }
        if let Some(&known) = self.underlying.get(&ty) {
            return known;
        }
        self.underlying.insert(ty, Types::UNKNOWN);
        let found = self.guarded(Types::UNKNOWN, |l| match l.types.get(ty) {
            Ty::Named(def, args) => match l.definition_of(def) {
                Some(right) => {
                    let right = l.instantiate(def, args, right);
                    l.underlying(right)
                }
                None => Types::UNKNOWN,
            },
            Ty::Param(file, binding) => match l.constraint(file, binding) {
                Some(constraint) => l.core(constraint),
                None => Types::UNKNOWN,
            },
            Ty::Union(_) => l.core(ty),
            _ => ty,
        });
        self.underlying.insert(ty, found);
        found
    }

    /// The type that all terms of a constraint share, taken from the first; an interface without
    /// terms is its own.
    pub(super) fn core(&mut self, constraint: TyId) -> TyId {
        match self.types.get(constraint) {
            Ty::Union(terms) => match self.types.item(terms, 0) {
                Some(first) => self.core(first),
                None => constraint,
            },
            Ty::Named(..) => {
                let under = self.underlying(constraint);
                if under == constraint { constraint } else { self.core(under) }
            }
            Ty::Interface(holder) if holder != DefAt::EMPTY => {
                let terms: SmallVec<[ExprId; 2]> = self.def(holder).bases.iter().copied().collect();
                for term in terms {
                    let ty = self.type_expr(holder.file, term);
                    let core = self.guarded(constraint, |l| l.core(ty));
                    if !matches!(
                        self.types.get(core),
                        Ty::Interface(_) | Ty::Unknown | Ty::External(_) | Ty::Error
                    ) {
                        return core;
                    }
                }
                constraint
            }
            _ => constraint,
        }
    }

    pub(super) fn underlying_through_pointer(&mut self, ty: TyId) -> TyId {
        let under = self.underlying(ty);
        match self.types.get(under) {
            Ty::Pointer(to) => self.underlying(to),
            _ => under,
        }
    }

    /// The type of a call: none, one, or a tuple of results; of a conversion, its type.
    fn call(&mut self, file: u32, callee: ExprId, args: List) -> TyId {
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
            Ty::Func { results, .. } => match results.len() {
                1 => self.types.item(results, 0).unwrap_or(Types::UNKNOWN),
                _ => self.types.id(Ty::Tuple(results)),
            },
            Ty::External(_) => self.external_type_or_value(file, callee),
            _ => Types::UNKNOWN,
        }
    }

    /// A call of something outside the tree may be a conversion to a type there.
    fn external_type_or_value(&mut self, file: u32, callee: ExprId) -> TyId {
        match self.facts(file).expr(callee).node {
            Node::Attr { .. } | Node::Name { .. } => match self.entity(file, callee) {
                Entity::External(ty) => ty,
                _ => Types::EXTERNAL,
            },
            _ => Types::EXTERNAL,
        }
    }

    fn builtin_call(&mut self, file: u32, builtin: Builtin, args: &[ExprId]) -> TyId {
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
                self.types.id(Ty::Pointer(ty))
            }
            Builtin::Int => self.types.basic(Basic::Int),
            Builtin::Any => self.types.id(Ty::Interface(DefAt::EMPTY)),
            Builtin::Number => self.types.id(Ty::Tuple(TyList::EMPTY)),
        }
    }

    /// Returns the target type of `new` of a value, since Go 1.26: the type of the value. A name from outside
    /// the tree may be a type or a value.
    fn new_of_value(&mut self, file: u32, value: ExprId) -> TyId {
        let ty = self.ty(file, value);
        match self.types.get(ty) {
            Ty::Unknown | Ty::External(_) => self.type_expr(file, value),
            _ => self.types.default(ty),
        }
    }

    /// `base[arg]`: an element, or an instantiation.
    fn index(&mut self, file: u32, base: ExprId, args: List) -> TyId {
        if let Node::Name { .. } | Node::Attr { .. } = self.facts(file).expr(base).node {
            match self.entity(file, base) {
                Entity::Scope(def) | Entity::Imported { def, .. } => {
                    let it = self.def(def);
                    if it.kind == DefKind::Function {
                        let ty = self.def_type(def);
                        let args: SmallVec<[TyId; 4]> =
                            self.facts(file).list(args).iter().map(|a| self.type_expr(file, *a)).collect();
                        let args = self.types.list(&args);
                        return self.instantiate(def, args, ty);
                    }
                    if it.kind.is_type() {
                        return self.type_args(file, def, args);
                    }
                }
                Entity::External(ty) => return if ty == Types::EXTERNAL { ty } else { Types::EXTERNAL },
                _ => {}
            }
        }
        let ty = self.ty(file, base);
        let under = self.underlying_through_pointer(ty);
        match self.types.get(under) {
            Ty::Slice(elem) | Ty::Array(elem) => elem,
            Ty::Map(_, value) => value,
            Ty::Basic(Basic::String | Basic::UntypedString) => self.types.basic(Basic::Uint8),
            Ty::External(_) => Types::EXTERNAL,
            _ => Types::UNKNOWN,
        }
    }

    /// A generic type with arguments.
    fn type_args(&mut self, file: u32, def: DefAt, args: List) -> TyId {
        let args: SmallVec<[TyId; 4]> =
            self.facts(file).list(args).iter().map(|a| self.type_expr(file, *a)).collect();
        let args = self.types.list(&args);
        self.type_of_type(def, args)
    }

    /// Returns the type that a type definition names, with arguments; for an alias, its target.
    pub(super) fn type_of_type(&mut self, def: DefAt, args: TyList) -> TyId {
        let it = self.def(def);
        if it.kind != DefKind::Alias {
            return self.types.id(Ty::Named(def, args));
        }
        let ty = self.once_of_def(def, |l| l.type_expr(def.file, it.ty));
        self.instantiate(def, args, ty)
    }

    /// Returns the result of `find` for a definition, called once.
    fn once_of_def(&mut self, def: DefAt, find: impl FnOnce(&mut Self) -> TyId) -> TyId {
        if let Some(&known) = self.def_types.get(&def) {
            return known;
        }
        self.def_types.insert(def, Types::UNKNOWN);
        let ty = self.guarded(Types::UNKNOWN, find);
        self.def_types.insert(def, ty);
        ty
    }

    /// The type of a definition as a value; of a type, the type itself.
    pub(super) fn def_type(&mut self, def: DefAt) -> TyId {
        let it = self.def(def);
        if it.kind.is_type() {
            return self.type_of_type(def, TyList::EMPTY);
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
    fn signature(&mut self, def: DefAt) -> TyId {
        let (it, facts) = (self.def(def), self.facts(def.file));
        let mut params: SmallVec<[TyId; 4]> = SmallVec::new();
        for p in &it.params {
            let Some(b) = facts.binding(*p) else { continue };
            if b.kind != BindingKind::Receiver
                && let [Source::Declared(e), ..] = facts.sources(b)
            {
                params.push(self.type_expr(def.file, *e));
            }
        }
        let results: SmallVec<[TyId; 4]> = it.results.iter().map(|e| self.type_expr(def.file, *e)).collect();
        let (params, results) = (self.types.list(&params), self.types.list(&results));
        self.types.id(Ty::Func { params, results, variadic: it.flags.has(DefFlags::VARIADIC) })
    }

    /// The type that an expression names.
    pub(super) fn type_expr(&mut self, file: u32, e: ExprId) -> TyId {
        if e == ExprId::NONE {
            return Types::UNKNOWN;
        }
        self.guarded(Types::UNKNOWN, |l| l.find_type(file, e))
    }

    fn find_type(&mut self, file: u32, e: ExprId) -> TyId {
        let facts = self.facts(file);
        match facts.expr(e).node {
            Node::Name { .. } | Node::Attr { .. } => match self.entity(file, e) {
                Entity::External(ty) => ty,
                Entity::Scope(def) | Entity::Imported { def, .. } if !self.is_type(def) => Types::UNKNOWN,
                _ => self.type_if_type(file, e).unwrap_or(Types::UNKNOWN),
            },
            Node::Star { value } => {
                let to = self.type_expr(file, value);
                self.types.id(Ty::Pointer(to))
            }
            Node::Unary { value } | Node::Quoted { value } => self.type_expr(file, value),
            Node::Index { base, args } => match self.entity(file, base) {
                Entity::Scope(def) | Entity::Imported { def, .. } if self.is_type(def) => {
                    self.type_args(file, def, args)
                }
                Entity::External(ty) => ty,
                _ => Types::UNKNOWN,
            },
            Node::SliceType { elem } => {
                let elem = self.type_expr(file, elem);
                self.types.id(Ty::Slice(elem))
            }
            Node::ArrayType { elem } => {
                let elem = self.type_expr(file, elem);
                self.types.id(Ty::Array(elem))
            }
            Node::MapType { key, value } => {
                let (key, value) = (self.type_expr(file, key), self.type_expr(file, value));
                self.types.id(Ty::Map(key, value))
            }
            Node::ChanType { elem } => {
                let elem = self.type_expr(file, elem);
                self.types.id(Ty::Chan(elem))
            }
            Node::FuncType { params, results, variadic } => {
                let list = |l: &mut Self, list: List| {
                    let all: SmallVec<[TyId; 4]> =
                        facts.list(list).iter().map(|e| l.type_expr(file, *e)).collect();
                    l.types.list(&all)
                };
                let (params, results) = (list(self, params), list(self, results));
                self.types.id(Ty::Func { params, results, variadic })
            }
            Node::StructType { holder } => {
                self.types.id(Ty::Struct(holder.some().map_or(DefAt::EMPTY, |def| DefAt { file, def })))
            }
            Node::InterfaceType { holder } => {
                self.types.id(Ty::Interface(holder.some().map_or(DefAt::EMPTY, |def| DefAt { file, def })))
            }
            Node::Union { .. } => {
                let mut terms: SmallVec<[TyId; 4]> = SmallVec::new();
                self.terms(file, e, &mut terms);
                let terms = self.types.list(&terms);
                self.types.id(Ty::Union(terms))
            }
            _ => Types::UNKNOWN,
        }
    }

    fn terms(&mut self, file: u32, mut e: ExprId, out: &mut SmallVec<[TyId; 4]>) {
        let mut rest: SmallVec<[ExprId; 4]> = SmallVec::new();
        while let Node::Union { left, right } = self.facts(file).expr(e).node {
            rest.push(right);
            e = left;
        }
        rest.push(e);
        for e in rest.into_iter().rev() {
            out.push(self.type_expr(file, e));
        }
    }
}
