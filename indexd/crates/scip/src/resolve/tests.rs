use super::*;
use crate::fixture::Fixture;
use crate::import::ForeignOccurrence;
use crate::text::Encoding;

/// Checks the places of all overlays, one a line (`path:byte token -> targets`), and the places left out.
#[track_caller]
fn check(source: &str, expect: &str) {
    let fixture = Fixture::new(source);
    let imported = resolve_import(&fixture.index, "", &|p| fixture.read(p), &fixture.view);
    let mut got = String::new();
    for o in &imported.overlays {
        let text = &fixture.files[&o.path].1;
        for p in &o.places {
            let named = |t: &u32| {
                let t = &o.targets[*t as usize];
                let ordinal = if t.ordinal == 0 { String::new() } else { format!("+{}", t.ordinal) };
                format!("{}:{}{ordinal}{}", t.path, t.descriptor, if t.key.is_none() { " own" } else { "" })
            };
            let targets: Vec<String> = p.targets.iter().map(named).collect();
            let targets = if targets.is_empty() { "external".to_owned() } else { targets.join(", ") };
            let line = text[..p.at as usize].matches('\n').count() + 1;
            let token = &text[p.at as usize..p.at as usize + usize::from(p.len)];
            got.push_str(&format!("{}:{line} {token} -> {targets}\n", o.path));
        }
    }
    let left_out = [
        ("unknown", &imported.unknown_files),
        ("unfit", &imported.unfit_files),
        ("stale", &imported.stale_files),
    ];
    for (what, paths) in left_out {
        paths.iter().for_each(|p| got.push_str(&format!("{what} {p}\n")));
    }
    if imported.n_dropped > 0 {
        got.push_str(&format!("dropped {} of {}\n", imported.n_dropped, imported.n_occurrences));
    }
    let expect: String =
        expect.lines().map(str::trim).filter(|l| !l.is_empty()).map(|l| format!("{l}\n")).collect();
    assert_eq!(got, expect, "\n{got}");
}

#[test]
fn symbols_join_by_the_place_of_their_definition() {
    check(
        "
        === lib.py
        def load(x):
        #   ^^^^ definition s m p v whatever/load#
        #        ^ definition s m p v whatever/load().(x)
            return x
        #          ^ reference s m p v whatever/load().(x)
        class Store:
        #     ^^^^^ definition s m p v lib/Store#
            def get(self):
        #       ^^^ definition s m p v lib/Store#get().
                self.n = load(1)
        #            ^ definition s m p v lib/Store#n.
        #                ^^^^ reference s m p v whatever/load#
        === app.py
        from lib import Store
        #               ^^^^^ reference s m p v lib/Store#
        def run(s):
            s.get().n
        #     ^^^ reference s m p v lib/Store#get().
        #           ^ reference s m p v lib/Store#n.
        ",
        "
        app.py:1 Store -> lib.py:Store#
        app.py:3 get -> lib.py:Store#get().
        app.py:3 n -> lib.py:Store#n.
        lib.py:5 load -> lib.py:load(). own
        ",
    );
}

#[test]
fn what_no_document_defines_is_external_unless_it_may_be_ours() {
    check(
        "
        === pkg/__init__.py
        === pkg/mod.py
        #| definition s m Proj 2 `src.pkg.mod`/__init__:
        import os
        #      ^^ reference s m stdlib 3 os/__init__:
        from .other import thing
        #    ^^^^^^ reference s m Proj 2 other/__init__:
        from pkg import mod
        #    ^^^ reference s m installed 1 pkg/__init__:
        import proj
        #      ^^^^ reference s m proj 1 elsewhere/__init__:
        import x.sub
        #      ^^^^^ reference s m stdlib 3 `x.sub`/__init__:
        print(local)
        ^^^^^ reference s m stdlib 3 builtins/print().
        #     ^^^^^ reference local 3
        ",
        "
        pkg/mod.py:1 os -> external
        pkg/mod.py:5 sub -> external
        pkg/mod.py:6 print -> external
        ",
    );
}

#[test]
fn modules_are_files() {
    check(
        "
        === a/util.py
        #| definition s m p v `a.util`/__init__:
        === a/__init__.py
        #| definition s m p v a/__init__:
        === main.py
        import a.util as u
        #      ^^^^^^ reference s m p v `a.util`/__init__:
        from a import util
        #    ^ reference s m p v a/__init__:
        #             ^^^^ reference s m p v `a.util`/__init__:
        u
        === go.mod
        module m
        === net/net.go
        package net
        //      ^^^ definition s gomod m v `m/net`/
        === main.go
        package main
        import \"m/net\"
        //     ^^^^^^^ reference s gomod m v `m/net`/
        ",
        "
        main.go:2 \"m/net\" -> net/net.go:
        main.py:1 util -> a/util.py:
        main.py:2 a -> a/__init__.py:
        main.py:2 util -> a/util.py:
        unfit go.mod
        ",
    );
}

#[test]
fn quotes_of_import_paths_may_be_left_out() {
    check(
        "
        === net/net.go
        package net
        //      ^^^ definition s gomod m v `m/net`/
        === main.go
        package main
        import \"m/net\"
        //      ^^^^^ reference s gomod m v `m/net`/
        ",
        "main.go:2 \"m/net\" -> net/net.go:",
    );
}

#[test]
fn aliases_may_name_what_they_stand_for_and_other_names_may_not() {
    check(
        "
        === lib.py
        def f(): ...
        #   ^ definition s m p v lib/f().
        def g(): ...
        #   ^ definition s m p v lib/g().
        === app.py
        from lib import f as h
        #               ^ reference s m p v lib/f().
        #                    ^ reference s m p v lib/f().
        h()
        ^ reference s m p v lib/f().
        other()
        ^^^^^ reference s m p v lib/g().
        k = h
        #   ^ reference s m p v lib/f().
        ",
        "
        app.py:1 f -> lib.py:f().
        app.py:1 h -> lib.py:f().
        app.py:2 h -> lib.py:f().
        app.py:4 h -> lib.py:f().
        dropped 1 of 7
        ",
    );
}

#[test]
fn an_overloaded_function_is_its_definition() {
    check(
        "
        === lib.py
        from typing import overload
        @overload
        def f(x: int): ...
        #   ^ definition s m p v lib/f().
        @overload
        def f(x: str): ...
        #   ^ reference s m p v lib/f().
        def f(x): ...
        #   ^ reference s m p v lib/f().
        === app.py
        from lib import f
        #               ^ reference s m p v lib/f().
        ",
        "app.py:1 f -> lib.py:f().+2",
    );
}

#[test]
fn a_setter_comes_after_the_property() {
    check(
        "
        === lib.py
        class A:
            @property
            def p(self): ...
        #       ^ definition s m p v lib/A#p().
            @p.setter
            def p(self, v): ...
        === app.py
        def g(a):
            return a.p
        #            ^ reference s m p v lib/A#p().
        ",
        "app.py:2 p -> lib.py:A#p., lib.py:A#p.+1",
    );
}

#[test]
fn a_range_over_name_and_alias_is_a_use_of_the_name() {
    check(
        "
        === lib.py
        def f(): ...
        #   ^ definition s m p v lib/f().
        === app.py
        from lib import f as f
        #               ^^^^^^ reference s m p v lib/f().
        ",
        "app.py:1 f -> lib.py:f().",
    );
}

#[test]
fn an_attribute_of_a_value_is_no_member_of_an_external_module() {
    check(
        "
        === app.py
        import os, sys as system
        def g(self):
            self.map(os.sep, system.path)
        #        ^^^ reference s m stdlib 3 builtins/map#
        #               ^^^ reference s m stdlib 3 os/sep.
        #                           ^^^^ reference s m stdlib 3 sys/path.
            self.x().read()
        #            ^^^^ reference s m stdlib 3 io/IO#read().
            return map
        #          ^^^ reference s m stdlib 3 builtins/map#
        ",
        "
        app.py:3 sep -> external
        app.py:3 path -> external
        app.py:4 read -> external
        app.py:5 map -> external
        ",
    );
}

#[test]
fn places_that_do_not_hold_their_identifier_are_dropped() {
    let fill: String = (0..12)
        .map(|i| {
            format!(
                "x{i} = f\n        #    {}^ reference s m p v a/f().\n        ",
                if i > 9 { " " } else { "" }
            )
        })
        .collect();
    check(
        &format!(
            "
        === a.py
        def f(): ...
        #   ^ definition s m p v a/f().
        {fill}y = \u{e9}t\u{e9} + f
        #     ^^^^^ reference s m p v a/f().
        #         ^ reference s m p v a/f().
        "
        ),
        &((2..14).map(|n| format!("a.py:{n} f -> a.py:f(). own\n")).collect::<String>()
            + "a.py:14 f -> a.py:f(). own\ndropped 1 of 15"),
    );
}

#[test]
fn a_document_about_another_text_is_stale() {
    check(
        "
        === a.py
        # A new first line shifted everything.
        def load(): ...
        ^^^ definition s m p v a/load().
        x = load
        #     ^^^^ reference s m p v a/load().
        === b.py
        load()
        ^^^^ reference s m p v a/load().
        === gone.txt
        a
        #| reference s m p v a/load().
        ",
        "
        unfit gone.txt
        stale a.py
        ",
    );
}

#[test]
fn a_document_that_carries_another_text_is_stale() {
    let mut fixture = Fixture::new("=== a.py\nf = 1\nf\n");
    fixture.index.documents[0].text = Some(ContentHash::of(b"f = 2\nf\n"));
    let imported = resolve_import(&fixture.index, "", &|p| fixture.read(p), &fixture.view);
    assert_eq!(imported.stale_files, ["a.py"]);
}

#[test]
fn without_a_declared_encoding_the_one_that_fits_is_taken() {
    for encoding in Encoding::ALL {
        let source =
            "=== a.py\ndef f(): ...\n#   ^ definition s m p v a/f().\nx = \"\u{1f600}\u{1f600}\", f\n";
        let mut fixture = Fixture::new(source);
        let text = "x = \"\u{1f600}\u{1f600}\", ";
        let start_column = match encoding {
            Encoding::Utf8 => text.len() as u32,
            Encoding::Utf16 => indexd_model::span::utf16_len(text),
            Encoding::Utf32 => text.chars().count() as u32,
        };
        let d = &mut fixture.index.documents[0];
        d.encoding = None;
        let range =
            crate::text::Range { start_line: 1, start_column, end_line: 1, end_column: start_column + 1 };
        d.occurrences.push(ForeignOccurrence { range, symbol: 0, roles: 0 });
        let imported = resolve_import(&fixture.index, "", &|p| fixture.read(p), &fixture.view);
        assert_eq!((imported.n_targets, imported.n_dropped), (1, 0), "{encoding:?}");
    }
}

#[test]
fn documents_may_lie_below_a_folder_of_the_workspace() {
    let mut fixture = Fixture::new(
        "=== sub/a.py\ndef f(): ...\n#   ^ definition s m p v a/f().\nf\n^ reference s m p v a/f().\n",
    );
    fixture.index.documents[0].path = "a.py".to_owned();
    let imported = resolve_import(&fixture.index, "sub", &|p| fixture.read(p), &fixture.view);
    assert_eq!((imported.overlays.len(), imported.unknown_files.len()), (1, 0));
    let imported = resolve_import(&fixture.index, "", &|p| fixture.read(p), &fixture.view);
    assert_eq!(imported.unknown_files, ["a.py"]);
}

#[test]
fn project_roots_become_folders_of_the_workspace() {
    for (uri, root, expect) in [
        ("file:///home/me/my%20repo", "/home/me/my repo", Some("")),
        ("file:///r/", "/r", Some("")),
        ("file:///r/sub/dir", "/r/", Some("sub/dir")),
        ("file:///r/%C3%BC", "/r", Some("\u{fc}")),
        ("file:///other", "/r", None),
        ("file:///rest", "/r", None),
        ("file:///r/%zz", "/r", None),
        ("https://r", "/r", None),
    ] {
        assert_eq!(prefix_of(uri, root).as_deref(), expect, "{uri}");
    }
}
