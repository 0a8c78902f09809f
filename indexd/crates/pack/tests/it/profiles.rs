//! Scoring `sources` and `task`, and layout `flat`.

use crate::support::{go, pack, python};
use indexd_model::view::FileHistory;
use indexd_oracle::Oracle;
use indexd_pack::pack::Item;
use indexd_pack::{Pack, canonical};
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
        ("a/core.go", "package a\n\nfunc Needle() {}\n".to_owned()),
        (
            "a/core_test.go",
            "package a\n\nimport \"testing\"\n\nfunc TestIt(t *testing.T) { Needle() }\n".to_owned(),
        ),
        ("cmd/run.go", "package main\n\nimport \"m/a\"\n\nfunc run() { a.Needle() }\n".to_owned()),
    ]);
    let pack = pack(&view, json!({"query": "Needle", "scoring": "task"}));
    let points = |title: &str, name: &str| part(item(&pack, title), name).is_some();
    assert!(points("func Needle", "direct hit") && !points("func Needle", "call site"));
    assert!(points("func TestIt", "test") && points("func TestIt", "call site"));
    assert!(points("func run", "configuration") && points("func run", "call site"));
    assert_eq!(part(item(&pack, "func run"), "call site"), Some((canonical::round6(3.0 / 13.0), 1.0)));
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
    assert!(merged.merged_from.iter().any(|m| m.chunk_uid == merged.chunk_uid), "the best names it");
    let s = &pack.stats;
    assert_eq!((s.found, s.merged > 0), (s.included + s.merged + s.dropped, true));
    let others = pack.items().filter(|i| i.chunk_uid != merged.chunk_uid);
    assert!(others.map(|i| i.scores.hybrid_score).all(|score| score <= merged.scores.hybrid_score));
}

#[test]
fn should_handle_partial_overlap() {
    for (view, query) in [(go(), "retry delay policy"), (python(), "price discount total")] {
        let pack = flat(&view, query);
        assert!(pack.items().count() > 2, "a list has no sections to cap");
        assert!(pack.items().any(|i| i.merged_from.len() > 1));
        let mut lines: BTreeSet<(&str, u32)> = BTreeSet::new();
        for item in pack.items() {
            for part in &item.excerpt.parts {
                for line in part.lines.start..=part.lines.end {
                    assert!(lines.insert((&item.file_rel_path, line)), "{}:{line} twice", item.file_rel_path);
                }
            }
            // No line of a piece that is shown whole is lost.
            if !item.excerpt.truncated {
                let shown: u32 = item.excerpt.parts.iter().map(|p| p.lines.end + 1 - p.lines.start).sum();
                let pieces: u32 = item.merged_from.iter().map(|m| m.lines.end + 1 - m.lines.start).sum();
                assert!(shown >= pieces, "{}: {shown} of {pieces}", item.title);
            }
        }
        let names: Vec<&str> = pack.sections.iter().map(|s| s.name).collect();
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
