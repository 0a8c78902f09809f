//! `search` and `symbol`: ranked places and definitions by name.

use crate::card::Neighbors;
use crate::overlay::Overlay;
use crate::pack::{LineRange, Range};
use crate::workspace::{Envelope, Wait};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `search`: the best places for a text, without assembling a pack.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SearchParams {
    /// The root itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// A folder inside the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What to look for.
    pub query: String,
    /// Hits at most. Default 20, at most 500.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// Whether hits come with those at the other end of their edges.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub neighbors: bool,
    /// What the answer requires of the index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<Wait>,
    /// Unsaved texts to answer with, as if they were saved. At most 32, of 4 MiB together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overlays: Vec<Overlay>,
    /// Whether to send `$/progress`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub progress: bool,
}

/// Answer to `search`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SearchResult {
    /// Always `SearchResult`.
    pub schema: String,
    /// Version of this object's shape.
    pub schema_version: String,
    /// Best first.
    pub hits: Vec<Hit>,
    /// What is known beside it.
    pub envelope: Envelope,
}

/// A place found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hit {
    /// Path.
    pub file_rel_path: String,
    /// Place.
    pub range: Range,
    /// Place in lines.
    pub lines: LineRange,
    /// The chunk.
    pub chunk_uid: String,
    /// The symbol, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol_id: Option<String>,
    /// The signature, or a heading, or the first line.
    pub title: String,
    /// Retrieval score in 0..1, comparable within one answer.
    pub score: f64,
    /// The signals behind it.
    #[serde(default)]
    pub signals: std::collections::BTreeMap<String, f64>,
    /// Those at the other end of its edges, when asked for and where it has a definition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbors: Option<Neighbors>,
}

/// `symbol`: definitions by symbol id, place (`path:line`), qualified name or name; where there is none of
/// that name, those whose names hold all its words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SymbolParams {
    /// The root itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// A folder inside the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The name.
    pub name: String,
    /// Definitions at most. Default 20, at most 500.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// What the answer requires of the index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<Wait>,
    /// Unsaved texts to answer with, as if they were saved. At most 32, of 4 MiB together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overlays: Vec<Overlay>,
    /// Whether to send `$/progress`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub progress: bool,
}

/// Answer to `symbol`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SymbolResult {
    /// Always `SymbolResult`.
    pub schema: String,
    /// Version of this object's shape.
    pub schema_version: String,
    /// Exact matches first, then by path and position.
    pub symbols: Vec<Symbol>,
    /// What is known beside it.
    pub envelope: Envelope,
}

/// A definition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Symbol {
    /// Identity, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol_id: Option<String>,
    /// Name; the path for a whole file.
    pub name: String,
    /// Names from file level down, joined by dots; empty for a whole file.
    pub qualified_name: String,
    /// `function`, `method`, `class`, ..., `file`.
    pub kind: String,
    /// Path.
    pub file_rel_path: String,
    /// The whole definition.
    pub lines: LineRange,
    /// The line of its name.
    pub line: u32,
    /// The signature, on one line.
    pub signature: String,
    /// Whether it is a test, or stands in a file of tests.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub test: bool,
}
