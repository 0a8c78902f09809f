//! C++.

use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::Language;

/// C++.
pub(super) const CPP: Grammar = Grammar {
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
        Define::new("class_specifier", Class).with_body(),
        Define::new("namespace_definition", Module).with_body(),
        Define::new("alias_declaration", Alias).body(&[]),
        Define::new("concept_definition", Type).body(&[]),
    ],
    wrappers: &["template_declaration"],
    comments: &["comment"],
    imports: &[
        Imports { kind: "preproc_include", module: Written::Quoted },
        Imports { kind: "using_declaration", module: Written::Using },
        Imports { kind: "namespace_alias_definition", module: Written::Using },
    ],
    exported: Exported::Without(&["static"]),
    ..Grammar::new(Language::Cpp, || tree_sitter_cpp::LANGUAGE.into())
};
