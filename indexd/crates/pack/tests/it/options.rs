//! Every option of a request does what it says.

use crate::support::{context, go, pack, python, tuning, with_seeds};
use indexd_oracle::Oracle;
use indexd_pack::pack::{Pack, Scores, Word};
use indexd_pack::{Config, Context, Request, build};
use indexd_text::{CounterOptions, counter};
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::BTreeSet;

fn calls() -> Oracle {
    let text = "package a\n\nimport \"m/b\"\n\nfunc Top() {\n\tNeedle()\n}\n\nfunc Needle() {\n\tLeaf()\n\tb.Other()\n}\n\nfunc Leaf() {}\n";
    Oracle::of(&[
        ("go.mod", "module m\n"),
        ("a/x.go", text),
        ("b/b.go", "package b\n\nfunc Other() {\n\tdeeper()\n}\n\nfunc deeper() {}\n"),
        ("docs/guide.md", "# Sewing\n\nA needle is used for sewing.\n"),
    ])
}

/// A pack of what one seed leads to.
fn from_one_seed(view: &Oracle, query: &str, mut request: Value) -> Pack {
    request["query"] = json!(query);
    with_seeds(view, request, 1)
}

/// Titles of what edges led to, sorted.
fn reached(pack: &Pack) -> Vec<String> {
    let by_edge = pack.items().filter(|i| !i.why.path.is_empty());
    let mut out: Vec<String> = by_edge.map(|i| i.title.clone()).collect();
    out.sort();
    out
}

#[test]
fn edges_are_followed_in_the_direction_asked_for_and_so_far() {
    let view = calls();
    let (top, leaf, other) = ("func Top()", "func Leaf()", "func Other()");
    for (direction, hops, expect) in [
        ("out", 1, vec![leaf, other]),
        ("in", 1, vec![top]),
        ("both", 1, vec![leaf, other, top]),
        ("out", 2, vec![leaf, other, "func deeper()"]),
        ("both", 0, vec![]),
    ] {
        let expansion = json!({"direction": direction, "edgeTypes": ["call"], "maxHops": hops});
        let pack = from_one_seed(&view, "Needle", json!({"expansion": expansion, "seedMode": "code"}));
        assert_eq!(reached(&pack), expect, "{direction} {hops}");
    }
}

#[test]
fn kinds_of_edges_are_switched_on_and_off() {
    let kinds = |view: &Oracle, query: &str, expansion: Value| -> BTreeSet<Word> {
        let pack = from_one_seed(view, query, json!({"expansion": expansion}));
        pack.items().flat_map(|i| &i.why.path).map(|s| s.edge_type.clone()).collect()
    };
    let (go, python) = (go(), python());
    for (view, query, kind, member) in [
        (&python, "GiftBasket", "import", "includeImports"),
        (&python, "apply_discount", "export", "includeExports"),
        (&go, "Delay", "dataflow", "includeDataflow"),
    ] {
        let with = |types: Value, on: bool| kinds(view, query, json!({"edgeTypes": types, member: on}));
        assert!(with(json!(["call"]), true).contains(kind), "{kind}");
        assert!(!with(json!(["call", kind]), false).contains(kind), "{kind}");
    }
    // Where edges lead to little, neighbours are shown unasked.
    let text = "package a\n\nfunc Needle() {\n\tone()\n\ttwo()\n\tthree()\n}\n\nfunc Aside() {}\n\nfunc one() {}\n\nfunc two() {}\n\nfunc three() {}\n";
    let view = Oracle::of(&[("go.mod", "module m\n"), ("a/x.go", text)]);
    for on in [true, false] {
        let expansion = json!({"includeSameFileNeighbors": on});
        let pack = from_one_seed(&view, "Needle", json!({"expansion": expansion}));
        let aside = pack.items().find(|i| i.title == "func Aside()").map(|i| i.why.rule.clone());
        assert_eq!(aside.as_deref(), on.then_some("same-file-neighbor"));
    }
}

#[test]
fn only_evidence_of_the_kinds_asked_for_counts() {
    let all = ["call", "usage", "import", "export", "dataflow"];
    for kind in ["callsite", "identifier", "importStmt", "span", "tooling"] {
        let mut seen = BTreeSet::new();
        for (view, query) in [
            (go(), "Delay"),
            (go(), "ErrBusy"),
            (python(), "apply_discount"),
            (python(), "GiftBasket"),
            (python(), "RATES"),
        ] {
            let expansion = json!({"requireEvidence": true, "evidenceKinds": [kind], "edgeTypes": all});
            let pack = from_one_seed(&view, query, json!({"strictness": "strict", "expansion": expansion}));
            let by_edge = pack.items().filter(|i| !i.why.path.is_empty());
            seen.extend(by_edge.flat_map(|i| &i.why.evidence).map(|e| e.kind.clone()));
        }
        // Tools other than ours have not looked at these trees.
        let expect = if kind == "tooling" { vec![] } else { vec![kind] };
        assert_eq!(seen.into_iter().collect::<Vec<_>>(), expect);
    }
}

#[test]
fn a_few_lines_of_a_long_caller_need_room_for_a_few_lines() {
    // Many tokens in few bytes, so that the seed leaves less room than the caller has in bytes.
    let dense = "\tx = a[1] + b[2] - c[3] * d[4] / e[5] % f[6]\n".repeat(9);
    let lines = "\tx()\n".repeat(400);
    let text = format!("package a\n\nfunc Needle() {{\n{dense}}}\n\nfunc Top() {{\n\tNeedle()\n{lines}}}\n");
    let view = Oracle::of(&[("go.mod", "module m\n"), ("a/x.go", &*text)]);
    let callers = |budget: u64| {
        let expansion = json!({"direction": "in", "edgeTypes": ["call"]});
        let request =
            json!({"query": "Needle", "budgets": {"maxTotalTokens": budget}, "expansion": expansion});
        reached(&with_seeds(&view, request, 1))
    };
    assert!((60..420).step_by(10).any(|budget| callers(budget).is_empty()));
    assert_eq!(callers(420), ["func Top()"]);
}

#[test]
fn seeds_are_code_or_prose_or_both() {
    for (mode, code, prose) in [("code", true, false), ("prose", false, true), ("mixed", true, true)] {
        let pack = pack(&calls(), json!({"query": "needle", "seedMode": mode}));
        let has = |end: &str| pack.seeds.iter().any(|s| s.file_rel_path.ends_with(end));
        let shows_prose = pack.items().any(|i| i.path().ends_with(".md"));
        assert_eq!((has(".go"), shows_prose), (code, prose), "{mode}");
    }
}

#[test]
fn a_provider_is_the_route_it_names() {
    let view = Oracle::of(&[
        ("a/phrase.go", "package a\n\nfunc One() { fail(\"server is busy, gave up\") }\n"),
        (
            "a/words.go",
            "package a\n\n// Server busy server busy gave gave.\nfunc Two() { gave(server, busy) }\n",
        ),
    ]);
    let of = |provider: &str| {
        let query = "it says \"server is busy, gave up\"";
        let pack = pack(&view, json!({"query": query, "seedProvider": provider}));
        let first = pack.seeds.first().expect("a seed").file_rel_path.clone();
        (first, pack.stats.providers)
    };
    let (phrase, words) = ("a/phrase.go".to_owned(), "a/words.go".to_owned());
    assert_eq!(of("sparse"), (words, vec!["sparse".into()]));
    // Words decide between what the phrase finds equally, so both are named.
    for provider in ["fts", "hybrid"] {
        assert_eq!(of(provider), (phrase.clone(), vec!["sparse".into(), "fts".into()]), "{provider}");
    }
    let symbol = pack(&view, json!({"query": "`Two` fails", "seedProvider": "sparse"}));
    assert_eq!(symbol.stats.providers, ["sparse"]);
}

/// The scores of every candidate, in the order of ranks.
fn ranked(request: Value) -> Vec<Scores> {
    let told = RefCell::new(Vec::new());
    let config = Config::default();
    let tell = |d: &indexd_pack::Decision| {
        if d.section.is_some() {
            told.borrow_mut().push(d.scores);
        }
    };
    let context = indexd_pack::Context { decided: &tell, ..context(&config, &|| false) };
    build(&go(), &Request::from_json(request).expect("a request"), &context).expect("a pack");
    told.into_inner()
}

#[test]
fn ranks_go_by_the_key_asked_for() {
    type Key = fn(&Scores) -> f64;
    let keys: [(&str, Key); 4] = [
        ("seedScore", |s| -s.seed_score),
        ("graphDistance", |s| f64::from(s.graph_distance)),
        ("graphEvidence", |s| -s.evidence_score),
        ("hybridScore", |s| -s.hybrid_score),
    ];
    let mut orders = BTreeSet::new();
    for (primary, key) in keys {
        let scores = ranked(json!({"query": "retry delay policy", "ordering": {"primary": primary}}));
        let of = |s: &Scores| (s.seed_score < 0.5, key(s));
        assert!(scores.len() > 10 && scores.is_sorted_by(|a, b| of(a) <= of(b)), "{primary}: {scores:?}");
        orders.insert(format!("{scores:?}"));
    }
    assert!(orders.len() > 1, "one order would pass for every key");
    for intent in ["answer", "summarize", "refactor", "debug", "contract", "impact"] {
        let scores = ranked(json!({"query": "retry delay policy", "intent": intent}));
        let of = |s: &Scores| (s.graph_distance, -s.evidence_score);
        assert_eq!(scores.is_sorted_by(|a, b| of(a) <= of(b)), intent == "impact", "{intent}");
    }
}

#[test]
fn equals_go_by_the_keys_asked_for() {
    let body = "{\n\tneedle()\n}\n";
    let view = Oracle::of(&[
        ("go.mod", "module m\n".to_owned()),
        ("a/y.go", format!("package a\n\n\n\n\nfunc Bbb() {body}")),
        ("a/z.go", format!("package a\n\nfunc Aaa() {body}")),
    ]);
    let first = |key: &str| {
        let pack = pack(&view, json!({"query": "needle", "ordering": {"stableTieBreakers": [key]}}));
        let items: Vec<_> = pack.items().filter(|i| i.title.starts_with("func")).cloned().collect();
        assert_eq!(items[0].scores, items[1].scores, "they must tie");
        items
    };
    for (key, expect) in [("fileRelPath", "a/y.go"), ("startLine", "a/z.go"), ("symbolId", "a/z.go")] {
        assert_eq!(first(key)[0].path(), expect, "{key}");
    }
    let items = first("chunkUid");
    assert!(items[0].chunk_uid < items[1].chunk_uid);
}

#[test]
fn the_envelope_of_explanations_can_be_left_out_and_reasons_stay() {
    for on in [true, false] {
        let pack = pack(&go(), json!({"query": "retry delay", "includeExplain": on}));
        assert_eq!(pack.explain.is_some(), on);
        assert!(pack.items().all(|i| !i.why.rule.is_empty() && !i.why.evidence.is_empty()));
    }
}

#[test]
fn exports_are_what_the_module_of_a_seed_shows_to_others() {
    let view = Oracle::of(&[(
        "shop.py",
        "def needle(x):\n    return x\n\n\ndef other(x):\n    return x\n\n\ndef _hidden(x):\n    return x\n",
    )]);
    let exports = |flag: Value| {
        let pack = from_one_seed(&view, "needle", json!({"expansion": {"includeExports": flag}}));
        let section = pack.sections.iter().find(|s| s.name == "exports").expect("the section");
        section.items.iter().map(|i| (i.title.clone(), i.why.rule.clone())).collect::<Vec<_>>()
    };
    assert_eq!(exports(json!(true)), [("def other(x):".to_owned(), "module-export".to_owned())]);
    assert_eq!(exports(json!(false)), []);
    assert_eq!(exports(Value::Null), [], "the usual kinds of edges are not enough");
}

#[test]
fn a_walk_that_bounds_stopped_says_so() {
    let body: String = (0..250).map(|i| format!("func f{i}() {{ f{}() }}\n\n", i + 1)).collect();
    let calls: String = (0..39).map(|i| format!("\tf{}()\n", 6 * i)).collect();
    let text = format!("package a\n\nfunc Needle() {{\n{calls}}}\n\n{body}func f250() {{}}\n");
    let view = Oracle::of(&[("go.mod", "module m\n"), ("a/x.go", &*text)]);
    let said = |hops: u32| {
        let pack =
            from_one_seed(&view, "Needle", json!({"expansion": {"maxHops": hops, "edgeTypes": ["call"]}}));
        pack.missing_context_hints.iter().any(|h| h.starts_with("edges were followed for "))
    };
    assert!(!said(1) && said(4));
}

#[test]
fn a_thrifty_pack_leaves_out_what_is_worth_little_for_its_room() {
    let filler: String = (0..60).map(|i| format!("    other_{i}()\n")).collect();
    let text = format!(
        "def brew_strong_tea(pot):\n    \"\"\"Brew strong tea in a pot.\"\"\"\n    return tea(pot)\n\n\ndef pot_of_paint():\n{filler}    return pot\n"
    );
    let view = Oracle::of(&[("tea.py", &text)]);
    let titles = |stop: &str| -> (Vec<String>, u64) {
        let budgets = json!({"maxTotalTokens": 2000, "stop": stop});
        let pack = pack(&view, json!({"query": "brew strong tea in a pot", "budgets": budgets}));
        (pack.items().map(|i| i.title.clone()).collect(), pack.stats.token_count)
    };
    let ((all, size), (thrifty, thrifty_size)) = (titles("budget"), titles("value"));
    assert!(all.iter().any(|t| t.contains("pot_of_paint")), "{all:?}");
    assert!(thrifty.iter().any(|t| t.contains("brew_strong_tea")), "{thrifty:?}");
    assert!(!thrifty.iter().any(|t| t.contains("pot_of_paint")), "{thrifty:?}");
    assert!(thrifty_size < size / 2, "{thrifty_size} of {size}");
}

#[test]
fn the_evidence_of_a_path_is_the_product_of_its_edges() {
    let text = "package a\n\ntype Store interface{ Save() }\n\ntype disk struct{}\n\nfunc (disk) Save() { flush() }\n\n\
                type memory struct{}\n\nfunc (memory) Save() {}\n\nfunc flush() {}\n\n\
                func Needle(s Store) {\n\ts.Save()\n}\n";
    let view = Oracle::of(&[("go.mod", "module m\n"), ("a/x.go", text)]);
    let expansion = json!({"maxHops": 2, "edgeTypes": ["call"], "direction": "out"});
    let pack = from_one_seed(&view, "Needle", json!({"expansion": expansion}));
    let mut two_hops = Vec::new();
    for item in pack.items().filter(|i| !i.why.path.is_empty()) {
        let confidences: Vec<f64> = item.why.evidence.iter().map(|e| e.confidence).collect();
        let product: f64 = confidences.iter().product();
        assert_eq!(confidences.len(), item.why.path.len(), "{}", item.title);
        assert!((item.scores.evidence_score - product).abs() < 1e-6, "{}: {confidences:?}", item.title);
        if let [_, last] = confidences[..] {
            two_hops.push((item.title.as_str(), last - product));
        }
    }
    assert!(matches!(two_hops[..], [("func flush()", less)] if less > 0.0), "{two_hops:?}");
}

/// Counts of tokens are remembered: while some questions are asked with three budgets, seven of ten counts
/// are known.
#[test]
fn most_counts_of_tokens_are_remembered() {
    let config = Config::default();
    let counter = counter("o200k_base", &CounterOptions::default()).expect("a known name");
    let context = Context::new(&config, tuning(), &*counter);
    for budget in [4_000, 8_000, 16_000] {
        for (view, queries) in [
            (go(), ["retry delay", "client errors", "log level"]),
            (python(), ["price", "basket total", "rate"]),
        ] {
            for query in queries {
                let request =
                    Request::from_json(json!({"query": query, "budgets": {"maxTotalTokens": budget}}))
                        .expect("a request");
                build(&view, &request, &context).expect("a pack");
            }
        }
    }
    let (hits, misses) = counter.lookups();
    assert!(hits + misses > 200 && hits * 100 >= (hits + misses) * 70, "{hits} of {}", hits + misses);
}
