//! Workspaces: repository roots that are being indexed, each kept in step with its tree.
//!
//! Read in this order: `rules` (which paths belong to the set), `scan` (all of them at once), `listings` (folders that need not be listed again), `known` (files as they were read),
//! `watch` (the ones that may have changed), `engine` (a change set becomes one commit; the first
//! build), `siblings` and `contents` (what indexes share), `driver` (the event loop of one workspace, and freshness), `recovery` (what is believed
//! after a stop), `memory` (the ceiling of all), `why` (what became of one path), `handle` (a workspace as requests see it), `registry` (many of them). Everything
//! here may block: callers run it on a pool.

mod after;
mod build;
mod collect;
mod condition;
pub mod contents;
mod cookie;
mod driver;
pub mod engine;
mod failure;
mod git;
pub mod handle;
pub mod head;
pub mod known;
mod listings;
mod memory;
mod overlays;
mod past;
mod recipe;
pub mod recovery;
mod registry;
mod rules;
mod scan;
pub mod siblings;
pub mod stages;
mod status;
pub mod tokens;
pub mod tree;
pub mod update;
pub mod watch;
pub mod why;

pub use collect::{Collect, Collected};
pub use condition::Problem;
pub use handle::Workspace;
pub use memory::Pressure;
pub use overlays::stored as stored_overlays;
pub use registry::{RECORDS, Registry, folder_name};
pub use rules::{EXCLUDES, REPO_CONFIG, Rule, check_pattern};
pub use status::{Freshness, ImportStatus, Progress, WorkspaceError, WorkspaceState, WorkspaceStatus};

/// The threads that walk, parse and link, for all workspaces: one per core, at most 8. Their stacks
/// are large because parsers recurse with the nesting of the source.
fn pool() -> &'static rayon::ThreadPool {
    static POOL: std::sync::LazyLock<rayon::ThreadPool> = std::sync::LazyLock::new(|| {
        let n_threads = std::thread::available_parallelism().map_or(2, |n| n.get().min(8));
        rayon::ThreadPoolBuilder::new()
            .num_threads(n_threads)
            .stack_size(STACK_BYTES)
            .thread_name(|i| format!("index-{i}"))
            .build()
            .expect("threads can be started")
    });
    &POOL
}

/// Gives back what work has left: on this thread, and on those that walk, each for itself. What a
/// thread keeps for the next file is several megabytes, and each workspace has a thread.
fn give_back_memory() {
    pool().spawn_broadcast(|_| give_back_own_memory());
    give_back_own_memory();
}

/// The same on this thread alone. What other threads have freed of the memory that this one took is
/// given back only here, by the thread itself.
fn give_back_own_memory() {
    indexd_store::forget_scratch();
    indexd_secrets::forget_scratch();
    indexd_os::give_back_memory();
}

/// What is said of a repository's settings that are refused.
fn settings_ignored(e: &crate::config::ConfigError) -> String {
    let text = e.to_string();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
    format!("the repository's settings are ignored: {}", lines.join(" "))
}

/// Bytes of address space for the stack of a thread that parses.
const STACK_BYTES: usize = 64 << 20;
