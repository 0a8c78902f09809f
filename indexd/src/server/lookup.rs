//! `search` and `symbol`: ranked places without a pack, and definitions by name.

use crate::server::convert;
use indexd_model::facts::DefIdx;
use indexd_model::view::Field;
use indexd_model::{DefDoc, IndexView};
use indexd_pack::identity::Sources;
use indexd_pack::request::SeedProvider;
use indexd_pack::retrieve;
use indexd_pack::score::FEATURES;
use indexd_pack::tuning::Tuning;
use indexd_pack::unit::Units;
use indexd_proto::error::{ErrorCode, ErrorObject};
use indexd_proto::limits::{QUERY_BYTES_MAX, SEARCH_HITS_MAX};
use indexd_proto::pack::Range;
use indexd_proto::search::{Hit, Symbol};
use std::collections::BTreeMap;

/// Hits and definitions when a request does not say.
const LIMIT_DEFAULT: u32 = 20;
/// Definitions looked at for one name that is no exact one.
const SIMILAR_MAX: usize = 2_000;
/// Characters of a title.
const TITLE_CHARS_MAX: usize = 160;

/// The best places for a text, best first.
///
/// # Errors
/// `POC_E_INVALID_REQUEST` for an empty or oversized query or limit.
pub fn search(
    view: &dyn IndexView,
    text: &str,
    limit: Option<u32>,
    neighbors: bool,
) -> Result<Vec<Hit>, ErrorObject> {
    let limit = checked_limit(limit)?;
    checked_text("query", text)?;
    let mut units = Units::new(view);
    let mut sources = Sources::default();
    let found = retrieve::search(&mut units, text, &Tuning::default().weights, SeedProvider::Hybrid);
    let top = found.hits.first().map_or(1.0, |h| h.total);
    let mut out = Vec::new();
    for hit in found.hits.iter().filter(|h| h.total > 0.0).take(limit) {
        let unit = &hit.unit;
        let source = sources.of(view, unit.file);
        let range = source.utf16(unit.span());
        let features = &hit.scored.features;
        let signals = FEATURES.iter().map(|f| (f.name.to_owned(), round(features.get(f.feature))));
        let symbol =
            unit.def.some().map(|def| convert::symbol(view, def)).filter(|s| !s.signature.is_empty());
        let title = match &symbol {
            Some(symbol) => symbol.signature.clone(),
            None => first_line(source.slice(unit.span())),
        };
        out.push(Hit {
            file_rel_path: hit.file.path.to_string(),
            range: Range { start: range.start, end: range.end },
            lines: convert::lines(unit.lines()),
            chunk_uid: sources.uid(&mut units, unit).to_string(),
            symbol_id: symbol.and_then(|s| s.symbol_id),
            title,
            score: round(hit.total / top),
            neighbors: unit.def.some().filter(|_| neighbors).map(|def| super::card::neighbors(view, def)),
            signals: signals.filter(|(_, strength)| *strength > 0.0).collect::<BTreeMap<_, _>>(),
        });
    }
    Ok(out)
}

/// Definitions by symbol id, place, qualified name or name; when there is none of exactly that
/// name, those whose names hold the same words.
///
/// # Errors
/// `POC_E_SYMBOL_NOT_FOUND` or `POC_E_INVALID_REQUEST`.
pub fn symbols(view: &dyn IndexView, name: &str, limit: Option<u32>) -> Result<Vec<Symbol>, ErrorObject> {
    let limit = checked_limit(limit)?;
    checked_text("name", name)?;
    let mut defs = super::graph::find_all(view, name);
    if defs.is_empty() {
        defs = similar(view, name);
    }
    if defs.is_empty() {
        return Err(super::suggest::not_found(view, name));
    }
    defs.truncate(limit);
    Ok(defs.into_iter().map(|d| convert::symbol(view, d)).collect())
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
    match limit.unwrap_or(LIMIT_DEFAULT) {
        n @ 1..=SEARCH_HITS_MAX => Ok(n as usize),
        n => Err(ErrorObject::new(
            ErrorCode::InvalidRequest,
            format!("limit must be 1 to {SEARCH_HITS_MAX}, not {n}"),
        )
        .with_hint("give a limit between them")),
    }
}

fn checked_text(what: &str, text: &str) -> Result<(), ErrorObject> {
    if text.trim().is_empty() {
        return Err(ErrorObject::new(ErrorCode::InvalidRequest, format!("{what} is empty"))
            .with_hint("give at least one word"));
    }
    if text.len() > QUERY_BYTES_MAX {
        return Err(ErrorObject::new(
            ErrorCode::InvalidRequest,
            format!("{what} is longer than {QUERY_BYTES_MAX} bytes"),
        ));
    }
    Ok(())
}

fn first_line(text: &str) -> String {
    let line = text.lines().find(|l| !l.trim().is_empty()).unwrap_or("");
    line.trim().chars().take(TITLE_CHARS_MAX).collect()
}

fn round(x: f64) -> f64 {
    (x * 1e6).round() / 1e6
}
