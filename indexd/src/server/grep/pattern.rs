//! What is looked for: a matcher, and what a text must hold to be worth reading.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use indexd_model::grams::Need;
use indexd_proto::error::ErrorObject;
use indexd_proto::limits::{GREP_PATTERNS_MAX, QUERY_BYTES_MAX};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

/// Strings that stand for one expression before they are given up.
const STRINGS_MAX: usize = 32;
/// Bytes of compiled expressions.
const COMPILED_BYTES_MAX: usize = 32 << 20;

/// How patterns are read.
#[derive(Clone, Copy, Debug, Default)]
pub struct How {
    /// As texts and not as expressions.
    pub fixed: bool,
    /// Without regard to case.
    pub ignore_case: bool,
    /// As words of their own.
    pub word: bool,
}

/// What is looked for.
#[derive(Clone)]
pub struct Pattern {
    /// Finds matches; none crosses a line end.
    pub matcher: RegexMatcher,
    /// What a text with a match must hold.
    pub need: Need,
}

impl Pattern {
    /// Reads patterns.
    ///
    /// # Errors
    /// `POC_E_INVALID_REQUEST` for none, too many, and what is not an expression.
    pub fn new(patterns: &[String], how: How) -> Result<Self, ErrorObject> {
        let bytes: usize = patterns.iter().map(String::len).sum();
        if patterns.is_empty() || patterns.len() > GREP_PATTERNS_MAX || bytes > QUERY_BYTES_MAX {
            let said = format!("give 1 to {GREP_PATTERNS_MAX} patterns of {QUERY_BYTES_MAX} bytes together");
            return Err(ErrorObject::invalid(said));
        }
        let invalid = |e: String| {
            // The lines before show the place with signs below it.
            let why = e.rsplit("error: ").next().unwrap_or(&e).replace('\n', " ");
            ErrorObject::invalid(format!("the pattern is not a regular expression: {why}"))
                .with_hint("-F takes the pattern as it is; \\( stands for a bracket")
        };
        let matcher = RegexMatcherBuilder::new()
            .case_insensitive(how.ignore_case)
            .word(how.word)
            .fixed_strings(how.fixed)
            .multi_line(true)
            .line_terminator(Some(b'\n'))
            .size_limit(COMPILED_BYTES_MAX)
            .dfa_size_limit(COMPILED_BYTES_MAX)
            .build_many(patterns)
            .map_err(|e| invalid(e.to_string()))?;
        let needs: Result<Vec<Need>, ErrorObject> =
            patterns.iter().map(|p| need(p, how).map_err(|e| invalid(e.to_string()))).collect();
        Ok(Self { matcher, need: any(needs?) })
    }
}

fn need(pattern: &str, how: How) -> Result<Need, Box<regex_syntax::Error>> {
    let escaped;
    let pattern = if how.fixed {
        escaped = regex_syntax::escape(pattern);
        &escaped
    } else {
        pattern
    };
    let mut parser =
        ParserBuilder::new().case_insensitive(how.ignore_case).multi_line(true).utf8(false).build();
    Ok(held(&parser.parse(pattern).map_err(Box::new)?).whole(how.word))
}

/// What every text holds that an expression matches.
struct Held {
    /// All strings that it matches, without regard to case, unless they are too many. Then what is known
    /// of them is in `need`.
    exact: Option<Vec<String>>,
    need: Need,
}

impl Held {
    fn exactly(strings: Vec<String>) -> Self {
        Self { exact: Some(strings), need: Need::Nothing }
    }

    fn unknown() -> Self {
        Self { exact: None, need: Need::Nothing }
    }

    /// All that is known of it as a need.
    fn whole(self, word: bool) -> Need {
        match self.exact {
            Some(strings) => all(vec![self.need, of_strings(&strings, word)]),
            None => self.need,
        }
    }
}

fn held(hir: &Hir) -> Held {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Held::exactly(vec![String::new()]),
        HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
            Ok(text) => Held::exactly(vec![fold(text)]),
            Err(_) => Held::unknown(),
        },
        HirKind::Class(class) => of_class(class).map_or_else(Held::unknown, Held::exactly),
        HirKind::Repetition(repetition) => of_repetition(repetition),
        HirKind::Capture(capture) => held(&capture.sub),
        HirKind::Concat(parts) => of_concat(parts),
        HirKind::Alternation(parts) => of_alternation(parts.iter().map(held).collect()),
    }
}

/// Small letters in place of capitals, as [`indexd_model::grams`] has them.
fn fold(text: &str) -> String {
    text.replace('\u{17f}', "s").replace('\u{212a}', "k").to_ascii_lowercase()
}

/// The characters of a class that has few; both cases of a letter are one.
fn of_class(class: &Class) -> Option<Vec<String>> {
    let mut chars: Vec<char> = Vec::new();
    match class {
        Class::Unicode(class) => {
            for range in class.iter() {
                if range.len() > STRINGS_MAX {
                    return None;
                }
                chars.extend(range.start()..=range.end());
            }
        }
        Class::Bytes(class) => {
            for range in class.iter() {
                if range.end() >= 0x80 || range.len() > STRINGS_MAX {
                    return None;
                }
                chars.extend((range.start()..=range.end()).map(char::from));
            }
        }
    }
    // Nothing matches an empty class, and what is known of nothing is of no use.
    let mut strings: Vec<String> = chars.into_iter().map(|c| fold(c.encode_utf8(&mut [0; 4]))).collect();
    strings.sort_unstable();
    strings.dedup();
    (1..=STRINGS_MAX).contains(&strings.len()).then_some(strings)
}

fn of_repetition(repetition: &Repetition) -> Held {
    let sub = held(&repetition.sub);
    match (repetition.min, repetition.max) {
        (0, Some(1)) => of_alternation(vec![sub, Held::exactly(vec![String::new()])]),
        (0, _) => Held::unknown(),
        (1, Some(1)) => sub,
        _ => Held { exact: None, need: sub.whole(false) },
    }
}

fn of_concat(parts: &[Hir]) -> Held {
    let mut needs = Vec::new();
    let mut so_far = vec![String::new()];
    let mut is_exact = true;
    for part in parts.iter().map(held) {
        needs.push(part.need);
        match part.exact {
            Some(behind) if so_far.len() * behind.len() <= STRINGS_MAX => {
                so_far = so_far.iter().flat_map(|a| behind.iter().map(move |b| format!("{a}{b}"))).collect();
            }
            exact => {
                is_exact = false;
                needs.push(of_strings(&so_far, false));
                so_far = exact.unwrap_or_else(|| vec![String::new()]);
            }
        }
    }
    if is_exact {
        return Held { exact: Some(so_far), need: all(needs) };
    }
    needs.push(of_strings(&so_far, false));
    Held { exact: None, need: all(needs) }
}

fn of_alternation(parts: Vec<Held>) -> Held {
    let n: usize = parts.iter().map(|p| p.exact.as_ref().map_or(STRINGS_MAX + 1, Vec::len)).sum();
    if n <= STRINGS_MAX && parts.iter().all(|p| p.need == Need::Nothing) {
        return Held::exactly(parts.into_iter().filter_map(|p| p.exact).flatten().collect());
    }
    Held { exact: None, need: any(parts.into_iter().map(|part| part.whole(false)).collect()) }
}

/// One of these must be there; nothing is needed where one is too short to tell of.
fn of_strings(strings: &[String], word: bool) -> Need {
    any(strings.iter().map(|s| if word { Need::of_word(s) } else { Need::of_literal(s) }).collect())
}

fn any(mut needs: Vec<Need>) -> Need {
    match needs.len() {
        1 => needs.remove(0),
        _ if needs.is_empty() || needs.contains(&Need::Nothing) => Need::Nothing,
        _ => Need::Any(needs),
    }
}

fn all(mut needs: Vec<Need>) -> Need {
    needs.retain(|n| *n != Need::Nothing);
    match needs.len() {
        0 => Need::Nothing,
        1 => needs.remove(0),
        _ => Need::All(needs),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use grep_matcher::Matcher as _;
    use indexd_model::grams::signature;
    use indexd_proto::error::ErrorCode;
    use proptest::prelude::*;

    fn of(pattern: &str, how: How) -> Pattern {
        Pattern::new(&[pattern.to_owned()], how).unwrap()
    }

    /// Whether a long text about something else is passed over.
    fn narrows(pattern: &str, how: How) -> bool {
        let text = "fn retry_delay(n: u32) -> Duration { Duration::from_millis(100 << n) }\n".repeat(3);
        !of(pattern, how).need.is_met_by(&signature(&text))
    }

    #[test]
    fn expressions_narrow_by_their_literals() {
        let plain = How::default();
        for pattern in
            ["connect", "connect|handshake", "(re)?connect", "conn.*close", "[cC]onnect", "x+connect"]
        {
            assert!(narrows(pattern, plain), "{pattern}");
        }
        for pattern in ["delay", "r.t", "[a-z]+", "connect|delay", "(connect)?", "", "^fn", "(connect)*"] {
            assert!(!narrows(pattern, plain), "{pattern}");
        }
        assert!(narrows("sks", How { ignore_case: true, ..plain }));
        assert!(!narrows("DELAY", How { ignore_case: true, ..plain }));
        assert!(narrows("q", How { word: true, ..plain }) && !narrows("q", plain));
        assert!(!narrows("n", How { word: true, ..plain }));
        assert!(narrows("a.b(c", How { fixed: true, ..plain }));
    }

    #[test]
    fn what_is_no_expression_is_said_so() {
        for patterns in [&["("][..], &[], &["a\nb"]] {
            let patterns: Vec<String> = patterns.iter().map(|p| (*p).to_owned()).collect();
            let error = Pattern::new(&patterns, How::default()).err();
            assert_eq!(error.map(|e| e.data.code), Some(ErrorCode::InvalidRequest), "{patterns:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_with_a_match_is_passed_over(
            pattern in "[abkS]{1,4}([.|?+*]|[|]?[abks]{1,3}|[(]a|b[)]|\\[abk\\]){0,4}",
            text in "[abkKsSſ\u{212a}q \n]{0,40}",
            ignore_case: bool,
            word: bool,
        ) {
            let how = How { fixed: false, ignore_case, word };
            if let Ok(pattern) = Pattern::new(&[pattern], how)
                && pattern.matcher.is_match(text.as_bytes()).unwrap()
            {
                prop_assert!(pattern.need.is_met_by(&signature(&text)), "{:?}", pattern.need);
            }
        }
    }
}
