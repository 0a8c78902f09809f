//! Scoring `sources` and `task`, and layout `flat`.

use crate::support::{go, pack, python, try_build};
use indexd_model::view::FileHistory;
use indexd_model::{FactsView, IndexView};
use indexd_oracle::Oracle;
use indexd_pack::pack::Item;
use indexd_pack::{Config, Pack, canonical};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The parts of a score by name: weight and strength.
fn part(item: &Item, name: &str) -> Option<(f64, f64)> {
    let score = item.explanation.as_ref().expect("explain is on");
    assert!(score.adds_up());
    assert_eq!(canonical::round6(score.value), item.scores.hybrid_score);
    let sum = &score.of[0];
    let part = sum.of.iter().find(|p| p.name == name)?;
    Some((canonical::round6(part.of[0].value), canonical::round6(part.of[1].value)))
}

fn item<'p>(pack: &'p Pack, title: &str) -> &'p Item {
    pack.items().find(|i| i.title.starts_with(title)).unwrap_or_else(|| panic!("{title}: {}", pack.rendered))
}

#[test]
fn sources_weigh_relevance_recency_and_kind() {
    let text =
        |name: &str| format!("package {name}\n\nfunc Sew{name}() {{\n\tthread(needle, {name:?})\n}}\n");
    let mut view = Oracle::of(&[("a/x.go", text("a")), ("b/x.go", text("b")), ("c/x.go", text("c"))]);
    let at = |newest| FileHistory { n_commits: 1, newest };
    view.set_history("head", &[("a/x.go", at(40)), ("b/x.go", at(0)), ("c/x.go", at(20))], &[]);
    let query = "does the needle take the thread?";
    let of = |scoring: &str| pack(&view, json!({"query": query, "scoring": scoring}));
    let sources = of("sources");
    let paths: Vec<&str> = sources.items().map(|i| &*i.file_rel_path).take(3).collect();
    assert_eq!(paths, ["b/x.go", "c/x.go", "a/x.go"], "the newest first");
    for (path, recency) in [("a/x.go", None), ("b/x.go", Some((0.3, 1.0))), ("c/x.go", Some((0.3, 0.5)))] {
        let item = sources.items().find(|i| i.file_rel_path == path).expect("it is shown");
        assert_eq!(part(item, "recency"), recency, "{path}");
        assert_eq!(part(item, "source"), Some((0.2, 0.6)), "a hit of a search");
    }
    let graph = of("graph");
    assert_eq!(graph.items().next().map(|i| &*i.file_rel_path), Some("a/x.go"));
}

#[test]
fn what_is_named_or_linked_is_another_kind_of_source() {
    let text = "package a\n\nfunc Needle() {\n\tleaf()\n}\n\nfunc leaf() {}\n";
    let view = Oracle::of(&[("a/x.go", text), ("go.mod", "module m\n")]);
    let request = json!({"query": "Needle", "scoring": "sources"});
    let pack = crate::support::with_seeds(&view, request, 1);
    assert_eq!(part(item(&pack, "func Needle"), "source"), Some((0.2, 0.8)));
    assert_eq!(part(item(&pack, "func leaf"), "source"), Some((0.2, 0.4)));
    assert_eq!(part(item(&pack, "func leaf"), "recency"), Some((0.3, 0.5)), "nothing is known of its age");
}

#[test]
fn a_task_gives_points_and_goes_by_path_between_equals() {
    let view = Oracle::of(&[
        ("go.mod", "module m\n".to_owned()),
        ("a/core.go", "package a\n\nfunc Needle() { near() }\n".to_owned()),
        ("a/near.go", "package a\n\nfunc near() {}\n".to_owned()),
        (
            "a/core_test.go",
            "package a\n\nimport \"testing\"\n\nfunc TestIt(t *testing.T) { Needle() }\n".to_owned(),
        ),
        ("cmd/run.go", "package main\n\nimport \"m/a\"\n\nfunc run() { a.Needle() }\n".to_owned()),
    ]);
    let pack = pack(&view, json!({"query": "Needle", "scoring": "task"}));
    let points = |title: &str| -> Vec<(&str, f64)> {
        let all = ["direct hit", "call site", "test", "configuration", "beside"];
        all.into_iter().filter_map(|n| Some((n, (part(item(&pack, title), n)?.0 * 13.0).round()))).collect()
    };
    assert_eq!(points("func Needle"), [("direct hit", 5.0)]);
    assert_eq!(points("func near"), [("beside", 1.0)]);
    assert_eq!(points("func TestIt"), [("call site", 3.0), ("test", 2.0), ("beside", 1.0)]);
    assert_eq!(points("func run"), [("direct hit", 5.0), ("call site", 3.0), ("configuration", 2.0)]);
    // Of equal scores the path decides.
    let files: Vec<(String, String)> = ["z", "b", "m", "a", "k"]
        .map(|dir| (format!("{dir}/x.go"), format!("package {dir}\n\nfunc Sew{dir}() {{ needle() }}\n")))
        .into();
    let request = json!({"query": "the needle", "scoring": "task", "layout": "flat"});
    let flat = crate::support::pack(&Oracle::of(&files), request);
    let keys: Vec<(f64, &str)> = flat.items().map(|i| (-i.scores.hybrid_score, &*i.file_rel_path)).collect();
    assert!(keys.len() == 5 && keys.is_sorted(), "{keys:?}");
    assert!(keys.windows(2).any(|w| w[0].0 == w[1].0), "{keys:?}");
}

/// The weights and the priorities are settings.
#[test]
fn the_weights_of_sources_can_be_set() {
    let text = "package a\n\nfunc Needle() {\n\tleaf()\n}\n\nfunc leaf() {}\n";
    let view = Oracle::of(&[("a/x.go", text), ("go.mod", "module m\n")]);
    let shown = |sources: Value| {
        let config: Config = serde_json::from_value(json!({ "sources": sources })).expect("settings");
        let request = json!({"query": "panic: x\n\ngoroutine 1 [running]:\na.Needle()\n\ta/x.go:4 +0x1\n", "scoring": "sources"});
        try_build(&view, request, &config).expect("a pack")
    };
    let pack = shown(json!({}));
    let needle = |pack: &Pack| ["relevance", "recency", "source"].map(|n| part(item(pack, "func Needle"), n));
    let [relevance, recency, source] = needle(&pack);
    assert_eq!(relevance.map(|p| p.0), Some(0.5));
    assert_eq!((recency, source), (Some((0.3, 0.5)), Some((0.2, 1.0))), "a frame comes from a tool");
    let pack =
        shown(json!({"relevance": 1.0, "recency": 1.0, "source": 2.0, "toolResults": 10, "openFiles": 40}));
    let [relevance, recency, source] = needle(&pack);
    assert_eq!((relevance.map(|p| p.0), recency), (Some(0.25), Some((0.25, 0.5))));
    assert_eq!(source, Some((0.5, canonical::round6(10.0 / 60.0))), "search results still count 60");
}

fn flat(view: &Oracle, query: &str) -> Pack {
    let budgets = json!({"maxTotalTokens": 6_000, "maxItems": 80, "maxItemsPerSection": 2});
    pack(view, json!({"query": query, "layout": "flat", "budgets": budgets}))
}

#[test]
fn should_merge_overlapping_same_file() {
    let text =
        "package a\n\nfunc One() { needle() }\n\nfunc Two() { needle() }\n\nfunc Three() { needle() }\n";
    let mut view = Oracle::of(&[("a/x.go", text)]);
    view.let_chunks_overlap();
    let pack = flat(&view, "needle");
    let merged = pack.items().find(|i| !i.merged_from.is_empty()).expect("one item");
    let ranges = merged.merged_from.iter().map(|m| m.lines);
    let union = (ranges.clone().map(|l| l.start).min(), ranges.map(|l| l.end).max());
    assert_eq!(union, (Some(merged.lines.start), Some(merged.lines.end)));
    // It has the rank of the best of its pieces.
    let budgets = json!({"maxTotalTokens": 6_000, "maxItems": 80});
    let apart = crate::support::pack(&view, json!({"query": "needle", "budgets": budgets}));
    let pieces = || apart.items().filter(|i| merged.merged_from.iter().any(|m| m.chunk_uid == i.chunk_uid));
    assert!(pieces().count() > 1, "{}", apart.rendered);
    let best = pieces().max_by(|a, b| a.scores.hybrid_score.total_cmp(&b.scores.hybrid_score));
    let best = best.expect("pieces").scores.hybrid_score;
    assert_eq!(merged.scores.hybrid_score, best);
    let named = pieces().find(|i| i.chunk_uid == merged.chunk_uid).expect("one of the pieces names it");
    assert_eq!(named.scores.hybrid_score, best);
    let s = &pack.stats;
    assert_eq!((s.found, s.merged > 0), (s.included + s.merged + s.dropped, true));
    let others = pack.items().filter(|i| i.chunk_uid != merged.chunk_uid);
    assert!(others.map(|i| i.scores.hybrid_score).all(|score| score <= merged.scores.hybrid_score));
}

#[test]
fn should_handle_partial_overlap() {
    let cases = [(go(), "retry delay policy"), (python(), "price discount total")];
    let mut overlapping = [(go(), "retry delay policy"), (python(), "price discount total")];
    overlapping.iter_mut().for_each(|(view, _)| view.let_chunks_overlap());
    for (n, (view, query)) in overlapping.into_iter().chain(cases).enumerate() {
        let overlaps = n < 2;
        let pack = flat(&view, query);
        assert!(pack.items().count() > 2, "a list has no sections to cap");
        assert!(pack.items().any(|i| i.merged_from.len() > 1));
        let mut lines: BTreeSet<(&str, u32)> = BTreeSet::new();
        let mut n_shared = 0;
        for item in pack.items() {
            for part in &item.excerpt.parts {
                for line in part.lines.start..=part.lines.end {
                    assert!(lines.insert((&item.file_rel_path, line)), "{}:{line} twice", item.file_rel_path);
                }
            }
            // No line with text of a piece that is shown whole is lost.
            if !item.excerpt.truncated {
                let file = view.file_by_path(&item.file_rel_path).expect("a file of the tree");
                let text = view.text(file);
                let text: Vec<&str> = text.lines().collect();
                for m in &item.merged_from {
                    for line in
                        (m.lines.start..=m.lines.end).filter(|l| !text[*l as usize - 1].trim().is_empty())
                    {
                        assert!(
                            lines.contains(&(&*item.file_rel_path, line)),
                            "{}:{line} is lost",
                            item.title
                        );
                    }
                }
                let pieces: u32 = item.merged_from.iter().map(|m| m.lines.end + 1 - m.lines.start).sum();
                n_shared += u32::from(pieces > item.lines.end + 1 - item.lines.start);
            }
        }
        assert_eq!(n_shared > 0, overlaps, "pieces that have lines in common");
        let names: Vec<&str> = pack.sections.iter().map(|s| s.name.as_ref()).collect();
        assert_eq!(names, ["items"]);
    }
}

#[test]
fn profiles_and_layouts_go_together() {
    for layout in ["graph", "agent", "flat"] {
        let packs = ["graph", "sources", "task"].map(|scoring| -> Value {
            let request = json!({"query": "retry delay", "layout": layout, "scoring": scoring});
            let pack = pack(&go(), request);
            assert!(pack.items().count() > 3, "{layout} {scoring}");
            let s = &pack.stats;
            assert_eq!(s.found, s.included + s.merged + s.dropped);
            assert_eq!(s.included, pack.items().count() as u64);
            json!(pack.items().map(|i| i.scores.hybrid_score).collect::<Vec<_>>())
        });
        assert!(packs[0] != packs[1] && packs[1] != packs[2] && packs[0] != packs[2], "{layout}");
    }
}
