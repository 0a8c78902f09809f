//! Fits ranked chunks into a budget in their order; a chunk that does not fit is skipped.

use super::budget::{Full, Ledger};
use super::{ContextChunk, Excluded, Settings};
use indexd_api::sources::SourceType;
use std::collections::BTreeMap;

/// Takes chunks in rank order while they fit, `cost` tokens each; with a balance below 100, first within the
/// share of each kind of source. Returns the chosen ones, best first, and the others with reasons.
pub fn select(
    chunks: Vec<ContextChunk>,
    settings: &Settings,
    budget: &mut Ledger,
    cost: &dyn Fn(&ContextChunk) -> u64,
) -> (Vec<ContextChunk>, Vec<Excluded>) {
    let is_balanced = settings.balance_percent < 100;
    let share =
        (budget.remaining() + budget.allocated()) * u64::from(settings.balance_percent.min(100)) / 100;
    let mut used: BTreeMap<SourceType, u64> = BTreeMap::new();
    let mut slots: Vec<(ContextChunk, Result<(), &'static str>)> = Vec::new();
    for chunk in chunks {
        let tokens = cost(&chunk);
        let own = used.entry(chunk.source_type).or_default();
        let is_over = is_balanced && *own + tokens > share;
        let taken = if is_over { Err("budget") } else { take(budget, &chunk, tokens) };
        *own += if taken.is_ok() { tokens } else { 0 };
        slots.push((chunk, taken));
    }
    // Tokens left over by the shares go to the best of the rest.
    for (chunk, taken) in slots.iter_mut().filter(|(_, taken)| is_balanced && taken.is_err()) {
        *taken = take(budget, chunk, cost(chunk));
    }
    let (mut chosen, mut excluded) = (Vec::new(), Vec::new());
    for (chunk, taken) in slots {
        match taken {
            Ok(()) => chosen.push(chunk),
            Err(reason) => excluded.push(Excluded { chunk, reason }),
        }
    }
    (chosen, excluded)
}

fn take(budget: &mut Ledger, chunk: &ContextChunk, tokens: u64) -> Result<(), &'static str> {
    budget.allocate(chunk.source_type, tokens).map_err(|full| match full {
        Full::Category(_) => "category",
        Full::Total(0) => "budget",
        Full::Total(_) => "too-large",
    })
}

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
        let (chosen, excluded) = super::select(chunks, settings, &mut ledger, &|c| u64::from(c.token_count));
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
        assert_eq!(plain(&[1, 2, 3], 6).1, []);
    }

    #[test]
    fn limits_of_a_kind_hold_beside_the_total() {
        let limited = Settings { category_tokens: [(OpenFile, 4)].into(), ..Settings::default() };
        let (chosen, excluded) =
            selected(&limited, vec![chunk("a", OpenFile, 5), chunk("b", SearchResult, 5)], 10);
        assert_eq!((chosen, excluded), (vec!["b".to_owned()], vec![("a".to_owned(), "category")]));
    }
}
