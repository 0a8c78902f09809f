//! What a path says about a file, where no index tells it.

use indexd_model::lists::holds;
use indexd_model::path::{extension_of as extension, file_name_of as name};
use indexd_model::roles::{language, path_roles};
use indexd_model::{FileRoles, Language};

pub use indexd_model::path::dir_of as folder;
pub use indexd_model::roles::is_sensitive_name as is_sensitive;

fn has(path: &str, role: FileRoles) -> bool {
    path_roles(path, language(path)).has(role)
}

fn stem(path: &str) -> &str {
    let name = name(path);
    name.split_once('.').map_or(name, |(stem, _)| if stem.is_empty() { name } else { stem })
}

fn has_folder(path: &str, folders: &[&str]) -> bool {
    folder(path).split('/').any(|f| folders.contains(&f))
}

/// Whether it is a test by its name or folder.
pub fn is_test(path: &str) -> bool {
    has(path, FileRoles::TEST)
}

/// Whether it is prose.
pub fn is_doc(path: &str) -> bool {
    has(path, FileRoles::DOC) || matches!(extension(path), "txt" | "html")
}

/// Whether others wrote it or a program did: copies, lock files, generated code, data.
pub fn is_foreign(path: &str) -> bool {
    has(path, FileRoles::VENDORED)
        || has(path, FileRoles::GENERATED)
        || has_folder(path, &["dist"])
        || matches!(extension(path), "svg" | "po" | "csv" | "snap" | "ipynb")
}

/// Whether it concerns configuration or the command line.
pub fn is_config(path: &str) -> bool {
    const NAMES: &str = "config conf settings options flags cli cmd main __main__ cmdline default_settings \
        global_settings pyproject setup";
    holds(NAMES, stem(path))
        || matches!(extension(path), "toml" | "yaml" | "yml" | "ini" | "cfg")
        || has_folder(path, &["config", "commands"])
        || path.starts_with("cmd/")
}

/// Whether it is neither a test nor prose nor made by others.
pub fn is_source(path: &str) -> bool {
    !is_test(path) && !is_doc(path) && !is_foreign(path)
}

/// The mark of a comment up to the end of its line; empty where there is none.
pub fn comment(path: &str) -> &'static str {
    language(path).line_comment()
}

/// The hint of a fence: the identifier of the language, else the extension.
pub fn hint(path: &str) -> &str {
    match (name(path), language(path), extension(path)) {
        ("Dockerfile", ..) => "dockerfile",
        (_, Language::Text, "txt") => "",
        (_, Language::Text, e) if e.chars().all(|c| c.is_ascii_alphanumeric()) => e,
        (_, Language::Text, _) => "",
        (_, language, _) => language.id(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_say_what_a_file_is() {
        for (path, test, doc, config, sensitive) in [
            ("a/retry.go", false, false, false, false),
            ("a/retry_test.go", true, false, false, false),
            ("tests/x.py", true, false, false, false),
            ("README.md", false, true, false, false),
            ("cmd/gh/main.go", false, false, true, false),
            ("pkg/settings.py", false, false, true, false),
            (".env", false, false, false, true),
            (".kube/config", false, false, true, true),
            ("prod.tfstate", false, false, false, true),
            (".env.example", false, false, false, false),
            ("deploy/server.pem", false, false, false, true),
        ] {
            let found = (is_test(path), is_doc(path), is_config(path), is_sensitive(path));
            assert_eq!(found, (test, doc, config, sensitive), "{path}");
        }
        assert_eq!(
            (hint("a.py"), hint("x/Makefile"), hint("a.zig"), hint("LICENSE")),
            ("python", "makefile", "zig", "")
        );
    }
}
