//! Words of issue prose that say nothing about code.
//!
//! The list is part of the tool version: changing it changes packs. It holds function words of
//! English and the vocabulary of asking and reporting. Words that are names in programs as often as
//! they are prose (`file`, `default`, `value`, `name`) are not in it: their frequency weighs them.

/// Version of the list, shown in `explain`.
pub const VERSION: u32 = 1;

/// The list, sorted.
const WORDS: [&str; 223] = [
    "a", "able", "about", "above", "actual", "actually", "add", "added", "adding", "adds", "after", "again", "ago",
    "all", "allow", "allows", "already", "also", "although", "always", "am", "an", "and", "another", "any", "anyone",
    "anything", "appears", "are", "aren", "around", "as", "at", "away", "back", "be", "because", "been", "before",
    "behavior", "behaviour", "being", "better", "between", "both", "bug", "bugs", "but", "by", "can", "cannot",
    "case", "cause", "causes", "change", "changed", "changes", "code", "could", "couldn", "currently", "did", "didn",
    "different", "do", "does", "doesn", "doing", "don", "done", "down", "due", "during", "each", "either", "else",
    "etc", "even", "ever", "every", "example", "expect", "expected", "far", "feature", "few", "fix", "fixed",
    "fixes", "fixing", "following", "follows", "for", "from", "further", "get", "gets", "getting", "give", "given",
    "gives", "go", "goes", "going", "good", "got", "had", "happen", "happens", "has", "hasn", "have", "haven",
    "having", "he", "hello", "help", "hence", "her", "here", "hi", "his", "how", "however", "i", "if", "improve",
    "improved", "improvement", "in", "instead", "into", "is", "isn", "issue", "issues", "it", "its", "itself",
    "just", "know", "latest", "least", "less", "let", "lets", "like", "little", "look", "looks", "lot", "made",
    "make", "makes", "making", "many", "may", "maybe", "me", "might", "more", "most", "much", "must", "my", "need",
    "needed", "needs", "never", "new", "no", "nor", "not", "nothing", "now", "of", "off", "ok", "old", "on", "once",
    "one", "only", "or", "other", "others", "our", "out", "over", "own", "please", "possible", "pr", "problem",
    "problems", "proper", "properly", "really", "refactor", "regression", "reproduce", "same", "see", "seem",
    "seems", "should", "shouldn", "simply", "since", "so", "some", "something", "still", "such", "sure", "thank",
    "thanks", "that", "the", "their", "them", "then", "there",
];

/// The second half of the list, sorted; apart so that each half stays readable.
const MORE: [&str; 65] = [
    "these", "they", "thing", "things", "think", "this", "those", "though", "through", "to", "together", "too",
    "tried", "tries", "try", "trying", "under", "unless", "until", "up", "us", "use", "used", "useful", "user",
    "users", "uses", "using", "usually", "various", "version", "versions", "very", "via", "want", "wants", "was",
    "wasn", "way", "ways", "we", "well", "were", "weren", "what", "when", "where", "whether", "which", "while",
    "who", "whole", "why", "will", "wish", "with", "within", "without", "won", "work", "works", "would", "wouldn",
    "you", "your",
];

/// Whether the lower-case `word` is on the list.
pub fn is_stopword(word: &str) -> bool {
    WORDS.binary_search(&word).is_ok() || MORE.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_so_that_search_finds_every_word() {
        assert!(WORDS.is_sorted() && MORE.is_sorted() && WORDS.last() < MORE.first());
        for word in WORDS.iter().chain(&MORE) {
            assert!(is_stopword(word), "{word}");
        }
        for word in ["file", "default", "zsh", ""] {
            assert!(!is_stopword(word), "{word}");
        }
    }
}
