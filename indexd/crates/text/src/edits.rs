//! The edit distance between two words.

/// Characters of a word that are compared; the rest is ignored.
const CHARS_MAX: usize = 80;

/// The number of edits between two words: a letter added, removed or replaced, or two neighbours swapped
/// (optimal string alignment). Only the first 80 characters of each word count.
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
