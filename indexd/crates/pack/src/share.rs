//! Work on many things that may be split between two threads.

use indexd_model::IndexView;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Chunks of an index below which nothing takes long enough to be shared.
const CHUNKS_MIN: u64 = 10_000;

/// Does `work` for each number below `n`, each once, on two threads where the view has them; gives
/// the results in order. Whoever is done with one takes the next, so that a thread that comes late,
/// or never, holds nothing up. Each thread has one of the `states`.
///
/// A second thread costs about 50 us: pieces together should take several times as long, so nothing
/// is shared in small indexes.
pub fn share<S: Send, T: Send>(
    view: &dyn IndexView,
    n: usize,
    states: &mut [S; 2],
    work: impl Fn(&dyn IndexView, &mut S, usize) -> T + Sync,
) -> Vec<T> {
    let [first, second] = states;
    if n < 2 || view.stats().n_chunks < CHUNKS_MIN {
        return (0..n).map(|i| work(view, first, i)).collect();
    }
    let next = AtomicUsize::new(0);
    let run = |view: &dyn IndexView, state: &mut S, done: &mut Vec<(usize, T)>| {
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= n {
                break;
            }
            done.push((i, work(view, state, i)));
        }
    };
    let (mut here, mut there) = (Vec::with_capacity(n), Vec::new());
    view.both(&mut || run(view, first, &mut here), &mut |view| run(view, second, &mut there));
    here.append(&mut there);
    here.sort_unstable_by_key(|done| done.0);
    here.into_iter().map(|done| done.1).collect()
}
