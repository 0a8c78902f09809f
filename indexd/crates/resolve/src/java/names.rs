//! What names mean: in the classes around, among imports, in packages.

use super::Java;
use crate::Use;
use crate::declared::{Found, Linker, Place, Space};
use crate::projects;
use crate::remembered::remembered;
use crate::typed::{DefAt, File, Ty, Type};
use indexd_model::facts::{Import, ImportKind};
use indexd_model::{DefKind, DefRef, Key, Links, Role, Rule, UnresolvedReason};
use smallvec::SmallVec;

/// What a name means at a place.
pub(super) fn find<'a>(l: &mut Linker<'a, Java>, place: Place, name: &'a str, space: Space) -> Found {
    if space == Space::Types
        && let Some(found) = primitive(l, name)
    {
        return found;
    }
    let is_open = match around(l, place, name, space) {
        Ok(found) => return found,
        Err(is_open) => is_open,
    };
    let found = at_file_level(l, place.file, name, space);
    // A class around may inherit it from outside the tree.
    match is_open && found.hits.is_empty() && found.reason == UnresolvedReason::NotFound {
        true => Found::outside(),
        false => found,
    }
}

/// What a name means that no class around has.
fn at_file_level<'a>(l: &mut Linker<'a, Java>, file: File, name: &'a str, space: Space) -> Found {
    if let Some(found) = single_import(l, file, name, space) {
        return found;
    }
    if space == Space::Types {
        return type_named(l, file, name);
    }
    let found = on_demand(l, file, name, space);
    if space == Space::Values && found.as_ref().is_none_or(|f| f.hits.is_empty()) {
        let ty = type_named(l, file, name);
        let is_it =
            !ty.hits.is_empty() || found.is_none() || matches!(l.types.get(ty.ty), Type::StdStatic(_));
        if is_it {
            return ty;
        }
    }
    found.unwrap_or(Found::none(UnresolvedReason::NotFound))
}

/// A type of the language itself.
fn primitive(l: &mut Linker<Java>, name: &str) -> Option<Found> {
    if name == "void" {
        return Some(Found::typed(Ty::NOTHING));
    }
    super::PRIMITIVES.iter().find(|p| p.0 == name)?;
    let name = l.types.name(name);
    Some(Found::typed(l.types.make(Type::StdStatic(name))))
}

/// A member of the classes around, the innermost that has it; else whether one may inherit it from outside.
fn around(l: &mut Linker<Java>, place: Place, name: &str, space: Space) -> Result<Found, bool> {
    let facts = l.facts(place.file);
    let mut scope = l.scope(place).some();
    let mut is_open = false;
    while let Some(def) = scope {
        let it = facts.def(def);
        scope = it.parent.some();
        if !it.kind.is_type() && it.kind != DefKind::Constant {
            continue;
        }
        let at = DefAt { file: place.file, def };
        let this = l.types.make(Type::This(at));
        let found = l.attr(this, name, space);
        // What every object has is looked for here, unless a class around has more of it.
        if !found.hits.is_empty() {
            let mut found = (*found).clone();
            found.is_open |= is_open && space == Space::Calls && found.hits.len() > 1;
            return Ok(found);
        }
        if space == Space::Calls && found.ty != Ty::UNKNOWN && found.ty != Ty::EXTERNAL {
            return Ok((*found).clone());
        }
        is_open |= found.is_open;
        if space == Space::Types && facts.def_name(def) == name && it.kind != DefKind::Constant {
            return Ok(Found::defs([at], Rule::Scope));
        }
    }
    Err(is_open)
}

/// What an import of this one name brings.
fn single_import<'a>(l: &mut Linker<'a, Java>, file: File, name: &'a str, space: Space) -> Option<Found> {
    let facts = l.facts(file);
    let imports = &facts.interface.imports;
    let mut outside = None;
    for import in imports.iter().filter(|i| i.kind != ImportKind::All) {
        if import.alias.is_none_or(|a| facts.str(a) != name) {
            continue;
        }
        let found = by_full_name(l, facts.str(import.module), space);
        if found.is_found() && found.reason != UnresolvedReason::NotFound || !found.hits.is_empty() {
            if !found.hits.is_empty() || found.ty != Ty::EXTERNAL {
                return Some(found);
            }
            outside = Some(found);
        }
    }
    outside
}

/// What imports of everything in a class, or in a package, bring.
fn on_demand<'a>(l: &mut Linker<'a, Java>, file: File, name: &'a str, space: Space) -> Option<Found> {
    let facts = l.facts(file);
    let mut is_open = false;
    for import in crate::stars(&facts.interface.imports, |_| true) {
        let path = facts.str(import.module);
        let class = by_full_name(l, path, Space::Types);
        let of = l.value_of_found(&class);
        match l.types.get(of) {
            Type::Static(_) => {
                let found = l.attr(of, name, space);
                if !found.hits.is_empty() {
                    return Some(through_import((*found).clone()));
                }
            }
            Type::StdStatic(_) if space != Space::Types => {
                let found = l.attr(of, name, space);
                if found.ty != Ty::EXTERNAL {
                    return Some((*found).clone());
                }
                is_open = true;
            }
            _ => is_open |= space != Space::Types && path.rsplit('.').next().is_some_and(is_capital),
        }
    }
    is_open.then(Found::outside)
}

fn through_import(mut found: Found) -> Found {
    for hit in &mut found.hits {
        if matches!(hit.rule, Rule::Scope | Rule::Receiver) {
            hit.rule = Rule::Import;
        }
    }
    found
}

/// A type that the file, its package or a package that is imported whole has under a name.
fn type_named<'a>(l: &mut Linker<'a, Java>, file: File, name: &'a str) -> Found {
    let facts = l.facts(file);
    let own = l.files.at_top(file, name);
    if let Some(def) = own.iter().find(|d| facts.def(**d).kind.is_type()) {
        return Found::defs([DefAt { file, def: *def }], Rule::Scope);
    }
    let package = facts.interface.package.map_or("", |p| facts.str(p));
    let found = packaged(l, package, name);
    if !found.is_empty() {
        return Found::defs(found, Rule::Import);
    }
    let mut is_outside = false;
    for import in crate::stars(&facts.interface.imports, |_| true) {
        let path = facts.str(import.module);
        let found = packaged(l, path, name);
        if !found.is_empty() {
            return Found::defs(found, Rule::Import);
        }
        if let Some(found) = std_type(l, path, name) {
            return found;
        }
        is_outside = true;
    }
    if let Some(found) = on_demand(l, file, name, Space::Types) {
        return found;
    }
    if let Some(found) = std_type(l, "java.lang", name) {
        return found;
    }
    if !is_capital(name) {
        let name = l.types.name(name);
        return Found::typed(l.types.make(Type::Package(name)));
    }
    // What is imported whole from outside may be meant; `java.lang` is not known as a whole.
    if is_outside { Found::outside() } else { Found::none(UnresolvedReason::NotFound) }
}

/// A type of the table, in its package.
fn std_type(l: &mut Linker<Java>, package: &str, name: &str) -> Option<Found> {
    super::TABLE.ty(name).filter(|t| t.package == package)?;
    let name = l.types.name(name);
    Some(Found::typed(l.types.make(Type::StdStatic(name))))
}

/// `a.b.C`, `a.b.C.member`, or the package `a.b`.
fn by_full_name<'a>(l: &mut Linker<'a, Java>, path: &str, space: Space) -> Found {
    let mut end = path.len();
    while let Some(cut) = path[..end].rfind('.') {
        let (package, name) = (&path[..cut], &path[cut + 1..end]);
        let found = packaged(l, package, name);
        if !found.is_empty() {
            return through_import(member_path(l, Found::defs(found, Rule::Import), &path[end..], space));
        }
        if let Some(found) = std_type(l, package, name) {
            return member_path(l, found, &path[end..], space);
        }
        end = cut;
    }
    let last = path.rsplit('.').next().unwrap_or(path);
    if !is_capital(last) && space != Space::Types {
        return Found::outside();
    }
    // A type from outside the tree is told from others by its name.
    let name = l.types.name(path);
    let ty = if is_capital(last) { Type::StdStatic(name) } else { Type::Package(name) };
    Found::typed(l.types.make(ty))
}

/// A type behind the name of a package, or a package in it.
pub(super) fn in_package(l: &mut Linker<Java>, package: &str, name: &str) -> Found {
    let found = packaged(l, package, name);
    if !found.is_empty() {
        return Found::defs(found, Rule::Import);
    }
    if let Some(found) = std_type(l, package, name) {
        return found;
    }
    let path = l.types.name(&format!("{package}.{name}"));
    let ty = if is_capital(name) { Type::StdStatic(path) } else { Type::Package(path) };
    Found::typed(l.types.make(ty))
}

fn member_path(l: &mut Linker<Java>, mut found: Found, rest: &str, space: Space) -> Found {
    let names: SmallVec<[&str; 4]> = rest.split('.').filter(|n| !n.is_empty()).collect();
    if names.is_empty() && space == Space::Calls {
        return Found::none(UnresolvedReason::NotFound);
    }
    for (i, name) in names.iter().enumerate() {
        let of = l.value_of_found(&found);
        let space = if i + 1 < names.len() { Space::Types } else { space };
        found = (*l.attr(of, name, space)).clone();
    }
    found
}

/// The types of a name in a package: every file that declares the package is asked; of several projects the
/// nearest counts.
fn packaged(l: &mut Linker<Java>, package: &str, name: &str) -> SmallVec<[DefAt; 2]> {
    let key = (package.into(), name.into());
    remembered(l, |l| &mut l.own.packaged, key, |l| find_packaged(l, package, name))
}

fn find_packaged(l: &mut Linker<Java>, package: &str, name: &str) -> SmallVec<[DefAt; 2]> {
    let own_path = l.files.loaded.path(0);
    let docs = l.files.view.find(Key::member(&format!("jvm:{package}"), name));
    let mut all: SmallVec<[DefAt; 2]> = SmallVec::new();
    for doc in docs.iter() {
        let file = l.files.open(*doc);
        let facts = l.facts(file);
        let is_data = indexd_model::roles::is_foreign_data(l.files.loaded.path(file), own_path);
        if is_data || facts.interface.package.map_or("", |p| facts.str(p)) != package {
            continue;
        }
        let defs = l.files.at_top(file, name);
        let def = defs.iter().find(|d| facts.def(**d).kind.is_type());
        all.extend(def.map(|def| DefAt { file, def: *def }));
    }
    if all.len() > 1 {
        let paths: Vec<&str> = all.iter().map(|a| l.files.loaded.path(a.file)).collect();
        let mut kept = projects::nearest(l.files.view, own_path, &paths, true).into_iter();
        all.retain(|_| kept.next().unwrap_or(true));
        all.truncate(1);
    }
    all
}

/// Links what imports name.
pub(super) fn imports(l: &mut Linker<Java>, out: &mut Links) {
    let facts = l.facts(0);
    for import in &facts.interface.imports {
        let path = facts.str(import.module);
        let last = path.rsplit('.').next().unwrap_or(path);
        let found = imported(l, import, path);
        if matches!(l.types.get(found.ty), Type::Package(_)) && import.kind == ImportKind::All {
            continue;
        }
        let first = out.links.len();
        let it = Use { name: import.module, at: import.at, role: Role::Import };
        let targets: Vec<DefRef> = found.hits.iter().map(|h| l.reference(h.at)).collect();
        // All members of a name are imported together.
        for target in targets {
            crate::emit(facts, it, Ok(vec![target]), Rule::Import, out);
        }
        if found.hits.is_empty() {
            crate::emit(facts, it, Err(UnresolvedReason::External), Rule::Import, out);
        }
        crate::shorten(&mut out.links[first..], import, last);
    }
}

/// What an import names: a type, else a field, else the methods of a name.
fn imported(l: &mut Linker<Java>, import: &Import, path: &str) -> Found {
    let found = by_full_name(l, path, Space::Types);
    if !found.hits.is_empty() || import.kind == ImportKind::All {
        return found;
    }
    for space in [Space::Values, Space::Calls] {
        let other = by_full_name(l, path, space);
        if !other.hits.is_empty() {
            return other;
        }
    }
    found
}

fn is_capital(name: &str) -> bool {
    name.starts_with(char::is_uppercase)
}
