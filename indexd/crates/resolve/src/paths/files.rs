//! Files that bring in all names of another: `require_relative`, sourced scripts,
//! and modules of Lua.

use super::{EQUALS_MAX, Found, Linker, Target};
use indexd_model::facts::Import;
use indexd_model::path::{ancestors, dir_of, join, normalized};
use indexd_model::{DefIdx, DefRef, Facts, FactsView, FileDoc, Key, Language, Role, Rule};
use rustc_hash::FxHashMap;

/// Files that one includes, over all steps.
const INCLUDED_MAX: usize = 100;

impl Linker<'_> {
    /// The file that an import of one file names.
    pub(super) fn included_file(&self, from: FileDoc, import: &Import, path: &str) -> Found {
        let found = self.path_of_import(from, import.level == 1, path);
        let external = Found::new(Target::External, Rule::Import);
        found.map_or(external, |(file, rule)| {
            Found::new(Target::Module(DefRef { file, def: DefIdx::NONE }), rule)
        })
    }

    /// A path from the folder of the importing file is proven.
    fn path_of_import(&self, from: FileDoc, is_local: bool, path: &str) -> Option<(FileDoc, Rule)> {
        let own = self.recorder.path(from);
        if is_local {
            let base = normalized(&join(dir_of(&own), path.trim_start_matches('/')))?;
            let found = self.recorder.file(&base);
            let found = found.or_else(|| match self.language() {
                Language::Ruby => self.recorder.file(&format!("{base}.rb")),
                _ => None,
            });
            if let Some(file) = found.filter(|f| *f != from) {
                return Some((file, Rule::Import));
            }
        }
        None
    }

    /// The files whose names become visible by the imports of a file.
    fn includes_of(&self, file: FileDoc) -> Vec<(FileDoc, Rule)> {
        let interface = self.observed(file, "*");
        let facts = Facts::outside(&interface);
        let all = crate::stars(&interface.imports, |_| true);
        all.filter_map(|i| self.path_of_import(file, i.level == 1, facts.str(i.module))).collect()
    }

    fn included(&self) -> &FxHashMap<FileDoc, Rule> {
        self.included.get_or_init(|| {
            let mut out: FxHashMap<FileDoc, Rule> = FxHashMap::default();
            let mut todo = vec![(self.file, Rule::Import)];
            let mut next = 0;
            while let Some(&(file, by)) = todo.get(next)
                && todo.len() < INCLUDED_MAX
            {
                next += 1;
                for (file, rule) in self.includes_of(file) {
                    let rule = if by.confidence() < rule.confidence() { by } else { rule };
                    if file != self.file && !out.contains_key(&file) {
                        out.insert(file, rule);
                        todo.push((file, rule));
                    }
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
        let mut by = Rule::Import;
        for &file in self.recorder.find(Key::any(group, name)).iter() {
            let Some(&rule) = included.get(&file) else { continue };
            let defs = self.visible(file, name);
            if let Some(Found { target: Target::Defs(defs), .. }) = self.best(file, defs, role, rule) {
                all.extend(defs);
                by = if rule.confidence() < by.confidence() { rule } else { by };
            }
        }
        match all[..] {
            [] => Found::nothing(),
            _ if all.len() > EQUALS_MAX => Found::new(Target::Value, Rule::Scope),
            _ => Found::new(Target::Defs(all), by),
        }
    }

    /// What other files see of a name in a file.
    fn visible(&self, file: FileDoc, name: &str) -> Vec<DefIdx> {
        let interface = self.interface(file);
        let facts = Facts::outside(&interface);
        let is_it = |d: &DefIdx| {
            let def = facts.def(*d);
            def.parent == DefIdx::NONE && def.receiver.is_none()
        };
        self.named(file, name).into_iter().filter(is_it).collect()
    }

    /// `require "a.b"`: `a/b.lua` or `a/b/init.lua` in a folder around the file, in `lua` or `src` there.
    pub(super) fn lua_module(&self, path: &str) -> Found {
        let path = path.replace('.', "/");
        let mut dirs = ancestors(dir_of(&self.path));
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
        let interface = self.interface(place.file);
        let unknown = Found::new(Target::Value, Rule::Scope);
        let Some(table) = interface.package.map(|p| Facts::outside(&interface).str(p).to_owned()) else {
            return unknown;
        };
        let interface = self.observed(place.file, &format!("{table}.{name}"));
        let facts = Facts::outside(&interface);
        let is_it = |d: &DefIdx| facts.def(*d).receiver.is_some();
        let all = self.named(place.file, name).into_iter().filter(is_it).collect();
        self.best(place.file, all, role, Rule::Inferred).unwrap_or(unknown)
    }
}
