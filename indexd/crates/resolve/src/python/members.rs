//! The names of a module: definitions, imports followed to their targets, star imports, submodules.

use super::Linker;
use super::types::{File, NameId};
use crate::remembered::{nested, remembered};
use indexd_model::facts::{Import, ImportKind};
use indexd_model::{DefFlags, DefIdx, DefKind, Key};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::rc::Rc;

/// The names of modules that were looked for.
#[derive(Default)]
pub(super) struct Members<'a> {
    /// By how many imports had been followed, too.
    found: FxHashMap<(File, &'a str, u32), Rc<Found>>,
    /// Members being looked for.
    open: FxHashSet<(File, &'a str)>,
    /// Imports being followed, one inside the other.
    n_followed: u32,
    /// The scopes of the keys of modules.
    scopes: FxHashMap<File, Rc<str>>,
}

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

impl Found {
    /// A target that is reached without an import.
    pub(super) fn of(target: Option<Target>) -> Self {
        Self { targets: target.into_iter().collect(), n_hops: 0 }
    }
}

/// Imports followed from one name. The bound is on the way down, so that a chain of modules of any
/// length costs each of them this many, and not all that come before it.
pub(super) const HOPS_MAX: u32 = 16;

impl<'a> Linker<'a> {
    /// Returns the targets of `name` in the module `file`, as an attribute or a free name; empty when there
    /// are none.
    pub(super) fn module_member(&mut self, file: File, name: &'a str) -> Rc<Found> {
        // The number of imports still followed depends on how many led here.
        let key = (file, name, self.members.n_followed);
        if let Some(found) = self.members.found.get(&key) {
            return Rc::clone(found);
        }
        // While it is being looked for, a name that leads back to itself leads nowhere.
        if !self.members.open.insert((file, name)) {
            return Rc::default();
        }
        let found = Rc::new(self.find_member(file, name));
        self.members.open.remove(&(file, name));
        self.members.found.insert(key, Rc::clone(&found));
        found
    }

    /// Returns the targets of an import of `name` from the module `file`; none once [`HOPS_MAX`] imports were
    /// followed.
    fn followed(&mut self, file: File, name: &'a str) -> Rc<Found> {
        let follow = |l: &mut Self| l.module_member(file, name);
        nested(self, |l| &mut l.members.n_followed, HOPS_MAX, follow).unwrap_or_default()
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
            found.targets.extend(self.below(dir, name));
            if !found.targets.is_empty() {
                return;
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
            if let Some(Target::Module(target)) = self.imported_module(file, import)
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
                return Found::of(self.top_module(file, facts.str(import.module)));
            }
            (_, None) => return Found::default(),
            _ => self.imported_module(file, import),
        };
        let name = import.name.map_or("", |n| facts.str(n));
        match module {
            Some(Target::Module(target)) if target == file && self.package_dir(file).is_some() => {
                // `from . import x` inside the package itself: the submodule, not this import.
                let dir = self.package_dir(file).unwrap_or("");
                match self.below(dir, name) {
                    None => (*self.followed(target, name)).clone(),
                    sub => Found::of(sub),
                }
            }
            Some(Target::Module(target)) => (*self.followed(target, name)).clone(),
            Some(Target::Namespace(n)) => {
                let dir = self.types.text(n).to_owned();
                Found::of(self.below(&dir, name))
            }
            Some(Target::External(n)) => {
                let full = format!("{}.{name}", self.types.text(n));
                Found::of(Some(Target::External(self.types.name(&full))))
            }
            _ => Found::default(),
        }
    }

    /// The scope under which a module's names are found.
    pub(super) fn module_scope(&mut self, file: File) -> Rc<str> {
        remembered(self, |l| &mut l.members.scopes, file, |l| format!("py:{}", l.loaded.path(file)).into())
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
