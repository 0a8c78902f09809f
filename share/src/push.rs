//! Publishing a state.

use crate::format::{FORMAT, LAYERS_MAX, State};
use crate::gc::GRACE_S;
use crate::pull::{commit_key, fetch, local, nearest, newest_key, piece_key};
use crate::remote::Remote;
use crate::{Result, ShareError, Watch, each};
use indexd_proto::printed::SharePush;
use indexd_proto::share::{Piece, Tree};
use object_store::ObjectMeta;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Layers above which a state is published whole: each is a few objects, and a row in many is read as often.
const LAYERS_KEPT: usize = LAYERS_MAX / 2;

/// The layers of the nearest state, lowest first, whose pieces are then in `folder`: what a push lays a
/// layer above. None when nothing that is near can be had whole; the push is larger then.
///
/// # Errors
/// Those of the store, [`ShareError::Local`].
pub async fn base(remote: &Remote, tree: &Tree, folder: &Path) -> Result<Vec<Vec<Piece>>> {
    let Some(found) = nearest(remote, tree).await?.filter(|f| f.state.layers.len() < LAYERS_KEPT) else {
        return Ok(Vec::new());
    };
    match fetch(remote, &tree.recipe, &found.state, folder, &|_, _| true).await {
        Ok(()) => Ok(found.state.layers),
        Err(ShareError::Damaged(_)) => Ok(Vec::new()),
        Err(e) => Err(e),
    }
}

/// Publishes layers, lowest first, as the state of a tree. The pieces of the highest one are in `folder`.
/// `watch` is told of bytes that were put; `has_base` is passed on.
///
/// # Errors
/// Those of the store, [`ShareError::Local`], [`ShareError::Stopped`], [`ShareError::Damaged`] when a piece of a lower layer is gone.
pub async fn push(
    remote: &Remote,
    tree: &Tree,
    layers: Vec<Vec<Piece>>,
    has_base: bool,
    folder: &Path,
    watch: &Watch<'_>,
) -> Result<SharePush> {
    let Some(repository) = tree.repositories.first() else {
        return Err(ShareError::Damaged("the repository has no name".to_owned()));
    };
    let commit = tree.commits.first().cloned();
    let state = State { format: FORMAT, commit, sketch: tree.sketch.clone(), layers };
    let object = state.encode()?;
    let mut bytes_put = put_pieces(remote, tree, &state, folder, watch).await?;
    let mut keys = vec![commit_key(&tree.recipe, repository, &state.name())];
    keys.extend(tree.is_default.then(|| newest_key(&tree.recipe, repository)));
    for key in keys {
        bytes_put += object.len() as u64;
        remote.put(&key, object.clone()).await?;
    }
    Ok(SharePush {
        url: remote.url().to_owned(),
        root: tree.root.clone(),
        commit: state.commit.clone(),
        bytes_put,
        bytes_pulled: state.stored(),
        n_layers: state.layers.len() as u64,
        has_base,
    })
}

/// Age below which a piece is not put again: half of the grace period of a collection, since clocks
/// differ.
const FRESH: Duration = Duration::from_secs(GRACE_S / 2);

/// True if a push has put an object recently.
fn is_fresh(meta: &ObjectMeta) -> bool {
    let at: SystemTime = meta.last_modified.into();
    SystemTime::now().duration_since(at).unwrap_or_default() < FRESH
}

/// Puts the pieces of the highest layer that are not there, or that were put so long ago that a collection
/// may be about to remove them, and checks that the others are there. Gives the bytes that were put.
async fn put_pieces(
    remote: &Remote,
    tree: &Tree,
    state: &State,
    folder: &Path,
    watch: &Watch<'_>,
) -> Result<u64> {
    let (last, below) = state.layers.split_last().ok_or(ShareError::Stopped)?;
    let is_there = |piece: Piece, is_enough: fn(&ObjectMeta) -> bool| async move {
        let meta = remote.head(&piece_key(&tree.recipe, &piece.name)).await?;
        Ok(meta.is_some_and(|meta| meta.size == piece.stored && is_enough(&meta)))
    };
    let total = last.iter().map(|piece| piece.stored).sum();
    let (mut done, mut bytes_put) = (0, 0);
    let put = |piece: Piece| async move {
        let path = folder.join(&piece.name);
        let stored = piece.stored;
        if is_there(piece.clone(), is_fresh).await? {
            return Ok((stored, 0));
        }
        let object = fs::read(&path).map_err(local(&path))?;
        remote.put(&piece_key(&tree.recipe, &piece.name), object).await.map(|()| (stored, stored))
    };
    each(last.iter().cloned().map(put), |(stored, put)| {
        (done, bytes_put) = (done + stored, bytes_put + put);
        if watch(done, total) { Ok(()) } else { Err(ShareError::Stopped) }
    })
    .await?;
    let check = |piece: Piece| async move {
        let gone = || ShareError::Damaged(format!("piece {} was removed meanwhile; push again", piece.name));
        is_there(piece.clone(), |_| true).await?.then_some(()).ok_or_else(gone)
    };
    each(below.iter().flatten().cloned().map(check), Ok).await?;
    Ok(bytes_put)
}
