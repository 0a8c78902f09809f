//! A first index that begins as another one: as a copy of the index of a similar tree, or with the rows of
//! a published one. Either is brought to the tree of this one by the difference.

use super::super::pieces::Layers;
use super::super::recovery;
use super::super::siblings::Sharing;
use super::super::update::{Cancelled, Hashed};
use super::{Engine, EngineError};
use crate::workspace::status::Progress;
use crate::workspace::tree::ChangeSet;
use indexd_model::RepoPath;
use indexd_proto::share::{Sketch, apart_max};
use indexd_proto::workspace::Phase;
use indexd_store::{Opened, Store, StoreError};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// The start of an index.
struct Start {
    /// Bytes of the index when it is compact, as far as that is known.
    compact_bytes: Option<u64>,
    /// Files that may be apart.
    apart_max: u64,
    /// The files of this tree that were read at the same time.
    hashed: Hashed,
}

/// Makes the start of an index in a folder, for a recipe; `None` when there is nothing to begin with.
type MakesStart<'m> = &'m dyn Fn(&Path, &[u8]) -> Result<Option<Start>, StoreError>;

impl Engine {
    /// Begins as the index of a similar tree, else with a published one, and brings it to this tree. False
    /// when there is neither, or when that fails in a way that a build need not.
    pub(super) fn begin_as_another(
        &mut self,
        sharing: &Sharing,
        sketch: &Sketch,
        files: &BTreeMap<RepoPath, u64>,
        progress: &dyn Fn(Progress),
        cancelled: Cancelled,
    ) -> Result<bool, EngineError> {
        let home = self.setup.home.clone();
        let copy = |dir: &Path, config: &[u8]| {
            let sibling = sharing.copy_like(&home, sketch, config, dir)?;
            let start = |of: std::path::PathBuf| Start {
                compact_bytes: recovery::compact_bytes(&of),
                apart_max: u64::MAX,
                hashed: Hashed::default(),
            };
            Ok(sibling.map(start))
        };
        if self.begin_as(files, &copy, cancelled)? {
            return Ok(true);
        }
        let Some(layers) = sharing.pulls.take(&home, progress, cancelled) else { return Ok(false) };
        progress(Progress { phase: Phase::Pull, done: 0, total: 0 });
        let root = self.open_root()?;
        let log = Arc::clone(&self.log);
        let read = |dir: &Path, config: &[u8]| {
            let hashed =
                read_beside(&layers, dir, config, cancelled, || Hashed::of(&root, files, &log, cancelled))?;
            Ok(Some(Start { compact_bytes: None, apart_max: apart_max(sketch.n_files), hashed }))
        };
        let begun = self.begin_as(files, &read, cancelled);
        // They take room that a build may need.
        layers.remove();
        if begun.as_ref().is_ok_and(|begun| *begun) {
            sharing.pulls.begun(&home);
        } else {
            sharing.pulls.missed(&home, "what was fetched is not of use for this tree");
        }
        begun
    }

    /// Begins as `start` puts it into a folder; `None` of it is that there is nothing to begin with.
    fn begin_as(
        &mut self,
        files: &BTreeMap<RepoPath, u64>,
        start: MakesStart,
        cancelled: Cancelled,
    ) -> Result<bool, EngineError> {
        let (env, config) = (self.env + 1, self.signature_config());
        let dir = self.env_dir(env);
        recovery::remove_env(&dir);
        let begun = self.bring_here(files, start, (&dir, &config), cancelled);
        // The pages of the first transaction are given back, as after a build.
        self.store = None;
        let start = match begun {
            Ok(Some(start)) => start,
            not_begun => {
                (self.commits, self.history) = (None, None);
                self.tree.forget();
                recovery::remove_env(&dir);
                return match not_begun {
                    Err(EngineError::Cancelled) => Err(EngineError::Cancelled),
                    Err(e) => {
                        tracing::info!(error = %e, "an index could not begin as another one");
                        Ok(false)
                    }
                    Ok(_) => Ok(false),
                };
            }
        };
        let Opened::Ready(store) = Store::open_verified(&dir, &config)? else {
            return Err(StoreError::Busy("a copy is gone").into());
        };
        self.set_current(env, start.compact_bytes.unwrap_or_else(|| store.size_bytes()))?;
        self.replace(env, store);
        tracing::info!(n_files = files.len(), "an index began as another one");
        Ok(true)
    }

    /// Makes the start in a folder, with the changes that lead from its tree to this one.
    fn bring_here(
        &mut self,
        files: &BTreeMap<RepoPath, u64>,
        start: MakesStart,
        (dir, config): (&Path, &[u8]),
        cancelled: Cancelled,
    ) -> Result<Option<Start>, EngineError> {
        let Some(start) = start(dir, config)? else { return Ok(None) };
        let Opened::Ready(store) = Store::open_verified(dir, config)? else { return Ok(None) };
        let snapshot = store.snapshot()?;
        if snapshot.overlays_digest().is_some() || self.overlays.digest.is_some() {
            // An import is of one workspace.
            return Ok(None);
        }
        let mut changes = ChangeSet { changed: files.clone(), ..ChangeSet::default() };
        let mut n_known = 0;
        snapshot.all_stats(|path, _| {
            n_known += u64::from(files.contains_key(path));
            changes.removed.extend(RepoPath::new(path).ok().filter(|path| !files.contains_key(path)));
        });
        let n_apart = files.len() as u64 - n_known + changes.removed.len() as u64;
        if n_apart > start.apart_max {
            return Ok(None);
        }
        // Equal heads may have other commits behind them: a clone may be shallow.
        self.commits = None;
        self.history = snapshot.history_digest();
        drop(snapshot);
        self.store = Some(store);
        self.apply_hashed(&changes, true, &start.hashed, cancelled)?;
        Ok(Some(start))
    }
}

/// Makes an index of layers in a folder while the files of the tree are hashed.
fn read_beside(
    layers: &Layers,
    dir: &Path,
    config: &[u8],
    cancelled: Cancelled,
    hash: impl FnOnce() -> Hashed + Send,
) -> Result<Hashed, StoreError> {
    std::thread::scope(|s| {
        let hashing = s.spawn(hash);
        Store::read_rows(layers.blocks(s, cancelled), dir, config)?;
        // Files that were not hashed are read later.
        Ok(hashing.join().unwrap_or_default())
    })
}
