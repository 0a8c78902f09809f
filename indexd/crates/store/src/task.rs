//! A borrowed piece of work that another thread may do, or nobody but its owner.

use indexd_model::IndexView;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

type Work<'w> = &'w mut (dyn FnMut(&dyn IndexView) + Send);

/// Work that is offered to another thread for as long as its owner is busy itself.
pub(crate) struct Task {
    state: Mutex<State>,
    ended: Condvar,
}

enum State {
    /// Nobody does it yet.
    Open(Work<'static>),
    /// The other thread is at it.
    Running,
    /// It was done, or panicked with this.
    Ended(Option<Box<dyn Any + Send>>),
    /// Its owner has taken it back.
    Closed,
}

impl Task {
    /// Runs `here` with a task that does `work`. What of it no other thread has begun by then is done
    /// on this one over `view`; what one has begun is waited for.
    ///
    /// # Panics
    /// When `here` or `work` does.
    pub fn share(work: Work, view: &dyn IndexView, here: impl FnOnce(Arc<Self>)) {
        #[expect(unsafe_code, reason = "a thread that is kept runs what lives for ever only")]
        // SAFETY: only the type says for ever. The reference is in `State::Open` or with a thread that
        // is inside of `run`, and `end` returns only when it is neither; that is called before
        // `work` is let go, by the guard also when `here` panics.
        let work = unsafe { std::mem::transmute::<Work<'_>, Work<'static>>(work) };
        let task = Arc::new(Self { state: Mutex::new(State::Open(work)), ended: Condvar::new() });
        struct Guard<'t>(&'t Task);
        impl Drop for Guard<'_> {
            fn drop(&mut self) {
                self.0.end();
            }
        }
        let guard = Guard(&task);
        here(Arc::clone(&task));
        match guard.0.end() {
            State::Open(work) => work(view),
            State::Ended(Some(panic)) => resume_unwind(panic),
            _ => {}
        }
    }

    /// Does the work on this thread, unless its owner has taken it back. Whether it did not panic.
    pub fn run(&self, view: &dyn IndexView) -> bool {
        let mut state = self.state();
        let work = match std::mem::replace(&mut *state, State::Running) {
            State::Open(work) => work,
            other => {
                *state = other;
                return true;
            }
        };
        drop(state);
        let panic = catch_unwind(AssertUnwindSafe(|| work(view))).err();
        let is_well = panic.is_none();
        *self.state() = State::Ended(panic);
        self.ended.notify_one();
        is_well
    }

    /// Closes the task as soon as nobody is at it; gives the state it was in.
    fn end(&self) -> State {
        let mut state = self.state();
        while matches!(*state, State::Running) {
            state = self.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        std::mem::replace(&mut *state, State::Closed)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is one assignment.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
