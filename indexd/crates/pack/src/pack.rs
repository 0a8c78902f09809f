//! What comes back: a pack as typed data, with its canonical JSON and the text that was budgeted.

use crate::canonical;
use crate::change::ChangeReport;
use crate::confidence::Confidence;
use crate::excerpt::Form;
use crate::request::Resolved;
use crate::score::Explanation;
use indexd_model::Lines;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Version of the pack's shape.
pub const SCHEMA_VERSION: &str = "1.0.0";

/// A context pack.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pack {
    /// Always 1.
    pub format_version: u32,
    /// Always `ContextPack`.
    pub schema: &'static str,
    /// [`SCHEMA_VERSION`].
    pub schema_version: &'static str,
    /// The snapshot it was computed from.
    pub index_signature: String,
    /// `pack:sha256:` and the digest of the signature and the normalised request.
    pub pack_id: String,
    /// ISO time, handed in by the caller; not part of the canonical form.
    pub created_at: String,
    /// The request in force, without the index root.
    pub request: PackRequest,
    /// The limits in force.
    pub budgets: Budgets,
    /// The change that the pack is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<ChangeReport>,
    /// Where expansion started, best first.
    pub seeds: Vec<SeedEntry>,
    /// Sections in their fixed order; empty ones too.
    pub sections: Vec<Section>,
    /// Why, when asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explain: Option<Explain>,
    /// Counts.
    pub stats: Stats,
    /// Follow-ups, when budget or coverage fell short.
    #[serde(rename = "suggested_next_queries", skip_serializing_if = "Vec::is_empty")]
    pub suggested_next_queries: Vec<String>,
    /// What is missing, when budget or coverage fell short.
    #[serde(rename = "missing_context_hints", skip_serializing_if = "Vec::is_empty")]
    pub missing_context_hints: Vec<String>,
    /// Codes and sentences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Whether too little was found to work with; a reader should ask instead of guessing.
    #[serde(rename = "insufficient_context")]
    pub insufficient_context: bool,
    /// How sure the pack is that it holds an answer; in hundredths.
    pub confidence: Confidence,
    /// The text that was budgeted: what a model gets.
    #[serde(skip)]
    pub rendered: String,
}

/// The request as shown in a pack.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PackRequest {
    /// The workspace.
    pub repo_id: String,
    /// `workspace:<repoId>`; the real root is never shown.
    pub index_root: String,
    /// The snapshot that answers, pinned or not.
    pub index_signature: String,
    /// The options in force.
    #[serde(flatten)]
    pub options: Resolved,
}

/// One limit in force and where it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Limit {
    /// The value.
    pub value: u64,
    /// Where it came from.
    pub source: LimitSource,
}

/// Where a limit came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum LimitSource {
    /// The built-in default.
    Default,
    /// The user's configuration file.
    UserFile,
    /// The repository's configuration file.
    RepositoryFile,
    /// An environment variable of the daemon.
    Environment,
    /// An option on the daemon's command line.
    CommandLine,
    /// The default of the client, which holds where no configuration names one.
    Client,
    /// The request, where it differs from what would hold without it.
    Request,
    /// The hard cap, below what was asked for.
    HardCap,
}

/// A limit that was asked for above its hard cap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Clamp {
    /// Name.
    pub limit: &'static str,
    /// Asked for.
    pub asked: u64,
    /// Granted.
    pub granted: u64,
}

/// The limits in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Budgets {
    /// Characters of the rendering.
    pub max_total_chars: Limit,
    /// Tokens of the rendering.
    pub max_total_tokens: Limit,
    /// Items.
    pub max_items: Limit,
    /// Items of one section.
    pub max_items_per_section: Limit,
    /// Bytes of one excerpt.
    pub max_bytes_per_item: Limit,
    /// Hops.
    pub max_hops: Limit,
    /// Limits that were clamped.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clamped: Vec<Clamp>,
    /// Reserves of `contextBudget` that were negative and count as 0.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub negative_reserves: Vec<&'static str>,
    /// Name of the token counter.
    pub tokenizer: String,
    /// Whether it counts exactly.
    pub exact: bool,
}

/// A seed that is shown.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SeedEntry {
    /// Symbol, where it has one; with the explain envelope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol_id: Option<String>,
    /// Chunk.
    pub chunk_uid: String,
    /// Path.
    pub file_rel_path: String,
    /// UTF-16 offsets.
    pub range: Range,
    /// Lines.
    pub lines: LineRange,
    /// Retrieval score in 0..1.
    pub seed_score: f64,
    /// What each signal added, when explained; zero ones are left out.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub signals: BTreeMap<&'static str, f64>,
}

/// UTF-16 code units from the start of the file, half-open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Range {
    /// First.
    pub start: u32,
    /// One past the last.
    pub end: u32,
}

/// 1-based lines, inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct LineRange {
    /// First.
    pub start: u32,
    /// Last.
    pub end: u32,
}

impl From<Lines> for LineRange {
    fn from(l: Lines) -> Self {
        Self { start: l.start, end: l.end }
    }
}

/// An ordered group of items with one role.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Section {
    /// Its name.
    pub name: &'static str,
    /// Items in rank order.
    pub items: Vec<Item>,
    /// Candidates that were left out.
    pub dropped: u32,
}

/// A chunk or symbol in a pack.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Item {
    /// `symbol` when it has a symbol id, else `chunk`.
    pub kind: &'static str,
    /// Symbol, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol_id: Option<String>,
    /// Chunk.
    pub chunk_uid: String,
    /// Path.
    pub file_rel_path: String,
    /// UTF-16 offsets of the definition.
    pub range: Range,
    /// Lines of the definition.
    pub lines: LineRange,
    /// Language identifier.
    pub language_id: &'static str,
    /// The signature, or a heading, or the first line.
    pub title: String,
    /// How much of it is shown.
    pub form: Form,
    /// What is shown.
    pub excerpt: Excerpt,
    /// Scores.
    pub scores: Scores,
    /// How the hybrid score comes about; with the explain envelope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<Explanation>,
    /// Why it is here.
    pub why: Why,
    /// What it is: definition, reference, import, test, config, doc.
    pub traits: Vec<&'static str>,
    /// Kinds of the secrets that are replaced in its text, ordered; `secret` for a short one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub redactions: Vec<String>,
    /// Other places with the same content.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also_at: Vec<Place>,
    /// In layout `flat`, the pieces that the item is made of, by line; the best of them gives all else.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub merged_from: Vec<MergedPart>,
    /// Tokens of its excerpt, counted by parts; headers and gap marks are not in it.
    pub tokens: u64,
    /// Provenance, nested in layout `graph`; with the explain envelope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Provenance>,
    /// Provenance at the top level of the item in layout `agent`; with the explain envelope.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub flat_provenance: Option<Provenance>,
}

/// A piece of a merged item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MergedPart {
    /// Chunk.
    pub chunk_uid: String,
    /// Lines.
    pub lines: LineRange,
}

/// What is shown of an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Excerpt {
    /// The exact stored texts of the parts, one after the other.
    pub text: String,
    /// Whether something of the item is left out.
    pub truncated: bool,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truncation: Option<Truncation>,
    /// Runs of whole lines in order; one when the item is whole.
    pub parts: Vec<Part>,
}

/// A run of whole lines of an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    /// Lines.
    pub lines: LineRange,
    /// UTF-16 offsets; with the explain envelope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
}

/// Why an excerpt was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Truncation {
    /// The limit on bytes.
    pub max_bytes: u64,
    /// The limit that bound: `maxBytesPerItem`, `maxTotalTokens`, `maxTotalChars` or `windows`.
    pub reason: &'static str,
}

/// Scores of an item.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Scores {
    /// Retrieval score in 0..1; 0 when known by the graph alone.
    pub seed_score: f64,
    /// Fewest hops from a seed.
    pub graph_distance: u32,
    /// Confidence along the best path.
    pub evidence_score: f64,
    /// The bounded merge.
    pub hybrid_score: f64,
}

/// Why an item is in the pack.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Why {
    /// The rule, for example `call-neighbor`.
    pub rule: String,
    /// Edges from a seed to the item; empty for seeds.
    pub path: Vec<PathStep>,
    /// Evidence behind the rule; without the explain envelope the best piece.
    pub evidence: Vec<Evidence>,
    /// Marks that an edge of the path lacks evidence.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub evidence_gap: bool,
    /// Other sections that would have claimed it, `dispatch` for a possible call through an interface or a
    /// base, and what else connects it with items of the pack, which count from 1 in its order:
    /// `called by item 3`, `may call item 4`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
}

/// One edge of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PathStep {
    /// Kind of edge.
    pub edge_type: &'static str,
    /// `inherit` or `implement` for the usages that are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subkind: Option<&'static str>,
    /// Source: its symbol, else its chunk, else its file.
    pub from: String,
    /// Target.
    pub to: String,
    /// Evidence of this edge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence_id: Option<String>,
}

/// A piece of evidence.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Evidence {
    /// Kind.
    pub kind: &'static str,
    /// `ev:` and a digest of (kind, path, place).
    pub evidence_id: String,
    /// 0..1.
    pub confidence: f64,
    /// File of the occurrence.
    pub file_rel_path: String,
    /// 1-based line of the occurrence.
    pub line: u32,
    /// The rule of resolution, or the signal of retrieval.
    pub via: String,
    /// Whether the line is one of the item's own that its excerpt leaves out; absent when not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub outside_excerpt: bool,
}

/// Another place with the same content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Place {
    /// Path.
    pub file_rel_path: String,
    /// Lines.
    pub lines: LineRange,
    /// Chunk.
    pub chunk_uid: String,
    /// Symbol, where it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol_id: Option<String>,
}

/// What leads back to the exact source (PROV-01).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Provenance {
    /// Chunk uid, with line offsets when the item is a part.
    pub snippet_id: String,
    /// HEAD's commit when the file equals the committed blob, else `worktree:<signature>`.
    #[serde(rename = "ref")]
    pub reference: String,
    /// Path.
    pub path: String,
    /// First line.
    pub line_start: u32,
    /// Last line.
    pub line_end: u32,
    /// Hash of the full text of these lines.
    pub content_hash: String,
    /// One sentence made from `why`.
    pub selection_reason: String,
}

/// The explain envelope.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explain {
    /// The workspace.
    pub repo_id: String,
    /// What was understood of the query.
    pub query: BTreeMap<&'static str, Vec<String>>,
    /// Weights in force, zero ones too.
    pub weights: Value,
    /// Bounds that stopped expansion.
    pub expansion: ExpansionReport,
    /// Items whose path lacks required evidence, by chunk uid.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence_gaps: Vec<EvidenceGap>,
    /// Candidates left out, best first, then named files that are not read; at most `maxItems`.
    pub excluded: Vec<Excluded>,
    /// How many more were left out.
    pub excluded_more: u64,
}

/// How far expansion went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ExpansionReport {
    /// Seeds whose edges were followed.
    pub seeds: u32,
    /// Seeds that were found.
    pub seeds_found: u32,
    /// Edges read.
    pub edges: u32,
    /// Definitions reached.
    pub records: u32,
    /// Hops at which something was reached.
    pub hops: u32,
    /// Whether a bound stopped the walk.
    pub bounded: bool,
}

/// A path without the required evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EvidenceGap {
    /// The item.
    pub chunk_uid: String,
    /// The edges that lack evidence.
    pub edges: Vec<PathStep>,
}

/// A candidate that was left out.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Excluded {
    /// Path.
    pub file_rel_path: String,
    /// Lines; 0 to 0 for a file that is not read.
    pub lines: LineRange,
    /// Title.
    pub title: String,
    /// Score.
    pub hybrid_score: f64,
    /// Reason in detail.
    pub reason: &'static str,
}

/// Why a candidate is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DropReason {
    /// The room left was too small.
    Budget,
    /// Its section had as many items as allowed.
    SectionCap,
    /// The pack had as many items as allowed.
    ItemCap,
    /// It is larger than the room left, though smaller ones fitted after it.
    TooLarge,
    /// It overlaps a better one.
    Overlap,
    /// Its content is there already.
    Duplicate,
    /// Its path lacks required evidence.
    NoEvidence,
    /// No section's rule claims it.
    NoRule,
    /// Its file may hold secrets.
    Sensitive,
    /// Its file is not text.
    Binary,
}

impl DropReason {
    /// Every reason, in order.
    pub const ALL: [Self; 10] = [
        Self::Budget,
        Self::SectionCap,
        Self::ItemCap,
        Self::TooLarge,
        Self::Overlap,
        Self::Duplicate,
        Self::NoEvidence,
        Self::NoRule,
        Self::Sensitive,
        Self::Binary,
    ];

    /// The name in `explain.excluded`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Budget => "budget",
            Self::SectionCap => "section-cap",
            Self::ItemCap => "item-cap",
            Self::TooLarge => "too-large",
            Self::Overlap => "overlap",
            Self::Duplicate => "duplicate",
            Self::NoEvidence => "no-evidence",
            Self::NoRule => "no-rule",
            Self::Sensitive => "sensitive",
            Self::Binary => "binary",
        }
    }

    /// The one of four public reasons that it counts under (OBS-02, C-09).
    pub fn public(self) -> &'static str {
        match self {
            Self::Budget | Self::SectionCap | Self::ItemCap | Self::TooLarge => "budget",
            Self::Overlap | Self::Duplicate => "duplicate",
            Self::NoEvidence => "noEvidence",
            Self::NoRule | Self::Sensitive | Self::Binary => "unsupported",
        }
    }
}

/// Counts of one assembly. `found = included + merged + dropped` always.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// Candidates.
    pub found: u64,
    /// Items.
    pub included: u64,
    /// Candidates that live on in an item's `alsoAt`.
    pub merged: u64,
    /// Candidates left out.
    pub dropped: u64,
    /// The same by the four public reasons; all four always present.
    pub dropped_by_reason: BTreeMap<&'static str, u64>,
    /// Items by section.
    pub items_by_section: BTreeMap<&'static str, u64>,
    /// Highest hop met.
    pub max_hop: u32,
    /// Tokens of the rendering.
    pub token_count: u64,
    /// Tokens that were available.
    pub token_budget: u64,
    /// Share of the budget in use, in percent, rounded down.
    pub budget_used_percent: u64,
    /// Characters of the rendering.
    pub char_count: u64,
    /// Retrieval routes by which something was found.
    pub providers: Vec<&'static str>,
    /// Timings in microseconds, filled in by the caller; not part of the canonical form.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub timings: BTreeMap<String, u64>,
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

    /// What a follow-up may name as [`crate::Request::seen`]: the chunk uid of each item, with `@head` for
    /// those of which only a part was shown that a later pack may repeat in full.
    pub fn seen(&self) -> Vec<String> {
        let mark = |i: &Item| match i.form {
            Form::Head => format!("{}@head", i.chunk_uid),
            _ => i.chunk_uid.clone(),
        };
        self.items().map(mark).collect()
    }

    /// All items in the order of their sections.
    pub fn items(&self) -> impl Iterator<Item = &Item> {
        self.sections.iter().flat_map(|s| &s.items)
    }
}
