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

/// Rows that one test carries at most: a test that shows many things shows none of them well.
const ROWS_MAX: usize = 5;

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
            Some("works") => {
                assert!(text("where").is_some(), "{id}: where does it live?");
                assert!(
                    text("test").or(text("note")).is_some(),
                    "{id}: which test shows it, or why is there none?"
                );
            }
            Some("partial" | "open" | "not-applicable" | "superseded") => {
                assert!(
                    text("note").is_some_and(|n| !n.is_empty()),
                    "{id}: what is missing, or instead of it?"
                );
            }
            state => panic!("{id}: {state:?}"),
        }
    }
    crowded.retain(|_, rows| *rows > ROWS_MAX);
    assert!(crowded.is_empty(), "more than {ROWS_MAX} rows name one test: {crowded:?}");
}

fn page(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The text of a section of a page, to the next heading of its level.
fn section(page: &str, heading: &str) -> String {
    let (_, rest) =
        page.split_once(&format!("\n## {heading}\n")).unwrap_or_else(|| panic!("no section {heading}"));
    rest.split("\n## ").next().unwrap_or_default().to_owned()
}

/// The lint that wants documentation is on for the workspace, and every crate takes the workspace's lints.
#[test]
fn public_items_must_be_documented() {
    let workspace: toml::Table = page("Cargo.toml").parse().unwrap();
    let lint = &workspace["workspace"]["lints"]["rust"]["missing_docs"];
    let level = lint.as_str().or_else(|| lint.get("level").and_then(toml::Value::as_str));
    assert!(matches!(level, Some("warn" | "deny" | "forbid")), "{lint}");
    for member in workspace["workspace"]["members"].as_array().unwrap() {
        let manifest: toml::Table =
            page(&format!("{}/Cargo.toml", member.as_str().unwrap())).parse().unwrap();
        assert_eq!(manifest["lints"]["workspace"].as_bool(), Some(true), "{member}");
    }
}

#[test]
fn the_manual_has_its_parts() {
    let manual = page("docs/manual.md");
    let steps = section(&manual, "How it works");
    for step in ["sources", "chunking", "ranking", "deduplication", "budgeting", "selection", "formatting"] {
        assert!(steps.contains(&format!("| {step} |")), "{step}");
    }
    let packed = manual.split_once("## The packed context").unwrap().1;
    for part in ["## File: ", "// ... (lines ", "---", "## Tool result "] {
        assert!(packed.contains(part), "the example of a packed context has {part}");
    }
    assert!(manual.contains("(templates.md)"));
    let points = section(&manual, "Extending");
    for point in ["a stage of the packer", "a token counter", "a store", "a language"] {
        assert!(points.contains(&format!("| {point} |")), "{point}");
    }
    let practice = section(&manual, "Good practice");
    assert!(["*Choosing.*", "*Tokens.*", "*Writing.*"].iter().all(|w| practice.contains(w)), "{practice}");
}

#[test]
fn every_trouble_and_failure_has_an_answer() {
    let troubles = page("docs/troubleshooting.md");
    for (heading, remedy) in [
        ("Important code is missing", "budget"),
        ("The pack is above the budget", "report"),
        ("Irrelevant code is in the pack", "weight"),
    ] {
        let said = section(&troubles, heading);
        assert!(said.contains(remedy), "{heading}: {said}");
    }
    let failures = page("docs/internals/failure-modes.md");
    for failure in [
        "token count is wrong",
        "definition is cut apart",
        "relevant code is missed",
        "overlap is missed",
        "budget is exceeded",
        "no candidates",
        "source is slow or fails",
        "memory runs out",
    ] {
        let row = failures.lines().find(|l| l.starts_with('|') && l.contains(failure));
        let cells = row.map_or(0, |l| l.split('|').filter(|cell| !cell.trim().is_empty()).count());
        assert_eq!(cells, 3, "{failure} has an impact and a mitigation");
    }
}

#[test]
fn the_glossary_has_every_word() {
    let glossary = page("ARCHITECTURE.md").split_once("## Glossary").unwrap().1.to_owned();
    let named: Vec<&str> =
        glossary.lines().filter_map(|l| l.strip_prefix("| ")?.split(" |").next()).collect();
    for word in [
        "context packer",
        "context window",
        "chunk",
        "ranking",
        "token budget",
        "deduplication",
        "relevance",
        "source",
        "candidate",
        "selection",
        "overflow",
        "truncation",
        "density",
        "format",
        "prompt",
    ] {
        let is_named = named.iter().any(|names| names.split(", ").any(|name| name == word));
        assert!(is_named, "{word}");
    }
}

#[test]
fn there_are_ten_assumptions() {
    let rests_on = section(&page("docs/manual.md"), "What it rests on");
    assert_eq!((1..=11).filter(|n| rests_on.contains(&format!("\n{n}. "))).count(), 10);
}
