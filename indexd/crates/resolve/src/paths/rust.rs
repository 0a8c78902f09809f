//! Modules of Rust: files by `mod`, paths by `use`, packages of the same repository by their manifests.

use super::{Found, Linker, STEPS_MAX, Target};
use indexd_model::facts::{Import, ImportKind};
use indexd_model::path::{ancestors, dir_of, file_name_of, join, normalized};
use indexd_model::roles::is_foreign_data;
use indexd_model::{DefIdx, DefKind, DefRef, Facts, FactsView, FileDoc, Key, Language, Role, Rule};

/// Folders of a package whose files, or folders with a `main.rs`, are crates of their own.
const CRATES: [&str; 4] = ["tests", "examples", "benches", "src/bin"];

/// The folder where the modules of a file lie.
fn modules_dir(path: &str, is_root: bool) -> String {
    let name = file_name_of(path);
    if is_root || matches!(name, "mod.rs" | "lib.rs" | "main.rs") {
        return dir_of(path).to_owned();
    }
    join(dir_of(path), name.strip_suffix(".rs").unwrap_or(name))
}

impl Linker<'_> {
    /// The innermost module of the file around a place.
    pub(super) fn module_around(&self, at: u32) -> DefIdx {
        if self.language() == Language::Rust { self.modules.at(at) } else { DefIdx::NONE }
    }

    /// What `use path` or `mod path;` in a module names.
    pub(super) fn rust_import(
        &self,
        place: DefRef,
        import: &Import,
        path: &str,
        role: Role,
        steps: u32,
    ) -> Found {
        if import.level == 1 {
            let file = (import.scope == DefIdx::NONE).then(|| self.module_file(place.file, path)).flatten();
            return match file {
                Some(file) => Found::new(Target::Module(DefRef { file, def: DefIdx::NONE }), Rule::Import),
                None => Found::nothing(),
            };
        }
        let mut parts = path.split("::").peekable();
        let first = parts.next().unwrap_or("");
        // An import is nothing that its own path could begin with.
        let is_own = import.kind == ImportKind::Module && parts.peek().is_none();
        let mut at = self.first_part(self.module_of(place), first, is_own, steps);
        while let Some(part) = parts.next() {
            let role = if parts.peek().is_none() { role } else { Role::Read };
            at = match at.target {
                Target::Module(module) if part == "super" => self.parent_module(module),
                Target::Module(module) => self.in_module(module, part, role, steps).through(at.rule),
                Target::Defs(defs) => self.member(&defs, part, role, at.rule),
                _ => return at,
            };
        }
        at
    }

    /// A definition or an import inside a function.
    pub(super) fn in_rust_function(&self, def: DefIdx, name: &str, role: Role) -> Option<Found> {
        let locals = self.children_named(def, name);
        if let Some(found) = self.best(self.file, locals, role, Rule::Scope) {
            return Some(found);
        }
        let is_it = |i: &&Import| i.scope == def && i.alias.is_some_and(|a| self.facts.str(a) == name);
        let import = self.facts.interface.imports.iter().find(is_it)?;
        let place = DefRef { file: self.file, def };
        let found = self.rust_import(place, import, self.facts.str(import.module), role, STEPS_MAX);
        Some(found.through(Rule::Import))
    }

    /// The module around a place: a function does not hold the names that paths begin with.
    fn module_of(&self, place: DefRef) -> DefRef {
        let interface = self.interface(place.file);
        let facts = Facts::outside(&interface);
        let mut around = std::iter::successors(place.def.some(), |d| facts.def(*d).parent.some());
        let def = around.find(|d| facts.def(*d).kind == DefKind::Module).unwrap_or(DefIdx::NONE);
        DefRef { def, ..place }
    }

    fn first_part(&self, place: DefRef, first: &str, is_own: bool, steps: u32) -> Found {
        match first {
            "crate" => self.crate_root(place.file),
            "self" => Found::new(Target::Module(place), Rule::Scope),
            "super" => self.parent_module(place),
            _ => {
                let found = if is_own { Found::nothing() } else { self.own_part(place, first, steps) };
                if found.is_nothing() { self.package(place.file, first) } else { found }
            }
        }
    }

    /// A module or type of the same module, by its definition or another import.
    fn own_part(&self, place: DefRef, name: &str, steps: u32) -> Found {
        let interface = self.observed(place.file, name);
        let facts = Facts::outside(&interface);
        let is_def = |d: &DefIdx| facts.def(*d).parent == place.def;
        // An import that begins with its own name leads out of the module.
        let begins = |i: &Import| facts.str(i.module).split("::").next() == Some(name) && i.level == 0;
        let is_import = |i: &Import| i.alias.is_some_and(|a| facts.str(a) == name) && !begins(i);
        if self.named(place.file, name).iter().any(is_def) || interface.imports.iter().any(is_import) {
            return self.in_module(place, name, Role::Type, steps);
        }
        Found::nothing()
    }

    /// The file of `mod name;`.
    fn module_file(&self, file: FileDoc, name: &str) -> Option<FileDoc> {
        let path = self.recorder.path(file);
        let dir = modules_dir(&path, self.is_crate(&path));
        [format!("{name}.rs"), format!("{name}/mod.rs")]
            .iter()
            .find_map(|f| self.recorder.file(&join(&dir, f)))
    }

    /// The folder of the nearest manifest above a file.
    fn package_dir(&self, path: &str) -> Option<String> {
        let mut dirs = ancestors(dir_of(path));
        dirs.find(|d| self.recorder.file(&join(d, "Cargo.toml")).is_some()).map(str::to_owned)
    }

    /// Whether a file is a crate of its own by where it lies.
    fn is_crate(&self, path: &str) -> bool {
        self.package_dir(path).is_some_and(|dir| {
            CRATES.iter().any(|c| dir_of(path) == join(&dir, c)) || path == join(&dir, "build.rs")
        })
    }

    fn crate_root(&self, file: FileDoc) -> Found {
        let path = self.recorder.path(file);
        let Some(dir) = self.package_dir(&path) else { return Found::nothing() };
        if self.is_crate(&path) {
            return Found::new(Target::Module(DefRef { file, def: DefIdx::NONE }), Rule::Scope);
        }
        let own = CRATES.iter().find_map(|c| {
            let inner = path.strip_prefix(&format!("{}/", join(&dir, c)))?;
            let name = inner.split('/').next()?;
            Some(join(&join(&dir, c), &format!("{name}/main.rs")))
        });
        let src = join(&dir, "src");
        let roots = match own {
            Some(main) => vec![main],
            None if *path == *join(&src, "main.rs") => vec![path.to_string()],
            None => vec![join(&src, "lib.rs"), join(&src, "main.rs")],
        };
        match roots.iter().find_map(|r| self.recorder.file(r)) {
            Some(file) => Found::new(Target::Module(DefRef { file, def: DefIdx::NONE }), Rule::Import),
            None => Found::nothing(),
        }
    }

    /// The module around another, by the file that declares it.
    fn parent_module(&self, place: DefRef) -> Found {
        if let Some(def) = place.def.some() {
            let def = Facts::outside(&self.interface(place.file)).def(def).parent;
            let module = self.module_of(DefRef { file: place.file, def });
            return Found::new(Target::Module(module), Rule::Scope);
        }
        let path = self.recorder.path(place.file);
        if self.is_crate(&path) {
            return Found::nothing();
        }
        let stem = file_name_of(&path).strip_suffix(".rs").unwrap_or("");
        let (dir, name) = match stem {
            "mod" => (dir_of(dir_of(&path)), file_name_of(dir_of(&path))),
            stem => (dir_of(&path), stem),
        };
        let beside = ["mod.rs", "lib.rs", "main.rs"].map(|f| join(dir, f));
        let candidates = beside.into_iter().chain([format!("{dir}.rs")]);
        for candidate in candidates {
            let Some(file) = self.recorder.file(&candidate).filter(|f| *f != place.file) else { continue };
            let interface = self.observed(file, name);
            let facts = Facts::outside(&interface);
            let declares = |i: &indexd_model::facts::Import| i.level == 1 && facts.str(i.module) == name;
            if interface.imports.iter().any(declares) {
                return Found::new(Target::Module(DefRef { file, def: DefIdx::NONE }), Rule::Import);
            }
        }
        Found::nothing()
    }

    /// A package of this repository: the one that a file belongs to, or what its manifest says lies in
    /// the tree. What no manifest names is looked for by its name; anything else is outside.
    pub(super) fn package(&self, file: FileDoc, name: &str) -> Found {
        let own = self.package_dir(&self.recorder.path(file)).unwrap_or_default();
        let found = match self.dependency(&own, name) {
            Some(place) => place.and_then(|dir| self.library(&dir)),
            None => {
                let all = self.recorder.find(Key::member("cargo", name));
                let path = |manifest: &FileDoc| self.recorder.path(*manifest);
                let near = |p: &std::sync::Arc<str>| dir_of(p) == own || !is_foreign_data(p, &own);
                let dirs: Vec<_> = all.iter().map(path).filter(near).collect();
                let is_own = |p: &&std::sync::Arc<str>| dir_of(p) == own;
                let one = dirs.iter().find(is_own).or(if dirs.len() == 1 { dirs.first() } else { None });
                one.and_then(|p| self.library(dir_of(p)))
            }
        };
        let module = found.map(|file| Target::Module(DefRef { file, def: DefIdx::NONE }));
        Found::new(module.unwrap_or(Target::External), Rule::Import)
    }

    /// The root of the library of a package.
    fn library(&self, dir: &str) -> Option<FileDoc> {
        self.recorder.file(&join(dir, "src/lib.rs"))
    }

    /// Where the manifest in a folder says that a dependency lies: `Some(None)` outside of the tree. `None`
    /// where it does not name it.
    fn dependency(&self, dir: &str, name: &str) -> Option<Option<String>> {
        let place = self.stated(dir, &format!("needs:{name}"))?;
        let at = |dir: &str, place: &str| normalized(&join(dir, place.strip_prefix("path:")?));
        let above = |before: &str| {
            let stated = format!("{before}{name}");
            ancestors(dir).find_map(|d| Some((d, self.stated(d, &stated)?)))
        };
        let found = at(dir, &place).or_else(|| {
            let (dir, place) = above("shared:").filter(|_| place == "shared")?;
            at(dir, &place)
        });
        Some(found.or_else(|| above("patch:").and_then(|(dir, place)| at(dir, &place))))
    }

    /// What the manifest in a folder states under a name.
    fn stated(&self, dir: &str, name: &str) -> Option<String> {
        let manifest = self.recorder.file(&join(dir, "Cargo.toml"))?;
        let interface = self.interface(manifest);
        let facts = Facts::outside(&interface);
        let is_it = |i: &&Import| i.name.is_some_and(|n| facts.str(n) == name);
        interface.imports.iter().find(is_it).map(|i| facts.str(i.module).to_owned())
    }

    /// The first name of a path that no module knows: `crate`, `super`, a package.
    pub(super) fn rust_root(&self, name: &str, at: u32) -> Found {
        let place = DefRef { file: self.file, def: self.module_around(at) };
        self.first_part(place, name, true, STEPS_MAX)
    }
}
