//! SQL.

mod rewrite;

use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::Language;

/// What the rewritten source has as a view.
const fn written_as_view(is: indexd_model::DefKind, word: &'static str) -> Define {
    Define::new("create_view", is).at(&["object_reference", "name"]).body(&["keyword_as"]).with(word)
}

/// SQL.
pub(super) const SQL: Grammar = Grammar {
    defines: &[
        Define::new("create_table", Struct).at(&["object_reference", "name"]).body(&["column_definitions"]),
        written_as_view(Function, "procedure"),
        written_as_view(Function, "proc"),
        written_as_view(Function, "function"),
        written_as_view(Function, "trigger"),
        written_as_view(Type, "domain").body(&[]),
        Define::new("create_view", Struct).at(&["object_reference", "name"]).body(&["create_query"]),
        Define::new("create_materialized_view", Struct)
            .at(&["object_reference", "name"])
            .body(&["create_query"]),
        Define::new("create_type", Type).at(&["object_reference", "name"]).body(&[]),
        Define::new("create_index", Constant).at(&["column"]).body(&[]),
        Define::new("column_definition", Field).body(&[]),
    ],
    wrappers: &["statement"],
    comments: &["comment", "marginalia"],
    rewrites: Some(rewrite::rewritten),
    ..Grammar::new(Language::Sql, || tree_sitter_sequel::LANGUAGE.into())
};
