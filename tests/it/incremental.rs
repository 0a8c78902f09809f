//! The central invariant: an index that followed any edits is the index built from their end, to the
//! byte of its dump and of its packs; and following costs what the change costs.

use crate::edits::{Edit, Repository, script};
use crate::support::{
    Bench, dump_of_fresh_build, first_difference, fresh_build, number, on_large_stack, packs_for, packs_of,
};
use indexd::workspace::indexing::stages::Stage;
use indexd_model::{ContentHash, DefIdx, FactsView, IndexView, Language, Outcome, RepoPath};
use indexd_oracle::LinkedTree;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

fn follow(edits: &[(Edit, bool)]) -> Result<(), TestCaseError> {
    let mut bench = Bench::new();
    let mut repository = Repository::new(bench.root());
    bench.build();
    let mut dirty = Vec::new();
    for (edit, at_once) in edits {
        dirty.extend(repository.apply(edit, bench.root()));
        if *at_once {
            bench.update(&std::mem::take(&mut dirty));
        }
    }
    bench.update(&dirty);
    let built = fresh_build(bench.root());
    let (followed, fresh) = (bench.dump(), built.dump());
    prop_assert!(followed == fresh, "{}", first_difference(&followed, &fresh));
    prop_assert_eq!(packs_of(&bench.snapshot()), packs_of(&built.snapshot()));
    Ok(())
}

/// Few scripts by default; `INDEXD_TEST_SCRIPTS=1000 INDEXD_TEST_STEPS=50` for the full run.
#[test]
fn any_edits_lead_to_the_index_of_their_end() {
    on_large_stack(|| {
        let cases = number("INDEXD_TEST_SCRIPTS", 120) as u32;
        let config = Config { cases, max_shrink_iters: 200, failure_persistence: None, ..Config::default() };
        let edits = script(number("INDEXD_TEST_STEPS", 40));
        TestRunner::new(config).run(&edits, |edits| follow(&edits)).unwrap_or_else(|e| panic!("{e}"));
    });
}

/// Edits of which the order tells whether everybody who has to be linked again looked at what changed:
/// files before, and texts that they hold one after the other.
#[test]
fn each_save_of_a_change_in_several_files_leads_to_the_index_of_its_tree() {
    let api = "package api\n\ntype Note struct{}\n\nfunc (n Note) Text() string { return \"\" }\n";
    let read =
        |method: &str| format!("package shared\n\ntype Reader interface {{\n\tText() string\n{method}}}\n");
    let request = |result: &str| {
        let class = |name: &str| format!("class {name}:\n    def host(self): ...\n\n");
        let (url, text) = (class("Url"), class("Text"));
        format!("{url}{text}class Request:\n    def _get(self) -> {result}: ...\n    url = property(_get)\n")
    };
    let suite = |import: &str| {
        format!(
            "package p\n\nimport (\n\t\"{import}\"\n\n\t. \"gopkg.in/check.v1\"\n)\n\ntype Suite struct{{ Base }}\n\nfunc (s *Suite) Set(c *C) {{ fixtures.New() }}\n"
        )
    };
    let all_of = |package: &str| {
        format!(
            "package p\n\nimport (\n\t\"example.com/Cobra\"\n\n\t. \"example.com/m/{package}\"\n)\n\nfunc Make() C {{ return Cobra.New() }}\n"
        )
    };
    let generic = |of: &str| format!("package p\n\ntype Doer{of} interface {{\n\tDo()\n}}\n");
    let changes: [&[(&str, &str)]; 6] = [
        // An interface is generic no more.
        &[
            ("go.mod", "module example.com/m\n"),
            ("p/doer.go", &generic("[T any]")),
            ("p/done.go", "package p\n\ntype Done struct{}\n\nfunc (Done) Do() {}\n"),
            ("p/doer.go", &generic("")),
        ],
        // A name of a dot import is in a file with an import of another name, which changes.
        &[
            ("go.mod", "module example.com/m\n"),
            ("p/base.go", "package p\n\ntype Base struct{}\n\nfunc (b *Base) Set(n int) {}\n"),
            ("p/suite.go", &suite("example.com/fixtures")),
            ("p/suite.go", &suite("example.org/other/fixtures")),
        ],
        // A name comes from another dot import; the path of another import has its letter.
        &[
            ("go.mod", "module example.com/m\n"),
            ("a/a.go", "package a\n\ntype C struct{}\n\nfunc (C) Do() {}\n"),
            ("b/b.go", "package b\n\ntype C struct{}\n\nfunc (C) Do() {}\n"),
            ("p/make.go", &all_of("a")),
            ("p/use.go", "package p\n\nfunc use() { Make().Do() }\n"),
            ("p/make.go", &all_of("b")),
        ],
        // A type loses a method, then the interface does: from then on the type satisfies it.
        &[
            ("go.mod", "module example.com/m\n"),
            ("shared/reader.go", &read("\tLink() string\n")),
            ("api/note.go", &format!("{api}\nfunc (n Note) Link() string {{ return \"\" }}\n")),
            ("api/note.go", api),
            ("shared/reader.go", &read("")),
        ],
        // An interface gets a method that the type does not have.
        &[
            ("go.mod", "module example.com/m\n"),
            ("shared/reader.go", &read("")),
            ("api/note.go", api),
            ("shared/reader.go", &read("\tLink() string\n")),
        ],
        // What a property is made of returns something else.
        &[
            ("web/request.py", &request("Url")),
            ("web/use.py", "from web.request import Request\n\ndef f(r: Request):\n    r.url.host()\n"),
            ("web/request.py", &request("Text")),
        ],
    ];
    for saves in changes {
        let mut bench = Bench::new();
        bench.build();
        for (i, (path, text)) in saves.iter().enumerate() {
            bench.write(path, text);
            bench.update(&[(*path).to_owned()]);
            let (followed, fresh) = (bench.dump(), fresh_build(bench.root()).dump());
            assert!(followed == fresh, "save {i}, of {path}: {}", first_difference(&followed, &fresh));
        }
    }
}

/// Whether each step links exactly the files that it makes due, as [`LinkedTree`] works it out from
/// nothing but the contents.
fn link_what_is_due(edits: &[(Edit, bool)]) -> Result<(), TestCaseError> {
    let mut bench = Bench::new();
    let mut repository = Repository::new(bench.root());
    bench.build();
    let mut model = LinkedTree::default();
    let mut before = contents(&bench);
    model.apply(before.iter().map(|(path, bytes)| (path.clone(), Some(&bytes[..]))).collect());
    for (edit, _) in edits {
        let dirty = repository.apply(edit, bench.root());
        bench.log().start();
        bench.update(&dirty);
        let after = contents(&bench);
        let paths: BTreeSet<&RepoPath> = before.keys().chain(after.keys()).collect();
        let changed = paths.into_iter().filter(|path| before.get(*path) != after.get(*path));
        let changed = changed.map(|path| (path.clone(), after.get(path).map(|b| &b[..]))).collect();
        let due: Vec<String> = model.apply(changed).iter().map(|path| path.to_string()).collect();
        let linked: Vec<String> =
            bench.log().take().into_iter().filter(|(stage, _)| *stage == Stage::Link).map(|r| r.1).collect();
        prop_assert_eq!(linked, due, "after {:?}", edit);
        before = after;
    }
    Ok(())
}

/// The files of the index with what they hold on disk.
fn contents(bench: &Bench) -> BTreeMap<RepoPath, Vec<u8>> {
    let snapshot = bench.snapshot();
    let read = |file| {
        let path = RepoPath::new(&snapshot.path(file)).unwrap();
        let bytes = fs::read(bench.root().join(&*path)).unwrap();
        (path, bytes)
    };
    snapshot.files().into_iter().map(read).collect()
}

/// Every edit of names, bases, imports and places, of any number of files, links again those who
/// looked at what changed, and nobody else.
#[test]
fn any_edit_links_those_who_looked_at_what_changed_and_no_others() {
    on_large_stack(|| {
        let cases = number("INDEXD_TEST_SCRIPTS", 30) as u32;
        let config = Config { cases, max_shrink_iters: 200, failure_persistence: None, ..Config::default() };
        let edits = script(number("INDEXD_TEST_STEPS", 40));
        TestRunner::new(config)
            .run(&edits, |edits| link_what_is_due(&edits))
            .unwrap_or_else(|e| panic!("{e}"));
    });
}

/// The sample repositories, name by name: a comment in the body links one file; another name links
/// those who looked at it, every file with an edge to it among them, and no others.
#[test]
fn each_definition_of_the_samples_links_its_dependants_and_no_others() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/packs");
    for sample in ["go", "python"] {
        let mut bench = Bench::new();
        copy(&samples.join(sample), bench.root());
        bench.build();
        let before = contents(&bench);
        let whole = || before.iter().map(|(path, bytes)| (path.clone(), Some(&bytes[..]))).collect();
        let mut fresh = LinkedTree::default();
        fresh.apply(whole());
        let mut model = LinkedTree::default();
        model.apply(whole());
        let dependants = fresh.dependants();
        let (mut n_renamed, mut n_bodies) = (0, 0);
        for (path, file) in &fresh.files {
            for (i, def) in file.facts.interface.defs.iter().enumerate() {
                let text = &*file.text;
                let is_code = matches!(file.facts.interface.language, Language::Go | Language::Python);
                if !is_code || def.name_span.is_empty() {
                    continue;
                }
                let mut linked_by = |text: &str| {
                    bench.write(path, text);
                    bench.log().start();
                    bench.update(&[path.to_string()]);
                    let ran = bench.log().take().into_iter().filter(|(stage, _)| *stage == Stage::Link);
                    let linked: BTreeSet<String> = ran.map(|r| r.1).collect();
                    let due = model.apply(vec![(path.clone(), Some(text.as_bytes()))]);
                    assert_eq!(linked, due.iter().map(|p| p.to_string()).collect(), "{path}: {text}");
                    linked
                };
                let span = def.name_span.range();
                let linked = linked_by(&format!("{}zq{}", &text[..span.end], &text[span.end..]));
                let users = dependants.get(&(path, DefIdx(i as u32)));
                let missed = users.into_iter().flatten().find(|user| !linked.contains(&****user));
                assert_eq!(missed, None, "{path}: a file uses {:?} and is not linked", &text[span]);
                n_renamed += 1;
                linked_by(text);
                let comment = if path.ends_with(".go") { " // zq" } else { "  # zq" };
                let opens = text[def.head.end as usize..].find('\n').map(|at| at + def.head.end as usize);
                if let (true, Some(at)) = (def.kind.is_callable(), opens) {
                    let linked = linked_by(&format!("{}{comment}{}", &text[..at], &text[at..]));
                    assert_eq!(linked.len(), 1, "{path}: the body of {:?}", &text[def.name_span.range()]);
                    n_bodies += 1;
                    linked_by(text);
                }
            }
        }
        assert!(n_renamed > 10 && n_bodies > 5, "{sample}: {n_renamed} names, {n_bodies} bodies");
        assert_eq!(bench.dump(), dump_of_fresh_build(bench.root()));
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let at = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &at);
        } else {
            fs::copy(entry.path(), at).unwrap();
        }
    }
}

/// What runs when files change from one content to another.
fn check(files: &[(&str, &str)], edit: &[(&str, &str)], want: &[(Stage, &str)]) {
    let mut bench = Bench::new();
    for (path, text) in files {
        bench.write(path, text);
    }
    bench.build();
    for (path, text) in edit {
        bench.write(path, text);
    }
    bench.log().start();
    let dirty: Vec<String> = edit.iter().map(|(path, _)| (*path).to_owned()).collect();
    bench.update(&dirty);
    let ran = bench.log().take();
    let ran: Vec<(Stage, &str)> = ran.iter().map(|(stage, path)| (*stage, path.as_str())).collect();
    assert_eq!(ran, want);
    assert_eq!(bench.dump(), dump_of_fresh_build(bench.root()));
}

/// A secret is in nothing that the index keeps or answers, and everything around it stays where it is.
#[test]
fn secrets_are_taken_out_before_anything_is_made_of_a_file() {
    let token = crate::edits::token(&mut crate::edits::Numbers(7));
    let of = |value: &str| {
        format!("package a\n\nconst Token = \"{value}\"\n\nfunc After() string {{ return Token }}\n")
    };
    let mut bench = Bench::new();
    bench.write("a/a.go", &of(&token));
    bench.write("a/b.go", "package a\n\nfunc Use() string { return After() }\n");
    bench.build();
    let holds = |bench: &Bench| {
        let packs = packs_for(&bench.snapshot(), &["Token After"]).concat();
        let text = bench.dump() + &packs;
        let (whole, tail) =
            (text.contains(&token), text.to_lowercase().contains(&token[24..].to_lowercase()));
        assert!(packs.contains("func After() string { return Token }"), "{packs}");
        (
            whole,
            tail,
            packs.contains("[REDACTED:github-token]"),
            packs.contains(r#""redactions":["github-token"]"#),
        )
    };
    assert_eq!(holds(&bench), (false, false, true, true));
    let redacted = bench.dump();
    let line = redacted.lines().find(|l| l.contains("After") && l.contains("def")).unwrap().to_owned();
    bench.write("a/a.go", &of(&"x".repeat(token.len())));
    bench.update(&["a/a.go".to_owned()]);
    assert_eq!(holds(&bench), (false, false, false, false));
    assert!(bench.dump().lines().any(|l| l == line), "what stands after a secret has its place");
    bench.write("a/a.go", &of(&token));
    bench.update(&["a/a.go".to_owned()]);
    assert_eq!(first_difference(&bench.dump(), &redacted), first_difference(&redacted, &redacted));
}

/// A file or folder whose name is a token is left out, and said to be without the token.
#[test]
fn a_secret_in_a_name_is_in_nothing_that_is_kept_or_answered() {
    let token = crate::edits::token(&mut crate::edits::Numbers(11));
    let mut bench = Bench::new();
    bench.write("a/a.go", "package a\n\nfunc After() int { return 1 }\n");
    bench.write(&format!("keys/{token}.txt"), "After the key");
    bench.build();
    bench.write(&format!("{token}/b.go"), "package b\n\nfunc After2() int { return 1 }\n");
    bench.write(&format!("a/{token}.go"), "package a\n\nfunc After3() int { return 1 }\n");
    bench.update(&[token.clone(), format!("a/{token}.go")]);
    let kept = bench.dump() + &packs_for(&bench.snapshot(), &["After", "keys"]).concat();
    assert!(kept.contains("func After()"));
    assert!(!kept.contains(&token) && !kept.contains("After2") && !kept.contains("After3"), "{kept}");
    let found = bench.skipped_names();
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found.iter().all(|name| name.contains("REDACTED") && !name.contains(&token)), "{found:?}");
    assert_eq!(bench.dump(), dump_of_fresh_build(bench.root()));
}

/// A word that was taken out of the files is in the data file until the index is copied compactly, and
/// not afterwards.
#[test]
fn what_was_removed_is_gone_from_a_compact_index() {
    let mut bench = Bench::new();
    let word = "zqxremovedword";
    bench.write("a.md", &format!("# Title\n\nThe {word} stands here.\n"));
    bench.build();
    bench.write("a.md", "# Title\n\nNothing stands here.\n");
    bench.update(&["a.md".to_owned()]);
    let holds = |bench: &Bench| {
        let data = bench.current_file("data.mdb");
        let bytes = fs::read(data).unwrap();
        bytes.windows(word.len()).any(|w| w == word.as_bytes())
    };
    assert!(holds(&bench), "LMDB leaves what it frees");
    bench.compact();
    assert!(!holds(&bench));
    assert_eq!(bench.dump(), dump_of_fresh_build(bench.root()));
}

const CALLED: &str = "package a\n\n// F waits.\nfunc F() int {\n\treturn 1\n}\n\nfunc G() int { return 2 }\n";
const CALLER: &str = "package b\n\nimport \"m/a\"\n\nfunc H() int { return a.F() }\n";
const BESIDE: &str = "package b\n\nimport \"m/a\"\n\nfunc K() int { return a.G() }\n";
const GO: [(&str, &str); 4] =
    [("go.mod", "module m\n"), ("a/a.go", CALLED), ("b/b.go", CALLER), ("b/k.go", BESIDE)];

#[test]
fn a_module_of_the_same_name_elsewhere_concerns_nobody() {
    let files = [
        ("a/__init__.py", ""),
        ("a/util.py", "def f(): ...\n"),
        ("b/__init__.py", ""),
        ("b/util.py", "def f(): ...\n"),
        ("b/near.py", "from .util import f\n\n\ndef g():\n    return f()\n"),
        ("main.py", "from a.util import f\n\n\ndef h():\n    return f()\n"),
    ];
    use Stage::{Extract, Link, Put, Read};
    let path = "c/util.py";
    check(&files, &[(path, "def f(): ...\n")], &[(Read, path), (Extract, path), (Put, path), (Link, path)]);
}

#[test]
fn a_body_edit_links_one_file() {
    let edited = CALLED.replace("return 1", "x := 3\n\treturn x + 1");
    use Stage::{Extract, Link, Put, Read};
    check(
        &GO,
        &[("a/a.go", &edited)],
        &[(Read, "a/a.go"), (Extract, "a/a.go"), (Put, "a/a.go"), (Link, "a/a.go")],
    );
    let python = [
        ("m.py", "def f() -> int:\n    return 1\n"),
        ("n.py", "from m import f\n\ndef g():\n    return f()\n"),
    ];
    let edited = "def f() -> int:\n    y = 5\n    return y\n";
    check(&python, &[("m.py", edited)], &[(Read, "m.py"), (Extract, "m.py"), (Put, "m.py"), (Link, "m.py")]);
}

#[test]
fn an_interface_edit_links_those_who_looked_at_that_name() {
    use Stage::{Extract, Link, Put, Read};
    let edited = CALLED.replace("func F() int", "func F() string");
    let want = [(Read, "a/a.go"), (Extract, "a/a.go"), (Put, "a/a.go"), (Link, "a/a.go"), (Link, "b/b.go")];
    check(&GO, &[("a/a.go", &edited)], &want);
}

#[test]
fn an_update_that_is_stopped_leaves_the_index_as_it_was() {
    let mut bench = Bench::new();
    GO.iter().for_each(|(path, text)| bench.write(path, text));
    bench.build();
    let before = bench.dump();
    bench.write("a/a.go", &CALLED.replace("func F() int", "func F() string"));
    let dirty = ["a/a.go".to_owned()];
    let n_stops = (0..).take_while(|n| {
        let was_stopped = bench.update_until(&dirty, *n);
        assert!(!was_stopped || bench.dump() == before, "{n}");
        was_stopped
    });
    // Before it is read, and before each of the two files is linked.
    assert_eq!(n_stops.count(), 3);
    assert_eq!(bench.dump(), dump_of_fresh_build(bench.root()));
}

#[test]
fn equal_content_is_touched_and_nothing_else() {
    check(&GO, &[("a/a.go", CALLED)], &[(Stage::Read, "a/a.go"), (Stage::Touch, "a/a.go")]);
}

/// A sparse file has any number of bytes at no cost, so a tree may hold more than can be read; and a
/// secret that is known by its name leaves nothing of its content behind, not even a hash.
#[test]
fn what_is_known_by_its_path_alone_is_not_read() {
    let mut bench = Bench::new();
    let sized = |bench: &Bench, bytes| {
        fs::File::create(bench.root().join("data.py")).unwrap().set_len(bytes).unwrap();
    };
    let of = |bench: &Bench, path| {
        let snapshot = bench.snapshot();
        let record = snapshot.file(snapshot.file_by_path(path).unwrap());
        (record.outcome, record.size, record.hash)
    };
    sized(&bench, 1 << 40);
    bench.write(".env", "TOKEN=1\n");
    bench.build();
    let (outcome, size, vast) = of(&bench, "data.py");
    assert_eq!((outcome, size), (Outcome::TooLarge, 1 << 40));
    let (outcome, size, hash) = of(&bench, ".env");
    assert_eq!((outcome, size), (Outcome::Sensitive, 8));
    assert_ne!(hash, ContentHash::of(b"TOKEN=1\n"));
    // As far as the index goes, another secret of the same length is the same file.
    bench.write(".env", "TOKEN=2\n");
    sized(&bench, 1 << 39);
    bench.log().start();
    bench.update(&[".env".to_owned(), "data.py".to_owned()]);
    let touched = bench.log().take().into_iter().filter(|(stage, _)| *stage == Stage::Touch);
    assert_eq!(touched.collect::<Vec<_>>(), [(Stage::Touch, ".env".to_owned())]);
    assert_ne!(of(&bench, "data.py").2, vast);
    assert_eq!(bench.dump(), dump_of_fresh_build(bench.root()));
    bench.write("data.py", "def small():\n    pass\n");
    bench.update(&["data.py".to_owned()]);
    assert_eq!(of(&bench, "data.py").0, Outcome::Parsed);
    assert_eq!(bench.dump(), dump_of_fresh_build(bench.root()));
}

#[test]
fn a_new_name_reaches_those_who_looked_for_it_in_vain() {
    use Stage::{Extract, Link, Put, Read};
    let files = [("go.mod", "module m\n"), ("a/a.go", "package a\n"), ("b/b.go", CALLER)];
    let want = [(Read, "a/a.go"), (Extract, "a/a.go"), (Put, "a/a.go"), (Link, "a/a.go"), (Link, "b/b.go")];
    check(&files, &[("a/a.go", CALLED)], &want);
}

#[test]
fn a_panic_costs_one_file_its_structure() {
    let mut bench = Bench::with_extract(|path, bytes| {
        assert!(!path.ends_with("bad.go"), "as if the extractor had a bug");
        indexd_lang::extract(path, bytes)
    });
    bench.write("go.mod", "module m\n");
    bench.write("bad.go", "package m\n\nfunc Bad() {}\n");
    bench.write("good.go", "package m\n\nfunc Good() {}\n");
    std::panic::set_hook(Box::new(|_| {}));
    bench.build();
    bench.write("bad.go", "package m\n\nfunc Worse() {}\n");
    bench.update(&["bad.go".to_owned()]);
    let _ = std::panic::take_hook();
    assert_eq!(bench.outcome("bad.go"), indexd_model::Outcome::TextOnly);
    assert_eq!(bench.outcome("good.go"), indexd_model::Outcome::Parsed);
    assert_eq!(bench.defs_named("Good"), 1);
}

#[test]
fn edits_while_stopped_are_found_at_the_next_start() {
    let mut bench = Bench::new();
    let mut repository = Repository::new(bench.root());
    bench.build();
    for round in 0..4u16 {
        bench.close();
        for step in 0..6 {
            let edit = match (round + step) % 4 {
                0 => Edit::Write((3 * step + round) as usize % 18, 100 * round + step),
                1 => Edit::RenameFolder(step as usize % 7, (step + round) as usize % 7),
                2 => Edit::Ignore(round as usize % 4, step as usize % 8),
                _ => Edit::Delete((5 * step + round) as usize % 18),
            };
            repository.apply(&edit, bench.root());
        }
        bench.reopen();
        bench.sweep();
        assert_eq!(bench.dump(), dump_of_fresh_build(bench.root()), "round {round}");
    }
}

#[test]
fn a_change_of_equal_size_and_time_is_seen() {
    let mut bench = Bench::new();
    bench.write("a.md", "# one\n");
    bench.build();
    let times = fs::metadata(bench.root().join("a.md")).unwrap().modified().unwrap();
    bench.close();
    bench.write("a.md", "# two\n");
    fs::File::options().write(true).open(bench.root().join("a.md")).unwrap().set_modified(times).unwrap();
    bench.reopen();
    bench.sweep();
    assert_eq!(bench.dump(), dump_of_fresh_build(bench.root()));
}

/// A first build takes the files that were found, and the sweep after it finds what changed meanwhile;
/// any other build takes all files, however few were found.
#[test]
fn a_build_after_a_sweep_and_the_next_sweep_come_to_the_tree() {
    let mut bench = Bench::new();
    for name in ["a", "b", "c"] {
        bench.write(&format!("{name}.go"), &format!("package p\n\nfunc {name}() {{}}\n"));
    }
    let found = bench.found();
    bench.write("b.go", "package p\n\nfunc b() { a(); d() }\n");
    fs::remove_file(bench.root().join("c.go")).unwrap();
    bench.write("d.go", "package p\n\nfunc d() {}\n");
    bench.build_after(found);
    assert!(bench.snapshot().file_by_path("d.go").is_none(), "it was not found");
    bench.sweep();
    assert_eq!(bench.dump(), dump_of_fresh_build(bench.root()));

    bench.write("a.go", "package p\n\nfunc a() { b() }\n");
    let mut found = bench.found();
    // Files that were written a moment ago may be among them, whatever is in the index.
    found.changed.retain(|path, _| **path == *"a.go");
    assert_eq!(found.len(), 1);
    bench.build_after(found);
    assert_eq!(bench.dump(), dump_of_fresh_build(bench.root()));
}
