//! The time that an event loop lives by.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A clock that never goes back. Times of files are compared for being equal only, so no other clock
/// decides anything.
#[derive(Clone, Default)]
pub enum Clock {
    /// The system's own.
    #[default]
    System,
    /// One that goes on only when it is told to: so many milliseconds after a beginning.
    Told(Instant, Arc<AtomicU64>),
}

impl Clock {
    /// A clock that is told how the time goes.
    pub fn told() -> Self {
        Self::Told(Instant::now(), Arc::default())
    }

    /// The time now.
    pub fn now(&self) -> Instant {
        match self {
            Self::System => Instant::now(),
            Self::Told(begin, ms) => *begin + Duration::from_millis(ms.load(Ordering::SeqCst)),
        }
    }

    /// Lets so much time go by, in whole milliseconds; that of the system goes by itself.
    pub fn advance(&self, time: Duration) {
        if let Self::Told(_, ms) = self {
            ms.fetch_add(u64::try_from(time.as_millis()).unwrap_or(u64::MAX), Ordering::SeqCst);
        }
    }
}
