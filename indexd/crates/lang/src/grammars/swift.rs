//! Swift.

use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::Language;

/// Swift.
pub(super) const SWIFT: Grammar = Grammar {
    defines: &[
        Define::new("class_declaration", Enum).body(&["enum_class_body"]).with_body(),
        Define::new("class_declaration", Struct).with("struct"),
        Define::new("class_declaration", Class),
        Define::new("protocol_declaration", Interface),
        Define::new("function_declaration", Function),
        Define::new("protocol_function_declaration", Function),
        Define::new("init_declaration", Function).named(Name::Word("init")),
        Define::new("deinit_declaration", Function).named(Name::Word("deinit")),
        Define::new("subscript_declaration", Property)
            .named(Name::Word("subscript"))
            .body(&["computed_property"]),
        Define::new("property_declaration", Variable)
            .at(&["name", "bound_identifier"])
            .body(&["computed_value"]),
        Define::new("protocol_property_declaration", Variable).at(&["name", "bound_identifier"]).body(&[]),
        Define::new("enum_entry", Constant).each("name").body(&[]),
        Define::new("typealias_declaration", Alias).body(&[]),
        Define::new("associatedtype_declaration", Alias).body(&[]),
        Define::new("macro_declaration", Macro).at(&["simple_identifier"]).body(&[]),
    ],
    comments: &["comment", "multiline_comment"],
    imports: &[("import_declaration", Written::Dotted(&["@testable", "import"]))],
    exported: Exported::Without(&["private", "fileprivate"]),
    test_marks: &["@Test"],
    ..Grammar::new(Language::Swift, || tree_sitter_swift::LANGUAGE.into())
};
