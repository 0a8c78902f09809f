//! Fills the lanes of one request in the order and with the shares of its intent.

use super::Assembly;
use crate::candidate::Origin;
use crate::error::PackError;
use crate::excerpt;
use crate::intent::{Lane, Shown};
use crate::links::{self, Link};
use crate::role::{Role, role_of};
use crate::unit::Unit;
use indexd_model::FileRoles;
use std::rc::Rc;

impl Assembly<'_> {
    /// Fills every lane up to its share of the budget, then gives the rest to the lanes that may take it.
    pub(super) fn show_lanes(&mut self) -> Result<(), PackError> {
        let lanes = self.lanes.row.lanes.clone();
        for share in lanes {
            let room = self.scale * u64::from(share.percent) / 100;
            // In a small pack a small share would not fit a single head.
            let least = if share.percent > 0 { HEAD_TOKENS.min(self.scale / LEAST_PART) } else { 0 };
            self.show(share.lane, room.max(least));
            self.check_cancelled()?;
        }
        let rest = self.lanes.row.rest.clone();
        for lane in rest {
            self.show(lane, u64::MAX);
            self.check_cancelled()?;
        }
        Ok(())
    }

    fn show(&mut self, lane: Lane, room: u64) {
        match lane {
            Lane::Named => self.show_named(room),
            Lane::Quoted => self.show_quoted(room),
            Lane::Hits => self.show_seeds(room),
            Lane::Listed => self.list_named(room),
            Lane::References => self.show_references(room),
            Lane::Callers => self.show_callers(room),
            Lane::Tests => self.show_tests(room),
            Lane::Prose => self.show_prose(room),
            Lane::Uses => self.show_uses(room),
            Lane::Dependents => self.show_dependents(room),
            Lane::Entries => self.show_entries(room),
            Lane::Exports => self.show_exports(room),
        }
    }

    /// The subject of the request: the definitions that it names or focuses on, else the best shown code.
    fn subject(&self) -> Vec<links::Shown> {
        let is_named = |i: usize| {
            let c = &self.s.claimed[i].candidate;
            c.origin == Origin::Seed && c.scored.is_none() || self.lanes.named.means(c.unit.key)
        };
        let named = self.shown_code(is_named);
        if !named.is_empty() {
            return named;
        }
        let mut best = self.shown_code(|_| true);
        best.truncate(SUBJECT_MAX);
        best
    }

    /// Shows every use of the subject: the lines of the uses under the signature around them.
    fn show_uses(&mut self, room: u64) {
        let subject = self.subject();
        let (uses, is_cut) = links::uses(&mut self.s.units, &subject, &self.allowed);
        self.s.uses_cut |= is_cut;
        self.plans.add_calls(&uses);
        // Earlier plans do not contain these lines.
        self.plans.of.clear();
        self.show_links(&uses, room, usize::MAX);
    }

    /// Shows the units that depend on the subject, nearest first.
    fn show_dependents(&mut self, room: u64) {
        let subject = self.subject();
        let hops = self.s.request.expansion.max_hops;
        let found = links::dependents(&mut self.s.units, &subject, &self.allowed, hops);
        self.show_links(&found, room, usize::MAX);
    }

    /// Shows outlines of the definitions named `main`, those near the best hits first.
    fn show_entries(&mut self, room: u64) {
        let mut entries: Vec<Link> = Vec::new();
        for def in self.s.units.view.defs_named("main").into_iter().take(ENTRIES_LOOKED_AT) {
            let Some(unit) = self.s.units.of_def(def).filter(|u| u.def == def) else { continue };
            let file = self.s.units.file(unit.file);
            let is_own = role_of(&file) == Role::Code && !file.roles.has(FileRoles::VENDORED);
            if is_own && unit.kind.is_definition() {
                entries.push(Link::to(unit));
            }
        }
        links::sort(&mut self.s.units, &mut entries);
        let shown = self.shown_code(|_| true);
        links::nearest_first(&mut self.s.units, &mut entries, &shown);
        self.show_outlines(entries.iter().map(|l| Rc::clone(&l.unit)), room, ENTRIES_MAX);
    }

    /// Shows outlines of the exports of the modules of the best hits.
    fn show_exports(&mut self, room: u64) {
        let exported = self.s.claimed.iter().filter(|c| c.candidate.origin == Origin::Export);
        let units: Vec<Rc<Unit>> = exported.map(|c| Rc::clone(&c.candidate.unit)).collect();
        self.show_outlines(units.into_iter(), room, usize::MAX);
    }

    fn show_outlines(&mut self, units: impl Iterator<Item = Rc<Unit>>, room: u64, n_max: usize) {
        let (mut left, mut n) = (room, 0);
        for unit in units {
            if n == n_max || left == 0 {
                break;
            }
            let Some(i) = self.candidate_of(&Link::to(Rc::clone(&unit))) else { continue };
            let Some(outline) = self.outline(i) else { continue };
            if let Some(taken) = self.offer(i, outline, left) {
                left -= taken.min(left);
                n += 1;
            }
        }
    }

    /// The doc comment and the signature of a candidate; `None` for text without a signature.
    pub(super) fn outline(&mut self, i: usize) -> Option<excerpt::Plan> {
        let def = self.s.claimed[i].candidate.unit.def.some()?;
        let def = self.s.units.def(def);
        let source = self.s.source(i);
        Some(excerpt::outline(&self.s.claimed[i].candidate.unit, &source, &def))
    }

    /// True if hits are shown as outlines first.
    pub(super) fn is_outlined(&self) -> bool {
        self.lanes.row.hits == Shown::Outline
    }
}

/// Minimum tokens of every lane: a head with the header of its file.
const HEAD_TOKENS: u64 = 40;

/// The minimum is at most the budget divided by this number.
const LEAST_PART: u64 = 12;

/// Number of hits that are the subject of a request without names.
const SUBJECT_MAX: usize = 3;

/// Maximum entry points shown, and maximum definitions named `main` that are read.
const ENTRIES_MAX: usize = 12;
const ENTRIES_LOOKED_AT: usize = 200;
