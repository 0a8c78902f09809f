//! Types of expressions, bindings and definitions.

use super::{Found, Language, Linker, Place, Space};
use crate::typed::slots::Asks;
use crate::typed::{DefAt, File, Ty, Type, Val};
use indexd_model::{BindingId, BindingKind, DefFlags, DefIdx, DefKind, ExprId, List, Node, Source};
use std::rc::Rc;

/// Elements of a literal that are looked at.
const ELEMENTS_MAX: usize = 8;

impl<'a, L: Language> Linker<'a, L> {
    /// The type of an expression as a value.
    pub(crate) fn eval(&mut self, file: File, e: ExprId) -> Val {
        if e.some().is_none() {
            return Val::UNKNOWN;
        }
        self.once(|l| &mut l.answers.exprs, (file, e), |l| l.read_value(file, e))
    }

    fn read_value(&mut self, file: File, e: ExprId) -> Val {
        if let Some(v) = L::value(self, file, e) {
            return v;
        }
        let facts = self.facts(file);
        let expr = facts.expr(e);
        match expr.node {
            Node::Name { name, binding } => match binding.some() {
                Some(b) => self.binding(file, b),
                None => {
                    let found = self.free(Place { file, at: expr.at }, facts.str(name), Space::Values);
                    Val::new(self.value_of_found(&found))
                }
            },
            Node::Attr { base, name } => {
                let base = self.eval(file, base);
                let found = self.attr(base.ty, facts.str(name), Space::Values);
                Val { ty: self.value_of_found(&found), ..base }
            }
            Node::Call { .. } => self.call_value(file, e),
            Node::Apply { base, .. } => self.eval(file, base),
            Node::Index { base, .. } => self.element_of(file, base),
            Node::Item { base, index } => {
                let base = self.eval(file, base);
                let Type::Tuple(parts) = self.types.get(base.ty) else { return Val::UNKNOWN };
                Val { ty: parts.get(usize::from(index)).copied().unwrap_or(Ty::UNKNOWN), ..base }
            }
            Node::Binary { left, right } => {
                let (left, right) = (self.eval(file, left), self.eval(file, right));
                Val { ty: L::operation(self, left.ty, right.ty), ..left }
            }
            Node::Conditional { then, otherwise } => {
                let (left, right) = (self.eval(file, then), self.eval(file, otherwise));
                let is_inferred = left.is_inferred || right.is_inferred;
                Val { ty: self.types.union(&[left.ty, right.ty]), is_inferred }
            }
            Node::Assert { ty, value } => match self.written(file, ty) {
                Ty::UNKNOWN => self.eval(file, value),
                ty => Val::new(ty),
            },
            Node::KeyValue { value, .. }
            | Node::Keyword { value, .. }
            | Node::Unary { value }
            | Node::Star { value }
            | Node::Address { value } => self.eval(file, value),
            Node::Literal { kind } => match L::literal(kind) {
                "" => Val::new(Ty::NOTHING),
                name => Val::new(self.types.std(name, &[])),
            },
            Node::Lambda { .. } => Val::new(self.types.make(Type::Lambda(file, e, Rc::from([])))),
            Node::Sequence { elems, .. } => self.sequence(file, elems),
            Node::Composite { ty, .. } => Val::new(self.written(file, ty)),
            Node::Def { def } => self.def_value(DefAt { file, def }),
            _ => Val::UNKNOWN,
        }
    }

    fn sequence(&mut self, file: File, elems: List) -> Val {
        let all = self.facts(file).list(elems).iter().take(ELEMENTS_MAX);
        let tys: Vec<Ty> = all.map(|e| self.eval(file, *e).ty).collect();
        let elem = self.types.union(&tys);
        Val::new(self.types.std("Array", &[elem]))
    }

    /// What a subscript of an expression, or going through it, gives.
    pub(crate) fn element_of(&mut self, file: File, e: ExprId) -> Val {
        let v = self.eval(file, e);
        Val { ty: self.element(v.ty), ..v }
    }

    /// What going through a value gives: its member `[]`.
    pub(crate) fn element(&mut self, ty: Ty) -> Ty {
        if let Some(ty) = L::element(self, ty) {
            return ty;
        }
        let found = self.attr(ty, "[]", Space::Values);
        found.ty
    }

    /// What is found, as a value.
    pub(crate) fn value_of_found(&mut self, found: &Found) -> Ty {
        let Some(hit) = found.hits.first() else { return found.ty };
        let ty = self.def_value(hit.at).ty;
        self.types.replaced(ty, &hit.env)
    }

    // ---- definitions

    /// The type of a definition's name as a value.
    pub(crate) fn def_value(&mut self, at: DefAt) -> Val {
        self.once(|l| &mut l.answers.defs, at, |l| l.read_def(at))
    }

    fn read_def(&mut self, at: DefAt) -> Val {
        self.files.record(at);
        if let Some(v) = L::def_value(self, at) {
            return v;
        }
        let facts = self.facts(at.file);
        let def = facts.def(at.def);
        match def.kind {
            kind if kind.is_type() || kind == DefKind::Module => Val::new(self.types.make(Type::Static(at))),
            kind if kind.is_callable() => Val::new(self.types.make(Type::Func(at, Rc::from([])))),
            _ if def.ty != ExprId::NONE => Val::new(self.written(at.file, def.ty)),
            // A constant of an enumeration is a value of it.
            DefKind::Constant if def.parent.some().is_some_and(|p| facts.def(p).kind == DefKind::Enum) => {
                let owner = DefAt { def: def.parent, ..at };
                Val::new(self.type_of_def(owner, &[]))
            }
            _ => {
                let v = self.eval(at.file, def.value);
                Val { is_inferred: true, ..v }
            }
        }
    }

    // ---- bindings

    /// The type of a local name.
    pub(crate) fn binding(&mut self, file: File, id: BindingId) -> Val {
        self.once(|l| &mut l.answers.bindings, (file, id), |l| l.read_binding(file, id))
    }

    fn read_binding(&mut self, file: File, id: BindingId) -> Val {
        let facts = self.facts(file);
        let Some(b) = facts.binding(id) else { return Val::UNKNOWN };
        let sources = facts.sources(b);
        if b.kind == BindingKind::Receiver {
            return self.receiver(file, facts.str(b.name), b.scope, sources);
        }
        if b.kind == BindingKind::TypeParam {
            return Val::new(self.types.make(Type::Var(file, id)));
        }
        let Some(first) = sources.first() else { return self.expected_param(file, id) };
        match *first {
            Source::Declared(e) => Val::new(self.written(file, e)),
            Source::Assigned(e) => match L::filled(self, file, id, e) {
                Some(v) => v,
                None => self.eval(file, e),
            },
            Source::Entered(e) => self.eval(file, e),
            Source::Element { of, .. } => self.element_of(file, of),
            Source::Unpacked { value, index } => {
                let v = self.eval(file, value);
                Val { ty: L::part(self, v.ty, index), ..v }
            }
            Source::ElementUnpacked { of, index } => {
                let v = self.element_of(file, of);
                Val { ty: L::part(self, v.ty, index), ..v }
            }
            Source::Def(def) => self.def_value(DefAt { file, def }),
            _ => Val::UNKNOWN,
        }
    }

    /// The value that a method runs on; `super` is the same as what its class derives from.
    fn receiver(&mut self, file: File, word: &str, function: DefIdx, sources: &[Source]) -> Val {
        let facts = self.facts(file);
        let class = match sources.first() {
            Some(Source::Def(class)) => class,
            Some(Source::Declared(ty)) => return Val::new(self.written(file, *ty)),
            _ => return Val::UNKNOWN,
        };
        let at = DefAt { file, def: *class };
        if word == "super" {
            let bases = self.bases(at);
            return Val::new(if bases.is_empty() { Ty::EXTERNAL } else { self.types.both(&bases) });
        }
        let is_static = function.some().is_some_and(|f| facts.def(f).flags.has(DefFlags::STATIC));
        let ty = if is_static { Type::Static(at) } else { Type::This(at) };
        Val::new(self.types.make(ty))
    }
}
