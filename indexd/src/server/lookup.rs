//! `search` and `symbol`: ranked places without a pack, and definitions by name.

use crate::server::convert;
use indexd_model::facts::DefIdx;
use indexd_model::limits::{EXPECT_BYTES_MAX, EXPECT_MAX};
use indexd_model::view::Field;
use indexd_model::{DefDoc, IndexView};
use indexd_pack::canonical::round6;
use indexd_pack::graph::names;
use indexd_pack::identity::Sources;
use indexd_pack::naming::{self, Named};
use indexd_pack::pack::{Basis, line_range};
use indexd_pack::places::{self, Place};
use indexd_pack::query::Query;
use indexd_pack::request::SeedProvider;
use indexd_pack::role::Role;
use indexd_pack::score::FEATURES;
use indexd_pack::tuning::Tuning;
use indexd_pack::unit::{Unit, Units};
use indexd_pack::{expected, retrieve};
use indexd_proto::error::ErrorObject;
use indexd_proto::limits::{QUERY_BYTES_MAX, SEARCH_HITS_MAX};
use indexd_proto::pack::Range;
use indexd_proto::search::{Hit, SearchResult, Symbol};
use indexd_text::LineMatcher;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Hits when a request does not say, and for a plain question, whose first hits are seldom right.
const HITS_DEFAULT: u32 = 10;
const HITS_OF_QUESTION: u32 = 20;
/// Definitions of expected names that are listed after the hits, and definitions of such a name.
const NAMED_ADDED_MAX: usize = 3;
/// Definitions when a request does not say.
const LIMIT_DEFAULT: u32 = 20;
/// Definitions looked at for one name that is no exact one.
const SIMILAR_MAX: usize = 2_000;

/// Finds the best places for a text and what its caller expects; the answer has no envelope.
///
/// # Errors
/// `POC_E_INVALID_REQUEST` for an empty or oversized query, expectation or limit.
pub fn search(
    view: &dyn IndexView,
    text: &str,
    expect: &[String],
    limit: Option<u32>,
    neighbors: bool,
) -> Result<SearchResult, ErrorObject> {
    let asked = limit.map(|n| checked_limit(Some(n))).transpose()?;
    if expect.is_empty() || !text.trim().is_empty() {
        checked_text("query", text)?;
    }
    if expect.len() > EXPECT_MAX || expect.iter().any(|e| e.len() > EXPECT_BYTES_MAX) {
        return Err(ErrorObject::invalid("expect has more than 64 entries, or one longer than 1 KiB"));
    }
    let (mut units, mut sources) = (Units::new(view), Sources::default());
    let weights = &Tuning::default().weights;
    let (found, confidence, query) =
        retrieve::search(&mut units, text, expect, weights, SeedProvider::Hybrid);
    let is_plain = confidence.basis == Basis::Question;
    let limit = asked.unwrap_or(if is_plain { HITS_OF_QUESTION } else { HITS_DEFAULT } as usize);
    let top = found.hits.first().map_or(1.0, |h| h.total);
    let terms = &found.weighted.terms;
    let mut words = Words {
        matcher: LineMatcher::new(terms.iter().map(|t| t.0.as_str())),
        weights: terms.iter().map(|t| t.1).collect(),
    };
    // Tests follow product code, unless the text asks about them.
    let is_late = |h: &&retrieve::Hit| h.role == Role::Test && !query.names_tests;
    let all = || found.hits.iter().filter(|h| h.total > 0.0 && !places::is_filler(&h.unit, h.role));
    let (first, late) = (all().filter(|h| !is_late(h)), all().filter(is_late));
    let named = naming::named(&mut units, &query);
    let asked_for = names_asked_for(&mut units, &query, &named);
    let is_asked_for = |h: &retrieve::Hit| asked_for.iter().any(|unit| unit.key == h.unit.key);
    let mut listed: Vec<&retrieve::Hit> = first.chain(late).collect();
    // Stable: in each part the order of ranks stays.
    listed.sort_by_key(|h| !is_asked_for(h));
    listed.truncate(limit);
    if asked.is_none() {
        list_named(&mut units, &query, &found.hits, &mut listed);
    }
    let hits = listed.into_iter().map(|found| {
        let mut hit = hit(&mut units, &mut sources, &mut words, &named, found);
        hit.score = round6(found.total / top);
        let def = found.unit.def.some().filter(|_| neighbors);
        hit.neighbors = def.map(|def| super::card::neighbors(view, def));
        hit
    });
    let hits = hits.collect();
    let missing = expected::missing(view, &query);
    Ok(SearchResult { hits, confidence, missing, ..SearchResult::default() })
}

/// The definitions that a search is for, if it consists of names only, or of a single expectation.
fn names_asked_for(units: &mut Units, query: &Query, named: &Named) -> Vec<Rc<Unit>> {
    match &query.expected[..] {
        [] if named.is_all => named.meant.clone(),
        [only] if query.words.iter().all(|w| only.text.contains(w)) => naming::expected(units, only),
        _ => Vec::new(),
    }
}

/// Adds the definitions of expected names that are not listed.
fn list_named<'h>(
    units: &mut Units,
    query: &Query,
    hits: &'h [retrieve::Hit],
    listed: &mut Vec<&'h retrieve::Hit>,
) {
    let end = listed.len() + NAMED_ADDED_MAX;
    for expected in query.expected.iter().filter(|e| e.is_name) {
        let named = naming::expected(units, expected);
        let is_named = |h: &&retrieve::Hit| named.iter().any(|unit| unit.key == h.unit.key);
        if named.len() <= NAMED_ADDED_MAX && listed.len() < end && !listed.iter().any(is_named) {
            listed.extend(hits.iter().find(is_named));
        }
    }
}

/// The words of a search: finds them in lines, with their weights.
struct Words {
    matcher: LineMatcher,
    weights: Vec<f64>,
}

/// A hit without its score and its neighbours.
fn hit(
    units: &mut Units,
    sources: &mut Sources,
    words: &mut Words,
    named: &Named,
    found: &retrieve::Hit,
) -> Hit {
    let (view, unit) = (units.view, &found.unit);
    let source = sources.of(view, unit.file);
    let range = source.utf16(unit.span());
    let features = &found.scored.features;
    let signals = FEATURES.iter().map(|f| (f.name.to_owned(), round6(features.get(f.feature))));
    let symbol = unit.def.some().map(|def| convert::symbol(view, def)).filter(|s| !s.signature.is_empty());
    let mut matches = Vec::new();
    words.matcher.find(source.slice(source.lines().lines_span(unit.lines())), &mut matches);
    matches.sort_unstable();
    matches.dedup();
    let place = match named.members(unit).first() {
        Some(def) => Place::of_member(&view.def(*def), &source),
        None => Place::of(units, unit, &source, &matches, &words.weights),
    };
    let mut text = String::new();
    place.write(&found.file.path, &mut text);
    let title = || places::title(units, unit, &source);
    Hit {
        file_rel_path: found.file.path.to_string(),
        range: Range { start: range.start, end: range.end },
        lines: line_range(unit.lines()),
        title: symbol.as_ref().map_or_else(title, |s| s.signature.clone()),
        chunk_uid: sources.uid(units, unit).to_string(),
        symbol_id: symbol.and_then(|s| s.symbol_id),
        line: place.line,
        name: place.name,
        match_line: place.at,
        text: text.trim_end().to_owned(),
        score: 0.0,
        neighbors: None,
        signals: signals.filter(|(_, strength)| *strength > 0.0).collect::<BTreeMap<_, _>>(),
    }
}

/// Definitions by symbol id, place, qualified name or name; when there is none of exactly that
/// name, those whose names hold the same words. Those first that are used most, product code before tests,
/// docs and generated files; and how many there are.
///
/// # Errors
/// `POC_E_SYMBOL_NOT_FOUND` or `POC_E_INVALID_REQUEST`.
pub fn symbols(
    view: &dyn IndexView,
    name: &str,
    limit: Option<u32>,
) -> Result<(Vec<Symbol>, u64), ErrorObject> {
    let limit = checked_limit(limit)?;
    checked_text("name", name)?;
    let mut defs = names::find_all(view, name);
    names::order(view, &mut defs);
    if defs.is_empty() {
        defs = similar(view, name);
    }
    if defs.is_empty() {
        return Err(super::suggest::not_found(view, name));
    }
    let n = defs.len() as u64;
    defs.truncate(limit);
    Ok((defs.into_iter().map(|d| convert::symbol(view, d)).collect(), n))
}

/// Definitions whose names hold every word of `name`, in any case and order; shorter names first.
fn similar(view: &dyn IndexView, name: &str) -> Vec<DefDoc> {
    let mut terms = Vec::new();
    indexd_text::terms(name, |t| terms.push(t.to_owned()));
    // The whole word comes after its parts and would ask for exactly the name again.
    if terms.len() > 1 {
        terms.retain(|t| *t != name.to_lowercase());
    }
    let Some(rarest) = terms.iter().min_by_key(|t| view.doc_frequency(t)) else { return Vec::new() };
    let mut postings = Vec::new();
    view.postings(rarest, &mut postings);
    let named =
        postings.iter().filter(|p| p.counts[Field::Name as usize] > 0).map(|p| view.chunk(p.chunk).def);
    let mut defs: Vec<DefDoc> = named.filter_map(DefDoc::some).take(SIMILAR_MAX).collect();
    defs.sort_unstable();
    defs.dedup();
    let mut found = Vec::new();
    for def in defs {
        let record = view.def(def);
        let mut own = Vec::new();
        indexd_text::terms(&record.name, |t| own.push(t.to_owned()));
        if record.idx != DefIdx::NONE && terms.iter().all(|t| own.contains(t)) {
            found.push((record.name.len(), view.path(record.file), record.span.start, def));
        }
    }
    found.sort();
    found.into_iter().map(|f| f.3).collect()
}

fn checked_limit(limit: Option<u32>) -> Result<usize, ErrorObject> {
    let limit = limit.unwrap_or(LIMIT_DEFAULT);
    convert::within("limit", "limit", limit, 1..=SEARCH_HITS_MAX)?;
    Ok(limit as usize)
}

fn checked_text(what: &str, text: &str) -> Result<(), ErrorObject> {
    if text.trim().is_empty() {
        return Err(ErrorObject::invalid(format!("{what} is empty")).with_hint("give at least one word"));
    }
    if text.len() > QUERY_BYTES_MAX {
        return Err(ErrorObject::invalid(format!("{what} is longer than {QUERY_BYTES_MAX} bytes")));
    }
    Ok(())
}
