//! What holds for every request on every tree.

use crate::support::{go, pack, python, tokens};
use indexd_model::{FactsView, IndexView, LineIndex, Lines};
use indexd_oracle::Oracle;
use proptest::prelude::*;
use serde_json::json;

const WORDS: [&str; 24] = [
    "retry",
    "delay",
    "policy",
    "busy",
    "server",
    "client",
    "attempts",
    "discount",
    "price",
    "basket",
    "total",
    "rate",
    "test",
    "config",
    "import",
    "Delay",
    "apply_discount",
    "MaxDelay",
    "shop.pricing",
    "retry/policy.go",
    "\"gave up\"",
    "level",
    "the",
    "zzz",
];

fn words() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&WORDS[..]), 1..6).prop_map(|w| w.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn budgets_hold_and_excerpts_are_exact(
        query in words(),
        budget in 0u64..1_500,
        chars in 0u64..6_000,
        bytes in 1u64..3_000,
        layout in prop::sample::select(vec!["graph", "agent"]),
        is_go in any::<bool>(),
    ) {
        let view = if is_go { go() } else { python() };
        let request = json!({
            "query": query,
            "layout": layout,
            "budgets": {"maxTotalTokens": budget, "maxTotalChars": chars, "maxBytesPerItem": bytes},
        });
        let pack = pack(&view, request);
        prop_assert!(u64::from(tokens().count_tokens(&pack.rendered)) <= budget);
        prop_assert_eq!(u64::from(tokens().count_tokens(&pack.rendered)), pack.stats.token_count);
        prop_assert!(pack.rendered.chars().count() as u64 <= chars);
        let s = &pack.stats;
        prop_assert_eq!(s.found, s.included + s.merged + s.dropped);
        prop_assert_eq!(s.included, pack.items().count() as u64);
        prop_assert_eq!(s.dropped, s.dropped_by_reason.values().sum::<u64>());
        for item in pack.items() {
            check_excerpt(&view, item, bytes)?;
        }
        // What the pack lists is what the text shows, in fences that pair up.
        for item in pack.items() {
            let header = format!("## File: {} (lines ", item.file_rel_path);
            prop_assert!(pack.rendered.contains(&header), "no header of {}", item.file_rel_path);
        }
    }
}

fn check_excerpt(view: &Oracle, item: &indexd_pack::pack::Item, bytes: u64) -> Result<(), TestCaseError> {
    let file = view.file_by_path(&item.file_rel_path).expect("a file of the tree");
    let text = view.text(file);
    let lines = LineIndex::new(&text);
    let joined: String = item.excerpt.parts.iter().map(|p| p.text.as_str()).collect();
    prop_assert_eq!(&joined, &item.excerpt.text);
    prop_assert!(item.excerpt.text.len() as u64 <= bytes);
    for part in &item.excerpt.parts {
        prop_assert!(item.lines.start <= part.lines.start && part.lines.end <= item.lines.end);
        let whole = &text[lines.lines_span(Lines { start: part.lines.start, end: part.lines.end }).range()];
        prop_assert_eq!(whole, &part.text);
    }
    Ok(())
}
