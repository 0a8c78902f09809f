//! Splits text into terms, identically for index, query and history.
//!
//! A *word* is a run of letters, digits and underscores. A word yields the terms of its parts
//! (`parseHTTPRequest2` -> `pars`, `http`, `request`), lower-cased and lightly stemmed ([`crate::stem()`]),
//! and, when it has several parts, one more term for the whole identifier: `=` and the parts joined without
//! underscores, so that `max_items`, `maxItems` and `MAX_ITEMS` share `=maxitems`, and no prose word can
//! collide with it. Parts of a single letter or digit carry no information and are left out. Runs of
//! Chinese, Japanese and Korean script, which has no spaces between words, yield overlapping pairs of
//! characters.

use crate::stem::stem;
use indexd_model::limits::TERM_BYTES_MAX;
use std::sync::OnceLock;

/// More parts than any sensible identifier has. A longer word is encoded data (base64, hexadecimal), of
/// which only the whole is kept.
const PARTS_MAX: usize = 16;
/// Bytes of the longest word that is split; longer runs are data.
const WORD_BYTES_MAX: usize = 256;

/// Word bytes of ASCII: letters, digits, underscore.
const ASCII_WORD: [bool; 128] = {
    let mut table = [false; 128];
    let mut b = 0;
    while b < 128 {
        table[b] = (b as u8).is_ascii_alphanumeric() || b as u8 == b'_';
        b += 1;
    }
    table
};

/// Calls `f` with the byte offset and the text of each word, in order.
///
/// Words are maximal runs of letters and digits of any script, underscores and combining marks.
#[inline]
pub fn words<'t>(text: &'t str, mut f: impl FnMut(usize, &'t str)) {
    let bytes = text.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        let start = i;
        while i < bytes.len() {
            let b = bytes[i];
            if b < 0x80 {
                if !ASCII_WORD[b as usize] {
                    break;
                }
                i += 1;
            } else {
                match wide_word_char(text, i) {
                    Some(len) => i += len,
                    None => break,
                }
            }
        }
        if i > start {
            f(start, &text[start..i]);
        } else {
            i += utf8_len(bytes[i]);
        }
    }
}

/// Calls `f` with each term of `text`, in order of appearance; equal terms are repeated.
pub fn terms(text: &str, mut f: impl FnMut(&str)) {
    words(text, |_, word| word_terms(word, &mut f));
}

/// Calls `f` with each term of one word: its parts in order, then the whole when there are several.
///
/// Terms longer than [`TERM_BYTES_MAX`] bytes and words longer than 256 bytes yield nothing.
pub fn word_terms(word: &str, f: impl FnMut(&str)) {
    if word.len() > WORD_BYTES_MAX {
        return;
    }
    if word.is_ascii() { ascii_terms(word.as_bytes(), f) } else { wide_terms(word, f) }
}

fn utf8_len(lead: u8) -> usize {
    match lead {
        0..=0xbf => 1,
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        _ => 4,
    }
}

/// The length of the character at `at` when it belongs to a word; `at` is a character boundary.
#[cold]
fn wide_word_char(text: &str, at: usize) -> Option<usize> {
    let c = text[at..].chars().next()?;
    is_word_char(c).then_some(c.len_utf8())
}

/// A bit for each character of a block of 256.
type Block = [u64; 4];

/// The blocks of the basic plane met so far: searching the tables of the standard library takes ten times as
/// long.
static BLOCKS: [OnceLock<Block>; 256] = [const { OnceLock::new() }; 256];

/// Returns true if a character belongs to a word.
fn is_word_char(c: char) -> bool {
    let is = |c: char| c.is_alphanumeric() || c == '_' || is_mark(c);
    let number = c as u32;
    let Some(block) = BLOCKS.get(number as usize >> 8) else { return is(c) };
    let block = block.get_or_init(|| {
        let mut bits = Block::default();
        for other in number & !0xff..=number | 0xff {
            let bit = u64::from(char::from_u32(other).is_some_and(is));
            bits[other as usize >> 6 & 3] |= bit << (other & 63);
        }
        bits
    });
    block[number as usize >> 6 & 3] >> (number & 63) & 1 != 0
}

/// Combining marks that follow a letter in decomposed text.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{483}'..='\u{487}' | '\u{591}'..='\u{5bd}' | '\u{64b}'..='\u{65f}'
        | '\u{93c}' | '\u{94d}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20f0}')
}

/// Scripts written without spaces between words.
fn is_dense(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{11ff}' | '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

/// The end of the part that starts at `i` of an ASCII word; `word[i]` must not be an underscore.
///
/// An upper-case run ends before the capital that starts a lower-case word (`HTTPServer`), except
/// that a lone plural `s` belongs to the run (`URLs`).
fn ascii_part_end(word: &[u8], i: usize) -> usize {
    let run = |from: usize, is: fn(&u8) -> bool| from + word[from..].iter().take_while(|b| is(b)).count();
    let b = word[i];
    if b.is_ascii_digit() {
        return run(i, u8::is_ascii_digit);
    }
    if b.is_ascii_lowercase() {
        return run(i, u8::is_ascii_lowercase);
    }
    let upper = run(i, u8::is_ascii_uppercase);
    let lower = run(upper, u8::is_ascii_lowercase);
    match (upper - i, lower - upper) {
        (_, 0) => upper,
        (1, _) => lower,
        (_, 1) if word[upper] == b's' => lower,
        _ => upper - 1,
    }
}

fn ascii_terms(word: &[u8], mut f: impl FnMut(&str)) {
    // `=` and the parts, lower-cased; parts are stemmed in a copy.
    let mut whole = [0u8; WORD_BYTES_MAX + 1];
    whole[0] = b'=';
    let mut len = 1;
    let mut ends = [0u16; PARTS_MAX];
    let mut n_parts = 0;
    let mut i = 0;
    while i < word.len() {
        if word[i] == b'_' {
            i += 1;
            continue;
        }
        let end = ascii_part_end(word, i);
        for &b in &word[i..end] {
            whole[len] = b.to_ascii_lowercase();
            len += 1;
        }
        if n_parts < PARTS_MAX {
            ends[n_parts] = len as u16;
        }
        n_parts += 1;
        i = end;
    }
    if n_parts <= PARTS_MAX {
        let mut part = [0u8; TERM_BYTES_MAX];
        let mut start = 1;
        for &end in &ends[..n_parts] {
            let n = end as usize - start;
            if (2..=TERM_BYTES_MAX).contains(&n) {
                part[..n].copy_from_slice(&whole[start..end as usize]);
                // The plural of an acronym (`URLs`) is too short for the stemmer.
                let plural = (3..5).contains(&n) && part[n - 1] == b's' && is_acronym_plural(word, n);
                let n = if plural { n - 1 } else { stem(&mut part[..n]) };
                emit(&part[..n], &mut f);
            }
            start = end as usize;
        }
    }
    if n_parts > 1 && len <= TERM_BYTES_MAX {
        emit(&whole[..len], &mut f);
    }
}

/// Returns true if the word holds an acronym plural of `n` letters: capitals and a final `s`.
fn is_acronym_plural(word: &[u8], n: usize) -> bool {
    word.windows(n).any(|w| w[n - 1] == b's' && w[..n - 1].iter().all(u8::is_ascii_uppercase))
}

fn emit(term: &[u8], f: &mut impl FnMut(&str)) {
    // Only ASCII reaches this point, so the check cannot fail; it costs less than the lookup that follows.
    if let Ok(term) = std::str::from_utf8(term) {
        f(term);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    Dense,
    Break,
}

fn class(c: char) -> Class {
    if c == '_' {
        Class::Break
    } else if is_dense(c) {
        Class::Dense
    } else if c.is_numeric() {
        Class::Digit
    } else if c.is_uppercase() {
        Class::Upper
    } else {
        Class::Lower
    }
}

/// Splits words with letters beyond ASCII by the same rules; allocation does not matter here.
#[cold]
fn wide_terms(word: &str, mut f: impl FnMut(&str)) {
    let chars: Vec<char> = word.chars().collect();
    let run = |from: usize, c: Class| from + chars[from..].iter().take_while(|x| class(**x) == c).count();
    let mut parts: Vec<String> = Vec::new();
    let mut is_dense_alone = true;
    let mut i = 0;
    while i < chars.len() {
        let kind = class(chars[i]);
        let end = match kind {
            Class::Upper => {
                let upper = run(i, Class::Upper);
                let lower = run(upper, Class::Lower);
                if lower > upper && upper - i > 1 { upper - 1 } else { lower }
            }
            kind => run(i, kind),
        };
        let lowered: String = chars[i..end].iter().flat_map(|c| c.to_lowercase()).collect();
        match kind {
            Class::Break => {}
            Class::Dense => {
                pairs(&lowered, &mut f);
                parts.push(lowered);
            }
            _ => {
                is_dense_alone = false;
                if lowered.chars().nth(1).is_some() {
                    let mut bytes = lowered.clone().into_bytes();
                    let n = stem(&mut bytes);
                    if n <= TERM_BYTES_MAX {
                        f(std::str::from_utf8(&bytes[..n]).unwrap_or(&lowered));
                    }
                }
                parts.push(lowered);
            }
        }
        i = end;
    }
    let whole = parts.iter().fold(String::from("="), |whole, part| whole + part);
    if parts.len() > 1 && !is_dense_alone && whole.len() <= TERM_BYTES_MAX {
        f(&whole);
    }
}

/// Overlapping pairs of characters; a lone character is a term by itself.
fn pairs(run: &str, f: &mut impl FnMut(&str)) {
    let starts: Vec<usize> = run.char_indices().map(|(i, _)| i).chain([run.len()]).collect();
    if starts.len() == 2 {
        f(run);
    }
    for w in starts.windows(3) {
        f(&run[w[0]..w[2]]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        terms(text, |t| out.push(t.to_owned()));
        out
    }

    fn check(text: &str, expect: &str) {
        assert_eq!(all(text).join(" "), expect, "{text}");
    }

    #[test]
    fn splits_identifiers_of_every_style() {
        check("parseHTTPRequest", "pars http request =parsehttprequest");
        check("HTTPServer", "http server =httpserver");
        check("max_items maxItems MaxItems MAX_ITEMS", &["max item =maxitems"; 4].join(" "));
        check("dry-run --no-color", "dry run no color");
        check("sha256 utf8Decode", "sha 256 =sha256 utf decod =utf8decode");
        check("__init__ _private", "init privat");
        check("userIDs URLs", "user id =userids url");
        check("x i 7 _", "");
        check("x1", "=x1");
        check("http.Client.Do", "http client do");
    }

    #[test]
    fn words_beyond_ascii_count() {
        check("Größe GRÖSSE", "größe grösse");
        check("naïveBayes", "naïve baye =naïvebayes");
        check("ПоискПути", "поиск пути =поискпути");
        check("検索する", "検索 索す する");
        check("検", "検");
        check("東京Tower", "東京 tower =東京tower");
        check("cafe\u{301}", "cafe\u{301}");
        check("\u{1f600} ok", "ok");
    }

    #[test]
    fn characters_of_words_are_letters_digits_underscores_and_marks() {
        let is = |c: char| c.is_alphanumeric() || c == '_' || is_mark(c);
        assert_eq!(('\0'..=char::MAX).find(|c| is_word_char(*c) != is(*c)), None);
    }

    #[test]
    fn encoded_data_gives_no_parts() {
        check("aB3dE5gH7jK9mN1pQ3sT5vW7y", "=ab3de5gh7jk9mn1pq3st5vw7y");
        check(&"x".repeat(65), "");
        check(&"ab_".repeat(100), "");
    }

    #[test]
    fn identifiers_of_the_length_of_a_term_are_whole() {
        // Lengths include the `=` before them.
        for part in ["x".repeat(TERM_BYTES_MAX - 3), format!("x{}", "ß".repeat(TERM_BYTES_MAX / 2 - 2))] {
            check(&format!("ab_{part}"), &format!("ab {part} =ab{part}"));
            check(&format!("abc_{part}"), &format!("abc {part}"));
        }
    }

    #[test]
    fn words_come_with_their_offsets() {
        let mut out = Vec::new();
        words("a, bé_1\n\u{2003}z", |at, w| out.push((at, w.to_owned())));
        assert_eq!(out, [(0, "a".into()), (3, "bé_1".into()), (12, "z".into())]);
    }

    proptest! {
        #[test]
        fn any_text_gives_bounded_lower_case_terms(text in "(\\PC|[A-Za-z0-9_ .\n]){0,80}") {
            for t in all(&text) {
                prop_assert!(!t.is_empty() && t.len() <= TERM_BYTES_MAX);
                prop_assert!(!t.bytes().any(|b| b.is_ascii_uppercase() || b.is_ascii_whitespace()));
            }
        }

        #[test]
        fn words_are_slices_of_the_text(text in "\\PC{0,60}") {
            let mut end = 0;
            words(&text, |at, w| {
                assert!(at >= end && &text[at..at + w.len()] == w);
                end = at + w.len();
            });
        }
    }
}
