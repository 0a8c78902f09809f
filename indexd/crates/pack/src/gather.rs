//! From a request to candidates: seeds, what edges reach from them, tests and documents that fit the
//! text, and neighbours.

use crate::candidate::{Candidate, Origin};
use crate::confidence;
use crate::context::Context;
use crate::error::PackError;
use crate::expand::{self, Expanded, Reached};
use crate::identity::Sources;
use crate::intent::Row;
use crate::naming::Named;
use crate::pack::{Confidence, DropReason, ExpansionReport};
use crate::profile::{self, Profile};
use crate::query::{Kind, Query};
use crate::request::{EdgeType, Focus, Resolved, SeedMode, Strictness};
use crate::retrieve::{Hit, Retrieved, retrieve};
use crate::role::{Role, is_test_by_content, role_of};
use crate::score::Scored;
use crate::unit::{Unit, UnitKey, Units};
use indexd_model::{ChunkDoc, DefFlags, FileDoc, IndexView, Outcome, limits};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Candidates that come from the text alone, by kind of file, at most.
const TEXT_PER_ROLE: usize = 16;
/// Evidence of a candidate that comes from the text alone. An edge to a seed says more, but not so
/// much that any test of a seed goes before the one that has the words of the text.
const TEXT_EVIDENCE: f64 = 0.5;
/// Definitions that the modules of seeds export and that are candidates.
const EXPORTS_MAX: usize = 24;
/// Candidates beside one seed.
const NEIGHBOURS_PER_SEED: usize = 4;
/// With fewer candidates by edges than this the graph is sparse, and neighbours fill `related`.
const SPARSE_BELOW: usize = 3;
/// Holders of quoted texts, the best, that are seeds whatever their rank and the role of their file.
pub const QUOTED_MAX: usize = 6;
/// Definitions looked at to find the one a symbol id names.
const FOCUS_DEFS_MAX: usize = 512;

/// Everything that was found.
pub struct Gathered {
    /// Candidates in no order yet.
    pub candidates: Vec<Candidate>,
    /// Units that expansion started from, best first.
    pub starts: Vec<UnitKey>,
    /// Candidates that ended here already, with the reason and what is known of their place.
    pub dropped: Vec<(Candidate, DropReason)>,
    /// Named files without chunks, by path.
    pub unreadable: Vec<(String, DropReason)>,
    /// How far expansion went.
    pub report: ExpansionReport,
    /// Retrieval score of every hit, and what it is computed from.
    pub scores: FxHashMap<UnitKey, (f64, Option<Scored>)>,
    /// Whether more hits were found than may be seeds.
    pub is_cut: bool,
    /// What makes the best total 1.
    pub scale: f64,
    /// What retrieval says about the query.
    pub retrieved: Retrieved,
    /// How sure it is that an answer is among the hits.
    pub confidence: Confidence,
    /// The profile that scores, where it is not `graph`.
    pub profile: Option<Profile>,
}

impl Gathered {
    /// Changes every candidate, the dropped ones included.
    fn for_each(&mut self, mut change: impl FnMut(&mut Candidate)) {
        self.candidates.iter_mut().for_each(&mut change);
        self.dropped.iter_mut().for_each(|(c, _)| change(c));
    }
}

/// Collects the candidates of a request.
///
/// # Errors
/// [`PackError::Cancelled`]; [`PackError::InvalidRequest`] when `focus` names nothing in the index.
pub fn gather(
    units: &mut Units,
    sources: &mut Sources,
    request: &Resolved,
    query: &Query,
    named: &Named,
    row: &Row,
    ctx: &Context,
) -> Result<Gathered, PackError> {
    let config = ctx.config;
    let weights = profile::weights(request.scoring, row.weights(&ctx.tuning.weights));
    let mut retrieved = retrieve(units, query, named, &weights, request.seed_provider, ctx.cancel);
    (ctx.stage)("retrieve");
    if (ctx.cancel)() {
        return Err(PackError::Cancelled);
    }
    let mut unreadable = Vec::new();
    let confidence = confidence::of(query, named, &retrieved.hits, retrieved.weighted.known);
    let mut hits = std::mem::take(&mut retrieved.hits);
    mark_tests(units, &mut hits);
    let mut found = certain(units, sources, request, query, named, &mut unreadable)?;
    let width = width(request);
    let (bounds, seeds_max) = (config.expansion.times(width), seeds_max(ctx, width));
    let roles = seed_roles(request.seed_mode, query, &hits);
    let top = hits.iter().filter(|h| roles.contains(&h.role)).map(|h| h.total).fold(0.0, f64::max);
    let scale = if top > 0.0 { 1.0 / top } else { 0.0 };
    let scores: FxHashMap<UnitKey, usize> = hits.iter().enumerate().map(|(i, h)| (h.unit.key, i)).collect();
    add_seeds(units, &mut found, named, &hits, |h| roles.contains(&h.role), (seeds_max, scale));
    let starts: Vec<Rc<Unit>> =
        found.candidates.iter().take(bounds.seeds as usize).map(|c| Rc::clone(&c.unit)).collect();
    let is_strict = request.strictness == Strictness::Strict;
    // What a change alone is about has its own lanes; two hops further nothing is asked for.
    let walked = if request.is_change_alone() { &[][..] } else { &starts[..] };
    let Expanded { reached, unproven, mut report } =
        expand::expand(units, walked, &request.expansion, is_strict, &bounds, ctx.cancel)?;
    report.seeds_found = found.candidates.len() as u32;
    (ctx.stage)("expand");
    let n_reached = reached.len();
    for r in reached {
        let hit = scores.get(&r.unit.key).map(|i| &hits[*i]);
        found.add_reached(units, r, hit, scale);
    }
    // What lacks evidence must not come back as a neighbour.
    let n_proven = found.candidates.len();
    for r in unproven {
        let hit = scores.get(&r.unit.key).map(|i| &hits[*i]);
        found.add_reached(units, r, hit, scale);
    }
    let unproven = found.candidates.split_off(n_proven);
    if request.expansion.edge_types.contains(&EdgeType::Export) && request.expansion.max_hops > 0 {
        add_exports(units, &mut found, &starts, &scores, &hits, scale);
    }
    add_text(units, &mut found, &hits, &roles, scale);
    let is_sparse = n_reached < SPARSE_BELOW && !request.is_change_alone();
    if request.expansion.include_same_file_neighbors || is_sparse {
        add_neighbours(units, &mut found, &starts, &scores, &hits, scale);
    }
    let score = |h: &Hit| (h.unit.key, ((h.total * scale).min(1.0), Some(h.scored)));
    let mut out = Gathered {
        is_cut: hits.len() > seeds_max,
        scale,
        scores: hits.iter().map(score).collect(),
        candidates: found.candidates,
        starts: starts.iter().map(|u| u.key).collect(),
        dropped: unproven.into_iter().map(|c| (c, DropReason::NoEvidence)).collect(),
        unreadable,
        report,
        retrieved,
        confidence,
        profile: None,
    };
    out.for_each(|c| c.score(&config.scoring));
    out.profile = Profile::of(request, query.kind, config.sources, &out.candidates, units);
    if let Some(profile) = out.profile.take() {
        out.for_each(|c| profile.score(units, c));
        out.profile = Some(profile);
    }
    Ok(out)
}

/// Gives definitions that are tests by their form the role of tests.
fn mark_tests(units: &mut Units, hits: &mut [Hit]) {
    for h in hits.iter_mut().filter(|h| h.role == Role::Code) {
        if is_test_by_content(units, &h.unit) {
            h.role = Role::Test;
        }
    }
}

/// How many times as many candidates as usual a pack may have: as its budget grows, more are looked for, and
/// no more than it may show.
fn width(request: &Resolved) -> u32 {
    let caps = request.budgets;
    let by_tokens = 1 + caps.max_total_tokens / USUAL_TOKENS;
    by_tokens.min(caps.max_items / USUAL_ITEMS).clamp(1, WIDTH_MAX) as u32
}

/// Hits that are seeds at most: the usual number, or as many as a section of a wide pack holds.
fn seeds_max(ctx: &Context, width: u32) -> usize {
    let usual = ctx.tuning.seeds_max;
    usual.saturating_mul(width).min(usual.max(limits::ITEMS_PER_SECTION_MAX)) as usize
}

/// Tokens and items up to which a pack is an ordinary one.
const USUAL_TOKENS: u64 = 16_000;
const USUAL_ITEMS: u64 = 60;

/// What no pack is wider than.
const WIDTH_MAX: u64 = 8;

/// What is a seed without a search: the focus, what a change is about, what the text names.
fn certain(
    units: &mut Units,
    sources: &mut Sources,
    request: &Resolved,
    query: &Query,
    named: &Named,
    unreadable: &mut Vec<(String, DropReason)>,
) -> Result<Found, PackError> {
    let mut found = Found { at: FxHashMap::default(), candidates: Vec::new() };
    if let Some(focus) = &request.focus {
        for unit in focused(units, sources, focus, unreadable)? {
            found.add_seed(units, unit, 1.0, None);
        }
    }
    for unit in &named.changed {
        found.add_seed(units, Rc::clone(unit), 1.0, None);
    }
    if matches!(query.kind, Kind::Name | Kind::Question) {
        for unit in &named.meant {
            found.add_seed(units, Rc::clone(unit), 1.0, None);
        }
    }
    Ok(found)
}

/// Roles of files whose hits are seeds. Tests and documents have sections of their own, unless the
/// text asks about them, the mode says so, or there is nothing else.
fn seed_roles(mode: SeedMode, query: &Query, hits: &[Hit]) -> Vec<Role> {
    if mode == SeedMode::Prose {
        return vec![Role::Doc];
    }
    let mut roles = vec![Role::Code, Role::Config];
    let is_code = |h: &Hit| roles.contains(&h.role);
    let has_code = hits.iter().any(is_code);
    if query.names_tests || !has_code {
        roles.push(Role::Test);
    }
    if mode == SeedMode::Mixed && (query.names_docs || !has_code) {
        roles.push(Role::Doc);
    }
    roles
}

struct Found {
    at: FxHashMap<UnitKey, usize>,
    candidates: Vec<Candidate>,
}

impl Found {
    fn push(&mut self, units: &mut Units, unit: Rc<Unit>, origin: Origin) -> Option<&mut Candidate> {
        if self.at.contains_key(&unit.key) {
            return None;
        }
        self.at.insert(unit.key, self.candidates.len());
        let file = units.file(unit.file);
        let role = match role_of(&file) {
            Role::Code if is_test_by_content(units, &unit) => Role::Test,
            role => role,
        };
        self.candidates.push(Candidate {
            unit,
            file,
            role,
            origin,
            seed_score: 0.0,
            scored: None,
            distance: 0,
            path: Vec::new(),
            evidence: 0.0,
            has_gap: false,
            beside: None,
            hybrid: 0.0,
            parts: Vec::new(),
        });
        self.candidates.last_mut()
    }

    fn add_seed(&mut self, units: &mut Units, unit: Rc<Unit>, score: f64, scored: Option<Scored>) {
        if let Some(c) = self.push(units, unit, Origin::Seed) {
            c.seed_score = score;
            c.scored = scored;
            c.evidence = 1.0;
        }
    }

    fn add_reached(&mut self, units: &mut Units, r: Reached, hit: Option<&Hit>, scale: f64) {
        if let Some(c) = self.push(units, r.unit, Origin::Edge) {
            c.distance = r.path.len() as u32;
            c.path = r.path;
            c.evidence = r.evidence;
            c.has_gap = r.has_gap;
            if let Some(h) = hit {
                c.seed_score = (h.total * scale).min(1.0);
                c.scored = Some(h.scored);
            }
        }
    }
}

/// The best hits that may be seeds, and what holds a phrase of the text, wherever it stands; scores are
/// multiplied by `scale`.
fn add_seeds(
    units: &mut Units,
    found: &mut Found,
    named: &Named,
    hits: &[Hit],
    may_be: impl Fn(&Hit) -> bool,
    (n_max, scale): (usize, f64),
) {
    // Beside a name, the words of which it is made find, in other files, only what is called alike.
    let files: Vec<FileDoc> = named.meant.iter().map(|u| u.file).collect();
    let is_asked = |h: &Hit| !named.is_all || files.contains(&h.unit.file);
    let best = hits.iter().filter(|h| may_be(h) && is_asked(h)).take(n_max);
    let quoted = hits.iter().filter(|h| h.scored.holds_quote()).take(QUOTED_MAX);
    for h in best.chain(quoted) {
        found.add_seed(units, Rc::clone(&h.unit), (h.total * scale).min(1.0), Some(h.scored));
    }
}

/// Hits in tests, documents and configuration that are no seeds.
fn add_text(units: &mut Units, found: &mut Found, hits: &[Hit], seeds: &[Role], scale: f64) {
    for role in [Role::Test, Role::Doc, Role::Config] {
        if seeds.contains(&role) {
            continue;
        }
        for h in hits.iter().filter(|h| h.role == role).take(TEXT_PER_ROLE) {
            if let Some(c) = found.push(units, Rc::clone(&h.unit), Origin::Text) {
                c.seed_score = (h.total * scale).min(1.0);
                c.scored = Some(h.scored);
                c.distance = 1;
                c.evidence = TEXT_EVIDENCE;
            }
        }
    }
}

/// What the modules of the best seeds export (C-62): the other definitions at file level that are visible
/// outside, in source order.
fn add_exports(
    units: &mut Units,
    found: &mut Found,
    starts: &[Rc<Unit>],
    scores: &FxHashMap<UnitKey, usize>,
    hits: &[Hit],
    scale: f64,
) {
    let mut left = EXPORTS_MAX;
    let mut seen: FxHashSet<FileDoc> = FxHashSet::default();
    for seed in starts.iter().filter(|s| seen.insert(s.file)) {
        for c in units.file(seed.file).chunks.clone() {
            let unit = units.of_chunk(ChunkDoc(c));
            let is_export = unit.def.some().map(|d| units.def(d)).is_some_and(|def| {
                def.flags.has(DefFlags::EXPORTED) && def.parent.some().is_none() && unit.kind.is_definition()
            });
            if left == 0 || !is_export {
                continue;
            }
            let hit = scores.get(&unit.key).map(|i| &hits[*i]);
            if let Some(c) = found.push(units, unit, Origin::Export) {
                left -= 1;
                c.distance = 1;
                if let Some(h) = hit {
                    c.seed_score = (h.total * scale).min(1.0);
                    c.scored = Some(h.scored);
                }
            }
        }
    }
}

/// The units around seeds in their files, nearest first.
fn add_neighbours(
    units: &mut Units,
    found: &mut Found,
    starts: &[Rc<Unit>],
    scores: &FxHashMap<UnitKey, usize>,
    hits: &[Hit],
    scale: f64,
) {
    for seed in starts {
        let range = units.file(seed.file).chunks.clone();
        let first = seed.key.0.0;
        let last = seed.chunks[seed.chunks.len() - 1].0;
        let mut near: FxHashSet<UnitKey> = FxHashSet::default();
        for step in 1..=NEIGHBOURS_PER_SEED as u32 {
            let sides = [
                last.checked_add(step).filter(|c| range.contains(c)),
                first.checked_sub(step).filter(|c| range.contains(c)),
            ];
            for c in sides.into_iter().flatten() {
                let unit = units.of_chunk(ChunkDoc(c));
                if near.len() >= NEIGHBOURS_PER_SEED || !near.insert(unit.key) {
                    continue;
                }
                let hit = scores.get(&unit.key).map(|i| &hits[*i]);
                if let Some(c) = found.push(units, unit, Origin::Neighbour) {
                    c.distance = 1;
                    c.beside = Some(seed.lines().start);
                    if let Some(h) = hit {
                        c.seed_score = (h.total * scale).min(1.0);
                        c.scored = Some(h.scored);
                    }
                }
            }
        }
    }
}

/// The units a focus names.
fn focused(
    units: &mut Units,
    sources: &mut Sources,
    focus: &Focus,
    unreadable: &mut Vec<(String, DropReason)>,
) -> Result<Vec<Rc<Unit>>, PackError> {
    let missing = |what: &str| PackError::InvalidRequest {
        detail: format!("focus names nothing in the index: {what}"),
    };
    let view = units.view;
    if let Some(path) = &focus.file_rel_path {
        let file = view.file_by_path(path).ok_or_else(|| missing(path))?;
        let record = units.file(file);
        match record.outcome {
            Outcome::Sensitive => unreadable.push((path.clone(), DropReason::Sensitive)),
            Outcome::Binary => unreadable.push((path.clone(), DropReason::Binary)),
            Outcome::TooLarge => unreadable.push((path.clone(), DropReason::TooLarge)),
            _ => {}
        }
        let mut out: Vec<Rc<Unit>> = Vec::new();
        for c in record.chunks.clone() {
            let unit = units.of_chunk(ChunkDoc(c));
            if out.last().is_none_or(|u| u.key != unit.key) {
                out.push(unit);
            }
        }
        return Ok(out);
    }
    if let Some(id) = &focus.symbol_id {
        let name = last_name(id);
        for def in view.defs_named(&name).into_iter().take(FOCUS_DEFS_MAX) {
            if sources.symbol(view, def).is_some_and(|s| s.0 == *id) {
                return Ok(units.of_def(def).into_iter().collect());
            }
        }
        return Err(missing(id));
    }
    let id = focus.chunk_uid.as_deref().unwrap_or("");
    find_chunk(units, sources, id).map(|u| vec![u]).ok_or_else(|| missing(id))
}

/// A chunk uid says nothing about its place, so the files are read until one has it.
fn find_chunk(units: &mut Units, sources: &mut Sources, id: &str) -> Option<Rc<Unit>> {
    for file in units.view.files() {
        for c in units.file(file).chunks.clone() {
            let unit = units.of_chunk(ChunkDoc(c));
            if unit.key.0.0 == c && sources.uid(units, &unit).to_string() == id {
                return Some(unit);
            }
        }
    }
    None
}

/// The name in the last descriptor of a SCIP symbol: `a/T#m().` gives `m`.
fn last_name(symbol: &str) -> String {
    let trimmed = symbol.trim_end_matches(['.', '(', ')', '#', '/', ':']);
    if let Some(inner) = trimmed.strip_suffix('`') {
        let start = inner.rfind('`').map_or(0, |i| i + 1);
        return inner[start..].to_owned();
    }
    let start = trimmed.rfind(['/', '#', '.', ' ', '`']).map_or(0, |i| i + 1);
    trimmed[start..].to_owned()
}

/// Whether a unit holds a statement of imports: read off the imports of its file.
pub fn has_import(view: &dyn IndexView, unit: &Unit) -> bool {
    let interface = view.interface(unit.file);
    interface.imports.iter().any(|i| unit.spans.iter().any(|(s, _)| s.contains(i.span)))
}
