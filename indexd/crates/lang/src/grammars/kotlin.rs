//! Kotlin.

use super::scopes::FIRST;
use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::Language;

/// Where names are bound and used.
const SCOPES: Scopes = Scopes {
    functions: &["function_declaration", "lambda_literal", "anonymous_function", "secondary_constructor"],
    blocks: &[
        "block",
        "for_statement",
        "catch_block",
        "when_expression",
        "class_declaration",
        "object_declaration",
        "getter",
        "setter",
    ],
    binds: &[
        ("parameter", FIRST),
        ("class_parameter", "identifier"),
        ("variable_declaration", FIRST),
        ("catch_block", "identifier"),
        ("type_parameter", "identifier"),
    ],
    names: &["identifier", "this_expression"],
    calls: &[("call_expression", FIRST)],
    through: &["constructor_invocation"],
    chains: &["navigation_expression", "user_type", "callable_reference"],
    bases: &["delegation_specifiers"],
    passed: &["import", "package_header", "label"],
    labels: &[("value_argument", "", FIRST)],
    rebinds: Rebinds::Of("lambda_literal", &["apply", "run", "with"]),
    has_plain_locals: true,
    ..Scopes::NONE
};

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
    imports: &[Imports { kind: "import", module: Written::Paths(&["import"]) }],
    runs: &["lambda_literal", "anonymous_function", "anonymous_initializer", "getter", "setter"],
    exported: Exported::Without(&["private"]),
    test_marks: &["@Test", "@ParameterizedTest"],
    packages: &["package_header"],
    scopes: Some(&SCOPES),
};
