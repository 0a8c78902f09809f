//! kill -9 at random moments: the index afterwards is one of the states that were committed.

use super::world::{CONFIG, State, World, update};
use crate::{Opened, Store};
use std::process::{Command, Stdio};
use std::time::Duration;

const FOLDER: &str = "INDEXD_STORE_CRASH_DIR";

/// The `n`-th state of the child: its number can be told from any part of it.
fn state(n: u64) -> State {
    let text =
        |i: u64| (0..i % 40 + 2).map(|j| format!("f{}: f{} _n{n}_{i}\n", j + n % 7, j)).collect::<String>();
    let tree = (0..12)
        .filter(|i| !(n + i).is_multiple_of(5))
        .map(|i| (format!("d/f{i}"), text(i + n % 11)))
        .collect();
    State { tree, head: Some(format!("{n:040}")), history: None, overlays: n as u8 % 6 }
}

/// Commits states until it is killed, when it runs as the child of the test.
#[test]
fn child() {
    let Ok(dir) = std::env::var(FOLDER) else {
        assert_ne!(state(1), state(2), "states differ");
        return;
    };
    let Opened::Ready(store) = Store::open_verified(dir.as_ref(), CONFIG).expect("opens") else {
        panic!("an index")
    };
    let head = indexd_model::IndexView::head(&store.snapshot().expect("snapshot"));
    let mut n: u64 = head.parse().expect("a number");
    println!("running");
    loop {
        let mut txn = store.begin().expect("begin");
        update(&mut txn, &state(n), &state(n + 1));
        txn.commit().expect("commit");
        n += 1;
    }
}

#[test]
fn a_killed_writer_leaves_a_whole_index() {
    let World { store, dir } = World::build(&state(0));
    drop(store);
    let mut last = 0;
    for round in 0..12u64 {
        let mut child = Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "tests::crash::child", "--nocapture"])
            .env(FOLDER, dir.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a child");
        let mut out = std::io::BufReader::new(child.stdout.take().expect("its output"));
        let mut line = String::new();
        while !line.contains("running") {
            line.clear();
            assert_ne!(
                std::io::BufRead::read_line(&mut out, &mut line).expect("a line"),
                0,
                "the child writes"
            );
        }
        std::thread::sleep(Duration::from_micros(2_000 + round * 4_700));
        child.kill().expect("kill");
        child.wait().expect("its end");
        assert!(matches!(Store::open(dir.path(), CONFIG).expect("opens"), Opened::Unverified));
        crate::verify(dir.path()).expect("whole");
        let Opened::Ready(store) = Store::open_verified(dir.path(), CONFIG).expect("opens") else {
            panic!("an index")
        };
        let snapshot = store.snapshot().expect("snapshot");
        let n: u64 = indexd_model::IndexView::head(&snapshot).parse().expect("a number");
        assert!(n >= last, "commits are not lost");
        last = n;
        assert_eq!(super::world::dump(&snapshot), World::build(&state(n)).dump());
    }
    assert!(last > 0, "the child got somewhere");
}
