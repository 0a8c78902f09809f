//! Holds `LINKER_VERSION` to the links of the linkers' fixtures.

#[path = "../../golden.rs"]
mod golden;

use golden::{Sample, check};
use indexd_model::memory::MemoryFacts;
use indexd_model::{Facts, FileDoc, FileFacts, RepoPath};
use indexd_resolve::LINKER_VERSION;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

/// The files of a fixture, which stand under `-- path --` lines.
fn files(fixture: &str) -> BTreeMap<RepoPath, String> {
    let mut files: BTreeMap<RepoPath, String> = BTreeMap::new();
    let mut open = None;
    for line in fixture.lines() {
        match line.strip_prefix("-- ").and_then(|l| l.strip_suffix(" --")) {
            Some(path) => open = Some(RepoPath::new(path).unwrap()),
            None => {
                if let Some(path) = &open {
                    writeln!(files.entry(path.clone()).or_default(), "{line}").unwrap();
                }
            }
        }
    }
    files
}

fn sample(name: String, fixture: &str) -> Sample {
    let files = files(fixture);
    let facts: Vec<FileFacts> =
        files.iter().map(|(path, text)| indexd_lang::extract(path, text.as_bytes()).facts).collect();
    let interfaces = files.keys().zip(&facts).map(|(p, f)| (p.clone(), Arc::new(f.interface.clone())));
    let view = MemoryFacts::new(interfaces.collect());
    let links = (0..).zip(&facts).map(|(i, f)| indexd_resolve::link(FileDoc(i), Facts::inside(f), &view));
    let output = links.fold(String::new(), |all, links| format!("{all}{links:?}\n"));
    // Other facts may lead to other links.
    Sample { name, input: format!("{facts:?}"), output }
}

#[test]
fn links_change_with_the_version() {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut samples = Vec::new();
    for language in ["cfamily", "go", "java", "python", "rust"] {
        let fixtures = std::fs::read_dir(crate_dir.join("src").join(language).join("fixtures")).unwrap();
        for path in fixtures.map(|e| e.unwrap().path()) {
            let name = format!("{language}/{}", path.file_name().unwrap().to_str().unwrap());
            samples.push(sample(name, &std::fs::read_to_string(&path).unwrap()));
        }
    }
    samples.sort_by(|a, b| a.name.cmp(&b.name));
    check(&crate_dir.join("tests/version.golden"), "LINKER_VERSION", LINKER_VERSION, &samples);
}
