//! SQL.

use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::Language;

/// SQL.
pub(super) const SQL: Grammar = Grammar {
    language: Language::Sql,
    parser: || tree_sitter_sequel::LANGUAGE.into(),
    defines: &[
        Define::new("create_table", Struct).at(&["object_reference", "name"]).body(&["column_definitions"]),
        Define::new("create_view", Struct).at(&["object_reference", "name"]).body(&["create_query"]),
        Define::new("create_materialized_view", Struct)
            .at(&["object_reference", "name"])
            .body(&["create_query"]),
        Define::new("create_function", Function).at(&["object_reference", "name"]).body(&["function_body"]),
        Define::new("create_trigger", Function).at(&["object_reference", "name"]).body(&[]),
        Define::new("create_type", Type).at(&["object_reference", "name"]).body(&[]),
        Define::new("create_index", Constant).at(&["column"]).body(&[]),
        Define::new("column_definition", Field).body(&[]),
    ],
    owners: &[],
    wrappers: &["statement"],
    attributes: &[],
    comments: &["comment", "marginalia"],
    imports: &[],
    runs: &[],
    exported: Exported::Without(&[]),
    test_marks: &[],
    packages: &[],
    scopes: None,
};
