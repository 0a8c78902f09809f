//! The words that code holds when prose describes it with other words: `order` and `sort`, `database` and
//! `db`.
//!
//! A translation model in the sense of Berger and Lafferty (1999): for each word of the first paragraph
//! of a doc comment, the words that stand in the described code far more often than in other code. The
//! table is compiled in; `scripts/learn-words` makes it from documented functions of public packages, and
//! says which. It is facts about words alone.

use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// One word a line, sorted: the term, a tab, up to eight `term:percent` with blanks between, the most
/// telling first.
const TABLE: &str = include_str!("../../data/words.tsv");

/// The words that stand for a term in code, each with the part of the code described with the term that
/// holds it, in 0..1; none for rare terms.
pub fn of(term: &str) -> impl Iterator<Item = (&'static str, f64)> {
    static KNOWN: LazyLock<FxHashMap<&str, &str>> =
        LazyLock::new(|| TABLE.lines().filter_map(|line| line.split_once('\t')).collect());
    let others = KNOWN.get(term).copied().unwrap_or("");
    let others = others.split(' ').filter_map(|other| other.split_once(':'));
    others.filter_map(|(word, percent)| Some((word, percent.parse::<f64>().ok()? / 100.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_leads_to_the_words_of_code() {
        for (term, other) in [("databas", "db"), ("order", "sort"), ("garbag", "gc"), ("retry", "backoff")] {
            assert!(of(term).any(|o| o.0 == other), "{term} {other}");
        }
        assert_eq!(of("zebra").count(), 0);
    }

    #[test]
    fn the_table_holds_sorted_terms_as_the_index_has_them() {
        let words: Vec<&str> = TABLE.lines().map(|l| l.split('\t').next().expect("a term")).collect();
        assert!(words.is_sorted() && words.len() > 1_000);
        for word in words {
            let others: Vec<_> = of(word).collect();
            assert!((1..=8).contains(&others.len()), "{word}");
            assert!(others.iter().all(|(w, p)| *w != word && (0.0..=1.0).contains(p)), "{word}");
        }
    }
}
