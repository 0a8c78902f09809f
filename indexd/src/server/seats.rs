//! The seats of clients: how many there are, and who gives way when all are taken.

use crate::server::limits::{CONNECTIONS_MAX, SILENT_MIN};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tokio::sync::Notify;

/// All seats.
pub struct Seats {
    taken: Mutex<BTreeMap<u64, Arc<Seat>>>,
    next: AtomicU64,
    started: Instant,
}

/// One client's seat.
pub struct Seat {
    number: u64,
    /// Whether it has sent a request.
    has_asked: AtomicBool,
    /// Whether a request of it is in flight or an answer is not written yet.
    is_busy: AtomicBool,
    /// Milliseconds after the start of the daemon.
    active_ms: AtomicU64,
    gives_way: Notify,
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
    pub fn take(&self) -> Option<Arc<Seat>> {
        let mut taken = self.lock();
        if taken.len() >= CONNECTIONS_MAX {
            let (now, silent) = (self.now_ms(), SILENT_MIN.as_millis() as u64);
            let idle = taken.values().filter(|p| {
                let active = p.active_ms.load(Ordering::Relaxed);
                !p.is_busy.load(Ordering::Relaxed) && active + silent <= now
            });
            let out = idle.min_by_key(|p| {
                (p.has_asked.load(Ordering::Relaxed), p.active_ms.load(Ordering::Relaxed), p.number)
            });
            let number = out?.number;
            if let Some(seat) = taken.remove(&number) {
                seat.gives_way.notify_one();
            }
        }
        let seat = Arc::new(Seat {
            number: self.next.fetch_add(1, Ordering::Relaxed),
            has_asked: AtomicBool::new(false),
            is_busy: AtomicBool::new(false),
            active_ms: AtomicU64::new(self.now_ms()),
            gives_way: Notify::new(),
        });
        taken.insert(seat.number, Arc::clone(&seat));
        Some(seat)
    }

    /// Gives a seat back.
    pub fn give_back(&self, seat: &Seat) {
        self.lock().remove(&seat.number);
    }

    /// Notes that a client has begun or ended something. False when it had to give way before.
    pub fn note(&self, seat: &Seat, is_busy: bool) -> bool {
        // Nobody chooses who gives way meanwhile.
        let taken = self.lock();
        seat.active_ms.store(self.now_ms(), Ordering::Relaxed);
        seat.has_asked.fetch_or(is_busy, Ordering::Relaxed);
        seat.is_busy.store(is_busy, Ordering::Relaxed);
        taken.contains_key(&seat.number)
    }

    /// Seats that are taken.
    pub fn n_taken(&self) -> usize {
        self.lock().len()
    }

    fn now_ms(&self) -> u64 {
        self.started.elapsed().as_millis() as u64
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Seat>>> {
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
        let all: Vec<Arc<Seat>> = (0..CONNECTIONS_MAX).map(|_| seats.take().unwrap()).collect();
        for p in &all {
            seats.note(p, true);
        }
        assert!(seats.take().is_none(), "all wait for an answer");
        seats.note(&all[5], false);
        seats.note(&all[3], false);
        assert!(seats.take().is_none(), "two were answered just now");
        seats.started -= 10 * SILENT_MIN;
        all[5].active_ms.store(1, Ordering::Relaxed);
        all[3].active_ms.store(2, Ordering::Relaxed);
        let new = seats.take().unwrap();
        let is_in = |p: &Seat| seats.lock().contains_key(&p.number);
        assert!(!is_in(&all[5]) && is_in(&all[3]), "the one that was silent for longest");
        new.active_ms.store(3, Ordering::Relaxed);
        assert!(seats.take().is_some() && !is_in(&new), "one that never asked before one that did");
        assert!(!seats.note(&new, true), "it gave way before it asked");
        assert_eq!(seats.n_taken(), CONNECTIONS_MAX);
        seats.give_back(&new);
        seats.give_back(&all[0]);
        assert_eq!(seats.n_taken(), CONNECTIONS_MAX - 1);
    }
}
