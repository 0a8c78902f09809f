use super::*;
use indexd_oracle::Oracle;

fn options() -> ExportOptions {
    ExportOptions {
        project_root: "file:///r".into(),
        tool_version: "1".into(),
        confidence_min: 50,
    }
}

fn exported(tree: &[(&str, &str)]) -> Index {
    let mut bytes = Vec::new();
    let counts = export(&Oracle::of(tree), &options(), &mut bytes).unwrap();
    let index = Index::parse_from_bytes(&bytes).unwrap();
    let n = |f: fn(&Document) -> usize| index.documents.iter().map(f).sum::<usize>() as u64;
    assert_eq!(counts.n_documents, index.documents.len() as u64);
    assert_eq!(
        (counts.n_occurrences, counts.n_symbols),
        (n(|d| d.occurrences.len()), n(|d| d.symbols.len()))
    );
    index
}

fn lines(text: &str) -> Vec<&str> {
    text.lines()
        .map(str::trim)
        .filter(|l| !l.is_empty())
        .collect()
}

fn names(roles: i32) -> String {
    let all = [
        (1, "def"),
        (2, "import"),
        (4, "write"),
        (8, "read"),
        (16, "generated"),
        (32, "test"),
    ];
    let set: Vec<&str> = all
        .iter()
        .filter(|(bit, _)| roles & bit != 0)
        .map(|(_, name)| *name)
        .collect();
    set.join("+")
}

/// A symbol without scheme and package.
fn short(symbol: &str) -> &str {
    if symbol.starts_with("local ") {
        symbol
    } else {
        symbol.splitn(5, ' ').last().unwrap()
    }
}

/// The occurrences of one document: range, roles, symbol without scheme and package, whole range.
#[track_caller]
fn check_places(tree: &[(&str, &str)], path: &str, expect: &str) {
    let index = exported(tree);
    let document = index
        .documents
        .iter()
        .find(|d| d.relative_path == path)
        .unwrap();
    let got: Vec<String> = document
        .occurrences
        .iter()
        .map(|o| {
            let symbol = short(&o.symbol);
            let around = if o.enclosing_range.is_empty() {
                String::new()
            } else {
                format!(" in {:?}", o.enclosing_range)
            };
            format!("{:?} {} {symbol}{around}", o.range, names(o.symbol_roles))
        })
        .collect();
    assert_eq!(got, lines(expect), "\n{}", got.join("\n"));
}

/// The symbols of one document: symbol, kind, documentation, relationships.
#[track_caller]
fn check_symbols(tree: &[(&str, &str)], path: &str, expect: &str) {
    let index = exported(tree);
    let document = index
        .documents
        .iter()
        .find(|d| d.relative_path == path)
        .unwrap();
    let got: Vec<String> = document
        .symbols
        .iter()
        .map(|s| {
            let mut out = format!(
                "{} {:?} {:?}",
                short(&s.symbol),
                s.kind.enum_value().unwrap(),
                s.documentation.join("\n")
            );
            for r in &s.relationships {
                assert!(r.is_implementation);
                out.push_str(&format!(
                    " {}{}",
                    if r.is_reference {
                        "overrides "
                    } else {
                        "extends "
                    },
                    short(&r.symbol)
                ));
            }
            out
        })
        .collect();
    assert_eq!(got, lines(expect), "\n{}", got.join("\n"));
}

const PYTHON: &[(&str, &str)] = &[
    ("pyproject.toml", "[project]\nname = \"proj\"\n"),
    (
        "lib.py",
        "limit = 3\n\nclass Store:\n    \"\"\"Keeps things.\n\n    Some:\n      indented.\n    \"\"\"\n    def get(self):\n        return limit\n",
    ),
    (
        "test_app.py",
        "from lib import Store\n\u{e9}t\u{e9} = Store().get()\n",
    ),
];

#[test]
fn definitions_have_their_name_and_whole_range() {
    check_places(
        PYTHON,
        "lib.py",
        "
        [0, 0, 0] def lib/
        [0, 0, 5] def lib/limit. in [0, 0, 9]
        [2, 6, 11] def lib/Store# in [2, 0, 9, 20]
        [8, 8, 11] def lib/Store#get(). in [8, 4, 9, 20]
        [9, 15, 20] read lib/limit.
        ",
    );
}

#[test]
fn uses_have_roles_and_columns_in_bytes() {
    check_places(
        PYTHON,
        "test_app.py",
        "
        [0, 0, 0] def+test test_app/
        [0, 16, 21] import+read+test lib/Store#
        [1, 0, 5] def+test test_app/`\u{e9}t\u{e9}`. in [1, 0, 21]
        [1, 8, 13] read+test lib/Store#
        [1, 16, 19] read+test lib/Store#get().
        ",
    );
}

#[test]
fn symbols_have_kind_documentation_and_relationships() {
    check_symbols(
        PYTHON,
        "lib.py",
        "
        lib/ Module \"\"
        lib/Store# Class \"Keeps things.\\n\\nSome:\\n  indented.\"
        lib/Store#get(). Method \"\"
        lib/limit. Variable \"\"
        ",
    );
    check_symbols(
        &[(
            "a.py",
            "class A:\n    def f(self): ...\nclass B(A):\n    def f(self): ...\n",
        )],
        "a.py",
        "
        a/ Module \"\"
        a/A# Class \"\"
        a/A#f(). Method \"\"
        a/B# Class \"\" extends a/A#
        a/B#f(). Method \"\" overrides a/A#f().
        ",
    );
}

const GO: &[(&str, &str)] = &[
    ("go.mod", "module m\n"),
    (
        "net/net.go",
        "package net\n\n// Dial dials.\n//\n// Slowly.\nfunc Dial() {}\n\nfunc init() { Dial() }\n\nvar _ = Dial\n",
    ),
    (
        "cmd/main.go",
        "// Code generated by x. DO NOT EDIT.\npackage main\n\nimport \"m/net\"\n\nfunc main() { net.Dial() }\n",
    ),
];

#[test]
fn go_packages_imports_and_names_that_name_nothing() {
    check_places(
        GO,
        "net/net.go",
        "
        [0, 0, 0] def net/
        [5, 5, 9] def net/Dial(). in [2, 0, 5, 14]
        [7, 5, 9] def local 0 in [7, 0, 22]
        [7, 14, 18] read net/Dial().
        [9, 8, 12] read net/Dial().
        ",
    );
    check_symbols(
        GO,
        "net/net.go",
        "
        net/ Package \"\"
        net/Dial(). Function \"Dial dials.\\n\\nSlowly.\"
        local 0 Function \"\"
        ",
    );
    let index = exported(GO);
    let main = index
        .documents
        .iter()
        .find(|d| d.relative_path == "cmd/main.go")
        .unwrap();
    let import = main
        .occurrences
        .iter()
        .find(|o| o.range == [3, 7, 14])
        .expect("the import path with its quotes");
    assert_eq!(
        (import.symbol.as_str(), names(import.symbol_roles).as_str()),
        ("indexd gomod m . net/", "import+read+generated")
    );
}

/// What a reader relies on, for every document of an index.
#[track_caller]
fn check_form(index: &Index) {
    let mut paths: Vec<&str> = index
        .documents
        .iter()
        .map(|d| d.relative_path.as_str())
        .collect();
    let n = paths.len();
    paths.dedup();
    assert_eq!(paths.len(), n);
    assert!(paths.is_sorted());
    let defined: std::collections::BTreeSet<&str> = index
        .documents
        .iter()
        .flat_map(|d| &d.occurrences)
        .filter(|o| o.symbol_roles & SymbolRole::Definition as i32 != 0)
        .map(|o| o.symbol.as_str())
        .collect();
    for d in &index.documents {
        assert_eq!(
            d.position_encoding.enum_value(),
            Ok(PositionEncoding::UTF8CodeUnitOffsetFromLineStart)
        );
        let ranges: Vec<_> = d
            .occurrences
            .iter()
            .map(|o| (crate::import::range_of(o).unwrap(), &o.symbol))
            .collect();
        assert!(
            ranges.windows(2).all(|w| w[0] < w[1]),
            "occurrences of {} are sorted, none twice",
            d.relative_path
        );
        assert!(
            d.symbols.windows(2).all(|w| w[0].symbol < w[1].symbol),
            "symbols are sorted, none twice"
        );
        for o in &d.occurrences {
            assert!(
                crate::symbol::Symbol::parse(&o.symbol).is_ok(),
                "{}",
                o.symbol
            );
            assert!(
                defined.contains(o.symbol.as_str()),
                "{} is defined somewhere",
                o.symbol
            );
        }
        for s in &d.symbols {
            let here = |o: &&Occurrence| {
                o.symbol == s.symbol && o.symbol_roles & SymbolRole::Definition as i32 != 0
            };
            assert!(
                d.occurrences.iter().any(|o| here(&o)),
                "{} is defined where it is described",
                s.symbol
            );
        }
    }
    assert!(index.external_symbols.is_empty());
}

#[test]
fn every_export_has_the_form_that_readers_rely_on() {
    for tree in [PYTHON, GO] {
        check_form(&exported(tree));
    }
}

#[test]
fn the_order_of_the_tree_does_not_count_and_bytes_repeat() {
    let bytes = |tree: &[(&str, &str)]| {
        let mut out = Vec::new();
        export(&Oracle::of(tree), &options(), &mut out).unwrap();
        out
    };
    let mut reversed = PYTHON.to_vec();
    reversed.reverse();
    assert_eq!(bytes(PYTHON), bytes(&reversed));
}

#[test]
fn our_own_export_can_be_imported() {
    let oracle = Oracle::of(PYTHON);
    let mut bytes = Vec::new();
    export(&oracle, &options(), &mut bytes).unwrap();
    let index = crate::read(&bytes).unwrap();
    let read_file = |path: &str| {
        let file = indexd_model::FactsView::file_by_path(&oracle, path)?;
        Some((oracle.file(file).hash, oracle.text(file)))
    };
    let imported = crate::resolve_import(&index, "", &read_file, &oracle);
    let counts = (imported.n_targets, imported.n_external, imported.n_dropped);
    // The uses of limit, Store (twice) and get.
    assert_eq!(counts, (4, 0, 0), "{imported:?}");
    assert_eq!(
        (imported.unknown_files, imported.stale_files),
        (vec!["pyproject.toml".to_owned()], vec![])
    );
}

#[test]
fn text_that_is_not_utf8_comes_along() {
    let utf16: Vec<u8> = [0xff, 0xfe]
        .into_iter()
        .chain("x = 1\n".encode_utf16().flat_map(u16::to_le_bytes))
        .collect();
    let mut bytes = Vec::new();
    export(&Oracle::of(&[("a.py", utf16)]), &options(), &mut bytes).unwrap();
    let index = Index::parse_from_bytes(&bytes).unwrap();
    assert!(index.documents[0].text.contains("x = 1"));
    assert_eq!(exported(&[("a.py", "x = 1\n")]).documents[0].text, "");
}

#[test]
fn docstrings_and_comments_lose_their_marks() {
    for (language, text, expect) in [
        (Language::Python, "\"\"\"One.\"\"\"", "One."),
        (
            Language::Python,
            "r'''One.\n\n    Two:\n        three\n    '''",
            "One.\n\nTwo:\n    three",
        ),
        (Language::Python, "'One'", "One"),
        (
            Language::Python,
            "\"\"\"\n  \u{e9}t\u{e9}\n    x\n  \"\"\"",
            "\u{e9}t\u{e9}\n  x",
        ),
        (Language::Go, "// One.\n//\n//\tcode", "One.\n\n\tcode"),
        (Language::Go, "/*\nOne.\n*/", "One."),
        (Language::Markdown, "", ""),
    ] {
        assert_eq!(documentation(text, language), expect, "{text:?}");
    }
}
