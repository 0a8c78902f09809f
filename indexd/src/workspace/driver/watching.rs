//! Which folders the loop watches, and what it does when it cannot.

use super::Driver;
use crate::workspace::engine::EngineError;
use crate::workspace::git::GitFolders;
use crate::workspace::rules;
use crate::workspace::tree::ChangeSet;
use crate::workspace::watch::WatchError;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

impl Driver {
    /// Starts the watcher; a sweep has to follow, which watches the folders of the set.
    pub(super) fn start_watching(&mut self) {
        if indexd_os::is_network_file_system(&self.setup.engine.root) {
            self.problem(
                "the file system is remote and does not tell of changes, so requests compare the tree",
            );
        } else {
            self.watcher = (self.setup.watch)(&self.inbox);
        }
        if self.watcher.is_none() {
            self.is_degraded = true;
            self.setup.shared.update(|c| c.watch = "scan");
            return;
        }
        self.watch_own();
    }

    /// Compares the whole tree and watches each folder of it before it is looked at, so that one look
    /// is enough: no folder is new to the watcher afterwards. `None` without an engine.
    pub(super) fn sweep_watching(&mut self) -> Result<Option<ChangeSet>, EngineError> {
        let Some(engine) = &mut self.engine else { return Ok(None) };
        let Some(watcher) = &self.watcher else { return engine.sweep(&|_| {}).map(Some) };
        let root = &self.setup.engine.root;
        let watched = Mutex::new((&mut self.watched, Vec::new()));
        let lock = || watched.lock().unwrap_or_else(PoisonError::into_inner);
        let swept = engine.sweep(&|rel| {
            let dir = absolute(root, rel);
            // Not watched under the lock: the other threads of the walk come here for each folder too.
            if lock().0.insert(dir.clone().into())
                && let Err(e) = watcher.watch(&dir)
            {
                let mut watched = lock();
                watched.0.remove(dir.as_os_str());
                watched.1.push((rel.to_owned(), e));
            }
        });
        let mut refused = watched.into_inner().unwrap_or_else(PoisonError::into_inner).1;
        // What turned out to be closed, or no folder of the set any more, needs no watch.
        refused.retain(|(rel, _)| engine.tree.watches(rel));
        refused.into_iter().for_each(|(_, e)| self.refused(e));
        let n_watched = self.watched.len() as u64;
        self.setup.shared.update(|c| c.n_watched = n_watched);
        swept.map(|mut changes| {
            changes.folders_new.clear();
            Some(changes)
        })
    }

    /// The folders outside the set that matter: of cookies, of git, of the user's global excludes.
    pub(super) fn watch_own(&mut self) {
        let mut dirs = vec![self.cookies.dir().to_owned()];
        dirs.extend(GitFolders::find(&self.setup.engine.root).iter().flat_map(GitFolders::watched));
        dirs.extend(rules::outside(&self.setup.engine.root));
        for dir in dirs {
            self.watch_dir(&dir);
        }
    }

    /// Watches folders of the set; gives those that were not watched before.
    pub(super) fn watch_all(&mut self, folders: &BTreeSet<String>) -> Vec<String> {
        let mut fresh = Vec::new();
        for rel in folders {
            if self.watch_dir(&self.absolute(rel)) {
                fresh.push(rel.clone());
            }
        }
        let n_watched = self.watched.len() as u64;
        self.setup.shared.update(|c| c.n_watched = n_watched);
        fresh
    }

    fn watch_dir(&mut self, dir: &Path) -> bool {
        let Some(watcher) = &self.watcher else { return false };
        match watcher.watch(dir) {
            Ok(()) => self.watched.insert(dir.into()),
            Err(e) => {
                self.refused(e);
                false
            }
        }
    }

    /// Goes on without events where a folder cannot be watched.
    fn refused(&mut self, e: WatchError) {
        if self.is_degraded || e == WatchError::Gone {
            return;
        }
        self.is_degraded = true;
        self.problem(match e {
            WatchError::Limit => {
                "the system's limit on watched folders is reached, so requests compare the tree: \
                 sudo sysctl fs.inotify.max_user_watches=524288"
            }
            _ => "some folders cannot be watched, so requests compare the tree",
        });
        self.setup.shared.update(|c| c.watch = "degraded");
    }

    pub(super) fn unwatch(&mut self, folders: &BTreeSet<String>) {
        for rel in folders {
            self.unwatch_dir(&self.absolute(rel));
        }
    }

    pub(super) fn unwatch_dir(&mut self, dir: &Path) {
        if self.watched.remove(dir.as_os_str())
            && let Some(watcher) = &self.watcher
        {
            watcher.unwatch(dir);
        }
    }

    pub(super) fn absolute(&self, rel: &str) -> PathBuf {
        absolute(&self.setup.engine.root, rel)
    }

    /// A dirty folder may be another one of the same name by now, whose watch went with the old one:
    /// it and those below are to be watched anew.
    pub(super) fn unwatch_replaced(&mut self, dirty: &BTreeSet<String>) -> Vec<String> {
        let mut replaced = Vec::new();
        for rel in dirty {
            let dir = self.absolute(rel);
            if self.watched.contains(dir.as_os_str()) {
                let all = self.watched.iter().filter(|d| Path::new(d).starts_with(&dir));
                for dir in all.cloned().collect::<Vec<_>>() {
                    self.unwatch_dir(Path::new(&dir));
                }
                replaced.push(rel.clone());
            }
        }
        replaced
    }
}

fn absolute(root: &Path, rel: &str) -> PathBuf {
    if rel.is_empty() { root.to_owned() } else { root.join(rel) }
}

/// Whether `path` is `dir` or lies below it.
pub(super) fn is_below(path: &str, dir: &str) -> bool {
    dir.is_empty() || path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
