//! C++.

use super::kinds::FIRST;
use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::Language;

/// Where names are bound and used.
const SCOPES: Scopes = Scopes {
    functions: &["function_definition", "lambda_expression"],
    blocks: &[
        "compound_statement",
        "for_statement",
        "for_range_loop",
        "catch_clause",
        "if_statement",
        "while_statement",
        "template_declaration",
    ],
    binds: &[
        ("parameter_declaration", "declarator"),
        ("optional_parameter_declaration", "declarator"),
        ("variadic_parameter_declaration", "declarator"),
        ("declaration", "declarator"),
        ("for_range_loop", "declarator"),
        ("lambda_capture_initializer", "left"),
        ("type_parameter_declaration", FIRST),
        ("optional_type_parameter_declaration", "name"),
        ("variadic_type_parameter_declaration", FIRST),
    ],
    names: &["identifier", "namespace_identifier", "this"],
    types: &["type_identifier"],
    members: &[("field_expression", "argument", "field"), ("qualified_identifier", "scope", "name")],
    calls: &[("call_expression", "function"), ("new_expression", "type")],
    through: &["template_function", "template_type"],
    bases: &["base_class_clause"],
    passed: &["preproc_include", "using_declaration", "goto_statement"],
    has_plain_locals: true,
    words: &[("initializer_pair", Words::Fields)],
    has_declared_types: true,
    ..Scopes::NONE
};

/// C++.
pub(super) const CPP: Grammar = Grammar {
    defines: &[
        Define::new("expression_statement", Function).named(Name::Macro).body(&[]).outside().with_body(),
        Define::new("function_definition", Function).named(Name::Macro).outside().with_body(),
        Define::new("function_definition", Function).at(&["declarator"]).with_body(),
        Define::new("declaration", Variable)
            .at(&["declarator"])
            .body(&[])
            .or_function(&["function_declarator"]),
        Define::new("type_definition", Alias).at(&["declarator"]).body(&[]),
        Define::new("struct_specifier", Struct).with_body(),
        Define::new("union_specifier", Struct).with_body(),
        Define::new("enum_specifier", Enum).with_body(),
        Define::new("enumerator", Constant).body(&[]),
        Define::new("field_declaration", Variable)
            .at(&["declarator"])
            .body(&[])
            .or_function(&["function_declarator"]),
        Define::new("preproc_def", Macro).body(&["value"]),
        Define::new("preproc_function_def", Macro).body(&["value"]),
        Define::new("class_specifier", Class).with_body(),
        Define::new("namespace_definition", Module).with_body(),
        Define::new("alias_declaration", Alias).body(&[]),
        Define::new("concept_definition", Type).body(&[]),
    ],
    wrappers: &["template_declaration"],
    comments: &["comment"],
    imports: &[
        Imports { kind: "preproc_include", module: Written::Quoted },
        Imports { kind: "using_declaration", module: Written::Dotted(&["using", "namespace"]) },
    ],
    exported: Exported::Without(&["static"]),
    scopes: Some(&SCOPES),
    ..Grammar::new(Language::Cpp, || tree_sitter_cpp::LANGUAGE.into())
};
