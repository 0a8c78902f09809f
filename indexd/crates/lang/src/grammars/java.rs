//! Java.

use super::kinds::FIRST;
use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::Language;

/// Where names are bound and used.
const SCOPES: Scopes = Scopes {
    functions: &[
        "method_declaration",
        "constructor_declaration",
        "compact_constructor_declaration",
        "lambda_expression",
    ],
    blocks: &[
        "block",
        "for_statement",
        "enhanced_for_statement",
        "catch_clause",
        "try_with_resources_statement",
        "class_declaration",
        "interface_declaration",
        "record_declaration",
        "switch_block",
    ],
    binds: &[
        ("local_variable_declaration", "declarator"),
        ("formal_parameter", "name"),
        ("spread_parameter", "variable_declarator"),
        ("catch_formal_parameter", "name"),
        ("enhanced_for_statement", "name"),
        ("resource", "name"),
        ("inferred_parameters", ""),
        ("lambda_expression", "identifier"),
        ("type_pattern", "identifier"),
        ("record_pattern_component", "identifier"),
        ("type_parameter", FIRST),
    ],
    names: &["identifier", "this"],
    types: &["type_identifier"],
    members: &[("field_access", "object", "field"), ("scoped_identifier", "scope", "name")],
    methods: &[("method_invocation", "object", "name")],
    calls: &[("object_creation_expression", "type")],
    chains: &["scoped_type_identifier", "method_reference"],
    through: &["generic_type"],
    bases: &["superclass", "super_interfaces", "extends_interfaces"],
    passed: &["import_declaration", "package_declaration"],
    has_plain_locals: true,
    ..Scopes::NONE
};

/// Java.
pub(super) const JAVA: Grammar = Grammar {
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
        Define::new("field_declaration", Variable).at(&["declarator", "name"]).each("declarator").body(&[]),
        Define::new("constant_declaration", Constant)
            .at(&["declarator", "name"])
            .each("declarator")
            .body(&[]),
        Define::new("enum_constant", Constant),
        Define::new("formal_parameter", Variable).in_head(|h| h.around == "record_declaration"),
        Define::new("spread_parameter", Variable)
            .at(&["variable_declarator", "name"])
            .in_head(|h| h.around == "record_declaration"),
    ],
    comments: &["line_comment", "block_comment"],
    imports: &[Imports { kind: "import_declaration", module: Written::Paths(&["import", "static"]) }],
    runs: &["lambda_expression"],
    exported: Exported::Without(&["private"]),
    test_marks: &["@Test", "@ParameterizedTest", "@RepeatedTest", "@TestFactory"],
    packages: &["package_declaration"],
    scopes: Some(&SCOPES),
    ..Grammar::new(Language::Java, || tree_sitter_java::LANGUAGE.into())
};
