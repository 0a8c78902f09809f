use super::*;
use crate::outline::{facts, testing::show};
use indexd_model::{ChunkKind, Facts, RepoPath};
use proptest::prelude::*;

fn check(path: &str, text: &str, package: Option<&str>, expect: &[&str]) {
    let path = RepoPath::new(path).unwrap();
    let language = crate::roles::language(&path);
    let lines = LineIndex::new(text);
    let outline = outline(&path, language, text, &lines);
    let facts = facts(crate::Input::plain(&path, text, &lines), ChunkKind::Entry, outline);
    assert_eq!(show(&path, text, &facts), expect, "{text}");
    let name = facts.interface.package.map(|p| Facts::inside(&facts).str(p));
    assert_eq!(name, package, "{text}");
}

#[test]
fn toml_has_tables_and_leading_keys() {
    check(
        "pyproject.toml",
        "top = 1\n\n# About.\n[project]\nname = \"demo\" # x\ndeps = [\n  \"a[b]\",\n[\"c\"],\n]\n\n[[tool.x]]\ns = \"\"\"\n[no]\n\"\"\"\nt = \"a\\\"[\"\n[last]\n",
        Some("demo"),
        &[
            "1-1 top",
            "3-9 project",
            "11-15 tool.x",
            "16-16 last",
            "[1-1:-]",
            "[3-9:project]",
            "[11-15:tool.x]",
            "[16-16:-]",
        ],
    );
    check("x.toml", "[a\nb = [\n", None, &["2-2 b", "[1-2:-]"]);
    check("Cargo.toml", "[package]\nname = 'c'\n", Some("c"), &["1-2 package", "[1-2:package]"]);
}

#[test]
fn yaml_has_top_level_keys() {
    check(
        ".github/workflows/ci.yml",
        "# CI\nname: x\n\"on\":\n  push:\n    - a: b\njobs:\n  build: |\n    x: y\n- item\n---\nurl:http\nlast key: 1\n",
        None,
        &[
            "1-2 name",
            "3-5 on",
            "6-11 jobs",
            "12-12 last key",
            "[1-2:name]",
            "[3-5:on]",
            "[6-11:jobs]",
            "[12-12:-]",
        ],
    );
}

#[test]
fn ini_has_sections() {
    check(
        "setup.cfg",
        "root = true\n[metadata]\nname = demo\nlong =\n  a = b\n; c\n[tool:x]\nk: v\n",
        Some("demo"),
        &["1-1 root", "2-5 metadata", "6-8 tool:x", "[1-1:-]", "[2-5:metadata]", "[6-8:tool:x]"],
    );
}

#[test]
fn json_has_keys_of_the_top_object() {
    check(
        "package.json",
        "{\n  // c: \"\n  \"name\": \"de\\\"mo\",\n  \"scripts\": {\n    \"name\": \"x\",\n    \"b\": [1, {\"c\": 2}]\n  },\n  \"last\": [\n    1\n  ]\n}\n",
        Some("de\\\"mo"),
        &["3-3 name", "4-7 scripts", "8-10 last", "[1-3:-]", "[4-7:scripts]", "[8-10:last]", "[11-11:-]"],
    );
    check("a.json", "[{\"a\": 1}]\n", None, &["[1-1:-]"]);
    check("b.json", "{\"a\": 1}", None, &["1-1 a", "[1-1:-]"]);
    check("c.json", "{\"a\": 1, \"b\": 2}", None, &["1-1 a", "1-1 b", "[1-1:-]"]);
    check("d.json", "{\"a\": 1,\n\"b: 2,\n}c\": 3}", None, &["1-3 a", "[1-3:a]"]);
}

proptest! {
    #[test]
    fn any_text_gives_sections_inside_it(text in "([\\[\\]{}\"'=:#a\\\\ ,/*\r\n]|\"\"\"|\\PC){0,120}") {
        for path in ["pyproject.toml", "a.yaml", "package.json", "setup.cfg"] {
            let outline = outline(path, crate::roles::language(path), &text, &LineIndex::new(&text));
            let mut at = 0;
            for s in outline.sections {
                prop_assert!(s.span.start >= at && s.span.start <= s.span.end, "{path}");
                prop_assert!(s.span.end as usize <= text.len());
                prop_assert!(text.get(s.name_span.range()).is_some() && text.get(s.head.range()).is_some());
                prop_assert!(s.span.contains(s.name_span) || s.name_span.is_empty(), "{path}");
                at = s.span.start;
            }
        }
    }
}
