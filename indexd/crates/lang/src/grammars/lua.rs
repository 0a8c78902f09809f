//! Lua.

use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::{DefFlags, Language};

/// Where names are bound and used.
const SCOPES: Scopes = Scopes {
    functions: &["function_declaration", "function_definition"],
    blocks: &[
        "do_statement",
        "while_statement",
        "repeat_statement",
        "if_statement",
        "elseif_statement",
        "else_statement",
        "for_statement",
    ],
    binds: &[
        ("parameters", ""),
        ("variable_declaration", "variable_list"),
        ("variable_declaration", "assignment_statement"),
        ("for_generic_clause", "variable_list"),
        ("for_numeric_clause", "name"),
    ],
    names: &["identifier"],
    members: &[("dot_index_expression", "table", "field"), ("method_index_expression", "table", "method")],
    calls: &[("function_call", "name")],
    labels: &[("field", "", "name")],
    has_plain_locals: true,
    ..Scopes::NONE
};

/// Lua.
pub(super) const LUA: Grammar = Grammar {
    defines: &[
        Define::new("function_declaration", Function),
        Define::new("assignment_statement", Variable)
            .at(&["variable_list", "name"])
            .body(&[])
            .or_function(&["function_definition"]),
        Define::new("field", Field).body(&[]).or_function(&["function_definition"]),
    ],
    comments: &["comment"],
    imports: &[("function_call", Written::Call(&["require", "dofile"]))],
    exported: Exported::Without(&["local"]),
    marks: |_, _, rule| flag_if(rule.kind == "field", DefFlags::OF_VALUE),
    scopes: Some(&SCOPES),
    ..Grammar::new(Language::Lua, || tree_sitter_lua::LANGUAGE.into())
};
