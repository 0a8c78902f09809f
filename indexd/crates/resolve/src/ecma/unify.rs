//! Inference of type parameters from values: an expected type is compared with an actual one.

use super::Linker;
use super::calls::{Callable, Solver};
use crate::typed::slots::Asks;
use crate::typed::{DefAt, Env, File, Ty, Type};
use indexd_model::{DefKind, ExprId, Node};

/// Nesting of types that are compared.
const DEPTH_MAX: u32 = 8;
/// Members of a literal that are compared.
const MEMBERS_MAX: usize = 24;

impl Linker<'_> {
    /// Learns from a value of type `actual` where `pattern` is expected.
    pub(super) fn unify(&mut self, pattern: Ty, actual: Ty, map: &mut Vec<(Ty, Ty)>) {
        let mut solver = Solver { map: std::mem::take(map), own: None, runs: true };
        self.unify_in(pattern, actual, &mut solver, 0);
        *map = solver.map;
    }

    pub(super) fn unify_in(&mut self, pattern: Ty, actual: Ty, solver: &mut Solver, depth: u32) {
        let is_told = actual != Ty::UNKNOWN && actual != Ty::NOTHING;
        if !self.types.has_vars(pattern) || depth > DEPTH_MAX || !is_told || !self.step() {
            return;
        }
        match (self.types.get(pattern).clone(), self.types.get(actual).clone()) {
            (Type::Var(..) | Type::StdVar(_), _) => self.learn(pattern, actual, solver),
            (Type::Union(parts), _) => self.unify_union(&parts, actual, solver, depth),
            (Type::Both(parts), _) => {
                parts.iter().for_each(|p| self.unify_in(*p, actual, solver, depth + 1));
            }
            (Type::Named(at, args), _) if self.files.def(at).kind != DefKind::Alias => {
                self.unify_named(pattern, at, &args, actual, solver, depth);
            }
            (Type::Named(at, args), Type::Named(other, given)) if at == other => {
                self.unify_all(&args, &given, solver, depth);
            }
            (Type::Std(name, args), _) => {
                let name = self.types.text(name);
                self.unify_std(&name, &args, actual, solver, depth);
            }
            (Type::Tuple(parts), Type::Tuple(given)) => self.unify_all(&parts, &given, solver, depth),
            (Type::Fn { params, result, .. }, _) => {
                self.unify_function(&params, result, actual, solver, depth);
            }
            (Type::Shape(file, e, env), _) => self.unify_shape(file, e, &env, actual, solver, depth),
            _ => {
                if let Some(other) = self.expanded(pattern) {
                    self.unify_in(other, actual, solver, depth + 1);
                }
            }
        }
    }

    fn unify_all(&mut self, patterns: &[Ty], given: &[Ty], solver: &mut Solver, depth: u32) {
        for (pattern, actual) in patterns.iter().zip(given) {
            self.unify_in(*pattern, *actual, solver, depth + 1);
        }
    }

    fn learn(&mut self, var: Ty, actual: Ty, solver: &mut Solver) {
        let is_own = solver.own.as_ref().is_none_or(|own| own.contains(&var));
        if !is_own || var == actual {
            return;
        }
        match solver.map.iter().position(|m| m.0 == var) {
            Some(i) if solver.map[i].1 == Ty::EXTERNAL => solver.map[i].1 = actual,
            Some(i) => {
                let ty = self.types.union(&[solver.map[i].1, actual]);
                solver.map[i].1 = ty;
            }
            None => solver.map.push((var, actual)),
        }
    }

    /// Unifies a union. The parts that are not parameters take the types that they fit; the rest is for the
    /// parameters.
    fn unify_union(&mut self, parts: &[Ty], actual: Ty, solver: &mut Solver, depth: u32) {
        let is_var = |t: &&Ty| matches!(self.types.get(**t), Type::Var(..) | Type::StdVar(_));
        let (vars, others): (Vec<&Ty>, Vec<&Ty>) = parts.iter().partition(is_var);
        let mut rest = Vec::new();
        for part in self.types.parts(actual).iter() {
            let before = solver.map.len();
            let mut is_taken = false;
            for p in &others {
                if self.is_a(*part, **p, 0) != Some(false) {
                    self.unify_in(**p, *part, solver, depth + 1);
                }
                is_taken |= solver.map.len() > before || self.is_a(*part, **p, 0) == Some(true);
            }
            if !is_taken {
                rest.push(*part);
            }
        }
        let rest = self.types.union(&rest);
        for p in vars {
            self.unify_in(*p, rest, solver, depth + 1);
        }
    }

    fn unify_named(
        &mut self,
        pattern: Ty,
        at: DefAt,
        args: &[Ty],
        actual: Ty,
        solver: &mut Solver,
        depth: u32,
    ) {
        if let Some(given) = self.base_as(actual, at) {
            return self.unify_all(args, &given, solver, depth);
        }
        match self.types.get(actual).clone() {
            Type::Union(parts) => {
                parts.iter().for_each(|part| self.unify_in(pattern, *part, solver, depth + 1));
            }
            Type::Named(other, _) if self.files.def(other).kind == DefKind::Alias => {
                if let Some(other) = self.expanded(actual) {
                    self.unify_in(pattern, other, solver, depth + 1);
                }
            }
            Type::Static(_) | Type::Func(..) | Type::Lambda(..) | Type::Fn { .. } => {
                self.unify_called(pattern, actual, solver, depth);
            }
            _ => self.unify_members(pattern, at, args, actual, solver, depth),
        }
    }

    /// A class or a function where a type with a signature is expected.
    fn unify_called(&mut self, pattern: Ty, actual: Ty, solver: &mut Solver, depth: u32) {
        if let Type::Static(_) = self.types.get(actual) {
            let (want, made) = (self.constructed(pattern), self.instance_of(actual));
            return self.unify_in(want, made, solver, depth + 1);
        }
        if let Some(signature) = self.signatures(pattern).first().cloned() {
            let params: Vec<Ty> = self.params(&signature).iter().map(|p| p.ty).collect();
            let result = self.result_of(&signature).ty;
            self.unify_function(&params, result, actual, solver, depth);
        }
    }

    /// An interface by its members.
    fn unify_members(
        &mut self,
        pattern: Ty,
        at: DefAt,
        args: &[Ty],
        actual: Ty,
        solver: &mut Solver,
        depth: u32,
    ) {
        let Type::Shape(file, e, _) = *self.types.get(actual) else { return };
        let facts = self.facts(file);
        let Node::Composite { elems, .. } = facts.expr(e).node else { return };
        if args.is_empty() || self.files.def(at).kind == DefKind::Enum {
            return;
        }
        let name_of = |e: &ExprId| match facts.expr(*e).node {
            Node::Keyword { name, .. } => Some(facts.str(name)),
            _ => None,
        };
        for name in facts.list(elems).iter().filter_map(name_of).take(MEMBERS_MAX) {
            let want = self.attr(pattern, name, false).ty;
            let given = self.attr(actual, name, false).ty;
            self.unify_in(want, given, solver, depth + 1);
        }
    }

    fn unify_std(&mut self, name: &str, args: &[Ty], actual: Ty, solver: &mut Solver, depth: u32) {
        let Some(first) = args.first().copied() else { return };
        let given = match (name, self.types.get(actual).clone()) {
            (_, Type::Std(n, given)) if &*self.types.text(n) == name => {
                return self.unify_all(args, &given, solver, depth);
            }
            ("Promise", Type::Std(..) | Type::Tuple(_) | Type::Text(_)) => Ty::UNKNOWN,
            ("Promise", _) => match self.awaited(actual) {
                ty if ty == actual => Ty::UNKNOWN,
                ty => ty,
            },
            ("Awaited", _) => self.awaited(actual),
            ("Props", _) => self.attr(actual, "props", false).ty,
            ("Array" | "Iterator", _) => self.element(actual),
            ("Set" | "Ref", _) => Ty::UNKNOWN,
            ("Dict", _) => self.values_of(actual),
            ("Record", _) => {
                let values = self.values_of(actual);
                let last = args.last().copied().unwrap_or(first);
                return self.unify_in(last, values, solver, depth + 1);
            }
            _ => match self.expanded(actual) {
                Some(other) => return self.unify_std(name, args, other, solver, depth + 1),
                None => Ty::UNKNOWN,
            },
        };
        self.unify_in(first, given, solver, depth + 1);
    }

    fn unify_function(&mut self, params: &[Ty], result: Ty, actual: Ty, solver: &mut Solver, depth: u32) {
        let signatures = self.signatures(actual);
        let Some(signature) = signatures.last().cloned() else { return };
        let given = self.params(&signature);
        for (p, g) in params.iter().zip(&given) {
            self.unify_in(*p, g.ty, solver, depth + 1);
        }
        if (solver.runs || !matches!(signature.of, Callable::Lambda(..))) && self.types.has_vars(result) {
            let gives = self.result_of(&signature).ty;
            self.unify_in(result, gives, solver, depth + 1);
        }
    }

    fn unify_shape(&mut self, file: File, e: ExprId, env: &Env, actual: Ty, solver: &mut Solver, depth: u32) {
        let facts = self.facts(file);
        if let Node::Word { .. } = facts.expr(e).node {
            let want = self.constructed_by(file, e, env);
            let made = self.instance_of(actual);
            return self.unify_in(want, made, solver, depth + 1);
        }
        let Node::Composite { elems, .. } = facts.expr(e).node else { return };
        for elem in facts.list(elems).iter().take(MEMBERS_MAX) {
            match facts.expr(*elem).node {
                Node::Keyword { name, value } if facts.expr(*elem).role != indexd_model::Role::Key => {
                    let want = self.written(file, value);
                    let want = self.types.replaced(want, env);
                    if self.types.has_vars(want) {
                        let given = self.attr(actual, facts.str(name), false).ty;
                        self.unify_in(want, given, solver, depth + 1);
                    }
                }
                Node::KeyValue { value, .. } => {
                    let want = self.written(file, value);
                    let want = self.types.replaced(want, env);
                    let given = self.values_of(actual);
                    self.unify_in(want, given, solver, depth + 1);
                }
                Node::Word { value, .. } => {
                    if let Node::FuncType { results, .. } = facts.expr(value).node
                        && let Some(result) = facts.list(results).first()
                    {
                        let want = self.written(file, *result);
                        let want = self.types.replaced(want, env);
                        let made = self.instance_of(actual);
                        self.unify_in(want, made, solver, depth + 1);
                    }
                }
                Node::FuncType { .. } => {
                    let want = self.written(file, *elem);
                    let want = self.types.replaced(want, env);
                    self.unify_in(want, actual, solver, depth + 1);
                }
                _ => {}
            }
        }
    }
}
