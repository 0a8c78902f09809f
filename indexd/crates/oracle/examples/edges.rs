//! Prints the edges of a tree, or what linking it costs.
//!
//! `cargo run --release -p indexd-oracle --example edges -- DIR > edges.jsonl` writes one edge a line,
//! as `ctl export edges --jsonl` does, with a view in memory and no index. `--time` prints CPU seconds
//! of parsing alone, extraction and linking instead (Linux; elapsed time elsewhere), `--unresolved`
//! the uses without an edge. `--scip=FILE` lays an index made by another tool over the links first.

#[path = "relevance/folder.rs"]
mod folder;

use anyhow::{Context, Result};
use indexd_lang::{Extracted, extract};
use indexd_model::memory::MemoryFacts;
use indexd_model::names::qualified_name;
use indexd_model::{DefIdx, DefKind, EdgeKind, Facts, FileDoc, LineIndex, Link, Links, RepoPath, Role};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let root =
        args.iter().find(|a| !a.starts_with("--")).context("usage: edges DIR [--time | --unresolved]")?;
    let has = |flag: &str| args.iter().any(|a| a == flag);
    let files = folder::files(Path::new(root))?;
    if has("--time") {
        return time(&files);
    }
    let tree = Tree::read(&files);
    let overlays = match args.iter().find_map(|a| a.strip_prefix("--scip=")) {
        Some(file) => tree.import(Path::new(file))?,
        None => BTreeMap::new(),
    };
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut lines = Vec::new();
    for i in 0..tree.files.len() {
        let facts = &tree.files[i].1.facts;
        let mut links = indexd_resolve::link(FileDoc(i as u32), Facts::inside(facts), &tree.view);
        if let Some(overlay) = overlays.get(&*tree.files[i].0) {
            indexd_scip::apply(overlay, FileDoc(i as u32), Facts::inside(facts), &mut links, &tree.view);
        }
        if has("--unresolved") {
            tree.unresolved(i, &links, &mut out)?;
        } else {
            links.links.iter().for_each(|l| lines.extend(tree.edge(i, l)));
        }
    }
    lines.sort();
    for (_, line) in lines {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

struct Tree {
    files: Vec<(RepoPath, Extracted, LineIndex)>,
    view: MemoryFacts,
}

/// What edges are sorted by.
type Place = (String, u32, u32, String, u32, u8);

impl Tree {
    fn read(files: &[(RepoPath, Vec<u8>)]) -> Self {
        let files: Vec<_> = files
            .iter()
            .map(|(path, bytes)| {
                let it = extract(path, bytes);
                let lines = LineIndex::new(&it.text);
                (path.clone(), it, lines)
            })
            .collect();
        let view = MemoryFacts::new(
            files.iter().map(|(p, e, _)| (p.clone(), Arc::new(e.facts.interface.clone()))).collect(),
        );
        Self { files, view }
    }

    /// What the SCIP index in `file` says about the files of the tree, by path. Prints what came of it.
    fn import(&self, file: &Path) -> Result<BTreeMap<String, indexd_scip::Overlay>> {
        let index = indexd_scip::read(&fs::read(file)?)?;
        let read_file = |path: &str| {
            let i = self.files.binary_search_by(|f| (*f.0).cmp(path)).ok()?;
            let text = &self.files[i].1.text;
            Some((indexd_model::ContentHash::of(text.as_bytes()), Arc::from(text.as_ref())))
        };
        let mut imported = indexd_scip::resolve_import(&index, "", &read_file, &self.view);
        let overlays = std::mem::take(&mut imported.overlays);
        eprintln!("{} overlays of {}: {imported:?}", overlays.len(), index.tool);
        Ok(overlays.into_iter().map(|o| (o.path.clone(), o)).collect())
    }

    /// The edge of a link in the export format; `None` for kinds that are no uses.
    fn edge(&self, file: usize, link: &Link) -> Option<(Place, String)> {
        let (path, source, lines) = &self.files[file];
        let (target_path, target, target_lines) = &self.files[link.target.file.index()];
        let target_facts = Facts::inside(&target.facts);
        let target_def = link.target.def.some().map(|d| target_facts.def(d));
        let kind = match (link.kind, link.role, target_def.map(|d| d.kind)) {
            (EdgeKind::Dataflow | EdgeKind::DataflowIn | EdgeKind::Export, ..) => return None,
            (EdgeKind::Call, ..) => "call",
            (EdgeKind::Import, ..) => "import",
            (EdgeKind::Inherit, ..) => "inherit",
            (EdgeKind::Implement, ..) => "implement",
            (_, Role::Type, _) => "type",
            (_, _, Some(DefKind::Field)) => "field",
            _ => "ref",
        };
        let line = lines.line(link.at);
        let column = link.at - lines.start(line) + 1;
        let facts = Facts::inside(&source.facts);
        let around = function_around(&facts, link.source);
        let name = &source.text[link.at as usize..link.at as usize + usize::from(link.len)];
        let target_line = target_def.map_or(1, |d| target_lines.line(d.name_span.start));
        let mut json = serde_json::json!({
            "kind": kind,
            "src_file": &**path,
            "src_line": line,
            "src_col": column,
            "name": name.trim_matches(['"', '`']),
            "src_symbol": qualified_name(&facts, around),
            "dst_file": &**target_path,
            "dst_line": target_line,
            "dst_symbol": qualified_name(&target_facts, link.target.def),
            "confidence": f64::from(link.confidence) / 100.0,
            "via": link.rule.name(),
        });
        if let Some(d) = around.some() {
            json["src_def_line"] = lines.line(facts.def(d).name_span.start).into();
        }
        let place = (path.to_string(), line, column, target_path.to_string(), target_line, link.kind as u8);
        Some((place, json.to_string()))
    }

    fn unresolved(&self, file: usize, links: &Links, out: &mut impl Write) -> Result<()> {
        let (path, source, lines) = &self.files[file];
        let facts = Facts::inside(&source.facts);
        for u in &links.unresolved {
            let line = lines.line(u.at);
            writeln!(out, "{}:{line}: {:?} {:?} {}", &**path, u.reason, u.role, facts.str(u.name))?;
        }
        Ok(())
    }
}

/// The innermost function at or around a definition.
fn function_around(facts: &Facts, mut def: DefIdx) -> DefIdx {
    while let Some(d) = def.some() {
        if facts.def(d).kind.is_callable() {
            return d;
        }
        def = facts.def(d).parent;
    }
    DefIdx::NONE
}

/// CPU seconds of this thread; elapsed seconds where the system does not tell.
fn cpu_seconds(start: std::time::Instant) -> f64 {
    let ns = fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|s| s.split_whitespace().next().and_then(|n| n.parse::<u64>().ok()));
    ns.map_or_else(|| start.elapsed().as_secs_f64(), |ns| ns as f64 / 1e9)
}

/// Parse-only, extraction and linking by language, interleaved by file so that a busy machine slows
/// all of them alike.
fn time(files: &[(RepoPath, Vec<u8>)]) -> Result<()> {
    let clock = std::time::Instant::now();
    let tree = Tree::read(files);
    let mut sums: BTreeMap<&str, [f64; 4]> = BTreeMap::new();
    for (i, (path, bytes)) in files.iter().enumerate() {
        let facts = &tree.files[i].1.facts;
        let text = std::str::from_utf8(bytes).unwrap_or_default();
        let t0 = cpu_seconds(clock);
        let Some(parses) = indexd_lang::Parses::of(facts.interface.language) else { continue };
        drop(parses.parse(text, u64::MAX));
        let t1 = cpu_seconds(clock);
        drop(extract(path, bytes));
        let t2 = cpu_seconds(clock);
        let links = indexd_resolve::link(FileDoc(i as u32), Facts::inside(facts), &tree.view);
        let t3 = cpu_seconds(clock);
        let sum = sums.entry(facts.interface.language.id()).or_default();
        let n_exprs = Facts::inside(facts).n_exprs();
        for (s, x) in sum.iter_mut().zip([t1 - t0, t2 - t1, t3 - t2, n_exprs as f64]) {
            *s += x;
        }
        if t3 - t2 > 0.2 {
            println!("slow to link: {} {:.2} s, {} links", &**path, t3 - t2, links.links.len());
        }
    }
    println!(
        "{:8} {:>9} {:>9} {:>9} {:>12} {:>12} {:>9}",
        "", "parse s", "extract s", "link s", "extract/parse", "link/parse", "us/expr"
    );
    for (language, [parse, extract, link, n]) in sums {
        println!(
            "{language:8} {parse:9.2} {extract:9.2} {link:9.2} {:12.2} {:12.2} {:9.2}",
            extract / parse,
            link / parse,
            1e6 * link / n
        );
    }
    Ok(())
}
