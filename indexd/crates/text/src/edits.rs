//! How far one word is from another.

/// Characters of a word that are compared; longer ones count as cut.
const CHARS_MAX: usize = 80;

/// Edits between two words: a letter more, less or another, or two neighbours in the other order
/// (optimal string alignment). Of each word the first 80 characters count.
pub fn edits(a: &str, b: &str) -> usize {
    let letters = |text: &str| text.chars().take(CHARS_MAX).collect::<Vec<char>>();
    let (a, b) = (letters(a), letters(b));
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, y) in b.iter().enumerate() {
            let mut least = (last[j] + usize::from(x != y)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *x == b[j - 1] && a[i - 1] == *y {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
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
