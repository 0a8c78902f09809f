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

use anyhow::{Context, Result, ensure};
use clap::Parser;
use daemon::{Daemon, Programs};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tree::Tree;

/// Measures cold build, restart, save to visible, pack latency, memory and size.
#[derive(Parser)]
struct Args {
    /// Directory with the binaries `ctl` and `indexd`.
    #[arg(long, default_value = "target/dist")]
    bin: PathBuf,
    /// A tree to measure, as NAME=DIR. It is copied first, never edited.
    #[arg(long = "tree", required = true, value_parser = named_dir)]
    trees: Vec<(String, PathBuf)>,
    /// Cold builds, each beside parsing alone.
    #[arg(long, default_value_t = 3)]
    builds: usize,
    /// Queries for `ctl pack`, each a new one, asked twice.
    #[arg(long, default_value_t = 100)]
    packs: usize,
    /// Edits for save to visible.
    #[arg(long, default_value_t = 100)]
    saves: usize,
    /// Instead: this many random requests about each tree, each answer counted again.
    #[arg(long, value_name = "N")]
    requests: Option<u64>,
    /// Instead: edits of this many definitions with few, more, many and very many dependent files,
    /// each edit checked for what it links again.
    #[arg(long, value_name = "N", conflicts_with = "requests")]
    interfaces: Option<usize>,
}

fn named_dir(text: &str) -> Result<(String, PathBuf), String> {
    let (name, dir) = text.split_once('=').ok_or("expected NAME=DIR")?;
    let dir = PathBuf::from(dir);
    if dir.is_dir() { Ok((name.to_owned(), dir)) } else { Err(format!("no directory {}", dir.display())) }
}

fn main() -> Result<()> {
    let args = Args::parse();
    let programs = Programs::find(&args.bin)?;
    for (name, dir) in &args.trees {
        eprintln!("== {name}");
        let run = match (args.requests, args.interfaces) {
            (Some(n), _) => requests::run(&programs, name, dir, n),
            (_, Some(n)) => interfaces::run(&programs, name, dir, n),
            _ => measure(&args, &programs, name, dir),
        };
        run.with_context(|| format!("measuring {name}"))?;
    }
    Ok(())
}

/// Builds the index of a tree some times, each time beside parsing alone; returns the last daemon, and the
/// line to print.
fn build(args: &Args, programs: &Programs, tree: &Tree) -> Result<(Daemon, String)> {
    let (mut ratios, mut peak) = (Vec::new(), 0);
    let (mut build_cpu, mut parse_cpu, mut build_wall) = (Vec::new(), Vec::new(), Vec::new());
    let mut last = None;
    for _ in 0..args.builds.max(1) {
        drop(last.take());
        let seconds = tree.parse_only()?.as_secs_f64();
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
    let [ratio, cpu, parse, wall] =
        [&ratios, &build_cpu, &parse_cpu, &build_wall].map(|v| percentile(v, 50.0));
    let line = format!(
        "{ratio:.2} x parse-only CPU ({cpu:.1} s against {parse:.1} s; {wall:.1} s wall), peak private memory {} MiB",
        peak / 1024
    );
    Ok((last.context("no build ran")?, line))
}

/// Edits the tree; returns the milliseconds until each edit is found.
fn save(args: &Args, daemon: &Daemon, tree: &Tree) -> Result<Vec<f64>> {
    let mut save_ms = Vec::new();
    for i in 0..args.saves {
        let probe = tree.edit(i)?;
        let (found, ms) = timed(|| daemon.finds(&tree.root(), &probe))?;
        ensure!(found, "{probe} was saved and is not found");
        save_ms.push(ms);
    }
    Ok(save_ms)
}

fn measure(args: &Args, programs: &Programs, name: &str, dir: &Path) -> Result<()> {
    let tree = Tree::copy(name, dir)?;
    let (mut daemon, built) = build(args, programs, &tree)?;
    // What a build leaves behind counts, too.
    let mut packing_after_build = 0;
    for i in 0..args.packs {
        daemon.pack(&tree.root(), &tree.query(i))?;
        packing_after_build = packing_after_build.max(daemon.anon_kib()?);
    }
    let (n_files, source_bytes) = tree.sizes()?;
    let index_bytes = daemon.index_bytes()?;

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
    let counting = daemon.cpu()?.saturating_sub(before).as_secs_f64();

    let (mut pack_ms, mut again_ms, mut true_ms) = (Vec::new(), Vec::new(), Vec::new());
    daemon.pack(&tree.root(), tree.queries()[0])?;
    let mut packing = 0;
    for i in 0..args.packs {
        let query = tree.query(i);
        for list in [&mut pack_ms, &mut again_ms] {
            let (bytes, ms) = timed(|| daemon.pack(&tree.root(), &query))?;
            ensure!(bytes >= 100, "an empty pack for {query:?}");
            list.push(ms);
        }
        true_ms.push(timed(|| Ok(std::process::Command::new("/bin/true").status()?))?.1);
        packing = packing.max(daemon.anon_kib()?);
    }
    let save_ms = save(args, &daemon, &tree)?;

    let at = percentile;
    println!("{name}: {n_files} files, {:.1} MB", source_bytes as f64 / 1e6);
    println!("  cold build         {built}");
    println!(
        "  no-change restart  {:.1} us CPU a file (find: {:.1})",
        at(&restart_us, 50.0),
        at(&find_us, 50.0)
    );
    println!("  save to visible    p50 {:.1} ms, p95 {:.1} ms", at(&save_ms, 50.0), at(&save_ms, 95.0));
    println!(
        "  ctl pack           p50 {:.1} ms, p99 {:.1} ms (/bin/true: {:.1}, {:.1})",
        at(&pack_ms, 50.0),
        at(&pack_ms, 99.0),
        at(&true_ms, 50.0),
        at(&true_ms, 99.0)
    );
    println!("  the same again     p50 {:.1} ms, p99 {:.1} ms", at(&again_ms, 50.0), at(&again_ms, 99.0));
    println!("  counting tokens    {counting:.1} s CPU, once, when idle");
    println!(
        "  memory, packing    {} MiB private, {} MiB in the daemon that built the index",
        packing / 1024,
        packing_after_build / 1024
    );
    println!("  index size         {:.2} x source", index_bytes as f64 / source_bytes as f64);
    Ok(())
}

/// The milliseconds that something takes, behind its result.
fn timed<T>(run: impl FnOnce() -> Result<T>) -> Result<(T, f64)> {
    let start = Instant::now();
    let out = run()?;
    Ok((out, start.elapsed().as_secs_f64() * 1e3))
}

fn percentile(values: &[f64], p: f64) -> f64 {
    let mut v = values.to_vec();
    v.sort_by(f64::total_cmp);
    let at = ((p / 100.0) * (v.len().saturating_sub(1)) as f64).round() as usize;
    v.get(at).copied().unwrap_or(f64::NAN)
}

/// How often private memory is sampled while an index is built.
const SAMPLE: Duration = Duration::from_millis(20);
