//! Modules: from a dotted path in an import to a file.
//!
//! No configuration states the source roots, so the tree decides: a root is a folder that is not a package
//! itself and below which the whole dotted path is found. The importing file's own folders come first, then
//! those that look like roots, the nearest before the others; a package with `__init__` comes before a mere
//! folder, as in Python. A name of the standard library, or of a dependency in a manifest around the file, is
//! only looked for around the file. Files are found by the last two components of the path (the only one of a
//! path without a dot), which is one lookup for any number of roots.

use super::Linker;
use super::members::Target;
use super::names::is_stdlib;
use super::types::File;
use crate::remembered::remembered;
use indexd_model::facts::Import;
use indexd_model::path::{ancestors, dir_of, file_name_of, join, n_common, stem_of, tail_of};
use indexd_model::roles::{is_aside, is_foreign_data};
use indexd_model::{FactsView, FileDoc, Key};
use rustc_hash::FxHashMap;

/// The modules that were looked for.
#[derive(Default)]
pub(super) struct Modules<'a> {
    paths: FxHashMap<(File, u16, &'a str), Option<Target>>,
    roots: FxHashMap<(File, Box<str>), Option<String>>,
}

impl<'a> Linker<'a> {
    /// The module that an import names (for `from m import n`: `m`).
    pub(super) fn imported_module(&mut self, from: File, import: &Import) -> Option<Target> {
        let module = self.facts(from).str(import.module);
        self.module(from, import.level, module)
    }

    /// The module `module` as `from` would import it.
    pub(super) fn module(&mut self, from: File, level: u16, module: &'a str) -> Option<Target> {
        remembered(
            self,
            |l| &mut l.modules.paths,
            (from, level, module),
            |l| match level {
                0 => l.absolute(from, module),
                _ => l.relative(from, level, module),
            },
        )
    }

    fn relative(&mut self, from: File, level: u16, module: &str) -> Option<Target> {
        let mut dir = dir_of(self.loaded.path(from));
        for _ in 1..level {
            if dir.is_empty() {
                return None;
            }
            dir = dir_of(dir);
        }
        if module.is_empty() {
            return match self.package_file(dir) {
                Some(f) => Some(Target::Module(f)),
                None => Some(Target::Namespace(self.types.name(dir))),
            };
        }
        self.below(dir, module)
    }

    /// The module at `dir` and the components of `path`, which must be there.
    pub(super) fn below(&mut self, dir: &str, path: &str) -> Option<Target> {
        let full = join(dir, &path.replace('.', "/"));
        match self.module_at(&full) {
            Some(f) => Some(Target::Module(f)),
            None if !self.view.find(Key::dir("py", &full)).is_empty() => {
                Some(Target::Namespace(self.types.name(&full)))
            }
            None => None,
        }
    }

    /// The file of the module whose path without extension (or whose folder) is `full`.
    pub(super) fn module_at(&mut self, full: &str) -> Option<File> {
        // Source before stub, package before module: later entries of this order do not matter once an
        // earlier one is found.
        let found = [".py", ".pyi"].into_iter().find_map(|extension| {
            let package = join(full, &format!("__init__{extension}"));
            self.view.file(&package).or_else(|| self.view.file(&format!("{full}{extension}")))
        });
        found.map(|doc| self.loaded.open(doc))
    }

    /// The `__init__` of a folder.
    pub(super) fn package_file(&mut self, dir: &str) -> Option<File> {
        if dir.is_empty() {
            return self.view.file("__init__.py").map(|d| self.loaded.open(d));
        }
        self.module_at(dir).filter(|f| is_init(self.loaded.path(*f)))
    }

    /// The folder whose submodules a file has: its own for `__init__`, none else.
    pub(super) fn package_dir(&self, file: File) -> Option<&'a str> {
        let path = self.loaded.path(file);
        is_init(path).then(|| dir_of(path))
    }

    fn absolute(&mut self, from: File, module: &str) -> Option<Target> {
        match self.absolute_root(from, module) {
            Some(root) => match self.module_at(&join(&root, &module.replace('.', "/"))) {
                Some(f) => Some(Target::Module(f)),
                None => self.external(module),
            },
            None => self.absolute_folder(from, module),
        }
    }

    fn external(&mut self, module: &str) -> Option<Target> {
        Some(Target::External(self.types.name(module)))
    }

    /// The module that `import a.b.c` binds as `a`.
    pub(super) fn top_module(&mut self, from: File, module: &'a str) -> Option<Target> {
        let Some((top, _)) = module.split_once('.') else { return self.module(from, 0, module) };
        match self.absolute_root(from, module) {
            Some(root) => match self.module_at(&join(&root, top)) {
                Some(f) => Some(Target::Module(f)),
                None => Some(Target::Namespace(self.types.name(&join(&root, top)))),
            },
            None => self.module(from, 0, top),
        }
    }

    /// The folder from which the whole path is found.
    fn absolute_root(&mut self, from: File, module: &str) -> Option<String> {
        remembered(self, |l| &mut l.modules.roots, (from, module.into()), |l| l.find_root(from, module))
    }

    fn find_root(&mut self, from: File, module: &str) -> Option<String> {
        let suffix = module.replace('.', "/");
        let mut best: Option<((u8, usize, usize), String)> = None;
        for &doc in self.view.find(Key::stem("py", tail_of(&suffix))).iter() {
            let path = self.view.path(doc);
            let Some(root) = root_of(module_path(&path), &suffix) else { continue };
            let Some(rank) = self.rank_of(from, module, root, is_init(&path)) else { continue };
            if best.as_ref().is_some_and(|b| (b.0, &*b.1) <= (rank, root)) {
                continue;
            }
            let is_package = !root.is_empty() && self.package_file(root).is_some();
            if !is_package {
                best = Some((rank, root.to_owned()));
            }
        }
        best.map(|b| b.1)
    }

    /// Ranks a root for an import, the lowest best: around the file or looking like a root, with a package
    /// there or a mere folder, far from the file, deep. `None` if it does not fit at all.
    fn rank_of(&mut self, from: File, module: &str, root: &str, is_init: bool) -> Option<(u8, usize, usize)> {
        let own = dir_of(self.loaded.path(from));
        let around = is_around(root, own);
        if is_stdlib(module) && (!around || root != own && self.view.file(&join(root, "os.py")).is_none()) {
            return None;
        }
        let top = module.split('.').next().unwrap_or(module);
        let is_regular = module == top || self.package_file(&join(root, top)).is_some();
        let place = join(root, module);
        let is_proper = || !is_foreign_data(&place, own) && !is_aside(&place, own);
        let class = if around {
            if is_regular { 0 } else { 2 }
        } else if !is_proper() {
            return None;
        } else {
            // Elsewhere, only a package shows that this is not a coincidence.
            let is_package = is_regular && (is_init || module != top);
            class_elsewhere(self.is_source_root(root), is_regular, is_package)?
        };
        if class > 0 && root != own && self.is_needed(own, top) {
            return None;
        }
        let n_common = n_common(&place, self.loaded.path(from));
        Some((class, usize::MAX - n_common, root.len()))
    }

    /// Returns true if a manifest in a folder around names a module's project as a dependency, and no project
    /// of the tree has that name.
    fn is_needed(&self, own: &str, top: &str) -> bool {
        let name = top.to_ascii_lowercase();
        let needs = format!("needs:{name}");
        let is_needing = |doc: &FileDoc| {
            let path = self.view.path(*doc);
            let dir = dir_of(&path);
            let dir = if file_name_of(dir) == "requirements" { dir_of(dir) } else { dir };
            let facts = self.facts(self.loaded.open(*doc));
            is_around(dir, own)
                && facts.interface.imports.iter().any(|i| i.name.is_some_and(|n| facts.str(n) == needs))
        };
        let is_project = |doc: &FileDoc| {
            let path = self.view.path(*doc);
            !is_foreign_data(&path, own) && !is_aside(&path, own)
        };
        let is_ours = || self.view.find(Key::member("pypi", &name)).iter().any(is_project);
        self.view.find(Key::member("needs:pypi", &name)).iter().any(is_needing) && !is_ours()
    }

    /// Returns true if a folder looks like one that holds packages: by its name or by a manifest in it.
    fn is_source_root(&self, root: &str) -> bool {
        matches!(file_name_of(root), "src" | "lib" | "python" | "Lib")
            || ["setup.py", "pyproject.toml", "setup.cfg"]
                .iter()
                .any(|m| self.view.file(&join(root, m)).is_some())
    }

    /// A namespace package: a folder with modules, found from one of the importing file's folders
    /// or from `src` or `lib`.
    fn absolute_folder(&mut self, from: File, module: &str) -> Option<Target> {
        let top = module.split('.').next().unwrap_or(module);
        if is_stdlib(module) || self.is_needed(dir_of(self.loaded.path(from)), top) {
            return self.external(module);
        }
        let suffix = module.replace('.', "/");
        let around = ancestors(dir_of(self.loaded.path(from)));
        for (root, is_around) in around.map(|d| (d, true)).chain([("src", false), ("lib", false)]) {
            let full = join(root, &suffix);
            let is_there = !self.view.find(Key::dir("py", &full)).is_empty();
            if is_there && (!is_around || root.is_empty() || self.package_file(root).is_none()) {
                return Some(Target::Namespace(self.types.name(&full)));
            }
        }
        self.external(module)
    }
}

/// Returns true if a path is that of a package's own module.
fn is_init(path: &str) -> bool {
    stem_of(path) == "__init__"
}

/// The path without extension; for `__init__`, the folder.
fn module_path(path: &str) -> &str {
    if is_init(path) { dir_of(path) } else { path.rsplit_once('.').map_or(path, |p| p.0) }
}

/// Returns the part of `path` before `suffix`, on a component boundary.
fn root_of<'p>(path: &'p str, suffix: &str) -> Option<&'p str> {
    let root = path.strip_suffix(suffix)?;
    if root.is_empty() { Some(root) } else { root.strip_suffix('/') }
}

/// Returns true if `root` is `dir` or a folder around it.
fn is_around(root: &str, dir: &str) -> bool {
    root.is_empty() || dir == root || (dir.starts_with(root) && dir.as_bytes().get(root.len()) == Some(&b'/'))
}

/// The class of a root that is not around the file, 1 the best; `None` where it does not fit.
fn class_elsewhere(is_source_root: bool, is_regular: bool, is_package: bool) -> Option<u8> {
    match (is_source_root, is_regular) {
        (true, true) => Some(1),
        (true, false) => Some(3),
        (false, _) => is_package.then_some(4),
    }
}
