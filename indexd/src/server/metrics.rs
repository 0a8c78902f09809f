//! What packs cost and held since the start of the daemon.

use indexd_pack::pack::Stats;
use indexd_proto::workspace::{PackCounts, ShadowCounts};
use std::collections::{BTreeSet, VecDeque};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Latencies kept, for the percentiles: hours of ordinary use.
const LATENCIES_MAX: usize = 1_000;

/// The counters; shared by all requests.
#[derive(Default)]
pub struct Metrics(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    counts: PackCounts,
    budget_tokens: u64,
    /// Microseconds, the latest last.
    latencies: VecDeque<u64>,
}

impl Metrics {
    /// Counts a pack that was assembled.
    pub fn assembled(&self, stats: &Stats) {
        self.with(|m| {
            let c = &mut m.counts;
            c.assembled += 1;
            c.candidates += stats.found;
            c.items += stats.included;
            c.merged += stats.merged;
            c.duplicates += stats.dropped_by_reason.get("duplicate").copied().unwrap_or_default();
            c.tokens += stats.token_count;
            m.budget_tokens += stats.token_budget;
        });
    }

    /// Counts a pack that was answered, from the cache or not, and the time from the open snapshot
    /// to the answer.
    pub fn answered(&self, took: Duration) {
        self.with(|m| {
            m.counts.answered += 1;
            if m.latencies.len() == LATENCIES_MAX {
                m.latencies.pop_front();
            }
            m.latencies.push_back(took.as_micros() as u64);
        });
    }

    /// Counts a look into the cache of packs.
    pub fn looked_up(&self, hit: bool) {
        self.with(|m| *if hit { &mut m.counts.cache_hits } else { &mut m.counts.cache_misses } += 1);
    }

    /// Adds a comparison of a search with the pack of the same text, or a failed one.
    pub fn shadowed(&self, one: ShadowCounts) {
        self.with(|m| {
            let all = &mut m.counts.shadow;
            all.runs += one.runs;
            all.failed += one.failed;
            all.in_both += one.in_both;
            all.search_only += one.search_only;
            all.pack_only += one.pack_only;
        });
    }

    /// The counts so far.
    pub fn counts(&self) -> PackCounts {
        self.with(|m| {
            let mut sorted: Vec<u64> = m.latencies.iter().copied().collect();
            sorted.sort_unstable();
            // The nearest rank: the smallest latency that so many percent do not exceed.
            let percentile = |p: usize| sorted.get((sorted.len() * p).div_ceil(100).max(1) - 1).copied();
            PackCounts {
                budget_used_percent: (m.counts.tokens * 100).checked_div(m.budget_tokens).unwrap_or(0),
                latency_micros_p50: percentile(50).unwrap_or(0),
                latency_micros_p99: percentile(99).unwrap_or(0),
                latency_micros_max: percentile(100).unwrap_or(0),
                ..m.counts.clone()
            }
        })
    }

    fn with<T>(&self, f: impl FnOnce(&mut Inner) -> T) -> T {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Compares the chunks of one search with those of one pack, by chunk uid.
pub fn compare<'a>(
    search: impl Iterator<Item = &'a str>,
    pack: impl Iterator<Item = &'a str>,
) -> ShadowCounts {
    let (search, pack): (BTreeSet<&str>, BTreeSet<&str>) = (search.collect(), pack.collect());
    let in_both = search.intersection(&pack).count() as u64;
    let [search_only, pack_only] = [search, pack].map(|all| all.len() as u64 - in_both);
    ShadowCounts { runs: 1, failed: 0, in_both, search_only, pack_only }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn searches_and_packs_are_compared_by_chunk() {
        let metrics = Metrics::default();
        let compared = compare(["a", "b", "b"].into_iter(), ["b", "c", "d"].into_iter());
        assert_eq!((compared.in_both, compared.search_only, compared.pack_only), (1, 1, 2));
        metrics.shadowed(compared);
        metrics.shadowed(compared);
        metrics.shadowed(ShadowCounts { failed: 1, ..ShadowCounts::default() });
        let s = metrics.counts().shadow;
        assert_eq!((s.runs, s.failed, s.in_both, s.search_only, s.pack_only), (2, 1, 2, 2, 4));
    }

    #[test]
    fn hits_are_counted_apart_from_misses() {
        let metrics = Metrics::default();
        [true, false, true].into_iter().for_each(|hit| metrics.looked_up(hit));
        let c = metrics.counts();
        assert_eq!((c.cache_hits, c.cache_misses), (2, 1));
    }

    #[test]
    fn percentiles_are_of_the_latest_answers() {
        let metrics = Metrics::default();
        assert_eq!(metrics.counts(), PackCounts::default());
        metrics.answered(Duration::from_secs(9));
        for micros in (1..=LATENCIES_MAX as u64).rev() {
            metrics.answered(Duration::from_micros(micros));
        }
        let c = metrics.counts();
        assert_eq!((c.latency_micros_p50, c.latency_micros_p99, c.latency_micros_max), (500, 990, 1_000));
        assert_eq!(c.answered, 1_001);
    }

    #[test]
    fn shares_are_of_all_packs() {
        let metrics = Metrics::default();
        for (tokens, merged) in [(100, 1), (900, 3)] {
            let stats =
                Stats { found: 9, merged, token_count: tokens, token_budget: 1_000, ..Stats::default() };
            metrics.assembled(&stats);
        }
        let c = metrics.counts();
        assert_eq!((c.assembled, c.candidates, c.merged, c.tokens), (2, 18, 4, 1_000));
        assert_eq!((c.budget_used_percent, c.answered, c.latency_micros_p50), (50, 0, 0));
    }
}
