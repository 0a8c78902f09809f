//! Holds the output of a crate to its version number. Included by the tests of the crates whose
//! output is stored in an index.
//!
//! The golden file names the version and, for each sample, a hash of its input and of its output. A
//! sample whose output changed fails the test until the version is raised; then
//! `INDEXD_GOLDEN=write cargo test` notes the new outputs.

use std::collections::BTreeMap;
use std::path::Path;

/// Hex digits kept of a hash.
const HASH_LEN: usize = 16;

/// One input with what the crate made of it.
pub struct Sample {
    pub name: String,
    pub input: String,
    pub output: String,
}

fn hash(text: &str) -> String {
    indexd_model::ContentHash::of(text.as_bytes()).to_string()[..HASH_LEN].to_owned()
}

/// Compares samples with the golden file of `version`, which the constant `name` holds.
pub fn check(file: &Path, name: &str, version: u32, samples: &[Sample]) {
    assert!(samples.len() > 1, "a golden test needs samples");
    let old = std::fs::read_to_string(file).unwrap_or_default();
    let new = render(version, samples);
    if old == new {
        return;
    }
    let (old_version, noted) = parse(&old);
    for sample in samples {
        let is_new = match noted.get(sample.name.as_str()) {
            Some((input, output)) => *input == hash(&sample.input) && *output != hash(&sample.output),
            None => false,
        };
        assert!(
            !is_new || version > old_version,
            "the output for {} changed: raise {name}, so that stored output of before is replaced",
            sample.name
        );
    }
    assert!(version >= old_version, "{name} went from {old_version} back to {version}");
    if std::env::var("INDEXD_GOLDEN").is_ok_and(|v| v == "write") {
        std::fs::write(file, new).expect("the golden file can be written");
        return;
    }
    panic!("{} is of another version or other samples: run with INDEXD_GOLDEN=write", file.display());
}

fn render(version: u32, samples: &[Sample]) -> String {
    let line = |s: &Sample| format!("{} {} {}\n", s.name, hash(&s.input), hash(&s.output));
    format!("version {version}\n{}", samples.iter().map(line).collect::<String>())
}

fn parse(text: &str) -> (u32, BTreeMap<&str, (&str, &str)>) {
    let mut lines = text.lines();
    let version = lines.next().and_then(|l| l.strip_prefix("version ")?.parse().ok()).unwrap_or(0);
    let sample = |line: &'_ str| -> Option<(usize, usize)> {
        let output = line.rfind(' ')?;
        Some((line[..output].rfind(' ')?, output))
    };
    let noted = lines.filter_map(|line| {
        let (input, output) = sample(line)?;
        Some((&line[..input], (&line[input + 1..output], &line[output + 1..])))
    });
    (version, noted.collect())
}
