//! `import.scip`: an index made by another tool, laid over the links of the files it is about.

use crate::workspace::{Envelope, Wait};
use indexd_api::params;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

params! {
    /// Parameters of an import. Exactly one of `path` and `clear` is given.
    ImportParams {
        repo, cwd,
        /// Absolute path of the SCIP index, which the daemon reads. It takes the place of whatever was
        /// imported before.
        path: Option<String>,
        /// Whether to take back what was imported.
        clear: bool,
        /// What the import requires of the index. Default `strict`.
        wait: Option<Wait>,
        progress,
    }
}

/// Answer to an import, once the index follows it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ImportResult {
    /// `ImportResult`.
    pub schema: String,
    /// Version of this object.
    pub schema_version: String,
    /// Name and version of the tool that made the index; empty when it does not say and after
    /// `clear`.
    pub tool: String,
    /// Files that the index says something about.
    pub n_files: u64,
    /// Places in them that name a definition of the tree.
    pub n_targets: u64,
    /// Places in them that name something outside of it.
    pub n_external: u64,
    /// Places left out, since they do not hold the identifier that they should.
    pub n_dropped: u64,
    /// Documents of vendored copies and of files without source code.
    pub n_unfit_files: u64,
    /// The first of them.
    pub unfit_files: Vec<String>,
    /// Documents of files that the workspace does not have.
    pub n_unknown_files: u64,
    /// The first of them.
    pub unknown_files: Vec<String>,
    /// Documents about another text than that of the file now.
    pub n_stale_files: u64,
    /// The first of them.
    pub stale_files: Vec<String>,
    /// What is known beside it; the signature is that of the state with the import.
    pub envelope: Envelope,
}
