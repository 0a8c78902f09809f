//! The linker's specification: `fixtures/*.txt` are small trees, one construct each.
//!
//! A fixture holds files under `-- path --` lines. Behind a source line, a comment `//= ` lists what
//! the identifiers of that line name, in order, separated by `;`:
//!
//! - `name -> path:line` for a link, with ` kind` when it is neither a call nor a usage, ` ~NN` when its
//!   confidence is not 100, and ` rule` when it is none of scope, import and receiver;
//! - `name ! reason` for a use without a link.
//!
//! A line without such a comment names nothing. In fixtures named `dataflow*`, where values flow stands
//! there too: `name => path:line` into a parameter or a variable, `name <= path:line` out of a result or
//! a variable.

use indexd_lang::extract;
use indexd_model::memory::MemoryFacts;
use indexd_model::{
    DefIdx, EdgeKind, Facts, FactsView, FileDoc, FileFacts, Interface, Key, LineIndex, Link, Links, RepoPath,
    Rule,
};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

struct Tree {
    paths: Vec<String>,
    texts: Vec<String>,
    facts: Vec<FileFacts>,
    view: MemoryFacts,
}

impl Tree {
    fn parse(fixture: &str) -> Self {
        let mut files: BTreeMap<String, String> = BTreeMap::new();
        let mut open: Option<String> = None;
        for line in fixture.lines() {
            match line.strip_prefix("-- ").and_then(|l| l.strip_suffix(" --")) {
                Some(path) => open = Some(path.to_owned()),
                None => {
                    if let Some(path) = &open {
                        let _ = writeln!(files.entry(path.clone()).or_default(), "{line}");
                    }
                }
            }
        }
        Self::new(files)
    }

    fn new(files: BTreeMap<String, String>) -> Self {
        let facts: Vec<FileFacts> = files
            .iter()
            .map(|(p, text)| extract(&RepoPath::new(p).unwrap(), text.as_bytes()).facts)
            .collect();
        let view = MemoryFacts::new(
            files
                .keys()
                .zip(&facts)
                .map(|(p, f)| (RepoPath::new(p).unwrap(), Arc::new(f.interface.clone())))
                .collect(),
        );
        let (paths, texts) = files.into_iter().unzip();
        Self { paths, texts, facts, view }
    }

    fn link(&self, file: usize) -> Links {
        crate::link(FileDoc(file as u32), Facts::inside(&self.facts[file]), &self.view)
    }

    fn place(&self, link: &Link) -> String {
        let target = link.target.file.index();
        let line = link.target.def.some().map_or(1, |d| {
            let def = Facts::inside(&self.facts[target]).def(d);
            LineIndex::new(&self.texts[target]).line(def.name_span.start)
        });
        format!("{}:{line}", self.paths[target])
    }

    /// What each line of a file says, in the notation of the fixtures.
    fn lines(&self, file: usize, with_flow: bool) -> BTreeMap<u32, String> {
        let links = self.link(file);
        let text = &self.texts[file];
        let index = LineIndex::new(text);
        let mut all: Vec<(u32, String)> = Vec::new();
        for l in &links.links {
            let name = &text[l.at as usize..l.at as usize + usize::from(l.len)];
            let flow = match l.kind {
                EdgeKind::Dataflow => Some("=>"),
                EdgeKind::DataflowIn => Some("<="),
                _ => None,
            };
            if let Some(arrow) = flow {
                if with_flow {
                    all.push((l.at, format!("{name} {arrow} {}", self.place(l))));
                }
                continue;
            }
            let mut it = format!("{name} -> {}", self.place(l));
            match l.kind {
                EdgeKind::Usage => {}
                EdgeKind::Call => it.push_str(" call"),
                kind => {
                    let _ = write!(it, " {}", kind.name());
                }
            }
            if l.confidence != 100 {
                let _ = write!(it, " ~{}", l.confidence);
            }
            if !matches!(l.rule, Rule::Scope | Rule::Import | Rule::Receiver) {
                let _ = write!(it, " {}", l.rule.name());
            }
            all.push((l.at, it));
        }
        let facts = Facts::inside(&self.facts[file]);
        for u in &links.unresolved {
            all.push((u.at, format!("{} ! {:?}", facts.str(u.name), u.reason)));
        }
        all.sort_by_key(|a| a.0);
        let mut out: BTreeMap<u32, Vec<String>> = BTreeMap::new();
        for (at, it) in all {
            out.entry(index.line(at)).or_default().push(it);
        }
        out.into_iter().map(|(line, all)| (line, all.join("; "))).collect()
    }
}

/// Every fixture says what it expects; `UPDATE_FIXTURES=1` writes what is found.
#[test]
fn fixtures() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/go/fixtures");
    let mut names: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|e| e.unwrap().path()).collect();
    names.sort();
    assert!(names.len() >= 20);
    for path in names {
        let fixture = std::fs::read_to_string(&path).unwrap();
        let tree = Tree::parse(&fixture);
        let with_flow = path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("dataflow"));
        let found: Vec<BTreeMap<u32, String>> =
            (0..tree.paths.len()).map(|i| tree.lines(i, with_flow)).collect();
        let mut got = String::new();
        let (mut file, mut line) = (None, 0);
        for text in fixture.lines() {
            if let Some(name) = text.strip_prefix("-- ").and_then(|l| l.strip_suffix(" --")) {
                (file, line) = (tree.paths.iter().position(|p| p == name), 0);
            } else {
                line += 1;
            }
            let (code, _) = text.split_once(" //=").unwrap_or((text, ""));
            got.push_str(code);
            if let Some(it) = file.and_then(|f| found[f].get(&line)) {
                let _ = write!(got, " //= {it}");
            }
            got.push('\n');
        }
        if std::env::var_os("UPDATE_FIXTURES").is_some() {
            std::fs::write(&path, &got).unwrap();
            continue;
        }
        assert_eq!(got, fixture, "{}", path.display());
    }
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
    // An import more, or another body, concerns nobody else.
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

    /// Whatever stands in the files, linking ends, points at definitions that exist and at tokens
    /// of the file, and says the same again.
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
