//! Shows a change and its surroundings: the diff of each definition, users of changed contracts, the tests
//! that reach the change, and the definitions that it refers to.
//!
//! The diff gets the largest share of the budget. Each part is shown with as many lines of context as fit for
//! all parts, contracts first. Parts that do not fit are named with their size. Then follow users of changed
//! contracts, tests, and heads of the definitions that the changed lines refer to.

use super::{Assembly, Selected, State};
use crate::change::{Change, Segment, segments};
use crate::error::PackError;
use crate::excerpt::Plan;
use crate::links::{self, Shown};
use crate::pack::{ChangeReport, FileReport, Form, Status, Word};
use crate::page::ChangeBlock;
use crate::request::Intent;
use crate::role::Role;
use crate::unit::{Unit, Units};
use indexd_model::{DefDoc, EdgeKind, Lines};
use std::rc::Rc;

/// Percent of the budget for the diff: in a pack about a change alone, and in one with a text.
const DIFF_PERCENT: [u64; 2] = [65, 50];
/// Lines of context around a change, from all to none.
const WIDTHS: [u32; 5] = [u32::MAX, 8, 3, 1, 0];
/// The index in [`WIDTHS`] that all parts get before one part gets more.
const WIDTH_USUAL: usize = 2;
/// Maximum shown lines of one part; longer parts are seldom read whole.
const LINES_MAX: usize = 120;
/// Definitions up to this number of lines are shown whole around their change.
const WHOLE_LINES_MAX: usize = 60;
/// Maximum percent of the diff's tokens for one part, by review rank: a large new file must not hide the
/// rest.
const PART_PERCENT: [u64; 8] = [60, 60, 40, 20, 25, 15, 15, 0];
/// Percent of the remaining budget for users of changed contracts, then for tests.
const USERS_PERCENT: u64 = 45;
const TESTS_PERCENT: u64 = 50;
/// Percent of the then remaining budget for definitions that the changed lines refer to.
const REFERENCES_PERCENT: u64 = 60;
/// Kinds of edges from users of a contract, calls first.
const USES: [EdgeKind; 4] = [EdgeKind::Call, EdgeKind::Usage, EdgeKind::Inherit, EdgeKind::Implement];
/// Maximum tests shown by the name of their file, if no test refers to the change.
const TESTS_NAMED_MAX: usize = 8;
/// Maximum parts named without their diff, and maximum names on one line.
const NAMED_MAX: usize = 24;

/// The change of a request, and the parts of it that are shown.
pub struct Changed<'c> {
    /// The change.
    pub change: &'c Change,
    parts: Vec<Part>,
    /// The position of each file in the text.
    order: Vec<usize>,
}

/// One part of a change. Its report has the diff if that is shown.
struct Part {
    segment: Segment,
    /// Its unit in the index, if any.
    unit: Option<Rc<Unit>>,
}

impl Part {
    fn is_shown(&self) -> bool {
        self.segment.report.diff.is_some()
    }
}

impl<'c> Changed<'c> {
    /// Splits a change into parts and finds their definitions in the index.
    pub fn new(units: &mut Units, change: &'c Change, intent: Intent) -> Self {
        let part = |segment| Part { unit: unit_of(units, change, &segment), segment };
        let parts: Vec<Part> = segments(change).into_iter().map(part).collect();
        let of_file = |i: usize| parts.iter().filter(move |p| p.segment.file == i).map(|p| p.segment.rank);
        let mut files: Vec<(u8, usize)> =
            (0..change.files.len()).map(|i| (of_file(i).min().unwrap_or(u8::MAX), i)).collect();
        if intent == Intent::Review {
            files.sort_unstable();
        }
        let mut order = vec![0; files.len()];
        for (place, (_, file)) in files.into_iter().enumerate() {
            order[file] = place;
        }
        Self { change, parts, order }
    }

    /// The units of the changed definitions, contracts first.
    pub fn units(&self) -> Vec<Rc<Unit>> {
        let mut out: Vec<(u8, Rc<Unit>)> = Vec::new();
        for p in &self.parts {
            if let Some(unit) = p.unit.as_ref().filter(|u| out.iter().all(|o| o.1.key != u.key)) {
                out.push((p.segment.rank, Rc::clone(unit)));
            }
        }
        out.sort_by_key(|o| o.0);
        out.into_iter().map(|o| o.1).collect()
    }

    /// A hint about the parts that did not fit.
    pub fn hint(&self) -> Option<String> {
        let n = self.parts.iter().filter(|p| !p.is_shown() && p.segment.rank < 7).count();
        let parts = if n == 1 { "part" } else { "parts" };
        (n > 0).then(|| format!("{n} {parts} of the change had no room; raise maxTotalTokens"))
    }

    fn report(&self) -> ChangeReport {
        let mut files: Vec<(usize, FileReport)> = Vec::new();
        for (i, file) in self.change.files.iter().enumerate() {
            let own = self.parts.iter().filter(|p| p.segment.file == i);
            files.push((
                self.order[i],
                FileReport {
                    file_rel_path: file.path.clone(),
                    previous_path: file.previous_path.clone(),
                    status: file.status(),
                    indexed: file.is_indexed,
                    unreadable: file.unreadable.map(Word::from),
                    parts: own.map(|p| p.segment.report.clone()).collect(),
                },
            ));
        }
        files.sort_by_key(|f| f.0);
        let shown = self.parts.iter().filter(|p| p.is_shown()).count() as u64;
        ChangeReport {
            from: self.change.id.from.clone(),
            to: self.change.id.to.clone(),
            files: files.into_iter().map(|f| f.1).collect(),
            shown,
            left_out: self.parts.len() as u64 - shown,
        }
    }
}

/// The unit of a definition after the change. If the index holds another text of the file, the unit with the
/// same name.
fn unit_of(units: &mut Units, change: &Change, segment: &Segment) -> Option<Rc<Unit>> {
    let file = &change.files[segment.file];
    let doc = units.view.file_by_path(&file.path)?;
    if file.is_indexed {
        let version = file.after.as_ref()?;
        if let Some(def) = segment.after.some() {
            return units.of_def(units.view.def_doc(doc, def));
        }
        if segment.kind.is_some() {
            return None;
        }
        let n = version.lines.count();
        return units.at(doc, version.lines.start(segment.line().clamp(1, n.max(1))));
    }
    let own = &segment.report.name;
    let name = segment.report.previous_name.as_ref().unwrap_or(own);
    let last = name.rsplit('.').next().filter(|n| !n.is_empty())?;
    let found = units.view.defs_named(last).into_iter().find(|def: &DefDoc| {
        let record = units.def(*def);
        record.file == doc && (*record.qualified == *name || *record.qualified == **own)
    })?;
    units.of_def(found)
}

impl Selected<'_> {
    /// True if the change of the request touches the unit of a candidate.
    pub fn is_changed(&self, i: usize) -> bool {
        let key = self.claimed[i].candidate.unit.key;
        let parts = self.changed.iter().flat_map(|c| &c.parts);
        parts.flat_map(|p| &p.unit).any(|u| u.key == key)
    }

    /// True if any part of a change is in the text.
    pub fn shows_changes(&self) -> bool {
        self.changed.iter().flat_map(|c| &c.parts).any(Part::is_shown)
    }

    /// The report about the change.
    pub fn change_report(&self) -> Option<ChangeReport> {
        self.changed.as_ref().map(Changed::report)
    }
}

impl Assembly<'_> {
    /// The lines of an item from which edges start: the shown lines, or all lines if a diff shows another
    /// text.
    pub(super) fn lines_shown(&self, item: usize) -> Vec<Lines> {
        let c = &self.s.claimed[item];
        match &c.plan {
            Some(plan) if plan.form == Form::Diff && plan.parts.is_empty() => {
                c.candidate.unit.spans.iter().map(|s| s.1).collect()
            }
            Some(plan) => plan.parts.clone(),
            None => Vec::new(),
        }
    }

    /// Shows the change and its surroundings.
    pub(super) fn show_changes(&mut self) -> Result<(), PackError> {
        let Some(mut changed) = self.s.changed.take() else { return Ok(()) };
        changed.parts.iter_mut().for_each(|p| p.segment.report.diff = None);
        let alone = self.s.request.is_change_alone();
        let room = self.page.tokens_max() * DIFF_PERCENT[usize::from(!alone)] / 100;
        self.show_diff(&mut changed, room);
        self.name_others(&changed);
        let gone = removed_names(&changed);
        self.s.changed = Some(changed);
        self.check_cancelled()?;
        if alone {
            self.show_around(&gone);
        }
        Ok(())
    }

    /// Shows the diff, part by part.
    fn show_diff(&mut self, changed: &mut Changed, room: u64) {
        let mut order: Vec<usize> = (0..changed.parts.len()).collect();
        order.sort_by_key(|i| (changed.parts[*i].segment.rank, *i));
        let widths = self.widths(changed, &order, room);
        for i in order {
            for width in WIDTHS.iter().skip(widths[i]) {
                if self.show_part(changed, i, *width, room) {
                    break;
                }
            }
        }
        // Files without parts: renamed ones, and those whose text cannot be shown.
        for (n, file) in changed.change.files.iter().enumerate() {
            if changed.parts.iter().all(|p| p.segment.file != n) {
                let mut block = ChangeBlock::new(file.path.clone(), head_of(changed, n));
                self.page.put_block(changed.order[n], &mut block, u64::MAX);
            }
        }
    }

    /// Returns an index into [`WIDTHS`] for each part such that all fit into `room`: the usual width or less
    /// for all, then more for the first parts.
    fn widths(&self, changed: &Changed, order: &[usize], room: u64) -> Vec<usize> {
        let cost = |i: usize, w: usize| {
            let (text, _) = changed.parts[i].segment.diff(changed.change, WIDTHS[w], LINES_MAX);
            u64::from(self.ctx.counter.count_tokens(&text)).min(part_room(changed, i, room))
        };
        let sum = |w: usize| order.iter().map(|i| cost(*i, w)).sum::<u64>();
        let sums = (WIDTH_USUAL..WIDTHS.len()).map(|w| (w, sum(w)));
        let Some((start, mut total)) = { sums }.find(|s| s.1 <= room) else {
            return vec![WIDTHS.len() - 1; changed.parts.len()];
        };
        let mut out = vec![start; changed.parts.len()];
        for &i in order {
            let now = cost(i, start);
            let mut wider = (0..start).map(|w| (w, cost(i, w)));
            let segment = &changed.parts[i].segment;
            let fits = |(w, tokens): &(usize, u64)| {
                let is_definition = segment.kind.is_some();
                let lines_max = match *w {
                    0 if is_definition => WHOLE_LINES_MAX,
                    // The lines after text between definitions are unrelated to it.
                    _ if !is_definition => 0,
                    _ => LINES_MAX,
                };
                segment.n_lines(WIDTHS[*w]) <= lines_max
                    && *tokens < part_room(changed, i, room).max(1)
                    && total - now + tokens <= room
            };
            if let Some((w, tokens)) = wider.find(fits) {
                (out[i], total) = (w, total - now + tokens);
            }
        }
        out
    }

    /// Shows one part with `width` lines of context, or fewer if the part is long. Returns true if it fits.
    fn show_part(&mut self, changed: &mut Changed, i: usize, width: u32, room: u64) -> bool {
        let part_room = part_room(changed, i, room);
        let mut lines_max = LINES_MAX;
        while lines_max > 0 {
            let part = &changed.parts[i];
            let (text, lines) = part.segment.diff(changed.change, width, lines_max);
            let n = changed.order[part.segment.file];
            let file = part.segment.file;
            let mut block = self.page.page().change(n).cloned().unwrap_or_else(|| {
                ChangeBlock::new(changed.change.files[file].path.clone(), head_of(changed, file))
            });
            block.parts.insert(i, text.clone());
            let is_long = u64::from(self.ctx.counter.count_tokens(&text)) > part_room;
            if !is_long && self.page.put_block(n, &mut block, room) {
                changed.parts[i].segment.report.diff = Some(text);
                self.include(changed, i, &lines);
                return true;
            }
            // Lines at the end of the diff are left out only when no context is left to remove.
            if width > 0 {
                return false;
            }
            lines_max /= 3;
        }
        false
    }

    /// Makes a part an item if its definition is in the index.
    fn include(&mut self, changed: &Changed, i: usize, lines: &[Lines]) {
        let part = &changed.parts[i];
        let Some(unit) = part.unit.clone() else { return };
        let is_indexed = changed.change.files[part.segment.file].is_indexed;
        if is_indexed {
            self.page.put_seen(unit.file, lines.iter().copied());
        }
        let Some(&c) = self.at.get(&unit.key) else { return };
        let Some(section) = self.s.claimed[c].section else { return };
        match self.s.claimed[c].state {
            State::Open if self.page.cap(section).is_none() => self.page.count(section),
            State::Included => {}
            _ => return,
        }
        let whole: Vec<Lines> = unit.spans.iter().map(|s| s.1).collect();
        let shown = lines.iter().flat_map(|l| whole.iter().filter_map(move |s| s.common(*l)));
        let parts: Vec<Lines> = if is_indexed { shown.collect() } else { Vec::new() };
        let reason = (parts != whole).then_some("diff");
        let c = &mut self.s.claimed[c];
        c.state = State::Included;
        c.plan = Some(Plan { form: Form::Diff, parts, reason });
    }

    /// Names the parts that did not fit, with their sizes.
    fn name_others(&mut self, changed: &Changed) {
        let others: Vec<&Part> = changed.parts.iter().filter(|p| !p.is_shown()).collect();
        let mut lines: Vec<String> = Vec::new();
        for p in others.iter().take(NAMED_MAX) {
            let (path, part) = (&changed.change.files[p.segment.file].path, &p.segment.report);
            let name = if part.name.is_empty() { String::new() } else { format!(" {}", part.name) };
            let counts = format!("+{} -{}", part.added, part.removed);
            lines.push(format!("- {path}{name} ({}, {counts})", part.status.name()));
        }
        if others.len() > NAMED_MAX {
            lines.push(format!("- {} more", others.len() - NAMED_MAX));
        }
        while !lines.is_empty() {
            let head = format!("\n{}", lines.join("\n"));
            let mut block = ChangeBlock::new("without room".to_owned(), head);
            if self.page.put_block(usize::MAX, &mut block, u64::MAX) {
                break;
            }
            lines.truncate(lines.len() / 2);
        }
    }

    /// Shows users of changed contracts, tests, and definitions that the changed lines refer to.
    fn show_around(&mut self, gone: &[(String, String)]) {
        let contracts: Vec<usize> = self.items_changed(|s| s.report.contract);
        let code: Vec<usize> = self.items_changed(|_| true);
        let mut room = self.page.left() * USERS_PERCENT / 100;
        let dangling = links::dangling(&mut self.s.units, gone);
        room -= self.show_links(&dangling, room, usize::MAX).min(room);
        let shown = self.shown_code(|i| contracts.contains(&i));
        let constructed = self.constructed_types(&shown);
        for role in [Role::Code, Role::Test] {
            for (shown, kinds) in [(&constructed, &USES[..1]), (&shown, &USES[..])] {
                let users = self.referrers(shown, role, kinds);
                room -= self.show_links(&users, room, usize::MAX).min(room);
            }
        }
        let shown = self.shown_code(|i| code.contains(&i));
        let hops = self.s.request.expansion.max_hops;
        let tests = links::reaching(&mut self.s.units, &shown, Role::Test, &self.allowed, hops);
        self.show_links(&tests, self.page.left() * TESTS_PERCENT / 100, usize::MAX);
        let references = self.references(&shown);
        self.show_links(&references, self.page.left() * REFERENCES_PERCENT / 100, usize::MAX);
        let callers = self.referrers(&shown, Role::Code, &[EdgeKind::Call]);
        self.show_links(&callers, self.page.left(), usize::MAX);
        self.show_links(&tests, self.page.left(), usize::MAX);
        self.show_links(&references, self.page.left(), usize::MAX);
        if tests.is_empty() {
            // No edge leads to a test, so tests are found by the names of their files.
            let named = links::tests(&mut self.s.units, &shown, &self.allowed);
            self.show_links(&named, self.page.left(), TESTS_NAMED_MAX);
        }
    }

    /// The types whose constructors are among the shown definitions: a caller of a constructor names the
    /// type.
    fn constructed_types(&mut self, shown: &[Shown]) -> Vec<Shown> {
        let mut out = Vec::new();
        for s in shown {
            let Some(def) = s.unit.def.some() else { continue };
            let record = self.s.units.def(def);
            let is_maker = matches!(&*record.name, "__init__" | "__new__" | "__post_init__" | "constructor");
            let Some(parent) = record.parent.some().filter(|_| is_maker) else { continue };
            let Some(unit) = self.s.units.of_def(parent).filter(|u| u.def == parent) else { continue };
            let def = unit.def;
            out.push(Shown { item: s.item, weight: s.weight, unit, def, lines: Vec::new() });
        }
        out
    }

    /// The items of the parts for which `pass` is true.
    fn items_changed(&self, pass: impl Fn(&Segment) -> bool) -> Vec<usize> {
        let parts = self.s.changed.iter().flat_map(|c| &c.parts).filter(|p| pass(&p.segment));
        let mut out: Vec<usize> = parts.filter_map(|p| self.at.get(&p.unit.as_ref()?.key).copied()).collect();
        out.sort_unstable();
        out.dedup();
        out
    }
}

/// Maximum tokens of one part of the diff.
fn part_room(changed: &Changed, i: usize, room: u64) -> u64 {
    room * PART_PERCENT[usize::from(changed.parts[i].segment.rank).min(7)] / 100
}

/// Names of removed or renamed definitions, each with the new name, which is empty if there is none.
fn removed_names(changed: &Changed) -> Vec<(String, String)> {
    let last = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    let gone = changed.parts.iter().map(|p| &p.segment.report).filter(|s| s.contract);
    let mut out: Vec<(String, String)> = Vec::new();
    for s in gone {
        let pair = match (s.status, &s.previous_name) {
            (Status::Removed, _) => (last(&s.name), String::new()),
            (_, Some(was)) if last(was) != last(&s.name) => (last(was), last(&s.name)),
            _ => continue,
        };
        if !out.contains(&pair) {
            out.push(pair);
        }
    }
    out
}

/// The text after the path of a file, and the lines below it.
fn head_of(changed: &Changed, i: usize) -> String {
    let file = &changed.change.files[i];
    let mut out = match &file.previous_path {
        Some(was) => format!(" (renamed from {was})"),
        None => format!(" ({})", file.status().name()),
    };
    if let Some(why) = file.unreadable {
        out.push_str(&format!("\nnot shown: {why}"));
    }
    let of_file = changed.parts.iter().filter(|p| p.segment.file == i).map(|p| &p.segment.report);
    let others = of_file.filter(|s| s.contract).map(|s| match (&s.previous_name, s.status) {
        (Some(was), _) => format!("{was} is now {}", s.name),
        (None, Status::Removed) => match &s.elsewhere {
            Some(place) => format!("{} is now {place}", s.name),
            None => format!("{} is gone", s.name),
        },
        _ => s.name.clone(),
    });
    let others: Vec<String> = others.take(NAMED_MAX).collect();
    if !others.is_empty() {
        out.push_str(&format!("\nchanged for its users: {}", others.join(", ")));
    }
    out
}
