//! Every section, drop reason, strictness and way to fail.

use crate::support::{
    context, go, outline, pack, python, tokens, tree, try_build, try_preview, with_seeds, with_tuning,
};
use indexd_model::IndexView;
use indexd_oracle::Oracle;
use indexd_pack::excerpt::Form;
use indexd_pack::pack::DropReason;
use indexd_pack::{Config, PackError, Request, Tuning, build};
use serde_json::{Value, json};
use std::cell::Cell;
use std::collections::BTreeSet;

/// Names of the sections that have items in any of the packs.
fn filled(view: &Oracle, requests: &[Value]) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for r in requests {
        let pack = pack(view, r.clone());
        out.extend(pack.sections.iter().filter(|s| !s.items.is_empty()).map(|s| s.name.to_owned()));
    }
    out
}

fn sections_with(view: &Oracle, requests: &[Value]) -> BTreeSet<String> {
    let mut out = BTreeSet::new();
    for r in requests {
        let pack = with_seeds(view, r.clone(), 1);
        out.extend(pack.sections.iter().filter(|s| !s.items.is_empty()).map(|s| s.name.to_owned()));
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
            got.extend(pack.items().flat_map(|i| &i.why.path).map(|e| (e.edge_type, e.subkind)));
        }
    };
    follow(&go(), "Delay");
    follow(&python(), "apply_discount");
    follow(&python(), "GiftBasket");
    follow(&shapes, "Shape frobnicated");
    let expect = [
        ("call", None),
        ("dataflow", None),
        ("export", None),
        ("import", None),
        ("usage", None),
        ("usage", Some("implement")),
        ("usage", Some("inherit")),
    ];
    assert_eq!(got.into_iter().collect::<Vec<_>>(), expect);
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
fn reasons(view: &Oracle, request: Value, config: &Config) -> BTreeSet<&'static str> {
    let pack = try_build(view, request, config).expect("a pack");
    assert_eq!(pack.stats.found, pack.stats.included + pack.stats.merged + pack.stats.dropped);
    assert_eq!(pack.stats.dropped, pack.stats.dropped_by_reason.values().sum::<u64>());
    pack.explain.expect("explain is on").excluded.iter().map(|e| e.reason).collect()
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
            explain.excluded.iter().map(|e| (e.file_rel_path.as_str(), e.reason)).collect();
        assert_eq!((&listed[..], explain.excluded_more), (&[(path, reason)][..], 0));
        got.extend(DropReason::ALL.iter().map(|r| r.name()).filter(|r| *r == reason));
    }
    // Our extractor cuts a file without overlaps; a view may hold another's.
    let text = "package a\n\nfunc One() { frobnicate() }\n\nfunc Two() { frobnicate() }\n";
    let mut view = Oracle::of(&[("a/x.go", text)]);
    view.let_chunks_overlap();
    got.extend(reasons(&view, json!({"query": "frobnicate"}), &config));
    assert_eq!(got, DropReason::ALL.iter().map(|r| r.name()).collect());
}

#[test]
fn equal_content_is_shown_once_and_every_place_is_listed() {
    let text = "package a\n\nfunc Twice() int {\n\treturn frobnicate()\n}\n";
    let view = Oracle::of(&[("a/x.go", text), ("b/x.go", text), ("go.mod", "module m\n")]);
    let pack = pack(&view, json!({"query": "Twice frobnicate"}));
    let items: Vec<_> = pack.items().filter(|i| i.title.contains("Twice")).collect();
    assert_eq!((items.len(), items[0].also_at.len()), (1, 1));
    assert_eq!((&*items[0].file_rel_path, &*items[0].also_at[0].file_rel_path), ("a/x.go", "b/x.go"));
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
    let mut paths: Vec<&str> =
        pack.items().filter(|i| i.title.contains("Twice")).map(|i| &*i.file_rel_path).collect();
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
    for at in (1..=all).step_by(7) {
        let (result, _, _) = run(at);
        assert_eq!(result.unwrap_err(), PackError::Cancelled, "{at} of {all}");
    }
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
    assert_eq!((pack.items().count(), pack.stats.token_count, pack.rendered.as_str()), (0, 0, ""));
    assert!(pack.insufficient_context && pack.warnings.iter().any(|w| w == "ACODE-CTX-004"));
    for hint in ["zzyzx", "name a file, a symbol or an error message"] {
        assert!(pack.missing_context_hints.iter().any(|h| h.contains(hint)), "{hint}");
    }
}

#[test]
fn a_small_budget_gets_the_best_whole_lines_and_none_gets_nothing() {
    let view = go();
    let body = "\tneedle(\"a rather long line of arguments\")\n".repeat(9);
    let long = Oracle::of(&[("a/x.go", format!("func Long() {{\n{body}}}\n"))]);
    let small = pack(&long, json!({"query": "needle", "budgets": {"maxTotalTokens": 60}}));
    assert_eq!(small.items().count(), 1);
    let excerpt = &small.items().next().unwrap().excerpt;
    assert_eq!(excerpt.truncation.map(|t| t.reason), Some("maxTotalTokens"));
    assert!(small.stats.token_count <= 60 && excerpt.text.starts_with("func Long() {\n"));
    let none = pack(&view, json!({"query": "retry delay", "budgets": {"maxTotalTokens": 0}}));
    assert_eq!((none.items().count(), none.rendered.len()), (0, 0));
    let chars = pack(&long, json!({"query": "needle", "budgets": {"maxTotalChars": 200}}));
    let excerpt = &chars.items().next().expect("an item").excerpt;
    assert_eq!(excerpt.truncation.map(|t| t.reason), Some("maxTotalChars"));
    assert!(chars.stats.char_count <= 200);
    let tiny = pack(&view, json!({"query": "retry delay", "budgets": {"maxTotalTokens": 9}}));
    assert_eq!(tiny.items().count(), 0);
    assert!(tiny.missing_context_hints.iter().any(|h| h.starts_with("the best match needs ")));
}

#[test]
fn long_excerpts_are_cut_at_lines_and_say_so() {
    let body: String = (0..200).map(|i| format!("\tstep{i}(\"ü\")\n")).collect();
    let text = format!("package a\n\nfunc Long() {{\n{body}\tneedle()\n}}\n");
    let view = Oracle::of(&[("a/x.go", text.as_str())]);
    let pack = pack(&view, json!({"query": "needle Long", "budgets": {"maxBytesPerItem": 900}}));
    let item = pack.items().find(|i| i.title.contains("Long")).expect("it is found");
    assert_eq!(item.excerpt.truncation.map(|t| (t.max_bytes, t.reason)), Some((900, "maxBytesPerItem")));
    assert!(item.excerpt.text.len() <= 900 && item.excerpt.parts.len() == 2);
    assert!(item.excerpt.text.starts_with("func Long() {\n") && item.excerpt.text.contains("needle()"));
    assert!(pack.rendered.contains("// ... (lines"));
}

#[test]
fn a_window_is_where_different_words_meet_and_not_where_one_is_repeated() {
    let body =
        |word: &str, n: usize| -> String { (0..n).map(|i| format!("\tcall({word}, {i})\n")).collect() };
    let meet = "\tneedle()\n\tcall(thread)\n\tcall(button)\n";
    let text = format!(
        "package a\n\nfunc Long() {{\n{}{}{meet}{}}}\n",
        body("other", 60),
        body("needle", 60),
        body("other", 60)
    );
    let mut tuning = Tuning::default();
    tuning.excerpts.window_lines = 10;
    let view = Oracle::of(&[("a/x.go", text.as_str())]);
    let request = json!({"query": "needle thread button", "budgets": {"maxTotalTokens": 350}});
    let pack = with_tuning(&view, request, &tuning);
    let item = pack.items().next().expect("it is found");
    assert!(item.excerpt.truncated && item.excerpt.text.contains(meet), "{}", item.excerpt.text);
}

#[test]
fn the_test_that_has_the_words_is_shown_whole_and_not_any_test_of_a_seed() {
    let code = "package a\n\nfunc Parse(s string) int { return len(s) }\n";
    let lines = "\tif Parse(\"quoted\") != 2 {\n\t\tt.Fatal(\"quoted\")\n\t}\n".repeat(7);
    let tests = format!(
        "package a\n\nimport \"testing\"\n\ntype parseCase struct{{ quoted string }}\n\nfunc TestOther(t *testing.T) {{ Parse(\"\") }}\n\nfunc TestQuoted(t *testing.T) {{\n{lines}}}\n"
    );
    let view = Oracle::of(&[("a/parse.go", code), ("a/parse_test.go", tests.as_str())]);
    let pack = pack(&view, json!({"query": "parse quoted strings", "budgets": {"maxTotalTokens": 8_000}}));
    let section = pack.sections.iter().find(|s| s.name == "tests").expect("the section");
    let shown: Vec<_> = section.items.iter().map(|i| (i.lines.start, i.excerpt.truncated)).collect();
    assert_eq!(shown, [(9, false), (7, false)]);
}

#[test]
fn a_line_longer_than_an_item_is_cut_inside_where_the_text_points_at() {
    let pad = "\u{e9}".repeat(150);
    let long = format!("\tother(\"{pad} needle {pad}\")\n");
    let text = format!("package a\n\nfunc Some() {{\n\tneedle(1)\n{long}\tneedle(2)\n}}\n");
    let view = Oracle::of(&[("a/x.go", text.as_str())]);
    let shown =
        |bytes: u64| pack(&view, json!({"query": "needle Some", "budgets": {"maxBytesPerItem": bytes}}));
    let some = shown(100);
    let item = some.items().find(|i| i.title.contains("Some")).expect("it is found");
    let lines: Vec<&str> = item.excerpt.text.lines().collect();
    assert_eq!((lines[0], lines[1], lines[3]), ("func Some() {", "\tneedle(1)", "\tneedle(2)"));
    let inner = lines[2].strip_prefix('\u{2026}').and_then(|l| l.strip_suffix('\u{2026}')).expect("marks");
    assert!(inner.contains(" needle ") && long.contains(inner), "{inner}");
    assert_eq!(item.excerpt.truncation.map(|t| t.reason), Some("maxBytesPerItem"));
    assert!(item.excerpt.text.len() <= 100 && some.rendered.contains(lines[2]));
    let none = shown(1);
    assert_eq!(none.items().count(), 0);
    let hints = &none.missing_context_hints;
    assert!(hints.iter().any(|h| h.contains(" had no room; raise maxBytesPerItem")), "{hints:?}");
}

#[test]
fn a_small_pack_shows_a_part_of_a_long_line() {
    let middle = |word: &str| format!("{} {word} {}", "salt ".repeat(250), "pepper ".repeat(250));
    let text = format!("# T\n\nfirstword {} {} lastword\n", middle("needle"), middle("thread"));
    let view = Oracle::of(&[("a/x.md", text.as_str())]);
    for word in ["firstword", "needle", "thread", "lastword"] {
        for budget in [200, 600, 5_000] {
            let limits = json!({"maxTotalTokens": budget, "maxBytesPerItem": 64_000});
            let pack = pack(&view, json!({"query": word, "budgets": limits}));
            assert!(pack.rendered.contains(word), "{word} {budget}: {}", pack.rendered);
            let item = pack.items().find(|i| i.excerpt.text.contains(word)).expect("it is shown");
            let is_cut = item.excerpt.text.contains('\u{2026}');
            assert_eq!((is_cut, item.excerpt.truncated), (budget < 5_000, budget < 5_000), "{word} {budget}");
            let reason = item.excerpt.truncation.map(|t| t.reason);
            assert_eq!(reason, is_cut.then_some("maxTotalTokens"), "{word} {budget}");
        }
    }
}

/// Each limit passes at its value, and what comes out with one less is within that.
#[test]
fn each_cap_holds_at_its_value_and_at_one_less() {
    let view = go();
    let of = |limits: Value| pack(&view, json!({"query": "retry delay policy", "budgets": limits}));
    let whole = of(json!({"maxTotalTokens": 700}));
    let size = |p: &indexd_pack::Pack| {
        let largest = p.items().map(|i| i.excerpt.text.len() as u64).max().unwrap_or(0);
        let fullest = p.sections.iter().map(|s| s.items.len() as u64).max().unwrap_or(0);
        [p.stats.token_count, p.rendered.chars().count() as u64, p.stats.included, fullest, largest]
    };
    let names = ["maxTotalTokens", "maxTotalChars", "maxItems", "maxItemsPerSection", "maxBytesPerItem"];
    for (i, name) in names.into_iter().enumerate() {
        let n = size(&whole)[i];
        let with = |cap: u64| {
            let mut limits = json!({"maxTotalTokens": 700});
            limits[name] = json!(cap);
            of(limits)
        };
        assert_eq!(with(n).rendered, whole.rendered, "{name} at {n}");
        let less = with(n - 1);
        assert!(size(&less)[i] < n && less.rendered != whole.rendered, "{name} below {n}");
        assert!(less.stats.included > 0, "{name} below {n}");
    }
}

/// Whoever has a pack can tell later whether what it shows is still there: by path, lines and hash alone.
#[test]
fn an_item_can_be_checked_against_its_file() {
    let mut files = tree("go");
    let shown = pack(&Oracle::of(&files), json!({"query": "retry delay policy"}));
    let changed = |files: &[(String, Vec<u8>)]| -> BTreeSet<String> {
        let is_other = |p: &indexd_pack::pack::Provenance| {
            let file = files.iter().find(|f| f.0 == p.path);
            let text = file.map(|f| std::str::from_utf8(&f.1).expect("UTF-8")).unwrap_or_default();
            let n = (p.line_end + 1 - p.line_start) as usize;
            let lines: String = text.split_inclusive('\n').skip(p.line_start as usize - 1).take(n).collect();
            format!("b3:{}", blake3::hash(lines.as_bytes())) != p.content_hash
        };
        let all = shown.items().map(|i| i.provenance.as_ref().expect("explain is on"));
        all.filter(|p| is_other(p)).map(|p| format!("{}:{}", p.path, p.line_start)).collect()
    };
    assert_eq!(changed(&files), BTreeSet::new());
    let item = shown.items().find(|i| i.file_rel_path == "retry/policy.go").expect("it is shown");
    let at = files.iter().position(|f| f.0 == "retry/policy.go").expect("it is there");
    // Behind the last line nothing that is shown changes; inside an item that item does, and what holds it.
    files[at].1.extend(b"\n// more\n");
    assert_eq!(changed(&files), BTreeSet::new());
    let mut lines: Vec<String> =
        String::from_utf8_lossy(&files[at].1).split_inclusive('\n').map(str::to_owned).collect();
    lines[item.lines.start as usize - 1] = "// another line\n".to_owned();
    files[at].1 = lines.concat().into_bytes();
    let told = changed(&files);
    assert!(told.contains(&format!("retry/policy.go:{}", item.lines.start)), "{told:?}");
    assert!(told.iter().all(|p| p.starts_with("retry/policy.go:")), "{told:?}");
    files.remove(at);
    let n_of_file = shown.items().filter(|i| i.file_rel_path == "retry/policy.go").count();
    assert_eq!(changed(&files).len(), n_of_file);
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

#[test]
fn an_item_has_the_tokens_of_its_excerpt() {
    let view = Oracle::of(&[("n.py", "def nogit_fn(): pass\n")]);
    let pack = pack(&view, json!({"query": "nogit_fn"}));
    let item = pack.items().next().expect("it is found");
    assert_eq!(item.tokens, u64::from(tokens().count_tokens(&item.excerpt.text)));
    assert!(item.tokens < pack.stats.token_count);
}

#[test]
fn places_are_utf16_and_lines_agree_with_the_source() {
    let text = "\u{feff}package a\r\n\r\n// 😀 smile\r\nfunc Smile() string { return \"😀\" }\r\n";
    let view = Oracle::of(&[("a/x.go", text)]);
    let pack = pack(&view, json!({"query": "Smile"}));
    let item = pack.items().find(|i| i.title.contains("Smile")).expect("it is found");
    let units: Vec<u16> = text.encode_utf16().collect();
    let (start, end) = (item.range.start as usize, item.range.end as usize);
    assert_eq!(
        String::from_utf16(&units[start..end]).unwrap(),
        "// 😀 smile\r\nfunc Smile() string { return \"😀\" }\r\n"
    );
    assert_eq!((item.lines.start, item.lines.end), (3, 4));
}

#[test]
fn provenance_leads_back_to_the_source() {
    let view = go();
    for layout in ["graph", "agent"] {
        let value = pack(&view, json!({"query": "retry delay", "layout": layout})).to_json();
        let items = value["sections"].as_array().unwrap().iter().flat_map(|s| s["items"].as_array().unwrap());
        for item in items {
            let p = if layout == "graph" { &item["provenance"] } else { item };
            for member in
                ["snippet_id", "ref", "path", "line_start", "line_end", "content_hash", "selection_reason"]
            {
                assert!(!p[member].is_null(), "{layout} {member}");
            }
            let is_go = p["path"].as_str().unwrap().ends_with(".go");
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
        assert_eq!(pack.items().next().expect("an item").lines.start, starts, "line {line}");
    }
}

#[test]
fn the_guaranteed_items_keep_to_the_caps() {
    let body = "\tneedle(\"a rather long line of arguments\")\n".repeat(9);
    let files: Vec<(String, String)> = (0..9)
        .map(|i| (format!("a/f{i}.go"), format!("package a\n\nfunc Needle{i}() {{\n{body}}}\n")))
        .collect();
    let view = Oracle::of(&files);
    let config = Config { min_items: u32::MAX, ..Config::default() };
    for (limit, most) in [("maxItems", 5), ("maxItemsPerSection", 5), ("maxItems", 8)] {
        let request = json!({"query": "needle", "budgets": {"maxTotalTokens": 600, limit: most}});
        let pack = try_build(&view, request, &config).expect("a pack");
        assert!(pack.sections.iter().all(|s| s.items.len() <= most), "{limit} {most}");
        assert!(pack.items().count() > 3 && pack.stats.token_count <= 600);
    }
}

#[test]
fn the_guaranteed_items_are_there_from_the_first_budget_that_holds_them() {
    let body = "\tneedle(\"a rather long line of arguments\")\n".repeat(9);
    let text: String = (0..5).map(|i| format!("func Needle{i}() {{\n{body}}}\n\n")).collect();
    let view = Oracle::of(&[("a/f.go", format!("package a\n\n{text}").as_str())]);
    let config = Config { min_items: 3, ..Config::default() };
    let items = |tokens: u64| {
        let request = json!({"query": "needle", "budgets": {"maxTotalTokens": tokens}});
        try_build(&view, request, &config).expect("a pack").items().count()
    };
    let first = (1..200).find(|n| items(*n) >= 3).expect("three items");
    // A header, three signatures, and the marks of two gaps.
    assert!(first <= 80, "{first}");
    for tokens in first..400 {
        assert!(items(tokens) >= 3, "{tokens}");
    }
}

#[test]
fn excerpts_widen_into_free_room() {
    let body: String = (0..40).map(|i| format!("\tstep{i}(\"one of many\")\n")).collect();
    let text = format!("package a\n\nfunc Needle() {{}}\n\nfunc outer() {{\n{body}\tNeedle()\n}}\n");
    let view = Oracle::of(&[("a/x.go", text.as_str())]);
    let form = |tokens: u64| {
        let budgets = json!({"maxTotalTokens": tokens, "maxBytesPerItem": 10_000});
        let pack = pack(&view, json!({"query": "Needle", "budgets": budgets}));
        pack.items().find(|i| i.title.contains("outer")).map(|i| i.form)
    };
    assert!(form(200).is_some_and(|f| f < Form::Whole), "{:?}", form(200));
    assert_eq!(form(900), Some(Form::Whole));
}

#[test]
fn an_item_shown_whole_is_not_said_to_be_cut() {
    let view = go();
    for budget in 20..300 {
        let pack = pack(&view, json!({"query": "Exhausted", "budgets": {"maxTotalTokens": budget}}));
        for item in pack.items() {
            let parts = item.excerpt.parts.iter().map(|p| p.lines.end + 1 - p.lines.start).sum::<u32>();
            let is_whole = parts == item.lines.end + 1 - item.lines.start;
            assert!(!(is_whole && item.excerpt.truncated), "{budget}: {}", item.title);
        }
    }
}

#[test]
fn a_budget_without_end_is_one_that_holds_everything() {
    let view = go();
    let of = |tokens: u64| {
        outline(&pack(&view, json!({"query": "retry delay", "budgets": {"maxTotalTokens": tokens}})))
    };
    let expect = of(16_000_000);
    for tokens in [u64::MAX, u64::MAX / 3 + 1, u64::MAX / 90] {
        assert_eq!(of(tokens), expect, "{tokens}");
    }
}

#[test]
fn negative_reserves_are_warned_of() {
    let budget = json!({"totalTokens": 900, "responseReserve": -5, "systemReserve": 0});
    let pack = pack(&go(), json!({"query": "retry delay", "contextBudget": budget}));
    assert_eq!(pack.stats.token_budget, 900);
    assert_eq!(pack.warnings, ["responseReserve is negative and counts as 0"]);
}

/// Sections and reasons of what layout `agent` shows of a Python tree.
fn agent_items(files: &[(&str, &str)], query: &str) -> Vec<(&'static str, String)> {
    let view = Oracle::of(files);
    let pack = with_seeds(&view, json!({"query": query, "layout": "agent"}), 1);
    let of = |s: &indexd_pack::pack::Section| -> Vec<(&'static str, String)> {
        s.items.iter().map(|i| (s.name, i.title.clone())).collect()
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
    let section = |title: &str| got.iter().find(|i| i.1.starts_with(title)).map(|i| i.0);
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
    assert!(hints.iter().any(|h| h.contains(" no section of layout agent")), "{hints:?}");
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
    assert_eq!(via("def cache_dir"), [("term closes".to_owned(), 2), part]);
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
fn in_a_small_pack_no_section_takes_the_room_of_all_others() {
    let line = "\tneedle(\"a rather long line of arguments\")\n";
    let body = line.repeat(9);
    let mut files: Vec<(String, String)> = (0..12)
        .map(|i| (format!("a/f{i}.go"), format!("package a\n\nfunc Needle{i}() {{\n{body}}}\n")))
        .collect();
    let callers: String = (0..12).map(|i| format!("func user{i}() {{ Needle{i}() }}\n\n")).collect();
    let tests: String =
        (0..12).map(|i| format!("func TestUse{i}(t *testing.T) {{ Needle{i}() }}\n\n")).collect();
    files.push(("go.mod".to_owned(), "module m\n".to_owned()));
    files.push(("a/users.go".to_owned(), format!("package a\n\n{callers}")));
    files.push(("a/use_test.go".to_owned(), format!("package a\n\nimport \"testing\"\n\n{tests}")));
    files.push(("docs/x.md".to_owned(), "# Needle\n\nThe needle.\n".to_owned()));
    let view = Oracle::of(&files);
    for budget in [500, 700, 1_000, 2_000] {
        let pack = pack(&view, json!({"query": "needle arguments", "budgets": {"maxTotalTokens": budget}}));
        let filled: Vec<&str> =
            pack.sections.iter().filter(|s| !s.items.is_empty()).map(|s| s.name).collect();
        assert_eq!(filled, ["seeds", "tests", "docs"], "{budget}");
    }
}

#[test]
fn the_type_of_a_shown_member_stands_in_the_text() {
    let filler: String = (0..30).map(|i| format!("    def m{i}(self):\n        return {i}\n\n")).collect();
    let text = format!(
        "class Outer(Base):\n    class Inner:\n        x = 1\n\n        def needle(self):\n            return helper()\n\n{filler}    def last(self):\n        return self.needle()\n\n\ndef helper():\n    return 1\n"
    );
    let view = Oracle::of(&[("a.py", text.as_str())]);
    for (query, tokens) in [("needle", 60), ("needle", 400), ("helper", 400), ("last", 50)] {
        let pack = pack(&view, json!({"query": query, "budgets": {"maxTotalTokens": tokens}}));
        for item in pack.items().filter(|i| i.title.starts_with("def ") && i.lines.start < 99) {
            assert!(pack.rendered.contains("class Outer(Base):\n"), "{query} {}", item.title);
            let is_inner = item.title.starts_with("def needle");
            assert!(!is_inner || pack.rendered.contains("    class Inner:\n"), "{query}");
        }
        assert!(pack.items().count() > 0, "{query} {tokens}");
    }
}

#[test]
fn a_wide_window_is_filled_or_the_pack_says_why_not() {
    let files: Vec<(String, String)> = (0..400)
        .map(|i| {
            let body: String =
                (0..60).map(|k| format!("\tneedle({i}, \"argument {k} of a line\")\n")).collect();
            (format!("p{i}/f.go"), format!("package p{i}\n\nfunc Needle{i}() {{\n{body}}}\n"))
        })
        .collect();
    let view = Oracle::of(&files);
    let ask = |items: u64| {
        let budgets = json!({"maxTotalTokens": 150_000, "maxTotalChars": 2_000_000, "maxItems": items, "maxItemsPerSection": 80, "maxBytesPerItem": 16_000});
        pack(&view, json!({"query": "needle", "budgets": budgets}))
    };
    let usual = ask(50);
    assert!(usual.missing_context_hints.iter().any(|h| h.contains(" had no room; raise maxItems")));
    let wide = ask(250);
    assert!(wide.items().count() >= 80, "{}", wide.items().count());
    let says = |part: &str| wide.missing_context_hints.iter().any(|h| h.contains(part));
    assert!(
        says("all candidates are shown and") || says("is at its most"),
        "{:?}",
        wide.missing_context_hints
    );
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
fn section_of(view: &Oracle, config: &Config, title: &str) -> Option<&'static str> {
    let request = json!({"query": "needle sews", "budgets": {"maxTotalTokens": 4_000}});
    let pack = try_build(view, request, config).expect("a pack");
    let has = |s: &&indexd_pack::pack::Section| s.items.iter().any(|i| i.title.contains(title));
    pack.sections.iter().find(has).map(|s| s.name)
}

#[test]
fn tests_are_known_by_what_they_hold() {
    let check = "import unittest\n\n\nclass Needle(unittest.TestCase):\n    def test_sews(self):\n        needle()\n\n\ndef needle():\n    return sews\n";
    let plain = "class Probe:\n    def test_needle(self):\n        return sews(needle)\n";
    let view = Oracle::of(&[("pkg/selfcheck.py", check), ("pkg/probe.py", plain)]);
    let config = Config::default();
    assert_eq!(section_of(&view, &config, "def test_sews"), Some("tests"));
    assert_eq!(section_of(&view, &config, "def needle"), Some("seeds"));
    assert_eq!(section_of(&view, &config, "def test_needle"), Some("seeds"), "no framework is imported");
    let rust = "pub fn needle() {}\n\n#[test]\nfn mends() {\n    needle(sews);\n}\n";
    let view = Oracle::of(&[("src/lib.rs", rust), ("Cargo.toml", "[package]\nname = \"x\"\n")]);
    assert_eq!(section_of(&view, &config, "fn mends"), Some("tests"));
    assert_eq!(section_of(&view, &config, "pub fn needle"), Some("seeds"));
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
    assert_eq!(section_of(&view, &config, "func Needle"), Some("seeds"));
    config.roles.tests = vec!["probes/**".to_owned()];
    assert_eq!(section_of(&view, &config, "func Needle"), Some("tests"));
    assert_eq!(section_of(&view, &config, "func Sews"), Some("seeds"));
    config.roles.tests.clear();
    config.roles.docs = vec!["probes/*.go".to_owned()];
    assert_eq!(section_of(&view, &config, "func Needle"), Some("docs"));
}
