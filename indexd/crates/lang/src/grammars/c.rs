//! C.

use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::Language;

/// C.
pub(super) const C: Grammar = Grammar {
    defines: &[
        Define::new("expression_statement", Function).named(Name::Macro).body(&[]).outside().with_body(),
        Define::new("function_definition", Function).named(Name::Macro).outside().with_body(),
        Define::new("function_definition", Function).at(&["declarator"]).with_body(),
        Define::new("declaration", Variable)
            .at(&["declarator"])
            .each("declarator")
            .body(&[])
            .or_function(&["function_declarator"]),
        Define::new("type_definition", Alias).at(&["declarator"]).body(&[]).each("declarator"),
        Define::new("struct_specifier", Struct).with_body(),
        Define::new("union_specifier", Struct).with_body(),
        Define::new("enum_specifier", Enum).with_body(),
        Define::new("enumerator", Constant).body(&[]),
        Define::new("field_declaration", Variable)
            .at(&["declarator"])
            .each("declarator")
            .body(&[])
            .or_function(&["function_declarator"]),
        Define::new("preproc_def", Macro).body(&["value"]),
        Define::new("preproc_function_def", Macro).body(&["value"]),
    ],
    comments: &["comment"],
    imports: &[("preproc_include", Written::Quoted)],
    exported: Exported::Without(&["static"]),
    marks: super::cfamily::marks,
    file_keys: super::cfamily::file_keys,
    keys: super::cfamily::keys,
    rewrites: Some(super::cfamily::for_parser),
    ..Grammar::new(Language::C, || tree_sitter_c::LANGUAGE.into())
};
