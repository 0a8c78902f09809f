//! Facts of small sources as readable snapshots, and what must hold for any input.

use super::*;
use indexd_model::names::descriptor;
use indexd_model::{Binding, BindingId, ExprId, LineIndex, Node, Role, Source};
use std::fmt::Write;

/// Renders facts for a reader: definitions with their parts, imports, then the uses of the body.
fn render(facts: &FileFacts, text: &str) -> String {
    let read = Facts::inside(facts);
    let p = Printer { f: read };
    let mut out = String::new();
    let f = &facts.interface;
    let package = f.package.map_or("-", |s| read.str(s));
    let _ = writeln!(out, "package {package} ({:?}) {}", f.outcome, f.constraint.map_or("", |s| read.str(s)));
    for i in &f.imports {
        let alias = i.alias.map_or("-", |s| read.str(s));
        let _ = writeln!(out, "import {:?} {} as {alias}", i.kind, read.str(i.module));
    }
    for (i, d) in f.defs.iter().enumerate() {
        let name = descriptor(&read, DefIdx(i as u32));
        let _ = write!(out, "{:?} {name} flags={:#x}", d.kind, d.flags.0);
        for (label, e) in [("type", d.ty), ("value", d.value)] {
            if e.some().is_some() {
                let _ = write!(out, " {label}={}", p.expr(e));
            }
        }
        for (label, list) in [("type_params", &d.type_params), ("params", &d.params)] {
            if !list.is_empty() {
                let all: Vec<_> = list.iter().map(|b| p.binding(*b)).collect();
                let _ = write!(out, " {label}=[{}]", all.join(", "));
            }
        }
        for (label, list) in [("results", &d.results), ("bases", &d.bases)] {
            if !list.is_empty() {
                let all: Vec<_> = list.iter().map(|e| p.expr(*e)).collect();
                let _ = write!(out, " {label}=[{}]", all.join(", "));
            }
        }
        let head = text[d.head.range()].split_whitespace().collect::<Vec<_>>().join(" ");
        let _ = write!(out, "\n    head: {head}");
        let doc = text[d.doc.range()].split_whitespace().collect::<Vec<_>>().join(" ");
        let _ = writeln!(out, "{}{doc}", if doc.is_empty() { "" } else { "\n    doc: " });
    }
    let mut uses: Vec<(u32, String)> = (0..read.n_exprs() as u32)
        .map(|i| (ExprId(i), read.expr(ExprId(i))))
        .filter(|(_, e)| e.role != Role::None)
        .map(|(i, e)| (e.at, format!("{:?} {}", e.role, p.expr(i))))
        .collect();
    uses.sort();
    for (at, it) in uses {
        let line = LineIndex::new(text).line(at);
        let _ = writeln!(out, "{line}: {it}");
    }
    out
}

struct Printer<'a> {
    f: Facts<'a>,
}

impl Printer<'_> {
    fn binding(&self, id: BindingId) -> String {
        match self.f.binding(id) {
            Some(b) => format!("{} {}", self.f.str(b.name), self.sources(b)),
            None => "?".into(),
        }
    }

    fn sources(&self, b: &Binding) -> String {
        let all: Vec<_> = self.f.sources(b).iter().map(|s| self.source(s)).collect();
        all.join(" | ")
    }

    fn source(&self, s: &Source) -> String {
        match *s {
            Source::Declared(e) => self.expr(e),
            Source::Assigned(e) => format!("= {}", self.expr(e)),
            Source::Unpacked { value, index } => format!("= {}.{index}", self.expr(value)),
            Source::Element { of, index } => format!("= range {}.{index}", self.expr(of)),
            Source::Narrowed(e) => format!("is {}", self.expr(e)),
            Source::Def(d) => self.f.def_name(d).to_owned(),
            _ => "?".into(),
        }
    }

    fn list(&self, list: indexd_model::List) -> String {
        let all: Vec<_> = self.f.list(list).iter().map(|e| self.expr(*e)).collect();
        all.join(", ")
    }

    fn expr(&self, id: ExprId) -> String {
        if id.some().is_none() {
            return "_".into();
        }
        match self.f.expr(id).node {
            Node::Name { name, binding } => match self.f.binding(binding) {
                Some(b) => format!("{}@{}", self.f.str(name), b.at),
                None => self.f.str(name).to_owned(),
            },
            Node::Attr { base, name } => format!("{}.{}", self.expr(base), self.f.str(name)),
            Node::Call { callee, args } => format!("{}({})", self.expr(callee), self.list(args)),
            Node::KeyValue { key, value } => format!("{}: {}", self.expr(key), self.expr(value)),
            Node::Spread { value } => format!("{}...", self.expr(value)),
            Node::Index { base, args } => format!("{}[{}]", self.expr(base), self.list(args)),
            Node::Slice { base } => format!("{}[:]", self.expr(base)),
            Node::Star { value } => format!("*{}", self.expr(value)),
            Node::Address { value } => format!("&{}", self.expr(value)),
            Node::Receive { value } => format!("<-{}", self.expr(value)),
            Node::Unary { value } => format!("~{}", self.expr(value)),
            Node::Binary { left, right } => format!("{} op {}", self.expr(left), self.expr(right)),
            Node::Assert { value, ty } => format!("{}.({})", self.expr(value), self.expr(ty)),
            Node::Composite { ty, elems } => format!("{}{{{}}}", self.expr(ty), self.list(elems)),
            Node::Literal { kind } => format!("{kind:?}"),
            Node::FuncType { params, results, variadic } => {
                let dots = if variadic { "..." } else { "" };
                format!("func({}{dots})({})", self.list(params), self.list(results))
            }
            Node::FuncLiteral { ty } => format!("{}{{}}", self.expr(ty)),
            Node::SliceType { elem } => format!("[]{}", self.expr(elem)),
            Node::ArrayType { elem } => format!("[n]{}", self.expr(elem)),
            Node::MapType { key, value } => format!("map[{}]{}", self.expr(key), self.expr(value)),
            Node::ChanType { elem } => format!("chan {}", self.expr(elem)),
            Node::StructType { .. } => "struct".into(),
            Node::InterfaceType { .. } => "interface".into(),
            Node::Unread { name } => format!("unread {}", self.f.str(name)),
            Node::Union { left, right } => format!("{}|{}", self.expr(left), self.expr(right)),
            other => format!("{other:?}"),
        }
    }
}

/// Compares each `fixtures/*.go` with its facts, kept as `*.facts`; `UPDATE_FIXTURES=1` writes them.
#[test]
fn fixtures() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/go/fixtures");
    let mut names: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|e| e.unwrap().path()).collect();
    names.retain(|p| p.extension().is_some_and(|e| e == "go"));
    names.sort();
    assert!(names.len() >= 8);
    for path in names {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let got = render(
            &facts(Input::plain(
                &RepoPath::new(&format!("pkg/{name}")).unwrap(),
                &text,
                &LineIndex::new(&text),
            )),
            &text,
        );
        let expected = path.with_extension("facts");
        if std::env::var_os("UPDATE_FIXTURES").is_some() {
            std::fs::write(&expected, &got).unwrap();
        }
        assert_eq!(got, std::fs::read_to_string(&expected).unwrap_or_default(), "{name}");
    }
}

fn defs(text: &str) -> Vec<String> {
    let facts = facts(Input::plain(&RepoPath::new("a.go").unwrap(), text, &LineIndex::new(text)));
    let read = Facts::inside(&facts);
    (0..facts.interface.defs.len() as u32).map(|i| descriptor(&read, DefIdx(i))).collect()
}

#[test]
fn broken_syntax_keeps_the_facts_around_it() {
    let got =
        defs("package p\nfunc a() {\n\tx := y.\n}\n\nfunc b() int { return 1 }\n\ntype T struct { F int }\n");
    assert!(got.contains(&"b().".to_owned()) && got.contains(&"T#F.".to_owned()), "{got:?}");
    let rest = "\n\n// doc\nfunc b() int { return 1 }\n\ntype T struct{ F int }\n";
    for broken in [
        "func a() {\n\tif x {\n}",
        "func a() {\n\tfor {\n\t\tif x {\n",
        "func a(x int) {\n\tcall(x, func() {\n}",
        "func a() {",
        "func (t T) a() {\n\tx := []int{1,\n}",
        "type A struct {\n\tf int",
        "var a = []int{",
        "func a(",
        "const (\n\ta = 1",
    ] {
        let got = defs(&format!("package p\n\nfunc first() {{}}\n\n{broken}{rest}"));
        for name in ["first().", "b().", "T#", "T#F."] {
            assert!(got.contains(&name.to_owned()), "{broken:?}: {got:?}");
        }
    }
    // A template in a raw string is not a declaration.
    let got = defs("package p\nvar t = `\nfunc x() {\n`\nfunc a() { x. }\nfunc b() {}\n");
    assert_eq!(got, ["t.", "a().", "b()."]);
    assert_eq!(defs("}}}} func ((( \u{0} ü"), Vec::<String>::new());
}

#[test]
fn deep_nesting_is_opaque_beyond_the_limit() {
    let deep = format!("package p\nvar x = {}1{}\nfunc after() {{}}\n", "(".repeat(5_000), ")".repeat(5_000));
    assert_eq!(defs(&deep), ["x.", "after()."]);
    let wide = format!("package p\nvar x = 1{}\nfunc after() {{}}\n", " + y".repeat(20_000));
    assert_eq!(defs(&wide), ["x.", "after()."]);
    let blocks =
        format!("package p\nfunc f() {}{}\nfunc after() {{}}\n", "{".repeat(3_000), "}".repeat(3_000));
    assert_eq!(defs(&blocks), ["f().", "after()."]);
}

#[test]
fn text_between_declarations_is_named_by_what_it_holds() {
    use ChunkKind::{Between, Comment, Definition, Imports};
    let check = |text: &str, expect: &[ChunkKind]| {
        let facts = facts(Input::plain(&RepoPath::new("a.go").unwrap(), text, &LineIndex::new(text)));
        assert_eq!(facts.chunks.iter().map(|c| c.kind).collect::<Vec<_>>(), expect, "{text:?}");
    };
    check("// A licence.\n// Two lines.\n\n/* The doc. */\npackage p\n\nimport \"a\"\n", &[Comment, Imports]);
    check("// The doc.\npackage p\n", &[Comment]);
    check("// Nothing else.\n", &[Comment]);
    check(
        "package p; import \"a\" // why\n\nimport (\n\tb \"c\"\n)\n\nfunc f() {}\n",
        &[Imports, Definition],
    );
    check("package p\n\nvar ( // none\n)\n", &[Between]);
}

#[test]
fn a_table_of_definitions_is_text() {
    let text = format!("package p\n{}", "var x = 1\n".repeat(DEFS_PER_FILE_MAX + 1));
    let facts = facts(Input::plain(&RepoPath::new("a.go").unwrap(), &text, &LineIndex::new(&text)));
    assert_eq!((facts.interface.outcome, facts.interface.defs.len()), (Outcome::TextOnly, 0));
    assert!(facts.chunks.iter().all(|c| c.kind == ChunkKind::Lines) && !facts.chunks.is_empty());
}

proptest::proptest! {
    #[test]
    fn any_text_is_ordinary_input(text in "([a-z(){}\\[\\]:=.,*& \n\"'`/]|func |type |struct |switch |case |range |:= |package p\n){0,120}") {
        let facts = facts(Input::plain(&RepoPath::new("a_test.go").unwrap(), &text, &LineIndex::new(&text)));
        let read = Facts::inside(&facts);
        for i in 0..read.n_exprs() as u32 {
            let e = read.expr(ExprId(i));
            proptest::prop_assert!(e.at as usize <= text.len());
        }
        for d in &facts.interface.defs {
            for s in [d.span, d.head, d.doc, d.name_span] {
                proptest::prop_assert!(s.start <= s.end && text.get(s.range()).is_some());
            }
            proptest::prop_assert!(d.parent.some().is_none_or(|p| p.index() < facts.interface.defs.len()));
        }
    }
}
