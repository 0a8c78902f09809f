//! Chooses the lines of a unit that are shown: all of them if they fit, else its head and the lines that
//! match the text.
//!
//! An excerpt is a list of runs of lines of the stored text. A line is shown whole unless it exceeds the byte
//! limit of an item, or is too long for a small pack. Then only the part around its heaviest match is shown
//! ([`Source::shown`]).

use crate::identity::Source;
use crate::pack::Form;
use crate::render::union;
use crate::tuning::Excerpts;
use crate::unit::Unit;
use indexd_model::Lines;
use indexd_model::view::DefRecord;
use std::rc::Rc;

/// The lines of a unit that will be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// How much of the unit is shown.
    pub form: Form,
    /// Runs of lines, in order, not adjacent, without blank lines at their ends. Empty if every line exceeds
    /// the limit on its length.
    pub parts: Vec<Lines>,
    /// The limit that was reached, if something is left out.
    pub reason: Option<&'static str>,
}

impl Plan {
    /// True if this plan shows more of the unit than `other`: a fuller form, or further lines in the same
    /// form.
    pub fn adds_to(&self, other: &Plan) -> bool {
        let covers = |p: &Lines| self.parts.iter().any(|own| own.contains(*p));
        self.form > other.form
            || self.form == other.form && self.parts != other.parts && other.parts.iter().all(covers)
    }

    /// Returns this plan with further lines.
    pub fn with(&self, further: impl IntoIterator<Item = Lines>) -> Self {
        Self { parts: union(self.parts.iter().copied().chain(further)), ..self.clone() }
    }
}

/// The value of each line of a unit.
pub struct LineScores {
    /// The query terms on each line of the unit, gaps between its spans included. A term counts once for each
    /// line.
    pub terms: Vec<Vec<u32>>,
    /// Additional value of each line, for edges that point at it.
    pub places: Vec<f64>,
    /// The weight of each term.
    pub weights: Rc<[f64]>,
}

impl LineScores {
    fn is_matching(&self, line: usize) -> bool {
        !self.terms[line].is_empty() || self.places[line] > 0.0
    }
}

/// Limits of one excerpt.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Maximum bytes of the excerpt.
    pub bytes: usize,
    /// Maximum lines, unless the unit is shown whole.
    pub lines: u32,
    /// Units up to this number of bytes are shown whole.
    pub whole_bytes: usize,
    /// Lines of the head that are always shown.
    pub head_lines: u32,
    /// Lines of at least this number of bytes are cut.
    pub line_bytes: usize,
}

/// Lines of the head of a long definition that are always shown.
pub const HEAD_LINES: u32 = 12;
/// Units up to this number of lines are shown whole.
pub const WHOLE_LINES: u32 = 12;
/// Gaps of up to this number of lines are shown: the mark of a gap would take as many tokens.
const GAP_LINES: usize = 3;

/// Plans the excerpt of `unit`. `head` is the first byte of its signature. `scores` gives the value of each line
/// of a unit that is not shown whole; without it the first lines are shown.
pub fn plan(
    unit: &Unit,
    source: &Source,
    head: Option<u32>,
    scores: impl FnOnce() -> Option<LineScores>,
    room: Room,
    e: &Excerpts,
) -> Plan {
    let whole: Vec<Lines> = unit.spans.iter().map(|(_, l)| trim(source, *l)).collect();
    let size: usize = whole.iter().map(|l| source.lines().lines_span(*l).len() as usize).sum();
    let n_lines: u32 = whole.iter().map(|l| l.count()).sum();
    let is_small = n_lines <= WHOLE_LINES || size <= room.whole_bytes;
    let has_long = |parts: &[Lines]| parts.iter().any(|p| (p.start..=p.end).any(|l| source.is_long(l)));
    if size <= room.bytes && is_small && !has_long(&whole) {
        return Plan { form: Form::Whole, parts: whole, reason: None };
    }
    let reason = if size > room.bytes { "maxBytesPerItem" } else { "windows" };
    let Lines { start: first, end } = unit.lines();
    let mut choice = Choice {
        source,
        whole: &whole,
        first,
        chosen: vec![false; unit.lines().count() as usize],
        bytes_max: room.bytes,
        bytes: room.bytes,
        lines: room.lines.max(1),
    };
    let head_line = head.map_or(whole[0].start, |at| source.lines().line(at)).clamp(first, end);
    choice.add_run(head_line, room.head_lines);
    if let Some(scores) = scores() {
        choice.add_windows(&scores, e.window_lines);
    }
    // The remaining lines follow the head.
    choice.add_run(head_line, u32::MAX);
    choice.close_gaps(GAP_LINES);
    let parts = choice.runs();
    let is_cut = has_long(&parts);
    if parts == whole && !is_cut {
        return Plan { form: Form::Whole, parts, reason: None };
    }
    let reason = if is_cut && source.line_max() < room.bytes { "maxTotalTokens" } else { reason };
    Plan { form: Form::Windows, parts, reason: Some(reason) }
}

/// Maximum lines of a signature in a head.
const HEAD_LINES_MAX: u32 = 12;
/// Maximum lines of a statement that is its own head, such as a table that begins with a bracket.
const STATEMENT_LINES_MAX: u32 = 8;

/// The lines of a definition's signature, to its end. A statement whose first line ends in an open bracket is
/// its own signature if it is short.
pub fn signature(source: &Source, def: &DefRecord) -> Lines {
    let first = source.lines().line(def.head.start).clamp(def.lines.start, def.name_line);
    let last = source.lines().line(def.head.end.saturating_sub(1)).max(def.name_line);
    let start = if def.name_line - first < HEAD_LINES_MAX { first } else { def.name_line };
    let head = Lines { start, end: last.min(start + HEAD_LINES_MAX - 1).max(def.name_line) };
    let whole = Lines { start, end: def.lines.end };
    let is_open = source.slice(source.lines().span(head.end)).trim_end().ends_with(['(', '[', '{']);
    let is_statement = !def.kind.is_callable() && !def.kind.is_type();
    if is_open && is_statement && whole.end >= head.end && whole.count() <= STATEMENT_LINES_MAX {
        return whole;
    }
    head
}

/// Plans the head of a definition: its signature and the lines in `further`.
pub fn head(source: &Source, def: &DefRecord, further: impl IntoIterator<Item = u32>) -> Plan {
    let signature = signature(source, def);
    let further = further.into_iter().map(|line| Lines { start: line, end: line });
    Plan { form: Form::Head, parts: union(std::iter::once(signature).chain(further)), reason: Some("head") }
}

/// Maximum lines of a doc comment in an outline.
const OUTLINE_DOC_LINES: u32 = 6;

/// Plans the outline of a definition: the first lines of its doc comment, and its signature.
pub fn outline(unit: &Unit, source: &Source, def: &DefRecord) -> Plan {
    let mut plan = head(source, def, std::iter::empty());
    if !def.doc.is_empty() {
        let first = source.lines().line(def.doc.start);
        let last = source.lines().line(def.doc.end.saturating_sub(1)).min(first + OUTLINE_DOC_LINES - 1);
        let doc = unit.lines().common(Lines { start: first, end: last });
        plan.parts = union(plan.parts.into_iter().chain(doc));
    }
    plan
}

/// Plans an excerpt of single lines, for a unit without a signature.
pub fn lines(further: impl IntoIterator<Item = u32>) -> Plan {
    let parts = union(further.into_iter().map(|line| Lines { start: line, end: line }));
    Plan { form: Form::Head, parts, reason: Some("head") }
}

/// Adds the first line of the unit to a head that contains only a name, as in a list of constants. Returns
/// `None` if that line has no other word either. Brackets tell that a name is a function.
pub fn telling(source: &Source, unit: &Unit, head: Plan) -> Option<Plan> {
    let has_words = |parts: &[Lines]| {
        let texts = parts.iter().map(|p| source.slice(source.lines().lines_span(*p)));
        let is_call =
            |t: &str| t.split_once('(').is_some_and(|(name, _)| name.ends_with(char::is_alphanumeric));
        if texts.clone().any(is_call) {
            return true;
        }
        let words = texts.flat_map(|t| t.split(|c: char| !c.is_alphanumeric() && c != '_'));
        words.filter(|w| !w.is_empty()).take(2).count() == 2
    };
    if has_words(&head.parts) {
        return Some(head);
    }
    let line = unit.lines().start;
    let first = Lines { start: line, end: line };
    let is_told = has_words(&[first]);
    is_told.then(|| Plan { parts: union(head.parts.into_iter().chain([first])), ..head })
}

/// The bytes of `unit` if it is shown whole, decided without a look at its text; `None` if its first lines may
/// be all that is shown.
pub fn whole_bytes(unit: &Unit, room: Room) -> Option<u64> {
    let (size, n_lines) = unit.size();
    let is_in = |bytes: usize| size as usize <= bytes;
    let has_long = n_lines <= WHOLE_LINES && !is_in(room.line_bytes);
    let is_whole = n_lines <= WHOLE_LINES || is_in(room.whole_bytes);
    (is_whole && !has_long && is_in(room.bytes)).then_some(u64::from(size))
}

/// The largest number up to `max` that fits, 0 if none does. Every number below one that fits must fit.
pub fn most(max: u32, mut fits: impl FnMut(u32) -> bool) -> u32 {
    let (mut low, mut high) = (0, max);
    while low < high {
        let mid = (low + high).div_ceil(2);
        if fits(mid) { low = mid } else { high = mid - 1 }
    }
    low
}

/// Reduces a plan to its first `n_lines` lines.
pub fn shorten(plan: &Plan, n_lines: u32) -> Plan {
    let mut left = n_lines;
    let mut parts = Vec::new();
    for p in &plan.parts {
        if left == 0 {
            break;
        }
        let n = p.count().min(left);
        parts.push(Lines { start: p.start, end: p.start + n - 1 });
        left -= n;
    }
    Plan { form: Form::Windows, parts, reason: Some("maxTotalTokens") }
}

/// Lines that are chosen within limits.
struct Choice<'a> {
    source: &'a Source,
    /// The lines of the unit; those between them belong to other units.
    whole: &'a [Lines],
    /// The first line of the unit.
    first: u32,
    /// True for each chosen line, from the first.
    chosen: Vec<bool>,
    /// Maximum bytes of one line.
    bytes_max: usize,
    /// Free bytes.
    bytes: usize,
    /// Free lines.
    lines: u32,
}

impl Choice<'_> {
    /// Adds up to `n` lines from `line` on that are not chosen yet, while they fit.
    fn add_run(&mut self, line: u32, n: u32) {
        let mut taken = 0;
        for at in line..self.first + self.chosen.len() as u32 {
            if taken == n || self.lines == 0 {
                return;
            }
            if !self.whole.iter().any(|l| l.start <= at && at <= l.end) {
                continue;
            }
            let slot = &mut self.chosen[(at - self.first) as usize];
            if !*slot {
                let Some(size) = self.source.shown_len(at).filter(|size| *size <= self.bytes_max) else {
                    continue;
                };
                if size > self.bytes {
                    return;
                }
                *slot = true;
                self.bytes -= size;
                self.lines -= 1;
            }
            taken += 1;
        }
    }

    /// Adds windows around matching lines, best first. Terms that occur everywhere in the unit do not locate a
    /// place, so the k-th shown line with a term counts `1 / k` of the first.
    fn add_windows(&mut self, scores: &LineScores, window: u32) {
        let window = window.max(1) as usize;
        let n = self.chosen.len();
        let mut counts = Counts::new(scores);
        for i in (0..n).filter(|i| self.chosen[*i]) {
            counts.add(i);
        }
        while self.lines > 0 {
            // The best window of lines that are not chosen yet; of equal windows the first.
            let width = window.min(n).min(self.lines as usize);
            let Some(at) = best_window(&mut counts, &self.chosen, width) else { return };
            // Centres the matching lines in the window.
            let matching: Vec<usize> =
                (at..at + width).filter(|i| !self.chosen[*i] && scores.is_matching(*i)).collect();
            let (Some(from), Some(to)) = (matching.first(), matching.last()) else { return };
            let spare = width - (to + 1 - from);
            let start = from.saturating_sub(spare / 2).min(n - width);
            let before = self.lines;
            // Matching lines come first, because the byte limit may be reached before the line limit.
            for i in matching.into_iter().chain(start..start + width) {
                if !self.chosen[i] {
                    self.add_run(self.first + i as u32, 1);
                    if self.chosen[i] {
                        counts.add(i);
                    }
                }
            }
            if self.lines == before {
                return;
            }
        }
    }

    /// Adds the lines of gaps of at most `n` lines, also after the last chosen line.
    fn close_gaps(&mut self, n: usize) {
        let mut at = self.chosen.iter().take_while(|c| !**c).count();
        while at < self.chosen.len() {
            let gap = self.chosen[at..].iter().take_while(|c| !**c).count();
            if (1..=n).contains(&gap) {
                let lines = Lines { start: self.first + at as u32, end: self.first + (at + gap) as u32 - 1 };
                let sizes = (lines.start..=lines.end).map(|l| self.source.shown_len(l));
                let size = sizes.sum::<Option<usize>>().filter(|size| *size <= self.bytes);
                if let Some(size) = size.filter(|_| self.whole.iter().any(|l| l.contains(lines))) {
                    self.bytes -= size;
                    self.chosen[at..at + gap].fill(true);
                }
            }
            at += gap.max(1);
        }
    }

    /// Returns the chosen lines as runs, without blank lines at their ends.
    fn runs(&self) -> Vec<Lines> {
        let numbers = (self.first..).zip(&self.chosen).filter(|(_, is_chosen)| **is_chosen);
        let runs = union(numbers.map(|(line, _)| Lines { start: line, end: line }));
        let trimmed = runs.into_iter().map(|l| trim(self.source, l));
        trimmed.filter(|l| !is_blank(self.source, l.start) || l.count() > 1).collect()
    }
}

/// Returns the start of the window with the highest value, of equal windows the first; `None` if no window
/// has a value.
fn best_window(counts: &mut Counts, chosen: &[bool], width: usize) -> Option<usize> {
    let n = chosen.len();
    counts.sum = 0.0;
    let (mut best, mut at) = (0.0, 0);
    for i in 0..n {
        if !chosen[i] {
            counts.add(i);
        }
        if i >= width && !chosen[i - width] {
            counts.remove(i - width);
        }
        if i + 1 >= width && counts.sum > best * (1.0 + 1e-4) {
            (best, at) = (counts.sum, i + 1 - width);
        }
    }
    for i in (n - width..n).filter(|i| !chosen[*i]) {
        counts.remove(i);
    }
    (best > 1e-3).then_some(at)
}

/// Counts the lines of a window on which each term occurs, and sums their values.
struct Counts<'s> {
    scores: &'s LineScores,
    of: Vec<u32>,
    sum: f64,
}

impl<'s> Counts<'s> {
    fn new(scores: &'s LineScores) -> Self {
        Self { scores, of: vec![0; scores.weights.len()], sum: 0.0 }
    }

    fn add(&mut self, line: usize) {
        for &t in &self.scores.terms[line] {
            let n = &mut self.of[t as usize];
            *n += 1;
            self.sum += self.scores.weights[t as usize] / *n as f64;
        }
        self.sum += self.scores.places[line];
    }

    fn remove(&mut self, line: usize) {
        for &t in &self.scores.terms[line] {
            let n = &mut self.of[t as usize];
            self.sum -= self.scores.weights[t as usize] / *n as f64;
            *n -= 1;
        }
        self.sum -= self.scores.places[line];
    }
}

/// Removes blank lines at both ends; at least one line remains.
fn trim(source: &Source, mut lines: Lines) -> Lines {
    while lines.end > lines.start && is_blank(source, lines.end) {
        lines.end -= 1;
    }
    while lines.start < lines.end && is_blank(source, lines.start) {
        lines.start += 1;
    }
    lines
}

/// True if a line contains only blanks.
fn is_blank(source: &Source, line: u32) -> bool {
    source.slice(source.lines().span(line)).trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::UnitKey;
    use indexd_model::{ChunkDoc, ChunkKind, DefDoc, FileDoc, LineIndex, Span};
    use smallvec::smallvec;
    use std::sync::Arc;

    /// Shown lines are `x`, in the chosen and in the expected text.
    #[test]
    fn a_gap_of_a_few_lines_is_closed_where_there_is_room() {
        for (chosen, bytes, expect) in [
            ("x...x", 100, "xxxxx"),
            ("x....x", 100, "x....x"),
            ("x..x....x", 100, "xxxx....x"),
            ("x..", 100, "xxx"),
            ("...x", 100, "...x"),
            ("x...x", 5, "x...x"),
        ] {
            let text = "a\n".repeat(chosen.len());
            let whole = [Lines { start: 1, end: chosen.len() as u32 }];
            let source = Source::new(Arc::from(&*text), Arc::new(LineIndex::new(&text)));
            let lines = chosen.chars().map(|c| c == 'x').collect();
            let (source, whole) = (&source, &whole);
            let mut choice =
                Choice { source, whole, first: 1, chosen: lines, bytes_max: bytes, bytes, lines: 0 };
            choice.close_gaps(GAP_LINES);
            let got: String = choice.chosen.iter().map(|is| if *is { 'x' } else { '.' }).collect();
            assert_eq!(got, expect, "{chosen} with {bytes} bytes");
        }
    }

    #[test]
    fn a_head_tells_more_than_a_name() {
        for (text, line, expect) in [
            ("const (\n\tOpen Kind = iota\n\tShut\n)\n", 2, &[(2, 2)][..]),
            ("Open Kind = iota\n\tHalf\n\tShut\n", 3, &[(1, 1), (3, 3)]),
            ("(\n    OPEN,\n    SHUT,\n) = range(2)\n", 3, &[]),
            ("class Door:\n    pass\n", 1, &[(1, 1)]),
            ("LIMIT = 5\n", 1, &[(1, 1)]),
        ] {
            let index = LineIndex::new(text);
            let whole = (Span { start: 0, end: text.len() as u32 }, Lines { start: 1, end: index.count() });
            let unit = Unit {
                key: UnitKey(ChunkDoc(0)),
                file: FileDoc(0),
                def: DefDoc::NONE,
                kind: ChunkKind::Definition,
                chunks: smallvec![ChunkDoc(0)],
                spans: smallvec![whole],
            };
            let source = Source::new(Arc::from(text), Arc::new(index));
            let told = telling(&source, &unit, lines([line])).map_or_else(Vec::new, |p| p.parts);
            let expect: Vec<Lines> = expect.iter().map(|&(start, end)| Lines { start, end }).collect();
            assert_eq!(told, expect, "{text:?}");
        }
    }
}
