//! Tasks and the token counter.

use anyhow::Result;
use indexd_text::{CachedCounter, CounterOptions, TokenCounter};
use serde_json::Value;
use std::collections::HashMap;
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
    /// What one must see to write the change, where it is known.
    pub needs: Option<Needs>,
}

/// The second truth: definitions that the change refers to, and the tests that it edits.
#[derive(Default)]
pub struct Needs {
    pub needs: Vec<Need>,
    pub test_files: Vec<String>,
    /// Path and line of each changed test function.
    pub tests: Vec<(String, u32)>,
}

/// A definition that the change refers to.
pub struct Need {
    pub path: String,
    pub lines: Vec<u32>,
    /// Whether the lines that the change deletes refer to all of it too.
    pub is_kept: bool,
    /// Whether a touched function refers to it before the change.
    pub is_near: bool,
}

pub fn load(path: &str) -> Result<Vec<Task>> {
    let mut out = Vec::new();
    for line in std::fs::read_to_string(path)?.lines().filter(|l| !l.trim().is_empty()) {
        out.push(task(&serde_json::from_str(line)?));
    }
    let beside = path.replace(".jsonl", ".needs.jsonl");
    if beside != path && std::path::Path::new(&beside).exists() {
        let text = std::fs::read_to_string(beside)?;
        let known = text.lines().map(|line| Ok(needs(&serde_json::from_str(line)?)));
        let mut known = known.collect::<Result<HashMap<String, Needs>>>()?;
        out.iter_mut().for_each(|t| t.needs = known.remove(&t.id));
    }
    Ok(out)
}

fn needs(v: &Value) -> (String, Needs) {
    let list = |v: &Value| v.as_array().cloned().unwrap_or_default();
    let path = |v: &Value| crate::text(v, "path").to_owned();
    let line = |v: &Value| v.as_u64().unwrap_or(0) as u32;
    let need = |n: &Value| Need {
        path: path(n),
        lines: list(&n["lines"]).iter().map(line).collect(),
        is_kept: n["kept"].as_bool().unwrap_or(false),
        is_near: n["reach"].as_u64() == Some(1),
    };
    let of = Needs {
        needs: list(&v["needs"]).iter().map(need).collect(),
        test_files: list(&v["test_files"]).iter().filter_map(|f| f.as_str().map(str::to_owned)).collect(),
        tests: list(&v["tests"]).iter().map(|t| (path(t), line(&t["def"]))).collect(),
    };
    (crate::text(v, "id").to_owned(), of)
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
        needs: None,
    }
}

pub fn counter() -> &'static dyn TokenCounter {
    static COUNTER: OnceLock<Arc<CachedCounter>> = OnceLock::new();
    &**COUNTER
        .get_or_init(|| indexd_text::counter("o200k_base", &CounterOptions::default()).expect("a known name"))
}
