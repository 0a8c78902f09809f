//! Tasks and the token counter.

use anyhow::{Context as _, Result};
use indexd_text::{CachedCounter, CounterOptions, TokenCounter};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

/// A unit that the change touched.
#[derive(Deserialize)]
pub struct Gold {
    pub path: String,
    /// `func` for a function.
    kind: String,
    pub start: u32,
    pub end: u32,
    pub def: u32,
    pub changed: Vec<u32>,
}

impl Gold {
    pub fn is_func(&self) -> bool {
        self.kind == "func"
    }
}

#[derive(Deserialize)]
pub struct Task {
    pub id: String,
    pub repo: String,
    pub base: String,
    pub query: String,
    pub gold_files: Vec<String>,
    pub gold: Vec<Gold>,
    /// Changed lines outside any unit, by path.
    pub gold_loose: BTreeMap<String, Vec<u32>>,
    /// What one must see to write the change, where it is known.
    #[serde(skip)]
    pub needs: Option<Needs>,
}

/// The second truth: definitions that the change refers to, and the tests that it edits.
#[derive(Deserialize)]
pub struct Needs {
    /// The task.
    id: String,
    pub needs: Vec<Need>,
    pub test_files: Vec<String>,
    /// Each changed test function.
    pub tests: Vec<Test>,
}

/// A definition that the change refers to.
#[derive(Deserialize)]
pub struct Need {
    pub path: String,
    pub lines: Vec<u32>,
    /// Whether the lines that the change deletes refer to all of it too.
    #[serde(default)]
    pub kept: bool,
    /// Steps to it from a touched function, before the change.
    pub reach: Option<u64>,
}

/// A test function.
#[derive(Deserialize)]
pub struct Test {
    pub path: String,
    /// Its line.
    pub def: u32,
}

pub fn load(path: &str) -> Result<Vec<Task>> {
    let mut out: Vec<Task> = lines(path)?;
    let beside = path.replace(".jsonl", ".needs.jsonl");
    if beside != path && std::path::Path::new(&beside).exists() {
        let known = lines(&beside)?.into_iter().map(|needs: Needs| (needs.id.clone(), needs));
        let mut known: HashMap<String, Needs> = known.collect();
        out.iter_mut().for_each(|task| task.needs = known.remove(&task.id));
    }
    Ok(out)
}

/// The objects of a file, one a line.
pub fn lines<T: DeserializeOwned>(path: &str) -> Result<Vec<T>> {
    let text = std::fs::read_to_string(path).with_context(|| path.to_owned())?;
    text.lines().filter(|line| !line.trim().is_empty()).map(|line| Ok(serde_json::from_str(line)?)).collect()
}

pub fn counter() -> &'static dyn TokenCounter {
    static COUNTER: OnceLock<Arc<CachedCounter>> = OnceLock::new();
    &**COUNTER
        .get_or_init(|| indexd_text::counter("o200k_base", &CounterOptions::default()).expect("a known name"))
}
