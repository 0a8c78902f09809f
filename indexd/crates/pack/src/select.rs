//! Fills the budget in two passes: first each section up to its share, in rank order, with what has
//! something of the text itself, then the room that is left with the best remaining candidates of all
//! sections (C-25).
//!
//! Greedy: an item is refused only because it did not fit at its turn. Counting uses sums of counts
//! of line-aligned pieces, which never fall below the count of the whole, and the caller counts the
//! finished text once more.

use crate::error::PackError;
use crate::pack::DropReason;

/// What an item would cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Tokens of its excerpt with gap marks.
    pub tokens: u64,
    /// Characters of the same.
    pub chars: u64,
}

/// What selection asks of the caller: costs are computed only when an item's turn comes.
pub trait Offers {
    /// Tokens that the excerpt of a candidate hardly falls below, cheap: with less room it is not asked
    /// for.
    fn at_least(&self, candidate: usize) -> u64;

    /// The exact cost of the excerpt; `None` when it has none to show.
    fn cost(&mut self, candidate: usize) -> Option<Cost>;

    /// Tokens and characters of the header and the fences of the candidate's file.
    fn header(&mut self, candidate: usize) -> Cost;

    /// What identifies the group the candidate is rendered in, besides its section.
    fn group(&self, candidate: usize) -> u32;

    /// Whether nothing but blank lines lies between two candidates of one group, whose costs are
    /// known.
    fn is_beside(&mut self, a: usize, b: usize) -> bool;
}

/// Limits on the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Tokens.
    pub tokens: u64,
    /// Characters.
    pub chars: u64,
    /// Items.
    pub items: usize,
    /// Items of one section.
    pub items_per_section: usize,
}

/// Tracks what is allocated (BUDG-16): what remains, and no allocation beyond it.
#[derive(Clone, Debug)]
pub struct Ledger {
    limits: Limits,
    /// Tokens allocated.
    pub tokens: u64,
    /// Characters allocated.
    pub chars: u64,
}

impl Ledger {
    /// Starts empty.
    pub fn new(limits: Limits) -> Self {
        Self { limits, tokens: 0, chars: 0 }
    }

    /// Tokens that remain.
    pub fn remaining(&self) -> u64 {
        self.limits.tokens - self.tokens
    }

    /// Whether the cost fits.
    pub fn fits(&self, cost: Cost) -> bool {
        cost.tokens <= self.remaining() && cost.chars <= self.limits.chars - self.chars
    }

    /// Allocates.
    ///
    /// # Errors
    /// [`PackError::ContextOverflow`] when the cost is larger than what remains; nothing changes.
    pub fn allocate(&mut self, cost: Cost) -> Result<(), PackError> {
        if !self.fits(cost) {
            return Err(PackError::ContextOverflow {
                tokens: self.tokens + cost.tokens,
                budget: self.limits.tokens,
            });
        }
        self.tokens += cost.tokens;
        self.chars += cost.chars;
        Ok(())
    }

    /// Takes an allocation back.
    pub fn roll_back(&mut self, cost: Cost) {
        self.tokens = self.tokens.saturating_sub(cost.tokens);
        self.chars = self.chars.saturating_sub(cost.chars);
    }
}

/// What selection decided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Chosen candidates in the order in which they were chosen: the last one is rolled back first.
    pub chosen: Vec<(usize, Cost)>,
    /// Refused candidates with the reason.
    pub refused: Vec<(usize, DropReason)>,
}

/// A candidate that has a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Position among the candidates, in rank order.
    pub candidate: usize,
    /// Its section.
    pub section: usize,
    /// Whether it may have of its section's share; else it waits for the room that is left.
    pub has_share: bool,
}

/// Selects from `entries`, in rank order. `shares` are percent of the budget by section.
pub fn select(entries: &[Entry], shares: &[u32], limits: Limits, offers: &mut dyn Offers) -> Selection {
    let mut run = Run::new(entries.len(), shares.len(), limits);
    for (section, percent) in shares.iter().enumerate() {
        let share = limits.tokens * u64::from(*percent) / 100;
        for (i, e) in entries.iter().enumerate().filter(|(_, e)| e.section == section && e.has_share) {
            let room = share.saturating_sub(run.section_tokens[section]);
            run.offer(i, *e, room, offers);
        }
    }
    for (i, e) in entries.iter().enumerate() {
        if !run.is_chosen[i] {
            run.offer(i, *e, u64::MAX, offers);
        }
    }
    let refused = run.reasons(entries);
    Selection { chosen: run.chosen, refused }
}

struct Run {
    ledger: Ledger,
    limits: Limits,
    section_items: Vec<usize>,
    section_tokens: Vec<u64>,
    groups: Vec<(usize, u32, usize)>,
    chosen: Vec<(usize, Cost)>,
    is_chosen: Vec<bool>,
}

impl Run {
    fn new(n_entries: usize, n_sections: usize, limits: Limits) -> Self {
        Self {
            ledger: Ledger::new(limits),
            limits,
            section_items: vec![0; n_sections],
            section_tokens: vec![0; n_sections],
            groups: Vec::new(),
            chosen: Vec::new(),
            is_chosen: vec![false; n_entries],
        }
    }

    fn keep(&mut self, i: usize, e: Entry, cost: Cost, offers: &dyn Offers) {
        self.section_items[e.section] += 1;
        self.section_tokens[e.section] += cost.tokens;
        self.groups.push((e.section, offers.group(e.candidate), e.candidate));
        self.chosen.push((e.candidate, cost));
        self.is_chosen[i] = true;
    }

    fn cap(&self, section: usize) -> Option<DropReason> {
        if self.chosen.len() >= self.limits.items {
            Some(DropReason::ItemCap)
        } else if self.section_items[section] >= self.limits.items_per_section {
            Some(DropReason::SectionCap)
        } else {
            None
        }
    }

    fn offer(&mut self, i: usize, e: Entry, room: u64, offers: &mut dyn Offers) {
        let room = room.min(self.ledger.remaining());
        if room < ROOM_MIN || self.cap(e.section).is_some() || offers.at_least(e.candidate) > room {
            return;
        }
        let Some(cost) = self.full_cost(e, offers) else { return };
        if cost.tokens > room || self.ledger.allocate(cost).is_err() {
            return;
        }
        self.keep(i, e, cost, offers);
    }

    /// The excerpt, and the header of its file or the gap mark to what stands there, and the
    /// heading of its section.
    fn full_cost(&mut self, e: Entry, offers: &mut dyn Offers) -> Option<Cost> {
        let mut cost = offers.cost(e.candidate)?;
        let group = offers.group(e.candidate);
        let members: Vec<usize> =
            self.groups.iter().filter(|g| (g.0, g.1) == (e.section, group)).map(|g| g.2).collect();
        if members.iter().any(|m| offers.is_beside(*m, e.candidate)) {
            cost.tokens += BLANK.tokens;
            cost.chars += BLANK.chars;
        } else if !members.is_empty() {
            cost.tokens += GAP.tokens;
            cost.chars += GAP.chars;
        } else {
            let header = offers.header(e.candidate);
            cost.tokens += header.tokens;
            cost.chars += header.chars;
        }
        if self.section_items[e.section] == 0 {
            cost.tokens += SECTION.tokens;
            cost.chars += SECTION.chars;
        }
        Some(cost)
    }

    fn reasons(&self, entries: &[Entry]) -> Vec<(usize, DropReason)> {
        let last = self.is_chosen.iter().rposition(|c| *c);
        let mut out = Vec::new();
        for (i, e) in entries.iter().enumerate().filter(|(i, _)| !self.is_chosen[*i]) {
            let smaller_followed = last.is_some_and(|l| l > i);
            let reason = self.cap(e.section).unwrap_or(if smaller_followed {
                DropReason::TooLarge
            } else {
                DropReason::Budget
            });
            out.push((e.candidate, reason));
        }
        out
    }
}

/// Tokens below which nothing is offered: a gap mark or header and one line take as many.
const ROOM_MIN: u64 = 2;
/// Upper bound of a gap mark `// ... (lines 1000000-1000000)`.
pub const GAP: Cost = Cost { tokens: 13, chars: 36 };
/// Upper bound of the blank lines between two neighbouring items.
pub const BLANK: Cost = Cost { tokens: 1, chars: 4 };
/// Upper bound of a section's heading with its blank line.
pub const SECTION: Cost = Cost { tokens: 6, chars: 20 };

#[cfg(test)]
mod tests;
