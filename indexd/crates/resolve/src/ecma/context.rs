//! The type that a place expects: for literals, function literals and their parameters.

use super::Linker;
use crate::remembered::remembered;
use crate::typed::slots::Asks;
use crate::typed::{DefAt, File, Site, Ty, Type, Val};
use indexd_model::{BindingId, DefIdx, ExprId, Node, Source};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The place of an expression without another around it, or the function of a parameter.
#[derive(Clone, Copy, Debug)]
pub(super) enum Root {
    /// The value of a definition.
    Def(DefIdx),
    /// The value of a variable.
    Binding(BindingId),
}

impl<'a> Linker<'a> {
    /// Returns the type that is expected at the place of an expression.
    pub(super) fn expected(&mut self, file: File, e: ExprId) -> Ty {
        self.once(|l| &mut l.answers.expected, (file, e), |l| Val::new(l.read_expected(file, e))).ty
    }

    fn read_expected(&mut self, file: File, e: ExprId) -> Ty {
        let facts = self.facts(file);
        let Some(parent) = self.files.parent(file, e) else { return self.expected_at_root(file, e) };
        match facts.expr(parent).node {
            Node::Call { callee, args } => self.expected_in_call(file, callee, args, e),
            Node::Keyword { name, .. } => {
                let Some(literal) = self.files.parent(file, parent) else { return Ty::UNKNOWN };
                let of = self.expected(file, literal);
                self.member_of_expected(of, facts.str(name), file, literal)
            }
            Node::Composite { .. } => self.expected(file, parent),
            Node::Sequence { elems, .. } => {
                let of = self.expected(file, parent);
                let index = facts.list(elems).iter().position(|x| *x == e).unwrap_or(0);
                self.item(of, index.min(usize::from(u16::MAX)) as u16)
            }
            Node::Conditional { .. } | Node::Binary { .. } => {
                let of = self.expected(file, parent);
                if of == Ty::UNKNOWN { self.expected_at_root(file, e) } else { of }
            }
            Node::Lambda { result, .. } if result == e => {
                let of = self.expected(file, parent);
                self.result_of_type(of)
            }
            Node::Address { .. } => {
                let of = self.expected(file, parent);
                self.awaited(of)
            }
            Node::Assert { value, ty } if value == e => match facts.expr(ty).node {
                Node::Unary { .. } => Ty::UNKNOWN,
                _ => self.written(file, ty),
            },
            Node::Word { word, .. } if facts.str(word) == "satisfies" => self.expected(file, parent),
            Node::KeyValue { key, value } if value == e => self.eval(file, key).ty,
            _ => self.expected_at_root(file, e),
        }
    }

    fn member_of_expected(&mut self, of: Ty, name: &str, file: File, literal: ExprId) -> Ty {
        let of = self.fitting(of, file, literal);
        self.attr(of, name, false).ty
    }

    /// Returns those of several expected types that fit the texts of a literal.
    pub(super) fn fitting(&mut self, of: Ty, file: File, literal: ExprId) -> Ty {
        let parts = self.flat_parts(of).0;
        if parts.len() < 2 {
            return of;
        }
        let facts = self.facts(file);
        let Node::Composite { elems, .. } = facts.expr(literal).node else { return of };
        let mut kept: Vec<Ty> = parts.to_vec();
        for elem in facts.list(elems).iter().take(16) {
            let Node::Keyword { name, value } = facts.expr(*elem).node else { continue };
            let is_text = matches!(facts.expr(value).node, Node::Quoted { .. } | Node::Attr { .. });
            if !is_text {
                continue;
            }
            let given = self.eval(file, value).ty;
            if !matches!(self.types.get(given), Type::Text(_) | Type::Static(_)) {
                continue;
            }
            kept.retain(|part| {
                let want = self.attr(*part, facts.str(name), false).ty;
                self.is_a(given, want, 0) != Some(false)
            });
        }
        if kept.is_empty() { of } else { self.types.union(&kept) }
    }

    fn expected_in_call(&mut self, file: File, callee: ExprId, args: indexd_model::List, e: ExprId) -> Ty {
        let facts = self.facts(file);
        let Some(index) = facts.list(args).iter().position(|a| *a == e) else { return Ty::UNKNOWN };
        let site = Site { file, args };
        match facts.expr(callee).node {
            Node::Word { word, value } if facts.str(word) == "new" => {
                let (class, given) = crate::applied(facts, value);
                let class = self.eval(file, class).ty;
                let ty = self.expected_of_new(class, site, index);
                self.with_arguments(file, class, given, ty)
            }
            Node::Word { word, value } if facts.str(word) == "jsx" => self.expected_props(file, value),
            Node::Name { name, .. } if facts.str(name) == "super" => {
                let base = self.eval(file, callee).ty;
                match self.types.get(base) {
                    Type::Named(at, _) => {
                        let class = self.types.make(Type::Static(*at));
                        self.expected_of_new(class, site, index)
                    }
                    _ => Ty::UNKNOWN,
                }
            }
            _ => {
                let callee = self.eval(file, callee).ty;
                self.expected_argument(callee, site, index)
            }
        }
    }

    /// A type of a class with the written type arguments in place.
    fn with_arguments(&mut self, file: File, class: Ty, given: &[ExprId], ty: Ty) -> Ty {
        match *self.types.get(class) {
            Type::Static(at) if !given.is_empty() => {
                let given: Vec<Ty> = given.iter().map(|a| self.written(file, *a)).collect();
                let map = self.param_map(at, &given);
                self.types.replaced(ty, &map)
            }
            _ => ty,
        }
    }

    /// The attributes that an element takes.
    fn expected_props(&mut self, file: File, component: ExprId) -> Ty {
        let ty = self.eval(file, component).ty;
        match *self.types.get(ty) {
            Type::Static(at) => {
                let made = self.types.make(Type::Named(at, Rc::from([])));
                self.attr(made, "props", false).ty
            }
            _ => self.param_of(ty, 0),
        }
    }

    fn expected_at_root(&mut self, file: File, e: ExprId) -> Ty {
        let facts = self.facts(file);
        let root = match facts.expr(e).node {
            // A function that a variable of a declared type holds.
            Node::Def { def } => Some(Root::Def(def)),
            _ => self.roots(file).get(&e).copied(),
        };
        match root {
            Some(Root::Def(def)) => match facts.def(def).ty {
                ExprId::NONE => self.expected_of_base(DefAt { file, def }),
                ty => self.written(file, ty),
            },
            Some(Root::Binding(binding)) => self.binding_type(file, binding).0,
            None => Ty::UNKNOWN,
        }
    }

    /// Returns the type that a base class declares for a field.
    fn expected_of_base(&mut self, at: DefAt) -> Ty {
        let facts = self.facts(at.file);
        let def = facts.def(at.def);
        let Some(class) = def.parent.some() else { return Ty::UNKNOWN };
        if !facts.def(class).kind.is_type() || def.kind == indexd_model::DefKind::Method {
            return Ty::UNKNOWN;
        }
        let class = DefAt { file: at.file, def: class };
        let bases = self.bases(class);
        let base = bases.iter().find(|b| matches!(self.types.get(**b), Type::Named(..))).copied();
        base.map_or(Ty::UNKNOWN, |b| self.attr(b, facts.str(def.name), false).ty)
    }

    fn roots(&mut self, file: File) -> Rc<FxHashMap<ExprId, Root>> {
        remembered(self, |l| &mut l.roots, file, |l| Rc::new(l.find_roots(file)))
    }

    fn find_roots(&self, file: File) -> FxHashMap<ExprId, Root> {
        let facts = self.facts(file);
        let mut out: FxHashMap<ExprId, Root> = FxHashMap::default();
        for (i, def) in facts.interface.defs.iter().enumerate() {
            if def.value != ExprId::NONE {
                out.insert(def.value, Root::Def(DefIdx(i as u32)));
            }
        }
        for i in 0..facts.n_bindings() as u32 {
            let Some(b) = facts.binding(BindingId(i)) else { continue };
            let sources = facts.sources(b);
            if let [Source::Declared(_), rest @ ..] = sources {
                for source in rest {
                    if let Source::Assigned(e) = source {
                        out.insert(*e, Root::Binding(BindingId(i)));
                    }
                }
            }
        }
        out
    }

    // ---- parameters

    /// Returns the type that a parameter without one gets from the place of its function.
    pub(super) fn expected_param(&mut self, file: File, binding: BindingId) -> Val {
        let Some((function, index)) = self.files.function_of(file, binding) else { return Val::UNKNOWN };
        // The definitions around a method of a literal determine its expected type.
        if let Node::Def { def } = self.facts(file).expr(function).node {
            let facts = self.facts(file);
            let around = std::iter::successors(def.some(), |d| facts.def(*d).parent.some());
            around.for_each(|def| self.files.record(DefAt { file, def }));
        }
        let of = self.expected(file, function);
        let ty = self.param_of(of, index);
        Val::inferred(ty)
    }
}
