//! Rows that the lanes of one request read, and results that they share.

use super::Assembly;
use crate::excerpt::Plan;
use crate::intent::Row;
use crate::links::{self, Allowed, Link, Shown, Uses};
use crate::naming::Named;
use crate::page::Page;
use crate::unit::{UnitKey, Units};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The planned excerpts of candidates.
#[derive(Default)]
pub(super) struct Plans {
    of: FxHashMap<usize, Option<Plan>>,
    /// Lines that call what the text names, by caller; only where the text asks about calls.
    calls: FxHashMap<UnitKey, Vec<u32>>,
}

impl Plans {
    /// The plan made for a candidate; `Some(None)` if there is nothing to show of it.
    pub(super) fn of(&self, i: usize) -> Option<&Option<Plan>> {
        self.of.get(&i)
    }

    /// Keeps the plan of a candidate.
    pub(super) fn keep(&mut self, i: usize, plan: Option<Plan>) {
        self.of.insert(i, plan);
    }

    /// The lines of a unit that call what the text names.
    pub(super) fn calls(&self, unit: UnitKey) -> Option<&[u32]> {
        self.calls.get(&unit).map(Vec::as_slice)
    }

    /// Takes the lines of `callers` for those that call what the text names.
    pub(super) fn name_calls(&mut self, callers: &[Link]) {
        self.calls.clear();
        self.add_calls(callers);
    }

    /// Adds the lines of `callers`. Plans made before do not contain them, so the caller clears these if they
    /// must.
    pub(super) fn add_calls(&mut self, callers: &[Link]) {
        self.calls.extend(callers.iter().map(|link| (link.unit.key, link.lines.clone())));
    }

    /// Forgets the plans.
    pub(super) fn clear(&mut self) {
        self.of.clear();
    }
}

/// The lanes of the intent, and their results.
pub(super) struct Lanes {
    row: Row,
    named: Named,
    /// The definitions that shown items refer to.
    uses: Uses,
    /// Tests of the best shown code, with the items for which they were found.
    tests: Option<(Vec<usize>, Rc<[Link]>)>,
}

impl Lanes {
    /// The lanes of `row` for a text that names `named`.
    pub(super) fn new(row: Row, named: Named) -> Self {
        Self { row, named, uses: Uses::default(), tests: None }
    }

    /// The lanes and weights of the intent.
    pub(super) fn row(&self) -> &Row {
        &self.row
    }

    /// The definitions that the text names.
    pub(super) fn named(&self) -> &Named {
        &self.named
    }

    /// Forgets what shown code led to.
    pub(super) fn clear(&mut self) {
        self.uses.clear();
        self.tests = None;
    }

    /// The definitions that shown lines refer to and that the page does not show, see [`links::references`].
    pub(super) fn references(
        &mut self,
        units: &mut Units,
        shown: &[Shown],
        page: &Page,
        allowed: &Allowed,
    ) -> Vec<Link> {
        links::references(units, &mut self.uses, shown, page, allowed)
    }
}

impl Assembly<'_> {
    /// The tests of shown code, found again only if other items are shown.
    pub(super) fn known_tests(&mut self, shown: &[Shown]) -> Rc<[Link]> {
        let items: Vec<usize> = shown.iter().map(|s| s.item).collect();
        if let Some((_, tests)) = self.lanes.tests.as_ref().filter(|known| known.0 == items) {
            return Rc::clone(tests);
        }
        let tests: Rc<[Link]> = self.tests_of(shown).into();
        self.lanes.tests = Some((items, Rc::clone(&tests)));
        tests
    }
}
