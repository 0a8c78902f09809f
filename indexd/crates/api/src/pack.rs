//! A context pack: made by the engine, carried by the wire and read by a client.
//!
//! Members may be added within a schema version; readers skip unknown members. An unknown value of an enum
//! cannot be read, so a new one needs a new protocol version.

use crate::JsonSchema;
use crate::canonical;
use crate::explanation::Explanation;
use crate::kinds;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A word of a closed set.
pub type Word = Cow<'static, str>;

macro_rules! shapes {
    ($($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $ty:ty,)* })*) => {
        $(
            #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
            #[serde(rename_all = "camelCase", default)]
            $(#[$meta])*
            pub struct $name {
                $($(#[$field_meta])* pub $field: $ty,)*
            }
        )*
    };
}

shapes! {
    /// A context pack.
    #[schemars(rename = "ContextPack")]
    Pack {
        /// Always 1.
        format_version: u32,
        /// Always `ContextPack`.
        schema: Word,
        /// Version of this shape.
        schema_version: Word,
        /// Signature of the state of the index from which the pack was computed.
        index_signature: String,
        /// Identity: a digest of the signature and the normalised request.
        pack_id: String,
        /// ISO time; volatile, not part of the canonical form.
        created_at: String,
        /// The request in force, every default filled in.
        request: Map<String, Value>,
        /// The limits in force.
        budgets: Budgets,
        /// Report on the change that the pack is about.
        #[serde(skip_serializing_if = "Option::is_none")]
        change: Option<ChangeReport>,
        /// The seeds that are shown, best first; in layout `graph` those of section `seeds`.
        seeds: Vec<SeedEntry>,
        /// Sections in their fixed order; empty ones too.
        sections: Vec<Section>,
        /// The explain envelope, if `includeExplain` is set.
        #[serde(skip_serializing_if = "Option::is_none")]
        explain: Option<Explain>,
        /// Counts.
        stats: Stats,
        /// Follow-ups, when budget or coverage fell short.
        #[serde(rename = "suggested_next_queries", skip_serializing_if = "Vec::is_empty")]
        suggested_next_queries: Vec<String>,
        /// What is missing, when budget or coverage fell short.
        #[serde(rename = "missing_context_hints", skip_serializing_if = "Vec::is_empty")]
        missing_context_hints: Vec<String>,
        /// Warnings: codes of errors, and sentences.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        warnings: Vec<String>,
        /// True if too little was found for the task.
        #[serde(rename = "insufficient_context")]
        insufficient_context: bool,
        /// How sure the pack is that it holds an answer.
        confidence: Confidence,
        /// The text that was budgeted, as a model receives it. Not a member of the JSON: answers carry it
        /// separately, so it is empty in a pack that was read.
        #[serde(skip)]
        rendered: String,
    }

    /// How sure a pack can be that its first place is right; all numbers in 0..1, in hundredths.
    #[derive(Copy)]
    Confidence {
        /// Share of the answers like this whose first place was right, as measured on questions with known
        /// answers (docs/internals/ranking.md), in tenths.
        score: f64,
        /// What the answer rests on.
        basis: Basis,
        /// How well the first hit fits: its share of the weight of all words of the text and the expectations,
        /// times its score by words in parts of the best one.
        fit: f64,
        /// The largest share of the weight of these words that one of the ten best hits contains, times the
        /// share of the words that occur in the tree.
        coverage: f64,
    }

    /// A change between two states of the tree.
    #[schemars(rename = "Change")]
    ChangeReport {
        /// The state before: a commit id, `staged`, `worktree`, or `patch`.
        from: String,
        /// The state after, likewise.
        to: String,
        /// The files, in the order of the text.
        files: Vec<FileReport>,
        /// Parts whose lines are in the text.
        shown: u64,
        /// Parts that had no room.
        left_out: u64,
    }

    /// What a change does to a file.
    #[schemars(rename = "ChangedFile")]
    FileReport {
        /// Path; of a removed file the former one.
        file_rel_path: String,
        /// The previous path if the file was renamed.
        #[serde(skip_serializing_if = "Option::is_none")]
        previous_path: Option<String>,
        /// `added`, `removed`, `modified` or `renamed`.
        status: Status,
        /// True if the index holds the text after the change. Only then are callers and tests looked up.
        indexed: bool,
        /// Why its text is not shown.
        #[serde(skip_serializing_if = "Option::is_none")]
        unreadable: Option<Word>,
        /// Its changed parts, ordered by place.
        parts: Vec<PartReport>,
    }

    /// A changed definition, or changed lines outside definitions.
    #[schemars(rename = "ChangedPart")]
    PartReport {
        /// Qualified name; empty for lines outside definitions.
        name: String,
        /// The previous name if the definition was renamed.
        #[serde(skip_serializing_if = "Option::is_none")]
        previous_name: Option<String>,
        /// `added`, `removed`, `modified` or `renamed`.
        status: Status,
        /// True if its users may have to change: its signature or name differs, or it was removed.
        contract: bool,
        /// The signature before.
        #[serde(skip_serializing_if = "Option::is_none")]
        signature_before: Option<String>,
        /// The signature after.
        #[serde(skip_serializing_if = "Option::is_none")]
        signature_after: Option<String>,
        /// The equal definition that was added or removed in another file: `name in path`.
        #[serde(skip_serializing_if = "Option::is_none")]
        elsewhere: Option<String>,
        /// Lines added.
        added: u32,
        /// Lines removed.
        removed: u32,
        /// Its part of the diff, as the text shows it; absent if it did not fit.
        #[serde(skip_serializing_if = "Option::is_none")]
        diff: Option<String>,
    }

    /// One limit in force.
    #[derive(Copy, Eq)]
    Limit {
        /// The value.
        value: u64,
        /// Where it came from.
        source: LimitSource,
    }

    /// The limits in force.
    #[derive(Eq)]
    #[schemars(rename = "BudgetsResolved")]
    Budgets {
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
        negative_reserves: Vec<Word>,
        /// Name of the token counter.
        tokenizer: String,
        /// Whether it counts exactly.
        exact: bool,
    }

    /// A limit that was asked for above its hard cap.
    #[derive(Eq)]
    Clamp {
        /// Name.
        limit: Word,
        /// Asked for.
        asked: u64,
        /// Granted.
        granted: u64,
    }

    /// UTF-16 code units from the start of the file, half-open.
    #[derive(Copy, Eq)]
    Range {
        /// First.
        start: u32,
        /// One past the last.
        end: u32,
    }

    /// 1-based lines, inclusive.
    #[derive(Copy, Eq, PartialOrd, Ord)]
    #[schemars(rename = "Lines")]
    LineRange {
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
        lines: LineRange,
        /// Retrieval score in 0..1.
        seed_score: f64,
        /// What each signal added, when explained.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        signals: BTreeMap<Word, f64>,
    }

    /// An ordered group of items with one role.
    #[schemars(rename = "ContextSection")]
    Section {
        /// Its name.
        name: Word,
        /// Items in rank order.
        items: Vec<Item>,
        /// Candidates that were left out.
        dropped: u32,
    }

    /// A chunk or symbol in a pack.
    #[schemars(rename = "ContextItem")]
    Item {
        /// `symbol` when it has a symbol id, else `chunk`.
        kind: Word,
        /// Symbol, where it has one.
        #[serde(skip_serializing_if = "Option::is_none")]
        symbol_id: Option<String>,
        /// Chunk.
        chunk_uid: String,
        /// Path, lines and provenance, under the names of the layout.
        #[serde(flatten)]
        at: At,
        /// Place of the definition.
        range: Range,
        /// Language identifier.
        language_id: Word,
        /// The signature, or a heading, or the first line.
        title: String,
        /// How much of it is shown: `diff`, `whole`, `windows`, `head` or `place`.
        form: Form,
        /// What is shown.
        excerpt: Excerpt,
        /// Scores.
        scores: Scores,
        /// How the hybrid score comes about, when explained: the value of each node is that of its
        /// parts, added or multiplied in order.
        #[serde(skip_serializing_if = "Option::is_none")]
        explanation: Option<Explanation>,
        /// Why it is here.
        why: Why,
        /// What it is: definition, reference, import, test, config, doc.
        traits: Vec<Word>,
        /// Kinds of the secrets that are replaced in its text by `[REDACTED:kind]`, ordered; `secret`
        /// for a short one. Lines and lengths are those of the file.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        redactions: Vec<String>,
        /// Other places with the same content.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        also_at: Vec<Place>,
        /// Tokens of its excerpt, counted by parts; headers and gap marks are not in it.
        tokens: u64,
    }

    /// What is shown of an item.
    Excerpt {
        /// The exact stored texts of the parts, one after the other.
        text: String,
        /// True if parts of the item are left out.
        truncated: bool,
        /// Why parts are left out.
        #[serde(skip_serializing_if = "Option::is_none")]
        truncation: Option<Truncation>,
        /// Runs of whole lines in order.
        parts: Vec<Part>,
    }

    /// A run of whole lines.
    Part {
        /// Lines.
        lines: LineRange,
        /// Place, when explained.
        #[serde(skip_serializing_if = "Option::is_none")]
        range: Option<Range>,
    }

    /// Why an excerpt was cut.
    Truncation {
        /// The limit on bytes.
        max_bytes: u64,
        /// The limit that bound.
        reason: Word,
    }

    /// Scores of an item.
    #[derive(Copy)]
    Scores {
        /// Retrieval score in 0..1.
        seed_score: f64,
        /// Fewest hops from a seed.
        graph_distance: u32,
        /// Confidence along the best path.
        evidence_score: f64,
        /// The combined score by which packs are ordered, 0..1.
        hybrid_score: f64,
    }

    /// Why an item is in the pack.
    Why {
        /// The rule, for example `call-neighbor`.
        rule: String,
        /// Edges from a seed to the item; empty for seeds.
        path: Vec<PathStep>,
        /// Evidence behind the rule, the best piece first; that piece alone unless explained.
        evidence: Vec<Evidence>,
        /// True if an edge of the path lacks evidence.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        evidence_gap: bool,
        /// Other sections that would have claimed it, `dispatch` for a possible call through an
        /// interface or a base, and what else connects it with items of the pack, counted from 1 in
        /// its order: `called by item 3`, `may call item 4`.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        also: Vec<String>,
    }

    /// One edge of a path.
    #[derive(Eq)]
    PathStep {
        /// Kind of edge.
        edge_type: Word,
        /// `inherit` or `implement` for the usages that are.
        #[serde(skip_serializing_if = "Option::is_none")]
        subkind: Option<Word>,
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
        kind: Word,
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
        /// True if the line belongs to the item and is not in its excerpt; absent otherwise.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        outside_excerpt: bool,
    }

    /// Another place with the same content.
    #[derive(Eq)]
    Place {
        /// Path.
        file_rel_path: String,
        /// Lines.
        lines: LineRange,
        /// Chunk.
        chunk_uid: String,
        /// Symbol, where it has one.
        #[serde(skip_serializing_if = "Option::is_none")]
        symbol_id: Option<String>,
    }

    /// Counts. `found = included + merged + dropped`, always.
    #[schemars(rename = "ContextPackStats")]
    Stats {
        /// Candidates.
        found: u64,
        /// Items.
        included: u64,
        /// Candidates merged into an item, which names them in `alsoAt`.
        merged: u64,
        /// Candidates left out.
        dropped: u64,
        /// The same by `budget`, `noEvidence`, `duplicate`, `unsupported`.
        dropped_by_reason: BTreeMap<Word, u64>,
        /// Items by section.
        items_by_section: BTreeMap<Word, u64>,
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
        providers: Vec<Word>,
        /// Microseconds by stage; volatile, not part of the canonical form.
        #[serde(skip_serializing_if = "BTreeMap::is_empty")]
        timings: BTreeMap<String, u64>,
    }

    /// The explain envelope.
    Explain {
        /// The workspace.
        repo_id: String,
        /// What was understood of the query.
        query: BTreeMap<Word, Vec<String>>,
        /// Weights in force, zero ones too.
        weights: Value,
        /// Bounds that stopped expansion.
        expansion: ExpansionReport,
        /// Items whose path lacks required evidence, by chunk uid.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        evidence_gaps: Vec<EvidenceGap>,
        /// Candidates left out, best first, then named files that are not read; at most `maxItems`.
        excluded: Vec<Excluded>,
        /// How many more were left out.
        excluded_more: u64,
    }

    /// How far expansion went.
    #[derive(Copy, Eq)]
    ExpansionReport {
        /// Seeds whose edges were followed.
        seeds: u32,
        /// Seeds that were found.
        seeds_found: u32,
        /// Edges read.
        edges: u32,
        /// Definitions reached.
        records: u32,
        /// Hops at which something was reached.
        hops: u32,
        /// True if a bound stopped the walk.
        bounded: bool,
    }

    /// A path without the required evidence.
    #[derive(Eq)]
    EvidenceGap {
        /// The item.
        chunk_uid: String,
        /// The edges that lack evidence.
        edges: Vec<PathStep>,
    }

    /// A candidate that was left out.
    Excluded {
        /// Path.
        file_rel_path: String,
        /// Lines; 0 to 0 for a file that is not read.
        lines: LineRange,
        /// Title.
        title: String,
        /// Score.
        hybrid_score: f64,
        /// Reason in detail.
        reason: Word,
    }
}

/// The place of an item: its path relative to the root, the lines of its definition (1-based, inclusive), and
/// its provenance.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum At {
    /// In layout `agent`.
    Agent {
        /// Path.
        path: String,
        /// First line.
        line_start: u32,
        /// Last line.
        line_end: u32,
        /// Written as further members of the item.
        #[serde(flatten)]
        provenance: Provenance,
    },
    /// In the other layouts.
    #[serde(rename_all = "camelCase")]
    Graph {
        /// Path.
        file_rel_path: String,
        /// Lines.
        lines: LineRange,
        /// Provenance.
        provenance: Provenance,
    },
}

impl Default for At {
    fn default() -> Self {
        Self::Graph {
            file_rel_path: String::new(),
            lines: LineRange::default(),
            provenance: Provenance::default(),
        }
    }
}

/// Provenance of an excerpt: the state that its source was read from, and a hash to check it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Provenance {
    /// Chunk uid, with line offsets when the item is a part.
    pub snippet_id: String,
    /// HEAD's commit when the file equals the committed one, else `worktree:<signature>`.
    #[serde(rename = "ref")]
    pub reference: String,
    /// BLAKE3 hash of the bytes of these lines in the file, line ends included. If the file changed while the
    /// pack was made, or is an unsaved text, that of the text that the index holds.
    pub content_hash: String,
    /// One sentence made from `why`.
    pub selection_reason: String,
}

kinds! {
    /// What an answer rests on.
    Basis {
        /// Nothing was found, or no code holds anything that the caller expected.
        #[default]
        Nothing = "nothing",
        /// A plain question.
        Question = "question",
        /// A longer text, such as the text of a change.
        Task = "task",
        /// Expectations of the caller that code holds.
        Expected = "expected",
        /// Names, places or phrases in the text that the tree holds exactly.
        Names = "names",
    }

    /// How an item is shown.
    Form {
        /// Its place alone, one line in a list.
        Place = "place",
        /// Its signature, and the lines of it that shown code refers to or that refer to shown code.
        Head = "head",
        /// The first lines and those where the words of the text are.
        Windows = "windows",
        /// All of it.
        #[default]
        Whole = "whole",
        /// Its part of the diff of a change; the excerpt holds those of its lines that are in it.
        Diff = "diff",
    }

    /// What a change did to a file or a definition.
    Status {
        /// New.
        Added = "added",
        /// Gone.
        Removed = "removed",
        /// Other lines.
        #[default]
        Modified = "modified",
        /// The same under another name.
        Renamed = "renamed",
    }
}

/// Where a limit came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum LimitSource {
    /// The built-in default.
    #[default]
    Default,
    /// The user's configuration file.
    UserFile,
    /// The repository's configuration file.
    RepositoryFile,
    /// An environment variable of the daemon.
    Environment,
    /// The default of the client, which holds where no configuration names one.
    Client,
    /// The request, where it differs from what would hold without it.
    Request,
    /// The hard cap, below what was asked for.
    HardCap,
}

impl Pack {
    /// The whole pack as JSON, volatile members included.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or(Value::Null)
    }

    /// The bytes that equal packs have in common.
    pub fn canonical(&self) -> String {
        let mut value = self.to_json();
        canonical::strip_volatile(&mut value);
        canonical::to_string(&value)
    }

    /// All items in the order of their sections.
    pub fn items(&self) -> impl Iterator<Item = &Item> {
        self.sections.iter().flat_map(|s| &s.items)
    }

    /// The items in the form of [`crate::Request::seen`], for a follow-up request.
    pub fn seen(&self) -> Vec<String> {
        self.items().map(Item::seen_mark).collect()
    }
}

impl Item {
    /// Path, relative to the root.
    pub fn path(&self) -> &str {
        match &self.at {
            At::Agent { path, .. } | At::Graph { file_rel_path: path, .. } => path,
        }
    }

    /// Lines of the definition.
    pub fn lines(&self) -> LineRange {
        match self.at {
            At::Agent { line_start: start, line_end: end, .. } => LineRange { start, end },
            At::Graph { lines, .. } => lines,
        }
    }

    /// Provenance.
    pub fn provenance(&self) -> &Provenance {
        match &self.at {
            At::Agent { provenance, .. } | At::Graph { provenance, .. } => provenance,
        }
    }

    /// Marks the item as seen in [`crate::Request::seen`]: its chunk uid, with `@head` if only the head was
    /// shown, so that a later pack may show the rest.
    pub fn seen_mark(&self) -> String {
        match self.form {
            Form::Head => format!("{}@head", self.chunk_uid),
            _ => self.chunk_uid.clone(),
        }
    }
}
