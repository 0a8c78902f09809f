//! Measures the daemon on real trees the way a user meets it, with private XDG directories, and
//! prints every figure beside the yardstick of the same run: tree-sitter parsing the same files,
//! `find` looking at them, and `/bin/true` for process start. `scripts/bench.sh` fetches the trees
//! and calls this.

mod daemon;
mod draw;
mod interfaces;
mod offers;
mod requests;
mod tree;

use anyhow::{Context, Result, bail};
use clap::Parser;
use daemon::{Daemon, Programs};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tree::Tree;

/// Measures cold build, restart, save to visible, pack latency, memory and size.
#[derive(Parser)]
struct Args {
    /// Directory with the binaries `ctl`, `indexd` and `examples/parse_only`.
    #[arg(long, default_value = "target/dist")]
    bin: PathBuf,
    /// A tree to measure, as NAME=DIR. It is copied first, never edited.
    #[arg(long = "tree", required = true, value_parser = named_dir)]
    trees: Vec<(String, PathBuf)>,
    /// Cold builds, each beside a parse-only run.
    #[arg(long, default_value_t = 3)]
    builds: usize,
    /// Queries for `ctl pack`, each a new one, asked twice.
    #[arg(long, default_value_t = 100)]
    packs: usize,
    /// Edits for save to visible.
    #[arg(long, default_value_t = 100)]
    saves: usize,
    /// Instead: this many random requests about each tree, each answer counted again.
    #[arg(long, value_name = "N", conflicts_with = "json")]
    requests: Option<u64>,
    /// Instead: edits of this many definitions with few, more, many and very many dependent files,
    /// each edit checked for what it links again.
    #[arg(long, value_name = "N", conflicts_with_all = ["json", "requests"])]
    interfaces: Option<usize>,
    /// Writes the figures as JSON to this file.
    #[arg(long)]
    json: Option<PathBuf>,
}

fn named_dir(text: &str) -> Result<(String, PathBuf), String> {
    let (name, dir) = text.split_once('=').ok_or("expected NAME=DIR")?;
    let dir = PathBuf::from(dir);
    if dir.is_dir() { Ok((name.to_owned(), dir)) } else { Err(format!("no directory {}", dir.display())) }
}

fn main() -> Result<()> {
    let args = Args::parse();
    let programs = Programs::find(&args.bin)?;
    let mut all = Vec::new();
    for (name, dir) in &args.trees {
        eprintln!("== {name}");
        if let Some(n) = args.requests {
            let seen =
                requests::run(&programs, name, dir, n).with_context(|| format!("asking about {name}"))?;
            println!(
                "{name}: {} packs and {} of sources offered, none above its budget, every excerpt as in its file, equal requests with equal bytes",
                seen.n_packs, seen.n_offers
            );
            println!("  budget used        {:.1} % where something had no room", seen.used_percent);
            println!("  sections           {:?}", seen.sections);
            println!("  left out for       {:?}", seen.reasons);
            println!("  of each kind       {:?}", seen.kinds);
            continue;
        }
        if let Some(n) = args.interfaces {
            interfaces::run(&programs, name, dir, n)
                .with_context(|| format!("editing interfaces of {name}"))?;
            continue;
        }
        let figures = measure(&args, &programs, name, dir).with_context(|| format!("measuring {name}"))?;
        print_figures(name, &figures);
        all.push(json!({ "tree": name, "figures": figures }));
    }
    if let Some(path) = &args.json {
        std::fs::write(path, serde_json::to_string_pretty(&all)?)?;
    }
    Ok(())
}

/// What the first builds of a tree cost.
struct Built {
    /// What the last run of parse-only printed.
    parse: Value,
    figures: Value,
}

/// Builds the index of a tree some times, each time beside a run of parse-only; gives the last daemon.
fn build(args: &Args, programs: &Programs, tree: &Tree) -> Result<(Daemon, Built)> {
    let mut ratios = Vec::new();
    let (mut build_cpu, mut parse_cpu, mut build_wall, mut peak) = (Vec::new(), Vec::new(), Vec::new(), 0);
    let mut parse = Value::Null;
    let mut last = None;
    for _ in 0..args.builds.max(1) {
        drop(last.take());
        parse = programs.parse_only(&tree.root())?;
        let seconds = parse["cpu_seconds"].as_f64().context("parse_only printed no figure")?;
        let daemon = Daemon::start(programs)?;
        let start = Instant::now();
        daemon.index(&tree.root())?;
        build_wall.push(start.elapsed().as_secs_f64());
        let cpu = daemon.cpu()?.as_secs_f64();
        peak = peak.max(daemon.peak_anon_kib());
        ratios.push(cpu / seconds);
        build_cpu.push(cpu);
        parse_cpu.push(seconds);
        last = Some(daemon);
    }
    let figures = json!({
        "cpu_seconds": median(&build_cpu), "wall_seconds": median(&build_wall),
        "parse_only_cpu_seconds": median(&parse_cpu), "ratio": median(&ratios), "peak_anon_mib": peak / 1024,
    });
    Ok((last.context("no build ran")?, Built { parse, figures }))
}

/// Edits the tree; gives the milliseconds until each edit is found.
fn save(args: &Args, daemon: &Daemon, tree: &Tree) -> Result<Vec<f64>> {
    let mut save_ms = Vec::new();
    for i in 0..args.saves {
        let probe = tree.edit(i)?;
        let t = Instant::now();
        if !daemon.finds(&tree.root(), &probe)? {
            bail!("{probe} was saved and is not found");
        }
        save_ms.push(t.elapsed().as_secs_f64() * 1e3);
    }
    Ok(save_ms)
}

fn measure(args: &Args, programs: &Programs, name: &str, dir: &Path) -> Result<Value> {
    let tree = Tree::copy(name, dir)?;
    let (mut daemon, built) = build(args, programs, &tree)?;
    // What a build leaves behind counts, too.
    let mut packing_after_build = 0;
    for i in 0..args.packs {
        daemon.pack(&tree.root(), &tree.query(i))?;
        packing_after_build = packing_after_build.max(daemon.anon_kib()?);
    }
    let status = daemon.status()?;
    let index_bytes = daemon.index_bytes()?;
    let source_bytes = tree.bytes()?;
    let n_files = tree.n_files()?;

    let (mut restart_us, mut find_us) = (Vec::new(), Vec::new());
    for _ in 0..5 {
        find_us.push(tree.find_cpu()?.as_secs_f64() * 1e6 / n_files as f64);
        daemon = daemon.restart(programs, false)?;
        daemon.index(&tree.root())?;
        restart_us.push(daemon.tree_cpu()?.as_secs_f64() * 1e6 / n_files as f64);
    }

    daemon = daemon.restart(programs, true)?;
    daemon.index(&tree.root())?;
    let before = daemon.cpu()?;
    daemon.settle()?;
    let counting = daemon.cpu()?.saturating_sub(before);

    let (mut pack_ms, mut again_ms, mut true_ms) = (Vec::new(), Vec::new(), Vec::new());
    daemon.pack(&tree.root(), tree.queries()[0])?;
    let mut packing = 0;
    for i in 0..args.packs {
        let query = tree.query(i);
        for list in [&mut pack_ms, &mut again_ms] {
            let t = Instant::now();
            let bytes = daemon.pack(&tree.root(), &query)?;
            list.push(t.elapsed().as_secs_f64() * 1e3);
            if bytes < 100 {
                bail!("an empty pack for {query:?}");
            }
        }
        let t = Instant::now();
        std::process::Command::new("/bin/true").status()?;
        true_ms.push(t.elapsed().as_secs_f64() * 1e3);
        packing = packing.max(daemon.anon_kib()?);
    }

    let save_ms = save(args, &daemon, &tree)?;
    drop(daemon);
    Ok(json!({
        "source_bytes": source_bytes, "n_files": n_files, "parse": built.parse, "status": status,
        "cold_build": built.figures,
        "restart_cpu_us_per_file": median(&restart_us), "find_cpu_us_per_file": median(&find_us),
        "token_counting_cpu_seconds": counting.as_secs_f64(),
        "pack_ms": { "p50": percentile(&pack_ms, 50.0), "p99": percentile(&pack_ms, 99.0) },
        "pack_again_ms": { "p50": percentile(&again_ms, 50.0), "p99": percentile(&again_ms, 99.0) },
        "true_ms": { "p50": percentile(&true_ms, 50.0), "p99": percentile(&true_ms, 99.0) },
        "packing_anon_mib": packing / 1024, "packing_after_build_anon_mib": packing_after_build / 1024,
        "save_visible_ms": { "p50": percentile(&save_ms, 50.0), "p95": percentile(&save_ms, 95.0) },
        "index_bytes": index_bytes, "index_ratio": index_bytes as f64 / source_bytes as f64,
    }))
}

fn print_figures(name: &str, f: &Value) {
    let n = |p: &str| f.pointer(p).and_then(Value::as_f64).unwrap_or(f64::NAN);
    println!("{name}: {} files, {:.1} MB", n("/n_files"), n("/source_bytes") / 1e6);
    println!(
        "  cold build         {:.2} x parse-only CPU ({:.1} s against {:.1} s; {:.1} s wall), peak private memory {} MiB",
        n("/cold_build/ratio"),
        n("/cold_build/cpu_seconds"),
        n("/cold_build/parse_only_cpu_seconds"),
        n("/cold_build/wall_seconds"),
        n("/cold_build/peak_anon_mib")
    );
    println!(
        "  no-change restart  {:.1} us CPU a file (find: {:.1})",
        n("/restart_cpu_us_per_file"),
        n("/find_cpu_us_per_file")
    );
    println!(
        "  save to visible    p50 {:.1} ms, p95 {:.1} ms",
        n("/save_visible_ms/p50"),
        n("/save_visible_ms/p95")
    );
    println!(
        "  ctl pack           p50 {:.1} ms, p99 {:.1} ms (/bin/true: {:.1}, {:.1})",
        n("/pack_ms/p50"),
        n("/pack_ms/p99"),
        n("/true_ms/p50"),
        n("/true_ms/p99")
    );
    println!(
        "  the same again     p50 {:.1} ms, p99 {:.1} ms",
        n("/pack_again_ms/p50"),
        n("/pack_again_ms/p99")
    );
    println!("  counting tokens    {:.1} s CPU, once, when idle", n("/token_counting_cpu_seconds"));
    println!(
        "  memory, packing    {} MiB private, {} MiB in the daemon that built the index",
        n("/packing_anon_mib"),
        n("/packing_after_build_anon_mib")
    );
    println!("  index size         {:.2} x source", n("/index_ratio"));
}

fn percentile(values: &[f64], p: f64) -> f64 {
    let mut v = values.to_vec();
    v.sort_by(f64::total_cmp);
    let at = ((p / 100.0) * (v.len().saturating_sub(1)) as f64).round() as usize;
    v.get(at).copied().unwrap_or(f64::NAN)
}

fn median(values: &[f64]) -> f64 {
    percentile(values, 50.0)
}

/// How often private memory is sampled while an index is built.
const SAMPLE: Duration = Duration::from_millis(20);
