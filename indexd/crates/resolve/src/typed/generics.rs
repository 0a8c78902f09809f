//! Putting types in the place of type parameters.

use super::files::{DefAt, File};
use super::types::{Args, Env, Shape, Ty, Type, Types};

/// Nesting of type arguments that is followed.
const DEPTH_MAX: u32 = 8;
/// Parameters that one expression is read with.
const ENV_MAX: usize = 24;

impl Types {
    /// `ty` with its parameters replaced after `map`. Those that `map` leaves out stay.
    pub(crate) fn replaced(&mut self, ty: Ty, map: &[(Ty, Ty)]) -> Ty {
        if map.is_empty() { ty } else { self.replace(ty, map, 0) }
    }

    fn replace(&mut self, ty: Ty, map: &[(Ty, Ty)], depth: u32) -> Ty {
        if !self.has_vars(ty) || depth > DEPTH_MAX {
            return ty;
        }
        let mut t = self.get(ty).clone();
        match &mut t {
            Type::Var(..) | Type::StdVar(_) | Type::This(_) => {
                map.iter().find(|m| m.0 == ty).map_or(ty, |m| m.1)
            }
            Type::Union(args) => {
                let args = self.replace_all(args, map, depth);
                self.union(&args)
            }
            Type::Both(args) => {
                let args = self.replace_all(args, map, depth);
                self.both(&args)
            }
            Type::Func(DefAt { file, .. }, env)
            | Type::Lambda(file, _, env)
            | Type::Shape(file, _, env)
            | Type::Delayed(file, _, env) => {
                *env = self.extended(*file, env, map, depth);
                self.make(t)
            }
            _ => {
                let t = t.mapped(&mut |part| self.replace(part, map, depth + 1));
                self.make(t)
            }
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
