//! From the text of an import to a file: relative paths, paths of tsconfig.json, packages of the
//! same repository.

use super::Linker;
use super::names::Target;
use crate::recorder::Recorder;
use indexd_model::path::{ancestors, dir_of, file_name_of, join, n_common, normalized};
use indexd_model::roles::{is_aside, is_foreign_data};
use indexd_model::{Facts, FactsView, FileDoc, FileRoles, Key};

/// Possible endings of a path, in the order of TypeScript; a declaration file represents the file that it
/// declares.
const ENDINGS: [&str; 12] =
    [".ts", ".tsx", ".d.ts", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte", ".json"];
/// Endings as written, and what the source of such a file may end in.
const SOURCES: [(&str, &[&str]); 4] = [
    (".js", &[".ts", ".tsx", ".d.ts"]),
    (".jsx", &[".tsx"]),
    (".mjs", &[".mts", ".d.mts"]),
    (".cjs", &[".cts", ".d.cts"]),
];
/// Folders for files that are built from those in `src`.
const BUILT: [&str; 5] = ["dist", "lib", "build", "out", "esm"];
/// Configurations that extend each other.
const EXTENDS_MAX: u32 = 4;

impl Linker<'_> {
    fn recorder(&self) -> &Recorder<'_> {
        self.files.view
    }

    /// The file that `module`, imported by the file at `from`, names.
    pub(super) fn module(&self, from: &str, module: &str) -> Target {
        let module = module.split(['?', '!']).next().unwrap_or(module);
        if module.is_empty() {
            return Target::NotFound;
        }
        if module == "." || module == ".." || module.starts_with("./") || module.starts_with("../") {
            let base = normalized(&join(dir_of(from), module));
            let found = base.and_then(|b| self.at(&b).or_else(|| self.package_at(&b)));
            return found.map_or(Target::NotFound, |doc| Target::Module(self.files.open(doc)));
        }
        let found = self
            .by_config(from, module)
            .or_else(|| self.by_own_imports(from, module))
            .or_else(|| self.by_package(from, module));
        found.map_or(Target::External, |doc| Target::Module(self.files.open(doc)))
    }

    /// A file at a path with one of the usual endings, or the index of a folder.
    fn file_or_index(&self, base: &str) -> Option<FileDoc> {
        for (ending, sources) in SOURCES {
            if let Some(stem) = base.strip_suffix(ending) {
                let found = sources.iter().find_map(|s| self.recorder().file(&format!("{stem}{s}")));
                if found.is_some() {
                    return found;
                }
            }
        }
        let name = file_name_of(base);
        let has_ending = ENDINGS.iter().any(|e| name.ends_with(e));
        has_ending
            .then(|| self.recorder().file(base))
            .flatten()
            .or_else(|| ENDINGS.iter().find_map(|e| self.recorder().file(&format!("{base}{e}"))))
            .or_else(|| {
                ENDINGS[..9].iter().find_map(|e| self.recorder().file(&join(base, &format!("index{e}"))))
            })
    }

    /// The file at a path, or the source that is built to it: `src/a.ts` for `dist/a.js` in the folder of a package.
    fn at(&self, path: &str) -> Option<FileDoc> {
        let source = || {
            let (at, folder) = BUILT.iter().find_map(|b| Some((find_folder(path, b)?, b)))?;
            self.recorder().file(&join(&path[..at], "package.json"))?;
            self.file_or_index(&join(&join(&path[..at], "src"), &path[at + folder.len() + 1..]))
        };
        self.file_or_index(path).or_else(source)
    }

    /// The main file of the package in a folder.
    fn package_at(&self, folder: &str) -> Option<FileDoc> {
        let package = self.recorder().file(&join(folder, "package.json"))?;
        self.by_statement(package, ".").or_else(|| self.file_or_index(&join(folder, "src/index")))
    }

    /// `paths` and `baseUrl` of the nearest configuration.
    fn by_config(&self, from: &str, module: &str) -> Option<FileDoc> {
        let names = ["tsconfig.json", "jsconfig.json"];
        let config = ancestors(dir_of(from))
            .find_map(|dir| names.iter().find_map(|n| self.recorder().file(&join(dir, n))))?;
        self.by_config_at(config, module, EXTENDS_MAX)
    }

    fn by_config_at(&self, config: FileDoc, module: &str, depth: u32) -> Option<FileDoc> {
        let path = self.recorder().path(config);
        let dir = dir_of(&path);
        let stated = self.stated(config);
        let base = stated.iter().find(|s| s.0 == "baseUrl").map_or(".", |s| &s.1);
        let base = normalized(&join(dir, base)).unwrap_or_default();
        for (name, target) in &stated {
            let Some(pattern) = name.strip_prefix("paths:") else { continue };
            if let Some(target) = matched(pattern, target, module)
                && let Some(found) = normalized(&join(&base, &target)).and_then(|p| self.file_or_index(&p))
            {
                return Some(found);
            }
        }
        if stated.iter().any(|s| s.0 == "baseUrl")
            && let Some(found) = normalized(&join(&base, module)).and_then(|p| self.file_or_index(&p))
        {
            return Some(found);
        }
        let depth = depth.checked_sub(1)?;
        // The last of several has precedence.
        let extended = stated.iter().rev().filter(|s| s.0 == "extends");
        let extended = extended.filter_map(|s| self.extended(dir, &s.1));
        // A configuration may only name those in its own folder.
        let beside = |file: &FileDoc| dir_of(&self.recorder().path(*file)) == dir;
        let referred = stated.iter().filter(|s| s.0 == "references");
        let referred = referred.filter_map(|s| self.extended(dir, &s.1)).filter(beside);
        extended.chain(referred).find_map(|config| self.by_config_at(config, module, depth))
    }

    /// The configuration that another one extends: by its path, or one of a package of this repository.
    fn extended(&self, dir: &str, other: &str) -> Option<FileDoc> {
        let at = if other.starts_with('.') {
            normalized(&join(dir, other))?
        } else {
            let (package, rest) = self.package_of(&join(dir, "tsconfig.json"), other)?;
            let path = self.recorder().path(package);
            join(dir_of(&path), if rest.is_empty() { "tsconfig.json" } else { rest })
        };
        let places = [at.clone(), format!("{at}.json"), join(&at, "tsconfig.json")];
        places.iter().find_map(|p| self.recorder().file(p))
    }

    /// `#name` of the nearest package.
    fn by_own_imports(&self, from: &str, module: &str) -> Option<FileDoc> {
        if !module.starts_with('#') {
            return None;
        }
        let package =
            ancestors(dir_of(from)).find_map(|dir| self.recorder().file(&join(dir, "package.json")))?;
        self.by_statement(package, module)
    }

    /// The manifest of the package of this repository that a module begins with, for a file at `from`, and the
    /// rest of the module's name.
    fn package_of<'m>(&self, from: &str, module: &'m str) -> Option<(FileDoc, &'m str)> {
        let n = if module.starts_with('@') { 2 } else { 1 };
        let end = module.match_indices('/').nth(n - 1).map_or(module.len(), |m| m.0);
        let (name, rest) = (&module[..end], module[end..].trim_start_matches('/'));
        let all = self.recorder().find(Key::member("npm", name));
        let mut fitting: Vec<FileDoc> = all.to_vec();
        fitting.retain(|p| {
            let interface = self.recorder().interface(*p);
            let own = interface.package.map(|s| Facts::outside(&interface).str(s).to_owned());
            let is_it = !interface.roles.has(FileRoles::VENDORED) && own.as_deref() == Some(name);
            is_it && self.is_meant(from, *p, name)
        });
        // The nearest of several, else the first.
        let near = |p: &FileDoc| n_common(&self.recorder().path(*p), from);
        let package = fitting.into_iter().rev().max_by_key(near)?;
        Some((package, rest))
    }

    /// A package of this repository, by its name.
    fn by_package(&self, from: &str, module: &str) -> Option<FileDoc> {
        let (package, rest) = self.package_of(from, module)?;
        let path = self.recorder().path(package);
        let dir = dir_of(&path);
        let entry = if rest.is_empty() { ".".to_owned() } else { format!("./{rest}") };
        self.by_statement(package, &entry).or_else(|| {
            let places = if rest.is_empty() { ["src/index", "index"] } else { ["", "src"] };
            places.iter().find_map(|p| self.file_or_index(&normalized(&join(&join(dir, p), rest))?))
        })
    }

    /// Returns true if the package at a manifest may be the one that a file imports by its name. It must not
    /// be test data of others, and its version must be in the range that the importing package asks for, if
    /// both are stated.
    fn is_meant(&self, from: &str, package: FileDoc, name: &str) -> bool {
        let path = self.recorder().path(package);
        if is_foreign_data(&path, from) {
            return false;
        }
        let needs = format!("needs:{name}");
        let mut around =
            ancestors(dir_of(from)).filter_map(|d| self.recorder().file(&join(d, "package.json")));
        let asked = around.find_map(|m| self.stated(m).into_iter().find(|s| s.0 == needs));
        let version = self.stated(package).into_iter().find(|s| s.0 == "version").map(|s| s.1);
        match (asked, version) {
            (None, _) => true,
            (Some((_, asked)), Some(version)) => may_fit(&asked, &version),
            (Some((_, asked)), None) => major(&asked).is_none() || !is_aside(&path, from),
        }
    }

    /// Returns the file that the package at this manifest states for a name.
    fn by_statement(&self, package: FileDoc, name: &str) -> Option<FileDoc> {
        let path = self.recorder().path(package);
        let stated = self.stated(package);
        stated.iter().find_map(|(pattern, target)| {
            let target = normalized(&matched(pattern, target, name)?)?;
            self.at(&join(dir_of(&path), &target))
        })
    }

    /// The statements of a manifest.
    fn stated(&self, manifest: FileDoc) -> Vec<(String, String)> {
        let interface = self.recorder().interface(manifest);
        let facts = Facts::outside(&interface);
        let of = |i: &indexd_model::facts::Import| {
            Some((facts.str(i.name?).to_owned(), facts.str(i.module).to_owned()))
        };
        interface.imports.iter().filter_map(of).collect()
    }
}

/// Returns the offset of a folder of this name in a path.
fn find_folder(path: &str, folder: &str) -> Option<usize> {
    let is_whole =
        |at: &usize| (*at == 0 || path[..*at].ends_with('/')) && path[at + folder.len()..].starts_with('/');
    path.match_indices(folder).map(|m| m.0).find(is_whole)
}

/// Returns true if a version may be in the range asked for: they have the same first number that is not zero.
fn may_fit(asked: &str, version: &str) -> bool {
    let (asked, version) = (major(asked), major(version));
    asked.is_none() || version.is_none() || asked == version
}

/// Returns the first number of a version that is not zero, and its position; `None` if this is not a plain
/// version.
fn major(version: &str) -> Option<(usize, &str)> {
    let version = version.trim_start_matches(['^', '~', '=', 'v', ' ']);
    let mut parts = version.split(['.', '-', ' ']).take(3);
    let (i, number) = parts.by_ref().enumerate().find(|(_, p)| *p != "0")?;
    number.bytes().all(|b| b.is_ascii_digit()).then_some((i, number)).filter(|n| !n.1.is_empty())
}

/// The target of a pattern with at most one `*` that fits `module`.
fn matched(pattern: &str, target: &str, module: &str) -> Option<String> {
    match pattern.split_once('*') {
        None => (pattern == module).then(|| target.to_owned()),
        Some((head, tail)) => {
            let inner = module.strip_prefix(head)?.strip_suffix(tail)?;
            Some(target.replacen('*', inner, 1))
        }
    }
}
