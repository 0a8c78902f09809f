//! The role of a file.

use crate::unit::{Unit, Units};
use indexd_model::lists::holds;
use indexd_model::view::{DefRecord, FileRecord};
use indexd_model::{DefFlags, Facts, FileRoles, Language};

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
