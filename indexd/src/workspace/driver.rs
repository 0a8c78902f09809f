//! The event loop of one workspace: one thread, one closed [`Event`], one writer.
//!
//! It owns the engine, except while a build runs on a thread of its own; then events gather in the
//! inbox and requests wait. A lone save is taken in at once; a burst when it has settled; either at
//! once when a request waits and everything before it is known to have been noticed. A request that
//! finds the loop at rest and nothing changed does not wake it. Whatever fails leads to a state that
//! says so and is tried again; no other workspace notices.

mod watching;

use super::condition::Shared;
use super::cookie::{Answer, Cookies, Waiter};
use super::engine::{Engine, EngineError, Setup};
use super::failure::{self, Remedy};
use super::git::GitFolders;
use super::status::{Freshness, Progress, WorkspaceState};
use super::tokens::Counting;
use super::tree::ChangeSet;
use super::watch::{Inbox, Noticed, Watch, Watcher};
use crate::config::Config;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use indexd_store::Overlays;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Everything that can happen to a workspace.
pub enum Event {
    /// The watcher put something into the inbox.
    Noticed,
    /// A request waits for a fresh index.
    Wait(Waiter),
    /// A build is over; the engine comes back unless it panicked.
    Built(Option<Box<Engine>>, Result<(), EngineError>),
    /// An index was imported, or the import taken back.
    Import(Import),
    /// Close the index and end.
    Close,
}

/// What an imported index says, in place of what was imported before.
pub struct Import {
    /// One overlay for each file; none takes an import back.
    pub overlays: Overlays,
    /// Takes the word that the index follows it; dropped when that failed.
    pub reply: Sender<()>,
}

/// Paths. A batch up to this size whose writers are all done is taken in without waiting for more.
const LONE_PATHS_MAX: usize = 4;
/// Rounds of watching new folders and looking into them again; a tree that grows faster than that is
/// compared in full.
const ROUNDS_MAX: usize = 16;
/// Time without events or requests after which tokens are counted and memory is given back.
const IDLE: Duration = Duration::from_millis(1_500);

/// What a driver is started with.
pub struct DriverSetup {
    /// What the engine is made of; the settings are those of the user, narrowed by the loop.
    pub engine: Setup,
    /// Settings before the repository narrowed them.
    pub user_config: Arc<Config>,
    /// A folder of the daemon's own for cookies.
    pub cookies: PathBuf,
    /// How changes are noticed.
    pub watch: Watch,
    /// Shared with requests.
    pub shared: Arc<Shared>,
}

/// A failed workspace tries again no sooner, whoever asks.
const RETRY_MIN: Duration = Duration::from_millis(500);

/// When a failed workspace tries again.
#[derive(Clone, Copy)]
struct Retry {
    at: Instant,
    /// Not before this, even for a request.
    soonest: Instant,
}

/// The loop's own state.
pub struct Driver {
    setup: DriverSetup,
    events: Receiver<Event>,
    sender: Sender<Event>,
    inbox: Arc<Inbox>,
    watcher: Option<Arc<dyn Watcher>>,
    engine: Option<Box<Engine>>,
    /// The thread of a build under way.
    building: Option<std::thread::JoinHandle<()>>,
    is_closing: bool,
    imports: Vec<Import>,
    /// Imports that are kept and not in the index yet.
    importing: Vec<Sender<()>>,
    cookies: Cookies,
    is_degraded: bool,
    needs_sweep: bool,
    head_is_dirty: bool,
    retry: Option<Retry>,
    n_rebuilds: u32,
    sync_at: Option<Instant>,
    syncing: Option<std::thread::JoinHandle<()>>,
    sweep_at: Option<Instant>,
    last_request: Instant,
    last_event: Instant,
    counting: Counting,
    /// Whether work has left memory that is worth giving back.
    has_waste: bool,
}

impl Driver {
    /// Starts the thread of a workspace; events go through the returned sender.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn start(setup: DriverSetup) -> std::io::Result<(Sender<Event>, std::thread::JoinHandle<()>)> {
        let (sender, events) = crossbeam_channel::unbounded();
        let to_loop = sender.clone();
        let wake = sender.clone();
        let run = move || {
            let inbox = Inbox::new(move || {
                // The loop may have ended.
                let _ = wake.send(Event::Noticed);
            });
            let now = Instant::now();
            let driver = Self {
                cookies: Cookies::new(setup.cookies.clone()),
                counting: Counting::new(
                    setup.engine.config.index_background_tokens,
                    &setup.engine.config.pack.tokenizer,
                ),
                setup,
                events,
                sender: to_loop,
                inbox,
                watcher: None,
                engine: None,
                building: None,
                is_closing: false,
                imports: Vec::new(),
                importing: Vec::new(),
                is_degraded: false,
                needs_sweep: true,
                head_is_dirty: true,
                retry: None,
                n_rebuilds: 0,
                sync_at: None,
                syncing: None,
                sweep_at: None,
                last_request: now,
                last_event: now,
                has_waste: false,
            };
            driver.run();
        };
        let thread =
            std::thread::Builder::new().name("workspace".into()).stack_size(super::STACK_BYTES).spawn(run)?;
        Ok((sender, thread))
    }

    fn run(mut self) {
        loop {
            // A bug here must not leave requests without an answer or the state without a word.
            let acted = catch_unwind(AssertUnwindSafe(|| self.act()));
            if acted.is_err() {
                self.engine = None;
                self.stand("internal", "this is a bug; the workspace starts over", Duration::from_secs(10));
            }
            if let Some(watcher) = self.watcher.as_ref().filter(|_| self.is_at_rest()) {
                self.setup.shared.rest(watcher, &self.inbox);
            }
            let event = match self.next_due() {
                Some(at) => self.events.recv_deadline(at),
                None => self.events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            if let Some(asked) = self.setup.shared.rouse() {
                self.last_request = self.last_request.max(asked);
            }
            let mut next = match event {
                Ok(event) => Some(event),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            while let Some(event) = next {
                self.take(event);
                next = self.events.try_recv().ok();
            }
            if self.is_closing || self.is_idle() {
                return self.close();
            }
        }
        self.close();
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Noticed => self.last_event = Instant::now(),
            Event::Wait(waiter) => {
                self.last_request = Instant::now();
                if let Some(retry) = &mut self.retry {
                    retry.at = retry.at.min(retry.soonest);
                }
                self.cookies.wait(waiter);
            }
            Event::Built(engine, result) => self.built(engine, result),
            Event::Import(import) => self.imports.push(import),
            Event::Close => self.is_closing = true,
        }
    }

    /// Whether everything that was noticed is in the index and nothing else is to be done for a request.
    fn is_at_rest(&self) -> bool {
        let is_open = self.engine.as_ref().is_some_and(|engine| engine.store().is_some());
        let is_behind = self.is_degraded || self.needs_sweep || self.head_is_dirty || self.sweep_at.is_some();
        let is_asked = self.cookies.is_wanted() || !self.imports.is_empty() || !self.importing.is_empty();
        is_open && self.building.is_none() && self.retry.is_none() && !is_behind && !is_asked
    }

    /// Does whatever is due.
    fn act(&mut self) {
        if self.building.is_some() || self.retry.is_some_and(|retry| Instant::now() < retry.at) {
            return;
        }
        self.retry = None;
        if let Err(e) = self.advance() {
            self.failed(e);
        }
        self.show();
    }

    fn advance(&mut self) -> Result<(), EngineError> {
        if self.engine.is_none() {
            self.open()?;
        }
        if self.building.is_some() {
            return Ok(());
        }
        self.take_imports()?;
        if self.building.is_some() {
            return Ok(());
        }
        if self.watcher.is_none() && self.watches() {
            self.start_watching();
            self.needs_sweep = true;
        }
        let is_lost = self.inbox.peek(|n| n.lost);
        if self.needs_sweep || is_lost || self.sweep_at.is_some_and(|at| at <= Instant::now()) {
            self.sweep()?;
        }
        if self.building.is_some() {
            return Ok(());
        }
        self.answer_requests()?;
        if self.building.is_none() && self.batch_due().is_some_and(|at| at <= Instant::now()) {
            self.take_in()?;
        }
        self.keep_house()
    }

    /// Lays over the index what was imported. Many overlays go to a build.
    fn take_imports(&mut self) -> Result<(), EngineError> {
        let Some(engine) = &mut self.engine else { return Ok(()) };
        for Import { overlays, reply } in std::mem::take(&mut self.imports) {
            engine.keep_overlays(&overlays)?;
            self.importing.push(reply);
        }
        let shared = Arc::clone(&self.setup.shared);
        if engine.overlays_are_due()? && !engine.lay_over(&|| shared.is_stopping())? {
            self.start_build(None);
            return Ok(());
        }
        if engine.store().is_some() {
            for reply in std::mem::take(&mut self.importing) {
                // The request may have left.
                let _ = reply.send(());
            }
        }
        Ok(())
    }

    fn watches(&self) -> bool {
        self.setup.engine.config.watch_enabled && !self.is_degraded
    }

    /// Opens the index with the settings as the repository has narrowed them by now.
    fn open(&mut self) -> Result<(), EngineError> {
        match self.setup.user_config.for_repository(&self.setup.engine.root) {
            Ok(config) => self.setup.engine.config = Arc::new(config),
            Err(e) => {
                let config = Arc::clone(&self.setup.user_config);
                self.setup.engine.config = config;
                self.problem(&super::settings_ignored(&e));
            }
        }
        // An index that a fault left open would be in its own way.
        self.setup.shared.set_store(None);
        let engine = Engine::open(self.setup.engine.clone())?;
        self.setup.shared.set_store(engine.store().cloned());
        self.engine = Some(Box::new(engine));
        self.needs_sweep = true;
        self.head_is_dirty = true;
        Ok(())
    }

    /// Compares the whole tree; whatever was noticed before is covered.
    fn sweep(&mut self) -> Result<(), EngineError> {
        let started = Instant::now();
        if self.inbox.take().lost {
            self.setup.shared.update(|c| c.n_rescans += 1);
        }
        self.needs_sweep = true;
        self.sweep_at = None;
        self.has_waste = true;
        let Some(changes) = self.sweep_watching()? else { return Ok(()) };
        self.head_is_dirty = true;
        if self.absorb(changes, true)? {
            self.needs_sweep = false;
            self.cookies.give_up();
            // Requests that came in meanwhile have not been heard yet; some may be covered.
            while let Ok(event) = self.events.try_recv() {
                self.take(event);
            }
            self.answer_until(started, "scan");
        }
        if self.is_degraded {
            self.sweep_at =
                Some(Instant::now() + Duration::from_secs(self.setup.engine.config.watch_sweep_s.max(1)));
        }
        Ok(())
    }

    /// Brings the index up to date with changes, after watching the folders that are new among them
    /// and looking into those again: what was made in a folder before it was watched made no event.
    /// False when the changes, which `are_all` since the index was as the tree, went to a build.
    fn absorb(&mut self, mut changes: ChangeSet, are_all: bool) -> Result<bool, EngineError> {
        for round in 0.. {
            let gone = std::mem::take(&mut changes.folders_gone);
            let new = std::mem::take(&mut changes.folders_new);
            self.unwatch(&gone);
            if new.is_empty() || self.watcher.is_none() {
                break;
            }
            let fresh = self.watch_all(&new);
            let Some(engine) = &mut self.engine else { return Ok(false) };
            if fresh.is_empty() {
                break;
            }
            changes.merge(match round {
                0..ROUNDS_MAX => engine.examine(fresh.iter().map(String::as_str))?,
                _ => engine.sweep()?,
            });
            if round > ROUNDS_MAX {
                break;
            }
        }
        if self.head_is_dirty {
            // Another branch may lie in another folder. Watched first, so that no move is missed.
            self.watch_own();
        }
        let Some(engine) = &mut self.engine else { return Ok(false) };
        if engine.needs_build(&changes) {
            self.start_build(are_all.then_some(changes));
            return Ok(false);
        }
        let look_at_head = std::mem::take(&mut self.head_is_dirty);
        let shared = Arc::clone(&self.setup.shared);
        if let Err(e) = engine.apply(&changes, look_at_head, &|| shared.is_stopping()) {
            self.head_is_dirty |= look_at_head;
            self.needs_sweep = true;
            return Err(e);
        }
        self.n_rebuilds = 0;
        if self.sync_at.is_none() {
            self.sync_at =
                Some(Instant::now() + Duration::from_secs(self.setup.engine.config.workspace_sync_s));
        }
        Ok(true)
    }

    fn start_build(&mut self, swept: Option<ChangeSet>) {
        let Some(mut engine) = self.engine.take() else { return };
        let shared = Arc::clone(&self.setup.shared);
        shared.update(|c| {
            c.state =
                if engine.store().is_some() { WorkspaceState::Rebuilding } else { WorkspaceState::Building };
            c.progress = Some(Progress { phase: "scan", done: 0, total: 0 });
        });
        let sender = self.sender.clone();
        let build = move || {
            let run = AssertUnwindSafe(|| {
                let progress = |p| shared.update(|c| c.progress = Some(p));
                engine.build(swept, &progress, &|| shared.is_stopping())
            });
            let event = match indexd_os::while_building(|| catch_unwind(run)) {
                Ok(result) => Event::Built(Some(engine), result),
                Err(_) => Event::Built(None, Err(EngineError::Cancelled)),
            };
            // The loop waits for this before it ends.
            let _ = sender.send(event);
        };
        self.building =
            std::thread::Builder::new().name("build".into()).stack_size(super::STACK_BYTES).spawn(build).ok();
        if self.building.is_none() {
            self.stand("internal", "no thread could be started", Duration::from_secs(10));
        }
    }

    /// Waits for the thread of a build that has said its last word. What its threads used is of no use
    /// to requests.
    fn end_build(&mut self) {
        if let Some(thread) = self.building.take() {
            let _ = thread.join();
            super::give_back_memory();
        }
    }

    fn built(&mut self, engine: Option<Box<Engine>>, result: Result<(), EngineError>) {
        self.end_build();
        self.engine = engine;
        self.setup.shared.update(|c| c.progress = None);
        self.needs_sweep = true;
        match (result, &self.engine) {
            (Ok(()), Some(engine)) => {
                self.setup.shared.set_store(engine.store().cloned());
                if let Some(watcher) = &self.watcher {
                    let watched: BTreeSet<&str> = engine.watched().collect();
                    let now = |dir: &Path| {
                        let rel = dir.strip_prefix(&self.setup.engine.root).ok().and_then(Path::to_str);
                        rel.is_some_and(|rel| watched.contains(rel))
                    };
                    watcher.unwatch_others(&now);
                    // The comparison that follows watches what is new.
                    self.watch_own();
                }
                self.counting.start_over();
            }
            (Err(EngineError::Cancelled), Some(_)) => {}
            (Err(e), Some(_)) => self.failed(e),
            (_, None) => self.stand("internal", "a build failed; it is tried again", Duration::from_secs(10)),
        }
        self.show();
    }

    /// Answers the requests whose changes are known to be in, or sees to it that they will be.
    fn answer_requests(&mut self) -> Result<(), EngineError> {
        if !self.cookies.is_wanted() {
            return Ok(());
        }
        if self.watcher.is_none() || self.is_degraded {
            return self.sweep();
        }
        let until = Instant::now();
        if self.watcher.as_ref().is_some_and(|watcher| watcher.catch_up()) {
            if self.inbox.peek(|n| n.lost) {
                return self.sweep();
            }
            let noticed = self.inbox.take();
            if self.process(&noticed)? {
                self.answer_until(until, "queue");
            }
            return Ok(());
        }
        let has_returned =
            self.inbox.peek(|n| n.paths.keys().any(|p| p.parent() == Some(self.cookies.dir())));
        if has_returned {
            self.take_in()?;
        }
        if self.building.is_some() {
            return Ok(());
        }
        let patience = Duration::from_millis(self.setup.engine.config.freshness_cookie_ms);
        if self.cookies.due(patience).is_some_and(|at| at <= Instant::now()) {
            self.cookies.give_up();
            self.setup.shared.update(|c| c.n_rescans += 1);
            return self.sweep();
        }
        match self.cookies.make() {
            Ok(()) => Ok(()),
            Err(_) => self.sweep(),
        }
    }

    /// Takes in what was noticed and answers the requests whose cookies are among it.
    fn take_in(&mut self) -> Result<(), EngineError> {
        let noticed = self.inbox.take();
        let until = noticed.paths.keys().filter_map(|p| self.cookies.returned(p)).max();
        let is_in = self.process(&noticed)?;
        if let (true, Some(until)) = (is_in, until) {
            self.answer_until(until, "cookie");
        }
        Ok(())
    }

    fn answer_until(&mut self, until: Instant, how: &'static str) {
        let generation = self.engine.as_ref().and_then(|e| e.store()).map_or(0, |s| s.generation());
        let fresh = Freshness { fresh: true, generation, pending: 0, how };
        // Whoever asks for status next must not see the one before.
        self.show();
        self.cookies.answer(until, &Answer::Is(fresh));
    }

    /// Takes in what was noticed. False when it went to a build.
    fn process(&mut self, noticed: &Noticed) -> Result<bool, EngineError> {
        if noticed.lost {
            self.needs_sweep = true;
            return Ok(false);
        }
        let root = self.setup.engine.root.clone();
        let git = GitFolders::find(&root);
        let mut dirty = BTreeSet::new();
        for path in noticed.paths.keys() {
            if path.starts_with(self.cookies.dir()) {
                continue;
            }
            let in_git =
                git.as_ref().is_some_and(|g| path.starts_with(&g.head) || path.starts_with(&g.common));
            if in_git && git.as_ref().is_some_and(|g| *path != g.root.join(".git")) {
                self.head_is_dirty |= is_head(path);
                self.needs_sweep |= path.ends_with("info/exclude");
                continue;
            }
            if path.file_name().is_some_and(|name| name == ".git")
                && path.parent().is_some_and(|top| root.starts_with(top))
            {
                // A repository came or went, with its rules.
                self.head_is_dirty = true;
                self.needs_sweep = true;
                continue;
            }
            match path.strip_prefix(&root) {
                Ok(rel) => dirty.extend(rel.to_str().map(|r| r.to_owned())),
                // A rule file above the root or of the user.
                Err(_) => self.needs_sweep |= super::rules::is_outside_rule(path),
            }
        }
        if dirty.contains(super::rules::REPO_CONFIG) {
            self.reload_config();
        }
        if self.needs_sweep {
            self.needs_sweep = false;
            dirty.insert(String::new());
        }
        if dirty.is_empty() && !self.head_is_dirty {
            return Ok(true);
        }
        let replaced = self.unwatch_replaced(&dirty);
        let Some(engine) = &mut self.engine else { return Ok(false) };
        let examined = engine.examine(dirty.iter().map(String::as_str)).map(|mut changes| {
            changes.folders_new.extend(replaced.into_iter().filter(|dir| engine.tree.watches(dir)));
            changes
        });
        let absorbed = examined.and_then(|changes| self.absorb(changes, false));
        if absorbed.is_err() {
            self.needs_sweep = true;
        }
        absorbed
    }

    fn reload_config(&mut self) {
        match self.setup.user_config.for_repository(&self.setup.engine.root) {
            Ok(config) => {
                let config = Arc::new(config);
                self.setup.engine.config = Arc::clone(&config);
                self.setup.shared.update(|c| c.problems.retain(|p| !p.starts_with(super::SETTINGS_IGNORED)));
                if let Some(engine) = &mut self.engine {
                    engine.set_config(config);
                }
                self.needs_sweep = true;
            }
            Err(e) => self.problem(&super::settings_ignored(&e)),
        }
    }

    /// When what was noticed is to be taken in.
    fn batch_due(&self) -> Option<Instant> {
        let config = &self.setup.engine.config;
        let tree = self.engine.as_ref().map(|e| &e.tree);
        let root = &self.setup.engine.root;
        let is_known = |p: &Path| {
            let rel = p.strip_prefix(root).ok().and_then(Path::to_str);
            rel.is_none_or(|rel| tree.is_some_and(|t| t.holds(rel)))
        };
        self.inbox.peek(|n| {
            let (first, last) = (n.first?, n.last?);
            // A new name may be a temporary one that is about to be renamed.
            let is_lone =
                n.paths.len() <= LONE_PATHS_MAX && n.paths.iter().all(|(p, done)| *done && is_known(p));
            let settled = last + Duration::from_millis(config.watch_settle_ms);
            let at_latest = first + Duration::from_millis(config.watch_settle_max_ms);
            Some(if is_lone || n.lost { first } else { settled.min(at_latest) })
        })
    }

    fn next_due(&self) -> Option<Instant> {
        if self.building.is_some() {
            return None;
        }
        if let Some(retry) = self.retry {
            return Some(retry.at);
        }
        let patience = Duration::from_millis(self.setup.engine.config.freshness_cookie_ms);
        let idle = Duration::from_secs(self.setup.engine.config.workspace_idle_close_s);
        let dues = [
            self.needs_sweep.then(Instant::now),
            self.batch_due(),
            self.cookies.due(patience),
            self.sync_at,
            self.sweep_at,
            (self.counting.is_wanted() || self.has_waste)
                .then(|| self.last_request.max(self.last_event) + IDLE),
            Some(self.last_request + idle),
        ];
        dues.into_iter().flatten().min()
    }

    fn is_idle(&self) -> bool {
        let idle = Duration::from_secs(self.setup.engine.config.workspace_idle_close_s);
        self.building.is_none() && !self.cookies.is_wanted() && self.last_request.elapsed() >= idle
    }

    fn keep_house(&mut self) -> Result<(), EngineError> {
        let now = Instant::now();
        let is_quiet = now.saturating_duration_since(self.last_request.max(self.last_event)) >= IDLE
            && self.events.is_empty();
        if is_quiet && !self.counting.is_wanted() && std::mem::take(&mut self.has_waste) {
            super::give_back_memory();
        }
        let Some(store) = self.engine.as_ref().and_then(|e| e.store()).cloned() else { return Ok(()) };
        if store.is_damaged() {
            return Err(indexd_store::StoreError::Corrupt("found while reading".into()).into());
        }
        if self.sync_at.is_some_and(|at| at <= now) {
            self.sync_at = None;
            self.start_sync(&store);
        }
        if is_quiet && self.counting.is_wanted() {
            self.has_waste = true;
            self.counting.step(&store)?;
        }
        Ok(())
    }

    /// Flushes on a thread of its own: a busy disk must not keep requests waiting.
    fn start_sync(&mut self, store: &indexd_store::Store) {
        if self.syncing.as_ref().is_some_and(|thread| !thread.is_finished()) {
            self.sync_at = Some(Instant::now() + Duration::from_secs(1));
            return;
        }
        let store = store.clone();
        let sync = move || {
            if let Err(e) = store.sync() {
                // What is not flushed is verified or rebuilt after a loss of power.
                tracing::warn!(error = %e, "the index could not be flushed");
            }
        };
        self.syncing = std::thread::Builder::new().name("sync".into()).spawn(sync).ok();
    }

    /// Publishes the condition after something was done.
    fn show(&mut self) {
        let n_pending = self.inbox.peek(|n| n.paths.len()) as u64;
        let watch = match (&self.watcher, self.is_degraded) {
            (Some(_), false) => "events",
            (Some(_), true) => "degraded",
            (None, _) => "scan",
        };
        let engine = self.engine.as_deref();
        let is_failed = self.retry.is_some();
        self.setup.shared.update(|c| {
            c.n_pending = n_pending;
            c.watch = watch;
            let Some(engine) = engine else { return };
            let Some(store) = engine.store() else { return };
            c.generation = store.generation();
            c.n_files = engine.tree.n_files() as u64;
            (c.n_extracted, c.n_linked) = engine.log.counts();
            engine.import_tool().clone_into(&mut c.import_tool);
            c.skipped_names.clone_from(&engine.tree.skipped_names);
            let unreadable = engine.unreadable().len() + engine.tree.unreadable.len();
            c.problems.retain(|p| !p.ends_with(UNREADABLE));
            if unreadable > 0 {
                c.problems.push(format!("{unreadable} {UNREADABLE}"));
            }
            if !is_failed {
                c.state = WorkspaceState::Ready;
            }
        });
    }

    fn problem(&self, sentence: &str) {
        self.setup.shared.update(|c| {
            if !c.problems.iter().any(|p| p == sentence) {
                c.problems.push(sentence.to_owned());
            }
        });
    }

    fn failed(&mut self, e: EngineError) {
        match failure::remedy(&e) {
            Remedy::None => {}
            Remedy::Rebuild if self.n_rebuilds < 3 => {
                self.n_rebuilds += 1;
                tracing::warn!(error = %e, "the index is rebuilt");
                self.setup.shared.set_store(None);
                if let Some(engine) = &mut self.engine {
                    engine.discard();
                }
                self.needs_sweep = true;
                self.start_build(None);
            }
            Remedy::Rebuild => self.stand(
                "corrupt",
                "the index was damaged again and again; check the disk",
                Duration::from_secs(60),
            ),
            Remedy::Retry { code, hint, after } => {
                tracing::warn!(error = %e, code, "the workspace waits");
                self.needs_sweep = true;
                self.stand(code, &hint, after);
            }
        }
    }

    /// Enters the failed state and tries again later, or soon when a request asks: what was wrong may
    /// be right by then. Requests that wait now are told at once.
    fn stand(&mut self, code: &'static str, hint: &str, after: Duration) {
        let hint = hint.to_owned();
        self.importing.clear();
        let now = Instant::now();
        // What was rebuilt in vain is not rebuilt for every request.
        let soonest = if code == "corrupt" { after } else { RETRY_MIN.min(after) };
        self.retry = Some(Retry { at: now + after, soonest: now + soonest });
        self.cookies.give_up();
        if code == "root-gone" {
            // The watches went with the folders.
            self.watcher = None;
        }
        self.setup.shared.update(|c| c.state = WorkspaceState::Failed { code, hint: hint.clone() });
        let answer = match self.setup.shared.store() {
            Some(_) => Answer::Is(self.setup.shared.not_fresh()),
            None => Answer::Failed { code, hint },
        };
        self.cookies.answer(Instant::now(), &answer);
    }

    fn close(mut self) {
        self.setup.shared.stop();
        while self.building.is_some() {
            match self.events.recv() {
                Ok(Event::Built(engine, _)) => {
                    self.end_build();
                    self.engine = engine;
                }
                Ok(_) => {}
                Err(_) => break,
            }
        }
        self.watcher = None;
        self.cookies.give_up();
        self.setup.shared.set_store(None);
        if let Some(thread) = self.syncing.take() {
            let _ = thread.join();
        }
        if let Some(engine) = self.engine.take()
            && let Err(e) = engine.close()
        {
            tracing::warn!(error = %e, "the index was not closed cleanly and will be verified");
        }
        self.setup.shared.update(|c| {
            c.state = WorkspaceState::Closed;
            c.progress = None;
        });
    }
}

const UNREADABLE: &str = "files or folders may not be read and are not indexed";

/// Whether a path inside a git folder says where HEAD is.
fn is_head(path: &Path) -> bool {
    let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
    !name.ends_with(".lock") && (name == "HEAD" || name == "packed-refs" || path.iter().any(|p| p == "refs"))
}
