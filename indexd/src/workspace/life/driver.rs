//! The event loop of one workspace: one thread, one closed [`Event`], one `State`, one writer.
//!
//! The loop sleeps until an event or a due time, takes in all events, then does what its state asks:
//!
//! ```text
//!           open                  many changes, or none built yet
//!  Closed ────────▶ Open ───────────────────────────▶ Building
//!    ▲               │ ▲  ▲                               │
//!    │ the engine    │ │  └──────── Event::Built ─────────┘
//!    │ is lost       ▼ │ time to try again
//!    └───────────── Failed
//! ```
//!
//! A single save is indexed at once, a burst after it has settled. When a request waits, both are indexed
//! as soon as every earlier change is known to have been noticed. A request does not wake the loop if
//! the loop is idle and nothing changed. Every failure leads to a state that reports it and is retried;
//! other workspaces are not affected.

mod changes;
mod maintenance;
mod watching;

use super::failure::{self, Blame, Remedy};
use super::memory::Pressure;
use crate::config::Config;
use crate::workspace::Problem;
use crate::workspace::indexing::engine::{Engine, EngineError, Setup};
use crate::workspace::indexing::recovery;
use crate::workspace::noticing::clock::Clock;
use crate::workspace::noticing::condition::Shared;
use crate::workspace::noticing::cookie::{Cookies, Waiter};
use crate::workspace::noticing::watch::{Inbox, Watch};
use crate::workspace::status::{Freshness, Progress};
use crate::workspace::threads;
use crate::workspace::tree::ChangeSet;
use changes::Calm;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use indexd_proto::workspace::{Failure, FailureCode, How, Phase, State as Reported};
use indexd_store::{Overlays, Store, StoreError, Unreadable};
use maintenance::{Copied, Maintenance};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use watching::Watching;

/// Everything that can happen to a workspace.
pub enum Event {
    /// The watcher put paths into the inbox.
    Noticed,
    /// A request waits for a fresh index.
    Wait(Waiter),
    /// A build ended; it returns the engine and the result unless it panicked.
    Built(Option<(Box<Engine>, Result<(), EngineError>)>),
    /// A compacting copy of the index ended, with its number.
    Copied(u64, Copied),
    /// A request to compact the index even if little is gained; the reply channel is dropped if it
    /// cannot be done.
    Compact(Sender<()>),
    /// An index was imported, or an import was withdrawn.
    Import(Import),
    /// Drop the caches for later requests, and return the memory of this thread.
    LetGo,
    /// Close the index and end.
    Close,
}

/// An imported index, which replaces the one imported before.
pub struct Import {
    /// One overlay for each file; an empty list withdraws the import.
    pub overlays: Overlays,
    /// Told when the index has applied it; dropped if that failed.
    pub reply: Sender<()>,
}

/// Parameters of a workspace.
#[derive(Clone)]
pub struct WorkspaceSetup {
    /// Parameters of the engine, with the settings of the user; the loop adds those of the repository.
    pub engine: Setup,
    /// A private folder for cookie files.
    pub cookies: PathBuf,
    /// The way in which changes are noticed.
    pub watch: Watch,
    /// Told when work may have allocated memory.
    pub pressure: Pressure,
}

/// The state of the loop.
enum State {
    /// The loop holds the engine (open), or the next step opens it (closed).
    Running,
    /// A build holds the engine and returns it with [`Event::Built`].
    Building(JoinHandle<()>),
    /// A step failed and will be retried. An open index stays open and still answers requests.
    Failed(Retry),
}

/// When a failed workspace is retried.
#[derive(Clone, Copy)]
struct Retry {
    at: Instant,
    /// Not before this, even for a request.
    soonest: Instant,
}

/// Minimum time between two retries of a failed workspace.
const RETRY_MIN: Duration = Duration::from_millis(500);
/// Maximum of names of skipped files shown in status.
const SKIPPED_SHOWN: usize = 20;
/// Consecutive rebuilds after which the disk is assumed to be faulty.
const REBUILDS_MAX: u32 = 3;

/// The event loop with its data.
pub struct Driver {
    setup: WorkspaceSetup,
    /// Settings of the user, without those of the repository.
    user_config: Arc<Config>,
    /// Shared with requests.
    shared: Arc<Shared>,
    clock: Clock,
    events: Receiver<Event>,
    sender: Sender<Event>,
    inbox: Arc<Inbox>,
    state: State,
    /// The engine, which has an index or is about to build one.
    engine: Option<Box<Engine>>,
    watching: Watching,
    is_closing: bool,
    imports: Vec<Import>,
    /// Imports that are stored and not yet applied to the index.
    importing: Vec<Sender<()>>,
    cookies: Cookies,
    /// True if the whole tree must be compared with the index.
    needs_sweep: bool,
    /// True if HEAD may have moved.
    head_is_dirty: bool,
    /// When the tree is compared next without a reported change.
    sweep_at: Option<Instant>,
    /// Rebuilds since changes were last applied.
    n_rebuilds: u32,
    /// Panics since changes were last applied.
    n_panics: u32,
    last_request: Instant,
    last_event: Instant,
    calm: Calm,
    maintenance: Maintenance,
}

impl Driver {
    /// Starts the thread of a workspace. The returned sender delivers its events.
    ///
    /// # Errors
    /// The system error if no thread can be started.
    pub fn start(
        setup: WorkspaceSetup,
        shared: Arc<Shared>,
    ) -> std::io::Result<(Sender<Event>, JoinHandle<()>)> {
        let (sender, events) = crossbeam_channel::unbounded();
        let to_loop = sender.clone();
        let run = move || Self::new(setup, shared, Clock::System, (to_loop, events)).run();
        let thread = std::thread::Builder::new()
            .name("workspace".into())
            .stack_size(threads::STACK_BYTES)
            .spawn(run)?;
        Ok((sender, thread))
    }

    /// Creates a loop that reads from the second end of a channel of events. It does nothing before its
    /// first turn.
    pub fn new(
        setup: WorkspaceSetup,
        shared: Arc<Shared>,
        clock: Clock,
        (sender, events): (Sender<Event>, Receiver<Event>),
    ) -> Self {
        let wake = sender.clone();
        let inbox = Inbox::with_clock(clock.clone(), move || {
            // The loop may have ended.
            let _ = wake.send(Event::Noticed);
        });
        let now = clock.now();
        Self {
            cookies: Cookies::new(setup.cookies.clone()),
            maintenance: Maintenance::new(&setup.engine.config, now),
            user_config: Arc::clone(&setup.engine.config),
            setup,
            shared,
            clock,
            events,
            sender,
            inbox,
            state: State::Running,
            engine: None,
            watching: Watching::Not,
            is_closing: false,
            imports: Vec::new(),
            importing: Vec::new(),
            needs_sweep: true,
            head_is_dirty: true,
            sweep_at: None,
            n_rebuilds: 0,
            n_panics: 0,
            last_request: now,
            last_event: now,
            calm: Calm::default(),
        }
    }

    fn run(mut self) {
        loop {
            let event = match self.turn() {
                Some(at) => self.events.recv_deadline(at),
                None => self.events.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            if !self.hear(event) {
                break;
            }
        }
        self.close();
    }

    /// Does all due work and returns when work is due next, unless an event comes first.
    pub fn turn(&mut self) -> Option<Instant> {
        // After a panic here, requests must still be answered and the state must be published.
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.act())) {
            self.panicked(&*panic);
        }
        if let Some(watcher) = self.watching.watcher().filter(|_| self.is_at_rest()) {
            self.shared.rest(watcher, &self.inbox);
        }
        self.next_due()
    }

    /// Handles one event (or a timeout) and all events queued behind it. Returns false if the loop must end
    /// with [`Driver::close`].
    pub fn hear(&mut self, event: Result<Event, RecvTimeoutError>) -> bool {
        if let Some(asked) = self.shared.rouse() {
            self.last_request = self.last_request.max(asked);
        }
        let mut next = match event {
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return false,
        };
        while let Some(event) = next {
            self.take(event);
            next = self.events.try_recv().ok();
        }
        !(self.is_closing || self.is_idle())
    }

    /// True if a helper thread of the loop has not reported its end yet.
    pub fn has_work_under_way(&self) -> bool {
        matches!(self.state, State::Building(_)) || self.maintenance.is_busy()
    }

    fn now(&self) -> Instant {
        self.clock.now()
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Noticed => self.last_event = self.now(),
            Event::Wait(waiter) => {
                self.last_request = self.now();
                if let State::Failed(retry) = &mut self.state {
                    retry.at = retry.at.min(retry.soonest);
                }
                self.cookies.wait(waiter);
            }
            Event::Built(built) => self.built(built),
            Event::Copied(number, copied) => self.copied(number, copied),
            Event::Compact(reply) => self.maintenance.compact(reply, self.clock.now()),
            Event::Import(import) => self.imports.push(import),
            Event::LetGo => self.let_go(),
            Event::Close => self.is_closing = true,
        }
    }

    fn store(&self) -> Option<&Store> {
        self.engine.as_ref()?.store()
    }

    /// True if the next step can use the engine.
    fn is_open(&self) -> bool {
        matches!(self.state, State::Running) && self.engine.is_some()
    }

    /// True if every noticed change is in the index and no step is left that a request would wait for.
    fn is_at_rest(&self) -> bool {
        let is_open = self.is_open() && self.store().is_some();
        let is_behind =
            self.watching.is_degraded() || self.needs_sweep || self.head_is_dirty || self.sweep_at.is_some();
        let is_failing = self.engine.as_ref().is_some_and(|e| e.to_read_again().next().is_some());
        let is_asked = self.cookies.is_wanted() || !self.imports.is_empty() || !self.importing.is_empty();
        is_open && !is_behind && !is_failing && !is_asked
    }

    /// Does all due work.
    fn act(&mut self) {
        match &self.state {
            State::Building(_) => return,
            State::Failed(retry) if self.now() < retry.at => return,
            State::Failed(_) | State::Running => self.state = State::Running,
        }
        if let Err(e) = self.advance() {
            self.failed(e);
        }
        self.show();
    }

    /// Runs the steps of one turn in order, until one of them starts a build or fails.
    fn advance(&mut self) -> Result<(), EngineError> {
        if self.engine.is_none() {
            self.open()?;
        }
        type Step = fn(&mut Driver) -> Result<(), EngineError>;
        let steps: [Step; 6] = [
            Self::check_health,
            Self::take_imports,
            Self::sweep_if_due,
            Self::answer_requests,
            Self::take_in_if_due,
            Self::keep_house,
        ];
        for step in steps {
            if !self.is_open() {
                break;
            }
            step(self)?;
        }
        Ok(())
    }

    /// Fails if a reader met damage since the last turn, so that such an index is not reported as fresh.
    fn check_health(&mut self) -> Result<(), EngineError> {
        match self.store().is_some_and(Store::is_damaged) {
            true => Err(StoreError::Corrupt("found while reading".into()).into()),
            false => Ok(()),
        }
    }

    /// Applies imported indexes. Many overlays at once start a build.
    fn take_imports(&mut self) -> Result<(), EngineError> {
        let imports = std::mem::take(&mut self.imports);
        let Some(engine) = &mut self.engine else { return Ok(()) };
        for Import { overlays, reply } in imports {
            engine.keep_overlays(&overlays)?;
            self.importing.push(reply);
        }
        if engine.overlays_are_due()? && !engine.lay_over(&|| self.shared.is_stopping())? {
            self.start_build(None);
            return Ok(());
        }
        if engine.store().is_some() {
            for reply in std::mem::take(&mut self.importing) {
                // The client may have disconnected.
                let _ = reply.send(());
            }
        }
        Ok(())
    }

    /// Opens the index with the current settings of the repository.
    fn open(&mut self) -> Result<(), EngineError> {
        self.read_config();
        // An index left open by a fault would block its own opening.
        self.shared.set_store(None);
        let engine = Engine::open(self.setup.engine.clone())?;
        if engine.was_damaged {
            self.say_rebuilt(Blame::Damage);
        }
        self.shared.set_store(engine.store().cloned());
        self.engine = Some(Box::new(engine));
        self.maintenance.opened(self.clock.now());
        self.needs_sweep = true;
        self.head_is_dirty = true;
        Ok(())
    }

    fn say_rebuilt(&self, blame: Blame) {
        tracing::warn!(root = %self.setup.engine.root.display(), ?blame, "the index is built anew");
        self.shared.problem(Problem::Rebuilt, blame.sentence().into());
    }

    fn start_build(&mut self, swept: Option<ChangeSet>) {
        self.maintenance.stop_copying();
        let Some(mut engine) = self.engine.take() else { return };
        let shared = Arc::clone(&self.shared);
        shared.update(|c| {
            c.enter(if engine.store().is_some() { Reported::Rebuilding } else { Reported::Building });
            c.status.progress = Some(Progress { phase: Phase::Scan, done: 0, total: 0 });
        });
        let sender = self.sender.clone();
        let build = move || {
            let run = AssertUnwindSafe(|| {
                let progress = |p| shared.update(|c| c.status.progress = Some(p));
                let result = engine.build(swept, &progress, &|| shared.is_stopping());
                (engine, result)
            });
            // The loop waits for this before it ends.
            let _ = sender.send(Event::Built(catch_unwind(run).ok()));
        };
        match std::thread::Builder::new().name("build".into()).stack_size(threads::STACK_BYTES).spawn(build) {
            Ok(thread) => self.state = State::Building(thread),
            Err(_) => self.enter_failed(FailureCode::Internal, "no thread could be started", 10),
        }
    }

    /// Joins the thread of a finished build, takes the engine back, and returns the memory of the build to
    /// the system.
    fn end_build(&mut self, engine: Option<Box<Engine>>) {
        self.engine = engine;
        if let State::Building(thread) = std::mem::replace(&mut self.state, State::Running) {
            let _ = thread.join();
            threads::give_back_memory();
            self.setup.pressure.check();
        }
    }

    fn built(&mut self, built: Option<(Box<Engine>, Result<(), EngineError>)>) {
        let (engine, result) = built.unzip();
        self.end_build(engine);
        self.shared.update(|c| c.status.progress = None);
        self.needs_sweep = true;
        match result {
            Some(Ok(())) => {
                self.shared.set_store(self.store().cloned());
                self.watch_only_the_set();
                self.maintenance.start_over();
            }
            Some(Err(e)) => self.failed(e),
            None => self.enter_failed(FailureCode::Internal, "a build failed; it is tried again", 10),
        }
        self.show();
    }

    fn answer_until(&mut self, until: Instant, how: How) {
        // An index that answers has been rebuilt with success.
        self.n_rebuilds = 0;
        let generation = self.store().map_or(0, Store::generation);
        let fresh = Freshness { fresh: true, generation, pending: 0, how };
        // The next status request must see the new state.
        self.show();
        self.cookies.answer(until, &Ok(fresh));
    }

    /// The time that a request waits for the watcher before the tree is compared.
    fn patience(&self) -> Duration {
        Duration::from_millis(self.setup.engine.config.freshness_wait_ms) / 4
    }

    fn next_due(&self) -> Option<Instant> {
        match &self.state {
            State::Building(_) => return None,
            State::Failed(retry) => return Some(retry.at),
            State::Running => {}
        }
        let patience = self.patience();
        let idle = Duration::from_secs(self.setup.engine.config.workspace_idle_close_s);
        // A request that came in during the step that answered those before it waits for no event.
        let is_owed = self.cookies.is_wanted() && self.cookies.due(patience).is_none();
        let dues = [
            (self.needs_sweep || is_owed).then(|| self.now()),
            self.batch_due(),
            self.cookies.due(patience),
            self.sweep_at,
            self.house_due(),
            Some(self.last_request + idle),
        ];
        dues.into_iter().flatten().min()
    }

    fn is_idle(&self) -> bool {
        let idle = Duration::from_secs(self.setup.engine.config.workspace_idle_close_s);
        let is_building = matches!(self.state, State::Building(_));
        !is_building
            && !self.cookies.is_wanted()
            && self.now().saturating_duration_since(self.last_request) >= idle
    }

    /// Publishes the state for status requests.
    fn show(&mut self) {
        let n_pending = self.inbox.peek(|n| n.paths.len()) as u64;
        let watch = self.watching.on_wire();
        let is_failed = matches!(self.state, State::Failed(_));
        let engine = self.engine.as_ref();
        self.shared.update(|c| {
            c.status.n_pending = n_pending;
            c.status.watch = watch;
            let Some(engine) = engine else { return };
            let Some(store) = engine.store() else { return };
            c.status.generation = store.generation();
            c.status.n_files = engine.tree.n_files() as u64;
            (c.status.n_extracted, c.status.n_linked) = engine.log.counts();
            c.status.n_skipped_names = engine.tree.skipped_names.len() as u64;
            c.status.skipped_names = engine.tree.skipped_names.iter().take(SKIPPED_SHOWN).cloned().collect();
            match engine.unreadable().len() + engine.tree.unreadable.len() {
                0 => _ = c.problems.remove(&Problem::Unreadable),
                n => {
                    let sentence = format!("{n} files or folders may not be read and are not indexed");
                    c.problems.insert(Problem::Unreadable, sentence);
                }
            }
            if !is_failed {
                c.enter(Reported::Ready);
            }
        });
    }

    /// Recovers from a panic of the loop. The index is verified before it is opened again. It is rebuilt if
    /// a read met damage, or after a second panic.
    fn panicked(&mut self, panic: &(dyn Any + Send)) {
        self.n_panics += 1;
        let is_marked = self.store().is_some_and(Store::is_damaged);
        match panic.downcast_ref::<Unreadable>() {
            _ if is_marked => self.discard_if(Blame::Damage),
            Some(Unreadable(e)) if e.is_damage() => self.discard_if(Blame::Damage),
            _ => self.start_over(),
        }
    }

    /// Has the index verified before it is opened again; after a second fault it is rebuilt.
    fn start_over(&mut self) {
        if self.n_panics > 1 {
            self.discard_if(Blame::Program);
            return;
        }
        self.maintenance.stop_copying();
        self.engine = None;
        self.shared.set_store(None);
        recovery::suspect(&self.setup.engine.home);
        self.enter_failed(FailureCode::Internal, "this is a bug; the workspace starts over", 1);
    }

    /// Discards the index and builds it from the tree, unless that has not helped several times.
    fn discard_if(&mut self, blame: Blame) {
        if self.n_rebuilds < REBUILDS_MAX {
            self.rebuild(blame);
            return;
        }
        // After the wait it is rebuilt once more: the cause may be gone by then.
        self.n_rebuilds = 0;
        self.enter_failed(FailureCode::Corrupt, blame.hint(), 60);
    }

    fn failed(&mut self, e: EngineError) {
        match failure::remedy(&e) {
            Remedy::None => {}
            Remedy::Rebuild(blame) => {
                tracing::warn!(error = %e, "the index cannot be used");
                self.discard_if(blame);
            }
            Remedy::StartOver => {
                tracing::warn!(error = ?e, "the index cannot be used");
                self.n_panics += 1;
                self.start_over();
            }
            Remedy::Retry { code, hint, after_s } => {
                tracing::warn!(error = %e, %code, "the workspace waits");
                self.needs_sweep = true;
                self.enter_failed(code, &hint, after_s);
            }
        }
    }

    /// Discards the index and builds it from the tree.
    fn rebuild(&mut self, blame: Blame) {
        self.n_rebuilds += 1;
        self.needs_sweep = true;
        self.maintenance.stop_copying();
        self.say_rebuilt(blame);
        self.shared.set_store(None);
        self.state = State::Running;
        self.engine.iter_mut().for_each(|engine| engine.discard());
        if blame == Blame::Place {
            recovery::start_anew(&self.setup.engine.home);
        }
        match self.engine {
            Some(_) => self.start_build(None),
            None => recovery::set_aside_current(&self.setup.engine.home),
        }
    }

    /// Enters the failed state. The next retry is later, or soon if a request comes, since the cause may be
    /// gone by then. Waiting requests are answered with the failure at once.
    fn enter_failed(&mut self, code: FailureCode, hint: &str, after_s: u64) {
        let failure = Failure { code, hint: hint.to_owned() };
        self.importing.clear();
        self.maintenance.give_up();
        let (now, after) = (self.now(), Duration::from_secs(after_s));
        // A rebuild that did not help is not repeated for every request.
        let soonest = if code == FailureCode::Corrupt { after } else { RETRY_MIN.min(after) };
        self.state = State::Failed(Retry { at: now + after, soonest: now + soonest });
        self.cookies.give_up();
        if code == FailureCode::RootGone {
            // The watches were removed with their folders.
            self.watching = Watching::Not;
        }
        self.shared.update(|c| {
            c.status.state = Reported::Failed;
            c.status.failure = Some(failure.clone());
        });
        let answer = self.shared.store().map(|_| self.shared.not_fresh()).ok_or(failure);
        self.cookies.answer(now, &answer);
    }

    /// Ends the loop and closes the index if possible.
    pub fn close(mut self) {
        self.shared.stop();
        while matches!(self.state, State::Building(_)) {
            match self.events.recv() {
                Ok(Event::Built(built)) => self.end_build(built.map(|(engine, _)| engine)),
                Ok(_) => {}
                Err(_) => break,
            }
        }
        self.watching = Watching::Not;
        self.cookies.give_up();
        self.shared.set_store(None);
        self.maintenance.close();
        if let Some(engine) = self.engine.take()
            && let Err(e) = engine.close()
        {
            tracing::warn!(error = %e, "the index was not closed cleanly and will be verified");
        }
        self.shared.update(|c| {
            c.enter(Reported::Closed);
            c.status.progress = None;
        });
    }
}
