//! Limits how much of a candidate is shown, and chooses its lines.

use super::Assembly;
use crate::candidate::Origin;
use crate::excerpt::{self, LineScores, Plan, Room};
use crate::identity::Source;
use crate::pack::Form;
use crate::request::Caps;
use crate::role::Role;
use crate::unit::Unit;
use indexd_model::limits::TOTAL_CHARS_MAX;
use indexd_model::{ChunkKind, EdgeKind};
use indexd_text::{word_terms, words};
use std::rc::Rc;

impl Assembly<'_> {
    /// The plan of a candidate's excerpt.
    pub(super) fn plan(&mut self, i: usize) -> Option<Plan> {
        if let Some(known) = self.plans.of.get(&i) {
            return known.clone();
        }
        if (self.ctx.cancel)() {
            return None;
        }
        let plan = self.new_plan(i);
        self.plans.of.insert(i, plan.clone());
        plan
    }

    /// The plan with as much of a candidate as one item may hold.
    pub(super) fn widest(&mut self, i: usize) -> Option<Plan> {
        let source = self.s.source(i);
        if source.text.is_empty() {
            return None;
        }
        let unit = Rc::clone(&self.s.claimed[i].candidate.unit);
        let head = unit.def.some().map(|d| self.s.units.def(d).head.start);
        let bytes = self.s.request.budgets.max_bytes_per_item as usize;
        let room = Room {
            bytes,
            lines: u32::MAX,
            whole_bytes: bytes,
            head_lines: excerpt::HEAD_LINES,
            line_bytes: source.line_max(),
        };
        Some(excerpt::plan(&unit, &source, head, || None, room, &self.ctx.tuning.excerpts))
    }

    fn new_plan(&mut self, i: usize) -> Option<Plan> {
        let source = self.s.source(i);
        if source.text.is_empty() {
            return None;
        }
        let unit = Rc::clone(&self.s.claimed[i].candidate.unit);
        if let Some(line) = self.line_of_import(i).filter(|_| self.seen_mark(&unit).is_none()) {
            return Some(excerpt::lines([line]));
        }
        if let Some(plan) = self.plan_of_members(&unit, &source) {
            return Some(plan);
        }
        let room = self.room(i);
        // A shorter span may be a piece of a long line.
        let is_long = unit.spans.iter().any(|(s, _)| s.len() as usize > source.line_max());
        if is_long || source.is_long(unit.lines().start) {
            self.cut_long_lines(&unit, &source);
        }
        let head = unit.def.some().map(|d| self.s.units.def(d).head.start);
        let e = self.ctx.tuning.excerpts;
        let scores = || Some(self.line_scores(i, &source));
        Some(excerpt::plan(&unit, &source, head, scores, room, &e))
    }

    /// The plan of a unit of which the text names only members, such as the fields of a long type: its
    /// signature and the lines of the members. `None` for a short unit.
    fn plan_of_members(&mut self, unit: &Unit, source: &Source) -> Option<Plan> {
        let members = self.lanes.named.members(unit);
        if members.is_empty() || unit.lines().count() <= excerpt::WHOLE_LINES {
            return None;
        }
        let head = unit.def.some().map(|def| excerpt::signature(source, &self.s.units.def(def)));
        let parts = members.iter().map(|def| self.s.units.def(*def).lines).chain(head);
        let none = Plan { form: Form::Windows, parts: Vec::new(), reason: Some("windows") };
        Some(none.with(parts.collect::<Vec<_>>()))
    }

    /// The line of the import by which a candidate was reached, unless it is a definition. Lines around it
    /// import other names.
    fn line_of_import(&self, i: usize) -> Option<u32> {
        let c = &self.s.claimed[i].candidate;
        let step = c.path.last().filter(|s| matches!(s.kind, EdgeKind::Import | EdgeKind::Export))?;
        let line = step.evidence?.line;
        let is_inside = c.unit.spans.iter().any(|(_, l)| l.start <= line && line <= l.end);
        (c.unit.def.some().is_none() && is_inside && !step.is_out).then_some(line)
    }

    /// Makes the shown part of long lines begin shortly before a quoted phrase, or the heaviest word of the text,
    /// in them.
    fn cut_long_lines(&self, unit: &Unit, source: &Source) {
        let terms = &self.s.gathered.retrieved.weighted.terms;
        for line in (unit.lines().start..=unit.lines().end).filter(|l| source.is_long(*l)) {
            let text = source.line(line);
            let phrase = self.s.query.literals.iter().find_map(|phrase| text.find(phrase.as_str()));
            let mut best = phrase.map(|at| (f64::INFINITY, at));
            words(text, |at, word| {
                word_terms(word, |t| {
                    let weight = terms.iter().find(|known| known.0 == t).map_or(0.0, |known| known.1);
                    if weight > best.map_or(0.0, |b| b.0) {
                        best = Some((weight, at));
                    }
                });
            });
            if let Some((_, at)) = best {
                let before = BYTES_BEFORE_WORD.min(source.line_max() / 8);
                source.cut_at(line, at.saturating_sub(before));
            }
        }
    }

    /// The limits for a candidate: seeds get tokens by the budget and their rank, neighbours few.
    pub(super) fn room(&self, i: usize) -> Room {
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
        let line_bytes = line_bytes(&self.s.request.budgets);
        Room { bytes, lines: lines as u32, whole_bytes, head_lines, line_bytes }
    }

    /// True if the excerpt of a candidate certainly exceeds `tokens`, without a look at its text.
    pub(super) fn is_too_large(&mut self, i: usize, tokens: u64) -> bool {
        let least = self.excerpt_at_least(i);
        least > tokens || self.has_too_large_header(i, tokens - least)
    }

    /// A lower bound for the tokens of a candidate's excerpt: those of its text where that is shown whole, else
    /// of its signature. A module that imports what is shown may take one line.
    fn excerpt_at_least(&mut self, i: usize) -> u64 {
        if self.line_of_import(i).is_some() {
            return 0;
        }
        let (unit, room) = (Rc::clone(&self.s.claimed[i].candidate.unit), self.room(i));
        let signature = unit.def.some().map_or(0, |d| u64::from(self.s.units.def(d).head.len()));
        let least_shown = signature.min(SIGNATURE_BYTES).min(room.line_bytes as u64);
        let bytes = excerpt::whole_bytes(&unit, room).unwrap_or(least_shown);
        bytes / BYTES_PER_TOKEN_MAX
    }

    /// The free tokens that [`Assembly::is_too_large`] requires.
    pub(super) fn at_least(&mut self, i: usize) -> u64 {
        let excerpt = self.excerpt_at_least(i);
        let c = &self.s.claimed[i].candidate;
        excerpt + self.page.header_at_least(c.unit.file, &c.file)
    }

    /// True if the header of a candidate's file is not shown yet and does not fit into `tokens`. Limits on
    /// items are checked first, as for every offer.
    pub(super) fn has_too_large_header(&mut self, i: usize, tokens: u64) -> bool {
        let c = &self.s.claimed[i].candidate;
        let least = self.page.header_at_least(c.unit.file, &c.file);
        if least > tokens {
            self.drop_capped(i);
        }
        least > tokens
    }

    /// The query terms on each line, and the places of edges.
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
        let uses = self.plans.calls.get(&c.unit.key).into_iter().flatten();
        for line in uses.filter(|l| lines.start <= **l && **l <= lines.end) {
            places[(line - lines.start) as usize] += top;
        }
        // A line with a quoted phrase is shown before any other.
        for line in self.quoted_lines(i, source) {
            places[(line - lines.start) as usize] += PHRASE_FACTOR * top;
        }
        LineScores { terms, places, weights: Rc::clone(&self.weights) }
    }

    /// The lines of a candidate on which a quoted phrase of the text begins, ascending.
    pub(super) fn quoted_lines(&self, i: usize, source: &Source) -> Vec<u32> {
        let lines = self.s.claimed[i].candidate.unit.lines();
        let span = source.lines().lines_span(lines);
        let text = source.slice(span);
        let found = self.s.query.literals.iter().flat_map(|phrase| text.match_indices(phrase.as_str()));
        let mut out: Vec<u32> = found.map(|(at, _)| source.lines().line(span.start + at as u32)).collect();
        out.sort_unstable();
        out.dedup();
        out
    }
}

/// The value of a line with a quoted phrase, as a multiple of that of a line with all words of the text.
const PHRASE_FACTOR: f64 = 4.0;

/// Bytes of a line, line end included, from which it is cut: the limit of an item, or less in a small pack,
/// where one line could take the whole budget or not fit at all: it gets half of it.
pub(super) fn line_bytes(caps: &Caps) -> usize {
    let of_pack = scale_of(caps.max_total_tokens) as usize * BYTES_PER_TOKEN / 2;
    of_pack.min(caps.max_bytes_per_item as usize)
}

/// Maximum bytes of a cut line before the word around which it is cut.
const BYTES_BEFORE_WORD: usize = 120;

/// Percent of the budget up to which a type that is not the best hit is shown whole. Types are looked up
/// rather than read.
const TYPE_PERCENT: f64 = 10.0;

/// The same percentage for a test that is not a hit: about 20 lines with 8,000 tokens.
const TEST_PERCENT: f64 = 3.0;

/// The same percentage for other candidates that are not hits, and the maximum lines of longer ones.
const NEIGHBOUR_PERCENT: f64 = 2.0;

const NEIGHBOUR_LINES: usize = 12;

/// Lines of the head of such a candidate. Its other lines are those of the edge or of the text.
const NEIGHBOUR_HEAD_LINES: u32 = 4;

/// Typical bytes of code for each token and for each line. They are estimates; the final text is counted.
const BYTES_PER_TOKEN: usize = 3;

const BYTES_PER_LINE: usize = 34;

/// Bytes for each token that source rarely exceeds; a bound for pruning.
const BYTES_PER_TOKEN_MAX: u64 = 7;

/// Maximum bytes of a signature that count for that bound, as only its first lines are certain to be shown.
const SIGNATURE_BYTES: u64 = 80;

/// Returns a size near the budget that is equal for all budgets within about a fifth; four sizes for each
/// power of two.
pub fn scale_of(budget: u64) -> u64 {
    // 2^(1/4), 2^(1/2) and 2^(3/4) in thousandths.
    const STEPS: [u64; 4] = [1_000, 1_189, 1_414, 1_682];
    // A pack takes slightly less than its budget, so common budgets are slightly above a step.
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
