//! Chooses the folders to watch, and works without events where watching fails.

use super::Driver;
use super::changes::ROUNDS_MAX;
use crate::workspace::Problem;
use crate::workspace::indexing::engine::EngineError;
use crate::workspace::noticing::watch::{WatchError, Watcher};
use crate::workspace::tree::ChangeSet;
use crate::workspace::tree::git::GitFolders;
use crate::workspace::tree::rules;
use crate::workspace::tree::scan::absolute;
use crate::workspace::tree::sweep::is_below;
use indexd_proto::paths::NETWORK;
use indexd_proto::workspace::Watch;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The way in which the loop learns of changes.
pub(super) enum Watching {
    /// Not at all yet; the next comparison starts a watcher.
    Not,
    /// Not at all, by configuration: every request compares the tree.
    Off,
    /// By a watch on every folder of the indexed set.
    Events(Arc<dyn Watcher>),
    /// By watches on some folders at most: every request compares the tree, and each comparison tries again
    /// to watch all folders.
    Degraded(Option<Arc<dyn Watcher>>),
}

impl Watching {
    /// The watcher, if there is one.
    pub fn watcher(&self) -> Option<&Arc<dyn Watcher>> {
        match self {
            Self::Events(watcher) | Self::Degraded(Some(watcher)) => Some(watcher),
            Self::Not | Self::Off | Self::Degraded(None) => None,
        }
    }

    /// True if changes may go unnoticed.
    pub fn is_degraded(&self) -> bool {
        matches!(self, Self::Degraded(_))
    }

    /// The name on the wire.
    pub fn on_wire(&self) -> Watch {
        match self {
            Self::Events(_) => Watch::Events,
            Self::Degraded(Some(_)) => Watch::Degraded,
            Self::Not | Self::Off | Self::Degraded(None) => Watch::Scan,
        }
    }
}

impl Driver {
    /// Starts the watcher if there is none. The next comparison adds the folders.
    pub(super) fn start_watching(&mut self) {
        if !self.setup.engine.config.watch_enabled {
            self.watching = Watching::Off;
            return;
        }
        if self.watching.watcher().is_some() {
            return;
        }
        if indexd_os::is_of_kind(&self.setup.engine.root, &NETWORK) {
            self.degrade(
                Problem::RemoteFileSystem,
                "the file system is remote and does not tell of changes, so requests compare the tree",
            );
            return;
        }
        if indexd_os::has_reachable_layers(&self.setup.engine.root) {
            self.degrade(
                Problem::RemoteFileSystem,
                "the file system is an overlay whose layers can be written beside it, so requests compare the tree",
            );
            return;
        }
        match (self.setup.watch)(&self.inbox) {
            Some(watcher) => {
                self.watching = Watching::Events(watcher);
                self.watch_own();
            }
            None => self.degrade(
                Problem::NoWatcher,
                "the system gives no watcher, so requests compare the tree; where others of this user have \
                 taken all",
            ),
        }
    }

    /// Compares the whole tree, and watches each folder before it is listed, so that one listing is enough.
    /// Ends a degraded state once all folders are watched. `None` without an engine.
    pub(super) fn sweep_watching(&mut self) -> Result<Option<ChangeSet>, EngineError> {
        let Some(watcher) = self.watching.watcher().cloned() else {
            return Ok(self.engine.as_mut().map(|engine| engine.tree.sweep(None)).transpose()?);
        };
        if self.watching.is_degraded() {
            // A watch refused from here on degrades it again.
            self.watching = Watching::Events(Arc::clone(&watcher));
            self.watch_own();
        }
        let root = self.setup.engine.root.clone();
        let refused = Mutex::new(Vec::new());
        let Some(engine) = &mut self.engine else { return Ok(None) };
        let swept = engine.tree.sweep(Some(&|rel| {
            if let Err(e) = watcher.watch(&absolute(&root, rel)) {
                refused.lock().unwrap_or_else(PoisonError::into_inner).push((rel.to_owned(), e));
            }
        }));
        let mut refused = refused.into_inner().unwrap_or_else(PoisonError::into_inner);
        // Folders that cannot be read, or left the set, need no watch.
        refused.retain(|(rel, _)| engine.tree.watches(rel));
        refused.into_iter().for_each(|(_, e)| self.refused(e));
        if !self.watching.is_degraded() {
            self.shared.solved(Problem::is_of_watching);
        }
        self.count_watched();
        Ok(Some(swept?))
    }

    /// Removes the watches of folders that left the set during a build. The next comparison adds new
    /// folders.
    pub(super) fn watch_only_the_set(&mut self) {
        if let (Some(watcher), Some(engine)) = (self.watching.watcher(), &self.engine) {
            let watched: BTreeSet<&str> = engine.tree.watched().collect();
            watcher.unwatch_others(&|dir: &Path| {
                let rel = dir.strip_prefix(&self.setup.engine.root).ok().and_then(Path::to_str);
                rel.is_some_and(|rel| watched.contains(rel))
            });
            self.watch_own();
        }
    }

    fn count_watched(&self) {
        let n_watched = self.watching.watcher().map_or(0, |watcher| watcher.n_watched()) as u64;
        self.shared.update(|c| c.status.n_watched = n_watched);
    }

    /// The watched folders outside the set: of cookies, of git, and of the user's global ignore file.
    pub(super) fn watch_own(&mut self) {
        // Look again after the last new watch: the file that names the branch may have changed before its
        // folder was watched.
        for _ in 0..ROUNDS_MAX {
            let mut dirs = vec![self.cookies.dir().to_owned()];
            dirs.extend(GitFolders::find(&self.setup.engine.root).iter().flat_map(GitFolders::watched));
            dirs.extend(rules::outside(&self.setup.engine.root));
            let n_new = dirs.iter().filter(|dir| self.watch_dir(dir)).count();
            if n_new == 0 {
                break;
            }
        }
    }

    /// Watches folders of the set and returns those that were not watched before.
    pub(super) fn watch_all(&mut self, folders: &BTreeSet<String>) -> Vec<String> {
        let fresh = folders.iter().filter(|rel| self.watch_dir(&self.absolute(rel))).cloned().collect();
        self.count_watched();
        fresh
    }

    fn watch_dir(&mut self, dir: &Path) -> bool {
        let Some(watcher) = self.watching.watcher() else { return false };
        match watcher.watch(dir) {
            Ok(is_new) => is_new,
            Err(e) => {
                self.refused(e);
                false
            }
        }
    }

    /// Enters the degraded state because a folder cannot be watched.
    fn refused(&mut self, e: WatchError) {
        match e {
            WatchError::Gone => {}
            WatchError::Limit => self.degrade(
                Problem::WatchLimit,
                "the system's limit on watched folders is reached, so requests compare the tree",
            ),
            WatchError::Refused => self.degrade(
                Problem::Unwatchable,
                "some folders cannot be watched, so requests compare the tree",
            ),
        }
    }

    fn degrade(&mut self, problem: Problem, sentence: &str) {
        self.watching = Watching::Degraded(self.watching.watcher().cloned());
        let command = problem.command().map(|command| format!(": {command}")).unwrap_or_default();
        self.shared.problem(problem, format!("{sentence}{command}"));
    }

    pub(super) fn unwatch(&self, folders: &BTreeSet<String>) {
        let Some(watcher) = self.watching.watcher() else { return };
        for rel in folders {
            watcher.unwatch(&self.absolute(rel));
        }
    }

    pub(super) fn absolute(&self, rel: &str) -> PathBuf {
        absolute(&self.setup.engine.root, rel)
    }

    /// Forgets the watches of a dirty folder and of the folders below it, and returns these: a folder may
    /// have been replaced by another of the same name, and a watch ends with the old one.
    pub(super) fn unwatch_replaced(&self, dirty: &BTreeSet<String>) -> BTreeSet<String> {
        let Some(tree) = self.engine.as_ref().map(|engine| &engine.tree) else { return BTreeSet::new() };
        let replaced: Vec<&str> = dirty.iter().map(|rel| &**rel).filter(|rel| tree.watches(rel)).collect();
        let all = tree.watched().filter(|dir| replaced.iter().any(|rel| is_below(dir, rel)));
        let all = all.map(str::to_owned).collect();
        self.unwatch(&all);
        all
    }
}
