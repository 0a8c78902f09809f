//! The pack as a client reads it. Members may be added within a schema version; readers skip what
//! they do not know.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

macro_rules! shapes {
    ($($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $ty:ty,)* })*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
            #[serde(rename_all = "camelCase", default)]
            pub struct $name {
                $($(#[$field_doc])* pub $field: $ty,)*
            }
        )*
    };
}

shapes! {
    /// A context pack.
    ContextPack {
        /// Always 1.
        format_version: u32,
        /// Always `ContextPack`.
        schema: String,
        /// Version of this shape.
        schema_version: String,
        /// The state of the index it was computed from.
        index_signature: String,
        /// Identity: a digest of the signature and the normalised request.
        pack_id: String,
        /// ISO time; volatile, not part of the canonical form.
        created_at: String,
        /// The request in force, every default filled in.
        request: Map<String, Value>,
        /// The limits in force.
        budgets: BudgetsResolved,
        /// What the change does that the pack is about.
        #[serde(skip_serializing_if = "Option::is_none")]
        change: Option<Change>,
        /// The seeds that are shown, best first; in layout `graph` those of section `seeds`.
        seeds: Vec<SeedEntry>,
        /// Sections in their fixed order; empty ones too.
        sections: Vec<ContextSection>,
        /// Why, when asked for.
        #[serde(skip_serializing_if = "Option::is_none")]
        explain: Option<Map<String, Value>>,
        /// Counts.
        stats: ContextPackStats,
        /// Follow-ups, when budget or coverage fell short.
        #[serde(rename = "suggested_next_queries", skip_serializing_if = "Vec::is_empty")]
        suggested_next_queries: Vec<String>,
        /// What is missing, when budget or coverage fell short.
        #[serde(rename = "missing_context_hints", skip_serializing_if = "Vec::is_empty")]
        missing_context_hints: Vec<String>,
        /// Codes and sentences.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<String>,
        /// Whether too little was found to work with.
        #[serde(rename = "insufficient_context")]
        insufficient_context: bool,
        /// How sure the pack is that it holds an answer.
        confidence: Confidence,
    }

    /// How sure a pack is that it holds an answer: `score` is 2/3 of the margin and 1/3 of the coverage, or
    /// 1 where the text names or quotes exactly what is shown; all in 0..1, in hundredths.
    Confidence {
        /// All together.
        score: f64,
        /// How far the tenth hit falls behind the best.
        margin: f64,
        /// What the ten best hits hold of the words of the text.
        coverage: f64,
    }

    /// A change between two states of the tree.
    Change {
        /// The state before: a commit id, `staged`, `worktree`, or `patch`.
        from: String,
        /// The state after, likewise.
        to: String,
        /// The files, in the order of the text.
        files: Vec<ChangedFile>,
        /// Parts whose lines are in the text.
        shown: u64,
        /// Parts that had no room.
        left_out: u64,
    }

    /// What a change does to a file.
    ChangedFile {
        /// Path, the one before where the file is gone.
        file_rel_path: String,
        /// The path before, where it is another one.
        #[serde(skip_serializing_if = "Option::is_none")]
        previous_path: Option<String>,
        /// `added`, `removed`, `modified` or `renamed`.
        status: String,
        /// Whether the index holds the text after, in which callers and tests are looked up.
        indexed: bool,
        /// Why its text is not shown.
        #[serde(skip_serializing_if = "Option::is_none")]
        unreadable: Option<String>,
        /// What happens to its parts, by place.
        parts: Vec<ChangedPart>,
    }

    /// What a change does to a definition, or to lines of none.
    ChangedPart {
        /// Qualified name; empty for lines that belong to no definition.
        name: String,
        /// The name before, where it is another one.
        #[serde(skip_serializing_if = "Option::is_none")]
        previous_name: Option<String>,
        /// `added`, `removed`, `modified` or `renamed`.
        status: String,
        /// Whether whoever uses it may have to change, too.
        contract: bool,
        /// The signature before.
        #[serde(skip_serializing_if = "Option::is_none")]
        signature_before: Option<String>,
        /// The signature after.
        #[serde(skip_serializing_if = "Option::is_none")]
        signature_after: Option<String>,
        /// Where it went or came from, in another file: `name in path`.
        #[serde(skip_serializing_if = "Option::is_none")]
        elsewhere: Option<String>,
        /// Lines added.
        added: u32,
        /// Lines taken away.
        removed: u32,
        /// Its part of the diff, as the text shows it; absent where it had no room.
        #[serde(skip_serializing_if = "Option::is_none")]
        diff: Option<String>,
    }

    /// One limit in force.
    Limit {
        /// The value.
        value: u64,
        /// `default`, `userFile`, `repositoryFile`, `environment`, `commandLine`, `client`, `request` or
        /// `hardCap`.
        source: String,
    }

    /// The limits in force.
    BudgetsResolved {
        /// Characters of the rendering.
        max_total_chars: Limit,
        /// Tokens of the rendering.
        max_total_tokens: Limit,
        /// Items.
        max_items: Limit,
        /// Items of one section.
        max_items_per_section: Limit,
        /// Bytes of one excerpt.
        max_bytes_per_item: Limit,
        /// Hops.
        max_hops: Limit,
        /// Limits that were asked for above their hard cap.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        clamped: Vec<Clamp>,
        /// Reserves of `contextBudget` that were negative and count as 0.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        negative_reserves: Vec<String>,
        /// Name of the token counter.
        tokenizer: String,
        /// Whether it counts exactly.
        exact: bool,
    }

    /// A limit that was asked for above its hard cap.
    Clamp {
        /// Name.
        limit: String,
        /// Asked for.
        asked: u64,
        /// Granted.
        granted: u64,
    }

    /// UTF-16 code units from the start of the file, half-open.
    Range {
        /// First.
        start: u32,
        /// One past the last.
        end: u32,
    }

    /// 1-based lines, inclusive.
    Lines {
        /// First.
        start: u32,
        /// Last.
        end: u32,
    }

    /// A seed that is shown.
    SeedEntry {
        /// Symbol, where it has one, when explained.
        #[serde(skip_serializing_if = "Option::is_none")]
        symbol_id: Option<String>,
        /// Chunk.
        chunk_uid: String,
        /// Path.
        file_rel_path: String,
        /// Place.
        range: Range,
        /// Place in lines.
        lines: Lines,
        /// Retrieval score in 0..1.
        seed_score: f64,
        /// What each signal added, when explained.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        signals: BTreeMap<String, f64>,
    }

    /// An ordered group of items with one role.
    ContextSection {
        /// Its name.
        name: String,
        /// Items in rank order.
        items: Vec<ContextItem>,
        /// Candidates that were left out.
        dropped: u32,
    }

    /// A chunk or symbol in a pack.
    ContextItem {
        /// `symbol` when it has a symbol id, else `chunk`.
        kind: String,
        /// Symbol, where it has one.
        #[serde(skip_serializing_if = "Option::is_none")]
        symbol_id: Option<String>,
        /// Chunk.
        chunk_uid: String,
        /// Path, relative to the root.
        file_rel_path: String,
        /// Place of the definition.
        range: Range,
        /// Place of the definition in lines.
        lines: Lines,
        /// Language identifier.
        language_id: String,
        /// The signature, or a heading, or the first line.
        title: String,
        /// How much of it is shown: `diff`, `whole`, `windows`, `head` or `place`.
        form: String,
        /// What is shown.
        excerpt: Excerpt,
        /// Scores.
        scores: Scores,
        /// How the hybrid score comes about, when explained: the value of each node is that of its
        /// parts, added or multiplied in order.
        #[serde(skip_serializing_if = "Option::is_none")]
        explanation: Option<Value>,
        /// Why it is here.
        why: Why,
        /// What it is: definition, reference, import, test, config, doc.
        traits: Vec<String>,
        /// Kinds of the secrets that are replaced in its text by `[REDACTED:kind]`, ordered; `secret`
        /// for a short one. Lines and lengths are those of the file.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        redactions: Vec<String>,
        /// Other places with the same content.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        also_at: Vec<Place>,
        /// In layout `flat`, the pieces that the item is made of, by line; the best of them gives all else.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        merged_from: Vec<MergedPart>,
        /// Tokens of its excerpt, counted by parts; headers and gap marks are not in it.
        tokens: u64,
        /// What leads back to the source, when explained, in layout `graph`; its members stand on the
        /// item itself in layout `agent`.
        #[serde(skip_serializing_if = "Option::is_none")]
        provenance: Option<Provenance>,
        /// The members of the provenance in layout `agent`, and whatever later versions add.
        #[serde(flatten)]
        more: Map<String, Value>,
    }

    /// What is shown of an item.
    Excerpt {
        /// The exact stored texts of the parts, one after the other.
        text: String,
        /// Whether something of the item is left out.
        truncated: bool,
        /// Why.
        #[serde(skip_serializing_if = "Option::is_none")]
        truncation: Option<Truncation>,
        /// Runs of whole lines in order.
        parts: Vec<Part>,
    }

    /// A run of whole lines.
    Part {
        /// Lines.
        lines: Lines,
        /// Place, when explained.
        #[serde(skip_serializing_if = "Option::is_none")]
        range: Option<Range>,
    }

    /// Why an excerpt was cut.
    Truncation {
        /// The limit on bytes.
        max_bytes: u64,
        /// The limit that bound.
        reason: String,
    }

    /// Scores of an item.
    Scores {
        /// Retrieval score in 0..1.
        seed_score: f64,
        /// Fewest hops from a seed.
        graph_distance: u32,
        /// Confidence along the best path.
        evidence_score: f64,
        /// The bounded merge.
        hybrid_score: f64,
    }

    /// A piece of a merged item.
    MergedPart {
        /// Chunk.
        chunk_uid: String,
        /// Lines.
        lines: Lines,
    }

    /// Why an item is in the pack.
    Why {
        /// The rule, for example `call-neighbor`.
        rule: String,
        /// Edges from a seed to the item; empty for seeds.
        path: Vec<PathStep>,
        /// Evidence behind the rule, the best piece first; that piece alone unless explained.
        evidence: Vec<Evidence>,
        /// An edge of the path lacks evidence.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        evidence_gap: bool,
        /// Other sections that would have claimed it, `dispatch` for a possible call through an
        /// interface or a base, and what else connects it with items of the pack, counted from 1 in
        /// its order: `called by item 3`, `may call item 4`.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        also: Vec<String>,
    }

    /// One edge of a path.
    PathStep {
        /// Kind of edge.
        edge_type: String,
        /// `inherit` or `implement` for the usages that are.
        #[serde(skip_serializing_if = "Option::is_none")]
        subkind: Option<String>,
        /// Source: its symbol, else its chunk, else its file.
        from: String,
        /// Target.
        to: String,
        /// Evidence of this edge.
        #[serde(skip_serializing_if = "Option::is_none")]
        evidence_id: Option<String>,
    }

    /// A piece of evidence.
    Evidence {
        /// Kind.
        kind: String,
        /// Identity.
        evidence_id: String,
        /// 0..1.
        confidence: f64,
        /// File of the occurrence.
        file_rel_path: String,
        /// 1-based line of the occurrence.
        line: u32,
        /// The rule of resolution, or the signal of retrieval.
        via: String,
        /// Whether the line is one of the item's own that its excerpt leaves out; absent when not.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        outside_excerpt: bool,
    }

    /// Another place with the same content.
    Place {
        /// Path.
        file_rel_path: String,
        /// Lines.
        lines: Lines,
        /// Chunk.
        chunk_uid: String,
        /// Symbol, where it has one.
        #[serde(skip_serializing_if = "Option::is_none")]
        symbol_id: Option<String>,
    }

    /// Counts. `found = included + merged + dropped`, always.
    ContextPackStats {
        /// Candidates.
        found: u64,
        /// Items.
        included: u64,
        /// Candidates that live on in an item's `alsoAt`.
        merged: u64,
        /// Candidates left out.
        dropped: u64,
        /// The same by `budget`, `noEvidence`, `duplicate`, `unsupported`.
        dropped_by_reason: BTreeMap<String, u64>,
        /// Items by section.
        items_by_section: BTreeMap<String, u64>,
        /// Highest hop met.
        max_hop: u32,
        /// Tokens of the rendering.
        token_count: u64,
        /// Tokens that were available.
        token_budget: u64,
        /// Share of the budget in use, in percent, rounded down.
        budget_used_percent: u64,
        /// Characters of the rendering.
        char_count: u64,
        /// Retrieval routes by which something was found: of `sparse`, `fts`, `symbol`, `path`,
        /// `history`, `graph`.
        providers: Vec<String>,
        /// Microseconds by stage; volatile, not part of the canonical form.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        timings: BTreeMap<String, u64>,
    }
}

/// What leads back to the exact source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Provenance {
    /// Chunk uid, with line offsets when the item is a part.
    pub snippet_id: String,
    /// HEAD's commit when the file equals the committed one, else `worktree:<signature>`.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Path.
    pub path: String,
    /// First line.
    pub line_start: u32,
    /// Last line.
    pub line_end: u32,
    /// Hash of the full text of these lines, as the index has it: where `redactions` says
    /// that secrets were taken out, of the text without them.
    pub content_hash: String,
    /// One sentence made from `why`.
    pub selection_reason: String,
}
