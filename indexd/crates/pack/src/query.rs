//! Parses the text of a request: separates prose, code, traces and diffs; weighs words; and finds the paths,
//! symbols, phrases and error messages that it names.
//!
//! This module does not look at an index. It expects long issue texts: the title weighs most, then the first
//! paragraph. Names in code, traces and diffs weigh less, since only some of them matter. Headings of issue
//! forms, which every issue repeats, and descriptions of the environment are left out or weigh little.

mod concepts;
mod expect;
mod forms;
mod mentions;
mod stopwords;

pub use expect::Expected;
pub use stopwords::VERSION as STOPWORDS_VERSION;

pub use crate::kind::Kind;
use crate::tuning::Weights;
use indexd_text::bm25::ln;
use indexd_text::{word_terms, words};
use rustc_hash::{FxHashMap, FxHashSet};
use stopwords::{is_stopword, says_nothing};

/// Maximum terms of a query, the heaviest; more would only take time.
const TERMS_MAX: usize = 96;
/// Maximum words whose other forms are added, the heaviest.
const FORMED_MAX: usize = 24;
/// Maximum mentions of each kind.
const MENTIONS_MAX: usize = 24;

/// The kind of a text whose lines have these zones.
fn kind_of(text: &str, lines: &[(Zone, &str)]) -> Kind {
    let has = |zone| lines.iter().any(|l| l.0 == zone);
    if has(Zone::Trace) {
        return Kind::Trace;
    }
    if has(Zone::Diff) {
        return Kind::Diff;
    }
    let (text, is_paragraph) = (text.trim(), is_paragraph(text));
    let n_words = text.split_whitespace().count();
    let first = text.split_whitespace().take(2).map(str::to_lowercase);
    let asks = text.ends_with('?') || first.clone().any(|w| is_asking(&w)) && n_words > 2;
    if is_paragraph && asks {
        return Kind::Question;
    }
    let is_name =
        |w: &str| !w.is_empty() && w.chars().all(|c| c.is_alphanumeric() || "._:/#*()-".contains(c));
    if is_paragraph && (1..=2).contains(&n_words) && text.split_whitespace().all(is_name) {
        Kind::Name
    } else {
        Kind::Change
    }
}

/// True for a text of one line with at most as many words as a question.
fn is_paragraph(text: &str) -> bool {
    let text = text.trim();
    !text.contains('\n') && text.split_whitespace().count() <= QUESTION_WORDS_MAX
}

/// Maximum words of a question.
const QUESTION_WORDS_MAX: usize = 40;

/// True if a text that begins with this word is a question.
fn is_asking(word: &str) -> bool {
    indexd_model::lists::holds("how what when where which who whose why does do is are can", word)
}

/// A parsed query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// The kind of the text.
    pub kind: Kind,
    /// Terms with weights, in order of first appearance, without repeats.
    pub terms: Vec<QueryTerm>,
    /// Identifiers that look like names in code, in order of appearance.
    pub symbols: Vec<SymbolMention>,
    /// Possible names of definitions: the surest form first, then in order of appearance, without repeats.
    pub names: Vec<NameMention>,
    /// Plain words of title and first paragraph, in lower case, as possible names of files or folders.
    pub words: Vec<String>,
    /// Pairs of neighbouring words, in lower case, as possible neighbouring components of a path.
    pub pairs: Vec<(String, String)>,
    /// Paths and module names as written.
    pub paths: Vec<PathMention>,
    /// Phrases and error messages to find literally.
    pub literals: Vec<String>,
    /// Whole lines, and their parts after a colon, as possible messages of the code.
    pub lines: Vec<String>,
    /// True if the caller says what it expects.
    pub has_expectations: bool,
    /// Names and words that the caller expects, in order of appearance, without repeats.
    pub expected: Vec<Expected>,
    /// True for one short paragraph without a trace or a diff.
    pub is_short: bool,
    /// True if the text asks about tests.
    pub names_tests: bool,
    /// True if the text asks about documentation.
    pub names_docs: bool,
}

/// A term with its weight.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueryTerm {
    /// The term as in the index.
    pub term: String,
    /// Weight by its places in the text: above 0; about 1 for one mention in the first paragraph.
    pub weight: f64,
    /// The first word of the text that contains it, as written; `None` for another form of a word and for two
    /// joined words.
    pub word: Option<String>,
    /// If it is a form of another term, the index of that term.
    pub form_of: Option<usize>,
}

/// An identifier as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolMention {
    /// The identifier.
    pub name: String,
    /// True if prose names it; false if only code, a trace or a diff does.
    pub in_prose: bool,
}

/// A name as written in prose: `Type.method`, `pkg.Func`, an identifier, or a plain word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameMention {
    /// The name, with dots between its parts.
    pub text: String,
    /// The way in which it is written.
    pub form: NameForm,
}

/// The way in which a name is written, the surest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NameForm {
    /// Marked as code, dotted, or shaped like an identifier.
    Identifier,
    /// Two neighbouring words, possibly a type and its method.
    Pair,
    /// A plain word, which is seldom a name.
    Word,
}

/// A path or dotted module as written, with the details from a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathMention {
    /// With `/` between components, also for dotted modules, and without a leading `./`.
    pub path: String,
    /// True if it was written with dots, so that its last parts may be names of symbols.
    pub is_dotted: bool,
    /// 1-based line, from `file.py:12` or a stack frame.
    pub line: Option<u32>,
    /// The function a stack frame names.
    pub function: Option<String>,
}

/// The kind of a line of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Zone {
    Title,
    Lead,
    Prose,
    Code,
    Trace,
    Diff,
    /// A heading below the title, and the text below a heading that asks for versions or the like.
    Aside,
}

impl Zone {
    /// The weight of one mention. Code and traces contain many names that do not matter.
    fn weight(self, title: f64) -> f64 {
        match self {
            Self::Title => title,
            Self::Lead => 1.0,
            Self::Prose => 0.7,
            Self::Code => 0.4,
            Self::Diff => 0.5,
            Self::Trace | Self::Aside => 0.3,
        }
    }
}

impl Query {
    /// Parses `text`. Uses the weights `title` (a mention in the first line, relative to 1 in the first
    /// paragraph) and `joined`. An empty text gives an empty query.
    pub fn parse(text: &str, weights: &Weights) -> Self {
        let lines = zones(text);
        let kind = kind_of(text, &lines);
        let is_short = is_paragraph(text) && !matches!(kind, Kind::Trace | Kind::Diff);
        let mut query = Self { kind, is_short, ..Self::default() };
        mentions::collect(&lines, &mut query);
        query.count_terms(&lines, weights);
        query.join_particles(&lines);
        if weights.joined > 0.0 {
            query.join_words(&lines, weights);
        }
        query
    }

    /// Parses `text` and `expect`, and adds other forms of their words.
    pub fn of(text: &str, expect: &[String], w: &Weights) -> Self {
        let mut query = Self::parse(text, w);
        query.expect(expect, w);
        query.add_forms(w);
        query
    }

    /// Adds other forms of the heaviest plain words: derived words, abbreviations and synonyms, each with a
    /// part of the word's weight.
    fn add_forms(&mut self, w: &Weights) {
        let (derived, synonyms) = (w.derived, w.synonyms);
        let is_plain = |t: &QueryTerm| t.term.bytes().all(|b| b.is_ascii_lowercase());
        let mut plain: Vec<(usize, QueryTerm)> =
            self.terms.iter().cloned().enumerate().filter(|(_, t)| is_plain(t)).collect();
        plain.sort_by(|a, b| b.1.weight.total_cmp(&a.1.weight));
        plain.truncate(FORMED_MAX);
        for (i, t) in plain {
            if derived > 0.0 {
                forms::derived(&t.term).into_iter().for_each(|f| self.add_form(f, derived * t.weight, i));
            }
            if self.kind == Kind::Question {
                self.add_words_of_programs(&t, i, w);
            }
            if synonyms > 0.0 {
                forms::synonyms(&t.term).for_each(|f| self.add_form(f.to_owned(), synonyms * t.weight, i));
            }
        }
    }

    /// Adds the verb of an irregular form, and the words that programs use instead of a plain word.
    fn add_words_of_programs(&mut self, t: &QueryTerm, of: usize, w: &Weights) {
        if let Some(verb) = concepts::verb_of(&t.term).filter(|_| w.derived > 0.0) {
            self.add_form(verb, w.derived * t.weight, of);
        }
        if w.synonyms > 0.0 {
            for same in concepts::same_as(&t.term) {
                self.add_form(same.clone(), w.synonyms * t.weight, of);
            }
        }
    }

    /// Returns the word of the text that gave a term, for output; terms are stems.
    pub fn as_written<'q>(&'q self, term: &'q str) -> &'q str {
        let known = self.terms.iter().find(|t| t.term == term);
        let source = known.and_then(|t| t.form_of).map(|w| &self.terms[w]).or(known);
        source.and_then(|t| t.word.as_deref()).unwrap_or(term.trim_start_matches('='))
    }

    fn add_form(&mut self, term: String, weight: f64, of: usize) {
        if !self.terms.iter().any(|x| x.term == term) {
            self.terms.push(QueryTerm { term, weight, form_of: Some(of), ..QueryTerm::default() });
        }
    }

    /// Adds `login` for "logged in" and `timeout` for "timed out": programs write a verb and its particle as
    /// one name.
    fn join_particles(&mut self, lines: &[(Zone, &str)]) {
        for &(_, line) in lines.iter().filter(|(z, _)| matches!(z, Zone::Title | Zone::Lead)) {
            let mut before: Option<String> = None;
            words(line, |_, word| {
                let lower = word.to_lowercase();
                let verb = before.take().filter(|_| forms::is_particle(&lower));
                let of = verb.as_ref().and_then(|v| self.terms.iter().position(|t| t.term == *v));
                if let (Some(verb), Some(i)) = (verb, of) {
                    let weight = self.terms[i].weight;
                    for name in [format!("{verb}{lower}"), format!("{verb}e{lower}")] {
                        word_terms(&name, |term| self.add_form(term.to_owned(), weight, i));
                    }
                }
                let mut stem = None;
                if lower.bytes().all(|b| b.is_ascii_lowercase()) && !is_stopword(&lower) {
                    word_terms(&lower, |term| stem = Some(term.to_owned()));
                }
                before = stem;
            });
        }
    }

    /// Adds `=manpage` for "man page": programs write two words of prose as one name.
    fn join_words(&mut self, lines: &[(Zone, &str)], weights: &Weights) {
        let mut known: FxHashSet<String> = self.terms.iter().map(|t| t.term.clone()).collect();
        for &(zone, line) in lines.iter().filter(|(z, _)| matches!(z, Zone::Title | Zone::Lead)) {
            let mut before: Option<String> = None;
            words(line, |_, word| {
                let lower = word.to_lowercase();
                let is_plain = lower.chars().all(char::is_alphabetic) && !is_stopword(&lower);
                if let Some(b) = before.take().filter(|_| is_plain) {
                    let term = format!("={b}{lower}");
                    let weight = weights.joined * zone.weight(1.0);
                    if term.len() <= 40 && known.insert(term.clone()) {
                        self.terms.push(QueryTerm { term, weight, ..QueryTerm::default() });
                    }
                }
                before = is_plain.then_some(lower);
            });
        }
    }

    fn count_terms(&mut self, lines: &[(Zone, &str)], weights: &Weights) {
        let mut at: FxHashMap<String, usize> = FxHashMap::default();
        let kind = self.kind;
        let all_stopwords = lines.iter().all(|(_, l)| {
            let mut only = true;
            words(l, |_, w| only &= says_nothing(&w.to_lowercase(), kind));
            only
        });
        for &(zone, line) in lines {
            let weight = zone.weight(weights.title);
            words(line, |at_byte, word| {
                let lower = word.to_lowercase();
                let is_part = is_part_of_number(line, at_byte, word);
                if !all_stopwords && (is_part || says_nothing(&lower, kind) || is_noise(&lower)) {
                    return;
                }
                word_terms(word, |term| {
                    if !all_stopwords && says_nothing(term, kind) {
                        return;
                    }
                    match at.get(term) {
                        Some(&i) => self.terms[i].weight += weight,
                        None => {
                            at.insert(term.to_owned(), self.terms.len());
                            let (term, word) = (term.to_owned(), Some(word.to_owned()));
                            self.terms.push(QueryTerm { term, weight, word, ..QueryTerm::default() });
                        }
                    }
                });
            });
        }
        // Repeated mentions add less and less: 1 + ln(sum), as for term frequencies.
        for t in self.terms.iter_mut().filter(|t| t.weight > 1.0) {
            t.weight = 1.0 + ln(t.weight);
        }
        if self.terms.len() > TERMS_MAX {
            let mut heaviest: Vec<usize> = (0..self.terms.len()).collect();
            heaviest.sort_by(|a, b| self.terms[*b].weight.total_cmp(&self.terms[*a].weight));
            let light: FxHashSet<usize> = heaviest.split_off(TERMS_MAX).into_iter().collect();
            let mut places = 0..;
            self.terms.retain(|_| places.next().is_some_and(|i| !light.contains(&i)));
        }
    }
}

/// True for addresses, hashes and numbers, which occur in reports and not in source.
fn is_noise(lower: &str) -> bool {
    let b = lower.as_bytes();
    let digits = b.iter().filter(|c| c.is_ascii_digit()).count();
    if digits == b.len() {
        return b.len() > 4 || b.len() < 2;
    }
    let is_hex = b.iter().all(u8::is_ascii_hexdigit);
    (b.starts_with(b"0x") && b.len() > 6)
        || (is_hex && b.len() >= 7 && digits >= 2)
        || (b.len() > 24 && digits >= 6)
}

/// True for a part of a version, an address, a date or a time: digits next to a mark next to a digit.
fn is_part_of_number(line: &str, at: usize, word: &str) -> bool {
    let b = line.as_bytes();
    let digit = |i: Option<usize>| i.and_then(|i| b.get(i)).is_some_and(u8::is_ascii_digit);
    let mark =
        |i: Option<usize>| i.and_then(|i| b.get(i)).is_some_and(|c| matches!(c, b'.' | b':' | b'-' | b'/'));
    let end = at + word.len();
    word.bytes().all(|c| c.is_ascii_digit())
        && ((mark(at.checked_sub(1)) && digit(at.checked_sub(2)))
            || (mark(Some(end)) && digit(Some(end + 1))))
}

/// Splits the text into lines with their kinds. Leaves out fence lines, and the comments and checkboxes of
/// issue forms.
fn zones(text: &str) -> Vec<(Zone, &str)> {
    // A comment counts only if it ends.
    let last_end = text.rfind("-->").unwrap_or(0);
    let mut reader = Reader::default();
    let at = |line: &str| line.as_ptr() as usize - text.as_ptr() as usize;
    text.lines().filter_map(|line| Some((reader.read(line, at(line) < last_end)?, line))).collect()
}

/// The state of the parser between two lines.
#[derive(Default)]
struct Reader {
    in_fence: bool,
    in_trace: bool,
    in_diff: bool,
    in_comment: bool,
    seen_title: bool,
    lead_over: bool,
    is_aside: bool,
    /// True if the last line that was kept belongs to the first paragraph.
    in_lead: bool,
}

impl Reader {
    /// Returns the kind of a line; `None` if it is left out.
    fn read(&mut self, line: &str, may_be_comment: bool) -> Option<Zone> {
        let trimmed = line.trim();
        if may_be_comment && !self.in_fence && (self.in_comment || trimmed.starts_with("<!--")) {
            self.in_comment = !trimmed.contains("-->");
            return None;
        }
        let is_heading = !self.in_fence && self.seen_title && is_heading(line);
        let is_fence = trimmed.starts_with("```") || trimmed.starts_with("~~~");
        // The first paragraph may follow headings and code.
        self.lead_over |= self.in_lead && (is_heading || is_fence || trimmed.is_empty());
        let zone = if is_heading {
            (self.in_trace, self.in_diff) = (false, false);
            self.is_aside = asks_for_setting(trimmed);
            Zone::Aside
        } else if is_fence {
            self.in_fence = !self.in_fence;
            (self.in_trace, self.in_diff) = (false, false);
            return None;
        } else if trimmed.is_empty() {
            self.in_trace &= self.in_fence;
            self.in_diff &= self.in_fence;
            return None;
        } else {
            self.matter(line, trimmed)?
        };
        self.in_lead = zone == Zone::Lead;
        Some(zone)
    }

    /// Returns the kind of a line that is not a heading, a fence or blank.
    fn matter(&mut self, line: &str, trimmed: &str) -> Option<Zone> {
        if !self.in_fence && self.seen_title && is_box(trimmed) {
            return None;
        }
        self.in_diff |= ["diff --git ", "@@ -", "+++ "].iter().any(|mark| trimmed.starts_with(mark));
        self.in_trace |= mentions::starts_trace(trimmed);
        Some(if self.in_trace || mentions::is_frame(trimmed) {
            Zone::Trace
        } else if self.is_aside {
            Zone::Aside
        } else if self.in_diff {
            Zone::Diff
        } else if self.in_fence || (self.seen_title && is_indented_code(line)) {
            Zone::Code
        } else if !self.seen_title {
            // A version, a rule or "Bug fixes:" above the subject is not a title.
            self.seen_title = says_something(trimmed);
            if self.seen_title { Zone::Title } else { Zone::Prose }
        } else if !self.lead_over {
            Zone::Lead
        } else {
            Zone::Prose
        })
    }
}

/// True for a heading of Markdown: one to six `#` and a blank.
fn is_heading(line: &str) -> bool {
    let text = line.trim_start_matches('#');
    (1..=6).contains(&(line.len() - text.len())) && text.starts_with(' ')
}

/// True if a heading asks for the environment, such as versions or the machine.
fn asks_for_setting(heading: &str) -> bool {
    let mut asks = false;
    words(heading, |_, word| {
        asks |= matches!(
            word.to_lowercase().as_str(),
            "version" | "versions" | "environment" | "os" | "operating" | "platform" | "dependencies"
        );
    });
    asks
}

/// True for a checkbox.
fn is_box(line: &str) -> bool {
    let text = line.trim_start_matches(['-', '*', '+']).trim_start();
    text.len() < line.len() && ["[ ] ", "[x] ", "[X] "].iter().any(|b| text.starts_with(b))
}

/// True if the line has a word that is neither a number nor a stop word.
fn says_something(line: &str) -> bool {
    let mut says = false;
    words(line, |_, word| {
        let has_digit = word.bytes().any(|b| b.is_ascii_digit());
        says |= word.len() > 1 && !has_digit && !is_stopword(&word.to_lowercase());
    });
    says
}

/// True for an indented block of Markdown that looks like code and not like a list.
fn is_indented_code(line: &str) -> bool {
    let indented = line.starts_with("    ") || line.starts_with('\t');
    let t = line.trim_start();
    indented && !t.starts_with(['-', '*', '+']) && t.contains(['(', '=', '{', ';', ':', '.'])
}

#[cfg(test)]
mod tests;
