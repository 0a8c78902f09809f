//! Checks that `FORMAT` changes with the rows of a small index.

#[path = "../../../golden.rs"]
mod golden;

use super::world::{State, World, tree};
use crate::table::Kind;
use golden::Sample;
use heed::types::Bytes;
use std::fmt::Write;

#[test]
fn stored_rows_change_with_the_format() {
    let long = "long: a b inner; inner: b; _words _of _a _text;".repeat(40);
    let state = State {
        tree: tree(&[
            ("a.py", "a: b c;two: a b _x _y;inside: c;"),
            ("d/f0", "b: a;c: d;"),
            ("d/f1", "d: ;"),
            ("d/long", &long),
        ]),
        head: Some("0123".into()),
        history: Some(3),
        overlays: 2,
    };
    let world = World::build(&state);
    let env = &world.store.inner.env;
    let txn = env.read_txn().expect("transaction");
    let mut samples = Vec::new();
    for table in world.store.inner.tables.all() {
        let mut output = String::new();
        // Tables that describe the machine differ from run to run.
        if table.kind == Kind::Derived {
            let rows = table.db.remap_types::<Bytes, Bytes>().iter(&txn).expect("rows");
            for row in rows {
                let (key, value) = row.expect("row");
                writeln!(output, "{} {}", key.escape_ascii(), value.escape_ascii()).expect("writes");
            }
        }
        samples.push(Sample { name: table.name.to_owned(), input: format!("{state:?}"), output });
    }
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/version.golden");
    golden::check(&file, "FORMAT", crate::FORMAT, &samples);
}
