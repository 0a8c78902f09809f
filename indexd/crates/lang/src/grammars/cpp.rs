//! C++.

use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::Language;

/// C++.
pub(super) const CPP: Grammar = Grammar {
    shared: super::c::C.defines,
    defines: &[
        Define::new("class_specifier", Class).with_body(),
        Define::new("namespace_definition", Module).with_body(),
        Define::new("alias_declaration", Alias).body(&[]),
        Define::new("concept_definition", Type).body(&[]),
    ],
    wrappers: &["template_declaration"],
    comments: &["comment"],
    imports: &[
        ("preproc_include", Written::Quoted),
        ("using_declaration", Written::Using),
        ("namespace_alias_definition", Written::Using),
    ],
    exported: Exported::Without(&["static"]),
    marks: super::cfamily::marks,
    file_keys: super::cfamily::file_keys,
    keys: super::cfamily::keys,
    rewrites: Some(super::cfamily::for_parser),
    ..Grammar::new(Language::Cpp, || tree_sitter_cpp::LANGUAGE.into())
};
