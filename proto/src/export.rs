//! `export.dump` and `export.edges`: long texts, sent as `$/chunk` notifications before the answer.

use crate::workspace::{Envelope, Wait};
use indexd_api::JsonSchema;
use indexd_api::params;
use serde::{Deserialize, Serialize};

params! {
    /// Parameters of both exports.
    ExportParams {
        repo, cwd,
        /// What the export requires of the index. Default `strict`.
        wait: Option<Wait>,
        progress,
    }
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
