//! The one way from a request to a pack.

use crate::candidate::{self, Candidate};
use crate::config::Config;
use crate::dedup::{Fate, are_equal, dedup, seem_equal};
use crate::error::PackError;
use crate::excerpt::{self, LineScores, Plan, Room};
use crate::gather::{self, Gathered};
use crate::identity::{Source, Sources};
use crate::pack::{Budgets, DropReason, Pack, Scores};
use crate::query::Query;
use crate::render::{self, Block, Rendered, Run};
use crate::request::{Request, Resolved};
use crate::retrieve::Role;
use crate::sections::{Traits, claim, sections};
use crate::select::{Cost, Entry, GAP, Limits, Offers, Selection, select};
use crate::unit::Units;
use crate::write;
use indexd_model::{ChunkKind, EdgeKind, FileDoc, IndexView, Language, Lines};
use indexd_text::{CachedCounter, LineMatcher, TokenCounter};
use rustc_hash::FxHashMap;
use std::iter::once;
use std::ops::Range;
use std::rc::Rc;

/// What a build needs besides the index and the request.
pub struct Context<'a> {
    /// Weights and defaults.
    pub config: &'a Config,
    /// The counter that the request names.
    pub counter: &'a dyn TokenCounter,
    /// Whether the caller has withdrawn the request; asked between records.
    pub cancel: &'a dyn Fn() -> bool,
    /// Version of the tool; part of the pack's identity.
    pub tool_version: &'a str,
    /// The workspace.
    pub repo_id: &'a str,
    /// [`Resolved::normalised`] of the request, where the caller has it already.
    pub normalised: Option<&'a str>,
    /// ISO time for `createdAt`.
    pub created_at: &'a str,
    /// Whether the indexed bytes of a path equal the blob at HEAD (C-06).
    pub matches_head: &'a dyn Fn(&str) -> bool,
    /// Called with the name of each stage as it ends, so that a caller with a clock can time it.
    pub stage: &'a dyn Fn(&'static str),
    /// Called for each candidate once the pack is made, best first, so that a caller can log how it
    /// was scored and where it ended.
    pub decided: &'a dyn Fn(&Decision),
}

/// How one candidate was scored and where it ended: places and numbers, no text.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision<'a> {
    /// Path of its file.
    pub path: &'a str,
    /// Its lines.
    pub lines: Lines,
    /// The section that claims it.
    pub section: Option<&'static str>,
    /// Its scores.
    pub scores: Scores,
    /// `included`, `merged`, or the reason why it was left out ([`DropReason::name`]).
    pub outcome: &'static str,
}

/// Builds the pack that answers `request` from one snapshot.
///
/// The same view, request, configuration and tool version give the same canonical bytes. An empty
/// result is a success with a warning; a budget of 0 gives an empty pack.
///
/// # Errors
/// Those of [`Request::resolve`]; [`PackError::IndexMissing`] for a pinned signature that is not the
/// view's; [`PackError::TokenCount`] when the counter is not the one asked for;
/// [`PackError::Cancelled`]; [`PackError::ContextOverflow`] when the rendering came out above the
/// budget, which would be a bug.
pub fn build(view: &dyn IndexView, request: &Request, ctx: &Context) -> Result<Pack, PackError> {
    let mut assembly = Assembly::new(view, request, ctx)?;
    assembly.select();
    (ctx.stage)("select");
    assembly.fit()?;
    (ctx.stage)("render");
    let pack = write::pack(&mut assembly);
    write::decisions(&assembly);
    (ctx.stage)("write");
    Ok(pack)
}

/// What would be in the pack, without rendering it: the same items with estimated counts, and an
/// empty `rendered`.
///
/// # Errors
/// As [`build`], without [`PackError::ContextOverflow`].
pub fn preview(view: &dyn IndexView, request: &Request, ctx: &Context) -> Result<Pack, PackError> {
    let mut assembly = Assembly::new(view, request, ctx)?;
    assembly.select();
    assembly.tokens = assembly.selection.chosen.iter().map(|c| c.1.tokens).sum();
    Ok(write::pack(&mut assembly))
}

/// A candidate that has its section.
pub(crate) struct Claimed {
    pub candidate: Candidate,
    pub section: Option<usize>,
    pub also: Vec<&'static str>,
    pub traits: Traits,
    /// Candidates with the same content.
    pub merged: Vec<usize>,
    pub state: State,
}

/// Where a candidate ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    Open,
    Included,
    Merged,
    Dropped(DropReason),
}

/// A pack in the making.
pub(crate) struct Assembly<'a> {
    pub ctx: &'a Context<'a>,
    pub request: Resolved,
    pub budgets: Budgets,
    pub query: Query,
    pub units: Units<'a>,
    pub sources: Sources,
    pub gathered: Gathered,
    pub section_names: Vec<&'static str>,
    pub shares: Vec<u32>,
    pub claimed: Vec<Claimed>,
    pub plans: FxHashMap<usize, Plan>,
    /// The tokens of the parts of each plan whose cost was asked for.
    pub counted: FxHashMap<usize, u64>,
    pub selection: Selection,
    pub rendered: String,
    pub tokens: u64,
    matcher: LineMatcher,
    /// What the matcher found where it was asked already: the line from the start of the unit, and the
    /// term.
    matched: FxHashMap<usize, Vec<(u32, u32)>>,
    weights: Rc<[f32]>,
    counts: FxHashMap<FileDoc, Cost>,
}

impl<'a> Assembly<'a> {
    fn new(view: &'a dyn IndexView, request: &Request, ctx: &'a Context<'a>) -> Result<Self, PackError> {
        let (resolved, mut budgets) = request.resolve(ctx.config)?;
        let held = view.signature();
        if let Some(asked) = request.index_signature.as_ref().filter(|s| **s != held) {
            return Err(PackError::IndexMissing { asked: asked.clone(), held });
        }
        if ctx.counter.name() != resolved.tokenizer {
            return Err(PackError::TokenCount { detail: format!("no counter named {}", resolved.tokenizer) });
        }
        budgets.exact = ctx.counter.is_exact();
        let ranking = &ctx.config.ranking;
        let mut query = Query::parse(&resolved.query, ranking);
        query.add_forms(f64::from(ranking.derived), f64::from(ranking.synonyms));
        let mut units = Units::new(view);
        let mut sources = Sources::default();
        let mut gathered = gather::gather(&mut units, &mut sources, &resolved, &query, ctx)?;
        let mut candidates = std::mem::take(&mut gathered.candidates);
        candidate::sort(&mut candidates, &resolved, &ctx.config.scoring, &mut units, &mut sources);
        view.will_read(&gather::files_of(candidates.iter().map(|c| &*c.unit)));
        let fates = dedup(&candidates, |a, b| seem_equal(&mut units, &mut sources, a, b));
        let (section_names, shares): (Vec<_>, Vec<_>) =
            sections(resolved.layout, ctx.config).into_iter().unzip();
        let claimed = claim_all(candidates, &fates, &resolved, &section_names, view);
        let terms = &gathered.retrieved.weighted.terms;
        let matcher = LineMatcher::new(terms.iter().map(|t| t.0.as_str()));
        let weights = terms.iter().map(|t| t.1).collect();
        Ok(Self {
            ctx,
            request: resolved,
            budgets,
            query,
            units,
            sources,
            gathered,
            section_names,
            shares,
            claimed,
            plans: FxHashMap::default(),
            counted: FxHashMap::default(),
            selection: Selection::default(),
            rendered: String::new(),
            tokens: 0,
            matcher,
            matched: FxHashMap::default(),
            weights,
            counts: FxHashMap::default(),
        })
    }

    fn select(&mut self) {
        self.select_from_claimed();
        if !self.has_true_twins() {
            self.tell_apart();
            self.select_from_claimed();
        }
        // What is shown is named in the end by its place in the interface.
        let shown = self.selection.chosen.iter().map(|c| &*self.claimed[c.0].candidate.unit);
        self.units.view.will_read_interfaces(&gather::files_of(shown));
    }

    /// Starts over with candidates that were compared by their texts.
    fn tell_apart(&mut self) {
        let claimed = std::mem::take(&mut self.claimed);
        let candidates: Vec<Candidate> = claimed.into_iter().map(|c| c.candidate).collect();
        let (units, sources) = (&mut self.units, &mut self.sources);
        let fates =
            dedup(&candidates, |a, b| seem_equal(units, sources, a, b) && are_equal(units, sources, a, b));
        self.claimed = claim_all(candidates, &fates, &self.request, &self.section_names, self.units.view);
        self.plans.clear();
        self.counted.clear();
        self.matched.clear();
    }

    /// Whether those that were left out for what was chosen have its text. There are dozens of others,
    /// in files that nobody needs to read.
    fn has_true_twins(&mut self) -> bool {
        let unit = |i: usize| &self.claimed[i].candidate.unit;
        self.selection.chosen.iter().all(|&(i, _)| {
            let mut twins = self.claimed[i].merged.iter();
            twins.all(|twin| are_equal(&self.units, &mut self.sources, unit(i), unit(*twin)))
        })
    }

    fn select_from_claimed(&mut self) {
        let caps = self.request.budgets;
        let limits = Limits {
            tokens: self.tokens_max(),
            chars: caps.max_total_chars,
            items: caps.max_items as usize,
            items_per_section: caps.max_items_per_section as usize,
        };
        let entries: Vec<Entry> = self
            .claimed
            .iter()
            .enumerate()
            .filter(|(_, c)| c.state == State::Open)
            .filter_map(|(candidate, c)| {
                Some(Entry { candidate, section: c.section?, has_share: self.has_share(&c.candidate) })
            })
            .collect();
        let shares = self.shares.clone();
        self.selection = select(&entries, &shares, limits, self);
        self.take_over();
        self.keep_minimum();
    }

    /// Whether a candidate has a part in its section's share: what edges found needs something of the
    /// text itself and more than imports or a comment, and helpers of tests show less than a test.
    fn has_share(&self, c: &Candidate) -> bool {
        match c.role {
            _ if c.distance == 0 => true,
            Role::Code => {
                let is_idle = matches!(c.unit.kind, ChunkKind::Imports | ChunkKind::Comment);
                c.seed_score >= self.ctx.config.scoring.share_seed && !is_idle
            }
            Role::Test => {
                let name = c.unit.def.some().map(|d| self.units.view.def(d).name.to_lowercase());
                let is_test = name.is_none_or(|n| n.contains("test") || n.contains("example"));
                c.seed_score > 0.0 && is_test
            }
            Role::Doc | Role::Config => c.seed_score > 0.0,
        }
    }

    /// Marks every candidate as the selection says.
    fn take_over(&mut self) {
        for i in 0..self.selection.chosen.len() {
            self.claimed[self.selection.chosen[i].0].state = State::Included;
        }
        for i in 0..self.selection.refused.len() {
            let (candidate, reason) = self.selection.refused[i];
            let reason = if self.has_no_line(candidate) { DropReason::TooLarge } else { reason };
            self.claimed[candidate].state = State::Dropped(reason);
        }
    }

    /// Whether every line of a candidate is longer than an item may be.
    pub fn has_no_line(&self, i: usize) -> bool {
        self.plans.get(&i).is_some_and(|p| p.parts.is_empty())
    }

    /// With content and a positive budget, the best items are reduced to whole lines until the
    /// guaranteed number is there or nothing fits (C-26). The caps on items hold.
    fn keep_minimum(&mut self) {
        let caps = self.request.budgets;
        let wanted = u64::from(self.ctx.config.min_items).min(caps.max_items);
        for i in 0..self.claimed.len() {
            if self.selection.chosen.len() as u64 >= wanted {
                return;
            }
            if !matches!(self.claimed[i].state, State::Dropped(DropReason::Budget | DropReason::TooLarge)) {
                continue;
            }
            let section = self.claimed[i].section;
            let beside = self.selection.chosen.iter().filter(|c| self.claimed[c.0].section == section);
            if beside.count() as u64 >= caps.max_items_per_section {
                continue;
            }
            let Some(full) = self.plan(i) else { continue };
            // The most lines that fit; counts grow with lines.
            let n_lines = full.parts.iter().map(|p| p.count()).sum::<u32>();
            let (mut low, mut high) = (0, n_lines);
            let mut shown = full.clone();
            let mut bound = full.reason;
            while low < high {
                let mid = (low + high).div_ceil(2);
                let plan = if mid == n_lines { full.clone() } else { excerpt::shorten(&full, mid) };
                self.plans.insert(i, plan.clone());
                match self.limit_passed_with(i) {
                    None => (low, shown) = (mid, plan),
                    Some(limit) => (high, bound) = (mid - 1, Some(limit)),
                }
            }
            if low == 0 {
                self.plans.insert(i, full);
                continue;
            }
            if low < n_lines {
                shown.reason = bound;
            }
            self.plans.insert(i, shown);
            self.claimed[i].state = State::Included;
            self.selection.refused.retain(|r| r.0 != i);
            let cost = self.cost(i).unwrap_or(Cost { tokens: 0, chars: 0 });
            self.selection.chosen.push((i, cost));
        }
    }

    /// The limit that the rendering passes with one more item.
    fn limit_passed_with(&mut self, extra: usize) -> Option<&'static str> {
        let mut chosen: Vec<usize> = self.selection.chosen.iter().map(|c| c.0).collect();
        chosen.push(extra);
        let text = self.render(&chosen).text;
        let caps = self.request.budgets;
        if u64::from(self.ctx.counter.count_tokens(&text)) > caps.max_total_tokens {
            Some("maxTotalTokens")
        } else if text.chars().count() as u64 > caps.max_total_chars {
            Some("maxTotalChars")
        } else {
            None
        }
    }

    /// Tokens that can be used: characters are capped, and no counter finds more than two tokens in
    /// a byte.
    fn tokens_max(&self) -> u64 {
        self.request.budgets.max_total_tokens.min(8 * u64::from(indexd_model::limits::TOTAL_CHARS_MAX))
    }

    /// Renders, counts the whole once, and rolls the last allocations back while it is too much.
    fn fit(&mut self) -> Result<(), PackError> {
        let caps = self.request.budgets;
        loop {
            if (self.ctx.cancel)() {
                return Err(PackError::Cancelled);
            }
            let chosen: Vec<usize> = self.selection.chosen.iter().map(|c| c.0).collect();
            let rendered = self.render(&chosen);
            self.tokens = self.count_rendered(&rendered);
            self.rendered = rendered.text;
            let chars = self.rendered.chars().count() as u64;
            if self.tokens <= caps.max_total_tokens && chars <= caps.max_total_chars {
                return Ok(());
            }
            let Some((last, _)) = self.selection.chosen.pop() else {
                return Err(PackError::ContextOverflow {
                    tokens: self.tokens,
                    budget: caps.max_total_tokens,
                });
            };
            self.claimed[last].state = State::Dropped(DropReason::Budget);
            self.selection.refused.push((last, DropReason::Budget));
        }
    }

    /// The tokens of a rendering as a whole. Excerpts were counted when they were chosen; only what
    /// stands between them is counted, with those of their lines at both ends that could share a
    /// piece of the counter with it.
    fn count_rendered(&self, rendered: &Rendered) -> u64 {
        let Rendered { text, runs } = rendered;
        let count = |part: &str| u64::from(self.ctx.counter.count_tokens(part));
        let (mut total, mut from) = (0, 0);
        for run in runs {
            let Some(inner) = self.sure_part(text, run) else { continue };
            let ends = count(&text[run.start..inner.start]) + count(&text[inner.end..run.end]);
            // Places that are sure add up, so this is what is between them.
            total += count(&text[from..inner.start]) + self.count(&text[run.clone()]) - ends;
            from = inner.end;
        }
        total + count(&text[from..])
    }

    /// The part of a run from the first to the last of its places at which counts add up for sure,
    /// in the run alone as in the whole; `None` when there are no two.
    fn sure_part(&self, text: &str, run: &Range<usize>) -> Option<Range<usize>> {
        let own = &text[run.clone()];
        let is_sure = |at: &usize| {
            let is_inside = 0 < *at && *at < own.len();
            self.ctx.counter.adds_up_at(text, run.start + at)
                && (!is_inside || self.ctx.counter.adds_up_at(own, *at))
        };
        let ends = || own.match_indices('\n').map(|(at, _)| at + 1);
        let first = once(0).chain(ends()).find(is_sure)?;
        let line_starts_back = own.rmatch_indices('\n').map(|(at, _)| at + 1);
        let last = once(own.len()).chain(line_starts_back).find(is_sure)?;
        (first < last).then(|| run.start + first..run.start + last)
    }

    /// The chosen candidates in the order of their sections, then of their ranks.
    pub fn shown(&self, chosen: &[usize]) -> Vec<usize> {
        let mut shown = chosen.to_vec();
        shown.sort_by_key(|i| (self.claimed[*i].section, *i));
        shown
    }

    fn render(&mut self, chosen: &[usize]) -> Rendered {
        let shown = self.shown(chosen);
        let sources: Vec<Rc<Source>> = shown.iter().map(|i| self.source(*i)).collect();
        let blocks: Vec<Block> = shown
            .iter()
            .zip(&sources)
            .map(|(&i, source)| {
                let c = &self.claimed[i];
                let parts = self.plans.get(&i).map_or(&[][..], |p| &p.parts);
                Block {
                    section: c.section.unwrap_or(0),
                    path: &c.candidate.file.path,
                    language: c.candidate.file.language,
                    parts: parts
                        .iter()
                        .map(|l| Run {
                            lines: *l,
                            blank_before: excerpt::blank_before(source, l.start),
                            text: source.slice(source.lines().lines_span(*l)),
                        })
                        .collect(),
                }
            })
            .collect();
        render::render(&self.section_names, &blocks)
    }

    /// The text of a candidate's file.
    pub fn source(&mut self, i: usize) -> Rc<Source> {
        self.sources.of(self.units.view, self.claimed[i].candidate.unit.file)
    }

    /// The plan of a candidate's excerpt, made once.
    fn plan(&mut self, i: usize) -> Option<Plan> {
        if let Some(plan) = self.plans.get(&i) {
            return Some(plan.clone());
        }
        let source = self.source(i);
        if source.text.is_empty() {
            return None;
        }
        let room = self.room(i);
        let unit = Rc::clone(&self.claimed[i].candidate.unit);
        let head = unit.def.some().map(|d| self.units.view.def(d).head.start);
        let e = self.ctx.config.excerpts;
        let size: u32 = unit.spans.iter().map(|(s, _)| s.len()).sum();
        let fits_whole = size as usize <= room.whole_bytes.min(room.bytes);
        let scores = (!fits_whole).then(|| self.line_scores(i, &source));
        let plan = excerpt::plan(&unit, &source, head, scores.as_ref(), room, &e);
        self.plans.insert(i, plan.clone());
        Some(plan)
    }

    /// How much of a candidate may be shown: seeds get room by the budget, neighbours little.
    fn room(&self, i: usize) -> Room {
        let e = self.ctx.config.excerpts;
        let bytes = self.request.budgets.max_bytes_per_item as usize;
        let budget_bytes = self.tokens_max() as usize * BYTES_PER_TOKEN;
        let c = &self.claimed[i].candidate;
        let is_seed = c.origin == candidate::Origin::Seed;
        let percent = if is_seed {
            let of_rank = (e.first_percent as f32 / (1.0 + e.fade * i as f32)).min(e.most_percent as f32);
            let is_type = i > 0 && c.unit.kind == ChunkKind::Type;
            let of_kind = if is_type { e.type_percent as f32 } else { 100.0 };
            of_rank.min(of_kind).max(e.least_percent as f32)
        } else if c.role == Role::Test {
            e.test_percent as f32
        } else {
            e.neighbour_percent as f32
        };
        let whole_bytes = (budget_bytes as f32 * percent / 100.0) as usize;
        let lines = if is_seed {
            (whole_bytes / BYTES_PER_LINE).max(e.head_lines as usize)
        } else {
            e.neighbour_lines as usize
        };
        let head_lines = if is_seed { e.head_lines } else { e.neighbour_head_lines };
        Room { bytes, lines: lines as u32, whole_bytes, head_lines }
    }

    /// Terms of the query by line, and the places of edges.
    fn line_scores(&mut self, i: usize, source: &Source) -> LineScores {
        let c = &self.claimed[i].candidate;
        let lines = c.unit.lines();
        let n = lines.count() as usize;
        let mut hits = Vec::new();
        self.matcher.find(source.slice(source.lines().lines_span(lines)), &mut hits);
        hits.sort_unstable();
        hits.dedup();
        let mut terms = vec![Vec::new(); n];
        for &(line, term) in &hits {
            if let Some(at) = terms.get_mut(line as usize) {
                at.push(term);
            }
        }
        self.matched.insert(i, hits);
        let top = self.weights.iter().sum::<f32>().max(1.0);
        let mut places = vec![0.0; n];
        for step in &c.path {
            let place = step.evidence.filter(|_| {
                step.kind != EdgeKind::Import && self.units.view.def(step.site).file == c.unit.file
            });
            if let Some(o) = place.filter(|o| lines.start <= o.line && o.line <= lines.end) {
                places[(o.line - lines.start) as usize] += top;
            }
        }
        LineScores { terms, places, weights: Rc::clone(&self.weights) }
    }

    /// The terms of the query on each line of a unit, for evidence: `(line, term)`.
    pub fn line_terms(&mut self, i: usize, source: &Source) -> Vec<(u32, u32)> {
        let lines = self.claimed[i].candidate.unit.lines();
        let hits = self.matched.remove(&i).unwrap_or_else(|| {
            let mut hits = Vec::new();
            self.matcher.find(source.slice(source.lines().lines_span(lines)), &mut hits);
            hits
        });
        hits.iter().map(|(line, term)| (line + lines.start, *term)).collect()
    }

    /// The term at a position of [`Assembly::line_terms`], with its weight.
    pub fn term(&self, term: u32) -> (&str, f32) {
        let t = &self.gathered.retrieved.weighted.terms[term as usize];
        (&t.0, t.1)
    }

    pub fn count(&self, text: &str) -> u64 {
        let key = CachedCounter::key(text);
        let stored = self.units.view.token_count(self.ctx.counter.name(), key);
        u64::from(stored.unwrap_or_else(|| self.ctx.counter.count_tokens(text)))
    }
}

/// Typical bytes of code by token and by line; estimates only, everything is counted in the end.
const BYTES_PER_TOKEN: usize = 3;
const BYTES_PER_LINE: usize = 34;
/// Source rarely has more bytes to a token, headers included; a bound for pruning.
const BYTES_PER_TOKEN_MAX: u64 = 7;

impl Offers for Assembly<'_> {
    fn at_least(&self, candidate: usize) -> u64 {
        if self.plans.contains_key(&candidate) {
            return 0;
        }
        let unit = &self.claimed[candidate].candidate.unit;
        let e = &self.ctx.config.excerpts;
        excerpt::bytes_at_least(unit, self.room(candidate), e) / BYTES_PER_TOKEN_MAX
    }

    fn cost(&mut self, candidate: usize) -> Option<Cost> {
        let plan = self.plan(candidate).filter(|p| !p.parts.is_empty())?;
        let source = self.source(candidate);
        let gaps = plan.parts.len().saturating_sub(1) as u64;
        let mut cost = Cost { tokens: 0, chars: gaps * GAP.chars };
        for part in &plan.parts {
            let text = source.slice(source.lines().lines_span(*part));
            cost.tokens += self.count(text);
            cost.chars += text.chars().count() as u64;
        }
        self.counted.insert(candidate, cost.tokens);
        cost.tokens += gaps * GAP.tokens;
        Some(cost)
    }

    fn header(&mut self, candidate: usize) -> Cost {
        let c = &self.claimed[candidate].candidate;
        if let Some(cost) = self.counts.get(&c.unit.file) {
            return *cost;
        }
        let mut text = String::new();
        render::header(&c.file.path, Lines { start: 10_000, end: 99_999 }, &mut text);
        text.push_str("```");
        text.push_str(c.file.language.id());
        text.push_str("\n```\n\n");
        let cost = Cost {
            tokens: u64::from(self.ctx.counter.count_tokens(&text)),
            chars: text.chars().count() as u64,
        };
        self.counts.insert(self.claimed[candidate].candidate.unit.file, cost);
        cost
    }

    fn group(&self, candidate: usize) -> u32 {
        self.claimed[candidate].candidate.unit.file.0
    }

    fn is_beside(&mut self, a: usize, b: usize) -> bool {
        let source = self.source(a);
        let ends = |plan: &Plan| Some((plan.parts.first()?.start, plan.parts.last()?.end));
        let (Some(a), Some(b)) = (self.plans.get(&a).and_then(ends), self.plans.get(&b).and_then(ends))
        else {
            return false;
        };
        let (first, second) = if a < b { (a, b) } else { (b, a) };
        second.0 > first.1 && second.0 - first.1 - 1 <= excerpt::blank_before(&source, second.0)
    }
}

fn claim_all(
    candidates: Vec<Candidate>,
    fates: &[Fate],
    request: &Resolved,
    names: &[&str],
    view: &dyn IndexView,
) -> Vec<Claimed> {
    let mut out: Vec<Claimed> = Vec::with_capacity(candidates.len());
    for (i, candidate) in candidates.into_iter().enumerate() {
        // Only the six-section layout asks for imports, and they cost a look at the facts. Go has
        // none inside definitions.
        let asks = request.layout == crate::request::Layout::Agent
            && (candidate.unit.def.some().is_none() || candidate.file.language != Language::Go);
        let traits = Traits::of(&candidate, asks && gather::has_import(view, &candidate.unit));
        let (section, also) = claim(&candidate, traits, request.layout, request.seed_mode);
        let section = section.and_then(|s| names.iter().position(|n| *n == s));
        let state = match fates[i] {
            Fate::SameAs(first) => {
                out[first].merged.push(i);
                State::Merged
            }
            Fate::Overlaps(_) => State::Dropped(DropReason::Overlap),
            Fate::Kept if section.is_none() => State::Dropped(DropReason::NoRule),
            Fate::Kept => State::Open,
        };
        out.push(Claimed { candidate, section, also, traits, merged: Vec::new(), state });
    }
    out
}
