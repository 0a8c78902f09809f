//! `requirements.toml` against the list of ids, the files and the tests that it names.

use std::collections::BTreeMap;
use std::path::Path;

/// The groups of requirements and how many each has.
const GROUPS: [(&str, usize); 28] = [
    ("REQ", 28),
    ("PACK", 30),
    ("RETR", 13),
    ("GRPH", 15),
    ("SECT", 21),
    ("RANK", 17),
    ("DET", 6),
    ("PROV", 11),
    ("BUDG", 24),
    ("DEDU", 11),
    ("SEL", 8),
    ("FMT", 13),
    ("MAP", 7),
    ("MDCP", 11),
    ("ART", 14),
    ("SRC", 10),
    ("CHNK", 11),
    ("CLI", 8),
    ("MCP", 4),
    ("ERR", 8),
    ("OBS", 11),
    ("SEC", 5),
    ("PERF", 13),
    ("REL", 13),
    ("STRU", 9),
    ("SCOP", 14),
    ("DOC", 19),
    ("TEST", 118),
];

/// Rows that one test should carry at most.
const ROWS_MAX: usize = 5;
/// Tests that carry more.
const CROWDED_MAX: usize = 9;

fn ids() -> Vec<String> {
    let name = |group: &str, n: usize| match group {
        "TEST" => format!("{group}-{n:03}"),
        _ => format!("{group}-{n:02}"),
    };
    GROUPS.iter().flat_map(|(group, n)| (1..=*n).map(move |i| name(group, i))).collect()
}

#[test]
fn every_requirement_has_a_row_and_every_row_is_true() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let table: toml::Table = include_str!("../requirements.toml").parse().unwrap();
    let mut expected = ids();
    expected.sort();
    assert_eq!(expected.len(), 472);
    let mut found: Vec<&String> = table.keys().collect();
    found.sort();
    assert_eq!(found, expected.iter().collect::<Vec<_>>());
    let mut crowded: BTreeMap<&str, usize> = BTreeMap::new();
    for (id, row) in &table {
        let text = |key: &str| row.get(key).map(|v| v.as_str().unwrap_or_else(|| panic!("{id}: {key}")));
        if let Some(place) = text("where") {
            assert!(top.join(place).exists(), "{id}: {place} is not there");
        }
        if let Some(test) = text("test") {
            *crowded.entry(test).or_default() += 1;
            let (file, name) = test.split_once(':').unwrap_or_else(|| panic!("{id}: {test}"));
            let source =
                std::fs::read_to_string(top.join(file)).unwrap_or_else(|e| panic!("{id}: {file}: {e}"));
            assert!(source.contains(&format!("fn {name}(")), "{id}: {file} has no test {name}");
        }
        match text("state") {
            Some("works") => assert!(text("where").is_some(), "{id}: where does it live?"),
            Some("partial" | "open" | "not-applicable" | "superseded") => {
                assert!(
                    text("note").is_some_and(|n| !n.is_empty()),
                    "{id}: what is missing, or instead of it?"
                );
            }
            state => panic!("{id}: {state:?}"),
        }
    }
    // A test that shows many things shows none of them well: their number may only fall.
    crowded.retain(|_, rows| *rows > ROWS_MAX);
    assert!(crowded.len() <= CROWDED_MAX, "more than {ROWS_MAX} rows name one test: {crowded:?}");
}
