//! Holds `EXTRACTOR_VERSION` to the facts of the language fixtures.

#[path = "../../golden.rs"]
mod golden;

use golden::{Sample, check};
use indexd_lang::EXTRACTOR_VERSION;
use indexd_model::RepoPath;
use std::path::Path;

/// Formats without a folder of fixtures.
const TEXTS: [(&str, &str); 6] = [
    ("README.md", "# A\n\ntext `code`\n\n## B\n\n```go\nfunc F() {}\n```\n"),
    ("docs/a.rst", "Title\n=====\n\nText with ``code``.\n\n.. code-block:: python\n\n   x = 1\n"),
    ("config.yaml", "a:\n  b: 1\n  c:\n    - x\n    - y\nd: text\n"),
    ("pyproject.toml", "[project]\nname = \"p\"\n\n[tool.x]\ny = [1, 2]\n"),
    ("data.json", "{\n  \"a\": {\"b\": 1},\n  \"c\": [1, 2]\n}\n"),
    ("notes.txt", "one\ntwo\n\nthree\n"),
];

fn sample(path: &str, text: &[u8]) -> Sample {
    let extracted = indexd_lang::extract(&RepoPath::new(path).unwrap(), text);
    Sample {
        name: path.to_owned(),
        input: String::from_utf8_lossy(text).into_owned(),
        output: format!("{:?}\n{}", extracted.facts, extracted.text),
    }
}

#[test]
fn facts_change_with_the_version() {
    let crate_dir = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut samples: Vec<Sample> = TEXTS.map(|(path, text)| sample(path, text.as_bytes())).into();
    for language in ["go", "python"] {
        let fixtures = std::fs::read_dir(crate_dir.join("src").join(language).join("fixtures")).unwrap();
        for path in fixtures.map(|e| e.unwrap().path()) {
            if path.extension().is_some_and(|e| e == "go" || e == "py") {
                let name = path.file_name().unwrap().to_str().unwrap();
                samples.push(sample(&format!("{language}/{name}"), &std::fs::read(&path).unwrap()));
            }
        }
    }
    samples.sort_by(|a, b| a.name.cmp(&b.name));
    check(&crate_dir.join("tests/version.golden"), "EXTRACTOR_VERSION", EXTRACTOR_VERSION, &samples);
}
