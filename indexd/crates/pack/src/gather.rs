//! Collects the candidates of a request: seeds, units reached from them by edges, tests and documents that
//! match the text, and neighbours.

use crate::candidate::{Candidate, Origin};
use crate::confidence;
use crate::config::ExpansionBounds;
use crate::context::Context;
use crate::error::PackError;
use crate::expand::{self, Expanded, Reached};
use crate::expected;
use crate::graph::names::last_name;
use crate::identity::Sources;
use crate::intent::Row;
use crate::naming::Named;
use crate::pack::{Confidence, DropReason, ExpansionReport};
use crate::query::{Kind, Query};
use crate::request::{EdgeType, Focus, Resolved, SeedMode, Strictness};
use crate::retrieve::{Hit, Retrieved, retrieve};
use crate::role::{Role, is_test_by_content};
use crate::score::Scored;
use crate::unit::{Unit, UnitKey, Units};
use indexd_model::{ChunkDoc, DefFlags, FileDoc, IndexView, Outcome, limits};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Maximum candidates found by text alone, for each role of file.
const TEXT_PER_ROLE: usize = 16;
/// Evidence of candidates found by text alone. An edge to a seed counts more, but not so much that any test
/// of a seed precedes the test that contains the words of the text.
const TEXT_EVIDENCE: f64 = 0.5;
/// Maximum candidates among the exports of the modules of seeds.
const EXPORTS_MAX: usize = 24;
/// Maximum neighbours of one seed.
const NEIGHBOURS_PER_SEED: usize = 4;
/// With fewer candidates by edges than this, the graph is sparse, and neighbours fill `related`.
const SPARSE_BELOW: usize = 3;
/// Maximum units with a quoted text that are seeds regardless of rank and role.
pub const QUOTED_MAX: usize = 6;
/// Maximum definitions that are read to find the definition of a symbol id.
const FOCUS_DEFS_MAX: usize = 512;

/// The candidates of a request, and how they were found.
pub struct Gathered {
    /// Candidates, unordered.
    pub candidates: Vec<Candidate>,
    /// Candidates that were dropped already, with the reason.
    pub dropped: Vec<(Candidate, DropReason)>,
    /// Named files without chunks, by path.
    pub unreadable: Vec<(String, DropReason)>,
    /// The extent of the expansion.
    pub report: ExpansionReport,
    /// Retrieval score of every hit, and the input of that score.
    pub scores: FxHashMap<UnitKey, (f64, Option<Scored>)>,
    /// True if there are more hits than may be seeds.
    pub is_cut: bool,
    /// The factor that maps the best total to 1.
    pub scale: f64,
    /// The result of retrieval.
    pub retrieved: Retrieved,
    /// What the answer rests on, and how sure it can be.
    pub confidence: Confidence,
    /// The expectations of the query that no code holds, as written.
    pub missing: Vec<String>,
    /// Definitions that the text names, if it consists of their names: hits are not shown then.
    pub n_named: Option<usize>,
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
    let weights = row.weights(&ctx.tuning.weights);
    let mut retrieved = retrieve(units, query, named, &weights, request.seed_provider, ctx.cancel);
    (ctx.stage)("retrieve");
    if (ctx.cancel)() {
        return Err(PackError::Cancelled);
    }
    let missing = expected::missing(units.view, query);
    let confidence = confidence::of(query, named, &retrieved, missing.len());
    let mut hits = std::mem::take(&mut retrieved.hits);
    mark_tests(units, &mut hits);
    let roles = seed_roles(request.seed_mode, query, &hits);
    let top = hits.iter().filter(|h| roles.contains(&h.role)).map(|h| h.total).fold(0.0, f64::max);
    let scale = if top > 0.0 { 1.0 / top } else { 0.0 };
    let mut found = Found::new(&hits, scale);
    let mut unreadable = Vec::new();
    add_certain(units, sources, &mut found, request, query, named, &mut unreadable)?;
    let width = width(request);
    let (bounds, seeds_max) = (config.expansion.times(width), seeds_max(ctx, width));
    add_seeds(units, &mut found, named, &hits, &roles, seeds_max);
    let starts: Vec<Rc<Unit>> =
        found.candidates.iter().take(bounds.seeds as usize).map(|c| Rc::clone(&c.unit)).collect();
    let (n_reached, unproven, report) = add_reached(units, &mut found, request, &starts, &bounds, ctx)?;
    if request.expansion.edge_types.contains(&EdgeType::Export) && request.expansion.max_hops > 0 {
        add_exports(units, &mut found, &starts);
    }
    add_text(units, &mut found, &hits, &roles);
    let is_sparse = n_reached < SPARSE_BELOW && !request.is_change_alone();
    if request.expansion.include_same_file_neighbors || is_sparse {
        add_neighbours(units, &mut found, &starts);
    }
    let mut dropped: Vec<(Candidate, DropReason)> =
        unproven.into_iter().map(|c| (c, DropReason::NoEvidence)).collect();
    for c in found.candidates.iter_mut().chain(dropped.iter_mut().map(|d| &mut d.0)) {
        c.score(&config.scoring);
    }
    Ok(Gathered {
        is_cut: hits.len() > seeds_max,
        scale,
        scores: found.scores,
        candidates: found.candidates,
        dropped,
        unreadable,
        report,
        retrieved,
        confidence,
        missing,
        n_named: named.is_all.then_some(named.defs.len()),
    })
}

/// Gives definitions that are tests by their content the role of tests.
fn mark_tests(units: &mut Units, hits: &mut [Hit]) {
    for h in hits.iter_mut().filter(|h| h.role == Role::Code) {
        if is_test_by_content(units, &h.unit) {
            h.role = Role::Test;
        }
    }
}

/// The factor by which a pack may have more candidates than usual. It grows with the budget and the limit on
/// items.
fn width(request: &Resolved) -> u32 {
    let caps = request.budgets;
    let by_tokens = 1 + caps.max_total_tokens / USUAL_TOKENS;
    by_tokens.min(caps.max_items / USUAL_ITEMS).clamp(1, WIDTH_MAX) as u32
}

/// Maximum hits that are seeds: the usual number, or for a large pack the limit of a section.
fn seeds_max(ctx: &Context, width: u32) -> usize {
    let usual = ctx.tuning.seeds_max;
    usual.saturating_mul(width).min(usual.max(limits::ITEMS_PER_SECTION_MAX)) as usize
}

/// Packs up to this number of tokens, or of items, have the usual number of candidates.
const USUAL_TOKENS: u64 = 16_000;
const USUAL_ITEMS: u64 = 60;

/// Maximum of [`width`].
const WIDTH_MAX: u64 = 8;

/// Adds the seeds that need no search: the focus, the changed definitions, the definitions that the text
/// names.
fn add_certain(
    units: &mut Units,
    sources: &mut Sources,
    found: &mut Found,
    request: &Resolved,
    query: &Query,
    named: &Named,
    unreadable: &mut Vec<(String, DropReason)>,
) -> Result<(), PackError> {
    let mut certain = match &request.focus {
        Some(focus) => focused(units, sources, focus, unreadable)?,
        None => Vec::new(),
    };
    certain.extend_from_slice(&named.changed);
    if matches!(query.kind, Kind::Name | Kind::Question) {
        certain.extend_from_slice(&named.meant);
    }
    for unit in certain {
        if let Some(c) = found.push(units, unit, Origin::Seed) {
            (c.seed_score, c.scored, c.evidence) = (1.0, None, 1.0);
        }
    }
    Ok(())
}

/// Adds the units that edges lead to. Returns their number, the units without the required evidence, and the
/// extent of the walk.
fn add_reached(
    units: &mut Units,
    found: &mut Found,
    request: &Resolved,
    starts: &[Rc<Unit>],
    bounds: &ExpansionBounds,
    ctx: &Context,
) -> Result<(usize, Vec<Candidate>, ExpansionReport), PackError> {
    let is_strict = request.strictness == Strictness::Strict;
    // A change without a text has lanes of its own and needs no walk.
    let walked = if request.is_change_alone() { &[][..] } else { starts };
    let Expanded { reached, unproven, mut report } =
        expand::expand(units, walked, &request.expansion, is_strict, bounds, ctx.cancel)?;
    report.seeds_found = found.candidates.len() as u32;
    (ctx.stage)("expand");
    let n_reached = reached.len();
    found.add_reached(units, reached);
    // Units without the required evidence must not return as neighbours.
    let n_proven = found.candidates.len();
    found.add_reached(units, unproven);
    Ok((n_reached, found.candidates.split_off(n_proven), report))
}

/// Returns the roles of files whose hits are seeds. Tests and documents have sections of their own. Their
/// hits are seeds only if the text asks about them, if the mode says so, or if there are no other hits.
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

/// The candidates found so far.
struct Found {
    at: FxHashMap<UnitKey, usize>,
    candidates: Vec<Candidate>,
    /// As in [`Gathered::scores`].
    scores: FxHashMap<UnitKey, (f64, Option<Scored>)>,
}

impl Found {
    /// Creates an empty collection. The scores of hits are multiplied by `scale`.
    fn new(hits: &[Hit], scale: f64) -> Self {
        let score = |h: &Hit| (h.unit.key, ((h.total * scale).min(1.0), Some(h.scored)));
        Self { at: FxHashMap::default(), candidates: Vec::new(), scores: hits.iter().map(score).collect() }
    }

    /// Adds a unit unless it was found before, with its retrieval score.
    fn push(&mut self, units: &mut Units, unit: Rc<Unit>, origin: Origin) -> Option<&mut Candidate> {
        if self.at.contains_key(&unit.key) {
            return None;
        }
        self.at.insert(unit.key, self.candidates.len());
        let score = self.scores.get(&unit.key).copied().unwrap_or_default();
        let file = units.file(unit.file);
        let distance = u32::from(origin != Origin::Seed);
        let mut candidate = Candidate { origin, distance, ..Candidate::new(unit, file, score) };
        if candidate.role == Role::Code && is_test_by_content(units, &candidate.unit) {
            candidate.role = Role::Test;
        }
        self.candidates.push(candidate);
        self.candidates.last_mut()
    }

    fn add_reached(&mut self, units: &mut Units, reached: Vec<Reached>) {
        for r in reached {
            if let Some(c) = self.push(units, r.unit, Origin::Edge) {
                c.distance = r.path.len() as u32;
                c.path = r.path;
                c.evidence = r.evidence;
                c.has_gap = r.has_gap;
            }
        }
    }
}

/// Adds the best hits in files with these roles, and units that contain a phrase of the text in any file.
fn add_seeds(
    units: &mut Units,
    found: &mut Found,
    named: &Named,
    hits: &[Hit],
    roles: &[Role],
    n_max: usize,
) {
    // The words of an exact name would only find similar names.
    let asked = if named.is_all { &[][..] } else { hits };
    let best = asked.iter().filter(|h| roles.contains(&h.role)).take(n_max);
    let quoted = hits.iter().filter(|h| h.scored.holds_quote()).take(QUOTED_MAX);
    for h in best.chain(quoted) {
        if let Some(c) = found.push(units, Rc::clone(&h.unit), Origin::Seed) {
            c.evidence = 1.0;
        }
    }
}

/// Adds hits in tests, documents and configuration that are not seeds.
fn add_text(units: &mut Units, found: &mut Found, hits: &[Hit], seeds: &[Role]) {
    for role in [Role::Test, Role::Doc, Role::Config] {
        if seeds.contains(&role) {
            continue;
        }
        for h in hits.iter().filter(|h| h.role == role).take(TEXT_PER_ROLE) {
            if let Some(c) = found.push(units, Rc::clone(&h.unit), Origin::Text) {
                c.evidence = TEXT_EVIDENCE;
            }
        }
    }
}

/// Adds the exports of the modules of the best seeds: other definitions at file level that are visible
/// outside, in source order.
fn add_exports(units: &mut Units, found: &mut Found, starts: &[Rc<Unit>]) {
    let mut left = EXPORTS_MAX;
    let mut seen: FxHashSet<FileDoc> = FxHashSet::default();
    for seed in starts.iter().filter(|s| seen.insert(s.file)) {
        for unit in units.in_file(seed.file) {
            let is_export = unit.def.some().map(|d| units.def(d)).is_some_and(|def| {
                def.flags.has(DefFlags::EXPORTED) && def.parent.some().is_none() && unit.kind.is_definition()
            });
            if left > 0 && is_export && found.push(units, unit, Origin::Export).is_some() {
                left -= 1;
            }
        }
    }
}

/// Adds the units around seeds in their files, nearest first.
fn add_neighbours(units: &mut Units, found: &mut Found, starts: &[Rc<Unit>]) {
    for seed in starts {
        let range = units.file(seed.file).chunks.clone();
        let first = seed.key.0.0;
        let last = seed.chunks[seed.chunks.len() - 1].0;
        let mut near: FxHashSet<UnitKey> = FxHashSet::default();
        for step in 1..=NEIGHBOURS_PER_SEED as u32 {
            let sides = [last.checked_add(step), first.checked_sub(step)];
            for c in sides.into_iter().flatten().filter(|c| range.contains(c)) {
                let unit = units.of_chunk(ChunkDoc(c));
                if near.len() >= NEIGHBOURS_PER_SEED || !near.insert(unit.key) {
                    continue;
                }
                if let Some(c) = found.push(units, unit, Origin::Neighbour) {
                    c.beside = Some(seed.lines().start);
                }
            }
        }
    }
}

/// Returns the units that the focus names.
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
        return Ok(units.in_file(file));
    }
    if let Some(id) = &focus.symbol_id {
        for def in view.defs_named(last_name(id)).into_iter().take(FOCUS_DEFS_MAX) {
            if sources.symbol(view, def).is_some_and(|s| s.0 == *id) {
                return Ok(units.of_def(def).into_iter().collect());
            }
        }
        return Err(missing(id));
    }
    let id = focus.chunk_uid.as_deref().unwrap_or("");
    find_chunk(units, sources, id).map(|u| vec![u]).ok_or_else(|| missing(id))
}

/// A chunk uid does not contain its place, so files are read until one of them has it.
fn find_chunk(units: &mut Units, sources: &mut Sources, id: &str) -> Option<Rc<Unit>> {
    for file in units.view.files() {
        let all = units.in_file(file);
        if let Some(unit) = all.into_iter().find(|unit| sources.uid(units, unit).to_string() == id) {
            return Some(unit);
        }
    }
    None
}

/// True if a unit contains an import statement, according to the imports of its file.
pub fn has_import(view: &dyn IndexView, unit: &Unit) -> bool {
    let interface = view.interface(unit.file);
    interface.imports.iter().any(|i| unit.spans.iter().any(|(s, _)| s.contains(i.span)))
}
