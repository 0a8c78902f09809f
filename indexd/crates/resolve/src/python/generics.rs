//! Type variables: putting types in their place, and finding them from arguments.

use super::Linker;
use super::types::{File, Std, Ty, Type, VarKey};
use crate::typed::types::Shape;
use indexd_model::BindingId;
use std::rc::Rc;

/// Nesting of type arguments that is followed.
const DEPTH_MAX: u32 = 6;

impl<'a> Linker<'a> {
    /// A type parameter as a type.
    pub(super) fn binding_var(&mut self, file: File, binding: BindingId) -> Ty {
        self.types.make(Type::Var(file, VarKey::Binding(binding)))
    }

    /// `ty` with variables replaced after `map` and the receiver's own class put in. Variables that
    /// `map` leaves out stay.
    pub(super) fn substitute(&mut self, ty: Ty, map: &[(Ty, Ty)], receiver: Option<Ty>) -> Ty {
        self.replace(ty, map, receiver, 0)
    }

    fn replace(&mut self, ty: Ty, map: &[(Ty, Ty)], receiver: Option<Ty>, depth: u32) -> Ty {
        if !self.types.has_vars(ty) || depth > DEPTH_MAX {
            return ty;
        }
        match self.types.get(ty).clone() {
            Type::Var(..) => map.iter().find(|m| m.0 == ty).map_or(ty, |m| m.1),
            Type::SelfOf(_) => match receiver.map(|r| (r, self.types.get(r).clone())) {
                Some((r, Type::Instance(..) | Type::SelfOf(_))) => r,
                Some((r, Type::Class(..) | Type::SelfClass(_))) => self.instance_of_class(r),
                _ => ty,
            },
            Type::SelfClass(_) => match receiver.map(|r| (r, self.types.get(r).clone())) {
                Some((r, Type::Instance(..) | Type::SelfOf(_))) => self.class_of_instance(r),
                Some((r, Type::Class(..) | Type::SelfClass(_))) => r,
                _ => ty,
            },
            Type::Union(args) => {
                let args: Vec<Ty> = args.iter().map(|a| self.replace(*a, map, receiver, depth + 1)).collect();
                self.types.union(&args)
            }
            Type::ClassOf(t) => {
                let t = self.replace(t, map, receiver, depth + 1);
                self.class_of_instance(t)
            }
            other => {
                let other = other.mapped(&mut |part| self.replace(part, map, receiver, depth + 1));
                self.types.make(other)
            }
        }
    }

    /// Learns from a value of type `actual` passed where `pattern` is expected.
    pub(super) fn unify(&mut self, pattern: Ty, actual: Ty, map: &mut Vec<(Ty, Ty)>, depth: u32) {
        if !self.types.has_vars(pattern) || depth > DEPTH_MAX || actual == Ty::UNKNOWN {
            return;
        }
        match (self.types.get(pattern).clone(), self.types.get(actual).clone()) {
            (Type::Var(..), _) => match map.iter().position(|m| m.0 == pattern) {
                Some(i) => map[i].1 = self.types.union(&[map[i].1, actual]),
                None => map.push((pattern, actual)),
            },
            (Type::Union(parts), _) => {
                let actual = self.types.some(actual);
                parts.iter().for_each(|p| self.unify(*p, actual, map, depth + 1));
            }
            (_, Type::Union(parts)) => {
                parts.iter().for_each(|p| self.unify(pattern, *p, map, depth + 1));
            }
            (Type::Instance(c, args), Type::Instance(d, given)) => {
                let known = self.args_of(d, &given, c);
                let params = Rc::clone(&self.classes[c].params);
                for (arg, param) in args.iter().zip(params.iter()) {
                    if let Some(k) = known.iter().find(|k| k.0 == *param) {
                        self.unify(*arg, k.1, map, depth + 1);
                    }
                }
            }
            (Type::ClassOf(t), Type::Class(..) | Type::SelfClass(_) | Type::ClassOf(_)) => {
                let instance = self.instance_of_class(actual);
                self.unify(t, instance, map, depth + 1);
            }
            (Type::Std(Std::Callable, args), _) => {
                let result = self.call(actual, None).ty;
                if let Some(a) = args.first() {
                    self.unify(*a, result, map, depth + 1);
                }
            }
            (Type::Std(Std::Dict, args), Type::Std(Std::Dict, given))
            | (Type::Std(Std::Tuple, args), Type::Std(Std::Tuple, given))
            | (Type::Std(Std::Awaitable | Std::Context, args), Type::Std(_, given)) => {
                for (a, g) in args.iter().zip(given.iter()) {
                    self.unify(*a, *g, map, depth + 1);
                }
            }
            (Type::Std(_, args), _) => {
                let elem = self.element(actual);
                if let Some(a) = args.first() {
                    self.unify(*a, elem, map, depth + 1);
                }
            }
            _ => {}
        }
    }
}
