//! Removal of old states and unused pieces, while others push and pull.
//!
//! A state that is collected is put aside first, for [`GRACE_S`]: a push that began before, with this state
//! below its layer, ends within that time, and so does a pull. A piece goes when no state names it and it
//! was put as long ago: a push puts its pieces before its state.

use crate::format::{FORMAT, STATE_BYTES_MAX, State};
use crate::pull::state_at;
use crate::remote::Remote;
use crate::{Result, ShareError, each};
use indexd_proto::printed::ShareGc;
use std::collections::{BTreeMap, BTreeSet};

/// Seconds for which what nothing names is left alone.
pub(crate) const GRACE_S: u64 = 86_400;

/// Which states stay: those that are young enough and among the newest of their repository. The one that
/// is `newest` of its repository always does.
#[derive(Clone, Copy, Debug)]
pub struct Keep {
    /// Days.
    pub days: u64,
    /// States of a repository.
    pub count: u64,
}

/// An object of a store: its key, seconds since 1970 when it was put, and its bytes.
struct Object {
    key: String,
    at: i64,
    bytes: u64,
}

/// Collects below the URL, in all recipes and repositories; changes nothing when `is_dry`.
///
/// # Errors
/// Those of the store; the next collection removes the rest.
pub async fn gc(remote: &Remote, keep: Keep, is_dry: bool) -> Result<ShareGc> {
    remote.check_writable()?;
    let top = format!("indexd-{FORMAT}");
    let now = clock(remote, &top).await?;
    let mut recipes: BTreeMap<String, Vec<Object>> = BTreeMap::new();
    for (key, meta) in remote.list(&top).await? {
        let Some(recipe) = key.split('/').nth(1).map(str::to_owned) else { continue };
        let object = Object { at: meta.last_modified.timestamp(), bytes: meta.size, key };
        recipes.entry(recipe).or_default().push(object);
    }
    let mut collected = ShareGc {
        url: remote.url().to_owned(),
        dry_run: is_dry,
        n_kept: 0,
        n_expired: 0,
        n_removed: 0,
        bytes_removed: 0,
    };
    for (recipe, objects) in recipes {
        of_recipe(remote, &format!("{top}/{recipe}"), &objects, keep, now, &mut collected).await?;
    }
    Ok(collected)
}

/// The time of the store, whose clock the times of objects are of.
async fn clock(remote: &Remote, top: &str) -> Result<i64> {
    let key = format!("{top}/clock");
    remote.put(&key, b"the time of the store".to_vec()).await?;
    let meta = remote.head(&key).await?;
    meta.map(|meta| meta.last_modified.timestamp())
        .ok_or_else(|| ShareError::Unreachable("what was put is not there".to_owned()))
}

async fn of_recipe(
    remote: &Remote,
    top: &str,
    objects: &[Object],
    keep: Keep,
    now: i64,
    collected: &mut ShareGc,
) -> Result<()> {
    let age = |object: &Object| u64::try_from(now - object.at).unwrap_or(0);
    let is_below = |object: &&Object, folder: &str| object.key.starts_with(&format!("{top}/{folder}/"));
    let states: Vec<&Object> = objects.iter().filter(|o| is_below(o, "repositories")).collect();
    let put_aside: Vec<&Object> = objects.iter().filter(|o| is_below(o, "expired")).collect();
    let mut named = BTreeSet::new();
    let mut newest = BTreeSet::new();
    for state in read(remote, states.iter().chain(&put_aside).map(|o| o.key.clone())).await? {
        let (key, state) = state;
        named.extend(state.pieces().map(|piece| format!("{top}/pieces/{}", piece.name)));
        if let Some(repository) = key.strip_suffix("/newest") {
            newest.insert(format!("{repository}/commits/{}", state.name()));
        }
    }
    let expired = expired(&states, &newest, keep, age);
    collected.n_kept += (states.len() - expired.len()) as u64;
    collected.n_expired += expired.len() as u64;
    let is_old = |object: &&&Object| age(object) > GRACE_S;
    let pieces = objects.iter().filter(|o| is_below(o, "pieces") && !named.contains(&o.key));
    let pieces: Vec<&Object> = pieces.collect();
    let removed: Vec<&Object> = put_aside.iter().chain(&pieces).filter(is_old).copied().collect();
    collected.n_removed += removed.len() as u64;
    collected.bytes_removed += removed.iter().map(|o| o.bytes).sum::<u64>();
    if collected.dry_run {
        return Ok(());
    }
    for object in expired {
        put_object_aside(remote, top, &object.key).await?;
    }
    each(removed.into_iter().map(|o| remote.delete(&o.key)), Ok).await
}

/// The states that are too old or too many.
fn expired<'o>(
    states: &[&'o Object],
    newest: &BTreeSet<String>,
    keep: Keep,
    age: impl Fn(&Object) -> u64,
) -> Vec<&'o Object> {
    let mut by_repository: BTreeMap<&str, Vec<&'o Object>> = BTreeMap::new();
    for &object in states {
        if let Some((repository, _)) = object.key.split_once("/commits/") {
            by_repository.entry(repository).or_default().push(object);
        }
    }
    let mut expired = Vec::new();
    for mut all in by_repository.into_values() {
        // Times may be whole seconds.
        let rank = |o: &Object| std::cmp::Reverse((newest.contains(&o.key), o.at));
        all.sort_by(|a, b| (rank(a), &a.key).cmp(&(rank(b), &b.key)));
        let old = all.into_iter().enumerate().filter(|(i, object)| {
            let is_kept = (*i as u64) < keep.count && age(object) <= keep.days.saturating_mul(86_400);
            !is_kept && !newest.contains(&object.key)
        });
        expired.extend(old.map(|(_, object)| object));
    }
    expired
}

/// The states under these keys. One that is not there any more, or no state, names nothing.
async fn read(remote: &Remote, keys: impl Iterator<Item = String>) -> Result<Vec<(String, State)>> {
    let one = |key: String| async move {
        let state = state_at(remote, key.clone()).await?;
        Ok(state.map(|state| (key, state)))
    };
    let mut all = Vec::new();
    each(keys.map(one), |state| {
        all.extend(state);
        Ok(())
    })
    .await?;
    Ok(all)
}

/// Copies a state to the folder of expired ones, then removes it.
async fn put_object_aside(remote: &Remote, top: &str, key: &str) -> Result<()> {
    if let Some(object) = remote.get(key, STATE_BYTES_MAX).await? {
        let name = key.trim_start_matches(&format!("{top}/repositories/")).replace("/commits/", "-");
        remote.put(&format!("{top}/expired/{name}"), object).await?;
    }
    remote.delete(key).await
}
