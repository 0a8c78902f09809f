//! Ruby.

use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::Language;

/// Ruby.
pub(super) const RUBY: Grammar = Grammar {
    language: Language::Ruby,
    parser: || tree_sitter_ruby::LANGUAGE.into(),
    defines: &[
        Define::new("module", Module),
        Define::new("class", Class),
        Define::new("method", Function),
        Define::new("singleton_method", Function),
        Define::new("assignment", Constant).at(&["constant"]).body(&["right"]),
        Define::new("call", Module)
            .named(Name::Call(&["RSpec.describe", "describe", "context", "feature"]))
            .body(&["block"])
            .with_body(),
        Define::new("call", Function)
            .named(Name::Call(&["it", "specify", "test", "scenario"]))
            .body(&["block"])
            .with_body(),
    ],
    owners: &[],
    wrappers: &[],
    attributes: &[],
    comments: &["comment"],
    imports: &[Imports {
        kind: "call",
        module: Written::Call(&["require", "require_relative", "load", "autoload"]),
    }],
    exported: Exported::Without(&["private"]),
    test_marks: &[],
    scopes: None,
};
