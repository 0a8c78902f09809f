use super::*;
use serde_json::{Value, json};

fn code(value: Value) -> Result<Resolved, &'static str> {
    Request::from_json(value)
        .and_then(|r| Asked::new(&r, &Config::default()))
        .map(|asked| asked.options)
        .map_err(|e| e.code().name())
}

#[test]
fn refuses_what_does_not_exist_or_does_not_go_together() {
    for (request, expect) in [
        (json!({"query": "x", "layout": "round"}), "POC_E_NOT_SUPPORTED"),
        (json!({"query": "x", "colour": 1}), "POC_E_NOT_SUPPORTED"),
        (json!({"query": "x", "expansion": {"edgeTypes": ["friend"]}}), "POC_E_NOT_SUPPORTED"),
        (json!({"query": "x", "seedProvider": "ann"}), "POC_E_NOT_SUPPORTED"),
        (json!({"query": 3}), "POC_E_INVALID_REQUEST"),
        (json!({"query": "  "}), "POC_E_INVALID_REQUEST"),
        (json!({"query": "x", "focus": {"symbolId": "a", "chunkUid": "b"}}), "POC_E_INVALID_REQUEST"),
        (
            json!({"query": "x", "budgets": {"maxTotalTokens": 1}, "contextBudget": {}}),
            "POC_E_INVALID_REQUEST",
        ),
        (json!({"query": "x", "schemaVersion": "9.0.0"}), "POC_E_CONTRACT_VERSION"),
        (
            json!({"query": "x", "strictness": "strict", "budgets": {"maxItems": 251}}),
            "POC_E_BUDGET_EXCEEDED",
        ),
    ] {
        assert_eq!(code(request.clone()), Err(expect), "{request}");
    }
    assert!(code(json!({"query": "x", "strictness": "strict", "budgets": {"maxItems": 250}})).is_ok());
    assert!(code(json!({"query": "", "focus": {"fileRelPath": "a.go"}})).is_ok());
}

#[test]
fn caps_hold_exactly_at_their_boundary() {
    for (member, cap) in [
        ("maxTotalChars", 2_000_000u64),
        ("maxItems", 250),
        ("maxItemsPerSection", 80),
        ("maxBytesPerItem", 64_000),
    ] {
        for (asked, clamps) in [(cap, 0), (cap + 1, 1)] {
            let request = Request::from_json(json!({"query": "x", "budgets": {member: asked}})).unwrap();
            let budgets = Asked::new(&request, &Config::default()).unwrap().limits;
            assert_eq!(budgets.clamped.len(), clamps, "{member} {asked}");
        }
    }
    let hops = code(json!({"query": "x", "expansion": {"maxHops": 9}})).unwrap();
    assert_eq!(hops.expansion.max_hops, 4);
}

#[test]
fn equal_requests_become_equal_bytes() {
    let config = Config::default();
    let named = |v: Value, repo_id: &str, version: &str| {
        let asked = Asked::new(&Request::from_json(v).unwrap(), &config).unwrap();
        asked.normalised(repo_id, &config, version)
    };
    let normal = |v: Value| named(v, "r", "1");
    let base = normal(json!({"query": "x"}));
    for same in [
        json!({"query": " x ", "layout": "graph", "strictness": "warn"}),
        json!({"query": "x", "expansion": {"edgeTypes": ["import", "usage", "call", "call"]}}),
        json!({"query": "x", "repoId": "r", "indexRoot": "/secret", "indexSignature": "b3:1"}),
        json!({"query": "x", "ordering": {"stableTieBreakers": ["fileRelPath"]}}),
        json!({"query": "x", "focus": {}}),
        // Defaults, written out.
        json!({"query": "x", "budgets": {"maxItems": 80, "maxTotalTokens": 90_000, "maxItemsPerSection": 25}}),
        json!({"query": "x", "budgets": {"maxTotalChars": 200_000, "maxBytesPerItem": 4_096, "stop": "value"}}),
        json!({"query": "x", "expansion": {"maxHops": 2, "includeImports": true, "includeExports": false}}),
        json!({"query": "x", "contextBudget": {}}),
        json!({"query": "x", "contextBudget": {"totalTokens": 100_000, "responseReserve": 8_000}}),
        json!({"query": "x", "intent": "answer", "includeExplain": true, "tokenizer": "o200k_base"}),
        json!({"query": "x", "ordering": {"primary": "hybridScore"}, "schemaVersion": "1.0.0"}),
    ] {
        assert_eq!(normal(same.clone()), base, "{same}");
    }
    for other in [
        json!({"query": "y"}),
        json!({"query": "x", "layout": "agent"}),
        json!({"query": "x", "expansion": {"includeImports": false}}),
        json!({"query": "x", "ordering": {"stableTieBreakers": ["symbolId"]}}),
        json!({"query": "x", "budgets": {"maxItems": 79}}),
        // Another window with the same available tokens.
        json!({"query": "x", "contextBudget": {"totalTokens": 90_000, "responseReserve": 0, "systemReserve": 0}}),
    ] {
        assert_ne!(normal(other.clone()), base, "{other}");
    }
    // The pack warns of what was asked.
    let hops = |n: u32| normal(json!({"query": "x", "expansion": {"maxHops": n}}));
    assert_ne!(hops(5), hops(9));
    assert_ne!(named(json!({"query": "x"}), "r", "2"), base);
    assert_ne!(named(json!({"query": "x"}), "other", "1"), base);
}

#[test]
fn reserves_cannot_enlarge_a_budget() {
    for (total, response, system, available) in
        [(100_000, 8_000, 2_000, 90_000), (10, 8, 4, 0), (10, -5, 2, 8), (0, 0, 0, 0)]
    {
        let budget =
            ContextBudget { total_tokens: total, response_reserve: response, system_reserve: system };
        assert_eq!(budget.available(), available);
    }
    let request = json!({"query": "x", "contextBudget": {}});
    assert_eq!(code(request).unwrap().budgets.max_total_tokens, 90_000);
}

#[test]
fn a_gross_budget_and_flags_are_echoed() {
    let asked = json!({
        "query": "x",
        "contextBudget": {"totalTokens": 50_000, "responseReserve": 1_000, "systemReserve": -5},
        "expansion": {"includeImports": false, "includeExports": true},
    });
    let shown = serde_json::to_value(code(asked.clone()).unwrap()).unwrap();
    assert_eq!(shown["contextBudget"], asked["contextBudget"]);
    assert_eq!(shown["budgets"]["maxTotalTokens"], 49_000);
    let flags = ["includeImports", "includeExports", "includeDataflow"].map(|f| &shown["expansion"][f]);
    assert_eq!(flags, [&json!(false), &json!(true), &json!(false)]);
}

#[test]
fn a_limit_says_where_it_comes_from() {
    use LimitSource as Of;
    let mut config = Config::default();
    config.budgets.max_items = 33;
    config.origins.insert("maxItems".to_owned(), Of::RepositoryFile);
    let resolve = |config: &Config, client: BudgetsRequest, asked: Value| {
        let request = Request { client_budgets: client, ..Request::from_json(asked).unwrap() };
        Asked::new(&request, config).unwrap().limits
    };
    let items = |client: Option<u64>, asked: Value| {
        let client = BudgetsRequest { max_items: client, ..Default::default() };
        let limit = resolve(&config, client, asked).max_items;
        (limit.value, limit.source)
    };
    let ask = |n: u64| json!({"query": "x", "budgets": {"maxItems": n}});
    assert_eq!(items(None, json!({"query": "x"})), (33, Of::RepositoryFile));
    assert_eq!(items(None, ask(33)), (33, Of::RepositoryFile));
    assert_eq!(items(None, ask(80)), (80, Of::Request));
    assert_eq!(items(None, ask(999)), (250, Of::HardCap));
    assert_eq!(items(Some(250), json!({"query": "x"})), (250, Of::Client));
    assert_eq!(items(Some(250), ask(20)), (20, Of::Request));

    let tokens = |config: &Config, asked: Value| {
        let limit = resolve(config, BudgetsRequest::default(), asked).max_total_tokens;
        (limit.value, limit.source)
    };
    let plain = json!({"query": "x"});
    assert_eq!(tokens(&config, plain.clone()), (90_000, Of::Default));
    // The window of the configuration supplies the parts that a request leaves out.
    config.window = ContextBudget { total_tokens: 60_000, response_reserve: 5_000, ..config.window };
    config.origins.insert("window".to_owned(), Of::UserFile);
    assert_eq!(tokens(&config, plain.clone()), (53_000, Of::UserFile));
    assert_eq!(tokens(&config, json!({"query": "x", "contextBudget": {}})), (53_000, Of::UserFile));
    let wide = json!({"query": "x", "contextBudget": {"totalTokens": 70_000}});
    assert_eq!(tokens(&config, wide), (63_000, Of::Request));
    config.budgets.max_total_tokens = 9_000;
    config.origins.insert("maxTotalTokens".to_owned(), Of::Environment);
    assert_eq!(tokens(&config, plain), (9_000, Of::Environment));
}
