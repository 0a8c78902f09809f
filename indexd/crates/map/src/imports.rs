//! Uses that leave the repository: the functions of outside packages that a file calls.
//!
//! The linker marks the identifiers that name something outside; the imports of the file tell the package.
//! In a repository that is itself the standard library, the same functions are found by their path
//! ([`inside_uses`]).

use crate::known_packages::{self, Touches};
use crate::scan;
use crate::sources::Source;
use indexd_model::facts::ImportKind;
use indexd_model::path::dir_of;
use indexd_model::view::UnresolvedRecord;
use indexd_model::{DefDoc, EdgeKind, Facts, IndexView, Interface, Language, Role, UnresolvedReason};
use std::collections::{BTreeMap, BTreeSet};

/// Limit on the callers of one function that are read.
const CALLERS_MAX: usize = 2_000;

/// A use of something outside the repository.
pub struct Use {
    /// Offset of the identifier.
    pub at: usize,
    /// Its line.
    pub line: u32,
    /// Role of the identifier at this place.
    pub role: Role,
    /// The identifier.
    pub name: String,
    /// The package or module and the name (`os/exec.Command`, `os.path.exists`); `None` for a member of
    /// a value.
    pub full: Option<String>,
    /// The definition around it.
    pub source: DefDoc,
}

/// The uses of a file that leave the repository, with the modules that the file imports.
#[derive(Default)]
pub struct Outside {
    /// Sorted by place.
    pub uses: Vec<Use>,
    /// Modules and packages as written, without versions at their ends.
    pub modules: BTreeSet<String>,
}

impl Outside {
    /// Returns true if the file imports one of these modules.
    pub fn imports(&self, modules: &[&str]) -> bool {
        modules.iter().any(|m| self.modules.contains(*m))
    }
}

/// Reads the uses of a file.
pub fn outside_uses(view: &dyn IndexView, source: &Source, text: &str) -> Outside {
    let interface = view.interface(source.doc);
    let bound = bindings(&interface);
    let modules = modules(&interface);
    let known = |u: UnresolvedRecord| -> Option<Use> {
        let at = u.at as usize;
        if !text.get(at..)?.starts_with(&*u.name) {
            return None;
        }
        let is_builtin = u.reason == UnresolvedReason::Builtin;
        let full = full_name(text, at, &u.name, &bound, is_builtin);
        Some(Use { at, line: u.line, role: u.role, name: u.name.to_string(), full, source: u.source })
    };
    let leaves = |u: &UnresolvedRecord| {
        use UnresolvedReason::{Builtin, Dynamic, External, NotFound, UnknownReceiver};
        u.role != Role::Import
            && matches!(u.reason, External | UnknownReceiver | Builtin | NotFound | Dynamic)
    };
    let uses = view.unresolved(source.doc).into_iter().filter(leaves).filter_map(known).collect();
    Outside { uses, modules }
}

/// The full names that the imported names of a file refer to.
fn bindings(interface: &Interface) -> BTreeMap<String, String> {
    let facts = Facts::outside(interface);
    let mut out = BTreeMap::new();
    for import in interface.imports.iter().filter(|i| i.level == 0) {
        let module = facts.str(import.module);
        let alias = import.alias.map(|a| facts.str(a));
        let name = import.name.map(|n| facts.str(n));
        let (bound, target) = match (interface.language, import.kind, name) {
            (Language::Go, ImportKind::Module, _) => {
                let path = unversioned(module);
                (alias.unwrap_or(package_name(&path)).to_owned(), path)
            }
            // The default export of a script refers to its module.
            (_, ImportKind::Name, Some("default")) => match alias {
                Some(alias) => (alias.to_owned(), plain(module).to_owned()),
                None => continue,
            },
            (_, ImportKind::Name, Some(name)) => {
                (alias.unwrap_or(name).to_owned(), format!("{}.{name}", plain(module)))
            }
            (_, ImportKind::Module, _) => match alias {
                // `import a.b` binds `a`.
                Some(alias) if module.split('.').next() == Some(alias) => {
                    (alias.to_owned(), alias.to_owned())
                }
                Some(alias) => (alias.to_owned(), plain(module).to_owned()),
                None => continue,
            },
            _ => continue,
        };
        out.insert(bound, target);
    }
    out
}

fn modules(interface: &Interface) -> BTreeSet<String> {
    let facts = Facts::outside(interface);
    interface.imports.iter().map(|i| unversioned(plain(facts.str(i.module)))).collect()
}

/// A module of Node.js without its scheme.
fn plain(module: &str) -> &str {
    module.strip_prefix("node:").unwrap_or(module)
}

/// Returns true for `v2` and the like.
pub fn is_version(part: &str) -> bool {
    part.strip_prefix('v').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// An import path without the version at its end: `/v2`, `.v3`.
fn unversioned(path: &str) -> String {
    match path.rsplit_once('/') {
        Some((rest, last)) if is_version(last) => rest.to_owned(),
        Some((rest, last)) => match last.rsplit_once('.') {
            Some((name, version)) if is_version(version) => format!("{rest}/{name}"),
            _ => path.to_owned(),
        },
        None => path.to_owned(),
    }
}

/// The most likely name of a Go package: the last part of its path without `go-`.
fn package_name(path: &str) -> &str {
    let last = path.rsplit('/').next().unwrap_or(path);
    last.strip_prefix("go-").unwrap_or(last)
}

fn full_name(
    text: &str,
    at: usize,
    name: &str,
    bound: &BTreeMap<String, String>,
    is_builtin: bool,
) -> Option<String> {
    let chain = scan::qualifier(text, at)?;
    if chain.is_empty() {
        let own = || is_builtin.then(|| format!("builtins.{name}"));
        return bound.get(name).cloned().or_else(own);
    }
    let (root, rest) = chain.split_once('.').unwrap_or((chain, ""));
    let target = bound.get(root)?;
    let middle = if rest.is_empty() { String::new() } else { format!(".{rest}") };
    Some(format!("{target}{middle}.{name}"))
}

/// Passes calls of known functions of Go's standard library to `found`, where the repository holds that
/// library itself.
pub fn inside_uses(view: &dyn IndexView, found: &mut dyn FnMut(&str, &str, &Use)) {
    for (package, name) in known_packages::go_functions() {
        for def in view.defs_named(name) {
            let record = view.def(def);
            let path = view.path(record.file);
            if dir_of(&path) != package || !path.ends_with(".go") {
                continue;
            }
            for edge in view.edges_to(def, &[EdgeKind::Call], CALLERS_MAX) {
                let site = Source::of(view, view.def(edge.site()).file);
                if !site.is_product_code() || dir_of(&site.path) == package {
                    continue;
                }
                let text = site.text(view);
                for o in edge.occurrences.iter().filter(|o| o.confidence >= 80) {
                    let it = Use {
                        at: o.at as usize,
                        line: o.line,
                        role: o.role,
                        name: name.to_owned(),
                        full: Some(format!("{package}.{name}")),
                        source: edge.site(),
                    };
                    found(&site.path, &text, &it);
                }
            }
        }
    }
}

/// The effect of a use; `None` unless it is known to touch the outside world.
pub fn touches(language: Language, uses: &Outside, it: &Use, text: &str) -> Option<Touches> {
    let is_literal = || text[it.at + it.name.len()..].starts_with('{');
    match (it.role, &it.full) {
        (Role::Call, None) => known_packages::touched_by_member(language, &it.name, &uses.modules),
        (Role::Call | Role::Base, Some(full)) => known_packages::touched_by(language, full, true),
        (Role::Read, Some(full)) => known_packages::touched_by(language, full, false),
        (Role::Type, Some(full)) if is_literal() => known_packages::touched_by(language, full, false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_no_part_of_a_path() {
        for (path, expect, name) in [
            ("github.com/urfave/cli/v2", "github.com/urfave/cli", "cli"),
            ("gopkg.in/yaml.v3", "gopkg.in/yaml", "yaml"),
            ("net/http", "net/http", "http"),
            ("github.com/mattn/go-isatty", "github.com/mattn/go-isatty", "isatty"),
            ("os", "os", "os"),
        ] {
            let found = unversioned(path);
            assert_eq!((found.as_str(), package_name(&found)), (expect, name));
        }
    }
}
