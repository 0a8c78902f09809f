//! Which types satisfy which interfaces of the tree.
//!
//! Both directions start from a method's bare name, so their cost depends on how common the name
//! is; names with more candidate files than [`FILES_MAX`] are left alone. Interfaces are then looked for by
//! the name with the types of the signature as they are written.

use super::Linker;
use super::types::{DefAt, Ty, TyId, TyList, Types};
use indexd_model::{DefFlags, DefIdx, DefKind, Key, Language};

/// Files that may declare a method of the same name before the search is given up.
const FILES_MAX: usize = 24;
/// Implementations named for one interface method.
const IMPLEMENTATIONS_MAX: usize = 16;

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
            let Some((ty, _)) = self.receiver_type(at) else { continue };
            if self.satisfies(ty, &wanted) {
                out.push(at);
                if out.len() == IMPLEMENTATIONS_MAX {
                    break;
                }
            }
        }
        out
    }

    /// Interfaces of the tree, with the method specification of the same name, that the receiver of
    /// a method satisfies.
    pub(super) fn interfaces_of(&mut self, method: DefAt) -> Vec<(DefAt, DefAt)> {
        let Some((ty, _)) = self.receiver_type(method) else { return Vec::new() };
        let name = self.def_name(method);
        let mut out = Vec::new();
        let mut specs = self.named(Key::any("go-interface", name), name);
        if specs.is_none() {
            let facts = self.facts(method.file);
            let shaped = format!("{name}{}", facts.shape(facts.def(method.def)));
            specs = self.named(Key::any("go-interface", &shaped), name);
        }
        for spec in specs.unwrap_or_default() {
            let Some(holder) = self.def(spec).parent.some() else { continue };
            let interface = DefAt { file: spec.file, def: holder };
            let it = self.def(interface);
            if it.kind != DefKind::Interface
                || it.flags.has(DefFlags::ANONYMOUS)
                || !it.type_params.is_empty()
            {
                continue;
            }
            self.record_type(interface);
            let interface_ty = self.def_type(interface);
            if let Some(wanted) = self.interface_methods(interface_ty)
                && self.satisfies(ty, &wanted)
            {
                out.push((interface, spec));
                if out.len() == IMPLEMENTATIONS_MAX {
                    break;
                }
            }
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

    /// Methods of this name below a key that can be seen from the file being linked; `None` when too many
    /// files have some.
    fn named(&mut self, key: Key, name: &'a str) -> Option<Vec<DefAt>> {
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
            let facts = self.facts(file);
            out.extend(
                interface
                    .provided(key)
                    .filter(|d| *d != DefIdx::NONE && facts.def_name(*d) == name)
                    .map(|def| DefAt { file, def }),
            );
        }
        Some(out)
    }

    /// The type that a method belongs to, and its definition.
    pub(super) fn receiver_type(&mut self, method: DefAt) -> Option<(TyId, DefAt)> {
        let facts = self.facts(method.file);
        let receiver = facts.str(facts.def(method.def).receiver?);
        let package = self.package_of(method.file);
        let def = self.package_member(package, receiver)?;
        if !self.is_type(def) || self.def(def).kind == DefKind::Alias || !self.def(def).type_params.is_empty()
        {
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
                    super::members::Selection::Found(m) => {
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
