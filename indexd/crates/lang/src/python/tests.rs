//! Facts of small sources as readable snapshots, and what must hold for any input.

use super::*;
use indexd_model::names::descriptor;
use indexd_model::{BindingId, ExprId, LineIndex, List, Node, RepoPath, Role, Source};
use std::fmt::Write;

/// Renders facts for a reader: imports, definitions with their parts, then uses by line.
fn render(facts: &FileFacts, text: &str) -> String {
    let f = Facts::inside(facts);
    let p = Printer { f };
    let lines = LineIndex::new(text);
    let mut out = format!("{:?}\n", facts.interface.outcome);
    if let Some(names) = &facts.interface.exports {
        let names: Vec<_> = names.iter().map(|n| f.str(*n)).collect();
        let _ = writeln!(out, "exports {}", names.join(", "));
    }
    for i in &facts.interface.imports {
        let name = |s: Option<indexd_model::StrId>| s.map_or("-", |s| f.str(s));
        let dots = ".".repeat(i.level.into());
        let at = if i.conditional { " conditional" } else { "" };
        let _ = writeln!(
            out,
            "import {:?} {dots}{} {} as {}{at}",
            i.kind,
            f.str(i.module),
            name(i.name),
            name(i.alias)
        );
    }
    for (i, d) in facts.interface.defs.iter().enumerate() {
        let _ = write!(out, "{:?} {} {}", d.kind, descriptor(&f, DefIdx(i as u32)), flags(d.flags));
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
        for (label, list) in [
            ("results", &d.results),
            ("returns", &d.returns),
            ("bases", &d.bases),
            ("decorators", &d.decorators),
        ] {
            if !list.is_empty() {
                let all: Vec<_> = list.iter().map(|e| p.expr(*e)).collect();
                let _ = write!(out, " {label}=[{}]", all.join(", "));
            }
        }
        out.push('\n');
        for (label, span) in [("head", d.head), ("doc", d.doc)] {
            let it = text[span.range()].split_whitespace().collect::<Vec<_>>().join(" ");
            if !it.is_empty() {
                let _ = writeln!(out, "    {label}: {it}");
            }
        }
    }
    let mut uses: Vec<(u32, String)> = (0..f.n_exprs() as u32)
        .map(|i| (ExprId(i), f.expr(ExprId(i))))
        .filter(|(_, e)| e.role != Role::None)
        .map(|(i, e)| (e.at, format!("{:?} {}", e.role, p.expr(i))))
        .collect();
    uses.sort();
    for (at, it) in uses {
        let _ = writeln!(out, "{}: {it}", lines.line(at));
    }
    for c in &facts.chunks {
        let def = c.def.some().map_or(String::new(), |d| descriptor(&f, d));
        let _ = writeln!(out, "chunk {}-{} {:?} {def}", c.lines.start, c.lines.end, c.kind);
    }
    out
}

fn flags(flags: DefFlags) -> String {
    let all = [
        (DefFlags::LOCAL, "local"),
        (DefFlags::STATIC, "static"),
        (DefFlags::CLASS, "class"),
        (DefFlags::ASYNC, "async"),
        (DefFlags::GENERATOR, "generator"),
        (DefFlags::ABSTRACT, "abstract"),
        (DefFlags::TEST, "test"),
        (DefFlags::OVERLOAD, "overload"),
        (DefFlags::CONDITIONAL, "conditional"),
        (DefFlags::INSTANCE, "instance"),
        (DefFlags::SETTER, "setter"),
        (DefFlags::WRAPPED, "wrapped"),
        (DefFlags::CONTEXT_MANAGER, "context"),
        (DefFlags::RECORD, "record"),
        (DefFlags::EXPORTED, "exported"),
    ];
    all.iter().filter(|f| flags.has(f.0)).map(|f| f.1).collect::<Vec<_>>().join(" ")
}

struct Printer<'a> {
    f: Facts<'a>,
}

impl Printer<'_> {
    fn binding(&self, id: BindingId) -> String {
        let Some(b) = self.f.binding(id) else { return "?".into() };
        let sources: Vec<_> = self.f.sources(b).iter().map(|s| self.source(*s)).collect();
        let sources = if sources.is_empty() { String::new() } else { format!(" {}", sources.join(" | ")) };
        format!("{}{sources}", self.f.str(b.name))
    }

    fn source(&self, s: Source) -> String {
        match s {
            Source::Declared(e) => format!(": {}", self.expr(e)),
            Source::Assigned(e) => format!("= {}", self.expr(e)),
            Source::Unpacked { value, index } => format!("= {}.{index}", self.expr(value)),
            Source::Element { of, .. } => format!("in {}", self.expr(of)),
            Source::ElementUnpacked { of, index } => format!("in {} .{index}", self.expr(of)),
            Source::Entered(e) => format!("with {}", self.expr(e)),
            Source::Caught(e) => format!("except {}", self.expr(e)),
            Source::Narrowed(e) => format!("is {}", self.expr(e)),
            Source::Def(d) => format!("def {}", self.f.def_name(d)),
            Source::Import(i) => format!("import {i}"),
        }
    }

    fn list(&self, list: List) -> String {
        self.f.list(list).iter().map(|e| self.expr(*e)).collect::<Vec<_>>().join(", ")
    }

    fn expr(&self, id: ExprId) -> String {
        if id.some().is_none() {
            return "_".into();
        }
        match self.f.expr(id).node {
            // A local shows where it was bound: `x@17`.
            Node::Name { name, binding } => match self.f.binding(binding) {
                Some(b) => format!("{}@{}", self.f.str(name), b.at),
                None => self.f.str(name).to_owned(),
            },
            Node::Attr { base, name } => format!("{}.{}", self.expr(base), self.f.str(name)),
            Node::Call { callee, args } => format!("{}({})", self.expr(callee), self.list(args)),
            Node::Keyword { name, value } => format!("{}={}", self.f.str(name), self.expr(value)),
            Node::KeyValue { key, value } => format!("{}: {}", self.expr(key), self.expr(value)),
            Node::Spread { value } => format!("*{}", self.expr(value)),
            Node::Index { base, args } => format!("{}[{}]", self.expr(base), self.list(args)),
            Node::Item { base, index } => format!("{}[{index}]", self.expr(base)),
            Node::Slice { base } => format!("{}[:]", self.expr(base)),
            Node::Unary { value } => format!("not {}", self.expr(value)),
            Node::Binary { left, right } => format!("{} or {}", self.expr(left), self.expr(right)),
            Node::Conditional { then, otherwise } => {
                format!("({} if _ else {})", self.expr(then), self.expr(otherwise))
            }
            Node::Assert { value, ty } => format!("{} is {}", self.expr(value), self.expr(ty)),
            Node::Sequence { kind, elems } => format!("{kind:?}({})", self.list(elems)),
            Node::Comprehension { kind, elem } => format!("{kind:?}Of({})", self.expr(elem)),
            Node::Literal { kind } => format!("{kind:?}"),
            Node::Lambda { params, result } => format!("lambda {}: {}", self.list(params), self.expr(result)),
            Node::Await { value } => format!("await {}", self.expr(value)),
            Node::Yield { value } => format!("yield {}", self.expr(value)),
            Node::Union { left, right } => format!("{} | {}", self.expr(left), self.expr(right)),
            Node::Quoted { value } => format!("'{}'", self.expr(value)),
            Node::Unread { name } => format!("unread {}", self.f.str(name)),
            Node::Def { def } => format!("<{}>", self.f.def_name(def)),
            other => format!("{other:?}"),
        }
    }
}

fn read(text: &str) -> FileFacts {
    facts(Input::plain(&RepoPath::new("pkg/mod.py").unwrap(), text, &LineIndex::new(text)))
}

/// Compares each `fixtures/*.py` with its facts, kept as `*.facts`; `UPDATE_FIXTURES=1` writes them.
#[test]
fn fixtures() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/python/fixtures");
    let mut names: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|e| e.unwrap().path()).collect();
    names.retain(|p| p.extension().is_some_and(|e| e == "py"));
    names.sort();
    assert!(names.len() >= 7);
    for path in names {
        let text = std::fs::read_to_string(&path).unwrap();
        let got = render(&read(&text), &text);
        let expected = path.with_extension("facts");
        if std::env::var_os("UPDATE_FIXTURES").is_some() {
            std::fs::write(&expected, &got).unwrap();
        }
        assert_eq!(got, std::fs::read_to_string(&expected).unwrap_or_default(), "{}", path.display());
    }
}

fn kinds_of(text: &str) -> Vec<ChunkKind> {
    read(text).chunks.iter().map(|c| c.kind).collect()
}

#[test]
fn a_body_that_does_nothing_makes_a_stub() {
    use ChunkKind::{Definition, Stub};
    let check = |body: &str, expect: ChunkKind| {
        assert_eq!(
            kinds_of(&format!("def f(\n    a: int = 1,  # one\n) -> int:{body}")),
            [expect],
            "{body:?}"
        );
    };
    check(" ...\n", Stub);
    check(" pass\n", Stub);
    check("\n    \"\"\"Says what.\n\n    At length.\n    \"\"\"\n", Stub);
    check("\n    '''Says what.'''\n    # later\n    raise NotImplementedError\n", Stub);
    check("\n    raise NotImplementedError(  # not here\n        \"in subclasses\",\n    )\n", Stub);
    check("\n    raise NotImplementedErrors\n", Definition);
    check("\n    raise NotImplementedError(\"a\") if a else b\n", Definition);
    check("\n    return ...\n", Definition);
    check("\n    pass\n    return 1\n", Definition);
}

#[test]
fn text_between_definitions_is_named_by_what_it_holds() {
    use ChunkKind::{Between, Comment, Imports};
    let check = |text: &str, expect: ChunkKind| assert_eq!(kinds_of(text), [expect], "{text:?}");
    check("# A licence.\n", Comment);
    assert_eq!(kinds_of("#!/bin/sh\n# A licence.\n\n# The first.\nimport os\n"), [Comment, Imports]);
    check("\"\"\"A module.\"\"\"\n", Comment);
    check("\"\"\"A module.\"\"\"\nimport os; import re  # both\nfrom a import (\n    b,\n)\n", Imports);
    check("from __future__ import annotations\n__all__ = [\"a\"]\n__all__ += b.__all__\n", Imports);
    check("if TYPE_CHECKING:\n    import a\nelif X:\n    pass\nelse:\n    from b import c\n", Imports);
    check("try:\n    import a\nexcept ImportError:\n    import b as a\n", Imports);
    check("try:\n    import a\nexcept ImportError:\n    a = None\n", Between);
    check("import os\nos.chdir(\"/\")\n", Between);
    check("x = 1\n", Between);
    let deep: String = (0..40).map(|i| format!("{}if a:\n", " ".repeat(i))).collect();
    check(&format!("{deep}{}import b\n", " ".repeat(40)), Between);
}

#[test]
fn deep_nesting_is_opaque_beyond_the_limit() {
    for deep in [
        format!("x = {}1{}\ndef after(): pass\n", "(".repeat(3_000), ")".repeat(3_000)),
        format!("x = 1{}\ndef after(): pass\n", " + y".repeat(20_000)),
        format!("x = a{}\ndef after(): pass\n", ".b()".repeat(5_000)),
    ] {
        assert!(read(&deep).interface.defs.iter().any(|d| d.kind == DefKind::Function), "{}", &deep[..40]);
    }
}

/// Facts stay in proportion to the text, whatever flows through it.
#[test]
fn flow_stays_linear() {
    let assigned = "    o.a.b = f()\n    o = o.a\n    o.c = o.a.b\n".repeat(500);
    let branches =
        "    if isinstance(x, A):\n        x = x.a\n        x.b = f(x)\n    else:\n        y = x.b\n"
            .repeat(500);
    let loops: String =
        (0..60).map(|i| format!("{}for x{i} in x{}:\n", " ".repeat(i + 1), i.max(1) - 1)).collect();
    for body in [assigned, branches, loops + &" ".repeat(62) + "pass\n"] {
        let text = format!("def g(o, x, x0):\n{body}");
        let facts = read(&text);
        let f = Facts::inside(&facts);
        assert!(
            f.n_exprs() < text.len() && f.n_bindings() < text.len(),
            "{} {}",
            f.n_exprs(),
            f.n_bindings()
        );
    }
}

#[test]
fn a_table_of_definitions_is_cut() {
    use indexd_model::limits::DEFS_PER_FILE_MAX;
    let text: String = (0..DEFS_PER_FILE_MAX + 10).map(|i| format!("v{i} = 1\n")).collect();
    assert_eq!(read(&text).interface.defs.len(), DEFS_PER_FILE_MAX);
}

proptest::proptest! {
    #[test]
    fn any_text_is_ordinary_input(
        text in "([a-z(){}\\[\\]:=.,*@ \n\"']|def |class |self\\.|if |else:|for |in |import |from |lambda |\n    |return |yield |match |case |with |as |global |ü){0,120}"
    ) {
        let facts = read(&text);
        let f = Facts::inside(&facts);
        for i in 0..f.n_exprs() as u32 {
            proptest::prop_assert!(f.expr(ExprId(i)).at as usize <= text.len());
        }
        for d in &facts.interface.defs {
            for s in [d.span, d.head, d.doc, d.name_span] {
                proptest::prop_assert!(s.start <= s.end && text.get(s.range()).is_some());
            }
            proptest::prop_assert!(d.parent.some().is_none_or(|p| p.index() < facts.interface.defs.len()));
        }
        for pair in facts.chunks.windows(2) {
            proptest::prop_assert!(pair[0].span.end <= pair[1].span.start);
        }
    }
}
