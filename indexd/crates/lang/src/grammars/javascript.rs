//! JavaScript, JSX included.

use super::ecma::FUNCTIONS;
use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::Language;

/// Values that are given to members of modules, functions and prototypes.
pub(super) const VALUES: &[&str] = &["arrow_function", "function_expression", "generator_function", "class"];

/// Where names are bound and used.
pub(super) const SCOPES: Scopes = Scopes {
    functions: &[
        "function_declaration",
        "function_expression",
        "arrow_function",
        "method_definition",
        "generator_function",
        "generator_function_declaration",
        "class_static_block",
    ],
    blocks: &[
        "statement_block",
        "for_statement",
        "for_in_statement",
        "catch_clause",
        "switch_body",
        "class_body",
        "class",
    ],
    binds: &[
        ("variable_declarator", "name"),
        ("formal_parameters", ""),
        ("arrow_function", "parameter"),
        ("catch_clause", "parameter"),
        ("for_in_statement", "left"),
        ("function_declaration", "name"),
        ("generator_function_declaration", "name"),
        ("class_declaration", "name"),
        ("function_expression", "name"),
        ("class", "name"),
        ("generator_function", "name"),
    ],
    hoisted: &["variable_declaration"],
    names: &["identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern"],
    types: &[],
    members: &[("member_expression", "object", "property")],
    calls: &[
        ("call_expression", "function"),
        ("new_expression", "constructor"),
        ("jsx_opening_element", "name"),
        ("jsx_self_closing_element", "name"),
    ],
    bases: &["class_heritage"],
    this: "this",
    this_from: "class_body",
    no_this: &[
        "object",
        "function_expression",
        "function_declaration",
        "generator_function",
        "generator_function_declaration",
    ],
    passed: &["import_statement", "export_clause", "namespace_export", "jsx_closing_element"],
    ..Scopes::NONE
};

/// JavaScript, JSX included.
pub(super) const JAVASCRIPT: Grammar = Grammar {
    shared: &[
        Define::new("function_declaration", Function),
        Define::new("generator_function_declaration", Function),
        Define::new("class_declaration", Class),
        Define::new("class", Class),
        Define::new("class", Class).named(Name::Unnamed("class_body")),
        Define::new("method_definition", Function).in_type(),
        Define::new("assignment_expression", Variable).at(&["left"]).only_function(VALUES),
        Define::new("variable_declarator", Variable).or_function(FUNCTIONS),
        Define::new("shorthand_property_identifier_pattern", Variable).at(&[]).body(&[]),
        Define::new("pair_pattern", Variable).at(&["value"]).body(&[]),
        Define::new("identifier", Variable).at(&[]).body(&[]).within("array_pattern"),
        Define::new("pair", Variable).at(&["key"]).or_function(FUNCTIONS).within("object"),
        Define::new("shorthand_property_identifier", Variable).at(&[]).body(&[]).within("object"),
        Define::new("call_expression", Module)
            .named(Name::Call(&["describe", "context", "suite"]))
            .body(&["arguments"]),
        Define::new("call_expression", Function)
            .named(Name::Call(&["it", "test", "specify"]))
            .body(&["arguments"]),
    ],
    defines: &[
        Define::new("field_definition", Variable).at(&["property"]).or_function(FUNCTIONS),
        Define::new("assignment_expression", Field).at(&["left"]).body(&[]),
        Define::new("assignment_expression", Variable).at(&["left"]).body(&[]),
    ],
    wrappers: &["export_statement", "lexical_declaration", "variable_declaration"],
    runs: &["arrow_function", "function_expression", "generator_function", "class_static_block"],
    attributes: &["decorator"],
    comments: &["comment", "html_comment"],
    imports: &[
        ("import_statement", Written::Ecma),
        ("export_statement", Written::Ecma),
        ("variable_declarator", Written::Ecma),
        ("assignment_expression", Written::Ecma),
        ("call_expression", Written::Ecma),
    ],
    exported: Exported::Outside(&["export"]),
    keys: super::ecma::keys,
    scopes: Some(&SCOPES),
    ..Grammar::new(Language::JavaScript, || tree_sitter_javascript::LANGUAGE.into())
};
