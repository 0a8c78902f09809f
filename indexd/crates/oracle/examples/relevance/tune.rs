//! Tunes the settings without each repository in turn and measures them on the one left out.
//!
//! One step of coordinate ascent from the defaults (each setting at a few factors), then a greedy sum
//! of the best steps while they help together. What is maximised is the mean of all metrics over the
//! tasks of the other repositories; the figures of the repository left out are never looked at.

use crate::Settings;
use crate::against::{Read, metrics};
use crate::score::Scores;
use crate::task::Task;
use crate::{Options, Results, run};
use anyhow::{Context as _, Result};
use indexd_pack::Tuning;
use serde_json::{Value, json};

/// Every setting of this group is tuned, and these of excerpts.
const GROUP: &str = "weights";
const EXCERPTS: [&str; 6] =
    ["fade", "firstPercent", "leastPercent", "typePercent", "windowLines", "headLines"];
/// What a setting is multiplied by.
const FACTORS: [f64; 4] = [0.5, 0.75, 1.33, 2.0];
/// Settings tried together, those that help most alone.
const TOGETHER_MAX: usize = 12;
/// A step that gains less, in points of the mean, is none.
const GAIN_MIN: f64 = 0.02;

/// A setting and its new value.
pub type Step = (String, Value);

/// Prints one line for each repository: its figures with the defaults, and with what the others chose.
pub fn leave_one_out(tasks: &[Task], options: &mut Options) -> Result<()> {
    let metrics = metrics(&options.budgets);
    let mut repos: Vec<String> = tasks.iter().map(|t| t.repo.clone()).collect();
    repos.sort();
    repos.dedup();
    let steps = steps()?;
    options.variants = vec![("default".to_owned(), Settings::default())];
    for step in &steps {
        options.variants.push((step.0.clone(), config(std::slice::from_ref(step))?));
    }
    let singles = run(tasks, options)?;
    // The best value of each setting, best first, as the tasks of the other repositories say.
    let candidates: Vec<Vec<Step>> = repos
        .iter()
        .map(|repo| {
            let base = mean(&singles, 0, &metrics, |r| r != repo);
            let mut gains: Vec<(f64, &Step)> = steps
                .iter()
                .enumerate()
                .map(|(i, s)| (mean(&singles, i + 1, &metrics, |r| r != repo) - base, s))
                .filter(|(gain, _)| *gain > GAIN_MIN)
                .collect();
            gains.sort_by(|a, b| b.0.total_cmp(&a.0));
            let mut best: Vec<Step> = Vec::new();
            for (_, step) in gains {
                if best.len() < TOGETHER_MAX && best.iter().all(|b| b.0 != step.0) {
                    best.push(step.clone());
                }
            }
            best
        })
        .collect();
    let mut kept: Vec<Vec<Step>> = vec![Vec::new(); repos.len()];
    let mut reached: Vec<f64> = repos.iter().map(|repo| mean(&singles, 0, &metrics, |r| r != repo)).collect();
    for round in 0..candidates.iter().map(Vec::len).max().unwrap_or(0) {
        let tried: Vec<Vec<Step>> = kept
            .iter()
            .zip(&candidates)
            .map(|(kept, candidates)| kept.iter().chain(candidates.get(round)).cloned().collect())
            .collect();
        let results = run_each(tasks, options, &repos, &tried)?;
        for (i, repo) in repos.iter().enumerate() {
            let now = mean(&results, i, &metrics, |r| r != repo);
            if now > reached[i] + GAIN_MIN {
                (kept[i], reached[i]) = (tried[i].clone(), now);
            }
        }
    }
    let tuned = run_each(tasks, options, &repos, &kept)?;
    print(&repos, &metrics, &singles, &tuned, &kept);
    Ok(())
}

/// The figures of each repository before and after, and of their means.
fn print(
    repos: &[String],
    metrics: &[(String, Read)],
    before: &Results,
    after: &Results,
    kept: &[Vec<Step>],
) {
    let names: Vec<&str> = metrics.iter().map(|m| m.0.as_str()).collect();
    println!("| left out | {} | chosen by the others |", names.join(" | "));
    println!("|---|{}---|", "---|".repeat(names.len()));
    let value = |results: &Results, i: usize, of: &Read, repo: &str| {
        mean_of(results[i].iter().filter(|r| r.0 == repo).filter_map(|r| of(&r.2)))
    };
    let mut sums = vec![(0.0, 0.0); metrics.len()];
    for (i, repo) in repos.iter().enumerate() {
        let mut line = format!("| {repo} |");
        for ((_, of), sum) in metrics.iter().zip(&mut sums) {
            let (was, is) = (value(before, 0, of, repo), value(after, i, of, repo));
            line.push_str(&format!(" {was:.1} to {is:.1} |"));
            *sum = (sum.0 + was, sum.1 + is);
        }
        let chosen: Vec<String> = kept[i].iter().map(|(name, value)| format!("{name}={value}")).collect();
        println!("{line} {} |", chosen.join(", "));
    }
    let n = repos.len().max(1) as f64;
    let means: Vec<String> =
        sums.iter().map(|(was, is)| format!(" {:.1} to {:.1} |", was / n, is / n)).collect();
    println!("| mean |{} |", means.concat());
}

/// Runs one choice of steps for each repository.
fn run_each(
    tasks: &[Task],
    options: &mut Options,
    repos: &[String],
    choices: &[Vec<Step>],
) -> Result<Results> {
    options.variants = repos
        .iter()
        .zip(choices)
        .map(|(repo, steps)| Ok((repo.clone(), config(steps)?)))
        .collect::<Result<_>>()?;
    run(tasks, options)
}

/// Each setting at each factor, as far as a configuration may have that value.
fn steps() -> Result<Vec<Step>> {
    let defaults = serde_json::to_value(Tuning::default())?;
    let mut out = Vec::new();
    for (name, value) in defaults[GROUP].as_object().context("a group of settings")? {
        out.extend(FACTORS.iter().filter_map(|f| step(format!("{GROUP}.{name}"), value, *f)));
    }
    for name in EXCERPTS {
        let value = &defaults["excerpts"][name];
        out.extend(FACTORS.iter().filter_map(|f| step(format!("excerpts.{name}"), value, *f)));
    }
    Ok(out)
}

/// Numbers that are at most 1.
const SHARES: [&str; 3] = [".coverage", ".gate", ".short"];

/// One number at a factor of its default.
pub fn step(name: String, value: &Value, factor: f64) -> Option<Step> {
    let was = value.as_f64()?;
    let is_share = SHARES.iter().any(|s| name.ends_with(s));
    let is = if is_share { (was * factor).min(1.0) } else { was * factor };
    let value = if value.is_u64() { json!(is.round() as u64) } else { json!((is * 1e4).round() / 1e4) };
    (value.as_f64()? != was).then_some((name, value))
}

/// The defaults with these steps.
pub fn config(steps: &[Step]) -> Result<Settings> {
    let mut config = serde_json::to_value(Tuning::default())?;
    for (name, value) in steps {
        let pointer = format!("/{}", name.replace('.', "/"));
        *config.pointer_mut(&pointer).with_context(|| format!("no setting {name}"))? = value.clone();
    }
    Ok(Settings { tuning: serde_json::from_value(config)?, ..Settings::default() })
}

/// The mean of all metrics of a variant over the tasks of some repositories, in percent.
fn mean(results: &Results, variant: usize, metrics: &[(String, Read)], is_in: impl Fn(&str) -> bool) -> f64 {
    let of_metric = |of: &Read| {
        mean_of(
            results[variant]
                .iter()
                .filter(|r| is_in(&r.0))
                .filter_map(|r: &(String, String, Scores)| of(&r.2)),
        )
    };
    metrics.iter().map(|m| of_metric(&m.1)).sum::<f64>() / metrics.len() as f64
}

fn mean_of(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut n) = (0.0, 0u32);
    for value in values {
        sum += value;
        n += 1;
    }
    100.0 * sum / f64::from(n.max(1))
}
