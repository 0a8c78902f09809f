//! Ruby.

use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::Language;

/// Where names are bound and used.
const SCOPES: Scopes = Scopes {
    functions: &["method", "singleton_method", "lambda"],
    blocks: &["block", "do_block", "class", "module"],
    binds: &[
        ("method_parameters", ""),
        ("block_parameters", ""),
        ("lambda_parameters", ""),
        ("assignment", "identifier"),
        ("assignment", "left_assignment_list"),
        ("operator_assignment", "identifier"),
        ("exception_variable", ""),
        ("for", "pattern"),
    ],
    names: &["identifier", "constant", "self"],
    members: &[("scope_resolution", "scope", "name")],
    methods: &[("call", "receiver", "method")],
    bases: &["superclass"],
    rebinds: Rebinds::Bare(
        &["block", "do_block"],
        &[
            "loop", "proc", "lambda", "catch", "describe", "context", "feature", "it", "specify", "test",
            "scenario",
        ],
    ),
    has_plain_locals: true,
    words: &[("call", Words::Ruby), ("alias", Words::Ruby)],
    ..Scopes::NONE
};

/// Ruby.
pub(super) const RUBY: Grammar = Grammar {
    defines: &[
        Define::new("module", Module),
        Define::new("class", Class),
        Define::new("method", Function),
        Define::new("singleton_method", Function),
        Define::new("alias", Function).at(&["name"]).body(&[]),
        Define::new("call", Function).named(Name::First(&["alias_method"])).body(&[]),
        Define::new("call", Function)
            .named(Name::First(&["define_method", "define_singleton_method"]))
            .body(&["block"]),
        Define::new("assignment", Class).at(&["constant"]).body(&["right"]).with_value(&[
            "Struct.new",
            "Data.define",
            "Class.new",
        ]),
        Define::new("assignment", Module).at(&["constant"]).body(&["right"]).with_value(&["Module.new"]),
        Define::new("assignment", Constant).at(&["constant"]).body(&["right"]),
        Define::new("call", Property)
            .named(Name::Symbols(&["attr_reader", "attr_writer", "attr_accessor"]))
            .each("simple_symbol")
            .body(&[]),
        Define::new("call", Property)
            .named(Name::Symbols(&["Struct.new", "Data.define"]))
            .each("simple_symbol")
            .body(&["block"])
            .in_type(),
        Define::new("call", Module)
            .named(Name::Call(&["RSpec.describe", "describe", "context", "feature"]))
            .body(&["block"])
            .with_body(),
        Define::new("call", Function)
            .named(Name::Call(&["it", "specify", "test", "scenario"]))
            .body(&["block"])
            .with_body(),
    ],
    comments: &["comment"],
    imports: &[("call", Written::Call(&["require", "require_relative", "load", "autoload"]))],
    exported: Exported::Without(&["private"]),
    scopes: Some(&SCOPES),
    ..Grammar::new(Language::Ruby, || tree_sitter_ruby::LANGUAGE.into())
};
