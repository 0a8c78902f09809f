//! Lua.

use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::Language;

/// Lua.
pub(super) const LUA: Grammar = Grammar {
    language: Language::Lua,
    parser: || tree_sitter_lua::LANGUAGE.into(),
    defines: &[
        Define::new("function_declaration", Function),
        Define::new("assignment_statement", Variable)
            .at(&["variable_list", "name"])
            .body(&[])
            .or_function(&["function_definition"]),
        Define::new("field", Field).body(&[]).or_function(&["function_definition"]),
    ],
    owners: &[],
    wrappers: &[],
    attributes: &[],
    comments: &["comment"],
    imports: &[Imports { kind: "function_call", module: Written::Call(&["require", "dofile"]) }],
    exported: Exported::Without(&["local"]),
    test_marks: &[],
    scopes: None,
};
