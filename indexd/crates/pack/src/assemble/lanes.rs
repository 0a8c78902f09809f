//! The lanes: the candidates that each offers, their form, and their order.

use super::Assembly;
use super::selected::{Claimed, State, claim_all};
use crate::candidate::{Candidate, Origin};
use crate::dedup::Fate;
use crate::error::PackError;
use crate::excerpt::{self, Plan};
use crate::gather::QUOTED_MAX;
use crate::links::{self, Link, Shown};
use crate::pack::{Basis, Form};
use crate::query::Kind;
use crate::request::Intent;
use crate::role::Role;
use indexd_model::{ChunkKind, DefDoc, EdgeKind, FileDoc, Lines};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::rc::Rc;

impl Assembly<'_> {
    /// Shows the definitions that the text names, with their neighbourhood.
    pub(super) fn show_named(&mut self, room: u64) {
        let meant: Vec<usize> =
            self.lanes.named.meant.iter().filter_map(|u| self.at.get(&u.key).copied()).collect();
        if meant.is_empty() {
            return;
        }
        let mut room = room.min(self.scale / 2);
        for &i in &meant {
            if let Some(plan) = self.plan(i) {
                room -= self.offer(i, plan, u64::MAX).unwrap_or(0).min(room);
            }
        }
        let shown = self.shown_code(|i| meant.contains(&i));
        let shown = self.by_definition(&shown);
        let mut callers = self.referrers(&shown, Role::Code, &[EdgeKind::Call]);
        links::spread(&mut callers);
        if self.s.request.intent == Intent::Refactor {
            // The lane for all uses shows the callers.
            callers.clear();
        }
        room -= self.show_links(&callers, room / 2, NAMED_CALLERS_MAX).min(room);
        if self.s.request.intent != Intent::Refactor {
            let users = self.users_by_value(&shown);
            let n_max = NAMED_CALLERS_MAX.saturating_sub(callers.len());
            room -= self.show_links(&users, room / 2, n_max).min(room);
        }
        if matches!(self.s.query.kind, Kind::Name | Kind::Question) {
            self.plans.calls.clear();
            self.plans.add_calls(&callers);
        }
        // Calls through an interface or a base are only possible calls, so few are shown.
        let through = links::callers_through(&mut self.s.units, &shown, &self.allowed);
        room -= self.show_links(&through, room / 4, DISPATCHED_MAX).min(room);
        let kinds = [EdgeKind::Inherit, EdgeKind::Implement];
        let below = self.referrers(&shown, Role::Code, &kinds);
        room -= self.show_links(&below, room / 4, DISPATCHED_MAX).min(room);
        let references = self.references(&shown);
        room -= self.show_links(&references, room, usize::MAX).min(room);
        let mut tests = self.referrers(&shown, Role::Test, &[EdgeKind::Call]);
        links::nearest_first(&mut self.s.units, &mut tests, &shown);
        self.show_links(&tests, room, NAMED_USERS_MIN.saturating_sub(callers.len()).max(1));
    }

    /// The code that reads, writes or passes on the named definitions. Uses of types are left out: they are many, and
    /// most are in signatures.
    fn users_by_value(&mut self, shown: &[Shown]) -> Vec<Link> {
        let is_value = |s: &&Shown| s.def.some().is_some_and(|def| !self.s.units.def(def).kind.is_type());
        let values: Vec<Shown> = shown.iter().filter(is_value).cloned().collect();
        let mut users = self.referrers(&values, Role::Code, &[EdgeKind::Usage]);
        links::spread(&mut users);
        users
    }

    /// The shown units that are named, once for each named definition; among other words their own definition
    /// counts too. A function that another definition shows has its own lines.
    fn by_definition(&mut self, shown: &[Shown]) -> Vec<Shown> {
        let (names, mut out) = (&self.lanes.named, Vec::new());
        for s in shown {
            let named = names.defs.iter().filter(|(key, _)| *key == s.unit.key).map(|(_, def)| *def);
            let own = (!names.is_all).then_some(s.unit.def);
            let defs: BTreeSet<DefDoc> = named.chain(own).collect();
            for def in defs {
                let mut of = Shown { def, ..s.clone() };
                if let Some(record) = def.some().filter(|d| *d != s.unit.def).map(|d| self.s.units.def(d))
                    && record.kind.is_callable()
                {
                    of.lines = of.lines.iter().filter_map(|l| l.common(record.lines)).collect();
                }
                out.push(of);
            }
        }
        out
    }

    /// Shows units that contain a phrase of the text, in any file.
    pub(super) fn show_quoted(&mut self, room: u64) {
        let holds = |c: &Claimed| c.candidate.scored.is_some_and(|s| s.holds_quote());
        let holders: Vec<usize> =
            (0..self.s.claimed.len()).filter(|i| holds(&self.s.claimed[*i])).take(QUOTED_MAX).collect();
        let mut left = room;
        for i in holders {
            let source = self.s.source(i);
            let lines = self.quoted_lines(i, &source);
            let Some(plan) = self.plan(i) else { continue };
            let taken = self.offer(i, plan, left);
            left -= taken.unwrap_or(0).min(left);
            // The phrase itself is shown wherever its lines fit.
            let is_shown =
                |plan: &Plan| lines.iter().any(|l| plan.parts.iter().any(|p| p.start <= *l && *l <= p.end));
            if let Some(line) =
                lines.first().filter(|_| !self.s.claimed[i].plan.as_ref().is_some_and(is_shown))
            {
                let parts = vec![Lines { start: *line, end: *line }];
                let alone = Plan { form: Form::Windows, parts, reason: Some("windows") };
                let plan = self.s.claimed[i].plan.as_ref().map_or(alone.clone(), |p| p.with(alone.parts));
                let _ = self.offer(i, plan, self.page.left());
            }
        }
    }

    /// Lists the places of definitions with an ambiguous name.
    pub(super) fn list_named(&mut self, room: u64) {
        let mut left = room;
        for unit in self.lanes.named.listed.clone() {
            let Some(i) = self.candidate_of(&Link::to(unit)) else { continue };
            let Some(section) = self.s.claimed[i].section else { continue };
            if left == 0 || self.s.claimed[i].state != State::Open || self.page.cap(section).is_some() {
                continue;
            }
            left -= self.put_place(i, section, "listed").unwrap_or(0).min(left);
        }
    }

    /// Shows the best hits.
    pub(super) fn show_seeds(&mut self, room: u64) {
        let (mut left, mut n) = (room, 0);
        let tuning = &self.ctx.tuning;
        let is_question = matches!(self.s.gathered.confidence.basis, Basis::Question | Basis::Expected);
        let thrift = if is_question { tuning.thrift_question } else { tuning.thrift };
        for i in 0..self.s.claimed.len() {
            let c = &self.s.claimed[i].candidate;
            if c.origin != Origin::Seed {
                continue;
            }
            let (least, before) = (self.at_least(i), self.page.size().tokens);
            if self.is_too_large(i, left.min(self.page.left())) {
                continue;
            }
            let outline = if self.is_outlined() { self.outline(i) } else { None };
            let plan = match outline {
                Some(outline) => Some(outline),
                None if n < WHOLE_CALLERS_MAX && self.s.request.intent != Intent::Refactor => self.plan(i),
                None => self.plan_of_seed(i),
            };
            n += 1;
            if self.is_thrifty() && self.page.n_items() > 0 && self.worth(i, plan.as_ref()) < thrift {
                continue;
            }
            if let Some(plan) = plan
                && let Some(taken) = self.offer(i, plan, left)
            {
                self.page.note(before + least);
                left -= taken.min(left);
            }
        }
    }

    /// The worth of a hit for its size, relative to the best hit of the usual size. A long hit needs a higher
    /// score.
    fn worth(&self, i: usize, plan: Option<&Plan>) -> f64 {
        let lines: u32 = plan.into_iter().flat_map(|p| &p.parts).map(|part| part.count()).sum();
        let size = f64::from(lines.max(1)) / USUAL_LINES;
        self.s.claimed[i].candidate.seed_score / size.sqrt().sqrt()
    }

    /// The plan of a hit. A hit that only calls what the text names is shown by the line of the call, since
    /// many callers are alike.
    fn plan_of_seed(&mut self, i: usize) -> Option<Plan> {
        let unit = Rc::clone(&self.s.claimed[i].candidate.unit);
        match (self.plans.calls.get(&unit.key).cloned(), unit.def.some()) {
            (Some(lines), Some(def)) if self.seen_mark(&unit).is_none() => {
                let def = self.s.units.def(def);
                Some(excerpt::head(&self.s.source(i), &def, lines))
            }
            _ => self.plan(i),
        }
    }

    /// Shows heads of the definitions that the shown code refers to.
    pub(super) fn show_references(&mut self, room: u64) {
        if room < ROOM_MIN || self.page.left() == 0 {
            return;
        }
        let shown = self.shown_code(|_| true);
        let references = self.references(&shown);
        self.show_links(&references, room, usize::MAX);
    }

    /// Shows callers of the best shown code: the line of the call under the signature of the caller.
    pub(super) fn show_callers(&mut self, room: u64) {
        let mut shown = self.shown_code(|_| true);
        shown.truncate(CALLED_MAX);
        let callers = self.referrers(&shown, Role::Code, &[EdgeKind::Call]);
        self.show_links(&callers, room, usize::MAX);
    }

    /// Shows tests of the shown code: those that reach it, and those in files named after its files. Words of
    /// the text and good tests in the same file raise their weight.
    pub(super) fn show_tests(&mut self, room: u64) {
        if room < ROOM_MIN || self.page.left() == 0 {
            return;
        }
        let mut shown = self.shown_code(|_| true);
        shown.truncate(TESTED_MAX);
        let tests = self.known_tests(&shown);
        self.show_links(&tests, room, usize::MAX);
    }

    /// Returns tests of shown code, best first.
    pub(super) fn tests_of(&mut self, shown: &[Shown]) -> Vec<Link> {
        let mut tests = links::tests(&mut self.s.units, shown, &self.allowed);
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
        tests
    }

    /// Shows documents and configuration that match the text.
    pub(super) fn show_prose(&mut self, room: u64) {
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

    /// Fills the remaining budget, until nothing more fits: candidates that are not shown yet, then the rest
    /// of cut items, then references of the new lines.
    pub(super) fn use_up(&mut self) -> Result<(), PackError> {
        loop {
            let before = (self.page.size(), self.page.n_items());
            self.show_others();
            self.widen();
            if (self.page.size(), self.page.n_items()) == before {
                return Ok(());
            }
            self.check_cancelled()?;
            self.show_references(u64::MAX);
            self.show_tests(u64::MAX);
        }
    }

    /// Offers all other candidates in rank order by their plans.
    fn show_others(&mut self) {
        for i in 0..self.s.claimed.len() {
            let is_open = !self.touches_page(i);
            if is_open && self.is_too_large(i, self.page.left()) {
                continue;
            }
            let least = if is_open { self.at_least(i) } else { 0 };
            let before = self.page.size().tokens;
            if self.plan_of_seed(i).is_some_and(|plan| self.offer(i, plan, u64::MAX).is_some()) {
                self.page.note(before + least);
            }
        }
    }

    /// Shows cut items whole, best first, if that fits.
    pub(super) fn widen(&mut self) {
        for i in 0..self.s.claimed.len() {
            if self.page.left() == 0 {
                break;
            }
            let c = &self.s.claimed[i];
            let is_cut = c.state == State::Included
                && c.plan.as_ref().is_some_and(|p| matches!(p.form, Form::Head | Form::Windows));
            let before = self.page.size().tokens;
            if is_cut
                && let Some(plan) = self.widest(i).filter(|p| p.form == Form::Whole)
                && self.offer(i, plan, u64::MAX).is_some()
            {
                self.page.note(before + 1);
            }
        }
    }

    /// True if lines of a candidate are shown already, so that it may cost less than its text.
    fn touches_page(&self, i: usize) -> bool {
        let unit = &self.s.claimed[i].candidate.unit;
        self.page.page().touches(unit.file, unit.lines())
    }

    /// Shows heads of linked units, in order. Returns the tokens they took.
    pub(super) fn show_links(&mut self, links: &[Link], room: u64, n_max: usize) -> u64 {
        let (mut left, mut n) = (room, 0);
        for link in links {
            if n == n_max || left < ROOM_MIN || self.page.left() == 0 {
                break;
            }
            // The reader has the head already.
            if self.seen_mark(&link.unit).is_some() {
                continue;
            }
            let Some(i) = self.candidate_of(link) else { continue };
            match self.s.claimed[i].state {
                State::Included => {
                    left -= self.add_lines(i, &link.lines, left).min(left);
                    continue;
                }
                // A copy of other code is a use of its own.
                State::Merged => self.part(i),
                _ => {}
            }
            // A header alone may exceed the room.
            if self.has_too_large_header(i, left.min(self.page.left())) {
                continue;
            }
            let source = self.s.source(i);
            let def = link.unit.def.some().map(|d| self.s.units.def(d));
            let plan = match def {
                Some(def) => excerpt::head(&source, &def, link.lines.iter().copied()),
                None => excerpt::lines(link.lines.iter().copied()),
            };
            let Some(plan) = excerpt::telling(&source, &link.unit, plan) else { continue };
            let before = self.page.size().tokens;
            if let Some(taken) = self.offer(i, plan, left) {
                self.page.note(before + 1);
                left -= taken.min(left);
                n += 1;
            }
        }
        room - left
    }

    /// Makes a candidate one of its own that has the content of another.
    fn part(&mut self, i: usize) {
        self.s.claimed.iter_mut().for_each(|c| c.merged.retain(|m| *m != i));
        self.s.claimed[i].state = State::Open;
    }

    /// Adds lines to an item that is cut, such as the members of a type that shown code uses.
    fn add_lines(&mut self, i: usize, lines: &[u32], room: u64) -> u64 {
        let plan = self.s.claimed[i].plan.as_ref().filter(|p| matches!(p.form, Form::Head | Form::Windows));
        let plan = plan.map(|p| p.with(lines.iter().map(|l| Lines { start: *l, end: *l })));
        plan.and_then(|plan| self.offer(i, plan, room)).unwrap_or(0)
    }

    /// The index of the candidate for a linked unit, which is added if it is new. `None` if it is too many
    /// hops away.
    pub(super) fn candidate_of(&mut self, link: &Link) -> Option<usize> {
        if let Some(&i) = self.at.get(&link.unit.key) {
            return Some(i);
        }
        let file = self.s.units.file(link.unit.file);
        let score = self.s.gathered.scores.get(&link.unit.key).copied().unwrap_or_default();
        let mut candidate = Candidate {
            origin: if link.unit.kind == ChunkKind::Type { Origin::Around } else { Origin::Text },
            distance: 1,
            ..Candidate::new(Rc::clone(&link.unit), file, score)
        };
        // A link without an edge is the type of a shown member, or a test found by the name of its file.
        if let Some((from, step)) = link.edges.first() {
            let from = &self.s.claimed[*from].candidate;
            candidate.origin = Origin::Edge;
            candidate.distance = from.distance + 1 + link.way.len() as u32;
            candidate.path = from.path.iter().chain(&link.way).copied().chain([*step]).collect();
            candidate.evidence = from.evidence * step.confidence();
            candidate.has_gap = from.has_gap || step.evidence.is_none();
        }
        if candidate.distance > self.s.request.expansion.max_hops {
            return None;
        }
        candidate.score(&self.ctx.config.scoring);
        let view = self.s.units.view;
        let claimed = claim_all(vec![candidate], &[Fate::Kept], &self.s.request, view);
        self.at.insert(link.unit.key, self.s.claimed.len());
        self.s.claimed.extend(claimed);
        Some(self.s.claimed.len() - 1)
    }

    /// The shown code, best first, with weights.
    pub(super) fn shown_code(&self, pick: impl Fn(usize) -> bool) -> Vec<Shown> {
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
            def: self.s.claimed[item].candidate.unit.def,
            lines: self.lines_shown(item),
        };
        items.enumerate().map(shown).collect()
    }
}

/// Maximum shown callers of named definitions.
const NAMED_CALLERS_MAX: usize = 12;

/// Minimum shown callers of named definitions: if the code has fewer, tests follow.
const NAMED_USERS_MIN: usize = 10;

/// Maximum shown callers through an interface or a base, and maximum shown implementations or overrides, of
/// named definitions.
const DISPATCHED_MAX: usize = 6;

/// Number of best hits that are shown whole even if they call what the text names.
const WHOLE_CALLERS_MAX: usize = 5;

/// Number of best shown definitions whose callers are shown.
const CALLED_MAX: usize = 4;

/// Number of best shown definitions whose tests are shown.
const TESTED_MAX: usize = 24;

/// Weight that a test gets from good tests in its file, relative to its own.
const BESIDE_TESTS: f64 = 0.1;

/// Lines of a hit of the usual size.
const USUAL_LINES: f64 = 15.0;

/// Minimum free tokens for an offer: the mark of a gap and one line take more.
pub(super) const ROOM_MIN: u64 = 4;
