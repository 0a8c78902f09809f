//! Fields and methods of types, promoted ones included (Go specification, "Selectors").

use super::names::Member;
use super::types::{DefAt, Ty, TyId, TyList};
use super::{Linker, Specifications};
use indexd_model::{DefFlags, DefIdx, DefKind, ExprId, Key};
use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};
use std::rc::Rc;

/// The result of looking up a selector.
#[derive(Clone, Copy, Debug)]
pub(super) enum Selection {
    Found(Member),
    /// It can only belong to something outside the tree.
    External,
    /// A method of `error`; its type.
    Builtin(TyId),
    /// Something on the way has no known type.
    Unknown,
    /// The type has no such member.
    None,
}

/// Embedding deeper than this is not followed.
const LEVELS_MAX: usize = 10;

/// A type on the search, and the definition and arguments whose parameters it uses.
type Step = (TyId, Option<(DefAt, TyList)>);

impl<'a> Linker<'a> {
    /// Looks a field or method up, breadth first through embedded fields: the shallowest wins.
    pub(super) fn select(&mut self, ty: TyId, name: &'a str) -> Selection {
        let ty = match self.types.get(ty) {
            Ty::Pointer(to) => to,
            _ => ty,
        };
        if let Some(&known) = self.selections.get(&(ty, name)) {
            return known;
        }
        let found = self.guarded(Selection::Unknown, |l| l.search(ty, name));
        self.selections.insert((ty, name), found);
        found
    }

    fn search(&mut self, ty: TyId, name: &'a str) -> Selection {
        let mut level: SmallVec<[TyId; 4]> = smallvec![ty];
        let mut seen: FxHashSet<TyId> = FxHashSet::default();
        let (mut is_external, mut is_unknown) = (false, false);
        for depth in 0..LEVELS_MAX {
            let mut next: SmallVec<[TyId; 4]> = SmallVec::new();
            for &ty in &level {
                let ty = match self.types.get(ty) {
                    Ty::Pointer(to) => to,
                    _ => ty,
                };
                if !seen.insert(ty) {
                    continue;
                }
                match self.types.get(ty) {
                    Ty::External(_) => is_external = true,
                    Ty::Unknown => is_unknown = true,
                    Ty::Error if name == "Error" => return Selection::Builtin(self.type_of_error()),
                    Ty::Named(..) | Ty::Struct(_) | Ty::Interface(_) | Ty::Param(..) => {
                        if let Some((def, ty)) = self.direct(ty, name) {
                            let is_certain = !is_external && !is_unknown;
                            return Selection::Found(Member { def, ty, is_promoted: depth > 0, is_certain });
                        }
                        self.embedded(ty, &mut next);
                    }
                    _ => {}
                }
            }
            if next.is_empty() {
                break;
            }
            level = next;
        }
        match (is_external, is_unknown) {
            (true, _) => Selection::External,
            (_, true) => Selection::Unknown,
            _ => Selection::None,
        }
    }

    /// The type of the method of `error`.
    fn type_of_error(&mut self) -> TyId {
        let string = self.types.basic(super::types::Basic::String);
        let results = self.types.list(&[string]);
        self.types.id(Ty::Func { params: TyList::EMPTY, results, variadic: false })
    }

    /// A member that the type itself declares, and its type.
    fn direct(&mut self, ty: TyId, name: &'a str) -> Option<(DefAt, TyId)> {
        if let Ty::Named(def, args) = self.types.get(ty)
            && let Some(member) = self.own_member(def, name)
        {
            return Some((member, self.member_type(member, def, args)));
        }
        // `type T U` has the fields of U's struct; an interface keeps its methods.
        let (holder, scope) = self.holder(ty)?;
        if let Ty::Named(def, _) = self.types.get(ty)
            && def == holder
        {
            return None;
        }
        let member = self.child(holder, name)?;
        let ty = match scope {
            Some((def, args)) => self.member_type(member, def, args),
            None => self.def_type(member),
        };
        Some((member, ty))
    }

    /// The definition that holds the members of a type's underlying struct or interface, and the
    /// generic type whose parameters they use.
    pub(super) fn holder(&mut self, ty: TyId) -> Option<(DefAt, Option<(DefAt, TyList)>)> {
        let mut at: Step = (ty, None);
        for _ in 0..LEVELS_MAX {
            at = match self.types.get(at.0) {
                Ty::Struct(holder) | Ty::Interface(holder) => return Some((holder, at.1)),
                Ty::Named(def, args) => {
                    let underlying = self.definition_of(def)?;
                    match self.types.get(underlying) {
                        // The members' types are in terms of this type's own parameters.
                        Ty::Struct(holder) | Ty::Interface(holder) => {
                            return Some((holder, Some((def, args))));
                        }
                        _ => (self.instantiate(def, args, underlying), None),
                    }
                }
                Ty::Param(file, binding) => (self.constraint(file, binding)?, None),
                _ => return None,
            };
        }
        None
    }

    /// Embedded types of a struct or interface, and the constraint's terms of a type parameter.
    pub(super) fn embedded(&mut self, ty: TyId, out: &mut SmallVec<[TyId; 4]>) {
        if let Ty::Param(file, binding) = self.types.get(ty) {
            out.extend(self.constraint(file, binding));
            return;
        }
        let Some((holder, scope)) = self.holder(ty) else {
            // A type defined from one outside the tree may have its fields.
            let underlying = self.underlying(ty);
            if matches!(self.types.get(underlying), Ty::External(_) | Ty::Unknown | Ty::Error) {
                out.push(underlying);
            }
            return;
        };
        if holder == DefAt::EMPTY {
            return;
        }
        for &base in &self.def(holder).bases {
            let ty = self.type_expr(holder.file, base);
            out.push(match scope {
                Some((def, args)) => self.instantiate(def, args, ty),
                None => ty,
            });
        }
    }

    /// The type of a member of `def` instantiated with `args`. Methods name the type's parameters
    /// themselves, in their receiver.
    fn member_type(&mut self, member: DefAt, def: DefAt, args: TyList) -> TyId {
        let ty = self.def_type(member);
        if args == TyList::EMPTY || !self.types.is_generic(ty) {
            return ty;
        }
        let of = if self.def(member).receiver.is_some() { member } else { def };
        self.instantiate(of, args, ty)
    }

    /// A member that a type definition declares: a field of its struct, a method specification of
    /// its interface, or a method with it as receiver.
    pub(super) fn own_member(&mut self, def: DefAt, name: &'a str) -> Option<DefAt> {
        if let Some(&known) = self.own_members.get(&(def, name)) {
            return known;
        }
        let found = match self.child(def, name) {
            Some(child) => Some(child),
            None => self.method(def, name),
        };
        self.own_members.insert((def, name), found);
        found
    }

    fn child(&mut self, holder: DefAt, name: &str) -> Option<DefAt> {
        if holder == DefAt::EMPTY {
            return None;
        }
        let facts = self.facts(holder.file);
        let found = self.children(holder).iter().copied().find(|c| {
            let def = facts.def(*c);
            matches!(def.kind, DefKind::Field | DefKind::Method) && facts.str(def.name) == name
        })?;
        Some(DefAt { file: holder.file, def: found })
    }

    /// A method declared with the type as receiver, in any file of its package.
    fn method(&mut self, def: DefAt, name: &'a str) -> Option<DefAt> {
        let it = self.def(def);
        if it.parent != DefIdx::NONE || it.flags.has(DefFlags::LOCAL) || it.kind == DefKind::Interface {
            return None;
        }
        let type_name = self.def_name(def);
        let package = self.package_of(def.file);
        let scope = &self.packages.get(package).scope;
        let key = Key::member(&format!("{scope}#{type_name}"), name);
        let (clause, dir) = (self.file(def.file).clause, self.file(def.file).dir);
        // Tests add methods for their own package only.
        let with_tests = self.file(0).is_test && self.file(0).dir == dir;
        let found = self.best(key, |linker, at| {
            let file = linker.file(at.file);
            let it = file.facts.def(at.def);
            it.receiver.is_some_and(|r| file.facts.str(r) == type_name)
                && file.facts.str(it.name) == name
                && file.clause == clause
                && (with_tests || !file.is_test || file.path == linker.file(def.file).path)
        })?;
        // A method of another variant of the type, where this one may have it promoted.
        let is_foreign = self.is_built(def.file) && !self.is_built(found.file);
        (!is_foreign || self.def(def).bases.is_empty()).then_some(found)
    }

    /// The declared constraint of a type parameter.
    pub(super) fn constraint(&mut self, file: u32, binding: indexd_model::BindingId) -> Option<TyId> {
        let facts = self.facts(file);
        let b = facts.binding(binding)?;
        match facts.sources(b) {
            [indexd_model::Source::Declared(e), ..] => Some(self.type_expr(file, *e)),
            // The receiver of a method names the parameters of its type again.
            [] => {
                let method = b.scope.some()?;
                let position = facts.def(method).type_params.iter().position(|p| *p == binding)?;
                let receiver = facts.def(method).receiver?;
                let package = self.package_of(file);
                let def = self.package_member(package, facts.str(receiver))?;
                let param = *self.def(def).type_params.get(position)?;
                let constraint = self.constraint(def.file, param)?;
                let args = self.params_of(DefAt { file, def: method });
                Some(self.instantiate(def, args, constraint))
            }
            _ => None,
        }
    }

    /// The type parameters of a definition as type arguments.
    pub(super) fn params_of(&mut self, def: DefAt) -> TyList {
        let params: SmallVec<[TyId; 4]> =
            self.def(def).type_params.iter().map(|b| self.types.id(Ty::Param(def.file, *b))).collect();
        self.types.list(&params)
    }

    /// The type on the right side of a type definition, in terms of its own parameters.
    pub(super) fn definition_of(&mut self, def: DefAt) -> Option<TyId> {
        let ty: ExprId = self.def(def).ty.some()?;
        Some(self.type_expr(def.file, ty))
    }

    /// The method set of an interface: its specifications, embedded ones included; that of `error` has no
    /// definition ([`DefAt::EMPTY`]). `None` when part of it is outside the tree or not known.
    pub(super) fn interface_methods(&mut self, ty: TyId) -> Option<Specifications> {
        if let Some(known) = self.interfaces.get(&ty) {
            return known.clone();
        }
        let found: Option<Specifications> = self.all_specifications(ty).map(Rc::from);
        self.interfaces.insert(ty, found.clone());
        found
    }

    fn all_specifications(&mut self, ty: TyId) -> Option<Vec<(DefAt, TyId)>> {
        let mut out = Vec::new();
        let mut todo: SmallVec<[TyId; 4]> = smallvec![ty];
        let mut seen: FxHashSet<TyId> = FxHashSet::default();
        while let Some(ty) = todo.pop() {
            if !seen.insert(ty) {
                continue;
            }
            match self.types.get(ty) {
                Ty::External(_) | Ty::Unknown | Ty::Union(_) => return None,
                Ty::Error => {
                    out.push((DefAt::EMPTY, self.type_of_error()));
                    continue;
                }
                _ => {}
            }
            let (holder, scope) = self.holder(ty)?;
            if holder == DefAt::EMPTY {
                continue;
            }
            let is_interface = self.def(holder).kind == DefKind::Interface;
            if !is_interface {
                return None;
            }
            for child in self.children(holder).to_vec() {
                let at = DefAt { file: holder.file, def: child };
                if self.def(at).kind == DefKind::Method {
                    let ty = match scope {
                        Some((def, args)) => self.member_type(at, def, args),
                        None => self.def_type(at),
                    };
                    out.push((at, ty));
                }
            }
            self.embedded(ty, &mut todo);
        }
        Some(out)
    }
}
