//! The time that each stage of the packer may take: CPU time of the thread, the least of five runs, so that other
//! work on the machine does not count. `cargo bench -p indexd -- packer` has the figures of an optimised build.

use crate::packer_chunks::chunks;
use crate::support::{go, python, tuning};
use indexd_pack::contract::budget::Ledger;
use indexd_pack::contract::chunking::LineChunker;
use indexd_pack::contract::dedup::ContentDeduplicator;
use indexd_pack::contract::format::MarkdownFormatter;
use indexd_pack::contract::ranking::WeightedRanker;
use indexd_pack::contract::selection::RankSelector;
use indexd_pack::contract::{
    Chunker as _, ContextChunk, Deduplicator as _, Formatter as _, Ranker as _, Selector as _, Settings,
};
use indexd_pack::{Config, Context, Request, build};
use indexd_text::{CachedCounter, CounterOptions, counter};
use rustix::time::{ClockId, clock_gettime};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// CPU time of this thread.
fn cpu() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Checks that the fastest of five runs takes at most so many milliseconds.
#[track_caller]
fn check<I, O>(most_ms: u64, input: impl Fn() -> I, run: impl Fn(I) -> O, is_right: impl Fn(&O) -> bool) {
    let time = |_| {
        let input = input();
        let started = cpu();
        let output = run(input);
        let taken = cpu() - started;
        assert!(is_right(&output));
        taken
    };
    let fastest = (0..5).map(time).min().expect("five runs");
    assert!(fastest <= Duration::from_millis(most_ms), "{fastest:?} of {most_ms} ms");
}

fn o200k() -> Arc<CachedCounter> {
    counter("o200k_base", &CounterOptions::default()).expect("a known name")
}

fn ranked(n: usize) -> Vec<ContextChunk> {
    WeightedRanker(&Settings::default()).rank(chunks(n))
}

#[test]
fn ranking_takes_50_ms_for_100_chunks_and_100_ms_for_1_000() {
    for (n, ms) in [(100, 50), (1_000, 100)] {
        check(ms, || chunks(n), |c| WeightedRanker(&Settings::default()).rank(c), |ranked| ranked.len() == n);
    }
}

#[test]
fn deduplication_takes_50_ms() {
    let counter = o200k();
    check(50, || ranked(1_000), |c| ContentDeduplicator.deduplicate(c, &*counter), |out| !out.0.is_empty());
}

#[test]
fn selection_takes_25_ms() {
    let settings = Settings::default();
    let select = |c| {
        let mut ledger = Ledger::new(60_000, Default::default());
        RankSelector(&settings).select(c, &mut ledger, &|c| u64::from(c.token_count) + 24)
    };
    check(25, || ranked(1_000), select, |out| out.chosen.len() > 100 && !out.excluded.is_empty());
}

#[test]
fn formatting_takes_50_ms() {
    let all = chunks(1_000);
    check(50, || (), |()| MarkdownFormatter.format(&all), |text| text.len() > 100_000);
}

#[test]
fn chunking_a_megabyte_takes_200_ms() {
    let one = "// F counts.\nfunc F%(n int) int {\n\ttotal := 0\n\tfor i := 0; i < n; i++ {\n\t\ttotal += i * %\n\t}\n\treturn total\n}\n\n";
    let mut text = "package big\n\n".to_owned();
    for n in 0.. {
        if text.len() >= 1_000_000 {
            break;
        }
        text += &one.replace('%', &n.to_string());
    }
    let (counter, settings) = (o200k(), Settings::default());
    let n_lines = text.lines().count();
    let covers = |pieces: &Vec<indexd_pack::contract::LineRange>| {
        pieces.len() > 100 && pieces.last().is_some_and(|p| p.end as usize == n_lines)
    };
    check(200, || (), |()| LineChunker(&settings).chunk(&text, Some("big.go"), &*counter), covers);
}

/// Counts of tokens are remembered: while some questions are asked with three budgets, seven of ten counts
/// are known.
#[test]
fn most_counts_of_tokens_are_remembered() {
    let (config, counter) = (Config::default(), o200k());
    let context = Context::new(&config, tuning(), &*counter);
    for budget in [4_000, 8_000, 16_000] {
        for (view, queries) in [
            (go(), ["retry delay", "client errors", "log level"]),
            (python(), ["price", "basket total", "rate"]),
        ] {
            for query in queries {
                let request =
                    Request::from_json(json!({"query": query, "budgets": {"maxTotalTokens": budget}}))
                        .expect("a request");
                build(&view, &request, &context).expect("a pack");
            }
        }
    }
    let (hits, misses) = counter.lookups();
    assert!(hits + misses > 200 && hits * 100 >= (hits + misses) * 70, "{hits} of {}", hits + misses);
}
