//! C.

use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::Language;

/// Where names are bound and used.
const SCOPES: Scopes = Scopes {
    functions: &["function_definition"],
    blocks: &["compound_statement", "for_statement"],
    binds: &[("parameter_declaration", "declarator"), ("declaration", "declarator")],
    names: &["identifier"],
    types: &["type_identifier"],
    calls: &[("call_expression", "function")],
    passed: &["preproc_include", "goto_statement"],
    prototypes: &["function_declarator"],
    has_plain_locals: true,
    words: &[("initializer_pair", Words::Fields), ("field_expression", Words::Fields)],
    has_declared_types: true,
    ..Scopes::NONE
};

/// C.
pub(super) const C: Grammar = Grammar {
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
    ],
    comments: &["comment"],
    imports: &[Imports { kind: "preproc_include", module: Written::Quoted }],
    exported: Exported::Without(&["static"]),
    scopes: Some(&SCOPES),
    ..Grammar::new(Language::C, || tree_sitter_c::LANGUAGE.into())
};
