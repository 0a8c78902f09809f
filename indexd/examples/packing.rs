//! CPU time of each stage of a pack, over the stored index of a tree.
//!
//! `cargo run --release -p indexd --example packing -- TREE HOME` keeps the index in HOME, so that a second
//! run (under a profiler, say) finds it there, and prints milliseconds. Texts are the first sentences of
//! documentation in the tree, each asked once, and stack traces of about 500 words through its definitions.

mod shared;

use anyhow::{Context as _, Result, bail};
use indexd::config::Config;
use indexd::workspace::indexing::engine::{Engine, Setup};
use indexd::workspace::indexing::recovery::Verify;
use indexd::workspace::indexing::stages::Parts;
use indexd::workspace::indexing::tokens::Counting;
use indexd_model::{FactsView as _, IndexView};
use indexd_pack::request::SeedProvider;
use indexd_pack::retrieve::search;
use indexd_pack::unit::Units;
use indexd_pack::{Context, Request, Tuning, build};
use indexd_store::{Snapshot, Store};
use indexd_text::{CounterOptions, counter};
use serde_json::json;
use shared::{Times, now};
use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Texts of each kind.
const TEXTS: usize = 120;
/// Frames of a trace: about twelve words each.
const FRAMES: usize = 40;

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let (Some(tree), Some(home)) = (args.next(), args.next()) else { bail!("usage: packing TREE HOME") };
    let store = open(&PathBuf::from(tree).canonicalize()?, Path::new(&home))?;
    let snapshot = store.snapshot()?;
    measure("sentences", &sentences(&snapshot), &snapshot)?;
    measure("traces", &traces(&snapshot), &snapshot)
}

/// The index of the tree as it is now, with its tokens counted.
fn open(root: &Path, home: &Path) -> Result<Store> {
    let config = Arc::new(Config::default());
    let setup = Setup {
        root: root.to_owned(),
        home: home.to_owned(),
        config: Arc::clone(&config),
        parts: Parts::default(),
        verify: Verify::InProcess,
        sharing: None,
    };
    let mut engine = Engine::open(setup)?;
    let changes = engine.tree.sweep(None)?;
    if engine.needs_build(&changes) {
        engine.build(None, &|_| (), &|| false)?;
    } else {
        engine.apply(&changes, true, &|| false)?;
    }
    let store = engine.store().context("there is no index")?.clone();
    let mut counting = Counting::new(true, &config.pack.tokenizer);
    while counting.is_wanted() {
        counting.step(&store)?;
    }
    engine.close()?;
    Ok(store)
}

fn measure(kind: &str, texts: &[String], snapshot: &Snapshot) -> Result<()> {
    let config = indexd_pack::Config::default();
    let counter = counter(&config.tokenizer, &CounterOptions::default())?;
    let times = Times::default();
    let tuning = Tuning::default();
    let stage = |name: &'static str| times.stage(name);
    // The longest that a withdrawn request would go on.
    let (asked, longest) = (Cell::new(0.0), Cell::new(0.0f64));
    let cancel = || {
        longest.set(longest.get().max(now() - asked.replace(now())));
        false
    };
    for (i, text) in texts.iter().enumerate() {
        asked.set(now());
        let budgets = json!({"maxTotalTokens": 8000, "maxBytesPerItem": 16_000});
        let request = json!({"query": text, "budgets": budgets, "includeExplain": false});
        let request = Request::from_json(request)?;
        let context = Context { stage: &stage, cancel: &cancel, ..Context::new(&config, &tuning, &*counter) };
        let started = now();
        times.start(started);
        let pack = build(snapshot, &request, &context)?;
        let json = serde_json::to_string(&pack)?;
        stage("JSON");
        times.start(started);
        stage("all");
        drop(pack);
        if json.len() < 100 {
            bail!("an empty pack for {text:?}");
        }
        // Every fourth text also alone: what it costs when its postings and records are in the caches.
        if i % 4 == 0 {
            times.start(now());
            let found = search(&mut Units::new(snapshot), text, &[], &tuning.weights, SeedProvider::Hybrid).0;
            stage("retrieve alone");
            drop(found);
        }
    }
    println!(
        "{kind}: {} texts, {:.1} ms at most between two asks for withdrawal",
        texts.len(),
        longest.get() * 1e3
    );
    for (name, values) in times.taken.borrow_mut().iter_mut() {
        values.iter_mut().for_each(|seconds| *seconds *= 1e3);
        values.sort_by(f64::total_cmp);
        let at = |q: usize| values[(values.len() - 1) * q / 100];
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        println!("  {name:<16} p50 {:6.2}  p90 {:6.2}  mean {mean:6.2} ms", at(50), at(90));
    }
    Ok(())
}

/// First sentences of doc comments all over the tree, without the name that they explain.
fn sentences(view: &Snapshot) -> Vec<String> {
    let mut texts = Vec::new();
    for file in view.files() {
        let text = view.text(file);
        for def in &view.interface(file).defs {
            let doc = text.get(def.doc.range()).unwrap_or("");
            let first = doc.split(". ").next().unwrap_or("");
            let words: Vec<&str> = first
                .split_whitespace()
                .filter(|w| w.chars().any(char::is_alphanumeric))
                .skip(1)
                .take(24)
                .collect();
            if words.len() >= 8 {
                texts.push(words.join(" "));
                break;
            }
        }
    }
    let step = texts.len().div_ceil(TEXTS).max(1);
    texts.into_iter().step_by(step).collect()
}

/// Traces through definitions all over the tree, as Go and Python print them.
fn traces(view: &Snapshot) -> Vec<String> {
    let mut frames = Vec::new();
    for file in view.files() {
        let path = view.path(file);
        let interface = view.interface(file);
        for (i, _) in interface.defs.iter().enumerate().filter(|(_, d)| d.kind.is_callable()).take(4) {
            let def = view.def(view.def_doc(file, indexd_model::DefIdx(i as u32)));
            frames.push(if path.ends_with(".py") {
                format!(
                    "  File \"/srv/app/{path}\", line {}, in {}\n    return self.",
                    def.lines.end, def.name
                )
            } else {
                format!(
                    "example.com/{path}.{}(0xc000010000, 0x1)\n\t/srv/app/{path}:{}",
                    def.qualified, def.lines.end
                )
            });
        }
    }
    let n = frames.len().max(1);
    (0..TEXTS / 4)
        .map(|i| {
            let chosen = (0..FRAMES).filter_map(|j| frames.get((i * 7919 + j * 104_729) % n));
            let chosen: Vec<&str> = chosen.map(String::as_str).collect();
            format!("service crashes after an upgrade with index out of range\n\n{}\n", chosen.join("\n"))
        })
        .collect()
}
