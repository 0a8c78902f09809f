use super::*;
use proptest::prelude::*;

/// Candidates of one group each with plain costs.
struct Plain(Vec<u64>);

impl Offers for Plain {
    fn at_least(&self, candidate: usize) -> u64 {
        self.0[candidate] / 3
    }

    fn cost(&mut self, candidate: usize) -> Option<Cost> {
        Some(Cost { tokens: self.0[candidate], chars: self.0[candidate] })
    }

    fn header(&mut self, _candidate: usize) -> Cost {
        Cost { tokens: 1, chars: 1 }
    }

    fn group(&self, candidate: usize) -> u32 {
        candidate as u32
    }

    fn is_beside(&mut self, _a: usize, _b: usize) -> bool {
        false
    }
}

fn limits(tokens: u64) -> Limits {
    Limits { tokens, chars: 1_000_000, items: 250, items_per_section: 80 }
}

fn check(
    costs: &[u64],
    sections: &[usize],
    shares: &[u32],
    limits: Limits,
    expect: &[usize],
    reasons: &[(usize, DropReason)],
) {
    let entries: Vec<Entry> = sections
        .iter()
        .enumerate()
        .map(|(candidate, section)| Entry { candidate, section: *section, has_share: true })
        .collect();
    let got = select(&entries, shares, limits, &mut Plain(costs.to_vec()));
    let chosen: Vec<usize> = got.chosen.iter().map(|c| c.0).collect();
    assert_eq!((chosen, got.refused), (expect.to_vec(), reasons.to_vec()));
}

#[test]
fn rank_decides_and_what_is_too_large_is_skipped() {
    use DropReason::{Budget, TooLarge};
    // 6 for the heading, 1 for each header.
    check(&[10, 200, 20], &[0, 0, 0], &[100], limits(50), &[0, 2], &[(1, TooLarge)]);
    check(&[10, 20, 200], &[0, 0, 0], &[100], limits(38), &[0, 1], &[(2, Budget)]);
    check(&[], &[], &[100], limits(50), &[], &[]);
    check(&[1], &[0], &[100], limits(0), &[], &[(0, Budget)]);
}

#[test]
fn a_section_keeps_to_its_share_until_all_had_their_turn() {
    // Section 0 may take 50 in the first pass; candidate 1 gets the rest in the second.
    check(&[40, 40, 30], &[0, 0, 1], &[50, 50], limits(140), &[0, 2, 1], &[]);
}

#[test]
fn what_has_no_part_in_a_share_waits_for_the_room_that_is_left() {
    let check = |has_share: bool, expect: &[usize]| {
        let entry = |candidate, section, has_share| Entry { candidate, section, has_share };
        let entries = [entry(0, 0, true), entry(1, 0, true), entry(2, 1, has_share)];
        let got = select(&entries, &[50, 50], limits(110), &mut Plain(vec![40, 40, 30]));
        assert_eq!(got.chosen.iter().map(|c| c.0).collect::<Vec<_>>(), expect);
    };
    check(true, &[0, 2]);
    check(false, &[0, 1]);
}

#[test]
fn caps_hold_exactly() {
    use DropReason::{ItemCap, SectionCap};
    let tight = |items, items_per_section| Limits { items, items_per_section, ..limits(1_000) };
    check(&[1, 1, 1], &[0, 0, 0], &[100], tight(2, 9), &[0, 1], &[(2, ItemCap)]);
    check(&[1, 1, 1], &[0, 0, 1], &[50, 50], tight(9, 1), &[0, 2], &[(1, SectionCap)]);
    check(&[1, 1, 1], &[0, 0, 0], &[100], tight(3, 3), &[0, 1, 2], &[]);
}

#[test]
fn a_ledger_refuses_what_does_not_fit_and_gives_back_what_is_taken() {
    let mut ledger = Ledger::new(limits(10));
    let cost = |tokens| Cost { tokens, chars: 1 };
    assert!(ledger.allocate(cost(10)).is_ok());
    assert_eq!(ledger.allocate(cost(1)).unwrap_err().code(), "ACODE-CTX-003");
    assert_eq!(ledger.remaining(), 0);
    ledger.roll_back(cost(4));
    assert_eq!(ledger.remaining(), 4);
}

proptest! {
    #[test]
    fn never_over_and_nothing_left_that_would_fit(
        // No excerpt is empty: with the header of its file it takes two tokens or more.
        items in prop::collection::vec((1u64..120, 0usize..3), 0..40),
        tokens in 0u64..600,
        per_section in 1usize..12,
    ) {
        let entries: Vec<Entry> = items.iter().enumerate().map(|(candidate, (_, section))| Entry { candidate, section: *section, has_share: true }).collect();
        let limits = Limits { items_per_section: per_section, ..limits(tokens) };
        let mut offers = Plain(items.iter().map(|i| i.0).collect());
        let got = select(&entries, &[60, 30, 10], limits, &mut offers);
        let used: u64 = got.chosen.iter().map(|c| c.1.tokens).sum();
        prop_assert!(used <= tokens);
        prop_assert_eq!(got.chosen.len() + got.refused.len(), items.len());
        for (i, reason) in &got.refused {
            if matches!(reason, DropReason::Budget | DropReason::TooLarge) {
                let is_first = !got.chosen.iter().any(|c| items[c.0].1 == items[*i].1);
                let cost = items[*i].0 + 1 + if is_first { 6 } else { 0 };
                prop_assert!(used + cost > tokens);
            }
        }
        prop_assert_eq!(select(&entries, &[60, 30, 10], limits, &mut offers), got);
    }
}
