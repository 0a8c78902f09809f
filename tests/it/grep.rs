//! `grep` over real indexes: the lines of a naive look at each file, and what each of them is.

use crate::answers::{World, ask, check_shape, world};
use crate::client::{Client, run};
use crate::user::{User, ok};
use indexd::server::grep::roles::Places;
use indexd_model::{IndexView as _, Span};
use indexd_oracle::Oracle;
use indexd_proto::grep::{GrepResult, GrepRole};
use serde_json::{Value, json};

async fn grep(world: &World, params: Value) -> GrepResult {
    let mut client = Client::of(&world.server);
    let (_, answer) = ask(world, &mut client, "grep", params).await;
    check_shape("grep", &answer)
}

/// `path:line role` of each line.
fn lines(found: &GrepResult) -> Vec<String> {
    let role = |r: Option<GrepRole>| r.map_or(String::new(), |r| format!(" {}", r.mark()));
    found.lines.iter().map(|l| format!("{}:{}{}", l.file_rel_path, l.line, role(l.role))).collect()
}

#[test]
fn each_line_says_what_it_is() {
    run(async {
        let world = world();
        let found = grep(&world, json!({"patterns": ["[dD]elay"]})).await;
        assert_eq!(
            lines(&found),
            ["README.md:3 ?", "client.go:5 call", "retry.go:3 comment", "retry.go:4 def"]
        );
        let call = &found.lines[1];
        assert_eq!((call.text.as_str(), call.column), ("\treturn Delay(3) + Unknown()", 9));
        let within = call.within.as_ref().unwrap();
        assert_eq!((within.name.as_str(), within.lines.start), ("Get", 3));
        let found = grep(&world, json!({"patterns": ["work|helper"]})).await;
        assert_eq!(
            lines(&found),
            [
                "tools/helper.py:1 def",
                "tools/helper.py:2 string",
                "tools/run.py:1 import",
                "tools/run.py:5 call"
            ]
        );
        world.server.shutdown_backend();
    });
}

#[test]
fn options_choose_lines_and_files() {
    run(async {
        let world = world();
        let of = async |params| lines(&grep(&world, params).await);
        assert_eq!(
            of(json!({"patterns": ["delay"], "ignoreCase": true, "roles": ["def"]})).await,
            ["retry.go:4 def"]
        );
        assert_eq!(of(json!({"patterns": ["elay"], "word": true})).await, [""; 0]);
        assert_eq!(of(json!({"patterns": ["(3)"], "fixed": true, "plain": true})).await, ["client.go:5"]);
        let some = json!({"patterns": ["work", "Delay"], "globs": ["!*.py"], "plain": true});
        assert_eq!(of(some).await, ["client.go:5", "retry.go:3", "retry.go:4"]);
        assert_eq!(of(json!({"patterns": ["work"], "types": ["go"], "plain": true})).await, [""; 0]);
        let below = json!({"patterns": ["work"], "paths": ["tools/helper.py"], "plain": true});
        assert_eq!(of(below).await, ["tools/helper.py:1", "tools/helper.py:2"]);
        assert_eq!(of(json!({"patterns": ["x"], "paths": ["../.."]})).await, [""; 0]);
        let part = json!({"patterns": ["e"], "plain": true, "skip": 1, "limit": 2});
        let all = of(json!({"patterns": ["e"], "plain": true})).await;
        assert_eq!(of(part).await, all[1..3]);
        let found = grep(&world, json!({"patterns": ["Delay"], "count": true})).await;
        assert_eq!((found.lines.len(), found.n_lines, found.files.len()), (0, 3, 2));
        let around = grep(&world, json!({"patterns": ["func Delay"], "before": 1, "after": 2})).await;
        assert_eq!((around.lines[0].before.len(), around.lines[0].after.len()), (1, 2));
        world.server.shutdown_backend();
    });
}

/// If a name has several definitions, each use says which one it means, unless all mean the same one.
#[test]
fn what_a_use_means_is_said_once_if_it_is_always_the_same() {
    run(async {
        let world = world();
        let main = format!("{}/two.py", world.root);
        let two = "class A:\n    def spin(self): pass\n\nclass B:\n    def spin(self): pass\n\n";
        let ask = async |uses: &str| {
            std::fs::write(&main, format!("{two}{uses}")).unwrap();
            let found = grep(&world, json!({"patterns": ["spin"], "maxTokens": 500})).await;
            assert_eq!(found.lines.iter().filter(|l| l.target.is_some()).count(), 2);
            found.text.unwrap()
        };
        let same = ask("def use(a: A, b: B):\n    a.spin()\n    a.spin()\n").await;
        assert!(same.starts_with("4 lines in 1 file; resolved uses are of A.spin two.py:2\n"), "{same}");
        assert!(!same.contains('['), "{same}");
        let both = ask("def use(a: A, b: B):\n    a.spin()\n    b.spin()\n").await;
        assert!(both.starts_with("4 lines in 1 file\n"), "{both}");
        assert!(both.contains("a.spin()  [A.spin two.py:2]") && both.contains("[B.spin two.py:5]"), "{both}");
        world.server.shutdown_backend();
    });
}

#[test]
fn a_text_is_grouped_and_within_its_budget() {
    run(async {
        let world = world();
        let found = grep(&world, json!({"patterns": ["[dD]elay"], "maxTokens": 200})).await;
        assert_eq!(
            found.text.as_deref().unwrap(),
            "4 lines in 3 files\n\ndefinitions\nretry.go  Delay (3-6)\n  4: func Delay(attempt int) int {\n\n\
             calls\nclient.go  Get (3-6)\n  5: return Delay(3) + Unknown()\n\n\
             other\nretry.go  Delay (3-6)\n  3 comment: // Delay says how long to wait before the next attempt.\n\
             README.md  Retry (1-3)\n  3 ?: The delay doubles.\n"
        );
        let many = "delay = 1  # of the delay, as it is\n".repeat(200);
        std::fs::write(format!("{}/many.py", world.root), many).unwrap();
        let found = grep(&world, json!({"patterns": ["delay"], "maxTokens": 300})).await;
        let text = found.text.unwrap();
        let counter = indexd_text::counter("o200k_base", &indexd_text::CounterOptions::default()).unwrap();
        use indexd_text::TokenCounter as _;
        assert!(counter.count_tokens(&text) <= 300, "{text}");
        assert!(text.contains("not shown: ") && text.contains("by file: many.py "), "{text}");
        assert_eq!(found.n_lines, 201);
        world.server.shutdown_backend();
    });
}

/// Definitions come first though thousands of lines are before them, the name as a whole before others, and
/// the text says of how many lines it knows the roles.
#[test]
fn definitions_come_first_among_very_many_lines() {
    let user = User::new();
    user.write("repo/a.py", &"pause(1)\n".repeat(25_000));
    user.write("repo/b.py", "def pause_all(n):\n    pass\n");
    user.write("repo/test_c.py", "def test_pause():\n    pause(2)\n");
    user.write("repo/z.py", "def pause(n):\n    pass\n");
    let text = ok(&user.ctl(&["grep", "pause"]));
    let begin = "25004 lines in 4 files\n\ndefinitions\nz.py  pause (1-2)\n  1: def pause(n):\n\
                 b.py  pause_all (1-2)\n  1: def pause_all(n):\n";
    assert!(text.starts_with(begin), "{text}");
    assert!(text.contains("  by role, of the first 1000: ") && text.contains("  by file: a.py "), "{text}");
    assert!(!text.contains("test_c.py  "), "{text}");
}

#[test]
fn saves_and_unsaved_texts_are_searched() {
    run(async {
        let world = world();
        let file = format!("{}/new.py", world.root);
        std::fs::write(&file, "def quux(): ...\n").unwrap();
        let of = async |params| lines(&grep(&world, params).await);
        assert_eq!(of(json!({"patterns": ["quux"]})).await, ["new.py:1 def"]);
        let over =
            json!({"patterns": ["quux|zork"], "overlays": [{"path": "new.py", "text": "x = 1\nzork()\n"}]});
        assert_eq!(of(over).await, ["new.py:2 call"]);
        assert_eq!(of(json!({"patterns": ["zork"]})).await, [""; 0]);
        std::fs::remove_file(&file).unwrap();
        assert_eq!(of(json!({"patterns": ["quux"]})).await, [""; 0]);
        world.server.shutdown_backend();
    });
}

#[test]
fn every_line_of_a_naive_search_is_found() {
    run(async {
        let world = world();
        let mut seed = 7u32;
        let mut next = |n: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 16) % n
        };
        let words =
            ["get", "Get", "set_x", "x", "é", "//", "(", ")", " ", "\n", "fn", "\t", "NOTE", "\r\n", "ab"];
        let mut texts = Vec::new();
        for i in 0..40 {
            let text: String = (0..next(120)).map(|_| words[next(words.len() as u32) as usize]).collect();
            let path = format!("made/{i:02}.{}", ["py", "go", "txt", "rs"][next(4) as usize]);
            std::fs::create_dir_all(format!("{}/made", world.root)).unwrap();
            std::fs::write(format!("{}/{path}", world.root), &text).unwrap();
            texts.push((path, text));
        }
        texts.sort();
        for pattern in
            ["get", "get.x", "[Gg]et|NOTE", "x$", "^$", "é", "get\\s+x", "\\bab\\b", "(?i)note", "fnx?", "q"]
        {
            let regex = regex::Regex::new(pattern).unwrap();
            let mut want = Vec::new();
            for (path, text) in &texts {
                let whole = text.strip_suffix('\n').unwrap_or(text);
                let all = (1..).zip(whole.split('\n')).filter(|_| !text.is_empty());
                want.extend(all.filter(|(_, l)| regex.is_match(l)).map(|(n, _)| format!("{path}:{n}")));
            }
            let found = grep(&world, json!({"patterns": [pattern], "plain": true, "paths": ["made"]})).await;
            assert_eq!(lines(&found), want, "{pattern}");
        }
        world.server.shutdown_backend();
    });
}

/// Functions of the language itself have the role of calls without edges; an attribute belongs to its function.
#[test]
fn the_syntax_tells_of_what_has_no_edges() {
    let user = User::new();
    user.write("repo/stop.go", "package net\n\nfunc Stop(s string) {\n\tpanic(s)\n}\n");
    let long = "\t// stop\n\tlog(\"stop\")\n".repeat(3);
    user.write(
        "repo/long.go",
        &format!("package net\n\n/* never\nstops */\nvar a = 1 // stop\n\nfunc b() {{\n{long}}}\n"),
    );
    let told = ok(&user.ctl(&["grep", "stop", "long.go", "--comment", "--count"]));
    let strings = ok(&user.ctl(&["grep", "stop", "long.go", "--string", "--count"]));
    assert_eq!((told.as_str(), strings.as_str()), ("long.go:5\n", "long.go:3\n"));
    user.write("repo/box.py", "class Box:\n    def __init__(self, lid):\n        self.lid = lid\n");
    let text = ok(&user.ctl(&["grep", r"panic\("]));
    assert!(text.contains("calls\nstop.go  Stop (3-5)\n  4: panic(s)\n"), "{text}");
    let text = ok(&user.ctl(&["grep", "= lid"]));
    assert!(text.contains("box.py  Box.__init__ (2-3)\n"), "{text}");
}

/// A definition that is parsed alone has the strings and comments that it has in its file, in every language.
#[test]
fn pieces_of_a_file_are_read_as_the_whole() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../indexd/crates/lang/src/grammars/fixtures");
    let mut apart = Vec::new();
    let mut n_quiet = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let text = std::fs::read_to_string(format!("{folder}/{name}")).unwrap();
        if name.ends_with(".outline") {
            continue;
        }
        let tree = Oracle::of(&[(name.as_str(), text.as_str())]);
        let file = tree.files()[0];
        let places = Places::of(&tree, file);
        for (at, word) in text.match_indices(|c: char| c.is_alphabetic()) {
            let word = [Span { start: at as u32, end: (at + word.len()) as u32 }];
            let role = |found: Vec<(Span, GrepRole)>| {
                let role = found.first().map(|(_, role)| *role);
                role.filter(|role| matches!(role, GrepRole::String | GrepRole::Comment))
            };
            let whole = role(places.quiet(&word));
            n_quiet += usize::from(whole.is_some());
            if whole != role(places.quiet_in(places.piece(word[0].start), &word)) {
                apart.push(format!("{name}:{}", text[..at].lines().count()));
            }
        }
    }
    apart.dedup();
    assert!(n_quiet > 500 && apart.is_empty(), "{n_quiet} {apart:?}");
}

/// Every line of many files is printed once, in order, with more lines in one file than an answer holds.
#[test]
fn all_lines_are_printed_once() {
    let user = User::new();
    let mut want = 0;
    for (name, n) in [("a", 3), ("b", 45_000), ("c", 1), ("d/e", 15_000), ("d/f", 6_000)] {
        user.write(
            &format!("repo/lines/{name}.txt"),
            &(0..n).map(|i| format!("line {i}\n")).collect::<String>(),
        );
        want += n;
    }
    for i in 0..30 {
        user.write(&format!("repo/lines/g/{i:02}.txt"), "line\n");
    }
    let said = ok(&user.ctl(&["-C", user.path("repo/lines").to_str().unwrap(), "grep", "^line", "--all"]));
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), want + 30);
    let place = |line: &str| {
        let (path, rest) = line.split_once(".txt:").unwrap();
        (path.to_owned(), rest.split_once(':').unwrap().0.parse::<u32>().unwrap())
    };
    assert!(lines.iter().map(|l| place(l)).is_sorted_by(|a, b| a < b));
    let few = ok(&user.ctl(&["grep", "^line", "lines/d", "-g", "*e.txt", "--all", "--vimgrep"]));
    assert_eq!(few.lines().count(), 15_000);
    assert_eq!(ok(&user.ctl(&["grep", "^line", "--all", "--count"])).lines().count(), 35);
    assert_eq!(user.ctl(&["grep", "zorkmid", "--all"]).status.code(), Some(1));
}

/// The roles of very many lines of one file take no longer than its length says.
#[test]
fn roles_of_very_many_lines_come_in_time() {
    let user = User::new();
    user.write("repo/many.py", &format!("def f(x):\n{}", "    print(x, len(x), 'len')\n".repeat(15_000)));
    ok(&user.ctl(&["index", "--wait"]));
    let asked = std::time::Instant::now();
    let calls = ok(&user.ctl(&["grep", "len", "--call", "--all"]));
    assert_eq!(calls.lines().count(), 15_000);
    assert_eq!(ok(&user.ctl(&["grep", "'len'", "--string", "--count"])), "many.py:15000\n");
    assert!(asked.elapsed() < std::time::Duration::from_secs(20), "{:?}", asked.elapsed());
}
