//! Chooses what a pack shows, and in which form, within the budget.
//!
//! Room is given out lane by lane: what the text names with its neighbourhood, the best hits, heads of
//! what the shown code refers to, who calls it, its tests, documents; then whatever is left to the best
//! of all. The room of a lane is a share of the *scale*, a size near the budget that many budgets have
//! in common, so that a pack of N tokens asked for again with a budget of N comes out the same. In
//! its lane an item is refused only because it does not fit, and better ones are offered first.

mod changes;

pub use changes::Changed;

use crate::candidate::{self, Candidate, Origin};
use crate::context::Context;
use crate::dedup::{Fate, are_equal, dedup, seem_equal};
use crate::error::PackError;
use crate::excerpt::{self, Form, LineScores, Plan, Room};
use crate::gather::{self, Gathered};
use crate::identity::{Source, Sources};
use crate::links::{self, Allowed, Link, Shown};
use crate::naming::{self, Named};
use crate::pack::{Budgets, DropReason};
use crate::page::{Page, Size, Spot};
use crate::query::Query;
use crate::render::{self, Zone};
use crate::request::{Layout, Request, Resolved, Stop};
use crate::role::{Role, role_of};
use crate::sections::{Traits, claim, sections};
use crate::unit::{Unit, UnitKey, Units, files_of};
use indexd_model::limits::TOTAL_CHARS_MAX;
use indexd_model::{ChunkKind, EdgeKind, FileDoc, IndexView, Language, Lines};
use indexd_text::{LineMatcher, one_line};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A candidate that has its section.
pub struct Claimed {
    /// The candidate.
    pub candidate: Candidate,
    /// The position of its section; `None` where no rule claims it.
    pub section: Option<usize>,
    /// Sections that would have claimed it, too.
    pub also: Vec<&'static str>,
    /// What it is.
    pub traits: Traits,
    /// Candidates with the same content.
    pub merged: Vec<usize>,
    /// Where it ended.
    pub state: State,
    /// What is shown of it, or would have been.
    pub plan: Option<Plan>,
    /// Tokens of what is shown of it, counted by parts.
    pub tokens: u64,
    /// What connects it with other items, filled in when the pack is written.
    pub relations: Vec<String>,
}

/// Where a candidate ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Not decided yet.
    Open,
    /// It is an item.
    Included,
    /// It has the content of another candidate.
    Merged,
    /// It was left out.
    Dropped(DropReason),
}

/// What was chosen, with all that writing the pack needs.
pub struct Selected<'a> {
    /// The request in force.
    pub request: Resolved,
    /// The limits in force.
    pub budgets: Budgets,
    /// The text of the request, understood.
    pub query: Query,
    /// Units that were read.
    pub units: Units<'a>,
    /// Texts and identities that were read.
    pub sources: Sources,
    /// What was found.
    pub gathered: Gathered,
    /// What the change of the request does, and what is shown of it.
    pub changed: Option<Changed<'a>>,
    /// Names of the sections.
    pub section_names: Vec<&'static str>,
    /// All candidates, best first; those that only the shown code led to come last.
    pub claimed: Vec<Claimed>,
    /// The items in the order of the pack.
    pub shown: Vec<usize>,
    /// The text.
    pub rendered: String,
    /// Its size.
    pub size: Size,
    /// What the best match needs at least, where it has no room.
    pub needed: Option<Size>,
    /// What the matcher found where it was asked already: the line from the start of the unit, and the
    /// term.
    matched: FxHashMap<usize, Vec<(u32, u32)>>,
    matcher: LineMatcher,
}

/// Chooses.
///
/// # Errors
/// [`PackError::IndexMissing`], [`PackError::TokenCount`], [`PackError::Cancelled`] and those of
/// [`gather::gather`].
pub fn assemble<'a>(
    view: &'a dyn IndexView,
    request: &Request,
    ctx: &'a Context<'a>,
) -> Result<Selected<'a>, PackError> {
    let mut a = Assembly::new(view, request, ctx)?;
    a.fill()?;
    if !a.has_true_twins() {
        a.tell_apart();
        a.fill()?;
    }
    Ok(a.finish())
}

struct Assembly<'a> {
    ctx: &'a Context<'a>,
    s: Selected<'a>,
    named: Named,
    at: FxHashMap<UnitKey, usize>,
    page: Page<'a>,
    weights: Rc<[f64]>,
    n_in_section: Vec<u64>,
    n_items: u64,
    scale: u64,
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
        let weights = &ctx.tuning.weights;
        let mut query = Query::parse(&resolved.query, weights);
        query.add_forms(weights);
        let mut units = Units::new(view);
        let mut sources = Sources::default();
        let mut named = naming::named(&mut units, &query);
        let changed = ctx.change.map(|c| Changed::new(&mut units, c, resolved.intent));
        named.changed.extend(changed.iter().flat_map(Changed::units));
        let mut gathered = gather::gather(&mut units, &mut sources, &resolved, &query, &named, ctx)?;
        let mut candidates = std::mem::take(&mut gathered.candidates);
        candidate::sort(&mut candidates, &resolved, &ctx.config.scoring, &mut units, &mut sources);
        view.will_read(&files_of(candidates.iter().map(|c| &*c.unit)));
        let fates = dedup(&candidates, |a, b| seem_equal(&mut units, &mut sources, a, b));
        let section_names = sections(resolved.layout);
        let claimed = claim_all(candidates, &fates, &resolved, &section_names, view);
        let terms = &gathered.retrieved.weighted.terms;
        let matcher = LineMatcher::new(terms.iter().map(|t| t.0.as_str()));
        let weights = terms.iter().map(|t| t.1).collect();
        let scale = scale_of(resolved.budgets.max_total_tokens);
        let s = Selected {
            request: resolved,
            budgets,
            query,
            units,
            sources,
            gathered,
            changed,
            section_names,
            claimed,
            shown: Vec::new(),
            rendered: String::new(),
            size: Size::default(),
            needed: None,
            matched: FxHashMap::default(),
            matcher,
        };
        Ok(Self {
            ctx,
            named,
            at: FxHashMap::default(),
            page: Page::new(view, ctx.counter),
            weights,
            n_in_section: Vec::new(),
            n_items: 0,
            scale,
            s,
        })
    }

    /// Fills the page from the start.
    fn fill(&mut self) -> Result<(), PackError> {
        self.page = Page::new(self.s.units.view, self.ctx.counter);
        self.n_in_section = vec![0; self.s.section_names.len()];
        self.n_items = 0;
        self.at = self.s.claimed.iter().enumerate().map(|(i, c)| (c.candidate.unit.key, i)).collect();
        let share = self.ctx.config.shares.of_kind(self.s.query.kind);
        self.show_seen();
        self.show_changes()?;
        if self.s.request.is_change_alone() {
            return Ok(());
        }
        let scale = self.scale;
        let of = |percent: u32| scale * u64::from(percent) / 100;
        let rooms =
            [share.named, share.code, share.references, share.callers, share.tests, share.prose].map(of);
        self.show_named(rooms[0]);
        self.show_seeds(rooms[1]);
        self.check_cancelled()?;
        if self.is_thrifty() {
            // Each lane in proportion to the code that is worth showing.
            let code = self.page.size().tokens;
            let of = |percent: u32| code * u64::from(percent) / u64::from(share.code.max(1));
            self.show_references(of(share.references).min(rooms[2]));
            self.show_tests(of(share.tests).min(rooms[4]));
            self.keep_minimum();
            return Ok(());
        }
        self.list_named(of(LISTED_PERCENT));
        self.show_references(rooms[2]);
        self.show_callers(rooms[3]);
        self.show_tests(rooms[4]);
        self.show_prose(rooms[5]);
        self.check_cancelled()?;
        self.show_seeds(u64::MAX);
        self.show_references(u64::MAX);
        self.show_tests(u64::MAX);
        self.show_others();
        self.check_cancelled()?;
        self.keep_minimum();
        Ok(())
    }

    fn check_cancelled(&self) -> Result<(), PackError> {
        if (self.ctx.cancel)() { Err(PackError::Cancelled) } else { Ok(()) }
    }

    /// Tokens that are free.
    fn left(&self) -> u64 {
        self.tokens_max().saturating_sub(self.page.size().tokens)
    }

    /// Tokens that can be used: characters are capped, and no counter finds more than two tokens in
    /// a byte.
    fn tokens_max(&self) -> u64 {
        self.s.request.budgets.max_total_tokens.min(8 * u64::from(TOTAL_CHARS_MAX))
    }

    /// Offers a candidate in a form: it is shown if the page with it stays within all limits and takes
    /// at most `room` tokens more. Says how many it took.
    fn offer(&mut self, i: usize, plan: Plan, room: u64) -> Option<u64> {
        let c = &self.s.claimed[i];
        let was = match c.state {
            // What the reader has stays a place.
            State::Included if c.plan.as_ref().is_some_and(|p| p.form == Form::Place) => {
                return None;
            }
            State::Included => c.plan.as_ref().map(|p| p.form),
            State::Open | State::Dropped(DropReason::Budget | DropReason::TooLarge) => None,
            _ => return None,
        };
        let section = c.section?;
        if plan.parts.is_empty() {
            let c = &mut self.s.claimed[i];
            (c.state, c.plan) = (State::Dropped(DropReason::TooLarge), Some(plan));
            return None;
        }
        if was.is_some_and(|form| form >= plan.form) {
            return None;
        }
        if was.is_none()
            && let Some(cap) = self.cap(section)
        {
            self.s.claimed[i].state = State::Dropped(cap);
            return None;
        }
        let spot = self.spot(i);
        let before = self.page.size();
        let change = self.page.with(i, &spot, &plan.parts);
        let caps = self.s.request.budgets;
        let taken = change.after.tokens.saturating_sub(before.tokens);
        if change.after.tokens > caps.max_total_tokens
            || change.after.chars > caps.max_total_chars
            || taken > room
        {
            return None;
        }
        self.page.put(i, &spot, &plan.parts, &change);
        if was.is_none() {
            self.n_items += 1;
            self.n_in_section[section] += 1;
        }
        let c = &mut self.s.claimed[i];
        c.state = State::Included;
        c.plan = Some(plan);
        Some(taken)
    }

    fn cap(&self, section: usize) -> Option<DropReason> {
        let caps = self.s.request.budgets;
        if self.n_items >= caps.max_items {
            Some(DropReason::ItemCap)
        } else if self.n_in_section[section] >= caps.max_items_per_section {
            Some(DropReason::SectionCap)
        } else {
            None
        }
    }

    fn spot(&mut self, i: usize) -> Spot {
        let c = &self.s.claimed[i].candidate;
        let zone = match c.role {
            Role::Code => Zone::Code,
            Role::Test => Zone::Tests,
            Role::Config => Zone::Config,
            Role::Doc => Zone::Docs,
        };
        Spot { zone, file: c.unit.file, record: Rc::clone(&c.file), source: self.s.source(i) }
    }

    /// What the text names, with its neighbourhood.
    fn show_named(&mut self, room: u64) {
        let meant: Vec<usize> =
            self.named.meant.iter().filter_map(|u| self.at.get(&u.key).copied()).collect();
        if meant.is_empty() {
            return;
        }
        let mut room = room.min(self.tokens_max() / 2);
        for &i in &meant {
            if let Some(plan) = self.plan(i) {
                room -= self.offer(i, plan, u64::MAX).unwrap_or(0).min(room);
                self.show_type_around(i);
            }
        }
        let shown = self.shown_code(|i| meant.contains(&i));
        let allowed = self.allowed();
        let callers = links::referrers(&mut self.s.units, &shown, Role::Code, &[EdgeKind::Call], &allowed);
        room -= self.show_links(&callers, room / 2, NAMED_CALLERS_MAX).min(room);
        let references = links::references(&mut self.s.units, &shown, &self.page, &allowed);
        room -= self.show_links(&references, room, usize::MAX).min(room);
        let tests = links::referrers(&mut self.s.units, &shown, Role::Test, &[EdgeKind::Call], &allowed);
        self.show_links(&tests, room, 1);
    }

    /// Whether the pack ends where what follows is worth little.
    fn is_thrifty(&self) -> bool {
        self.s.request.budgets.stop == Stop::Value
    }

    /// Lists the places of what the reader has, best first: it counts as shown, and leaves its room to
    /// others.
    fn show_seen(&mut self) {
        if self.s.request.seen.is_empty() {
            return;
        }
        for i in 0..self.s.claimed.len() {
            let unit = Rc::clone(&self.s.claimed[i].candidate.unit);
            let Some(mark) = self.seen_mark(&unit) else { continue };
            let source = self.s.source(i);
            // What was seen as a head alone, or as another text, may be shown whole.
            let is_same = mark.is_empty() || mark == source.content_hash(unit.lines());
            let Some(section) = self.s.claimed[i].section.filter(|_| is_same) else { continue };
            if self.s.claimed[i].state != State::Open || self.cap(section).is_some() {
                continue;
            }
            self.put_place(i, section, "seen");
            self.page.put_seen(unit.file, unit.spans.iter().map(|(_, l)| *l));
        }
    }

    /// Shows a candidate as its place alone, where that fits.
    fn put_place(&mut self, i: usize, section: usize, reason: &'static str) -> Option<u64> {
        let source = self.s.source(i);
        let lines = self.s.claimed[i].candidate.unit.lines();
        let mut line = String::new();
        let record = Rc::clone(&self.s.claimed[i].candidate.file);
        render::place(&record.path, lines, &self.s.title(i, &source), &mut line);
        let (before, after) = (self.page.size(), self.page.with_place(&line));
        let caps = self.s.request.budgets;
        if after.tokens > caps.max_total_tokens || after.chars > caps.max_total_chars {
            self.s.claimed[i].state = State::Dropped(DropReason::Budget);
            return None;
        }
        self.page.put_place(i, line);
        self.n_items += 1;
        self.n_in_section[section] += 1;
        self.s.claimed[i].state = State::Included;
        self.s.claimed[i].plan = Some(Plan { form: Form::Place, parts: Vec::new(), reason: Some(reason) });
        Some(after.tokens - before.tokens)
    }

    /// Lists the definitions of names that several bear, where none is meant more than another.
    fn list_named(&mut self, room: u64) {
        let mut left = room;
        let listed = std::mem::take(&mut self.named.listed);
        for unit in &listed {
            let link = Link {
                unit: Rc::clone(unit),
                weight: 0.0,
                lines: Vec::new(),
                edges: Vec::new(),
                way: Vec::new(),
            };
            let Some(i) = self.candidate_of(&link) else { continue };
            let Some(section) = self.s.claimed[i].section else { continue };
            if left == 0 || self.s.claimed[i].state != State::Open || self.cap(section).is_some() {
                continue;
            }
            left -= self.put_place(i, section, "listed").unwrap_or(0).min(left);
        }
        self.named.listed = listed;
    }

    /// What the request says of a unit that the reader has: nothing for all of it, `head`, or the hash
    /// of the text that was seen.
    fn seen_mark(&mut self, unit: &Unit) -> Option<String> {
        if self.s.request.seen.is_empty() {
            return None;
        }
        let uid = self.s.sources.uid(&mut self.s.units, unit).to_string();
        let of_unit = self.s.request.seen.iter().find_map(|id| id.strip_prefix(uid.as_str()));
        of_unit
            .and_then(|rest| if rest.is_empty() { Some("") } else { rest.strip_prefix('@') })
            .map(str::to_owned)
    }

    /// The best hits.
    fn show_seeds(&mut self, room: u64) {
        let mut left = room;
        for i in 0..self.s.claimed.len() {
            let c = &self.s.claimed[i].candidate;
            if self.is_thrifty() && self.n_items > 0 && c.seed_score < self.ctx.tuning.thrift {
                break;
            }
            if c.origin != Origin::Seed || self.at_least(i) > left.min(self.left()) {
                continue;
            }
            if let Some(plan) = self.plan(i)
                && let Some(taken) = self.offer(i, plan, left)
            {
                left -= taken.min(left);
                self.show_type_around(i);
            }
        }
    }

    /// The first line of the type that a shown member belongs to.
    fn show_type_around(&mut self, i: usize) {
        let unit = Rc::clone(&self.s.claimed[i].candidate.unit);
        let Some(def) = unit.def.some() else { return };
        let Some(parent) = self.s.units.def(def).parent.some() else { return };
        let around = self.s.units.def(parent);
        let line = Lines { start: around.name_line, end: around.name_line };
        if !around.kind.is_type() || self.page.shows(around.file, line) {
            return;
        }
        let Some(unit) = self.s.units.of_def(parent).filter(|u| u.def == parent) else { return };
        let link = Link { unit, weight: 0.0, lines: Vec::new(), edges: Vec::new(), way: Vec::new() };
        self.show_links(&[link], u64::MAX, 1);
    }

    /// Heads of what the shown code refers to.
    fn show_references(&mut self, room: u64) {
        if room.min(self.left()) < HEAD_TOKENS_MIN {
            return;
        }
        let shown = self.shown_code(|_| true);
        let allowed = self.allowed();
        let references = links::references(&mut self.s.units, &shown, &self.page, &allowed);
        self.show_links(&references, room, usize::MAX);
    }

    /// Who calls the best of the shown code: the line of the call under the caller's signature.
    fn show_callers(&mut self, room: u64) {
        let mut shown = self.shown_code(|_| true);
        shown.truncate(CALLED_MAX);
        let allowed = self.allowed();
        let callers = links::referrers(&mut self.s.units, &shown, Role::Code, &[EdgeKind::Call], &allowed);
        self.show_links(&callers, room, usize::MAX);
    }

    /// Tests of the shown code: those that reach it, and those in the files that are named after its
    /// files, each worth more for words of the text and for good tests beside it.
    fn show_tests(&mut self, room: u64) {
        if room.min(self.left()) < HEAD_TOKENS_MIN {
            return;
        }
        let mut shown = self.shown_code(|_| true);
        shown.truncate(TESTED_MAX);
        let allowed = self.allowed();
        let mut tests = links::tests(&mut self.s.units, &shown, &allowed);
        for t in &mut tests {
            let hit = self.s.gathered.scores.get(&t.unit.key);
            t.weight += hit.map_or(0.0, |h| h.0);
        }
        links::sort(&mut self.s.units, &mut tests);
        let mut files: FxHashMap<FileDoc, (f64, f64)> = FxHashMap::default();
        for t in &tests {
            let (sum, n) = files.entry(t.unit.file).or_insert((0.0, 0.0));
            *n += 1.0;
            *sum += t.weight / *n;
        }
        for t in &mut tests {
            t.weight += BESIDE_TESTS * files[&t.unit.file].0;
        }
        links::sort(&mut self.s.units, &mut tests);
        self.show_links(&tests, room, usize::MAX);
    }

    /// Documents and configuration that fit the text.
    fn show_prose(&mut self, room: u64) {
        let mut left = room;
        for i in 0..self.s.claimed.len() {
            let c = &self.s.claimed[i].candidate;
            if matches!(c.role, Role::Code | Role::Test) || c.origin == Origin::Seed || c.seed_score == 0.0 {
                continue;
            }
            if let Some(plan) = self.plan(i) {
                left -= self.offer(i, plan, left).unwrap_or(0).min(left);
            }
        }
    }

    /// Everything else, in the order of ranks.
    fn show_others(&mut self) {
        for i in 0..self.s.claimed.len() {
            if self.left() < ROOM_MIN {
                break;
            }
            if self.at_least(i) > self.left() {
                continue;
            }
            if let Some(plan) = self.plan(i) {
                self.offer(i, plan, u64::MAX);
            }
        }
    }

    /// Shows heads of linked units, in order, and says how many tokens they took.
    fn show_links(&mut self, links: &[Link], room: u64, n_max: usize) -> u64 {
        let (mut left, mut n) = (room, 0);
        for link in links {
            if n == n_max || left < ROOM_MIN || self.left() < ROOM_MIN {
                break;
            }
            // A head is not shown twice, whatever else was.
            if self.seen_mark(&link.unit).is_some() {
                continue;
            }
            let Some(i) = self.candidate_of(link) else { continue };
            let source = self.s.source(i);
            let def = link.unit.def.some().map(|d| self.s.units.def(d));
            let plan = match def {
                Some(def) => excerpt::head(&source, &def, link.lines.iter().copied()),
                None => excerpt::lines(link.lines.iter().copied()),
            };
            if let Some(taken) = self.offer(i, plan, left) {
                left -= taken.min(left);
                n += 1;
            }
        }
        room - left
    }

    /// The position of the candidate for a linked unit, a new one where it was none; `None` beyond the
    /// hops asked for.
    fn candidate_of(&mut self, link: &Link) -> Option<usize> {
        if let Some(&i) = self.at.get(&link.unit.key) {
            return Some(i);
        }
        let file = self.s.units.file(link.unit.file);
        let (seed_score, scored) = self.s.gathered.scores.get(&link.unit.key).copied().unwrap_or_default();
        let mut candidate = Candidate {
            unit: Rc::clone(&link.unit),
            role: role_of(&file),
            file,
            origin: if link.unit.kind == ChunkKind::Type { Origin::Around } else { Origin::Text },
            seed_score,
            scored,
            distance: 1,
            path: Vec::new(),
            evidence: 0.0,
            has_gap: false,
            beside: None,
            hybrid: 0.0,
        };
        // Without an edge it is the type of a shown member, or a test found by the name of its file.
        if let Some((from, step)) = link.edges.first() {
            let from = &self.s.claimed[*from].candidate;
            candidate.origin = Origin::Edge;
            candidate.distance = from.distance + 1 + link.way.len() as u32;
            candidate.path = from.path.iter().chain(&link.way).copied().chain([*step]).collect();
            let confidence = step.evidence.map_or(0.0, |o| f64::from(o.confidence) / 100.0);
            candidate.evidence = from.evidence * confidence;
            candidate.has_gap = from.has_gap || step.evidence.is_none();
        }
        if candidate.distance > self.s.request.expansion.max_hops {
            return None;
        }
        candidate.score(&self.ctx.config.scoring);
        let view = self.s.units.view;
        let claimed = claim_all(vec![candidate], &[Fate::Kept], &self.s.request, &self.s.section_names, view);
        self.at.insert(link.unit.key, self.s.claimed.len());
        self.s.claimed.extend(claimed);
        Some(self.s.claimed.len() - 1)
    }

    fn allowed(&self) -> Allowed {
        Allowed::of(&self.s.request.expansion, self.s.request.strictness)
    }

    /// The shown code, best first, with what each is worth.
    fn shown_code(&self, pick: impl Fn(usize) -> bool) -> Vec<Shown> {
        let is_code = |i: &usize| {
            let c = &self.s.claimed[*i];
            let form = c.plan.as_ref().map(|p| p.form);
            c.state == State::Included && c.candidate.role == Role::Code && form >= Some(Form::Windows)
        };
        let items = (0..self.s.claimed.len()).filter(is_code).filter(|i| pick(*i));
        let shown = |(rank, item): (usize, usize)| Shown {
            item,
            weight: 1.0 / (rank as f64 + 2.0),
            unit: Rc::clone(&self.s.claimed[item].candidate.unit),
            lines: self.lines_shown(item),
        };
        items.enumerate().map(shown).collect()
    }

    /// Starts over with candidates that were compared by their texts.
    fn tell_apart(&mut self) {
        let claimed = std::mem::take(&mut self.s.claimed);
        let candidates: Vec<Candidate> = claimed.into_iter().map(|c| c.candidate).collect();
        let (units, sources) = (&mut self.s.units, &mut self.s.sources);
        let fates =
            dedup(&candidates, |a, b| seem_equal(units, sources, a, b) && are_equal(units, sources, a, b));
        self.s.claimed =
            claim_all(candidates, &fates, &self.s.request, &self.s.section_names, self.s.units.view);
        self.s.matched.clear();
    }

    /// Whether those that were left out for what was chosen have its text. There are dozens of others,
    /// in files that nobody needs to read.
    fn has_true_twins(&mut self) -> bool {
        let unit = |i: usize| Rc::clone(&self.s.claimed[i].candidate.unit);
        let shown = (0..self.s.claimed.len()).filter(|i| self.s.claimed[*i].state == State::Included);
        let pairs: Vec<(Rc<Unit>, Rc<Unit>)> =
            shown.flat_map(|i| self.s.claimed[i].merged.iter().map(move |j| (unit(i), unit(*j)))).collect();
        pairs.iter().all(|(a, b)| are_equal(&self.s.units, &mut self.s.sources, a, b))
    }

    /// With content and a positive budget, the best items are reduced to whole lines until the
    /// guaranteed number is there or nothing fits (C-26). The caps on items hold.
    fn keep_minimum(&mut self) {
        let caps = self.s.request.budgets;
        let wanted = u64::from(self.ctx.config.min_items).min(caps.max_items);
        for i in 0..self.s.claimed.len() {
            if self.n_items >= wanted {
                return;
            }
            let full = self.plan(i).filter(|p| self.s.claimed[i].state == State::Open && !p.parts.is_empty());
            let Some(full) = full else { continue };
            // The most lines that fit; counts grow with lines.
            let spot = self.spot(i);
            let (mut low, mut high) = (0, full.parts.iter().map(|p| p.count()).sum::<u32>());
            while low < high {
                let mid = (low + high).div_ceil(2);
                let after = self.page.with(i, &spot, &excerpt::shorten(&full, mid).parts).after;
                let fits = after.tokens <= caps.max_total_tokens && after.chars <= caps.max_total_chars;
                if fits { low = mid } else { high = mid - 1 }
            }
            if low > 0 {
                let mut plan = excerpt::shorten(&full, low);
                let after = self.page.with(i, &spot, &excerpt::shorten(&full, low + 1).parts).after;
                let is_chars = after.tokens <= caps.max_total_tokens;
                plan.reason = Some(if is_chars { "maxTotalChars" } else { "maxTotalTokens" });
                self.offer(i, plan, u64::MAX);
            } else if self.n_items == 0 && self.s.needed.is_none() {
                self.s.needed = Some(self.page.with(i, &spot, &excerpt::shorten(&full, 1).parts).after);
            }
        }
    }

    /// Writes the text and says of everything else why it is not shown.
    fn finish(mut self) -> Selected<'a> {
        let last = self.s.claimed.iter().rposition(|c| c.state == State::Included);
        for i in 0..self.s.claimed.len() {
            if self.s.claimed[i].state != State::Open {
                continue;
            }
            let is_passed = last.is_some_and(|last| i < last);
            let cap = self.s.claimed[i].section.and_then(|s| self.cap(s));
            let reason = cap.unwrap_or(if is_passed { DropReason::TooLarge } else { DropReason::Budget });
            self.s.claimed[i].state = State::Dropped(reason);
        }
        let mut shown: Vec<usize> =
            (0..self.s.claimed.len()).filter(|i| self.s.claimed[*i].state == State::Included).collect();
        shown.sort_by_key(|i| (self.s.claimed[*i].section, *i));
        let rendered = self.page.text(|i| i);
        let size = self.page.size();
        // What is shown is named in the end by its place in the interface.
        let files = files_of(shown.iter().map(|i| &*self.s.claimed[*i].candidate.unit));
        self.s.units.view.will_read_interfaces(&files);
        let spots: Vec<Spot> = shown.iter().map(|i| self.spot(*i)).collect();
        for (i, spot) in shown.iter().zip(&spots) {
            let parts = self.s.claimed[*i].plan.as_ref().map_or_else(Vec::new, |p| p.parts.clone());
            let tokens = parts.iter().map(|l| self.page.tokens(spot, *l)).sum();
            self.s.claimed[*i].tokens = tokens;
        }
        self.s.rendered = rendered;
        self.s.size = size;
        self.s.shown = shown;
        self.s
    }

    /// The plan of a candidate's excerpt.
    fn plan(&mut self, i: usize) -> Option<Plan> {
        let source = self.s.source(i);
        if source.text.is_empty() {
            return None;
        }
        let room = self.room(i);
        let unit = Rc::clone(&self.s.claimed[i].candidate.unit);
        let head = unit.def.some().map(|d| self.s.units.def(d).head.start);
        let e = self.ctx.tuning.excerpts;
        let size: u32 = unit.spans.iter().map(|(s, _)| s.len()).sum();
        let fits_whole = size as usize <= room.whole_bytes.min(room.bytes);
        let scores = (!fits_whole).then(|| self.line_scores(i, &source));
        Some(excerpt::plan(&unit, &source, head, scores.as_ref(), room, &e))
    }

    /// How much of a candidate may be shown: seeds get room by the budget, neighbours little.
    fn room(&self, i: usize) -> Room {
        let e = self.ctx.tuning.excerpts;
        let bytes = self.s.request.budgets.max_bytes_per_item as usize;
        let budget_bytes = self.scale as usize * BYTES_PER_TOKEN;
        let c = &self.s.claimed[i].candidate;
        let is_seed = c.origin == Origin::Seed;
        let percent = if is_seed {
            let of_rank = e.whole_percent(self.s.query.kind, i);
            let is_type = i > 0 && c.unit.kind == ChunkKind::Type;
            let of_kind = if is_type { TYPE_PERCENT } else { 100.0 };
            of_rank.min(of_kind).max(e.least_percent as f64)
        } else if c.role == Role::Test {
            TEST_PERCENT
        } else {
            NEIGHBOUR_PERCENT
        };
        let whole_bytes = (budget_bytes as f64 * percent / 100.0) as usize;
        let lines = if is_seed {
            (whole_bytes / BYTES_PER_LINE).max(excerpt::HEAD_LINES as usize)
        } else {
            NEIGHBOUR_LINES
        };
        let head_lines = if is_seed { excerpt::HEAD_LINES } else { NEIGHBOUR_HEAD_LINES };
        Room { bytes, lines: lines as u32, whole_bytes, head_lines }
    }

    /// Tokens that the excerpt of a candidate hardly falls below.
    fn at_least(&self, i: usize) -> u64 {
        let unit = &self.s.claimed[i].candidate.unit;
        excerpt::bytes_at_least(unit, self.room(i)) / BYTES_PER_TOKEN_MAX
    }

    /// Terms of the query by line, and the places of edges.
    fn line_scores(&mut self, i: usize, source: &Source) -> LineScores {
        let lines = self.s.claimed[i].candidate.unit.lines();
        let n = lines.count() as usize;
        let hits = self.s.matches(i, source);
        let mut terms = vec![Vec::new(); n];
        for &(line, term) in &hits {
            if let Some(at) = terms.get_mut(line as usize) {
                at.push(term);
            }
        }
        let top = self.weights.iter().sum::<f64>().max(1.0);
        let mut places = vec![0.0; n];
        let c = &self.s.claimed[i].candidate;
        for step in &c.path {
            let place = step.evidence.filter(|_| {
                step.kind != EdgeKind::Import && self.s.units.view.def(step.site).file == c.unit.file
            });
            if let Some(o) = place.filter(|o| lines.start <= o.line && o.line <= lines.end) {
                places[(o.line - lines.start) as usize] += top;
            }
        }
        LineScores { terms, places, weights: Rc::clone(&self.weights) }
    }
}

impl Selected<'_> {
    /// The text of a candidate's file.
    pub fn source(&mut self, i: usize) -> Rc<Source> {
        self.sources.of(self.units.view, self.claimed[i].candidate.unit.file)
    }

    /// The terms of the query in a unit: the line from its start, and the term, sorted.
    fn matches(&mut self, i: usize, source: &Source) -> Vec<(u32, u32)> {
        if let Some(known) = self.matched.get(&i) {
            return known.clone();
        }
        let lines = self.claimed[i].candidate.unit.lines();
        let mut hits = Vec::new();
        self.matcher.find(source.slice(source.lines().lines_span(lines)), &mut hits);
        hits.sort_unstable();
        hits.dedup();
        self.matched.insert(i, hits.clone());
        hits
    }

    /// The terms of the query on each line of a unit, for evidence: `(line, term)`.
    pub fn line_terms(&mut self, i: usize, source: &Source) -> Vec<(u32, u32)> {
        let first = self.claimed[i].candidate.unit.lines().start;
        self.matches(i, source).iter().map(|(line, term)| (line + first, *term)).collect()
    }

    /// The term at a position of [`Selected::line_terms`], with its weight.
    pub fn term(&self, term: u32) -> (&str, f64) {
        let t = &self.gathered.retrieved.weighted.terms[term as usize];
        (&t.0, t.1)
    }

    /// The signature on one line; for text without one, its first line.
    pub fn title(&self, i: usize, source: &Source) -> String {
        let unit = &self.claimed[i].candidate.unit;
        let def = unit.def.some().map(|d| self.units.view.def(d));
        let head = def.as_ref().map(|d| source.slice(d.head)).filter(|h| !h.trim().is_empty());
        let first = || source.slice(unit.spans[0].0).lines().find(|l| !l.trim().is_empty()).unwrap_or("");
        one_line(head.unwrap_or_else(first)).chars().take(TITLE_CHARS_MAX).collect()
    }

    /// Whether every line of a candidate is longer than an item may be.
    pub fn has_no_line(&self, i: usize) -> bool {
        self.claimed[i].plan.as_ref().is_some_and(|p| p.parts.is_empty())
    }
}

/// Characters of a title.
const TITLE_CHARS_MAX: usize = 160;
/// Percent of the budget for the places of definitions that share a named name.
const LISTED_PERCENT: u32 = 4;
/// Callers of what is named that are shown at most.
const NAMED_CALLERS_MAX: usize = 12;
/// Shown definitions whose callers are looked for, the best.
const CALLED_MAX: usize = 4;
/// Shown definitions whose tests are looked for, the best.
const TESTED_MAX: usize = 24;
/// What good tests of a file add to each other, against the test's own weight.
const BESIDE_TESTS: f64 = 0.1;
/// Tokens below which no head is looked for: a short signature and the mark of a gap take as many.
const HEAD_TOKENS_MIN: u64 = 16;
/// Tokens below which nothing is offered: the mark of a gap and one line take more.
const ROOM_MIN: u64 = 4;
/// Percent of the budget up to which a type that is not the best hit is shown whole: code is read, types
/// are looked up.
const TYPE_PERCENT: f64 = 10.0;
/// The same for a test that is not a hit: about 20 lines of 8,000 tokens.
const TEST_PERCENT: f64 = 3.0;
/// The same for other candidates that are not hits, and the lines of longer ones.
const NEIGHBOUR_PERCENT: f64 = 2.0;
const NEIGHBOUR_LINES: usize = 12;
/// Lines of the head of such a candidate; the rest is where the edge or the text points at.
const NEIGHBOUR_HEAD_LINES: u32 = 4;
/// Typical bytes of code by token and by line; estimates only, everything is counted in the end.
const BYTES_PER_TOKEN: usize = 3;
const BYTES_PER_LINE: usize = 34;
/// Source rarely has more bytes to a token; a bound for pruning.
const BYTES_PER_TOKEN_MAX: u64 = 7;

/// A size near the budget that all budgets within a fifth below it share: four to an octave.
pub fn scale_of(budget: u64) -> u64 {
    // 2^(1/4), 2^(1/2) and 2^(3/4) in thousandths.
    const STEPS: [u64; 4] = [1_000, 1_189, 1_414, 1_682];
    // A pack takes a little less than its budget: round budgets lie a little above a step.
    let budget = budget.min(8 * u64::from(TOTAL_CHARS_MAX));
    let wanted = budget - budget / 50;
    let mut octave = 125;
    loop {
        for step in STEPS {
            let scale = octave * step / 1_000;
            if scale >= wanted {
                return scale;
            }
        }
        octave *= 2;
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
        let asks = request.layout == Layout::Agent
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
        out.push(Claimed {
            candidate,
            section,
            also,
            traits,
            merged: Vec::new(),
            state,
            plan: None,
            tokens: 0,
            relations: Vec::new(),
        });
    }
    out
}
