//! Measures packs against known answers.
//!
//! `scripts/eval.sh` runs the modes: `changes` asks with the texts of real changes, `questions` asks plain questions
//! of folders, which may be clones, `reading` counts what is printed until the answer is on the page, and `names`
//! asks for symbols and looks for their neighbourhood. Beside `TASKS.jsonl`, `TASKS.needs.jsonl` says what one must
//! see to write each change. History is read from the commits before each task's base. Metrics are means in percent.

mod names;
mod plain;
mod reading;
mod score;
mod task;
mod tree;

use anyhow::{Context as _, Result};
use clap::Parser;
use indexd_pack::{Config, Context, Pack, Request, Tuning, build};
use score::{RANKS, SHARES, Scores};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Mutex;
use task::Task;
use tree::Trees;

/// Weights that are switched off one at a time.
const FEATURES: [&str; 15] = [
    "feedback", "file", "ofType", "place", "named", "literal", "commits", "touched", "tests", "name", "doc",
    "joined", "coverage", "derived", "synonyms",
];
/// What else is switched off, one at a time: presentations, and factors that are 1 when off.
const OFF: [(&str, &str); 8] = [
    ("title as the rest", "weights.title=1"),
    ("no gate", "weights.gate=1"),
    ("no crowding", "weights.crowding=0"),
    ("short as long", "weights.short=0"),
    ("no heads", "shares.references=0"),
    ("no callers", "shares.callers=0"),
    ("no test lane", "shares.tests=0"),
    ("no neighbourhood of names", "shares.named=0"),
];

/// What a pack depends on besides the tree and the text.
#[derive(Clone, Default)]
pub struct Settings {
    config: Config,
    tuning: Tuning,
    /// Whether packs end where what follows is worth little.
    is_thrifty: bool,
}

/// The default settings and those beside them, by name.
pub type Variants = Vec<(String, Settings)>;

#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    ask: Ask,
    /// Tokens of packs.
    #[arg(long, global = true, value_delimiter = ',', default_value = "4000,8000")]
    budget: Vec<u64>,
    /// Other settings beside the defaults, for example `half:weights.file=0.15`.
    #[arg(long, global = true, value_name = "NAME:KEY=VALUE,...", value_parser = variant)]
    variant: Vec<(String, Settings)>,
    /// One more variant for each signal, off.
    #[arg(long, global = true)]
    ablate: bool,
}

#[derive(clap::Subcommand)]
enum Ask {
    /// Are the functions that a change touched in the pack that its text gives?
    Changes {
        /// One task a line.
        tasks: String,
        /// Bare clones as `<owner>+<name>/repo`.
        mirrors: String,
        /// Each repository apart, and all but each one.
        #[arg(long)]
        by_repo: bool,
    },
    /// Is the code that answers a plain question in its pack?
    Questions {
        /// One question a line.
        questions: String,
        /// The trees, by name.
        trees: String,
    },
    /// How much is read until the answer is on the page, in packs of 4,000 tokens?
    Reading(reading::Args),
    /// Does the pack of a name hold its definition, callers, callees and a test?
    Names {
        /// A folder with `defs.jsonl.gz` and `uses.jsonl.gz`.
        truth: String,
        /// The tree.
        tree: String,
    },
}

fn main() -> Result<()> {
    let args = Args::parse();
    let budgets = &args.budget;
    let mut variants = vec![("default".to_owned(), Settings::default())];
    variants.extend(args.variant);
    if args.ablate {
        let weights = FEATURES.map(|w| format!("no {w}:weights.{w}=0"));
        let others = OFF.map(|(name, change)| format!("{name}:{change}"));
        let all: Result<Variants> = weights.iter().chain(&others).map(|spec| variant(spec)).collect();
        variants.extend(all?);
    }
    match &args.ask {
        Ask::Changes { tasks, mirrors, by_repo } => {
            let rows = run(&task::load(tasks)?, mirrors, budgets, &variants)?;
            report(&rows, budgets, &variants, *by_repo);
            Ok(())
        }
        Ask::Questions { questions, trees } => plain::run(questions, trees, budgets, &variants),
        Ask::Reading(args) => reading::run(args, &variants),
        Ask::Names { truth, tree } => names::run(truth, tree, budgets, &variants),
    }
}

/// Parses `NAME:key=value,...` on top of the default configuration.
fn variant(spec: &str) -> Result<(String, Settings)> {
    let (name, changes) = spec.split_once(':').context("a variant is NAME:key=value")?;
    let mut config = serde_json::to_value(Config::default())?;
    let mut tuning = serde_json::to_value(Tuning::default())?;
    for change in changes.split(',') {
        let (path, text) = change.split_once('=').context("a change is key=value")?;
        let is_tuning = ["weights.", "excerpts.", "thrift"].iter().any(|p| path.starts_with(p));
        let mut at = if is_tuning { &mut tuning } else { &mut config };
        for key in path.split('.') {
            at = at.get_mut(key).with_context(|| format!("no setting {path}"))?;
        }
        *at = serde_json::from_str(text)?;
    }
    let is_thrifty = changes.contains("thrift");
    let settings = Settings {
        is_thrifty,
        config: serde_json::from_value(config)?,
        tuning: serde_json::from_value(tuning)?,
    };
    Ok((name.to_owned(), settings))
}

/// The scores of a task, with each variant.
struct Row {
    repo: String,
    scores: Vec<Scores>,
}

fn run(tasks: &[Task], mirrors: &str, budgets: &[u64], variants: &Variants) -> Result<Vec<Row>> {
    let mut by_repo: BTreeMap<&str, Vec<&Task>> = BTreeMap::new();
    for t in tasks {
        by_repo.entry(&t.repo).or_default().push(t);
    }
    let queue = Mutex::new(by_repo.into_iter());
    let next = || queue.lock().expect("no panic holds the lock").next();
    let work = || -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        while let Some((repo, tasks)) = next() {
            let mut trees = Trees::open(mirrors, repo)?;
            for task in tasks {
                let view = trees.at(&task.base)?;
                let scores = variants.iter().map(|(_, settings)| scores(task, &view, budgets, settings));
                rows.push(Row { repo: repo.to_owned(), scores: scores.collect::<Result<_>>()? });
            }
        }
        Ok(rows)
    };
    let mut rows = std::thread::scope(|scope| {
        let workers = [scope.spawn(work), scope.spawn(work)];
        let rows: Result<Vec<_>> = workers.into_iter().map(|w| w.join().expect("no panic")).collect();
        rows.map(|rows| rows.into_iter().flatten().collect::<Vec<Row>>())
    })?;
    rows.sort_by(|a, b| a.repo.cmp(&b.repo));
    Ok(rows)
}

fn scores(task: &Task, view: &indexd_oracle::Oracle, budgets: &[u64], settings: &Settings) -> Result<Scores> {
    let mut scores = Scores::default();
    for &budget in budgets {
        let started = std::time::Instant::now();
        let pack = pack(view, &task.query, &[], budget, settings)?;
        scores.ms += started.elapsed().as_micros() as f64 / 1e3 / budgets.len() as f64;
        scores.packs.insert(budget, score::shares(task, &pack));
        scores.rank = score::rank(task, &pack, view);
        scores.confidence = pack.confidence.score;
        scores.budget_over |= pack.stats.token_count > budget;
    }
    Ok(scores)
}

fn pack(
    view: &indexd_oracle::Oracle,
    query: &str,
    expect: &[String],
    budget: u64,
    settings: &Settings,
) -> Result<Pack> {
    let counter = task::counter();
    let request = Request::from_json(json!({
        "query": query,
        "expect": expect,
        "includeExplain": true,
        "budgets": {"stop": if settings.is_thrifty { "value" } else { "budget" }, "maxTotalTokens": budget, "maxBytesPerItem": 16000, "maxItems": 250, "maxItemsPerSection": 80},
    }))?;
    let context =
        Context { matches_head: &|_| true, ..Context::new(&settings.config, &settings.tuning, counter) };
    Ok(build(view, &request, &context)?)
}

fn report(rows: &[Row], budgets: &[u64], variants: &Variants, by_repo: bool) {
    let of_budget = |b: &u64| {
        let titles = SHARES.map(|name| format!(" {} |", name.replace('K', &format!("{}k", b / 1000))));
        titles.concat() + " tokens |"
    };
    let head: String = budgets.iter().map(of_budget).collect();
    println!("| variant | n |{head} {} | ms |", RANKS.join(" | "));
    println!("|---|---|{}---|---|---|---|---|---|", "---|".repeat(11 * budgets.len()));
    for (i, (name, _)) in variants.iter().enumerate() {
        print_row(name, rows.iter().map(|r| &r.scores[i]), budgets);
    }
    let mut repos: Vec<&str> = rows.iter().filter(|_| by_repo).map(|r| r.repo.as_str()).collect();
    repos.dedup();
    for (prefix, is_of) in [("", true), ("without ", false)] {
        for repo in &repos {
            let of = rows.iter().filter(|r| (r.repo == *repo) == is_of);
            print_row(&format!("{prefix}{repo}"), of.map(|r| &r.scores[0]), budgets);
        }
    }
    for b in budgets {
        let defaults = rows.iter().map(|r| &r.scores[0]);
        let curve: Vec<(bool, f64)> =
            defaults.filter_map(|s| Some((s.packs[b].0[score::FUNC]? > 0.0, s.confidence))).collect();
        println!("area under the curve of confidence at {b}: {:.3}", score::area(&curve));
    }
    let over = rows.iter().flat_map(|r| &r.scores).filter(|s| s.budget_over).count();
    println!("\npacks over budget: {over}");
}

fn print_row<'s>(name: &str, rows: impl Iterator<Item = &'s Scores>, budgets: &[u64]) {
    let rows: Vec<&Scores> = rows.collect();
    let mean = |f: &dyn Fn(&Scores) -> Option<f64>| score::mean(rows.iter().filter_map(|s| f(s)));
    let mut line = format!("| {name} | {} |", rows.len());
    for b in budgets {
        for i in 0..SHARES.len() {
            line += &format!(" {:.1} |", 100.0 * mean(&|s| s.packs[b].0[i]));
        }
        line += &format!(" {:.0} |", mean(&|s| Some(s.packs[b].1 as f64)));
    }
    for i in 0..RANKS.len() {
        line += &format!(" {:.1} |", 100.0 * mean(&|s| s.rank[i]));
    }
    println!("{line} {:.2} |", mean(&|s| Some(s.ms)));
}

/// Reads a member of a JSON object as text.
fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or("")
}
