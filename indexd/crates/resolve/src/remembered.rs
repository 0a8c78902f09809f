//! Answers that are found once, and bounds on questions inside each other.

use rustc_hash::FxHashMap;
use std::hash::Hash;

/// Returns the answer to a question from a table, found by `find` if it is not there yet.
pub(crate) fn remembered<L, K: Clone + Eq + Hash, V: Clone>(
    linker: &mut L,
    table: fn(&mut L) -> &mut FxHashMap<K, V>,
    key: K,
    find: impl FnOnce(&mut L) -> V,
) -> V {
    if let Some(known) = table(linker).get(&key) {
        return known.clone();
    }
    let found = find(linker);
    table(linker).insert(key, found.clone());
    found
}

/// Works as [`remembered`] for a question that may lead back to itself: until it is answered, its answer is
/// `at_first`.
pub(crate) fn remembered_from<L, K: Clone + Eq + Hash, V: Clone>(
    linker: &mut L,
    table: fn(&mut L) -> &mut FxHashMap<K, V>,
    key: K,
    at_first: V,
    find: impl FnOnce(&mut L) -> V,
) -> V {
    remembered(linker, table, key.clone(), |l| {
        table(l).insert(key, at_first);
        find(l)
    })
}

/// Runs `ask` with one more in a count of questions inside each other; `None` if there are `max` already.
pub(crate) fn nested<L, R>(
    linker: &mut L,
    count: fn(&mut L) -> &mut u32,
    max: u32,
    ask: impl FnOnce(&mut L) -> R,
) -> Option<R> {
    if *count(linker) >= max {
        return None;
    }
    *count(linker) += 1;
    let answer = ask(linker);
    *count(linker) -= 1;
    Some(answer)
}
