//! CPU time of each stage of a first build, on one thread, beside parsing the same files with
//! tree-sitter alone in the same run.
//!
//! `cargo run --release -p indexd --example components -- TREE` prints seconds and multiples of
//! parse-only. The files of a stage and of the yardstick take turns, so what disturbs one disturbs the other.

mod shared;

use anyhow::{Context as _, Result, bail};
use indexd::workspace::indexing::stages::{self, Parts};
use indexd::workspace::tree::Tree;
use indexd::workspace::tree::known::KnownFiles;
use indexd_lang::Parses;
use indexd_model::limits::FILE_BYTES_PARSED_MAX;
use indexd_model::terms::Vocabulary;
use indexd_model::{Facts, FactsView, FileDoc, RepoPath};
use indexd_os::Root;
use indexd_store::{Opened, Overlays, Store};
use shared::{Times, now};
use std::path::Path;

impl Times {
    fn time<T>(&self, stage: &'static str, run: impl FnOnce() -> T) -> T {
        self.start(now());
        let out = run();
        self.stage(stage);
        out
    }
}

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    let root = args.next().context("usage: components TREE [STAGE]")?;
    // Only for profilers: with a stage named, the yardstick does not run.
    let is_profiled = args.next().is_some();
    // Parsers recurse with the nesting of the source.
    let run = move || run(Path::new(&root), is_profiled);
    let thread = std::thread::Builder::new().stack_size(64 << 20).spawn(run)?;
    match thread.join() {
        Ok(result) => result,
        Err(_) => bail!("the build panicked"),
    }
}

/// The yardstick: parsers alone.
fn yardstick(path: &str, bytes: &[u8]) {
    if let Some(parses) = parses(path).filter(|_| bytes.len() as u64 <= FILE_BYTES_PARSED_MAX)
        && let Ok(text) = std::str::from_utf8(bytes)
    {
        drop(parses.parse(text, u64::MAX));
    }
}

/// The parser of a file of code, by its name.
fn parses(path: &str) -> Option<Parses> {
    Parses::of(indexd_lang::roles::language(path))
}

fn run(root: &Path, is_profiled: bool) -> Result<()> {
    let clock = Times::default();
    let mut tree = Tree::new(root, &[], KnownFiles::default());
    let changes = clock.time("walk", || tree.sweep(None))?;
    let mut files: Vec<(RepoPath, u64)> = changes.changed.into_iter().collect();
    files.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let dir = tempfile::tempdir()?;
    let Opened::Fresh(store) = Store::open(&dir.path().join("env"), b"components")? else {
        bail!("a new folder has an index");
    };
    let bulk = store.bulk()?;
    let beneath = Root::open(root).ok().context("cannot open the tree")?;
    let parts = Parts::default();
    let mut vocabulary = Vocabulary::default();
    let mut parse_only = 0.0;
    let mut n_lines = 0;
    for (path, _) in &files {
        let Ok(Some(loaded)) = clock.time("read", || stages::load(&beneath, path)) else { continue };
        if !is_profiled {
            let before = now();
            yardstick(path, loaded.bytes.as_deref().unwrap_or_default());
            parse_only += now() - before;
        }
        let extracted = clock.time("extract", || stages::extract(&parts, &loaded));
        n_lines += u64::from(extracted.lines.n_lines());
        let is_code = parses(path).is_some();
        let terms = if is_code { "terms of code" } else { "terms of text" };
        let input = clock.time(terms, || stages::input(loaded, extracted, &mut vocabulary));
        clock.time("store: add", || bulk.add(input, &vocabulary))?;
    }
    drop(vocabulary);
    let facts = clock.time("store: seal", || bulk.seal())?;
    for i in 0..facts.n_files() {
        let file = FileDoc(i);
        let body = clock.time("store: facts", || bulk.body(file))?;
        let interface = facts.interface(file);
        let own = Facts::both(&interface, &body);
        let links = clock.time("link", || stages::link(&parts, file, own, (None, None), &*facts));
        clock.time("store: links", || bulk.put_links(file, links))?;
    }
    drop(facts);
    clock.time("store: finish", || bulk.finish(None, None, &Overlays::default()))?;
    println!("{} files, {n_lines} lines; parse-only {parse_only:.2} s", files.len());
    let taken = clock.taken.take().into_iter();
    let mut taken: Vec<(&str, f64)> = taken.map(|(stage, all)| (stage, all.iter().sum())).collect();
    taken.push(("all", taken.iter().map(|s| s.1).sum()));
    for (stage, took) in taken {
        println!("  {stage:<14} {took:7.2} s  {:5.2} x", took / parse_only);
    }
    Ok(())
}
