//! Orders of the items of a finished pack besides the engine's: by the points of a task, and by relevance,
//! recency and kind of source. Which items a pack has, and its text, are the engine's.
//!
//! ```text
//! task    = 5 * hit + 3 * call site + 2 * test + 2 * configuration + 1 * in the folder of one of the best
//! sources = (0.5 * relevance + 0.3 * recency + 0.2 * kind) / the sum of the weights
//! ```
//!
//! Relevance is the engine's score. Recency is the position of the last change between the oldest (0) and the
//! newest (1) of the files, in commits; 0.5 if it is unknown. Equals are ordered by path, then by line.

use crate::document::{is_hit, names, reasons};
use crate::sources::Settings;
use crate::sources::ranking::{recency, score};
use indexd_api::pack::{Item, Pack};
use indexd_api::request::Scoring;
use indexd_api::sources::SourceType;
use indexd_model::IndexView;
use indexd_task::document::{Found, add_reasons_of_paths};

/// Orders the items of each section of a pack by a scoring profile; [`Scoring::Graph`] leaves them as they
/// are. References between items (`calls item 3`) follow the new order.
pub fn order(pack: &mut Pack, scoring: Scoring, view: &dyn IndexView, settings: &Settings) {
    let scores = match scoring {
        Scoring::Graph => return,
        Scoring::Task => points(pack),
        Scoring::Sources => strengths(pack, view, settings),
    };
    let mut numbers = Vec::with_capacity(scores.len());
    let mut first = 0;
    for section in &mut pack.sections {
        let mut items: Vec<(usize, Item)> = (first..).zip(std::mem::take(&mut section.items)).collect();
        items.sort_by(|(a, x), (b, y)| {
            let place = |item: &Item| (item.path().to_owned(), item.lines().start);
            scores[*b].total_cmp(&scores[*a]).then_with(|| place(x).cmp(&place(y)))
        });
        first += items.len();
        numbers.extend(items.iter().map(|(was, _)| *was));
        section.items = items.into_iter().map(|(_, item)| item).collect();
    }
    let renumbered = |said: &str| {
        let (verb, n) = said.split_once(" item ")?;
        let was = n.parse::<usize>().ok()?.checked_sub(1)?;
        Some(format!("{verb} item {}", numbers.iter().position(|n| *n == was)? + 1))
    };
    for said in pack.sections.iter_mut().flat_map(|s| &mut s.items).flat_map(|i| &mut i.why.also) {
        *said = renumbered(said).unwrap_or_else(|| std::mem::take(said));
    }
}

/// The points of each item.
fn points(pack: &Pack) -> Vec<f64> {
    let names = names(pack);
    let of = |item: &Item| Found {
        path: item.path().to_owned(),
        reasons: reasons(item, &names),
        lines: Vec::new(),
    };
    let mut found: Vec<Found> = pack.items().map(of).collect();
    add_reasons_of_paths(&mut found);
    found.iter().map(|f| f64::from(f.points())).collect()
}

/// The score of each item by relevance, recency and kind.
fn strengths(pack: &Pack, view: &dyn IndexView, settings: &Settings) -> Vec<f64> {
    let changed = |item: &Item| {
        let history = view.history(view.file_by_path(item.path())?);
        (history.n_commits > 0).then(|| -i64::from(history.newest))
    };
    let times: Vec<Option<i64>> = pack.items().map(changed).collect();
    let known = || times.iter().flatten().copied();
    let span = known().min().zip(known().max());
    let of = |(item, time): (&Item, &Option<i64>)| {
        let kind = settings.priorities.share(kind(item));
        score(settings, [item.scores.hybrid_score, recency(*time, span), kind])
    };
    pack.items().zip(&times).map(of).collect()
}

/// The kind of source of an item: a stack frame comes from a tool, what the request names is open, other hits
/// are results of a search, and what edges lead to is a reference.
fn kind(item: &Item) -> SourceType {
    match item.why.rule.as_str() {
        "seed-frame" => SourceType::ToolResult,
        "seed-symbol" | "focus" | "changed" => SourceType::OpenFile,
        _ if is_hit(item) => SourceType::SearchResult,
        _ => SourceType::Reference,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::Priorities;
    use indexd_model::FactsView as _;
    use indexd_model::view::FileHistory;
    use indexd_oracle::Oracle;
    use serde_json::{Value, json};

    fn built(view: &Oracle, request: Value) -> Pack {
        crate::tests::build(view, &indexd_pack::Request::from_json(request).expect("a request"))
    }

    fn paths(pack: &Pack, section: usize) -> Vec<&str> {
        pack.sections[section].items.iter().map(|i| i.path()).collect()
    }

    fn three() -> Oracle {
        let text =
            |name: &str| format!("package {name}\n\nfunc Sew{name}() {{\n\tthread(needle, {name:?})\n}}\n");
        let mut view = Oracle::of(&[("a/x.go", text("a")), ("b/x.go", text("b")), ("c/x.go", text("c"))]);
        let at = |newest| FileHistory { n_commits: 1, newest };
        view.set_history("head", &[("a/x.go", at(40)), ("b/x.go", at(0)), ("c/x.go", at(20))], &[]);
        view
    }

    #[test]
    fn sources_weigh_relevance_recency_and_kind() {
        let view = three();
        let mut pack = built(&view, json!({"query": "does the needle take the thread?"}));
        let before = pack.clone();
        order(&mut pack, Scoring::Graph, &view, &Settings::default());
        assert_eq!(pack, before);
        order(&mut pack, Scoring::Sources, &view, &Settings::default());
        assert_eq!(paths(&pack, 0), ["b/x.go", "c/x.go", "a/x.go"], "the newest first");
        assert_eq!(
            (&pack.rendered, &pack.pack_id, &pack.stats),
            (&before.rendered, &before.pack_id, &before.stats)
        );
        let oldest = Settings { recency_weight: 0.0, ..Settings::default() };
        order(&mut pack, Scoring::Sources, &view, &oldest);
        assert_eq!(paths(&pack, 0)[0], paths(&before, 0)[0], "without recency the engine's score decides");
    }

    #[test]
    fn what_is_named_or_linked_is_another_kind_of_source() {
        let text = "package a\n\nfunc Needle() {\n\tleaf()\n}\n\nfunc leaf() {}\n";
        let view = Oracle::of(&[("a/x.go", text), ("go.mod", "module m\n")]);
        let kinds = |query: &str| -> Vec<(String, SourceType)> {
            let pack = built(&view, json!({"query": query, "expansion": {"maxHops": 2}}));
            pack.items().map(|i| (i.title.clone(), kind(i))).collect()
        };
        assert!(kinds("Needle").contains(&("func Needle()".to_owned(), SourceType::OpenFile)));
        let trace = "panic: x\n\ngoroutine 1 [running]:\na.Needle()\n\ta/x.go:4 +0x1\n";
        assert!(kinds(trace).contains(&("func Needle()".to_owned(), SourceType::ToolResult)));
        let tools_last = Priorities { tool_result: 10, open_file: 40, ..Priorities::default() };
        assert_eq!(tools_last.share(SourceType::ToolResult), 10.0 / 60.0, "search results still count 60");
    }

    #[test]
    fn a_task_goes_by_points_then_by_path() {
        let files: Vec<(String, String)> = ["z", "b", "m", "a", "k"]
            .map(|dir| (format!("{dir}/x.go"), format!("package {dir}\n\nfunc Sew{dir}() {{ needle() }}\n")))
            .into();
        let view = Oracle::of(&files);
        let mut pack = built(&view, json!({"query": "the needle"}));
        order(&mut pack, Scoring::Task, &view, &Settings::default());
        assert_eq!(paths(&pack, 0), ["a/x.go", "b/x.go", "k/x.go", "m/x.go", "z/x.go"]);
        let config = ("zz/config/run.go", "package main\n\nfunc run() { needle() }\n");
        let files: Vec<(&str, &str)> =
            files.iter().map(|(p, t)| (p.as_str(), t.as_str())).chain([config]).collect();
        let view = Oracle::of(&files);
        let mut pack = built(&view, json!({"query": "the needle"}));
        order(&mut pack, Scoring::Task, &view, &Settings::default());
        assert_eq!(paths(&pack, 0)[0], "zz/config/run.go", "configuration has more points");
    }

    #[test]
    fn references_between_items_follow_the_order() {
        let text =
            |name: &str, calls: &str| format!("package m\n\nfunc {name}() {{\n\tneedle()\n\t{calls}()\n}}\n");
        let view = Oracle::of(&[
            ("go.mod", "module m\n".to_owned()),
            ("z.go", text("Sew", "Thread")),
            ("a.go", text("Thread", "leaf")),
        ]);
        let mut pack = built(&view, json!({"query": "needle"}));
        order(&mut pack, Scoring::Task, &view, &Settings::default());
        let items: Vec<&Item> = pack.items().collect();
        let sew = items.iter().find(|i| i.path() == "z.go").expect("an item");
        let thread = items.iter().position(|i| i.path() == "a.go").expect("an item");
        assert!(sew.why.also.contains(&format!("calls item {}", thread + 1)), "{:?}", sew.why.also);
        assert!(view.file_by_path("z.go").is_some());
    }
}
