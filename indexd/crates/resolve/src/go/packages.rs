//! Packages: from an import path to a folder of the tree.
//!
//! An import is looked for in this order: a local `replace` of the nearest go.mod or go.work, the nearest
//! module itself, any module of the tree whose path is a prefix (workspaces and nested modules), the
//! standard library when the tree is its source. Only a tree without any go.mod is searched by path
//! suffix. Everything else is outside the tree, vendored copies included.

use super::Linker;
use super::names::Entity;
use super::types::DefAt;
use super::universe::is_standard;
use crate::remembered::remembered;
use indexd_model::facts::ImportKind;
use indexd_model::path::{ancestors, dir_of, file_name_of, join, normalized};
use indexd_model::{DefIdx, DefKind, FileDoc, Key, Language};
use rustc_hash::FxHashMap;

/// A package as one file sees it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Package {
    dir: String,
    /// The name of the package clause; files of the folder with another name do not belong.
    clause: String,
    /// The scope of its names, see [`Key::member`].
    pub(super) scope: String,
    /// True if names from `_test.go` files are visible.
    with_tests: bool,
}

impl Package {
    pub(super) fn new(dir: &str, clause: &str, is_external_test: bool, with_tests: bool) -> Self {
        let scope = format!("go:{dir}{}", if is_external_test { "_test" } else { "" });
        Self { dir: dir.to_owned(), clause: clause.to_owned(), scope, with_tests }
    }
}

/// The target of an import path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Target {
    /// A package of the tree; true if the path was followed by rule and not only by its suffix.
    Inside {
        package: u32,
        is_certain: bool,
    },
    Outside,
}

/// A module: its root folder and its path.
#[derive(Clone, Debug)]
struct Module {
    root: String,
    path: String,
    manifest: FileDoc,
}

/// All packages and modules seen so far.
#[derive(Default)]
pub(super) struct Packages<'a> {
    all: Vec<Package>,
    ids: FxHashMap<Package, u32>,
    members: FxHashMap<(u32, &'a str), Option<DefAt>>,
    modules: FxHashMap<String, Option<Module>>,
    targets: FxHashMap<(String, &'a str), Target>,
    clauses: FxHashMap<String, Option<(u32, String)>>,
}

impl Packages<'_> {
    pub(super) fn intern(&mut self, package: Package) -> u32 {
        if let Some(&id) = self.ids.get(&package) {
            return id;
        }
        let id = self.all.len() as u32;
        self.all.push(package.clone());
        self.ids.insert(package, id);
        id
    }

    pub(super) fn get(&self, id: u32) -> &Package {
        &self.all[id as usize]
    }

    pub(super) fn clause(&self, id: u32) -> &str {
        &self.all[id as usize].clause
    }
}

impl<'a> Linker<'a> {
    /// A package-level name of a package.
    pub(super) fn package_member(&mut self, package: u32, name: &'a str) -> Option<DefAt> {
        remembered(self, |l| &mut l.packages.members, (package, name), |l| l.find_in_package(package, name))
    }

    fn find_in_package(&mut self, package: u32, name: &str) -> Option<DefAt> {
        let p = self.packages.get(package);
        let (key, clause, with_tests) = (Key::member(&p.scope, name), p.clause.clone(), p.with_tests);
        self.best(key, |linker, at| {
            let file = linker.file(at.file);
            let def = file.facts.def(at.def);
            def.parent == DefIdx::NONE
                && def.receiver.is_none()
                && file.facts.str(def.name) == name
                && file.clause == clause
                && (with_tests || !file.is_test)
        })
    }

    /// Returns the definition under `key` that `fits`. Those of files in the build win; the others are kept
    /// in `variants`. Further ones that fit as well are kept in `others`.
    pub(super) fn best(&mut self, key: Key, fits: impl Fn(&Self, DefAt) -> bool) -> Option<DefAt> {
        let mut found: Vec<DefAt> = Vec::new();
        for doc in self.view.find(key).iter() {
            let file = self.open(*doc);
            let interface = self.facts(file).interface;
            if interface.language != Language::Go {
                continue;
            }
            for def in interface.provided(key) {
                let at = DefAt { file, def };
                if def != DefIdx::NONE && fits(self, at) {
                    found.push(at);
                }
            }
        }
        let mut variants = Vec::new();
        if found.len() > 1 {
            let (built, not_built): (Vec<DefAt>, Vec<DefAt>) =
                found.iter().partition(|at| self.is_built(at.file));
            if !built.is_empty() {
                (found, variants) = (built, not_built);
                variants.retain(|at| self.may_be_built_with(at.file));
            }
        }
        let first = *found.first()?;
        if !variants.is_empty() {
            let smallest = found.iter().copied().min_by_key(|at| (self.file(at.file).path, at.def));
            self.variants.insert(smallest.unwrap_or(first), variants);
        }
        if found.len() > 1 {
            found.sort_by_key(|at| (self.file(at.file).path, at.def));
            let first = found.remove(0);
            self.others.insert(first, found);
            return Some(first);
        }
        Some(first)
    }

    /// Returns the target of an import path of a file.
    pub(super) fn import(&mut self, file: u32, path: &'a str) -> Target {
        let dir = self.file(file).dir;
        let module = self.module_of(dir);
        let base = if path.starts_with('.') { dir } else { module.as_ref().map_or("", |m| &m.root) };
        let memo = (if self.file(file).is_test { format!("{dir} {base}") } else { base.to_owned() }, path);
        if let Some(known) = self.packages.targets.get(&memo) {
            return known.clone();
        }
        let found = match &module {
            // Neither has source that a use could name: the compiler provides them.
            _ if matches!(path, "C" | "unsafe") => None,
            _ if path.starts_with("./") || path.starts_with("../") => {
                normalized(&join(dir, path)).map(|d| (d, true))
            }
            Some(module) => self.in_modules(module, path).map(|d| (d, true)),
            None => self.by_suffix(file, path).map(|d| (d, false)),
        };
        // An external test sees what the tests of its own package declare.
        let is_own_test = |dir: &str| self.file(file).is_test && self.file(file).dir == dir;
        let with_tests = found.as_ref().is_some_and(|(dir, _)| is_own_test(dir));
        let target = match found
            .and_then(|(dir, is_certain)| Some((self.package_in(&dir, with_tests)?, is_certain)))
        {
            Some((package, is_certain)) => Target::Inside { package, is_certain },
            None => Target::Outside,
        };
        self.packages.targets.insert(memo, target.clone());
        target
    }

    /// The package of a folder as importers see it.
    fn package_in(&mut self, dir: &str, with_tests: bool) -> Option<u32> {
        self.folder(dir)
            .map(|(_, clause)| self.packages.intern(Package::new(dir, &clause, false, with_tests)))
    }

    /// Returns a file that represents the package of a folder, and the name in its package clause: a file of
    /// the build that is not a test, if there is one.
    fn folder(&mut self, dir: &str) -> Option<(u32, String)> {
        remembered(self, |l| &mut l.packages.clauses, dir.to_owned(), |l| l.find_folder(dir))
    }

    fn find_folder(&mut self, dir: &str) -> Option<(u32, String)> {
        let mut best: Option<(u8, u32)> = None;
        for doc in self.view.find(Key::dir("go", dir)).iter() {
            let n = self.open(*doc);
            let file = self.file(n);
            if file.clause.is_empty() || file.clause == "documentation" || file.dir != dir {
                continue;
            }
            let (is_test, is_external) = (file.is_test, file.is_test && file.clause.ends_with("_test"));
            let rank = match (is_external, is_test, self.is_built(n)) {
                (false, false, true) => 0,
                (false, false, false) => 1,
                (false, true, _) => 2,
                (true, ..) => continue,
            };
            if best.is_none_or(|b| rank < b.0) {
                best = Some((rank, n));
            }
            if rank == 0 {
                break;
            }
        }
        best.map(|(_, n)| (n, self.file(n).clause.to_owned()))
    }

    /// The file that an import of a package points at.
    pub(super) fn package_file(&mut self, package: u32) -> Option<u32> {
        let dir = self.packages.get(package).dir.clone();
        self.folder(&dir).map(|f| f.0)
    }

    fn has_folder(&self, dir: &str) -> bool {
        !self.view.find(Key::dir("go", dir)).is_empty()
    }

    /// The nearest module at or above a folder.
    fn module_of(&mut self, dir: &str) -> Option<Module> {
        let find = |l: &mut Self| {
            let is_there = |root| Some((root, l.view.file(&join(root, "go.mod"))?));
            let (root, manifest) = ancestors(dir).find_map(is_there)?;
            let path = l.file(l.open(manifest)).clause.to_owned();
            Some(Module { root: root.to_owned(), path, manifest })
        };
        remembered(self, |l| &mut l.packages.modules, dir.to_owned(), find)
    }

    /// The folder of an import path by the rules of modules; it may not exist.
    fn in_modules(&mut self, module: &Module, path: &str) -> Option<String> {
        let may_be_outside = !is_standard(path);
        let workspace = self.workspace_of(&module.root);
        for prefix in prefixes(path) {
            let rest = path[prefix.len()..].trim_start_matches('/');
            for manifest in std::iter::once(module.manifest).chain(workspace) {
                if let Some(root) = self.replaced(manifest, prefix) {
                    return root.map(|root| join_both(&root, rest));
                }
            }
            if prefix == module.path {
                return Some(join_both(&module.root, rest));
            }
            if may_be_outside && let Some(&manifest) = self.view.find(Key::member("gomod", prefix)).first() {
                let n = self.open(manifest);
                if self.file(n).clause == prefix {
                    return Some(join_both(self.file(n).dir, rest));
                }
            }
        }
        self.in_standard_library(module, path)
    }

    /// Returns the target of a `replace` directive for a module path: a folder, or `Some(None)` outside the
    /// tree.
    fn replaced(&mut self, manifest: FileDoc, path: &str) -> Option<Option<String>> {
        let n = self.open(manifest);
        let (facts, dir) = (self.facts(n), self.file(n).dir);
        let it = facts
            .interface
            .imports
            .iter()
            .find(|i| i.kind == ImportKind::Name && facts.str(i.module) == path)?;
        let to = facts.str(it.name?);
        to.starts_with('.').then(|| normalized(&join(dir, to)))
    }

    /// The go.work at or above a module.
    fn workspace_of(&mut self, root: &str) -> Option<FileDoc> {
        ancestors(root).find_map(|dir| self.view.file(&join(dir, "go.work")))
    }

    /// The source of the standard library imports itself without a prefix.
    fn in_standard_library(&mut self, module: &Module, path: &str) -> Option<String> {
        let mut module = module.clone();
        while module.path != "std" {
            if module.root.is_empty() {
                return None;
            }
            module = self.module_of(dir_of(&module.root))?;
        }
        Some(join_both(&module.root, path)).filter(|dir| self.has_folder(dir))
    }

    /// Without any go.mod: the folder that matches the longest suffix of the path, or the root when
    /// imports of folders in the tree share the path as their prefix.
    fn by_suffix(&mut self, file: u32, path: &str) -> Option<String> {
        if is_standard(path) {
            return None;
        }
        let mut best: Option<(usize, String)> = None;
        for doc in self.view.find(Key::stem("go", file_name_of(path))).iter() {
            let n = self.open(*doc);
            let dir = self.file(n).dir;
            let n_common =
                dir.split('/').rev().zip(path.split('/').rev()).take_while(|(a, b)| a == b).count();
            // Folders above the matched part must not matter: the path ends where the tree begins, or the
            // folder is in a GOPATH.
            let n_dir = dir.split('/').count();
            let n_path = path.split('/').count();
            let is_whole = n_common == n_dir || n_common == n_path;
            if is_whole && !dir.is_empty() && best.as_ref().is_none_or(|b| n_common > b.0) {
                best = Some((n_common, dir.to_owned()));
            }
        }
        match best {
            Some((n_common, dir)) => {
                let prefix = nth_prefix(path, path.split('/').count() - n_common);
                (prefix.is_empty() || self.is_own_prefix(prefix)).then_some(dir)
            }
            None if !self.file(file).dir.is_empty() && self.is_own_prefix(path) => Some(String::new()),
            None => None,
        }
    }

    /// Returns true if most imports below a prefix name folders of the tree: then the prefix names the tree.
    fn is_own_prefix(&mut self, prefix: &str) -> bool {
        let key = Key::member("go-import", prefix);
        let (mut n_inside, mut n_all) = (0usize, 0usize);
        for doc in self.view.find(key).iter().take(64) {
            let n = self.open(*doc);
            let facts = self.facts(n);
            for import in &facts.interface.imports {
                let rest = facts.str(import.module).strip_prefix(prefix).and_then(|r| r.strip_prefix('/'));
                if let Some(rest) = rest {
                    n_all += 1;
                    n_inside += usize::from(self.has_folder(rest));
                }
            }
        }
        n_inside * 2 > n_all
    }

    /// The entity that an import binds.
    pub(super) fn imported(&mut self, file: u32, path: &'a str) -> Entity {
        match self.import(file, path) {
            Target::Inside { package, is_certain } => Entity::Package { package, is_certain },
            Target::Outside => Entity::ExternalPackage(self.types.name(path)),
        }
    }

    /// Returns true if a definition is a type.
    pub(super) fn is_type(&self, at: DefAt) -> bool {
        let kind: DefKind = self.def(at).kind;
        kind.is_type()
    }
}

/// A path and all its prefixes at slashes, longest first.
fn prefixes(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path), |p| p.rfind('/').map(|i| &p[..i]))
}

/// The first `n` components.
fn nth_prefix(path: &str, n: usize) -> &str {
    match n {
        0 => "",
        n => path.match_indices('/').nth(n - 1).map_or(path, |(i, _)| &path[..i]),
    }
}

fn join_both(dir: &str, rest: &str) -> String {
    if rest.is_empty() { dir.to_owned() } else { join(dir, rest) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_paths() {
        let from = |dir, path| normalized(&join(dir, path));
        assert_eq!(from("a/b", "../c/./d"), Some("a/c/d".into()));
        assert_eq!(from("a", ".."), Some(String::new()));
        assert_eq!(from("a", "../.."), None);
        assert_eq!(prefixes("a/b/c").collect::<Vec<_>>(), ["a/b/c", "a/b", "a"]);
        assert_eq!(
            (nth_prefix("a/b/c", 0), nth_prefix("a/b/c", 2), nth_prefix("a/b/c", 3)),
            ("", "a/b", "a/b/c")
        );
    }
}
