//! What a place expects: the types of function literals and their parameters.

use super::{Language, Linker};
use crate::typed::slots::Asks;
use crate::typed::{File, Site, Ty, Type, Val};
use indexd_model::{BindingId, ExprId, Node};

impl<'a, L: Language> Linker<'a, L> {
    /// The type that is expected where an expression stands.
    pub(crate) fn expected(&mut self, file: File, e: ExprId) -> Ty {
        self.once(|l| &mut l.answers.expected, (file, e), |l| Val::new(l.read_expected(file, e))).ty
    }

    fn read_expected(&mut self, file: File, e: ExprId) -> Ty {
        let facts = self.facts(file);
        let Some(parent) = self.files.parent(file, e) else { return Ty::UNKNOWN };
        match facts.expr(parent).node {
            Node::Call { args, .. } => self.expected_argument(file, parent, Site { file, args }, e),
            Node::Assert { value, ty } if value == e => self.written(file, ty),
            Node::KeyValue { key, value } if value == e => self.eval(file, key).ty,
            Node::Conditional { .. } => self.expected(file, parent),
            Node::Sequence { .. } => {
                let of = self.expected(file, parent);
                self.element(of)
            }
            Node::Lambda { result, .. } if result == e => {
                let of = self.expected(file, parent);
                self.functional(of).map_or(Ty::UNKNOWN, |f| f.1)
            }
            _ => Ty::UNKNOWN,
        }
    }

    /// What a place in a call expects, with the type parameters that other arguments tell of.
    fn expected_argument(&mut self, file: File, call: ExprId, site: Site, e: ExprId) -> Ty {
        let list = self.facts(file).list(site.args);
        let Some(index) = list.iter().position(|a| *a == e) else { return Ty::UNKNOWN };
        let picked = self.picked(file, call);
        if let Some(hit) = picked.found.hits.first() {
            let params = self.params(hit);
            let Some(param) = params.get(index).or(params.last().filter(|p| p.is_rest)) else {
                return Ty::UNKNOWN;
            };
            let ty = if param.is_rest { self.element(param.ty) } else { param.ty };
            let mut own = self.type_params(hit.at).to_vec();
            // A type that is made without arguments gets them from the values.
            if let Some(Type::Named(class, _)) = picked.made.map(|m| self.types.get(m).clone()) {
                own.extend(self.type_params(class).iter());
            }
            if own.is_empty() || !self.types.has_vars(ty) {
                return ty;
            }
            let map = self.solved(hit, site, &own, false);
            // What bounds a parameter tells the function that stands for it.
            let bound = self.constraint(ty).filter(|b| self.functional(*b).is_some());
            return self.types.replaced(bound.unwrap_or(ty), &map);
        }
        let Type::Fn { params, .. } = self.types.get(picked.found.ty).clone() else { return Ty::UNKNOWN };
        let Some(ty) = params.get(index).copied() else { return Ty::UNKNOWN };
        if !self.types.has_vars(ty) {
            return ty;
        }
        let pairs: Vec<(Ty, ExprId)> = params.iter().copied().zip(list.iter().copied()).collect();
        let map = self.learned(file, &pairs, None, false);
        self.types.replaced(ty, &map)
    }

    /// The type that a parameter without one gets from where its function stands.
    pub(crate) fn expected_param(&mut self, file: File, binding: BindingId) -> Val {
        let Some((function, index)) = self.files.function_of(file, binding) else { return Val::UNKNOWN };
        let of = self.expected(file, function);
        let ty = self.functional(of).and_then(|f| f.0.get(index).copied());
        Val::inferred(ty.unwrap_or(Ty::UNKNOWN))
    }
}
