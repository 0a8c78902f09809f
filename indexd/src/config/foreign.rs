//! Settings of the packer of offered sources in files of other tools: the block `context:` of
//! `.agent/config.yml` and the block `context_builder:` of `rauf.yaml`, both in the root of a
//! repository. Both have the keys of `context.*`, without that word.
//!
//! These files belong to others, so nothing in them is an error of ours: what cannot be used is left
//! out and named in a sentence. A text with aliases, which could make a small file large, or with deep nesting
//! is not loaded.

use serde_json::Value;
use std::path::Path;
use yaml_rust2::parser::{Event, Parser};
use yaml_rust2::{ScanError, Yaml, YamlLoader};

/// The files with the names of their blocks, the weaker one first: where both set a key, the later one
/// counts.
pub const FILES: [(&str, &[&str]); 2] =
    [("rauf.yaml", &["context_builder", "context-builder"]), (".agent/config.yml", &["context"])];
/// Bytes of such a file; a longer one is not read.
const BYTES_MAX: u64 = 1 << 20;
/// Levels of nesting: the keys have three.
const DEPTH_MAX: usize = 32;

/// The settings of one file as dotted keys of ours, in the order of the file. Nothing when there is no
/// such file or block.
///
/// # Errors
/// Why the file cannot be used, as a sentence.
pub fn read(root: &Path, name: &str, blocks: &[&str]) -> Result<Vec<(String, Value)>, String> {
    let path = root.join(name);
    let Ok(meta) = path.symlink_metadata() else { return Ok(Vec::new()) };
    if !meta.is_file() {
        return Ok(Vec::new());
    }
    if meta.len() > BYTES_MAX {
        return Err(format!("{name} is ignored: it is larger than {BYTES_MAX} bytes"));
    }
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{name} is ignored: {e}"))?;
    // Most such files have no block of ours; what else is in them need not be YAML that we can read.
    if !blocks.iter().any(|b| text.contains(b)) {
        return Ok(Vec::new());
    }
    let tree = tree(&text).map_err(|e| format!("{name} is ignored: {e}"))?;
    let Some(block) = blocks.iter().find_map(|b| tree.get(b)) else { return Ok(Vec::new()) };
    let mut out = Vec::new();
    super::leaves("context", block, &mut |key, value| out.push((key.to_owned(), value.clone())));
    Ok(out)
}

/// The first document of a YAML text.
fn tree(text: &str) -> Result<Value, String> {
    let invalid = |e: ScanError| format!("it is not valid YAML: {e}");
    let (mut parser, mut depth) = (Parser::new_from_str(text), 0);
    loop {
        match parser.next_token().map_err(invalid)? {
            (Event::Alias(_), at) => return Err(format!("aliases are not followed (line {})", at.line())),
            (Event::MappingStart(..) | Event::SequenceStart(..), at) if depth == DEPTH_MAX => {
                let line = at.line();
                return Err(format!("it is nested more than {DEPTH_MAX} levels deep (line {line})"));
            }
            (Event::MappingStart(..) | Event::SequenceStart(..), _) => depth += 1,
            (Event::MappingEnd | Event::SequenceEnd, _) => depth -= 1,
            (Event::StreamEnd, _) => break,
            _ => {}
        }
    }
    let documents = YamlLoader::load_from_str(text).map_err(invalid)?;
    Ok(documents.into_iter().next().map_or(Value::Null, value))
}

fn value(yaml: Yaml) -> Value {
    match yaml {
        Yaml::Hash(map) => map
            .into_iter()
            .map(|(key, of)| match value(key) {
                Value::String(key) => (key, value(of)),
                key => (key.to_string(), value(of)),
            })
            .collect(),
        Yaml::Array(list) => list.into_iter().map(value).collect(),
        Yaml::Real(_) => yaml.as_f64().filter(|n| n.is_finite()).map_or(Value::Null, Value::from),
        Yaml::Integer(n) => n.into(),
        Yaml::Boolean(is) => is.into(),
        Yaml::String(text) => text.into(),
        Yaml::Null | Yaml::Alias(_) | Yaml::BadValue => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn yaml_is_read_as_others_read_it() {
        let check = |text: &str, want: Value| assert_eq!(tree(text), Ok(want), "{text}");
        check("", Value::Null);
        check("a: 1\nb: [x, 2.5, true, ~, \"7\"]\n", json!({"a": 1, "b": ["x", 2.5, true, null, "7"]}));
        check(
            "context:\n  budget:\n    total: 5000 # less\n",
            json!({"context": {"budget": {"total": 5000}}}),
        );
        check("1: .5\n--- \nb: 2", json!({"1": 0.5}));
        check("a: 10.0.0.1\nb: -3\nc: +4", json!({"a": "10.0.0.1", "b": -3, "c": 4}));
    }

    #[test]
    fn small_files_stay_small() {
        for (text, says) in [
            ("a: &a [x]\nb: [*a, *a]".to_owned(), "aliases are not followed (line 2)"),
            ("[".repeat(50), "nested more than 32 levels deep"),
            ("[".repeat(50_000), "recursion limit"),
            ("a: [".to_owned(), "not valid YAML"),
            ("a: b: c".to_owned(), "not valid YAML"),
        ] {
            let error = tree(&text).unwrap_err();
            assert!(error.contains(says), "{error}");
        }
    }
}
