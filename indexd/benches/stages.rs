//! Stages of packing offered sources, each by itself: `cargo bench -p indexd`. The examples `components` and
//! `packing` split a first build and a pack of a repository.

use divan::Bencher;
use divan::counter::BytesCount;
use indexd_model::RepoPath;
use indexd_proto::sources::SourceType;
use indexd_rim::sources::{ContextChunk, Costs, Ledger, Settings, chunk, deduplicate, rank, select, text};

/// As in the daemon.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() {
    // Parsers recurse with the nesting of the source.
    let run = std::thread::Builder::new().stack_size(64 << 20).spawn(divan::main);
    run.expect("a thread").join().expect("the benchmarks end well");
}

const CHUNKS: [usize; 2] = [100, 1_000];

/// Chunks of about 100 tokens: from four kinds of sources, eight chunks of each file.
fn chunks(n: usize) -> Vec<ContextChunk> {
    let of = |i: usize| ContextChunk {
        content: format!("func F{i}() int {{\n\treturn {i} + base({i})\n}}\n").repeat(6),
        file_path: Some(format!("pkg/file{}.go", i % (n / 8 + 1))),
        start_line: (i as u32 % 50) * 20 + 1,
        end_line: (i as u32 % 50) * 20 + 18,
        token_count: 110,
        source_type: SourceType::ALL[i % 4],
        source: i,
        relevance: (i * 7919 % 1000) as f64 / 1000.0,
        timestamp: Some((i * 31 % 977) as i64),
        score: 0.0,
        merged_from: Vec::new(),
        also_from: Vec::new(),
    };
    (0..n).map(of).collect()
}

/// Ranking: at most 50 ms for 100 chunks and 100 ms for 1,000.
#[divan::bench(args = CHUNKS)]
fn packer_rank(bencher: Bencher, n: usize) {
    let settings = Settings::default();
    bencher.with_inputs(|| chunks(n)).bench_local_values(|c| rank(c, &settings));
}

/// Deduplication: at most 50 ms.
#[divan::bench(args = CHUNKS)]
fn packer_dedup(bencher: Bencher, n: usize) {
    let counter = indexd_text::counter("o200k_base", &Default::default()).expect("a known tokenizer");
    let settings = Settings::default();
    let ranked = || rank(chunks(n), &settings);
    bencher.with_inputs(ranked).bench_local_values(|c| deduplicate(c, &*counter));
}

/// Selection: at most 25 ms.
#[divan::bench(args = CHUNKS)]
fn packer_select(bencher: Bencher, n: usize) {
    let settings = Settings::default();
    let ranked = || rank(chunks(n), &settings);
    bencher.with_inputs(ranked).bench_local_values(|c| {
        let mut ledger = Ledger::new(60_000, Default::default());
        let bound = |c: &ContextChunk| u64::from(c.token_count) + 24;
        let exact = |chunks: &[&ContextChunk]| Ok(chunks.iter().map(|c| bound(c)).sum());
        select(c, &settings, &mut ledger, &Costs { bound: &bound, exact: &exact })
    });
}

/// Formatting: at most 50 ms.
#[divan::bench(args = CHUNKS)]
fn packer_format(bencher: Bencher, n: usize) {
    let chosen = chunks(n);
    let chosen: Vec<&ContextChunk> = chosen.iter().collect();
    bencher.bench_local(|| text::format(&chosen, None));
}

/// Chunking a file of 1 MB: at most 200 ms, for the engine (parsing included) and for the packer.
#[divan::bench(args = ["engine", "packer"])]
fn chunk_1_mb(bencher: Bencher, who: &str) {
    let one = "// F counts.\nfunc F%(n int) int {\n\ttotal := 0\n\tfor i := 0; i < n; i++ {\n\t\ttotal += i * %\n\t}\n\treturn total\n}\n\n";
    let mut text = "package big\n\n".to_owned();
    for n in 0.. {
        if text.len() >= 1_000_000 {
            break;
        }
        text += &one.replace('%', &n.to_string());
    }
    let path = RepoPath::new("big.go").expect("a path");
    let counter = indexd_text::counter("o200k_base", &Default::default()).expect("a known tokenizer");
    let settings = Settings::default();
    bencher.counter(BytesCount::new(text.len())).bench_local(|| match who {
        "engine" => indexd_lang::extract(&path, text.as_bytes()).facts.chunks.len(),
        _ => chunk(&text, Some("big.go"), &settings, &*counter, &|| false).len(),
    });
}
