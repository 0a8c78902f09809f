//! `map` and `pack.markdown`: Markdown documents for loops that render prompts from files.

use crate::answer::answer;
use crate::workspace::{Envelope, Wait};
use indexd_api::JsonSchema;
pub use indexd_api::map::*;
use indexd_api::params;
pub use indexd_api::task::{TaskDocument, TaskFile, TaskQuery};
use serde::{Deserialize, Serialize};

params! {
    /// Parameters of `map`.
    MapParams {
        repo, cwd, wait, progress,
        /// Makes the document afresh even when an equal one is cached.
        no_cache: bool,
        /// Tokens that the document may have, 500 to 90,000, counted exactly; without it 500 lines.
        max_tokens: Option<u32>,
        /// Everything, however long.
        whole: bool,
        /// Whether the map stands beside itself as a page to look at, one HTML document, as `page`.
        page: bool,
    }

    /// Parameters of `pack.markdown`.
    MarkdownParams {
        repo, cwd,
        /// The task in words, at most 256 KiB.
        query: String,
        wait, progress,
        /// Makes the document afresh even when an equal one is cached.
        no_cache: bool,
    }
}

/// What is known of the cache of documents in one answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct DocumentCache {
    /// Whether the document came from the cache.
    pub hit: bool,
    /// `sha256:` over HEAD, the version and the configuration; empty outside of git, where nothing is
    /// cached.
    pub key: String,
}

answer! {
    /// The result of `map`.
    MapResult("MapResult", envelope) {
        /// `repo_map.md`, at most 500 lines unless another length was asked for.
        markdown: String,
        /// The same as data, complete.
        map: RepoMap,
        /// The page, when asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        page: Option<String>,
        /// Whether it was cached.
        cache: DocumentCache,
        /// What the reader should know that is not in the document.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<String>,
    }

    /// The result of `pack.markdown`.
    MarkdownResult("MarkdownPack") {
        /// `context_pack.md`: at most 12 files, 50 lines of each and 50,000 bytes.
        markdown: String,
        /// Its files, best first.
        files: Vec<TaskFile>,
        /// What was searched.
        queries: Vec<TaskQuery>,
        /// Whether too little was found to work with; a reader should ask instead of guessing.
        #[serde(rename = "insufficient_context")]
        insufficient_context: bool,
        /// Why.
        #[serde(rename = "insufficient_reason", default, skip_serializing_if = "Option::is_none")]
        insufficient_reason: Option<String>,
        /// Whether it was cached.
        cache: DocumentCache,
        /// What the reader should know that is not in the document.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<String>,
        /// How the answer came about; absent where no daemon answered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        envelope: Option<Envelope>,
    }
}

impl MarkdownResult {
    /// The result without what concerns one answer.
    pub fn of(document: TaskDocument) -> Self {
        Self {
            markdown: document.markdown,
            files: document.files,
            queries: document.queries,
            insufficient_context: document.insufficient.is_some(),
            insufficient_reason: document.insufficient,
            ..Self::default()
        }
    }
}
