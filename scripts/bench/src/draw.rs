//! Random requests out of a fixed seed: every option at times, and at times not.

use anyhow::{Context, Result};
use serde_json::{Value, json};

const LAYOUTS: [&str; 3] = ["graph", "agent", "flat"];
const PROFILES: [&str; 3] = ["graph", "sources", "task"];
const INTENTS: [&str; 7] = ["answer", "summarize", "refactor", "debug", "impact", "contract", "review"];
/// Less than the default text of each item, the same, and more.
const TEMPLATES: [&str; 3] = [
    "{% for s in sections %}{% for i in s.items %}- {{ i.fileRelPath }}:{{ i.lines.start }} {{ i.title }}\n{% endfor %}{% endfor %}",
    "Task: {{ request.query }}\n\n{{ text }}",
    "{% for s in sections %}{% for i in s.items %}{% for p in i.excerpt.parts %}{{ p.text|numbered(p.lines.start) }}{% endfor %}{{ i.why.path }}\n{% endfor %}{% endfor %}",
];
const EDGES: [&str; 5] = ["call", "usage", "import", "export", "dataflow"];
const EVIDENCE: [&str; 5] = ["callsite", "identifier", "importStmt", "span", "tooling"];

/// A request that was drawn.
pub struct Drawn {
    /// Parameters of `pack`.
    pub request: Value,
    /// Tokens that it grants.
    pub budget: u64,
    /// The path and the text of a file that an editor holds.
    pub unsaved: Option<(String, String)>,
}

/// xorshift64*, Vigna 2016: the same requests in every run.
pub struct Random(u64);

impl Random {
    /// The start of every run.
    pub fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }

    /// True once in `n` times.
    pub fn once_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of these.
    pub fn of<'a, T: ?Sized>(&mut self, all: &[&'a T]) -> &'a T {
        all[self.below(all.len())]
    }

    /// From nothing to 64,000, small ones as often as large ones.
    pub fn budget(&mut self) -> u64 {
        let top = 1_usize << (4 + self.below(13));
        self.below(top) as u64
    }

    /// A gross budget that leaves `net` tokens, at times by reserves below zero.
    pub fn gross(&mut self, net: u64) -> Value {
        let mut reserve = || match self.below(4) {
            0 => -(self.below(5_000) as i64),
            _ => self.below(9_000) as i64,
        };
        let (response, system) = (reserve(), reserve());
        let total = net as i64 + response.max(0) + system.max(0);
        json!({ "totalTokens": total, "responseReserve": response, "systemReserve": system })
    }

    /// A request about words of the tree; `shown` is what the last pack showed.
    ///
    /// # Errors
    /// The tree has no files.
    pub fn request(
        &mut self,
        words: &[String],
        files: &[(String, String)],
        shown: &[String],
    ) -> Result<Drawn> {
        let budget = self.budget();
        let n_words = 1 + self.below(12);
        let query: Vec<&str> = (0..n_words).map(|_| words[self.below(words.len())].as_str()).collect();
        let mut request = json!({ "query": query.join(" ") });
        for (key, values) in [
            ("layout", &LAYOUTS[..]),
            ("scoring", &PROFILES),
            ("intent", &INTENTS),
            ("tokenizer", &["o200k_base", "cl100k_base"]),
            ("seedMode", &["code", "prose", "mixed"]),
            ("seedProvider", &["hybrid", "sparse", "fts"]),
            ("strictness", &["loose", "warn", "strict"]),
        ] {
            if !self.once_in(4) {
                request[key] = json!(self.of(values));
            }
        }
        if !self.once_in(3) {
            request["includeExplain"] = json!(self.once_in(2));
        }
        self.limits(&mut request, budget);
        self.expansion(&mut request);
        self.ordering(&mut request);
        self.renderer(&mut request);
        let (path, text) = files.get(self.below(files.len())).context("no files")?;
        if self.once_in(12) {
            request["focus"] = json!({ "fileRelPath": path });
        }
        if self.once_in(8) && !shown.is_empty() {
            let marks = ["", "@head"];
            request["seen"] =
                shown.iter().take(8).map(|uid| json!(format!("{uid}{}", self.of(&marks)))).collect();
        }
        let mut unsaved = None;
        if self.once_in(12) {
            let more =
                if path.ends_with(".py") { "\n\ndef draft_of_it():\n    pass\n" } else { "\n// a draft\n" };
            let text = format!("{text}{more}");
            request["overlays"] = json!([{ "path": path, "text": text }]);
            unsaved = Some((path.clone(), text));
        }
        Ok(Drawn { request, budget, unsaved })
    }

    fn limits(&mut self, request: &mut Value, budget: u64) {
        let mut limits = json!({});
        for (key, first, most) in [
            ("maxTotalChars", 0, 60_000),
            ("maxItems", 1, 40),
            ("maxItemsPerSection", 1, 20),
            ("maxBytesPerItem", 1, 6_000),
        ] {
            if self.once_in(3) {
                limits[key] = json!(first + self.below(most));
            }
        }
        if self.once_in(4) {
            limits["stop"] = json!(self.of(&["value", "budget"]));
        }
        if self.once_in(3) {
            request["contextBudget"] = self.gross(budget);
        } else {
            limits["maxTotalTokens"] = json!(budget);
        }
        request["budgets"] = limits;
    }

    fn expansion(&mut self, request: &mut Value) {
        let mut asked = json!({});
        if !self.once_in(3) {
            asked["maxHops"] = json!(self.below(5));
        }
        if self.once_in(2) {
            asked["edgeTypes"] = self.some(&EDGES);
        }
        if self.once_in(4) {
            asked["evidenceKinds"] = self.some(&EVIDENCE);
        }
        if self.once_in(2) {
            asked["direction"] = json!(self.of(&["both", "out", "in"]));
        }
        for flag in [
            "includeImports",
            "includeExports",
            "includeDataflow",
            "includeSameFileNeighbors",
            "requireEvidence",
        ] {
            if self.once_in(3) {
                asked[flag] = json!(self.once_in(2));
            }
        }
        request["expansion"] = asked;
    }

    /// Some of these, in any order, and at times one of them twice.
    fn some(&mut self, all: &[&str]) -> Value {
        let n = 1 + self.below(all.len());
        (0..n).map(|_| json!(self.of(all))).collect()
    }

    fn ordering(&mut self, request: &mut Value) {
        let mut asked = json!({});
        if self.once_in(2) {
            asked["primary"] =
                json!(self.of(&["hybridScore", "seedScore", "graphDistance", "graphEvidence"]));
        }
        if self.once_in(3) {
            asked["stableTieBreakers"] =
                json!([self.of(&["fileRelPath", "startLine", "chunkUid", "symbolId"])]);
        }
        request["ordering"] = asked;
    }

    /// The renderer of a request, with a template where it needs one.
    fn renderer(&mut self, request: &mut Value) {
        // The other renderers fill a pack several times.
        match self.of(&["", "text", "text", "text", "markdown", "json", "template"]) {
            "" => {}
            "template" => {
                request["renderer"] = json!("template");
                request["template"] = json!(self.of(&TEMPLATES));
            }
            renderer => request["renderer"] = json!(renderer),
        }
    }
}

/// A request that means the same: defaults are written out where they were not, and the other way round;
/// sets are in another order.
pub fn in_other_words(request: &Value) -> Value {
    let mut out = request.clone();
    let is_answer = request.get("intent").is_none_or(|i| *i == "answer");
    for (parent, key, default) in [
        ("", "layout", json!("graph")),
        ("", "scoring", json!("graph")),
        ("", "intent", json!("answer")),
        ("", "tokenizer", json!("o200k_base")),
        ("", "seedMode", json!("mixed")),
        ("", "seedProvider", json!("hybrid")),
        ("", "strictness", json!("warn")),
        ("", "renderer", json!("text")),
        ("", "includeExplain", json!(true)),
        ("/budgets", "maxTotalChars", json!(200_000)),
        ("/budgets", "maxItems", json!(80)),
        ("/budgets", "maxItemsPerSection", json!(25)),
        ("/budgets", "maxBytesPerItem", json!(4_096)),
        ("/budgets", "stop", json!("value")),
        ("/ordering", "primary", json!("hybridScore")),
        ("/expansion", "includeSameFileNeighbors", json!(false)),
        ("/expansion", "requireEvidence", json!(false)),
        ("/expansion", "evidenceKinds", json!(EVIDENCE)),
    ] {
        swap(&mut out, parent, key, default);
    }
    if is_answer {
        // What another intent does of its own is not a default that can be written out for all.
        swap(&mut out, "/expansion", "maxHops", json!(2));
        swap(&mut out, "/expansion", "direction", json!("both"));
    }
    for key in ["/expansion/edgeTypes", "/expansion/evidenceKinds", "/seen"] {
        if let Some(all) = out.pointer_mut(key).and_then(Value::as_array_mut) {
            all.reverse();
            all.extend(all.first().cloned());
        }
    }
    out
}

/// Writes a default out, or leaves it away.
fn swap(request: &mut Value, parent: &str, key: &str, default: Value) {
    let Some(members) = request.pointer_mut(parent).and_then(Value::as_object_mut) else { return };
    match members.get(key) {
        Some(value) if *value == default => {
            members.remove(key);
        }
        Some(_) => {}
        None => {
            members.insert(key.to_owned(), default);
        }
    }
}
