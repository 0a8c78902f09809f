//! Grams: the runs of three letters that a text holds, in a few bits each, so that a search by text reads
//! only files that may match.
//!
//! The [`signature`] of a text is a set of bits, one for each of its *grams*: three bytes in a row within a
//! line, and words of one or two letters with their ends. Capitals count as small letters, so one signature
//! serves searches with and without regard to case. Several grams may share a bit: a signature never misses
//! a text, and lets some through that do not match.

use std::cell::RefCell;

/// Bits of the code of a byte.
const CODE_BITS: u32 = 7;
/// Bits for each gram of a signature. With four, 22 % of all bits are set, and signatures are 6 to 7 % of
/// the text. With three it is 28 and 5 %, and searches for three letters read a third more.
const BITS_EACH: usize = 4;
/// The code before the letters of a short word; no byte has it.
const SHORT_WORD: u32 = 127;

/// The code of each byte: 0 for the line end, one for each character of ASCII that is not a capital, one for
/// capitals and small letters together. Other bytes share the rest, three by three.
const CODES: [u8; 256] = {
    let mut codes = [0; 256];
    let mut b = 0;
    while b < 256 {
        codes[b] = match (b as u8).to_ascii_lowercase() {
            b'\n' => 0,
            b'\t' => 1,
            b'\r' => 2,
            b @ 0x20..=0x40 => b - 0x20 + 3,
            b @ 0x5b..=0x7f => b - 0x5b + 36,
            b @ 0x80.. => (b - 0x80) % 53 + 74,
            _ => 73,
        };
        b += 1;
    }
    codes
};

thread_local! {
    /// A bit for each gram met; all zero between two signatures.
    static SEEN: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// A gram: the codes of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Gram(u32);

impl Gram {
    /// The gram of a whole word of one or two ASCII letters, digits or underscores; `None` for other words.
    pub fn of_short_word(word: &str) -> Option<Self> {
        match word.as_bytes() {
            bytes @ ([_] | [_, _]) if bytes.iter().all(|b| is_word_byte(*b)) => {
                let codes = bytes.iter().fold(0, |n, b| n << CODE_BITS | u32::from(CODES[usize::from(*b)]));
                Some(Self(SHORT_WORD << (2 * CODE_BITS) | codes))
            }
            _ => None,
        }
    }
}

/// The condition that a text must meet to be worth reading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// No condition.
    Nothing,
    /// A gram.
    Gram(Gram),
    /// All of these.
    All(Vec<Need>),
    /// At least one of these.
    Any(Vec<Need>),
}

impl Need {
    /// The need of a text that holds `literal`, in any case; [`Need::Nothing`] for fewer than three bytes.
    pub fn of_literal(literal: &str) -> Self {
        let mut grams = Vec::new();
        each_gram(literal, |gram, is_word| {
            if !is_word {
                grams.push(gram);
            }
        });
        grams.sort_unstable();
        grams.dedup();
        if grams.is_empty() { Self::Nothing } else { Self::All(grams.into_iter().map(Self::Gram).collect()) }
    }

    /// The need of a text that holds `word` as a whole word, in any case.
    pub fn of_word(word: &str) -> Self {
        Gram::of_short_word(word).map_or_else(|| Self::of_literal(word), Self::Gram)
    }

    /// Returns true if the text with this signature may meet it.
    pub fn is_met_by(&self, signature: &[u8]) -> bool {
        match self {
            Self::Nothing => true,
            Self::Gram(gram) => bit(signature.len(), *gram).is_some_and(|(i, mask)| signature[i] & mask != 0),
            Self::All(needs) => needs.iter().all(|n| n.is_met_by(signature)),
            Self::Any(needs) => needs.iter().any(|n| n.is_met_by(signature)),
        }
    }
}

/// The byte and the bit of a gram in a signature of `len` bytes.
fn bit(len: usize, gram: Gram) -> Option<(usize, u8)> {
    let at = (u64::from(gram.0.wrapping_mul(0x9e37_79b1)) * (len as u64 * 8)) >> 32;
    (len > 0).then(|| (at as usize / 8, 1 << (at % 8)))
}

/// The signature of a text, a function of the text alone; empty for a text without grams.
pub fn signature(text: &str) -> Vec<u8> {
    let mut grams = Vec::new();
    SEEN.with_borrow_mut(|seen| {
        seen.resize(1 << (3 * CODE_BITS - 6), 0);
        each_gram(text, |gram, _| {
            let (word, mask) = (&mut seen[gram.0 as usize >> 6], 1 << (gram.0 & 63));
            if *word & mask == 0 {
                *word |= mask;
                grams.push(gram);
            }
        });
        grams.iter().for_each(|gram| seen[gram.0 as usize >> 6] = 0);
    });
    let mut out = vec![0; (grams.len() * BITS_EACH).div_ceil(8)];
    let len = out.len();
    for (i, mask) in grams.into_iter().filter_map(|gram| bit(len, gram)) {
        out[i] |= mask;
    }
    out
}

fn is_word_byte(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_'
}

/// Calls `f` with each gram of `text`, and true for a gram of a short word.
fn each_gram(text: &str, mut f: impl FnMut(Gram, bool)) {
    let mut grams = Grams::default();
    let mut bytes = text.as_bytes();
    while let Some((&first, rest)) = bytes.split_first() {
        bytes = rest;
        let mut b = first;
        if b >= 0x80 {
            // The two letters outside ASCII whose other case is ASCII: a search without regard to case for
            // `s` or `k` must find them.
            match (first, rest) {
                (0xc5, [0xbf, rest @ ..]) => (b, bytes) = (b's', rest),
                (0xe2, [0x84, 0xaa, rest @ ..]) => (b, bytes) = (b'k', rest),
                _ => {}
            }
        }
        grams.next(b, &mut f);
    }
    grams.word_ends(&mut f);
}

/// The last bytes read of a text.
#[derive(Default)]
struct Grams {
    /// The codes of the last three bytes of the line.
    window: u32,
    n: u32,
    /// The codes of the last letters of the word.
    word: u32,
    word_len: u32,
}

impl Grams {
    #[inline]
    fn next(&mut self, b: u8, f: &mut impl FnMut(Gram, bool)) {
        let code = u32::from(CODES[usize::from(b)]);
        if is_word_byte(b) {
            (self.word, self.word_len) = (self.word << CODE_BITS | code, self.word_len + 1);
        } else {
            self.word_ends(f);
        }
        if code == 0 {
            self.n = 0;
            return;
        }
        self.window = (self.window << CODE_BITS | code) & ((1 << (3 * CODE_BITS)) - 1);
        self.n += 1;
        if self.n >= 3 {
            f(Gram(self.window), false);
        }
    }

    #[inline]
    fn word_ends(&mut self, f: &mut impl FnMut(Gram, bool)) {
        if matches!(self.word_len, 1 | 2) {
            f(Gram(SHORT_WORD << (2 * CODE_BITS) | self.word), true);
        }
        (self.word, self.word_len) = (0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn finds(text: &str, literal: &str) -> bool {
        Need::of_literal(literal).is_met_by(&signature(text))
    }

    #[test]
    fn a_text_without_the_letters_is_passed_over() {
        let text = "fn parse_header(line: &str) -> Header { line.split(':') }\n";
        assert!(finds(text, "parse_header") && finds(text, "PARSE_HEADER") && finds(text, "Header {"));
        assert!(!finds(text, "connection") && !finds(text, "parse_footer"));
        assert!(finds("", "ab") && !finds("", "abc") && !finds("\n", "abc"));
    }

    #[test]
    fn letters_in_two_lines_are_no_gram() {
        let mut n = 0;
        each_gram("ab\ncd\nabcd", |_, is_word| n += u32::from(!is_word));
        assert_eq!(n, 2);
    }

    #[test]
    fn short_words_are_told_from_parts_of_longer_ones() {
        let finds = |text: &str, word: &str| Need::of_word(word).is_met_by(&signature(text));
        for text in ["x.q()", "q", "(Q)", "aöq ", "a\nq\nb"] {
            assert!(finds(text, "q"), "{text}");
        }
        assert!(!finds("quit seq", "q") && !finds("open", "op"));
        assert!(finds("a.op", "op") && finds("the word", "word"));
        assert_eq!(Gram::of_short_word("é"), None);
    }

    #[test]
    fn letters_whose_other_case_is_ascii_count_as_those() {
        assert!(finds("\u{212a}elvin", "kelvin") && finds("ki\u{17f}s", "KISS"));
    }

    proptest! {
        #[test]
        fn what_is_there_is_never_missed(text in "[a-cA-C \n_éſ]{0,80}", from in 0usize..80, len in 0usize..12) {
            let chars: Vec<char> = text.chars().collect();
            let part: String = chars.iter().skip(from).take(len).collect();
            let signature = signature(&text);
            for line in part.split('\n') {
                prop_assert!(Need::of_literal(line).is_met_by(&signature));
                prop_assert!(Need::of_literal(&line.to_ascii_uppercase()).is_met_by(&signature));
            }
            for word in text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|w| !w.is_empty()) {
                prop_assert!(Need::of_word(word).is_met_by(&signature));
            }
        }
    }
}
