//! Light stemming: the few English endings that separate an issue's words from a program's names.
//!
//! A full stemmer (Porter, Snowball) costs several times the scan itself and merges names that a program
//! distinguishes (`universe` and `university`). This one removes plural, `-ing` and `-ed` endings and a
//! final `e`, so that `matches`, `matching`, `matched` and `match` have one stem.

/// Shortest word that is stemmed, in bytes. Shorter ones (`uses`, `need`) lose more than they gain.
const WORD_BYTES_MIN: usize = 5;
/// Shortest stem, in bytes.
const STEM_BYTES_MIN: usize = 3;

/// Shortens the ASCII lower-case `word` in place to its stem and returns the stem's length.
///
/// Deterministic, but not necessarily idempotent. Words of fewer than five bytes and words with anything but
/// lower-case ASCII letters are unchanged.
pub fn stem(word: &mut [u8]) -> usize {
    let n = word.len();
    if n < WORD_BYTES_MIN || !word.iter().all(u8::is_ascii_lowercase) {
        return n;
    }
    let n = strip_ending(word, n);
    if n >= WORD_BYTES_MIN && word[n - 1] == b'e' { n - 1 } else { n }
}

/// Removes one ending; `y` replaces `ies` in place.
fn strip_ending(word: &mut [u8], n: usize) -> usize {
    let keeps = |cut: usize| n - cut >= STEM_BYTES_MIN;
    let w = &word[..n];
    match w[n - 1] {
        b's' => {
            if w.ends_with(b"ies") && keeps(2) {
                word[n - 3] = b'y';
                n - 2
            } else if w.ends_with(b"sses") || w.ends_with(b"xes") {
                n - 2
            } else if w.ends_with(b"ss") || w.ends_with(b"us") || w.ends_with(b"is") || w.ends_with(b"ias") {
                // `class`, `status`, `basis`, `alias` are not plurals.
                n
            } else {
                n - 1
            }
        }
        b'g' if w.ends_with(b"ing") && keeps(3) => undouble(w, n - 3),
        b'd' if w.ends_with(b"ed") && keeps(2) => undouble(w, n - 2),
        _ => n,
    }
}

/// Drops the second of two equal consonants that an ending had doubled (`running`, `stopped`); `l`, `s` and
/// `z` are as often double in the stem (`calling`, `passing`).
fn undouble(word: &[u8], n: usize) -> usize {
    let last = word[n - 1];
    let doubled = n > STEM_BYTES_MIN && last == word[n - 2];
    if doubled && !matches!(last, b'a' | b'e' | b'i' | b'o' | b'u' | b'l' | b's' | b'z') { n - 1 } else { n }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(words: &str, expect: &str) {
        for word in words.split(' ') {
            let mut bytes = word.as_bytes().to_vec();
            let n = stem(&mut bytes);
            assert_eq!(std::str::from_utf8(&bytes[..n]).unwrap(), expect, "{word}");
        }
    }

    #[test]
    fn forms_of_a_word_meet() {
        check("match matches matched matching", "match");
        check("parse parses parsed parsing", "pars");
        check("query queries", "query");
        check("class classes", "class");
        check("alias aliases", "alias");
        check("status statuses", "status");
        check("prefix prefixes", "prefix");
        check("connection connections", "connection");
        check("running run", "run");
        check("stopped stopping stop", "stop");
        check("adding added add", "add");
        check("caches cache cached caching", "cach");
        check("call calls called calling", "call");
    }

    #[test]
    fn short_words_and_names_with_digits_stay() {
        for word in ["uses", "need", "bus", "sha256s", "b2bing", "größes"] {
            check(word, word);
        }
    }
}
