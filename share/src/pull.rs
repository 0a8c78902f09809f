//! Finding the nearest published state, and fetching it.

use crate::format::{STATE_BYTES_MAX, State, is_commit, name_of};
use crate::remote::Remote;
use crate::{PARALLEL, Result, ShareError, Watch, each};
use futures_util::{StreamExt, stream};
use indexd_proto::share::{Piece, Sketch, Tree};
use std::fs;
use std::io;
use std::path::Path;

/// Commits that are asked for at once: the newest is often there, and who is far behind asks for many.
const WAVES: [usize; 3] = [1, 15, 48];
/// Published states of a folder without commits that are compared with its sample.
const SAMPLES_MAX: usize = 32;

/// The keys of a recipe.
pub(crate) fn root(recipe: &str) -> String {
    format!("indexd-{}/{recipe}", crate::format::FORMAT)
}

pub(crate) fn commit_key(recipe: &str, repository: &str, commit: &str) -> String {
    format!("{}/repositories/{repository}/commits/{commit}", root(recipe))
}

pub(crate) fn newest_key(recipe: &str, repository: &str) -> String {
    format!("{}/repositories/{repository}/newest", root(recipe))
}

pub(crate) fn piece_key(recipe: &str, name: &str) -> String {
    format!("{}/pieces/{name}", root(recipe))
}

/// A published state, and how it was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The state.
    pub state: State,
    /// `commit`, `newest` or `sample`.
    pub by: &'static str,
}

/// The published state that is nearest to a tree: of the commits that HEAD leads to, else the newest of the
/// default branch, else, without commits, the one with most files in common. None when the tree would be
/// built as fast without.
///
/// # Errors
/// Those of the store. An object that is damaged is one that is not there.
pub async fn nearest(remote: &Remote, tree: &Tree) -> Result<Option<Found>> {
    let is_of_use = |state: &State| tree.sketch.is_like(&state.sketch, tree.n_apart_max());
    for repository in &tree.repositories {
        let mut commits = tree.commits.iter().filter(|commit| is_commit(commit));
        for n in WAVES {
            let wave = commits.by_ref().take(n).map(|commit| commit_key(&tree.recipe, repository, commit));
            let found: Vec<_> =
                stream::iter(wave).map(|key| state_at(remote, key)).buffered(n).collect().await;
            for state in found {
                if let Some(state) = state?.filter(is_of_use) {
                    return Ok(Some(Found { state, by: "commit" }));
                }
            }
        }
        let newest = state_at(remote, newest_key(&tree.recipe, repository)).await?;
        if tree.commits.is_empty()
            && let Some(state) = most_alike(remote, tree, repository, newest.clone()).await?
        {
            return Ok(Some(Found { state, by: "sample" }));
        }
        if let Some(state) = newest.filter(is_of_use) {
            return Ok(Some(Found { state, by: "newest" }));
        }
    }
    Ok(None)
}

/// The published state that has most files in common with a tree.
async fn most_alike(
    remote: &Remote,
    tree: &Tree,
    repository: &str,
    newest: Option<State>,
) -> Result<Option<State>> {
    let listed = published(remote, tree, repository).await?;
    let keys = listed.into_iter().take(SAMPLES_MAX).map(|(key, _)| key);
    let states: Vec<_> =
        stream::iter(keys).map(|key| state_at(remote, key)).buffered(PARALLEL).collect().await;
    let states = states.into_iter().filter_map(|state| state.ok().flatten()).chain(newest);
    let alike = states.filter(|state| tree.sketch.is_like(&state.sketch, tree.n_apart_max()));
    let common = |state: &State| Sketch::n_common(&tree.sketch, &state.sketch);
    Ok(alike.max_by_key(|state| (common(state), state.sum())))
}

/// Keys and times, in seconds since 1970, of the published states of a repository, newest first.
///
/// # Errors
/// Those of the store.
pub async fn published(remote: &Remote, tree: &Tree, repository: &str) -> Result<Vec<(String, i64)>> {
    let all = remote.list(&format!("{}/repositories/{repository}/commits", root(&tree.recipe))).await?;
    let mut all: Vec<_> = all.into_iter().map(|(key, meta)| (key, meta.last_modified.timestamp())).collect();
    all.sort_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));
    Ok(all)
}

/// A state; one that is damaged is not there.
pub(crate) async fn state_at(remote: &Remote, key: String) -> Result<Option<State>> {
    match remote.get(&key, STATE_BYTES_MAX).await {
        Ok(object) => Ok(object.and_then(|object| State::decode(&object))),
        Err(ShareError::Damaged(_)) => Ok(None),
        Err(e) => Err(e),
    }
}

/// Fetches the pieces of a state into files of a folder, each whole or not at all; those that are there
/// already are not fetched again. `watch` is told of bytes.
///
/// # Errors
/// Those of the store, [`ShareError::Damaged`] for a piece that is missing or another one,
/// [`ShareError::Local`], [`ShareError::Stopped`].
pub async fn fetch(
    remote: &Remote,
    recipe: &str,
    state: &State,
    folder: &Path,
    watch: &Watch<'_>,
) -> Result<()> {
    let one = |piece: Piece| async move {
        if !is_kept(folder, &piece) {
            let object = remote.get(&piece_key(recipe, &piece.name), piece.stored).await?;
            let object =
                object.ok_or_else(|| ShareError::Damaged(format!("piece {} is missing", piece.name)))?;
            if object.len() as u64 != piece.stored || name_of(&object) != piece.name {
                return Err(ShareError::Damaged(format!("piece {} holds something else", piece.name)));
            }
            keep(folder, &piece.name, &object)?;
        }
        Ok(piece.stored)
    };
    let (mut done, total) = (0, state.stored());
    each(state.pieces().cloned().map(one), |stored| {
        done += stored;
        if watch(done, total) { Ok(()) } else { Err(ShareError::Stopped) }
    })
    .await
}

/// True if a file of an earlier fetch holds exactly this piece.
fn is_kept(folder: &Path, piece: &Piece) -> bool {
    let path = folder.join(&piece.name);
    let is_as_long = fs::metadata(&path).is_ok_and(|meta| meta.len() == piece.stored);
    is_as_long && fs::read(&path).is_ok_and(|object| name_of(&object) == piece.name)
}

pub(crate) fn local(path: &Path) -> impl Fn(io::Error) -> ShareError + use<> {
    let path = path.to_owned();
    move |source| ShareError::Local { path: path.clone(), source }
}

fn keep(folder: &Path, name: &str, object: &[u8]) -> Result<()> {
    let path = folder.join(name);
    let new = folder.join(format!("{name}.{}", std::process::id()));
    let put = fs::write(&new, object).and_then(|()| fs::rename(&new, &path));
    put.inspect_err(|_| _ = fs::remove_file(&new)).map_err(local(&path))
}
