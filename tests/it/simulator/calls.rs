//! A small session again and again, in which each call to the system fails once, many calls fail from
//! it on, or the process is killed before it.

use super::world::World;
use super::{run_apart, rustix_errno};

/// Calls that fail in a row, in the second way.
const LONG: u64 = 12;
/// What happens at a call.
const WAYS: [&str; 3] = ["once", "for long", "killed"];

#[test]
fn any_call_that_fails_leaves_an_index_that_catches_up() {
    run_apart(&WAYS.map(|way| format!("calls {way}")));
}

/// A session: the first index, changes, a restart.
fn session(world: &mut World) {
    world.ask();
    world.write("m/a.go", "package m\n\nfunc A() { B() }\n");
    world.ask();
    world.write("m/b.go", "package m\n\nfunc B() {}\n\nfunc C() {}\n");
    world.write("n/new.py", "def f():\n    return 1\n");
    world.ask();
    std::fs::remove_file(world.root.join("m/a.go")).unwrap();
    world.ask();
    world.compact();
    world.ask();
    world.reopen();
    world.ask();
}

fn world(is_readable: bool) -> World {
    let world = World::empty(is_readable, false);
    world.write("go.mod", "module m\n");
    world.write("m/b.go", "package m\n\nfunc B() {}\n");
    world.write("README.md", "# m\n\nB is called by A.\n");
    world
}

/// Runs the session with each call in turn as the one at which it happens.
pub fn run(way: &str) {
    let mut undisturbed = world(true);
    session(&mut undisturbed);
    let n_calls = undisturbed.plan.lock().n_calls;
    undisturbed.settle();
    assert!(n_calls > 50, "{n_calls} calls");
    let mut n_failed = 0;
    for k in 0..n_calls {
        let mut world = world(k % 2 == 0);
        let error = [rustix_errno::IO, rustix_errno::NOSPC][(k / 2) as usize % 2];
        match way {
            "once" => world.plan.lock().failing = Some((k..k + 1, error)),
            "for long" => world.plan.lock().failing = Some((k..k + LONG, error)),
            _ => world.plan.lock().crash_in(k),
        }
        eprintln!("call {k} of {n_calls}: {way}, error {error}");
        session(&mut world);
        world.calm();
        n_failed += world.plan.lock().n_failed;
        world.settle();
    }
    assert!(way == "killed" || !indexd_os::faults::ARE_POSSIBLE || n_failed > 0);
}
