//! What an item says of its reasons agrees with what it shows.

use crate::support::{pack, with_seeds, with_tuning};
use indexd_oracle::Oracle;
use indexd_pack::Tuning;
use indexd_pack::pack::Item;
use serde_json::{Value, json};

/// The evidence of the item whose title begins so: what, line, and whether it is outside the excerpt.
fn evidence(
    files: &[(&str, &str)],
    request: Value,
    tuning: &Tuning,
    title: &str,
) -> Vec<(String, u32, bool)> {
    let pack = with_tuning(&Oracle::of(files), request, tuning);
    let item = pack.items().find(|i| i.title.starts_with(title)).expect("it is shown");
    check_shown(item);
    item.why.evidence.iter().map(|e| (e.via.clone(), e.line, e.outside_excerpt)).collect()
}

/// What an item says of a line of its own must be so, and its sentence must say the same.
fn check_shown(item: &Item) {
    for e in &item.why.evidence {
        let is_own =
            e.file_rel_path == item.path() && (item.lines().start..=item.lines().end).contains(&e.line);
        let is_shown = item.excerpt.parts.iter().any(|p| (p.lines.start..=p.lines.end).contains(&e.line));
        assert_eq!(e.outside_excerpt, is_own && !is_shown, "{}: {e:?}", item.title);
        let said = format!("{} at {}:{}", e.via, e.file_rel_path, e.line);
        let reason = &item.provenance().selection_reason;
        let after = reason.split_once(&said).expect("the sentence names it").1;
        assert_eq!(after.starts_with(" (not shown)"), e.outside_excerpt, "{after}");
    }
}

fn filler(n: usize) -> String {
    (0..n).map(|i| format!("\tstep{i}(\"with some arguments\")\n")).collect()
}

#[test]
fn a_reason_names_a_line_that_is_shown_where_one_holds_it() {
    let (gap, long) = (filler(60), "\"a\", ".repeat(20));
    let text = format!(
        "package a\n\nfunc Long() {{\n{gap}\tflags({long})\n{gap}\tneedle(flags)\n\tneedle(thread)\n\tcall(flags)\n{gap}}}\n"
    );
    let mut tuning = Tuning::default();
    tuning.excerpts.window_lines = 10;
    let request = json!({"query": "needle thread flags", "budgets": {"maxBytesPerItem": 480}});
    let mut got = evidence(&[("a/x.go", &text)], request, &tuning, "func Long");
    got.sort();
    let of = |word: &str, line| (format!("term {word}"), line, false);
    assert_eq!(got, [of("flags", 125), of("needle", 125), of("thread", 126)]);
}

#[test]
fn a_reason_outside_of_what_is_shown_says_so() {
    let gap = filler(30);
    let text =
        format!("package a\n\nfunc Long() {{\n{gap}\tneedle(1)\n{gap}\tneedle(2)\n\tthread(3)\n{gap}}}\n");
    let request = json!({"query": "Long needle thread", "budgets": {"maxBytesPerItem": 14}});
    let mut got = evidence(&[("a/x.go", &text)], request, &Tuning::default(), "func Long");
    got.sort();
    let of = |word: &str, line, outside| (format!("term {word}"), line, outside);
    assert_eq!(got, [of("Long", 3, false), of("needle", 34, true), of("thread", 66, true)]);
}

#[test]
fn the_words_of_a_method_are_no_reason_for_its_class() {
    let text = "class Needle:\n    size = 1\n\n    def thread(self):\n        return self.needle + self.button\n\n    colour = 2\n";
    let got = evidence(
        &[("a.py", text)],
        json!({"query": "Needle button colour"}),
        &Tuning::default(),
        "class Needle",
    );
    let mut names: Vec<(&str, u32)> = got.iter().map(|e| (&*e.0, e.1)).collect();
    names.sort_unstable();
    assert_eq!(names, [("term Needle", 1), ("term colour", 7)]);
}

#[test]
fn reasons_of_packs_of_any_size_agree_with_what_is_shown() {
    for (name, query) in [("go", "retry delay attempts policy"), ("python", "apply_discount price total")] {
        let view = Oracle::of(&crate::support::tree(name));
        for budget in (40..900).step_by(20) {
            for bytes in [60, 200, 16_000] {
                let budgets = json!({"maxTotalTokens": budget, "maxBytesPerItem": bytes});
                let request = json!({"query": query, "budgets": budgets});
                let pack = pack(&view, request);
                pack.items().for_each(check_shown);
            }
        }
    }
}

#[test]
fn what_matches_well_and_had_no_room_is_suggested_by_name_and_place() {
    let body = "\tneedle(\"a rather long line of arguments\")\n".repeat(9);
    let mut files: Vec<(String, String)> = (0..3)
        .map(|i| (format!("a/f{i}.go"), format!("package a\n\nfunc Needle{i}() {{\n{body}}}\n")))
        .collect();
    let aside = format!("package a\n\nfunc other() {{\n{}\t// With a needle.\n}}\n", filler(60));
    files.push(("a/other.go".to_owned(), aside));
    let view = Oracle::of(&files);
    let small = pack(&view, json!({"query": "needle", "budgets": {"maxItems": 1}}));
    let shown = small.items().next().expect("an item");
    let left: Vec<usize> = (0..3).filter(|i| !shown.title.contains(&format!("Needle{i}"))).collect();
    let expect: Vec<String> = left.iter().map(|i| format!("Needle{i} a/f{i}.go:3")).collect();
    assert_eq!(small.suggested_next_queries, expect, "{:?}", small.missing_context_hints);
    for query in &small.suggested_next_queries {
        let next = pack(&view, json!({"query": query, "budgets": {"maxItems": 1}}));
        let found = next.items().next().expect("an item");
        assert_eq!(*query, format!("{} {}:3", &found.title[5..12], found.path()));
        assert!(!next.missing_context_hints.iter().any(|h| h.starts_with("words")), "a line is no word");
    }
}

/// What only edges led to matches no word of the text.
#[test]
fn whatever_had_no_room_something_that_can_be_asked_is_suggested() {
    let text = "package a\n\nfunc top() {\n\tNeedle()\n}\n\nfunc Needle() {\n\tleaf()\n}\n\nfunc leaf() {}\n";
    let view = Oracle::of(&[("a/x.go", text), ("go.mod", "module m\n")]);
    let small = with_seeds(&view, json!({"query": "Needle", "budgets": {"maxItems": 1}}), 1);
    assert_eq!(small.suggested_next_queries.len(), 1, "{:?}", small.suggested_next_queries);
    let next = pack(&view, json!({"query": small.suggested_next_queries[0], "budgets": {"maxItems": 1}}));
    let found = next.items().next().expect("an item");
    let place = format!("{}:{}", found.path(), found.lines().start);
    assert!(small.suggested_next_queries[0].ends_with(&place), "{place}");
    assert!(small.items().all(|i| i.chunk_uid != found.chunk_uid), "it was left out");
}

#[test]
fn sections_that_are_cut_whole_are_named() {
    let text = "package a\n\nfunc top() {\n\tNeedle()\n}\n\nfunc Needle() {\n\tleaf()\n}\n\nfunc leaf() {}\n";
    let view = Oracle::of(&[("a/x.go", text), ("go.mod", "module m\n")]);
    let hints = |budgets: Value| {
        let request = json!({"query": "Needle", "budgets": budgets});
        with_seeds(&view, request, 1).missing_context_hints
    };
    let cut = "sections without room: callers 1, callees 1, related 1";
    assert!(hints(json!({"maxItems": 1})).iter().any(|h| h == cut));
    let all: Vec<String> = hints(json!({"maxItems": 4}));
    let rest = "tokens are free; ask for more with another text";
    assert!(all.len() == 1 && all[0].ends_with(rest), "one hit alone was a seed: {all:?}");
}

#[test]
fn what_is_nowhere_is_not_suggested() {
    let view = Oracle::of(&[("a/x.go", "package a\n\nfunc Needle() {}\n")]);
    let none = pack(&view, json!({"query": "zzyzx quuxification"}));
    assert_eq!(none.suggested_next_queries, [] as [&str; 0], "nothing that could be asked");
    let advice = none.missing_context_hints.last().map(String::as_str);
    assert_eq!(advice, Some("name a file, a symbol or an error message"));
    let none = pack(&Oracle::of::<&str, &str>(&[]), json!({"query": "zzyzx"}));
    let advice = none.missing_context_hints.last().map(String::as_str);
    assert_eq!(advice, Some("the index holds no files"));
}

#[test]
fn a_word_that_is_spelled_wrong_is_told_with_the_nearest_of_the_index() {
    let view = Oracle::of(&[(
        "a.py",
        "class Session:\n    def cookie(self):\n        return self.cookies\n\n\ndef sessions():\n    return Session()\n",
    )]);
    let pack = pack(&view, json!({"query": "sesion cokie"}));
    assert_eq!(pack.suggested_next_queries.first().map(String::as_str), Some("session cookie"));
    let hint = "spelled alike in the index: session for sesion, cookie for cokie";
    assert!(pack.missing_context_hints.iter().any(|h| h == hint), "{:?}", pack.missing_context_hints);
    assert_eq!(pack.items().count(), 0);
    let again = crate::support::pack(&view, json!({"query": pack.suggested_next_queries[0]}));
    assert!(again.items().count() > 0 && again.suggested_next_queries.is_empty());
}

#[test]
fn whenever_words_are_missing_something_to_ask_is_suggested() {
    let view = Oracle::of(&[("a/x.go", "package a\n\nfunc Needle() {}\n")]);
    let pack = pack(&view, json!({"query": "needle zzyzx"}));
    assert_eq!(pack.suggested_next_queries, ["Needle a/x.go:3"]);
}

#[test]
fn a_seed_says_that_it_calls_another() {
    let text = "package a\n\nfunc NeedleTop() {\n\tNeedle()\n}\n\nfunc Needle() {}\n";
    let view = Oracle::of(&[("a/x.go", text), ("go.mod", "module m\n")]);
    let pack = pack(&view, json!({"query": "needle"}));
    let also = |title: &str| {
        let item = pack.items().find(|i| i.title.starts_with(title)).expect("a seed");
        assert!(pack.seeds.iter().any(|s| s.chunk_uid == item.chunk_uid));
        item.why.also.clone()
    };
    assert_eq!(also("func NeedleTop")[..2], ["callers", "calls item 1"]);
    assert_eq!(also("func Needle()")[..2], ["callees", "called by item 2"]);
}

#[test]
fn the_seeds_that_are_listed_are_those_of_the_section() {
    for budget in [0, 100, 300, 900, 4_000] {
        let request = json!({"query": "retry delay policy", "budgets": {"maxTotalTokens": budget}});
        let pack = pack(&crate::support::go(), request);
        let listed: Vec<&str> = pack.seeds.iter().map(|s| &*s.chunk_uid).collect();
        let section = pack.sections.iter().find(|s| s.name == "seeds").expect("the section");
        let shown: Vec<&str> = section.items.iter().map(|i| &*i.chunk_uid).collect();
        assert_eq!(listed, shown, "{budget}");
    }
}
