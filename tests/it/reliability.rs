//! The table of what is promised about failures names tests that exist, and every promise.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Names of all functions in the Rust files below a folder.
fn functions(dir: &Path, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let is_source = path.file_name().is_some_and(|name| name != "target" && name != ".git");
        if path.is_dir() && is_source {
            functions(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let names = text.split("fn ").skip(1).filter_map(|rest| rest.split(['(', '<']).next());
            found.extend(names.map(str::to_owned));
        }
    }
}

#[test]
fn every_promise_has_a_line_and_every_test_named_there_exists() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let table = fs::read_to_string(top.join("docs/reliability.md")).unwrap();
    let mut known = BTreeSet::new();
    for dir in ["indexd", "ctlclient", "proto", "tests"] {
        functions(&top.join(dir), &mut known);
    }
    let rows: Vec<Vec<&str>> = table
        .lines()
        .filter(|l| l.starts_with("| "))
        .map(|l| l.split('|').map(str::trim).collect())
        .collect();
    let ids: Vec<&str> = rows.iter().map(|row| row[1]).filter(|id| *id != "id").collect();
    let wanted = (1..=30).map(|i| format!("R{i:02}")).chain((1..=28).map(|i| format!("S{i:02}")));
    assert_eq!(ids, wanted.collect::<Vec<_>>());
    let is_name = |word: &&str| word.len() > 8 && word.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    let named = rows.iter().flat_map(|row| row[3].split('`').skip(1).step_by(2)).filter(is_name);
    let missing: Vec<&str> = named.filter(|name| !known.contains(*name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
