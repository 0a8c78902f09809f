//! Paired comparison with another system on the same tasks: the difference of the means and the
//! interval that 95 of 100 resamplings of the tasks fall into (percentile bootstrap, Efron 1979).

use crate::score::Scores;
use anyhow::{Context as _, Result};
use serde_json::Value;
use std::collections::BTreeMap;

/// Resamplings; the bounds move by less than a tenth of a point beyond.
const SAMPLES: usize = 4_000;

/// Reads one metric off the scores of a task, in parts of one.
pub type Read = Box<dyn Fn(&Scores) -> Option<f64>>;

/// What another system reached: `metric at budget` by task.
pub struct Other(BTreeMap<String, BTreeMap<String, f64>>);

impl Other {
    /// Reads JSON lines of `{"id": ..., "pack": {"8000": {"func_recall": ...}}, "rank": {"mrr": ...}}`.
    pub fn load(path: &str) -> Result<Self> {
        let mut out = BTreeMap::new();
        for line in std::fs::read_to_string(path).with_context(|| path.to_owned())?.lines() {
            let v: Value = serde_json::from_str(line)?;
            let mut of = BTreeMap::new();
            let mut add = |key: String, value: &Value| value.as_f64().map(|x| of.insert(key, x));
            for (budget, metrics) in v["pack"].as_object().into_iter().flatten() {
                for (name, value) in metrics.as_object().into_iter().flatten() {
                    add(format!("{name}@{budget}"), value);
                }
            }
            for (name, value) in v["rank"].as_object().into_iter().flatten() {
                add(name.clone(), value);
            }
            out.insert(crate::text(&v, "id").to_owned(), of);
        }
        Ok(Self(out))
    }

    /// What a variant reached.
    pub fn of(scores: &[(&str, &Scores)], budgets: &[u64]) -> Self {
        let metrics = metrics(budgets);
        let of_task =
            |s: &Scores| metrics.iter().filter_map(|(name, of)| Some((name.clone(), of(s)?))).collect();
        Self(scores.iter().map(|(id, s)| ((*id).to_owned(), of_task(s))).collect())
    }

    /// Prints one line for each metric: ours, theirs, the difference and its interval, in percent.
    pub fn print(&self, ours: &[(&str, &Scores)], budgets: &[u64]) {
        println!("\n| metric | n | ours | theirs | difference | 95 % interval |\n|---|---|---|---|---|---|");
        for (name, of) in metrics(budgets) {
            let pairs: Vec<(f64, f64)> =
                ours.iter().filter_map(|(id, s)| Some((of(s)?, *self.0.get(*id)?.get(&name)?))).collect();
            let n = pairs.len().max(1) as f64;
            let (ours, theirs) = (
                100.0 * pairs.iter().map(|p| p.0).sum::<f64>() / n,
                100.0 * pairs.iter().map(|p| p.1).sum::<f64>() / n,
            );
            let (low, high) = interval(&pairs.iter().map(|p| 100.0 * (p.0 - p.1)).collect::<Vec<_>>());
            println!(
                "| {name} | {} | {ours:.1} | {theirs:.1} | {:+.1} | {low:+.1} .. {high:+.1} |",
                pairs.len(),
                ours - theirs
            );
        }
    }
}

/// The metrics by name, in the order in which they are printed.
pub fn metrics(budgets: &[u64]) -> Vec<(String, Read)> {
    let mut metrics: Vec<(String, Read)> = Vec::new();
    for &b in budgets {
        metrics.push((format!("file_recall@{b}"), Box::new(move |s| Some(s.packs[&b].file_recall))));
        metrics.push((format!("func_recall@{b}"), Box::new(move |s| s.packs[&b].func_recall)));
        metrics.push((format!("func_strict@{b}"), Box::new(move |s| s.packs[&b].func_strict)));
        metrics.push((format!("line_recall@{b}"), Box::new(move |s| s.packs[&b].line_recall)));
    }
    metrics.push(("mrr".to_owned(), Box::new(|s| Some(s.rank.mrr))));
    metrics.push(("file_acc@5".to_owned(), Box::new(|s| Some(s.rank.file_acc_5))));
    metrics.push(("func_acc@10".to_owned(), Box::new(|s| s.rank.func_acc_10)));
    metrics
}

/// The 2.5th and 97.5th percentile of the means of resampled differences; always the same for the
/// same differences.
fn interval(differences: &[f64]) -> (f64, f64) {
    let n = differences.len();
    if n == 0 {
        return (0.0, 0.0);
    }
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut next = || {
        // xorshift64* (Vigna 2016).
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        (state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize
    };
    let mut means: Vec<f64> =
        (0..SAMPLES).map(|_| (0..n).map(|_| differences[next() % n]).sum::<f64>() / n as f64).collect();
    means.sort_by(f64::total_cmp);
    (means[SAMPLES / 40], means[SAMPLES - 1 - SAMPLES / 40])
}
