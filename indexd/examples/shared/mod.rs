//! What the examples share: the CPU time of the thread, by stage. Other programs disturb it little.

use rustix::time::{ClockId, clock_gettime};
use std::cell::{Cell, RefCell};

/// As in the daemon.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// CPU seconds of this thread.
pub fn now() -> f64 {
    let t = clock_gettime(ClockId::ThreadCPUTime);
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

/// Seconds that stages took, by name, in the order in which each was first met.
#[derive(Default)]
pub struct Times {
    pub taken: RefCell<Vec<(&'static str, Vec<f64>)>>,
    last: Cell<f64>,
}

impl Times {
    /// Begins a stage at this second.
    pub fn start(&self, at: f64) {
        self.last.set(at);
    }

    /// Ends a stage and begins the next.
    pub fn stage(&self, name: &'static str) {
        let took = now() - self.last.replace(now());
        let mut taken = self.taken.borrow_mut();
        match taken.iter_mut().find(|t| t.0 == name) {
            Some(t) => t.1.push(took),
            None => taken.push((name, vec![took])),
        }
    }
}
