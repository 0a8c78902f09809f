//! Members of types.

use super::Linker;
use super::names::{REEXPORTS_MAX, Space, Target};
use super::std::TABLE;
use crate::remembered::remembered_from;
use crate::typed::slots::Asks;
use crate::typed::{Args, DefAt, Env, File, Ty, Type};
use indexd_model::facts::SequenceKind;
use indexd_model::{DefFlags, DefIdx, DefKind, ExprId, Key, Node, Role, Rule, UnresolvedReason};
use smallvec::SmallVec;
use std::rc::Rc;

/// Bases that are gone through for one member.
const BASES_MAX: u32 = 24;
/// Members of a type that are read together.
const MEMBERS_MAX: usize = 32;
/// Files that may add members to a type from elsewhere.
const AUGMENTING_MAX: usize = 8;

/// The object that holds what all files see, as a type.
pub(super) const GLOBAL_THIS: &str = "globalThis";

/// The target of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) target: Target,
    pub(super) rule: Rule,
}

/// A member of a type.
#[derive(Clone, Debug)]
pub(super) struct Attr {
    pub(super) ty: Ty,
    pub(super) hits: SmallVec<[Hit; 2]>,
    pub(super) reason: UnresolvedReason,
    pub(super) is_inferred: bool,
    /// True if some of the possible values have no such member, though they are known.
    pub(super) is_partial: bool,
    /// True if some of the possible values were not looked at.
    pub(super) is_cut: bool,
}

impl Attr {
    fn none(reason: UnresolvedReason) -> Self {
        let ty = if reason == UnresolvedReason::External { Ty::EXTERNAL } else { Ty::UNKNOWN };
        Self { ty, hits: SmallVec::new(), reason, is_inferred: false, is_partial: false, is_cut: false }
    }

    fn unknown() -> Self {
        Self::none(UnresolvedReason::UnknownReceiver)
    }

    pub(super) fn outside() -> Self {
        Self::none(UnresolvedReason::External)
    }

    fn typed(ty: Ty) -> Self {
        Self { ty, ..Self::outside() }
    }

    fn is_found(&self) -> bool {
        !self.hits.is_empty() || !matches!(self.ty, Ty::UNKNOWN)
    }
}

impl<'a> Linker<'a> {
    /// Returns the member of a type under a name; `is_write` if it is assigned.
    pub(super) fn attr(&mut self, ty: Ty, name: &str, is_write: bool) -> Rc<Attr> {
        let key = (ty, self.types.name(name), is_write);
        let ask = |l: &mut Self| Rc::new(l.find_attr(ty, name, is_write));
        self.member_once(|l| &mut l.attrs, key, Rc::new(Attr::unknown()), ask)
    }

    fn find_attr(&mut self, ty: Ty, name: &str, is_write: bool) -> Attr {
        match self.types.get(ty).clone() {
            Type::Unknown | Type::Nothing => Attr::unknown(),
            Type::External | Type::Fn { .. } | Type::Lambda(..) | Type::Keys(_) => Attr::outside(),
            Type::Module(file) => self.module_attr(file, name),
            Type::Named(at, args) => self.named_attr(ty, at, &args, name, is_write),
            Type::This(at) => {
                let args = self.type_params(at);
                self.class_attr(at, &args, ty, name, is_write, 0).unwrap_or_else(Attr::unknown)
            }
            Type::Static(at) => self.static_attr(at, name, is_write, 0).unwrap_or_else(Attr::unknown),
            Type::Func(at, _) => {
                let found = self.static_attr(at, name, is_write, 0);
                found.unwrap_or_else(Attr::outside)
            }
            Type::Shape(file, e, env) => self.shape_attr(file, e, &env, name),
            Type::Std(std, args) => self.std_attr(ty, &self.types.text(std), &args, name),
            Type::StdStatic(std) if &*self.types.text(std) == GLOBAL_THIS => self.global_attr(name),
            Type::StdStatic(std) => {
                let std = self.types.text(std);
                let found = match std.strip_prefix("module ") {
                    Some(module) => self.value_of_module(module, name),
                    None => TABLE.member(&mut self.types, &format!("static {std}"), &[], name),
                };
                found.map_or_else(Attr::outside, Attr::typed)
            }
            Type::Tuple(parts) => {
                let elem = self.types.union(&parts);
                self.std_attr(ty, "Array", &[elem], name)
            }
            Type::Text(_) => {
                let found = TABLE.member(&mut self.types, "string", &[], name);
                found.map_or_else(Attr::outside, Attr::typed)
            }
            Type::Union(parts) => self.union_attr(&parts, name, is_write),
            Type::Both(parts) => self.both_attr(&parts, name, is_write),
            Type::Var(..) | Type::Delayed(..) => match self.expanded(ty) {
                Some(other) => (*self.attr(other, name, is_write)).clone(),
                None => Attr::unknown(),
            },
            Type::StdVar(_) | Type::Package(_) => Attr::unknown(),
        }
    }

    /// A member of the object that holds what all files see.
    fn global_attr(&mut self, name: &str) -> Attr {
        let window = self.of_globals("Window", name, Space::Values);
        let value = |l: &mut Self| {
            let all = l.globals(name);
            all.iter().copied().find(|d| !l.files.def(*d).kind.is_type())
        };
        match window.or_else(|| value(self)) {
            Some(found) => self.attr_of(found, Rule::Inferred, &[]),
            None if matches!(name, "window" | "globalThis" | "self") => {
                let this = self.types.name(GLOBAL_THIS);
                Attr::typed(self.types.make(Type::StdStatic(this)))
            }
            // Any file may put a value there.
            None => self.std_value(name).map_or_else(Attr::unknown, Attr::typed),
        }
    }

    fn std_attr(&mut self, ty: Ty, std: &str, args: &[Ty], name: &str) -> Attr {
        if let Some(found) = TABLE.member(&mut self.types, std, args, name) {
            return Attr::typed(found);
        }
        if let Some(found) = self.of_globals(std, name, Space::Values) {
            return self.attr_of(found, Rule::Inferred, &[]);
        }
        match self.expanded(ty) {
            Some(other) => (*self.attr(other, name, false)).clone(),
            None if std == "Record" => Attr::typed(args.get(1).copied().unwrap_or(Ty::UNKNOWN)),
            None => Attr::outside(),
        }
    }

    fn module_attr(&mut self, file: File, name: &str) -> Attr {
        let mut found = self.exported(file, name, Space::Values, REEXPORTS_MAX);
        if found.target == Target::NotFound {
            match self.of_default(file, name) {
                Some(other) => found = other,
                None => return Attr::unknown(),
            }
        }
        let ty = match found.target {
            Target::Def(at) => self.def_value(at).ty,
            Target::Module(file) => self.types.make(Type::Module(file)),
            Target::External => return Attr::outside(),
            Target::NotFound => return Attr::unknown(),
        };
        let hits = SmallVec::from_slice(&[Hit { target: found.target, rule: found.rule }]);
        Attr { hits, reason: UnresolvedReason::NotFound, ..Attr::typed(ty) }
    }

    /// Any of several values may be meant.
    fn union_attr(&mut self, parts: &[Ty], name: &str, is_write: bool) -> Attr {
        let mut out = Attr::unknown();
        let mut tys = Vec::new();
        let mut is_outside = false;
        let whole = self.types.union(parts);
        let (parts, is_cut) = self.flat_parts(whole);
        out.is_cut = is_cut;
        for part in parts.iter() {
            let found = self.attr(*part, name, is_write);
            out.is_partial |= !found.is_found() || found.is_partial;
            is_outside |= found.reason == UnresolvedReason::External;
            for hit in &found.hits {
                if !out.hits.iter().any(|h| h.target == hit.target) {
                    out.hits.push(*hit);
                }
            }
            out.is_inferred |= found.is_inferred;
            out.is_cut |= found.is_cut;
            tys.push(found.ty);
        }
        if out.hits.is_empty() && is_outside {
            out.reason = UnresolvedReason::External;
        }
        out.ty = self.types.union(&tys);
        if is_cut {
            self.types.cut_as_well(out.ty);
        }
        out
    }

    /// Returns the member of the first of several types that has it; members from outside the tree count
    /// least.
    fn both_attr(&mut self, parts: &[Ty], name: &str, is_write: bool) -> Attr {
        let all: Vec<Rc<Attr>> = parts.iter().map(|p| self.attr(*p, name, is_write)).collect();
        let found = all.iter().find(|a| !a.hits.is_empty());
        let typed = || all.iter().find(|a| a.is_found() && a.ty != Ty::EXTERNAL);
        let outside = || all.iter().find(|a| a.reason == UnresolvedReason::External);
        let best = found.or_else(typed).or_else(outside).or(all.first());
        let mut out = best.map_or_else(Attr::unknown, |a| (**a).clone());
        // All declarations of a member are meant.
        for hit in all.iter().flat_map(|a| &a.hits) {
            if !out.hits.is_empty() && !out.hits.iter().any(|h| h.target == hit.target) {
                out.hits.push(*hit);
            }
        }
        out
    }

    // ---- types that definitions declare

    fn named_attr(&mut self, ty: Ty, at: DefAt, args: &Args, name: &str, is_write: bool) -> Attr {
        match self.files.def(at).kind {
            DefKind::Alias => match self.expanded(ty) {
                Some(other) => (*self.attr(other, name, is_write)).clone(),
                None => Attr::unknown(),
            },
            DefKind::Enum => Attr::outside(),
            _ => self.class_attr(at, args, ty, name, is_write, 0).unwrap_or_else(Attr::unknown),
        }
    }

    /// A member of a class or an interface, its own or of a base. `receiver` is the whole value.
    fn class_attr(
        &mut self,
        at: DefAt,
        args: &Args,
        receiver: Ty,
        name: &str,
        is_write: bool,
        depth: u32,
    ) -> Option<Attr> {
        if depth > BASES_MAX || !self.step() {
            return None;
        }
        self.files.record(at);
        let mut is_open = false;
        let siblings = self.files.siblings(at);
        for sibling in &siblings {
            let of = DefAt { def: *sibling, ..at };
            if let Some(found) = self.own_member(of, name, false, is_write) {
                let env = self.member_env(of, args, receiver);
                let rule = if depth == 0 { Rule::Receiver } else { Rule::Inherited };
                return Some(self.attr_of(found, rule, &env));
            }
        }
        if let Some(found) = self.augmented(at, name).or_else(|| self.merged(at, name)) {
            let env = self.member_env(at, args, receiver);
            return Some(self.attr_of(found, Rule::Receiver, &env));
        }
        for sibling in &siblings {
            let of = DefAt { def: *sibling, ..at };
            let env = self.member_env(of, args, receiver);
            for base in self.bases(of).iter() {
                let base = self.types.replaced(*base, &env);
                match self.inherited(base, receiver, name, is_write, depth + 1) {
                    Some(attr) if attr.hits.is_empty() && attr.ty == Ty::EXTERNAL => is_open = true,
                    Some(attr) => return Some(attr),
                    None => {}
                }
            }
        }
        let ty = self.index_signature(receiver);
        if depth == 0 && ty != Ty::UNKNOWN {
            return Some(Attr::typed(ty));
        }
        is_open.then(Attr::outside)
    }

    fn inherited(&mut self, base: Ty, receiver: Ty, name: &str, is_write: bool, depth: u32) -> Option<Attr> {
        match self.types.get(base).clone() {
            Type::Named(at, args) if self.files.def(at).kind != DefKind::Alias => {
                self.class_attr(at, &args, receiver, name, is_write, depth)
            }
            Type::Unknown | Type::External => Some(Attr::outside()),
            _ => {
                let found = self.attr(base, name, is_write);
                let mut attr = (*found).clone();
                attr.hits.iter_mut().for_each(|h| h.rule = Rule::Inherited);
                (attr.is_found() || attr.reason == UnresolvedReason::External).then_some(attr)
            }
        }
    }

    fn member_env(&mut self, of: DefAt, args: &Args, receiver: Ty) -> Vec<(Ty, Ty)> {
        let mut env = self.param_map(of, args);
        let this = self.types.make(Type::This(of));
        env.push((this, receiver));
        env.retain(|e| e.0 != e.1);
        env
    }

    fn attr_of(&mut self, at: DefAt, rule: Rule, env: &[(Ty, Ty)]) -> Attr {
        let v = self.def_value(at);
        let ty = self.types.replaced(v.ty, env);
        let hits = SmallVec::from_slice(&[Hit { target: Target::Def(at), rule }]);
        let (reason, is_inferred) = (UnresolvedReason::NotFound, v.is_inferred);
        Attr { hits, reason, is_inferred, ..Attr::typed(ty) }
    }

    /// A member that a definition itself has.
    pub(super) fn own_member(
        &mut self,
        of: DefAt,
        name: &str,
        is_static: bool,
        is_write: bool,
    ) -> Option<DefAt> {
        let facts = self.facts(of.file);
        let mut all = self.files.members(of, name);
        if self.is_common(of.file) {
            let own = self.files.name(of);
            let to = if is_static { own.to_owned() } else { format!("{own}.prototype") };
            all.extend(self.files.given(of.file, &to, name));
        }
        let kind = facts.def(of.def).kind;
        let fits = |d: &&DefIdx| {
            let it = facts.def(**d);
            let is_local = it.flags.has(DefFlags::LOCAL) && !kind.is_type() || kind.is_callable();
            let is_free = it.receiver.is_some() || !is_local;
            let is_member = is_free || it.flags.has(DefFlags::INSTANCE);
            it.flags.has(DefFlags::STATIC) == is_static && is_member
                || is_static && it.kind == DefKind::Constant
                || is_static && it.receiver.is_some()
        };
        let is_setter = |d: &DefIdx| facts.def(*d).flags.has(DefFlags::SETTER);
        let found = all.iter().filter(fits);
        let best = found.clone().find(|d| is_setter(d) == is_write).or_else(|| found.clone().next());
        best.map(|def| DefAt { def: *def, ..of })
    }

    /// A member that `declare module` adds to a type from another file.
    fn augmented(&mut self, at: DefAt, name: &str) -> Option<DefAt> {
        let own = self.files.name(at);
        let docs = self.files.view.find(Key::any("ecma", &format!("{own}.{name}")));
        if docs.is_empty() || docs.len() > AUGMENTING_MAX {
            return None;
        }
        for doc in docs.iter() {
            let file = self.files.open(*doc);
            let facts = self.facts(file);
            for (i, def) in facts.interface.defs.iter().enumerate() {
                let Some(owner) = def.parent.some() else { continue };
                let Some(module) = facts.def(owner).parent.some() else { continue };
                let is_it = facts.str(def.name) == name
                    && facts.def_name(owner) == own
                    && facts.def(module).kind == DefKind::Module;
                if !is_it {
                    continue;
                }
                let found = DefAt { file, def: DefIdx(i as u32) };
                self.files.record(found);
                if let Target::Module(target) = self.imported(file, facts.def_name(module))
                    && (target == at.file || self.passes_on(target, own, at))
                {
                    return Some(found);
                }
            }
        }
        None
    }

    /// A member that another declaration for all files gives to the same type, or to one in the same namespace.
    fn merged(&mut self, at: DefAt, name: &str) -> Option<DefAt> {
        let own = self.files.name(at);
        if self.is_global(at) {
            return self.of_globals(own, name, Space::Values);
        }
        let space = self.files.def(at).parent.some().map(|def| DefAt { def, ..at })?;
        if self.files.def(space).kind != DefKind::Module || !self.is_global(space) {
            return None;
        }
        for of in self.globals(self.files.name(space)).iter() {
            for def in self.files.members(*of, own) {
                let all = self.files.members(DefAt { def, ..*of }, name);
                if !all.is_empty() {
                    return self.best(of.file, &all, Space::Values);
                }
            }
        }
        None
    }

    fn passes_on(&mut self, module: File, name: &str, at: DefAt) -> bool {
        let found = self.exported(module, name, Space::Types, REEXPORTS_MAX);
        found.target == Target::Def(at)
    }

    /// The bases of a class or an interface, in terms of its own parameters.
    pub(super) fn bases(&mut self, at: DefAt) -> Rc<[Ty]> {
        let find = |l: &mut Self| {
            l.files.record(at);
            let all = l.written_bases(at, false);
            let is_interface = l.files.def(at).kind == DefKind::Interface;
            let of = |e| if is_interface { l.written(at.file, e) } else { l.base_class(at.file, e) };
            all.into_iter().map(of).collect()
        };
        remembered_from(self, |l| &mut l.bases, at, Rc::from([]), find)
    }

    /// The bases of a class or an interface, with the interfaces that a class names as its own.
    pub(super) fn all_bases(&mut self, at: DefAt) -> Vec<Ty> {
        let bases = self.bases(at);
        let implemented = self.written_bases(at, true);
        let implemented = implemented.into_iter().map(|b| self.written(at.file, b));
        bases.iter().copied().chain(implemented).collect()
    }

    /// The written bases of a definition that are interfaces of a class, or the others.
    fn written_bases(&self, at: DefAt, is_implemented: bool) -> Vec<ExprId> {
        let facts = self.facts(at.file);
        let is_it = |base: &ExprId| {
            let node = facts.expr(*base).node;
            let is = matches!(node, Node::Word { word, .. } if facts.str(word) == "implements");
            is == is_implemented
        };
        facts.def(at.def).bases.iter().copied().filter(is_it).collect()
    }

    fn base_class(&mut self, file: File, base: ExprId) -> Ty {
        let (value, args) = crate::applied(self.facts(file), base);
        let args: Vec<Ty> = args.iter().map(|a| self.written(file, *a)).collect();
        let class = self.eval(file, value).ty;
        match *self.types.get(class) {
            Type::Static(at) => self.types.make(Type::Named(at, args.into())),
            Type::StdStatic(name) => {
                let name = self.types.text(name);
                self.std_named(&name, &args).unwrap_or(Ty::EXTERNAL)
            }
            _ => self.instance_of(class),
        }
    }

    /// The arguments of the base of this name in the standard library.
    pub(super) fn base_as_std(&mut self, ty: Ty, name: &str) -> Option<Args> {
        let mut todo = vec![(ty, 0)];
        while let Some((ty, depth)) = todo.pop().filter(|_| self.step()) {
            match self.types.get(ty).clone() {
                Type::Std(n, args) if &*self.types.text(n) == name => return Some(args),
                Type::Named(at, args) if depth < BASES_MAX => {
                    let map = self.param_map(at, &args);
                    for base in self.bases(at).iter() {
                        todo.push((self.types.replaced(*base, &map), depth + 1));
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// A type as the base that a definition declares; its arguments.
    pub(super) fn base_as(&mut self, ty: Ty, base: DefAt) -> Option<Args> {
        let mut todo = vec![(ty, 0)];
        while let Some((ty, depth)) = todo.pop().filter(|_| self.step()) {
            let (at, args) = match self.types.get(ty).clone() {
                Type::Named(at, args) => (at, args),
                Type::This(at) => (at, self.type_params(at)),
                _ => continue,
            };
            if at == base {
                return Some(args);
            }
            if depth < BASES_MAX {
                let map = self.param_map(at, &args);
                for base in self.all_bases(at) {
                    todo.push((self.types.replaced(base, &map), depth + 1));
                }
            }
        }
        None
    }

    // ---- members of the definition itself

    /// A static member of a class, a member of an enumeration or a namespace, a property of a function.
    fn static_attr(&mut self, at: DefAt, name: &str, is_write: bool, depth: u32) -> Option<Attr> {
        if depth > BASES_MAX {
            return None;
        }
        self.files.record(at);
        if name == "prototype" {
            let ty = self.types.make(Type::Named(at, Rc::from([])));
            return Some(Attr::typed(ty));
        }
        if self.files.def(at).kind == DefKind::Constant {
            return Some(Attr::outside());
        }
        for sibling in self.files.siblings(at) {
            let of = DefAt { def: sibling, ..at };
            let found = match self.files.def(of).kind {
                DefKind::Module => {
                    let all = self.files.members(of, name);
                    self.best(of.file, &all, Space::Values).filter(|_| !all.is_empty())
                }
                _ => self.own_member(of, name, true, is_write),
            };
            if let Some(found) = found {
                let rule = if depth == 0 { Rule::Scope } else { Rule::Inherited };
                return Some(self.attr_of(found, rule, &[]));
            }
        }
        for base in self.bases(at).iter() {
            match self.types.get(*base).clone() {
                Type::Named(at, _) => {
                    if let Some(found) = self.static_attr(at, name, is_write, depth + 1) {
                        return Some(found);
                    }
                }
                Type::Unknown => {}
                _ => return Some(Attr::outside()),
            }
        }
        None
    }

    // ---- literals

    fn shape_attr(&mut self, file: File, e: ExprId, env: &Env, name: &str) -> Attr {
        let facts = self.facts(file);
        let Node::Composite { elems, .. } = facts.expr(e).node else { return Attr::unknown() };
        let mut rest = Attr::unknown();
        for elem in facts.list(elems).iter().rev() {
            let expr = facts.expr(*elem);
            match expr.node {
                Node::Keyword { name: n, value } if facts.str(n) == name => {
                    let v = match expr.role {
                        Role::Key => self.eval(file, value),
                        _ => crate::typed::Val::new(self.written(file, value)),
                    };
                    let ty = self.types.replaced(v.ty, env);
                    let ty = if expr.role == Role::Key { self.widened(ty) } else { ty };
                    let at = self.files.at_place(file, expr.at);
                    at.into_iter().for_each(|at| self.files.record(at));
                    let hits = at
                        .into_iter()
                        .map(|at| Hit { target: Target::Def(at), rule: Rule::Receiver })
                        .collect();
                    return Attr { hits, is_inferred: v.is_inferred, ..Attr::typed(ty) };
                }
                Node::Spread { value } => {
                    let of = self.eval(file, value).ty;
                    let of = self.types.replaced(of, env);
                    let found = self.attr(of, name, false);
                    if found.is_found() {
                        return (*found).clone();
                    }
                }
                Node::KeyValue { value, .. } => {
                    let ty = self.written(file, value);
                    rest = Attr::typed(self.types.replaced(ty, env));
                }
                Node::Comprehension { kind: SequenceKind::Dict, elem } => {
                    rest = self.mapped_attr(file, elem, env, name);
                }
                _ => {}
            }
        }
        rest
    }

    /// A member of a mapped type: that of the type whose keys are gone through.
    fn mapped_attr(&mut self, file: File, elem: ExprId, env: &Env, name: &str) -> Attr {
        let facts = self.facts(file);
        let Node::KeyValue { key, value } = facts.expr(elem).node else { return Attr::unknown() };
        let Node::Name { binding, .. } = facts.expr(key).node else { return Attr::unknown() };
        let keys = self.constraint(file, binding).unwrap_or(Ty::UNKNOWN);
        let keys = self.types.replaced(keys, env);
        let text = self.text(name);
        let mut map = env.to_vec();
        let var = self.types.make(Type::Var(file, binding));
        map.insert(0, (var, text));
        let ty = self.written(file, value);
        let ty = self.types.replaced(ty, &map);
        let of = match self.types.get(keys).clone() {
            Type::Keys(of) => Some(of),
            _ => self.expanded(keys).and_then(|k| match self.types.get(k) {
                Type::Keys(of) => Some(*of),
                _ => None,
            }),
        };
        let Some(of) = of else { return Attr::typed(ty) };
        let found = self.attr(of, name, false);
        Attr { ty, ..(*found).clone() }
    }

    /// Returns the type of a member without a declared name.
    pub(super) fn index_signature(&mut self, ty: Ty) -> Ty {
        match self.types.get(ty).clone() {
            Type::Shape(file, e, env) => self.signature_of(file, e, &env),
            Type::Named(at, args) => {
                for sibling in self.files.siblings(at) {
                    let of = DefAt { def: sibling, ..at };
                    let def = self.files.def(of);
                    if def.kind == DefKind::Alias || def.ty == ExprId::NONE {
                        continue;
                    }
                    let env = self.param_map(of, &args);
                    let found = self.signature_of(of.file, def.ty, &env.into());
                    if found != Ty::UNKNOWN {
                        return found;
                    }
                }
                let bases = self.bases(at);
                let std = bases.iter().find(|b| matches!(self.types.get(**b), Type::Std(..))).copied();
                let map = self.param_map(at, &args);
                let base = std.map(|b| self.types.replaced(b, &map));
                base.map_or(Ty::UNKNOWN, |b| self.element(b))
            }
            _ => Ty::UNKNOWN,
        }
    }

    fn signature_of(&mut self, file: File, e: ExprId, env: &Env) -> Ty {
        let facts = self.facts(file);
        let Node::Composite { elems, .. } = facts.expr(e).node else { return Ty::UNKNOWN };
        let mut values = Vec::new();
        for elem in facts.list(elems) {
            match facts.expr(*elem).node {
                Node::KeyValue { value, .. } => values.push(self.written(file, value)),
                Node::Comprehension { elem, .. } => {
                    if let Node::KeyValue { value, .. } = facts.expr(elem).node {
                        values.push(self.written(file, value));
                    }
                }
                _ => {}
            }
        }
        let ty = self.types.union(&values);
        self.types.replaced(ty, env)
    }

    /// The types of all members of a type.
    pub(super) fn values_of(&mut self, ty: Ty) -> Ty {
        match self.types.get(ty).clone() {
            Type::Shape(file, e, env) => {
                let facts = self.facts(file);
                let Node::Composite { elems, .. } = facts.expr(e).node else { return Ty::UNKNOWN };
                let mut tys = Vec::new();
                for elem in facts.list(elems).iter().take(MEMBERS_MAX) {
                    let expr = facts.expr(*elem);
                    if let Node::Keyword { value, .. } = expr.node {
                        tys.push(match expr.role {
                            Role::Key => self.eval(file, value).ty,
                            _ => self.written(file, value),
                        });
                    }
                }
                let all = self.types.union(&tys);
                let rest = self.signature_of(file, e, &env);
                let all = self.types.union(&[all, rest]);
                self.types.replaced(all, &env)
            }
            Type::Std(name, args) => match &*self.types.text(name) {
                "Record" => args.get(1).copied().unwrap_or(Ty::UNKNOWN),
                "Array" => args.first().copied().unwrap_or(Ty::UNKNOWN),
                _ => Ty::UNKNOWN,
            },
            Type::Static(at) if self.files.def(at).kind == DefKind::Enum => {
                self.types.make(Type::Named(at, Rc::from([])))
            }
            _ => {
                let found = self.through(ty, Self::values_of);
                found.unwrap_or_else(|| self.index_signature(ty))
            }
        }
    }
}
