//! Plain questions with known answers, over plain folders: does the pack show the code that answers?

use crate::Settings;
use crate::score::{Shown, shown};
use crate::tree;
use anyhow::{Context as _, Result};
use indexd_pack::Pack;
use indexd_pack::request::SeedProvider;
use indexd_pack::retrieve::search;
use indexd_pack::unit::Units;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Lines of an answer that must be shown, all of a shorter one.
const HEAD_LINES: usize = 10;

struct Question {
    id: String,
    tree: String,
    text: String,
    gold: Vec<Place>,
    also: Vec<Place>,
}

struct Place {
    path: String,
    start: u32,
    end: u32,
}

impl Question {
    fn read(v: &Value) -> Self {
        let line = |v: &Value| v.as_u64().unwrap_or(0) as u32;
        let places = |v: &Value| -> Vec<Place> {
            let one = |p: &Value| Place {
                path: crate::text(p, "path").to_owned(),
                start: line(&p["start"]),
                end: line(&p["end"]),
            };
            v.as_array().into_iter().flatten().map(one).collect()
        };
        Self {
            id: crate::text(v, "id").to_owned(),
            tree: crate::text(v, "tree").to_owned(),
            text: crate::text(v, "question").to_owned(),
            gold: places(&v["gold"]),
            also: places(&v["also"]),
        }
    }
}

#[derive(Clone, Copy, Default)]
struct Found {
    recall: f64,
    any: f64,
    first: f64,
    mrr: f64,
    doubt: bool,
    confidence: f64,
}

/// Asks every question of `file` of the trees below `root`, with each variant.
pub fn run(
    file: &str,
    root: &str,
    budgets: &[u64],
    variants: &[(String, Settings)],
    misses: bool,
) -> Result<()> {
    let text = std::fs::read_to_string(file).with_context(|| file.to_owned())?;
    let questions: Vec<Question> =
        text.lines().map(|l| Ok(Question::read(&serde_json::from_str(l)?))).collect::<Result<_>>()?;
    let trees: BTreeSet<&str> = questions.iter().map(|q| q.tree.as_str()).collect();
    // By variant, then by tree and budget.
    let mut all: Vec<BTreeMap<(&str, u64), Vec<Found>>> = vec![BTreeMap::new(); variants.len()];
    for name in trees {
        let folder = format!("{root}/{name}");
        if !std::path::Path::new(&folder).is_dir() {
            eprintln!("no tree {folder}");
            continue;
        }
        let view = tree::folder(&folder)?;
        for q in questions.iter().filter(|q| q.tree == name) {
            for ((_, config), found) in variants.iter().zip(&mut all) {
                for &budget in budgets {
                    let pack = crate::pack(&view, &q.text, budget, config)?;
                    let of = score(q, &pack);
                    if misses && (of.recall < 1.0 || of.first < 1.0) && budget == budgets[budgets.len() / 2] {
                        println!("{} {:.2} {}", q.id, of.recall, q.text);
                        print_ranks(q, &view, config);
                        for i in pack.items().take(8) {
                            println!("    {}:{} {}", i.file_rel_path, i.lines.start, i.title);
                        }
                    }
                    found.entry((name, budget)).or_default().push(of);
                }
            }
        }
    }
    let cells: Vec<String> = budgets.iter().map(|b| format!("{b}: recall | any | first | mrr")).collect();
    println!("| questions | n | {} |\n|---|---|{}", cells.join(" | "), "---|".repeat(4 * budgets.len()));
    for ((name, _), found) in variants.iter().zip(&all) {
        print_row(name, budgets, |b| {
            found.iter().filter(|(k, _)| k.1 == b).flat_map(|(_, f)| f).copied().collect()
        });
        if variants.len() == 1 {
            let names: BTreeSet<&str> = found.keys().map(|k| k.0).collect();
            for tree in names {
                print_row(tree, budgets, |b| found[&(tree, b)].clone());
            }
        }
        for &b in budgets {
            let of: Vec<(bool, bool)> = found
                .iter()
                .filter(|(k, _)| k.1 == b)
                .flat_map(|(_, f)| f)
                .map(|f| (f.any > 0.0, f.doubt))
                .collect();
            let count = |any, doubt| of.iter().filter(|x| **x == (any, doubt)).count();
            let curve: Vec<(bool, f64)> = found
                .iter()
                .filter(|(k, _)| k.1 == b)
                .flat_map(|(_, f)| f)
                .map(|f| (f.any > 0.0, f.confidence))
                .collect();
            println!("area under the curve at {b}: {:.3}", crate::score::area(&curve));
            println!(
                "doubt at {b}: answered {} of {}, unanswered {} of {}",
                count(true, true),
                count(true, true) + count(true, false),
                count(false, true),
                count(false, true) + count(false, false)
            );
        }
    }
    Ok(())
}

/// Prints where retrieval has the answers, and what speaks for each.
fn print_ranks(q: &Question, view: &indexd_oracle::Oracle, config: &Settings) {
    let mut units = Units::new(view);
    let found = search(&mut units, &q.text, &config.tuning.weights, SeedProvider::Hybrid);
    println!(
        "    words: {}",
        found.weighted.terms.iter().map(|(t, w)| format!("{t} {w:.1}")).collect::<Vec<_>>().join(", ")
    );
    println!(
        "    feedback: {}",
        found.weighted.feedback.iter().map(|(t, w)| format!("{t} {w:.1}")).collect::<Vec<_>>().join(", ")
    );
    for g in &q.gold {
        let rank = found.hits.iter().position(|h| {
            let lines = h.unit.lines();
            *h.file.path == *g.path && lines.start <= g.start && g.start <= lines.end
        });
        println!("  gold {}:{}-{} rank {rank:?}", g.path, g.start, g.end);
        if let Some(h) = rank.map(|r| &found.hits[r]) {
            println!("       total {:.2} of {:.2} {:?}", h.total, found.hits[0].total, h.scored);
        }
    }
    for (i, h) in found.hits.iter().enumerate().take(12) {
        println!("    {i} {}:{} {:.2} {:?}", h.file.path, h.unit.lines().start, h.total, h.scored.features);
    }
}

fn print_row(name: &str, budgets: &[u64], of: impl Fn(u64) -> Vec<Found>) {
    let mut line = format!("| {name} | {} |", of(budgets[0]).len());
    for &b in budgets {
        let found = of(b);
        let mean =
            |f: fn(&Found) -> f64| 100.0 * found.iter().map(f).sum::<f64>() / found.len().max(1) as f64;
        line.push_str(&format!(
            " {:.1} | {:.1} | {:.1} | {:.1} |",
            mean(|f| f.recall),
            mean(|f| f.any),
            mean(|f| f.first),
            mean(|f| f.mrr)
        ));
    }
    println!("{line}");
}

fn score(q: &Question, pack: &Pack) -> Found {
    let have: Shown = shown(pack);
    let none = BTreeSet::new();
    let is_shown = |p: &Place| {
        let lines = have.get(p.path.as_str()).unwrap_or(&none);
        let n = (p.start..=p.end).filter(|l| lines.contains(l)).count();
        lines.contains(&p.start) && n >= HEAD_LINES.min((p.end - p.start + 1) as usize)
    };
    let items: Vec<(&str, BTreeSet<u32>)> = pack
        .items()
        .map(|i| {
            let lines = i.excerpt.parts.iter().flat_map(|p| p.lines.start..=p.lines.end).collect();
            (i.file_rel_path.as_str(), lines)
        })
        .collect();
    let answers = |(path, lines): &(&str, BTreeSet<u32>), g: &Place| {
        g.path == *path && (lines.contains(&g.start) || lines.iter().all(|l| g.start <= *l && *l <= g.end))
    };
    let n = q.gold.iter().filter(|g| is_shown(g)).count();
    let rank = items.iter().position(|i| q.gold.iter().any(|g| answers(i, g)));
    let first = items.first().is_some_and(|i| {
        q.gold.iter().any(|g| answers(i, g)) || q.also.iter().any(|a| a.path == i.0 && i.1.contains(&a.start))
    });
    Found {
        recall: n as f64 / q.gold.len() as f64,
        any: f64::from(u8::from(n > 0)),
        first: f64::from(u8::from(first)),
        mrr: rank.map_or(0.0, |r| 1.0 / (r + 1) as f64),
        doubt: pack.insufficient_context,
        confidence: pack.confidence.score,
    }
}
