//! C#.

mod rewrite;

use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::Language;

/// C#.
pub(super) const CSHARP: Grammar = Grammar {
    defines: &[
        Define::new("namespace_declaration", Module),
        Define::new("class_declaration", Class),
        Define::new("struct_declaration", Struct),
        Define::new("record_declaration", Class),
        Define::new("interface_declaration", Interface),
        Define::new("enum_declaration", Enum),
        Define::new("delegate_declaration", Type).body(&[]),
        Define::new("method_declaration", Function),
        Define::new("local_function_statement", Function),
        Define::new("constructor_declaration", Function),
        Define::new("destructor_declaration", Function),
        Define::new("operator_declaration", Function).at(&["operator"]),
        Define::new("conversion_operator_declaration", Function).at(&["type"]),
        Define::new("indexer_declaration", Property).named(Name::Word("this")).body(&["accessors", "value"]),
        Define::new("property_declaration", Property).body(&["accessors", "value"]),
        Define::new("event_declaration", Property).body(&["accessors"]),
        Define::new("field_declaration", Variable)
            .at(&["variable_declaration", "variable_declarator", "name"])
            .each("variable_declarator")
            .body(&[]),
        Define::new("event_field_declaration", Variable)
            .at(&["variable_declaration", "variable_declarator", "name"])
            .each("variable_declarator")
            .body(&[]),
        Define::new("enum_member_declaration", Constant).body(&[]),
        Define::new("parameter", Property).in_head(|h| h.around == "record_declaration"),
    ],
    comments: &["comment"],
    imports: &[("using_directive", Written::Dotted(&["global", "using", "static"]))],
    exported: Exported::With(&["public", "internal", "protected"]),
    test_marks: &["[Fact", "[Test", "[Theory", "[TestMethod"],
    packages: &["file_scoped_namespace_declaration"],
    rewrites: Some(rewrite::rewritten),
    ..Grammar::new(Language::CSharp, || tree_sitter_c_sharp::LANGUAGE.into())
};
