//! Putting types in the place of type parameters.

use super::files::File;
use super::types::{Args, Env, Ty, Type, Types};

/// Nesting of type arguments that is followed.
const DEPTH_MAX: u32 = 8;
/// Parameters that one expression is read with.
const ENV_MAX: usize = 24;

impl Types {
    /// `ty` with its parameters replaced after `map`. Those that `map` leaves out stay.
    pub(crate) fn replaced(&mut self, ty: Ty, map: &[(Ty, Ty)]) -> Ty {
        if map.is_empty() { ty } else { self.replace(ty, map, 0) }
    }

    /// The parameters of the table of the standard library in a type, in the order of first mention.
    pub(crate) fn std_vars(&self, ty: Ty, out: &mut Vec<Ty>) {
        match self.get(ty) {
            Type::StdVar(_) if !out.contains(&ty) => out.push(ty),
            Type::Std(_, args) | Type::Tuple(args) | Type::Union(args) | Type::Both(args) => {
                args.iter().for_each(|a| self.std_vars(*a, out));
            }
            Type::Fn { params, result, .. } => {
                params.iter().chain([result]).for_each(|a| self.std_vars(*a, out));
            }
            _ => {}
        }
    }

    fn replace(&mut self, ty: Ty, map: &[(Ty, Ty)], depth: u32) -> Ty {
        if !self.has_vars(ty) || depth > DEPTH_MAX {
            return ty;
        }
        match self.get(ty).clone() {
            Type::Var(..) | Type::StdVar(_) | Type::This(_) => {
                map.iter().find(|m| m.0 == ty).map_or(ty, |m| m.1)
            }
            Type::Named(def, args) => {
                let args = self.replace_all(&args, map, depth);
                self.make(Type::Named(def, args))
            }
            Type::Std(name, args) => {
                let args = self.replace_all(&args, map, depth);
                self.make(Type::Std(name, args))
            }
            Type::Tuple(args) => {
                let args = self.replace_all(&args, map, depth);
                self.make(Type::Tuple(args))
            }
            Type::Union(args) => {
                let args = self.replace_all(&args, map, depth);
                self.union(&args)
            }
            Type::Both(args) => {
                let args = self.replace_all(&args, map, depth);
                self.both(&args)
            }
            Type::Fn { params, result, is_variadic } => {
                let params = self.replace_all(&params, map, depth);
                let result = self.replace(result, map, depth + 1);
                self.make(Type::Fn { params, result, is_variadic })
            }
            Type::Keys(of) => {
                let of = self.replace(of, map, depth + 1);
                self.make(Type::Keys(of))
            }
            Type::Func(def, env) => {
                let env = self.extended(def.file, &env, map, depth);
                self.make(Type::Func(def, env))
            }
            Type::Lambda(file, e, env) => {
                let env = self.extended(file, &env, map, depth);
                self.make(Type::Lambda(file, e, env))
            }
            Type::Shape(file, e, env) => {
                let env = self.extended(file, &env, map, depth);
                self.make(Type::Shape(file, e, env))
            }
            Type::Delayed(file, e, env) => {
                let env = self.extended(file, &env, map, depth);
                self.make(Type::Delayed(file, e, env))
            }
            _ => ty,
        }
    }

    fn replace_all(&mut self, args: &[Ty], map: &[(Ty, Ty)], depth: u32) -> Args {
        args.iter().map(|a| self.replace(*a, map, depth + 1)).collect()
    }

    /// An environment with a map behind it: an expression of `file` mentions parameters of that file only.
    fn extended(&mut self, file: File, env: &Env, map: &[(Ty, Ty)], depth: u32) -> Env {
        let mut out: Vec<(Ty, Ty)> =
            env.iter().map(|(var, ty)| (*var, self.replace(*ty, map, depth + 1))).collect();
        for (var, ty) in map {
            let is_of_file = match self.get(*var) {
                Type::Var(f, _) => *f == file,
                Type::This(def) => def.file == file,
                _ => false,
            };
            if is_of_file && out.len() < ENV_MAX && !out.iter().any(|e| e.0 == *var) {
                out.push((*var, *ty));
            }
        }
        out.into()
    }
}
