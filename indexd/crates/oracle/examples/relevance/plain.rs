//! Plain questions with known answers, over folders: does the pack show the code that answers?

use crate::Variants;
use crate::score::{Shown, mean, shown};
use crate::task::lines;
use crate::tree;
use anyhow::Result;
use indexd_oracle::Oracle;
use indexd_pack::Pack;
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
#[derive(Clone, Copy)]
struct Found {
    /// Answers shown, in parts of all.
    recall: f64,
    any: f64,
    /// Whether the first item is an answer.
    first: f64,
    /// `1 / rank` of the first answer.
    mrr: f64,
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
        // Other lines say where the trees come from.
        let questions = lines(file)?.into_iter().filter(|v: &Value| v["question"].is_string());
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
}

/// What was found, with the tree and the budget.
type Answers<'q> = Vec<(&'q str, u64, Found)>;

/// Asks every question of `file` of the trees below `root`, with each variant.
pub fn run(file: &str, root: &str, budgets: &[u64], variants: &Variants) -> Result<()> {
    let asked = Asked::read(file, root)?;
    let cells: Vec<String> = budgets.iter().map(|b| format!("{b}: recall | any | first | mrr")).collect();
    println!("| questions | n | {} |\n|---|---|{}", cells.join(" | "), "---|".repeat(4 * budgets.len()));
    for (name, settings) in variants {
        let mut all = Answers::new();
        for q in &asked.questions {
            for &budget in budgets {
                let pack = crate::pack(&asked.views[&q.tree], &q.text, &[], budget, settings)?;
                all.push((&q.tree, budget, score(q, &pack)));
            }
        }
        let at = |b: u64| all.iter().filter(move |a| a.1 == b);
        print_row(name, budgets, |b| at(b).map(|a| a.2).collect());
        if variants.len() == 1 {
            for tree in asked.trees() {
                print_row(tree, budgets, |b| at(b).filter(|a| a.0 == tree).map(|a| a.2).collect());
            }
            budgets.iter().for_each(|&b| print_doubt(b, &at(b).map(|a| a.2).collect::<Vec<_>>()));
        }
    }
    Ok(())
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

fn print_row(name: &str, budgets: &[u64], of: impl Fn(u64) -> Vec<Found>) {
    let mut line = format!("| {name} | {} |", of(budgets[0]).len());
    for &b in budgets {
        let found = of(b);
        let mean = |f: fn(&Found) -> f64| 100.0 * mean(found.iter().map(f));
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
