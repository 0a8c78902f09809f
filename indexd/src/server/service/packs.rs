//! Requests for packs: prepared, answered from the cache or assembled, previewed, read again.

use super::{Reading, Service, TOOL_VERSION, target};
use crate::config::{Config, Origin};
use crate::page;
use crate::page::editor::Editor;
use crate::server::backend::{Answer, Context};
use crate::server::dispatch::json;
use crate::server::pack_cache::Kept;
use crate::server::{bytes, change, convert, log, shown};
use crate::workspace::folder_name;
use indexd_model::{FactsView as _, IndexView};
use indexd_pack::PackError;
use indexd_pack::request::{Asked, BudgetsRequest, ChangeRequest, Request};
use indexd_proto::error::{ErrorCode, ErrorObject};
use indexd_proto::request::{
    CallOptions, PackGetParams, PackGetResult, PackParams, PackResult, PreviewResult,
};
use indexd_proto::shown::{ContextSummary, ShowParams};
use indexd_proto::workspace::CacheFacts;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

impl Service {
    pub(super) fn pack(&self, params: PackParams, ctx: &Context) -> Answer {
        let Prepared { call, request, reading, change } = self.prepare(params, ctx)?;
        reading.check_enabled()?;
        let asked = Asked::new(&request, &reading.config.pack)?;
        let signature = reading.snapshot.signature();
        let digest = asked.digest(&signature, &reading.repo_id, &reading.config.pack, TOOL_VERSION);
        // The digest that the id of the pack ends with.
        let key = format!("sha256:{digest}");
        let asks = !call.no_cache && asked.pinned.is_none();
        let cached = if asks { self.pack_cache.text(&key) } else { None };
        let hit = cached.is_some();
        if asks {
            self.metrics.looked_up(hit);
        }
        let kept = match cached {
            Some(kept) => kept,
            None => {
                let pack = self.assemble(&reading, (&asked, change.as_ref()), ctx, indexd_pack::answer)?;
                self.metrics.assembled(&pack.stats);
                let unsaved = reading.overlays.as_ref().map_or(&[][..], |o| &o.applied);
                let summary = shown::of_pack(&pack, Some(&reading.config), unsaved);
                let kept = Arc::new(kept(&pack, summary)?);
                self.pack_cache.put(key.clone(), &pack, &kept);
                kept
            }
        };
        let mut removed = 0;
        if call.write {
            let workspace = folder_name(reading.workspace.root());
            removed = self.records.write(&workspace, &kept.pack_id, kept.json.get())?;
        }
        self.pack_cache.answered(reading.workspace.root(), &kept.summary);
        log::packed(&request.query, &kept, hit);
        let mut envelope = reading.envelope(ctx);
        envelope.cache = Some(CacheFacts { hit, key });
        if removed > 0 {
            envelope.warnings.push(format!("the oldest records of packs made room: {removed} deleted"));
        }
        let page = if call.page { Some(reading.page(&kept, ctx)?) } else { None };
        let rendered = call.rendered.then(|| Cow::from(&kept.rendered));
        let answer = json(&PackResult { pack: &kept.json, envelope, rendered, page: page.map(Cow::from) });
        self.metrics.answered(reading.started.elapsed());
        answer
    }

    pub(super) fn preview(&self, params: PackParams, ctx: &Context) -> Answer {
        let Prepared { request, reading, change, .. } = self.prepare(params, ctx)?;
        let asked = Asked::new(&request, &reading.config.pack)?;
        let pack = self.assemble(&reading, (&asked, change.as_ref()), ctx, indexd_pack::preview)?;
        let mut preview = pack.to_json();
        for (i, section) in pack.sections.iter().enumerate() {
            for item in 0..section.items.len() {
                let excerpt = &mut preview["sections"][i]["items"][item]["excerpt"];
                excerpt.as_object_mut().map(|e| e.remove("text"));
            }
        }
        json(&PreviewResult { preview, envelope: reading.envelope(ctx), ..PreviewResult::default() })
    }

    /// Puts the items of packs that the reader has in the place of their ids; unknown ids stay.
    fn resolve_seen(&self, request: &mut Request) {
        for id in std::mem::take(&mut request.seen) {
            match self.pack_cache.note(&id) {
                Some(note) => request.seen.extend(note.seen.iter().cloned()),
                None => request.seen.push(id),
            }
        }
    }

    /// The request as it will be answered, and the state of the index that answers it.
    fn prepare(&self, params: PackParams, ctx: &Context) -> Result<Prepared, ErrorObject> {
        let PackParams { mut call, mut request } = params;
        self.check(&request)?;
        self.resolve_seen(&mut request);
        let asked = request.repo_id.take();
        if let Some(name) = asked.as_deref().filter(|_| call.repo.is_none() && call.cwd.is_none()) {
            let root = self.registry.root_named(name).ok_or_else(|| {
                let message = format!("no repository, or more than one, is registered as {name}");
                ErrorObject::new(ErrorCode::WorkspaceInvalid, message)
            })?;
            call.repo = Some(root.display().to_string());
        }
        if call.write && !call.overlays.is_empty() {
            return Err(ErrorObject::invalid("a pack with overlays cannot be kept")
                .with_hint("leave write or overlays out: nothing of an unsaved text is stored"));
        }
        let target = target(&call.repo, &call.cwd);
        let reading = self.read_over(target, call.wait, call.progress, &call.overlays, ctx)?;
        if let Some(name) = asked.filter(|name| *name != reading.repo_id) {
            let message = format!("the repository is called {}, not {name}", reading.repo_id);
            return Err(ErrorObject::new(ErrorCode::WorkspaceInvalid, message)
                .with_hint("leave repoId out, or name the folder of that repository"));
        }
        if let Some(path) = request.focus.as_mut().and_then(|f| f.file_rel_path.as_mut()) {
            *path = reading.file(&call.cwd, path);
        }
        if let Some(defaults) = &call.default_budgets {
            fill_limits(&mut request, defaults, &reading.config);
        }
        let change = request.change.as_ref().map(|c| reading.change(c, &call.cwd, ctx)).transpose()?;
        if let (Some(asked), Some(found)) = (&mut request.change, &change) {
            asked.found = Some(found.id.clone());
        }
        Ok(Prepared { call, request, reading, change })
    }

    /// Refuses a wrong request before any wait.
    fn check(&self, request: &Request) -> Result<(), ErrorObject> {
        Asked::new(request, &self.config.pack)?;
        request.tokenizer.as_deref().map_or(Ok(()), |name| self.counter(name).map(drop))
    }

    pub(super) fn assemble(
        &self,
        reading: &Reading,
        (asked, change): (&Asked, Option<&indexd_pack::Change>),
        ctx: &Context,
        build: fn(&dyn IndexView, &Asked, &indexd_pack::Context) -> Result<indexd_pack::Pack, PackError>,
    ) -> Result<indexd_pack::Pack, ErrorObject> {
        let config = &reading.config.pack;
        let counter = self.counter(&asked.options.tokenizer)?;
        let created_at = convert::iso_time(SystemTime::now());
        let timings = std::cell::RefCell::new((Instant::now(), BTreeMap::new()));
        let stage = |name: &'static str| {
            let (last, stages) = &mut *timings.borrow_mut();
            *stages.entry(name.to_owned()).or_default() += last.elapsed().as_micros() as u64;
            *last = Instant::now();
        };
        let at_head = reading.workspace.at_head(&reading.snapshot);
        let tuning = indexd_pack::Tuning::default();
        let pack_ctx = indexd_pack::Context {
            config,
            tuning: &tuning,
            counter: &*counter,
            cancel: &|| ctx.cancel.is_cancelled(),
            tool_version: TOOL_VERSION,
            repo_id: &reading.repo_id,
            change,
            created_at: &created_at,
            matches_head: &|path| at_head.holds(path),
            bytes_hash: &|path, lines| {
                bytes::hash_of_lines(reading.workspace.root(), &reading.snapshot, path, lines)
            },
            stage: &stage,
            decided: &|d| log::decision(d),
        };
        let mut pack = build(&reading.snapshot, asked, &pack_ctx)?;
        indexd_rim::order::order(&mut pack, asked.options.scoring, &reading.snapshot, &reading.config.packer);
        pack.stats.timings = timings.into_inner().1;
        Ok(pack)
    }

    /// What a pack held and cost: the last one of a workspace, or the one of an id.
    pub(super) fn context_show(&self, p: &ShowParams) -> Answer {
        let root = self.root(target(&p.repo, &p.cwd))?;
        let summary = match (&p.pack_id, &root) {
            (Some(id), _) => match self.pack_cache.note(id) {
                Some(note) => note.summary,
                None => {
                    let workspace = root.as_deref().map(folder_name);
                    let record = self.records.read(workspace.as_deref(), id)?;
                    let record = serde_json::from_str(&record).map_err(|e| {
                        ErrorObject::new(ErrorCode::Storage, format!("the record of the pack: {e}"))
                    })?;
                    Arc::new(shown::of_pack(&record, None, &[]))
                }
            },
            (None, Some(root)) => self.pack_cache.last(root).ok_or_else(|| {
                let message = "no pack of this repository was made since the daemon started";
                ErrorObject::new(ErrorCode::PackNotFound, message).with_hint("name one with packId")
            })?,
            (None, None) => {
                return Err(ErrorObject::invalid("neither a repository nor packId is given"));
            }
        };
        json(&*summary)
    }

    pub(super) fn pack_get(&self, params: &PackGetParams, ctx: &Context) -> Answer {
        let root = self.root(target(&params.repo, &params.cwd))?;
        root.as_deref().map_or(Ok(()), |root| self.check_agents(root, ctx))?;
        let workspace = root.as_deref().map(folder_name);
        json(&PackGetResult { pack: &raw(self.records.read(workspace.as_deref(), &params.pack_id)?)? })
    }
}

impl Reading {
    /// Refuses where `context_pack.enabled` is off.
    pub(super) fn check_enabled(&self) -> Result<(), ErrorObject> {
        if self.config.context_pack_enabled {
            return Ok(());
        }
        let origin = self.config.origin("context_pack.enabled");
        Err(ErrorObject::new(ErrorCode::NotSupported, "packs are switched off for this repository")
            .with_hint(format!(
                "context_pack.enabled is off in {origin}; preview, search and status are still there"
            )))
    }

    /// The editor that places on pages lead to, with the paths of the client.
    pub(super) fn editor(&self, ctx: &Context) -> Editor {
        Editor::new(self.config.page_editor.as_str(), Path::new(&ctx.root(self.workspace.root())))
    }

    /// A pack of this state of the index as a page to look at.
    pub(super) fn page(&self, kept: &Kept, ctx: &Context) -> Result<String, ErrorObject> {
        let pack = serde_json::from_str(kept.json.get())
            .map_err(|e| ErrorObject::new(ErrorCode::Internal, format!("the pack has another shape: {e}")))?;
        let file = |path: &str| {
            let file = self.snapshot.file_by_path(path)?;
            Some((self.snapshot.file(file).language, self.snapshot.text(file)))
        };
        Ok(page::render(&pack, &file, &self.editor(ctx)))
    }

    /// The change that a request names.
    fn change(
        &self,
        asked: &ChangeRequest,
        cwd: &Option<String>,
        ctx: &Context,
    ) -> Result<indexd_pack::Change, ErrorObject> {
        let ground = change::Ground {
            snapshot: &self.snapshot,
            root: self.workspace.root(),
            excludes: &self.config.index_exclude,
            redacts: self.config.index_redact_secrets,
            cwd: cwd.as_deref().map(Path::new),
        };
        change::read(asked, &ground, ctx)
    }
}

/// A request as it will be answered, and what it will be answered from.
struct Prepared {
    call: CallOptions,
    request: Request,
    reading: Reading,
    change: Option<indexd_pack::Change>,
}

/// Sets the limits that neither the request nor the configuration names to the client's own.
fn fill_limits(request: &mut Request, defaults: &BudgetsRequest, config: &Config) {
    let tokens = defaults.max_total_tokens.filter(|_| request.context_budget.is_none());
    let b = &mut request.client_budgets;
    for (held, default, key) in [
        (&mut b.max_total_chars, defaults.max_total_chars, "max_total_chars"),
        (&mut b.max_total_tokens, tokens, "max_total_tokens"),
        (&mut b.max_items, defaults.max_items, "max_items"),
        (&mut b.max_items_per_section, defaults.max_items_per_section, "max_items_per_section"),
        (&mut b.max_bytes_per_item, defaults.max_bytes_per_item, "max_bytes_per_item"),
    ] {
        if config.origin(&format!("pack.budgets.{key}")) == Origin::Default {
            *held = default;
        }
    }
}

fn kept(pack: &indexd_pack::Pack, summary: ContextSummary) -> Result<Kept, ErrorObject> {
    let (rendered, pack_id) = (pack.rendered.clone(), pack.pack_id.clone());
    let selected = shown::selected(pack);
    Ok(Kept { json: json(pack)?, rendered, pack_id, summary: Arc::new(summary), selected })
}

fn raw(json: String) -> Result<Box<RawValue>, ErrorObject> {
    RawValue::from_string(json)
        .map_err(|e| ErrorObject::new(ErrorCode::Internal, format!("the answer is no JSON: {e}")))
}
