//! Asks for many random packs of real trees, in every layout, profile and renderer, and looks at every answer
//! again: never above its budget or its caps, candidates accounted for, sections in order, every excerpt the
//! exact lines of its file, and every member one that the shape of a pack has. A second daemon with an index of
//! its own is asked the same in other words, and has to give the same bytes. The requests come from a fixed seed.

use crate::daemon::Programs;
use crate::draw::{Drawn, Random, in_other_words};
use crate::offers;
use crate::tree::Tree;
use anyhow::{Context, Result, ensure};
use indexd_proto::pack::{Item, Pack};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout};

/// One in so many requests offers sources of its own instead.
const OFFERS: u64 = 10;

/// Asks `n` random requests about the tree at `dir`.
///
/// # Errors
/// An answer is above its budget, an excerpt is not what its file holds, two answers to equal requests
/// differ, or a daemon fails.
pub fn run(programs: &Programs, name: &str, dir: &Path, n: u64) -> Result<()> {
    let tree = Tree::copy(name, dir)?;
    let (home, other_home) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let mut sessions = [Session::start(programs, home.path())?, Session::start(programs, other_home.path())?];
    let mut asking = Asking {
        root: tree.root(),
        counters: [("o200k_base", tiktoken_rs::o200k_base()?), ("cl100k_base", tiktoken_rs::cl100k_base()?)],
        last: Vec::new(),
    };
    let words = tree.words()?;
    let files = tree.files();
    let mut random = Random::new();
    for i in 0..n {
        if i % OFFERS == OFFERS - 1 {
            let (method, params) = ("context.pack", offers::draw(&mut random, &files)?);
            let answers = ask_both(&mut sessions, method, &params, &params, &asking.root)?;
            offers::check(&answers, &params, &asking.root, &asking.counters)
                .with_context(|| params.to_string())?;
            continue;
        }
        let drawn = random.request(&words, &files, &asking.last)?;
        let other = in_other_words(&drawn.request);
        let answers = ask_both(&mut sessions, "pack", &drawn.request, &other, &asking.root)?;
        asking.check(&drawn, &answers).with_context(|| drawn.request.to_string())?;
    }
    let n_offers = n / OFFERS;
    println!(
        "{name}: {} packs and {n_offers} of sources offered, none above its budget, every excerpt as in its file, equal requests with equal bytes",
        n - n_offers
    );
    Ok(())
}

/// The results of two daemons.
fn ask_both(
    sessions: &mut [Session; 2],
    method: &str,
    first: &Value,
    second: &Value,
    root: &Path,
) -> Result<[Value; 2]> {
    let mut answers = [Value::Null, Value::Null];
    for ((session, params), answer) in sessions.iter_mut().zip([first, second]).zip(&mut answers) {
        let mut params = params.clone();
        params["repo"] = json!(root);
        if method == "pack" {
            params["rendered"] = json!(true);
        }
        let mut got = session.ask(method, params)?;
        // Every request is a right one, so an error is a fault.
        ensure!(got.get("error").is_none(), "{}: {first}", got["error"]);
        *answer = got["result"].take();
    }
    Ok(answers)
}

/// What is needed to look at answers.
struct Asking {
    root: PathBuf,
    counters: Counters,
    /// The chunks that the last pack shows.
    last: Vec<String>,
}

/// Token counters by name.
pub type Counters = [(&'static str, tiktoken_rs::CoreBPE); 2];

/// The tokens of a text.
pub fn count(counters: &Counters, tokenizer: &str, text: &str) -> Result<u64> {
    let (_, counter) = counters.iter().find(|c| c.0 == tokenizer).context("no such counter")?;
    Ok(counter.encode_ordinary(text).len() as u64)
}

impl Asking {
    fn check(&mut self, drawn: &Drawn, answers: &[Value; 2]) -> Result<()> {
        let (request, budget, result) = (&drawn.request, drawn.budget, &answers[0]);
        let tokenizer = request["tokenizer"].as_str().unwrap_or("o200k_base");
        let rendered = result["rendered"].as_str().context("no rendered text")?;
        let count = count(&self.counters, tokenizer, rendered)?;
        ensure!(count <= budget, "{count} tokens for a budget of {budget}");
        let packs = [read(&answers[0]["pack"])?, read(&answers[1]["pack"])?];
        let pack = &packs[0];
        let (stated, granted) = (pack.stats.token_count, pack.stats.token_budget);
        ensure!(stated == count, "{stated} stated and {count} counted");
        ensure!(granted == budget, "{granted} granted of {budget}");
        let chars = rendered.chars().count() as u64;
        let cap = |key: &str| request.pointer(key).and_then(Value::as_u64).unwrap_or(u64::MAX);
        ensure!(chars <= cap("/budgets/maxTotalChars"), "{chars} characters");
        check_counts(pack, &cap)?;
        check_order(pack, request)?;
        check_same(&packs)?;
        ensure!(answers[0]["rendered"] == answers[1]["rendered"], "equal requests have texts that differ");
        pack.items().try_for_each(|item| check_excerpt(item, &self.root, drawn.unsaved.as_ref()))?;
        self.last = pack.items().map(|item| item.chunk_uid.clone()).collect();
        Ok(())
    }
}

/// A pack has every member of its shape, none besides, and each of its type.
fn read(pack: &Value) -> Result<Pack> {
    let read: Pack = serde_json::from_value(pack.clone()).context("no pack")?;
    ensure!(read.to_json() == *pack, "the pack is not of the shape of packs: {pack}");
    Ok(read)
}

/// Equal requests have equal bytes, but for when and how fast they were answered.
fn check_same(packs: &[Pack; 2]) -> Result<()> {
    let [first, second] = packs.each_ref().map(Pack::canonical);
    let at = first.bytes().zip(second.bytes()).position(|(a, b)| a != b);
    let around = |text: &str| {
        let bytes = &text.as_bytes()[at.unwrap_or(0).saturating_sub(80).min(text.len())..];
        String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned()
    };
    ensure!(first == second, "equal requests differ: {} and {}", around(&first), around(&second));
    Ok(())
}

/// Every candidate is counted once, and no cap is passed.
fn check_counts(pack: &Pack, cap: &dyn Fn(&str) -> u64) -> Result<()> {
    let stats = &pack.stats;
    ensure!(stats.found == stats.included + stats.merged + stats.dropped, "candidates are lost");
    ensure!(stats.dropped == stats.dropped_by_reason.values().sum::<u64>(), "reasons do not add up");
    let most = cap("/budgets/maxItemsPerSection");
    ensure!(pack.sections.iter().all(|s| s.items.len() as u64 <= most), "a section is too full");
    for item in pack.items() {
        let bytes = item.excerpt.text.len() as u64;
        ensure!(bytes <= cap("/budgets/maxBytesPerItem"), "an item of {bytes} bytes");
    }
    let n_items = pack.items().count() as u64;
    ensure!(n_items == stats.included, "{n_items} items, {} counted", stats.included);
    ensure!(n_items <= cap("/budgets/maxItems"), "{n_items} items");
    Ok(())
}

/// A section goes by score, in profile `graph` strong seeds first, where the request says nothing else.
fn check_order(pack: &Pack, request: &Value) -> Result<()> {
    let is_plain = request.get("intent").is_none_or(|i| *i == "answer")
        && request.pointer("/ordering/primary").is_none_or(|p| *p == "hybridScore");
    let weights = pack.explain.as_ref().map(|explain| &explain.weights);
    let strong = weights.and_then(|weights| weights.pointer("/scoring/strongSeed")?.as_f64());
    // Other orders go by scores of their own.
    let is_plain = is_plain && request.get("scoring").is_none_or(|s| *s == "graph");
    let Some(strong) = strong.filter(|_| is_plain) else { return Ok(()) };
    for section in &pack.sections {
        let scores = section.items.iter().map(|item| &item.scores);
        let keys: Vec<(bool, f64)> = scores.map(|s| (s.seed_score < strong, -s.hybrid_score)).collect();
        ensure!(keys.is_sorted(), "section {} is out of order: {keys:?}", section.name);
    }
    Ok(())
}

/// Every part is the text of its lines, but for redacted places and for lines that are longer than an item
/// may be, of which it has a part between marks.
fn check_excerpt(item: &Item, root: &Path, unsaved: Option<&(String, String)>) -> Result<()> {
    let path = item.path();
    let text = match unsaved.filter(|u| u.0 == *path) {
        Some((_, text)) => text.clone(),
        None => match String::from_utf8(std::fs::read(root.join(path))?) {
            Ok(text) => text,
            // How other encodings are read has tests of its own.
            Err(_) => return Ok(()),
        },
    };
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut shown_lines = item.excerpt.text.split_inclusive('\n');
    for n in item.excerpt.parts.iter().flat_map(|part| part.lines.start..=part.lines.end) {
        let (shown, whole) =
            (shown_lines.next().unwrap_or("nothing"), *lines.get(n as usize - 1).unwrap_or(&""));
        let [shown, whole] = [shown, whole].map(|line| line.trim_start_matches('\u{feff}'));
        let inner = shown.trim_end_matches(['\n', '\r']).trim_matches('\u{2026}');
        let is_part = item.excerpt.truncated && shown.contains('\u{2026}') && whole.contains(inner);
        let is_redacted = !item.redactions.is_empty() && is_same_outside_marks(shown, whole);
        ensure!(shown == whole || is_part || is_redacted, "{path}:{n} is not what the pack shows: {shown:?}");
    }
    ensure!(shown_lines.next().is_none(), "{path}: the pack shows lines that it does not name");
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
    id: u64,
}

impl Session {
    fn start(programs: &Programs, home: &Path) -> Result<Self> {
        let mut child = programs.stdio(home)?;
        let input = child.stdin.take().context("no standard input")?;
        let output = BufReader::new(child.stdout.take().context("no standard output")?).lines();
        Ok(Self { child, input, output, id: 0 })
    }

    fn ask(&mut self, method: &str, params: Value) -> Result<Value> {
        self.id += 1;
        let id = self.id;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
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
