//! Fields and methods of types, promoted ones included (Go specification, "Selectors").

use super::names::Member;
use super::types::{Args, Basic, DefAt, Ty, Type};
use super::{Linker, Specifications};
use crate::remembered::remembered;
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
    Builtin(Ty),
    /// Something on the way has no known type.
    Unknown,
    /// The type has no such member.
    None,
}

/// Embedding deeper than this is not followed.
const LEVELS_MAX: usize = 10;

/// The definition that holds the members of a struct or an interface, and the generic type whose parameters they
/// use, with its arguments.
pub(super) struct Holder {
    at: DefAt,
    of: DefAt,
    args: Args,
}

impl<'a> Linker<'a> {
    /// Looks a field or method up, breadth first through embedded fields: the shallowest wins.
    pub(super) fn select(&mut self, ty: Ty, name: &'a str) -> Selection {
        let ty = self.without_pointer(ty);
        let find = |l: &mut Self| l.guarded(Selection::Unknown, |l| l.search(ty, name));
        remembered(self, |l| &mut l.selections, (ty, name), find)
    }

    /// The target of a pointer; other types themselves.
    pub(super) fn without_pointer(&self, ty: Ty) -> Ty {
        match *self.types.get(ty) {
            Type::Pointer(to) => to,
            _ => ty,
        }
    }

    fn search(&mut self, ty: Ty, name: &'a str) -> Selection {
        let mut level: SmallVec<[Ty; 4]> = smallvec![ty];
        let mut seen: FxHashSet<Ty> = FxHashSet::default();
        let (mut is_external, mut is_unknown) = (false, false);
        for depth in 0..LEVELS_MAX {
            let mut next: SmallVec<[Ty; 4]> = SmallVec::new();
            for &ty in &level {
                let ty = self.without_pointer(ty);
                if !seen.insert(ty) {
                    continue;
                }
                match self.types.get(ty) {
                    Type::External(_) => is_external = true,
                    Type::Unknown => is_unknown = true,
                    Type::Error if name == "Error" => return Selection::Builtin(self.type_of_error()),
                    Type::Named(..) | Type::Struct(_) | Type::Interface(_) | Type::Param(..) => {
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
    fn type_of_error(&mut self) -> Ty {
        let string = self.types.basic(Basic::String);
        self.types.make(Type::Func { params: Rc::from([]), results: Rc::from([string]), variadic: false })
    }

    /// A member that the type itself declares, and its type.
    fn direct(&mut self, ty: Ty, name: &'a str) -> Option<(DefAt, Ty)> {
        if let Type::Named(def, args) = self.types.get(ty).clone()
            && let Some(member) = self.own_member(def, name)
        {
            return Some((member, self.member_type(member, def, &args)));
        }
        // `type T U` has the fields of U's struct; an interface keeps its methods.
        let holder = self.holder(ty)?;
        if matches!(self.types.get(ty), Type::Named(def, _) if *def == holder.at) {
            return None;
        }
        let member = self.child(holder.at, name)?;
        Some((member, self.member_type(member, holder.of, &holder.args)))
    }

    /// The holder of the members of a type's underlying struct or interface.
    pub(super) fn holder(&mut self, mut ty: Ty) -> Option<Holder> {
        for _ in 0..LEVELS_MAX {
            ty = match self.types.get(ty).clone() {
                Type::Struct(at) | Type::Interface(at) => {
                    return Some(Holder { at, of: at, args: Rc::from([]) });
                }
                Type::Named(of, args) => {
                    let underlying = self.definition_of(of)?;
                    match *self.types.get(underlying) {
                        // The members' types are in terms of this type's own parameters.
                        Type::Struct(at) | Type::Interface(at) => return Some(Holder { at, of, args }),
                        _ => self.instantiate(of, &args, underlying),
                    }
                }
                Type::Param(file, binding) => self.constraint(file, binding)?,
                _ => return None,
            };
        }
        None
    }

    /// Embedded types of a struct or interface, and the constraint's terms of a type parameter.
    pub(super) fn embedded(&mut self, ty: Ty, out: &mut SmallVec<[Ty; 4]>) {
        if let Type::Param(file, binding) = *self.types.get(ty) {
            out.extend(self.constraint(file, binding));
            return;
        }
        let Some(Holder { at: holder, of, args }) = self.holder(ty) else {
            // A type defined from one outside the tree may have its fields.
            let underlying = self.underlying(ty);
            if matches!(self.types.get(underlying), Type::External(_) | Type::Unknown | Type::Error) {
                out.push(underlying);
            }
            return;
        };
        if holder == DefAt::EMPTY {
            return;
        }
        for &base in &self.def(holder).bases {
            let ty = self.type_expr(holder.file, base);
            out.push(self.instantiate(of, &args, ty));
        }
    }

    /// The type of a member of `def` instantiated with `args`. Methods name the type's parameters
    /// themselves, in their receiver.
    fn member_type(&mut self, member: DefAt, def: DefAt, args: &[Ty]) -> Ty {
        let ty = self.def_type(member);
        let of = if self.def(member).receiver.is_some() { member } else { def };
        self.instantiate(of, args, ty)
    }

    /// A member that a type definition declares: a field of its struct, a method specification of
    /// its interface, or a method with it as receiver.
    pub(super) fn own_member(&mut self, def: DefAt, name: &'a str) -> Option<DefAt> {
        let find = |l: &mut Self| l.child(def, name).or_else(|| l.method(def, name));
        remembered(self, |l| &mut l.own_members, (def, name), find)
    }

    fn child(&mut self, holder: DefAt, name: &str) -> Option<DefAt> {
        if holder == DefAt::EMPTY {
            return None;
        }
        let facts = self.facts(holder.file);
        let is_it = |c: &&DefIdx| {
            let def = facts.def(**c);
            matches!(def.kind, DefKind::Field | DefKind::Method) && facts.str(def.name) == name
        };
        let def = *self.children(holder.file).get(&holder.def)?.iter().find(is_it)?;
        Some(DefAt { def, ..holder })
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
    pub(super) fn constraint(&mut self, file: u32, binding: indexd_model::BindingId) -> Option<Ty> {
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
                Some(self.instantiate(def, &args, constraint))
            }
            _ => None,
        }
    }

    /// The type parameters of a definition as type arguments.
    pub(super) fn params_of(&mut self, def: DefAt) -> Args {
        let params = &self.def(def).type_params;
        params.iter().map(|b| self.types.make(Type::Param(def.file, *b))).collect()
    }

    /// The type on the right side of a type definition, in terms of its own parameters.
    pub(super) fn definition_of(&mut self, def: DefAt) -> Option<Ty> {
        let ty: ExprId = self.def(def).ty.some()?;
        Some(self.type_expr(def.file, ty))
    }

    /// The method set of an interface: its specifications, embedded ones included; that of `error` has no
    /// definition ([`DefAt::EMPTY`]). `None` when part of it is outside the tree or not known.
    pub(super) fn interface_methods(&mut self, ty: Ty) -> Option<Specifications> {
        remembered(self, |l| &mut l.interfaces, ty, |l| l.all_specifications(ty).map(Rc::from))
    }

    fn all_specifications(&mut self, ty: Ty) -> Option<Vec<(DefAt, Ty)>> {
        let mut out = Vec::new();
        let mut todo: SmallVec<[Ty; 4]> = smallvec![ty];
        let mut seen: FxHashSet<Ty> = FxHashSet::default();
        while let Some(ty) = todo.pop() {
            if !seen.insert(ty) {
                continue;
            }
            match self.types.get(ty) {
                Type::External(_) | Type::Unknown | Type::Union(_) => return None,
                Type::Error => {
                    out.push((DefAt::EMPTY, self.type_of_error()));
                    continue;
                }
                _ => {}
            }
            let Holder { at: holder, of, args } = self.holder(ty)?;
            if holder == DefAt::EMPTY {
                continue;
            }
            if self.def(holder).kind != DefKind::Interface {
                return None;
            }
            for child in self.children(holder.file).get(&holder.def).into_iter().flatten() {
                let at = DefAt { def: *child, ..holder };
                if self.def(at).kind == DefKind::Method {
                    out.push((at, self.member_type(at, of, &args)));
                }
            }
            self.embedded(ty, &mut todo);
        }
        Some(out)
    }
}
