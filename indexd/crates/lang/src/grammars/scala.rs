//! Scala.

use super::kinds::FIRST;
use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::{DefFlags, Language};

/// Where names are bound and used.
const SCOPES: Scopes = Scopes {
    functions: &["function_definition", "lambda_expression"],
    blocks: &[
        "block",
        "case_clause",
        "for_expression",
        "class_definition",
        "trait_definition",
        "object_definition",
        "indented_block",
    ],
    binds: &[
        ("parameter", "name"),
        ("class_parameter", "name"),
        ("val_definition", "pattern"),
        ("var_definition", "pattern"),
        ("case_clause", "pattern"),
        ("enumerator", FIRST),
        ("bindings", ""),
        ("binding", "name"),
        ("lambda_expression", "parameters"),
        ("type_parameters", "name"),
    ],
    names: &["identifier"],
    types: &["type_identifier"],
    members: &[("field_expression", "value", "field")],
    calls: &[("call_expression", "function"), ("instance_expression", FIRST)],
    chains: &["stable_identifier", "stable_type_identifier"],
    through: &["generic_type", "generic_function"],
    bases: &["extends_clause"],
    passed: &["import_declaration", "package_identifier"],
    labels: &[("assignment_expression", "arguments", "left")],
    has_constant_patterns: true,
    has_plain_locals: true,
    ..Scopes::NONE
};

/// Scala.
pub(super) const SCALA: Grammar = Grammar {
    defines: &[
        Define::new("class_definition", Class),
        Define::new("object_definition", Class),
        Define::new("package_object", Class),
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
        Define::new("class_parameter", Variable).in_head(|h| h.has_val() || has_word(h.words, &["case"])),
        Define::new("given_definition", Variable),
        Define::new("type_definition", Alias).body(&[]),
    ],
    comments: &["comment", "block_comment"],
    imports: &[("import_declaration", Written::Paths(&["import"]))],
    runs: &["block", "lambda_expression"],
    exported: Exported::Without(&["private"]),
    marks: |is, before, _| flag_if(is.is_type() && has_word(before, &["object"]), DefFlags::STATIC),
    test_marks: &["@Test"],
    packages: &["package_clause"],
    scopes: Some(&SCOPES),
    ..Grammar::new(Language::Scala, || tree_sitter_scala::LANGUAGE.into())
};
