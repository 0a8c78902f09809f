//! What a reader pays: the tokens that are printed, from the top, until the code that answers is on the page.
//!
//! A definition is *seen* at the first place of the text where its path stands and behind it, before another
//! path, a line number from one line before its first line to three after it.

use crate::plain::{Asked, Question};
use crate::score::{mean, share};
use crate::task::{self, lines};
use crate::{Settings, Variants};
use anyhow::Result;
use indexd_oracle::Oracle;
use indexd_pack::Pack;
use indexd_pack::pack::Confidence;
use indexd_pack::request::SeedProvider;
use indexd_pack::retrieve::search;
use indexd_pack::unit::Units;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Tokens of a pack.
const BUDGET: u64 = 4_000;
/// Tokens at which the share of seen definitions is printed; the first four make up the value.
const STEPS: [u64; 5] = [300, 1_000, 2_000, 4_000, 8_000];
/// Tokens within which the first answer must be seen to count as first.
const FIRST: u64 = 150;
/// Hits whose ranks are printed.
const RANKS: [usize; 4] = [1, 5, 10, 20];

#[derive(clap::Args)]
pub struct Args {
    /// One question a line.
    questions: String,
    /// The trees, by name.
    trees: String,
    /// What a caller expects, `{id, names, words}` a line.
    #[arg(long)]
    hints: Option<String>,
    /// Ask each question of another tree.
    #[arg(long)]
    wrong: bool,
}

/// What a caller expects, as a model wrote it from the question and the name of the project alone.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
struct Hint {
    id: String,
    names: Vec<String>,
    words: Vec<String>,
}

/// One answer.
struct Read {
    tokens: u64,
    /// Tokens until each answer is seen.
    costs: Vec<Option<u64>>,
    /// Ranks of the answers among the hits, from 0.
    ranks: Vec<Option<usize>>,
    confidence: Confidence,
    is_first: bool,
}

/// Asks every question with each variant, as a reader does.
pub fn run(args: &Args, variants: &Variants) -> Result<()> {
    let asked = Asked::read(&args.questions, &args.trees)?;
    let hints: Vec<Hint> = args.hints.as_deref().map_or(Ok(Vec::new()), lines)?;
    let hints: BTreeMap<&str, &Hint> = hints.iter().map(|h| (h.id.as_str(), h)).collect();
    println!(
        "| variant | R@300 | 1000 | 2000 | 4000 | 8000 | value | first | tokens | most | hits 1 | 5 | 10 | 20 |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    let trees = asked.trees();
    // The tree of a question, or the next one, which has no answer.
    let tree = |q: &Question| {
        let at = trees.iter().position(|t| *t == q.tree).unwrap_or(0);
        trees[(at + usize::from(args.wrong)) % trees.len()]
    };
    for (name, settings) in variants {
        let settings = Settings { is_thrifty: true, ..settings.clone() };
        let mut rows = Vec::new();
        for q in &asked.questions {
            let expect = hints.get(q.id.as_str()).map(|h| [&h.names[..], &h.words].concat());
            rows.push(read(q, &asked.views[tree(q)], &expect.unwrap_or_default(), &settings)?);
        }
        print_row(name, &rows);
        print_bands(&rows);
    }
    Ok(())
}

fn read(q: &Question, view: &Oracle, expect: &[String], settings: &Settings) -> Result<Read> {
    let pack = crate::pack(view, &q.text, expect, BUDGET, settings)?;
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

fn print_row(name: &str, rows: &[Read]) {
    let mean = |f: &dyn Fn(&Read) -> f64| 100.0 * mean(rows.iter().map(f));
    let at = |step: u64| mean(&|r| share(r.costs.iter(), |c| c.is_some_and(|c| c <= step)).unwrap_or(0.0));
    let steps = STEPS.map(at);
    let first = mean(&|r| f64::from(u8::from(r.costs.iter().any(|c| c.is_some_and(|c| c <= FIRST)))));
    let mut tokens: Vec<u64> = rows.iter().map(|r| r.tokens).collect();
    tokens.sort_unstable();
    let hits = RANKS.map(|n| mean(&|r| share(r.ranks.iter(), |x| x.is_some_and(|x| x < n)).unwrap_or(0.0)));
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
