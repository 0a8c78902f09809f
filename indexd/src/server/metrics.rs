//! What packs cost and held since the start of the daemon.

use indexd_pack::pack::Stats;
use indexd_proto::workspace::PackCounts;
use std::collections::VecDeque;
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

#[cfg(test)]
mod tests {
    use super::*;

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
