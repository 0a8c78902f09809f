//! Named symbols: does the pack of a name hold its definition, callers, callees and a test?
//!
//! Truth is a folder with `defs.jsonl.gz` and `uses.jsonl.gz`, as made by a compiler or a type checker.

use crate::Variants;
use crate::score::{mean, shown};
use crate::tree;
use anyhow::{Context as _, Result};
use indexd_pack::Pack;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Symbols asked for.
const SYMBOLS: usize = 40;
/// Callers and callees that are expected at most.
const NEIGHBOURS_MAX: usize = 10;

type Place = (String, u32);

fn load(path: &str) -> Result<Vec<Value>> {
    let out = Command::new("gzip").args(["-dc", path]).output().context("gzip")?;
    let text = String::from_utf8(out.stdout)?;
    text.lines().map(|l| Ok(serde_json::from_str(l)?)).collect()
}

fn is_test(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let slashed = format!("/{path}");
    name.ends_with("_test.go")
        || name.starts_with("test_")
        || name.ends_with("_test.py")
        || name == "conftest.py"
        || ["/tests/", "/testing/", "/testdata/", "/src/test/"].iter().any(|d| slashed.contains(d))
}

#[derive(Default)]
struct Truth {
    defs: BTreeMap<Place, (String, String, String)>,
    callers: BTreeMap<Place, BTreeMap<Place, BTreeSet<u32>>>,
    tests: BTreeMap<Place, BTreeMap<Place, BTreeSet<u32>>>,
    callees: BTreeMap<Place, BTreeSet<Place>>,
}

fn truth(folder: &str) -> Result<Truth> {
    let text = |v: &Value, k: &str| crate::text(v, k).to_owned();
    let line = |v: &Value, k: &str| v[k].as_u64().unwrap_or(0) as u32;
    let mut out = Truth::default();
    for d in load(&format!("{folder}/defs.jsonl.gz"))? {
        out.defs.insert((text(&d, "f"), line(&d, "l")), (text(&d, "q"), text(&d, "k"), text(&d, "n")));
    }
    for u in load(&format!("{folder}/uses.jsonl.gz"))? {
        if crate::text(&u, "st") != "in" || crate::text(&u, "k") != "call" || line(&u, "fl") == 0 {
            continue;
        }
        let (from, to) = ((text(&u, "f"), line(&u, "fl")), (text(&u, "df"), line(&u, "dl")));
        if from == to || !out.defs.contains_key(&from) || !out.defs.contains_key(&to) {
            continue;
        }
        let test = is_test(&from.0);
        let callers = if test { &mut out.tests } else { &mut out.callers };
        callers.entry(to.clone()).or_default().entry(from.clone()).or_default().insert(line(&u, "l"));
        if !test {
            out.callees.entry(from).or_default().insert(to);
        }
    }
    Ok(out)
}

/// Asks for each of the symbols by its name, and by a question about it.
pub fn run(truth_at: &str, root: &str, budgets: &[u64], variants: &Variants) -> Result<()> {
    let t = truth(truth_at)?;
    let picked = pick(&t);
    let view = tree::folder(root)?;
    println!("| {root} | budget | definition | callers | callees | test |\n|---|---|---|---|---|---|");
    for (variant, config) in variants {
        for style in ["NAME", "how does NAME work and what calls it"] {
            for &budget in budgets {
                let mut sums: [Vec<f64>; 4] = Default::default();
                for place in &picked {
                    let query = style.replace("NAME", &t.defs[*place].0);
                    let pack = crate::pack(&view, &query, &[], budget, config)?;
                    t.judge(place, &pack, &mut sums);
                }
                let cells = sums.map(|values| format!("{:.1}", 100.0 * mean(values)));
                println!("| {variant}: {style} | {budget} | {} |", cells.join(" | "));
            }
        }
    }
    Ok(())
}

/// The definitions that are asked about: with one name, two callers and two callees at least.
fn pick(t: &Truth) -> Vec<&Place> {
    let mut names: BTreeMap<&str, u32> = BTreeMap::new();
    for (q, _, _) in t.defs.values() {
        *names.entry(q).or_default() += 1;
    }
    let mut picked: Vec<&Place> = t
        .callers
        .iter()
        .filter(|(place, callers)| {
            let (q, kind, name) = &t.defs[*place];
            !is_test(&place.0)
                && callers.len() >= 2
                && t.callees.get(*place).is_some_and(|c| c.len() >= 2)
                && names[q.as_str()] == 1
                && matches!(kind.as_str(), "func" | "method" | "function")
                && !name.starts_with("__")
        })
        .map(|(place, _)| place)
        .collect();
    picked.sort_by_key(|p| blake3::hash(format!("{}:{}", p.0, t.defs[*p].0).as_bytes()).to_hex().to_string());
    picked.truncate(SYMBOLS);
    picked
}

impl Truth {
    /// Adds how much of the definition, its callers, its callees and its tests a pack shows.
    fn judge(&self, place: &Place, pack: &Pack, sums: &mut [Vec<f64>; 4]) {
        let (none, no_callees) = (BTreeMap::new(), BTreeSet::new());
        let have = shown(pack);
        let sees = |path: &str, lines: &BTreeSet<u32>| {
            have.get(path).is_some_and(|h| lines.iter().any(|l| h.contains(l)))
        };
        let callers = &self.callers[place];
        let callees = self.callees.get(place).unwrap_or(&no_callees);
        let n_callers = callers.iter().filter(|(from, lines)| sees(&from.0, lines)).count();
        let n_callees = callees.iter().filter(|c| sees(&c.0, &BTreeSet::from([c.1]))).count();
        let of =
            |n: usize, all: usize| n.min(NEIGHBOURS_MAX.min(all)) as f64 / NEIGHBOURS_MAX.min(all) as f64;
        sums[0].push(f64::from(u8::from(sees(&place.0, &BTreeSet::from([place.1])))));
        sums[1].push(of(n_callers, callers.len()));
        sums[2].push(of(n_callees, callees.len()));
        let tests = self.tests.get(place).unwrap_or(&none);
        if !tests.is_empty() {
            let is_seen = |(from, lines): (&Place, &BTreeSet<u32>)| {
                sees(&from.0, lines) || sees(&from.0, &BTreeSet::from([from.1]))
            };
            sums[3].push(f64::from(u8::from(tests.iter().any(is_seen))));
        }
    }
}
