//! Which folders the loop watches, and what it does when it cannot.

use super::{Driver, ROUNDS_MAX};
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
        let Some(watcher) = &self.watcher else { return engine.sweep().map(Some) };
        let root = &self.setup.engine.root;
        let refused = Mutex::new(Vec::new());
        let swept = engine.sweep_entering(&|rel| {
            if let Err(e) = watcher.watch(&absolute(root, rel)) {
                refused.lock().unwrap_or_else(PoisonError::into_inner).push((rel.to_owned(), e));
            }
        });
        let mut refused = refused.into_inner().unwrap_or_else(PoisonError::into_inner);
        // What turned out to be closed, or no folder of the set any more, needs no watch.
        refused.retain(|(rel, _)| engine.tree.watches(rel));
        refused.into_iter().for_each(|(_, e)| self.refused(e));
        self.count_watched();
        swept.map(Some)
    }

    fn count_watched(&self) {
        let n_watched = self.watcher.as_ref().map_or(0, |watcher| watcher.n_watched()) as u64;
        self.setup.shared.update(|c| c.n_watched = n_watched);
    }

    /// The folders outside the set that matter: of cookies, of git, of the user's global excludes.
    pub(super) fn watch_own(&mut self) {
        // A look after the last new watch: where the branch is depends on a file that may have changed
        // before its folder was watched.
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

    /// Watches folders of the set; gives those that were not watched before.
    pub(super) fn watch_all(&mut self, folders: &BTreeSet<String>) -> Vec<String> {
        let mut fresh = Vec::new();
        for rel in folders {
            if self.watch_dir(&self.absolute(rel)) {
                fresh.push(rel.clone());
            }
        }
        self.count_watched();
        fresh
    }

    fn watch_dir(&mut self, dir: &Path) -> bool {
        let Some(watcher) = &self.watcher else { return false };
        match watcher.watch(dir) {
            Ok(is_new) => is_new,
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

    pub(super) fn unwatch(&self, folders: &BTreeSet<String>) {
        let Some(watcher) = &self.watcher else { return };
        for rel in folders {
            watcher.unwatch(&self.absolute(rel));
        }
    }

    pub(super) fn absolute(&self, rel: &str) -> PathBuf {
        absolute(&self.setup.engine.root, rel)
    }

    /// A dirty folder may be another one of the same name by now, whose watch went with the old one:
    /// it and those below are to be watched anew. Gives all of them.
    pub(super) fn unwatch_replaced(&self, dirty: &BTreeSet<String>) -> BTreeSet<String> {
        let Some(tree) = self.engine.as_ref().map(|engine| &engine.tree) else { return BTreeSet::new() };
        let replaced: Vec<&str> = dirty.iter().map(|rel| &**rel).filter(|rel| tree.watches(rel)).collect();
        let all = tree.watched().filter(|dir| replaced.iter().any(|rel| is_below(dir, rel)));
        let all = all.map(str::to_owned).collect();
        self.unwatch(&all);
        all
    }
}

fn absolute(root: &Path, rel: &str) -> PathBuf {
    if rel.is_empty() { root.to_owned() } else { root.join(rel) }
}

/// Whether `path` is `dir` or lies below it.
fn is_below(path: &str, dir: &str) -> bool {
    dir.is_empty() || path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}
