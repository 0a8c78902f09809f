//! Statements of the contract about every pack, one for each test.

use crate::support::{go, pack, python, tree, try_build, with_seeds};
use indexd_oracle::Oracle;
use indexd_pack::{Config, Pack, canonical};
use serde_json::{Value, json};

/// Functions that answer equally well, in this many files.
fn equals(n: usize) -> Vec<(String, String)> {
    let text = |i: usize| format!("package a\n\nfunc Needle{i:02}() {{\n\tthread(eye{i:02})\n}}\n");
    (0..n).map(|i| (format!("a/f{i:02}.go"), text(i))).collect()
}

/// The files of the functions among the seeds, in their order.
fn functions(pack: &Pack) -> Vec<String> {
    let items = pack.sections[0].items.iter().filter(|i| i.title.starts_with("func "));
    items.map(|i| i.path().to_owned()).collect()
}

#[test]
fn a_pack_has_the_keys_of_the_contract() {
    let value = pack(&go(), json!({"query": "retry delay"})).to_json();
    for key in ["indexSignature", "packId", "createdAt"] {
        assert!(value[key].as_str().is_some_and(|v| !v.is_empty()), "{key}");
    }
    for key in ["request", "budgets", "explain", "stats"] {
        assert!(value[key].is_object(), "{key}");
    }
    for key in ["seeds", "sections"] {
        assert!(value[key].as_array().is_some_and(|v| !v.is_empty()), "{key}");
    }
    let version = (&value["formatVersion"], &value["schema"], &value["schemaVersion"]);
    assert_eq!(version, (&json!(1), &json!("ContextPack"), &json!("1.0.0")));
    let seed = &value["seeds"][0];
    assert!(
        seed["chunkUid"].is_string() && seed["range"]["start"].is_u64() && seed["seedScore"].is_f64(),
        "{seed}"
    );
}

/// `clamp01(0.7 seed + 0.2 / (1 + distance) + 0.1 evidence)`, where distance counts the edges of the path.
#[test]
fn the_hybrid_score_is_the_formula_of_the_contract() {
    let mut distances = Vec::new();
    for (view, query) in [(go(), "retry delay policy"), (python(), "apply_discount price")] {
        for hops in [0, 1, 2] {
            let pack = with_seeds(&view, json!({"query": query, "expansion": {"maxHops": hops}}), 1);
            for item in pack.items() {
                let s = item.scores;
                let sum = 0.7 * s.seed_score + 0.2 / f64::from(1 + s.graph_distance) + 0.1 * s.evidence_score;
                let difference = (canonical::round6(sum.clamp(0.0, 1.0)) - s.hybrid_score).abs();
                assert!(difference <= 2e-6, "{}: {s:?}", item.title);
                let steps = item.why.path.len() as u32;
                assert!(steps <= hops, "{hops} hops: {}: {s:?}", item.title);
                // Tests and documents that words alone found count as neighbours.
                let is_counted = steps == s.graph_distance || steps == 0 && s.graph_distance == 1;
                assert!(is_counted, "{}: {s:?} {:?}", item.title, item.why);
                distances.push(s.graph_distance);
            }
        }
    }
    assert!([0, 1, 2].iter().all(|d| distances.contains(d)), "{distances:?}");
}

#[test]
fn over_budget_the_best_stay_and_the_rest_is_counted() {
    let view = Oracle::of(&equals(40));
    let all = pack(&view, json!({"query": "needle thread"}));
    let some = pack(&view, json!({"query": "needle thread", "budgets": {"maxTotalTokens": 500}}));
    let paths = |p: &Pack| functions(p);
    let (n, stats) = (paths(&some).len(), &some.stats);
    assert!(n > 3 && n < paths(&all).len(), "{n}");
    assert_eq!(paths(&some), paths(&all)[..n], "the first of the order");
    assert!(stats.token_count <= 500 && stats.dropped_by_reason["budget"] > 0);
    assert_eq!(stats.dropped, stats.found - stats.included - stats.merged);
    assert_eq!(some.sections.iter().map(|s| u64::from(s.dropped)).sum::<u64>(), stats.dropped);
}

#[test]
fn equal_candidates_are_ordered_and_dropped_the_same_way_each_time() {
    let mut files = equals(40);
    let request = json!({"query": "needle thread", "budgets": {"maxTotalTokens": 500}});
    let of = |files: &[(String, String)]| {
        let pack = pack(&Oracle::of(files), request.clone());
        let shown = functions(&pack);
        let left = pack.explain.expect("explain is on").excluded.into_iter();
        let left: Vec<String> =
            left.filter(|e| e.title.starts_with("Needle")).map(|e| e.file_rel_path).collect();
        (shown, left)
    };
    let (shown, left) = of(&files);
    assert!(
        shown.is_sorted() && left.is_sorted() && left.len() > 10,
        "equals go by path: {shown:?} {left:?}"
    );
    files.rotate_left(17);
    files.reverse();
    assert_eq!(of(&files), (shown, left));
}

#[test]
fn a_budget_is_what_was_asked_for_whatever_is_found() {
    for (view, query) in [(go(), "retry delay"), (go(), "zzyzx"), (python(), "price")] {
        for asked in [300_u64, 5_000] {
            let pack = pack(&view, json!({"query": query, "budgets": {"maxTotalTokens": asked}}));
            assert_eq!(
                (pack.budgets.max_total_tokens.value, pack.stats.token_budget),
                (asked, asked),
                "{query}"
            );
        }
    }
}

#[test]
fn counts_are_those_of_the_items() {
    let pack = pack(&go(), json!({"query": "retry delay policy", "budgets": {"maxTotalTokens": 2_000}}));
    let stats = &pack.stats;
    for section in &pack.sections {
        assert_eq!(stats.items_by_section[&section.name], section.items.len() as u64, "{}", section.name);
    }
    let highest = pack.items().map(|i| i.scores.graph_distance).max();
    assert!(stats.max_hop >= highest.expect("an item") && stats.max_hop > 0, "{}", stats.max_hop);
    assert_eq!(stats.budget_used_percent, stats.token_count * 100 / 2_000);
    assert!(stats.budget_used_percent > 10);
}

#[test]
fn sections_stand_in_their_fixed_order() {
    let names = |layout: &str, query: &str| -> Vec<String> {
        let pack = pack(&go(), json!({"query": query, "layout": layout}));
        pack.sections.iter().map(|s| s.name.to_string()).collect()
    };
    let ten = [
        "seeds", "callers", "callees", "imports", "exports", "usages", "dataflow", "tests", "docs", "related",
    ];
    let six = ["definitions", "key_usages", "dependencies", "tests", "config", "docs"];
    for query in ["retry delay", "zzyzx"] {
        assert_eq!(names("graph", query), ten, "{query}");
        assert_eq!(names("agent", query), six, "{query}");
    }
}

#[test]
fn without_edges_the_neighbourhood_is_related() {
    let of = |body: &str| {
        let text =
            format!("package a\n\nfunc Needle() {{{body}}}\n\nfunc Thimble() {{}}\n\nfunc Pin() {{}}\n");
        let view = Oracle::of(&[("a/sewing.go", text.as_str()), ("go.mod", "module m\n")]);
        let pack = with_seeds(&view, json!({"query": "Needle"}), 1);
        let titles = |name: &str| -> String {
            let section = pack.sections.iter().find(|s| s.name == name).expect("the section");
            section.items.iter().map(|i| format!("{} ", i.title)).collect()
        };
        (titles("callees"), titles("related"))
    };
    let (callees, related) = of("");
    assert!(callees.is_empty() && related.contains("Thimble") && related.contains("Pin"), "{related}");
    let (callees, related) = of(" Thimble() ");
    assert!(callees.contains("Thimble") && !related.contains("Thimble"), "{callees}; {related}");
}

/// Prose is found where it is asked for, and not where only code is.
#[test]
fn prose_is_a_section_in_its_modes() {
    let docs = |mode: &str| {
        let request = json!({"query": "retry delay documents", "seedMode": mode});
        let pack = try_build(&Oracle::of(&tree("go")), request, &Config::default()).expect("a pack");
        pack.items().filter(|i| i.traits.iter().any(|t| t == "doc")).count()
    };
    assert!(docs("mixed") > 0 && docs("prose") > 0);
    assert_eq!(docs("code"), 0);
}

/// An item is a chunk with its uid at least, and a symbol where it has a symbol id.
#[test]
fn an_item_is_a_symbol_or_a_chunk() {
    let value: Value = pack(&go(), json!({"query": "retry delay documents attempts"})).to_json();
    let items = value["sections"].as_array().unwrap().iter().flat_map(|s| s["items"].as_array().unwrap());
    let mut kinds = std::collections::BTreeSet::new();
    for item in items {
        let kind = item["kind"].as_str().unwrap().to_owned();
        assert_eq!(kind == "symbol", item["symbolId"].is_string(), "{item}");
        assert!(item["chunkUid"].as_str().is_some_and(|u| u.starts_with("b3:")), "{item}");
        kinds.insert(kind);
    }
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), ["chunk", "symbol"]);
}

/// Members that are shown with the head of their class are within the item, and its hash covers them.
#[test]
fn what_is_shown_of_a_class_is_within_its_item() {
    let text = "class Bar:\n    def __init__(self, width):\n        self.width = width\n        self.fill = 1\n\n    def render(self):\n        return self.width * self.fill\n\n    def grow(self):\n        self.width += self.fill\n";
    let more: String = (0..30).map(|i| format!("\n    def step{i}(self):\n        return {i}\n")).collect();
    let uses = "from bar import Bar\n\n\ndef show(bar: Bar):\n    return bar.width, bar.fill, bar.render()\n";
    let view = Oracle::of(&[("bar.py", format!("{text}{more}")), ("show.py", uses.to_owned())]);
    let mut n_beyond = 0;
    for query in ["Bar", "how is a bar rendered", "width of a bar", "show"] {
        for tokens in [200, 400, 800, 2_000] {
            let pack = pack(&view, json!({"query": query, "budgets": {"maxTotalTokens": tokens}}));
            for item in pack.items() {
                let is_within = item
                    .excerpt
                    .parts
                    .iter()
                    .all(|p| item.lines().start <= p.lines.start && p.lines.end <= item.lines().end);
                assert!(is_within, "{}: {:?} {:?}", item.title, item.lines(), item.excerpt.parts);
                let is_class = item.title.starts_with("class Bar") && item.lines().end > item.lines().start;
                n_beyond += usize::from(is_class);
            }
        }
    }
    assert!(n_beyond > 0, "a class is shown with members of it");
}
