//! The scan: keywords in one pass, then the rules of each line that holds one.

use crate::rules::{Check, PRIVATE_KEY, PRIVATE_KEY_BEGIN, PRIVATE_KEY_BYTES_MAX, PRIVATE_KEY_END, RULES};
use crate::{ALLOW_MARK, Redaction};
use aho_corasick::{AhoCorasick, MatchKind};
use indexd_model::Span;
use indexd_model::lists::holds;
use regex::bytes::{Regex, RegexBuilder};
use std::cell::RefCell;
use std::sync::LazyLock;

/// Longest line in bytes that is scanned as a whole; of a longer line, only the text around each keyword is.
const LINE_BYTES_MAX: usize = 20_000;
/// Bytes scanned before a keyword in a longer line: a name and a type.
const BEHIND: usize = 200;
/// Bytes scanned after it: more than the longest secret whose end a rule recognises.
const AHEAD: usize = 2_400;
/// Bytes of the longest mark that begins a private key.
const PRIVATE_KEY_MARK_BYTES_MAX: usize = 100;
/// Bits per byte below which a value is not a random string (gitleaks uses the same figure).
const ENTROPY_MIN: f64 = 3.5;
/// Digits of the run that makes a value look random.
const RUN_DIGITS_MIN: usize = 2;
/// Bytes of the largest compiled expression.
const REGEX_BYTES_MAX: usize = 1 << 20;

struct Scanner {
    keywords: AhoCorasick,
    /// The rule of each keyword; `RULES.len()` for private keys.
    rule_of: Vec<usize>,
    patterns: Patterns,
}

/// A clone shares the compiled expressions and has its own memory for searching.
#[derive(Clone)]
struct Patterns {
    rules: Vec<Regex>,
    private_key: Regex,
}

thread_local! {
    // A search keeps its caches in small blocks. The threads of a build free them when they end; among
    // everything else that a build frees, each block would keep a page from being returned to the system.
    static PATTERNS: RefCell<Option<Patterns>> = const { RefCell::new(None) };
}

static SCANNER: LazyLock<Scanner> = LazyLock::new(|| {
    let mut keywords = vec!["-----begin "];
    let mut rule_of = vec![RULES.len()];
    for (i, rule) in RULES.iter().enumerate() {
        keywords.extend(rule.keywords);
        rule_of.extend(rule.keywords.iter().map(|_| i));
    }
    let compile = |pattern: &str| {
        RegexBuilder::new(pattern)
            .unicode(false)
            .size_limit(REGEX_BYTES_MAX)
            .build()
            .expect("rules are constants under test")
    };
    Scanner {
        keywords: AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::Standard)
            .build(keywords)
            .expect("keywords are constants under test"),
        rule_of,
        patterns: Patterns {
            rules: RULES.iter().map(|r| compile(r.pattern)).collect(),
            private_key: compile(PRIVATE_KEY_BEGIN),
        },
    }
});

/// Finds the secrets in `text`, in order, not overlapping.
pub fn find(text: &str) -> Vec<Redaction> {
    PATTERNS.with_borrow_mut(|slot| {
        let patterns = slot.get_or_insert_with(|| SCANNER.patterns.clone());
        find_with(&SCANNER, patterns, text)
    })
}

/// Frees the caches of searches on this thread, some megabytes; the next search builds them again.
pub fn forget_scratch() {
    PATTERNS.take();
}

fn find_with(scanner: &Scanner, patterns: &Patterns, text: &str) -> Vec<Redaction> {
    let mut found = Vec::new();
    // End of the text that each rule has scanned.
    let mut done = [0usize; RULES.len() + 1];
    for hit in scanner.keywords.find_overlapping_iter(text) {
        let rule = scanner.rule_of[hit.pattern().as_usize()];
        if hit.start() < done[rule] {
            continue;
        }
        if rule == RULES.len() {
            done[rule] = hit.end();
            if let Some(span) = private_key(patterns, text, hit.start()) {
                done[rule] = span.end as usize;
                found.push(Redaction { rule: PRIVATE_KEY, span });
            }
            continue;
        }
        let (range, scanned) = match short_line_around(text, hit.start()) {
            Some((start, end)) => {
                (start..end_of_value(RULES[rule].name, text, start, end), end.max(hit.end()))
            }
            None => (window_around(text, hit.start(), hit.end()), hit.end() + AHEAD / 2),
        };
        done[rule] = scanned;
        let line = &text[range.clone()];
        // Keywords of secrets are in many lines, and few of these hold a digit.
        let may_hold_one = has_digits(line, n_digits_min(RULES[rule].check));
        if may_hold_one && !line.contains(ALLOW_MARK) {
            in_line(rule, &patterns.rules[rule], line, range.start, &mut found);
        }
    }
    // A private key covers other secrets found in it; otherwise the first rule in the table wins.
    let precedence = |r: &Redaction| RULES.iter().position(|rule| rule.name == r.rule);
    found
        .sort_by_key(|r| (r.span.start, r.rule != PRIVATE_KEY, std::cmp::Reverse(r.span.end), precedence(r)));
    let mut end = 0;
    found.retain(|r| {
        let is_apart = r.span.start >= end;
        end = if is_apart { r.span.end } else { end };
        is_apart
    });
    found
}

/// The end of the text that a rule scans: of the line from `start` to `end`, or of the lines after it where
/// this one ends with an open assignment or names the value of the next.
fn end_of_value(rule: &str, text: &str, start: usize, end: usize) -> usize {
    let line = text[start..end].trim_end();
    let names_next = || {
        let next = text[end..].trim_start().trim_start_matches(['"', '\'']);
        next.get(..VALUE.len()).is_some_and(|word| word.eq_ignore_ascii_case(VALUE))
    };
    let is_open = match rule {
        "generic" | "generic-pair" => line.ends_with(['(', '=', ':', '[', '{', '\\']) || names_next(),
        "generic-block" => line.trim_end_matches(|c: char| "+-0123456789".contains(c)).ends_with(['|', '>']),
        "generic-plist" => line.ends_with("</key>"),
        "generic-default" if line.ends_with('{') => {
            let rest = &text.as_bytes()[end..(end + BLOCK_BYTES_MAX).min(text.len())];
            let close = rest.iter().position(|b| *b == b'}').unwrap_or(0);
            return end + close;
        }
        _ => false,
    };
    if !is_open {
        return end;
    }
    let next = end + (text[end..].len() - text[end..].trim_start_matches(['\r', '\n']).len());
    short_line_around(text, next).map_or(end, |line| line.1.max(end))
}

/// Bytes of a block of settings in which a default is searched for.
const BLOCK_BYTES_MAX: usize = 800;

/// Prefix of the line after a name that holds its value.
const VALUE: &str = "value";

/// The line around `at`, unless it is longer than [`LINE_BYTES_MAX`].
fn short_line_around(text: &str, at: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let is_end = |b: &u8| matches!(b, b'\n' | b'\r');
    let (from, to) = (at.saturating_sub(LINE_BYTES_MAX), (at + LINE_BYTES_MAX).min(bytes.len()));
    let start = bytes[from..at].iter().rposition(is_end).map(|i| from + i + 1).or((from == 0).then_some(0))?;
    let end = bytes[at..to].iter().position(is_end).map(|i| at + i).or((to == bytes.len()).then_some(to))?;
    (end - start <= LINE_BYTES_MAX).then_some((start, end))
}

/// The part of a longer line that is scanned: text around a keyword, whole characters, on one line.
fn window_around(text: &str, start: usize, end: usize) -> std::ops::Range<usize> {
    let is_end = |b: &u8| matches!(b, b'\n' | b'\r');
    let bytes = text.as_bytes();
    let from = start.saturating_sub(BEHIND);
    let from = bytes[from..start].iter().rposition(is_end).map_or(from, |i| from + i + 1);
    let to = (end + AHEAD).min(bytes.len());
    let to = bytes[end..to].iter().position(is_end).map_or(to, |i| end + i);
    let whole = |at: &usize| text.is_char_boundary(*at);
    (from..=start).find(whole).unwrap_or(start)..(end..=to).rev().find(whole).unwrap_or(end)
}

fn in_line(rule: usize, pattern: &Regex, line: &str, start: usize, found: &mut Vec<Redaction>) {
    for captures in pattern.captures_iter(line.as_bytes()) {
        let Some(value) = captures.name("s").or_else(|| captures.get(0)) else { continue };
        // A boundary that the pattern consumed is not a part of the secret.
        let (Some(secret), Some(before)) = (line.get(value.range()), line.get(..value.start())) else {
            continue;
        };
        // Punctuation of prose and quotes after a token are not part of it.
        let secret =
            secret.trim_end_matches(|c: char| c.is_ascii_whitespace() || "\"'`,;)]}\\<>".contains(c));
        if passes(RULES[rule].check, secret, before) {
            let at = start + value.start();
            let span = Span::new(at as u32, (at + secret.len()) as u32);
            found.push(Redaction { rule: RULES[rule].name, span });
        }
    }
}

fn passes(check: Check, secret: &str, before: &str) -> bool {
    if is_placeholder(secret) {
        return false;
    }
    match check {
        Check::Real => true,
        Check::Mixed => has_mix(secret),
        Check::Password => !is_common_password(secret),
        Check::Random => looks_random(secret) && !names_something_public(before),
        Check::Chosen => {
            !is_code(secret) && (looks_random(secret) || looks_made_up(secret) || looks_chosen(secret))
        }
        Check::Assigned => !names_something_public(before) && !is_code(secret) && is_assigned(secret, before),
    }
}

/// Returns true if a value looks like a secret of the kind that its name indicates.
fn is_assigned(secret: &str, before: &str) -> bool {
    let name = name_before(before);
    let fits = looks_random(secret)
        || (names_password(&name) && looks_made_up(secret))
        || (is_password(&name) && looks_chosen(secret))
        || (!name.contains("hash") && names_token(&name) && is_long_hex(secret));
    fits && !names_id(&name)
}

/// The name that a value is assigned to, in lower case: the text before it with its separators.
fn name_before(before: &str) -> String {
    let start = before.char_indices().rev().nth(NAME_CHARS).map_or(0, |(i, _)| i);
    before[start..].to_ascii_lowercase()
}

/// Characters before a value in which its name is searched for.
const NAME_CHARS: usize = 60;

/// Returns true if a name says that its value is an identifier of something else.
fn names_id(name: &str) -> bool {
    let name = name.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
    name.ends_with("_id") || name.ends_with("-id")
}

/// Returns true if a name says that a person chose the value, so that it is short and need not look random.
fn names_password(name: &str) -> bool {
    ["passw", "passphrase", "psk", "pwd", "secret"].iter().any(|word| name.contains(word))
        || is_password(name)
}

/// Returns true if the name of a value ends with a word for a password. Such a value is chosen by a person
/// and hardly ever the name of something.
fn is_password(name: &str) -> bool {
    const OTHERS: [&str; 5] = ["bypass", "compass", "encompass", "surpass", "trespass"];
    let is_one = |name: &str| {
        let is_short = name.ends_with("pass") && !OTHERS.iter().any(|word| name.ends_with(word));
        is_short || ["password", "passwd", "passphrase", "psk", "pwd"].iter().any(|word| name.ends_with(word))
    };
    // Words of types, calls and attributes may be between a name and its value: `password: str = "..."`,
    // `let password = String::from("...")`. The last word of a longer name (`password_field`) says what the
    // value means.
    const BETWEEN: &str = "b br char const default f from l new plain r some std str string type u8 value";
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let words = name.rsplit(|c| !is_word(c)).filter(|w| w.bytes().any(|b| b.is_ascii_alphanumeric()));
    let is_between = |w: &&str| holds(BETWEEN, w) || w.bytes().all(|b| b.is_ascii_digit());
    words.take(WORDS_BETWEEN).find(|w| !is_between(w)).is_some_and(|w| is_one(w.trim_matches(['_', '-'])))
}

/// Words before a value among which its name is searched for.
const WORDS_BETWEEN: usize = 6;

/// Returns true if a value looks like a password of ordinary length: letters and digits without a separator
/// of names, and not merely a placeholder word or the name of a field, followed by a number.
fn looks_chosen(secret: &str) -> bool {
    const WORDS: &str = "abc admin bar demo field foo hash input key label mypass mypassword name newpass \
        pass passw password passwd pwd secret test token user value";
    let lower = secret.to_ascii_lowercase();
    let word = lower.trim_end_matches(|c: char| !c.is_ascii_alphabetic());
    has_mix(secret)
        && !secret.contains(['_', '-', '.', '/', ':', '='])
        && !counts_up(secret)
        && word.len() >= 2
        && !holds(WORDS, word)
}

/// Returns true if a name says that an issuer made the value; a value named only `key` may be one of a map.
fn names_token(name: &str) -> bool {
    names_password(name)
        || ["token", "api_key", "apikey", "api-key", "auth", "access", "private"]
            .iter()
            .any(|w| name.contains(w))
}

/// Returns true if a value is 128 bits or more in hexadecimal, whose digits hold less entropy than other
/// text.
fn is_long_hex(secret: &str) -> bool {
    const DIGITS_MIN: usize = 32;
    const ENTROPY_MIN: f64 = 3.0;
    secret.len() >= DIGITS_MIN
        && secret.bytes().all(|b| b.is_ascii_hexdigit())
        && has_mix(secret)
        && entropy(secret) >= ENTROPY_MIN
        && !counts_up(secret)
}

/// Returns true if a value is an expression of a program: a call, a path of names, a variable.
fn is_code(secret: &str) -> bool {
    let is_name = |part: &str| {
        part.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_')
            && part.bytes().any(|b| b.is_ascii_lowercase())
    };
    secret.contains("::")
        || secret.contains("->")
        || secret.starts_with(['$', '%', '@', '/', '.', '*', '#'])
        || secret.contains("://")
        || (secret.contains('.') && secret.split('.').all(is_name))
        || (secret.matches('.').count() >= 2 && secret.rsplit('.').skip(1).all(is_name))
        || NAMES_OF_OTHERS.iter().any(|name| secret.contains(name))
}

/// Parts of names that occur where a value is a variable (`key: testPrivateKey`). Random text hardly ever
/// contains them.
const NAMES_OF_OTHERS: [&str; 2] = ["PrivateKey", "PublicKey"];

/// Returns true if a value looks like a well made password: digits, lower-case letters, and capitals or
/// signs that names do not have, and no placeholder.
fn looks_made_up(secret: &str) -> bool {
    const SIGNS: &[u8] = b"!@#%^&*+~?";
    let has = |is: fn(&u8) -> bool| secret.as_bytes().iter().any(is);
    let lower = secret.to_ascii_lowercase();
    const WORDS: &str = "test pass admin secret token user foo bar hello world name value key none";
    has(u8::is_ascii_digit)
        && has(u8::is_ascii_lowercase)
        && (has(u8::is_ascii_uppercase) || has(|b| SIGNS.contains(b)))
        && !counts_up(secret)
        && !WORDS.split_ascii_whitespace().any(|w| lower.contains(w))
}

/// The smallest number of digits of a value that passes.
fn n_digits_min(check: Check) -> usize {
    match check {
        Check::Real | Check::Password => 0,
        Check::Mixed => 1,
        Check::Random => RUN_DIGITS_MIN,
        Check::Chosen | Check::Assigned => 1,
    }
}

fn has_digits(line: &str, n: usize) -> bool {
    n == 0 || line.bytes().filter(u8::is_ascii_digit).nth(n - 1).is_some()
}

fn has_mix(secret: &str) -> bool {
    secret.bytes().any(|b| b.is_ascii_digit()) && secret.bytes().any(|b| b.is_ascii_alphabetic())
}

/// Values that documentation shows in place of a secret.
fn is_placeholder(secret: &str) -> bool {
    let lower = secret.to_ascii_lowercase();
    const WORDS: &str = "example xxxx **** .... placeholder changeme change-me change_me your- your_ \
        redacted dummy insert < ${";
    let mut bytes = secret.as_bytes().to_vec();
    bytes.sort_unstable();
    bytes.dedup();
    WORDS.split_ascii_whitespace().any(|w| lower.contains(w)) || bytes.len() <= 3
}

/// Placeholders for a password in addresses of documentation and tests.
fn is_common_password(secret: &str) -> bool {
    let lower = secret.to_ascii_lowercase();
    const WORDS: &str = "pass passwd password pwd pw secret user username test root admin foo bar token \
        postgres guest hunter2 port";
    let word = lower.trim_end_matches(|c: char| c.is_ascii_digit());
    let says_pass = lower.contains("pass") && (lower.contains("password") || !has_mix(word));
    holds(WORDS, word)
        || lower.starts_with(['$', '{', '%', '*', '[', '('])
        || lower.contains(['{', '(', '|', ','])
        || says_pass
}

/// Returns true if a value is a string that is unlikely to be a name: enough bits per byte, and a long run
/// without a separator that mixes letters and digits.
fn looks_random(secret: &str) -> bool {
    const RUN_BYTES_MIN: usize = 10;
    let run_is_random = |run: &str| {
        let n_digits = run.bytes().filter(u8::is_ascii_digit).count();
        let n_changes =
            run.as_bytes().windows(2).filter(|w| w[0].is_ascii_digit() != w[1].is_ascii_digit()).count();
        run.len() >= RUN_BYTES_MIN && n_digits >= RUN_DIGITS_MIN && n_changes >= 2 && has_mix(run)
    };
    entropy(secret) >= ENTROPY_MIN
        && secret.split(['.', '-', '_', '/', '=', ':']).any(run_is_random)
        && !counts_up(secret)
}

/// Returns true if the value holds a run of digits or letters in order: test vectors and alphabets.
fn counts_up(secret: &str) -> bool {
    let lower = secret.to_ascii_lowercase();
    ["0123456", "123456", "abcdef", "00010203", "deadbeef"].iter().any(|run| lower.contains(run))
}

/// Returns true if the name that a value is assigned to says that it is public.
fn names_something_public(before: &str) -> bool {
    let name = name_before(before);
    const WORDS: &str = "public pubkey pub_key checksum sha1 sha256 sha512 fingerprint keyid key_id";
    WORDS.split_ascii_whitespace().any(|w| name.contains(w))
}

/// Shannon entropy in bits per byte, the same on every machine.
fn entropy(text: &str) -> f64 {
    let mut counts = [0u32; 256];
    text.bytes().for_each(|b| counts[b as usize] += 1);
    let n = text.len().max(1) as f64;
    counts
        .iter()
        .filter(|c| **c > 0)
        .map(|c| {
            let p = f64::from(*c) / n;
            -p * libm::log2(p)
        })
        .sum()
}

/// The body of the private key that begins at `at`: up to its end mark, or without one the lines of base64
/// that follow. `None` for a mark alone, as in programs that read keys.
fn private_key(patterns: &Patterns, text: &str, at: usize) -> Option<Span> {
    let mark = &text.as_bytes()[at..(at + PRIVATE_KEY_MARK_BYTES_MAX).min(text.len())];
    let begin = patterns.private_key.find(mark).filter(|m| m.start() == 0)?;
    let start = at + begin.end();
    let mut limit = (start + PRIVATE_KEY_BYTES_MAX).min(text.len());
    while !text.is_char_boundary(limit) {
        limit -= 1;
    }
    let rest = &text[start..limit];
    let body = &rest[..rest.find(PRIVATE_KEY_END).unwrap_or_else(|| unended(rest))];
    // The line end after the begin and before the end stay.
    let lead = body.len() - body.trim_start().len();
    let body = body.trim();
    let is_base64 = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
    let has_base64 = body.as_bytes().split(|b| !is_base64(b)).any(|run| run.len() >= 20);
    has_base64.then(|| Span::new((start + lead) as u32, (start + lead + body.len()) as u32))
}

/// Bytes of the lines that look like base64 or armour headers.
fn unended(text: &str) -> usize {
    let is_armour = |line: &str| {
        let line = line.trim();
        line.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=: ,-\\\"'`".contains(&b))
    };
    text.split_inclusive('\n').take_while(|line| is_armour(line)).map(str::len).sum()
}
