//! `import.scip`: an index made by another tool, laid over the links of the files it is about.

use crate::answer::answer;
use crate::workspace::Wait;
use indexd_api::JsonSchema;
use indexd_api::params;
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

answer! {
    /// Answer to an import, once the index follows it.
    ImportResult("ImportResult", envelope) {
        /// Name and version of the tool that made the index; empty when it does not say and after
        /// `clear`.
        tool: String,
        /// Files that the index says something about.
        n_files: u64,
        /// Places in them that name a definition of the tree.
        n_targets: u64,
        /// Places in them that name something outside of it.
        n_external: u64,
        /// Places left out, since they do not hold the identifier that they should.
        n_dropped: u64,
        /// Documents of vendored copies and of files without source code.
        n_unfit_files: u64,
        /// The first of them.
        unfit_files: Vec<String>,
        /// Documents of files that the workspace does not have.
        n_unknown_files: u64,
        /// The first of them.
        unknown_files: Vec<String>,
        /// Documents about another text than that of the file now.
        n_stale_files: u64,
        /// The first of them.
        stale_files: Vec<String>,
    }
}
