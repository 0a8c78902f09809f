use super::*;
use indexd_model::limits::CHUNK_BYTES_MAX;
use indexd_model::{Facts, Key};
use proptest::prelude::*;

fn path(path: &str) -> RepoPath {
    RepoPath::new(path).unwrap()
}

/// Outcome, language, whether it is a secret, number of lines and chunks.
fn check(name: &str, bytes: &[u8], expect: (Outcome, Language, bool, u32, usize)) {
    let got = extract(&path(name), bytes);
    let i = &got.facts.interface;
    let seen = (
        i.outcome,
        i.language,
        i.roles.has(FileRoles::SENSITIVE),
        got.lines.n_lines(),
        got.facts.chunks.len(),
    );
    assert_eq!(seen, expect, "{name}");
    assert!(i.entries.iter().any(|e| e.key == Key::file(name)), "{name} has no entry");
    assert!(!got.facts.chunks.is_empty() || got.text.trim().is_empty() || i.outcome == Outcome::TextOnly);
}

#[test]
fn outcomes_follow_path_and_bytes() {
    use Outcome::{Binary, Parsed, Sensitive, TextOnly, TooLarge};
    check("a.md", b"# T\nx\n", (Parsed, Language::Markdown, false, 2, 1));
    check("a.rst", b"T\n===\n\nx\n", (Parsed, Language::Text, false, 4, 1));
    check("docs/a.txt", b"T\n===\n\nx\n", (Parsed, Language::Text, false, 4, 1));
    check("a.c", b"int x;\n", (Parsed, Language::C, false, 1, 1));
    check("a.x", b"int x;\n", (Parsed, Language::Text, false, 1, 1));
    check("a.toml", b"[a]\nb = 1\n", (Parsed, Language::Toml, false, 2, 1));
    check("empty.yaml", b"", (Parsed, Language::Yaml, false, 0, 0));
    check("a.bin", b"\0\x01", (Binary, Language::Text, false, 0, 0));
    check(".env", b"A=1\n", (Sensitive, Language::Text, true, 0, 0));
    check("c.pem", b"-----BEGIN CERTIFICATE-----\nx\n", (Parsed, Language::Text, false, 2, 1));
    check("k.asc", b"-----BEGIN PGP PRIVATE KEY BLOCK-----\n", (Sensitive, Language::Text, true, 0, 0));
    check("big.txt", &vec![b'x'; (32 << 20) + 1], (TooLarge, Language::Text, false, 0, 0));
    check(
        "min.json",
        &[b"{\"a\": 1,\n\"b\": \"".as_slice(), &[b'x'; 30_000], b"\"}"].concat(),
        (TextOnly, Language::Json, false, 2, 7),
    );
    check(
        "large.txt",
        "okapi line\n".repeat(700_000).as_bytes(),
        (TextOnly, Language::Text, false, 700_000, 17_500),
    );
    check(
        "long.go",
        "// a line\n".repeat(440_000).as_bytes(),
        (TextOnly, Language::Go, false, 440_000, 11_000),
    );
}

#[test]
fn manifests_name_their_project() {
    for (name, text) in [
        ("pyproject.toml", "[project]\nname = \"demo\"\n"),
        ("package.json", "{\"name\": \"demo\"}"),
        ("setup.cfg", "[metadata]\nname = demo\n"),
    ] {
        let got = extract(&path(name), text.as_bytes());
        let facts = Facts::inside(&got.facts);
        assert_eq!(facts.interface.package.map(|p| facts.str(p)), Some("demo"), "{name}");
        assert!(facts.interface.roles.has(FileRoles::MANIFEST));
    }
}

fn any_path() -> impl Strategy<Value = &'static str> {
    proptest::sample::select(vec![
        "a.go",
        "a_test.go",
        "go.mod",
        "go.work",
        "a.py",
        "__init__.py",
        "a.pyi",
        "a.md",
        "a.rst",
        "a.toml",
        "a.yaml",
        "a.json",
        "a.ini",
        "Makefile",
        "a.c",
        "tool",
        "x.pem",
    ])
}

/// Bytes that come near the syntax of the languages, and any bytes at all.
fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let words = proptest::sample::select(vec![
        "func f() {",
        "}",
        "package p\n",
        "class A(B):\n",
        "    def g(self):\n",
        "        return x\n",
        "\"\"\"",
        "```\n",
        "# H\n",
        "===\n",
        "---\n",
        "[a]\n",
        "k: v\n",
        "{\"k\": [",
        "]}",
        "x = 1\n",
        "\t",
        "\n",
        "\r\n",
        "\r",
        "import (",
        ")",
        "type T struct {",
        "ä",
        "\u{4e2d}",
        "\u{feff}",
        "`",
        "'",
        "//go:build x\n",
        "if x:\n",
        "@d\n",
        "lambda: ",
        "async ",
        "f\"{",
        "*",
        ":=",
        "<-",
        "...",
    ]);
    prop_oneof![
        4 => proptest::collection::vec(words, 0..80).prop_map(|w| w.concat().into_bytes()),
        1 => proptest::collection::vec(any::<u8>(), 0..400),
    ]
}

#[test]
fn tokens_that_end_within_a_character_name_nothing() {
    for (name, text) in [
        ("a.js", "function 's'.\u{df}=function (){"),
        ("a.js", "```````````````\u{db}Maker(name).m=function(){"),
        ("a.sql", "CREATE TABLE ('''''''''''''\u{e3}java.util.L'''t"),
    ] {
        let got = extract(&path(name), text.as_bytes());
        for d in &got.facts.interface.defs {
            for span in [d.span, d.head, d.doc, d.name_span] {
                assert!(got.text.get(span.range()).is_some(), "{name}: {span:?} of {text:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn any_bytes_give_sound_facts(name in any_path(), bytes in any_bytes()) {
        let got = extract(&path(name), &bytes);
        let lines = LineIndex::new(&got.text);
        let mut next = 1;
        for c in &got.facts.chunks {
            prop_assert!(c.lines.start >= next, "chunks overlap");
            prop_assert_eq!(c.span, lines.lines_span(c.lines), "chunks are whole lines");
            prop_assert!(c.part < c.n_parts);
            prop_assert!(c.span.len() as usize <= CHUNK_BYTES_MAX || c.lines.count() == 1);
            prop_assert!(c.def.some().is_none_or(|d| d.index() < got.facts.interface.defs.len()));
            next = c.lines.end + 1;
        }
        for d in &got.facts.interface.defs {
            for span in [d.span, d.head, d.doc, d.name_span] {
                prop_assert!(got.text.get(span.range()).is_some(), "{span:?} does not cut the text between characters");
            }
            prop_assert!(d.span.contains(d.name_span) || d.name_span.is_empty());
        }
        // Terms are taken of what extraction gives, so that nothing downstream meets a bad span.
        let mut vocabulary = indexd_model::terms::Vocabulary::default();
        let terms = indexd_text::file_terms(Facts::inside(&got.facts), &got.facts.chunks, name, &got.text, &mut vocabulary);
        prop_assert_eq!(terms.chunks.len(), got.facts.chunks.len());
    }

    #[test]
    fn extraction_is_pure(name in any_path(), bytes in any_bytes()) {
        prop_assert_eq!(extract(&path(name), &bytes).facts, extract(&path(name), &bytes).facts);
    }
}
