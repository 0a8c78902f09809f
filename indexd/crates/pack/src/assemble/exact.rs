//! A pack of so many tokens comes back as it was when it is asked for with that budget.
//!
//! Every decision that hangs on free tokens notes the least limit with which it would have been the same: what an
//! item took, and what was asked to be free before it was offered. Where that is more than the page takes in the
//! end, since an item between two others can make the text shorter, the page is filled again with what it took as
//! its limit. A pack that leaves a sixth of its budget free is planned for larger pieces than one whose budget is
//! what it takes, and need not come back as it was.

use super::{Assembly, scale_of};
use crate::error::PackError;

/// Times that a page is filled again at most.
const REFILLS_MAX: u32 = 4;

impl Assembly<'_> {
    /// Fills the page so that the same comes out with a budget of what it takes. Where a decision hangs on
    /// tokens that are free in the end, the page is filled again with fewer.
    pub(super) fn fill_exactly(&mut self) -> Result<(), PackError> {
        self.fill()?;
        for _ in 0..REFILLS_MAX {
            let tokens = self.page.size().tokens;
            // What leaves a sixth of its room free was planned for another size.
            if self.needs <= tokens || scale_of(tokens) != self.scale || self.s.request.is_change_alone() {
                break;
            }
            self.limit = tokens;
            self.start_over();
            self.fill()?;
        }
        Ok(())
    }

    /// Forgets what was shown and what only the shown code led to.
    fn start_over(&mut self) {
        let n = self.states.len();
        self.s.claimed.truncate(n);
        self.s.matched.retain(|i, _| *i < n);
        for (c, state) in self.s.claimed.iter_mut().zip(&self.states) {
            (c.state, c.plan) = (*state, None);
        }
        self.calls_of_named.clear();
        (self.s.needed, self.s.uses_cut) = (None, false);
    }

    /// Notes that a decision needs a limit of so many tokens to be the same.
    pub(super) fn note(&mut self, tokens: u64) {
        self.needs = self.needs.max(tokens);
    }
}
