//! Annotations: the type of the values that an annotation promises.

use super::Linker;
use super::eval::Val;
use super::members::Target;
use super::types::{File, Std, Ty, Type, VarKey};
use crate::typed::slots::Asks;
use indexd_model::{BindingKind, DefIdx, DefKind, ExprId, List, Node};

impl<'a> Linker<'a> {
    /// The type of a value annotated with this expression.
    pub(super) fn annotation(&mut self, file: File, id: ExprId) -> Ty {
        if id.some().is_none() {
            return Ty::UNKNOWN;
        }
        self.once(|l| &mut l.answers.written, (file, id), |l| Val::new(l.read_annotation(file, id))).ty
    }

    fn read_annotation(&mut self, file: File, id: ExprId) -> Ty {
        let facts = self.facts(file);
        let expr = facts.expr(id);
        match expr.node {
            Node::Name { name, binding } => match binding.some() {
                Some(b) => {
                    let it = facts.binding(b);
                    if it.is_some_and(|b| b.kind == BindingKind::TypeParam) {
                        return self.types.make(Type::Var(file, VarKey::Binding(b)));
                    }
                    // A local class, or an import inside the function.
                    let ty = self.binding(file, b).ty;
                    self.instance_of_class(ty)
                }
                None => {
                    let name = facts.str(name);
                    let found = self.module_member(file, name);
                    if found.targets.is_empty() {
                        return self.named_annotation(file, expr.at, &format!("builtins.{name}"));
                    }
                    self.targets_annotation(file, expr.at, &found.targets)
                }
            },
            Node::Attr { base, name } => {
                let base = self.eval(file, base).ty;
                if let Type::Named(n) = *self.types.get(base) {
                    let full = format!("{}.{}", self.types.text(n), facts.str(name));
                    return self.named_annotation(file, expr.at, &full);
                }
                let attr = self.attr(base, facts.str(name));
                let targets: Vec<Target> = attr.hits.iter().map(|h| h.target).collect();
                if targets.is_empty() {
                    return self.instance_of_class(attr.ty);
                }
                self.targets_annotation(file, expr.at, &targets)
            }
            Node::Index { base, args } => self.generic(file, base, args),
            Node::Item { base, .. } => self.annotation(file, base),
            Node::Union { left, right } | Node::Binary { left, right } => {
                let left = self.annotation(file, left);
                let right = self.annotation(file, right);
                self.types.union(&[left, right])
            }
            // `A | B` outside an annotation.
            Node::Call { callee, args } => match facts.expr(callee).node {
                Node::Attr { base, name } if facts.str(name) == "__or__" => {
                    let left = self.annotation(file, base);
                    let right = facts.list(args).first().map_or(Ty::UNKNOWN, |a| self.annotation(file, *a));
                    self.types.union(&[left, right])
                }
                _ => {
                    let ty = self.eval(file, id).ty;
                    self.instance_of_class(ty)
                }
            },
            Node::Quoted { value } => self.annotation(file, value),
            Node::Literal { kind } => self.literal(kind),
            Node::Def { def } => self.targets_annotation(file, expr.at, &[Target::Def(file, def)]),
            _ => Ty::UNKNOWN,
        }
    }

    fn targets_annotation(&mut self, file: File, at: u32, targets: &[Target]) -> Ty {
        let mut parts = Vec::with_capacity(targets.len());
        for t in targets {
            let ty = match *t {
                Target::Def(f, d) => self.def_annotation(f, d),
                Target::External(n) => {
                    let name = self.types.text(n).to_owned();
                    self.named_annotation(file, at, &name)
                }
                Target::Module(_) | Target::Namespace(_) | Target::Dynamic => Ty::UNKNOWN,
            };
            parts.push(ty);
        }
        self.types.union(&parts)
    }

    /// Returns the type of an annotation that names a definition.
    fn def_annotation(&mut self, file: File, def: DefIdx) -> Ty {
        let facts = self.facts(file);
        let d = facts.def(def);
        match d.kind {
            DefKind::Class => {
                let c = self.class(file, def);
                self.types.instance(c, &[])
            }
            DefKind::Type => self.annotation(file, d.ty),
            DefKind::Variable | DefKind::Constant | DefKind::Field => {
                if let Node::Call { callee, args } = facts.expr(d.value).node {
                    let callee = self.eval(file, callee).ty;
                    let last = match *self.types.get(callee) {
                        Type::Named(n) => self.types.text(n).rsplit('.').next().unwrap_or("").to_owned(),
                        _ => String::new(),
                    };
                    match &*last {
                        "TypeVar" | "ParamSpec" | "TypeVarTuple" => {
                            return self.types.make(Type::Var(file, VarKey::Def(def)));
                        }
                        "NewType" => {
                            return facts
                                .list(args)
                                .get(1)
                                .map_or(Ty::UNKNOWN, |a| self.annotation(file, *a));
                        }
                        _ => {}
                    }
                }
                let alias = d.value;
                if alias.some().is_none() { Ty::UNKNOWN } else { self.annotation(file, alias) }
            }
            _ => Ty::UNKNOWN,
        }
    }

    /// A name from outside the tree, bare.
    fn named_annotation(&mut self, file: File, at: u32, name: &str) -> Ty {
        match name.rsplit('.').next() {
            Some("Self") => match self.class_around(file, at) {
                Some((c, _)) => self.types.make(Type::SelfOf(c)),
                None => Ty::UNKNOWN,
            },
            Some("Any" | "object" | "Incomplete") => Ty::UNKNOWN,
            _ => self.named_instance(name, &[]),
        }
    }

    /// `base[args]`.
    fn generic(&mut self, file: File, base: ExprId, args: List) -> Ty {
        let facts = self.facts(file);
        let items = facts.list(args);
        let head = self.eval(file, base).ty;
        match self.types.get(head).clone() {
            Type::Named(n) => {
                let name = self.types.text(n).to_owned();
                match name.rsplit('.').next().unwrap_or("") {
                    "Literal" => {
                        let parts: Vec<Ty> = items.iter().map(|a| self.eval(file, *a).ty).collect();
                        return self.types.union(&parts);
                    }
                    "Callable" => {
                        let result = items.last().map_or(Ty::UNKNOWN, |a| self.annotation(file, *a));
                        return self.types.std(Std::Callable, &[result]);
                    }
                    _ => {}
                }
                // `X[A, B]` may come as one tuple.
                let mut args: Vec<Ty> = Vec::with_capacity(items.len());
                for &a in items {
                    match facts.expr(a).node {
                        Node::Sequence { elems, .. } => {
                            for &e in facts.list(elems) {
                                args.push(self.annotation(file, e));
                            }
                        }
                        _ => args.push(self.annotation(file, a)),
                    }
                }
                let ends_open = items.last().is_some_and(|a| {
                    matches!(
                        facts.expr(*a).node,
                        Node::Literal { kind: indexd_model::facts::LiteralKind::Ellipsis }
                    )
                });
                if ends_open && name.rsplit('.').next().is_some_and(|l| l.eq_ignore_ascii_case("tuple")) {
                    let elem = args.first().copied().unwrap_or(Ty::UNKNOWN);
                    return self.types.std(Std::Tuples, &[elem]);
                }
                self.named_instance(&name, &args)
            }
            Type::Class(c, _) => {
                let args: Vec<Ty> = items.iter().map(|a| self.annotation(file, *a)).collect();
                self.types.instance(c, &args)
            }
            // A generic alias: its target, with the variables left open.
            _ => self.annotation(file, base),
        }
    }

    /// Returns the known type of a type variable: its bound, or any of its constraints.
    pub(super) fn bound(&mut self, ty: Ty) -> Option<Ty> {
        let Type::Var(file, key) = *self.types.get(ty) else { return None };
        let facts = self.facts(file);
        let bound = match key {
            VarKey::Def(d) => {
                let Node::Call { args, .. } = facts.expr(facts.def(d).value).node else { return None };
                let mut constraints = Vec::new();
                let mut bound = None;
                for &a in facts.list(args).iter().skip(1) {
                    match facts.expr(a).node {
                        Node::Keyword { name, value } if facts.str(name) == "bound" => {
                            bound = Some(self.annotation(file, value))
                        }
                        Node::Keyword { .. } => {}
                        _ => constraints.push(self.annotation(file, a)),
                    }
                }
                bound.or_else(|| (!constraints.is_empty()).then(|| self.types.union(&constraints)))
            }
            VarKey::Binding(b) => {
                let b = facts.binding(b).filter(|b| b.kind == BindingKind::TypeParam)?;
                crate::declared(facts.sources(b)).map(|e| self.annotation(file, e))
            }
        };
        bound.filter(|b| *b != ty && *b != Ty::UNKNOWN)
    }
}
