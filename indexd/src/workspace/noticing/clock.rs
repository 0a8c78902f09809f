//! The clock of an event loop.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A clock that never goes back. Times of files are only compared for equality, so no other clock affects a
/// decision.
#[derive(Clone, Default)]
pub enum Clock {
    /// The system's own.
    #[default]
    System,
    /// A clock that advances only when told to: milliseconds after a start.
    Told(Instant, Arc<AtomicU64>),
}

impl Clock {
    /// Makes a clock that only [`Self::advance`] moves.
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

    /// Advances the clock by `time`, in whole milliseconds. The system's clock is not changed.
    pub fn advance(&self, time: Duration) {
        if let Self::Told(_, ms) = self {
            ms.fetch_add(u64::try_from(time.as_millis()).unwrap_or(u64::MAX), Ordering::SeqCst);
        }
    }
}
