//! Completes a request: [`Asked::new`] fills in defaults and applies hard limits. The result is [`Resolved`],
//! whose canonical JSON is the same for equal requests.

use crate::canonical;
use crate::config::Config;
use crate::error::PackError;
use crate::intent;
use crate::pack::{Budgets, Clamp, Limit, LimitSource};
use crate::template::{Template, Writer};
pub use indexd_api::request::*;
use indexd_api::sources::ContextBudget;
use indexd_model::ids::hex;
use indexd_model::limits;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// A request with all defaults filled in and all hard limits applied.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Resolved {
    /// The task in words.
    pub query: String,
    /// What the caller expects in the code that answers, sorted, without repeats.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<String>,
    /// The kinds of content that seeds may have.
    pub seed_mode: SeedMode,
    /// The way in which seeds are found.
    pub seed_provider: SeedProvider,
    /// The purpose of the pack.
    pub intent: Intent,
    /// An entity that is a seed of score 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub focus: Option<Focus>,
    /// The change that the pack is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<ChangeId>,
    /// Bounds and filters of expansion.
    pub expansion: Expansion,
    /// Limits in force.
    pub budgets: Caps,
    /// The gross budget from which the tokens come, if it differs from the configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_budget: Option<ContextBudget>,
    /// Order of candidates.
    pub ordering: Ordering,
    /// Handling of missing evidence and of limits that are too high.
    pub strictness: Strictness,
    /// True if the pack contains the `explain` member.
    pub include_explain: bool,
    /// Layout of the sections.
    pub layout: Layout,
    /// Scoring profile.
    pub scoring: Scoring,
    /// Renderer.
    pub renderer: Renderer,
    /// The text of the template, for renderer `template`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub template: Option<String>,
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
    /// Maximum hops.
    pub max_hops: u32,
    /// Kinds of edges, sorted, without repeats.
    pub edge_types: Vec<EdgeType>,
    /// True if `import` is among them.
    pub include_imports: bool,
    /// True if `export` is among them.
    pub include_exports: bool,
    /// True if `dataflow` is among them.
    pub include_dataflow: bool,
    /// Direction in which edges are followed.
    pub direction: Direction,
    /// True if neighbours of a seed in its file are candidates.
    pub include_same_file_neighbors: bool,
    /// True if every edge of a path needs evidence.
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
    /// The rule by which the pack ends.
    pub stop: Stop,
}

/// Order with defaults filled in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Ordering {
    /// First key.
    pub primary: Primary,
    /// All four tie-breakers, in order.
    pub stable_tie_breakers: Vec<TieBreaker>,
}

/// A request with the values that will be used to answer it.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The options in force.
    pub options: Resolved,
    /// The limits in force.
    pub limits: Budgets,
    /// The state of the index that the request pins.
    pub pinned: Option<String>,
}

impl Asked {
    /// Fills in defaults, applies hard limits and checks combinations.
    ///
    /// # Errors
    /// [`PackError::InvalidRequest`] for an empty query without focus, for more than one member in `focus`,
    /// for an oversized query and for a template that cannot be read; [`PackError::NotSupported`] for `ann`;
    /// [`PackError::ContractVersion`] for another version; [`PackError::BudgetExceeded`] for a strict request
    /// above a hard limit.
    pub fn new(request: &Request, config: &Config) -> Result<Self, PackError> {
        check(request)?;
        let strictness = request.strictness.unwrap_or_default();
        let limits = limits_of(request, config);
        if strictness == Strictness::Strict
            && let Some(c) = limits.clamped.first()
        {
            return Err(PackError::BudgetExceeded { limit: c.limit.clone(), asked: c.asked, cap: c.granted });
        }
        let caps = Caps {
            max_total_chars: limits.max_total_chars.value,
            max_total_tokens: limits.max_total_tokens.value,
            max_items: limits.max_items.value,
            max_items_per_section: limits.max_items_per_section.value,
            max_bytes_per_item: limits.max_bytes_per_item.value,
            stop: request.budgets.stop.unwrap_or_default(),
        };
        let mut seen = request.seen.clone();
        seen.sort_unstable();
        seen.dedup();
        let options = Resolved {
            query: request.query.trim().to_owned(),
            expect: expectations(&request.expect),
            seed_mode: request.seed_mode.unwrap_or_default(),
            seed_provider: request.seed_provider.unwrap_or_default(),
            intent: request.intent.unwrap_or_default(),
            focus: request.focus.clone().filter(|f| *f != Focus::default()),
            change: request.change.as_ref().map(|c| c.found.clone().unwrap_or_default()),
            expansion: expansion(
                request.intent.unwrap_or_default(),
                &request.expansion,
                limits.max_hops.value as u32,
            ),
            budgets: caps,
            context_budget: gross(request, config),
            ordering: ordering(&request.ordering),
            strictness,
            include_explain: request.include_explain.unwrap_or(true),
            layout: request.layout.unwrap_or_default(),
            scoring: request.scoring.unwrap_or_default(),
            renderer: request.renderer.unwrap_or_default(),
            template: request.template.clone(),
            tokenizer: limits.tokenizer.clone(),
            seen,
        };
        options.writer()?;
        Ok(Self { options, limits, pinned: request.index_signature.clone() })
    }

    /// Returns the digest by which a pack is known: of the signature of the index and of everything else on
    /// which the pack depends. It is equal for equal requests.
    pub fn digest(&self, signature: &str, repo_id: &str, config: &Config, tool_version: &str) -> String {
        let normalised = self.normalised(repo_id, config, tool_version);
        hex(&Sha256::new().chain_update(signature.as_bytes()).chain_update(normalised.as_bytes()).finalize())
    }

    /// Returns canonical JSON of everything on which a pack depends besides the index. Limits are included
    /// with the values asked for and their origins, because the pack repeats them.
    fn normalised(&self, repo_id: &str, config: &Config, tool_version: &str) -> String {
        let value = serde_json::json!({
            "request": self.options,
            "limits": self.limits,
            "repoId": repo_id,
            "config": config,
            "toolVersion": tool_version,
        });
        canonical::to_string(&value)
    }
}

fn invalid<T>(detail: &str) -> Result<T, PackError> {
    Err(PackError::InvalidRequest { detail: detail.to_owned() })
}

/// The entries of `expect` without blanks at their ends, sorted, without empty ones and repeats.
fn expectations(entries: &[String]) -> Vec<String> {
    let trimmed = entries.iter().map(|e| e.trim()).filter(|e| !e.is_empty());
    let sorted: BTreeSet<&str> = trimmed.collect();
    sorted.into_iter().map(str::to_owned).collect()
}

fn check(request: &Request) -> Result<(), PackError> {
    if let Some(asked) = request.schema_version.as_deref().filter(|v| *v != crate::pack::SCHEMA_VERSION) {
        return Err(PackError::ContractVersion {
            asked: asked.to_owned(),
            supported: crate::pack::SCHEMA_VERSION,
        });
    }
    if request.seed_provider == Some(SeedProvider::Ann) {
        return Err(PackError::NotSupported {
            what: "seedProvider ann: there is no vector provider".to_owned(),
        });
    }
    let named = request
        .focus
        .as_ref()
        .map_or(0, |f| [&f.symbol_id, &f.chunk_uid, &f.file_rel_path].into_iter().flatten().count());
    if named > 1 {
        return invalid("focus names more than one entity");
    }
    if let Some(change) = &request.change {
        check_change(change)?;
    }
    if request.query.trim().is_empty()
        && expectations(&request.expect).is_empty()
        && named == 0
        && request.change.is_none()
    {
        return invalid("query is empty");
    }
    check_lengths(request)?;
    if request.budgets.max_total_tokens.is_some() && request.context_budget.is_some() {
        return invalid("maxTotalTokens and contextBudget exclude each other");
    }
    Ok(())
}

fn check_lengths(request: &Request) -> Result<(), PackError> {
    if request.expect.len() > limits::EXPECT_MAX {
        return invalid("expect has more than 64 entries");
    }
    if request.expect.iter().any(|e| e.len() > limits::EXPECT_BYTES_MAX) {
        return invalid("an entry of expect is longer than 1 KiB");
    }
    if request.query.len() > limits::QUERY_BYTES_MAX {
        return invalid("query is longer than 256 KiB");
    }
    if request.seen.len() > limits::SEEN_MAX {
        return invalid("seen names more than 2,000 items");
    }
    if let Some(id) = request.seen.iter().find(|id| !id.starts_with("b3:") && !id.starts_with("pack:")) {
        return invalid(&format!("seen holds {id:?}, which is neither a chunk uid nor a pack id"));
    }
    Ok(())
}

/// The gross budget of the request; `None` if it equals the configuration.
fn gross(request: &Request, config: &Config) -> Option<ContextBudget> {
    let asked = request.context_budget.map(|asked| config.window.with(asked))?;
    let says_nothing = asked == config.window && asked.available() == default_tokens(request, config).value;
    (!says_nothing).then_some(asked)
}

/// The tokens of a request that names no budget.
fn default_tokens(request: &Request, config: &Config) -> Limit {
    config.tokens(request.client_budgets.max_total_tokens)
}

/// The limits in force.
fn limits_of(request: &Request, config: &Config) -> Budgets {
    let mut clamped = Vec::new();
    // A limit that equals its default changes nothing, not even its origin: equal requests have equal packs.
    let in_force = |asked: Option<u64>, default: Limit| {
        let asked = asked.filter(|v| *v != default.value);
        asked.map_or(default, |value| Limit { value, source: LimitSource::Request })
    };
    // The limit asked for, else that of the client, else that of the configuration.
    let mut limit = |name: &'static str, [asked, client]: [Option<u64>; 2], configured: u64, cap: u32| {
        let of_client = client.map(|value| Limit { value, source: LimitSource::Client });
        let limit = in_force(asked, of_client.unwrap_or_else(|| config.limit(name, configured)));
        let granted = u64::from(cap);
        if limit.value <= granted {
            return limit;
        }
        clamped.push(Clamp { limit: name.into(), asked: limit.value, granted });
        Limit { value: granted, source: LimitSource::HardCap }
    };
    let (b, c, d) = (&request.budgets, &request.client_budgets, &config.budgets);
    let chars = [b.max_total_chars, c.max_total_chars];
    let items = [b.max_items, c.max_items];
    let of_section = [b.max_items_per_section, c.max_items_per_section];
    let bytes = [b.max_bytes_per_item, c.max_bytes_per_item];
    let hops = [request.expansion.max_hops.map(u64::from), None];
    let usual_hops = intent::hops(request.intent.unwrap_or_default(), d.max_hops);
    let gross = request.context_budget.map(|asked| config.window.with(asked));
    let tokens = b.max_total_tokens.or_else(|| gross.map(ContextBudget::available));
    let section_max = limits::ITEMS_PER_SECTION_MAX;
    Budgets {
        max_total_chars: limit("maxTotalChars", chars, d.max_total_chars, limits::TOTAL_CHARS_MAX),
        max_total_tokens: in_force(tokens, default_tokens(request, config)),
        max_items: limit("maxItems", items, d.max_items, limits::ITEMS_MAX),
        max_items_per_section: limit("maxItemsPerSection", of_section, d.max_items_per_section, section_max),
        max_bytes_per_item: limit("maxBytesPerItem", bytes, d.max_bytes_per_item, limits::BYTES_PER_ITEM_MAX),
        max_hops: limit("maxHops", hops, usual_hops, limits::HOPS_MAX),
        clamped,
        negative_reserves: gross.map_or_else(Vec::new, ContextBudget::negative),
        tokenizer: request.tokenizer.clone().unwrap_or_else(|| config.tokenizer.clone()),
        exact: true,
    }
}

fn expansion(intent: Intent, asked: &ExpansionRequest, max_hops: u32) -> Expansion {
    let mut edge_types = asked.edge_types.clone().unwrap_or_else(|| intent::edge_types(intent));
    for (kind, flag) in [
        (EdgeType::Import, asked.include_imports),
        (EdgeType::Export, asked.include_exports),
        (EdgeType::Dataflow, asked.include_dataflow),
    ] {
        match flag {
            Some(true) => edge_types.push(kind),
            Some(false) => edge_types.retain(|k| *k != kind),
            None => {}
        }
    }
    edge_types.sort_unstable();
    edge_types.dedup();
    let mut evidence_kinds = asked.evidence_kinds.clone().unwrap_or_else(|| EvidenceFilter::ALL.to_vec());
    evidence_kinds.sort_unstable();
    evidence_kinds.dedup();
    Expansion {
        max_hops,
        include_imports: edge_types.contains(&EdgeType::Import),
        include_exports: edge_types.contains(&EdgeType::Export),
        include_dataflow: edge_types.contains(&EdgeType::Dataflow),
        edge_types,
        direction: asked.direction.unwrap_or_else(|| intent::direction(intent)),
        include_same_file_neighbors: asked.include_same_file_neighbors.unwrap_or(false),
        require_evidence: asked.require_evidence.unwrap_or(false),
        evidence_kinds,
    }
}

fn ordering(asked: &OrderingRequest) -> Ordering {
    use TieBreaker::{ChunkUid, FileRelPath, StartLine, SymbolId};
    let mut keys = Vec::with_capacity(4);
    for key in asked.stable_tie_breakers.iter().flatten().chain(&[FileRelPath, StartLine, ChunkUid, SymbolId])
    {
        if !keys.contains(key) {
            keys.push(*key);
        }
    }
    Ordering { primary: asked.primary.unwrap_or_default(), stable_tie_breakers: keys }
}

fn check_change(asked: &ChangeRequest) -> Result<(), PackError> {
    let named = [asked.diff.is_some(), asked.staged, asked.worktree, asked.patch.is_some()];
    if named.into_iter().filter(|is_named| *is_named).count() != 1 {
        return invalid("change names none or more than one of diff, staged, worktree and patch");
    }
    if asked.patch.as_ref().is_some_and(|p| p.len() > limits::PATCH_BYTES_MAX) {
        return invalid("the patch is longer than 4 MiB");
    }
    Ok(())
}

impl Resolved {
    /// The writer of the text; `None` for the default text.
    ///
    /// # Errors
    /// [`PackError::InvalidRequest`] for a template that cannot be read, is too long, is missing, or is given
    /// with another renderer.
    pub fn writer(&self) -> Result<Option<Writer>, PackError> {
        match (self.renderer, self.template.as_deref()) {
            (Renderer::Template, None) => invalid("renderer template needs the text of a template"),
            (Renderer::Template, Some(text)) if text.len() > limits::TEMPLATE_BYTES_MAX => {
                invalid("the template is longer than 64 KiB")
            }
            (Renderer::Template, Some(text)) => Template::new(text).map(Writer::Template).map(Some),
            (_, Some(_)) => invalid("a template needs renderer template"),
            (Renderer::Markdown, None) => Writer::markdown().map(Some),
            (Renderer::Json, None) => Ok(Some(Writer::Json)),
            (Renderer::Text, None) => Ok(None),
        }
    }

    /// True if the request is about a change and has no text.
    pub fn is_change_alone(&self) -> bool {
        self.change.is_some() && self.query.is_empty() && self.focus.is_none()
    }
}

#[cfg(test)]
mod tests;
