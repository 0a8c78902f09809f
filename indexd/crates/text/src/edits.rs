//! How far one word is from another.

/// Characters of a word that are compared; longer ones count as cut.
const CHARS_MAX: usize = 80;

/// Edits between two words: a letter more, less or another, or two neighbours in the other order
/// (optimal string alignment). Of each word the first 80 characters count.
pub fn edits(a: &str, b: &str) -> usize {
    let cut = |text: &str| text.chars().take(CHARS_MAX).collect::<String>();
    strsim::osa_distance(&cut(a), &cut(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_letters_more_less_other_or_swapped() {
        for (a, b, n) in
            [("", "abc", 3), ("kitten", "sitting", 3), ("ab", "ba", 1), ("disptach", "dispatch", 1)]
        {
            assert_eq!(edits(a, b), n, "{a} {b}");
        }
    }
}
