//! The role of a file.

use crate::unit::{Unit, Units};
use indexd_model::lists::holds;
use indexd_model::path::file_name_of;
use indexd_model::view::{DefRecord, FileRecord};
use indexd_model::{DefFlags, Facts, FileRoles, Language};
use serde::{Deserialize, Serialize};

/// The role of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Source that does the work.
    Code,
    /// Tests.
    Test,
    /// Documents.
    Doc,
    /// Configuration and build files.
    Config,
}

/// The role of a file.
pub fn role_of(file: &FileRecord) -> Role {
    role_of_marks(file.roles, file.language)
}

/// The role of a file with these marks.
pub fn role_of_marks(roles: FileRoles, language: Language) -> Role {
    let is = |r| roles.has(r);
    if is(FileRoles::TEST) {
        Role::Test
    } else if is(FileRoles::DOC) || language == Language::Markdown {
        Role::Doc
    } else if is(FileRoles::CONFIG)
        || is(FileRoles::MANIFEST)
        || matches!(
            language,
            Language::GoMod
                | Language::GoWork
                | Language::Toml
                | Language::Yaml
                | Language::Json
                | Language::Ini
                | Language::Make
        )
    {
        Role::Config
    } else {
        Role::Code
    }
}

/// True if the path of a document marks it as a list of changes, such as a changelog.
pub fn is_news(path: &str) -> bool {
    path.split('/').any(|name| {
        let name = name.split('.').next().unwrap_or("");
        let letters: String =
            name.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase()).collect();
        holds("changelog changelogs changes history news releasenotes releases whatsnew", &letters)
    })
}

/// Patterns that set the roles of paths. The first list with a matching pattern decides. `*` matches any
/// characters within a name, `?` one character, `**` any number of folders. A pattern without a slash matches
/// a name in any folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RolePatterns {
    /// Tests.
    pub tests: Vec<String>,
    /// Configuration and build files.
    pub config: Vec<String>,
    /// Documents.
    pub docs: Vec<String>,
}

/// Maximum `**` in one pattern, since each may try every folder of a path.
const ANY_FOLDERS_MAX: usize = 3;

impl RolePatterns {
    /// True if no pattern is set.
    pub fn is_empty(&self) -> bool {
        self.tests.is_empty() && self.config.is_empty() && self.docs.is_empty()
    }

    /// The role marks of a path: the role of the first matching list, else that of `known`.
    pub fn of(&self, path: &str, known: FileRoles) -> FileRoles {
        let lists =
            [(&self.tests, FileRoles::TEST), (&self.config, FileRoles::CONFIG), (&self.docs, FileRoles::DOC)];
        let found = lists.iter().find(|(patterns, _)| patterns.iter().any(|p| matches(p, path)));
        let of_role = FileRoles::TEST.0 | FileRoles::CONFIG.0 | FileRoles::DOC.0 | FileRoles::MANIFEST.0;
        found.map_or(known, |(_, role)| FileRoles(known.0 & !of_role).with(*role))
    }

    /// Checks that every pattern can be matched in bounded time.
    ///
    /// # Errors
    /// The first pattern that cannot.
    pub fn check(&self) -> Result<(), String> {
        let all = self.tests.iter().chain(&self.config).chain(&self.docs);
        let is_wild = |p: &&String| p.split('/').filter(|name| *name == "**").count() > ANY_FOLDERS_MAX;
        match all.clone().find(is_wild) {
            Some(pattern) => Err(format!("{pattern:?} has more than {ANY_FOLDERS_MAX} `**`")),
            None => Ok(()),
        }
    }
}

fn matches(pattern: &str, path: &str) -> bool {
    if !pattern.contains('/') {
        return name_matches(pattern.as_bytes(), file_name_of(path).as_bytes());
    }
    let split = |text: &str| text.split('/').map(str::to_owned).collect::<Vec<_>>();
    folders_match(&split(pattern), &split(path))
}

fn folders_match(pattern: &[String], path: &[String]) -> bool {
    match pattern.split_first() {
        None => path.is_empty(),
        Some((any, rest)) if any == "**" => (0..=path.len()).any(|n| folders_match(rest, &path[n..])),
        Some((name, rest)) => path.split_first().is_some_and(|(first, others)| {
            name_matches(name.as_bytes(), first.as_bytes()) && folders_match(rest, others)
        }),
    }
}

/// Matches a name. A star takes as few characters as possible, then one more after each mismatch.
fn name_matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n, mut star) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(c) if *c == b'?' || *c == name[n] => (p, n) = (p + 1, n + 1),
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    (p, n) = (at + 1, taken + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == b'*')
}

/// Parts of the module names of test frameworks.
const FRAMEWORKS: [&str; 10] =
    ["unittest", "pytest", "testing", "junit", "vitest", "jest", "mocha", "rspec", "minitest", "node:test"];

/// True if a unit in a file without a test path is a test by its content: it has the form of a test, and its
/// file imports a test framework; in Rust it has the attribute of a test.
pub fn is_test_by_content(units: &mut Units, unit: &Unit) -> bool {
    let Some(def) = unit.def.some().map(|d| units.def(d)) else { return false };
    let outer = def.parent.some().map(|p| units.def(p));
    let is_marked = |d: &DefRecord| d.flags.has(DefFlags::TEST);
    if !is_marked(&def) && !outer.is_some_and(|o| is_marked(&o)) {
        return false;
    }
    if units.file(unit.file).language == Language::Rust {
        return is_marked(&def);
    }
    let interface = units.view.interface(unit.file);
    let facts = Facts::outside(&interface);
    let mut modules = interface.imports.iter().map(|i| facts.str(i.module));
    modules.any(|m| FRAMEWORKS.iter().any(|f| m.split(['.', '/', '@']).any(|part| part == *f)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_names_and_paths() {
        for (pattern, path, expect) in [
            ("*_check.py", "a/b/self_check.py", true),
            ("*_check.py", "a/b/self_check.pyc", false),
            ("checks/**", "checks/a/b.go", true),
            ("checks/**", "a/checks/b.go", false),
            ("**/checks/*.go", "checks/b.go", true),
            ("**/checks/*.go", "a/checks/b.go", true),
            ("**/checks/*.go", "a/checks/c/b.go", false),
            ("a/?.go", "a/b.go", true),
            ("a/?.go", "a/bc.go", false),
            ("*a*b*", "xaxxbx", true),
            ("*a*b*", "xbxa", false),
        ] {
            assert_eq!(matches(pattern, path), expect, "{pattern} {path}");
        }
    }

    #[test]
    fn the_first_list_decides() {
        let list = |p: &str| vec![p.to_owned()];
        let rules = RolePatterns { tests: list("*.t"), config: list("conf/**"), docs: list("conf/*.t") };
        assert_eq!(rules.of("conf/a.t", FileRoles::DOC), FileRoles::TEST);
        assert_eq!(rules.of("conf/a.x", FileRoles::TEST), FileRoles::CONFIG);
        assert_eq!(rules.of("a.x", FileRoles::VENDORED), FileRoles::VENDORED);
        assert!(rules.check().is_ok());
        let wild = RolePatterns { docs: list("**/a/**/b/**/c/**"), ..rules };
        assert!(wild.check().is_err());
    }
}
