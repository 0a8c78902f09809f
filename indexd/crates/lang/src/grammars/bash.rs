//! Shell scripts.

use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::Language;

/// What is used: commands.
const SCOPES: Scopes = Scopes {
    names: &["command_name"],
    calls: &[("command", "name")],
    has_plain_locals: true,
    words: &[
        ("command", Words::Shell),
        ("declaration_command", Words::Shell),
        ("unset_command", Words::Shell),
    ],
    ..Scopes::NONE
};

/// Shell scripts.
pub(super) const BASH: Grammar = Grammar {
    defines: &[
        Define::new("function_definition", Function),
        Define::new("variable_assignment", Variable).body(&["value"]),
    ],
    comments: &["comment"],
    imports: &[("command", Written::Call(&["source", "."]))],
    scopes: Some(&SCOPES),
    ..Grammar::new(Language::Bash, || tree_sitter_bash::LANGUAGE.into())
};
