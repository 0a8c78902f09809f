//! Requests for documents: the map, the context of a task, packs of offered sources.

use super::{Reading, Service, TOOL_VERSION, target};
use crate::page;
use crate::server::backend::{Answer, Context, cancelled};
use crate::server::dispatch::json;
use crate::server::{convert, documents, log, shown, sources};
use indexd_model::IndexView as _;
use indexd_model::limits::QUERY_BYTES_MAX;
use indexd_pack::request::Asked;
use indexd_proto::documents::{MapParams, MapResult, MarkdownParams, MarkdownResult};
use indexd_proto::error::{ErrorCode, ErrorObject};
use indexd_proto::sources::{PackingMode, SourcesParams, SourcesResult};
use indexd_rim::document;
use indexd_rim::sources::{self as packer, Packer};
use indexd_text::TokenCounter as _;
use std::sync::Arc;

/// Tokens that a map may be limited to.
const MAP_TOKENS: std::ops::RangeInclusive<u32> = 500..=90_000;

impl Service {
    /// `repo_map.md`, with the same as data.
    pub(super) fn map(&self, p: MapParams, ctx: &Context) -> Answer {
        if let Some(n) = p.max_tokens {
            convert::within("maxTokens", "number of tokens", n, MAP_TOKENS)?;
        }
        let reading = self.read(target(&p.repo, &p.cwd), p.wait, p.progress, ctx)?;
        let name = match p.max_tokens {
            _ if p.whole => "repo_map-whole".to_owned(),
            Some(n) => format!("repo_map-{n}"),
            None => "repo_map".to_owned(),
        };
        let entry = self.document(&reading, &name);
        let make = || {
            let is_cancelled = || ctx.cancel.is_cancelled();
            let map = indexd_map::map(&reading.snapshot, &reading.repo_id, &is_cancelled)
                .map_err(|_| cancelled())?;
            let markdown = match p.max_tokens {
                _ if p.whole => indexd_map::page::whole(&map),
                None => indexd_map::page::page(&map),
                Some(most) => {
                    let counter = self.counter(&self.config.pack.tokenizer)?;
                    let fits = |text: &str| ctx.check().is_ok() && counter.count_tokens(text) <= most;
                    indexd_map::page::page_that(&map, &fits)
                }
            };
            ctx.check()?;
            Ok(MapResult { markdown, map, ..MapResult::default() })
        };
        let (mut answer, cache, warnings) =
            entry.document(("the map", p.no_cache), |a: &MapResult| &a.markdown, make)?;
        (answer.cache, answer.warnings) = (cache, warnings);
        answer.page = p.page.then(|| page::map::render(&answer.map, &reading.editor(ctx)));
        answer.envelope = reading.envelope(ctx);
        json(&answer)
    }

    /// `context_pack.md` of a task, with the same as data.
    pub(super) fn markdown(&self, p: MarkdownParams, ctx: &Context) -> Answer {
        check_query(&p.query)?;
        let reading = self.read(target(&p.repo, &p.cwd), p.wait, p.progress, ctx)?;
        reading.check_enabled()?;
        let name = documents::hex(&[&reading.snapshot.signature(), "task", &p.query]);
        let entry = self.document(&reading, &format!("context_pack-{name}"));
        let make = || {
            let asked = Asked::new(&document::request(&p.query), &reading.config.pack)?;
            let pack = self.assemble(&reading, (&asked, None), ctx, indexd_pack::answer)?;
            Ok(MarkdownResult::of(document::document(&reading.snapshot, &p.query, &pack)))
        };
        let (mut answer, cache, mut warnings) =
            entry.document(("the document", p.no_cache), |a: &MarkdownResult| &a.markdown, make)?;
        if answer.files.is_empty() {
            warnings.push(ErrorCode::NoContent.name().to_owned());
        }
        let (files, hit) = (answer.files.len(), cache.hit);
        tracing::info!(query = log::query_name(&p.query), files, hit, "wrote a document");
        (answer.cache, answer.warnings) = (cache, warnings);
        answer.envelope = Some(reading.envelope(ctx));
        json(&answer)
    }

    /// Packs what the client offers; never cached, since open files and tool output are not the index's.
    /// What comes later is waited for before a state of the index is chosen.
    pub(super) fn context_pack(&self, mut p: SourcesParams, ctx: &Context) -> Answer {
        let counter = self.counter(p.tokenizer.as_deref().unwrap_or(&self.config.pack.tokenizer))?;
        let template = sources::template(p.template.as_deref())?;
        let task = p.query.take().unwrap_or_default();
        check_query(&task)?;
        if p.sources.iter().any(|source| source.handle.is_some()) {
            ctx.aside(|| self.offers.fill(&mut p.sources, &ctx.cancel))?;
        }
        let reading = self.read(target(&p.repo, &p.cwd), p.wait, p.progress, ctx)?;
        let mode = p.mode.unwrap_or_default();
        if mode == PackingMode::Pack {
            reading.check_enabled()?;
        }
        let settings = sources::settings(p.settings, &reading.config)?;
        let mut offered = p.sources;
        sources::collect(&reading.snapshot, &mut offered, reading.config.index_redact_secrets)?;
        let budget = reading.config.pack.window.with(p.budget.unwrap_or_default());
        let cancel = &|| ctx.cancel.is_cancelled();
        let template = template.as_ref();
        let packer = Packer { task: &task, settings: &settings, counter: &*counter, template, cancel };
        let packed = match mode {
            PackingMode::Pack => packer::pack(&offered, budget, &packer).map(|packed| {
                let summary = shown::of_sources(&packed.chunks, packed.token_count, budget, &settings);
                log::packed_sources(offered.len(), &summary, packed.partial);
                self.pack_cache.answered(reading.workspace.root(), &Arc::new(summary));
                serde_json::json!(packed)
            }),
            PackingMode::Preview => packer::preview(&offered, budget, &packer).map(|x| serde_json::json!(x)),
            PackingMode::Stats => packer::pack(&offered, budget, &packer)
                .map(|packed| serde_json::json!(packer::stats(&packed, budget))),
        };
        json(&SourcesResult {
            packed: packed?.as_object().cloned().unwrap_or_default(),
            envelope: reading.envelope(ctx),
            ..SourcesResult::default()
        })
    }

    /// The place in the cache of a document of this state of the index.
    fn document(&self, reading: &Reading, name: &str) -> documents::Entry {
        let settings: Vec<String> =
            reading.config.entries().into_iter().map(|e| format!("{}={}\n", e.key, e.value)).collect();
        let home = self.registry.home(reading.workspace.root());
        let version = format!("{TOOL_VERSION} {}", reading.repo_id);
        documents::Entry::new(&reading.snapshot, &home, name, &version, &settings.concat())
    }
}

/// Refuses a task that is too long.
fn check_query(query: &str) -> Result<(), ErrorObject> {
    if query.len() <= QUERY_BYTES_MAX {
        return Ok(());
    }
    Err(ErrorObject::invalid(format!("the query is longer than {QUERY_BYTES_MAX} bytes")))
}
