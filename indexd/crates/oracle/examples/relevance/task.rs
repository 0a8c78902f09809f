//! Tasks and the token counter.

use anyhow::Result;
use indexd_text::{CachedCounter, CounterOptions, TokenCounter};
use serde_json::Value;
use std::sync::{Arc, OnceLock};

/// A unit that the change touched.
pub struct Gold {
    pub path: String,
    pub is_func: bool,
    pub name: String,
    pub start: u32,
    pub end: u32,
    pub def: u32,
    pub changed: Vec<u32>,
}

pub struct Task {
    pub id: String,
    pub repo: String,
    pub base: String,
    pub query: String,
    pub gold_files: Vec<String>,
    pub gold: Vec<Gold>,
    /// Changed lines outside any unit.
    pub loose: Vec<(String, u32)>,
}

pub fn load(path: &str) -> Result<Vec<Task>> {
    let mut out = Vec::new();
    for line in std::fs::read_to_string(path)?.lines().filter(|l| !l.trim().is_empty()) {
        out.push(task(&serde_json::from_str(line)?));
    }
    Ok(out)
}

fn task(v: &Value) -> Task {
    let text = |v: &Value, k: &str| crate::text(v, k).to_owned();
    let list = |v: &Value| -> Vec<Value> { v.as_array().cloned().unwrap_or_default() };
    let line = |v: &Value| v.as_u64().unwrap_or(0) as u32;
    let mut loose = Vec::new();
    for (path, lines) in v["gold_loose"].as_object().into_iter().flatten() {
        loose.extend(list(lines).iter().map(|l| (path.clone(), line(l))));
    }
    Task {
        id: text(v, "id"),
        repo: text(v, "repo"),
        base: text(v, "base"),
        query: text(v, "query"),
        gold_files: list(&v["gold_files"]).iter().filter_map(|f| f.as_str().map(str::to_owned)).collect(),
        gold: list(&v["gold"])
            .iter()
            .map(|g| Gold {
                path: text(g, "path"),
                is_func: crate::text(g, "kind") == "func",
                name: text(g, "name"),
                start: line(&g["start"]),
                end: line(&g["end"]),
                def: line(&g["def"]),
                changed: list(&g["changed"]).iter().map(line).collect(),
            })
            .collect(),
        loose,
    }
}

pub fn counter() -> &'static dyn TokenCounter {
    static COUNTER: OnceLock<Arc<CachedCounter>> = OnceLock::new();
    &**COUNTER
        .get_or_init(|| indexd_text::counter("o200k_base", &CounterOptions::default()).expect("a known name"))
}
