//! Requests for places, definitions, cards and edges.

use super::{Reading, Service, target};
use crate::page;
use crate::server::backend::{Answer, Context};
use crate::server::dispatch::json;
use crate::server::graph::{self, Relation};
use crate::server::metrics::compare;
use crate::server::{card, grep, highlight, log, lookup, place, show, why};
use indexd_pack::{Asked, Request};
use indexd_proto::card::CardParams;
use indexd_proto::error::ErrorObject;
use indexd_proto::graph::GraphParams;
use indexd_proto::grep::GrepParams;
use indexd_proto::highlight::{HighlightParams, HighlightResult};
use indexd_proto::search::{DefinitionsParams, Hit, SearchParams, SymbolParams, SymbolResult};
use indexd_proto::why::WhyParams;
use indexd_proto::workspace::ShadowCounts;
use std::path::Path;

impl Service {
    pub(super) fn search(&self, p: SearchParams, ctx: &Context) -> Answer {
        let reading = self.read_over(target(&p.repo, &p.cwd), p.wait, p.progress, &p.overlays, ctx)?;
        let mut found = lookup::search(&reading.snapshot, &p.query, &p.expect, p.limit, p.neighbors)?;
        tracing::debug!(query = log::query_name(&p.query), hits = found.hits.len(), "searched");
        if reading.config.context_pack_shadow {
            self.shadow(&reading, &p.query, &found.hits, ctx);
        }
        found.envelope = reading.envelope(ctx);
        json(&found)
    }

    pub(super) fn show(&self, p: DefinitionsParams, ctx: &Context) -> Answer {
        let reading = self.read_over(target(&p.repo, &p.cwd), p.wait, p.progress, &p.overlays, ctx)?;
        let counter = self.counter(TOKENIZER)?;
        let what: Vec<String> = p.what.iter().map(|name| reading.symbol(&p.cwd, name)).collect();
        let max_tokens = p.max_tokens.unwrap_or(SHOW_TOKENS);
        let mut shown = show::show(&reading.snapshot, &what, &p.expect, max_tokens, &*counter, &ctx.cancel)
            .map_err(|e| reading.qualified(e))?;
        shown.envelope = reading.envelope(ctx);
        json(&shown)
    }

    pub(super) fn grep(&self, mut p: GrepParams, ctx: &Context) -> Answer {
        let overlays = std::mem::take(&mut p.overlays);
        let reading = self.read_over(target(&p.repo, &p.cwd), p.wait, p.progress, &overlays, ctx)?;
        let cwd = p.cwd.as_deref().map(Path::new);
        for path in &mut p.paths {
            // A path outside stands for no file.
            *path = place::of_path(reading.workspace.root(), cwd, path).unwrap_or_else(|| "../".to_owned());
        }
        let counter = self.counter(TOKENIZER)?;
        let mut found = grep::grep(&reading.snapshot, &p, &*counter, &ctx.cancel)?;
        found.envelope = reading.envelope(ctx);
        json(&found)
    }

    /// Builds the pack of the same text and records how far it agrees with what the search found. What
    /// fails here costs the search nothing but time.
    fn shadow(&self, reading: &Reading, query: &str, hits: &[Hit], ctx: &Context) {
        let request = Request { query: query.to_owned(), ..Request::default() };
        let pack = Asked::new(&request, &reading.config.pack)
            .map_err(ErrorObject::from)
            .and_then(|asked| self.assemble(reading, (&asked, None), ctx, indexd_pack::answer));
        self.metrics.shadowed(match pack {
            Ok(pack) => {
                let found = hits.iter().map(|h| h.chunk_uid.as_str());
                let compared = compare(found, pack.items().map(|i| i.chunk_uid.as_str()));
                log::shadowed(query, &pack.pack_id, compared);
                compared
            }
            Err(e) => {
                tracing::warn!(code = e.data.code.name(), "a pack beside a search failed");
                ShadowCounts { failed: 1, ..ShadowCounts::default() }
            }
        });
    }

    pub(super) fn symbol(&self, p: SymbolParams, ctx: &Context) -> Answer {
        let reading = self.read_over(target(&p.repo, &p.cwd), p.wait, p.progress, &p.overlays, ctx)?;
        let (symbols, n_symbols) =
            lookup::symbols(&reading.snapshot, &reading.symbol(&p.cwd, &p.name), p.limit)
                .map_err(|e| reading.qualified(e))?;
        json(&SymbolResult { symbols, n_symbols, envelope: reading.envelope(ctx), ..SymbolResult::default() })
    }

    pub(super) fn card(&self, p: CardParams, ctx: &Context) -> Answer {
        let reading = self.read_over(target(&p.repo, &p.cwd), p.wait, p.progress, &p.overlays, ctx)?;
        let counter = self.counter(TOKENIZER)?;
        let name = reading.symbol(&p.cwd, &p.symbol);
        let mut card = card::card(&reading.snapshot, &name, p.max_tokens, &*counter, &ctx.cancel)
            .map_err(|e| reading.qualified(e))?;
        card.envelope = reading.envelope(ctx);
        json(&card)
    }

    pub(super) fn highlight(&self, p: HighlightParams, ctx: &Context) -> Answer {
        let reading = self.read_over(target(&p.repo, &p.cwd), p.wait, p.progress, &p.overlays, ctx)?;
        let lines = highlight::highlight(&reading.snapshot, &p.places, &ctx.cancel)?;
        json(&HighlightResult { lines, envelope: reading.envelope(ctx), ..HighlightResult::default() })
    }

    pub(super) fn why(&self, p: WhyParams, ctx: &Context) -> Answer {
        let reading = self.read_over(target(&p.repo, &p.cwd), p.wait, p.progress, &p.overlays, ctx)?;
        let root = reading.workspace.root();
        let path = place::of_path(root, p.cwd.as_deref().map(Path::new), &p.path);
        let excludes = &reading.config.index_exclude;
        let applied = reading.overlays.as_ref().map_or(&[][..], |o| &o.applied);
        let is_unsaved = path.as_ref().is_some_and(|path| applied.contains(path));
        let mut verdict = why::verdict(&reading.snapshot, root, excludes, path.as_deref(), is_unsaved);
        verdict.path = path.unwrap_or(p.path);
        verdict.envelope = reading.envelope(ctx);
        json(&verdict)
    }

    pub(super) fn graph(&self, relation: Relation, mut p: GraphParams, ctx: &Context) -> Answer {
        let reading = self.read_over(target(&p.repo, &p.cwd), p.wait, p.progress, &p.overlays, ctx)?;
        p.symbol = reading.symbol(&p.cwd, &p.symbol);
        let mut answer =
            graph::walk(&reading.snapshot, relation, &p, &ctx.cancel).map_err(|e| reading.qualified(e))?;
        answer.envelope = reading.envelope(ctx);
        answer.picture = p.picture.map(|how| page::graph::picture(&answer, how, &reading.editor(ctx)));
        json(&answer)
    }
}

/// What the tokens of cards and of shown definitions are counted with.
const TOKENIZER: &str = "o200k_base";
/// Tokens of shown definitions when a request does not say.
const SHOW_TOKENS: u32 = 4_000;
