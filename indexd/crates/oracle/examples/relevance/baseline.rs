//! The yardstick of packs: BM25 over the definitions of the same chunks, shown whole from the best on.
//!
//! A chunk is its text, its path once and its name twice more (`k1` 1.2, `b` 0.75, a word of the query that is
//! repeated counts `1 + ln n`). Only files in the languages of what is looked for take part, without tests,
//! vendored and generated ones. A chunk that crosses the budget is cut at a line and is the last; headers and
//! fences, which a pack pays for, are free.

use crate::score::{self, Metrics, Shown};
use crate::task::{self, Task};
use indexd_model::view::{ChunkRecord, IndexView};
use indexd_model::{ChunkDoc, DefDoc, FactsView, FileDoc, FileRoles};
use indexd_oracle::Oracle;
use indexd_text::Bm25;
use std::collections::{BTreeMap, BTreeSet};

const USUAL: Bm25 = Bm25::USUAL;
/// What a word of the name counts beside its place in the text.
const NAME: f64 = 2.0;
/// Words that say nothing about code.
const STOP: &str = "a an and are as at be been but by can could do does did for from had has have how i if in into is it its \
    just like make me my no not of on or our out should so some than that the their them then there these they this to \
    up us use used using was we were what when where which who why will with would you your also any all about after \
    before because both each more most other only same such very fix fixes fixed fixing add adds added adding support \
    allow allows bug issue issues problem please expected actual behavior behaviour currently instead now new example \
    following way case description version code error want need get see via";

/// What the yardstick shows of a tree at each budget.
pub fn scores(view: &Oracle, task: &Task, budgets: &[u64]) -> BTreeMap<u64, Metrics> {
    let ranked = ranked(view, task);
    budgets.iter().map(|&b| (b, at_budget(view, task, &ranked, b))).collect()
}

fn at_budget(view: &Oracle, task: &Task, ranked: &[ChunkRecord], budget: u64) -> Metrics {
    let counter = task::counter();
    let paths: Vec<_> = ranked.iter().map(|c| view.path(c.file)).collect();
    let mut shown: Shown = BTreeMap::new();
    let mut used = 0;
    for (chunk, path) in ranked.iter().zip(&paths) {
        let text = view.text(chunk.file);
        let lines: Vec<&str> = text[chunk.span.range()].lines().collect();
        let fits = |n: usize| used + u64::from(counter.count_tokens(&lines[..n].join("\n"))) <= budget;
        let n =
            if fits(lines.len()) { lines.len() } else { (0..lines.len()).rfind(|n| fits(*n)).unwrap_or(0) };
        used += u64::from(counter.count_tokens(&lines[..n].join("\n")));
        shown.entry(path).or_default().extend((chunk.lines.start..).take(n));
        if n < lines.len() {
            break;
        }
    }
    score::metrics(task, &shown, used)
}

/// Chunks that have a word of the text, best first.
fn ranked(view: &Oracle, task: &Task) -> Vec<ChunkRecord> {
    let languages: BTreeSet<&str> =
        task.gold_files.iter().map(|f| indexd_lang::roles::language(f).id()).collect();
    let hidden = [FileRoles::TEST, FileRoles::VENDORED, FileRoles::GENERATED];
    let takes_part = |f: &FileDoc| {
        let file = view.file(*f);
        languages.contains(file.language.id()) && !hidden.iter().any(|r| file.roles.has(*r))
    };
    let files: Vec<FileDoc> = view.files().into_iter().filter(takes_part).collect();
    let query = query(&task.query);
    let mut rows: Vec<(ChunkRecord, BTreeMap<&str, f64>, f64)> = Vec::new();
    for file in files {
        let text = view.text(file);
        let path = counts(&view.path(file), &query);
        for c in view.chunks_in(file) {
            let chunk = view.chunk(ChunkDoc(c));
            let mut hits = counts(&text[chunk.span.range()], &query);
            let mut n_terms = 0;
            indexd_text::terms(&text[chunk.span.range()], |_| n_terms += 1);
            path.iter().for_each(|(t, n)| *hits.entry(t).or_default() += n);
            if chunk.def != DefDoc::NONE {
                for term in counts(&view.def(chunk.def).name, &query).keys() {
                    hits.entry(term).and_modify(|n| *n += NAME);
                }
            }
            rows.push((chunk, hits, f64::from(n_terms)));
        }
    }
    let average = rows.iter().map(|r| r.2).sum::<f64>() / rows.len().max(1) as f64;
    let idf = |term: &str| {
        indexd_text::bm25::idf(
            rows.len() as u64,
            rows.iter().filter(|r| r.1.contains_key(term)).count() as u64,
        )
    };
    let weights: BTreeMap<&str, f64> =
        query.iter().map(|(t, n)| (t.as_str(), idf(t) * (1.0 + f64::from(*n).ln()))).collect();
    let score = |(_, hits, len): &(ChunkRecord, BTreeMap<&str, f64>, f64)| -> f64 {
        let norm = USUAL.norm(*len, average);
        hits.iter().map(|(t, tf)| weights[t] * USUAL.weight(*tf, norm)).sum()
    };
    let mut scored: Vec<(f64, ChunkRecord)> =
        rows.iter().map(|r| (score(r), r.0)).filter(|s| s.0 > 0.0).collect();
    scored.sort_by(|a, b| {
        b.0.total_cmp(&a.0).then_with(|| (a.1.file, a.1.span.start).cmp(&(b.1.file, b.1.span.start)))
    });
    scored.into_iter().map(|s| s.1).collect()
}

/// Terms of the text of a change, with how often they stand there.
fn query(text: &str) -> BTreeMap<String, u32> {
    let stop: BTreeSet<&str> = STOP.split_whitespace().collect();
    let mut out = BTreeMap::new();
    indexd_text::words(text, |_, word| {
        if !stop.contains(word.to_lowercase().as_str()) {
            indexd_text::word_terms(word, |t| *out.entry(t.to_owned()).or_default() += 1);
        }
    });
    out
}

fn counts<'q>(text: &str, query: &'q BTreeMap<String, u32>) -> BTreeMap<&'q str, f64> {
    let mut out = BTreeMap::new();
    indexd_text::terms(text, |t| {
        if let Some((term, _)) = query.get_key_value(t) {
            *out.entry(term.as_str()).or_default() += 1.0;
        }
    });
    out
}
