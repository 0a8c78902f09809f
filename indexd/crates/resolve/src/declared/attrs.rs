//! Members of types.

use super::{Found, Hit, Language, Linker, Space};
use crate::typed::slots::Asks;
use crate::typed::{Args, DefAt, Env, Ty, Type};
use indexd_model::{DefKind, Rule, UnresolvedReason};
use smallvec::SmallVec;
use std::rc::Rc;

/// Types that one member is looked up in, one behind the other.
const DEPTH_MAX: u32 = 32;
/// Functions of one name that are looked at.
const OVERLOADS_MAX: usize = 80;
/// Bases that are gone through for one type.
const BASES_MAX: usize = 64;

/// A member that is being looked up.
struct Search<'n> {
    name: &'n str,
    space: Space,
    /// The whole value.
    receiver: Ty,
    seen: SmallVec<[DefAt; 8]>,
    out: Found,
}

impl<'a, L: Language> Linker<'a, L> {
    /// The member of a type under a name.
    pub(crate) fn attr(&mut self, ty: Ty, name: &str, space: Space) -> Rc<Found> {
        let key = (ty, self.types.name(name), space);
        let ask = |l: &mut Self| Rc::new(l.find_attr(ty, name, space));
        self.member_once(|l| &mut l.attrs, key, Rc::new(Found::unknown()), ask)
    }

    fn find_attr(&mut self, ty: Ty, name: &str, space: Space) -> Found {
        if let Some(found) = L::attr(self, ty, name, space) {
            return found;
        }
        let found = match self.types.get(ty).clone() {
            Type::Unknown | Type::Nothing => Found::unknown(),
            Type::Named(at, args) => self.member(at, &args, ty, name, space),
            Type::This(at) => {
                let args = self.type_params(at);
                self.member(at, &args, ty, name, space)
            }
            Type::Static(at) => self.static_attr(at, ty, name, space),
            Type::Std(of, args) => self.std_attr(&self.types.text(of), &args, name),
            Type::StdStatic(of) => {
                let of = self.types.text(of);
                let found = L::table().member(&mut self.types, &format!("static {of}"), &[], name);
                let nested = || L::table().ty(name).filter(|_| space == Space::Types);
                match (found, nested()) {
                    (Some(ty), _) => Found::typed(ty),
                    (None, Some(_)) => {
                        let name = self.types.name(name);
                        Found::typed(self.types.make(Type::StdStatic(name)))
                    }
                    (None, None) => Found::outside(),
                }
            }
            Type::Package(package) => {
                let package = self.types.text(package);
                L::in_package(self, &package, name, space)
            }
            Type::Var(..) => match self.constraint(ty) {
                Some(bound) => (*self.attr(bound, name, space)).clone(),
                None if L::ROOT.is_empty() => Found::unknown(),
                None => self.std_attr(L::ROOT, &[], name),
            },
            Type::Union(parts) | Type::Both(parts) => self.first_attr(&parts, name, space),
            _ => Found::outside(),
        };
        match found.hits.is_empty() {
            true => match L::behind(self, ty) {
                Some(inner) if inner != ty => (*self.attr(inner, name, space)).clone(),
                _ => found,
            },
            false => found,
        }
    }

    /// The first of several types that has the member; what comes from outside says least.
    fn first_attr(&mut self, parts: &Args, name: &str, space: Space) -> Found {
        let all: Vec<Rc<Found>> = parts.iter().map(|p| self.attr(*p, name, space)).collect();
        let found = all.iter().find(|f| !f.hits.is_empty());
        let typed = || all.iter().find(|f| f.is_found() && f.ty != Ty::EXTERNAL);
        let outside = || all.iter().find(|f| f.reason == UnresolvedReason::External);
        let best = found.or_else(typed).or_else(outside).or(all.first());
        best.map_or_else(Found::unknown, |f| (**f).clone())
    }

    /// A member of a type of the table, its own or of what it derives from.
    fn std_attr(&mut self, of: &str, args: &[Ty], name: &str) -> Found {
        if let Some(ty) = L::table().member(&mut self.types, of, args, name) {
            return Found::typed(ty);
        }
        for base in L::table().bases(&mut self.types, of, args).iter() {
            let found = self.attr(*base, name, Space::Values);
            if found.is_found() && found.ty != Ty::EXTERNAL {
                return (*found).clone();
            }
        }
        match L::table().member(&mut self.types, L::ROOT, &[], name) {
            Some(ty) => Found::typed(ty),
            None => Found::outside(),
        }
    }

    /// A member of what a definition declares: of a module or a type itself, or inherited.
    fn static_attr(&mut self, at: DefAt, ty: Ty, name: &str, space: Space) -> Found {
        let mut found = self.member(at, &[], ty, name, space);
        let rule = |r: Rule| if r == Rule::Receiver { Rule::Scope } else { r };
        found.hits.iter_mut().for_each(|h| h.rule = rule(h.rule));
        found
    }

    fn member(&mut self, at: DefAt, args: &[Ty], receiver: Ty, name: &str, space: Space) -> Found {
        let out = Found::none(UnresolvedReason::NotFound);
        let mut search = Search { name, space, receiver, seen: SmallVec::new(), out };
        self.search(at, args, 0, &mut search);
        let mut out = search.out;
        if out.hits.is_empty() && out.ty == Ty::UNKNOWN {
            if !L::ROOT.is_empty()
                && let Some(ty) = L::table().member(&mut self.types, L::ROOT, &[], name)
            {
                return Found::typed(ty);
            }
            if out.is_open {
                out = Found { is_open: true, ..Found::outside() };
            }
        }
        out
    }

    fn search(&mut self, at: DefAt, args: &[Ty], depth: u32, search: &mut Search) {
        if depth > DEPTH_MAX || search.seen.contains(&at) || !self.step() {
            return;
        }
        search.seen.push(at);
        self.files.record(at);
        let mut own = L::own(self, at, search.name, search.space);
        own.retain(|m| depth == 0 || L::is_inherited(self, *m));
        let has_overloads = L::HAS_OVERLOADS && search.space == Space::Calls;
        let env = self.member_env(at, args, search.receiver);
        self.add_own(&own, &env, has_overloads && depth > 0, search);
        if !own.is_empty() && !has_overloads {
            return;
        }
        for base in self.bases(at).iter() {
            let base = self.types.replaced(*base, &env);
            match self.types.get(base).clone() {
                Type::Named(at, args) => self.search(at, &args, depth + 1, search),
                Type::Unknown | Type::External => search.out.is_open = true,
                _ => self.search_outside(base, search),
            }
            if !has_overloads && search.out.is_found() {
                return;
            }
        }
    }

    /// Adds members of a type; of a base, where overloads are looked for, those that are not overridden.
    fn add_own(&mut self, own: &[DefAt], env: &Env, may_be_hidden: bool, search: &mut Search) {
        let rule = if search.seen.len() == 1 { Rule::Receiver } else { Rule::Inherited };
        let n_left = OVERLOADS_MAX.saturating_sub(search.out.hits.len());
        for member in own.iter().take(n_left) {
            let hit = Hit { at: *member, rule, env: Rc::clone(env) };
            if !may_be_hidden || !self.is_hidden(&search.out.hits, &hit) {
                search.out.hits.push(hit);
            }
        }
    }

    /// A member of a base from outside the tree.
    fn search_outside(&mut self, base: Ty, search: &mut Search) {
        let found = self.attr(base, search.name, search.space);
        search.out.is_open |= found.ty == Ty::EXTERNAL;
        let is_known = found.is_found() && found.ty != Ty::EXTERNAL;
        if is_known && search.out.ty == Ty::UNKNOWN {
            search.out.ty = found.ty;
            search.out.reason = UnresolvedReason::External;
        }
    }

    /// What stands for the parameters of a type in its members.
    fn member_env(&mut self, at: DefAt, args: &[Ty], receiver: Ty) -> Env {
        let mut env = self.param_map(at, args);
        let this = self.types.make(Type::This(at));
        if !matches!(self.types.get(receiver), Type::Static(_)) {
            env.push((this, receiver));
        }
        env.retain(|e| e.0 != e.1);
        env.into()
    }

    /// Members of a definition in its file under a name that a place may mean.
    pub(crate) fn members_in(&mut self, of: DefAt, name: &str, space: Space) -> SmallVec<[DefAt; 2]> {
        let facts = self.facts(of.file);
        let all = self.files.members(of, name);
        all.into_iter().filter(|d| space.fits(facts.def(*d).kind)).map(|def| DefAt { def, ..of }).collect()
    }

    /// The bases of a type, in terms of its own parameters.
    pub(crate) fn bases(&mut self, at: DefAt) -> Rc<[Ty]> {
        let ask = |l: &mut Self| {
            l.files.record(at);
            L::bases(l, at).into()
        };
        self.settled(|l| &mut l.bases, at, Rc::from([]), ask)
    }

    /// The bases that stand in the head of a definition.
    pub(crate) fn written_bases(&mut self, at: DefAt) -> Vec<Ty> {
        self.files.def(at).bases.iter().map(|b| self.written(at.file, *b)).collect()
    }

    /// A type as the base for which `is_it` holds: its arguments. `Err` tells whether all bases are known.
    fn as_base(&mut self, ty: Ty, is_it: &dyn Fn(&Type) -> bool) -> Result<Args, bool> {
        let mut todo = vec![ty];
        let mut seen: SmallVec<[Ty; 8]> = SmallVec::new();
        let mut is_closed = true;
        // A type may derive from ever larger ones.
        while let Some(ty) = todo.pop().filter(|_| seen.len() < BASES_MAX && self.step()) {
            if seen.contains(&ty) {
                continue;
            }
            seen.push(ty);
            let t = self.types.get(ty).clone();
            if is_it(&t) {
                return Ok(match t {
                    Type::Named(_, args) | Type::Std(_, args) => args,
                    Type::This(at) => self.type_params(at),
                    _ => Rc::from([]),
                });
            }
            match t {
                Type::Named(at, args) => {
                    let env = self.param_map(at, &args);
                    let bases = self.bases(at);
                    todo.extend(bases.iter().rev().map(|b| self.types.replaced(*b, &env)));
                }
                Type::This(at) => todo.extend(self.bases(at).iter().rev()),
                Type::Std(name, args) => {
                    let name = self.types.text(name);
                    is_closed &= L::table().ty(&name).is_some();
                    todo.extend(L::table().bases(&mut self.types, &name, &args).iter());
                }
                Type::Both(parts) => todo.extend(parts.iter()),
                Type::Var(..) => todo.extend(self.constraint(ty)),
                _ => is_closed = false,
            }
        }
        Err(is_closed)
    }

    /// A type as one that a definition declares.
    pub(crate) fn base_as(&mut self, ty: Ty, base: DefAt) -> Option<Args> {
        let is_it = |t: &Type| matches!(t, Type::Named(at, _) | Type::This(at) if *at == base);
        self.as_base(ty, &is_it).ok()
    }

    /// Returns true if a type is one of the table; `None` if that is not known.
    pub(super) fn is_of_std(&mut self, ty: Ty, name: &str) -> Option<bool> {
        match self.base_as_std(ty, name) {
            Err(is_closed) => is_closed.then_some(false),
            Ok(_) => Some(true),
        }
    }

    /// A type as one of the table.
    pub(crate) fn base_as_std(&mut self, ty: Ty, name: &str) -> Result<Args, bool> {
        let name = self.types.name(name);
        self.as_base(ty, &|t: &Type| matches!(t, Type::Std(n, _) if *n == name))
    }

    /// Whether a definition is an interface.
    pub(crate) fn is_interface(&self, at: DefAt) -> bool {
        self.files.def(at).kind == DefKind::Interface
    }
}
