use super::*;
use crate::fixture::Fixture;
use crate::resolve::resolve_import;
use indexd_model::names::qualified_name;
use proptest::prelude::*;

/// Applies the index to our links of the file `app`; one line a link, then one an unresolved use.
#[track_caller]
fn check(source: &str, expect: &str) {
    let fixture = Fixture::new(source);
    assert_eq!(
        applied(&fixture, &fixture),
        expect.lines().map(str::trim).filter(|l| !l.is_empty()).collect::<Vec<_>>()
    );
}

/// The links of the file `app` in `now`, under the overlay made of `then`.
fn applied(then: &Fixture, now: &Fixture) -> Vec<String> {
    let imported = resolve_import(&then.index, "", &|p| then.read(p), &then.view);
    let overlay = imported.overlays.iter().find(|o| o.path.starts_with("app.")).expect("an overlay");
    let app = overlay.path.as_str();
    let (hash, text) = now.read(app).unwrap();
    assert!(overlay.matches(&hash));
    assert_eq!(Overlay::decode(&overlay.encode()).unwrap(), *overlay);
    let facts = Facts::inside(&now.files[app].0);
    let mut links = Links { links: now.ours(app), ..Links::default() };
    apply(overlay, now.file(app), facts, &mut links, &now.view);
    let token = |at: u32, len: u16| &text[at as usize..at as usize + usize::from(len)];
    let line = |at: u32| text[..at as usize].matches('\n').count() + 1;
    let mut out = Vec::new();
    for l in &links.links {
        let path = now.view.path(l.target.file);
        let target = &now.files[&*path].0;
        let name = qualified_name(&Facts::inside(target), l.target.def);
        let source = qualified_name(&facts, l.source);
        out.push(format!(
            "{}:{} {} {:?} {source:?} -> {path} {name} {} {}",
            line(l.at),
            token(l.at, l.len),
            l.kind.name(),
            l.role,
            l.rule.name(),
            l.confidence
        ));
    }
    for u in &links.unresolved {
        out.push(format!("{} {} {:?} {:?}", line(u.at), facts.str(u.name), u.role, u.reason));
    }
    assert!(links.lookups.windows(2).all(|w| w[0] < w[1]));
    let keys: std::collections::BTreeSet<Key> = overlay.targets.iter().filter_map(|t| t.key).collect();
    assert_eq!(links.lookups, Vec::from_iter(keys));
    out
}

const LIB: &str = "
        === lib.py
        class A:
        #     ^ definition s m p v lib/A#
            def run(self): ...
        #       ^^^ definition s m p v lib/A#run().
        class B(A):
        #     ^ definition s m p v lib/B#
            def run(self): ...
        #       ^^^ definition s m p v lib/B#run().
        ";

#[track_caller]
fn check_app(app: &str, expect: &str) {
    check(&format!("{LIB}=== app.py\n{app}"), expect);
}

#[test]
fn a_place_without_a_link_gets_one_from_the_syntax() {
    check_app(
        "
        from lib import A
        #               ^ reference s m p v lib/A#
        class C(A):
        #       ^ reference s m p v lib/A#
            def f(self, x):
                return x.run()
        #                ^^^ reference s m p v lib/A#run().
        ",
        "
        2:A import Import \"\" -> lib.py A tooling 100
        3:A inherit Base \"C\" -> lib.py A tooling 100
        5:run call Call \"C.f\" -> lib.py A.run tooling 100
        ",
    );
}

#[test]
fn a_wrong_link_gives_way_with_what_was_derived_from_it() {
    check_app(
        "
        x.run()
        # ^^^ reference s m p v lib/A#run().
        # ^^^ ours call lib.py B.run UniqueName
        # ^^^ ours dataflow lib.py B.run UniqueName
        ",
        "2:run call Call \"\" -> lib.py A.run tooling 100",
    );
}

#[test]
fn a_confirmed_call_keeps_its_dispatch_candidates() {
    check_app(
        "
        x.run()
        # ^^^ reference s m p v lib/A#run().
        # ^^^ ours call lib.py A.run Scope
        # ^^^ ours call lib.py B.run Dispatch
        # ^^^ ours dataflow lib.py A.run Scope
        ",
        "
        2:run call Call \"\" -> lib.py A.run tooling 100
        2:run call Call \"\" -> lib.py B.run dispatch 40
        2:run dataflow None \"\" -> lib.py A.run scope 100
        ",
    );
}

#[test]
fn a_use_outside_the_tree_loses_its_link() {
    check_app(
        "
        x.run()
        # ^^^ reference s m subprocess v subprocess/Process#run().
        # ^^^ ours call lib.py B.run UniqueName
        # ^^^ ours dataflow lib.py B.run UniqueName
        ",
        "2 run Call External",
    );
}

#[test]
fn a_sure_link_stays_although_the_index_calls_it_external() {
    check_app(
        "
        x.run()
        # ^^^ reference s m subprocess v subprocess/Process#run().
        # ^^^ ours call lib.py B.run Scope
        ",
        "2:run call Call \"\" -> lib.py B.run scope 100",
    );
}

#[test]
fn of_several_definitions_those_that_we_found_stay() {
    let lib = "
        === lib.py
        try:
            def f(): ...
        #       ^ definition s m p v lib/f().
        except ImportError:
            def f(): ...
        ";
    for (ours, expect) in [
        ("#               ^ ours import lib.py f Scope", "2:f import Import \"\" -> lib.py f tooling 100"),
        ("", "2:f import Import \"\" -> lib.py f tooling 100"),
    ] {
        check(
            &format!(
                "{lib}=== app.py\nx = 1\nfrom lib import f\n#               ^ reference s m p v lib/f().\n{ours}"
            ),
            expect,
        );
    }
}

#[test]
fn places_that_the_index_does_not_know_stay_ours() {
    check_app(
        "
        x.run(A)
        # ^^^ ours call lib.py B.run UniqueName
        #     ^ reference s m p v lib/A#
        ",
        "
        2:run call Call \"\" -> lib.py B.run unique-name 40
        2:A usage Read \"\" -> lib.py A tooling 100
        ",
    );
}

#[test]
fn an_import_that_is_also_exported_keeps_both() {
    check_app(
        "
        from lib import A
        #               ^ reference s m p v lib/A#
        #               ^ ours import lib.py B UniqueName
        #               ^ ours export lib.py B UniqueName
        ",
        "
        2:A import Import \"\" -> lib.py A tooling 100
        2:A export Import \"\" -> lib.py A tooling 100
        ",
    );
}

#[test]
fn a_target_that_is_gone_leaves_ours() {
    let app = "
        === app.py
        x.run()
        # ^^^ reference s m p v lib/A#run().
        # ^^^ ours call lib.py B.run UniqueName
        ";
    let then = Fixture::new(&format!("{LIB}{app}"));
    let now = Fixture::new(&format!("{}{app}", LIB.replacen("def run", "def walk", 1)));
    assert_eq!(applied(&then, &now), ["1:run call Call \"\" -> lib.py B.run unique-name 40"]);
    let moved =
        Fixture::new(&format!("{}{app}", LIB.replace("class A", "def first(): ...\n        class A")));
    assert_eq!(applied(&then, &moved), ["1:run call Call \"\" -> lib.py A.run tooling 100"]);
}

#[test]
fn an_overlay_speaks_about_one_content() {
    let hash = ContentHash::of(b"a");
    let overlay = Overlay { path: "a.py".into(), hash, targets: vec![], places: vec![] };
    assert!(overlay.matches(&hash) && !overlay.matches(&ContentHash::of(b"b")));
}

#[test]
fn stored_bytes_of_another_version_or_damaged_are_refused() {
    let overlay =
        Overlay { path: "a.py".into(), hash: ContentHash([7; 32]), targets: vec![], places: vec![] };
    let bytes = overlay.encode();
    let mut other = bytes.clone();
    other[0] = 9;
    for (bytes, expect) in [
        (&other[..], "version 9, expected 2"),
        (&[], "no bytes"),
        (&bytes[..5], "cut off"),
        (&bytes[..bytes.len() - 3], "unreadable"),
    ] {
        let message = Overlay::decode(bytes).unwrap_err().to_string();
        assert!(message.contains(expect), "{message}");
    }
}

#[test]
fn the_digest_tells_overlays_apart_and_not_their_order() {
    let overlay = |path: &str, at| Overlay {
        path: path.into(),
        hash: ContentHash([1; 32]),
        targets: vec![],
        places: vec![Place { at, len: 1, targets: vec![] }],
    };
    let (a, b, c) = (overlay("a", 1), overlay("b", 1), overlay("b", 2));
    assert_eq!(digest([&a, &b]), digest([&b, &a]));
    let all = [digest([]), digest([&a]), digest([&a, &b]), digest([&a, &c])];
    assert!((0..4).all(|i| (0..i).all(|j| all[i] != all[j])));
}

proptest! {
    #[test]
    fn random_stored_bytes_never_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..100)) {
        let _ = Overlay::decode(&bytes);
        bytes.insert(0, FORMAT);
        let _ = Overlay::decode(&bytes);
    }
}

#[test]
fn languages_that_we_do_not_link_get_their_edges_from_the_index() {
    check(
        "
        === app.cs
        class App {
        #     ^^^ definition s m p v App#
            void Run(Store s) {
        #        ^^^ definition s m p v App#Run().
        #            ^^^^^ reference s m p v Store#
                s.Load();
        #         ^^^^ reference s m p v Store#Load().
                Console.Write(Store.Size);
        #       ^^^^^^^ reference s m corlib v Console#
        #                           ^^^^ reference s m p v Store#Size.
            }
        }
        === Store.cs
        class Store {
        #     ^^^^^ definition s m p v Store#
            Store() {}
        #   ^^^^^ definition s m p v Store#`.ctor`().
            void Load() {}
        #        ^^^^ definition s m p v Store#Load().
            int Size;
        #       ^^^^ definition s m p v Store#Size.
        }
        ",
        "
        2:Store usage Type \"App.Run\" -> Store.cs Store tooling 100
        3:Load call Call \"App.Run\" -> Store.cs Store.Load tooling 100
        4:Size usage Read \"App.Run\" -> Store.cs Store.Size tooling 100
        ",
    );
}

#[test]
fn members_of_values_get_their_edges_from_the_index() {
    check(
        "
        === app.swift
        func run(s: Store) { s.load() }
        #    ^^^ definition s m p v run().
        #           ^^^^^ reference s m p v Store#
        #                      ^^^^ reference s m p v Store#load().
        === Store.swift
        class Store { func load() {} }
        #     ^^^^^ definition s m p v Store#
        #                  ^^^^ definition s m p v Store#load().
        ",
        "
        1:Store usage Type \"run\" -> Store.swift Store tooling 100
        1:load call Call \"run\" -> Store.swift Store.load tooling 100
        ",
    );
    check(
        "
        === app.rs
        fn run(s: Store) { s.load() }
        #  ^^^ definition s m p v run().
        #         ^^^^^ reference s m p v Store#
        #                    ^^^^ reference s m p v Store#load().
        === store.rs
        pub struct Store;
        #          ^^^^^ definition s m p v Store#
        impl Store { pub fn load(self) {} }
        #                   ^^^^ definition s m p v Store#load().
        ",
        "
        1:Store usage Type \"run\" -> store.rs Store tooling 100
        1:load call Call \"run\" -> store.rs Store.load tooling 100
        ",
    );
}
