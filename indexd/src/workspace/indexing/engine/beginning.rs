//! A first index that begins as another one: as a copy of the index of a similar tree, or with the rows of
//! a published one. Either is brought to the tree of this one by the difference.

use super::super::history::Commits;
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
use std::path::{Path, PathBuf};

/// The start of an index.
struct Start {
    /// Bytes of the index when it is compact, as far as that is known.
    compact_bytes: Option<u64>,
    /// Files that may be apart.
    apart_max: u64,
    /// The files of this tree that were read at the same time.
    hashed: Hashed,
}

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
        let (home, config, dir) =
            (self.setup.home.clone(), self.signature_config(), self.env_dir(self.env + 1));
        recovery::remove_env(&dir);
        let start = |of: PathBuf| Start {
            compact_bytes: recovery::compact_bytes(&of),
            apart_max: u64::MAX,
            hashed: Hashed::default(),
        };
        let copied = sharing.copy_like(&home, sketch, &config, &dir).map(|of| of.map(start));
        if self.begin_as(copied, files, cancelled)? {
            return Ok(true);
        }
        let Some(layers) = sharing.pulls.take(&home, progress, cancelled) else { return Ok(false) };
        progress(Progress { phase: Phase::Pull, done: 0, total: 0 });
        let root = self.tree.open()?;
        let hash = || Hashed::of(&root, files, &self.log, cancelled);
        let start =
            |hashed| Some(Start { compact_bytes: None, apart_max: apart_max(sketch.n_files), hashed });
        let read = read_beside(&layers, &dir, &config, cancelled, hash).map(start);
        let begun = self.begin_as(read, files, cancelled);
        // They take room that a build may need.
        layers.remove();
        if begun.as_ref().is_ok_and(|begun| *begun) {
            sharing.pulls.begun(&home);
        } else {
            sharing.pulls.missed(&home, "what was fetched is not of use for this tree");
        }
        begun
    }

    /// Begins as the start that is in the folder of the next environment, if there is one.
    fn begin_as(
        &mut self,
        start: Result<Option<Start>, StoreError>,
        files: &BTreeMap<RepoPath, u64>,
        cancelled: Cancelled,
    ) -> Result<bool, EngineError> {
        let env = self.env + 1;
        let begun = start.map_err(EngineError::from).and_then(|start| match start {
            Some(start) if self.bring_here(&start, files, cancelled)? => Ok(Some(start)),
            _ => Ok(None),
        });
        if let Ok(Some(start)) = begun {
            self.put_in_place(env, start.compact_bytes)?;
            tracing::info!(n_files = files.len(), "an index began as another one");
            return Ok(true);
        }
        recovery::remove_env(&self.env_dir(env));
        match begun {
            Err(EngineError::Cancelled) => Err(EngineError::Cancelled),
            Err(e) => {
                tracing::info!(error = %e, "an index could not begin as another one");
                Ok(false)
            }
            Ok(_) => Ok(false),
        }
    }

    /// Applies the changes that lead from the tree of a start to this one. Returns false if they are too many.
    fn bring_here(
        &mut self,
        start: &Start,
        files: &BTreeMap<RepoPath, u64>,
        cancelled: Cancelled,
    ) -> Result<bool, EngineError> {
        let opened = Store::open_verified(&self.env_dir(self.env + 1), &self.signature_config())?;
        let Opened::Ready(store) = opened else { return Ok(false) };
        let snapshot = store.snapshot()?;
        if snapshot.overlays_digest().is_some() || self.overlays.is_some() {
            // An import is of one workspace.
            return Ok(false);
        }
        let mut changes = ChangeSet { changed: files.clone(), ..ChangeSet::default() };
        let mut n_known = 0;
        snapshot.all_stats(|path, _| {
            n_known += u64::from(files.contains_key(path));
            changes.removed.extend(RepoPath::new(path).ok().filter(|path| !files.contains_key(path)));
        });
        drop(snapshot);
        let n_apart = files.len() as u64 - n_known + changes.removed.len() as u64;
        if n_apart > start.apart_max {
            return Ok(false);
        }
        // Equal heads may have other commits behind them: a clone may be shallow.
        let new = self.history_of(Commits::of(&self.setup.root));
        self.apply_all(&store, &changes, Some(new), Some(&start.hashed), cancelled)?;
        Ok(true)
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
