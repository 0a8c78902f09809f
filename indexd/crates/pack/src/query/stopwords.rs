//! Words of issue texts that do not refer to code.
//!
//! The list is part of the tool version: changing it changes packs. It contains function words of English and
//! the vocabulary of asking and reporting. It omits words that are often names in programs (`file`,
//! `default`, `value`, `name`); their frequency weighs them.

use super::Kind;
use std::sync::LazyLock;

/// Version of the list, shown in `explain`.
pub const VERSION: u32 = 4;

/// The words of `stopwords.txt`, sorted.
static WORDS: LazyLock<Vec<&str>> =
    LazyLock::new(|| include_str!("stopwords.txt").split_ascii_whitespace().collect());

/// Words that only report a change in a change text, but name the subject in a question, as in "who adds the
/// help flag".
const NAMED_BY_QUESTIONS: [&str; 19] = [
    "add", "added", "adding", "adds", "again", "allow", "allowed", "changed", "code", "example", "help",
    "tried", "tries", "try", "twice", "user", "users", "version", "versions",
];

/// True if a lower-case word is a stop word in a text of this kind.
pub fn says_nothing(word: &str, kind: Kind) -> bool {
    is_stopword(word) && !(kind == Kind::Question && NAMED_BY_QUESTIONS.contains(&word))
}

/// True if the lower-case `word` is on the list.
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
