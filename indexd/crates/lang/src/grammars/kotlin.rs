//! Kotlin.

use super::kinds::FIRST;
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

/// The same text with the annotation at its end blanked out, when the grammar's scanner would look for
/// the end of the annotation and not stop at that of the text; `None` for all others. Such a text ends
/// within an annotation and without a line feed, as does one that is being written.
pub(super) fn closed(text: &str) -> Option<String> {
    let line = text.rfind('\n').map_or(0, |at| at + 1);
    let mut found = text[line..].match_indices('@').map(|(at, _)| line + at);
    let at = found.find(|at| runs_past_end(&text.as_bytes()[*at..]))?;
    let mut out = text[..at].to_owned();
    out.extend(std::iter::repeat_n(' ', text.len() - at - 1));
    out.push('\n');
    Some(out)
}

/// Whether the scanner, on an annotation, comes to the end before a blank that is not in brackets.
fn runs_past_end(annotation: &[u8]) -> bool {
    let mut is_bracketed = false;
    for b in annotation {
        match b {
            b'(' => is_bracketed = true,
            b')' => is_bracketed = false,
            b' ' | b'\t'..=b'\r' if !is_bracketed => return false,
            _ => {}
        }
    }
    true
}
