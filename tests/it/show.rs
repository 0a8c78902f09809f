//! `ctl show` of long definitions, names in lists of `ctl search`, and pictures.

use crate::user::{User, check_failure, ok, text};

/// Shows the lines near the words in a long definition, the rarest word first, and names namesakes in tests.
#[test]
fn show_prints_the_lines_near_what_is_expected() {
    let user = User::new();
    let line = |i: usize| match i {
        20 => "    limit = Budget(9)\n".to_owned(),
        50 => "    return give_up(limit)\n".to_owned(),
        _ => format!("    step({i})\n"),
    };
    let long: String = (0..60).map(line).collect();
    user.write("repo/slow.py", &format!("def slow():\n{long}"));
    user.write("repo/tests/test_slow.py", "def slow():\n    pass\n");
    let all = ok(&user.ctl(&["show", "slow"]));
    assert!(all.contains("step(30)") && all.contains("in tests too: tests/test_slow.py:1-2\n"), "{all}");
    for words in [&["-e", "BUDGET,step"][..], &["-e", "absent budget"], &["-e", "Budget", "-e", "step"]] {
        let near = ok(&user.ctl(&[&["show", "slow"], words].concat()));
        let shown: Vec<&str> = near.lines().filter(|l| l.starts_with("    ")).map(str::trim).collect();
        let expect =
            ["step(17)", "step(18)", "step(19)", "limit = Budget(9)", "step(21)", "step(22)", "step(23)"];
        assert_eq!(shown, expect, "{near}");
        assert!(near.starts_with("slow.py:1-61 slow\n```python\ndef slow():\n # :19\n"), "{near}");
    }
    let near = ok(&user.ctl(&["show", "slow", "-e", "budget give_up"]));
    assert!(near.contains("Budget(9)") && near.contains("give_up(limit)"), "{near}");
    assert!(!near.contains("step(30)"), "{near}");
    assert!(ok(&user.ctl(&["show", "slow", "-e", "absent"])).contains("step(30)"), "no line holds it");
}

/// Very many words are refused, and definitions of one name within a large budget are counted once each.
#[test]
fn what_is_asked_of_show_has_an_end() {
    let user = User::new();
    let lines: String = (0..30_000).map(|i| format!("    value_{i} = a + {i}\n")).collect();
    user.write("repo/large.py", &format!("def enormous(a):\n{lines}"));
    let same: String =
        (0..5_000).map(|i| format!("class C{i}:\n    def same(self):\n        return {i}\n")).collect();
    user.write("repo/same.py", &same);
    assert!(user.ctl(&["index", "--wait"]).status.success());
    let asked = std::time::Instant::now();
    let words: String = (0..10_000).map(|i| format!("q{i} ")).collect();
    check_failure(&user.ctl(&["show", "enormous", "-e", &words]), 2, "POC_E_INVALID_REQUEST");
    let hostile = ok(&user.ctl(&["show", "enormous", "-e", ".*(a+)+$ [ \\ VALUE_29"]));
    assert!(hostile.starts_with("large.py:1-30001 enormous\n```python\ndef enormous(a):\n"), "{hostile}");
    let few = ok(&user.ctl(&["show", "same"]));
    assert!(few.len() < 20_000 && few.contains(" (+4"), "{} bytes", few.len());
    let all = ok(&user.ctl(&["show", "same", "--budget", "90000", "--json"]));
    let all: serde_json::Value = serde_json::from_str(&all).unwrap();
    assert!(all["tokens"].as_u64().unwrap() <= 90_000);
    assert!(all["symbols"].as_array().unwrap().len() > 2_000);
    assert!(ok(&user.ctl(&["show", "large.py"])).contains("no room for large.py:"));
    assert!(asked.elapsed() < std::time::Duration::from_secs(30), "{:?}", asked.elapsed());
}

/// A name that is asked for alone comes first, and expected names are listed behind the best places.
#[test]
fn names_are_found_where_they_are_asked_for() {
    let user = User::new();
    let many = |i| format!("def walk_{i}():\n    ask(walk)\n    ask(ask)\n    walk(ask, walk)\n\n");
    user.write("repo/walks.py", &(0..20).map(many).collect::<String>());
    user.write("repo/own.py", "def _ask(x):\n    return x\n");
    for args in [&["search", "_ask", "-n", "1"][..], &["search", "-e", "_ask", "-n", "1"]] {
        assert!(ok(&user.ctl(args)).contains("\nown.py:1 _ask(x)\n"), "{args:?}");
    }
    let list = ok(&user.ctl(&["search", "walk and ask", "-e", "walk ask walk_1 walk_2 walk_3 walk_4 _ask"]));
    assert!(list.contains("own.py:1 _ask(x)\n"), "{list}");
}

/// What stands around a definition, on a terminal, as a picture and as a file; and the page of the map.
#[test]
fn pictures_are_printed_or_written_whole() {
    let user = User::new();
    user.write("repo/more.go", "package demo\n\nfunc Again(n int) int {\n\treturn Again(Get(n))\n}\n");
    let lines = ok(&user.ctl(&["graph", "Delay", "--depth", "2"]));
    let head = "around function Delay  retry.go:";
    assert!(lines.starts_with(head) && lines.contains("\n  to it:\n    call Get  client.go:"), "{lines}");
    // The name in question is in its heading alone, and further places have both ends.
    let edges: String = lines.lines().skip(1).filter(|l| l.starts_with(' ')).collect();
    assert!(
        !edges.contains("Delay") && lines.contains("\n  further away:\n    call Again to Get  more.go:4\n"),
        "{lines}"
    );
    let own = ok(&user.ctl(&["graph", "Again"]));
    assert_eq!(own.matches("call Again ").count(), 1, "a call of itself is one line: {own}");
    for (form, begins) in [("svg", "<svg "), ("dot", "digraph indexd {"), ("mermaid", "flowchart LR")] {
        let printed = ok(&user.ctl(&["graph", "Delay", "--as", form]));
        assert!(
            printed.starts_with(begins) && printed.contains("Get") && printed.ends_with('\n'),
            "{printed}"
        );
        let file = user.path("picture");
        assert_eq!(ok(&user.ctl(&["graph", "Delay", "--as", form, "--out", file.to_str().unwrap()])), "");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), printed);
    }
    for (args, code) in [
        (&["graph", "nothing_alike", "--as", "svg"][..], "POC_E_SYMBOL_NOT_FOUND"),
        (&["graph", "Delay", "--as", "dot", "--out", "/nowhere/x"], "POC_E_CANNOT_CREATE"),
        (&["map", "--as", "html", "--out", "/nowhere/x"], "POC_E_CANNOT_CREATE"),
        (&["map", "--max-tokens", "3"], "cannot be \"3\": it is 500 to 90000"),
    ] {
        let output = user.ctl(args);
        assert!(text(&output.stderr).contains(code), "{args:?}: {}", text(&output.stderr));
        assert_ne!(output.status.code(), Some(0), "{args:?}");
    }
    let page = ok(&user.ctl(&["map", "--as", "html"]));
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("Content-Security-Policy"), "{page}");
    assert!(page.contains("Modules ("), "{page}");
    let file = user.path("map.html");
    ok(&user.ctl(&["map", "--as", "html", "--out", file.to_str().unwrap()]));
    assert_eq!(std::fs::read_to_string(file).unwrap(), page);
    // Links into an editor name the folder of the repository; without an editor nothing does.
    let root = user.path("repo").display().to_string();
    let none = |page: &String| !page.contains(&root) && !page.contains("vscode:");
    let delay = format!("href=\"vscode://file{root}/retry.go:");
    let pages = || {
        [&["pack", "Delay", "--as", "html"][..], &["graph", "Delay", "--as", "svg"]].map(|a| ok(&user.ctl(a)))
    };
    assert!(pages().iter().chain([&page]).all(none));
    ok(&user.ctl(&["daemon", "stop"]));
    user.write("config/indexd/config.toml", "[page]\neditor = \"vscode://file{path}:{line}\"\n");
    assert!(pages().iter().all(|page| page.contains(&delay)), "{delay}");
}
