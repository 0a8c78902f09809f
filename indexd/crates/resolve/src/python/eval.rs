//! Types of expressions, bindings and definitions.

use super::Linker;
use super::members::Target;
use super::names::is_builtin;
use super::types::{File, Std, Ty, Type, VarKey};
use crate::typed::DefAt;
pub(super) use crate::typed::Val;
use crate::typed::slots::Asks;
use indexd_model::facts::{LiteralKind, SequenceKind};
use indexd_model::path::{ancestors, dir_of, file_name_of, join};
use indexd_model::{
    BindingId, BindingKind, DefFlags, DefIdx, DefKind, ExprId, FileRoles, List, Node, Source,
};
use std::rc::Rc;

/// The arguments of a call.
#[derive(Clone, Copy)]
pub(super) struct Site {
    pub(super) file: File,
    pub(super) at: u32,
    pub(super) args: List,
}

impl<'a> Linker<'a> {
    /// The type of an expression as a value.
    pub(super) fn eval(&mut self, file: File, id: ExprId) -> Val {
        if id.some().is_none() {
            return Val::UNKNOWN;
        }
        self.once(|l| &mut l.answers.exprs, (file, id), |l| l.eval_node(file, id))
    }

    fn eval_node(&mut self, file: File, id: ExprId) -> Val {
        let facts = self.facts(file);
        let expr = facts.expr(id);
        match expr.node {
            Node::Name { name, binding } => match binding.some() {
                Some(b) => self.binding(file, b),
                None => self.free_name(file, facts.str(name)),
            },
            Node::Attr { base, name } => {
                let base = self.eval(file, base);
                let attr = self.attr(base.ty, facts.str(name));
                Val { ty: attr.ty, is_inferred: base.is_inferred || attr.is_inferred }
            }
            Node::Call { callee, args } => {
                let callee = self.eval(file, callee);
                let site = Site { file, at: expr.at, args };
                let v = self.call(callee.ty, Some(site));
                Val { ty: v.ty, is_inferred: callee.is_inferred || v.is_inferred }
            }
            Node::Index { base, args } => self.index(file, base, args),
            Node::Item { base, index } => {
                let base = self.eval(file, base);
                Val { ty: self.item(base.ty, index), is_inferred: base.is_inferred }
            }
            Node::Slice { base } => {
                let base = self.eval(file, base);
                Val { ty: self.slice(base.ty), is_inferred: base.is_inferred }
            }
            Node::Binary { left, right }
            | Node::Union { left, right }
            | Node::Conditional { then: left, otherwise: right } => {
                let (mut left, right) = (self.eval(file, left), self.eval(file, right));
                if let Node::Binary { .. } = expr.node {
                    // `x or y`: a falsy left side is not the result.
                    left.ty = match self.types.some(left.ty) {
                        Ty::NOTHING => Ty::UNKNOWN,
                        some => some,
                    };
                }
                self.any_of(&[left, right])
            }
            Node::Unary { value } => self.eval(file, value),
            Node::Compare { .. } => Val::new(self.types.std(Std::Bool, &[])),
            Node::Sequence { kind, elems } => self.sequence(file, kind, elems),
            Node::Comprehension { kind, elem } => self.comprehension(file, kind, elem),
            Node::Literal { kind } => Val::new(self.literal(kind)),
            Node::Lambda { .. } => Val::new(self.types.make(Type::Lambda(file, id))),
            Node::Await { value } => {
                let v = self.eval(file, value);
                Val { ty: self.awaited(v.ty), is_inferred: v.is_inferred }
            }
            Node::Assert { value, ty } => self.narrowed(file, value, ty),
            Node::Quoted { value } | Node::Keyword { value, .. } | Node::Spread { value } => {
                self.eval(file, value)
            }
            Node::Def { def } => self.def_value(file, def),
            _ => Val::UNKNOWN,
        }
    }

    pub(super) fn literal(&mut self, kind: LiteralKind) -> Ty {
        let std = match kind {
            LiteralKind::String => Std::Str,
            LiteralKind::Bytes => Std::Bytes,
            LiteralKind::Int => Std::Int,
            LiteralKind::Float => Std::Float,
            LiteralKind::Bool => Std::Bool,
            LiteralKind::None => return Ty::NOTHING,
            LiteralKind::Complex | LiteralKind::Rune | LiteralKind::Ellipsis => return Ty::EXTERNAL,
        };
        self.types.std(std, &[])
    }

    fn sequence(&mut self, file: File, kind: SequenceKind, elems: List) -> Val {
        let facts = self.facts(file);
        let items = facts.list(elems);
        if kind == SequenceKind::Dict {
            let (mut keys, mut values) = (Vec::new(), Vec::new());
            for &e in items {
                match facts.expr(e).node {
                    Node::KeyValue { key, value } => {
                        keys.push(self.eval(file, key).ty);
                        values.push(self.eval(file, value).ty);
                    }
                    Node::Spread { value } => {
                        let whole = self.eval(file, value).ty;
                        if let Type::Std(Std::Dict, args) = self.types.get(whole)
                            && let [k, v] = args[..]
                        {
                            keys.push(k);
                            values.push(v);
                        }
                    }
                    _ => {}
                }
            }
            let (k, v) = (self.types.union(&keys), self.types.union(&values));
            return Val::new(self.types.std(Std::Dict, &[k, v]));
        }
        let mut tys = Vec::with_capacity(items.len());
        let mut has_spread = false;
        for &e in items {
            if let Node::Spread { value } = facts.expr(e).node {
                has_spread = true;
                let whole = self.eval(file, value).ty;
                tys.push(self.element(whole));
            } else {
                tys.push(self.eval(file, e).ty);
            }
        }
        let ty = match kind {
            SequenceKind::Tuple if !has_spread => self.types.std(Std::Tuple, &tys),
            _ => {
                let elem = self.types.union(&tys);
                let kind = match kind {
                    SequenceKind::Tuple => Std::Tuples,
                    SequenceKind::Set => Std::Set,
                    _ => Std::List,
                };
                self.types.std(kind, &[elem])
            }
        };
        Val::new(ty)
    }

    fn comprehension(&mut self, file: File, kind: SequenceKind, elem: ExprId) -> Val {
        if let (SequenceKind::Dict, Node::KeyValue { key, value }) = (kind, self.facts(file).expr(elem).node)
        {
            let (k, v) = (self.eval(file, key), self.eval(file, value));
            return Val { ty: self.types.std(Std::Dict, &[k.ty, v.ty]), is_inferred: v.is_inferred };
        }
        let e = self.eval(file, elem);
        let std = match kind {
            SequenceKind::List | SequenceKind::Tuple | SequenceKind::Dict => Std::List,
            SequenceKind::Set => Std::Set,
            SequenceKind::Generator => Std::Iter,
        };
        Val { ty: self.types.std(std, &[e.ty]), is_inferred: e.is_inferred }
    }

    fn index(&mut self, file: File, base: ExprId, args: List) -> Val {
        let b = self.eval(file, base);
        match self.types.get(b.ty).clone() {
            Type::Class(c, _) => {
                let args: Vec<Ty> =
                    self.facts(file).list(args).iter().map(|a| self.annotation(file, *a)).collect();
                Val::new(self.types.make(Type::Class(c, args.into())))
            }
            Type::Named(_) => b,
            _ => Val { ty: self.subscript(b.ty), ..b },
        }
    }

    /// The type of a name that no scope of its file binds.
    fn free_name(&mut self, file: File, name: &'a str) -> Val {
        let found = self.module_member(file, name);
        if found.targets.is_empty() {
            if is_builtin(name) {
                return Val::new(self.types.named(&format!("builtins.{name}")));
            }
            return Val::UNKNOWN;
        }
        self.targets_value(&found.targets)
    }

    /// Returns the type of the targets of a name; several values are a union.
    pub(super) fn targets_value(&mut self, targets: &[Target]) -> Val {
        let all: Vec<Val> = targets.iter().map(|t| self.target_value(*t)).collect();
        self.any_of(&all)
    }

    /// The type of a value that is one of several.
    pub(super) fn any_of(&mut self, all: &[Val]) -> Val {
        let tys: Vec<Ty> = all.iter().map(|v| v.ty).collect();
        Val { ty: self.types.union(&tys), is_inferred: all.iter().any(|v| v.is_inferred) }
    }

    /// Any of the types that `of` gives for the parts of a union.
    pub(super) fn each_of(&mut self, parts: &[Ty], of: fn(&mut Self, Ty) -> Ty) -> Ty {
        let all: Vec<Ty> = parts.iter().map(|p| of(self, *p)).collect();
        self.types.union(&all)
    }

    fn target_value(&mut self, target: Target) -> Val {
        match target {
            Target::Def(f, d) => self.def_value(f, d),
            Target::Module(f) => Val::new(self.types.make(Type::Module(f))),
            Target::Namespace(n) => Val::new(self.types.make(Type::Namespace(n))),
            Target::External(n) => Val::new(self.types.make(Type::Named(n))),
            Target::Dynamic => Val::UNKNOWN,
        }
    }

    /// The type of a definition's name as a value.
    pub(super) fn def_value(&mut self, file: File, def: DefIdx) -> Val {
        self.once(|l| &mut l.answers.defs, DefAt { file, def }, |l| l.read_def(file, def))
    }

    fn read_def(&mut self, file: File, def: DefIdx) -> Val {
        self.record(file, def);
        let facts = self.facts(file);
        let d = facts.def(def);
        match d.kind {
            DefKind::Class => {
                let c = self.class(file, def);
                Val::new(self.types.make(Type::Class(c, Rc::from([]))))
            }
            DefKind::Function | DefKind::Method => self.function_value(file, def),
            DefKind::Type => {
                let ty = self.annotation(file, d.ty);
                Val::new(self.class_of_instance(ty))
            }
            DefKind::Variable | DefKind::Constant | DefKind::Field => self.variable_value(file, def),
            // The property object: `@name.setter`.
            DefKind::Property => Val::new(Ty::EXTERNAL),
            _ => Val::UNKNOWN,
        }
    }

    fn variable_value(&mut self, file: File, def: DefIdx) -> Val {
        let d = self.facts(file).def(def);
        if d.ty.some().is_some() {
            let ty = self.annotation(file, d.ty);
            if ty != Ty::UNKNOWN {
                return Val::new(ty);
            }
        }
        self.eval(file, d.value)
    }

    /// A function, or what its outermost decorator makes of it when that is an object of the tree.
    fn function_value(&mut self, file: File, def: DefIdx) -> Val {
        let plain = self.types.make(Type::Func(file, def));
        let d = self.facts(file).def(def);
        if !d.flags.has(DefFlags::WRAPPED) || d.kind == DefKind::Method {
            return Val::new(plain);
        }
        let mut ty = plain;
        for &decorator in d.decorators.iter().rev() {
            let decorator = self.eval(file, decorator).ty;
            let made = self.apply(decorator, ty);
            if matches!(self.types.get(made), Type::Instance(..)) {
                ty = made;
            }
        }
        Val::new(ty)
    }

    /// The type of a local binding.
    pub(super) fn binding(&mut self, file: File, id: BindingId) -> Val {
        self.once(|l| &mut l.answers.bindings, (file, id), |l| l.read_binding(file, id))
    }

    fn read_binding(&mut self, file: File, id: BindingId) -> Val {
        let facts = self.facts(file);
        let Some(b) = facts.binding(id) else { return Val::UNKNOWN };
        let sources = facts.sources(b);
        let declared = crate::declared(sources);
        match b.kind {
            BindingKind::Receiver => {
                if let Some(class) = self.class_of_receiver(file, b.scope) {
                    let is_class = facts.def(b.scope).flags.has(DefFlags::CLASS)
                        && facts.def(b.scope).kind != DefKind::Class
                        || self.is_metaclass(class);
                    let t = if is_class { Type::SelfClass(class) } else { Type::SelfOf(class) };
                    return Val::new(self.types.make(t));
                }
                Val::UNKNOWN
            }
            BindingKind::TypeParam => Val::new(self.types.make(Type::Var(file, VarKey::Binding(id)))),
            BindingKind::VarArgs => {
                let elem = declared.map_or(Ty::UNKNOWN, |e| self.annotation(file, e));
                Val::new(self.types.std(Std::Tuples, &[elem]))
            }
            BindingKind::KwArgs => {
                let elem = declared.map_or(Ty::UNKNOWN, |e| self.annotation(file, e));
                let key = self.types.std(Std::Str, &[]);
                Val::new(self.types.std(Std::Dict, &[key, elem]))
            }
            BindingKind::Param => {
                if let Some(e) = declared {
                    return Val::new(self.annotation(file, e));
                }
                let name = facts.str(b.name);
                let given = self.fixture(file, b.scope, name);
                if let Some(ty) = given.or_else(|| self.overridden_param(file, b.scope, name)) {
                    return Val::inferred(ty);
                }
                if let [Source::Assigned(default), ..] = sources {
                    let v = self.eval(file, *default);
                    if v.ty != Ty::UNKNOWN && v.ty != Ty::NOTHING {
                        return Val::inferred(v.ty);
                    }
                }
                Val::new(self.types.make(Type::Var(file, VarKey::Binding(id))))
            }
            _ => {
                let all: Vec<Val> = sources.iter().map(|s| self.source(file, *s)).collect();
                self.any_of(&all)
            }
        }
    }

    fn source(&mut self, file: File, source: Source) -> Val {
        match source {
            Source::Declared(e) => Val::new(self.annotation(file, e)),
            Source::Assigned(e) => self.eval(file, e),
            Source::Unpacked { value, index } => {
                let v = self.eval(file, value);
                Val { ty: self.item(v.ty, index), is_inferred: v.is_inferred }
            }
            Source::Element { of, .. } => {
                let v = self.eval(file, of);
                Val { ty: self.element(v.ty), is_inferred: v.is_inferred }
            }
            Source::ElementUnpacked { of, index } => {
                let v = self.eval(file, of);
                let elem = self.element(v.ty);
                Val { ty: self.item(elem, index), is_inferred: v.is_inferred }
            }
            Source::Entered(e) => {
                let v = self.eval(file, e);
                Val { ty: self.entered(v.ty), is_inferred: v.is_inferred }
            }
            Source::Caught(e) | Source::Narrowed(e) => Val::new(self.instance_of(file, e)),
            Source::Def(d) => self.def_value(file, d),
            Source::Import(i) => match self.facts(file).interface.imports.get(i as usize) {
                Some(import) => {
                    let found = self.import_targets(file, import);
                    self.targets_value(&found.targets)
                }
                None => Val::UNKNOWN,
            },
        }
    }

    /// A value known to be (or not to be) of a type, or to have been assigned just before.
    fn narrowed(&mut self, file: File, value: ExprId, ty: ExprId) -> Val {
        let before = self.eval(file, value);
        match self.facts(file).expr(ty).node {
            Node::KeyValue { value, .. } => {
                let assigned = self.eval(file, value);
                if assigned.ty == Ty::UNKNOWN || matches!(self.types.get(assigned.ty), Type::Var(..)) {
                    before
                } else {
                    assigned
                }
            }
            Node::Unary { value: not } => {
                let not = self.instance_of(file, not);
                let (parts, nots) = (self.types.parts(before.ty), self.types.parts(not));
                let is_left = |p: &&Ty| !nots.iter().any(|n| self.is_a(**p, *n));
                let rest: Vec<Ty> = parts.iter().filter(is_left).copied().collect();
                if rest.is_empty() { before } else { Val { ty: self.types.union(&rest), ..before } }
            }
            _ => {
                let want = self.instance_of(file, ty);
                let parts = self.types.parts(before.ty);
                let mut out = Vec::new();
                for w in self.types.parts(want).iter() {
                    let n = out.len();
                    out.extend(parts.iter().copied().filter(|p| self.is_a(*p, *w)));
                    if out.len() == n {
                        out.push(*w);
                    }
                }
                Val::new(self.types.union(&out))
            }
        }
    }

    /// Returns true if every value of one type is of another, as far as classes of the tree and containers
    /// go.
    fn is_a(&self, ty: Ty, of: Ty) -> bool {
        match (self.types.get(ty), self.types.get(of)) {
            (Type::Instance(c, _) | Type::SelfOf(c), Type::Instance(d, _) | Type::SelfOf(d)) => {
                self.classes[*c].order.contains(d)
            }
            (Type::Std(a, _), Type::Std(b, _)) => {
                a == b || matches!((a, b), (Std::Tuple, Std::Tuples) | (Std::Tuples, Std::Tuple))
            }
            (Type::Class(c, _), Type::Class(d, _)) => self.classes[*c].order.contains(d),
            _ => false,
        }
    }

    /// Returns the instance that a type test or an `except` clause checks for: of a class, or of any of a
    /// tuple of classes.
    fn instance_of(&mut self, file: File, e: ExprId) -> Ty {
        let facts = self.facts(file);
        if let Node::Index { base, .. } = facts.expr(e).node
            && let Node::Name { name, .. } = facts.expr(base).node
            && facts.str(name) == "type"
        {
            return self.annotation(file, e);
        }
        let ty = self.eval(file, e).ty;
        self.instance_of_class(ty)
    }

    pub(super) fn instance_of_class(&mut self, ty: Ty) -> Ty {
        match self.types.get(ty).clone() {
            Type::Class(c, args) => self.types.instance(c, &args),
            Type::SelfClass(c) => self.types.make(Type::SelfOf(c)),
            Type::Named(n) => {
                let name = self.types.text(n).to_owned();
                self.named_instance(&name, &[])
            }
            Type::Union(parts) | Type::Std(Std::Tuple | Std::Tuples, parts) => {
                self.each_of(&parts, Self::instance_of_class)
            }
            Type::ClassOf(t) => t,
            Type::External => Ty::EXTERNAL,
            _ => Ty::UNKNOWN,
        }
    }

    /// The class object of an instance type.
    pub(super) fn class_of_instance(&mut self, ty: Ty) -> Ty {
        match self.types.get(ty).clone() {
            Type::Instance(c, args) => self.types.make(Type::Class(c, args)),
            Type::SelfOf(c) => self.types.make(Type::SelfClass(c)),
            Type::Union(parts) => self.each_of(&parts, Self::class_of_instance),
            Type::External => Ty::EXTERNAL,
            Type::Unknown | Type::None => Ty::UNKNOWN,
            _ => self.types.make(Type::ClassOf(ty)),
        }
    }

    /// Returns the class of the instances that a receiver holds: the one around a method, or around a lambda
    /// of the class body.
    fn class_of_receiver(&mut self, file: File, scope: DefIdx) -> Option<super::types::ClassId> {
        if self.facts(file).def(scope.some()?).kind == DefKind::Class {
            return Some(self.class(file, scope));
        }
        self.class_of(file, scope)
    }

    fn is_metaclass(&mut self, class: super::types::ClassId) -> bool {
        // A class that derives from `type` has classes as its instances.
        let (file, def) = (self.classes[class].file, self.classes[class].def);
        let facts = self.facts(file);
        facts
            .def(def)
            .bases
            .iter()
            .any(|b| matches!(facts.expr(*b).node, Node::Name { name, .. } if facts.str(name) == "type"))
    }

    /// The value pytest passes for a parameter: that of the fixture of this name in the file, else
    /// in the nearest `conftest.py` up the tree.
    fn fixture(&mut self, file: File, def: DefIdx, name: &'a str) -> Option<Ty> {
        let facts = self.facts(file);
        let is_test_file = facts.interface.roles.has(FileRoles::TEST)
            || file_name_of(self.loaded.path(file)) == "conftest.py";
        let d = facts.def(def.some()?);
        let takes = facts.str(d.name).starts_with("test") || self.is_fixture(file, def);
        if !is_test_file || !takes {
            return None;
        }
        // A fixture of the class around, then of the module, then of the folders.
        if let Some(class) = self.class_of(file, def)
            && let Some(m) = self.member(class, name)
        {
            let (f, d) = (self.classes[m.owner].file, *m.defs.last()?);
            if self.is_fixture(f, d) && d != def {
                return Some(self.fixture_value(f, d));
            }
        }
        if let Some(ty) = self.fixture_in(file, name, def) {
            return Some(ty);
        }
        ancestors(dir_of(self.loaded.path(file))).find_map(|dir| {
            let f = self.loaded.open(self.view.file(&join(dir, "conftest.py"))?);
            if f == file { None } else { self.fixture_in(f, name, DefIdx::NONE) }
        })
    }

    fn fixture_in(&mut self, file: File, name: &'a str, not: DefIdx) -> Option<Ty> {
        let found = self.module_member(file, name);
        found.targets.iter().find_map(|t| match *t {
            Target::Def(f, d) if (f, d) != (file, not) && self.is_fixture(f, d) => {
                Some(self.fixture_value(f, d))
            }
            _ => None,
        })
    }

    fn fixture_value(&mut self, file: File, def: DefIdx) -> Ty {
        let flags = self.facts(file).def(def).flags;
        let mut ty = self.raw_return(file, def).ty;
        if flags.has(DefFlags::ASYNC) {
            ty = self.awaited(ty);
        }
        if flags.has(DefFlags::GENERATOR) { self.element(ty) } else { ty }
    }

    fn is_fixture(&self, file: File, def: DefIdx) -> bool {
        let facts = self.facts(file);
        facts.def(def).kind.is_callable()
            && facts.def(def).decorators.iter().any(|d| {
                let callee = match facts.expr(*d).node {
                    Node::Call { callee, .. } => callee,
                    _ => *d,
                };
                match facts.expr(callee).node {
                    Node::Name { name, .. } | Node::Attr { name, .. } => {
                        matches!(facts.str(name), "fixture" | "yield_fixture")
                    }
                    _ => false,
                }
            })
    }
}
