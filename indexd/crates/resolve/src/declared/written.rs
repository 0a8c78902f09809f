//! Types as they are written.

use super::{Found, Language, Linker, Place, Space};
use crate::remembered::nested;
use crate::typed::slots::Asks;
use crate::typed::{DefAt, File, Ty, Type, Val};
use indexd_model::{BindingId, BindingKind, DefKind, ExprId, Node, Source};
use std::rc::Rc;

/// Members and aliases inside each other with which one more alias is followed.
const ALIASES_MAX: u32 = 17;

impl<'a, L: Language> Linker<'a, L> {
    /// The type that an expression names.
    pub(crate) fn written(&mut self, file: File, e: ExprId) -> Ty {
        if e.some().is_none() {
            return Ty::UNKNOWN;
        }
        self.once(|l| &mut l.answers.written, (file, e), |l| Val::new(l.read_type(file, e, &[]))).ty
    }

    fn read_type(&mut self, file: File, e: ExprId, args: &[Ty]) -> Ty {
        if let Some(ty) = L::ty(self, file, e) {
            return ty;
        }
        let facts = self.facts(file);
        match facts.expr(e).node {
            Node::Name { binding, .. } if binding.some().is_some() => self.bound_type(file, binding, args),
            Node::Name { .. } | Node::Attr { .. } => {
                let found = self.in_types(file, e);
                self.type_of_found(&found, args)
            }
            Node::Apply { base, args } => {
                let args: Vec<Ty> = facts.list(args).iter().map(|a| self.written(file, *a)).collect();
                self.read_type(file, base, &args)
            }
            Node::ArrayType { elem } | Node::SliceType { elem } => {
                let elem = self.written(file, elem);
                self.types.std("Array", &[elem])
            }
            Node::Star { value } | Node::Address { value } => self.written(file, value),
            Node::Sequence { elems, .. } => {
                let parts: Vec<Ty> = facts.list(elems).iter().map(|t| self.written(file, *t)).collect();
                self.types.make(Type::Tuple(parts.into()))
            }
            Node::Union { left, right } => {
                let parts = [self.written(file, left), self.written(file, right)];
                self.types.union(&parts)
            }
            Node::FuncType { params, results, variadic } => {
                let params = facts.list(params).iter().map(|t| self.written(file, *t)).collect();
                let result = facts.list(results).first().map_or(Ty::NOTHING, |r| self.written(file, *r));
                self.types.make(Type::Fn { params, result, is_variadic: variadic })
            }
            Node::Def { def } => self.type_of_def(DefAt { file, def }, args),
            _ => Ty::UNKNOWN,
        }
    }

    /// What a path in the place of a type leads to.
    pub(crate) fn in_types(&mut self, file: File, e: ExprId) -> Rc<Found> {
        if let Some(found) = L::found(self, file, e, Space::Types) {
            return Rc::new(found);
        }
        let facts = self.facts(file);
        let expr = facts.expr(e);
        match expr.node {
            Node::Name { name, binding } => match facts.binding(binding) {
                Some(b) => {
                    let def = crate::bound_def(facts, b).map(|def| DefAt { file, def });
                    Rc::new(Found::defs(def, indexd_model::Rule::Scope))
                }
                None => self.free(Place { file, at: expr.at }, facts.str(name), Space::Types),
            },
            Node::Attr { base, name } => {
                let of = self.in_types(file, base);
                let of = self.value_of_found(&of);
                self.attr(of, facts.str(name), Space::Types)
            }
            Node::Apply { base, .. } | Node::Word { value: base, .. } => self.in_types(file, base),
            Node::Def { def } => Rc::new(Found::defs([DefAt { file, def }], indexd_model::Rule::Scope)),
            _ => Rc::new(Found::unknown()),
        }
    }

    fn bound_type(&mut self, file: File, binding: BindingId, args: &[Ty]) -> Ty {
        let facts = self.facts(file);
        let Some(b) = facts.binding(binding) else { return Ty::UNKNOWN };
        if b.kind == BindingKind::TypeParam {
            return self.types.make(Type::Var(file, binding));
        }
        match crate::bound_def(facts, b) {
            Some(def) => self.type_of_def(DefAt { file, def }, args),
            None => Ty::UNKNOWN,
        }
    }

    /// What is found where a type stands, with its arguments.
    pub(crate) fn type_of_found(&mut self, found: &Found, args: &[Ty]) -> Ty {
        if let Some(hit) = found.hits.first() {
            let ty = self.type_of_def(hit.at, args);
            return self.types.replaced(ty, &hit.env);
        }
        match *self.types.get(found.ty) {
            Type::StdStatic(name) => self.types.make(Type::Std(name, args.into())),
            _ => found.ty,
        }
    }

    /// The type that a definition declares; what an alias stands for.
    pub(crate) fn type_of_def(&mut self, at: DefAt, args: &[Ty]) -> Ty {
        self.files.record(at);
        if let Some(ty) = L::type_of_def(self, at) {
            return ty;
        }
        let def = self.files.def(at);
        if def.kind != DefKind::Alias {
            return self.types.make(Type::Named(at, args.into()));
        }
        let target =
            nested(self, |l| &mut l.questions.n_members, ALIASES_MAX, |l| l.written(at.file, def.ty));
        let Some(ty) = target else { return Ty::UNKNOWN };
        let map = self.param_map(at, args);
        self.types.replaced(ty, &map)
    }

    /// The type parameters of a definition, as types.
    pub(crate) fn type_params(&mut self, at: DefAt) -> Rc<[Ty]> {
        let params = &self.files.def(at).type_params;
        params.iter().map(|p| self.types.make(Type::Var(at.file, *p))).collect()
    }

    /// The parameters of a definition with the arguments that stand for them; others stay.
    pub(crate) fn param_map(&mut self, at: DefAt, args: &[Ty]) -> Vec<(Ty, Ty)> {
        let params = self.type_params(at);
        params.iter().copied().zip(args.iter().copied()).filter(|m| m.1 != Ty::UNKNOWN).collect()
    }

    /// What a type parameter must be: all of its bounds.
    pub(crate) fn constraint(&mut self, ty: Ty) -> Option<Ty> {
        let Type::Var(file, binding) = *self.types.get(ty) else { return None };
        let facts = self.facts(file);
        let sources = facts.sources(facts.binding(binding)?).iter();
        let written = sources.filter_map(|s| match s {
            Source::Declared(e) => Some(self.written(file, *e)),
            _ => None,
        });
        let bounds: Vec<Ty> = written.filter(|b| *b != ty).collect();
        (!bounds.is_empty()).then(|| self.types.both(&bounds))
    }
}
