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

#[derive(Clone, Default)]
pub struct Metrics {
    pub file_recall: f64,
    pub func_recall: Option<f64>,
    pub func_strict: Option<f64>,
    pub line_recall: Option<f64>,
    /// 1 where at least three quarters of the changed lines are shown.
    pub most_lines: Option<f64>,
    pub needs_recall: Option<f64>,
    pub needs_new: Option<f64>,
    pub needs_far: Option<f64>,
    pub test_files: Option<f64>,
    pub test_funcs: Option<f64>,
    pub tokens: f64,
}

#[derive(Clone, Default)]
pub struct Ranks {
    pub mrr: f64,
    pub file_acc_5: f64,
    pub func_acc_1: Option<f64>,
    pub func_acc_5: Option<f64>,
    pub func_acc_10: Option<f64>,
}

#[derive(Clone, Default)]
pub struct Scores {
    pub packs: BTreeMap<u64, Metrics>,
    pub rank: Ranks,
    pub micros: u64,
    pub budget_over: bool,
    pub confidence: f64,
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

fn share(hits: usize, of: usize) -> Option<f64> {
    (of > 0).then(|| hits as f64 / of as f64)
}

pub fn pack(task: &Task, pack: &Pack) -> Metrics {
    metrics(task, &shown(pack), pack.stats.token_count)
}

/// What the lines that are shown for so many tokens hold of a task.
pub fn metrics(task: &Task, have: &Shown, n_tokens: u64) -> Metrics {
    let none = BTreeSet::new();
    let of = |path: &str| have.get(path).unwrap_or(&none);
    let funcs: Vec<&Gold> = task.gold.iter().filter(|g| g.is_func()).collect();
    let changed: Vec<(&str, u32)> = task
        .gold
        .iter()
        .flat_map(|g| g.changed.iter().map(|l| (g.path.as_str(), *l)))
        .chain(task.gold_loose.iter().flat_map(|(path, lines)| lines.iter().map(|l| (path.as_str(), *l))))
        .collect();
    let lines = share(changed.iter().filter(|(p, l)| of(p).contains(l)).count(), changed.len());
    let seen =
        |n: &Need| n.lines.iter().filter(|l| of(&n.path).contains(l)).count() as f64 / n.lines.len() as f64;
    let needs = |pick: &dyn Fn(&Need) -> bool| {
        let of_task = task.needs.as_ref()?.needs.iter().filter(|n| pick(n));
        let shares: Vec<f64> = of_task.map(seen).collect();
        (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
    };
    let tests = task.needs.as_ref();
    Metrics {
        most_lines: lines.map(|l| f64::from(u8::from(l >= 0.75))),
        needs_recall: needs(&|_| true),
        needs_new: needs(&|n| !n.kept),
        needs_far: needs(&|n| n.reach != Some(1)),
        test_files: tests.and_then(|n| {
            share(n.test_files.iter().filter(|f| have.contains_key(f.as_str())).count(), n.test_files.len())
        }),
        test_funcs: tests.and_then(|n| {
            share(n.tests.iter().filter(|t| of(&t.path).contains(&t.def)).count(), n.tests.len())
        }),
        tokens: n_tokens as f64,
        file_recall: share(
            task.gold_files.iter().filter(|f| have.contains_key(f.as_str())).count(),
            task.gold_files.len(),
        )
        .unwrap_or(0.0),
        func_recall: share(funcs.iter().filter(|g| is_covered(g, of(&g.path))).count(), funcs.len()),
        func_strict: share(
            funcs.iter().filter(|g| g.changed.iter().all(|l| of(&g.path).contains(l))).count(),
            funcs.len(),
        ),
        line_recall: lines,
    }
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
    Ranks {
        mrr: file_ranks.iter().flatten().min().map_or(0.0, |r| 1.0 / *r as f64),
        file_acc_5: all(&file_ranks, 5),
        func_acc_1: func(1),
        func_acc_5: func(5),
        func_acc_10: func(10),
    }
}

/// What a pack missed, for reading.
pub fn print_misses(task: &Task, pack: &Pack) {
    let have = shown(pack);
    let none = BTreeSet::new();
    let missed: Vec<&Gold> = task
        .gold
        .iter()
        .filter(|g| g.is_func() && !is_covered(g, have.get(g.path.as_str()).unwrap_or(&none)))
        .collect();
    if missed.is_empty() {
        return;
    }
    println!("\n## {} {}\n{}", task.id, &task.base[..10], task.query.chars().take(400).collect::<String>());
    for g in missed {
        println!("  missed {} {} {}-{} changed {:?}", g.path, g.name, g.start, g.end, g.changed);
        let excluded = pack.explain.iter().flat_map(|e| &e.excluded).enumerate();
        for (i, e) in excluded
            .filter(|(_, e)| e.file_rel_path == g.path && e.lines.start <= g.def && g.def <= e.lines.end)
        {
            println!(
                "    excluded at {i}: {:.3} {} lines {}-{}",
                e.hybrid_score, e.reason, e.lines.start, e.lines.end
            );
        }
        for i in
            pack.items().filter(|i| i.path() == g.path && i.lines().start <= g.def && g.def <= i.lines().end)
        {
            let parts: Vec<_> = i.excerpt.parts.iter().map(|p| (p.lines.start, p.lines.end)).collect();
            println!("    shown in parts {parts:?}");
        }
    }
    let shown: usize = pack.items().map(|i| i.excerpt.text.len()).sum();
    println!(
        "  {} of {} tokens, {} of {} bytes in excerpts",
        pack.stats.token_count,
        pack.stats.token_budget,
        shown,
        pack.rendered.len()
    );
    for item in pack.items().take(70) {
        println!(
            "    {:.3} {}:{}-{} {} tokens {} [{}]",
            item.scores.hybrid_score,
            item.path(),
            item.lines().start,
            item.lines().end,
            item.tokens,
            item.title.chars().take(60).collect::<String>(),
            item.why.rule
        );
    }
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
