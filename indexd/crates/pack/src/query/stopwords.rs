//! Words of issue prose that say nothing about code.
//!
//! The list is part of the tool version: changing it changes packs. It holds function words of
//! English and the vocabulary of asking and reporting. Words that are names in programs as often as
//! they are prose (`file`, `default`, `value`, `name`) are not in it: their frequency weighs them.

use super::Kind;
use std::sync::LazyLock;

/// Version of the list, shown in `explain`.
pub const VERSION: u32 = 4;

/// The words of `stopwords.txt`, sorted.
static WORDS: LazyLock<Vec<&str>> =
    LazyLock::new(|| include_str!("stopwords.txt").split_ascii_whitespace().collect());

/// Words that report a change where a change is asked for, and name what is looked for in a question:
/// "who adds the help flag".
const NAMED_BY_QUESTIONS: [&str; 19] = [
    "add", "added", "adding", "adds", "again", "allow", "allowed", "changed", "code", "example", "help",
    "tried", "tries", "try", "twice", "user", "users", "version", "versions",
];

/// Whether a lower-case word says nothing in a text of a kind.
pub fn says_nothing(word: &str, kind: Kind) -> bool {
    is_stopword(word) && !(kind == Kind::Question && NAMED_BY_QUESTIONS.contains(&word))
}

/// Whether the lower-case `word` is on the list.
pub fn is_stopword(word: &str) -> bool {
    WORDS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_so_that_search_finds_every_word() {
        assert!(WORDS.is_sorted() && WORDS.len() > 400);
        for word in WORDS.iter() {
            assert!(is_stopword(word), "{word}");
        }
        for word in ["file", "default", "zsh", ""] {
            assert!(!is_stopword(word), "{word}");
        }
    }
}
