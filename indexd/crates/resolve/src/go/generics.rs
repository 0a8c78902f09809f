//! Instantiation of generic definitions and inference of type arguments from arguments.

use super::Linker;
use super::names::Entity;
use super::types::{DefAt, Ty, Type};
use indexd_model::{BindingId, ExprId, Node};
use smallvec::{SmallVec, smallvec};

/// The inferred arguments of the type parameters of a definition.
struct Inference<'d> {
    file: u32,
    params: &'d [BindingId],
    args: SmallVec<[Option<Ty>; 4]>,
}

impl Inference<'_> {
    fn position(&self, file: u32, binding: BindingId) -> Option<usize> {
        if file == self.file { self.params.iter().position(|p| *p == binding) } else { None }
    }
}

impl<'a> Linker<'a> {
    /// Returns a type in terms of `def`'s type parameters, with the arguments substituted. Parameters without
    /// an argument stay.
    pub(super) fn instantiate(&mut self, def: DefAt, args: &[Ty], ty: Ty) -> Ty {
        if args.is_empty() {
            return ty;
        }
        let params = &self.def(def).type_params;
        self.types.replace(ty, &|file, binding| {
            let i = if file == def.file { params.iter().position(|p| *p == binding)? } else { return None };
            args.get(i).copied()
        })
    }

    /// The type of a called generic function with its type parameters inferred from the arguments
    /// (Go specification, "Type inference", without the untyped corner cases).
    pub(super) fn inferred(&mut self, file: u32, callee: ExprId, ty: Ty, args: &[ExprId]) -> Ty {
        if !self.types.has_vars(ty) {
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
        let Type::Func { params: declared, variadic, .. } = self.types.get(ty).clone() else { return ty };
        let mut inference = Inference { file: def.file, params, args: smallvec![None; params.len()] };
        let mut untyped: SmallVec<[(Ty, Ty); 2]> = SmallVec::new();
        let passed = self.passed(file, args);
        for (i, &(arg, is_spread)) in passed.iter().enumerate() {
            let Some(mut param) = declared.get(i).or(declared.last()).copied() else { break };
            if is_spread && variadic {
                param = self.types.make(Type::Slice(param));
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
    fn passed(&mut self, file: u32, args: &[ExprId]) -> SmallVec<[(Ty, bool); 4]> {
        let mut out = SmallVec::new();
        for &arg in args {
            let is_spread = matches!(self.facts(file).expr(arg).node, Node::Spread { .. });
            let ty = self.ty(file, arg);
            match self.types.get(ty) {
                Type::Tuple(list) if args.len() == 1 => {
                    out.extend(list.iter().map(|t| (*t, false)));
                }
                _ => out.push((ty, is_spread)),
            }
        }
        out
    }

    /// Finds type arguments that make a parameter's type that of an argument.
    fn unify(&mut self, inference: &mut Inference, param: Ty, arg: Ty, depth: u32) {
        if depth > 20 || !self.types.has_vars(param) || arg == Ty::UNKNOWN {
            return;
        }
        match self.types.get(param).clone() {
            Type::Param(file, binding) => {
                if let Some(i) = inference.position(file, binding)
                    && inference.args[i].is_none_or(|known| known == Ty::EXTERNAL)
                {
                    inference.args[i] = Some(arg);
                }
            }
            Type::Named(def, params) => {
                if let Type::Named(other, args) = self.types.get(arg).clone()
                    && def == other
                {
                    self.unify_lists(inference, &params, &args, depth);
                }
            }
            wanted => {
                let given = self.underlying(arg);
                match (wanted, self.types.get(given).clone()) {
                    (Type::Pointer(p), Type::Pointer(a))
                    | (Type::Slice(p), Type::Slice(a))
                    | (Type::Array(p), Type::Array(a))
                    | (Type::Chan(p), Type::Chan(a)) => self.unify(inference, p, a, depth + 1),
                    (Type::Map(pk, pv), Type::Map(ak, av)) => {
                        self.unify(inference, pk, ak, depth + 1);
                        self.unify(inference, pv, av, depth + 1);
                    }
                    (
                        Type::Func { params: pp, results: pr, .. },
                        Type::Func { params: ap, results: ar, .. },
                    ) => {
                        self.unify_lists(inference, &pp, &ap, depth);
                        self.unify_lists(inference, &pr, &ar, depth);
                    }
                    (_, Type::External(_)) => self.unify_external(inference, param),
                    _ => {}
                }
            }
        }
    }

    fn unify_lists(&mut self, inference: &mut Inference, params: &[Ty], args: &[Ty], depth: u32) {
        for (param, arg) in params.iter().zip(args) {
            self.unify(inference, *param, *arg, depth + 1);
        }
    }

    /// A type made from an external type is external.
    fn unify_external(&mut self, inference: &mut Inference, param: Ty) {
        let inner = match *self.types.get(param) {
            Type::Pointer(p) | Type::Slice(p) | Type::Array(p) | Type::Chan(p) | Type::Map(_, p) => p,
            _ => return,
        };
        if let Type::Param(file, binding) = *self.types.get(inner)
            && let Some(i) = inference.position(file, binding)
        {
            inference.args[i].get_or_insert(Ty::EXTERNAL);
        }
    }
}
