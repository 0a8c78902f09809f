//! The request for a pack: every option that shapes a pack is a field of [`Request`].
//!
//! A query and a budget are enough; everything else has a documented default. The packing engine fills the
//! defaults and applies the hard caps.

use crate::JsonSchema;
use crate::error::PackError;
use crate::{kinds, params};
use serde::{Deserialize, Serialize};
use serde_json::Value;

params! {
    /// A request as it arrives. Absent members mean the default.
    #[schemars(rename = "PackRequest")]
    Request {
        /// The workspace's name; filled in by the daemon. Names the workspace where the call names no
        /// folder; another name than that of the folder is an error.
        repo_id: Option<String>,
        /// Filled in by the daemon; shown as `workspace:<repoId>`.
        index_root: Option<String>,
        /// Pins one state of the index; absent means the current one.
        index_signature: Option<String>,
        /// The task in words, at most 256 KiB; may be a whole issue text. May be empty beside `focus` and `change`.
        #[serde(skip_serializing_if = "String::is_empty")]
        query: String,
        /// Names, words and phrases that the caller expects in the code that answers, at most 64, each of at
        /// most 1 KiB. They are guesses: one that no code holds costs nothing and is named in the answer.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        expect: Vec<String>,
        /// What kinds of content seeds may be. Default `mixed`.
        seed_mode: Option<SeedMode>,
        /// How seeds are found. Default `hybrid`.
        seed_provider: Option<SeedProvider>,
        /// What the pack is for. Default `answer`.
        intent: Option<Intent>,
        /// An entity that is a seed of score 1; one member is set.
        focus: Option<Focus>,
        /// A change that the pack is about; `query` may be empty beside it.
        change: Option<ChangeRequest>,
        /// How far and along which edges to look.
        #[serde(skip_serializing_if = "is_default")]
        expansion: ExpansionRequest,
        /// Limits.
        #[serde(skip_serializing_if = "is_default")]
        budgets: BudgetsRequest,
        /// A gross budget; an alternative to `budgets.maxTotalTokens`.
        context_budget: Option<ContextBudgetRequest>,
        /// Limits of the client, filled in by the daemon, for those that the request does not name.
        #[serde(skip)]
        client_budgets: BudgetsRequest,
        /// How items are ordered.
        #[serde(skip_serializing_if = "is_default")]
        ordering: OrderingRequest,
        /// What happens at a hard cap and where evidence is missing. Default `warn`.
        strictness: Option<Strictness>,
        /// Whether the explain envelope is present. Default true.
        include_explain: Option<bool>,
        /// Sections and their claim rules. Default `graph`.
        layout: Option<Layout>,
        /// Scoring profile. Default `graph`.
        scoring: Option<Scoring>,
        /// What the rendered text looks like. Default `text`.
        renderer: Option<Renderer>,
        /// The text of a template for the renderer `template`, in Jinja's language; at most 64 KiB.
        template: Option<String>,
        /// `o200k_base`, `cl100k_base`, `generic` or `claude`.
        tokenizer: Option<String>,
        /// What the reader has already: ids of packs, and chunk uids, each alone, with `@head` where only its
        /// head was seen, or with `@` and the content hash seen. At most 2,000.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        seen: Vec<String>,
        /// Version of the pack's shape that the caller reads; absent means this one.
        schema_version: Option<String>,
    }
}

/// Declares sets of values; the first of each is the default.
macro_rules! options {
    ($($(#[$doc:meta])* $name:ident {
        $(#[$first_doc:meta])* $first:ident, $($(#[$variant_doc:meta])* $variant:ident,)*
    })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(rename_all = "camelCase")]
        pub enum $name {
            $(#[$first_doc])*
            #[default]
            $first,
            $($(#[$variant_doc])* $variant,)*
        }
    )*};
}

options! {
    /// What kinds of content seeds may be.
    SeedMode {
        /// Code and prose.
        Mixed,
        /// Code only.
        Code,
        /// Prose only.
        Prose,
    }

    /// How seeds are found.
    SeedProvider {
        /// All routes that exist, fused.
        Hybrid,
        /// Scored terms only.
        Sparse,
        /// Literals and phrases only.
        Fts,
        /// Vectors; there is no such provider.
        Ann,
    }

    /// What the pack is for.
    Intent {
        /// Answer a question.
        Answer,
        /// Summarise: outlines, and where programs start.
        Summarize,
        /// Change the structure: every use of what is named, as the lines of the uses.
        Refactor,
        /// Find a fault: quoted messages and recent changes count more, and callers have room.
        Debug,
        /// See what a change reaches: who depends on it, over several hops, goes first.
        Impact,
        /// State what callers may rely on: exports and signatures, documents, tests.
        Contract,
        /// Judge a change: what others rely on goes first.
        Review,
    }

    /// Where a pack ends.
    Stop {
        /// Where what follows is worth little, within the budget.
        Value,
        /// Where nothing more fits.
        Budget,
    }

    /// Which way edges are followed.
    Direction {
        /// Both ways.
        Both,
        /// From source to target: callees.
        Out,
        /// From target to source: callers.
        In,
    }

    /// Behaviour at hard caps and where evidence is missing.
    Strictness {
        /// Clamp and keep, and say so.
        Warn,
        /// Refuse and drop.
        Strict,
        /// Clamp and keep, without gap details.
        Loose,
    }

    /// The first sort key.
    Primary {
        /// The bounded merge of all signals.
        HybridScore,
        /// The retrieval score.
        SeedScore,
        /// Fewest hops first.
        GraphDistance,
        /// Best evidence first.
        GraphEvidence,
    }

    /// A key that decides between equals.
    TieBreaker {
        /// The path.
        FileRelPath,
        /// The first line.
        StartLine,
        /// The chunk's identity.
        ChunkUid,
        /// The symbol's identity.
        SymbolId,
    }

    /// A set of sections.
    Layout {
        /// Ten sections by how an item was reached.
        Graph,
        /// Six sections by what an item is.
        Agent,
        /// One list by rank; pieces of a file that overlap or touch are merged.
        Flat,
    }

    /// A scoring profile.
    Scoring {
        /// Seed score, graph distance, evidence.
        Graph,
        /// Relevance, recency, kind of source.
        Sources,
        /// Points for hits, call sites, tests, configuration and neighbours.
        Task,
    }

    /// What the rendered text looks like.
    Renderer {
        /// Plain text with Markdown headers and fences.
        Text,
        /// The same as one document with a title and the reason of each item.
        Markdown,
        /// Canonical JSON of what the items show.
        Json,
        /// As `template` says.
        Template,
    }
}

kinds! {
    /// A kind of edge as asked for.
    EdgeType {
        /// Calls.
        #[default]
        Call = "call",
        /// Reads, writes, types; inheritance and implementation too.
        Usage = "usage",
        /// Imports.
        Import = "import",
        /// Exports.
        Export = "export",
        /// Flow of values.
        Dataflow = "dataflow",
    }

    /// A kind of evidence as asked for.
    #[schemars(rename = "EvidenceKind")]
    EvidenceFilter {
        /// A call expression.
        #[default]
        Callsite = "callsite",
        /// An identifier.
        Identifier = "identifier",
        /// An import statement.
        ImportStmt = "importStmt",
        /// A range of source.
        Span = "span",
        /// An imported compiler index.
        Tooling = "tooling",
    }
}

params! {
    /// An entity named by the caller; exactly one member is set.
    #[derive(Eq)]
    Focus {
        /// A symbol.
        symbol_id: Option<String>,
        /// A chunk.
        chunk_uid: Option<String>,
        /// A file.
        file_rel_path: Option<String>,
    }

    /// A change as asked for; exactly one member is set.
    #[derive(Eq)]
    #[schemars(rename = "Change")]
    ChangeRequest {
        /// `A..B`, `A...B` (from what both have in common), `A` (from there to the work tree), or empty: all
        /// that is not committed.
        diff: Option<String>,
        /// What is staged, against HEAD.
        staged: bool,
        /// What is not staged.
        worktree: bool,
        /// A patch in the unified format, at most 4 MiB, applied to the work tree or not.
        patch: Option<String>,
        /// The identity of the change, filled in by the daemon.
        #[serde(skip)]
        found: Option<ChangeId>,
    }
}

/// The identity of a change: two states and a digest of all that differs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeId {
    /// The state before: a commit id, `staged`, `worktree` or `patch`.
    pub from: String,
    /// The state after, likewise.
    pub to: String,
    /// `b3:` and the digest of the paths and texts that differ.
    pub digest: String,
}

params! {
    /// Expansion as asked for.
    #[derive(Eq)]
    #[schemars(rename = "Expansion")]
    ExpansionRequest {
        /// Hops, at most 4. Default 2.
        max_hops: Option<u32>,
        /// Kinds of edges. Default call, usage, import.
        edge_types: Option<Vec<EdgeType>>,
        /// Which way. Default both.
        direction: Option<Direction>,
        /// Whether neighbours in the file of a seed are candidates. Default false.
        include_same_file_neighbors: Option<bool>,
        /// Adds or removes `import`.
        include_imports: Option<bool>,
        /// Adds or removes `export`.
        include_exports: Option<bool>,
        /// Adds or removes `dataflow`.
        include_dataflow: Option<bool>,
        /// Whether a path needs evidence of the kinds asked for on every edge. Default false.
        require_evidence: Option<bool>,
        /// Kinds of evidence that count. Default all.
        evidence_kinds: Option<Vec<EvidenceFilter>>,
    }

    /// Limits as asked for.
    #[derive(Copy, Eq)]
    #[schemars(rename = "Budgets")]
    BudgetsRequest {
        /// Characters of the rendering. Default 200,000, at most 2,000,000.
        max_total_chars: Option<u64>,
        /// Tokens of the rendering. Default 90,000.
        max_total_tokens: Option<u64>,
        /// Items. Default 80, at most 250.
        max_items: Option<u64>,
        /// Items of one section. Default 25, at most 80.
        max_items_per_section: Option<u64>,
        /// Bytes of one excerpt. Default 4,096, at most 64,000.
        max_bytes_per_item: Option<u64>,
        /// Where a pack ends. Default `value`.
        stop: Option<Stop>,
    }

    /// A gross budget as asked for; absent members are those of the configuration.
    #[derive(Copy, Eq)]
    #[schemars(rename = "ContextBudget")]
    ContextBudgetRequest {
        /// Tokens of the whole window. Default 100,000.
        total_tokens: Option<u64>,
        /// Tokens kept free for the response. Default 8,000.
        response_reserve: Option<i64>,
        /// Tokens kept free for the system prompt. Default 2,000.
        system_reserve: Option<i64>,
    }

    /// Order as asked for.
    #[derive(Eq)]
    #[schemars(rename = "Ordering")]
    OrderingRequest {
        /// First key. Default hybridScore.
        primary: Option<Primary>,
        /// Keys that decide between equals; the rest follow in their usual order.
        stable_tie_breakers: Option<Vec<TieBreaker>>,
    }
}

impl Request {
    /// Reads a request from JSON.
    ///
    /// # Errors
    /// [`PackError::NotSupported`] for unknown members and unknown values of options,
    /// [`PackError::InvalidRequest`] for values of the wrong form.
    pub fn from_json(value: Value) -> Result<Self, PackError> {
        serde_json::from_value(value).map_err(|e| {
            let text = e.to_string();
            if text.starts_with("unknown variant") || text.starts_with("unknown field") {
                PackError::NotSupported { what: text }
            } else {
                PackError::InvalidRequest { detail: text }
            }
        })
    }
}

/// Puts the members of `over` in the place of those of `under`, objects member by member.
pub fn lay_over(under: &mut Value, over: Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (name, value) in over {
                lay_over(under.entry(name).or_insert(Value::Null), value);
            }
        }
        (under, over) => *under = over,
    }
}

/// Returns true if a member has its default value, so that it is left out.
fn is_default<T: Default + PartialEq>(x: &T) -> bool {
    *x == T::default()
}
