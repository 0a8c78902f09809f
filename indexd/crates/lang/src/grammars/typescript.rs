//! TypeScript, with JSX and without.

use super::ecma::FUNCTIONS;
use super::javascript;
use super::table::*;
use crate::patch::Patch;
use indexd_model::DefKind::*;
use indexd_model::Language;

/// Where names are bound and used.
const SCOPES: Scopes = Scopes {
    functions: &[
        "function_declaration",
        "function_expression",
        "arrow_function",
        "method_definition",
        "generator_function",
        "generator_function_declaration",
        "class_static_block",
        "function_signature",
        "method_signature",
        "abstract_method_signature",
        "function_type",
        "constructor_type",
        "call_signature",
        "construct_signature",
        "interface_declaration",
        "type_alias_declaration",
        "abstract_class_declaration",
        "class_declaration",
        "conditional_type",
        "internal_module",
        "module",
        "ambient_declaration",
    ],
    binds: &[
        ("variable_declarator", "name"),
        ("arrow_function", "parameter"),
        ("catch_clause", "parameter"),
        ("for_in_statement", "left"),
        ("function_declaration", "name"),
        ("generator_function_declaration", "name"),
        ("class_declaration", "name"),
        ("function_expression", "name"),
        ("class", "name"),
        ("generator_function", "name"),
        ("required_parameter", "pattern"),
        ("optional_parameter", "pattern"),
        ("type_parameter", "name"),
        ("interface_declaration", "name"),
        ("type_alias_declaration", "name"),
        ("enum_declaration", "name"),
        ("abstract_class_declaration", "name"),
        ("mapped_type_clause", "name"),
        ("infer_type", ""),
        ("index_signature", "name"),
        ("internal_module", "name"),
        ("function_signature", "name"),
    ],
    names: &[
        "identifier",
        "shorthand_property_identifier",
        "shorthand_property_identifier_pattern",
        "type_identifier",
    ],
    types: &["type_identifier"],
    members: &[
        ("member_expression", "object", "property"),
        ("nested_type_identifier", "module", "name"),
        ("nested_identifier", "object", "property"),
    ],
    bases: &["class_heritage", "extends_type_clause", "implements_clause"],
    ..javascript::SCOPES
};

/// TypeScript without JSX.
pub(super) const TYPESCRIPT: Grammar = Grammar {
    language: Language::TypeScript,
    parser: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
    defines: &[
        Define::new("function_signature", Function),
        Define::new("abstract_class_declaration", Class),
        Define::new("public_field_definition", Variable).or_function(FUNCTIONS),
        Define::new("interface_declaration", Interface),
        Define::new("type_alias_declaration", Alias).body(&[]),
        Define::new("enum_declaration", Enum),
        Define::new("enum_assignment", Constant).body(&[]),
        Define::new("property_identifier", Constant).at(&[]).body(&[]).within("enum_body"),
        Define::new("required_parameter", Field).at(&["pattern"]).body(&[]),
        Define::new("optional_parameter", Field).at(&["pattern"]).body(&[]),
        Define::new("method_signature", Function),
        Define::new("abstract_method_signature", Function),
        Define::new("property_signature", Variable).body(&[]),
        Define::new("module", Module),
        Define::new("internal_module", Module),
    ],
    wrappers: &["export_statement", "lexical_declaration", "variable_declaration", "ambient_declaration"],
    scopes: Some(&SCOPES),
    rewrites: Some(for_parser),
    ..javascript::JAVASCRIPT
};

/// TypeScript with JSX.
pub(super) const TSX: Grammar =
    Grammar { language: Language::Tsx, parser: || tree_sitter_typescript::LANGUAGE_TSX.into(), ..TYPESCRIPT };

/// The text for a parser that takes `accessor` for a word of the language wherever it stands, and knows neither
/// `in` and `out` before type parameters nor an abstract class without a name. `None` without any of them.
fn for_parser(text: &str) -> Option<String> {
    const WORDS: [&str; 5] = ["accessor", "<in ", "<out ", ", out ", "default abstract class"];
    if !WORDS.iter().any(|w| text.contains(w)) {
        return None;
    }
    let mut out = Patch::new(text);
    names_of_fields(text, &mut out);
    variance(text, &mut out);
    for (at, lead) in text.match_indices("default abstract class") {
        let behind = text[at + lead.len()..].trim_start();
        if ["{", "extends ", "implements "].iter().any(|w| behind.starts_with(w)) {
            out.blank(at + "default ".len()..at + "default abstract".len());
        }
    }
    out.done()
}

/// `accessor` as a name.
fn names_of_fields(text: &str, out: &mut Patch) {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.' | '#');
    for (at, word) in text.match_indices("accessor") {
        let behind = &text[at + word.len()..];
        let is_name = behind.trim_start().starts_with([':', '=', ';', '?', '!', '(', ',', '<', '}']);
        if is_name && !text[..at].ends_with(is_part) && !behind.starts_with(is_part) {
            out.write(at + word.len() - 1, b"_");
        }
    }
}

/// `in` and `out` before a type parameter.
fn variance(text: &str, out: &mut Patch) {
    for lead in ["<in out ", "<in ", "<out ", ", in out ", ", in ", ", out "] {
        for (at, _) in text.match_indices(lead) {
            let behind = &text[at + lead.len()..];
            let name = behind.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("");
            let after = behind[name.len()..].trim_start();
            let is_param = after.starts_with(['>', ',', '=']) || after.starts_with("extends ");
            if is_param && name.starts_with(char::is_uppercase) {
                let from = at + if lead.starts_with('<') { 1 } else { 2 };
                out.blank(from..at + lead.len());
            }
        }
    }
}
