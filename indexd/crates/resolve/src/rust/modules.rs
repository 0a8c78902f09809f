//! Modules: files by `mod`, what lies around one, crates and their roots by `Cargo.toml`.

use super::Rust;
use crate::declared::{Found, Linker};
use crate::remembered::{remembered, remembered_from};
use crate::typed::{DefAt, File, Type};
use indexd_model::facts::Import;
use indexd_model::path::{ancestors, dir_of, file_name_of, join, normalized};
use indexd_model::roles::is_foreign_data;
use indexd_model::{DefIdx, DefKind, Facts, FactsView, Key};
use std::rc::Rc;

/// Folders of a package whose files, or folders with a `main.rs`, are crates of their own.
const CRATES: [&str; 4] = ["tests", "examples", "benches", "src/bin"];
/// Modules around each other that are followed.
const DEPTH_MAX: usize = 64;

/// A file as a module.
pub(super) fn whole(file: File) -> DefAt {
    DefAt { file, def: DefIdx::NONE }
}

/// The innermost module of a file that is or lies around a definition.
pub(super) fn module_of(facts: &Facts, def: DefIdx) -> DefIdx {
    let mut around = std::iter::successors(def.some(), |d| facts.def(*d).parent.some());
    around.find(|d| facts.def(*d).kind == DefKind::Module).unwrap_or(DefIdx::NONE)
}

impl<'a> Linker<'a, Rust> {
    /// A module as what a name leads to.
    pub(super) fn module_found(&mut self, m: DefAt) -> Found {
        match m.def.some() {
            Some(_) => Found::defs([m], indexd_model::Rule::Scope),
            None => Found::typed(self.types.make(Type::Module(m.file))),
        }
    }

    // ---- packages

    /// The folder of the nearest manifest above a path.
    fn package_dir(&mut self, path: &'a str) -> Option<Rc<str>> {
        remembered(
            self,
            |l| &mut l.own.packages,
            dir_of(path),
            |l| {
                let mut dirs = ancestors(dir_of(path));
                dirs.find(|d| l.files.view.file(&join(d, "Cargo.toml")).is_some()).map(Rc::from)
            },
        )
    }

    /// What the manifest in a folder states under a name.
    fn stated(&self, dir: &str, name: &str) -> Vec<String> {
        let Some(manifest) = self.files.view.file(&join(dir, "Cargo.toml")) else { return Vec::new() };
        let interface = self.files.view.interface(manifest);
        let facts = Facts::outside(&interface);
        let all = interface.imports.iter().filter(|i| i.name.is_some_and(|n| facts.str(n) == name));
        all.map(|i| facts.str(i.module).to_owned()).collect()
    }

    /// The root of the library of the package in a folder.
    fn root_of_library(&self, dir: &str) -> Option<File> {
        let path = self.stated(dir, "target:lib").into_iter().next();
        let file = self.files.view.file(&join(dir, path.as_deref().unwrap_or("src/lib.rs")))?;
        Some(self.files.open(file))
    }

    /// Whether a file is the root of a crate.
    pub(super) fn is_crate(&mut self, file: File) -> bool {
        remembered_from(self, |l| &mut l.own.roots, file, true, |l| l.find_is_crate(file))
    }

    fn find_is_crate(&mut self, file: File) -> bool {
        let path = self.files.loaded.path(file);
        let mut may_be_module = false;
        let is = self.package_dir(path).is_some_and(|dir| {
            let inner = path.strip_prefix(&*dir).unwrap_or(path).trim_start_matches('/');
            let of_folder = |c: &str| {
                let rest = inner.strip_prefix(c).and_then(|r| r.strip_prefix('/'));
                rest.is_some_and(|r| !r.contains('/') || r.split_once('/').is_some_and(|r| r.1 == "main.rs"))
            };
            let is_stated =
                |t: &&str| self.stated(&dir, t).iter().any(|p| normalized(p).as_deref() == Some(inner));
            if matches!(inner, "src/lib.rs" | "src/main.rs" | "build.rs")
                || ["target:lib", "target:root"].iter().any(is_stated)
            {
                return true;
            }
            may_be_module = CRATES.iter().any(|c| of_folder(c));
            may_be_module
        });
        // A file that another one declares is a module of that one.
        is && !(may_be_module && self.declaring(file).is_some())
    }

    /// The module at the root of the crate that a file belongs to.
    pub(super) fn root(&mut self, file: File) -> DefAt {
        let own = whole(file);
        let around = std::iter::successors(Some(own), |at| self.parent_of(*at));
        around.take(DEPTH_MAX + 1).last().unwrap_or(own)
    }

    /// A package of this repository: the one that a file belongs to, or what its manifest says lies in
    /// the tree. What no manifest names is looked for by its name; anything else is outside.
    pub(super) fn package(&mut self, file: File, name: &str) -> Option<File> {
        let path = self.files.loaded.path(file);
        let own = self.package_dir(path).unwrap_or_else(|| Rc::from(""));
        match self.dependency(&own, name) {
            Some(place) => place.and_then(|dir| self.root_of_library(&dir)),
            None if self.is_library_named(&own, name) => self.root_of_library(&own),
            None => {
                let view = self.files.view;
                let all = view.find(Key::member("cargo", name));
                let near = |p: &std::sync::Arc<str>| dir_of(p) == &*own || !is_foreign_data(p, &own);
                let dirs: Vec<_> = all.iter().map(|m| view.path(*m)).filter(near).collect();
                let is_own = |p: &&std::sync::Arc<str>| dir_of(p) == &*own;
                let one = dirs.iter().find(is_own).or(if dirs.len() == 1 { dirs.first() } else { None });
                one.and_then(|p| self.root_of_library(dir_of(p)))
            }
        }
    }

    /// Whether the library of the package in a folder has a name of its own.
    fn is_library_named(&self, dir: &str, name: &str) -> bool {
        self.stated(dir, "target:name").iter().any(|n| n == name)
    }

    /// Whether paths of imports begin at the root of the crate.
    pub(super) fn begins_at_root(&mut self, file: File) -> bool {
        let dir = self.package_dir(self.files.loaded.path(file));
        dir.is_some_and(|dir| !self.stated(&dir, "edition").is_empty())
    }

    /// Where the manifest in a folder says that a dependency lies: `Some(None)` outside of the tree. `None`
    /// where it does not name it.
    fn dependency(&self, dir: &str, name: &str) -> Option<Option<String>> {
        let first = |dir: &str, name: &str| self.stated(dir, name).into_iter().next();
        let place = first(dir, &format!("needs:{name}"))?;
        let at = |dir: &str, place: &str| normalized(&join(dir, place.strip_prefix("path:")?));
        let above = |before: &str| {
            let stated = format!("{before}{name}");
            ancestors(dir).find_map(|d| Some((d, first(d, &stated)?)))
        };
        let found = at(dir, &place).or_else(|| {
            let (dir, place) = above("shared:").filter(|_| place == "shared")?;
            at(dir, &place)
        });
        Some(found.or_else(|| above("patch:").and_then(|(dir, place)| at(dir, &place))))
    }

    // ---- modules

    /// The file of `mod name;` in a module.
    pub(super) fn module_file(&mut self, of: DefAt, import: &Import) -> Option<File> {
        let facts = self.facts(of.file);
        let path = self.files.loaded.path(of.file);
        let name = facts.str(import.module).trim_start_matches("r#");
        let stem = file_name_of(path).strip_suffix(".rs").unwrap_or("");
        let inner =
            indexd_model::names::qualified_name(&facts, module_of(&facts, import.scope)).replace('.', "/");
        let beside = dir_of(path);
        let below = join(beside, stem);
        let is_beside = self.is_crate(of.file) || stem == "mod";
        // A file with a path of its own has its modules beside it.
        let dirs = if is_beside { [beside, &below] } else { [&below, beside] };
        let view = self.files.view;
        let mut found = None;
        for dir in dirs {
            let (dir, names) = match import.name.map(|p| facts.str(p)) {
                Some(path) if inner.is_empty() => (beside.to_owned(), vec![path.to_owned()]),
                Some(path) => (join(dir, &inner), vec![path.to_owned()]),
                None => (join(dir, &inner), vec![format!("{name}.rs"), format!("{name}/mod.rs")]),
            };
            found = names.iter().find_map(|n| view.file(&normalized(&join(&dir, n))?));
            if found.is_some() {
                break;
            }
        }
        found.map(|doc| self.files.open(doc)).filter(|f| *f != of.file)
    }

    /// The module around another: the file that declares it, or its place there.
    pub(super) fn parent_of(&mut self, m: DefAt) -> Option<DefAt> {
        let facts = self.facts(m.file);
        if let Some(def) = m.def.some() {
            return Some(DefAt { def: module_of(&facts, facts.def(def).parent), ..m });
        }
        let find = |l: &mut Self| if l.is_crate(m.file) { None } else { l.declaring(m.file) };
        remembered_from(self, |l| &mut l.own.parents, m.file, None, find)
    }

    /// Where a file is declared as a module.
    fn declaring(&mut self, file: File) -> Option<DefAt> {
        let path = self.files.loaded.path(file);
        let name = match file_name_of(path) {
            "mod.rs" => file_name_of(dir_of(path)),
            name => name.strip_suffix(".rs").unwrap_or(name),
        };
        let mut by_path = None;
        for key in [name, file_name_of(path)] {
            for doc in self.files.view.find(Key::any("rust-mod", key)).iter() {
                let other = self.files.open(*doc);
                let facts = self.facts(other);
                self.files.record_name(other, name);
                for import in facts.interface.imports.iter().filter(|i| i.level == 1 && other != file) {
                    let at = DefAt { file: other, def: module_of(&facts, import.scope) };
                    let is_named = facts.str(import.module).trim_start_matches("r#") == name;
                    if (is_named || import.name.is_some()) && self.module_file(at, import) == Some(file) {
                        match import.name {
                            None => return Some(at),
                            Some(_) => by_path = by_path.or(Some(at)),
                        }
                    }
                }
            }
        }
        by_path
    }
}
