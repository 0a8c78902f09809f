//! Work that two threads share.

use super::world::State;
use super::world::{World, tree, update};
use crate::Snapshot;
use crate::task::Task;
use indexd_model::IndexView;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::thread::{ThreadId, current};

fn state(files: &[(&str, &str)]) -> State {
    State { tree: tree(files), ..State::default() }
}

/// The thread that does some work, which sees so many files. This one waits for it to begin, or does
/// nothing besides.
fn worker(snapshot: &Snapshot, n_files: usize, waits: bool) -> ThreadId {
    let (sender, begun) = mpsc::channel();
    let mut who = Vec::new();
    let work = &mut |view: &dyn IndexView| {
        assert_eq!(view.files().len(), n_files);
        who.push(current().id());
        sender.send(()).expect("heard");
    };
    snapshot.both(&mut || assert!(!waits || begun.recv().is_ok()), work);
    assert_eq!(who.len(), 1, "once");
    who[0]
}

#[test]
fn the_second_thread_sees_the_state_of_the_first() {
    let (from, to) = (state(&[("f", "a: a;"), ("g", "b: a;")]), state(&[("f", "a: a;")]));
    let World { store, dir: _dir } = World::build(&from);
    let snapshot = store.snapshot().expect("snapshot");
    let second = worker(&snapshot, 2, true);
    assert_ne!(second, current().id());
    snapshot.will_read(&snapshot.files());
    assert_eq!(worker(&snapshot, 2, true), second, "it stays with its snapshot");
    let older = store.snapshot().expect("snapshot");
    let mut txn = store.begin().expect("begins");
    update(&mut txn, &from, &to);
    txn.commit().expect("commits");
    assert_eq!(worker(&older, 2, false), current().id(), "no other thread can see its state any more");
    assert_eq!(worker(&snapshot, 2, true), second, "it has a view already");
    let newer = store.snapshot().expect("snapshot");
    assert_ne!(worker(&newer, 1, true), current().id());
}

#[test]
fn a_task_is_done_once_by_whoever_comes_first() {
    let World { store, dir: _dir } = World::build(&state(&[("f", "a: a;")]));
    let view = store.snapshot().expect("snapshot");
    for is_run in [false, true] {
        let mut n = 0;
        let mut kept = None;
        Task::share(&mut |_| n += 1, &view, |task| {
            assert!(!is_run || task.run(&view));
            kept = Some(task);
        });
        // Too late: what it borrowed may be gone.
        assert!(kept.expect("a task").run(&view));
        assert_eq!(n, 1);
    }
}

#[test]
fn a_panic_on_either_side_reaches_the_owner() {
    let World { store, dir: _dir } = World::build(&state(&[("f", "a: a;")]));
    let snapshot = store.snapshot().expect("snapshot");
    let caught = |here: &mut dyn FnMut(), there: &mut (dyn FnMut(&dyn IndexView) + Send)| {
        let panic = catch_unwind(AssertUnwindSafe(|| snapshot.both(here, there))).err()?;
        panic.downcast::<&str>().ok().map(|what| *what)
    };
    assert_eq!(caught(&mut || panic!("here"), &mut |_| ()), Some("here"));
    let (sender, begun) = mpsc::channel();
    let there = &mut |_: &dyn IndexView| {
        sender.send(()).expect("heard");
        panic!("there")
    };
    assert_eq!(caught(&mut || begun.recv().expect("begins"), there), Some("there"));
    assert_eq!(worker(&snapshot, 1, false), current().id(), "that thread has given up");
    drop(snapshot);
    let next = store.snapshot().expect("snapshot");
    assert_ne!(worker(&next, 1, true), current().id());
}
