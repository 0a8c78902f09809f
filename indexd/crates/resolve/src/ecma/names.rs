//! Names at file level, and what modules export.

use super::Linker;
use crate::remembered::remembered;
use crate::typed::files::Defs;
use crate::typed::{DefAt, File};
use indexd_model::facts::{Import, ImportKind};
use indexd_model::key::{ECMA_EXPORTS, ECMA_GLOBAL};
use indexd_model::roles::is_foreign_data;
use indexd_model::{DefFlags, DefIdx, DefKind, Facts, FactsView, FileDoc, Key, Language, Role, Rule};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Re-exports followed one after the other.
pub(super) const REEXPORTS_MAX: u32 = 16;
/// The name of the export of a module as a whole.
pub(super) const DEFAULT: &str = "default";
/// Files that declare one name for all files.
const GLOBALS_MAX: usize = 16;

/// The kind of name that is looked for: one name may be a type and a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Space {
    Types,
    Values,
}

impl Space {
    pub(super) fn of(role: Role) -> Self {
        if matches!(role, Role::Type | Role::Base) { Self::Types } else { Self::Values }
    }
}

/// The target of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Target {
    Def(DefAt),
    /// A file as a module.
    Module(File),
    External,
    NotFound,
}

/// A target, and how it was reached.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) target: Target,
    pub(super) rule: Rule,
}

/// The import that gives a file a name; at level 1 the one that passes it on under the name.
pub(super) fn import_of<'a>(facts: Facts<'a>, level: u16, name: &str) -> Option<&'a Import> {
    let is_it = |i: &&Import| i.level == level && i.alias.is_some_and(|a| facts.str(a) == name);
    facts.interface.imports.iter().find(is_it)
}

impl<'a> Linker<'a> {
    pub(super) fn imported(&mut self, from: File, module: &'a str) -> Target {
        let find = |l: &mut Self| l.module(l.files.loaded.path(from), module);
        remembered(self, |l| &mut l.modules, (from, module), find)
    }

    /// Returns the target of `name` at file level of `file`.
    pub(super) fn at_top(&mut self, file: File, name: &'a str, space: Space, depth: u32) -> Found {
        let find = |l: &mut Self| l.find_at_top(file, name, space, depth);
        remembered(self, |l| &mut l.tops, (file, name, space), find)
    }

    fn find_at_top(&mut self, file: File, name: &'a str, space: Space, depth: u32) -> Found {
        if let Some(def) = self.top_def(file, name, space) {
            return Found { target: Target::Def(def), rule: Rule::Scope };
        }
        let facts = self.facts(file);
        match import_of(facts, 0, name) {
            Some(import) => {
                let found = self.follow(file, import, space, depth);
                let rule = if found.rule == Rule::Scope { Rule::Import } else { found.rule };
                Found { rule, ..found }
            }
            None => self.global(name, space),
        }
    }

    // ---- what all files see

    /// Returns the target of a name that the tree declares for all files; what the standard library has under
    /// the name comes first.
    fn global(&mut self, name: &str, space: Space) -> Found {
        let is_std = space == Space::Types && super::std::is_known(super::std::canonical(name));
        let all = if is_std { Rc::from([]) } else { self.globals(name) };
        let is_type = |d: &&DefAt| self.files.def(**d).kind.is_type();
        let is_value = |d: &&DefAt| !matches!(self.files.def(**d).kind, DefKind::Interface | DefKind::Alias);
        let is_space = |d: &&DefAt| self.files.def(**d).kind == DefKind::Module;
        let of_types = || all.iter().find(is_type).or_else(|| all.iter().find(is_space));
        let found = if space == Space::Types { of_types() } else { all.iter().find(is_value) };
        let target = found.map_or(Target::NotFound, |d| Target::Def(*d));
        Found { target, rule: if found.is_some() { Rule::Inferred } else { Rule::Scope } }
    }

    /// The declarations of a name for all files, nearest first.
    pub(super) fn globals(&mut self, name: &str) -> Rc<[DefAt]> {
        let key = self.types.name(name);
        remembered(self, |l| &mut l.globals, key, |l| l.find_globals(name))
    }

    fn find_globals(&mut self, name: &str) -> Rc<[DefAt]> {
        let key = Key::any(ECMA_GLOBAL, name);
        let docs = self.files.view.find(key);
        let own = self.files.loaded.path(0);
        let mut docs: Vec<FileDoc> = docs.iter().copied().take(GLOBALS_MAX).collect();
        docs.retain(|d| !is_foreign_data(&self.files.view.path(*d), own));
        let shared = |path: &str| path.split('/').zip(own.split('/')).take_while(|(a, b)| a == b).count();
        docs.sort_by_cached_key(|d| {
            let path = self.files.view.path(*d);
            (std::cmp::Reverse(shared(&path)), path)
        });
        let out: Rc<[DefAt]> = docs.into_iter().flat_map(|doc| self.files.provided(doc, key)).collect();
        out.iter().for_each(|at| self.files.record(*at));
        out
    }

    /// A member that another declaration for all files gives to one of them.
    pub(super) fn of_globals(&mut self, owner: &str, name: &str, space: Space) -> Option<DefAt> {
        for of in self.globals(owner).iter() {
            let all = self.files.members(*of, name);
            if let Some(found) = self.best(of.file, &all, space).filter(|_| !all.is_empty()) {
                return Some(found);
            }
        }
        None
    }

    /// Returns true if a definition is a declaration for all files.
    pub(super) fn is_global(&mut self, at: DefAt) -> bool {
        let owner = self.files.def(at).parent.some().map(|def| DefAt { def, ..at });
        let is_inside = owner.is_none_or(|o| self.files.def(o).kind == DefKind::Module);
        let name = self.files.name(at);
        is_inside && self.globals(name).contains(&at)
    }

    /// Returns the target of an import.
    pub(super) fn follow(&mut self, file: File, import: &'a Import, space: Space, depth: u32) -> Found {
        let to = |target| Found { target, rule: Rule::Import };
        let facts = self.facts(file);
        let module = match self.imported(file, facts.str(import.module)) {
            Target::Module(module) => module,
            other => return to(other),
        };
        match (import.kind, import.name) {
            (ImportKind::Name, Some(name)) => {
                let name = facts.str(name);
                let found = self.exported(module, name, space, depth);
                match found.target {
                    // Without a default export, the module as a whole is its default.
                    Target::NotFound if name == DEFAULT => to(Target::Module(module)),
                    Target::NotFound => {
                        let whole = Found { target: Target::NotFound, rule: Rule::Import };
                        self.of_default(module, name).unwrap_or(whole)
                    }
                    _ => found,
                }
            }
            _ => to(Target::Module(module)),
        }
    }

    /// Returns the target that a module exports under a name. The rule tells if another module was in
    /// between.
    pub(super) fn exported(&mut self, file: File, name: &str, space: Space, depth: u32) -> Found {
        let key = (file, self.types.name(name), space);
        if let Some(known) = self.exports.get(&key) {
            return *known;
        }
        let missing = Found { target: Target::NotFound, rule: Rule::Import };
        let Some(depth) = depth.checked_sub(1) else { return missing };
        // A module that passes itself on has nothing more.
        self.exports.insert(key, missing);
        let found = self.find_exported(file, name, space, depth);
        self.exports.insert(key, found);
        found
    }

    fn find_exported(&mut self, file: File, name: &str, space: Space, depth: u32) -> Found {
        let missing = Found { target: Target::NotFound, rule: Rule::Import };
        if let Some(found) = self.exported_itself(file, name, space, depth) {
            return found;
        }
        if name == DEFAULT {
            return missing;
        }
        // Among the modules that `export *` leads to, only those that have the name are searched.
        let passed_on = self.passed_on(file);
        let having = self.files.view.find(Key::any(ECMA_EXPORTS, name));
        let mut places: Vec<_> = having.iter().filter_map(|doc| Some((*passed_on.get(doc)?, *doc))).collect();
        places.sort_unstable();
        for (_, doc) in places {
            let module = self.files.open(doc);
            match self.exported_itself(module, name, space, depth) {
                Some(found) if found.target != Target::NotFound => {
                    return Found { rule: Rule::Reexport, ..found };
                }
                _ => {}
            }
        }
        missing
    }

    /// The modules that `export *` of a file leads to, over any number of modules, in source order.
    fn passed_on(&mut self, file: File) -> Rc<FxHashMap<FileDoc, usize>> {
        remembered(self, |l| &mut l.passed_on, file, |l| Rc::new(l.find_passed_on(file)))
    }

    fn find_passed_on(&mut self, file: File) -> FxHashMap<FileDoc, usize> {
        let mut found = FxHashMap::default();
        let mut open = vec![file];
        while let Some(at) = open.pop() {
            let n = found.len();
            if found.contains_key(&self.doc(at)) {
                continue;
            }
            found.insert(self.doc(at), n);
            self.files.record_name(at, "*");
            let facts = self.facts(at);
            let is_star = |i: &&Import| i.level == 1 && i.kind == ImportKind::All;
            for star in facts.interface.imports.iter().filter(is_star).rev() {
                if let Target::Module(module) = self.imported(at, facts.str(star.module)) {
                    open.push(module);
                }
            }
        }
        found.remove(&self.doc(file));
        found
    }

    /// Returns the target that a module exports under a name, without `export *`.
    fn exported_itself(&mut self, file: File, name: &str, space: Space, depth: u32) -> Option<Found> {
        let missing = Found { target: Target::NotFound, rule: Rule::Import };
        let facts = self.facts(file);
        self.files.record_name(file, name);
        if let Some(import) = import_of(facts, 1, name) {
            if !facts.str(import.module).is_empty() {
                let found = self.follow(file, import, space, depth);
                return Some(Found { rule: Rule::Reexport, ..found });
            }
            let Some(own) = import.name.map(|n| facts.str(n)) else { return Some(missing) };
            let mut found = self.at_top(file, own, space, depth);
            if let (Target::NotFound, Some(def)) = (found.target, self.given_to_exports(file, own)) {
                found = Found { target: Target::Def(def), rule: Rule::Scope };
            }
            let rule = if found.rule == Rule::Scope { Rule::Import } else { Rule::Reexport };
            return Some(Found { rule, ..found });
        }
        let def = self.top_def(file, name, space)?;
        let is_exported = self.files.def(def).flags.has(DefFlags::EXPORTED);
        is_exported.then_some(Found { target: Target::Def(def), rule: Rule::Import })
    }

    /// Returns the function assigned to `exports.name` or to `module.exports`.
    pub(super) fn given_to_exports(&mut self, file: File, name: &str) -> Option<DefAt> {
        let to = ["exports", "module.exports", "module"];
        let def = to.into_iter().find_map(|to| self.files.given(file, to, name).first().copied())?;
        self.files.record_name(file, name);
        Some(DefAt { file, def })
    }

    /// Returns a member of the export of a CommonJS module as a whole.
    pub(super) fn of_default(&mut self, file: File, name: &str) -> Option<Found> {
        let of = self.exported(file, DEFAULT, Space::Values, REEXPORTS_MAX);
        let Target::Def(def) = of.target else { return None };
        let ty = self.def_value(def).ty;
        let attr = self.attr(ty, name, false);
        let hit = attr.hits.first()?;
        Some(Found { target: hit.target, rule: of.rule })
    }

    /// Replaces a CommonJS module that is used as a value by its export as a whole.
    pub(super) fn whole(&mut self, found: Found, role: Role) -> Found {
        match found.target {
            Target::Module(file) if matches!(role, Role::Call | Role::Base | Role::Type) => {
                let of = self.exported(file, DEFAULT, Space::of(role), REEXPORTS_MAX);
                if of.target == Target::NotFound { found } else { of }
            }
            _ => found,
        }
    }

    pub(super) fn is_common(&self, file: File) -> bool {
        self.facts(file).interface.language == Language::JavaScript
    }

    /// The definition of `name` at file level that fits best: a type where a type is named, a value
    /// elsewhere; of equals the first.
    pub(super) fn top_def(&mut self, file: File, name: &str, space: Space) -> Option<DefAt> {
        let all = self.files.at_top(file, name);
        self.best(file, &all, space)
    }

    pub(super) fn best(&self, file: File, all: &Defs, space: Space) -> Option<DefAt> {
        let facts = self.facts(file);
        let is_type_only = |kind: DefKind| matches!(kind, DefKind::Interface | DefKind::Alias);
        let fits = |d: &DefIdx| match facts.def(*d).kind {
            kind if space == Space::Types => kind.is_type(),
            DefKind::Module => false,
            kind => !is_type_only(kind),
        };
        let is_module = |d: &DefIdx| facts.def(*d).kind == DefKind::Module;
        let all = || all.iter().copied();
        let def = all().find(fits).or_else(|| all().find(is_module)).or_else(|| all().next())?;
        Some(DefAt { file, def })
    }

    pub(super) fn doc(&self, file: File) -> FileDoc {
        self.files.loaded.doc(file)
    }
}
