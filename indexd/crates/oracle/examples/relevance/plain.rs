//! Plain questions with known answers, over folders: does the pack show the code that answers?

use crate::Settings;
use crate::score::{Shown, shown};
use crate::tree;
use anyhow::{Context as _, Result};
use indexd_oracle::Oracle;
use indexd_pack::Pack;
use indexd_pack::request::SeedProvider;
use indexd_pack::retrieve::search;
use indexd_pack::unit::Units;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Lines of an answer that must be shown, all of a shorter one.
const HEAD_LINES: usize = 10;

/// A question with the definitions that answer it.
#[derive(Deserialize)]
pub struct Question {
    /// Its id.
    pub id: String,
    /// The name of its tree.
    pub tree: String,
    /// The question.
    #[serde(rename = "question")]
    pub text: String,
    /// The definitions that answer it.
    pub gold: Vec<Place>,
    #[serde(default)]
    also: Vec<Place>,
}

/// A definition.
#[derive(Deserialize)]
pub struct Place {
    /// Its path.
    pub path: String,
    /// Its first line.
    pub start: u32,
    #[serde(default)]
    end: u32,
}

/// How well a pack answers, each in 0..1.
#[derive(Clone, Copy, Default)]
pub struct Found {
    /// Answers shown, in parts of all.
    pub recall: f64,
    any: f64,
    /// Whether the first item is an answer.
    pub first: f64,
    /// `1 / rank` of the first answer.
    pub mrr: f64,
    doubt: bool,
    confidence: f64,
}

/// Questions with the indexes of their trees.
pub struct Asked {
    /// The questions.
    pub questions: Vec<Question>,
    /// The trees that are there, by name.
    pub views: BTreeMap<String, Oracle>,
}

impl Asked {
    /// Reads the questions of `file` and the trees below `root`; questions of other trees are left out.
    pub fn read(file: &str, root: &str) -> Result<Self> {
        let text = std::fs::read_to_string(file).with_context(|| file.to_owned())?;
        let lines: Vec<Value> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        // Other lines say where the trees come from.
        let questions = lines.into_iter().filter(|v| v["question"].is_string());
        let mut questions: Vec<Question> = questions.map(serde_json::from_value).collect::<Result<_, _>>()?;
        let mut views = BTreeMap::new();
        for name in questions.iter().map(|q| q.tree.clone()).collect::<BTreeSet<_>>() {
            let folder = format!("{root}/{name}");
            if std::path::Path::new(&folder).is_dir() {
                views.insert(name, tree::folder(&folder)?);
            } else {
                eprintln!("no tree {folder}");
            }
        }
        questions.retain(|q| views.contains_key(&q.tree));
        Ok(Self { questions, views })
    }

    /// The names of the trees, ascending.
    pub fn trees(&self) -> Vec<&str> {
        self.views.keys().map(String::as_str).collect()
    }

    /// Asks every question at every budget.
    pub fn ask(&self, settings: &Settings, budgets: &[u64]) -> Result<Answers<'_>> {
        let mut found: Answers = BTreeMap::new();
        for q in &self.questions {
            for &budget in budgets {
                let pack = crate::pack(&self.views[&q.tree], &q.text, &[], budget, settings)?;
                found.entry((&q.tree, budget)).or_default().push(score(q, &pack));
            }
        }
        Ok(found)
    }

    fn print_misses(&self, settings: &Settings, budget: u64) -> Result<()> {
        for q in &self.questions {
            let view = &self.views[&q.tree];
            let pack = crate::pack(view, &q.text, &[], budget, settings)?;
            let of = score(q, &pack);
            if of.recall < 1.0 || of.first < 1.0 {
                println!("{} {:.2} {}", q.id, of.recall, q.text);
                print_ranks(q, view, settings);
                for i in pack.items().take(8) {
                    println!("    {}:{} {}", i.path(), i.lines().start, i.title);
                }
            }
        }
        Ok(())
    }
}

/// What was found, by tree and budget.
pub type Answers<'q> = BTreeMap<(&'q str, u64), Vec<Found>>;

/// Asks every question of `file` of the trees below `root`, with each variant.
pub fn run(
    file: &str,
    root: &str,
    budgets: &[u64],
    variants: &[(String, Settings)],
    misses: bool,
) -> Result<()> {
    let asked = Asked::read(file, root)?;
    if let Some((_, settings)) = variants.last().filter(|_| misses) {
        asked.print_misses(settings, budgets[budgets.len() / 2])?;
    }
    let cells: Vec<String> = budgets.iter().map(|b| format!("{b}: recall | any | first | mrr")).collect();
    println!("| questions | n | {} |\n|---|---|{}", cells.join(" | "), "---|".repeat(4 * budgets.len()));
    let mut first: Option<Answers> = None;
    for (name, settings) in variants {
        let found = asked.ask(settings, budgets)?;
        let at = |b: u64| found.iter().filter(move |(k, _)| k.1 == b).flat_map(|(_, f)| f).copied();
        let against =
            first.as_ref().map_or(String::new(), |first| trees_changed(first, &found, &asked.trees()));
        print_row(&format!("{name}{against}"), budgets, |b| at(b).collect());
        first.get_or_insert_with(|| found.clone());
        if variants.len() == 1 {
            for tree in asked.trees() {
                print_row(tree, budgets, |b| found[&(tree, b)].clone());
            }
            budgets.iter().for_each(|&b| print_doubt(b, &at(b).collect::<Vec<_>>()));
        }
    }
    Ok(())
}

/// How many trees have more and fewer of their answers shown than with the first variant.
fn trees_changed(first: &Answers, found: &Answers, trees: &[&str]) -> String {
    let sum = |of: &Answers, tree: &str| -> f64 {
        of.iter().filter(|(k, _)| k.0 == tree).flat_map(|(_, f)| f).map(|f| f.recall + 0.5 * f.mrr).sum()
    };
    let changes = trees.iter().map(|t| sum(found, t) - sum(first, t));
    let (more, fewer) = changes.fold((0, 0), |(m, f), c| (m + i32::from(c > 1e-9), f + i32::from(c < -1e-9)));
    format!(" (+{more} -{fewer} trees)")
}

/// Prints how well confidence tells answered questions from others.
fn print_doubt(budget: u64, found: &[Found]) {
    let count = |any, doubt| found.iter().filter(|f| (f.any > 0.0, f.doubt) == (any, doubt)).count();
    let curve: Vec<(bool, f64)> = found.iter().map(|f| (f.any > 0.0, f.confidence)).collect();
    println!("area under the curve at {budget}: {:.3}", crate::score::area(&curve));
    println!(
        "doubt at {budget}: answered {} of {}, unanswered {} of {}",
        count(true, true),
        count(true, true) + count(true, false),
        count(false, true),
        count(false, true) + count(false, false)
    );
}

/// Prints where retrieval has the answers, and what speaks for each.
fn print_ranks(q: &Question, view: &Oracle, config: &Settings) {
    let mut units = Units::new(view);
    let found = search(&mut units, &q.text, &[], &config.tuning.weights, SeedProvider::Hybrid).0;
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
            (i.path(), lines)
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
