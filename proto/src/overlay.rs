//! Unsaved texts that a request is to be answered with.

use indexd_api::JsonSchema;
use serde::{Deserialize, Serialize};

/// A text that an editor holds and the disk does not: the answer is as if it were saved.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Overlay {
    /// The file: absolute, from `cwd`, or from the root, and beneath the root. It need not exist.
    pub path: String,
    /// What it would hold, with its ends of lines. At most 4 MiB in all overlays of a request.
    pub text: String,
}

/// What became of the unsaved texts of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OverlayFacts {
    /// Paths from the root whose texts the answer is made with.
    pub applied: Vec<String>,
    /// Paths that the index would not hold if they were saved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<OverlayLeftOut>,
}

/// A path that the index would not hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OverlayLeftOut {
    /// The path from the root.
    pub path: String,
    /// Why, as `why` says it.
    pub reason: String,
}
