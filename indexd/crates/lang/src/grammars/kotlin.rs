//! Kotlin.

mod rewrite;

use super::kinds::FIRST;
use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::{DefFlags, Language};

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
    words: &[("string_literal", Words::Template), ("multiline_string_literal", Words::Template)],
    ..Scopes::NONE
};

/// Kotlin.
pub(super) const KOTLIN: Grammar = Grammar {
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
        Define::new("class_parameter", Variable).at(&["identifier"]).in_head(|h| h.has_val()),
        Define::new("enum_entry", Constant).at(&["identifier"]).body(&[]),
        Define::new("type_alias", Alias).at(&["type"]).body(&[]),
    ],
    comments: &["line_comment", "block_comment"],
    imports: &[("import", Written::Paths(&["import"]))],
    runs: &["lambda_literal", "anonymous_function", "anonymous_initializer", "getter", "setter"],
    exported: Exported::Without(&["private"]),
    // Extensions are members that a type gets from outside of it.
    marks: |_, before, _| flag_if(before.trim_end().ends_with('.'), DefFlags::OF_VALUE),
    test_marks: &["@Test", "@ParameterizedTest"],
    packages: &["package_header"],
    scopes: Some(&SCOPES),
    rewrites: Some(for_parser),
    ..Grammar::new(Language::Kotlin, || tree_sitter_kotlin_ng::LANGUAGE.into())
};

/// The text for the parser, where it is another than the source.
fn for_parser(text: &str) -> Option<String> {
    let rewritten = rewrite::rewritten(text);
    closed(rewritten.as_deref().unwrap_or(text)).or(rewritten)
}

/// The same text with the annotation at its end blanked out, when the grammar's scanner would look for
/// the end of the annotation and not stop at that of the text; `None` for all others. Such a text ends
/// within an annotation and without a line feed, as does one that is being written.
fn closed(text: &str) -> Option<String> {
    let mut at = text.rfind('\n').map_or(0, |at| at + 1);
    while let Some(begin) = text[at..].find('@').map(|begin| at + begin) {
        match end_of(&text.as_bytes()[begin..]) {
            // Another one that begins before this end stops there or before.
            Some(len) => at = begin + len,
            None => {
                let blanks = std::iter::repeat_n(' ', text.len() - begin - 1);
                return Some(text[..begin].chars().chain(blanks).chain(['\n']).collect());
            }
        }
    }
    None
}

/// Bytes of an annotation to where the scanner stops: at a blank that is not in brackets.
fn end_of(annotation: &[u8]) -> Option<usize> {
    let mut is_bracketed = false;
    annotation.iter().position(|b| {
        match b {
            b'(' => is_bracketed = true,
            b')' => is_bracketed = false,
            _ => {}
        }
        matches!(b, b' ' | b'\t'..=b'\r') && !is_bracketed
    })
}

#[cfg(test)]
mod tests {
    use super::closed;

    #[test]
    fn an_annotation_at_the_end_of_a_text_is_blanked_out() {
        for (text, want) in [
            ("class A\n@B", Some("class A\n \n")),
            ("@a class A(@b(c d", Some("@a class A(     \n")),
            ("@a(b @c d", Some("        \n")),
            ("@a(b @c d) e", None),
            ("@a\n", None),
            ("@a\nclass B", None),
            ("x@é", Some("x  \n")),
        ] {
            assert_eq!(closed(text).as_deref(), want, "{text}");
            assert!(closed(text).is_none_or(|closed| closed.len() == text.len()));
        }
        assert_eq!(closed(&("@".repeat(1 << 20) + " ")), None, "one walk over a long line");
    }
}
