//! Times retrieval and whole packs on a tree held in memory, with the texts of real tasks.
//!
//! `cargo run --release -p indexd-oracle --example speed -- TREE TASKS.jsonl` prints p50 and p99 in
//! milliseconds of the first and of a repeated round: token counts are remembered in between.

use anyhow::{Context as _, Result};
use indexd_oracle::Oracle;
use indexd_pack::request::SeedProvider;
use indexd_pack::retrieve::search;
use indexd_pack::unit::Units;
use indexd_pack::{Config, Context, Request, Tuning, build};
use indexd_text::{CounterOptions, counter};
use serde_json::json;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let root = args.next().context("usage: speed TREE TASKS.jsonl")?;
    let tasks = std::fs::read_to_string(args.next().context("usage: speed TREE TASKS.jsonl")?)?;
    let mut queries = Vec::new();
    for line in tasks.lines().filter(|l| !l.trim().is_empty()) {
        let task: serde_json::Value = serde_json::from_str(line)?;
        queries.push(task["query"].as_str().unwrap_or("").to_owned());
    }
    let mut files = Vec::new();
    walk(Path::new(&root), "", &mut files)?;
    let view = Oracle::of(&files);
    drop(files);
    let (config, tuning) = (Config::default(), Tuning::default());
    let counter = counter(&config.tokenizer, &CounterOptions::default())?;
    for round in ["first round", "second round"] {
        let mut times: BTreeMap<&'static str, Vec<u64>> = BTreeMap::new();
        for text in &queries {
            let started = Instant::now();
            let found = search(&mut Units::new(&view), text, &tuning.weights, SeedProvider::Hybrid);
            times.entry("retrieve alone").or_default().push(started.elapsed().as_micros() as u64);
            drop(found);
            let last = RefCell::new(Instant::now());
            let stages = RefCell::new(&mut times);
            let stage = |name: &'static str| {
                stages.borrow_mut().entry(name).or_default().push(last.borrow().elapsed().as_micros() as u64);
                *last.borrow_mut() = Instant::now();
            };
            let budgets = json!({"maxTotalTokens": 8000, "maxBytesPerItem": 16000, "maxItems": 250, "maxItemsPerSection": 80});
            let request = Request::from_json(json!({"query": text, "budgets": budgets}))?;
            let context = Context { stage: &stage, ..Context::new(&config, &tuning, &*counter) };
            let started = Instant::now();
            let pack = build(&view, &request, &context)?;
            let took = started.elapsed().as_micros() as u64;
            assert!(pack.stats.token_count <= 8000);
            times.entry("whole pack").or_default().push(took);
            let started = Instant::now();
            let size = pack.to_json().to_string().len();
            times.entry("to JSON").or_default().push(started.elapsed().as_micros() as u64);
            assert!(size > 0);
        }
        println!("{round}");
        for (name, values) in &mut times {
            values.sort_unstable();
            let at = |q: usize| values[(values.len() - 1) * q / 100] as f64 / 1000.0;
            println!("  {name}: p50 {:.2} p90 {:.2} p99 {:.2} ms", at(50), at(90), at(99));
        }
    }
    Ok(())
}

/// All files below `dir` with their bytes; links and `.git` are left out.
fn walk(root: &Path, dir: &str, out: &mut Vec<(String, Vec<u8>)>) -> Result<()> {
    for entry in std::fs::read_dir(root.join(dir))? {
        let entry = entry?;
        let Some(name) = entry.file_name().to_str().filter(|n| *n != ".git").map(str::to_owned) else {
            continue;
        };
        let path = indexd_model::path::join(dir, &name);
        if entry.file_type()?.is_dir() {
            walk(root, &path, out)?;
        } else if entry.file_type()?.is_file() {
            out.push((path, std::fs::read(entry.path())?));
        }
    }
    Ok(())
}
