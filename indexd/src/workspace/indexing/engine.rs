//! The engine of one workspace: its tree, its index, and the steps that bring the index up to date with the
//! tree. It has no thread and no watcher of its own: the driver feeds it dirty paths, tests do so directly.
//!
//! Layout of the index folder: `current` names the environment in use, which is a subfolder. A build writes a
//! new environment and moves `current`, so a crash at any instruction leaves the old one or the new one, and
//! no transaction grows with the repository. `overlays` is an imported index.

mod beginning;
mod compacting;

use super::build::{Build, Built};
use super::history::{self, Commits, NewHistory};
use super::overlays;
use super::parked;
use super::recipe;
use super::recovery::{self, Checked, Depth, Trust, Verify};
use super::siblings::{self, Sharing, sketch_of};
use super::stages::{Parts, StageLog};
use super::update::{Cancelled, Hashed, Update};
use crate::config::Config;
use crate::workspace::noticing::condition::Shared;
use crate::workspace::status::Progress;
use crate::workspace::tree::known::KnownFiles;
use crate::workspace::tree::{ChangeSet, Tree};
use indexd_model::{FactsView, IndexView, Outcome, RepoPath};
use indexd_os::Root;
use indexd_proto::share::Sketch;
use indexd_proto::workspace::Phase;
use indexd_store::{Opened, Overlays, Store, StoreError};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use super::error::EngineError;
pub use compacting::CopyJob;

/// Maximum of files in one transaction. A larger change set is built into a new environment.
pub(super) const UPDATE_FILES_MAX: usize = 2_000;
/// Number of changed files after which the environment is closed and reopened: LMDB keeps the memory of the
/// pages that the largest transaction wrote, some 10 KB a file, until the environment is closed.
const RENEW_FILES: usize = 64;
/// Maximum of files that could not be read and are tried again with a request. More are a sign of a broken
/// disk.
const READ_AGAIN_MAX: usize = 1_000;

/// The parts and settings of an engine.
#[derive(Clone)]
pub struct Setup {
    /// The workspace's canonical root.
    pub root: PathBuf,
    /// The index folder.
    pub home: PathBuf,
    /// Settings in force for this workspace.
    pub config: Arc<Config>,
    /// The pure stages.
    pub parts: Parts,
    /// The check of an index that was not closed.
    pub verify: Verify,
    /// State shared with other indexes; `None` shares nothing.
    pub sharing: Option<Arc<Sharing>>,
}

/// The tree and the index of one workspace.
pub struct Engine {
    setup: Setup,
    /// Log of the stages that ran; shared with tests.
    pub log: Arc<StageLog>,
    /// The tree as the index knows it.
    pub tree: Tree,
    /// True if opening found a damaged index and put it aside.
    pub was_damaged: bool,
    store: Option<Store>,
    env: u64,
    unreadable: Vec<RepoPath>,
    past: Option<history::Kept>,
    /// Digest of the stored overlays; `None` when there are none.
    overlays: Option<[u8; 32]>,
    /// True if the tree has changed since its sketch was saved.
    is_resketched: bool,
    /// True if an index of this tree was damaged. It is then built from the tree, since a copy of another
    /// index may have brought the damage.
    is_from_tree: bool,
    /// Files put or removed since the environment was opened.
    n_changed: usize,
    /// Bytes of the data file when it was compact last.
    compact_bytes: u64,
}

impl Engine {
    /// Opens the index, if there is a usable one. One that was not closed cleanly is verified; a damaged one
    /// is thrown away.
    ///
    /// # Errors
    /// The index folder cannot be made or read, or the disk is full.
    pub fn open(mut setup: Setup) -> Result<Self, EngineError> {
        setup.parts.redacts &= setup.config.index_redact_secrets;
        recovery::make_home(&setup.home).map_err(|e| index_error("make the index folder", &setup.home, e))?;
        recovery::remove_foreign(&setup.home, indexd_os::own_uid());
        recovery::note_asked(&setup.home);
        let current = recovery::current(&setup.home);
        recovery::remove_others(&setup.home, current);
        let mut engine = Self {
            log: Arc::default(),
            tree: Tree::new(&setup.root, &setup.config.index_exclude, KnownFiles::default()),
            store: None,
            env: current.unwrap_or(0),
            unreadable: Vec::new(),
            past: None,
            overlays: overlays::kept(&setup.home).digest,
            was_damaged: false,
            is_resketched: false,
            is_from_tree: false,
            n_changed: 0,
            compact_bytes: recovery::compact_bytes(&setup.home).unwrap_or(0),
            setup,
        };
        if current.is_some()
            && let Some(store) = engine.open_current()?
        {
            let mut known = KnownFiles::default();
            store.snapshot()?.all_stats(|path, stat| known.set(path, stat));
            engine.tree = Tree::new(&engine.setup.root, &engine.setup.config.index_exclude, known);
            engine.take_in(store);
        }
        Ok(engine)
    }

    /// Opens the environment in use, parked or not.
    fn open_current(&mut self) -> Result<Option<Store>, EngineError> {
        let (home, dir, config) = (&self.setup.home, self.env_dir(self.env), self.signature_config());
        let trust = recovery::note_opening(home);
        let checked = match self.unpark(&dir, &config, trust) {
            Ok(None) => recovery::open_checked(&dir, &config, &self.setup.verify, trust),
            unparked => unparked.map(|checked| checked.unwrap_or(Checked::Nothing)),
        };
        if checked.is_err() {
            // The daemon lives on.
            recovery::note_closed(home);
        }
        let checked = checked?;
        self.was_damaged = matches!(checked, Checked::Damaged);
        self.is_from_tree = Store::was_quarantined(&dir);
        Ok(if let Checked::Ready(store) = checked { Some(store) } else { None })
    }

    /// Restores the index when it is parked; `None` when it is not.
    fn unpark(&self, dir: &Path, config: &[u8], trust: Trust) -> Result<Option<Checked>, StoreError> {
        let home = &self.setup.home;
        if !parked::is_parked(home) {
            return Ok(None);
        }
        let Some(sharing) = self.setup.sharing.as_ref().filter(|_| trust == Trust::Mark) else {
            parked::forget(home);
            return Ok(None);
        };
        let checked = sharing.bases.unpark(home, dir, config)?;
        sharing.bases.forget(home);
        // With its environment there, it was not closed to its end.
        let is_it = matches!(checked, Checked::Ready(_)) || !dir.exists();
        Ok(is_it.then_some(checked))
    }

    /// Returns the index, once there is one.
    pub fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }

    /// Returns the files that are there and cannot be read, ordered.
    pub fn unreadable(&self) -> &[RepoPath] {
        &self.unreadable
    }

    /// Returns files that could not be read although they are permitted: a disk or the system failed. No
    /// event reports the end of such a failure, so each request tries again.
    pub fn to_read_again(&self) -> impl Iterator<Item = String> {
        let is_due = |path: &&RepoPath| is_permitted(&self.setup.root.join(&***path));
        self.unreadable.iter().take(READ_AGAIN_MAX).filter(is_due).map(|path| path.to_string())
    }

    /// Returns true if a change set of this size needs a build instead of an update.
    pub fn needs_build(&self, changes: &ChangeSet) -> bool {
        self.store.is_none() || changes.len() > UPDATE_FILES_MAX
    }

    /// Builds the index of the tree into a new environment and puts it in place. The former one serves
    /// readers until they are done. If there was none, the index of a similar tree is copied and brought up
    /// to date with this one, where there is such an index.
    ///
    /// `swept` is the result of a sweep that has just run, if there was one: if no file was known before it,
    /// these are all files, and the tree is not walked again.
    ///
    /// # Errors
    /// The tree cannot be walked, the store refuses, or it was cancelled; the former index stays.
    pub fn build(
        &mut self,
        swept: Option<ChangeSet>,
        progress: &(dyn Fn(Progress) + Sync),
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), EngineError> {
        progress(Progress { phase: Phase::Scan, done: 0, total: 0 });
        // The other tree, which counts again when there is no new index.
        let mut tree = self.tree.afresh();
        let files = match swept.filter(|_| self.tree.n_files() == 0) {
            Some(changes) => changes.changed,
            None => {
                let found = tree.sweep(None)?;
                std::mem::swap(&mut self.tree, &mut tree);
                found.changed
            }
        };
        let built = self.build_of(files, progress, cancelled);
        if built.is_err() {
            self.tree = tree;
        }
        built
    }

    /// Does [`Engine::build`] for these files, of which the tree knows none.
    fn build_of(
        &mut self,
        files: BTreeMap<RepoPath, u64>,
        progress: &(dyn Fn(Progress) + Sync),
        cancelled: Cancelled,
    ) -> Result<(), EngineError> {
        let Some(sharing) = self.setup.sharing.clone() else {
            return self.build_all(files, progress, cancelled);
        };
        let (sketch, home) =
            (sketch_of(files.iter().map(|(path, size)| (&**path, *size))), self.setup.home.clone());
        // When many worktrees are asked for at once, one is built; the others begin with its index.
        let _turn = match &self.store {
            Some(_) => None,
            None => Some(sharing.take_turn(&home, &sketch, cancelled).ok_or(EngineError::Cancelled)?),
        };
        let may_begin = self.store.is_none() && !self.is_from_tree;
        if !may_begin || !self.begin_as_another(&sharing, &sketch, &files, progress, cancelled)? {
            let has_better_start = || may_begin && sharing.pulls.has_arrived(&home);
            self.build_all(files, progress, &|| cancelled() || has_better_start())?;
        }
        siblings::save(&sketch, &home);
        Ok(())
    }

    /// Builds the index of these files. Files with known content are not extracted again.
    fn build_all(
        &mut self,
        files: BTreeMap<RepoPath, u64>,
        progress: &(dyn Fn(Progress) + Sync),
        cancelled: Cancelled,
    ) -> Result<(), EngineError> {
        let env = self.env + 1;
        let dir = self.env_dir(env);
        recovery::remove_env(&dir);
        let Opened::Fresh(store) = Store::open(&dir, &self.signature_config())? else {
            return Err(StoreError::Busy("a new environment is not empty").into());
        };
        let commits = Commits::of(&self.setup.root);
        let built = self.fill(&store, files, commits.head.as_deref(), progress, cancelled);
        // LMDB keeps the memory of all pages that were dirty at once until an environment is closed.
        drop(store);
        let built = built.map_err(|e| {
            let e = explained(e, &dir);
            recovery::remove_env(&dir);
            e
        })?;
        self.put_in_place(env, None)?;
        history::keep_boundary(&self.setup.home, commits.boundary.as_deref());
        for (path, stat) in built.stats {
            self.tree.remember(&path, Some(stat));
        }
        self.unreadable = built.unreadable;
        Ok(())
    }

    /// Fills an empty environment.
    fn fill(
        &mut self,
        store: &Store,
        files: BTreeMap<RepoPath, u64>,
        head: Option<&str>,
        progress: &(dyn Fn(Progress) + Sync),
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<Built, EngineError> {
        let commits_max = self.setup.config.history_commits_max;
        let overlays = self.kept_overlays()?;
        let root = self.tree.open()?;
        let mut past = self.past.take();
        let sharing = self.setup.sharing.as_deref();
        let before = self.store.as_ref().filter(|store| sharing.is_some() && !store.is_damaged());
        let build = Build {
            root: &root,
            parts: self.setup.parts,
            log: &self.log,
            progress,
            cancelled,
            overlays: &overlays,
            contents: sharing.map(|s| &s.contents),
            before,
            n_threads: self.n_threads(),
        };
        let history = || history::read(&self.setup.root, commits_max, &mut past);
        let mut bulk = store.bulk()?;
        before.into_iter().for_each(|before| bulk.keep_counts(before));
        let built = build.run(bulk, files, head, history);
        self.past = past;
        let built = built?;
        self.keep_leaving(store)?;
        Ok(built)
    }

    /// Caches the facts of files that are in the present index and not in the one that replaces it.
    fn keep_leaving(&self, next: &Store) -> Result<(), EngineError> {
        let (Some(sharing), Some(store)) = (&self.setup.sharing, &self.store) else { return Ok(()) };
        if store.is_damaged() {
            return Ok(());
        }
        let (before, after) = (store.snapshot()?, next.snapshot()?);
        for file in before.files() {
            let (path, record) = (before.path(file), before.file(file));
            let stays = after.file_by_path(&path).is_some_and(|file| after.file(file).hash == record.hash);
            let is_reusable = matches!(record.outcome, Outcome::Parsed | Outcome::Recovered);
            if let (Ok(path), false, true) = (RepoPath::new(&path), stays, is_reusable) {
                let packed = before.packed_facts(file)?;
                sharing.contents.put(&path, &record.hash, self.setup.parts.redacts, &packed);
            }
        }
        Ok(())
    }

    /// Makes a complete environment the current one, durably. The previous one serves its readers until they
    /// are done. `compact_bytes` are those of the environment when it is compact, as it is by default.
    fn put_in_place(&mut self, env: u64, compact_bytes: Option<u64>) -> Result<(), EngineError> {
        let Opened::Ready(store) = Store::open_verified(&self.env_dir(env), &self.signature_config())? else {
            return Err(StoreError::Busy("a new environment is gone").into());
        };
        self.compact_bytes = compact_bytes.unwrap_or_else(|| store.size_bytes());
        recovery::set_current(&self.setup.home, env, self.compact_bytes)
            .map_err(|e| index_error("write", &self.setup.home, e))?;
        let old = std::mem::replace(&mut self.env, env);
        self.take_in(store);
        recovery::remove_env(&self.env_dir(old));
        Ok(())
    }

    /// Uses an index that was just opened. It is registered, so that others can begin with a copy of it.
    fn take_in(&mut self, store: Store) {
        if let Some(sharing) = &self.setup.sharing {
            sharing.opened(&self.setup.home, &store);
        }
        self.store = Some(store);
        self.n_changed = 0;
    }

    /// Returns true if changes have left memory that only reopening the environment releases.
    pub fn is_worn(&self) -> bool {
        self.n_changed >= RENEW_FILES
    }

    /// Counts pages that were written without a change of files, such as token counts, each of which may be
    /// on a page of its own.
    pub fn wear(&mut self, n_pages: usize) {
        self.n_changed += n_pages;
    }

    /// Closes and reopens the environment when it has no reader. Returns true if that was done. `shared`
    /// holds the only other handle of the index.
    ///
    /// # Errors
    /// Those of the store; there is no index then, and the next opening finds it.
    pub fn renew(&mut self, shared: &Shared) -> Result<bool, EngineError> {
        let dir = self.env_dir(self.env);
        let config = self.signature_config();
        let mut slot = shared.lock_store();
        // One handle is here and one in the slot.
        if slot.is_none() || !self.store.as_ref().is_some_and(|store| store.is_held_by(1)) {
            return Ok(false);
        }
        *slot = None;
        self.store = None;
        let Opened::Ready(store) = Store::open_verified(&dir, &config)? else {
            return Err(StoreError::Corrupt("gone while it was open".into()).into());
        };
        *slot = Some(store.clone());
        self.take_in(store);
        Ok(true)
    }

    /// Brings the index up to date with a change set, and with HEAD if `look_at_head` is set.
    ///
    /// # Errors
    /// Those of the store, or `Cancelled`; the index is unchanged, and a sweep will find the changes again.
    pub fn apply(
        &mut self,
        changes: &ChangeSet,
        look_at_head: bool,
        cancelled: Cancelled,
    ) -> Result<(), EngineError> {
        let Some(store) = self.store.clone() else { return Ok(()) };
        let new = if look_at_head { self.new_history(&store)? } else { None };
        self.apply_all(&store, changes, new, None, cancelled)
    }

    /// Applies changes of the tree, some of whose files may be hashed, and of its commits.
    fn apply_all(
        &mut self,
        store: &Store,
        changes: &ChangeSet,
        new: Option<NewHistory>,
        hashed: Option<&Hashed>,
        cancelled: Cancelled,
    ) -> Result<(), EngineError> {
        let root = self.tree.open()?;
        let update = Update { hashed, ..self.update(&root, store, cancelled) };
        let done = update.run(changes, new.as_ref()).map_err(|e| explained(e, &self.setup.home))?;
        self.n_changed += changes.len();
        self.is_resketched |= !changes.is_empty();
        for (path, stat) in done.stats {
            self.tree.remember(&path, stat);
        }
        self.unreadable.retain(|p| !changes.changed.contains_key(p) && !changes.removed.contains(p));
        self.unreadable.extend(done.unreadable);
        self.unreadable.sort_unstable();
        if let Some(new) = new {
            history::keep_boundary(&self.setup.home, new.commits.boundary.as_deref());
        }
        Ok(())
    }

    fn update<'a>(&'a self, root: &'a Root, store: &'a Store, cancelled: Cancelled<'a>) -> Update<'a> {
        let contents = self.setup.sharing.as_ref().map(|s| &s.contents);
        let (parts, log) = (self.setup.parts, &*self.log);
        Update { root, store, parts, contents, log, cancelled, hashed: None, has_stack: true }
    }

    /// Stores the overlays of an import, replacing earlier ones. They take effect at the next
    /// [`Engine::lay_over`] or build.
    ///
    /// # Errors
    /// The index folder cannot be written.
    pub fn keep_overlays(&mut self, overlays: &Overlays) -> Result<(), EngineError> {
        overlays::keep(&self.setup.home, overlays)
            .map_err(|e| index_error("keep the import in", &self.setup.home, e))?;
        self.overlays = overlays.known_digest();
        Ok(())
    }

    /// Returns true if the overlays in the index differ from the stored ones.
    ///
    /// # Errors
    /// Those of the store.
    pub fn overlays_are_due(&self) -> Result<bool, EngineError> {
        let Some(store) = &self.store else { return Ok(false) };
        Ok(store.snapshot()?.overlays_digest() != self.overlays)
    }

    /// Applies the stored overlays to the index. Returns false when there are so many that a build is needed.
    ///
    /// # Errors
    /// Those of the store; the index is unchanged then.
    pub fn lay_over(&mut self, cancelled: Cancelled) -> Result<bool, EngineError> {
        let overlays = self.kept_overlays()?;
        let Some(store) = &self.store else { return Ok(false) };
        if overlays.files.len() as u64 + store.snapshot()?.n_overlays() > 2 * UPDATE_FILES_MAX as u64 {
            return Ok(false);
        }
        let root = self.tree.open()?;
        let update = self.update(&root, store, cancelled);
        update.overlay(&overlays)?;
        Ok(true)
    }

    /// Returns the stored overlays.
    fn kept_overlays(&mut self) -> Result<Overlays, EngineError> {
        let home = &self.setup.home;
        let overlays = overlays::read(home).map_err(|e| index_error("read the import in", home, e))?;
        self.overlays = overlays.known_digest();
        Ok(overlays)
    }

    /// Reads the commits and their history; `None` when the index has those.
    fn new_history(&mut self, store: &Store) -> Result<Option<NewHistory>, EngineError> {
        let commits = Commits::of(&self.setup.root);
        let head = Some(store.snapshot()?.head()).filter(|head| head != "none");
        let held = Commits { head, boundary: history::kept_boundary(&self.setup.home) };
        Ok((commits != held).then(|| self.history_of(commits)))
    }

    fn history_of(&mut self, commits: Commits) -> NewHistory {
        let commits_max = self.setup.config.history_commits_max;
        NewHistory { commits, history: history::read(&self.setup.root, commits_max, &mut self.past) }
    }

    /// Applies changed settings; a sweep has to follow.
    pub fn set_config(&mut self, config: &Arc<Config>) {
        self.tree.set_excludes(&config.index_exclude);
        self.setup.config = Arc::clone(config);
    }

    /// Throws the index away, because its content differs from the content that was written.
    pub fn discard(&mut self) {
        self.is_from_tree = true;
        self.store = None;
        self.tree = self.tree.afresh();
        recovery::set_aside(&self.env_dir(self.env));
    }

    /// Flushes and marks the index clean, or parks it when there are similar indexes. Everything written
    /// since the index was opened is read back first, so that a damaged index is not marked clean.
    ///
    /// # Errors
    /// Those of the store; the index is verified at the next opening.
    pub fn close(mut self) -> Result<(), EngineError> {
        if let Some(store) = self.store.take() {
            if self.is_resketched && self.setup.sharing.is_some() {
                siblings::save(&stored_sketch(&store)?, &self.setup.home);
            }
            let (home, env) = (&self.setup.home, self.env_dir(self.env));
            let is_sound =
                !store.is_dirty() || self.setup.verify.run(&env, Depth::Rows).map_err(StoreError::Io)?;
            match &self.setup.sharing {
                _ if !is_sound => store.close_damaged()?,
                Some(sharing) => sharing.bases.close(home, &env, store, &self.signature_config())?,
                None => store.close_clean()?,
            }
        }
        recovery::note_closed(&self.setup.home);
        Ok(())
    }

    /// Records that the daemon has run with this index for long: the index is then not the cause if a daemon
    /// ends.
    pub fn note_alive(&self) {
        recovery::note_asked(&self.setup.home);
        recovery::note_closed(&self.setup.home);
    }

    fn env_dir(&self, env: u64) -> PathBuf {
        self.setup.home.join(recovery::env_name(env))
    }

    fn n_threads(&self) -> usize {
        match self.setup.config.index_threads {
            0 => crate::workspace::threads::pool().current_num_threads(),
            n => (n as usize).min(crate::workspace::threads::pool().current_num_threads()),
        }
    }

    fn signature_config(&self) -> Vec<u8> {
        recipe::recipe(self.setup.parts.redacts, self.setup.config.history_commits_max).into_bytes()
    }
}

fn stored_sketch(store: &Store) -> Result<Sketch, StoreError> {
    let mut files = Vec::new();
    store.snapshot()?.all_stats(|path, stat| files.push((path.to_owned(), stat.size)));
    Ok(sketch_of(files.iter().map(|(path, size)| (path.as_str(), *size))))
}

/// Explains an error of writing to the environment in a folder, see [`recovery::explained`].
fn explained(e: EngineError, dir: &Path) -> EngineError {
    match e {
        EngineError::Store(e) => EngineError::Store(recovery::explained(e, dir)),
        e => e,
    }
}

/// Returns true if the user may read a file, as far as the system tells.
fn is_permitted(path: &Path) -> bool {
    #[cfg(unix)]
    return rustix::fs::access(path, rustix::fs::Access::READ_OK).is_ok();
    #[cfg(not(unix))]
    return fs::symlink_metadata(path).is_ok();
}

fn index_error(what: &'static str, path: &Path, source: io::Error) -> EngineError {
    EngineError::Index { what, path: path.to_owned(), source }
}

/// Returns the bytes of the files in a folder and below it.
pub fn folder_bytes(dir: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(dir) else { return 0 };
    let size = |e: fs::DirEntry| match e.metadata() {
        Ok(meta) if meta.is_dir() => folder_bytes(&e.path()),
        Ok(meta) => meta.len(),
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}
