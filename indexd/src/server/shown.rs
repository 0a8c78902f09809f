//! What the latest packs held and cost, without their content: `context.show`, and the line of the audit
//! trail.

use crate::config::Config;
use indexd_pack::contract::{ContextBudget, ContextChunk, Settings, SourceType};
use indexd_proto::Method;
use indexd_proto::shown::{ContextSummary, OriginTag, ShownBudget, ShownChunk};
use lru::LruCache;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Packs whose figures are remembered, by id, and workspaces whose last pack is; each takes about 10 KB.
const KEPT: NonZeroUsize = NonZeroUsize::new(64).expect("not zero");
/// Version of the summary.
const SCHEMA_VERSION: &str = "1.0.0";

/// The figures of the latest packs.
pub struct Shown(Mutex<Inner>);

struct Inner {
    last: LruCache<PathBuf, Arc<ContextSummary>>,
    by_id: LruCache<String, Arc<ContextSummary>>,
}

impl Default for Shown {
    fn default() -> Self {
        Self(Mutex::new(Inner { last: LruCache::new(KEPT), by_id: LruCache::new(KEPT) }))
    }
}

impl Shown {
    /// Remembers the figures of a pack that was answered.
    pub fn put(&self, root: &Path, summary: &Arc<ContextSummary>) {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inner.last.put(root.to_owned(), Arc::clone(summary));
        if let Some(id) = &summary.pack_id {
            inner.by_id.put(id.clone(), Arc::clone(summary));
        }
    }

    /// The last pack of a workspace.
    pub fn last(&self, root: &Path) -> Option<Arc<ContextSummary>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).last.get(root).cloned()
    }

    /// The pack of an id.
    pub fn by_id(&self, id: &str) -> Option<Arc<ContextSummary>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).by_id.get(id).cloned()
    }
}

/// The figures of a pack that was just assembled. Items of files with unsaved text come from open files,
/// those that the search found from it, the others are references.
pub fn of_pack(pack: &indexd_pack::Pack, config: &Config, unsaved: &[String]) -> ContextSummary {
    let chunk = |i: &indexd_pack::pack::Item| {
        let parts = &i.excerpt.parts;
        ShownChunk {
            file_path: Some(i.file_rel_path.clone()),
            start_line: parts.first().map_or(i.lines.start, |p| p.lines.start),
            end_line: parts.last().map_or(i.lines.end, |p| p.lines.end),
            tokens: i.tokens,
            origin: origin(unsaved.contains(&i.file_rel_path), i.scores.seed_score),
        }
    };
    let mut settings = budgets(&serde_json::to_value(&pack.budgets).unwrap_or_default());
    for (group, of) in [("scoring", json!(config.pack.scoring)), ("shares", json!(config.pack.shares))] {
        let numbers = of.as_object().into_iter().flatten();
        settings.extend(numbers.map(|(name, value)| (format!("{group}.{name}"), value.clone())));
    }
    let budget = ShownBudget::new(pack.stats.token_budget, pack.stats.token_budget, pack.stats.token_count);
    summary(Some(pack.pack_id.clone()), Method::Pack, budget, pack.items().map(chunk).collect(), settings)
}

fn origin(is_unsaved: bool, seed_score: f64) -> OriginTag {
    match is_unsaved {
        true => OriginTag::OpenFile,
        false if seed_score > 0.0 => OriginTag::SearchResult,
        false => OriginTag::Reference,
    }
}

/// The figures of a pack that was written. Nothing of a record is an open file.
pub fn of_record(pack: &Value) -> ContextSummary {
    let number = |v: &Value| v.as_u64().unwrap_or_default();
    let line = |v: &Value| u32::try_from(number(v)).unwrap_or_default();
    let sections = pack["sections"].as_array().into_iter().flatten();
    let chunk = |i: &Value| {
        let parts = i["excerpt"]["parts"].as_array().map_or(&[][..], Vec::as_slice);
        let edge =
            |part: Option<&Value>, which: &str| line(part.map_or(&i["lines"][which], |p| &p["lines"][which]));
        ShownChunk {
            file_path: i["fileRelPath"].as_str().map(str::to_owned),
            start_line: edge(parts.first(), "start"),
            end_line: edge(parts.last(), "end"),
            tokens: number(&i["tokens"]),
            origin: origin(false, i["scores"]["seedScore"].as_f64().unwrap_or_default()),
        }
    };
    let chunks = sections.flat_map(|s| s["items"].as_array().into_iter().flatten()).map(chunk).collect();
    let stats = &pack["stats"];
    let available = number(&stats["tokenBudget"]);
    let budget = ShownBudget::new(available, available, number(&stats["tokenCount"]));
    let id = pack["packId"].as_str().map(str::to_owned);
    summary(id, Method::Pack, budget, chunks, budgets(&pack["budgets"]))
}

/// The limits in force, by key.
fn budgets(resolved: &Value) -> BTreeMap<String, Value> {
    let values = resolved.as_object().into_iter().flatten();
    values.filter_map(|(key, limit)| Some((format!("budgets.{key}"), limit.get("value")?.clone()))).collect()
}

/// The figures of a packing of offered sources.
pub fn of_sources(
    chunks: &[ContextChunk],
    used_tokens: u64,
    budget: &ContextBudget,
    settings: &Settings,
) -> ContextSummary {
    let chunk = |c: &ContextChunk| ShownChunk {
        file_path: c.file_path.clone(),
        start_line: c.start_line,
        end_line: c.end_line,
        tokens: u64::from(c.token_count),
        origin: match c.source_type {
            SourceType::ToolResult => OriginTag::ToolResult,
            SourceType::OpenFile => OriginTag::OpenFile,
            SourceType::SearchResult => OriginTag::SearchResult,
            SourceType::Reference => OriginTag::Reference,
        },
    };
    let total = u64::try_from(budget.total_tokens).unwrap_or_default();
    let settings = serde_json::to_value(settings).unwrap_or_default();
    let settings = settings.as_object().into_iter().flatten();
    let settings = settings.map(|(key, value)| (key.clone(), value.clone())).collect();
    let budget = ShownBudget::new(total, budget.available(), used_tokens);
    summary(None, Method::ContextPack, budget, chunks.iter().map(chunk).collect(), settings)
}

fn summary(
    pack_id: Option<String>,
    method: Method,
    budget: ShownBudget,
    chunks: Vec<ShownChunk>,
    settings: BTreeMap<String, Value>,
) -> ContextSummary {
    ContextSummary {
        schema: "ContextSummary".to_owned(),
        schema_version: SCHEMA_VERSION.to_owned(),
        pack_id,
        method: method.name().to_owned(),
        budget,
        sources: ContextSummary::sources_of(&chunks),
        chunks,
        settings,
    }
}

/// What a pack selected, for the audit trail: of each item the beginning of its chunk uid, its section
/// and its tokens. No path and no content.
pub fn selected(pack: &indexd_pack::Pack) -> String {
    let mut out = String::new();
    for section in &pack.sections {
        for item in &section.items {
            if !out.is_empty() {
                out.push(' ');
            }
            let uid = item.chunk_uid.rsplit(':').next().unwrap_or_default();
            let uid = uid.get(..UID_CHARS).unwrap_or(uid);
            out += &format!("{uid}/{}/{}", section.name, item.tokens);
        }
    }
    out
}

/// Characters of a chunk uid in the audit trail: 64 bits tell the chunks of a repository apart.
const UID_CHARS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_record_is_summed_up_as_it_was() {
        let item = |path: &str, from: u32, to: u32, tokens: u64, seed: f64| {
            json!({"fileRelPath": path, "lines": {"start": 1, "end": 99}, "tokens": tokens,
                "excerpt": {"parts": [{"lines": {"start": from, "end": from}}, {"lines": {"start": to, "end": to}}]},
                "scores": {"seedScore": seed}})
        };
        let pack = json!({
            "packId": "pack:sha256:1",
            "budgets": {"maxTotalTokens": {"value": 1000, "source": "request"}},
            "stats": {"tokenBudget": 1000, "tokenCount": 250},
            "sections": [
                {"name": "seeds", "items": [item("a.go", 3, 9, 70, 0.9)]},
                {"name": "callers", "items": [item("b.go", 5, 5, 30, 0.0)]},
            ],
        });
        let summary = of_record(&pack);
        assert_eq!(summary.budget, ShownBudget::new(1000, 1000, 250));
        assert_eq!(summary.settings["budgets.maxTotalTokens"], json!(1000));
        let chunks: Vec<_> =
            summary.chunks.iter().map(|c| (c.start_line, c.end_line, c.tokens, c.origin)).collect();
        assert_eq!(chunks, [(3, 9, 70, OriginTag::SearchResult), (5, 5, 30, OriginTag::Reference)]);
    }

    #[test]
    fn the_last_pack_of_each_workspace_is_remembered() {
        let shown = Shown::default();
        let summary =
            |id: &str| Arc::new(ContextSummary { pack_id: Some(id.to_owned()), ..Default::default() });
        shown.put(Path::new("/a"), &summary("1"));
        shown.put(Path::new("/b"), &summary("2"));
        shown.put(Path::new("/a"), &summary("3"));
        let id = |found: Option<Arc<ContextSummary>>| found.and_then(|s| s.pack_id.clone());
        assert_eq!(id(shown.last(Path::new("/a"))).as_deref(), Some("3"));
        assert_eq!(id(shown.last(Path::new("/b"))).as_deref(), Some("2"));
        assert_eq!(id(shown.by_id("1")).as_deref(), Some("1"));
        assert_eq!(shown.last(Path::new("/c")), None);
    }
}
