//! What a reader pays: the tokens that are printed, from the top, until the code that answers is on the page.
//!
//! A definition is *seen* at the first place of the text where its path stands and behind it, before another
//! path, a line number from one line before its first line to three after it.

use crate::Settings;
use crate::plain::{Asked, Question};
use crate::task;
use anyhow::{Context as _, Result};
use indexd_oracle::Oracle;
use indexd_pack::Pack;
use indexd_pack::pack::Confidence;
use indexd_pack::request::SeedProvider;
use indexd_pack::retrieve::search;
use indexd_pack::unit::Units;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Tokens at which the share of seen definitions is printed; the first four make up the value.
const STEPS: [u64; 5] = [300, 1_000, 2_000, 4_000, 8_000];
/// Tokens within which the first answer must be seen to count as first.
const FIRST: u64 = 150;
/// Hits whose ranks are printed.
const RANKS: [usize; 4] = [1, 5, 10, 20];

/// What a caller expects, as a model wrote it from the question and the name of the project alone.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct Hint {
    id: String,
    names: Vec<String>,
    words: Vec<String>,
    rewrite: String,
}

/// One answer.
struct Read {
    tree: String,
    tokens: u64,
    /// Tokens until each answer is seen.
    costs: Vec<Option<u64>>,
    /// Ranks of the answers among the hits, from 0.
    ranks: Vec<Option<usize>>,
    confidence: Confidence,
    is_first: bool,
}

/// Asks every question of `file` with each variant, as a reader does.
pub fn run(file: &str, root: &str, args: &[String], variants: &[(String, Settings)]) -> Result<()> {
    let value = |flag: &str| args.iter().position(|a| a == flag).and_then(|i| args.get(i + 1));
    let asked = Asked::read(file, root)?;
    let hints = match value("--hints") {
        Some(file) => hints(file)?,
        None => BTreeMap::new(),
    };
    let with = value("--with").map_or("names,words", String::as_str);
    let budget = value("--budget").map_or(Ok(4_000), |b| b.parse())?;
    let expect = |q: &Question| -> Vec<String> {
        let Some(h) = hints.get(&q.id) else { return Vec::new() };
        let mut out = Vec::new();
        for part in with.split(',') {
            match part {
                "names" => out.extend(h.names.iter().cloned()),
                "words" => out.extend(h.words.iter().cloned()),
                _ => out.push(h.rewrite.clone()),
            }
        }
        out
    };
    println!(
        "| variant | R@300 | 1000 | 2000 | 4000 | 8000 | value | first | tokens | most | hits 1 | 5 | 10 | 20 |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let fills = args.iter().any(|a| a == "--fill");
    let is_wrong = args.iter().any(|a| a == "--wrong");
    let trees = asked.trees();
    // The tree of a question, or the next one, which has no answer.
    let tree = |q: &Question| {
        let at = trees.iter().position(|t| *t == q.tree).unwrap_or(0);
        trees[if is_wrong { (at + 1) % trees.len() } else { at }]
    };
    for (name, settings) in variants {
        let settings = &Settings { is_thrifty: !fills, ..settings.clone() };
        let mut rows = Vec::new();
        for q in &asked.questions {
            rows.push(read(q, &asked.views[tree(q)], &expect(q), budget, settings)?);
        }
        print_row(name, &rows.iter().collect::<Vec<_>>());
        if args.iter().any(|a| a == "--by-tree") {
            for tree in asked.trees() {
                print_row(tree, &rows.iter().filter(|r| r.tree == tree).collect::<Vec<_>>());
            }
        }
        if args.iter().any(|a| a == "--bands") {
            print_bands(&rows);
        }
        if args.iter().any(|a| a == "--misses") {
            for (q, r) in asked.questions.iter().zip(&rows) {
                if r.costs.iter().any(|c| c.is_none_or(|c| c > 1_000)) {
                    println!(
                        "{} {:?} {:?} of {} {:.2} {}",
                        q.id, r.ranks, r.costs, r.tokens, r.confidence.fit, q.text
                    );
                }
            }
        }
    }
    Ok(())
}

fn hints(file: &str) -> Result<BTreeMap<String, Hint>> {
    let text = std::fs::read_to_string(file).with_context(|| file.to_owned())?;
    let all: Vec<Hint> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    Ok(all.into_iter().map(|h| (h.id.clone(), h)).collect())
}

fn read(q: &Question, view: &Oracle, expect: &[String], budget: u64, settings: &Settings) -> Result<Read> {
    let pack = crate::pack(view, &q.text, expect, budget, settings)?;
    let mut units = Units::new(view);
    let found = search(&mut units, &q.text, expect, &settings.tuning.weights, SeedProvider::Hybrid).0;
    let rank = |g: &crate::plain::Place| {
        found.hits.iter().position(|h| {
            let lines = h.unit.lines();
            *h.file.path == *g.path && lines.start <= g.start && g.start <= lines.end
        })
    };
    let ranks: Vec<Option<usize>> = q.gold.iter().map(rank).collect();
    let cost = |at: usize| u64::from(task::counter().count_tokens(&pack.rendered[..at]));
    let costs = q.gold.iter().map(|g| seen(&pack, &g.path, g.start).map(cost)).collect();
    Ok(Read {
        tree: q.tree.clone(),
        tokens: pack.stats.token_count,
        costs,
        confidence: pack.confidence,
        is_first: ranks.contains(&Some(0)),
        ranks,
    })
}

/// The end of the line at which a definition is seen.
fn seen(pack: &Pack, path: &str, start: u32) -> Option<usize> {
    let paths: Vec<&str> = pack.items().map(|i| i.path()).collect();
    let (mut at, mut is_of_path) = (0, false);
    for line in pack.rendered.split_inclusive('\n') {
        at += line.len();
        let mut rest = line;
        if let Some(n) = line.find(path).filter(|n| line[..*n].trim_start_matches(['-', '#', ' ']).is_empty())
        {
            (is_of_path, rest) = (true, &line[n + path.len()..]);
        } else if paths.iter().any(|p| line.starts_with(p)) || line.starts_with("# ") {
            is_of_path = false;
        }
        let number: String =
            rest.trim_start_matches([':', ' ']).chars().take_while(char::is_ascii_digit).collect();
        if is_of_path && number.parse().is_ok_and(|n: u32| start <= n + 1 && n <= start + 3) {
            return Some(at);
        }
    }
    None
}

fn print_row(name: &str, rows: &[&Read]) {
    let mean =
        |f: &dyn Fn(&Read) -> f64| 100.0 * rows.iter().map(|r| f(r)).sum::<f64>() / rows.len().max(1) as f64;
    let share = |of: usize, n: usize| of as f64 / n.max(1) as f64;
    let at = |step: u64| {
        mean(&|r| share(r.costs.iter().filter(|c| c.is_some_and(|c| c <= step)).count(), r.costs.len()))
    };
    let steps = STEPS.map(at);
    let first = mean(&|r| f64::from(u8::from(r.costs.iter().any(|c| c.is_some_and(|c| c <= FIRST)))));
    let mut tokens: Vec<u64> = rows.iter().map(|r| r.tokens).collect();
    tokens.sort_unstable();
    let hits = RANKS.map(|n| {
        mean(&|r| share(r.ranks.iter().filter(|x| x.is_some_and(|x| x < n)).count(), r.ranks.len()))
    });
    let cells: Vec<String> = steps
        .iter()
        .copied()
        .chain([steps[..4].iter().sum::<f64>() / 4.0, first])
        .map(|x| format!("{x:.1}"))
        .chain([tokens[tokens.len() / 2].to_string(), tokens[tokens.len() - 1].to_string()])
        .chain([format!("{:.1}", mean(&|r| f64::from(u8::from(r.is_first))))])
        .chain(hits[1..].iter().map(|x| format!("{x:.1}")))
        .collect();
    println!("| {name} ({}) | {} |", rows.len(), cells.join(" | "));
}

/// Prints how often the first hit is right, and whether an answer is among the first ten, by what the answer
/// rests on and by the share that it prints.
fn print_bands(rows: &[Read]) {
    let mut bands: BTreeMap<(&str, u64), Vec<&Read>> = BTreeMap::new();
    for r in rows {
        bands
            .entry((r.confidence.basis.name(), (r.confidence.score * 100.0).round() as u64))
            .or_default()
            .push(r);
    }
    for ((basis, said), of) in bands {
        let share = |is: &dyn Fn(&Read) -> bool| 100 * of.iter().filter(|r| is(r)).count() / of.len();
        let first = share(&|r| r.is_first);
        let ten = share(&|r| r.ranks.iter().flatten().any(|x| *x < 10));
        println!(
            "  {basis}: {} answers said {said} %, first right in {first} %, among ten in {ten} %",
            of.len()
        );
    }
}
