//! The threads that workspaces share, and the memory that work has left on them.

/// Bytes of address space for the stack of a thread that parses.
pub const STACK_BYTES: usize = 64 << 20;

/// Returns the threads that walk, parse and link, for all workspaces: one per core, at most 8. Their
/// stacks are large because parsers recurse with the nesting of the source.
pub fn pool() -> &'static rayon::ThreadPool {
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

/// Returns to the system what work has left on this thread and on those of the [`pool`]. Each thread
/// frees its own: it keeps several megabytes for the next file, and each workspace has a thread.
pub fn give_back_memory() {
    pool().spawn_broadcast(|_| give_back_own_memory());
    give_back_own_memory();
}

/// Returns to the system what work has left on this thread. What other threads have freed of the
/// memory that this one took is returned only here, by the thread itself.
pub fn give_back_own_memory() {
    indexd_store::forget_scratch();
    indexd_secrets::forget_scratch();
    indexd_os::give_back_memory();
}
