//! The seats of clients: how many there are, and who gives way when all are taken.

use crate::server::limits::{CONNECTIONS_MAX, SILENT_MIN};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::Notify;

/// All seats.
pub struct Seats {
    /// By number.
    taken: Mutex<BTreeMap<u64, Taken>>,
    next: AtomicU64,
    started: Instant,
}

/// One client's seat.
pub struct Seat {
    number: u64,
    gives_way: Arc<Notify>,
}

/// A seat that is taken.
struct Taken {
    /// True if its client has sent a request.
    has_asked: bool,
    /// True if a request of it is in flight or an answer is not written yet.
    is_busy: bool,
    /// Milliseconds after the start of the daemon.
    active_ms: u64,
    gives_way: Arc<Notify>,
}

impl Default for Seats {
    fn default() -> Self {
        Self { taken: Mutex::default(), next: AtomicU64::new(0), started: Instant::now() }
    }
}

impl Seats {
    /// A seat for one more client. When all are taken, one gives way that waits for nothing and was silent
    /// for [`SILENT_MIN`]: first those that have never asked for anything, then the one that was silent for
    /// longest. `None` when there is none: a client that has just come is about to ask.
    pub fn take(&self) -> Option<Seat> {
        let mut taken = self.lock();
        if taken.len() >= CONNECTIONS_MAX {
            let (now, silent) = (self.now_ms(), SILENT_MIN.as_millis() as u64);
            let idle = taken.iter().filter(|(_, seat)| !seat.is_busy && seat.active_ms + silent <= now);
            let out = idle.min_by_key(|(number, seat)| (seat.has_asked, seat.active_ms, **number));
            let (&number, _) = out?;
            if let Some(seat) = taken.remove(&number) {
                seat.gives_way.notify_one();
            }
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let gives_way = Arc::new(Notify::new());
        let seat = Seat { number, gives_way: Arc::clone(&gives_way) };
        taken.insert(number, Taken { has_asked: false, is_busy: false, active_ms: self.now_ms(), gives_way });
        Some(seat)
    }

    /// Gives a seat back.
    pub fn give_back(&self, seat: &Seat) {
        self.lock().remove(&seat.number);
    }

    /// Notes that a client has begun or ended something. False when it had to give way before.
    pub fn note(&self, seat: &Seat, is_busy: bool) -> bool {
        let mut taken = self.lock();
        let Some(own) = taken.get_mut(&seat.number) else { return false };
        own.active_ms = self.now_ms();
        own.has_asked |= is_busy;
        own.is_busy = is_busy;
        true
    }

    /// Seats that are taken.
    pub fn n_taken(&self) -> usize {
        self.lock().len()
    }

    fn now_ms(&self) -> u64 {
        self.started.elapsed().as_millis() as u64
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Taken>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    /// Ends when the client has to give way.
    pub async fn gives_way(&self) {
        self.gives_way.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_for_nothing_gives_way() {
        let mut seats = Seats::default();
        let all: Vec<Seat> = (0..CONNECTIONS_MAX).map(|_| seats.take().unwrap()).collect();
        for p in &all {
            seats.note(p, true);
        }
        assert!(seats.take().is_none(), "all wait for an answer");
        seats.note(&all[5], false);
        seats.note(&all[3], false);
        assert!(seats.take().is_none(), "two were answered just now");
        seats.started -= 10 * SILENT_MIN;
        let was_active = |seat: &Seat, ms: u64| seats.lock().get_mut(&seat.number).unwrap().active_ms = ms;
        was_active(&all[5], 1);
        was_active(&all[3], 2);
        let new = seats.take().unwrap();
        let is_in = |p: &Seat| seats.lock().contains_key(&p.number);
        assert!(!is_in(&all[5]) && is_in(&all[3]), "the one that was silent for longest");
        was_active(&new, 3);
        assert!(seats.take().is_some() && !is_in(&new), "one that never asked before one that did");
        assert!(!seats.note(&new, true), "it gave way before it asked");
        assert_eq!(seats.n_taken(), CONNECTIONS_MAX);
        seats.give_back(&new);
        seats.give_back(&all[0]);
        assert_eq!(seats.n_taken(), CONNECTIONS_MAX - 1);
    }
}
