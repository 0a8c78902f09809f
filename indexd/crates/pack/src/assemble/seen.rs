//! Shows units that the reader has as places only, so that other units get their tokens.

use super::Assembly;
use super::selected::State;
use crate::excerpt::Plan;
use crate::pack::{DropReason, Form};
use crate::render;
use crate::unit::Unit;
use std::rc::Rc;

impl Assembly<'_> {
    /// Lists the places of units that the reader has, best first. Their lines count as shown.
    pub(super) fn show_seen(&mut self) {
        if self.s.request.seen.is_empty() {
            return;
        }
        for i in 0..self.s.claimed.len() {
            let unit = Rc::clone(&self.s.claimed[i].candidate.unit);
            let Some(mark) = self.seen_mark(&unit) else { continue };
            let source = self.s.source(i);
            // If only the head or another version was seen, the unit may be shown whole.
            let is_same = mark.is_empty() || mark == source.content_hash(unit.lines());
            let Some(section) = self.s.claimed[i].section.filter(|_| is_same) else { continue };
            if self.s.claimed[i].state != State::Open || self.page.cap(section).is_some() {
                continue;
            }
            self.put_place(i, section, "seen");
            self.page.put_seen(unit.file, unit.spans.iter().map(|(_, l)| *l));
        }
    }

    /// Shows a candidate as its place only, if that fits. Returns the tokens it took.
    pub(super) fn put_place(&mut self, i: usize, section: usize, reason: &'static str) -> Option<u64> {
        let source = self.s.source(i);
        let lines = self.s.claimed[i].candidate.unit.lines();
        let mut line = String::new();
        let record = Rc::clone(&self.s.claimed[i].candidate.file);
        render::place(&record.path, lines.start, "", (lines.start, &self.s.title(i, &source)), &mut line);
        let Some(taken) = self.page.put_place(i, section, line) else {
            self.s.claimed[i].state = State::Dropped(DropReason::Budget);
            return None;
        };
        self.s.claimed[i].state = State::Included;
        self.s.claimed[i].plan = Some(Plan { form: Form::Place, parts: Vec::new(), reason: Some(reason) });
        Some(taken)
    }

    /// The mark in the request for a unit that the reader has: empty for all of it, `head`, or the hash of
    /// the text that was seen.
    pub(super) fn seen_mark(&mut self, unit: &Unit) -> Option<String> {
        if self.s.request.seen.is_empty() {
            return None;
        }
        let uid = self.s.sources.uid(&mut self.s.units, unit).to_string();
        let of_unit = self.s.request.seen.iter().find_map(|id| id.strip_prefix(uid.as_str()));
        of_unit
            .and_then(|rest| if rest.is_empty() { Some("") } else { rest.strip_prefix('@') })
            .map(str::to_owned)
    }
}
