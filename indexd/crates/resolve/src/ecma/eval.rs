//! Types of expressions, bindings and definitions.

use super::Linker;
use super::attrs::GLOBAL_THIS;
use super::names::{DEFAULT, REEXPORTS_MAX, Space, Target, import_of};
use super::std::{TABLE, canonical, is_global, is_known};
use crate::typed::slots::Asks;
use crate::typed::{DefAt, File, Ty, Type, Val};
use indexd_model::facts::{ImportKind, LiteralKind};
use indexd_model::{BindingId, BindingKind, DefFlags, DefIdx, DefKind, ExprId, List, Node, Source};
use std::rc::Rc;

impl<'a> Linker<'a> {
    /// The type of an expression as a value.
    pub(super) fn eval(&mut self, file: File, e: ExprId) -> Val {
        if e.some().is_none() {
            return Val::UNKNOWN;
        }
        self.once(|l| &mut l.answers.exprs, (file, e), |l| l.read_value(file, e))
    }

    fn read_value(&mut self, file: File, e: ExprId) -> Val {
        let facts = self.facts(file);
        let expr = facts.expr(e);
        match expr.node {
            Node::Name { name, binding } => match binding.some() {
                Some(b) => self.binding(file, b),
                None => self.free_value(file, facts.str(name)),
            },
            Node::Attr { base, name } => {
                let base = self.eval(file, base);
                let attr = self.attr(base.ty, facts.str(name), false);
                Val { ty: attr.ty, is_inferred: base.is_inferred || attr.is_inferred }
            }
            Node::Call { .. } => self.call_value(file, e),
            Node::Apply { base, args } => self.instantiated(file, base, args),
            Node::Index { base, args } => self.subscript(file, base, args),
            Node::Item { base, index } => {
                let base = self.eval(file, base);
                Val { ty: self.item(base.ty, index), ..base }
            }
            Node::Slice { base } => self.eval(file, base),
            Node::Binary { left, right } | Node::Conditional { then: left, otherwise: right } => {
                let (left, right) = (self.eval(file, left), self.eval(file, right));
                let is_inferred = left.is_inferred || right.is_inferred;
                Val { ty: self.types.union(&[left.ty, right.ty]), is_inferred }
            }
            Node::KeyValue { value, .. } | Node::Keyword { value, .. } => self.eval(file, value),
            Node::Quoted { value } => match facts.expr(value).node {
                Node::Name { name, .. } => Val::new(self.text(facts.str(name))),
                _ => Val::UNKNOWN,
            },
            Node::Spread { value } => {
                let v = self.eval(file, value);
                Val { ty: self.element(v.ty), ..v }
            }
            Node::Sequence { elems, .. } => self.sequence(file, elems),
            Node::Literal { kind } => Val::new(self.literal(kind)),
            Node::Lambda { .. } => Val::new(self.types.make(Type::Lambda(file, e, Rc::from([])))),
            Node::Composite { .. } => Val::inferred(self.types.make(Type::Shape(file, e, Rc::from([])))),
            Node::Await { value } => {
                let v = self.eval(file, value);
                Val { ty: self.awaited(v.ty), ..v }
            }
            Node::Address { value } => {
                let v = self.eval(file, value);
                Val { ty: self.promise(v.ty), ..v }
            }
            Node::Assert { value, ty } => self.asserted(file, value, ty),
            Node::Word { word, value } => self.word_value(file, facts.str(word), value),
            Node::Def { def } => self.def_value(DefAt { file, def }),
            _ => Val::UNKNOWN,
        }
    }

    fn word_value(&mut self, file: File, word: &str, value: ExprId) -> Val {
        match word {
            "satisfies" => self.eval(file, value),
            "require" | "import" => {
                let facts = self.facts(file);
                let Node::Name { name, .. } = facts.expr(value).node else { return Val::UNKNOWN };
                let target = self.imported(file, facts.str(name));
                let ty = self.found_value(target, word == "require").ty;
                Val::new(if word == "import" { self.promise(ty) } else { ty })
            }
            _ => Val::UNKNOWN,
        }
    }

    pub(super) fn text(&mut self, text: &str) -> Ty {
        let name = self.types.name(text);
        self.types.make(Type::Text(name))
    }

    fn literal(&mut self, kind: LiteralKind) -> Ty {
        match kind {
            LiteralKind::String => self.types.std("string", &[]),
            LiteralKind::Int => self.types.std("number", &[]),
            LiteralKind::None => Ty::NOTHING,
            _ => Ty::EXTERNAL,
        }
    }

    fn sequence(&mut self, file: File, elems: List) -> Val {
        let facts = self.facts(file);
        let items = facts.list(elems);
        let has_spread = items.iter().any(|e| matches!(facts.expr(*e).node, Node::Spread { .. }));
        let is_literal = !has_spread && items.len() <= 8;
        let mut is_inferred = false;
        let tys: Vec<Ty> = items
            .iter()
            .take(64)
            .map(|e| {
                let v = self.eval(file, *e);
                is_inferred |= v.is_inferred;
                v.ty
            })
            .collect();
        let ty = match is_literal && !tys.is_empty() {
            true => self.types.make(Type::Tuple(tys.into())),
            false => {
                let elem = self.types.union(&tys);
                self.types.std("Array", &[elem])
            }
        };
        Val { ty, is_inferred }
    }

    /// `f<T>` without a call, and `C<T>`.
    fn instantiated(&mut self, file: File, base: ExprId, args: List) -> Val {
        let v = self.eval(file, base);
        let given: Vec<Ty> = self.facts(file).list(args).iter().map(|a| self.written(file, *a)).collect();
        match self.types.get(v.ty).clone() {
            Type::Func(def, env) => {
                let params = self.type_params(def);
                let map: Vec<(Ty, Ty)> =
                    params.iter().copied().zip(given).chain(env.iter().copied()).collect();
                Val { ty: self.types.make(Type::Func(def, map.into())), ..v }
            }
            Type::Fn { .. } => {
                let mut vars = Vec::new();
                self.types.mentioned(v.ty, |t| matches!(t, Type::StdVar(_)), &mut vars);
                let map: Vec<(Ty, Ty)> = vars.into_iter().zip(given).collect();
                Val { ty: self.types.replaced(v.ty, &map), ..v }
            }
            _ => v,
        }
    }

    fn subscript(&mut self, file: File, base: ExprId, args: List) -> Val {
        let facts = self.facts(file);
        let b = self.eval(file, base);
        let Some(index) = facts.list(args).first() else { return Val::UNKNOWN };
        let key = self.eval(file, *index).ty;
        if let Type::Text(name) = self.types.get(key) {
            let name = self.types.text(*name);
            let attr = self.attr(b.ty, &name, false);
            if attr.ty != Ty::UNKNOWN {
                return Val { ty: attr.ty, is_inferred: true };
            }
        }
        Val { ty: self.element(b.ty), ..b }
    }

    /// The type of a name that no scope of its file binds.
    fn free_value(&mut self, file: File, name: &'a str) -> Val {
        let found = self.at_top(file, name, Space::Values, REEXPORTS_MAX);
        match found.target {
            // The exports of a CommonJS module.
            Target::NotFound if name == "exports" && self.is_common(file) => {
                Val::new(self.types.make(Type::Module(file)))
            }
            Target::NotFound if name == "module" => Val::new(Ty::EXTERNAL),
            Target::NotFound if matches!(name, "window" | "globalThis" | "self" | "global") => {
                let this = self.types.name(GLOBAL_THIS);
                Val::new(self.types.make(Type::StdStatic(this)))
            }
            Target::NotFound => {
                let is_outside = is_global(name) && !is_known(canonical(name));
                let ty = if is_outside { Ty::EXTERNAL } else { Ty::UNKNOWN };
                Val::new(self.std_value(name).unwrap_or(ty))
            }
            Target::External => Val::new(self.external_value(file, name)),
            Target::Module(_) => {
                let is_required = self.is_required(file, name);
                self.found_value(found.target, is_required)
            }
            target @ Target::Def(_) => self.found_value(target, false),
        }
    }

    /// Returns true if a name is bound by `const x = require('y')`.
    fn is_required(&self, file: File, name: &str) -> bool {
        let facts = self.facts(file);
        let binds = |i: &&indexd_model::facts::Import| {
            i.level == 0 && i.kind == ImportKind::Module && i.alias.is_some_and(|a| facts.str(a) == name)
        };
        self.is_common(file) && facts.interface.imports.iter().any(|i| binds(&i))
    }

    fn found_value(&mut self, target: Target, is_required: bool) -> Val {
        match target {
            Target::Def(def) => self.def_value(def),
            Target::Module(module) => {
                if is_required {
                    let of = self.exported(module, DEFAULT, Space::Values, REEXPORTS_MAX);
                    if let Target::Def(def) = of.target {
                        return self.def_value(def);
                    }
                }
                Val::new(self.types.make(Type::Module(module)))
            }
            Target::External => Val::new(Ty::EXTERNAL),
            Target::NotFound => Val::UNKNOWN,
        }
    }

    /// Returns the value of an import from outside the tree.
    fn external_value(&mut self, file: File, name: &str) -> Ty {
        let facts = self.facts(file);
        let Some(import) = import_of(facts, 0, name) else { return Ty::EXTERNAL };
        let module = facts.str(import.module);
        let own = import.name.map_or("", |n| facts.str(n));
        if import.kind == ImportKind::Module || own == DEFAULT {
            let whole = self.types.name(&format!("module {module}"));
            return if module == "react" { self.types.make(Type::StdStatic(whole)) } else { Ty::EXTERNAL };
        }
        self.value_of_module(module, own).unwrap_or(Ty::EXTERNAL)
    }

    // ---- definitions

    /// The type of a definition's name as a value.
    pub(super) fn def_value(&mut self, at: DefAt) -> Val {
        self.once(|l| &mut l.answers.defs, at, |l| l.read_def(at))
    }

    fn read_def(&mut self, at: DefAt) -> Val {
        self.files.record(at);
        let def = self.files.def(at);
        match def.kind {
            DefKind::Class | DefKind::Enum | DefKind::Module => Val::new(self.types.make(Type::Static(at))),
            DefKind::Function | DefKind::Method => {
                if def.ty != ExprId::NONE {
                    let ty = self.written(at.file, def.ty);
                    if !matches!(ty, Ty::UNKNOWN | Ty::EXTERNAL) {
                        return Val::new(ty);
                    }
                }
                Val::new(self.types.make(Type::Func(at, Rc::from([]))))
            }
            DefKind::Property => self.property_value(at),
            DefKind::Constant => Val::new(self.types.make(Type::Static(at))),
            DefKind::Variable | DefKind::Field => {
                if def.ty.some().is_some() {
                    return Val::new(self.written(at.file, def.ty));
                }
                let v = self.eval(at.file, def.value);
                Val::inferred(self.widened(v.ty))
            }
            _ => Val::UNKNOWN,
        }
    }

    /// Returns the type that a getter returns, or a setter takes.
    fn property_value(&mut self, at: DefAt) -> Val {
        let def = self.files.def(at);
        let facts = self.facts(at.file);
        if !def.flags.has(DefFlags::SETTER) {
            return self.result(at);
        }
        let getter = self.files.siblings(at).into_iter().find(|d| {
            let it = facts.def(*d);
            it.kind == DefKind::Property && !it.flags.has(DefFlags::SETTER)
        });
        match (getter, def.params.first()) {
            (Some(getter), _) => self.def_value(DefAt { file: at.file, def: getter }),
            (None, Some(param)) => self.binding(at.file, *param),
            _ => Val::UNKNOWN,
        }
    }

    /// Returns the type of a value in a variable: a literal text becomes `string`.
    pub(super) fn widened(&mut self, ty: Ty) -> Ty {
        match self.types.get(ty) {
            Type::Text(_) => self.types.std("string", &[]),
            _ => ty,
        }
    }

    // ---- bindings

    /// The type of a local name.
    pub(super) fn binding(&mut self, file: File, id: BindingId) -> Val {
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
        if let Some(ty) = crate::declared(sources) {
            return Val::new(self.written(file, ty));
        }
        if matches!(b.kind, BindingKind::Param | BindingKind::VarArgs) {
            let v = self.expected_param(file, id);
            if v.ty != Ty::UNKNOWN {
                return v;
            }
        }
        let mut is_inferred = true;
        let mut tys = Vec::with_capacity(sources.len());
        for s in sources.iter().take(8) {
            let v = self.source(file, *s);
            is_inferred &= v.is_inferred;
            tys.push(v.ty);
        }
        Val { ty: self.types.union(&tys), is_inferred: is_inferred || sources.len() > 1 }
    }

    fn source(&mut self, file: File, source: Source) -> Val {
        match source {
            Source::Declared(e) => Val::new(self.written(file, e)),
            Source::Assigned(e) => self.eval(file, e),
            Source::Element { of, .. } => {
                let v = self.eval(file, of);
                Val { ty: self.element(v.ty), ..v }
            }
            Source::Def(def) => self.def_value(DefAt { file, def }),
            _ => Val::UNKNOWN,
        }
    }

    /// `this` and `super`.
    fn receiver(&mut self, file: File, word: &str, member: DefIdx, sources: &[Source]) -> Val {
        let facts = self.facts(file);
        match sources.first() {
            Some(Source::Def(class)) => {
                let at = DefAt { file, def: *class };
                let is_static =
                    member.some().is_some_and(|m| m == *class || facts.def(m).flags.has(DefFlags::STATIC));
                if word == "super" {
                    return Val::new(self.base_value(at, is_static));
                }
                let ty = if is_static { Type::Static(at) } else { Type::This(at) };
                Val::new(self.types.make(ty))
            }
            // In an object literal: the literal itself.
            Some(Source::Assigned(e)) => Val::inferred(self.types.make(Type::Shape(file, *e, Rc::from([])))),
            Some(Source::Declared(e)) => Val::new(self.written(file, *e)),
            Some(Source::Narrowed(e)) => {
                let class = self.eval(file, *e);
                Val { ty: self.instance_of(class.ty), ..class }
            }
            _ => Val::UNKNOWN,
        }
    }

    /// Returns the value of `super` in a class.
    fn base_value(&mut self, class: DefAt, is_static: bool) -> Ty {
        let bases = self.bases(class);
        let Some(base) = bases.first().copied() else { return Ty::UNKNOWN };
        match self.types.get(base) {
            Type::Named(def, _) if is_static => self.types.make(Type::Static(*def)),
            _ => base,
        }
    }

    // ---- parts of values

    /// Returns the element type of iterating over a value, and the type of a subscript.
    pub(super) fn element(&mut self, ty: Ty) -> Ty {
        self.part_of(ty, 0)
    }

    fn part_of(&mut self, ty: Ty, depth: u32) -> Ty {
        if depth > 8 {
            return Ty::UNKNOWN;
        }
        match self.types.get(ty).clone() {
            Type::External => Ty::EXTERNAL,
            Type::Tuple(parts) => self.types.union(&parts),
            Type::Union(parts) => {
                let parts: Vec<Ty> = parts.iter().map(|p| self.part_of(*p, depth + 1)).collect();
                self.types.union(&parts)
            }
            Type::Both(parts) => {
                let parts = parts.iter().map(|p| self.part_of(*p, depth + 1)).find(|p| *p != Ty::UNKNOWN);
                parts.unwrap_or(Ty::UNKNOWN)
            }
            Type::Std(name, args) => {
                let name = self.types.text(name);
                TABLE.member(&mut self.types, &name, &args, "[]").unwrap_or(Ty::UNKNOWN)
            }
            _ => {
                let found = self.through(ty, |it, other| it.part_of(other, depth + 1));
                found.unwrap_or_else(|| self.index_signature(ty))
            }
        }
    }

    /// The part of a value at a constant place.
    pub(super) fn item(&mut self, ty: Ty, index: u16) -> Ty {
        match self.types.get(ty).clone() {
            Type::Tuple(parts) => parts.get(usize::from(index)).copied().unwrap_or(Ty::UNKNOWN),
            Type::Union(parts) => {
                let parts: Vec<Ty> = parts.iter().map(|p| self.item(*p, index)).collect();
                self.types.union(&parts)
            }
            Type::Named(..) | Type::Delayed(..) => {
                let found = self.through(ty, |it, other| it.item(other, index));
                found.unwrap_or_else(|| self.element(ty))
            }
            _ => self.element(ty),
        }
    }

    pub(super) fn promise(&mut self, ty: Ty) -> Ty {
        let ty = self.awaited(ty);
        self.types.std("Promise", &[ty])
    }

    /// Returns the type of `await` of a value.
    pub(super) fn awaited(&mut self, ty: Ty) -> Ty {
        match self.types.get(ty).clone() {
            Type::Std(name, args) if &*self.types.text(name) == "Promise" => {
                args.first().copied().unwrap_or(Ty::UNKNOWN)
            }
            Type::Union(parts) => self.each_of(&parts, Self::awaited),
            Type::Named(..) => {
                let found = self.through(ty, |it, other| {
                    let inner = it.awaited(other);
                    if inner == other { ty } else { inner }
                });
                found.unwrap_or_else(|| {
                    let promise = self.base_as_std(ty, "Promise");
                    promise.map_or(ty, |args| args.first().copied().unwrap_or(Ty::UNKNOWN))
                })
            }
            _ => ty,
        }
    }

    /// Any of the types that `of` gives for the parts of a union.
    pub(super) fn each_of(&mut self, parts: &[Ty], of: fn(&mut Self, Ty) -> Ty) -> Ty {
        let all: Vec<Ty> = parts.iter().map(|p| of(self, *p)).collect();
        self.types.union(&all)
    }

    /// A value of the class that a type is.
    pub(super) fn instance_of(&mut self, ty: Ty) -> Ty {
        match self.types.get(ty).clone() {
            Type::Static(def) | Type::Func(def, _) => self.types.make(Type::Named(def, Rc::from([]))),
            Type::StdStatic(name) => {
                let name = self.types.text(name);
                self.std_named(&name, &[]).unwrap_or(Ty::EXTERNAL)
            }
            Type::Union(parts) => self.each_of(&parts, Self::instance_of),
            Type::External => Ty::EXTERNAL,
            Type::Unknown | Type::Nothing => Ty::UNKNOWN,
            _ => self.constructed(ty),
        }
    }

    fn asserted(&mut self, file: File, value: ExprId, ty: ExprId) -> Val {
        let facts = self.facts(file);
        if let Some(narrowed) = self.narrowed(file, value, ty) {
            return narrowed;
        }
        if let Node::Word { word, .. } = facts.expr(value).node
            && facts.str(word) == "satisfies"
        {
            return self.eval(file, value);
        }
        let ty = self.written(file, ty);
        if ty == Ty::UNKNOWN { self.eval(file, value) } else { Val::new(ty) }
    }
}
