//! Maintenance of one index while no request waits: flushing, counting tokens, giving memory back,
//! compacting a data file that has grown.

use super::{Driver, Event};
use crate::config::Config;
use crate::workspace::indexing::engine::EngineError;
use crate::workspace::indexing::tokens::Counting;
use crossbeam_channel::Sender;
use indexd_store::{Store, StoreError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Idle time after which tokens are counted and memory is given back.
const IDLE: Duration = Duration::from_millis(1_500);
/// Delay from a change of the index to its flush to the disk. A crash of the system loses younger changes,
/// which are taken from the files again.
const UNTIL_FLUSHED: Duration = Duration::from_secs(2);
/// Time a daemon must survive after opening an index to show that the index does not crash it.
const ALIVE: Duration = Duration::from_secs(600);
/// Maximum delay between two attempts to reopen the environment while it is being read.
const RENEW_AGAIN_MAX: Duration = Duration::from_secs(300);
/// Delay before a compacting copy is retried after it failed or was overtaken by changes.
const COPY_AGAIN: Duration = Duration::from_secs(5);

/// The transaction that a compacting copy was made of, or the error that prevented it.
pub type Copied = Result<u64, StoreError>;

/// A delay that doubles with each failed attempt, up to a maximum.
struct PutOff {
    until: Instant,
    wait: Duration,
}

impl PutOff {
    /// Records a failed attempt.
    fn again(&mut self, now: Instant) {
        self.wait = (self.wait * 2).clamp(IDLE, RENEW_AGAIN_MAX);
        self.until = now + self.wait;
    }

    /// Records a success, which resets the delay.
    fn end(&mut self) {
        self.wait = Duration::ZERO;
    }
}

/// The maintenance state of one workspace.
pub(super) struct Maintenance {
    counting: Counting,
    /// True if work left memory that is worth giving back.
    pub has_waste: bool,
    /// The earliest time to release memory.
    put_off: PutOff,
    /// When commits are flushed next.
    sync_at: Option<Instant>,
    syncing: Option<JoinHandle<()>>,
    /// The thread that copies the index, with its stop flag.
    copying: Option<(JoinHandle<()>, Arc<AtomicBool>)>,
    /// Number of the last copy started.
    copy: u64,
    /// Requests that wait for the compaction.
    compacting: Vec<Sender<()>>,
    /// The earliest time to start a copy.
    copy_at: Instant,
    /// When the index counts as one that does not crash the daemon.
    alive_at: Option<Instant>,
}

impl Maintenance {
    pub fn new(config: &Config, now: Instant) -> Self {
        Self {
            counting: Counting::new(config.index_background_tokens, &config.pack.tokenizer),
            has_waste: false,
            put_off: PutOff { until: now, wait: Duration::ZERO },
            sync_at: None,
            syncing: None,
            copying: None,
            copy: 0,
            compacting: Vec::new(),
            copy_at: now,
            alive_at: None,
        }
    }

    /// Records that an index was opened.
    pub fn opened(&mut self, now: Instant) {
        self.alive_at = Some(now + ALIVE);
    }

    /// Records a change of the index, to be flushed after a while. `is_worn` asks to reopen the environment as
    /// well.
    pub fn changed(&mut self, is_worn: bool, now: Instant) {
        self.sync_at.get_or_insert(now + UNTIL_FLUSHED);
        self.has_waste |= is_worn;
    }

    /// Records that the index was replaced.
    pub fn start_over(&mut self) {
        self.counting.start_over();
    }

    /// Adds a request that waits for a compaction.
    pub fn compact(&mut self, reply: Sender<()>, now: Instant) {
        self.compacting.push(reply);
        self.copy_at = now;
    }

    /// Drops the requests that wait for a compaction.
    pub fn give_up(&mut self) {
        self.compacting.clear();
    }

    /// Flushes on a separate thread, so that a busy disk does not delay requests.
    fn start_sync(&mut self, store: &Store, now: Instant) {
        if self.syncing.as_ref().is_some_and(|thread| !thread.is_finished()) {
            self.sync_at = Some(now + Duration::from_secs(1));
            return;
        }
        let store = store.clone();
        let sync = move || {
            if let Err(e) = store.sync() {
                // After a power loss, an index that was not flushed is verified or rebuilt.
                tracing::warn!(error = %e, "the index could not be flushed");
            }
        };
        self.syncing = std::thread::Builder::new().name("sync".into()).spawn(sync).ok();
    }

    /// True while a copy or a flush runs.
    pub fn is_busy(&self) -> bool {
        self.copying.is_some() || self.syncing.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Stops a running copy and joins its thread.
    pub fn stop_copying(&mut self) {
        if let Some((thread, is_stopping)) = self.copying.take() {
            is_stopping.store(true, Ordering::Relaxed);
            let _ = thread.join();
            // Its final event may already be queued.
            self.copy += 1;
        }
    }

    /// Joins the threads.
    pub fn close(&mut self) {
        self.stop_copying();
        if let Some(thread) = self.syncing.take() {
            let _ = thread.join();
        }
    }
}

impl Driver {
    /// When maintenance is due, if no event comes first.
    pub(super) fn house_due(&self) -> Option<Instant> {
        let maintenance = &self.maintenance;
        let quiet_at = self.last_request.max(self.last_event) + IDLE;
        let waste_at = maintenance.has_waste.then(|| quiet_at.max(maintenance.put_off.until));
        let count_at = maintenance.counting.is_wanted().then_some(quiet_at);
        let copy_at = self.wants_copy().then(|| maintenance.copy_at.max(self.copy_quiet_at()));
        [maintenance.sync_at, maintenance.alive_at, count_at.or(waste_at), copy_at]
            .into_iter()
            .flatten()
            .min()
    }

    /// When a copy may start: after idle time, or at once if a request waits for it.
    fn copy_quiet_at(&self) -> Instant {
        if self.maintenance.compacting.is_empty() {
            self.last_request.max(self.last_event) + IDLE
        } else {
            self.maintenance.copy_at
        }
    }

    fn wants_copy(&self) -> bool {
        let is_asked = !self.maintenance.compacting.is_empty();
        self.maintenance.copying.is_none()
            && self.store().is_some()
            && (is_asked || self.engine.as_ref().is_some_and(|engine| engine.is_bloated()))
    }

    pub(super) fn keep_house(&mut self) -> Result<(), EngineError> {
        let now = self.now();
        let is_quiet = now.saturating_duration_since(self.last_request.max(self.last_event)) >= IDLE
            && self.events.is_empty();
        let Some(store) = self.store().cloned() else { return Ok(()) };
        if self.maintenance.sync_at.is_some_and(|at| at <= now) {
            self.maintenance.sync_at = None;
            self.maintenance.start_sync(&store, now);
        }
        if self.maintenance.alive_at.is_some_and(|at| at <= now) {
            self.maintenance.alive_at = None;
            self.engine.iter().for_each(|e| e.note_alive());
        }
        if self.wants_copy() && self.maintenance.copy_at.max(self.copy_quiet_at()) <= now {
            self.start_copying();
        }
        if is_quiet && self.maintenance.counting.is_wanted() {
            self.maintenance.has_waste = true;
            let n_counted = self.maintenance.counting.step(&store)?;
            self.engine.iter_mut().for_each(|engine| engine.wear(n_counted));
        }
        drop(store);
        let is_time =
            is_quiet && self.maintenance.put_off.until <= now && !self.maintenance.counting.is_wanted();
        if is_time && std::mem::take(&mut self.maintenance.has_waste) {
            self.give_back()?;
        }
        Ok(())
    }

    /// Returns the memory left by changes and tree walks, in the environment and in the allocator.
    fn give_back(&mut self) -> Result<(), EngineError> {
        let is_renewed = match &mut self.engine {
            Some(engine) if engine.is_worn() => engine.renew(&self.shared)?,
            _ => true,
        };
        if is_renewed {
            self.maintenance.put_off.end();
        } else {
            // A reader holds the environment, perhaps for long. On the first attempt release the rest.
            self.maintenance.has_waste = true;
            let is_first = self.maintenance.put_off.wait.is_zero();
            self.maintenance.put_off.again(self.clock.now());
            if !is_first {
                return Ok(());
            }
        }
        crate::workspace::threads::give_back_memory();
        self.setup.pressure.settled();
        Ok(())
    }

    /// Drops the caches for later requests, and memory of this thread that other threads have freed.
    pub(super) fn let_go(&self) {
        self.store().into_iter().for_each(Store::forget_opened);
        crate::workspace::threads::give_back_own_memory();
    }

    /// Copies the index on a separate thread; requests and changes do not wait for it.
    fn start_copying(&mut self) {
        let Some(job) = self.engine.as_ref().and_then(|e| e.copy_job()) else { return };
        let is_stopping = Arc::new(AtomicBool::new(false));
        let (stop, sender) = (Arc::clone(&is_stopping), self.sender.clone());
        self.maintenance.copy += 1;
        let number = self.maintenance.copy;
        let copy = move || {
            // The loop waits for this thread before it ends.
            let _ = sender.send(Event::Copied(number, job.run(&|| stop.load(Ordering::Relaxed))));
        };
        if let Ok(thread) = std::thread::Builder::new().name("compact".into()).spawn(copy) {
            self.maintenance.copying = Some((thread, is_stopping));
        }
        self.maintenance.copy_at = self.now() + COPY_AGAIN;
    }

    /// Replaces the index by a finished copy, unless it has changed since the copy began or is not open.
    pub(super) fn copied(&mut self, number: u64, copied: Copied) {
        if number != self.maintenance.copy {
            // It was stopped. The next copy or build removes its files.
            return;
        }
        if let Some((thread, _)) = self.maintenance.copying.take() {
            let _ = thread.join();
        }
        let adopted = match (copied, &mut self.engine) {
            (Ok(transaction), Some(engine)) => engine.adopt(transaction),
            (Ok(_), None) => Ok(false),
            (Err(e), _) => Err(e.into()),
        };
        match adopted {
            Ok(true) => {
                self.shared.set_store(self.store().cloned());
                self.maintenance.has_waste = true;
                for reply in std::mem::take(&mut self.maintenance.compacting) {
                    // The client may have disconnected.
                    let _ = reply.send(());
                }
            }
            Ok(false) if !self.maintenance.compacting.is_empty() => self.maintenance.copy_at = self.now(),
            Ok(false) => {}
            Err(EngineError::Store(StoreError::Busy(_))) => {}
            Err(e) => {
                self.maintenance.compacting.clear();
                // A request would meet the same damage as the copy.
                self.failed(e);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_that_is_read_for_long_is_renewed_ever_less_often() {
        let begin = Instant::now();
        let mut put_off = PutOff { until: begin, wait: Duration::ZERO };
        let mut n_tried = 0;
        while put_off.until < begin + Duration::from_secs(3_600) {
            put_off.again(put_off.until);
            n_tried += 1;
        }
        assert!((12..=24).contains(&n_tried), "tried {n_tried} times in an hour");
        assert_eq!(put_off.wait, RENEW_AGAIN_MAX);
        put_off.end();
        put_off.again(begin);
        assert_eq!(put_off.wait, IDLE, "from the beginning");
    }
}
