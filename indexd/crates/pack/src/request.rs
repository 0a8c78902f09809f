//! What a caller asks for: every option that shapes a pack is a field of [`Request`].
//!
//! A query and a budget are enough; everything else has a documented default. [`Request::resolve`]
//! fills the defaults, applies the hard caps and gives the [`Resolved`] form, whose canonical JSON
//! is what equal requests have in common.

use crate::canonical;
use crate::change::ChangeId;
use crate::config::Config;
use crate::error::PackError;
use crate::pack::{Budgets, Clamp, Limit, LimitSource};
use indexd_model::limits;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A request as it arrives. Absent members mean the default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Request {
    /// The workspace; filled in by the daemon.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repo_id: Option<String>,
    /// Root of the index; filled in by the daemon, shown as `workspace:<repoId>`, never a real path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index_root: Option<String>,
    /// Pins one snapshot; absent means the current one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index_signature: Option<String>,
    /// The task in words; may be a whole issue text.
    pub query: String,
    /// What kinds of content seeds may be. Default `mixed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed_mode: Option<SeedMode>,
    /// How seeds are found. Default `hybrid`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed_provider: Option<SeedProvider>,
    /// What the pack is for. Default `answer`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intent: Option<Intent>,
    /// An entity that is a seed of score 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focus: Option<Focus>,
    /// A change that the pack is about; `query` may be empty beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<ChangeRequest>,
    /// How far and along which edges to look.
    pub expansion: ExpansionRequest,
    /// Limits.
    pub budgets: BudgetsRequest,
    /// Gross budget; an alternative to `budgets.maxTotalTokens`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_budget: Option<ContextBudgetRequest>,
    /// Limits of the client, filled in by the daemon, for those that the request does not name.
    #[serde(skip)]
    pub client_budgets: BudgetsRequest,
    /// How items are ordered.
    pub ordering: OrderingRequest,
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
    /// The token counter's name. Default from config.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<String>,
    /// What the reader has already: ids of packs, which the daemon replaces by their items, and chunk uids,
    /// each alone, with `@head` where only its head was seen, or with `@` and the content hash seen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<String>,
    /// Version of the contract the caller speaks; absent means this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schema_version: Option<String>,
}

macro_rules! options {
    ($(#[$doc:meta])* $name:ident { $(#[$first_doc:meta])* $first:ident $(, $(#[$variant_doc:meta])* $variant:ident)* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub enum $name {
            $(#[$first_doc])*
            #[default]
            $first,
            $($(#[$variant_doc])* $variant,)*
        }
    };
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
}
options! {
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
        /// See what a change reaches; the graph goes first.
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
        /// Both ways.
        Both,
        /// From source to target: callees.
        Out,
        /// From target to source: callers.
        In,
    }
}
options! {
    /// Behaviour at hard caps and where evidence is missing.
    Strictness {
        /// Clamp and keep, and say so.
        Warn,
        /// Refuse and drop.
        Strict,
        /// Clamp and keep, without gap details.
        Loose,
    }
}
options! {
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
}
options! {
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
        /// Seed score, graph distance, evidence.
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

/// A kind of edge as asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EdgeType {
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

/// A kind of evidence as asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum EvidenceFilter {
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

/// An entity named by the caller; exactly one member is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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

/// A change as asked for; exactly one of the first four members is set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ChangeRequest {
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
    /// A patch in the unified format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    /// What it stands for, filled in by the daemon.
    #[serde(skip)]
    pub found: Option<ChangeId>,
}

/// Expansion as asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ExpansionRequest {
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
    pub evidence_kinds: Option<Vec<EvidenceFilter>>,
}

/// Limits as asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct BudgetsRequest {
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

/// A gross budget as asked for; absent members are those of the configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ContextBudgetRequest {
    /// Tokens of the whole window. Default 100,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<u64>,
    /// Tokens kept free for the response; a negative value counts as 0. Default 8,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response_reserve: Option<i64>,
    /// Tokens kept free for the system prompt; a negative value counts as 0. Default 2,000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_reserve: Option<i64>,
}

impl ContextBudgetRequest {
    fn resolve(self, config: &Config) -> ContextBudget {
        let default = config.window;
        ContextBudget {
            total_tokens: self.total_tokens.unwrap_or(default.total_tokens),
            response_reserve: self.response_reserve.unwrap_or(default.response_reserve),
            system_reserve: self.system_reserve.unwrap_or(default.system_reserve),
        }
    }
}

/// A gross budget: what is left after the reserves is available.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContextBudget {
    /// Tokens of the whole window.
    pub total_tokens: u64,
    /// Tokens kept free for the response; a negative value counts as 0.
    pub response_reserve: i64,
    /// Tokens kept free for the system prompt; a negative value counts as 0.
    pub system_reserve: i64,
}

impl Default for ContextBudget {
    fn default() -> Self {
        Self { total_tokens: 100_000, response_reserve: 8_000, system_reserve: 2_000 }
    }
}

impl ContextBudget {
    /// The reserves that are negative, by name.
    fn negative(self) -> Vec<&'static str> {
        let reserves = [("responseReserve", self.response_reserve), ("systemReserve", self.system_reserve)];
        reserves.into_iter().filter(|(_, tokens)| *tokens < 0).map(|(name, _)| name).collect()
    }

    /// Total less the reserves; reserves cannot enlarge it and never take it below 0.
    pub fn available(self) -> u64 {
        self.total_tokens
            .saturating_sub(self.response_reserve.max(0) as u64)
            .saturating_sub(self.system_reserve.max(0) as u64)
    }
}

/// Order as asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct OrderingRequest {
    /// First key. Default hybridScore.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub primary: Option<Primary>,
    /// Keys that decide between equals, first ones first; the rest follow in their usual order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stable_tie_breakers: Option<Vec<TieBreaker>>,
}

/// A request with every default filled in and every cap applied.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resolved {
    /// The task in words.
    pub query: String,
    /// What kinds of content seeds may be.
    pub seed_mode: SeedMode,
    /// How seeds are found.
    pub seed_provider: SeedProvider,
    /// What the pack is for.
    pub intent: Intent,
    /// An entity that is a seed of score 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focus: Option<Focus>,
    /// The change that the pack is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<ChangeId>,
    /// Expansion.
    pub expansion: Expansion,
    /// Limits in force.
    pub budgets: Caps,
    /// The gross budget that the tokens come from, where it is not the one of the configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_budget: Option<ContextBudget>,
    /// Order.
    pub ordering: Ordering,
    /// Strictness.
    pub strictness: Strictness,
    /// Whether the explain envelope is present.
    pub include_explain: bool,
    /// Sections.
    pub layout: Layout,
    /// Scoring profile.
    pub scoring: Scoring,
    /// Renderer.
    pub renderer: Renderer,
    /// Name of the token counter.
    pub tokenizer: String,
    /// Items that the reader has, sorted, without repeats.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub seen: Vec<String>,
}

/// Expansion with defaults filled in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Expansion {
    /// Hops.
    pub max_hops: u32,
    /// Kinds of edges, sorted, without repeats.
    pub edge_types: Vec<EdgeType>,
    /// Whether `import` is among them.
    pub include_imports: bool,
    /// Whether `export` is among them.
    pub include_exports: bool,
    /// Whether `dataflow` is among them.
    pub include_dataflow: bool,
    /// Which way.
    pub direction: Direction,
    /// Whether neighbours in the file of a seed are candidates.
    pub include_same_file_neighbors: bool,
    /// Whether a path needs evidence on every edge.
    pub require_evidence: bool,
    /// Kinds of evidence that count, sorted, without repeats.
    pub evidence_kinds: Vec<EvidenceFilter>,
}

/// Limits in force.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Caps {
    /// Characters of the rendering.
    pub max_total_chars: u64,
    /// Tokens of the rendering.
    pub max_total_tokens: u64,
    /// Items.
    pub max_items: u64,
    /// Items of one section.
    pub max_items_per_section: u64,
    /// Bytes of one excerpt.
    pub max_bytes_per_item: u64,
    /// Where the pack ends.
    pub stop: Stop,
}

/// Order with defaults filled in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ordering {
    /// First key.
    pub primary: Primary,
    /// All four keys that decide between equals, in order.
    pub stable_tie_breakers: Vec<TieBreaker>,
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

    /// Fills the defaults, applies the hard caps and checks what does not go together.
    ///
    /// # Errors
    /// [`PackError::InvalidRequest`] for an empty query without focus, several members of `focus`
    /// or an oversized query; [`PackError::NotSupported`] for `ann` and `json`; [`PackError::ContractVersion`]
    /// for a foreign version; [`PackError::BudgetExceeded`] for a strict request above a hard cap.
    pub fn resolve(&self, config: &Config) -> Result<(Resolved, Budgets), PackError> {
        self.check()?;
        let strictness = self.strictness.unwrap_or_default();
        let mut budgets = self.budgets(config);
        if strictness == Strictness::Strict
            && let Some(c) = budgets.clamped.first()
        {
            return Err(PackError::BudgetExceeded { limit: c.limit, asked: c.asked, cap: c.granted });
        }
        let caps = Caps {
            max_total_chars: budgets.max_total_chars.value,
            max_total_tokens: budgets.max_total_tokens.value,
            max_items: budgets.max_items.value,
            max_items_per_section: budgets.max_items_per_section.value,
            max_bytes_per_item: budgets.max_bytes_per_item.value,
            stop: self.budgets.stop.unwrap_or_default(),
        };
        let tokenizer = self.tokenizer.clone().unwrap_or_else(|| config.tokenizer.clone());
        budgets.tokenizer.clone_from(&tokenizer);
        let resolved = Resolved {
            query: self.query.trim().to_owned(),
            seed_mode: self.seed_mode.unwrap_or_default(),
            seed_provider: self.seed_provider.unwrap_or_default(),
            intent: self.intent.unwrap_or_default(),
            focus: self.focus.clone().filter(|f| *f != Focus::default()),
            change: self.change.as_ref().map(|c| c.found.clone().unwrap_or_default()),
            expansion: self.expansion.resolve(budgets.max_hops.value as u32),
            budgets: caps,
            context_budget: self.gross(config),
            ordering: self.ordering.resolve(),
            strictness,
            include_explain: self.include_explain.unwrap_or(true),
            layout: self.layout.unwrap_or_default(),
            scoring: self.scoring.unwrap_or_default(),
            renderer: self.renderer.unwrap_or_default(),
            tokenizer,
            seen: self.seen(),
        };
        Ok((resolved, budgets))
    }

    fn seen(&self) -> Vec<String> {
        let mut seen = self.seen.clone();
        seen.sort_unstable();
        seen.dedup();
        seen
    }

    fn check(&self) -> Result<(), PackError> {
        let invalid = |detail: &str| Err(PackError::InvalidRequest { detail: detail.to_owned() });
        if let Some(asked) = self.schema_version.as_deref().filter(|v| *v != crate::pack::SCHEMA_VERSION) {
            return Err(PackError::ContractVersion {
                asked: asked.to_owned(),
                supported: crate::pack::SCHEMA_VERSION,
            });
        }
        if self.seed_provider == Some(SeedProvider::Ann) {
            return Err(PackError::NotSupported {
                what: "seedProvider ann: there is no vector provider".to_owned(),
            });
        }
        if self.renderer == Some(Renderer::Json) {
            return Err(PackError::NotSupported {
                what: "renderer json: the budgeted text is what a model reads".to_owned(),
            });
        }
        let named = self.focus.as_ref().map_or(0, |f| {
            usize::from(f.symbol_id.is_some())
                + usize::from(f.chunk_uid.is_some())
                + usize::from(f.file_rel_path.is_some())
        });
        if named > 1 {
            return invalid("focus names more than one entity");
        }
        if let Some(change) = &self.change {
            change.check()?;
        }
        if self.query.trim().is_empty() && named == 0 && self.change.is_none() {
            return invalid("query is empty");
        }
        if self.query.len() > limits::QUERY_BYTES_MAX {
            return invalid("query is longer than 256 KiB");
        }
        if self.seen.len() > limits::SEEN_MAX {
            return invalid("seen names more than 2,000 items");
        }
        if let Some(id) = self.seen.iter().find(|id| !id.starts_with("b3:") && !id.starts_with("pack:")) {
            return invalid(&format!("seen holds {id:?}, which is neither a chunk uid nor a pack id"));
        }
        if self.budgets.max_total_tokens.is_some() && self.context_budget.is_some() {
            return invalid("maxTotalTokens and contextBudget exclude each other");
        }
        Ok(())
    }

    /// The gross budget asked for; none where it says no more than the configuration does.
    fn gross(&self, config: &Config) -> Option<ContextBudget> {
        let asked = self.context_budget.map(|c| c.resolve(config))?;
        let says_nothing = asked == config.window && asked.available() == self.tokens(config).value;
        (!says_nothing).then_some(asked)
    }

    /// Tokens where the request names no budget.
    fn tokens(&self, config: &Config) -> Limit {
        config.tokens(self.client_budgets.max_total_tokens)
    }

    fn budgets(&self, config: &Config) -> Budgets {
        let mut clamped = Vec::new();
        // A limit that is written out and holds anyway changes nothing, not even where it comes from:
        // equal requests have equal packs.
        let mut limit = |name: &'static str, asked: Option<u64>, default: Limit, cap: Option<u32>| {
            let asked = asked.filter(|v| *v != default.value);
            let limit = asked.map_or(default, |value| Limit { value, source: LimitSource::Request });
            match cap.map(u64::from) {
                Some(cap) if limit.value > cap => {
                    clamped.push(Clamp { limit: name, asked: limit.value, granted: cap });
                    Limit { value: cap, source: LimitSource::HardCap }
                }
                _ => limit,
            }
        };
        let (b, client, d) = (&self.budgets, &self.client_budgets, &config.budgets);
        let default = |name: &str, client: Option<u64>, value: u64| match client {
            Some(value) => Limit { value, source: LimitSource::Client },
            None => config.limit(name, value),
        };
        let gross = self.context_budget.map(|c| c.resolve(config));
        let chars = default("maxTotalChars", client.max_total_chars, d.max_total_chars);
        let items = default("maxItems", client.max_items, d.max_items);
        let per_section =
            default("maxItemsPerSection", client.max_items_per_section, d.max_items_per_section);
        let bytes = default("maxBytesPerItem", client.max_bytes_per_item, d.max_bytes_per_item);
        let hops = config.limit("maxHops", d.max_hops);
        let asked_tokens = b.max_total_tokens.or_else(|| gross.map(ContextBudget::available));
        let asked_hops = self.expansion.max_hops.map(u64::from);
        Budgets {
            max_total_chars: limit("maxTotalChars", b.max_total_chars, chars, Some(limits::TOTAL_CHARS_MAX)),
            max_total_tokens: limit("maxTotalTokens", asked_tokens, self.tokens(config), None),
            max_items: limit("maxItems", b.max_items, items, Some(limits::ITEMS_MAX)),
            max_items_per_section: limit(
                "maxItemsPerSection",
                b.max_items_per_section,
                per_section,
                Some(limits::ITEMS_PER_SECTION_MAX),
            ),
            max_bytes_per_item: limit(
                "maxBytesPerItem",
                b.max_bytes_per_item,
                bytes,
                Some(limits::BYTES_PER_ITEM_MAX),
            ),
            max_hops: limit("maxHops", asked_hops, hops, Some(limits::HOPS_MAX)),
            clamped,
            negative_reserves: gross.map_or_else(Vec::new, ContextBudget::negative),
            tokenizer: String::new(),
            exact: true,
        }
    }
}

impl ExpansionRequest {
    fn resolve(&self, max_hops: u32) -> Expansion {
        let mut edge_types = self
            .edge_types
            .clone()
            .unwrap_or_else(|| vec![EdgeType::Call, EdgeType::Usage, EdgeType::Import]);
        for (kind, flag) in [
            (EdgeType::Import, self.include_imports),
            (EdgeType::Export, self.include_exports),
            (EdgeType::Dataflow, self.include_dataflow),
        ] {
            match flag {
                Some(true) => edge_types.push(kind),
                Some(false) => edge_types.retain(|k| *k != kind),
                None => {}
            }
        }
        edge_types.sort_unstable();
        edge_types.dedup();
        let mut evidence_kinds = self.evidence_kinds.clone().unwrap_or_else(|| {
            vec![
                EvidenceFilter::Callsite,
                EvidenceFilter::Identifier,
                EvidenceFilter::ImportStmt,
                EvidenceFilter::Span,
                EvidenceFilter::Tooling,
            ]
        });
        evidence_kinds.sort_unstable();
        evidence_kinds.dedup();
        Expansion {
            max_hops,
            include_imports: edge_types.contains(&EdgeType::Import),
            include_exports: edge_types.contains(&EdgeType::Export),
            include_dataflow: edge_types.contains(&EdgeType::Dataflow),
            edge_types,
            direction: self.direction.unwrap_or_default(),
            include_same_file_neighbors: self.include_same_file_neighbors.unwrap_or(false),
            require_evidence: self.require_evidence.unwrap_or(false),
            evidence_kinds,
        }
    }
}

impl OrderingRequest {
    fn resolve(&self) -> Ordering {
        let mut keys = self.stable_tie_breakers.clone().unwrap_or_default();
        keys.extend([
            TieBreaker::FileRelPath,
            TieBreaker::StartLine,
            TieBreaker::ChunkUid,
            TieBreaker::SymbolId,
        ]);
        let mut seen = Vec::with_capacity(4);
        keys.retain(|k| {
            let new = !seen.contains(k);
            seen.push(*k);
            new
        });
        Ordering { primary: self.primary.unwrap_or_default(), stable_tie_breakers: keys }
    }
}

impl ChangeRequest {
    fn check(&self) -> Result<(), PackError> {
        let invalid = |detail: &str| Err(PackError::InvalidRequest { detail: detail.to_owned() });
        let n = usize::from(self.diff.is_some())
            + usize::from(self.staged)
            + usize::from(self.worktree)
            + usize::from(self.patch.is_some());
        if n != 1 {
            return invalid("change names none or more than one of diff, staged, worktree and patch");
        }
        if self.patch.as_ref().is_some_and(|p| p.len() > limits::PATCH_BYTES_MAX) {
            return invalid("the patch is longer than 4 MiB");
        }
        Ok(())
    }
}

impl Resolved {
    /// Whether a change is all that is asked about.
    pub fn is_change_alone(&self) -> bool {
        self.change.is_some() && self.query.is_empty() && self.focus.is_none()
    }

    /// The bytes that equal requests have in common: canonical JSON of everything besides the index
    /// that a pack depends on. `limits` says also what was asked and where each limit comes from,
    /// which the pack repeats.
    pub fn normalised(&self, limits: &Budgets, repo_id: &str, config: &Config, tool_version: &str) -> String {
        let value = serde_json::json!({
            "request": self,
            "limits": limits,
            "repoId": repo_id,
            "config": config,
            "toolVersion": tool_version,
        });
        canonical::to_string(&value)
    }
}

#[cfg(test)]
mod tests;
