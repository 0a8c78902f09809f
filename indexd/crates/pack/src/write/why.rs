//! Explains why an item is shown: by the edges that lead to it, else by its words of the text, else by the
//! signals of retrieval, each with its place. The place is a shown line of the item if one contains the
//! evidence. Otherwise it is marked as outside the excerpt.

use crate::assemble::Selected;
use crate::candidate::{Origin, Step};
use crate::canonical::round6;
use crate::expand::shown_kind;
use crate::identity::{Source, evidence_id};
use crate::pack::{Evidence, Form, PathStep, Why};
use crate::query::Kind;
use crate::request::Layout;
use crate::role::Role;
use crate::score::{FEATURES, Feature, Features};
use crate::unit::UnitKey;
use indexd_model::links::{Rule, evidence_kind};
use indexd_model::{EdgeKind, Lines};
use indexd_text::{word_terms, words};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// Maximum relations of one item in the output.
const RELATIONS_SHOWN: usize = 4;
/// Maximum terms in the evidence of a seed.
const TERMS_SHOWN: usize = 3;

pub(super) fn why(a: &mut Selected, i: usize, source: &Source) -> Why {
    let (path, evidence) = steps(a, i);
    let c = &a.claimed[i].candidate;
    let rule = match (c.origin, c.path.last()) {
        (Origin::Edge, Some(step)) => format!("{}-neighbor", shown_kind(step.kind)),
        _ => rule_without_edge(a, i).to_owned(),
    };
    let has_gap = c.has_gap && a.request.expansion.require_evidence;
    let dispatch = is_dispatch(&c.path).then(|| Rule::Dispatch.name().to_owned());
    let sections = if a.request.layout == Layout::Graph { also(&a.claimed[i].claims) } else { Vec::new() };
    let also = dispatch
        .into_iter()
        .chain(sections)
        .chain(a.claimed[i].relations.iter().take(RELATIONS_SHOWN).cloned())
        .collect();
    let evidence = if evidence.is_empty() { text_evidence(a, i, source) } else { evidence };
    let mut evidence = if evidence.is_empty() { signal_evidence(a, i, source) } else { evidence };
    let c = &a.claimed[i].candidate;
    for e in &mut evidence {
        let is_own = *e.file_rel_path == *c.file.path && holds(c.unit.lines(), e.line);
        e.outside_excerpt = is_own && !is_shown(a, i, e.line);
    }
    Why { rule, path, evidence, evidence_gap: has_gap, also }
}

fn rule_without_edge(a: &Selected, i: usize) -> &'static str {
    let c = &a.claimed[i].candidate;
    match (c.origin, &c.scored, c.role) {
        (Origin::Neighbour, ..) => "same-file-neighbor",
        (Origin::Around, ..) => "enclosing-type",
        (Origin::Export, ..) => "module-export",
        (Origin::Text, _, Role::Test) => "test-match",
        (Origin::Text, _, Role::Doc) => "doc-match",
        (Origin::Text, ..) => "config-match",
        (_, Some(scored), _) => seed_rule(&scored.features, a.query.kind),
        _ if a.is_changed(i) => "changed",
        _ if a.request.focus.is_some() => "focus",
        _ => "seed-symbol",
    }
}

/// Finds the calls and uses between items that show code, and notes them at both items.
pub(super) fn relate(a: &mut Selected) {
    let key = |i: &usize| a.claimed[*i].candidate.unit.key;
    let number: FxHashMap<UnitKey, usize> = a.shown.iter().map(key).zip(0..).collect();
    let shown = a.shown.clone();
    let mut told: Vec<Vec<String>> = vec![Vec::new(); shown.len()];
    let is_seed = |a: &Selected, n: usize| a.claimed[shown[n]].candidate.origin == Origin::Seed;
    for (n, &i) in shown.iter().enumerate() {
        let has_code = a.claimed[i].plan.as_ref().is_some_and(|p| p.form >= Form::Windows);
        let Some(def) = a.claimed[i].candidate.unit.def.some().filter(|_| has_code) else { continue };
        for edge in a.units.edges(def).iter() {
            let Some(other) = a.units.of_def(edge.target).and_then(|u| number.get(&u.key).copied()) else {
                continue;
            };
            if other == n {
                continue;
            }
            // A call of a member that another unit shows counts as a use of that unit.
            let is_own = a.claimed[shown[other]].candidate.unit.def == edge.target;
            // The call may go to one of several implementations of an interface or a base.
            let is_candidate = edge.occurrences.iter().all(|o| o.rule == Rule::Dispatch);
            let (out, back) = match edge.kind {
                EdgeKind::Call if is_candidate => ("may call", "may be called by"),
                EdgeKind::Call if is_own => ("calls", "called by"),
                EdgeKind::Inherit => ("extends", "extended by"),
                EdgeKind::Implement => ("implements", "implemented by"),
                _ => ("uses", "used by"),
            };
            let (of_source, of_target) = match edge.kind {
                EdgeKind::Call if is_own => ("callers", "callees"),
                _ => ("usages", "usages"),
            };
            for (at, of, section) in [(n, other, of_source), (other, n, of_target)] {
                if is_seed(a, of) {
                    would_claim(a, shown[at], section);
                }
            }
            for (at, text) in
                [(n, format!("{out} item {}", other + 1)), (other, format!("{back} item {}", n + 1))]
            {
                if !told[at].contains(&text) {
                    told[at].push(text);
                }
            }
        }
    }
    for (i, relations) in shown.into_iter().zip(told) {
        a.claimed[i].relations = relations;
    }
}

/// Notes that a section would claim an item that another section claimed before.
fn would_claim(a: &mut Selected, i: usize, section: &'static str) {
    let claims = &mut a.claimed[i].claims;
    if !claims.contains(&section) {
        claims.push(section);
    }
}

/// The sections that match an item besides the one that claims it.
fn also(claims: &[&str]) -> Vec<String> {
    claims.iter().skip(1).filter(|s| **s != claims[0]).map(|s| (*s).to_owned()).collect()
}

/// True if a path is only a possible call: through a method that the definition implements or overrides, or
/// to one of several implementations.
fn is_dispatch(path: &[Step]) -> bool {
    let is_kind = |kind: EdgeKind| path.iter().any(|s| s.kind == kind);
    let is_candidate = |s: &Step| s.evidence.is_some_and(|o| o.rule == Rule::Dispatch);
    path.iter().any(is_candidate) || (is_kind(EdgeKind::Implement) && is_kind(EdgeKind::Call))
}

fn holds(lines: Lines, line: u32) -> bool {
    (lines.start..=lines.end).contains(&line)
}

/// True if a line of a candidate is in its excerpt.
fn is_shown(a: &Selected, i: usize, line: u32) -> bool {
    a.claimed[i].plan.as_ref().is_some_and(|plan| plan.parts.iter().any(|p| holds(*p, line)))
}

/// The strongest reason of a seed. Exact names precede scores.
fn seed_rule(f: &Features, kind: Kind) -> &'static str {
    if f.get(Feature::Name) > 0.0 && kind == Kind::Trace {
        "seed-frame"
    } else if f.get(Feature::Name) > 0.0 {
        "seed-symbol"
    } else if f.get(Feature::Literal) > 0.0 {
        "seed-literal"
    } else if f.get(Feature::Place) > 0.0 {
        "seed-path"
    } else {
        "seed-terms"
    }
}

/// The edges from a seed to the item, with the evidence of each.
pub(super) fn steps(a: &mut Selected, i: usize) -> (Vec<PathStep>, Vec<Evidence>) {
    let walked: Vec<Step> = a.claimed[i].candidate.path.clone();
    let mut path = Vec::new();
    let mut evidence = Vec::new();
    for step in walked {
        let subkind = matches!(step.kind, EdgeKind::Inherit | EdgeKind::Implement);
        let from = a.sources.endpoint(&mut a.units, step.from);
        let to = a.sources.endpoint(&mut a.units, step.to);
        let file = a.units.view.def(step.site).file;
        let file_path = a.units.file(file).path.to_string();
        let found = step.evidence.map(|o| {
            let kind = evidence_kind(step.kind, o.role, o.rule).name();
            Evidence {
                kind: kind.into(),
                evidence_id: evidence_id(kind, &file_path, o.at, &to),
                confidence: f64::from(o.confidence) / 100.0,
                file_rel_path: file_path.clone(),
                line: o.line,
                via: o.rule.name().to_owned(),
                outside_excerpt: false,
            }
        });
        path.push(PathStep {
            edge_type: shown_kind(step.kind).name().into(),
            subkind: subkind.then(|| step.kind.name().into()),
            from,
            to,
            evidence_id: found.as_ref().map(|e| e.evidence_id.clone()),
        });
        evidence.extend(found);
    }
    (path, evidence)
}

/// The heaviest query terms in the unit, each with its first shown line, else its first line. Text between
/// the parts of the unit belongs to other units and is skipped.
fn text_evidence(a: &mut Selected, i: usize, source: &Source) -> Vec<Evidence> {
    let hits = a.line_terms(i, source);
    let unit = &a.claimed[i].candidate.unit;
    let mut found: BTreeMap<u32, (bool, u32)> = BTreeMap::new();
    for (line, term) in hits.into_iter().filter(|(line, _)| unit.spans.iter().any(|s| holds(s.1, *line))) {
        let place = (!is_shown(a, i, line), line);
        let best = found.entry(term).or_insert(place);
        *best = place.min(*best);
    }
    let mut terms: Vec<(u32, u32)> = found.into_iter().map(|(term, (_, line))| (term, line)).collect();
    terms.sort_by(|x, y| a.term(y.0).1.total_cmp(&a.term(x.0).1).then(x.0.cmp(&y.0)));
    let heaviest = a.gathered.retrieved.weighted.terms.iter().map(|t| t.1).fold(f64::MIN_POSITIVE, f64::max);
    let path = a.claimed[i].candidate.file.path.to_string();
    let most = if a.request.include_explain { TERMS_SHOWN } else { 1 };
    let mut told: Vec<&str> = Vec::new();
    let mut out = Vec::new();
    for (term, line) in terms {
        let (text, weight) = a.term(term);
        // Terms from the same written word are named once.
        let written = a.query.as_written(text);
        if told.contains(&written) {
            continue;
        }
        told.push(written);
        let there = source.slice(source.lines().lines_span(Lines { start: line, end: line }));
        let via = match word_of(there, text).filter(|word| !is_seen_in(written, text, word)) {
            Some(word) => format!("term {written} as {word}"),
            None => format!("term {written}"),
        };
        out.push(Evidence {
            kind: "span".into(),
            evidence_id: evidence_id("span", &path, source.lines().start(line), text),
            confidence: round6(weight / heaviest).clamp(0.0, 1.0),
            file_rel_path: path.clone(),
            line,
            via,
            outside_excerpt: false,
        });
        if out.len() == most {
            break;
        }
    }
    out
}

/// Returns the first word of a line that has the term.
fn word_of<'t>(line: &'t str, term: &str) -> Option<&'t str> {
    let mut found = None;
    words(line, |_, word| {
        if found.is_none() {
            word_terms(word, |t| found = found.or((t == term).then_some(word)));
        }
    });
    found
}

/// True if `word` visibly contains what was written: the whole word, or its stem if it is a plain word.
fn is_seen_in(written: &str, term: &str, word: &str) -> bool {
    let (written, word) = (written.to_lowercase(), word.to_lowercase());
    let mut is_plain = true;
    word_terms(&written, |t| is_plain &= !t.starts_with('='));
    word.contains(&written) || (is_plain && written.starts_with(term) && word.contains(term))
}

/// The evidence of a candidate without edges and words of the text: the signals of retrieval, strongest
/// first, or the seed near it, or the focus.
fn signal_evidence(a: &Selected, i: usize, source: &Source) -> Vec<Evidence> {
    let c = &a.claimed[i].candidate;
    let shown = a.claimed[i].plan.as_ref().and_then(|plan| plan.parts.first());
    let own = shown.map_or(c.unit.lines().start, |part| part.start);
    let formula = &a.gathered.retrieved.formula;
    let parts = FEATURES.iter().filter_map(|f| {
        let part = formula.part(&c.scored.as_ref()?.features, f.feature);
        (part > 0.0).then_some((f.name, part, own))
    });
    let mut said: Vec<(&str, f64, u32)> = parts.collect();
    said.sort_by(|x, y| y.1.total_cmp(&x.1));
    said.truncate(TERMS_SHOWN);
    if let Some(line) = c.beside {
        said = vec![("beside", 1.0, line)];
    } else if said.is_empty() && c.origin == Origin::Seed {
        said.push((if a.is_changed(i) { "changed" } else { "focus" }, c.seed_score, own));
    }
    said.into_iter()
        .map(|(via, strength, line)| Evidence {
            kind: "span".into(),
            evidence_id: evidence_id("span", &c.file.path, source.lines().start(line), via),
            confidence: round6(strength.clamp(0.0, 1.0)),
            file_rel_path: c.file.path.to_string(),
            line,
            via: via.to_owned(),
            outside_excerpt: false,
        })
        .collect()
}

/// Writes one sentence from `why` alone.
pub(super) fn sentence(why: &Why) -> String {
    let place = |e: &Evidence| {
        let unseen = if e.outside_excerpt { " (not shown)" } else { "" };
        format!("{} at {}:{}{unseen}", e.via, e.file_rel_path, e.line)
    };
    let places: Vec<String> = why.evidence.iter().map(place).collect();
    let gap = if why.evidence_gap { ", without the evidence asked for" } else { "" };
    if places.is_empty() {
        format!("{}{gap}", why.rule)
    } else {
        format!("{}: {}{gap}", why.rule, places.join(", "))
    }
}
