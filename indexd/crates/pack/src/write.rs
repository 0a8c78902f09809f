//! Converts the selected candidates to a pack: items with provenance, explanations, counts.

mod guidance;
mod nearest;
mod why;

pub use guidance::NO_SECTION;

use crate::assemble::{Claimed, Selected, State};
use crate::candidate::{Candidate, Origin};
use crate::canonical::round6;
use crate::context::{Context, Decision};
use crate::error::PackError;
use crate::identity::Source;
use crate::intent::Row;
use crate::layout;
use crate::pack::{
    At, Basis, Budgets, DropReason, EvidenceGap, Excerpt, Excluded, Explain, Form, Item, LineRange, Pack,
    Part, Place, Provenance, SCHEMA_VERSION, Scores, Section, SeedEntry, Stats, Truncation, Word, line_range,
};
use crate::query::STOPWORDS_VERSION;
use crate::request::{Asked, Layout, Strictness};
use crate::retrieve::GRAPH;
use crate::score::FEATURES;
use indexd_model::{FileRoles, Lines, REDACTION_MARK};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Writes the pack.
///
/// # Errors
/// [`PackError::Cancelled`]; cancellation is checked between items.
pub fn pack(a: &mut Selected, asked: &Asked, ctx: &Context) -> Result<Pack, PackError> {
    let signature = a.units.view.signature();
    let digest = asked.digest(&signature, ctx.repo_id, ctx.config, ctx.tool_version);
    let shown = a.shown.clone();
    why::relate(a);
    let mut sections: Vec<Section> = a
        .section_names
        .iter()
        .map(|name| Section { name: Word::from(*name), items: Vec::new(), dropped: 0 })
        .collect();
    for &i in &shown {
        if (ctx.cancel)() {
            return Err(PackError::Cancelled);
        }
        let item = item(a, ctx, i, &signature);
        if let Some(s) = a.claimed[i].section {
            sections[s].items.push(item);
        }
    }
    for c in &a.claimed {
        // A duplicate is not one more candidate of its section.
        if let (State::Dropped(reason), Some(s)) = (c.state, c.section)
            && reason != DropReason::Duplicate
        {
            sections[s].dropped += 1;
        }
    }
    let seeds = seeds(a);
    let stats = stats(a, &sections);
    let explain = a.request.include_explain.then(|| explain(a, ctx));
    let budgets = Budgets { exact: ctx.counter.is_exact(), ..asked.limits.clone() };
    let mut guidance = guidance::of(a, &budgets, &stats);
    guidance.warnings.extend(invisible_characters(&sections));
    guidance.warnings.extend(recoded(a));
    Ok(Pack {
        format_version: 1,
        schema: "ContextPack".into(),
        schema_version: SCHEMA_VERSION.into(),
        pack_id: format!("pack:sha256:{digest}"),
        created_at: ctx.created_at.to_owned(),
        request: request_in_force(a, ctx, &signature),
        budgets,
        seeds,
        sections,
        explain,
        insufficient_context: (stats.included == 0 && !a.shows_changes())
            || a.gathered.confidence.basis == Basis::Nothing,
        confidence: a.gathered.confidence,
        change: a.change_report(),
        stats,
        suggested_next_queries: guidance.next,
        missing_context_hints: guidance.hints,
        warnings: guidance.warnings,
        index_signature: signature,
        rendered: std::mem::take(&mut a.rendered),
    })
}

/// The request with every default filled in. The real root is not included.
fn request_in_force(a: &Selected, ctx: &Context, signature: &str) -> Map<String, Value> {
    let mut request = Map::new();
    request.insert("repoId".to_owned(), ctx.repo_id.into());
    request.insert("indexRoot".to_owned(), format!("workspace:{}", ctx.repo_id).into());
    request.insert("indexSignature".to_owned(), signature.into());
    if let Ok(Value::Object(options)) = serde_json::to_value(&a.request) {
        request.extend(options);
    }
    request
}

fn item(a: &mut Selected, ctx: &Context, i: usize, signature: &str) -> Item {
    let source = a.source(i);
    let unit = Rc::clone(&a.claimed[i].candidate.unit);
    let uid = a.sources.uid(&mut a.units, &unit).to_string();
    let symbol_id = a.sources.symbol(a.units.view, unit.def).map(|s| s.0);
    let excerpt = excerpt_of(a, i, &source);
    let mut why = why::why(a, i, &source);
    let also_at = places(a, i);
    let lines = covered(&a.claimed[i]);
    let range = source.utf16(source.lines().lines_span(lines));
    let is_full = a.request.include_explain;
    if !is_full {
        why.evidence.truncate(1);
    }
    let c = &a.claimed[i].candidate;
    let (path, roles) = (c.file.path.to_string(), c.file.roles);
    let is_other_text = roles.has(FileRoles::REDACTED) || roles.has(FileRoles::RECODED);
    let of_bytes = if is_other_text { (ctx.bytes_hash)(&path, lines) } else { None };
    let is_committed = (ctx.matches_head)(&path);
    let provenance = Provenance {
        snippet_id: snippet_id(&uid, &excerpt, lines.start),
        reference: if is_committed { a.units.view.head() } else { format!("worktree:{signature}") },
        content_hash: of_bytes.unwrap_or_else(|| source.content_hash(lines)),
        selection_reason: why::sentence(&why),
    };
    let lines = line_range(lines);
    let at = match a.request.layout {
        Layout::Agent => At::Agent { path, line_start: lines.start, line_end: lines.end, provenance },
        _ => At::Graph { file_rel_path: path, lines, provenance },
    };
    let tokens = a.claimed[i].tokens;
    Item {
        kind: if symbol_id.is_some() { "symbol" } else { "chunk" }.into(),
        symbol_id,
        chunk_uid: uid,
        at,
        range,
        language_id: c.file.language.id().into(),
        title: a.title(i, &source),
        scores: scores(c),
        why,
        traits: layout::traits(c, a.claimed[i].has_import).into_iter().map(Word::from).collect(),
        redactions: if roles.has(FileRoles::REDACTED) { redactions(&excerpt.text) } else { Vec::new() },
        form: a.claimed[i].plan.as_ref().map_or(Form::Place, |p| p.form),
        explanation: is_full.then(|| {
            let formula = &a.gathered.retrieved.formula;
            a.claimed[i].candidate.explain(formula, a.gathered.scale, &ctx.config.scoring)
        }),
        excerpt,
        also_at,
        tokens,
    }
}

/// The lines of an item: those of its unit and of all its parts, as of members of a class whose head is the
/// unit.
fn covered(c: &Claimed) -> Lines {
    let own = c.candidate.unit.lines();
    let parts = c.plan.iter().flat_map(|p| &p.parts);
    parts.fold(own, |all, part| Lines { start: all.start.min(part.start), end: all.end.max(part.end) })
}

fn scores(c: &Candidate) -> Scores {
    Scores {
        seed_score: round6(c.seed_score),
        graph_distance: c.distance,
        evidence_score: round6(c.evidence),
        hybrid_score: round6(c.hybrid),
    }
}

/// Reports every candidate: first the ranked ones, then those dropped before ranking.
pub fn decisions(a: &Selected, ctx: &Context) {
    let tell = |c: &Candidate, section: Option<usize>, outcome| {
        let section = section.map(|s| a.section_names[s]);
        let decision =
            Decision { path: &c.file.path, lines: c.unit.lines(), section, scores: scores(c), outcome };
        (ctx.decided)(&decision);
    };
    for c in &a.claimed {
        let outcome = match c.state {
            State::Included => "included",
            State::Merged => "merged",
            State::Dropped(reason) => reason.name(),
            State::Open => continue,
        };
        tell(&c.candidate, c.section, outcome);
    }
    for (c, reason) in &a.gathered.dropped {
        tell(c, None, reason.name());
    }
}

/// The kinds of the secrets that are replaced in a text of a redacted file.
fn redactions(text: &str) -> Vec<String> {
    let marked = text.split(REDACTION_MARK).skip(1).filter_map(|rest| {
        let inside = rest.split(']').next()?;
        Some(inside.strip_prefix(':').unwrap_or("secret").to_owned())
    });
    let mut kinds: BTreeSet<String> = marked.collect();
    if kinds.is_empty() && text.contains("***") {
        kinds.insert("secret".to_owned());
    }
    kinds.into_iter().collect()
}

/// The chunk uid of a whole unit. If the excerpt shows parts, line offsets from the start of the unit are
/// appended.
fn snippet_id(uid: &str, excerpt: &Excerpt, first: u32) -> String {
    if !excerpt.truncated {
        return uid.to_owned();
    }
    let offset = |line: u32| i64::from(line) - i64::from(first);
    let parts: Vec<String> =
        excerpt.parts.iter().map(|p| format!("{}-{}", offset(p.lines.start), offset(p.lines.end))).collect();
    format!("{uid}+{}", parts.join(","))
}

fn excerpt_of(a: &Selected, i: usize, source: &Source) -> Excerpt {
    let bytes_max = a.request.budgets.max_bytes_per_item;
    let Some(plan) = a.claimed[i].plan.as_ref() else {
        return Excerpt { text: String::new(), truncated: false, truncation: None, parts: Vec::new() };
    };
    let with_ranges = a.request.include_explain;
    let (mut text, mut parts) = (String::new(), Vec::with_capacity(plan.parts.len()));
    for lines in &plan.parts {
        let span = source.lines().lines_span(*lines);
        text.push_str(&source.shown(*lines));
        parts.push(Part { lines: line_range(*lines), range: with_ranges.then(|| source.utf16(span)) });
    }
    let is_beyond = covered(&a.claimed[i]) != a.claimed[i].candidate.unit.lines();
    Excerpt {
        text,
        truncated: plan.reason.is_some() || is_beyond,
        truncation: plan
            .reason
            .filter(|_| plan.form != Form::Head)
            .map(|reason| Truncation { max_bytes: bytes_max, reason: reason.into() }),
        parts,
    }
}

fn places(a: &mut Selected, i: usize) -> Vec<Place> {
    let merged = a.claimed[i].merged.clone();
    merged
        .into_iter()
        .map(|j| {
            let unit = Rc::clone(&a.claimed[j].candidate.unit);
            Place {
                file_rel_path: a.claimed[j].candidate.file.path.to_string(),
                lines: line_range(unit.lines()),
                chunk_uid: a.sources.uid(&mut a.units, &unit).to_string(),
                symbol_id: a.sources.symbol(a.units.view, unit.def).map(|s| s.0),
            }
        })
        .collect()
}

/// The seeds that are shown, best first.
fn seeds(a: &mut Selected) -> Vec<SeedEntry> {
    let mut shown = a.shown.clone();
    shown.retain(|i| a.claimed[*i].candidate.origin == Origin::Seed);
    shown.sort_unstable();
    let with_signals = a.request.include_explain;
    let mut out = Vec::with_capacity(shown.len());
    for i in shown {
        let unit = Rc::clone(&a.claimed[i].candidate.unit);
        let source = a.source(i);
        let c = &a.claimed[i].candidate;
        let lines = unit.lines();
        let signals = match &c.scored {
            Some(scored) if with_signals => FEATURES
                .iter()
                .map(|f| (Word::from(f.name), a.gathered.retrieved.formula.part(&scored.features, f.feature)))
                .filter(|f| f.1 > 0.0)
                .collect(),
            _ => BTreeMap::new(),
        };
        let file_rel_path = c.file.path.to_string();
        let seed_score = round6(c.seed_score);
        let symbol = a.sources.symbol(a.units.view, unit.def);
        out.push(SeedEntry {
            symbol_id: symbol.filter(|_| with_signals).map(|s| s.0),
            chunk_uid: a.sources.uid(&mut a.units, &unit).to_string(),
            file_rel_path,
            range: source.utf16(source.lines().lines_span(lines)),
            lines: line_range(lines),
            seed_score,
            signals,
        });
    }
    out
}

fn stats(a: &Selected, sections: &[Section]) -> Stats {
    let mut stats = Stats {
        dropped_by_reason: DropReason::ALL.iter().map(|r| (r.public().into(), 0)).collect(),
        items_by_section: sections.iter().map(|s| (s.name.clone(), s.items.len() as u64)).collect(),
        token_count: a.size.tokens,
        token_budget: a.request.budgets.max_total_tokens,
        budget_used_percent: (a.size.tokens * 100)
            .checked_div(a.request.budgets.max_total_tokens)
            .unwrap_or(0),
        char_count: a.rendered.chars().count() as u64,
        providers: a.gathered.retrieved.providers.iter().copied().map(Word::from).collect(),
        ..Stats::default()
    };
    let drop = |reason: DropReason, stats: &mut Stats| {
        stats.dropped += 1;
        *stats.dropped_by_reason.entry(reason.public().into()).or_insert(0) += 1;
    };
    for c in &a.claimed {
        stats.found += 1;
        stats.max_hop = stats.max_hop.max(c.candidate.distance);
        match c.state {
            State::Included => stats.included += 1,
            State::Merged => stats.merged += 1,
            State::Dropped(reason) => drop(reason, &mut stats),
            State::Open => {}
        }
    }
    let early = a.gathered.dropped.iter().map(|d| d.1).chain(a.gathered.unreadable.iter().map(|d| d.1));
    for reason in early {
        stats.found += 1;
        drop(reason, &mut stats);
    }
    if stats.max_hop > 0 && !stats.providers.iter().any(|p| p == GRAPH) {
        stats.providers.push(GRAPH.into());
    }
    stats
}

fn explain(a: &mut Selected, ctx: &Context) -> Explain {
    let q = &a.query;
    let row = Row::of(a.request.intent, ctx.config.shares.of_kind(q.kind));
    let mut query: BTreeMap<Word, Vec<String>> = BTreeMap::new();
    let weighted = &a.gathered.retrieved.weighted;
    let print = |terms: &[(String, f64)]| terms.iter().map(|t| format!("{} {:.2}", t.0, t.1)).collect();
    query.insert("terms".into(), print(&weighted.terms));
    query.insert("feedback".into(), print(&weighted.feedback));
    query.insert("symbols".into(), q.symbols.iter().map(|s| s.name.clone()).collect());
    query.insert("paths".into(), q.paths.iter().map(|p| p.path.clone()).collect());
    query.insert("literals".into(), q.literals.clone());
    query.insert("stopwords".into(), vec![format!("version {STOPWORDS_VERSION}")]);
    let (excluded, excluded_more) = excluded(a);
    Explain {
        repo_id: ctx.repo_id.to_owned(),
        query,
        weights: serde_json::json!({
            "ranking": row.weights(&ctx.tuning.weights),
            "scoring": ctx.config.scoring,
            "sources": ctx.config.sources,
            "intent": row,
        }),
        expansion: a.gathered.report,
        evidence_gaps: gaps(a),
        excluded_more,
        excluded,
    }
}

/// The candidates that are not shown, as many as a pack may have items, and the number of the others.
fn excluded(a: &Selected) -> (Vec<Excluded>, u64) {
    let late = a.claimed.iter().filter_map(|c| match c.state {
        State::Dropped(reason) => Some((&c.candidate, reason)),
        _ => None,
    });
    let candidates = late.chain(a.gathered.dropped.iter().map(|d| (&d.0, d.1)));
    let candidates = candidates.map(|(c, reason)| (&*c.file.path, Some(c), reason));
    // Files without chunks have neither lines nor a score.
    let unreadable = a.gathered.unreadable.iter().map(|(path, reason)| (path.as_str(), None, *reason));
    let mut all = candidates.chain(unreadable);
    let first = all.by_ref().take(a.request.budgets.max_items as usize);
    let first = first.map(|(path, candidate, reason)| Excluded {
        file_rel_path: path.to_owned(),
        lines: candidate.map_or(LineRange { start: 0, end: 0 }, |c| line_range(c.unit.lines())),
        title: candidate.map_or_else(|| path.to_owned(), |c| excluded_title(a, c)),
        hybrid_score: candidate.map_or(0.0, |c| round6(c.hybrid)),
        reason: reason.name().into(),
    });
    (first.collect(), all.count() as u64)
}

/// The qualified name of a candidate; its lines if it has none.
fn excluded_title(a: &Selected, c: &Candidate) -> String {
    let lines = c.unit.lines();
    let qualified = c.unit.def.some().map(|d| a.units.view.def(d).qualified.to_string());
    let qualified = qualified.filter(|q| !q.is_empty());
    qualified.unwrap_or_else(|| format!("lines {}-{}", lines.start, lines.end))
}

/// For strictness `warn`: edges of the shown items that lack the evidence asked for.
fn gaps(a: &mut Selected) -> Vec<EvidenceGap> {
    if !a.request.expansion.require_evidence || a.request.strictness != Strictness::Warn {
        return Vec::new();
    }
    let gapped: Vec<usize> = (0..a.claimed.len())
        .filter(|i| a.claimed[*i].state == State::Included && a.claimed[*i].candidate.has_gap)
        .collect();
    let mut out = Vec::new();
    for i in gapped {
        let (path, _) = why::steps(a, i);
        let unit = Rc::clone(&a.claimed[i].candidate.unit);
        out.push(EvidenceGap {
            chunk_uid: a.sources.uid(&mut a.units, &unit).to_string(),
            edges: path.into_iter().filter(|s| s.evidence_id.is_none()).collect(),
        });
    }
    out
}

/// Warnings about shown files whose text was decoded from another encoding.
fn recoded(a: &Selected) -> BTreeSet<String> {
    let shown = a.shown.iter().map(|i| &a.claimed[*i].candidate.file);
    let says = |path: &str| {
        format!("{path} is not UTF-8: its text was decoded, and U+FFFD stands for what could not be")
    };
    shown.filter(|f| f.roles.has(FileRoles::RECODED)).map(|f| says(&f.path)).collect()
}

/// Names files whose excerpts hold invisible or text-reordering characters.
fn invisible_characters(sections: &[Section]) -> Vec<String> {
    let odd = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{2066}'..='\u{2069}');
    let mut out: Vec<String> = sections
        .iter()
        .flat_map(|s| &s.items)
        .filter(|i| i.excerpt.text.chars().any(odd))
        .map(|i| format!("{} holds invisible or bidirectional characters", i.path()))
        .collect();
    out.sort();
    out.dedup();
    out
}
