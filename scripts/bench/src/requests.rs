//! Asks for many random packs of real trees, in every layout, profile and renderer, and looks at every answer
//! again: never above its budget or its caps, candidates accounted for, sections in order, and every excerpt
//! the exact lines of its file. The requests come from a fixed seed.

use crate::daemon::Programs;
use crate::tree::Tree;
use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout};

/// What was seen over all answers.
#[derive(Default)]
pub struct Seen {
    /// Answers with a pack.
    pub n_packs: u64,
    /// Sections with an item.
    pub sections: BTreeSet<String>,
    /// Reasons to leave a candidate out.
    pub reasons: BTreeSet<String>,
    /// Packs by layout, profile and renderer.
    pub kinds: BTreeMap<String, u64>,
    /// Mean share of the budget that was used where a candidate was left out for want of room, in
    /// percent.
    pub used_percent: f64,
    n_full: u64,
}

/// Asks `n` random requests about the tree at `dir`.
///
/// # Errors
/// An answer is above its budget, an excerpt is not what its file holds, or the daemon fails.
pub fn run(programs: &Programs, name: &str, dir: &Path, n: u64) -> Result<Seen> {
    let tree = Tree::copy(name, dir)?;
    let home = tempfile::tempdir()?;
    let mut session = Session::start(programs, home.path())?;
    let root = tree.root();
    let words = tree.words()?;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let counters = [("o200k_base", tiktoken_rs::o200k_base()?), ("cl100k_base", tiktoken_rs::cl100k_base()?)];
    let mut seen = Seen::default();
    for i in 0..n {
        let (tokenizer, counter) = &counters[random.below(2)];
        let budget = random.budget();
        let mut request = random.request(&words, tokenizer, budget);
        random.renderer(&mut request);
        let mut params = request.clone();
        params["repo"] = json!(root);
        params["rendered"] = json!(true);
        let answer = session.ask(i + 1, params)?;
        if let Some(error) = answer.get("error") {
            // Every request is a right one, so an error is a fault.
            bail!("{error}: {request}");
        }
        let result = &answer["result"];
        let rendered = result["rendered"].as_str().context("no rendered text")?;
        let count = counter.encode_ordinary(rendered).len() as u64;
        ensure!(count <= budget, "{count} tokens for a budget of {budget}: {request}");
        let stated = result.pointer("/pack/stats/tokenCount").and_then(Value::as_u64);
        ensure!(stated == Some(count), "{stated:?} stated and {count} counted: {request}");
        let chars = rendered.chars().count() as u64;
        let cap = |key: &str| request.pointer(key).and_then(Value::as_u64).unwrap_or(u64::MAX);
        ensure!(chars <= cap("/budgets/maxTotalChars"), "{chars} characters: {request}");
        let kind = ["layout", "scoring", "renderer"].map(|k| request[k].as_str().unwrap_or("default"));
        *seen.kinds.entry(kind.join("/")).or_default() += 1;
        check_counts(&result["pack"], &cap).with_context(|| request.to_string())?;
        check_order(&result["pack"], &request).with_context(|| request.to_string())?;
        seen.take(&result["pack"], &root).with_context(|| request.to_string())?;
    }
    Ok(seen)
}

impl Seen {
    fn take(&mut self, pack: &Value, root: &Path) -> Result<()> {
        self.n_packs += 1;
        for section in pack["sections"].as_array().context("no sections")? {
            for item in section["items"].as_array().context("no items")? {
                self.sections.insert(section["name"].as_str().unwrap_or("?").to_owned());
                check_excerpt(item, root)?;
            }
        }
        for (reason, n) in
            pack.pointer("/stats/droppedByReason").and_then(Value::as_object).into_iter().flatten()
        {
            if n.as_u64() > Some(0) {
                self.reasons.insert(reason.clone());
            }
        }
        if pack.pointer("/stats/droppedByReason/budget").and_then(Value::as_u64) > Some(0)
            && let Some(percent) = pack.pointer("/stats/budgetUsedPercent").and_then(Value::as_f64)
        {
            self.n_full += 1;
            self.used_percent += (percent - self.used_percent) / self.n_full as f64;
        }
        Ok(())
    }
}

/// Every candidate is counted once, and no cap is passed.
fn check_counts(pack: &Value, cap: &dyn Fn(&str) -> u64) -> Result<()> {
    let n = |key: &str| pack.pointer(&format!("/stats/{key}")).and_then(Value::as_u64).unwrap_or(u64::MAX);
    let by_reason: u64 = (pack.pointer("/stats/droppedByReason").and_then(Value::as_object))
        .map_or(0, |reasons| reasons.values().filter_map(Value::as_u64).sum());
    ensure!(n("found") == n("included") + n("merged") + n("dropped"), "candidates are lost");
    ensure!(n("dropped") == by_reason, "reasons do not add up");
    let mut n_items = 0;
    for section in pack["sections"].as_array().context("no sections")? {
        let items = section["items"].as_array().context("no items")?;
        ensure!(items.len() as u64 <= cap("/budgets/maxItemsPerSection"), "a section is too full");
        n_items += items.len() as u64;
        for item in items {
            let bytes = item.pointer("/excerpt/text").and_then(Value::as_str).context("no text")?.len();
            ensure!(bytes as u64 <= cap("/budgets/maxBytesPerItem"), "an item of {bytes} bytes");
        }
    }
    ensure!(n_items == n("included"), "{n_items} items, {} counted", n("included"));
    ensure!(n_items <= cap("/budgets/maxItems"), "{n_items} items");
    Ok(())
}

/// A section goes by score, strong seeds first, where the request says nothing else.
fn check_order(pack: &Value, request: &Value) -> Result<()> {
    let strong = pack.pointer("/explain/weights/scoring/strongSeed").and_then(Value::as_f64);
    let is_plain = request["intent"] == "answer"
        && request.pointer("/ordering/primary").is_none_or(|p| *p == "hybridScore");
    let Some(strong) = strong.filter(|_| is_plain) else { return Ok(()) };
    for section in pack["sections"].as_array().context("no sections")? {
        let score = |i: &Value, key: &str| i["scores"][key].as_f64().unwrap_or(0.0);
        let keys = section["items"].as_array().context("no items")?.iter();
        let keys: Vec<(bool, f64)> =
            keys.map(|i| (score(i, "seedScore") < strong, -score(i, "hybridScore"))).collect();
        ensure!(keys.is_sorted(), "section {} is out of order: {keys:?}", section["name"]);
    }
    Ok(())
}

/// Every part is the text of its lines, but for redacted places.
fn check_excerpt(item: &Value, root: &Path) -> Result<()> {
    let path = item["fileRelPath"].as_str().context("no path")?;
    let bytes = std::fs::read(root.join(path))?;
    // How other encodings are read has tests of its own.
    let Ok(text) = std::str::from_utf8(&bytes) else { return Ok(()) };
    let text = text.trim_start_matches('\u{feff}');
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let declares_redactions = item["redactions"].as_array().is_some_and(|kinds| !kinds.is_empty());
    let shown = item.pointer("/excerpt/text").and_then(Value::as_str).context("no text")?;
    let mut shown_lines = shown.split_inclusive('\n');
    for part in item.pointer("/excerpt/parts").and_then(Value::as_array).context("no parts")? {
        let at = |key: &str| part.pointer(key).and_then(Value::as_u64).map(|n| n as usize);
        let (Some(start), Some(end)) = (at("/lines/start"), at("/lines/end")) else { bail!("no lines") };
        let shown: String = shown_lines.by_ref().take(end + 1 - start).collect();
        let shown = shown.trim_start_matches('\u{feff}');
        let whole = lines.get(start - 1..end).map(|l| l.concat()).unwrap_or_default();
        let is_redacted = declares_redactions && is_same_outside_marks(shown, &whole);
        ensure!(shown == whole || is_redacted, "{path}:{start}-{end} is not what the pack shows: {shown:?}");
    }
    Ok(())
}

/// True when the texts have one length and differ only where `shown` has a mark of redaction:
/// `[REDACTED…]` and the stars that fill it up, or stars alone.
fn is_same_outside_marks(shown: &str, whole: &str) -> bool {
    let mut rest = shown;
    let mut differs = Vec::with_capacity(shown.len());
    while let Some(first) = rest.chars().next() {
        let mark = match rest.strip_prefix("[REDACTED").and_then(|inner| inner.find(']')) {
            Some(end) => "[REDACTED".len() + end + 1,
            None => 0,
        };
        let stars = rest[mark..].bytes().take_while(|&b| b == b'*').count();
        let n = if mark + stars > 0 { mark + stars } else { first.len_utf8() };
        differs.extend(std::iter::repeat_n(mark + stars > 0, n));
        rest = &rest[n..];
    }
    shown.len() == whole.len()
        && shown.bytes().zip(whole.bytes()).zip(differs).all(|((a, b), may_differ)| a == b || may_differ)
}

/// `indexd --stdio` with its own directories.
struct Session {
    child: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Session {
    fn start(programs: &Programs, home: &Path) -> Result<Self> {
        let mut child = programs.stdio(home)?;
        let input = child.stdin.take().context("no standard input")?;
        let output = BufReader::new(child.stdout.take().context("no standard output")?).lines();
        Ok(Self { child, input, output })
    }

    fn ask(&mut self, id: u64, params: Value) -> Result<Value> {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": "pack", "params": params });
        writeln!(self.input, "{request}")?;
        self.input.flush()?;
        loop {
            let line = self.output.next().context("the daemon ended")??;
            let message: Value = serde_json::from_str(&line)?;
            if message["id"] == id {
                return Ok(message);
            }
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

const LAYOUTS: [&str; 2] = ["graph", "agent"];
const PROFILES: [&str; 1] = ["graph"];
/// Less than the default text of each item, the same, and more.
const TEMPLATES: [&str; 3] = [
    "{% for s in sections %}{% for i in s.items %}- {{ i.fileRelPath }}:{{ i.lines.start }} {{ i.title }}\n{% endfor %}{% endfor %}",
    "Task: {{ request.query }}\n\n{{ text }}",
    "{% for s in sections %}{% for i in s.items %}{% for p in i.excerpt.parts %}{{ p.text|numbered(p.lines.start) }}{% endfor %}{{ i.why.path }}\n{% endfor %}{% endfor %}",
];
const EDGES: [&str; 5] = ["call", "usage", "import", "export", "dataflow"];

/// xorshift64*, Vigna 2016: the same requests in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    fn of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }

    /// From nothing to 32,000, small ones as often as large ones.
    fn budget(&mut self) -> u64 {
        let top = 1_usize << (4 + self.below(12));
        self.below(top) as u64
    }

    fn request(&mut self, words: &[String], tokenizer: &str, budget: u64) -> Value {
        let n_words = 1 + self.below(12);
        let query: Vec<&str> = (0..n_words).map(|_| words[self.below(words.len())].as_str()).collect();
        let mut budgets = json!({ "maxTotalTokens": budget });
        if self.below(3) == 0 {
            budgets["maxTotalChars"] = json!(self.below(60_000));
        }
        if self.below(3) == 0 {
            budgets["maxItems"] = json!(1 + self.below(40));
        }
        if self.below(3) == 0 {
            budgets["maxItemsPerSection"] = json!(1 + self.below(20));
        }
        if self.below(4) == 0 {
            budgets["stop"] = json!("value");
        }
        if self.below(3) == 0 {
            budgets["maxBytesPerItem"] = json!(1 + self.below(6_000));
        }
        json!({
            "query": query.join(" "),
            "tokenizer": tokenizer,
            "layout": self.of(&LAYOUTS),
            "scoring": self.of(&PROFILES),
            "intent": self.of(&["answer", "summarize", "refactor", "debug", "impact", "contract"]),
            "seedMode": self.of(&["code", "prose", "mixed"]),
            "seedProvider": self.of(&["hybrid", "sparse", "fts"]),
            "strictness": self.of(&["loose", "warn"]),
            "includeExplain": self.below(2) == 0,
            "ordering": {
                "primary": self.of(&["hybridScore", "hybridScore", "seedScore", "graphDistance", "graphEvidence"]),
                "stableTieBreakers": [self.of(&["fileRelPath", "startLine", "chunkUid", "symbolId"])],
            },
            "expansion": {
                "maxHops": self.below(5),
                "edgeTypes": &EDGES[..1 + self.below(EDGES.len())],
                "direction": self.of(&["both", "out", "in"]),
                "includeSameFileNeighbors": self.below(3) == 0,
                "requireEvidence": self.below(4) == 0,
            },
            "budgets": budgets,
        })
    }

    /// The renderer of a request, with a template where it needs one.
    fn renderer(&mut self, request: &mut Value) {
        // The other renderers fill a pack several times.
        let renderer = self.of(&["text", "text", "text", "text", "text", "markdown", "json", "template"]);
        request["renderer"] = json!(renderer);
        if renderer == "template" {
            request["template"] = json!(self.of(&TEMPLATES));
        }
    }
}
