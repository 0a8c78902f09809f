//! Tunes what ranking does with questions without each tree in turn and measures it on the one left out.
//!
//! For each setting the factor that helps the other trees most is taken, then those that still help are
//! kept together, best first. What is maximised is the mean of recall at each budget, of right first
//! items and of reciprocal ranks over the questions of the other trees.

use crate::Settings;
use crate::plain::{Answers, Asked};
use anyhow::{Context as _, Result};
use indexd_pack::Tuning;
use serde_json::{Value, json};
use std::collections::HashMap;

/// What questions use.
const SETTINGS: [&str; 6] = [
    "weights.docQuestion",
    "weights.derived",
    "weights.synonyms",
    "weights.neighbours",
    "excerpts.questionMostPercent",
    "excerpts.questionFade",
];
/// What a setting is multiplied by.
const FACTORS: [f64; 4] = [0.5, 0.75, 1.33, 2.0];
/// A step that gains less, in points of the mean, is none.
const GAIN_MIN: f64 = 0.2;

/// A setting and its new value.
type Step = (String, Value);

/// Prints a line for each tree: its figures with the defaults, and with what the others chose.
pub fn leave_one_out(file: &str, root: &str, budgets: &[u64]) -> Result<()> {
    let asked = Asked::read(file, root)?;
    let mut known: HashMap<String, Answers> = HashMap::new();
    let mut ask = |steps: &[Step]| -> Result<Answers> {
        let key = format!("{steps:?}");
        if !known.contains_key(&key) {
            known.insert(key.clone(), asked.ask(&config(steps)?, budgets)?);
        }
        Ok(known[&key].clone())
    };
    let head: Vec<String> = budgets.iter().map(|b| format!("recall {b}")).collect();
    println!("| left out | {} | first | mrr | chosen by the others |", head.join(" | "));
    println!("|---|{}---|---|---|", "---|".repeat(budgets.len()));
    let before = ask(&[])?;
    let mut sums = vec![(0.0, 0.0); budgets.len() + 2];
    for left_out in asked.trees() {
        let goal = |found: &Answers| {
            let of = figures(found, budgets, |tree| tree != left_out);
            of.iter().sum::<f64>() / of.len() as f64
        };
        let mut reached = goal(&before);
        let mut steps: Vec<(f64, Step)> = Vec::new();
        for name in SETTINGS {
            let mut best: Option<(f64, Step)> = None;
            for s in steps_of(name)? {
                let gain = goal(&ask(std::slice::from_ref(&s))?) - reached;
                if gain > GAIN_MIN && best.as_ref().is_none_or(|b| gain > b.0) {
                    best = Some((gain, s));
                }
            }
            steps.extend(best);
        }
        steps.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut kept: Vec<Step> = Vec::new();
        for (_, s) in steps {
            let tried: Vec<Step> = kept.iter().cloned().chain([s]).collect();
            let now = goal(&ask(&tried)?);
            if now > reached + GAIN_MIN {
                (kept, reached) = (tried, now);
            }
        }
        let after = ask(&kept)?;
        let [was, is] = [&before, &after].map(|found| figures(found, budgets, |tree| tree == left_out));
        let cells: Vec<String> = was.iter().zip(&is).map(|(w, i)| format!(" {w:.1} to {i:.1} |")).collect();
        let chosen: Vec<String> = kept.iter().map(|(name, value)| format!("{name}={value}")).collect();
        println!("| {left_out} |{} {} |", cells.concat(), chosen.join(", "));
        for (sum, (w, i)) in sums.iter_mut().zip(was.iter().zip(&is)) {
            *sum = (sum.0 + w, sum.1 + i);
        }
    }
    let n = asked.trees().len().max(1) as f64;
    let means: Vec<String> = sums.iter().map(|(w, i)| format!(" {:.1} to {:.1} |", w / n, i / n)).collect();
    println!("| mean |{} |", means.concat());
    Ok(())
}

/// Recall at each budget, right first items and reciprocal ranks over the questions of some trees, in
/// percent; the last two at the greatest budget.
fn figures(found: &Answers, budgets: &[u64], is_in: impl Fn(&str) -> bool) -> Vec<f64> {
    let at = |budget: u64, of: fn(&crate::plain::Found) -> f64| {
        let some = found.iter().filter(|(k, _)| k.1 == budget && is_in(k.0)).flat_map(|(_, f)| f);
        let (sum, n) = some.fold((0.0, 0), |(sum, n), f| (sum + of(f), n + 1));
        100.0 * sum / f64::from(n.max(1))
    };
    let last = budgets[budgets.len() - 1];
    let recall = budgets.iter().map(|b| at(*b, |f| f.recall));
    recall.chain([at(last, |f| f.first), at(last, |f| f.mrr)]).collect()
}

/// A setting at each factor of its default.
fn steps_of(name: &str) -> Result<Vec<Step>> {
    let defaults = serde_json::to_value(Tuning::default())?;
    let pointer = format!("/{}", name.replace('.', "/"));
    let value = defaults.pointer(&pointer).with_context(|| format!("no setting {name}"))?;
    Ok(FACTORS.iter().filter_map(|f| step(name.to_owned(), value, *f)).collect())
}

/// One number at a factor of its default.
fn step(name: String, value: &Value, factor: f64) -> Option<Step> {
    let was = value.as_f64()?;
    let is = was * factor;
    let value = if value.is_u64() { json!(is.round() as u64) } else { json!((is * 1e4).round() / 1e4) };
    (value.as_f64()? != was).then_some((name, value))
}

/// The defaults with these steps.
fn config(steps: &[Step]) -> Result<Settings> {
    let mut config = serde_json::to_value(Tuning::default())?;
    for (name, value) in steps {
        let pointer = format!("/{}", name.replace('.', "/"));
        *config.pointer_mut(&pointer).with_context(|| format!("no setting {name}"))? = value.clone();
    }
    Ok(Settings { tuning: serde_json::from_value(config)?, ..Settings::default() })
}
