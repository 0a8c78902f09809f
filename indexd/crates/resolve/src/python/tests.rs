//! Each fixture is a small tree and the targets of its names, readable as a specification.

use crate::link;
use indexd_lang::Input;
use indexd_model::memory::MemoryFacts;
use indexd_model::names::qualified_name;
use indexd_model::{
    EdgeKind, Facts, FactsView, FileDoc, FileFacts, FileRoles, Language, LineIndex, Links, RepoPath,
    UnresolvedReason,
};
use std::fmt::Write;
use std::sync::Arc;

struct Tree {
    files: Vec<(String, String, FileFacts)>,
    view: MemoryFacts,
}

impl Tree {
    /// Files by `-- path --` headers.
    fn parse(text: &str) -> Self {
        let mut sources: Vec<(String, String)> = Vec::new();
        for line in text.split_inclusive('\n') {
            match line.trim().strip_prefix("-- ").and_then(|l| l.strip_suffix(" --")) {
                Some(path) => sources.push((path.to_owned(), String::new())),
                None => sources.last_mut().expect("a header comes first").1.push_str(line),
            }
        }
        Self::new(sources)
    }

    fn new(mut sources: Vec<(String, String)>) -> Self {
        sources.sort();
        let files: Vec<_> = sources
            .into_iter()
            .map(|(path, text)| {
                let test = path.contains("test");
                let roles = if test { FileRoles::TEST } else { FileRoles::default() };
                let repo_path = RepoPath::new(&path).unwrap();
                let facts = if path.ends_with(".toml") || path.ends_with(".txt") {
                    indexd_lang::extract(&repo_path, text.as_bytes()).facts
                } else {
                    let lines = LineIndex::new(&text);
                    let language = Language::Python;
                    let input = Input { path: &repo_path, text: &text, lines: &lines, language, roles };
                    indexd_lang::python::facts(input)
                };
                (path, text, facts)
            })
            .collect();
        let view = MemoryFacts::new(
            files.iter().map(|f| (RepoPath::new(&f.0).unwrap(), Arc::new(f.2.interface.clone()))).collect(),
        );
        Self { files, view }
    }

    fn link(&self, i: usize) -> Links {
        link(FileDoc(i as u32), Facts::inside(&self.files[i].2), &self.view)
    }

    /// Prints the sources with, under each line, the targets of its names.
    fn render(&self, shown: impl Fn(EdgeKind) -> bool) -> String {
        let mut out = String::new();
        for (i, (path, text, facts)) in self.files.iter().enumerate() {
            let links = self.link(i);
            let lines = LineIndex::new(text);
            let mut notes: Vec<(u32, u32, String)> = Vec::new();
            for l in links.links.iter().filter(|l| shown(l.kind)) {
                let target = &self.files[l.target.file.index()];
                let there = Facts::inside(&target.2);
                let name = text.get(l.at as usize..l.at as usize + usize::from(l.len)).unwrap_or("?");
                let place = match l.target.def.some() {
                    Some(d) => {
                        let line = LineIndex::new(&target.1).line(there.def(d).name_span.start);
                        let file = if target.0 == *path { String::new() } else { format!("{}:", target.0) };
                        format!("{file}{line} {}", qualified_name(&there, d))
                    }
                    None => target.0.clone(),
                };
                let kind = if is_flow(l.kind) { EdgeKind::Dataflow } else { l.kind };
                let mut note = format!("{name} -> {place} ({}", kind.name());
                if is_flow(l.kind) {
                    let around = qualified_name(&Facts::inside(facts), l.source);
                    let around = if around.is_empty() { "the module" } else { &around };
                    let way = if l.kind == EdgeKind::Dataflow { "from" } else { "into" };
                    let _ = write!(note, " {way} {around}");
                }
                let _ = write!(note, ", {} {})", l.rule.name(), l.confidence);
                notes.push((lines.line(l.at), l.at, note));
            }
            let names = Facts::inside(facts);
            for u in links.unresolved.iter().filter(|u| u.reason != UnresolvedReason::Builtin) {
                notes.push((lines.line(u.at), u.at, format!("{} -> {:?}", names.str(u.name), u.reason)));
            }
            notes.sort();
            notes.dedup();
            let _ = writeln!(out, "-- {path} --");
            for (n, line) in text.lines().enumerate() {
                let n = n as u32 + 1;
                let _ = writeln!(out, "{n:>3} {line}");
                for note in notes.iter().filter(|x| x.0 == n) {
                    let _ = writeln!(out, "        {}", note.2);
                }
            }
        }
        out
    }
}

fn is_flow(kind: EdgeKind) -> bool {
    matches!(kind, EdgeKind::Dataflow | EdgeKind::DataflowIn)
}

/// Compares each `fixtures/*.py` with its links, kept as `*.links`; `UPDATE_FIXTURES=1` writes them.
#[test]
fn fixtures() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/python/fixtures");
    let mut names: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|e| e.unwrap().path()).collect();
    names.retain(|p| p.extension().is_some_and(|e| e == "py"));
    names.sort();
    assert!(names.len() >= 15);
    for path in names {
        let tree = Tree::parse(&std::fs::read_to_string(&path).unwrap());
        let flow = path.file_stem().is_some_and(|s| s == "dataflow");
        let got = tree.render(|k| is_flow(k) == flow);
        let expected = path.with_extension("links");
        if std::env::var_os("UPDATE_FIXTURES").is_some() {
            std::fs::write(&expected, &got).unwrap();
        }
        assert_eq!(got, std::fs::read_to_string(&expected).unwrap_or_default(), "{}", path.display());
    }
}

/// Half-typed code is ordinary: every prefix of every fixture links.
#[test]
fn every_prefix_links() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/python/fixtures");
    for entry in std::fs::read_dir(&dir).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|e| e != "py") {
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        for cut in (40..text.len()).step_by(97).filter(|c| text.is_char_boundary(*c)) {
            let tree = Tree::parse(&text[..cut]);
            let last = tree.files.len() - 1;
            let links = tree.link(last);
            let length = tree.files[last].1.len() as u32;
            assert!(links.links.iter().all(|l| l.at + u32::from(l.len) <= length));
        }
    }
}

/// A lookup that finds nothing is recorded, so that the file is linked again when it would.
#[test]
fn lookups_cover_what_is_missing() {
    let with = |more: &[(&str, &str)]| {
        let mut files =
            vec![("a.py", "from b import make\nmake().go()\n"), ("b.py", "def make(): return C()\n")];
        files.extend_from_slice(more);
        Tree::new(files.into_iter().map(|(p, t)| (p.to_owned(), t.to_owned())).collect())
    };
    let before = with(&[]);
    let lookups = before.link(0).lookups;
    // The keys of a new definition in `b.py` are among those that linking `a.py` looked up.
    let text = "class C:\n    def go(self): ...\ndef make(): return C()\n";
    let after = indexd_lang::extract(&RepoPath::new("b.py").unwrap(), text.as_bytes()).facts;
    let old = before.view.interface(FileDoc(1));
    let new_keys = after.interface.entries.iter().filter(|e| !old.entries.iter().any(|o| o.key == e.key));
    assert!(new_keys.into_iter().any(|e| lookups.binary_search(&e.key).is_ok()));
}

/// Bodies and comments are not observed; signatures and returned values are.
#[test]
fn digests_change_with_what_is_observed() {
    let digests = |text: &str| {
        let f = indexd_lang::extract(&RepoPath::new("m.py").unwrap(), text.as_bytes()).facts;
        f.interface.entries.iter().map(|e| (e.key, e.digest)).collect::<Vec<_>>()
    };
    let base = digests("import x\ndef f(a):\n    g()\n    return x.y\n");
    assert_eq!(base, digests("# moved\nimport x\n\n\ndef f(a):\n    h()\n    return x.y\n"));
    assert_ne!(base, digests("import x\ndef f(a):\n    g()\n    return x.z\n"));
    assert_ne!(base, digests("import z as x\ndef f(a):\n    g()\n    return x.y\n"));
    assert_ne!(base, digests("import x\ndef f(a: int):\n    g()\n    return x.y\n"));
}

/// Classes that are bases of each other, with an attribute that has no type in any of them.
#[test]
fn bases_of_each_other_come_to_an_end() {
    let class = |own: &str, base: &str| {
        format!(
            "class {own}({base}):\n    def __init__(self):\n        self.x = Nothing()\n\n    \
             def m(self):\n        return self.x.m()\n\n\n"
        )
    };
    for files in [
        vec![
            ("a.py", "from b import *\n\n\n".to_owned() + &class("A", "B")),
            ("b.py", "from a import *\n\n\n".to_owned() + &class("B", "A")),
        ],
        vec![("a.py", class("A", "B") + &class("B", "A") + &class("A", "B"))],
        vec![("a.py", class("A", "A") + &class("B", "B") + &class("A", "A"))],
    ] {
        let tree = Tree::new(files.into_iter().map(|(path, text)| (path.to_owned(), text)).collect());
        for i in 0..tree.files.len() {
            let links = tree.link(i);
            assert!(
                links.links.iter().any(|l| l.kind == EdgeKind::Inherit),
                "{}: {links:?}",
                tree.files[i].0
            );
        }
    }
}

/// Counts the files whose interfaces are read.
struct Counted<'v> {
    view: &'v MemoryFacts,
    seen: std::cell::RefCell<std::collections::BTreeSet<FileDoc>>,
}

impl FactsView for Counted<'_> {
    fn providers(&self, key: indexd_model::Key) -> Vec<FileDoc> {
        self.view.providers(key)
    }

    fn interface(&self, file: FileDoc) -> Arc<indexd_model::Interface> {
        self.seen.borrow_mut().insert(file);
        self.view.interface(file)
    }

    fn path(&self, file: FileDoc) -> Arc<str> {
        self.view.path(file)
    }

    fn file_by_path(&self, path: &str) -> Option<FileDoc> {
        self.view.file_by_path(path)
    }
}

#[test]
fn a_long_chain_of_imports_costs_each_module_a_bounded_part_of_it() {
    let module = |i: u32| {
        let import = if i == 0 { String::new() } else { format!("from .m{:03} import f\n", i - 1) };
        (format!("p/m{i:03}.py"), format!("{import}\ndef g():\n    return f()\n\ndef f(): pass\n"))
    };
    let mut sources: Vec<(String, String)> = (0..200).map(module).collect();
    sources.push(("p/__init__.py".to_owned(), String::new()));
    let tree = Tree::new(sources);
    for i in 0..tree.files.len() {
        let counted = Counted { view: &tree.view, seen: Default::default() };
        let links = link(FileDoc(i as u32), Facts::inside(&tree.files[i].2), &counted);
        let n = counted.seen.borrow().len();
        // Those on the way, and the package.
        assert!(n <= super::members::HOPS_MAX as usize + 1, "{}: {n}", tree.files[i].0);
        assert_eq!(links.links.is_empty(), tree.files[i].0.ends_with("__init__.py"));
    }
}
