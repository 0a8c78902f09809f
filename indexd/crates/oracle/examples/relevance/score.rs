//! The metrics: what the pack holds at its budget, and in which order.

use crate::task::{Gold, Need, Task};
use indexd_model::{DefKind, FactsView, IndexView, LineIndex};
use indexd_oracle::Oracle;
use indexd_pack::Pack;
use std::collections::{BTreeMap, BTreeSet};

/// Lines after the definition's that must be shown for a function to count by its head.
const HEAD_LINES: u32 = 10;
/// Functions ranked at most.
const RANKED_MAX: usize = 100;

/// The parts of [`Shares`]; `K` stands for the budget.
pub const SHARES: [&str; 10] =
    ["file K", "func K", "strict K", "line K", "most K", "needs K", "new", "far", "test files", "tests K"];
/// Functions in [`SHARES`].
pub const FUNC: usize = 1;
/// The parts of [`Ranks`].
pub const RANKS: [&str; 5] = ["mrr", "file_acc@5", "func_acc@1", "func_acc@5", "func_acc@10"];

/// How much of a task a pack shows, in 0..1 and where the task has any, and the tokens of the pack.
pub type Shares = ([Option<f64>; SHARES.len()], u64);
/// In which order a pack has the files and functions of a task, in 0..1.
pub type Ranks = [Option<f64>; RANKS.len()];

#[derive(Clone, Default)]
pub struct Scores {
    pub packs: BTreeMap<u64, Shares>,
    pub rank: Ranks,
    pub ms: f64,
    pub budget_over: bool,
    pub confidence: f64,
}

/// The mean of numbers; 0 of none.
pub fn mean(values: impl IntoIterator<Item = f64>) -> f64 {
    let (sum, n) = values.into_iter().fold((0.0, 0), |(sum, n), value| (sum + value, n + 1));
    sum / f64::from(n.max(1))
}

pub type Shown<'p> = BTreeMap<&'p str, BTreeSet<u32>>;

pub fn shown(pack: &Pack) -> Shown<'_> {
    let mut out: Shown = BTreeMap::new();
    for item in pack.items() {
        for part in &item.excerpt.parts {
            out.entry(item.path()).or_default().extend(part.lines.start..=part.lines.end);
        }
    }
    out
}

fn is_covered(g: &Gold, have: &BTreeSet<u32>) -> bool {
    g.changed.iter().all(|l| have.contains(l))
        || (g.def..=(g.def + HEAD_LINES).min(g.end)).all(|l| have.contains(&l))
}

/// The share of these that are hits; `None` of none.
pub fn share<T>(all: impl ExactSizeIterator<Item = T>, is_hit: impl Fn(&T) -> bool) -> Option<f64> {
    let n = all.len();
    (n > 0).then(|| all.filter(is_hit).count() as f64 / n as f64)
}

pub fn shares(task: &Task, pack: &Pack) -> Shares {
    let have = shown(pack);
    let none = BTreeSet::new();
    let of = |path: &str| have.get(path).unwrap_or(&none);
    let funcs: Vec<&Gold> = task.gold.iter().filter(|g| g.is_func()).collect();
    let changed: Vec<(&str, u32)> = task
        .gold
        .iter()
        .flat_map(|g| g.changed.iter().map(|l| (g.path.as_str(), *l)))
        .chain(task.gold_loose.iter().flat_map(|(path, lines)| lines.iter().map(|l| (path.as_str(), *l))))
        .collect();
    let lines = share(changed.iter(), |(path, line)| of(path).contains(line));
    let seen =
        |n: &Need| n.lines.iter().filter(|l| of(&n.path).contains(l)).count() as f64 / n.lines.len() as f64;
    let truth = task.needs.as_ref();
    let needs = |pick: &dyn Fn(&Need) -> bool| {
        let shares: Vec<f64> = truth?.needs.iter().filter(|n| pick(n)).map(seen).collect();
        (!shares.is_empty()).then(|| mean(shares))
    };
    let shares = [
        Some(share(task.gold_files.iter(), |f| have.contains_key(f.as_str())).unwrap_or(0.0)),
        share(funcs.iter(), |g| is_covered(g, of(&g.path))),
        share(funcs.iter(), |g| g.changed.iter().all(|l| of(&g.path).contains(l))),
        lines,
        // Whether at least three quarters of the changed lines are shown.
        lines.map(|l| f64::from(u8::from(l >= 0.75))),
        needs(&|_| true),
        needs(&|n| !n.kept),
        needs(&|n| n.reach != Some(1)),
        truth.and_then(|t| share(t.test_files.iter(), |f| have.contains_key(f.as_str()))),
        truth.and_then(|t| share(t.tests.iter(), |t| of(&t.path).contains(&t.def))),
    ];
    (shares, pack.stats.token_count)
}

/// Functions of a file as the tasks count them: outermost ones, `(start, end, definition line)`.
fn functions(view: &Oracle, path: &str) -> Vec<(u32, u32, u32)> {
    let Some(file) = view.file_by_path(path) else { return Vec::new() };
    let interface = view.interface(file);
    let lines = LineIndex::new(&view.text(file));
    let is_func = |k: DefKind| matches!(k, DefKind::Function | DefKind::Method | DefKind::Property);
    let mut out = Vec::new();
    for def in &interface.defs {
        let mut parent = def.parent.some();
        let mut is_inner = false;
        while let Some(p) = parent {
            let outer = &interface.defs[p.index()];
            is_inner |= is_func(outer.kind) || outer.kind == DefKind::Interface;
            parent = outer.parent.some();
        }
        if is_func(def.kind) && !is_inner {
            let start = lines.line(def.head.start);
            out.push((start, lines.lines(def.span).end, lines.line(def.name_span.start)));
        }
    }
    out
}

pub fn rank(task: &Task, pack: &Pack, view: &Oracle) -> Ranks {
    let mut files: Vec<&str> = Vec::new();
    let mut funcs: Vec<(&str, u32)> = Vec::new();
    for item in pack.items() {
        let path = item.path();
        if !files.contains(&path) {
            files.push(path);
        }
        let lines: BTreeSet<u32> =
            item.excerpt.parts.iter().flat_map(|p| p.lines.start..=p.lines.end).collect();
        let (first, last) = (item.lines().start, item.lines().end);
        for (start, end, def) in functions(view, path) {
            let is_shown = if item.excerpt.parts.len() > 1 {
                lines.contains(&def)
            } else {
                let overlap = i64::from(end.min(last)) - i64::from(start.max(first)) + 1;
                (first <= def && def <= last) || overlap * 2 >= i64::from(end - start + 1)
            };
            if is_shown && funcs.len() < RANKED_MAX && !funcs.contains(&(path, start)) {
                funcs.push((path, start));
            }
        }
    }
    let place = |f: &String| files.iter().position(|x| x == f).map(|i| i + 1);
    let file_ranks: Vec<Option<usize>> = task.gold_files.iter().map(place).collect();
    let gold: Vec<Option<usize>> = task
        .gold
        .iter()
        .filter(|g| g.is_func())
        .map(|g| funcs.iter().position(|f| *f == (g.path.as_str(), g.start)).map(|i| i + 1))
        .collect();
    let all = |ranks: &[Option<usize>], k: usize| {
        f64::from(u8::from(ranks.iter().all(|r| r.is_some_and(|r| r <= k))))
    };
    let func = |k| (!gold.is_empty()).then(|| all(&gold, k));
    let mrr = file_ranks.iter().flatten().min().map_or(0.0, |r| 1.0 / *r as f64);
    [Some(mrr), Some(all(&file_ranks, 5)), func(1), func(5), func(10)]
}

/// The area under the curve: how often a positive has a higher value than a negative, ties half.
pub fn area(values: &[(bool, f64)]) -> f64 {
    let of = |side| values.iter().filter(move |v| v.0 == side).map(|v| v.1);
    let (mut sum, mut n) = (0.0, 0.0);
    for yes in of(true) {
        for no in of(false) {
            sum += if yes > no {
                1.0
            } else if yes < no {
                0.0
            } else {
                0.5
            };
            n += 1.0;
        }
    }
    if n > 0.0 { sum / n } else { f64::NAN }
}
