//! What values say of type parameters: a type that is expected is compared with one that is given.

use super::{Hit, Language, Linker};
use crate::typed::slots::Asks;
use crate::typed::{Args, File, Site, Ty, Type};
use indexd_model::{ExprId, Node};

/// Nesting of types that are compared.
const DEPTH_MAX: u32 = 8;

/// What is learned of type parameters.
struct Solver<'o> {
    map: Vec<(Ty, Ty)>,
    /// The parameters to be found; those of the table where there are none.
    own: Option<&'o [Ty]>,
}

impl<'a, L: Language> Linker<'a, L> {
    /// What the arguments of a call say of type parameters. `runs` says whether the results of function literals
    /// are looked at.
    pub(crate) fn solved(&mut self, hit: &Hit, site: Site, own: &[Ty], runs: bool) -> Vec<(Ty, Ty)> {
        let params = self.params(hit);
        let args: Vec<ExprId> = self.facts(site.file).list(site.args).to_vec();
        let n = args.len();
        let mut pairs = Vec::new();
        for (i, arg) in args.into_iter().enumerate() {
            let Some(param) = params.get(i).or(params.last().filter(|p| p.is_rest)) else { break };
            let is_spread = param.is_rest && (n != params.len() || !self.is_array(site.file, arg));
            pairs.push((if is_spread { self.element(param.ty) } else { param.ty }, arg));
        }
        self.learned(site.file, &pairs, Some(own), runs)
    }

    fn is_array(&mut self, file: File, e: ExprId) -> bool {
        let ty = self.eval(file, e).ty;
        self.types.is_std(ty, "Array")
    }

    /// What values say of the types that are expected of them. What plain values say comes before what function
    /// literals give.
    pub(crate) fn learned(
        &mut self,
        file: File,
        pairs: &[(Ty, ExprId)],
        own: Option<&[Ty]>,
        runs: bool,
    ) -> Vec<(Ty, Ty)> {
        let facts = self.facts(file);
        let mut solver = Solver { map: Vec::new(), own };
        let is_function = |e: ExprId| match facts.expr(e).node {
            Node::Lambda { .. } => true,
            Node::Word { word, .. } => facts.str(word) == "::",
            _ => false,
        };
        for wants_function in [false, true] {
            for (param, arg) in pairs {
                if is_function(*arg) != wants_function
                    || !self.types.has_vars(*param)
                    || wants_function && !runs
                {
                    continue;
                }
                if wants_function {
                    let result = self.functional(*param).map(|f| f.1);
                    let gives = self.given_by(file, *arg);
                    if let (Some(result), Some(gives)) = (result, gives) {
                        self.unify(result, gives, &mut solver, 0);
                    }
                } else {
                    let ty = self.eval(file, *arg).ty;
                    self.unify(*param, ty, &mut solver, 0);
                }
            }
        }
        solver.map
    }

    /// What a function literal, or a function that is named, gives.
    fn given_by(&mut self, file: File, e: ExprId) -> Option<Ty> {
        match self.facts(file).expr(e).node {
            Node::Lambda { result, .. } => Some(self.eval(file, result).ty),
            _ => {
                let ty = self.eval(file, e).ty;
                match self.types.get(ty).clone() {
                    Type::Static(at) => Some(self.type_of_def(at, &[])),
                    _ => self.functional(ty).map(|f| f.1),
                }
            }
        }
    }

    /// What a type says of the parameters `own` in another one.
    pub(crate) fn matched(&mut self, pattern: Ty, actual: Ty, own: &[Ty]) -> Vec<(Ty, Ty)> {
        let mut solver = Solver { map: Vec::new(), own: Some(own) };
        self.unify(pattern, actual, &mut solver, 0);
        solver.map
    }

    fn unify(&mut self, pattern: Ty, actual: Ty, solver: &mut Solver, depth: u32) {
        let is_told = actual != Ty::UNKNOWN && actual != Ty::NOTHING;
        if !self.types.has_vars(pattern) || depth > DEPTH_MAX || !is_told || !self.step() {
            return;
        }
        match self.types.get(pattern).clone() {
            Type::Var(..) | Type::StdVar(_) => self.learn(pattern, actual, solver),
            Type::Union(parts) | Type::Both(parts) => {
                parts.iter().for_each(|p| self.unify(*p, actual, solver, depth + 1));
            }
            Type::Named(at, args) => {
                let given = self.base_as(actual, at);
                self.unify_all(&args, given, solver, depth);
            }
            Type::Std(name, args) => {
                let name = self.types.text(name);
                let given = self.base_as_std(actual, &name).ok();
                self.unify_all(&args, given, solver, depth);
            }
            Type::Tuple(args) => {
                if let Type::Tuple(given) = self.types.get(actual).clone() {
                    self.unify_all(&args, Some(given), solver, depth);
                }
            }
            Type::Fn { result, .. } => {
                if let Some((_, gives)) = self.functional(actual) {
                    self.unify(result, gives, solver, depth + 1);
                }
            }
            _ => {}
        }
    }

    fn unify_all(&mut self, patterns: &[Ty], given: Option<Args>, solver: &mut Solver, depth: u32) {
        let Some(given) = given else { return };
        for (pattern, actual) in patterns.iter().zip(given.iter()) {
            self.unify(*pattern, *actual, solver, depth + 1);
        }
    }

    fn learn(&mut self, var: Ty, actual: Ty, solver: &mut Solver) {
        let is_own = match solver.own {
            Some(own) => own.contains(&var),
            None => matches!(self.types.get(var), Type::StdVar(_)),
        };
        if !is_own || var == actual {
            return;
        }
        let actual = match self.types.get(actual).clone() {
            Type::Std(name, args) if args.is_empty() => {
                let name = self.types.text(name);
                self.types.std(L::boxed(&name), &[])
            }
            _ => actual,
        };
        match solver.map.iter_mut().find(|m| m.0 == var) {
            Some(known) if known.1 == Ty::EXTERNAL => known.1 = actual,
            Some(_) => {}
            None => solver.map.push((var, actual)),
        }
    }
}
