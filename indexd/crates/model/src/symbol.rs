//! Symbol ids: the names under which definitions are known outside a snapshot.
//!
//! A symbol id is `scip:` and a SCIP symbol string (grammar: `scip.proto`, `message Symbol`) with
//! scheme `indexd` and version `.`, so that it survives edits, rebuilds and another machine:
//!
//! - Go: manager `gomod`, the module of the nearest go.mod, the package directory below it as
//!   namespaces (an external test package ends in `_test`), then the descriptors of [`names`];
//! - Python: manager `pip`, the nearest project name, the dotted module as one namespace;
//! - other languages and formats: manager and package `.`, the components of the path as namespaces.
//!
//! Several definitions of one symbol (build variants, overloads in Python, a stub of its module, parts of a
//! class) share an id; overloads of other languages are numbered, `f(+1).` the second. Where a name would be
//! ambiguous there is no id: a wrong one is worse than none.

use crate::facts::{DefFlags, DefIdx, DefKind, Facts, Interface};
use crate::ids::{DefDoc, FileDoc, SymbolId};
use crate::key::Key;
use crate::language::Language;
use crate::names;
use crate::path::{ancestors, dir_of, join, stem_of, tail_of};
use crate::view::{FactsView, IndexView};

/// Manifests that name a Python project, in the order in which they are tried in a folder.
const PYTHON_MANIFESTS: [&str; 3] = ["pyproject.toml", "setup.cfg", "setup.py"];

/// The symbol id of a definition (or of a Python module or Go package, for a file's own handle);
/// `None` where it has none: `init` and `_` of Go, members of anonymous types, sections of equal
/// name. For many definitions of one file, take a [`Namespace`] once.
pub fn symbol_id(view: &dyn IndexView, def: DefDoc) -> Option<SymbolId> {
    def.some()?;
    let record = view.def(def);
    let interface = view.interface(record.file);
    Namespace::of(view, record.file)?.symbol(&interface, record.idx)
}

/// The part of a symbol that all definitions of a file share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// `scip:`, scheme, manager, package, version and namespaces.
    prefix: String,
    /// True if the namespaces themselves name something: a module, a package.
    is_symbol: bool,
    language: Language,
}

impl Namespace {
    /// Finds the namespace of a file; `None` when its definitions cannot be distinguished from another's.
    pub fn of(view: &dyn FactsView, file: FileDoc) -> Option<Self> {
        let (path, interface) = (view.path(file), view.interface(file));
        match interface.language {
            Language::Go => Self::go(view, &path, &interface),
            Language::Python => Some(Self::python(view, &path)),
            language => {
                let mut prefix = package_prefix(".", ".");
                push_namespaces(&mut prefix, &path);
                Some(Self { prefix, is_symbol: false, language })
            }
        }
    }

    /// The symbol of a definition of the file; `DefIdx::NONE` means the module or package.
    pub fn symbol(&self, interface: &Interface, def: DefIdx) -> Option<SymbolId> {
        if def.some().is_none() {
            return self.is_symbol.then(|| SymbolId(self.prefix.clone()));
        }
        let facts = Facts::outside(interface);
        let chain = names::chain(&facts, def);
        if !chain.iter().all(|d| self.is_named(&facts, *d)) {
            return None;
        }
        let mut descriptor = names::descriptor(&facts, def);
        let ordinal = facts.def(def).ordinal;
        if ordinal > 0 && self.tells_overloads() && descriptor.ends_with("().") {
            descriptor.truncate(descriptor.len() - 2);
            descriptor.push_str(&format!("+{ordinal})."));
        }
        Some(SymbolId(format!("{}{descriptor}", self.prefix)))
    }

    /// Returns true if functions of one name in a file are numbered: overloads, by their order.
    fn tells_overloads(&self) -> bool {
        self.language.is_code() && !matches!(self.language, Language::Go | Language::Python)
    }

    /// Returns true if the name of a definition tells it from its siblings.
    fn is_named(&self, facts: &Facts, def: DefIdx) -> bool {
        let d = facts.def(def);
        let name = facts.str(d.name);
        if name.is_empty() || d.flags.has(DefFlags::ANONYMOUS) {
            return false;
        }
        match self.language {
            Language::Go => {
                let is_init = name == "init" && d.kind == DefKind::Function && d.parent.some().is_none();
                // Blocks of one function may each declare a type of the same name.
                name != "_" && !is_init && !(d.flags.has(DefFlags::LOCAL) && has_twin(facts, def))
            }
            Language::Python => true,
            language if language.is_code() => true,
            _ => !has_twin(facts, def),
        }
    }

    fn go(view: &dyn FactsView, path: &str, interface: &Interface) -> Option<Self> {
        let dir = dir_of(path);
        let (root, package) = project(view, dir, &["go.mod"]);
        let is_external = path.ends_with("_test.go")
            && interface.package.is_some_and(|p| Facts::outside(interface).str(p).ends_with("_test"));
        let mut namespaces = below(root, dir).to_owned();
        if is_external {
            if !view.providers(Key::dir("go", &format!("{dir}_test"))).is_empty() {
                return None;
            }
            namespaces.push_str("_test");
        }
        let mut prefix = package_prefix("gomod", &package);
        push_namespaces(&mut prefix, &namespaces);
        Some(Self { prefix, is_symbol: !namespaces.is_empty(), language: Language::Go })
    }

    fn python(view: &dyn FactsView, path: &str) -> Self {
        let (root, package) = project(view, dir_of(path), &PYTHON_MANIFESTS);
        let mut prefix = package_prefix("pip", &package);
        names::push_name(&mut prefix, &python_module(view, root, path));
        prefix.push('/');
        Self { prefix, is_symbol: true, language: Language::Python }
    }
}

/// The dotted module of a Python file below the source root of its project at `root`.
///
/// The source root is the folder above the outermost package (a folder with `__init__.py`). A file
/// outside any package, and one whose module another file has too, gets the dotted path from the
/// project's root (or its `src` folder), which no other file has.
fn python_module(view: &dyn FactsView, root: &str, path: &str) -> String {
    let dir = dir_of(path);
    let source_root = source_root(view, path);
    if source_root != dir || stem_of(path) == "__init__" {
        let module = dotted(below(source_root, path));
        let is_usual = source_root == root || source_root == join(root, "src");
        if is_usual || !has_module_twin(view, path, &module) {
            return module;
        }
    }
    let from_root = below(root, path);
    match from_root.strip_prefix("src/") {
        Some(rest) if view.file_by_path(&join(root, rest)).is_none() => dotted(rest),
        _ => dotted(from_root),
    }
}

/// The folder above the outermost package around a Python file; its own folder outside packages.
fn source_root<'p>(view: &dyn FactsView, path: &'p str) -> &'p str {
    let is_package =
        |d: &str| ["__init__.py", "__init__.pyi"].iter().any(|f| view.file_by_path(&join(d, f)).is_some());
    ancestors(dir_of(path)).find(|d| d.is_empty() || !is_package(d)).unwrap_or("")
}

/// Returns true if a file elsewhere (a stub next to its module is not elsewhere) has the same dotted module.
fn has_module_twin(view: &dyn FactsView, path: &str, module: &str) -> bool {
    let of = module.replace('.', "/");
    view.providers(Key::stem("py", tail_of(&of))).into_iter().any(|other| {
        let other = view.path(other);
        dir_of(&other) != dir_of(path) && dotted(below(source_root(view, &other), &other)) == module
    })
}

/// The dotted module of a path relative to its source root.
fn dotted(path: &str) -> String {
    let path = path.strip_suffix(".pyi").or_else(|| path.strip_suffix(".py")).unwrap_or(path);
    path.strip_suffix("/__init__").unwrap_or(path).replace('/', ".")
}

/// Returns true if a sibling has the same name and kind of descriptor.
fn has_twin(facts: &Facts, def: DefIdx) -> bool {
    let d = facts.def(def);
    let (name, suffix) = (facts.str(d.name), names::suffix(d.kind));
    facts.interface.defs.iter().enumerate().any(|(i, other)| {
        i != def.index()
            && other.parent == d.parent
            && names::suffix(other.kind) == suffix
            && facts.str(other.name) == name
    })
}

/// The nearest folder at or above `dir` with a manifest that names a project, and the name; without one the root
/// and `.`.
fn project<'d>(view: &dyn FactsView, dir: &'d str, manifests: &[&str]) -> (&'d str, String) {
    let named = |d: &'d str| manifests.iter().find_map(|m| Some((d, project_name(view, &join(d, m))?)));
    ancestors(dir).find_map(named).unwrap_or_else(|| ("", ".".to_owned()))
}

/// The project name in the manifest at exactly `path`.
fn project_name(view: &dyn FactsView, path: &str) -> Option<String> {
    let interface = view.interface(view.file_by_path(path)?);
    let name = Facts::outside(&interface).str(interface.package?).to_owned();
    (!name.is_empty()).then_some(name)
}

/// The part of `path` below `root`, which is an ancestor or equal.
fn below<'p>(root: &str, path: &'p str) -> &'p str {
    if root.is_empty() { path } else { path.get(root.len() + 1..).unwrap_or("") }
}

fn push_namespaces(out: &mut String, path: &str) {
    for component in path.split('/').filter(|c| !c.is_empty()) {
        names::push_name(out, component);
        out.push('/');
    }
}

fn package_prefix(manager: &str, package: &str) -> String {
    format!("scip:indexd {manager} {} . ", package.replace(' ', "  "))
}

#[cfg(test)]
mod tests;
