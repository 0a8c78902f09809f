//! Makes a pack that took N tokens come back unchanged when it is requested with a budget of N.
//!
//! Every decision that depends on free tokens notes the smallest limit that would have led to the same
//! decision: the size of an item, or the tokens that had to be free before it was offered. An item between
//! two others can shorten the text, so this limit may exceed the final size of the page. In that case the
//! page is filled again with its size as the limit. The rule does not apply to a pack that leaves a sixth of
//! its budget free, since a budget of its size would lead to smaller excerpts.

use super::memory::Plans;
use super::{Assembly, scale_of};
use crate::error::PackError;

/// Maximum times that a page is filled again.
const REFILLS_MAX: u32 = 4;

impl Assembly<'_> {
    /// Fills the page so that a budget of its size gives the same page. If a decision depended on tokens that
    /// are free in the end, the page is filled again with that size as the limit.
    pub(super) fn fill_exactly(&mut self) -> Result<(), PackError> {
        self.fill()?;
        for _ in 0..REFILLS_MAX {
            // With a sixth of the budget free, the scale of the size differs and excerpts are planned for
            // another size.
            let is_other = scale_of(self.page.size().tokens) != self.scale;
            if is_other || self.s.request.is_change_alone() || !self.page.tighten() {
                break;
            }
            self.start_over();
            self.fill()?;
        }
        Ok(())
    }

    /// Resets the shown candidates and removes those that only shown code led to.
    fn start_over(&mut self) {
        let n = self.states.len();
        self.s.claimed.truncate(n);
        self.s.matched.retain(|i, _| *i < n);
        for (c, state) in self.s.claimed.iter_mut().zip(&self.states) {
            (c.state, c.plan) = (*state, None);
        }
        self.plans = Plans::default();
        (self.s.needed, self.s.uses_cut) = (None, false);
    }
}
