//! Layering: the codemap table of ARCHITECTURE.md against what `cargo metadata` says.
//!
//! What is not listed is forbidden. Dependencies of tests and benches do not count, and crates that
//! nobody ships (tests, chores, benchmarks) are not in the table and may use everything.

use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Crates that may use anything: nothing depends on them.
const FREE: [&str; 3] = ["indexd-tests", "xtask", "indexd-bench"];

/// Libraries that only these crates may know.
const EXCLUSIVE: [(&str, &[&str]); 13] = [
    ("heed", &["indexd-store"]),
    ("rkyv", &["indexd-store"]),
    ("roaring", &["indexd-store"]),
    // The second says where its memory comes from.
    ("tree-sitter", &["indexd-lang", "indexd-os"]),
    ("tree-sitter-go", &["indexd-lang"]),
    ("tree-sitter-python", &["indexd-lang"]),
    ("gix", &["indexd-history"]),
    ("notify", &["indexd"]),
    ("rmcp", &["ctlclient"]),
    ("ratatui", &["ctlclient"]),
    ("object_store", &["indexd-share"]),
    ("reqwest", &["indexd-share"]),
    ("rustls", &["indexd-share"]),
];

/// What each crate may use, by name.
pub type Codemap = BTreeMap<String, BTreeSet<String>>;

/// Reads the table: rows of "crate, may use, holds" with names in backticks. "All above" stands for
/// the rows before, and names after "but" are taken out again.
pub fn codemap(text: &str) -> Codemap {
    let mut map = Codemap::new();
    for line in text.lines().skip_while(|l| *l != "## Codemap").skip(1).take_while(|l| !l.starts_with("## "))
    {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, name, may_use, ..] = cells[..] else { continue };
        let [name] = names(name)[..] else { continue };
        let mut allowed = BTreeSet::new();
        let (kept, taken) = may_use.split_once("but ").unwrap_or((may_use, ""));
        if kept.contains("all above") {
            allowed.extend(map.keys().cloned());
        }
        allowed.extend(names(kept).into_iter().map(str::to_owned));
        for name in names(taken) {
            allowed.remove(name);
        }
        map.insert(name.to_owned(), allowed);
    }
    map
}

fn names(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// The ordinary dependencies of each crate of the workspace, by name.
///
/// # Errors
/// The metadata has another shape than cargo documents.
pub fn crates(metadata: &Value) -> Result<Codemap> {
    let mut out = Codemap::new();
    for package in metadata["packages"].as_array().context("packages")? {
        let name = package["name"].as_str().context("name")?;
        let all = package["dependencies"].as_array().context("dependencies")?;
        let ordinary = all.iter().filter(|d| d["kind"].is_null());
        let used = ordinary.filter_map(|d| d["name"].as_str()).map(str::to_owned).collect();
        out.insert(name.to_owned(), used);
    }
    Ok(out)
}

/// Sentences about what the table does not allow, in order.
pub fn violations(codemap: &Codemap, crates: &Codemap) -> Vec<String> {
    let mut wrong = Vec::new();
    for name in codemap.keys().filter(|n| !crates.contains_key(*n)) {
        wrong.push(format!("{name} is in the table and not in the workspace"));
    }
    for (name, used) in crates.iter().filter(|(n, _)| !FREE.contains(&n.as_str())) {
        let Some(allowed) = codemap.get(name) else {
            wrong.push(format!("{name} is not in the table"));
            continue;
        };
        for dependency in used.iter().filter(|d| crates.contains_key(*d) && !allowed.contains(*d)) {
            wrong.push(format!("{name} may not use {dependency}"));
        }
        for (library, owners) in EXCLUSIVE {
            if used.contains(library) && !owners.contains(&name.as_str()) {
                let owners = owners.join(" and ");
                wrong.push(format!("{name} may not use {library}: only {owners} may"));
            }
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "# A\n## Codemap\n\n| crate | may use | holds |\n|---|---|---|\n\
        | `a` | – | x |\n| `b` | `a` | y |\n| `c` | `a` | z |\n| `d` | all above but `c` | w |\n\n## Next\n| `e` | – | |\n";

    fn check(crates: &[(&str, &[&str])], want: &[&str]) {
        let crates = crates
            .iter()
            .map(|(n, used)| ((*n).to_owned(), used.iter().map(|u| (*u).to_owned()).collect()))
            .collect();
        assert_eq!(violations(&codemap(TABLE), &crates), want);
    }

    #[test]
    fn what_is_not_listed_is_forbidden() {
        check(&[("a", &["serde"]), ("b", &["a"]), ("c", &["a"]), ("d", &["a", "b"])], &[]);
        check(
            &[("a", &["b"]), ("b", &[]), ("c", &[]), ("d", &["c"])],
            &["a may not use b", "d may not use c"],
        );
        check(
            &[("a", &["heed"]), ("b", &[]), ("c", &[]), ("f", &[]), ("xtask", &["a"])],
            &[
                "d is in the table and not in the workspace",
                "a may not use heed: only indexd-store may",
                "f is not in the table",
            ],
        );
    }
}
