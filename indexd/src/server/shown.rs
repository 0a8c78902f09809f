//! What a pack held and cost, without its content: `context.show`, and the line of the audit trail.

use crate::config::Config;
use indexd_proto::Method;
use indexd_proto::pack::{Item, Word};
use indexd_proto::shown::{ContextSummary, ShownBudget, ShownChunk};
use indexd_proto::sources::{ContextBudget, SourceType};
use indexd_rim::sources::{ContextChunk, Settings};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The figures of a pack. Items of files with unsaved text come from open files, those that the search found
/// from it, the others are references. A record has no settings besides its budgets.
pub fn of_pack(pack: &indexd_pack::Pack, config: Option<&Config>, unsaved: &[String]) -> ContextSummary {
    let chunk = |i: &Item| {
        let parts = &i.excerpt.parts;
        ShownChunk {
            file_path: Some(i.path().to_owned()),
            start_line: parts.first().map_or(i.lines().start, |p| p.lines.start),
            end_line: parts.last().map_or(i.lines().end, |p| p.lines.end),
            tokens: i.tokens,
            origin: origin(unsaved.iter().any(|path| path == i.path()), i.scores.seed_score),
        }
    };
    let mut settings = budgets(&serde_json::to_value(&pack.budgets).unwrap_or_default());
    let groups = config.map(|c| [("scoring", json!(c.pack.scoring)), ("shares", json!(c.pack.shares))]);
    for (group, of) in groups.into_iter().flatten() {
        let numbers = of.as_object().into_iter().flatten();
        settings.extend(numbers.map(|(name, value)| (format!("{group}.{name}"), value.clone())));
    }
    let budget = ShownBudget::new(pack.stats.token_budget, pack.stats.token_budget, pack.stats.token_count);
    summary(Some(pack.pack_id.clone()), Method::Pack, budget, pack.items().map(chunk).collect(), settings)
}

fn origin(is_unsaved: bool, seed_score: f64) -> SourceType {
    match is_unsaved {
        true => SourceType::OpenFile,
        false if seed_score > 0.0 => SourceType::SearchResult,
        false => SourceType::Reference,
    }
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
    budget: ContextBudget,
    settings: &Settings,
) -> ContextSummary {
    let chunk = |c: &ContextChunk| ShownChunk {
        file_path: c.file_path.clone(),
        start_line: c.start_line,
        end_line: c.end_line,
        tokens: u64::from(c.token_count),
        origin: c.source_type,
    };
    let settings = serde_json::to_value(settings).unwrap_or_default();
    let settings = settings.as_object().into_iter().flatten();
    let settings = settings.map(|(key, value)| (key.clone(), value.clone())).collect();
    let budget = ShownBudget::new(budget.total_tokens, budget.available(), used_tokens);
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
        pack_id,
        method: method.name().to_owned(),
        budget,
        sources: ContextSummary::sources_of(&chunks),
        chunks,
        settings,
        ..ContextSummary::default()
    }
}

/// What a pack selected, for the audit trail: of each item the beginning of its chunk uid, its section
/// and its tokens. No path and no content.
pub fn selected(pack: &indexd_pack::Pack) -> String {
    let items = pack.sections.iter().flat_map(|s| s.items.iter().map(|i| (&s.name, i)));
    let mark = |(section, item): (&Word, &Item)| {
        let uid = item.chunk_uid.rsplit(':').next().unwrap_or_default();
        format!("{}/{section}/{}", uid.get(..UID_CHARS).unwrap_or(uid), item.tokens)
    };
    items.map(mark).collect::<Vec<_>>().join(" ")
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
                "provenance": {"snippet_id": "", "ref": "", "content_hash": "", "selection_reason": ""},
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
        let summary = of_pack(&serde_json::from_value(pack).unwrap(), None, &[]);
        assert_eq!(summary.budget, ShownBudget::new(1000, 1000, 250));
        assert_eq!(summary.settings["budgets.maxTotalTokens"], json!(1000));
        let chunks: Vec<_> =
            summary.chunks.iter().map(|c| (c.start_line, c.end_line, c.tokens, c.origin)).collect();
        assert_eq!(chunks, [(3, 9, 70, SourceType::SearchResult), (5, 5, 30, SourceType::Reference)]);
    }
}
