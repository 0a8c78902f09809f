//! Scala.

use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::Language;

/// Scala.
pub(super) const SCALA: Grammar = Grammar {
    language: Language::Scala,
    parser: || tree_sitter_scala::LANGUAGE.into(),
    defines: &[
        Define::new("class_definition", Class),
        Define::new("object_definition", Class),
        Define::new("trait_definition", Interface),
        Define::new("enum_definition", Enum),
        Define::new("simple_enum_case", Constant).body(&[]),
        Define::new("full_enum_case", Constant).body(&[]),
        Define::new("function_definition", Function),
        Define::new("function_declaration", Function),
        Define::new("val_definition", Variable).at(&["pattern"]).body(&["value"]),
        Define::new("var_definition", Variable).at(&["pattern"]).body(&["value"]),
        Define::new("val_declaration", Variable).body(&[]),
        Define::new("var_declaration", Variable).body(&[]),
        Define::new("given_definition", Variable),
        Define::new("type_definition", Alias).body(&[]),
    ],
    owners: &[],
    wrappers: &[],
    attributes: &[],
    comments: &["comment", "block_comment"],
    imports: &[Imports { kind: "import_declaration", module: Written::Dotted(&["import"]) }],
    exported: Exported::Without(&["private"]),
    test_marks: &["@Test"],
    scopes: None,
};
