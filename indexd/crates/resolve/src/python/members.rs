//! The names of a module: definitions, imports followed to their targets, star imports, submodules.

use super::Linker;
use super::modules::Module;
use super::types::{File, NameId};
use indexd_model::facts::{Import, ImportKind};
use indexd_model::{DefFlags, DefIdx, DefKind, Key};
use smallvec::SmallVec;
use std::rc::Rc;

/// A target of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Target {
    Def(File, DefIdx),
    Module(File),
    Namespace(NameId),
    External(NameId),
    /// Provided by a module's `__getattr__`.
    Dynamic,
}

/// The targets of a name: several for conditional definitions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Found {
    pub(super) targets: SmallVec<[Target; 2]>,
    /// Number of imports of other modules that were followed.
    pub(super) n_hops: u8,
}

/// Imports followed from one name. The bound is on the way down, so that a chain of modules of any
/// length costs each of them this many, and not all that come before it.
pub(super) const HOPS_MAX: u8 = 16;

impl<'a> Linker<'a> {
    /// Returns the targets of `name` in the module `file`, as an attribute or a free name; empty when there
    /// are none.
    pub(super) fn module_member(&mut self, file: File, name: &'a str) -> Rc<Found> {
        // The number of imports still followed depends on how many led here.
        let key = (file, name, self.n_followed);
        if let Some(found) = self.module_members.get(&key) {
            return Rc::clone(found);
        }
        // While it is being looked for, a name that leads back to itself leads nowhere.
        if !self.open_members.insert((file, name)) {
            return Rc::default();
        }
        let found = Rc::new(self.find_member(file, name));
        self.open_members.remove(&(file, name));
        self.module_members.insert(key, Rc::clone(&found));
        found
    }

    /// Returns the targets of an import of `name` from the module `file`; none once [`HOPS_MAX`] imports were
    /// followed.
    fn followed(&mut self, file: File, name: &'a str) -> Rc<Found> {
        if self.n_followed == HOPS_MAX {
            return Rc::default();
        }
        self.n_followed += 1;
        let found = self.module_member(file, name);
        self.n_followed -= 1;
        found
    }

    fn find_member(&mut self, file: File, name: &'a str) -> Found {
        let mut found = Found::default();
        let facts = self.facts(file);
        let scope = self.module_scope(file);
        let key = Key::member(&scope, name);
        let doc = self.loaded.doc(file);
        // The file's own names need no record: it is linked again whenever they change.
        if file == 0 || self.view.find(key).contains(&doc) {
            let mut has_import = false;
            for d in facts.interface.provided(key) {
                match d.some() {
                    Some(d) if facts.def_name(d) == name && facts.def(d).parent == DefIdx::NONE => {
                        found.targets.push(Target::Def(file, d));
                    }
                    Some(_) => {}
                    None => has_import = true,
                }
            }
            if has_import {
                self.add_imported(file, name, &mut found);
            }
        }
        if found.targets.is_empty() {
            self.find_elsewhere(file, name, &scope, &mut found);
        }
        found
    }

    /// Adds what the imports of `name` lead to. `try: from m import x` with `x = None` in its
    /// `except` means the import where it leads into the tree.
    fn add_imported(&mut self, file: File, name: &'a str, found: &mut Found) {
        let facts = self.facts(file);
        let own = std::mem::take(&mut found.targets);
        let is_fallback =
            |t: &Target| matches!(t, Target::Def(_, d) if facts.def(*d).flags.has(DefFlags::CONDITIONAL));
        let fallback = own.iter().all(is_fallback);
        for import in &facts.interface.imports {
            let bound = import.alias.map(|a| facts.str(a));
            if import.scope == DefIdx::NONE && bound == Some(name) {
                let more = self.import_targets(file, import);
                found.n_hops = found.n_hops.max(more.n_hops.saturating_add(1));
                for t in more.targets {
                    if !found.targets.contains(&t) {
                        found.targets.push(t);
                    }
                }
            }
        }
        let at = if fallback { found.targets.len() } else { 0 };
        found.targets.insert_many(at, own);
    }

    /// Star imports, submodules and `__getattr__`.
    fn find_elsewhere(&mut self, file: File, name: &'a str, scope: &str, found: &mut Found) {
        let facts = self.facts(file);
        let doc = self.loaded.doc(file);
        let has_stars = file == 0 || self.view.find(Key::member(scope, "*")).contains(&doc);
        if has_stars && self.find_starred(file, name, found) {
            return;
        }
        if let Some(dir) = self.package_dir(file) {
            match self.submodule(dir, name) {
                Module::File(f) => {
                    found.targets.push(Target::Module(f));
                    return;
                }
                Module::Namespace(n) => {
                    found.targets.push(Target::Namespace(n));
                    return;
                }
                Module::External(_) | Module::Missing => {}
            }
        }
        // A name that only the stub of a source has: a type made for annotations.
        let stub = format!("{}i", self.loaded.path(file));
        if stub.ends_with(".pyi")
            && file != 0
            && let Some(doc) = self.view.file(&stub)
        {
            let stub = self.loaded.open(doc);
            let more = self.module_member(stub, name);
            if !more.targets.is_empty() {
                *found = (*more).clone();
                return;
            }
        }
        let key = Key::member(scope, "__getattr__");
        if file != 0 && self.view.find(key).contains(&doc) && facts.interface.provided(key).next().is_some() {
            found.targets.push(Target::Dynamic);
        }
    }

    /// Follows the star imports of a file. Returns true if one brings `name`.
    fn find_starred(&mut self, file: File, name: &'a str, found: &mut Found) -> bool {
        let facts = self.facts(file);
        for import in crate::stars(&facts.interface.imports, |_| true) {
            if let Module::File(target) = self.imported_module(file, import)
                && target != file
                && self.exports(target, name)
            {
                let more = self.followed(target, name);
                if !more.targets.is_empty() {
                    found.n_hops = more.n_hops + 1;
                    found.targets.extend_from_slice(&more.targets);
                    return true;
                }
            }
        }
        false
    }

    /// Returns true if `from module import *` brings `name`.
    fn exports(&mut self, file: File, name: &str) -> bool {
        let facts = self.facts(file);
        let key = Key::member(&self.module_scope(file), "__all__");
        self.view.find(key);
        match &facts.interface.exports {
            Some(names) => names.iter().any(|n| facts.str(*n) == name),
            None => !name.starts_with('_'),
        }
    }

    /// Returns the targets of an import statement under the name that it binds.
    pub(super) fn import_targets(&mut self, file: File, import: &'a Import) -> Found {
        let facts = self.facts(file);
        let module = match (import.kind, import.name) {
            (ImportKind::Module, _) => {
                let m = self.top_module(file, facts.str(import.module));
                return self.module_target(m);
            }
            (_, None) => return Found::default(),
            _ => self.imported_module(file, import),
        };
        let name = import.name.map_or("", |n| facts.str(n));
        match module {
            Module::File(target) if target == file && self.package_dir(file).is_some() => {
                // `from . import x` inside the package itself: the submodule, not this import.
                let dir = self.package_dir(file).unwrap_or("");
                let sub = self.submodule(dir, name);
                if sub != Module::Missing {
                    return self.module_target(sub);
                }
                (*self.followed(target, name)).clone()
            }
            Module::File(target) => (*self.followed(target, name)).clone(),
            Module::Namespace(n) => {
                let dir = self.types.text(n).to_owned();
                let sub = self.submodule(&dir, name);
                self.module_target(sub)
            }
            Module::External(n) => {
                let full = format!("{}.{name}", self.types.text(n));
                let n = self.types.name(&full);
                Found { targets: SmallVec::from_slice(&[Target::External(n)]), n_hops: 0 }
            }
            Module::Missing => Found::default(),
        }
    }

    fn module_target(&self, module: Module) -> Found {
        let target = match module {
            Module::File(f) => Target::Module(f),
            Module::Namespace(n) => Target::Namespace(n),
            Module::External(n) => Target::External(n),
            Module::Missing => return Found::default(),
        };
        Found { targets: SmallVec::from_slice(&[target]), n_hops: 0 }
    }

    /// The scope under which a module's names are found.
    pub(super) fn module_scope(&mut self, file: File) -> Rc<str> {
        if let Some(s) = self.module_scopes.get(&file) {
            return Rc::clone(s);
        }
        let s: Rc<str> = format!("py:{}", self.loaded.path(file)).into();
        self.module_scopes.insert(file, Rc::clone(&s));
        s
    }

    /// Returns the definition that a reader means among several of one name: the implementation of overloads,
    /// the getter of a property, the first of several values, the last of several functions.
    pub(super) fn preferred(&self, file: File, defs: &[DefIdx]) -> Option<DefIdx> {
        let facts = self.facts(file);
        let callable = |d: &&DefIdx| {
            let it = facts.def(**d);
            (it.kind.is_callable() || it.kind == DefKind::Class)
                && !it.flags.has(DefFlags::OVERLOAD)
                && !it.flags.has(DefFlags::SETTER)
        };
        // A definition under a condition comes with an ordinary one.
        let plain = |d: &&DefIdx| !facts.def(**d).flags.has(DefFlags::CONDITIONAL);
        defs.iter()
            .filter(callable)
            .rfind(plain)
            .or_else(|| defs.iter().find(callable))
            .or_else(|| defs.iter().find(|d| facts.def(**d).ty.some().is_some()))
            .or_else(|| defs.first())
            .copied()
    }
}
