//! Calls: what is called, and what comes out of it.

use super::{Found, Hit, Language, Linker, Place, Space};
use crate::typed::slots::Asks;
use crate::typed::{DefAt, Env, File, Site, Ty, Type, Val};
use indexd_model::{BindingKind, DefFlags, ExprId, Node, Rule, UnresolvedReason};
use smallvec::SmallVec;
use std::rc::Rc;

/// Values that a function returns which are looked at.
const RETURNS_MAX: usize = 8;
/// Types whose function is looked for, one derived from the other.
const DEPTH_MAX: u32 = 8;

/// What a call may run.
#[derive(Debug)]
pub(crate) struct Picked {
    /// The function that is meant, or those that fit equally well; else the type of the called value.
    pub(crate) found: Found,
    /// The type that is made, where one is.
    pub(crate) made: Option<Ty>,
    pub(crate) is_inferred: bool,
}

impl<'a, L: Language> Linker<'a, L> {
    /// What a call expression may run.
    pub(crate) fn picked(&mut self, file: File, call: ExprId) -> Rc<Picked> {
        // A call among its own arguments' types is not known yet.
        let unknown = Rc::new(Picked { found: Found::unknown(), made: None, is_inferred: false });
        let (callee, args) = match self.facts(file).expr(call).node {
            Node::Call { callee, args } => (callee, args),
            // `T{...}` of C++.
            Node::Composite { ty, elems } => (ty, elems),
            _ => return unknown,
        };
        let ask = |l: &mut Self| {
            let (found, made, is_inferred) = l.called(file, callee);
            let mut found = Found { hits: l.pick(&found, Site { file, args }), ..(*found).clone() };
            if found.is_open {
                found.reason = UnresolvedReason::External;
            }
            Rc::new(Picked { found, made, is_inferred })
        };
        self.settled(|l| &mut l.picks, (file, call), unknown, ask)
    }

    /// What the callee of a call leads to, the type that is made, and whether its receiver was inferred.
    fn called(&mut self, file: File, callee: ExprId) -> (Rc<Found>, Option<Ty>, bool) {
        let facts = self.facts(file);
        let expr = facts.expr(callee);
        match expr.node {
            Node::Apply { base, .. } => self.called(file, base),
            Node::Word { word, value } if facts.str(word) == "new" => {
                let ty = self.written(file, value);
                (Rc::new(self.constructors_of(ty)), Some(ty), false)
            }
            Node::Name { name, binding } => match facts.binding(binding) {
                Some(b) if b.kind == BindingKind::Receiver => {
                    let ty = self.eval(file, callee).ty;
                    (Rc::new(self.constructors_of(ty)), None, false)
                }
                Some(b) if b.kind == BindingKind::Def => {
                    let def = crate::bound_def(facts, b).map(|def| DefAt { file, def });
                    (Rc::new(Found::defs(def, Rule::Scope)), None, false)
                }
                Some(_) => {
                    let v = self.eval(file, callee);
                    (Rc::new(Found::typed(v.ty)), None, v.is_inferred)
                }
                None => (self.free(Place { file, at: expr.at }, facts.str(name), Space::Calls), None, false),
            },
            Node::Attr { base, name } => {
                let base = self.eval(file, base);
                (self.attr(base.ty, facts.str(name), Space::Calls), None, base.is_inferred)
            }
            _ => {
                let v = self.eval(file, callee);
                (Rc::new(Found::typed(v.ty)), None, v.is_inferred)
            }
        }
    }

    /// The constructors of a type.
    pub(crate) fn constructors_of(&mut self, ty: Ty) -> Found {
        let (at, args) = match self.types.get(ty).clone() {
            Type::Named(at, args) => (at, args),
            Type::This(at) | Type::Static(at) => (at, self.type_params(at)),
            Type::Both(parts) => return self.constructors_of(parts[0]),
            Type::Unknown => return Found::unknown(),
            _ => return Found::outside(),
        };
        self.files.record(at);
        let env = self.param_map(at, &args);
        let mut found = Found::defs(L::constructors(self, at), Rule::Receiver);
        found.hits.iter_mut().for_each(|h| h.env = Rc::from(&env[..]));
        found
    }

    /// The value of a call expression.
    pub(crate) fn call_value(&mut self, file: File, call: ExprId) -> Val {
        let picked = self.picked(file, call);
        let Node::Call { callee, args } = self.facts(file).expr(call).node else { return Val::UNKNOWN };
        let (site, found) = (Site { file, args }, &picked.found);
        let ty = match picked.made {
            Some(made) => self.made(made, &found.hits, site),
            None if found.hits.is_empty() => self.result_of_type(found.ty, site),
            None => {
                // The written type arguments of the callee.
                let given = crate::applied(self.facts(file), callee).1;
                let given: Vec<Ty> = given.iter().map(|a| self.written(file, *a)).collect();
                let all: Vec<Ty> = found.hits.iter().map(|h| self.result_of(h, Some(site), &given)).collect();
                self.types.union(&all)
            }
        };
        Val { ty, is_inferred: picked.is_inferred }
    }

    /// A new value of a type; type arguments that are not written are told by those of the constructor.
    fn made(&mut self, ty: Ty, hits: &[Hit], site: Site) -> Ty {
        let Type::Named(at, args) = self.types.get(ty).clone() else { return ty };
        let params = self.type_params(at);
        let (true, Some(hit)) = (args.is_empty() && !params.is_empty(), hits.first()) else { return ty };
        let map = self.solved(hit, site, &params, true);
        let of = |p: &Ty| map.iter().find(|m| m.0 == *p).map_or(Ty::UNKNOWN, |m| m.1);
        let args = params.iter().map(of).collect();
        self.types.make(Type::Named(at, args))
    }

    /// What a function gives: as declared.
    pub(crate) fn result(&mut self, at: DefAt) -> Val {
        self.once(
            |l| &mut l.answers.results,
            at,
            |l| {
                l.files.record(at);
                let def = l.files.def(at);
                match def.results.first() {
                    Some(result) => Val::new(l.written(at.file, *result)),
                    // A type that is called makes a value of it.
                    None if def.kind.is_type() => {
                        let args = l.type_params(at);
                        Val::new(l.type_of_def(at, &args))
                    }
                    // A field that is called: what it is.
                    None if !def.kind.is_callable() => l.def_value(at),
                    // Without a result in its head a function gives what it returns.
                    None if !def.returns.is_empty() => {
                        let all: Vec<Ty> =
                            def.returns.iter().take(RETURNS_MAX).map(|e| l.eval(at.file, *e).ty).collect();
                        Val::inferred(l.types.union(&all))
                    }
                    None => Val::new(Ty::NOTHING),
                }
            },
        )
    }

    /// What a call of a function gives.
    pub(crate) fn result_of(&mut self, hit: &Hit, site: Option<Site>, given: &[Ty]) -> Ty {
        let ty = self.result(hit.at).ty;
        if !self.types.has_vars(ty) {
            return ty;
        }
        let own = self.type_params(hit.at);
        let map = match (site, given.is_empty()) {
            _ if own.is_empty() => Vec::new(),
            (Some(site), true) => self.solved(hit, site, &own, true),
            // The parameters of a block around precede those of the function; in C++ the last may be left out.
            _ => {
                let n_before = if L::ID == "cpp" { 0 } else { own.len().saturating_sub(given.len()) };
                own[n_before..].iter().copied().zip(given.iter().copied()).collect()
            }
        };
        let ty = self.types.replaced(ty, &map);
        self.types.replaced(ty, &hit.env)
    }

    /// What a call of a value of a type gives.
    fn result_of_type(&mut self, ty: Ty, site: Site) -> Ty {
        match self.types.get(ty).clone() {
            Type::Fn { params, result, .. } => {
                if !self.types.has_vars(result) {
                    return result;
                }
                let args = self.facts(site.file).list(site.args).iter().copied();
                let pairs: Vec<(Ty, ExprId)> = params.iter().copied().zip(args).collect();
                let map = self.learned(site.file, &pairs, None, true);
                self.types.replaced(result, &map)
            }
            Type::Lambda(file, e, env) => {
                let Node::Lambda { result, .. } = self.facts(file).expr(e).node else { return Ty::UNKNOWN };
                let ty = self.eval(file, result).ty;
                self.types.replaced(ty, &env)
            }
            Type::Func(at, env) => {
                let ty = self.result(at).ty;
                self.types.replaced(ty, &env)
            }
            // A member of the table that is written as what it gives, or a pointer to a function.
            Type::Std(..) => match L::behind(self, ty) {
                Some(inner) => self.functional(inner).map_or(ty, |f| f.1),
                None => ty,
            },
            Type::Var(..) | Type::Both(_) => self.functional(ty).map_or(ty, |f| f.1),
            _ => ty,
        }
    }

    // ---- types that function literals stand for

    /// The parameters and the result of the function that a value of a type stands for.
    pub(crate) fn functional(&mut self, ty: Ty) -> Option<(Vec<Ty>, Ty)> {
        self.functional_in(ty, 0)
    }

    fn functional_in(&mut self, ty: Ty, depth: u32) -> Option<(Vec<Ty>, Ty)> {
        if depth > DEPTH_MAX {
            return None;
        }
        match self.types.get(ty).clone() {
            Type::Fn { params, result, .. } => Some((params.to_vec(), result)),
            Type::Std(name, args) => {
                let name = self.types.text(name);
                let Some(function) = L::table().ty(&name)?.function else {
                    let inner = L::behind(self, ty).filter(|i| *i != ty)?;
                    return self.functional(inner);
                };
                let member = L::table().member(&mut self.types, &name, &args, function)?;
                self.functional_in(member, depth + 1)
            }
            Type::Named(at, args) if self.is_interface(at) => self.functional_of(at, &args, depth + 1),
            Type::Var(..) => {
                let bound = self.constraint(ty)?;
                self.functional_in(bound, depth + 1)
            }
            Type::Union(parts) | Type::Both(parts) => {
                parts.iter().find_map(|p| self.functional_in(*p, depth + 1))
            }
            Type::Func(at, env) => Some(self.function(at, env)),
            _ => None,
        }
    }

    /// The parameters and the result of a function.
    fn function(&mut self, at: DefAt, env: Env) -> (Vec<Ty>, Ty) {
        let hit = Hit { at, rule: Rule::Scope, env };
        let params = self.params(&hit).iter().map(|p| p.ty).collect();
        (params, self.result_of(&hit, None, &[]))
    }

    /// The one method without a body of an interface, its own or inherited.
    fn functional_of(&mut self, at: DefAt, args: &[Ty], depth: u32) -> Option<(Vec<Ty>, Ty)> {
        self.files.record(at);
        let env = self.param_map(at, args);
        if let Some(method) = self.abstract_methods(at).first() {
            return Some(self.function(*method, env.into()));
        }
        for base in self.bases(at).iter() {
            let base = self.types.replaced(*base, &env);
            let found = match self.types.get(base).clone() {
                Type::Named(..) | Type::Std(..) => self.functional_in(base, depth + 1),
                _ => None,
            };
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// The methods without a body of a type; recorded under the name `()` in it.
    fn abstract_methods(&mut self, at: DefAt) -> Vec<DefAt> {
        self.files.members(at, "()");
        let facts = self.facts(at.file);
        let is_of_root = |name: &str| !L::ROOT.is_empty() && L::table().has(L::ROOT, name);
        let is_it = |d: &indexd_model::DefIdx| {
            let def = facts.def(*d);
            def.flags.has(DefFlags::ABSTRACT) && def.kind.is_callable() && !is_of_root(facts.str(def.name))
        };
        let all: Vec<DefAt> = facts.children(at.def).filter(is_it).map(|def| DefAt { def, ..at }).collect();
        // Of several names none is meant.
        let is_one = all.windows(2).all(|a| facts.def_name(a[0].def) == facts.def_name(a[1].def));
        if is_one { all } else { Vec::new() }
    }

    // ---- parameters

    /// The parameters of a function.
    pub(crate) fn params(&mut self, hit: &Hit) -> SmallVec<[Param; 4]> {
        self.files.record(hit.at);
        let facts = self.facts(hit.at.file);
        let all = &facts.def(hit.at.def).params;
        let mut out: SmallVec<[Param; 4]> = SmallVec::new();
        for id in all {
            let Some(b) = facts.binding(*id).filter(|b| b.kind != BindingKind::Receiver) else { continue };
            let ty = self.binding(hit.at.file, *id).ty;
            out.push(Param {
                ty: self.types.replaced(ty, &hit.env),
                is_rest: b.kind == BindingKind::VarArgs,
                has_default: crate::assigned(facts.sources(b)).is_some(),
            });
        }
        out
    }
}

/// A parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Param {
    pub(crate) ty: Ty,
    pub(crate) is_rest: bool,
    pub(crate) has_default: bool,
}
