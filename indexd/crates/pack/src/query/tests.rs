use super::*;

fn parse(text: &str, title: f64, joined: f64) -> Query {
    Query::parse(text, &Weights { title, joined, ..Weights::default() })
}

fn check(text: &str, terms: &str, symbols: &str, paths: &str, literals: &str) {
    let q = parse(text, 1.0, 0.0);
    let got: Vec<&str> = q.terms.iter().map(|t| t.term.as_str()).collect();
    assert_eq!(got.join(" "), terms, "terms of {text:?}");
    let got: Vec<&str> = q.symbols.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(got.join(" "), symbols, "symbols of {text:?}");
    let got: Vec<String> = q
        .paths
        .iter()
        .map(|p| format!("{}{}", p.path, p.line.map_or(String::new(), |l| format!(":{l}"))))
        .collect();
    assert_eq!(got.join(" "), paths, "paths of {text:?}");
    assert_eq!(q.literals.join("|"), literals, "literals of {text:?}");
}

#[test]
fn prose_gives_terms_without_the_words_of_asking() {
    check("Please fix the retry delay when it is not decided", "retry delay decid", "", "", "");
    check("where is it", "wher is it", "", "", "");
    check("", "", "", "", "");
}

#[test]
fn names_are_seen_in_every_case_style() {
    check(
        "OutOrStdout and max_items",
        "stdout =outorstdout max item =maxitems",
        "OutOrStdout max_items",
        "",
        "",
    );
    check("call `getenv` or run()", "call getenv run", "getenv run", "", "");
}

#[test]
fn paths_modules_and_lines_are_told_apart() {
    check("see pkg/http/client.go:42:7", "pkg http client", "", "pkg/http/client.go:42", "");
    check("in scrapy.utils.log, e.g. here", "scrapy util log", "", "scrapy.utils.log", "");
    check("either and/or", "either and or", "", "", "");
}

#[test]
fn what_is_marked_as_code_is_a_name_however_late_it_comes() {
    let lead: Vec<String> = ('a'..='z').flat_map(|a| ["bo", "ru"].map(|b| format!("word{b}{a}"))).collect();
    let text = format!("{}\n\nSee `Command.Execute` and load_config().", lead.join(" "));
    let query = Query::parse(&text, &Weights::default());
    let names: Vec<&str> = query.names.iter().map(|n| n.text.as_str()).collect();
    assert_eq!(&names[..3], ["Command.Execute", "load_config", "wordboa.wordrua"]);
    assert_eq!(names.len(), MENTIONS_MAX);
}

#[test]
fn a_link_to_a_file_names_it_and_its_line() {
    let paths = |text: &str, expect: &str| {
        let q = parse(text, 1.0, 0.0);
        let got: Vec<String> = q.paths.iter().map(|p| format!("{}:{:?}", p.path, p.line)).collect();
        assert_eq!(got.join(" "), expect, "{text:?}");
    };
    paths(
        "it [ignores](https://forge.example/o/n/blob/085c98/net/dns.go#L289-L292) errors",
        "net/dns.go:Some(289)",
    );
    paths("https://forge.example/o/n/-/blob/v1.25.x/net/dns.go.", "net/dns.go:None");
    paths("see https://forge.example/o/n/issues/12 and https://x.example/a.go", "");
    paths("in store/blob/disk.go", "store/blob/disk.go:None");
}

#[test]
fn traces_give_frames_and_messages() {
    let q = parse(
        "It fails\n\nTraceback (most recent call last):\n  File \"/x/site-packages/black/linegen.py\", line 12, in visit_default\n    x = y\nValueError: cannot parse 3 tokens of input",
        1.0,
        0.0,
    );
    assert_eq!(q.paths[0].path, "x/site-packages/black/linegen.py");
    assert_eq!((q.paths[0].line, q.paths[0].function.as_deref()), (Some(12), Some("visit_default")));
    assert_eq!(q.literals, ["cannot parse", "tokens of input"]);
    let q = parse(
        "It fails\n\nERROR> Traceback (most recent call last):\nERROR>   File \"/x/black/linegen.py\", line 12, in visit\n",
        1.0,
        0.0,
    );
    assert_eq!((q.paths[0].path.as_str(), q.paths[0].line), ("x/black/linegen.py", Some(12)));
    let q = parse(
        "panic: runtime error: bad\n\ngoroutine 1 [running]:\nmain.f(0x12)\n\t/home/u/app/cmd/root.go:31 +0x1d\n",
        1.0,
        0.0,
    );
    assert_eq!((q.paths[0].path.as_str(), q.paths[0].line), ("home/u/app/cmd/root.go", Some(31)));
}

#[test]
fn the_place_of_a_word_decides_its_weight() {
    let q = parse("alpha title\nbeta lead\n\ngamma prose\n\n```\ndelta = code\n```\n", 1.5, 0.0);
    let weight = |t: &str| q.terms.iter().find(|x| x.term == t).map(|x| x.weight).unwrap();
    assert!(
        weight("alpha") > weight("beta")
            && weight("beta") > weight("gamma")
            && weight("gamma") > weight("delta")
    );
}

#[test]
fn what_a_form_asks_weighs_little_and_hides_no_first_paragraph() {
    let text = "alpha title\n\n<!-- omega\nreads this -->\n- [x] sigma ticked\n\n### Kappa of it\n\nbeta \
                lead\n\n```\ndelta = code\n```\n\n### Which version?\n\ngamma 1.2\n\n### Logs\n\n\
                epsilon prose\n";
    let q = parse(text, 2.0, 0.0);
    let weight = |t: &str| q.terms.iter().find(|x| x.term == t).map(|x| x.weight);
    assert_eq!((weight("omega"), weight("sigma")), (None, None));
    assert_eq!((weight("kappa"), weight("gamma")), (Some(0.3), Some(0.3)));
    assert_eq!((weight("beta"), weight("delta"), weight("epsilon")), (Some(1.0), Some(0.4), Some(0.7)));
    // A comment without an end hides nothing.
    let q = parse("alpha title\n\n<!-- omega\n\nbeta lead\n", 2.0, 0.0);
    assert!(["omega", "beta"].iter().all(|t| q.terms.iter().any(|x| x.term == *t)));
}

#[test]
fn a_name_in_prose_is_told_from_one_in_code() {
    let q = parse("It calls readAll\n\n```\nx = readAll(openFile())\n```\n", 1.0, 0.0);
    let got: Vec<(&str, bool)> = q.symbols.iter().map(|s| (s.name.as_str(), s.in_prose)).collect();
    assert_eq!(got, [("readAll", true), ("openFile", false)]);
}

#[test]
fn neighbouring_words_of_the_title_are_joined() {
    let q = parse("Ensure man page is there", 1.0, 0.5);
    let got: Vec<&str> = q.terms.iter().map(|t| t.term.as_str()).collect();
    assert_eq!(got, ["ensur", "man", "page", "=ensureman", "=manpage"]);
}

#[test]
fn other_forms_weigh_less_than_the_word() {
    let mut q = parse("fuzzer cfg", 1.0, 0.0);
    q.add_forms(&Weights { derived: 0.5, synonyms: 0.25, ..Weights::default() });
    let weight = |t: &str| q.terms.iter().find(|x| x.term == t).map(|x| x.weight);
    assert_eq!((weight("fuzzer"), weight("fuzz"), weight("config")), (Some(1.0), Some(0.5), Some(0.25)));
}

#[test]
fn questions_keep_words_that_report_a_change_elsewhere() {
    for (text, keeps) in [("who adds the help flag", true), ("add the help flag", false)] {
        let q = parse(text, 1.0, 0.0);
        assert_eq!(q.terms.iter().any(|t| t.term == "help"), keeps, "{text}");
    }
}

#[test]
fn addresses_and_hashes_are_noise() {
    check("crash at 0xdeadbeef12 in a1b2c3d4e5 2024", "crash 2024", "", "", "");
}

#[test]
fn quotes_keep_phrases_whole() {
    check("it says \"no such option\" and don't stop", "says option stop", "", "", "no such option");
}

#[test]
fn a_heading_that_says_nothing_is_no_title() {
    let weight = |text: &str, term: &str| {
        let q = parse(text, 2.0, 0.0);
        q.terms.iter().find(|t| t.term == term).map(|t| t.weight)
    };
    let plain = weight("retry forgets the delay", "retry");
    assert!(plain.is_some_and(|w| w > 1.0));
    for heading in ["3.12.1 (unreleased)\n*****", "Bug fixes:\n", "v2.0\n-----\n"] {
        assert_eq!(weight(&format!("{heading}\nretry forgets the delay"), "retry"), plain, "{heading}");
    }
    assert_eq!(weight("where is it\n", "wher"), Some(0.7));
}

#[test]
fn numbers_that_are_parts_of_a_version_an_address_or_a_time_are_no_terms() {
    check("2023-02-10 11:12:33 since 2.32.0", "", "", "", "");
    check("answers 404, port 8080", "answer 404 port 8080", "", "", "");
}

#[test]
fn another_form_knows_its_word() {
    let mut q = parse("import", 1.0, 0.0);
    q.add_forms(&Weights::default());
    assert!(q.terms.iter().any(|t| t.term == "importer"));
    assert!(q.terms.iter().all(|t| t.form_of == t.word.is_none().then_some(0)));
}

#[test]
fn a_term_is_shown_as_the_text_has_it() {
    let mut q = parse("Importing closed sockets", 1.0, 0.4);
    q.add_forms(&Weights::default());
    let of =
        |word: &str| q.terms.iter().find(|t| t.word.as_deref() == Some(word)).expect("a term").term.clone();
    for word in ["Importing", "closed", "sockets"] {
        assert_eq!(q.as_written(&of(word)), word);
    }
    assert_eq!((q.as_written("=closedsockets"), q.as_written("other")), ("closedsockets", "other"));
}

proptest::proptest! {
    /// Any text is a query, and its mentions are bounded by its size.
    #[test]
    fn any_text_is_a_query(bytes: Vec<u8>) {
        let text = String::from_utf8_lossy(&bytes);
        let query = parse(&text, 1.0, 0.5);
        proptest::prop_assert!(query.literals.iter().map(String::len).sum::<usize>() <= 4 * text.len());
        proptest::prop_assert!(query.terms.iter().all(|term| !term.term.is_empty()));
    }
}

#[test]
fn a_verb_and_its_particle_are_one_name() {
    for (text, name) in [
        ("when is a user logged in", "login"),
        ("what happens when a call timed out", "timeout"),
        ("shutting down the pool", "shutdown"),
        ("who falls back to the default", "fallback"),
    ] {
        let query = Query::parse(text, &Weights::default());
        let found = query.terms.iter().find(|t| t.term == name);
        assert!(found.is_some_and(|t| t.form_of.is_some()), "{text}: {:?}", query.terms);
    }
    let query = Query::parse("the name of a folder", &Weights::default());
    assert!(query.terms.iter().all(|t| t.form_of.is_none()), "{:?}", query.terms);
}

#[test]
fn questions_are_also_asked_in_words_of_programs() {
    let forms = |text: &str| {
        let mut query = Query::parse(text, &Weights::default());
        query.add_forms(&Weights::default());
        let forms = query.terms.iter().filter(|t| t.form_of.is_some());
        forms.map(|t| t.term.clone()).collect::<Vec<_>>()
    };
    for (text, form) in [
        ("how often is it tried again", "retry"),
        ("where is a half written file kept", "writ"),
        ("who decides which of them is chosen", "choos"),
        ("when are pages copied", "copy"),
    ] {
        assert!(forms(text).iter().any(|f| f == form), "{text}: {:?}", forms(text));
    }
    // The text of a change says what it means.
    let change = forms("Copied pages are chosen again");
    assert!(["retry", "choos", "copy"].iter().all(|f| change.iter().all(|c| c != f)), "{change:?}");
}
