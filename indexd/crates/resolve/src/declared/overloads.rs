//! Which of several functions of a name a call takes, and whether one type is another.

use super::calls::Param;
use super::{Found, Hit, Language, Linker};
use crate::typed::slots::Asks;
use crate::typed::{DefAt, File, Site, Ty, Type};
use indexd_model::{DefFlags, ExprId, Node};
use smallvec::SmallVec;

/// Nesting of types that are compared.
const DEPTH_MAX: u32 = 6;

/// How well arguments fit.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Fit {
    No,
    /// The last parameter takes several.
    Rest,
    /// A value is turned into another.
    Turned,
    Plain,
}

impl<'a, L: Language> Linker<'a, L> {
    /// The functions that a call may run, by the number of arguments, then by what is known of their types.
    pub(crate) fn pick(&mut self, found: &Found, site: Site) -> SmallVec<[Hit; 2]> {
        let hits = &found.hits;
        if !L::HAS_OVERLOADS {
            return hits.clone();
        }
        let n = self.facts(site.file).list(site.args).len();
        let mut all: Vec<(Hit, SmallVec<[Param; 4]>)> = Vec::new();
        for hit in hits {
            let params = self.params(hit);
            // What is called without being a function takes nothing.
            if takes(&params, n) {
                all.push((hit.clone(), params));
            }
        }
        if all.is_empty() {
            return L::miscounted(self, hits);
        }
        if all.len() > 1 {
            keep_best(&mut all, |(_, params)| self.fit(params, site));
        }
        if all.len() > 1 {
            // A type of the tree that is asked for is not turned into another.
            keep_best(&mut all, |(_, params)| self.n_same(params, site));
        }
        if all.len() > 1
            && let Some(one) = self.most_specific(&all, n)
        {
            all = vec![all.swap_remove(one)];
        }
        all.into_iter().map(|a| a.0).collect()
    }

    fn fit(&mut self, params: &[Param], site: Site) -> Fit {
        let args: Vec<ExprId> = self.facts(site.file).list(site.args).to_vec();
        let n = args.len();
        let mut out = Fit::Plain;
        for (i, arg) in args.iter().enumerate() {
            let Some(param) = params.get(i).or(params.last()) else { return Fit::No };
            // An array in the place of all that are left is passed on as it is.
            let mut fit = self.fit_of(site.file, *arg, param.ty);
            if param.is_rest && (fit == Fit::No || n != params.len()) {
                let elem = self.element(param.ty);
                fit = self.fit_of(site.file, *arg, elem).min(Fit::Rest);
            }
            out = out.min(fit);
        }
        if n < params.len() && params.last().is_some_and(|p| p.is_rest) { out.min(Fit::Rest) } else { out }
    }

    /// Counts the arguments that have the type of their parameter, a type of the tree.
    fn n_same(&mut self, params: &[Param], site: Site) -> usize {
        let args: Vec<ExprId> = self.facts(site.file).list(site.args).to_vec();
        let mut is_same = |(arg, param): &(ExprId, &Param)| {
            matches!(self.types.get(param.ty), Type::Named(..)) && self.eval(site.file, *arg).ty == param.ty
        };
        args.into_iter().zip(params).filter(|a| is_same(a)).count()
    }

    fn fit_of(&mut self, file: File, arg: ExprId, param: Ty) -> Fit {
        let facts = self.facts(file);
        match facts.expr(arg).node {
            Node::Lambda { params, .. } => {
                let n = facts.list(params).len();
                let fits = match self.functional(param) {
                    Some((of, _)) => of.len() == n,
                    None => !self.is_plain(param),
                };
                return if fits { Fit::Plain } else { Fit::No };
            }
            Node::Word { word, .. } if facts.str(word) == "::" => {
                let fits = self.functional(param).is_some() || !self.is_plain(param);
                return if fits { Fit::Plain } else { Fit::No };
            }
            _ => {}
        }
        let ty = self.eval(file, arg).ty;
        match self.is_a(ty, param, 0) {
            Some(false) => Fit::No,
            _ if self.is_turned(ty, param) => Fit::Turned,
            _ => Fit::Plain,
        }
    }

    fn is_turned(&self, ty: Ty, of: Ty) -> bool {
        match (self.types.get(ty), self.types.get(of)) {
            (Type::Std(a, _), Type::Std(b, _)) => L::is_turned(&self.types.text(*a), &self.types.text(*b)),
            (Type::Std(a, _), Type::Var(..)) => L::boxed(&self.types.text(*a)) != &*self.types.text(*a),
            _ => false,
        }
    }

    /// Whether a type is known to be one whose values are not functions.
    fn is_plain(&mut self, ty: Ty) -> bool {
        match self.types.get(ty).clone() {
            Type::Named(at, _) => !self.is_interface(at),
            Type::Std(name, _) => L::table().ty(&self.types.text(name)).is_some_and(|t| t.function.is_none()),
            Type::Tuple(_) => true,
            _ => false,
        }
    }

    /// The one whose parameters are all as narrow as those of every other.
    fn most_specific(&mut self, all: &[(Hit, SmallVec<[Param; 4]>)], n: usize) -> Option<usize> {
        let one = |l: &mut Self, params: &[Param], i: usize| {
            let param = params.get(i).or(params.last())?;
            Some(if param.is_rest && i + 1 >= params.len() { l.element(param.ty) } else { param.ty })
        };
        (0..all.len()).find(|a| {
            (0..all.len()).filter(|b| b != a).all(|b| {
                (0..n).all(|i| match (one(self, &all[*a].1, i), one(self, &all[b].1, i)) {
                    (Some(x), Some(y)) => self.is_a(x, y, 0) == Some(true) && !self.is_turned(x, y),
                    _ => false,
                })
            })
        })
    }

    /// Whether a function of a base is one that is there already: its parameters are the same.
    pub(crate) fn is_hidden(&mut self, known: &[Hit], of: &Hit) -> bool {
        let params = self.params(of);
        for hit in known {
            let own = self.params(hit);
            let is_static = |l: &Self, at: DefAt| l.files.def(at).flags.has(DefFlags::STATIC);
            let is_same = own.len() == params.len()
                && is_static(self, hit.at) == is_static(self, of.at)
                && own.iter().zip(&params).all(|(a, b)| a.is_rest == b.is_rest && self.is_same(a.ty, b.ty));
            if is_same {
                return true;
            }
        }
        false
    }

    /// Whether two parameters may be of one type: their types are, without arguments, or one is not known.
    fn is_same(&self, a: Ty, b: Ty) -> bool {
        match (self.types.get(a), self.types.get(b)) {
            (Type::Named(a, _) | Type::This(a), Type::Named(b, _) | Type::This(b)) => a == b,
            (Type::Std(a, x), Type::Std(b, y)) => {
                let is_array = &*self.types.text(*a) == "Array";
                a == b && (!is_array || x.iter().zip(y.iter()).all(|(x, y)| self.is_same(*x, *y)))
            }
            (Type::Var(..), Type::Var(..)) => true,
            // A parameter of a base stands for what its bounds say.
            (Type::Named(..) | Type::Std(..), Type::Named(..) | Type::Std(..)) => false,
            _ => true,
        }
    }

    // ---- whether one type is another

    /// Whether a value of one type is one of another; `None` where that is not known.
    pub(crate) fn is_a(&mut self, ty: Ty, of: Ty, depth: u32) -> Option<bool> {
        if ty == of {
            return Some(true);
        }
        let is_open = [ty, of].iter().any(|t| matches!(*t, Ty::UNKNOWN | Ty::EXTERNAL));
        if is_open || depth > DEPTH_MAX || !self.step() {
            return None;
        }
        match (self.types.get(ty).clone(), self.types.get(of).clone()) {
            (Type::Nothing, Type::Std(name, _)) => {
                let name = self.types.text(name);
                Some(L::boxed(&name) == &*name)
            }
            (Type::Nothing, _) => Some(true),
            (Type::Union(parts), _) => {
                let all: Vec<Option<bool>> = parts.iter().map(|p| self.is_a(*p, of, depth + 1)).collect();
                match (all.contains(&Some(false)), all.contains(&None)) {
                    (true, _) => Some(false),
                    (false, is_open) => (!is_open).then_some(true),
                }
            }
            (_, Type::Var(..)) => match self.constraint(of) {
                Some(bound) if !self.types.has_vars(bound) => self.is_a(ty, bound, depth + 1),
                Some(_) => None,
                None => Some(true),
            },
            (Type::Var(..), _) => match self.constraint(ty) {
                Some(bound) => self.is_a(bound, of, depth + 1),
                None => self.is_root(of),
            },
            (Type::Named(..) | Type::This(_) | Type::Both(_), Type::Named(base, _) | Type::This(base)) => {
                Some(self.base_as(ty, base).is_some())
            }
            // What is outside the tree derives from nothing in it.
            (Type::Std(..), Type::Named(..) | Type::This(_)) => Some(false),
            (Type::Named(..) | Type::This(_) | Type::Both(_), Type::Std(name, _)) => {
                if self.is_root(of) == Some(true) {
                    return Some(true);
                }
                self.is_of_std(ty, &self.types.text(name))
            }
            (Type::Std(a, x), Type::Std(b, y)) => {
                self.is_std_a(ty, (&self.types.text(a), &x), (&self.types.text(b), &y), depth)
            }
            _ => None,
        }
    }

    fn is_root(&self, ty: Ty) -> Option<bool> {
        Some(!L::ROOT.is_empty() && self.types.is_std(ty, L::ROOT))
    }

    fn is_std_a(&mut self, ty: Ty, a: (&str, &[Ty]), b: (&str, &[Ty]), depth: u32) -> Option<bool> {
        if a.0 == b.0 {
            // Arrays are told apart by what is in them.
            return match (a.0, a.1, b.1) {
                ("Array", [x], [y]) => {
                    let is_value = |l: &Self, t: Ty| match l.types.get(t) {
                        Type::Std(n, _) => L::boxed(&l.types.text(*n)) != &*l.types.text(*n),
                        _ => false,
                    };
                    match is_value(self, *x) || is_value(self, *y) {
                        true => Some(x == y),
                        false => self.is_a(*x, *y, depth + 1),
                    }
                }
                _ => Some(true),
            };
        }
        if let Some(is) = L::is_std_a(a.0, b.0) {
            return Some(is);
        }
        if !L::ROOT.is_empty() && b.0 == L::ROOT {
            return Some(true);
        }
        self.is_of_std(ty, b.0)
    }
}

/// Keeps those of the highest score.
fn keep_best<T, S: Ord + Copy>(all: &mut Vec<T>, score: impl FnMut(&T) -> S) {
    let scores: Vec<S> = all.iter().map(score).collect();
    let best = scores.iter().max();
    let mut scores = scores.iter();
    all.retain(|_| scores.next() == best);
}

/// Whether a function takes a number of arguments.
fn takes(params: &[Param], n: usize) -> bool {
    let has_rest = params.last().is_some_and(|p| p.is_rest);
    let n_needed = params.iter().filter(|p| !p.has_default && !p.is_rest).count();
    n >= n_needed && (n <= params.len() || has_rest)
}
