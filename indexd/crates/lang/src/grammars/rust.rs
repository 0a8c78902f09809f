//! Rust.

use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::Language;

/// Rust.
pub(super) const RUST: Grammar = Grammar {
    language: Language::Rust,
    parser: || tree_sitter_rust::LANGUAGE.into(),
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
    wrappers: &[],
    attributes: &["attribute_item"],
    comments: &["line_comment", "block_comment"],
    imports: &[Imports {
        kind: "use_declaration",
        module: Written::Dotted(&["pub", "pub(crate)", "pub(super)", "use"]),
    }],
    exported: Exported::With(&["pub"]),
    test_marks: &["#[test", "::test]", "::test(", "#[cfg(test)]", "#[rstest"],
    scopes: None,
};
