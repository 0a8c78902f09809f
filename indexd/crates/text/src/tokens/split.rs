//! Splits text into the pieces inside which tokens are merged.
//!
//! The published patterns are regular expressions with a look ahead:
//!
//! ```text
//! o200k   [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//!         [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//!         \p{N}{1,3}   ?[^\s\p{L}\p{N}]+[\r\n/]*   \s*[\r\n]+   \s+(?!\S)   \s+
//! cl100k  '(?i:[sdmt]|ll|ve|re)   [^\r\n\p{L}\p{N}]?+\p{L}++
//!         \p{N}{1,3}+   ?[^\s\p{L}\p{N}]++[\r\n]*+   \s++$   \s*[\r\n]   \s+(?!\S)   \s
//! ```
//!
//! The first alternative that matches at a place counts. They are implemented here by the kind of each
//! character; classes come from the library whose expressions tiktoken-rs runs.

use regex_syntax::hir::{Class, HirKind};
use std::sync::LazyLock;

/// Passes the pieces of a text, in order, to a function.
pub type Pieces = fn(&str, &mut dyn FnMut(&[u8]));

/// The kinds of characters that the patterns distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// `\p{Lu}`, `\p{Lt}`.
    Upper,
    /// `\p{Ll}`.
    Lower,
    /// `\p{Lm}`, `\p{Lo}`.
    Letter,
    /// `\p{M}`.
    Mark,
    /// `\p{N}`.
    Number,
    /// Carriage return and line feed.
    Newline,
    /// Any other `\s`.
    Blank,
    /// Everything else.
    Other,
}

use Kind::{Blank, Letter, Lower, Mark, Newline, Number, Other, Upper};

impl Kind {
    fn is_letter(self) -> bool {
        matches!(self, Upper | Lower | Letter)
    }

    fn is_space(self) -> bool {
        matches!(self, Newline | Blank)
    }

    /// Neither `\s` nor `\p{L}` nor `\p{N}`.
    fn is_sign(self) -> bool {
        matches!(self, Mark | Other)
    }
}

/// Kinds of the characters beyond ASCII, as ranges in order; characters between them are of kind other.
static RANGES: LazyLock<Vec<(char, char, Kind)>> = LazyLock::new(|| {
    let classes = [
        (r"\p{Lu}", Upper),
        (r"\p{Lt}", Upper),
        (r"\p{Ll}", Lower),
        (r"\p{Lm}", Letter),
        (r"\p{Lo}", Letter),
        (r"\p{M}", Mark),
        (r"\p{N}", Number),
        (r"\s", Blank),
    ];
    let mut ranges = Vec::new();
    for (class, kind) in classes {
        let hir = regex_syntax::parse(class).expect("a class that the library knows");
        let HirKind::Class(Class::Unicode(class)) = hir.kind() else { unreachable!("a class of characters") };
        ranges.extend(class.ranges().iter().map(|r| (r.start(), r.end(), kind)));
    }
    ranges.sort_unstable_by_key(|r| r.0);
    ranges
});

const ASCII: [Kind; 128] = {
    let mut kinds = [Other; 128];
    let mut b = 0;
    while b < 128 {
        kinds[b] = match b as u8 {
            b'A'..=b'Z' => Upper,
            b'a'..=b'z' => Lower,
            b'0'..=b'9' => Number,
            b'\r' | b'\n' => Newline,
            b' ' | b'\t' | 0x0b | 0x0c => Blank,
            _ => Other,
        };
        b += 1;
    }
    kinds
};

fn kind_of(c: char) -> Kind {
    if let Some(kind) = ASCII.get(c as usize) {
        return *kind;
    }
    let after = RANGES.partition_point(|r| r.0 <= c);
    match after.checked_sub(1).map(|at| RANGES[at]) {
        Some((_, end, kind)) if c <= end => kind,
        _ => Other,
    }
}

/// A text with access to any place of it.
#[derive(Clone, Copy)]
struct Text<'t>(&'t str);

impl Text<'_> {
    /// The kind of the character at a place and its end; `None` at the end of the text.
    fn at(self, place: usize) -> Option<(Kind, usize)> {
        let byte = *self.0.as_bytes().get(place)?;
        if byte < 0x80 {
            return Some((ASCII[usize::from(byte)], place + 1));
        }
        let c = self.0[place..].chars().next()?;
        Some((kind_of(c), place + c.len_utf8()))
    }

    /// The end of the run of characters from `place` on for which `fits` is true.
    fn run(self, mut place: usize, fits: impl Fn(Kind) -> bool) -> usize {
        while let Some((kind, end)) = self.at(place)
            && fits(kind)
        {
            place = end;
        }
        place
    }

    fn run_of_bytes(self, place: usize, fits: impl Fn(u8) -> bool) -> usize {
        place + self.0.as_bytes()[place..].iter().take_while(|b| fits(**b)).count()
    }

    /// The end of one of `'s 't 'm 'd 're 've 'll` at a place, in any case; the place without one.
    fn contraction(self, place: usize) -> usize {
        let rest = &self.0.as_bytes()[place..];
        let lower = |i: usize| rest.get(i).map(u8::to_ascii_lowercase);
        if lower(0) != Some(b'\'') {
            return place;
        }
        match (lower(1), lower(2)) {
            (Some(b's' | b't' | b'm' | b'd'), _) => place + 2,
            (Some(b'r' | b'v'), Some(b'e')) | (Some(b'l'), Some(b'l')) => place + 3,
            // The long s (U+017F) is a case variant of s.
            _ if self.0[place + 1..].starts_with('\u{17f}') => place + 3,
            _ => place,
        }
    }

    /// The end of the number at a place: three digits at most.
    fn number(self, place: usize) -> usize {
        let mut end = place;
        for _ in 0..3 {
            match self.at(end) {
                Some((Number, next)) => end = next,
                _ => break,
            }
        }
        end
    }

    /// The end of the piece of spaces at a place: up to the last line end among them, otherwise all but the
    /// last one, which belongs to the text after them.
    fn spaces(self, place: usize) -> usize {
        let (mut end, mut last, mut after_newline) = (place, place, None);
        while let Some((kind, next)) = self.at(end)
            && kind.is_space()
        {
            last = end;
            end = next;
            if kind == Newline {
                after_newline = Some(next);
            }
        }
        match after_newline {
            Some(after) => after,
            None if end == self.0.len() || last == place => end,
            None => last,
        }
    }

    /// The end of the word of the newer pattern that begins at a place, without an optional sign before it:
    /// capitals, then small letters; `None` when no word begins there.
    fn word(self, place: usize, needs_small: bool) -> Option<usize> {
        let is_capital = |k: Kind| matches!(k, Upper | Letter | Mark);
        let is_small = |k: Kind| matches!(k, Lower | Letter | Mark);
        let capitals = self.run(place, is_capital);
        let end = self.run(capitals, is_small);
        if end > capitals {
            return Some(end);
        }
        if !needs_small {
            return (capitals > place).then_some(capitals);
        }
        // The end of the last capital that counts as small as well.
        let mut found = None;
        let mut at = place;
        while at < capitals {
            let (kind, next) = self.at(at)?;
            if is_small(kind) {
                found = Some(next);
            }
            at = next;
        }
        found
    }
}

/// Splits for `o200k_base`.
pub fn o200k(text: &str, each: &mut dyn FnMut(&[u8])) {
    let t = Text(text);
    let mut place = 0;
    while let Some((kind, after)) = t.at(place) {
        let may_lead = !kind.is_letter() && !matches!(kind, Number | Newline);
        let word = |needs_small: bool| {
            let led = if may_lead { t.word(after, needs_small) } else { None };
            led.or_else(|| t.word(place, needs_small))
        };
        let end = if let Some(end) = word(true).or_else(|| word(false)) {
            t.contraction(end)
        } else if kind == Number {
            t.number(place)
        } else if let Some(end) = signs(t, place, kind, after) {
            t.run_of_bytes(end, |b| matches!(b, b'\r' | b'\n' | b'/'))
        } else {
            t.spaces(place)
        };
        each(&text.as_bytes()[place..end]);
        place = end;
    }
}

/// Splits for `cl100k_base`.
pub fn cl100k(text: &str, each: &mut dyn FnMut(&[u8])) {
    let t = Text(text);
    let mut place = 0;
    while let Some((kind, after)) = t.at(place) {
        let contraction = t.contraction(place);
        let word = |from: usize| Some(t.run(from, Kind::is_letter)).filter(|end| *end > from);
        let lead = if matches!(kind, Number | Newline) || kind.is_letter() { place } else { after };
        let end = if contraction > place {
            contraction
        } else if let Some(end) = word(lead) {
            end
        } else if kind == Number {
            t.number(place)
        } else if let Some(end) = signs(t, place, kind, after) {
            t.run_of_bytes(end, |b| matches!(b, b'\r' | b'\n'))
        } else {
            let end = t.run(place, Kind::is_space);
            if end == text.len() { end } else { t.spaces(place) }
        };
        each(&text.as_bytes()[place..end]);
        place = end;
    }
}

/// Returns true if both patterns end a piece at a place, whatever the text around it: it is the start of a
/// line that is not blank. Spaces that hold a line end are a piece up to the last one, and signs take the
/// line ends after them into theirs, with slashes in the newer pattern.
pub fn is_boundary(text: &str, at: usize) -> bool {
    let bytes = text.as_bytes();
    if at == 0 || bytes.get(at - 1) != Some(&b'\n') {
        return false;
    }
    let t = Text(text);
    let first = t.run(at, |k| k == Blank);
    let is_blank = t.at(first).is_none_or(|(kind, _)| kind == Newline);
    let may_go_on = bytes.get(at) == Some(&b'/') && !(at > 1 && bytes[at - 2].is_ascii_alphanumeric());
    !is_blank && !may_go_on
}

/// The end of the run of signs at a place, with an optional space before it; `None` without a sign.
fn signs(t: Text, place: usize, kind: Kind, after: usize) -> Option<usize> {
    let from = if t.0.as_bytes()[place] == b' ' { after } else { place };
    if from == place && !kind.is_sign() {
        return None;
    }
    Some(t.run(from, Kind::is_sign)).filter(|end| *end > from)
}
