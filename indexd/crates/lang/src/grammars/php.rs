//! PHP.

use super::kinds::FIRST;
use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::Language;

/// Where names are used; variables have names of their own.
const SCOPES: Scopes = Scopes {
    names: &["name", "qualified_name", "relative_scope", "variable_name"],
    members: &[
        ("member_access_expression", "object", "name"),
        ("nullsafe_member_access_expression", "object", "name"),
        ("scoped_property_access_expression", "scope", "name"),
    ],
    chains: &["class_constant_access_expression"],
    methods: &[
        ("member_call_expression", "object", "name"),
        ("nullsafe_member_call_expression", "object", "name"),
        ("scoped_call_expression", "scope", "name"),
    ],
    calls: &[("function_call_expression", "function"), ("object_creation_expression", FIRST)],
    bases: &["base_clause", "class_interface_clause"],
    passed: &["namespace_use_declaration", "namespace_name", "named_label_statement"],
    has_plain_locals: true,
    words: &[("function_call_expression", Words::Php), ("array_creation_expression", Words::Php)],
    labels: &[("argument", "", "name")],
    ..Scopes::NONE
};

/// PHP.
pub(super) const PHP: Grammar = Grammar {
    defines: &[
        Define::new("class_declaration", Class),
        Define::new("interface_declaration", Interface),
        Define::new("trait_declaration", Class),
        Define::new("enum_declaration", Enum),
        Define::new("function_definition", Function),
        Define::new("method_declaration", Function),
        Define::new("property_declaration", Variable)
            .at(&["property_element", "name", "name"])
            .each("property_element")
            .body(&[]),
        Define::new("property_promotion_parameter", Variable).at(&["name", "name"]).in_head(|_| true),
        Define::new("const_declaration", Constant)
            .at(&["const_element", "name"])
            .each("const_element")
            .body(&[]),
        Define::new("enum_case", Constant).body(&[]),
    ],
    comments: &["comment"],
    imports: &[
        ("namespace_use_declaration", Written::Paths(&["use", "function", "const"])),
        ("require_once_expression", Written::Quoted),
        ("require_expression", Written::Quoted),
        ("include_once_expression", Written::Quoted),
        ("include_expression", Written::Quoted),
    ],
    exported: Exported::Without(&["private"]),
    test_marks: &["#[Test", "@test"],
    packages: &["namespace_definition"],
    scopes: Some(&SCOPES),
    ..Grammar::new(Language::Php, || tree_sitter_php::LANGUAGE_PHP.into())
};
