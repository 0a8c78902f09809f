//! Chooses the items of a pack and their forms, within the budget.
//!
//! Tokens are given out lane by lane: definitions that the text names and their neighbourhood, the best hits,
//! heads of what the shown code refers to, callers, tests, documents. The best remaining candidates get the
//! rest. The share of a lane is a percentage of the *scale*: a size near the budget that many budgets have in
//! common. Therefore a pack that took N tokens comes out the same with a budget of N. Each lane offers its
//! best candidates first, and refuses an item only if it does not fit.

mod budgeted;
mod changes;
mod exact;
mod frame;
mod intents;
mod lanes;
mod memory;
mod room;
mod seen;
mod selected;
#[cfg(test)]
mod tests;

pub use changes::Changed;
pub use room::scale_of;
pub use selected::{Claimed, Selected, State};

use crate::candidate::{Candidate, Order};
use crate::confidence;
use crate::config::Shares;
use crate::context::Context;
use crate::dedup::{dedup, digests, text};
use crate::error::PackError;
use crate::excerpt::{self, Plan};
use crate::gather;
use crate::identity::Sources;
use crate::intent::{QUOTED_PERCENT, Row};
use crate::layout;
use crate::links::Allowed;
use crate::naming::{self, Named};
use crate::pack::{Basis, DropReason, Form};
use crate::page::{Page, Size, Spot};
use crate::query::Query;
use crate::render::Zone;
use crate::request::{Asked, Caps, Resolved, Stop};
use crate::role::Role;
use crate::unit::{Unit, UnitKey, Units};
use budgeted::BudgetedPage;
use indexd_model::{ContentHash, IndexView, Lines};
use indexd_text::LineMatcher;
use memory::{Lanes, Plans};
use rustc_hash::{FxHashMap, FxHashSet};
use selected::claim_all;
use std::rc::Rc;

/// Chooses the items of a pack and their forms, within `limits`.
///
/// # Errors
/// [`PackError::IndexMissing`], [`PackError::TokenCount`], [`PackError::Cancelled`] and those of
/// [`gather::gather`].
pub fn assemble<'a>(
    view: &'a dyn IndexView,
    asked: &Asked,
    limits: Caps,
    ctx: &'a Context<'a>,
) -> Result<Selected<'a>, PackError> {
    check(view, asked, ctx)?;
    let mut a = Assembly::new(view, Resolved { budgets: limits, ..asked.options.clone() }, ctx)?;
    a.fill_exactly()?;
    if !a.merged_texts_are_equal() {
        a.dedup_by_text();
        a.fill()?;
    }
    if a.lacks_items() {
        a.dedup_by_text();
        a.is_minimum_first = true;
        a.fill()?;
    }
    let mut selected = a.finish();
    selected.request.budgets = asked.options.budgets;
    Ok(selected)
}

fn units_of(candidates: &[Candidate]) -> Vec<Rc<Unit>> {
    candidates.iter().map(|c| Rc::clone(&c.unit)).collect()
}

/// The zone of a candidate that is shown as a piece or, in a section, as a head.
fn zone_of(c: &Candidate, head_in: Option<&str>) -> Zone {
    match c.role {
        Role::Code => match head_in {
            None => Zone::Code,
            Some("callers") => Zone::Callers,
            Some(_) => Zone::Related,
        },
        Role::Test => Zone::Tests,
        Role::Config => Zone::Config,
        Role::Doc => Zone::Docs,
    }
}

/// Checks that the index can answer the request and that the counter is the one asked for.
fn check(view: &dyn IndexView, asked: &Asked, ctx: &Context) -> Result<(), PackError> {
    let held = view.signature();
    if let Some(asked) = asked.pinned.as_ref().filter(|s| **s != held) {
        return Err(PackError::IndexMissing { asked: asked.clone(), held });
    }
    let tokenizer = &asked.options.tokenizer;
    if ctx.counter.name() != tokenizer {
        return Err(PackError::TokenCount { detail: format!("no counter named {tokenizer}") });
    }
    Ok(())
}

fn order<'a>(request: &'a Resolved, row: &Row, ctx: &Context) -> Order<'a> {
    let strong_seed = ctx.config.scoring.strong_seed;
    Order { keys: &request.ordering, graph_first: row.graph_first, strong_seed }
}

/// Finds the candidates, best first, and assigns each to a section. Shows none of them.
fn select<'a>(
    mut units: Units<'a>,
    request: Resolved,
    query: Query,
    changed: Option<Changed<'a>>,
    named: &Named,
    row: &Row,
    ctx: &'a Context<'a>,
) -> Result<Selected<'a>, PackError> {
    let mut sources = Sources::with_line_max(room::line_bytes(&request.budgets));
    let mut gathered = gather::gather(&mut units, &mut sources, &request, &query, named, row, ctx)?;
    let mut candidates = std::mem::take(&mut gathered.candidates);
    let order = order(&request, row, ctx);
    candidates.sort_by(|a, b| order.compare(a, b, &mut units, &mut sources));
    let fates = dedup(&units_of(&candidates), |u| digests(&mut units, u));
    let section_names = layout::sections(request.layout);
    let claimed = claim_all(candidates, &fates, &request, units.view);
    let matcher = LineMatcher::new(gathered.retrieved.weighted.terms.iter().map(|t| t.0.as_str()));
    Ok(Selected {
        request,
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
        uses_cut: false,
        matched: FxHashMap::default(),
        matcher,
    })
}

/// Number of best candidates whose pieces stand alone; later ones are grouped by file.
const ALONE_MAX: usize = 10;
/// Maximum tokens of hits in the answer to a plain question.
const CODE_OF_QUESTION: u64 = 900;
/// The same with expectations that the first hit fits well: much of few hits.
const CODE_OF_GOOD_FIT: u64 = 1_500;
/// The same with expectations that it fits less well: more places, less code.
const CODE_OF_DOUBT: u64 = 800;

struct Assembly<'a> {
    ctx: &'a Context<'a>,
    s: Selected<'a>,
    at: FxHashMap<UnitKey, usize>,
    page: BudgetedPage<'a>,
    /// The texts before and after the items.
    frame: [String; 2],
    weights: Rc<[f64]>,
    lanes: Lanes,
    allowed: Allowed,
    plans: Plans,
    scale: u64,
    /// The states of the candidates before any of them was shown.
    states: Vec<State>,
    /// True if the guaranteed items are shown first, each with one line.
    is_minimum_first: bool,
}

impl<'a> Assembly<'a> {
    fn new(view: &'a dyn IndexView, request: Resolved, ctx: &'a Context<'a>) -> Result<Self, PackError> {
        let mut query = Query::of(&request.query, &request.expect, &ctx.tuning.weights);
        let row = Row::of(request.intent, ctx.config.shares.of_kind(query.kind));
        query.kind = row.kind(query.kind);
        let mut units = Units::new(view).with_roles(&ctx.config.roles);
        let mut named = naming::named(&mut units, &query);
        let changed = ctx.change.map(|c| Changed::new(&mut units, c, request.intent));
        named.changed.extend(changed.iter().flat_map(Changed::units));
        let s = select(units, request, query, changed, &named, &row, ctx)?;
        let caps = s.request.budgets;
        let empty = Page::new(view, ctx.counter, [String::new(), String::new()]);
        let mut a = Self {
            ctx,
            at: FxHashMap::default(),
            page: BudgetedPage::new(empty, caps, s.section_names.len()),
            frame: [String::new(), String::new()],
            weights: s.gathered.retrieved.weighted.terms.iter().map(|t| t.1).collect(),
            lanes: Lanes::new(row, named),
            allowed: Allowed::of(&s.request.expansion, s.request.strictness),
            plans: Plans::default(),
            scale: scale_of(caps.max_total_tokens),
            states: s.claimed.iter().map(|c| c.state).collect(),
            is_minimum_first: false,
            s,
        };
        a.frame = a.frame();
        Ok(a)
    }

    /// Fills the page from its initial state.
    fn fill(&mut self) -> Result<(), PackError> {
        self.page.restart(Page::new(self.s.units.view, self.ctx.counter, self.frame.clone()));
        self.lanes.clear();
        self.plans.of.clear();
        self.at = self.s.claimed.iter().enumerate().map(|(i, c)| (c.candidate.unit.key, i)).collect();
        let share = self.ctx.config.shares.of_kind(self.s.query.kind);
        self.show_seen();
        self.show_changes()?;
        if self.s.request.is_change_alone() {
            return Ok(());
        }
        if self.s.is_short() {
            return Ok(());
        }
        if self.is_minimum_first {
            self.show_minimum();
        }
        if self.is_thrifty() {
            self.show_valuable(share);
        } else {
            self.show_lanes()?;
            self.use_up()?;
        }
        self.keep_minimum();
        self.check_cancelled()
    }

    /// Shows what is worth its tokens. A plain question gets a little code; other texts get heads, callers and
    /// tests in proportion to the code.
    fn show_valuable(&mut self, share: Shares) {
        let scale = self.scale;
        let of = |percent: u32| scale * u64::from(percent) / 100;
        let confidence = self.s.gathered.confidence;
        let most = match confidence.basis {
            Basis::Nothing => 0,
            Basis::Question => CODE_OF_QUESTION,
            Basis::Expected if confidence.score >= confidence::GOOD => CODE_OF_GOOD_FIT,
            Basis::Expected => CODE_OF_DOUBT,
            Basis::Names | Basis::Task => u64::MAX,
        };
        if most == u64::MAX {
            self.show_named(of(share.named));
        }
        self.show_quoted(of(QUOTED_PERCENT).min(most));
        self.show_seeds(of(share.code).min(most));
        if confidence.basis == Basis::Question {
            return;
        }
        let code = self.page.size().tokens;
        let part = |percent: u32| (code * u64::from(percent) / u64::from(share.code.max(1))).min(of(percent));
        self.show_references(part(share.references));
        self.show_callers(part(share.callers));
        self.show_tests(part(share.tests));
    }

    fn check_cancelled(&self) -> Result<(), PackError> {
        if (self.ctx.cancel)() { Err(PackError::Cancelled) } else { Ok(()) }
    }

    /// The form in which a candidate is shown: `Some(None)` if it is not shown yet, `None` if its form is
    /// final.
    fn shown_as(&self, i: usize) -> Option<Option<Form>> {
        let c = &self.s.claimed[i];
        match c.state {
            // A unit that the reader has is shown as its place only.
            State::Included if c.plan.as_ref().is_some_and(|p| p.form == Form::Place) => None,
            State::Included => Some(c.plan.as_ref().map(|p| p.form)),
            State::Open | State::Dropped(DropReason::Budget | DropReason::TooLarge) => Some(None),
            State::Merged | State::Dropped(_) => None,
        }
    }

    /// Shows a candidate by `plan` if the page stays within all limits and grows by at most `room` tokens.
    /// Returns the tokens it took. Shows nothing after the request was cancelled.
    fn offer(&mut self, i: usize, plan: Plan, room: u64) -> Option<u64> {
        let (section, was) = (self.s.claimed[i].section?, self.shown_as(i)?);
        let plan = self.admitted(i, plan, was.is_some())?;
        let spot = self.spot(i, &plan);
        let taken = self.page.offer(i, Some(section).filter(|_| was.is_none()), &spot, &plan, room)?;
        let c = &mut self.s.claimed[i];
        c.state = State::Included;
        c.plan = Some(plan);
        Some(taken)
    }

    /// The plan with which a candidate may be shown, or `None`. Lines that are shown already stay, such as
    /// the members of a type that shown code uses.
    fn admitted(&mut self, i: usize, plan: Plan, is_shown: bool) -> Option<Plan> {
        if (self.ctx.cancel)() {
            return None;
        }
        let c = &mut self.s.claimed[i];
        if plan.parts.is_empty() {
            (c.state, c.plan) = (State::Dropped(DropReason::TooLarge), Some(plan));
            return None;
        }
        let plan = match c.plan.as_ref().filter(|_| is_shown) {
            Some(shown) => Some(plan.with(shown.parts.iter().copied())).filter(|plan| plan.adds_to(shown))?,
            None => plan,
        };
        let fits = self.is_within_item(i, &plan) && (is_shown || !self.drop_capped(i));
        fits.then_some(plan)
    }

    /// True if an excerpt is within the byte limit of an item.
    fn is_within_item(&mut self, i: usize, plan: &Plan) -> bool {
        let source = self.s.source(i);
        // A line that does not fit even in part is not counted.
        let shown = |p: &Lines| (p.start..=p.end).map(|l| source.shown_len(l)).sum::<Option<usize>>();
        let bytes = plan.parts.iter().map(shown).sum::<Option<usize>>();
        bytes.is_some_and(|bytes| bytes as u64 <= self.s.request.budgets.max_bytes_per_item)
    }

    /// Drops a candidate that is not shown yet if a limit on items is reached. Returns true if it did.
    fn drop_capped(&mut self, i: usize) -> bool {
        let c = &self.s.claimed[i];
        let is_offered =
            matches!(c.state, State::Open | State::Dropped(DropReason::Budget | DropReason::TooLarge));
        let cap = c.section.filter(|_| is_offered).and_then(|section| self.page.cap(section));
        if let Some(cap) = cap {
            self.s.claimed[i].state = State::Dropped(cap);
        }
        cap.is_some()
    }

    /// What the text says of a candidate beside the lines of `plan`.
    fn spot(&mut self, i: usize, plan: &Plan) -> Spot {
        let source = self.s.source(i);
        let c = &self.s.claimed[i];
        let (unit, record) = (Rc::clone(&c.candidate.unit), Rc::clone(&c.candidate.file));
        let def = unit.def.some().map(|d| self.s.units.def(d));
        let signature = def.as_ref().map_or(Lines { start: 0, end: 0 }, |d| excerpt::signature(&source, d));
        // A line may follow the signature at once.
        let known = Lines { end: signature.end + 1, ..signature };
        let is_line = |run: &Lines| run.count() == 1 || known.contains(*run);
        let head = (plan.form == Form::Head && plan.parts.iter().all(is_line)).then_some(signature);
        let zone = zone_of(&c.candidate, head.and(c.claims.first().copied()));
        let name: Rc<str> = def.as_ref().map_or("", |d| &*d.qualified).into();
        let owner =
            def.and_then(|d| d.parent.some()).map(|p| self.s.units.def(p)).filter(|p| p.kind.is_type());
        let owner: Rc<str> = owner.as_ref().map_or("", |p| &*p.name).into();
        let is_part = i >= ALONE_MAX;
        Spot { zone, file: unit.file, record, source, lines: unit.lines(), name, owner, head, is_part }
    }

    /// True if the pack ends where further hits are worth little.
    fn is_thrifty(&self) -> bool {
        self.s.request.budgets.stop == Stop::Value
    }

    /// Starts again with duplicates decided by full texts instead of digests.
    fn dedup_by_text(&mut self) {
        let claimed = std::mem::take(&mut self.s.claimed);
        let candidates: Vec<Candidate> = claimed.into_iter().map(|c| c.candidate).collect();
        let (units, sources) = (&mut self.s.units, &mut self.s.sources);
        let fates = dedup(&units_of(&candidates), |u| ContentHash::of(text(units, sources, u).as_bytes()));
        self.s.claimed = claim_all(candidates, &fates, &self.s.request, self.s.units.view);
        self.s.matched.clear();
    }

    /// True if every candidate merged into a shown one has exactly its text. Merged candidates of unshown
    /// ones are not checked: they are many, and their files need not be read.
    fn merged_texts_are_equal(&mut self) -> bool {
        let unit = |i: usize| Rc::clone(&self.s.claimed[i].candidate.unit);
        let shown = (0..self.s.claimed.len()).filter(|i| self.s.claimed[*i].state == State::Included);
        let pairs: Vec<(Rc<Unit>, Rc<Unit>)> =
            shown.flat_map(|i| self.s.claimed[i].merged.iter().map(move |j| (unit(i), unit(*j)))).collect();
        let mut text = |unit: &Unit| text(&self.s.units, &mut self.s.sources, unit);
        pairs.iter().all(|(a, b)| text(a) == text(b))
    }

    /// True if fewer items than guaranteed are shown while candidates remain.
    fn lacks_items(&self) -> bool {
        let wanted = u64::from(self.ctx.config.min_items).min(self.s.request.budgets.max_items);
        wanted > 1
            && self.page.n_items() < wanted
            && !self.s.request.is_change_alone()
            && self.s.claimed.iter().any(|c| c.state == State::Open)
    }

    /// Shows the first line of the guaranteed number of items, best first. The lanes add the rest.
    fn show_minimum(&mut self) {
        let wanted = u64::from(self.ctx.config.min_items).min(self.s.request.budgets.max_items);
        for i in 0..self.s.claimed.len() {
            if self.page.n_items() >= wanted {
                return;
            }
            if self.s.claimed[i].state != State::Open {
                continue;
            }
            let Some(full) = self.plan(i).filter(|p| !p.parts.is_empty()) else { continue };
            let line = Plan { form: Form::Head, ..excerpt::shorten(&full, 1) };
            self.offer(i, line, u64::MAX);
        }
    }

    /// Cuts the best items to as many whole lines as fit, until the guaranteed number of items is shown or
    /// nothing fits. The limits on items hold.
    fn keep_minimum(&mut self) {
        let wanted = u64::from(self.ctx.config.min_items).min(self.s.request.budgets.max_items);
        for i in 0..self.s.claimed.len() {
            if self.page.n_items() >= wanted {
                return;
            }
            let full = self.plan(i).filter(|p| self.s.claimed[i].state == State::Open && !p.parts.is_empty());
            let Some(full) = full else { continue };
            let spot = self.spot(i, &excerpt::shorten(&full, 1));
            match self.page.cut(i, &spot, &full) {
                Ok(plan) => {
                    self.offer(i, plan, u64::MAX);
                }
                Err(size) if self.page.n_items() == 0 && self.s.needed.is_none() => {
                    self.s.needed = Some(size);
                }
                Err(_) => {}
            }
        }
    }

    /// Sorts the shown candidates by section, then by rank. Candidates found through shown code are ranked
    /// among the others. Parts of a change keep the order of the change.
    fn shown_in_order(&mut self) -> Vec<usize> {
        let s = &mut self.s;
        let mut shown: Vec<usize> =
            (0..s.claimed.len()).filter(|i| s.claimed[*i].state == State::Included).collect();
        if s.changed.is_none() {
            let order = order(&s.request, &self.lanes.row, self.ctx);
            let candidate = |i: &usize| &s.claimed[*i].candidate;
            shown.sort_by(|a, b| order.compare(candidate(a), candidate(b), &mut s.units, &mut s.sources));
        }
        shown.sort_by_key(|i| s.claimed[*i].section);
        shown
    }

    /// Writes the text, and gives every other candidate the reason why it is not shown.
    fn finish(mut self) -> Selected<'a> {
        let last = self.s.claimed.iter().rposition(|c| c.state == State::Included);
        let is_included = |c: &&Claimed| c.state == State::Included;
        let copies = self.s.claimed.iter().filter(is_included).flat_map(|c| c.merged.clone());
        let copies: FxHashSet<usize> = copies.collect();
        for (i, c) in self.s.claimed.iter_mut().enumerate() {
            let is_passed = last.is_some_and(|last| i < last);
            let reason = match c.state {
                State::Open => c.section.and_then(|s| self.page.cap(s)).unwrap_or(match is_passed {
                    true => DropReason::TooLarge,
                    false => DropReason::Budget,
                }),
                // A duplicate counts as merged only if its better copy is shown.
                State::Merged if !copies.contains(&i) => DropReason::Duplicate,
                _ => continue,
            };
            c.state = State::Dropped(reason);
        }
        let shown = self.shown_in_order();
        let rendered = self.page.page().text();
        let size = self.page.size();
        for &i in &shown {
            let Some(plan) = self.s.claimed[i].plan.clone() else { continue };
            let spot = self.spot(i, &plan);
            self.s.claimed[i].tokens = plan.parts.iter().map(|l| self.page.tokens(&spot, *l)).sum();
        }
        self.s.rendered = rendered;
        self.s.size = size;
        self.s.shown = shown;
        self.s
    }
}
