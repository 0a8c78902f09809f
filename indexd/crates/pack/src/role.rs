//! What a file is to a reader.

use indexd_model::view::FileRecord;
use indexd_model::{FileRoles, Language};

/// What a file is to a reader.
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

/// Whether a document tells what changed: one of its path's names says so.
pub fn is_news(path: &str) -> bool {
    path.split('/').any(|name| {
        let name = name.split('.').next().unwrap_or("");
        let letters: String =
            name.chars().filter(char::is_ascii_alphabetic).map(|c| c.to_ascii_lowercase()).collect();
        matches!(
            letters.as_str(),
            "changelog"
                | "changelogs"
                | "changes"
                | "history"
                | "news"
                | "releasenotes"
                | "releases"
                | "whatsnew"
        )
    })
}
