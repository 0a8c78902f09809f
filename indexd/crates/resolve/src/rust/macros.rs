//! Macros: by what is written before in the file, by the modules around, by what crates export.

use super::Rust;
use super::modules::{module_of, whole};
use crate::declared::{Found, Linker};
use crate::typed::{DefAt, File};
use indexd_model::facts::{Import, ImportKind};
use indexd_model::{DefFlags, DefIdx, DefKind, Key, Rule};

/// Maximum number of modules that are asked for one macro.
const ASKED_MAX: usize = 64;

/// The modules that were asked for a macro, with its name there. None is asked twice: imports may form cycles.
pub(super) type Asked = Vec<(DefAt, String)>;

impl<'a> Linker<'a, Rust> {
    /// What a name means where a macro is called.
    pub(super) fn macro_named(&mut self, file: File, name: &str, at: u32) -> Found {
        let def = self.scope(crate::declared::Place { file, at });
        let facts = self.facts(file);
        if let Some(found) = self.written_before(file, name, at) {
            return Found::defs([found], Rule::Scope);
        }
        // Imports in the functions and the module around.
        let mut scope = def.some();
        loop {
            let of = DefAt { file, def: scope.unwrap_or(DefIdx::NONE) };
            let is_scope =
                scope.is_none_or(|d| facts.def(d).kind == DefKind::Module || facts.def(d).kind.is_callable());
            if is_scope && let Some(found) = self.macro_in(of, name, &mut Asked::new()) {
                return Found::defs([found], Rule::Import);
            }
            if scope.is_none_or(|d| facts.def(d).kind == DefKind::Module) {
                break;
            }
            scope = scope.and_then(|d| facts.def(d).parent.some());
        }
        match self.macro_around(file, name) {
            Some(found) => Found::defs([found], Rule::Import),
            None => Found::outside(),
        }
    }

    /// The macro that is written in the file before a place, or else the first behind it.
    fn written_before(&mut self, file: File, name: &str, at: u32) -> Option<DefAt> {
        let facts = self.facts(file);
        self.files.record_name(file, name);
        let key = Key::any("rust-macro", name);
        let all = (0..facts.interface.defs.len() as u32).map(DefIdx);
        let is_it = |d: &DefIdx| facts.def(*d).kind == DefKind::Macro && facts.def_name(*d) == name;
        let is_local = facts.interface.provided(key).next().is_none();
        let all: Vec<DefIdx> = if is_local && file != 0 { Vec::new() } else { all.filter(is_it).collect() };
        // One inside a module or a function is seen there only.
        let place = self.scope(crate::declared::Place { file, at });
        let around: Vec<DefIdx> =
            std::iter::successors(place.some(), |d| facts.def(*d).parent.some()).collect();
        let is_seen = |d: &DefIdx| facts.def(*d).parent.some().is_none_or(|p| around.contains(&p));
        let seen: Vec<DefIdx> = all.into_iter().filter(is_seen).collect();
        let rank = |d: &DefIdx| {
            let def = facts.def(*d);
            (def.name_span.start > at, def.flags.has(DefFlags::CONDITIONAL))
        };
        seen.into_iter().min_by_key(rank).map(|def| DefAt { file, def })
    }

    /// A macro that a module has by an import: what another crate exports at its root, a macro of a path.
    pub(super) fn macro_in(&mut self, of: DefAt, name: &str, asked: &mut Asked) -> Option<DefAt> {
        let key = (of, name.to_owned());
        if asked.len() >= ASKED_MAX || asked.contains(&key) || !self.step_through(of.file) {
            return None;
        }
        asked.push(key);
        let facts = self.facts(of.file);
        self.files.record_name(of.file, name);
        let named = |i: &&Import| i.scope == of.def && i.alias.is_some_and(|a| facts.str(a) == name);
        for import in facts.interface.imports.iter().filter(named) {
            if let Some(found) = self.imported_macro_of(of, import, asked) {
                return Some(found);
            }
        }
        self.files.record_name(of.file, "*");
        for import in crate::stars(&facts.interface.imports, |i| i.scope == of.def) {
            let found = self.follow(of, import, crate::declared::Space::Types);
            let Some(m) = self.as_module(&found).filter(|m| *m != of) else { continue };
            if let Some(found) = self.macro_of_module(m, name, asked) {
                return Some(found);
            }
        }
        None
    }

    /// What an import brings, as a macro.
    pub(super) fn imported_macro(&mut self, of: DefAt, import: &Import) -> Option<DefAt> {
        self.imported_macro_of(of, import, &mut Asked::new())
    }

    fn imported_macro_of(&mut self, of: DefAt, import: &Import, asked: &mut Asked) -> Option<DefAt> {
        let facts = self.facts(of.file);
        let path = facts.str(import.module);
        if import.level == 1 {
            return None;
        }
        let (module, name) = match path.rsplit_once("::") {
            Some((module, name)) => (module, name),
            // `pub(crate) use m;` passes on a macro of the file.
            None => return self.own_macro(of.file, path),
        };
        let m = self.module_at(of, module)?;
        self.macro_of_module(m, name, asked)
    }

    /// The module that a path leads to.
    fn module_at(&mut self, of: DefAt, path: &str) -> Option<DefAt> {
        let facts = self.facts(of.file);
        let from = DefAt { def: module_of(&facts, of.def), ..of };
        let mut found: Option<Found> = None;
        for part in path.split("::") {
            let next = match found {
                None => self.first_of_path(from, part),
                Some(found) => self.member_of(&found, part, crate::declared::Space::Types),
            };
            self.as_module(&next)?;
            found = Some(next);
        }
        self.as_module(&found?)
    }

    /// A macro by a path: defined there, imported there, or exported by the crate whose root it is.
    pub(super) fn macro_of_module(&mut self, m: DefAt, name: &str, asked: &mut Asked) -> Option<DefAt> {
        if m.def == DefIdx::NONE
            && self.is_crate(m.file)
            && let Some(found) = self.exported_macro(m.file, name)
        {
            return Some(found);
        }
        self.macro_in(m, name, asked)
            .or_else(|| self.own_macro(m.file, name))
            .or_else(|| self.made_by(m, name))
    }

    fn own_macro(&mut self, file: File, name: &str) -> Option<DefAt> {
        let all = self.files.at_top(file, name);
        let facts = self.facts(file);
        let all = all.into_iter().filter(|d| facts.def(*d).kind == DefKind::Macro);
        let best = all.min_by_key(|d| facts.def(*d).flags.has(DefFlags::CONDITIONAL))?;
        Some(DefAt { file, def: best })
    }

    /// A function that is a procedural macro.
    fn made_by(&mut self, m: DefAt, name: &str) -> Option<DefAt> {
        if m.def != DefIdx::NONE {
            return None;
        }
        let facts = self.facts(m.file);
        self.files.record_name(m.file, name);
        let is_macro = |d: &DefIdx| {
            let def = facts.def(*d);
            // A derive is named by what it derives.
            let named = def.decorators.first().map_or(def.name, |n| match facts.expr(*n).node {
                indexd_model::Node::Name { name, .. } => name,
                _ => def.name,
            });
            def.flags.has(DefFlags::WRAPPED) && facts.str(named) == name
        };
        let mut all = (0..facts.interface.defs.len() as u32).map(DefIdx);
        let at = all.find(is_macro).map(|def| DefAt { def, ..m })?;
        self.files.record(at);
        Some(at)
    }

    /// A macro that a crate exports, from whichever of its files.
    fn exported_macro(&mut self, root: File, name: &str) -> Option<DefAt> {
        let is_it = |l: &Self, d: &DefAt| l.files.def(*d).flags.has(DefFlags::EXPORTED);
        let all = super::members::provided(self, Key::any("rust-macro", name));
        let mut all: Vec<DefAt> = all.into_iter().filter(|d| is_it(self, d)).collect();
        all.sort_by_key(|d| self.files.def(*d).flags.has(DefFlags::CONDITIONAL));
        let found = all.into_iter().find(|d| self.root(d.file) == whole(root))?;
        self.files.record(found);
        Some(found)
    }

    /// A macro that the modules around a file see: their own, and what comes out of the modules that they declare with
    /// `#[macro_use]`.
    fn macro_around(&mut self, file: File, name: &str) -> Option<DefAt> {
        let mut at = whole(file);
        for _ in 0..ASKED_MAX {
            if let Some(found) = self.out_of_modules(at, name, 4) {
                return Some(found);
            }
            let parent = self.parent_of(at)?;
            if parent.file != at.file
                && let Some(found) = self
                    .own_macro(parent.file, name)
                    .or_else(|| self.macro_in(parent, name, &mut Asked::new()))
            {
                return Some(found);
            }
            at = parent;
        }
        None
    }

    fn out_of_modules(&mut self, at: DefAt, name: &str, left: u32) -> Option<DefAt> {
        let left = left.checked_sub(1)?;
        let facts = self.facts(at.file);
        // Whichever modules there are.
        self.files.record_name(at.file, "*");
        let opened = |i: &&Import| i.level == 1 && i.kind == ImportKind::Name;
        for import in facts.interface.imports.iter().filter(opened) {
            self.files.record_name(at.file, facts.str(import.module));
            let Some(file) = self.module_file(at, import) else { continue };
            if let Some(found) =
                self.own_macro(file, name).or_else(|| self.out_of_modules(whole(file), name, left))
            {
                return Some(found);
            }
        }
        None
    }
}
