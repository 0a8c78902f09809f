//! HCL and Terraform.

use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::Language;

/// HCL and Terraform.
pub(super) const HCL: Grammar = Grammar {
    language: Language::Hcl,
    parser: || tree_sitter_hcl::LANGUAGE.into(),
    defines: &[Define::new("block", Struct).named(Name::Labels).body(&["body"])],
    owners: &[],
    wrappers: &[],
    attributes: &[],
    comments: &["comment"],
    imports: &[],
    runs: &[],
    exported: Exported::Without(&[]),
    test_marks: &[],
    packages: &[],
    scopes: None,
};
