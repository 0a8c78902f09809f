//! Which types satisfy which interfaces of the tree.
//!
//! Both directions start from a method's bare name, so their cost depends on how common the name
//! is; names with more candidate files than [`FILES_MAX`] are left alone. Interfaces are then looked for by
//! the name with the types of the signature as they are written, and those that embed one by its name.

use super::Linker;
use super::members::Selection;
use super::types::{DefAt, Ty, TyId, TyList, Types};
use indexd_model::{DefFlags, DefIdx, DefKind, Key, Language};
use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};
use std::collections::{BTreeSet, VecDeque};
use std::rc::Rc;

/// Files that may declare a method of the same name before the search is given up.
const FILES_MAX: usize = 24;
/// Implementations named for one interface method.
const IMPLEMENTATIONS_MAX: usize = 16;
/// Interfaces named for one type.
const INTERFACES_MAX: usize = 64;
/// Types named for one method: its own and those that have it promoted.
const TYPES_MAX: usize = 32;
/// Names of methods of one type that are looked up.
const METHODS_MAX: usize = 256;

impl<'a> Linker<'a> {
    /// Methods of concrete types that a call of an interface's method may reach.
    pub(super) fn implementations(&mut self, method: DefAt) -> Vec<DefAt> {
        let facts = self.facts(method.file);
        let Some(holder) = facts.def(method.def).parent.some() else { return Vec::new() };
        let interface = DefAt { file: method.file, def: holder };
        if facts.def(holder).flags.has(DefFlags::ANONYMOUS) || !facts.def(holder).type_params.is_empty() {
            return Vec::new();
        }
        let interface = self.def_type(interface);
        let Some(wanted) = self.interface_methods(interface) else { return Vec::new() };
        let mut out = Vec::new();
        let name = facts.def_name(method.def);
        for at in self.named(Key::any("go", name), name).unwrap_or_default() {
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
    pub(super) fn types_with(&mut self, method: DefAt) -> Vec<(TyId, DefAt)> {
        let Some(own) = self.receiver_type(method) else { return Vec::new() };
        let name = self.def_name(method);
        let mut out = vec![own];
        let mut i = 0;
        while let Some(&(_, def)) = out.get(i) {
            i += 1;
            let embedding = self.provided(Key::any("go-embeds", self.def_name(def)));
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
    pub(super) fn interfaces_of(&mut self, ty: TyId) -> Vec<DefAt> {
        let mut out = Vec::new();
        let mut todo: VecDeque<DefAt> = VecDeque::new();
        let mut seen: FxHashSet<DefAt> = FxHashSet::default();
        for name in self.method_names(ty) {
            let specs = self.specifications(ty, name);
            todo.extend(
                specs.into_iter().filter_map(|spec| {
                    self.def(spec).parent.some().map(|def| DefAt { file: spec.file, def })
                }),
            );
            while let Some(interface) = todo.pop_front() {
                let it = self.def(interface);
                let is_named = it.kind == DefKind::Interface && !it.flags.has(DefFlags::ANONYMOUS);
                if !is_named || !it.type_params.is_empty() || !seen.insert(interface) {
                    continue;
                }
                self.record_type(interface);
                let interface_ty = self.def_type(interface);
                let Some(wanted) = self.interface_methods(interface_ty) else { continue };
                if self.satisfies(ty, &wanted) {
                    out.push(interface);
                    let name = self.def_name(interface);
                    todo.extend(
                        self.provided(Key::any("go-embeds", name)).iter().flat_map(|all| all.iter().copied()),
                    );
                }
                if out.len() == INTERFACES_MAX {
                    return out;
                }
            }
        }
        out
    }

    /// The method specification of an interface with this name, its own or an embedded one.
    pub(super) fn specification(&mut self, interface: DefAt, name: &str) -> Option<DefAt> {
        let ty = self.def_type(interface);
        let all = self.interface_methods(ty)?;
        all.iter().map(|(spec, _)| *spec).find(|spec| self.def_name(*spec) == name)
    }

    /// Method specifications of interfaces that a method of a type may be meant by.
    fn specifications(&mut self, ty: TyId, name: &'a str) -> Vec<DefAt> {
        if let Some(specs) = self.named(Key::any("go-interface", name), name) {
            return specs;
        }
        let Selection::Found(m) = self.select(ty, name) else { return Vec::new() };
        let facts = self.facts(m.def.file);
        let shaped = format!("{name}{}", facts.shape(facts.def(m.def.def)));
        self.named(Key::any("go-interface", &shaped), name).unwrap_or_default()
    }

    /// Names of the methods of a type, those of embedded types included, sorted. Some may be hidden.
    fn method_names(&mut self, ty: TyId) -> BTreeSet<&'a str> {
        let mut out = BTreeSet::new();
        let mut todo: SmallVec<[TyId; 4]> = smallvec![ty];
        let mut seen: FxHashSet<TyId> = FxHashSet::default();
        while let Some(ty) = todo.pop() {
            let ty = match self.types.get(ty) {
                Ty::Pointer(to) => to,
                _ => ty,
            };
            if !seen.insert(ty) || out.len() > METHODS_MAX {
                continue;
            }
            if let Ty::Named(def, _) = self.types.get(ty) {
                let package = self.package_of(def.file);
                let scope = format!("{}#{}", self.packages.get(package).scope, self.def_name(def));
                let methods = self.provided(Key::scope(&scope));
                out.extend(methods.iter().flat_map(|all| all.iter()).map(|at| self.def_name(*at)));
            }
            self.embedded(ty, &mut todo);
        }
        out
    }

    /// Records a lookup of a type by its name. A type that was reached through a member is read whole, and
    /// the entry of the member does not cover the others.
    fn record_type(&mut self, at: DefAt) {
        let package = self.package_of(at.file);
        let scope = &self.packages.get(package).scope;
        self.view.find(Key::member(scope, self.def_name(at)));
    }

    /// Methods of this name below a key; as [`Linker::provided`].
    fn named(&mut self, key: Key, name: &'a str) -> Option<Vec<DefAt>> {
        let all = self.provided(key)?;
        Some(all.iter().copied().filter(|at| self.def_name(*at) == name).collect())
    }

    /// Definitions below a key that can be seen from the file being linked; `None` when too many files have
    /// some.
    fn provided(&mut self, key: Key) -> Option<Rc<[DefAt]>> {
        if let Some(known) = self.provided.get(&key) {
            return known.clone();
        }
        let found: Option<Rc<[_]>> = self.find_provided(key).map(Rc::from);
        self.provided.insert(key, found.clone());
        found
    }

    fn find_provided(&mut self, key: Key) -> Option<Vec<DefAt>> {
        let docs = self.view.find(key);
        if docs.len() > FILES_MAX {
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
    pub(super) fn receiver_type(&mut self, method: DefAt) -> Option<(TyId, DefAt)> {
        let facts = self.facts(method.file);
        let receiver = facts.str(facts.def(method.def).receiver?);
        let package = self.package_of(method.file);
        let def = self.package_member(package, receiver)?;
        self.concrete_type(def)
    }

    /// The type of a definition, and the definition, when it declares a type of the package that may have
    /// methods, without parameters.
    pub(super) fn concrete_type(&mut self, def: DefAt) -> Option<(TyId, DefAt)> {
        let it = self.def(def);
        let is_of_package = it.parent == DefIdx::NONE && !it.flags.has(DefFlags::LOCAL);
        let has_methods = self.is_type(def) && !matches!(it.kind, DefKind::Alias | DefKind::Interface);
        if !is_of_package || !has_methods || !it.type_params.is_empty() {
            return None;
        }
        Some((self.types.id(Ty::Named(def, TyList::EMPTY)), def))
    }

    /// Returns true if the method set of a pointer to the type has all of these methods.
    fn satisfies(&mut self, ty: TyId, wanted: &[(DefAt, TyId)]) -> bool {
        !wanted.is_empty()
            && wanted.iter().all(|&(spec, signature)| {
                let name = self.def_name(spec);
                match self.select(ty, name) {
                    Selection::Found(m) => {
                        self.def(m.def).kind == DefKind::Method && self.is_same_signature(m.ty, signature)
                    }
                    _ => false,
                }
            })
    }

    /// Returns true if two signatures are identical, as far as their types are known.
    fn is_same_signature(&self, a: TyId, b: TyId) -> bool {
        let (
            Ty::Func { params: pa, results: ra, variadic: va },
            Ty::Func { params: pb, results: rb, variadic: vb },
        ) = (self.types.get(a), self.types.get(b))
        else {
            return false;
        };
        let same = |a: TyList, b: TyList| {
            a.len() == b.len()
                && self.types.items(a).iter().zip(self.types.items(b)).all(|(a, b)| {
                    a == b || [a, b].iter().any(|t| **t == Types::UNKNOWN || **t == Types::EXTERNAL)
                })
        };
        va == vb && same(pa, pb) && same(ra, rb)
    }
}
