//! One repository root as requests see it. Its event loop starts when it is first needed and ends after a
//! long time without requests; the handle stays.

use super::head::{AtHead, HeadBlobs};
use super::indexing::engine::folder_bytes;
use super::indexing::overlays;
use super::indexing::stages::StageLog;
use super::indexing::update::{UnsavedText, Update};
use super::life::driver::{Driver, Event, Import, WorkspaceSetup};
use super::noticing::condition::{Condition, Shared};
use super::noticing::cookie::Waiter;
use super::status::{Freshness, Progress, Wait, WorkspaceError};
use crate::config::{self, Config, Stamp};
use crossbeam_channel::{RecvTimeoutError, Sender};
use indexd_model::{DefKind, Facts, FactsView, FileFacts, Interface, RepoPath};
use indexd_os::Root;
use indexd_proto::paths::private_dir;
use indexd_proto::workspace::{Failure, ImportStatus, Problem, State, WaitMode, WorkspaceStatus};
use indexd_store::{Overlays, Snapshot};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Interval at which a waiting request checks for cancellation and reports progress.
const POLL: Duration = Duration::from_millis(50);
/// Time within which a closed index of any size is open again.
const OPEN_TIME: Duration = Duration::from_secs(30);

/// A repository root that is being indexed.
pub struct Workspace {
    setup: WorkspaceSetup,
    shared: Arc<Shared>,
    running: Mutex<Running>,
    head: HeadBlobs,
    /// The settings in force, with what they were read from.
    settings: Mutex<Option<(Stamp, Settings)>>,
}

/// Settings, and sentences about what of the repository's is not used.
type Settings = (Config, Vec<String>);

#[derive(Default)]
struct Running {
    driver: Option<(Sender<Event>, JoinHandle<()>)>,
    is_closed: bool,
    /// Time of the last request.
    asked_at: Option<Instant>,
}

impl Workspace {
    /// Makes a handle; nothing is opened yet.
    pub fn new(setup: WorkspaceSetup) -> Self {
        let head = HeadBlobs::new(setup.engine.root.clone());
        Self { setup, shared: Arc::default(), running: Mutex::default(), head, settings: Mutex::default() }
    }

    /// Starts opening, building or catching up in the background.
    ///
    /// # Errors
    /// The workspace was removed, or no thread can be started.
    pub fn start(&self) -> Result<(), WorkspaceError> {
        self.sender().map(drop)
    }

    /// Reads one state of the index after waiting as asked.
    ///
    /// # Errors
    /// Those of [`Workspace::freshness`] and [`Workspace::snapshot`]; with [`WaitMode::Strict`] `Behind`, or
    /// `Failed` where that is the reason, for an index that is not known to be fresh.
    pub fn read(
        &self,
        wait: Wait,
        cancel: &(dyn Fn() -> bool + Sync),
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(Snapshot, Freshness), WorkspaceError> {
        loop {
            let freshness = self.freshness(wait, cancel, progress)?;
            if wait.mode == WaitMode::Strict && !freshness.fresh {
                let behind = WorkspaceError::Behind(freshness.pending);
                return Err(self.failure().map_or(behind, WorkspaceError::Failed));
            }
            if cancel() {
                return Err(WorkspaceError::Cancelled);
            }
            match self.snapshot() {
                // The index was found damaged and is being rebuilt: wait as for a first build.
                Err(WorkspaceError::Building) => {}
                snapshot => return Ok((snapshot?, freshness)),
            }
        }
    }

    /// Waits until every change made before this call is in the index.
    ///
    /// While the first index is being built (or an index is being opened) the time for saves does not count:
    /// it begins when the index is there. `cancel` is asked and `progress` told about every 50 ms.
    ///
    /// # Errors
    /// `Building` when there is no index in time, `Cancelled`, `Failed` without an index to read, `Closed`,
    /// `Io`. It is not an error when the time for saves is over: the answer says that the index is not known
    /// to be fresh.
    pub fn freshness(
        &self,
        wait: Wait,
        cancel: &(dyn Fn() -> bool + Sync),
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Freshness, WorkspaceError> {
        let is_stale = wait.mode == WaitMode::Stale || wait.fresh_for.is_zero();
        if let Some(freshness) = self.at_once(wait, is_stale)? {
            return Ok(freshness);
        }
        let built_by = Instant::now() + wait.built_for;
        let fresh_for = if is_stale { Wait::default().fresh_for } else { wait.fresh_for };
        let mut fresh_by = Instant::now() + fresh_for;
        loop {
            let (reply, answer) = crossbeam_channel::bounded(1);
            let waiter = Waiter { arrived: Instant::now(), reply };
            if self.sender()?.send(Event::Wait(waiter)).is_err() {
                self.reap();
                continue;
            }
            loop {
                match answer.recv_timeout(POLL.min(fresh_by.saturating_duration_since(Instant::now()))) {
                    Ok(answer) => return answer.map_err(WorkspaceError::Failed),
                    // The loop ended before it received the event: start another.
                    Err(RecvTimeoutError::Disconnected) => break,
                    Err(RecvTimeoutError::Timeout) => {}
                }
                if cancel() {
                    return Err(WorkspaceError::Cancelled);
                }
                let status = self.shared.condition().status;
                if let Some(p) = status.progress {
                    progress(p);
                }
                let now = Instant::now();
                match status.state {
                    State::Building | State::Closed if now >= built_by => {
                        return Err(WorkspaceError::Building);
                    }
                    State::Building | State::Closed => fresh_by = now + fresh_for,
                    State::Failed if now >= fresh_by => return self.now(),
                    _ if now >= fresh_by => return Ok(self.shared.not_fresh()),
                    _ => {}
                }
            }
            self.reap();
        }
    }

    /// The answer of [`freshness`](Self::freshness) when it takes no wait: any state will do, or nothing has
    /// changed since the last answer.
    fn at_once(&self, wait: Wait, is_stale: bool) -> Result<Option<Freshness>, WorkspaceError> {
        if is_stale || wait.built_for.is_zero() {
            self.sender()?;
            match self.now() {
                Ok(freshness) if is_stale => return Ok(Some(freshness)),
                Err(WorkspaceError::Building) if !wait.built_for.is_zero() => {}
                now => drop(now?),
            }
        }
        Ok(self.shared.fresh_at_rest())
    }

    /// Replaces the imported overlays and waits until they are applied. An empty set removes the import. An
    /// import stays in force through edits, restarts and rebuilds; each overlay applies while its file has
    /// the content that the overlay was made for.
    ///
    /// # Errors
    /// `Cancelled`, `Failed`, `Closed`, `Io`.
    pub fn import(
        &self,
        overlays: Overlays,
        cancel: &(dyn Fn() -> bool + Sync),
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), WorkspaceError> {
        self.ask(|reply| Event::Import(Import { overlays, reply }), cancel, progress)
    }

    /// Sends an event to the event loop and waits until it is handled.
    fn ask(
        &self,
        event: impl FnOnce(Sender<()>) -> Event,
        cancel: &(dyn Fn() -> bool + Sync),
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), WorkspaceError> {
        let (reply, answer) = crossbeam_channel::bounded(1);
        if self.sender()?.send(event(reply)).is_err() {
            return Err(WorkspaceError::Closed);
        }
        loop {
            match answer.recv_timeout(POLL) {
                Ok(()) => return Ok(()),
                Err(RecvTimeoutError::Timeout) if cancel() => return Err(WorkspaceError::Cancelled),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(self.failure().map_or(WorkspaceError::Closed, WorkspaceError::Failed));
                }
            }
            if let Some(p) = self.shared.condition().status.progress {
                progress(p);
            }
        }
    }

    /// Returns the freshness as far as it is known without waiting.
    fn now(&self) -> Result<Freshness, WorkspaceError> {
        if self.shared.store().is_none() {
            self.shared.wait_until_opened(OPEN_TIME);
        }
        match self.shared.store() {
            Some(_) => Ok(self.shared.not_fresh()),
            None => Err(self.failure().map_or(WorkspaceError::Building, WorkspaceError::Failed)),
        }
    }

    /// Returns the committed state as it is now, for one request. Opens the index if it was closed.
    ///
    /// # Errors
    /// `Building` before the first index is complete, `Failed` without an index, `Closed`, `Store`.
    pub fn snapshot(&self) -> Result<Snapshot, WorkspaceError> {
        self.sender()?;
        if self.shared.store().is_none() {
            self.now()?;
        }
        let store = self.shared.store().ok_or(WorkspaceError::Building)?;
        Ok(store.snapshot()?)
    }

    /// Returns the committed state as it would be if `texts` were saved, for one request. Nothing is
    /// committed and the index is not written while the snapshot lives. It must be dropped on this thread.
    /// Paths must be ones that the index would hold.
    ///
    /// # Errors
    /// Those of [`Workspace::snapshot`], `Cancelled`, `Io` when the root cannot be opened.
    pub fn unsaved(
        &self,
        texts: &[UnsavedText],
        cancel: &(dyn Fn() -> bool + Sync),
    ) -> Result<Snapshot, WorkspaceError> {
        self.sender()?;
        let store = self.shared.store().ok_or(WorkspaceError::Building)?;
        let root = Root::open(&self.setup.engine.root)
            .map_err(|_| WorkspaceError::NotFound(self.setup.engine.root.clone()))?;
        let update = Update {
            root: &root,
            store: &store,
            parts: self.setup.engine.parts,
            contents: None,
            log: &StageLog::default(),
            cancelled: cancel,
            hashed: None,
            has_stack: false,
        };
        Ok(update.unsaved(texts)?)
    }

    /// Copies the index compactly and waits until the copy is in place. Returns the bytes of the index before
    /// and after.
    ///
    /// # Errors
    /// `Cancelled`, `Failed`, `Closed`, `Io`.
    pub fn compact(&self, cancel: &(dyn Fn() -> bool + Sync)) -> Result<(u64, u64), WorkspaceError> {
        let before = folder_bytes(&self.setup.engine.home);
        self.ask(Event::Compact, cancel, &mut |_| {})?;
        Ok((before, folder_bytes(&self.setup.engine.home)))
    }

    /// Returns the time of the last request, if the event loop runs.
    pub fn asked_at(&self) -> Option<Instant> {
        let running = self.running();
        let runs = running.driver.as_ref().is_some_and(|(_, thread)| !thread.is_finished());
        running.asked_at.filter(|_| runs)
    }

    /// Returns the current state of the workspace.
    pub fn state(&self) -> State {
        self.shared.condition().status.state
    }

    /// The workspace's condition.
    pub fn status(&self) -> WorkspaceStatus {
        let Condition { status, problems } = self.shared.condition();
        let is_empty = status.n_files == 0 && status.state == State::Ready;
        let emptied = is_empty.then(|| self.emptied_by()).flatten();
        let emptied = emptied.map(|sentence| (Problem::AllIgnored, sentence));
        let (problem_kinds, problems) = problems.into_iter().chain(emptied).unzip();
        WorkspaceStatus {
            root: self.setup.engine.root.display().to_string(),
            repo_id: self.repo_id(),
            import: self.import_status(),
            problems,
            problem_kinds,
            index_bytes: folder_bytes(&self.setup.engine.home),
            ..status
        }
    }

    /// Returns the reason why the index does not follow the tree, and a hint for the user.
    pub fn failure(&self) -> Option<Failure> {
        self.shared.condition().status.failure
    }

    /// Returns true if the index holds no file.
    pub fn holds_nothing(&self) -> bool {
        self.shared.condition().status.n_files == 0
    }

    /// Returns a sentence about the rule that leaves every file out, if there is one.
    pub fn emptied_by(&self) -> Option<String> {
        let (config, _) = self.settings();
        crate::workspace::why::emptied_by(&self.setup.engine.root, &config.index_exclude)
    }

    fn import_status(&self) -> Option<ImportStatus> {
        let snapshot = self.shared.store()?.snapshot().ok()?;
        let (n_files, n_stale) = overlays::standing(&snapshot);
        let tool = || overlays::kept(&self.setup.engine.home).tool;
        (n_files > 0).then(|| ImportStatus { tool: tool(), n_files, n_stale })
    }

    /// Returns the name of the repository: the configured one, the module or project name of its manifest, or the
    /// title of its readme. It is a function of the snapshot and the settings, and not of the folder, so that all
    /// clones of a commit have one name.
    pub fn repo_id_in(&self, snapshot: &Snapshot, config: &Config) -> String {
        let interface = |path: &str| Some(snapshot.interface(snapshot.file_by_path(path)?));
        name(config, |path, of| of(&Facts::outside(&*interface(path)?), &*interface(path)?))
    }

    /// Returns the name of the repository by the files on disk: status needs no index.
    pub(super) fn repo_id(&self) -> String {
        let root = &self.setup.engine.root;
        name(&self.config(), |path, of| {
            let facts = facts_on_disk(root, path)?;
            of(&Facts::inside(&facts), &facts.interface)
        })
    }

    /// The canonical root.
    pub fn root(&self) -> &Path {
        &self.setup.engine.root
    }

    /// Returns the settings in force: the user's, narrowed by the repository's current ones. A file that is
    /// refused narrows nothing; status reports it.
    pub fn config(&self) -> Config {
        self.settings().0
    }

    /// Returns the settings in force, and sentences about those of the repository that are not used. Its files are read
    /// when the workspace is first asked and when one of them has changed.
    pub fn settings(&self) -> Settings {
        let (user, root) = (&self.setup.engine.config, &self.setup.engine.root);
        let stamp = config::stamp(root);
        let mut held = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, settings)) = held.as_ref().filter(|(of, _)| *of == stamp) {
            return settings.clone();
        }
        let settings = match user.for_repository(root) {
            Ok(config) => (config.clone(), config.unused().to_vec()),
            Err(e) => {
                (Config::clone(user), vec![crate::workspace::noticing::condition::settings_ignored(&e)])
            }
        };
        *held = Some((stamp, settings.clone()));
        settings
    }

    /// Returns a check that tells, by path, if `snapshot` holds exactly the content of the HEAD that it
    /// names.
    pub fn at_head<'s>(&'s self, snapshot: &'s Snapshot) -> AtHead<'s> {
        self.head.of(snapshot)
    }

    /// Ends the event loop after closing the index; a later request starts it again unless `forever`.
    pub fn close(&self, forever: bool) {
        let mut running = self.running();
        running.is_closed |= forever;
        if let Some((sender, thread)) = running.driver.take() {
            self.shared.stop();
            // The loop may have ended by itself.
            let _ = sender.send(Event::Close);
            let _ = thread.join();
        }
    }

    /// Makes a running event loop release everything that is kept only for later requests.
    pub fn let_go(&self) {
        if let Some((sender, _)) = &self.running().driver {
            // The loop may have ended.
            let _ = sender.send(Event::LetGo);
        }
    }

    /// Returns the channel to the event loop, which is started when it does not run.
    fn sender(&self) -> Result<Sender<Event>, WorkspaceError> {
        self.setup.pressure.check_at_times();
        let mut running = self.running();
        if running.is_closed {
            return Err(WorkspaceError::Closed);
        }
        running.asked_at = Some(Instant::now());
        if let Some((sender, thread)) = &running.driver
            && !thread.is_finished()
        {
            return Ok(sender.clone());
        }
        self.shared.restart();
        let io = |source| WorkspaceError::Io { what: "start", path: self.setup.engine.root.clone(), source };
        private_dir(&self.setup.cookies, indexd_os::own_uid()).map_err(io)?;
        let (sender, thread) = Driver::start(self.setup.clone(), Arc::clone(&self.shared)).map_err(io)?;
        running.driver = Some((sender.clone(), thread));
        Ok(sender)
    }

    /// Waits for an event loop that is ending.
    fn reap(&self) {
        if let Some((_, thread)) = self.running().driver.take() {
            let _ = thread.join();
        }
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        self.close(true);
    }
}

/// Manifests that name a module or a project, the most informative first.
const MANIFESTS: [&str; 5] = ["go.mod", "pyproject.toml", "setup.cfg", "Cargo.toml", "package.json"];
/// Files whose first title names a project without a manifest.
const READMES: [&str; 5] = ["README.md", "README.rst", "README.markdown", "readme.md", "Readme.md"];
/// The name of a repository that names itself nowhere.
const UNNAMED: &str = "repository";
/// Characters of a name.
const NAME_CHARS_MAX: usize = 60;

/// Reads a name from the facts of a file.
type Naming = fn(&Facts, &Interface) -> Option<String>;

/// The configured name, or the first one that `read` finds in manifests and readmes.
fn name(config: &Config, read: impl Fn(&str, Naming) -> Option<String>) -> String {
    let package: Naming = |facts, interface| Some(facts.str(interface.package?).to_owned());
    let title: Naming = |facts, interface| {
        let section = interface.defs.iter().find(|d| d.kind == DefKind::Section)?;
        Some(plain_name(facts.str(section.name)))
    };
    let configured = Some(config.index_name.clone()).filter(|name| !name.is_empty());
    let manifests = MANIFESTS.iter().map(|path| (path, package));
    let mut named = manifests.chain(READMES.iter().map(|path| (path, title)));
    let found = || named.find_map(|(path, of)| read(path, of).filter(|name| !name.is_empty()));
    configured.or_else(found).unwrap_or_else(|| UNNAMED.to_owned())
}

/// A title as a name: its words joined by hyphens, without marks.
fn plain_name(title: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/');
    let words = title.split(|c: char| !is_plain(c)).map(|w| w.trim_matches(|c: char| !c.is_alphanumeric()));
    let words: Vec<&str> = words.filter(|w| !w.is_empty()).collect();
    words.join("-").chars().take(NAME_CHARS_MAX).collect()
}

fn facts_on_disk(root: &Path, path: &str) -> Option<FileFacts> {
    let name = RepoPath::new(path).ok()?;
    let (bytes, _) = Root::open(root).ok()?.read(path, 1 << 20).ok()?;
    Some(indexd_lang::extract(&name, &bytes).facts)
}
