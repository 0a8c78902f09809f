//! The backend over real workspaces: resolve, wait, read one snapshot, answer.

use crate::config::{Config, Origin};
use crate::page;
use crate::server::backend::{Backend, Context, cancelled};
use crate::server::dispatch::json;
use crate::server::graph::{self, Relation};
use crate::server::limits::PROGRESS_INTERVAL;
use crate::server::metrics::Metrics;
use crate::server::records::{Cache, Kept, Records};
use crate::server::{
    card, change, convert, documents, edges, import, log, lookup, place, sources, unsaved, why,
};
use crate::workspace::{
    Collect, Freshness, Progress, RECORDS, Registry, Workspace, WorkspaceError, WorkspaceState, folder_name,
};
use base64::Engine as _;
use indexd_model::limits::QUERY_BYTES_MAX;
use indexd_model::{FactsView as _, IndexView};
use indexd_pack::PackError;
use indexd_pack::request::{ChangeRequest, Request};
use indexd_proto::card::{CardParams, CardResult};
use indexd_proto::documents::{MapParams, MarkdownParams, MarkdownResult};
use indexd_proto::error::{ErrorCode, ErrorObject};
use indexd_proto::export::{ExportParams, ExportResult};
use indexd_proto::graph::{GraphParams, GraphResult};
use indexd_proto::import::{ImportParams, ImportResult};
use indexd_proto::limits::{CHUNK_BYTES_MAX, FRESH_WAIT_MS_DEFAULT, WAIT_MS_MAX};
use indexd_proto::overlay::{Overlay, OverlayFacts};
use indexd_proto::paths::Dirs;
use indexd_proto::request::{Budgets, CallOptions, PackGetParams, PackGetResult, PackParams, PreviewResult};
use indexd_proto::rpc::{self, ChunkParams};
use indexd_proto::search::{SearchParams, SearchResult, SymbolParams, SymbolResult};
use indexd_proto::sources::{PackingMode, SourcesParams, SourcesResult};
use indexd_proto::why::{WhyParams, WhyResult};
use indexd_proto::workspace as wire;
use indexd_proto::workspace::{CacheFacts, Envelope, Wait, WaitMode};
use indexd_proto::{Call, Id};
use indexd_store::{Overlays, Snapshot};
use indexd_text::{CachedCounter, CounterOptions};
use lru::LruCache;
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

/// Version of the objects that are no packs.
const SCHEMA_VERSION: &str = "1.0.0";
/// Version of the tool in the identity of packs.
const TOOL_VERSION: &str = env!("CARGO_PKG_VERSION");

/// How long requests wait by default whose answer must hold every save.
const LONG_WAIT: Wait =
    Wait { mode: WaitMode::Strict, timeout_ms: Some(WAIT_MS_MAX), build_timeout_ms: None };
/// Packs whose items are remembered for follow-ups; each takes a few kilobytes.
const PACKS_HELD: NonZeroUsize = NonZeroUsize::new(512).expect("not zero");
/// What the tokens of cards are counted with.
const CARD_TOKENIZER: &str = "o200k_base";
/// Percent. Below this a use is left out of a SCIP index, which has no place for doubt.
const SCIP_CONFIDENCE_MIN: u8 = 50;

/// What an export prints.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Dump,
    Edges,
    Scip,
}

/// Serves requests from the workspaces of one user.
pub struct Engine {
    registry: Registry,
    config: Arc<Config>,
    cache: Cache,
    /// What the packs that were answered last held, by pack id: [`indexd_pack::Pack::seen`].
    held: Mutex<LruCache<String, Arc<[String]>>>,
    records: Records,
    metrics: Metrics,
    /// Counters by name; each remembers counts, so there is one for all requests.
    counters: Mutex<BTreeMap<String, Arc<CachedCounter>>>,
}

/// Milliseconds after which an index that is behind its tree may have caught up.
const RETRY_MS: u64 = 500;

/// A request as it will be answered, and what it will be answered from.
struct Prepared {
    call: CallOptions,
    request: Request,
    reading: Reading,
    change: Option<indexd_pack::Change>,
}

/// How a request names its workspace.
#[derive(Clone, Copy)]
struct Target<'a> {
    repo: Option<&'a str>,
    cwd: Option<&'a str>,
}

impl<'a> Target<'a> {
    /// The folder that is named, and whether it is the root itself.
    fn folder(self) -> Result<Option<(&'a Path, bool)>, ErrorObject> {
        let named = self.repo.map(|r| (Path::new(r), true)).or(self.cwd.map(|c| (Path::new(c), false)));
        if named.is_some_and(|(path, _)| !path.is_absolute()) {
            return Err(ErrorObject::new(ErrorCode::InvalidRequest, "the folder is not absolute"));
        }
        Ok(named)
    }
}

/// A workspace with one state of its index, and what is known about that state.
struct Reading {
    workspace: Arc<Workspace>,
    snapshot: Snapshot,
    /// The settings as the repository narrowed them.
    config: Config,
    /// What the user should know of the workspace.
    warnings: Vec<String>,
    repo_id: String,
    freshness: Freshness,
    waited: Duration,
    started: Instant,
    /// What became of the unsaved texts that the state holds.
    overlays: Option<OverlayFacts>,
}

impl Engine {
    /// Opens the registry. Indexes open when they are first asked for.
    ///
    /// # Errors
    /// Those of the registry.
    pub fn open(dirs: &Dirs, config: Arc<Config>) -> Result<Self, WorkspaceError> {
        let registry = Registry::open(dirs, Arc::clone(&config))?;
        Ok(Self {
            registry,
            config,
            cache: Cache::default(),
            held: Mutex::new(LruCache::new(PACKS_HELD)),
            records: Records::new(dirs.state.join(RECORDS)),
            metrics: Metrics::default(),
            counters: Mutex::default(),
        })
    }

    fn workspace(&self, target: Target) -> Result<Arc<Workspace>, ErrorObject> {
        let (path, exact) = target.folder()?.ok_or_else(|| {
            ErrorObject::new(ErrorCode::InvalidRequest, "neither repo nor cwd is given")
                .with_hint("name the root with repo, or a folder inside it with cwd")
        })?;
        self.registry.resolve(path, exact).map_err(|e| convert::workspace_error(&e))
    }

    /// Waits as asked and opens one snapshot.
    fn read(
        &self,
        target: Target,
        wait: Option<Wait>,
        progress: bool,
        ctx: &Context,
    ) -> Result<Reading, ErrorObject> {
        let started = Instant::now();
        let workspace = self.workspace(target)?;
        let wait = wait.unwrap_or_default();
        let (freshness, snapshot) = loop {
            let freshness = self.wait(&workspace, wait, progress, ctx)?;
            if wait.mode == WaitMode::Strict && !freshness.fresh {
                if let Some((code, hint)) = workspace.failure() {
                    return Err(convert::failed(code, &hint));
                }
                let message = format!("{} changed files are not in the index yet", freshness.pending);
                return Err(ErrorObject::new(ErrorCode::Indexing, message)
                    .with_retry_after_ms(RETRY_MS)
                    .with_hint("wait longer, or ask for the best there is"));
            }
            ctx.check()?;
            match workspace.snapshot() {
                // A damaged index was put away since, and is being built again: waited for as a first one.
                Err(WorkspaceError::Building) => {}
                found => break (freshness, found.map_err(|e| convert::workspace_error(&e))?),
            }
        };
        let waited = started.elapsed();
        let started = Instant::now();
        let (config, ignored) = workspace.settings();
        let failure = if freshness.fresh { None } else { workspace.failure() };
        let behind = |(code, hint)| format!("the index does not follow the tree ({code}): {hint}");
        let warnings = failure.map(behind).into_iter().chain(ignored).collect();
        let repo_id = workspace.repo_id_in(&snapshot, &config);
        Ok(Reading {
            workspace,
            snapshot,
            config,
            warnings,
            repo_id,
            freshness,
            waited,
            started,
            overlays: None,
        })
    }

    /// The same, with unsaved texts as if they were saved.
    fn read_over(
        &self,
        target: Target,
        wait: Option<Wait>,
        progress: bool,
        overlays: &[Overlay],
        ctx: &Context,
    ) -> Result<Reading, ErrorObject> {
        unsaved::check(overlays)?;
        let mut reading = self.read(target, wait, progress, ctx)?;
        if overlays.is_empty() {
            return Ok(reading);
        }
        let (root, excludes) = (reading.workspace.root(), &reading.config.index_exclude);
        let cwd = target.cwd.map(Path::new);
        let (texts, facts) = unsaved::texts(&reading.snapshot, root, excludes, cwd, overlays)?;
        reading.snapshot = reading
            .workspace
            .unsaved(&texts, &|| ctx.cancel.is_cancelled())
            .map_err(|e| convert::workspace_error(&e))?;
        reading.repo_id = reading.workspace.repo_id_in(&reading.snapshot, &reading.config);
        reading.overlays = Some(facts);
        Ok(reading)
    }

    fn wait(
        &self,
        workspace: &Workspace,
        wait: Wait,
        progress: bool,
        ctx: &Context,
    ) -> Result<Freshness, ErrorObject> {
        let timeout_ms = wait.timeout_ms.unwrap_or_else(|| workspace.config().freshness_wait_ms);
        let timeout = Duration::from_millis(timeout_ms.min(WAIT_MS_MAX));
        let build = Duration::from_millis(wait.build_timeout_ms.unwrap_or(WAIT_MS_MAX).min(WAIT_MS_MAX));
        let stale = wait.mode == WaitMode::Stale || timeout.is_zero();
        if stale || build.is_zero() {
            // A deadline in the past asks without waiting.
            match workspace.wait_fresh(ctx.received, &|| ctx.cancel.is_cancelled(), &mut |_| {}) {
                Ok(freshness) if stale => return Ok(freshness),
                Ok(_) => {}
                Err(WorkspaceError::Building) if !build.is_zero() => {}
                Err(e) => return Err(convert::workspace_error(&e)),
            }
        }
        let gave_up = Instant::now() + build;
        let is_building =
            || matches!(workspace.status().state, WorkspaceState::Building | WorkspaceState::Closed);
        let out_of_time = || Instant::now() >= gave_up && is_building();
        let mut report = reporter(progress, ctx);
        let patience = if stale { Duration::from_millis(FRESH_WAIT_MS_DEFAULT) } else { timeout };
        let result = workspace.wait_fresh(
            Instant::now() + patience,
            &|| ctx.cancel.is_cancelled() || out_of_time(),
            &mut report,
        );
        match result {
            Err(WorkspaceError::Cancelled) if !ctx.cancel.is_cancelled() => {
                Err(convert::workspace_error(&WorkspaceError::Building))
            }
            result => result.map_err(|e| convert::workspace_error(&e)),
        }
    }

    fn counter(&self, name: &str) -> Result<Arc<CachedCounter>, ErrorObject> {
        let mut counters = self.counters.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(counter) = counters.get(name) {
            return Ok(Arc::clone(counter));
        }
        let headroom = self.config.pack.headroom;
        let options = CounterOptions {
            generic_headroom_percent: headroom.generic,
            claude_headroom_percent: headroom.claude,
            cache_texts: self.config.tokens_cached as usize,
        };
        let counter = indexd_text::counter(name, &options)
            .map_err(|e| convert::pack_error(&PackError::NotSupported { what: e.to_string() }))?;
        counters.insert(name.to_owned(), Arc::clone(&counter));
        Ok(counter)
    }

    fn pack(&self, params: PackParams, ctx: &Context) -> Result<String, ErrorObject> {
        let Prepared { call, request, reading, change } = self.prepare(params, ctx)?;
        let config = &reading.config.pack;
        let (resolved, limits) = request.resolve(config).map_err(|e| convert::pack_error(&e))?;
        let normalised = resolved.normalised(&limits, &reading.repo_id, config, TOOL_VERSION);
        let key = cache_key(&reading.snapshot.signature(), &normalised);
        let pinned = request.index_signature.is_some();
        let cached = if call.no_cache || pinned { None } else { self.cache.get(&key) };
        let hit = cached.is_some();
        let kept = match cached {
            Some(kept) => kept,
            None => {
                let asked = (&request, Some(&*normalised), change.as_ref());
                let pack = self.assemble(&reading, asked, ctx, indexd_pack::build)?;
                self.metrics.assembled(&pack.stats);
                let held: Arc<[String]> = pack.seen().into();
                self.held.lock().unwrap_or_else(PoisonError::into_inner).put(pack.pack_id.clone(), held);
                let kept = Arc::new(kept(pack)?);
                self.cache.put(key.clone(), Arc::clone(&kept));
                kept
            }
        };
        if call.write {
            let workspace = folder_name(reading.workspace.root());
            self.records.write(&workspace, &kept.pack_id, &kept.json)?;
        }
        tracing::debug!(query = log::query_name(&request.query), pack = kept.pack_id, cached = hit, "packed");
        let mut envelope = reading.envelope(ctx);
        envelope.cache = Some(CacheFacts { hit, key });
        let page = if call.page { Some(reading.page(&kept)?) } else { None };
        let answer = pack_result(&kept, &envelope, call.rendered, page.as_deref());
        self.metrics.answered(reading.started.elapsed());
        answer
    }

    fn preview(&self, params: PackParams, ctx: &Context) -> Result<String, ErrorObject> {
        let Prepared { request, reading, change, .. } = self.prepare(params, ctx)?;
        let pack = self.assemble(&reading, (&request, None, change.as_ref()), ctx, indexd_pack::preview)?;
        let mut preview = pack.to_json();
        for item in preview["sections"]
            .as_array_mut()
            .into_iter()
            .flatten()
            .flat_map(|s| s["items"].as_array_mut())
            .flatten()
        {
            strip_text(item);
        }
        json(&PreviewResult {
            schema: "PreviewResult".to_owned(),
            schema_version: SCHEMA_VERSION.to_owned(),
            preview,
            envelope: reading.envelope(ctx),
        })
    }

    /// Puts the items of packs that the reader has in the place of their ids; unknown ids stay.
    fn resolve_seen(&self, request: &mut Request) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = std::mem::take(&mut request.seen);
        for id in seen {
            match held.get(&id) {
                Some(items) => request.seen.extend(items.iter().cloned()),
                None => request.seen.push(id),
            }
        }
    }

    /// The request as it will be answered, and the state of the index that answers it.
    fn prepare(&self, params: PackParams, ctx: &Context) -> Result<Prepared, ErrorObject> {
        let mut call = params.call;
        let mut request = self.request(params.request)?;
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
            return Err(ErrorObject::new(ErrorCode::InvalidRequest, "a pack with overlays cannot be kept")
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

    fn request(&self, members: serde_json::Map<String, Value>) -> Result<Request, ErrorObject> {
        let request = Request::from_json(Value::Object(members)).map_err(|e| convert::pack_error(&e))?;
        // What is wrong with a request is said before anything is waited for.
        request.resolve(&self.config.pack).map_err(|e| convert::pack_error(&e))?;
        if let Some(name) = &request.tokenizer {
            self.counter(name)?;
        }
        Ok(request)
    }

    fn assemble(
        &self,
        reading: &Reading,
        (request, normalised, change): (&Request, Option<&str>, Option<&indexd_pack::Change>),
        ctx: &Context,
        build: fn(&dyn IndexView, &Request, &indexd_pack::Context) -> Result<indexd_pack::Pack, PackError>,
    ) -> Result<indexd_pack::Pack, ErrorObject> {
        let config = &reading.config.pack;
        let counter = self.counter(request.tokenizer.as_deref().unwrap_or(&config.tokenizer))?;
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
            normalised,
            change,
            created_at: &created_at,
            matches_head: &|path| at_head.holds(path),
            stage: &stage,
            decided: &|d| log::decision(d),
        };
        let mut pack = build(&reading.snapshot, request, &pack_ctx).map_err(|e| convert::pack_error(&e))?;
        pack.stats.timings = timings.into_inner().1;
        Ok(pack)
    }

    fn pack_get(&self, params: &PackGetParams) -> Result<String, ErrorObject> {
        let workspace = match target(&params.repo, &params.cwd).folder()? {
            Some((dir, exact)) => {
                let root = self.registry.locate(dir, exact).map_err(|e| convert::workspace_error(&e))?;
                Some(folder_name(&root))
            }
            None => None,
        };
        json(&PackGetResult { pack: raw(self.records.read(workspace.as_deref(), &params.pack_id)?)? })
    }

    fn search(&self, p: SearchParams, ctx: &Context) -> Result<String, ErrorObject> {
        let reading = self.read_over(target(&p.repo, &p.cwd), p.wait, p.progress, &p.overlays, ctx)?;
        let hits = lookup::search(&reading.snapshot, &p.query, p.limit, p.neighbors)?;
        tracing::debug!(query = log::query_name(&p.query), hits = hits.len(), "searched");
        json(&SearchResult {
            schema: "SearchResult".to_owned(),
            schema_version: SCHEMA_VERSION.to_owned(),
            hits,
            envelope: reading.envelope(ctx),
        })
    }

    fn symbol(&self, p: SymbolParams, ctx: &Context) -> Result<String, ErrorObject> {
        let reading = self.read_over(target(&p.repo, &p.cwd), p.wait, p.progress, &p.overlays, ctx)?;
        json(&SymbolResult {
            schema: "SymbolResult".to_owned(),
            schema_version: SCHEMA_VERSION.to_owned(),
            symbols: lookup::symbols(&reading.snapshot, &reading.symbol(&p.cwd, &p.name), p.limit)
                .map_err(|e| reading.qualified(e))?,
            envelope: reading.envelope(ctx),
        })
    }

    fn card(&self, p: CardParams, ctx: &Context) -> Result<String, ErrorObject> {
        let reading = self.read(target(&p.repo, &p.cwd), p.wait, p.progress, ctx)?;
        let counter = self.counter(CARD_TOKENIZER)?;
        let name = reading.symbol(&p.cwd, &p.symbol);
        let card::Card { symbol, owner, doc, links: [callers, callees, tests], others, text, tokens } =
            card::card(&reading.snapshot, &name, p.max_tokens, &*counter, &ctx.cancel)
                .map_err(|e| reading.qualified(e))?;
        json(&CardResult {
            schema: "Card".to_owned(),
            schema_version: SCHEMA_VERSION.to_owned(),
            symbol,
            owner,
            doc,
            callers,
            callees,
            tests,
            others,
            text,
            tokens,
            envelope: reading.envelope(ctx),
        })
    }

    fn why(&self, p: WhyParams, ctx: &Context) -> Result<String, ErrorObject> {
        let reading = self.read_over(target(&p.repo, &p.cwd), p.wait, p.progress, &p.overlays, ctx)?;
        let root = reading.workspace.root();
        let path = place::of_path(root, p.cwd.as_deref().map(Path::new), &p.path);
        let excludes = &reading.config.index_exclude;
        let applied = reading.overlays.as_ref().map_or(&[][..], |o| &o.applied);
        let is_unsaved = path.as_ref().is_some_and(|path| applied.contains(path));
        let verdict = why::verdict(&reading.snapshot, root, excludes, path.as_deref(), is_unsaved);
        json(&WhyResult {
            schema: "WhyResult".to_owned(),
            schema_version: SCHEMA_VERSION.to_owned(),
            path: path.unwrap_or(p.path),
            standing: verdict.standing,
            reason: verdict.reason,
            decided_by: verdict.decided_by,
            rule: verdict.rule,
            envelope: reading.envelope(ctx),
        })
    }

    fn graph(&self, relation: Relation, mut p: GraphParams, ctx: &Context) -> Result<String, ErrorObject> {
        let reading = self.read_over(target(&p.repo, &p.cwd), p.wait, p.progress, &p.overlays, ctx)?;
        p.symbol = reading.symbol(&p.cwd, &p.symbol);
        let walk =
            graph::walk(&reading.snapshot, relation, &p, &ctx.cancel).map_err(|e| reading.qualified(e))?;
        json(&GraphResult {
            schema: "GraphResult".to_owned(),
            schema_version: SCHEMA_VERSION.to_owned(),
            relation: relation.name().to_owned(),
            roots: walk.roots,
            edges: walk.edges,
            bounded: walk.bounded,
            through: walk.through,
            coverage: walk.coverage,
            envelope: reading.envelope(ctx),
        })
    }

    /// `repo_map.md`, with the same as data.
    fn map(&self, p: MapParams, ctx: &Context) -> Result<String, ErrorObject> {
        let reading = self.read(target(&p.repo, &p.cwd), p.wait, p.progress, ctx)?;
        let entry = self.document(&reading, "repo_map");
        let cached: Option<Value> = if p.no_cache { None } else { entry.read() };
        let hit = cached.is_some();
        let mut warnings = uncached(&entry, "the map");
        let mut answer = match cached {
            Some(answer) => answer,
            None => {
                let is_cancelled = || ctx.cancel.is_cancelled();
                let map = indexd_map::map(&reading.snapshot, &reading.repo_id, &is_cancelled)
                    .map_err(|_| cancelled())?;
                let markdown = indexd_map::page::page(&map);
                let answer = serde_json::json!({
                    "schema": "MapResult", "schemaVersion": SCHEMA_VERSION, "markdown": markdown, "map": map,
                });
                warnings.extend(entry.write(&answer, &markdown));
                answer
            }
        };
        answer["cache"] = serde_json::json!(entry.facts(hit));
        if !warnings.is_empty() {
            answer["warnings"] = serde_json::json!(warnings);
        }
        answer["envelope"] = serde_json::json!(reading.envelope(ctx));
        json(&answer)
    }

    /// `context_pack.md` of a task, with the same as data.
    fn markdown(&self, p: MarkdownParams, ctx: &Context) -> Result<String, ErrorObject> {
        if p.query.len() > QUERY_BYTES_MAX {
            let message = format!("the query is longer than {QUERY_BYTES_MAX} bytes");
            return Err(ErrorObject::new(ErrorCode::InvalidRequest, message));
        }
        let reading = self.read(target(&p.repo, &p.cwd), p.wait, p.progress, ctx)?;
        let name = documents::hex(&[&reading.snapshot.signature(), "task", &p.query]);
        let entry = self.document(&reading, &format!("context_pack-{name}"));
        let cached: Option<MarkdownResult> = if p.no_cache { None } else { entry.read() };
        let hit = cached.is_some();
        let mut warnings = uncached(&entry, "the document");
        let mut answer = match cached {
            Some(answer) => answer,
            None => {
                let view = &reading.snapshot;
                let ranking = indexd_pack::evidence::ranking(view, &p.query, &|| ctx.cancel.is_cancelled())
                    .map_err(|e| convert::pack_error(&e))?;
                let text = |path: &str| view.file_by_path(path).map(|f| view.text(f).to_string());
                let note = "Searched in the index, call sites and tests by resolved edges.";
                let document = indexd_task::document::write(&p.query, &ranking, note, &text);
                let answer = convert::markdown(&ranking, document);
                warnings.extend(entry.write(&answer, &answer.markdown));
                answer
            }
        };
        if answer.files.is_empty() {
            warnings.push(ErrorCode::NoContent.name().to_owned());
        }
        tracing::debug!(
            query = log::query_name(&p.query),
            files = answer.files.len(),
            hit,
            "wrote a document"
        );
        answer.cache = entry.facts(hit);
        answer.warnings = warnings;
        answer.envelope = Some(reading.envelope(ctx));
        json(&answer)
    }

    /// Packs what the client offers; never cached, since open files and tool output are not the index's.
    fn context_pack(&self, p: SourcesParams, ctx: &Context) -> Result<String, ErrorObject> {
        let settings = sources::settings(p.settings)?;
        let counter = self.counter(p.tokenizer.as_deref().unwrap_or(&self.config.pack.tokenizer))?;
        let reading = self.read(target(&p.repo, &p.cwd), p.wait, p.progress, ctx)?;
        let offered = sources::collect(&reading.snapshot, p.sources, reading.config.index_redact_secrets)?;
        let budget = sources::budget(p.budget);
        let packer = indexd_pack::contract::packer::Packer::new(&settings, &*counter);
        let cancel = || ctx.cancel.is_cancelled();
        let packed = match p.mode.unwrap_or_default() {
            PackingMode::Pack => packer.pack_now(&offered, &budget, &cancel).map(|x| serde_json::json!(x)),
            PackingMode::Preview => {
                packer.preview_now(&offered, &budget, &cancel).map(|x| serde_json::json!(x))
            }
            PackingMode::Stats => packer.stats_now(&offered, &budget, &cancel).map(|x| serde_json::json!(x)),
        };
        let packed = packed.map_err(|e| convert::pack_error(&e))?;
        tracing::debug!(sources = offered.len(), "packed what was offered");
        json(&SourcesResult {
            schema: "PackedContext".to_owned(),
            schema_version: SCHEMA_VERSION.to_owned(),
            packed: packed.as_object().cloned().unwrap_or_default(),
            envelope: reading.envelope(ctx),
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

    fn export(&self, p: ExportParams, ctx: &Context, form: Form) -> Result<String, ErrorObject> {
        let wait = p.wait.unwrap_or(LONG_WAIT);
        let reading = self.read(target(&p.repo, &p.cwd), Some(wait), p.progress, ctx)?;
        let mut chunks = Chunks::new(ctx, form == Form::Scip);
        let written = match form {
            Form::Dump => reading.snapshot.dump(&mut chunks),
            Form::Edges => {
                edges::export(&reading.snapshot, &mut |text| chunks.push(text.as_bytes()))?;
                Ok(())
            }
            Form::Scip => {
                let options = indexd_scip::ExportOptions {
                    project_root: import::uri_of(reading.workspace.root()),
                    tool_version: TOOL_VERSION.to_owned(),
                    confidence_min: SCIP_CONFIDENCE_MIN,
                };
                indexd_scip::export(&reading.snapshot, &options, &mut chunks).map(drop)
            }
        };
        if let Err(e) = written {
            return Err(chunks.failure.take().unwrap_or_else(|| {
                ErrorObject::new(ErrorCode::Internal, format!("the index cannot be read: {e}"))
            }));
        }
        chunks.finish()?;
        json(&ExportResult { n_chunks: chunks.seq, bytes: chunks.bytes, envelope: reading.envelope(ctx) })
    }

    fn import(&self, p: ImportParams, ctx: &Context) -> Result<String, ErrorObject> {
        let asked = import::Asked::of(&p)?;
        let wait = p.wait.unwrap_or(LONG_WAIT);
        let reading = self.read(target(&p.repo, &p.cwd), Some(wait), p.progress, ctx)?;
        let (overlays, mut result) = match asked {
            import::Asked::Clear => (Overlays::default(), ImportResult::default()),
            import::Asked::File(path) => {
                import::overlays_of(path, &reading.snapshot, reading.workspace.root())?
            }
        };
        ctx.check()?;
        let Reading { workspace, snapshot, config, warnings, repo_id, freshness, waited, started, .. } =
            reading;
        drop(snapshot);
        workspace
            .import(overlays, &|| ctx.cancel.is_cancelled(), &mut reporter(p.progress, ctx))
            .map_err(|e| convert::workspace_error(&e))?;
        let snapshot = workspace.snapshot().map_err(|e| convert::workspace_error(&e))?;
        let overlays = None;
        let reading =
            Reading { workspace, snapshot, config, warnings, repo_id, freshness, waited, started, overlays };
        result.schema = "ImportResult".to_owned();
        result.schema_version = SCHEMA_VERSION.to_owned();
        result.envelope = reading.envelope(ctx);
        json(&result)
    }

    fn index_wait(&self, p: wire::WaitParams, ctx: &Context) -> Result<String, ErrorObject> {
        let wait = p.wait.unwrap_or(LONG_WAIT);
        let reading = self.read(target(&p.repo, &p.cwd), Some(wait), p.progress, ctx)?;
        json(&wire::WaitResult {
            schema: "WaitResult".to_owned(),
            schema_version: SCHEMA_VERSION.to_owned(),
            envelope: reading.envelope(ctx),
            workspace: convert::workspace_status(reading.workspace.status()),
        })
    }

    fn compact(&self, p: wire::CompactParams, ctx: &Context) -> Result<String, ErrorObject> {
        let reading = self.read(target(&p.repo, &p.cwd), Some(LONG_WAIT), p.progress, ctx)?;
        let workspace = Arc::clone(&reading.workspace);
        drop(reading);
        let (bytes_before, bytes) =
            workspace.compact(&|| ctx.cancel.is_cancelled()).map_err(|e| convert::workspace_error(&e))?;
        json(&wire::CompactResult {
            schema: "CompactResult".to_owned(),
            schema_version: SCHEMA_VERSION.to_owned(),
            root: workspace.root().display().to_string(),
            bytes_before,
            bytes,
        })
    }

    fn gc(&self, p: &wire::GcParams) -> Result<String, ErrorObject> {
        let collected = self.registry.gc(Collect::by_hand(&self.config), p.dry_run);
        let removed = collected.into_iter().map(|c| wire::Collected {
            root: c.root.map(|root| root.display().to_string()),
            index: c.index,
            reason: c.reason.to_owned(),
            bytes: c.bytes,
        });
        json(&wire::GcResult {
            schema: "GcResult".to_owned(),
            schema_version: SCHEMA_VERSION.to_owned(),
            dry_run: p.dry_run,
            removed: removed.collect(),
        })
    }

    fn config_show(&self, p: &wire::ConfigParams) -> Result<String, ErrorObject> {
        // Shown without registering anything: the file of the folder itself, if it has one.
        let entries = match p.repo.as_deref().or(p.cwd.as_deref()) {
            Some(root) => {
                self.config.for_repository(Path::new(root)).map_err(|e| convert::config_error(&e))?.entries()
            }
            None => self.config.entries(),
        };
        json(&wire::ConfigResult {
            schema: "Config".to_owned(),
            schema_version: SCHEMA_VERSION.to_owned(),
            entries: entries.into_iter().map(convert::config_entry).collect(),
        })
    }
}

impl Backend for Engine {
    fn call(&self, call: Call, ctx: &Context) -> Result<String, ErrorObject> {
        match call {
            Call::Pack(p) => self.pack(p, ctx),
            Call::Preview(p) => self.preview(p, ctx),
            Call::PackGet(p) => self.pack_get(&p),
            Call::PackMarkdown(p) => self.markdown(p, ctx),
            Call::Map(p) => self.map(p, ctx),
            Call::ContextPack(p) => self.context_pack(p, ctx),
            Call::Search(p) => self.search(p, ctx),
            Call::Symbol(p) => self.symbol(p, ctx),
            Call::Card(p) => self.card(p, ctx),
            Call::Why(p) => self.why(p, ctx),
            Call::Callers(p) => self.graph(Relation::Callers, p, ctx),
            Call::Callees(p) => self.graph(Relation::Callees, p, ctx),
            Call::Refs(p) => self.graph(Relation::Refs, p, ctx),
            Call::Impact(p) => self.graph(Relation::Impact, p, ctx),
            Call::WorkspaceAdd(p) => {
                let workspace = self.workspace(target(&p.repo, &p.cwd))?;
                json(&convert::workspace_status(workspace.status()))
            }
            Call::WorkspaceList(_) => json(&wire::ListResult {
                schema: "WorkspaceList".to_owned(),
                schema_version: SCHEMA_VERSION.to_owned(),
                workspaces: self.workspaces(),
            }),
            Call::WorkspaceRemove(p) => {
                self.registry.remove(Path::new(&p.repo)).map_err(|e| convert::workspace_error(&e))?;
                json(&wire::RemoveResult { root: p.repo })
            }
            Call::WorkspaceGc(p) => self.gc(&p),
            Call::IndexCompact(p) => self.compact(p, ctx),
            Call::IndexWait(p) => self.index_wait(p, ctx),
            Call::ExportDump(p) => self.export(p, ctx, Form::Dump),
            Call::ExportEdges(p) => self.export(p, ctx, Form::Edges),
            Call::ExportScip(p) => self.export(p, ctx, Form::Scip),
            Call::ImportScip(p) => self.import(p, ctx),
            Call::ConfigShow(p) => self.config_show(&p),
            Call::Hello(_) | Call::Status(_) | Call::Shutdown(_) => {
                Err(ErrorObject::new(ErrorCode::Internal, "the dispatcher serves this method"))
            }
        }
    }

    fn workspaces(&self) -> Vec<wire::WorkspaceStatus> {
        self.registry.list().into_iter().map(convert::workspace_status).collect()
    }

    fn packs(&self) -> wire::PackCounts {
        self.metrics.counts()
    }

    fn keep_house(&self) {
        for c in self.registry.gc(Collect::by_itself(&self.config), false) {
            tracing::info!(index = c.index, reason = c.reason, bytes = c.bytes, "removed an index");
        }
    }

    fn shutdown(&self) {
        self.registry.shutdown();
    }
}

impl Reading {
    /// A path as the index has it; as it was written where no file is meant.
    fn file(&self, cwd: &Option<String>, path: &str) -> String {
        let cwd = cwd.as_deref().map(Path::new);
        place::of_file(&self.snapshot, self.workspace.root(), cwd, path).unwrap_or_else(|| path.to_owned())
    }

    /// A pack of this state of the index as a page to look at.
    fn page(&self, kept: &Kept) -> Result<String, ErrorObject> {
        let pack = serde_json::from_str(&kept.json)
            .map_err(|e| ErrorObject::new(ErrorCode::Internal, format!("the pack has another shape: {e}")))?;
        let file = |path: &str| {
            let file = self.snapshot.file_by_path(path)?;
            Some((self.snapshot.file(file).language, self.snapshot.text(file)))
        };
        Ok(page::render(&pack, &file))
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

    /// A name, or a place with its path as the index has it.
    fn symbol(&self, cwd: &Option<String>, name: &str) -> String {
        place::of_symbol(&self.snapshot, self.workspace.root(), cwd.as_deref().map(Path::new), name)
    }

    /// An error as this state of the index allows to say it: that something is not there can only be
    /// said of an index that is as the tree.
    fn qualified(&self, error: ErrorObject) -> ErrorObject {
        if self.freshness.fresh || error.data.code != ErrorCode::SymbolNotFound {
            return error;
        }
        let said = error.message;
        match self.workspace.failure() {
            Some((code, hint)) => {
                let failed = convert::failed(code, &hint);
                let message = format!("{said}, which does not follow the tree: {}", failed.message);
                ErrorObject { message, ..failed }
            }
            None => ErrorObject::new(ErrorCode::Indexing, format!("{said}, which is behind the tree"))
                .with_retry_after_ms(RETRY_MS)
                .with_hint("try again, or wait longer with --wait"),
        }
    }

    fn envelope(&self, ctx: &Context) -> Envelope {
        let ms = |d: Duration| (d.as_secs_f64() * 1e6).round() / 1e3;
        Envelope {
            fresh: self.freshness.fresh,
            how: self.freshness.how.to_owned(),
            pending: self.freshness.pending,
            generation: self.snapshot.generation(),
            index_signature: self.snapshot.signature(),
            repo_id: self.repo_id.clone(),
            root: self.workspace.root().display().to_string(),
            warnings: self.warnings.clone(),
            overlays: self.overlays.clone(),
            cache: None,
            waited_ms: ms(self.waited),
            took_ms: ms(self.started.elapsed()),
            correlation_id: ctx.correlation_id.clone(),
        }
    }
}

/// Sets the limits that neither the request nor the configuration names to the client's own.
fn fill_limits(request: &mut Request, defaults: &Budgets, config: &Config) {
    let tokens = defaults.max_total_tokens.filter(|_| request.context_budget.is_none());
    let b = &mut request.budgets;
    for (asked, default, key) in [
        (&mut b.max_total_chars, defaults.max_total_chars, "max_total_chars"),
        (&mut b.max_total_tokens, tokens, "max_total_tokens"),
        (&mut b.max_items, defaults.max_items, "max_items"),
        (&mut b.max_items_per_section, defaults.max_items_per_section, "max_items_per_section"),
        (&mut b.max_bytes_per_item, defaults.max_bytes_per_item, "max_bytes_per_item"),
    ] {
        if asked.is_none() && config.origin(&format!("pack.budgets.{key}")) == Origin::Default {
            *asked = default;
        }
    }
}

/// What is said where a document has no place in the cache.
fn uncached(entry: &documents::Entry, what: &str) -> Vec<String> {
    let warning = || format!("{what} is not cached: there is no commit of git to name it by");
    if entry.is_cached() { Vec::new() } else { vec![warning()] }
}

fn target<'a>(repo: &'a Option<String>, cwd: &'a Option<String>) -> Target<'a> {
    Target { repo: repo.as_deref(), cwd: cwd.as_deref() }
}

fn cache_key(signature: &str, normalised: &str) -> String {
    let mut h = blake3::Hasher::new();
    for part in [signature, normalised] {
        h.update(&(part.len() as u64).to_le_bytes());
        h.update(part.as_bytes());
    }
    format!("b3:{}", h.finalize().to_hex())
}

fn kept(mut pack: indexd_pack::Pack) -> Result<Kept, ErrorObject> {
    let rendered = std::mem::take(&mut pack.rendered);
    Ok(Kept { json: json(&pack)?, rendered, pack_id: pack.pack_id })
}

/// Writes a [`PackResult`] without reading the pack's JSON again, which is most of it.
///
/// [`PackResult`]: indexd_proto::request::PackResult
fn pack_result(
    kept: &Kept,
    envelope: &Envelope,
    rendered: bool,
    page: Option<&str>,
) -> Result<String, ErrorObject> {
    let mut out = String::with_capacity(kept.json.len() + 1_024);
    out += "{\"pack\":";
    out += &kept.json;
    out += ",\"envelope\":";
    out += &json(envelope)?;
    if rendered {
        out += ",\"rendered\":";
        out += &json(&kept.rendered)?;
    }
    if let Some(page) = page {
        out += ",\"page\":";
        out += &json(&page)?;
    }
    out.push('}');
    Ok(out)
}

fn raw(json: String) -> Result<Box<RawValue>, ErrorObject> {
    RawValue::from_string(json)
        .map_err(|e| ErrorObject::new(ErrorCode::Internal, format!("the answer is no JSON: {e}")))
}

/// Leaves the code out of an item of a preview.
fn strip_text(item: &mut Value) {
    if let Some(excerpt) = item.get_mut("excerpt").and_then(Value::as_object_mut) {
        excerpt.remove("text");
        for part in excerpt.get_mut("parts").and_then(Value::as_array_mut).into_iter().flatten() {
            part.as_object_mut().map(|p| p.remove("text"));
        }
    }
}

/// Sends progress while the client takes it, not more often than it can be read.
fn reporter<'a>(wanted: bool, ctx: &'a Context) -> impl FnMut(Progress) + 'a {
    let mut last: Option<Instant> = None;
    move |p| {
        if wanted && last.is_none_or(|t| t.elapsed() >= PROGRESS_INTERVAL) {
            last = Some(Instant::now());
            // A client that is gone is noticed by the check of the caller.
            let _ = ctx.send(rpc::request(None, "$/progress", convert::progress(&ctx.id, p)));
        }
    }
}

/// Cuts a long text into notifications of whole lines, and other bytes into notifications in Base64.
struct Chunks<'a> {
    ctx: &'a Context,
    is_binary: bool,
    buffer: Vec<u8>,
    seq: u64,
    bytes: u64,
    failure: Option<ErrorObject>,
}

impl<'a> Chunks<'a> {
    fn new(ctx: &'a Context, is_binary: bool) -> Self {
        Self { ctx, is_binary, buffer: Vec::new(), seq: 0, bytes: 0, failure: None }
    }

    fn push(&mut self, bytes: &[u8]) -> Result<(), ErrorObject> {
        self.buffer.extend_from_slice(bytes);
        // Base64 makes four characters of three bytes.
        let max = if self.is_binary { CHUNK_BYTES_MAX / 4 * 3 } else { CHUNK_BYTES_MAX };
        while self.buffer.len() > max {
            // A line longer than a chunk is cut at a character.
            let cut = match self.buffer[..max].iter().rposition(|&b| b == b'\n') {
                _ if self.is_binary => max,
                Some(i) => i + 1,
                None => (1..=max).rev().find(|&i| self.buffer[i] & 0xc0 != 0x80).unwrap_or(max),
            };
            let rest = self.buffer.split_off(cut);
            let piece = std::mem::replace(&mut self.buffer, rest);
            self.send(piece)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), ErrorObject> {
        let piece = std::mem::take(&mut self.buffer);
        if piece.is_empty() { Ok(()) } else { self.send(piece) }
    }

    fn send(&mut self, piece: Vec<u8>) -> Result<(), ErrorObject> {
        self.bytes += piece.len() as u64;
        let text = if self.is_binary {
            base64::engine::general_purpose::STANDARD.encode(piece)
        } else {
            String::from_utf8(piece).unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned())
        };
        let id: Id = self.ctx.id.clone();
        self.ctx.send(rpc::request(None, "$/chunk", ChunkParams { id, seq: self.seq, text }))?;
        self.seq += 1;
        Ok(())
    }
}

impl std::io::Write for Chunks<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        match self.push(bytes) {
            Ok(()) => Ok(bytes.len()),
            Err(e) => {
                self.failure = Some(e);
                Err(std::io::ErrorKind::Other.into())
            }
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
