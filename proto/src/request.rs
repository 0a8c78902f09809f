//! `pack` and `preview`: what is asked. A query is enough; everything else has a default.

use crate::context_pack::ContextPack;
use crate::overlay::Overlay;
use crate::workspace::{Envelope, Wait};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Parameters of `pack` and `preview`: the options of one call, beside the members of a
/// [`PackRequest`], which alone shape the pack.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PackParams {
    /// The options of this call.
    #[serde(flatten)]
    pub call: CallOptions,
    /// The request. The engine checks it: an unknown member or value is `POC_E_NOT_SUPPORTED`.
    #[serde(flatten)]
    #[schemars(with = "PackRequest")]
    pub request: Map<String, Value>,
}

/// What concerns one call and not its answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct CallOptions {
    /// The root itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// A folder inside the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What the answer requires of the index.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wait: Option<Wait>,
    /// Unsaved texts to answer with, as if they were saved. At most 32, of 4 MiB together.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub overlays: Vec<Overlay>,
    /// Whether to send `$/progress`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub progress: bool,
    /// Whether the text that was budgeted stands beside the pack, as `rendered`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rendered: bool,
    /// Whether the pack stands beside itself as a page to look at, one HTML document, as `page`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub page: bool,
    /// Assembles afresh even when an equal pack is cached.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_cache: bool,
    /// The client's own defaults: limits that hold where neither the request nor the configuration
    /// names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_budgets: Option<Budgets>,
    /// Keeps a record of the pack, to be read again by its id with `pack.get`. Not beside `overlays`, of
    /// which nothing is stored.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub write: bool,
}

/// The options that determine a pack. Absent members mean the default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct PackRequest {
    /// The workspace's name; filled in by the daemon. Names the workspace where the call names no
    /// folder; another name than that of the folder is an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo_id: Option<String>,
    /// Filled in by the daemon; shown as `workspace:<repoId>`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index_root: Option<String>,
    /// Pins one state of the index; absent means the current one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index_signature: Option<String>,
    /// The task in words, at most 256 KiB; may be a whole issue text. May be empty beside `focus` and `change`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// What kinds of content seeds may be. Default `mixed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed_mode: Option<SeedMode>,
    /// How seeds are found. Default `hybrid`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed_provider: Option<SeedProvider>,
    /// What the pack is for. Default `answer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<Intent>,
    /// An entity that is a seed of score 1; one member is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focus: Option<Focus>,
    /// A change that the pack is about; `query` may be empty beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// How far and along which edges to look.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expansion: Option<Expansion>,
    /// Limits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budgets: Option<Budgets>,
    /// A gross budget; an alternative to `budgets.maxTotalTokens`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_budget: Option<ContextBudget>,
    /// How items are ordered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ordering: Option<Ordering>,
    /// What happens at a hard cap and where evidence is missing. Default `warn`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strictness: Option<Strictness>,
    /// Whether the explain envelope is present. Default true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_explain: Option<bool>,
    /// Sections and their claim rules. Default `graph`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layout: Option<Layout>,
    /// Scoring profile. Default `graph`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scoring: Option<Scoring>,
    /// What the rendered text looks like. Default `text`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renderer: Option<Renderer>,
    /// `o200k_base`, `cl100k_base`, `generic` or `claude`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<String>,
    /// What the reader has already: ids of packs, and chunk uids, each alone, with `@head` where only its
    /// head was seen, or with `@` and the content hash seen. At most 2,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seen: Option<Vec<String>>,
    /// Version of the pack's shape that the caller reads; absent means this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema_version: Option<String>,
}

macro_rules! options {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase")]
        pub enum $name {
            $($(#[$variant_doc])* $variant,)*
        }
    };
}

options! {
    /// What kinds of content seeds may be.
    SeedMode {
        /// Code only.
        Code,
        /// Prose only.
        Prose,
        /// Both.
        Mixed,
    }
}
options! {
    /// How seeds are found.
    SeedProvider {
        /// Scored terms only.
        Sparse,
        /// Literals and phrases only.
        Fts,
        /// Vectors; there is no such provider.
        Ann,
        /// All routes that exist, fused.
        Hybrid,
    }
}
options! {
    /// What the pack is for.
    Intent {
        /// Answer a question.
        Answer,
        /// Summarise.
        Summarize,
        /// Change the structure.
        Refactor,
        /// Find a fault.
        Debug,
        /// See what a change reaches.
        Impact,
        /// State what callers may rely on.
        Contract,
        /// Judge a change: what others rely on goes first.
        Review,
    }
}
options! {
    /// Where a pack ends.
    Stop {
        /// Where nothing more fits.
        Budget,
        /// Where what follows is worth little, within the budget.
        Value,
    }
}
options! {
    /// Which way edges are followed.
    Direction {
        /// From source to target: callees.
        Out,
        /// From target to source: callers.
        In,
        /// Both ways.
        Both,
    }
}
options! {
    /// Behaviour at hard caps and where evidence is missing.
    Strictness {
        /// Refuse and drop.
        Strict,
        /// Clamp and keep, and say so.
        Warn,
        /// Clamp and keep.
        Loose,
    }
}
options! {
    /// The first sort key.
    Primary {
        /// The retrieval score.
        SeedScore,
        /// Fewest hops first.
        GraphDistance,
        /// Best evidence first.
        GraphEvidence,
        /// The bounded merge of all signals.
        HybridScore,
    }
}
options! {
    /// A key that decides between equals.
    TieBreaker {
        /// The symbol's identity.
        SymbolId,
        /// The chunk's identity.
        ChunkUid,
        /// The path.
        FileRelPath,
        /// The first line.
        StartLine,
    }
}
options! {
    /// A set of sections.
    Layout {
        /// Ten sections by how an item was reached.
        Graph,
        /// Six sections by what an item is.
        Agent,
    }
}
options! {
    /// A scoring profile.
    Scoring {
        /// Retrieval score, graph distance, evidence.
        Graph,
    }
}
options! {
    /// What the rendered text looks like.
    Renderer {
        /// Plain text with Markdown headers and fences.
        Text,
        /// Refused: the text is what is budgeted, and the pack itself is JSON.
        Json,
    }
}
options! {
    /// A kind of edge.
    EdgeType {
        /// Calls.
        Call,
        /// Reads, writes, types; inheritance and implementation too.
        Usage,
        /// Imports.
        Import,
        /// Exports.
        Export,
        /// Flow of values.
        Dataflow,
    }
}
options! {
    /// A kind of evidence.
    EvidenceKind {
        /// A call expression.
        Callsite,
        /// An identifier.
        Identifier,
        /// An import statement.
        ImportStmt,
        /// A range of source.
        Span,
        /// An imported compiler index.
        Tooling,
    }
}

/// An entity named by the caller; exactly one member is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Focus {
    /// A symbol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol_id: Option<String>,
    /// A chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunk_uid: Option<String>,
    /// A file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_rel_path: Option<String>,
}

/// A change; exactly one member is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Change {
    /// `A..B`, `A...B` (from what both have in common), `A` (from there to the work tree), or empty: all
    /// that is not committed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// What is staged, against HEAD.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub staged: bool,
    /// What is not staged.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub worktree: bool,
    /// A patch in the unified format, at most 4 MiB, applied to the work tree or not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
}

/// How far and along which edges to look.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Expansion {
    /// Hops, at most 4. Default 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_hops: Option<u32>,
    /// Kinds of edges. Default call, usage, import.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edge_types: Option<Vec<EdgeType>>,
    /// Which way. Default both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
    /// Whether neighbours in the file of a seed are candidates. Default false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_same_file_neighbors: Option<bool>,
    /// Adds or removes `import`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_imports: Option<bool>,
    /// Adds or removes `export`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_exports: Option<bool>,
    /// Adds or removes `dataflow`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub include_dataflow: Option<bool>,
    /// Whether a path needs evidence of the kinds asked for on every edge. Default false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub require_evidence: Option<bool>,
    /// Kinds of evidence that count. Default all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence_kinds: Option<Vec<EvidenceKind>>,
}

/// Limits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Budgets {
    /// Characters of the rendering. Default 200,000, at most 2,000,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_total_chars: Option<u64>,
    /// Tokens of the rendering. Default 90,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_total_tokens: Option<u64>,
    /// Items. Default 80, at most 250.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_items: Option<u64>,
    /// Items of one section. Default 25, at most 80.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_items_per_section: Option<u64>,
    /// Bytes of one excerpt. Default 4,096, at most 64,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_bytes_per_item: Option<u64>,
    /// Where a pack ends. Default `budget`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<Stop>,
}

/// A gross budget: what is left after the reserves is available.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ContextBudget {
    /// Tokens of the whole window. Default 100,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<u64>,
    /// Tokens kept free for the response. Default 8,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_reserve: Option<i64>,
    /// Tokens kept free for the system prompt. Default 2,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_reserve: Option<i64>,
}

/// How items are ordered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Ordering {
    /// First key. Default hybridScore.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary: Option<Primary>,
    /// Keys that decide between equals; the rest follow in their usual order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stable_tie_breakers: Option<Vec<TieBreaker>>,
}

/// Answer to `pack`, as written by the daemon: the pack is passed on as the engine wrote it.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct PackResult {
    /// The pack.
    #[schemars(with = "ContextPack")]
    pub pack: Box<RawValue>,
    /// What is known beside it.
    pub envelope: Envelope,
    /// The text that was budgeted, when asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered: Option<String>,
    /// The page, when asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
}

/// The same as read by a client, without a copy of the pack.
#[derive(Debug, Deserialize)]
pub struct PackAnswer<'a> {
    /// The pack.
    #[serde(borrow)]
    pub pack: &'a RawValue,
    /// What is known beside it.
    pub envelope: Envelope,
    /// The text that was budgeted, when asked for.
    #[serde(default)]
    pub rendered: Option<String>,
    /// The page, when asked for.
    #[serde(default)]
    pub page: Option<String>,
}

/// `pack.get`: reads a record that was kept with `write`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct PackGetParams {
    /// The root itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo: Option<String>,
    /// A folder inside the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// The pack's id.
    pub pack_id: String,
}

/// Answer to `pack.get`: the record's bytes as they were written.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct PackGetResult {
    /// The pack.
    #[schemars(with = "ContextPack")]
    pub pack: Box<RawValue>,
}

/// Answer to `preview`: what a pack would hold, without its text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PreviewResult {
    /// `PreviewResult`.
    pub schema: String,
    /// Of this object.
    pub schema_version: String,
    /// What would be included, in rank order.
    pub preview: Value,
    /// What is known beside it.
    pub envelope: Envelope,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn options_of_the_call_are_taken_out_of_the_request() {
        let params: PackParams = serde_json::from_value(json!({
            "cwd": "/r", "query": "x", "noCache": true, "wait": {"mode": "strict"}, "budgets": {"maxItems": 3}, "colour": 1,
        }))
        .unwrap();
        assert_eq!(params.call.cwd.as_deref(), Some("/r"));
        assert!(params.call.no_cache);
        assert_eq!(
            Value::Object(params.request),
            json!({"query": "x", "budgets": {"maxItems": 3}, "colour": 1})
        );
    }

    #[test]
    fn a_typed_request_writes_only_what_is_set() {
        let request =
            PackRequest { query: Some("x".into()), layout: Some(Layout::Agent), ..PackRequest::default() };
        assert_eq!(serde_json::to_value(request).unwrap(), json!({"query": "x", "layout": "agent"}));
    }
}
