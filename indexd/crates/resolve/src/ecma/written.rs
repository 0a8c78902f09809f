//! Types as they are written.

use super::Linker;
use super::names::{Found, REEXPORTS_MAX, Space, Target, import_of};
use super::std::canonical;
use crate::remembered::nested;
use crate::typed::slots::Asks;
use crate::typed::{Args, DefAt, Env, File, Ty, Type, Val};
use indexd_model::{BindingId, DefKind, ExprId, List, Node, StrId};
use std::rc::Rc;

/// Types that are expanded, one inside the other.
const EXPANDED_MAX: u32 = 24;
/// Texts of a union that a type is looked up under.
const KEYS_MAX: usize = 16;

impl<'a> Linker<'a> {
    /// The type that an expression writes.
    pub(super) fn written(&mut self, file: File, e: ExprId) -> Ty {
        if e.some().is_none() {
            return Ty::UNKNOWN;
        }
        self.once(|l| &mut l.answers.written, (file, e), |l| Val::new(l.read_type(file, e))).ty
    }

    fn read_type(&mut self, file: File, e: ExprId) -> Ty {
        let facts = self.facts(file);
        match facts.expr(e).node {
            Node::Name { name, binding } => self.named_type(file, name, binding, &[]),
            Node::Attr { base, name } => self.member_type(file, base, facts.str(name), &[]),
            Node::Apply { base, args } => self.applied(file, e, base, args),
            Node::Union { left, right } => {
                let parts = [self.written(file, left), self.written(file, right)];
                self.types.union(&parts)
            }
            Node::Binary { left, right } => {
                let parts = [self.written(file, left), self.written(file, right)];
                self.types.both(&parts)
            }
            Node::SliceType { elem } => {
                let elem = self.written(file, elem);
                self.types.std("Array", &[elem])
            }
            Node::Sequence { elems, .. } => self.tuple(file, elems),
            Node::Spread { value } => {
                let of = self.written(file, value);
                self.element(of)
            }
            Node::Composite { .. } => self.types.make(Type::Shape(file, e, Rc::from([]))),
            Node::FuncType { params, results, .. } => self.function_type(file, params, results),
            Node::Index { .. } => self.delayed(file, e),
            Node::Word { word, value } => self.word_type(file, e, facts.str(word), value),
            Node::Keyword { .. } => Ty::EXTERNAL,
            Node::Quoted { value } => match facts.expr(value).node {
                Node::Name { name, .. } => self.text(facts.str(name)),
                _ => Ty::UNKNOWN,
            },
            Node::Literal { kind } => match kind {
                indexd_model::facts::LiteralKind::None => Ty::NOTHING,
                _ => Ty::EXTERNAL,
            },
            Node::Def { def } => {
                let v = self.def_value(DefAt { file, def });
                v.ty
            }
            _ => Ty::UNKNOWN,
        }
    }

    fn delayed(&mut self, file: File, e: ExprId) -> Ty {
        self.types.make(Type::Delayed(file, e, Rc::from([])))
    }

    fn tuple(&mut self, file: File, elems: List) -> Ty {
        let facts = self.facts(file);
        let items = facts.list(elems);
        let parts: Vec<Ty> = items.iter().map(|e| self.written(file, *e)).collect();
        if items.iter().any(|e| matches!(facts.expr(*e).node, Node::Spread { .. })) {
            let elem = self.types.union(&parts);
            return self.types.std("Array", &[elem]);
        }
        self.types.make(Type::Tuple(parts.into()))
    }

    fn function_type(&mut self, file: File, params: List, results: List) -> Ty {
        let facts = self.facts(file);
        let mut is_variadic = false;
        let params: Vec<Ty> = facts
            .list(params)
            .iter()
            .map(|p| {
                let (ty, rest) = self.param_type(file, *p);
                is_variadic |= rest;
                ty
            })
            .collect();
        let result = facts.list(results).first().map_or(Ty::UNKNOWN, |r| self.written(file, *r));
        self.types.make(Type::Fn { params: params.into(), result, is_variadic })
    }

    /// The type of a parameter by its expression, and whether it takes the rest.
    pub(super) fn param_type(&mut self, file: File, param: ExprId) -> (Ty, bool) {
        let facts = self.facts(file);
        let Node::Name { binding, .. } = facts.expr(param).node else { return (Ty::UNKNOWN, false) };
        self.binding_type(file, binding)
    }

    /// The declared type of a parameter, and whether it takes the rest.
    pub(super) fn binding_type(&mut self, file: File, binding: BindingId) -> (Ty, bool) {
        let facts = self.facts(file);
        let Some(b) = facts.binding(binding) else { return (Ty::UNKNOWN, false) };
        let is_rest = b.kind == indexd_model::BindingKind::VarArgs;
        let Some(declared) = crate::declared(facts.sources(b)) else {
            let ty = crate::assigned(facts.sources(b)).map_or(Ty::UNKNOWN, |e| self.eval(file, e).ty);
            return (self.widened(ty), is_rest);
        };
        let ty = self.written(file, declared);
        (if is_rest { self.element(ty) } else { ty }, is_rest)
    }

    fn word_type(&mut self, file: File, e: ExprId, word: &str, value: ExprId) -> Ty {
        match word {
            "typeof" => self.eval(file, value).ty,
            "implements" | "awaited" => {
                let ty = self.written(file, value);
                if word == "awaited" { self.awaited(ty) } else { ty }
            }
            "keyof" => {
                let of = self.written(file, value);
                self.types.make(Type::Keys(of))
            }
            // The type `this`.
            "this" => self.eval(file, value).ty,
            "infer" => self.written(file, value),
            // A constructor type has the members of a literal with that signature.
            "new" => self.types.make(Type::Shape(file, e, Rc::from([]))),
            "import" | "require" => self.eval(file, e).ty,
            _ => Ty::EXTERNAL,
        }
    }

    fn named_type(&mut self, file: File, name: StrId, binding: BindingId, args: &[Ty]) -> Ty {
        let facts = self.facts(file);
        let text = facts.str(name);
        if let Some(b) = facts.binding(binding) {
            if b.kind == indexd_model::BindingKind::TypeParam {
                return self.types.make(Type::Var(file, binding));
            }
            return match crate::bound_def(facts, b) {
                Some(def) => self.type_of_def(DefAt { file, def }, args),
                None => Ty::UNKNOWN,
            };
        }
        match text {
            "any" | "unknown" | "symbol" | "unique symbol" | "object" | "boolean" => return Ty::EXTERNAL,
            "void" | "never" | "undefined" | "null" => return Ty::NOTHING,
            _ => {}
        }
        let found = self.at_top(file, text, Space::Types, REEXPORTS_MAX);
        self.found_type(file, text, found, args)
    }

    fn found_type(&mut self, file: File, text: &str, found: Found, args: &[Ty]) -> Ty {
        match found.target {
            Target::Def(at) => self.type_of_def(at, args),
            Target::NotFound => self.std_type(text, args),
            Target::External => self.external_type(file, text, args),
            Target::Module(_) => {
                let found = self.whole(found, indexd_model::Role::Type);
                match found.target {
                    Target::Def(at) => self.type_of_def(at, args),
                    _ => Ty::UNKNOWN,
                }
            }
        }
    }

    fn external_type(&mut self, file: File, text: &str, args: &[Ty]) -> Ty {
        let facts = self.facts(file);
        let Some(import) = import_of(facts, 0, text) else { return Ty::EXTERNAL };
        let name = import.name.map_or("", |n| facts.str(n));
        self.type_of_module(facts.str(import.module), name, args).unwrap_or(Ty::EXTERNAL)
    }

    /// The type that a definition declares.
    pub(super) fn type_of_def(&mut self, at: DefAt, args: &[Ty]) -> Ty {
        self.files.record(at);
        let at = self.augmenting(at).unwrap_or(at);
        match self.files.def(at).kind {
            // One member of an enumeration, as a type.
            DefKind::Constant => self.types.make(Type::Static(at)),
            DefKind::Variable => {
                let v = self.def_value(at);
                self.instance_of(v.ty)
            }
            _ => self.types.make(Type::Named(at, args.into())),
        }
    }

    /// Returns the type that `declare module` adds members to, if a definition is inside one.
    fn augmenting(&mut self, at: DefAt) -> Option<DefAt> {
        let facts = self.facts(at.file);
        let module = self.files.def(at).parent.some().filter(|m| facts.def(*m).kind == DefKind::Module)?;
        let Target::Module(module) = self.imported(at.file, facts.def_name(module)) else { return None };
        let found = self.exported(module, self.files.name(at), Space::Types, REEXPORTS_MAX);
        match found.target {
            Target::Def(def) if self.files.def(def).kind.is_type() => Some(def),
            _ => None,
        }
    }

    /// `a.B` as a type.
    fn member_type(&mut self, file: File, base: ExprId, name: &str, args: &[Ty]) -> Ty {
        let of = self.eval(file, base).ty;
        match self.types.get(of).clone() {
            Type::Module(module) => {
                let found = self.exported(module, name, Space::Types, REEXPORTS_MAX);
                match found.target {
                    Target::Def(at) => self.type_of_def(at, args),
                    _ => Ty::UNKNOWN,
                }
            }
            Type::Static(at) => {
                let found = self.type_in(at, name);
                found.map_or(Ty::UNKNOWN, |found| self.type_of_def(found, args))
            }
            Type::StdStatic(module) => {
                let module = self.types.text(module);
                let module = module.strip_prefix("module ").unwrap_or("");
                self.type_of_module(module, name, args).unwrap_or(Ty::EXTERNAL)
            }
            Type::External => Ty::EXTERNAL,
            _ => Ty::UNKNOWN,
        }
    }

    /// A type that a namespace or a class holds, with what other declarations for all files add.
    pub(super) fn type_in(&mut self, of: DefAt, name: &str) -> Option<DefAt> {
        for def in self.files.siblings(of) {
            let found = self.files.members(DefAt { def, ..of }, name);
            if !found.is_empty() {
                return self.best(of.file, &found, Space::Types);
            }
        }
        let owner = self.files.name(of);
        self.is_global(of).then(|| self.of_globals(owner, name, Space::Types)).flatten()
    }

    fn applied(&mut self, file: File, e: ExprId, base: ExprId, args: List) -> Ty {
        let facts = self.facts(file);
        if matches!(facts.expr(base).node, Node::Compare { .. }) {
            return self.delayed(file, e);
        }
        let given: Vec<Ty> = facts.list(args).iter().map(|a| self.written(file, *a)).collect();
        match facts.expr(base).node {
            Node::Name { name, binding } => self.named_type(file, name, binding, &given),
            Node::Attr { base, name } => self.member_type(file, base, facts.str(name), &given),
            // A class with arguments as a base.
            _ => {
                let v = self.eval(file, base);
                self.instance_of(v.ty)
            }
        }
    }

    // ---- what the language brings along

    fn std_type(&mut self, name: &str, args: &[Ty]) -> Ty {
        let first = args.first().copied().unwrap_or(Ty::UNKNOWN);
        match name {
            "Partial" | "Required" | "Readonly" | "Pick" | "Omit" | "NonNullable" | "NoInfer" | "Awaited"
            | "Exclude" | "Extract" | "ThisType" => {
                let of = if name == "Awaited" { self.awaited(first) } else { first };
                match name {
                    "Exclude" | "Extract" => self.extract(first, args.get(1).copied(), name == "Extract"),
                    "ThisType" => Ty::UNKNOWN,
                    _ => of,
                }
            }
            "ReturnType" | "InstanceType" | "Parameters" | "ConstructorParameters" => {
                let name = self.types.name(name);
                self.types.make(Type::Std(name, args.into()))
            }
            _ => match super::std::is_known(canonical(name)) {
                true => self.types.std(canonical(name), args),
                false => Ty::EXTERNAL,
            },
        }
    }

    /// The parts of a union that are, or are not, of a type.
    fn extract(&mut self, of: Ty, want: Option<Ty>, is_so: bool) -> Ty {
        let Some(want) = want else { return of };
        let parts = self.types.parts(of);
        let kept: Vec<Ty> = parts.iter().copied().filter(|p| self.is_a(*p, want, 0) == Some(is_so)).collect();
        if kept.is_empty() { of } else { self.types.union(&kept) }
    }

    // ---- expansion

    /// Returns the target of an alias, a delayed type or a parameter; `None` if the type is not one of these.
    pub(super) fn expanded(&mut self, ty: Ty) -> Option<Ty> {
        let expand = |l: &mut Self| {
            if !l.step() {
                return None;
            }
            let mut out = l.expand(ty)?;
            // An alias of an alias is gone through at once.
            for _ in 0..EXPANDED_MAX {
                match l.types.get(out) {
                    Type::Named(at, _) if l.files.def(*at).kind == DefKind::Alias => out = l.expand(out)?,
                    _ => break,
                }
            }
            Some(out)
        };
        nested(self, |l| &mut l.n_expanded, EXPANDED_MAX, expand).flatten().filter(|o| *o != ty)
    }

    /// Applies `then` to the expanded type. It counts as inside the expansion: a type may expand to larger
    /// ones without end.
    pub(super) fn through<R>(&mut self, ty: Ty, then: impl FnOnce(&mut Self, Ty) -> R) -> Option<R> {
        let other = self.expanded(ty)?;
        nested(self, |l| &mut l.n_expanded, u32::MAX, |l| then(l, other))
    }

    fn expand(&mut self, ty: Ty) -> Option<Ty> {
        match self.types.get(ty).clone() {
            Type::Named(at, args) => {
                let def = self.files.def(at);
                if def.kind != DefKind::Alias {
                    return None;
                }
                self.files.record(at);
                let body = self.written(at.file, def.ty);
                let map = self.param_map(at, &args);
                Some(self.types.replaced(body, &map))
            }
            Type::Delayed(file, e, env) => self.undelayed(file, e, &env),
            Type::Var(file, binding) => self.constraint(file, binding),
            Type::Std(name, args) => {
                let name = self.types.text(name);
                self.std_expanded(&name, &args)
            }
            _ => None,
        }
    }

    fn std_expanded(&mut self, name: &str, args: &Args) -> Option<Ty> {
        let of = *args.first()?;
        match name {
            "Awaited" => Some(self.awaited(of)),
            "Flat" => {
                let is_list = matches!(self.types.get(of), Type::Tuple(_)) || self.types.is_std(of, "Array");
                Some(if is_list { self.element(of) } else { of })
            }
            "ReturnType" => Some(self.call(of, None).ty),
            "InstanceType" => Some(self.instance_of(of)),
            "Parameters" => {
                let signature = self.signatures(of).into_iter().next()?;
                let params: Vec<Ty> = self.params(&signature).iter().map(|p| p.ty).collect();
                Some(self.types.make(Type::Tuple(params.into())))
            }
            _ => None,
        }
    }

    /// Returns the constraint of a type parameter.
    pub(super) fn constraint(&mut self, file: File, binding: BindingId) -> Option<Ty> {
        let facts = self.facts(file);
        let b = facts.binding(binding)?;
        crate::declared(facts.sources(b)).map(|e| self.written(file, e))
    }

    fn undelayed(&mut self, file: File, e: ExprId, env: &Env) -> Option<Ty> {
        let facts = self.facts(file);
        match facts.expr(e).node {
            Node::Index { base, args } => {
                let of = self.written(file, base);
                let of = self.types.replaced(of, env);
                let index = facts.list(args).first().map(|i| self.written(file, *i))?;
                let index = self.types.replaced(index, env);
                Some(self.looked_up(of, index))
            }
            Node::Apply { base, args } => {
                let Node::Compare { left, right } = facts.expr(base).node else { return None };
                let branches = facts.list(args);
                let (then, otherwise) = (*branches.first()?, *branches.get(1)?);
                let check = self.written(file, left);
                let check = self.types.replaced(check, env);
                let pattern = self.written(file, right);
                let pattern = self.types.replaced(pattern, env);
                let mut inferred = env.to_vec();
                let mut found = Vec::new();
                self.unify(pattern, check, &mut found);
                inferred.extend(found);
                let of = |l: &mut Self, branch: ExprId| {
                    let ty = l.written(file, branch);
                    l.types.replaced(ty, &inferred)
                };
                match self.is_a(check, pattern, 0) {
                    Some(true) => Some(of(self, then)),
                    Some(false) => Some(of(self, otherwise)),
                    None => {
                        let parts = [of(self, then), of(self, otherwise)];
                        Some(self.types.union(&parts))
                    }
                }
            }
            _ => None,
        }
    }

    /// `T[K]`.
    fn looked_up(&mut self, of: Ty, index: Ty) -> Ty {
        match self.types.get(index).clone() {
            Type::Text(name) => {
                let name = self.types.text(name);
                self.attr(of, &name, false).ty
            }
            Type::Union(parts) => {
                let parts: Vec<Ty> = parts.iter().take(KEYS_MAX).map(|p| self.looked_up(of, *p)).collect();
                self.types.union(&parts)
            }
            Type::Std(..) | Type::External => self.element(of),
            Type::Keys(other) => self.values_of(other),
            Type::Static(_) => Ty::UNKNOWN,
            is => {
                let found = self.through(index, |it, other| it.looked_up(of, other));
                found.unwrap_or_else(
                    || if matches!(is, Type::Var(..)) { Ty::UNKNOWN } else { self.element(of) },
                )
            }
        }
    }

    /// The type parameters of a definition, as types.
    pub(super) fn type_params(&mut self, at: DefAt) -> Args {
        let params = &self.files.def(at).type_params;
        params.iter().map(|p| self.types.make(Type::Var(at.file, *p))).collect()
    }

    /// Returns the parameters of a definition with their values: arguments, else defaults, else constraints.
    pub(super) fn param_map(&mut self, at: DefAt, args: &[Ty]) -> Vec<(Ty, Ty)> {
        let facts = self.facts(at.file);
        let params = &facts.def(at.def).type_params;
        let mut map: Vec<(Ty, Ty)> = Vec::with_capacity(params.len());
        for (i, param) in params.iter().enumerate() {
            let var = self.types.make(Type::Var(at.file, *param));
            let ty = match args.get(i) {
                Some(ty) => *ty,
                None => {
                    let default = facts.binding(*param).and_then(|b| crate::assigned(facts.sources(b)));
                    let ty = match default {
                        Some(e) => self.written(at.file, e),
                        None => self.constraint(at.file, *param).unwrap_or(Ty::UNKNOWN),
                    };
                    self.types.replaced(ty, &map.clone())
                }
            };
            map.push((var, ty));
        }
        map
    }
}
