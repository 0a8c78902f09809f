//! Short lists of words, written as one text.

/// True if `list`, words separated by white space, holds `word`.
pub fn holds(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|w| w == word)
}

#[cfg(test)]
mod tests {
    use super::holds;

    #[test]
    fn whole_words_are_held() {
        for (list, word, expect) in [
            ("a bc", "bc", true),
            ("a bc", "b", false),
            ("a \n bc", "a", true),
            ("a", "", false),
            ("", "", false),
        ] {
            assert_eq!(holds(list, word), expect, "{list:?} {word:?}");
        }
    }
}
