//! Questions about the graph, answered from a tree in memory.

use indexd::server::backend::Cancel;
use indexd::server::graph::{Relation, walk};
use indexd_oracle::Oracle;
use indexd_proto::graph::GraphParams;

/// The edges of an answer, `depth kind source -> target @line`, and its statement.
fn ask(tree: &[(&str, &str)], relation: Relation, symbol: &str, depth: u32) -> (Vec<String>, String) {
    let params = GraphParams { symbol: symbol.to_owned(), depth: Some(depth), ..GraphParams::default() };
    let found = walk(&Oracle::of(tree), relation, &params, &Cancel::default()).unwrap();
    let name = |s: &indexd_proto::search::Symbol| match s.qualified_name.as_str() {
        "" => s.name.clone(),
        name => name.to_owned(),
    };
    let edges = found.edges.iter().map(|e| {
        format!("{} {} {} -> {} @{}", e.depth, e.kind, name(&e.source), name(&e.target), e.evidence[0].line)
    });
    (edges.collect(), found.coverage.statement)
}

fn check(tree: &[(&str, &str)], relation: Relation, symbol: &str, want: &[&str]) {
    assert_eq!(ask(tree, relation, symbol, 3).0, want, "{} of {symbol}", relation.name());
}

const GO: [(&str, &str); 2] = [
    ("p/a.go", "package p\n\nvar Count int\n\nfunc Set(n int) {\n\tCount = n\n}\n"),
    ("p/b.go", "package p\n\nfunc Get() int {\n\treturn Count\n}\n\nfunc main() {\n\tSet(Get())\n}\n"),
];

#[test]
fn impact_follows_what_is_written_to_those_who_read_it() {
    check(
        &GO,
        Relation::Impact,
        "Set",
        &[
            "1 call main -> Set @8",
            "1 dataflow Set -> Count @6",
            "2 usage Set -> Count @6",
            "2 usage Get -> Count @4",
            "3 call main -> Get @8",
        ],
    );
    let python = [
        (
            "m.py",
            "class C:\n    def __init__(self):\n        self.n = 0\n\n    def set(self, n):\n        self.n = n\n",
        ),
        ("u.py", "from m import C\n\n\ndef show(c: C):\n    return c.n\n"),
    ];
    check(&python, Relation::Impact, "C.set", &["1 dataflow C.set -> C.n @6", "2 usage show -> C.n @5"]);
}

#[test]
fn around_it_stand_those_who_use_it_and_what_it_uses() {
    let test =
        ("p/b_test.go", "package p\n\nimport \"testing\"\n\nfunc TestGet(t *testing.T) {\n\tGet()\n}\n");
    let tree = [GO[0], GO[1], test];
    let near = ask(&tree, Relation::Around, "Get", 1).0;
    assert_eq!(near, ["1 usage Get -> Count @4", "1 call main -> Get @8", "1 call TestGet -> Get @6"]);
    let far = ask(&tree, Relation::Around, "Get", 2).0;
    assert_eq!(far[..3], near[..]);
    assert_eq!(far[3..], ["2 usage Set -> Count @6", "2 call main -> Set @8"], "each edge once");
    let params = GraphParams { symbol: "Get".to_owned(), limit: Some(2), ..GraphParams::default() };
    let cut = walk(&Oracle::of(&tree), Relation::Around, &params, &Cancel::default()).unwrap();
    let is_used = |e: &indexd_proto::graph::GraphEdge| e.target.name == "Get";
    assert!(cut.bounded && cut.edges.iter().any(is_used) && !cut.edges.iter().all(is_used), "cut alike");
    assert!(cut.edges.iter().all(|e| !e.target.test));
}

#[test]
fn a_file_is_asked_about_with_all_that_it_defines() {
    check(&GO, Relation::Callers, "p/a.go", &["1 call main -> Set @8"]);
    let refs = ask(&GO, Relation::Refs, "p/a.go", 1).0;
    assert_eq!(refs, ["1 usage Get -> Count @4", "1 call main -> Set @8"]);
    check(&GO, Relation::Callees, "p/a.go", &[]);
    let cancel = Cancel::default();
    for line in ["0", "8", "99999"] {
        let params = GraphParams { symbol: format!("p/a.go:{line}"), ..GraphParams::default() };
        let error = walk(&Oracle::of(&GO), Relation::Refs, &params, &cancel).unwrap_err();
        assert_eq!(error.data.code.name(), "POC_E_SYMBOL_NOT_FOUND", "{line}");
    }
}

#[test]
fn none_is_said_together_with_what_may_be_missing() {
    let tree = [
        (
            "m.py",
            "def used(): ...\n\n\ndef go(x):\n    x.used()\n    used_elsewhere()\n    print(x)\n    go(x)\n",
        ),
        ("broken.py", "def (:\n  x.used(\n"),
        ("n.go", "package n\n"),
    ];
    let statement = |relation, symbol| ask(&tree, relation, symbol, 1);
    assert_eq!(
        statement(Relation::Callers, "used"),
        (
            vec![],
            "no callers; 1 possible by name (values of unknown type, not found); 1 where it is not a call; \
             1 file with the name has syntax errors"
                .into()
        )
    );
    assert_eq!(
        statement(Relation::Callees, "go"),
        (
            vec!["1 call go -> go @8".into()],
            "1 callee; 3 calls inside have no edge (1 builtin, 1 not-found, 1 unknown-receiver)".into()
        )
    );
    assert_eq!(statement(Relation::Refs, "m.py").1, "no uses", "a file has no name that a use could have");
}

#[test]
fn an_answer_says_how_far_uses_are_followed() {
    let tree = [
        ("a.ts", "import { used } from './b';\n\nfunction caller(x) {\n  used();\n  x.used();\n}\n"),
        ("b.ts", "export function used() {}\n"),
        ("c.kt", "fun lonely() {}\n\nfun other(x: X) {\n    lonely()\n    x.lonely()\n}\n"),
        ("d.cs", "class C {\n    void Other() { Alone(); }\n    void Alone() {}\n}\n"),
    ];
    assert_eq!(
        ask(&tree, Relation::Callers, "used", 1),
        (
            vec!["1 call caller -> used @4".into()],
            "1 caller; 1 possible by name (values of unknown type)".into()
        )
    );
    assert_eq!(
        ask(&tree, Relation::Callers, "lonely", 1),
        (
            vec!["1 call other -> lonely @4".into()],
            "1 caller; 1 possible by name (values of unknown type); \
             within files and through imports, calls on values are not resolved"
                .into()
        )
    );
    assert_eq!(
        ask(&tree, Relation::Callers, "Alone", 1).1,
        "no callers; the name also stands in d.cs:2 (not followed); \
         uses of names in this language are not followed"
    );
}

/// "None" must not hide a caller that stands where the parser gave up.
#[test]
fn names_in_source_that_was_not_understood_are_counted() {
    let many = "var x = 1\n".repeat(indexd_model::limits::DEFS_PER_FILE_MAX + 1);
    let tree = [
        (
            "a.go",
            "package a\n\nfunc used() {}\n\nfunc b() {\n\tif x {\n\t\tused() // used\n}\n\nfunc c() {}\n",
        ),
        ("many.go", &format!("package a\n\n{many}var y = used()\n")),
    ];
    assert_eq!(
        ask(&tree, Relation::Callers, "used", 1),
        (
            vec![],
            "no callers; 2 possible by name (in code that was not understood); \
             1 file with the name has syntax errors"
                .into()
        )
    );
}

/// A file that imports a name depends on it; whoever imports that file for something else does not.
#[test]
fn impact_stops_at_files() {
    check(
        &[
            ("a.py", "def slug(): ...\n"),
            ("b.py", "from a import slug\n\n\ndef other(): ...\n\n\ndef title():\n    return slug()\n"),
            (
                "c.py",
                "from b import other, title\n\n\ndef show():\n    other()\n\n\ndef head():\n    title()\n",
            ),
        ],
        Relation::Impact,
        "slug",
        &[
            "1 import b.py -> slug @1",
            "1 call title -> slug @8",
            "2 import c.py -> title @1",
            "2 call head -> title @9",
        ],
    );
}

/// A name may be given with as much of its package or module in front as tells it apart.
#[test]
fn names_are_found_with_their_package() {
    let tree = [
        ("net/web/c.go", "package web\n\ntype C struct{}\n\nfunc (C) Do() {}\n\nfunc use() { C{}.Do() }\n"),
        ("web/c.go", "package web\n\ntype C struct{}\n\nfunc (C) Do() {}\n"),
    ];
    for name in ["net/web.C.Do", "net.web.C#Do", "net/web/c.go:5"] {
        check(&tree, Relation::Callers, name, &["1 call use -> C.Do @7"]);
    }
}

#[test]
fn what_the_language_calls_is_not_said_to_be_called_by_nobody() {
    let tree = [
        (
            "r.py",
            "class Res:\n    def __init__(self, n): ...\n    def __enter__(self): ...\n\ndef make():\n    return Res(1)\n",
        ),
        (
            "p.cpp",
            "struct Pool {\n  Pool(int a);\n  ~Pool();\n  Pool operator+(Pool b);\n};\nPool *make_pool() { return new Pool(1); }\n",
        ),
        ("d.rs", "struct Guard;\nimpl Drop for Guard {\n    fn drop(&mut self) {}\n}\n"),
    ];
    let calls = |symbol: &str| ask(&tree, Relation::Callers, symbol, 1);
    assert_eq!(calls("Res.__init__").0, ["1 call make -> Res.__init__ @6"]);
    assert_eq!(calls("r.py:2").0, ["1 call make -> Res.__init__ @6"]);
    assert_eq!(calls("p.cpp:2").0, ["1 call make_pool -> Pool.Pool @6"]);
    for (symbol, by) in [
        ("Res.__init__", "calls of its type"),
        ("Res.__enter__", "`with`"),
        ("p.cpp:3", "the end of a value"),
        ("p.cpp:4", "operators and statements"),
        ("Guard.drop", "the end of a value"),
    ] {
        let statement = calls(symbol).1;
        assert!(statement.contains(&format!("; called by {by} as well")), "{symbol}: {statement}");
    }
    assert!(!calls("make").1.contains("called by"));
}

/// A text on one line is not read once for each place on it.
#[test]
fn a_name_that_is_very_often_on_one_line_is_counted_at_once() {
    let many = format!("#define MANY {}0\n", "g() + ".repeat(200_000));
    let tree = [("a.h", many.as_str()), ("a.c", "int g(void) { return 0; }\n")];
    let begun = std::time::Instant::now();
    let (edges, said) = ask(&tree, Relation::Callers, "g", 1);
    assert!(edges.is_empty() && said.contains("200000 possible by name"), "{said}");
    assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
}
