//! Rows that the lanes of one request read, and results that they share.

use super::Assembly;
use crate::excerpt::Plan;
use crate::intent::Row;
use crate::links::{self, Link, Shown, Uses};
use crate::naming::Named;
use crate::role::Role;
use crate::unit::UnitKey;
use indexd_model::EdgeKind;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// The planned excerpts of candidates.
#[derive(Default)]
pub(super) struct Plans {
    /// The plan made for a candidate; `None` if there is nothing to show of it.
    pub of: FxHashMap<usize, Option<Plan>>,
    /// Lines that call what the text names, by caller; only where the text asks about calls.
    pub calls: FxHashMap<UnitKey, Vec<u32>>,
}

impl Plans {
    /// Adds the lines of `callers`. Plans made before do not contain them, so the caller clears these if they
    /// must.
    pub(super) fn add_calls(&mut self, callers: &[Link]) {
        self.calls.extend(callers.iter().map(|link| (link.unit.key, link.lines.clone())));
    }
}

/// The lanes of the intent, and their results.
pub(super) struct Lanes {
    /// The lanes and weights of the intent.
    pub row: Row,
    /// The definitions that the text names.
    pub named: Named,
    /// The definitions that shown items refer to.
    pub uses: Uses,
    /// Tests of the best shown code, with the items for which they were found.
    tests: Option<(Vec<usize>, Rc<[Link]>)>,
}

impl Lanes {
    /// The lanes of `row` for a text that names `named`.
    pub(super) fn new(row: Row, named: Named) -> Self {
        Self { row, named, uses: Uses::default(), tests: None }
    }

    /// Forgets what shown code led to.
    pub(super) fn clear(&mut self) {
        self.uses = Uses::default();
        self.tests = None;
    }
}

impl Assembly<'_> {
    /// The units that refer to shown code, see [`links::referrers`].
    pub(super) fn referrers(&mut self, shown: &[Shown], role: Role, kinds: &[EdgeKind]) -> Vec<Link> {
        links::referrers(&mut self.s.units, shown, role, kinds, &self.allowed)
    }

    /// The definitions that lines of shown code refer to and that the page does not show, see
    /// [`links::references`].
    pub(super) fn references(&mut self, shown: &[Shown]) -> Vec<Link> {
        let page = self.page.page();
        links::references(&mut self.s.units, &mut self.lanes.uses, shown, page, &self.allowed)
    }

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
