//! Protocol Buffers.

use super::table::*;
use indexd_model::DefKind::*;
use indexd_model::Language;

/// Protocol Buffers.
pub(super) const PROTO: Grammar = Grammar {
    defines: &[
        Define::new("message", Struct).at(&["message_name"]).body(&["message_body"]),
        Define::new("enum", Enum).at(&["enum_name"]).body(&["enum_body"]),
        Define::new("service", Interface).at(&["service_name"]).body(&["rpc"]),
        Define::new("rpc", Function).at(&["rpc_name"]).body(&[]),
        Define::new("field", Field).at(&["identifier"]).body(&[]),
        Define::new("map_field", Field).at(&["identifier"]).body(&[]),
        Define::new("oneof", Field).at(&["identifier"]).body(&[]),
        Define::new("oneof_field", Field).at(&["identifier"]).body(&[]),
        Define::new("enum_field", Constant).at(&["identifier"]).body(&[]),
    ],
    comments: &["comment"],
    imports: &[("import", Written::Quoted)],
    ..Grammar::new(Language::Proto, || tree_sitter_proto::LANGUAGE.into())
};
