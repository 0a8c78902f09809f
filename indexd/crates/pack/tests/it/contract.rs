//! Every section, drop reason, strictness and way to fail.

use crate::support::{context, go, outline, pack, python, tree, try_build, try_preview, with_seeds};
use indexd_model::IndexView;
use indexd_oracle::Oracle;
use indexd_pack::pack::{DropReason, Word};
use indexd_pack::{Config, PackError, Request, build};
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::BTreeSet;

/// Names of the sections that have items in any of the packs.
fn filled(view: &Oracle, requests: &[Value]) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for r in requests {
        let pack = pack(view, r.clone());
        out.extend(pack.sections.iter().filter(|s| !s.items.is_empty()).map(|s| s.name.to_string()));
    }
    out
}

fn sections_with(view: &Oracle, requests: &[Value]) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for r in requests {
        let pack = with_seeds(view, r.clone(), 1);
        out.extend(pack.sections.iter().filter(|s| !s.items.is_empty()).map(|s| s.name.to_string()));
    }
    out
}

#[test]
fn every_section_of_the_graph_layout_is_reached() {
    let all = ["call", "usage", "import", "export", "dataflow"];
    let requests = [
        json!({"query": "Policy Delay"}),
        json!({"query": "Exhausted"}),
        json!({"query": "ErrBusy", "expansion": {"edgeTypes": ["usage"]}}),
        json!({"query": "Delay retry", "expansion": {"edgeTypes": ["dataflow"]}}),
        json!({"query": "client Get", "expansion": {"edgeTypes": ["import"]}}),
        json!({"query": "level info", "expansion": {"edgeTypes": all}}),
        json!({"query": "attempts delay documents test", "expansion": {"includeSameFileNeighbors": true}}),
    ];
    let mut got = sections_with(&go(), &requests);
    let requests = [
        json!({"query": "apply_discount", "expansion": {"edgeTypes": ["export", "import"]}}),
        json!({"query": "best discount price", "expansion": {"edgeTypes": all}}),
        json!({"query": "RATES", "expansion": {"edgeTypes": ["dataflow", "usage"]}}),
    ];
    got.extend(sections_with(&python(), &requests));
    let expect = [
        "callees", "callers", "dataflow", "docs", "exports", "imports", "related", "seeds", "tests", "usages",
    ];
    assert_eq!(got.iter().map(String::as_str).collect::<Vec<_>>(), expect);
}

#[test]
fn every_kind_of_edge_is_followed() {
    let shapes = Oracle::of(&[
        ("go.mod", "module m\n"),
        ("a/shape.go", "package a\n\n// Shape is frobnicated.\ntype Shape interface {\n\tArea() int\n}\n"),
        (
            "a/square.go",
            "package a\n\ntype Base struct{}\n\ntype Square struct {\n\tBase\n}\n\nfunc (s Square) Area() int { return 1 }\n",
        ),
    ]);
    let mut got = BTreeSet::new();
    let mut follow = |view: &Oracle, query: &str| {
        for kind in ["call", "usage", "import", "export", "dataflow"] {
            let request = json!({"query": query, "expansion": {"edgeTypes": [kind]}});
            let pack = with_seeds(view, request, 1);
            got.extend(
                pack.items()
                    .flat_map(|i| &i.why.path)
                    .map(|e| (e.edge_type.clone(), e.subkind.clone().unwrap_or_default())),
            );
        }
    };
    follow(&go(), "Delay");
    follow(&python(), "apply_discount");
    follow(&python(), "GiftBasket");
    follow(&shapes, "Shape frobnicated");
    let expect = [
        ("call", ""),
        ("dataflow", ""),
        ("export", ""),
        ("import", ""),
        ("usage", ""),
        ("usage", "implement"),
        ("usage", "inherit"),
    ];
    let got: Vec<(&str, &str)> = got.iter().map(|(kind, sub)| (kind.as_ref(), sub.as_ref())).collect();
    assert_eq!(got, expect);
}

#[test]
fn every_section_of_the_agent_layout_is_reached() {
    let requests = [
        json!({"query": "retry delay attempts", "layout": "agent"}),
        json!({"query": "log level", "layout": "agent"}),
        json!({"query": "import client errors", "layout": "agent"}),
    ];
    let got = filled(&go(), &requests);
    let expect = ["config", "definitions", "dependencies", "docs", "key_usages", "tests"];
    let mut got: Vec<&str> = got.iter().map(String::as_str).collect();
    let more = sections_with(&go(), &requests);
    got.extend(more.iter().map(String::as_str));
    got.sort_unstable();
    got.dedup();
    assert_eq!(got, expect);
}

#[test]
fn a_candidate_has_one_section() {
    for layout in ["graph", "agent"] {
        for view in [go(), python()] {
            let pack =
                pack(&view, json!({"query": "total price discount retry delay test", "layout": layout}));
            let mut seen = BTreeSet::new();
            for item in pack.items() {
                assert!(seen.insert(item.chunk_uid.clone()), "{} twice", item.chunk_uid);
            }
        }
    }
}

/// Detailed reasons of everything left out.
fn reasons(view: &Oracle, request: Value, config: &Config) -> BTreeSet<Word> {
    let pack = try_build(view, request, config).expect("a pack");
    assert_eq!(pack.stats.found, pack.stats.included + pack.stats.merged + pack.stats.dropped);
    assert_eq!(pack.stats.dropped, pack.stats.dropped_by_reason.values().sum::<u64>());
    pack.explain.expect("explain is on").excluded.into_iter().map(|e| e.reason).collect()
}

#[test]
fn every_reason_to_drop_is_reached() {
    let config = Config::default();
    let view = go();
    let mut got = BTreeSet::new();
    for request in [
        json!({"query": "retry delay attempts policy", "budgets": {"maxTotalTokens": 260}}),
        json!({"query": "retry delay", "budgets": {"maxItems": 1}}),
        json!({"query": "retry delay", "budgets": {"maxItemsPerSection": 1}}),
        json!({"query": "retry delay documents", "seedMode": "code", "expansion": {"maxHops": 0}}),
        json!({"query": "Get", "strictness": "strict", "expansion": {"requireEvidence": true, "evidenceKinds": ["tooling"]}}),
    ] {
        got.extend(reasons(&view, request, &config));
    }
    let body = "\tfrobnicate()\n".repeat(30);
    let text = format!("package a\n\nfunc Frobnicate() {{\n{body}}}\n\nfunc small() {{ frobnicate() }}\n");
    let sizes = Oracle::of(&[("a/x.go", text.as_str())]);
    let tight = json!({"query": "Frobnicate", "budgets": {"maxTotalTokens": 80}});
    got.extend(reasons(&sizes, tight, &config));
    // Equal functions in two files; the better one has no room either.
    let text = "package a\n\nfunc Twice() int {\n\treturn frobnicate(1, 2, 3) + frobnicate(1, 2, 3)\n}\n";
    let twins = Oracle::of(&[("a/x.go", text), ("b/x.go", text), ("go.mod", "module m\n")]);
    got.extend(reasons(&twins, json!({"query": "frobnicate", "budgets": {"maxTotalTokens": 1}}), &config));
    // The rest concern files that are not shown.
    let bytes: &[u8] = b"token\0\x01\x02";
    let hidden = Oracle::of(&[(".env", &b"token=1\n"[..]), ("logo.png", bytes)]);
    for path in [".env", "logo.png"] {
        let pack = pack(&hidden, json!({"query": "token", "focus": {"fileRelPath": path}}));
        let hint = pack.missing_context_hints.iter().find_map(|h| h.split_once(" is not shown: "));
        let (named, reason) = hint.expect("a hint");
        assert_eq!((named, pack.stats.dropped_by_reason["unsupported"]), (path, 1));
        let explain = pack.explain.as_ref().expect("explain is on");
        let listed: Vec<(&str, &str)> =
            explain.excluded.iter().map(|e| (e.file_rel_path.as_str(), e.reason.as_ref())).collect();
        assert_eq!((&listed[..], explain.excluded_more), (&[(path, reason)][..], 0));
        got.extend(DropReason::ALL.iter().map(|r| r.name()).filter(|r| *r == reason).map(Word::from));
    }
    // Our extractor cuts a file without overlaps; a view may hold another's.
    let text = "package a\n\nfunc One() { frobnicate() }\n\nfunc Two() { frobnicate() }\n";
    let mut view = Oracle::of(&[("a/x.go", text)]);
    view.let_chunks_overlap();
    got.extend(reasons(&view, json!({"query": "frobnicate"}), &config));
    assert_eq!(got, DropReason::ALL.iter().map(|r| r.name().into()).collect());
}

#[test]
fn equal_content_is_shown_once_and_every_place_is_listed() {
    let text = "package a\n\nfunc Twice() int {\n\treturn frobnicate()\n}\n";
    let view = Oracle::of(&[("a/x.go", text), ("b/x.go", text), ("go.mod", "module m\n")]);
    let pack = pack(&view, json!({"query": "Twice frobnicate"}));
    let items: Vec<_> = pack.items().filter(|i| i.title.contains("Twice")).collect();
    assert_eq!((items.len(), items[0].also_at.len()), (1, 1));
    assert_eq!((items[0].path(), &*items[0].also_at[0].file_rel_path), ("a/x.go", "b/x.go"));
    assert!(pack.stats.merged >= 1);
}

#[test]
fn texts_with_one_digest_are_still_two() {
    let tree = [("a/x.go", "return frobnicate()"), ("b/x.go", "panic(frobnicates)")];
    let tree =
        tree.map(|(path, body)| (path, format!("package a\n\nfunc Twice() int {{\n\t{body:20}\n}}\n")));
    let mut view = Oracle::of(&tree);
    view.set_digests(7);
    let pack = pack(&view, json!({"query": "Twice frobnicate"}));
    let mut paths: Vec<&str> = pack.items().filter(|i| i.title.contains("Twice")).map(|i| i.path()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["a/x.go", "b/x.go"]);
}

#[test]
fn strictness_decides_what_happens_without_evidence() {
    let view = go();
    let of = |strictness: &str| {
        let expansion = json!({"requireEvidence": true, "evidenceKinds": ["tooling"], "edgeTypes": ["call"]});
        with_seeds(&view, json!({"query": "Delay", "strictness": strictness, "expansion": expansion}), 1)
    };
    let (strict, warn, loose) = (of("strict"), of("warn"), of("loose"));
    let by_edge = |p: &indexd_pack::Pack| p.items().filter(|i| !i.why.path.is_empty()).count();
    assert_eq!(by_edge(&strict), 0);
    assert!(strict.stats.dropped_by_reason["noEvidence"] > 0);
    assert!(by_edge(&warn) > 0 && by_edge(&warn) == by_edge(&loose));
    assert!(!warn.explain.as_ref().unwrap().evidence_gaps.is_empty());
    assert!(loose.explain.as_ref().unwrap().evidence_gaps.is_empty());
    assert!(warn.items().filter(|i| !i.why.path.is_empty()).all(|i| i.why.evidence_gap));
}

#[test]
fn requests_fail_with_their_codes() {
    let view = go();
    let config = Config::default();
    for (request, code) in [
        (json!({"query": "x", "indexSignature": "b3:0"}), "POC_E_INDEX_MISSING"),
        (json!({"query": "x", "tokenizer": "cl100k_base"}), "ACODE-CTX-002"),
        (json!({"query": "", "focus": {"symbolId": "scip:none"}}), "POC_E_INVALID_REQUEST"),
        (json!({"query": "", "focus": {"fileRelPath": "none.go"}}), "POC_E_INVALID_REQUEST"),
    ] {
        assert_eq!(try_build(&view, request, &config).unwrap_err().code().name(), code);
    }
    let pinned = json!({"query": "delay", "indexSignature": view.signature()});
    assert!(try_build(&view, pinned, &config).is_ok());
    let request = Request::from_json(json!({"query": "delay"})).unwrap();
    let asked = Cell::new(0);
    let cancel = || {
        asked.set(asked.get() + 1);
        asked.get() > 2
    };
    assert_eq!(build(&view, &request, &context(&config, &cancel)).unwrap_err(), PackError::Cancelled);
}

#[test]
fn every_stage_asks_whether_the_request_is_withdrawn() {
    let view = go();
    let config = Config::default();
    let request = Request::from_json(json!({"query": "retry delay policy attempts"})).unwrap();
    let run = |withdraw_at: u32| {
        let (asked, stages) = (Cell::new(0), std::cell::RefCell::new(vec![0]));
        let cancel = || {
            asked.set(asked.get() + 1);
            *stages.borrow_mut().last_mut().expect("a stage") += 1;
            asked.get() >= withdraw_at
        };
        let stage = |_: &str| stages.borrow_mut().push(0);
        let of = indexd_pack::Context { stage: &stage, ..context(&config, &cancel) };
        let result = build(&view, &request, &of).map(|_| ());
        (result, asked.get(), stages.into_inner())
    };
    let (result, all, stages) = run(u32::MAX);
    assert_eq!(result, Ok(()));
    // Retrieval, expansion, selection and writing; counting the finished text is one step.
    for i in [0, 1, 2, 4] {
        assert!(stages[i] > 3, "{stages:?}");
    }
    assert_eq!(stages[3], 1, "{stages:?}");
    for at in (1..=all).step_by(7) {
        let (result, _, _) = run(at);
        assert_eq!(result.unwrap_err(), PackError::Cancelled, "{at} of {all}");
    }
}

#[test]
fn the_search_for_words_asks_before_each_of_them_whether_the_request_is_withdrawn() {
    let view = go();
    let (config, asked) = (Config::default(), Cell::new(0));
    let asks = |n_words: usize| {
        let query: String = (0..n_words).map(|i| format!("delay{i} ")).collect();
        let request = Request::from_json(json!({"query": query})).expect("a request");
        asked.set(0);
        let cancel = || {
            asked.set(asked.get() + 1);
            false
        };
        build(&view, &request, &context(&config, &cancel)).expect("a pack");
        asked.get()
    };
    let (few, many) = (asks(10), asks(50));
    assert!(many >= few + 40, "{few} for 10 words, {many} for 50");
}

/// Breaks the rule that an empty text has no tokens.
struct Faulty;

impl indexd_text::TokenCounter for Faulty {
    fn name(&self) -> &str {
        "o200k_base"
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn count_tokens(&self, _: &str) -> u32 {
        1_000
    }
}

#[test]
fn a_text_that_counts_above_its_budget_is_not_returned() {
    let request = Request::from_json(json!({"query": "delay", "budgets": {"maxTotalTokens": 900}})).unwrap();
    let config = Config::default();
    let context = indexd_pack::Context { counter: &Faulty, ..context(&config, &|| false) };
    let error = build(&go(), &request, &context).unwrap_err();
    assert_eq!(error, PackError::ContextOverflow { tokens: 1_000, budget: 900 });
}

#[test]
fn focus_is_a_seed_of_score_one() {
    let view = go();
    let by_name = pack(&view, json!({"query": "Exhausted"}));
    let item = by_name.items().find(|i| i.title.contains("Exhausted")).expect("it is found");
    let (symbol, chunk) = (item.symbol_id.clone().expect("a symbol"), item.chunk_uid.clone());
    for focus in
        [json!({"symbolId": symbol}), json!({"chunkUid": chunk}), json!({"fileRelPath": "retry/policy.go"})]
    {
        let pack = pack(&view, json!({"query": "", "focus": focus}));
        let first = pack.items().find(|i| i.chunk_uid == chunk).expect("the focus is shown");
        assert_eq!((first.scores.seed_score, first.why.rule.as_str()), (1.0, "focus"));
    }
}

#[test]
fn nothing_found_is_a_success_that_says_so() {
    let pack = pack(&go(), json!({"query": "zzyzx quuxification"}));
    assert_eq!(pack.items().count(), 0);
    assert!(pack.rendered.starts_with("No relevant code found.\n"), "{}", pack.rendered);
    assert_eq!(pack.stats.token_count, u64::from(crate::support::tokens().count_tokens(&pack.rendered)));
    assert!(pack.insufficient_context && pack.warnings.iter().any(|w| w == "ACODE-CTX-004"));
    for hint in ["zzyzx", "name a file, a symbol or an error message"] {
        assert!(pack.missing_context_hints.iter().any(|h| h.contains(hint)), "{hint}");
    }
}

#[test]
fn what_repeats_is_told_of() {
    let text = "package a\n\nfunc Needle() {\n\tthread(\"through the eye of it\")\n}\n";
    let view = Oracle::of(&[("a/x.go", text), ("b/x.go", text), ("c/x.go", text)]);
    let told = std::cell::RefCell::new(Vec::new());
    let tell = |d: &indexd_pack::Decision| told.borrow_mut().push((d.path.to_owned(), d.outcome));
    let config = Config::default();
    let context = indexd_pack::Context { decided: &tell, ..context(&config, &|| false) };
    let request = Request::from_json(json!({"query": "Needle"})).expect("a request");
    let pack = build(&view, &request, &context).expect("a pack");
    let item = pack.items().find(|i| !i.also_at.is_empty()).expect("one of them");
    assert_eq!(item.also_at.len(), 2);
    let told = told.into_inner();
    for place in &item.also_at {
        let ends: Vec<_> = told.iter().filter(|t| t.0 == place.file_rel_path).map(|t| t.1).collect();
        assert!(!ends.is_empty() && ends.iter().all(|e| *e != "included"), "{told:?}");
    }
}

#[test]
fn the_limit_that_was_reached_is_named() {
    let body = "\tneedle(\"a rather long line of arguments\")\n".repeat(9);
    let files: Vec<(String, String)> = (0..6)
        .map(|i| (format!("a/f{i}.go"), format!("package a\n\nfunc Needle{i}() {{\n{body}}}\n")))
        .collect();
    let view = Oracle::of(&files);
    for (budgets, expect) in [
        (json!({"maxItemsPerSection": 2}), "maxItemsPerSection"),
        (json!({"maxItems": 2}), "maxItems"),
        (json!({"maxTotalTokens": 300}), "maxTotalTokens"),
        (json!({"maxTotalChars": 1000}), "maxTotalChars"),
        (json!({"maxTotalTokens": 0}), "maxTotalTokens"),
        (json!({"maxTotalChars": 0}), "maxTotalChars"),
    ] {
        let pack = pack(&view, json!({"query": "needle", "budgets": budgets}));
        let hints = &pack.missing_context_hints;
        let named: Vec<&str> =
            hints.iter().filter_map(|h| h.split_once(" raise ")?.1.split(' ').next()).collect();
        assert_eq!(named, [expect], "{budgets} {hints:?}");
        let needs = hints.iter().any(|h| h.starts_with("the best match needs "));
        assert_eq!(needs, pack.items().count() == 0, "{budgets} {hints:?}");
    }
}

/// Whatever the layout, no section has more items than asked for, and no excerpt more bytes.
#[test]
fn every_layout_keeps_all_caps() {
    let text: String = (0..60).map(|i| format!("func F{i}() {{ needle() }}\n\n")).collect();
    let view = Oracle::of(&[("go.mod", "module m\n".to_owned()), ("x.go", format!("package m\n\n{text}"))]);
    for layout in ["graph", "agent", "flat"] {
        let budgets =
            json!({"maxItems": 9, "maxItemsPerSection": 4, "maxBytesPerItem": 40, "stop": "budget"});
        let pack = pack(&view, json!({"query": "needle", "layout": layout, "budgets": budgets}));
        let sizes: Vec<usize> = pack.sections.iter().map(|s| s.items.len()).collect();
        assert_eq!(sizes.iter().max(), Some(&4), "{layout}: {sizes:?}");
        assert!(sizes.iter().sum::<usize>() <= 9, "{layout}: {sizes:?}");
        assert!(pack.items().all(|i| i.excerpt.text.len() <= 40), "{layout}");
        assert_eq!(pack.stats.included, pack.items().count() as u64, "{layout}");
    }
}

#[test]
fn provenance_leads_back_to_the_source() {
    let view = go();
    for (layout, explains) in
        [("graph", true), ("graph", false), ("agent", true), ("agent", false), ("flat", false)]
    {
        let request = json!({"query": "retry delay", "layout": layout, "includeExplain": explains});
        let value = pack(&view, request).to_json();
        let sections = value["sections"].as_array().unwrap();
        let items: Vec<_> = sections.iter().flat_map(|s| s["items"].as_array().unwrap()).collect();
        assert!(items.len() > 3, "{layout}: {value}");
        for item in items {
            // Each layout has its own names, and each fact is said once.
            let (own, other) = (["path", "line_start", "line_end"], ["fileRelPath", "lines", "provenance"]);
            let (p, own, other) = match layout {
                "agent" => (item, own, other),
                _ => (&item["provenance"], other, own),
            };
            for member in ["snippet_id", "ref", "content_hash", "selection_reason"] {
                assert!(!p[member].is_null(), "{layout} {member}");
                assert!(layout == "agent" || item[member].is_null(), "{layout} {member}");
            }
            assert!(
                own.iter().all(|m| !item[m].is_null()) && other.iter().all(|m| item[m].is_null()),
                "{item}"
            );
            assert!(other.iter().all(|m| p[m].is_null()), "{item}");
            let is_go = item[own[0]].as_str().unwrap().ends_with(".go");
            let reference = p["ref"].as_str().unwrap();
            assert_eq!(is_go, reference == "none", "{reference}");
            assert!(is_go || reference == format!("worktree:{}", view.signature()));
        }
    }
}

#[test]
fn the_guard_keeps_strong_seeds_before_what_edges_found() {
    let ordering = json!({"primary": "graphEvidence"});
    let pack = pack(&go(), json!({"query": "retry delay", "ordering": ordering}));
    let strong = pack.items().filter(|i| i.scores.seed_score >= 0.5).count();
    assert!(strong > 0);
    let seeds = &pack.sections[0];
    assert_eq!(seeds.name, "seeds");
    assert!(
        seeds.items.windows(2).all(|w| (w[0].scores.seed_score >= 0.5) || (w[1].scores.seed_score < 0.5))
    );
}

#[test]
fn the_index_root_is_never_shown() {
    let pack = pack(&go(), json!({"query": "retry delay", "indexRoot": "/home/canary/root"}));
    let all = format!("{}{}", pack.to_json(), pack.rendered);
    assert!(!all.contains("canary") && all.contains("workspace:fixture"));
}

#[test]
fn preview_names_the_same_items_without_a_text() {
    let view = go();
    let request = json!({"query": "retry delay", "budgets": {"maxTotalTokens": 700}});
    let preview = try_preview(&view, request.clone(), &Config::default()).expect("a preview");
    assert_eq!(outline(&preview), outline(&pack(&view, request)));
    assert!(preview.rendered.is_empty() && preview.stats.token_count > 0);
}

#[test]
fn shuffled_trees_give_equal_bytes() {
    let mut files = tree("go");
    let request = json!({"query": "retry delay policy"});
    let expect = pack(&Oracle::of(&files), request.clone());
    files.reverse();
    let view = Oracle::of(&files);
    let again = pack(&view, request);
    assert_eq!(again.canonical(), expect.canonical());
    assert_eq!(again.rendered, expect.rendered);
    assert!(!expect.canonical().contains("createdAt"));
}

#[test]
fn an_edit_changes_signature_and_id() {
    let mut files = tree("go");
    let request = json!({"query": "retry delay policy"});
    let before = pack(&Oracle::of(&files), request.clone());
    files.iter_mut().find(|f| f.0 == "retry/policy.go").unwrap().1.extend(b"\nvar extra = 1\n");
    let after = pack(&Oracle::of(&files), request);
    assert_ne!((&before.index_signature, &before.pack_id), (&after.index_signature, &after.pack_id));
}

#[test]
fn a_frame_means_the_definition_at_its_line_and_not_another_of_its_name() {
    let text = "class Base:\n    def send(self):\n        raise NotImplementedError\n\n\nclass Real(Base):\n    def send(self):\n        return self.open()\n";
    let view = Oracle::of(&[("shop/adapters.py", text)]);
    for (line, starts) in [(3, 2), (8, 7), (99, 7)] {
        let query = format!("It fails\n\n  File \"/srv/shop/adapters.py\", line {line}, in send");
        let pack = pack(&view, json!({ "query": query }));
        assert_eq!(pack.items().next().expect("an item").lines().start, starts, "line {line}");
    }
}

#[test]
fn negative_reserves_are_warned_of() {
    let budget = json!({"totalTokens": 900, "responseReserve": -5, "systemReserve": 0});
    let pack = pack(&go(), json!({"query": "retry delay", "contextBudget": budget}));
    assert_eq!(pack.stats.token_budget, 900);
    assert_eq!(pack.warnings, ["responseReserve is negative and counts as 0"]);
}

#[test]
fn reserves_that_leave_nothing_are_named() {
    let budget = json!({"totalTokens": 6_000, "responseReserve": 5_000, "systemReserve": 2_000});
    let asked = pack(&go(), json!({"query": "retry delay", "contextBudget": budget}));
    assert!(
        asked.warnings[0].starts_with("responseReserve and systemReserve leave no tokens"),
        "{:?}",
        asked.warnings
    );
    let none = pack(&go(), json!({"query": "retry delay", "budgets": {"maxTotalTokens": 0}}));
    assert!(none.warnings.iter().all(|w| !w.contains("systemReserve")), "{:?}", none.warnings);
}

/// Sections and reasons of what layout `agent` shows of a Python tree.
fn agent_items(files: &[(&str, &str)], query: &str) -> Vec<(Word, String)> {
    let view = Oracle::of(files);
    let pack = with_seeds(&view, json!({"query": query, "layout": "agent"}), 1);
    let of = |s: &indexd_pack::pack::Section| -> Vec<(Word, String)> {
        s.items.iter().map(|i| (s.name.clone(), i.title.clone())).collect()
    };
    pack.sections.iter().flat_map(of).collect()
}

#[test]
fn a_definition_is_no_dependency_and_one_with_an_import_inside_is_a_definition() {
    let main = "from helpers import lend\n\nRATE = 3\n\n\ndef frobnicate():\n    return RATE\n";
    let helpers = "def lend():\n    return 1\n";
    let caller = "def late():\n    from main import frobnicate\n\n    return frobnicate()\n";
    let files = [("main.py", main), ("helpers.py", helpers), ("caller.py", caller)];
    let got = agent_items(&files, "frobnicate");
    let section = |title: &str| got.iter().find(|i| i.1.starts_with(title)).map(|i| i.0.as_ref());
    assert_eq!(section("def frobnicate"), Some("definitions"), "{got:?}");
    assert_eq!(section("def late"), Some("definitions"), "{got:?}");
    assert_eq!(section("def lend"), Some("key_usages"), "{got:?}");
}

#[test]
fn what_fits_no_section_is_hinted_at() {
    let neighbours = json!({"includeSameFileNeighbors": true, "maxHops": 0});
    let request = json!({"query": "Delay", "layout": "agent", "expansion": neighbours});
    let pack = with_seeds(&go(), request, 1);
    assert!(pack.stats.dropped_by_reason["unsupported"] > 0);
    let hints = &pack.missing_context_hints;
    assert!(hints.iter().any(|h| h.contains(" none of the six sections")), "{hints:?}");
}

#[test]
fn nothing_is_named_by_its_file_and_name() {
    let text = "package a\n\nfunc init() {\n\tfrobnicate()\n}\n\nfunc frobnicate() {}\n";
    let view = Oracle::of(&[("a/x.go", text), ("go.mod", "module m\n")]);
    let pack = with_seeds(&view, json!({"query": "frobnicate"}), 1);
    let item = pack.items().find(|i| i.title == "func init()").expect("the caller is shown");
    assert_eq!((&item.why.path[0].from, &item.symbol_id), (&item.chunk_uid, &None));
}

#[test]
fn every_item_has_evidence() {
    let text = "# Words\n\nNothing of it.\n";
    let view = Oracle::of(&[
        ("docs/frobnicate.md", text),
        ("a/frobnicate.go", "package a\n\nfunc One() {}\n\nfunc Two() {}\n"),
        ("go.mod", "module m\n"),
    ]);
    let focus = json!({"fileRelPath": "a/frobnicate.go"});
    for request in [
        json!({"query": "frobnicate"}),
        json!({"query": "One", "expansion": {"includeSameFileNeighbors": true}}),
        json!({"query": "", "focus": focus}),
    ] {
        let pack = pack(&view, request.clone());
        assert!(pack.items().count() > 0, "{request}");
        for item in pack.items() {
            let bare = item.why.evidence.iter().any(|e| e.via.is_empty() || e.line < 1);
            assert!(!item.why.evidence.is_empty() && !bare, "{request}: {}", item.title);
        }
    }
}

#[test]
fn evidence_says_what_stands_in_the_line() {
    let text = "def cache_dir():\n    return closing(where)\n\n\ndef closing(x):\n    return pytest_cache\n";
    let view = Oracle::of(&[("a.py", text)]);
    let pack = pack(&view, json!({"query": "pytest_cache closes"}));
    let via = |title: &str| -> Vec<(String, u32)> {
        let item = pack.items().find(|i| i.title.starts_with(title)).expect("it is shown");
        item.why.evidence.iter().map(|e| (e.via.clone(), e.line)).collect()
    };
    // A word is named once, however many of its parts are there.
    let part = ("term pytest_cache as cache_dir".to_owned(), 1);
    assert_eq!(via("def cache_dir"), [part, ("term closes".to_owned(), 2)]);
    let whole = ("term pytest_cache".to_owned(), 6);
    assert_eq!(via("def closing"), [whole, ("term closes".to_owned(), 5)]);
}

#[test]
fn a_longer_path_with_evidence_proves_what_a_shorter_one_without_does_not() {
    // `top` reads `Leaf` itself and calls `mid`, which calls `Leaf`: one hop by a name, two by calls.
    let text = "package a\n\nfunc top() any {\n\tmid()\n\treturn Leaf\n}\n\nfunc mid() { Leaf() }\n\nfunc Leaf() {}\n";
    let view = Oracle::of(&[("a/x.go", text), ("go.mod", "module m\n")]);
    let of = |strictness: &str, kinds: Value| {
        let expansion = json!({"requireEvidence": true, "evidenceKinds": kinds, "direction": "out"});
        let request = json!({"query": "top", "strictness": strictness, "expansion": expansion});
        with_seeds(&view, request, 1)
    };
    let leaf = |p: &indexd_pack::Pack| {
        let item = p.items().find(|i| i.title.starts_with("func Leaf")).cloned()?;
        Some((item.scores.graph_distance, item.why.evidence_gap))
    };
    assert_eq!(leaf(&of("warn", json!(["callsite"]))), Some((1, true)));
    assert_eq!(leaf(&of("strict", json!(["callsite"]))), Some((2, false)));
    let none = of("strict", json!(["tooling"]));
    assert_eq!((leaf(&none), none.stats.dropped_by_reason["noEvidence"]), (None, 2));
}

#[test]
fn explanations_name_the_workspace() {
    let pack = pack(&go(), json!({"query": "retry delay"}));
    assert_eq!(pack.explain.expect("explain is on").repo_id, "fixture");
}

#[test]
fn every_candidate_is_told_of_with_its_scores_and_its_end() {
    let told = std::cell::RefCell::new(Vec::new());
    let request = json!({"query": "retry delay attempts policy", "budgets": {"maxTotalTokens": 260}});
    let config = Config::default();
    let tell = |d: &indexd_pack::Decision| {
        assert!((0.0..=1.0).contains(&d.scores.hybrid_score) && d.lines.start >= 1);
        told.borrow_mut().push((d.path.to_owned(), d.outcome));
    };
    let context = indexd_pack::Context { decided: &tell, ..context(&config, &|| false) };
    let pack = build(&go(), &Request::from_json(request).unwrap(), &context).expect("a pack");
    let told = told.into_inner();
    assert_eq!(told.len() as u64, pack.stats.found);
    let included = told.iter().filter(|t| t.1 == "included").count() as u64;
    assert_eq!(included, pack.stats.included);
    assert!(told.iter().any(|t| DropReason::ALL.iter().any(|r| r.name() == t.1)));
}

#[test]
fn seeds_whose_edges_were_not_followed_are_told_of() {
    let text: String =
        (0..40).map(|i| format!("func Needle{i}() {{ leaf{i}() }}\n\nfunc leaf{i}() {{}}\n\n")).collect();
    let view = Oracle::of(&[("a/x.go", format!("package a\n\n{text}")), ("go.mod", "module m\n".to_owned())]);
    let pack = pack(&view, json!({"query": "needle"}));
    let report = pack.explain.as_ref().expect("explain is on").expansion;
    assert_eq!((report.seeds, report.seeds_found), (12, 60));
    let hint = "edges of the 12 best of 60 seeds were followed; the bounds on expansion end there";
    assert!(pack.missing_context_hints.iter().any(|h| h == hint), "{:?}", pack.missing_context_hints);
}

/// What section the item is in whose title holds a text.
fn section_of(view: &Oracle, config: &Config, title: &str) -> Option<Word> {
    let request = json!({"query": "needle sews", "budgets": {"maxTotalTokens": 4_000}});
    let pack = try_build(view, request, config).expect("a pack");
    let has = |s: &&indexd_pack::pack::Section| s.items.iter().any(|i| i.title.contains(title));
    pack.sections.iter().find(has).map(|s| s.name.clone())
}

#[test]
fn tests_are_known_by_what_they_hold() {
    let check = "import unittest\n\n\nclass Needle(unittest.TestCase):\n    def test_sews(self):\n        needle()\n\n\ndef needle():\n    return sews\n";
    let plain = "class Probe:\n    def test_needle(self):\n        return sews(needle)\n";
    let view = Oracle::of(&[("pkg/selfcheck.py", check), ("pkg/probe.py", plain)]);
    let config = Config::default();
    assert_eq!(section_of(&view, &config, "def test_sews"), Some("tests".into()));
    assert_eq!(section_of(&view, &config, "def needle"), Some("seeds".into()));
    assert_eq!(
        section_of(&view, &config, "def test_needle"),
        Some("seeds".into()),
        "no framework is imported"
    );
    let rust = "pub fn needle() {}\n\n#[test]\nfn mends() {\n    needle(sews);\n}\n";
    let view = Oracle::of(&[("src/lib.rs", rust), ("Cargo.toml", "[package]\nname = \"x\"\n")]);
    assert_eq!(section_of(&view, &config, "fn mends"), Some("tests".into()));
    assert_eq!(section_of(&view, &config, "pub fn needle"), Some("seeds".into()));
}

#[test]
fn settings_say_what_is_a_test_or_a_document() {
    let code = "package a\n\nfunc Needle() { sews() }\n";
    let view = Oracle::of(&[
        ("probes/x.go", code),
        ("go.mod", "module m\n"),
        ("a/y.go", "package a\n\nfunc Sews() { needle() }\n"),
    ]);
    let mut config = Config::default();
    assert_eq!(section_of(&view, &config, "func Needle"), Some("seeds".into()));
    config.roles.tests = vec!["probes/**".to_owned()];
    assert_eq!(section_of(&view, &config, "func Needle"), Some("tests".into()));
    assert_eq!(section_of(&view, &config, "func Sews"), Some("seeds".into()));
    config.roles.tests.clear();
    config.roles.docs = vec!["probes/*.go".to_owned()];
    assert_eq!(section_of(&view, &config, "func Needle"), Some("docs".into()));
}
