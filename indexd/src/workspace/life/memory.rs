//! Keeps the memory of the daemon below one ceiling for all workspaces.
//!
//! Code that may have allocated much calls [`Pressure::check`]. Above the ceiling a thread wakes up. It
//! drops the caches that only serve later requests, then closes workspaces, least recently asked first.
//! A closed workspace opens again with its next request.

use crate::workspace::handle::Workspace;
use crate::workspace::threads;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};
use indexd_proto::workspace::State;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Registered workspaces by root.
pub type Workspaces = Mutex<BTreeMap<PathBuf, Arc<Workspace>>>;

/// A workspace is not closed within this time after a request.
const ASKED_LATELY: Duration = Duration::from_secs(5);
/// Minimum time between two checks of [`Pressure::check_at_times`].
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Time without work in any workspace after which the daemon counts as quiet.
const SETTLED: Duration = Duration::from_secs(4);
/// A quiet daemon keeps everything below this fraction (1/8) of the ceiling. Decoded texts are few, but
/// each may be the last allocation in a page of half a megabyte.
const QUIET_PART: u64 = 8;
/// A quiet daemon closes workspaces above this fraction (1/5) of the ceiling. An open workspace costs
/// about five megabytes, a thread, and a watch for each of its folders.
const IDLE_PART: u64 = 5;
/// Number of workspaces that a quiet daemon leaves open whatever they cost: the ones asked last.
const OPEN_WHEN_QUIET: usize = 3;
/// Time the event loops get to drop their caches.
const LET_GO_TIME: Duration = Duration::from_millis(200);
/// Capacity of the signal queue; further signals would repeat the queued ones.
const SIGNALS_MAX: usize = 4;

/// Reports that memory may have been allocated. Cheap to clone.
#[derive(Clone)]
pub struct Pressure(Option<Arc<Inner>>);

struct Inner {
    bytes_max: u64,
    signals: Sender<Signal>,
    looked_at: Mutex<Instant>,
}

enum Signal {
    /// The process is above its ceiling.
    Above,
    /// A workspace finished its work.
    Settled,
}

impl Pressure {
    /// No ceiling, for a single workspace without a daemon.
    pub fn none() -> Self {
        Self(None)
    }

    /// Starts the thread that keeps the process below `bytes_max` by closing `workspaces`. The thread ends
    /// with the last clone.
    pub fn keep_below(bytes_max: u64, workspaces: Weak<Workspaces>) -> Self {
        let (signals, received) = crossbeam_channel::bounded(SIGNALS_MAX);
        let keep = move || keep_below(bytes_max, &workspaces, &received);
        // If the thread cannot start there is no ceiling, as on a system that does not report memory.
        let thread = std::thread::Builder::new().name("memory".into()).spawn(keep);
        let looked_at = Mutex::new(Instant::now());
        Self(thread.ok().map(|_| Arc::new(Inner { bytes_max, signals, looked_at })))
    }

    /// Reads the memory of the process, and wakes the thread if it is above the ceiling.
    pub fn check(&self) {
        if let Some(inner) = &self.0
            && indexd_os::private_bytes() > inner.bytes_max
        {
            // A full queue means that the thread is about to check anyway.
            let _ = inner.signals.try_send(Signal::Above);
        }
    }

    /// Does [`Pressure::check`] at most once a second, for frequent callers.
    pub fn check_at_times(&self) {
        let Some(inner) = &self.0 else { return };
        let mut looked_at = inner.looked_at.lock().unwrap_or_else(PoisonError::into_inner);
        if looked_at.elapsed() >= LOOK_EVERY {
            *looked_at = Instant::now();
            drop(looked_at);
            self.check();
        }
    }

    /// Reports that a workspace finished its work.
    pub fn settled(&self) {
        if let Some(inner) = &self.0 {
            let _ = inner.signals.try_send(Signal::Settled);
        }
    }
}

/// The loop of the thread that keeps the ceiling.
fn keep_below(bytes_max: u64, workspaces: &Weak<Workspaces>, signals: &Receiver<Signal>) {
    let mut is_settling = false;
    loop {
        let signal = match is_settling {
            true => signals.recv_timeout(SETTLED),
            false => signals.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match signal {
            Ok(Signal::Settled) => is_settling = true,
            Ok(Signal::Above) => {
                let Some(workspaces) = workspaces.upgrade() else { return };
                close_idle(bytes_max, let_go(&workspaces), 0, Instant::now(), &indexd_os::private_bytes);
            }
            Err(RecvTimeoutError::Timeout) => {
                is_settling = false;
                let Some(workspaces) = workspaces.upgrade() else { return };
                settle(bytes_max, &workspaces);
            }
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Drops the caches that only serve later requests and returns all workspaces. Every event loop releases
/// memory on its own thread, since only the allocating thread can return it to the system.
fn let_go(workspaces: &Workspaces) -> Vec<Arc<Workspace>> {
    let all: Vec<Arc<Workspace>> =
        workspaces.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect();
    indexd_store::forget_decoded();
    all.iter().for_each(|workspace| workspace.let_go());
    threads::give_back_memory();
    std::thread::sleep(LET_GO_TIME);
    all
}

/// Lowers the memory of a quiet daemon, for the benefit of other programs.
fn settle(bytes_max: u64, workspaces: &Workspaces) {
    let used = indexd_os::private_bytes;
    if used() > bytes_max / QUIET_PART {
        close_idle(bytes_max / IDLE_PART, let_go(workspaces), OPEN_WHEN_QUIET, Instant::now(), &used);
    }
}

/// Closes workspaces, least recently asked first, until at most `bytes_max` are used. The `n_kept` asked
/// last stay open, and so do workspaces that are building or were asked within [`ASKED_LATELY`].
fn close_idle(bytes_max: u64, all: Vec<Arc<Workspace>>, n_kept: usize, now: Instant, used: &dyn Fn() -> u64) {
    let mut open: Vec<(Instant, Arc<Workspace>)> =
        all.into_iter().filter_map(|w| Some((w.asked_at()?, w))).collect();
    open.sort_by_key(|(at, _)| *at);
    open.truncate(open.len().saturating_sub(n_kept));
    open.retain(|(at, w)| {
        now.saturating_duration_since(*at) >= ASKED_LATELY
            && !matches!(w.state(), State::Building | State::Rebuilding)
    });
    for (_, workspace) in open {
        if used() <= bytes_max {
            return;
        }
        tracing::info!(root = %workspace.root().display(), "closed to make room in memory");
        workspace.close(false);
        threads::give_back_memory();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::workspace::Wait;
    use crate::workspace::indexing::engine::Setup;
    use crate::workspace::indexing::recovery::Verify;
    use crate::workspace::indexing::stages::Parts;
    use crate::workspace::life::driver::WorkspaceSetup;
    use crate::workspace::noticing::watch;

    /// Five workspaces, asked in the order of their names.
    fn asked(top: &std::path::Path) -> Vec<Arc<Workspace>> {
        let dir = |name: String| {
            let dir = top.join(name);
            std::fs::create_dir_all(&dir).unwrap();
            dir
        };
        let ask = |i: usize| {
            let workspace = Arc::new(Workspace::new(WorkspaceSetup {
                engine: Setup {
                    root: dir(format!("root{i}")),
                    home: dir(format!("home{i}")),
                    config: Arc::new(Config::default()),
                    verify: Verify::InProcess,
                    parts: Parts::default(),
                    sharing: None,
                },
                cookies: top.join(format!("cookies{i}")),
                watch: watch::none,
                pressure: Pressure::none(),
            }));
            workspace.freshness(Wait::default(), &|| false, &mut |_| {}).unwrap();
            workspace
        };
        (0..5).map(ask).collect()
    }

    fn open(all: &[Arc<Workspace>]) -> Vec<bool> {
        all.iter().map(|w| w.asked_at().is_some()).collect()
    }

    /// Tests the thread of the ceiling itself, by the workspaces open afterwards.
    #[test]
    fn a_daemon_that_comes_to_rest_keeps_few_workspaces_open_and_one_above_its_ceiling_none() {
        let tmp = tempfile::tempdir().unwrap();
        let all = asked(tmp.path());
        let registered: BTreeMap<_, _> = all.iter().map(|w| (w.root().to_owned(), Arc::clone(w))).collect();
        let workspaces = Arc::new(Mutex::new(registered));
        // Whatever this process takes is above it.
        let pressure = Pressure::keep_below(1, Arc::downgrade(&workspaces));
        let n_open = || open(&all).into_iter().filter(|is_open| *is_open).count();
        let until = |n_wanted: usize, act: &dyn Fn()| {
            let end = Instant::now() + Duration::from_secs(60);
            while n_open() != n_wanted {
                assert!(Instant::now() < end, "{} are open", n_open());
                act();
                std::thread::sleep(SETTLED + LOOK_EVERY);
            }
        };
        until(OPEN_WHEN_QUIET, &|| pressure.settled());
        assert_eq!(open(&all), [false, false, true, true, true], "those that were asked last");
        until(0, &|| pressure.check());
    }

    #[test]
    fn above_the_ceiling_workspaces_close_that_were_asked_least_lately() {
        let tmp = tempfile::tempdir().unwrap();
        let all = asked(tmp.path());
        let used = || open(&all).into_iter().filter(|is_open| *is_open).count() as u64;
        let close = |max, n_kept, now| close_idle(max, all.clone(), n_kept, now, &used);
        close(0, 0, Instant::now());
        assert_eq!(used(), 5, "all were asked a moment ago");
        let later = Instant::now() + ASKED_LATELY;
        close(5, 0, later);
        assert_eq!(used(), 5, "as much as there may be");
        close(4, 0, later);
        assert_eq!(open(&all), [false, true, true, true, true]);
        close(0, 3, later);
        assert_eq!(open(&all), [false, false, true, true, true], "some stay, whatever they take");
        close(0, 0, later);
        assert_eq!(used(), 0);
        let freshness = all[0].freshness(Wait::default(), &|| false, &mut |_| {});
        assert!(freshness.unwrap().fresh, "it opens again when it is asked");
    }
}
