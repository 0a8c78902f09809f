//! C++.

use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::Language;

/// C++.
pub(super) const CPP: Grammar = Grammar {
    language: Language::Cpp,
    parser: || tree_sitter_cpp::LANGUAGE.into(),
    defines: &[
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
    owners: &[],
    wrappers: &["template_declaration"],
    attributes: &[],
    comments: &["comment"],
    imports: &[
        Imports { kind: "preproc_include", module: Written::Quoted },
        Imports { kind: "using_declaration", module: Written::Dotted(&["using", "namespace"]) },
    ],
    exported: Exported::Without(&["static"]),
    test_marks: &[],
    scopes: None,
};
