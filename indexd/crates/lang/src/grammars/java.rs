//! Java.

use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::Language;

/// Java.
pub(super) const JAVA: Grammar = Grammar {
    language: Language::Java,
    parser: || tree_sitter_java::LANGUAGE.into(),
    defines: &[
        Define::new("class_declaration", Class),
        Define::new("interface_declaration", Interface),
        Define::new("enum_declaration", Enum),
        Define::new("record_declaration", Class),
        Define::new("annotation_type_declaration", Interface),
        Define::new("method_declaration", Function),
        Define::new("constructor_declaration", Function),
        Define::new("compact_constructor_declaration", Function),
        Define::new("annotation_type_element_declaration", Function),
        Define::new("field_declaration", Variable).at(&["declarator", "name"]).body(&[]),
        Define::new("constant_declaration", Constant).at(&["declarator", "name"]).body(&[]),
        Define::new("enum_constant", Constant),
    ],
    owners: &[],
    wrappers: &[],
    attributes: &[],
    comments: &["line_comment", "block_comment"],
    imports: &[Imports { kind: "import_declaration", module: Written::Dotted(&["import", "static"]) }],
    exported: Exported::Without(&["private"]),
    test_marks: &["@Test", "@ParameterizedTest", "@RepeatedTest", "@TestFactory"],
    scopes: None,
};
