use super::*;
use crate::facts::{Arena, Def, Entry, ExprId, Outcome, StrId};
use crate::language::FileRoles;
use crate::memory::MemoryFacts;
use crate::path::{RepoPath, file_name_of};
use crate::span::Span;
use std::sync::Arc;

/// One line of a fixture: `kind Receiver.name` indented by two blanks a level; `!` marks a
/// definition inside a function.
fn interface(path: &str, package: &str, lines: &str) -> Interface {
    let language = match path {
        p if p.ends_with(".go") => Language::Go,
        p if p.ends_with(".py") || p.ends_with(".pyi") => Language::Python,
        p if p.ends_with("go.mod") => Language::GoMod,
        p if p.ends_with(".md") => Language::Markdown,
        _ => Language::Toml,
    };
    let mut out = Interface::empty(language, Outcome::Parsed, FileRoles::default());
    let mut strings = vec![package.to_owned()];
    out.package = (!package.is_empty()).then_some(StrId(0));
    let mut parents: Vec<DefIdx> = Vec::new();
    for line in lines.lines().filter(|l| !l.trim().is_empty()) {
        let level = (line.len() - line.trim_start().len()) / 2;
        let (kind, name) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        let (receiver, name) = name.split_once('.').map_or((None, name), |(r, n)| (Some(r), n));
        let mut flags = DefFlags::default();
        if kind.starts_with('!') {
            flags.set(DefFlags::LOCAL);
        }
        if name.is_empty() {
            flags.set(DefFlags::ANONYMOUS);
        }
        let mut intern = |s: &str| {
            strings.push(s.to_owned());
            StrId(strings.len() as u32 - 1)
        };
        parents.truncate(level);
        let def = Def {
            name: intern(name),
            kind: match kind.trim_start_matches('!') {
                "func" => DefKind::Function,
                "method" => DefKind::Method,
                "class" => DefKind::Class,
                "struct" => DefKind::Struct,
                "field" => DefKind::Field,
                "section" => DefKind::Section,
                _ => DefKind::Variable,
            },
            flags,
            parent: parents.last().copied().unwrap_or(DefIdx::NONE),
            receiver: receiver.map(&mut intern),
            ordinal: 0,
            name_span: Span::default(),
            span: Span::default(),
            head: Span::default(),
            doc: Span::default(),
            ty: ExprId::NONE,
            value: ExprId::NONE,
            value_index: 0,
            params: Vec::new(),
            results: Vec::new(),
            returns: Vec::new(),
            bases: Vec::new(),
            decorators: Vec::new(),
            type_params: Vec::new(),
        };
        parents.push(DefIdx(out.defs.len() as u32));
        out.defs.push(def);
    }
    out.arena = Arena { strings, ..Arena::default() };
    let mut keys = vec![Key::file(path)];
    match language {
        Language::Go => keys.push(Key::dir("go", dir_of(path))),
        Language::Python => {
            let stem = stem_of(path);
            let of = if stem == "__init__" { dir_of(path).to_owned() } else { join(dir_of(path), stem) };
            keys.push(Key::stem("py", tail_of(&of)));
            keys.push(Key::stem("py", file_name_of(&of)));
        }
        _ => {}
    }
    out.entries = keys.into_iter().map(|key| Entry { key, def: DefIdx::NONE, digest: 0 }).collect();
    out.entries.sort_by_key(|e| e.key);
    out
}

/// The symbols of the first file (its own first, then its definitions) in a tree of files, each
/// with the package, module or project name it states.
#[track_caller]
fn check(tree: &[(&str, &str)], defs: &str, expect: &[&str]) {
    let files = tree.iter().enumerate().map(|(i, (path, package))| {
        let lines = if i == 0 { defs } else { "" };
        (RepoPath::new(path).unwrap(), Arc::new(interface(path, package, lines)))
    });
    let view = MemoryFacts::new(files.collect());
    let file = view.file_by_path(tree[0].0).unwrap();
    let interface = view.interface(file);
    let namespace = Namespace::of(&view, file);
    let all = std::iter::once(DefIdx::NONE).chain((0..interface.defs.len() as u32).map(DefIdx));
    let got: Vec<String> = all
        .map(|d| namespace.as_ref().and_then(|n| n.symbol(&interface, d)))
        .map(|s| s.map_or("-".to_owned(), |s| s.0))
        .collect();
    assert_eq!(got, expect);
}

#[test]
fn go_package_directory_below_its_module() {
    check(
        &[("net/http/server.go", "http"), ("go.mod", "example.com/m")],
        "struct Server\n  field Addr\nmethod Server.Serve\nfunc Listen\n  !struct conn",
        &[
            "scip:indexd gomod example.com/m . net/http/",
            "scip:indexd gomod example.com/m . net/http/Server#",
            "scip:indexd gomod example.com/m . net/http/Server#Addr.",
            "scip:indexd gomod example.com/m . net/http/Server#Serve().",
            "scip:indexd gomod example.com/m . net/http/Listen().",
            "scip:indexd gomod example.com/m . net/http/Listen().conn#",
        ],
    );
}

#[test]
fn go_nested_module_and_package_at_its_root() {
    check(
        &[("tools/gen/main.go", "main"), ("tools/gen/go.mod", "m/gen"), ("go.mod", "m")],
        "func main",
        &["-", "scip:indexd gomod m/gen . main()."],
    );
}

#[test]
fn go_without_a_module_has_package_dot() {
    check(
        &[("a b/x.go", "x")],
        "func F",
        &["scip:indexd gomod . . `a b`/", "scip:indexd gomod . . `a b`/F()."],
    );
}

#[test]
fn go_external_test_package_is_a_namespace_of_its_own() {
    let tree = [("p/x_test.go", "p_test"), ("go.mod", "m")];
    check(&tree, "func TestX", &["scip:indexd gomod m . p_test/", "scip:indexd gomod m . p_test/TestX()."]);
    check(
        &[("p/x_test.go", "p"), ("go.mod", "m")],
        "func TestX",
        &["scip:indexd gomod m . p/", "scip:indexd gomod m . p/TestX()."],
    );
    let twin = [tree[0], tree[1], ("p_test/y.go", "p_test")];
    check(&twin, "func TestX", &["-", "-"]);
}

#[test]
fn go_names_that_name_nothing_have_no_symbol() {
    check(
        &[("p/x.go", "p"), ("go.mod", "m")],
        "func init\nvar _\nstruct\n  field inner\nmethod T.init\nfunc f\n  !struct t\n  !struct t",
        &[
            "scip:indexd gomod m . p/",
            "-",
            "-",
            "-",
            "-",
            "scip:indexd gomod m . p/T#init().",
            "scip:indexd gomod m . p/f().",
            "-",
            "-",
        ],
    );
}

#[test]
fn python_dotted_module_from_its_source_root() {
    let tree = [
        ("src/pkg/sub/mod.py", ""),
        ("src/pkg/__init__.py", ""),
        ("src/pkg/sub/__init__.py", ""),
        ("pyproject.toml", "Proj"),
    ];
    check(
        &tree,
        "class C\n  method m\n  field x\nfunc outer\n  !func inner\nvar _\nfunc outer",
        &[
            "scip:indexd pip Proj . `pkg.sub.mod`/",
            "scip:indexd pip Proj . `pkg.sub.mod`/C#",
            "scip:indexd pip Proj . `pkg.sub.mod`/C#m().",
            "scip:indexd pip Proj . `pkg.sub.mod`/C#x.",
            "scip:indexd pip Proj . `pkg.sub.mod`/outer().",
            "scip:indexd pip Proj . `pkg.sub.mod`/outer().inner().",
            "scip:indexd pip Proj . `pkg.sub.mod`/_.",
            "scip:indexd pip Proj . `pkg.sub.mod`/outer().",
        ],
    );
}

#[test]
fn python_packages_stubs_and_files_outside_packages() {
    let project = ("pyproject.toml", "p");
    for (path, module) in [
        ("pkg/__init__.py", "pkg"),
        ("pkg/mod.pyi", "`pkg.mod`"),
        ("conftest.py", "conftest"),
        ("tests/util/test_a.py", "`tests.util.test_a`"),
        ("src/single.py", "single"),
    ] {
        let tree = [(path, ""), project, ("pkg/mod.py", ""), ("pkg/__init__.pyi", "")];
        check(&tree, "", &[&format!("scip:indexd pip p . {module}/")]);
    }
}

#[test]
fn python_modules_of_equal_name_are_told_apart_by_path() {
    let tree = [
        ("examples/a/app/views.py", ""),
        ("examples/a/app/__init__.py", ""),
        ("pyproject.toml", ""),
        ("setup.cfg", "p q"),
    ];
    check(&tree, "", &["scip:indexd pip p  q . `app.views`/"]);
    let twin = [("examples/b/app/views.py", ""), ("examples/b/app/__init__.py", "")];
    check(&[&tree[..], &twin[..]].concat(), "", &["scip:indexd pip p  q . `examples.a.app.views`/"]);
    check(&[("src/x.py", ""), ("x.py", "")], "", &["scip:indexd pip . . `src.x`/"]);
}

#[test]
fn sections_have_a_symbol_when_their_heading_is_unique() {
    check(
        &[("docs/a.md", "")],
        "section Use\n  section Example one\nsection Example\n  section Deep\nsection Example",
        &[
            "-",
            "scip:indexd . . . docs/`a.md`/Use/",
            "scip:indexd . . . docs/`a.md`/Use/`Example one`/",
            "-",
            "-",
            "-",
        ],
    );
}
