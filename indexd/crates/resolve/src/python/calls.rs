//! Calls: what a called value returns.

use super::Linker;
use super::eval::{Site, Val};
use super::types::{ClassId, File, Std, Ty, Type, VarKey};
use crate::typed::DefAt;
use crate::typed::slots::Asks;
use indexd_model::names::qualified_name;
use indexd_model::{BindingKind, DefFlags, DefIdx, ExprId, Key, Node, Source};
use std::rc::Rc;

impl<'a> Linker<'a> {
    /// Returns the result of calling a value of type `callee`; `site` is `None` for implicit calls.
    pub(super) fn call(&mut self, callee: Ty, site: Option<Site>) -> Val {
        match self.types.get(callee).clone() {
            Type::Class(c, args) => Val::new(self.construct(c, &args, site)),
            Type::SelfClass(c) => Val::new(self.types.make(Type::SelfOf(c))),
            Type::Named(n) => {
                let name = self.types.text(n).to_owned();
                Val::new(self.named_call(&name, site))
            }
            Type::Func(f, d) => self.returned(f, d, None, site),
            Type::Bound(f, d, receiver) => self.returned(f, d, Some(receiver), site),
            Type::StdMethod(n, receiver) => {
                let name = self.types.text(n).to_owned();
                Val::new(self.std_call(&name, receiver, site))
            }
            Type::ClassOf(t) => Val::new(t),
            Type::Std(Std::Callable, args) => Val::new(args.first().copied().unwrap_or(Ty::UNKNOWN)),
            Type::Lambda(f, e) => match self.facts(f).expr(e).node {
                Node::Lambda { result, .. } => {
                    let v = self.eval(f, result);
                    Val { ty: v.ty, is_inferred: true }
                }
                _ => Val::UNKNOWN,
            },
            Type::Partial(f) => self.call_once(f, None),
            Type::Union(parts) => {
                let all: Vec<Val> = parts.iter().map(|p| self.call(*p, site)).collect();
                self.any_of(&all)
            }
            Type::External => Val::new(Ty::EXTERNAL),
            _ => self.call_object(callee, site),
        }
    }

    fn call_object(&mut self, object: Ty, site: Option<Site>) -> Val {
        let Some((class, args)) = self.class_in(object) else { return Val::UNKNOWN };
        let Some(m) = self.member(class, "__call__") else { return Val::new(self.outside(class)) };
        let v = self.member_value(class, object, &args, &m);
        self.call_once(v.ty, site)
    }

    /// A call through an object: one whose `__call__` is such an object again is not followed.
    fn call_once(&mut self, callee: Ty, site: Option<Site>) -> Val {
        match self.types.get(callee) {
            Type::Instance(..) | Type::SelfOf(_) | Type::Partial(_) => Val::UNKNOWN,
            _ => self.call(callee, site),
        }
    }

    /// Returns the type of an unknown member: external if the class is open.
    fn outside(&self, class: ClassId) -> Ty {
        if self.classes[class].is_open { Ty::EXTERNAL } else { Ty::UNKNOWN }
    }

    /// An instance; type arguments not written are found from the constructor's arguments.
    fn construct(&mut self, class: ClassId, args: &[Ty], site: Option<Site>) -> Ty {
        let params = Rc::clone(&self.classes[class].params);
        if !args.is_empty() || params.is_empty() {
            return self.types.instance(class, args);
        }
        let Some(site) = site else { return self.types.instance(class, args) };
        let mut map = Vec::new();
        for name in ["__init__", "__new__"] {
            if let Some(m) = self.member(class, name) {
                let file = self.classes[m.owner].file;
                if let Some(d) = self.preferred(file, &m.defs) {
                    self.solve(file, d, true, site, &mut map);
                }
                // The parameters of an inherited constructor use the type variables of the base.
                if m.owner != class && !map.is_empty() {
                    let inherited = self.args_of(class, &params, m.owner);
                    map = map
                        .into_iter()
                        .filter_map(|(var, ty)| inherited.iter().find(|i| i.0 == var).map(|i| (i.1, ty)))
                        .collect();
                }
                break;
            }
        }
        if map.is_empty() {
            return self.types.instance(class, &[]);
        }
        let given: Vec<Ty> =
            params.iter().map(|p| map.iter().find(|m| m.0 == *p).map_or(Ty::UNKNOWN, |m| m.1)).collect();
        self.types.instance(class, &given)
    }

    /// Returns the result of calling a function, with variables solved.
    fn returned(&mut self, file: File, def: DefIdx, receiver: Option<Ty>, site: Option<Site>) -> Val {
        let overloads = self.overloads(file, def);
        if !overloads.is_empty() {
            let mut tys = Vec::new();
            for o in overloads {
                if self.accepts(file, o, receiver.is_some(), site) {
                    tys.push(self.returned_by(file, o, receiver, site).ty);
                }
            }
            return Val::new(self.types.union(&tys));
        }
        self.returned_by(file, def, receiver, site)
    }

    fn returned_by(&mut self, file: File, def: DefIdx, receiver: Option<Ty>, site: Option<Site>) -> Val {
        let raw = self.raw_return(file, def);
        if !self.types.has_vars(raw.ty) {
            return raw;
        }
        let mut map = Vec::new();
        if let Some(r) = receiver {
            if let (Some((c, args)), Some(owner)) = (self.class_in(r), self.class_of(file, def)) {
                map = self.args_of(c, &args, owner);
            }
            // `def m(self: T) -> T`.
            let facts = self.facts(file);
            let first = facts.def(def).params.first().and_then(|b| facts.binding(*b));
            if let Some(Source::Declared(e)) = first.and_then(|b| facts.sources(b).first()) {
                let pattern = self.annotation(file, *e);
                self.unify(pattern, r, &mut map, 0);
            }
        }
        if let Some(site) = site {
            self.solve(file, def, receiver.is_some(), site, &mut map);
        }
        Val { ty: self.substitute(raw.ty, &map, receiver), is_inferred: raw.is_inferred }
    }

    /// The overloads behind an implementation: definitions of its name and parent marked so.
    fn overloads(&mut self, file: File, def: DefIdx) -> Vec<DefIdx> {
        let facts = self.facts(file);
        let d = facts.def(def);
        let is_overload = |o: &indexd_model::Def| {
            o.name == d.name && o.parent == d.parent && o.flags.has(DefFlags::OVERLOAD)
        };
        // Overloads come directly before the function that they overload.
        let defs = &facts.interface.defs;
        let mut first = def.index();
        while first > 0 {
            let mut before = first - 1;
            while before > 0
                && defs[before].parent != d.parent
                && defs[before].parent.index() >= before.saturating_sub(8)
            {
                before -= 1;
            }
            if !is_overload(&defs[before]) {
                break;
            }
            first = before;
        }
        (first..=def.index()).filter(|i| is_overload(&defs[*i])).map(|i| DefIdx(i as u32)).collect()
    }

    /// Returns true if an overload can take these arguments, by their number, names and plain types.
    fn accepts(&mut self, file: File, def: DefIdx, bound: bool, site: Option<Site>) -> bool {
        let Some(site) = site else { return true };
        let facts = self.facts(file);
        let params: Vec<_> =
            facts.def(def).params.iter().skip(usize::from(bound)).filter_map(|b| facts.binding(*b)).collect();
        let here = self.facts(site.file);
        let mut position = 0;
        let mut given = vec![false; params.len()];
        let mut open = false;
        for &a in here.list(site.args) {
            let (index, value) = match here.expr(a).node {
                Node::Keyword { name, value } => {
                    let name = here.str(name);
                    let found = params.iter().position(|p| facts.str(p.name) == name);
                    (found.or_else(|| params.iter().position(|p| p.kind == BindingKind::KwArgs)), value)
                }
                Node::Spread { .. } => {
                    open = true;
                    continue;
                }
                _ => {
                    let i = position;
                    position += 1;
                    let var = params.iter().position(|p| p.kind == BindingKind::VarArgs);
                    let plain = params.get(i).is_some_and(|p| p.kind == BindingKind::Param);
                    (if plain { Some(i) } else { var }, a)
                }
            };
            let Some(i) = index else { return open };
            given[i] = true;
            if let Some(Source::Declared(e)) = facts.sources(params[i]).first() {
                let want = self.annotation(file, *e);
                let have = self.eval(site.file, value).ty;
                if !self.fits(have, want) {
                    return false;
                }
            }
        }
        open || params.iter().zip(&given).all(|(p, given)| {
            *given || p.kind != BindingKind::Param || facts.sources(p).iter().any(|s| matches!(s, Source::Assigned(_)))
                // A default of `...` or `None` is kept nowhere, so its absence proves nothing.
                || facts.sources(p).len() == 1
        })
    }

    /// Returns true if a value may be passed; only plain types and `None` are distinguished.
    fn fits(&self, have: Ty, want: Ty) -> bool {
        let plain = |t: Ty| t == Ty::NOTHING || self.is_plain(t);
        let (wants, haves) = (self.types.parts(want), self.types.parts(have));
        if !wants.iter().all(|w| plain(*w)) {
            return true;
        }
        haves.iter().any(|h| !plain(*h) || wants.contains(h))
    }

    /// Finds type variables of a function from the arguments of a call.
    pub(super) fn solve(
        &mut self,
        file: File,
        def: DefIdx,
        bound: bool,
        site: Site,
        map: &mut Vec<(Ty, Ty)>,
    ) {
        let facts = self.facts(file);
        let here = self.facts(site.file);
        let params = &facts.def(def).params;
        let mut position = usize::from(bound && !facts.def(def).flags.has(DefFlags::STATIC));
        for &a in here.list(site.args) {
            let (param, value) = match here.expr(a).node {
                Node::Keyword { name, value } => {
                    let name = here.str(name);
                    (
                        params.iter().find(|p| facts.binding(**p).is_some_and(|b| facts.str(b.name) == name)),
                        value,
                    )
                }
                Node::Spread { .. } => break,
                _ => {
                    position += 1;
                    (params.get(position - 1), a)
                }
            };
            let Some(&param) = param else { continue };
            let pattern = self.param_pattern(file, param);
            if self.types.has_vars(pattern) {
                let actual = self.eval(site.file, value).ty;
                self.unify(pattern, actual, map, 0);
            }
        }
    }

    fn param_pattern(&mut self, file: File, param: indexd_model::BindingId) -> Ty {
        let facts = self.facts(file);
        match facts.binding(param).and_then(|b| crate::declared(facts.sources(b))) {
            Some(e) => self.annotation(file, e),
            None => self.types.make(Type::Var(file, VarKey::Binding(param))),
        }
    }

    /// Returns the declared or inferred result of a function, with its variables open.
    pub(super) fn raw_return(&mut self, file: File, def: DefIdx) -> Val {
        self.once(|l| &mut l.answers.results, DefAt { file, def }, |l| l.read_return(file, def))
    }

    fn read_return(&mut self, file: File, def: DefIdx) -> Val {
        self.record(file, def);
        let d = self.facts(file).def(def);
        let flags = d.flags;
        let v = match d.results.first() {
            Some(&r) => Val::new(self.annotation(file, r)),
            None => {
                let tys: Vec<Ty> = d.returns.iter().map(|r| self.eval(file, *r).ty).collect();
                let ty = self.types.union(&tys);
                let ty = match self.stub_result(file, def) {
                    Some(stub) => stub,
                    None if flags.has(DefFlags::GENERATOR) => self.types.std(Std::Iter, &[ty]),
                    None => ty,
                };
                Val::inferred(ty)
            }
        };
        if flags.has(DefFlags::CONTEXT_MANAGER) {
            let inner = self.element(v.ty);
            return Val { ty: self.types.std(Std::Context, &[inner]), is_inferred: v.is_inferred };
        }
        if flags.has(DefFlags::ASYNC) && !flags.has(DefFlags::GENERATOR) {
            return Val { ty: self.types.std(Std::Awaitable, &[v.ty]), is_inferred: v.is_inferred };
        }
        v
    }

    /// Returns the type that the method of this name in the nearest base class declares for a parameter of
    /// this name: callers through the base pass that.
    pub(super) fn overridden_param(&mut self, file: File, def: DefIdx, name: &str) -> Option<Ty> {
        let class = self.class_of(file, def.some()?)?;
        let method = self.facts(file).def_name(def);
        let mut after = class;
        loop {
            let base = self.member_after(class, after, method)?;
            after = base.owner;
            let (file, def) = (self.classes[after].file, *base.defs.last()?);
            let facts = self.facts(file);
            let mut params = facts.def(def).params.iter().filter_map(|p| facts.binding(*p));
            let param = params.find(|b| facts.str(b.name) == name)?;
            if let Some(declared) = crate::declared(facts.sources(param)) {
                let ty = self.annotation(file, declared);
                return (!self.types.has_vars(ty)).then_some(ty);
            }
        }
    }

    /// Returns the result that the stub of a source file declares for an unannotated function.
    fn stub_result(&mut self, file: File, def: DefIdx) -> Option<Ty> {
        let path = self.loaded.path(file);
        let stub = format!("{}i", path.strip_suffix(".py").map(|_| path)?);
        let doc = self.view.file(&stub)?;
        let stub = self.loaded.open(doc);
        let facts = self.facts(file);
        let name = facts.def_name(def);
        let there = self.facts(stub);
        let twin = match self.class_of(file, def) {
            None => {
                let found = self.module_member(stub, name);
                found.targets.iter().find_map(|t| match *t {
                    super::members::Target::Def(f, d) if f == stub => Some(d),
                    _ => None,
                })?
            }
            Some(class) => {
                // The class of the stub replaces that of the source, so its members are looked up by the
                // stub's own keys.
                let class = qualified_name(&facts, self.classes[class].def);
                let key = Key::member(&format!("{}#{class}", self.module_scope(stub)), name);
                self.view.find(key);
                there
                    .interface
                    .provided(key)
                    .filter_map(DefIdx::some)
                    .filter(|d| there.def_name(*d) == name)
                    .last()?
            }
        };
        let results = &there.def(twin).results;
        let result: ExprId = *results.first()?;
        Some(self.annotation(stub, result))
    }

    /// The result of applying a decorator to a value.
    pub(super) fn apply(&mut self, decorator: Ty, value: Ty) -> Ty {
        match self.types.get(decorator).clone() {
            Type::Class(c, args) => self.types.instance(c, &args),
            Type::Func(f, d) => {
                let raw = self.raw_return(f, d);
                if self.types.has_vars(raw.ty) { value } else { raw.ty }
            }
            Type::Bound(f, d, receiver) => {
                let raw = self.raw_return(f, d);
                self.substitute(raw.ty, &[], Some(receiver))
            }
            _ => value,
        }
    }
}
