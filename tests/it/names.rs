//! Answers about names: no definition is dropped in silence, and "none" is said only after a look at the text.

use indexd::server::backend::Cancel;
use indexd::server::graph::{Relation, walk};
use indexd_oracle::Oracle;
use indexd_proto::graph::{EdgeWord, GraphParams, GraphResult as Walk};

fn ask(tree: &[(&str, &str)], relation: Relation, symbol: &str) -> Walk {
    let params = GraphParams { symbol: symbol.to_owned(), ..GraphParams::default() };
    walk(&Oracle::of(tree), relation, &params, &Cancel::default()).unwrap()
}

/// `kind source @line` of each edge.
fn edges(walk: &Walk) -> Vec<String> {
    let name = |e: &indexd_proto::graph::GraphEdge| match e.source.qualified_name.as_str() {
        "" => e.source.name.clone(),
        name => name.to_owned(),
    };
    walk.edges.iter().map(|e| format!("{} {} @{}", e.kind, name(e), e.evidence[0].line)).collect()
}

/// The places without an edge, `path:line reason`.
fn open(walk: &Walk) -> Vec<String> {
    let place =
        |p: &indexd_proto::graph::UnresolvedPlace| format!("{}:{} {}", p.file_rel_path, p.line, p.reason);
    walk.coverage.unresolved_examples.iter().map(place).collect()
}

fn check_open(tree: &[(&str, &str)], symbol: &str, want: &[&str]) {
    let found = ask(tree, Relation::Refs, symbol);
    let got = open(&found);
    for place in want {
        assert!(
            got.iter().any(|p| p.starts_with(place)),
            "{symbol}: {place} is not among {got:?}, {:?}",
            edges(&found)
        );
    }
    let said = &found.coverage.statement;
    assert!(!said.contains("is resolved"), "{said}");
}

#[test]
fn every_definition_of_a_name_takes_part() {
    let mut files: Vec<(String, String)> =
        (1..=22).map(|i| (format!("ex{i:02}.py"), "def fn(): return 1\n".to_owned())).collect();
    files.push(("z.py".to_owned(), "def fn(): return 1\n\n\ndef run(): return fn()\n".to_owned()));
    let tree: Vec<(&str, &str)> = files.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect();
    for relation in [Relation::Callers, Relation::Refs, Relation::Impact] {
        let found = ask(&tree, relation, "fn");
        assert_eq!(edges(&found), ["call run @4"], "{}", relation.name());
        assert_eq!((found.n_roots, found.roots.len(), found.n_edges), (23, 20, 1));
        // The one that is used comes first.
        assert_eq!(found.roots[0].file_rel_path, "z.py");
    }
    let all = GraphParams { symbol: "fn".to_owned(), all: true, ..GraphParams::default() };
    let found = walk(&Oracle::of(&tree), Relation::Callers, &all, &Cancel::default()).unwrap();
    assert_eq!(found.roots.len(), 23);

    let mut files: Vec<(String, String)> = (1..=22)
        .map(|i| {
            (format!("p/f{i:02}.go"), format!("package p\n\ntype T{i} int\n\nfunc (T{i}) Close() {{}}\n"))
        })
        .collect();
    files.push(("p/z.go".to_owned(), "package p\n\nfunc end(t T22) { t.Close() }\n".to_owned()));
    let tree: Vec<(&str, &str)> = files.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect();
    assert_eq!(edges(&ask(&tree, Relation::Callers, "Close")), ["call end @3"]);
}

#[test]
fn a_cut_list_says_how_many_there_are() {
    let calls: String = (1..=5).map(|i| format!("def c{i}(): fn()\n")).collect();
    let tree = [("a.py", format!("def fn(): ...\n{calls}"))];
    let tree: Vec<(&str, &str)> = tree.iter().map(|(p, t)| (*p, t.as_str())).collect();
    let params = GraphParams { symbol: "fn".to_owned(), limit: Some(2), ..GraphParams::default() };
    let found = walk(&Oracle::of(&tree), Relation::Callers, &params, &Cancel::default()).unwrap();
    assert_eq!((found.edges.len(), found.n_edges, found.bounded), (2, 5, true));
    assert!(found.coverage.statement.starts_with("5 callers"), "{}", found.coverage.statement);
}

#[test]
fn tests_docs_and_generated_files_come_behind() {
    let tree = [
        ("docs/conf.py", "def run(): ...\n"),
        ("src/run.py", "def run(): ...\n"),
        ("tests/test_run.py", "def run(): ...\n\n\ndef test_it():\n    run()\n    run()\n"),
    ];
    let found = ask(&tree, Relation::Callers, "run");
    assert_eq!(found.roots[0].file_rel_path, "src/run.py");
}

/// Files whose language is not followed.
#[test]
fn a_name_in_a_file_that_is_not_followed_is_said() {
    let util = ("util.js", "export function copyText(s) { return s }\n");
    for (path, text, line) in [
        ("A.vue", "<script setup>import {copyText} from './util'; copyText('a')</script>\n", 1),
        ("A.svelte", "<script>\nimport {copyText} from './util'\n</script>\n", 2),
        ("a.ipynb", "{\"cells\": [{\"source\": [\"copyText(1)\"]}]}\n", 1),
        ("a.astro", "---\ncopyText('a')\n---\n", 2),
        ("a.mdx", "# Copy\n\n<B onClick={copyText} />\n", 3),
        ("a.html", "<a onclick=\"copyText('a')\">\n", 1),
        ("v.erb", "<%= copyText('a') %>\n", 1),
        ("v.jsp", "<% copyText(\"a\"); %>\n", 1),
        ("v.xml", "<Button android:onClick=\"copyText\"/>\n", 1),
        ("v.tmpl", "{{ copyText . }}\n", 1),
        ("v.pyx", "copyText('a')\n", 1),
    ] {
        let found = ask(&[util, (path, text)], Relation::Callers, "copyText");
        let said = &found.coverage.statement;
        let is_edge = found.edges.iter().any(|e| e.source.file_rel_path == path);
        let is_said = open(&found).iter().any(|p| p.starts_with(&format!("{path}:{line} ")));
        assert!(is_edge || is_said && !said.contains("is resolved"), "{path}: {said} {:?}", open(&found));
    }
}

#[test]
fn prose_and_comments_are_no_uses() {
    let tree = [
        ("README.md", "Call `copyText`.\n"),
        ("CHANGES.txt", "copyText is new\n"),
        ("util.js", "// copyText copies\nexport function copyText(s) { return s }\n"),
        ("m.py", "# copyText\nx = 1\n"),
        ("n.go", "package n\n\n/* copyText */\n"),
    ];
    let found = ask(&tree, Relation::Callers, "copyText");
    assert!(open(&found).is_empty(), "{:?}", open(&found));
    assert!(
        found
            .coverage
            .statement
            .starts_with("no callers; every use of the name copyText in code of the project is resolved"),
        "{}",
        found.coverage.statement
    );
}

#[test]
fn locals_of_the_same_name_are_no_uses() {
    for (path, text) in [
        ("a.py", "def size(): return 1\n\n\ndef f(size):\n    return size + 1\n"),
        ("a.go", "package a\n\nfunc size() int { return 1 }\n\nfunc f(size int) int { return size + 1 }\n"),
        ("a.ts", "function size() { return 1 }\nfunction f(size) { return size + 1 }\n"),
    ] {
        let found = ask(&[(path, text)], Relation::Callers, "size");
        assert!(open(&found).is_empty(), "{path}: {:?}", open(&found));
    }
}

#[test]
fn names_of_one_letter_and_odd_ones_are_looked_for() {
    check_open(
        &[("a.py", "def q(): return 1\n\n\ndef use(x): return x.q()\n")],
        "q",
        &["a.py:4 unknown-receiver"],
    );
    check_open(
        &[("a.py", "def é(): return 1\n\n\ndef use(x): return x.é()\n")],
        "é",
        &["a.py:4 unknown-receiver"],
    );
    let go = "package a\n\nfunc f(x T) { x.Q() }\n\ntype U int\n\nfunc (U) Q() {}\n";
    check_open(&[("a.go", go)], "Q", &["a.go:3 "]);
}

/// Text of a language that is followed which no fact tells of.
#[test]
fn bodies_of_macros_are_looked_at() {
    let c = "int helper(int x) { return x; }\n#define CALL(x) helper(x)\n";
    for file in ["a.c", "a.cpp"] {
        assert_eq!(edges(&ask(&[(file, c)], Relation::Refs, "helper")), ["usage CALL @2"], "{file}");
    }
    let rust = "fn helper(x: u32) -> u32 { x }\nmacro_rules! call { ($x:expr) => { helper($x) }; }\n";
    check_open(&[("a.rs", rust)], "helper", &["a.rs:2 not-followed"]);
}

#[test]
fn names_as_words_and_strings_are_said() {
    let sh = ["f() { :; }\ntrap f EXIT\n", "f() { :; }\ntrap 'f x' ERR\n"].map(|text| ("a.sh", text, "f"));
    let php = ("a.php", "<?php\nfunction cmp($a, $b) { return 0; }\nusort($x, 'cmp');\n", "cmp");
    for (path, text, name) in sh.into_iter().chain([php]) {
        let found = ask(&[(path, text)], Relation::Refs, name);
        assert!(found.n_edges == 1 || open(&found).len() == 1, "{text}: {}", found.coverage.statement);
    }
    let py = "def handler(): ...\n\n\nTABLE = {'x': 'handler'}\n";
    check_open(&[("a.py", py)], "handler", &["a.py:4 string"]);
}

/// What is not a definition that a linker follows may still be used.
#[test]
fn fields_by_name_are_said() {
    for (path, text, name) in [
        ("a.c", "struct cfg { int retries; };\nint f(struct cfg *p) { return p->retries; }\n", "retries"),
        ("a.rs", "struct Cfg { depth: u32 }\nfn f(c: X) { let Cfg { depth, .. } = c; }\n", "depth"),
        ("a.kt", "class K { val BASE = 1 }\nfun f(k: K) = \"$BASE/path\"\n", "BASE"),
    ] {
        let found = ask(&[(path, text)], Relation::Refs, name);
        let said = &found.coverage.statement;
        assert!(!found.edges.is_empty() || !said.contains("is resolved"), "{path}: {said}");
    }
}

#[test]
fn what_could_be_a_use_comes_before_what_is_external() {
    let mut py = String::from("import os\n\n\ndef close(): ...\n\n\ndef f(x):\n");
    py += &"    os.close(1)\n".repeat(12);
    py += "    x.close()\n    y = x.close\n";
    let found = ask(&[("a.py", &py)], Relation::Callers, "close");
    let places = open(&found);
    assert_eq!(places[0], "a.py:20 unknown-receiver", "{places:?}");
    assert!(places.iter().skip(2).all(|p| p.ends_with("external")), "{places:?}");
    let said = &found.coverage.statement;
    assert!(
        said.starts_with(
            "no callers; 1 possible by name (values of unknown type); 1 where it is not a call; 12 outside the project"
        ),
        "{said}"
    );
}

/// A function that is passed on is called by whoever gets it.
#[test]
fn uses_by_value_are_callers() {
    for (path, text, name, line) in [
        (
            "a.py",
            "class S:\n    def purge(self): ...\n\n\ndef later(pool, s: S): return pool.submit(s.purge)\n",
            "purge",
            5,
        ),
        ("a.go", "package a\n\nfunc h() {}\n\nfunc later(r R) { r.HandleFunc(\"/\", h) }\n", "h", 5),
        ("a.ts", "function go() {}\nexport function later(el) { el.on('x', go) }\n", "go", 2),
        ("a.rs", "fn go(x: u32) -> u32 { x }\nfn later(v: V) { v.map(go); }\n", "go", 2),
        ("a.c", "void cb(void) {}\nvoid later(void) { reg(cb); }\n", "cb", 2),
    ] {
        let found = ask(&[(path, text)], Relation::Callers, name);
        let got: Vec<_> = found.edges.iter().map(|e| (e.source.name.as_str(), e.evidence[0].line)).collect();
        assert_eq!(got, [("later", line)], "{path}: {}", found.coverage.statement);
        assert_eq!(found.edges[0].kind, EdgeWord::Usage, "{path}");
    }
    // A type in an annotation is not called.
    let found = ask(&[("a.py", "class S: ...\n\n\ndef f(s: S): ...\n")], Relation::Callers, "S");
    assert!(found.edges.is_empty(), "{:?}", edges(&found));
}

#[test]
fn overloads_of_what_was_asked_are_one_answer() {
    let java = "class Gson {\n  int get(String s) { return 1; }\n  int get(int i) { return 2; }\n  \
                int use() { return get(3); }\n}\n";
    let found = ask(&[("Gson.java", java)], Relation::Callers, "Gson.get");
    assert_eq!(edges(&found), ["call Gson.use @4"], "{}", found.coverage.statement);
    let kotlin = "fun get(s: String) = 1\nfun get(i: Int) = 2\nfun use() = get(3)\n";
    assert_eq!(edges(&ask(&[("a.kt", kotlin)], Relation::Callers, "get")), ["call use @3"]);
    let cpp = "int get(int i) { return 1; }\nint get(char c) { return 2; }\nint use() { return get(3); }\n";
    assert_eq!(edges(&ask(&[("a.cpp", cpp)], Relation::Callers, "get")), ["call use @3"]);
}

#[test]
fn what_is_asked_by_its_place_is_asked_with_its_like() {
    let ts = "export class A {\n  get(a: string): void\n  get(a: number): void\n  get(a: any) {}\n  \
              use() { this.get(3) }\n}\n";
    let py = "class A:\n    @property\n    def x(self): ...\n\n    @x.setter\n    def x(self, v): ...\n\n\n\
              def f(a: A):\n    return a.x\n";
    let branches = "try:\n    limit = 1\nexcept E:\n    limit = 2\n\n\ndef f():\n    return limit\n";
    for (path, text, lines, want) in [
        ("a.ts", ts, [2, 3, 4].as_slice(), "call A.use @5"),
        ("a.py", py, &[3, 6], "usage f @10"),
        ("b.py", branches, &[2, 4], "usage f @8"),
    ] {
        for line in lines {
            let found = edges(&ask(&[(path, text)], Relation::Refs, &format!("{path}:{line}")));
            assert!(found.contains(&want.to_owned()), "{path}:{line}: {found:?}");
        }
    }
}

#[test]
fn every_member_of_a_union_may_be_called() {
    let classes: String = (0..8).map(|i| format!("class C{i} {{ run() {{}} }}\n")).collect();
    let union = (0..8).map(|i| format!("C{i}")).collect::<Vec<_>>().join(" | ");
    let text = format!("{classes}function go(x: {union}) {{ x.run() }}\n");
    for i in 0..8 {
        let found = ask(&[("a.ts", &text)], Relation::Callers, &format!("C{i}.run"));
        assert_eq!(edges(&found), ["call go @9"], "C{i}");
    }
}

#[test]
fn owners_may_be_written_in_each_spelling() {
    let tree = [("a.py", "class A:\n    def b(self): ...\n\n\ndef f():\n    A().b()\n")];
    for name in ["A.b", "A::b", "A#b", "a.A.b", "::A::b"] {
        assert_eq!(edges(&ask(&tree, Relation::Callers, name)), ["call f @6"], "{name}");
    }
    let rust = [("a.rs", "struct A;\nimpl A {\n    fn b() {}\n}\nfn f() {\n    A::b();\n}\n")];
    assert_eq!(edges(&ask(&rust, Relation::Callers, "A::b")), ["call f @6"]);
    let sh = [("a.sh", "log::info() { :; }\nmain() { log::info hi; }\n")];
    let found = ask(&sh, Relation::Callers, "log::info");
    assert!(!found.edges.is_empty() || !open(&found).is_empty(), "{}", found.coverage.statement);
}

#[test]
fn implementations_go_both_ways() {
    let tree = [(
        "a.py",
        "class Base:\n    def run(self): ...\n\n\nclass One(Base):\n    def run(self): ...\n\n\ndef f(b: Base):\n    b.run()\n",
    )];
    let of = |name: &str| {
        let found = ask(&tree, Relation::Implementations, name);
        let pairs =
            found.edges.iter().map(|e| format!("{} {}", e.source.qualified_name, e.target.qualified_name));
        pairs.collect::<Vec<_>>()
    };
    assert_eq!(of("Base"), ["One Base"]);
    assert_eq!(of("One"), ["One Base"]);
    assert_eq!(of("Base.run"), ["One.run Base.run"]);
    assert_eq!(of("One.run"), ["One.run Base.run"]);
    let params = GraphParams { symbol: "One.run".to_owned(), dispatch: true, ..GraphParams::default() };
    let found = walk(&Oracle::of(&tree), Relation::Callers, &params, &Cancel::default()).unwrap();
    assert_eq!(found.through[0].owner.name, "Base");
    assert!(
        found.edges.iter().any(|e| matches!(e.kind, EdgeWord::Dispatch | EdgeWord::Call)),
        "{:?}",
        edges(&found)
    );
}

/// An interface that very many types satisfy has them all: no method of it needs a rare name.
#[test]
fn an_interface_has_all_its_implementations() {
    let plugin = |i| {
        let text = format!(
            "package p\n\ntype P{i} struct{{}}\n\nfunc (P{i}) Open() error {{ return nil }}\nfunc (P{i}) Name() string {{ return \"\" }}\n"
        );
        (format!("p{i:02}.go"), text)
    };
    let interface = "package p\n\ntype Plugin interface {\n\tOpen() error\n\tName() string\n}\n";
    let mut tree: Vec<(String, String)> = (0..40).map(plugin).collect();
    tree.push(("plugin.go".to_owned(), interface.to_owned()));
    let tree: Vec<(&str, &str)> = tree.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    for name in ["Plugin", "Plugin.Open"] {
        assert_eq!(ask(&tree, Relation::Implementations, name).edges.len(), 40, "{name}");
    }
}

/// A type is found to satisfy its interface though very many interfaces have methods of these names.
#[test]
fn an_interface_among_many_of_its_kind_has_its_implementation() {
    let client = |i| {
        let methods = format!("Get(name string) (*T{i}, error)\n\tList(some ...any) ([]T{i}, error)");
        let of = |m: &str| format!("func (*c{i}) {m} {{ return nil, nil }}\n").replace("any", "interface{}");
        let own: String = methods.split("\n\t").map(of).collect();
        let text = format!(
            "package p\n\ntype T{i} struct{{}}\n\ntype I{i} interface {{\n\t{methods}\n}}\n\ntype c{i} struct{{}}\n\n{own}"
        );
        (format!("p{i:02}.go"), text)
    };
    let tree: Vec<(String, String)> = (0..40).map(client).collect();
    let tree: Vec<(&str, &str)> = tree.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    for name in ["I7", "I7.Get", "I39.List"] {
        assert_eq!(ask(&tree, Relation::Implementations, name).edges.len(), 1, "{name}");
    }
}

/// Nothing is compared by a method that very many interfaces ask for, and an answer about one says so.
#[test]
fn methods_that_are_too_common_are_named() {
    let mut tree: Vec<(String, String)> = (0..25)
        .map(|i| {
            (format!("p{i:02}.go"), format!("package p\n\ntype S{i} interface {{\n\tString() string\n}}\n"))
        })
        .collect();
    let text = "package p\n\ntype Closer interface {\n\tString() string\n\tClose()\n}\n\ntype T struct{}\n\nfunc (T) String() string { return \"\" }\nfunc (T) Close() {}\n";
    tree.push(("t.go".to_owned(), text.to_owned()));
    let tree: Vec<(&str, &str)> = tree.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let said = "more than 24 files have interfaces with String: not compared";
    for (name, n_edges, is_said) in
        [("S3", 0, true), ("S3.String", 0, true), ("T", 1, true), ("T.Close", 1, false), ("Closer", 1, false)]
    {
        let found = ask(&tree, Relation::Implementations, name);
        assert_eq!(found.edges.len(), n_edges, "{name}: {:?}", edges(&found));
        let statement = found.coverage.statement;
        assert_eq!(statement.contains(said), is_said, "{name}: {statement}");
    }
}

/// A name occurs without being used: in announcements, destructors, parts of imports and change logs. Copies of
/// other projects are not linked, so that a name of one is looked for in them.
#[test]
fn only_what_may_be_a_use_is_said() {
    let cpp = [
        ("sink.h", "namespace a { class sink { public: virtual ~sink() = default; }; }\n"),
        ("use.h", "#include \"sink.h\"\nnamespace a { class sink; }\n"),
        ("ChangeLog-2.0", "sink is new\n"),
        ("man/sink.3", ".TH SINK\nThe sink takes lines.\n"),
        ("main.cpp", "#include \"sink.h\"\nint main() { return 0; }\n"),
    ];
    let found = ask(&cpp, Relation::Refs, "sink");
    assert!(open(&found).is_empty(), "{:?}", open(&found));
    let ts = [
        ("draw.ts", "export function draw() {}\nexport const line = 1;\n"),
        ("use.ts", "import { line } from './draw';\nexport const twice = line;\n"),
    ];
    let found = ask(&ts, Relation::Refs, "draw");
    assert!(open(&found).is_empty(), "{:?}", open(&found));
    check_open(
        &[("a.py", "def sent(): ...\n"), ("newsfetch", "sent\n")],
        "sent",
        &["newsfetch:1 not-followed"],
    );
    check_open(
        &[("third_party/a.py", "def copied(): ...\n\n\ncopied()\n"), ("b.py", "x = 1\n")],
        "copied",
        &["third_party/a.py:4 not-followed"],
    );
}

/// Checks that a question about each of these definitions has an edge or an open place, and claims nothing.
fn check_not_none(tree: &[(&str, &str)], symbols: impl IntoIterator<Item = String>) {
    for symbol in symbols {
        let found = ask(tree, Relation::Refs, &symbol);
        let c = &found.coverage;
        let is_told = found.n_edges + c.unresolved_same_name + c.below_confidence > 0;
        let said = &found.coverage.statement;
        assert!(is_told && !(found.n_edges == 0 && said.contains("is resolved")), "{symbol}: {said}");
    }
}

/// A class or type for each of `n`, by `of`, and their union.
fn union_of(n: usize, of: impl Fn(usize) -> String) -> (String, String) {
    let names: Vec<String> = (0..n).map(|i| format!("C{i}")).collect();
    ((0..n).map(of).collect(), names.join(" | "))
}

#[test]
fn no_member_of_a_wide_union_is_unused() {
    for n in [5, 12, 30] {
        let all = || (0..n).map(|i| format!("C{i}.kind"));
        for form in
            ["interface C# { kind: string }\n", "type C# = { kind: string };\n", "class C# { kind = 1 }\n"]
        {
            let (types, union) = union_of(n, |i| form.replace('#', &i.to_string()));
            let direct = format!("{types}function go(x: {union}) {{ return x.kind }}\n");
            check_not_none(&[("a.ts", &direct)], all());
            let alias =
                format!("{types}type Any = {union};\nfunction go({{ kind }}: Any) {{ return kind }}\n");
            check_not_none(&[("a.ts", &alias)], all());
        }
        let (types, union) =
            union_of(n, |i| format!("interface C{i} {{ inner: I{i} }}\ninterface I{i} {{ deep: 1 }}\n"));
        let chain = format!("{types}function go(x: {union}) {{ return x.inner.deep }}\n");
        check_not_none(&[("a.ts", &chain)], (0..n).map(|i| format!("I{i}.deep")));
        let (types, union) = union_of(n, |i| format!("class C{i}:\n    def run(self): ...\n\n\n"));
        let py = format!("{types}def go(x: {union}):\n    x.run()\n");
        check_not_none(&[("a.py", &py)], (0..n).map(|i| format!("C{i}.run")));
    }
}

#[test]
fn a_member_that_each_part_of_an_intersection_declares_is_one() {
    let ts = "interface A { kind: string }\ninterface B { kind: string }\ntype C = (A | B) & { kind: 'c'; own: 1 };\n\
              function go(c: C) { return c.kind }\n";
    check_not_none(&[("a.ts", ts)], ["A.kind", "B.kind", "C.kind"].map(str::to_owned));
}

#[test]
fn a_name_that_one_statement_gives_twice_is_one() {
    let js = "const canon = (exports.canon = function canon(v) { return v });\nfunction use() { return canon(1) }\n";
    let ts = "export const run = function run() { return 1 };\nfunction use() { run() }\n";
    for (path, text) in [("a.cjs", js), ("a.ts", ts)] {
        let found = edges(&ask(&[(path, text)], Relation::Callers, &format!("{path}:1")));
        assert_eq!(found, ["call use @2"], "{path}");
    }
}

#[test]
fn what_a_condition_of_the_build_decides_is_not_none() {
    let c = [
        ("o.h", "int op(void);\n"),
        ("l.c", "#include \"o.h\"\nint op(void) { return 1; }\n"),
        ("w.c", "#include \"o.h\"\nint op(void) { return 2; }\n"),
        ("m.c", "#include \"o.h\"\nint go(void) { return op(); }\n"),
    ];
    check_not_none(&c, ["l.c:2", "w.c:2", "o.h:1"].map(str::to_owned));
    let python = [
        ("fast.py", "def dump(): ...\n"),
        (
            "a.py",
            "try:\n    from fast import dump\nexcept ImportError:\n    def dump(): ...\n\n\ndef go():\n    dump()\n",
        ),
        ("b.py", "import a\na.dump()\n"),
    ];
    check_not_none(&python, ["fast.py:1", "a.py:4"].map(str::to_owned));
    let modules = ["unix", "windows"].map(|os| (format!("src/{os}.rs"), "pub fn open() {}\n"));
    let imported = "mod unix;\nmod windows;\n#[cfg(unix)]\nuse unix::open;\n#[cfg(windows)]\nuse windows::open;\n\
                    pub fn boot() { open(); }\n";
    let renamed = "#[cfg(unix)]\nmod unix;\n#[cfg(windows)]\nmod windows;\n#[cfg(unix)]\nuse unix as sys;\n\
                   #[cfg(windows)]\nuse windows as sys;\npub fn boot() { sys::open(); }\n";
    let by_path = "#[cfg(unix)]\n#[path = \"unix.rs\"]\nmod sys;\n#[cfg(windows)]\n#[path = \"windows.rs\"]\nmod sys;\n\
                   pub fn boot() { sys::open(); }\n";
    for lib in [imported, renamed, by_path] {
        let mut tree =
            vec![("Cargo.toml", "[package]\nname = \"a\"\nedition = \"2021\"\n"), ("src/lib.rs", lib)];
        tree.extend(modules.iter().map(|(path, text)| (path.as_str(), *text)));
        check_not_none(&tree, ["src/unix.rs:1", "src/windows.rs:1"].map(str::to_owned));
    }
}

#[test]
fn a_module_by_another_name_is_followed() {
    let tree = [
        ("Cargo.toml", "[package]\nname = \"a\"\nedition = \"2021\"\n"),
        ("src/lib.rs", "mod unix;\nuse unix as sys;\npub fn boot() { sys::open(); }\n"),
        ("src/unix.rs", "pub fn open() {}\n"),
    ];
    assert_eq!(edges(&ask(&tree, Relation::Callers, "open")), ["call boot @3"]);
}

#[test]
fn a_part_that_is_added_from_elsewhere_is_not_unused() {
    let tree = [
        ("events.ts", "export interface Args {\n  a: 1\n}\n"),
        (
            "plugin.ts",
            "import './events';\ndeclare module './events' {\n  interface Args {\n    b: 1\n  }\n}\n",
        ),
        ("use.ts", "import { Args } from './events';\nexport function go(x: Args) {}\n"),
    ];
    check_not_none(&tree, ["plugin.ts:3", "events.ts:1"].map(str::to_owned));
}

#[test]
fn a_call_through_a_cast_is_a_call() {
    for call in ["(o.data as F)()", "(<F>o.data)()", "(o.data satisfies F)()", "(o.data!)()"] {
        let text =
            format!("type F = () => void;\ninterface O {{ data: F }}\nfunction go(o: O) {{ {call} }}\n");
        let found = ask(&[("a.ts", &text)], Relation::Callers, "O.data");
        assert_eq!(edges(&found), ["call go @3"], "{call}");
    }
}

#[test]
fn uses_that_are_not_calls_are_said_where_nothing_calls() {
    let found = ask(&[("a.py", "class S: ...\n\n\ndef f(s: S) -> S: ...\n")], Relation::Callers, "S");
    assert!(found.coverage.statement.contains("2 uses are not a call"), "{}", found.coverage.statement);
}

#[test]
fn setters_and_namespaces_are_found_as_they_are_written() {
    let ruby = "class B\n  def name=(x); end\nend\n\ndef go(b)\n  b.name = 1\nend\n";
    check_open(&[("a.rb", ruby)], "name=", &["a.rb:6 "]);
    let php =
        "<?php\nnamespace App\\Model;\nclass User { function save() {} function go() { $this->save(); } }\n";
    for name in ["App\\Model\\User::save", "\\App\\Model\\User::save", "User::save"] {
        assert_eq!(edges(&ask(&[("a.php", php)], Relation::Callers, name)), ["call User.go @3"], "{name}");
    }
}

#[test]
fn the_place_of_a_type_without_a_name_is_a_place() {
    let go = "package a\n\ntype C struct {\n\tcalled struct {\n\t\tby string\n\t}\n}\n\nfunc f(c C) { _ = c.called.by }\n";
    check_not_none(&[("a.go", go)], ["a.go:4", "a.go:5", "C.called"].map(str::to_owned));
}
