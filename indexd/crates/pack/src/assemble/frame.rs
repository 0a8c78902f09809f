//! The text around the items: how sure the answer can be, the best places, and how to ask better.

use super::{Assembly, Selected};
use crate::candidate::Origin;
use crate::pack::Basis;
use crate::places::{self, Place};
use crate::render;
use crate::request::Stop;
use crate::role::Role;
use std::fmt::Write as _;
use std::rc::Rc;

/// Maximum places, and maximum places of the answer to a plain question, whose first places are seldom right.
const PLACES_MAX: usize = 10;
const PLACES_OF_QUESTION: usize = 20;
/// The first lines and the places take at most this part of the budget.
const FRAME_PART: u64 = 6;
/// They take at most this part of the characters.
const FRAME_CHARS_PART: u64 = 4;
/// Packs of fewer tokens have no text around the items.
const FRAMED_TOKENS_MIN: u64 = 400;
/// Packs of fewer tokens do not say how to ask better.
const ADVISED_TOKENS_MIN: u64 = 800;
/// The places of an answer without code take at most this part of the budget.
const PLACES_ALONE_PART: u64 = 2;
/// Expectations that are named as missing.
const MISSING_MAX: usize = 8;
/// Names of the tree that are given as examples.
const NAMES_MAX: usize = 5;

impl Assembly<'_> {
    /// The text before and after the items. A pack about a change has none, and a small pack no room for it.
    pub(super) fn frame(&mut self) -> [String; 2] {
        let none = [String::new(), String::new()];
        if self.s.changed.is_some() || self.scale < FRAMED_TOKENS_MIN {
            return none;
        }
        let mut front = self.s.status();
        self.add_places(&mut front);
        let back = if self.scale < ADVISED_TOKENS_MIN { String::new() } else { self.s.advice() };
        let chars = (front.chars().count() + back.chars().count()) as u64;
        if chars * FRAME_CHARS_PART <= self.s.request.budgets.max_total_chars { [front, back] } else { none }
    }

    /// Appends the best places, as many as fit into their part of the budget.
    fn add_places(&mut self, front: &mut String) {
        let is_alone = self.s.is_short();
        let part = if is_alone { PLACES_ALONE_PART } else { FRAME_PART };
        let room = (self.scale / part).min(if is_alone { SHORT_TOKENS } else { u64::MAX });
        let is_plain = self.s.gathered.confidence.basis == Basis::Question;
        let is_value = self.s.request.budgets.stop == Stop::Value;
        let n_max = if is_plain && is_value { PLACES_OF_QUESTION } else { PLACES_MAX };
        let best: Vec<usize> = (0..self.s.claimed.len()).filter(|i| self.is_place(*i)).take(n_max).collect();
        let count = |text: &str| u64::from(self.ctx.counter.count_tokens(text));
        let mut tokens = count(front) + count(render::PLACES);
        let mut places = String::new();
        for i in best {
            let line = self.place(i);
            tokens += count(&line);
            if tokens > room {
                break;
            }
            places.push_str(&line);
        }
        if !places.is_empty() {
            front.push_str(render::PLACES);
            front.push_str(&places);
        }
    }

    fn is_place(&self, i: usize) -> bool {
        let c = &self.s.claimed[i];
        let is_open = c.section.is_some() && c.state == super::State::Open;
        c.candidate.origin == Origin::Seed
            && is_open
            && !places::is_filler(&c.candidate.unit, c.candidate.role)
    }

    /// The line of a place.
    fn place(&mut self, i: usize) -> String {
        let source = self.s.source(i);
        let unit = Rc::clone(&self.s.claimed[i].candidate.unit);
        let hits = self.s.matches(i, &source);
        let mut line = String::new();
        let place = match self.lanes.named.members(&unit).first() {
            Some(def) => Place::of_member(&self.s.units.def(*def), &source),
            None => Place::of(&mut self.s.units, &unit, &source, &hits, &self.weights),
        };
        place.write(&self.s.claimed[i].candidate.file.path, &mut line);
        line
    }
}

/// Maximum tokens of an answer that shows no code.
const SHORT_TOKENS: u64 = 450;

impl Selected<'_> {
    /// True if the answer is the places alone: nothing was found, or no code holds what the caller expects.
    pub fn is_short(&self) -> bool {
        self.request.budgets.stop == Stop::Value && self.gathered.confidence.basis == Basis::Nothing
    }

    /// The first lines: how often answers like this are right, what was found, and what no code holds.
    fn status(&self) -> String {
        let confidence = self.gathered.confidence;
        let mut out = String::new();
        let n_hits = self.gathered.scores.len();
        match confidence.basis {
            Basis::Nothing if n_hits == 0 => out.push_str("No relevant code found.\n"),
            Basis::Nothing => out.push_str("little of what you expect is here; the nearest places:\n"),
            _ => {
                let tenths = (confidence.score * 10.0).round();
                let found = match self.gathered.n_named {
                    Some(1) => "1 definition and its uses".to_owned(),
                    Some(n) => format!("{n} definitions and their uses"),
                    None => format!("{n_hits} hits"),
                };
                let _ = writeln!(out, "first place right in {tenths} of 10 answers like this; {found}");
            }
        }
        let missing = &self.gathered.missing;
        if !missing.is_empty() {
            let more = if missing.len() > MISSING_MAX { ", ..." } else { "" };
            let named = &missing[..missing.len().min(MISSING_MAX)];
            let _ = writeln!(out, "no code holds: {}{more}", crate::render::inline(&named.join(", ")));
        }
        out
    }

    /// The last line of an answer that names would make better.
    fn advice(&self) -> String {
        let asks_better = match self.gathered.confidence.basis {
            Basis::Question => "ask again with expect: names and words of the code that you look for",
            Basis::Nothing => "ask again with other names and words",
            _ => return String::new(),
        };
        let names = self.names_near();
        let near = if names.is_empty() { String::new() } else { format!("; near it: {}", names.join(", ")) };
        format!("{asks_better}{near}\n")
    }

    /// Qualified names of the best code, as examples of names in this tree.
    pub fn names_near(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for c in self.claimed.iter().filter(|c| c.candidate.role == Role::Code) {
            let def = c.candidate.unit.def.some().map(|d| self.units.view.def(d));
            let name = def.map(|d| crate::render::inline(&d.qualified)).filter(|n| !n.is_empty());
            if let Some(name) = name.filter(|n| !names.contains(n)) {
                names.push(name);
            }
            if names.len() == NAMES_MAX {
                break;
            }
        }
        names
    }
}
