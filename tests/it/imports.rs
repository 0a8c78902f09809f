//! Indexes made by other tools, laid over the links: in force while a file's content is the one they
//! speak of, through edits, restarts and rebuilds, and part of what an index is a function of.

use crate::edits::{Edit, Repository, script};
use crate::support::{Bench, first_difference, fresh_build, number, on_large_stack};
use indexd_model::IndexView;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use protobuf::{EnumOrUnknown, Message, MessageField};
use scip::types::{Document, Index, Metadata, Occurrence, PositionEncoding, SymbolRole};

/// A dynamic call, which only a tool that runs or checks the program can follow.
pub const LIBRARY: &str = "def work(n):\n    return n\n";
/// See [`LIBRARY`].
pub const CALLER: &str =
    "import importlib\n\ndef run(name):\n    return importlib.import_module(name).work(3)\n";

/// What such a tool would say: the index of `lib.py` and `app.py` in a folder.
pub fn index_of(project_root: &str) -> Vec<u8> {
    let symbol = "scip-test python demo 1 lib/work().";
    let place = |range: [i32; 3], roles| Occurrence {
        range: range.to_vec(),
        symbol: symbol.to_owned(),
        symbol_roles: roles,
        ..Occurrence::default()
    };
    let document = |path: &str, occurrence| Document {
        relative_path: path.to_owned(),
        occurrences: vec![occurrence],
        position_encoding: EnumOrUnknown::new(PositionEncoding::UTF8CodeUnitOffsetFromLineStart),
        ..Document::default()
    };
    let metadata = Metadata { project_root: project_root.to_owned(), ..Metadata::default() };
    let index = Index {
        metadata: MessageField::some(metadata),
        documents: vec![
            document("lib.py", place([0, 4, 8], SymbolRole::Definition as i32)),
            document("app.py", place([3, 41, 45], 0)),
        ],
        ..Index::default()
    };
    index.write_to_bytes().unwrap()
}

/// Rules of the edges into the first definition of a name.
fn rules_into(bench: &Bench, name: &str) -> Vec<String> {
    let view = bench.snapshot();
    let edges = view.edges_to(view.defs_named(name)[0], &indexd_model::EdgeKind::ALL, 100);
    edges.iter().flat_map(|e| e.occurrences.iter().map(|o| o.rule.name().to_owned())).collect()
}

#[test]
fn an_import_counts_while_the_content_is_the_one_it_is_about() {
    let mut bench = Bench::new();
    bench.write("lib.py", LIBRARY);
    bench.write("app.py", CALLER);
    bench.build();
    let (ours, signature) = (bench.dump(), bench.snapshot().signature());
    assert_eq!(rules_into(&bench, "work"), [""; 0]);

    bench.import(&index_of(""));
    let imported = bench.dump();
    assert_eq!(rules_into(&bench, "work"), ["tooling"]);
    assert_ne!(bench.snapshot().signature(), signature, "an import is an input");

    // Another content has our links; the former content has the imported ones again.
    bench.write("app.py", &CALLER.replace("(3)", "(4)"));
    bench.update(&["app.py".to_owned()]);
    assert_eq!(rules_into(&bench, "work"), [""; 0]);
    bench.write("app.py", CALLER);
    bench.update(&["app.py".to_owned()]);
    assert_eq!(bench.dump(), imported);

    // A target that goes and comes back takes the use with it.
    bench.write("lib.py", "def other(n):\n    return n\n");
    bench.update(&["lib.py".to_owned()]);
    bench.write("lib.py", LIBRARY);
    bench.update(&["lib.py".to_owned()]);
    assert_eq!(bench.dump(), imported);

    // A restart, a rebuild, an index from nothing with the same import.
    bench.close();
    bench.reopen();
    assert_eq!(bench.dump(), imported);
    bench.build();
    assert_eq!(bench.dump(), imported);
    let mut fresh = fresh_build(bench.root());
    assert_eq!(fresh.dump(), ours);
    fresh.import(&index_of(""));
    assert_eq!(fresh.dump(), imported);

    // A crash after keeping the import and before the index followed it.
    bench.keep_import(&index_of("")[..0]);
    bench.close();
    bench.reopen();
    assert_eq!(bench.dump(), imported);
    bench.follow_import();
    assert_eq!(bench.dump(), ours);
    assert_eq!(bench.snapshot().signature(), signature, "taken back, nothing is left of it");
}

#[test]
fn an_import_links_the_files_it_is_about_and_no_others() {
    use indexd::workspace::indexing::stages::Stage;
    let mut bench = Bench::new();
    bench.write("lib.py", LIBRARY);
    bench.write("app.py", CALLER);
    bench.write("beside.py", "from lib import work\n\nwork(1)\n");
    bench.build();
    bench.log().start();
    bench.import(&index_of(""));
    assert_eq!(bench.log().take(), [(Stage::Link, "app.py".to_owned())]);
    bench.import(&index_of(""));
    assert_eq!(bench.log().take(), [], "the same again");
    bench.import(&[]);
    assert_eq!(bench.log().take(), [(Stage::Link, "app.py".to_owned())]);
}

fn follow(edits: &[(Edit, bool)]) -> Result<(), TestCaseError> {
    let mut bench = Bench::new();
    let mut repository = Repository::new(bench.root());
    bench.build();
    // Our own export imported again: every link of every file comes out of the overlay.
    let mut index = Vec::new();
    let options = indexd_scip::ExportOptions {
        project_root: String::new(),
        tool_version: "test".into(),
        confidence_min: 50,
    };
    indexd_scip::export(&bench.snapshot(), &options, &mut index).unwrap();
    bench.import(&index);
    let overlays = bench.kept_import();
    let mut dirty = Vec::new();
    for (edit, at_once) in edits {
        dirty.extend(repository.apply(edit, bench.root()));
        if *at_once {
            bench.update(&std::mem::take(&mut dirty));
        }
    }
    bench.update(&dirty);
    let mut built = fresh_build(bench.root());
    built.keep(&overlays);
    built.build();
    let (followed, fresh) = (bench.dump(), built.dump());
    prop_assert!(followed == fresh, "{}", first_difference(&followed, &fresh));
    Ok(())
}

/// Few scripts by default; `INDEXD_TEST_SCRIPTS=1000 INDEXD_TEST_STEPS=50` for the full run.
#[test]
fn any_edits_under_an_import_lead_to_the_index_of_their_end() {
    on_large_stack(|| {
        let cases = number("INDEXD_TEST_SCRIPTS", 40) as u32;
        let config = Config { cases, max_shrink_iters: 200, failure_persistence: None, ..Config::default() };
        let edits = script(number("INDEXD_TEST_STEPS", 20));
        TestRunner::new(config).run(&edits, |edits| follow(&edits)).unwrap_or_else(|e| panic!("{e}"));
    });
}
