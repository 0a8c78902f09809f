//! Pairs words of plain questions with the words of programs for the same thing: *how often is it tried
//! again* is answered by code that says `retry`.
//!
//! The tables are part of the tool version: changing them changes packs. They contain only words that any
//! programmer would use, and none from a particular repository. Words in nearly every file (`get`, `set`,
//! `new`) are left out, since they would find nothing and take time.

use indexd_text::word_terms;
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// Past forms and their verbs, where stemming gives different terms: a pair on each line of `verbs.txt`.
static VERBS: LazyLock<FxHashMap<&str, &str>> =
    LazyLock::new(|| include_str!("verbs.txt").lines().filter_map(|line| line.split_once(' ')).collect());

/// The terms with the same meaning in a question and in a program, by term: a group on each line of
/// `concepts.txt`.
static SAME: LazyLock<FxHashMap<String, Vec<String>>> = LazyLock::new(|| {
    let mut same: FxHashMap<String, Vec<String>> = FxHashMap::default();
    for group in include_str!("concepts.txt").lines() {
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
    VERBS.get(term).map(|verb| term_of(verb))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn past_forms_lead_to_their_verbs() {
        assert_eq!(VERBS.len(), 64);
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
