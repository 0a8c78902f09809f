//! Follow-ups, hints and warnings of a pack.

use super::nearest::{self, Near};
use crate::assemble::{Claimed, Selected, State};
use crate::pack::{Basis, Budgets, DropReason, LimitSource, Stats};
use crate::query::Kind;
use crate::request::{Layout, Stop};
use indexd_api::ErrorCode;
use indexd_model::{DefKind, limits};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Minimum weight of a missing word that is reported: that of one mention in prose. Code and traces from
/// other programs contain many words that the index need not have.
const HINT_WEIGHT_MIN: f64 = 0.7;
/// If less than this percent of the budget is used, the pack says that nothing more was found.
const POOL_PERCENT: u64 = 90;
/// Maximum words in one hint.
const WORDS_MAX: usize = 5;
/// Maximum suggested definitions; later ones are seldom relevant.
const SUGGESTIONS_MAX: usize = 3;
/// Minimum seed score of a suggested definition, in parts of the best. Lower ones mostly share a word with
/// the text by chance.
const SUGGESTED_SEED_MIN: f64 = 1.0 / 3.0;

/// Returns follow-ups, hints and warnings.
pub(super) fn of(a: &mut Selected, budgets: &Budgets, stats: &Stats) -> Guidance {
    let is_empty = stats.included == 0 && !a.shows_changes();
    let is_doubt = stats.found > 0 && is_doubt(a);
    let words = Words::of(a);
    let mut g = Guidance::default();
    g.tell_of_the_request(a, budgets);
    if is_empty {
        g.warnings.push(ErrorCode::NoContent.name().to_owned());
    }
    g.tell_of_words(a, &words);
    if stats.found == 0 {
        g.next.extend(words.known.iter().cloned());
    } else if is_doubt {
        g.hints.push(doubt(a));
    }
    g.hints.extend(unclaimed(a));
    g.hints.extend(a.needed.filter(|_| is_empty).map(|needed| {
        if needed.tokens > a.request.budgets.max_total_tokens {
            format!("the best match needs {} tokens", needed.tokens)
        } else {
            format!("the best match needs {} characters", needed.chars)
        }
    }));
    g.tell_of_bounds(a, stats);
    g.tell_of_room(a, stats);
    if g.next.is_empty() && (is_doubt || !words.missing.is_empty()) {
        g.next.extend(best_shown(a));
    }
    if a.uses_cut {
        g.hints.push("more uses were found than are looked at; name a file or a narrower symbol".to_owned());
    }
    // A follow-up is a request that can be sent as it is; advice is a hint.
    if is_empty && g.next.is_empty() {
        let is_blank = a.units.view.files().is_empty();
        let advice = "name a file, a symbol or an error message";
        g.hints.push(if is_blank { "the index holds no files" } else { advice }.to_owned());
    }
    g
}

/// The messages, in order.
#[derive(Default)]
pub(super) struct Guidance {
    pub next: Vec<String>,
    pub hints: Vec<String>,
    pub warnings: Vec<String>,
}

/// Said where a window is used up before anything is packed.
const NOTHING_LEFT: &str = "responseReserve and systemReserve leave no tokens of the window: lower them or raise \
    totalTokens (settings context.budget)";

impl Guidance {
    /// Reports parts of the request that could not be honoured.
    fn tell_of_the_request(&mut self, a: &Selected, budgets: &Budgets) {
        let negative = budgets.negative_reserves.iter();
        self.warnings.extend(negative.map(|name| format!("{name} is negative and counts as 0")));
        let limit = budgets.max_total_tokens;
        let is_set = !matches!(limit.source, LimitSource::Request | LimitSource::Client);
        if limit.value == 0 && (is_set || a.request.context_budget.is_some()) {
            self.warnings.push(NOTHING_LEFT.to_owned());
        }
        let clamped = budgets.clamped.iter();
        self.warnings
            .extend(clamped.map(|c| format!("{} of {} was clamped to {}", c.limit, c.asked, c.granted)));
        let packs = a.request.seen.iter().filter(|id| id.starts_with("pack:"));
        self.warnings
            .extend(packs.map(|id| format!("{id} is not known any more; what it held may be shown again")));
        let unreadable = a.gathered.unreadable.iter();
        self.hints.extend(unreadable.map(|(path, reason)| format!("{path} is not shown: {}", reason.name())));
        if let Some(changed) = &a.changed {
            self.hints.extend(changed.hint());
            self.warnings.extend(changed.change.notes.iter().cloned());
        }
    }

    /// Reports the words that the index lacks, and similarly spelled words of the index.
    fn tell_of_words(&mut self, a: &mut Selected, words: &Words) {
        if !words.missing.is_empty() {
            self.hints.push(format!("words that occur nowhere in the index: {}", words.missing.join(", ")));
        }
        let near = nearest::of(a, &words.absent);
        if !near.is_empty() {
            let said = near.iter().map(|n| format!("{} for {}", n.word, n.written));
            self.hints.push(format!("spelled alike in the index: {}", said.collect::<Vec<_>>().join(", ")));
            self.next.push(corrected(&a.request.query, &near));
        }
    }

    /// Reports the bounds on the work, or on an item, that ended the pack.
    fn tell_of_bounds(&mut self, a: &Selected, stats: &Stats) {
        let walk = a.gathered.report;
        if walk.bounded && walk.hops < a.request.expansion.max_hops {
            let asked = a.request.expansion.max_hops;
            self.hints.push(format!(
                "edges were followed for {} of {asked} hops, until {} definitions were reached",
                walk.hops, walk.records
            ));
        }
        let has_room = stats.budget_used_percent < POOL_PERCENT && a.request.budgets.stop == Stop::Budget;
        if !has_room {
            return;
        }
        // In a pack about a change alone, edges are followed from its parts and not from seeds.
        if (1..walk.seeds_found).contains(&walk.seeds) {
            self.hints.push(format!(
                "edges of the {} best of {} seeds were followed; the bounds on expansion end there",
                walk.seeds, walk.seeds_found
            ));
        }
        let is_cut = |c: &&Claimed| {
            c.state == State::Included && c.plan.as_ref().is_some_and(|p| p.reason == Some("maxBytesPerItem"))
        };
        let n_cut = a.claimed.iter().filter(is_cut).count();
        if n_cut > 0 {
            let raise = raise(a, "maxBytesPerItem");
            self.hints.push(format!("there is room for more of {n_cut} items; {raise}"));
        }
        let is_all = stats.dropped_by_reason.get("budget") == Some(&0) && stats.included > 0;
        // In a small tree everything may be shown. Here the bounds on candidates ended the pack.
        if is_all && (a.gathered.is_cut || walk.bounded) {
            let free = stats.token_budget - stats.token_count;
            self.hints.push(format!(
                "all candidates are shown and {free} tokens are free; ask for more with another text"
            ));
        }
    }

    /// Reports candidates that did not fit, with the limit that excluded them.
    fn tell_of_room(&mut self, a: &Selected, stats: &Stats) {
        let no_room = no_room(a);
        if no_room.is_empty() {
            return;
        }
        self.next.extend(suggested(a));
        let or_ask = if self.next.is_empty() { "" } else { " or ask for one of the suggested names" };
        self.hints.extend(no_room.iter().map(|(limit, n)| {
            let candidates = if *n == 1 { "candidate" } else { "candidates" };
            format!("{n} {candidates} had no room; {}{or_ask}", raise(a, limit))
        }));
        self.hints.extend(cut_sections(a, stats));
    }
}

/// Words of the text, at most [`WORDS_MAX`] of each kind.
struct Words {
    /// Words that occur nowhere.
    missing: Vec<String>,
    /// Missing words as terms of the index and as written; they may repeat.
    absent: Vec<(String, String)>,
    /// Words that occur.
    known: Vec<String>,
}

impl Words {
    /// Sorts the words of the text. Leaves out words of a long text that occur but were not scored, and names
    /// taken as a whole.
    fn of(a: &Selected) -> Self {
        let view = a.units.view;
        let is_absent = |term: &str| {
            let mut paths = Vec::new();
            view.path_postings(term, &mut paths);
            paths.is_empty() && view.doc_frequency(term) == 0
        };
        // The number of a line, as in `a.go:12`, is not a word.
        let is_line =
            |word: &str| a.query.paths.iter().any(|p| p.line.is_some_and(|n| n.to_string() == word));
        let said = a.query.terms.iter().filter(|t| t.weight >= HINT_WEIGHT_MIN && !t.term.starts_with('='));
        let said = said.filter_map(|t| Some((&t.term, t.word.as_deref()?))).filter(|t| !is_line(t.1));
        let (missing, known): (Vec<_>, Vec<_>) = said.partition(|t| is_absent(t.0));
        let first = |terms: &[(&String, &str)]| {
            let mut words: Vec<String> = terms.iter().map(|t| t.1.to_owned()).collect();
            words.dedup();
            words.truncate(WORDS_MAX);
            words
        };
        Self {
            absent: missing.iter().take(WORDS_MAX).map(|t| (t.0.clone(), t.1.to_owned())).collect(),
            missing: first(&missing),
            known: first(&known),
        }
    }
}

/// Said of candidates for which layout `agent` has no section.
pub const NO_SECTION: &str = "none of the six sections";

/// Reports candidates for which layout `agent` has no section.
fn unclaimed(a: &Selected) -> Option<String> {
    let n = a.claimed.iter().filter(|c| c.state == State::Dropped(DropReason::NoRule)).count();
    let candidates = if n == 1 { "candidate fits" } else { "candidates fit" };
    (n > 0 && a.request.layout == Layout::Agent)
        .then(|| format!("{n} {candidates} {NO_SECTION}; layout graph has one"))
}

/// The advice about a limit of the request, which may be at its maximum.
fn raise(a: &Selected, limit: &str) -> String {
    let caps = a.request.budgets;
    let is_at_most = match limit {
        "maxItems" => caps.max_items >= u64::from(limits::ITEMS_MAX),
        "maxItemsPerSection" => caps.max_items_per_section >= u64::from(limits::ITEMS_PER_SECTION_MAX),
        "maxBytesPerItem" => caps.max_bytes_per_item >= u64::from(limits::BYTES_PER_ITEM_MAX),
        "maxTotalChars" => caps.max_total_chars >= u64::from(limits::TOTAL_CHARS_MAX),
        _ => false,
    };
    if is_at_most { format!("{limit} is at its most") } else { format!("raise {limit}") }
}

/// The text with missing words replaced by the nearest ones; for a long text only the nearest words.
fn corrected(text: &str, near: &[Near]) -> String {
    if text.split_whitespace().count() > CORRECTED_WORDS_MAX {
        return near.iter().map(|n| n.word.as_str()).collect::<Vec<_>>().join(" ");
    }
    near.iter().fold(text.to_owned(), |text, n| text.replace(&n.written, &n.word))
}

/// Texts of at most this number of words are repeated in a suggestion.
const CORRECTED_WORDS_MAX: usize = 12;

/// The best shown definitions, by name and place, as follow-ups to a text that says too little.
fn best_shown(a: &Selected) -> Vec<String> {
    let is_good = |c: &&Claimed| c.state == State::Included && c.candidate.unit.def.some().is_some();
    a.claimed.iter().filter(is_good).take(SUGGESTIONS_MAX).map(|c| name_and_place(a, c)).collect()
}

/// True if the reader should ask again with names instead of guessing.
fn is_doubt(a: &Selected) -> bool {
    match a.gathered.confidence.basis {
        Basis::Nothing => true,
        Basis::Question => a.query.kind == Kind::Question,
        _ => false,
    }
}

/// Says how to ask better, with names of this tree near the text.
fn doubt(a: &Selected) -> String {
    let names = a.names_near();
    let near = if names.is_empty() { String::new() } else { format!("; near it are {}", names.join(", ")) };
    format!("ask again with expect: names and words of the code that you look for{near}")
}

fn has_no_room(state: State) -> bool {
    matches!(state, State::Dropped(reason) if reason.public() == "budget")
}

/// The best definitions that did not fit but match the text well, by name and place. As a query each of these
/// is found first; as a place it can be opened. If none matches well, the best candidate that did not fit.
fn suggested(a: &Selected) -> Vec<String> {
    let without_room = || a.claimed.iter().filter(|c| has_no_room(c.state));
    let good = without_room().filter(|c| c.candidate.seed_score >= SUGGESTED_SEED_MIN);
    let named = good.filter(|c| name_of(a, c).is_some()).take(SUGGESTIONS_MAX);
    let mut out: Vec<String> = named.map(|c| name_and_place(a, c)).collect();
    if out.is_empty() {
        out.extend(without_room().next().map(|c| name_and_place(a, c)));
    }
    out
}

/// A candidate as a query: its qualified name, if any, and its place.
fn name_and_place(a: &Selected, c: &Claimed) -> String {
    let name = name_of(a, c).map_or_else(String::new, |name| format!("{name} "));
    format!("{name}{}:{}", c.candidate.file.path, c.candidate.unit.lines().start)
}

/// The qualified name of a candidate that is not a section of a document.
fn name_of(a: &Selected, c: &Claimed) -> Option<Arc<str>> {
    let def = c.candidate.unit.def.some().map(|d| a.units.view.def(d))?;
    Some(def.qualified).filter(|name| def.kind != DefKind::Section && !name.is_empty())
}

/// Reports sections in which nothing fitted, with the number of their candidates.
fn cut_sections(a: &Selected, stats: &Stats) -> Option<String> {
    let cut = |(s, name): (usize, &&'static str)| {
        let of_section = a.claimed.iter().filter(|c| c.section == Some(s) && has_no_room(c.state));
        let n = of_section.count();
        let is_empty = stats.items_by_section.get(*name).is_none_or(|n| *n == 0);
        (n > 0 && is_empty).then(|| format!("{name} {n}"))
    };
    let cut: Vec<String> = a.section_names.iter().enumerate().filter_map(cut).collect();
    (!cut.is_empty()).then(|| format!("sections without room: {}", cut.join(", ")))
}

/// The number of candidates that each limit excluded, by the name of the limit in a request.
fn no_room(a: &Selected) -> BTreeMap<&'static str, u64> {
    // The limit on the whole pack of which more is used: tokens or characters.
    let caps = a.request.budgets;
    let chars = u128::from(a.rendered.chars().count() as u64);
    let is_chars = caps.max_total_chars == 0
        || chars * u128::from(caps.max_total_tokens)
            > u128::from(a.size.tokens) * u128::from(caps.max_total_chars);
    let whole = if is_chars { "maxTotalChars" } else { "maxTotalTokens" };
    let mut out = BTreeMap::new();
    for (i, c) in a.claimed.iter().enumerate() {
        let limit = match c.state {
            State::Dropped(DropReason::SectionCap) => "maxItemsPerSection",
            State::Dropped(DropReason::ItemCap) => "maxItems",
            State::Dropped(DropReason::TooLarge) if a.has_no_line(i) => "maxBytesPerItem",
            State::Dropped(DropReason::Budget | DropReason::TooLarge) => whole,
            _ => continue,
        };
        *out.entry(limit).or_insert(0) += 1;
    }
    out
}
