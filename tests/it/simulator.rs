//! The event loop of a workspace in one thread, with a clock that is told how the time goes, a watcher
//! that loses, delays and repeats, and a system whose calls fail: whatever happens, no answer says that
//! it is fresh when it is not, and in the end the index is that of the tree.
//!
//! A seed is a script. Each run has a process for itself, since calls fail for all of a process.

#[path = "simulator/calls.rs"]
mod calls;
#[path = "simulator/parking.rs"]
mod parking;
#[path = "simulator/plan.rs"]
mod plan;
#[path = "simulator/world.rs"]
mod world;

use crate::edits::{Edit, FILES, FOLDERS, IGNORE_FILES, Numbers, PATTERNS};
use crate::support::{number, on_large_stack};
use plan::Regime;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::time::Duration;
use world::World;

/// Set for a process that runs scripts; says which.
const SCRIPTS: &str = "INDEXD_TEST_SIMULATED";

/// Seeds that failed once.
const KEPT: [u64; 0] = [];

/// 200 scripts by default; `INDEXD_TEST_SEEDS=10000` for the full run.
#[test]
fn scripted_failures_end_in_the_index_of_the_tree() {
    let n_seeds = number("INDEXD_TEST_SEEDS", 200);
    let half = n_seeds / 2;
    let kept: Vec<String> = KEPT.iter().map(u64::to_string).collect();
    let mut parts = vec![format!("seeds 0-{half}"), format!("seeds {half}-{n_seeds}")];
    parts.extend((!kept.is_empty()).then(|| format!("kept {}", kept.join(","))));
    run_apart(&parts);
}

#[test]
fn a_request_that_comes_in_during_a_comparison_is_answered_next() {
    run_apart(&["crowd".to_owned()]);
}

#[test]
fn a_request_is_not_told_that_a_damaged_index_is_fresh() {
    run_apart(&["damage".to_owned()]);
}

/// Runs each of these in a process of its own, all at once.
fn run_apart(what: &[String]) {
    let children: Vec<_> = what
        .iter()
        .map(|part| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["--exact", "simulator::child", "--nocapture"]).env(SCRIPTS, part);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    for (child, part) in children.into_iter().zip(what) {
        let output = child.wait_with_output().unwrap();
        let said = [output.stdout, output.stderr].map(|s| String::from_utf8_lossy(&s).into_owned()).concat();
        assert!(output.status.success(), "{part}: {}\n{said}", output.status);
    }
}

/// Not a test by itself: what a process of its own runs.
#[test]
fn child() {
    let Ok(part) = std::env::var(SCRIPTS) else { return };
    on_large_stack(move || {
        let (kind, list) = part.split_once(' ').unwrap_or((&part, ""));
        match kind {
            "seeds" => {
                let (from, to) = list.split_once('-').unwrap();
                (from.parse().unwrap()..to.parse().unwrap()).for_each(run_seed);
            }
            "kept" => list.split(',').for_each(|seed| run_seed(seed.parse().unwrap())),
            "calls" => calls::run(list),
            "damage" => World::new(0, true).ask_of_a_damaged_index(),
            "crowd" => World::new(0, true).ask_during_a_comparison(),
            "parking" => parking::run(list),
            _ => panic!("{part}"),
        }
    });
}

fn run_seed(seed: u64) {
    let run = catch_unwind(AssertUnwindSafe(|| script(seed)));
    assert!(run.is_ok(), "seed {seed}: `{SCRIPTS}='kept {seed}'` runs it alone");
}

const STEPS: u64 = 24;

fn script(seed: u64) {
    let mut r = Numbers(seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let mut world = World::new(seed, r.below(2) == 0);
    for _ in 0..STEPS {
        step(&mut world, &mut r);
    }
    world.calm();
    world.settle();
}

fn step(world: &mut World, r: &mut Numbers) {
    let n = |r: &mut Numbers, n: usize| r.below(n as u64) as usize;
    match r.below(40) {
        0..9 => world.edit(&Edit::Write(n(r, FILES.len()), r.below(1 << 16) as u16)),
        9..12 => world.edit(&Edit::Body(n(r, FILES.len()), r.below(256) as u8)),
        12 => world.edit(&Edit::Delete(n(r, FILES.len()))),
        13 => world.edit(&Edit::Rename(n(r, FILES.len()), n(r, FILES.len()))),
        14 => world.edit(&Edit::RenameFolder(n(r, FOLDERS.len()), n(r, FOLDERS.len()))),
        15 => world.edit(&Edit::Ignore(n(r, IGNORE_FILES.len()), n(r, PATTERNS.len()))),
        16..22 => world.ask(),
        22..25 => world.turn(),
        25 => world.advance(Duration::from_millis(r.below(3_000))),
        // A machine that slept.
        26 => world.advance(Duration::from_secs(r.below(100_000))),
        27 => world.plan.lock().overflows = true,
        28 => world.plan.lock().repeats ^= true,
        29 => world.plan.lock().delays ^= true,
        30 => world.plan.lock().has_no_room ^= true,
        31 | 32 => {
            let errors = [rustix_errno::IO, rustix_errno::NOSPC, rustix_errno::MFILE];
            let error = errors[n(r, errors.len())];
            world.plan.lock().regime =
                Some(Regime { error, one_in: 2 + r.below(30), seed: r.below(1 << 32) });
        }
        33 => world.plan.lock().regime = None,
        34 | 35 => {
            let n = r.below(60);
            world.plan.lock().crash_in(n);
        }
        36 => world.reopen(),
        37 => world.compact(),
        38 => world.set_times(r.below(4)),
        _ => world.lose_root_for_a_while(),
    }
}

/// Numbers of errors, the same on Linux and macOS.
mod rustix_errno {
    pub const IO: i32 = 5;
    pub const MFILE: i32 = 24;
    pub const NOSPC: i32 = 28;
}
