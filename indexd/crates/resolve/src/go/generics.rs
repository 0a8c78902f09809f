//! Instantiation of generic definitions and inference of type arguments from arguments.

use super::Linker;
use super::names::Entity;
use super::types::{DefAt, Ty, TyId, TyList, Types};
use indexd_model::{BindingId, ExprId, Node};
use smallvec::{SmallVec, smallvec};

/// The inferred arguments of the type parameters of a definition.
struct Inference<'d> {
    file: u32,
    params: &'d [BindingId],
    args: SmallVec<[Option<TyId>; 4]>,
}

impl Inference<'_> {
    fn position(&self, file: u32, binding: BindingId) -> Option<usize> {
        if file == self.file { self.params.iter().position(|p| *p == binding) } else { None }
    }
}

impl<'a> Linker<'a> {
    /// Returns a type in terms of `def`'s type parameters, with the arguments substituted. Parameters without
    /// an argument stay.
    pub(super) fn instantiate(&mut self, def: DefAt, args: TyList, ty: TyId) -> TyId {
        if args == TyList::EMPTY || !self.types.is_generic(ty) {
            return ty;
        }
        let params = &self.def(def).type_params;
        let args: SmallVec<[TyId; 4]> = SmallVec::from_slice(self.types.items(args));
        self.types.replace(ty, &|file, binding| {
            let i = if file == def.file { params.iter().position(|p| *p == binding)? } else { return None };
            args.get(i).copied()
        })
    }

    /// The type of a called generic function with its type parameters inferred from the arguments
    /// (Go specification, "Type inference", without the untyped corner cases).
    pub(super) fn inferred(&mut self, file: u32, callee: ExprId, ty: TyId, args: &[ExprId]) -> TyId {
        if !self.types.is_generic(ty) {
            return ty;
        }
        let base = match self.facts(file).expr(callee).node {
            Node::Index { base, .. } => base,
            _ => callee,
        };
        let def = match self.facts(file).expr(base).node {
            Node::Name { .. } | Node::Attr { .. } => match self.entity(file, base) {
                Entity::Scope(def) | Entity::Imported { def, .. } => def,
                _ => return ty,
            },
            _ => return ty,
        };
        let params = &self.def(def).type_params;
        let Ty::Func { params: declared, variadic, .. } = self.types.get(ty) else { return ty };
        let mut inference = Inference { file: def.file, params, args: smallvec![None; params.len()] };
        let n_declared = declared.len();
        let mut untyped: SmallVec<[(TyId, TyId); 2]> = SmallVec::new();
        let passed = self.passed(file, args);
        for (i, &(arg, is_spread)) in passed.iter().enumerate() {
            let position = i.min(n_declared.saturating_sub(1));
            let Some(mut param) = self.types.item(declared, position) else { break };
            if is_spread && variadic {
                param = self.types.id(Ty::Slice(param));
            }
            if self.types.is_untyped(arg) {
                untyped.push((param, arg));
            } else {
                self.unify(&mut inference, param, arg, 0);
            }
        }
        for (param, arg) in untyped {
            let arg = self.types.default(arg);
            self.unify(&mut inference, param, arg, 0);
        }
        // A constraint with a core type ties parameters to each other: `S ~[]E`.
        for (i, &param) in params.iter().enumerate() {
            if let (Some(arg), Some(constraint)) = (inference.args[i], self.constraint(def.file, param)) {
                let core = self.core(constraint);
                let under = self.underlying(arg);
                self.unify(&mut inference, core, under, 0);
            }
        }
        let Inference { args, .. } = inference;
        self.types.replace(ty, &|file, binding| {
            let i = if file == def.file { params.iter().position(|p| *p == binding)? } else { return None };
            args[i]
        })
    }

    /// The types of arguments, `f(g())` spread out; whether each is `x...`.
    fn passed(&mut self, file: u32, args: &[ExprId]) -> SmallVec<[(TyId, bool); 4]> {
        let mut out = SmallVec::new();
        for &arg in args {
            let is_spread = matches!(self.facts(file).expr(arg).node, Node::Spread { .. });
            let ty = self.ty(file, arg);
            match self.types.get(ty) {
                Ty::Tuple(list) if args.len() == 1 => {
                    out.extend(self.types.items(list).iter().map(|t| (*t, false)));
                }
                _ => out.push((ty, is_spread)),
            }
        }
        out
    }

    /// Finds type arguments that make a parameter's type that of an argument.
    fn unify(&mut self, inference: &mut Inference, param: TyId, arg: TyId, depth: u32) {
        if depth > 20 || !self.types.is_generic(param) || self.types.is_unknown(arg) {
            return;
        }
        match self.types.get(param) {
            Ty::Param(file, binding) => {
                if let Some(i) = inference.position(file, binding)
                    && inference.args[i].is_none_or(|known| known == Types::EXTERNAL)
                {
                    inference.args[i] = Some(arg);
                }
            }
            Ty::Named(def, params) => {
                if let Ty::Named(other, args) = self.types.get(arg)
                    && def == other
                {
                    self.unify_lists(inference, params, args, depth);
                }
            }
            wanted => {
                let given = self.underlying(arg);
                match (wanted, self.types.get(given)) {
                    (Ty::Pointer(p), Ty::Pointer(a))
                    | (Ty::Slice(p), Ty::Slice(a))
                    | (Ty::Array(p), Ty::Array(a))
                    | (Ty::Chan(p), Ty::Chan(a)) => self.unify(inference, p, a, depth + 1),
                    (Ty::Map(pk, pv), Ty::Map(ak, av)) => {
                        self.unify(inference, pk, ak, depth + 1);
                        self.unify(inference, pv, av, depth + 1);
                    }
                    (Ty::Func { params: pp, results: pr, .. }, Ty::Func { params: ap, results: ar, .. }) => {
                        self.unify_lists(inference, pp, ap, depth);
                        self.unify_lists(inference, pr, ar, depth);
                    }
                    (_, Ty::External(_)) => self.unify_external(inference, param),
                    _ => {}
                }
            }
        }
    }

    fn unify_lists(&mut self, inference: &mut Inference, params: TyList, args: TyList, depth: u32) {
        for i in 0..params.len().min(args.len()) {
            if let (Some(p), Some(a)) = (self.types.item(params, i), self.types.item(args, i)) {
                self.unify(inference, p, a, depth + 1);
            }
        }
    }

    /// A type made from an external type is external.
    fn unify_external(&mut self, inference: &mut Inference, param: TyId) {
        let inner = match self.types.get(param) {
            Ty::Pointer(p) | Ty::Slice(p) | Ty::Array(p) | Ty::Chan(p) | Ty::Map(_, p) => p,
            _ => return,
        };
        if let Ty::Param(file, binding) = self.types.get(inner)
            && let Some(i) = inference.position(file, binding)
        {
            inference.args[i].get_or_insert(Types::EXTERNAL);
        }
    }
}
