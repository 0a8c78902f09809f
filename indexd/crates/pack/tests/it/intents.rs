//! Every intent shows what it is for.

use crate::support::{pack, with_seeds};
use indexd_model::Lines;
use indexd_model::view::{FileHistory, Touched};
use indexd_oracle::Oracle;
use indexd_pack::Pack;
use indexd_pack::pack::Form;
use indexd_pack::pack::Item;
use serde_json::{Value, json};

/// `far` calls `top` calls `mid` calls `Needle`, each from a package of its own.
fn chain() -> Oracle {
    let body: String = (0..12).map(|i| format!("\tx += step(x, {i})\n")).collect();
    let core = format!(
        "package a\n\n// Needle sews with thread.\nfunc Needle(x int) int {{\n{body}\treturn x\n}}\n\n// Stitch is another way.\nfunc Stitch() {{}}\n\nfunc step(x, i int) int {{ return x + i }}\n"
    );
    let twice: String = (0..40).map(|i| format!("\twork({i})\n")).collect();
    let mid = format!(
        "package b\n\nimport \"m/a\"\n\nfunc Mid() {{ a.Needle(1) }}\n\nfunc Twice() {{\n\ta.Needle(2)\n{twice}\ta.Needle(3)\n}}\n\nfunc work(i int) {{}}\n"
    );
    Oracle::of(&[
        ("go.mod", "module m\n".to_owned()),
        ("a/core.go", core),
        (
            "a/core_test.go",
            "package a\n\nimport \"testing\"\n\nfunc TestNeedle(t *testing.T) { Needle(1) }\n".to_owned(),
        ),
        ("b/mid.go", mid),
        ("c/top.go", "package c\n\nimport \"m/b\"\n\nfunc Top() { b.Mid() }\n".to_owned()),
        ("d/far.go", "package d\n\nimport \"m/c\"\n\nfunc Far() { c.Top() }\n".to_owned()),
        ("e/last.go", "package e\n\nimport \"m/d\"\n\nfunc Last() { d.Far() }\n".to_owned()),
        ("cmd/main.go", "package main\n\n// Runs it.\nfunc main() {}\n".to_owned()),
        ("docs/needle.md", "# Needle\n\nThe needle sews with thread.\n".to_owned()),
    ])
}

fn ask(view: &Oracle, intent: &str, query: &str, tokens: u64) -> Pack {
    pack(view, json!({"query": query, "intent": intent, "budgets": {"maxTotalTokens": tokens}}))
}

fn find<'p>(pack: &'p Pack, title: &str) -> Option<&'p Item> {
    pack.items().find(|i| i.title.starts_with(title))
}

#[test]
fn impact_shows_who_depends_over_several_hops_and_nothing_that_is_called() {
    let view = chain();
    let impact = ask(&view, "impact", "Needle", 2_000);
    for title in ["func Mid", "func Twice", "func Top", "func Far", "func Last"] {
        assert!(find(&impact, title).is_some(), "{title}");
    }
    // Its direct callers have its name and are seeds; three hops lead from them to the last.
    assert_eq!(find(&impact, "func Last").map(|i| i.scores.graph_distance), Some(3));
    assert!(find(&ask(&view, "answer", "Needle", 2_000), "func Last").is_none());
    let callees = impact.sections.iter().find(|s| s.name == "callees").expect("the section");
    assert!(callees.items.is_empty(), "what it calls does not depend on it");
    // With little room dependents go before the rest.
    let small = ask(&view, "impact", "Needle", 330);
    assert!(find(&small, "func Far").is_some(), "{}", small.rendered);
}

#[test]
fn refactor_shows_every_use_as_its_line() {
    let view = chain();
    let forms = |tokens: u64| {
        let pack = ask(&view, "refactor", "Needle", tokens);
        let twice = find(&pack, "func Twice").expect("a user");
        let uses = twice.excerpt.text.matches("a.Needle(").count();
        assert_eq!(uses, 2, "{tokens}: {}", twice.excerpt.text);
        for title in ["func Mid", "func TestNeedle"] {
            let user = find(&pack, title).unwrap_or_else(|| panic!("{title}: {}", pack.rendered));
            assert!(user.excerpt.text.contains("Needle(1)"), "{}", user.excerpt.text);
        }
        twice.form
    };
    assert!((420..1_500).step_by(90).map(forms).min() == Some(Form::Head) || forms(300) == Form::Head);
}

#[test]
fn summaries_are_outlines_and_name_where_programs_start() {
    let view = chain();
    let query = "how does it sew with thread";
    let is_outlined = |tokens: u64| {
        let pack = ask(&view, "summarize", query, tokens);
        let needle = find(&pack, "func Needle").filter(|i| i.form == Form::Head);
        needle.is_some_and(|i| i.excerpt.text == "// Needle sews with thread.\nfunc Needle(x int) int {\n")
            && find(&pack, "func main").is_some()
    };
    assert!((80..240).any(is_outlined));
    for tokens in (80..240).step_by(20) {
        let answer = ask(&view, "answer", query, tokens);
        assert!(find(&answer, "func Needle").is_none_or(|i| i.form > Form::Head));
        assert!(find(&answer, "func main").is_none());
    }
}

#[test]
fn a_contract_is_what_is_exported_said_and_tested() {
    let view = chain();
    let titles = |intent: &str, name: &str| {
        let request = json!({"query": "Needle", "intent": intent, "budgets": {"maxTotalTokens": 400}});
        let pack = with_seeds(&view, request, 1);
        let of = pack.sections.iter().find(|s| s.name == name).expect("the section");
        of.items.iter().map(|i| i.title.clone()).collect::<Vec<_>>()
    };
    assert!(titles("contract", "exports").contains(&"func Stitch()".to_owned()));
    assert!(titles("contract", "docs").contains(&"# Needle".to_owned()));
    assert_eq!(titles("contract", "tests"), ["func TestNeedle(t *testing.T)"]);
    assert!(!titles("answer", "exports").contains(&"func Stitch()".to_owned()));
}

#[test]
fn debugging_goes_by_recent_changes_even_for_a_question() {
    let text = |name: &str, end: &str| {
        format!("package {name}\n\nfunc Sew{end}() {{\n\tthread(needle, {end:?})\n}}\n")
    };
    let mut view = Oracle::of(&[("a/x.go", text("a", "A")), ("b/x.go", text("b", "B"))]);
    let touched = FileHistory { n_commits: 3, newest: 0 };
    view.set_history("head", &[("b/x.go", touched)], &[]);
    view.set_touched("b/x.go", vec![Touched { lines: Lines { start: 3, end: 5 }, newest: 0 }]);
    let first = |intent: &str| {
        let pack = ask(&view, intent, "why does the thread of the needle break?", 2_000);
        pack.seeds[0].file_rel_path.clone()
    };
    assert_eq!((&*first("answer"), &*first("debug")), ("a/x.go", "b/x.go"));
}

#[test]
fn the_row_of_the_intent_is_explained() {
    let view = chain();
    let row =
        |intent: &str| -> Value { ask(&view, intent, "Needle", 500).explain.expect("explain is on").weights };
    let (answer, debug) = (row("answer"), row("debug"));
    assert_eq!(answer["intent"]["lanes"][2], json!({"lane": "hits", "percent": 70}));
    let literal = |w: &Value| w["ranking"]["literal"].as_f64().expect("a number");
    assert_eq!(literal(&debug), 2.0 * literal(&answer));
    assert_eq!(row("impact")["intent"]["graphFirst"], true);
}
