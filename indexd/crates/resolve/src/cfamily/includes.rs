//! Which files one includes, by what the tree holds.

use super::CFamily;
use crate::Use;
use crate::declared::{Linker, Place, Space};
use crate::typed::File;
use indexd_model::facts::{Import, ImportKind};
use indexd_model::path::{dir_of, file_name_of, join, n_common, normalized};
use indexd_model::{
    DefIdx, DefRef, Facts, FactsView, FileDoc, Interface, Key, Links, Role, Rule, UnresolvedReason,
};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Files that one includes, over all steps.
const INCLUDED_MAX: usize = 400;
/// Files of one name that a path may mean.
const NAMED_MAX: usize = 64;

impl Linker<'_, CFamily> {
    /// The file that an include of `from` names: from the folder of the file, which is proven, else one whose path
    /// ends as it is written, in a folder that compile_commands.json names, or the nearest of several.
    pub(super) fn included_file(&self, from: File, is_local: bool, path: &str) -> Option<(FileDoc, Rule)> {
        let (own, doc) = (self.files.loaded.path(from), self.files.loaded.doc(from));
        if is_local {
            let base = normalized(&join(dir_of(own), path.trim_start_matches('/')));
            let found = base.and_then(|b| self.files.view.file(&b));
            if let Some(file) = found.filter(|f| *f != doc) {
                return Some((file, Rule::Import));
            }
        }
        if !is_local && !path.contains('/') && !path.contains('.') {
            return None;
        }
        let path = path.rsplit("../").next().unwrap_or(path).trim_start_matches("./");
        let all = self.files.view.find(Key::any("c-file", file_name_of(path)));
        if all.len() > NAMED_MAX {
            return None;
        }
        let fits = |doc: &&FileDoc| {
            let full = self.files.view.path(**doc);
            let dir = full.strip_suffix(path);
            **doc != self.files.loaded.doc(from) && dir.is_some_and(|d| d.is_empty() || d.ends_with('/'))
        };
        let commands = self.commands(own).map(|doc| self.files.view.interface(doc));
        let is_stated = |full: &str| {
            let dir = full.strip_suffix(path).unwrap_or("").trim_end_matches('/');
            let is_end = |d: &str| d.strip_suffix(dir).is_some_and(|r| r.is_empty() || r.ends_with('/'));
            let states =
                |all: &Interface| all.imports.iter().any(|i| is_end(Facts::outside(all).str(i.module)));
            !dir.is_empty() && commands.as_deref().is_some_and(states)
        };
        let near = |doc: &&FileDoc| {
            let full = self.files.view.path(**doc);
            (is_stated(&full), n_common(&full, own), std::cmp::Reverse(full.len()))
        };
        let best = all.iter().filter(fits).max_by_key(near)?;
        // A plain name in angle brackets is one of the system's, unless the tree has it where headers lie.
        let full = self.files.view.path(*best);
        let is_plain = !is_local && !path.contains('/');
        let is_near = ["include/", "src/", ""].iter().any(|d| full.strip_suffix(path) == Some(d))
            || full.starts_with(dir_of(own))
            || is_stated(&full);
        (!is_plain || is_near).then_some((*best, Rule::Inferred))
    }

    /// The nearest compile_commands.json, whose imports are the folders of headers where it was written.
    fn commands(&self, from: &str) -> Option<FileDoc> {
        let all = self.files.view.find(Key::any("c-commands", ""));
        all.iter().copied().max_by_key(|doc| n_common(&self.files.view.path(*doc), from))
    }

    /// The files whose names become visible by the includes of a file.
    pub(super) fn includes_of(&mut self, file: File) -> Vec<(FileDoc, Rule)> {
        self.files.record_name(file, "*");
        let facts = self.facts(file);
        let all = facts.interface.imports.iter().filter(|i| is_include(i));
        all.filter_map(|i| self.included_file(file, i.level == 1, facts.str(i.module))).collect()
    }

    /// The files that the linked one includes, over all steps, each with the least sure rule on the way.
    pub(super) fn included(&mut self) -> Rc<FxHashMap<FileDoc, Rule>> {
        if let Some(known) = &self.own.included {
            return Rc::clone(known);
        }
        let own = self.files.loaded.doc(0);
        let mut out: FxHashMap<FileDoc, Rule> = FxHashMap::default();
        let mut todo = vec![(0, Rule::Import)];
        let mut next = 0;
        while let Some(&(file, by)) = todo.get(next)
            && todo.len() < INCLUDED_MAX
        {
            next += 1;
            for (doc, rule) in self.includes_of(file) {
                let rule = if by.confidence() < rule.confidence() { by } else { rule };
                if doc != own && !out.contains_key(&doc) {
                    out.insert(doc, rule);
                    todo.push((self.files.open(doc), rule));
                }
            }
        }
        let out = Rc::new(out);
        self.own.included = Some(Rc::clone(&out));
        out
    }

    /// Whether a file includes another one itself.
    pub(super) fn includes(&mut self, file: File, other: FileDoc) -> bool {
        self.includes_of(file).iter().any(|i| i.0 == other)
    }
}

pub(super) fn is_include(import: &Import) -> bool {
    import.kind == ImportKind::All && import.name.is_none()
}

/// Links what includes and `using` declarations name.
pub(super) fn imports(l: &mut Linker<CFamily>, out: &mut Links) {
    let facts = l.facts(0);
    for import in &facts.interface.imports {
        if is_include(import) {
            let found = l.included_file(0, import.level == 1, facts.str(import.module));
            let it = Use { name: import.module, at: import.at, role: Role::Import };
            match found {
                Some((file, rule)) => {
                    crate::emit(facts, it, Ok(vec![DefRef { file, def: DefIdx::NONE }]), rule, out);
                }
                None => crate::emit(facts, it, Err(UnresolvedReason::External), Rule::Import, out),
            }
        } else if let (ImportKind::Name, Some(name)) = (import.kind, import.name) {
            let place = Place { file: 0, at: import.at };
            let path = facts.str(import.module);
            let all = [Space::Types, Space::Calls, Space::Values];
            let found = all
                .into_iter()
                .map(|s| super::names::by_path(l, place, path, s))
                .find(|f| !f.hits.is_empty());
            let it = Use { name, at: import.at, role: Role::Read };
            if let Some(mut found) = found {
                found.hits.truncate(1);
                l.emit(&found, false, it, out);
            }
        }
    }
}
