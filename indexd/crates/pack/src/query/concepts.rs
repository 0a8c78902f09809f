//! Pairs words of plain questions with the words of programs for the same thing: *how often is it tried
//! again* is answered by code that says `retry`.
//!
//! The tables are part of the tool version: changing them changes packs. They contain only words that any
//! programmer would use, and none from a particular repository. Words in nearly every file (`get`, `set`,
//! `new`) are left out, since they would find nothing and take time.

use indexd_text::word_terms;
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// A past form and its verb, where stemming gives different terms.
const VERBS: [(&str, &str); 64] = [
    ("began", "begin"),
    ("begun", "begin"),
    ("bound", "bind"),
    ("broken", "break"),
    ("brought", "bring"),
    ("built", "build"),
    ("caught", "catch"),
    ("chosen", "choose"),
    ("dealt", "deal"),
    ("done", "finish"),
    ("drawn", "draw"),
    ("driven", "drive"),
    ("fallen", "fall"),
    ("fed", "feed"),
    ("fell", "fall"),
    ("forbidden", "forbid"),
    ("forgotten", "forget"),
    ("found", "find"),
    ("frozen", "freeze"),
    ("given", "give"),
    ("grown", "grow"),
    ("heard", "hear"),
    ("held", "hold"),
    ("hidden", "hide"),
    ("hung", "hang"),
    ("kept", "keep"),
    ("known", "know"),
    ("laid", "lay"),
    ("led", "lead"),
    ("left", "leave"),
    ("lost", "lose"),
    ("made", "make"),
    ("meant", "mean"),
    ("met", "meet"),
    ("overridden", "override"),
    ("overwritten", "overwrite"),
    ("paid", "pay"),
    ("ran", "run"),
    ("rebuilt", "rebuild"),
    ("rewritten", "rewrite"),
    ("rewrote", "rewrite"),
    ("rose", "rise"),
    ("seen", "see"),
    ("sent", "send"),
    ("shown", "show"),
    ("shrunk", "shrink"),
    ("slept", "sleep"),
    ("sold", "sell"),
    ("sought", "seek"),
    ("spent", "spend"),
    ("spun", "spin"),
    ("stolen", "steal"),
    ("stood", "stand"),
    ("struck", "strike"),
    ("swept", "sweep"),
    ("taken", "take"),
    ("told", "tell"),
    ("took", "take"),
    ("torn", "tear"),
    ("understood", "understand"),
    ("woken", "wake"),
    ("won", "win"),
    ("written", "write"),
    ("wrote", "write"),
];

/// Words with the same meaning in a question and in a program.
const GROUPS: [&str; 62] = [
    "again retry repeat attempt",
    "allow permit accept permission",
    "ask prompt confirm",
    "background daemon async",
    "bad invalid malformed corrupt wrong broken damaged",
    "choose pick select decide determine prefer",
    "clean cleanup sweep gc",
    "close shutdown teardown dispose",
    "color colour style",
    "combine merge join concat together",
    "compare equal same identical cmp",
    "compress zip gzip",
    "convert transform translate turn",
    "count many number",
    "crash panic abort fatal",
    "cut trim truncate strip shorten",
    "date time timestamp",
    "deadline timeout expire long",
    "delete remove erase discard purge prune evict",
    "different differ diff distinct",
    "discover detect notice recognize sniff guess",
    "disk flush persist durable",
    "divide split separate partition",
    "download fetch pull",
    "duplicate twice dup dedup unique",
    "empty blank",
    "end finish complete done",
    "fail failure error exception",
    "find lookup search locate",
    "forbid deny reject refuse disallow",
    "full capacity limit overflow exceed",
    "grow expand extend resize increase enlarge",
    "hide mask redact",
    "hold keep retain preserve",
    "image picture photo",
    "interrupt cancel abort signal",
    "kill terminate stop",
    "know aware",
    "letter char rune",
    "limit bound cap most maximum",
    "link symlink",
    "listen subscribe subscriber listener",
    "lock mutex exclusive",
    "machine host hostname",
    "many multiple several",
    "missing absent unknown",
    "notify tell inform publish callback",
    "often interval period frequency",
    "old stale obsolete outdated",
    "order sort rank priority",
    "page paginate pagination cursor",
    "parallel concurrent concurrency",
    "part piece segment chunk",
    "password secret credential",
    "rule policy strategy",
    "save store persist",
    "shrink reduce decrease",
    "silent quiet verbose",
    "skip ignore omit exclude",
    "slow throttle delay",
    "start begin launch",
    "wait sleep delay pause",
];

/// The terms with the same meaning, by term.
static SAME: LazyLock<FxHashMap<String, Vec<String>>> = LazyLock::new(|| {
    let mut same: FxHashMap<String, Vec<String>> = FxHashMap::default();
    for group in GROUPS {
        let terms: Vec<String> = group.split(' ').map(term_of).collect();
        for term in &terms {
            let known = same.entry(term.clone()).or_default();
            for other in &terms {
                if other != term && !known.contains(other) {
                    known.push(other.clone());
                }
            }
        }
    }
    same
});

/// The term of a plain word.
fn term_of(word: &str) -> String {
    let mut out = String::new();
    word_terms(word, |term| term.clone_into(&mut out));
    out
}

/// The terms with the same meaning as a term, without the term itself.
pub fn same_as(term: &str) -> &'static [String] {
    SAME.get(term).map_or(&[], Vec::as_slice)
}

/// The term of the verb that `term` is a past form of.
pub fn verb_of(term: &str) -> Option<String> {
    // Stemming cuts `copied` to `copi`.
    if let Some(base) = term.strip_suffix('i').filter(|b| b.len() >= 2) {
        return Some(format!("{base}y"));
    }
    let i = VERBS.binary_search_by_key(&term, |v| v.0).ok()?;
    Some(term_of(VERBS[i].1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbs_are_sorted_so_that_search_finds_every_form() {
        assert!(VERBS.is_sorted_by_key(|v| v.0));
        for (form, verb) in [("written", "writ"), ("chosen", "choos"), ("sent", "send"), ("retri", "retry")] {
            assert_eq!(verb_of(form).as_deref(), Some(verb));
        }
        assert_eq!(verb_of("send"), None);
    }

    #[test]
    fn plain_words_lead_to_those_of_programs() {
        for (term, same) in [("again", "retry"), ("forbid", "deny"), ("twic", "duplicat"), ("pick", "select")]
        {
            assert!(same_as(term).iter().any(|s| s == same), "{term} {same}");
        }
        assert!(same_as("zebra").is_empty());
    }
}
