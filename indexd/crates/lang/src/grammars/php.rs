//! PHP.

use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::Language;

/// PHP.
pub(super) const PHP: Grammar = Grammar {
    language: Language::Php,
    parser: || tree_sitter_php::LANGUAGE_PHP.into(),
    defines: &[
        Define::new("class_declaration", Class),
        Define::new("interface_declaration", Interface),
        Define::new("trait_declaration", Class),
        Define::new("enum_declaration", Enum),
        Define::new("function_definition", Function),
        Define::new("method_declaration", Function),
        Define::new("property_declaration", Variable).at(&["property_element", "name", "name"]).body(&[]),
        Define::new("const_declaration", Constant).at(&["const_element", "name"]).body(&[]),
        Define::new("enum_case", Constant).body(&[]),
    ],
    owners: &[],
    wrappers: &[],
    attributes: &[],
    comments: &["comment"],
    imports: &[
        Imports { kind: "namespace_use_declaration", module: Written::Dotted(&["use", "function", "const"]) },
        Imports { kind: "require_once_expression", module: Written::Quoted },
        Imports { kind: "require_expression", module: Written::Quoted },
        Imports { kind: "include_once_expression", module: Written::Quoted },
        Imports { kind: "include_expression", module: Written::Quoted },
    ],
    exported: Exported::Without(&["private"]),
    test_marks: &["#[Test", "@test"],
    scopes: None,
};
