//! Shell scripts.

use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::Language;

/// What is used: commands.
const SCOPES: Scopes = Scopes {
    names: &["command_name"],
    calls: &[("command", "name")],
    has_plain_locals: true,
    ..Scopes::NONE
};

/// Shell scripts.
pub(super) const BASH: Grammar = Grammar {
    language: Language::Bash,
    parser: || tree_sitter_bash::LANGUAGE.into(),
    defines: &[
        Define::new("function_definition", Function),
        Define::new("variable_assignment", Variable).body(&["value"]),
    ],
    owners: &[],
    wrappers: &[],
    attributes: &[],
    comments: &["comment"],
    imports: &[Imports { kind: "command", module: Written::Call(&["source", "."]) }],
    runs: &[],
    exported: Exported::Without(&[]),
    test_marks: &[],
    packages: &[],
    scopes: Some(&SCOPES),
};
