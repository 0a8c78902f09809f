//! The linker's specification: `fixtures/*.txt` are small trees, one construct each.
//!
//! A fixture holds files under `-- path --` lines. Behind a source line, a comment `//= ` lists the targets
//! of the identifiers of that line, in order, separated by `;`:
//!
//! - `name -> path:line` for a link, with ` kind` when it is neither a call nor a usage, ` ~NN` when its
//!   confidence is not 100, and ` rule` when it is none of scope, import and receiver;
//! - `name ! reason` for a use without a link.
//!
//! A line without such a comment names nothing. Fixtures named `dataflow*` list the flow of values too: `name
//! => path:line` into a parameter or a variable, `name <= path:line` out of a result or a variable.

use crate::trees::{Tree, check_with};
use indexd_model::{DefIdx, EdgeKind, Facts, FactsView, Interface, Key, Link, Rule};
use std::fmt::Write;

#[test]
fn fixtures() {
    check_with("go/fixtures", 20, |tree, file, fixture| {
        let with_flow = fixture.starts_with("dataflow");
        tree.lines(file, |tree, l, name| said(tree, l, name, with_flow))
    });
}

/// A link in the notation of the fixtures.
fn said(tree: &Tree, l: &Link, name: &str, with_flow: bool) -> Option<String> {
    let flow = match l.kind {
        EdgeKind::Dataflow => Some("=>"),
        EdgeKind::DataflowIn => Some("<="),
        _ => None,
    };
    if let Some(arrow) = flow {
        return with_flow.then(|| format!("{name} {arrow} {}", tree.place(l)));
    }
    let mut it = format!("{name} -> {}", tree.place(l));
    if l.kind != EdgeKind::Usage {
        let _ = write!(it, " {}", l.kind.name());
    }
    if l.confidence != 100 {
        let _ = write!(it, " ~{}", l.confidence);
    }
    if !matches!(l.rule, Rule::Scope | Rule::Import | Rule::Receiver) {
        let _ = write!(it, " {}", l.rule.name());
    }
    Some(it)
}

fn tree(files: &[(&str, &str)]) -> Tree {
    Tree::new(files.iter().map(|(p, t)| ((*p).to_owned(), (*t).to_owned())).collect())
}

/// The dataflow links of a file: `source => target` the way the value flows.
fn flows(tree: &Tree, file: usize) -> Vec<String> {
    let facts = Facts::inside(&tree.facts[file]);
    let mut out: Vec<String> = tree
        .link(file)
        .links
        .iter()
        .filter(|l| matches!(l.kind, EdgeKind::Dataflow | EdgeKind::DataflowIn))
        .map(|l| {
            let target = Facts::inside(&tree.facts[l.target.file.index()]);
            let (source, target) = (facts.def_name(l.source), target.def_name(l.target.def));
            if l.kind == EdgeKind::DataflowIn {
                format!("{target} => {source}")
            } else {
                format!("{source} => {target}")
            }
        })
        .collect();
    out.sort();
    out
}

#[test]
fn values_flow_into_parameters_out_of_results_and_through_variables() {
    let t = tree(&[(
        "p/a.go",
        "package p\nvar count int\ntype T struct{ f int }\nfunc inc(by int) int { count += by; return count }\n\
         func nothing() {}\nfunc user(t *T) { t.f = inc(1); inc(2); nothing() }\nfunc reader(t T) int { return t.f }\n",
    )]);
    assert_eq!(
        flows(&t, 0),
        ["count => inc", "f => reader", "inc => count", "inc => user", "user => f", "user => inc"]
    );
    let t = tree(&[
        ("p/a.go", "package p\nvar count int\nfunc inc(by int) int { return by }\n"),
        ("p/b.go", "package p\nfunc user() { count = inc(count) }\n"),
    ]);
    assert_eq!(flows(&t, 1), ["count => user", "inc => user", "user => count", "user => inc"]);
}

#[test]
fn a_copy_below_vendor_is_not_linked() {
    let t = tree(&[
        ("vendor/x.y/z/a.go", "package z\nfunc f() { f() }\n"),
        ("a.go", "package a\nfunc f() { f() }\n"),
    ]);
    assert_eq!((t.link(0).links.len(), t.link(1).links.len()), (1, 0));
}

/// Links of `file` that an edit elsewhere may not change without one of the keys that were looked
/// up changing its digest: the contract that updates rest on.
fn observed(tree: &Tree, keys: &[Key]) -> Vec<(Key, String, u64)> {
    let mut out = Vec::new();
    for key in keys {
        for doc in tree.view.providers(*key) {
            let interface: &Interface = &tree.facts[doc.index()].interface;
            for e in interface.entries.iter().filter(|e| e.key == *key) {
                let name = match e.def {
                    DefIdx::NONE => tree.paths[doc.index()].clone(),
                    def => format!("{} {}", tree.paths[doc.index()], Facts::outside(interface).def_name(def)),
                };
                out.push((*key, name, e.digest));
            }
        }
    }
    out
}

const BASE: &[(&str, &str)] = &[
    ("go.mod", "module m.org/m\n"),
    ("a/a.go", "package a\n\nimport \"m.org/m/b\"\n\nfunc use(t b.T) { t.M().N(); _ = t.F; b.G() }\n"),
    (
        "b/b.go",
        "package b\n\nimport \"m.org/m/c\"\n\ntype T struct{ F int; c.E }\n\nfunc (T) M() c.U { return c.U{} }\n\nfunc G() { G() }\n",
    ),
    ("c/c.go", "package c\n\ntype U int\n\nfunc (U) N() {}\n\ntype E struct{}\n"),
];

#[test]
fn what_changes_the_links_of_a_file_changes_a_key_that_it_looked_up() {
    let edits: &[(&str, &str, &str, bool)] = &[
        ("b/b.go", "func G() { G() }", "func G() { _ = 1; G(); G() }", false),
        ("b/b.go", "import \"m.org/m/c\"", "import (\n\t\"m.org/m/c\"\n\t_ \"m.org/m/d\"\n)", false),
        ("b/b.go", "func G()", "func H()", true),
        ("b/b.go", "F int; ", "", true),
        ("b/b.go", "func (T) M() c.U", "func (T) M() c.E", true),
        ("b/b.go", "package b", "package other", true),
        ("b/b.go", "m.org/m/c\"", "m.org/x/c\"", true),
        ("c/c.go", "func (U) N() {}", "", true),
        ("c/c.go", "type E struct{}", "type E struct{ M int }", false),
        ("go.mod", "m.org/m", "m.org/n", true),
    ];
    let before = tree(BASE);
    let links = before.link(0);
    assert!(links.links.len() >= 7);
    for (path, from, to, must_change) in edits {
        let files: Vec<(&str, String)> = BASE
            .iter()
            .map(|(p, t)| (*p, if p == path { t.replace(from, to) } else { (*t).to_owned() }))
            .collect();
        let after = Tree::new(files.iter().map(|(p, t)| ((*p).to_owned(), t.clone())).collect());
        let relinked = after.link(0);
        let is_seen = observed(&before, &links.lookups) != observed(&after, &links.lookups);
        let has_changed = (&relinked.links, &relinked.unresolved) != (&links.links, &links.unresolved);
        assert!(is_seen || !has_changed, "unseen: {path} {from} -> {to}");
        if *must_change {
            assert!(has_changed, "no effect: {path} {from} -> {to}");
        }
    }
    // An additional import, or another body, does not concern other files.
    for (path, from, to, _) in &edits[..2] {
        let files: Vec<(String, String)> = BASE
            .iter()
            .map(|(p, t)| ((*p).to_owned(), if p == path { t.replace(from, to) } else { (*t).to_owned() }))
            .collect();
        let after = Tree::new(files.into_iter().collect());
        assert_eq!(observed(&before, &links.lookups), observed(&after, &links.lookups), "{path} {to}");
    }
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(400))]

    /// For any content of the files, linking ends, points at definitions that exist and at tokens of the
    /// file, and gives the same result again.
    #[test]
    fn any_files_are_ordinary_input(
        a in "(package p\n)?(func |type |var |const |struct ?\\{|interface ?\\{|import \"m/b\"\n|\\[T any\\]|[TabfMx]|\\(|\\)|\\{|\\}|\\[|\\]|:=|=|\\.|,|\\*|&|:|\n| |range |switch |case |return |map\\[|func\\(){0,80}",
        b in "package b\n(func |type |var |[TabfMx] |[TabfMx]\\.|struct ?\\{|interface ?\\{|\\}|\\(|\\)|=|\\*|\n){0,40}",
    ) {
        let t = tree(&[("go.mod", "module m\n"), ("a/a.go", &a), ("a/c.go", &a), ("b/b.go", &b)]);
        for file in 0..3 {
            let links = t.link(file);
            for l in &links.links {
                let target = &t.facts[l.target.file.index()].interface;
                proptest::prop_assert!(l.target.def == DefIdx::NONE || l.target.def.index() < target.defs.len());
                let text = &t.texts[file];
                proptest::prop_assert!(text.get(l.at as usize..l.at as usize + usize::from(l.len)).is_some());
                proptest::prop_assert!(l.confidence <= 100);
            }
            proptest::prop_assert!(links.links.is_sorted_by_key(|l| l.at));
            proptest::prop_assert!(links.unresolved.is_sorted_by_key(|u| u.at));
            proptest::prop_assert_eq!(links, t.link(file));
        }
    }
}
