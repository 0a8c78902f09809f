//! Kotlin.

use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::Language;

/// Kotlin.
pub(super) const KOTLIN: Grammar = Grammar {
    language: Language::Kotlin,
    parser: || tree_sitter_kotlin_ng::LANGUAGE.into(),
    defines: &[
        Define::new("class_declaration", Interface).body(&["class_body"]).with("interface"),
        Define::new("class_declaration", Enum).body(&["enum_class_body"]).with_body(),
        Define::new("class_declaration", Class).body(&["class_body"]),
        Define::new("object_declaration", Class).body(&["class_body"]),
        Define::new("companion_object", Class).named(Name::Word("companion")).body(&["class_body"]),
        Define::new("function_declaration", Function).body(&["function_body"]),
        Define::new("secondary_constructor", Function).named(Name::Word("constructor")).body(&["block"]),
        Define::new("property_declaration", Variable)
            .at(&["variable_declaration", "identifier"])
            .body(&["getter"]),
        Define::new("enum_entry", Constant).at(&["identifier"]).body(&[]),
        Define::new("type_alias", Alias).at(&["type"]).body(&[]),
    ],
    owners: &[],
    wrappers: &[],
    attributes: &[],
    comments: &["line_comment", "block_comment"],
    imports: &[Imports { kind: "import", module: Written::Dotted(&["import"]) }],
    exported: Exported::Without(&["private"]),
    test_marks: &["@Test", "@ParameterizedTest"],
    scopes: None,
};
