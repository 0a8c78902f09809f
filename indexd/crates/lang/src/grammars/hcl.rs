//! HCL and Terraform.

use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::Language;

/// HCL and Terraform.
pub(super) const HCL: Grammar = Grammar {
    defines: &[Define::new("block", Struct).named(Name::Labels).body(&["body"])],
    comments: &["comment"],
    ..Grammar::new(Language::Hcl, || tree_sitter_hcl::LANGUAGE.into())
};
