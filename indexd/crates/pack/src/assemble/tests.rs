//! Tests that every candidate left out does not fit.

use super::lanes::ROOM_MIN;
use super::*;
use crate::config::Config;
use crate::request::Request;
use crate::tuning::Tuning;
use indexd_oracle::Oracle;
use indexd_text::{CounterOptions, counter};
use proptest::prelude::*;
use serde_json::json;

const GO: &[&str] = &[
    "README.md",
    "client/client.go",
    "client/client_test.go",
    "cmd/main.go",
    "config.yaml",
    "go.mod",
    "retry/policy.go",
];

fn tree(name: &str, paths: &[&str]) -> Oracle {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fixtures/packs").join(name);
    let read = |p: &&str| ((*p).to_owned(), std::fs::read(root.join(p)).expect("a file of the fixture"));
    Oracle::of(&paths.iter().map(read).collect::<Vec<_>>())
}

/// The forms in which [`Assembly::use_up`] may still offer a candidate.
fn forms(a: &mut Assembly, i: usize) -> Vec<Plan> {
    let c = &a.s.claimed[i];
    match c.state {
        State::Open if c.section.is_some_and(|s| a.page.cap(s).is_none()) => a.plan(i).into_iter().collect(),
        State::Included if c.plan.as_ref().is_some_and(|p| (Form::Head..Form::Whole).contains(&p.form)) => {
            a.widest(i).filter(|p| p.form == Form::Whole).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nothing_left_out_would_fit(
        words in prop::collection::vec(
            prop::sample::select(vec!["retry", "delay", "policy", "busy", "attempts", "test", "Delay"]),
            1..4,
        ),
        budget in 60u64..1_500,
        bytes in 200u64..5_000,
    ) {
        let view = tree("go", GO);
        let counter = counter("o200k_base", &CounterOptions::default()).expect("a known name");
        let (config, tuning) = (Config::default(), Tuning::default());
        let ctx = Context::new(&config, &tuning, &*counter);
        let budgets = json!({"maxTotalTokens": budget, "maxBytesPerItem": bytes, "stop": "budget"});
        let request = Request::from_json(json!({"query": words.join(" "), "budgets": budgets})).expect("a request");
        let asked = Asked::new(&request, &config).expect("options");
        let mut a = Assembly::new(&view, asked.options.clone(), &ctx).expect("candidates");
        a.fill().expect("a page");
        for i in 0..a.s.claimed.len() {
            if a.page.left() < ROOM_MIN {
                break;
            }
            for plan in forms(&mut a, i) {
                let spot = a.spot(i, &plan);
                let after = a.page.with(i, &spot, &plan);
                let is_fit = !plan.parts.is_empty() && after.tokens <= budget;
                prop_assert!(!is_fit, "{i}: {plan:?} fits: {} of {budget}, {} left, {:?}", after.tokens, a.page.left(), a.s.claimed[i].state);
            }
        }
    }
}
