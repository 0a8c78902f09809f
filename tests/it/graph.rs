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
