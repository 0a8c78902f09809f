//! The neighbourhood of a definition that the text names.

use crate::support::{pack, with_seeds};
use indexd_oracle::Oracle;
use indexd_pack::pack::Pack;
use serde_json::json;

/// `Bell.Ring` with callers in as many packages as `n_packages`, three in each, and tests near and far.
fn bells(n_packages: usize) -> Oracle {
    let mut files = vec![
        ("go.mod".to_owned(), "module m\n".to_owned()),
        ("bell/bell.go".to_owned(), "package bell\n\ntype Bell struct{}\n\nfunc (b *Bell) Ring() {}\n".to_owned()),
        (
            "bell/bell_test.go".to_owned(),
            "package bell\n\nimport \"testing\"\n\nfunc TestRing(t *testing.T) {\n\tnew(Bell).Ring()\n}\n".to_owned(),
        ),
        (
            "alarm/alarm_test.go".to_owned(),
            "package alarm\n\nimport (\n\t\"testing\"\n\t\"m/bell\"\n)\n\nfunc TestAlarm(t *testing.T) {\n\tnew(bell.Bell).Ring()\n}\n".to_owned(),
        ),
    ];
    for i in 0..n_packages {
        let mut text = format!("package p{i}\n\nimport \"m/bell\"\n");
        for j in 0..3 {
            let work: String = (0..30).map(|k| format!("\twork(\"{i} {j} {k}\")\n")).collect();
            text += &format!("\nfunc Visit{i}x{j}(b *bell.Bell) {{\n{work}\tb.Ring()\n}}\n");
        }
        files.push((format!("p{i}/p.go"), text));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(p, t)| (&**p, &**t)).collect();
    Oracle::of(&files)
}

/// Lines of each caller that are shown, by path, in the order of the pack.
fn callers(pack: &Pack) -> Vec<(String, usize)> {
    let calls = pack.items().filter(|i| i.title.contains("Visit"));
    calls.map(|i| (i.path().to_owned(), i.excerpt.text.lines().count())).collect()
}

#[test]
fn callers_of_what_is_named_are_shown_by_their_calls_from_many_files() {
    let view = bells(12);
    for query in ["Bell.Ring", "who rings Bell.Ring?"] {
        let pack = pack(&view, json!({"query": query, "budgets": {"maxTotalTokens": 2000}}));
        let callers = callers(&pack);
        let by_their_call = callers.iter().filter(|c| c.1 <= 3).count();
        assert!(by_their_call >= 12, "{query}: {callers:?}");
        let mut files: Vec<&String> = callers.iter().map(|c| &c.0).collect();
        files.sort();
        files.dedup();
        assert!(files.len() >= 10, "{query}: {callers:?}");
    }
}

#[test]
fn a_test_beside_what_is_named_comes_before_one_elsewhere() {
    let budgets = json!({"maxTotalTokens": 2000, "maxItemsPerSection": 1});
    let pack = pack(&bells(1), json!({"query": "Bell.Ring", "budgets": budgets}));
    let tests: Vec<&str> =
        pack.items().filter(|i| i.path().ends_with("_test.go")).map(|i| i.path()).collect();
    assert_eq!(tests, ["bell/bell_test.go"]);
}

#[test]
fn a_module_that_is_used_is_not_shown_by_its_first_line() {
    let tools = "import os\n\n\ndef cut(text):\n    return text[1:]\n";
    let needle = "from a import tools\n\n\ndef needle(text):\n    return tools.cut(text)\n";
    let view = Oracle::of(&[("a/__init__.py", ""), ("a/tools.py", tools), ("a/needle.py", needle)]);
    // Room for the needle and one head, which the module, being used as often, would take by its path.
    let request = json!({"query": "needle", "seedMode": "code", "budgets": {"maxTotalTokens": 60}});
    let pack = pack(&view, request);
    let titles: Vec<&str> = pack.items().map(|i| &*i.title).collect();
    assert!(titles.contains(&"def cut(text):") && !titles.contains(&"import os"), "{titles:?}");
}

/// Who is shown besides the one hit, by title, and whether as a possible call.
fn dispatched(view: &Oracle, query: &str) -> Vec<(String, bool)> {
    let pack = with_seeds(view, json!({"query": query, "budgets": {"maxTotalTokens": 2000}}), 1);
    pack.items().map(|i| (i.title.clone(), i.why.also.iter().any(|a| a == "dispatch"))).collect()
}

#[test]
fn what_calls_through_an_interface_or_a_base_is_shown_as_a_possible_call() {
    let shapes = "package m\n\ntype Shape interface {\n\tArea() int\n}\n\ntype Square struct{ side int }\n\nfunc (s Square) Area() int { return s.side }\n\ntype Disc struct{ r int }\n\nfunc (d Disc) Area() int { return d.r }\n";
    let total = "package m\n\nfunc Total(all []Shape) (n int) {\n\tfor _, s := range all {\n\t\tn += s.Area()\n\t}\n\treturn n\n}\n";
    let go = Oracle::of(&[("go.mod", "module m\n"), ("shapes.go", shapes), ("total.go", total)]);
    let jobs = "class Job:\n    def run(self):\n        raise NotImplementedError\n\n\nclass Copy(Job):\n    def run(self):\n        return 1\n";
    let work = "from jobs import Job\n\n\ndef work(job: Job):\n    return job.run()\n";
    let python = Oracle::of(&[("jobs.py", jobs), ("work.py", work)]);
    for (view, query, title, is_dispatch) in [
        (&go, "Square.Area", "func Total(all []Shape) (n int)", true),
        (&go, "Shape.Area", "func Total(all []Shape) (n int)", false),
        (&go, "Shape.Area", "func (d Disc) Area() int", false),
        (&go, "Shape", "type Disc struct", false),
        (&python, "Copy.run", "def work(job: Job):", true),
        (&python, "Job.run", "def run(self):", false),
    ] {
        let shown = dispatched(view, query);
        assert!(shown.contains(&(title.to_owned(), is_dispatch)), "{query}: {title} in {shown:?}");
    }
}

#[test]
fn what_the_text_quotes_is_shown_wherever_it_stands() {
    let rows: String = (0..90)
        .map(|i| {
            format!("def cellar_{i}(turnip):\n    \"\"\"No such turnip, {i}.\"\"\"\n    return turnip\n\n\n")
        })
        .collect();
    let message = "no such turnip in the cellar";
    let holder = format!("def fetch(name):\n    raise KeyError(\"{message}\")\n");
    for path in ["vendor/roots/fetch.py", "tests/test_fetch.py", "src/fetch.py"] {
        let view = Oracle::of(&[("cellar/turnip.py", &rows), (path, &holder)]);
        for tokens in [300, 2000] {
            let request = json!({"query": format!("\"{message}\""), "budgets": {"maxTotalTokens": tokens}});
            let pack = pack(&view, request);
            let shows = pack.items().any(|i| i.path() == path && i.excerpt.text.contains(message));
            assert!(shows, "{path} in {tokens} tokens");
        }
    }
}

#[test]
fn beside_a_name_nothing_is_shown_that_is_only_called_alike() {
    let store = "package store\n\ntype Store struct{}\n\nfunc (s *Store) Close() { release() }\n\nfunc release() {}\n";
    let alike = "package door\n\n// Close closes the store door.\nfunc closeStoreDoor() {}\n";
    let user = "package user\n\nimport \"m/store\"\n\nfunc Leave(s *store.Store) { s.Close() }\n";
    let files = [("go.mod", "module m\n"), ("store/s.go", store), ("door/d.go", alike), ("user/u.go", user)];
    let view = Oracle::of(&files);
    let titles = |query: &str| -> Vec<String> {
        let pack = pack(&view, json!({"query": query}));
        pack.items().map(|i| i.title.clone()).collect()
    };
    let has = |titles: &[String], what: &str| titles.iter().any(|t| t.contains(what));
    for query in ["Store.Close", "store.Store.Close", "Store Close"] {
        let got = titles(query);
        for connected in ["Close()", "Leave", "release"] {
            assert!(has(&got, connected), "{query}: {got:?}");
        }
        assert!(!has(&got, "closeStoreDoor"), "{query}: {got:?}");
    }
    // Words beside the name ask for more than it.
    for query in ["why does Store.Close leave the door open", "Store.Close door"] {
        let got = titles(query);
        assert!(has(&got, "closeStoreDoor"), "{query}: {got:?}");
    }
}

#[test]
fn a_type_that_is_shown_by_its_head_gains_the_members_that_shown_code_uses() {
    let fields: String = (0..40).map(|i| format!("\tspare{i} int\n")).collect();
    let tank = format!(
        "package a\n\ntype Tank struct {{\n{fields}\tlevel int\n}}\n\nfunc (t *Tank) Fill() {{ t.level++ }}\n"
    );
    let view = Oracle::of(&[("go.mod", "module m\n"), ("a/tank.go", &tank)]);
    let pack = pack(&view, json!({"query": "Tank.Fill", "budgets": {"maxTotalTokens": 80}}));
    assert!(pack.rendered.contains("type Tank struct"), "{}", pack.rendered);
    assert!(pack.rendered.contains("level int"), "{}", pack.rendered);
    assert!(!pack.rendered.contains("spare20"), "{}", pack.rendered);
}

#[test]
fn a_module_that_imports_is_shown_by_the_line_of_the_import() {
    let helpers = "def lend():\n    return 1\n";
    let others: String = (0..60).map(|i| format!("import other{i}\n")).collect();
    let user = format!("{others}from helpers import lend\n\n\ndef pay():\n    return lend()\n");
    let view = Oracle::of(&[("helpers.py", helpers), ("user.py", &user)]);
    let pack = pack(&view, json!({"query": "helpers.lend", "budgets": {"maxTotalTokens": 250}}));
    let lines: Vec<&str> =
        pack.items().filter(|i| i.path() == "user.py").flat_map(|i| i.excerpt.text.lines()).collect();
    assert!(lines.contains(&"from helpers import lend"), "{lines:?}");
    assert!(!lines.contains(&"import other3"), "{lines:?}");
}

/// A pack of a field or a constant has its line and its users, not the rest of a long type or list.
#[test]
fn a_named_member_is_shown_by_its_line_and_its_uses() {
    let go_fields: String = (0..30).map(|i| format!("\tspare{i} int\n")).collect();
    let go = format!(
        "package a\n\ntype Tank struct {{\n{go_fields}\tlevel int\n}}\n\nfunc (t *Tank) Fill() {{ t.level++ }}\n\nfunc (t *Tank) Empty() {{ t.spare1 = 0 }}\n"
    );
    let modes: String = (0..30).map(|i| format!("\tModeSpare{i}\n")).collect();
    let modes = format!(
        "package a\n\nconst (\n\tModeFirst = iota\n{modes}\tModeLast\n)\n\nfunc Ends(m int) bool {{ return m == ModeLast }}\n\nfunc Starts(m int) bool {{ return m == ModeFirst }}\n"
    );
    let c_fields: String = (0..30).map(|i| format!("\tint spare{i};\n")).collect();
    let c = format!(
        "struct tank {{\n{c_fields}\tint level;\n}};\n\nvoid fill(struct tank *t) {{ t->level++; }}\n\nvoid empty(struct tank *t) {{ t->spare1 = 0; }}\n"
    );
    let methods: String =
        (0..6).map(|i| format!("    def set_{i}(self):\n        self.level = {i}\n\n")).collect();
    let python = format!(
        "class Tank:\n    def __init__(self):\n        self.level = 0\n        self.spare = 1\n\n{methods}\n\ndef fill(tank: Tank):\n    return tank.level\n\n\ndef empty(tank: Tank):\n    return tank.spare\n"
    );
    let java_fields: String = (0..30).map(|i| format!("  static final int SPARE{i} = {i};\n")).collect();
    let java = format!(
        "class Tank {{\n{java_fields}  static final int LEVEL = 1;\n}}\n\nclass User {{\n  int fill() {{ return Tank.LEVEL; }}\n\n  int empty() {{ return Tank.SPARE1; }}\n}}\n"
    );
    for (path, text, query, shown, left_out) in [
        (
            "a/tank.go",
            &go,
            "Tank.level",
            ["type Tank struct", "level int", "t.level++"],
            ["spare20", "t.spare1"],
        ),
        (
            "a/modes.go",
            &modes,
            "ModeLast",
            ["ModeLast", "func Ends", "m == ModeLast"],
            ["ModeSpare20", "Starts"],
        ),
        ("tank.c", &c, "tank.level", ["struct tank {", "int level", "t->level++"], ["spare20", "t->spare1"]),
        (
            "tank.py",
            &python,
            "Tank.level",
            ["self.level = 0", "def fill", "tank.level"],
            ["tank.spare", "def empty"],
        ),
        (
            "Tank.java",
            &java,
            "Tank.LEVEL",
            ["class Tank", "int LEVEL = 1", "Tank.LEVEL"],
            ["SPARE20", "Tank.SPARE1"],
        ),
    ] {
        let view = Oracle::of(&[("go.mod", "module m\n"), (path, text)]);
        let pack = pack(&view, json!({"query": query, "budgets": {"stop": "value"}}));
        for line in shown {
            assert!(pack.rendered.contains(line), "{path}: {line}\n{}", pack.rendered);
        }
        for line in left_out {
            assert!(!pack.rendered.contains(line), "{path}: {line}\n{}", pack.rendered);
        }
    }
}

/// Two definitions begin on one line, which belongs to the unit of the first: the second one's begins below the
/// line of its name.
#[test]
fn a_unit_may_begin_below_the_line_of_its_name() {
    let text = "var proto = module.exports = function(options) {\n  options = options || {};\n\n  function router(req, res) {\n    router.handle(req, res);\n  }\n";
    let view = Oracle::of(&[("index.js", text)]);
    let pack = pack(&view, json!({"query": "request parse"}));
    assert!(pack.rendered.contains("router.handle(req, res)"), "{}", pack.rendered);
}

#[test]
fn a_function_within_another_comes_with_what_it_calls_itself() {
    let help =
        "export function alpha(n) {\n  return n + 1;\n}\n\nexport function beta(n) {\n  return n + 2;\n}\n";
    let filler: String = (0..20).map(|i| format!("  const spare{i} = {i};\n")).collect();
    let outer = format!(
        "import {{ alpha, beta }} from './help';\n\nexport function outer(n) {{\n  function first() {{\n    return alpha(n);\n  }}\n\
         {filler}  function second() {{\n    return beta(n);\n  }}\n  return first() + second();\n}}\n"
    );
    let view = Oracle::of(&[("help.js", help), ("outer.js", &outer)]);
    let titles = |query: &str| -> Vec<String> {
        let request = json!({"query": query, "budgets": {"stop": "value"}});
        pack(&view, request).items().map(|i| i.title.clone()).collect()
    };
    let has = |titles: &[String], what: &str| titles.iter().any(|t| t.contains(what));
    let got = titles("outer.second");
    assert!(has(&got, "beta(n)") && !has(&got, "alpha(n)"), "{got:?}");
    let got = titles("outer");
    assert!(has(&got, "alpha(n)") && has(&got, "beta(n)"), "{got:?}");
}

#[test]
fn a_function_within_another_comes_with_what_stands_beside_it() {
    let filler = |n: usize| -> String { (0..20).map(|i| format!("  const spare{n}_{i} = {i};\n")).collect() };
    let outer = format!(
        "export function outer(n) {{\n  function first() {{\n    return second(n) + 1;\n  }}\n{}  function second(m) {{\n    return third(m);\n  }}\n\
         {}  function third(m) {{\n    return m;\n  }}\n{}  return first() + second(2);\n}}\n",
        filler(0),
        filler(1),
        filler(2)
    );
    let view = Oracle::of(&[("outer.js", &outer)]);
    let pack = pack(&view, json!({"query": "outer.second", "budgets": {"stop": "value"}}));
    for line in ["return second(n) + 1;", "return first() + second(2);", "function third(m) {"] {
        assert!(pack.rendered.contains(line), "{line}\n{}", pack.rendered);
    }
    assert!(!pack.rendered.contains("spare1_9"), "{}", pack.rendered);
}

#[test]
fn callers_with_the_same_text_are_both_shown() {
    let file = |name: &str| {
        format!(
            "use crate::help::help_once;\n\npub struct {name};\n\nimpl {name} {{\n    pub fn accept(&self) -> u32 {{\n        help_once(1)\n    }}\n}}\n"
        )
    };
    let (one, two) = (file("One"), file("Two"));
    let view = Oracle::of(&[
        ("Cargo.toml", "[package]\nname = \"m\"\n"),
        ("src/lib.rs", "mod help;\nmod one;\nmod two;\n"),
        ("src/help.rs", "pub fn help_once(n: u32) -> u32 {\n    n\n}\n"),
        ("src/one.rs", &one),
        ("src/two.rs", &two),
    ]);
    let pack = pack(&view, json!({"query": "help_once", "budgets": {"stop": "value"}}));
    let callers: Vec<&str> = pack.items().filter(|i| i.title.contains("accept")).map(|i| i.path()).collect();
    assert_eq!(callers, ["src/one.rs", "src/two.rs"], "{}", pack.rendered);
}
