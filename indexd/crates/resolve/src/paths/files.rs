//! Files that bring in all names of another: `require_relative`, sourced scripts,
//! and modules of Lua.

use super::{EQUALS_MAX, Found, Linker, Target};
use indexd_model::facts::Import;
use indexd_model::path::{ancestors, dir_of, join, normalized};
use indexd_model::{DefIdx, DefRef, FactsView, FileDoc, Key, Language, Role, Rule};
use rustc_hash::FxHashSet;

/// Files that one includes, over all steps.
const INCLUDED_MAX: usize = 100;

impl Linker<'_> {
    /// The file that an import of one file names.
    pub(super) fn included_file(&self, from: FileDoc, import: &Import, path: &str) -> Found {
        let target = match self.path_of_import(from, import, path) {
            Some(file) => Target::Module(DefRef { file, def: DefIdx::NONE }),
            None => Target::External,
        };
        Found::new(target, Rule::Import)
    }

    /// The file at a path from the folder of the importing file, where the path is such a one.
    fn path_of_import(&self, from: FileDoc, import: &Import, path: &str) -> Option<FileDoc> {
        let own = self.recorder.path(from);
        let base = Some(path.trim_start_matches('/')).filter(|_| import.level == 1)?;
        let base = normalized(&join(dir_of(&own), base))?;
        let found = self.recorder.file(&base).or_else(|| match self.language() {
            Language::Ruby => self.recorder.file(&format!("{base}.rb")),
            _ => None,
        });
        found.filter(|f| *f != from)
    }

    /// The files whose names become visible by imports, over all steps.
    fn included(&self) -> &FxHashSet<FileDoc> {
        self.included.get_or_init(|| {
            let mut out: FxHashSet<FileDoc> = FxHashSet::default();
            let mut todo = vec![self.file];
            let mut next = 0;
            while let Some(&file) = todo.get(next)
                && todo.len() < INCLUDED_MAX
            {
                next += 1;
                let facts = self.observed(file, "*");
                for import in crate::stars(&facts.interface.imports, |_| true) {
                    let found = self.path_of_import(file, import, facts.str(import.module));
                    todo.extend(found.filter(|f| *f != self.file && out.insert(*f)));
                }
            }
            out
        })
    }

    /// A name that a file defines which this one includes.
    pub(super) fn in_included(&self, name: &str, role: Role) -> Found {
        let (group, is_plain) = match self.language() {
            Language::Ruby => ("ruby", name.starts_with(char::is_uppercase)),
            _ => ("sh", true),
        };
        if !is_plain {
            return Found::nothing();
        }
        let included = self.included();
        if included.is_empty() {
            return Found::nothing();
        }
        let mut all: Vec<DefRef> = Vec::new();
        for &file in self.recorder.find(Key::any(group, name)).iter().filter(|f| included.contains(*f)) {
            let facts = self.facts_of(file);
            let mut defs = self.named(file, name);
            defs.retain(|d| facts.def(*d).parent == DefIdx::NONE && facts.def(*d).receiver.is_none());
            if let Some(Found { target: Target::Defs(defs), .. }) = self.best(file, defs, role, Rule::Import)
            {
                all.extend(defs);
            }
        }
        match all[..] {
            [] => Found::nothing(),
            _ if all.len() > EQUALS_MAX => Found::new(Target::Value, Rule::Scope),
            _ => Found::new(Target::Defs(all), Rule::Import),
        }
    }

    /// `require "a.b"`: `a/b.lua` or `a/b/init.lua` in a folder around the file, in `lua` or `src` there.
    pub(super) fn lua_module(&self, path: &str) -> Found {
        let path = path.replace('.', "/");
        let mut dirs = ancestors(dir_of(self.path));
        let found = dirs.find_map(|dir| {
            ["", "lua", "src"].iter().find_map(|s| {
                let base = join(&join(dir, s), &path);
                [".lua", "/init.lua"].iter().find_map(|e| self.recorder.file(&format!("{base}{e}")))
            })
        });
        match found.filter(|f| *f != self.file) {
            Some(file) => Found::new(Target::Module(DefRef { file, def: DefIdx::NONE }), Rule::Inferred),
            None => Found::new(Target::External, Rule::Import),
        }
    }

    /// A function of a module of Lua: of the table that its file gives functions to, where that is one.
    pub(super) fn lua_member(&self, place: DefRef, name: &str, role: Role) -> Found {
        let facts = self.facts_of(place.file);
        let unknown = Found::new(Target::Value, Rule::Scope);
        let Some(table) = facts.interface.package.map(|p| facts.str(p)) else { return unknown };
        self.observed(place.file, &format!("{table}.{name}"));
        let mut all = self.named(place.file, name);
        all.retain(|d| facts.def(*d).receiver.is_some());
        self.best(place.file, all, role, Rule::Inferred).unwrap_or(unknown)
    }
}
