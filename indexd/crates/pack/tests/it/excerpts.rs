//! What is shown of an item, and the room that items have: caps, cuts, windows, places.

use crate::support::{go, outline, pack, tokens, tree, try_build, with_tuning};
use indexd_oracle::Oracle;
use indexd_pack::pack::Form;
use indexd_pack::{Config, Tuning};
use serde_json::{Value, json};
use std::collections::BTreeSet;

#[test]
fn a_small_budget_gets_the_best_whole_lines_and_none_gets_nothing() {
    let view = go();
    let body = "\tneedle(\"a rather long line of arguments\")\n".repeat(9);
    let long = Oracle::of(&[("a/x.go", format!("func Long() {{\n{body}}}\n"))]);
    let small = pack(&long, json!({"query": "needle", "budgets": {"maxTotalTokens": 60}}));
    assert_eq!(small.items().count(), 1);
    let excerpt = &small.items().next().unwrap().excerpt;
    assert_eq!(excerpt.truncation.as_ref().map(|t| t.reason.as_ref()), Some("maxTotalTokens"));
    assert!(small.stats.token_count <= 60 && excerpt.text.starts_with("func Long() {\n"));
    let none = pack(&view, json!({"query": "retry delay", "budgets": {"maxTotalTokens": 0}}));
    assert_eq!((none.items().count(), none.rendered.len()), (0, 0));
    let chars = pack(&long, json!({"query": "needle", "budgets": {"maxTotalChars": 200}}));
    let excerpt = &chars.items().next().expect("an item").excerpt;
    assert_eq!(excerpt.truncation.as_ref().map(|t| t.reason.as_ref()), Some("maxTotalChars"));
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
    assert_eq!(
        item.excerpt.truncation.as_ref().map(|t| (t.max_bytes, t.reason.as_ref())),
        Some((900, "maxBytesPerItem"))
    );
    assert!(item.excerpt.text.len() <= 900 && item.excerpt.parts.len() == 2);
    assert!(item.excerpt.text.starts_with("func Long() {\n") && item.excerpt.text.contains("needle()"));
    assert!(pack.rendered.contains("\n // :166\n"), "{}", pack.rendered);
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
    let shown: Vec<_> = section.items.iter().map(|i| (i.lines().start, i.excerpt.truncated)).collect();
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
    assert_eq!(item.excerpt.truncation.as_ref().map(|t| t.reason.as_ref()), Some("maxBytesPerItem"));
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
            let reason = item.excerpt.truncation.as_ref().map(|t| t.reason.as_ref());
            assert_eq!(reason, is_cut.then_some("maxTotalTokens"), "{word} {budget}");
        }
    }
}

/// Each limit passes at its value, and what comes out with one less is within that.
#[test]
fn each_cap_holds_at_its_value_and_at_one_less() {
    let view = go();
    let of = |limits: Value| pack(&view, json!({"query": "retry delay policy", "budgets": limits}));
    let whole = of(json!({"maxTotalTokens": 800}));
    let size = |p: &indexd_pack::Pack| {
        let largest = p.items().map(|i| i.excerpt.text.len() as u64).max().unwrap_or(0);
        let fullest = p.sections.iter().map(|s| s.items.len() as u64).max().unwrap_or(0);
        [p.stats.token_count, p.rendered.chars().count() as u64, p.stats.included, fullest, largest]
    };
    let names = ["maxTotalTokens", "maxTotalChars", "maxItems", "maxItemsPerSection", "maxBytesPerItem"];
    for (i, name) in names.into_iter().enumerate() {
        let n = size(&whole)[i];
        let with = |cap: u64| {
            let mut limits = json!({"maxTotalTokens": 800});
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
        let is_other = |p: &indexd_pack::pack::Item| {
            let file = files.iter().find(|f| f.0 == p.path());
            let text = file.map(|f| std::str::from_utf8(&f.1).expect("UTF-8")).unwrap_or_default();
            let n = (p.lines().end + 1 - p.lines().start) as usize;
            let lines: String =
                text.split_inclusive('\n').skip(p.lines().start as usize - 1).take(n).collect();
            format!("b3:{}", blake3::hash(lines.as_bytes())) != p.provenance().content_hash
        };
        shown.items().filter(|i| is_other(i)).map(|i| format!("{}:{}", i.path(), i.lines().start)).collect()
    };
    assert_eq!(changed(&files), BTreeSet::new());
    let item = shown.items().find(|i| i.path() == "retry/policy.go").expect("it is shown");
    let at = files.iter().position(|f| f.0 == "retry/policy.go").expect("it is there");
    // Behind the last line nothing that is shown changes; inside an item that item does, and what holds it.
    files[at].1.extend(b"\n// more\n");
    assert_eq!(changed(&files), BTreeSet::new());
    let mut lines: Vec<String> =
        String::from_utf8_lossy(&files[at].1).split_inclusive('\n').map(str::to_owned).collect();
    lines[item.lines().start as usize - 1] = "// another line\n".to_owned();
    files[at].1 = lines.concat().into_bytes();
    let told = changed(&files);
    assert!(told.contains(&format!("retry/policy.go:{}", item.lines().start)), "{told:?}");
    assert!(told.iter().all(|p| p.starts_with("retry/policy.go:")), "{told:?}");
    files.remove(at);
    let n_of_file = shown.items().filter(|i| i.path() == "retry/policy.go").count();
    assert_eq!(changed(&files).len(), n_of_file);
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
    assert_eq!((item.lines().start, item.lines().end), (3, 4));
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
            let is_whole = parts == item.lines().end + 1 - item.lines().start;
            assert!(!(is_whole && item.excerpt.truncated), "{budget}: {}", item.title);
        }
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
    for budget in [700, 1_000, 2_000] {
        let pack = pack(&view, json!({"query": "needle arguments", "budgets": {"maxTotalTokens": budget}}));
        let filled: Vec<&str> =
            pack.sections.iter().filter(|s| !s.items.is_empty()).map(|s| s.name.as_ref()).collect();
        assert_eq!(filled, ["seeds", "tests", "docs"], "{budget}");
    }
}

#[test]
fn the_type_of_a_shown_member_is_named() {
    let filler: String = (0..30).map(|i| format!("    def m{i}(self):\n        return {i}\n\n")).collect();
    let text = format!(
        "class Outer(Base):\n    class Inner:\n        x = 1\n\n        def needle(self):\n            return helper()\n\n{filler}    def last(self):\n        return self.needle()\n\n\ndef helper():\n    return 1\n"
    );
    let view = Oracle::of(&[("a.py", text.as_str())]);
    for (query, tokens) in [("needle", 60), ("needle", 400), ("helper", 400), ("last", 50)] {
        let pack = pack(&view, json!({"query": query, "budgets": {"maxTotalTokens": tokens}}));
        for item in pack.items().filter(|i| i.title.starts_with("def ") && i.lines().start < 99) {
            let is_inner = item.title.starts_with("def needle");
            let named = if is_inner { ["Outer.Inner.needle\n", "[Inner] "] } else { ["Outer.", "[Outer] "] };
            let is_named = named.iter().any(|n| pack.rendered.contains(n));
            assert!(is_named, "{query} {}:\n{}", item.title, pack.rendered);
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

/// The line of a quoted phrase is shown if it is found: among lines with more words of the text, on a line that is
/// cut, in another file than the hits, and in a pack of few tokens.
#[test]
fn the_line_of_a_quoted_phrase_is_always_shown() {
    const PHRASE: &str = "lease was revoked too early";
    let busy = |n: usize| -> String {
        (0..n).map(|i| format!("\tcheckLease(revoked, early, lease{i}, revokeLease({i}))\n")).collect()
    };
    let long =
        format!("package a\n\nfunc CheckLease() {{\n{}\tlog(\"{PHRASE}\")\n{}}}\n", busy(150), busy(150));
    let packed = format!(
        "package a\n\nvar table = []string{{\"{}{PHRASE}{}\"}}\n",
        "leading, ".repeat(900),
        ", trailing".repeat(900)
    );
    let hits = (0..30).map(|i| {
        let text = format!("package a\n\n// Revoked{i} says why a lease was revoked early, too early.\nfunc Revoked{i}(lease Lease) {{\n{}}}\n", busy(6));
        (format!("a/hit{i}.go"), text)
    });
    for (path, text) in [
        ("a/long.go", long.as_str()),
        ("a/packed.go", &packed),
        ("a/check_test.go", &long),
        (
            "docs/lease.md",
            &format!("# Leases\n\n{}\n\nA {PHRASE}.\n", "Leases are revoked early. ".repeat(400)),
        ),
    ] {
        let tree: Vec<(String, String)> = hits.clone().chain([(path.to_owned(), text.to_owned())]).collect();
        let view = Oracle::of(&tree);
        for tokens in [600, 1_500, 4_000] {
            for stop in ["value", "budget"] {
                let request = json!({"query": format!("why is it said that \"{PHRASE}\""),
                    "budgets": {"maxTotalTokens": tokens, "stop": stop}});
                let pack = pack(&view, request);
                let is_shown = pack.rendered.contains(PHRASE);
                assert!(is_shown, "{path} in {tokens} until {stop}:\n{}", pack.rendered);
                // With room the lines around it are shown, too.
                let is_between = ["lease149, revokeLease(149)", "lease0, revokeLease(0)"]
                    .map(|l| pack.rendered.contains(l));
                assert!(
                    path != "a/long.go" || tokens < 4_000 || is_between == [true; 2],
                    "{}",
                    pack.rendered
                );
            }
        }
    }
}
