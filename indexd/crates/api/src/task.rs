//! The context of a task: a Markdown document, and the same as data.

use crate::JsonSchema;
use serde::{Deserialize, Serialize};

/// A document and its parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskDocument {
    /// The Markdown text.
    pub markdown: String,
    /// Its files, best first.
    pub files: Vec<TaskFile>,
    /// What was searched.
    pub queries: Vec<TaskQuery>,
    /// Why the context is too thin to work with; `None` when it is not.
    pub insufficient: Option<String>,
}

/// A file of a document.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct TaskFile {
    /// Relative path.
    pub path: String,
    /// Points.
    pub points: u32,
    /// Why it is there.
    pub reasons: Vec<String>,
    /// Runs of lines that are shown, 1-based and inclusive.
    pub excerpts: Vec<[u32; 2]>,
}

/// A query and what it found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskQuery {
    /// Its text.
    pub text: String,
    /// `quoted phrase`, `error text`, `path`, `symbol` or `term`.
    pub kind: String,
    /// Files that hold it.
    pub files: usize,
}
