//! Measures packs against tasks from real history: are the functions that a change touched in the
//! pack that its text gives?
//!
//! ```text
//! cargo run --release -p indexd-oracle --example relevance -- TASKS.jsonl MIRRORS
//!     [--budget 4000,8000] [--repo cobra,gin | --without cobra] [--limit N]
//!     [--variant NAME:key=value,key=value ...] [--ablate] [--by-repo] [--misses]
//! ... relevance questions QUESTIONS.jsonl TREES [--budget 2000,4000,8000] [--variant ...] [--misses]
//!     [--ablate] [--leave-one-out]
//! ... relevance reading QUESTIONS.jsonl TREES [--hints HINTS.jsonl] [--with names,words,rewrite] [--wrong]
//!     [--budget 4000] [--fill] [--bands] [--by-tree] [--misses] [--variant ...]
//! ... relevance names TRUTH TREE [--budget 4000,8000] [--variant ...] [--misses]
//! ... relevance show TREE TEXT [--budget 8000] [--json]
//! ```
//!
//! `questions` asks plain questions of folders, which may be clones, `reading` counts what is printed until the
//! answer is on the page, with and without what a caller expects (`--wrong` asks another tree), `names` asks for symbols and looks for their
//! neighbourhood, `show` prints one pack. Beside `TASKS.jsonl`, `TASKS.needs.jsonl` says what one must
//! see to write each change.
//!
//! `MIRRORS` holds bare clones as `<owner>+<name>/repo`. A variant changes configuration by path,
//! for example `half:weights.file=0.15`; `--ablate` adds one variant for each signal, off.
//! `--leave-one-out` tunes what questions use without each tree and measures it there.
//! `--by-repo` prints each repository apart and all but each one, `--misses` what was not found.
//! History is read from the commits before each task's base. Metrics are means in percent.

mod apart;
mod names;
mod plain;
mod reading;
mod score;
mod task;
mod tree;

use anyhow::{Context as _, Result};
use indexd_pack::{Config, Context, Pack, Request, Tuning, build};
use score::{Metrics, Scores};
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

struct Options {
    budgets: Vec<u64>,
    variants: Vec<(String, Settings)>,
    by_repo: bool,
    misses: bool,
    mirrors: String,
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let value = |flag: &str| args.iter().position(|a| a == flag).and_then(|i| args.get(i + 1));
    let has = |flag: &str| args.iter().any(|a| a == flag);
    let budgets: Vec<u64> = value("--budget")
        .map_or("4000,8000", String::as_str)
        .split(',')
        .map(str::parse)
        .collect::<Result<_, _>>()?;
    let tasks_path = args.first().context("usage: relevance TASKS.jsonl MIRRORS")?;
    if let ("questions" | "names", [_, truth, root, ..]) = (tasks_path.as_str(), &args[..]) {
        let variants = variants(&args)?;
        if has("--leave-one-out") {
            return apart::leave_one_out(truth, root, &budgets);
        }
        let ask = if tasks_path == "names" { names::run } else { plain::run };
        return ask(truth, root, &budgets, &variants, has("--misses"));
    }
    if let ("reading", [_, questions, root, ..]) = (tasks_path.as_str(), &args[..]) {
        return reading::run(questions, root, &args, &variants(&args)?);
    }
    if let ("show", [_, root, query, ..]) = (tasks_path.as_str(), &args[..]) {
        let variants = variants(&args)?;
        let settings = &variants.last().context("a variant")?.1;
        return show(&pack(&tree::folder(root)?, query, &[], budgets[0], settings)?, has("--json"));
    }
    let mut tasks = task::load(tasks_path)?;
    if let Some(repos) = value("--repo") {
        tasks.retain(|t| repos.split(',').any(|r| t.repo.contains(r)));
    }
    if let Some(repos) = value("--without") {
        tasks.retain(|t| !repos.split(',').any(|r| t.repo.contains(r)));
    }
    if let Some(n) = value("--every") {
        let n: usize = n.parse()?;
        tasks = tasks.into_iter().step_by(n).collect();
    }
    tasks.truncate(value("--limit").map_or(Ok(usize::MAX), |n| n.parse())?);
    let variants = variants(&args)?;
    let options = Options {
        budgets,
        variants,
        by_repo: has("--by-repo"),
        misses: has("--misses"),
        mirrors: args.get(1).context("usage: relevance TASKS.jsonl MIRRORS")?.clone(),
    };
    let results = run(&tasks, &options)?;
    report(&results, &options);
    Ok(())
}

/// Prints a pack.
fn show(pack: &Pack, as_json: bool) -> Result<()> {
    if as_json {
        println!("{}", pack.canonical());
        return Ok(());
    }
    println!("{}", pack.rendered);
    for s in pack.sections.iter().filter(|s| !s.items.is_empty()) {
        println!("{}: {}", s.name, s.items.len());
    }
    println!("{} tokens", pack.stats.token_count);
    Ok(())
}

/// The default configuration and what `--variant` and `--ablate` ask for beside it.
fn variants(args: &[String]) -> Result<Vec<(String, Settings)>> {
    let mut out = vec![("default".to_owned(), Settings::default())];
    for (i, _) in args.iter().enumerate().filter(|(_, a)| *a == "--variant") {
        out.push(variant(args.get(i + 1).context("--variant needs NAME:key=value")?)?);
    }
    if args.iter().any(|a| a == "--ablate") {
        for w in FEATURES {
            out.push(variant(&format!("no {w}:weights.{w}=0"))?);
        }
        for (name, change) in OFF {
            out.push(variant(&format!("{name}:{change}"))?);
        }
    }
    Ok(out)
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

/// Results by variant: repository, task and scores.
type Results = Vec<Vec<(String, String, Scores)>>;

fn run(tasks: &[Task], options: &Options) -> Result<Results> {
    let mut by_repo: BTreeMap<&str, Vec<&Task>> = BTreeMap::new();
    for t in tasks {
        by_repo.entry(&t.repo).or_default().push(t);
    }
    let queue = Mutex::new(by_repo.into_iter().collect::<Vec<_>>());
    let results: Mutex<Vec<(usize, String, String, Scores)>> = Mutex::default();
    let failure = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some((repo, tasks)) = { queue.lock().expect("no panic holds the lock").pop() } {
                    if let Err(e) = run_repo(repo, &tasks, options, &results) {
                        *failure.lock().expect("no panic holds the lock") = Some(e);
                    }
                }
            });
        }
    });
    if let Some(e) = failure.into_inner().expect("no panic holds the lock") {
        return Err(e);
    }
    let mut rows = results.into_inner().expect("no panic holds the lock");
    rows.sort_by(|a, b| (a.0, &a.1, &a.2).cmp(&(b.0, &b.1, &b.2)));
    let mut out: Results = vec![Vec::new(); options.variants.len()];
    for (variant, repo, task, scores) in rows {
        out[variant].push((repo, task, scores));
    }
    Ok(out)
}

fn run_repo(
    repo: &str,
    tasks: &[&Task],
    options: &Options,
    results: &Mutex<Vec<(usize, String, String, Scores)>>,
) -> Result<()> {
    let mut trees = Trees::open(&options.mirrors, repo)?;
    for task in tasks {
        let view = trees.at(&task.base)?;
        let add = |i: usize, scores: Scores| {
            let mut all = results.lock().expect("no panic holds the lock");
            all.push((i, repo.to_owned(), task.id.clone(), scores));
        };
        for (i, (_, config)) in options.variants.iter().enumerate() {
            let mut scores = Scores::default();
            for &budget in &options.budgets {
                let started = std::time::Instant::now();
                let pack = pack(&view, &task.query, &[], budget, config)?;
                scores.micros += started.elapsed().as_micros() as u64 / options.budgets.len() as u64;
                scores.packs.insert(budget, score::pack(task, &pack));
                scores.rank = score::rank(task, &pack, &view);
                scores.confidence = pack.confidence.score;
                scores.budget_over |= pack.stats.token_count > budget;
                if options.misses
                    && i + 1 == options.variants.len()
                    && Some(&budget) == options.budgets.last()
                {
                    score::print_misses(task, &pack);
                }
            }
            add(i, scores);
        }
    }
    Ok(())
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

fn report(results: &Results, options: &Options) {
    let budgets = &options.budgets;
    let mut head = String::from("| variant | n |");
    for b in budgets {
        let k = b / 1000;
        head.push_str(&format!(
            " file {k}k | func {k}k | strict {k}k | line {k}k | most {k}k | needs {k}k | new | far | test files | tests {k}k | tokens |"
        ));
    }
    println!("{head} mrr | file_acc@5 | func_acc@1 | func_acc@5 | func_acc@10 | ms |");
    println!("|---|---|{}---|---|---|---|---|---|", "---|".repeat(11 * budgets.len()));
    for ((name, _), rows) in options.variants.iter().zip(results) {
        print_row(name, rows.iter().map(|r| &r.2), budgets);
    }
    if options.by_repo {
        let rows = &results[0];
        let mut repos: Vec<&String> = rows.iter().map(|r| &r.0).collect();
        repos.dedup();
        for repo in &repos {
            print_row(repo, rows.iter().filter(|r| r.0 == **repo).map(|r| &r.2), budgets);
        }
        for repo in &repos {
            print_row(
                &format!("without {repo}"),
                rows.iter().filter(|r| r.0 != **repo).map(|r| &r.2),
                budgets,
            );
        }
    }
    for &b in budgets {
        let curve: Vec<(bool, f64)> = results[0]
            .iter()
            .filter_map(|r| Some((r.2.packs[&b].func_recall? > 0.0, r.2.confidence)))
            .collect();
        println!("area under the curve of confidence at {b}: {:.3}", score::area(&curve));
    }
    let over = results.iter().flatten().filter(|r| r.2.budget_over).count();
    println!("\npacks over budget: {over}");
}

fn print_row<'s>(name: &str, rows: impl Iterator<Item = &'s Scores>, budgets: &[u64]) {
    let rows: Vec<&Scores> = rows.collect();
    let mean = |f: &dyn Fn(&Scores) -> Option<f64>| -> f64 {
        let values: Vec<f64> = rows.iter().filter_map(|s| f(s)).collect();
        100.0 * values.iter().sum::<f64>() / values.len().max(1) as f64
    };
    let mut line = format!("| {name} | {} |", rows.len());
    for b in budgets {
        let at = |f: fn(&Metrics) -> Option<f64>| mean(&|s: &Scores| f(&s.packs[b]));
        line.push_str(&format!(
            " {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.0} |",
            at(|m| Some(m.file_recall)),
            at(|m| m.func_recall),
            at(|m| m.func_strict),
            at(|m| m.line_recall),
            at(|m| m.most_lines),
            at(|m| m.needs_recall),
            at(|m| m.needs_new),
            at(|m| m.needs_far),
            at(|m| m.test_files),
            at(|m| m.test_funcs),
            at(|m| Some(m.tokens)) / 100.0
        ));
    }
    let rank = |f: fn(&score::Ranks) -> Option<f64>| mean(&|s: &Scores| f(&s.rank));
    println!(
        "{line} {:.1} | {:.1} | {:.1} | {:.1} | {:.1} | {:.2} |",
        rank(|r| Some(r.mrr)),
        rank(|r| Some(r.file_acc_5)),
        rank(|r| r.func_acc_1),
        rank(|r| r.func_acc_5),
        rank(|r| r.func_acc_10),
        mean(&|s: &Scores| Some(s.micros as f64 / 1000.0)) / 100.0
    );
}

/// Reads a member of a JSON object as text.
fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or("")
}
