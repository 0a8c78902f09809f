//! Calls: signatures, which of them a call takes, and results.

use super::Linker;
use super::std::TABLE;
use crate::typed::slots::Asks;
use crate::typed::{Args, DefAt, Env, File, Site, Ty, Type, Val};
use indexd_model::{BindingId, DefFlags, DefIdx, DefKind, ExprId, Node};
use std::rc::Rc;

/// Nesting of types whose signatures are looked for.
const DEPTH_MAX: u32 = 8;
/// Signatures of one function that are looked at.
const OVERLOADS_MAX: usize = 16;

/// Something that can be called.
#[derive(Clone)]
pub(super) struct Signature {
    pub(super) of: Callable,
    env: Env,
}

#[derive(Clone, Copy)]
pub(super) enum Callable {
    Def(DefAt),
    Lambda(File, ExprId),
    /// A [`Type::Fn`].
    Type(Ty),
}

/// A parameter.
#[derive(Clone, Copy)]
pub(super) struct Param {
    pub(super) ty: Ty,
    is_rest: bool,
}

/// The parameter that takes the argument at a place.
fn param_at(params: &[Param], index: usize) -> Option<&Param> {
    params.get(index).or(params.last().filter(|p| p.is_rest))
}

/// The inferred arguments of type parameters.
pub(super) struct Solver {
    pub(super) map: Vec<(Ty, Ty)>,
    /// The parameters to be found; all where they are not known.
    pub(super) own: Option<Args>,
    /// True if the results of function literals are evaluated.
    pub(super) runs: bool,
}

impl<'a> Linker<'a> {
    /// The type of a call expression.
    pub(super) fn call_value(&mut self, file: File, e: ExprId) -> Val {
        let facts = self.facts(file);
        let Node::Call { callee, args } = facts.expr(e).node else { return Val::UNKNOWN };
        let site = Site { file, args };
        if let Node::Word { word, value } = facts.expr(callee).node {
            return match facts.str(word) {
                "new" => self.new_value(file, value, site),
                "jsx" => Val::new(Ty::EXTERNAL),
                _ => {
                    let callee = self.eval(file, callee);
                    self.call(callee.ty, Some(site))
                }
            };
        }
        let callee = self.eval(file, callee);
        let v = self.call(callee.ty, Some(site));
        Val { ty: v.ty, is_inferred: v.is_inferred || callee.is_inferred }
    }

    fn new_value(&mut self, file: File, class: ExprId, site: Site) -> Val {
        let (class, given) = crate::applied(self.facts(file), class);
        let v = self.eval(file, class);
        let given: Vec<Ty> = given.iter().map(|a| self.written(file, *a)).collect();
        let ty = match self.types.get(v.ty).clone() {
            Type::Static(at) if !given.is_empty() => self.types.make(Type::Named(at, given.into())),
            Type::Static(at) => self.made(at, site),
            Type::StdStatic(name) => {
                let name = self.types.text(name);
                match (given.is_empty(), TABLE.member(&mut self.types, &format!("static {name}"), &[], "new"))
                {
                    (true, Some(signature)) => self.call(signature, Some(site)).ty,
                    _ => self.std_named(&name, &given).unwrap_or(Ty::EXTERNAL),
                }
            }
            _ => self.instance_of(v.ty),
        };
        Val { ty, ..v }
    }

    /// Returns a new value of a class; type arguments that are not written are inferred from those of the
    /// constructor.
    fn made(&mut self, at: DefAt, site: Site) -> Ty {
        let params = self.type_params(at);
        if params.is_empty() {
            return self.types.make(Type::Named(at, Rc::from([])));
        }
        let mut args: Vec<Ty> = Vec::new();
        if let Some(constructor) = self.constructor(at, 0)
            && constructor.file == at.file
        {
            let signature = Signature { of: Callable::Def(constructor), env: Rc::from([]) };
            let mut solver = Solver { map: Vec::new(), own: Some(Rc::clone(&params)), runs: true };
            self.solve(&signature, site, &mut solver);
            if !solver.map.is_empty() {
                let of = |p: &Ty| solver.map.iter().find(|m| m.0 == *p).map_or(Ty::UNKNOWN, |m| m.1);
                args = params.iter().map(of).collect();
            }
        }
        self.types.make(Type::Named(at, args.into()))
    }

    /// The constructor of a class, its own or inherited.
    pub(super) fn constructor(&mut self, at: DefAt, depth: u32) -> Option<DefAt> {
        let own = self.files.members(at, "constructor");
        if let Some(def) = own.first() {
            return Some(DefAt { def: *def, ..at });
        }
        let base = self.bases(at).first().copied()?;
        match self.types.get(base) {
            Type::Named(base, _) if depth < 16 => {
                let base = *base;
                self.constructor(base, depth + 1)
            }
            _ => None,
        }
    }

    /// Returns the type of `new` with a value that is not a class.
    pub(super) fn constructed(&mut self, ty: Ty) -> Ty {
        match self.types.get(ty).clone() {
            Type::Shape(file, e, env) => self.constructed_by(file, e, &env),
            Type::Both(parts) => {
                let all: Vec<Ty> = parts.iter().map(|p| self.instance_of(*p)).collect();
                self.types.both(&all)
            }
            Type::Named(at, args) if self.files.def(at).kind == DefKind::Interface => {
                let env: Env = self.param_map(at, &args).into();
                let body = self.files.def(at).ty;
                self.constructed_by(at.file, body, &env)
            }
            _ => self.through(ty, Self::instance_of).unwrap_or(Ty::UNKNOWN),
        }
    }

    pub(super) fn constructed_by(&mut self, file: File, e: ExprId, env: &Env) -> Ty {
        let facts = self.facts(file);
        let members: Vec<ExprId> = match facts.expr(e).node {
            Node::Composite { elems, .. } => facts.list(elems).to_vec(),
            Node::Word { .. } => vec![e],
            _ => Vec::new(),
        };
        for member in members {
            if let Node::Word { word, value } = facts.expr(member).node
                && facts.str(word) == "new"
                && let Node::FuncType { results, .. } = facts.expr(value).node
                && let Some(result) = facts.list(results).first()
            {
                let ty = self.written(file, *result);
                return self.types.replaced(ty, env);
            }
        }
        Ty::UNKNOWN
    }

    // ---- signatures

    /// Returns the signatures that a call of a value of this type may run.
    pub(super) fn signatures(&mut self, ty: Ty) -> Vec<Signature> {
        self.signatures_in(ty, 0)
    }

    fn signatures_in(&mut self, ty: Ty, depth: u32) -> Vec<Signature> {
        if depth > DEPTH_MAX || !self.step() {
            return Vec::new();
        }
        let one = |of, env| vec![Signature { of, env }];
        match self.types.get(ty).clone() {
            Type::Func(at, env) => self.overloads(at, &env),
            Type::Lambda(file, e, env) => one(Callable::Lambda(file, e), env),
            Type::Fn { .. } => one(Callable::Type(ty), Rc::from([])),
            Type::Shape(file, e, env) => self.call_signatures(file, e, &env),
            Type::Union(parts) | Type::Both(parts) => {
                let all = parts.iter().map(|p| self.signatures_in(*p, depth + 1));
                all.into_iter().find(|s| !s.is_empty()).unwrap_or_default()
            }
            Type::Std(name, args) => {
                let name = self.types.text(name);
                match TABLE.member(&mut self.types, &name, &args, "()") {
                    Some(ty) => one(Callable::Type(ty), Rc::from([])),
                    None => self.expanded(ty).map_or(Vec::new(), |t| self.signatures_in(t, depth + 1)),
                }
            }
            Type::StdStatic(name) => {
                let name = self.types.text(name);
                let ty = TABLE.member(&mut self.types, &format!("static {name}"), &[], "()");
                ty.map_or(Vec::new(), |ty| one(Callable::Type(ty), Rc::from([])))
            }
            Type::Named(at, args) if self.files.def(at).kind != DefKind::Alias => {
                self.signatures_of_named(at, &args, depth)
            }
            _ => self.expanded(ty).map_or(Vec::new(), |t| self.signatures_in(t, depth + 1)),
        }
    }

    fn signatures_of_named(&mut self, at: DefAt, args: &[Ty], depth: u32) -> Vec<Signature> {
        let mut out = Vec::new();
        for sibling in self.files.siblings(at) {
            let of = DefAt { def: sibling, ..at };
            let env: Env = self.param_map(of, args).into();
            let body = self.files.def(of).ty;
            out.extend(self.call_signatures(of.file, body, &env));
        }
        if out.is_empty() {
            let map = self.param_map(at, args);
            for base in self.bases(at).iter() {
                let base = self.types.replaced(*base, &map);
                out.extend(self.signatures_in(base, depth + 1));
            }
        }
        out
    }

    fn call_signatures(&mut self, file: File, e: ExprId, env: &Env) -> Vec<Signature> {
        let facts = self.facts(file);
        let Node::Composite { elems, .. } = facts.expr(e).node else { return Vec::new() };
        let mut out = Vec::new();
        for elem in facts.list(elems) {
            if let Node::FuncType { .. } = facts.expr(*elem).node {
                let ty = self.written(file, *elem);
                let ty = self.types.replaced(ty, env);
                out.push(Signature { of: Callable::Type(ty), env: Rc::from([]) });
            }
        }
        out
    }

    /// The signatures of a function: those without a body where there are any.
    fn overloads(&mut self, at: DefAt, env: &Env) -> Vec<Signature> {
        let mut all = self.of_one_function(at);
        all.retain(|at| self.files.def(*at).flags.has(DefFlags::OVERLOAD));
        if all.is_empty() {
            all.push(at);
        }
        let of = |at| Signature { of: Callable::Def(at), env: Rc::clone(env) };
        all.into_iter().take(OVERLOADS_MAX).map(of).collect()
    }

    /// The declarations of a function or method.
    fn of_one_function(&mut self, at: DefAt) -> Vec<DefAt> {
        let facts = self.facts(at.file);
        let own = facts.def(at.def);
        if own.receiver.is_some() || own.flags.has(DefFlags::OF_VALUE) {
            return vec![at];
        }
        let is_static = own.flags.has(DefFlags::STATIC);
        let is_it = |d: &DefIdx| {
            let it = facts.def(*d);
            it.kind == own.kind && it.flags.has(DefFlags::STATIC) == is_static
        };
        self.files.siblings(at).into_iter().filter(is_it).map(|def| DefAt { def, ..at }).collect()
    }

    /// The declaration with a body, where that of an overload without one is given.
    pub(super) fn with_body(&mut self, at: DefAt) -> DefAt {
        let is_signature = |l: &Self, at| l.files.def(at).flags.has(DefFlags::OVERLOAD);
        if !is_signature(self, at) {
            return at;
        }
        let all = self.of_one_function(at);
        all.into_iter().find(|at| !is_signature(self, *at)).unwrap_or(at)
    }

    pub(super) fn params(&mut self, signature: &Signature) -> Vec<Param> {
        let raw: Vec<(Ty, bool)> = match signature.of {
            Callable::Def(at) => {
                let params = &self.files.def(at).params;
                params.iter().map(|p| self.binding_type(at.file, *p)).collect()
            }
            Callable::Lambda(file, e) => {
                let facts = self.facts(file);
                let Node::Lambda { params, .. } = facts.expr(e).node else { return Vec::new() };
                facts.list(params).iter().map(|p| self.param_type(file, *p)).collect()
            }
            Callable::Type(ty) => {
                let Type::Fn { params, is_variadic, .. } = self.types.get(ty).clone() else {
                    return Vec::new();
                };
                let last = params.len().wrapping_sub(1);
                params.iter().enumerate().map(|(i, p)| (*p, is_variadic && i == last)).collect()
            }
        };
        let of = |l: &mut Self, (ty, is_rest): (Ty, bool)| Param {
            ty: l.types.replaced(ty, &signature.env),
            is_rest,
        };
        raw.into_iter().map(|p| of(self, p)).collect()
    }

    fn own_params(&mut self, signature: &Signature) -> Option<Args> {
        match signature.of {
            Callable::Def(at) => Some(self.type_params(at)),
            _ => None,
        }
    }

    pub(super) fn result_of(&mut self, signature: &Signature) -> Val {
        let v = match signature.of {
            Callable::Def(at) => self.result(at),
            Callable::Lambda(file, e) => {
                let Node::Lambda { result, .. } = self.facts(file).expr(e).node else { return Val::UNKNOWN };
                let v = self.eval(file, result);
                Val { is_inferred: true, ..v }
            }
            Callable::Type(ty) => match self.types.get(ty) {
                Type::Fn { result, .. } => Val::new(*result),
                _ => Val::UNKNOWN,
            },
        };
        Val { ty: self.types.replaced(v.ty, &signature.env), ..v }
    }

    /// Returns the result of a function: as declared, else by its `return` statements.
    pub(super) fn result(&mut self, at: DefAt) -> Val {
        self.once(|l| &mut l.answers.results, at, |l| l.read_result(at))
    }

    fn read_result(&mut self, at: DefAt) -> Val {
        self.files.record(at);
        let facts = self.facts(at.file);
        let def = facts.def(at.def);
        if let Some(result) = def.results.first() {
            let ty = self.written(at.file, *result);
            // A comment may name a type that is not known.
            if def.returns.is_empty() || !matches!(ty, Ty::UNKNOWN | Ty::EXTERNAL) {
                return Val::new(ty);
            }
        }
        if def.ty != ExprId::NONE {
            let ty = self.written(at.file, def.ty);
            return Val::new(self.result_of_type(ty));
        }
        if def.flags.has(DefFlags::GENERATOR) {
            return Val::UNKNOWN;
        }
        let mut tys = Vec::new();
        for value in def.returns.iter().take(16) {
            let ty = self.eval(at.file, *value).ty;
            tys.push(self.widened(ty));
        }
        let ty = if tys.is_empty() { Ty::NOTHING } else { self.types.union(&tys) };
        Val::inferred(if def.flags.has(DefFlags::ASYNC) { self.promise(ty) } else { ty })
    }

    // ---- calls

    /// Returns the result of calling a value; `site` is `None` for implicit calls.
    pub(super) fn call(&mut self, callee: Ty, site: Option<Site>) -> Val {
        match self.types.get(callee).clone() {
            Type::External => return Val::new(Ty::EXTERNAL),
            Type::Unknown | Type::Nothing => return Val::UNKNOWN,
            Type::Union(parts) => {
                let tys: Vec<Ty> = parts.iter().map(|p| self.call(*p, site).ty).collect();
                return Val::inferred(self.types.union(&tys));
            }
            _ => {}
        }
        let signatures = self.signatures(callee);
        let Some(signature) = self.pick(&signatures, site) else {
            let is_std =
                matches!(self.types.get(callee), Type::Std(..) | Type::StdStatic(_) | Type::Static(_));
            return Val::new(if is_std { Ty::EXTERNAL } else { Ty::UNKNOWN });
        };
        let v = self.result_of(&signature);
        if !self.types.has_vars(v.ty) {
            return v;
        }
        let mut solver = Solver { map: Vec::new(), own: self.own_params(&signature), runs: true };
        if let Some(site) = site {
            self.solve(&signature, site, &mut solver);
        }
        self.leave_open(&signature, &mut solver);
        Val { ty: self.types.replaced(v.ty, &solver.map), ..v }
    }

    /// Sets parameters that no argument determines to their defaults.
    fn leave_open(&mut self, signature: &Signature, solver: &mut Solver) {
        if let Callable::Def(at) = signature.of {
            for (var, ty) in self.param_map(at, &[]) {
                let is_known = solver.map.iter().chain(signature.env.iter()).any(|m| m.0 == var);
                if !is_known {
                    solver.map.push((var, ty));
                }
            }
        }
        for letter in b'A'..=b'Z' {
            let var = self.types.make(Type::StdVar(letter));
            if matches!(signature.of, Callable::Type(_)) && !solver.map.iter().any(|m| m.0 == var) {
                solver.map.push((var, Ty::UNKNOWN));
            }
        }
    }

    /// The first signature that the arguments fit.
    pub(super) fn pick(&mut self, all: &[Signature], site: Option<Site>) -> Option<Signature> {
        let (Some(site), true) = (site, all.len() > 1) else { return all.first().cloned() };
        let n = self.facts(site.file).list(site.args).len();
        let mut fitting = None;
        for signature in all {
            let params = self.params(signature);
            let takes = n <= params.len() || params.last().is_some_and(|p| p.is_rest);
            if takes && self.fits(&params, site) {
                return Some(signature.clone());
            }
            fitting = fitting.or_else(|| takes.then(|| signature.clone()));
        }
        fitting.or_else(|| all.last().cloned())
    }

    fn fits(&mut self, params: &[Param], site: Site) -> bool {
        let facts = self.facts(site.file);
        let args: Vec<ExprId> = facts.list(site.args).to_vec();
        args.iter().zip(params).all(|(arg, param)| {
            if matches!(facts.expr(*arg).node, Node::Composite { .. } | Node::Spread { .. }) {
                return true;
            }
            let ty = self.eval(site.file, *arg).ty;
            self.is_a(ty, param.ty, 0) != Some(false)
        })
    }

    fn solve(&mut self, signature: &Signature, site: Site, solver: &mut Solver) {
        let facts = self.facts(site.file);
        let params = self.params(signature);
        // Arguments that are values come before function literals.
        let is_lambda = |e: ExprId| matches!(facts.expr(e).node, Node::Lambda { .. });
        for wants_lambda in [false, true] {
            for (i, arg) in facts.list(site.args).iter().enumerate() {
                let Some(param) = param_at(&params, i) else { break };
                if is_lambda(*arg) != wants_lambda || !self.types.has_vars(param.ty) {
                    continue;
                }
                if wants_lambda && !solver.runs {
                    continue;
                }
                let ty = self.eval(site.file, *arg).ty;
                self.unify_in(param.ty, ty, solver, 0);
            }
        }
    }

    /// Returns the type that a place in a call expects, with the type parameters that other arguments
    /// determine.
    pub(super) fn expected_argument(&mut self, callee: Ty, site: Site, index: usize) -> Ty {
        let signatures = self.signatures(callee);
        let mut tys = Vec::new();
        let n = self.facts(site.file).list(site.args).len();
        for signature in &signatures {
            let params = self.params(signature);
            let rest = params.last().filter(|p| p.is_rest);
            if n > params.len() && rest.is_none() && signatures.len() > 1 {
                continue;
            }
            let Some(param) = params.get(index).or(rest) else { continue };
            let mut ty = param.ty;
            if self.types.has_vars(ty) {
                let mut solver = Solver { map: Vec::new(), own: self.own_params(signature), runs: false };
                self.solve(signature, site, &mut solver);
                let itself = self.facts(site.file).list(site.args).get(index).map(|e| (site.file, *e));
                self.leave_constraints(signature, itself, &mut solver);
                ty = self.types.replaced(ty, &solver.map);
            }
            tys.push(ty);
            if tys.len() == 3 {
                break;
            }
        }
        self.types.union(&tys)
    }

    /// A type parameter that nothing determines gets the type that it extends, and so do those that only the literal
    /// `itself` determines, whose place is asked about.
    fn leave_constraints(
        &mut self,
        signature: &Signature,
        itself: Option<(File, ExprId)>,
        solver: &mut Solver,
    ) {
        let Callable::Def(at) = signature.of else { return };
        for param in &self.files.def(at).type_params {
            let var = self.types.make(Type::Var(at.file, *param));
            let is_itself = |ty: Ty| match *self.types.get(ty) {
                Type::Shape(file, e, _) => Some((file, e)) == itself,
                _ => false,
            };
            let is_known =
                solver.map.iter().chain(signature.env.iter()).any(|m| m.0 == var && !is_itself(m.1));
            if !is_known && let Some(ty) = self.constraint(at.file, *param) {
                solver.map.retain(|m| m.0 != var);
                solver.map.push((var, ty));
            }
        }
    }

    /// Returns the type that `new` of a class, or of another value, expects at a place.
    pub(super) fn expected_of_new(&mut self, class: Ty, site: Site, index: usize) -> Ty {
        let Type::Static(at) = *self.types.get(class) else { return Ty::UNKNOWN };
        let Some(constructor) = self.constructor(at, 0) else { return Ty::UNKNOWN };
        let env = self.inherited_env(at, constructor);
        let all = self.overloads(constructor, &env);
        let Some(signature) = self.pick(&all, None) else { return Ty::UNKNOWN };
        let params = self.params(&signature);
        let Some(param) = param_at(&params, index) else { return Ty::UNKNOWN };
        let owner = self.files.def(constructor).parent;
        let owner = DefAt { def: owner, ..constructor };
        let mut solver = Solver { map: Vec::new(), own: Some(self.type_params(owner)), runs: false };
        self.solve(&signature, site, &mut solver);
        for (var, ty) in self.param_map(owner, &[]) {
            if !solver.map.iter().any(|m| m.0 == var) {
                solver.map.push((var, ty));
            }
        }
        self.types.replaced(param.ty, &solver.map)
    }

    /// Returns the parameters of the class that a constructor belongs to, with the arguments from a class
    /// that inherits it.
    fn inherited_env(&mut self, at: DefAt, constructor: DefAt) -> Env {
        let owner = DefAt { def: self.files.def(constructor).parent, ..constructor };
        if owner == at {
            return Rc::from([]);
        }
        let own = self.type_params(at);
        let this = self.types.make(Type::Named(at, own));
        let args = self.base_as(this, owner);
        args.map_or(Rc::from([]), |args| self.param_map(owner, &args).into())
    }

    /// The parameter of a type that is called with an argument, and its result.
    pub(super) fn param_of(&mut self, ty: Ty, index: usize) -> Ty {
        let mut tys = Vec::new();
        for part in self.flat_parts(ty).0.iter() {
            let signatures = self.signatures(*part);
            let Some(signature) = signatures.first() else { continue };
            let params = self.params(signature);
            tys.extend(param_at(&params, index).map(|p| p.ty));
        }
        self.types.union(&tys)
    }

    /// Returns the expected result of a value that is a function.
    pub(super) fn result_of_type(&mut self, ty: Ty) -> Ty {
        let mut tys = Vec::new();
        for part in self.flat_parts(ty).0.iter() {
            let signatures = self.signatures(*part);
            tys.extend(signatures.first().map(|s| self.result_of(s).ty));
        }
        self.types.union(&tys)
    }

    /// Returns the signature's result as a test of one of its parameters: the parameter, and the type that it
    /// then has. The value that a method runs on is the last of all.
    pub(super) fn guard(&mut self, callee: Ty) -> Option<(u16, Ty)> {
        let signature = self.signatures(callee).into_iter().next()?;
        let Callable::Def(at) = signature.of else { return None };
        self.files.record(at);
        let facts = self.facts(at.file);
        let def = facts.def(at.def);
        let result = *def.results.first()?;
        let result = match facts.expr(result).node {
            Node::Word { value, .. } => value,
            _ => result,
        };
        let Node::Keyword { name, value } = facts.expr(result).node else { return None };
        let named = |p: &BindingId| facts.binding(*p).is_some_and(|b| b.name == name);
        let index = match facts.str(name) {
            "this" => u16::MAX,
            _ => def.params.iter().position(named)?.min(1000) as u16,
        };
        let ty = self.written(at.file, value);
        Some((index, self.types.replaced(ty, &signature.env)))
    }
}
