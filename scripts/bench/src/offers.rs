//! Random sources for `context.pack`, and what its answers have to hold.

use crate::draw::Random;
use crate::requests::{Counters, count};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::path::Path;

const TEMPLATE: &str = "{% for c in chunks %}{% if c.filePath is defined %}{{ c.filePath }}\n{% endif %}{{ c.content }}{% endfor %}";

/// Sources out of the files of a tree, some with their text and some without, and a budget.
///
/// # Errors
/// There are no files.
pub fn draw(random: &mut Random, files: &[(String, String)]) -> Result<Value> {
    let n = random.below(24);
    let sources = (0..n).map(|_| source(random, files)).collect::<Result<Vec<Value>>>()?;
    let net = random.budget();
    let mut params = json!({ "sources": sources, "budget": random.gross(net) });
    if random.once_in(2) {
        params["tokenizer"] = json!(random.of(&["o200k_base", "cl100k_base"]));
    }
    if random.once_in(2) {
        let most = 20 + random.below(2_000);
        params["settings"] = json!({
            "maxChunkTokens": most,
            "minChunkTokens": random.below(most + 1),
            "preferStructural": random.once_in(2),
            "minChunks": random.below(4),
            "balancePercent": 10 + random.below(91),
        });
    }
    if random.once_in(5) {
        params["template"] = json!(TEMPLATE);
    }
    Ok(params)
}

fn source(random: &mut Random, files: &[(String, String)]) -> Result<Value> {
    let (path, text) = files.get(random.below(files.len())).context("no files")?;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let start = 1 + random.below(lines.len().max(1));
    let end = (start + random.below(80)).min(lines.len()).max(start);
    let part: String = lines.get(start - 1..end).map(|l| l.concat()).unwrap_or_default();
    let range = json!({ "start": start, "end": end });
    let mut out = match random.of(&["toolResult", "openFile", "searchResult", "reference", "failed"]) {
        "toolResult" => json!({ "sourceType": "toolResult", "content": part }),
        "openFile" => json!({ "sourceType": "openFile", "filePath": path, "content": text }),
        "failed" => json!({ "sourceType": "searchResult", "filePath": path, "failure": "no answer in time" }),
        kind if random.once_in(2) => json!({ "sourceType": kind, "filePath": path, "lineRange": range }),
        kind => json!({ "sourceType": kind, "filePath": path, "lineRange": range, "content": part }),
    };
    if random.once_in(2) {
        out["relevanceScore"] = json!(random.below(101) as f64 / 100.0);
    }
    if random.once_in(2) {
        out["timestamp"] = json!(random.below(1_000));
    }
    Ok(out)
}

/// The text is within its budget and holds its chunks, every chunk with a path is lines of that file, and both
/// daemons say the same.
///
/// # Errors
/// What does not hold.
pub fn check(answers: &[Value; 2], params: &Value, root: &Path, counters: &Counters) -> Result<()> {
    let packed = &answers[0]["packed"];
    ensure!(*packed == answers[1]["packed"], "equal requests differ");
    let member = |key: &str| params.pointer(&format!("/budget/{key}")).and_then(Value::as_i64).unwrap_or(0);
    let net = member("totalTokens") - member("responseReserve").max(0) - member("systemReserve").max(0);
    let text = packed["content"].as_str().context("no content")?;
    let tokenizer = params["tokenizer"].as_str().unwrap_or("o200k_base");
    let counted = count(counters, tokenizer, text)?;
    ensure!(counted as i64 <= net, "{counted} tokens for a budget of {net}");
    ensure!(packed["tokenCount"] == json!(counted), "{} stated and {counted} counted", packed["tokenCount"]);
    let sources = params["sources"].as_array().context("no sources")?;
    let has_failed = sources.iter().any(|s| s.get("failure").is_some());
    ensure!(packed["partial"] == json!(has_failed), "partial: {}", packed["partial"]);
    for chunk in packed["chunks"].as_array().context("no chunks")? {
        let content = chunk["content"].as_str().context("no content")?;
        ensure!(text.contains(content.trim_end_matches('\n')), "a chunk is not in the text: {chunk}");
        let at = |key: &str| chunk[key].as_u64().unwrap_or(0) as usize;
        let Some(path) = chunk["filePath"].as_str() else { continue };
        let file = std::fs::read_to_string(root.join(path))?;
        let whole: Vec<&str> = file.lines().collect();
        let whole = whole.get(at("startLine") - 1..at("endLine")).unwrap_or(&[]);
        let is_same = whole.iter().copied().eq(content.lines());
        ensure!(is_same || content.contains("[REDACTED"), "{path} does not hold this: {chunk}");
    }
    Ok(())
}
