//! The backend over real workspaces: resolve, wait, read one snapshot, answer.

mod documents;
mod lookups;
mod packs;
mod share;
mod transfer;

use crate::config::{Config, PathMap};
use crate::server::backend::{Answer, Backend, Context};
use crate::server::dispatch::json;
use crate::server::graph::Relation;
use crate::server::limits::PROGRESS_INTERVAL;
use crate::server::metrics::Metrics;
use crate::server::offers::Offers;
use crate::server::pack_cache::PackCache;
use crate::server::records::Records;
use crate::server::spool::Exports;
use crate::server::{convert, place, unsaved};
use crate::workspace::{Collect, Freshness, Progress, Pulls, RECORDS, Registry, Workspace, WorkspaceError};
use indexd_model::IndexView as _;
use indexd_proto::error::{ErrorCode, ErrorObject};
use indexd_proto::limits::WAIT_MS_MAX;
use indexd_proto::overlay::{Overlay, OverlayFacts};
use indexd_proto::paths::Dirs;
use indexd_proto::rpc::{self, ProgressParams};
use indexd_proto::sources::OfferResult;
use indexd_proto::workspace::{Envelope, Failure, State, Wait, WaitMode};
use indexd_proto::{Call, workspace as wire};
use indexd_store::Snapshot;
use indexd_text::{CachedCounter, CounterOptions};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use transfer::Form;

/// Version of the tool in the identity of packs.
const TOOL_VERSION: &str = env!("CARGO_PKG_VERSION");

/// How long requests wait by default whose answer must hold every save.
const LONG_WAIT: Wait =
    Wait { mode: WaitMode::Strict, timeout_ms: Some(WAIT_MS_MAX), build_timeout_ms: None };

/// Serves requests from the workspaces of one user.
pub struct Service {
    registry: Registry,
    config: Arc<Config>,
    pack_cache: PackCache,
    records: Records,
    exports: Exports,
    metrics: Metrics,
    /// Sources of packings that come later.
    offers: Offers,
    /// Counters by name; each remembers counts, so there is one for all requests.
    counters: Mutex<BTreeMap<String, Arc<CachedCounter>>>,
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
            return Err(ErrorObject::invalid("the folder is not absolute"));
        }
        Ok(named)
    }

    /// The same, which must be there.
    fn named(self) -> Result<(&'a Path, bool), ErrorObject> {
        self.folder()?.ok_or_else(unnamed)
    }
}

/// The error of a request that names no workspace.
fn unnamed() -> ErrorObject {
    ErrorObject::invalid("neither repo nor cwd is given")
        .with_hint("name the root with repo, or a folder inside it with cwd")
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

/// Says that a folder that was named as a root is a part of a repository.
fn part_of(target: Target, root: &Path) -> Option<String> {
    let (path, true) = target.folder().ok()?? else { return None };
    let is_root = std::fs::canonicalize(path).is_ok_and(|path| path == root);
    (!is_root)
        .then(|| format!("{} is a part of the repository {}, which is asked", path.display(), root.display()))
}

impl Service {
    /// Opens the registry. Indexes open when they are first asked for.
    ///
    /// # Errors
    /// Those of the registry.
    pub fn open(dirs: &Dirs, config: Arc<Config>) -> Result<Self, WorkspaceError> {
        let registry = Registry::open(dirs, Arc::clone(&config))?;
        Ok(Self {
            registry,
            config,
            pack_cache: PackCache::default(),
            records: Records::new(dirs.state.join(RECORDS)),
            exports: Exports::new(&dirs.cache),
            metrics: Metrics::default(),
            offers: Offers::default(),
            counters: Mutex::default(),
        })
    }

    /// The root that a request names, if it names one. Nothing is registered.
    fn root(&self, target: Target) -> Result<Option<PathBuf>, ErrorObject> {
        Ok(target.folder()?.map(|(dir, exact)| self.registry.locate(dir, exact)).transpose()?)
    }

    fn workspace(&self, target: Target, ctx: &Context) -> Result<Arc<Workspace>, ErrorObject> {
        let (path, exact) = target.named()?;
        let workspace = self.registry.resolve(path, exact, ctx.client_pulls)?;
        self.tell_to_pull(&workspace, ctx)?;
        Ok(workspace)
    }

    /// Refuses requests for coding agents where `mcp.enabled` is off. Settings of a repository that
    /// cannot be read do not count.
    fn check_agents(&self, root: &Path, ctx: &Context) -> Result<(), ErrorObject> {
        if !ctx.is_for_agents {
            return Ok(());
        }
        let config = self.config.for_repository(root).unwrap_or_else(|_| Config::clone(&self.config));
        if config.mcp_enabled {
            return Ok(());
        }
        let origin = config.origin("mcp.enabled");
        let message = "MCP is switched off for this repository";
        Err(ErrorObject::new(ErrorCode::NotSupported, message)
            .with_hint(format!("the user may set mcp.enabled, which is off in {origin}")))
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
        let workspace = self.workspace(target, ctx)?;
        self.check_agents(workspace.root(), ctx)?;
        let wait = crate::workspace::Wait::of(wait.unwrap_or_default(), &workspace.config());
        let mut report = reporter(progress, ctx);
        let is_building = matches!(workspace.state(), State::Building | State::Closed);
        let mut read = || workspace.read(wait, &|| ctx.cancel.is_cancelled(), &mut report);
        let (snapshot, freshness) = if is_building { ctx.aside(read)? } else { read()? };
        let waited = started.elapsed();
        let started = Instant::now();
        let (config, ignored) = workspace.settings();
        let failure = if freshness.fresh { None } else { workspace.failure() };
        let behind = |f: Failure| format!("the index does not follow the tree ({}): {}", f.code, f.hint);
        let mut warnings: Vec<String> = failure.map(behind).into_iter().chain(ignored).collect();
        warnings.extend(part_of(target, workspace.root()));
        if workspace.holds_nothing() {
            warnings.extend(workspace.emptied_by());
        }
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
        reading.snapshot = reading.workspace.unsaved(&texts, &|| ctx.cancel.is_cancelled())?;
        reading.repo_id = reading.workspace.repo_id_in(&reading.snapshot, &reading.config);
        reading.overlays = Some(facts);
        Ok(reading)
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
            cache_texts: indexd_text::CACHE_TEXTS,
        };
        let counter = indexd_text::counter(name, &options)
            .map_err(|e| ErrorObject::new(ErrorCode::TokenCount, e.to_string()))?;
        counters.insert(name.to_owned(), Arc::clone(&counter));
        Ok(counter)
    }

    fn index_wait(&self, p: wire::WaitParams, ctx: &Context) -> Answer {
        let reading = self.read(target(&p.repo, &p.cwd), p.wait.or(Some(LONG_WAIT)), p.progress, ctx)?;
        json(&wire::WaitResult {
            workspace: reading.workspace.status(),
            envelope: reading.envelope(ctx),
            ..wire::WaitResult::default()
        })
    }

    fn compact(&self, p: wire::CompactParams, ctx: &Context) -> Answer {
        let reading = self.read(target(&p.repo, &p.cwd), Some(LONG_WAIT), p.progress, ctx)?;
        let workspace = Arc::clone(&reading.workspace);
        drop(reading);
        let (bytes_before, bytes) = workspace.compact(&|| ctx.cancel.is_cancelled())?;
        json(&wire::CompactResult {
            root: workspace.root().display().to_string(),
            bytes_before,
            bytes,
            ..wire::CompactResult::default()
        })
    }

    fn gc(&self, p: &wire::GcParams) -> Answer {
        let removed = self.registry.gc(Collect::by_hand(&self.config), p.dry_run);
        json(&wire::GcResult { dry_run: p.dry_run, removed, ..wire::GcResult::default() })
    }

    fn config_show(&self, p: &wire::ConfigParams) -> Answer {
        // Shown without registering anything: the file of the folder itself, if it has one.
        let entries = match p.repo.as_deref().or(p.cwd.as_deref()) {
            Some(root) => {
                self.config.for_repository(Path::new(root)).map_err(WorkspaceError::from)?.entries()
            }
            None => self.config.entries(),
        };
        json(&wire::ConfigResult { entries, ..wire::ConfigResult::default() })
    }
}

impl Backend for Service {
    fn call(&self, call: Call, ctx: &Context) -> Answer {
        match call {
            Call::Pack(p) => self.pack(p, ctx),
            Call::Preview(p) => self.preview(p, ctx),
            Call::PackGet(p) => self.pack_get(&p, ctx),
            Call::PackMarkdown(p) => self.markdown(p, ctx),
            Call::Map(p) => self.map(p, ctx),
            Call::ContextPack(p) => self.context_pack(p, ctx),
            Call::ContextOffer(p) => {
                json(&OfferResult { awaited: self.offers.put(p)?, ..OfferResult::default() })
            }
            Call::ContextShow(p) => self.context_show(&p),
            Call::Search(p) => self.search(p, ctx),
            Call::Grep(p) => self.grep(p, ctx),
            Call::Symbol(p) => self.symbol(p, ctx),
            Call::Show(p) => self.show(p, ctx),
            Call::Highlight(p) => self.highlight(p, ctx),
            Call::Card(p) => self.card(p, ctx),
            Call::Why(p) => self.why(p, ctx),
            Call::Callers(p) => self.graph(Relation::Callers, p, ctx),
            Call::Callees(p) => self.graph(Relation::Callees, p, ctx),
            Call::Refs(p) => self.graph(Relation::Refs, p, ctx),
            Call::Impact(p) => self.graph(Relation::Impact, p, ctx),
            Call::Implementations(p) => self.graph(Relation::Implementations, p, ctx),
            Call::Around(p) => self.graph(Relation::Around, p, ctx),
            Call::WorkspaceAdd(p) => {
                let (path, exact) = target(&p.repo, &p.cwd).named()?;
                // Asked for by name, whatever it looks like; a folder of a repository may be one of its own.
                let root = if exact { path.to_owned() } else { self.registry.locate(path, exact)? };
                let workspace = self.registry.add(&root, ctx.client_pulls)?;
                self.tell_to_pull(&workspace, ctx)?;
                let root = ctx.root(workspace.root());
                json(&wire::WorkspaceStatus { root, ..workspace.status() })
            }
            Call::WorkspaceList(_) => {
                json(&wire::ListResult { workspaces: self.registry.list(), ..wire::ListResult::default() })
            }
            Call::WorkspaceRemove(p) => {
                self.registry.remove(Path::new(&p.repo))?;
                json(&wire::RemoveResult { root: p.repo })
            }
            Call::WorkspaceGc(p) => self.gc(&p),
            Call::IndexCompact(p) => self.compact(p, ctx),
            Call::IndexWait(p) => self.index_wait(p, ctx),
            Call::ExportDump(p) => self.export(p, ctx, Form::Dump),
            Call::ExportEdges(p) => self.export(p, ctx, Form::Edges),
            Call::ExportArtifacts(p) => self.export(p, ctx, Form::Artifacts),
            Call::ExportScip(p) => self.export(p, ctx, Form::Scip),
            Call::ImportScip(p) => self.import(p, ctx),
            Call::ShareDescribe(p) => self.share_describe(&p, ctx),
            Call::ShareExport(p) => self.share_export(p, ctx),
            Call::ShareBegin(p) => self.share_begin(p, ctx),
            Call::ConfigShow(p) => self.config_show(&p),
            Call::Hello(_) | Call::Status(_) | Call::Shutdown(_) => {
                Err(ErrorObject::new(ErrorCode::Internal, "the dispatcher serves this method"))
            }
        }
    }

    fn status(&self) -> wire::StatusResult {
        let mut packs = self.metrics.counts();
        for counter in self.counters.lock().unwrap_or_else(PoisonError::into_inner).values() {
            let (hits, misses) = counter.lookups();
            packs.token_cache_hits += hits;
            packs.token_cache_misses += misses;
        }
        let share = self.registry.pulls().map(Pulls::counts).unwrap_or_default();
        wire::StatusResult { packs, share, workspaces: self.registry.list(), ..wire::StatusResult::default() }
    }

    fn path_map(&self) -> Option<&PathMap> {
        Some(&self.config.daemon_path_map)
    }

    fn collect(&self) {
        for c in self.registry.gc(Collect::by_itself(&self.config), false) {
            tracing::info!(index = c.index, reason = %c.reason, bytes = c.bytes, "removed an index");
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
            Some(failure) => {
                let failed = convert::failed(&failure);
                let message = format!("{said}, which does not follow the tree: {}", failed.message);
                ErrorObject { message, ..failed }
            }
            None => ErrorObject::new(ErrorCode::Indexing, format!("{said}, which is behind the tree"))
                .with_retry_after_ms(convert::RETRY_MS)
                .with_hint("try again, or wait longer with --wait"),
        }
    }

    fn envelope(&self, ctx: &Context) -> Envelope {
        let ms = |d: Duration| (d.as_secs_f64() * 1e6).round() / 1e3;
        Envelope {
            fresh: self.freshness.fresh,
            how: self.freshness.how,
            pending: self.freshness.pending,
            generation: self.snapshot.generation(),
            index_signature: self.snapshot.signature(),
            repo_id: self.repo_id.clone(),
            root: ctx.root(self.workspace.root()),
            warnings: self.warnings.clone(),
            overlays: self.overlays.clone(),
            cache: None,
            waited_ms: ms(self.waited),
            took_ms: ms(self.started.elapsed()),
            correlation_id: ctx.correlation_id.clone(),
        }
    }
}

fn target<'a>(repo: &'a Option<String>, cwd: &'a Option<String>) -> Target<'a> {
    Target { repo: repo.as_deref(), cwd: cwd.as_deref() }
}

/// Sends progress while the client takes it, not more often than it can be read.
fn reporter<'a>(wanted: bool, ctx: &'a Context) -> impl FnMut(Progress) + 'a {
    let mut last: Option<Instant> = None;
    move |p| {
        if wanted && last.is_none_or(|t| t.elapsed() >= PROGRESS_INTERVAL) {
            last = Some(Instant::now());
            // A client that is gone is noticed by the check of the caller.
            let Progress { phase, done, total } = p;
            let params = ProgressParams { id: ctx.id.clone(), phase, done, total };
            let _ = ctx.send(rpc::request(None, "$/progress", params));
        }
    }
}
