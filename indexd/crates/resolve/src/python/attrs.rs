//! Attributes: what `x.name` names, given the type of `x`, and the type it has.

use super::Linker;
use super::classes::Member;
use super::eval::Val;
use super::members::Target;
use super::types::{ClassId, Std, Ty, Type};
use crate::typed::Slot;
use indexd_model::{DefFlags, DefIdx, DefKind, Rule, UnresolvedReason};
use smallvec::SmallVec;
use std::rc::Rc;

/// Questions open at once at which no attribute is looked up.
const ATTRS_DEPTH_MAX: u32 = 100;

/// A definition that an attribute names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Hit {
    pub(super) target: Target,
    pub(super) rule: Rule,
}

/// An attribute: its type and its definitions.
#[derive(Clone, Debug)]
pub(super) struct Attr {
    pub(super) ty: Ty,
    /// The type was inferred from code.
    pub(super) is_inferred: bool,
    pub(super) hits: SmallVec<[Hit; 2]>,
    /// Reason for the missing hit.
    pub(super) reason: UnresolvedReason,
    /// True if it may be something else than its definitions.
    pub(super) is_cut: bool,
}

impl Attr {
    fn none(ty: Ty, reason: UnresolvedReason) -> Self {
        Self { ty, is_inferred: false, hits: SmallVec::new(), reason, is_cut: false }
    }

    fn of(v: Val, hit: Hit) -> Self {
        let hits = SmallVec::from_slice(&[hit]);
        Self { hits, is_inferred: v.is_inferred, ..Self::none(v.ty, UnresolvedReason::NotFound) }
    }
}

/// Returns true for definitions of several files, such as an import and its replacement where it fails.
/// Only those of one file are linked.
pub(super) fn in_several_files(targets: &[Target]) -> bool {
    let mut files = targets.iter().filter_map(|t| if let Target::Def(f, _) = t { Some(f) } else { None });
    files.next().is_some_and(|first| files.any(|f| f != first))
}

impl<'a> Linker<'a> {
    /// The attribute `name` of a value of type `base`.
    pub(super) fn attr(&mut self, base: Ty, name: &'a str) -> Rc<Attr> {
        if let Some(a) = self.attrs.get(&(base, name)) {
            return Rc::clone(a);
        }
        if self.questions.depth() > ATTRS_DEPTH_MAX {
            return Rc::new(Attr::none(Ty::UNKNOWN, UnresolvedReason::UnknownReceiver));
        }
        let opened = self.questions.open();
        let a = Rc::new(self.find_attr(base, name));
        if let Slot::Done(_) = self.questions.close(&opened, Val::UNKNOWN) {
            self.attrs.insert((base, name), Rc::clone(&a));
        }
        a
    }

    fn find_attr(&mut self, base: Ty, name: &'a str) -> Attr {
        use UnresolvedReason::{Builtin, External, UnknownReceiver};
        match self.types.get(base).clone() {
            Type::Unknown => Attr::none(Ty::UNKNOWN, UnknownReceiver),
            Type::External => Attr::none(Ty::EXTERNAL, External),
            Type::None => Attr::none(Ty::UNKNOWN, Builtin),
            Type::Named(n) => {
                let full = format!("{}.{name}", self.types.text(n));
                Attr::none(self.types.named(&full), External)
            }
            Type::Module(f) => {
                let found = self.module_member(f, name);
                let v = self.targets_value(&found.targets);
                let rule = if found.n_hops == 0 { Rule::Import } else { Rule::Reexport };
                self.attr_of_targets(&found.targets, rule, v)
            }
            Type::Namespace(n) => {
                let dir = self.types.text(n).to_owned();
                let found = self.below(&dir, name);
                let v = self.targets_value(found.as_slice());
                self.attr_of_targets(found.as_slice(), Rule::Import, v)
            }
            Type::Class(c, args) => self.class_attr(c, base, &args, name),
            Type::SelfClass(c) => self.class_attr(c, base, &[], name),
            Type::Instance(c, args) => self.instance_attr(c, base, &args, name),
            Type::SelfOf(c) => {
                let params = Rc::clone(&self.classes[c].params);
                self.instance_attr(c, base, &params, name)
            }
            Type::Union(parts) => {
                let mut found = self.union_attr(&parts, name);
                if self.types.is_cut(base) {
                    found.is_cut = true;
                    self.types.cut_as_well(found.ty);
                }
                found
            }
            Type::Super(class, receiver) => self.super_attr(class, receiver, name),
            Type::Std(..) => Attr::none(self.std_attr(base, name), Builtin),
            Type::ClassOf(t) => match self.bound(t) {
                Some(bound) => {
                    let class = self.class_of_instance(bound);
                    (*self.attr(class, name)).clone()
                }
                None if matches!(self.types.get(t), Type::Var(..)) => {
                    Attr::none(Ty::UNKNOWN, UnknownReceiver)
                }
                None => Attr::none(Ty::EXTERNAL, Builtin),
            },
            Type::Var(..) => match self.bound(base) {
                Some(bound) => (*self.attr(bound, name)).clone(),
                None => Attr::none(Ty::UNKNOWN, UnknownReceiver),
            },
            Type::Func(..) | Type::Bound(..) | Type::Lambda(..) | Type::StdMethod(..) | Type::Partial(..) => {
                Attr::none(Ty::EXTERNAL, Builtin)
            }
        }
    }

    /// The attribute of any of several types, `None` aside.
    fn union_attr(&mut self, parts: &[Ty], name: &'a str) -> Attr {
        let mut out = Attr::none(Ty::UNKNOWN, UnresolvedReason::UnknownReceiver);
        let mut tys = Vec::new();
        for p in parts.iter().filter(|p| **p != Ty::NOTHING) {
            let a = self.attr(*p, name);
            out.is_inferred |= a.is_inferred;
            out.is_cut |= a.is_cut;
            for h in &a.hits {
                if !out.hits.iter().any(|o| o.target == h.target) {
                    out.hits.push(*h);
                }
            }
            if tys.is_empty() || a.reason == UnresolvedReason::External {
                out.reason = a.reason;
            }
            tys.push(a.ty);
        }
        out.ty = self.types.union(&tys);
        out
    }

    fn attr_of_targets(&mut self, targets: &[Target], rule: Rule, v: Val) -> Attr {
        let mut out = Attr::none(v.ty, UnresolvedReason::NotFound);
        out.is_inferred = v.is_inferred;
        for t in targets {
            match t {
                Target::Def(..) | Target::Module(_) => out.hits.push(Hit { target: *t, rule }),
                Target::External(_) => out.reason = UnresolvedReason::External,
                Target::Dynamic => out.reason = UnresolvedReason::Dynamic,
                Target::Namespace(_) => {}
            }
        }
        out.is_cut = in_several_files(targets);
        // Of conditional definitions, one is chosen: the one that a reader would name.
        if out.hits.len() > 1 {
            out.hits = self.one_of(&out.hits);
        }
        out
    }

    /// Narrows several definitions of one name in one file to the preferred one.
    pub(super) fn one_of(&self, hits: &[Hit]) -> SmallVec<[Hit; 2]> {
        let Target::Def(file, _) = hits[0].target else { return SmallVec::from_slice(hits) };
        let defs: SmallVec<[DefIdx; 4]> = hits
            .iter()
            .filter_map(|h| match h.target {
                Target::Def(f, d) if f == file => Some(d),
                _ => None,
            })
            .collect();
        match self.preferred(file, &defs) {
            Some(d) => hits.iter().filter(|h| h.target == Target::Def(file, d)).take(1).copied().collect(),
            None => SmallVec::from_slice(hits),
        }
    }

    /// Why a class has no such member.
    fn missing(&self, class: ClassId, name: &str) -> Attr {
        if self.classes[class].is_open {
            Attr::none(Ty::EXTERNAL, UnresolvedReason::External)
        } else if name.starts_with("__") && name.ends_with("__") {
            Attr::none(Ty::EXTERNAL, UnresolvedReason::Builtin)
        } else {
            Attr::none(Ty::UNKNOWN, UnresolvedReason::NotFound)
        }
    }

    pub(super) fn hit_of(&self, class: ClassId, member: &Member) -> Option<(Hit, DefIdx)> {
        let owner = &self.classes[member.owner];
        let def = self.preferred(owner.file, &member.defs)?;
        let rule = if member.owner == class { Rule::Receiver } else { Rule::Inherited };
        Some((Hit { target: Target::Def(owner.file, def), rule }, def))
    }

    fn class_attr(&mut self, class: ClassId, base: Ty, args: &[Ty], name: &'a str) -> Attr {
        let Some(member) = self.member(class, name) else {
            let metaclass = self.metaclass(class);
            if let Some(meta) = metaclass
                && let Some(member) = self.member(meta, name)
                && let Some((hit, _)) = self.hit_of(meta, &member)
            {
                let v = self.member_value(meta, base, &[], &member);
                return Attr::of(Val::new(v.ty), hit);
            }
            let mut a = self.missing(class, name);
            if name == "__new__" {
                // `C.__new__(C)` and `super().__new__(cls)` make an instance of their argument.
                a.ty = self.types.named("builtins.object.__new__");
            }
            if self.classes[class].is_enum {
                a.ty = Ty::EXTERNAL;
            }
            return a;
        };
        let Some((hit, def)) = self.hit_of(class, &member) else { return self.missing(class, name) };
        let owner = member.owner;
        let file = self.classes[owner].file;
        let d = self.facts(file).def(def);
        let v = match d.kind {
            DefKind::Method if d.flags.has(DefFlags::CLASS) => {
                Val::new(self.types.make(Type::Bound(file, def, base)))
            }
            DefKind::Method => Val::new(self.types.make(Type::Func(file, def))),
            DefKind::Field if self.classes[class].is_enum && !self.is_instance_field(file, def) => {
                Val::new(self.types.instance(owner, &[]))
            }
            DefKind::Field => {
                let v = self.field_value(&member);
                let map = self.args_of(class, args, owner);
                let receiver = self.instance_of_class(base);
                let ty = self.substitute(v.ty, &map, Some(receiver));
                Val { ty, is_inferred: v.is_inferred }
            }
            DefKind::Property if d.flags.has(DefFlags::CLASS) => {
                self.property_value(class, base, args, &member, def)
            }
            DefKind::Property => Val::new(Ty::EXTERNAL),
            _ => self.def_value(file, def),
        };
        Attr::of(v, hit)
    }

    fn instance_attr(&mut self, class: ClassId, base: Ty, args: &[Ty], name: &'a str) -> Attr {
        let Some(member) = self.member(class, name) else {
            if name == "__class__" {
                return Attr::none(self.class_of_instance(base), UnresolvedReason::Builtin);
            }
            return self.missing_on_instance(class, args, name);
        };
        let Some((hit, _)) = self.hit_of(class, &member) else { return self.missing(class, name) };
        let v = self.member_value(class, base, args, &member);
        Attr::of(v, hit)
    }

    fn missing_on_instance(&mut self, class: ClassId, args: &[Ty], name: &'a str) -> Attr {
        if let Some(std) = self.std_of(class, args) {
            return Attr::none(self.std_attr(std, name), UnresolvedReason::External);
        }
        if let Some(getter) = self.member(class, "__getattr__") {
            let mut a = Attr::none(Ty::UNKNOWN, UnresolvedReason::Dynamic);
            if let Some((Hit { target: Target::Def(f, d), .. }, _)) = self.hit_of(class, &getter) {
                a.ty = self.raw_return(f, d).ty;
            }
            return a;
        }
        self.missing(class, name)
    }

    /// The type of a member read on an instance `base` of `class[args]`.
    pub(super) fn member_value(&mut self, class: ClassId, base: Ty, args: &[Ty], member: &Member) -> Val {
        let file = self.classes[member.owner].file;
        let Some(def) = self.preferred(file, &member.defs) else { return Val::UNKNOWN };
        let d = self.facts(file).def(def);
        match d.kind {
            DefKind::Method if d.flags.has(DefFlags::STATIC) => {
                Val::new(self.types.make(Type::Func(file, def)))
            }
            DefKind::Method if d.flags.has(DefFlags::CLASS) => {
                let receiver = self.class_of_instance(base);
                Val::new(self.types.make(Type::Bound(file, def, receiver)))
            }
            DefKind::Method if d.flags.has(DefFlags::WRAPPED) && self.is_descriptor(file, def) => {
                self.property_value(class, base, args, member, def)
            }
            DefKind::Method => Val::new(self.types.make(Type::Bound(file, def, base))),
            DefKind::Property => self.property_value(class, base, args, member, def),
            DefKind::Field => {
                let v = self.field_value(member);
                let map = self.args_of(class, args, member.owner);
                let ty = self.substitute(v.ty, &map, Some(base));
                let ty = self.described(ty, base, file, def);
                Val { ty, is_inferred: v.is_inferred }
            }
            _ => self.def_value(file, def),
        }
    }

    fn property_value(&mut self, class: ClassId, base: Ty, args: &[Ty], member: &Member, def: DefIdx) -> Val {
        let file = self.classes[member.owner].file;
        let v = self.raw_return(file, def);
        let map = self.args_of(class, args, member.owner);
        Val { ty: self.substitute(v.ty, &map, Some(base)), is_inferred: v.is_inferred }
    }

    /// Returns true if a decorator of a method is a class with `__get__`: reading the method then calls it.
    fn is_descriptor(&mut self, file: super::types::File, def: DefIdx) -> bool {
        let decorators = &self.facts(file).def(def).decorators;
        decorators.iter().any(|d| {
            let ty = self.eval(file, *d).ty;
            match *self.types.get(ty) {
                Type::Class(c, _) => self.member(c, "__get__").is_some(),
                Type::Named(n) => self.types.text(n).ends_with("property"),
                _ => false,
            }
        })
    }

    /// Returns the type of reading a field: a function of the class body becomes a method, an object with
    /// `__get__` decides itself.
    fn described(&mut self, ty: Ty, base: Ty, file: super::types::File, def: DefIdx) -> Ty {
        if self.is_instance_field(file, def) {
            return ty;
        }
        match self.types.get(ty).clone() {
            Type::Func(f, d) if !self.facts(f).def(d).flags.has(DefFlags::STATIC) => {
                let d_is_method = self.facts(f).def(d).kind == DefKind::Method;
                if d_is_method { self.types.make(Type::Bound(f, d, base)) } else { ty }
            }
            Type::StdMethod(n, getter) if &*self.types.text(n) == "property" => {
                let bound = match *self.types.get(getter) {
                    Type::Func(f, d) => self.types.make(Type::Bound(f, d, base)),
                    _ => getter,
                };
                self.call(bound, None).ty
            }
            Type::Instance(c, args) => {
                let Some(member) = self.member(c, "__get__") else { return ty };
                let f = self.classes[member.owner].file;
                let map = self.args_of(c, &args, member.owner);
                // Overloads answer for the class and for the instance; the value is in the latter.
                let mut parts = Vec::new();
                for &d in &member.defs {
                    let flags = self.facts(f).def(d).flags;
                    if flags.has(DefFlags::OVERLOAD) || member.defs.len() == 1 {
                        let raw = self.raw_return(f, d).ty;
                        let got = self.substitute(raw, &map, Some(ty));
                        if got != ty {
                            parts.push(got);
                        }
                    }
                }
                self.types.union(&parts)
            }
            _ => ty,
        }
    }

    /// Returns the type of a field. If a class assigns a value without a known type, the next class in its
    /// resolution order with a typed one decides.
    pub(super) fn field_value(&mut self, member: &Member) -> Val {
        let own = self.own_field_value(member);
        let says_nothing = |ty| ty == Ty::UNKNOWN || ty == Ty::NOTHING;
        if !says_nothing(own.ty) {
            return own;
        }
        let owner = &self.classes[member.owner];
        let (file, order) = (owner.file, Rc::clone(&owner.order));
        let name = member.defs.first().map_or("", |d| self.facts(file).def_name(*d));
        let from = order.iter().position(|c| *c == member.owner).map_or(0, |i| i + 1);
        // One walk along the order: bases that are each other's bases end it like all others.
        let mut val = own;
        for class in order[from..].iter().filter(|c| **c != member.owner) {
            if let Some(base) = self.own_member(*class, name) {
                let inherited = self.own_field_value(&base);
                val =
                    Val { ty: self.types.union(&[val.ty, inherited.ty]), is_inferred: inherited.is_inferred };
                if !says_nothing(inherited.ty) {
                    break;
                }
            }
        }
        val
    }

    /// Returns the type by a field's own definitions: its annotation, else all that is assigned to it.
    fn own_field_value(&mut self, member: &Member) -> Val {
        let file = self.classes[member.owner].file;
        let facts = self.facts(file);
        let declared = member.defs.iter().find(|d| facts.def(**d).ty.some().is_some());
        if let Some(&d) = declared {
            let v = self.def_value(file, d);
            if v.ty != Ty::UNKNOWN {
                return v;
            }
        }
        let fields = member.defs.iter().filter(|d| facts.def(**d).kind == DefKind::Field);
        let all: Vec<Val> = fields.map(|d| self.def_value(file, *d)).collect();
        self.any_of(&all)
    }

    fn super_attr(&mut self, class: ClassId, receiver: Ty, name: &'a str) -> Attr {
        let (of, args) = self.class_in(receiver).unwrap_or((class, Rc::from([])));
        let is_class = matches!(self.types.get(receiver), Type::Class(..) | Type::SelfClass(_));
        let Some(member) = self.member_after(of, class, name) else {
            let std = self.std_of(of, &args);
            return match std {
                Some(std) => Attr::none(self.std_attr(std, name), UnresolvedReason::External),
                None if name == "__new__" => {
                    Attr::none(self.types.named("builtins.object.__new__"), UnresolvedReason::External)
                }
                None if name == "__init__" => Attr::none(Ty::EXTERNAL, UnresolvedReason::External),
                None => self.missing(class, name),
            };
        };
        let owner = member.owner;
        let file = self.classes[owner].file;
        let Some(def) = self.preferred(file, &member.defs) else { return self.missing(class, name) };
        let d = self.facts(file).def(def);
        let v = if is_class && d.kind == DefKind::Method && !d.flags.has(DefFlags::STATIC) {
            Val::new(self.types.make(Type::Bound(file, def, receiver)))
        } else {
            self.member_value(of, receiver, &args, &member)
        };
        Attr::of(v, Hit { target: Target::Def(file, def), rule: Rule::Inherited })
    }

    /// The metaclass given by keyword, on the class or one of its bases.
    fn metaclass(&mut self, class: ClassId) -> Option<ClassId> {
        let order = Rc::clone(&self.classes[class].order);
        order.iter().find_map(|c| {
            let (file, def) = (self.classes[*c].file, self.classes[*c].def);
            let facts = self.facts(file);
            facts.def(def).bases.iter().find_map(|b| match facts.expr(*b).node {
                indexd_model::Node::Keyword { name, value } if facts.str(name) == "metaclass" => {
                    let ty = self.eval(file, value).ty;
                    match *self.types.get(ty) {
                        Type::Class(c, _) => Some(c),
                        _ => None,
                    }
                }
                _ => None,
            })
        })
    }

    /// Returns true if a type is text or a number: it has no members in the tree.
    pub(super) fn is_plain(&self, ty: Ty) -> bool {
        matches!(self.std_kind(ty), Some(Std::Str | Std::Bytes | Std::Int | Std::Float | Std::Bool))
    }
}
