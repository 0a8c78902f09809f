//! What holds for every request on every tree.

use crate::support::{go, pack, python, tokens};
use indexd_model::{FactsView, IndexView, LineIndex, Lines};
use indexd_oracle::Oracle;
use indexd_pack::assemble::scale_of;
use indexd_pack::pack::Form;
use indexd_pack::{Pack, canonical};
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
        bytes in prop_oneof![1u64..100, 1u64..3_000],
        layout in prop::sample::select(vec!["graph", "agent"]),
        intent in prop::sample::select(vec!["answer", "answer", "contract", "summarize", "refactor"]),
        is_go in any::<bool>(),
    ) {
        let view = if is_go { go() } else { python() };
        let request = json!({
            "query": query,
            "layout": layout,
            "intent": intent,
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
        // What shown code led to stands in its place among what was found.
        for s in pack.sections.iter().filter(|_| intent == "answer") {
            let keys = s.items.iter().map(|i| (i.scores.seed_score < 0.5, -i.scores.hybrid_score));
            prop_assert!(keys.is_sorted_by(|a, b| a <= b), "{}", s.name);
        }
        // What the pack lists is what the text shows, in fences that pair up.
        for item in pack.items() {
            let is_header = |l: &str| l.strip_prefix(item.path()).is_some_and(|r| r.is_empty() || r.starts_with(':'));
            prop_assert!(pack.rendered.lines().any(is_header), "no header of {}", item.path());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn explanations_add_up_to_the_score(query in words(), is_go in any::<bool>(), hops in 0u32..3) {
        let view = if is_go { go() } else { python() };
        let pack = pack(&view, json!({"query": query, "expansion": {"maxHops": hops}}));
        for item in pack.items() {
            let e = item.explanation.as_ref().expect("explain is on by default");
            prop_assert!(e.adds_up(), "{e:?}");
            prop_assert_eq!(canonical::round6(e.value), item.scores.hybrid_score);
        }
    }

    #[test]
    fn a_pack_of_n_tokens_comes_back_as_it_was_with_a_budget_of_n(
        query in words(),
        budget in 30u64..6_000,
        // In layout `agent` the end of the text has room of its own, which depends on the budget.
        layout in prop::sample::select(vec!["graph", "flat"]),
        is_go in any::<bool>(),
    ) {
        let view = if is_go { go() } else { python() };
        let ask = |n: u64| {
            pack(&view, json!({"query": query, "layout": layout, "budgets": {"maxTotalTokens": n}}))
        };
        let first = ask(budget);
        let n = first.stats.token_count;
        // What leaves a sixth of its budget free was planned for larger pieces.
        prop_assume!(scale_of(n) == scale_of(budget));
        let again = ask(n);
        prop_assert_eq!(&again.rendered, &first.rendered, "{} of {}", n, budget);
        let uids = |p: &Pack| p.items().map(|i| i.chunk_uid.clone()).collect::<Vec<_>>();
        prop_assert_eq!(uids(&again), uids(&first));
        if n > 0 {
            prop_assert!(ask(n - 1).stats.token_count < n);
        }
    }

    #[test]
    fn what_was_seen_is_not_shown_again(query in words(), budget in 300u64..1_500, is_go in any::<bool>()) {
        let view = if is_go { go() } else { python() };
        let first = pack(&view, json!({"query": query, "budgets": {"maxTotalTokens": budget}}));
        let seen = first.seen();
        let again = pack(&view, json!({"query": query, "seen": seen, "budgets": {"maxTotalTokens": budget}}));
        for item in again.items() {
            let before = first.items().find(|i| i.chunk_uid == item.chunk_uid);
            match before.map(|i| i.form) {
                Some(Form::Head) => prop_assert!(item.form >= Form::Windows, "{}", item.title),
                Some(_) => prop_assert_eq!(item.form, Form::Place),
                None => prop_assert!(item.form != Form::Place),
            }
        }
    }
}

fn check_excerpt(view: &Oracle, item: &indexd_pack::pack::Item, bytes: u64) -> Result<(), TestCaseError> {
    let file = view.file_by_path(item.path()).expect("a file of the tree");
    let text = view.text(file);
    let lines = LineIndex::new(&text);
    prop_assert!(item.excerpt.text.len() as u64 <= bytes);
    let of = |p: &indexd_pack::pack::Part| {
        &text[lines.lines_span(Lines { start: p.lines.start, end: p.lines.end }).range()]
    };
    // The excerpt is within the item, whose hash covers it.
    let is_within =
        |p: &indexd_pack::pack::Part| item.lines().start <= p.lines.start && p.lines.end <= item.lines().end;
    prop_assert!(
        item.excerpt.parts.iter().all(is_within),
        "{}: {:?} {:?}",
        item.title,
        item.lines(),
        item.excerpt.parts
    );
    let joined: String = item.excerpt.parts.iter().map(of).collect();
    // A line above the limit is shown in part, between marks.
    let (stored, shown) = (joined.split_inclusive('\n'), item.excerpt.text.split_inclusive('\n'));
    prop_assert_eq!(stored.clone().count(), shown.clone().count());
    for (stored, shown) in stored.zip(shown) {
        let is_long = stored.len() as u64 > bytes;
        let inner = shown.trim_end_matches('\n').trim_matches('\u{2026}');
        prop_assert!(stored == shown || is_long && stored.contains(inner), "{stored:?} {shown:?}");
        prop_assert!(!is_long || item.excerpt.truncated);
    }
    Ok(())
}
