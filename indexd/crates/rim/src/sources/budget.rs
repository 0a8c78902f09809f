//! A budget account: one total, and limits of kinds of sources.

use indexd_api::sources::SourceType;
use std::collections::BTreeMap;

/// The error of an allocation that exceeds the free tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// The whole budget has too few free tokens: this number.
    Total(u64),
    /// The kind has too few free tokens: this number.
    Category(u64),
}

/// The account of one budget, in tokens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    total: u64,
    limits: BTreeMap<SourceType, u64>,
    used: BTreeMap<SourceType, u64>,
    /// By how much the allocations exceed the tokens in use, as measured last.
    saved: u64,
}

impl Ledger {
    /// Creates an account with `total` tokens, and limits for some kinds.
    pub fn new(total: u64, limits: BTreeMap<SourceType, u64>) -> Self {
        Self { total, limits, used: BTreeMap::new(), saved: 0 }
    }

    /// Free tokens of the whole budget.
    pub fn remaining(&self) -> u64 {
        self.total.saturating_sub(self.allocated())
    }

    /// Allocated tokens.
    pub fn allocated(&self) -> u64 {
        self.used.values().sum::<u64>().saturating_sub(self.saved)
    }

    /// Sets the allocated tokens of the whole budget to the tokens in use, where allocations were bounds.
    pub fn settle(&mut self, in_use: u64) {
        self.saved = self.used.values().sum::<u64>().saturating_sub(in_use);
    }

    /// Allocates tokens.
    ///
    /// # Errors
    /// [`Full`] if the kind or the budget has fewer free tokens.
    pub fn allocate(&mut self, kind: SourceType, tokens: u64) -> Result<(), Full> {
        let remaining = self.remaining();
        let used = self.used.entry(kind).or_default();
        match self.limits.get(&kind) {
            Some(limit) if used.saturating_add(tokens) > *limit => {
                Err(Full::Category(limit.saturating_sub(*used)))
            }
            _ if tokens > remaining => Err(Full::Total(remaining)),
            _ => {
                *used += tokens;
                Ok(())
            }
        }
    }

    /// Returns allocated tokens.
    pub fn roll_back(&mut self, kind: SourceType, tokens: u64) {
        let used = self.used.entry(kind).or_default();
        *used = used.saturating_sub(tokens);
    }
}

#[cfg(test)]
mod tests {
    use super::SourceType::{OpenFile, ToolResult};
    use super::*;
    use indexd_api::sources::ContextBudget;

    fn budget(total_tokens: u64, response_reserve: i64, system_reserve: i64) -> ContextBudget {
        ContextBudget { total_tokens, response_reserve, system_reserve }
    }

    #[test]
    fn should_enforce_total_budget() {
        let mut ledger = Ledger::new(10, BTreeMap::new());
        assert_eq!(ledger.allocate(OpenFile, 11), Err(Full::Total(10)));
        assert!(ledger.allocate(OpenFile, 10).is_ok());
        assert_eq!(ledger.allocate(OpenFile, 1), Err(Full::Total(0)));
    }

    #[test]
    fn should_reserve_response_space() {
        let mut ledger = Ledger::new(budget(100, 30, 0).available(), BTreeMap::new());
        assert!(ledger.allocate(OpenFile, 71).is_err() && ledger.allocate(OpenFile, 70).is_ok());
    }

    #[test]
    fn should_reserve_system_prompt_space() {
        let mut ledger = Ledger::new(budget(100, 0, 20).available(), BTreeMap::new());
        assert!(ledger.allocate(OpenFile, 81).is_err() && ledger.allocate(OpenFile, 80).is_ok());
    }

    #[test]
    fn should_calculate_available_budget() {
        assert_eq!(ContextBudget::default().available(), 90_000);
        assert_eq!(budget(100, 60, 60).available(), 0);
    }

    #[test]
    fn should_track_allocated_tokens() {
        let mut ledger = Ledger::new(10, BTreeMap::new());
        ledger.allocate(OpenFile, 4).unwrap();
        ledger.allocate(ToolResult, 3).unwrap();
        assert_eq!(ledger.allocated(), 7);
        ledger.roll_back(OpenFile, 4);
        assert_eq!(ledger.allocated(), 3);
    }

    #[test]
    fn bounds_are_settled_by_what_is_in_use() {
        let mut ledger = Ledger::new(10, [(ToolResult, 5)].into());
        ledger.allocate(ToolResult, 5).unwrap();
        ledger.allocate(OpenFile, 4).unwrap();
        ledger.settle(6);
        assert_eq!((ledger.allocated(), ledger.remaining()), (6, 4));
        assert_eq!(ledger.allocate(ToolResult, 1), Err(Full::Category(0)), "a kind has what it was given");
        ledger.allocate(OpenFile, 4).unwrap();
        assert_eq!(ledger.remaining(), 0);
    }

    #[test]
    fn should_handle_zero_budget() {
        let mut ledger = Ledger::new(0, BTreeMap::new());
        assert!(ledger.allocate(OpenFile, 1).is_err());
        assert_eq!((ledger.allocated(), ledger.remaining()), (0, 0));
    }

    #[test]
    fn should_handle_negative_reserve() {
        assert_eq!(budget(100, -50, 10).available(), 90);
        assert_eq!(budget(5, 0, 9).available(), 0);
    }

    #[test]
    fn should_allocate_by_category() {
        let mut ledger = Ledger::new(10, [(ToolResult, 4)].into());
        assert_eq!(ledger.allocate(ToolResult, 5), Err(Full::Category(4)));
        ledger.allocate(ToolResult, 4).unwrap();
        assert_eq!(ledger.allocate(ToolResult, 1), Err(Full::Category(0)));
        assert_eq!(ledger.allocate(OpenFile, 7), Err(Full::Total(6)));
        assert!(ledger.allocate(OpenFile, 6).is_ok());
    }

    #[test]
    fn should_report_remaining_budget() {
        let mut ledger = Ledger::new(10, BTreeMap::new());
        ledger.allocate(OpenFile, 4).unwrap();
        assert_eq!(ledger.remaining(), 6);
        ledger.roll_back(OpenFile, 4);
        assert_eq!(ledger.remaining(), 10);
    }
}
