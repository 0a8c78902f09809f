//! Which types satisfy which interfaces of the tree.
//!
//! Both directions start from a method's bare name, so their cost depends on how common the name
//! is; names with more candidate files than [`GO_METHOD_FILES_MAX`] are left alone. Interfaces are then looked for by
//! the name with the types of the signature as they are written, and those that embed one by its name.

use super::members::Selection;
use super::types::{DefAt, Ty, Type};
use super::{Linker, Specifications};
use crate::remembered::remembered;
use indexd_model::limits::GO_METHOD_FILES_MAX;
use indexd_model::{DefFlags, DefIdx, DefKind, Key, Language};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

/// Files that may have interfaces that embed one of the same name.
const EMBEDDING_FILES_MAX: usize = 64;
/// Implementations named for one interface method.
const IMPLEMENTATIONS_MAX: usize = 16;
/// Interfaces named for one type.
const INTERFACES_MAX: usize = 64;
/// Types named for one method: its own and those that have it promoted.
const TYPES_MAX: usize = 32;
/// Methods of one type that are looked up by their names, and files that may have them.
const METHODS_MAX: usize = 256;
/// Types whose methods one type is looked up by: itself, and those that it embeds on any level.
const EMBEDDED_MAX: usize = 64;

/// The methods of a type.
#[derive(Default)]
pub(super) struct Methods<'a> {
    /// Names, also of hidden ones.
    names: BTreeSet<&'a str>,
    /// Interfaces that ask for one of the names.
    candidates: BTreeSet<DefAt>,
}

impl<'a> Linker<'a> {
    /// Methods of concrete types that a call of an interface's method may reach.
    pub(super) fn implementations(&mut self, method: DefAt) -> Vec<DefAt> {
        let Some(wanted) = self.methods_around(method) else { return Vec::new() };
        let mut out = Vec::new();
        let name = self.def_name(method);
        for at in self.named(Key::any("go", name), GO_METHOD_FILES_MAX, name).unwrap_or_default() {
            if self.types_with(at).iter().any(|(ty, _)| self.satisfies(*ty, &wanted)) {
                out.push(at);
                if out.len() == IMPLEMENTATIONS_MAX {
                    break;
                }
            }
        }
        out
    }

    /// The type that a method belongs to, and those that have it promoted.
    pub(super) fn types_with(&mut self, method: DefAt) -> Vec<(Ty, DefAt)> {
        let Some(own) = self.receiver_type(method) else { return Vec::new() };
        let name = self.def_name(method);
        let mut out = vec![own];
        let mut i = 0;
        while let Some(&(_, def)) = out.get(i) {
            i += 1;
            let embedding = self.provided(Key::any("go-embeds", self.def_name(def)), GO_METHOD_FILES_MAX);
            for at in embedding.iter().flat_map(|all| all.iter()).copied() {
                let Some(ty) = self.concrete_type(at) else { continue };
                let has_it = matches!(self.select(ty.0, name), Selection::Found(m) if m.def == method);
                if has_it && out.len() < TYPES_MAX && !out.contains(&ty) {
                    out.push(ty);
                }
            }
        }
        out
    }

    /// Interfaces of the tree that a type satisfies, by methods of its own and by promoted ones.
    pub(super) fn interfaces_of(&mut self, ty: Ty) -> Vec<DefAt> {
        let mut out = Vec::new();
        let methods = self.methods_of(ty);
        let mut todo: VecDeque<DefAt> = methods.candidates.iter().copied().collect();
        let mut seen: FxHashSet<DefAt> = FxHashSet::default();
        while let Some(interface) = todo.pop_front() {
            if !seen.insert(interface) {
                continue;
            }
            let Some(wanted) = self.wanted(interface) else { continue };
            let has = |(spec, _): &(DefAt, Ty)| methods.names.contains(self.specified_name(*spec));
            if wanted.iter().all(has) && self.satisfies(ty, &wanted) {
                out.push(interface);
                let key = Key::any("go-interface-embeds", self.def_name(interface));
                todo.extend(self.provided(key, EMBEDDING_FILES_MAX).iter().flat_map(|all| all.iter()));
            }
            if out.len() == INTERFACES_MAX {
                break;
            }
        }
        out
    }

    /// The methods of a type and of those that it embeds.
    fn methods_of(&mut self, ty: Ty) -> Methods<'a> {
        let mut out = Methods::default();
        let mut todo = VecDeque::from([ty]);
        let mut seen: FxHashSet<Ty> = FxHashSet::default();
        while let Some(ty) = todo.pop_front() {
            let ty = self.without_pointer(ty);
            if seen.len() < EMBEDDED_MAX && seen.insert(ty) {
                let own = self.own_methods(ty);
                out.names.extend(own.names.iter());
                out.candidates.extend(own.candidates.iter());
                let mut embedded: SmallVec<[Ty; 4]> = SmallVec::new();
                self.embedded(ty, &mut embedded);
                todo.extend(embedded);
            }
        }
        out
    }

    /// The methods that a type declares.
    fn own_methods(&mut self, ty: Ty) -> Rc<Methods<'a>> {
        let find = |l: &mut Self| {
            let mut out = Methods { names: l.method_names(ty), candidates: BTreeSet::new() };
            for name in out.names.clone() {
                for spec in l.specifications(ty, name) {
                    out.candidates.extend(l.def(spec).parent.some().map(|def| DefAt { def, ..spec }));
                }
            }
            Rc::new(out)
        };
        remembered(self, |l| &mut l.methods, ty, find)
    }

    /// Specifications that a method meets: those of the `interfaces` of its type, and those of interfaces that
    /// types which have it promoted satisfy.
    pub(super) fn specifications_met(&mut self, method: DefAt, interfaces: &[DefAt]) -> Vec<DefAt> {
        let name = self.def_name(method);
        let mut out = Vec::new();
        for &interface in interfaces {
            let ty = self.def_type(interface);
            let all = self.interface_methods(ty);
            let specs = all.iter().flat_map(|all| all.iter()).map(|(spec, _)| *spec);
            out.extend(specs.filter(|spec| *spec != DefAt::EMPTY && self.specified_name(*spec) == name));
        }
        let types = self.types_with(method);
        let found = if types.len() > 1 { self.specifications(types[0].0, name) } else { Vec::new() };
        for spec in found {
            if out.contains(&spec) {
                continue;
            }
            let Some(wanted) = self.methods_around(spec) else { continue };
            if types[1..].iter().any(|(ty, _)| self.satisfies(*ty, &wanted)) {
                out.push(spec);
            }
        }
        out.sort_unstable();
        out.dedup();
        out
    }

    /// The method set of the interface that a specification belongs to; as [`Linker::wanted`].
    fn methods_around(&mut self, spec: DefAt) -> Option<Specifications> {
        let def = self.def(spec).parent.some()?;
        self.wanted(DefAt { file: spec.file, def })
    }

    /// The method set that a type must have for an interface; `None` for an interface without a name and for a
    /// generic one.
    fn wanted(&mut self, interface: DefAt) -> Option<Specifications> {
        // Its entry covers what the entry of a member does not: parameters, other members.
        self.record_type(interface);
        let it = self.def(interface);
        let is_named = it.kind == DefKind::Interface && !it.flags.has(DefFlags::ANONYMOUS);
        if !is_named || !it.type_params.is_empty() {
            return None;
        }
        let ty = self.def_type(interface);
        self.interface_methods(ty)
    }

    /// Method specifications of interfaces that a method of a type may be meant by.
    fn specifications(&mut self, ty: Ty, name: &'a str) -> Vec<DefAt> {
        if let Some(specs) = self.named(Key::any("go-interface", name), GO_METHOD_FILES_MAX, name) {
            return specs;
        }
        let Selection::Found(m) = self.select(ty, name) else { return Vec::new() };
        let facts = self.facts(m.def.file);
        let shaped = format!("{name}{}", facts.shape(facts.def(m.def.def)));
        self.named(Key::any("go-interface", &shaped), GO_METHOD_FILES_MAX, name).unwrap_or_default()
    }

    /// Names of the methods that a type declares, sorted.
    fn method_names(&mut self, ty: Ty) -> BTreeSet<&'a str> {
        let def = match *self.types.get(ty) {
            Type::Named(def, _) => def,
            Type::Error => return BTreeSet::from(["Error"]),
            _ => return BTreeSet::new(),
        };
        let package = self.package_of(def.file);
        let scope = format!("{}#{}", self.packages.get(package).scope, self.def_name(def));
        let methods = self.provided(Key::scope(&scope), METHODS_MAX);
        let methods = methods.iter().flat_map(|all| all.iter());
        methods.take(METHODS_MAX).map(|at| self.def_name(*at)).collect()
    }

    /// Records a lookup of a type by its name. A type that was reached through a member is read whole, and
    /// the entry of the member does not cover the others.
    fn record_type(&mut self, at: DefAt) {
        let package = self.package_of(at.file);
        let scope = &self.packages.get(package).scope;
        self.view.find(Key::member(scope, self.def_name(at)));
    }

    /// Methods of this name below a key; as [`Linker::provided`].
    fn named(&mut self, key: Key, max: usize, name: &'a str) -> Option<Vec<DefAt>> {
        let all = self.provided(key, max)?;
        Some(all.iter().copied().filter(|at| self.def_name(*at) == name).collect())
    }

    /// Definitions below a key that can be seen from the file being linked; `None` when more than `max` files
    /// have some.
    fn provided(&mut self, key: Key, max: usize) -> Option<Rc<[DefAt]>> {
        remembered(self, |l| &mut l.provided, key, |l| l.find_provided(key, max).map(Rc::from))
    }

    fn find_provided(&mut self, key: Key, max: usize) -> Option<Vec<DefAt>> {
        let docs = self.view.find(key);
        if docs.len() > max {
            return None;
        }
        let mut out = Vec::new();
        for doc in docs.iter() {
            let file = self.open(*doc);
            let interface = self.facts(file).interface;
            let hidden = file != 0 && self.file(file).is_test && self.file(file).dir != self.file(0).dir;
            if interface.language != Language::Go || hidden || !self.is_built(file) {
                continue;
            }
            let defs = interface.provided(key).filter(|def| *def != DefIdx::NONE);
            out.extend(defs.map(|def| DefAt { file, def }));
        }
        Some(out)
    }

    /// The type that a method belongs to, and its definition.
    pub(super) fn receiver_type(&mut self, method: DefAt) -> Option<(Ty, DefAt)> {
        let facts = self.facts(method.file);
        let receiver = facts.str(facts.def(method.def).receiver?);
        let package = self.package_of(method.file);
        let def = self.package_member(package, receiver)?;
        self.concrete_type(def)
    }

    /// The type of a definition, and the definition, when it declares a type of the package that may have
    /// methods, without parameters.
    pub(super) fn concrete_type(&mut self, def: DefAt) -> Option<(Ty, DefAt)> {
        let it = self.def(def);
        let is_of_package = it.parent == DefIdx::NONE && !it.flags.has(DefFlags::LOCAL);
        let has_methods = self.is_type(def) && !matches!(it.kind, DefKind::Alias | DefKind::Interface);
        if !is_of_package || !has_methods || !it.type_params.is_empty() {
            return None;
        }
        Some((self.types.make(Type::Named(def, Rc::from([]))), def))
    }

    /// The name of a specification in the method set of an interface.
    fn specified_name(&self, spec: DefAt) -> &'a str {
        if spec == DefAt::EMPTY { "Error" } else { self.def_name(spec) }
    }

    /// Returns true if the method set of a pointer to the type has all of these methods.
    fn satisfies(&mut self, ty: Ty, wanted: &[(DefAt, Ty)]) -> bool {
        !wanted.is_empty()
            && wanted.iter().all(|&(spec, signature)| {
                let name = self.specified_name(spec);
                match self.select(ty, name) {
                    Selection::Found(m) => {
                        // Names without a capital are those of their package.
                        let is_seen = name.starts_with(char::is_uppercase)
                            || self.file(m.def.file).dir == self.file(spec.file).dir;
                        let is_method = self.def(m.def).kind == DefKind::Method;
                        is_seen && is_method && self.is_same_signature(m.ty, signature)
                    }
                    Selection::Builtin(_) => spec == DefAt::EMPTY,
                    _ => false,
                }
            })
    }

    /// Returns true if two signatures are identical, as far as their types are known.
    fn is_same_signature(&self, a: Ty, b: Ty) -> bool {
        let (
            Type::Func { params: pa, results: ra, variadic: va },
            Type::Func { params: pb, results: rb, variadic: vb },
        ) = (self.types.get(a), self.types.get(b))
        else {
            return false;
        };
        let is_open = |t: &Ty| matches!(*t, Ty::UNKNOWN | Ty::EXTERNAL);
        let same = |a: &[Ty], b: &[Ty]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b || is_open(a) || is_open(b))
        };
        va == vb && same(pa, pb) && same(ra, rb)
    }
}
