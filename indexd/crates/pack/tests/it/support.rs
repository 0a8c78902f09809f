//! Fixture trees and a builder with defaults.

use indexd_model::IndexView;
use indexd_oracle::Oracle;
use indexd_pack::{Asked, Config, Context, Pack, PackError, Request, Tuning, build, preview};
use indexd_text::{CachedCounter, CounterOptions, TokenCounter, counter};
use serde_json::Value;
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// Files of `fixtures/packs/<name>`, by relative path.
pub fn tree(name: &str) -> Vec<(String, Vec<u8>)> {
    fn walk(dir: &Path, prefix: &str, out: &mut Vec<(String, Vec<u8>)>) {
        for entry in std::fs::read_dir(dir).expect("the fixture is there") {
            let entry = entry.expect("a readable entry");
            let path = format!("{prefix}{}", entry.file_name().to_str().expect("UTF-8"));
            if entry.path().is_dir() {
                walk(&entry.path(), &format!("{path}/"), out);
            } else {
                out.push((path, std::fs::read(entry.path()).expect("a readable file")));
            }
        }
    }
    let mut out = Vec::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/packs").join(name);
    walk(&root, "", &mut out);
    out.sort();
    out
}

pub fn tokens() -> &'static dyn TokenCounter {
    static COUNTER: OnceLock<Arc<CachedCounter>> = OnceLock::new();
    &**COUNTER.get_or_init(|| counter("o200k_base", &CounterOptions::default()).expect("a known name"))
}

/// The numbers of ranking.
pub fn tuning() -> &'static Tuning {
    static TUNING: OnceLock<Tuning> = OnceLock::new();
    TUNING.get_or_init(Tuning::default)
}

/// A request that fills its budget unless it says otherwise.
pub fn filling(mut request: Value) -> Value {
    if request["budgets"]["stop"].is_null() {
        request["budgets"]["stop"] = "budget".into();
    }
    request
}

pub fn try_build(view: &dyn IndexView, request: Value, config: &Config) -> Result<Pack, PackError> {
    Request::from_json(filling(request)).and_then(|r| build(view, &r, &context(config, &|| false)))
}

/// A pack that only so many hits are seeds of.
pub fn with_seeds(view: &dyn IndexView, request: Value, seeds_max: u32) -> Pack {
    with_tuning(view, request, &Tuning { seeds_max, ..Tuning::default() })
}

pub fn with_tuning(view: &dyn IndexView, request: Value, tuning: &Tuning) -> Pack {
    let config = Config::default();
    let context = Context { tuning, ..context(&config, &|| false) };
    let request = Request::from_json(filling(request)).expect("a request");
    build(view, &request, &context).expect("a pack")
}

pub fn try_preview(view: &dyn IndexView, request: Value, config: &Config) -> Result<Pack, PackError> {
    let asked = Asked::new(&Request::from_json(filling(request))?, config)?;
    preview(view, &asked, &context(config, &|| false))
}

pub fn pack(view: &dyn IndexView, request: Value) -> Pack {
    try_build(view, request, &Config::default()).expect("a pack")
}

pub fn context<'a>(config: &'a Config, cancel: &'a dyn Fn() -> bool) -> Context<'a> {
    Context {
        cancel,
        tool_version: "test",
        repo_id: "fixture",
        created_at: "2024-01-01T00:00:00Z",
        matches_head: &|path| path.ends_with(".go"),
        ..Context::new(config, tuning(), tokens())
    }
}

pub fn go() -> Oracle {
    Oracle::of(&tree("go"))
}

pub fn python() -> Oracle {
    Oracle::of(&tree("python"))
}

/// `section path:lines rule`, in the order of the pack.
pub fn outline(pack: &Pack) -> Vec<String> {
    pack.sections
        .iter()
        .flat_map(|s| {
            s.items.iter().map(|i| {
                format!("{} {}:{}-{} {}", s.name, i.path(), i.lines().start, i.lines().end, i.why.rule)
            })
        })
        .collect()
}
