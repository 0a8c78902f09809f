//! The entity that a name or a selector refers to.

use super::Linker;
use super::members::Selection;
use super::types::{DefAt, Ty, Type};
use super::universe::{self, Builtin, Predeclared};
use crate::remembered::remembered;
use crate::typed::NameId;
use indexd_model::facts::ImportKind;
use indexd_model::path::mentions;
use indexd_model::{BindingId, BindingKind, ExprId, Node, Source};
use std::rc::Rc;

/// The entity that a name refers to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Entity {
    /// A local variable, parameter or type parameter.
    Local(BindingId),
    /// A definition in scope: of the package, or a type of the function.
    Scope(DefAt),
    /// A definition of an imported package; true if the import was followed by rule.
    Imported { def: DefAt, is_certain: bool },
    /// A field or method, with its type after substitution.
    Member(Member),
    /// A package of the tree.
    Package { package: u32, is_certain: bool },
    /// A package outside the tree.
    ExternalPackage(NameId),
    /// Something outside the tree; its type when it is used as one.
    External(Ty),
    /// A predeclared name, or a method of `error`.
    Builtin(Predeclared),
    /// No such name.
    NotFound,
    /// A member of something whose type is not known.
    UnknownReceiver,
}

/// A resolved field or method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Member {
    pub(super) def: DefAt,
    pub(super) ty: Ty,
    /// Through an embedded field.
    pub(super) is_promoted: bool,
    /// Found only after passing an embedded type outside the tree, or by a suffix import.
    pub(super) is_certain: bool,
}

impl<'a> Linker<'a> {
    /// Returns the entity that a name or selector of an open file refers to.
    pub(super) fn entity(&mut self, file: u32, e: ExprId) -> Entity {
        if let Some(known) = self.entities.get(file, e.0) {
            return known;
        }
        let found = self.guarded(Entity::UnknownReceiver, |l| l.find_entity(file, e));
        self.entities.set(file, e.0, found);
        found
    }

    fn find_entity(&mut self, file: u32, e: ExprId) -> Entity {
        let facts = self.facts(file);
        match facts.expr(e).node {
            Node::Name { name, binding } => match facts.binding(binding) {
                Some(b) if b.kind == BindingKind::Def => match facts.sources(b) {
                    [Source::Def(def), ..] => Entity::Scope(DefAt { file, def: *def }),
                    _ => Entity::Local(binding),
                },
                Some(_) => Entity::Local(binding),
                None => self.free_name(file, facts.str(name)),
            },
            Node::Attr { base, name } => self.selector(file, base, facts.str(name)),
            Node::Index { base, .. } => self.entity(file, base),
            _ => Entity::UnknownReceiver,
        }
    }

    /// `base.name`.
    fn selector(&mut self, file: u32, base: ExprId, name: &'a str) -> Entity {
        match self.facts(file).expr(base).node {
            Node::Name { .. } | Node::Attr { .. } => match self.qualifier(file, base) {
                Entity::Package { package, is_certain } => {
                    return match self.package_member(package, name) {
                        Some(def) => Entity::Imported { def, is_certain },
                        None => Entity::NotFound,
                    };
                }
                Entity::ExternalPackage(path) => return Entity::External(self.external(path, name)),
                Entity::External(_) => return Entity::External(Ty::EXTERNAL),
                Entity::NotFound | Entity::UnknownReceiver => return Entity::UnknownReceiver,
                _ => {}
            },
            _ => {}
        }
        // A method expression selects from the type itself.
        let ty = match self.type_if_type(file, base) {
            Some(ty) => ty,
            None => self.ty(file, base),
        };
        self.member(ty, name)
    }

    /// The entity of the base of a selector, which alone may be a package.
    fn qualifier(&mut self, file: u32, base: ExprId) -> Entity {
        let found = self.entity(file, base);
        match (found, self.facts(file).expr(base).node) {
            (
                Entity::NotFound | Entity::External(Ty::EXTERNAL),
                Node::Name { name, binding: BindingId::NONE },
            ) => self.package_named(file, self.facts(file).str(name)).unwrap_or(found),
            _ => found,
        }
    }

    /// A field or method of a value of this type.
    pub(super) fn member(&mut self, ty: Ty, name: &'a str) -> Entity {
        if ty == Ty::UNKNOWN {
            return Entity::UnknownReceiver;
        }
        match self.select(ty, name) {
            Selection::Found(member) => Entity::Member(member),
            Selection::External => Entity::External(Ty::EXTERNAL),
            Selection::Builtin(ty) => Entity::Builtin(Predeclared::Value(ty)),
            Selection::Unknown => Entity::UnknownReceiver,
            Selection::None => Entity::NotFound,
        }
    }

    /// A name that no block of its function declares.
    pub(super) fn free_name(&mut self, file: u32, name: &'a str) -> Entity {
        remembered(self, |l| &mut l.free_names, (file, name), |l| l.find_free_name(file, name))
    }

    fn find_free_name(&mut self, file: u32, name: &'a str) -> Entity {
        let facts = self.facts(file);
        let imports = &facts.interface.imports;
        for import in imports.iter().filter(|i| i.kind == ImportKind::Module) {
            let path = facts.str(import.module);
            match import.alias {
                Some(alias) if facts.str(alias) == name => return self.imported(file, path),
                None if universe::may_be_named(path, name) => match self.imported(file, path) {
                    Entity::Package { package, .. } if self.packages.clause(package) != name => {}
                    found => return found,
                },
                _ => {}
            }
        }
        let package = self.package_of(file);
        let predeclared = universe::lookup(&mut self.types, name);
        match (self.package_member(package, name), predeclared) {
            // `type any = interface{}` for older compilers is not in the build.
            (Some(def), Some(_)) if !self.is_built(def.file) && self.is_built(file) => {}
            (Some(def), _) => return Entity::Scope(def),
            (None, _) => {}
        }
        if let Some(predeclared) = predeclared {
            return Entity::Builtin(predeclared);
        }
        self.find_less_common(file, name)
    }

    /// A name through a dot import. Packages named unlike their paths are looked at in the file being linked, and
    /// elsewhere before a dot only: digests of the signatures of other files cover as much.
    fn find_less_common(&mut self, file: u32, name: &'a str) -> Entity {
        let facts = self.facts(file);
        let mut may_be_outside = false;
        for import in facts.interface.imports.iter().filter(|i| i.kind == ImportKind::All) {
            match self.imported(file, facts.str(import.module)) {
                Entity::Package { package, is_certain } => {
                    if let Some(def) = self.package_member(package, name) {
                        return Entity::Imported { def, is_certain };
                    }
                }
                _ => may_be_outside = true,
            }
        }
        let found = if file == 0 { self.package_named(file, name) } else { None };
        let outside = if may_be_outside { Entity::External(Ty::EXTERNAL) } else { Entity::NotFound };
        found.unwrap_or(outside)
    }

    /// A package that a file imports, by its clause. Where paths contain the name, those alone are looked at.
    fn package_named(&mut self, file: u32, name: &str) -> Option<Entity> {
        let facts = self.facts(file);
        let unnamed = facts.interface.imports.iter();
        let unnamed = unnamed.filter(|i| i.kind == ImportKind::Module && i.alias.is_none());
        let paths: Vec<&'a str> = unnamed.map(|i| facts.str(i.module)).collect();
        let is_any_like = paths.iter().any(|path| mentions(path, name));
        for path in paths.into_iter().filter(|path| !is_any_like || mentions(path, name)) {
            let found = self.imported(file, path);
            if matches!(found, Entity::Package { package, .. } if self.packages.clause(package) == name) {
                return Some(found);
            }
        }
        None
    }

    /// The type that `name` of an outside package is, when it is used as a type.
    fn external(&mut self, path: NameId, name: &str) -> Ty {
        let qualified = format!("{} {name}", self.types.text(path));
        let qualified = self.types.name(&qualified);
        self.types.make(Type::External(Some(qualified)))
    }

    /// The type that an expression names, when it names one.
    pub(super) fn type_if_type(&mut self, file: u32, e: ExprId) -> Option<Ty> {
        match self.facts(file).expr(e).node {
            Node::Name { .. } | Node::Attr { .. } => match self.entity(file, e) {
                Entity::Scope(def) | Entity::Imported { def, .. } if self.is_type(def) => {
                    Some(self.type_of_type(def, Rc::from([])))
                }
                Entity::Local(binding) if self.is_type_param(file, binding) => {
                    Some(self.types.make(Type::Param(file, binding)))
                }
                Entity::Builtin(Predeclared::Type(ty)) => Some(ty),
                _ => None,
            },
            Node::Star { value } => {
                let ty = self.type_if_type(file, value)?;
                Some(self.types.make(Type::Pointer(ty)))
            }
            Node::Index { base, .. } => {
                self.type_if_type(file, base)?;
                Some(self.type_expr(file, e))
            }
            Node::SliceType { .. }
            | Node::ArrayType { .. }
            | Node::MapType { .. }
            | Node::ChanType { .. }
            | Node::FuncType { .. }
            | Node::StructType { .. }
            | Node::InterfaceType { .. } => Some(self.type_expr(file, e)),
            _ => None,
        }
    }

    fn is_type_param(&self, file: u32, binding: BindingId) -> bool {
        self.facts(file).binding(binding).is_some_and(|b| b.kind == BindingKind::TypeParam)
    }

    /// The predeclared function that a callee names.
    pub(super) fn builtin(&mut self, file: u32, callee: ExprId) -> Option<Builtin> {
        match self.facts(file).expr(callee).node {
            Node::Name { .. } => match self.entity(file, callee) {
                Entity::Builtin(Predeclared::Func(f)) => Some(f),
                _ => None,
            },
            _ => None,
        }
    }
}
