//! Rust.

use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::Language;

/// Where names are bound and used.
const SCOPES: Scopes = Scopes {
    functions: &["function_item", "closure_expression"],
    blocks: &[
        "block",
        "match_arm",
        "for_expression",
        "if_expression",
        "while_expression",
        "impl_item",
        "trait_item",
        "struct_item",
        "enum_item",
        "function_signature_item",
    ],
    binds: &[
        ("let_declaration", "pattern"),
        ("let_condition", "pattern"),
        ("match_arm", "pattern"),
        ("for_expression", "pattern"),
        ("parameter", "pattern"),
        ("closure_parameters", ""),
        ("type_parameter", "name"),
        ("const_parameter", "name"),
    ],
    names: &["identifier", "self", "crate", "super", "shorthand_field_identifier"],
    types: &["type_identifier"],
    members: &[
        ("scoped_identifier", "path", "name"),
        ("scoped_type_identifier", "path", "name"),
        ("field_expression", "value", "field"),
    ],
    calls: &[("call_expression", "function"), ("macro_invocation", "macro"), ("struct_expression", "name")],
    through: &["generic_function", "generic_type_with_turbofish"],
    tokens: &["token_tree"],
    passed: &[
        "use_declaration",
        "attribute_item",
        "inner_attribute_item",
        "macro_definition",
        "label",
        "lifetime",
        "visibility_modifier",
    ],
    has_constant_patterns: true,
    has_plain_locals: true,
    words: &[
        ("field_initializer", Words::Fields),
        ("shorthand_field_initializer", Words::Fields),
        ("field_pattern", Words::Fields),
    ],
    ..Scopes::NONE
};

/// Rust.
pub(super) const RUST: Grammar = Grammar {
    defines: &[
        Define::new("function_item", Function),
        Define::new("function_signature_item", Function),
        Define::new("struct_item", Struct),
        Define::new("enum_item", Enum),
        Define::new("union_item", Struct),
        Define::new("trait_item", Interface),
        Define::new("mod_item", Module).with_body(),
        Define::new("type_item", Alias).body(&[]),
        Define::new("associated_type", Alias).body(&[]),
        Define::new("const_item", Constant).body(&["value"]),
        Define::new("static_item", Variable).body(&["value"]),
        Define::new("macro_definition", Macro).body(&["macro_rule"]),
        Define::new("field_declaration", Field).body(&[]),
        Define::new("enum_variant", Constant).body(&[]),
    ],
    owners: &[("impl_item", "type")],
    attributes: &["attribute_item"],
    comments: &["line_comment", "block_comment"],
    imports: &[
        Imports { kind: "use_declaration", module: Written::Paths(&["pub", "use"]) },
        Imports { kind: "mod_item", module: Written::Module },
    ],
    exported: Exported::With(&["pub"]),
    test_marks: &["#[test", "::test]", "::test(", "#[cfg(test)]", "#[rstest"],
    scopes: Some(&SCOPES),
    ..Grammar::new(Language::Rust, || tree_sitter_rust::LANGUAGE.into())
};
