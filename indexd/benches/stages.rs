//! Each stage by itself, in the order in which an edit and a query meet them.
//!
//! `cargo bench -p indexd` measures over the fixtures of this repository,
//! `INDEXD_BENCH_TREE=DIR cargo bench -p indexd -- link` one stage over a tree of yours (read, never
//! written). Times are of all sampled files of a language together, so compare them with `parse`,
//! tree-sitter alone on the same files.

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use indexd::config::Config;
use indexd::workspace::indexing::engine::{Engine, Setup};
use indexd::workspace::indexing::recovery::Verify;
use indexd::workspace::indexing::stages::{self, Loaded, Parts};
use indexd::workspace::tree::Tree;
use indexd::workspace::tree::known::KnownFiles;
use indexd_lang::Extracted;
use indexd_lang::Parses;
use indexd_model::terms::Vocabulary;
use indexd_model::{DefIdx, Facts, FactsView, FileDoc, IndexView, Language, RepoPath};
use indexd_os::Root;
use indexd_pack::request::SeedProvider;
use indexd_pack::retrieve::search;
use indexd_pack::unit::Units;
use indexd_proto::sources::SourceType;
use indexd_rim::sources::{ContextChunk, Costs, Ledger, Settings, chunk, deduplicate, rank, select, text};
use indexd_store::Snapshot;
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// As in the daemon.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Files of a language that a stage is measured on, spread over the tree.
const FILES_MAX: usize = 200;
/// Queries that retrieval and packing are measured on.
const QUERIES: usize = 16;
const LANGUAGES: [&str; 3] = ["go", "python", "text"];

fn main() {
    // Parsers recurse with the nesting of the source.
    let run = std::thread::Builder::new().stack_size(64 << 20).spawn(divan::main);
    run.expect("a thread").join().expect("the benchmarks end well");
}

/// A copy of the tree and its index.
struct World {
    _dir: tempfile::TempDir,
    root: PathBuf,
    engine: RefCell<Engine>,
    paths: Vec<RepoPath>,
}

thread_local! {
    static WORLD: &'static World = Box::leak(Box::new(World::new()));
}

fn world() -> &'static World {
    WORLD.with(|world| *world)
}

impl World {
    fn new() -> Self {
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/packs");
        let source = std::env::var_os("INDEXD_BENCH_TREE").map_or(fixtures, PathBuf::from);
        let dir = tempfile::tempdir().expect("a temporary folder");
        let root = dir.path().canonicalize().expect("a path").join("repo");
        let found = Tree::new(&source, &[], KnownFiles::default()).sweep().expect("the tree can be walked");
        let paths: Vec<RepoPath> = found.changed.into_keys().collect();
        for path in &paths {
            let to = root.join(&**path);
            std::fs::create_dir_all(to.parent().expect("below the root")).expect("a folder");
            std::fs::copy(source.join(&**path), to).expect("a file that can be read");
        }
        let setup = Setup {
            root: root.clone(),
            home: root.with_file_name("index"),
            config: Arc::new(Config::default()),
            parts: Parts::default(),
            verify: Verify::InProcess,
            sharing: None,
        };
        let mut engine = Engine::open(setup).expect("an engine");
        engine.build(None, &|_| {}, &|| false).expect("an index");
        Self { _dir: dir, root, engine: RefCell::new(engine), paths }
    }

    fn snapshot(&self) -> Snapshot {
        self.engine.borrow().store().expect("an index").snapshot().expect("a snapshot")
    }

    /// Files of a language, spread over the tree.
    fn files(&self, language: &str) -> Vec<RepoPath> {
        let of = |path: &RepoPath| match path.rsplit_once('.').map(|p| p.1) {
            Some("go") => "go",
            Some("py" | "pyi") => "python",
            _ => "text",
        };
        let all: Vec<&RepoPath> = self.paths.iter().filter(|p| of(p) == language).collect();
        spread(&all, FILES_MAX).map(|p| (*p).clone()).collect()
    }

    fn load(&self, path: &RepoPath) -> Loaded {
        let beneath = Root::open(&self.root).expect("the root");
        stages::load(&beneath, path).expect("a file that can be read").expect("a file")
    }

    fn loaded(&self, language: &str) -> Vec<Loaded> {
        self.files(language).iter().map(|p| self.load(p)).collect()
    }

    /// Names of definitions, as someone would type them.
    fn queries(&self) -> Vec<String> {
        let view = self.snapshot();
        let mut names = Vec::new();
        for file in view.files() {
            let n = view.facts(file).expect("facts").interface.defs.len() as u32;
            names.extend((0..n).map(|i| view.def(view.def_doc(file, DefIdx(i))).qualified.to_string()));
        }
        spread(&names, QUERIES).map(|n| format!("where is {n} decided")).collect()
    }
}

/// At most `n` elements at even distances.
fn spread<T>(all: &[T], n: usize) -> impl Iterator<Item = &T> {
    all.iter().step_by(all.len().div_ceil(n).max(1))
}

fn bytes(files: &[Loaded]) -> BytesCount {
    BytesCount::new(files.iter().map(|f| f.size as usize).sum::<usize>())
}

fn extracted(files: &[Loaded]) -> Vec<Extracted> {
    files.iter().map(|f| stages::extract(&Parts::default(), f)).collect()
}

/// A walk over an unchanged tree.
#[divan::bench]
fn sweep(bencher: Bencher) {
    let world = world();
    bencher
        .counter(ItemsCount::new(world.paths.len()))
        .bench_local(|| world.engine.borrow_mut().sweep().expect("a walk"));
}

/// Reading and hashing.
#[divan::bench(args = LANGUAGES)]
fn load(bencher: Bencher, language: &str) {
    let (world, paths) = (world(), world().files(language));
    bencher
        .counter(bytes(&world.loaded(language)))
        .bench_local(|| paths.iter().map(|p| world.load(p).size).sum::<u64>());
}

/// The yardstick: tree-sitter alone.
#[divan::bench(args = LANGUAGES[..2].iter())]
fn parse(bencher: Bencher, language: &str) {
    let files = world().loaded(language);
    let language = if language == "go" { Language::Go } else { Language::Python };
    bencher.counter(bytes(&files)).bench_local(|| {
        for file in &files {
            let text = std::str::from_utf8(file.bytes.as_deref().unwrap_or_default()).unwrap_or_default();
            drop(black_box(Parses::of(language).and_then(|parses| parses.parse(text, u64::MAX))));
        }
    });
}

/// From bytes to facts, parsing included.
#[divan::bench(args = LANGUAGES)]
fn extract(bencher: Bencher, language: &str) {
    let files = world().loaded(language);
    bencher.counter(bytes(&files)).bench_local(|| extracted(&files));
}

/// From facts to terms.
#[divan::bench(args = LANGUAGES)]
fn terms(bencher: Bencher, language: &str) {
    let files = world().loaded(language);
    let facts = extracted(&files);
    bencher.counter(bytes(&files)).bench_local(|| {
        let mut vocabulary = Vocabulary::default();
        for (file, e) in files.iter().zip(&facts) {
            black_box(stages::terms(&e.facts, &file.path, &e.text, &mut vocabulary));
        }
    });
}

/// From facts and the interfaces of others to edges.
#[divan::bench(args = LANGUAGES[..2].iter())]
fn link(bencher: Bencher, language: &str) {
    let files = world().loaded(language);
    let facts = extracted(&files);
    let view = world().snapshot();
    let docs: Vec<FileDoc> =
        files.iter().map(|f| view.file_by_path(&f.path).expect("an indexed file")).collect();
    bencher.counter(bytes(&files)).bench_local(|| {
        for (file, e) in docs.iter().zip(&facts) {
            black_box(stages::link(&Parts::default(), *file, Facts::inside(&e.facts), (None, None), &view));
        }
    });
}

/// One save of a file whose body changed, to its commit.
#[divan::bench(args = LANGUAGES)]
fn save(bencher: Bencher, language: &str) {
    let world = world();
    let files = world.files(language);
    let Some(path) = files.get(files.len() / 2) else { return };
    let (at, before) = (world.root.join(&**path), world.load(path).bytes.expect("source"));
    let mark = if language == "go" { "// " } else { "# " };
    let mut n = 0;
    bencher
        .with_inputs(|| {
            n += 1;
            let changed = [&before, format!("\n{mark}save {n}\n").as_bytes()].concat();
            std::fs::write(&at, changed).expect("a file that can be written");
        })
        .bench_local_values(|()| {
            let mut engine = world.engine.borrow_mut();
            let changes = engine.examine([&**path]).expect("a look at the file");
            engine.apply(&changes, true, &|| false).expect("an update");
        });
    std::fs::write(&at, before).expect("a file that can be written");
}

/// From queries to ranked candidates.
#[divan::bench]
fn retrieval(bencher: Bencher) {
    let (view, queries) = (world().snapshot(), world().queries());
    let tuning = indexd_pack::Tuning::default();
    bencher.counter(ItemsCount::new(queries.len())).bench_local(|| {
        for text in &queries {
            black_box(search(&mut Units::new(&view), text, &[], &tuning.weights, SeedProvider::Hybrid));
        }
    });
}

/// From queries to whole packs of 8,000 tokens.
#[divan::bench]
fn pack(bencher: Bencher) {
    let (view, queries, config) = (world().snapshot(), world().queries(), indexd_pack::Config::default());
    let counter = indexd_text::counter(&config.tokenizer, &indexd_text::CounterOptions::default());
    let counter = counter.expect("a known tokenizer");
    bencher.counter(ItemsCount::new(queries.len())).bench_local(|| {
        for text in &queries {
            black_box(packed(&view, text, &config, &*counter));
        }
    });
}

fn packed(
    view: &Snapshot,
    text: &str,
    config: &indexd_pack::Config,
    counter: &dyn indexd_text::TokenCounter,
) -> indexd_pack::Pack {
    let tuning = indexd_pack::Tuning::default();
    let context = indexd_pack::Context::new(config, &tuning, counter);
    let request = serde_json::json!({"query": text, "budgets": {"maxTotalTokens": 8_000}});
    let request = indexd_pack::Request::from_json(request).expect("a request");
    indexd_pack::build(view, &request, &context).expect("a pack")
}

/// Counting tokens of whole files, nothing remembered.
#[divan::bench(args = LANGUAGES)]
fn count_tokens(bencher: Bencher, language: &str) {
    let files = world().loaded(language);
    let options = indexd_text::CounterOptions { cache_texts: 0, ..Default::default() };
    let counter = indexd_text::counter("o200k_base", &options).expect("a known tokenizer");
    let texts: Vec<String> = files
        .iter()
        .map(|f| String::from_utf8_lossy(f.bytes.as_deref().unwrap_or_default()).into_owned())
        .collect();
    use indexd_text::TokenCounter as _;
    bencher
        .counter(bytes(&files))
        .bench_local(|| texts.iter().map(|t| u64::from(counter.count_tokens(t))).sum::<u64>());
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
        let exact = |chunks: &[&ContextChunk]| chunks.iter().map(|c| bound(c)).sum();
        select(c, &settings, &mut ledger, &Costs { bound: &bound, exact: &exact }).0.len()
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

/// How often counts of tokens are remembered while packs are built: printed, at least 80 % are wanted.
#[divan::bench(sample_count = 1, sample_size = 1)]
fn token_cache() {
    let (view, queries, config) = (world().snapshot(), world().queries(), indexd_pack::Config::default());
    let counter = indexd_text::counter(&config.tokenizer, &Default::default()).expect("a known tokenizer");
    for _ in 0..2 {
        for text in &queries {
            packed(&view, text, &config, &*counter);
        }
    }
    let (hits, misses) = counter.lookups();
    println!(
        "token_cache: {} % of {} counts were remembered",
        hits * 100 / (hits + misses).max(1),
        hits + misses
    );
}
