//! Adds other forms of a word: abbreviations (`configuration`, `cfg`), and the words for an action and its
//! agent (`parse`, `parser`).
//!
//! Both tables are part of the tool version: changing them changes packs. They contain only words that any
//! programmer would use, and none from a particular repository.

use indexd_model::lists::holds;

/// Endings that derive one word from another and that light stemming does not remove.
const ENDINGS: [&str; 3] = ["er", "or", "ion"];
/// Minimum bytes of the common beginning of two words.
const BASE_BYTES_MIN: usize = 4;

/// Groups of words with the same meaning in programs, a group on each line, as terms (lower case, stemmed).
const GROUPS: &str = include_str!("synonyms.txt");

/// True if a word forms a name with the verb before it (`lookup`, `shutdown`).
pub fn is_particle(word: &str) -> bool {
    matches!(word, "in" | "out" | "up" | "down" | "off" | "on" | "back" | "over" | "away")
}

/// The words in the same group as a term, without the term itself.
pub fn synonyms(term: &str) -> impl Iterator<Item = &'static str> {
    let group = GROUPS.lines().find(|group| holds(group, term)).unwrap_or_default();
    let term = term.to_owned();
    group.split(' ').filter(move |w| !w.is_empty() && *w != term)
}

/// The words derived from a term and those it is derived from, without itself; most of them occur in no tree.
pub fn derived(term: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    if term.len() < BASE_BYTES_MIN || !term.bytes().all(|b| b.is_ascii_lowercase()) {
        return out;
    }
    let mut bases = vec![term];
    for ending in ENDINGS {
        if let Some(base) = term.strip_suffix(ending).filter(|b| b.len() >= BASE_BYTES_MIN) {
            bases.push(undoubled(base, ending));
        }
    }
    for base in bases {
        out.push(base.to_owned());
        out.extend(ENDINGS.iter().map(|e| format!("{base}{e}")));
    }
    out.retain(|f| f != term);
    out.sort();
    out.dedup();
    out
}

/// Removes a doubled consonant before an ending: `formatt(er)` gives `format`. `l`, `s` and `z` stay, since
/// words often end in two of them.
fn undoubled<'b>(base: &'b str, ending: &str) -> &'b str {
    let b = base.as_bytes();
    let n = b.len();
    let doubled = matches!(ending, "er" | "or")
        && n > BASE_BYTES_MIN
        && b[n - 1] == b[n - 2]
        && !matches!(b[n - 1], b'l' | b's' | b'z');
    if doubled { &base[..n - 1] } else { base }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lead_to_their_other_forms() {
        for (term, form) in [
            ("fuzzer", "fuzz"),
            ("formatter", "format"),
            ("completion", "complet"),
            ("pars", "parser"),
            ("complet", "completion"),
            ("validator", "validation"),
        ] {
            assert!(derived(term).iter().any(|f| f == form), "{term} {form}");
        }
        for (term, form) in [("user", "us"), ("order", "ord"), ("http2", "http2er")] {
            assert!(!derived(term).iter().any(|f| f == form), "{term} {form}");
        }
    }

    #[test]
    fn short_words_stand_for_long_ones() {
        for (term, form) in [("configuration", "cfg"), ("cmd", "command"), ("folder", "directory")] {
            assert!(synonyms(term).any(|f| f == form), "{term} {form}");
        }
        assert_eq!(synonyms("zebra").count(), 0);
    }

    #[test]
    fn no_word_stands_in_two_groups() {
        let mut all: Vec<&str> = GROUPS.split_ascii_whitespace().collect();
        let n = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), n);
    }
}
