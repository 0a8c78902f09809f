//! Each language's fixture with the outline that is expected of it, and what holds for any input.

use super::*;
use indexd_model::names::descriptor;
use std::fmt::Write;
use std::path::Path;

/// Definitions with their kind, marks, head and doc, imports, and chunks.
fn render(text: &str, facts: &FileFacts) -> String {
    let read = Facts::inside(facts);
    let mut out = format!("{:?}\n", facts.interface.outcome);
    for i in &facts.interface.imports {
        let name = i.name.map_or(String::new(), |n| format!(" {}", read.str(n)));
        let alias = i.alias.map_or(String::new(), |a| format!(" as {}", read.str(a)));
        let passed = match i.level {
            0 => "",
            _ if ecma::is_ecma(facts.interface.language) => " passed on",
            _ => " from this folder",
        };
        let _ = writeln!(out, "import {:?}{name}{alias}{passed}", read.str(i.module));
    }
    for (i, d) in facts.interface.defs.iter().enumerate() {
        let squeezed =
            |s: indexd_model::Span| text[s.range()].split_whitespace().collect::<Vec<_>>().join(" ");
        let marks = [
            (DefFlags::EXPORTED, "exported"),
            (DefFlags::LOCAL, "local"),
            (DefFlags::STATIC, "static"),
            (DefFlags::ASYNC, "async"),
            (DefFlags::ABSTRACT, "abstract"),
            (DefFlags::TEST, "test"),
        ];
        let marks: Vec<&str> = marks.iter().filter(|m| d.flags.has(m.0)).map(|m| m.1).collect();
        let _ = writeln!(
            out,
            "{:?} {} [{}] {}",
            d.kind,
            descriptor(&read, DefIdx(i as u32)),
            marks.join(" "),
            squeezed(d.head)
        );
        if !d.doc.is_empty() {
            let _ = writeln!(out, "    {}", squeezed(d.doc));
        }
        assert!(
            text[d.name_span.range()].contains(read.str(d.name)) || d.name_span.len() > 1,
            "{}",
            read.str(d.name)
        );
    }
    for c in &facts.chunks {
        let owner = c.def.some().map_or(String::new(), |d| format!(" {}", descriptor(&read, d)));
        let part = if c.n_parts > 1 { format!(" {}/{}", c.part + 1, c.n_parts) } else { String::new() };
        let _ = writeln!(out, "{}-{} {:?}{owner}{part}", c.lines.start, c.lines.end, c.kind);
    }
    out
}

fn extracted(path: &str, text: &str) -> FileFacts {
    crate::extract(&RepoPath::new(path).unwrap(), text.as_bytes()).facts
}

/// Every file of `fixtures` has its outline beside it; `UPDATE_FIXTURES=1` writes them.
#[test]
fn fixtures() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/grammars/fixtures");
    let mut paths: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|e| e.unwrap().path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e != "outline"));
    paths.sort();
    let mut seen = Vec::new();
    for path in &paths {
        let text = std::fs::read_to_string(path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap();
        let facts = extracted(&format!("src/{name}"), &text);
        seen.push(facts.interface.language);
        let got = render(&text, &facts);
        let expected = path.with_file_name(format!("{name}.outline"));
        if std::env::var_os("UPDATE_FIXTURES").is_some() {
            std::fs::write(&expected, &got).unwrap();
        }
        assert_eq!(got, std::fs::read_to_string(&expected).unwrap_or_default(), "{name}");
    }
    for table in all() {
        assert!(seen.contains(&table.language), "{:?} has no fixture", table.language);
    }
}

/// A table that names what its grammar does not have would silently find nothing.
#[test]
fn tables_name_what_their_grammars_have() {
    for table in all() {
        let parser = (table.parser)();
        let has_kind = |kind: &str| parser.id_for_node_kind(kind, true) != 0;
        let has_field = |field: &str| parser.field_id_for_name(field).is_some();
        let kinds = table.rules().map(|d| d.kind);
        let kinds = kinds.chain(table.owners.iter().map(|o| o.0)).chain(table.wrappers.iter().copied());
        let kinds = kinds.chain(table.attributes.iter().copied()).chain(table.comments.iter().copied());
        let kinds = kinds.chain(table.imports.iter().map(|i| i.0));
        let mut missing: Vec<&str> = kinds.filter(|k| !has_kind(k)).collect();
        for define in table.rules() {
            let path = if let table::Name::Path(path) = define.name { path } else { &[] };
            let steps = path.iter().chain(define.body).copied();
            missing.extend(steps.filter(|s| *s != "name" && *s != "body" && !has_kind(s) && !has_field(s)));
            missing.extend(define.functions.iter().copied().filter(|k| !has_kind(k)));
        }
        if let Some(scopes) = table.scopes {
            let lists =
                [scopes.functions, scopes.blocks, scopes.hoisted, scopes.names, scopes.types, scopes.bases];
            let lists = lists.iter().copied().flatten().chain(scopes.no_this);
            let kinds = lists.chain(scopes.passed).copied();
            missing.extend(kinds.filter(|k| !has_kind(k) && !k.starts_with("jsx_")));
            missing.extend(scopes.binds.iter().map(|b| b.0).filter(|k| !has_kind(k)));
        }
        if let Some(typed) = table.typed {
            let kinds = typed.forms.iter().map(|f| f.0).chain(typed.scopes.iter().copied());
            missing.extend(kinds.filter(|k| !has_kind(k)));
            let parts = typed.forms.iter().flat_map(|f| f.2).copied();
            let is_place = |p: &&str| {
                ["", typed::forms::FIRST, typed::forms::LAST, typed::forms::BEFORE_LAST].contains(p)
            };
            missing.extend(parts.filter(|p| !is_place(p) && !has_kind(p) && !has_field(p)));
        }
        assert_eq!(missing, [""; 0], "{:?}", table.language);
    }
}

/// Words and marks of all the languages.
const PIECES: &str = "(fn |pub |class |struct |interface |enum |namespace |module |def |function |impl |export |import |const |let |var |type |message |CREATE TABLE |resource |describe\\(|it\\(|end\n|=> |\\{|\\}|\\(|\\)|;|<|>|=|\"|'|`|//|/\\*|#|--|[a-zü]{1,3}|\n| |::|\\.){0,80}";

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(60))]

    #[test]
    fn any_text_is_ordinary_input(text in PIECES) {
        for extension in ["rs", "ts", "tsx", "js", "java", "c", "hpp", "cs", "rb", "php", "kt", "swift", "scala", "sh", "lua", "proto", "sql", "tf", "vue"] {
            let facts = extracted(&format!("a.{extension}"), &text);
            for d in &facts.interface.defs {
                for s in [d.span, d.head, d.doc, d.name_span] {
                    proptest::prop_assert!(s.start <= s.end && text.get(s.range()).is_some(), "{}", extension);
                }
                proptest::prop_assert!(d.span.contains(d.head), "{}", extension);
                proptest::prop_assert!(d.parent.some().is_none_or(|p| p.index() < facts.interface.defs.len()));
            }
            let mut next = 1;
            for c in &facts.chunks {
                proptest::prop_assert!(c.lines.start >= next && c.part < c.n_parts, "{} {:?}", extension, c);
                next = c.lines.end + 1;
            }
            proptest::prop_assert_eq!(&facts, &extracted(&format!("a.{extension}"), &text));
        }
    }
}

#[test]
fn the_work_of_a_parser_is_bounded_by_the_size_of_the_file() {
    assert_eq!([0, 1 << 20, 4 << 20].map(calls_max), [20_000, 101_920, 200_000]);
}

/// The scanner of Kotlin's grammar looks for the end of an annotation beyond that of the text.
#[test]
fn a_parser_stops_at_the_end_of_a_text() {
    for end in ["@B", "@B(", "@B(1, x y", "@B(\"(\")", "@", "@B @C.D", "val y = 2\n@get:B"] {
        for begin in ["class A\n", "class A {\n    val x = 1\n", "class A(val x: Int)\n"] {
            let facts = extracted("a.kt", &format!("{begin}{end}"));
            let names: Vec<&str> = facts
                .interface
                .defs
                .iter()
                .map(|d| facts.interface.arena.strings[d.name.index()].as_str())
                .collect();
            assert!(names.contains(&"A"), "{begin}{end}: {names:?}");
        }
    }
    let whole = extracted("a.kt", "@B(1) @C class A(val x: Int)");
    assert_eq!(
        whole.interface.defs.len(),
        extracted("a.kt", "@B(1) @C class A(val x: Int)\n").interface.defs.len()
    );
}

/// Where a syntax error makes its scanner look for the end of a string at each place.
#[test]
fn a_parser_does_not_go_over_a_text_again_and_again() {
    for unit in [
        "}) val x = 1\n@a\n",
        "@a(\n",
        "val s = \"\"\"\n\"\"\" }\n",
        "/* a\n",
        "$ \n",
        "class A {\nval x = 1\n@b\n@c\n",
    ] {
        extracted("a.kt", &format!("}}}}\n{}", unit.repeat(40_000)));
    }
    // The rest of the text is not searched once for each macro, whether or not a brace closes them.
    for end in ["", "\n}\n"] {
        let begun = std::time::Instant::now();
        extracted("a.rs", &("m! {\nfn a() {}\n".repeat(100_000) + end));
        assert!(begun.elapsed().as_secs() < 20, "{end:?}: {:?}", begun.elapsed());
    }
}

#[test]
fn limits_hold_for_each_grammar() {
    for extension in [
        "rs", "ts", "js", "java", "c", "hpp", "cs", "rb", "php", "kt", "swift", "scala", "sh", "lua", "sql",
        "tf",
    ] {
        for unit in ["(", "{", "[", "a.b(", "if (a) {", "\"", "`${", "<a>", "a ? b : ", "fn a() {"] {
            let facts = extracted(&format!("a.{extension}"), &unit.repeat(3_000));
            assert!(facts.chunks.iter().all(|c| c.n_parts > c.part), "{extension} {unit}");
        }
    }
}
