//! What names mean: in functions and modules, by imports and globs, as packages, and what every file sees.

use super::modules::{module_of, whole};
use super::{Rust, TABLE};
use crate::Use;
use crate::declared::{Found, Linker, Place, Space};
use crate::typed::{DefAt, Ty, Type};
use indexd_model::facts::{Import, ImportKind};
use indexd_model::{DefFlags, DefIdx, DefKind, Links, Role, Rule, UnresolvedReason};

/// Modules that are asked for one name, one behind the other.
const DEPTH_MAX: usize = 24;

/// What a name means at a place.
pub(super) fn find<'a>(l: &mut Linker<'a, Rust>, place: Place, name: &'a str, space: Space) -> Found {
    let facts = l.facts(place.file);
    let mut scope = l.scope(place).some();
    while let Some(def) = scope.filter(|d| facts.def(*d).kind != DefKind::Module) {
        let at = DefAt { file: place.file, def };
        if facts.def(def).kind.is_callable()
            && let Some(found) = l.in_scope(at, name, space)
        {
            return found;
        }
        scope = facts.def(def).parent.some();
    }
    let module = DefAt { file: place.file, def: scope.unwrap_or(DefIdx::NONE) };
    l.in_scope(module, name, space).unwrap_or_else(|| l.outermost(module, name, space))
}

/// How well a kind of definition fits where a name stands; `None` where it does not.
fn rank(kind: DefKind, space: Space) -> Option<u8> {
    let is_value = matches!(kind, DefKind::Constant | DefKind::Variable);
    match space {
        _ if kind == DefKind::Macro => None,
        Space::Types => {
            (kind.is_type() || kind == DefKind::Module).then_some(u8::from(kind == DefKind::Module))
        }
        Space::Values => Some(match kind {
            DefKind::Module => 2,
            _ => u8::from(kind.is_type()),
        }),
        Space::Calls if kind == DefKind::Module => None,
        Space::Calls => Some(if kind.is_callable() { 0 } else { 1 + u8::from(is_value) }),
    }
}

impl<'a> Linker<'a, Rust> {
    /// What a function or a module says of a name: its definitions, then what it imports.
    pub(super) fn in_scope(&mut self, at: DefAt, name: &str, space: Space) -> Option<Found> {
        let key = (at, self.types.name(name), space);
        if let Some(known) = self.own.names.get(&key) {
            return known.clone();
        }
        if self.own.asking.contains(&key) || self.own.asking.len() > DEPTH_MAX || !self.step_through(at.file)
        {
            self.own.n_met += 1;
            return None;
        }
        let n_met = self.own.n_met;
        self.own.asking.push(key);
        let found = self.find_in_scope(at, name, space);
        self.own.asking.pop();
        // What met an open question may be found by another way.
        if self.own.n_met == n_met || self.own.asking.is_empty() {
            self.own.names.insert(key, found.clone());
        }
        found
    }

    fn find_in_scope(&mut self, at: DefAt, name: &str, space: Space) -> Option<Found> {
        let defined = self.defined(at, name, space);
        let is_there = |d: &DefAt| !self.files.def(*d).flags.has(DefFlags::CONDITIONAL);
        let rule = if at.file == 0 { Rule::Scope } else { Rule::Import };
        if let Some(def) = defined.filter(is_there) {
            return Some(Found::defs([def], rule));
        }
        let facts = self.facts(at.file);
        self.files.record_name(at.file, name);
        let is_it = |i: &&Import| i.scope == at.def && i.alias.is_some_and(|a| facts.str(a) == name);
        let mut named: Vec<&Import> = facts.interface.imports.iter().filter(is_it).collect();
        // What is there where a condition does not hold comes last.
        named.sort_by_key(|i| i.conditional);
        let mut outside = None;
        for (i, import) in named.iter().enumerate() {
            if import.conditional && outside.is_some() {
                break;
            }
            let found = self.follow(at, import, space);
            if !found.hits.is_empty() || matches!(self.types.get(found.ty), Type::Module(_)) {
                let mut found = passed(found, at);
                found.is_variant |= defined.is_some()
                    || named[i + 1..].iter().any(|other| {
                        let other = self.follow(at, other, space);
                        self.is_another(&found, &other)
                    });
                return Some(found);
            }
            if found.is_found() || found.reason == UnresolvedReason::External {
                outside = outside.or(Some(found));
            }
        }
        let found = outside.or_else(|| self.through_globs(at, name, space));
        found.or_else(|| defined.map(|def| Found::defs([def], rule)))
    }

    /// Returns true if two names lead to different definitions or modules: conditions of the build decide between them.
    fn is_another(&self, one: &Found, other: &Found) -> bool {
        let modules = [one, other].map(|f| self.as_module(f));
        match (one.hits.first(), other.hits.first()) {
            (Some(a), Some(b)) => a.at != b.at,
            _ => matches!(modules, [Some(a), Some(b)] if a != b),
        }
    }

    /// The definition of a scope that fits best.
    fn defined(&mut self, at: DefAt, name: &str, space: Space) -> Option<DefAt> {
        let all = match at.def.some() {
            Some(_) => self.files.members(at, name),
            None => self.files.at_top(at.file, name),
        };
        let facts = self.facts(at.file);
        let of = |d: &DefIdx| {
            let def = facts.def(*d);
            let is_one = !def.flags.has(DefFlags::ANONYMOUS) && def.receiver.is_none();
            let is_conditional = def.flags.has(DefFlags::CONDITIONAL);
            rank(def.kind, space).filter(|_| is_one).map(|r| (r, is_conditional))
        };
        let best = all.iter().filter_map(|d| Some((of(d)?, *d))).min_by_key(|d| d.0)?;
        Some(DefAt { def: best.1, ..at })
    }

    /// What glob imports bring; the first that brings any.
    fn through_globs(&mut self, at: DefAt, name: &str, space: Space) -> Option<Found> {
        let facts = self.facts(at.file);
        self.files.record_name(at.file, "*");
        for import in crate::stars(&facts.interface.imports, |i| i.scope == at.def) {
            let of = self.follow(at, import, Space::Types);
            let found = match self.as_module(&of) {
                Some(m) if m != at => self.in_scope(m, name, space),
                Some(_) => None,
                None if of.hits.is_empty() => None,
                None => self.variant_named(&of, name),
            };
            if let Some(found) = found.filter(|f| f.is_found()) {
                return Some(passed(found, at));
            }
        }
        None
    }

    /// A variant of the enumeration that a glob opens.
    fn variant_named(&mut self, of: &Found, name: &str) -> Option<Found> {
        let ty = self.type_of_found(of, &[]);
        let Type::Named(at, _) = *self.types.get(ty) else { return None };
        let all = self.files.members(at, name);
        let all: Vec<DefAt> = all.into_iter().map(|def| DefAt { def, ..at }).collect();
        let variant = all.into_iter().find(|d| self.variant_of(*d).is_some())?;
        Some(Found::defs([variant], Rule::Import))
    }

    /// The module that a name leads to.
    pub(super) fn as_module(&self, found: &Found) -> Option<DefAt> {
        match (found.hits.first(), self.types.get(found.ty)) {
            (Some(hit), _) => Some(hit.at).filter(|at| self.files.def(*at).kind == DefKind::Module),
            (None, Type::Module(file)) => Some(whole(*file)),
            _ => None,
        }
    }

    /// What an import brings.
    pub(super) fn follow(&mut self, at: DefAt, import: &Import, space: Space) -> Found {
        let facts = self.facts(at.file);
        let path = facts.str(import.module);
        if import.level == 1 {
            return match self
                .module_file(at, import)
                .filter(|_| space == Space::Types || space == Space::Values)
            {
                Some(file) => self.module_found(whole(file)),
                None => Found::none(UnresolvedReason::NotFound),
            };
        }
        let from = DefAt { def: module_of(&facts, at.def), ..at };
        let mut parts = path.split("::").peekable();
        let first = parts.next().unwrap_or("");
        // An import is nothing that its own path could begin with. One by another name may be in the scope.
        let is_itself =
            import.kind == ImportKind::Module && import.alias.is_none_or(|a| facts.str(a) == first);
        let mut found = match parts.peek().is_none() && is_itself {
            true => self.outermost(from, first, Space::Types),
            false => self.first_of_path(from, first),
        };
        while let Some(part) = parts.next() {
            let space = if parts.peek().is_none() { space } else { Space::Types };
            found = self.member_of(&found, part, space);
        }
        found
    }

    /// The first name of the path of an import.
    pub(super) fn first_of_path(&mut self, from: DefAt, name: &str) -> Found {
        let is_word = matches!(name, "crate" | "self" | "super");
        let mut found = if is_word { None } else { self.in_scope(from, name, Space::Types) };
        if found.is_none() && !is_word && self.begins_at_root(from.file) {
            let root = self.root(from.file);
            found = self.in_scope(root, name, Space::Types);
        }
        found.unwrap_or_else(|| self.outermost(from, name, Space::Types))
    }

    /// A name behind `::`.
    pub(super) fn member_of(&mut self, of: &Found, name: &str, space: Space) -> Found {
        let none = || Found::none(UnresolvedReason::NotFound);
        if let Some(m) = self.as_module(of) {
            return match name {
                "self" => self.module_found(m),
                "super" => self.parent_of(m).map_or_else(none, |p| self.module_found(p)),
                _ => {
                    let found = self.in_scope(m, name, space).unwrap_or_else(none);
                    Found { is_variant: of.is_variant || found.is_variant, ..found }
                }
            };
        }
        let ty = self.value_of_found(of);
        (*self.attr(ty, name, space)).clone()
    }

    /// A name that no scope knows: `crate`, a package, what every file sees.
    fn outermost(&mut self, from: DefAt, name: &str, space: Space) -> Found {
        let none = || Found::none(UnresolvedReason::NotFound);
        match name {
            "crate" | "$crate" => {
                let root = self.root(from.file);
                return self.module_found(root);
            }
            "self" => return self.module_found(from),
            "super" => return self.parent_of(from).map_or_else(none, |p| self.module_found(p)),
            _ => {}
        }
        if let Some(ty) =
            TABLE.member(&mut self.types, "module prelude", &[], name).filter(|_| space != Space::Types)
        {
            return Found::typed(ty);
        }
        if TABLE.ty(name).is_some() {
            let name = self.types.name(name);
            return Found::typed(self.types.make(Type::StdStatic(name)));
        }
        if name.starts_with(char::is_uppercase) || space == Space::Calls {
            return none();
        }
        match self.package(from.file, name) {
            Some(file) => self.module_found(whole(file)),
            None => {
                let package = self.types.name(name);
                Found::typed(self.types.make(Type::Package(package)))
            }
        }
    }
}

/// What lies behind a path that leads out of the tree.
pub(super) fn in_package(l: &mut Linker<Rust>, package: &str, name: &str, space: Space) -> Found {
    if name.starts_with(char::is_uppercase) {
        let is_of_map =
            package.ends_with("_map") && matches!(name, "Iter" | "IterMut" | "IntoIter" | "Drain");
        let name = l.types.name(if is_of_map { "Pairs" } else { name });
        return Found::typed(l.types.make(Type::StdStatic(name)));
    }
    if space == Space::Calls {
        return Found::outside();
    }
    let inner = l.types.name(&format!("{package}::{name}"));
    Found::typed(l.types.make(Type::Package(inner)))
}

/// What came through the scope `at`.
fn passed(mut found: Found, at: DefAt) -> Found {
    let rule = if at.file == 0 { Rule::Import } else { Rule::Reexport };
    for hit in &mut found.hits {
        if rule.confidence() <= hit.rule.confidence() {
            hit.rule = rule;
        }
    }
    found
}

/// Links what the file imports.
pub(super) fn imports(l: &mut Linker<Rust>, out: &mut Links) {
    let facts = l.facts(0);
    for import in &facts.interface.imports {
        let at = DefAt { file: 0, def: import.scope };
        let mut found = l.follow(at, import, Space::Types);
        for space in [Space::Values, Space::Calls] {
            if found.hits.is_empty() && l.as_module(&found).is_none() {
                let other = l.follow(at, import, space);
                if !other.hits.is_empty() {
                    found = other;
                }
            }
        }
        if found.hits.is_empty() && l.as_module(&found).is_none() {
            found = l.imported_macro(at, import).map_or(found, |m| Found::defs([m], Rule::Import));
        }
        if let Some(m) = l.as_module(&found) {
            found = Found::defs([m], Rule::Import);
        }
        let path = facts.str(import.module);
        let last = path.rsplit("::").next().unwrap_or(path);
        let first = out.links.len();
        let found = passed(found, at);
        let found = if matches!(l.types.get(found.ty), Type::Package(_)) { Found::outside() } else { found };
        l.emit(&found, false, Use { name: import.module, at: import.at, role: Role::Import }, out);
        crate::shorten(&mut out.links[first..], import, last);
    }
}

/// Whether nothing is known of a type.
pub(super) fn is_nothing(ty: Ty) -> bool {
    matches!(ty, Ty::UNKNOWN | Ty::EXTERNAL | Ty::NOTHING)
}
