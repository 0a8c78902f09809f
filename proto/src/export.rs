//! `export.dump` and `export.edges`: long texts, sent as `$/chunk` notifications before the answer.

use crate::workspace::{Envelope, Wait};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of both exports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ExportParams {
    /// The root itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// A folder inside the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What the export requires of the index. Default `strict`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<Wait>,
    /// Whether to send `$/progress`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub progress: bool,
}

/// Answer to both exports, after the last `$/chunk`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExportResult {
    /// How many chunks were sent.
    pub n_chunks: u64,
    /// Bytes of text in all.
    pub bytes: u64,
    /// What is known beside it.
    pub envelope: Envelope,
}
