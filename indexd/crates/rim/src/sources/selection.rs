//! Fits ranked chunks into a budget in their order; a chunk that does not fit is skipped.

use super::budget::{Full, Ledger};
use super::{ContextChunk, Excluded, Settings};
use indexd_api::PackError;
use indexd_api::sources::SourceType;
use std::collections::BTreeMap;

/// Costs of chunks in the text that they will be written to.
pub struct Costs<'a> {
    /// A bound of the tokens that a chunk adds to any text; cheap.
    pub bound: &'a dyn Fn(&ContextChunk) -> u64,
    /// The tokens of the text of these chunks as a whole.
    pub exact: &'a dyn Fn(&[&ContextChunk]) -> Result<u64, PackError>,
}

/// Takes chunks in rank order while they fit; with a balance below 100, first within the share of each kind of
/// source. Where the bound of a chunk has no room, its exact cost decides, so no chunk that is left out would
/// fit after those before it. Returns the chosen ones, best first, and the others with reasons.
///
/// # Errors
/// Those of [`Costs::exact`].
pub fn select(
    chunks: Vec<ContextChunk>,
    settings: &Settings,
    budget: &mut Ledger,
    costs: &Costs,
) -> Result<(Vec<ContextChunk>, Vec<Excluded>), PackError> {
    let is_balanced = settings.balance_percent < 100;
    let share =
        (budget.remaining() + budget.allocated()) * u64::from(settings.balance_percent.min(100)) / 100;
    let mut used: BTreeMap<SourceType, u64> = BTreeMap::new();
    let mut filling = Filling { budget, costs, is_settled: true, taken: vec![Err("budget"); chunks.len()] };
    for (i, chunk) in chunks.iter().enumerate() {
        let tokens = (costs.bound)(chunk);
        let own = used.entry(chunk.source_type).or_default();
        if !(is_balanced && *own + tokens > share) {
            filling.take(&chunks, i)?;
        }
        *own += if filling.taken[i].is_ok() { tokens } else { 0 };
    }
    // Tokens left over by the shares go to the best of the rest.
    for i in 0..if is_balanced { chunks.len() } else { 0 } {
        if filling.taken[i].is_err() {
            filling.take(&chunks, i)?;
        }
    }
    let taken = filling.taken;
    let (mut chosen, mut excluded) = (Vec::new(), Vec::new());
    for (chunk, taken) in chunks.into_iter().zip(taken) {
        match taken {
            Ok(()) => chosen.push(chunk),
            Err(reason) => excluded.push(Excluded { chunk, reason }),
        }
    }
    Ok((chosen, excluded))
}

/// A budget that is being filled.
struct Filling<'a, 'c> {
    budget: &'a mut Ledger,
    costs: &'a Costs<'c>,
    /// True if the allocations are the tokens in use, and not bounds.
    is_settled: bool,
    taken: Vec<Result<(), &'static str>>,
}

impl Filling<'_, '_> {
    /// Takes a chunk if it fits.
    fn take(&mut self, chunks: &[ContextChunk], i: usize) -> Result<(), PackError> {
        let (chunk, bound) = (&chunks[i], (self.costs.bound)(&chunks[i]));
        let mut full = self.budget.allocate(chunk.source_type, bound);
        self.is_settled &= full.is_err();
        if matches!(full, Err(Full::Total(_))) && !self.is_settled {
            self.budget.settle((self.costs.exact)(&self.with(chunks, None))?);
            full = self.budget.allocate(chunk.source_type, bound);
            self.is_settled = full.is_err();
        }
        // The text of a chunk is most of its cost: without room for it nothing need be counted.
        if let Err(Full::Total(left)) = full
            && u64::from(chunk.token_count) <= left + JOINED
        {
            let with = (self.costs.exact)(&self.with(chunks, Some(i)))?;
            full = self.budget.allocate(chunk.source_type, with.saturating_sub(self.budget.allocated()));
        }
        self.taken[i] = full.map_err(|full| match full {
            Full::Category(_) => "category",
            Full::Total(0) => "budget",
            Full::Total(_) => "too-large",
        });
        Ok(())
    }

    /// The chunks that are taken, and one more.
    fn with<'t>(&self, chunks: &'t [ContextChunk], more: Option<usize>) -> Vec<&'t ContextChunk> {
        let is_in = |i: usize| more == Some(i) || self.taken[i].is_ok();
        chunks.iter().enumerate().filter(|(i, _)| is_in(*i)).map(|(_, c)| c).collect()
    }
}

/// Tokens that a text may save by joining others.
const JOINED: u64 = 2;

#[cfg(test)]
mod tests {
    use super::super::tests::piece;
    use super::SourceType::{OpenFile, SearchResult};
    use super::*;

    fn chunk(name: &str, kind: SourceType, tokens: u32) -> ContextChunk {
        ContextChunk { token_count: tokens, ..piece(name, kind, 1, "x\n") }
    }

    fn selected(
        settings: &Settings,
        chunks: Vec<ContextChunk>,
        total: u64,
    ) -> (Vec<String>, Vec<(String, &'static str)>) {
        let name = |c: &ContextChunk| c.file_path.clone().unwrap();
        let mut ledger = Ledger::new(total, settings.category_tokens.clone());
        let own = |c: &ContextChunk| u64::from(c.token_count);
        let exact = |chunks: &[&ContextChunk]| Ok(chunks.iter().map(|c| own(c)).sum());
        let costs = Costs { bound: &own, exact: &exact };
        let (chosen, excluded) = super::select(chunks, settings, &mut ledger, &costs).unwrap();
        assert!(ledger.allocated() <= total);
        (chosen.iter().map(name).collect(), excluded.iter().map(|e| (name(&e.chunk), e.reason)).collect())
    }

    fn plain(sizes: &[u32], total: u64) -> (Vec<String>, Vec<(String, &'static str)>) {
        let chunks = sizes.iter().enumerate().map(|(i, n)| chunk(&i.to_string(), OpenFile, *n)).collect();
        selected(&Settings::default(), chunks, total)
    }

    #[test]
    fn should_select_top_ranked_chunks() {
        assert_eq!(
            plain(&[5, 1, 5], 6),
            (vec!["0".to_owned(), "1".to_owned()], vec![("2".to_owned(), "budget")])
        );
    }

    #[test]
    fn should_fill_to_budget() {
        let (chosen, excluded) = plain(&[4, 9, 3, 2, 1], 10);
        assert_eq!(chosen, ["0", "2", "3", "4"]);
        assert_eq!(excluded, [("1".to_owned(), "too-large")]);
    }

    #[test]
    fn should_not_exceed_budget() {
        for seed in 0..300u64 {
            let sizes: Vec<u32> = (0..20).map(|i| ((seed * 31 + i * 17) % 23) as u32).collect();
            let total = seed % 90;
            let (chosen, excluded) = plain(&sizes, total);
            let used: u32 = chosen.iter().map(|n| sizes[n.parse::<usize>().unwrap()]).sum();
            assert!(u64::from(used) <= total);
            assert_eq!(chosen.len() + excluded.len(), 20);
            assert!(
                excluded.iter().all(|(n, _)| u64::from(used + sizes[n.parse::<usize>().unwrap()]) > total)
            );
        }
    }

    #[test]
    fn should_handle_chunk_larger_than_remaining() {
        assert_eq!(plain(&[8, 5, 2], 10).0, ["0", "2"]);
    }

    #[test]
    fn should_balance_multiple_sources() {
        let all = || {
            let mut out: Vec<ContextChunk> = (0..4).map(|i| chunk(&format!("o{i}"), OpenFile, 25)).collect();
            out.extend((0..2).map(|i| chunk(&format!("s{i}"), SearchResult, 25)));
            out
        };
        assert_eq!(selected(&Settings::default(), all(), 100).0, ["o0", "o1", "o2", "o3"]);
        let balanced = Settings { balance_percent: 50, ..Settings::default() };
        assert_eq!(selected(&balanced, all(), 100).0, ["o0", "o1", "s0", "s1"]);
        assert_eq!(
            selected(&balanced, all(), 125).0,
            ["o0", "o1", "o2", "s0", "s1"],
            "what is left over is used"
        );
    }

    #[test]
    fn should_handle_empty_candidates() {
        assert_eq!(plain(&[], 10), (vec![], vec![]));
    }

    #[test]
    fn should_handle_single_candidate() {
        assert_eq!(plain(&[3], 3).0, ["0"]);
        assert_eq!(plain(&[4], 3).1, [("0".to_owned(), "too-large")]);
    }

    #[test]
    fn should_handle_all_candidates_fit() {
        let (chosen, excluded) = plain(&[1, 2, 3], 6);
        assert_eq!(chosen, ["0", "1", "2"]);
        assert_eq!(excluded, []);
    }

    #[test]
    fn limits_of_a_kind_hold_beside_the_total() {
        let limited = Settings { category_tokens: [(OpenFile, 4)].into(), ..Settings::default() };
        let (chosen, excluded) =
            selected(&limited, vec![chunk("a", OpenFile, 5), chunk("b", SearchResult, 5)], 10);
        assert_eq!((chosen, excluded), (vec!["b".to_owned()], vec![("a".to_owned(), "category")]));
    }

    #[test]
    fn where_bounds_have_no_room_exact_costs_decide() {
        // The second of two chunks of one file shares the header, which the bound counts twice.
        let chunks = || [4, 4, 3].map(|n| chunk("a", OpenFile, n)).to_vec();
        let bound = |c: &ContextChunk| u64::from(c.token_count) + 3;
        let asked = std::cell::Cell::new(0);
        let exact = |chunks: &[&ContextChunk]| {
            asked.set(asked.get() + 1);
            Ok(chunks.iter().map(|c| u64::from(c.token_count)).sum::<u64>() + 3)
        };
        for (total, chosen, is_counted) in
            [(14, &[4, 4, 3][..], true), (13, &[4, 4], true), (10, &[4, 3], true), (21, &[4, 4, 3], false)]
        {
            let mut ledger = Ledger::new(total, BTreeMap::new());
            asked.set(0);
            let costs = Costs { bound: &bound, exact: &exact };
            let (found, left) = super::select(chunks(), &Settings::default(), &mut ledger, &costs).unwrap();
            let tokens: Vec<u32> = found.iter().map(|c| c.token_count).collect();
            assert_eq!((&*tokens, found.len() + left.len()), (chosen, 3), "{total}");
            assert_eq!(asked.get() > 0, is_counted, "{total}");
        }
    }
}
