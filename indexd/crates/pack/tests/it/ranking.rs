//! Features that need more than one definition to show.

use indexd_model::IndexView;
use indexd_oracle::Oracle;
use indexd_pack::query::Query;
use indexd_pack::request::SeedProvider;
use indexd_pack::retrieve::{Hit, Retrieved, search};
use indexd_pack::score::Feature;
use indexd_pack::tuning::Weights;
use indexd_pack::unit::Units;

/// What is found for a text.
fn found(view: &Oracle, text: &str, weights: &Weights) -> Retrieved {
    search(&mut Units::new(view), text, &[], weights, SeedProvider::Hybrid).0
}

fn strength(hit: &Hit, feature: Feature) -> f64 {
    hit.scored.features.get(feature)
}

/// Names of the ranked definitions of `net.py`, best first, those with a feature marked.
fn check(view: &Oracle, text: &str, weights: &Weights, feature: Feature, expect: &str) {
    let got: Vec<String> = found(view, text, weights)
        .hits
        .iter()
        .filter(|h| &*h.file.path == "net.py")
        .filter_map(|h| h.unit.def.some().map(|d| (view.def(d).name, strength(h, feature))))
        .map(|(name, part)| if part > 0.0 { format!("{name}*") } else { name.to_string() })
        .collect();
    assert_eq!(got.join(" "), expect);
}

#[test]
fn words_of_the_best_hit_bring_up_what_shares_them() {
    let net = "def connect(host):\n    backoff = open(host)\n    return backoff\n\n\n\
               def omega(x):\n    alpha = x\n    return alpha\n\n\n\
               def pause(x):\n    backoff = x\n    return backoff\n";
    let others: String = (0..60).map(|i| format!("def filler_{i}(x):\n    return x\n\n\n")).collect();
    let view = Oracle::of(&[
        ("net.py".to_owned(), net.as_bytes().to_vec()),
        ("other.py".to_owned(), others.into_bytes()),
    ]);
    let on = Weights::default();
    check(&view, "connect to the host", &on, Feature::Feedback, "connect* pause* omega");
    let off = Weights { feedback: 0.0, ..on };
    check(&view, "connect to the host", &off, Feature::Feedback, "connect omega pause");
}

#[test]
fn what_tells_of_changes_comes_after_what_tells_of_use() {
    let view = Oracle::of(&[
        ("docs/whatsnew-2.0.md", "# Retries\n\nRetries back off now.\n"),
        (
            "docs/retries.md",
            "# Retries\n\nRetries back off, and each one waits a little longer than before.\n",
        ),
    ]);
    let found = found(&view, "retries back off", &Weights::default());
    let paths: Vec<&str> = found.hits.iter().map(|h| &*h.file.path).collect();
    assert_eq!(paths, ["docs/retries.md", "docs/whatsnew-2.0.md"]);
    // The changelog is shorter, and better but for what it is.
    let words = |i: usize| strength(&found.hits[i], Feature::Words);
    assert!(words(1) > words(0));
}

#[test]
fn a_frame_points_at_the_body_nearest_to_its_line() {
    let send = |n: usize| "        self.sent = 1\n".repeat(n);
    let text = format!(
        "class Base:\n    def send(self):\n        raise NotImplementedError\n\n    def close(self):\n{}\n\
         class Tcp(Base):\n    def send(self):\n{}",
        send(12),
        send(3)
    );
    let view = Oracle::of(&[("net.py", text)]);
    let framed = |line: u32| {
        let text =
            format!("Traceback (most recent call last):\n  File \"net.py\", line {line}, in send\n    x()\n");
        let found = found(&view, &text, &Weights::default());
        let hits = found.hits.iter().filter(|h| strength(h, Feature::Name) >= 1.0);
        hits.map(|h| h.unit.lines().start).collect::<Vec<_>>()
    };
    assert_eq!(framed(3), [2]);
    // In another version of the file: the abstract one is nearer and cannot have been running.
    assert_eq!(framed(6), [20]);
    assert_eq!(framed(40), [20]);
}

#[test]
fn neighbouring_words_name_neighbouring_names_of_a_path() {
    let view = Oracle::of(&[
        ("go.mod", "module m\n"),
        ("cmd/pr/checkout/checkout.go", "package checkout\n\nfunc Run() int {\n\treturn 1\n}\n"),
        ("cmd/pr/list.go", "package pr\n\nfunc List() int {\n\treturn 1\n}\n"),
        ("cmd/repo/checkout.go", "package repo\n\nfunc Fork() int {\n\treturn 1\n}\n"),
    ]);
    let named = |text: &str| {
        let found = found(&view, text, &Weights::default());
        let mut hits: Vec<(String, f64)> = found
            .hits
            .iter()
            .filter(|h| h.unit.def.some().is_some())
            .map(|h| (h.file.path.to_string(), strength(h, Feature::Place)))
            .filter(|(_, part)| *part == 1.0)
            .collect();
        hits.sort_by(|a, b| a.0.cmp(&b.0));
        hits.into_iter().map(|(path, _)| path).collect::<Vec<_>>()
    };
    assert_eq!(named("pr checkout forgets the branch"), ["cmd/pr/checkout/checkout.go"]);
    assert_eq!(named("checkout forgets\n\n```\n$ tool pr list\n```\n"), ["cmd/pr/list.go"]);
    assert_eq!(named("pr, checkout and list"), [""; 0]);
}

#[test]
fn a_message_in_one_place_says_more_than_a_flag_in_many() {
    let flags: String = (0..16).map(|i| format!("def flag_{i}(x):\n    return \"--color\"\n\n\n")).collect();
    let one = "def say(x):\n    return \"no color here\"\n";
    let view = Oracle::of(&[("net.py", format!("{flags}{one}"))]);
    let found = found(&view, "`--color` gives \"no color here\"", &Weights::default());
    let parts: Vec<f64> = found.hits.iter().map(|h| strength(h, Feature::Literal)).collect();
    assert_eq!((parts[0], parts.len()), (1.0, 17));
    assert!(parts[1..].iter().all(|p| *p == 0.5), "{parts:?}");
}

#[test]
fn a_quoted_message_is_found_wherever_it_stands() {
    let fill = |n: usize| -> String {
        (0..n)
            .map(|i| format!("def lease_{i}(token):\n    return \"lease token {i} not created\"\n\n\n"))
            .collect()
    };
    let view = Oracle::of(&[
        ("lease.py", fill(300)),
        ("far.py", "def other(x):\n    raise ValueError(\"failed to create lease token\")\n".to_owned()),
    ]);
    for text in [
        "it says \"failed to create lease token\" and stops",
        "failed to create lease token",
        "server: failed to create lease token",
    ] {
        let found = found(&view, text, &Weights::default());
        let holders = found.hits.iter().filter(|h| strength(h, Feature::Literal) == 1.0);
        assert_eq!(holders.map(|h| &*h.file.path).collect::<Vec<_>>(), ["far.py"], "{text}");
    }
}

#[test]
fn kinds_of_text_are_told_apart() {
    use indexd_pack::query::Kind::{Change, Diff, Name, Question, Trace};
    for (text, kind) in [
        ("how is the delay computed", Question),
        ("the delay is wrong, is it not?", Question),
        ("in which file are retries counted", Question),
        ("Retry.delay", Name),
        ("retry/policy.go:12", Name),
        ("pkg.Func other_name", Name),
        ("fix the delay of retries", Change),
        ("how\n\nlong", Change),
        ("", Change),
        ("crash\n\nTraceback (most recent call last):\n  File \"a.py\", line 3, in f\n", Trace),
        ("review this\n\ndiff --git a/x.go b/x.go\n@@ -1 +1 @@\n-a\n+b\n", Diff),
    ] {
        assert_eq!(Query::parse(text, &Weights::default()).kind, kind, "{text:?}");
    }
}

#[test]
fn a_function_inside_another_is_named_where_no_other_definition_is() {
    let inner = |outer: &str, name: &str| {
        format!("def {outer}():\n    def {name}():\n        pass\n    {name}()\n\n\n")
    };
    let text: String =
        [("start", "on_close"), ("a", "wrap_it"), ("b", "wrap_it"), ("c", "wrap_it"), ("d", "wrap_it")]
            .iter()
            .map(|(outer, name)| inner(outer, name))
            .chain([inner("e", "go_on"), "def go_on():\n    pass\n".to_owned()])
            .collect();
    let view = Oracle::of(&[("net.py", text)]);
    let named = |text: &str| {
        let found =
            indexd_pack::naming::named(&mut Units::new(&view), &Query::parse(text, &Weights::default()));
        let name = |u: &std::rc::Rc<indexd_pack::unit::Unit>| view.def(u.def).name.to_string();
        (
            found.meant.iter().map(name).collect::<Vec<_>>().join(" "),
            found.defs.iter().filter(|(_, def)| !found.meant.iter().any(|u| u.def == *def)).count(),
        )
    };
    assert_eq!(named("start.on_close"), ("start".to_owned(), 1));
    assert_eq!(named("`on_close`"), ("start".to_owned(), 1));
    assert_eq!(named("`wrap_it`"), (String::new(), 0));
    assert_eq!(named("`go_on`"), ("go_on".to_owned(), 0));
}

/// If code holds half of the expectations or fewer, the rest can meet in one place by chance.
#[test]
fn expectations_that_no_code_holds_make_an_answer_less_sure() {
    let view = crate::support::go();
    let score = |expect: &[&str]| {
        let expect: Vec<String> = expect.iter().map(|e| (*e).to_owned()).collect();
        let asked = "client fetches url and tries again while the server is busy with its attempts";
        search(&mut Units::new(&view), asked, &expect, &Weights::default(), SeedProvider::Hybrid).1.score
    };
    assert_eq!(score(&["Exhausted", "sleep"]), 0.9);
    assert_eq!(score(&["Exhausted", "sleep", "zorkmid"]), 0.9);
    assert_eq!(score(&["Exhausted", "sleep", "zorkmid", "quuxify"]), 0.3);
}
